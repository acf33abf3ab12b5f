/* SPDX-License-Identifier: MIT */
/* Limits of sparse matrices: bits of a key of row and column, rows, columns, entries. */
#ifndef GP_TEST_LIMITS_CSR_H
#define GP_TEST_LIMITS_CSR_H

#include <gp/spmm.h>

#include "csr_cases.h"
#include "limit_rows.h"

/* A matrix with these sizes and room for nnz entries, which lie anywhere in it, corners and
 * duplicates among them; the value of an entry is its place in the list. */
static struct coo matrix_new(uint64_t num_rows, uint64_t num_cols, size_t nnz)
{
    struct coo m = coo_new(num_rows, num_cols, nnz, GP_U32);
    uint64_t *r = limit_numbers(nnz, num_rows, 3), *c = limit_numbers(nnz, num_cols, 4);
    for (size_t i = 0; i < nnz; i++) {
        coo_add(&m, r[i], c[i % 5 ? i : nnz - 1 - i]);
        ((uint32_t *)m.values)[i] = (uint32_t)i;
    }
    free(r), free(c);
    return m;
}

/* pointers[r] is how many of the ascending rows are below r. The array may be too large for another
 * one like it. */
static void pointers_check(const t_array *array, gp_dtype offset, const uint64_t *rows, size_t nnz,
                           uint64_t num_rows)
{
    size_t below = 0;
    void *pointers = t_host(array->bytes);
    t_get(array, pointers, array->bytes);
    for (uint64_t r = 0; r <= num_rows; r++) {
        while (below < nnz && rows[below] < r)
            below++;
        uint64_t is = gp_dtype_bytes(offset) == 8 ? ((const uint64_t *)pointers)[r]
                                                  : ((const uint32_t *)pointers)[r];
        if (is != below)
            ck_abort_msg("%s: pointer of row %" PRIu64 " is %" PRIu64 ", expected %zu", limit_now,
                         r, is, below);
    }
    free(pointers);
    t_check_guards(array);
}

struct coo_call {
    gp_dtype index, offset;
    gp_duplicates duplicates;
    uint64_t num_rows, num_cols, nnz; /* arguments of the call; the matrix has sizes of its own */
};

/* The entries in order, without the later ones of equal ones unless all are kept. */
static size_t coo_expected(const struct coo_call *call, const struct coo *m, uint64_t *rows,
                           uint64_t *cols, uint64_t *values)
{
    uint64_t *order = coo_order(m);
    size_t count = 0;
    for (size_t i = 0; i < m->nnz; i++) {
        uint64_t row = m->rows[order[i]], col = m->cols[order[i]];
        if (call->duplicates != GP_DUPLICATES_KEEP && count && rows[count - 1] == row &&
            cols[count - 1] == col)
            continue;
        rows[count] = row;
        cols[count] = col;
        values[count++] = order[i];
    }
    free(order);
    return count;
}

static gp_status coo_convert(const struct coo_call *call, const struct coo *m)
{
    size_t index = gp_dtype_bytes(call->index), offset = gp_dtype_bytes(call->offset);
    size_t n = m->nnz, row_pointers = (size_t)(m->num_rows + 1) * offset;
    uint64_t *rows = t_host(n * 8), *cols = t_host(n * 8), *values = t_host(n * 8), count;
    t_array r = limit_array(m->rows, n, index), c = limit_array(m->cols, n, index);
    t_array v = t_new_from(m->values, n * 4, 0), pointers = t_new(row_pointers, 0);
    t_array out_cols = t_new(n * index, 0), out_values = t_new(n * 4, 0), nnz = t_new(8, 0);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = call->index;
    d.offset_dtype = call->offset;
    d.value_dtype = GP_U32;
    d.duplicates = call->duplicates;
    gp_status s =
        gp_csr_from_coo(t_ctx(), &d, call->num_rows, call->num_cols, r.data, c.data, v.data,
                        call->nnz, pointers.data, out_cols.data, out_values.data, nnz.data);
    count = coo_expected(call, m, rows, cols, values);
    if (s == GP_OK)
        pointers_check(&pointers, call->offset, rows, count, m->num_rows);
    else
        t_check_untouched(&pointers);
    void *narrow_cols = limit_narrow(cols, count, index), *narrow = limit_narrow(values, count, 4);
    limit_output(s, &out_cols, narrow_cols, count * index);
    limit_output(s, &out_values, narrow, count * 4);
    limit_output(s, &nnz, &count, 8);
    t_free(&r), t_free(&c), t_free(&v), t_free(&pointers);
    free(rows), free(cols), free(values), free(narrow_cols), free(narrow);
    return s;
}

