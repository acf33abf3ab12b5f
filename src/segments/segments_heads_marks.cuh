/* SPDX-License-Identifier: MIT */
/* The heads of segments as bits, from what describes them item by item: flags and keys. */
#pragma once

#include <type_traits>

extern "C" {
#include "segments/segments_internal.h"
}
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/warp.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{

constexpr int rounds = scan_tuning.heads_loads;

/* Bit j: item j of those in a word is not 0. */
template <class Item> GPI_DEVICE uint32_t items_set(uint32_t word)
{
    if constexpr (sizeof(Item) == 1) {
        const uint32_t high = ((word & 0x7f7f7f7fu) + 0x7f7f7f7fu | word) & 0x80808080u;
        return (high >> 7) * 0x10204080u >> 28;
    } else {
        return (word & 0xffff ? 1 : 0) | (word >> 16 ? 2 : 0);
    }
}

struct Flags {
    using Item = uint8_t;
    using Value = uint32_t;
    const Item *array;
    GPI_DEVICE Value load(uint64_t i) const
    {
        return __ldg(array + i);
    }
    static GPI_DEVICE bool head(Value own, Value)
    {
        return own != 0;
    }
    /* Of the items of a word. */
    static GPI_DEVICE uint32_t heads(uint32_t word, uint32_t)
    {
        return items_set<Item>(word);
    }
};

template <class Key> struct Keys {
    using Item = Key;
    using Value = std::conditional_t<sizeof(Key) < 4, uint32_t, Key>;
    const Key *array;
    GPI_DEVICE Value load(uint64_t i) const
    {
        return __ldg(array + i);
    }
    static GPI_DEVICE bool head(Value own, Value before)
    {
        return own != before;
    }
    static GPI_DEVICE uint32_t heads(uint32_t word, uint32_t before)
    {
        return items_set<Key>(word ^ __funnelshift_l(before, word, 8 * sizeof(Key)));
    }
};

/* Grid: any; 256 threads. A warp makes a few words at a time, a ballot for each; the value before
 * an item comes from the lane before. It writes 32 words side by side where there are as many for
 * each warp. After: heads[w] for all w < ceil(n / 32); bits from n on are 0. */
template <class Marks>
__global__ void __launch_bounds__(scan_tuning.heads_threads)
    segment_marks_k(const __grid_constant__ gpi_segment_marks m)
{
    constexpr int threads = scan_tuning.heads_threads;
    const Marks marks = {(decltype(Marks::array))m.array};
    const uint64_t n = item_count(m);
    uint32_t *heads = m.heads;
    grid_release();
    using Value = typename Marks::Value;
    const uint64_t words = (n + 31) / 32, warps = (uint64_t)gridDim.x * (threads / 32);
    const uint64_t warp = ((uint64_t)blockIdx.x * threads + threadIdx.x) / 32;
    const int chunk = words >= warps * 32 ? 32 : rounds;
    for (uint64_t w0 = warp * chunk; w0 < words; w0 += warps * chunk) {
        uint32_t mine = w0 == 0 && lane_id() == 0;
        Value last = w0 ? marks.load(w0 * 32 - 1) : 0; /* before the first item */
        for (int at = 0; at < chunk; at += rounds) {
            const uint64_t first = (w0 + at) * 32 + lane_id();
            Value own[rounds];
#pragma unroll
            for (int r = 0; r < rounds; r++)
                own[r] = first + r * 32 < n ? marks.load(first + r * 32) : 0;
#pragma unroll
            for (int r = 0; r < rounds; r++) {
                const Value left = shuffle_up(own[r], 1);
                const bool head = Marks::head(own[r], lane_id() == 0 ? last : left);
                const uint32_t word = __ballot_sync(all_lanes, head && first + r * 32 < n);
                if (lane_id() == at + r)
                    mine |= word;
                last = shuffle(own[r], 31);
            }
        }
        if (lane_id() < chunk && w0 + lane_id() < words)
            heads[w0 + lane_id()] = mine;
    }
}

/*
 * Items of 1 or 2 bytes at a 16-byte boundary: a vector of them per lane and load. Grid: any; 256
 * threads. After: the bits of the items in whole vectors; of the others by the last thread.
 */
template <class Marks>
__global__ void __launch_bounds__(scan_tuning.heads_threads)
    segment_short_marks_k(const __grid_constant__ gpi_segment_marks m)
{
    constexpr int threads = scan_tuning.heads_threads;
    using Item = typename Marks::Item;
    constexpr int each = 16 / sizeof(Item), per_word = each / 4, loads = 4;
    using Bits = std::conditional_t<each == 16, uint16_t, uint8_t>;
    const Marks marks = {(const Item *)m.array};
    const uint64_t n = item_count(m);
    Bits *to = (Bits *)m.heads;
    grid_release();
    const uint64_t vectors = n / each, all = (uint64_t)gridDim.x * threads;
    const uint64_t thread = (uint64_t)blockIdx.x * threads + threadIdx.x;
    for (uint64_t v0 = thread - lane_id(); v0 < vectors; v0 += loads * all) {
        uint4 own[loads];
        uint32_t before[loads]; /* the word, of lane 0 */
#pragma unroll
        for (int j = 0; j < loads; j++) {
            const uint64_t v = v0 + lane_id() + j * all;
            const uint4 *from = (const uint4 *)m.array + v;
            own[j] = v < vectors ? __ldcs(from) : uint4();
            before[j] = lane_id() == 0 && v > 0 && v < vectors ? ((const uint32_t *)from)[-1] : 0;
        }
#pragma unroll
        for (int j = 0; j < loads; j++) {
            const uint64_t v = v0 + lane_id() + j * all;
            const uint32_t left = shuffle_up(own[j].w, 1);
            uint32_t bits = Marks::heads(own[j].x, lane_id() == 0 ? before[j] : left);
            bits |= Marks::heads(own[j].y, own[j].x) << per_word;
            bits |= Marks::heads(own[j].z, own[j].y) << 2 * per_word;
            bits |= Marks::heads(own[j].w, own[j].z) << 3 * per_word;
            if (v < vectors)
                to[v] = (Bits)(bits | (v == 0));
        }
    }
    if (thread == all - 1 && n % each) {
        uint32_t rest = vectors == 0;
        for (uint64_t i = vectors * each + (vectors == 0); i < n; i++)
            rest |= (uint32_t)Marks::head(marks.load(i), marks.load(i - 1)) << i % each;
        to[vectors] = (Bits)rest;
    }
}

} // namespace GPI_SPACE
