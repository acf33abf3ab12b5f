/* SPDX-License-Identifier: MIT */
/*
 * Triangles. Vertices are numbered by their degrees, and each edge is kept once, from its smaller
 * number to its larger one: u -> v. Then each triangle is u -> v, v -> w and an edge u -> w. All
 * pairs of the first two are expanded, a batch at a time, and searched in the sorted list of edges.
 */
#include "stages.h"

#include <stdlib.h>

enum { BATCH = 1 << 25 }; /* pairs */

struct triangles {
    uint32_t *numbers;          /* of the vertices */
    uint32_t *rows, *cols;      /* every entry in both directions */
    struct csr both, up;        /* patterns: without duplicates; to larger numbers alone */
    uint64_t *edges;            /* u << 32 | v, ascending */
    uint64_t *from;             /* u << 32 */
    uint64_t *offsets, *starts; /* of the list of v, of all pairs and of up.cols */
    uint32_t *longest;          /* list */
    uint64_t found;
};

/* Arrays of a step are in the context's memory until it ends. */
static uint32_t *words(struct job *j, size_t n)
{
    return job_array(j, n, 4);
}

/* numbers[v] = the place of v in the order of degrees. */
static void number_vertices(struct job *j, struct triangles *t)
{
    const size_t n = j->a.num_rows;
    gp_histogram_options add = GP_HISTOGRAM_OPTIONS_INIT;
    uint32_t *degree = words(j, n), *order = words(j, n), *count = words(j, n);
    add.accumulate = 1;
    t->numbers = words(j, n);
    job_need(j, gp_copy(j->ctx, j->in_degree, n * 4, degree));
    job_need(j, gp_bincount(j->ctx, GP_U32, j->a.cols, j->a.nnz, n, GP_U32, degree, &add));
    job_need(j, gp_argsort(j->ctx, GP_U32, degree, n, GP_U32, order, NULL));
    job_need(j, gp_iota(j->ctx, GP_U32, NULL, NULL, n, count));
    job_need(j, gp_scatter(j->ctx, 4, count, GP_U32, order, n, t->numbers));
    job_drop(j, degree);
    job_drop(j, order);
    job_drop(j, count);
}

/* Every entry by its numbers, and once more with its ends exchanged. */
static void both_directions(struct job *j, struct triangles *t)
{
    const struct csr *a = &j->a;
    const size_t nnz = a->nnz;
    uint32_t *row = words(j, nnz);
    t->rows = words(j, 2 * nnz);
    t->cols = words(j, 2 * nnz);
    job_need(j, gp_csr_to_coo(j->ctx, GP_U32, a->row_pointers, a->num_rows, nnz, GP_U32, row));
    job_need(j, gp_gather(j->ctx, 4, t->numbers, GP_U32, row, nnz, t->rows));
    job_need(j, gp_gather(j->ctx, 4, t->numbers, GP_U32, a->cols, nnz, t->cols));
    job_need(j, gp_copy(j->ctx, t->cols, nnz * 4, t->rows + nnz));
    job_need(j, gp_copy(j->ctx, t->rows, nnz * 4, t->cols + nnz));
    job_drop(j, row);
    job_drop(j, t->numbers);
}

static struct csr pattern(struct job *j, size_t n, size_t nnz)
{
    return (struct csr){(uint32_t)n, (uint32_t)n, nnz, words(j, n + 1), words(j, nnz), NULL};
}

/* up: each edge once, from the smaller number to the larger one. */
static void direct_edges(struct job *j, struct triangles *t)
{
    const size_t n = j->a.num_rows, entries = 2 * j->a.nnz;
    gp_coo_desc once = GP_COO_DESC_INIT;
    gp_csr_filter_desc upper = GP_CSR_FILTER_DESC_INIT;
    uint64_t *count = job_array(j, 1, 8);
    once.value_dtype = upper.value_dtype = (gp_dtype)0;
    once.duplicates = GP_DUPLICATES_FIRST;
    upper.entries = GP_ENTRIES_UPPER;
    upper.diagonal = 1;
    t->both = pattern(j, n, entries);
    job_need(j, gp_csr_from_coo(j->ctx, &once, n, n, t->rows, t->cols, NULL, entries,
                                t->both.row_pointers, t->both.cols, NULL, count));
    t->both.nnz = job_fetch_count(j, count);
    job_drop(j, t->rows);
    job_drop(j, t->cols);
    t->up = pattern(j, n, t->both.nnz);
    job_need(j, gp_csr_filter(j->ctx, &upper, n, n, t->both.nnz, t->both.row_pointers, t->both.cols,
                              NULL, t->up.row_pointers, t->up.cols, NULL, count));
    t->up.nnz = job_fetch_count(j, count);
    job_drop(j, t->both.row_pointers);
    job_drop(j, t->both.cols);
    job_drop(j, count);
}

