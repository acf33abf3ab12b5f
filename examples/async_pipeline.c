/* SPDX-License-Identifier: MIT */
/*
 * Filter, sort, find runs and count their lengths, without a number that the host knows: on a GPU
 * captured once in a CUDA graph and replayed with other data and other numbers of items, 0 among
 * them. On the CPU the same calls run each time.
 */
#include <gp/gp.h>

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if EXAMPLE_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

enum { N = 200000, VALUES = 5000, BINS = 64 };
static const size_t rounds[] = {N, 1000, 0, 123456, 1, N};

static uint32_t items[N], lengths[BINS];
static gp_context *ctx;

static void need(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "async_pipeline: %s\n", gp_last_error(ctx));
    exit(1);
}

/* Where the context computes. */
struct pipeline {
    uint64_t *num_items, *num_kept, *num_runs;
    void *items, *kept, *sorted, *values, *offsets, *lengths, *histogram;
};

static void *device(size_t bytes)
{
    void *memory;
    need(gp_malloc(ctx, bytes, &memory) == GP_OK);
    return memory;
}

/* Each number that a call writes is the one that the next call reads; N is the bound of all. */
static void queue(const struct pipeline *p)
{
    static const uint32_t limit = VALUES / 2;
    gp_compact_desc filter = GP_COMPACT_DESC_INIT;
    gp_radix_sort_options sort = GP_RADIX_SORT_OPTIONS_INIT;
    gp_run_length_desc runs = GP_RUN_LENGTH_DESC_INIT;
    gp_histogram_options count = GP_HISTOGRAM_OPTIONS_INIT;
    filter.compare = GP_LT, filter.dtype = GP_U32, filter.value = &limit;
    runs.key_dtype = GP_U32, runs.key_bytes = 4, runs.index_dtype = GP_U32;
    filter.device_n = p->num_items;
    sort.device_n = runs.device_n = p->num_kept;
    count.device_n = p->num_runs;
    need(gp_compact_by(ctx, &filter, p->items, NULL, N, p->kept, p->num_kept) == GP_OK);
    need(gp_radix_sort(ctx, GP_U32, p->kept, N, p->sorted, &sort) == GP_OK);
    need(gp_run_length_encode_by(ctx, &runs, p->sorted, N, p->values, p->offsets, p->lengths,
                                 p->num_runs) == GP_OK);
    need(gp_bincount(ctx, GP_U32, p->lengths, N, BINS, GP_U32, p->histogram, &count) == GP_OK);
}

#if EXAMPLE_HAVE_CUDA
static cudaGraphExec_t graph;

/* The calls before have brought the workspace to its size: nothing may be allocated now. */
static void capture(const struct pipeline *p)
{
    cudaGraph_t captured;
    const cudaStream_t stream = gp_context_stream(ctx);
    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    queue(p);
    need(cudaStreamEndCapture(stream, &captured) == cudaSuccess);
    need(cudaGraphInstantiate(&graph, captured, 0) == cudaSuccess);
    cudaGraphDestroy(captured);
}
#endif

static void run(const struct pipeline *p)
{
#if EXAMPLE_HAVE_CUDA
    if (gp_context_backend(ctx) == GP_BACKEND_CUDA) {
        if (!graph)
            capture(p);
        need(cudaGraphLaunch(graph, gp_context_stream(ctx)) == cudaSuccess);
        return;
    }
#endif
    queue(p);
}

/* How many values below the limit are n of the items, against the histogram. */
static int is_wrong(size_t n)
{
    static uint32_t times[VALUES / 2], expected[BINS];
    memset(times, 0, sizeof times);
    memset(expected, 0, sizeof expected);
    for (size_t i = 0; i < n; i++)
        if (items[i] < VALUES / 2)
            times[items[i]]++;
    for (size_t v = 0; v < VALUES / 2; v++)
        if (times[v] > 0 && times[v] < BINS)
            expected[times[v]]++;
    return memcmp(expected, lengths, sizeof expected) != 0;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    uint64_t state = 5, numbers[3];
    cli_alone("async_pipeline", "Calls that pass on their numbers of items, checked.", argc, argv);
    need(gp_context_create(&ctx, NULL) == GP_OK);
    const struct pipeline p = {device(8),     device(8),       device(8),     device(4 * N),
                               device(4 * N), device(4 * N),   device(4 * N), device(4 * N),
                               device(4 * N), device(4 * BINS)};
    numbers[0] = 0;
    need(gp_copy(ctx, numbers, 8, p.num_items) == GP_OK);
    queue(&p); /* takes the workspace for N items, though there is none */
    for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++) {
        for (size_t i = 0; i < N; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            items[i] = (uint32_t)((state >> 33) % VALUES);
        }
        numbers[0] = rounds[r];
        need(gp_copy(ctx, numbers, 8, p.num_items) == GP_OK);
        need(gp_copy(ctx, items, sizeof items, p.items) == GP_OK);
        run(&p);
        need(gp_copy(ctx, p.num_kept, 8, &numbers[1]) == GP_OK);
        need(gp_copy(ctx, p.num_runs, 8, &numbers[2]) == GP_OK);
        need(gp_copy(ctx, p.histogram, sizeof lengths, lengths) == GP_OK);
        need(gp_context_synchronize(ctx) == GP_OK);
        printf("%llu items, %llu kept, %llu different\n", (unsigned long long)numbers[0],
               (unsigned long long)numbers[1], (unsigned long long)numbers[2]);
        wrong |= is_wrong(rounds[r]);
    }
#if EXAMPLE_HAVE_CUDA
    if (graph)
        cudaGraphExecDestroy(graph);
#endif
    void *const memory[] = {p.num_items, p.num_kept, p.num_runs, p.items,   p.kept,
                            p.sorted,    p.values,   p.offsets,  p.lengths, p.histogram};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        gp_free(ctx, memory[i]);
    gp_context_destroy(ctx);
    return wrong;
}
