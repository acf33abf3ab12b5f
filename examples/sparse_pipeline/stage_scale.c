/* SPDX-License-Identifier: MIT */
/* The weights of PageRank: magnitudes, with each column scaled to sum 1. */
#include "stages.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct columns {
    double *sums, *ones;
    uint32_t *infinite; /* columns whose sum is not finite, */
    uint64_t *num_infinite;
};

/* Columns of A are rows of the links. */
static void sum_columns(struct job *j, const struct columns *c)
{
    static const double largest = DBL_MAX;
    const struct csr *t = &j->links;
    gp_reduce_segmented_desc sum = GP_REDUCE_SEGMENTED_DESC_INIT;
    gp_compact_desc above = GP_COMPACT_DESC_INIT;
    sum.in_dtype = above.dtype = GP_F64;
    sum.offset_dtype = above.index_dtype = GP_U32;
    above.kind = GP_COMPACT_INDICES;
    above.compare = GP_GT; /* NaN is above all */
    above.value = &largest;
    job_need(j, gp_reduce_segmented(j->ctx, &sum, t->values, t->nnz, t->row_pointers, t->num_rows,
                                    c->sums));
    job_need(
        j, gp_compact_by(j->ctx, &above, c->sums, NULL, t->num_rows, c->infinite, c->num_infinite));
}

/* Which columns have the sum 0; it counts as 1 from then on. */
static void find_empty(struct job *j, const struct columns *c)
{
    static const double zero = 0.0, one = 1.0;
    const size_t n = j->links.num_rows;
    gp_compact_desc empty = GP_COMPACT_DESC_INIT;
    gp_fill_desc fill = GP_FILL_DESC_INIT;
    gp_scatter_desc put = GP_SCATTER_DESC_INIT;
    empty.kind = GP_COMPACT_INDICES;
    empty.compare = GP_EQ;
    empty.dtype = GP_F64;
    empty.value = &zero;
    empty.index_dtype = put.index_dtype = GP_U32;
    fill.item_bytes = put.item_bytes = sizeof one;
    fill.item = &one;
    fill.device_n = put.device_n = j->num_empty;
    put.out_items = n;
    job_need(j, gp_compact_by(j->ctx, &empty, c->sums, NULL, n, j->empty, j->num_empty));
    job_need(j, gp_fill_by(j->ctx, &fill, n, c->ones));
    job_need(j, gp_scatter_by(j->ctx, &put, c->ones, j->empty, n, c->sums));
}

static void scale(struct job *j, void *state)
{
    const struct columns *c = state;
    const struct csr *a = &j->a;
    gp_vector_desc vector = GP_VECTOR_DESC_INIT;
    vector.dtype = GP_F64;
    sum_columns(j, c);
    find_empty(j, c);
    job_need(j, gp_gather(j->ctx, 8, c->sums, GP_U32, a->cols, a->nnz, j->weights));
    job_need(j, gp_vector_divide(j->ctx, &vector, j->magnitudes, j->weights, a->nnz, j->weights));
}

/* Sums of k values in another order differ by k roundings at most. */
static bool compare(struct job *j, double *serial)
{
    const size_t nnz = j->a.nnz;
    const uint32_t *begin_of = j->host_links.row_pointers;
    double *expected = job_host_array(j, 2 * nnz, sizeof *expected), *got = expected + nnz;
    bool good = true;
    const double begin = report_now();
    job_need_host(j, oracle_scale_columns(&j->host, expected));
    *serial = report_now() - begin;
    job_fetch(j, j->weights, nnz * sizeof *got, got);
    for (size_t k = 0; k < nnz && good; k++) {
        const double entries = begin_of[j->host.cols[k] + 1] - begin_of[j->host.cols[k]];
        good = fabs(got[k] - expected[k]) <= (entries + 2.0) * DBL_EPSILON * expected[k];
    }
    free(expected);
    return good;
}

bool stage_scale(struct job *j)
{
    struct report_stage line = {.name = "scale columns"};
    const size_t n = j->a.num_cols, nnz = j->a.nnz;
    struct columns c = {job_array(j, n, 8), job_array(j, n, 8), job_array(j, n, 4),
                        job_array(j, 1, 8)};
    uint32_t first;
    j->weights = job_array(j, nnz, 8);
    j->empty = job_array(j, n, 4);
    j->num_empty = job_array(j, 1, 8);
    line.seconds = job_time(j, line.name, scale, &c);
    line.bytes = 28.0 * (double)nnz;
    const bool finite = job_fetch_count(j, c.num_infinite) == 0;
    if (finite) {
        const bool good = !j->options.oracle || compare(j, &line.serial);
        job_line(j, &line, good, "%llu columns of sum 0",
                 (unsigned long long)job_fetch_count(j, j->num_empty));
    } else {
        job_fetch(j, c.infinite, sizeof first, &first);
        job_note(j, "PageRank", "left out: the sum of column %u is not finite", first + 1);
    }
    job_drop(j, c.sums);
    job_drop(j, c.ones);
    job_drop(j, c.infinite);
    job_drop(j, c.num_infinite);
    return finite;
}
