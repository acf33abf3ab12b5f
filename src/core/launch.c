/* SPDX-License-Identifier: MIT */
#include "core/launch_ahead.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"

enum { GRAPHS = 8 }; /* kept by a context; the one that was not used for longest makes room */

struct sequence {
    const void *kernels[GPI_LAUNCHES_MAX];
    bool overlaps[GPI_LAUNCHES_MAX];
    int count, ahead; /* launches, and those ahead of them: see node_add() */
    uint64_t used;    /* when, in uses of any; 0: never */
    bool refused;     /* a graph of it could not be made */
    cudaGraph_t graph;
    cudaGraphExec_t exec; /* from the second use on */
    cudaGraphNode_t nodes[GPI_LAUNCHES_MAX];
};

struct gpi_launch_graphs {
    uint64_t uses;
    struct sequence sequences[GRAPHS];
    struct gpi_launch ahead[GPI_LAUNCHES_MAX]; /* of the next ones, see core/launch_ahead.h */
    int ahead_count;
};

/* ---- one by one ------------------------------------------------------------------------------ */

static cudaError_t launch(const gp_context *ctx, const struct gpi_launch *l)
{
    if (!l->kernel)
        return cudaMemsetAsync(l->arguments[0], 0, l->bytes, ctx->stream);
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {.gridDim = {l->blocks, 1, 1},
                                 .blockDim = {l->threads, 1, 1},
                                 .dynamicSmemBytes = l->bytes,
                                 .stream = ctx->stream,
                                 .attrs = attributes};
    if (l->cooperative)
        attributes[config.numAttrs++] =
            (cudaLaunchAttribute){.id = cudaLaunchAttributeCooperative, .val = {.cooperative = 1}};
    if (l->overlap)
        attributes[config.numAttrs++] =
            (cudaLaunchAttribute){.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                                  .val = {.programmaticStreamSerializationAllowed = 1}};
    return cudaLaunchKernelExC(&config, l->kernel, (void **)l->arguments);
}

static cudaError_t launch_each(const gp_context *ctx, const struct gpi_launch *launches, int count)
{
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < count && e == cudaSuccess; i++)
        e = launch(ctx, &launches[i]);
    return e;
}

/* ---- as a graph ------------------------------------------------------------------------------ */

static struct cudaKernelNodeParams kernel_params(const struct gpi_launch *l)
{
    return (struct cudaKernelNodeParams){.func = (void *)l->kernel,
                                         .gridDim = {l->blocks, 1, 1},
                                         .blockDim = {l->threads, 1, 1},
                                         .sharedMemBytes = (unsigned)l->bytes,
                                         .kernelParams = (void **)l->arguments};
}

static struct cudaMemsetParams memset_params(const struct gpi_launch *l)
{
    return (struct cudaMemsetParams){
        .dst = l->arguments[0], .elementSize = 1, .width = l->bytes, .height = 1};
}

/* A node waits for the end of the one before it, or, to overlap, for its blocks. */
static cudaError_t node_connect(struct sequence *s, int before, int i, bool overlap)
{
    const cudaGraphEdgeData edge = {
        .from_port = overlap ? cudaGraphKernelNodePortProgrammatic : cudaGraphKernelNodePortDefault,
        .type = overlap ? cudaGraphDependencyTypeProgrammatic : cudaGraphDependencyTypeDefault};
    if (before < 0)
        return cudaSuccess;
#if CUDART_VERSION >= 13000
    return cudaGraphAddDependencies(s->graph, &s->nodes[before], &s->nodes[i], &edge, 1);
#else
    return cudaGraphAddDependencies_v2(s->graph, &s->nodes[before], &s->nodes[i], &edge, 1);
#endif
}

/* Zeros behind launches that were ahead do not wait for these, but what follows waits for both. */
static cudaError_t node_add(struct sequence *s, int i, const struct gpi_launch *l)
{
    const cudaLaunchAttributeValue cooperative = {.cooperative = 1};
    const struct cudaKernelNodeParams kernel = kernel_params(l);
    const struct cudaMemsetParams fill = memset_params(l);
    cudaError_t e = l->kernel ? cudaGraphAddKernelNode(&s->nodes[i], s->graph, NULL, 0, &kernel)
                              : cudaGraphAddMemsetNode(&s->nodes[i], s->graph, NULL, 0, &fill);
    if (e == cudaSuccess && l->cooperative)
        e = cudaGraphKernelNodeSetAttribute(s->nodes[i], cudaLaunchAttributeCooperative,
                                            &cooperative);
    const bool zeros = s->ahead && !s->kernels[s->ahead];
    if (zeros && i == s->ahead + 1 && e == cudaSuccess)
        e = node_connect(s, i - 2, i, false);
    if (zeros && i == s->ahead)
        return e;
    return e == cudaSuccess ? node_connect(s, i - 1, i, l->overlap) : e;
}

static void graph_free(struct sequence *s)
{
    if (s->exec)
        cudaGraphExecDestroy(s->exec); /* what still runs goes on, and is freed after */
    if (s->graph)
        cudaGraphDestroy(s->graph);
    s->exec = NULL;
    s->graph = NULL;
}

