/* SPDX-License-Identifier: MIT */
/* Compaction of large arrays: the policy of the stream (device/stream.cuh). */
#pragma once

#include "compact/compact_kernels.cuh"
#include "device/stream.cuh"

namespace GPI_SPACE
{

/*
 * Sums are counts of items that are kept; a part is the bits that tell which. A stage holds a
 * tile's items and flags as they lie in memory, each from the 16-byte boundary at or before its
 * first byte. BYTES 0: flags only. Tile: W x 32 x GROUPS items.
 */
template <int BYTES, bool COMPARE, bool INDICES, int W, int R, int L, int GROUPS, int S>
struct CompactStream : StreamPolicy {
    using Item = ItemOf<BYTES>;
    static constexpr bool has_items = COMPARE || !INDICES, has_flags = !COMPARE;
    static constexpr int tile_items = W * 32 * GROUPS;
    static constexpr int items_bytes = has_items ? tile_items * BYTES + 16 : 0;
    static constexpr int flags_bytes = has_flags ? tile_items + 16 : 0;
    static constexpr int stage_bytes = (items_bytes + flags_bytes + 127) / 128 * 128;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr bool part_is_copy = false;
    static_assert(GROUPS <= 32, "a lane holds the bits of a group");

    using Params = CompactParams;
    using Loader = StageLoader<L>;
    using Sum = uint32_t;
    using Prefix = uint64_t;
    struct Part {
    };
    struct Own {
        uint32_t bits[S][W][32];
        uint64_t total; /* of a partition, which was counted before */
    };

    const CompactParams &p;
    StreamShared<CompactStream> &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE uint64_t items() const
    {
        return item_count(p.a);
    }

    GPI_DEVICE void begin() const
    {
        s.own.total = p.a.partition ? *p.a.out_count : 0;
    }

    GPI_DEVICE const Item *items_in(int stage) const
    {
        return (const Item *)(ring + stage * stage_bytes + misalignment(p.a.in));
    }

    GPI_DEVICE const uint8_t *flags(int stage) const
    {
        return (const uint8_t *)ring + stage * stage_bytes + items_bytes + misalignment(p.a.keep);
    }

    GPI_DEVICE uint32_t items_of(uint32_t tile) const
    {
        const uint64_t rest = s.n - (uint64_t)tile * tile_items;
        return rest < tile_items ? (uint32_t)rest : tile_items;
    }

    /* ---- loaders ---- */

    GPI_DEVICE void prefetch(uint64_t tile, uint32_t thread, uint32_t threads) const
    {
        if constexpr (has_items)
            prefetch_tile((const char *)p.a.in, p.a.n * BYTES, tile, tile_items * BYTES, thread,
                          threads);
        if constexpr (has_flags)
            prefetch_tile((const char *)p.a.keep, p.a.n, tile, tile_items, thread, threads);
    }

    static GPI_DEVICE Loader loader()
    {
        return {};
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage, const Loader &loader) const
    {
        const uint64_t first = (uint64_t)tile * tile_items, rest = s.n - first;
        const uint32_t count = items_of(tile);
        char *to = ring + stage * stage_bytes;
        StageSpan item = {}, flag = {};
        if constexpr (has_items)
            item = Loader::span(to, (const char *)p.a.in + first * BYTES, count * BYTES, tile == 0,
                                rest * BYTES);
        if constexpr (has_flags)
            flag = Loader::span(to + items_bytes, (const char *)p.a.keep + first, count, tile == 0,
                                rest);
        loader.load(&s.loaded[stage], item, flag);
    }

    /* ---- counts ---- */

