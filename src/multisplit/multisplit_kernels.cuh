/* SPDX-License-Identifier: MIT */
/* The kernels of a multisplit by numbers of 8 bits. */
#pragma once

#include "device/block.cuh"
#include "device/gpu.cuh"
#include "device/item_count.cuh"
#include "device/item_stage.cuh"
#include "device/tile_io.cuh"
#include "device/ops.cuh"
#include "device/warp.cuh"

extern "C" {
#include "multisplit/multisplit_internal.h"
}

namespace GPI_SPACE
{

constexpr int split_buckets = GPI_MULTISPLIT_BYTE_BUCKETS;

/* The items of a block: tiles that follow each other. */
struct SplitRange {
    uint64_t begin, end;
};

/* Of one of `blocks` blocks. */
GPI_DEVICE SplitRange split_range(const gpi_multisplit_args &a, uint32_t tile_items, uint32_t block,
                                  uint32_t blocks)
{
    const uint64_t n = item_count(a), tiles = (n + tile_items - 1) / tile_items;
    const uint64_t each = (tiles + blocks - 1) / blocks * tile_items;
    const uint64_t begin = block * each < n ? block * each : n;
    return {begin, n - begin < each ? n : begin + each};
}

/* The count of a bucket for the block that calls, which moves, or its sum. */
GPI_DEVICE const uint64_t *split_count_of(const uint64_t *counts, uint32_t bucket,
                                          uint32_t block = blockIdx.x)
{
    return counts + ((uint64_t)bucket * gridDim.x + block) * GPI_MULTISPLIT_COUNTERS;
}

/* A number that is too large counts as the last bucket. */
GPI_DEVICE uint32_t split_bucket(uint32_t number, uint32_t num_buckets)
{
    return min(number, num_buckets - 1);
}

/* ---- counts ---------------------------------------------------------------------------------- */

constexpr int count_threads = 256, count_warps = count_threads / 32;
constexpr int split_few = 32; /* buckets for which every thread has counts of its own */

/* count(bucket) for the numbers of a range, sixteen at a time between boundaries of memory. */
template <class Count>
GPI_DEVICE void split_each(const uint8_t *numbers, uint64_t n, uint32_t num_buckets,
                           const Count &count)
{
    uint64_t head = (0 - (uintptr_t)numbers) & 15;
    head = head < n ? head : n;
    const uint64_t vectors = (n - head) / 16, tail = head + 16 * vectors;
    const uint4 *in = (const uint4 *)(numbers + head);
    for (uint64_t v = threadIdx.x; v < vectors; v += count_threads) {
        const uint4 four = in[v];
        const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int k = 0; k < 16; k++)
            count(split_bucket(__byte_perm(words[k / 4], 0, 0x4440 + k % 4), num_buckets));
    }
    if (threadIdx.x < head)
        count(split_bucket(numbers[threadIdx.x], num_buckets));
    if (threadIdx.x < n - tail)
        count(split_bucket(numbers[tail + threadIdx.x], num_buckets));
}

/*
 * Grid: GPI_MULTISPLIT_COUNTERS blocks for each block that moves, which share its range;
 * count_threads threads. After: counts[bucket * blocks + block]. FEW: num_buckets is at most
 * split_few, and a thread counts in its own column; otherwise a warp in its own row.
 */
