/* SPDX-License-Identifier: MIT */
/* The counts of a multisplit by numbers of 8 bits. */
#pragma once

#include "device/item_count.cuh"
#include "device/warp.cuh"

extern "C" {
#include "multisplit/multisplit_internal.h"
}

namespace GPI_SPACE
{

constexpr int split_buckets = GPI_MULTISPLIT_BYTE_BUCKETS;

struct SplitParams {
    gpi_multisplit_args a;
    gpi_multisplit_shares shares;
    uint64_t *met; /* of a LastingBarrier, where shares are moved at once */
};

/* A number that is too large counts as the last bucket. */
GPI_DEVICE uint32_t split_bucket(uint32_t number, uint32_t num_buckets)
{
    return min(number, num_buckets - 1);
}

constexpr int count_threads = 128, count_warps = count_threads / 32;
constexpr int split_few = 32; /* buckets for which every lane has counts of its own */

/* count(bucket) for the numbers of a share, sixteen at a time between boundaries of memory. */
template <class Count>
GPI_DEVICE void split_each(const uint8_t *numbers, uint32_t n, uint32_t num_buckets,
                           const Count &count)
{
    const uint32_t head = min((0 - (uint32_t)(uintptr_t)numbers) & 15, n);
    const uint32_t vectors = (n - head) / 16, tail = head + 16 * vectors;
    const uint4 *in = (const uint4 *)(numbers + head);
    for (uint32_t v = threadIdx.x; v < vectors; v += count_threads) {
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

/* Counts of a block: of up to split_few buckets of each lane of its warps, so that no two lanes of
 * a warp meet in a bank; of more of each warp. */
template <bool FEW> struct SplitCounters {
    static constexpr int buckets = FEW ? split_few : split_buckets;
    static constexpr int columns = FEW ? 32 : count_warps; /* counts of a bucket */
    uint32_t word[buckets * columns];

    static GPI_DEVICE uint32_t place(uint32_t bucket, uint32_t column)
    {
        return FEW ? bucket * 32 + column : column * split_buckets + bucket;
    }

    GPI_DEVICE void count(uint32_t bucket)
    {
        atomicAdd(&word[place(bucket, FEW ? lane_id() : threadIdx.x / 32)], 1u);
    }

    /* Neighbouring buckets begin at neighbouring columns, and so in other banks. */
    GPI_DEVICE uint32_t sum(uint32_t bucket) const
    {
        uint32_t sum = 0;
#pragma unroll 8
        for (uint32_t c = 0; c < columns; c++)
            sum += word[place(bucket, (c + bucket) % columns)];
        return sum;
    }
};

/* Grid: a block for each share; count_threads threads. After: counts by bucket and share; nothing
 * is claimed. FEW: num_buckets is at most split_few. */
template <bool FEW>
__global__ void __launch_bounds__(count_threads) split_count_k(const SplitParams p)
{
    __shared__ SplitCounters<FEW> counters;
    const uint64_t n = item_count(p.a), first = blockIdx.x * p.shares.items;
    const uint64_t left = first < n ? n - first : 0;
    const uint32_t items = (uint32_t)(left < p.shares.items ? left : p.shares.items);
    constexpr int words = sizeof counters / sizeof counters.word[0];
    for (int i = threadIdx.x; i < words; i += count_threads)
        counters.word[i] = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *p.shares.claimed = 0;
    __syncthreads();
    split_each((const uint8_t *)p.a.numbers + first, items, p.a.num_buckets,
               [&](uint32_t bucket) { counters.count(bucket); });
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < p.a.num_buckets; b += count_threads)
        p.shares.counts[(uint64_t)b * gridDim.x + blockIdx.x] = counters.sum(b);
}

} // namespace GPI_SPACE
