/* SPDX-License-Identifier: MIT */
/* Front doors: COO to CSR, transpose, and columns sorted within rows. */
#include <string.h>

#include <gp/entries.h>
#include <gp/fill.h>
#include <gp/gather.h>
#include <gp/segsort.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"
#include "validate/validate_internal.h"

/* Members that do not go together. */
static gp_status check_together(gp_context *ctx, const char *f, const gp_coo_desc *d,
                                const struct gpi_csr_coo *c)
{
    if (d->permutation && c->duplicates < GP_DUPLICATES_FIRST)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->permutation is %p, expected NULL with desc->duplicates %d", f,
                        d->permutation, (int)d->duplicates);
    if (d->algorithm == GP_ALGORITHM_CUB && d->device_nnz)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: desc->algorithm is GP_ALGORITHM_CUB, which does not support "
                        "desc->device_nnz here",
                        f);
    return GP_OK;
}

enum kind { FROM_COO, TRANSPOSE, SORT_COLUMNS };

/* Whether rows fill nearly all of the range of their bits. A few of them need not: it is columns
 * that keys are divided by then. */
static bool rows_fill(const struct gpi_csr_coo *c)
{
    return c->row_bits < 12 || c->num_rows >> (c->row_bits - 4) == 15 ||
           c->num_rows == (uint64_t)1 << c->row_bits;
}

/* Sorts divide keys by their highest bits, into buckets that hold too much if others are empty. So
 * rows have as many cells as fill the range of keys, of which those behind the columns are empty.
 * Rows that are sorted alone have bits of their own. */
static void choose_cells(struct gpi_csr_coo *c)
{
    c->key_bits = c->row_bits + c->col_bits;
    c->cells_part = 1;
    c->cells_shift = c->col_bits;
    if (gpi_csr_is_wide(c) || c->sort_bit || c->row_bits > 32 || rows_fill(c))
        return;
    for (unsigned bits = c->key_bits - 1; bits <= c->key_bits; bits++) {
        const unsigned shift = bits > 32 ? bits - 32 : 0;
        const uint32_t part = (uint32_t)(((uint64_t)1 << (bits - shift)) / c->num_rows);
        if ((uint64_t)part << shift < c->num_cols)
            continue;
        c->key_bits = bits;
        c->cells_part = part;
        c->cells_shift = shift;
        return;
    }
}

/* The parts of a conversion that follow from the descriptor and the sizes. A transpose exchanges
 * rows and columns and sorts the new rows only; from a list alone are entries merged. */
static gp_status take_call(gp_context *ctx, const char *f, gp_backend backend, enum kind kind,
                           const gp_coo_desc *desc, size_t num_rows, size_t num_cols, size_t nnz,
                           struct gpi_csr_coo *c)
{
    gp_coo_desc full, *const d = &full;
    const bool is_transpose = kind == TRANSPOSE, keeps = kind != FROM_COO;
    const unsigned set = 1u << GP_ALGORITHM_AUTO | 1u << GP_ALGORITHM_CUB;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", desc, d, GPI_FORM(gp_coo_desc)));
    GPI_TRY(gpi_csr_check_pair(ctx, f, true, d->index_dtype, d->offset_dtype));
    if (d->value_dtype)
        GPI_TRY(gpi_check_dtype(ctx, f, "desc->value_dtype", d->value_dtype));
    GPI_TRY(gpi_check_algorithm(ctx, f, "desc->algorithm", backend, d->algorithm, set));
    if (!keeps && ((int)d->duplicates < GP_DUPLICATES_SUM || d->duplicates > GP_DUPLICATES_ERROR))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->duplicates is %d, expected a gp_duplicates", f,
                        (int)d->duplicates);
    GPI_TRY(gpi_csr_check_count(ctx, f, true, "num_rows", num_rows, d->index_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, true, "num_cols", num_cols, d->index_dtype));
    GPI_TRY(gpi_csr_check_nnz(ctx, f, true, nnz, d->offset_dtype));
    *c = (struct gpi_csr_coo){.function = f,
                              .names = {kind == FROM_COO ? "rows"
                                        : is_transpose   ? "cols"
                                                         : NULL,
                                        is_transpose ? NULL : "cols"},
                              .index_dtype = d->index_dtype,
                              .offset_dtype = d->offset_dtype,
                              .nnz = nnz,
                              .num_rows = is_transpose ? num_cols : num_rows,
                              .num_cols = is_transpose ? num_rows : num_cols,
                              .index_bytes = gpi_dtype_bytes(d->index_dtype),
                              .offset_bytes = gpi_dtype_bytes(d->offset_dtype),
                              .value_bytes = gpi_dtype_bytes(d->value_dtype),
                              .value_dtype = d->value_dtype,
                              .duplicates = keeps ? GP_DUPLICATES_KEEP : d->duplicates,
                              .algorithm = d->algorithm,
                              .permutation = d->permutation,
                              .device_nnz = d->device_nnz,
                              .device_num_rows = d->device_num_rows,
                              .by_row = kind == SORT_COLUMNS};
    GPI_TRY(check_together(ctx, f, d, c));
    c->row_bits = gpi_csr_bits(c->num_rows);
    c->col_bits = gpi_csr_bits(c->num_cols);
    c->sort_bit = is_transpose ? c->col_bits : 0;
    choose_cells(c);
    return GP_OK;
}

