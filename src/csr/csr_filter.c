/* SPDX-License-Identifier: MIT */
/* Front doors: entries of a matrix or a list kept by value or by diagonal. A bit for each entry
 * says what else of an entry follows, and where the rows of the result begin. */
#include <gp/entries.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/state.h"
#include "core/workspace.h"
#include "csr/csr_keep.h"
#include "validate/validate_internal.h"

struct filter {
    gp_csr_filter_desc d;
    uint64_t num_rows, nnz;
    bool is_list;
    size_t index_bytes, offset_bytes, value_bytes; /* of a list, offsets are places of entries */
    const void *row_pointers, *rows, *cols, *values;
    void *out_row_pointers, *out_rows, *out_cols, *out_values;
    uint64_t *out_nnz;
};

static bool by_value(const struct filter *x)
{
    return x->d.entries == GP_ENTRIES_COMPARED;
}

static bool has_upper(gp_compare compare)
{
    return compare == GP_BETWEEN || compare == GP_OUTSIDE;
}

/* ---- checks ---- */

static gp_status check_compared(gp_context *ctx, const char *f, const gp_csr_filter_desc *d)
{
    if (!d->value_dtype)
        return gpi_fail(ctx, GP_ERROR_DTYPE,
                        "%s: desc->value_dtype is 0, but GP_ENTRIES_COMPARED needs values", f);
    if ((int)d->compare < GP_EQ || d->compare > GP_OUTSIDE)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->compare is %d, expected a gp_compare", f,
                        (int)d->compare);
    return gpi_check_unused(ctx, f, "desc->diagonal", (uint64_t)d->diagonal);
}

static gp_status check_choice(gp_context *ctx, const char *f, const gp_csr_filter_desc *d)
{
    if ((int)d->entries < GP_ENTRIES_COMPARED || d->entries > GP_ENTRIES_OFF_DIAGONAL)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->entries is %d, expected a gp_entries", f,
                        (int)d->entries);
    if (d->entries == GP_ENTRIES_COMPARED)
        return check_compared(ctx, f, d);
    return gpi_check_unused(ctx, f, "desc->compare", (uint64_t)d->compare);
}

static gp_status take_desc(gp_context *ctx, const char *f, bool is_list,
                           const gp_csr_filter_desc *given, size_t num_rows, size_t num_cols,
                           size_t nnz, struct filter *x)
{
    gp_csr_filter_desc *const d = &x->d;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_csr_filter_desc)));
    if (is_list)
        d->offset_dtype = (uint64_t)nnz >> 32 ? GP_U64 : GP_U32;
    GPI_TRY(is_list ? gpi_check_index_dtype(ctx, f, "desc->index_dtype", d->index_dtype)
                    : gpi_csr_check_pair(ctx, f, true, d->index_dtype, d->offset_dtype));
    if (d->value_dtype)
        GPI_TRY(gpi_check_dtype(ctx, f, "desc->value_dtype", d->value_dtype));
    GPI_TRY(check_choice(ctx, f, d));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    GPI_TRY(gpi_csr_check_count(ctx, f, true, "num_rows", num_rows, d->index_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, true, "num_cols", num_cols, d->index_dtype));
    GPI_TRY(gpi_csr_check_nnz(ctx, f, true, nnz, is_list ? GP_U64 : d->offset_dtype));
    x->is_list = is_list;
    x->num_rows = num_rows;
    x->nnz = nnz;
    x->index_bytes = gpi_dtype_bytes(d->index_dtype);
    x->offset_bytes = gpi_dtype_bytes(d->offset_dtype);
    x->value_bytes = gpi_dtype_bytes(d->value_dtype);
    return GP_OK;
}

static gp_status check_constant(gp_context *ctx, const char *f, const char *argument,
                                const void *value, bool needed)
{
    if (needed && !value)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is NULL", f, argument);
    if (!needed && value)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is %p, expected NULL", f, argument, value);
    return GP_OK;
}

/* What is compared with, which a figure does not need. */
static gp_status check_constants(gp_context *ctx, const char *f, const gp_csr_filter_desc *d)
{
    const bool compared = d->entries == GP_ENTRIES_COMPARED;
    GPI_TRY(check_constant(ctx, f, "desc->value", d->value, compared));
    return check_constant(ctx, f, "desc->upper", d->upper, compared && has_upper(d->compare));
}

/* ---- the calls inside ---- */

/* The row of every entry. */
static gp_status find_rows(gp_context *ctx, const char *f, const struct filter *x, void *rows)
{
    const struct gpi_balance_args rows_of = {.name = "row_pointers",
                                             .offsets = x->row_pointers,
                                             .offset_bytes = x->offset_bytes,
                                             .num_segments = x->num_rows,
                                             .limit = x->nnz,
                                             .device_num_segments = x->d.device_num_rows,
                                             .device_limit = x->d.device_nnz,
                                             .index_bytes = x->index_bytes,
                                             .segments = rows};
    return gpi_balance_search(ctx, f, &rows_of);
}

