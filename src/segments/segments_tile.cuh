/* SPDX-License-Identifier: MIT */
/* Segmented scan of small and middle-sized arrays: a tile per block, in registers.
 * Runs on every GPU. */
#pragma once

#include "device/block.cuh"
#include "device/epoch.cuh"
#include "segments/segments_part.cuh"

namespace GPI_SPACE
{

/* The first tile of this block, by one thread. Some block takes the tile of this block's number
 * first: ask for it meanwhile. A lone block needs no exchange. */
template <class In, int TILE_ITEMS, class A, class Op>
GPI_DEVICE void claim_first(const SegmentParams<A, Op> &p, uint32_t tiles, Launch &launch)
{
    if (threadIdx.x == 0)
        launch = gridDim.x > 1 ? launch_begin(p.state, tiles) : Launch{0, 0};
    if (gridDim.x > 1)
        prefetch_tile(p.in, p.n * sizeof(In), blockIdx.x, TILE_ITEMS * sizeof(In));
}

/* The heads of the items of a tile, a bit each. By a block of W warps. */
template <int W, class A, class Op, int WORDS>
GPI_DEVICE void load_heads(const SegmentParams<A, Op> &p, uint64_t tile_first, int warp,
                           uint32_t (&heads)[WORDS])
{
    if (p.heads) {
        const uint64_t word = tile_first / 32, words = (p.n + 31) / 32;
        for (int i = threadIdx.x; i < WORDS; i += W * 32)
            heads[i] = word + i < words ? p.heads[word + i] : 0;
    } else if (warp == 0) {
        row_heads(p, tile_first, WORDS, heads);
    }
}

/* The items of one warp's part of a tile, at in; count of them exist. A shifted load reads up to 15
 * bytes past its ends: not at those of the array. */
template <class Types, int TILE_ITEMS, class Op, int K>
GPI_DEVICE void load_items(const SegmentParams<typename Types::A, Op> &p, uint32_t tile,
                           const char *in, bool whole, int count, SegmentPart<Types, Op, K> &part)
{
    const bool inside = tile > 0 && (uint64_t)tile * TILE_ITEMS + TILE_ITEMS + 16 <= p.n;
    if (whole && (inside || misalignment(p.in) == 0))
        part.in.load(in);
    else
        part.in.load_partial(in, count, p.op);
}

/* By one warp. Publish the fold of a tile, claim the next one, look ahead: before is the fold of
 * the segment that goes on in this tile, over the tiles before. A lone block exchanges nothing. */
template <class Ahead, class State, class Fold, class A, class Params, int W>
GPI_DEVICE void publish_and_look_ahead(const Params &p, const Fold &fold, const State &state,
                                       Ahead &ahead, uint32_t tile, uint32_t tiles,
                                       const Folded<A> (&warp_folds)[W], uint32_t &next, A &before)
{
    const Folded<A> tile_fold = fold_warps(warp_folds, fold);
    if (gridDim.x > 1 && threadIdx.x == 0) {
        state.publish(tile, tile_fold);
        next = tile_next(p.state, tiles);
    }
    const A prefix = ahead.exclusive(state, tile).value;
    if (threadIdx.x == 0)
        before = prefix;
}

/*
 * Grid: one block per tile, or fewer; W warps. Tile: W x 32 x K vectors. Shared: a bit per item, W
 * folds. Blocks claim tiles in order (device/epoch.cuh). After: all outputs.
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
    __shared__ Folded<A> warp_folds[W];
    __shared__ A shared_prefix;
    const int warp = threadIdx.x / 32;
    const Fold fold = {p.op};

    /* 1. Which tile. */
    const uint32_t tiles = tiles_of<tile_items>(p.n);
    claim_first<typename Types::In, tile_items>(p, tiles, s.launch);
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

        /* 2. Load. */
        load_heads<W>(p, tile_first, warp, heads);
        load_items<Types, tile_items>(p, tile, in, whole, count, part);
        __syncthreads();
        part.load_heads(heads + warp * (Part::items / 32));

        /* 3. Scan within the warp; publish the tile's fold; look ahead. */
        const Folded<A> sum = part.scan(p);
        share_warp_sum(warp_folds, warp, sum);
        __syncthreads();
        if (warp == 0)
            publish_and_look_ahead(p, fold, state, ahead, tile, tiles, warp_folds, s.next,
                                   shared_prefix);
        __syncthreads();

        /* 4. Add the prefix and store. */
        Folded<A> prefix = {shared_prefix, 0};
        fold_warps_before(prefix, warp_folds, warp, fold);
        stall(stall_store, s.launch.epoch, tile);
        part.store(out, prefix.value, count, p);
        tile = gridDim.x > 1 ? s.next : tiles;
        if (tile < tiles)
            __syncthreads(); /* warp_folds and prefix are free again */
    }
}

} // namespace GPI_SPACE
