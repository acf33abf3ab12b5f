/* SPDX-License-Identifier: MIT */
/*
 * The kernel of all segmented reductions. Warps by role:
 *
 *     scout     claims shares, finds where they begin, finishes the segments that came into them
 *     loaders   one of items and one of offsets: chunks of them, each into a ring of its own
 *     folders   the others: in steps, what is left of the chunks of items and of offsets
 *
 * A step ends where the first of the two chunks ends, so a block is busy whatever the lengths are.
 */
#pragma once

#include "segreduce/segreduce_part.cuh"
#include "segreduce/segreduce_rings.cuh"

namespace GPI_SPACE
{

template <class Fold>
constexpr SegreduceShape segreduce_shape = sizeof(typename Fold::A) <= 4 ? segreduce_tuning.narrow
                                                                         : segreduce_tuning.wide;

template <class Fold>
using FoldRings = SegreduceRings<segreduce_shape<Fold>.warps, segreduce_shape<Fold>.item_stages>;

template <class Fold> struct SegreduceShared : FoldRings<Fold> {
    using Rings = FoldRings<Fold>;
    using Rings::folders;
    using Rings::W;
    static constexpr int threads = folders + 3 * 32;
    using A = typename Fold::A;
    static constexpr int chunk_items = Rings::chunk_bytes / (int)sizeof(typename Fold::T);
    static constexpr int offsets_max = segreduce_tuning.offset_bytes / 4;
    static constexpr int results = chunk_items < offsets_max ? chunk_items : offsets_max;
    using Bytes = EndBytes<Fold, folders>;

    alignas(16) uint8_t ends[chunk_items];
    A result[results]; /* of the segments that end in a step */
    typename Bytes::Bits part_ends[folders];
    uint32_t part_rank[folders];
    Carried<A> warp_fold[2][W]; /* of this step, and of the one before */
    alignas(16) uint32_t taken[W];
    alignas(16) uint32_t ended[W];
    uint16_t end[2][offsets_max + 1]; /* where segments end, from where the step begins; as above */
    A head[SEGREDUCE_SHARES]; /* of the share's first segment, without what came into the share */
};

/* ---- the scout ------------------------------------------------------------------------------- */

/* The first segment that ends in a share: what came into it is known now. */
template <class Fold>
GPI_DEVICE void finish_head(const SegreduceParams &p, const Fold &fold, const ShareSpan &span,
                            const typename Fold::A &head, const Carried<typename Fold::A> &before)
{
    if (span.ends == 0 || lane_id() != 0)
        return;
    const uint64_t s = span.segment;
    fold.store(p, s, fold.apply(before.value, head),
               segment_begin(p, s) == segment_begin(p, s + 1));
}

template <class Fold>
GPI_DEVICE void scout(const SegreduceParams &p, const Fold &fold, SegreduceShared<Fold> &s,
                      const SegreduceSizes &sizes)
{
    using A = typename Fold::A;
    using Folds = CarriedFold<Fold>;
    constexpr int each = sizeof(Carried<A>) <= 16 ? 4 : 1;
    const uint32_t shares = sizes.shares(p);
    const Folds folds = {fold};
    Launch launch = {};
    if (lane_id() == 0)
        launch = launch_begin(p.state, shares);
    launch.tile = shuffle(launch.tile, 0);
    launch.epoch = shuffle(launch.epoch, 0);
    const TileState<Carried<A>> state(p.state, launch.epoch);
    if (lane_id() == 0 && launch.tile == 0) {
        state.retire_one(p.state, shares * TileState<Carried<A>>::pieces);
        if (p.offsets)
            ends_check(p, sizes);
    }
    WideLookahead<Folds, Carried<A>, each> ahead(folds, folds.identity());
    RingTurn<SEGREDUCE_SHARES> turn;
    uint32_t next = launch.tile < shares ? launch.tile : no_share, ends = 0;
#pragma unroll 1
    for (uint32_t round = 0; ends < SEGREDUCE_SHARES; round++, turn.next()) {
        ShareSlot &slot = s.share[turn.stage];
        ShareSpan span = {};
        if (next != no_share)
            span = share_span(p, sizes, next);
        ShareSlot done;
        A head = fold.identity();
        done.number = no_share;
        if (round >= SEGREDUCE_SHARES) {
            barrier_wait(&s.share_done[turn.stage], turn.parity ^ 1);
            done = slot;
            head = s.head[turn.stage];
            __syncwarp();
        }
        if (lane_id() == 0)
            slot = {span, launch.epoch, next};
        barrier_arrive(&s.share_known[turn.stage]);
        ends += next == no_share;
        if (next != no_share) {
            next = 0;
            if (lane_id() == 0)
                next = tile_next(p.state, shares);
            next = shuffle(next, 0);
            next = next < shares ? next : no_share;
        }
        if (done.number != no_share)
            finish_head(p, fold, done.span, head, ahead.exclusive(state, done.number));
    }
}

/* ---- folders --------------------------------------------------------------------------------- */

template <int FOLDERS> GPI_DEVICE void folders_meet()
{
    asm volatile("bar.sync 1, %0;" ::"n"(FOLDERS) : "memory");
}

/* The sum of the lanes before, of numbers up to MOST: by a ballot for each bit, none of which waits
 * for another. */
template <int MOST> GPI_DEVICE uint32_t counts_before(uint32_t own)
{
    const uint32_t lanes = (1u << lane_id()) - 1;
    uint32_t sum = 0;
#pragma unroll
    for (int bit = 0; 1 << bit <= MOST; bit++)
        sum += __popc(__ballot_sync(all_lanes, own >> bit & 1) & lanes) << bit;
    return sum;
}

/* The way of the folders through a share. Positions count from the share's first item. */
template <class Fold> struct Folders {
    using A = typename Fold::A;
    using Shared = SegreduceShared<Fold>;
    using Bytes = typename Shared::Bytes;
    using Bits = typename Bytes::Bits;
    static constexpr int per_lane = Fold::per_lane, W = Shared::W, folders = Shared::folders;

    const SegreduceParams &p;
    const Fold &fold;
    Shared &s;
    const SegreduceSizes &sizes;
    RingTurn<Shared::S> items_turn;
    RingTurn<Shared::O> offsets_turn;
    A carry;
    uint32_t round;  /* steps with items so far */
    uint32_t marked; /* and those with ends */

    /* A step: items [begin, end) of the share, `taken` of the segments [segment, segments). */
    struct Step {
        uint32_t begin, end, items_end;
        uint32_t segment, segments, taken;
    };

    /* What a step of a share looks at: offsets from that of segment `chunk` on, in their stage. */
    struct Window {
        const char *offsets;
        uint32_t chunk, items; /* of the share */
        uint64_t item, segment;
    };

    /* Where a segment ends that x is the end of; behind the share's items it is one more than
     * these, and so it is before them, which happens where offsets fall. */
    template <class Offset>
    static GPI_DEVICE uint32_t within(Offset x, Offset first, uint32_t items)
    {
        const Offset from = x - first;
        return from > items ? items + 1 : (uint32_t)from;
    }

    template <class Offset>
    GPI_DEVICE uint32_t mark_offsets(const Window &w, const Step &step, uint32_t shift)
    {
        const Offset *at = (const Offset *)w.offsets, bias = (Offset)offset_sign(p);
        const Offset first = (Offset)(sizes.base + w.item);
        return mark_ends(w, step, shift, [&](uint32_t j) {
            const Offset before = at[j - w.chunk], x = at[j - w.chunk + 1];
            if ((Offset)(before ^ bias) > (Offset)(x ^ bias))
                segreduce_report(p.reporter, GPI_RULE_FALLS, w.segment + j + 1, x, before);
            return within<Offset>(x, first, w.items);
        });
    }

    /* How many segments end within the step's items; marks the last item of those that have any. */
    GPI_DEVICE uint32_t mark(const Window &w, const Step &step, uint32_t shift)
    {
        if (p.offsets && p.offset_bytes == 4)
            return mark_offsets<uint32_t>(w, step, shift);
        if (p.offsets)
            return mark_offsets<uint64_t>(w, step, shift);
        return mark_ends(w, step, shift, [&](uint32_t j) {
            return within<uint64_t>((w.segment + j + 1) * p.row_length, w.item, w.items);
        });
    }

    /* end_of(j): where segment j of the share ends. */
    template <class F>
    GPI_DEVICE uint32_t mark_ends(const Window &w, const Step &step, uint32_t shift, F end_of)
    {
        const uint32_t most = step.begin == w.items ? ~0u : step.items_end; /* no items are left */
        uint32_t taken = 0;
        uint16_t *to = s.end[++marked & 1];
        if (threadIdx.x == 0)
            to[0] = 0;
#pragma unroll 2
        for (uint32_t i = threadIdx.x;; i += folders) {
            bool ok = false;
            if (step.segment + i < step.segments) {
                const uint32_t end = end_of(step.segment + i);
                ok = end <= most;
                to[i + 1] = (uint16_t)(end - step.begin < 0xffff ? end - step.begin : 0xffff);
                if (end > step.begin && end <= step.items_end)
                    s.ends[Bytes::place(end - 1 + shift)] = 1;
            }
            const uint32_t found = __ballot_sync(all_lanes, ok);
            taken += __popc(found);
            if (found != all_lanes)
                break;
        }
        if (lane_id() == 0)
            s.taken[threadIdx.x / 32] = taken;
        folders_meet<folders>();
        taken = 0;
#pragma unroll
        for (int v = 0; v < W; v++)
            taken += s.taken[v];
        return taken;
    }

    /* Fold the step's items; results go to s.result in the order of the segments. place: of the
     * share's first item in the chunk, below 0 if it is in one before. Returns how many. */
    GPI_DEVICE uint32_t fold_items(const char *stage, const ShareSpan &span, const Step &step,
                                   int place)
    {
        const int warp = threadIdx.x / 32, first = (int)threadIdx.x * per_lane;
        const int begin = (int)step.begin + place - first, end = (int)step.end + place - first;
        const bool active = begin < per_lane && end > 0 && begin < end;
        const bool whole = begin <= 0 && end >= per_lane;
        Bits ends = 0;
        uint32_t results = 0, rank = 0;
        if (step.taken) {
            if (active)
                ends = Bytes::take(s.ends, threadIdx.x);
            const uint32_t own = bits_set(ends), before = counts_before<per_lane>(own);
            if (lane_id() == 31)
                s.ended[warp] = before + own;
            folders_meet<folders>();
#pragma unroll
            for (int w = 0; w < W; w++) {
                rank += w < warp ? s.ended[w] : 0;
                results += s.ended[w];
            }
            rank += before;
            s.part_ends[threadIdx.x] = ends;
            s.part_rank[threadIdx.x] = rank;
        }
        const uint32_t with_ends = __ballot_sync(all_lanes, ends != 0);
        FoldPart<Fold> part;
        part.items = stage + first * (int)sizeof(typename Fold::T);
        part.first = span.item + (uint64_t)(int64_t)(first - place);
        part.begin = begin < 0 ? 0 : begin;
        part.end = end < per_lane ? end : per_lane;
        A tail = fold.identity();
        const bool together = with_ends == 0 && __all_sync(all_lanes, whole);
        if (active) {
            const Bits valid = (Bits)(~(Bits)0 << part.begin) &
                               (Bits)(~(Bits)0 >> (8 * (int)sizeof(Bits) - part.end));
            part.load(fold, !together || !fold.any_order());
            fold.with_op([&](auto op) {
                tail = together ? part.whole(fold, op)
                                : part.walk(fold, op, ends, valid, s.result + rank);
            });
        }
        __syncwarp();
        join_lanes(tail, with_ends, rank, ends != 0);
        return results;
    }

    /* What comes into each lane's first segment that ends, from the lanes and warps before. */
    GPI_DEVICE void join_lanes(A tail, uint32_t with_ends, uint32_t rank, bool own)
    {
        const int warp = threadIdx.x / 32, lane = lane_id();
        A total;
        if (with_ends == 0) {
            total = fold_warp(fold, tail);
        } else {
            const uint32_t reached = with_ends & ((2u << lane) - 1);
            const int reach = reached ? lane - (31 - __clz(reached)) : lane;
            const A upto = fold_scan_within(fold, tail, reach);
            const A before = shuffle_up(upto, 1);
            if (own && lane > 0)
                s.result[rank] = fold.apply(before, s.result[rank]);
            total = shuffle(upto, 31);
        }
        if (lane == 0)
            s.warp_fold[round & 1][warp] = {total, with_ends != 0};
        folders_meet<folders>();
        A into = carry;
#pragma unroll
        for (int w = 0; w < W; w++) {
            if (w == warp && with_ends && lane == __ffs(with_ends) - 1)
                s.result[rank] = fold.apply(into, s.result[rank]);
            const Carried<A> of = s.warp_fold[round & 1][w];
            into = of.ended ? of.value : fold.apply(into, of.value);
        }
        carry = into;
        round++;
    }

    /* The result of the i-th segment that ends in a step; false: it has no items. */
    GPI_DEVICE bool result_of(uint32_t i, const Step &step, int place, A &all) const
    {
        const uint16_t *ends = s.end[marked & 1] + i;
        const uint32_t end = step.begin + ends[1];
        if (ends[1] <= ends[0] || end > step.end)
            return false;
        const uint32_t last = end - 1 + place, part = last / per_lane;
        const Bits below = ((Bits)1 << last % per_lane) - 1;
        all = s.result[s.part_rank[part] + bits_set((Bits)(s.part_ends[part] & below))];
        return true;
    }

    /* Store what has ended, except the share's first segment, which waits for what came into it. */
    GPI_DEVICE void store(uint64_t first, A &head, const Step &step, uint32_t results, int place)
    {
#pragma unroll 2
        for (uint32_t i = threadIdx.x; i < step.taken; i += folders) {
            bool some = true;
            A all = fold.identity();
            if (results == step.taken) /* all have items */
                all = s.result[i];
            else
                some = result_of(i, step, place, all);
            if (step.segment + i == 0)
                head = all;
            else
                fold.store(p, first + step.segment + i, all, !some);
        }
    }

    GPI_DEVICE void share(const ShareSlot &slot, A &head)
    {
        const ShareSpan span = slot.span;
        const ItemChunks<typename Shared::Rings> chunks(p, span);
        const OffsetChunks offset_chunks(p, span);
        uint32_t c = 0, chunk = 0; /* the chunk of items; the first segment of that of offsets */
        carry = fold.identity();
        Step step = {0, 0, 0, 0, 0, 0};
#pragma unroll 1
        while (step.begin < span.items || step.segment < span.ends) {
            const bool some = step.begin < span.items;
            const char *stage = s.items[items_turn.stage] + chunks.shift;
            const int place = (int)chunks.skip - (int)(c * Shared::chunk_items);
            const Window w = {s.offsets[offsets_turn.stage] + offset_chunks.shift, chunk,
                              span.items, span.item, span.segment};
            const uint32_t to = chunk + offset_chunks.each;
            step.items_end = some ? chunks.end(c) : span.items;
            step.segments = to < span.ends ? to : span.ends;
            if (p.offsets && step.segment < span.ends)
                barrier_wait(&s.offsets_loaded[offsets_turn.stage], offsets_turn.parity);
            if (some)
                barrier_wait(&s.items_loaded[items_turn.stage], items_turn.parity);
            step.taken = step.segment < span.ends ? mark(w, step, (uint32_t)place) : 0;
            const uint32_t segment = step.segment + step.taken;
            step.end = step.items_end;
            if (segment == step.segments && segment < span.ends) {
                const uint32_t last = step.begin + s.end[marked & 1][step.taken];
                step.end = last < step.end ? last : step.end;
            }
            uint32_t results = 0;
            if (step.end > step.begin)
                results = fold_items(stage, span, step, place);
            if (step.taken) {
                folders_meet<folders>();
                store(span.segment, head, step, results, place);
            }
            if (some && step.end == step.items_end) {
                barrier_arrive(&s.items_freed[items_turn.stage]);
                items_turn.next();
                c++;
            }
            if (step.segment < span.ends && segment == step.segments) {
                chunk = step.segments;
                if (p.offsets) {
                    barrier_arrive(&s.offsets_freed[offsets_turn.stage]);
                    offsets_turn.next();
                }
            }
            step.begin = step.end;
            step.segment = segment;
        }
        if (threadIdx.x == 0)
            TileState<Carried<A>>(p.state, slot.epoch)
                .publish(slot.number, {carry, span.ends != 0});
    }

    GPI_DEVICE void all_shares()
    {
        RingTurn<SEGREDUCE_SHARES> turn;
        for (;; turn.next()) {
            barrier_wait(&s.share_known[turn.stage], turn.parity);
            if (s.share[turn.stage].number == no_share)
                break;
            share(s.share[turn.stage], s.head[turn.stage]);
            barrier_arrive(&s.share_done[turn.stage]);
        }
        barrier_arrive(&s.share_done[turn.stage]);
    }
};

/* Grid: any number of blocks. Shared: a SegreduceShared. After: all results. */
template <class Fold>
__global__ void __launch_bounds__(SegreduceShared<Fold>::threads,
                                  segreduce_shape<Fold>.blocks_per_sm)
    segreduce_k(const __grid_constant__ SegreduceParams p, const __grid_constant__ Fold fold)
{
    extern __shared__ __align__(128) char memory[];
    using Shared = SegreduceShared<Fold>;
    Shared &s = *(Shared *)memory;
    const int warp = threadIdx.x / 32 - Shared::W;
    const SegreduceSizes sizes(p);
    if (threadIdx.x == 0)
        rings_init<typename Shared::Rings>(s);
#pragma unroll 1
    for (int i = threadIdx.x; i < Shared::chunk_items / 16; i += Shared::threads)
        ((uint4 *)s.ends)[i] = {};
    __syncthreads();
    if (warp < 0)
        Folders<Fold>{p, fold, s, sizes, {}, {}, fold.identity(), 0, 0}.all_shares();
    else if (warp == 0)
        load_items<typename Shared::Rings>(p, s, sizes.n);
    else if (warp == 1)
        load_offsets<typename Shared::Rings>(p, s, sizes.count);
    else
        scout(p, fold, s, sizes);
}

} // namespace GPI_SPACE