template <bool FEW>
__global__ void __launch_bounds__(count_threads)
    split_count_k(const gpi_multisplit_args a, const uint32_t tile_items, uint64_t *counts)
{
    constexpr int columns = FEW ? count_threads : count_warps;
    __shared__ uint32_t count[(FEW ? split_few : split_buckets) * columns];
    const int column = FEW ? threadIdx.x : threadIdx.x / 32;
    constexpr uint32_t counters = GPI_MULTISPLIT_COUNTERS;
    SplitRange range = split_range(a, tile_items, blockIdx.x / counters, gridDim.x / counters);
    const uint64_t each = (range.end - range.begin + counters - 1) / counters;
    const uint64_t skipped = blockIdx.x % counters * each, items = range.end - range.begin;
    range.begin += skipped < items ? skipped : items;
    range.end = range.end - range.begin < each ? range.end : range.begin + each;
    for (uint32_t i = threadIdx.x; i < a.num_buckets * columns; i += count_threads)
        count[i] = 0;
    __syncthreads();
    split_each((const uint8_t *)a.numbers + range.begin, range.end - range.begin, a.num_buckets,
               [&](uint32_t bucket) {
                   if constexpr (FEW)
                       count[bucket * columns + column]++;
                   else
                       atomicAdd(&count[bucket * columns + column], 1u);
               });
    __syncthreads();
    for (uint32_t b = threadIdx.x / 32; b < a.num_buckets; b += count_warps) {
        uint32_t sum = 0;
        for (int c = lane_id(); c < columns; c += 32)
            sum += count[b * columns + c];
        sum = warp_sum(sum);
        if (lane_id() == 0)
            counts[(uint64_t)b * gridDim.x + blockIdx.x] = sum;
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

constexpr int split_threads = 256, split_warps = split_threads / 32;
constexpr int split_resident = 4; /* blocks on a multiprocessor */
static_assert(split_buckets == split_threads, "a thread per bucket");
constexpr int split_rows =
    GPI_MULTISPLIT_TILE_MAX / split_threads; /* of 32 items of a tile, per warp */

struct SplitShared {
    uint32_t before[split_warps][split_buckets]; /* of a warp's items; then where they begin */
    uint64_t shift[split_buckets];               /* from a place in the tile to one in out */
    uint32_t sums[split_warps];
};

/* Of lanes in mask, those whose bucket has the same bits [FIRST, END). */
template <int FIRST, int END> GPI_DEVICE uint32_t split_same(uint32_t mask, uint32_t bucket)
{
#pragma unroll
    for (int b = FIRST; b < END; b++) {
        const bool set = bucket >> b & 1;
        const uint32_t votes = __ballot_sync(all_lanes, set);
        mask &= set ? votes : ~votes;
    }
    return mask;
}

/* Ranks of a warp's items among those of its part of the tile: bucket | rank << 8. */
GPI_DEVICE void split_rank(const gpi_multisplit_args &a, const uint8_t *numbers, uint32_t count,
                           uint32_t *before, uint32_t (&item)[split_rows])
{
    const uint32_t start = threadIdx.x / 32 * split_rows * 32 + lane_id();
#pragma unroll
    for (int k = 0; k < split_rows; k++)
        item[k] = start + 32 * k < count ? numbers[start + 32 * k] : 0;
#pragma unroll
    for (int k = 0; k < split_rows; k++) {
        const bool there = start + 32 * k < count;
        if (!__any_sync(all_lanes, there))
            break;
        const uint32_t bucket = split_bucket(item[k], a.num_buckets);
        uint32_t peers = split_same<0, 5>(__ballot_sync(all_lanes, there), bucket);
        if (a.num_buckets > 32)
            peers = split_same<5, 8>(peers, bucket);
        const uint32_t rank = __popc(peers & ((1u << lane_id()) - 1));
        const uint32_t had = before[bucket];
        __syncwarp();
        if (there && rank == 0)
            before[bucket] = had + __popc(peers);
        __syncwarp();
        item[k] = bucket | (had + rank) << 8;
    }
}

/* Where each warp's items of a bucket begin in the tile, and how far from there they go. *place: of
 * thread b, where the next item of bucket b goes. */
GPI_DEVICE void split_places(SplitShared &s, uint64_t *place)
{
    const uint32_t b = threadIdx.x;
    uint32_t all = 0;
#pragma unroll
    for (int w = 0; w < split_warps; w++)
        all += s.before[w][b];
    uint32_t begin = warp_exclusive(all);
    share_warp_sum(s.sums, b / 32, begin + all, 31);
    __syncthreads();
    fold_warps_before<Sum<uint32_t>>(begin, s.sums, b / 32);
    s.shift[b] = *place - begin;
    *place += all;
#pragma unroll
    for (int w = 0; w < split_warps; w++) {
        const uint32_t own = s.before[w][b];
        s.before[w][b] = begin;
        begin += own;
    }
}

/* The tile's items along the list, each an item's number | bucket << 16, to their places. */
template <class Word>
GPI_DEVICE void split_store(const SplitShared &s, const Word *stage, const uint32_t *list,
                            uint32_t items, const ItemWords &words, Word *out)
{
    if (words.count == 1) {
#pragma unroll 4
        for (uint32_t j = threadIdx.x; j < items; j += split_threads) {
            const uint32_t entry = list[j];
            out[s.shift[entry >> 16] + j] = stage[entry & 0xffff];
        }
        return;
    }
#pragma unroll 2
    for (uint32_t w = threadIdx.x; w < items * words.count; w += split_threads) {
        const uint32_t j = words.item_of(w), entry = list[j], rest = w - j * words.count;
        out[(s.shift[entry >> 16] + j) * words.count + rest] =
            stage[(entry & 0xffff) * words.count + rest];
    }
}

GPI_DEVICE void split_write_offsets(const gpi_multisplit_args &a, const uint64_t *counts)
{
    if (threadIdx.x < a.num_buckets)
        a.offsets[threadIdx.x] = *split_count_of(counts, threadIdx.x, 0);
    if (threadIdx.x == 0)
        a.offsets[a.num_buckets] = item_count(a);
}

/*
 * Grid: any; split_threads threads. counts: as split_count_k leaves them, but items before them.
 * Dynamic shared memory: a tile's items, and from list_at on a list of them; list_at 0: the list
 * alone. After: items and offsets.
 */
template <class Word>
__global__ void __launch_bounds__(split_threads, split_resident)
    split_move_k(const gpi_multisplit_args a, const uint32_t tile_items, const uint32_t list_at,
                 const uint64_t *counts)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ SplitShared s;
    const SplitRange range = split_range(a, tile_items, blockIdx.x, gridDim.x);
    const ItemWords words(a.item_bytes / sizeof(Word));
    uint32_t *list = (uint32_t *)(memory + list_at);
    const int warp = threadIdx.x / 32;
    uint64_t place = 0;
    if (threadIdx.x < a.num_buckets)
        place = *split_count_of(counts, threadIdx.x);
    if (blockIdx.x == 0)
        split_write_offsets(a, counts);

    for (uint64_t first = range.begin; first < range.end; first += tile_items) {
        const uint64_t rest = range.end - first;
        const uint32_t count = rest < tile_items ? (uint32_t)rest : tile_items;
        uint32_t item[split_rows];

        /* 1. Items to the stage; ranks in each warp's part. What comes next is asked for. */
        const uint64_t next = first / tile_items + 1;
        prefetch_tile((const char *)a.in, range.end * a.item_bytes, next, tile_items * a.item_bytes,
                      threadIdx.x, split_threads);
        prefetch_tile((const char *)a.numbers, range.end, next, tile_items, threadIdx.x,
                      split_threads);
#pragma unroll
        for (int w = 0; w < split_warps; w++)
            s.before[w][threadIdx.x] = 0;
        const char *in = (const char *)a.in + first * a.item_bytes;
        const Word *stage =
            (const Word *)(list_at ? stage_items<split_threads>(in, count * a.item_bytes, memory)
                                   : in);
        __syncthreads();
        split_rank(a, (const uint8_t *)a.numbers + first, count, s.before[warp], item);
        __syncthreads();

        /* 2. Where every warp's items of a bucket begin. */
        split_places(s, &place);
        __syncthreads();

        /* 3. The list. */
#pragma unroll
        for (int k = 0; k < split_rows; k++) {
            const uint32_t i = (warp * split_rows + k) * 32 + lane_id(), bucket = item[k] & 255;
            if (i < count)
                list[s.before[warp][bucket] + (item[k] >> 8)] = i | bucket << 16;
        }
        __syncthreads();

        /* 4. Store. */
        split_store(s, stage, list, count, words, (Word *)a.out);
        __syncthreads();
    }
}

} // namespace GPI_SPACE
