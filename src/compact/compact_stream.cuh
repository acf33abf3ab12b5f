/* SPDX-License-Identifier: MIT */
/* Compaction of large arrays: the policy of the stream (device/stream.cuh). */
#pragma once

#include "compact/compact_marks.cuh"
#include "compact/compact_pack.cuh"
#include "device/stream.cuh"
#include "tuning/compact_tuning.cuh"

namespace GPI_SPACE
{

/*
 * Sums are counts of items that are kept; a part is the marks that tell which. A stage holds a
 * tile's items and flags as they lie in memory, each from the 16-byte boundary at or before it.
 * BYTES 0: flags only, whose positions are stored. THREE: counts and bits of those below, too.
 */
template <int BYTES, bool COMPARE, bool THREE, int W, int R, int L, int GROUPS, int S>
struct CompactStream : StreamPolicy {
    using Item = ItemOf<BYTES>;
    static constexpr bool has_items = BYTES > 0, has_flags = !COMPARE;
    /* Items leave by way of shared memory: bytes, and larger ones of partitions by comparison. */
    static constexpr bool packs = has_items && BYTES <= (COMPARE ? compact_tuning.packed_bytes : 1);
    static constexpr bool may_be_at_once = has_items && !THREE; /* a partition in one array */
    static constexpr int sorts = THREE ? 2 : 1;                 /* of bits: kept, below */
    /* What has been read may leave the L2 first: where that was seen to be faster. */
    static constexpr bool may_pass = has_items && !THREE && !(COMPARE && BYTES == 1);
    static constexpr int part_items = 32 * GROUPS, tile_items = W * part_items;
    static constexpr int items_bytes = has_items ? tile_items * BYTES + 16 : 0;
    static constexpr int flags_bytes = has_flags ? tile_items + 16 : 0;
    static constexpr int stage_bytes = (items_bytes + flags_bytes + 127) / 128 * 128;
    static constexpr int store_warps = W, sum_warps = R, load_warps = L, stages = S;
    static constexpr bool part_is_copy = false, sums_add = true;
    static_assert(GROUPS <= 32, "a lane holds the bits of a group");

    using Params = CompactParams;
    using Loader = StageLoader<L, may_pass ? LoadHint::sometimes : LoadHint::none>;
    using Sum = uint32_t;
    using Prefix = Before<THREE>;
    struct Part {
    };
    using Packer = PackedItems<std::conditional_t<packs, Item, uint8_t>, THREE, packs ? GROUPS : 8>;
    struct Packed {
        Packer of[packs ? W : 1];
        typename Packer::Table table;
    };
    struct Own {
        alignas(16) GroupMarks<sorts> marks[S][W][32];
        std::conditional_t<packs, Packed, Part> packed; /* or nothing */
        char *others;                                   /* of a partition: where they begin */
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
        s.own.others = p.a.sides ? others_begin(p) : NULL;
    }

    GPI_DEVICE const Item *items_in(int stage) const
    {
        return (const Item *)(ring + stage * stage_bytes + misalignment(p.a.in));
    }

    GPI_DEVICE const uint8_t *flags(int stage) const
    {
        return (const uint8_t *)ring + stage * stage_bytes + items_bytes + misalignment(p.a.keep);
    }

    GPI_DEVICE uint64_t flag_bytes(uint64_t count) const
    {
        return p.a.bits ? (count + 31) / 32 * 4 : count;
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
            prefetch_tile((const char *)p.a.keep, flag_bytes(p.a.n), tile,
                          (uint32_t)flag_bytes(tile_items), thread, threads);
        /* The table at the start of the kernel, by warps that wait for the first one anyway. */
        if constexpr (packs)
            if (threads == blockDim.x)
                s.own.packed.table.fill(thread, 64, threads);
    }

    GPI_DEVICE Loader loader() const
    {
        return Loader::passing(p.passing);
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
            flag = Loader::span(to + items_bytes, (const char *)p.a.keep + flag_bytes(first),
                                (uint32_t)flag_bytes(count), tile == 0, flag_bytes(rest));
        loader.load(&s.loaded[stage], item, flag);
    }

    /* ---- counts ---- */

