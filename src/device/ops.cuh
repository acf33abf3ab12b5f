/* SPDX-License-Identifier: MIT */
/*
 * Operators on accumulators, and how items are stored.
 *
 * An operator has identity(), apply(left, right), and warp_reduces: whether the hardware reduces a
 * warp (then also reduce(v)). identity() is neutral to the last bit: the one of float sums is -0.
 */
#pragma once

#include <cstdint>
#include <type_traits>

#include <gp/core.h>

#include "core/operators.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

/* ---- storage types that C++ does not have ---- */

struct alignas(2) f16_t {
    uint16_t bits;
};

struct alignas(2) bf16_t {
    uint16_t bits;
};

/* x -> s0 x + s1 */
template <class T> struct alignas(2 * sizeof(T)) Affine {
    using Scalar = T;
    T s0, s1;
};

/* row-major 2x2 */
template <class T> struct alignas(16) Mat2 {
    using Scalar = T;
    T s0, s1, s2, s3;
};

/* ab + cd. Left to the compiler, either product could be the one that is rounded by itself. */
GPI_DEVICE float dot(float a, float b, float c, float d)
{
    return __fmaf_rn(a, b, c * d);
}

GPI_DEVICE double dot(double a, double b, double c, double d)
{
    return __fma_rn(a, b, c * d);
}

template <class A, class S> GPI_DEVICE A widen(S s)
{
    return (A)s;
}

template <> GPI_DEVICE float widen<float, f16_t>(f16_t s)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(s.bits));
    return f;
}

template <> GPI_DEVICE float widen<float, bf16_t>(bf16_t s)
{
    return __uint_as_float((uint32_t)s.bits << 16);
}

template <class S, class A> GPI_DEVICE S narrow(A a)
{
    return (S)a;
}

template <> GPI_DEVICE f16_t narrow<f16_t, float>(float a)
{
    f16_t s;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(s.bits) : "f"(a));
    return s;
}

/* Round to nearest even; a NaN stays one. */
template <> GPI_DEVICE bf16_t narrow<bf16_t, float>(float a)
{
    bf16_t s;
#if GPI_SM >= 80
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(s.bits) : "f"(a));
#else
    uint32_t u = __float_as_uint(a);
    s.bits = a != a ? 0x7fff : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
#endif
    return s;
}

/* ---- order: -inf .. -0 = +0 .. +inf < NaN ---- */

template <class T> GPI_DEVICE bool less(T a, T b)
{
    return a < b;
}

/* Two comparisons: below or unordered, and a is no NaN. */
template <> GPI_DEVICE bool less<float>(float a, float b)
{
    return !(a >= b) && a == a;
}

template <> GPI_DEVICE bool less<double>(double a, double b)
{
    return !(a >= b) && a == a;
}

/* ---- limits, without the host's <limits> ---- */

template <class T> struct Limits {
    static constexpr bool is_signed = (T)-1 < (T)0;
    static constexpr T lowest = is_signed ? (T)((T)1 << (sizeof(T) * 8 - 1)) : (T)0;
    static constexpr T highest = (T)~lowest;
};

template <class T> GPI_DEVICE T lowest_value()
{
    return Limits<T>::lowest;
}
template <> GPI_DEVICE float lowest_value<float>()
{
    return __int_as_float(0xff800000);
}
template <> GPI_DEVICE double lowest_value<double>()
{
    return __longlong_as_double(0xfff0000000000000ll);
}
template <class T> GPI_DEVICE T highest_value()
{
    return Limits<T>::highest;
}
/* the greatest float of gp's order is NaN */
template <> GPI_DEVICE float highest_value<float>()
{
    return __int_as_float(0x7fc00000);
}
template <> GPI_DEVICE double highest_value<double>()
{
    return __longlong_as_double(0x7ff8000000000000ll);
}
template <class T> GPI_DEVICE T zero_for_sum()
{
    return (T)0;
}
template <> GPI_DEVICE float zero_for_sum<float>()
{
    return -0.0f;
}
template <> GPI_DEVICE double zero_for_sum<double>()
{
    return -0.0;
}

/* ---- operators ---- */

template <class A> struct is_word {
    static constexpr bool value = false;
};
template <> struct is_word<uint32_t> {
    static constexpr bool value = true;
};
template <> struct is_word<int32_t> {
    static constexpr bool value = true;
};

template <class A> struct is_integer {
    static constexpr bool value = true;
};
template <> struct is_integer<float> {
    static constexpr bool value = false;
};
template <> struct is_integer<double> {
    static constexpr bool value = false;
};

#if GPI_SM >= 80
/* The sum of a warp modulo 2^64, in three pieces whose sums fit 32 bits. */
GPI_DEVICE uint64_t reduce_add_64(uint64_t v)
{
    const uint64_t low = __reduce_add_sync(0xffffffffu, (uint32_t)v & 0x3fffff);
    const uint64_t middle = __reduce_add_sync(0xffffffffu, (uint32_t)(v >> 22) & 0x1fffff);
    const uint64_t high = __reduce_add_sync(0xffffffffu, (uint32_t)(v >> 43));
    return low + (middle << 22) + (high << 43);
}
#endif

/* Folds of a warp that the hardware has. */
template <gp_op OP, class A> struct WarpReduction {
    static constexpr bool warp_reduces = false;
};

template <class A> struct WarpReduction<GP_SUM, A> {
    static constexpr bool warp_reduces = GPI_SM >= 80 && is_integer<A>::value;
    static GPI_DEVICE A reduce(A v)
    {
        if constexpr (sizeof(A) == 4)
            return __reduce_add_sync(0xffffffffu, v);
        else
            return (A)reduce_add_64(v);
    }
};

