/* SPDX-License-Identifier: MIT */
/* Matrices by rows. */
#include <stdlib.h>
#include <string.h>

#include "calls_matrix.h"
#include "gp_test.h"

static fuzz_array *pointers_out(fuzz *f, const struct matrix *m, size_t rows, fuzz_array *input)
{
    return fuzz_output_beside(f, (rows + 1) * m->offset, m->offset, input);
}

/* Row pointers of the indices that there are. */
static void compare_pointers(const struct matrix *m, const fuzz_array *rows, size_t count,
                             const fuzz_array *out)
{
    uint64_t *before = t_host((count + 2) * sizeof *before), sum = 0;
    memset(before, 0, (count + 2) * sizeof *before);
    for (size_t i = 0; i < m->nnz; i++)
        before[fuzz_index(m->d.index_dtype, rows->before, i) + 1]++;
    for (size_t r = 0; r <= count; r++) {
        sum += before[r];
        FUZZ_CHECK(fuzz_index(m->d.offset_dtype, out->contents, r) == sum, "row pointer %zu", r);
    }
    free(before);
}

static void row_pointers(fuzz *f)
{
    size_t bytes;
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    const bool sorted = fuzz_flip(f), by = f->must || fuzz_flip(f);
    fuzz_array *rows = fuzz_indices(f, m.d.index_dtype, m.nnz, m.rows);
    fuzz_array *out = pointers_out(f, &m, m.rows, rows);
    const gp_dtype index = m.d.index_dtype, offset = m.d.offset_dtype;
    fuzz_rule(f, fuzz_all_below(index, rows, m.nnz, m.rows) &&
                     (!sorted || fuzz_ascends(index, rows, m.nnz, GP_ASCENDING)));
    if (!sorted)
        fuzz_reserve(f,
                     gp_csr_row_pointers_unsorted_workspace_bytes(NULL, index, m.nnz, m.rows,
                                                                  offset, &bytes),
                     &bytes);
    if (by || f->must)
        FUZZ_CALL(f, (sorted ? gp_csr_row_pointers_by : gp_csr_row_pointers_unsorted_by)(
                         f->ctx, &m.d, rows->data, m.nnz, m.rows, out->data));
    else
        FUZZ_CALL(f, (sorted ? gp_csr_row_pointers : gp_csr_row_pointers_unsorted)(
                         f->ctx, index, rows->data, m.nnz, m.rows, offset, out->data));
    compare_pointers(&m, rows, m.rows, out);
}

static gp_coo_desc coo_of(fuzz *f, const struct matrix *m)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    const unsigned known = f->must;
    d.size = fuzz_struct(f, sizeof d);
    d.index_dtype = m->d.index_dtype;
    d.offset_dtype = m->d.offset_dtype;
    d.value_dtype = fuzz_dtype(f, FUZZ_ALL);
    if (!d.value_dtype) /* a pattern */
        f->must = known;
    d.duplicates = GP_DUPLICATES_KEEP;
    return d;
}

/* The entries of a canonical result ascend; there are as many as different places. */
static void compare_places(const struct matrix *m, const fuzz_array *pointers,
                           const fuzz_array *cols, uint64_t nnz, bool strictly)
{
    const gp_dtype index = m->d.index_dtype, offset = m->d.offset_dtype;
    FUZZ_CHECK(fuzz_index(offset, pointers->contents, m->rows) == nnz, "the last row pointer");
    for (size_t r = 0; r < m->rows; r++) {
        const uint64_t end = fuzz_index(offset, pointers->contents, r + 1);
        for (uint64_t i = fuzz_index(offset, pointers->contents, r) + 1; i < end; i++) {
            const uint64_t left = fuzz_index(index, cols->contents, i - 1);
            const uint64_t right = fuzz_index(index, cols->contents, i);
            FUZZ_CHECK(left < right + !strictly && right < m->cols, "column %llu",
                       (unsigned long long)i);
        }
    }
}

