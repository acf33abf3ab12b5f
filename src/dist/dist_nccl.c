/* SPDX-License-Identifier: MIT */
/*
 * Ranks of an ncclComm_t of the caller. NCCL is that of the caller's process, found when the first
 * rank is made; the few names that are needed are declared here.
 *
 * What ranks collect from each other passes through memory of the GPU, on the context's stream. A
 * wait asks NCCL for errors; a rank that breaks aborts its communicator, which ends NCCL's kernels.
 * Ranks that turn out to be of one process need NCCL no more (dist_seats.c).
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/cuda.h"
#include "dist/dist_internal.h"

enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_UINT8 = 1 };

typedef void *nccl_rank; /* ncclComm_t */

/* X(function, parameters): each returns a result. */
#define NCCL_FUNCTIONS(X)                                                                          \
    X(CommCount, (nccl_rank, int *))                                                               \
    X(CommUserRank, (nccl_rank, int *))                                                            \
    X(CommCuDevice, (nccl_rank, int *))                                                            \
    X(CommGetAsyncError, (nccl_rank, int *))                                                       \
    X(CommAbort, (nccl_rank))                                                                      \
    X(AllGather, (const void *, void *, size_t, int, nccl_rank, cudaStream_t))                     \
    X(Send, (const void *, size_t, int, int, nccl_rank, cudaStream_t))                             \
    X(Recv, (void *, size_t, int, int, nccl_rank, cudaStream_t))                                   \
    X(GroupStart, (void))                                                                          \
    X(GroupEnd, (void))

#define NCCL_POINTER(name, parameters) int(*name) parameters;
static struct {
    NCCL_FUNCTIONS(NCCL_POINTER)
    const char *(*GetErrorString)(int);
} nccl;

static const char *missing = "libnccl.so.2 is not to be found";
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    void *symbol;
    if (!library)
        return;
    missing = NULL;
#define NCCL_FIND(name, parameters)                                                                \
    symbol = dlsym(library, "nccl" #name);                                                         \
    memcpy(&nccl.name, &symbol, sizeof symbol);                                                    \
    missing = symbol ? missing : "libnccl.so.2 has no nccl" #name;
    NCCL_FUNCTIONS(NCCL_FIND)
    NCCL_FIND(GetErrorString, )
}

struct state {
    nccl_rank comm;
    int aborted;         /* atomic */
    char *device, *host; /* what is collected: this rank's own first */
    size_t row;          /* the most bytes of a rank */
    bool has_words;      /* the words of the next note are in device already */
};

