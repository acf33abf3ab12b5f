/* SPDX-License-Identifier: MIT */
/*
 * Scan by a binary indexed tree: node i, counted from 1, holds the fold of the lowbit(i) items that
 * end with item i. The fold of the first i items is then that of the nodes i, i - lowbit(i), ...
 *
 * Build per block: the tree of a tile in shared memory; the node that closes the tile is its sum.
 * Build across blocks: the sums are themselves items of a tree; a kernel per factor T of their
 * number merges the nodes whose index is a multiple of 1, T, T^2, ... of tiles.
 * Query: each block looks up the prefix of its tile, then each item its prefix in the tile's tree,
 * built anew (or scanned by another method).
 *
 * Work n to build and log2(T) / 2 per item on average to ask, depth log2 n for each. Reads 2 n,
 * writes n. Source: Fenwick 1994.
 */
#pragma once

#include "scan/family/family_tile.cuh"

namespace GPI_SPACE
{

/* Fold of the first count items of a tree whose node i is nodes[i - 1]; count > 0. */
template <class A> GPI_DEVICE A tree_query(const RunTimeOp<A> &op, const A *nodes, uint32_t count)
{
    A sum = nodes[count - 1];
    for (count &= count - 1; count > 0; count &= count - 1)
        sum = op.apply(nodes[count - 1], sum);
    return sum;
}

/* Grid: a block per tile. Shared: a tile. After: sums, if there are several tiles. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_fenwick_sums_k(const __grid_constant__ FamilyParams<A> p)
{
    constexpr int T = Family<A>::tile;
    __shared__ A s[T];
    const uint64_t n = item_count(p), first = (uint64_t)blockIdx.x * T;
    if (is_one_tile<A>(n))
        return;
    if (is_behind<A>(n, first)) {
        if (threadIdx.x == 0)
            p.sums[blockIdx.x] = p.op.neutral;
        return;
    }
    tile_load(p, s, first, tile_count<A>(n, first));
    __syncthreads();
    tree_up(p.op, s);
    if (threadIdx.x == 0)
        p.sums[blockIdx.x] = s[T - 1];
}

/* Grid: a block per T of the nodes stride, 2 stride, ... count stride. Shared: a tile. After: these
 * nodes hold what they would in a tree of all. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_fenwick_merge_k(RunTimeOp<A> op, ItemCount items, A *nodes, uint64_t stride,
                           uint64_t count)
{
    constexpr int T = Family<A>::tile, P = Family<A>::threads;
    __shared__ A s[T];
    if (is_one_tile<A>(item_count(items)))
        return;
    const uint64_t first = (uint64_t)blockIdx.x * T;
    const int here = tile_count<A>(count, first);
    for (int i = (int)threadIdx.x; i < T; i += P)
        s[i] = i < here ? nodes[(first + i + 1) * stride - 1] : op.neutral;
    __syncthreads();
    tree_up(op, s);
    for (int i = (int)threadIdx.x; i < here; i += P)
        nodes[(first + i + 1) * stride - 1] = s[i];
}

/* Replace the tree in s by the scan that it stands for. */
template <class A> GPI_DEVICE void tree_to_scan(const RunTimeOp<A> &op, A *s)
{
    constexpr int R = Family<A>::items, P = Family<A>::threads;
    A v[R];
#pragma unroll
    for (int k = 0; k < R; k++)
        v[k] = tree_query(op, s, k * P + threadIdx.x + 1);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < R; k++)
        s[k * P + threadIdx.x] = v[k];
    __syncthreads();
}

/* Grid: a block per tile. Shared: a tile, an accumulator per thread. After: all outputs, total, row
 * pointer n. */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_fenwick_query_k(const __grid_constant__ FamilyParams<A> p)
{
    constexpr int T = Family<A>::tile;
    __shared__ A s[T], sums[Family<A>::threads], shared_prefix;
    const uint64_t n = item_count(p), first = (uint64_t)blockIdx.x * T;
    const int count = tile_count<A>(n, first);
    if (is_behind<A>(n, first))
        return;
    if (threadIdx.x == 0)
        shared_prefix = blockIdx.x == 0
                            ? p.start
                            : p.op.apply(p.start, tree_query(p.op, p.prefixes, blockIdx.x));
    tile_load(p, s, first, count);
    __syncthreads();
    if (p.method == GP_SCAN_TILE_AUTO) {
        tree_up(p.op, s);
        tree_to_scan(p.op, s);
    } else {
        tile_scan(p.op, p.method, s, sums);
    }
    tile_store(p, s, first, count, shared_prefix);
    if (threadIdx.x == 0 && is_last_tile<A>(n, first))
        family_finish(p, n, p.op.apply(shared_prefix, s[T - 1]));
}

} // namespace GPI_SPACE
