/* SPDX-License-Identifier: MIT */
/* Degrees: how many entries rows and columns have, how those numbers are distributed, and which
 * column has most. */
#include "degrees.h"

#include "compare.h"
#include "stages.h"

#include <stdlib.h>
#include <string.h>

struct counts {
    uint32_t *edges;          /* of the bins */
    uint64_t *in, *out;       /* counts */
    uint32_t *most;           /* links into a row, out of a column */
    uint64_t *in_at, *out_at; /* where that is */
};

void degrees_edges(uint32_t edges[DEGREE_BINS + 1])
{
    edges[0] = 0;
    for (int i = 1; i < DEGREE_BINS; i++)
        edges[i] = UINT32_C(1) << (i - 1);
    edges[DEGREE_BINS] = UINT32_MAX;
}

void degrees_count(struct job *j, const uint32_t *degree, size_t n, const uint32_t *edges,
                   uint64_t *counts)
{
    job_need(
        j, gp_histogram_edges(j->ctx, GP_U32, degree, n, edges, DEGREE_BINS, GP_U64, counts, NULL));
}

static void degrees(struct job *j, void *state)
{
    const struct counts *c = state;
    const size_t rows = j->a.num_rows, cols = j->a.num_cols;
    job_need(j, gp_adjacent_difference(j->ctx, GP_U32, j->a.row_pointers + 1, rows, j->in_degree));
    job_need(
        j, gp_adjacent_difference(j->ctx, GP_U32, j->links.row_pointers + 1, cols, j->out_degree));
    degrees_count(j, j->in_degree, rows, c->edges, c->in);
    degrees_count(j, j->out_degree, cols, c->edges, c->out);
    job_need(j, gp_argmax(j->ctx, GP_U32, j->in_degree, rows, c->most, c->in_at));
    job_need(j, gp_argmax(j->ctx, GP_U32, j->out_degree, cols, c->most + 1, c->out_at));
}

static bool compare(struct job *j, const struct counts *c, const uint32_t most[2], double *serial)
{
    struct oracle_degrees in, out;
    uint64_t bins[DEGREE_BINS];
    const double begin = report_now();
    job_need_host(j, oracle_degrees(&j->host, &in) && oracle_degrees(&j->host_links, &out));
    *serial = report_now() - begin;
    bool good = check_words(j, "in-degrees", j->in_degree, in.degree, j->a.num_rows) &&
                check_words(j, "out-degrees", j->out_degree, out.degree, j->a.num_cols);
    job_fetch(j, c->in, sizeof bins, bins);
    good = good && memcmp(bins, in.bins, sizeof bins) == 0;
    job_fetch(j, c->out, sizeof bins, bins);
    good = good && memcmp(bins, out.bins, sizeof bins) == 0;
    good = good && most[0] == in.most && most[1] == out.most && j->busiest == out.first_with_most;
    free(in.degree);
    free(out.degree);
    return good;
}

void stage_degrees(struct job *j)
{
    struct report_stage line = {.name = "degrees"};
    uint32_t edges[DEGREE_BINS + 1], most[2];
    const size_t rows = j->a.num_rows, cols = j->a.num_cols;
    degrees_edges(edges);
    struct counts c = {.edges = job_array_of(j, DEGREE_BINS + 1, 4, edges),
                       .in = job_array(j, DEGREE_BINS, 8),
                       .out = job_array(j, DEGREE_BINS, 8),
                       .most = job_array(j, 2, 4),
                       .in_at = job_array(j, 1, 8),
                       .out_at = job_array(j, 1, 8)};
    j->in_degree = job_array(j, rows, 4);
    j->out_degree = job_array(j, cols, 4);
    line.seconds = job_time(j, line.name, degrees, &c);
    line.bytes = 8.0 * (double)(rows + cols);
    job_fetch(j, c.most, sizeof most, most);
    j->busiest = (uint32_t)job_fetch_count(j, c.out_at);
    const bool good = !j->options.oracle || compare(j, &c, most, &line.serial);
    job_line(j, &line, good, "at most %u in, %u out", most[0], most[1]);
    void *const arrays[] = {c.edges, c.in, c.out, c.most, c.in_at, c.out_at};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        job_drop(j, arrays[i]);
}
