/* SPDX-License-Identifier: MIT */
/* The arguments of a scan as the kernels of the family and CUB take them. */
#pragma once

#include <cstring>
#include <type_traits>

#include "device/host.cuh"

extern "C" {
#include "core/dtype.h"
#include "core/half.h"
#include "scan/family/family_internal.h"
}

#include "scan/family/family.cuh"

namespace GPI_SPACE
{
namespace
{

using u32 = uint32_t;
using u64 = uint64_t;
using f32 = float;
using f64 = double;
using affine_f32 = Affine<float>;
using affine_f64 = Affine<double>;
using mat2_f32 = Mat2<float>;
using mat2_f64 = Mat2<double>;

/* ---- integers: by the bits of the output dtype ---- */

static uint64_t sign_extended(uint64_t bits, int sign_bits)
{
    const int unused = 64 - sign_bits;
    return sign_bits ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* Integers are extended by their sign, and so are identities. */
template <class A> RunTimeOp<A> run_time_op(const gpi_scan_args *args)
{
    const int bits = (int)gpi_dtype_bytes(args->out_dtype) * 8;
    RunTimeOp<A> op = HostOp<A>::of(args->op, bits, args->sign_bits > 0);
    if constexpr (std::is_integral_v<A>)
        if (args->sign_bits) {
            op.neutral = (A)sign_extended(op.neutral, args->sign_bits);
            op.flip = (A)1 << (sizeof(A) * 8 - 1);
        }
    return op;
}

template <class A> A init_of(const gpi_scan_args *args)
{
    if constexpr (std::is_integral_v<A>) {
        uint64_t bits = 0;
        memcpy(&bits, args->init, gpi_dtype_bytes(args->out_dtype));
        return (A)sign_extended(bits, args->sign_bits);
    } else if (args->out_dtype == GP_F16 || args->out_dtype == GP_BF16) {
        uint16_t bits;
        memcpy(&bits, args->init, sizeof bits);
        if constexpr (std::is_same_v<A, float>)
            return args->out_dtype == GP_F16 ? gpi_f16_to_float(bits) : gpi_bf16_to_float(bits);
    }
    A init;
    memcpy(&init, args->init, sizeof init);
    return init;
}

/* An exclusive sum starts from +0, not from the -0 that is neutral to the last bit. */
template <class A> A start_of(const gpi_scan_args *args, const A &neutral)
{
    if (args->has_init)
        return init_of<A>(args);
    if (args->op == GP_SUM && args->kind != GP_SCAN_INCLUSIVE)
        return A{};
    return neutral;
}

template <class A> FamilyParams<A> family_params(const gp_context *ctx, const gpi_scan_args *args)
{
    FamilyParams<A> p = {};
    p.in = (const char *)args->in;
    p.out = (char *)args->out;
    p.n = args->n;
    p.device_n = args->device_n;
    p.total = (uint64_t *)args->total;
    p.reporter = gpi_reporter_of(ctx, nullptr, args->out_dtype);
    p.op = run_time_op<A>(args);
    p.start = start_of<A>(args, p.op.neutral);
    p.kind = args->kind;
    p.in_dtype = args->in_dtype;
    p.out_dtype = args->out_dtype;
    p.out_bits = (int)gpi_dtype_bytes(args->out_dtype) * 8;
    p.out_signed = args->sign_bits != 0;
    p.wide = args->wide;
    p.step = args->backward ? -1 : 1;
    p.method = args->tile;
    return p;
}

} // namespace
} // namespace GPI_SPACE
