/* SPDX-License-Identifier: MIT */
/*
 * Arguments and heads of the segmented scan, and the steps on one warp's part of a tile.
 *
 * A head is the first item of a segment. A tile's heads lie in shared memory, a bit per item. A
 * range of items is folded from its last head on; with the note whether there was one, such folds
 * can be folded in turn (FoldSegments), so tiles exchange them as a plain scan exchanges sums.
 * Within a warp no notes are passed: a ballot tells each lane how far back its segment reaches.
 *
 * The sum warps leave what goes on behind each lane; the store warps scan each lane's items, one
 * behind the other, as soon as the prefix is known.
 */
#pragma once

#include "device/lookahead.cuh"
#include "device/lane_run.cuh"

namespace GPI_SPACE
{

template <class A> struct SegmentParams {
    const char *in;
    char *out;
    uint64_t n;
    const uint64_t *device_count; /* NULL, or counts up to count_max units of count_items items */
    uint64_t count_max, count_items;
    const uint32_t *heads; /* bit i: item i is a head; room for whole tiles. NULL: rows */
    uint64_t row_length;
    uint64_t row_step;    /* 1024 mod row_length */
    uint32_t row_pattern; /* heads of 32 items of which the first is one */
    bool exclusive;
    gpi_state state;
    A start; /* of every segment: the initial value, or what stands for it */
    Flip flip;

    GPI_DEVICE uint64_t items() const
    {
        if (!device_count)
            return n;
        const uint64_t count = *device_count;
        return count < count_max ? count * count_items : n;
    }
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

/* One warp's part of a tile: K vectors of each lane, side by side. The sum warps leave the fold of
 * every lane's segment that goes on, so the store warps go over the items only once. */
template <class Types, class Op, int K> struct SegmentPart {
    using A = typename Types::A;
    using In = typename Types::In;
    using Out = typename Types::Out;
    using Params = SegmentParams<A>;
    using Run = LaneRun<Types, K>;
    using RawIn = typename Types::RawIn;
    using RawOut = typename Types::RawOut;
    static constexpr int per_vector = Types::per_vector, per_lane = K * per_vector;
    static constexpr int items = Run::items, scratch_bytes = Run::scratch_bytes;

    /* The heads of a lane's items. */
    struct Heads {
        static constexpr int words = (per_lane + 31) / 32;
        uint32_t word[words];

        /* bits: of the part's items, in shared memory. */
        GPI_DEVICE void load(const uint32_t *bits)
        {
            const int first = lane_id() * per_lane, last_word = items / 32 - 1;
#pragma unroll
            for (int i = 0; i < words; i++) {
                const int at = first / 32 + i;
                word[i] = __funnelshift_r(bits[at < last_word ? at : last_word],
                                          bits[at < last_word ? at + 1 : last_word],
                                          (uint32_t)first % 32);
            }
            if constexpr (per_lane % 32 != 0)
                word[words - 1] &= (1u << per_lane % 32) - 1;
        }

        GPI_DEVICE uint32_t of_vector(int k) const
        {
            return word[k * per_vector / 32] >> k * per_vector % 32 & (1u << per_vector) - 1;
        }

        /* The last one; 0 if there is none. */
        GPI_DEVICE int last() const
        {
            int at = 0;
#pragma unroll
            for (int i = 0; i < words; i++)
                at = word[i] ? 32 * i + 31 - __clz(word[i]) : at;
            return at;
        }

        GPI_DEVICE bool any() const
        {
            uint32_t all = 0;
#pragma unroll
            for (int i = 0; i < words; i++)
                all |= word[i];
            return all != 0;
        }
    };

    RawIn raw[K];
    Heads heads;
    uint32_t lanes; /* with heads */
    A before;       /* fold of the segment that goes on from the lanes before */

    /* items: of the part, in shared memory. */
    GPI_DEVICE void load(const char *items_, const uint32_t *bits, const Params &p)
    {
        Run::load(raw, items_);
#pragma unroll
        for (int k = 0; k < K; k++)
            raw[k] = raw_flipped<Op>(raw[k], p.flip);
        heads.load(bits);
        lanes = __ballot_sync(all_lanes, heads.any());
    }

    /* The fold of the part, from shared memory; upto: one of each lane, of its last segment. */
    GPI_DEVICE Folded<A> sum(const char *items_, A *upto, const Params &p) const
    {
        A own = from_last(items_, p);
        if (!start_last && heads.any())
            own = Op::apply(p.start, own);
        const uint32_t reached = lanes & (2u << lane_id()) - 1;
        const int reach = reached ? lane_id() - (31 - __clz(reached)) : lane_id();
        own = warp_scan_within<Op>(own, reach);
        upto[lane_id()] = own;
        return {shuffle(own, 31), lanes};
    }

    GPI_DEVICE void join(const A *upto)
    {
        before = lane_id() == 0 ? Op::identity() : upto[lane_id() - 1];
    }

    /* The first count outputs of the part; prefix: of the segment that goes on from the items
     * before it; scratch: scratch_bytes of shared memory that are this warp's own. */
    GPI_DEVICE void store(char *to, A prefix, int count, char *scratch, const Params &p) const
    {
        const uint32_t lanes_before = lanes & (1u << lane_id()) - 1;
        A x = lanes_before ? before : Op::apply(prefix, before);
#pragma unroll
        for (int k = 0; k < K; k++)
            Run::leave(scratch, k, raw_flipped<Op>(outputs(k, x, p), p.flip));
        Run::store(to, scratch, count);
    }

  private:
    using Its = ItemPlace<Types, Op>;
    using Words = WordFold<Types, Op>;

    /* The order of integers does not matter: what segments start from is folded into outputs, and
     * into nothing that is passed on. So an item of 1 or 2 bytes is one instruction where they
     * start from the identity; sums of bytes gain nothing, whose dot product takes either. */
    static constexpr bool start_last = Its::loose && !Its::dots;
    static GPI_DEVICE bool starts_last(const Params &p)
    {
        if constexpr (start_last)
            return Its::placed(p.start) != Op::identity();
        else
            return false;
    }

    /* The fold of the lane's items from its last head on. */
    GPI_DEVICE A from_last(const char *items_, const Params &p) const
    {
        const uint32_t last = heads.last();
        if constexpr (start_last && Words::exists) {
            constexpr uint32_t words = RawIn::words, per_word = 4 / sizeof(In);
            static_assert(K * words < 32, "a bit for each");
            const uint32_t word = last / per_word, later = ~1u << word;
            const char *at = items_ + lane_id() * (per_lane * sizeof(In)) + word * 4;
            const uint32_t own = ~0u << last % per_word * Its::bits;
            uint32_t t = raw_flipped<Op>(raw_word_at(at), p.flip).w[0];
            t = Words::add(Words::begin, (t & own) | (Words::none & ~own));
#pragma unroll
            for (uint32_t i = 0; i < K * words; i++)
                t = Words::add(t, raw[i / words].w[i % words], later >> i & 1);
            return Words::end(t);
        } else {
            const auto none = raw_filled<In, Types::bytes_in>(narrow<In>(Op::identity()));
            A own = vector_total<Types, Op>(raw_joined<In>(none, raw[0], (int)last));
#pragma unroll
            for (int k = 1; k < K; k++)
                own = Op::apply(own, vector_total<Types, Op>(
                                         raw_joined<In>(none, raw[k], (int)last - k * per_vector)));
            return own;
        }
    }

    /* x: the fold of the segment that goes on into vector k, and then of the one out of it. */
    GPI_DEVICE RawOut outputs(int k, A &x, const Params &p) const
    {
        const uint32_t own_heads = heads.of_vector(k);
        const A start = Its::placed(p.start), first = start_last ? Op::apply(p.start, x) : x;
        A upto[per_vector];
        x = Its::placed(x);
#pragma unroll
        for (int i = 0; i < per_vector; i++)
            if constexpr (start_last)
                x = upto[i] = Its::behind(x, own_heads & 1u << i, raw[k], i);
            else
                x = upto[i] = Its::with_item(own_heads & 1u << i ? start : x, raw[k], i);
        x = Its::back(x);
        if (!p.exclusive && !starts_last(p))
            return Its::narrowed(upto);
        if constexpr (start_last)
#pragma unroll
            for (int i = 0; i < per_vector; i++)
                upto[i] = Op::apply(start, upto[i]);
        const RawOut inclusive = Its::narrowed(upto);
        if (!p.exclusive)
            return inclusive;
        const auto starts = raw_filled<Out, Types::bytes_out>(narrow<Out>(p.start));
        return raw_chosen<Out>(own_heads, starts, raw_moved<Out>(inclusive, narrow<Out>(first)));
    }
};

} // namespace GPI_SPACE