/* out[2 i + half] = in[i]: the lower (0) or upper (1) half of 8 bytes, as they lie in memory. */
static void put_half(struct job *j, int half, const uint32_t *in, size_t n, uint64_t *out)
{
    gp_gather_desc desc = GP_GATHER_DESC_INIT;
    desc.item_bytes = 4;
    desc.out_stride = 8;
    job_need(j, gp_gather_by(j->ctx, &desc, in, NULL, n, (uint32_t *)out + half));
}

static uint64_t *running_sum(struct job *j, const uint32_t *lengths, size_t n)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    uint64_t *sums = job_array(j, n + 1, 8);
    desc.kind = GP_SCAN_ROW_POINTERS;
    desc.in_dtype = GP_U32;
    desc.out_dtype = GP_U64;
    job_need(j, gp_scan(j->ctx, &desc, lengths, n, sums));
    return sums;
}

/* The edges as sorted numbers of 8 bytes, and for each u -> v where the list of v is. */
static void list_edges(struct job *j, struct triangles *t)
{
    static const uint64_t zero = 0;
    const size_t n = j->a.num_rows, m = t->up.nnz;
    uint32_t *row = words(j, m), *lengths = words(j, n), *of_edges = words(j, m);
    t->longest = words(j, 1);
    t->edges = job_array(j, m, 8);
    t->from = job_array(j, m, 8);
    t->starts = job_array(j, m, 8);
    job_need(j, gp_csr_to_coo(j->ctx, GP_U32, t->up.row_pointers, n, m, GP_U32, row));
    job_need(j, gp_fill(j->ctx, 8, &zero, m, t->from));
    put_half(j, 1, row, m, t->from);
    put_half(j, 1, row, m, t->edges);
    put_half(j, 0, t->up.cols, m, t->edges);
    job_need(j, gp_adjacent_difference(j->ctx, GP_U32, t->up.row_pointers + 1, n, lengths));
    job_need(j, gp_reduce(j->ctx, GP_U32, GP_MAX, lengths, n, t->longest));
    uint64_t *begins = running_sum(j, lengths, n);
    job_need(j, gp_gather(j->ctx, 8, begins, GP_U32, t->up.cols, m, t->starts));
    job_need(j, gp_gather(j->ctx, 4, lengths, GP_U32, t->up.cols, m, of_edges));
    t->offsets = running_sum(j, of_edges, m);
    job_drop(j, begins);
    job_drop(j, row);
    job_drop(j, lengths);
    job_drop(j, of_edges);
}

/* Edges with about BATCH pairs each; returns how many batches. */
static size_t cut(struct job *j, struct triangles *t, uint64_t **edges, uint64_t **pairs)
{
    static const uint64_t step = BATCH;
    const size_t m = t->up.nnz;
    const size_t batches = (size_t)(job_fetch_count(j, t->offsets + m) / BATCH) + 1;
    uint64_t *needles = job_array(j, batches, 8), *cuts = job_array(j, batches + 1, 8);
    uint64_t *offsets = job_array(j, batches + 1, 8), last = m;
    *edges = job_host_array(j, batches + 1, 8);
    *pairs = job_host_array(j, batches + 1, 8);
    job_need(j, gp_iota(j->ctx, GP_U64, NULL, &step, batches, needles));
    job_need(j, gp_lower_bound(j->ctx, GP_U64, t->offsets, m + 1, needles, batches, GP_U64, cuts));
    job_need(j, gp_fill(j->ctx, 8, &last, 1, cuts + batches));
    job_need(j, gp_gather(j->ctx, 8, t->offsets, GP_U64, cuts, batches + 1, offsets));
    job_fetch(j, cuts, (batches + 1) * 8, *edges);
    job_fetch(j, offsets, (batches + 1) * 8, *pairs);
    job_drop(j, needles);
    job_drop(j, cuts);
    job_drop(j, offsets);
    return batches;
}

