/* SPDX-License-Identifier: MIT */
/*
 * Tiles and shares of a segmented reduction, and what passes between them.
 *
 * Items and ends of segments, merged in the order in which a reader meets them, are cut into tiles
 * of equal weight: where a tile begins is found by a search in the offsets. A share is a few tiles
 * that a block takes together. A segment that goes on behind a share leaves its fold so far
 * (Carried); the share that ends it folds what the shares before have left.
 */
#pragma once

#include "device/grid.cuh"
#include "device/lookahead.cuh"
#include "segreduce/segreduce_folds.cuh"

namespace GPI_SPACE
{

/* Of a share, at most; a warp looks for one boundary more at once. */
enum { SEGREDUCE_SHARE_TILES = 15 };

/* Items and segments before a tile. */
struct TileBegin {
    uint64_t item, segment;
};

/* Items and segments of a call, and the first offset. */
struct SegreduceSizes {
    uint64_t n, count, base;

    GPI_DEVICE explicit SegreduceSizes(const SegreduceParams &p)
    {
        count = p.device_count && *p.device_count < p.count ? *p.device_count : p.count;
        n = p.device_n && *p.device_n < p.n ? *p.device_n : p.n;
        n = p.offsets ? n : count * p.row_length;
        base = p.offsets ? offset_at(p, 0) : 0;
    }

    GPI_DEVICE uint64_t weight(const SegreduceParams &p) const
    {
        return (n << p.item_shift) + count * p.end_weight;
    }

    GPI_DEVICE uint32_t tiles(const SegreduceParams &p) const
    {
        return (uint32_t)((weight(p) + p.tile - 1) / p.tile);
    }

