/* SPDX-License-Identifier: MIT */
/*
 * Shares of a segmented reduction, and what passes between them.
 *
 * Items and ends of segments, merged in the order in which a reader meets them, are cut into shares
 * of equal weight: where a share begins is found by a search in the offsets. A segment that goes on
 * behind a share leaves its fold so far (Carried); the share that ends it folds what the shares
 * before have left.
 */
#pragma once

#include "device/lookahead.cuh"
#include "segreduce/segreduce_folds.cuh"

namespace GPI_SPACE
{

/* Items [item, item + items), segments [segment, segment + ends). */
struct ShareSpan {
    uint64_t item, segment;
    uint32_t items, ends;
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

    GPI_DEVICE uint32_t shares(const SegreduceParams &p) const
    {
        return (uint32_t)((weight(p) + p.share - 1) / p.share);
    }
};

/*
 * How many segments end in the first `weight` of the merged items and ends: half a warp looks for
 * one weight, 4 offsets of each lane at once. Within bounds whatever the offsets hold.
 */
GPI_DEVICE uint64_t ends_before(const SegreduceParams &p, const SegreduceSizes &sizes,
                                uint64_t weight)
{
    constexpr int each = 4, probes = 16 * each;
    uint64_t low = 0, high = sizes.count + 1; /* low ends before, high does not */
    while (__any_sync(all_lanes, high - low > 1)) {
        const uint64_t step = (high - low + probes) / (probes + 1);
        uint32_t before = 0;
#pragma unroll
        for (int i = 0; i < each; i++) {
            const uint64_t s = low + ((lane_id() & 15) * each + i + 1) * step;
            if (s < high)
                before += (offset_from(p, offset_at(p, s), sizes.base) << p.item_shift) +
                              s * p.end_weight <=
                          weight;
        }
#pragma unroll
        for (int d = 8; d; d >>= 1)
            before += __shfl_xor_sync(all_lanes, before, d);
        low += before * step;
        high = high - low > step ? low + step : high;
    }
    return low;
}

/* By a warp. Not inlined: all folds of a unit have it in common. */
static __device__ __noinline__ ShareSpan share_span(const SegreduceParams &p,
                                                    const SegreduceSizes &sizes, uint32_t share)
{
    const uint64_t all = sizes.weight(p), from = share * p.share;
    const uint64_t to = all - from > p.share ? from + p.share : all;
    const uint64_t weight = lane_id() < 16 ? from : to;
    const uint64_t row = (p.row_length << p.item_shift) + p.end_weight;
    uint64_t s, i;
    if (p.offsets)
        s = ends_before(p, sizes, weight);
    else
        s = weight / row;
    i = (weight - s * p.end_weight) >> p.item_shift;
    if (weight == all)
        s = sizes.count, i = sizes.n;
    if (s < sizes.count) {
        const uint64_t end =
            p.offsets ? offset_from(p, offset_at(p, s + 1), sizes.base) : (s + 1) * p.row_length;
        i = end < i ? end : i;
    }
    i = i < sizes.n ? i : sizes.n;
    const uint64_t item = shuffle(i, 0), segment = shuffle(s, 0);
    const uint64_t items = shuffle(i, 16) - item, ends = shuffle(s, 16) - segment;
    /* no more items than there can be, where offsets fall; every segment is in some share */
    const uint64_t most = ((p.share + p.end_weight) >> p.item_shift) + 1, ends_max = ~0u - 1;
    return {item, segment,
            (uint32_t)((int64_t)items < 0 ? 0
                       : items < most     ? items
                                          : most),
            (uint32_t)((int64_t)ends < 0 ? 0
                       : ends < ends_max ? ends
                                         : ends_max)};
}

/* The fold of a range of items, from the last end of a segment on. */
template <class A> struct Carried {
    A value;
    uint32_t ended; /* a segment has */
};

template <class Fold> struct CarriedFold {
    static constexpr bool warp_reduces = false;
    using A = typename Fold::A;
    const Fold &fold;

    GPI_DEVICE Carried<A> identity() const
    {
        return {fold.identity(), 0};
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

} // namespace GPI_SPACE
