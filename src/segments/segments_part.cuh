/* SPDX-License-Identifier: MIT */
/*
 * Arguments and heads of the segmented scan, and the steps on one warp's part of a tile.
 *
 * A head is the first item of a segment. A tile's heads lie in shared memory, a bit per item. A
 * range of items is folded from its last head on; with the note whether there was one, such folds
 * can be folded in turn (FoldSegments), so tiles exchange them as a plain scan exchanges sums.
 * Within a warp no notes are passed: a ballot tells each lane how far back its segment reaches.
 *
 * What does not depend on the prefix is done before it is known: each vector is scanned from its
 * own beginning. Then only the items before the vector's first head take the prefix, all at once.
 */
#pragma once

#include "device/lookahead.cuh"
#include "device/scan_part.cuh"

namespace GPI_SPACE
{

template <class A> struct SegmentParams {
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
    Flip flip;
};

/* The fold of a range of items, from its last head on. */
template <class A> struct Folded {
    A value;
    uint32_t head; /* there is one */
};

template <class A, class Op> struct FoldSegments {
    static constexpr bool commutes = false, warp_reduces = true;
    using F = Folded<A>;

    static GPI_DEVICE F identity()
    {
        return F{Op::identity(), 0};
    }

    static GPI_DEVICE F apply(const F &l, const F &r)
    {
        return F{r.head ? r.value : Op::apply(l.value, r.value), l.head | r.head};
    }

    /* Of a warp: the lanes before the last one with a head do not count. */
    static GPI_DEVICE F reduce(F v)
    {
        const uint32_t with_head = __ballot_sync(all_lanes, v.head != 0);
        if (lane_id() < 31 - __clz(with_head)) /* __clz(0) is 32 */
            v.value = Op::identity();
        return F{warp_reduce<Op>(v.value), with_head != 0};
    }
};

/* The heads of rows of equal length among items words of 32, from item first (a multiple of 32) on.
 * By one warp. */
template <class A>
GPI_DEVICE void row_heads(const SegmentParams<A> &p, uint64_t first, int words, uint32_t *to)
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

/* The fold of a vector from its last head on. */
template <class Types, class Op>
GPI_DEVICE typename Types::A segment_fold(const typename Types::RawIn &raw, uint32_t heads,
                                          typename Types::A start)
{
    using In = typename Types::In;
    constexpr int bytes = Types::bytes_in;
    const int last = heads ? 31 - __clz(heads) : 0;
    const auto none = raw_filled<In, bytes>(narrow<In>(Op::identity()));
    const typename Types::A sum = vector_total<Types, Op>(raw_joined<In>(none, raw, last));
    return heads ? Op::apply(start, sum) : sum;
}

/* One warp's vectors of a tile: K of them per lane, vector k * 32 + lane. */
template <class Types, class Op, int K> struct SegmentPart {
    using A = typename Types::A;
    using In = typename Types::In;
    using Out = typename Types::Out;
    using Params = SegmentParams<A>;
    using Vectors = StripedPart<Types, Op, K>;
    static constexpr int per_vector = Types::per_vector, items = 32 * K * per_vector;
    /* Halves are kept as computed: rounded twice they would be others. */
    static constexpr bool rounds = !is_integer<A>::value && sizeof(In) < sizeof(A);
    using Kept = std::conditional_t<rounds, A, Out>;
    using RawKept = Raw<per_vector * sizeof(Kept)>;

    RawKept upto[K];   /* fold of each item and those before it, from a head or the vector's
                        * beginning on */
    A before[K];       /* each vector, of the segment that goes on there */
    uint32_t heads[K]; /* of each vector */
    uint32_t open;     /* bit k: no head in the part before vector k */

    /* bits: heads of the part's items, in shared memory. */
    static GPI_DEVICE uint32_t heads_of(const uint32_t *bits, int k)
    {
        const int at = (k * 32 + lane_id()) * per_vector;
        return bits[at / 32] >> at % 32 & (1u << per_vector) - 1;
    }

    /* items: of the part, in shared memory. Everything but the outputs. */
    GPI_DEVICE void load(const char *items_, const uint32_t *bits, const Params &p)
    {
        Vectors in;
        in.load(items_, p.flip);
#pragma unroll
        for (int k = 0; k < K; k++) {
            heads[k] = heads_of(bits, k);
            before[k] = scan_vector(in.raw[k], heads[k], p.start, upto[k]);
        }
        scan();
    }

    /* The fold of a whole part alone. */
    static GPI_DEVICE Folded<A> reduce(const char *items_, const uint32_t *bits, const Params &p)
    {
        Folded<A> sum = {Op::identity(), 0};
        Vectors in;
        in.load(items_, p.flip);
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint32_t own_heads = heads_of(bits, k);
            const uint32_t with_head = __ballot_sync(all_lanes, own_heads != 0);
            A own = segment_fold<Types, Op>(in.raw[k], own_heads, p.start);
            if (lane_id() < 31 - __clz(with_head)) /* __clz(0) is 32 */
                own = Op::identity();
            if constexpr (!Op::commutes)
                own = warp_reduce<Op>(own);
            sum.value = with_head ? own : Op::apply(sum.value, own);
            sum.head |= with_head != 0;
        }
        if constexpr (Op::commutes)
            sum.value = warp_reduce<Op>(sum.value);
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
            const typename Types::RawOut out = raw_flipped<Op>(outputs(k, prefix, p), p.flip);
            if (whole && aligned)
                raw_store_aligned<bytes>(mine + k * 32 * bytes, out);
            else if (whole)
                run.put(mine + k * 32 * bytes, out, k == 0, k == K - 1);
            else
                store_items(mine + k * 32 * bytes, out, count - (k * 32 + lane_id()) * per_vector);
        }
    }

  private:
    /* Returns the last of upto. */
    static GPI_DEVICE A scan_vector(const typename Types::RawIn &raw, uint32_t heads, A start,
                                    RawKept &upto)
    {
        A y[per_vector], x = Op::identity();
#pragma unroll
        for (int i = 0; i < per_vector; i++)
            x = y[i] = Op::apply(heads >> i & 1 ? start : x, widen<A>(raw_get<In>(raw, i)));
        upto = raw_narrow<Kept>(y);
        return x;
    }

    /* before[]: from the fold of each vector, its last head on, to that of what is before it. */
    GPI_DEVICE void scan()
    {
        const uint32_t lanes_below = (1u << lane_id()) - 1;
        Folded<A> run = {Op::identity(), 0};
        open = 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint32_t with_head = __ballot_sync(all_lanes, heads[k] != 0);
            const uint32_t below = with_head & lanes_below;
            const uint32_t upto_own = heads[k] ? below | lanes_below + 1 : below;
            const int reach = upto_own ? lane_id() - (31 - __clz(upto_own)) : lane_id();
            const A all = warp_scan_within<Op>(before[k], reach);
            const A left = shuffle_up(all, 1), last = shuffle(all, 31);
            const A left_or_none = lane_id() == 0 ? Op::identity() : left;
            before[k] = below ? left : Op::apply(run.value, left_or_none);
            if (!run.head && !below)
                open |= 1u << k;
            run.value = with_head ? last : Op::apply(run.value, last);
            run.head |= with_head != 0;
        }
    }

    static GPI_DEVICE void store_items(char *to, const typename Types::RawOut &out, int count)
    {
#pragma unroll
        for (int i = 0; i < per_vector; i++)
            if (i < count)
                item_store<Out, Types::piece_out>(to + i * sizeof(Out), raw_get<Out>(out, i));
    }

    GPI_DEVICE typename Types::RawOut outputs(int k, A prefix, const Params &p) const
    {
        const A x = open >> k & 1 ? Op::apply(prefix, before[k]) : before[k];
        const int first = heads[k] ? __ffs(heads[k]) - 1 : per_vector;
        A y[per_vector];
#pragma unroll
        for (int i = 0; i < per_vector; i++)
            y[i] = Op::apply(x, widen<A>(raw_get<Kept>(upto[k], i)));
        auto out = raw_narrow<Out>(y);
        if constexpr (rounds) {
#pragma unroll
            for (int i = 0; i < per_vector; i++)
                y[i] = raw_get<Kept>(upto[k], i);
            out = raw_joined<Out>(out, raw_narrow<Out>(y), first);
        } else {
            out = raw_joined<Out>(out, upto[k], first);
        }
        if (p.exclusive)
            out = raw_replaced<Out>(raw_moved<Out>(out, narrow<Out>(x)), heads[k],
                                    narrow<Out>(p.start));
        return out;
    }
};

} // namespace GPI_SPACE
