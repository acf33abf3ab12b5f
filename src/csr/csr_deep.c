/* SPDX-License-Identifier: MIT */
/* Front doors: gp_check_csr, gp_check_coo. The backend finds the first row or entry that breaks a
 * rule; where in the row, and what is there, is read afterwards. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/sticky.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"

struct deep {
    gp_context *ctx;
    const char *function;
    gp_dtype index, offset;
    struct gpi_csr_matrix a;
    const struct gpi_csr_ops *ops;
    /* In the context's memory: a word for answers, and row pointers of a matrix of one row. */
    uint64_t *word, *one_row;
};

/* A word of the context's memory. */
static gp_status read_word(const struct deep *d, uint64_t *value)
{
    if (d->ctx->backend == GP_BACKEND_CUDA)
        return d->ops->kernels->read_word(d->ctx, d->function, d->word, value);
    *value = *d->word;
    return GP_OK;
}

static gp_status copy(const struct deep *d, const void *source, size_t bytes, void *destination)
{
    if (d->ctx->backend == GP_BACKEND_CUDA)
        return gpi_cuda_copy(d->ctx, source, bytes, destination);
    memcpy(destination, source, bytes);
    return GP_OK;
}

/* Item i of row pointers or columns, as its bits. */
static gp_status read_item(const struct deep *d, gp_dtype dtype, const void *items, uint64_t i,
                           uint64_t *value)
{
    const size_t bytes = gpi_dtype_bytes(dtype);
    const uint64_t zero = 0;
    GPI_TRY(copy(d, &zero, sizeof zero, d->word));
    GPI_TRY(copy(d, (const char *)items + i * bytes, bytes, d->word));
    return read_word(d, value);
}

static gp_status find(const struct deep *d, const struct gpi_csr_matrix *a, uint64_t *found)
{
    GPI_TRY(d->ops->check(d->ctx, a, d->word));
    return read_word(d, found);
}

static enum gpi_csr_rule rule_of(uint64_t found)
{
    return (enum gpi_csr_rule)(found & ((1u << GPI_CSR_RULE_BITS) - 1));
}

/* ---- where in the row ------------------------------------------------------------------------ */

/* Whether the first length columns from begin on, as a row by themselves, break the rule. */
static gp_status breaks(const struct deep *d, uint64_t begin, uint64_t length,
                        enum gpi_csr_rule rule, bool *answer)
{
    const size_t offset_bytes = gpi_dtype_bytes(d->offset);
    const uint64_t wide[2] = {0, length};
    const uint32_t narrow[2] = {0, (uint32_t)length};
    const struct gpi_csr_matrix row = {1, d->a.num_cols, length, d->one_row,
                                       (const char *)d->a.cols + begin * gpi_dtype_bytes(d->index)};
    uint64_t found;
    GPI_TRY(copy(d, offset_bytes == 8 ? (const void *)wide : narrow, 2 * offset_bytes, d->one_row));
    GPI_TRY(find(d, &row, &found));
    *answer = found != GPI_CSR_VALID && rule_of(found) == rule;
    return GP_OK;
}

/* The first column from begin on that breaks the rule, which one before end does. */
static gp_status first_column(const struct deep *d, uint64_t begin, uint64_t end,
                              enum gpi_csr_rule rule, uint64_t *at)
{
    uint64_t fine = 0, broken = end - begin;
    while (broken - fine > 1) {
        const uint64_t middle = fine + (broken - fine) / 2;
        bool answer;
        GPI_TRY(breaks(d, begin, middle, rule, &answer));
        *(answer ? &broken : &fine) = middle;
    }
    *at = begin + broken - 1;
    return GP_OK;
}

/* ---- telling --------------------------------------------------------------------------------- */

static bool is_negative(gp_dtype dtype, uint64_t bits)
{
    return gpi_dtype_is_signed(dtype) && bits >> (8 * gpi_dtype_bytes(dtype) - 1);
}

