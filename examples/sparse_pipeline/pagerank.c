/* SPDX-License-Identifier: MIT */
/*
 * PageRank on the device: P is |A| with each column scaled to sum 1 (an entry (i, j) is a link from
 * j to i), v = (1 - damping) / n, and
 *
 *     rank = v
 *     repeat  next = damping P rank + v  until  sum(next) - sum(rank) < tolerance sum(next)
 *
 * Without the rank that columns without entries lose, the ranks grow from step to step, so the
 * difference of their sums is their whole change; scaled to sum 1 at the end they are PageRank with
 * that loss spread evenly. A step is a gp_copy, a gp_spmv and a gp_scan whose total is the sum.
 */
#include "stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS_MAX = 1000 };

/* P's values on the host, and v. *overflow: the first column whose sum is not finite, or n. */
static bool scale(struct pipeline *p, double **teleport, size_t *overflow)
{
    const struct csr *a = &p->a;
    size_t n = a->num_cols;
    double *column = calloc(n + 1, sizeof *column);
    p->p = malloc(a->nnz * sizeof *p->p + 1);
    *teleport = column;
    if (!column || !p->p)
        return false;
    for (size_t k = 0; k < a->nnz; k++)
        column[a->cols[k]] += fabs(a->values[k]);
    for (*overflow = 0; *overflow < n && isfinite(column[*overflow]);)
        ++*overflow;
    for (size_t k = 0; k < a->nnz; k++) {
        double sum = column[a->cols[k]];
        p->p[k] = sum > 0.0 ? fabs(a->values[k]) / sum : 0.0;
    }
    for (size_t i = 0; i < n; i++)
        column[i] = (1.0 - stages_damping) / (double)n;
    return true;
}

static gp_status allocate(struct pipeline *p, const double *teleport)
{
    struct device_arrays *d = &p->d;
    size_t n = (size_t)p->m.num_rows * sizeof(double), bytes = p->a.nnz * sizeof(double);
    gp_status s = gp_malloc(p->ctx, bytes, (void **)&d->p_values);
    s = s == GP_OK ? gp_malloc(p->ctx, n, (void **)&d->rank) : s;
    s = s == GP_OK ? gp_malloc(p->ctx, n, (void **)&d->next) : s;
    s = s == GP_OK ? gp_malloc(p->ctx, n, (void **)&d->prefix) : s;
    s = s == GP_OK ? gp_malloc(p->ctx, n, (void **)&d->teleport) : s;
    s = s == GP_OK ? gp_malloc(p->ctx, sizeof(double), (void **)&d->total) : s;
    if (s == GP_OK && bytes)
        s = gp_copy(p->ctx, p->p, bytes, d->p_values);
    s = s == GP_OK ? gp_copy(p->ctx, teleport, n, d->teleport) : s;
    s = s == GP_OK ? gp_copy(p->ctx, teleport, n, d->rank) : s;
    return s == GP_OK ? gp_context_synchronize(p->ctx) : s;
}

/* next = damping P rank + v, and its sum. */
static gp_status step(struct pipeline *p, double *sum)
{
    static const double one = 1.0;
    struct device_arrays *d = &p->d;
    size_t n = p->m.num_rows;
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = GP_F64;
    desc.total = d->total;
    gp_status s = gp_copy(p->ctx, d->teleport, n * sizeof(double), d->next);
    if (s == GP_OK)
        s = gp_spmv(p->ctx, GP_U32, GP_U32, GP_F64, n, n, p->a.nnz, d->row_pointers, d->csr_cols,
                    d->p_values, &stages_damping, d->rank, &one, d->next);
    if (s == GP_OK)
        s = gp_scan(p->ctx, &desc, d->next, n, d->prefix);
    return s == GP_OK ? stages_fetch(p, d->total, sizeof *sum, sum) : s;
}

static gp_status iterate(struct pipeline *p, double *change)
{
    double sum = 1.0 - stages_damping, next_sum = 0.0;
    *change = 1.0;
    for (p->iterations = 0; *change >= p->tolerance && p->iterations < ITERATIONS_MAX;) {
        gp_status s = step(p, &next_sum);
        if (s != GP_OK)
            return s;
        double *swap = p->d.rank;
        p->d.rank = p->d.next;
        p->d.next = swap;
        *change = (next_sum - sum) / next_sum;
        sum = next_sum;
        p->iterations++;
        report_progress(&p->report, *change < 1 ? -log(*change) : 0.0, -log(p->tolerance));
    }
    return GP_OK;
}

int stages_pagerank(struct pipeline *p)
{
    double *teleport, change = 0.0, amount;
    size_t overflow;
    char note[96];
    report_begin(&p->report, "scale columns");
    double begin = report_now();
    bool good = scale(p, &teleport, &overflow);
    double seconds = report_now() - begin;
    if (!good) {
        free(teleport);
        return stages_no_memory();
    }
    report_line(&p->report, &(struct stage_line){"scale columns", seconds, (double)p->a.nnz,
                                                 " entries", "host", "serial loop"});
    if (overflow < p->a.num_cols) {
        free(teleport);
        report_clear(&p->report);
        printf("%-18s left out: the sum of column %zu is not finite\n", "PageRank", overflow + 1);
        return EXIT_GOOD;
    }
    gp_status s = allocate(p, teleport);
    free(teleport);
    report_begin(&p->report, "PageRank");
    begin = report_now();
    if (s == GP_OK)
        s = iterate(p, &change);
    if (s != GP_OK)
        return stages_fail(p);
    amount = (double)p->a.nnz * p->iterations;
    snprintf(note, sizeof note, "gp_spmv and gp_scan, %d iterations, change %.1e%s", p->iterations,
             change, change < p->tolerance ? "" : ": not converged");
    report_line(&p->report, &(struct stage_line){"PageRank", report_now() - begin, amount,
                                                 " entries", p->where, note});
    return EXIT_GOOD;
}