/* there: the matrix has these sizes, as the call should not refuse them.
 * with: the bytes of a row pointer. */
static gp_status coo_try(const struct limit *l, bool there, uint64_t num_rows, uint64_t num_cols,
                         uint64_t nnz, size_t entries)
{
    struct coo_call call = {
        l->dtype, l->with == 8 ? GP_U64 : l->dtype, GP_DUPLICATES_FIRST, num_rows, num_cols, nnz};
    struct coo m = matrix_new(there ? num_rows : 8, there ? num_cols : 8, entries);
    gp_status s = coo_convert(&call, &m);
    call.duplicates = GP_DUPLICATES_KEEP;
    if (s == GP_OK && num_rows < 1 << 20)
        s = coo_convert(&call, &m);
    coo_free(&m);
    return s;
}

/* The largest size that takes `bits` bits, or the smallest. */
static uint64_t size_of_bits(int bits, bool largest)
{
    return bits == 0 ? 1 : largest ? (uint64_t)1 << bits : ((uint64_t)1 << (bits - 1)) + 1;
}

/* The value is the sum of the bits of rows and of columns. Rows are as few as can be, for want of
 * memory, and also as many as columns where that are not many. */
static gp_status run_coo_bits(const struct limit *l, uint64_t value)
{
    static const size_t entries[] = {1, 3, 1000, 8191, 8192};
    const int sum = (int)value, col_most = gp_dtype_bytes(l->dtype) == 8 ? 40 : 32;
    const int least = sum > col_most ? sum - col_most : 0;
    const int shares[] = {least, sum / 2 <= 17 ? sum / 2 : least};
    const bool few = least < 20;
    for (int i = 0; i < (shares[1] > least ? 2 : 1); i++)
        for (size_t k = few ? 0 : 3; k < 5; k++) {
            uint64_t rows = size_of_bits(shares[i], few && k % 2);
            uint64_t cols = size_of_bits(sum - shares[i], k % 2);
            gp_status s = coo_try(l, true, rows, cols, entries[k], entries[k]);
            if (s != GP_OK)
                return s;
        }
    return GP_OK;
}

static gp_status run_coo_rows(const struct limit *l, uint64_t value)
{
    size_t entries = value ? 500 : 0;
    return coo_try(l, limit_allows(l, value), value, 100, entries, entries);
}

static gp_status run_coo_cols(const struct limit *l, uint64_t value)
{
    size_t entries = value ? 500 : 0;
    return coo_try(l, limit_allows(l, value), 100, value, entries, entries);
}

static gp_status run_coo_nnz(const struct limit *l, uint64_t value)
{
    return coo_try(l, true, 300, 1000, value, limit_room(l, value));
}

/* ---- transpose ------------------------------------------------------------------------------- */

/* with: the entries, in 1000 rows. Expected: by column, then as they were. */
static gp_status run_transpose_cols(const struct limit *l, uint64_t value)
{
    size_t n = l->with, count = 0;
    uint64_t num_rows = 1000, num_cols = limit_room(l, value);
    struct coo m = matrix_new(num_rows, num_cols, n);
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    uint64_t *cols = t_host(n * 8), *rows = t_host(n * 8);
    uint32_t *values = t_host(n * 4);
    for (uint64_t c = 0; c < num_cols; c++)
        for (uint64_t r = 0; r < num_rows; r++)
            for (uint64_t i = a.pointers[r]; i < a.pointers[r + 1]; i++)
                if (a.cols[i] == c) {
                    cols[count] = c;
                    rows[count] = r;
                    values[count++] = ((const uint32_t *)a.values)[i];
                }
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = GP_U32;
    t_array p = limit_array(a.pointers, num_rows + 1, 4), c = limit_array(a.cols, n, 4);
    t_array v = t_new_from(a.values, n * 4, 0), po = t_new((num_cols + 1) * 4, 0);
    t_array co = t_new(n * 4, 0), vo = t_new(n * 4, 0);
    gp_status s = gp_csr_transpose(t_ctx(), &d, num_rows, value, n, p.data, c.data, v.data, po.data,
                                   co.data, vo.data);
    if (s == GP_OK)
        pointers_check(&po, GP_U32, cols, n, num_cols);
    else
        t_check_untouched(&po);
    void *narrow = limit_narrow(rows, n, 4);
    limit_output(s, &co, narrow, n * 4);
    limit_output(s, &vo, values, n * 4);
    t_free(&p), t_free(&c), t_free(&v), t_free(&po);
    free(cols), free(rows), free(values), free(narrow);
    coo_free(&m), csr_free(&a);
    return s;
}