/* where: the function and the row. */
static gp_status tell_pointer(const struct deep *d, const char *where, enum gpi_csr_rule rule,
                              uint64_t at)
{
    uint64_t value, before = 0;
    GPI_TRY(read_item(d, d->offset, d->a.row_pointers, at, &value));
    if (at > 0)
        GPI_TRY(read_item(d, d->offset, d->a.row_pointers, at - 1, &before));
    enum gpi_rule text = GPI_RULE_LAST;
    if (rule == GPI_CSR_RULE_FIRST)
        text = is_negative(d->offset, value) ? GPI_RULE_NEGATIVE : GPI_RULE_FIRST;
    else if (rule == GPI_CSR_RULE_DESCENDS || is_negative(d->offset, value))
        text = GPI_RULE_FALLS;
    else if (rule == GPI_CSR_RULE_PAST_END)
        return gpi_fail(d->ctx, GP_ERROR_DATA,
                        "%s: row_pointers[%" PRIu64 "] is %" PRIu64
                        ", above nnz, which is %" PRIu64,
                        where, at, value, d->a.nnz);
    return gpi_rule_fail(d->ctx, where, "row_pointers", d->offset, text, at, value,
                         text == GPI_RULE_FALLS   ? before
                         : text == GPI_RULE_FIRST ? 0
                                                  : d->a.nnz);
}

static gp_status tell_column(const struct deep *d, const char *where, enum gpi_csr_rule rule,
                             uint64_t row)
{
    uint64_t begin, end, at, value, before = 0;
    GPI_TRY(read_item(d, d->offset, d->a.row_pointers, row, &begin));
    GPI_TRY(read_item(d, d->offset, d->a.row_pointers, row + 1, &end));
    GPI_TRY(first_column(d, begin, end, rule, &at));
    GPI_TRY(read_item(d, d->index, d->a.cols, at, &value));
    if (rule == GPI_CSR_RULE_RANGE)
        return gpi_rule_fail(d->ctx, where, "cols", d->index, GPI_RULE_BELOW, at, value,
                             d->a.num_cols);
    GPI_TRY(read_item(d, d->index, d->a.cols, at - 1, &before));
    if (value != before)
        return gpi_rule_fail(d->ctx, where, "cols", d->index, GPI_RULE_FALLS, at, value, before);
    return gpi_fail(d->ctx, GP_ERROR_DATA,
                    "%s: cols[%" PRIu64 "] is %" PRIu64 ", as the one before it", where, at, value);
}

