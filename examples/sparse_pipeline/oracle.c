/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUM_BLOCK = 32, ITERATIONS_MAX = 1000 };

void csr_free(struct csr *a)
{
    free(a->row_pointers);
    free(a->cols);
    free(a->values);
    memset(a, 0, sizeof *a);
}

/* Order entries by key, which is below num_keys; equal keys keep their order. */
static bool sort_by(const uint32_t *key, uint32_t num_keys, const struct coo *from, struct coo *to)
{
    size_t *next = calloc((size_t)num_keys + 1, sizeof *next);
    if (!next)
        return false;
    for (size_t k = 0; k < from->nnz; k++)
        next[key[k] + 1]++;
    for (uint32_t i = 0; i < num_keys; i++)
        next[i + 1] += next[i];
    for (size_t k = 0; k < from->nnz; k++) {
        size_t place = next[key[k]]++;
        to->rows[place] = from->rows[k];
        to->cols[place] = from->cols[k];
        to->values[place] = from->values[k];
    }
    free(next);
    return true;
}

bool oracle_sort(const struct coo *m, struct coo *sorted)
{
    struct coo by_col;
    if (!coo_allocate(&by_col, m->num_rows, m->num_cols, m->nnz))
        return false;
    if (!coo_allocate(sorted, m->num_rows, m->num_cols, m->nnz)) {
        coo_free(&by_col);
        return false;
    }
    bool good = sort_by(m->cols, m->num_cols, m, &by_col) &&
                sort_by(by_col.rows, m->num_rows, &by_col, sorted);
    coo_free(&by_col);
    if (!good)
        coo_free(sorted);
    return good;
}

/* values[first] + .. + values[end - 1] in blocks. */
static double block_sum(const double *values, size_t first, size_t end)
{
    double sum = 0.0;
    for (size_t block = first; block < end; block += SUM_BLOCK) {
        double part = values[block];
        for (size_t k = block + 1; k < end && k < block + SUM_BLOCK; k++)
            part += values[k];
        sum = block == first ? part : sum + part;
    }
    return sum;
}

static void merge(const struct coo *sorted, struct csr *a)
{
    size_t k = 0;
    while (k < sorted->nnz) {
        size_t end = k + 1;
        while (end < sorted->nnz && sorted->rows[end] == sorted->rows[k] &&
               sorted->cols[end] == sorted->cols[k])
            end++;
        a->row_pointers[sorted->rows[k] + 1]++;
        a->cols[a->nnz] = sorted->cols[k];
        a->values[a->nnz++] = block_sum(sorted->values, k, end);
        k = end;
    }
    for (uint32_t r = 0; r < a->num_rows; r++)
        a->row_pointers[r + 1] += a->row_pointers[r];
}

static bool allocate(struct csr *a, uint32_t num_rows, uint32_t num_cols, size_t nnz)
{
    const size_t room = nnz ? nnz : 1;
    *a = (struct csr){.num_rows = num_rows, .num_cols = num_cols};
    a->row_pointers = calloc((size_t)num_rows + 1, sizeof *a->row_pointers);
    a->cols = malloc(room * sizeof *a->cols);
    a->values = malloc(room * sizeof *a->values);
    if (a->row_pointers && a->cols && a->values)
        return true;
    csr_free(a);
    return false;
}

bool oracle_merge(const struct coo *sorted, struct csr *a)
{
    if (!allocate(a, sorted->num_rows, sorted->num_cols, sorted->nnz))
        return false;
    merge(sorted, a);
    return true;
}