    GPI_DEVICE uint32_t shares(const SegreduceParams &p) const
    {
        return (tiles(p) + p.share_tiles - 1) / p.share_tiles;
    }
};

/*
 * How many segments end in the first `weight` of the merged items and ends, not less than low and
 * below high: 1 << lanes_log2 lanes look for one weight, 1 << each_log2 offsets of each lane at
 * once. Within bounds whatever the offsets hold. By a warp.
 */
template <int each_log2>
GPI_DEVICE uint64_t ends_before(const SegreduceParams &p, const SegreduceSizes &sizes,
                                uint64_t weight, int lanes_log2, uint64_t low, uint64_t high)
{
    constexpr int each = 1 << each_log2;
    const uint32_t lane = lane_id() & ((1 << lanes_log2) - 1);
    const bool wide = p.offset_bytes == 8;
    while (__any_sync(all_lanes, high - low > 1)) {
        const uint64_t step = ((high - low) >> (lanes_log2 + each_log2)) + 1;
        const uint64_t first = low + (lane * each + 1) * step;
        const char *at = (const char *)p.offsets + first * p.offset_bytes;
        const uint64_t stride = step * p.offset_bytes, less = step * p.end_weight;
        int64_t left = (int64_t)(weight - first * p.end_weight); /* for items before */
        uint64_t s = first;
        uint32_t offset[each], upper[each], inside = 0, before = 0;
#pragma unroll
        for (int i = 0; i < each; i++, s += step, at += stride) {
            offset[i] = upper[i] = 0;
            if (s < high) {
                inside |= 1u << i;
                offset[i] = __ldg((const uint32_t *)at);
                upper[i] = wide ? __ldg((const uint32_t *)at + 1) : 0;
            }
        }
#pragma unroll
        for (int i = 0; i < each; i++, left -= less) {
            const uint64_t x = (uint64_t)upper[i] << 32 | offset[i];
            const int64_t items = (int64_t)(offset_from(p, x, sizes.base) << p.item_shift);
            before += (inside >> i & 1) && left >= items;
        }
        for (int d = (1 << lanes_log2) / 2; d; d >>= 1)
            before += __shfl_xor_sync(all_lanes, before, d);
        low += before * step;
        high = high - low > step ? low + step : high;
    }
    return low;
}

/* Where the merged items and ends are cut by `upto`; segments: see ends_before(). By a warp. */
template <int each_log2>
GPI_DEVICE TileBegin tile_begin(const SegreduceParams &p, const SegreduceSizes &sizes,
                                uint64_t upto, int lanes_log2, uint64_t low, uint64_t high)
{
    const uint64_t all = sizes.weight(p), weight = upto < all ? upto : all;
    const uint64_t row = (p.row_length << p.item_shift) + p.end_weight;
    uint64_t s, i;
    if (p.offsets)
        s = ends_before<each_log2>(p, sizes, weight, lanes_log2, low, high);
    else
        s = weight / row;
    if (weight == 0)
        s = 0; /* whatever the offsets hold, for all of them to be looked at */
    i = (weight - s * p.end_weight) >> p.item_shift;
    if (weight == all)
        s = sizes.count, i = sizes.n;
    if (s < sizes.count) {
        const uint64_t end =
            p.offsets ? offset_from(p, offset_at(p, s + 1), sizes.base) : (s + 1) * p.row_length;
        i = end < i ? end : i;
    }
    return {i < sizes.n ? i : sizes.n, s};
}

/* Where the tiles of a share begin, and its last one ends: begins[0 .. tiles]. By a warp. */
static __device__ __noinline__ void share_begins(const SegreduceParams &p,
                                                 const SegreduceSizes &sizes, uint32_t share,
                                                 TileBegin *begins)
{
    const int lanes_log2 = 5 - __popc(p.share_tiles); /* 1, 3, 7 or 15 tiles */
    const uint64_t at = lane_id() >> lanes_log2, first = (uint64_t)share * p.share_tiles;
    uint64_t low = 0, high = sizes.count + 1;
    if (p.shares) { /* whatever the offsets hold, a share begins where the one before ends */
        grid_wait();
        low = p.shares[at < p.share_tiles ? share : share + 1];
        high = at == 0 || at == p.share_tiles ? low : p.shares[share + 1];
        high = high > low ? high + 1 : low + 1;
    }
    const TileBegin begin = tile_begin<3>(p, sizes, (first + at) * p.tile, lanes_log2, low, high);
    if ((lane_id() & ((1 << lanes_log2) - 1)) == 0)
        begins[at] = begin;
}

/* The fold of a range of items, from the last end of a segment on. */
template <class A> struct Carried {
    A value;
    uint32_t ended; /* a segment has */
};

template <class Fold> struct CarriedFold {
    static constexpr bool warp_reduces = false;
    using A = typename Fold::Far;
    const Fold &fold;

    GPI_DEVICE Carried<A> identity() const
    {
        return {fold.far(fold.identity(), 0), 0};
    }
    GPI_DEVICE Carried<A> apply(const Carried<A> &l, const Carried<A> &r) const
    {
        const A both = fold.apply(l.value, r.value);
        return {r.ended ? r.value : both, l.ended | r.ended};
    }
};

/* Report where offsets fall, seen at segment s, or what else is wrong with them. Not inlined, for
 * the loops around to stay as they are. */
static __device__ __noinline__ void segreduce_report(const gpi_reporter &reporter, gpi_rule rule,
                                                     uint64_t index, uint64_t value, uint64_t bound)
{
    report(reporter, rule, index, value, bound);
}

GPI_DEVICE uint64_t offset_sign(const SegreduceParams &p)
{
    const bool is_signed = p.reporter.source.dtype == GP_I32 || p.reporter.source.dtype == GP_I64;
    return is_signed ? 1ull << (8 * p.offset_bytes - 1) : 0;
}

/* The first offset is not negative and the last one is where the items end. By one thread. */
static __device__ __noinline__ void ends_check(const SegreduceParams &p,
                                               const SegreduceSizes &sizes)
{
    const uint64_t last = offset_at(p, sizes.count);
    const uint64_t past = offset_from(p, sizes.base + sizes.n, 0);
    if (last != past)
        segreduce_report(p.reporter, GPI_RULE_LAST, sizes.count, last, past);
    if (sizes.base & offset_sign(p))
        segreduce_report(p.reporter, GPI_RULE_NEGATIVE, 0, sizes.base, 0);
}

/* Which of segments [first, end) begin behind their end. By a thread. */
static __device__ __noinline__ void falls_check(const SegreduceParams &p, uint64_t first,
                                                uint64_t end)
{
    const uint64_t bias = offset_sign(p);
    for (uint64_t s = first; p.offsets && s < end; s++) {
        const uint64_t before = offset_at(p, s), x = offset_at(p, s + 1);
        if ((before ^ bias) > (x ^ bias))
            segreduce_report(p.reporter, GPI_RULE_FALLS, s + 1, x, before);
    }
}

} // namespace GPI_SPACE
