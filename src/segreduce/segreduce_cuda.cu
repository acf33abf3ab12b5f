/* SPDX-License-Identifier: MIT */
/* Launcher of the segmented reduction. One unit: the kernels have so much in common that they take
 * half the bytes where they are compressed together (segreduce-03 in docs/tuning). */
#include "device/host.cuh"

extern "C" {
#include "core/dtype.h"
#include "segreduce/segreduce_internal.h"
}

#include "scan/scan_init_internal.h"
#include "segreduce/segreduce_direct.cuh"
#include "segreduce/segreduce_kernels.cuh"
#include "segreduce/segreduce_places.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int log2_of(size_t bytes)
{
    return bytes <= 1 ? 0 : 1 + log2_of(bytes / 2);
}

/* A kernel with its fold; p is the first of its arguments. */
struct Call {
    gpi_launch launch;
    SegreduceParams *p;
    uint32_t item_bytes, fold_bytes, pieces; /* of an item; of a fold; of what shares exchange */
    uint32_t share_items;                    /* at most */
    uint64_t tile;                           /* the heaviest one */
    uint64_t *allowed; /* devices that let the kernel have its shared memory */
};

void params_of(gp_context *ctx, const gpi_segreduce_args *args, SegreduceParams &p)
{
    p.in = (const char *)args->in;
    p.out = (char *)args->out;
    p.indices = args->indices;
    p.offsets = args->offsets;
    p.n = args->n;
    p.count = args->count;
    p.row_length = args->row_length;
    p.device_n = args->device_n;
    p.device_count = args->device_count;
    p.offset_bytes = args->offsets ? (uint32_t)gpi_dtype_bytes(args->offset_dtype) : 8;
    p.reporter = gpi_reporter_of(ctx, "offsets", args->offset_dtype);
}

gp_status queue(gp_context *ctx, const gpi_segreduce_args *args, Call &call)
{
    SegreduceParams &p = *call.p;
    const uint32_t offset_bytes = p.offset_bytes;
    p.item_shift = log2_of(call.item_bytes);
    p.end_weight = args->offsets && offset_bytes > call.fold_bytes ? offset_bytes : call.fold_bytes;
    const uint64_t weight = (args->n << p.item_shift) + args->count * p.end_weight;
    p.tile = gpi_segreduce_tile(weight, call.tile);
    const uint64_t tiles = (weight + p.tile - 1) / p.tile, most = (uint64_t)ctx->sm_count;
    p.share_tiles = gpi_segreduce_share_tiles(tiles, call.share_items / (p.tile >> p.item_shift));
    const uint64_t shares = (tiles + p.share_tiles - 1) / p.share_tiles;
    const size_t listed = args->offsets && p.share_tiles > 1 ? gpi_segreduce_list_bytes(shares) : 0;
    GPI_FRAME(frame, ctx, args->function, listed);
    p.shares = listed ? (uint64_t *)gpi_frame_take(&frame, listed) : nullptr;
    GPI_TRY(gpi_state_get(ctx, args->function, shares * call.pieces, &p.state));
    GPI_TRY(shared_memory_allow(ctx, args->function, call.launch.kernel, (int)call.launch.bytes,
                                call.allowed));
    call.launch.blocks = (uint32_t)(shares < most ? shares : most);
    call.launch.overlap = listed && GPI_SM >= 90;
    LaunchList list;
    if (listed) {
        constexpr uint32_t each = segreduce_list_threads >> segreduce_list_lanes_log2;
        const uint32_t blocks = blocks_for<each, 1ull << 32>(shares + 1);
        list.add(launch_of(segreduce_list_k, blocks, segreduce_list_threads, 0, p));
    }
    list.add(call.launch);
    return list.queue(ctx, args->function);
}

