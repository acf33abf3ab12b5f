/* SPDX-License-Identifier: MIT */
/*
 * Ranks of one process. They meet at a barrier; between two of them each may read what the others
 * have laid out there, and copies from their memory.
 *
 * On GPUs the host waits for no copy: a stream waits for the events by which the others say that
 * what they send is there, and, before it goes on, for those that say that what it sent was taken.
 * models/ranks.pml models the barrier and what lies between two of them for the checker spin.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/cuda.h"
#include "core/relax.h"
#include "core/workspace.h"
#include "dist/dist_internal.h"

enum { SMALL = sizeof(struct gpi_note), SPINS = 2000, MAIL_BYTES = 2 * GPI_DIST_ITEM_MAX };

struct seat {
    const void *data; /* of a gather */
    const struct gpi_route *route;
    const void *lent[GPI_DIST_LENT];
    void *ready, *taken; /* events: what I send is there; what I get was copied */
    char bank[2][SMALL];
};

struct table {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int ranks, arrived, left; /* left: ranks that were destroyed */
    unsigned generation;      /* atomic: barriers that all have passed */
    int broken;               /* atomic */
    bool spin;                /* there are processors for all */
    struct seat seats[];
};

static struct table *table_of(gp_comm *comm)
{
    return comm->state;
}

