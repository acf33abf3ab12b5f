/* SPDX-License-Identifier: MIT */
#include "core/cuda.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/gate.h"
#include "core/launch.h"
#include "core/sm_rows.h"
#include "core/variants.h"

/* The GPUs that there is machine code for, oldest first: options sm_arch and sm_code. */
#define SM_TEXT(sm) " sm_" #sm
static const int compiled_sms[] = {GPI_SM_CODES(GPI_SM_NUMBER)};
static const char compiled_text[] = GPI_SM_CODES(SM_TEXT);
static const struct gpi_sm_rows compiled = {compiled_sms, GPI_SM_COUNT, GPI_PTX};

int gpi_device_enter(const gp_context *ctx)
{
    int previous;
    if (ctx->backend != GP_BACKEND_CUDA || cudaGetDevice(&previous) != cudaSuccess ||
        previous == ctx->device)
        return -1;
    cudaSetDevice(ctx->device);
    return previous;
}

void gpi_device_leave(const int *previous)
{
    if (*previous >= 0)
        cudaSetDevice(*previous);
}

static cudaError_t device_read(gp_context *ctx, int device)
{
    int major = 0, minor = 0;
    cudaError_t e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&ctx->sm_count, cudaDevAttrMultiProcessorCount, device);
    ctx->device = device;
    ctx->sm = major * 10 + minor;
    ctx->sm_row = gpi_sm_row(&compiled, ctx->sm);
    return e;
}

/* cuPointerGetAttributes() by itself answers in two thirds of the runtime's time. */
static void *find_pointer_query(void)
{
    static const char name[] = "cuPointerGetAttributes";
    enum cudaDriverEntryPointQueryResult result;
    void *query = NULL;
#if CUDART_VERSION >= 12050
    cudaError_t e =
        cudaGetDriverEntryPointByVersion(name, &query, 7000, cudaEnableDefault, &result);
#else
    cudaError_t e = cudaGetDriverEntryPoint(name, &query, cudaEnableDefault, &result);
#endif
    if (e == cudaSuccess && result == cudaDriverEntryPointSuccess)
        return query;
    cudaGetLastError();
    return NULL;
}

gp_status gpi_cuda_open(gp_context *ctx, int device)
{
    static const char f[] = "gp_context_create";
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    if (e != cudaSuccess) {
        cudaGetLastError();
        return gpi_fail(ctx, GP_ERROR_DEVICE, "%s: no CUDA device: %s", f, cudaGetErrorString(e));
    }
    if (device >= count)
        return gpi_fail(ctx, GP_ERROR_DEVICE, "%s: device is %d, there are %d", f, device, count);
    for (int d = device < 0 ? 0 : device; d < (device < 0 ? count : device + 1); d++) {
        if (device_read(ctx, d) == cudaSuccess && ctx->sm_row >= 0)
            return GP_OK;
        cudaGetLastError();
    }
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                    "%s: no code in this build for the device (sm_%d), only for%s: build gp with "
                    "-Dsm_arch=%d%s",
                    f, ctx->sm, compiled_text, ctx->sm,
                    gpi_sm_wants_ptx(&compiled, ctx->sm) ? " or -Dptx=true" : "");
}

/* The record of what calls find. From the pool that the workspace is going to come from: the first
 * allocation of a process takes it 10 ms, which then are the context's, not the first call's. */
static void *sticky_allocate(gp_context *ctx)
{
    void *memory = NULL;
    if (!ctx->allocator.allocate)
        return gpi_cuda_allocate(ctx, GPI_ALIGN);
    return cudaMalloc(&memory, GPI_ALIGN) == cudaSuccess ? memory : NULL;
}

static cudaError_t gate_make(gp_context *ctx)
{
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver < 12040)
        return cudaErrorNotSupported; /* no conditional nodes */
    struct gpi_gate *g = ctx->gate = calloc(1, sizeof *g);
    if (!g)
        return cudaErrorMemoryAllocation;
    const cudaError_t e = cudaStreamCreateWithFlags(&g->outer, cudaStreamNonBlocking);
    return e == cudaSuccess ? cudaStreamCreateWithFlags(&g->body, cudaStreamNonBlocking) : e;
}

