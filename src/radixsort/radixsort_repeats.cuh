/* SPDX-License-Identifier: MIT */
/*
 * How often the words of an array repeat, and how far apart they are, by a sample of them. Counts
 * of buckets do not tell that: a full one may have one word or many.
 */
#pragma once

#include "radixsort/radixsort_zoom.cuh"

namespace GPI_SPACE
{

struct Repeats {
    uint32_t pairs; /* of equal words */
    uint32_t hot;   /* words that it has radix_tuning.hot_words times or more */
    int bits;       /* of the range of all but a few of the outermost words */
};

/* Bits of the range of a block's words, of which each thread has N, without the outermost end of a
 * warp's words on both sides. */
template <int T, int N, class K> GPI_DEVICE int range_bits(const K (&word)[N], K *ends)
{
    constexpr uint32_t warps = T / 32;
    static_assert(warps > 1 && warps <= 16, "a warp has all ends");
    K low = word[0], high = word[0];
#pragma unroll
    for (int j = 1; j < N; j++) {
        low = min(low, word[j]);
        high = max(high, word[j]);
    }
    low = __shfl_sync(all_lanes, warp_sorted(low), 0);
    high = __shfl_sync(all_lanes, warp_sorted(high), 31);
    if (lane_id() == 0) {
        ends[threadIdx.x / 32] = low;
        ends[warps + threadIdx.x / 32] = high;
    }
    __syncthreads();
    const bool mine = lane_id() < warps;
    low = __shfl_sync(all_lanes, warp_sorted(mine ? ends[lane_id()] : (K) ~(K)0), 1);
    high = __shfl_sync(all_lanes, warp_sorted(mine ? ends[warps + lane_id()] : (K)0), 30);
    return high > low ? 64 - __clzll((long long)(uint64_t)(high - low)) : 0;
}

/* What a thread has of the sample. */
template <class K> struct SampleOf {
    static constexpr int each = 2;
    K of[each];
};

/* From anywhere in as many equal pieces of the array. */
template <int T, class K> GPI_DEVICE SampleOf<K> sample_words(const RadixKeys<K> &job)
{
    constexpr uint32_t sample = radix_tuning.repeats_sample;
    static_assert(sample == SampleOf<K>::each * T, "all threads have as many words");
    const uint64_t apart = job.items() / sample;
    SampleOf<K> words;
#pragma unroll
    for (int j = 0; j < SampleOf<K>::each; j++) {
        const uint32_t i = threadIdx.x + j * T;
        const uint64_t at = i * apart + __umulhi(i * 0x9e3779b1u, (uint32_t)apart);
        const K word = job.order.template word<true>(job.keys[gpi_radix_in][at]);
        words.of[j] = (K)(word & job.compared());
    }
    return words;
}

/* Whether nearly all warps have two of the same words, which need no table then. */
template <int T, class K> GPI_DEVICE bool are_few(const SampleOf<K> &words, uint32_t *sums)
{
    const uint32_t alone = __popc(__match_any_sync(all_lanes, words.of[0])) == 1;
    return block_sums<T>(alone, sums).y <= T / radix_tuning.hot_rest;
}

/* By one block, with a table in shared memory of the words of the sample. */
template <int T>
__device__ __noinline__ Repeats sample_repeats(SampleOf<uint32_t> sampled, uint32_t *shared)
{
    constexpr uint32_t sample = radix_tuning.repeats_sample, places = 2 * sample;
    constexpr uint32_t none = ~0u;
    uint32_t *const words = shared, *const counts = words + places, *const sums = counts + places;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < places; i += T) {
        words[i] = none;
        counts[i] = 0;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < SampleOf<uint32_t>::each; j++) {
        const uint32_t word = sampled.of[j];
        uint32_t at = word * 0x9e3779b1u >> (__clz((int)places) + 1);
        for (;; at = (at + 1) % places) {
            const uint32_t found = atomicCAS(&words[at], none, word);
            if (found == none || found == word)
                break;
        }
        atomicAdd(&counts[at], 1u);
    }
    __syncthreads();
    uint32_t pairs = 0, hot = 0;
    for (uint32_t i = threadIdx.x; i < places; i += T) {
        const uint32_t count = counts[i];
        pairs += count ? count * (count - 1) / 2 : 0;
        hot += count >= radix_tuning.hot_words ? count : 0;
    }
    pairs = block_sums<T>(pairs, sums).y;
    hot = block_sums<T>(hot, sums).y;
    return {pairs, hot, range_bits<T>(sampled.of, sums + 32)};
}

} // namespace GPI_SPACE
