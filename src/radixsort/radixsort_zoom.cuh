/* SPDX-License-Identifier: MIT */
/*
 * The cells of a segment: equal ranges of words between the lowest and the highest one of a sample,
 * so that they lie where the segment's keys are. What the sample has missed goes to the first and
 * the last cell. Where few words of the sample would take much of the range they are left out: of a
 * segment in which nearly all keys are equal a cell is that word. The cell's number rises with the
 * word for any sample, so a bad one costs time and never order.
 */
#pragma once

#include "radixsort/radixsort_key_codec.cuh"

namespace GPI_SPACE
{

template <class K> struct Zoom {
    K low; /* what is below is in the first cell */
    uint32_t shift, last;

    static GPI_DEVICE Zoom of(const gpi_radix_segment &s)
    {
        return {(K)s.low, s.shift, s.cells - 1};
    }

    GPI_DEVICE uint32_t operator()(K word) const
    {
        const K above = (K)(word > low ? word - low : (K)0) >> shift;
        return above < (K)last ? (uint32_t)above : last;
    }

    /* The lowest and the highest word of a cell of a segment. */
    static GPI_DEVICE uint64_t lowest(const gpi_radix_segment &s, uint32_t cell)
    {
        return cell == 0 ? s.base : s.low + ((uint64_t)cell << s.shift);
    }

    static GPI_DEVICE uint64_t highest(const gpi_radix_segment &s, uint32_t cell)
    {
        return cell + 1 == s.cells ? s.end : s.low + ((uint64_t)(cell + 1) << s.shift) - 1;
    }
};

/* Lane i gets the i-th smallest of a warp's words (Batcher's bitonic sort). */
template <class K> GPI_DEVICE K warp_sorted(K word)
{
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int apart = size / 2; apart; apart /= 2) {
            const K other = __shfl_xor_sync(all_lanes, word, apart);
            const bool upper = lane_id() & apart, falls = lane_id() & size;
            word = (word < other) == (upper == falls) ? word : other;
        }
    return word;
}

constexpr int zoom_sample = 256;

/* By a warp: the range of the cells; word(i) is word i of the sample. */
template <class K, class F> GPI_DEVICE void learn_range(F word, K &low, K &high)
{
    constexpr int each = zoom_sample / 32;
    constexpr int left_out = 4; /* of 32 times each words, on both sides */
    low = high = word(lane_id());
#pragma unroll
    for (int i = 1; i < each; i++) {
        const K next = word(lane_id() + 32 * i);
        low = next < low ? next : low;
        high = next > high ? next : high;
    }
    low = warp_sorted(low);
    high = warp_sorted(high);
    const K lowest = __shfl_sync(all_lanes, low, 0), highest = __shfl_sync(all_lanes, high, 31);
    const K inner_low = __shfl_sync(all_lanes, low, left_out);
    const K inner_high = __shfl_sync(all_lanes, high, 31 - left_out);
    const bool narrow =
        inner_low <= inner_high && (K)(inner_high - inner_low) < (K)(highest - lowest) / 16;
    low = narrow ? inner_low : lowest;
    high = narrow ? inner_high : highest;
    /* One word more on both sides: the outermost cells are not the sample's. */
    low -= low > 0;
    high += high < (K) ~(K)0;
}

/* Cells of 2^shift words each; most: of them. */
template <class K> GPI_DEVICE void set_cells(gpi_radix_segment &to, K low, K high, uint32_t most)
{
    const K range = (K)(high - low);
    const int bits = 64 - __clzll((long long)(uint64_t)range), fit = 31 - __clz((int)most);
    to.low = low;
    to.shift = bits > fit ? bits - fit : 0;
    to.cells = (uint32_t)(range >> to.shift) + 1;
}

} // namespace GPI_SPACE
