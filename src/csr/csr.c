/* SPDX-License-Identifier: MIT */
/* Front doors: row pointers and their inverse. */
#include <gp/scan.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/threads.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"

static const struct gpi_csr_ops *ops_of(const gp_context *ctx, gp_dtype index, gp_dtype offset)
{
    return gpi_csr_find(ctx, gpi_dtype_bytes(index), gpi_dtype_bytes(offset));
}

/* ---- row pointers ---- */

struct row_call {
    gp_dtype index, offset;
    struct gpi_csr_rows args;
};

static gp_status check_row_sizes(gp_context *ctx, const char *f, struct row_call *c)
{
    GPI_TRY(gpi_csr_check_pair(ctx, f, c->index, c->offset));
    GPI_TRY(gpi_csr_check_nnz(ctx, f, c->args.nnz, c->offset));
    return gpi_csr_check_count(ctx, f, "num_rows", c->args.num_rows, c->index);
}

static gp_status check_row_call(gp_context *ctx, const char *f, struct row_call *c)
{
    GPI_TRY(check_row_sizes(ctx, f, c));
    size_t index_bytes = gpi_dtype_bytes(c->index), offset_bytes = gpi_dtype_bytes(c->offset);
    const struct gpi_array arrays[] = {
        GPI_READ("rows", c->args.rows, c->args.nnz * index_bytes, index_bytes),
        GPI_WRITE("row_pointers", c->args.row_pointers, (c->args.num_rows + 1) * offset_bytes,
                  offset_bytes),
    };
    return gpi_check_arrays(ctx, f, arrays, 2);
}

gp_status gp_csr_row_pointers(gp_context *ctx, gp_dtype index_dtype, const void *rows, size_t nnz,
                              size_t num_rows, gp_dtype offset_dtype, void *row_pointers)
{
    static const char f[] = "gp_csr_row_pointers";
    struct row_call c = {index_dtype, offset_dtype, {index_dtype, rows, nnz, num_rows, row_pointers, NULL, 0}};
    GPI_CALL(ctx, f);
    GPI_TRY(check_row_call(ctx, f, &c));
    GPI_ON_DEVICE(ctx);
    return ops_of(ctx, index_dtype, offset_dtype)->row_pointers(ctx, &c.args);
}

static gp_scan_desc pointer_scan(gp_dtype offset)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.kind = GP_SCAN_ROW_POINTERS;
    d.in_dtype = gpi_csr_unsigned(gpi_dtype_bytes(offset));
    return d;
}

/* Counters of their own for every thread, as long as they take no more memory than the entries. */
static size_t counter_parts(const gp_context *ctx, uint64_t nnz, uint64_t num_rows)
{
    uint64_t parts = num_rows ? nnz / num_rows : 0,
             threads = (uint64_t)gpi_threads_for(ctx->threads, nnz / 2);
    if (ctx->backend == GP_BACKEND_CUDA)
        return 0;
    return (size_t)(parts < threads ? parts : threads);
}

/* The scan's tile states, now: were they missing only when the counts are queued, row_pointers
 * would have been written by a call that fails. */
static gp_status reserve_states(gp_context *ctx, const char *f, const gp_scan_desc *scan, size_t n)
{
    struct gpi_state state;
    gp_target target = gpi_target_of(ctx);
    size_t bytes;
    if (ctx->backend != GP_BACKEND_CUDA)
        return GP_OK;
    GPI_TRY(gp_scan_workspace_bytes(&target, scan, n, &bytes));
    return gpi_state_get(ctx, f, bytes / GPI_SLOT_BYTES, &state);
}

static gp_status count_and_scan(gp_context *ctx, const char *f, struct row_call *c,
                                struct gpi_frame *frame)
{
    gp_scan_desc scan = pointer_scan(c->offset);
    size_t n = (size_t)c->args.num_rows;
    c->args.parts = counter_parts(ctx, c->args.nnz, n);
    if (c->args.parts)
        c->args.counters = gpi_frame_take(frame, c->args.parts * n * gpi_dtype_bytes(c->offset));
    GPI_TRY(reserve_states(ctx, f, &scan, n));
    GPI_TRY(ops_of(ctx, c->index, c->offset)->count_rows(ctx, &c->args));
    return gpi_named(ctx, f, gp_scan(ctx, &scan, c->args.row_pointers, n, c->args.row_pointers));
}

