/* SPDX-License-Identifier: MIT */
/* Streams, events and peer access, for ranks on GPUs. */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <time.h>

#include "core/cuda.h"
#include "dist/dist_mail_internal.h"

/* Seconds of asking without a pause: what a call waits for is mostly there within that. */
#define EAGER 0.001

/* Asking, not cudaStreamSynchronize(): what the stream waits for may never come, and another thread
 * may abort. */
gp_status gpi_dist_cuda_wait(gp_comm *comm, const char *f, double seconds)
{
    const double begin = gpi_dist_now();
    const struct timespec pause = {0, 20000};
    cudaError_t e;
    while ((e = cudaStreamQuery(comm->ctx->stream)) == cudaErrorNotReady) {
        const double passed = gpi_dist_now() - begin;
        if (gpi_dist_is_broken(comm))
            return gpi_dist_break(comm, f, "aborted");
        if (comm->transport->check)
            GPI_TRY(comm->transport->check(comm, f));
        if (seconds >= 0 && passed > seconds)
            return gpi_dist_break(comm, f, "the GPU was not done within %g seconds", seconds);
        if (passed > EAGER)
            nanosleep(&pause, NULL);
    }
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

void *gpi_dist_cuda_pinned(gp_context *ctx, size_t bytes)
{
    void *memory = NULL;
    GPI_ON_DEVICE(ctx);
    if (cudaMallocHost(&memory, bytes) != cudaSuccess)
        cudaGetLastError();
    return memory;
}

void gpi_dist_cuda_unpin(gp_context *ctx, void *memory)
{
    GPI_ON_DEVICE(ctx);
    cudaFreeHost(memory);
    cudaGetLastError();
}

/* Not from the context's pool: it outlives the context. */
struct gpi_mail *gpi_dist_cuda_mail(void)
{
    void *memory = NULL;
    cudaError_t e = cudaMalloc(&memory, sizeof(struct gpi_mail));
    if (e == cudaSuccess)
        e = cudaMemset(memory, 0, sizeof(struct gpi_mail));
    if (e == cudaSuccess)
        e = cudaStreamSynchronize(NULL); /* others may write soon */
    if (e == cudaSuccess)
        return memory;
    cudaFree(memory);
    cudaGetLastError();
    return NULL;
}

/* Waits for its GPU, whose kernels have seen by now that the ranks are broken. */
void gpi_dist_cuda_mail_free(struct gpi_mail *mail)
{
    cudaFree(mail);
    cudaGetLastError();
}

/* Contexts take their memory from the default pool, which other devices see only if they are
 * allowed to; memory of cudaMalloc() they see by peer access. */
bool gpi_dist_cuda_introduce(gp_context *a, gp_context *b)
{
    int can = 0;
    cudaMemPool_t pool;
    struct cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, b->device},
                                       cudaMemAccessFlagsProtReadWrite};
    if (a->device == b->device)
        return true;
    cudaError_t e = cudaDeviceCanAccessPeer(&can, a->device, b->device);
    if (e == cudaSuccess && can) {
        e = cudaDeviceEnablePeerAccess(b->device, 0); /* of a, which is current */
        e = e == cudaErrorPeerAccessAlreadyEnabled ? cudaSuccess : e;
    }
    if (e == cudaSuccess && can)
        e = cudaDeviceGetDefaultMemPool(&pool, a->device);
    if (e == cudaSuccess && can)
        e = cudaMemPoolSetAccess(pool, &access, 1);
    cudaGetLastError();
    return e == cudaSuccess && can;
}

void *gpi_dist_cuda_event(gp_context *ctx)
{
    cudaEvent_t event = NULL;
    (void)ctx; /* is current */
    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess)
        cudaGetLastError();
    return event;
}

void gpi_dist_cuda_event_free(gp_context *ctx, void *event)
{
    GPI_ON_DEVICE(ctx);
    if (event)
        cudaEventDestroy(event);
    cudaGetLastError();
}

gp_status gpi_dist_cuda_record(gp_context *ctx, const char *f, void *event)
{
    return gpi_cuda_check(ctx, f, (int)cudaEventRecord(event, ctx->stream));
}

