/* SPDX-License-Identifier: MIT */
/*
 * SpMV. The merge of row ends and entries (device/search.cuh) is cut into tiles of equal weight, a
 * warp each, and no warp waits for another:
 *
 *     spmv_starts_k    where the tiles begin
 *     spmv_tiles_k     the products of a tile, and their sums from row end to row end
 *
 * A row that does not fill several tiles belongs as a whole to the tile where it ends. Of a longer
 * one each of its tiles has a piece; the warp that is the last to leave a piece sums them.
 */
#pragma once

#include "csr/csr_internal.h"
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/ops.cuh"
#include "device/raw.cuh"
#include "device/search.cuh"
#include "device/tile_io.cuh"
#include "tuning/csr_tuning.cuh"

namespace GPI_SPACE
{

constexpr int spmv_threads = csr_tuning.spmv_threads;

/* The matrix without its entries, and its tiles. */
template <class O> struct SpmvTiles {
    const O *pointers;
    uint64_t num_rows, nnz;
    const uint64_t *device_num_rows, *device_nnz; /* NULL, or those are bounds */
    gpi_csr_start *starts;
    uint32_t *left; /* of pieces, and later of groups of pieces */
    uint32_t tiles;
    int log; /* a tile has 2^log units */

    /* As they are in memory: the end of the merge. */
    GPI_DEVICE gpi_csr_start end() const
    {
        const uint64_t rows = item_count(ItemCount{num_rows, device_num_rows});
        return {rows ? item_count(ItemCount{nnz, device_nnz}) : 0, rows};
    }

    GPI_DEVICE bool is_long(uint64_t entries) const
    {
        return entries >> log >= GPI_CSR_LONG_TILES;
    }

    /* Of a tile that begins with row, or in it. */
    GPI_DEVICE gpi_csr_start start(uint64_t tile, uint64_t row, const gpi_csr_start &all) const
    {
        if (row == all.row)
            return all;
        const O begin = __ldg(pointers + row);
        const bool shared = is_long((O)(__ldg(pointers + row + 1) - begin));
        return {shared ? (tile << log) - row : (uint64_t)begin, row};
    }
};

/* ---- where tiles begin ----------------------------------------------------------------------- */

/*
 * Row ends before unit d, by one thread; high is at most d. Rounds of 8 probes that do not wait for
 * each other, the first around the place where it would be if all rows had the same length.
 */
template <class O>
GPI_DEVICE uint64_t spmv_search(const O *pointers, uint64_t low, uint64_t high, uint64_t d,
                                uint64_t guess)
{
    constexpr int P = 8;
    uint64_t step = (high - low) / 2048 + 1;
    uint64_t base = guess > low + P / 2 * step ? guess - P / 2 * step : low;
    while (low < high) {
        uint32_t passed = 0;
#pragma unroll
        for (int j = 0; j < P; j++) {
            const uint64_t probe = base + (j + 1) * step - 1;
            passed += probe < high && passes_before(pointers, (O)0, probe, d);
        }
        if (passed)
            low = base + passed * step;
        if (passed < P)
            high = min(high, base + (passed + 1) * step - 1);
        base = low = min(low, high);
        step = (high - low + P) / (P + 1);
    }
    return low;
}

/* The same by a warp, whose lanes probe one place each. */
template <class O>
GPI_DEVICE uint64_t spmv_search_warp(const O *pointers, uint64_t low, uint64_t high, uint64_t d,
                                     uint64_t guess)
{
    uint64_t step = (high - low) / 8192 + 1;
    uint64_t base = guess > low + 16 * step ? guess - 16 * step : low;
    while (low < high) {
        const uint64_t probe = base + (lane_id() + 1) * step - 1;
        const bool pass = probe < high && passes_before(pointers, (O)0, probe, d);
        const uint32_t passed = __popc(__ballot_sync(all_lanes, pass));
        if (passed)
            low = base + passed * step;
        if (passed < 32)
            high = min(high, base + (passed + 1) * step - 1);
        base = low = min(low, high);
        step = (high - low + 32) / 33;
    }
    return low;
}

/* Where unit d would lie among n rows of equal length. */
GPI_DEVICE uint64_t spmv_guess(uint64_t n, uint64_t d, uint64_t units)
{
    return units ? (uint64_t)((double)n * ((double)d / (double)units)) : 0;
}

/*
 * starts and left of all tiles, by searches: a thread per tile. The block finds the rows of its
 * first and last tile before. Shared: two numbers.
 */
template <class O>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_search_k(SpmvTiles<O> a)
{
    __shared__ uint64_t s_rows[2];
    constexpr uint64_t T = csr_tuning.threads;
    const gpi_csr_start all = a.end();
    const uint64_t units = all.row + all.entry, tile = blockIdx.x * T + threadIdx.x;
    const uint64_t first = min(blockIdx.x * T << a.log, units);
    const uint64_t last = min((blockIdx.x + 1) * T << a.log, units);
    if (threadIdx.x < 64) {
        const uint64_t d = threadIdx.x < 32 ? first : last;
        const uint64_t row =
            spmv_search_warp(a.pointers, merge_path_low(all.entry, d), merge_path_high(all.row, d),
                             d, spmv_guess(all.row, d, units));
        if (lane_id() == 0)
            s_rows[threadIdx.x / 32] = row;
    }
    __syncthreads();
    if (tile < a.tiles) {
        const uint64_t d = min(tile << a.log, units), low = s_rows[0], high = min(s_rows[1], d);
        const uint64_t guess = low + spmv_guess(high - low, d - first, last - first);
        a.starts[tile] = a.start(tile, spmv_search(a.pointers, low, high, d, guess), all);
        a.left[tile] = 0;
    }
    grid_release();
}

/*
 * The same by a thread per row, which writes the starts of the tiles that begin in it; the block
 * those of its long rows. Faster where the row pointers are few: nothing waits for a search.
 */
template <class O>
__global__ __launch_bounds__(csr_tuning.threads) void spmv_scatter_k(SpmvTiles<O> a)
{
    __shared__ uint64_t s_long[csr_tuning.threads];
    __shared__ uint32_t s_count;
    const gpi_csr_start all = a.end();
    if (threadIdx.x == 0)
        s_count = 0;
    __syncthreads();
    const uint64_t row = (uint64_t)blockIdx.x * csr_tuning.threads + threadIdx.x;
    if (row < all.row) {
        const O begin = __ldg(a.pointers + row), end = __ldg(a.pointers + row + 1);
        uint64_t tile = (begin + row + (((uint64_t)1 << a.log) - 1)) >> a.log;
        if (a.is_long((O)(end - begin)))
            s_long[atomicAdd(&s_count, 1u)] = row;
        else
            for (; tile << a.log <= end + row && tile < a.tiles; tile++)
                a.starts[tile] = {begin, row};
    }
    __syncthreads();
    for (uint32_t k = 0; k < s_count; k++) {
        const uint64_t r = s_long[k], last = (__ldg(a.pointers + r + 1) + r) >> a.log;
        uint64_t tile = (__ldg(a.pointers + r) + r + (((uint64_t)1 << a.log) - 1)) >> a.log;
        for (tile += threadIdx.x; tile <= last && tile < a.tiles; tile += csr_tuning.threads) {
            a.starts[tile] = {(tile << a.log) - r, r};
            a.left[tile] = 0;
        }
    }
    grid_release();
}

/* ---- products -------------------------------------------------------------------------------- */

/* The type of sums. */
template <class V> struct SpmvSum {
    using A = float;
};
template <> struct SpmvSum<double> {
    using A = double;
};

/* A scalar on the host or in memory. */
template <class A> struct SpmvScalar {
    A value;
    const A *device; /* or NULL */

    GPI_DEVICE A get() const
    {
        return device ? *device : value;
    }
};

template <class V> struct SpmvVectors {
    using A = typename SpmvSum<V>::A;
    const V *values, *x;
    V *y;
    SpmvScalar<A> alpha, beta;
    A *pieces; /* two per tile: of the row that goes on behind it, of the one that ends in it */

    GPI_DEVICE void store(uint64_t row, A sum) const
    {
        const A a = alpha.get(), b = beta.get();
        A v = a * sum;
        if (b != 0)
            v += b * widen<A>(y[row]);
        y[row] = narrow<V>(v);
    }
};

/* Of memory that the kernel does not write: used once, or again by others. */
template <class T> GPI_DEVICE T load_passing(const T *p)
{
    union Image {
        uint16_t half;
        uint32_t word;
        uint64_t two;
        T value;
        GPI_DEVICE Image() : two()
        {
        }
    } u;
    if constexpr (sizeof(T) == 2)
        asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(u.half) : "l"(p));
    else if constexpr (sizeof(T) == 4)
        asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(u.word) : "l"(p));
    else
        asm volatile("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(u.two) : "l"(p));
    return u.value;
}