/* Wake all; they find the table broken. */
static void table_break(struct table *t)
{
    pthread_mutex_lock(&t->lock);
    __atomic_store_n(&t->broken, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

static struct timespec deadline_of(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double most = 1e9, wanted = seconds < most ? seconds : most;
    t.tv_sec += (time_t)wanted;
    t.tv_nsec += (long)((wanted - (double)(time_t)wanted) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* Until the generation is no longer this one. Returns false if the others did not come. */
static bool wait_for_all(struct table *t, unsigned generation, double seconds)
{
    const struct timespec until = deadline_of(seconds < 0 ? 0 : seconds);
    int e = 0;
    while (t->generation == generation && !t->broken && e != ETIMEDOUT)
        e = seconds < 0 ? pthread_cond_wait(&t->wake, &t->lock)
                        : pthread_cond_timedwait(&t->wake, &t->lock, &until);
    return t->generation != generation;
}

/* About as long as waking takes. Acquire: what others laid out is seen. */
static bool spin(struct table *t, unsigned generation)
{
    for (int i = 0; t->spin && i < SPINS; i++) {
        if (__atomic_load_n(&t->generation, __ATOMIC_ACQUIRE) != generation)
            return true;
        gpi_relax();
    }
    return false;
}

static gp_status barrier(gp_comm *comm, const char *f)
{
    struct table *t = table_of(comm);
    bool last, all;
    pthread_mutex_lock(&t->lock);
    const unsigned generation = t->generation;
    const bool broken = t->broken != 0;
    last = !broken && ++t->arrived == t->ranks;
    if (last) {
        t->arrived = 0;
        /* Release: who sees the new number sees what was laid out. */
        __atomic_store_n(&t->generation, generation + 1, __ATOMIC_RELEASE);
        pthread_cond_broadcast(&t->wake);
    }
    pthread_mutex_unlock(&t->lock);
    if (broken)
        return gpi_dist_break(comm, f, "another rank failed, was late or ended");
    if (last || spin(t, generation))
        return GP_OK;
    pthread_mutex_lock(&t->lock);
    all = wait_for_all(t, generation, comm->seconds);
    const bool failed = t->broken != 0;
    pthread_mutex_unlock(&t->lock);
    if (all)
        return GP_OK;
    return failed ? gpi_dist_break(comm, f, "another rank failed, was late or ended")
                  : gpi_dist_break(comm, f, "other ranks did not come within %g seconds",
                                   comm->seconds);
}

/* Notes are copied to one of two places, so that one barrier is enough: no rank is two ahead. */
static gp_status gather_small(gp_comm *comm, const char *f, const void *mine, size_t bytes,
                              void *all)
{
    struct table *t = table_of(comm);
    const unsigned bank = __atomic_load_n(&t->generation, __ATOMIC_ACQUIRE) & 1;
    memcpy(t->seats[comm->rank].bank[bank], mine, bytes);
    GPI_TRY(barrier(comm, f));
    for (int r = 0; r < comm->ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, t->seats[r].bank[bank], bytes);
    return GP_OK;
}

static gp_status gather(gp_comm *comm, const char *f, const void *mine, size_t bytes, void *all)
{
    struct table *t = table_of(comm);
    if (bytes <= SMALL)
        return gather_small(comm, f, mine, bytes, all);
    t->seats[comm->rank].data = mine;
    GPI_TRY(barrier(comm, f));
    for (int r = 0; r < comm->ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, t->seats[r].data, bytes);
    return barrier(comm, f);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* What rank r sends to this one. */
struct piece {
    const char *from;
    char *to;
    uint64_t bytes;
};

static struct piece piece_of(gp_comm *comm, const struct gpi_route *route, int r)
{
    const struct gpi_route *theirs = table_of(comm)->seats[r].route;
    return (struct piece){theirs->send + theirs->send_at[comm->rank],
                          route->recv + route->recv_at[r], theirs->send_bytes[comm->rank]};
}

static gp_status copy(gp_comm *comm, const struct piece *p)
{
    if (p->bytes == 0 || p->from == p->to)
        return GP_OK;
    if (comm->ctx->backend == GP_BACKEND_CUDA)
        return gpi_cuda_copy(comm->ctx, p->from, p->bytes, p->to);
    gpi_dist_copy_host(comm->ctx, p->from, p->bytes, p->to);
    return GP_OK;
}

/* The stream of this rank waits for an event of every other one. */
static gp_status follow_others(gp_comm *comm, const char *f, bool taken)
{
    struct table *t = table_of(comm);
    for (int r = 0; r < comm->ranks && comm->ctx->backend == GP_BACKEND_CUDA; r++)
        if (r != comm->rank)
            GPI_TRY(gpi_dist_cuda_wait_event(comm->ctx, f,
                                             taken ? t->seats[r].taken : t->seats[r].ready));
    return GP_OK;
}

static gp_status record(gp_comm *comm, const char *f, void *event)
{
    return comm->ctx->backend == GP_BACKEND_CUDA ? gpi_dist_cuda_record(comm->ctx, f, event)
                                                 : GP_OK;
}

/* Beginning with the next rank, so that not all copy from the same one. */
static gp_status copy_all(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    struct seat *mine = &table_of(comm)->seats[comm->rank];
    GPI_TRY(follow_others(comm, f, false));
    for (int i = 0; i < comm->ranks; i++) {
        const struct piece p = piece_of(comm, route, (comm->rank + i) % comm->ranks);
        GPI_TRY(copy(comm, &p));
    }
    return record(comm, f, mine->taken);
}

/* A rank whose copies fail breaks the others: they would take what did not come. */
static gp_status checked(gp_comm *comm, gp_status s)
{
    if (s != GP_OK && !gpi_dist_is_broken(comm)) {
        __atomic_store_n(&comm->broken, 1, __ATOMIC_RELEASE);
        table_break(table_of(comm));
    }
    return s;
}

static gp_status exchange(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    struct seat *mine = &table_of(comm)->seats[comm->rank];
    mine->route = route;
    GPI_TRY(checked(comm, record(comm, f, mine->ready)));
    GPI_TRY(barrier(comm, f));
    GPI_TRY(checked(comm, copy_all(comm, f, route)));
    GPI_TRY(barrier(comm, f));
    return checked(comm, follow_others(comm, f, true));
}

/* ---- lending --------------------------------------------------------------------------------- */

static gp_status announce(gp_comm *comm, const char *f)
{
    return checked(comm, record(comm, f, table_of(comm)->seats[comm->rank].ready));
}

/* If another rank has announced more by now, this waits for that, too. */
static gp_status follow(gp_comm *comm, const char *f)
{
    return checked(comm, follow_others(comm, f, false));
}

static gp_status lend(gp_comm *comm, const char *f, const void *const *mine, const void **theirs)
{
    struct table *t = table_of(comm);
    struct seat *seat = &t->seats[comm->rank];
    memcpy(seat->lent, mine, sizeof seat->lent);
    GPI_TRY(announce(comm, f));
    GPI_TRY(barrier(comm, f));
    for (int r = 0; r < comm->ranks; r++)
        memcpy(&theirs[GPI_DIST_LENT * r], t->seats[r].lent, sizeof seat->lent);
    return follow(comm, f);
}

static gp_status give_back(gp_comm *comm, const char *f)
{
    GPI_TRY(checked(comm, record(comm, f, table_of(comm)->seats[comm->rank].taken)));
    GPI_TRY(barrier(comm, f));
    return checked(comm, follow_others(comm, f, true));
}

/* ---- life ------------------------------------------------------------------------------------ */

static void abort_all(gp_comm *comm)
{
    table_break(table_of(comm));
}

static void table_free(struct table *t)
{
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* The last one clears the table. */
static void leave(gp_comm *comm)
{
    struct table *t = table_of(comm);
    struct seat *mine = &t->seats[comm->rank];
    table_break(t);
    if (comm->ctx && comm->ctx->backend == GP_BACKEND_CUDA) {
        gpi_release(comm->ctx, comm->mail, MAIL_BYTES);
        gpi_dist_cuda_event_free(comm->ctx, mine->ready);
        gpi_dist_cuda_event_free(comm->ctx, mine->taken);
    }
    pthread_mutex_lock(&t->lock);
    const bool last = ++t->left == t->ranks;
    pthread_mutex_unlock(&t->lock);
    if (last)
        table_free(t);
}

static const struct gpi_transport local = {
    .gather = gather, .exchange = exchange, .abort = abort_all, .destroy = leave};
static const struct gpi_transport lending = {.gather = gather,
                                             .exchange = exchange,
                                             .abort = abort_all,
                                             .destroy = leave,
                                             .lend = lend,
                                             .give_back = give_back,
                                             .announce = announce,
                                             .follow = follow};

static struct table *table_new(int ranks)
{
    struct table *t = calloc(1, sizeof *t + (size_t)ranks * sizeof t->seats[0]);
    pthread_condattr_t attributes;
    if (!t)
        return NULL;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    t->ranks = ranks;
    t->spin = ranks <= sysconf(_SC_NPROCESSORS_ONLN);
    return t;
}

/* Every context is alive and not in use, of the backend of the first, and stands there once. */
static gp_status check_contexts(const char *f, gp_context *const *contexts, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        __attribute__((cleanup(gpi_call_end))) struct gpi_call call = {NULL};
        GPI_TRY(gpi_call_claim(&call, contexts[r], f));
        GPI_TRY(gpi_check_not_orphan(contexts[r], f));
        if (contexts[r]->backend != contexts[0]->backend)
            return gpi_fail(NULL, GP_ERROR_ARGUMENT,
                            "%s: contexts[%d] computes on another backend than contexts[0]", f, r);
        for (int s = 0; s < r; s++)
            if (contexts[s] == contexts[r])
                return gpi_fail(NULL, GP_ERROR_ARGUMENT,
                                "%s: contexts[%d] is contexts[%d]; each rank needs one", f, r, s);
    }
    return GP_OK;
}

/* *sees: whether all see each other's workspaces. Memory of a caller's allocator may be hidden. */
static gp_status seat_fill(struct table *t, const char *f, gp_context *const *contexts, int r,
                           bool *sees)
{
    gp_context *ctx = contexts[r];
    if (ctx->backend != GP_BACKEND_CUDA)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    t->seats[r].ready = gpi_dist_cuda_event(ctx);
    t->seats[r].taken = gpi_dist_cuda_event(ctx);
    if (!t->seats[r].ready || !t->seats[r].taken)
        return gpi_fail(NULL, GP_ERROR_DEVICE, "%s: CUDA cannot make an event", f);
    *sees = *sees && !ctx->allocator.allocate;
    for (int s = 0; s < t->ranks; s++)
        *sees = gpi_dist_cuda_introduce(ctx, contexts[s]) && *sees;
    return GP_OK;
}

static gp_status mail_new(const char *f, gp_comm *comm)
{
    void *memory = NULL;
    GPI_ON_DEVICE(comm->ctx);
    const gp_status s = gpi_allocate(comm->ctx, f, MAIL_BYTES, &memory);
    comm->mail = memory;
    return s == GP_OK ? GP_OK : gpi_fail(NULL, s, "%s: no GPU memory for an item", f);
}

/* On an error those that were made take the table with them. */
static gp_status make_all(const char *f, gp_context *const *contexts, struct table *t,
                          gp_comm **comms)
{
    gp_status s = GP_OK;
    int made = 0;
    bool sees = true;
    for (; made < t->ranks && s == GP_OK; made += s == GP_OK) {
        s = gpi_dist_new(f, contexts[made], made, t->ranks, &comms[made]);
        if (s == GP_OK) {
            comms[made]->transport = &local;
            comms[made]->state = t;
        }
    }
    for (int r = 0; r < t->ranks && s == GP_OK; r++)
        s = seat_fill(t, f, contexts, r, &sees);
    for (int r = 0; r < t->ranks && s == GP_OK; r++) {
        comms[r]->transport = sees ? &lending : &local;
        if (sees && contexts[r]->backend == GP_BACKEND_CUDA)
            s = mail_new(f, comms[r]);
    }
    if (s == GP_OK)
        return GP_OK;
    t->left = t->ranks - made;
    if (made == 0)
        table_free(t);
    for (int r = 0; r < made; r++)
        gp_comm_destroy(comms[r]);
    return s;
}

gp_status gp_comm_create_local(gp_context *const *contexts, int ranks, gp_comm **comms)
{
    static const char f[] = "gp_comm_create_local";
    if (!contexts)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: contexts is NULL", f);
    if (ranks < 1 || ranks > GP_COMM_RANKS_MAX)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: ranks is %d, expected 1 to %d", f, ranks,
                        GP_COMM_RANKS_MAX);
    if (!comms)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: comms is NULL", f);
    memset(comms, 0, (size_t)ranks * sizeof *comms);
    GPI_TRY(check_contexts(f, contexts, ranks));
    struct table *t = table_new(ranks);
    if (!t)
        return gpi_dist_no_memory(f, contexts[0]);
    const gp_status s = make_all(f, contexts, t, comms);
    if (s != GP_OK)
        memset(comms, 0, (size_t)ranks * sizeof *comms);
    return s;
}
