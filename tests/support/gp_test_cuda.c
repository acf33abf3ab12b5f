/* SPDX-License-Identifier: MIT */
/* The CUDA runtime for tests: graphs, streams, devices. */
#include "ranks.h"

#include <cuda_runtime_api.h>

static cudaGraph_t graph;
static cudaGraphExec_t executable;

static void check_cuda(int line, cudaError_t e)
{
    if (e != cudaSuccess)
        ck_abort_msg("%s:%d: %s", __FILE__, line, cudaGetErrorString(e));
}
#define CUDA(call) check_cuda(__LINE__, (call))

bool t_capture_begin(void)
{
    if (!t_is_cuda())
        return false;
    t_capture_free();
    CUDA(cudaStreamBeginCapture(gp_context_stream(t_ctx()), cudaStreamCaptureModeThreadLocal));
    return true;
}

void t_capture_end(void)
{
    CUDA(cudaStreamEndCapture(gp_context_stream(t_ctx()), &graph));
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
}

void t_replay(void)
{
    CUDA(cudaGraphLaunch(executable, gp_context_stream(t_ctx())));
}

size_t t_captured_nodes(void)
{
    size_t count = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &count));
    return count;
}

void t_capture_free(void)
{
    if (executable)
        CUDA(cudaGraphExecDestroy(executable));
    if (graph)
        CUDA(cudaGraphDestroy(graph));
    executable = NULL;
    graph = NULL;
}

void ranks_capture_begin(gp_context *ctx)
{
    CUDA(cudaStreamBeginCapture(gp_context_stream(ctx), cudaStreamCaptureModeThreadLocal));
}

void *ranks_capture_end(gp_context *ctx)
{
    cudaGraph_t made;
    cudaGraphExec_t kept;
    CUDA(cudaStreamEndCapture(gp_context_stream(ctx), &made));
    CUDA(cudaGraphInstantiateWithFlags(&kept, made, 0));
    CUDA(cudaGraphDestroy(made));
    return kept;
}

/* What a rank queues from now on comes behind what another one has queued. */
static void queue_behind(struct ranks *r, int later, int before)
{
    cudaEvent_t event;
    CUDA(cudaSetDevice(before % t_device_count()));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUDA(cudaEventRecord(event, gp_context_stream(r->ctx[before])));
    CUDA(cudaStreamWaitEvent(gp_context_stream(r->ctx[later]), event, 0));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaSetDevice(0));
}

void ranks_capture_all_begin(struct ranks *r)
{
    ranks_capture_begin(r->ctx[0]);
    for (int i = 1; i < r->count; i++)
        queue_behind(r, i, 0);
}

void *ranks_capture_all_end(struct ranks *r)
{
    for (int i = 1; i < r->count; i++)
        queue_behind(r, 0, i);
    return ranks_capture_end(r->ctx[0]);
}

void ranks_replay(gp_context *ctx, void *kept)
{
    CUDA(cudaGraphLaunch(kept, gp_context_stream(ctx)));
}

void ranks_graph_free(void *kept)
{
    CUDA(cudaGraphExecDestroy(kept));
}

int t_device_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        cudaGetLastError();
    return count;
}

int t_multiprocessors(void)
{
    int count = 0;
    CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, t_device_current()));
    return count;
}

int t_compute_capability(void)
{
    int major = 0, minor = 0, device = t_device_current();
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return major * 10 + minor;
}

int t_device_current(void)
{
    int device = -1;
    CUDA(cudaGetDevice(&device));
    return device;
}

void t_device_select(int device)
{
    CUDA(cudaSetDevice(device));
}

gp_stream t_stream_new(void)
{
    cudaStream_t stream = NULL;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void t_stream_free(gp_stream stream)
{
    CUDA(cudaStreamDestroy(stream));
}

static void *device_new(void *user, size_t bytes, size_t alignment, gp_stream stream)
{
    void *memory = NULL;
    (void)user, (void)alignment, (void)stream;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
}

static void device_free(void *user, void *memory, size_t bytes, gp_stream stream)
{
    (void)user, (void)bytes, (void)stream;
    CUDA(cudaFree(memory));
}

gp_allocator t_device_allocator(void)
{
    return (gp_allocator){NULL, device_new, device_free};
}

void *t_pinned_new(size_t bytes)
{
    void *memory = NULL;
    CUDA(cudaMallocHost(&memory, bytes));
    return memory;
}

void t_pinned_free(void *memory)
{
    CUDA(cudaFreeHost(memory));
}
