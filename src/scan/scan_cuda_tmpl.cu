/* SPDX-License-Identifier: MIT */
/* Launchers of the scan kernels; compiled per group of units (GPI_GROUP: INT8, ..), and once more
 * with GPI_BACKWARD. */
#include <type_traits>

#include "device/host.cuh"

extern "C" {
#include "core/dtype.h"
#include "scan/scan_internal.h"
}

#include "scan/scan_cluster.cuh"
#include "scan/scan_init_internal.h"
#include "scan/scan_stream.cuh"
#include "scan/scan_tile.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* ---- dtype names to types ---- */

template <gp_dtype D> struct Dtype;
#define DTYPE(dtype, T)                                                                            \
    template <> struct Dtype<dtype> {                                                              \
        using type = T;                                                                            \
    };
DTYPE(GP_I8, int8_t)
DTYPE(GP_U8, uint8_t)
DTYPE(GP_I16, int16_t)
DTYPE(GP_U16, uint16_t)
DTYPE(GP_I32, int32_t)
DTYPE(GP_U32, uint32_t)
DTYPE(GP_I64, int64_t)
DTYPE(GP_U64, uint64_t)
DTYPE(GP_F16, f16_t)
DTYPE(GP_BF16, bf16_t)
DTYPE(GP_F32, float)
DTYPE(GP_F64, double)

/* The accumulator of an output dtype: 32 or 64 bits; integers wrap. */
template <class T> struct Accumulator {
    static constexpr bool narrow = sizeof(T) < 8;
    using real = std::conditional_t<narrow, float, double>;
    using word = std::conditional_t<narrow, uint32_t, uint64_t>;
    using type = std::conditional_t<std::is_integral_v<T>, word, real>;
};

/* Integers are computed without a sign: what depends on it is computed on flipped items. */
template <class T, bool INTEGER = std::is_integral_v<T>> struct Unsigned {
    using type = T;
};
template <class T> struct Unsigned<T, true> {
    using type = std::make_unsigned_t<T>;
};

/* ---- launches ---- */

template <class Types, class Op>
gp_status launch_tile(gp_context *ctx, const char *function, ScanParams<typename Types::Total> &p)
{
    constexpr int W = GPI_SCAN_TILE_WARPS, K = GPI_SCAN_TILE_VECTORS;
    constexpr uint64_t tile_items = (uint64_t)W * StripedPart<Types, Op, K>::items;
    const uint64_t tiles = (p.n + tile_items - 1) / tile_items;
    const uint64_t most = (uint64_t)ctx->sm_count * (scan_tuning.tile_warps_per_sm / W);
    const uint32_t grid = (uint32_t)(tiles < 1 ? 1 : tiles < most ? tiles : most);
    GPI_TRY(
        gpi_state_get(ctx, function, tiles * TileState<typename Types::Total>::pieces, &p.state));
    scan_tile_k<Types, Op, W, K><<<grid, W * 32, 0, ctx->stream>>>(p);
    return gpi_cuda_launched(ctx, function);
}

#if GPI_SM >= 90 && !defined(GPI_BACKWARD)
template <class Types, class Op> struct ClusterLaunch {
    static constexpr int W = GPI_SCAN_TILE_WARPS, K = scan_tuning.cluster_vectors;
    static constexpr uint64_t tile_items = (uint64_t)W * StripedPart<Types, Op, K>::items;
    static constexpr uint64_t items_max = tile_items * cluster_blocks_max;
};

template <class Types, class Op>
gp_status launch_cluster(gp_context *ctx, const char *function,
                         ScanParams<typename Types::Total> &p)
{
    using Shape = ClusterLaunch<Types, Op>;
    const ScanParams<typename Types::Total> &args = p;
    const unsigned tiles = (unsigned)((p.n + Shape::tile_items - 1) / Shape::tile_items);
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = tiles ? tiles : 1;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(cluster.val.clusterDim.x);
    config.blockDim = dim3(Shape::W * 32);
    config.stream = ctx->stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    p.state.sticky = ctx->sticky;
    cudaLaunchKernelEx(&config, scan_cluster_k<Types, Op, Shape::W, Shape::K>, args);
    return gpi_cuda_launched(ctx, function);
}
#endif

template <class Types, class Op, bool BACKWARD>
gp_status launch_stream(gp_context *ctx, const char *function, ScanParams<typename Types::Total> &p)
{
    constexpr StreamShape shape =
        shape_of<Types>(in_runs<Types> ? scan_tuning.runs : scan_tuning.scan);
    constexpr int W = shape.store_warps, R = shape.sum_warps, L = shape.load_warps;
    constexpr int K = shape.vectors;
    constexpr int least = Types::bytes_out <= 16 ? GPI_SCAN_TILE_VECTORS : 1;
    static_assert(W * K >= GPI_SCAN_TILE_WARPS * least, "more tiles than gpi_scan_tiles() counts");
    using One = ScanStream<Types, Op, W, R, L, K, 1, BACKWARD>;
    constexpr int fit =
        (scan_tuning.shared_bytes - (int)sizeof(typename One::Own)) / One::stage_bytes;
    constexpr int S = fit < shape.stages_max ? fit : shape.stages_max;
    return stream_launch<ScanStream<Types, Op, W, R, L, K, S, BACKWARD>>(ctx, function, p, p.n);
}