/* Row pointers begin where rows do, and are moved while entries come. */
bool oracle_transpose(const struct csr *a, struct csr *t)
{
    if (!allocate(t, a->num_cols, a->num_rows, a->nnz))
        return false;
    uint32_t *next = t->row_pointers, sum = 0;
    for (size_t k = 0; k < a->nnz; k++)
        next[a->cols[k]]++;
    for (uint32_t c = 0; c <= a->num_cols; c++) {
        const uint32_t entries = next[c];
        next[c] = sum;
        sum += entries;
    }
    for (uint32_t r = 0; r < a->num_rows; r++)
        for (uint32_t k = a->row_pointers[r]; k < a->row_pointers[r + 1]; k++) {
            const uint32_t place = next[a->cols[k]]++;
            t->cols[place] = r;
            t->values[place] = a->values[k] < 0.0 ? -a->values[k] : a->values[k];
        }
    for (uint32_t c = a->num_cols; c > 0; c--)
        next[c] = next[c - 1];
    next[0] = 0;
    t->nnz = a->nnz;
    return true;
}

bool oracle_degrees(const struct csr *a, struct oracle_degrees *d)
{
    *d = (struct oracle_degrees){.degree = malloc((size_t)a->num_rows * 4 + 1)};
    if (!d->degree)
        return false;
    d->first_with_most = UINT32_MAX;
    for (uint32_t r = 0; r < a->num_rows; r++) {
        const uint32_t degree = a->row_pointers[r + 1] - a->row_pointers[r];
        int bin = 0;
        while (bin < 32 && degree >> bin)
            bin++;
        d->degree[r] = degree;
        d->bins[bin]++;
        if (r == 0 || degree > d->most) {
            d->most = degree;
            d->first_with_most = r;
        }
    }
    return true;
}

void oracle_spmv(const struct csr *a, const double *x, double *y, double *size)
{
    for (uint32_t r = 0; r < a->num_rows; r++) {
        y[r] = size[r] = 0.0;
        for (uint32_t k = a->row_pointers[r]; k < a->row_pointers[r + 1]; k++) {
            y[r] += a->values[k] * x[a->cols[k]];
            size[r] += fabs(a->values[k] * x[a->cols[k]]);
        }
    }
}

bool oracle_scale_columns(const struct csr *a, double *values)
{
    double *column = calloc((size_t)a->num_cols + 1, sizeof *column);
    if (!column)
        return false;
    for (size_t k = 0; k < a->nnz; k++)
        column[a->cols[k]] += fabs(a->values[k]);
    for (size_t k = 0; k < a->nnz; k++) {
        const double sum = column[a->cols[k]];
        values[k] = sum > 0.0 ? fabs(a->values[k]) / sum : 0.0;
    }
    free(column);
    return true;
}

/* One step of the power iteration; returns how much the ranks changed in all. */
static double step(const struct csr *p, double damping, const char *has_entries, double *rank,
                   double *next, double *size)
{
    double lost = 0.0, change = 0.0, n = p->num_rows;
    for (uint32_t c = 0; c < p->num_cols; c++)
        lost += has_entries[c] ? 0.0 : rank[c];
    oracle_spmv(p, rank, next, size);
    for (uint32_t r = 0; r < p->num_rows; r++) {
        next[r] = damping * (next[r] + lost / n) + (1.0 - damping) / n;
        change += fabs(next[r] - rank[r]);
    }
    memcpy(rank, next, p->num_rows * sizeof *rank);
    return change;
}

bool oracle_pagerank(const struct csr *p, double damping, double tolerance, double *rank,
                     int *iterations, coo_progress *progress, void *arg)
{
    size_t n = p->num_rows;
    double *next = malloc(n * sizeof *next + 1), *size = malloc(n * sizeof *size + 1), change = 1.0;
    char *has_entries = calloc(n + 1, 1);
    bool good = next && size && has_entries;
    for (size_t k = 0; good && k < p->nnz; k++)
        if (p->values[k] != 0.0)
            has_entries[p->cols[k]] = 1;
    for (size_t i = 0; good && i < n; i++)
        rank[i] = 1.0 / (double)n;
    *iterations = 0;
    while (good && n && change >= tolerance && *iterations < ITERATIONS_MAX) {
        change = step(p, damping, has_entries, rank, next, size);
        ++*iterations;
        if (progress)
            progress(arg, change < 1.0 ? -log(change) : 0.0, -log(tolerance));
    }
    free(next);
    free(size);
    free(has_entries);
    return good;
}
