/* SPDX-License-Identifier: MIT */
/*
 * Counts of rows in any order, where counters are more than shared memory holds.
 *
 * First blocks split their entries by the high bits of the row into buckets, and keep the low ones,
 * 2 bytes each. A bucket collects them in a ring of two lines in shared memory. A line of 64 bytes
 * leaves as a whole, so that memory is not asked for parts of many lines at a time. Lines go to
 * chunks of the block's own, which are linked by bucket: however rows are spread, a block needs as
 * many chunks as it has entries, and one more for each bucket. Then a block counts a bucket in
 * shared memory. Buckets that are much larger than others have several blocks, which add their
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

constexpr int split_threads = 512, split_items = 16;
constexpr uint32_t split_line = 32, split_ring = 2 * split_line, split_tile = GPI_CSR_BUCKET_TILE;
constexpr uint32_t line_words = split_line / 2, ring_words = split_ring / 2;
static_assert(split_tile == split_threads * split_items, "the scratch is for that");
constexpr uint32_t split_chunk = GPI_CSR_BUCKET_CHUNK / split_line; /* lines */
constexpr uint32_t no_row = ~0u;
constexpr uint16_t split_none = 0xffff; /* in a line that is not full */

struct SplitArgs {
    const void *rows;
    ItemCount entries, num_rows;
    int shift;
    uint32_t buckets, room; /* chunks of a block */
    uint32_t *pool;         /* two entries a word */
    uint32_t *links;        /* of chunks, one more than the number of that before; 0: none is */
    uint32_t *ends;         /* of a bucket and a block: the last chunk in the same way, and lines */
    uint32_t *sizes;        /* chunks of a bucket, of all blocks */
    void *out;              /* counts */
    bool wide;              /* these */
};

/* ---- splitting ------------------------------------------------------------------------------- */

/* Where a line is in the shared memory of a block, and which of the block's it is. */
struct SplitLine {
    uint32_t from, line;
};

/* Shared memory: of each bucket a ring, how many entries have come and how many have left, and
 * where the last line went. */
struct SplitBlock {
    const SplitArgs &a;
    uint32_t *rings;
    SplitLine *full;
    uint32_t *come, *left, *ends;
    uint32_t *counts; /* of chunks, and of full lines in two rounds */

    GPI_DEVICE SplitBlock(const SplitArgs &args, void *memory) : a(args)
    {
        rings = (uint32_t *)memory;
        full = (SplitLine *)(rings + a.buckets * ring_words);
        come = (uint32_t *)(full + 2 * a.buckets);
        left = come + a.buckets;
        ends = left + a.buckets;
        counts = ends + a.buckets;
        for (uint32_t b = threadIdx.x; b < a.buckets; b += split_threads)
            come[b] = left[b] = ends[b] = 0;
        if (threadIdx.x < 3)
            counts[threadIdx.x] = 0;
        __syncthreads();
    }

    __host__ __device__ static constexpr uint32_t bytes(uint32_t buckets)
    {
        return buckets * (ring_words * 4 + 2 * sizeof(SplitLine) + 12) + 16;
    }

    /* The next line of a bucket, of the block's. */
    GPI_DEVICE uint32_t next_line(uint32_t bucket) const
    {
        uint32_t end = ends[bucket];
        if (end == 0 || end % 256 == split_chunk) {
            const uint32_t chunk = atomicAdd(counts, 1u);
            a.links[(uint64_t)blockIdx.x * a.room + chunk] = end / 256;
            atomicAdd(a.sizes + bucket, 1u);
            end = (chunk + 1) * 256;
        }
        ends[bucket] = ++end;
        return (end / 256 - 1) * split_chunk + end % 256 - 1;
    }

    /* The word of a bucket that has entries i and i + 1; i is even. Rings begin at different banks,
     * as they are about equally full. */
    GPI_DEVICE static uint32_t word_of(uint32_t bucket, uint32_t i)
    {
        return bucket * ring_words + (i / 2 + bucket) % ring_words;
    }

    /* By half of a warp: lane is of it. */
    GPI_DEVICE void write_line(uint32_t line, uint32_t lane, uint32_t two) const
    {
        a.pool[((uint64_t)blockIdx.x * a.room * split_chunk + line) * line_words + lane] = two;
    }