/* The conversion of the entries' numbers in place of their values. */
static struct gpi_csr_coo of_numbers(const struct gpi_csr_coo *c, const void *numbers)
{
    struct gpi_csr_coo by = *c;
    by.permutation = NULL;
    by.values = numbers;
    by.out_values = c->permutation;
    by.value_bytes = c->offset_bytes;
    by.value_dtype = gpi_csr_unsigned(c->offset_bytes);
    return by;
}

/* Of the CPU. */
static gp_status host_bytes(const gp_target *target, const struct gpi_csr_coo *c, size_t *bytes)
{
    gp_target cpu = *target;
    cpu.backend = GP_BACKEND_CPU;
    if (c->by_row)
        return gp_radix_sort_segmented_workspace_bytes(&cpu, gpi_csr_unsigned(c->index_bytes),
                                                       c->value_bytes, (size_t)c->nnz,
                                                       (size_t)c->num_rows, NULL, bytes);
    *bytes = gpi_csr_coo_cpu_bytes(c);
    return GP_OK;
}

static gp_status conversion_bytes(const gp_target *target, const struct gpi_csr_coo *c,
                                  size_t *bytes)
{
    const struct gpi_csr_coo by = c->permutation ? of_numbers(c, NULL) : *c;
    size_t cpu = 0, cuda = 0;
    if (target->backend != GP_BACKEND_CUDA)
        GPI_TRY(host_bytes(target, &by, &cpu));
    if (target->backend != GP_BACKEND_CPU)
        GPI_TRY(gpi_csr_coo_cuda_bytes(target, &by, &cuda));
    *bytes = gpi_target_bytes(target, cpu, cuda);
    if (c->permutation)
        *bytes += gpi_piece((size_t)c->nnz * c->offset_bytes);
    return GP_OK;
}

static gp_status fill(gp_context *ctx, void *memory, size_t bytes)
{
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_cuda_fill(ctx, memory, 0, bytes);
    memset(memory, 0, bytes);
    return GP_OK;
}

/* Row pointers that are all 0: as many as rows, and one more. */
static gp_status fill_pointers(gp_context *ctx, const struct gpi_csr_coo *c)
{
    const size_t bytes = c->offset_bytes;
    const uint64_t zero = 0;
    gp_fill_desc d = GP_FILL_DESC_INIT;
    if (!c->device_num_rows)
        return fill(ctx, c->row_pointers, (size_t)(c->num_rows + 1) * bytes);
    GPI_TRY(fill(ctx, c->row_pointers, bytes));
    d.item_bytes = bytes;
    d.item = &zero;
    d.device_n = c->device_num_rows;
    return gp_fill_by(ctx, &d, c->num_rows, (char *)c->row_pointers + bytes);
}