struct batch {
    uint64_t *pairs;  /* u << 32 | w, or the edge that would close a triangle */
    uint32_t *thirds; /* w */
    uint32_t *places; /* of those edges */
    uint64_t *sums;   /* of the places before and behind equal edges */
};

/* Edges that are in the list have one more edge not above them than below: by the sums of both
 * numbers one knows how many are. */
static uint64_t count_batch(struct job *j, const struct triangles *t, const struct batch *b,
                            size_t first, size_t edges, size_t n)
{
    gp_interval_desc lists = GP_INTERVAL_DESC_INIT;
    gp_reduce_desc sum = GP_REDUCE_DESC_INIT;
    uint64_t sums[2];
    lists.item_bytes = 4;
    lists.in_items = t->up.nnz;
    lists.offset_dtype = GP_U64;
    sum.in_dtype = GP_U32;
    sum.out_dtype = GP_U64;
    job_need(j, gp_copy_intervals(j->ctx, &lists, t->up.cols, t->starts + first, t->offsets + first,
                                  edges, n, NULL, b->thirds));
    job_need(j,
             gp_expand(j->ctx, 8, t->from + first, GP_U64, t->offsets + first, edges, n, b->pairs));
    put_half(j, 0, b->thirds, n, b->pairs);
    job_need(j,
             gp_lower_bound(j->ctx, GP_U64, t->edges, t->up.nnz, b->pairs, n, GP_U32, b->places));
    job_need(j, gp_reduce_by(j->ctx, &sum, b->places, n, b->sums));
    job_need(j,
             gp_upper_bound(j->ctx, GP_U64, t->edges, t->up.nnz, b->pairs, n, GP_U32, b->places));
    job_need(j, gp_reduce_by(j->ctx, &sum, b->places, n, b->sums + 1));
    job_fetch(j, b->sums, sizeof sums, sums);
    return sums[1] - sums[0];
}

static void count_pairs(struct job *j, struct triangles *t)
{
    uint64_t *edges, *pairs;
    uint32_t longest;
    const size_t batches = cut(j, t, &edges, &pairs);
    job_fetch(j, t->longest, sizeof longest, &longest);
    size_t most = (size_t)BATCH + longest;
    most = pairs[batches] < most ? pairs[batches] : most;
    struct batch b = {job_array(j, most, 8), words(j, most), words(j, most), job_array(j, 2, 8)};
    t->found = 0;
    for (size_t i = 0; i < batches; i++) {
        t->found +=
            count_batch(j, t, &b, edges[i], edges[i + 1] - edges[i], pairs[i + 1] - pairs[i]);
        report_progress(&j->report, (double)i, (double)batches);
    }
    job_drop(j, b.pairs);
    job_drop(j, b.thirds);
    job_drop(j, b.places);
    job_drop(j, b.sums);
    free(edges);
    free(pairs);
}

static void count(struct job *j, void *state)
{
    struct triangles *t = state;
    number_vertices(j, t);
    both_directions(j, t);
    direct_edges(j, t);
    list_edges(j, t);
    count_pairs(j, t);
    void *const arrays[] = {t->up.row_pointers, t->up.cols, t->edges,  t->from,
                            t->offsets,         t->starts,  t->longest};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        job_drop(j, arrays[i]);
}

void stage_triangles(struct job *j)
{
    struct report_stage line = {.name = "triangles"};
    struct triangles t = {0};
    uint64_t expected;
    bool good = true;
    if (j->a.nnz > UINT32_MAX / 2) {
        job_note(j, line.name, "left out: more than %u entries", UINT32_MAX / 2);
        return;
    }
    line.seconds = job_time(j, line.name, count, &t);
    if (j->options.oracle) {
        report_begin(&j->report, "serial count");
        const double begin = report_now();
        job_need_host(
            j, oracle_triangles(&j->host, &j->host_links, &expected, report_progress, &j->report));
        line.serial = report_now() - begin;
        good = t.found == expected;
    }
    job_line(j, &line, good, "%llu", (unsigned long long)t.found);
}
