/* SPDX-License-Identifier: MIT */
/* Record a scan in a CUDA graph once and replay it with other data. Exit code 77: no GPU. */
#include <cuda_runtime_api.h>
#include <gp/gp.h>

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, REPLAYS = 3 };

static gp_context *ctx;

static void need(gp_status status)
{
    if (status == GP_OK)
        return;
    fprintf(stderr, "graph_capture: %s\n", gp_last_error(ctx));
    exit(1);
}

static void need_cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "graph_capture: %s\n", cudaGetErrorString(error));
    exit(1);
}

int main(int argc, char **argv)
{
    static int32_t host[N];
    int32_t last;
    int devices = 0, wrong = 0;
    void *in, *out;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    gp_context_options options = GP_CONTEXT_OPTIONS_INIT;
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    size_t workspace;
    cli_alone("graph_capture", "A call in a CUDA graph, replayed with other data, checked.", argc,
              argv);

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return puts("graph_capture: no GPU"), 77;
    options.backend = GP_BACKEND_CUDA;
    desc.in_dtype = GP_I32;
    need(gp_context_create(&ctx, &options));
    need(gp_malloc(ctx, sizeof host, &in));
    need(gp_malloc(ctx, sizeof host, &out));
    /* Nothing may be allocated during capture: make room before. */
    need(gp_scan_workspace_bytes(NULL, &desc, N, &workspace));
    need(gp_context_reserve(ctx, workspace));

    cudaStream_t stream = gp_context_stream(ctx);
    need_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    need(gp_scan(ctx, &desc, in, N, out));
    need_cuda(cudaStreamEndCapture(stream, &graph));
    need_cuda(cudaGraphInstantiate(&replay, graph, 0));
    for (int k = 1; k <= REPLAYS; k++) {
        for (int i = 0; i < N; i++)
            host[i] = k;
        need(gp_copy(ctx, host, sizeof host, in));
        need_cuda(cudaGraphLaunch(replay, stream));
        need(gp_copy(ctx, (char *)out + sizeof host - 4, 4, &last));
        need(gp_context_synchronize(ctx));
        printf("replay %d: the sum of %d times %d is %d\n", k, N, k, last);
        wrong |= last != k * N;
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    gp_free(ctx, in);
    gp_free(ctx, out);
    gp_context_destroy(ctx);
    return wrong;
}
