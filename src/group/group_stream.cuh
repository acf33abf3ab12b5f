/* SPDX-License-Identifier: MIT */
/* Where runs begin and end: the policy of the stream (device/stream.cuh). */
#pragma once

#include "group/group_runs.cuh"

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
        uint32_t starts[S][W][32], ends[S][W][32];
        uint8_t list[W][32];
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

    GPI_DEVICE uint32_t heads_by_keys(uint32_t tile, int stage, int w, uint32_t count) const
    {
        const Key *in = keys_in(tile, stage);
        const uint32_t first = w * part_items + lane_id();
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
        s.own.starts[stage][w][lane_id()] = starts;
        s.own.ends[stage][w][lane_id()] = p.longer ? ends & ~heads : ends;
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
        *p.out_count = all.count;
        if (all.count > p.capacity)
            report(p.reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, all.count, p.capacity);
    }

    /* ---- store warps ---- */

    GPI_DEVICE void load_part(Part &, uint32_t, int, int) const
    {
    }

    GPI_DEVICE void store_index(void *array, uint64_t place, uint64_t value) const
    {
        if (p.index_bytes == 4)
            ((uint32_t *)array)[place] = (uint32_t)value;
        else
            ((uint64_t *)array)[place] = value;
    }

    GPI_DEVICE void move_unit(uint64_t to, uint64_t from) const
    {
        if (p.unit_bytes == 4)
            ((uint32_t *)p.to)[to] = ((const uint32_t *)p.from)[from];
        else if (p.unit_bytes == 8)
            ((uint2 *)p.to)[to] = ((const uint2 *)p.from)[from];
        else if (p.unit_bytes == 16)
            ((uint4 *)p.to)[to] = ((const uint4 *)p.from)[from];
        else if (p.unit_bytes == 2)
            ((uint16_t *)p.to)[to] = ((const uint16_t *)p.from)[from];
        else
            ((uint8_t *)p.to)[to] = ((const uint8_t *)p.from)[from];
    }

    GPI_DEVICE void move_unit_if(uint64_t place, uint64_t index) const
    {
        if (place < p.capacity)
            move_unit(place, index);
    }

    /* The items of 32 from `index` on whose bits are set, to `place` on. Neighbouring lanes move
     * neighbouring units. */
    GPI_DEVICE void move_group(uint32_t bits, uint64_t index, uint64_t place, int warp) const
    {
        uint32_t count = __popc(bits);
        count = place + count <= p.capacity ? count
                : place < p.capacity        ? (uint32_t)(p.capacity - place)
                                            : 0;
        const uint32_t rank = __popc(bits & ((1u << lane_id()) - 1));
        const bool mine = bits >> lane_id() & 1;
        if (p.units == 1) {
            if (mine && rank < count)
                move_unit(place + rank, index + lane_id());
            return;
        }
        uint8_t *list = s.own.list[warp];
        if (mine)
            list[rank] = (uint8_t)lane_id();
        __syncwarp();
        for (uint32_t u = lane_id(); u < count * p.units; u += 32) {
            const uint32_t j = u / p.units;
            move_unit(place * p.units + u, (index + list[j]) * p.units + u - j * p.units);
        }
        __syncwarp();
    }

    /* Outputs of the run that begins at item `at` of the part. */
    GPI_DEVICE void store_start(const Key *in, uint32_t at, uint64_t index, uint64_t place) const
    {
        if (place >= p.capacity)
            return;
        if constexpr (has_keys)
            if (p.keys_out)
                ((Key *)p.keys_out)[place] = in[at];
        if (p.heads)
            store_index(p.heads, place, index);
    }

    GPI_DEVICE void store_length(uint64_t place, uint64_t length) const
    {
        if (p.lengths && place < p.capacity)
            store_index(p.lengths, place, length);
    }

    /* Few runs: a lane takes its word's one after the other. left: those that begin before it. */
    GPI_DEVICE void store_few(const Key *in, uint64_t first, uint32_t starts, uint32_t ends,
                              uint32_t left, const Prefix &before) const
    {
        const uint32_t at = 32 * lane_id();
        const uint64_t index = first + at, base = before.count + left;
        const uint32_t with = __ballot_sync(all_lanes, starts != 0) & ((1u << lane_id()) - 1);
        const int lane = with ? 31 - __clz(with) : 0;
        const uint32_t top = 31 - __clz(shuffle(starts, lane) | 1);
        const uint64_t last = with ? first + 32 * lane + top : before.value;
        uint64_t place = base;
        for (uint32_t left_over = starts; left_over; left_over &= left_over - 1, place++) {
            const uint32_t i = __ffs(left_over) - 1;
            store_start(in, at + i, index + i, place);
            if (p.to && !p.last)
                move_unit_if(place, index + i);
        }
        if (!p.lengths && !(p.to && p.last))
            return;
        for (uint32_t left_over = ends; left_over; left_over &= left_over - 1) {
            const uint32_t i = __ffs(left_over) - 1, own = starts & ((2u << i) - 1);
            place = base + __popc(own) - 1;
            store_length(place, index + i + 1 - (own ? index + 31 - __clz(own) : last));
            if (p.to && p.last)
                move_unit_if(place, index + i);
        }
    }

    /* Many runs: the lanes take a word's together, one output after the other. f(place, i) for each
     * item i of the part whose bit is set in words, behind `place` others, as far as room goes. */
    template <class F> GPI_DEVICE void for_many(const uint32_t *words, int32_t room, F f) const
    {
        const uint32_t before = (1u << lane_id()) - 1;
        uint32_t place = 0;
#pragma unroll 8
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t word = words[k], at = place + __popc(word & before);
            if (word >> lane_id() & 1 && (int32_t)at < room)
                f(at, 32 * k + lane_id());
            place += __popc(word);
        }
    }

    template <class Index>
    GPI_DEVICE void store_heads(const uint32_t *starts, int32_t room, uint64_t first,
                                uint64_t count) const
    {
        Index *out = (Index *)p.heads + count;
        for_many(starts, room, [=](uint32_t at, uint32_t i) { out[at] = (Index)(first + i); });
    }

    /* A run that goes on into the part began `before` items before it. */
    template <class Index>
    GPI_DEVICE void store_lengths(const uint32_t *starts, const uint32_t *ends, int32_t room,
                                  uint64_t before, uint64_t count) const
    {
        const uint32_t upto = (2u << lane_id()) - 1;
        Index *out = (Index *)p.lengths + count;
        Index last = (Index)(0 - before); /* of the part; lengths are right modulo their width */
        int32_t place = -1;
#pragma unroll 4
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t start = starts[k], own = start & upto;
            const Index begin = own ? (Index)(32 * k + 31 - __clz(own)) : last;
            const int32_t at = place + __popc(own);
            if (ends[k] >> lane_id() & 1 && at < room)
                out[at] = (Index)(32 * k + lane_id() + 1) - begin;
            last = start ? (Index)(32 * k + 31 - __clz(start)) : last;
            place += __popc(start);
        }
    }

    GPI_DEVICE void store_moved(uint32_t starts, uint32_t ends, uint64_t first, uint32_t left,
                                const Prefix &before, int warp) const
    {
        for (int k = 0; k < GROUPS; k++) {
            const uint32_t start = shuffle(starts, k), end = shuffle(ends, k);
            const uint64_t base = before.count + shuffle(left, k);
            const uint32_t upto_end = end ? (2u << (__ffs(end) - 1)) - 1 : 0;
            if ((p.last ? end : start) != 0)
                move_group(p.last ? end : start, first + 32 * k,
                           p.last ? base + __popc(start & upto_end) - 1 : base, warp);
        }
    }

    GPI_DEVICE void store_many(const Key *in, int stage, int warp, uint64_t first,
                               const Prefix &before) const
    {
        const uint32_t *starts = s.own.starts[stage][warp], *ends = s.own.ends[stage][warp];
        const uint64_t count = before.count;
        const int32_t room = p.capacity >= count + part_items ? part_items
                             : p.capacity >= count            ? (int32_t)(p.capacity - count)
                                                              : -1;
        if constexpr (has_keys)
            if (p.keys_out) {
                Key *out = (Key *)p.keys_out + count;
                for_many(starts, room, [=](uint32_t at, uint32_t i) { out[at] = in[i]; });
            }
        if (p.heads && p.index_bytes == 4)
            store_heads<uint32_t>(starts, room, first, count);
        else if (p.heads)
            store_heads<uint64_t>(starts, room, first, count);
        if (p.lengths && p.index_bytes == 4)
            store_lengths<uint32_t>(starts, ends, room, first - before.value, count);
        else if (p.lengths)
            store_lengths<uint64_t>(starts, ends, room, first - before.value, count);
    }

    /* before: the runs that began before the part, and where the last of them did. */
    GPI_DEVICE void store_part(const Part &, uint32_t tile, int stage, int warp,
                               const Prefix &before) const
    {
        constexpr uint32_t few = part_items / 6;
        const uint32_t starts = s.own.starts[stage][warp][lane_id()],
                       ends = s.own.ends[stage][warp][lane_id()];
        const uint32_t left = warp_exclusive(__popc(starts));
        const uint32_t count = shuffle(left + __popc(starts), 31);
        const uint64_t first = first_of(tile) + warp * part_items;
        const Key *in = has_keys ? keys_in(tile, stage) + warp * part_items : nullptr;
        if (count <= few && p.units <= 1) {
            store_few(in, first, starts, ends, left, before);
        } else {
            store_many(in, stage, warp, first, before);
            if (p.to)
                store_moved(starts, ends, first, left, before, warp);
        }
    }
};

} // namespace GPI_SPACE