template <class T> GPI_DEVICE T load_kept(const T *p)
{
    if constexpr (sizeof(T) == 2) {
        union {
            uint16_t bits;
            T value;
        } u;
        u.bits = __ldg((const uint16_t *)p);
        return u.value;
    } else {
        return __ldg(p);
    }
}

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

/* The pieces of a long row, in groups of 64, and then the groups: the same order whichever warp is
 * the last one. */
template <class O, class V> struct SpmvLongRow {
    using A = typename SpmvSum<V>::A;
    static constexpr uint64_t each = 64;
    const SpmvTiles<O> &a;
    const SpmvVectors<V> &v;
    uint64_t row, first, last; /* tiles */

    GPI_DEVICE SpmvLongRow(const SpmvTiles<O> &a_, const SpmvVectors<V> &v_, uint64_t row_)
        : a(a_), v(v_), row(row_)
    {
        first = (__ldg(a.pointers + row) + row) >> a.log;
        last = (__ldg(a.pointers + row + 1) + row) >> a.log;
    }

    /* A tile of this row alone, which has the counter and the sum of a group. */
    GPI_DEVICE uint64_t tile_of(uint64_t g) const
    {
        return g ? first + g * each - 1 : first + 1;
    }

    /* Leave sum at slot and count: whether that was the last of `all`. By a warp. */
    GPI_DEVICE bool leave(A *slot, A sum, uint32_t *counter, uint64_t all) const
    {
        uint32_t before = 0;
        if (lane_id() == 0) {
            *slot = sum;
            __threadfence(); /* who counts all of them sees the sums */
            before = atomicAdd(counter, 1u);
            __threadfence();
            if (before + 1 == all)
                *counter = 0; /* for the next call of a plan */
        }
        return shuffle(before, 0) + 1 == all;
    }

    /* slot_of(0) + .. + slot_of(n - 1). */
    template <class F> GPI_DEVICE A total(uint64_t n, F slot_of) const
    {
        A sum = 0;
#pragma unroll 4
        for (uint64_t k = lane_id(); k < n; k += 32)
            sum += __ldcg(v.pieces + slot_of(k));
        return warp_reduce<Sum<A>>(sum);
    }

    GPI_DEVICE void leave_piece(uint64_t tile, A sum) const
    {
        const uint64_t g = (tile - first) / each, from = first + g * each;
        const uint64_t groups = (last - first) / each + 1;
        const uint64_t pieces = last - from + 1 < each ? last - from + 1 : each;
        if (!leave(v.pieces + 2 * tile + (tile == last), sum, a.left + tile_of(g), pieces))
            return;
        sum = total(pieces, [&](uint64_t k) { return 2 * (from + k) + (from + k == last); });
        if (groups > 1) {
            if (!leave(v.pieces + 2 * tile_of(g) + 1, sum, a.left + first + 2, groups))
                return;
            sum = total(groups, [&](uint64_t k) { return 2 * tile_of(k) + 1; });
        }
        if (lane_id() == 0)
            v.store(row, sum);
    }
};