static cudaError_t graph_make(struct sequence *s, const struct gpi_launch *launches)
{
    cudaError_t e = cudaGraphCreate(&s->graph, 0);
    for (int i = 0; i < s->count && e == cudaSuccess; i++)
        e = node_add(s, i, &launches[i]);
    return e == cudaSuccess ? cudaGraphInstantiate(&s->exec, s->graph, 0) : e;
}

static cudaError_t graph_set(struct sequence *s, const struct gpi_launch *launches)
{
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < s->count && e == cudaSuccess; i++) {
        const struct cudaKernelNodeParams kernel = kernel_params(&launches[i]);
        const struct cudaMemsetParams fill = memset_params(&launches[i]);
        e = launches[i].kernel ? cudaGraphExecKernelNodeSetParams(s->exec, s->nodes[i], &kernel)
                               : cudaGraphExecMemsetNodeSetParams(s->exec, s->nodes[i], &fill);
    }
    return e;
}

/* The graph has these arguments; false: there is none, launch one by one. */
static bool graph_ready(struct sequence *s, const struct gpi_launch *launches)
{
    if (s->refused)
        return false;
    if ((s->exec ? graph_set(s, launches) : graph_make(s, launches)) == cudaSuccess)
        return true;
    cudaGetLastError();
    graph_free(s);
    s->refused = true;
    return false;
}

/* ---- which graph ----------------------------------------------------------------------------- */

static bool same_sequence(const struct sequence *s, const struct gpi_launch *launches, int count,
                          int ahead)
{
    bool same = s->used && s->count == count && s->ahead == ahead;
    for (int i = 0; i < count && same; i++)
        same = s->kernels[i] == launches[i].kernel && s->overlaps[i] == launches[i].overlap;
    return same;
}

/* The sequence with its graph ready; NULL: not yet, or not at all. */
static struct sequence *sequence_find(gp_context *ctx, const struct gpi_launch *launches, int count,
                                      int ahead)
{
    struct gpi_launch_graphs *g = ctx->graphs;
    if (!g)
        g = ctx->graphs = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    struct sequence *oldest = &g->sequences[0];
    for (struct sequence *s = g->sequences; s < g->sequences + GRAPHS; s++) {
        if (same_sequence(s, launches, count, ahead)) {
            s->used = ++g->uses;
            return graph_ready(s, launches) ? s : NULL;
        }
        oldest = s->used < oldest->used ? s : oldest;
    }
    graph_free(oldest);
    *oldest = (struct sequence){.count = count, .ahead = ahead, .used = ++g->uses};
    for (int i = 0; i < count; i++) {
        oldest->kernels[i] = launches[i].kernel;
        oldest->overlaps[i] = launches[i].overlap;
    }
    return NULL;
}

static gp_status queue(gp_context *ctx, const char *function, const struct gpi_launch *launches,
                       int count, int ahead)
{
    struct sequence *s = NULL;
    if (count > 1 && !ctx->outside && !gpi_cuda_capturing(ctx))
        s = sequence_find(ctx, launches, count, ahead);
    const cudaError_t e =
        s ? cudaGraphLaunch(s->exec, ctx->stream) : launch_each(ctx, launches, count);
    return gpi_cuda_check(ctx, function, e);
}

gp_status gpi_launch_all(gp_context *ctx, const char *function, const struct gpi_launch *launches,
                         int count)
{
    struct gpi_launch_graphs *g = ctx->graphs;
    struct gpi_launch all[GPI_LAUNCHES_MAX];
    const int ahead = g ? g->ahead_count : 0;
    if (ahead == 0)
        return queue(ctx, function, launches, count, 0);
    g->ahead_count = 0;
    if (ahead + count > GPI_LAUNCHES_MAX) {
        GPI_TRY(queue(ctx, function, g->ahead, ahead, 0));
        return queue(ctx, function, launches, count, 0);
    }
    memcpy(all, g->ahead, (size_t)ahead * sizeof *all);
    memcpy(all + ahead, launches, (size_t)count * sizeof *all);
    return queue(ctx, function, all, ahead + count, ahead);
}

gp_status gpi_launch_ahead(gp_context *ctx, const char *function, const struct gpi_launch *launches,
                           int count)
{
    struct gpi_launch_graphs *g = ctx->graphs;
    if (!g)
        g = ctx->graphs = calloc(1, sizeof *g);
    if (!g)
        return queue(ctx, function, launches, count, 0);
    memcpy(g->ahead, launches, (size_t)count * sizeof *launches);
    g->ahead_count = count;
    return GP_OK;
}

gp_status gpi_launch_ahead_end(gp_context *ctx, const char *function, gp_status status)
{
    struct gpi_launch_graphs *g = ctx->graphs;
    const int ahead = g ? g->ahead_count : 0;
    if (ahead == 0)
        return status;
    g->ahead_count = 0;
    return status == GP_OK ? queue(ctx, function, g->ahead, ahead, 0) : status;
}

void gpi_launch_graphs_free(struct gpi_launch_graphs *graphs)
{
    for (int i = 0; graphs && i < GRAPHS; i++)
        graph_free(&graphs->sequences[i]);
    free(graphs);
}
