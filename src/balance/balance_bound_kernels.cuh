/* SPDX-License-Identifier: MIT */
/*
 * Bulk binary search, a thread per needle, a tile of them per block at a time. Where all places of
 * a tile lie close to each other, as those of needles in order do, that part of the array is read
 * once and searched in shared memory.
 */
#pragma once

#include <type_traits>

extern "C" {
#include "balance/balance_internal.h"
}
#include "device/item_count.cuh"
#include "device/search.cuh"
#include "device/warp.cuh"
#include "tuning/balance_tuning.cuh"

namespace GPI_SPACE::balance
{

/* The place of an item in gp's order, as an unsigned number. One way for all orders, as choices
 * cost more than what they spare: bits of all items are turned over by `sign`, those of negative
 * ones by `negative`, too; and of floats all NaN are the largest, and both zeros equal. */
template <class Key> struct bound_key {
    static constexpr Key top = (Key)((Key)1 << (8 * sizeof(Key) - 1));
    Key sign, negative, infinity;
    bool is_float;

    GPI_DEVICE bound_key(int order, Key infinity)
        : sign(order == GPI_ORDER_UNSIGNED ? 0 : top),
          negative(order == GPI_ORDER_UNSIGNED || order == GPI_ORDER_SIGNED ? 0 : (Key)~top),
          infinity(infinity), is_float(order != GPI_ORDER_UNSIGNED && order != GPI_ORDER_SIGNED)
    {
    }

    GPI_DEVICE Key operator()(Key x) const
    {
        const Key below = (Key)(0 - (x >> (8 * sizeof(Key) - 1))); /* all bits of a negative one */
        const Key key = (Key)(x ^ sign ^ (below & negative));
        const Key number = is_float && key == (Key)(top - 1) ? top : key;
        return is_float && (Key)(x & (Key)~top) > infinity ? (Key) ~(Key)0 : number;
    }
};

constexpr int bound_threads = balance_tuning.bound_threads, bound_warps = bound_threads / 32;
constexpr uint32_t bound_part_bytes = 16 * 1024; /* of the array, in shared memory */

/* Blocks on a multiprocessor for which the compiler saves registers; 0: as it finds best. */
template <class Key>
constexpr int bound_resident = sizeof(Key) == 4 ? gpu.threads / bound_threads : 0;

/* Which items come before a needle's place. */
template <class Key> struct bound_below {
    Key needle;
    bool upper;

    GPI_DEVICE bool operator()(Key key) const
    {
        return upper ? key <= needle : key < needle;
    }
};

template <class Key> struct bound_stage {
    Key part[bound_part_bytes / sizeof(Key)]; /* keys */
    Key least[bound_warps], most[bound_warps];
    uint64_t ends[2]; /* places of the least and the largest needle of the tile */
};

/* The least and the largest key of a warp, by all lanes. */
template <class Key> GPI_DEVICE void warp_extremes(Key &least, Key &most)
{
    using Word = std::conditional_t<sizeof(Key) == 8, uint64_t, uint32_t>;
    Word low = least, high = most;
    constexpr bool reduces = GPI_SM >= 80 && sizeof(Key) <= 4; /* in one instruction */
    if constexpr (reduces) {
        low = __reduce_min_sync(all_lanes, low);
        high = __reduce_max_sync(all_lanes, high);
    } else {
#pragma unroll
        for (int by = 16; by > 0; by /= 2) {
            low = min(low, shuffle_xor(low, by));
            high = max(high, shuffle_xor(high, by));
        }
    }
    least = (Key)low;
    most = (Key)high;
}

/* Where the places of a tile's needles, with those keys, begin and end. */
template <class Key, int ROUNDS>
GPI_DEVICE void bound_ends(const Key *sorted, uint64_t n, const Key (&key)[ROUNDS], bool upper,
                           const bound_key<Key> &key_at, bound_stage<Key> &s)
{
    const uint32_t warp = threadIdx.x / 32;
    Key least = key[0], most = key[0];
#pragma unroll
    for (int r = 1; r < ROUNDS; r++) {
        least = min(least, key[r]);
        most = max(most, key[r]);
    }
    warp_extremes(least, most);
    if (lane_id() == 0) {
        s.least[warp] = least;
        s.most[warp] = most;
    }
    __syncthreads();
    if (warp < 2) {
        least = s.least[lane_id() % bound_warps];
        most = s.most[lane_id() % bound_warps];
        warp_extremes(least, most);
        const bound_below<Key> below{warp == 0 ? least : most, upper};
        const uint64_t place =
            partition_point_warp(sorted, n, [&](Key x) { return below(key_at(x)); });
        if (lane_id() == 0)
            s.ends[warp] = place;
    }
    __syncthreads();
}

/* The places of keys among `items` in shared memory, step by step for all of them, as each step of
 * one waits for the last. Until the end they are in bytes: what a step adds to an address is then
 * the same for all, which an access of shared memory adds by itself. */
template <class Key, int ROUNDS>
GPI_DEVICE void bound_places(const Key *part, uint32_t items, const Key (&key)[ROUNDS], bool upper,
                             uint32_t (&place)[ROUNDS])
{
#pragma unroll
    for (int r = 0; r < ROUNDS; r++)
        place[r] = 0;
    uint32_t left = items;
    const auto is_before = [&](const Key *from, int r) {
        return bound_below<Key>{key[r], upper}(*(const Key *)((const char *)from + place[r]));
    };
    while (left > 1) {
        const uint32_t half = left / 2;
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
            if (is_before(part + half - 1, r))
                place[r] += half * (uint32_t)sizeof(Key);
        left -= half;
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; r++)
        place[r] = place[r] / (uint32_t)sizeof(Key) + (left && is_before(part, r));
}

/* The places of a tile, which begin at `begin`, to where they belong. */
template <class Index, int ROUNDS>
GPI_DEVICE void bound_store(const uint32_t (&place)[ROUNDS], uint32_t count, Index begin, Index *to)
{
#pragma unroll
    for (int r = 0; r < ROUNDS; r++)
        if (r * bound_threads + threadIdx.x < count)
            to[r * bound_threads + threadIdx.x] = begin + place[r];
}

/* put(j, place) for the needles of a tile whose part of the array, from `part` on, does not fit. */
template <class Key, int ROUNDS, class Put>
GPI_DEVICE void bound_far(const Key *part, uint64_t items, const Key (&key)[ROUNDS], uint32_t count,
                          bool upper, const bound_key<Key> &key_at, const Put &put)
{
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        const uint32_t j = r * bound_threads + threadIdx.x;
        const bound_below<Key> below{key[r], upper};
        if (j < count)
            put(j,
                partition_point(items, [&](uint64_t i) { return below(key_at(__ldg(part + i))); }));
    }
}

