/* SPDX-License-Identifier: MIT */
/* Warp-wide exchange for values of any size that is a multiple of 4 bytes. */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

constexpr uint32_t all_lanes = 0xffffffffu;

GPI_DEVICE int lane_id()
{
    return (int)(threadIdx.x & 31);
}

/* The number of this warp in its block, by all of its lanes. By threadIdx.x alone ptxas does not
 * see that it is the same in all of them, and gives every exchange between lanes behind a branch by
 * it a second form, for a warp whose lanes are apart (code-27 in docs/tuning). */
GPI_DEVICE uint32_t warp_id()
{
    return __shfl_sync(all_lanes, threadIdx.x / 32, 0);
}

/* Apply f to every 32-bit word of a value. */
template <class T, class F> GPI_DEVICE T map_words(T value, F f)
{
    static_assert(sizeof(T) % 4 == 0, "values are exchanged in 32-bit words");
    union {
        T whole;
        uint32_t word[sizeof(T) / 4];
    } u;
    u.whole = value;
#pragma unroll
    for (size_t i = 0; i < sizeof(T) / 4; i++)
        u.word[i] = f(u.word[i]);
    return u.whole;
}

template <class T> GPI_DEVICE T shuffle_up(T v, int delta)
{
    return map_words(v, [=](uint32_t w) { return __shfl_up_sync(all_lanes, w, delta); });
}

template <class T> GPI_DEVICE T shuffle_down(T v, int delta)
{
    return map_words(v, [=](uint32_t w) { return __shfl_down_sync(all_lanes, w, delta); });
}

template <class T> GPI_DEVICE T shuffle(T v, int lane)
{
    return map_words(v, [=](uint32_t w) { return __shfl_sync(all_lanes, w, lane); });
}

template <class T> GPI_DEVICE T shuffle_xor(T v, int mask)
{
    return map_words(v, [=](uint32_t w) { return __shfl_xor_sync(all_lanes, w, mask); });
}

/* By value: a choice between places of an array would put the array into memory. */
template <class T> GPI_DEVICE T pick(bool first, T a, T b)
{
    return first ? a : b;
}

/* Operators with state are passed as objects; for the others their type says all. */

/* Lane i gets v[0] op .. op v[i] (Kogge and Stone 1973: log2(32) steps). */
template <class Op, class A> GPI_DEVICE A warp_scan(A v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        A left = shuffle_up(v, d);
        if (lane_id() >= d)
            v = Op::apply(left, v);
    }
    return v;
}

/*
 * Exclusive scan, or fold, of a K x 32 array in row-major order; each lane holds one value of every
 * row. In log2(K) steps the lanes of a pair exchange half of their rows and fold the others, so
 * that each has one row left, of K lanes; one scan over all lanes; and the same steps back: 2 K + 3
 * values exchanged (K = 8: 19), where a scan of each row would take 7 K. A fold needs no way back:
 * K + 4 values.
 */