    /* Lines that are full leave. */
    GPI_DEVICE void write_full(int round) const
    {
        uint32_t *count = counts + 1 + round % 2;
        for (uint32_t b = threadIdx.x; b < a.buckets; b += split_threads) {
            const uint32_t begin = left[b], end = begin + min(come[b] - begin, split_ring);
            uint32_t i = begin;
            for (; end - i >= split_line; i += split_line)
                full[atomicAdd(count, 1u)] = {b << 1 | (i / split_line & 1), next_line(b)};
            left[b] = i;
        }
        if (threadIdx.x == 0)
            counts[1 + (round + 1) % 2] = 0; /* all have read it */
        __syncthreads();
        const uint32_t lane = threadIdx.x % line_words;
        for (uint32_t l = threadIdx.x / line_words; l < *count; l += split_threads / line_words) {
            const SplitLine own = full[l];
            const uint32_t i = (own.from & 1) * split_line + 2 * lane;
            write_line(own.line, lane, rings[word_of(own.from >> 1, i)]);
        }
    }

    /* The entries of a tile for which rings have room; whether others are left. */
    GPI_DEVICE bool place(uint32_t (&row)[split_items], const uint32_t (&at)[split_items]) const
    {
        bool any = false;
#pragma unroll
        for (int k = 0; k < split_items; k++) {
            if (row[k] == no_row)
                continue;
            const uint32_t b = row[k] >> a.shift, low = row[k] & ((1u << a.shift) - 1);
            if (at[k] - left[b] < split_ring) {
                ((uint16_t *)(rings + word_of(b, at[k])))[at[k] % 2] = (uint16_t)low;
                row[k] = no_row;
            } else {
                any = true;
            }
        }
        return any;
    }

    /* What is in lines that are not full, and where the lines of each bucket are. */
    GPI_DEVICE void close() const
    {
        const uint32_t lane = threadIdx.x % line_words, i = 2 * lane;
        for (uint32_t b = threadIdx.x / line_words; b < a.buckets;
             b += split_threads / line_words) {
            const uint32_t count = come[b] - left[b];
            uint32_t line = 0, two = rings[word_of(b, left[b] + i)];
            two |= (i < count ? 0 : 0xffffu) | (i + 1 < count ? 0 : 0xffff0000u);
            if (count && lane == 0)
                line = next_line(b);
            line = __shfl_sync(0xffffu << (threadIdx.x & 16), line, 0, line_words);
            if (count)
                write_line(line, lane, two);
            if (lane == 0)
                a.ends[b * GPI_CSR_BUCKET_BLOCKS + blockIdx.x] = ends[b];
        }
    }
};

/* The rows of a thread's entries of a tile. */
template <class I> struct SplitRows {
    I row[split_items];

    GPI_DEVICE void load(const SplitArgs &a, uint64_t first, uint64_t n)
    {
        const I *rows = (const I *)a.rows + first;
#pragma unroll
        for (int k = 0; k < split_items; k++)
            row[k] = first + k * split_threads < n ? __ldcs(rows + k * split_threads) : ~(I)0;
    }

    /* If it is in range. */
    GPI_DEVICE uint32_t at(int k, uint64_t num_rows) const
    {
        return row[k] < num_rows ? (uint32_t)row[k] : no_row;
    }
};

/* Grid: GPI_CSR_BUCKET_BLOCKS. Shared memory: SplitBlock::bytes(). After: entries are in lines.
 * Rows of 4 bytes are asked for a tile ahead; for those of 8 there are too few registers. */
template <class I> __global__ __launch_bounds__(split_threads, 2) void csr_split_k(SplitArgs a)
{
    extern __shared__ uint64_t memory[];
    constexpr bool ahead = sizeof(I) == 4;
    grid_wait();
    const uint64_t n = item_count(a.entries), num_rows = item_count(a.num_rows);
    if (n == 0)
        return;
    const SplitBlock block(a, memory);
    constexpr uint64_t step = (uint64_t)GPI_CSR_BUCKET_BLOCKS * split_tile;
    uint64_t tile = (uint64_t)blockIdx.x * split_tile + threadIdx.x;
    uint32_t row[split_items], at[split_items];
    SplitRows<I> rows;
    if (ahead)
        rows.load(a, tile, n);
    for (int round = 0; tile - threadIdx.x < n; tile += step) {
        if (!ahead)
            rows.load(a, tile, n);
#pragma unroll
        for (int k = 0; k < split_items; k++) {
            row[k] = rows.at(k, num_rows);
            if (row[k] != no_row)
                at[k] = atomicAdd(block.come + (row[k] >> a.shift), 1u);
        }
        if (ahead)
            rows.load(a, tile + step, n);
        for (bool more = true; more; round++) {
            __syncthreads(); /* what was full is written */
            more = __syncthreads_or(block.place(row, at));
            block.write_full(round);
        }
    }
    block.close();
}

/* ---- counting -------------------------------------------------------------------------------- */