/* No entry can be in range, or there is none. */
static gp_status convert_nothing(gp_context *ctx, const struct gpi_csr_coo *c)
{
    struct gpi_content rows = GPI_BELOW(c->names[0], c->rows, c->nnz, c->index_dtype, c->num_rows);
    struct gpi_content cols = GPI_BELOW(c->names[1], c->cols, c->nnz, c->index_dtype, c->num_cols);
    rows.device_n = cols.device_n = c->device_nnz;
    if (c->names[0])
        GPI_TRY(gpi_content_report(ctx, c->function, &rows));
    if (c->names[1])
        GPI_TRY(gpi_content_report(ctx, c->function, &cols));
    if (c->row_pointers)
        GPI_TRY(fill_pointers(ctx, c));
    return c->out_nnz ? fill(ctx, c->out_nnz, sizeof *c->out_nnz) : GP_OK;
}

static gp_status convert(gp_context *ctx, const struct gpi_csr_coo *c);

/* The numbers of the entries take the way of values; then the values follow. */
static gp_status convert_numbers(gp_context *ctx, const struct gpi_csr_coo *c)
{
    const gp_target target = gpi_target_of(ctx);
    const gp_dtype dtype = gpi_csr_unsigned(c->offset_bytes);
    const uint64_t first = 0, step = 1;
    const size_t n = (size_t)c->nnz;
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    size_t need;
    GPI_TRY(conversion_bytes(&target, c, &need));
    GPI_FRAME(frame, ctx, c->function, need);
    void *numbers = gpi_frame_take(&frame, n * c->offset_bytes);
    const struct gpi_csr_coo by = of_numbers(c, numbers);
    GPI_TRY(gp_iota(ctx, dtype, &first, &step, n, numbers));
    GPI_TRY(convert(ctx, &by));
    d.item_bytes = c->value_bytes;
    d.index_dtype = dtype;
    d.in_items = n;
    d.device_n = c->out_nnz ? c->out_nnz : c->device_nnz;
    return c->value_bytes ? gp_gather_by(ctx, &d, c->values, c->permutation, n, c->out_values)
                          : GP_OK;
}

/* CPU: rows are the segments of a sort. */
static gp_status sort_segments(gp_context *ctx, const struct gpi_csr_coo *c)
{
    const struct gpi_balance_args *r = c->rows_of;
    const gp_dtype key = gpi_csr_unsigned(c->index_bytes), at = c->offset_dtype;
    const size_t n = (size_t)c->nnz, rows = (size_t)c->num_rows, vb = c->value_bytes;
    const struct gpi_content pointers = GPI_ROW_POINTERS(r->name, r->offsets, rows, at, n);
    const struct gpi_content cols = GPI_BELOW("cols", c->cols, n, c->index_dtype, c->num_cols);
    GPI_TRY(gpi_content_report(ctx, c->function, &cols));
    if (gpi_content_check(ctx, c->function, &pointers) != GP_OK)
        return gpi_content_report(ctx, c->function, &pointers);
    return vb ? gp_radix_sort_segmented_pairs(ctx, key, c->cols, vb, c->values, n, at, r->offsets,
                                              rows, c->out_cols, c->out_values, NULL)
              : gp_radix_sort_segmented(ctx, key, c->cols, n, at, r->offsets, rows, c->out_cols,
                                        NULL);
}

static gp_status convert(gp_context *ctx, const struct gpi_csr_coo *c)
{
    if (c->nnz == 0 || c->num_rows == 0 || c->num_cols == 0)
        return convert_nothing(ctx, c);
    if (c->permutation)
        return convert_numbers(ctx, c);
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_csr_coo_cuda(ctx, c);
    return c->by_row ? sort_segments(ctx, c) : gpi_csr_coo_cpu(ctx, c);
}

