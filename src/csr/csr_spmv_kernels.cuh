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

template <bool PLANNED, class V>
constexpr int spmv_blocks = sizeof(V) == 8 ? csr_tuning.spmv_f64_blocks
                            : PLANNED      ? csr_tuning.spmv_plan_blocks
                                           : csr_tuning.spmv_blocks;

template <class V> struct SpmvVectors {
    using A = typename SpmvSum<V>::A;
    const V *values, *x;
    V *y;
    SpmvScalar<A> alpha, beta;
    A *pieces; /* two per tile: of the row that goes on behind it, of the one that ends in it */

    GPI_DEVICE void store(uint64_t row, const SpmvLanes &, const A (&sum)[1]) const
    {
        spmv_store(y + row, alpha.get(), sum[0], beta.get());
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

    /* Products become the sums from row end to row end, which bits of own tell: where rows end, or,
     * if they are to be PACKED, from `first` on, one behind the other. Carry comes into the first
     * row, and becomes the sum behind the last end. */
    template <bool PACKED> GPI_DEVICE void sum_rows(A &carry, uint32_t own, uint32_t first)
    {
        const int lane = lane_id();
        const Raw<K * sizeof(A)> raw =
            raw_load_aligned<K * sizeof(A)>((const char *)(sums + place(lane * K)));
        A sum = 0;
        A *to = sums + first;
        if (PACKED)
            __syncwarp();
#pragma unroll
        for (int k = 0; k < K; k++) {
            sum += raw_get<A>(raw, k);
            if (own >> k & 1) {
                to[PACKED ? 0 : k] = sum;
                to += PACKED;
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
            sums[first + (PACKED ? 0 : __ffs(own) - 1)] += leads ? carry + before : before;
        }
        const A last = shuffle(upto, 31);
        carry = with ? last : carry + last;
    }
};

/* Columns as a plan has them: of 32 entries at a time the least, and 16 bits above it for each; and
 * where rows end. */
template <class I> struct PlannedColumns {
    const I *least; /* all ones: one of the 32 is too far */
    const uint16_t *above;
    const uint8_t *ends;       /* a bit per entry */
    const uint8_t *have_empty; /* per tile: whether a row that ends in it is empty */
    const gpi_csr_plan *header;

    GPI_DEVICE bool are_worth_it() const
    {
        return header->far_blocks * 4 <= header->blocks;
    }
};

/* A warp's tile: entries from `entry` on, of which the first `skip` are not of the tile, and `rows`
 * that end in it. PLANNED: by a plan. */
template <bool PLANNED, class I, class O, class V> struct SpmvTile {
    using A = typename SpmvSum<V>::A;
    using Chunk = SpmvChunk<A>;
    static constexpr int K = Chunk::K;
    const SpmvTiles<O> &a;
    const SpmvVectors<V> &v;
    Chunk &s;
    const I *cols;
    const PlannedColumns<I> &plan;
    uint64_t row, entry;
    uint32_t tile, rows, skip, entries;
    bool comes_in, goes_on; /* the first row is a long one; so is the one behind them */
    bool near;              /* columns as the plan has them; each row has its end in the tile */

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
        const uint16_t *const above = plan.above + entry + at + lane_id();
        if (lane_id() * 32 < n && lane_id() < K)
            least = __ldg(plan.least + (entry + at) / 32 + lane_id());
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

    /* The values of a chunk, on their way. */
    template <bool FULL>
    GPI_DEVICE void load_values(uint32_t at, uint32_t from, uint32_t n, V (&value)[K]) const
    {
        const V *const p = v.values + entry + at + lane_id();
#pragma unroll
        for (int k = 0; k < K; k++)
            if (has<FULL>(k, from, n))
                value[k] = load_passing(p + k * 32);
    }

    /* The products of a chunk, to sums. */
    template <bool FULL>
    GPI_DEVICE void multiply(uint32_t from, uint32_t n, const I (&col)[K], const V (&value)[K])
    {
        A *const sums = &s.at(lane_id());
#pragma unroll
        for (int k = 0; k < K; k++) {
            A product = 0;
            if (has<FULL>(k, from, n))
                product = widen<A>(value[k]) * widen<A>(load_kept(v.x + col[k]));
            sums[k * Chunk::stride] = product;
        }
    }

    /* All of it; how many of the rows from r on end in the chunk. */
    template <bool FULL>
    GPI_DEVICE uint32_t products(uint32_t r, uint32_t at, uint32_t from, uint32_t n)
    {
        I col[K] = {};
        V value[K] = {};
        load_columns<FULL>(at, from, n, col);
        load_values<FULL>(at, from, n, value);
        __syncwarp();
        const uint32_t ended = mark(r, at, n);
        multiply<FULL>(from, n, col, value);
        return ended;
    }

    /* The same with what a plan has; which of the lane's items are the last of their rows. */
    template <bool FULL> GPI_DEVICE uint32_t near_products(uint32_t at, uint32_t from, uint32_t n)
    {
        I col[K] = {};
        V value[K] = {};
        const uint32_t first = lane_id() * K;
        uint32_t own = 0;
        const I least = load_near<FULL>(at, from, n, col);
        if (FULL || first < n)
            own = __ldg(plan.ends + (entry + at) / K + lane_id());
        load_values<FULL>(at, from, n, value);
        __syncwarp();
        widen_near<FULL>(least, at, from, n, col);
        multiply<FULL>(from, n, col, value);
        if (!FULL)
            own &= (1u << min(n - min(first, n), (uint32_t)K)) - 1;
        return own & ~0u << (from - min(first, from));
    }

    GPI_DEVICE uint32_t end_of(uint32_t r) const
    {
        return (uint32_t)(__ldg(a.pointers + row + r + 1) - (O)entry);
    }

    /* How many rows from r on end in the chunk of n items at `at`; marks the last item of each. */
    GPI_DEVICE uint32_t mark(uint32_t r, uint32_t at, uint32_t n)
    {
        uint32_t ended = 0, found = all_lanes;
        for (; found == all_lanes; ended += __popc(found)) {
            const uint32_t i = r + ended + lane_id();
            uint32_t end = ~0u;
            if (i < rows)
                end = end_of(i) - at;
            if (end - 1 < n)
                s.ends[end - 1] = 1;
            found = __ballot_sync(all_lanes, end <= n);
        }
        return ended;
    }

    GPI_DEVICE SpmvLongRow<O, SpmvVectors<V>, SpmvLanes> long_row(uint64_t of) const
    {
        return {a, v, SpmvLanes(), of};
    }

    /* Rows r on, `ended` of them, have ended in the chunk. */
    GPI_DEVICE void store(uint32_t r, uint32_t ended, uint32_t at, A alpha, A beta)
    {
        for (uint32_t i = r + lane_id(); i < r + ended; i += 32) {
            const O begin = __ldg(a.pointers + row + i), end = __ldg(a.pointers + row + i + 1);
            if (!comes_in || i)
                spmv_store(v.y + row + i, alpha,
                           end > begin ? s.at((uint32_t)(end - (O)entry) - at - 1) : (A)0, beta);
        }
    }

    /* The part of the first row, which has ended in the chunk at `at`. */
    GPI_DEVICE A first_row(uint32_t at)
    {
        const uint32_t end = end_of(0);
        return end > at ? s.at(end - at - 1) : 0;
    }

    /* A chunk whose first row is r: how many rows have ended; head: what comes_in is about. */
    GPI_DEVICE uint32_t chunk(uint32_t r, uint32_t at, uint32_t from, uint32_t n, A alpha, A beta,
                              A &carry, A &head)
    {
        ((uint2 *)s.ends)[lane_id()] = make_uint2(0, 0);
        const uint32_t ended =
            n == Chunk::items ? products<true>(r, at, from, n) : products<false>(r, at, from, n);
        __syncwarp();
        s.template sum_rows<false>(carry, s.lane_ends(), Chunk::place(lane_id() * K));
        __syncwarp();
        store(r, ended, at, alpha, beta);
        if (comes_in && r == 0 && ended)
            head = first_row(at);
        return ended;
    }

    /* The same by a plan. */
    GPI_DEVICE uint32_t near_chunk(uint32_t r, uint32_t at, uint32_t from, uint32_t n, A alpha,
                                   A beta, A &carry, A &head)
    {
        const uint32_t own = n == Chunk::items ? near_products<true>(at, from, n)
                                               : near_products<false>(at, from, n);
        const uint32_t upto = warp_running_sum(__popc(own));
        const uint32_t ended = min(shuffle(upto, 31), rows - r);
        __syncwarp();
        s.template sum_rows<true>(carry, own, upto - __popc(own));
        __syncwarp();
        for (uint32_t i = lane_id(); i < ended; i += 32)
            if (!comes_in || r + i)
                spmv_store(v.y + row + r + i, alpha, s.sums[i], beta);
        if (comes_in && r == 0 && ended)
            head = s.sums[0];
        return ended;
    }

    template <bool NEAR> GPI_DEVICE void chunks(A &carry, A &head)
    {
        const A alpha = v.alpha.get(), beta = v.beta.get();
        uint32_t r = 0, from = skip;
#pragma unroll 1
        for (uint32_t at = 0; at == 0 || at < entries; at += Chunk::items, from = 0) {
            const uint32_t n = min(entries - at, (uint32_t)Chunk::items);
            if constexpr (NEAR)
                r += near_chunk(r, at, from, n, alpha, beta, carry, head);
            else
                r += chunk(r, at, from, n, alpha, beta, carry, head);
            __syncwarp();
        }
    }

    GPI_DEVICE void all()
    {
        A carry = 0, head = 0;
        if (PLANNED && near)
            chunks<true>(carry, head);
        else
            chunks<false>(carry, head);
#pragma unroll 1
        for (int k = 0; k < 2; k++)
            if (k ? goes_on : comes_in) {
                const A piece[1] = {k ? carry : head};
                long_row(k ? row + rows : row).leave_piece(tile, piece);
            }
    }
};

/* By a warp. */
template <bool PLANNED, class I, class O, class V>
GPI_DEVICE void spmv_tile(const SpmvTiles<O> &a, const SpmvVectors<V> &v,
                          SpmvChunk<typename SpmvSum<V>::A> &s, uint32_t tile, const I *cols,
                          const PlannedColumns<I> &plan)
{
    gpi_csr_start to = a.end();
    const uint64_t units = to.row + to.entry;
    if ((uint64_t)tile << a.log >= units)
        return;
    const gpi_csr_start from = a.starts[tile];
    if (((uint64_t)tile + 1) << a.log < units)
        to = a.starts[tile + 1];
    bool near = false;
    if constexpr (PLANNED) { /* neither waits for the other */
        const bool worth = plan.are_worth_it(), empty = plan.have_empty[tile];
        near = worth & !empty;
    }
    const bool comes_in = to.row > from.row && from.entry > __ldg(a.pointers + from.row);
    const bool goes_on = to.entry > __ldg(a.pointers + to.row);
    if (PLANNED && ((comes_in && __ldg(a.pointers + from.row + 1) <= from.entry) ||
                    (goes_on && __ldg(a.pointers + to.row + 1) <= to.entry)))
        near = false; /* a row has its end here and its last entry in the tile before */
    uint32_t entries = (uint32_t)(to.entry - from.entry), skip = (uint32_t)from.entry % 32;
    constexpr uint32_t items = SpmvChunk<typename SpmvSum<V>::A>::items;
    if (!near && (entries + skip + items - 1) / items > (entries + items - 1) / items)
        skip = 0; /* an aligned beginning is not worth another chunk */
    SpmvTile<PLANNED, I, O, V> t = {a,
                                    v,
                                    s,
                                    cols,
                                    plan,
                                    from.row,
                                    from.entry - skip,
                                    tile,
                                    (uint32_t)(to.row - from.row),
                                    skip,
                                    entries + skip,
                                    comes_in,
                                    goes_on,
                                    near};
    if (t.rows || goes_on)
        t.all();
}

/* A warp per tile. Shared: a SpmvChunk per warp. After: y, whatever the row pointers are. */
template <bool PLANNED, class I, class O, class V>
__global__ __launch_bounds__(spmv_threads, spmv_blocks<PLANNED, V>) void spmv_tiles_k(
    const __grid_constant__ SpmvTiles<O> a, const I *cols,
    const __grid_constant__ PlannedColumns<I> plan, const __grid_constant__ SpmvVectors<V> v)
{
    __shared__ SpmvChunk<typename SpmvSum<V>::A> s_chunks[spmv_threads / 32];
    constexpr uint32_t W = spmv_threads / 32;
    SpmvChunk<typename SpmvSum<V>::A> &s = s_chunks[threadIdx.x / 32];
    const uint32_t tile = blockIdx.x * W + threadIdx.x / 32;
    if (!PLANNED)
        grid_wait();
    if (tile < a.tiles)
        spmv_tile<PLANNED, I, O, V>(a, v, s, tile, cols, plan);
}

} // namespace GPI_SPACE
