/* SPDX-License-Identifier: MIT */
/*
 * Windows: ranks of any transport whose GPUs are those of one host read each other's memory, as
 * those of one process do (dist_local.c). Each has a window, an array of its own that the others
 * map by handles that the transport carries. Events of the same kind say when something lies there
 * and when it was taken; that one was recorded, a gathering says. Each rank has a process of its
 * own: CUDA opens no handle in the process that it is from.
 *
 * Whether all can is found out when ranks first have much to sort, by all of them alike. From then
 * on a table of functions that lend stands before that of the transport.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cuda.h"
#include "dist/dist_internal.h"

/* Of a window when ranks meet. */
enum { FIRST_BYTES = 1 << 20 };

struct peer {
    cudaEvent_t ready, taken;  /* what it sends is there; what it gets was copied */
    cudaIpcMemHandle_t handle; /* of base, if it is mapped */
    char *base;
};

struct gpi_window {
    const struct gpi_transport *under;
    struct gpi_transport over; /* the same, and it lends */
    cudaEvent_t ready, taken;
    char *base, *old; /* old: may still be mapped by others */
    size_t bytes;
    struct peer peers[];
};

/* What a rank tells the others of its window. */
struct deed {
    cudaIpcMemHandle_t handle;
    uint64_t status;
};

/* What ranks tell each other to find out. */
struct card {
    char host[GPI_HOST_NAME];
    int64_t process;
    char bus[32];
    cudaIpcEventHandle_t ready, taken;
    struct deed deed;
    uint64_t able;
};

/* ---- who is where ---------------------------------------------------------------------------- */

static bool event_new(cudaEvent_t *event, cudaIpcEventHandle_t *handle)
{
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventInterprocess) ==
               cudaSuccess &&
           cudaIpcGetEventHandle(handle, *event) == cudaSuccess;
}

/* A window, which is small at first. */
static bool window_new(struct gpi_window *w, size_t bytes, struct deed *deed)
{
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes) != cudaSuccess)
        return false;
    w->old = w->base;
    w->base = memory;
    w->bytes = bytes;
    return cudaIpcGetMemHandle(&deed->handle, memory) == cudaSuccess;
}