static void gate_free(gp_context *ctx)
{
    if (ctx->gate && ctx->gate->outer)
        cudaStreamDestroy(ctx->gate->outer);
    if (ctx->gate && ctx->gate->body)
        cudaStreamDestroy(ctx->gate->body);
    for (int i = 0; ctx->gate && i < GPI_GATE_AHEAD; i++)
        if (ctx->gate->queued[i])
            cudaGraphExecDestroy(ctx->gate->queued[i]);
    free(ctx->gate);
    ctx->gate = NULL;
}

gp_status gpi_cuda_start(gp_context *ctx)
{
    static const char f[] = "gp_context_create";
    cudaStream_t stream = NULL;
    cudaError_t e = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    ctx->own_stream = ctx->stream = stream;
    ctx->pointer_query = find_pointer_query();
    if (e == cudaSuccess && !(ctx->sticky = sticky_allocate(ctx)))
        e = cudaErrorMemoryAllocation;
    if (e == cudaSuccess)
        e = cudaMemsetAsync(ctx->sticky, 0, GPI_ALIGN, stream);
    if (e == cudaSuccess)
        e = cudaStreamSynchronize(stream);
    if (e == cudaSuccess && ctx->validate)
        e = gate_make(ctx);
    if (e == cudaSuccess)
        return GP_OK;
    cudaGetLastError();
    gpi_cuda_stop(ctx);
    return gpi_fail(ctx,
                    e == cudaErrorMemoryAllocation ? GP_ERROR_MEMORY
                    : e == cudaErrorNotSupported   ? GP_ERROR_UNSUPPORTED
                                                   : GP_ERROR_DEVICE,
                    "%s: device %d: %s", f, ctx->device, cudaGetErrorString(e));
}

void gpi_cuda_stop(gp_context *ctx)
{
    if (ctx->own_stream)
        cudaStreamSynchronize(ctx->stream);
    gpi_launch_graphs_free(ctx->graphs);
    if (ctx->own_stream)
        cudaStreamDestroy(ctx->own_stream);
    cudaFree(ctx->sticky);
    gate_free(ctx);
    cudaGetLastError();
    ctx->own_stream = ctx->stream = NULL;
    ctx->sticky = NULL;
    ctx->graphs = NULL;
}

gp_status gpi_cuda_launched(gp_context *ctx, const char *function)
{
    return gpi_cuda_check(ctx, function, (int)cudaGetLastError());
}

gp_status gpi_cuda_check(gp_context *ctx, const char *function, int e)
{
    if (e == cudaSuccess)
        return GP_OK;
    ctx->broken = true;
    return gpi_fail(ctx, GP_ERROR_CUDA, "%s: CUDA says %s (%s)", function,
                    cudaGetErrorString((cudaError_t)e), cudaGetErrorName((cudaError_t)e));
}

bool gpi_cuda_capturing(const gp_context *ctx)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (ctx->backend != GP_BACKEND_CUDA)
        return false;
    if (cudaStreamIsCapturing(gpi_home(ctx), &status) != cudaSuccess)
        cudaGetLastError();
    return status != cudaStreamCaptureStatusNone;
}

/* The device's own memory, or host memory that CUDA has registered. */
static bool is_known(const gp_context *ctx, const void *memory)
{
    CUresult (*query)(unsigned, CUpointer_attribute *, void **, CUdeviceptr);
    CUpointer_attribute wanted[2] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 0;
    int device = -1;
    void *values[2] = {&type, &device};
    if (!ctx->pointer_query)
        return false;
    memcpy(&query, &ctx->pointer_query, sizeof query);
    return query(2, wanted, values, (CUdeviceptr)(uintptr_t)memory) == CUDA_SUCCESS &&
           (type == CU_MEMORYTYPE_HOST || (type == CU_MEMORYTYPE_DEVICE && device == ctx->device));
}