static void from_coo(fuzz *f)
{
    size_t bytes;
    uint64_t nnz;
    struct matrix m = matrix_of(f, (gp_dtype)0);
    gp_coo_desc d = coo_of(f, &m);
    d.duplicates =
        (gp_duplicates)fuzz_enum(f, GP_DUPLICATES_SUM, GP_DUPLICATES_ERROR, GP_ERROR_ARGUMENT);
    const gp_dtype index = m.d.index_dtype;
    const size_t value = bytes_or_one(d.value_dtype), room = fuzz_product(m.nnz, m.index);
    fuzz_array *rows = fuzz_indices(f, index, m.nnz, m.rows);
    fuzz_array *cols = fuzz_indices(f, index, m.nnz, m.cols);
    fuzz_array *values = d.value_dtype ? fuzz_input(f, d.value_dtype, m.nnz) : fuzz_none(f);
    fuzz_array *pointers = pointers_out(f, &m, m.rows, rows);
    fuzz_array *out_cols = fuzz_output_beside(f, room, m.index, cols);
    fuzz_array *out_values =
        d.value_dtype ? fuzz_output(f, fuzz_product(m.nnz, value), value) : fuzz_none(f);
    fuzz_array *count = fuzz_output(f, 8, 8);
    if (m.d.size != sizeof m.d || m.d.hot_columns) /* they are not passed */
        return;
    fuzz_rule(f, fuzz_all_below(index, rows, m.nnz, m.rows) &&
                     fuzz_all_below(index, cols, m.nnz, m.cols));
    f->sticky |= d.duplicates == GP_DUPLICATES_ERROR ? FUZZ_BIT(GP_ERROR_DATA) : 0;
    fuzz_reserve(f, gp_csr_from_coo_workspace_bytes(NULL, &d, m.rows, m.cols, m.nnz, &bytes),
                 &bytes);
    FUZZ_CALL(f, gp_csr_from_coo(f->ctx, &d, m.rows, m.cols, rows->data, cols->data, values->data,
                                 m.nnz, pointers->data, out_cols->data, out_values->data,
                                 count->data));
    memcpy(&nnz, count->contents, 8);
    FUZZ_CHECK(nnz <= m.nnz, "too many entries");
    compare_places(&m, pointers, out_cols, nnz, d.duplicates != GP_DUPLICATES_KEEP);
    if (d.duplicates == GP_DUPLICATES_KEEP)
        compare_pointers(&m, rows, m.rows, pointers);
}

static void to_coo(fuzz *f)
{
    size_t bytes;
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    const gp_dtype index = m.d.index_dtype, offset = m.d.offset_dtype;
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(m.nnz, m.index), m.index, pointers);
    fuzz_rule(f, pointers_good(&m, pointers));
    fuzz_reserve(f, gp_csr_to_coo_workspace_bytes(NULL, offset, m.rows, m.nnz, index, &bytes),
                 &bytes);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_csr_to_coo_by(f->ctx, &m.d, pointers->data, m.rows, m.nnz, out->data));
    else
        FUZZ_CALL(f,
                  gp_csr_to_coo(f->ctx, offset, pointers->data, m.rows, m.nnz, index, out->data));
    for (size_t r = 0; r < m.rows; r++)
        for (uint64_t i = fuzz_index(offset, pointers->before, r);
             i < fuzz_index(offset, pointers->before, r + 1); i++)
            FUZZ_CHECK(fuzz_index(index, out->contents, i) == r, "the row of entry %llu",
                       (unsigned long long)i);
}

static void transpose(fuzz *f)
{
    size_t bytes;
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    const gp_coo_desc d = coo_of(f, &m);
    const size_t value = bytes_or_one(d.value_dtype);
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, m.d.index_dtype, m.nnz, m.cols);
    fuzz_array *values = d.value_dtype ? fuzz_input(f, d.value_dtype, m.nnz) : fuzz_none(f);
    fuzz_array *out_pointers = pointers_out(f, &m, m.cols, cols);
    fuzz_array *out_cols = fuzz_output_beside(f, fuzz_product(m.nnz, m.index), m.index, cols);
    fuzz_array *out_values =
        d.value_dtype ? fuzz_output(f, fuzz_product(m.nnz, value), value) : fuzz_none(f);
    if (m.d.size != sizeof m.d || m.d.hot_columns)
        return;
    fuzz_rule(f,
              pointers_good(&m, pointers) && fuzz_all_below(m.d.index_dtype, cols, m.nnz, m.cols));
    fuzz_reserve(f, gp_csr_transpose_workspace_bytes(NULL, &d, m.rows, m.cols, m.nnz, &bytes),
                 &bytes);
    FUZZ_CALL(f,
              gp_csr_transpose(f->ctx, &d, m.rows, m.cols, m.nnz, pointers->data, cols->data,
                               values->data, out_pointers->data, out_cols->data, out_values->data));
    compare_pointers(&m, cols, m.cols, out_pointers);
}

