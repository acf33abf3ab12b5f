/* SPDX-License-Identifier: MIT */
/* The outputs of runs, of a warp's part of a tile. */
#pragma once

#include "group/group_runs.cuh"

namespace GPI_SPACE
{

/* 32 items of a part, in shared memory: which begin and which end a run; and by their store warp */
struct alignas(16) RunGroup {
    uint32_t starts, ends;
    uint32_t place; /* one less than the runs that begin in the part before the group */
    uint32_t last;  /* the item of the part where the last of them does, or no_start */
};

constexpr uint32_t no_start = ~0u;

/* Groups that a warp takes at once. */
template <int GROUPS> constexpr int run_batch = GROUPS % 8 == 0 ? 8 : GROUPS % 4 == 0 ? 4 : 1;

template <class Key, bool KEYS, int GROUPS> struct RunStores {
    static constexpr int part_items = 32 * GROUPS;
    static constexpr int batch = run_batch<GROUPS>;

    const RunsParams &p;
    const Key *in;         /* the keys of the part, if there are KEYS */
    RunGroup *groups;      /* of the part, 32 of them */
    uint8_t *list;         /* of items of a batch; the warp's own */
    uint64_t first;        /* the part's first item */
    uint64_t count, value; /* the runs that began before the part, and where the last did */

    /* ---- other arrays, by units ---- */

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

    template <class F> GPI_DEVICE void by_unit(F f) const
    {
        if (p.unit_bytes == 4)
            f(uint32_t());
        else if (p.unit_bytes == 8)
            f(uint2());
        else if (p.unit_bytes == 16)
            f(uint4());
        else if (p.unit_bytes == 2)
            f(uint16_t());
        else
            f(uint8_t());
    }

    GPI_DEVICE void move_unit_if(uint64_t place, uint64_t index) const
    {
        if (place < p.capacity)
            move_unit(place, index);
    }

    /* The items of 32 from `index` on whose bits are set, to `place` on. Neighbouring lanes move
     * neighbouring units. */
    GPI_DEVICE void move_group(uint32_t bits, uint64_t index, uint64_t place) const
    {
        uint32_t some = __popc(bits);
        some = place + some <= p.capacity ? some
               : place < p.capacity       ? (uint32_t)(p.capacity - place)
                                          : 0;
        const uint32_t rank = __popc(bits & ((1u << lane_id()) - 1));
        const bool mine = bits >> lane_id() & 1;
        if (p.units == 1) {
            if (mine && rank < some)
                move_unit(place + rank, index + lane_id());
            return;
        }
        if (mine)
            list[rank] = (uint8_t)lane_id();
        __syncwarp();
        for (uint32_t u = lane_id(); u < some * p.units; u += 32) {
            const uint32_t j = u / p.units;
            move_unit(place * p.units + u, (index + list[j]) * p.units + u - j * p.units);
        }
        __syncwarp();
    }

    GPI_DEVICE void move_groups() const
    {
        for (int k = 0; k < GROUPS; k++) {
            const RunGroup g = groups[k];
            const uint64_t base = count + (uint32_t)(g.place + 1);
            const uint32_t upto_end = g.ends ? (2u << (__ffs(g.ends) - 1)) - 1 : 0;
            const uint64_t place = p.last ? base + __popc(g.starts & upto_end) - 1 : base;
            if ((p.last ? g.ends : g.starts) != 0)
                move_group(p.last ? g.ends : g.starts, first + 32 * k, place);
        }
    }

    /* The `some` listed items, which lie behind item `index`, to `place` on. Neighbouring lanes
     * move neighbouring units, several at once. */
    template <class Unit>
    GPI_DEVICE void move_listed(uint32_t some, uint64_t index, uint64_t place) const
    {
        constexpr int each = sizeof(Unit) == 4 ? 8 : sizeof(Unit) > 4 ? 4 : 2;
        const Quotient items(p.units);
        const uint32_t all = some * p.units;
        const Unit *from = (const Unit *)p.from + index * p.units;
        Unit *to = (Unit *)p.to + place * p.units;
#pragma unroll 1
        for (uint32_t first_unit = lane_id(); first_unit < all; first_unit += 32 * each) {
            Unit unit[each] = {};
#pragma unroll
            for (int i = 0; i < each; i++) {
                const uint32_t u = first_unit + 32 * i, j = items.of(u);
                if (u < all)
                    unit[i] = from[(uint64_t)list[j] * p.units + (u - j * p.units)];
            }
#pragma unroll
            for (int i = 0; i < each; i++)
                if (first_unit + 32 * i < all)
                    to[first_unit + 32 * i] = unit[i];
        }
    }

    /* A batch of groups: their items that begin, or end, runs. Not beside keys, whose other outputs
     * would take 3% longer by that. */
    GPI_DEVICE void move_batch(int k) const
    {
        uint32_t some = 0;
        uint64_t place = 0;
#pragma unroll
        for (int i = 0; i < batch; i++) {
            const RunGroup g = groups[k + i];
            const uint32_t bits = p.last ? g.ends : g.starts;
            const uint32_t upto_end = g.ends ? (2u << (__ffs(g.ends) - 1)) - 1 : 0;
            const uint64_t base = count + (uint32_t)(g.place + 1);
            if (some == 0)
                place = p.last ? base + __popc(g.starts & upto_end) - 1 : base;
            if (bits >> lane_id() & 1)
                list[some + __popc(bits & ((1u << lane_id()) - 1))] = (uint8_t)(32 * i + lane_id());
            some += __popc(bits);
        }
        some = place + some <= p.capacity ? some
               : place < p.capacity       ? (uint32_t)(p.capacity - place)
                                          : 0;
        __syncwarp();
        by_unit([&](auto unit) { move_listed<decltype(unit)>(some, first + 32 * k, place); });
        __syncwarp();
    }

    /* ---- few runs: a lane takes its group's one after the other ---- */

    GPI_DEVICE void store_index(void *array, uint64_t place, uint64_t x) const
    {
        if (p.index_bytes == 4)
            ((uint32_t *)array)[place] = (uint32_t)x;
        else
            ((uint64_t *)array)[place] = x;
    }

    /* Outputs of the run that begins at item `at` of the part. */
    GPI_DEVICE void store_start(uint32_t at, uint64_t place) const
    {
        if (place >= p.capacity)
            return;
        if constexpr (KEYS)
            if (p.keys_out)
                ((Key *)p.keys_out)[place] = in[at];
        if (p.heads)
            store_index(p.heads, place, first + at);
    }

    GPI_DEVICE void store_length(uint64_t place, uint64_t length) const
    {
        if (p.lengths && place < p.capacity)
            store_index(p.lengths, place, length);
    }

    GPI_DEVICE void store_few(const RunGroup &g) const
    {
        const uint32_t at = 32 * lane_id();
        const uint64_t index = first + at, base = count + (uint32_t)(g.place + 1);
        const uint64_t last = g.last == no_start ? value : first + g.last;
        uint64_t place = base;
        for (uint32_t left = g.starts; left; left &= left - 1, place++) {
            const uint32_t i = __ffs(left) - 1;
            store_start(at + i, place);
            if (p.to && !p.last)
                move_unit_if(place, index + i);
        }
        if (!p.lengths && !(p.to && p.last))
            return;
        for (uint32_t left = g.ends; left; left &= left - 1) {
            const uint32_t i = __ffs(left) - 1, own = g.starts & ((2u << i) - 1);
            place = base + __popc(own) - 1;
            store_length(place, index + i + 1 - (own ? index + 31 - __clz(own) : last));
            if (p.to && p.last)
                move_unit_if(place, index + i);
        }
    }

    /* ---- many runs: the lanes take a group together, some groups at once ---- */

    /* Of the batch that begins with group k, in the lane's item of each group. */
    struct Batch {
        RunGroup group[batch];
        uint32_t own[batch];  /* items up to it that begin a run */
        int32_t place[batch]; /* of its run, behind `count` others; at most -1: before the part */
        uint32_t bit;         /* of the item */
        int32_t room;

        /* The lane's item of group i begins or ends a run whose outputs have room. */
        GPI_DEVICE bool starts(int i) const
        {
            return (group[i].starts & bit) && place[i] < room;
        }
        GPI_DEVICE bool ends(int i) const
        {
            return (group[i].ends & bit) && place[i] < room;
        }
    };

    GPI_DEVICE Batch batch_at(int k, int32_t room) const
    {
        const uint32_t upto = (2u << lane_id()) - 1;
        Batch b;
        b.bit = 1u << lane_id(), b.room = room;
#pragma unroll
        for (int i = 0; i < batch; i++)
            b.group[i] = groups[k + i];
#pragma unroll
        for (int i = 0; i < batch; i++) {
            b.own[i] = b.group[i].starts & upto;
            b.place[i] = (int32_t)b.group[i].place + __popc(b.own[i]);
        }
        return b;
    }

    GPI_DEVICE void store_keys(Key *out, const Batch &b, int k) const
    {
        Key key[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            key[i] = in[32 * (k + i) + lane_id()];
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (b.starts(i))
                out[b.place[i]] = key[i];
    }

    template <class Index> GPI_DEVICE void store_heads(Index *out, const Batch &b, int k) const
    {
        const Index at = (Index)(first + 32 * k + lane_id());
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (b.starts(i))
                out[b.place[i]] = at + 32 * i;
    }

    /* Lengths are right modulo their width. */
    template <class Index> GPI_DEVICE void store_lengths(Index *out, const Batch &b, int k) const
    {
        const Index before = (Index)(value - first);
        Index length[batch];
#pragma unroll
        for (int i = 0; i < batch; i++) {
            const uint32_t last = b.group[i].last;
            const Index far = last == no_start ? before : (Index)last;
            uint32_t top; /* without a branch around it */
            asm volatile("bfind.u32 %0, %1;" : "=r"(top) : "r"(b.own[i]));
            const Index begin = b.own[i] ? (Index)(32 * (k + i) + top) : far;
            length[i] = (Index)(32 * (k + i) + lane_id() + 1) - begin;
        }
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (b.ends(i))
                out[b.place[i]] = length[i];
    }

    /* An array from number `count` on, in registers: the loops below add nothing but a place. */
    GPI_DEVICE void *from_count(void *array, uint32_t bytes) const
    {
        char *at = (char *)array + count * bytes;
        asm volatile("" : "+l"(at));
        __builtin_assume(__isGlobal(at));
        return at;
    }

    GPI_DEVICE void store_many(int32_t room) const
    {
        Key *keys = (Key *)from_count(p.keys_out, sizeof(Key));
        void *heads = from_count(p.heads, p.index_bytes);
        void *lengths = from_count(p.lengths, p.index_bytes);
        const bool wide = p.index_bytes == 8;
#pragma unroll 1
        for (int k = 0; k < GROUPS; k += batch) {
            const Batch b = batch_at(k, room);
            if constexpr (KEYS)
                if (p.keys_out)
                    store_keys(keys, b, k);
            if (p.heads && wide)
                store_heads((uint64_t *)heads, b, k);
            else if (p.heads)
                store_heads((uint32_t *)heads, b, k);
            if (p.lengths && wide)
                store_lengths((uint64_t *)lengths, b, k);
            else if (p.lengths)
                store_lengths((uint32_t *)lengths, b, k);
        }
    }

    /* The lane's group with what is before it. */
    static GPI_DEVICE RunGroup group_placed(RunGroup g)
    {
        const uint32_t with = __ballot_sync(all_lanes, g.starts != 0) & ((1u << lane_id()) - 1);
        const uint32_t own = 32 * lane_id() + 31 - __clz(g.starts | 1);
        const uint32_t last = shuffle(own, with ? 31 - __clz(with) : 0);
        g.last = with ? last : no_start;
        g.place = warp_exclusive(__popc(g.starts)) - 1;
        return g;
    }

    GPI_DEVICE void store() const
    {
        constexpr uint32_t few = part_items / 6;
        const RunGroup own = group_placed(groups[lane_id()]);
        const uint32_t runs = shuffle(own.place + 1 + __popc(own.starts), 31);
        if (runs <= few && p.units <= 1)
            return store_few(own);
        groups[lane_id()] = own;
        __syncwarp();
        const int32_t room = p.capacity >= count + part_items ? part_items
                             : p.capacity >= count            ? (int32_t)(p.capacity - count)
                                                              : -1;
        store_many(room);
        if constexpr (KEYS) {
            if (p.to)
                move_groups();
        } else {
            for (int k = 0; k < GROUPS && p.to; k += batch)
                move_batch(k);
        }
    }
};

} // namespace GPI_SPACE