/* ---- filters and sorted columns -------------------------------------------------------------- */

/* A matrix with an entry in each of its first rows, of which those `with` and more to the right of
 * the diagonal are kept; the value is the number of rows, or of columns if `by_cols`. */
static gp_status filter_try(const struct limit *l, uint64_t value, bool by_cols)
{
    const uint64_t n = 300, rows = by_cols ? n : limit_room(l, value);
    const size_t bytes = gp_dtype_bytes(l->dtype);
    const uint64_t nnz = rows < n ? rows : n;
    uint64_t *cols = t_host(n * 8), *pointers = t_host((rows + 1) * 8), *kept = t_host(n * 8);
    uint64_t count = 0;
    for (uint64_t r = 0; r <= rows; r++)
        pointers[r] = r < nnz ? r : nnz;
    for (uint64_t i = 0; i < nnz; i++) {
        cols[i] = by_cols && value && limit_allows(l, value) ? value - 1 - i % value : i * 3 % n;
        if ((int64_t)(cols[i] - i) >= (int64_t)l->with)
            kept[count++] = cols[i];
    }
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.index_dtype = d.offset_dtype = l->dtype;
    d.value_dtype = (gp_dtype)0;
    d.entries = GP_ENTRIES_UPPER;
    d.diagonal = (int64_t)l->with;
    t_array p = limit_array(pointers, rows + 1, bytes), c = limit_array(cols, nnz, bytes);
    t_array po = t_new((rows + 1) * bytes, 0), co = t_new(nnz * bytes, 0), k = t_new(8, 0);
    gp_status s = gp_csr_filter(t_ctx(), &d, by_cols ? rows : value, by_cols ? value : n, nnz,
                                p.data, c.data, NULL, po.data, co.data, NULL, k.data);
    void *narrow = limit_narrow(kept, count, bytes);
    limit_output(s, &co, narrow, count * bytes);
    limit_output(s, &k, &count, 8);
    t_free(&p), t_free(&c), t_free(&po), t_free(&co), t_free(&k);
    free(cols), free(pointers), free(kept), free(narrow);
    return s;
}

static gp_status run_filter_rows(const struct limit *l, uint64_t value)
{
    return filter_try(l, value, false);
}

static gp_status run_filter_cols(const struct limit *l, uint64_t value)
{
    return filter_try(l, value, true);
}

/* ---- row pointers, rows, check, product ------------------------------------------------------ */

/* Entries spread over rows, some of which are empty. */
static uint64_t *rows_ascending(size_t nnz, uint64_t num_rows)
{
    uint64_t *rows = t_host(nnz * 8);
    for (size_t i = 0; i < nnz; i++)
        rows[i] = i * num_rows / nnz / 3 * 3;
    return rows;
}

/* From rows in order, from rows in any order, and back. num_rows and nnz: the arguments of
 * the calls. */
static gp_status rows_try(const struct limit *l, uint64_t num_rows, size_t rows_there, uint64_t nnz,
                          size_t entries)
{
    gp_dtype offset = l->with == 8 ? GP_U64 : l->dtype;
    size_t index = gp_dtype_bytes(l->dtype), bytes = gp_dtype_bytes(offset);
    uint64_t *rows = rows_ascending(entries, rows_there), *turned = t_host(entries * 8);
    for (size_t i = 0; i < entries; i++)
        turned[i] = rows[entries - 1 - i];
    t_array in = limit_array(rows, entries, index), any = limit_array(turned, entries, index);
    t_array out = t_new((rows_there + 1) * bytes, 0), out_any = t_new((rows_there + 1) * bytes, 0);
    t_array back = t_new(entries * index, 0);
    gp_status s = gp_csr_row_pointers(t_ctx(), l->dtype, in.data, nnz, num_rows, offset, out.data);
    limit_both(s, gp_csr_row_pointers_unsorted(t_ctx(), l->dtype, any.data, nnz, num_rows, offset,
                                               out_any.data));
    limit_both(s, gp_csr_to_coo(t_ctx(), offset, out.data, num_rows, nnz, l->dtype, back.data));
    if (s == GP_OK) {
        pointers_check(&out, offset, rows, entries, num_rows);
        pointers_check(&out_any, offset, rows, entries, num_rows);
    } else {
        t_check_untouched(&out);
        t_check_untouched(&out_any);
    }
    void *narrow = limit_narrow(rows, entries, index);
    limit_output(s, &back, narrow, entries * index);
    t_free(&in), t_free(&any), t_free(&out), t_free(&out_any);
    free(rows), free(turned), free(narrow);
    return s;
}

