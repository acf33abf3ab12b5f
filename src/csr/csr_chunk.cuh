/* SPDX-License-Identifier: MIT */
/* The products of a chunk of entries of SpMV, summed by a warp. */
#pragma once

#include "device/ops.cuh"
#include "device/raw.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

/* A chunk of a tile's products, and where rows end in it. A lane has K consecutive items; 16 bytes
 * between groups of 128 keep lanes that read theirs out of each other's banks. */
template <class A> struct SpmvChunk {
    static constexpr int K = 8, items = 32 * K;
    static constexpr int group = 128 / (int)sizeof(A), gap = 16 / (int)sizeof(A);
    alignas(16) A sums[items / group * (group + gap)];
    alignas(16) uint8_t ends[items];

    static GPI_DEVICE uint32_t place(uint32_t i)
    {
        return i + i / group * gap;
    }

    /* Items k * 32 + lane lie this far apart, whatever k is. */
    static constexpr int stride = 32 + 32 / group * gap;

    GPI_DEVICE A &at(uint32_t i)
    {
        return sums[place(i)];
    }

    /* Bit k: a row ends with item k of the lane. */
    GPI_DEVICE uint32_t lane_ends() const
    {
        const uint2 bytes = ((const uint2 *)ends)[lane_id()];
        return (bytes.x * 0x01020408u) >> 24 | (bytes.y * 0x01020408u) >> 24 << 4;
    }

    /* Products become the sums from row end to row end, where rows end; carry comes into the first
     * row, and becomes the sum behind the last end. */
    GPI_DEVICE void sum_rows(A &carry)
    {
        const int lane = lane_id();
        const uint32_t own = lane_ends(), first = place(lane * K);
        const Raw<K * sizeof(A)> raw =
            raw_load_aligned<K * sizeof(A)>((const char *)(sums + first));
        A sum = 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            sum += raw_get<A>(raw, k);
            if (own >> k & 1) {
                sums[first + k] = sum;
                sum = 0;
            }
        }
        const uint32_t with = __ballot_sync(all_lanes, own != 0);
        const uint32_t reached = with & ((2u << lane) - 1);
        const A upto = warp_scan_within<Sum<A>>(sum, reached ? lane - 31 + __clz(reached) : lane);
        A before = shuffle_up(upto, 1);
        before = lane == 0 ? 0 : before;
        if (own) {
            const bool leads = (with & ((1u << lane) - 1)) == 0;
            sums[first + __ffs(own) - 1] += leads ? carry + before : before;
        }
        const A last = shuffle(upto, 31);
        carry = with ? last : carry + last;
    }
};

} // namespace GPI_SPACE
