/* SPDX-License-Identifier: MIT */
/*
 * One warp's part of a chunk: 64 bytes of items of each lane, side by side in shared memory, and a
 * byte per item that says whether a segment ends with it.
 */
#pragma once

#include "segreduce/segreduce_share.cuh"

namespace GPI_SPACE
{

/* v[(i - by) mod N] moves to v[i]. */
template <int N, class T> GPI_DEVICE void rotate(T (&v)[N], uint32_t by)
{
#pragma unroll
    for (int step = 1; step < N; step *= 2) {
        T moved[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            moved[i] = by & step ? v[(i + N - step) % N] : v[i];
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = moved[i];
    }
}

/*
 * Where the bytes of ends are: in pieces of at most 16 bytes, the first of all parts, the second,
 * and so on, so that a warp reads its own without conflicts.
 */
template <class Fold, int THREADS> struct EndBytes {
    static constexpr int per_lane = Fold::per_lane, piece = per_lane < 16 ? per_lane : 16;
    static constexpr int pieces = per_lane / piece;
    using Bits = std::conditional_t<(per_lane > 32), uint64_t, uint32_t>;

    static GPI_DEVICE uint32_t place(uint32_t item)
    {
        const uint32_t part = item / per_lane, in_part = item % per_lane;
        return in_part / piece * (THREADS * piece) + part * piece + in_part % piece;
    }

    /* Of four bytes that are 0 or 1. */
    static GPI_DEVICE uint32_t nibble(uint32_t word)
    {
        return word * 0x10204080u >> 28;
    }

    /* A bit for each item of a part; the bytes become 0. */
    static GPI_DEVICE Bits take(uint8_t *bytes, int part)
    {
        Bits bits = 0;
#pragma unroll
        for (int i = 0; i < pieces; i++) {
            uint8_t *at = bytes + i * (THREADS * piece) + part * piece;
            if constexpr (piece == 2) {
                const uint32_t two = *(const uint16_t *)at;
                bits = nibble(two);
                *(uint16_t *)at = 0;
            } else {
                const Raw<piece> raw = raw_load_aligned<piece>((const char *)at);
                uint32_t found = 0;
#pragma unroll
                for (int w = 0; w < piece / 4; w++)
                    found |= nibble(raw.w[w]) << 4 * w;
                bits |= (Bits)found << i * piece;
                if (found)
#pragma unroll
                    for (int w = 0; w < piece / 4; w++)
                        ((uint32_t *)at)[w] = 0;
            }
        }
        return bits;
    }
};

GPI_DEVICE int bits_set(uint32_t bits)
{
    return __popc(bits);
}

GPI_DEVICE int bits_set(uint64_t bits)
{
    return __popcll(bits);
}

template <class Fold> struct FoldPart {
    using A = typename Fold::A;
    using T = typename Fold::T;
    using RawIn = typename Fold::RawIn;
    static constexpr int vectors = Fold::vectors, per_vector = Fold::per_vector;
    static constexpr int per_lane = Fold::per_lane;

    /* Vectors of narrow items are taken one by one, in a loop: a quarter of the code. */
    static constexpr bool one_by_one = sizeof(T) <= 2;

    RawIn raw[vectors];
    const char *items; /* of this lane, at a boundary of 16 bytes or, of pairs, of a scalar */
    uint64_t first;    /* the index of the first item */
    int begin, end;    /* those that count */

    /* Lanes begin at different vectors, which spreads them over the banks. */
    GPI_DEVICE void load(const Fold &fold, bool ordered)
    {
        if constexpr (one_by_one)
            return;
        if constexpr (sizeof(T) == Fold::piece) {
            const uint32_t by = lane_id() >> 1 & 3;
#pragma unroll
            for (int k = 0; k < vectors; k++)
                raw[k] = raw_load_aligned<16>(items + ((k + by) & 3) * 16);
            if (ordered)
                rotate(raw, by);
        } else {
            uint32_t w[16];
            const uint32_t by = lane_id() & 15;
#pragma unroll
            for (int j = 0; j < 16; j++)
                w[j] = *(const uint32_t *)(items + ((j + by) & 15) * 4);
            rotate(w, by);
#pragma unroll
            for (int j = 0; j < 16; j++)
                raw[j / RawIn::words].w[j % RawIn::words] = w[j];
        }
#pragma unroll
        for (int k = 0; k < vectors; k++)
            make_ready(fold, k, raw[k]);
    }

    /* Vector k: items that do not count add nothing. */
    GPI_DEVICE void make_ready(const Fold &fold, int k, RawIn &v) const
    {
        if (!Fold::places && (begin > 0 || end < per_lane)) {
            const RawIn none = raw_filled<T, Fold::vector_bytes>(fold.neutral);
            v = raw_joined<T>(none, v, begin - k * per_vector);
            v = raw_joined<T>(v, none, end - k * per_vector);
        }
        fold.prepare(v);
    }

    /* f(k, vector k) */
    template <class F> GPI_DEVICE void each_vector(const Fold &fold, F f) const
    {
        if constexpr (one_by_one) {
#pragma unroll 1
            for (int k = 0; k < vectors; k++) {
                RawIn v = raw_load_aligned<16>(items + k * 16);
                make_ready(fold, k, v);
                f(k, v);
            }
        } else {
#pragma unroll
            for (int k = 0; k < vectors; k++)
                f(k, raw[k]);
        }
    }

    /* The fold of all items. */
    template <class Op> GPI_DEVICE A whole(const Fold &fold, Op op) const
    {
        A all = fold.identity();
        each_vector(fold, [&](int k, const RawIn &v) {
            all = fold.vector(op, all, v, first + k * per_vector);
        });
        return all;
    }

    /* Segments that end go to `to`, one after another; returns the fold of what is behind them.
     * valid: the items that count, of places. */
    template <class Op, class Bits>
    GPI_DEVICE A walk(const Fold &fold, Op op, Bits ends, Bits valid, A *to) const
    {
        A all = fold.identity();
        each_vector(fold, [&](int k, const RawIn &v) {
            const uint32_t own = (uint32_t)(ends >> k * per_vector);
#pragma unroll
            for (int i = 0; i < per_vector; i++) {
                const int j = k * per_vector + i;
                const A with = op(all, fold.item(v, i, first + j));
                if constexpr (Fold::places)
                    all = valid >> j & 1 ? with : all;
                else
                    all = with;
                if (own >> i & 1) {
                    *to++ = all;
                    all = fold.identity();
                }
            }
        });
        return all;
    }
};

/* As warp_scan_within(). */
template <class Fold>
GPI_DEVICE typename Fold::A fold_scan_within(const Fold &fold, typename Fold::A v, int reach)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const auto left = shuffle_up(v, d);
        if (reach >= d)
            v = fold.apply(left, v);
    }
    return v;
}

/* The fold of a warp's values, in their order. */
template <class Fold> GPI_DEVICE typename Fold::A fold_warp(const Fold &fold, typename Fold::A v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1)
        v = fold.apply(v, shuffle_down(v, d));
    return shuffle(v, 0);
}

} // namespace GPI_SPACE