static gp_status report(const struct deep *d, uint64_t found)
{
    const uint64_t row = found >> GPI_CSR_RULE_BITS;
    const enum gpi_csr_rule rule = rule_of(found);
    char where[80];
    if (found == GPI_CSR_VALID)
        return GP_OK;
    if (rule == GPI_CSR_RULE_LAST)
        snprintf(where, sizeof where, "%s: after the last row", d->function);
    else
        snprintf(where, sizeof where, "%s: row %" PRIu64, d->function, row);
    if (rule == GPI_CSR_RULE_RANGE || rule == GPI_CSR_RULE_ORDER)
        return tell_column(d, where, rule, row);
    return tell_pointer(d, where, rule,
                        rule == GPI_CSR_RULE_FIRST || rule == GPI_CSR_RULE_LAST ? row : row + 1);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static gp_status tell_entry(const struct deep *d, const struct gpi_csr_list *l, uint64_t at,
                            enum gpi_csr_list_rule rule)
{
    const bool of_row = rule == GPI_CSR_LIST_ROW || rule == GPI_CSR_LIST_ROW_FALLS;
    const char *name = of_row ? "rows" : "cols";
    const void *items = of_row ? l->rows : l->cols;
    uint64_t value, other;
    GPI_TRY(read_item(d, d->index, items, at, &value));
    if (rule == GPI_CSR_LIST_ROW || rule == GPI_CSR_LIST_COL)
        return gpi_rule_fail(d->ctx, d->function, name, d->index, GPI_RULE_BELOW, at, value,
                             of_row ? l->num_rows : l->num_cols);
    if (rule == GPI_CSR_LIST_TWICE) {
        GPI_TRY(read_item(d, d->index, l->rows, at, &other));
        return gpi_fail(d->ctx, GP_ERROR_DATA,
                        "%s: rows[%" PRIu64 "] is %" PRIu64 " and cols[%" PRIu64 "] is %" PRIu64
                        ", as those before them",
                        d->function, at, other, at, value);
    }
    GPI_TRY(read_item(d, d->index, items, at - 1, &other));
    return gpi_rule_fail(d->ctx, d->function, name, d->index, GPI_RULE_FALLS, at, value, other);
}

static gp_status check_list(struct deep *d, const struct gpi_csr_list *l)
{
    uint64_t found;
    GPI_FRAME(frame, d->ctx, d->function, GPI_ALIGN);
    d->word = gpi_frame_take(&frame, sizeof *d->word);
    GPI_TRY(d->ops->check_list(d->ctx, l, d->word));
    GPI_TRY(read_word(d, &found));
    if (found == GPI_CSR_VALID)
        return GP_OK;
    return tell_entry(d, l, found >> GPI_CSR_RULE_BITS, (enum gpi_csr_list_rule)rule_of(found));
}

/* ---- the calls ------------------------------------------------------------------------------- */

static gp_status check_waits(gp_context *ctx, const char *f)
{
    if (!gpi_cuda_capturing(ctx))
        return GP_OK;
    return gpi_fail(ctx, GP_ERROR_WORKSPACE,
                    "%s: must wait for its result, which a stream being captured does not allow",
                    f);
}

static gp_status check_matrix(struct deep *d)
{
    uint64_t found;
    GPI_FRAME(frame, d->ctx, d->function, GPI_ALIGN);
    d->word = gpi_frame_take(&frame, 3 * sizeof *d->word);
    d->one_row = d->word + 1;
    GPI_TRY(find(d, &d->a, &found));
    return report(d, found);
}

static gp_status check(gp_context *ctx, const char *f, bool by, const gp_csr_desc *given,
                       const struct gpi_csr_matrix *a)
{
    gp_csr_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, by, false, given, &d));
    if (d.device_nnz || d.device_num_rows)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->%s is set, expected NULL", f,
                        d.device_nnz ? "device_nnz" : "device_num_rows");
    GPI_TRY(gpi_csr_check_pair(ctx, f, by, d.index_dtype, d.offset_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_rows", a->num_rows, d.index_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_cols", a->num_cols, d.index_dtype));
    GPI_TRY(gpi_csr_check_nnz(ctx, f, by, a->nnz, d.offset_dtype));
    const size_t ib = gpi_dtype_bytes(d.index_dtype), ob = gpi_dtype_bytes(d.offset_dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("row_pointers", a->row_pointers, (a->num_rows + 1) * ob, ob),
        GPI_READ("cols", a->cols, a->nnz * ib, ib),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 2));
    GPI_TRY(check_waits(ctx, f));
    GPI_ON_DEVICE(ctx);
    struct deep deep = {.ctx = ctx,
                        .function = f,
                        .index = d.index_dtype,
                        .offset = d.offset_dtype,
                        .a = *a,
                        .ops = gpi_csr_find(ctx, ib, ob)};
    return gpi_named(ctx, f, check_matrix(&deep));
}

gp_status gp_check_csr_by(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                          size_t num_cols, size_t nnz, const void *row_pointers, const void *cols)
{
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, row_pointers, cols};
    return check(ctx, "gp_check_csr_by", true, desc, &a);
}

gp_status gp_check_csr(gp_context *ctx, gp_dtype index_dtype, gp_dtype offset_dtype,
                       size_t num_rows, size_t num_cols, size_t nnz, const void *row_pointers,
                       const void *cols)
{
    const struct gpi_csr_matrix a = {num_rows, num_cols, nnz, row_pointers, cols};
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    desc.index_dtype = index_dtype;
    desc.offset_dtype = offset_dtype;
    return check(ctx, "gp_check_csr", false, &desc, &a);
}

gp_status gp_check_coo(gp_context *ctx, gp_dtype index_dtype, size_t num_rows, size_t num_cols,
                       const void *rows, const void *cols, size_t nnz, gp_coo_order order)
{
    static const char f[] = "gp_check_coo";
    const struct gpi_csr_list l = {rows, cols, nnz, num_rows, num_cols, order};
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_index_dtype(ctx, f, "index_dtype", index_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, false, "num_rows", num_rows, index_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, false, "num_cols", num_cols, index_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "nnz", nnz));
    if ((int)order < GP_COO_ANY || order > GP_COO_CANONICAL)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: order is %d, expected a gp_coo_order", f,
                        (int)order);
    const size_t bytes = gpi_dtype_bytes(index_dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("rows", rows, nnz * bytes, bytes),
        GPI_READ("cols", cols, nnz * bytes, bytes),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 2));
    GPI_TRY(check_waits(ctx, f));
    if (nnz == 0)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    struct deep deep = {
        .ctx = ctx, .function = f, .index = index_dtype, .ops = gpi_csr_find(ctx, bytes, 8)};
    return gpi_named(ctx, f, check_list(&deep, &l));
}
