/* SPDX-License-Identifier: MIT */
/*
 * Whole segments sorted in the shared memory of a block.
 *
 * Segments of up to short_segment items: each item counts those of its segment that come before it.
 * Longer ones: each thread sorts the items of its chunk that are of one segment, by exchanges of
 * neighbours; then runs of 1, 2, 4 .. chunks are merged (merge path, Green et al. 2012), of each
 * two runs only the items of the segment that lies across their boundary, as all others are where
 * they belong. Both are stable.
 */
#pragma once

#include "device/warp.cuh"
#include "segsort/segsort_internal.h"

namespace GPI_SPACE
{

constexpr uint32_t chunk = 9; /* odd: lanes that read chunks use different banks */
constexpr uint32_t tile_threads = GPI_SEGSORT_TILE / chunk, tile_words = GPI_SEGSORT_TILE / 32;
constexpr uint32_t short_segment = 32;
static_assert(tile_threads * chunk == GPI_SEGSORT_TILE && tile_words * 32 == GPI_SEGSORT_TILE,
              "all items have a thread and a bit");

/* Of a block. PLACES: where each item was in the tile goes along with its key. */
template <class K, bool PLACES> struct SegmentTile {
    K keys[GPI_SEGSORT_TILE + chunk]; /* order words; merges read behind them */
    uint16_t places[PLACES ? GPI_SEGSORT_TILE : 1];
    uint32_t heads[tile_words + 1]; /* bits: a segment begins there, or there is no item */
    uint16_t before[tile_words], after[tile_words]; /* the nearest bits in other words */
    uint32_t total;
    uint64_t edge[3]; /* where it begins in the array; its end, and the last head before that */

    /* Where the segment of item i begins, and ends. */
    GPI_DEVICE uint32_t head_of(uint32_t i) const
    {
        const uint32_t bits = heads[i / 32] & ((2u << i % 32) - 1);
        return bits ? (i | 31) - __clz(bits) : before[i / 32];
    }

    GPI_DEVICE uint32_t end_of(uint32_t i) const
    {
        const uint32_t bits = heads[i / 32] & ~((2u << i % 32) - 1);
        return bits ? (i & ~31u) + __ffs(bits) - 1 : after[i / 32];
    }

    /* before and after, by warps 0 and 1. */
    GPI_DEVICE void link_heads()
    {
        constexpr uint32_t each = (tile_words + 31) / 32;
        const bool forth = threadIdx.x < 32;
        const int step = forth ? 1 : -1;
        const int own = forth ? lane_id() : 31 - lane_id(); /* the lane's place on the way */
        int first = (forth ? 0 : (int)tile_words - 1) + step * own * (int)each;
        uint32_t last = 0; /* of the lane's words; 1 more than a bit's place, counted on the way */
        for (int w = first, k = 0; k < (int)each; w += step, k++)
            if (w >= 0 && w < (int)tile_words && heads[w])
                last = place_on_way(w, forth) + 1;
        uint32_t left = last;
        for (int d = 1; d < 32; d *= 2) {
            const uint32_t got = forth ? shuffle_up(left, d) : shuffle_down(left, d);
            left = own >= d ? max(left, got) : left;
        }
        left = forth ? shuffle_up(left, 1) : shuffle_down(left, 1);
        left = own ? left : 0;
        for (int w = first, k = 0; k < (int)each; w += step, k++)
            if (w >= 0 && w < (int)tile_words) {
                if (forth)
                    before[w] = (uint16_t)(left ? left - 1 : 0);
                else
                    after[w] = (uint16_t)(GPI_SEGSORT_TILE - left);
                left = heads[w] ? place_on_way(w, forth) + 1 : left;
            }
    }

    /* The last bit of a word on the way from the first item on, or back from the last one. */
    GPI_DEVICE uint32_t place_on_way(int w, bool forth) const
    {
        return forth ? 32 * w + 31 - __clz(heads[w])
                     : GPI_SEGSORT_TILE - 1 - (32 * w + __ffs(heads[w]) - 1);
    }

    /* ---- short segments ---------------------------------------------------------------------- */

    GPI_DEVICE static bool is_before(K a, uint32_t i, K b, uint32_t j)
    {
        if constexpr (sizeof(K) == 4)
            return ((uint64_t)a << 32 | i) < ((uint64_t)b << 32 | j);
        else
            return a < b || (a == b && i < j);
    }

    /* Where item i belongs in its segment [begin, end). */
    GPI_DEVICE uint32_t place_in(uint32_t begin, uint32_t end, K key, uint32_t i) const
    {
        uint32_t place = begin;
#pragma unroll 4
        for (uint32_t j = begin; j < end; j++)
            place += is_before(keys[j], j, key, i);
        return place;
    }

    /* Whether there are longer ones. */
    GPI_DEVICE bool sort_short()
    {
        const uint32_t upto = (2u << lane_id()) - 1;
        K key[chunk] = {};
        uint32_t to[chunk];
        bool others = false;
#pragma unroll
        for (uint32_t k = 0; k < chunk; k++) {
            /* The items of a warp have a word of bits; those behind the last one are heads. */
            const uint32_t i = threadIdx.x + k * tile_threads, word = i / 32;
            to[k] = i;
            if (word * 32 >= total)
                continue;
            const uint32_t left = heads[word] & upto, right = heads[word] & ~upto;
            const uint32_t begin = left ? (i | 31) - __clz(left) : before[word];
            const uint32_t end = right ? (i & ~31u) + __ffs(right) - 1 : after[word];
            key[k] = keys[i];
            if (end - begin <= short_segment)
                to[k] = place_in(begin, end, key[k], i);
            else
                others = true;
        }
        others = __syncthreads_or(others);
#pragma unroll
        for (uint32_t k = 0; k < chunk; k++) {
            const uint32_t i = threadIdx.x + k * tile_threads;
            if (i >= total)
                continue;
            keys[to[k]] = key[k];
            if (PLACES)
                places[to[k]] = (uint16_t)i;
        }
        __syncthreads();
        return others;
    }

    /* ---- longer ones ------------------------------------------------------------------------- */

    GPI_DEVICE bool is_long(uint32_t i) const
    {
        return end_of(i) - head_of(i) > short_segment;
    }

    /* Segments of a chunk, from its first item on; by a thread. */
    GPI_DEVICE void sort_chunk(uint32_t first)
    {
        if (first >= total || !(is_long(first) || is_long(min(first + chunk, total) - 1)))
            return;
        const uint32_t at = first / 32;
        const uint32_t edges = __funnelshift_r(heads[at], heads[at + 1], first % 32);
        K key[chunk];
        uint16_t place[chunk];
#pragma unroll
        for (uint32_t k = 0; k < chunk; k++) {
            key[k] = keys[first + k];
            place[k] = PLACES ? places[first + k] : 0;
        }
#pragma unroll
        for (uint32_t round = 0; round < chunk; round++)
#pragma unroll
            for (uint32_t k = round % 2; k + 1 < chunk; k += 2) {
                const bool swap = key[k + 1] < key[k] && !(edges >> (k + 1) & 1);
                const K low = swap ? key[k + 1] : key[k], high = swap ? key[k] : key[k + 1];
                const uint16_t left = swap ? place[k + 1] : place[k];
                place[k + 1] = swap ? place[k] : place[k + 1];
                key[k] = low, key[k + 1] = high, place[k] = left;
            }
#pragma unroll
        for (uint32_t k = 0; k < chunk; k++) {
            if (first + k >= total)
                break;
            keys[first + k] = key[k];
            if (PLACES)
                places[first + k] = place[k];
        }
    }

    /* How many of the first d items of two runs, [begin, middle) and [middle, end), are of the
     * first one once they are merged. */
    GPI_DEVICE uint32_t merge_path(uint32_t begin, uint32_t middle, uint32_t end, uint32_t d) const
    {
        uint32_t low = d > end - middle ? d - (end - middle) : 0, high = min(d, middle - begin);
        while (low < high) {
            const uint32_t half = (low + high) / 2;
            if (keys[middle + d - 1 - half] < keys[begin + half])
                high = half;
            else
                low = half + 1;
        }
        return low;
    }

    /* Two runs, of `run` chunks at most, to one; by all threads, or those of a warp. What stands
     * behind a run, which another warp may be writing, is read and not used. */
    template <class Sync> GPI_DEVICE void merge_runs(uint32_t run, Sync sync)
    {
        const uint32_t own = threadIdx.x * chunk;
        const uint32_t middle = ((threadIdx.x & ~(2 * run - 1)) + run) * chunk;
        uint32_t first = 0, count = 0, from[chunk] = {};
        K key[chunk] = {};
        if (middle < total && own < total && !(heads[middle / 32] >> middle % 32 & 1)) {
            const uint32_t head = head_of(middle), tail = end_of(middle);
            const uint32_t begin = max(head, middle - run * chunk);
            const uint32_t end = min(tail, middle + run * chunk);
            first = max(own, begin);
            const uint32_t last = min(own + chunk, end);
            if (tail - head > short_segment && first < last) {
                count = last - first;
                uint32_t a = merge_path(begin, middle, end, first - begin);
                uint32_t b = middle + (first - begin) - a;
                a += begin;
                K left = keys[a], right = keys[b];
#pragma unroll
                for (uint32_t k = 0; k < chunk; k++) { /* of which those behind count are none */
                    const bool is_left = b >= end || (a < middle && !(right < left));
                    const uint32_t at = is_left ? a : b;
                    const K next = keys[at + 1];
                    key[k] = is_left ? left : right;
                    from[k] = at;
                    a = is_left ? at + 1 : a;
                    b = is_left ? b : at + 1;
                    left = is_left ? next : left;
                    right = is_left ? right : next;
                }
            }
        }
        if (PLACES)
#pragma unroll
            for (uint32_t k = 0; k < chunk; k++)
                if (k < count)
                    from[k] = places[from[k]];
        sync();
#pragma unroll
        for (uint32_t k = 0; k < chunk; k++)
            if (k < count) {
                keys[first + k] = key[k];
                if (PLACES)
                    places[first + k] = (uint16_t)from[k];
            }
        sync();
    }

    GPI_DEVICE void sort()
    {
        if (!sort_short())
            return;
        sort_chunk(threadIdx.x * chunk);
        __syncwarp();
#pragma unroll 1
        for (uint32_t run = 1; run < 32; run *= 2)
            merge_runs(run, [] { __syncwarp(); });
        __syncthreads();
#pragma unroll 1
        for (uint32_t run = 32; run * chunk < total; run *= 2)
            merge_runs(run, [] { __syncthreads(); });
    }
};

} // namespace GPI_SPACE