bool gpi_cuda_accessible(const gp_context *ctx, const void *memory, const char **what)
{
    struct cudaPointerAttributes a;
    if (is_known(ctx, memory))
        return true;
    if (cudaPointerGetAttributes(&a, memory) != cudaSuccess) {
        cudaGetLastError();
        *what = "not memory that CUDA knows";
        return false;
    }
    if (a.type == cudaMemoryTypeUnregistered) {
        *what = "ordinary host memory";
        return false;
    }
    if (a.type == cudaMemoryTypeDevice && a.device != ctx->device) {
        int peer = 0;
        if (cudaDeviceCanAccessPeer(&peer, ctx->device, a.device) != cudaSuccess)
            cudaGetLastError();
        *what = "memory of another device";
        return peer != 0;
    }
    return true;
}

void *gpi_cuda_allocate(gp_context *ctx, size_t bytes)
{
    void *memory = NULL;
    cudaError_t e = cudaMallocAsync(&memory, bytes, gpi_home(ctx));
    if (e == cudaErrorNotSupported) {
        cudaGetLastError();
        e = cudaMalloc(&memory, bytes);
    }
    if (e == cudaSuccess)
        return memory;
    cudaGetLastError();
    return NULL;
}

void gpi_cuda_release(gp_context *ctx, void *memory)
{
    if (cudaFreeAsync(memory, gpi_home(ctx)) == cudaSuccess)
        return;
    cudaGetLastError();
    cudaFree(memory);
    cudaGetLastError();
}

gp_status gpi_cuda_fill(gp_context *ctx, void *memory, int byte, size_t bytes)
{
    return gpi_cuda_check(ctx, "gp", cudaMemsetAsync(memory, byte, bytes, ctx->stream));
}

gp_status gpi_cuda_fill_at_home(gp_context *ctx, void *memory, int byte, size_t bytes)
{
    return gpi_cuda_check(ctx, "gp", cudaMemsetAsync(memory, byte, bytes, gpi_home(ctx)));
}

gp_status gpi_cuda_copy(gp_context *ctx, const void *source, size_t bytes, void *destination)
{
    return gpi_cuda_check(
        ctx, "gp_copy",
        cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, ctx->stream));
}

gp_status gpi_cuda_synchronize(gp_context *ctx, struct gpi_sticky *found)
{
    static const char f[] = "gp_context_synchronize";
    if (gpi_cuda_capturing(ctx))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: the stream is being captured", f);
    cudaError_t e =
        cudaMemcpyAsync(found, ctx->sticky, sizeof *found, cudaMemcpyDeviceToHost, ctx->stream);
    if (e == cudaSuccess)
        e = cudaStreamSynchronize(ctx->stream);
    if (e == cudaSuccess && (found->rule || found->misuse))
        e = cudaMemsetAsync(ctx->sticky, 0, sizeof *found, ctx->stream);
    return gpi_cuda_check(ctx, f, e);
}

gp_status gpi_cuda_follow(gp_context *ctx, gp_stream next)
{
    cudaEvent_t event = NULL;
    if (next == ctx->stream)
        return GP_OK;
    cudaError_t e = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (e == cudaSuccess)
        e = cudaEventRecord(event, ctx->stream);
    if (e == cudaSuccess)
        e = cudaStreamWaitEvent(next, event, 0);
    if (event)
        cudaEventDestroy(event);
    GPI_TRY(gpi_cuda_check(ctx, "gp_context_set_stream", e));
    ctx->stream = next;
    return GP_OK;
}

void gpi_cuda_describe(const gp_context *ctx, char *text, size_t bytes)
{
    struct cudaDeviceProp p;
    int driver = 0, runtime = 0;
    const char *name = "?";
    if (cudaGetDeviceProperties(&p, ctx->device) == cudaSuccess)
        name = p.name;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    cudaGetLastError();
    snprintf(text, bytes,
             "gp %d.%d.%d, cuda, device %d: %s, sm_%d (code for sm_%d), %d multiprocessors, "
             "runtime %d.%d, driver %d.%d",
             GP_VERSION_MAJOR, GP_VERSION_MINOR, GP_VERSION_PATCH, ctx->device, name, ctx->sm,
             compiled_sms[ctx->sm_row], ctx->sm_count, runtime / 1000, runtime % 1000 / 10,
             driver / 1000, driver % 1000 / 10);
}
