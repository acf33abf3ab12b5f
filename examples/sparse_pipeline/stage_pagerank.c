/* SPDX-License-Identifier: MIT */
/*
 * PageRank, without a number that the host knows. With the weights P,
 *
 *     rank = 1 / n
 *     repeat  next = damping (P rank + lost / n) + (1 - damping) / n;  rank = next
 *     until   |next - rank| < tolerance
 *
 * where lost is the rank of the columns without entries, and |..| the sum of magnitudes. Scalars
 * stay in memory, and so does the test: it makes the numbers of items of the next step, which are 0
 * when the change is small enough; then the calls find nothing to do. On a GPU a step is captured
 * once in a CUDA graph and replayed; the host looks at the number now and then.
 */
#include "replay.h"
#include "stages.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_MAX = 1000, STEPS_AT_ONCE = 8 };

/* How many items the calls of a step have, in memory. */
struct numbers {
    uint64_t vertices, with_one, entries, scalars; /* n, n + 1, of A, 1; or all 0 */
};

struct pagerank {
    double *rank; /* n, and a 1 behind them */
    double *next; /* n */
    /* The share of rank[i] that every vertex gets: damping / n of columns without entries, 0 of
     * others; of the 1 behind them, (1 - damping) / n. */
    double *spread;
    double *ones;   /* n */
    double *rising; /* differences above 0 */
    uint64_t *num_rising;
    double *added;    /* to every vertex: the sum of rank[i] spread[i] */
    double *up, *all; /* sums of the differences above 0, and of all */
    double *change;   /* 2 up - all, that is the sum of their magnitudes */
    double *steps;
    double *tolerance;
    uint32_t *goes_on;       /* 1, or 0: the change is below the tolerance */
    struct numbers *numbers; /* of the next step */
    struct numbers *choices; /* of 0 or 1: all 0, or those of a step */
};

/* ---- a step ---------------------------------------------------------------------------------- */

static gp_vector_desc vector_of(const uint64_t *number)
{
    gp_vector_desc desc = GP_VECTOR_DESC_INIT;
    desc.dtype = GP_F64;
    desc.device_n = number;
    return desc;
}

/* next = damping P rank + added */
static void queue_next(struct job *j, const struct pagerank *p)
{
    static const double one = 1.0;
    const size_t n = j->a.num_rows;
    gp_vector_desc with_one = vector_of(&p->numbers->with_one);
    gp_vector_desc filled = vector_of(&p->numbers->vertices);
    gp_csr_desc matrix = GP_CSR_DESC_INIT;
    filled.device_alpha = 1;
    matrix.index_dtype = matrix.offset_dtype = GP_U32;
    matrix.value_dtype = GP_F64;
    matrix.device_num_rows = &p->numbers->vertices;
    matrix.device_nnz = &p->numbers->entries;
    job_need(j, gp_vector_dot(j->ctx, &with_one, p->rank, p->spread, n + 1, p->added));
    job_need(j, gp_vector_scale(j->ctx, &filled, p->added, p->ones, n, p->next));
    job_need(j, gp_spmv_by(j->ctx, &matrix, n, n, j->a.nnz, j->a.row_pointers, j->a.cols,
                           j->weights, &job_damping, p->rank, &one, p->next));
}

/* change = |next - rank|, which takes the place of rank; no call sums magnitudes, but one keeps
 * what is above 0 */
static void queue_change(struct job *j, const struct pagerank *p)
{
    static const double zero = 0.0, minus = -1.0, two = 2.0;
    const size_t n = j->a.num_rows;
    const gp_vector_desc all = vector_of(&p->numbers->vertices), up = vector_of(p->num_rising);
    const gp_vector_desc scalar = vector_of(&p->numbers->scalars);
    gp_compact_desc above = GP_COMPACT_DESC_INIT;
    above.compare = GP_GT;
    above.dtype = GP_F64;
    above.value = &zero;
    above.device_n = &p->numbers->vertices;
    job_need(j, gp_vector_axpby(j->ctx, &all, NULL, p->next, &minus, p->rank, n));
    job_need(j, gp_compact_by(j->ctx, &above, p->rank, NULL, n, p->rising, p->num_rising));
    job_need(j, gp_vector_dot(j->ctx, &up, p->rising, p->ones, n, p->up));
    job_need(j, gp_vector_dot(j->ctx, &all, p->rank, p->ones, n, p->all));
    job_need(j, gp_vector_scale(j->ctx, &scalar, &minus, p->all, 1, p->change));
    job_need(j, gp_vector_axpby(j->ctx, &scalar, &two, p->up, NULL, p->change, 1));
}

