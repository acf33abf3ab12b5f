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

    GPI_DEVICE segments(const Offset *array, uint64_t count)
        : offsets(array), base(__ldg(array)), num_segments(count)
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

/* How much a launch has to walk. Kernels have two forms: with COUNTED a number is in memory.
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

/* What the scout finds. */
struct path_ends {
    uint64_t first;   /* segment where the block's first tile begins */
    uint64_t ends[2]; /* segments where tiles end, in turn */
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

/*
 * Where a tile of up to units steps ends that begins at segment s0 and step d0. The range keeps the
 * tile within units items and units segments even if the offsets do not ascend.
 */
template <int PROBES, class Offset>
GPI_DEVICE uint64_t tile_end(const segments<Offset> &g, uint64_t s0, uint64_t d0, uint64_t d1)
{
    const uint64_t high = min(g.num_segments, s0 + (d1 - d0));
    const uint64_t low = max(s0, merge_path_low(g.num_items, d1));
    return path_search<PROBES>(g, low, high, d1);
}

/* Fetch into the L2 cache what stage_heads() will read of segments s0 to s1, by one warp. */
template <class Offset>
GPI_DEVICE void prefetch_offsets(const segments<Offset> &g, uint64_t s0, uint64_t s1)
{
    constexpr uint64_t line = 128 / sizeof(Offset);
    for (uint64_t s = s0 + lane_id() * line; s <= s1; s += 32 * line)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(g.offsets + s));
}

/* Fetch into the L2 cache what lies between two places, by one warp. */
GPI_DEVICE void prefetch_values(const char *in, uint64_t begin, uint64_t end)
{
    for (uint64_t at = begin + lane_id() * 128; at < end; at += 32 * 128)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(in + at));
}

/* Find where the first tile of the block begins and ends, by one warp. */
template <int PROBES, class Offset>
GPI_DEVICE void scout_first(const segments<Offset> &g, uint64_t d0, uint64_t d1, path_ends &s)
{
    const uint64_t first = path_search<PROBES>(g, merge_path_low(g.num_items, d0),
                                               merge_path_high(g.num_segments, d0), d0);
    s.first = first;
    s.ends[1] = tile_end<PROBES>(g, first, d0, d1);
}

/*
 * Take this block's tiles, one after another: work(s0, s1, d0, d1), from segment s0 and step d0 of
 * the path up to s1 and d1, is the part of the workers. While they are at a tile, the scout finds
 * where the next one ends, and calls ahead(s1, s2) for its segments.
 */
template <int PROBES, class Offset, class Ahead, class Work>
GPI_DEVICE void walk_path(const segments<Offset> &g, uint32_t units, uint64_t tiles_per_block,
                          path_ends &s, Ahead ahead, Work work)
{
    const uint64_t steps = g.num_segments + g.num_items;
    const bool scout = threadIdx.x >= workers;
    uint64_t d0 = blockIdx.x * tiles_per_block * units;
    if (d0 >= steps || g.num_items == 0)
        return;
    uint64_t d1 = min(d0 + units, steps);
    if (scout)
        scout_first<PROBES>(g, d0, d1, s);
    __syncthreads();
    uint64_t s0 = s.first, s1 = s.ends[1];
    for (uint64_t n = 0;; n++) {
        const bool more = n + 1 < tiles_per_block && d1 < steps;
        const uint64_t d2 = min(d1 + units, steps);
        if (!scout) {
            work(s0, s1, d0, d1);
        } else if (more) {
            const uint64_t s2 = tile_end<PROBES>(g, s1, d1, d2);
            s.ends[n & 1] = s2;
            prefetch_offsets(g, s1, s2);
            ahead(s1, s2);
        }
        if (!more)
            return;
        /* The workers are done with the stage, the scout with ends[n & 1];
         * ends[(n + 1) & 1] is free. */
        __syncthreads();
        s0 = s1;
        s1 = s.ends[n & 1];
        d0 = d1;
        d1 = d2;
    }
}

} // namespace GPI_SPACE::balance
