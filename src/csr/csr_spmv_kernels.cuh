/* SPDX-License-Identifier: MIT */
/*
 * SpMV. The merge of row ends and entries (device/search.cuh) is cut into tiles of equal weight, a
 * warp each, and no warp waits for another:
 *
 *     spmv_scatter_k or spmv_search_k    where the tiles begin (csr_spmv_starts.cuh)
 *     spmv_tiles_k                       the products of a tile, and their sums between row ends
 *
 * A row that does not fill several tiles belongs as a whole to the tile where it ends. Of a longer
 * one each of its tiles has a piece; the warp that is the last to leave a piece sums them.
 */
#pragma once

#include "csr/csr_long_row.cuh"
#include "csr/csr_vectors.cuh"
#include "device/raw.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

constexpr int spmv_threads = csr_tuning.spmv_threads;

template <class V>
constexpr int spmv_blocks = sizeof(V) < 8 ? csr_tuning.spmv_blocks : csr_tuning.spmv_f64_blocks;

template <class V> struct SpmvVectors {
    using A = typename SpmvSum<V>::A;
    const V *values, *x;
    V *y;
    SpmvScalar<A> alpha, beta;
    A *pieces; /* two per tile: of the row that goes on behind it, of the one that ends in it */
    bool is_bf16;

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

/* A chunk of a tile's products, and where rows end in it. A lane has K consecutive items; 16 bytes
 * between groups of 128 keep lanes that read theirs out of each other's banks. */
template <class A> struct SpmvChunk {
    static constexpr int K = 8, items = 32 * K;
    static constexpr int group = 128 / (int)sizeof(A), gap = 16 / (int)sizeof(A);
    alignas(16) A sums[items / group * (group + gap)];
    alignas(16) uint8_t ends[items];

    static GPI_DEVICE uint32_t place(uint32_t i)
    {
        return i + i / group * gap;
    }

    /* Items k * 32 + lane lie this far apart, whatever k is. */
    static constexpr int stride = 32 + 32 / group * gap;

    GPI_DEVICE A &at(uint32_t i)
    {
        return sums[place(i)];
    }

    /* Bit k: a row ends with item k of the lane. */
    GPI_DEVICE uint32_t lane_ends() const
    {
        const uint2 bytes = ((const uint2 *)ends)[lane_id()];
        return (bytes.x * 0x01020408u) >> 24 | (bytes.y * 0x01020408u) >> 24 << 4;
    }

    /* Products become the sums from row end to row end, where rows end; carry comes into the first
     * row, and becomes the sum behind the last end. */
    GPI_DEVICE void sum_rows(A &carry)
    {
        const int lane = lane_id();
        const uint32_t own = lane_ends(), first = place(lane * K);
        const Raw<K * sizeof(A)> raw =
            raw_load_aligned<K * sizeof(A)>((const char *)(sums + first));
        A sum = 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            sum += raw_get<A>(raw, k);
            if (own >> k & 1) {
                sums[first + k] = sum;
                sum = 0;
            }
        }
        const uint32_t with = __ballot_sync(all_lanes, own != 0);
        const uint32_t reached = with & ((2u << lane) - 1);
        const A upto = warp_scan_within<Sum<A>>(sum, reached ? lane - 31 + __clz(reached) : lane);
        A before = shuffle_up(upto, 1);
        before = lane == 0 ? 0 : before;
        if (own) {
            const bool leads = (with & ((1u << lane) - 1)) == 0;
            sums[first + __ffs(own) - 1] += leads ? carry + before : before;
        }
        const A last = shuffle(upto, 31);
        carry = with ? last : carry + last;
    }
};

/* Columns as a plan has them: of 32 entries at a time the least, and 16 bits above it for each. */
template <class I> struct NearColumns {
    const I *least; /* all ones: one of the 32 is too far */
    const uint16_t *above;
    const gpi_csr_plan *plan; /* which says whether it is worth it */
    bool has_hot;             /* there is a kernel for hot columns */
};

/* Whether 16 bits suffice for most columns of a plan. */
GPI_DEVICE bool spmv_near_is_worth(const gpi_csr_plan *plan)
{
    return plan->far_blocks * 4 <= plan->blocks;
}

/* How columns are known: as they are, as NearColumns, or as those of gpi_csr_hot. */
enum SpmvForm { SPMV_PLAIN, SPMV_NEAR, SPMV_HOT };

