/* SPDX-License-Identifier: MIT */
/* Scan of small and middle-sized arrays: a tile per block, in registers. Runs on every GPU. */
#pragma once

#include "scan/scan_register_tile.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{

/* Blocks with large accumulators need their registers more than company. */
template <class A, int W>
constexpr int tile_blocks_min = sizeof(A) <= 8 ? scan_tuning.tile_warps_per_sm / W : 1;

/* Some block will claim the tile of this block's number: ask for it, and for its word. */
template <class Types, int TILE_BYTES>
GPI_DEVICE void prefetch_own(const ScanParams<typename Types::A> &p)
{
    if (threadIdx.x == 32)
        TileState<typename Types::A>(p.state, 0).prefetch(blockIdx.x);
    prefetch_tile(p.in, p.n * sizeof(typename Types::In), blockIdx.x, TILE_BYTES, threadIdx.x,
                  blockDim.x);
}

/* What is done once per launch, by the thread that claimed tile 0. */
template <class Types, class Op, class A>
GPI_DEVICE void scan_tile_begin(const ScanParams<A> &p, const TileState<A> &state, uint64_t n,
                                uint32_t tiles, bool alone)
{
    if (!alone)
        state.retire_one(p.state, tiles);
    if (tiles == 0)
        scan_finish<Types, Op>(p, n, scan_start<Op>(p));
}

/*
 * Grid: one block per tile, or fewer; W warps. Tile: W x 32 x K vectors. Shared: W + 32
 * accumulators. Blocks claim tiles in order (device/epoch.cuh). After: all outputs, total, row
 * pointer n.
 */
template <class Types, class Op, int W, int K>
__global__ void __launch_bounds__(W * 32, tile_blocks_min<typename Types::A, W>)
    scan_tile_k(const __grid_constant__ ScanParams<typename Types::A> p)
{
    using A = typename Types::A;
    using Tile = RegisterTile<Types, Op, W, K>;
    using Ahead = BlockLookahead<Op, A, W>;
    __shared__ struct {
        Launch launch;
        uint32_t next;
    } s;
    __shared__ A warp_sums[W];
    __shared__ typename Ahead::Shared groups;
    const bool leader = threadIdx.x == 0, alone = gridDim.x == 1;

    /* 1. Claim; meanwhile ask for a tile. A lone block needs no exchange. */
    const uint64_t number = leader && !alone ? counter_claim(p.state) : 0;
    if (!alone)
        prefetch_own<Types, Tile::bytes>(p);
    Tile own(p, scan_n(p));
    const uint32_t tiles = tiles_of<Tile::items>(own.n);
    if (leader) {
        s.launch = alone ? Launch{0, 0} : launch_claimed(p.state, tiles, number);
        stall(stall_start, s.launch.epoch, s.launch.tile);
    }
    __syncthreads();
    const TileState<A> state(p.state, s.launch.epoch);
    Ahead ahead(scan_start<Op>(p));
    if (leader && s.launch.tile == 0)
        scan_tile_begin<Types, Op>(p, state, own.n, tiles, alone);

    for (uint32_t tile = s.launch.tile; tile < tiles;) {
        /* 2. Load; scan within the warp. */
        const A sum = own.load(tile);
        share_warp_sum(warp_sums, threadIdx.x / 32, sum);
        __syncthreads();

        /* 3. Publish the tile's sum; look ahead. */
        if (leader && !alone) {
            state.publish(tile, fold_warps<Op>(warp_sums));
            s.next = tile_next(p.state, tiles);
        }
        const A before = reduce_warps_before<Op>(warp_sums);
        const A prefix = ahead.exclusive(state, tile, groups);
        if (leader && tile == tiles - 1)
            scan_finish<Types, Op>(p, own.n, Op::apply(prefix, fold_warps<Op>(warp_sums)));

        /* 4. Store. */
        stall(stall_store, state.epoch, tile);
        own.store(Op::apply(prefix, before));
        if (alone || launch_claims_once(tiles))
            break;
        __syncthreads(); /* next is there, the shared sums are free again */
        tile = s.next;
    }
}

} // namespace GPI_SPACE
