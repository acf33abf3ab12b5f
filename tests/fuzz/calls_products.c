/* SPDX-License-Identifier: MIT */
/* Products of matrices by rows, and their plans. */
#include <stdlib.h>
#include <string.h>

#include <gp/spmm.h>

#include "calls_matrix.h"
#include "gp_test.h"

/* Small whole numbers, whose sums are exact; or nothing is expected. */
static bool is_small(gp_dtype dtype, const void *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double v = t_value(dtype, values, i);
        if (!(v >= 0 && v < 64 && v == (double)(int)v))
            return false;
    }
    return n < 2000;
}

/* As an element of dtype keeps it. */
static double kept(gp_dtype dtype, double x)
{
    double item;
    t_set(dtype, &item, 0, x);
    return t_value(dtype, &item, 0);
}

static void compare_product(const struct matrix *m, const fuzz_array *pointers,
                            const fuzz_array *cols, const fuzz_array *values, const fuzz_array *x,
                            const fuzz_array *y)
{
    const gp_dtype dtype = m->d.value_dtype;
    if (!is_small(dtype, values->before, m->nnz) ||
        !is_small(dtype, x->before, m->nnz ? m->cols : 0))
        return;
    for (size_t r = 0; r < m->rows; r++) {
        double sum = 0;
        for (uint64_t i = fuzz_index(m->d.offset_dtype, pointers->before, r);
             i < fuzz_index(m->d.offset_dtype, pointers->before, r + 1); i++)
            sum += t_value(dtype, values->before, i) *
                   t_value(dtype, x->before, fuzz_index(m->d.index_dtype, cols->before, i));
        FUZZ_CHECK(t_value(dtype, y->contents, r) == kept(dtype, sum), "row %zu of the product", r);
    }
}

static void spmv(fuzz *f)
{
    size_t bytes;
    const struct matrix m = matrix_of(f, fuzz_dtype(f, FUZZ_FLOATS));
    const gp_dtype index = m.d.index_dtype, offset = m.d.offset_dtype, dtype = m.d.value_dtype;
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, index, m.nnz, m.cols);
    fuzz_array *values = fuzz_input(f, dtype, m.nnz);
    fuzz_array *x = fuzz_input(f, dtype, m.nnz ? m.cols : 0); /* not read without entries */
    fuzz_array *y = fuzz_output_beside(f, m.rows * bytes_or_one(dtype), bytes_or_one(dtype), x);
    const bool scaled = gp_dtype_bytes(dtype) && fuzz_below(f, 4) == 0;
    const gp_dtype scalar = dtype == GP_F64 ? GP_F64 : GP_F32; /* of halves, too */
    const void *alpha = scaled ? fuzz_host(f, scalar, 1) : NULL;
    const void *beta = scaled ? fuzz_host(f, scalar, 1) : NULL;
    const bool good = pointers_good(&m, pointers) && fuzz_all_below(index, cols, m.nnz, m.cols);
    if (!good && !f->validates && !f->must)
        return; /* it would leave its arrays */
    fuzz_rule(f, good);
    f->may |= m.rows ? 0 : FUZZ_BIT(GP_OK); /* nothing is read */
    fuzz_reserve(f,
                 gp_spmv_workspace_bytes(NULL, index, offset, dtype, m.rows, m.cols, m.nnz, &bytes),
                 &bytes);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_spmv_by(f->ctx, &m.d, m.rows, m.cols, m.nnz, pointers->data, cols->data,
                                values->data, alpha, x->data, beta, y->data));
    else
        FUZZ_CALL(f, gp_spmv(f->ctx, index, offset, dtype, m.rows, m.cols, m.nnz, pointers->data,
                             cols->data, values->data, alpha, x->data, beta, y->data));
    if (!scaled)
        compare_product(&m, pointers, cols, values, x, y);
}

/* Memory of a plan that none of the decoder's faults meets; freed by the caller. */
static void *plan_room(size_t bytes)
{
    void *plan = aligned_alloc(16, (bytes + 16) / 16 * 16);
    FUZZ_CHECK(plan != NULL, "out of memory");
    memset(plan, FUZZ_POISON, bytes);
    return plan;
}

/* What a call without faults returns: memory may be refused. */
static bool worked(const fuzz *f, gp_status s)
{
    const bool refused = f->refuses && (s == GP_ERROR_MEMORY || s == GP_ERROR_WORKSPACE);
    FUZZ_CHECK(s == GP_OK || refused, "%s", gp_last_error(f->context));
    return s == GP_OK;
}