    /* Bits of the groups that store warp w will move: lane k gets those of group k. WHOLE: the tile
     * has all its items. */
    template <bool WHOLE> GPI_DEVICE uint32_t mark(int stage, int w, uint32_t count) const
    {
        const Range<Item> range(p.a.range);
        const uint32_t start = w * GROUPS * 32 + lane_id();
        const Item *in = items_in(stage) + start;
        const uint8_t *keep = flags(stage) + start;
        uint32_t bits = 0;
#pragma unroll 8
        for (int k = 0; k < GROUPS; k++) {
            bool kept = WHOLE || start + 32 * k < count;
            if constexpr (COMPARE)
                kept = kept && range(in[32 * k]);
            else
                kept = kept && keep[32 * k];
            const uint32_t group = __ballot_sync(all_lanes, kept);
            bits = lane_id() == k ? group : bits;
        }
        return bits;
    }

    GPI_DEVICE uint32_t part_sum(uint32_t tile, int stage, int w) const
    {
        const uint32_t count = items_of(tile);
        const uint32_t bits =
            count == tile_items ? mark<true>(stage, w, count) : mark<false>(stage, w, count);
        s.own.bits[stage][w][lane_id()] = bits;
        return warp_sum(__popc(bits));
    }

    GPI_DEVICE uint32_t add(uint32_t l, uint32_t r) const
    {
        return l + r;
    }

    GPI_DEVICE uint64_t after(uint64_t prefix, uint32_t sum) const
    {
        return prefix + sum;
    }

    GPI_DEVICE uint64_t start() const
    {
        return 0;
    }

    GPI_DEVICE CountAhead look_ahead() const
    {
        return {};
    }

    GPI_DEVICE void reads_done() const
    {
        order_in_place(p);
    }

    GPI_DEVICE void writes_begin() const
    {
        order_in_place(p);
    }

    GPI_DEVICE void finish(uint64_t kept) const
    {
        compact_finish(p, kept);
    }

    /* ---- store warps ---- */

    /* The kept ones of a warp's groups to out, as far as room goes. */
    GPI_DEVICE void store_kept(const Item *from, uint64_t index, uint32_t bits, uint32_t before,
                               uint64_t base, uint32_t room) const
    {
#pragma unroll 8
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t group = __shfl_sync(all_lanes, bits, k);
            const uint32_t place =
                __shfl_sync(all_lanes, before, k) + __popc(group & ((1u << lane_id()) - 1));
            if (!(group >> lane_id() & 1) || place >= room)
                continue;
            if constexpr (INDICES)
                store_index(p.a, base + place, index + 32 * k + lane_id());
            else
                ((Item *)p.a.out + base)[place] = from[32 * k + lane_id()];
        }
    }

    /* The others of a warp's first `count` items, from place `base` on. */
    GPI_DEVICE void store_others(const Item *from, uint32_t count, uint32_t bits, uint32_t before,
                                 uint64_t base) const
    {
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t group = __shfl_sync(all_lanes, bits, k), i = 32 * k + lane_id();
            const uint32_t left =
                __shfl_sync(all_lanes, before, k) + __popc(group & ((1u << lane_id()) - 1));
            if (i < count && !(group >> lane_id() & 1))
                ((Item *)p.a.out + base)[i - left] = from[i];
        }
    }

    GPI_DEVICE void load_part(Part &, uint32_t, int, int) const
    {
    }

    /* base: items kept before the part. */
    GPI_DEVICE void store_part(const Part &, uint32_t tile, int stage, int warp,
                               uint64_t base) const
    {
        constexpr int part_items = GROUPS * 32;
        const uint32_t bits = s.own.bits[stage][warp][lane_id()];
        const uint32_t before = warp_exclusive(__popc(bits));
        const uint64_t index = (uint64_t)tile * tile_items + warp * part_items;
        const Item *from = has_items ? items_in(stage) + warp * part_items : NULL;
        if (base < p.a.capacity) {
            const uint64_t room = p.a.capacity - base;
            store_kept(from, index, bits, before, base,
                       room < part_items ? (uint32_t)room : part_items);
        }
        if constexpr (!INDICES)
            if (p.a.partition && index < s.n) {
                const uint64_t rest = s.n - index;
                store_others(from, rest < part_items ? (uint32_t)rest : part_items, bits, before,
                             s.own.total + index - base);
            }
    }
};

} // namespace GPI_SPACE
