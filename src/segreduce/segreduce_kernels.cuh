/* SPDX-License-Identifier: MIT */
/*
 * The kernel of all segmented reductions. Warps by role, none of which waits for another but to
 * get a tile from it or a place for one:
 *
 *     scout     claims shares, finds where their tiles begin
 *     loaders   bring the items and offsets of a tile
 *     markers   give each item that ends a segment the number of the segment, and results to
 *               segments without items
 *     folders   fold slices of items from mark to mark
 *     joiner    finishes the first result of each slice with what came into it; publishes shares
 *     storers   store the results of a tile, which lie in the order of the segments
 *     closer    stores the heads of shares, with the folds of the shares before
 */
#pragma once

#include "segreduce/segreduce_slice.cuh"

namespace GPI_SPACE
{

/* ---- the scout ------------------------------------------------------------------------------- */

template <class Fold, class Shared>
GPI_DEVICE void scout(const SegreduceParams &p, Shared &s, const SegreduceSizes &sizes)
{
    using State = TileState<Carried<typename Fold::Far>>;
    const uint32_t tiles = sizes.tiles(p), shares = sizes.shares(p);
    uint32_t next = 0;
    if (lane_id() == 0) {
        const Launch launch = launch_begin(p.state, shares);
        s.epoch = launch.epoch;
        if (launch.tile == 0) {
            State(p.state, launch.epoch).retire_one(p.state, shares * State::pieces);
            if (p.offsets)
                ends_check(p, sizes);
        }
        next = launch.tile;
    }
    RingTurn<SEGREDUCE_SHARES> turn;
#pragma unroll 1
    for (uint32_t round = 0;; round++, turn.next()) {
        ShareSlot &share = s.share[turn.stage];
        const uint32_t number = shuffle(next, 0);
        if (round >= SEGREDUCE_SHARES)
            barrier_wait(&s.share_closed[turn.stage], turn.parity ^ 1);
        const uint32_t left = tiles - number * p.share_tiles;
        const uint32_t some = left < p.share_tiles ? left : p.share_tiles;
        if (lane_id() == 0) {
            share.number = number < shares ? number : no_share;
            share.tiles = some;
            if (number < shares)
                next = tile_next(p.state, shares);
        }
        if (number < shares) {
            share_begins(p, sizes, number, share.begins);
            __syncwarp();
            if ((uint32_t)lane_id() < some)
                make_tile<Shared>(p, sizes, share, lane_id());
        }
        __syncwarp();
        barrier_arrive(&s.share_known[turn.stage]);
        if (number >= shares)
            break;
    }
}

/* ---- the closer ------------------------------------------------------------------------------ */

template <class Fold, class Shared>
GPI_DEVICE void close_shares(const SegreduceParams &p, const Fold &fold, Shared &s)
{
    using Far = typename Fold::Far;
    using Folds = CarriedFold<Fold>;
    constexpr int each = sizeof(Carried<Far>) <= 16 ? 4 : 1;
    const Folds folds = {fold};
    WideLookahead<Folds, Carried<Far>, each> ahead(folds, folds.identity());
    RingTurn<SEGREDUCE_SHARES> turn;
    for (;; turn.next()) {
        barrier_wait(&s.share_done[turn.stage], turn.parity);
        const ShareSlot &share = s.share[turn.stage];
        const uint32_t number = share.number;
        if (number == no_share)
            break;
        const TileState<Carried<Far>> state(p.state, s.epoch);
        const bool has_head = share.has_head;
        const uint64_t head = share.head, first = share.begins[0].item;
        const typename Fold::A own = s.head[turn.stage];
        __syncwarp();
        barrier_arrive(&s.share_closed[turn.stage]);
        const Carried<Far> before = ahead.exclusive(state, number);
        if (has_head && lane_id() == 0)
            fold.store(p, head, fold.apply(before.value, fold.far(own, first)),
                       fold.begin(p, head));
    }
}

/* ---- folders --------------------------------------------------------------------------------- */

template <class Fold, class Shared>
GPI_DEVICE void fold_slice(const Fold &fold, Shared &s, int stage, int slot, uint32_t q,
                           const typename Fold::A &none)
{
    using Shape = SliceShape<Fold>;
    const SegmentTile &t = s.tile[stage];
    const uint32_t lane = q * 32 + lane_id();
    const int begin = (int)t.before - (int)(lane * Shape::lane_items);
    FoldSlice<Fold> part = {
        fold,
        s.stage[stage] + t.begin + lane * (Shape::words * Shape::word),
        s.mark[slot] + lane * Shape::lane_marks,
        s.result[slot],
        t.near - (uint32_t)begin,
        begin,
        begin + (int)t.items,
    };
    part.all = part.none = none;
    part.first = no_segment;
    fold.with_op([&](auto op) {
        typename Fold::A tail;
        part.fold_all(op);
        const uint32_t first = part.join(op, tail);
        if (lane_id() == 0) {
            s.tail[slot][q] = tail;
            s.first[slot][q] = first;
        }
    });
}

template <class Fold, class Shared>
GPI_DEVICE void fold_tiles(const Fold &fold, Shared &s, SegreduceTeam team)
{
    const typename Fold::A none = shuffle(fold.identity(), 0); /* not to be read each time */
    TeamTurn<Shared::S, Shared::Warps::teams> ring(team);
    TeamTurn<Shared::R, Shared::Warps::teams> turn(team);
    for (;; ring.next(), turn.next()) {
        barrier_wait(&s.loaded[ring.stage], ring.parity);
        barrier_wait(&s.marked[turn.stage], turn.parity);
        const uint32_t slices = s.tile[ring.stage].slices;
        const bool done = s.tile[ring.stage].share == no_share;
        for (uint32_t q = team.warp; q < slices && !done; q += Shared::Warps::fold)
            fold_slice(fold, s, ring.stage, turn.stage, q, none);
        barrier_arrive(&s.freed[ring.stage]);
        barrier_arrive(&s.folded[turn.stage]);
        if (done)
            break;
    }
}

/* ---- the joiner ------------------------------------------------------------------------------ */

/* What a tile's results get from the slices before, and from the tiles of the share before; carry
 * is the fold behind the last end, before the tile and then behind it. */
template <class Fold, class Shared>
GPI_DEVICE void join_tile(const Fold &fold, Shared &s, int slot, typename Fold::A &carry)
{
    using A = typename Fold::A;
    const TileSlot &tile = s.slot[slot];
    A *results = s.result[slot];
    const uint32_t q = lane_id();
    const bool some = q < tile.slices;
    const A own = some ? s.tail[slot][q] : fold.identity();
    const uint32_t first = some ? s.first[slot][q] : no_segment;
    if (tile.ends && tile.first != first_has_items) {
        if (tile.first == first_before && q == 0)
            results[0] = carry;
        carry = fold.identity();
    }
    const uint32_t with_ends = __ballot_sync(all_lanes, first != no_segment);
    constexpr int slices = Shared::slices;
    const A upto = fold_scan_within<slices>(
        [&](const A &l, const A &r) { return fold.apply(l, r); }, own, lanes_since(with_ends));
    A before = shuffle_up(upto, 1);
    if (q == 0)
        before = carry;
    else if ((with_ends & ((1u << q) - 1)) == 0)
        before = fold.apply(carry, before);
    if (first != no_segment)
        results[first] = fold.apply(before, results[first]);
    const A total = shuffle(upto, slices - 1);
    carry = with_ends ? total : fold.apply(carry, total);
    __syncwarp();
}

template <class Fold, class Shared>
GPI_DEVICE void join_tiles(const SegreduceParams &p, const Fold &fold, Shared &s)
{
    using Far = typename Fold::Far;
    RingTurn<Shared::R> turn;
    RingTurn<SEGREDUCE_SHARES> share_turn;
    typename Fold::A carry = fold.identity();
    bool ended = false, has_head = false;
    uint64_t head = 0;
    for (int nones = 0; nones < Shared::Warps::teams; turn.next()) {
        barrier_wait(&s.folded[turn.stage], turn.parity);
        TileSlot &slot = s.slot[turn.stage];
        const TileSlot t = slot;
        if (t.share == no_share) {
            barrier_arrive(&s.joined[turn.stage]);
            nones++;
            continue;
        }
        join_tile(fold, s, turn.stage, carry);
        const bool heads = t.ends && !ended && t.first != first_empty;
        if (lane_id() == 0) {
            slot.skips_first = heads;
            if (heads)
                s.head[share_turn.stage] = s.result[turn.stage][0];
        }
        head = heads ? t.segment : head;
        has_head = has_head || heads;
        ended = ended || t.ends;
        barrier_arrive(&s.joined[turn.stage]);
        if (!t.last)
            continue;
        ShareSlot &share = s.share[share_turn.stage];
        if (lane_id() == 0) {
            share.head = head, share.has_head = has_head;
            TileState<Carried<Far>>(p.state, s.epoch)
                .publish(t.share, {fold.far(carry, t.share_item), ended});
        }
        barrier_arrive(&s.share_done[share_turn.stage]);
        share_turn.next();
        carry = fold.identity();
        ended = has_head = false;
    }
    barrier_arrive(&s.share_done[share_turn.stage]);
}

/* ---- storers --------------------------------------------------------------------------------- */

/* begins: see SegreduceSlots. */
template <class Fold>
GPI_DEVICE void store_results(const SegreduceParams &p, const Fold &fold, const TileSlot &t,
                              const typename Fold::A *results, const uint16_t *begins,
                              uint32_t thread)
{
    constexpr int each = 4, step = SegreduceWarps<Fold>::store * 32;
    const uint32_t ends = t.ends;
    const uint64_t segment = t.segment, first = t.share_item, item = t.item;
    const auto begin_of = [&](uint32_t j) {
        return Fold::keeps_begins && j > 0 ? item + begins[j] : fold.begin(p, segment + j);
    };
    uint32_t j = thread;
    if (t.skips_first && thread == 0)
        j += step;
#pragma unroll 1
    for (; j + (each - 1) * step < ends; j += each * step) {
        typename Fold::A x[each];
        uint64_t begin[each];
#pragma unroll
        for (int i = 0; i < each; i++) {
            x[i] = results[j + i * step];
            begin[i] = begin_of(j + i * step);
        }
#pragma unroll
        for (int i = 0; i < each; i++)
            fold.store(p, segment + j + i * step, fold.far(x[i], first), begin[i]);
    }
#pragma unroll 1
    for (; j < ends; j += step)
        fold.store(p, segment + j, fold.far(results[j], first), begin_of(j));
}

template <class Fold, class Shared>
GPI_DEVICE void store_tiles(const SegreduceParams &p, const Fold &fold, Shared &s,
                            SegreduceTeam team)
{
    for (TeamTurn<Shared::R, Shared::Warps::teams> turn(team);; turn.next()) {
        barrier_wait(&s.joined[turn.stage], turn.parity);
        const TileSlot &t = s.slot[turn.stage];
        if (t.share == no_share)
            break;
        store_results(p, fold, t, s.result[turn.stage], s.begin[turn.stage],
                      team.warp * 32 + lane_id());
        barrier_arrive(&s.stored[turn.stage]);
    }
}

constexpr uint32_t segreduce_list_threads = 256, segreduce_list_lanes_log2 = 3;

/* Grid: 8 threads for each share that there may be, and 8 more. After: shares. */
static __global__ void __launch_bounds__(segreduce_list_threads)
    segreduce_list_k(const __grid_constant__ SegreduceParams p)
{
    grid_release();
    const SegreduceSizes sizes(p);
    const uint64_t thread = (uint64_t)blockIdx.x * segreduce_list_threads + threadIdx.x;
    const uint64_t share = thread >> segreduce_list_lanes_log2;
    const TileBegin begin = tile_begin<2>(p, sizes, share * p.share_tiles * p.tile,
                                          segreduce_list_lanes_log2, 0, sizes.count + 1);
    if (share <= sizes.shares(p) && thread % (1 << segreduce_list_lanes_log2) == 0)
        p.shares[share] = begin.segment;
}

/* Grid: any number of blocks. Shared: a SegreduceMemory. After: all results. */
template <class Fold>
__global__ void __launch_bounds__(SegreduceWarps<Fold>::threads, 1)
    segreduce_k(const __grid_constant__ SegreduceParams p, const __grid_constant__ Fold fold)
{
    extern __shared__ __align__(128) char memory[];
    using Shared = SegreduceMemory<Fold>;
    using Warps = typename Shared::Warps;
    Shared &s = *(Shared *)memory;
    const SegreduceSizes sizes(p);
    if (threadIdx.x == 0)
        segreduce_init(s);
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < sizeof s.mark / 4; i += Warps::threads)
        ((uint32_t *)s.mark)[i] = 0;
    __syncthreads();
    int warp = threadIdx.x / 32;
    if (warp < Warps::teams * Warps::mark)
        return mark_tiles(p, s, fold, sizes.base, {warp, Warps::mark});
    warp -= Warps::teams * Warps::mark;
    if (warp < Warps::teams * Warps::fold)
        return fold_tiles(fold, s, {warp, Warps::fold});
    warp -= Warps::teams * Warps::fold;
    if (warp < Warps::teams * Warps::store)
        return store_tiles(p, fold, s, {warp, Warps::store});
    warp -= Warps::teams * Warps::store;
    if (warp < Warps::load)
        load_tiles(p, s, sizes);
    else if (warp == Warps::load)
        join_tiles(p, fold, s);
    else if (warp == Warps::load + 1)
        close_shares(p, fold, s);
    else
        scout<Fold>(p, s, sizes);
}

} // namespace GPI_SPACE
