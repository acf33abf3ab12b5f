/* SPDX-License-Identifier: MIT */
/*
 * Walks along the merge path of segments and items, a tile per block at a time: a number of steps
 * of the path, so at most that many items and segments together.
 */
#pragma once

extern "C" {
#include "balance/balance_internal.h"
}
#include "device/item_count.cuh"
#include "device/search.cuh"
#include "device/warp.cuh"
#include "device/report.cuh"
#include "tuning/balance_tuning.cuh"

namespace GPI_SPACE::balance
{

constexpr int workers = balance_tuning.workers, warps = workers / 32;
constexpr int threads = workers + 32; /* the last warp scouts: it finds where the next tile ends */

/* What all tiles of a launch share. */
template <class Offset> struct segments {
    const Offset *offsets;
    Offset base; /* offsets[0] */
    uint64_t num_segments;
    uint64_t num_items;

    GPI_DEVICE segments(const Offset *array, uint64_t count, Offset first)
        : offsets(array), base(first), num_segments(count)
    {
    }

    GPI_DEVICE segments(const Offset *array, uint64_t count) : segments(array, count, __ldg(array))
    {
    }

    GPI_DEVICE uint64_t at(uint64_t s) const
    {
        return offset_at(offsets, base, s);
    }

    GPI_DEVICE uint64_t total() const
    {
        return at(num_segments);
    }
};

/* How much a launch has to walk. A kernel may have two forms: with COUNTED a number is in memory.
 * Without, sizes stay arguments, which take no registers. */
struct walk_size {
    uint64_t num_segments, limit;
    const uint64_t *device_num_segments, *device_limit; /* NULL, or those are bounds */
    bool may_cover_less;                                /* no error: fewer than limit items */
    uint64_t tiles_per_block;

    /* Whether the host could not know it. */
    __host__ __device__ bool is_counted() const
    {
        return device_num_segments || device_limit;
    }

    GPI_DEVICE void take_counts()
    {
        num_segments = item_count(ItemCount{num_segments, device_num_segments});
        limit = item_count(ItemCount{limit, device_limit});
    }

    /* The tiles of as many steps, for as many blocks as there are. */
    GPI_DEVICE void cut(uint64_t steps, uint32_t units)
    {
        const uint64_t tiles = (steps + units - 1) / units;
        tiles_per_block = (tiles + gridDim.x - 1) / gridDim.x;
    }
};

/* What is found of the path. */
struct path_ends {
    uint64_t first;             /* segment where the block's first tile begins */
    uint64_t ends[2];           /* segments where tiles end, in turn */
    uint32_t passed[warps + 1]; /* of a window, by warp */
};

/* From segment s0 and item i0 up to segment s1 and item i1. */
struct tile {
    uint64_t s0, s1, i0, i1;
    uint32_t pad; /* places before i0, up to a boundary of the output's vectors */
};

/* A barrier of the workers: the scout may still be searching. */
GPI_DEVICE void workers_sync()
{
    asm volatile("bar.sync 1, %0;" ::"n"(workers) : "memory");
}

/* Segments passed before step d within [low, high], high at most d, by a whole warp, as
 * merge_path_search_warp(), with PROBES neighbouring ones of a lane: with 4 of them two rounds find
 * where a tile ends. */
template <int PROBES, class Offset>
GPI_DEVICE uint64_t path_search(const segments<Offset> &g, uint64_t low, uint64_t high, uint64_t d)
{
    constexpr uint32_t each = PROBES;
    while (low < high) {
        const uint64_t step = (high - low + 32 * each - 1) / (32 * each);
        const uint64_t first = low + (lane_id() * each + 1) * step - 1;
        uint64_t ends[each];
        uint32_t passed = 0;
#pragma unroll
        for (uint32_t k = 0; k < each; k++)
            ends[k] = g.at(min(first + k * step, high - 1) + 1);
#pragma unroll
        for (uint32_t k = 0; k < each; k++)
            passed += first + k * step < high && ends[k] < d - (first + k * step);
        low += warp_sum(passed) * step;
        /* The next probe did not pass, or there was none. */
        high = min(high, low + step - 1);
    }
    return low;
}

/* The same by a function that the kernels of a unit share. */
template <int PROBES, class Offset>
static __device__ __noinline__ uint64_t path_search_called(const Offset *offsets, Offset base,
                                                           uint64_t low, uint64_t high, uint64_t d)
{
    return path_search<PROBES>(segments<Offset>(offsets, 0, base), low, high, d);
}

/*
 * Where a tile of up to units steps ends that begins at segment s0 and step d0. The range keeps the
 * tile within units items and units segments even if the offsets do not ascend.
 */
template <int PROBES, bool CALLED, class Offset>
GPI_DEVICE uint64_t tile_end(const segments<Offset> &g, uint64_t s0, uint64_t d0, uint64_t d1)
{
    const uint64_t high = min(g.num_segments, s0 + (d1 - d0));
    const uint64_t low = max(s0, merge_path_low(g.num_items, d1));
    if constexpr (CALLED)
        return path_search_called<PROBES>(g.offsets, g.base, low, high, d1);
    else
        return path_search<PROBES>(g, low, high, d1);
}

/* Fetch into the L2 cache what stage_heads() will read of segments s0 to s1, by one warp. */
template <class Offset>
GPI_DEVICE void prefetch_offsets(const segments<Offset> &g, uint64_t s0, uint64_t s1)
{
    constexpr uint64_t line = 128 / sizeof(Offset);
#pragma unroll 1
    for (uint64_t s = s0 + lane_id() * line; s <= s1; s += 32 * line)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(g.offsets + s));
}