    GPI_DEVICE uint32_t part_sum(uint32_t tile, int stage, int w) const
    {
        const uint32_t count = items_of(tile), start = w * part_items;
        const CompactMarks<BYTES, COMPARE, THREE, GROUPS> marks = {
            p.a, items_in(stage) + start, flags(stage) + flag_bytes(start),
            count > start ? count - start : 0};
        uint32_t own;
        const PartBits bits = marks.bits(own);
        const uint32_t before = warp_exclusive(own);
        GroupMarks<sorts> m;
        m.of[0] = {bits.kept, THREE ? before & 0xffff : before};
        if constexpr (THREE)
            m.of[1] = {bits.below, before >> 16};
        s.own.marks[stage][w][lane_id()] = m;
        return __shfl_sync(all_lanes, before + own, 31);
    }

    GPI_DEVICE uint32_t add(uint32_t l, uint32_t r) const
    {
        return l + r;
    }

    GPI_DEVICE Prefix after(const Prefix &prefix, uint32_t sum) const
    {
        return prefix.after(sum);
    }

    GPI_DEVICE Prefix start() const
    {
        return {0, 0};
    }

    struct Ahead {
        CompactStream &policy;
        CountAhead<THREE> counts;

        GPI_DEVICE Prefix exclusive(const TileState<uint32_t> &state, uint32_t tile)
        {
            const Prefix before = counts.exclusive(state, tile);
            if (policy.are_dealt() && tile == policy.s.launch.tile) {
                CountAhead<THREE> all = counts;
                char *others = others_behind(policy.p, all, state, policy.tiles);
                if (lane_id() == 0)
                    policy.s.own.others = others;
            }
            return before;
        }
    };

    GPI_DEVICE Ahead look_ahead()
    {
        return {*this, {}};
    }

    GPI_DEVICE bool are_dealt() const
    {
        return may_be_at_once && p.at_once;
    }

    GPI_DEVICE void reads_done() const
    {
        order_in_place(p);
    }

    GPI_DEVICE void writes_begin() const
    {
        order_in_place(p);
    }

    GPI_DEVICE void finish(const Prefix &all) const
    {
        compact_finish<THREE>(p, all);
    }

    /* ---- store warps ---- */

    static constexpr int batch = GROUPS % 4 == 0 ? 4 : GROUPS % 2 == 0 ? 2 : 1; /* of groups */
    using Marks = GroupMarks<sorts>;

    template <int N> struct alignas(N * sizeof(Marks) < 16 ? 8 : 16) MarksOf {
        Marks group[N];
    };

    static GPI_DEVICE uint32_t room_of(uint64_t capacity, uint64_t base)
    {
        const uint64_t room = base < capacity ? capacity - base : 0;
        return room < part_items ? (uint32_t)room : part_items;
    }

    /* Of a part, bits of more kept items than there is room for are cleared. */
    GPI_DEVICE void cut_marks(int stage, int warp, uint32_t room) const
    {
        if ((s.part_sum[stage][warp] & 0xffff) <= room)
            return;
        auto &own = s.own.marks[stage][warp][lane_id()].of[0];
        uint32_t bits = own.bits;
        while (bits && own.before + __popc(bits) > room)
            bits ^= 0x80000000u >> __clz(bits);
        own.bits = bits;
        __syncwarp();
    }

    template <int N> GPI_DEVICE MarksOf<N> marks(int stage, int warp, int group) const
    {
        return *(const MarksOf<N> *)&s.own.marks[stage][warp][group];
    }

    /* store(place, value(i)) for the kept items i of a warp. Values are asked for before any of
     * their batch is stored, for which the compiler would have to know that they lie elsewhere. */
    template <class Value, class Store>
    GPI_DEVICE void each_kept(int stage, int warp, const Value &value, const Store &store) const
    {
        const uint32_t mine = 1u << lane_id();
#pragma unroll 2
        for (int k = 0; k < GROUPS; k += batch) {
            const MarksOf<batch> m = marks<batch>(stage, warp, k);
            decltype(value(0u)) v[batch];
#pragma unroll
            for (int b = 0; b < batch; b++)
                v[b] = value(32 * (k + b) + lane_id());
#pragma unroll
            for (int b = 0; b < batch; b++) {
                const auto &kept = m.group[b].of[0];
                const uint32_t place = kept.before + __popc(kept.bits & (mine - 1));
                if (kept.bits & mine)
                    store(place, v[b]);
            }
        }
    }

