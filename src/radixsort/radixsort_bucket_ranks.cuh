/* SPDX-License-Identifier: MIT */
/*
 * Bins that are too large for exchanges of neighbours: each item is compared with all of its bin,
 * if these are not too many either, and where items are mostly equal it is found out whether they
 * are in order. Bins: a BucketBins, whose counts are starts before its items are in bins, and ends
 * when they are.
 */
#pragma once

#include "device/undefined.cuh"
#include "device/warp.cuh"
#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

template <class Bins> GPI_DEVICE uint32_t block_sum(const Bins &b, uint32_t value)
{
    value = warp_sum(value);
    if (lane_id() == 0)
        b.s.total[threadIdx.x / 32] = value;
    __syncthreads();
    value = warp_sum(lane_id() < Bins::warps ? b.s.total[lane_id()] : 0);
    __syncthreads();
    return value;
}

/* How many items are less than the one before. As a call, as it is rare. */
template <class Bins> __device__ __noinline__ uint32_t descents(const Bins b)
{
    uint32_t falls = 0;
#pragma unroll 4
    for (int p = (int)threadIdx.x; p + 1 < b.count; p += Bins::warps * 32)
        falls += b.s.words[p + 1] < b.s.words[p];
    return block_sum(b, falls);
}

/* The comparisons that ranks in bins take. */
template <class Bins> __device__ __noinline__ uint32_t work_of_ranks(const Bins b)
{
    uint32_t work = 0;
    for (uint32_t i = threadIdx.x; i < Bins::bins; i += Bins::warps * 32) {
        const uint32_t end = i + 1 < Bins::bins ? *b.count_of(i + 1) : (uint32_t)b.count;
        const uint32_t items = end - *b.count_of(i);
        work += items * items;
    }
    return block_sum(b, work);
}

/* Each item goes behind those of its bin that are less. A call leaves exchanges their registers. */
template <class Bins> __device__ __noinline__ void rank_in_bins(const Bins b, int shift)
{
    constexpr int items = Bins::items_of_thread;
    typename Bins::BinWord word[items];
    uint16_t to[items];
    leave_undefined<Bins::in_loop>(word);
    leave_undefined<Bins::in_loop>(to);
#pragma unroll
    for (int i = 0; i < items; i++) {
        const uint32_t p = (uint32_t)Bins::item(i);
        if (p >= (uint32_t)b.count)
            break;
        word[i] = b.s.words[p];
        const uint32_t own = b.number_of(word[i], shift);
        const uint32_t begin = own ? *b.count_of(own - 1) : 0, end = *b.count_of(own);
        uint32_t less = begin;
#pragma unroll 4
        for (uint32_t q = begin; q < end; q++) {
            const auto other = b.s.words[q];
            less += other < word[i] || (!Bins::pairs && other == word[i] && q < p);
        }
        to[i] = (uint16_t)less;
    }
    __syncthreads();
    b.for_rows([&](int i) { b.s.words[to[i]] = word[i]; });
    __syncthreads();
}

} // namespace GPI_SPACE