/* Few items in short segments, which lanes fold as they lie, too. */
bool are_few(const gpi_segreduce_args *args)
{
    return args->count > 0 && args->count <= GPI_SEGREDUCE_FEW && args->n <= GPI_SEGREDUCE_FEW &&
           args->n / args->count < GPI_SEGREDUCE_DIRECT_MEAN;
}

/* Whether segments are folded as they lie (segreduce_direct.cuh): they are few, or not short, and
 * the others have no chunks, as a rule; large arrays of 4 bytes and more, but for places of 8, take
 * as long by tiles, whatever the lengths are. The most of those places do not, chunks or not. */
template <class Fold> bool direct_serves(const gpi_segreduce_args *args)
{
    using T = typename Fold::T;
    const uint64_t mean = args->count ? args->n / args->count : 0;
    constexpr bool wide_places = Fold::places && sizeof(T) == 8;
    const uint64_t bytes = args->n * sizeof(T);
    const bool large = bytes > GPI_SEGREDUCE_DIRECT_BYTES;
    const bool any_length = wide_places && bytes > GPI_SEGREDUCE_LONG_BYTES;
    const bool chunks = mean >> gpi_segreduce_chunk_log2(args->n, sizeof(T)) >= 2;
    return are_few(args) || (mean >= GPI_SEGREDUCE_DIRECT_MEAN && (any_length || !chunks) &&
                             (sizeof(T) < 4 || wide_places || !large));
}

/* Lanes for a segment of mean length, so that each has 4 to 7 vectors, or one where they are few:
 * longer segments make others wait. Segments for a warp, so that the GPU is full. */
SegreduceDirect direct_of(const gp_context *ctx, const gpi_segreduce_args *args, size_t item_bytes)
{
    SegreduceDirect d = {};
    const uint64_t vectors = args->n * item_bytes / 16 / args->count;
    const uint64_t most = are_few(args) ? 1 : 7;
    while (d.lanes_log2 < 5 && vectors >> d.lanes_log2 > most)
        d.lanes_log2++;
    d.segments_log2 = 5 - d.lanes_log2;
    while (d.segments_log2 < 5 && args->count >> d.segments_log2 > (uint64_t)ctx->sm_count * 64)
        d.segments_log2++;
    d.chunk_log2 = gpi_segreduce_chunk_log2(args->n, item_bytes);
    d.chunks = (uint32_t)(args->n >> d.chunk_log2);
    d.chunk_blocks = (d.chunks + segreduce_direct_warps - 1) / segreduce_direct_warps;
    return d;
}

template <class Fold>
gp_status launch_direct(gp_context *ctx, const gpi_segreduce_args *args, const Fold &fold)
{
    using Far = typename Fold::Far;
    const SegreduceDirect d = direct_of(ctx, args, sizeof(typename Fold::T));
    SegreduceParams p = {};
    params_of(ctx, args, p);
    p.item_shift = log2_of(sizeof(typename Fold::T));
    GPI_TRY(
        gpi_state_get(ctx, args->function, (uint64_t)d.chunks * TileState<Far>::pieces, &p.state));
    const uint64_t warps = ((args->count - 1) >> d.segments_log2) + 1;
    const uint32_t blocks = d.chunk_blocks + blocks_for<segreduce_direct_warps, 1ull << 33>(warps);
    LaunchList list;
    list.add(
        launch_of(segreduce_direct_k<Fold>, blocks, segreduce_direct_warps * 32, 0, p, d, fold));
    return list.queue(ctx, args->function);
}