/* Fetch into the L2 cache what lies between two places, by one warp. */
GPI_DEVICE void prefetch_values(const char *in, uint64_t begin, uint64_t end)
{
#pragma unroll 1
    for (uint64_t at = begin + lane_id() * 128; at < end; at += 32 * 128)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(in + at));
}

/* Segments that the path has passed before a tile, and before its end. */
struct path_range {
    uint64_t s0, s1;
};

/* The range of few steps, if segments are even. */
GPI_DEVICE path_range even_range(uint64_t num_segments, uint64_t num_items, uint64_t d0,
                                 uint64_t d1)
{
    const uint32_t count = (uint32_t)num_segments;
    const float each = __fdividef((float)count, (float)(count + (uint32_t)num_items));
    return {min((uint32_t)((float)(uint32_t)d0 * each), count),
            min((uint32_t)((float)(uint32_t)d1 * each), count)};
}

/* Segments around those of an even range, by all threads of the block: if the range is among them,
 * one trip to memory finds it. Steps are few. */
template <class Offset> struct even_window {
    static constexpr uint32_t each = 4, size = threads * each, most_items = 1 << 30;
    static_assert(size < 1 << 16, "two counts in a word");
    uint32_t low, count; /* of all segments */
    Offset end[each];

    GPI_DEVICE even_window(const Offset *offsets, uint64_t num_segments, path_range even)
        : count((uint32_t)num_segments)
    {
        const uint32_t first = (uint32_t)even.s0, share = (uint32_t)even.s1 - first;
        const uint32_t back = share < size ? (size - share) / 2 : 0;
        low = first > back ? first - back : 0;
        const Offset *from = offsets + low;
        const uint32_t last = min(count - low, size);
#pragma unroll
        for (uint32_t k = 0; k < each; k++)
            end[k] = __ldg(from + min(k * threads + threadIdx.x + 1, last));
    }

    /* Whether it has the range of steps d0 to d1. Counts are right if offsets ascend. */
    GPI_DEVICE bool find(Offset base, uint64_t d0, uint64_t d1, uint32_t (&of_warps)[warps + 1],
                         path_range &found) const
    {
        const int left0 = (int)((uint32_t)d0 - low - threadIdx.x);
        const int left1 = (int)((uint32_t)d1 - low - threadIdx.x);
        uint32_t passed = 0;
#pragma unroll
        for (uint32_t k = 0; k < each; k++) {
            const int items = (int)min((Offset)(end[k] - base), (Offset)most_items) + k * threads;
            passed += (items < left0 ? 1 : 0) + (items < left1 ? 1 << 16 : 0);
        }
        passed = warp_sum(passed);
        if (lane_id() == 0)
            of_warps[threadIdx.x / 32] = passed;
        __syncthreads();
        const uint32_t all = warp_sum(lane_id() <= warps ? of_warps[lane_id()] : 0);
        const uint32_t before = all & 0xffff, behind = all >> 16;
        found = {low + before, low + behind};
        return (before > 0 || low == 0) && (behind < size || low + size >= count);
    }
};

/*
 * The range of the block's first tile, by all threads. Both ends are looked for at once, and
 * num_items may be a bound: a place among the items that there are does not depend on it. near:
 * steps are few, and the range may lie near the even one. CALLED: a search is a function.
 */
template <bool CALLED, class Offset>
GPI_DEVICE path_range find_first(const Offset *offsets, uint64_t num_segments, uint64_t num_items,
                                 uint64_t d0, uint64_t d1, bool near, path_range even, path_ends &s)
{
    const uint32_t warp = threadIdx.x / 32;
    path_range found;
    if (near) {
        const even_window<Offset> window(offsets, num_segments, even);
        if (window.find(__ldg(offsets), d0, d1, s.passed, found))
            return found;
    }
    if (warp < 2) {
        const uint64_t d = warp ? d1 : d0;
        const uint64_t low = merge_path_low(num_items, d), high = merge_path_high(num_segments, d);
        uint64_t end;
        if constexpr (CALLED)
            end = path_search_called<4>(offsets, __ldg(offsets), low, high, d);
        else
            end = path_search<4>(segments<Offset>(offsets, num_segments), low, high, d);
        *(warp ? &s.ends[1] : &s.first) = end;
    }
    __syncthreads();
    return {s.first, s.ends[1]};
}

