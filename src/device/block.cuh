/* SPDX-License-Identifier: MIT */
/*
 * Sums over a block of W warps, and over the warps before one. Every warp leaves its sum in an
 * array in shared memory, an item per warp (CUB's warp aggregates); after a barrier threads fold
 * that array in the order of the warps, so operators need not commute. "Sum" is the result of
 * any operator.
 *
 * The order of operations decides the bits of float sums: a thread alone folds from left to right,
 * a warp as a balanced tree. Before the array is written again the block synchronizes. Top-k has
 * scans of its own, which are faster (code-03 in docs/tuning).
 */
#pragma once

#include "device/ops.cuh"
#include "device/warp.cuh"

namespace GPI_SPACE
{

/* The sum of this warp, from one of its lanes. */
template <class A, int W>
GPI_DEVICE void share_warp_sum(A (&warp_sums)[W], int warp, A sum, int lane = 0)
{
    if (lane_id() == lane)
        warp_sums[warp] = sum;
}

/* The sum of all warps, from left to right. */
template <class Op, class A, int W>
GPI_DEVICE A fold_warps(const A (&warp_sums)[W], const Op &op = Op())
{
    A sum = warp_sums[0];
#pragma unroll
    for (int w = 1; w < W; w++)
        sum = op.apply(sum, warp_sums[w]);
    return sum;
}

/* Folds the sums of the warps before this one into prefix, from left to right. */
template <class Op, class P, class A, int W>
GPI_DEVICE void fold_warps_before(P &prefix, const A (&warp_sums)[W], int warp, const Op &op = Op())
{
    for (int w = 0; w < warp; w++)
        prefix = op.apply(prefix, warp_sums[w]);
}

/* The sum of all warps, as a balanced tree. By one warp, whose lanes all get it. */
template <class Op, class A, int W>
GPI_DEVICE A reduce_warps(const A (&warp_sums)[W], const Op &op = Op())
{
    static_assert(W <= 32, "a lane per warp");
    return warp_reduce<Op>(lane_id() < W ? warp_sums[lane_id()] : op.identity(), op);
}

/* The sum of the warps before this one, as a balanced tree. By whole warps, all lanes get it. */
template <class Op, class A, int W> GPI_DEVICE A reduce_warps_before(const A (&warp_sums)[W])
{
    return warp_reduce<Op>(lane_id() < (int)threadIdx.x / 32 ? warp_sums[lane_id() % W]
                                                             : Op::identity());
}

} // namespace GPI_SPACE
