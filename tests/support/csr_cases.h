/* SPDX-License-Identifier: MIT */
/* Matrices and oracles of the csr tests: coordinate lists on the host with 64-bit indices, and the
 * dumbest serial loops over them. */
#ifndef CSR_CASES_H
#define CSR_CASES_H

#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

#include "gp_test.h"

/* Every pair of index and offset dtype that is allowed, by width and by sign. */
static const gp_dtype pairs[][2] = {{GP_U32, GP_U32}, {GP_U32, GP_U64}, {GP_U64, GP_U64},
                                    {GP_I32, GP_I32}, {GP_I32, GP_I64}, {GP_I64, GP_I64},
                                    {GP_I32, GP_U32}, {GP_U64, GP_I64}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

struct coo {
    uint64_t num_rows, num_cols, nnz;
    uint64_t *rows, *cols;
    void *values; /* of dtype; NULL for a pattern */
    gp_dtype dtype;
};

struct csr {
    uint64_t num_rows, num_cols, nnz;
    uint64_t *pointers, *cols;
    void *values;
    gp_dtype dtype;
};

static inline struct coo coo_new(uint64_t num_rows, uint64_t num_cols, uint64_t room,
                                 gp_dtype dtype)
{
    struct coo m = {num_rows, num_cols, 0, NULL, NULL, NULL, dtype};
    m.rows = t_host(room * sizeof *m.rows);
    m.cols = t_host(room * sizeof *m.cols);
    m.values = t_host(room * gp_dtype_bytes(dtype));
    return m;
}

static inline void coo_free(struct coo *m)
{
    free(m->rows);
    free(m->cols);
    free(m->values);
}

static inline void csr_free(struct csr *m)
{
    free(m->pointers);
    free(m->cols);
    free(m->values);
}

static inline void coo_add(struct coo *m, uint64_t row, uint64_t col)
{
    m->rows[m->nnz] = row;
    m->cols[m->nnz++] = col;
}

enum matrix {
    EMPTY,        /* 0 x 0 */
    NO_ENTRIES,   /* rows but no entries */
    IDENTITY,     /* */
    BANDED,       /* five diagonals */
    HEAVY_ROW,    /* one row has half of everything */
    FOURTH_EMPTY, /* every fourth row is empty, the first and the last too */
    SINGLE_ROW,   /* */
    SINGLE_COL,   /* */
    ARROW,        /* first row, first column, diagonal */
    HYPERSPARSE,  /* many more rows than entries */
    DUPLICATES,   /* random places, few of them: runs of all lengths */
    ONE_PLACE,    /* every entry in one place */
    RANDOM,       /* */
    MATRICES,
    MATRIX_RUNS = MATRICES * PAIRS
};

static inline void coo_fill(struct coo *m, enum matrix kind, uint64_t n, uint64_t *seed)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = t_random_below(seed, m->num_rows), c = t_random_below(seed, m->num_cols);
        switch (kind) {
        case IDENTITY:
            coo_add(m, i, i);
            break;
        case BANDED:
            coo_add(m, i / 5, (i / 5 + i % 5) % m->num_cols);
            break;
        case HEAVY_ROW:
            coo_add(m, i % 2 ? 7 % m->num_rows : r, c);
            break;
        case FOURTH_EMPTY:
            coo_add(m, r % 4 == 0 || r == m->num_rows - 1 ? 1 : r, c);
            break;
        case ARROW:
            coo_add(m, i % 3 == 0 ? 0 : i / 3, i % 3 == 1 ? 0 : i / 3);
            break;
        case ONE_PLACE:
            coo_add(m, m->num_rows / 2, m->num_cols / 3);
            break;
        default:
            coo_add(m, r, c);
        }
    }
}

/* A matrix of about n entries, in random order, with random values. */
static inline struct coo coo_make(enum matrix kind, uint64_t n, gp_dtype dtype, uint64_t seed)
{
    uint64_t rows = n / 16 + 2, cols = n / 7 + 3;
    if (kind == EMPTY)
        rows = cols = n = 0;
    if (kind == NO_ENTRIES)
        n = 0;
    if (kind == IDENTITY || kind == BANDED || kind == ARROW)
        rows = cols = n + 1;
    if (kind == SINGLE_ROW)
        rows = 1;
    if (kind == SINGLE_COL)
        cols = 1;
    if (kind == HYPERSPARSE)
        rows = 50 * n + 100000;
    if (kind == DUPLICATES)
        rows = cols = n < 100 ? 2 : 7;
    struct coo m = coo_new(rows, cols, n, dtype);
    coo_fill(&m, kind, n, &seed);
    for (uint64_t i = m.nnz; i > 1; i--) {
        uint64_t j = t_random_below(&seed, i), r = m.rows[j], c = m.cols[j];
        m.rows[j] = m.rows[i - 1];
        m.cols[j] = m.cols[i - 1];
        m.rows[i - 1] = r;
        m.cols[i - 1] = c;
    }
    if (dtype)
        t_fill_random(dtype, m.values, m.nnz, &seed);
    return m;
}

