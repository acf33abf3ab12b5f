/* SPDX-License-Identifier: MIT */
/*
 * Whole segments sorted by a block: by threads of one warp that are a power of two, or by all, in
 * registers (device/network.cuh). Segments are listed by how many that takes, and those of a list
 * are sorted by a warp at a time. What stands in shared memory is their keys as order words, and
 * the place that each had in the tile where that goes along; words have it behind the key, so that
 * no two are equal.
 */
#pragma once

#include "device/network.cuh"
#include "segsort/segsort_internal.h"

namespace GPI_SPACE
{

constexpr uint32_t tile_threads = 128;

/*
 * Classes of segments, by length: of class c have 8 << c items at most. Those of the first one go
 * to a lane with 8 items; then to 1, 2, 4 .. 32 lanes with 16, the next one to a warp with 32, the
 * last two to all threads, with 16 and 32 items each.
 */
constexpr int tile_classes = 10;
static_assert(GPI_SEGSORT_TILE == 8 << (tile_classes - 1), "all segments of a tile have a class");
constexpr uint32_t list_room = GPI_SEGSORT_TILE / 4 * 3; /* see list_of() */

template <class K, bool PLACES>
using TileWord =
    std::conditional_t<!PLACES, K, std::conditional_t<sizeof(K) == 8, PlacedKey, uint64_t>>;

template <class K, bool PLACES> struct alignas(16) SegmentTile {
    using Word = TileWord<K, PLACES>;
    /* A gap behind each line, so that lanes whose items are 8 apart use different banks. */
    static constexpr uint32_t line = 128 / sizeof(K);
    K keys[GPI_SEGSORT_TILE + GPI_SEGSORT_TILE / line];
    uint64_t begin; /* in the array */
    uint32_t total, lists[list_room], count[tile_classes];
    uint16_t places[PLACES ? GPI_SEGSORT_TILE + GPI_SEGSORT_TILE / line : 1];

    GPI_DEVICE static uint32_t at(uint32_t i)
    {
        return i + i / line;
    }

    /* Items from one on, of a thread: less instructions than at() of each. In bytes. */
    struct Items {
        uint32_t near, far; /* before the first gap and behind it */
        uint32_t gap;       /* how many are before it */

        GPI_DEVICE explicit Items(uint32_t i)
            : near(at(i) * sizeof(K)), far(near + sizeof(K)), gap(line - i % line)
        {
            asm volatile("" : "+r"(far)); /* which is not computed again for each */
        }

        GPI_DEVICE uint32_t byte(uint32_t k) const
        {
            return (k % line < gap ? near : far) + (k + k / line) * sizeof(K);
        }
    };

    GPI_DEVICE K &key_at(uint32_t byte)
    {
        return *(K *)((char *)keys + byte);
    }

    GPI_DEVICE static Word word(K key, uint32_t place)
    {
        if constexpr (!PLACES)
            return key;
        else if constexpr (sizeof(K) == 8)
            return {place, (uint32_t)key, (uint32_t)(key >> 32)};
        else
            return (uint64_t)key << 32 | place;
    }

    GPI_DEVICE void put(uint32_t byte, const Word &w)
    {
        if constexpr (!PLACES)
            key_at(byte) = w;
        else if constexpr (sizeof(K) == 8)
            key_at(byte) = w.key(), places[byte / 8] = (uint16_t)w.place;
        else
            key_at(byte) = (K)(w >> 32), places[byte / 4] = (uint16_t)w;
    }

    GPI_DEVICE static Word behind_all()
    {
        if constexpr (PLACES && sizeof(K) == 8)
            return {~0u, ~0u, ~0u};
        else
            return ~(Word)0;
    }

    /* ---- lists ------------------------------------------------------------------------------- */

    GPI_DEVICE static int class_of(uint32_t length)
    {
        return 32 - __clz((length - 1) / 8);
    }

    /* Segments of class c: of none there are more than there is room for, as they have two items or
     * more than half of what others of the class have. */
    GPI_DEVICE uint32_t *list_of(int c)
    {
        return lists + (GPI_SEGSORT_TILE / 4 >> c);
    }

    /* Room for a segment that is sorted; by a warp. Of one item they are where they belong. */
    GPI_DEVICE void list(bool sorted, uint32_t first, uint32_t length)
    {
        const int c = sorted && length > 1 ? class_of(length) : tile_classes;
        const uint32_t peers = __match_any_sync(all_lanes, c);
        const int leader = __ffs(peers) - 1;
        uint32_t place = 0;
        if (c < tile_classes && lane_id() == leader)
            place = atomicAdd(&count[c], (uint32_t)__popc(peers));
        place = shuffle(place, leader) + __popc(peers & ((1u << lane_id()) - 1));
        if (c < tile_classes && place < (GPI_SEGSORT_TILE / (c ? 4 : 2) >> c))
            list_of(c)[place] = first | length << 16; /* more are only where offsets are wrong */
    }

    /* ---- sorting ----------------------------------------------------------------------------- */

    /* Words of a thread, of which `count` are items, to where those from i on are. */
    template <int E> GPI_DEVICE void put_words(const Word (&w)[E], uint32_t i, uint32_t count)
    {
        asm volatile("" : "+r"(i), "+r"(count)); /* or all addresses would be kept */
        const Items to(i);
#pragma unroll
        for (uint32_t k = 0; k < E; k++)
            if (k < count)
                put(to.byte(k), w[k]);
    }

    template <int E> GPI_DEVICE void get_words(Word (&w)[E], uint32_t i, uint32_t count)
    {
        asm volatile("" : "+r"(i), "+r"(count));
        const Items from(i);
#pragma unroll
        for (uint32_t k = 0; k < E; k++)
            w[k] = k < count ? word(key_at(from.byte(k)), i + k) : behind_all();
    }

    /* A segment of 1 << log threads of a warp, or of all. */
    template <int E> GPI_DEVICE void sort_segment(uint32_t segment, int log)
    {
        const uint32_t begin = segment & 0xffff, length = segment >> 16, threads = 1u << log;
        const uint32_t first = (threadIdx.x & (threads - 1)) * E;
        const uint32_t i = begin + first, count = length - min(first, length);
        Word w[E];
        get_words(w, i, count);
        sort_thread(w);
#pragma unroll 1
        for (uint32_t merged = 2; E > 8 && merged <= threads; merged *= 2) {
            if (merged <= 32)
                halve_lists(w, merged);
            uint32_t other = merged * E - 1;
#pragma unroll 1
            for (uint32_t k = merged / 64; k; k /= 2, other = 32 * E) {
                put_words(w, i, count);
                __syncthreads();
                exchange_warps(w, begin, length, other);
                __syncthreads();
            }
#pragma unroll 1
            for (uint32_t apart = min(merged / 4, 16u); apart; apart /= 2)
                exchange_lanes(w, apart);
            merge_thread(w);
        }
        put_words(w, i, count);
    }

    /* Each word of all threads and the one whose number has the bits of `other` inverted. */
    template <int E>
    GPI_DEVICE void exchange_warps(Word (&w)[E], uint32_t begin, uint32_t length, uint32_t other)
    {
        uint32_t own = threadIdx.x * E;
        asm volatile("" : "+r"(begin), "+r"(own));
#pragma unroll
        for (uint32_t k = 0; k < E; k++) {
            const uint32_t i = (own + k) ^ other, from = at(begin + i);
            const Word got =
                i < length ? word(keys[from], PLACES ? places[from] : 0) : behind_all();
            w[k] = of_side(w[k], got, i < own);
        }
    }

    /* Those of class c, to 1 << log threads each. Tasks of a warp are counted on from class to
     * class; `next` is its next one. */
    template <int E> GPI_DEVICE void sort_class(int c, int log, uint32_t &next)
    {
        const bool by_all = log > 5;
        const uint32_t have = count[c], *list = list_of(c), each = by_all ? 0 : 5 - log;
        const uint32_t tasks = (have + (1u << each) - 1) >> each;
        uint32_t task = by_all ? 0 : next;
#pragma unroll 1
        for (; task < tasks; task += by_all ? 1 : tile_threads / 32) {
            const uint32_t k = by_all ? task : (task << each) + (lane_id() >> log);
            sort_segment<E>(k < have ? list[k] : 0, log);
        }
        next = by_all ? next : task - tasks;
    }

    GPI_DEVICE void sort()
    {
        const bool some = lane_id() < tile_classes && count[lane_id()];
        uint32_t classes = __ballot_sync(all_lanes, some), next = warp_id();
#pragma unroll 1
        while (classes) {
            const int c = 31 - __clz(classes), log = c > 7 ? 7 : min(c - 1, 5);
            classes ^= 1u << c;
            if (c == 0)
                sort_class<8>(c, 0, next);
            else if (c == 7 || c == 9)
                sort_class<32>(c, log, next);
            else
                sort_class<16>(c, log, next);
        }
        __syncthreads();
    }
};

} // namespace GPI_SPACE
