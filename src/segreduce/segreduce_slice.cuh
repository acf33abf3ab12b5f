/* SPDX-License-Identifier: MIT */
/* One warp's slice of a tile: some words of items of each lane, side by side in shared memory, and
 * the marks of those items. */
#pragma once

#include "segreduce/segreduce_tiles.cuh"

namespace GPI_SPACE
{

/* As warp_scan_within(), of the first lanes. */
template <int lanes = 32, class Op, class A> GPI_DEVICE A fold_scan_within(Op op, A v, int reach)
{
#pragma unroll
    for (int d = 1; d < lanes; d <<= 1) {
        const A left = shuffle_up(v, d), both = op(left, v);
        v = reach >= d ? both : v;
    }
    return v;
}

/* The fold of a warp's values, in their order, in lane 0. */
template <class Op, class A> GPI_DEVICE A fold_warp(Op op, A v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1)
        v = op(v, shuffle_down(v, d));
    return v;
}

/* How far a lane's fold reaches back: to the last lane, it included, that has an end. */
GPI_DEVICE int lanes_since(uint32_t with_ends)
{
    const uint32_t reached = with_ends & ((2u << lane_id()) - 1);
    return reached ? lane_id() - (31 - __clz(reached)) : lane_id();
}

template <class Fold> struct FoldSlice {
    using A = typename Fold::A;
    using T = typename Fold::T;
    using RawIn = typename Fold::RawIn;
    using Shape = SliceShape<Fold>;
    static constexpr int per_word = Shape::per_word, words = Shape::words;
    static constexpr bool narrow = per_word > 1;
    static constexpr int batch = narrow ? 5 : words; /* words in registers at once */
    /* The marks of a word, or of two. */
    using Marks = std::conditional_t<per_word == 4, uint64_t, uint32_t>;
    static constexpr int mark_words = narrow ? batch : Shape::lane_marks / 2;

    const Fold &fold;
    const char *items; /* the words of this lane */
    uint16_t *marks;
    A *results;
    uint32_t at;    /* the index of the first item in the share */
    int begin, end; /* items of the lane that count */

    RawIn raw[batch];
    Marks mark[mark_words];
    A all;          /* since the last end */
    A none;         /* the identity, in registers */
    uint32_t first; /* the segment that the first mark ends, or no_segment */

    GPI_DEVICE bool partial() const
    {
        return begin > 0 || end < Shape::lane_items;
    }

    static GPI_DEVICE RawIn word_at(const char *from)
    {
        if constexpr (sizeof(T) > 4 && sizeof(T) != Fold::piece) {
            RawIn r;
#pragma unroll
            for (int i = 0; i < RawIn::words; i++)
                r.w[i] = ((const uint32_t *)from)[i];
            return r;
        } else {
            return raw_load_aligned<Shape::word>(from);
        }
    }

    /* Words [k, k + batch): items that do not count add nothing. */
    GPI_DEVICE bool load(int k)
    {
        Marks any = 0;
#pragma unroll
        for (int i = 0; i < batch; i++)
            raw[i] = word_at(items + (k + i) * Shape::word);
        if constexpr (narrow) {
#pragma unroll
            for (int i = 0; i < batch; i++)
                mark[i] = ((const Marks *)marks)[k + i];
        } else {
            const Raw<4 *mark_words> both = raw_load_aligned<4 * mark_words>((const char *)marks);
#pragma unroll
            for (int i = 0; i < mark_words; i++)
                mark[i] = both.w[i];
        }
#pragma unroll
        for (int i = 0; i < mark_words; i++)
            any |= mark[i];
#pragma unroll
        for (int i = 0; i < batch; i++)
            fold.prepare(raw[i]);
        if (!Fold::places && __any_sync(all_lanes, partial()))
#pragma unroll
            for (int i = 0; i < batch; i++)
                raw[i] = fold.within(raw[i], begin - (k + i) * per_word, end - (k + i) * per_word);
        return any != 0;
    }

    /* No segment ends in the lane's words, of which all count. */
    template <class Op> GPI_DEVICE void fold_whole(Op op, int k)
    {
#pragma unroll
        for (int i = 0; i < batch; i++)
            all = fold.word(op, all, raw[i], at + (k + i) * per_word);
    }

    /* All op items [from, to) of word i of the batch, of those that count. */
    template <class Op> GPI_DEVICE A with_part(Op op, int k, int i, int from, int to) const
    {
        const int first_item = (k + i) * per_word;
        if constexpr (Fold::places) { /* others have been made neutral */
            from = begin - first_item > from ? begin - first_item : from;
            to = end - first_item < to ? end - first_item : to;
            return fold.part(op, all, raw[i], at + first_item, from, to);
        } else {
            return fold.word(op, all, raw[i], at + first_item);
        }
    }

    /* The mark of item j of word i of the batch. */
    GPI_DEVICE uint32_t mark_of(int i, int j) const
    {
        if constexpr (narrow)
            return (uint32_t)(mark[i] >> 16 * j) & 0xffff;
        else
            return i % 2 ? mark[i / 2] >> 16 : mark[i / 2] & 0xffff;
    }

    template <class Op> GPI_DEVICE void fold_word(Op op, int k, int i)
    {
        if (narrow && mark[i] == 0) {
            all = with_part(op, k, i, 0, per_word);
            return;
        }
#pragma unroll
        for (int j = 0; j < per_word; j++) {
            const uint32_t own = mark_of(i, j);
            if constexpr (narrow) {
                const int item = (k + i) * per_word + j;
                const A with = op(all, fold.item(raw[i], j, at + item));
                all = !Fold::places || (item >= begin && item < end) ? with : all;
            } else {
                all = with_part(op, k, i, 0, 1);
            }
            if (own)
                results[(int)own - 1] = all;
            all = own ? none : all;
        }
    }

    /* The first of the batch's marks, or 0. */
    GPI_DEVICE uint32_t first_mark() const
    {
        Marks some = 0;
#pragma unroll
        for (int i = mark_words - 1; i >= 0; i--)
            some = mark[i] ? mark[i] : some;
        uint32_t two = (uint32_t)some;
        if constexpr (sizeof some == 8)
            two = two ? two : (uint32_t)(some >> 32);
        return two & 0xffff ? two & 0xffff : two >> 16;
    }

    /* Marks are taken away. */
    template <class Op> GPI_DEVICE void fold_marked(Op op, int k, bool any)
    {
        first = first == no_segment ? first_mark() - 1 : first; /* of none it is no_segment */
#pragma unroll
        for (int i = 0; i < batch; i++)
            fold_word(op, k, i);
        if (!any)
            return;
        if constexpr (mark_words % 4) {
#pragma unroll
            for (int i = 0; i < mark_words; i++)
                ((Marks *)marks)[k + i] = 0;
        } else {
            raw_store_aligned<4 * mark_words>((char *)marks, Raw<4 * mark_words>{});
        }
    }

    /* All words; results go to their places. */
    template <class Op> GPI_DEVICE void fold_all(Op op)
    {
        constexpr bool once = batch == words;
#pragma unroll 1
        for (int k = 0; k < (once ? 1 : words); k += batch) {
            const bool any = load(k);
            if (__any_sync(all_lanes, any || (Fold::places && partial())))
                fold_marked(op, k, any);
            else
                fold_whole(op, k);
        }
    }

    /* What goes into each lane's first result from the lanes before. tail: of the slice, in lane 0.
     * Returns the first segment that ends in it. */
    template <class Op> GPI_DEVICE uint32_t join(Op op, A &tail)
    {
        const uint32_t with_ends = __ballot_sync(all_lanes, first != no_segment);
        if (with_ends == 0) {
            tail = fold_warp(op, all);
            return no_segment;
        }
        const A upto = fold_scan_within(op, all, lanes_since(with_ends));
        const A before = shuffle_up(upto, 1);
        if (first != no_segment && lane_id() > 0)
            results[first] = op(before, results[first]);
        tail = shuffle(upto, 31);
        return shuffle(first, __ffs(with_ends) - 1);
    }
};

} // namespace GPI_SPACE