gp_status gp_csr_from_coo(gp_context *ctx, const gp_coo_desc *desc, size_t num_rows,
                          size_t num_cols, const void *rows, const void *cols, const void *values,
                          size_t nnz, void *row_pointers, void *out_cols, void *out_values,
                          uint64_t *out_nnz)
{
    static const char f[] = "gp_csr_from_coo";
    struct gpi_csr_coo c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_call(ctx, f, ctx->backend, FROM_COO, desc, num_rows, num_cols, nnz, &c));
    size_t ib = c.index_bytes, ob = c.offset_bytes, vb = c.value_bytes, align = vb ? vb : 1;
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&c),
        GPI_READ("rows", rows, nnz * ib, ib),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_READ("values", values, nnz * vb, align),
        GPI_WRITE("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_WRITE("out_cols", out_cols, nnz * ib, ib),
        GPI_WRITE("out_values", out_values, nnz * vb, align),
        GPI_WRITE("out_nnz", out_nnz, 8, 8),
        GPI_WRITE_IF("desc->permutation", c.permutation, nnz * ob, ob),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 10));
    c.nnz = gpi_count_now(ctx, &c.device_nnz, nnz);
    c.num_rows = gpi_count_now(ctx, &c.device_num_rows, num_rows);
    c.rows = rows;
    c.cols = cols;
    c.values = values;
    c.row_pointers = row_pointers;
    c.out_cols = out_cols;
    c.out_values = out_values;
    c.out_nnz = out_nnz;
    struct gpi_content rules[] = {GPI_BELOW("rows", rows, c.nnz, c.index_dtype, c.num_rows),
                                  GPI_BELOW("cols", cols, c.nnz, c.index_dtype, num_cols)};
    rules[0].device_n = rules[1].device_n = c.device_nnz;
    rules[0].device_bound = c.device_num_rows;
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
    GPI_TRY(take_call(NULL, f, t.backend, FROM_COO, desc, num_rows, num_cols, nnz, &c));
    return conversion_bytes(&t, &c, bytes);
}

/* The row of every entry goes to scratch, in place of those columns or rows of a list that c lacks;
 * from there on it is a conversion. */
static gp_status convert_matrix(gp_context *ctx, struct gpi_csr_coo *c,
                                struct gpi_balance_args *rows_of)
{
    gp_target target = gpi_target_of(ctx);
    size_t need;
    if (c->nnz == 0 || c->num_rows == 0 || c->num_cols == 0)
        return convert_nothing(ctx, c);
    GPI_TRY(conversion_bytes(&target, c, &need));
    size_t rows_bytes = (size_t)c->nnz * c->index_bytes;
    GPI_FRAME(frame, ctx, c->function, need + gpi_piece(rows_bytes));
    void *rows = gpi_frame_take(&frame, rows_bytes);
    *(c->cols ? &c->rows : &c->cols) = rows_of->segments = rows;
    if (ctx->backend == GP_BACKEND_CUDA ? gpi_csr_sorts_rows(c) : c->by_row)
        c->rows_of = rows_of;
    else
        GPI_TRY(gpi_balance_search(ctx, c->function, rows_of));
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
    GPI_TRY(take_call(ctx, f, ctx->backend, TRANSPOSE, desc, num_rows, num_cols, nnz, &c));
    size_t ib = c.index_bytes, ob = c.offset_bytes, vb = c.value_bytes, align = vb ? vb : 1;
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&c),
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_READ("values", values, nnz * vb, align),
        GPI_WRITE("out_row_pointers", out_row_pointers, (num_cols + 1) * ob, ob),
        GPI_WRITE("out_cols", out_cols, nnz * ib, ib),
        GPI_WRITE("out_values", out_values, nnz * vb, align),
        GPI_WRITE_IF("desc->permutation", c.permutation, nnz * ob, ob),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 9));
    c.rows = cols;
    c.values = values;
    c.row_pointers = out_row_pointers;
    c.out_cols = out_cols;
    c.out_values = out_values;
    struct gpi_balance_args rows_of = {.name = "row_pointers",
                                       .offsets = row_pointers,
                                       .offset_bytes = ob,
                                       .device_num_segments = c.device_num_rows,
                                       .device_limit = c.device_nnz,
                                       .index_bytes = ib};
    c.device_num_rows = NULL; /* of the result there are as many columns */
    rows_of.num_segments = gpi_count_now(ctx, &rows_of.device_num_segments, num_rows);
    rows_of.limit = gpi_count_now(ctx, &rows_of.device_limit, nnz);
    c.nnz = rows_of.limit;
    c.device_nnz = rows_of.device_limit;
    struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", row_pointers, rows_of.num_segments, c.offset_dtype, c.nnz),
        GPI_BELOW("cols", cols, c.nnz, c.index_dtype, num_cols)};
    rules[0].device_n = rows_of.device_num_segments;
    rules[0].device_bound = rules[1].device_n = c.device_nnz;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, convert_matrix(ctx, &c, &rows_of)));
}

