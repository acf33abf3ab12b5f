/* SPDX-License-Identifier: MIT */
/* Finds the words that a sample has many times, by all blocks. */
#pragma once

#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

/*
 * A hash table in global memory, with linear probing, of the words of a sample and how often it has
 * each. All blocks add words; those that reach the asked for count are listed.
 */
template <class K> struct MapWords {
    static constexpr K none = (K) ~(K)0; /* which has a place of its own, the last one */
    uint32_t bits;                       /* of a place */
    K *words;
    uint32_t *counts, *listed, *list;

    /* In the states of odd passes. */
    static GPI_DEVICE MapWords of(const RadixKeys<K> &job, uint32_t sample)
    {
        const uint32_t bits = map_words_bits(sample), places = (1u << bits) + 1;
        K *const words = (K *)job.states[1];
        uint32_t *const counts = (uint32_t *)(words + places);
        return {bits, words, counts, counts + places, counts + places + 1};
    }

    template <int T> GPI_DEVICE void clear() const
    {
        const uint32_t thread = blockIdx.x * T + threadIdx.x;
        for (uint32_t i = thread; i <= 1u << bits; i += gridDim.x * T) {
            words[i] = none;
            counts[i] = 0;
        }
        if (thread == 0)
            *listed = 0;
    }

    /* By whole warps. */
    GPI_DEVICE void add(K word, uint32_t least) const
    {
        const uint32_t same = __match_any_sync(all_lanes, word);
        if (same & ((1u << lane_id()) - 1))
            return;
        uint32_t at = word == none ? 1u << bits : word * 0x9e3779b1u >> (32 - bits);
        while (word != none) {
            const K found = atomicCAS(&words[at], none, word);
            if (found == none || found == word)
                break;
            at = (at + 1) & ((1u << bits) - 1);
        }
        const uint32_t more = __popc(same), before = atomicAdd(&counts[at], more);
        if (before < least && before + more >= least)
            list[atomicAdd(listed, 1u)] = at;
    }
};

} // namespace GPI_SPACE
