/* SPDX-License-Identifier: MIT */
/* Where runs begin and end: the policy of the stream (device/stream.cuh). */
#pragma once

#include "group/group_stores.cuh"

namespace GPI_SPACE
{

template <int BYTES>
using KeyOf = std::conditional_t<
    BYTES <= 1, uint8_t,
    std::conditional_t<BYTES == 2, uint16_t, std::conditional_t<BYTES == 4, uint32_t, uint64_t>>>;

/*
 * Sums are counts of runs that begin, and the place of the last one. A stage holds a tile's keys as
 * they lie in memory, with the one before and the one behind, from the 16-byte boundary at or
 * before the first; BYTES 0: the bits of its heads, and 16 bytes behind them. Tile: W x 32 x GROUPS
 * items; lane k of a warp has the bits of its group k.
 */
template <int BYTES, int W, int R, int L, int GROUPS, int S>
struct RunsStream : RunTiles<W * 32 * GROUPS> {
    using Tiles = RunTiles<W * 32 * GROUPS>;
    using Tiles::first_of;
    using Tiles::items_of;
    using Tiles::tile_items;
    using Key = KeyOf<BYTES>;
    static constexpr bool has_keys = BYTES > 0;
    static constexpr int part_items = 32 * GROUPS;
    static constexpr int front = has_keys ? 16 : 0; /* room before the first item of all */
    static constexpr int held_bytes =
        has_keys ? front + (tile_items + 2) * BYTES + 32 : tile_items / 8 + 16;
    static constexpr int stage_bytes = (held_bytes + 127) / 128 * 128;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr bool part_is_copy = false;
    static_assert(GROUPS <= 32, "a lane holds the bits of a group");
    static_assert(tile_items % 128 == 0, "bits are copied 16 bytes at a time");

    using Params = RunsParams;
    using Loader = StageLoader<L>;
    using Sum = TileRuns<uint32_t>; /* where the last one begins in the tile */
    /* Of a part of a tile: the runs that began before, and where the last of them did. */
    struct Prefix {
        uint64_t value, count, tile_begin;
    };
    using Fold = FoldRuns<uint64_t, Stays<uint64_t>>;
    struct Part {
    };
    struct Own {
        RunGroup groups[S][W][32];
        uint8_t list[W][has_keys ? 32 : 32 * run_batch<GROUPS>];
    };

    const Params &p;
    StreamShared<RunsStream> &s;
    char *ring;
    uint32_t tiles;

    GPI_DEVICE void wait() const
    {
        grid_wait(); /* see queue_stream() */
    }

    GPI_DEVICE uint64_t items() const
    {
        return item_count(p);
    }

    /* The first key of the tile; the one before is there if the tile is not the first. */
    GPI_DEVICE const Key *keys_in(uint32_t tile, int stage) const
    {
        const char *at = ring + stage * stage_bytes + front;
        return (const Key *)(tile == 0 ? at + misalignment(p.keys)
                                       : at + misalignment((const char *)p.keys - BYTES) + BYTES);
    }

    /* ---- loaders ---- */

    GPI_DEVICE void prefetch(uint64_t tile, uint32_t thread, uint32_t threads) const
    {
        if constexpr (has_keys)
            prefetch_tile((const char *)p.keys, p.n * BYTES, tile, tile_items * BYTES, thread,
                          threads);
    }

    static GPI_DEVICE Loader loader()
    {
        if constexpr (!has_keys)
            grid_wait(); /* for the bits */
        return {};
    }

    GPI_DEVICE void load_tile(uint32_t tile, int stage, const Loader &loader) const
    {
        char *to = ring + stage * stage_bytes + front;
        if constexpr (has_keys) {
            const uint64_t begin = first_of(tile) - (tile > 0), rest = s.n - begin;
            const uint64_t wanted = tile_items + 1 + (tile > 0);
            const uint32_t count = (uint32_t)(rest < wanted ? rest : wanted);
            loader.load(&s.loaded[stage], Loader::span(to, (const char *)p.keys + begin * BYTES,
                                                       count * BYTES, tile == 0, rest * BYTES));
        } else {
            const char *from = (const char *)p.bits + first_of(tile) / 8;
            loader.load(&s.loaded[stage], StageSpan{to, from, 0, tile_items / 8 + 16});
        }
    }

