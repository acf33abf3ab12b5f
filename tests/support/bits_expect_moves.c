/* SPDX-License-Identifier: MIT */
/* What the calls of test_backends.c that move, count or multiply give. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "oracle.h"

/* ---- moved, counted -------------------------------------------------------------------------- */

/* By the rows: indices below BITS_SIDE, or below n. */
void bits_gather(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = t_host(d->n * sizeof *index);
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        index[i] = d->rows[i] < d->n ? d->rows[i] : 0;
    bits_put_picked(d->in, d->item, index, d->n, out);
    free(index);
}

void bits_scatter(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = t_host(d->n * sizeof *index);
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        index[i] = d->n - 1 - i;
    bits_put_picked(d->in, d->item, index, d->n, out);
    free(index);
}

void bits_intervals(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    for (size_t s = d->segments; s-- > 0;)
        bits_put(out, d->in + d->offsets[s] * d->item,
                 (d->offsets[s + 1] - d->offsets[s]) * d->item);
}

void bits_fill(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        bits_put(out, d->init, d->item);
}

void bits_sequence(gp_dtype dtype, void *first, void *step)
{
    t_set(dtype, first, 0, t_is_float(dtype) ? -1.5 : 100);
    t_set(dtype, step, 0, t_is_float(dtype) ? 0.375 : 7);
}

void bits_iota(const struct bits_input *d, int which, struct bits_output *out)
{
    uint64_t first = 0, step = 0;
    (void)which;
    bits_sequence(d->dtype, &first, &step);
    for (uint64_t i = 0, x = first; i < d->n; i++, x += step) {
        uint64_t item = x;
        if (t_is_float(d->dtype))
            t_set(d->dtype, &item, 0, -1.5 + 0.375 * (double)i);
        bits_put(out, &item, d->item);
    }
}

void bits_expand(const struct bits_input *d, int which, struct bits_output *out)
{
    uint64_t total = 0;
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        total += d->counts[i];
    size_t *index = t_host(total * sizeof *index);
    for (size_t i = 0, to = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->counts[i]; k++)
            index[to++] = i;
    bits_put_picked(d->in, d->item, index, total, out);
    bits_put_count(out, total);
    free(index);
}

void bits_histogram_even(const struct bits_input *d, int which, struct bits_output *out)
{
    gp_dtype limit = d->dtype == GP_F16 || d->dtype == GP_BF16 ? GP_F32 : d->dtype;
    uint32_t counts[BITS_BINS] = {0};
    char lo[8], hi[8];
    (void)which;
    bits_limits(d->dtype, lo, hi);
    double from = t_value(limit, lo, 0), to = t_value(limit, hi, 0);
    double scale = BITS_BINS / (to - from);
    for (size_t i = 0; i < d->n; i++) {
        double x = t_value(d->dtype, d->in, i); /* of integers exact, where it matters */
        if (!(from <= x && x < to))
            continue;
        int bin = t_is_float(d->dtype) ? (int)((x - from) * scale)
                                       : ((int)x - (int)from) * BITS_BINS / ((int)to - (int)from);
        counts[bin < BITS_BINS ? bin : BITS_BINS - 1]++;
    }
    bits_put(out, counts, sizeof counts);
}

void bits_histogram_edges(const struct bits_input *d, int which, struct bits_output *out)
{
    uint32_t counts[BITS_EDGES - 1] = {0};
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        for (size_t b = 0; b < BITS_EDGES - 1; b++) {
            const char *x = d->in + i * d->item, *edge = d->edges + b * d->item;
            if (bits_order(d->dtype, edge, x) <= 0 && bits_order(d->dtype, x, edge + d->item) < 0)
                counts[b]++;
        }
    bits_put(out, counts, sizeof counts);
}

void bits_bincount(const struct bits_input *d, int which, struct bits_output *out)
{
    uint32_t counts[BITS_BINS] = {0};
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        for (int v = 0; v < BITS_BINS; v++)
            counts[v] += t_value(d->dtype, d->in, i) == v;
    bits_put(out, counts, sizeof counts);
}

/* ---- sparse matrices ------------------------------------------------------------------------- */

/* The entries of one place, in their order, as duplicates says; returns how many are left. */
static uint32_t put_place(const struct bits_input *d, uint32_t row, uint32_t col, int duplicates,
                          struct bits_output *cols, struct bits_output *values)
{
    char value[8];
    uint32_t count = 0;
    for (size_t i = 0; i < d->n; i++) {
        const char *item = d->in + i * d->item;
        if (d->rows[i] != row || d->cols[i] != col)
            continue;
        bool first = count == 0, keep = duplicates == GP_DUPLICATES_KEEP;
        if (first || keep || duplicates == GP_DUPLICATES_LAST)
            memcpy(value, item, d->item);
        else if (duplicates != GP_DUPLICATES_FIRST)
            bits_fold(d->dtype,
                      duplicates == GP_DUPLICATES_MIN   ? GP_MIN
                      : duplicates == GP_DUPLICATES_MAX ? GP_MAX
                                                        : GP_SUM,
                      value, item);
        if (first || keep)
            bits_put(cols, &col, sizeof col);
        if (keep)
            bits_put(values, value, d->item);
        count += first || keep;
    }
    if (count && duplicates != GP_DUPLICATES_KEEP)
        bits_put(values, value, d->item);
    return count;
}

