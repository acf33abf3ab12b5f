/* SPDX-License-Identifier: MIT */
/* Launcher of the folds of one accumulator (GPI_UNIT, GPI_ACC), or of the pair operators. */
#include "group/group_fold_stream.cuh"
#include "tuning/group_tuning.cuh"

extern "C" {
#include "core/dtype.h"
}

namespace GPI_SPACE
{
namespace
{

FoldForm form_of(gp_dtype dtype)
{
    switch (gpi_dtype_unsigned(dtype)) {
    case GP_U8:
        return form_u8;
    case GP_U16:
        return form_u16;
    case GP_U32:
        return form_u32;
    case GP_F16:
        return form_f16;
    case GP_BF16:
        return form_bf16;
    case GP_F32:
        return form_f32;
    case GP_F64:
        return form_f64;
    default:
        return form_u64;
    }
}

template <class A, class Op> gp_status launch(gp_context *ctx, const gpi_group_pass *pass)
{
    constexpr GroupTuning shape = group_tuning;
    constexpr int W = shape.store_warps, R = shape.sum_warps, L = shape.load_warps;
    constexpr int most = std::is_same_v<A, uint32_t> ? shape.u32_bytes : shape.tile_bytes;
    constexpr int fit_values = most / (W * 32 * (int)sizeof(A));
    constexpr int K = fit_values > 31 ? 31 : fit_values < 2 ? 1 : (fit_values - 1) | 1;
    using One = FoldStream<A, Op, W, R, L, K, 1>;
    constexpr int once = (int)sizeof(typename One::Own);
    constexpr int beside = (int)sizeof(StreamShared<One>) - once; /* of a stage, at most */
    constexpr int fit = (shape.shared_bytes - once) / (One::stage_bytes + beside);
    constexpr int S = fit < shape.stages_max ? fit : shape.stages_max;
    static_assert(One::tile_items >= (sizeof(A) > 8 ? (int)GPI_GROUP_PAIR_TILE_MIN
                                                    : (int)GPI_GROUP_TILE_MIN) &&
                      One::tile_items <= GPI_GROUP_TILE_MAX,
                  "the tile states and bits have no room");
    const gpi_group_args *a = pass->a;
    const gpi_group_fold *fold = pass->fold;
    const uint32_t scalars = (uint32_t)gpi_op_scalars(fold->op);
    FoldParams<A> p = {};
    p.values = (const char *)fold->values, p.out = (char *)fold->out;
    p.bits = pass->bits;
    p.n = a->n, p.device_n = a->device_n, p.capacity = a->capacity;
    p.in_bytes = (uint32_t)gpi_dtype_bytes(fold->in_dtype) * scalars;
    if (pass->with_keys) {
        p.keys = a->keys, p.keys_out = a->keys_out, p.key_bytes = a->key_bytes;
        p.out_count = a->out_count, p.more = a->more;
        p.reporter = gpi_reporter_of(ctx, nullptr, (gp_dtype)0);
    }
    p.from = form_of(fold->in_dtype);
    p.to = form_of(fold->out_dtype);
    if constexpr (std::is_integral_v<A>) {
        const bool is_signed = gpi_dtype_is_signed(fold->in_dtype);
        if (is_signed && p.in_bytes < sizeof(A))
            p.sign.word[0] = 1u << (8 * p.in_bytes - 1);
        p.flip = flip_for(fold->op, 8 * sizeof(A), is_signed);
    }
    return queue_stream<FoldStream<A, Op, W, R, L, K, S>>(ctx, pass, p, p.n);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_group_, GPI_UNIT))(gp_context *ctx,
                                                                   const gpi_group_pass *pass)
{
    using namespace GPI_SPACE;
#ifdef GPI_ACC
    return with_operator<GPI_ACC>(
        pass->fold->op, [=](auto op) { return launch<GPI_ACC, decltype(op)>(ctx, pass); });
#else
    const bool wide = pass->fold->in_dtype == GP_F64;
    if (gpi_op_scalars(pass->fold->op) == 2)
        return wide ? launch<Affine<double>, Compose<Affine<double>>>(ctx, pass)
                    : launch<Affine<float>, Compose<Affine<float>>>(ctx, pass);
    return wide ? launch<Mat2<double>, Multiply2x2<Mat2<double>>>(ctx, pass)
                : launch<Mat2<float>, Multiply2x2<Mat2<float>>>(ctx, pass);
#endif
}