    /* ---- heads ---- */

    /* Heads of the groups of store warp w by keys: lane k gets those of group k. The first item of
     * all is compared with what lies before it. WHOLE: the tile has all its items. */
    template <bool WHOLE, bool FLOATS>
    GPI_DEVICE uint32_t heads_by_keys(const Key *in, uint32_t first, uint32_t count) const
    {
        const KeyDiffers<Key> keys = {(Key)p.sign, (Key)p.inf};
        uint32_t heads = 0;
#pragma unroll 8
        for (int k = 0; k < GROUPS; k++) {
            const Key *own = in + first + 32 * k;
            const bool head =
                (WHOLE || first + 32 * k < count) && keys.template differ<FLOATS>(own[0], own[-1]);
            const uint32_t group = __ballot_sync(all_lanes, head);
            heads = lane_id() == k ? group : heads;
        }
        return heads;
    }

    /* A bit for each of a word's narrow items that is not 0. */
    static GPI_DEVICE uint32_t items_set(uint32_t x)
    {
        constexpr uint32_t low = sizeof(Key) == 1 ? 0x7f7f7f7f : 0x7fff7fff;
        const uint32_t top = (((x & low) + low) | x) & ~low;
        if constexpr (sizeof(Key) == 1)
            return (top >> 7) * 0x01020408u >> 24;
        else
            return (top >> 15 | top >> 30) & 3;
    }

    /* Keys that are no floats, if they are narrow: each lane compares its group's, a word of them
     * with the one that lies an item before. */
    static GPI_DEVICE uint32_t heads_by_words(const Key *own)
    {
        constexpr int words = 8 * sizeof(Key), vectors = (words + 1) / 4 + 1;
        const char *before = (const char *)(own - 1);
        const uint4 *from = (const uint4 *)(before - misalignment(before));
        uint32_t held[words + 5] = {}, here[words + 1], heads = 0;
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            const uint4 v = from[i];
            held[4 * i] = v.x, held[4 * i + 1] = v.y, held[4 * i + 2] = v.z, held[4 * i + 3] = v.w;
        }
        words_at<words + 1>(held, misalignment(before), here);
#pragma unroll
        for (int i = 0; i < words; i++) {
            const uint32_t next = __funnelshift_r(here[i], here[i + 1], 8 * sizeof(Key));
            heads |= items_set(here[i] ^ next) << (i * 4 / sizeof(Key));
        }
        return heads;
    }

    GPI_DEVICE uint32_t heads_by_keys(uint32_t tile, int stage, int w, uint32_t count) const
    {
        const Key *in = keys_in(tile, stage);
        const uint32_t first = w * part_items + lane_id();
        if constexpr (sizeof(Key) <= 2 && GROUPS == 32)
            if (!p.inf) {
                const uint32_t group = w * part_items + 32 * lane_id();
                return (heads_by_words(in + group) & bits_before(count, group)) |
                       (tile == 0 && group == 0);
            }
        const uint32_t heads = count < tile_items
                                   ? p.inf ? heads_by_keys<false, true>(in, first, count)
                                           : heads_by_keys<false, false>(in, first, count)
                               : p.inf ? heads_by_keys<true, true>(in, first, count)
                                       : heads_by_keys<true, false>(in, first, count);
        return heads | (tile == 0 && first == 0);
    }

    /* The same by bits. */
    GPI_DEVICE const uint32_t *words_of(int stage, int w) const
    {
        return (const uint32_t *)(ring + stage * stage_bytes) + w * GROUPS;
    }

    /* Whether the item behind a part begins a run, or there is none. */
    GPI_DEVICE bool head_behind(uint32_t tile, int stage, int w, uint32_t count) const
    {
        const uint32_t end = (w + 1) * part_items;
        if (end > count)
            return false;
        if (first_of(tile) + end == s.n)
            return true;
        if constexpr (has_keys) {
            const Key *in = keys_in(tile, stage) + end;
            return KeyDiffers<Key>{(Key)p.sign, (Key)p.inf}(in[0], in[-1]);
        } else {
            return words_of(stage, w)[GROUPS] & 1;
        }
    }

