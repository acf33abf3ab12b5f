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

enum items { WORDS, KEYS, VALUES };

static size_t bytes_of(enum items items)
{
    return items == WORDS ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* Bit for bit; but one NaN is as good as another, for processors make different ones. */
static bool same_item(const char *a, const char *b, enum items items)
{
    double x, y;
    if (memcmp(a, b, bytes_of(items)) == 0 || items != VALUES)
        return memcmp(a, b, bytes_of(items)) == 0;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return isnan(x) && isnan(y);
}

/* The first i in [0, n) where a and b differ, or n. */
static size_t first_difference(const char *a, const char *b, enum items items, size_t n)
{
    const size_t bytes = bytes_of(items);
    size_t i = 0;
    if (memcmp(a, b, n * bytes) == 0)
        return n;
    while (i < n && same_item(a + i * bytes, b + i * bytes, items))
        i++;
    return i;
}

/* Fetch an array of n items and compare it. */
static int check_array(struct pipeline *p, const char *what, const void *device,
                       const void *expected, enum items items, size_t n)
{
    char *got = malloc(n * bytes_of(items) + 1);
    if (!got)
        return stages_no_memory();
    if (stages_fetch(p, device, n * bytes_of(items), got) != GP_OK) {
        free(got);
        return stages_fail(p);
    }
    size_t i = first_difference(got, expected, items, n);
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
    int e = check_array(p, "sorted keys", p->d.keys_sorted, keys, KEYS, n);
    free(keys);
    return e == EXIT_GOOD
               ? check_array(p, "sorted values", p->d.values_sorted, sorted->values, VALUES, n)
               : e;
}

static int check_csr(struct pipeline *p, const struct csr *a)
{
    size_t pointers = (size_t)a->num_rows + 1;
    if (p->a.nnz != a->nnz) {
        verdict(p, "merged entries", false, "%zu, the oracle has %zu", p->a.nnz, a->nnz);
        return EXIT_GOOD;
    }
    int e = check_array(p, "CSR row pointers", p->d.row_pointers, a->row_pointers, WORDS, pointers);
    if (e == EXIT_GOOD)
        e = check_array(p, "CSR columns", p->d.csr_cols, a->cols, WORDS, a->nnz);
    if (e == EXIT_GOOD)
        e = check_array(p, "CSR values", p->d.csr_values, a->values, VALUES, a->nnz);
    if (e == EXIT_GOOD)
        e = check_array(p, "row pointers", p->d.row_pointers_again, a->row_pointers, WORDS,
                        pointers);
    return e;
}

enum judgement { CLOSE, NOT_FINITE, ORDER_DECIDES, FAR };

static bool products_finite(const struct csr *a, const double *x, uint32_t row)
{
    for (uint32_t k = a->row_pointers[row]; k < a->row_pointers[row + 1]; k++)
        if (!isfinite(a->values[k] * x[a->cols[k]]))
            return false;
    return true;
}

/*
 * A sum of k products in any order is within k + 1 roundings, each relative to the sum of their
 * sizes, if that sum is finite. Otherwise infinities and NaNs must agree, unless it was the adding
 * of finite products that overflowed, which another order need not do.
 */
static enum judgement judge_row(const struct pipeline *p, const struct csr *a, uint32_t row,
                                double expected, double size, double got)
{
    const double entries = a->row_pointers[row + 1] - a->row_pointers[row];
    if (isfinite(size))
        return fabs(got - expected) <= (entries + 1) * DBL_EPSILON * size ? CLOSE : FAR;
    if (got == expected || (isnan(got) && isnan(expected)))
        return NOT_FINITE;
    return products_finite(a, p->x, row) ? ORDER_DECIDES : FAR;
}

static void judge_spmv(struct pipeline *p, const struct csr *a, const double *y, const double *size,
                       const double *got)
{
    double worst = 0.0;
    uint32_t rows[4] = {0}, last = 0;
    for (uint32_t r = 0; r < a->num_rows; r++) {
        const enum judgement j = judge_row(p, a, r, y[r], size[r], got[r]);
        if (j == FAR) {
            verdict(p, "SpMV", false, "row %u is %.17g, the oracle has %.17g", r, got[r], y[r]);
            return;
        }
        rows[j]++;
        last = j == ORDER_DECIDES ? r : last;
        if (j == CLOSE && size[r] > 0.0)
            worst = fmax(worst, fabs(got[r] - y[r]) / size[r]);
    }
    verdict(p, "SpMV", true, "%u rows within rounding of the oracle, largest relative error %.1e",
            rows[CLOSE], worst);
    if (rows[NOT_FINITE])
        printf("%-18s not finite: %u rows, as in the oracle\n", "", rows[NOT_FINITE]);
    if (rows[ORDER_DECIDES])
        printf("%-18s not finite: %u rows overflow in one order of adding and not in another, such "
               "as row %u: %g, the oracle has %g\n",
               "", rows[ORDER_DECIDES], last, got[last], y[last]);
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