/* Flags of the entries that are kept by their diagonal. */
static gp_status mark(gp_context *ctx, const struct filter *x, const void *rows, void *flags)
{
    const gp_entries e = x->d.entries;
    const size_t offset_bytes = x->is_list ? 8 : x->offset_bytes; /* any that goes with indices */
    const struct gpi_csr_marks m = {
        .rows = rows,
        .cols = x->cols,
        .nnz = x->nnz,
        .device_nnz = x->d.device_nnz,
        .low = e == GP_ENTRIES_LOWER ? INT64_MIN : x->d.diagonal,
        .high = e == GP_ENTRIES_UPPER ? INT64_MAX : x->d.diagonal,
        .invert = e == GP_ENTRIES_OFF_DIAGONAL,
        .flags = flags,
    };
    return gpi_csr_find(ctx, x->index_bytes, offset_bytes)->mark(ctx, &m);
}

/* ---- CUDA ---- */

/* Bits; of a matrix also their ranks, and by the diagonal the row of every entry. */
static size_t bits_bytes(const struct filter *x)
{
    const size_t words = gpi_csr_head_words(x->nnz);
    return gpi_state_bytes(x->nnz / GPI_CSR_KEEP_TILE + 1) + gpi_piece(words * 4) +
           (x->is_list ? 0 : gpi_piece(words * (x->nnz >> 32 ? 8 : 4))) +
           (x->is_list || by_value(x) ? 0 : gpi_piece((size_t)x->nnz * x->index_bytes));
}

/* All but the heads. */
static struct gpi_csr_keep keep_of(const struct filter *x)
{
    struct gpi_csr_keep k = {.nnz = x->nnz,
                             .num_rows = x->num_rows,
                             .device_nnz = x->d.device_nnz,
                             .device_num_rows = x->d.device_num_rows,
                             .arrays = {{x->cols, x->out_cols, x->index_bytes},
                                        {x->values, x->out_values, x->value_bytes},
                                        {x->rows, x->out_rows, x->is_list ? x->index_bytes : 0}},
                             .offset_bytes = x->offset_bytes,
                             .pointers = x->row_pointers,
                             .out_pointers = x->out_row_pointers,
                             .out_nnz = x->out_nnz,
                             .by_value = by_value(x)};
    if (k.by_value)
        k.range = gpi_compact_range_of(x->d.value_dtype, x->d.compare, x->d.value, x->d.upper);
    return k;
}

static gp_status filter_on_gpu(gp_context *ctx, const char *f, const struct filter *x)
{
    const size_t words = gpi_csr_head_words(x->nnz);
    const void *rows_of = x->rows;
    struct gpi_csr_keep k = keep_of(x);
    GPI_FRAME(frame, ctx, f, bits_bytes(x));
    k.heads.bits = gpi_frame_take(&frame, words * 4);
    k.heads.wide = x->nnz >> 32 != 0;
    if (!x->is_list)
        k.heads.ranks = gpi_frame_take(&frame, words * (k.heads.wide ? 8 : 4));
    if (!k.by_value && x->nnz) {
        if (!x->is_list) {
            void *found = gpi_frame_take(&frame, (size_t)x->nnz * x->index_bytes);
            GPI_TRY(find_rows(ctx, f, x, found));
            rows_of = found;
        }
        GPI_TRY(mark(ctx, x, rows_of, k.heads.bits));
    }
    return gpi_csr_keep_find(ctx)(ctx, &k);
}

/* ---- CPU ---- */

/* By the diagonal flags, and of a matrix the row of every entry. */
static size_t host_bytes(const struct filter *x)
{
    const size_t rows = x->is_list ? 0 : gpi_piece((size_t)x->nnz * x->index_bytes);
    return gpi_csr_keep_cpu_bytes(x->nnz) + (by_value(x) ? 0 : rows + gpi_piece((size_t)x->nnz));
}

static gp_status filter_on_host(gp_context *ctx, const char *f, const struct filter *x)
{
    const struct gpi_csr_keep k = keep_of(x);
    const void *rows_of = x->rows;
    uint8_t *flags = NULL;
    GPI_FRAME(frame, ctx, f, host_bytes(x));
    if (!k.by_value && x->nnz) {
        flags = gpi_frame_take(&frame, (size_t)x->nnz);
        if (!x->is_list) {
            void *found = gpi_frame_take(&frame, (size_t)x->nnz * x->index_bytes);
            GPI_TRY(find_rows(ctx, f, x, found));
            rows_of = found;
        }
        GPI_TRY(mark(ctx, x, rows_of, flags));
    }
    return gpi_csr_keep_cpu(ctx, f, &k, flags);
}

/* ---- either ---- */

static gp_status filter(gp_context *ctx, const char *f, const struct filter *x)
{
    return ctx->backend == GP_BACKEND_CPU ? filter_on_host(ctx, f, x) : filter_on_gpu(ctx, f, x);
}