/*
 * Items of sorted below needles[j], or with upper not above it. out may be needles: a block
 * reads its needles before it writes. Grid: any; 256 threads; 16.1 KiB of shared memory. Tile:
 * ROUNDS needles of each thread. After: out[j] for all j < m.
 */
template <class Key, int ROUNDS>
__global__ void __launch_bounds__(bound_threads, bound_resident<Key>)
    bound_k(const Key *__restrict__ sorted, ItemCount array, const Key *needles, ItemCount many,
            int order, Key infinity, bool upper, bool wide, void *out)
{
    __shared__ bound_stage<Key> s;
    const uint64_t n = item_count(array), m = item_count(many);
    constexpr uint32_t tile = ROUNDS * bound_threads;
    const bound_key<Key> key_at(order, infinity);
    for (uint64_t first = (uint64_t)blockIdx.x * tile; first < m;
         first += (uint64_t)gridDim.x * tile) {
        const uint32_t count = m - first < tile ? (uint32_t)(m - first) : tile;
        const Key *from = needles + first;
        Key key[ROUNDS];
        uint32_t place[ROUNDS];
        /* 1. The needles, the last one again behind it; the part of the array, to shared memory if
         * it fits. */
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
            key[r] = from[min(r * bound_threads + threadIdx.x, count - 1)];
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
            key[r] = key_at(key[r]);
        bound_ends(sorted, n, key, upper, key_at, s);
        const uint64_t begin = s.ends[0], many_items = max(s.ends[1], begin) - begin;
        const Key *part = sorted + begin;
        if (many_items > sizeof s.part / sizeof(Key)) {
            bound_far(part, many_items, key, count, upper, key_at, [&](uint32_t j, uint64_t place) {
                if (wide)
                    static_cast<uint64_t *>(out)[first + j] = begin + place;
                else
                    static_cast<uint32_t *>(out)[first + j] = (uint32_t)(begin + place);
            });
            __syncthreads();
            continue;
        }
        const uint32_t items = (uint32_t)many_items;
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < items; i += bound_threads)
            s.part[i] = key_at(__ldg(part + i));
        __syncthreads();
        /* 2. The places. */
        bound_places(s.part, items, key, upper, place);
        if (wide)
            bound_store(place, count, begin, static_cast<uint64_t *>(out) + first);
        else
            bound_store(place, count, (uint32_t)begin, static_cast<uint32_t *>(out) + first);
        __syncthreads();
    }
}

} // namespace GPI_SPACE::balance
