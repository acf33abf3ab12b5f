/* SPDX-License-Identifier: MIT */
/* CUDA: transposes of matrices whose numbers have 32 bits: the new rows are sorted as keys, and the
 * column and value of each entry move as one word beside them. */
#include <gp/radixsort.h>

#include "core/check.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"

/* Of a column and a value. */
static size_t bytes_of_pair(const struct gpi_csr_coo *c)
{
    return c->value_bytes ? 8 : 4;
}

static gp_radix_sort_options options_of(const struct gpi_csr_coo *c)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.end_bit = c->row_bits < 32 ? (int)c->row_bits : 32;
    o.algorithm = c->algorithm;
    o.device_n = c->device_nnz;
    return o;
}

/* The frame: sorted keys, those of given indices of 8 bytes, pairs before and after the sort. */
gp_status gpi_csr_transpose_cuda_bytes(const gp_target *cuda, const struct gpi_csr_coo *c,
                                       size_t *bytes)
{
    const gp_radix_sort_options o = options_of(c);
    const size_t n = (size_t)c->nnz, pair = bytes_of_pair(c);
    GPI_TRY(gp_radix_sort_workspace_bytes(cuda, GP_U32, pair, n, &o, bytes));
    *bytes += gpi_piece(n * 4) + 2 * gpi_piece(n * pair);
    *bytes += c->index_bytes == 8 ? gpi_piece(n * 4) : 0;
    return GP_OK;
}

gp_status gpi_csr_transpose_cuda(gp_context *ctx, const struct gpi_csr_coo *c)
{
    const struct gpi_csr_kernels *kernels = gpi_csr_kernels_of(ctx, c);
    const gp_target target = gpi_target_of(ctx);
    const gp_radix_sort_options o = options_of(c);
    const size_t n = (size_t)c->nnz, pair = bytes_of_pair(c);
    size_t need;
    GPI_TRY(gpi_csr_transpose_cuda_bytes(&target, c, &need));
    GPI_FRAME(frame, ctx, c->function, need);
    uint32_t *keys = c->index_bytes == 8 ? gpi_frame_take(&frame, n * 4) : NULL;
    uint32_t *sorted = gpi_frame_take(&frame, n * 4);
    void *given = gpi_frame_take(&frame, n * pair), *pairs = gpi_frame_take(&frame, n * pair);
    const struct gpi_csr_rows rows = {.index_dtype = GP_U32,
                                      .rows = sorted,
                                      .nnz = c->nnz,
                                      .num_rows = c->num_rows,
                                      .device_nnz = c->device_nnz,
                                      .reported = true,
                                      .row_pointers = c->row_pointers};
    GPI_TRY(kernels->join(ctx, c, keys, given));
    GPI_TRY(
        gp_radix_sort_pairs(ctx, GP_U32, keys ? keys : c->rows, pair, given, n, sorted, pairs, &o));
    GPI_TRY(gpi_csr_find(ctx, 4, c->offset_bytes)->row_pointers(ctx, &rows));
    return kernels->part(ctx, c, pairs);
}
