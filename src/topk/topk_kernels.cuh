/* SPDX-License-Identifier: MIT */
/* Top-k: the passes of radix select, and collecting what was selected. */
#pragma once

#include <cstdint>

#include "device/space.cuh"
#include "device/warp.cuh"
#include "topk/topk_internal.h"
#include "tuning/topk_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Key> struct TopkOrder {
    Key sign, inf, flip;

    GPI_DEVICE Key word(Key x) const
    {
        return (Key)((inf ? GPI_RADIX_FLOAT(Key, x, sign, inf) : x) ^ flip);
    }
};

/* A chunk of the input, as gpi_topk_chunk_begin() cuts it. */
struct TopkChunks {
    uint64_t n, length;

    GPI_DEVICE uint64_t begin(uint64_t chunk) const
    {
        return min(chunk * length, n);
    }
};

/* Nothing known, k wanted, bins zero. One block. */
__global__ void __launch_bounds__(topk_threads)
    topk_start_k(uint64_t k, gpi_topk_state *state, uint64_t *bins)
{
    if (threadIdx.x == 0)
        *state = gpi_topk_state{0, 0, k, 0};
    for (int b = threadIdx.x; b < GPI_TOPK_BINS; b += topk_threads)
        bins[b] = 0;
}

/*
 * Add the digits of the words that agree with the state to bins, unless done. Any grid; 256
 * threads; shared memory for the bins of the block, which 32 bits hold: a block reads fewer than
 * 2^32 keys of the 2^40.
 */
