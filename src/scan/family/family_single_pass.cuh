/* SPDX-License-Identifier: MIT */
/* Single-pass scans: chained and decoupled look-back. */
#pragma once

#include "device/tile_state.cuh"
#include "scan/family/family_tile.cuh"

namespace GPI_SPACE
{

/*
 * Chained: a tile waits for the inclusive prefix of the tile before, adds its sum, and publishes.
 * Work 1 per tile; depth m for m tiles, each step a trip through the L2. Fixed association: left to
 * right. One state slot per tile. By one thread.
 * Source: Yan, Long and Zhang 2013 (StreamScan).
 */
template <class A>
GPI_DEVICE A chain(const FamilyParams<A> &p, const TileState<A> &state, uint32_t tile, A sum)
{
    A prefix = p.start;
    if (tile > 0)
        while (!state.read(tile - 1, prefix)) {
        }
    state.publish(tile, p.op.apply(prefix, sum));
    return prefix;
}

/*
 * Decoupled look-back: a tile publishes its sum at once; a warp reads the 32 tiles before it, each
 * lane the inclusive prefix of a tile or, failing that, its sum; it stops at the nearest prefix, or
 * goes 32 tiles further back. Then the tile publishes its own inclusive prefix.
 * Work 32 per window, O(m) windows in practice; depth 5 per window. Which prefix is the nearest
 * depends on timing, and so does the association. Slots 2 t (sum) and 2 t + 1 (prefix): each word
 * is written once per launch, so a reader needs no order between the two. By one warp; the result
 * is lane 0's.
 * Source: Merrill and Garland 2016, sections 4 and 5.
 */
template <class A>
GPI_DEVICE A look_back(const FamilyParams<A> &p, const TileState<A> &state, uint32_t tile, A sum)
{
    A after = p.op.neutral; /* fold of the tiles from the window's end to this one */
    uint32_t end = tile;
    bool found = tile == 0;
    if (lane_id() == 0 && tile > 0)
        state.publish(2 * tile, sum);
    while (!found) {
        const bool exists = end > (uint32_t)lane_id();
        const uint32_t t = exists ? end - 1 - (uint32_t)lane_id() : 0;
        A v = p.op.neutral;
        bool ready = !exists, complete = false;
        do {
            if (!ready) {
                complete = state.read(2 * t + 1, v);
                ready = complete || (t > 0 && state.read(2 * t, v));
            }
        } while (!__all_sync(all_lanes, ready));
        const uint32_t prefixes = __ballot_sync(all_lanes, complete);
        if (prefixes && lane_id() > __ffs(prefixes) - 1)
            v = p.op.neutral;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) { /* a higher lane is further left */
            A left = shuffle_down(v, d);
            if (lane_id() + d < 32)
                v = p.op.apply(left, v);
        }
        after = p.op.apply(v, after);
        found = prefixes != 0;
        end -= 32;
    }
    const A prefix = tile == 0 ? p.start : after;
    if (lane_id() == 0)
        state.publish(2 * tile + 1, p.op.apply(prefix, sum));
    return prefix;
}

/* What is done once per launch, by the thread that claimed tile 0. */
template <class A>
GPI_DEVICE void single_pass_begin(const FamilyParams<A> &p, const gpi_state &words,
                                  const TileState<A> &state, uint64_t n, uint32_t tiles, bool back)
{
    state.retire_one(words, back ? 2 * tiles : tiles);
    if (tiles == 0)
        family_finish(p, n, p.start);
}

/*
 * Grid: any number of blocks up to max_grid; they claim tiles in order (device/epoch.cuh), so a
 * tile waits only for tiles of running blocks. Shared: a tile, and an accumulator per thread.
 * After: all outputs, total, row pointer n.
 */
template <class A>
__global__ void __launch_bounds__(Family<A>::threads)
    family_single_pass_k(const __grid_constant__ FamilyParams<A> p,
                         const __grid_constant__ gpi_state words, const int algorithm)
{
    constexpr int T = Family<A>::tile;
    __shared__ A s[T], sums[Family<A>::threads], shared_prefix;
    __shared__ Launch launch;
    __shared__ uint64_t shared_n;
    __shared__ uint32_t next;

    if (threadIdx.x == 0) {
        shared_n = item_count(p);
        launch = launch_begin(words, (uint32_t)((shared_n + T - 1) / T));
    }
    __syncthreads();
    const uint64_t n = shared_n;
    const uint32_t tiles = (uint32_t)((n + T - 1) / T);
    const bool back = algorithm == GP_ALGORITHM_LOOKBACK;
    const TileState<A> state(words, launch.epoch);
    if (threadIdx.x == 0 && launch.tile == 0)
        single_pass_begin(p, words, state, n, tiles, back);
    for (uint32_t tile = launch.tile; tile < tiles;) {
        const uint64_t first = (uint64_t)tile * T;
        const int count = tile_count<A>(n, first);

        /* 1. Load and scan the tile. */
        tile_load(p, s, first, count);
        __syncthreads();
        tile_scan(p.op, p.method, s, sums);

        /* 2. Its prefix. */
        if (threadIdx.x < 32) {
            A prefix = p.start;
            if (back)
                prefix = look_back(p, state, tile, s[T - 1]);
            else if (threadIdx.x == 0)
                prefix = chain(p, state, tile, s[T - 1]);
            if (threadIdx.x == 0) {
                shared_prefix = prefix;
                if (tile == tiles - 1)
                    family_finish(p, n, p.op.apply(prefix, s[T - 1]));
                next = tile_next(words, tiles);
            }
        }
        __syncthreads();

        /* 3. Store. */
        stall(stall_store, launch.epoch, tile);
        tile_store(p, s, first, count, shared_prefix);
        tile = next;
        __syncthreads(); /* s, next and the prefix are free again */
    }
}

} // namespace GPI_SPACE
