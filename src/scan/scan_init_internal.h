/* SPDX-License-Identifier: MIT */
/* The identity of an operator and the initial value of a call as accumulators, for launchers. */
#ifndef GPI_SCAN_INIT_INTERNAL_H
#define GPI_SCAN_INIT_INTERNAL_H

#include <cstring>
#include <type_traits>

extern "C" {
#include "core/dtype.h"
#include "core/half.h"
#include "core/identity.h"
}

#include "device/space.cuh"

namespace GPI_SPACE
{

/* sign_bits: of an integer that is extended by its sign; 0: by zeros. */
inline uint64_t sign_extended(uint64_t bits, int sign_bits)
{
    const int unused = 64 - sign_bits;
    return sign_bits ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* init: one item of the dtype, which A accumulates. */
template <class A> A init_of(const unsigned char *init, gp_dtype dtype, int sign_bits)
{
    if constexpr (std::is_integral_v<A>) {
        uint64_t bits = 0;
        memcpy(&bits, init, gpi_dtype_bytes(dtype));
        return (A)sign_extended(bits, sign_bits);
    } else {
        A value;
        uint16_t half;
        memcpy(&half, init, sizeof half);
        if constexpr (std::is_same_v<A, float>)
            if (dtype == GP_F16 || dtype == GP_BF16)
                return dtype == GP_F16 ? gpi_f16_to_float(half) : gpi_bf16_to_float(half);
        memcpy(&value, init, sizeof value);
        return value;
    }
}

/* Of an operator on items of `bits` bits; an integer accumulator has zeros above them. */
template <class A> A host_identity(gp_op op, int bits, bool is_signed)
{
    if constexpr (std::is_integral_v<A>)
        return (A)gpi_integer_identity(op, bits, is_signed);
    else if constexpr (std::is_floating_point_v<A>)
        return (A)gpi_float_identity(op);
    else if constexpr (sizeof(A) == 2 * sizeof(typename A::Scalar))
        return {1, 0};
    else
        return {1, 0, 0, 1};
}

/* What every output is folded behind. An exclusive sum starts from +0, not from the -0 that is
 * neutral to the last bit. */
template <class A, class Args>
A start_of(const Args *args, gp_dtype dtype, int sign_bits, bool exclusive, const A &neutral)
{
    if (args->has_init)
        return init_of<A>(args->init, dtype, sign_bits);
    return args->op == GP_SUM && exclusive ? A{} : neutral;
}

} // namespace GPI_SPACE

#endif
