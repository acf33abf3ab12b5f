/* SPDX-License-Identifier: MIT */
/* A tile of SpMV: the products of a warp. */
#pragma once

#include "csr/csr_chunk.cuh"
#include "csr/csr_long_row.cuh"
#include "csr/csr_spmv_columns.cuh"
#include "csr/csr_vectors.cuh"

namespace GPI_SPACE
{

template <class V> struct SpmvVectors {
    using A = typename SpmvSum<V>::A;
    const V *values, *x;
    V *y;
    SpmvScalar<A> alpha, beta;
    A *pieces; /* two per tile: of the row that goes on behind it, of the one that ends in it */
    bool is_bf16;
    uint64_t x_bytes;
    uint32_t x_share; /* what of them each tile asks the L2 for before anything else; or 0 */

    /* f(a number of the type that the numbers have). */
    template <class F> GPI_DEVICE void with_type(F f) const
    {
        spmv_with_type<V>(is_bf16, f);
    }

    GPI_DEVICE void store(uint64_t row, const SpmvLanes &, const A (&sum)[1]) const
    {
        spmv_store(y + row, alpha.get(), sum[0], beta.get(), is_bf16);
    }
};

/* A warp's tile: entries from `entry` on, of which the first `skip` are not of the tile, and `rows`
 * that end in it. */
template <SpmvForm FORM, class I, class V> struct SpmvTile {
    using A = typename SpmvSum<V>::A;
    using Chunk = SpmvChunk<A>;
    static constexpr int K = Chunk::K;
    /* Columns are on their way a chunk ahead, where registers suffice and nothing else is to be
     * waited for before x. */
    static constexpr bool ahead = (FORM == SPMV_HOT || FORM == SPMV_FAR) && sizeof(V) == 8;
    /* x is on its way together with the values: columns are known. */
    static constexpr bool x_first = ahead || (FORM == SPMV_SHAPED && sizeof(V) == 8);
    const SpmvTiles &a;
    const SpmvVectors<V> &v;
    Chunk &s;
    const I *cols;
    const NearColumns<I> &near;
    SpmvHotX<V> hot;
    const char *ends; /* the pointer behind that of the first row: low words suffice */
    V *y;             /* of that row */
    uint64_t entry;
    uint32_t tile, rows, skip, entries;
    bool comes_in, goes_on, near_worth;
    SpmvBand<I> band;
    I next[K]; /* columns ahead */
    /* SPMV_SHAPED, lane k: of the k-th 32 entries of four chunks the least column, or all ones if
     * they are read as they are; and where their shape is among the numbers of all shapes */
    I block_least;
    uint32_t block_shape;

    /* Whether entry k * 32 + lane of a chunk of n is of the tile; before `from`, which is below 32,
     * none is. FULL: n is all. */
    template <bool FULL> static GPI_DEVICE bool has(int k, uint32_t from, uint32_t n)
    {
        const uint32_t i = k * 32 + lane_id();
        return (k || i >= from) && (FULL || i < n);
    }

    /* Columns of n entries at `at` as the plan has them, on their way: nothing waits for anything
     * yet. entry is a multiple of 32, and lane k gets the least of the k-th 32. */
    template <bool FULL>
    GPI_DEVICE I load_near(uint32_t at, uint32_t from, uint32_t n, I (&col)[K]) const
    {
        I least = 0;
        const uint16_t *const above = near.above + entry + at + lane_id();
        if (lane_id() * 32 < n && lane_id() < K)
            least = __ldg(near.least + (entry + at) / 32 + lane_id());
#pragma unroll
        for (int k = 0; k < K; k++)
            if (has<FULL>(k, from, n))
                col[k] = load_passing(above + k * 32);
        return least;
    }

    /* Of columns that have shapes, by four chunks from the first one on. */
    GPI_DEVICE void load_blocks(uint32_t at)
    {
        const bool there = lane_id() * 32 < entries - at;
        const uint64_t block = (entry + at) / 32 + lane_id();
        const uint32_t shape = there ? __ldg(near.shape + block) : 0;
        const I least = there ? __ldg(near.least + block) : 0;
        block_least = shape != GPI_CSR_NO_SHAPE ? least : (I) ~(I)0;
        block_shape = shape != GPI_CSR_NO_SHAPE ? shape * GPI_CSR_NEAR : 0;
    }

    /* Which lane has those of the first 32 entries of the chunk at `at`. */
    static GPI_DEVICE uint32_t block_of(uint32_t at)
    {
        return FORM == SPMV_SHAPED ? at / 32 % 32 : 0;
    }

    /* As load_near(), out of the first level; a shape has a number for each lane. */
    GPI_DEVICE void load_shaped(uint32_t at, I (&col)[K]) const
    {
        const uint16_t *const first = near.shapes + lane_id();
#pragma unroll
        for (int k = 0; k < K; k++)
            col[k] = load_kept(first + shuffle(block_shape, block_of(at) + k));
    }

    /* They become columns. */
    template <bool FULL>
    GPI_DEVICE void widen_near(I least, uint32_t at, uint32_t from, uint32_t n, I (&col)[K]) const
    {
        const uint32_t all_far = __ballot_sync(all_lanes, least == (I) ~(I)0);
        const uint32_t far = FORM == SPMV_SHAPED ? all_far >> block_of(at) & 0xff : all_far;
        const I *const p = cols + entry + at + lane_id();
#pragma unroll
        for (int k = 0; k < K; k++)
            col[k] += shuffle(least, block_of(at) + k);
        if (far) {
#pragma unroll
            for (int k = 0; k < K; k++)
                if (far >> k & 1 && has<FULL>(k, from, n))
                    col[k] = load_passing(p + k * 32);
        }
    }

    template <bool FULL>
    GPI_DEVICE void load_columns(uint32_t at, uint32_t from, uint32_t n, I (&col)[K]) const
    {
        const I *const p = cols + entry + at + lane_id();
#pragma unroll
        for (int k = 0; k < K; k++)
            if (has<FULL>(k, from, n))
                col[k] = load_passing(p + k * 32);
    }

    GPI_DEVICE V x_of(I col) const
    {
        if constexpr (FORM == SPMV_HOT)
            if (col & GPI_CSR_HOT_BIT)
                return hot.at((uint32_t)col & ~GPI_CSR_HOT_BIT);
        return load_kept(v.x + col);
    }

    /* All on their way before the first is waited for. */
    template <bool FULL>
    GPI_DEVICE void load_x(I least, uint32_t at, uint32_t from, uint32_t n, I (&col)[K],
                           V (&x)[K]) const
    {
        if (FORM == SPMV_SHAPED || (FORM == SPMV_NEAR && near_worth))
            widen_near<FULL>(least, at, from, n, col);
#pragma unroll
        for (int k = 0; k < K; k++)
            if (has<FULL>(k, from, n))
                x[k] = x_of(col[k]);
    }

    /* Values and x of a chunk, whose columns are there, and the columns of the next one. */
    template <bool FULL>
    GPI_DEVICE void load_ahead(uint32_t at, uint32_t from, uint32_t n, V (&value)[K], V (&x)[K])
    {
        const V *const p = v.values + entry + at + lane_id();
        bool wanted[K];
#pragma unroll
        for (int k = 0; k < K; k++) {
            wanted[k] = has<FULL>(k, from, n) && (FORM != SPMV_FAR || band.has(next[k]));
            value[k] = wanted[k] ? load_passing(p + k * 32) : 0;
        }
#pragma unroll
        for (int k = 0; k < K; k++)
            x[k] = wanted[k] ? x_of(next[k]) : 0;
        if (at + Chunk::items < entries)
            load_columns<false>(at + Chunk::items, 0, entries - at - Chunk::items, next);
    }

    /* Columns and values of a chunk, on their way. */
    template <bool FULL>
    GPI_DEVICE I load(uint32_t at, uint32_t from, uint32_t n, I (&col)[K], V (&value)[K], V (&x)[K])
    {
        if constexpr (ahead) {
            load_ahead<FULL>(at, from, n, value, x);
            return 0;
        }
        I least = FORM == SPMV_SHAPED ? block_least : 0;
        const V *const p = v.values + entry + at + lane_id();
        if (FORM == SPMV_SHAPED)
            load_shaped(at, col);
        else if (FORM == SPMV_NEAR && near_worth)
            least = load_near<FULL>(at, from, n, col);
        else
            load_columns<FULL>(at, from, n, col);
#pragma unroll
        for (int k = 0; k < K; k++)
            if (has<FULL>(k, from, n))
                value[k] = load_passing(p + k * 32);
        if (x_first)
            load_x<FULL>(least, at, from, n, col, x);
        return least;
    }

    /* The products of them, to sums; x that is there already. */
    template <bool FULL>
    GPI_DEVICE void multiply(I least, uint32_t at, uint32_t from, uint32_t n, I (&col)[K],
                             const V (&value)[K], const V (&there)[K])
    {
        V x[K];
        if (!x_first)
            load_x<FULL>(least, at, from, n, col, x);
        v.with_type([&](auto type) {
            using T = decltype(type);
            A *const sums = &s.at(lane_id());
#pragma unroll
            for (int k = 0; k < K; k++) {
                A product = 0;
                if (has<FULL>(k, from, n))
                    product = spmv_widen<T>(value[k]) * spmv_widen<T>(x_first ? there[k] : x[k]);
                sums[k * Chunk::stride] = product;
            }
        });
    }

    /* A chunk's products; how many of the rows from r on end in it, and the end of row r + lane. */
    GPI_DEVICE uint32_t chunk(uint32_t r, uint32_t at, uint32_t from, uint32_t n, uint32_t &end)
    {
        I col[K];
        V value[K], x[K];
        const bool full = n == Chunk::items;
        ((uint2 *)s.ends)[lane_id()] = make_uint2(0, 0);
        if (FORM == SPMV_SHAPED && block_of(at) == 0)
            load_blocks(at);
        const I least =
            full ? load<true>(at, from, n, col, value, x) : load<false>(at, from, n, col, value, x);
        __syncwarp();
        const uint32_t ended = mark_rows(r, at, n, end);
        if (full)
            multiply<true>(least, at, from, n, col, value, x);
        else
            multiply<false>(least, at, from, n, col, value, x);
        return ended;
    }

    /* Where row r of the tile ends, from `entry` on. */
    GPI_DEVICE uint32_t end_of(uint32_t r) const
    {
        return __ldg((const uint32_t *)(ends + (uint64_t)r * a.pointer_bytes)) - (uint32_t)entry;
    }
    GPI_DEVICE uint32_t begin_of(uint32_t r) const
    {
        const char *const begins = ends - a.pointer_bytes;
        return __ldg((const uint32_t *)(begins + (uint64_t)r * a.pointer_bytes)) - (uint32_t)entry;
    }

    /* The sum of a row that ends with that item of a chunk; nowhere else if it is none. */
    GPI_DEVICE A sum_at(uint32_t item) const
    {
        return s.at(item % Chunk::items);
    }

    /* Marks the item of a chunk of n with which the lane's row ends. */
    GPI_DEVICE void mark(uint32_t end, uint32_t n)
    {
        if (end - 1 < n)
            s.ends[end - 1] = 1;
    }

    /* How far row r is behind one whose pointer begins a line of the cache. */
    GPI_DEVICE uint32_t in_line(uint32_t r) const
    {
        return ((uint32_t)(y - v.y) + r) % 32;
    }

    /* How many rows from r on end in the chunk of n items at `at`; marks their last items, one for
     * each. end: of row r + lane, in the chunk. */
    GPI_DEVICE uint32_t mark_rows(uint32_t r, uint32_t at, uint32_t n, uint32_t &end)
    {
        const uint32_t own = r + lane_id();
        end = own < rows ? end_of(own) - at : ~0u;
        mark(end, n);
        uint32_t ended = __popc(__ballot_sync(all_lanes, end <= n));
        if (ended < 32)
            return ended;
        uint32_t more, first = r + 32, i = first - in_line(first + 1);
        do { /* 64 at a time, of which none is looked at before both loads are on their way */
            uint32_t ends[2];
#pragma unroll
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t row = i + k * 32 + lane_id();
                const uint32_t its = end_of(min(row, rows - 1)) - at;
                ends[k] = row >= first && row < rows ? its : ~0u;
            }
            more = warp_sum((ends[0] <= n) + (ends[1] <= n));
            if (more) {
                mark(ends[0], n);
                mark(ends[1], n);
            }
            ended += more;
            i += 64;
        } while (more && r + ended == i);
        return ended;
    }