static void filter(fuzz *f)
{
    size_t bytes;
    uint64_t low = 0, high = 0, nnz;
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.index_dtype = m.d.index_dtype, d.offset_dtype = m.d.offset_dtype;
    d.value_dtype = GP_I32;
    d.entries = (gp_entries)(GP_ENTRIES_COMPARED + fuzz_below(f, 5));
    low = fuzz_below(f, 1 << 30), high = fuzz_below(f, 1 << 30);
    if (d.entries == GP_ENTRIES_COMPARED) {
        d.compare = (gp_compare)(GP_EQ + fuzz_below(f, 8));
        d.value = &low;
        d.upper = d.compare >= GP_BETWEEN ? &high : NULL;
    } else {
        d.diagonal = (int64_t)fuzz_below(f, 64) - 32;
    }
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, m.d.index_dtype, m.nnz, m.cols);
    fuzz_array *values = fuzz_input(f, GP_I32, m.nnz);
    fuzz_array *out_pointers = pointers_out(f, &m, m.rows, pointers);
    fuzz_array *out_cols = fuzz_output_beside(f, fuzz_product(m.nnz, m.index), m.index, cols);
    fuzz_array *out_values = fuzz_output(f, fuzz_product(m.nnz, 4), 4);
    fuzz_array *count = fuzz_output(f, 8, 8);
    if (m.d.size != sizeof m.d || m.d.hot_columns)
        return;
    fuzz_rule(f,
              pointers_good(&m, pointers) && fuzz_all_below(m.d.index_dtype, cols, m.nnz, m.cols));
    fuzz_reserve(f, gp_csr_filter_workspace_bytes(NULL, &d, m.rows, m.cols, m.nnz, &bytes), &bytes);
    FUZZ_CALL(f, gp_csr_filter(f->ctx, &d, m.rows, m.cols, m.nnz, pointers->data, cols->data,
                               values->data, out_pointers->data, out_cols->data, out_values->data,
                               count->data));
    memcpy(&nnz, count->contents, 8);
    FUZZ_CHECK(nnz <= m.nnz, "too many entries");
    FUZZ_CHECK(fuzz_index(m.d.offset_dtype, out_pointers->contents, m.rows) == nnz,
               "the last row pointer");
}

static void sort_columns(fuzz *f)
{
    size_t bytes;
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    const gp_coo_desc d = coo_of(f, &m);
    const size_t value = bytes_or_one(d.value_dtype), room = fuzz_product(m.nnz, m.index);
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, m.d.index_dtype, m.nnz, m.cols);
    fuzz_array *values = d.value_dtype ? fuzz_input(f, d.value_dtype, m.nnz) : fuzz_none(f);
    fuzz_array *out_cols = fuzz_output_beside(f, room, m.index, cols);
    fuzz_array *out_values =
        d.value_dtype ? fuzz_output(f, fuzz_product(m.nnz, value), value) : fuzz_none(f);
    if (m.d.size != sizeof m.d || m.d.hot_columns)
        return;
    fuzz_rule(f,
              pointers_good(&m, pointers) && fuzz_all_below(m.d.index_dtype, cols, m.nnz, m.cols));
    fuzz_reserve(f, gp_csr_sort_columns_workspace_bytes(NULL, &d, m.rows, m.cols, m.nnz, &bytes),
                 &bytes);
    FUZZ_CALL(f, gp_csr_sort_columns(f->ctx, &d, m.rows, m.cols, m.nnz, pointers->data, cols->data,
                                     values->data, out_cols->data, out_values->data));
    compare_places(&m, pointers, out_cols, m.nnz, false);
}

/* Whether nothing is wrong with what calls of lists do not take. */
static bool plain(const struct matrix *m)
{
    return m->d.size == sizeof m->d && !m->d.hot_columns && m->offset >= m->index &&
           (FUZZ_INDICES >> (unsigned)m->d.offset_dtype & 1);
}