/* Columns as a plan has them: of 32 entries at a time the least, and 16 bits above it for each. */
template <class I> struct NearColumns {
    const I *least; /* all ones: one of the 32 is too far */
    const uint16_t *above;
    const gpi_csr_plan *plan; /* which says whether it is worth it */
};

/* A warp's tile: entries from `entry` on, of which the first `skip` are not of the tile, and `rows`
 * that end in it. */
template <bool NEAR, class I, class O, class V> struct SpmvTile {
    using A = typename SpmvSum<V>::A;
    using Chunk = SpmvChunk<A>;
    static constexpr int K = Chunk::K;
    const SpmvTiles<O> &a;
    const SpmvVectors<V> &v;
    Chunk &s;
    const I *cols;
    const NearColumns<I> &near;
    uint64_t tile, row, entry;
    uint32_t rows, skip, entries;
    bool comes_in, goes_on; /* the first row is a long one; so is the one behind them */
    bool near_worth;

    /* Columns of n entries at `at` as the plan has them, on their way: nothing waits for anything
     * yet. entry is a multiple of 32, and lane k gets the least of the k-th 32. */
    GPI_DEVICE I load_near(uint32_t at, uint32_t from, uint32_t n, I (&col)[K]) const
    {
        I least = 0;
        if (lane_id() * 32 < n && lane_id() < K)
            least = __ldg(near.least + (entry + at) / 32 + lane_id());
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint32_t i = k * 32 + lane_id();
            if (i >= from && i < n)
                col[k] = load_passing(near.above + entry + at + i);
        }
        return least;
    }

    /* They become columns. */
    GPI_DEVICE void widen_near(I least, uint32_t at, uint32_t from, uint32_t n, I (&col)[K]) const
    {
        const uint32_t far = __ballot_sync(all_lanes, least == (I) ~(I)0);
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint32_t i = k * 32 + lane_id();
            col[k] += shuffle(least, k);
            if (far >> k & 1 && i >= from && i < n)
                col[k] = load_passing(cols + entry + at + i);
        }
    }

    GPI_DEVICE void load_columns(uint32_t at, uint32_t from, uint32_t n, I (&col)[K]) const
    {
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint32_t i = k * 32 + lane_id();
            if (i >= from && i < n)
                col[k] = load_passing(cols + entry + at + i);
        }
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

    /* Rows r on, `ended` of them, have ended in the chunk. */
    GPI_DEVICE void store(uint32_t r, uint32_t ended, uint32_t at)
    {
        for (uint32_t i = r + lane_id(); i < r + ended; i += 32) {
            const O begin = __ldg(a.pointers + row + i), end = __ldg(a.pointers + row + i + 1);
            if (!comes_in || i)
                v.store(row + i, end > begin ? s.at((uint32_t)(end - (O)entry) - at - 1) : 0);
        }
        if (comes_in && r == 0 && ended) {
            const uint32_t end = end_of(0);
            const A sum = end > at ? s.at(end - at - 1) : 0;
            SpmvLongRow<O, V>(a, v, row).leave_piece(tile, sum);
        }
    }

    GPI_DEVICE void all()
    {
        A carry = 0;
        uint32_t r = 0, from = skip;
#pragma unroll 1
        for (uint32_t at = 0; at == 0 || at < entries; at += Chunk::items, from = 0) {
            const uint32_t n = min(entries - at, (uint32_t)Chunk::items);
            ((uint2 *)s.ends)[lane_id()] = make_uint2(0, 0);
            I col[K], least = 0;
            V value[K];
            if (NEAR && near_worth)
                least = load_near(at, from, n, col);
            else
                load_columns(at, from, n, col);
#pragma unroll
            for (int k = 0; k < K; k++) {
                const uint32_t i = k * 32 + lane_id();
                if (i >= from && i < n)
                    value[k] = load_passing(v.values + entry + at + i);
            }
            __syncwarp();
            const uint32_t ended = mark(r, at, n);
            if (NEAR && near_worth)
                widen_near(least, at, from, n, col);
#pragma unroll
            for (int k = 0; k < K; k++) {
                const uint32_t i = k * 32 + lane_id();
                A product = 0;
                if (i >= from && i < n)
                    product = widen<A>(value[k]) * widen<A>(load_kept(v.x + col[k]));
                s.at(i) = product;
            }
            __syncwarp();
            s.sum_rows(carry);
            __syncwarp();
            store(r, ended, at);
            r += ended;
            __syncwarp();
        }
        if (goes_on)
            SpmvLongRow<O, V>(a, v, row + rows).leave_piece(tile, carry);
    }
};

