/* SPDX-License-Identifier: MIT */
/* Launcher of the gather kernel, for every size of item. */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "gather/gather_near.cuh"
#include "gather/gather_words.cuh"
#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr uint32_t move_tile_units = 2048;
/* Tiles of joined words: fewer bytes where that gives each multiprocessor two. */
constexpr uint64_t joined_tile_bytes = 8192, joined_tile_bytes_min = 2048;

/* In order, and side by side. */
bool are_bytes(const gpi_gather_args &a)
{
    return !a.indices && a.in_stride == a.item_bytes && a.out_stride == a.item_bytes;
}

template <class Unit> MoveShape shape_of(const gpi_gather_args &a)
{
    MoveShape shape = {};
    shape.bytes = are_bytes(a);
    shape.units = shape.bytes ? 1 : (uint32_t)(a.item_bytes / sizeof(Unit));
    shape.reciprocal = (uint32_t)(0x100000000u / shape.units + 1);
    shape.tile_items = shape.units < move_tile_units ? move_tile_units / shape.units : 1;
    shape.in_stride = shape.bytes ? 1 : (uint32_t)(a.in_stride / sizeof(Unit));
    shape.out_stride = shape.bytes ? 1 : (uint32_t)(a.out_stride / sizeof(Unit));
    return shape;
}

template <class Unit> void launch_move(gp_context *ctx, const gpi_gather_args &a)
{
    const MoveShape shape = shape_of<Unit>(a);
    const uint64_t items = shape.bytes ? a.n * a.item_bytes / sizeof(Unit) : a.n;
    const uint64_t tiles = items / shape.tile_items + 1;
    const unsigned grid =
        elementwise_grid(ctx, tiles * elementwise_threads, elementwise_tuning.blocks_per_sm);
    if (a.index_bytes == 8)
        move_k<Unit, uint64_t><<<grid, elementwise_threads, 0, ctx->stream>>>(a, shape);
    else
        move_k<Unit, uint32_t><<<grid, elementwise_threads, 0, ctx->stream>>>(a, shape);
}

/* Items whose words are joined from two of them, of units below 4 bytes. */
bool are_joined(const gpi_gather_args &a)
{
    return a.indices && !a.scatter && a.out_stride == a.item_bytes && a.item_bytes >= joined_least;
}

void launch_joined(gp_context *ctx, const gpi_gather_args &a)
{
    const uint32_t bytes = (uint32_t)a.item_bytes;
    const uint64_t even = a.n * bytes / (2 * (uint64_t)ctx->sm_count);
    const uint64_t most = even < joined_tile_bytes ? even : joined_tile_bytes;
    const uint32_t fit =
        (uint32_t)(most < joined_tile_bytes_min ? joined_tile_bytes_min : most) / bytes;
    const JoinedShape shape = {(uint32_t)(0x100000000u / bytes + 1), fit ? fit : 1};
    const uint64_t tiles = a.n / shape.tile_items + 1;
    const unsigned grid =
        elementwise_grid(ctx, tiles * elementwise_threads, elementwise_tuning.blocks_per_sm);
    if (a.index_bytes == 8)
        gather_words_k<uint64_t><<<grid, elementwise_threads, 0, ctx->stream>>>(a, shape);
    else
        gather_words_k<uint32_t><<<grid, elementwise_threads, 0, ctx->stream>>>(a, shape);
}

/* Whether items that are written one by one would leave parts of sectors. */
bool are_near(const gp_context *ctx, const gpi_gather_args &a, uint64_t unit)
{
    return a.indices && a.scatter && a.out_stride == a.item_bytes && a.item_bytes % 32 != 0 &&
           unit > 1 && unit < a.item_bytes && a.item_bytes >= near_min &&
           a.item_bytes <= near_max &&
           a.n * a.item_bytes >= near_from_bytes * (uint64_t)ctx->sm_count;
}

template <class Unit> void launch_near(gp_context *ctx, const gpi_gather_args &a)
{
    const uint32_t bytes = (uint32_t)a.item_bytes, fit = near_tile_bytes / bytes / 64 * 64;
    NearShape shape = {shape_of<Unit>(a), (uint32_t)(0x100000000u / bytes + 1)};
    uint32_t &tile = shape.move.tile_items;
    tile = fit < near_items ? fit : near_items;
    while (tile > 64 && a.n < (uint64_t)ctx->sm_count * 2 * tile)
        tile = (tile + 127) / 128 * 64;
    const unsigned grid = elementwise_grid(ctx, (a.n / tile + 1) * elementwise_threads,
                                           elementwise_tuning.blocks_per_sm);
    scatter_near_k<Unit><<<grid, elementwise_threads, 0, ctx->stream>>>(a, shape);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_gather_launch)(gp_context *ctx, const char *function,
                                                     const gpi_gather_args *args)
{
    using namespace GPI_SPACE;
    gpi_gather_args a = *args;
    if (a.index_bytes == 0) {
        a.indices = nullptr;
        a.scatter = false;
    }
    const uint64_t items = are_bytes(a) ? 0 : a.item_bytes | a.in_stride | a.out_stride;
    const uint64_t bits = items | (uintptr_t)a.in | (uintptr_t)a.out;
    const uint64_t unit = bits & (0 - bits);
    if (are_near(ctx, a, unit))
        unit % 16 == 0  ? launch_near<uint4>(ctx, a)
        : unit % 4 == 0 ? launch_near<uint32_t>(ctx, a)
                        : launch_near<uint16_t>(ctx, a);
    else if (bits % 16 == 0)
        launch_move<uint4>(ctx, a);
    else if (bits % 8 == 0)
        launch_move<uint2>(ctx, a);
    else if (bits % 4 == 0)
        launch_move<uint32_t>(ctx, a);
    else if (are_joined(a))
        launch_joined(ctx, a);
    else if (bits % 2 == 0)
        launch_move<uint16_t>(ctx, a);
    else
        launch_move<uint8_t>(ctx, a);
    return gpi_cuda_launched(ctx, function);
}
