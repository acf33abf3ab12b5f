/* SPDX-License-Identifier: MIT */
/* The ten vertices of highest rank. */
#include "stages.h"

#include <stdio.h>
#include <stdlib.h>

enum { TOP = 10, TOP_LINES = TOP / 2 };

struct top {
    size_t count;
    double *rank;
    uint32_t *vertex, *in, *out;
};

static void find(struct job *j, void *state)
{
    const struct top *t = state;
    job_need(j, gp_top_k(j->ctx, GP_F64, GP_DESCENDING, j->rank, j->a.num_rows, t->count, t->rank,
                         GP_U32, t->vertex));
    job_need(j, gp_gather(j->ctx, 4, j->in_degree, GP_U32, t->vertex, t->count, t->in));
    job_need(j, gp_gather(j->ctx, 4, j->out_degree, GP_U32, t->vertex, t->count, t->out));
}

/* In two columns. */
static void print(const struct top *t)
{
    for (int column = 0; column < 2; column++)
        printf("%s%10s %10s %8s %8s", column ? "  " : "", "vertex", "rank", "in", "out");
    for (size_t i = 0; i < TOP_LINES; i++)
        for (size_t k = i; k < TOP; k += TOP_LINES)
            if (k < t->count)
                printf("%s%10u %10.3e %8u %8u", k == i ? "\n" : "  ", t->vertex[k] + 1, t->rank[k],
                       t->in[k], t->out[k]);
    printf("\n");
}

/* The largest rank, the largest of the others, and so on; of equal ones the first. */
static bool compare(struct job *j, const struct top *t, const double *rank, double *serial)
{
    const uint32_t n = j->a.num_rows;
    const double begin = report_now();
    bool good = true;
    uint32_t last = 0;
    for (size_t i = 0; i < t->count; i++) {
        uint32_t best = n;
        for (uint32_t v = 0; v < n; v++)
            if (i == 0 || rank[v] < rank[last] || (rank[v] == rank[last] && v > last))
                best = best == n || rank[v] > rank[best] ? v : best;
        good = good && t->vertex[i] == best && t->rank[i] == rank[best];
        last = best;
    }
    *serial = report_now() - begin;
    return good;
}

void stage_top(struct job *j)
{
    struct report_stage line = {.name = "top ten"};
    const size_t n = j->a.num_rows;
    struct top t = {.count = n < TOP ? n : TOP};
    double rank[TOP], *all;
    uint32_t vertex[TOP], in[TOP], out[TOP];
    bool good = true;
    t.rank = job_array(j, TOP, sizeof *rank);
    t.vertex = job_array(j, TOP, sizeof *vertex);
    t.in = job_array(j, TOP, sizeof *in);
    t.out = job_array(j, TOP, sizeof *out);
    line.seconds = job_time(j, line.name, find, &t);
    line.bytes = 8.0 * (double)n;
    job_fetch(j, t.rank, t.count * sizeof *rank, rank);
    job_fetch(j, t.vertex, t.count * sizeof *vertex, vertex);
    job_fetch(j, t.in, t.count * sizeof *in, in);
    job_fetch(j, t.out, t.count * sizeof *out, out);
    t = (struct top){t.count, rank, vertex, in, out};
    if (j->options.oracle) {
        all = job_host_array(j, n, sizeof *all);
        job_fetch(j, j->rank, n * sizeof *all, all);
        good = compare(j, &t, all, &line.serial);
        free(all);
    }
    job_line(j, &line, good, "%u has %.3g of all", vertex[0] + 1, rank[0]);
    print(&t);
}
