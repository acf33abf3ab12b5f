/* SPDX-License-Identifier: MIT */
/*
 * Counts of rows in any order, where counters are more than shared memory holds.
 *
 * First blocks sort tiles of entries in shared memory by the high bits of the row, into buckets, of
 * which they keep the low bits, 2 bytes each. A tile is written as it lies there, so that memory is
 * written in order however rows are spread, and skew needs no more room; a table has where the run
 * of each bucket begins in each tile. Then a block counts a bucket in shared memory, out of its
 * runs in all tiles. Buckets that are much larger than others have several blocks, which add their
 * counts in memory.
 */
#pragma once

extern "C" {
#include "csr/csr_buckets.h"
}
#include "device/gpu.cuh"
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

constexpr int split_threads = gpu_block_threads;
constexpr int split_items = GPI_CSR_BUCKET_TILE / split_threads;
constexpr uint32_t split_pack = GPI_CSR_BUCKET_PACK, split_tile = GPI_CSR_BUCKET_TILE;
constexpr uint32_t most_buckets = GPI_CSR_BUCKET_ROWS >> GPI_CSR_BUCKET_BITS;
static_assert(most_buckets <= split_threads, "each is of a thread");
static_assert(split_tile / split_pack + most_buckets <= UINT16_MAX, "places have 2 bytes");

struct SplitArgs {
    const void *rows;
    ItemCount entries, num_rows;
    int shift;
    uint32_t buckets, tiles, pitch; /* packs of a tile that has all it can have */
    uint4 *pool;                    /* packs of entries, by tile; runs are whole packs */
    uint16_t *begins;               /* of runs, of a bucket and a tile, and where the last ends */
    uint32_t *sizes;                /* packs of a bucket */
    void *out;                      /* counts */
    bool wide;                      /* these */

    GPI_DEVICE uint16_t &begin_of(uint32_t bucket, uint32_t tile) const
    {
        return begins[(uint64_t)bucket * tiles + tile];
    }

    /* What fills up a run: behind the low bits of all rows. */
    __host__ __device__ uint32_t none() const
    {
        return 1u << shift;
    }
};

