/* SPDX-License-Identifier: MIT */
/* Scan of arrays of a few tiles by one cluster of blocks (sm_90 and newer). */
#pragma once

#include "device/cluster.cuh"
#include "device/stall.cuh"
#include "scan/scan_register_tile.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

constexpr int cluster_blocks_max = 8; /* any device of sm_90 and newer runs clusters of 8 */

/*
 * No tile states: the sums travel within the cluster, whose blocks all run at the same time.
 * Grid: one cluster, a tile per block, in order; W warps. Tile: W x 32 x K vectors. Shared: an
 * accumulator per warp and per block. After: all outputs, total, row pointer n.
 */
template <class Types, class Op, int W, int K>
__global__ void __launch_bounds__(W * 32)
    scan_cluster_k(const __grid_constant__ ScanParams<typename Types::A> p)
{
    using A = typename Types::A;
    using Tile = RegisterTile<Types, Op, W, K>;
    __shared__ A warp_sums[W], tile_sum[cluster_blocks_max];
    const int warp = warp_id(), rank = blockIdx.x;
    cluster_arrive_relaxed();
    Tile own(p, scan_n(p));
    A sum = own.load(rank);
    share_warp_sum(warp_sums, warp, sum);
    __syncthreads();
    stall(stall_publish, own.n, rank);
    cluster_wait(); /* all blocks have started: their shared memory may be written */
    A before = reduce_warps_before<Op>(warp_sums);
    if (warp == W - 1) {
        A total = Op::apply(before, sum);
        if (lane_id() > rank && lane_id() < gridDim.x)
            cluster_store(&tile_sum[rank], lane_id(), total);
        if (lane_id() == 0)
            cluster_store(&tile_sum[rank], rank, total);
    }
    cluster_arrive();
    stall(stall_resolve, own.n, rank);
    cluster_wait();
    A prefix = warp_reduce<Op>(lane_id() < rank ? tile_sum[lane_id() % cluster_blocks_max]
                                                : Op::identity());
    prefix = Op::apply(scan_start<Op>(p), prefix);
    if (rank == gridDim.x - 1 && threadIdx.x == 0)
        scan_finish<Types, Op>(p, own.n, Op::apply(prefix, tile_sum[rank]));
    own.store(Op::apply(prefix, before));
}

} // namespace GPI_SPACE

#endif
