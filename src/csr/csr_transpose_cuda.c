/* SPDX-License-Identifier: MIT */
/* CUDA: transposes of matrices whose numbers have 32 bits: the new rows are sorted as keys, and the
 * column and value of each entry move as one word beside them. */
#include "core/check.h"
#include "core/workspace.h"
#include "csr/csr_turn.h"
#include "radixsort/radixsort_internal.h"

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

/* The frame: sorted keys, those of given indices of 8 bytes, pairs before and after the sort, and
 * what is left. */
gp_status gpi_csr_transpose_cuda_bytes(const gp_target *cuda, const struct gpi_csr_coo *c,
                                       size_t *bytes)
{
    const gp_radix_sort_options o = options_of(c);
    const size_t n = (size_t)c->nnz, pair = bytes_of_pair(c);
    GPI_TRY(gp_radix_sort_workspace_bytes(cuda, GP_U32, pair, n, &o, bytes));
    *bytes += gpi_piece(n * 4) + 2 * gpi_piece(n * pair) + gpi_piece(2 * sizeof(uint64_t));
    *bytes += c->index_bytes == 8 ? gpi_piece(n * 4) : 0;
    return GP_OK;
}

static gp_status visit(gp_context *ctx, const char *function, struct gpi_radix_visitor *self,
                       const struct gpi_radix_buckets *buckets, struct gpi_launch *launches,
                       int *count)
{
    struct gpi_csr_turn *turn = (struct gpi_csr_turn *)self;
    GPI_TRY(gpi_launch_all(ctx, function, launches, *count));
    *count = 0, turn->visited = true;
    return gpi_csr_turn_find(ctx)(ctx, turn, buckets);
}

static gp_status sort(gp_context *ctx, const struct gpi_csr_coo *c, struct gpi_csr_turn *turn,
                      const void *keys, const void *pairs, void *keys_out, void *pairs_out)
{
    const gp_radix_sort_options o = options_of(c);
    struct gpi_radix_job job = {.key_bytes = 4,
                                .value_bytes = bytes_of_pair(c),
                                .n = (size_t)c->nnz,
                                .keys_in = keys,
                                .values_in = pairs,
                                .keys_out = keys_out,
                                .values_out = pairs_out};
    job.visitor = gpi_csr_turn_find(ctx) && gpi_csr_turns(c) ? &turn->visitor : NULL;
    GPI_TRY(gpi_radix_apply_options(ctx, c->function, ctx->backend, GP_U32, &o, &job));
    return gpi_radixsort_cuda(ctx, c->function, &job);
}

gp_status gpi_csr_transpose_cuda(gp_context *ctx, const struct gpi_csr_coo *c)
{
    const struct gpi_csr_kernels *kernels = gpi_csr_kernels_of(ctx, c);
    const gp_target target = gpi_target_of(ctx);
    const size_t n = (size_t)c->nnz, pair = bytes_of_pair(c);
    struct gpi_csr_coo rest = *c;
    size_t need;
    GPI_TRY(gpi_csr_transpose_cuda_bytes(&target, c, &need));
    GPI_FRAME(frame, ctx, c->function, need);
    uint32_t *keys = c->index_bytes == 8 ? gpi_frame_take(&frame, n * 4) : NULL;
    uint32_t *sorted = gpi_frame_take(&frame, n * 4);
    void *given = gpi_frame_take(&frame, n * pair), *pairs = gpi_frame_take(&frame, n * pair);
    struct gpi_csr_turn turn = {.visitor = {.visit = visit}, .c = c};
    turn.left = gpi_frame_take(&frame, 2 * sizeof *turn.left);
    GPI_TRY(kernels->join(ctx, c, keys, given));
    GPI_TRY(sort(ctx, c, &turn, keys ? keys : c->rows, given, sorted, pairs));
    if (turn.visited)
        rest.device_nnz = turn.left, rest.device_num_rows = turn.left + 1;
    const struct gpi_csr_rows rows = {.index_dtype = GP_U32,
                                      .rows = sorted,
                                      .nnz = c->nnz,
                                      .num_rows = c->num_rows,
                                      .device_nnz = rest.device_nnz,
                                      .device_num_rows = rest.device_num_rows,
                                      .reported = true,
                                      .row_pointers = c->row_pointers};
    GPI_TRY(gpi_csr_find(ctx, 4, c->offset_bytes)->row_pointers(ctx, &rows));
    return kernels->part(ctx, &rest, pairs);
}