/* ---- oracle of COO to CSR ---- */

static const struct coo *order_of; /* for qsort() */

static inline int order_compare(const void *a, const void *b)
{
    uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    const struct coo *m = order_of;
    if (m->rows[i] != m->rows[j])
        return m->rows[i] < m->rows[j] ? -1 : 1;
    if (m->cols[i] != m->cols[j])
        return m->cols[i] < m->cols[j] ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* The entries in order of row, column, place in the input. */
static inline uint64_t *coo_order(const struct coo *m)
{
    uint64_t *order = t_host(m->nnz * sizeof *order);
    for (uint64_t i = 0; i < m->nnz; i++)
        order[i] = i;
    order_of = m;
    qsort(order, m->nnz, sizeof *order, order_compare);
    return order;
}

/* The entries of m in the order of the result, but for the one at `late`, which comes last. */
static inline void coo_sort(struct coo *m, uint64_t late)
{
    const size_t vb = gp_dtype_bytes(m->dtype);
    uint64_t *order = coo_order(m);
    struct coo sorted = coo_new(m->num_rows, m->num_cols, m->nnz, m->dtype);
    for (uint64_t i = 0; i < m->nnz; i++) {
        const uint64_t from = order[i < late ? i : i + 1 < m->nnz ? i + 1 : late];
        coo_add(&sorted, m->rows[from], m->cols[from]);
        memcpy((char *)sorted.values + i * vb, (char *)m->values + from * vb, vb);
    }
    free(order);
    coo_free(m);
    *m = sorted;
}

/* Rows in order, the first of `first` entries, and columns below num_cols. */
static inline void coo_in_rows(struct coo *m, uint64_t first, uint64_t num_cols)
{
    for (uint64_t i = 0; i < m->nnz; i++) {
        m->rows[i] = i < first ? 0 : i * m->num_rows / m->nnz;
        m->cols[i] %= num_cols;
    }
}

static inline uint64_t int_value(gp_dtype dtype, const void *values, uint64_t i)
{
    switch (dtype) {
    case GP_I8:
        return (uint64_t)((const int8_t *)values)[i];
    case GP_U8:
        return ((const uint8_t *)values)[i];
    case GP_I16:
        return (uint64_t)((const int16_t *)values)[i];
    case GP_U16:
        return ((const uint16_t *)values)[i];
    case GP_I32:
        return (uint64_t)((const int32_t *)values)[i];
    case GP_U32:
        return ((const uint32_t *)values)[i];
    default:
        return ((const uint64_t *)values)[i];
    }
}

static inline bool value_less(const struct coo *m, uint64_t i, uint64_t j)
{
    if (t_is_float(m->dtype)) {
        double a = t_value(m->dtype, m->values, i), b = t_value(m->dtype, m->values, j);
        return a < b || (b != b && a == a);
    }
    uint64_t a = int_value(m->dtype, m->values, i), b = int_value(m->dtype, m->values, j);
    return t_is_signed(m->dtype) ? (int64_t)a < (int64_t)b : a < b;
}

/* Sum of a run in the order that gp_duplicates promises, to element to of out. */
static inline void sum_run(const struct coo *m, const uint64_t *run, uint64_t len, void *out,
                           uint64_t to)
{
    size_t bytes = gp_dtype_bytes(m->dtype);
    uint64_t integer = 0;
    double wide = 0, wide_block = 0;
    float narrow = 0, narrow_block = 0;
    for (uint64_t i = 0; i < len; i++) {
        if (!t_is_float(m->dtype)) {
            integer += int_value(m->dtype, m->values, run[i]);
            continue;
        }
        double v = t_value(m->dtype, m->values, run[i]);
        wide_block = i % 32 ? wide_block + v : v;
        narrow_block = i % 32 ? narrow_block + (float)v : (float)v;
        if (i % 32 == 31 || i == len - 1) {
            wide = i < 32 ? wide_block : wide + wide_block;
            narrow = i < 32 ? narrow_block : narrow + narrow_block;
        }
    }
    if (!t_is_float(m->dtype))
        memcpy((char *)out + to * bytes, &integer, bytes);
    else
        t_set(m->dtype, out, to, m->dtype == GP_F64 ? wide : (double)narrow);
}

static inline void merge_run(const struct coo *m, gp_duplicates policy, const uint64_t *run,
                             uint64_t len, void *out, uint64_t to)
{
    size_t bytes = gp_dtype_bytes(m->dtype);
    uint64_t pick = policy == GP_DUPLICATES_LAST ? run[len - 1] : run[0];
    if (policy == GP_DUPLICATES_SUM && len > 1) {
        sum_run(m, run, len, out, to);
        return;
    }
    for (uint64_t i = 1; i < len; i++)
        if ((policy == GP_DUPLICATES_MIN && value_less(m, run[i], pick)) ||
            (policy == GP_DUPLICATES_MAX && value_less(m, pick, run[i])))
            pick = run[i];
    memcpy((char *)out + to * bytes, (const char *)m->values + pick * bytes, bytes);
}

static inline struct csr oracle_from_coo(const struct coo *m, gp_duplicates policy)
{
    struct csr a = {m->num_rows, m->num_cols, 0, NULL, NULL, NULL, m->dtype};
    uint64_t *order = coo_order(m);
    a.pointers = t_host((m->num_rows + 1) * sizeof *a.pointers);
    a.cols = t_host(m->nnz * sizeof *a.cols);
    a.values = t_host(m->nnz * gp_dtype_bytes(m->dtype));
    memset(a.pointers, 0, (m->num_rows + 1) * sizeof *a.pointers);
    for (uint64_t i = 0, end; i < m->nnz; i = end) {
        uint64_t row = m->rows[order[i]], col = m->cols[order[i]];
        end = i + 1;
        while (policy != GP_DUPLICATES_KEEP && end < m->nnz && m->rows[order[end]] == row &&
               m->cols[order[end]] == col)
            end++;
        if (m->dtype)
            merge_run(m, policy, order + i, end - i, a.values, a.nnz);
        a.pointers[row + 1]++;
        a.cols[a.nnz++] = col;
    }
    for (uint64_t r = 0; r < m->num_rows; r++)
        a.pointers[r + 1] += a.pointers[r];
    free(order);
    return a;
}

/* The coordinate list of the transposed matrix, in the order of the input's entries. */
static inline struct coo oracle_exchange(const struct csr *a)
{
    struct coo m = coo_new(a->num_cols, a->num_rows, a->nnz, a->dtype);
    for (uint64_t r = 0; r < a->num_rows; r++)
        for (uint64_t i = a->pointers[r]; i < a->pointers[r + 1]; i++)
            coo_add(&m, a->cols[i], r);
    memcpy(m.values, a->values, a->nnz * gp_dtype_bytes(a->dtype));
    return m;
}

/* ---- arrays of a chosen index dtype ---- */

static inline size_t bytes_of(gp_dtype dtype, uint64_t n)
{
    return (size_t)n * gp_dtype_bytes(dtype);
}

static inline void *narrowed(const uint64_t *values, uint64_t n, gp_dtype dtype)
{
    size_t bytes = gp_dtype_bytes(dtype);
    char *out = t_host(n * bytes);
    for (uint64_t i = 0; i < n; i++)
        memcpy(out + i * bytes, &values[i], bytes);
    return out;
}

static inline t_array index_array(const uint64_t *values, uint64_t n, gp_dtype dtype, size_t offset)
{
    void *host = narrowed(values, n, dtype);
    t_array a = t_new_from(host, n * gp_dtype_bytes(dtype), offset);
    free(host);
    return a;
}

/* The first n elements are these, as index dtype; the guards are untouched. */
static inline void check_indices(const char *name, const t_array *array, const uint64_t *expected,
                                 uint64_t n, gp_dtype dtype)
{
    void *want = narrowed(expected, n, dtype), *got = t_host(n * gp_dtype_bytes(dtype));
    t_get(array, got, n * gp_dtype_bytes(dtype));
    t_same(name, dtype, want, got, n);
    t_check_guards(array);
    free(want);
    free(got);
}

static inline void check_values(const t_array *array, const struct csr *expected)
{
    size_t bytes = expected->nnz * gp_dtype_bytes(expected->dtype);
    if (!expected->dtype)
        return;
    void *got = t_host(bytes);
    t_get(array, got, bytes);
    t_same("values", expected->dtype, expected->values, got, expected->nnz);
    t_check_guards(array);
    free(got);
}

#endif