static gp_status run_pointers_rows(const struct limit *l, uint64_t value)
{
    size_t room = limit_room(l, value);
    return rows_try(l, value, room, room ? 3000 : 0, room ? 3000 : 0);
}

static gp_status run_pointers_nnz(const struct limit *l, uint64_t value)
{
    return rows_try(l, 500, 500, value, limit_room(l, value));
}

/* An entry per row, of value 1, in column row % 7; x counts. Checked, and then multiplied. */
static gp_status run_matrix_rows(const struct limit *l, uint64_t value)
{
    size_t n = limit_room(l, value), index = gp_dtype_bytes(l->dtype);
    uint64_t *p = limit_positions(n + 1), *c = limit_positions(n);
    float *ones = t_host(n * 4), *y = t_host(n * 4), x[7] = {0, 1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < n; i++) {
        c[i] = i % 7;
        ones[i] = 1;
        y[i] = (float)c[i];
    }
    t_array pointers = limit_array(p, n + 1, index), cols = limit_array(c, n, index);
    t_array v = t_new_from(ones, n * 4, 0), in = t_new_from(x, sizeof x, 0), out = t_new(n * 4, 0);
    gp_status s = gp_check_csr(t_ctx(), l->dtype, l->dtype, value, 7, n, pointers.data, cols.data);
    limit_both(s, gp_spmv(t_ctx(), l->dtype, l->dtype, GP_F32, value, 7, n, pointers.data,
                          cols.data, v.data, NULL, in.data, NULL, out.data));
    limit_output(s, &out, y, n * 4);
    t_free(&pointers), t_free(&cols), t_free(&v), t_free(&in);
    free(p), free(c), free(ones), free(y);
    return s;
}

/* Columns of X and Y, beside each other or (with) behind each other: an entry per row, of value 1,
 * in column row % 7; x counts. */
static gp_status run_spmm_columns(const struct limit *l, uint64_t value)
{
    const size_t rows = 600, k = limit_room(l, value);
    const bool by_rows = !l->with;
    uint64_t *p = limit_positions(rows + 1), *c = limit_positions(rows);
    float *ones = t_host(rows * 4), *x = t_host(7 * k * 4), *y = t_host(rows * k * 4);
    for (size_t i = 0; i < 7 * k; i++)
        x[i] = (float)i;
    for (size_t r = 0; r < rows; r++) {
        c[r] = r % 7;
        ones[r] = 1;
        for (size_t j = 0; j < k; j++)
            y[by_rows ? r * k + j : j * rows + r] = x[by_rows ? c[r] * k + j : j * 7 + c[r]];
    }
    t_array pointers = limit_array(p, rows + 1, 4), cols = limit_array(c, rows, 4);
    t_array v = t_new_from(ones, rows * 4, 0), in = t_new_from(x, 7 * k * 4, 0);
    t_array out = t_new(rows * k * 4, 0);
    gp_spmm_desc d = GP_SPMM_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F32;
    d.layout = by_rows ? GP_LAYOUT_ROWS : GP_LAYOUT_COLUMNS;
    d.columns = (size_t)value;
    gp_status s = gp_spmm(t_ctx(), &d, rows, 7, rows, pointers.data, cols.data, v.data, NULL,
                          in.data, NULL, out.data);
    limit_output(s, &out, y, rows * k * 4);
    t_free(&pointers), t_free(&cols), t_free(&v), t_free(&in);
    free(p), free(c), free(ones), free(x), free(y);
    return s;
}

#endif
