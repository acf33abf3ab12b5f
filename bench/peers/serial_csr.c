/* SPDX-License-Identifier: MIT */
/* Sparse matrices by plain loops of one thread. */
#include "../bench.h"

#include <string.h>

static int row_pointers(struct bench *b, const struct bench_args *a)
{
    const uint32_t *rows = a->rows;
    uint32_t *offsets = a->out_offsets;
    size_t row = 0;
    (void)b;
    for (size_t i = 0; i < a->n; i++)
        while (row <= rows[i])
            offsets[row++] = (uint32_t)i;
    while (row <= a->num_rows)
        offsets[row++] = (uint32_t)a->n;
    return BENCH_OK;
}

/* offsets[k + 1] = how many keys are at most k, with offsets[0] = 0. */
static void count_keys(const uint32_t *keys, size_t n, size_t num_keys, uint32_t *offsets)
{
    memset(offsets, 0, (num_keys + 1) * sizeof *offsets);
    for (size_t i = 0; i < n; i++)
        offsets[keys[i] + 1]++;
    for (size_t k = 0; k < num_keys; k++)
        offsets[k + 1] += offsets[k];
}

/* Filling moved every start to the next one: move them back. */
static void restore_offsets(uint32_t *offsets, size_t num_keys)
{
    memmove(offsets + 1, offsets, num_keys * sizeof *offsets);
    offsets[0] = 0;
}

static int transpose(struct bench *b, const struct bench_args *a)
{
    const uint32_t *offsets = a->offsets, *cols = a->cols;
    const float *values = a->values;
    uint32_t *out_offsets = a->out_offsets, *out_rows = a->out;
    float *out_values = a->out_values;
    (void)b;
    count_keys(cols, a->n, a->num_cols, out_offsets);
    for (size_t r = 0; r < a->num_rows; r++)
        for (size_t k = offsets[r]; k < offsets[r + 1]; k++) {
            uint32_t place = out_offsets[cols[k]]++;
            out_rows[place] = (uint32_t)r;
            memcpy(out_values + place, values + k, sizeof *values); /* any bits, unchanged */
        }
    restore_offsets(out_offsets, a->num_cols);
    return BENCH_OK;
}

/* Insertion sort of one row by column: rows are short. */
static void sort_row(uint32_t *cols, float *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t col = cols[i];
        float value = values[i];
        size_t k = i;
        for (; k > 0 && cols[k - 1] > col; k--) {
            cols[k] = cols[k - 1];
            values[k] = values[k - 1];
        }
        cols[k] = col;
        values[k] = value;
    }
}

/* Add up equal columns of a sorted row into out; returns the entries written. */
static size_t merge_row(const uint32_t *cols, const float *values, size_t n, uint32_t *out_cols,
                        float *out_values)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (count > 0 && out_cols[count - 1] == cols[i]) {
            out_values[count - 1] += values[i];
        } else {
            out_cols[count] = cols[i];
            out_values[count++] = values[i];
        }
    return count;
}

static int from_coo(struct bench *b, const struct bench_args *a)
{
    const uint32_t *rows = a->rows, *cols = a->cols;
    const float *values = a->values;
    uint32_t *offsets = a->out_offsets, *by_row = bench_temp(b, a->n * 8);
    float *by_row_values = (float *)(by_row + a->n);
    size_t written = 0, begin = 0;
    count_keys(rows, a->n, a->num_rows, offsets);
    for (size_t i = 0; i < a->n; i++) {
        uint32_t place = offsets[rows[i]]++;
        by_row[place] = cols[i];
        by_row_values[place] = values[i];
    }
    for (size_t r = 0; r < a->num_rows; r++) {
        size_t end = offsets[r]; /* where the filling of the row stopped */
        sort_row(by_row + begin, by_row_values + begin, end - begin);
        offsets[r] = (uint32_t)written;
        written += merge_row(by_row + begin, by_row_values + begin, end - begin,
                             (uint32_t *)a->out + written, (float *)a->out_values + written);
        begin = end;
    }
    offsets[a->num_rows] = (uint32_t)written;
    *a->count = written;
    return BENCH_OK;
}

#define SPMV(name, type)                                                                           \
    static int name(struct bench *b, const struct bench_args *a)                                   \
    {                                                                                              \
        const uint32_t *offsets = a->offsets, *cols = a->cols;                                     \
        const type *values = (const type *)a->values, *x = (const type *)a->x;                     \
        type *y = (type *)a->out;                                                                  \
        (void)b;                                                                                   \
        for (size_t r = 0; r < a->num_rows; r++) {                                                 \
            type sum = 0;                                                                          \
            for (size_t k = offsets[r]; k < offsets[r + 1]; k++)                                   \
                sum += values[k] * x[cols[k]];                                                     \
            y[r] = sum;                                                                            \
        }                                                                                          \
        return BENCH_OK;                                                                           \
    }

SPMV(spmv_f32, float)
SPMV(spmv_f64, double)

const struct bench_peer bench_serial_csr_peers[] = {
    {"serial", "csr", "row_pointers", GP_U32, NULL, row_pointers, false},
    {"serial", "csr", "row_pointers_powerlaw", GP_U32, NULL, row_pointers, false},
    {"serial", "csr", "coo_to_csr", GP_F32, NULL, from_coo, false},
    {"serial", "csr", "transpose", GP_F32, NULL, transpose, false},
    {"serial", "csr", "spmv_even", GP_F32, NULL, spmv_f32, false},
    {"serial", "csr", "spmv_even", GP_F64, NULL, spmv_f64, false},
    {"serial", "csr", "spmv_powerlaw", GP_F32, NULL, spmv_f32, false},
    {"serial", "csr", "spmv_powerlaw", GP_F64, NULL, spmv_f64, false},
    {"serial", "spmv", NULL, GP_F32, NULL, spmv_f32, false},
    {"serial", "spmv", NULL, GP_F64, NULL, spmv_f64, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false},
};
