/* SPDX-License-Identifier: MIT */
/* Scan of arrays of a few tiles by one cluster of blocks (sm_90 and newer). */
#pragma once

#include "device/cluster.cuh"
#include "device/stall.cuh"
#include "scan/scan_kernels.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

/* One block's tile, in the registers of W warps. */
template <class Types, class Op, int W, int K> struct RegisterTile {
    using A = typename Types::A;
    using Part = WarpPart<Types, Op, K>;
    static constexpr int items = W * Part::items;
    static constexpr int bytes = items * (int)sizeof(typename Types::In);

    const ScanParams<A> &p;
    const uint64_t n;
    uint64_t first; /* item of this warp */
    int count;      /* items of this warp that exist */
    bool whole;     /* the tile */
    Part part;
    bool overflow;

    GPI_DEVICE RegisterTile(const ScanParams<A> &p_, uint64_t n_) : p(p_), n(n_), overflow(false)
    {
    }

    /* Returns the fold of the warp's items. */
    GPI_DEVICE A load(uint32_t tile)
    {
        first = (uint64_t)tile * items + (uint64_t)(threadIdx.x / 32) * Part::items;
        whole = (uint64_t)(tile + 1) * items <= n;
        count = first < n ? (n - first < Part::items ? (int)(n - first) : Part::items) : 0;
        const char *in = p.in + first * sizeof(typename Types::In);
        /* A shifted load reads up to 15 bytes past its ends: not at those of the array. */
        const bool inside = tile > 0 && (uint64_t)(tile + 1) * items + 16 <= n;
        if (whole && (inside || misalignment(p.in) == 0))
            part.load(in);
        else
            part.load_partial(in, count);
        return part.scan();
    }

    GPI_DEVICE void store(A prefix)
    {
        char *out = p.out + first * sizeof(typename Types::Out);
        if (whole)
            part.store(out, prefix, p.kind != inclusive, overflow);
        else
            part.store_partial(out, prefix, p.kind != inclusive, count, overflow);
    }

    GPI_DEVICE void report() const
    {
        if (Types::wide && overflow)
            atomicOr(p.state.sticky, sticky_overflow);
    }
};

constexpr int cluster_blocks_max = 8; /* any device of sm_90 and newer runs so many */

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
    __shared__ A warp_sum[W], tile_sum[cluster_blocks_max];
    const int warp = threadIdx.x / 32, rank = blockIdx.x;
    cluster_arrive_relaxed();
    Tile own(p, scan_n(p));
    A sum = own.load(rank);
    if (lane_id() == 0)
        warp_sum[warp] = sum;
    __syncthreads();
    stall(stall_publish, own.n, rank);
    cluster_wait(); /* all blocks have started: their shared memory may be written */
    A before = warp_reduce<Op>(lane_id() < warp ? warp_sum[lane_id() % W] : Op::identity());
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
        scan_finish<Types>(p, own.n, Op::apply(prefix, tile_sum[rank]));
    own.store(Op::apply(prefix, before));
    own.report();
}

} // namespace GPI_SPACE

#endif