/* CPU: at most nnz counters. */
static gp_status unsorted_bytes(const gp_target *target, gp_dtype offset, size_t nnz,
                                size_t num_rows, size_t *bytes)
{
    gp_scan_desc scan = pointer_scan(offset);
    GPI_TRY(gp_scan_workspace_bytes(target, &scan, num_rows, bytes));
    if (target->backend != GP_BACKEND_CUDA)
        *bytes += gpi_piece(nnz * gpi_dtype_bytes(offset));
    return GP_OK;
}

gp_status gp_csr_row_pointers_unsorted(gp_context *ctx, gp_dtype index_dtype, const void *rows,
                                       size_t nnz, size_t num_rows, gp_dtype offset_dtype,
                                       void *row_pointers)
{
    static const char f[] = "gp_csr_row_pointers_unsorted";
    size_t need;
    struct row_call c = {index_dtype, offset_dtype, {index_dtype, rows, nnz, num_rows, row_pointers, NULL, 0}};
    GPI_CALL(ctx, f);
    GPI_TRY(check_row_call(ctx, f, &c));
    gp_target target = gpi_target_of(ctx);
    GPI_TRY(unsorted_bytes(&target, offset_dtype, nnz, num_rows, &need));
    GPI_ON_DEVICE(ctx);
    GPI_FRAME(frame, ctx, f, need);
    return count_and_scan(ctx, f, &c, &frame);
}

gp_status gp_csr_row_pointers_unsorted_workspace_bytes(const gp_target *target,
                                                       gp_dtype index_dtype, size_t nnz,
                                                       size_t num_rows, gp_dtype offset_dtype,
                                                       size_t *bytes)
{
    static const char f[] = "gp_csr_row_pointers_unsorted_workspace_bytes";
    gp_target t;
    struct row_call c = {index_dtype, offset_dtype, {index_dtype, NULL, nnz, num_rows, NULL, NULL, 0}};
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(check_row_sizes(NULL, f, &c));
    return unsorted_bytes(&t, offset_dtype, nnz, num_rows, bytes);
}

/* ---- row indices ---- */

gp_status gpi_csr_rows_of(gp_context *ctx, const char *f, const void *row_pointers,
                          size_t offset_bytes, uint64_t num_rows, uint64_t nnz, void *rows,
                          size_t index_bytes)
{
    const struct gpi_balance_args a = {.name = "row_pointers",
                                       .offsets = row_pointers,
                                       .offset_bytes = offset_bytes,
                                       .num_segments = num_rows,
                                       .limit = nnz,
                                       .index_bytes = index_bytes,
                                       .segments = rows};
    return gpi_balance_search(ctx, f, &a);
}

static gp_status check_to_coo(gp_context *ctx, const char *f, gp_dtype offset, size_t num_rows,
                              size_t nnz, gp_dtype index)
{
    GPI_TRY(gpi_csr_check_pair(ctx, f, index, offset));
    GPI_TRY(gpi_csr_check_count(ctx, f, "num_rows", num_rows, index));
    return gpi_csr_check_nnz(ctx, f, nnz, offset);
}

gp_status gp_csr_to_coo(gp_context *ctx, gp_dtype offset_dtype, const void *row_pointers,
                        size_t num_rows, size_t nnz, gp_dtype index_dtype, void *rows_out)
{
    static const char f[] = "gp_csr_to_coo";
    GPI_CALL(ctx, f);
    GPI_TRY(check_to_coo(ctx, f, offset_dtype, num_rows, nnz, index_dtype));
    size_t index_bytes = gpi_dtype_bytes(index_dtype), offset_bytes = gpi_dtype_bytes(offset_dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * offset_bytes, offset_bytes),
        GPI_WRITE("rows_out", rows_out, nnz * index_bytes, index_bytes),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 2));
    GPI_ON_DEVICE(ctx);
    return gpi_csr_rows_of(ctx, f, row_pointers, offset_bytes, num_rows, nnz, rows_out,
                           index_bytes);
}

gp_status gp_csr_to_coo_workspace_bytes(const gp_target *target, gp_dtype offset_dtype,
                                        size_t num_rows, size_t nnz, gp_dtype index_dtype,
                                        size_t *bytes)
{
    static const char f[] = "gp_csr_to_coo_workspace_bytes";
    gp_target t;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(check_to_coo(NULL, f, offset_dtype, num_rows, nnz, index_dtype));
    *bytes = 0;
    return GP_OK;
}
