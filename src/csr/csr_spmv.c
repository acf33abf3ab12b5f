/* SPDX-License-Identifier: MIT */
/* Front door: SpMV. */
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"
#include "validate/validate_internal.h"

struct call {
    gp_dtype index, offset;
    struct gpi_csr_spmv args;
};

static gp_status check_sizes(gp_context *ctx, const char *f, bool by, const struct call *c)
{
    const struct gpi_csr_matrix *a = &c->args.a;
    GPI_TRY(gpi_csr_check_pair(ctx, f, by, c->index, c->offset));
    GPI_TRY(gpi_csr_check_value_dtype(ctx, f, by, c->args.dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_rows", a->num_rows, c->index));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_cols", a->num_cols, c->index));
    return gpi_csr_check_nnz(ctx, f, by, a->nnz, c->offset);
}

/* Scalars in memory are arrays of the call. */
static gp_status check_call(gp_context *ctx, const char *f, bool by, const struct call *c)
{
    const struct gpi_csr_spmv *s = &c->args;
    const struct gpi_csr_matrix *a = &s->a;
    GPI_TRY(check_sizes(ctx, f, by, c));
    size_t ib = gpi_dtype_bytes(c->index), ob = gpi_dtype_bytes(c->offset);
    size_t vb = gpi_dtype_bytes(s->dtype), sb = gpi_dtype_bytes(gpi_csr_sum_dtype(s->dtype));
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(s),
        GPI_READ("row_pointers", a->row_pointers, (a->num_rows + 1) * ob, ob),
        GPI_READ("cols", a->cols, a->nnz * ib, ib),
        GPI_READ("values", s->values, a->nnz * vb, vb),
        GPI_READ_IF("alpha", s->device_alpha, sb, sb),
        GPI_READ("x", s->x, a->nnz ? a->num_cols * vb : 0, vb),
        GPI_READ_IF("beta", s->device_beta, sb, sb),
        GPI_WRITE("y", s->y, a->num_rows * vb, vb),
    };
    return gpi_check_arrays(ctx, f, arrays, (int)(sizeof arrays / sizeof *arrays));
}

static uint64_t tile_count(const struct gpi_csr_matrix *a, uint64_t tile)
{
    return (a->num_rows + a->nnz + tile - 1) / tile;
}

static size_t frame_bytes_cpu(const struct call *c)
{
    size_t tiles = (size_t)tile_count(&c->args.a, GPI_CSR_SPMV_TILE_CPU);
    return gpi_piece(tiles * sizeof(uint64_t)) +
           gpi_piece(2 * tiles * gpi_dtype_bytes(gpi_csr_sum_dtype(c->args.dtype)));
}

static uint64_t tiles_cuda(const struct gpi_csr_matrix *a, int *log)
{
    *log = gpi_csr_tile_log(a->num_rows + a->nnz);
    return tile_count(a, (uint64_t)1 << *log);
}

static size_t frame_bytes_cuda(const struct call *c)
{
    int log;
    size_t tiles = (size_t)tiles_cuda(&c->args.a, &log);
    return gpi_piece(tiles * sizeof(struct gpi_csr_start)) + gpi_piece(tiles * sizeof(uint32_t)) +
           gpi_piece(2 * tiles * gpi_dtype_bytes(gpi_csr_sum_dtype(c->args.dtype)));
}

static double scalar(gp_dtype dtype, const void *value, double missing)
{
    if (!value)
        return missing;
    return dtype == GP_F64 ? *(const double *)value : (double)*(const float *)value;
}

static gp_status multiply(gp_context *ctx, const char *f, struct call *c)
{
    struct gpi_csr_spmv *s = &c->args;
    const bool cuda = ctx->backend == GP_BACKEND_CUDA;
    const size_t sum = gpi_dtype_bytes(gpi_csr_sum_dtype(s->dtype));
    GPI_FRAME(frame, ctx, f, cuda ? frame_bytes_cuda(c) : frame_bytes_cpu(c));
    if (cuda) {
        s->tiles = tiles_cuda(&s->a, &s->tile_log);
        const size_t tiles = (size_t)s->tiles;
        s->starts = gpi_frame_take(&frame, tiles * sizeof *s->starts);
        s->left = gpi_frame_take(&frame, tiles * sizeof *s->left);
        s->pieces = gpi_frame_take(&frame, 2 * tiles * sum);
    } else {
        s->tiles = tile_count(&s->a, GPI_CSR_SPMV_TILE_CPU);
        s->came_in = gpi_frame_take(&frame, (size_t)s->tiles * sizeof *s->came_in);
        s->parts = gpi_frame_take(&frame, 2 * (size_t)s->tiles * sum);
    }
    return gpi_csr_spmv_find(ctx, gpi_dtype_bytes(c->index), gpi_dtype_bytes(c->offset),
                             s->dtype)(ctx, s);
}