    GPI_DEVICE uint32_t heads_of(uint32_t tile, int stage, int w, uint32_t count) const
    {
        const uint32_t group = w * GROUPS + lane_id();
        uint32_t heads = 0;
        if constexpr (has_keys) {
            heads = heads_by_keys(tile, stage, w, count);
            if (p.bits && lane_id() < GROUPS)
                p.bits[first_of(tile) / 32 + group] = heads;
        } else if (lane_id() < GROUPS) {
            heads = words_of(stage, w)[lane_id()] & bits_before(count, 32 * group);
        }
        return heads;
    }

    /* Bits behind the array are not heads of it, but the first of them ends its last run. */
    GPI_DEVICE Sum part_sum(uint32_t tile, int stage, int w) const
    {
        const uint32_t count = items_of(tile, s.n), group = w * GROUPS + lane_id();
        const uint32_t heads = heads_of(tile, stage, w, count);
        const uint32_t behind = head_behind(tile, stage, w, count);
        uint32_t next = heads;
        if (lane_id() < GROUPS && first_of(tile) + count == s.n && count / 32 == group)
            next |= 1u << count % 32;
        const uint32_t after = shuffle_down(next, 1);
        uint32_t ends = next >> 1 | (lane_id() < GROUPS - 1 ? after : behind) << 31;
        ends = lane_id() < GROUPS ? ends : 0;
        const uint32_t starts = p.longer ? heads & ~ends : heads;
        RunGroup &to = s.own.groups[stage][w][lane_id()];
        to.starts = starts;
        to.ends = p.longer ? ends & ~heads : ends;
        const uint32_t with = __ballot_sync(all_lanes, starts != 0);
        const int last = with ? 31 - __clz(with) : 0;
        const uint32_t at = 31 - __clz(shuffle(starts, last) | 1);
        return {(uint32_t)(w * GROUPS + last) * 32 + at, warp_sum(__popc(starts))};
    }

    GPI_DEVICE Sum add(const Sum &l, const Sum &r) const
    {
        return {r.count ? r.value : l.value, l.count + r.count};
    }

    GPI_DEVICE Prefix after(const Prefix &prefix, const Sum &sum) const
    {
        return {sum.count ? prefix.tile_begin + sum.value : prefix.value, prefix.count + sum.count,
                prefix.tile_begin};
    }

    GPI_DEVICE Prefix start() const
    {
        return {0, 0, 0};
    }

    struct Ahead : RunsAhead<uint64_t, Stays<uint64_t>> {
        static GPI_DEVICE Sum identity()
        {
            return {0, 0};
        }

        static GPI_DEVICE uint64_t value_of(uint32_t first, uint32_t own, uint32_t with)
        {
            const int lane = with ? 31 - __clz(with) : 0;
            return (uint64_t)(first + lane) * tile_items + shuffle(own, lane);
        }

        GPI_DEVICE Prefix exclusive(const TileState<Sum> &state, uint32_t tile)
        {
            const Runs<uint64_t> runs = this->template find<Ahead>(state, tile);
            return {runs.value, runs.count, (uint64_t)tile * tile_items};
        }
    };

    GPI_DEVICE Ahead look_ahead() const
    {
        return {{Fold::identity(), 0}};
    }

    GPI_DEVICE void finish(const Prefix &all) const
    {
        if (!p.counts)
            return;
        *p.out_count = all.count + (p.more ? *p.more : 0);
        if (all.count > p.capacity)
            report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, all.count, p.capacity);
    }

    /* ---- store warps ---- */

    GPI_DEVICE void load_part(Part &, uint32_t, int, int) const
    {
    }

    /* before: the runs that began before the part, and where the last of them did. */
    GPI_DEVICE void store_part(const Part &, uint32_t tile, int stage, int w,
                               const Prefix &before) const
    {
        const Key *in = has_keys ? keys_in(tile, stage) + w * part_items : nullptr;
        RunStores<Key, has_keys, GROUPS>{p,
                                         in,
                                         s.own.groups[stage][w],
                                         s.own.list[w],
                                         first_of(tile) + w * part_items,
                                         before.count,
                                         before.value}
            .store();
    }
};

} // namespace GPI_SPACE
