/* SPDX-License-Identifier: MIT */
/* Launcher of the kernels of one item size (GPI_ITEM_BYTES, GPI_UNIT); 0: positions of flags. */
#include "compact/compact_count.cuh"
#include "compact/compact_stream.cuh"
#include "compact/compact_tile.cuh"
#include "tuning/compact_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int item_bytes = GPI_ITEM_BYTES;

template <bool COMPARE>
gp_status count_first(gp_context *ctx, const char *function, CompactParams &p, LaunchList &list)
{
    if constexpr (COMPARE)
        return compact_count<item_bytes>(ctx, function, p, list);
    return compact_count_flags(ctx, function, p, list);
}

bool has_room(const gpi_compact_args &a)
{
    bool room = a.out && a.capacity >= a.n;
    for (uint32_t k = 0; k < a.sides; k++)
        room = room && a.side[k].capacity >= a.n;
    return room;
}

/* Blocks of tile kernels that run at once. */
uint64_t tile_blocks(const gp_context *ctx)
{
    return (uint64_t)compact_tuning.tile_blocks_per_sm * ctx->sm_count;
}

template <bool COMPARE, bool THREE>
gp_status launch_tile(gp_context *ctx, const char *function, CompactParams &p)
{
    constexpr int groups_max = item_bytes <= 4 ? 16 : item_bytes == 8 ? 8 : 4;
    const uint32_t tile_items = gpi_compact_tile_items(&p.a, ctx->sm_count);
    const uint64_t tiles = gpi_compact_tiles(&p.a, ctx->sm_count);
    const uint64_t most = tile_blocks(ctx);
    const uint32_t grid = (uint32_t)(tiles < most ? tiles : most);
    const uint32_t groups = tile_items / (32 * GPI_COMPACT_WARPS);
    LaunchList list;
    const auto kernel = compact_tile_k<item_bytes, COMPARE, THREE, groups_max>;
    p.at_once = compact_is_at_once(p, tiles, most);
    GPI_TRY(gpi_state_get(ctx, function, tiles, &p.state));
    GPI_TRY(count_first<COMPARE>(ctx, function, p, list));
    list.add(p.at_once ? launch_cooperative(kernel, grid, 32 * GPI_COMPACT_WARPS, 0, p, groups)
                       : launch_dependent(kernel, p.a.follows, grid, 32 * GPI_COMPACT_WARPS, 0, p,
                                          groups));
    return list.queue(ctx, function);
}

/* Whether lines that have been read leave the L2 first, of which others would be written back. */
bool is_passing(uint64_t bytes)
{
    return bytes >= (uint64_t)compact_tuning.pass_from_bytes &&
           bytes <= (uint64_t)compact_tuning.pass_to_bytes;
}

template <bool COMPARE, bool THREE>
gp_status launch_stream(gp_context *ctx, const char *function, CompactParams &p)
{
    constexpr CompactTuning shape = compact_tuning;
    constexpr bool shorts = item_bytes == 2 && COMPARE;
    constexpr int W = item_bytes <= 1 ? shape.byte_store_warps
                      : shorts        ? shape.compare_warps
                                      : shape.store_warps;
    constexpr int R = shorts ? shape.compare_warps : shape.sum_warps, L = shape.load_warps;
    constexpr int bytes = item_bytes ? item_bytes : 1;
    constexpr int fit_groups = shape.tile_bytes / (W * 32 * bytes);
    constexpr int groups = fit_groups < 32 ? fit_groups : 32;
    using One = CompactStream<item_bytes, COMPARE, THREE, W, R, L, groups, 1>;
    constexpr int packed = One::packs ? (int)sizeof(typename One::Packed) : 0;
    constexpr int fit =
        (shape.shared_bytes - packed) /
        (One::stage_bytes + W * (int)(sizeof(One::Own::marks[0][0]) + sizeof(uint32_t)));
    constexpr int S = fit < shape.stages_max ? fit : shape.stages_max;
    using Kernel = CompactStream<item_bytes, COMPARE, THREE, W, R, L, groups, S>;
    LaunchList list;
    const uint64_t tiles = (p.a.n + Kernel::tile_items - 1) / Kernel::tile_items;
    p.at_once = Kernel::may_be_at_once &&
                compact_is_at_once(p, tiles, (uint64_t)ctx->sm_count * Kernel::stages);
    p.passing = !p.a.sides && is_passing(p.a.n * (item_bytes + !COMPARE));
    GPI_TRY(count_first<COMPARE>(ctx, function, p, list));
    GPI_TRY(stream_add<Kernel>(ctx, function, p, p.a.n, list, p.a.follows && !p.at_once));
    list.launches[list.count - 1].cooperative = p.at_once;
    return list.queue(ctx, function);
}

template <bool COMPARE, bool THREE>
gp_status launch(gp_context *ctx, const char *function, CompactParams &p)
{
    constexpr int read_bytes = item_bytes + !COMPARE;
    constexpr int64_t to_bytes = read_bytes > 4 ? compact_tuning.wide_to_bytes : INT64_MAX;
    const uint64_t bytes = p.a.n * read_bytes;
    if (bytes >= (uint64_t)compact_tuning.from_bytes && bytes <= (uint64_t)to_bytes)
        return launch_stream<COMPARE, THREE>(ctx, function, p);
    return launch_tile<COMPARE, THREE>(ctx, function, p);
}

#if GPI_ITEM_BYTES > 0 && GPI_ITEM_BYTES <= 8 /* comparisons have dtypes, the widest 8 bytes */
gp_status launch_flags(gp_context *ctx, const char *function, CompactParams &p)
{
    LaunchList list;
    GPI_TRY(compact_count<item_bytes>(ctx, function, p, list));
    return list.queue(ctx, function);
}

gp_status launch_compared(gp_context *ctx, const char *function, CompactParams &p)
{
    return p.a.flags        ? launch_flags(ctx, function, p)
           : p.a.sides == 2 ? launch<true, true>(ctx, function, p)
                            : launch<true, false>(ctx, function, p);
}
#endif

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_compact_, GPI_UNIT))(gp_context *ctx,
                                                                     const char *function,
                                                                     const gpi_compact_args *a)
{
    using namespace GPI_SPACE;
    CompactParams p = {*a,    {},           gpi_reporter_of(ctx, nullptr, (gp_dtype)0),
                       false, has_room(*a), false};
#if GPI_ITEM_BYTES > 0 && GPI_ITEM_BYTES <= 8
    if (!a->keep)
        return launch_compared(ctx, function, p);
#endif
    return launch<false, false>(ctx, function, p);
}
