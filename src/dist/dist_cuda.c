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

struct lane {
    int device; /* whose copies these are */
    cudaStream_t stream;
    cudaEvent_t done;
};

/* Those of this rank's GPU, and, once they are needed, one of each other GPU. */
enum { LANES_MAX = 16 };

struct gpi_dist_side {
    cudaEvent_t here;
    int count;
    struct lane lanes[LANES_MAX];
};

void gpi_dist_cuda_side_free(gp_context *ctx, struct gpi_dist_side *side)
{
    GPI_ON_DEVICE(ctx);
    for (int i = 0; i < side->count; i++) {
        cudaStreamDestroy(side->lanes[i].stream);
        cudaEventDestroy(side->lanes[i].done);
    }
    if (side->here)
        cudaEventDestroy(side->here);
    cudaGetLastError();
    free(side);
}

/* One more, of the current device. */
static cudaError_t lane_make(struct gpi_dist_side *side, int device)
{
    struct lane *l = &side->lanes[side->count];
    cudaError_t e = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    l->device = device;
    if (e != cudaSuccess)
        return e;
    e = cudaEventCreateWithFlags(&l->done, cudaEventDisableTiming);
    if (e == cudaSuccess)
        side->count++;
    else
        cudaStreamDestroy(l->stream);
    return e;
}

static gp_status side_make(gp_comm *comm, const char *f)
{
    struct gpi_dist_side *side = calloc(1, sizeof *side);
    if (!side)
        return gpi_fail(comm->ctx, GP_ERROR_MEMORY, "%s: out of host memory", f);
    cudaError_t e = cudaEventCreateWithFlags(&side->here, cudaEventDisableTiming);
    for (int i = 0; i < GPI_DIST_BY_OTHERS && e == cudaSuccess; i++)
        e = lane_make(side, comm->ctx->device);
    if (e == cudaSuccess)
        comm->side = side;
    else
        gpi_dist_cuda_side_free(comm->ctx, side);
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

static cudaError_t lanes_wait(struct gpi_dist_side *side, cudaEvent_t event)
{
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < side->count && e == cudaSuccess; i++)
        e = cudaStreamWaitEvent(side->lanes[i].stream, event, 0);
    return e;
}

gp_status gpi_dist_cuda_fork(gp_comm *comm, const char *f)
{
    if (!comm->side)
        GPI_TRY(side_make(comm, f));
    cudaError_t e = cudaEventRecord(comm->side->here, comm->ctx->stream);
    if (e == cudaSuccess)
        e = lanes_wait(comm->side, comm->side->here);
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

/* That of the GPU that has what is copied, which waits for what the lanes here wait for. */
static cudaError_t lane_of_other(gp_comm *comm, const void *from, struct lane **lane)
{
    struct gpi_dist_side *side = comm->side;
    struct lane *here = &side->lanes[GPI_DIST_FROM_OTHERS];
    struct cudaPointerAttributes a;
    cudaError_t e = cudaPointerGetAttributes(&a, from);
    *lane = here;
    for (int i = GPI_DIST_BY_OTHERS; i < side->count && e == cudaSuccess; i++)
        if (side->lanes[i].device == a.device)
            *lane = &side->lanes[i];
    if (e != cudaSuccess || a.device < 0 || a.device == here->device || *lane != here ||
        side->count == LANES_MAX)
        return e;
    *lane = &side->lanes[side->count];
    e = cudaSetDevice(a.device);
    if (e == cudaSuccess)
        e = lane_make(side, a.device);
    const cudaError_t back = cudaSetDevice(here->device);
    e = e == cudaSuccess ? back : e;
    if (e == cudaSuccess)
        e = cudaEventRecord(here->done, here->stream);
    return e == cudaSuccess ? cudaStreamWaitEvent((*lane)->stream, here->done, 0) : e;
}

gp_status gpi_dist_cuda_pull(gp_comm *comm, const char *f, enum gpi_dist_lane lane,
                             const void *from, uint64_t bytes, void *to)
{
    cudaError_t e = cudaSuccess;
    struct lane *l = &comm->side->lanes[lane];
    if (lane == GPI_DIST_BY_OTHERS)
        e = lane_of_other(comm, from, &l);
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, l->stream);
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

gp_status gpi_dist_cuda_join(gp_comm *comm, const char *f)
{
    const struct gpi_dist_side *side = comm->side;
    cudaError_t e = cudaSuccess;
    const int count = side ? side->count : 0; /* NULL: there was no fork */
    for (int i = 0; i < count && e == cudaSuccess; i++) {
        e = cudaEventRecord(side->lanes[i].done, side->lanes[i].stream);
        if (e == cudaSuccess)
            e = cudaStreamWaitEvent(comm->ctx->stream, side->lanes[i].done, 0);
    }
    return gpi_cuda_check(comm->ctx, f, (int)e);
}

gp_status gpi_dist_cuda_lanes_wait(gp_comm *comm, const char *f, void *event)
{
    return gpi_cuda_check(comm->ctx, f, (int)lanes_wait(comm->side, event));
}
