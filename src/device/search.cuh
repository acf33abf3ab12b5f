/* SPDX-License-Identifier: MIT */
/*
 * Binary searches on sorted arrays and on merge paths.
 *
 * The merge path of num_segments segment ends and num_items items takes an item while the current
 * segment has one left, otherwise it passes to the next segment. Before step d it has passed s
 * segments and d - s items; the searches find s. Offsets are read relative to base = offsets[0], in
 * their own width. None of the functions leaves its range, whatever the array holds.
 */
#pragma once

#include <cstdint>

#include "device/space.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

/* offsets[s] - base. */
template <class Offset>
GPI_DEVICE uint64_t offset_at(const Offset *offsets, Offset base, uint64_t s)
{
    return (Offset)(__ldg(offsets + s) - base);
}

/* Whether the path passes the end of segment s before step d, for s < d; true, then false, for
 * rising s. A sum instead of the difference would wrap with offsets near 2^64. */
template <class Offset>
GPI_DEVICE bool passes_before(const Offset *offsets, Offset base, uint64_t s, uint64_t d)
{
    return offset_at(offsets, base, s + 1) < d - s;
}

/* The range in which the segment of step d lies. */
GPI_DEVICE uint64_t merge_path_low(uint64_t num_items, uint64_t d)
{
    return d > num_items ? d - num_items : 0;
}

GPI_DEVICE uint64_t merge_path_high(uint64_t num_segments, uint64_t d)
{
    return d < num_segments ? d : num_segments;
}

/* Segments passed before step d, by one thread, within [low, high]; high is at most d. */
template <class Offset>
GPI_DEVICE uint64_t merge_path_search_range(const Offset *offsets, Offset base, uint64_t low,
                                            uint64_t high, uint64_t d)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (passes_before(offsets, base, middle, d))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Segments passed before step d, by one thread. */
template <class Offset>
GPI_DEVICE uint64_t merge_path_search(const Offset *offsets, Offset base, uint64_t num_segments,
                                      uint64_t num_items, uint64_t d)
{
    return merge_path_search_range(offsets, base, merge_path_low(num_items, d),
                                   merge_path_high(num_segments, d), d);
}

/*
 * Segments passed before step d, by a whole warp, within [low, high], high at most d: every round
 * probes 32 places, so it takes a fifth of the dependent reads. Every lane gets the result.
 */
template <class Offset>
GPI_DEVICE uint64_t merge_path_search_warp(const Offset *offsets, Offset base, uint64_t low,
                                           uint64_t high, uint64_t d)
{
    while (low < high) {
        uint64_t step = (high - low + 31) / 32;
        uint64_t probe = low + (lane_id() + 1) * step - 1;
        bool passed = probe < high && passes_before(offsets, base, probe, d);
        uint32_t probes_passed = __popc(__ballot_sync(all_lanes, passed));
        low += probes_passed * step;
        /* The next probe did not pass, or there was none. */
        high = min(high, low + step - 1);
    }
    return low;
}

/* The first of n places for which below(place) is false; below is true, then false, along them. */
template <class Place, class Below> GPI_DEVICE Place partition_point(Place n, Below below)
{
    Place low = 0, high = n;
    while (low < high) {
        const Place middle = low + (high - low) / 2;
        if (below(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same by a whole warp, as merge_path_search_warp(). Every lane gets the result. */
template <class Place, class Below> GPI_DEVICE Place partition_point_lanes(Place n, Below below)
{
    Place low = 0, high = n;
    while (low < high) {
        const Place step = (high - low + 31) / 32, probe = low + (lane_id() + 1) * step - 1;
        const bool passed = probe < high && below(probe);
        low += __popc(__ballot_sync(all_lanes, passed)) * step;
        high = min(high, low + step - 1);
    }
    return low;
}

/* low and high come nearer to that place, by one round whose probes are powers of two away from a
 * guess between them; by a whole warp. */
template <class Below>
GPI_DEVICE void narrow_near(uint64_t guess, uint64_t &low, uint64_t &high, Below below)
{
    const int lane = lane_id();
    const uint64_t away = 1ull << (lane < 16 ? 15 - lane : lane - 16);
    /* One more than a place, so that the least is the one before all of them. */
    const uint64_t probe = lane >= 16           ? min(guess + away, high + 1)
                           : guess > low + away ? guess - away
                                                : low;
    const bool passed = probe == low || (probe <= high && below(probe - 1));
    const int count = __popc(__ballot_sync(all_lanes, passed));
    const uint64_t left = shuffle(probe, count ? count - 1 : 0), right = shuffle(probe, count % 32);
    low = count ? left : low;
    high = count < 32 ? right - 1 : high;
}

/* partition_point_lanes(), which takes fewer rounds where the result is near a guess. */
template <class Below>
GPI_DEVICE uint64_t partition_point_near(uint64_t n, uint64_t guess, Below below)
{
    uint64_t low = 0, high = n;
    narrow_near(guess, low, high, below);
    return low + partition_point_lanes(high - low, [&](uint64_t i) { return below(low + i); });
}

/* The first of n sorted keys for which below(key) is false, by a whole warp. */
template <class Key, class Below>
GPI_DEVICE uint64_t partition_point_warp(const Key *sorted, uint64_t n, Below below)
{
    return partition_point_lanes(n, [&](uint64_t i) { return below(__ldg(sorted + i)); });
}

} // namespace GPI_SPACE
