/* SPDX-License-Identifier: MIT */
/*
 * PageRank over several ranks: GPUs or threads of this process or, compiled by mpicc with
 * -DEXAMPLE_MPI, processes of MPI. Each rank makes a part of an R-MAT graph's edges; they become a
 * matrix in blocks of rows with as many entries each, and a product with it is a step.
 *
 * Every vertex has an edge to itself, so no rank is lost at vertices without any.
 */
#include "cli.h"
#include "dist_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct job {
    gp_backend backend;
    int ranks, steps, scale; /* 2^scale vertices */
} job = {GP_BACKEND_CPU, 3, 30, 12};

enum { EDGES_PER_VERTEX = 8 };
static const double damping = 0.85;

/* ---- the graph ------------------------------------------------------------------------------- */

static uint64_t random_of(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    return x ^ x >> 31;
}

/* Edge e of the graph, the same on whatever rank: R-MAT with 0.57, 0.19, 0.19 and 0.05. */
static void edge_of(uint64_t e, size_t vertices, uint32_t *from, uint32_t *to)
{
    uint64_t state = e * 77 + 5;
    *from = *to = (uint32_t)e;
    if (e < vertices)
        return; /* to itself */
    *from = *to = 0;
    for (int bit = 0; bit < job.scale; bit++) {
        const uint64_t u = random_of(&state) % 100;
        *from = *from << 1 | (u >= 76);
        *to = *to << 1 | (u >= 95 || (u >= 57 && u < 76));
    }
}

/* What a rank has of it, in host memory and in its context's. */
struct part {
    gp_comm *comm;
    gp_context *ctx;
    size_t vertices, edges, first, n; /* of the graph; this rank's edges */
    uint32_t *from, *to, *degrees;
    double *values;
    uint64_t *blocks; /* where blocks of rows begin */
    uint32_t *cols, *pointers;
    double *entries;
    size_t rows, nnz;
};

static void *put(struct part *g, const void *host, size_t bytes)
{
    void *memory = dist_new(g->comm, bytes);
    dist_need(g->comm, gp_copy(g->ctx, host, bytes, memory));
    return memory;
}

static void make_edges(struct part *g)
{
    for (size_t i = 0; i < g->n; i++)
        edge_of(g->first + i, g->vertices, &g->from[i], &g->to[i]);
}

/* Edges that leave each vertex, on every rank; an edge has its share of its vertex. */
static void weigh_edges(struct part *g, const uint32_t *from)
{
    gp_dist_histogram_desc d = GP_DIST_HISTOGRAM_DESC_INIT;
    uint32_t *counts = dist_new(g->comm, g->vertices * 4);
    d.kind = GP_DIST_BINS_WHOLE;
    d.dtype = d.counter_dtype = GP_U32;
    d.bins = g->vertices;
    dist_need(g->comm, gp_dist_histogram(g->comm, &d, from, g->n, counts));
    dist_need(g->comm, gp_copy(g->ctx, counts, g->vertices * 4, g->degrees));
    dist_need(g->comm, gp_comm_synchronize(g->comm, 60));
    for (size_t i = 0; i < g->n; i++)
        g->values[i] = 1.0 / g->degrees[g->from[i]];
    gp_free(g->ctx, counts);
}

/* Row to, column from: a block of rows of the matrix. */
static void make_matrix(struct part *g)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    const size_t ranks = (size_t)gp_comm_ranks(g->comm);
    uint64_t blocks[65], *count = dist_new(g->comm, 8), nnz;
    uint32_t *from = put(g, g->from, g->n * 4), *to = put(g, g->to, g->n * 4);
    weigh_edges(g, from);
    double *values = put(g, g->values, g->n * 8);
    g->blocks = dist_new(g->comm, (ranks + 1) * 8);
    g->pointers = dist_new(g->comm, (g->vertices + 1) * 4);
    g->cols = dist_new(g->comm, g->edges * 4);
    g->entries = dist_new(g->comm, g->edges * 8);
    d.value_dtype = GP_F64;
    dist_need(g->comm, gp_dist_csr_from_coo(g->comm, &d, g->vertices, g->vertices, to, from, values,
                                            g->n, g->blocks, g->vertices, g->pointers, g->edges,
                                            g->cols, g->entries, count));
    dist_need(g->comm, gp_copy(g->ctx, g->blocks, (ranks + 1) * 8, blocks));
    dist_need(g->comm, gp_copy(g->ctx, count, 8, &nnz));
    dist_need(g->comm, gp_comm_synchronize(g->comm, 60));
    const size_t rank = (size_t)gp_comm_rank(g->comm);
    g->first = (size_t)blocks[rank];
    g->rows = (size_t)(blocks[rank + 1] - blocks[rank]);
    g->nnz = (size_t)nnz;
    gp_free(g->ctx, from), gp_free(g->ctx, to), gp_free(g->ctx, values), gp_free(g->ctx, count);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* y = damping A x + (1 - damping) / vertices, and y becomes x. Returns the seconds of a step. */
