/* SPDX-License-Identifier: MIT */
/*
 * Ways to scan one tile of T items in shared memory, for the scan family to choose from at run
 * time. Work and depth are written with each; R items per thread, P threads, T = R P.
 */
#pragma once

#include "device/block.cuh"
#include "scan/family/family.cuh"

namespace GPI_SPACE
{

template <class A> GPI_DEVICE A warp_scan_by(const RunTimeOp<A> &op, A v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        A left = shuffle_up(v, d);
        if (lane_id() >= d)
            v = op.apply(left, v);
    }
    return v;
}

/* Lane 0 gets v[0] op .. op v[31]; the other lanes nothing of use. */
template <class A> GPI_DEVICE A warp_reduce_by(const RunTimeOp<A> &op, A v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1)
        v = op.apply(v, shuffle_down(v, d));
    return v;
}

/* Fold of values[0 .. threads), one per thread, in every thread. part: an accumulator per warp, not
 * in use before; free again after the next barrier. By the whole block. */
template <class A>
GPI_DEVICE A block_reduce_by(const RunTimeOp<A> &op, A value, A (&part)[Family<A>::warps])
{
    const A sum = warp_reduce_by(op, value);
    share_warp_sum(part, threadIdx.x / 32, sum);
    __syncthreads();
    return fold_warps(part, op);
}

/* Fold of a tile in shared memory: each thread its R items, then the block. */
template <class A>
GPI_DEVICE A tile_reduce(const RunTimeOp<A> &op, const A *s, A (&part)[Family<A>::warps])
{
    const A *mine = s + threadIdx.x * Family<A>::items;
    A sum = mine[0];
#pragma unroll
    for (int k = 1; k < Family<A>::items; k++)
        sum = op.apply(sum, mine[k]);
    return block_reduce_by(op, sum, part);
}

/*
 * Shuffle: a warp takes R rows of 32 items, scans each in registers and carries the last item on;
 * then the warps' sums are scanned by one warp and added back.
 * Work 5 T for the rows, T for the carries and T to add back at most; depth 5 + R + 3 + 1 if rows
 * are scanned side by side. Source: Sengupta, Harris and Garland 2008 (warp-organised scan), with
 * shuffles in place of shared memory; the row steps are Kogge and Stone 1973.
 */
template <class A> GPI_DEVICE void tile_scan_shuffle(const RunTimeOp<A> &op, A *s, A *sums)
{
    constexpr int R = Family<A>::items, W = Family<A>::warps;
    const int warp = threadIdx.x / 32, lane = lane_id();
    A *mine = s + warp * 32 * R;
    A carry = op.neutral;
#pragma unroll
    for (int r = 0; r < R; r++) {
        A v = op.apply(carry, warp_scan_by(op, mine[r * 32 + lane]));
        mine[r * 32 + lane] = v;
        carry = shuffle(v, 31);
    }
    if (lane == 0)
        sums[warp] = carry;
    __syncthreads();
    if (warp == 0) {
        A v = warp_scan_by(op, lane < W ? sums[lane] : op.neutral);
        if (lane < W)
            sums[lane] = v;
    }
    __syncthreads();
    if (warp > 0)
#pragma unroll
        for (int r = 0; r < R; r++)
            mine[r * 32 + lane] = op.apply(sums[warp - 1], mine[r * 32 + lane]);
    __syncthreads();
}

/*
 * Kogge-Stone on m items, m a multiple of the threads: step d adds the item d places before. All
 * items are read before any is written.
 * Work m log2 m - m + 1, depth log2 m.
 * Source: Kogge and Stone 1973; Hillis and Steele 1986.
 */
template <int R, class A> GPI_DEVICE void kogge_stone(const RunTimeOp<A> &op, A *s)
{
    constexpr int P = Family<A>::threads;
    for (int d = 1; d < R * P; d <<= 1) {
        A v[R];
#pragma unroll
        for (int k = 0; k < R; k++) {
            const int i = k * P + threadIdx.x;
            v[k] = i >= d ? op.apply(s[i - d], s[i]) : s[i];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < R; k++)
            s[k * P + threadIdx.x] = v[k];
        __syncthreads();
    }
}

/* s[i] for every i + 1 divisible by 2, 4, ... T becomes the fold of the items that it closes: the
 * upsweep of Brent and Kung, and the building of a Fenwick tree. Work T - 1, depth log2 T. */
template <class A> GPI_DEVICE void tree_up(const RunTimeOp<A> &op, A *s)
{
    constexpr int T = Family<A>::tile;
    for (int d = 1; d < T; d <<= 1) {
        for (int i = (threadIdx.x + 1) * 2 * d - 1; i < T; i += Family<A>::threads * 2 * d)
            s[i] = op.apply(s[i - d], s[i]);
        __syncthreads();
    }
}

/*
 * Brent-Kung: a balanced tree of sums, then down again: every other node of a level gets the prefix
 * that the node before it has.
 * Work 2 T - 2 - log2 T, depth 2 log2 T - 1.
 * Source: Brent and Kung 1982.
 */
template <class A> GPI_DEVICE void tile_scan_brent_kung(const RunTimeOp<A> &op, A *s)
{
    constexpr int T = Family<A>::tile;
    tree_up(op, s);
    for (int d = T / 4; d >= 1; d >>= 1) {
        for (int i = (threadIdx.x + 1) * 2 * d - 1; i + d < T; i += Family<A>::threads * 2 * d)
            s[i + d] = op.apply(s[i], s[i + d]);
        __syncthreads();
    }
}

/*
 * Three phases: each thread scans its R items, the threads' sums are scanned by Kogge-Stone, each
 * thread adds what is before it.
 * Work (R - 1) P + P log2 P + R P, depth R + log2 P.
 * Source: Kirk and Hwu, Programming Massively Parallel Processors, on thread coarsening.
 */
template <class A> GPI_DEVICE void tile_scan_three_phase(const RunTimeOp<A> &op, A *s, A *sums)
{
    constexpr int R = Family<A>::items;
    A *mine = s + threadIdx.x * R;
    A run = mine[0];
#pragma unroll
    for (int k = 1; k < R; k++)
        mine[k] = run = op.apply(run, mine[k]);
    sums[threadIdx.x] = run;
    __syncthreads();
    kogge_stone<1>(op, sums);
    if (threadIdx.x > 0)
#pragma unroll
        for (int k = 0; k < R; k++)
            mine[k] = op.apply(sums[threadIdx.x - 1], mine[k]);
    __syncthreads();
}

/* s[i] = s[0] op .. op s[i] for the tile in shared memory, synchronised before and after. sums: an
 * accumulator per thread. Not inlined: one copy for all kernels. */
template <class A>
__device__ __noinline__ void tile_scan(RunTimeOp<A> op, int method, A *s, A *sums)
{
    switch (method) {
    case GP_SCAN_TILE_KOGGE_STONE:
        return kogge_stone<Family<A>::items>(op, s);
    case GP_SCAN_TILE_BRENT_KUNG:
        return tile_scan_brent_kung(op, s);
    case GP_SCAN_TILE_THREE_PHASE:
        return tile_scan_three_phase(op, s, sums);
    default:
        return tile_scan_shuffle(op, s, sums);
    }
}

} // namespace GPI_SPACE
