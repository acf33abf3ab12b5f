/* SPDX-License-Identifier: MIT */
/*
 * Tiles in shared memory: what the warps of a block tell each other, the loaders, and the markers.
 *
 * A stage has the items of a tile as they lie in memory, and behind them its offsets. A slot has
 * marks and results: a mark for each item, the number of the segment that ends with it, and one
 * more, or 0; a result for each segment that ends in the tile, and (some folds) where it begins.
 */
#pragma once

#include "device/ring.cuh"
#include "device/stage_load.cuh"
#include "segreduce/segreduce_share.cuh"
#include "tuning/segreduce_tuning.cuh"

namespace GPI_SPACE
{

enum { SEGREDUCE_SHARES = 4 }; /* that a block knows of at once */
constexpr uint32_t no_share = ~0u;

/* What folds leave in the place of a segment that no item ends. */
constexpr uint32_t no_segment = ~0u;

/* The first segment that ends in a tile has items there, or before it only, or none at all. */
enum FirstEnd : uint32_t { first_has_items, first_before, first_empty };

/* A tile, and where it lies in its stage. */
struct alignas(16) SegmentTile {
    uint32_t items, begin; /* where the first word of items is: at the first item, or up to 3 bytes
                            * before */
    uint32_t before;       /* items in that */
    uint32_t near;         /* the first item of the tile, in its share */
    uint64_t item, segment;
    uint32_t ends, offsets; /* where the first offset is */
    uint32_t slices;
    uint32_t share;      /* no_share: there are no more tiles */
    uint64_t share_item; /* the first one */
    bool last;           /* of the share */
    bool edges;          /* a copy by 16 bytes would read outside of an array */
    /* What is copied, from boundaries of 16 bytes on. */
    const char *items_from, *offsets_from;
    uint32_t items_bytes, offsets_bytes;
};

/* What a share has, from its claim to the store of its head: the first segment that ends in it. */
struct ShareSlot {
    TileBegin begins[SEGREDUCE_SHARE_TILES + 1];
    SegmentTile tile[SEGREDUCE_SHARE_TILES];
    uint32_t number, tiles; /* no_share: there are no more */
    uint64_t head;          /* its number, if has_head */
    bool has_head;
};

struct TileSlot {
    uint64_t segment, share_item, item;
    uint32_t ends, slices, share;
    FirstEnd first;
    bool last;
    bool skips_first; /* the share's head, which is stored when what came into the share is known */
};

/* How a warp's slice of a tile lies in shared memory: an odd number of words for each lane, which
 * keeps lanes in different banks; items below 4 bytes are read as words of 4. */
template <class Fold> struct SliceShape {
    static constexpr int word = Fold::word_bytes, per_word = Fold::per_word;
    static constexpr int words = word <= 4 ? 15 : word == 8 ? 7 : word == 16 ? 3 : 1;
    static constexpr int lane_items = words * per_word, items = 32 * lane_items;
    static constexpr int bytes = 32 * words * word;
    /* Marks of a lane: of words of one item an even number, which are read together. */
    static constexpr int lane_marks = per_word > 1 ? lane_items : words + 1;

    /* The place of an item's mark. */
    static GPI_DEVICE uint32_t mark(uint32_t item)
    {
        return per_word > 1 ? item : item + item / words;
    }
};

template <class Fold> struct SegreduceWarps {
    static constexpr SegreduceShape shape = segreduce_shape<Fold>;
    static constexpr SegreduceRoles of_team = Fold::places ? shape.places : shape.sums;
    static constexpr int teams = shape.teams;
    static constexpr int mark = of_team.mark, fold = of_team.fold, store = of_team.store;
    static constexpr int load = segreduce_tuning.load_warps;
    static constexpr int threads = (teams * (mark + fold + store) + load + 3) * 32;
};

template <class Fold> struct SegreduceSlots {
    using A = typename Fold::A;
    using Warps = SegreduceWarps<Fold>;
    using Slice = SliceShape<Fold>;
    static constexpr int R = Warps::shape.rounds;
    /* Slots leave three eighths of the memory to the stages. */
    static constexpr int slice_begins = Fold::keeps_begins ? Slice::bytes / (int)sizeof(A) : 0;
    static constexpr int slice_bytes = Slice::bytes + 32 * 2 * Slice::lane_marks + 2 * slice_begins;
    static constexpr int fit = segreduce_tuning.shared_bytes / 8 * 5 / (R * slice_bytes);
    static constexpr int slices = fit < Warps::shape.slices ? fit : Warps::shape.slices;
    static constexpr int tile_bytes = slices * Slice::bytes;
    /* A tile is heavier than that by less than an item or an end, of at most 32 bytes. */
    static constexpr int weight = tile_bytes - 64;
    static constexpr int ends_max = tile_bytes / (int)sizeof(A); /* an end weighs its result */
    static constexpr int stage_bytes = (tile_bytes + 64 + 127) / 128 * 128;
    static_assert(ends_max < 0xffff, "marks are numbers of 16 bits");
    static_assert(ends_max % 4 == 0, "markers store where four segments begin");
    static_assert(R % Warps::teams == 0, "no team leaves out a phase of a barrier");

    alignas(16) A result[R][ends_max];
    alignas(16) uint16_t mark[R][slices * 32 * Slice::lane_marks];
    /* The first item of each segment but the first one, counted from the tile's. */
    alignas(16) uint16_t begin[R][Fold::keeps_begins ? ends_max : 4];
    A tail[R][slices];         /* of each slice: behind its last end, or of all */
    uint32_t first[R][slices]; /* the segment that its first mark ends, or no_segment */
    A head[SEGREDUCE_SHARES];  /* see ShareSlot */
    TileSlot slot[R];
    ShareSlot share[SEGREDUCE_SHARES];
    uint64_t epoch;
    uint64_t share_known[SEGREDUCE_SHARES], share_done[SEGREDUCE_SHARES];
    uint64_t share_closed[SEGREDUCE_SHARES];
    uint64_t marked[R], folded[R], joined[R], stored[R];
};

template <class Fold, int STAGES> struct SegreduceShared : SegreduceSlots<Fold> {
    static constexpr int S = STAGES;
    SegmentTile tile[S];
    uint64_t loaded[S], freed[S];
    alignas(128) char stage[S][SegreduceSlots<Fold>::stage_bytes];
};

/* As many stages as fit, for each team as many as for the others. */
template <class Fold> constexpr int segreduce_stages()
{
    using Slots = SegreduceSlots<Fold>;
    constexpr int each = Slots::stage_bytes + (int)sizeof(SegmentTile) + 16;
    constexpr int fit = (segreduce_tuning.shared_bytes - 128 - (int)sizeof(Slots)) / each;
    constexpr int most = fit < segreduce_tuning.stages_max ? fit : segreduce_tuning.stages_max;
    return most / Slots::Warps::teams * Slots::Warps::teams;
}
template <class Fold> using SegreduceMemory = SegreduceShared<Fold, segreduce_stages<Fold>()>;

/* A warp of a team: the tiles of a block, in the order in which they come, go to teams in turn. */
struct SegreduceTeam {
    uint32_t number, warp;

