/* SPDX-License-Identifier: MIT */
/* The fold of neighbouring items by some lanes of a warp, as they lie in memory. */
#pragma once

#include "device/tile_io.cuh"
#include "segreduce/segreduce_folds.cuh"

namespace GPI_SPACE
{

/* The vector at `at`, of which only what lies in [begin, end) is read. */
template <class T>
__device__ __noinline__ Raw<16> vector_within(const char *at, const char *begin, const char *end)
{
    Raw<16> r = {};
#pragma unroll
    for (int w = 0; w < 4; w++) {
        const char *word = at + 4 * w;
        if constexpr (sizeof(T) >= 4) {
            if (word >= begin && word < end)
                r.w[w] = *(const uint32_t *)word;
        } else {
            for (int i = 0; i < 4; i += (int)sizeof(T))
                if (word + i >= begin && word + i < end)
                    r.w[w] |= (uint32_t) * (const T *)(word + i) << 8 * i;
        }
    }
    return r;
}

/* Some vectors of a lane. */
template <class Fold> struct DirectRows {
    using A = typename Fold::A;
    using T = typename Fold::T;
    using RawIn = typename Fold::RawIn;
    static constexpr int rows = 4, words = 16 / Fold::word_bytes, per = 16 / (int)sizeof(T);

    const Fold &fold;
    RawIn word[rows][words];

    GPI_DEVICE void take(int row, const Raw<16> &vector)
    {
        constexpr int each = RawIn::words;
#pragma unroll
        for (int w = 0; w < words; w++) {
#pragma unroll
            for (int i = 0; i < each; i++)
                word[row][w].w[i] = vector.w[w * each + i];
            fold.prepare(word[row][w]);
        }
    }

    /* Items before head and from tail on, counted from the row's first, add nothing. */
    GPI_DEVICE void cut(int row, int head, int tail)
    {
#pragma unroll
        for (int w = 0; w < words; w++)
            word[row][w] =
                fold.within(word[row][w], head - w * Fold::per_word, tail - w * Fold::per_word);
    }

    template <class Op> GPI_DEVICE A folded(Op op, A all, int row, uint32_t at) const
    {
        return fold.row(op, all, word[row], at);
    }
};

/* In the first of 1 << lanes_log2 lanes the fold of theirs, in their order. */
template <class Op, class A> GPI_DEVICE A fold_lanes(Op op, A v, int lanes_log2)
{
#pragma unroll 1
    for (int d = 0; d < lanes_log2; d++)
        v = op(v, shuffle_down(v, 1 << d));
    return v;
}

/* Items [begin, end), which 1 << lanes_log2 neighbouring lanes fold together. */
struct DirectRange {
    uint64_t begin, end;
    int lanes_log2;
};

/*
 * A range as vectors. They begin at multiples of 16 bytes, of memory or, of folds that round, of
 * the array, so that the bits of a result do not depend on where the array lies: of one that lies
 * aside they are put together of two. The first has `head` items before the range.
 */
template <class Fold> struct DirectVectors {
    using Rows = DirectRows<Fold>;
    using T = typename Fold::T;
    static constexpr int size = (int)sizeof(T), per = Rows::per;
    const char *base;
    uint32_t head, tail, count;
    bool edges; /* what is read would not all be inside the array */

    GPI_DEVICE DirectVectors(const SegreduceParams &p, uint64_t n, const DirectRange &r)
    {
        const char *from = p.in + r.begin * size;
        const uint32_t moved = Fold::rounds ? (uint32_t)r.begin * size & 15u : misalignment(from);
        base = from - moved;
        head = moved / size, tail = head + (uint32_t)(r.end - r.begin);
        count = r.begin == r.end ? 0 : (tail + per - 1) / per;
        const uint32_t aside = Fold::rounds ? misalignment(base) : 0;
        const uint64_t read = (uint64_t)count * 16 + (aside ? 16 : 0);
        edges = base - aside < p.in || base - aside + read > p.in + n * size;
    }

    GPI_DEVICE Raw<16> one(const SegreduceParams &p, uint64_t n, const char *at) const
    {
        if (edges)
            return vector_within<T>(at, p.in, p.in + n * size);
        if constexpr (Fold::rounds)
            if (misalignment(at))
                return raw_load_shifted<16, size>(at);
        return raw_load_aligned<16>(at);
    }

    /* Rows k, k + lanes, .. */
    GPI_DEVICE void load(const SegreduceParams &p, uint64_t n, Rows &v, uint32_t k,
                         uint32_t lanes) const
    {
        Raw<16> x[Rows::rows] = {};
        const char *at = base + (uint64_t)k * 16;
#pragma unroll
        for (uint32_t r = 0; r < Rows::rows; r++)
            if (k + r * lanes < count)
                x[r] = one(p, n, at + r * lanes * 16);
#pragma unroll
        for (int r = 0; r < Rows::rows; r++)
            v.take(r, x[r]);
        const int past = (int)tail - (int)(k * per), before = (int)head - (int)(k * per);
        const int whole = ((Rows::rows - 1) * (int)lanes + 1) * per;
        if (__any_sync(all_lanes, before > 0 || past < whole))
#pragma unroll
            for (int r = 0; r < Rows::rows; r++)
                v.cut(r, before - r * (int)lanes * per, past - r * (int)lanes * per);
    }
};

/* The fold of a range in the first of its lanes; by a warp. Lanes read neighbouring vectors; where
 * the order of items counts they are joined row by row. */
template <class Fold>
GPI_DEVICE typename Fold::Far fold_range(const SegreduceParams &p, const Fold &fold, uint64_t n,
                                         const DirectRange &range)
{
    using Rows = DirectRows<Fold>;
    using A = typename Fold::A;
    const uint32_t lanes = 1u << range.lanes_log2, lane = lane_id() & (lanes - 1);
    const DirectVectors<Fold> vectors(p, n, range);
    const uint32_t most = warp_max(vectors.count);
    A result = fold.identity();
    fold.with_one_op([&](auto op) {
        A all = fold.identity();
#pragma unroll 1
        for (uint32_t first = 0; first < most; first += Rows::rows * lanes) {
            Rows v = {fold, {}};
            vectors.load(p, n, v, first + lane, lanes);
#pragma unroll
            for (uint32_t r = 0; r < Rows::rows; r++) {
                const uint32_t at = (first + lane + r * lanes) * Rows::per;
                if (first + r * lanes >= most)
                    break;
                if (fold.in_order())
                    all = op(all, fold_lanes(op, v.folded(op, fold.identity(), r, at),
                                             range.lanes_log2));
                else
                    all = v.folded(op, all, r, at);
            }
        }
        result = fold.in_order() ? all : fold_lanes(op, all, range.lanes_log2);
    });
    return fold.far(fold.not_before(result, vectors.head), range.begin - vectors.head);
}

} // namespace GPI_SPACE
