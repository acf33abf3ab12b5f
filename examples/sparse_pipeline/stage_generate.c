/* SPDX-License-Identifier: MIT */
/* An R-MAT graph, as rmat.h defines it: random numbers are a scan of products, choices by their
 * probabilities are a search among the sums, and a permutation is the order of random numbers. */
#include "compare.h"
#include "rmat.h"
#include "stages.h"

#include <stdlib.h>

struct generator {
    int num_groups;
    uint64_t *bounds[RMAT_GROUPS_MAX], *places[RMAT_GROUPS_MAX];
    size_t paths[RMAT_GROUPS_MAX];
    uint64_t *multipliers, *draws, *parts, *edges;
    uint32_t *paths_drawn, *ends, *label;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void prepare(struct job *j, struct generator *g)
{
    const unsigned scale = (unsigned)j->options.scale;
    const size_t chunk = smaller(j->entries.nnz, RMAT_CHUNK);
    const size_t vertices = j->entries.num_rows, most = vertices > chunk ? vertices : chunk;
    struct rmat_group *group = job_host_array(j, 1, sizeof *group);
    g->num_groups = rmat_groups(scale);
    for (int i = 0; i < g->num_groups; i++) {
        rmat_group(scale, i, group);
        g->paths[i] = group->paths;
        g->bounds[i] = job_array_of(j, group->paths, 8, group->bounds);
        g->places[i] = job_array_of(j, group->paths, 8, group->places);
    }
    free(group);
    g->multipliers = job_array(j, most, 8);
    g->draws = job_array(j, most, 8);
    g->parts = job_array(j, chunk * (size_t)g->num_groups, 8);
    g->edges = job_array(j, chunk, 8);
    g->paths_drawn = job_array(j, chunk, 4);
    g->ends = job_array(j, chunk, 4);
    g->label = job_array(j, vertices, 4);
}

/* n random numbers. */
static void draw(struct job *j, const struct generator *g, uint64_t start, size_t n)
{
    gp_scan_desc products = GP_SCAN_DESC_INIT;
    products.in_dtype = GP_U64;
    products.op = GP_PRODUCT;
    products.init = &start;
    job_need(j, gp_scan(j->ctx, &products, g->multipliers, n, g->draws));
}

/* The row (part 0) or column (part 1) of n edges by its new name. */
static void ends(struct job *j, const struct generator *g, int part, size_t n, uint32_t *out)
{
    gp_gather_desc half = GP_GATHER_DESC_INIT;
    half.item_bytes = 4;
    half.in_stride = 8;
    job_need(j, gp_gather_by(j->ctx, &half, (const uint32_t *)g->edges + part, NULL, n, g->ends));
    job_need(j, gp_gather(j->ctx, 4, g->label, GP_U32, g->ends, n, out));
}

static void chunk_of_edges(struct job *j, const struct generator *g, size_t first, size_t n)
{
    const size_t groups = (size_t)g->num_groups;
    gp_gather_desc place = GP_GATHER_DESC_INIT;
    gp_reduce_segmented_desc sum = GP_REDUCE_SEGMENTED_DESC_INIT;
    place.item_bytes = 8;
    place.index_dtype = GP_U32;
    place.out_stride = 8 * groups;
    sum.in_dtype = GP_U64;
    for (size_t i = 0; i < groups; i++) {
        draw(j, g, rmat_start(j->options.seed, first / RMAT_CHUNK, (int)i), n);
        job_need(j, gp_upper_bound(j->ctx, GP_U64, g->bounds[i], g->paths[i] - 1, g->draws, n,
                                   GP_U32, g->paths_drawn));
        place.in_items = g->paths[i];
        job_need(j, gp_gather_by(j->ctx, &place, g->places[i], g->paths_drawn, n, g->parts + i));
    }
    job_need(j, gp_reduce_rows(j->ctx, &sum, g->parts, n, groups, g->edges));
    ends(j, g, 0, n, j->entries.rows + first);
    ends(j, g, 1, n, j->entries.cols + first);
}

static void generate(struct job *j, void *state)
{
    const struct generator *g = state;
    const size_t edges = j->entries.nnz, vertices = j->entries.num_rows;
    const size_t most = vertices > RMAT_CHUNK ? vertices : smaller(edges, RMAT_CHUNK);
    const double one = 1.0;
    job_need(j, gp_fill(j->ctx, 8, &rmat_multiplier, most, g->multipliers));
    draw(j, g, rmat_start(j->options.seed, UINT64_MAX, 0), vertices);
    job_need(j, gp_argsort(j->ctx, GP_U64, g->draws, vertices, GP_U32, g->label, NULL));
    for (size_t first = 0; first < edges; first += RMAT_CHUNK)
        chunk_of_edges(j, g, first, smaller(edges - first, RMAT_CHUNK));
    job_need(j, gp_fill(j->ctx, 8, &one, edges, j->entries.values));
}

static void finish(struct job *j, struct generator *g)
{
    void *const arrays[] = {g->multipliers, g->draws, g->parts, g->edges,
                            g->paths_drawn, g->ends,  g->label};
    for (int i = 0; i < g->num_groups; i++) {
        job_drop(j, g->bounds[i]);
        job_drop(j, g->places[i]);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        job_drop(j, arrays[i]);
}

void stage_generate(struct job *j)
{
    const struct options *o = &j->options;
    struct coo *m = &j->entries;
    struct generator g = {0};
    struct report_stage line = {.name = "generate"};
    bool good = true;
    m->num_rows = m->num_cols = UINT32_C(1) << o->scale;
    m->nnz = (size_t)o->edge_factor << o->scale;
    m->rows = job_array(j, m->nnz, 4);
    m->cols = job_array(j, m->nnz, 4);
    m->values = job_array(j, m->nnz, 8);
    prepare(j, &g);
    line.seconds = job_time(j, line.name, generate, &g);
    line.bytes = 16.0 * (double)m->nnz;
    finish(j, &g);
    if (o->oracle) {
        const double begin = report_now();
        job_need_host(j, rmat_generate((unsigned)o->scale, o->edge_factor, o->seed, &j->input,
                                       report_progress, &j->report));
        line.serial = report_now() - begin;
        good = check_words(j, "rows", m->rows, j->input.rows, m->nnz) &&
               check_words(j, "columns", m->cols, j->input.cols, m->nnz) &&
               check_values(j, "values", m->values, j->input.values, m->nnz);
    }
    job_line(j, &line, good, "%zu edges", m->nnz);
}