GPI_DEVICE uint32_t split_tiles(uint64_t n)
{
    return (uint32_t)((n + split_tile - 1) / split_tile);
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* The rows of a thread's entries of a tile. Those that are out of range and behind the last entry
 * are of a bucket behind the others. */
struct SplitRows {
    uint32_t row[split_items];

    template <class I> GPI_DEVICE void load(const SplitArgs &a, uint64_t tile, uint64_t n)
    {
        const uint64_t first = tile * split_tile + threadIdx.x;
        const I *rows = (const I *)a.rows + first, behind = (I)a.buckets << a.shift;
        if ((tile + 1) * split_tile <= n) {
#pragma unroll
            for (int k = 0; k < split_items; k++) {
                if (k * sizeof(I) % 64 == 0) /* registers do not suffice for all of 8 bytes */
                    asm volatile("" ::: "memory");
                row[k] = (uint32_t)min(__ldcs(rows + k * split_threads), behind);
            }
        } else {
#pragma unroll
            for (int k = 0; k < split_items; k++)
                row[k] = first + k * split_threads < n
                             ? (uint32_t)min(rows[k * split_threads], behind)
                             : (uint32_t)behind;
        }
    }
};

/* Ask the L2 for the rows of a tile. */
template <class I> GPI_DEVICE void ask_for_rows(const SplitArgs &a, uint64_t tile, uint64_t n)
{
    constexpr uint32_t line = 128 / sizeof(I);
    const uint64_t end = min((tile + 1) * split_tile, n);
#pragma unroll 1
    for (uint64_t i = tile * split_tile + threadIdx.x * line; i < end; i += split_threads * line)
        asm volatile("prefetch.global.L2 [%0];" ::"l"((const I *)a.rows + i));
}

/* Shared memory: the packs of a tile, and of each bucket how many entries it has, then where the
 * next one goes. */
struct SplitBlock {
    const SplitArgs &a;
    uint4 *packs;
    uint32_t *next, *sizes, *sums; /* sizes: packs so far; sums: of warps, and of all */

    GPI_DEVICE SplitBlock(const SplitArgs &args, void *memory)
        : a(args), packs((uint4 *)memory), next((uint32_t *)(packs + args.pitch)),
          sizes(next + split_threads + 1), sums(sizes + split_threads)
    {
        sizes[threadIdx.x] = 0;
        clear();
    }

    static constexpr uint32_t bytes(uint32_t pitch)
    {
        return pitch * sizeof(uint4) + (2 * split_threads + split_threads / 32 + 2) * 4;
    }

    GPI_DEVICE void clear() const
    {
        for (uint32_t b = threadIdx.x; b <= a.buckets; b += split_threads)
            next[b] = 0;
        __syncthreads();
    }

    GPI_DEVICE void count(const SplitRows &rows) const
    {
#pragma unroll
        for (int k = 0; k < split_items; k++)
            atomicAdd(next + (rows.row[k] >> a.shift), 1u);
        __syncthreads();
    }

    /* Where runs begin; what their last packs do not need is none. */
    GPI_DEVICE void begin_runs(uint32_t tile)
    {
        const uint32_t b = threadIdx.x, none = a.none() << 16 | a.none();
        const uint32_t own = b < a.buckets ? (next[b] + split_pack - 1) / split_pack : 0;
        const uint32_t running = warp_running_sum(own);
        if (lane_id() == 31)
            sums[b / 32] = running;
        __syncthreads();
        const uint32_t end = running + warp_sum(lane_id() < b / 32 ? sums[lane_id()] : 0);
        if (own)
            packs[end - 1] = {none, none, none, none};
        if (b < a.buckets) {
            next[b] = (end - own) * split_pack;
            a.begin_of(b, tile) = (uint16_t)(end - own);
        }
        if (b == split_threads - 1) {
            next[a.buckets] = end * split_pack;
            a.begin_of(a.buckets, tile) = (uint16_t)end;
            sums[split_threads / 32] = end;
        }
        sizes[b] += own;
        __syncthreads();
    }

    GPI_DEVICE void place(SplitRows &rows) const
    {
        constexpr int batch = 8;
        const uint32_t low = a.none() - 1;
#pragma unroll
        for (int first = 0; first < split_items; first += batch) {
            uint32_t at[batch];
#pragma unroll
            for (int k = 0; k < batch; k++) {
                asm volatile("" : "+r"(rows.row[first + k])); /* addresses would be kept */
                at[k] = atomicAdd(next + (rows.row[first + k] >> a.shift), 1u);
            }
#pragma unroll
            for (int k = 0; k < batch; k++)
                ((uint16_t *)packs)[at[k]] = (uint16_t)(rows.row[first + k] & low);
        }
        __syncthreads();
    }

    GPI_DEVICE void write(uint32_t tile) const
    {
        uint4 *out = a.pool + (uint64_t)tile * a.pitch;
        const uint32_t count = sums[split_threads / 32];
        for (uint32_t i = threadIdx.x; i < count; i += split_threads)
            out[i] = packs[i];
    }

    GPI_DEVICE void close() const
    {
        if (sizes[threadIdx.x])
            atomicAdd(a.sizes + threadIdx.x, sizes[threadIdx.x]);
    }
};

/* Grid: any. Shared memory: SplitBlock::bytes(). After: tiles are in runs. */
template <class I> __global__ __launch_bounds__(split_threads) void csr_split_k(SplitArgs a)
{
    extern __shared__ uint4 memory[];
    grid_wait();
    const uint64_t n = item_count(a.entries);
    const uint32_t tiles = split_tiles(n);
    SplitBlock block(a, memory);
    SplitRows rows;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        rows.load<I>(a, tile, n);
        ask_for_rows<I>(a, (uint64_t)tile + gridDim.x, n);
        block.count(rows);
        block.begin_runs(tile);
        block.place(rows);
        block.write(tile);
        block.clear();
    }
    block.close();
}

/* ---- counting -------------------------------------------------------------------------------- */

constexpr int split_count_threads = gpu_block_threads;

/* Packs that one block counts: twice as many as buckets have on average. */
GPI_DEVICE uint32_t packs_of_part(const SplitArgs &a, uint64_t n)
{
    return 2 * ((uint32_t)(n / split_pack / a.buckets) + split_tiles(n));
}

/* The lanes whose sum is at most i: which lane item i belongs to. */
GPI_DEVICE uint32_t lane_of(uint32_t running, uint32_t i)
{
    uint32_t lane = 0;
#pragma unroll
    for (uint32_t step = 16; step; step /= 2)
        lane += shuffle(running, lane + step - 1) <= i ? step : 0;
    return lane;
}