/*
 * A warp per tile. Shared: a SpmvChunk per warp. After: y, whatever the row pointers are. NEAR:
 * with the columns of a plan.
 */
template <bool NEAR, class I, class O, class V>
__global__ __launch_bounds__(spmv_threads, csr_tuning.spmv_blocks) void spmv_tiles_k(
    const __grid_constant__ SpmvTiles<O> a, const I *cols,
    const __grid_constant__ NearColumns<I> near, const __grid_constant__ SpmvVectors<V> v)
{
    using A = typename SpmvSum<V>::A;
    __shared__ SpmvChunk<A> s_chunks[spmv_threads / 32];
    const uint64_t tile = (uint64_t)blockIdx.x * (spmv_threads / 32) + threadIdx.x / 32;
    gpi_csr_start to = a.end();
    const uint64_t units = to.row + to.entry;
    grid_wait();
    if (tile << a.log >= units)
        return;
    const gpi_csr_start from = a.starts[tile];
    if ((tile + 1) << a.log < units)
        to = a.starts[tile + 1];
    uint32_t entries = (uint32_t)(to.entry - from.entry), skip = (uint32_t)from.entry % 32;
    constexpr uint32_t items = SpmvChunk<A>::items;
    if (!NEAR && (entries + skip + items - 1) / items > (entries + items - 1) / items)
        skip = 0; /* an aligned beginning is not worth another chunk */
    const bool comes_in = to.row > from.row && from.entry > __ldg(a.pointers + from.row);
    const bool goes_on = to.entry > __ldg(a.pointers + to.row);
    SpmvTile<NEAR, I, O, V> t = {a,
                                 v,
                                 s_chunks[threadIdx.x / 32],
                                 cols,
                                 near,
                                 tile,
                                 from.row,
                                 from.entry - skip,
                                 (uint32_t)(to.row - from.row),
                                 skip,
                                 entries + skip,
                                 comes_in,
                                 goes_on,
                                 NEAR && near.plan->far_blocks * 4 <= near.plan->blocks};
    if (t.rows || goes_on)
        t.all();
}

} // namespace GPI_SPACE
