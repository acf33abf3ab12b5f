/* SPDX-License-Identifier: MIT */
/* CUDA: launcher of the sort of columns within rows, for one width of indices (GPI_INDEX). */
#include <cuda_runtime.h>

#include "csr/csr_behind.cuh"
#include "csr/csr_columns_kernels.cuh"
#include "core/words.h"
#include "device/host.cuh"

namespace GPI_SPACE
{
namespace
{

using I = GPI_INDEX;

uint64_t may_tile;

/* Rows of more than a piece on average are all long: the lists have room for them. */
gp_status launch_lists(gp_context *ctx, const gpi_csr_coo *c, const ColumnsArgs<I> &args)
{
    const uint64_t blocks = gpi_ceil_div(c->num_rows, csr_tuning.threads);
    launch_behind(ctx, csr_list_columns_k<I>,
                  behind_blocks(ctx, (uint32_t)gpi_min(blocks, (uint64_t)INT32_MAX)),
                  csr_tuning.threads, 0, args);
    return gpi_cuda_launched(ctx, c->function);
}

gp_status launch_tiles(gp_context *ctx, const gpi_csr_coo *c, const ColumnsArgs<I> &args)
{
    const int bytes = (int)sizeof(ColumnsTile<I>);
    const auto kernel = csr_columns_k<I>;
    const uint64_t tiles = gpi_ceil_div(c->nnz + c->num_rows, TileShape<I>::steps);
    const uint64_t most = (uint64_t)ctx->sm_count * TileShape<I>::blocks;
    const bool counted = c->device_nnz || c->device_num_rows;
    GPI_TRY(shared_memory_allow(ctx, c->function, kernel, bytes, &may_tile));
    launch_behind(ctx, kernel, (uint32_t)gpi_min(tiles, counted ? most : (uint64_t)INT32_MAX),
                  TileShape<I>::threads, bytes, args);
    return gpi_cuda_launched(ctx, c->function);
}

template <bool PARTS>
gp_status launch_long(gp_context *ctx, const gpi_csr_coo *c, const ColumnsArgs<I> &args)
{
    static uint64_t may_long;
    const int bytes = (int)LongRows<I>::bytes;
    const auto kernel = csr_long_columns_k<I, PARTS>;
    GPI_TRY(shared_memory_allow(ctx, c->function, kernel, bytes, &may_long));
    launch_behind(ctx, kernel, (uint32_t)gpi_min((uint64_t)ctx->sm_count, c->nnz / piece_max),
                  LongShape<I>::threads, bytes, args);
    return gpi_cuda_launched(ctx, c->function);
}

gp_status sort_columns(gp_context *ctx, const gpi_csr_coo *c, const gpi_csr_by_row *by)
{
    const ColumnsArgs<I> args = {
        {c->nnz, c->num_rows, c->num_cols, c->col_bits, c->device_nnz, c->device_num_rows},
        by->pointers,
        c->offset_bytes == 8,
        (const I *)c->cols,
        c->values,
        (uint32_t)c->value_bytes,
        (I *)by->cols,
        by->values,
        by->unsorted,
        by->left,
        gpi_csr_left_room(c->nnz),
        (uint32_t)gpi_csr_part_room(c->nnz),
        gpi_csr_part_bits(c->nnz),
        (I *)by->spare_cols,
        by->spare_values,
        gpi_reporter_of(ctx, by->name, (gp_dtype)0),
        gpi_reporter_of(ctx, c->names[1], c->index_dtype)};
    GPI_TRY(c->num_rows <= c->nnz / piece_max ? launch_lists(ctx, c, args)
                                              : launch_tiles(ctx, c, args));
    if (c->nnz <= piece_max)
        return GP_OK;
    if constexpr (has_short_form<I>)
        if (!args.spare_cols)
            return launch_long<false>(ctx, c, args);
    return launch_long<true>(ctx, c, args);
}

} // namespace
} // namespace GPI_SPACE

#define OPS GPI_LAUNCHER(GPI_PASTE(gpi_csr_columns_, GPI_UNIT))

extern "C" {
extern const gpi_csr_by_row_ops OPS;
const gpi_csr_by_row_ops OPS = {GPI_SPACE::sort_columns, GPI_SPACE::LongShape<GPI_INDEX>::most};
}