template <class Op, int K> struct WarpRows {
    static_assert((K & (K - 1)) == 0 && K <= 32, "rows are halved");

    /* x becomes the fold of all values before it; returns the fold of all. */
    template <int N, class A> static GPI_DEVICE A scan(A (&x)[N])
    {
        if constexpr (N == 1) {
            return scan_lanes(x[0]);
        } else {
            constexpr int half = N / 2, bit = K / N;
            const bool upper = lane_id() & bit; /* the lane that keeps the last rows */
            A left[half], sum[half];
#pragma unroll
            for (int i = 0; i < half; i++) {
                const A first = x[i], last = x[i + half];
                const A got = shuffle_xor(pick(upper, first, last), bit);
                left[i] = pick(upper, got, first);
                sum[i] = Op::apply(left[i], pick(upper, last, got));
            }
            const A total = scan(sum);
#pragma unroll
            for (int i = 0; i < half; i++) {
                const A before = sum[i], after = Op::apply(before, left[i]);
                const A got = shuffle_xor(pick(upper, before, after), bit);
                x[i] = pick(upper, got, before);
                x[i + half] = pick(upper, after, got);
            }
            return total;
        }
    }

    /* The fold of all, in every lane. */
    template <int N, class A> static GPI_DEVICE A reduce(const A (&x)[N], const Op &op = Op())
    {
        if constexpr (N == 1) {
            A total = x[0];
#pragma unroll
            for (int bit = K; bit < 32; bit *= 2)
                total = joined(total, bit, op);
#pragma unroll
            for (int bit = K / 2; bit > 0; bit /= 2)
                total = joined(total, bit, op);
            return total;
        } else {
            constexpr int half = N / 2, bit = K / N;
            const bool upper = lane_id() & bit;
            A sum[half];
#pragma unroll
            for (int i = 0; i < half; i++) {
                const A own = pick(upper, x[i + half], x[i]);
                const A got = shuffle_xor(pick(upper, x[i], x[i + half]), bit);
                sum[i] = op.apply(pick(upper, got, own), pick(upper, own, got));
            }
            return reduce(sum, op);
        }
    }

  private:
    /* With that of the lane whose bit is the other one, in their order. */
    template <class A> static GPI_DEVICE A joined(A own, int bit, const Op &op)
    {
        const bool upper = lane_id() & bit;
        const A other = shuffle_xor(own, bit);
        return op.apply(pick(upper, other, own), pick(upper, own, other));
    }

    /* In the order of places in a row, which are the lane's bits from K on, and then of rows. */
    template <class A> static GPI_DEVICE A scan_lanes(A &x)
    {
        A total = x;
        x = Op::identity();
#pragma unroll
        for (int bit = K; bit < 32; bit *= 2)
            join(x, total, bit);
#pragma unroll
        for (int bit = K / 2; bit > 0; bit /= 2)
            join(x, total, bit);
        return total;
    }

    template <class A> static GPI_DEVICE void join(A &before, A &total, int bit)
    {
        const bool upper = lane_id() & bit;
        const A other = shuffle_xor(total, bit);
        before = pick(upper, Op::apply(other, before), before);
        total = pick(upper, Op::apply(other, total), Op::apply(total, other));
    }
};

/* As warp_scan(), over the lane itself and the reach lanes before it. */
template <class Op, class A> GPI_DEVICE A warp_scan_within(A v, int reach)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        A left = shuffle_up(v, d);
        if (reach >= d)
            v = Op::apply(left, v);
    }
    return v;
}

/* Every lane gets v[0] op .. op v[31], as a balanced tree in lane order:
 * operators need not commute. */
template <class Op, class A> GPI_DEVICE A warp_reduce(A v, const Op &op = Op())
{
    if constexpr (Op::warp_reduces) {
        return op.reduce(v);
    } else {
#pragma unroll
        for (int d = 1; d < 32; d <<= 1)
            v = op.apply(v, shuffle_down(v, d));
        return shuffle(v, 0);
    }
}

/* ---- sums and folds of integers, by an instruction where there is one ------------------------ */

/* Lane i gets v[0] + .. + v[i]. */
template <class T> GPI_DEVICE T warp_running_sum(T v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const T left = __shfl_up_sync(all_lanes, v, d);
        if (lane_id() >= d)
            v += left;
    }
    return v;
}

/* Lane i gets the maximum of v[0] .. v[i]. */
GPI_DEVICE uint32_t warp_running_max(uint32_t v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const uint32_t left = __shfl_up_sync(all_lanes, v, d);
        v = lane_id() >= d ? max(v, left) : v;
    }
    return v;
}

/* Lane i gets v[0] + .. + v[i - 1]. */
GPI_DEVICE uint32_t warp_exclusive(uint32_t v)
{
    return warp_running_sum(v) - v;
}

/* Over all lanes of a warp, or of each LANES neighbours; f commutes. */
template <int LANES = 32, class T, class F> GPI_DEVICE T warp_fold(T v, F f)
{
#pragma unroll
    for (int d = LANES / 2; d; d >>= 1)
        v = f(v, __shfl_xor_sync(all_lanes, v, d));
    return v;
}

GPI_DEVICE uint32_t warp_sum(uint32_t v)
{
#if GPI_SM >= 80
    return __reduce_add_sync(all_lanes, v);
#else
    return warp_fold(v, [](uint32_t a, uint32_t b) { return a + b; });
#endif
}

GPI_DEVICE uint32_t warp_max(uint32_t v)
{
#if GPI_SM >= 80
    return __reduce_max_sync(all_lanes, v);
#else
    return warp_fold(v, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
#endif
}

GPI_DEVICE uint32_t warp_or(uint32_t v)
{
#if GPI_SM >= 80
    return __reduce_or_sync(all_lanes, v);
#else
    return warp_fold(v, [](uint32_t a, uint32_t b) { return a | b; });
#endif
}

GPI_DEVICE uint64_t warp_or(uint64_t v)
{
    return (uint64_t)warp_or((uint32_t)(v >> 32)) << 32 | warp_or((uint32_t)v);
}

} // namespace GPI_SPACE
