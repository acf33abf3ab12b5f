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

/* The place of an item in gp's order, as an unsigned number. */
template <class Key> GPI_DEVICE Key key_of(Key x, int order, Key infinity)
{
    const Key sign = (Key)((Key)1 << (8 * sizeof(Key) - 1));
    if (order == GPI_ORDER_UNSIGNED)
        return x;
    if (order == GPI_ORDER_SIGNED)
        return (Key)(x ^ sign);
    const Key magnitude = (Key)(x & (Key)~sign);
    if (magnitude > infinity)
        return (Key) ~(Key)0;
    if (magnitude == 0)
        return sign;
    return x & sign ? (Key)~x : (Key)(x | sign);
}

constexpr int bound_threads = balance_tuning.bound_threads, bound_warps = bound_threads / 32;
constexpr uint32_t bound_part_bytes = 16 * 1024; /* of the array, in shared memory */

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
#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        low = min(low, shuffle_xor(low, by));
        high = max(high, shuffle_xor(high, by));
    }
    least = (Key)low;
    most = (Key)high;
}

/* Where the places of a tile's needles, rounds of them per thread from first on, begin and end. */
template <class Key, class KeyOf>
GPI_DEVICE void bound_ends(const Key *sorted, uint64_t n, const Key *needles, uint64_t first,
                           uint64_t m, int rounds, bool upper, KeyOf key_at, bound_stage<Key> &s)
{
    const uint32_t warp = threadIdx.x / 32;
    Key least = (Key) ~(Key)0, most = 0;
    for (int r = 0; r < rounds; r++) {
        const uint64_t j = first + (uint32_t)r * bound_threads + threadIdx.x;
        if (j < m) {
            const Key key = key_at(needles[j]);
            least = min(least, key);
            most = max(most, key);
        }
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

/*
 * Items of sorted below needles[j], or with upper not above it. out may be needles: a thread
 * reads its needles before it writes. Grid: any; 256 threads; 16.1 KiB of shared memory. Tile:
 * rounds needles of each thread. After: out[j] for all j < m.
 */
template <class Key>
__global__ void __launch_bounds__(bound_threads)
    bound_k(const Key *__restrict__ sorted, ItemCount array, const Key *needles, ItemCount many,
            int rounds, int order, Key infinity, bool upper, bool wide, void *out)
{
    __shared__ bound_stage<Key> s;
    const uint64_t n = item_count(array), m = item_count(many);
    /* Fewer needles than the host could know of go to more blocks. */
    if (many.device_n && m / ((uint64_t)rounds * bound_threads) < gridDim.x / 2)
        rounds = 1;
    const uint64_t tile = (uint64_t)rounds * bound_threads;
    const auto key_at = [=](Key x) { return key_of(x, order, infinity); };
    for (uint64_t first = blockIdx.x * tile; first < m; first += gridDim.x * tile) {
        /* 1. The part of the array, to shared memory if it fits. */
        bound_ends(sorted, n, needles, first, m, rounds, upper, key_at, s);
        const uint64_t begin = s.ends[0], items = max(s.ends[1], begin) - begin;
        const bool fits = items <= sizeof s.part / sizeof(Key);
        for (uint32_t i = threadIdx.x; fits && i < items; i += bound_threads)
            s.part[i] = key_at(__ldg(sorted + begin + i));
        __syncthreads();
        /* 2. The places. */
        for (int r = 0; r < rounds; r++) {
            const uint64_t j = first + (uint32_t)r * bound_threads + threadIdx.x;
            if (j >= m)
                break;
            const bound_below<Key> below{key_at(needles[j]), upper};
            const uint64_t found =
                begin + (fits ? partition_point((uint32_t)items,
                                                [&](uint32_t i) { return below(s.part[i]); })
                              : partition_point(items, [&](uint64_t i) {
                                    return below(key_at(__ldg(sorted + begin + i)));
                                }));
            if (wide)
                static_cast<uint64_t *>(out)[j] = found;
            else
                static_cast<uint32_t *>(out)[j] = (uint32_t)found;
        }
        __syncthreads();
    }
}

} // namespace GPI_SPACE::balance