template <class Types, class Op> gp_status launch(gp_context *ctx, const gpi_scan_args *args)
{
    using A = typename Types::Total;
    ScanParams<A> p = {(const char *)args->in, (char *)args->out, args->n, args->device_n,
                       (uint64_t *)args->total};
    p.kind = args->kind;
    p.sign_bits = args->sign_bits;
    p.reporter = gpi_reporter_of(ctx, nullptr, args->out_dtype);
    /* an exclusive sum starts from +0, not from the -0 that is neutral to the last bit */
    p.has_init = args->has_init || (args->op == GP_SUM && args->kind != GP_SCAN_INCLUSIVE);
    if (args->has_init)
        p.init = init_of<A>(args->init, args->out_dtype, flips<Op> ? 0 : args->sign_bits);
    p.flip = flip_for(args->op, (int)gpi_dtype_bytes(args->in_dtype) * 8,
                      gpi_dtype_is_signed(args->in_dtype));
    p.init = item_flipped<Op, typename Types::In>(p.init, p.flip);
#ifdef GPI_BACKWARD
    return launch_stream<Types, Op, true>(ctx, args->function, p);
#else
    constexpr bool plain_sum = std::is_same_v<Op, Sum<A>> && !Types::wide &&
                               std::is_same_v<typename Types::In, typename Types::Out>;
    const uint64_t bytes = args->n * Types::item;
#if GPI_SM >= 90
    if constexpr (plain_sum)
        if (args->n <= ClusterLaunch<Types, Op>::items_max)
            return launch_cluster<Types, Op>(ctx, args->function, p);
#endif
    if (Types::wide || bytes >= (uint64_t)scan_tuning.stream_from_bytes)
        return launch_stream<Types, Op, false>(ctx, args->function, p);
    if constexpr (!Types::wide)
        return launch_tile<Types, Op>(ctx, args->function, p);
#endif
}

/* ---- operators of a unit ---- */

template <class In, class Out, class Op>
gp_status launch_scalar(gp_context *ctx, const gpi_scan_args *args)
{
    using A = typename Accumulator<Out>::type;
    return launch<ScanTypes<In, A, Out, sizeof(In), sizeof(Out), false>, Op>(ctx, args);
}

template <class In, class Out> gp_status launch_wide(gp_context *ctx, const gpi_scan_args *args)
{
    using Types = ScanTypes<In, uint32_t, Out, sizeof(In), sizeof(Out), true>;
    return launch<Types, Sum<uint32_t>>(ctx, args);
}

template <class T, template <class> class Item, template <class> class Op>
gp_status launch_pair(gp_context *ctx, const gpi_scan_args *args)
{
    using A = Item<T>;
    return launch<ScanTypes<A, A, A, sizeof(T), sizeof(T), false>, Op<A>>(ctx, args);
}

template <class T> gp_status launch_op(gp_context *ctx, const gpi_scan_args *args)
{
    return with_operator<typename Accumulator<T>::type>(
        args->op, [=](auto op) { return launch_scalar<T, T, decltype(op)>(ctx, args); });
}

template <class In, class Out, int SCALARS, bool WIDE>
gp_status launch_unit(gp_context *ctx, const gpi_scan_args *args)
{
    if constexpr (WIDE)
        return launch_wide<In, Out>(ctx, args);
    else if constexpr (SCALARS == 2)
        return launch_pair<In, Affine, Compose>(ctx, args);
    else if constexpr (SCALARS == 4)
        return launch_pair<In, Mat2, Multiply2x2>(ctx, args);
    else if constexpr (std::is_same_v<In, Out>)
        return launch_op<typename Unsigned<In>::type>(ctx, args);
    else
        return launch_scalar<In, Out, Sum<typename Accumulator<Out>::type>>(ctx, args);
}

} // namespace
} // namespace GPI_SPACE

#ifdef GPI_BACKWARD
#define UNIT_NAME(name) GPI_LAUNCHER(gpi_scan_backward_##name)
#else
#define UNIT_NAME(name) GPI_LAUNCHER(gpi_scan_##name)
#endif
#define UNIT(name, in, out, scalars, wide)                                                         \
    extern "C" gp_status UNIT_NAME(name)(gp_context * ctx, const gpi_scan_args *args)              \
    {                                                                                              \
        using namespace GPI_SPACE;                                                                 \
        return launch_unit<Dtype<in>::type, Dtype<out>::type, scalars, wide>(ctx, args);           \
    }
GPI_PASTE(GPI_SCAN_UNITS_, GPI_GROUP)(UNIT)
