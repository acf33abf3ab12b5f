/* SPDX-License-Identifier: MIT */
/*
 * Exclusive sums of counts over the threads of a block or of a group in it: a scan of each warp,
 * then the sums of the warps before, which lie in shared memory. By integer additions alone; sums
 * by any operator, in a fixed order, are in block.cuh.
 */
#pragma once

#include "device/warp.cuh"

namespace GPI_SPACE
{

/* All threads of a block, as a group. */
struct WholeBlock {
    static GPI_DEVICE int thread()
    {
        return (int)threadIdx.x;
    }

    static GPI_DEVICE void sync()
    {
        __syncthreads();
    }
};

/* Over a block of T threads; returns the sum of the threads before this one, and that of all.
 * shared: a word for each warp, which may be in use until all threads have called. */
template <int T> GPI_DEVICE uint2 block_sums(uint32_t value, uint32_t *shared)
{
    const uint32_t upto = warp_running_sum(value);
    __syncthreads();
    if (lane_id() == 31)
        shared[threadIdx.x / 32] = upto;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t w = 0; w < T / 32; w++) {
        before += w < threadIdx.x / 32 ? shared[w] : 0;
        all += shared[w];
    }
    return make_uint2(before + upto - value, all);
}

/* Over the first 256 threads of a group, each of which has a bin; every thread calls. */
template <class G> GPI_DEVICE uint32_t sum_before_bin(uint32_t value, uint32_t (&warp_total)[8])
{
    constexpr int bins = 256;
    const uint32_t upto = warp_running_sum(value);
    if (G::thread() < bins && lane_id() == 31)
        warp_total[G::thread() / 32] = upto;
    G::sync();
    uint32_t before = upto - value;
    if (G::thread() < bins)
        for (int w = 0; w < G::thread() / 32; w++)
            before += warp_total[w];
    return before;
}

} // namespace GPI_SPACE
