/* SPDX-License-Identifier: MIT */
/*
 * What both kernels of the segmented scan share: arguments, heads, the steps on one warp's part of
 * a tile.
 *
 * A head is the first item of a segment. A tile's heads lie in shared memory, a bit per item. A
 * range of items is folded from its last head on; with the note whether there was one, such folds
 * can be folded in turn (FoldSegments), so tiles exchange them as a plain scan exchanges sums.
 * Within a warp no notes are passed: a ballot tells each lane how far back its segment reaches.
 */
#pragma once

#include "device/lookahead.cuh"
#include "device/scan_part.cuh"
#include "device/run_time_op.cuh"

namespace GPI_SPACE
{

template <class A, class Op> struct SegmentParams {
    const char *in;
    char *out;
    uint64_t n;
    const uint32_t *heads; /* bit i: item i is a head; room for whole tiles. NULL: rows */
    uint64_t row_length;
    uint64_t row_step;    /* 1024 mod row_length */
    uint32_t row_pattern; /* heads of 32 items of which the first is one */
    bool exclusive;
    gpi_state state;
    A start; /* of every segment: the initial value, or what stands for it */
    Op op;
};

/* The fold of a range of items, from its last head on. */
template <class A> struct Folded {
    A value;
    uint32_t head; /* there is one */
};

template <class A, class Op> struct FoldSegments {
    static constexpr bool commutes = false, warp_reduces = true;
    using F = Folded<A>;
    Op op;

    GPI_DEVICE F identity() const
    {
        return F{op.identity(), 0};
    }

    GPI_DEVICE F apply(const F &l, const F &r) const
    {
        return F{r.head ? r.value : op.apply(l.value, r.value), l.head | r.head};
    }

    /* Of a warp: the lanes before the last one with a head do not count. */
    GPI_DEVICE F reduce(F v) const
    {
        const uint32_t with_head = __ballot_sync(all_lanes, v.head != 0);
        if (lane_id() < 31 - __clz(with_head)) /* __clz(0) is 32 */
            v.value = op.identity();
        return F{warp_reduce<Op>(v.value, op), with_head != 0};
    }
};

/* The heads of rows of equal length among items words of 32, from item first (a multiple of 32) on.
 * By one warp. */
template <class A, class Op>
GPI_DEVICE void row_heads(const SegmentParams<A, Op> &p, uint64_t first, int words, uint32_t *to)
{
    uint64_t place = (first + 32 * lane_id()) % p.row_length; /* in its row */
    for (int w = lane_id(); w < words; w += 32) {
        const uint64_t next = place ? p.row_length - place : 0; /* head, from here */
        to[w] = next < 32 ? p.row_pattern << next : 0;
        place += p.row_step;
        if (place >= p.row_length)
            place -= p.row_length;
    }
}

/* x folded with the items of a vector; a head begins anew. */
template <class Types, class Op>
GPI_DEVICE typename Types::A segment_fold(const typename Types::RawIn &raw, uint32_t heads,
                                          typename Types::A x, typename Types::A start,
                                          const Op &op)
{
    using A = typename Types::A;
#pragma unroll
    for (int i = 0; i < Types::per_vector; i++)
        x = op.apply(heads >> i & 1 ? start : x, widen<A>(raw_get<typename Types::In>(raw, i)));
    return x;
}

/* The outputs of a vector before which its segment folds to x. */
template <class Types, class Op>
GPI_DEVICE typename Types::RawOut segment_outputs(const typename Types::RawIn &raw, uint32_t heads,
                                                  typename Types::A x, typename Types::A start,
                                                  bool exclusive, const Op &op)
{
    using A = typename Types::A;
    using Out = typename Types::Out;
    typename Types::RawOut out = {};
#pragma unroll
    for (int i = 0; i < Types::per_vector; i++) {
        const A before = heads >> i & 1 ? start : x;
        x = op.apply(before, widen<A>(raw_get<typename Types::In>(raw, i)));
        raw_set<Out>(out, i, narrow<Out>(exclusive ? before : x));
    }
    return out;
}

/* One warp's vectors of a tile: K of them per lane, vector k * 32 + lane. */
template <class Types, class Op, int K> struct SegmentPart {
    using A = typename Types::A;
    using In = typename Types::In;
    using Out = typename Types::Out;
    using Params = SegmentParams<A, Op>;
    static constexpr int per_vector = Types::per_vector, items = 32 * K * per_vector;

    StripedPart<Types, Op, K> in; /* its vectors; before[]: of the segment that goes on there */
    uint32_t heads[K];            /* of each vector */
    uint32_t open;                /* bit k: no head in the part before vector k */

    /* heads: of the part's items, in shared memory. */
    GPI_DEVICE void load_heads(const uint32_t *bits)
    {
#pragma unroll
        for (int k = 0; k < K; k++) {
            const int at = (k * 32 + lane_id()) * per_vector;
            heads[k] = bits[at / 32] >> at % 32 & (1u << per_vector) - 1;
        }
    }

    /* Fill before[] and open; returns the fold of the whole part. */
    GPI_DEVICE Folded<A> scan(const Params &p)
    {
        const uint32_t lanes_below = (1u << lane_id()) - 1;
        Folded<A> run = {p.op.identity(), 0};
        open = 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint32_t with_head = __ballot_sync(all_lanes, heads[k] != 0);
            const uint32_t below = with_head & lanes_below;
            const uint32_t upto_own = heads[k] ? below | lanes_below + 1 : below;
            const int reach = upto_own ? lane_id() - (31 - __clz(upto_own)) : lane_id();
            const A own = segment_fold<Types>(in.raw[k], heads[k], p.op.identity(), p.start, p.op);
            const A upto = warp_scan_within(own, reach, p.op);
            const A left = shuffle_up(upto, 1), last = shuffle(upto, 31);
            const A left_or_none = lane_id() == 0 ? p.op.identity() : left;
            in.before[k] = below ? left : p.op.apply(run.value, left_or_none);
            if (!run.head && !below)
                open |= 1u << k;
            run.value = with_head ? last : p.op.apply(run.value, last);
            run.head |= with_head != 0;
        }
        return run;
    }

