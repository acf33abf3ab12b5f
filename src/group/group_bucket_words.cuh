/* SPDX-License-Identifier: MIT */
/* The keys of a bucket, as order words of 4 or 8 bytes, in a table of shared memory by double
 * hashing (Knuth volume 3, 6.4). Words that are too many are so in whatever order they come. */
#pragma once

#include "group/group_bucket.cuh"

namespace GPI_SPACE
{

struct BucketWords {
    static constexpr int D = bucket_places;

    alignas(16) uint64_t words[D];
    uint32_t count; /* how many stand there */
    uint32_t full;  /* they are more than bucket_keys */

    template <class K> static GPI_DEVICE uint32_t mixed(K word)
    {
        const K above = word / D;
        uint32_t bits = (uint32_t)above;
        if constexpr (sizeof(K) == 8)
            bits ^= (uint32_t)(above >> 32);
        return bits * 0x9e3779b1u >> 16;
    }

    /* Words of a small range have different places. */
    template <class K> static GPI_DEVICE uint32_t place_of(K word)
    {
        return ((uint32_t)word ^ mixed(word)) % D;
    }

    template <class K> GPI_DEVICE K &at(uint32_t place)
    {
        return ((K *)words)[place];
    }

    /* By T threads, that then synchronize: a word stands there alone. */
    template <int T, class K> GPI_DEVICE void begin(K word, K none)
    {
        const uint32_t first = place_of(word);
        for (uint32_t i = threadIdx.x; i < D; i += T)
            at<K>(i) = i == first ? word : none;
        if (threadIdx.x == 0)
            count = 1, full = 0;
    }

    /* Where a word stands, or has come to stand; D: there are too many. */
    template <class K> static __device__ __noinline__ uint32_t find(BucketWords &s, K none, K word)
    {
        using Swapped = std::conditional_t<sizeof(K) == 8, unsigned long long, unsigned>;
        volatile K *words = (volatile K *)s.words;
        const uint32_t step = mixed(word) / D | 1; /* which reaches all places */
        uint32_t place = place_of(word);
        while (!*(volatile uint32_t *)&s.full) {
            K there = words[place];
            if (there == none) {
                there = (K)atomicCAS((Swapped *)s.words + place, (Swapped)none, (Swapped)word);
                if (there == none && atomicAdd(&s.count, 1u) == bucket_keys)
                    atomicExch(&s.full, 1u);
            }
            if (there == word || there == none)
                return place;
            place = (place + step) % D;
        }
        return D;
    }
};

} // namespace GPI_SPACE