template <class Fold>
gp_status launch(gp_context *ctx, const gpi_segreduce_args *args, const Fold &fold)
{
    if constexpr (sizeof(typename Fold::T) == Fold::piece) {
        if (direct_serves<Fold>(args))
            return launch_direct(ctx, args, fold);
    }
    using Shared = SegreduceMemory<Fold>;
    static uint64_t allowed;
    static_assert(sizeof(Shared) <= (size_t)gpu.block_shared_bytes && Shared::S >= 2,
                  "more than the GPU has");
    static_assert(Shared::weight >= GPI_SEGREDUCE_TILE_LARGE, "states or lists have no room");
    SegreduceParams p = {};
    params_of(ctx, args, p);
    Call call = {launch_of(segreduce_k<Fold>, 1, Shared::Warps::threads, sizeof(Shared), p, fold),
                 &p,
                 sizeof(typename Fold::T),
                 sizeof(typename Fold::A),
                 TileState<Carried<typename Fold::Far>>::pieces,
                 Fold::share_items,
                 Shared::weight,
                 &allowed};
    return queue(ctx, args, call);
}

/* The initial value as an accumulator, or the identity. */
template <class A> A init_or(const gpi_segreduce_args *args, A identity)
{
    return args->has_init ? init_of<A>(args->init, args->out_dtype, 0) : identity;
}

/* ---- integers ---- */

template <class T, class A> gp_status launch_sum_in(gp_context *ctx, const gpi_segreduce_args *args)
{
    const bool wider = gpi_dtype_bytes(args->out_dtype) > sizeof(T);
    const bool flips = wider && gpi_dtype_is_signed(args->in_dtype);
    IntegerSum<T, A> fold = {};
    fold.init = init_or<A>(args, 0);
    fold.out_bytes = (int)gpi_dtype_bytes(args->out_dtype);
    fold.flip = flip_for(flips ? GP_MAX : GP_SUM, 8 * sizeof(T), true);
    fold.larger = flips ? (A)1 << (8 * sizeof(T) - 1) : 0;
    return launch(ctx, args, fold);
}

template <class T> gp_status launch_sum(gp_context *ctx, const gpi_segreduce_args *args)
{
    if constexpr (sizeof(T) < 8)
        if (gpi_dtype_bytes(args->out_dtype) <= 4)
            return launch_sum_in<T, uint32_t>(ctx, args);
    return launch_sum_in<T, uint64_t>(ctx, args);
}

template <class T> gp_status launch_integer(gp_context *ctx, const gpi_segreduce_args *args)
{
    using A = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const gp_op op = args->op;
    const A all = ~(A)0;
    if (op == GP_SUM)
        return launch_sum<T>(ctx, args);
    IntegerFold<T, A> fold = {};
    fold.highest = op == GP_MIN || op == GP_MAX;
    fold.product = op == GP_PRODUCT;
    fold.both = op == GP_XOR ? 0 : all;
    fold.either = op == GP_AND ? 0 : all;
    fold.none = op == GP_AND ? all : fold.product ? 1 : 0;
    if (fold.highest)
        fold.flip = flip_for(op, 8 * sizeof(T), gpi_dtype_is_signed(args->in_dtype));
    fold.neutral = (T)fold.none ^ flip_of<T>(fold.flip);
    fold.init = fold.none;
    if (args->has_init)
        fold.init = (T)init_or<A>(args, 0) ^ flip_of<T>(fold.flip);
    return launch(ctx, args, fold);
}

/* ---- floats ---- */

template <class T, class A> gp_status launch_real(gp_context *ctx, const gpi_segreduce_args *args)
{
    RealFold<T, A> fold = {};
    fold.product = args->op == GP_PRODUCT;
    fold.none = fold.product ? (A)1 : (A)-0.0;
    fold.items.bf16 = args->in_dtype == GP_BF16;
    if constexpr (sizeof(T) == 2)
        fold.neutral = !fold.product ? 0x8000 : fold.items.bf16 ? 0x3f80 : 0x3c00;
    else
        fold.neutral = (T)fold.none;
    fold.has_init = args->has_init;
    fold.init = init_or<A>(args, fold.none);
    fold.wide = args->out_dtype != args->in_dtype;
    return launch(ctx, args, fold);
}

/* ---- pair operators ---- */