    /* The fold of the whole part alone. */
    GPI_DEVICE Folded<A> reduce(const Params &p) const
    {
        Folded<A> sum = {p.op.identity(), 0};
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint32_t with_head = __ballot_sync(all_lanes, heads[k] != 0);
            A own = segment_fold<Types>(in.raw[k], heads[k], p.op.identity(), p.start, p.op);
            if (lane_id() < 31 - __clz(with_head)) /* __clz(0) is 32 */
                own = p.op.identity();
            if constexpr (!Op::commutes)
                own = warp_reduce<Op>(own, p.op);
            sum.value = with_head ? own : p.op.apply(sum.value, own);
            sum.head |= with_head != 0;
        }
        if constexpr (Op::commutes)
            sum.value = warp_reduce<Op>(sum.value, p.op);
        return sum;
    }

    /* The first count outputs of the part; prefix: of the segment that goes on from the items
     * before it. One loop for all cases: the outputs are most of its code. */
    GPI_DEVICE void store(char *to, A prefix, int count, const Params &p) const
    {
        constexpr int bytes = Types::bytes_out;
        const bool whole = count >= items, aligned = misalignment(to) == 0;
        char *mine = to + lane_id() * bytes;
        ShiftedRun<bytes, Types::piece_out> run = {};
#pragma unroll
        for (int k = 0; k < K; k++) {
            const typename Types::RawOut out = outputs(k, prefix, p);
            if (whole && aligned)
                raw_store_aligned<bytes>(mine + k * 32 * bytes, out);
            else if (whole)
                run.put(mine + k * 32 * bytes, out, k == 0, k == K - 1);
            else
                store_items(mine + k * 32 * bytes, out, count - (k * 32 + lane_id()) * per_vector);
        }
    }

  private:
    static GPI_DEVICE void store_items(char *to, const typename Types::RawOut &out, int count)
    {
#pragma unroll
        for (int i = 0; i < per_vector; i++)
            if (i < count)
                item_store<Out, Types::piece_out>(to + i * sizeof(Out), raw_get<Out>(out, i));
    }

    GPI_DEVICE typename Types::RawOut outputs(int k, A prefix, const Params &p) const
    {
        const A x = open >> k & 1 ? p.op.apply(prefix, in.before[k]) : in.before[k];
        return segment_outputs<Types>(in.raw[k], heads[k], x, p.start, p.exclusive, p.op);
    }
};

} // namespace GPI_SPACE
