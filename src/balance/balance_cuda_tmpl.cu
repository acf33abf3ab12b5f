/* SPDX-License-Identifier: MIT */
/* Launchers for offsets of GPI_OFFSET_BITS (32 or 64): grids, launches. */
#include "device/host.cuh"

#include "balance/balance_expand.cuh"
#include "balance/balance_expand_any.cuh"
#include "balance/balance_intervals.cuh"
#include "balance/balance_search.cuh"
#include "core/words.h"

using namespace GPI_SPACE::balance;

using offset = std::conditional_t<GPI_OFFSET_BITS == 64, uint64_t, uint32_t>;

#define NAME(function) GPI_LAUNCHER(GPI_PASTE(function, GPI_OFFSET_BITS))

/* Tiles of an operation and how the blocks share them; one block at least, for the count. */
struct tiling {
    uint64_t tiles_per_block;
    unsigned blocks;
};

static tiling tiling_of(const gp_context *ctx, const gpi_balance_args *a, uint32_t units)
{
    uint64_t tiles = a->limit ? gpi_ceil_div(a->num_segments + a->limit, units) : 1;
    uint64_t per_block =
        gpi_ceil_div(tiles, (uint64_t)ctx->sm_count * balance_tuning.blocks_per_sm);
    return {per_block, (unsigned)gpi_ceil_div(tiles, per_block)};
}

static walk_size size_of(const gpi_balance_args *a, const tiling &t)
{
    return {a->num_segments, a->limit,          a->device_num_segments,
            a->device_limit, a->may_cover_less, t.tiles_per_block};
}

/* Blocks of a loop over n with a thread each. */
static unsigned loop_blocks(const gp_context *ctx, uint64_t n)
{
    uint64_t blocks =
        gpi_min(gpi_ceil_div(n, threads), (uint64_t)ctx->sm_count * balance_tuning.blocks_per_sm);
    return blocks ? (unsigned)blocks : 1;
}

template <class Index, bool with_ranks>
static void search(gp_context *ctx, const gpi_balance_args *a)
{
    const walk_size size = size_of(a, {});
    const uint64_t waves = (uint64_t)ctx->sm_count * balance_tuning.blocks_per_sm;
    const uint64_t few = (uint64_t)ctx->sm_count * balance_tuning.search_few;
    const uint64_t steps = a->num_segments + a->limit;
    const uint32_t share =
        steps < few ? balance_tuning.search_share_min : balance_tuning.search_share;
    const uint64_t blocks = gpi_ceil_div(steps ? steps : 1, (uint64_t)search_warps * share);
    const auto kernel = size.is_counted() ? search_k<true, offset, Index, with_ranks>
                                          : search_k<false, offset, Index, with_ranks>;
    kernel<<<(unsigned)(size.is_counted() ? gpi_min(blocks, waves) : blocks), search_threads, 0,
             ctx->stream>>>((const offset *)a->offsets, size, share, a->plan, (Index *)a->segments,
                            (Index *)a->ranks, (uint32_t)ctx->sm_count * search_blocks<with_ranks>,
                            gpi_reporter_of(ctx, a->name, (gp_dtype)0));
}

extern "C" void NAME(gpi_balance_search_o)(gp_context *ctx, const gpi_balance_args *a)
{
    if (a->index_bytes == 8 && a->ranks)
        search<uint64_t, true>(ctx, a);
    else if (a->index_bytes == 8)
        search<uint64_t, false>(ctx, a);
    else if (a->ranks)
        search<uint32_t, true>(ctx, a);
    else
        search<uint32_t, false>(ctx, a);
}

/* Steps of a tile of items of any size, by the bytes of a tile. */
static uint64_t units_of(const gpi_balance_args *a, uint64_t tile_bytes)
{
    const uint64_t fit = tile_bytes / a->item_bytes, least = balance_tuning.expand_units_min;
    return fit < least ? least : fit;
}

/* The largest word that divides the item and both addresses. */
static uint32_t word_bytes_of(const gpi_balance_args *a)
{
    const uintptr_t bits = a->item_bytes | (uintptr_t)a->in | (uintptr_t)a->out | 16;
    return (uint32_t)(bits & (0 - bits));
}

/* Of all, where each multiprocessor gets that number of tiles. */
static uint64_t even_share(const gp_context *ctx, uint64_t all, uint32_t tiles)
{
    return all / ((uint64_t)ctx->sm_count * tiles) + 1;
}

static void expand_any(gp_context *ctx, const gpi_balance_args *a)
{
    const uint64_t even =
        even_share(ctx, a->limit * a->item_bytes, balance_tuning.expand_tiles_per_sm);
    const uint64_t least = balance_tuning.expand_tile_bytes_min;
    const uint64_t most = a->item_bytes > any_staged ? balance_tuning.expand_tile_bytes
                                                     : balance_tuning.expand_staged_bytes;
    const uint64_t bytes = even < least ? least : gpi_min(even, most);
    const uint32_t units = (uint32_t)gpi_min(units_of(a, bytes), any_places);
    const tiling t = tiling_of(ctx, a, units);
    expand_any_k<offset><<<t.blocks, threads, 0, ctx->stream>>>(
        (const offset *)a->offsets, size_of(a, t), a->capped, units, (uint32_t)a->item_bytes,
        word_bytes_of(a), (const char *)a->in, (char *)a->out, a->out_count,
        gpi_reporter_of(ctx, a->name, (gp_dtype)0));
}