/* x of the hot columns; own: of the first `owned`, in shared memory. */
template <class V> struct SpmvHotX {
    static constexpr uint32_t owned = sizeof(V) == 8 ? GPI_CSR_HOT_F64 : GPI_CSR_HOT;
    const V *own, *all;

    GPI_DEVICE V at(uint32_t place) const
    {
        return place < owned ? own[place] : load_kept(all + place);
    }
};

/* A warp's tile: entries from `entry` on, of which the first `skip` are not of the tile, and `rows`
 * that end in it. */
template <SpmvForm FORM, class I, class V> struct SpmvTile {
    using A = typename SpmvSum<V>::A;
    using Chunk = SpmvChunk<A>;
    static constexpr int K = Chunk::K;
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

    /* They become columns. */
    template <bool FULL>
    GPI_DEVICE void widen_near(I least, uint32_t at, uint32_t from, uint32_t n, I (&col)[K]) const
    {
        const uint32_t far = __ballot_sync(all_lanes, least == (I) ~(I)0);
        const I *const p = cols + entry + at + lane_id();
#pragma unroll
        for (int k = 0; k < K; k++)
            col[k] += shuffle(least, k);
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

    /* Columns and values of a chunk, on their way. */
    template <bool FULL>
    GPI_DEVICE I load(uint32_t at, uint32_t from, uint32_t n, I (&col)[K], V (&value)[K]) const
    {
        I least = 0;
        const V *const p = v.values + entry + at + lane_id();
        if (FORM == SPMV_NEAR && near_worth)
            least = load_near<FULL>(at, from, n, col);
        else
            load_columns<FULL>(at, from, n, col);
#pragma unroll
        for (int k = 0; k < K; k++)
            if (has<FULL>(k, from, n))
                value[k] = load_passing(p + k * 32);
        return least;
    }

    GPI_DEVICE V x_of(I col) const
    {
        if constexpr (FORM == SPMV_HOT)
            if (col & GPI_CSR_HOT_BIT)
                return hot.at((uint32_t)col & ~GPI_CSR_HOT_BIT);
        return load_kept(v.x + col);
    }

    /* The products of them, to sums. */
    template <bool FULL>
    GPI_DEVICE void multiply(I least, uint32_t at, uint32_t from, uint32_t n, I (&col)[K],
                             const V (&value)[K])
    {
        if (FORM == SPMV_NEAR && near_worth)
            widen_near<FULL>(least, at, from, n, col);
        V x[K]; /* all on their way before the first is waited for */
#pragma unroll
        for (int k = 0; k < K; k++)
            if (has<FULL>(k, from, n))
                x[k] = x_of(col[k]);
        v.with_type([&](auto type) {
            using T = decltype(type);
            A *const sums = &s.at(lane_id());
#pragma unroll
            for (int k = 0; k < K; k++) {
                A product = 0;
                if (has<FULL>(k, from, n))
                    product = spmv_widen<T>(value[k]) * spmv_widen<T>(x[k]);
                sums[k * Chunk::stride] = product;
            }
        });
    }

    /* A chunk's products; how many of the rows from r on end in it. */
    GPI_DEVICE uint32_t chunk(uint32_t r, uint32_t at, uint32_t from, uint32_t n)
    {
        I col[K];
        V value[K];
        const bool full = n == Chunk::items;
        ((uint2 *)s.ends)[lane_id()] = make_uint2(0, 0);
        const I least =
            full ? load<true>(at, from, n, col, value) : load<false>(at, from, n, col, value);
        __syncwarp();
        const uint32_t ended = mark(r, at, n);
        if (full)
            multiply<true>(least, at, from, n, col, value);
        else
            multiply<false>(least, at, from, n, col, value);
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

    /* Of 32 M rows from r on, how many end in the chunk of n items at `at`; marks their last items,
     * one for each. */
    template <int M> GPI_DEVICE uint32_t mark_some(uint32_t r, uint32_t at, uint32_t n)
    {
        uint32_t end[M], ended = 0;
#pragma unroll
        for (int k = 0; k < M; k++) {
            const uint32_t i = r + k * 32 + lane_id();
            end[k] = i < rows ? end_of(i) - at : ~0u;
        }
#pragma unroll
        for (int k = 0; k < M; k++) {
            if (end[k] - 1 < n)
                s.ends[end[k] - 1] = 1;
            ended += __popc(__ballot_sync(all_lanes, end[k] <= n));
        }
        return ended;
    }

    /* Of all rows from r on. */
    GPI_DEVICE uint32_t mark(uint32_t r, uint32_t at, uint32_t n)
    {
        constexpr int M = 2; /* of short rows: loads that do not wait for each other */
        uint32_t ended = mark_some<1>(r, at, n);
        for (uint32_t more = ended * M; more == 32 * M; ended += more)
            more = mark_some<M>(r + ended, at, n);
        return ended;
    }

    GPI_DEVICE SpmvLongRow<SpmvVectors<V>, SpmvLanes> long_row(uint64_t of) const
    {
        return {a, v, SpmvLanes(), of};
    }

    /* Rows r on, `ended` of them, have ended in the chunk. */
    GPI_DEVICE void store(uint32_t r, uint32_t ended, uint32_t at, A alpha, A beta)
    {
        for (uint32_t i = r + lane_id(); i < r + ended; i += 32) {
            const uint32_t begin = begin_of(i), end = end_of(i);
            if (!comes_in || i)
                spmv_store(y + i, alpha, end != begin ? sum_at(end - at - 1) : (A)0, beta,
                           v.is_bf16);
        }
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
#pragma unroll 1
        for (uint32_t at = 0; at == 0 || at < entries; at += Chunk::items, from = 0) {
            const uint32_t n = min(entries - at, (uint32_t)Chunk::items);
            const uint32_t ended = chunk(r, at, from, n);
            __syncwarp();
            s.sum_rows(carry);
            __syncwarp();
            store(r, ended, at, alpha, beta);
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

/* All of a tile; near_worth: its columns are near ones. */
template <SpmvForm FORM, class I, class V>
GPI_DEVICE void spmv_tile(const SpmvTiles &a, const SpmvVectors<V> &v, uint32_t tile,
                          const SpmvShare &share, SpmvChunk<typename SpmvSum<V>::A> &chunk,
                          const I *cols, const NearColumns<I> &near, bool near_worth,
                          const SpmvHotX<V> &hot)
{
    constexpr uint32_t items = SpmvChunk<typename SpmvSum<V>::A>::items;
    uint32_t skip = (uint32_t)share.entry % 32;
    if (FORM == SPMV_PLAIN &&
        (share.entries + skip + items - 1) / items > (share.entries + items - 1) / items)
        skip = 0; /* an aligned beginning is not worth another chunk */
    SpmvTile<FORM, I, V> t = {a,
                              v,
                              chunk,
                              cols,
                              near,
                              hot,
                              a.pointers + (share.row + 1) * a.pointer_bytes,
                              v.y + share.row,
                              share.entry - skip,
                              tile,
                              share.rows,
                              skip,
                              share.entries + skip,
                              share.comes_in,
                              share.goes_on,
                              near_worth};
    t.all();
}

/*
 * A warp per tile. Shared: a SpmvChunk per warp. After: y, unless row pointers fall. FORM:
 * with the columns of a plan, which are near, or as they are; if they are hot, and there is a
 * kernel for that, nothing is left to do.
 */
template <SpmvForm FORM, class I, class V>
__global__ __launch_bounds__(spmv_threads, spmv_blocks<V>) void spmv_tiles_k(
    const __grid_constant__ SpmvTiles a, const I *cols, const __grid_constant__ NearColumns<I> near,
    const __grid_constant__ SpmvVectors<V> v)
{
    __shared__ SpmvChunk<typename SpmvSum<V>::A> s_chunks[spmv_threads / 32];
    /* the same for all lanes, as the compiler then knows: bounds and addresses are in registers of
     * the warp, and lanes have theirs for what is on its way */
    const uint32_t warp = warp_max(threadIdx.x / 32),
                   tile = blockIdx.x * (spmv_threads / 32) + warp;
    const gpi_csr_start all = a.end();
    grid_wait();
    if ((uint64_t)tile * a.units >= all.row + all.entry)
        return;
    if (FORM == SPMV_NEAR && near.has_hot && near.plan->hot)
        return;
    const SpmvBounds bounds =
        FORM == SPMV_NEAR || a.starts
            ? SpmvBounds::known(a, tile, all)
            : SpmvSearch{a, (uint32_t)all.entry, (uint32_t)all.row}.bounds(tile);
    /* asked by all lanes, so that the compiler does not put off the loads until it is used */
    const bool near_worth = FORM == SPMV_NEAR && warp_max(spmv_near_is_worth(near.plan));
    SpmvShare share(a, bounds, all);
    if (!share.is_there)
        return;
    if (FORM == SPMV_PLAIN)
        share.make_uniform();
    spmv_tile<FORM, I, V>(a, v, tile, share, s_chunks[warp], cols, near, near_worth, {});
}

} // namespace GPI_SPACE
