/* SPDX-License-Identifier: MIT */
/*
 * How often the words of an array repeat, by a sample of them. Counts of buckets do not tell that:
 * a full one may have one word or many.
 */
#pragma once

#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

/* How many words of a sample it has radix_tuning.hot_words times or more. By one block, with a
 * table of them in shared memory. */
template <int T, class K>
__device__ __noinline__ uint32_t sample_hot_words(const RadixKeys<K> &job, uint32_t *shared)
{
    constexpr uint32_t sample = radix_tuning.repeats_sample, places = 2 * sample,
                       batch = sample / T;
    constexpr uint32_t none = ~0u;
    uint32_t *const words = shared, *const counts = words + places, *const sums = counts + places;
    static_assert(sample == batch * T, "all threads have as many words");
    const uint64_t apart = job.items() / sample;
    uint32_t word[batch];
#pragma unroll
    for (uint32_t j = 0; j < batch; j++) { /* from anywhere in its piece of the array */
        const uint32_t i = threadIdx.x + j * T;
        const uint64_t at = i * apart + __umulhi(i * 0x9e3779b1u, (uint32_t)apart);
        word[j] = (uint32_t)(job.keys[gpi_radix_in][at] & job.compared());
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < places; i += T) {
        words[i] = none;
        counts[i] = 0;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < batch; j++) {
        uint32_t at = word[j] * 0x9e3779b1u >> (__clz((int)places) + 1);
        for (;; at = (at + 1) % places) {
            const uint32_t found = atomicCAS(&words[at], none, word[j]);
            if (found == none || found == word[j])
                break;
        }
        atomicAdd(&counts[at], 1u);
    }
    __syncthreads();
    uint32_t hot = 0;
    for (uint32_t i = threadIdx.x; i < places; i += T)
        hot += counts[i] >= radix_tuning.hot_words ? counts[i] : 0;
    return block_sums<T>(hot, sums).y;
}

} // namespace GPI_SPACE
