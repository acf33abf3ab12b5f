/* SPDX-License-Identifier: MIT */
/* The two rings of a block, of items and of offsets, and the warps that load them. None of it
 * depends on what is folded. */
#pragma once

#include "device/ring.cuh"
#include "device/stage_load.cuh"
#include "segreduce/segreduce_share.cuh"
#include "tuning/segreduce_tuning.cuh"

namespace GPI_SPACE
{

enum { SEGREDUCE_SHARES = 2 }; /* that a block knows of at once */

/* What folders and loaders know of a share. */
struct ShareSlot {
    ShareSpan span;
    uint64_t epoch;
    uint32_t number; /* of the share; no_share: there are no more */
};
constexpr uint32_t no_share = ~0u;

/* What does not depend on the fold, and whose code all folds of a unit have in common. */
template <int WARPS, int STAGES> struct SegreduceRings {
    static constexpr int W = WARPS, S = STAGES, O = segreduce_tuning.offset_stages;
    static constexpr int folders = W * 32, chunk_bytes = folders * 64;
    alignas(128) char items[S][chunk_bytes + 128];
    alignas(128) char offsets[O][segreduce_tuning.offset_bytes + 128];
    ShareSlot share[SEGREDUCE_SHARES];
    uint64_t share_known[SEGREDUCE_SHARES], share_done[SEGREDUCE_SHARES];
    uint64_t items_loaded[S], items_freed[S], offsets_loaded[O], offsets_freed[O];
};

/* How chunks of a share lie in their stages: chunks of items begin at boundaries of 16 bytes where
 * items do not straddle them, so the first one may be shorter. */
template <class Rings> struct ItemChunks {
    uint32_t each, items, skip, shift, count;

    GPI_DEVICE ItemChunks(const SegreduceParams &p, const ShareSpan &span)
    {
        const uint32_t off = misalignment(p.in + (span.item << p.item_shift));
        const uint32_t places = off >> p.item_shift;
        each = Rings::chunk_bytes >> p.item_shift;
        items = span.items;
        skip = places << p.item_shift == off ? places : 0;
        shift = off - (skip << p.item_shift);
        count = items ? ((items + skip - 1) << p.item_shift) / Rings::chunk_bytes + 1 : 0;
    }
    /* The number of items that end with chunk c. */
    GPI_DEVICE uint32_t end(uint32_t c) const
    {
        const uint32_t e = (c + 1) * each - skip;
        return e < items ? e : items;
    }
};

struct OffsetChunks {
    uint32_t each, ends, count, shift;

    GPI_DEVICE OffsetChunks(const SegreduceParams &p, const ShareSpan &span)
    {
        each = segreduce_tuning.offset_bytes / 4 >> (p.offset_bytes == 8);
        shift = misalignment((const char *)p.offsets + span.segment * p.offset_bytes);
        ends = span.ends;
        count = p.offsets && ends ? (ends - 1) / (segreduce_tuning.offset_bytes / 8) + 1 : 0;
        if (p.offset_bytes == 4)
            count = (count + 1) / 2;
    }
};

/* ---- loaders --------------------------------------------------------------------------------- */

using SegreduceLoader = StageLoader<1>;

/* The next share of a loader; false: there are no more. */
template <class Rings>
GPI_DEVICE bool share_next(Rings &s, RingTurn<SEGREDUCE_SHARES> &turn, ShareSpan &span)
{
    barrier_wait(&s.share_known[turn.stage], turn.parity);
    const bool some = s.share[turn.stage].number != no_share;
    span = s.share[turn.stage].span;
    barrier_arrive(&s.share_done[turn.stage]);
    turn.next();
    return some;
}

template <class Rings>
__device__ __noinline__ void load_items(const SegreduceParams &p, Rings &s, uint64_t n)
{
    const SegreduceLoader loader;
    RingTurn<SEGREDUCE_SHARES> turn;
    RingTurn<Rings::S> ring;
    ShareSpan span;
    bool again = false;
    while (share_next(s, turn, span)) {
        const ItemChunks<Rings> chunks(p, span);
#pragma unroll 1
        for (uint32_t c = 0; c < chunks.count; c++, ring.next()) {
            const uint32_t first = c ? chunks.end(c - 1) : 0;
            const uint64_t at = span.item + first;
            if (again)
                barrier_wait(&s.items_freed[ring.stage], ring.parity ^ 1);
            again = again || ring.stage == Rings::S - 1;
            SegreduceLoader::follows_writes();
            loader.load(&s.items_loaded[ring.stage],
                        SegreduceLoader::span(s.items[ring.stage], p.in + (at << p.item_shift),
                                              (chunks.end(c) - first) << p.item_shift, at == 0,
                                              (n - at) << p.item_shift));
        }
    }
}

template <class Rings>
__device__ __noinline__ void load_offsets(const SegreduceParams &p, Rings &s, uint64_t count)
{
    const SegreduceLoader loader;
    RingTurn<SEGREDUCE_SHARES> turn;
    RingTurn<Rings::O> ring;
    ShareSpan span;
    bool again = false;
    while (share_next(s, turn, span)) {
        const OffsetChunks chunks(p, span);
#pragma unroll 1
        for (uint32_t c = 0; c < chunks.count; c++, ring.next()) {
            const uint32_t first = c * chunks.each, left = chunks.ends - first;
            const uint32_t ends = left < chunks.each ? left : chunks.each;
            const uint64_t at = span.segment + first;
            if (again)
                barrier_wait(&s.offsets_freed[ring.stage], ring.parity ^ 1);
            again = again || ring.stage == Rings::O - 1;
            SegreduceLoader::follows_writes();
            loader.load(&s.offsets_loaded[ring.stage],
                        SegreduceLoader::span(s.offsets[ring.stage],
                                              (const char *)p.offsets + at * p.offset_bytes,
                                              (ends + 1) * p.offset_bytes, at == 0,
                                              (count + 1 - at) * p.offset_bytes));
        }
    }
}

template <class Rings> __device__ __noinline__ void rings_init(Rings &s)
{
    for (int i = 0; i < SEGREDUCE_SHARES; i++) {
        barrier_init(&s.share_known[i], barrier_warp_arrivals);
        barrier_init(&s.share_done[i], (Rings::W + 2) * barrier_warp_arrivals);
    }
    for (int i = 0; i < Rings::S; i++) {
        barrier_init(&s.items_loaded[i], barrier_warp_arrivals);
        barrier_init(&s.items_freed[i], Rings::W * barrier_warp_arrivals);
    }
    for (int i = 0; i < Rings::O; i++) {
        barrier_init(&s.offsets_loaded[i], barrier_warp_arrivals);
        barrier_init(&s.offsets_freed[i], Rings::W * barrier_warp_arrivals);
    }
    barrier_init_done();
}

} // namespace GPI_SPACE