/* Steps of a tile of items whose values wait in shared memory. */
static uint32_t expand_units(const gp_context *ctx, const gpi_balance_args *a, uint32_t most)
{
    constexpr BalanceTuning t = balance_tuning;
    const uint64_t steps = a->limit + a->num_segments;
    const uint64_t few = gpi_min((uint64_t)t.expand_few_steps,
                                 t.expand_few_segments * (steps / (a->num_segments + 1) + 1));
    const uint64_t large = gpi_min(few, even_share(ctx, steps, t.expand_resident_few));
    const uint64_t even = even_share(ctx, steps, t.expand_resident);
    const uint64_t units = even < large ? large : even;
    return (uint32_t)gpi_min(units < t.expand_steps_min ? t.expand_steps_min : units, most);
}

/* Items of BYTES, if they are aligned. */
template <int BYTES> static void expand(gp_context *ctx, const gpi_balance_args *a)
{
    if (word_bytes_of(a) != expand_shape<BYTES>::factor)
        return expand_any(ctx, a);
    const uint32_t units = expand_units(ctx, a, expand_shape<BYTES>::units);
    const tiling t = tiling_of(ctx, a, units);
    expand_k<BYTES><<<t.blocks, threads, 0, ctx->stream>>>(
        (const offset *)a->offsets, size_of(a, t), a->capped, units, (const char *)a->in,
        (char *)a->out, a->out_count, gpi_reporter_of(ctx, a->name, (gp_dtype)0));
}

extern "C" void NAME(gpi_balance_expand_o)(gp_context *ctx, const gpi_balance_args *a)
{
    switch (a->item_bytes) {
    case 1:
        return expand<1>(ctx, a);
    case 2:
        return expand<2>(ctx, a);
    case 3:
        return expand<3>(ctx, a);
    case 4:
        return expand<4>(ctx, a);
    case 5:
        return expand<5>(ctx, a);
    case 6:
        return expand<6>(ctx, a);
    case 7:
        return expand<7>(ctx, a);
    case 8:
        return expand<8>(ctx, a);
    case 12:
        return expand<12>(ctx, a);
    case 16:
        return expand<16>(ctx, a);
    default:
        return expand_any(ctx, a);
    }
}

extern "C" void NAME(gpi_balance_intervals_o)(gp_context *ctx, const gpi_balance_args *a)
{
    const intervals<offset> v = {(const offset *)a->in_starts, (const offset *)a->out_starts,
                                 (const char *)a->in, (char *)a->out, (uint32_t)a->item_bytes};
    const uint64_t all = a->limit * a->item_bytes;
    const bool wide = all / balance_tuning.interval_wide_bytes >= a->num_segments;
    const uint64_t most =
        wide ? balance_tuning.interval_tile_bytes : balance_tuning.interval_tile_bytes / 4;
    const uint64_t even = even_share(ctx, all, balance_tuning.interval_tiles_per_sm);
    const uint64_t bytes = gpi_min(even < most / 8 ? most / 8 : even, most);
    const uint32_t units = (uint32_t)units_of(a, bytes);
    const tiling t = tiling_of(ctx, a, units);
    const auto kernel = wide ? intervals_k<16, offset> : intervals_k<4, offset>;
    kernel<<<t.blocks, threads, 0, ctx->stream>>>((const offset *)a->offsets, size_of(a, t), units,
                                                  v, gpi_reporter_of(ctx, a->name, (gp_dtype)0));
}

extern "C" void NAME(gpi_balance_partition_o)(gp_context *ctx, const gpi_partition_args *a)
{
    partition_k<offset><<<loop_blocks(ctx, a->parts + 1), threads, 0, ctx->stream>>>(
        (const offset *)a->offsets,
        walk_size{a->num_rows, a->nnz, a->device_num_rows, a->device_nnz, a->may_cover_less, 0},
        a->parts, (offset *)a->row_starts, (offset *)a->nnz_starts,
        gpi_reporter_of(ctx, "row_pointers", (gp_dtype)0));
}

extern "C" void NAME(gpi_balance_plan_o)(gp_context *ctx, const gpi_balance_args *a,
                                         gpi_balance_plan *plan)
{
    const uint64_t begins = gpi_balance_plan_begins(a->num_segments, a->limit);
    plan_k<offset><<<loop_blocks(ctx, begins), threads, 0, ctx->stream>>>(
        (const offset *)a->offsets, a->num_segments, a->limit, plan);
}
