/* SPDX-License-Identifier: MIT */
/*
 * Work that depends on checks before it, without the host: a conditional node of a CUDA graph.
 *
 * While a stream is captured, the node is added behind the checks to the graph that the capture
 * makes, and the call's work is captured into its body. Otherwise the context captures a graph of
 * the call on a stream of its own, and queues it once. Memory for either comes from the stream
 * outside (gpi_home()), which is not captured by us.
 */
#include "validate/validate_gate.h"

#include <cuda_runtime_api.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/gate.h"
#include "validate/validate_rule.h"

#if CUDART_VERSION < 13000
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2
#define cudaGraphAddNode cudaGraphAddNode_v2
#endif

/* Back to how it was; the graphs of failed captures are dropped. */
static gp_status give_up(gp_context *ctx, gp_status status)
{
    struct gpi_gate *g = ctx->gate;
    cudaGraph_t graph = NULL;
    if (g->in_body)
        cudaStreamEndCapture(g->body, &graph);
    g->in_body = false;
    graph = NULL;
    if (g->eager && cudaStreamEndCapture(g->outer, &graph) == cudaSuccess && graph)
        cudaGraphDestroy(graph);
    cudaGetLastError();
    ctx->stream = ctx->outside;
    ctx->outside = NULL;
    return status;
}

gp_status gpi_gate_begin(gp_context *ctx, const char *f)
{
    struct gpi_gate *g = ctx->gate;
    g->eager = !gpi_cuda_capturing(ctx);
    g->in_body = false;
    if (g->eager)
        GPI_TRY(gpi_cuda_check(
            ctx, f, (int)cudaStreamBeginCapture(g->outer, cudaStreamCaptureModeRelaxed)));
    ctx->outside = ctx->stream;
    ctx->stream = g->eager ? g->outer : ctx->stream;
    return GP_OK;
}

/* Where the capture of ctx->stream is. */
struct front {
    cudaGraph_t graph;
    const cudaGraphNode_t *nodes;
    const cudaGraphEdgeData *edges;
    size_t count;
};

static cudaError_t front_of(const gp_context *ctx, struct front *front)
{
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    return cudaStreamGetCaptureInfo(ctx->stream, &status, &id, &front->graph, &front->nodes,
                                    &front->edges, &front->count);
}

static cudaError_t add_node(gp_context *ctx, cudaGraphConditionalHandle handle)
{
    struct front front;
    cudaGraphNode_t node;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    cudaError_t e = front_of(ctx, &front);
    if (e == cudaSuccess)
        e = cudaGraphAddNode(&node, front.graph, front.nodes, front.edges, front.count, &params);
    if (e == cudaSuccess)
        e = cudaStreamUpdateCaptureDependencies(ctx->stream, &node, NULL, 1,
                                                cudaStreamSetCaptureDependencies);
    if (e == cudaSuccess)
        e = cudaStreamBeginCaptureToGraph(ctx->gate->body, params.conditional.phGraph_out[0], NULL,
                                          NULL, 0, cudaStreamCaptureModeRelaxed);
    return e;
}

gp_status gpi_gate_enter(gp_context *ctx, const char *f, gp_status s)
{
    struct front front;
    cudaGraphConditionalHandle handle;
    if (s == GP_OK)
        s = gpi_cuda_check(ctx, f, (int)front_of(ctx, &front));
    if (s == GP_OK)
        s = gpi_cuda_check(ctx, f,
                           (int)cudaGraphConditionalHandleCreate(&handle, front.graph, 0,
                                                                 cudaGraphCondAssignDefault));
    if (s == GP_OK)
        s = gpi_validate_kernels_find(ctx)->decide(ctx, f, handle);
    if (s == GP_OK)
        s = gpi_cuda_check(ctx, f, (int)add_node(ctx, handle));
    if (s != GP_OK)
        return give_up(ctx, s);
    ctx->gate->in_body = true;
    ctx->stream = ctx->gate->body;
    return GP_OK;
}

/* Queue a graph once; it is dropped when its place is needed again. */
static cudaError_t queue_once(struct gpi_gate *g, cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t *place = &g->queued[g->next];
    g->next = (g->next + 1) % GPI_GATE_AHEAD;
    if (*place)
        cudaGraphExecDestroy(*place);
    *place = NULL;
    cudaError_t e = cudaGraphInstantiate(place, graph, 0);
    return e == cudaSuccess ? cudaGraphLaunch(*place, stream) : e;
}

gp_status gpi_gate_end(gp_context *ctx, const char *f, gp_status status)
{
    struct gpi_gate *g = ctx->gate;
    cudaGraph_t body = NULL, graph = NULL;
    if (status != GP_OK)
        return give_up(ctx, status);
    cudaError_t e = cudaStreamEndCapture(g->body, &body);
    g->in_body = false;
    if (e == cudaSuccess && g->eager) {
        e = cudaStreamEndCapture(g->outer, &graph);
        g->eager = false;
    }
    if (e == cudaSuccess && graph)
        e = queue_once(g, graph, ctx->outside);
    if (graph)
        cudaGraphDestroy(graph);
    return give_up(ctx, gpi_cuda_check(ctx, f, (int)e));
}
