/* SPDX-License-Identifier: MIT */
/* What folds in the buckets of a sort and the move of their groups share. */
#pragma once

#include <cstring>
#include <type_traits>

#include "device/flip.cuh"
#include "device/host.cuh"
#include "device/warp.cuh"
#include "radixsort/radixsort_buckets_internal.h"

extern "C" {
#include "core/dtype.h"
#include "group/group_internal.h"
}

namespace GPI_SPACE
{

/* How values become accumulators, and back. */
struct BucketForm {
    gp_op op;
    bool is_float;     /* the accumulators */
    uint32_t in_bytes; /* 4 or 8; 0: every item counts 1 */
    Flip flip;         /* as in FoldParams */
    uint32_t sign;     /* of integers that are widened */
};

inline BucketForm form_of(const gpi_group_bucket_fold &fold)
{
    BucketForm v = {fold.op, gpi_dtype_is_float(fold.out_dtype), 0, {}, 0};
    const uint32_t bytes = (uint32_t)gpi_dtype_bytes(fold.out_dtype);
    const bool is_signed = fold.in_dtype && gpi_dtype_is_signed(fold.in_dtype);
    if (fold.in_dtype)
        v.in_bytes = (uint32_t)gpi_dtype_bytes(fold.in_dtype);
    if (is_signed && v.in_bytes < bytes)
        v.sign = 1u << 31;
    v.flip = flip_for(fold.op, 8 * (int)bytes, is_signed);
    return v;
}

/* f(Op()) of what computes op on accumulators of a cell's size: some of with_operator(). */
template <class Cell, class F> GPI_DEVICE void by_operator(const BucketForm &form, const F &f)
{
    using Real = std::conditional_t<sizeof(Cell) == 4, float, double>;
    if (!form.is_float) {
        if (form.op == GP_SUM)
            f(Sum<Cell>());
        else
            f(Highest<Cell>());
    } else if (form.op == GP_SUM) {
        f(Sum<Real>());
    } else if (form.op == GP_MIN) {
        f(Min<Real>());
    } else {
        f(Max<Real>());
    }
}

template <class Op> using Operand = decltype(Op::identity());

constexpr int bucket_keys = GPI_GROUP_BUCKET_KEYS;

template <class To, class From> GPI_DEVICE To bits_as(const From &from)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

} // namespace GPI_SPACE
