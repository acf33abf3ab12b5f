/* SPDX-License-Identifier: MIT */
/* Segmented scan of small and middle-sized arrays: a tile per block, in registers.
 * Runs on every GPU. */
#pragma once

#include "scan/segment_kernels.cuh"

namespace GPI_SPACE
{

/*
 * Grid: one block per tile, or fewer; W warps. Tile: W x 32 x K vectors. Shared: a bit per item, W
 * folds. Blocks draw tiles in order (device/epoch.cuh). After: all outputs.
 */
template <class Types, class Op, int W, int K>
__global__ void __launch_bounds__(W * 32)
    segment_tile_k(const __grid_constant__ SegmentParams<typename Types::A, Op> p)
{
    using A = typename Types::A;
    using Part = SegmentPart<Types, Op, K>;
    using Fold = FoldSegments<A, Op>;
    constexpr int tile_items = W * Part::items;
    __shared__ uint32_t heads[tile_items / 32];
    __shared__ struct Shared {
        Launch launch;
        uint32_t next;
    } s;
    __shared__ Folded<A> warp_fold[W];
    __shared__ A shared_prefix;
    const int warp = threadIdx.x / 32;
    const Fold fold = {p.op};

    /* 1. Which tile: a lone block needs no exchange. */
    const uint32_t tiles = tiles_of<tile_items>(p.n);
    if (threadIdx.x == 0)
        s.launch = gridDim.x > 1 ? launch_begin(p.state, tiles) : Launch{0, 0};
    if (gridDim.x > 1) /* some block takes the tile of this block's number first */
        prefetch_tile(p.in, p.n * sizeof(typename Types::In), blockIdx.x,
                      tile_items * sizeof(typename Types::In));
    __syncthreads();
    const TileState<Folded<A>> state(p.state, s.launch.epoch);
    Lookahead<Fold, Folded<A>, 8> ahead(fold.identity(), fold);
    if (threadIdx.x == 0 && s.launch.tile == 0 && gridDim.x > 1)
        state.retire_one(p.state, tiles);

    for (uint32_t tile = s.launch.tile; tile < tiles;) {
        const uint64_t tile_first = (uint64_t)tile * tile_items;
        const uint64_t first = tile_first + (uint64_t)warp * Part::items;
        const bool whole = tile_first + tile_items <= p.n;
        const int count =
            first < p.n ? (p.n - first < Part::items ? (int)(p.n - first) : Part::items) : 0;
        const char *in = p.in + first * sizeof(typename Types::In);
        char *out = p.out + first * sizeof(typename Types::Out);
        Part part;

        /* 2. Load. A shifted load reads up to 15 bytes past its ends: not at those of the array. */
        if (p.heads) {
            const uint64_t word = tile_first / 32, words = (p.n + 31) / 32;
            for (int i = threadIdx.x; i < tile_items / 32; i += W * 32)
                heads[i] = word + i < words ? p.heads[word + i] : 0;
        } else if (warp == 0) {
            row_heads(p, tile_first, tile_items / 32, heads);
        }
        const bool inside = tile > 0 && tile_first + tile_items + 16 <= p.n;
        if (whole && (inside || misalignment(p.in) == 0))
            part.in.load(in);
        else
            part.load_partial(in, count, p.op);
        __syncthreads();
        part.load_heads(heads + warp * (Part::items / 32));

        /* 3. Scan within the warp; publish the tile's fold. */
        const Folded<A> sum = part.scan(p);
        if (threadIdx.x % 32 == 0)
            warp_fold[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            Folded<A> tile_fold = warp_fold[0];
#pragma unroll
            for (int w = 1; w < W; w++)
                tile_fold = fold.apply(tile_fold, warp_fold[w]);
            if (gridDim.x > 1 && threadIdx.x == 0) {
                state.publish(tile, tile_fold);
                s.next = tile_next(p.state, tiles);
            }

            /* 4. Look ahead. */
            const A prefix = ahead.exclusive(state, tile).value;
            if (threadIdx.x == 0)
                shared_prefix = prefix;
        }
        __syncthreads();

        /* 5. Add the prefix and store. */
        Folded<A> prefix = {shared_prefix, 0};
        for (int w = 0; w < warp; w++)
            prefix = fold.apply(prefix, warp_fold[w]);
        stall(stall_store, s.launch.epoch, tile);
        part.store(out, prefix.value, count, p);
        tile = gridDim.x > 1 ? s.next : tiles;
        if (tile < tiles)
            __syncthreads(); /* warp_fold and prefix are free again */
    }
}

} // namespace GPI_SPACE
