/* SPDX-License-Identifier: MIT */
/* Compaction with one tile per block, its items in registers. Runs on every GPU. */
#pragma once

#include "compact/compact_kernels.cuh"
#include "device/block.cuh"

namespace GPI_SPACE
{

/*
 * One warp's part of a tile: groups of 32 neighbouring items, lane i has item i of each. BYTES 0:
 * no items, only flags.
 */
template <int BYTES, bool COMPARE, bool INDICES, int GROUPS> struct CompactPart {
    using Item = ItemOf<BYTES>;

    Item item[GROUPS];
    uint32_t bits;   /* lane k: which items of group k are kept */
    uint32_t before; /* lane k: how many of the groups before k */

    /* The first `groups` groups of those at `first`, as far as n goes;
     * returns how many are kept. */
    GPI_DEVICE uint32_t load(const gpi_compact_args &a, uint64_t first, uint32_t groups, uint64_t n)
    {
        const Range<Item> range(a.range);
        uint8_t flag[GROUPS];
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
            const uint64_t i = first + 32 * k + lane_id();
            flag[k] = 0;
            if (k >= groups || i >= n)
                continue;
            if constexpr (COMPARE || !INDICES)
                item[k] = ((const Item *)a.in)[i];
            flag[k] = COMPARE ? 1 : a.keep[i];
        }
        bits = 0;
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
            bool kept = flag[k] != 0;
            if constexpr (COMPARE)
                kept = kept && range(item[k]);
            const uint32_t group = __ballot_sync(all_lanes, kept);
            bits = lane_id() == k ? group : bits;
        }
        before = warp_exclusive(__popc(bits));
        return __shfl_sync(all_lanes, before + __popc(bits), 31);
    }

    /* base: kept items before this part; others: place of the first item that is not kept, plus the
     * items before it, minus the kept ones. */
    GPI_DEVICE void store(const gpi_compact_args &a, uint64_t first, uint32_t groups, uint64_t n,
                          uint64_t base, uint64_t total) const
    {
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
            if (k >= groups)
                break;
            const uint64_t i = first + 32 * k + lane_id();
            const uint32_t group = __shfl_sync(all_lanes, bits, k);
            const uint32_t left = __popc(group & ((1u << lane_id()) - 1));
            const uint64_t place = base + __shfl_sync(all_lanes, before, k) + left;
            const bool kept = group >> lane_id() & 1;
            if (kept && place < a.capacity) {
                if constexpr (INDICES)
                    store_index(a, place, i);
                else
                    ((Item *)a.out)[place] = item[k];
            }
            if constexpr (!INDICES)
                if (a.partition && !kept && i < n)
                    ((Item *)a.out)[total + i - place] = item[k];
        }
    }
};

struct CompactTileShared {
    Launch launch;
    uint64_t n, total, prefix;
    uint32_t kept[GPI_COMPACT_WARPS], next;
};

/* By one warp: publish the tile's count, add up those before it, claim the next tile. A lone block
 * needs no exchange. */
GPI_DEVICE void compact_look_ahead(const CompactParams &p, CompactTileShared &s, CountAhead &ahead,
                                   const TileState<uint32_t> &state, uint32_t tile, uint32_t tiles)
{
    const uint32_t tile_kept = reduce_warps<Sum<uint32_t>>(s.kept);
    if (gridDim.x > 1 && threadIdx.x == 0) {
        order_in_place(p);
        state.publish(tile, tile_kept);
    }
    const uint64_t prefix = ahead.exclusive(state, tile);
    order_in_place(p);
    if (threadIdx.x == 0) {
        s.prefix = prefix;
        if (tile == tiles - 1)
            compact_finish(p, prefix + tile_kept);
        s.next = gridDim.x > 1 ? tile_next(p.state, tiles) : tiles;
    }
}

/*
 * Grid: one block per tile, or fewer; 8 warps. Tile: 8 x groups x 32 items, groups at most GROUPS.
 * Blocks claim tiles in order (device/epoch.cuh). After: all outputs and the count.
 */
template <int BYTES, bool COMPARE, bool INDICES, int GROUPS>
__global__ void __launch_bounds__(32 * GPI_COMPACT_WARPS)
    compact_tile_k(const CompactParams p, const uint32_t groups)
{
    __shared__ CompactTileShared s;
    const int warp = threadIdx.x / 32;
    const uint32_t tile_items = GPI_COMPACT_WARPS * 32 * groups;

    /* 1. Which tile: a lone block needs no exchange. */
    if (threadIdx.x == 0) {
        s.n = item_count(p.a);
        const uint32_t tiles = (uint32_t)((s.n + tile_items - 1) / tile_items);
        s.launch = gridDim.x > 1 ? launch_begin(p.state, tiles) : Launch{0, 0};
        s.total = p.a.partition ? *p.a.out_count : 0;
    }
    __syncthreads();
    const uint64_t n = s.n;
    const uint32_t tiles = (uint32_t)((n + tile_items - 1) / tile_items);
    const TileState<uint32_t> state(p.state, s.launch.epoch);
    CountAhead ahead;
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        if (gridDim.x > 1)
            state.retire_one(p.state, tiles);
        if (tiles == 0)
            compact_finish(p, 0);
    }

    for (uint32_t tile = s.launch.tile; tile < tiles;) {
        /* 2. Load and select. */
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * 32 * groups;
        CompactPart<BYTES, COMPARE, INDICES, GROUPS> part;
        const uint32_t kept = part.load(p.a, first, groups, n);
        share_warp_sum(s.kept, warp, kept);
        __syncthreads();

        /* 3. Publish the tile's count; add up those before it. */
        if (warp == 0)
            compact_look_ahead(p, s, ahead, state, tile, tiles);
        __syncthreads();

        /* 4. Store. */
        uint64_t base = s.prefix;
        fold_warps_before<Sum<uint64_t>>(base, s.kept, warp);
        stall(stall_store, s.launch.epoch, tile);
        part.store(p.a, first, groups, n, base, s.total);
        tile = s.next;
        if (tile < tiles)
            __syncthreads(); /* kept and prefix are free again */
    }
}

} // namespace GPI_SPACE