/* The call itself, by a plan that was made before. */
static void call_planned(fuzz *f, const struct matrix *m, fuzz_array *pointers, fuzz_array *cols,
                         void *plan)
{
    size_t bytes;
    const gp_dtype dtype = m->d.value_dtype;
    fuzz_array *values = fuzz_input(f, dtype, m->nnz);
    fuzz_array *x = fuzz_input(f, dtype, m->nnz ? m->cols : 0);
    fuzz_array *y = fuzz_output_beside(f, m->rows * bytes_or_one(dtype), bytes_or_one(dtype), x);
    f->may |= m->rows ? 0 : FUZZ_BIT(GP_OK);
    fuzz_reserve(f,
                 gp_spmv_workspace_bytes(NULL, m->d.index_dtype, m->d.offset_dtype, dtype, m->rows,
                                         m->cols, m->nnz, &bytes),
                 &bytes);
    FUZZ_CALL(f, gp_spmv_planned(f->ctx, &m->d, m->rows, m->cols, m->nnz, pointers->data,
                                 cols->data, plan, values->data, NULL, x->data, NULL, y->data));
    compare_product(m, pointers, cols, values, x, y);
}

/* A plan of this pattern, of which one number changes where the context finds that. */
static void planned(fuzz *f)
{
    size_t bytes;
    struct matrix m = matrix_of(f, fuzz_dtype(f, FUZZ_FLOATS));
    m.d.hot_columns = m.nnz % 2 != 0;
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, m.d.index_dtype, m.nnz, m.cols);
    if (f->must || !pointers_good(&m, pointers) ||
        !fuzz_all_below(m.d.index_dtype, cols, m.nnz, m.cols))
        return;
    gp_csr_desc d = m.d;
    if (gp_spmv_plan_bytes(NULL, &d, m.rows, m.cols, m.nnz, &bytes))
        return;
    void *plan = plan_room(bytes);
    if (worked(f, gp_spmv_plan(f->context, &d, m.rows, m.cols, m.nnz, pointers->contents,
                               cols->contents, plan))) {
        if (f->validates && m.nnz && m.rows && m.cols > 1 && fuzz_below(f, 4) == 0) {
            cols->contents[0] ^= 1;
            fuzz_rule(f, false);
        }
        call_planned(f, &m, pointers, cols, plan);
    }
    free(plan);
}

/* The plan with all faults; then the product, without any. */
static void transposed(fuzz *f)
{
    size_t bytes = 16, work;
    const struct matrix m = matrix_of(f, fuzz_dtype(f, FUZZ_FLOATS));
    const gp_dtype dtype = m.d.value_dtype;
    const size_t vb = bytes_or_one(dtype);
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, m.d.index_dtype, m.nnz, m.cols);
    fuzz_array *values = fuzz_input(f, dtype, m.nnz);
    if (gp_spmv_transposed_plan_bytes(NULL, &m.d, m.rows, m.cols, m.nnz, &bytes))
        bytes = 16;
    fuzz_array *plan = fuzz_output(f, bytes, 16);
    fuzz_rule(f,
              pointers_good(&m, pointers) && fuzz_all_below(m.d.index_dtype, cols, m.nnz, m.cols));
    f->may |= m.cols ? 0 : FUZZ_BIT(GP_OK);
    fuzz_reserve(f,
                 gp_spmv_transposed_plan_workspace_bytes(NULL, &m.d, m.rows, m.cols, m.nnz, &work),
                 &work);
    FUZZ_CALL(f, gp_spmv_transposed_plan(f->ctx, &m.d, m.rows, m.cols, m.nnz, pointers->data,
                                         cols->data, values->data, plan->data));
    char *x = t_host(m.rows * vb), *y = t_host(m.cols * vb);
    double *want = t_host(m.cols * sizeof *want);
    memset(want, 0, m.cols * sizeof *want);
    for (size_t r = 0; r < m.rows; r++)
        t_set(dtype, x, r, (double)(r % 5));
    for (size_t r = 0; r < m.rows; r++)
        for (uint64_t i = fuzz_index(m.d.offset_dtype, pointers->before, r);
             i < fuzz_index(m.d.offset_dtype, pointers->before, r + 1); i++)
            want[fuzz_index(m.d.index_dtype, cols->before, i)] +=
                t_value(dtype, values->before, i) * (double)(r % 5);
    if (worked(f, gp_spmv_transposed(f->context, &m.d, m.rows, m.cols, m.nnz, plan->contents, NULL,
                                     x, NULL, y)) &&
        is_small(dtype, values->before, m.nnz))
        for (size_t c = 0; c < m.cols; c++)
            FUZZ_CHECK(t_value(dtype, y, c) == kept(dtype, want[c]),
                       "row %zu of the transposed product", c);
    free(x);
    free(y);
    free(want);
}