template <class Item, class Op>
gp_status launch_pairs(gp_context *ctx, const gpi_segreduce_args *args)
{
    PairsFold<Item, Op> fold = {};
    fold.neutral = host_identity<Item>(args->op, 0, false);
    fold.has_init = args->has_init;
    fold.init = init_or<Item>(args, fold.neutral);
    return launch(ctx, args, fold);
}

template <class S> gp_status launch_pair(gp_context *ctx, const gpi_segreduce_args *args)
{
    return args->op == GP_AFFINE ? launch_pairs<Affine<S>, Compose<Affine<S>>>(ctx, args)
                                 : launch_pairs<Mat2<S>, Multiply2x2<Mat2<S>>>(ctx, args);
}

/* ---- places ---- */

/* Above these are NaNs. */
uint64_t infinity_of(gp_dtype dtype)
{
    return dtype == GP_F16    ? 0x7c00
           : dtype == GP_BF16 ? 0x7f80
           : dtype == GP_F32  ? 0x7f800000
                              : 0x7ff0000000000000;
}

/* The identity of MIN. */
uint64_t nan_of(gp_dtype dtype)
{
    return dtype == GP_F32 ? 0x7fc00000 : dtype == GP_F64 ? 0x7ff8000000000000 : 0x7fff;
}

template <class T> gp_status launch_place(gp_context *ctx, const gpi_segreduce_args *args)
{
    using V = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const bool is_signed = gpi_dtype_is_signed(args->in_dtype), largest = args->op == GP_MAX;
    PlacesFold<T, V> fold = {};
    fold.has_init = args->has_init;
    fold.init = (T)init_or<V>(args, 0);
    if (gpi_dtype_is_float(args->in_dtype)) {
        fold.infinity = (T)infinity_of(args->in_dtype);
        const T sign = (T)((T)1 << (8 * sizeof(T) - 1));
        fold.flip = largest ? (T) ~(T)0 : (T)0;
        fold.none = largest ? (T)(fold.infinity | sign) : (T)nan_of(args->in_dtype);
    } else {
        const T sign = is_signed ? (T)((T)1 << (8 * sizeof(T) - 1)) : (T)0;
        fold.flip = largest ? (T)~sign : sign;
        fold.none = (T)(~(T)0 ^ fold.flip);
    }
    return launch(ctx, args, fold);
}

} // namespace
} // namespace GPI_SPACE

/* Minimum and maximum of floats are places, too: which of several equal items is the first, which
 * zero, which NaN, is a matter of place. */
extern "C" gp_status GPI_LAUNCHER(gpi_segreduce)(gp_context *ctx, const gpi_segreduce_args *args)
{
    using namespace GPI_SPACE;
    const size_t bytes = gpi_dtype_bytes(args->in_dtype);
    const bool real = gpi_dtype_is_float(args->in_dtype);
    if (args->places || (real && gpi_scan_is_order(args->op)))
        return bytes == 1   ? launch_place<uint8_t>(ctx, args)
               : bytes == 2 ? launch_place<uint16_t>(ctx, args)
               : bytes == 4 ? launch_place<uint32_t>(ctx, args)
                            : launch_place<uint64_t>(ctx, args);
    if (gpi_op_scalars(args->op) > 1)
        return bytes == 4 ? launch_pair<float>(ctx, args) : launch_pair<double>(ctx, args);
    if (!real)
        return bytes == 1   ? launch_integer<uint8_t>(ctx, args)
               : bytes == 2 ? launch_integer<uint16_t>(ctx, args)
               : bytes == 4 ? launch_integer<uint32_t>(ctx, args)
                            : launch_integer<uint64_t>(ctx, args);
    if (bytes == 2)
        return launch_real<uint16_t, float>(ctx, args);
    if (bytes == 8)
        return launch_real<double, double>(ctx, args);
    return args->out_dtype == GP_F64 ? launch_real<float, double>(ctx, args)
                                     : launch_real<float, float>(ctx, args);
}