/* Part of parts of the runs of 32 tiles, of which each lane has one, by a warp. */
GPI_DEVICE void count_runs(const SplitArgs &a, uint32_t first, uint32_t begin, uint32_t end,
                           uint32_t part, uint32_t parts, uint32_t *counters)
{
    constexpr uint32_t each = 2;
    const uint32_t running = warp_running_sum(end - begin), total = shuffle(running, 31);
    const uint32_t base = end - running, none = a.none() << 16 | a.none();
#pragma unroll 1
    for (uint32_t i = part * 32 * each + lane_id(); i - lane_id() < total; i += parts * 32 * each) {
        uint4 pack[each];
#pragma unroll
        for (uint32_t k = 0; k < each; k++) {
            const uint32_t own = i + k * 32, lane = lane_of(running, own);
            const uint4 *at = a.pool + (uint64_t)(first + lane) * a.pitch;
            const uint32_t from = shuffle(base, lane) + own;
            pack[k] = own < total ? __ldcs(at + from) : uint4{none, none, none, none};
        }
#pragma unroll
        for (uint32_t k = 0; k < each; k++)
            for (const uint32_t two : {pack[k].x, pack[k].y, pack[k].z, pack[k].w}) {
                atomicAdd(counters + (two & 0xffff), 1u);
                atomicAdd(counters + (two >> 16), 1u);
            }
    }
}

/* The runs of a bucket that part of parts counts. Before and after: counters are 0. */
GPI_DEVICE void count_bucket(const SplitArgs &a, uint32_t tiles, uint32_t bucket, uint32_t part,
                             uint32_t parts, uint32_t *counters)
{
    for (uint32_t tile = threadIdx.x; tile - lane_id() < tiles; tile += split_count_threads) {
        const bool is = tile < tiles;
        count_runs(a, tile - lane_id(), is ? a.begin_of(bucket, tile) : 0,
                   is ? a.begin_of(bucket + 1, tile) : 0, part, parts, counters);
    }
    __syncthreads();
}

/* Counters, which become 0, are the counts of a bucket's rows, or are added to them. */
template <bool ADD>
GPI_DEVICE void write_counts(const SplitArgs &a, uint32_t bucket, uint64_t num_rows,
                             uint32_t *counters)
{
    for (uint32_t i = threadIdx.x; i < a.none(); i += split_count_threads) {
        const uint64_t row = (uint64_t)bucket << a.shift | i;
        const uint32_t count = counters[i];
        uint32_t *narrow = (uint32_t *)a.out + row;
        unsigned long long *wide = (unsigned long long *)a.out + row;
        counters[i] = 0;
        if (row >= num_rows || (ADD && count == 0))
            continue;
        if (ADD && a.wide)
            atomicAdd(wide, count);
        else if (ADD)
            atomicAdd(narrow, count);
        else if (a.wide)
            *wide = count;
        else
            *narrow = count;
    }
    __syncthreads();
}

GPI_DEVICE void clear_counters(const SplitArgs &a, uint32_t *counters)
{
    for (uint32_t i = threadIdx.x; i < a.none(); i += split_count_threads)
        counters[i] = 0;
    __syncthreads();
}

/* Grid: any. Shared memory: a counter for each row of a bucket, and one more. After: a.out[r] =
 * entries of row r, or 0 where several blocks are to add. */
__global__ __launch_bounds__(split_count_threads) void csr_count_split_k(SplitArgs a)
{
    extern __shared__ uint32_t counters[];
    grid_wait();
    const uint64_t n = item_count(a.entries), num_rows = item_count(a.num_rows);
    if (n == 0)
        return;
    const uint32_t most = packs_of_part(a, n);
    clear_counters(a, counters);
    for (uint32_t b = blockIdx.x; b < a.buckets; b += gridDim.x) {
        if (a.sizes[b] < most)
            count_bucket(a, split_tiles(n), b, 0, 1, counters);
        write_counts<false>(a, b, num_rows, counters);
    }
}

/* The same for the buckets that have several parts. Grid: any. */
__global__ __launch_bounds__(split_count_threads) void csr_add_split_k(SplitArgs a)
{
    extern __shared__ uint32_t counters[];
    grid_wait();
    const uint64_t n = item_count(a.entries), num_rows = item_count(a.num_rows);
    const uint32_t most = n ? packs_of_part(a, n) : 1;
    const uint32_t mine = n && threadIdx.x < a.buckets ? a.sizes[threadIdx.x] : 0;
    if (!__syncthreads_or(mine >= most))
        return;
    clear_counters(a, counters);
    uint32_t unit = 0;
    for (uint32_t b = 0; b < a.buckets; b++) {
        const uint32_t size = a.sizes[b];
        const uint32_t parts = size < most ? 0 : min(size / most + 1, gridDim.x);
        for (uint32_t part = 0; part < parts; part++) {
            if (unit++ % gridDim.x != blockIdx.x)
                continue;
            count_bucket(a, split_tiles(n), b, part, parts, counters);
            write_counts<true>(a, b, num_rows, counters);
        }
    }
}

} // namespace GPI_SPACE