static gp_status filter_bytes(const gp_target *target, const struct filter *x, size_t *bytes)
{
    *bytes = gpi_target_bytes(target, host_bytes(x), bits_bytes(x));
    return GP_OK;
}

/* ---- the calls ---- */

gp_status gp_csr_filter(gp_context *ctx, const gp_csr_filter_desc *desc, size_t num_rows,
                        size_t num_cols, size_t nnz, const void *row_pointers, const void *cols,
                        const void *values, void *out_row_pointers, void *out_cols,
                        void *out_values, uint64_t *out_nnz)
{
    static const char f[] = "gp_csr_filter";
    struct filter x = {.num_rows = 0};
    GPI_CALL(ctx, f);
    GPI_TRY(take_desc(ctx, f, false, desc, num_rows, num_cols, nnz, &x));
    GPI_TRY(check_constants(ctx, f, &x.d));
    const size_t ib = x.index_bytes, ob = x.offset_bytes, vb = x.value_bytes, align = vb ? vb : 1;
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&x.d),
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * ob, ob),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_READ("values", values, nnz * vb, align),
        GPI_WRITE("out_row_pointers", out_row_pointers, (num_rows + 1) * ob, ob),
        GPI_WRITE("out_cols", out_cols, nnz * ib, ib),
        GPI_WRITE("out_values", out_values, nnz * vb, align),
        GPI_WRITE("out_nnz", out_nnz, 8, 8),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 9));
    x.nnz = gpi_count_now(ctx, &x.d.device_nnz, nnz);
    x.num_rows = gpi_count_now(ctx, &x.d.device_num_rows, num_rows);
    x.row_pointers = row_pointers, x.cols = cols, x.values = values;
    x.out_row_pointers = out_row_pointers, x.out_cols = out_cols, x.out_values = out_values;
    x.out_nnz = out_nnz;
    struct gpi_content rules[] = {
        GPI_ROW_POINTERS("row_pointers", row_pointers, x.num_rows, x.d.offset_dtype, x.nnz),
        GPI_BELOW("cols", cols, x.nnz, x.d.index_dtype, num_cols)};
    rules[0].device_n = x.d.device_num_rows;
    rules[0].device_bound = rules[1].device_n = x.d.device_nnz;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, filter(ctx, f, &x)));
}

gp_status gp_csr_filter_workspace_bytes(const gp_target *target, const gp_csr_filter_desc *desc,
                                        size_t num_rows, size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_csr_filter_workspace_bytes";
    gp_target t;
    struct filter x;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(take_desc(NULL, f, false, desc, num_rows, num_cols, nnz, &x));
    return filter_bytes(&t, &x, bytes);
}

gp_status gp_coo_filter(gp_context *ctx, const gp_csr_filter_desc *desc, size_t num_rows,
                        size_t num_cols, const void *rows, const void *cols, const void *values,
                        size_t nnz, void *out_rows, void *out_cols, void *out_values,
                        uint64_t *out_nnz)
{
    static const char f[] = "gp_coo_filter";
    struct filter x = {.num_rows = 0};
    GPI_CALL(ctx, f);
    GPI_TRY(take_desc(ctx, f, true, desc, num_rows, num_cols, nnz, &x));
    GPI_TRY(check_constants(ctx, f, &x.d));
    const size_t ib = x.index_bytes, vb = x.value_bytes, align = vb ? vb : 1;
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&x.d),
        GPI_READ("rows", rows, nnz * ib, ib),
        GPI_READ("cols", cols, nnz * ib, ib),
        GPI_READ("values", values, nnz * vb, align),
        GPI_WRITE("out_rows", out_rows, nnz * ib, ib),
        GPI_WRITE("out_cols", out_cols, nnz * ib, ib),
        GPI_WRITE("out_values", out_values, nnz * vb, align),
        GPI_WRITE("out_nnz", out_nnz, 8, 8),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 9));
    x.nnz = gpi_count_now(ctx, &x.d.device_nnz, nnz);
    x.num_rows = gpi_count_now(ctx, &x.d.device_num_rows, num_rows);
    x.rows = rows, x.cols = cols, x.values = values;
    x.out_rows = out_rows, x.out_cols = out_cols, x.out_values = out_values;
    x.out_nnz = out_nnz;
    struct gpi_content rules[] = {GPI_BELOW("rows", rows, x.nnz, x.d.index_dtype, x.num_rows),
                                  GPI_BELOW("cols", cols, x.nnz, x.d.index_dtype, num_cols)};
    rules[0].device_n = rules[1].device_n = x.d.device_nnz;
    rules[0].device_bound = x.d.device_num_rows;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, filter(ctx, f, &x)));
}

gp_status gp_coo_filter_workspace_bytes(const gp_target *target, const gp_csr_filter_desc *desc,
                                        size_t num_rows, size_t num_cols, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_coo_filter_workspace_bytes";
    gp_target t;
    struct filter x;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(take_desc(NULL, f, true, desc, num_rows, num_cols, nnz, &x));
    return filter_bytes(&t, &x, bytes);
}
