/* SPDX-License-Identifier: MIT */
/* The keys of a bucket, as order words of 4 or 8 bytes, in shared memory, in the order in which a
 * warp meets them; and a table without collisions that tells where a word stands, if it is there (a
 * hash function is tried after another until all words have places of their own: Fredman, Komlós
 * and Szemerédi 1984). So items of known keys never wait for a second place to be looked at. */
#pragma once

#include "group/group_bucket.cuh"

namespace GPI_SPACE
{

struct BucketWords {
    static constexpr int D = bucket_keys, places_bits = 10, tries = 1 << 10;
    static constexpr uint32_t vacant = 0x01010101u * D; /* four places */

    alignas(16) uint64_t words[D + 1]; /* behind the last place: a word of no key */
    alignas(16) uint8_t number[1 << places_bits];

    /* How many words there are, D + 1: too many; and the hash function. Of all lanes. */
    struct Known {
        uint32_t count, factor;
    };

    template <class K> static GPI_DEVICE uint32_t place_of(K word, uint32_t factor)
    {
        uint32_t bits = (uint32_t)word * factor;
        if constexpr (sizeof(K) == 8)
            bits += (uint32_t)(word >> 32) * (factor ^ 0x85ebca6au);
        return bits >> (32 - places_bits);
    }

    template <class K> GPI_DEVICE K &at(uint32_t number)
    {
        return ((K *)words)[number];
    }

    /* Of a word that is known; D or another word's of one that is not. */
    template <class K> GPI_DEVICE uint32_t number_of(K word, Known known) const
    {
        return number[place_of(word, known.factor)];
    }

    GPI_DEVICE void clear_places()
    {
        uint4 *to = (uint4 *)number;
        __syncwarp();
        for (int i = lane_id(); i < (int)(sizeof number / 16); i += 32)
            to[i] = make_uint4(vacant, vacant, vacant, vacant);
        __syncwarp();
    }

    /* No words but that of no key. */
    template <class K> GPI_DEVICE Known begin(K none)
    {
        if (lane_id() == 0)
            at<K>(D) = none;
        clear_places();
        return {0, 0x9e3779b1u};
    }

    /* A function that gives all words places of their own. */
    template <class K> GPI_DEVICE Known place(Known known)
    {
        for (int i = 0; i < tries; i++, known.factor = known.factor * 0x19660du + 0x3c6ef35eu) {
            bool apart = true;
            clear_places();
            for (uint32_t first = 0; first < known.count; first += 32) {
                const uint32_t j = first + lane_id(), none = (1 << places_bits) + lane_id();
                const bool there = j < known.count;
                const uint32_t place = there ? place_of(at<K>(j), known.factor) : none;
                const bool alone = __match_any_sync(all_lanes, place) == 1u << lane_id();
                apart = apart && alone && (!there || number[place] == D);
                if (there && alone)
                    number[place] = (uint8_t)j;
                __syncwarp();
            }
            if (__all_sync(all_lanes, apart))
                return known;
        }
        return {D + 1, known.factor};
    }

    /* With each lane's word. A call, as it is rare. */
    template <class K>
    static __device__ __noinline__ Known with(BucketWords &s, Known known, K word)
    {
        bool is_new = s.at<K>(s.number_of(word, known)) != word;
        uint32_t lanes = __ballot_sync(all_lanes, is_new);
        if (!lanes)
            return known;
        for (; lanes; lanes = __ballot_sync(all_lanes, is_new)) {
            const K next = __shfl_sync(all_lanes, word, __ffs(lanes) - 1);
            if (known.count == D)
                return {D + 1, known.factor};
            if (lane_id() == 0)
                s.at<K>(known.count) = next;
            known.count++;
            is_new = is_new && word != next;
        }
        return s.place<K>(known);
    }
};

} // namespace GPI_SPACE