    /* The same where most groups have none or one: each lane goes through the bits of its group. */
    template <class Value, class Store>
    GPI_DEVICE void each_of_few(int stage, int warp, const Value &value, const Store &store) const
    {
        const auto own = s.own.marks[stage][warp][lane_id()].of[0];
        uint32_t place = own.before;
        for (uint32_t bits = own.bits; bits; bits &= bits - 1, place++)
            store(place, value(32 * lane_id() + __ffs(bits) - 1));
        __syncwarp();
    }

    /* The kept items of a part. */
    template <class Value, class Store>
    GPI_DEVICE void store_kept(int stage, int warp, const Value &value, const Store &store) const
    {
        if (BYTES <= 1 && has_few(stage, warp))
            each_of_few(stage, warp, value, store);
        else
            each_kept(stage, warp, value, store);
    }

    GPI_DEVICE bool has_few(int stage, int warp) const
    {
        return (s.part_sum[stage][warp] & 0xffff) <= GROUPS;
    }

    GPI_DEVICE void load_part(Part &, uint32_t, int, int) const
    {
    }

    /* base: items before the part. */
    GPI_DEVICE void store_part(const Part &, uint32_t tile, int stage, int warp,
                               const Prefix &base) const
    {
        const uint64_t index = (uint64_t)tile * tile_items + warp * part_items;
        if constexpr (packs)
            if (p.a.sides || (BYTES == 1 && !has_few(stage, warp))) {
                if (index < s.n)
                    store_packed(index, stage, warp, base);
                return;
            }
        const Item *from = has_items ? items_in(stage) + warp * part_items : NULL;
        if constexpr (has_items && !packs)
            if (p.a.sides) {
                if (index < s.n)
                    split(from, index, stage, warp, base);
                return;
            }
        if (base.kept >= p.a.capacity)
            return;
        cut_marks(stage, warp, room_of(p.a.capacity, base.kept));
        if (has_items && (!COMPARE || p.a.out)) {
            Item *to = kept_pointer((Item *)p.a.out + base.kept);
            const auto value = [=](uint32_t i) { return from[i]; };
            const auto store = [=](uint32_t place, const Item &item) { to[place] = item; };
            if constexpr (packs && BYTES == 1)
                each_of_few(stage, warp, value, store);
            else
                store_kept(stage, warp, value, store);
        }
        if (p.a.indices)
            store_indices(index, stage, warp, base.kept);
    }

    GPI_DEVICE void store_packed(uint64_t index, int stage, int warp, const Prefix &base) const
    {
        if (p.a.out || p.a.sides)
            pack(index, stage, warp, base);
        if (p.a.indices && base.kept < p.a.capacity) {
            cut_marks(stage, warp, room_of(p.a.capacity, base.kept));
            store_indices(index, stage, warp, base.kept);
        }
    }

    GPI_DEVICE void pack(uint64_t index, int stage, int warp, const Prefix &base) const
    {
        constexpr uint32_t outputs = Packer::outputs, size = sizeof(Item);
        const uint64_t left = s.n - index;
        const uint32_t items = left < part_items ? (uint32_t)left : part_items;
        const Marks own = s.own.marks[stage][warp][lane_id()];
        const uint32_t bits[2] = {own.of[0].bits, THREE ? own.of[sorts - 1].bits : 0};
        const uint32_t before =
            tile_counts<THREE>(own.of[0].before, THREE ? own.of[sorts - 1].before : 0);
        const Prefix all = start().after(s.part_sum[stage][warp]);
        const uint32_t count[outputs] = {(uint32_t)all.kept,
                                         THREE ? (uint32_t)all.below : items - (uint32_t)all.kept,
                                         items - (uint32_t)all.kept - (uint32_t)all.below};
        Packer &packed = s.own.packed.of[warp];
        const auto &table = s.own.packed.table;
        const Item *from = items_in(stage) + warp * part_items;
        uint32_t begin[outputs] = {0, 0, 0}, stored[outputs] = {0, 0, 0}, free = 0;
        char *to[outputs] = {};
#pragma unroll
        for (uint32_t k = 0; k <= sorts; k++) {
            if (k > p.a.sides)
                break;
            const Outlet o = outlet_of<THREE>(p.a, k, s.own.others, 0, 0, base, index, items);
            to[k] = (char *)o.out + o.base * size;
            begin[k] = free + misalignment(to[k]);
            free = (begin[k] + count[k] * size + 15) & ~15u;
            stored[k] = count[k];
            if (!p.has_room)
                stored[k] = o.out ? min(count[k], room_of(o.capacity, o.base)) : 0;
        }
        if constexpr (BYTES > 1)
            packed.put_all(table, from, bits[0], bits[1], before, begin);
        else if (THREE || p.a.sides)
            packed.template put_bytes<true>(table, from, p.a.in, bits, before, begin);
        else
            packed.template put_bytes<false>(table, from, p.a.in, bits, before, begin);
        __syncwarp();
#pragma unroll
        for (uint32_t k = 0; k <= sorts; k++)
            if (stored[k])
                packed.store(begin[k], to[k], size * stored[k]);
        __syncwarp();
    }

