/* SPDX-License-Identifier: MIT */
/* Front doors: COO to CSR and transpose. */
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"
#include "validate/validate_internal.h"

/* The parts of a conversion that follow from the descriptor and the sizes. A transpose exchanges
 * rows and columns, sorts the new rows only, and merges nothing. */
static gp_status take_call(gp_context *ctx, const char *f, gp_backend backend, bool is_transpose,
                           const gp_coo_desc *desc, size_t num_rows, size_t num_cols, size_t nnz,
                           struct gpi_csr_coo *c)
{
    gp_coo_desc full, *const d = &full;
    const unsigned set = 1u << GP_ALGORITHM_AUTO | 1u << GP_ALGORITHM_CUB;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", desc, d, GPI_FORM(gp_coo_desc)));
    GPI_TRY(gpi_csr_check_pair(ctx, f, true, d->index_dtype, d->offset_dtype));
    if (d->value_dtype)
        GPI_TRY(gpi_check_dtype(ctx, f, "desc->value_dtype", d->value_dtype));
    GPI_TRY(gpi_check_algorithm(ctx, f, "desc->algorithm", backend, d->algorithm, set));
    if (!is_transpose &&
        ((int)d->duplicates < GP_DUPLICATES_SUM || d->duplicates > GP_DUPLICATES_ERROR))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->duplicates is %d, expected a gp_duplicates", f,
                        (int)d->duplicates);
    GPI_TRY(gpi_csr_check_count(ctx, f, true, "num_rows", num_rows, d->index_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, true, "num_cols", num_cols, d->index_dtype));
    GPI_TRY(gpi_csr_check_nnz(ctx, f, true, nnz, d->offset_dtype));
    *c = (struct gpi_csr_coo){
        .function = f,
        .names = {is_transpose ? "cols" : "rows", is_transpose ? NULL : "cols"},
        .index_dtype = d->index_dtype,
        .offset_dtype = d->offset_dtype,
        .nnz = nnz,
        .num_rows = is_transpose ? num_cols : num_rows,
        .num_cols = is_transpose ? num_rows : num_cols,
        .index_bytes = gpi_dtype_bytes(d->index_dtype),
        .offset_bytes = gpi_dtype_bytes(d->offset_dtype),
        .value_bytes = gpi_dtype_bytes(d->value_dtype),
        .value_dtype = d->value_dtype,
        .duplicates = is_transpose ? GP_DUPLICATES_KEEP : d->duplicates,
        .algorithm = d->algorithm};
    c->row_bits = gpi_csr_bits(c->num_rows);
    c->col_bits = gpi_csr_bits(c->num_cols);
    c->sort_bit = is_transpose ? c->col_bits : 0;
    return GP_OK;
}

static gp_status conversion_bytes(const gp_target *target, const struct gpi_csr_coo *c,
                                  size_t *bytes)
{
    const size_t cpu = gpi_csr_coo_cpu_bytes(c);
    size_t cuda = 0;
    if (target->backend != GP_BACKEND_CPU)
        GPI_TRY(gpi_csr_coo_cuda_bytes(target, c, &cuda));
    *bytes = gpi_target_bytes(target, cpu, cuda);
    return GP_OK;
}

static gp_status fill(gp_context *ctx, void *memory, size_t bytes)
{
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_cuda_fill(ctx, memory, 0, bytes);
    memset(memory, 0, bytes);
    return GP_OK;
}

/* No entry can be in range, or there is none. */
static gp_status convert_nothing(gp_context *ctx, const struct gpi_csr_coo *c)
{
    const struct gpi_content rows =
        GPI_BELOW(c->names[0], c->rows, c->nnz, c->index_dtype, c->num_rows);
    const struct gpi_content cols =
        GPI_BELOW(c->names[1], c->cols, c->nnz, c->index_dtype, c->num_cols);
    if (c->names[0])
        GPI_TRY(gpi_content_report(ctx, c->function, &rows));
    if (c->names[1])
        GPI_TRY(gpi_content_report(ctx, c->function, &cols));
    GPI_TRY(fill(ctx, c->row_pointers, (size_t)(c->num_rows + 1) * c->offset_bytes));
    return c->out_nnz ? fill(ctx, c->out_nnz, sizeof *c->out_nnz) : GP_OK;
}

static gp_status convert(gp_context *ctx, const struct gpi_csr_coo *c)
{
    if (c->nnz == 0 || c->num_rows == 0 || c->num_cols == 0)
        return convert_nothing(ctx, c);
    return ctx->backend == GP_BACKEND_CUDA ? gpi_csr_coo_cuda(ctx, c) : gpi_csr_coo_cpu(ctx, c);
}