static gp_status matrix_bytes(const char *f, const gp_target *target, enum kind kind,
                              const gp_coo_desc *desc, size_t num_rows, size_t num_cols, size_t nnz,
                              size_t *bytes)
{
    gp_target t;
    struct gpi_csr_coo c;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(take_call(NULL, f, t.backend, kind, desc, num_rows, num_cols, nnz, &c));
    GPI_TRY(conversion_bytes(&t, &c, bytes));
    *bytes += gpi_piece(nnz * c.index_bytes);
    return GP_OK;
}

gp_status gp_csr_transpose_workspace_bytes(const gp_target *target, const gp_coo_desc *desc,
                                           size_t num_rows, size_t num_cols, size_t nnz,
                                           size_t *bytes)
{
    return matrix_bytes("gp_csr_transpose_workspace_bytes", target, TRANSPOSE, desc, num_rows,
                        num_cols, nnz, bytes);
}

gp_status gp_csr_sort_columns(gp_context *ctx, const gp_coo_desc *desc, size_t num_rows,
                              size_t num_cols, size_t nnz, const void *row_pointers,
                              const void *cols, const void *values, void *out_cols,
                              void *out_values)
{
    static const char f[] = "gp_csr_sort_columns";
    struct gpi_csr_coo c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_call(ctx, f, ctx->backend, SORT_COLUMNS, desc, num_rows, num_cols, nnz, &c));
    size_t ib = c.index_bytes, ob = c.offset_bytes, vb = c.value_bytes, align = vb ? vb : 1;
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&c),
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_READ("values", values, nnz * vb, align),
        GPI_WRITE("out_cols", out_cols, nnz * ib, ib),
        GPI_WRITE("out_values", out_values, nnz * vb, align),
        GPI_WRITE_IF("desc->permutation", c.permutation, nnz * ob, ob),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 8));
    c.cols = cols;
    c.values = values;
    c.out_cols = out_cols;
    c.out_values = out_values;
    c.nnz = gpi_count_now(ctx, &c.device_nnz, nnz);
    c.num_rows = gpi_count_now(ctx, &c.device_num_rows, num_rows);
    struct gpi_balance_args rows_of = {.name = "row_pointers",
                                       .offsets = row_pointers,
                                       .offset_bytes = ob,
                                       .num_segments = c.num_rows,
                                       .limit = c.nnz,
                                       .device_num_segments = c.device_num_rows,
                                       .device_limit = c.device_nnz,
                                       .index_bytes = ib};
    struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", row_pointers, c.num_rows, c.offset_dtype, c.nnz),
        GPI_BELOW("cols", cols, c.nnz, c.index_dtype, num_cols)};
    rules[0].device_n = c.device_num_rows;
    rules[0].device_bound = rules[1].device_n = c.device_nnz;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, convert_matrix(ctx, &c, &rows_of)));
}

gp_status gp_csr_sort_columns_workspace_bytes(const gp_target *target, const gp_coo_desc *desc,
                                              size_t num_rows, size_t num_cols, size_t nnz,
                                              size_t *bytes)
{
    return matrix_bytes("gp_csr_sort_columns_workspace_bytes", target, SORT_COLUMNS, desc, num_rows,
                        num_cols, nnz, bytes);
}
