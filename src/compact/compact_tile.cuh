/* SPDX-License-Identifier: MIT */
/* Compaction with one tile per block, its items in registers. Runs on every GPU. */
#pragma once

#include "compact/compact_kernels.cuh"
#include "device/block.cuh"
#include "tuning/compact_tuning.cuh"

namespace GPI_SPACE
{

/*
 * One warp's part of a tile: groups of 32 neighbouring items, lane i has item i of each. BYTES 0:
 * no items, only flags. THREE: a partition in three.
 */
template <int BYTES, bool COMPARE, bool THREE, int GROUPS> struct CompactPart {
    using Item = ItemOf<BYTES>;
    static constexpr bool has_items = BYTES > 0;

    Item item[GROUPS];
    uint32_t kept, below; /* lane k: which items of group k */

    /* The first `groups` groups of those at `first`, as far as n goes; returns their counts. */
    GPI_DEVICE uint32_t load(const gpi_compact_args &a, uint64_t first, uint32_t groups, uint64_t n)
    {
        const Range<Item> range(a.range);
        const uint8_t *keep = (const uint8_t *)a.keep;
        const bool bytes = !COMPARE && !a.bits;
        uint8_t flag[GROUPS];
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
            const uint64_t i = first + 32 * k + lane_id();
            flag[k] = 0;
            if (k >= groups || i >= n)
                continue;
            if constexpr (has_items)
                item[k] = ((const Item *)a.in)[i];
            flag[k] = bytes ? keep[i] : 1;
        }
        kept = below = 0;
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
            bool chosen = flag[k] != 0, less = false;
            if constexpr (THREE)
                less = chosen && range.below(item[k]);
            if constexpr (COMPARE)
                chosen = chosen && range(item[k]);
            const uint32_t group = __ballot_sync(all_lanes, chosen);
            kept = lane_id() == k ? group : kept;
            if constexpr (THREE) {
                const uint32_t group_below = __ballot_sync(all_lanes, less);
                below = lane_id() == k ? group_below : below;
            }
        }
        const uint64_t own = first + 32 * lane_id();
        if (!COMPARE && a.bits && kept) /* of the items that there are */
            kept &= ((const uint32_t *)a.keep)[own / 32];
        return warp_sum(tile_counts<THREE>(__popc(kept), __popc(below)));
    }

    /* base: items before this part; others: where those of a partition begin. */
    GPI_DEVICE void store(const gpi_compact_args &a, uint64_t first, uint32_t groups, uint64_t n,
                          const Before<THREE> &base, char *others) const
    {
        const uint32_t most = 32 * groups;
        const uint32_t count = first >= n ? 0 : n - first < most ? (uint32_t)(n - first) : most;
#pragma unroll 1
        for (uint32_t side = 0; side <= (has_items ? a.sides : 0); side++) {
            const Outlet o = outlet_of<THREE>(a, side, others, kept, below, base, first, count);
            if (has_items && o.out)
                store_items(o, groups);
            if (side == 0 && a.indices)
                store_indices(a, o, first, groups);
        }
    }

    /* The place of this lane's item of group k. */
    static GPI_DEVICE uint64_t place_of(const Outlet &o, uint32_t before, int k, uint32_t group)
    {
        return o.base + __shfl_sync(all_lanes, before, k) + __popc(group & ((1u << lane_id()) - 1));
    }

    GPI_DEVICE void store_items(const Outlet &o, uint32_t groups) const
    {
        const uint32_t before = warp_exclusive(__popc(o.bits));
#pragma unroll
        for (int k = 0; k < GROUPS; k++) {
            if (k >= groups)
                break;
            const uint32_t group = __shfl_sync(all_lanes, o.bits, k);
            const uint64_t place = place_of(o, before, k, group);
            if (group >> lane_id() & 1 && place < o.capacity)
                ((Item *)o.out)[place] = item[k];
        }
    }

    static GPI_DEVICE void store_indices(const gpi_compact_args &a, const Outlet &o, uint64_t first,
                                         uint32_t groups)
    {
        const uint32_t before = warp_exclusive(__popc(o.bits));
#pragma unroll 4
        for (uint32_t k = 0; k < groups; k++) {
            const uint32_t group = __shfl_sync(all_lanes, o.bits, k);
            const uint64_t place = place_of(o, before, k, group);
            if (group >> lane_id() & 1 && place < o.capacity)
                store_index(a, place, first + 32 * k + lane_id());
        }
    }
};