template <class Key>
__global__ void __launch_bounds__(topk_threads)
    topk_count_k(TopkOrder<Key> order, const Key *keys, uint64_t n, int shift, Key digit,
                 const gpi_topk_state *state, uint64_t *bins)
{
    __shared__ uint32_t s_bins[GPI_TOPK_BINS];
    const Key mask = (Key)state->mask, prefix = (Key)state->prefix;
    if (state->done)
        return;
    for (int b = threadIdx.x; b < GPI_TOPK_BINS; b += topk_threads)
        s_bins[b] = 0;
    __syncthreads();
    const uint64_t step = (uint64_t)gridDim.x * topk_tile;
    for (uint64_t i = (uint64_t)blockIdx.x * topk_tile + threadIdx.x; i < n; i += step) {
        Key words[topk_items];
#pragma unroll
        for (int k = 0; k < topk_items; k++)
            words[k] = i + k * topk_threads < n ? order.word(keys[i + k * topk_threads]) : (Key)0;
#pragma unroll
        for (int k = 0; k < topk_items; k++)
            if (i + k * topk_threads < n && (Key)(words[k] & mask) == prefix)
                atomicAdd(&s_bins[(Key)(words[k] >> shift) & digit], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < GPI_TOPK_BINS; b += topk_threads)
        if (s_bins[b])
            atomicAdd((unsigned long long *)&bins[b], (unsigned long long)s_bins[b]);
}

struct TopkAdd {
    static GPI_DEVICE uint64_t apply(uint64_t a, uint64_t b)
    {
        return a + b;
    }
};

/* The sum of v over the threads before this one, and over all; s_sums has a word per warp. */
GPI_DEVICE uint64_t topk_block_scan(uint64_t v, uint64_t *s_sums, uint64_t *total)
{
    const uint64_t inclusive = warp_scan<TopkAdd>(v);
    const int warp = (int)threadIdx.x / 32;
    if (lane_id() == 31)
        s_sums[warp] = inclusive;
    __syncthreads();
    uint64_t before = 0, all = 0;
    for (int w = 0; w < topk_threads / 32; w++) {
        before += w < warp ? s_sums[w] : 0;
        all += s_sums[w];
    }
    __syncthreads();
    *total = all;
    return before + inclusive - v;
}

/* The bin that holds the last wanted word becomes known, unless done; bins become zero. One
 * block. */
__global__ void __launch_bounds__(topk_threads)
    topk_choose_k(int shift, int width, gpi_topk_state *state, uint64_t *bins)
{
    constexpr int per_thread = GPI_TOPK_BINS / topk_threads;
    __shared__ uint64_t s_sums[topk_threads / 32];
    const gpi_topk_state s = *state;
    uint64_t counts[per_thread], sum = 0, total;
    if (s.done)
        return;
    for (int k = 0; k < per_thread; k++) {
        const int b = (int)threadIdx.x * per_thread + k;
        counts[k] = bins[b];
        bins[b] = 0;
        sum += counts[k];
    }
    /* Its barriers also part the reading of the state above from the writing below. */
    uint64_t before = topk_block_scan(sum, s_sums, &total);
    for (int k = 0; k < per_thread; k++) {
        if (before < s.wanted && s.wanted <= before + counts[k]) {
            const uint64_t bin = (uint64_t)threadIdx.x * per_thread + k;
            const uint64_t digit = ((uint64_t)1 << width) - 1;
            const uint64_t wanted = s.wanted - before;
            *state = gpi_topk_state{s.mask | digit << shift, s.prefix | bin << shift, wanted,
                                    wanted == counts[k] || shift == 0};
        }
        before += counts[k];
    }
}

/* counts[chunk] = words below the bound and at it. A block per chunk. */
template <class Key>
__global__ void __launch_bounds__(topk_threads)
    topk_tell_k(TopkOrder<Key> order, const Key *keys, TopkChunks chunks,
                const gpi_topk_state *state, gpi_topk_counts *counts)
{
    __shared__ uint64_t s_sums[topk_threads / 32];
    const Key mask = (Key)state->mask, prefix = (Key)state->prefix;
    const uint64_t end = chunks.begin((uint64_t)blockIdx.x + 1);
    uint64_t below = 0, at = 0, total_below, total_at;
    uint64_t i = chunks.begin(blockIdx.x) + threadIdx.x;
#pragma unroll 8
    for (; i < end; i += topk_threads) {
        const Key known = order.word(keys[i]) & mask;
        below += known < prefix;
        at += known == prefix;
    }
    topk_block_scan(below, s_sums, &total_below);
    topk_block_scan(at, s_sums, &total_at);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = gpi_topk_counts{total_below, total_at};
}

/* counts[chunk] becomes the sum before the chunk; counts[chunks] the sum of all. One block. */
__global__ void __launch_bounds__(topk_threads) topk_add_k(uint64_t chunks, gpi_topk_counts *counts)
{
    __shared__ uint64_t s_sums[topk_threads / 32];
    gpi_topk_counts sum = {0, 0};
    for (uint64_t c = 0; c <= chunks; c += topk_threads) {
        const uint64_t i = c + threadIdx.x;
        const gpi_topk_counts here = i < chunks ? counts[i] : gpi_topk_counts{0, 0};
        uint64_t below, at;
        const uint64_t before_below = topk_block_scan(here.below, s_sums, &below);
        const uint64_t before_at = topk_block_scan(here.at, s_sums, &at);
        if (i <= chunks)
            counts[i] = gpi_topk_counts{sum.below + before_below, sum.at + before_at};
        sum.below += below;
        sum.at += at;
    }
}

template <class Key> struct TopkOut {
    Key *keys;
    void *indices;
    bool wide; /* indices of 64 bits */

    GPI_DEVICE void put(uint64_t place, Key key, uint64_t index) const
    {
        keys[place] = key;
        if (wide)
            ((uint64_t *)indices)[place] = index;
        else
            ((uint32_t *)indices)[place] = (uint32_t)index;
    }
};

/* Set bits of the threads before this one in a row of the block, and of all. */
GPI_DEVICE uint32_t topk_rank(bool hit, uint32_t *s_counts, uint32_t *total)
{
    const uint32_t votes = __ballot_sync(all_lanes, hit);
    const int warp = (int)threadIdx.x / 32;
    if (lane_id() == 0)
        s_counts[warp] = __popc(votes);
    __syncthreads();
    uint32_t before = __popc(votes & ((1u << lane_id()) - 1)), all = 0;
    for (int w = 0; w < topk_threads / 32; w++) {
        before += w < warp ? s_counts[w] : 0;
        all += s_counts[w];
    }
    __syncthreads();
    *total = all;
    return before;
}

/*
 * Collect what a chunk has of the k: words below the bound to [0, k - wanted), the first wanted
 * ones at it behind them, each in input order. A block per chunk; chunks without any read no key.
 */
template <class Key>
__global__ void __launch_bounds__(topk_threads)
    topk_collect_k(TopkOrder<Key> order, const Key *keys, TopkChunks chunks, uint64_t k,
                   const gpi_topk_state *state, const gpi_topk_counts *counts, TopkOut<Key> out)
{
    __shared__ uint32_t s_counts[topk_threads / 32];
    const Key mask = (Key)state->mask, prefix = (Key)state->prefix;
    const uint64_t wanted = state->wanted, end = chunks.begin((uint64_t)blockIdx.x + 1);
    gpi_topk_counts here = counts[blockIdx.x];
    const gpi_topk_counts next = counts[blockIdx.x + 1];
    if (here.below == next.below && (here.at == next.at || here.at >= wanted))
        return;
    for (uint64_t tile = chunks.begin(blockIdx.x); tile < end; tile += topk_tile) {
        Key found[topk_items], known[topk_items];
        bool any = false;
#pragma unroll
        for (int r = 0; r < topk_items; r++) {
            const uint64_t i = tile + r * topk_threads + threadIdx.x;
            found[r] = i < end ? keys[i] : (Key)0;
            known[r] = order.word(found[r]) & mask;
            any |= i < end && known[r] <= prefix;
        }
        if (!__syncthreads_or(any))
            continue;
#pragma unroll
        for (int r = 0; r < topk_items; r++) {
            const uint64_t i = tile + r * topk_threads + threadIdx.x;
            const bool is_below = i < end && known[r] < prefix,
                       is_at = i < end && known[r] == prefix;
            uint32_t num_below, num_at;
            const uint64_t below = here.below + topk_rank(is_below, s_counts, &num_below);
            const uint64_t at = here.at + topk_rank(is_at, s_counts, &num_at);
            if (is_below && below < k) /* more only if keys have changed since they were counted */
                out.put(below, found[r], i);
            else if (is_at && at < wanted)
                out.put(k - wanted + at, found[r], i);
            here.below += num_below;
            here.at += num_at;
        }
    }
}

} // namespace
} // namespace GPI_SPACE