static void filter_list(fuzz *f)
{
    size_t bytes;
    uint64_t low = 0, high = 0, nnz, expected = 0;
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    const gp_dtype index = m.d.index_dtype;
    const size_t room = fuzz_product(m.nnz, m.index);
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.index_dtype = index;
    d.value_dtype = GP_U32;
    d.entries = fuzz_flip(f) ? GP_ENTRIES_COMPARED : GP_ENTRIES_LOWER;
    low = fuzz_below(f, 1 << 30), high = fuzz_below(f, 1 << 30);
    if (d.entries == GP_ENTRIES_COMPARED)
        d.compare = GP_BETWEEN, d.value = &low, d.upper = &high;
    fuzz_array *rows = fuzz_indices(f, index, m.nnz, m.rows);
    fuzz_array *cols = fuzz_indices(f, index, m.nnz, m.cols);
    fuzz_array *values = fuzz_input(f, GP_U32, m.nnz);
    fuzz_array *out_rows = fuzz_output_beside(f, room, m.index, rows);
    fuzz_array *out_cols = fuzz_output_beside(f, room, m.index, cols);
    fuzz_array *out_values = fuzz_output(f, fuzz_product(m.nnz, 4), 4);
    fuzz_array *count = fuzz_output(f, 8, 8);
    if (!plain(&m))
        return;
    fuzz_rule(f, fuzz_all_below(index, rows, m.nnz, m.rows) &&
                     fuzz_all_below(index, cols, m.nnz, m.cols));
    fuzz_reserve(f, gp_coo_filter_workspace_bytes(NULL, &d, m.rows, m.cols, m.nnz, &bytes), &bytes);
    FUZZ_CALL(f,
              gp_coo_filter(f->ctx, &d, m.rows, m.cols, rows->data, cols->data, values->data, m.nnz,
                            out_rows->data, out_cols->data, out_values->data, count->data));
    memcpy(&nnz, count->contents, 8);
    for (size_t i = 0; i < m.nnz; i++) {
        const uint64_t v = fuzz_index(GP_U32, values->before, i);
        expected += d.entries == GP_ENTRIES_COMPARED
                        ? v >= low && v <= high
                        : fuzz_index(index, cols->before, i) <= fuzz_index(index, rows->before, i);
    }
    FUZZ_CHECK(nnz == expected, "number of entries");
}

static void check_coo(fuzz *f)
{
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    const gp_dtype index = m.d.index_dtype;
    const gp_coo_order order = (gp_coo_order)(fuzz_flip(f) ? GP_COO_ANY : GP_COO_ROWS);
    fuzz_array *rows = fuzz_indices(f, index, m.nnz, m.rows);
    fuzz_array *cols = fuzz_indices(f, index, m.nnz, m.cols);
    if (!plain(&m))
        return;
    if (!f->must)
        fuzz_strict_rule(
            f, fuzz_all_below(index, rows, m.nnz, m.rows) &&
                   fuzz_all_below(index, cols, m.nnz, m.cols) &&
                   (order == GP_COO_ANY || fuzz_ascends(index, rows, m.nnz, GP_ASCENDING)));
    FUZZ_CALL(f, gp_check_coo(f->ctx, index, m.rows, m.cols, rows->data, cols->data, m.nnz, order));
}

/* Strictly ascending columns in good rows. */
static bool canonical(const struct matrix *m, const fuzz_array *pointers, const fuzz_array *cols)
{
    const gp_dtype index = m->d.index_dtype, offset = m->d.offset_dtype;
    if (!pointers_good(m, pointers) || !fuzz_all_below(index, cols, m->nnz, m->cols))
        return false;
    for (size_t r = 0; r < m->rows; r++)
        for (uint64_t i = fuzz_index(offset, pointers->contents, r) + 1;
             i < fuzz_index(offset, pointers->contents, r + 1); i++)
            if (fuzz_index(index, cols->contents, i - 1) >= fuzz_index(index, cols->contents, i))
                return false;
    return true;
}

static void check_csr(fuzz *f)
{
    const struct matrix m = matrix_of(f, (gp_dtype)0);
    fuzz_array *pointers = pointers_of(f, &m);
    fuzz_array *cols = fuzz_indices(f, m.d.index_dtype, m.nnz, m.cols);
    if (!f->must)
        fuzz_strict_rule(f, canonical(&m, pointers, cols));
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f,
                  gp_check_csr_by(f->ctx, &m.d, m.rows, m.cols, m.nnz, pointers->data, cols->data));
    else
        FUZZ_CALL(f, gp_check_csr(f->ctx, m.d.index_dtype, m.d.offset_dtype, m.rows, m.cols, m.nnz,
                                  pointers->data, cols->data));
}

fuzz_call *const fuzz_sparse[] = {row_pointers, from_coo,     to_coo,      transpose, filter,
                                  check_csr,    sort_columns, filter_list, check_coo, NULL};
