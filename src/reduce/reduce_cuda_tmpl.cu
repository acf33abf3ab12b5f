/* SPDX-License-Identifier: MIT */
/* Launcher of the reduce kernel; compiled per unit (GPI_UNIT, GPI_UNIT_IS_<name>). */
#include "device/host.cuh"

extern "C" {
#include "core/dtype.h"
#include "reduce/reduce_internal.h"
}

#include "reduce/reduce_folds.cuh"
#include "scan/scan_init_internal.h"

namespace GPI_SPACE
{
namespace
{

template <class Fold>
constexpr L1Use l1_use = Fold::exact     ? L1Use::by_size
                         : Fold::ordered ? L1Use::kept
                                         : L1Use::passed;

template <class Fold>
gp_status launch(gp_context *ctx, const gpi_reduce_args *args, const Fold &fold)
{
    constexpr int W = GPI_REDUCE_WARPS, K = GPI_REDUCE_VECTORS * 16 / Fold::Items::bytes;
    const uint64_t bytes = args->n * sizeof(typename Fold::Items::In);
    const uint64_t round = GPI_REDUCE_ROUND_BYTES, tile = round * GPI_REDUCE_ROUNDS(bytes);
    const uint64_t tiles = (bytes + tile - 1) / tile;
    const uint64_t most = (uint64_t)ctx->sm_count * reduce_tuning.blocks_per_sm;
    const uint32_t grid = (uint32_t)(tiles < 1 ? 1 : tiles < most ? tiles : most);
    ReduceParams p = {(const char *)args->in,
                      args->n,
                      args->device_n,
                      {},
                      gpi_reporter_of(ctx, nullptr, args->out_dtype)};
    GPI_TRY(gpi_state_get(ctx, args->function,
                          gpi_reduce_sums_max(bytes) * TileState<typename Fold::A>::pieces,
                          &p.state));
    constexpr int blocks = reduce_tuning.blocks_per_sm;
    constexpr L1Use use = l1_use<Fold>, otherwise = use == L1Use::passed ? L1Use::kept : use;
    const auto kernel = sums_pass_l1(bytes) ? reduce_k<Fold, W, K, blocks, use>
                                            : reduce_k<Fold, W, K, blocks, otherwise>;
    kernel<<<grid, W * 32, 0, ctx->stream>>>(p, fold);
    return gpi_cuda_launched(ctx, args->function);
}

template <class A> ReduceResult<A> result_of(const gpi_reduce_args *args)
{
    ReduceResult<A> r = {(char *)args->out, (uint64_t *)args->total};
    r.has_init = args->has_init;
    if (args->has_init)
        r.init = init_of<A>(args->init, args->out_dtype, args->sign_bits);
    r.wide = args->wide;
    r.out_dtype = args->out_dtype;
    r.out_bytes = (int)gpi_dtype_bytes(args->out_dtype);
    r.sign_bits = args->sign_bits;
    return r;
}

template <class A> using Stored = std::conditional_t<std::is_integral_v<A>, uint64_t, A>;

template <class T, class A> gp_status launch_sum(gp_context *ctx, const gpi_reduce_args *args)
{
    return launch(ctx, args, SumFold<T, A>(result_of<Stored<A>>(args)));
}

template <class T, class V> gp_status launch_place(gp_context *ctx, const gpi_reduce_args *args)
{
    PlaceFold<T, V> fold = {(char *)args->out, args->index, args->op == GP_MAX};
    fold.result = result_of<Stored<V>>(args);
    if (args->has_init)
        memcpy(&fold.init, args->init, sizeof fold.init);
    return launch(ctx, args, fold);
}

/* V: 32 or 64 bits with the sign of T. */
template <class T, class V> gp_status launch_integer(gp_context *ctx, const gpi_reduce_args *args)
{
    using U = std::make_unsigned_t<T>;
    using A = std::make_unsigned_t<V>;
    constexpr bool is_signed = std::is_signed_v<T>;
    if (args->index)
        return launch_place<T, V>(ctx, args);
    return with_operator<A>(args->op, [&](auto op) {
        using Op = decltype(op);
        if constexpr (std::is_same_v<Op, Sum<A>>)
            return launch_sum<T, std::conditional_t<is_signed, int64_t, uint64_t>>(ctx, args);
        else
            return launch(ctx, args,
                          IntegerFold<U, A, Op>(result_of<uint64_t>(args),
                                                flip_for(args->op, 8 * sizeof(T), is_signed),
                                                is_signed));
    });
}

template <class T, class A> gp_status launch_float(gp_context *ctx, const gpi_reduce_args *args)
{
    if (args->op == GP_MIN || args->op == GP_MAX)
        return launch_place<T, A>(ctx, args);
    if (args->op == GP_SUM)
        return launch_sum<T, A>(ctx, args);
    return launch(ctx, args, ProductFold<T, A>(result_of<A>(args)));
}

template <class T> gp_status launch_pair(gp_context *ctx, const gpi_reduce_args *args)
{
    if (args->op == GP_AFFINE)
        return launch(
            ctx, args,
            PairFold<Affine<T>, Compose<Affine<T>>, (int)sizeof(T)>{result_of<Affine<T>>(args)});
    return launch(
        ctx, args,
        PairFold<Mat2<T>, Multiply2x2<Mat2<T>>, (int)sizeof(T)>(result_of<Mat2<T>>(args)));
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_reduce_, GPI_UNIT))(gp_context *ctx,
                                                                    const gpi_reduce_args *args)
{
    using namespace GPI_SPACE;
    switch (args->in_dtype) {
#if defined(GPI_UNIT_IS_small)
    case GP_I8:
        return launch_integer<int8_t, int32_t>(ctx, args);
    case GP_U8:
        return launch_integer<uint8_t, uint32_t>(ctx, args);
    case GP_I16:
        return launch_integer<int16_t, int32_t>(ctx, args);
    case GP_U16:
        return launch_integer<uint16_t, uint32_t>(ctx, args);
#elif defined(GPI_UNIT_IS_large)
    case GP_I32:
        return launch_integer<int32_t, int32_t>(ctx, args);
    case GP_U32:
        return launch_integer<uint32_t, uint32_t>(ctx, args);
    case GP_I64:
        return launch_integer<int64_t, int64_t>(ctx, args);
    case GP_U64:
        return launch_integer<uint64_t, uint64_t>(ctx, args);
#elif defined(GPI_UNIT_IS_real)
    case GP_F16:
        return launch_float<f16_t, float>(ctx, args);
    case GP_BF16:
        return launch_float<bf16_t, float>(ctx, args);
    case GP_F32:
        return args->out_dtype == GP_F64 ? launch_sum<float, double>(ctx, args)
                                         : launch_float<float, float>(ctx, args);
    case GP_F64:
        return launch_float<double, double>(ctx, args);
#else
    case GP_F32:
        return launch_pair<float>(ctx, args);
    case GP_F64:
        return launch_pair<double>(ctx, args);
#endif
    default:
        return gpi_fail(ctx, GP_ERROR_INTERNAL, "%s: no kernel for %s", args->function,
                        gp_dtype_string(args->in_dtype));
    }
}