/* args: what the caller gave; dtype, alpha and beta are filled in. */
static gp_status spmv(gp_context *ctx, const char *f, bool by, const gp_csr_desc *given,
                      const struct gpi_csr_spmv *args, const void *alpha, const void *beta)
{
    gp_csr_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, by, true, given, &d));
    struct call c = {d.index_dtype, d.offset_dtype, *args};
    c.args.dtype = d.value_dtype;
    c.args.device_nnz = d.device_nnz;
    c.args.device_num_rows = d.device_num_rows;
    c.args.device_alpha = d.device_alpha ? alpha : NULL;
    c.args.device_beta = d.device_beta ? beta : NULL;
    GPI_TRY(check_call(ctx, f, by, &c));
    struct gpi_csr_matrix *const a = &c.args.a;
    a->nnz = gpi_count_now(ctx, &c.args.device_nnz, a->nnz);
    a->num_rows = gpi_count_now(ctx, &c.args.device_num_rows, a->num_rows);
    struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", a->row_pointers, a->num_rows, c.offset, a->nnz),
        GPI_BELOW("cols", a->cols, a->nnz, c.index, a->num_cols)};
    rules[0].device_n = c.args.device_num_rows;
    rules[0].device_bound = rules[1].device_n = c.args.device_nnz;
    if (a->num_rows == 0)
        return GP_OK;
    const bool here = ctx->backend == GP_BACKEND_CPU; /* all memory is */
    c.args.alpha = scalar(d.value_dtype, d.device_alpha && !here ? NULL : alpha, 1);
    c.args.beta = scalar(d.value_dtype, d.device_beta && !here ? NULL : beta, 0);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, multiply(ctx, f, &c)));
}

gp_status gp_spmv_by(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows, size_t num_cols,
                     size_t nnz, const void *row_pointers, const void *cols, const void *values,
                     const void *alpha, const void *x, const void *beta, void *y)
{
    const struct gpi_csr_spmv args = {
        .a = {num_rows, num_cols, nnz, row_pointers, cols}, .values = values, .x = x, .y = y};
    return spmv(ctx, "gp_spmv_by", true, desc, &args, alpha, beta);
}

gp_status gp_spmv(gp_context *ctx, gp_dtype index_dtype, gp_dtype offset_dtype,
                  gp_dtype value_dtype, size_t num_rows, size_t num_cols, size_t nnz,
                  const void *row_pointers, const void *cols, const void *values, const void *alpha,
                  const void *x, const void *beta, void *y)
{
    const struct gpi_csr_spmv args = {
        .a = {num_rows, num_cols, nnz, row_pointers, cols}, .values = values, .x = x, .y = y};
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    desc.index_dtype = index_dtype;
    desc.offset_dtype = offset_dtype;
    desc.value_dtype = value_dtype;
    return spmv(ctx, "gp_spmv", false, &desc, &args, alpha, beta);
}

gp_status gp_spmv_workspace_bytes(const gp_target *target, gp_dtype index_dtype,
                                  gp_dtype offset_dtype, gp_dtype value_dtype, size_t num_rows,
                                  size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_spmv_workspace_bytes";
    gp_target t;
    struct call c = {.index = index_dtype,
                     .offset = offset_dtype,
                     .args = {.a = {num_rows, num_cols, nnz, NULL, NULL}, .dtype = value_dtype}};
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(check_sizes(NULL, f, false, &c));
    *bytes = gpi_target_bytes(&t, frame_bytes_cpu(&c), frame_bytes_cuda(&c));
    return GP_OK;
}