    GPI_DEVICE SpmvLongRow<SpmvVectors<V>, SpmvLanes> long_row(uint64_t of) const
    {
        return {a, v, SpmvLanes(), of};
    }

    GPI_DEVICE void store_row(uint32_t i, uint32_t begin, uint32_t end, A alpha, A beta)
    {
        if (!comes_in || i)
            spmv_store(y + i, alpha, end != begin ? sum_at(end - 1) : (A)0, beta, v.is_bf16);
    }

    /* Rows r on, `ended` of them, have ended in the chunk at `at`, whose first item is `from`; end:
     * of row r + lane. */
    GPI_DEVICE void store(uint32_t r, uint32_t ended, uint32_t at, uint32_t from, uint32_t end,
                          A alpha, A beta)
    {
        const uint32_t before = shuffle_up(end, 1), first = r + 32;
        if (lane_id() < ended)
            store_row(r + lane_id(), lane_id() ? before : from, end, alpha, beta);
        if (ended > 32)
            for (uint32_t i = first - in_line(first) + lane_id(); i < r + ended; i += 32)
                if (i >= first)
                    store_row(i, begin_of(i) - at, end_of(i) - at, alpha, beta);
    }

    /* The part of the first row, which has ended in the chunk at `at`. */
    GPI_DEVICE A first_row(uint32_t at)
    {
        const uint32_t end = end_of(0);
        return end > at ? sum_at(end - at - 1) : 0;
    }

    GPI_DEVICE void all()
    {
        const A alpha = v.alpha.get(), beta = v.beta.get();
        A carry = 0, head = 0;
        uint32_t r = 0, from = skip;
        if (ahead)
            load_columns<false>(0, from, entries, next);
#pragma unroll 1
        for (uint32_t at = 0; at == 0 || at < entries; at += Chunk::items, from = 0) {
            const uint32_t n = min(entries - at, (uint32_t)Chunk::items);
            uint32_t end;
            const uint32_t ended = chunk(r, at, from, n, end);
            __syncwarp();
            s.sum_rows(carry);
            __syncwarp();
            store(r, ended, at, from, end, alpha, beta);
            if (comes_in && r == 0 && ended)
                head = first_row(at);
            r += ended;
            __syncwarp();
        }
#pragma unroll 1
        for (int k = 0; k < 2; k++)
            if (k ? goes_on : comes_in) {
                A piece[1] = {k ? carry : head};
                long_row((uint64_t)(y - v.y) + (k ? rows : 0)).leave_piece(tile, piece);
            }
    }
};

} // namespace GPI_SPACE
