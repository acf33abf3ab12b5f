/* SPDX-License-Identifier: MIT */
/* Operators as arguments of a kernel: the same for all its threads, one kernel for all of them. */
#pragma once

#include "device/ops.cuh"

namespace GPI_SPACE
{

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
        if (op == GP_SUM)
            return l + r;
        if (op == GP_PRODUCT)
            return l * r;
        if (op == GP_MIN)
            return before(r, l) ? r : l;
        if (op == GP_MAX)
            return before(l, r) ? r : l;
        if constexpr (integer)
            return op == GP_AND ? l & r : op == GP_OR ? l | r : l ^ r;
        return l;
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

} // namespace GPI_SPACE
