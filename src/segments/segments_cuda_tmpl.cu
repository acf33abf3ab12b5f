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
 * again, and what depends on a sign is computed on flipped items. */
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

/* ---- arguments ---- */

template <class Op> SegmentParams<Acc> params(const gpi_segment_args *args)
{
    const uint64_t length = args->segments.row_length;
    const int bits = (int)sizeof(GPI_ITEM) * 8;
    const bool is_signed = gpi_dtype_is_signed(args->dtype);
    const Acc neutral = host_identity<Acc>(args->op, bits, is_signed);
    SegmentParams<Acc> p = {};
    p.in = (const char *)args->in;
    p.out = (char *)args->out;
    p.n = args->n;
    p.device_count = args->device_n;
    p.count_max = args->n;
    p.count_items = 1;
    p.heads = args->marks.heads;
    p.exclusive = args->exclusive;
    p.flip = flip_for(args->op, bits, is_signed);
    p.start = start_of(args, args->dtype, 0, args->exclusive, neutral);
    p.start = item_flipped<Op, Item>(p.start, p.flip);
    if (!p.heads) {
        p.device_count = args->segments.device_count;
        p.count_max = args->segments.count;
        p.count_items = length;
        p.row_length = length;
        p.row_step = 1024 % length;
        for (uint64_t i = 0; i < 32; i += length)
            p.row_pattern |= 1u << i;
    }
    return p;
}

/* ---- launches ---- */

template <class Op> gp_status launch(gp_context *ctx, const gpi_segment_args *args)
{
    constexpr StreamShape shape =
        shape_of<Types>(sizeof(Item) == 16 ? scan_tuning.wide_segments : scan_tuning.segments);
    constexpr int W = shape.store_warps, R = shape.sum_warps, L = shape.load_warps;
    constexpr int K = shape.vectors;
    using One = SegmentStream<Types, Op, W, R, L, K, 1>;
    constexpr int fit =
        (scan_tuning.shared_bytes - (int)sizeof(typename One::Own)) / One::stage_bytes;
    constexpr int S = fit < shape.stages_max ? fit : shape.stages_max;
    using Kernel = SegmentStream<Types, Op, W, R, L, K, S>;
    static_assert(Kernel::tile_items <= GPI_SEGMENT_TILE_MAX, "the bits have no room");
    SegmentParams<Acc> p = params<Op>(args);
    LaunchList list;
    for (int i = 0; i < args->launch_count; i++)
        list.add(args->launches[i]);
    GPI_TRY(stream_add<Kernel>(ctx, args->function, p, p.n, list, args->launch_count > 0));
    return list.queue(ctx, args->function);
}

template <class A> gp_status launch_op(gp_context *ctx, const gpi_segment_args *args)
{
    if constexpr (GPI_SCALARS == 2)
        return launch<Compose<A>>(ctx, args);
    else if constexpr (GPI_SCALARS == 4)
        return launch<Multiply2x2<A>>(ctx, args);
    else
        return with_operator<A>(args->op, [=](auto op) { return launch<decltype(op)>(ctx, args); });
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_segment_, GPI_UNIT))(gp_context *ctx,
                                                                     const gpi_segment_args *args)
{
    using namespace GPI_SPACE;
    return launch_op<Acc>(ctx, args);
}