template <class Offset>
static __device__ __noinline__ path_range find_first_called(const Offset *offsets,
                                                            uint64_t num_segments,
                                                            uint64_t num_items, uint64_t d0,
                                                            uint64_t d1, bool near, path_range even,
                                                            path_ends &s)
{
    return find_first<false>(offsets, num_segments, num_items, d0, d1, near, even, s);
}

/* The same by a function as a WHOLE, or by one that searches. */
template <bool WHOLE, class Offset>
GPI_DEVICE path_range find_range(const Offset *offsets, uint64_t num_segments, uint64_t num_items,
                                 uint64_t d0, uint64_t d1, bool near, path_range even, path_ends &s)
{
    if constexpr (WHOLE)
        return find_first_called(offsets, num_segments, num_items, d0, d1, near, even, s);
    else
        return find_first<true>(offsets, num_segments, num_items, d0, d1, near, even, s);
}

/* Make a range one within the tile and the output, whatever the offsets are. */
template <class Offset>
GPI_DEVICE void hold_within(const segments<Offset> &g, uint64_t d0, uint64_t d1, uint64_t &s0,
                            uint64_t &s1)
{
    s0 = min(max(s0, merge_path_low(g.num_items, d0)), merge_path_high(g.num_segments, d0));
    s1 = max(max(s0, s1), merge_path_low(g.num_items, d1));
    s1 = min(s1, min(s0 + (d1 - d0), g.num_segments));
}

/*
 * Take this block's tiles, one after another: work(g, s0, s1, d0, d1), from segment s0 and step d0
 * of the path up to s1 and d1, is the part of the workers. While they are at a tile, the scout
 * finds where the next one ends, and calls ahead(s1, s2) for its segments. One thread of the launch
 * calls check(num_segments, limit, total): the segments, the items that may be, and those that the
 * offsets cover. WHOLE: what finds the first tile is a function; otherwise searches with several
 * probes are (balance-18).
 */
template <int PROBES, bool WHOLE, class Offset, class Check, class Ahead, class Work>
GPI_DEVICE void walk_path(const Offset *offsets, walk_size size, uint32_t units, path_ends &s,
                          Check check, Ahead ahead, Work work)
{
    constexpr bool called = !WHOLE && PROBES > 1;
    const bool scout = threadIdx.x >= workers;
    size.take_counts();
    uint64_t bound = size.limit; /* of items, where the host knows it: offsets are on their way */
    if (size.is_counted()) {
        bound = min(bound, segments<Offset>(offsets, size.num_segments).total());
        size.cut(size.num_segments + bound, units);
    }
    uint64_t d0 = min(blockIdx.x * size.tiles_per_block * units, size.num_segments + bound);
    uint64_t d1 = min(d0 + units, size.num_segments + bound);
    /* Of fewer segments than a window has a search takes two rounds at most, of one warp. */
    const bool near = size.tiles_per_block == 1 && size.num_segments > even_window<Offset>::size;
    path_range even = {};
    if (near) {
        even = even_range(size.num_segments, bound, d0, d1);
        if (scout)
            ahead(even.s0, even.s1);
    }
    auto [s0, s1] = find_range<WHOLE>(offsets, size.num_segments, bound, d0, d1, near, even, s);
    segments<Offset> g(offsets, size.num_segments);
    const uint64_t total = g.total();
    if (scout && blockIdx.x == 0 && lane_id() == 0)
        check(g.num_segments, size.limit, total);
    g.num_items = min(bound, total);
    const uint64_t steps = g.num_segments + g.num_items;
    if (d0 >= steps || g.num_items == 0)
        return;
    if (d1 > steps)
        d1 = steps, s1 = g.num_segments;
    hold_within(g, d0, d1, s0, s1);
    /* Where the block's part of the path ends. */
    const uint64_t stop = min(d0 + size.tiles_per_block * units, steps);
    for (uint32_t n = 0;; n ^= 1) {
        const bool more = d1 < stop;
        const uint64_t d2 = min(d1 + units, stop);
        if (!scout) {
            work(g, s0, s1, d0, d1);
        } else if (more) {
            const uint64_t s2 = tile_end<PROBES, called>(g, s1, d1, d2);
            s.ends[n] = s2;
            prefetch_offsets(g, s1, s2);
            ahead(s1, s2);
        }
        if (!more)
            return;
        /* The workers are done with the stage, the scout with ends[n]; the other one is free. */
        __syncthreads();
        s0 = s1;
        s1 = s.ends[n];
        d0 = d1;
        d1 = d2;
    }
}

} // namespace GPI_SPACE::balance