static struct state *state_of(gp_comm *comm)
{
    return comm->state;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static gp_status failed(gp_comm *comm, const char *f, const char *call, int e)
{
    return gpi_dist_break(comm, f, "nccl%s on rank %d: %s", call, comm->rank,
                          nccl.GetErrorString(e));
}

/* An error that NCCL found later, of another rank too. */
static gp_status check(gp_comm *comm, const char *f)
{
    int e = NCCL_SUCCESS;
    const int asked = nccl.CommGetAsyncError(state_of(comm)->comm, &e);
    if (asked != NCCL_SUCCESS)
        return failed(comm, f, "CommGetAsyncError", asked);
    return e == NCCL_SUCCESS || e == NCCL_IN_PROGRESS ? GP_OK
                                                      : failed(comm, f, "CommGetAsyncError", e);
}

/* The result of a call; a communicator that does not block says that it is in progress. */
static gp_status finish(gp_comm *comm, const char *f, const char *call, int e)
{
    const double begin = gpi_dist_now();
    while (e == NCCL_IN_PROGRESS) {
        if (gpi_dist_is_broken(comm))
            return gpi_dist_break(comm, f, "aborted");
        if (comm->seconds >= 0 && gpi_dist_now() - begin > comm->seconds)
            return gpi_dist_break(comm, f, "nccl%s was not done within %g seconds", call,
                                  comm->seconds);
        const int asked = nccl.CommGetAsyncError(state_of(comm)->comm, &e);
        e = asked == NCCL_SUCCESS ? e : asked;
    }
    return e == NCCL_SUCCESS ? GP_OK : failed(comm, f, call, e);
}

/* ---- moving ---------------------------------------------------------------------------------- */

static gp_status copy(gp_comm *comm, const char *f, const void *from, size_t bytes, void *to)
{
    return gpi_cuda_check(
        comm->ctx, f, (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, comm->ctx->stream));
}

static gp_status gather(gp_comm *comm, const char *f, const void *mine, size_t bytes, void *all)
{
    struct state *s = state_of(comm);
    const size_t total = (size_t)comm->ranks * bytes,
                 own = s->has_words ? offsetof(struct gpi_note, words) : bytes;
    s->has_words = false;
    memcpy(s->host, mine, own);
    gp_status status = copy(comm, f, s->host, own, s->device);
    if (status != GP_OK)
        return gpi_dist_drop(comm, status);
    GPI_TRY(finish(comm, f, "AllGather",
                   nccl.AllGather(s->device, s->device + s->row, bytes, NCCL_UINT8, s->comm,
                                  comm->ctx->stream)));
    status = copy(comm, f, s->device + s->row, total, s->host + s->row);
    if (status == GP_OK)
        status = gpi_dist_cuda_wait(comm, f, comm->seconds);
    if (status != GP_OK)
        return gpi_dist_drop(comm, status);
    memcpy(all, s->host + s->row, total);
    return GP_OK;
}

static void *words_place(gp_comm *comm)
{
    struct state *s = state_of(comm);
    s->has_words = true;
    return s->device + offsetof(struct gpi_note, words);
}

/* In one group, so that all pieces move at once. */
static int exchange_group(gp_comm *comm, const struct gpi_route *route)
{
    struct state *s = state_of(comm);
    int e = nccl.GroupStart();
    for (int r = 0; r < comm->ranks && e == NCCL_SUCCESS; r++) {
        if (r == comm->rank)
            continue;
        if (route->send_bytes[r])
            e = nccl.Send(route->send + route->send_at[r], route->send_bytes[r], NCCL_UINT8, r,
                          s->comm, comm->ctx->stream);
        if (route->recv_bytes[r] && e == NCCL_SUCCESS)
            e = nccl.Recv(route->recv + route->recv_at[r], route->recv_bytes[r], NCCL_UINT8, r,
                          s->comm, comm->ctx->stream);
    }
    const int end = nccl.GroupEnd();
    return e == NCCL_SUCCESS ? end : e;
}

static gp_status exchange(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    const int me = comm->rank;
    if (route->send_bytes[me]) {
        const gp_status status = copy(comm, f, route->send + route->send_at[me],
                                      route->send_bytes[me], route->recv + route->recv_at[me]);
        if (status != GP_OK)
            return gpi_dist_drop(comm, status);
    }
    return finish(comm, f, "GroupEnd", exchange_group(comm, route));
}

/* ---- life ------------------------------------------------------------------------------------ */

static void abort_once(gp_comm *comm)
{
    struct state *s = state_of(comm);
    if (!__atomic_exchange_n(&s->aborted, 1, __ATOMIC_ACQ_REL))
        nccl.CommAbort(s->comm);
}

static void state_free(struct state *s)
{
    if (!s)
        return;
    cudaFree(s->device);
    cudaFreeHost(s->host);
    cudaGetLastError();
    free(s);
}

static void destroy(gp_comm *comm)
{
    if (!comm->ctx)
        return;
    GPI_ON_DEVICE(comm->ctx);
    state_free(comm->state);
}

static const struct gpi_transport transport = {.gather = gather,
                                               .exchange = exchange,
                                               .words_place = words_place,
                                               .abort = abort_once,
                                               .destroy = destroy,
                                               .check = check,
                                               .seats = true,
                                               .windows = true};

static struct state *state_new(nccl_rank comm, int ranks)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->comm = comm;
    s->row = gpi_dist_row(ranks) * sizeof(uint64_t);
    const size_t bytes = ((size_t)ranks + 1) * s->row;
    if (cudaMalloc((void **)&s->device, bytes) == cudaSuccess &&
        cudaMallocHost((void **)&s->host, bytes) == cudaSuccess)
        return s;
    state_free(s);
    return NULL;
}

static gp_status ask(const char *f, nccl_rank comm, int *rank, int *ranks, int *device)
{
    int e = nccl.CommCount(comm, ranks);
    e = e ? e : nccl.CommUserRank(comm, rank);
    e = e ? e : nccl.CommCuDevice(comm, device);
    return e ? gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: nccl_comm: %s", f, nccl.GetErrorString(e))
             : GP_OK;
}

gp_status gp_comm_create_nccl(gp_context *ctx, void *nccl_comm, gp_comm **comm)
{
    static const char f[] = "gp_comm_create_nccl";
    __attribute__((cleanup(gpi_call_end))) struct gpi_call call = {NULL};
    int rank = 0, ranks = 0, device = 0;
    if (comm)
        *comm = NULL;
    GPI_TRY(gpi_call_claim(&call, ctx, f));
    GPI_TRY(gpi_check_not_orphan(ctx, f));
    if (ctx->backend != GP_BACKEND_CUDA)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: ctx computes on the CPU", f);
    if (!nccl_comm || !comm)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: %s is NULL", f, comm ? "nccl_comm" : "comm");
    pthread_once(&loaded, load);
    if (missing)
        return gpi_fail(NULL, GP_ERROR_UNSUPPORTED, "%s: %s", f, missing);
    GPI_TRY(ask(f, nccl_comm, &rank, &ranks, &device));
    if (device != ctx->device || ranks > GP_COMM_RANKS_MAX)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT,
                        "%s: nccl_comm is of device %d and %d ranks, expected device %d, that of "
                        "ctx, and at most %d ranks",
                        f, device, ranks, ctx->device, GP_COMM_RANKS_MAX);
    GPI_ON_DEVICE(ctx);
    struct state *s = state_new(nccl_comm, ranks);
    if (!s)
        return gpi_dist_no_memory(f, ctx);
    const gp_status status = gpi_dist_new(f, ctx, rank, ranks, comm);
    if (status != GP_OK) {
        state_free(s);
        return status;
    }
    (*comm)->transport = &transport;
    (*comm)->state = s;
    return GP_OK;
}
