/* SPDX-License-Identifier: MIT */
/* The arguments of a scan as the kernels of the family and CUB take them. */
#pragma once

#include <type_traits>

#include "device/host.cuh"

extern "C" {
#include "scan/family/family_internal.h"
}

#include "scan/family/family.cuh"
#include "scan/scan_init_internal.h"

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

/* Integers are extended by their sign, and so are identities. */
template <class A> RunTimeOp<A> run_time_op(const gpi_scan_args *args)
{
    const int bits = (int)gpi_dtype_bytes(args->out_dtype) * 8;
    RunTimeOp<A> op = host_op<A>(args->op, bits, args->sign_bits > 0);
    if constexpr (std::is_integral_v<A>)
        if (args->sign_bits) {
            op.neutral = (A)sign_extended(op.neutral, args->sign_bits);
            op.flip = (A)1 << (sizeof(A) * 8 - 1);
        }
    return op;
}

template <class A>
FamilyParams<A> family_params(const gpi_reporter &reporter, const gpi_scan_args *args)
{
    FamilyParams<A> p = {};
    p.in = (const char *)args->in;
    p.out = (char *)args->out;
    p.n = args->n;
    p.device_n = args->device_n;
    p.total = (uint64_t *)args->total;
    p.reporter = reporter;
    p.op = run_time_op<A>(args);
    p.start = start_of(args, args->out_dtype, args->sign_bits, args->kind != GP_SCAN_INCLUSIVE,
                       p.op.neutral);
    p.kind = args->kind;
    p.in_dtype = args->in_dtype;
    p.out_dtype = args->out_dtype;
    p.out_bits = (int)gpi_dtype_bytes(args->out_dtype) * 8;
    p.out_signed = args->sign_bits != 0;
    p.wide = args->wide;
    p.method = args->tile;
    return p;
}

} // namespace
} // namespace GPI_SPACE