    GPI_DEVICE SegreduceTeam(int warp_of_role, int warps)
        : number((uint32_t)warp_of_role / warps), warp((uint32_t)warp_of_role % warps)
    {
    }
};

/* The way of one of some teams round N stages, or slots. */
template <int N, int TEAMS> struct TeamTurn {
    int stage;
    uint32_t parity = 0;

    GPI_DEVICE explicit TeamTurn(const SegreduceTeam &team) : stage((int)team.number)
    {
    }
    GPI_DEVICE void next()
    {
        stage += TEAMS;
        if (stage >= N) {
            stage -= N;
            parity ^= 1;
        }
    }
};

template <class Shared> GPI_DEVICE void segreduce_init(Shared &s)
{
    using Warps = typename Shared::Warps;
    constexpr int each = barrier_warp_arrivals;
    for (int i = 0; i < SEGREDUCE_SHARES; i++) {
        barrier_init(&s.share_known[i], each);
        barrier_init(&s.share_done[i], (Warps::load + 1) * each);
        barrier_init(&s.share_closed[i], each);
    }
    for (int i = 0; i < Shared::R; i++) {
        barrier_init(&s.marked[i], Warps::mark * each);
        barrier_init(&s.folded[i], Warps::fold * each);
        barrier_init(&s.joined[i], each);
        barrier_init(&s.stored[i], Warps::store * each);
    }
    for (int i = 0; i < Shared::S; i++) {
        barrier_init(&s.loaded[i], Warps::load * each);
        barrier_init(&s.freed[i], (Warps::mark + Warps::fold) * each);
    }
    barrier_init_done();
}

/* ---- by the scout ---------------------------------------------------------------------------- */

/* Bytes of an array from `from` on, copied by 16. first, rest: see StageLoader::span(). */
GPI_DEVICE void tile_span(const char *from, uint32_t bytes, bool first, uint64_t rest,
                          const char *&aligned, uint32_t &whole, bool &edges)
{
    const uint32_t shift = misalignment(from);
    aligned = from - shift;
    whole = bytes ? (shift + bytes + 15) & ~15u : 0;
    edges = edges || (first && shift) || (bytes && whole > shift + rest);
}

/* Tile k of a share. What it has no room for is there only where offsets fall. */
template <class Shared>
GPI_DEVICE void make_tile(const SegreduceParams &p, const SegreduceSizes &sizes, ShareSlot &share,
                          uint32_t k)
{
    const TileBegin from = share.begins[k], to = share.begins[k + 1];
    const int64_t items = (int64_t)(to.item - from.item);
    const int64_t ends = (int64_t)(to.segment - from.segment);
    SegmentTile &t = share.tile[k];
    t.item = from.item, t.segment = from.segment, t.share_item = share.begins[0].item;
    t.near = (uint32_t)(t.item - t.share_item);
    const int64_t items_room = (Shared::tile_bytes - 4) >> p.item_shift;
    t.items = (uint32_t)(items < 0 ? 0 : items < items_room ? items : items_room);
    const uint32_t ends_room = (Shared::tile_bytes - (t.items << p.item_shift)) / p.end_weight;
    t.ends = (uint32_t)(ends < 0 ? 0 : ends < ends_room ? ends : ends_room);
    if (ends > ends_room)
        falls_check(p, t.segment + ends_room, to.segment);
    t.share = share.number;
    t.last = k + 1 == share.tiles;
    const char *in = p.in + (t.item << p.item_shift);
    const uint64_t first = t.segment * p.offset_bytes;
    const uint32_t at = misalignment(in);
    t.begin = p.item_shift < 2 ? at & ~3u : at;
    t.before = (at - t.begin) >> p.item_shift;
    t.slices = t.items ? (t.before + t.items - 1) / Shared::Slice::items + 1 : 0;
    t.offsets = ((at + (t.items << p.item_shift) + 15) & ~15u) +
                misalignment((const char *)p.offsets + first);
    bool edges = false;
    tile_span(in, t.items << p.item_shift, t.item == 0, (sizes.n - t.item) << p.item_shift,
              t.items_from, t.items_bytes, edges);
    tile_span((const char *)p.offsets + first,
              p.offsets && t.ends ? (t.ends + 1) * p.offset_bytes : 0, first == 0,
              (sizes.count + 1) * p.offset_bytes - first, t.offsets_from, t.offsets_bytes, edges);
    t.edges = edges;
}

/* ---- loaders --------------------------------------------------------------------------------- */

using SegreduceLoader = StageLoader<segreduce_tuning.load_warps>;

template <class Shared>
GPI_DEVICE void load_tile(const SegreduceParams &p, Shared &s, const SegreduceSizes &sizes,
                          const SegmentTile &t, int stage)
{
    using Loader = SegreduceLoader;
    const Loader loader;
    const uint32_t thread = Loader::thread();
    char *to = s.stage[stage];
    StageSpan items = {to, t.items_from, 0, t.items_bytes};
    StageSpan offsets = {to + (t.offsets & ~15u), t.offsets_from, 0, t.offsets_bytes};
    Loader::follows_writes();
    if (t.edges) {
        const uint64_t first = t.segment * p.offset_bytes;
        items = Loader::span(to, p.in + (t.item << p.item_shift), t.items << p.item_shift,
                             t.item == 0, (sizes.n - t.item) << p.item_shift);
        if (t.offsets_bytes)
            offsets = Loader::span(offsets.to, (const char *)p.offsets + first,
                                   (t.ends + 1) * p.offset_bytes, first == 0,
                                   (sizes.count + 1) * p.offset_bytes - first);
    }
    if (thread < sizeof t / 4)
        ((uint32_t *)&s.tile[stage])[thread] = ((const uint32_t *)&t)[thread];
    loader.load(&s.loaded[stage], items, offsets);
}

template <class Shared>
GPI_DEVICE void load_tiles(const SegreduceParams &p, Shared &s, const SegreduceSizes &sizes)
{
    RingTurn<SEGREDUCE_SHARES> turn;
    RingTurn<Shared::S> ring;
    uint32_t round = 0;
    for (;; turn.next()) {
        barrier_wait(&s.share_known[turn.stage], turn.parity);
        const ShareSlot &share = s.share[turn.stage];
        const bool none = share.number == no_share;
#pragma unroll 1
        for (uint32_t k = 0; k < (none ? Shared::Warps::teams : share.tiles);
             k++, round++, ring.next()) {
            if (round >= Shared::S)
                barrier_wait(&s.freed[ring.stage], ring.parity ^ 1);
            if (!none) {
                load_tile(p, s, sizes, share.tile[k], ring.stage);
            } else {
                if (SegreduceLoader::thread() == 0)
                    s.tile[ring.stage].share = no_share;
                barrier_arrive(&s.loaded[ring.stage]);
            }
        }
        barrier_arrive(&s.share_done[turn.stage]);
        if (none)
            break;
    }
}

/* ---- markers --------------------------------------------------------------------------------- */

/* end_of(j): where segment j of the tile begins, and the one before ends, counted from the same
 * place as the tile's first item, which is at `first`. */
template <class X, class Shared, class Fold, class F>
GPI_DEVICE void mark_ends(const SegreduceParams &p, Shared &s, const Fold &fold,
                          const SegmentTile &t, int slot, uint32_t thread, uint32_t before, X first,
                          F end_of)
{
    constexpr int each = 4, threads = Shared::Warps::mark * 32;
    const typename Fold::A nothing = fold.nothing();
    const X bias = (X)offset_sign(p), past = first + 1, items = t.items;
    const uint32_t all_ends = t.ends;
    uint16_t *marks = s.mark[slot];
#pragma unroll 1
    for (uint32_t j = thread * each; j < all_ends; j += each * threads) {
        typename Fold::A *results = s.result[slot] + j;
        const uint32_t ends = all_ends - j;
        X end[each + 1];
        bool falls = false;
#pragma unroll
        for (uint32_t i = 0; i <= each; i++)
            end[i] = end_of(j + (i < ends ? i : ends));
#pragma unroll
        for (uint32_t i = 0; i < each; i++)
            falls = falls || (X)(end[i] ^ bias) > (X)(end[i + 1] ^ bias);
        if (falls)
            falls_check(p, t.segment + j, t.segment + j + (ends < each ? ends : each));
#pragma unroll
        for (uint32_t i = 0; i < each; i++) {
            const X last = end[i + 1] - past; /* of the tile's items */
            const bool some = end[i] != end[i + 1] && last < items;
            if (some)
                marks[Shared::Slice::mark((uint32_t)last + before)] = (uint16_t)(j + i + 1);
            if (!some && i < ends)
                results[i] = nothing;
        }
        if (Fold::keeps_begins && p.indices) {
            const auto two = [&](int i) {
                return ((uint32_t)(end[i] - first) & 0xffff) | (uint32_t)(end[i + 1] - first) << 16;
            };
            *(uint2 *)(s.begin[slot] + j) = make_uint2(two(0), two(2));
        }
        if (j == 0)
            s.slot[slot].first = end[0] == end[1]  ? first_empty
                                 : end[1] != first ? first_has_items
                                                   : first_before;
    }
}

template <class Offset, class Shared, class Fold>
GPI_DEVICE void mark_offsets(const SegreduceParams &p, Shared &s, const Fold &fold,
                             const SegmentTile &t, int slot, uint32_t thread, const char *stage,
                             uint64_t base)
{
    const Offset *offsets = (const Offset *)(stage + t.offsets);
    mark_ends(p, s, fold, t, slot, thread, t.before, (Offset)(base + t.item),
              [&](uint32_t j) { return offsets[j]; });
}

template <class Shared, class Fold>
GPI_DEVICE void mark_rows(const SegreduceParams &p, Shared &s, const Fold &fold,
                          const SegmentTile &t, int slot, uint32_t thread)
{
    mark_ends(p, s, fold, t, slot, thread, t.before, t.item,
              [&](uint32_t j) { return (t.segment + j) * p.row_length; });
}

template <class Shared, class Fold>
GPI_DEVICE void mark_tiles(const SegreduceParams &p, Shared &s, const Fold &fold, uint64_t base,
                           SegreduceTeam team)
{
    const uint32_t thread = team.warp * 32 + lane_id();
    TeamTurn<Shared::S, Shared::Warps::teams> ring(team);
    TeamTurn<Shared::R, Shared::Warps::teams> turn(team);
    bool again = false;
    for (;; ring.next(), turn.next()) {
        const int slot = turn.stage;
        barrier_wait(&s.loaded[ring.stage], ring.parity);
        if (again)
            barrier_wait(&s.stored[slot], turn.parity ^ 1);
        again = again || slot + Shared::Warps::teams >= Shared::R;
        const SegmentTile &t = s.tile[ring.stage];
        const bool none = t.share == no_share;
        if (thread == 0) {
            TileSlot &to = s.slot[slot];
            to.segment = t.segment, to.share_item = t.share_item, to.item = t.item;
            to.ends = t.ends;
            to.slices = t.slices, to.share = t.share, to.last = t.last;
        }
        if (!none && t.ends) {
            const char *stage = s.stage[ring.stage];
            if (!p.offsets)
                mark_rows(p, s, fold, t, slot, thread);
            else if (p.offset_bytes == 4)
                mark_offsets<uint32_t>(p, s, fold, t, slot, thread, stage, base);
            else
                mark_offsets<uint64_t>(p, s, fold, t, slot, thread, stage, base);
        }
        barrier_arrive(&s.freed[ring.stage]);
        barrier_arrive(&s.marked[slot]);
        if (none)
            break;
    }
}

} // namespace GPI_SPACE
