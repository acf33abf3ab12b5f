/* SPDX-License-Identifier: MIT */
/* The picture: entries per cell of a grid are a histogram of columns for each strip of rows, which
 * lies in one piece; degrees have been counted. */
#include "degrees.h"
#include "mmio.h"
#include "picture.h"
#include "stages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 120 }; /* at most, in each direction */

struct grid {
    size_t rows, cols; /* of cells */
    uint32_t *first;   /* row of each strip, and the number of rows */
    uint32_t *begin;   /* entry of each strip */
    uint64_t *cells;
    uint32_t *edges; /* of degrees */
    uint64_t *in, *out;
};

static void count(struct job *j, void *state)
{
    const struct grid *g = state;
    const struct csr *a = &j->a;
    const uint32_t low = 0, high = a->num_cols;
    uint32_t begin[CELLS + 1];
    degrees_count(j, j->in_degree, a->num_rows, g->edges, g->in);
    degrees_count(j, j->out_degree, a->num_cols, g->edges, g->out);
    job_need(j, gp_gather(j->ctx, 4, a->row_pointers, GP_U32, g->first, g->rows + 1, g->begin));
    job_fetch(j, g->begin, (g->rows + 1) * sizeof *begin, begin);
    for (size_t i = 0; i < g->rows; i++)
        job_need(j, gp_histogram_even(j->ctx, GP_U32, a->cols + begin[i], begin[i + 1] - begin[i],
                                      &low, &high, g->cols, GP_U64, g->cells + i * g->cols, NULL));
}

/* The first row of strip i. */
static uint32_t first_row(const struct job *j, const struct grid *g, size_t i)
{
    return (uint32_t)(i * j->a.num_rows / g->rows);
}

static bool compare(struct job *j, const struct grid *g, const uint64_t *cells, double *serial)
{
    const struct csr *a = &j->host;
    uint64_t *expected = calloc(g->rows * g->cols + 1, sizeof *expected);
    const double begin = report_now();
    job_need_host(j, expected != NULL);
    for (size_t i = 0; i < g->rows; i++)
        for (uint32_t r = first_row(j, g, i); r < first_row(j, g, i + 1); r++)
            for (uint32_t k = a->row_pointers[r]; k < a->row_pointers[r + 1]; k++)
                expected[i * g->cols + (uint64_t)a->cols[k] * g->cols / a->num_cols]++;
    *serial = report_now() - begin;
    const bool good = memcmp(cells, expected, g->rows * g->cols * sizeof *cells) == 0;
    free(expected);
    return good;
}

static void draw(struct job *j, const struct grid *g, const uint64_t *cells)
{
    char title[MM_NAME_BYTES + 64], name[MM_NAME_BYTES];
    const char *path = j->options.picture;
    uint64_t in[DEGREE_BINS], out[DEGREE_BINS];
    job_fetch(j, g->in, sizeof in, in);
    job_fetch(j, g->out, sizeof out, out);
    snprintf(title, sizeof title, "%s: %zu entries", j->title, j->a.nnz);
    const struct picture p = {
        title, j->a.num_rows, j->a.num_cols, g->rows, g->cols, cells, DEGREE_BINS, in, out};
    if (picture_write(path, &p))
        return;
    fprintf(stderr, "sparse_pipeline: %s: %s\n", mm_printable(path, name), strerror(errno));
    exit(EXIT_ERROR);
}

static size_t cells_of(uint32_t n)
{
    return n < CELLS ? n : CELLS;
}

void stage_picture(struct job *j)
{
    struct report_stage line = {.name = "picture"};
    struct grid g = {.rows = cells_of(j->a.num_rows), .cols = cells_of(j->a.num_cols)};
    uint32_t first[CELLS + 1] = {0}, edges[DEGREE_BINS + 1];
    bool good = true;
    if (!g.rows || !g.cols)
        g.rows = g.cols = 0;
    for (size_t i = 0; g.rows && i <= g.rows; i++)
        first[i] = first_row(j, &g, i);
    degrees_edges(edges);
    g.first = job_array_of(j, g.rows + 1, 4, first);
    g.edges = job_array_of(j, DEGREE_BINS + 1, 4, edges);
    g.begin = job_array(j, g.rows + 1, 4);
    g.cells = job_array(j, g.rows * g.cols, 8);
    g.in = job_array(j, DEGREE_BINS, 8);
    g.out = job_array(j, DEGREE_BINS, 8);
    line.seconds = job_time(j, line.name, count, &g);
    line.bytes = 4.0 * (double)j->a.nnz;
    uint64_t *cells = job_host_array(j, g.rows * g.cols, sizeof *cells);
    job_fetch(j, g.cells, g.rows * g.cols * sizeof *cells, cells);
    good = !j->options.oracle || compare(j, &g, cells, &line.serial);
    draw(j, &g, cells);
    free(cells);
    job_line(j, &line, good, "%zu x %zu cells", g.rows, g.cols);
    void *const arrays[] = {g.first, g.edges, g.begin, g.cells, g.in, g.out};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        job_drop(j, arrays[i]);
}
