/* SPDX-License-Identifier: MIT */
/* Launcher of the segmented scan; compiled per unit: GPI_UNIT, GPI_ITEM (a scalar), GPI_SCALARS. */
#include <type_traits>

#include "device/host.cuh"

extern "C" {
#include "core/dtype.h"
#include "segments/segments_internal.h"
}

#include "scan/scan_init_internal.h"
#include "segments/segments_stream.cuh"
#include "segments/segments_tile.cuh"
#include "tuning/scan_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using f16 = f16_t;
using bf16 = bf16_t;
using f32 = float;
using f64 = double;

/* An item as stored, and as computed. Integers are widened with zeros: what overflows is cut off
 * again, and signed ones are compared after their sign bit, of the stored width, is flipped. */
#if GPI_SCALARS == 2
using Item = Affine<GPI_ITEM>;
#elif GPI_SCALARS == 4
using Item = Mat2<GPI_ITEM>;
#else
using Item = GPI_ITEM;
#endif
constexpr bool integer = std::is_integral_v<Item>;
constexpr bool half = std::is_same_v<Item, f16> || std::is_same_v<Item, bf16>;
using Acc =
    std::conditional_t<integer && sizeof(Item) < 4, u32, std::conditional_t<half, float, Item>>;
using Types = ScanTypes<Item, Acc, Item, sizeof(GPI_ITEM), sizeof(GPI_ITEM), false>;

/* ---- operators ---- */

static RunTimeOp<Acc> run_time_op(const gpi_segment_args *args)
{
    return host_op<Acc>(args->op, (int)sizeof(GPI_ITEM) * 8, gpi_dtype_is_signed(args->dtype));
}

/* MIN, and MAX as the MIN of the flipped. A tie keeps the left operand. */
template <class A> struct Least {
    static constexpr bool commutes = true, warp_reduces = false;
    A neutral, flip;
    GPI_DEVICE A identity() const
    {
        return neutral;
    }
    GPI_DEVICE A apply(A l, A r) const
    {
        return (r ^ flip) < (l ^ flip) ? r : l;
    }
};

/* ---- arguments ---- */

template <class Op> SegmentParams<Acc, Op> params(const gpi_segment_args *args, const Op &op)
{
    const uint64_t length = args->segments.row_length;
    SegmentParams<Acc, Op> p = {};
    p.in = (const char *)args->in;
    p.out = (char *)args->out;
    p.n = args->n;
    p.heads = args->heads;
    p.exclusive = args->exclusive;
    p.start = start_of(args, args->dtype, 0, args->exclusive, run_time_op(args).neutral);
    p.op = op;
    if (!args->heads) {
        p.row_length = length;
        p.row_step = 1024 % length;
        for (uint64_t i = 0; i < 32; i += length)
            p.row_pattern |= 1u << i;
    }
    return p;
}

/* ---- launches ---- */

template <class Op>
gp_status launch_tile(gp_context *ctx, const gpi_segment_args *args, const Op &op)
{
    constexpr int W = GPI_SCAN_TILE_WARPS, K = GPI_SCAN_TILE_VECTORS;
    constexpr uint64_t tile_items = (uint64_t)W * SegmentPart<Types, Op, K>::items;
    static_assert(tile_items <= GPI_SEGMENT_TILE_MAX, "the bits have no room");
    const uint64_t tiles = (args->n + tile_items - 1) / tile_items;
    const uint64_t most = (uint64_t)ctx->sm_count * scan_tuning.tile_blocks_per_sm;
    SegmentParams<Acc, Op> p = params(args, op);
    GPI_TRY(gpi_state_get(ctx, args->function, tiles * TileState<Folded<Acc>>::pieces, &p.state));
    segment_tile_k<Types, Op, W, K>
        <<<(uint32_t)(tiles < most ? tiles : most), W * 32, 0, ctx->stream>>>(p);
    return gpi_cuda_launched(ctx, args->function);
}

/* Sums of 4 bytes have a kernel of their own. */
template <class A>
gp_status launch_small(gp_context *ctx, const gpi_segment_args *args, const RunTimeOp<A> &op)
{
    if constexpr (Types::scalar && sizeof(Item) == 4)
        if (args->op == GP_SUM)
            return launch_tile(ctx, args, Sum<A>());
    return launch_tile(ctx, args, op);
}

template <class Op>
gp_status launch_stream(gp_context *ctx, const gpi_segment_args *args, const Op &op)
{
    constexpr StreamShape shape = scan_tuning.segments;
    constexpr int W = shape.store_warps, R = shape.sum_warps, L = shape.load_warps;
    constexpr int vectors = Types::item < 8 ? shape.vectors : shape.vectors_wide;
    constexpr int K = Types::bytes_out > 16 ? vectors / 2 : vectors;
    constexpr int stage = SegmentStream<Types, Op, W, R, L, K, 1>::stage_bytes;
    constexpr int fit = scan_tuning.shared_bytes / stage;
    constexpr int S = fit < shape.stages_max ? fit : shape.stages_max;
    using Kernel = SegmentStream<Types, Op, W, R, L, K, S>;
    static_assert(Kernel::tile_items <= GPI_SEGMENT_TILE_MAX, "the bits have no room");
    SegmentParams<Acc, Op> p = params(args, op);
    return stream_launch<Kernel>(ctx, args->function, p, p.n);
}

/* Sums, and minima and maxima of integers of 4 bytes, have kernels of their own. With the operator
 * at run time, items below 4 bytes are bound by computing: they do without one that streams. */
template <class A>
gp_status launch_large(gp_context *ctx, const gpi_segment_args *args, const RunTimeOp<A> &op)
{
    if constexpr (Types::scalar)
        if (args->op == GP_SUM)
            return launch_stream(ctx, args, Sum<A>());
    if constexpr (std::is_integral_v<A> && sizeof(Item) == 4) {
        if (args->op == GP_MIN)
            return launch_stream(ctx, args, Least<A>{op.neutral, op.flip});
        if (args->op == GP_MAX)
            return launch_stream(ctx, args, Least<A>{op.neutral, (A)~op.flip});
    }
    if constexpr (sizeof(Item) < 4)
        return launch_tile(ctx, args, op);
    else
        return launch_stream(ctx, args, op);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_segment_, GPI_UNIT))(gp_context *ctx,
                                                                     const gpi_segment_args *args)
{
    using namespace GPI_SPACE;
    const RunTimeOp<Acc> op = run_time_op(args);
    if (args->n * Types::item >= (uint64_t)scan_tuning.segments.from_bytes)
        return launch_large(ctx, args, op);
    return launch_small(ctx, args, op);
}
