/* SPDX-License-Identifier: MIT */
/* What a split by a digit is told, and the groups of threads that do it. */
#pragma once

#include "radixsort/radixsort_plan.cuh"

namespace GPI_SPACE
{

template <class T, int N> struct SharedArray {
    T item[N];
    GPI_DEVICE T &operator[](uint32_t i)
    {
        return item[i];
    }
    GPI_DEVICE T operator[](uint32_t i) const
    {
        return item[i];
    }
};
template <class T> struct SharedArray<T, 0> {
};

/* Global to shared memory without a stop in registers, until copy_async_wait(). */
template <class V> GPI_DEVICE void copy_async(V *to, const V *from)
{
#if GPI_SM >= 80
    if constexpr (sizeof(V) >= 4) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from), "n"(sizeof(V))
                     : "memory");
        return;
    }
#endif
    *to = *from;
}

GPI_DEVICE void copy_async_wait()
{
#if GPI_SM >= 80
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* T threads of a block with a barrier of their own. */
template <int T> struct Group {
    static constexpr int threads = T;

    static GPI_DEVICE int thread()
    {
        return (int)threadIdx.x % T;
    }

    static GPI_DEVICE int number()
    {
        return (int)threadIdx.x / T;
    }

    /* Barriers by constant numbers, which checkers can follow. */
    static GPI_DEVICE void sync()
    {
        if (number() == 0)
            asm volatile("bar.sync 1, %0;" ::"n"(T) : "memory");
        else
            asm volatile("bar.sync 2, %0;" ::"n"(T) : "memory");
    }

    template <int BARRIER> static GPI_DEVICE bool any_of(bool mine)
    {
        uint32_t some;
        asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;"
                     " bar.red.or.pred q, %2, %3, p; selp.u32 %0, 1, 0, q; }"
                     : "=r"(some)
                     : "r"((uint32_t)mine), "n"(BARRIER), "n"(T)
                     : "memory");
        return some;
    }

    static GPI_DEVICE bool any(bool mine)
    {
        return number() == 0 ? any_of<1>(mine) : any_of<2>(mine);
    }
};

/* How many rows of a tile are written at once. */
template <int COUNT> struct Rows {
    static constexpr int count = COUNT;
};

/* The lanes that have the digit of this one. */
GPI_DEVICE uint32_t lanes_with(uint32_t d)
{
    uint32_t peers = all_lanes;
    for (int b = 0; b < radix_bits; b++) {
        const uint32_t set = __ballot_sync(all_lanes, d >> b & 1);
        peers &= d >> b & 1 ? set : ~set;
    }
    return peers;
}

/* Whether rows of a warp rise, item after item. wrap: the item before lane 0's first. */
template <int ROWS> GPI_DEVICE bool rising(const uint32_t (&mine)[ROWS], bool valid, uint32_t &wrap)
{
    bool ordered = true;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t left = __shfl_sync(all_lanes, mine[i], (lane_id() + 31) & 31);
        const uint32_t before = lane_id() == 0 ? wrap : left;
        wrap = left;
        ordered = ordered && (before <= mine[i] || !valid);
    }
    return ordered;
}

/* What one split does. */
struct Split {
    uint32_t from, to; /* enum gpi_radix_place */
    int shift, bits;   /* its digit */
    uint32_t *ticket;
    bool leave_keys;        /* the last one need not write them */
    bool segmented;         /* each segment of the plan by itself, its bins in the buckets */
    const uint64_t *starts; /* of the bins, */
    const uint32_t *segment_starts; /* or of the buckets, 2^below to a bin */
    int below;
    uint32_t *cursors;        /* if not stable */
    uint64_t *states, *clear; /* if stable; what the next split needs cleared */
    uint64_t clear_rows;
};

/* A tile of a pass: which items it has. */
struct Span {
    uint64_t first;
    int count;
};

} // namespace GPI_SPACE