template <bool THREE> struct CompactTileShared {
    Launch launch;
    uint64_t n;
    char *others;
    Before<THREE> prefix;
    uint32_t counts[GPI_COMPACT_WARPS], next;
};

/* By one warp: publish the tile's count, add up those before it, claim the next tile. A lone block
 * needs no exchange. */
template <bool THREE>
GPI_DEVICE void compact_look_ahead(const CompactParams &p, CompactTileShared<THREE> &s,
                                   CountAhead<THREE> &ahead, const TileState<uint32_t> &state,
                                   uint32_t tile, uint32_t tiles)
{
    const uint32_t counts = reduce_warps<Sum<uint32_t>>(s.counts);
    if (gridDim.x > 1 && threadIdx.x == 0) {
        order_in_place(p);
        state.publish(tile, counts);
    }
    const Before<THREE> prefix = ahead.exclusive(state, tile);
    order_in_place(p);
    if (!THREE && p.at_once) { /* a partition in three has arrays of its own */
        char *others = gridDim.x > 1 ? others_behind(p, ahead, state, tiles)
                                     : (char *)p.a.out + (uint64_t)counts * p.a.item_bytes;
        if (threadIdx.x == 0)
            s.others = others;
    }
    if (threadIdx.x == 0) {
        s.prefix = prefix;
        if (tile == tiles - 1)
            compact_finish(p, prefix.after(counts));
        s.next = gridDim.x > 1 ? tile_next(p.state, tiles) : tiles;
    }
}

/*
 * Grid: one block per tile, or fewer; 8 warps. Tile: 8 x groups x 32 items, groups at most GROUPS.
 * Blocks claim tiles in order (device/epoch.cuh). After: all outputs and the count.
 */
template <int BYTES, bool COMPARE, bool THREE, int GROUPS>
__global__ void __launch_bounds__(32 * GPI_COMPACT_WARPS, compact_tuning.tile_blocks_per_sm)
    compact_tile_k(const CompactParams p, const uint32_t groups)
{
    __shared__ CompactTileShared<THREE> s;
    const int warp = threadIdx.x / 32;
    const uint32_t tile_items = GPI_COMPACT_WARPS * 32 * groups;

    /* 1. Which tile: a lone block needs no exchange. */
    if (threadIdx.x == 0) {
        const bool alone = gridDim.x == 1;
        const uint64_t number = alone ? 0 : counter_claim(p.state);
        s.n = item_count(p.a);
        const uint32_t tiles = (uint32_t)((s.n + tile_items - 1) / tile_items);
        s.launch = alone ? Launch{0, 0} : launch_begin(p.state, tiles, number);
        s.others = p.a.sides ? others_begin(p) : NULL;
    }
    __syncthreads();
    const uint64_t n = s.n;
    const uint32_t tiles = (uint32_t)((n + tile_items - 1) / tile_items);
    const TileState<uint32_t> state(p.state, s.launch.epoch);
    CountAhead<THREE> ahead;
    if (threadIdx.x == 0 && s.launch.tile == 0) {
        if (gridDim.x > 1)
            state.retire_one(p.state, tiles);
        if (tiles == 0)
            compact_finish<THREE>(p, {0, 0});
    }

    for (uint32_t tile = s.launch.tile; tile < tiles;) {
        /* 2. Load and select. */
        const uint64_t first = (uint64_t)tile * tile_items + (uint64_t)warp * 32 * groups;
        CompactPart<BYTES, COMPARE, THREE, GROUPS> part;
        const uint32_t counts = part.load(p.a, first, groups, n);
        share_warp_sum(s.counts, warp, counts);
        __syncthreads();

        /* 3. Publish the tile's count; add up those before it. */
        if (warp == 0)
            compact_look_ahead(p, s, ahead, state, tile, tiles);
        __syncthreads();

        /* 4. Store. */
        uint32_t before = 0;
        fold_warps_before<Sum<uint32_t>>(before, s.counts, warp);
        const Before<THREE> base = s.prefix.after(before);
        stall(stall_store, s.launch.epoch, tile);
        part.store(p.a, first, groups, n, base, s.others);
        tile = s.next;
        if (tile < tiles)
            __syncthreads(); /* counts and prefix are free again */
    }
}

} // namespace GPI_SPACE