gp_status gp_csr_from_coo(gp_context *ctx, const gp_coo_desc *desc, size_t num_rows,
                          size_t num_cols, const void *rows, const void *cols, const void *values,
                          size_t nnz, void *row_pointers, void *out_cols, void *out_values,
                          uint64_t *out_nnz)
{
    static const char f[] = "gp_csr_from_coo";
    struct gpi_csr_coo c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_call(ctx, f, ctx->backend, false, desc, num_rows, num_cols, nnz, &c));
    size_t ib = c.index_bytes, ob = c.offset_bytes, vb = c.value_bytes, align = vb ? vb : 1;
    const struct gpi_array arrays[] = {
        GPI_READ("rows", rows, nnz * ib, ib),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_READ("values", values, nnz * vb, align),
        GPI_WRITE("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_WRITE("out_cols", out_cols, nnz * ib, ib),
        GPI_WRITE("out_values", out_values, nnz * vb, align),
        GPI_WRITE("out_nnz", out_nnz, 8, 8),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 7));
    c.rows = rows;
    c.cols = cols;
    c.values = values;
    c.row_pointers = row_pointers;
    c.out_cols = out_cols;
    c.out_values = out_values;
    c.out_nnz = out_nnz;
    const struct gpi_content rules[] = {GPI_BELOW("rows", rows, nnz, c.index_dtype, num_rows),
                                        GPI_BELOW("cols", cols, nnz, c.index_dtype, num_cols)};
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, convert(ctx, &c)));
}

gp_status gp_csr_from_coo_workspace_bytes(const gp_target *target, const gp_coo_desc *desc,
                                          size_t num_rows, size_t num_cols, size_t nnz,
                                          size_t *bytes)
{
    static const char f[] = "gp_csr_from_coo_workspace_bytes";
    gp_target t;
    struct gpi_csr_coo c;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(take_call(NULL, f, t.backend, false, desc, num_rows, num_cols, nnz, &c));
    return conversion_bytes(&t, &c, bytes);
}

/* The row of every entry goes to scratch; from there on it is a conversion. */
static gp_status transpose(gp_context *ctx, struct gpi_csr_coo *c, const void *row_pointers)
{
    gp_target target = gpi_target_of(ctx);
    size_t need;
    if (c->nnz == 0 || c->num_rows == 0 || c->num_cols == 0)
        return convert_nothing(ctx, c);
    GPI_TRY(conversion_bytes(&target, c, &need));
    size_t rows_bytes = (size_t)c->nnz * c->index_bytes;
    GPI_FRAME(frame, ctx, c->function, need + gpi_piece(rows_bytes));
    void *rows = gpi_frame_take(&frame, rows_bytes);
    c->cols = rows;
    GPI_TRY(gpi_csr_rows_of(ctx, c->function, row_pointers, c->offset_bytes, c->num_cols, c->nnz,
                            rows, c->index_bytes));
    return convert(ctx, c);
}

gp_status gp_csr_transpose(gp_context *ctx, const gp_coo_desc *desc, size_t num_rows,
                           size_t num_cols, size_t nnz, const void *row_pointers, const void *cols,
                           const void *values, void *out_row_pointers, void *out_cols,
                           void *out_values)
{
    static const char f[] = "gp_csr_transpose";
    struct gpi_csr_coo c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_call(ctx, f, ctx->backend, true, desc, num_rows, num_cols, nnz, &c));
    size_t ib = c.index_bytes, ob = c.offset_bytes, vb = c.value_bytes, align = vb ? vb : 1;
    const struct gpi_array arrays[] = {
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_READ("values", values, nnz * vb, align),
        GPI_WRITE("out_row_pointers", out_row_pointers, (num_cols + 1) * ob, ob),
        GPI_WRITE("out_cols", out_cols, nnz * ib, ib),
        GPI_WRITE("out_values", out_values, nnz * vb, align),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 6));
    c.rows = cols;
    c.values = values;
    c.row_pointers = out_row_pointers;
    c.out_cols = out_cols;
    c.out_values = out_values;
    const struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", row_pointers, num_rows, c.offset_dtype, nnz),
        GPI_BELOW("cols", cols, nnz, c.index_dtype, num_cols)};
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, transpose(ctx, &c, row_pointers)));
}

gp_status gp_csr_transpose_workspace_bytes(const gp_target *target, const gp_coo_desc *desc,
                                           size_t num_rows, size_t num_cols, size_t nnz,
                                           size_t *bytes)
{
    static const char f[] = "gp_csr_transpose_workspace_bytes";
    gp_target t;
    struct gpi_csr_coo c;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(take_call(NULL, f, t.backend, true, desc, num_rows, num_cols, nnz, &c));
    GPI_TRY(conversion_bytes(&t, &c, bytes));
    *bytes += gpi_piece(nnz * c.index_bytes);
    return GP_OK;
}