static void queue_step(struct job *j, const void *state)
{
    const struct pagerank *p = state;
    const gp_vector_desc all = vector_of(&p->numbers->vertices);
    const gp_vector_desc scalar = vector_of(&p->numbers->scalars);
    gp_gather_desc choose = GP_GATHER_DESC_INIT;
    choose.item_bytes = sizeof(struct numbers);
    choose.index_dtype = GP_U32;
    choose.in_items = 2;
    queue_next(j, p);
    queue_change(j, p);
    job_need(j, gp_vector_scale(j->ctx, &all, NULL, p->next, j->a.num_rows, p->rank));
    job_need(j, gp_vector_axpby(j->ctx, &scalar, NULL, p->ones, NULL, p->steps, 1));
    /* the tolerance is not above the change */
    job_need(j, gp_upper_bound(j->ctx, GP_F64, p->tolerance, 1, p->change, 1, GP_U32, p->goes_on));
    job_need(j, gp_gather_by(j->ctx, &choose, p->choices, p->goes_on, 1, p->numbers));
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void prepare(struct job *j, struct pagerank *p)
{
    const size_t n = j->a.num_rows;
    const double one = 1.0, share = job_damping / (double)n, rest = (1.0 - job_damping) / (double)n;
    const struct numbers choices[2] = {{0, 0, 0, 0}, {n, n + 1, j->a.nnz, 1}};
    gp_fill_desc fill = GP_FILL_DESC_INIT;
    gp_scatter_desc put = GP_SCATTER_DESC_INIT;
    double **const scalars[] = {&p->added, &p->up, &p->all, &p->change, &p->steps};
    const double zero = 0.0;
    for (int i = 0; i < 5; i++)
        *scalars[i] = job_array_of(j, 1, sizeof zero, &zero);
    p->rank = job_array(j, n + 1, 8);
    p->next = job_array(j, n, 8);
    p->spread = job_array(j, n + 1, 8);
    p->ones = job_array(j, n, 8);
    p->rising = job_array(j, n, 8);
    p->num_rising = job_array(j, 1, 8);
    p->goes_on = job_array(j, 1, 4);
    p->tolerance = job_array_of(j, 1, 8, &j->options.tolerance);
    p->numbers = job_array_of(j, 1, sizeof *choices, &choices[0]);
    p->choices = job_array_of(j, 2, sizeof *choices, choices);
    job_need(j, gp_fill(j->ctx, 8, &one, n, p->ones));
    job_need(j, gp_fill(j->ctx, 8, &zero, n, p->spread));
    job_need(j, gp_fill(j->ctx, 8, &rest, 1, p->spread + n));
    job_need(j, gp_fill(j->ctx, 8, &one, 1, p->rank + n));
    fill.item_bytes = put.item_bytes = 8;
    fill.item = &share;
    put.index_dtype = GP_U32;
    put.out_items = n;
    fill.device_n = put.device_n = j->num_empty;
    job_need(j, gp_fill_by(j->ctx, &fill, n, p->next));
    job_need(j, gp_scatter_by(j->ctx, &put, p->next, j->empty, n, p->spread));
}

static void iterate(struct job *j, void *state)
{
    const struct pagerank *p = state;
    const size_t n = j->a.num_rows;
    const double even = 1.0 / (double)n, zero = 0.0;
    const int at_once = gp_context_backend(j->ctx) == GP_BACKEND_CUDA ? STEPS_AT_ONCE : 1;
    struct replay step;
    replay_begin(j, &step, queue_step, p);
    job_need(j, gp_fill(j->ctx, 8, &even, n, p->rank));
    job_need(j, gp_fill(j->ctx, 8, &zero, 1, p->steps));
    job_need(j, gp_copy(j->ctx, p->choices + 1, sizeof *p->numbers, p->numbers));
    for (int steps = 0; steps < STEPS_MAX && job_fetch_count(j, &p->numbers->vertices);
         steps += at_once)
        replay_run(j, &step, at_once);
    job_need(j, gp_copy(j->ctx, p->choices, sizeof *p->numbers, p->numbers));
    job_need(j, gp_context_synchronize(j->ctx));
    replay_end(&step);
}

static void finish(struct job *j, struct pagerank *p)
{
    void *const arrays[] = {p->next,      p->spread,  p->ones,    p->rising, p->num_rising,
                            p->added,     p->up,      p->all,     p->steps,  p->change,
                            p->tolerance, p->goes_on, p->numbers, p->choices};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        job_drop(j, arrays[i]);
    job_drop(j, j->weights);
    job_drop(j, j->empty);
    job_drop(j, j->num_empty);
}

/* Both stop when a step changes less than the tolerance. Roundings, which decide in the end whether
 * it does, are far below all tolerances but the smallest. */
static bool compare(struct job *j, int steps, double *serial)
{
    const size_t n = j->a.num_rows;
    const double tolerance = j->options.tolerance;
    struct csr scaled = j->host;
    double *expected = job_host_array(j, 2 * n, sizeof *expected), *got = expected + n, off = 0.0;
    int oracle_steps;
    scaled.values = job_host_array(j, j->a.nnz, sizeof *scaled.values);
    job_need_host(j, oracle_scale_columns(&j->host, scaled.values));
    report_begin(&j->report, "serial PageRank");
    const double begin = report_now();
    job_need_host(j, oracle_pagerank(&scaled, job_damping, tolerance, expected, &oracle_steps,
                                     report_progress, &j->report));
    *serial = report_now() - begin;
    job_fetch(j, j->rank, n * sizeof *got, got);
    for (size_t i = 0; i < n; i++)
        off += fabs(got[i] - expected[i]);
    free(expected);
    free(scaled.values);
    return (steps == oracle_steps || tolerance < 1e-12) && off <= tolerance + 1e-12;
}

void stage_pagerank(struct job *j)
{
    struct report_stage line = {.name = "PageRank"};
    struct pagerank p = {0};
    double steps, change;
    prepare(j, &p);
    line.seconds = job_time(j, line.name, iterate, &p);
    job_fetch(j, p.steps, sizeof steps, &steps);
    job_fetch(j, p.change, sizeof change, &change);
    line.bytes = steps * (12.0 * (double)j->a.nnz + 20.0 * (double)j->a.num_rows);
    j->rank = p.rank;
    const bool good = !j->options.oracle || compare(j, (int)steps, &line.serial);
    job_line(j, &line, good, "%g steps, change %.1e%s", steps, change,
             change < j->options.tolerance ? "" : ": not converged");
    finish(j, &p);
}
