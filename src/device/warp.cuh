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

/* The same over the lane itself and the reach lanes before it. */
template <class Op, class A> GPI_DEVICE A warp_scan_within(A v, int reach, const Op &op)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        A left = shuffle_up(v, d);
        if (reach >= d)
            v = op.apply(left, v);
    }
    return v;
}

/* Every lane gets v[0] op .. op v[31], as a balanced tree in lane order: operators need not
 * commute. */
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

} // namespace GPI_SPACE