constexpr int split_count_threads = gpu_block_threads;
constexpr uint32_t chunk_rows = GPI_CSR_BUCKET_CHUNK / 64; /* words of a lane */

/* Chunks that one block counts: twice as many as buckets have on average, and what is left of
 * them where they are not full. */
GPI_DEVICE uint32_t chunks_of_part(const SplitArgs &a, uint64_t n)
{
    return (uint32_t)(2 * (n / GPI_CSR_BUCKET_CHUNK / a.buckets + GPI_CSR_BUCKET_BLOCKS));
}

/* The lines of a bucket that part of parts counts: those of every parts-th block, by warps. */
GPI_DEVICE void count_lines(const SplitArgs &a, uint32_t bucket, uint32_t part, uint32_t parts,
                            uint32_t *counters)
{
    const auto count = [&](uint32_t low) {
        if (low != split_none)
            atomicAdd(counters + low, 1u);
    };
    for (uint32_t i = threadIdx.x; i < 1u << a.shift; i += split_count_threads)
        counters[i] = 0;
    __syncthreads();
    const uint32_t warps = split_count_threads / 32;
    for (uint32_t g = part + threadIdx.x / 32 * parts; g < GPI_CSR_BUCKET_BLOCKS;
         g += warps * parts) {
        uint32_t end = a.ends[bucket * GPI_CSR_BUCKET_BLOCKS + g];
        while (end) {
            const uint64_t chunk = (uint64_t)g * a.room + end / 256 - 1;
            const uint32_t *words = a.pool + chunk * split_chunk * line_words + lane_id();
            const uint32_t before = a.links[chunk], filled = end % 256 * line_words;
            uint32_t two[chunk_rows];
#pragma unroll
            for (uint32_t k = 0; k < chunk_rows; k++)
                two[k] = k * 32 + lane_id() < filled ? __ldcs(words + k * 32) : ~0u;
#pragma unroll
            for (uint32_t k = 0; k < chunk_rows; k++)
                count(two[k] & 0xffff), count(two[k] >> 16);
            end = before ? before * 256 + split_chunk : 0;
        }
    }
    __syncthreads();
}

/* The counters of a bucket become the counts of its rows, or are added to them. */
template <bool ADD>
GPI_DEVICE void write_counts(const SplitArgs &a, uint32_t bucket, uint64_t num_rows,
                             const uint32_t *counters)
{
    for (uint32_t i = threadIdx.x; i < 1u << a.shift; i += split_count_threads) {
        const uint64_t row = (uint64_t)bucket << a.shift | i;
        const uint32_t count = counters ? counters[i] : 0;
        uint32_t *narrow = (uint32_t *)a.out + row;
        unsigned long long *wide = (unsigned long long *)a.out + row;
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
    __syncthreads(); /* counters are read */
}

/* Grid: any. Shared memory: a counter for each row of a bucket. After: a.out[r] = entries of row r,
 * or 0 where several blocks are to add. */
__global__ __launch_bounds__(split_count_threads) void csr_count_split_k(SplitArgs a)
{
    extern __shared__ uint32_t counters[];
    grid_wait();
    const uint64_t n = item_count(a.entries), num_rows = item_count(a.num_rows);
    if (n == 0)
        return;
    const uint32_t most = chunks_of_part(a, n);
    for (uint32_t b = blockIdx.x; b < a.buckets; b += gridDim.x) {
        const bool alone = a.sizes[b] < most;
        if (alone)
            count_lines(a, b, 0, 1, counters);
        write_counts<false>(a, b, num_rows, alone ? counters : nullptr);
    }
}

/* The same for the buckets that have several parts. Grid: any. */
__global__ __launch_bounds__(split_count_threads) void csr_add_split_k(SplitArgs a)
{
    extern __shared__ uint32_t counters[];
    grid_wait();
    const uint64_t n = item_count(a.entries), num_rows = item_count(a.num_rows);
    const uint32_t most = n ? chunks_of_part(a, n) : 1;
    const uint32_t mine = n && threadIdx.x < a.buckets ? a.sizes[threadIdx.x] : 0;
    if (!__syncthreads_or(mine >= most))
        return;
    uint32_t unit = 0;
    for (uint32_t b = 0; b < a.buckets; b++) {
        const uint32_t size = a.sizes[b], all = GPI_CSR_BUCKET_BLOCKS;
        const uint32_t parts = size < most ? 0 : min(size / most + 1, all);
        for (uint32_t part = 0; part < parts; part++) {
            if (unit++ % gridDim.x != blockIdx.x)
                continue;
            count_lines(a, b, part, parts, counters);
            write_counts<true>(a, b, num_rows, counters);
        }
    }
}

} // namespace GPI_SPACE
