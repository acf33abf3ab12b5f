/* SPDX-License-Identifier: MIT */
/* Merge by merge path: cut the output into tiles, merge each in shared memory. */
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/item_count.cuh"
#include "device/key_order.cuh"
#include "merge/merge_internal.h"
#include "tuning/merge_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* Whether x of the first array goes before y of the second. */
template <class Key> GPI_DEVICE bool first_goes(const KeyOrder<Key> &order, Key x, Key y)
{
    return order.word(x) <= order.word(y);
}

/* Where the runs from a run on begin: within the array, whatever the offsets are. */
GPI_DEVICE uint64_t group_begin(const gpi_merge_groups &g, uint32_t run)
{
    const uint64_t runs = item_count(ItemCount{g.num_runs, g.device_num_runs});
    const uint64_t n = item_count(ItemCount{g.n, g.device_n}), at = min((uint64_t)run, runs);
    const uint64_t begin =
        g.offset_bytes == 4 ? ((const uint32_t *)g.offsets)[at] - ((const uint32_t *)g.offsets)[0]
                            : ((const uint64_t *)g.offsets)[at] - ((const uint64_t *)g.offsets)[0];
    return min(begin, n);
}

template <class Key> struct MergeInput {
    const Key *a, *b;
    uint64_t num_a, num_b;
    const uint64_t *device_num_a, *device_num_b; /* NULL, or the numbers are bounds */
    gpi_merge_groups groups;
    uint64_t first; /* where a begins in its array */

    GPI_DEVICE void take_counts()
    {
        num_a = item_count(ItemCount{num_a, device_num_a});
        num_b = item_count(ItemCount{num_b, device_num_b});
        if (!groups.offsets)
            return;
        first = group_begin(groups, groups.run_a);
        const uint64_t middle = max(group_begin(groups, groups.run_b), first);
        const uint64_t end = max(group_begin(groups, groups.end), middle);
        b = a + middle;
        a += first;
        num_a = middle - first;
        num_b = end - middle;
    }
};

/* Of runs in arrays of their own. Not the same struct: what it costs plain merges is a fifth. */
template <class Key> struct MergeLent : MergeInput<Key> {
    const uint64_t *firsts;
    uint64_t first_a, first_b; /* where the runs begin in their arrays */

    GPI_DEVICE void take_counts()
    {
        const Key *a = this->a, *b = this->b;
        MergeInput<Key>::take_counts();
        first_a = firsts[this->groups.run_a];
        first_b = firsts[this->groups.run_b];
        this->a = a + first_a;
        this->b = b + first_b;
    }
};

