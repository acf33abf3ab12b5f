/* SPDX-License-Identifier: MIT */
/* What the compaction kernels share: parameters, the selection, counts before a tile. */
#pragma once

#include "device/grid.cuh"
#include "device/host.cuh"
#include "device/item_count.cuh"
#include "device/lookahead.cuh"
#include "device/ops.cuh"
#include "device/report.cuh"
#include "device/warp.cuh"

extern "C" {
#include "compact/compact_internal.h"
}

namespace GPI_SPACE
{

struct CompactParams {
    gpi_compact_args a;
    gpi_state state;
    gpi_reporter reporter;
    /* A partition in one array whose blocks are all there at once, and have room for all tiles: the
     * counts of these say where the others begin, and no launch before has to find that out. */
    bool at_once;
    bool has_room; /* every output, for all that may go to it */
    bool passing;  /* the L2 gives up what has been read before other lines */
};

/* Storage of one item; 0: no items are read. */
template <int BYTES>
using ItemOf = std::conditional_t<
    BYTES <= 1, uint8_t,
    std::conditional_t<
        BYTES == 2, uint16_t,
        std::conditional_t<BYTES == 4, uint32_t, std::conditional_t<BYTES == 8, uint64_t, uint4>>>>;

/* The comparison of gpi_compact_range in the item's own width. */
template <class T> struct Range {
    T flip, low, span, least, first;
    bool invert;

    __host__ __device__ explicit Range(const gpi_compact_range &r)
        : flip((T)r.flip), low((T)r.low), span((T)r.span), least((T)r.least), first((T)r.first),
          invert(r.invert != 0)
    {
    }

    GPI_DEVICE T word(T x) const
    {
        T negative = (T)(0 - (x >> (8 * sizeof(T) - 1)));
        return (T)(x ^ (negative & flip));
    }

    GPI_DEVICE bool operator()(T x) const
    {
        return ((T)(word(x) - low) <= span) != invert;
    }

    GPI_DEVICE bool below(T x) const
    {
        return (T)(word(x) - least) < first;
    }
};
template <> struct Range<uint4> {
    GPI_DEVICE explicit Range(const gpi_compact_range &)
    {
    }
};

/* ---- counts ---- */

/*
 * Of a tile, 32 bits: its kept items, and with THREE those below above them; a tile has less than
 * 2^16 items then.
 */
template <bool THREE> GPI_DEVICE uint32_t tile_counts(uint32_t kept, uint32_t below)
{
    return THREE ? kept | below << 16 : kept;
}

/* Items before a place. */
template <bool THREE> struct Before {
    uint64_t kept, below;

    GPI_DEVICE Before after(uint32_t counts) const
    {
        return THREE ? Before{kept + (counts & 0xffff), below + (counts >> 16)}
                     : Before{kept + counts, 0};
    }
};

/* By one thread, when all tiles are counted. Where the others follow the kept items, these have
 * been counted before. */
template <bool THREE> GPI_DEVICE void compact_finish(const CompactParams &p, Before<THREE> all)
{
    const uint64_t others = item_count(p.a) - all.kept;
    const uint64_t counts[3] = {all.kept, THREE ? all.below : others, others - all.below};
    if (!p.a.follows || p.at_once)
        *p.a.out_count = all.kept;
    if (all.kept > p.a.capacity)
        report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, all.kept, p.a.capacity);
#pragma unroll
    for (int k = 1; k < (THREE ? 3 : 2); k++) {
        if (p.a.counts <= k)
            break;
        p.a.out_count[k] = counts[k];
        if (counts[k] > p.a.side[k - 1].capacity)
            report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, counts[k],
                   p.a.side[k - 1].capacity);
    }
}

/*
 * Items before a tile. Each tile's counts have 32 bits, their sums 64. One warp owns the object
 * and asks for tiles in rising order.
 */
