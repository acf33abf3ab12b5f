/* SPDX-License-Identifier: MIT */
#include "replay.h"

#if EXAMPLE_HAVE_CUDA

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static void need_cuda(struct job *j, cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    report_clear(&j->report);
    fprintf(stderr, "sparse_pipeline: CUDA: %s\n", cudaGetErrorString(error));
    exit(EXIT_ERROR);
}

static void *capture(struct job *j, const struct replay *r)
{
    const cudaStream_t stream = gp_context_stream(j->ctx);
    cudaGraph_t captured;
    cudaGraphExec_t graph;
    need_cuda(j, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    r->queue(j, r->state);
    need_cuda(j, cudaStreamEndCapture(stream, &captured));
    need_cuda(j, cudaGraphInstantiate(&graph, captured, 0));
    need_cuda(j, cudaGraphDestroy(captured));
    return graph;
}

static void launch(struct job *j, void *graph)
{
    need_cuda(j, cudaGraphLaunch(graph, gp_context_stream(j->ctx)));
}

static void destroy(void *graph)
{
    cudaGraphExecDestroy(graph);
}

#else

static void *capture(struct job *j, const struct replay *r)
{
    (void)j, (void)r;
    return NULL;
}

static void launch(struct job *j, void *graph)
{
    (void)j, (void)graph;
}

static void destroy(void *graph)
{
    (void)graph;
}

#endif

void replay_begin(struct job *j, struct replay *r, void (*queue)(struct job *j, const void *state),
                  const void *state)
{
    *r = (struct replay){queue, state, NULL};
    queue(j, state);
    if (gp_context_backend(j->ctx) == GP_BACKEND_CUDA)
        r->graph = capture(j, r);
}

void replay_run(struct job *j, const struct replay *r, int times)
{
    for (int i = 0; i < times; i++)
        if (r->graph)
            launch(j, r->graph);
        else
            r->queue(j, r->state);
}

void replay_end(struct replay *r)
{
    if (r->graph)
        destroy(r->graph);
}