template <class A> struct WarpReduction<GP_MIN, A> {
    static constexpr bool warp_reduces = GPI_SM >= 80 && is_word<A>::value;
    static GPI_DEVICE A reduce(A v)
    {
        return __reduce_min_sync(0xffffffffu, v);
    }
};

template <class A> struct WarpReduction<GP_MAX, A> {
    static constexpr bool warp_reduces = GPI_SM >= 80 && is_word<A>::value;
    static GPI_DEVICE A reduce(A v)
    {
        return __reduce_max_sync(0xffffffffu, v);
    }
};

template <class A> struct WarpReduction<GP_OR, A> {
    static constexpr bool warp_reduces = GPI_SM >= 80 && std::is_same_v<A, uint32_t>;
    static GPI_DEVICE A reduce(A v)
    {
        return __reduce_or_sync(0xffffffffu, v);
    }
};

template <class A> struct WarpReduction<GP_XOR, A> {
    static constexpr bool warp_reduces = GPI_SM >= 80 && std::is_same_v<A, uint32_t>;
    static GPI_DEVICE A reduce(A v)
    {
        return __reduce_xor_sync(0xffffffffu, v);
    }
};

/* A value that ptxas cannot see to be constant: no lane has 31 lanes and itself before it. */
GPI_DEVICE uint32_t unseen(uint32_t value)
{
    uint32_t result;
    asm("{\n\t.reg .u32 t;\n\t"
        "mov.u32 t, %%lanemask_lt;\n\t"
        "shr.u32 t, t, 31;\n\t"
        "or.b32 %0, t, %1;\n\t}"
        : "=r"(result)
        : "r"(value));
    return result;
}

/*
 * The identity of Max. Beside a constant ptxas takes the comparison and the choice of a float for
 * its maximum, which answers every NaN with 0x7fffffff.
 */
template <class S, class A> GPI_DEVICE A identity_of_max()
{
    return (A)lowest_value<S>();
}

template <> GPI_DEVICE float identity_of_max<float, float>()
{
    return __uint_as_float(unseen(0xff800000));
}

template <> GPI_DEVICE double identity_of_max<double, double>()
{
    return __hiloint2double((int)unseen(0xfff00000), 0);
}

/*
 * Sum, Product, Min ..: A is the accumulator, S the dtype whose limits are the identities of Min
 * and Max: i8 is computed in 32 bits, but its largest value is 127. Narrow unsigned integers are
 * computed in 32 bits too; all wraps alike when it is stored. A tie of Min and Max keeps the left
 * operand, so that those of floats do not commute: of -0 and +0, or of two NaNs, the first one is
 * the result.
 */
template <class A> constexpr bool commutes_ARITHMETIC = true;
template <class A> constexpr bool commutes_ORDER = is_integer<A>::value;
template <class A> constexpr bool commutes_BITS = true;
#define NEUTRAL_NOTHING zero_for_sum<A>()
#define NEUTRAL_ZERO (A)0
#define NEUTRAL_ONE (A)1
#define NEUTRAL_ONES (A) ~(A)0
#define NEUTRAL_GREATEST (A) highest_value<S>()
#define NEUTRAL_LEAST identity_of_max<S, A>()
#define GPI_LESS less
#define GPI_CHOOSE(condition, a, b) ((condition) ? (a) : (b))
#define OPERATOR(NAME, Name, class_, neutral, result)                                              \
    template <class A, class S = A> struct Name : WarpReduction<GP_##NAME, A> {                    \
        static constexpr bool commutes = commutes_##class_<A>;                                     \
        static GPI_DEVICE A identity()                                                             \
        {                                                                                          \
            return NEUTRAL_##neutral;                                                              \
        }                                                                                          \
        static GPI_DEVICE A apply(A l, A r)                                                        \
        {                                                                                          \
            return result;                                                                         \
        }                                                                                          \
    };
GPI_SCALAR_OPERATORS(OPERATOR)
#undef OPERATOR
#undef NEUTRAL_NOTHING
#undef NEUTRAL_ZERO
#undef NEUTRAL_ONE
#undef NEUTRAL_ONES
#undef NEUTRAL_GREATEST
#undef NEUTRAL_LEAST
#undef GPI_LESS
#undef GPI_CHOOSE

/* Compose, Multiply2x2: found by the number of scalars of their items. */
#define OF_2(NAME, Name, scalars, ...) +(scalars == 2)
#define OF_4(NAME, Name, scalars, ...) +(scalars == 4)
static_assert((0 GPI_PAIR_OPERATORS(OF_2)) == 1 && (0 GPI_PAIR_OPERATORS(OF_4)) == 1,
              "one operator each on items of two and of four scalars");
#undef OF_2
#undef OF_4

#define GPI_L(i) l.s##i
#define GPI_DOT dot
#define GPI_R(i) r.s##i
#define OPERATOR(NAME, Name, scalars, neutral, ...)                                                \
    template <class A> struct Name {                                                               \
        static constexpr bool commutes = false, warp_reduces = false;                              \
        static GPI_DEVICE A identity()                                                             \
        {                                                                                          \
            return A{GPI_WITHOUT_PARENTHESES neutral};                                             \
        }                                                                                          \
        static GPI_DEVICE A apply(A l, A r)                                                        \
        {                                                                                          \
            return A{__VA_ARGS__};                                                                 \
        }                                                                                          \
    };
GPI_PAIR_OPERATORS(OPERATOR)
#undef OPERATOR
#undef GPI_L
#undef GPI_DOT
#undef GPI_R

} // namespace GPI_SPACE