template <bool THREE> struct CountAhead {
    static constexpr uint32_t batch = 5; /* words that a lane reads at once: 160 tiles, more than
                                          * multiprocessors, take one trip */
    Before<THREE> before = {0, 0};       /* in the tiles [0, next) */
    uint32_t next = 0;

    GPI_DEVICE Before<THREE> exclusive(const TileState<uint32_t> &state, uint32_t tile)
    {
        while (next < tile) {
            uint32_t v[batch];
            poll_tiles<striped>(state, next, tile, Sum<uint32_t>(), v);
            uint32_t kept = 0, below = 0; /* of several tiles, which 16 bits may not hold */
#pragma unroll
            for (int k = 0; k < (int)batch; k++) {
                kept += THREE ? v[k] & 0xffff : v[k];
                below += THREE ? v[k] >> 16 : 0;
            }
            before.kept += warp_sum(kept);
            if constexpr (THREE)
                before.below += warp_sum(below);
            next = next + 32 * batch < tile ? next + 32 * batch : tile;
        }
        return before;
    }
};

/*
 * In place, a tile's outputs land on inputs of tiles before it (and of its own). Who publishes a
 * count has read its tile; who has seen the counts of all tiles before it may write there. The
 * words themselves are relaxed, so a fence on each side makes that order hold for the items.
 */
GPI_DEVICE void order_in_place(const CompactParams &p)
{
    if (p.a.in_place)
        __threadfence();
}

/* ---- flags ---- */

/* 32 flags from number `first` on, a multiple of 32, of which there are count. */
GPI_DEVICE uint32_t flag_word(const uint32_t *words, uint64_t first, uint32_t count)
{
    const uint32_t word = words[first / 32];
    return count < 32 ? word & ((1u << count) - 1) : word;
}

/* How many of a lane's 32 items there are, if its part has `count` and those of the lanes before
 * come first. */
GPI_DEVICE uint32_t lane_items(uint32_t count)
{
    const uint32_t before = 32 * lane_id();
    return count <= before ? 0 : count - before < 32 ? count - before : 32;
}

/* The lowest `count` of 32 bits. */
GPI_DEVICE uint32_t low_bits(uint32_t count)
{
    return count < 32 ? (1u << count) - 1 : ~0u;
}

/* ---- where outputs go ---- */

/* Where the others of a partition begin, by one thread, once. That they follow is known when the
 * kernel before has ended, whose states this one may use again from there on; or later, if the
 * launch is at once. */
GPI_DEVICE char *others_begin(const CompactParams &p)
{
    if (!p.a.follows || p.at_once)
        return (char *)p.a.side[0].out;
    grid_wait();
    return (char *)p.a.out + *(volatile uint64_t *)p.a.out_count * p.a.item_bytes;
}

/* The same of a launch at once, by one warp, from the counts of all its tiles; ahead has those up
 * to its own. */
template <bool THREE>
GPI_DEVICE char *others_behind(const CompactParams &p, CountAhead<THREE> &ahead,
                               const TileState<uint32_t> &state, uint32_t tiles)
{
    return (char *)p.a.out + ahead.exclusive(state, tiles).kept * p.a.item_bytes;
}

/* What a part of a tile sends to one output: the items with a set bit, to places from base on. */
struct Outlet {
    uint32_t bits; /* lane k: of the part's items from 32 k on */
    void *out;
    uint64_t capacity, base;
};

/* Of a part whose items begin at index, and of which there are count. side 0: the kept items. */
template <bool THREE>
GPI_DEVICE Outlet outlet_of(const gpi_compact_args &a, uint32_t side, char *others, uint32_t kept,
                            uint32_t below, const Before<THREE> &base, uint64_t index,
                            uint32_t count)
{
    if (side == 0)
        return {kept, a.out, a.capacity, base.kept};
    if (THREE && side == 1)
        return {below, others, a.side[0].capacity, base.below};
    return {low_bits(lane_items(count)) & ~(kept | below), THREE ? a.side[1].out : others,
            a.side[THREE].capacity, index - base.kept - base.below};
}

GPI_DEVICE void store_index(const gpi_compact_args &a, uint64_t place, uint64_t index)
{
    if (a.index_bytes == 4)
        ((uint32_t *)a.indices)[place] = (uint32_t)index;
    else
        ((uint64_t *)a.indices)[place] = index;
}

} // namespace GPI_SPACE
