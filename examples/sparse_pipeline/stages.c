/* SPDX-License-Identifier: MIT */
#include "stages.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS_MAX = 5 };
static const double runs_seconds = 0.5;

int stages_no_memory(void)
{
    fprintf(stderr, "sparse_pipeline: out of memory\n");
    return EXIT_ERROR;
}

int stages_fail(struct pipeline *p)
{
    const char *text = gp_last_error(p->ctx);
    report_clear(&p->report);
    /* Calls without a context leave their text with the thread. */
    fprintf(stderr, "sparse_pipeline: %s\n", *text ? text : gp_last_error(NULL));
    return EXIT_ERROR;
}

gp_status stages_fetch(struct pipeline *p, const void *from, size_t bytes, void *to)
{
    gp_status s = bytes ? gp_copy(p->ctx, from, bytes, to) : GP_OK;
    return s == GP_OK ? gp_context_synchronize(p->ctx) : s;
}

/* ---- upload ---------------------------------------------------------------------------------- */

static gp_status allocate(struct pipeline *p)
{
    struct device_arrays *d = &p->d;
    size_t nnz = p->m.nnz, rows = p->m.num_rows, cols = p->m.num_cols;
    const struct {
        void *array; /* address of a pointer in d */
        size_t bytes;
    } wanted[] = {
        {&d->keys, nnz * 8},
        {&d->keys_sorted, nnz * 8},
        {&d->rows, nnz * 4},
        {&d->cols, nnz * 4},
        {&d->values, nnz * 8},
        {&d->values_sorted, nnz * 8},
        {&d->row_pointers, (rows + 1) * 4},
        {&d->csr_cols, nnz * 4},
        {&d->csr_values, nnz * 8},
        {&d->csr_nnz, 8},
        {&d->csr_rows, nnz * 4},
        {&d->row_pointers_again, (rows + 1) * 4},
        {&d->x, cols * 8},
        {&d->y, rows * 8},
    };
    gp_status s = GP_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && s == GP_OK; i++)
        s = gp_malloc(p->ctx, wanted[i].bytes, wanted[i].array);
    return s;
}

/* Make the workspace as large as the largest call wants it, so that no timed call allocates. */
static gp_status reserve(struct pipeline *p)
{
    gp_coo_desc desc = GP_COO_DESC_INIT;
    gp_target target = GP_TARGET_INIT;
    size_t nnz = p->m.nnz, rows = p->m.num_rows, cols = p->m.num_cols, bytes[4] = {0}, most = 0;
    desc.value_dtype = GP_F64;
    target.backend = gp_context_backend(p->ctx);
    gp_status s = gp_radix_sort_workspace_bytes(&target, GP_U64, 8, nnz, NULL, &bytes[0]);
    if (s == GP_OK)
        s = gp_csr_from_coo_workspace_bytes(&target, &desc, rows, cols, nnz, &bytes[1]);
    if (s == GP_OK)
        s = gp_csr_to_coo_workspace_bytes(&target, GP_U32, rows, nnz, GP_U32, &bytes[2]);
    if (s == GP_OK)
        s = gp_spmv_workspace_bytes(&target, GP_U32, GP_U32, GP_F64, rows, cols, nnz, &bytes[3]);
    if (s != GP_OK)
        return s;
    for (int i = 0; i < 4; i++)
        most = bytes[i] > most ? bytes[i] : most;
    return gp_context_reserve(p->ctx, most);
}

static int bits_of(uint32_t count)
{
    int bits = 0;
    while (count > 1 && bits < 32 && (UINT64_C(1) << bits) < count)
        bits++;
    return bits;
}

static uint64_t *pack_keys(struct pipeline *p)
{
    const struct coo *m = &p->m;
    uint64_t *keys = malloc(m->nnz * sizeof *keys + 1);
    p->row_bits = bits_of(m->num_rows);
    p->col_bits = bits_of(m->num_cols);
    for (size_t k = 0; keys && k < m->nnz; k++)
        keys[k] = (uint64_t)m->rows[k] << p->col_bits | m->cols[k];
    return keys;
}