gp_status gpi_dist_cuda_wait_event(gp_context *ctx, const char *f, void *event)
{
    return gpi_cuda_check(ctx, f, (int)cudaStreamWaitEvent(ctx->stream, event, 0));
}

uint64_t gpi_dist_cuda_graph(const gp_context *ctx)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
#if CUDART_VERSION >= 13000
    const cudaError_t e =
        cudaStreamGetCaptureInfo(ctx->stream, &status, &id, NULL, NULL, NULL, NULL);
#else
    const cudaError_t e = cudaStreamGetCaptureInfo(ctx->stream, &status, &id);
#endif
    if (e != cudaSuccess)
        cudaGetLastError();
    return e == cudaSuccess && status == cudaStreamCaptureStatusActive ? id : 0;
}

/* ---- copies beside the context's stream ------------------------------------------------------ */

struct gpi_dist_side {
    cudaStream_t lane[GPI_DIST_LANES];
    cudaEvent_t here, done[GPI_DIST_LANES];
};

/* Of what could be made. */
void gpi_dist_cuda_side_free(gp_context *ctx, struct gpi_dist_side *side)
{
    GPI_ON_DEVICE(ctx);
    for (int i = 0; i < GPI_DIST_LANES; i++) {
        if (side->lane[i])
            cudaStreamDestroy(side->lane[i]);
        if (side->done[i])
            cudaEventDestroy(side->done[i]);
    }
    if (side->here)
        cudaEventDestroy(side->here);
    cudaGetLastError();
    free(side);
}

static gp_status side_make(gp_comm *comm, const char *f)
{
    struct gpi_dist_side *side = calloc(1, sizeof *side);
    if (!side)
        return gpi_fail(comm->ctx, GP_ERROR_MEMORY, "%s: out of host memory", f);
    cudaError_t e = cudaEventCreateWithFlags(&side->here, cudaEventDisableTiming);
    for (int i = 0; i < GPI_DIST_LANES && e == cudaSuccess; i++) {
        e = cudaStreamCreateWithFlags(&side->lane[i], cudaStreamNonBlocking);
        if (e == cudaSuccess)
            e = cudaEventCreateWithFlags(&side->done[i], cudaEventDisableTiming);
    }
    if (e == cudaSuccess)
        comm->side = side;
    else
        gpi_dist_cuda_side_free(comm->ctx, side);
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

gp_status gpi_dist_cuda_fork(gp_comm *comm, const char *f)
{
    if (!comm->side)
        GPI_TRY(side_make(comm, f));
    cudaError_t e = cudaEventRecord(comm->side->here, comm->ctx->stream);
    for (int i = 0; i < GPI_DIST_LANES && e == cudaSuccess; i++)
        e = cudaStreamWaitEvent(comm->side->lane[i], comm->side->here, 0);
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

gp_status gpi_dist_cuda_pull(gp_comm *comm, const char *f, enum gpi_dist_lane lane,
                             const void *from, uint64_t bytes, void *to)
{
    return gpi_cuda_check(
        comm->ctx, f,
        (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, comm->side->lane[lane]));
}

gp_status gpi_dist_cuda_join(gp_comm *comm, const char *f)
{
    struct gpi_dist_side *side = comm->side;
    cudaError_t e = cudaSuccess;
    if (!side) /* there was no fork */
        return GP_OK;
    for (int i = 0; i < GPI_DIST_LANES && e == cudaSuccess; i++) {
        e = cudaEventRecord(side->done[i], side->lane[i]);
        if (e == cudaSuccess)
            e = cudaStreamWaitEvent(comm->ctx->stream, side->done[i], 0);
    }
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

gp_status gpi_dist_cuda_lanes_wait(gp_comm *comm, const char *f, void *event)
{
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < GPI_DIST_LANES && e == cudaSuccess; i++)
        e = cudaStreamWaitEvent(comm->side->lane[i], event, 0);
    return gpi_cuda_check(comm->ctx, f, (int)e);
}
