/* SPDX-License-Identifier: MIT */
/* Launcher of the kernels of one item size (GPI_ITEM_BYTES, GPI_UNIT); 0: positions of flags. */
#include "compact/compact_tile.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int item_bytes = GPI_ITEM_BYTES;
constexpr uint64_t blocks_per_sm = 4;

template <bool COMPARE, bool INDICES>
gp_status launch(gp_context *ctx, const char *function, CompactParams &p)
{
    constexpr int groups_max = item_bytes <= 4 ? 16 : item_bytes == 8 ? 8 : 4;
    const uint32_t tile_items = gpi_compact_tile_items(&p.a, ctx->sm_count);
    const uint64_t tiles = gpi_compact_tiles(&p.a, ctx->sm_count);
    const uint64_t most = blocks_per_sm * ctx->sm_count;
    const uint32_t grid = (uint32_t)(tiles < most ? tiles : most);
    GPI_TRY(gpi_state_get(ctx, function, tiles, &p.state));
    compact_tile_k<item_bytes, COMPARE, INDICES, groups_max>
        <<<grid, 32 * GPI_COMPACT_WARPS, 0, ctx->stream>>>(p,
                                                           tile_items / (32 * GPI_COMPACT_WARPS));
    return gpi_cuda_launched(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_compact_, GPI_UNIT))(gp_context *ctx,
                                                                     const char *function,
                                                                     const gpi_compact_args *a)
{
    using namespace GPI_SPACE;
    CompactParams p = {*a, {}};
#if GPI_ITEM_BYTES == 0
    return launch<false, true>(ctx, function, p);
#else
    if (a->partition && a->keep)
        GPI_TRY(compact_count<0>(ctx, function, p));
#if GPI_ITEM_BYTES <= 8 /* comparisons have dtypes, the widest 8 bytes */
    if (a->partition && !a->keep)
        GPI_TRY(compact_count<item_bytes>(ctx, function, p));
    if (!a->keep)
        return a->index_bytes ? launch<true, true>(ctx, function, p)
                              : launch<true, false>(ctx, function, p);
#endif
    return launch<false, false>(ctx, function, p);
#endif
}
