/* SPDX-License-Identifier: MIT */
/* From entries in any order to compressed rows, and to compressed columns. */
#include "compare.h"
#include "stages.h"

#include <math.h>
#include <stdlib.h>

static gp_coo_desc desc_of_values(void)
{
    gp_coo_desc desc = GP_COO_DESC_INIT; /* indices and offsets are u32 */
    desc.value_dtype = GP_F64;
    return desc;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void csr(struct job *j, void *nnz)
{
    const gp_coo_desc desc = desc_of_values();
    const struct coo *m = &j->entries;
    job_need(j, gp_csr_from_coo(j->ctx, &desc, m->num_rows, m->num_cols, m->rows, m->cols,
                                m->values, m->nnz, j->a.row_pointers, j->a.cols, j->a.values, nnz));
}

static bool compare_csr(struct job *j, double *serial)
{
    struct coo sorted;
    const double begin = report_now();
    job_need_host(j, oracle_sort(&j->input, &sorted) && oracle_merge(&sorted, &j->host));
    *serial = report_now() - begin;
    coo_free(&sorted);
    const struct csr *a = &j->a, *expected = &j->host;
    return a->nnz == expected->nnz &&
           check_words(j, "row pointers", a->row_pointers, expected->row_pointers,
                       (size_t)a->num_rows + 1) &&
           check_words(j, "columns", a->cols, expected->cols, a->nnz) &&
           check_values(j, "values", a->values, expected->values, a->nnz);
}

void stage_csr(struct job *j)
{
    struct report_stage line = {.name = "CSR"};
    const struct coo *m = &j->entries;
    const double rows = m->num_rows, entries = (double)m->nnz;
    uint64_t *nnz = job_array(j, 1, sizeof *nnz);
    j->a = (struct csr){m->num_rows, m->num_cols, m->nnz, NULL, NULL, NULL};
    j->a.row_pointers = job_array(j, (size_t)m->num_rows + 1, 4);
    j->a.cols = job_array(j, m->nnz, 4);
    j->a.values = job_array(j, m->nnz, 8);
    line.seconds = job_time(j, line.name, csr, nnz);
    j->a.nnz = job_fetch_count(j, nnz);
    line.bytes = 16.0 * entries + 12.0 * (double)j->a.nnz + 4.0 * rows;
    const bool good = !j->options.oracle || compare_csr(j, &line.serial);
    job_line(j, &line, good, "%zu left, %zu merged", j->a.nnz, m->nnz - j->a.nnz);
    job_drop(j, nnz);
    job_drop(j, m->rows);
    job_drop(j, m->cols);
    job_drop(j, m->values);
    coo_free(&j->input);
}

/* ---- columns --------------------------------------------------------------------------------- */

struct magnitudes {
    double *negative, *pairs; /* NULL: no value is negative */
};

/* |v| is the larger one of v and -v. */
static void make_magnitudes(struct job *j, const struct magnitudes *m)
{
    static const double minus = -1.0;
    const size_t n = j->a.nnz;
    gp_vector_desc vector = GP_VECTOR_DESC_INIT;
    gp_gather_desc copy = GP_GATHER_DESC_INIT;
    gp_reduce_segmented_desc largest = GP_REDUCE_SEGMENTED_DESC_INIT;
    vector.dtype = largest.in_dtype = GP_F64;
    largest.op = GP_MAX;
    copy.item_bytes = 8;
    copy.out_stride = 16;
    job_need(j, gp_vector_scale(j->ctx, &vector, &minus, j->a.values, n, m->negative));
    job_need(j, gp_gather_by(j->ctx, &copy, j->a.values, NULL, n, m->pairs));
    job_need(j, gp_gather_by(j->ctx, &copy, m->negative, NULL, n, m->pairs + 1));
    job_need(j, gp_reduce_rows(j->ctx, &largest, m->pairs, n, 2, j->magnitudes));
}

static void links(struct job *j, void *state)
{
    const struct magnitudes *m = state;
    const gp_coo_desc desc = desc_of_values();
    const struct csr *a = &j->a, *t = &j->links;
    if (m->pairs)
        make_magnitudes(j, m);
    job_need(j, gp_csr_transpose(j->ctx, &desc, a->num_rows, a->num_cols, a->nnz, a->row_pointers,
                                 a->cols, j->magnitudes, t->row_pointers, t->cols, t->values));
}

static bool compare_links(struct job *j, double *serial)
{
    const double begin = report_now();
    job_need_host(j, oracle_transpose(&j->host, &j->host_links));
    *serial = report_now() - begin;
    const struct csr *t = &j->links, *expected = &j->host_links;
    return check_words(j, "row pointers", t->row_pointers, expected->row_pointers,
                       (size_t)t->num_rows + 1) &&
           check_words(j, "columns", t->cols, expected->cols, t->nnz) &&
           check_values(j, "values", t->values, expected->values, t->nnz);
}

static bool has_negative(struct job *j)
{
    double *least = job_array(j, 1, sizeof *least), value;
    job_need(j, gp_reduce(j->ctx, GP_F64, GP_MIN, j->a.values, j->a.nnz, least));
    job_fetch(j, least, sizeof value, &value);
    job_drop(j, least);
    return value < 0.0;
}

void stage_links(struct job *j)
{
    struct report_stage line = {.name = "transpose"};
    struct magnitudes m = {0};
    const struct csr *a = &j->a;
    j->links = (struct csr){a->num_cols, a->num_rows, a->nnz, NULL, NULL, NULL};
    j->links.row_pointers = job_array(j, (size_t)a->num_cols + 1, 4);
    j->links.cols = job_array(j, a->nnz, 4);
    j->links.values = job_array(j, a->nnz, 8);
    const bool negative = has_negative(j);
    j->magnitudes = a->values;
    if (negative) {
        j->magnitudes = job_array(j, a->nnz, 8);
        m.negative = job_array(j, a->nnz, 8);
        m.pairs = job_array(j, a->nnz, 16);
    }
    line.seconds = job_time(j, line.name, links, &m);
    line.bytes = 24.0 * (double)a->nnz + 4.0 * ((double)a->num_rows + (double)a->num_cols);
    const bool good = !j->options.oracle || compare_links(j, &line.serial);
    job_line(j, &line, good, "%zu links%s", a->nnz, negative ? ", by magnitude" : "");
    if (negative) {
        job_drop(j, m.negative);
        job_drop(j, m.pairs);
    }
}