    GPI_DEVICE void store_indices(uint64_t index, int stage, int warp, uint64_t base) const
    {
        if (p.a.index_bytes == 4) {
            uint32_t *to = kept_pointer((uint32_t *)p.a.indices + base);
            store_kept(
                stage, warp, [=](uint32_t i) { return (uint32_t)index + i; },
                [=](uint32_t place, uint32_t i) { to[place] = i; });
        } else {
            uint64_t *to = kept_pointer((uint64_t *)p.a.indices + base);
            store_kept(
                stage, warp, [=](uint32_t i) { return i; },
                [=](uint32_t place, uint32_t i) { to[place] = index + i; });
        }
    }

    /* Where a side's items of this part go. */
    struct To {
        Item *out;
        uint32_t room;

        GPI_DEVICE To(void *out, uint64_t capacity, uint64_t base)
            : out(kept_pointer((Item *)out + base)), room(room_of(capacity, base))
        {
        }
    };

    /* A partition: every item goes to one of the sides. */
    GPI_DEVICE void split(const Item *from, uint64_t index, int stage, int warp,
                          const Prefix &base) const
    {
        const uint64_t left = s.n - index;
        const uint32_t count = left < part_items ? (uint32_t)left : part_items;
        const To front(p.a.out, p.a.capacity, base.kept),
            less(s.own.others, p.a.side[0].capacity, base.below),
            rest(THREE ? p.a.side[1].out : s.own.others, p.a.side[THREE].capacity,
                 index - base.kept - base.below);
        const uint32_t least = min(min(front.room, rest.room), THREE ? less.room : rest.room);
        if (count == part_items && least == part_items)
            split_marked<true>(from, count, stage, warp, front, less, rest);
        else
            split_marked<false>(from, count, stage, warp, front, less, rest);
    }

    /* WHOLE: all items are there, and have room. */
    template <bool WHOLE>
    GPI_DEVICE void split_marked(const Item *from, uint32_t count, int stage, int warp,
                                 const To &front, const To &less, const To &rest) const
    {
        constexpr int each = WHOLE ? batch : 1; /* groups at once */
        const uint32_t mine = 1u << lane_id();
#pragma unroll(WHOLE ? 2 : 1)
        for (int k = 0; k < GROUPS; k += each) {
            const MarksOf<each> m = marks<each>(stage, warp, k);
            Item item[each];
#pragma unroll
            for (int b = 0; b < each; b++)
                item[b] = from[32 * (k + b) + lane_id()];
#pragma unroll
            for (int b = 0; b < each; b++) {
                const auto &upper = m.group[b].of[0], &lower = m.group[b].of[sorts - 1];
                const uint32_t i = 32 * (k + b) + lane_id();
                const uint32_t kept = upper.before + __popc(upper.bits & (mine - 1));
                const uint32_t below = THREE ? lower.before + __popc(lower.bits & (mine - 1)) : 0;
                const bool is_kept = upper.bits & mine, is_less = THREE && (lower.bits & mine);
                const uint32_t place = is_kept ? kept : is_less ? below : i - kept - below;
                const uint32_t room = is_kept ? front.room : is_less ? less.room : rest.room;
                Item *to = is_kept ? front.out : is_less ? less.out : rest.out;
                __builtin_assume(__isGlobal(to));
                if (WHOLE || (i < count && place < room))
                    to[place] = item[b];
            }
        }
    }
};

} // namespace GPI_SPACE
