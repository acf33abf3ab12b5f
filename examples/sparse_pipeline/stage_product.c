/* SPDX-License-Identifier: MIT */
/* y = A x, with x from 1 to 2. */
#include "stages.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct vectors {
    double *x, *y;
};

static void product(struct job *j, void *state)
{
    const struct vectors *v = state;
    const struct csr *a = &j->a;
    job_need(j, gp_spmv(j->ctx, GP_U32, GP_U32, GP_F64, a->num_rows, a->num_cols, a->nnz,
                        a->row_pointers, a->cols, a->values, NULL, v->x, NULL, v->y));
}

/* ---- comparison ------------------------------------------------------------------------------ */

enum judgement { CLOSE, NOT_FINITE, ORDER_DECIDES, FAR };

/* Whether the finite ones of a row's products may add up to an infinity. */
static bool finite_overflow(const struct csr *a, const double *x, uint32_t row)
{
    double size = 0.0;
    for (uint32_t k = a->row_pointers[row]; k < a->row_pointers[row + 1]; k++) {
        const double product = fabs(a->values[k] * x[a->cols[k]]);
        size += isfinite(product) ? product : 0.0;
    }
    return !isfinite(size);
}

/*
 * A sum of k products in any order is within k + 1 roundings, each relative to the sum of their
 * sizes, if that sum is finite. Otherwise infinities and NaNs must agree, unless it was the adding
 * of finite products that overflowed, which another order need not do.
 */
static enum judgement judge_row(const struct csr *a, const double *x, uint32_t row, double expected,
                                double size, double got)
{
    const double entries = a->row_pointers[row + 1] - a->row_pointers[row];
    if (isfinite(size))
        return fabs(got - expected) <= (entries + 1) * DBL_EPSILON * size ? CLOSE : FAR;
    if (got == expected || (isnan(got) && isnan(expected)))
        return NOT_FINITE;
    return finite_overflow(a, x, row) ? ORDER_DECIDES : FAR;
}

struct judgements {
    uint32_t rows[4];
    uint32_t last[4]; /* row of each judgement */
    double worst;     /* error */
};

static void judge(const struct csr *a, const double *x, const double *y, const double *size,
                  const double *got, struct judgements *judged)
{
    for (uint32_t r = 0; r < a->num_rows; r++) {
        const enum judgement e = judge_row(a, x, r, y[r], size[r], got[r]);
        judged->rows[e]++;
        judged->last[e] = r;
        if (e == CLOSE && size[r] > 0.0)
            judged->worst = fmax(judged->worst, fabs(got[r] - y[r]) / size[r]);
    }
}

static void compare(struct job *j, const struct vectors *v, struct report_stage *line)
{
    const size_t rows = j->a.num_rows, cols = j->a.num_cols;
    struct judgements judged = {.worst = 0.0};
    double *y = job_host_array(j, 3 * rows, sizeof *y), *size = y + rows, *got = size + rows;
    double *x = job_host_array(j, cols, sizeof *x);
    job_fetch(j, v->x, cols * sizeof *x, x);
    job_fetch(j, v->y, rows * sizeof *got, got);
    const double begin = report_now();
    oracle_spmv(&j->host, x, y, size);
    line->serial = report_now() - begin;
    judge(&j->host, x, y, size, got, &judged);
    job_line(j, line, !judged.rows[FAR], "off by %.1e at most", judged.worst);
    if (judged.rows[NOT_FINITE])
        job_note(j, "", "not finite: %u rows, as in the oracle", judged.rows[NOT_FINITE]);
    if (judged.rows[ORDER_DECIDES])
        job_note(j, "", "not finite: %u rows, by the order of adding, such as row %u: %g for %g",
                 judged.rows[ORDER_DECIDES], judged.last[ORDER_DECIDES] + 1,
                 got[judged.last[ORDER_DECIDES]], y[judged.last[ORDER_DECIDES]]);
    if (judged.rows[FAR])
        job_note(j, "", "row %u is %.17g, the oracle has %.17g", judged.last[FAR] + 1,
                 got[judged.last[FAR]], y[judged.last[FAR]]);
    free(y);
    free(x);
}

void stage_product(struct job *j)
{
    struct report_stage line = {.name = "product"};
    const double rows = j->a.num_rows, cols = j->a.num_cols;
    const double first = 1.0, step = 1.0 / (cols + 1.0);
    struct vectors v = {job_array(j, j->a.num_cols, 8), job_array(j, j->a.num_rows, 8)};
    job_need(j, gp_iota(j->ctx, GP_F64, &first, &step, j->a.num_cols, v.x));
    line.seconds = job_time(j, line.name, product, &v);
    line.bytes = 12.0 * (double)j->a.nnz + 12.0 * rows + 8.0 * cols;
    if (j->options.oracle)
        compare(j, &v, &line);
    else
        job_line(j, &line, true, "done");
    job_drop(j, v.x);
    job_drop(j, v.y);
}
