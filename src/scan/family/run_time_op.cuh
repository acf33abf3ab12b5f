/* SPDX-License-Identifier: MIT */
/* Operators as arguments of a kernel: the same for all its threads, one kernel for all of them. */
#pragma once

#include <type_traits>

#include "device/ops.cuh"
#include "scan/scan_init_internal.h"

namespace GPI_SPACE
{

/* What an operator on bits is if it is none of the others. */
#define OPERATOR(NAME, ...) GP_##NAME,
constexpr gp_op operators_on_bits[] = {GPI_BITS_OPERATORS(OPERATOR)};
#undef OPERATOR
constexpr int last_of_bits =
    operators_on_bits[sizeof operators_on_bits / sizeof operators_on_bits[0] - 1];

template <class A> struct RunTimeOp {
    static constexpr bool integer = is_integer<A>::value;
    static constexpr bool commutes = integer, warp_reduces = false;
    A neutral;
    A flip; /* of integers: the sign bit if they are signed, as they are ordered by x ^ flip */
    int op; /* gp_op */

    GPI_DEVICE A identity() const
    {
        return neutral;
    }

    GPI_DEVICE bool before(A a, A b) const
    {
        if constexpr (integer)
            return (a ^ flip) < (b ^ flip);
        else
            return less(a, b);
    }

    GPI_DEVICE A apply(A l, A r) const
    {
#define GPI_LESS before
#define GPI_CHOOSE(condition, a, b) ((condition) ? (a) : (b))
#define BRANCH(NAME, Name, class_, neutral, result)                                                \
    if (op == GP_##NAME)                                                                           \
        return result;
/* The last one is taken without a comparison. */
#define CHOICE(NAME, Name, class_, neutral, result)                                                \
    (GP_##NAME == last_of_bits ? (int)GP_##NAME : op) == GP_##NAME ? result:
        GPI_FLOAT_OPERATORS(BRANCH)
        if constexpr (integer)
            return GPI_BITS_OPERATORS(CHOICE) l;
        return l;
#undef BRANCH
#undef CHOICE
#undef GPI_LESS
#undef GPI_CHOOSE
    }
};

template <class T> struct RunTimeOp<Affine<T>> {
    static constexpr bool commutes = false, warp_reduces = false;
    Affine<T> neutral;
    GPI_DEVICE Affine<T> identity() const
    {
        return neutral;
    }
    GPI_DEVICE Affine<T> apply(Affine<T> l, Affine<T> r) const
    {
        return Compose<Affine<T>>::apply(l, r);
    }
};

template <class T> struct RunTimeOp<Mat2<T>> {
    static constexpr bool commutes = false, warp_reduces = false;
    Mat2<T> neutral;
    GPI_DEVICE Mat2<T> identity() const
    {
        return neutral;
    }
    GPI_DEVICE Mat2<T> apply(Mat2<T> l, Mat2<T> r) const
    {
        return Multiply2x2<Mat2<T>>::apply(l, r);
    }
};

/* ---- on the host ---- */

/* An operator on items of `bits` bits; an integer accumulator A has zeros above them. */
template <class A> RunTimeOp<A> host_op(gp_op op, int bits, bool is_signed)
{
    const A neutral = host_identity<A>(op, bits, is_signed);
    if constexpr (std::is_integral_v<A>)
        return {neutral, is_signed ? (A)((A)1 << (bits - 1)) : (A)0, (int)op};
    else if constexpr (std::is_floating_point_v<A>)
        return {neutral, (A)0, (int)op};
    else
        return {neutral};
}

} // namespace GPI_SPACE