static gp_status copy_all(struct pipeline *p, const uint64_t *keys)
{
    struct device_arrays *d = &p->d;
    size_t nnz = p->m.nnz;
    gp_status s = GP_OK;
    if (nnz) {
        s = gp_copy(p->ctx, keys, nnz * 8, d->keys);
        s = s == GP_OK ? gp_copy(p->ctx, p->m.rows, nnz * 4, d->rows) : s;
        s = s == GP_OK ? gp_copy(p->ctx, p->m.cols, nnz * 4, d->cols) : s;
        s = s == GP_OK ? gp_copy(p->ctx, p->m.values, nnz * 8, d->values) : s;
    }
    if (s == GP_OK && p->m.num_cols)
        s = gp_copy(p->ctx, p->x, (size_t)p->m.num_cols * 8, d->x);
    return s == GP_OK ? gp_context_synchronize(p->ctx) : s;
}

int stages_upload(struct pipeline *p)
{
    size_t cols = p->m.num_cols;
    uint64_t *keys = pack_keys(p);
    p->x = malloc(cols * sizeof *p->x + 1);
    if (!keys || !p->x) {
        free(keys);
        return stages_no_memory();
    }
    for (size_t i = 0; i < cols; i++)
        p->x[i] = 1.0 + (double)(i % 7) / 8.0;
    gp_status s = allocate(p);
    if (s == GP_OK)
        s = reserve(p);
    double begin = report_now();
    if (s == GP_OK)
        s = copy_all(p, keys);
    double seconds = report_now() - begin;
    free(keys);
    if (s != GP_OK)
        return stages_fail(p);
    report_line(&p->report, &(struct stage_line){"upload", seconds,
                                                 24.0 * (double)p->m.nnz + 8.0 * (double)cols, "B",
                                                 p->where, "gp_copy"});
    return EXIT_GOOD;
}

/* ---- stages that are calls of gp ------------------------------------------------------------- */

static gp_status sort(struct pipeline *p)
{
    gp_radix_sort_options options = GP_RADIX_SORT_OPTIONS_INIT;
    options.end_bit = p->row_bits + p->col_bits;
    return gp_radix_sort_pairs(p->ctx, GP_U64, p->d.keys, 8, p->d.values, p->m.nnz,
                               p->d.keys_sorted, p->d.values_sorted, &options);
}

static gp_status merge(struct pipeline *p)
{
    struct device_arrays *d = &p->d;
    gp_coo_desc desc = GP_COO_DESC_INIT;
    desc.value_dtype = GP_F64;
    return gp_csr_from_coo(p->ctx, &desc, p->m.num_rows, p->m.num_cols, d->rows, d->cols, d->values,
                           p->m.nnz, d->row_pointers, d->csr_cols, d->csr_values, d->csr_nnz);
}

static gp_status expand_rows(struct pipeline *p)
{
    return gp_csr_to_coo(p->ctx, GP_U32, p->d.row_pointers, p->m.num_rows, p->a.nnz, GP_U32,
                         p->d.csr_rows);
}

static gp_status row_pointers(struct pipeline *p)
{
    return gp_csr_row_pointers(p->ctx, GP_U32, p->d.csr_rows, p->a.nnz, p->m.num_rows, GP_U32,
                               p->d.row_pointers_again);
}