static double iterate(struct part *g, double *host)
{
    gp_csr_desc d = GP_CSR_DESC_INIT;
    gp_dist_halo *halo;
    const double one = 1, rest = (1 - damping) / (double)g->vertices;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = GP_F64;
    dist_need(g->comm, gp_dist_halo_create(g->comm, &d, g->blocks, g->rows, g->nnz, g->pointers,
                                           g->cols, &halo));
    double *x = dist_new(g->comm, (g->rows + gp_dist_halo_items(halo) + 1) * 8);
    double *y = dist_new(g->comm, (g->rows + 1) * 8);
    const double same = 1.0 / (double)g->vertices;
    dist_need(g->comm, gp_fill(g->ctx, 8, &same, g->rows, x));
    const double begin = dist_now();
    for (int step = 0; step < job.steps; step++) {
        dist_need(g->comm, gp_fill(g->ctx, 8, &rest, g->rows, y));
        dist_need(g->comm, gp_dist_spmv(halo, g->entries, &damping, x, &one, y));
        dist_need(g->comm, gp_copy(g->ctx, y, g->rows * 8, x));
    }
    dist_need(g->comm, gp_copy(g->ctx, x, g->rows * 8, host));
    dist_need(g->comm, gp_comm_synchronize(g->comm, 60));
    const double time = dist_now() - begin;
    gp_dist_halo_destroy(halo);
    gp_free(g->ctx, x), gp_free(g->ctx, y);
    return time / job.steps;
}

/* The same by a loop over all edges: the largest difference in this rank's block. */
static double difference(const struct part *g, const double *block)
{
    double *x = malloc(g->vertices * 8), *y = malloc(g->vertices * 8), most = 0;
    if (!x || !y)
        exit(1);
    for (size_t i = 0; i < g->vertices; i++)
        x[i] = 1.0 / (double)g->vertices;
    for (int step = 0; step < job.steps; step++) {
        for (size_t i = 0; i < g->vertices; i++)
            y[i] = (1 - damping) / (double)g->vertices;
        for (size_t e = 0; e < g->edges; e++) {
            uint32_t from, to;
            edge_of(e, g->vertices, &from, &to);
            y[to] += damping * x[from] / g->degrees[from];
        }
        memcpy(x, y, g->vertices * 8);
    }
    for (size_t i = 0; i < g->rows; i++)
        most = fmax(most, fabs(block[i] - x[g->first + i]) / x[g->first + i]);
    free(x), free(y);
    return most;
}

static int pagerank(gp_comm *comm, void *arg)
{
    const size_t rank = (size_t)gp_comm_rank(comm), ranks = (size_t)gp_comm_ranks(comm);
    struct part g = {.comm = comm, .ctx = gp_comm_context(comm)};
    (void)arg;
    g.vertices = (size_t)1 << job.scale;
    g.edges = g.vertices * (EDGES_PER_VERTEX + 1);
    g.first = g.edges * rank / ranks;
    g.n = g.edges * (rank + 1) / ranks - g.first;
    g.from = malloc(g.n * 4 + 4), g.to = malloc(g.n * 4 + 4), g.values = malloc(g.n * 8 + 8);
    g.degrees = malloc(g.vertices * 4);
    double *block = malloc(g.vertices * 8);
    if (!g.from || !g.to || !g.values || !g.degrees || !block)
        return 1;
    make_edges(&g);
    make_matrix(&g);
    const double time = iterate(&g, block), most = difference(&g, block);
    if (rank == 0)
        printf("%zu vertices, %zu edges, %d ranks: %.3f ms a step\n", g.vertices, g.edges,
               (int)ranks, 1e3 * time);
    if (most > 1e-9)
        fprintf(stderr, "dist_pagerank: rank %d: off by %g\n", (int)rank, most);
    gp_free(g.ctx, g.blocks), gp_free(g.ctx, g.pointers), gp_free(g.ctx, g.cols);
    gp_free(g.ctx, g.entries);
    free(g.from), free(g.to), free(g.values), free(g.degrees), free(block);
    return most > 1e-9;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"backend", required_argument, NULL, 'b'},
                                            {"ranks", required_argument, NULL, 'r'},
                                            {"scale", required_argument, NULL, 's'},
                                            {"steps", required_argument, NULL, 't'},
                                            CLI_OPTIONS,
                                            {NULL, 0, NULL, 0}};
    static const struct cli cli = {
        "dist_pagerank",
        "usage: dist_pagerank [OPTION..]\nPageRank of an R-MAT graph over several ranks, checked.\n\n"
        "  --backend cpu|cuda   where ranks compute; with cuda each has a GPU, if there are enough\n"
        "  --ranks N            1 to 64 threads (3); with MPI there are as many as processes\n"
        "  --scale N            2^N vertices, 1 to 24 (12)\n"
        "  --steps N            1 to 64 (30)\n"
        "  --help, --version\n",
        options};
    int o;
    cli_begin(&cli);
    while ((o = cli_next(&cli, argc, argv)) != -1) {
        const int number = o == 'b' ? 1 : atoi(optarg);
        if (o == 'b' && strcmp(optarg, "cpu") && strcmp(optarg, "cuda"))
            cli_wrong(&cli, "--backend is %s, expected cpu or cuda", optarg);
        if (number < 1 || number > (o == 's' ? 24 : 64))
            cli_wrong(&cli, "%s is not a number that is allowed", optarg);
        job.backend = o != 'b'                      ? job.backend
                      : strcmp(optarg, "cuda") == 0 ? GP_BACKEND_CUDA
                                                    : GP_BACKEND_CPU;
        job.ranks = o == 'r' ? number : job.ranks;
        job.steps = o == 't' ? number : job.steps;
        job.scale = o == 's' ? number : job.scale;
    }
    if (optind < argc)
        cli_wrong(&cli, "%s: no operand is expected", argv[optind]);
    return dist_run(job.backend, job.ranks, argc, argv, pagerank, NULL);
}