static void put_matrix(const struct bits_output *pointers, struct bits_output *cols,
                       struct bits_output *values, struct bits_output *out)
{
    bits_put(out, pointers->bytes, pointers->size);
    bits_put(out, cols->bytes, cols->size);
    bits_put(out, values->bytes, values->size);
    free(pointers->bytes);
    free(cols->bytes);
    free(values->bytes);
}

/* exchanged: rows and columns. */
static void convert(const struct bits_input *d, int duplicates, bool exchanged,
                    struct bits_output *out)
{
    struct bits_output pointers = {NULL, 0, 0}, cols = {NULL, 0, 0}, values = {NULL, 0, 0};
    struct bits_input turned = *d;
    uint32_t nnz = 0;
    if (exchanged) {
        turned.rows = d->cols;
        turned.cols = d->rows;
    }
    bits_put(&pointers, &nnz, sizeof nnz);
    for (uint32_t r = 0; r < BITS_SIDE; r++) {
        for (uint32_t c = 0; c < BITS_SIDE; c++)
            nnz += put_place(&turned, r, c, duplicates, &cols, &values);
        bits_put(&pointers, &nnz, sizeof nnz);
    }
    put_matrix(&pointers, &cols, &values, out);
}

void bits_from_coo(const struct bits_input *d, int which, struct bits_output *out)
{
    convert(d, which, false, out);
}

void bits_transpose(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    convert(d, GP_DUPLICATES_KEEP, true, out);
}

/* By the main diagonal. */
static bool is_kept(int entries, uint32_t row, uint32_t col)
{
    return entries == GP_ENTRIES_LOWER      ? col <= row
           : entries == GP_ENTRIES_UPPER    ? col >= row
           : entries == GP_ENTRIES_DIAGONAL ? col == row
                                            : col != row;
}

/* which: a gp_entries. */
void bits_csr_filter(const struct bits_input *d, int which, struct bits_output *out)
{
    struct bits_output pointers = {NULL, 0, 0}, cols = {NULL, 0, 0}, values = {NULL, 0, 0};
    uint32_t nnz = 0;
    bits_put(&pointers, &nnz, sizeof nnz);
    for (uint32_t r = 0; r < BITS_SIDE; r++) {
        for (size_t i = 0; i < d->n; i++) {
            const uint32_t c = d->cols[i];
            if (d->rows[i] != r || !is_kept(which, r, c))
                continue;
            bits_put(&cols, &c, sizeof c);
            bits_put(&values, d->in + i * d->item, d->item);
            nnz++;
        }
        bits_put(&pointers, &nnz, sizeof nnz);
    }
    put_matrix(&pointers, &cols, &values, out);
}

void bits_coo_filter(const struct bits_input *d, int which, struct bits_output *out)
{
    struct bits_output rows = {NULL, 0, 0}, cols = {NULL, 0, 0}, values = {NULL, 0, 0};
    for (size_t i = 0; i < d->n; i++) {
        if (!is_kept(which, d->rows[i], d->cols[i]))
            continue;
        bits_put(&rows, &d->rows[i], sizeof d->rows[i]);
        bits_put(&cols, &d->cols[i], sizeof d->cols[i]);
        bits_put(&values, d->in + i * d->item, d->item);
    }
    put_matrix(&rows, &cols, &values, out);
}

/* As the conversion, without row pointers. */
void bits_sort_columns(const struct bits_input *d, int which, struct bits_output *out)
{
    struct bits_output values = {NULL, 0, 0};
    (void)which;
    for (uint32_t r = 0; r < BITS_SIDE; r++)
        for (uint32_t c = 0; c < BITS_SIDE; c++)
            put_place(d, r, c, GP_DUPLICATES_KEEP, out, &values);
    bits_put(out, values.bytes, values.size);
    free(values.bytes);
}

/* Segments are rows; whole numbers, so that every order of adding is exact. */
void bits_spmv(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    for (size_t r = 0; r < d->segments; r++) {
        char y[8];
        double sum = 0;
        for (size_t i = d->offsets[r]; i < d->offsets[r + 1]; i++)
            sum +=
                t_value(d->dtype, d->small, i) * t_value(d->dtype, d->indices, d->cols[i] % d->n);
        t_set(d->dtype, y, 0, sum);
        bits_put(out, y, d->item);
    }
}
