/* SPDX-License-Identifier: MIT */
/*
 * Operators on accumulators, and how items are stored.
 *
 * An operator has identity(), apply(left, right), and warp_reduces: whether the hardware reduces a
 * warp (then also reduce(v)). identity() is neutral to the last bit: the one of float sums is -0.
 */
#pragma once

#include <cstdint>

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

/* x -> a x + b */
template <class T> struct alignas(2 * sizeof(T)) Affine {
    using Scalar = T;
    T a, b;
};

/* row-major 2x2 */
template <class T> struct alignas(16) Mat2 {
    using Scalar = T;
    T m00, m01, m10, m11;
};

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

template <class A> struct Sum {
    static constexpr bool commutes = true;
    static constexpr bool warp_reduces = GPI_SM >= 80 && is_integer<A>::value;
    static GPI_DEVICE A identity()
    {
        return zero_for_sum<A>();
    }
    static GPI_DEVICE A apply(A a, A b)
    {
        return a + b;
    }
    static GPI_DEVICE A reduce(A v)
    {
        if constexpr (sizeof(A) == 4)
            return __reduce_add_sync(0xffffffffu, v);
        else
            return (A)reduce_add_64(v);
    }
};

/* Products of narrow unsigned integers are taken in 32 bits, sums too: both wrap alike when stored.
 */
template <class A> struct Product {
    static constexpr bool commutes = true;
    static constexpr bool warp_reduces = false;
    static GPI_DEVICE A identity()
    {
        return (A)1;
    }
    static GPI_DEVICE A apply(A a, A b)
    {
        return a * b;
    }
};

/*
 * A tie keeps the left operand. S is the dtype whose limits are the identities: i8 is computed in
 * 32 bits, but its largest value is 127. Floats do not commute: which of -0 and +0, or of two NaNs,
 * shows.
 */
template <class A, class S> struct Min {
    static constexpr bool commutes = is_integer<A>::value;
    static constexpr bool warp_reduces = GPI_SM >= 80 && is_word<A>::value;
    static GPI_DEVICE A identity()
    {
        return (A)highest_value<S>();
    }
    static GPI_DEVICE A apply(A a, A b)
    {
        return less(b, a) ? b : a;
    }
    static GPI_DEVICE A reduce(A v)
    {
        return __reduce_min_sync(0xffffffffu, v);
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

template <class A, class S> struct Max {
    static constexpr bool commutes = is_integer<A>::value;
    static constexpr bool warp_reduces = GPI_SM >= 80 && is_word<A>::value;
    static GPI_DEVICE A identity()
    {
        return identity_of_max<S, A>();
    }
    static GPI_DEVICE A apply(A a, A b)
    {
        return less(a, b) ? b : a;
    }
    static GPI_DEVICE A reduce(A v)
    {
        return __reduce_max_sync(0xffffffffu, v);
    }
};

template <class A> struct And {
    static constexpr bool commutes = true;
    static constexpr bool warp_reduces = false;
    static GPI_DEVICE A identity()
    {
        return (A) ~(A)0;
    }
    static GPI_DEVICE A apply(A a, A b)
    {
        return a & b;
    }
};

template <class A> struct Or {
    static constexpr bool commutes = true;
    static constexpr bool warp_reduces = false;
    static GPI_DEVICE A identity()
    {
        return (A)0;
    }
    static GPI_DEVICE A apply(A a, A b)
    {
        return a | b;
    }
};

template <class A> struct Xor {
    static constexpr bool commutes = true;
    static constexpr bool warp_reduces = false;
    static GPI_DEVICE A identity()
    {
        return (A)0;
    }
    static GPI_DEVICE A apply(A a, A b)
    {
        return a ^ b;
    }
};

/* left first, then right: x -> a2 (a1 x + b1) + b2 */
template <class A> struct Compose {
    static constexpr bool commutes = false;
    static constexpr bool warp_reduces = false;
    static GPI_DEVICE A identity()
    {
        return A{1, 0};
    }
    static GPI_DEVICE A apply(A l, A r)
    {
        return A{r.a * l.a, r.a * l.b + r.b};
    }
};

template <class A> struct Multiply2x2 {
    static constexpr bool commutes = false;
    static constexpr bool warp_reduces = false;
    static GPI_DEVICE A identity()
    {
        return A{1, 0, 0, 1};
    }
    static GPI_DEVICE A apply(A l, A r)
    {
        return A{l.m00 * r.m00 + l.m01 * r.m10, l.m00 * r.m01 + l.m01 * r.m11,
                 l.m10 * r.m00 + l.m11 * r.m10, l.m10 * r.m01 + l.m11 * r.m11};
    }
};

} // namespace GPI_SPACE