/* Strides of X or Y of that many rows: 0, or some more than the least, or less. */
static size_t stride_of(fuzz *f, const gp_spmm_desc *d, size_t rows, size_t *stride, size_t *items)
{
    const bool by_rows = d->layout == GP_LAYOUT_ROWS;
    const size_t least = by_rows ? d->columns : rows, steps = by_rows ? rows : d->columns;
    *stride = fuzz_flip(f) ? 0 : least + fuzz_below(f, 4);
    if (least > 1 && fuzz_fault(f, GP_ERROR_ARGUMENT))
        *stride = least - 1;
    const size_t step = *stride < least ? least : *stride;
    *items = least && steps ? (steps - 1) * step + least : 0;
    return by_rows ? step : 1;
}

static void spmm(fuzz *f)
{
    size_t bytes, x_items, y_items;
    const struct matrix m = matrix_of(f, fuzz_dtype(f, FUZZ_FLOATS));
    const gp_dtype dtype = m.d.value_dtype;
    const size_t vb = bytes_or_one(dtype);
    gp_spmm_desc d = GP_SPMM_DESC_INIT;
    if (m.d.size != sizeof m.d || m.d.hot_columns) /* they are not passed */
        return;
    d.size = fuzz_struct(f, sizeof d);
    d.index_dtype = m.d.index_dtype, d.offset_dtype = m.d.offset_dtype, d.value_dtype = dtype;
    d.layout = fuzz_flip(f) ? GP_LAYOUT_ROWS : GP_LAYOUT_COLUMNS;
    d.columns = fuzz_below(f, GP_SPMM_COLUMNS_MAX + 1);
    const size_t x_row = stride_of(f, &d, m.cols, &d.x_stride, &x_items);
    const size_t y_row = stride_of(f, &d, m.rows, &d.y_stride, &y_items);
    const size_t x_column = d.layout == GP_LAYOUT_ROWS ? 1 : d.x_stride ? d.x_stride : m.cols;
    const size_t y_column = d.layout == GP_LAYOUT_ROWS ? 1 : d.y_stride ? d.y_stride : m.rows;
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, m.d.index_dtype, m.nnz, m.cols);
    fuzz_array *values = fuzz_input(f, dtype, m.nnz);
    fuzz_array *x = fuzz_input(f, dtype, m.nnz ? x_items : 0);
    fuzz_array *y = fuzz_output_beside(f, y_items * vb, vb, x);
    const bool good =
        pointers_good(&m, pointers) && fuzz_all_below(m.d.index_dtype, cols, m.nnz, m.cols);
    if (!good && !f->validates && !f->must)
        return; /* it would leave its arrays */
    if (m.rows && d.columns)
        fuzz_rule(f, good);
    else if (!good)
        return;
    fuzz_reserve(f, gp_spmm_workspace_bytes(NULL, &d, m.rows, m.cols, m.nnz, &bytes), &bytes);
    FUZZ_CALL(f, gp_spmm(f->ctx, &d, m.rows, m.cols, m.nnz, pointers->data, cols->data,
                         values->data, NULL, x->data, NULL, y->data));
    if (!is_small(dtype, values->before, m.nnz) || !is_small(dtype, x->before, m.nnz ? x_items : 0))
        return;
    for (size_t c = 0; c < d.columns; c++)
        for (size_t r = 0; r < m.rows; r++) {
            double sum = 0;
            for (uint64_t i = fuzz_index(m.d.offset_dtype, pointers->before, r);
                 i < fuzz_index(m.d.offset_dtype, pointers->before, r + 1); i++)
                sum += t_value(dtype, values->before, i) *
                       t_value(dtype, x->before,
                               fuzz_index(m.d.index_dtype, cols->before, i) * x_row + c * x_column);
            FUZZ_CHECK(t_value(dtype, y->contents, r * y_row + c * y_column) == kept(dtype, sum),
                       "row %zu of column %zu", r, c);
        }
}

fuzz_call *const fuzz_products[] = {spmv, planned, transposed, spmm, NULL};
