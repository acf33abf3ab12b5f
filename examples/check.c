/* SPDX-License-Identifier: MIT */
/* Compare every result of the pipeline with the oracle's. */
#include "stages.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void verdict(struct pipeline *p, const char *what, bool good, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void verdict(struct pipeline *p, const char *what, bool good, const char *format, ...)
{
    va_list list;
    report_clear(&p->report);
    printf("%-18s %s: ", what, good ? "ok" : "WRONG");
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    fflush(stdout);
    p->different |= !good;
}

/* The first i in [0, n) where a and b differ, or n. */
static size_t first_difference(const void *a, const void *b, size_t item_bytes, size_t n)
{
    const char *p = a, *q = b;
    if (memcmp(p, q, n * item_bytes) == 0)
        return n;
    size_t i = 0;
    while (memcmp(p + i * item_bytes, q + i * item_bytes, item_bytes) == 0)
        i++;
    return i;
}

/* Fetch an array of n items and compare it, bit for bit. */
static int check_array(struct pipeline *p, const char *what, const void *device,
                       const void *expected, size_t item_bytes, size_t n)
{
    char *got = malloc(n * item_bytes + 1);
    if (!got)
        return stages_no_memory();
    if (stages_fetch(p, device, n * item_bytes, got) != GP_OK) {
        free(got);
        return stages_fail(p);
    }
    size_t i = first_difference(got, expected, item_bytes, n);
    free(got);
    if (i == n)
        verdict(p, what, true, "%zu items equal the oracle's, bit for bit", n);
    else
        verdict(p, what, false, "item %zu of %zu differs from the oracle's", i, n);
    return EXIT_GOOD;
}

static int check_sort(struct pipeline *p, const struct coo *sorted)
{
    size_t n = sorted->nnz;
    uint64_t *keys = malloc(n * sizeof *keys + 1);
    if (!keys)
        return stages_no_memory();
    for (size_t k = 0; k < n; k++)
        keys[k] = (uint64_t)sorted->rows[k] << p->col_bits | sorted->cols[k];
    int e = check_array(p, "sorted keys", p->d.keys_sorted, keys, sizeof *keys, n);
    free(keys);
    return e == EXIT_GOOD ? check_array(p, "sorted values", p->d.values_sorted, sorted->values,
                                        sizeof *sorted->values, n)
                          : e;
}

static int check_csr(struct pipeline *p, const struct csr *a)
{
    size_t pointers = (size_t)a->num_rows + 1;
    if (p->a.nnz != a->nnz) {
        verdict(p, "merged entries", false, "%zu, the oracle has %zu", p->a.nnz, a->nnz);
        return EXIT_GOOD;
    }
    int e = check_array(p, "CSR row pointers", p->d.row_pointers, a->row_pointers, 4, pointers);
    if (e == EXIT_GOOD)
        e = check_array(p, "CSR columns", p->d.csr_cols, a->cols, 4, a->nnz);
    if (e == EXIT_GOOD)
        e = check_array(p, "CSR values", p->d.csr_values, a->values, 8, a->nnz);
    if (e == EXIT_GOOD)
        e = check_array(p, "row pointers", p->d.row_pointers_again, a->row_pointers, 4, pointers);
    return e;
}

/* A sum of k products in any order is within k + 1 roundings, each relative to the sum of their
 * sizes. */
static void judge_spmv(struct pipeline *p, const struct csr *a, const double *y, const double *size,
                       const double *got)
{
    double worst = 0.0;
    for (uint32_t r = 0; r < a->num_rows; r++) {
        double entries = a->row_pointers[r + 1] - a->row_pointers[r];
        double allowed = (entries + 1) * DBL_EPSILON * size[r], off = fabs(got[r] - y[r]);
        if (!isfinite(size[r]))
            continue;
        if (!(off <= allowed)) {
            verdict(p, "SpMV", false, "row %u is %.17g, the oracle has %.17g", r, got[r], y[r]);
            return;
        }
        if (size[r] > 0.0 && off / size[r] > worst)
            worst = off / size[r];
    }
    verdict(p, "SpMV", true, "%u rows within rounding of the oracle, largest relative error %.1e",
            a->num_rows, worst);
}

static int check_spmv(struct pipeline *p, const struct csr *a)
{
    size_t n = a->num_rows;
    double *y = malloc((3 * n + 1) * sizeof *y);
    if (!y)
        return stages_no_memory();
    oracle_spmv(a, p->x, y, y + n);
    gp_status s = stages_fetch(p, p->d.y, n * sizeof *y, y + 2 * n);
    if (s == GP_OK)
        judge_spmv(p, a, y, y + n, y + 2 * n);
    free(y);
    return s == GP_OK ? EXIT_GOOD : stages_fail(p);
}

/* Both stop when a step changes less than the tolerance; what is left is a few times that. */
static void judge_pagerank(struct pipeline *p, const double *expected, double *got, int iterations)
{
    double sum = 0.0, off = 0.0, allowed = 4.0 * p->tolerance / (1.0 - stages_damping) + 1e-12;
    for (uint32_t i = 0; i < p->m.num_rows; i++)
        sum += got[i];
    for (uint32_t i = 0; i < p->m.num_rows; i++)
        off += fabs(got[i] / sum - expected[i]);
    verdict(p, "PageRank", off <= allowed,
            "off by %.1e in all, allowed %.1e (oracle: %d iterations)", off, allowed, iterations);
}

static int check_pagerank(struct pipeline *p, const struct csr *a)
{
    size_t n = a->num_rows;
    struct csr scaled = *a;
    int iterations;
    double *expected = malloc((2 * n + 1) * sizeof *expected);
    if (!expected)
        return stages_no_memory();
    scaled.values = p->p;
    gp_status s = GP_OK;
    bool good = oracle_pagerank(&scaled, stages_damping, p->tolerance, expected, &iterations,
                                report_progress, &p->report);
    if (good && (s = stages_fetch(p, p->d.rank, n * sizeof *expected, expected + n)) == GP_OK)
        judge_pagerank(p, expected, expected + n, iterations);
    free(expected);
    return !good ? stages_no_memory() : s == GP_OK ? EXIT_GOOD : stages_fail(p);
}

int stages_check(struct pipeline *p)
{
    struct coo sorted;
    struct csr a;
    printf("\ncompared with a serial oracle:\n");
    report_begin(&p->report, "oracle");
    if (!oracle_sort(&p->m, &sorted))
        return stages_no_memory();
    if (!oracle_merge(&sorted, &a)) {
        coo_free(&sorted);
        return stages_no_memory();
    }
    int e = check_sort(p, &sorted);
    if (e == EXIT_GOOD)
        e = check_csr(p, &a);
    if (e == EXIT_GOOD)
        e = check_spmv(p, &a);
    if (e == EXIT_GOOD && p->iterations && p->a.nnz == a.nnz)
        e = check_pagerank(p, &a);
    coo_free(&sorted);
    csr_free(&a);
    if (e == EXIT_GOOD)
        printf("check %s\n", p->different ? "FAILED" : "passed");
    return e == EXIT_GOOD && p->different ? EXIT_DIFFERENT : e;
}