static gp_status spmv(struct pipeline *p)
{
    struct device_arrays *d = &p->d;
    return gp_spmv(p->ctx, GP_U32, GP_U32, GP_F64, p->m.num_rows, p->m.num_cols, p->a.nnz,
                   d->row_pointers, d->csr_cols, d->csr_values, NULL, d->x, NULL, d->y);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Run a stage a few times, each time until the device is done, and report the median. */
static int timed(struct pipeline *p, const char *name, double amount, const char *unit,
                 const char *note, gp_status (*body)(struct pipeline *p))
{
    double seconds[RUNS_MAX], spent = 0.0;
    int runs = 0;
    while (runs < RUNS_MAX && (runs < 2 || spent < runs_seconds)) {
        double begin = report_now();
        gp_status s = body(p);
        if (s == GP_OK)
            s = gp_context_synchronize(p->ctx);
        if (s != GP_OK)
            return stages_fail(p);
        seconds[runs] = report_now() - begin;
        spent += seconds[runs++];
    }
    qsort(seconds, (size_t)runs, sizeof seconds[0], compare_doubles);
    report_line(&p->report,
                &(struct stage_line){name, seconds[(runs - 1) / 2], amount, unit, p->where, note});
    return EXIT_GOOD;
}

int stages_csr(struct pipeline *p)
{
    double entries = (double)p->m.nnz;
    uint64_t nnz;
    int e = timed(p, "sort", entries, " entries", "gp_radix_sort_pairs", sort);
    if (e == EXIT_GOOD)
        e = timed(p, "merge duplicates", entries, " entries",
                  "gp_csr_from_coo: sorts, merges, makes row pointers", merge);
    if (e != EXIT_GOOD)
        return e;
    if (stages_fetch(p, p->d.csr_nnz, sizeof nnz, &nnz) != GP_OK)
        return stages_fail(p);
    p->a.nnz = (size_t)nnz;
    entries = (double)nnz;
    e = timed(p, "expand rows", entries, " entries", "gp_csr_to_coo", expand_rows);
    if (e == EXIT_GOOD)
        e = timed(p, "row pointers", entries, " entries", "gp_csr_row_pointers", row_pointers);
    if (e == EXIT_GOOD)
        e = timed(p, "SpMV", 2.0 * entries, "flop", "gp_spmv, f64", spmv);
    return e;
}

/* ---- back to the host ------------------------------------------------------------------------ */

int stages_download(struct pipeline *p)
{
    size_t nnz = p->a.nnz, pointers = (size_t)p->m.num_rows + 1;
    struct csr *a = &p->a;
    a->num_rows = p->m.num_rows;
    a->num_cols = p->m.num_cols;
    a->row_pointers = malloc(pointers * sizeof *a->row_pointers);
    a->cols = malloc(nnz * sizeof *a->cols + 1);
    a->values = malloc(nnz * sizeof *a->values + 1);
    if (!a->row_pointers || !a->cols || !a->values)
        return stages_no_memory();
    double begin = report_now();
    gp_status s = stages_fetch(p, p->d.row_pointers, pointers * 4, a->row_pointers);
    s = s == GP_OK ? stages_fetch(p, p->d.csr_cols, nnz * 4, a->cols) : s;
    s = s == GP_OK ? stages_fetch(p, p->d.csr_values, nnz * 8, a->values) : s;
    if (s != GP_OK)
        return stages_fail(p);
    report_line(&p->report, &(struct stage_line){"download", report_now() - begin,
                                                 4.0 * (double)pointers + 12.0 * (double)nnz, "B",
                                                 p->where, "gp_copy"});
    return EXIT_GOOD;
}

void stages_free(struct pipeline *p)
{
    struct device_arrays *d = &p->d;
    void *arrays[] = {d->keys,     d->keys_sorted, d->rows,
                      d->cols,     d->values,      d->values_sorted,
                      d->csr_cols, d->csr_values,  d->row_pointers,
                      d->csr_nnz,  d->csr_rows,    d->row_pointers_again,
                      d->x,        d->y,           d->p_values,
                      d->rank,     d->next,        d->prefix,
                      d->teleport, d->total};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        gp_free(p->ctx, arrays[i]);
    gp_context_destroy(p->ctx);
    coo_free(&p->m);
    csr_free(&p->a);
    free(p->x);
    free(p->p);
}
