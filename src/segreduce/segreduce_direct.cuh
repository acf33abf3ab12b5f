/* SPDX-License-Identifier: MIT */
/*
 * Segments of some length: lanes of a warp fold a segment as it lies in memory, so a result takes
 * two trips to memory, for the offsets and for the items, and no block waits for another.
 *
 * A lane has a few vectors of a segment of mean length; a segment that is much longer gets a warp
 * for itself. One of more than two chunks, which are equal parts of the array, is folded by many
 * warps: the first blocks of the grid look where each chunk begins, and fold and publish those that
 * lie in such a segment. The warp that has the segment folds its ends, and a chunk too whose fold
 * does not come, in which case both do the same. So nothing depends on the order of blocks.
 */
#pragma once

#include "device/barrier.cuh"
#include "segreduce/segreduce_range.cuh"
#include "segreduce/segreduce_share.cuh"

namespace GPI_SPACE
{

constexpr int segreduce_direct_warps = 8, segreduce_direct_blocks = 4;

/* How a call is divided. */
struct SegreduceDirect {
    uint32_t lanes_log2;    /* that fold a segment together */
    uint32_t segments_log2; /* of a warp: 32 or fewer, not fewer than it folds at once */
    uint32_t chunk_log2;    /* items of a chunk */
    uint32_t chunks, chunk_blocks;
};

/* Of a block: its epoch, which is known when the barrier's first phase has ended. */
struct DirectEpoch {
    uint64_t value, known;
};

/*
 * What a warp does: its segments, as many at once as it has lanes for, then those that are long, or
 * a chunk. All are ranges that one loop folds, so that its code is there once.
 */
template <class Fold> struct DirectWarp {
    using Far = typename Fold::Far;
    using State = TileState<Far>;

    const SegreduceParams &p;
    const SegreduceDirect &d;
    const Fold &fold;
    const SegreduceSizes &sizes;
    DirectEpoch &epoch;

    uint64_t first;                                  /* segment of the warp */
    uint64_t own_begin = 0, own_end = 0;             /* of each lane: of segment first + lane */
    uint32_t next = 0, all = 0;                      /* of its segments */
    uint32_t left = 0;                               /* long ones that are not begun */
    bool open = false, chunk = false;                /* one is; it is a chunk */
    uint64_t number = 0, begin = 0, at = 0, end = 0; /* of it; what is left */
    Far total, found;                    /* of what has been folded; of each lane: of a chunk */
    uint32_t missing = 0, chunks_at = 0; /* chunks that did not come in time, from there on */
    int patience = 1 << 14;              /* looks at words that are not there */

    /* Longer segments are folded by chunks, of which they have at least one. */
    GPI_DEVICE uint64_t chunks_from() const
    {
        return (uint64_t)2 << d.chunk_log2;
    }
    GPI_DEVICE uint64_t chunk_items() const
    {
        return 1ull << d.chunk_log2;
    }
    GPI_DEVICE uint64_t begin_of(uint64_t s) const
    {
        return p.offsets ? offset_from(p, offset_at(p, s), sizes.base) : s * p.row_length;
    }
    GPI_DEVICE State state() const
    {
        barrier_wait(&epoch.known, 0);
        return State(p.state, epoch.value);
    }
    GPI_DEVICE Far join(const Far &l, const Far &r) const
    {
        return fold.apply(l, r);
    }

    /* By the first warp of each block, when it has asked for what else it waits for. */
    GPI_DEVICE void epoch_tell(uint64_t claimed)
    {
        if (threadIdx.x == 0)
            epoch.value = launch_numbered(p.state, gridDim.x, claimed).epoch;
        if (threadIdx.x < 32)
            barrier_arrive(&epoch.known);
    }

    GPI_DEVICE void start(uint64_t s, uint64_t from, uint64_t to)
    {
        number = s, begin = at = from, end = to;
        total = fold.far(fold.identity(), 0);
        open = true;
    }

    /* Begin chunk c, if it lies in a segment that has some. */
    GPI_DEVICE void chunk_begin(uint32_t c, uint64_t claimed)
    {
        const uint64_t from = (uint64_t)c << d.chunk_log2, to = from + chunk_items();
        uint64_t b = 0, e = 0;
        if (to <= sizes.n && sizes.count > 0) {
            const uint64_t high = sizes.count + 1;
            const uint64_t s = p.offsets
                                   ? ends_before<3>(p, sizes, from << p.item_shift, 5, 0, high)
                                   : from / p.row_length;
            if (s < sizes.count)
                b = begin_of(s), e = begin_of(s + 1);
        }
        epoch_tell(claimed);
        chunk = b <= from && to <= e && e <= sizes.n && e - b > chunks_from();
        if (chunk)
            start(c, from, to);
        else if (lane_id() == 0 && c < d.chunks &&
                 (uint32_t)state().epoch % p.state.slots / State::pieces == c)
            state().retire_one(p.state, 0); /* no fold is published here, see there */
    }

    GPI_DEVICE void segments_begin(uint64_t claimed)
    {
        const uint32_t lane = lane_id();
        const uint64_t s = first + lane;
        all = 1u << d.segments_log2;
        const bool own = lane < all && s < sizes.count;
        if (own) {
            own_begin = begin_of(s), own_end = begin_of(s + 1);
            const uint64_t bias = offset_sign(p);
            if (p.offsets && (offset_at(p, s) ^ bias) > (offset_at(p, s + 1) ^ bias))
                falls_check(p, s, s + 1);
            if (own_begin > own_end || own_end > sizes.n)
                own_begin = own_end = 0;
        }
        epoch_tell(claimed);
        const uint64_t some = (uint64_t)(16 * DirectRows<Fold>::per) << d.lanes_log2;
        const uint64_t most = some < chunks_from() ? some : chunks_from();
        left = __ballot_sync(all_lanes, own && own_end - own_begin > most);
    }

    GPI_DEVICE void store(uint64_t s, uint64_t from, bool empty, const Far &x)
    {
        fold.store(p, s, empty ? fold.far(fold.nothing(), 0) : x, from);
    }

    /* Lanes ask for up to 32 chunks of the segment, until they are there or it has taken too long,
     * which it does where offsets fall. */
    GPI_DEVICE void chunks_ask()
    {
        const State words = state();
        const uint32_t past = (uint32_t)(end >> d.chunk_log2);
        chunks_at = (uint32_t)(at >> d.chunk_log2);
        const uint32_t c = chunks_at + lane_id();
        const uint32_t to = past - chunks_at < 32 ? past : chunks_at + 32;
        bool ready = c >= to;
        found = fold.far(fold.identity(), 0);
#pragma unroll 1
        for (; patience > 0 && !__all_sync(all_lanes, ready); patience--)
            if (!ready)
                ready = words.read(c, found);
        missing = __ballot_sync(all_lanes, !ready);
        at = (uint64_t)to << d.chunk_log2;
        if (!missing)
            chunks_take();
    }

    GPI_DEVICE void chunks_take()
    {
        total = join(total,
                     fold_lanes([&](const Far &l, const Far &r) { return join(l, r); }, found, 5));
    }

    /* What to fold next; false: nothing yet. */
    GPI_DEVICE bool range(DirectRange &r)
    {
        r = {0, 0, 5};
        if (next < all) {
            const uint32_t i = next + ((uint32_t)lane_id() >> d.lanes_log2);
            r = {shuffle(own_begin, i), shuffle(own_end, i), (int)d.lanes_log2};
            r.end = left >> i & 1 ? r.begin : r.end;
            return true;
        }
        if (missing) {
            r.begin = (uint64_t)(chunks_at + __ffs(missing) - 1) << d.chunk_log2;
            r.end = r.begin + chunk_items();
            return true;
        }
        if (!open) {
            const uint32_t i = __ffs(left) - 1;
            left &= left - 1;
            start(first + i, shuffle(own_begin, i), shuffle(own_end, i));
        }
        const bool chunks = end - begin > chunks_from();
        const uint64_t up = (at + chunk_items() - 1) >> d.chunk_log2 << d.chunk_log2;
        if (chunks && at == up && end - at >= chunk_items()) {
            chunks_ask();
            return false;
        }
        r.begin = at, r.end = chunks && at != up ? up : end;
        at = r.end;
        return true;
    }

    /* x: the fold of that range. */
    GPI_DEVICE void take(const DirectRange &r, const Far &x)
    {
        const uint32_t lane = lane_id();
        if (next < all) {
            const uint32_t i = next + (lane >> d.lanes_log2);
            if ((lane & ((1u << d.lanes_log2) - 1)) == 0 && first + i < sizes.count &&
                !(left >> i & 1))
                store(first + i, r.begin, r.begin == r.end, x);
            next += 32u >> d.lanes_log2;
        } else if (missing) {
            const Far all_of_it = shuffle(x, 0);
            if (lane == (uint32_t)__ffs(missing) - 1)
                found = all_of_it;
            missing &= missing - 1;
            if (!missing)
                chunks_take();
        } else {
            total = join(total, x);
        }
    }

    GPI_DEVICE void finish()
    {
        if (lane_id() == 0 && chunk)
            state().publish((uint32_t)number, total);
        else if (lane_id() == 0)
            store(number, begin, false, total);
        open = false;
    }

    GPI_DEVICE void run()
    {
        DirectRange r;
        while (next < all || open || left) {
            if (range(r))
                take(r, fold_range(p, fold, sizes.n, r));
            if (open && at == end && !missing)
                finish();
        }
    }
};

/* Grid: chunk_blocks, with a warp for each chunk, and as many as warps with segments take. After:
 * all results. */
template <class Fold>
__global__ void __launch_bounds__(segreduce_direct_warps * 32, segreduce_direct_blocks)
    segreduce_direct_k(const __grid_constant__ SegreduceParams p,
                       const __grid_constant__ SegreduceDirect d, const __grid_constant__ Fold fold)
{
    __shared__ DirectEpoch epoch;
    uint64_t claimed = 0;
    if (threadIdx.x == 0) {
        claimed = counter_claim(p.state);
        barrier_init(&epoch.known, barrier_warp_arrivals);
        barrier_init_done();
    }
    __syncthreads();
    const SegreduceSizes sizes(p);
    const uint32_t warps = segreduce_direct_warps, chunk = blockIdx.x * warps + threadIdx.x / 32;
    DirectWarp<Fold> warp = {p, d, fold, sizes, epoch};
    if (blockIdx.x < d.chunk_blocks) {
        warp.chunk_begin(chunk, claimed);
    } else {
        warp.first = (uint64_t)(chunk - d.chunk_blocks * warps) << d.segments_log2;
        warp.segments_begin(claimed);
    }
    warp.run();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        using State = TileState<typename Fold::Far>;
        State(p.state, epoch.value).retire_one(p.state, d.chunks * State::pieces);
        if (p.offsets)
            ends_check(p, sizes);
    }
}

} // namespace GPI_SPACE
