/* SPDX-License-Identifier: MIT */
/* Top-k: the passes of radix select, and collecting what was selected, in one launch. */
#pragma once

#include <cstdint>

#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/key_order.cuh"
#include "device/tile_io.cuh"
#include "device/warp.cuh"
#include "topk/topk_internal.h"
#include "tuning/topk_tuning.cuh"

namespace GPI_SPACE
{

constexpr int topk_tile = topk_tuning.threads * topk_tuning.items;
namespace
{

/* A chunk of the input, as gpi_topk_chunk_begin() cuts it. */
struct TopkChunks {
    uint64_t n, length;

    GPI_DEVICE uint64_t begin(uint64_t chunk) const
    {
        return min(chunk * length, n);
    }
};

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

template <class Key> struct TopkJob {
    KeyOrder<Key> order;
    const Key *keys;
    uint64_t n, k;
    const uint64_t *device_n, *device_k; /* NULL, or n and k are bounds */
    uint32_t blocks;                     /* that work; the first ones of the grid */
    uint64_t num_chunks;
    TopkChunks chunks;
    uint32_t *arrived; /* 0 */
    uint64_t *found;   /* 0; how many keys there are, if their number is on the device */
    uint64_t *bins;    /* GPI_TOPK_BINS of every pass, 0 */
    gpi_topk_counts *counts;
    TopkOut<Key> out;
};

/* What a block has in shared memory. */
struct TopkShared {
    gpi_topk_state state; /* the same in all blocks */
    uint64_t sums[topk_tuning.threads / 32];
    uint32_t counts[topk_tuning.threads / 32];
    uint32_t bins[GPI_TOPK_BINS]; /* 32 bits hold what a block counts of the 2^40 keys */
};

/* The digits that a pass counts, of the words that agree with what is known. */
template <class Key> struct TopkDigits {
    Key mask, prefix, digit;
    int shift;
    uint32_t *bins; /* of the block */

    GPI_DEVICE void count(Key word) const
    {
        if ((Key)(word & mask) == prefix)
            atomicAdd(&bins[(Key)(word >> shift) & digit], 1u);
    }
};

/* Of a whole tile, whose keys lie at 16-byte boundaries. */
template <class Key>
GPI_DEVICE void topk_count_vectors(const TopkJob<Key> &job, uint64_t first,
                                   const TopkDigits<Key> &digits)
{
    const char *from = (const char *)(job.keys + first) + threadIdx.x * 16;
    Raw<16> raw[topk_tuning.vectors];
#pragma unroll
    for (int v = 0; v < topk_tuning.vectors; v++)
        raw[v] = raw_load_aligned<16>(from + v * topk_tuning.threads * 16);
#pragma unroll
    for (int v = 0; v < topk_tuning.vectors; v++)
#pragma unroll
        for (int i = 0; i < (int)(16 / sizeof(Key)); i++)
            digits.count(job.order.word(raw_get<Key>(raw[v], i)));
}

/* Of keys [first, end). */
template <class Key>
GPI_DEVICE void topk_count_keys(const TopkJob<Key> &job, uint64_t first, uint64_t end,
                                const TopkDigits<Key> &digits)
{
    for (uint64_t i = first + threadIdx.x; i < end; i += topk_tile) {
        Key keys[topk_tuning.items];
#pragma unroll
        for (int k = 0; k < topk_tuning.items; k++)
            keys[k] =
                i + k * topk_tuning.threads < end ? job.keys[i + k * topk_tuning.threads] : (Key)0;
#pragma unroll
        for (int k = 0; k < topk_tuning.items; k++)
            if (i + k * topk_tuning.threads < end)
                digits.count(job.order.word(keys[k]));
    }
}

/* Add the digits of the words that agree with the state to bins. */
template <class Key>
GPI_DEVICE void topk_count(const TopkJob<Key> &job, TopkShared &s, int shift, Key digit,
                           uint64_t *bins)
{
    constexpr uint64_t tile = topk_tuning.threads * topk_tuning.vectors * 16 / sizeof(Key);
    const TopkDigits<Key> digits = {(Key)s.state.mask, (Key)s.state.prefix, digit, shift, s.bins};
    const bool aligned = misalignment((const char *)job.keys) == 0;
    for (int b = threadIdx.x; b < GPI_TOPK_BINS; b += topk_tuning.threads)
        s.bins[b] = 0;
    __syncthreads();
    for (uint64_t first = blockIdx.x * tile; first < job.n; first += job.blocks * tile)
        if (aligned && job.n - first >= tile)
            topk_count_vectors(job, first, digits);
        else
            topk_count_keys(job, first, min(first + tile, job.n), digits);
    __syncthreads();
    for (int b = threadIdx.x; b < GPI_TOPK_BINS; b += topk_tuning.threads)
        if (s.bins[b])
            atomicAdd((unsigned long long *)&bins[b], (unsigned long long)s.bins[b]);
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
    for (int w = 0; w < topk_tuning.threads / 32; w++) {
        before += w < warp ? s_sums[w] : 0;
        all += s_sums[w];
    }
    __syncthreads();
    *total = all;
    return before + inclusive - v;
}

/* The bin that holds the last wanted word becomes known. Every block finds it for itself. */
GPI_DEVICE void topk_choose(TopkShared &s, int shift, int width, const uint64_t *bins)
{
    constexpr int per_thread = GPI_TOPK_BINS / topk_tuning.threads;
    const gpi_topk_state now = s.state;
    uint64_t counts[per_thread], sum = 0, total;
    for (int k = 0; k < per_thread; k++) {
        counts[k] = __ldcg(bins + threadIdx.x * per_thread + k);
        sum += counts[k];
    }
    /* Its barriers also part the reading of the state above from the writing below. */
    uint64_t before = topk_block_scan(sum, s.sums, &total);
    for (int k = 0; k < per_thread; k++) {
        if (before < now.wanted && now.wanted <= before + counts[k]) {
            const uint64_t bin = (uint64_t)threadIdx.x * per_thread + k;
            const uint64_t digit = ((uint64_t)1 << width) - 1;
            const uint64_t wanted = now.wanted - before;
            s.state = gpi_topk_state{now.mask | digit << shift, now.prefix | bin << shift, wanted,
                                     wanted == counts[k] || shift == 0};
        }
        before += counts[k];
    }
    __syncthreads();
}

/* counts[chunk] = words below the bound and at it. */
template <class Key>
GPI_DEVICE void topk_tell(const TopkJob<Key> &job, TopkShared &s, uint64_t chunk)
{
    const Key mask = (Key)s.state.mask, prefix = (Key)s.state.prefix;
    const uint64_t end = job.chunks.begin(chunk + 1);
    uint64_t below = 0, at = 0, total_below, total_at;
    uint64_t i = job.chunks.begin(chunk) + threadIdx.x;
#pragma unroll 16
    for (; i < end; i += topk_tuning.threads) {
        const Key known = job.order.word(job.keys[i]) & mask;
        below += known < prefix;
        at += known == prefix;
    }
    topk_block_scan(below, s.sums, &total_below);
    topk_block_scan(at, s.sums, &total_at);
    if (threadIdx.x == 0)
        job.counts[chunk] = gpi_topk_counts{total_below, total_at};
}

/* What another block has written, past this multiprocessor's cache. */
GPI_DEVICE gpi_topk_counts topk_counts_at(const gpi_topk_counts *counts, uint64_t i)
{
    return gpi_topk_counts{__ldcg(&counts[i].below), __ldcg(&counts[i].at)};
}

/* counts[chunk] becomes the sum before the chunk; counts[chunks] the sum of all. One block. */
GPI_DEVICE void topk_add(TopkShared &s, uint64_t chunks, gpi_topk_counts *counts)
{
    gpi_topk_counts sum = {0, 0};
    for (uint64_t c = 0; c <= chunks; c += topk_tuning.threads) {
        const uint64_t i = c + threadIdx.x;
        const gpi_topk_counts here = i < chunks ? topk_counts_at(counts, i) : gpi_topk_counts{0, 0};
        uint64_t below, at;
        const uint64_t before_below = topk_block_scan(here.below, s.sums, &below);
        const uint64_t before_at = topk_block_scan(here.at, s.sums, &at);
        if (i <= chunks)
            counts[i] = gpi_topk_counts{sum.below + before_below, sum.at + before_at};
        sum.below += below;
        sum.at += at;
    }
}

/* Set bits of the threads before this one in a row of the block, and of all. */
GPI_DEVICE uint32_t topk_rank(bool hit, uint32_t *s_counts, uint32_t *total)
{
    const uint32_t votes = __ballot_sync(all_lanes, hit);
    const int warp = (int)threadIdx.x / 32;
    if (lane_id() == 0)
        s_counts[warp] = __popc(votes);
    __syncthreads();
    uint32_t before = __popc(votes & ((1u << lane_id()) - 1)), all = 0;
    for (int w = 0; w < topk_tuning.threads / 32; w++) {
        before += w < warp ? s_counts[w] : 0;
        all += s_counts[w];
    }
    __syncthreads();
    *total = all;
    return before;
}

/*
 * Collect what a chunk has of the k: words below the bound to [0, k - wanted), the first wanted
 * ones at it behind them, each in input order. Chunks without any read no key.
 */
template <class Key>
GPI_DEVICE void topk_collect(const TopkJob<Key> &job, TopkShared &s, uint64_t chunk)
{
    const Key mask = (Key)s.state.mask, prefix = (Key)s.state.prefix;
    const uint64_t wanted = s.state.wanted, end = job.chunks.begin(chunk + 1);
    gpi_topk_counts here = topk_counts_at(job.counts, chunk);
    const gpi_topk_counts next = topk_counts_at(job.counts, chunk + 1);
    if (here.below == next.below && (here.at == next.at || here.at >= wanted))
        return;
    for (uint64_t tile = job.chunks.begin(chunk); tile < end; tile += topk_tile) {
        Key found[topk_tuning.items], known[topk_tuning.items];
        bool any = false;
#pragma unroll
        for (int r = 0; r < topk_tuning.items; r++) {
            const uint64_t i = tile + r * topk_tuning.threads + threadIdx.x;
            found[r] = i < end ? job.keys[i] : (Key)0;
            known[r] = job.order.word(found[r]) & mask;
            any |= i < end && known[r] <= prefix;
        }
        if (!__syncthreads_or(any))
            continue;
#pragma unroll
        for (int r = 0; r < topk_tuning.items; r++) {
            const uint64_t i = tile + r * topk_tuning.threads + threadIdx.x;
            const bool is_below = i < end && known[r] < prefix,
                       is_at = i < end && known[r] == prefix;
            uint32_t num_below, num_at;
            const uint64_t below = here.below + topk_rank(is_below, s.counts, &num_below);
            const uint64_t at = here.at + topk_rank(is_at, s.counts, &num_at);
            if (is_below && below < job.k) /* more only if keys have changed since the count */
                job.out.put(below, found[r], i);
            else if (is_at && at < wanted)
                job.out.put(job.k - wanted + at, found[r], i);
            here.below += num_below;
            here.at += num_at;
        }
    }
}

/* What the counts on the device make of a job; the chunks are those that the host would cut. */
template <class Key> GPI_DEVICE void topk_take_counts(TopkJob<Key> &job)
{
    job.n = item_count(job);
    if (job.device_k)
        job.k = min(job.k, *job.device_k);
    job.k = min(job.k, job.n);
    if (job.device_n) {
        job.num_chunks = gpi_topk_cuda_chunks(job.n);
        job.chunks = {job.n, job.n ? (job.n + job.num_chunks - 1) / job.num_chunks : 0};
    }
    job.blocks = (uint32_t)min((uint64_t)job.blocks, (job.n + topk_tile - 1) / topk_tile);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *job.found = job.k;
}

/*
 * The k first keys and their indices, in input order among those below the last and among
 * those equal to it. A cooperative launch of any grid; 256 threads, of which 4 blocks fit
 * a multiprocessor.
 *
 * 1. A pass per digit, from the highest: blocks count the digits of the keys that agree with what
 *    is known of the k-th; when all have, each finds its next digit.
 * 2. Every chunk counts its keys below and at the bound, one block adds the counts up, and each
 *    chunk writes its keys to their places.
 */
template <class Key>
__global__ void __launch_bounds__(topk_tuning.threads, topk_tuning.blocks_per_sm)
    topk_k(TopkJob<Key> job)
{
    __shared__ TopkShared s;
    GridBarrier barrier = {job.arrived, 0};
    if (job.device_n || job.device_k) {
        topk_take_counts(job);
        if (job.k == 0 || blockIdx.x >= job.blocks)
            return;
    }
    if (threadIdx.x == 0)
        s.state = gpi_topk_state{0, 0, job.k, 0};
    __syncthreads();
    for (int pass = 0; pass < gpi_topk_passes(sizeof(Key)) && !s.state.done; pass++) {
        const int shift = gpi_topk_shift(sizeof(Key), pass);
        const int width = gpi_topk_width(sizeof(Key), pass);
        uint64_t *bins = job.bins + pass * GPI_TOPK_BINS;
        topk_count(job, s, shift, (Key)(((uint64_t)1 << width) - 1), bins);
        barrier.wait(job.blocks);
        topk_choose(s, shift, width, bins);
    }
    for (uint64_t chunk = blockIdx.x; chunk < job.num_chunks; chunk += job.blocks)
        topk_tell(job, s, chunk);
    barrier.wait(job.blocks);
    if (blockIdx.x == 0)
        topk_add(s, job.num_chunks, job.counts);
    barrier.wait(job.blocks);
    for (uint64_t chunk = blockIdx.x; chunk < job.num_chunks; chunk += job.blocks)
        topk_collect(job, s, chunk);
}

} // namespace
} // namespace GPI_SPACE