/* Map what another rank has now. */
static bool map(struct peer *p, const struct deed *deed)
{
    void *base = NULL;
    if (p->base && memcmp(&p->handle, &deed->handle, sizeof p->handle) == 0)
        return true;
    if (p->base)
        cudaIpcCloseMemHandle(p->base);
    p->base = NULL;
    if (cudaIpcOpenMemHandle(&base, deed->handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
        return false;
    p->base = base;
    p->handle = deed->handle;
    return true;
}

static struct card card_of(gp_comm *comm, struct gpi_window *w)
{
    struct card c = {.able = 0};
    c.process = getpid();
    c.able = w && gpi_dist_name_host(c.host) &&
             cudaDeviceGetPCIBusId(c.bus, sizeof c.bus, comm->ctx->device) == cudaSuccess &&
             event_new(&w->ready, &c.ready) && event_new(&w->taken, &c.taken) &&
             window_new(w, FIRST_BYTES, &c.deed);
    return c;
}

/* The current device reaches that of the other rank, and its events are here. */
static bool meet_peer(gp_comm *comm, const struct card *mine, const struct card *other,
                      struct peer *peer)
{
    int device, can = 0;
    if (!other->able || mine->process == other->process ||
        memcmp(mine->host, other->host, sizeof mine->host) != 0 ||
        cudaDeviceGetByPCIBusId(&device, other->bus) != cudaSuccess)
        return false;
    if (device != comm->ctx->device) {
        if (cudaDeviceCanAccessPeer(&can, comm->ctx->device, device) != cudaSuccess || !can)
            return false;
        const cudaError_t e = cudaDeviceEnablePeerAccess(device, 0);
        if (e != cudaSuccess && e != cudaErrorPeerAccessAlreadyEnabled)
            return false;
    }
    return cudaIpcOpenEventHandle(&peer->ready, other->ready) == cudaSuccess &&
           cudaIpcOpenEventHandle(&peer->taken, other->taken) == cudaSuccess &&
           map(peer, &other->deed);
}

/* ---- lending --------------------------------------------------------------------------------- */

static gp_status gather(gp_comm *comm, const char *f, const void *mine, size_t bytes, void *all)
{
    return comm->window->under->gather(comm, f, mine, bytes, all);
}

/* Later work waits for an event of every other rank. */
static gp_status wait_for_others(gp_comm *comm, const char *f, bool taken)
{
    for (int r = 0; r < comm->ranks; r++) {
        const struct peer *p = &comm->window->peers[r];
        if (r != comm->rank)
            GPI_TRY(gpi_dist_cuda_wait_event(comm->ctx, f, taken ? p->taken : p->ready));
    }
    return GP_OK;
}

static gp_status announce(gp_comm *comm, const char *f)
{
    return gpi_dist_cuda_record(comm->ctx, f, comm->window->ready);
}

static gp_status follow(gp_comm *comm, const char *f)
{
    return wait_for_others(comm, f, false);
}

/* Ranks tell the places of arrays in their windows; the last number stands for none. */
static gp_status lend(gp_comm *comm, const char *f, const void *const *mine, const void **theirs)
{
    const struct gpi_window *w = comm->window;
    uint64_t at[GPI_DIST_LENT];
    uint64_t *all = malloc((size_t)comm->ranks * sizeof at); /* what is in comm->table is needed */
    if (!all)
        return gpi_dist_drop(comm, gpi_dist_no_memory(f, comm->ctx));
    for (int i = 0; i < GPI_DIST_LENT; i++)
        at[i] = mine[i] ? (uint64_t)((const char *)mine[i] - w->base) : UINT64_MAX;
    gp_status s = announce(comm, f);
    if (s != GP_OK)
        gpi_dist_drop(comm, s);
    else
        s = gather(comm, f, at, sizeof at, all);
    for (int i = 0; i < GPI_DIST_LENT * comm->ranks && s == GP_OK; i++) {
        const int r = i / GPI_DIST_LENT;
        const char *base = r == comm->rank ? w->base : w->peers[r].base;
        theirs[i] = all[i] == UINT64_MAX ? NULL : base + all[i];
    }
    free(all);
    return s == GP_OK ? follow(comm, f) : s;
}

static gp_status give_back(gp_comm *comm, const char *f)
{
    char mine = 0, *all = malloc((size_t)comm->ranks);
    gp_status s = all ? gpi_dist_cuda_record(comm->ctx, f, comm->window->taken)
                      : gpi_dist_no_memory(f, comm->ctx);
    if (s != GP_OK)
        gpi_dist_drop(comm, s);
    else
        s = gather(comm, f, &mine, 1, all);
    free(all);
    return s == GP_OK ? wait_for_others(comm, f, true) : s;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Of what could be made; the device is current. */
static void window_free(gp_comm *comm, struct gpi_window *w)
{
    for (int r = 0; r < comm->ranks; r++) {
        struct peer *p = &w->peers[r];
        if (p->base)
            cudaIpcCloseMemHandle(p->base);
        if (p->ready)
            cudaEventDestroy(p->ready);
        if (p->taken)
            cudaEventDestroy(p->taken);
    }
    if (w->ready)
        cudaEventDestroy(w->ready);
    if (w->taken)
        cudaEventDestroy(w->taken);
    cudaFree(w->base);
    cudaFree(w->old);
    cudaGetLastError();
    free(w);
}

static void destroy(gp_comm *comm)
{
    struct gpi_window *w = comm->window;
    const struct gpi_transport *under = w->under;
    if (comm->ctx) {
        GPI_ON_DEVICE(comm->ctx);
        window_free(comm, w);
    } else {
        free(w); /* what it made of CUDA's stays */
    }
    under->destroy(comm);
}

static void put_over(gp_comm *comm, struct gpi_window *w)
{
    w->under = comm->transport;
    w->over = *comm->transport;
    w->over.destroy = destroy;
    w->over.lend = lend;
    w->over.give_back = give_back;
    w->over.announce = announce;
    w->over.follow = follow;
    comm->window = w;
    __atomic_store_n(&comm->transport, &w->over, __ATOMIC_RELEASE);
}

gp_status gpi_window_introduce(gp_comm *comm, const char *f)
{
    const size_t p = (size_t)comm->ranks;
    struct gpi_window *w = calloc(1, sizeof *w + p * sizeof w->peers[0]);
    struct card mine = card_of(comm, w), *cards = malloc(p * sizeof *cards);
    char able = 0, *all = malloc(p);
    gp_status s = cards && all ? GP_OK : gpi_dist_no_memory(f, comm->ctx);
    comm->introduced = true;
    if (s != GP_OK)
        gpi_dist_drop(comm, s); /* the others would wait */
    else
        s = comm->transport->gather(comm, f, &mine, sizeof mine, cards);
    able = s == GP_OK && mine.able;
    for (int r = 0; r < comm->ranks && able; r++)
        able = r == comm->rank || meet_peer(comm, &mine, &cards[r], &w->peers[r]);
    cudaGetLastError();
    if (s == GP_OK)
        s = comm->transport->gather(comm, f, &able, 1, all);
    for (size_t r = 0; r < p && s == GP_OK; r++)
        able = able && all[r];
    if (s == GP_OK && able)
        put_over(comm, w);
    else if (w)
        window_free(comm, w);
    free(cards);
    free(all);
    return s;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A larger one if it has to be; the others still have the old one mapped. */
static gp_status grow(gp_comm *comm, const char *f, size_t bytes, struct deed *deed)
{
    struct gpi_window *w = comm->window;
    if (bytes <= w->bytes)
        return gpi_cuda_check(comm->ctx, f, (int)cudaIpcGetMemHandle(&deed->handle, w->base));
    if (window_new(w, bytes, deed))
        return GP_OK;
    cudaGetLastError();
    return gpi_fail(comm->ctx, GP_ERROR_MEMORY,
                    "%s: no %zu bytes of GPU memory for what other ranks read", f, bytes);
}

static gp_status check_deeds(gp_comm *comm, const char *f, const struct deed *all)
{
    for (int r = 0; r < comm->ranks; r++) {
        const gp_status s = (gp_status)all[r].status;
        if (s != GP_OK)
            return r == comm->rank
                       ? s
                       : gpi_fail(comm->ctx, s, "%s: on rank %d %s", f, r, gp_status_string(s));
    }
    return GP_OK;
}

gp_status gpi_window_reserve(gp_comm *comm, const char *f, size_t bytes, char **memory)
{
    struct gpi_window *w = comm->window;
    struct deed mine = {.status = 0}, *all = malloc((size_t)comm->ranks * sizeof *all);
    char *retired = w->old; /* all have mapped another one since */
    w->old = NULL;
    gp_status s = all ? grow(comm, f, bytes, &mine) : gpi_dist_no_memory(f, comm->ctx);
    mine.status = (uint64_t)s;
    if (!all)
        return gpi_dist_drop(comm, s);
    s = gather(comm, f, &mine, sizeof mine, all);
    cudaFree(retired);
    if (s == GP_OK)
        s = check_deeds(comm, f, all);
    for (int r = 0; r < comm->ranks && s == GP_OK; r++)
        if (r != comm->rank && !map(&w->peers[r], &all[r]))
            s = gpi_dist_drop(comm, gpi_cuda_check(comm->ctx, f, (int)cudaGetLastError()));
    free(all);
    *memory = w->base;
    return s;
}