/* How many of the first d outputs come from a; stays within the arrays whatever they hold. */
template <class Key, class Size>
GPI_DEVICE Size merge_items_of_a(const KeyOrder<Key> &order, const Key *a, Size num_a, const Key *b,
                                 Size num_b, Size d)
{
    Size low = d > num_b ? d - num_b : 0, high = d < num_a ? d : num_a;
    while (low < high) {
        const Size middle = low + (high - low) / 2;
        if (first_goes(order, a[middle], b[d - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* cuts[t] = items of a before tile t, for t up to the number of tiles.
 * A thread per cut, 256 threads. */
template <class Key, class Input>
__global__ void __launch_bounds__(merge_tuning.threads)
    merge_cut_k(KeyOrder<Key> order, Input in, uint64_t tiles, uint64_t *cuts)
{
    const uint64_t t = (uint64_t)blockIdx.x * merge_tuning.threads + threadIdx.x;
    in.take_counts();
    const uint64_t n = in.num_a + in.num_b, d = t * MergeShape<Key>::tile;
    if (t <= tiles)
        cuts[t] = merge_items_of_a(order, in.a, in.num_a, in.b, in.num_b, d < n ? d : n);
}

/* The part of both inputs that one tile merges. */
struct MergeTile {
    uint64_t out, a, b; /* first output, first items */
    int count, num_a;   /* outputs; how many come from a */
};

template <class Key>
GPI_DEVICE MergeTile merge_tile_of(const MergeInput<Key> &in, const uint64_t *cuts)
{
    const uint64_t n = in.num_a + in.num_b;
    MergeTile t;
    t.out = (uint64_t)blockIdx.x * MergeShape<Key>::tile;
    t.count = (int)min((uint64_t)MergeShape<Key>::tile, n - t.out);
    t.a = cuts[blockIdx.x];
    t.b = t.out - t.a;
    /* Of arrays that are not sorted the cuts may fall. */
    const uint64_t next = max(cuts[blockIdx.x + 1], t.a);
    t.num_a = (int)min((uint64_t)t.count, next - t.a);
    return t;
}

/* Merge the tile's keys in s_keys, first those of a. s_from, unless NULL: which of them each is. */
template <class Key>
GPI_DEVICE void merge_in_shared(const KeyOrder<Key> &order, const MergeTile &t, Key *s_keys,
                                uint16_t *s_from)
{
    constexpr int items = MergeShape<Key>::items;
    const int d = min((int)threadIdx.x * items, t.count), num_b = t.count - t.num_a;
    int a = merge_items_of_a(order, s_keys, t.num_a, s_keys + t.num_a, num_b, d);
    int b = t.num_a + d - a;
    Key keys[items];
    uint16_t from[items];
#pragma unroll
    for (int k = 0; k < items; k++) {
        const bool take_a =
            a < t.num_a && (b >= t.count || first_goes(order, s_keys[a], s_keys[b]));
        const int i = min(take_a ? a++ : b++, t.count - 1);
        keys[k] = s_keys[i];
        from[k] = (uint16_t)i;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; k++)
        if (d + k < t.count) {
            s_keys[d + k] = keys[k];
            if (s_from)
                s_from[d + k] = from[k];
        }
    __syncthreads();
}

template <class Unit>
GPI_DEVICE void merge_move(const MergeTile &t, const uint16_t *s_from, const void *values_a,
                           const void *values_b, uint32_t units, void *values_out)
{
    const Unit *a = (const Unit *)values_a + t.a * units;
    const Unit *b = (const Unit *)values_b + t.b * units;
    Unit *out = (Unit *)values_out + t.out * units;
    for (uint32_t u = threadIdx.x; u < t.count * units; u += merge_tuning.threads) {
        const uint32_t i = units == 1 ? u : u / units, k = u - i * units, from = s_from[i];
        out[u] = from < (uint32_t)t.num_a ? a[from * units + k]
                                          : b[(from - (uint32_t)t.num_a) * units + k];
    }
}

/* Values in units of the largest power of two that divides them, to which they are aligned. */
GPI_DEVICE void merge_values(const MergeTile &t, const uint16_t *s_from, const void *values_a,
                             const void *values_b, uint32_t value_bytes, void *values_out)
{
    if (value_bytes % 16 == 0)
        merge_move<uint4>(t, s_from, values_a, values_b, value_bytes / 16, values_out);
    else if (value_bytes % 8 == 0)
        merge_move<uint2>(t, s_from, values_a, values_b, value_bytes / 8, values_out);
    else if (value_bytes % 4 == 0)
        merge_move<uint32_t>(t, s_from, values_a, values_b, value_bytes / 4, values_out);
    else if (value_bytes % 2 == 0)
        merge_move<uint16_t>(t, s_from, values_a, values_b, value_bytes / 2, values_out);
    else
        merge_move<uint8_t>(t, s_from, values_a, values_b, value_bytes, values_out);
}

/*
 * Merge a tile per block: 256 threads, items of them each; shared memory for the tile's keys and,
 * if Pairs, their origins. After: the tile's part of both outputs.
 */
template <class Key, bool Pairs, class Input>
__global__ void __launch_bounds__(merge_tuning.threads)
    merge_tile_k(KeyOrder<Key> order, Input in, const uint64_t *cuts, Key *keys_out,
                 const void *values_a, const void *values_b, uint32_t value_bytes, void *values_out)
{
    constexpr int tile = MergeShape<Key>::tile;
    __shared__ Key s_keys[tile];
    __shared__ uint16_t s_from[Pairs ? tile : 1];
    in.take_counts();
    if ((uint64_t)blockIdx.x * tile >= in.num_a + in.num_b)
        return;
    if constexpr (std::is_same_v<Input, MergeLent<Key>>) {
        keys_out += in.first;
        values_a = (const char *)values_a + in.first_a * value_bytes;
        values_b = (const char *)values_b + in.first_b * value_bytes;
        values_out = (char *)values_out + in.first * value_bytes;
    } else if (in.groups.offsets) {
        keys_out += in.first;
        values_b = (const char *)values_a + (in.first + in.num_a) * value_bytes;
        values_a = (const char *)values_a + in.first * value_bytes;
        values_out = (char *)values_out + in.first * value_bytes;
    }
    const MergeTile t = merge_tile_of(in, cuts);
    /* 1. Load both parts. */
    for (int i = threadIdx.x; i < t.count; i += merge_tuning.threads) {
        const uint64_t b = t.b + (uint64_t)(i - t.num_a);
        s_keys[i] = i < t.num_a ? in.a[t.a + i] : in.b[min(b, in.num_b - 1)];
    }
    __syncthreads();
    /* 2. Merge them. */
    merge_in_shared(order, t, s_keys, Pairs ? s_from : nullptr);
    /* 3. Write keys, then values, whose neighbours come mostly from neighbours. */
    for (int i = threadIdx.x; i < t.count; i += merge_tuning.threads)
        keys_out[t.out + i] = s_keys[i];
    if (Pairs)
        merge_values(t, s_from, values_a, values_b, value_bytes, values_out);
}

} // namespace
} // namespace GPI_SPACE
