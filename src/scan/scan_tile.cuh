/* SPDX-License-Identifier: MIT */
/* Scan of small and middle-sized arrays: a tile per block, in registers. Runs on every GPU. */
#pragma once

#include "scan/scan_kernels.cuh"

namespace GPI_SPACE
{

/*
 * Grid: one block per tile, or fewer; W warps. Tile: W x 32 x K vectors. Shared: W + 2
 * accumulators. Blocks draw tiles in order (device/epoch.cuh). After: all outputs, total, row
 * pointer n.
 */
template <class Types, class Op, int W, int K>
__global__ void __launch_bounds__(W * 32) scan_tile_k(const ScanParams<typename Types::A> p)
{
    using A = typename Types::A;
    using Part = WarpPart<Types, Op, K>;
    constexpr int tile_items = W * Part::items;
    __shared__ struct Shared {
        Launch launch;
        uint64_t n;
        uint32_t next;
    } s;
    __shared__ A warp_sum[W], shared_prefix;
    const int warp = threadIdx.x / 32;
    bool overflow = false;

    /* 1. Which tile: a lone block needs no exchange. */
    if (threadIdx.x == 0) {
        s.n = scan_n(p);
        s.launch = gridDim.x > 1 ? launch_begin(p.state, tiles_of<tile_items>(s.n)) : Launch{0, 0};
    }
    if (gridDim.x > 1) /* some block takes the tile of this block's number first */
        prefetch_tile(p.in, p.n * sizeof(typename Types::In), blockIdx.x,
                      tile_items * sizeof(typename Types::In));
    __syncthreads();
    const uint64_t n = s.n;
    const uint32_t tiles = tiles_of<tile_items>(n);
    const TileState<A> state(p.state, s.launch.epoch);
    Lookahead<Op, A, 8> ahead(scan_start<Op>(p));
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        if (gridDim.x > 1)
            state.retire_one(p.state, tiles);
        if (tiles == 0)
            scan_finish<Types>(p, n, scan_start<Op>(p));
    }

    for (uint32_t tile = s.launch.tile; tile < tiles;) {
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * Part::items;
        const bool whole = (uint64_t)(tile + 1) * tile_items <= n;
        const int count =
            first < n ? (n - first < Part::items ? (int)(n - first) : Part::items) : 0;
        const char *in = p.in + first * sizeof(typename Types::In);
        char *out = p.out + first * sizeof(typename Types::Out);
        Part part;

        /* 2. Load. A shifted load reads up to 15 bytes past its ends: not at those of the array. */
        const bool inside = tile > 0 && (uint64_t)(tile + 1) * tile_items + 16 <= n;
        if (whole && (inside || misalignment(p.in) == 0))
            part.load(in);
        else
            part.load_partial(in, count);

        /* 3. Scan within the warp; publish the tile's sum. */
        A sum = part.scan();
        if (threadIdx.x % 32 == 0)
            warp_sum[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            A tile_sum = warp_sum[0];
#pragma unroll
            for (int w = 1; w < W; w++)
                tile_sum = Op::apply(tile_sum, warp_sum[w]);
            if (gridDim.x > 1 && threadIdx.x == 0) {
                state.publish(tile, tile_sum);
                s.next = tile_next(p.state, tiles);
            }

            /* 4. Look ahead. */
            A prefix = ahead.exclusive(state, tile);
            if (threadIdx.x == 0) {
                shared_prefix = prefix;
                if (tile == tiles - 1)
                    scan_finish<Types>(p, n, Op::apply(prefix, tile_sum));
            }
        }
        __syncthreads();

        /* 5. Add the prefix and store. */
        A prefix = shared_prefix;
        for (int w = 0; w < warp; w++)
            prefix = Op::apply(prefix, warp_sum[w]);
        stall(stall_store, s.launch.epoch, tile);
        if (whole)
            part.store(out, prefix, p.kind != inclusive, overflow);
        else
            part.store_partial(out, prefix, p.kind != inclusive, count, overflow);
        tile = gridDim.x > 1 ? s.next : tiles;
        if (tile < tiles)
            __syncthreads(); /* warp_sum and prefix are free again */
    }
    if (Types::wide && overflow)
        atomicOr(p.state.sticky, sticky_overflow);
}

} // namespace GPI_SPACE
