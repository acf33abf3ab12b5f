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

#include "core/cuda.h"
#include "core/relax.h"
#include "core/workspace.h"
#include "dist/dist_local_internal.h"

enum { SPINS = 2000 };

/* Wake all; they find the table broken. */
static void table_break(struct gpi_table *t)
{
    pthread_mutex_lock(&t->lock);
    __atomic_store_n(&t->broken, 1, __ATOMIC_RELEASE);
    if (t->stop)
        __atomic_store_n(t->stop, 1, __ATOMIC_RELAXED); /* GPUs end their waits, no more */
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
static bool wait_for_all(struct gpi_table *t, unsigned generation, double seconds)
{
    const struct timespec until = deadline_of(seconds < 0 ? 0 : seconds);
    int e = 0;
    while (t->generation == generation && !t->broken && e != ETIMEDOUT)
        e = seconds < 0 ? pthread_cond_wait(&t->wake, &t->lock)
                        : pthread_cond_timedwait(&t->wake, &t->lock, &until);
    return t->generation != generation;
}

/* About as long as waking takes. Acquire: what others laid out is seen. */
static bool spin(struct gpi_table *t, unsigned generation)
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
    struct gpi_table *t = gpi_table_of(comm);
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
    struct gpi_table *t = gpi_table_of(comm);
    const unsigned bank = __atomic_load_n(&t->generation, __ATOMIC_ACQUIRE) & 1;
    memcpy(t->seats[comm->rank].bank[bank], mine, bytes);
    GPI_TRY(barrier(comm, f));
    for (int r = 0; r < comm->ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, t->seats[r].bank[bank], bytes);
    return GP_OK;
}

static gp_status gather(gp_comm *comm, const char *f, const void *mine, size_t bytes, void *all)
{
    struct gpi_table *t = gpi_table_of(comm);
    if (bytes <= GPI_SEAT_SMALL)
        return gather_small(comm, f, mine, bytes, all);
    t->seats[comm->rank].data = mine;
    GPI_TRY(barrier(comm, f));
    for (int r = 0; r < comm->ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, t->seats[r].data, bytes);
    return barrier(comm, f);
}

/* ---- data ------------------------------------------------------------------------------------ */

void gpi_local_address(gp_comm *comm, struct gpi_mailing *m)
{
    const struct gpi_table *t = gpi_table_of(comm);
    memcpy(m->mails, t->mails, sizeof m->mails);
    m->stop = t->stop;
}

/* What rank r sends to this one. */
struct piece {
    const char *from;
    char *to;
    uint64_t bytes;
};

static struct piece piece_of(gp_comm *comm, const struct gpi_route *route, int r)
{
    const struct gpi_route *theirs = gpi_table_of(comm)->seats[r].route;
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

/* No graph waits for an event of another one: a round of mail without parts, in which each GPU
 * waits for what the others have done before. */
static gp_status meet_by_mail(gp_comm *comm, const char *f)
{
    struct gpi_mailing m = {.rank = comm->rank,
                            .ranks = comm->ranks,
                            .sends = true,
                            .receives = true,
                            .orders = true,
                            .dtype = GP_U32,
                            .op = GP_SUM,
                            .use = GPI_MAIL_RESULT};
    const struct gpi_dist_kernel k = {.task = GPI_DIST_MAIL, .mailing = &m};
    gpi_local_address(comm, &m);
    return gpi_dist_launch(comm, f, &k);
}

/* The stream of this rank waits for an event of every other one. */
static gp_status follow_others(gp_comm *comm, const char *f, bool taken)
{
    struct gpi_table *t = gpi_table_of(comm);
    if (comm->capture == GPI_DIST_APART)
        return meet_by_mail(comm, f);
    for (int r = 0; r < comm->ranks && comm->ctx->backend == GP_BACKEND_CUDA; r++)
        if (r != comm->rank)
            GPI_TRY(gpi_dist_cuda_wait_event(comm->ctx, f,
                                             taken ? t->seats[r].taken : t->seats[r].ready));
    return GP_OK;
}

static gp_status record(gp_comm *comm, const char *f, void *event)
{
    return comm->ctx->backend == GP_BACKEND_CUDA && comm->capture != GPI_DIST_APART
               ? gpi_dist_cuda_record(comm->ctx, f, event)
               : GP_OK;
}

/* Beginning with the next rank, so that not all copy from the same one. */
static gp_status copy_all(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    struct gpi_seat *mine = &gpi_table_of(comm)->seats[comm->rank];
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
        table_break(gpi_table_of(comm));
    }
    return s;
}

static gp_status exchange(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    struct gpi_seat *mine = &gpi_table_of(comm)->seats[comm->rank];
    mine->route = route;
    GPI_TRY(checked(comm, record(comm, f, mine->ready)));
    GPI_TRY(barrier(comm, f));
    GPI_TRY(checked(comm, copy_all(comm, f, route)));
    GPI_TRY(barrier(comm, f));
    return checked(comm, follow_others(comm, f, true));
}

/* Copies in the lanes; a second barrier, as the others read the route. */
static gp_status pull_all(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    struct gpi_table *t = gpi_table_of(comm);
    for (int i = 0; i < comm->ranks; i++) {
        const int r = (comm->rank + i) % comm->ranks;
        const enum gpi_dist_lane lane = r == comm->rank ? GPI_DIST_FROM_HERE : GPI_DIST_BY_OTHERS;
        const struct piece p = piece_of(comm, route, r);
        if (r != comm->rank && comm->ctx->backend == GP_BACKEND_CUDA)
            GPI_TRY(gpi_dist_cuda_lanes_wait(comm, f, t->seats[r].ready));
        if (p.from != p.to)
            GPI_TRY(gpi_dist_pull(comm, f, lane, p.from, p.bytes, p.to));
    }
    return GP_OK;
}

static gp_status exchange_beside(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    struct gpi_seat *mine = &gpi_table_of(comm)->seats[comm->rank];
    mine->route = route;
    GPI_TRY(checked(comm, record(comm, f, mine->ready)));
    GPI_TRY(barrier(comm, f));
    GPI_TRY(checked(comm, pull_all(comm, f, route)));
    return barrier(comm, f);
}

/* ---- lending --------------------------------------------------------------------------------- */

static gp_status announce(gp_comm *comm, const char *f)
{
    return checked(comm, record(comm, f, gpi_table_of(comm)->seats[comm->rank].ready));
}

/* If another rank has announced more by now, this waits for that, too. */
static gp_status follow(gp_comm *comm, const char *f)
{
    return checked(comm, follow_others(comm, f, false));
}

static gp_status lend(gp_comm *comm, const char *f, const void *const *mine, const void **theirs)
{
    struct gpi_table *t = gpi_table_of(comm);
    struct gpi_seat *seat = &t->seats[comm->rank];
    memcpy(seat->lent, mine, sizeof seat->lent);
    GPI_TRY(announce(comm, f));
    GPI_TRY(barrier(comm, f));
    for (int r = 0; r < comm->ranks; r++)
        memcpy(&theirs[GPI_DIST_LENT * r], t->seats[r].lent, sizeof seat->lent);
    return follow(comm, f);
}

static gp_status announce_taken(gp_comm *comm, const char *f)
{
    return checked(comm, record(comm, f, gpi_table_of(comm)->seats[comm->rank].taken));
}

static gp_status follow_taken(gp_comm *comm, const char *f)
{
    GPI_TRY(barrier(comm, f));
    return checked(comm, follow_others(comm, f, true));
}

static gp_status give_back(gp_comm *comm, const char *f)
{
    GPI_TRY(announce_taken(comm, f));
    return follow_taken(comm, f);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gpi_local_abort(gp_comm *comm)
{
    table_break(gpi_table_of(comm));
}

void gpi_table_free(struct gpi_table *t, gp_context *ctx)
{
    for (int r = 0; r < GPI_MAIL_RANKS && ctx; r++)
        if (t->mails[r])
            gpi_dist_cuda_mail_free(t->mails[r]);
    if (t->stop && ctx)
        gpi_dist_cuda_unpin(ctx, t->stop);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* Before the first rank leaves, which ends all waits: once the rounds of mail that it has queued
 * are over, those of all have been sent. */
static void end_rounds(gp_comm *comm)
{
    if (comm->ctx && comm->mail && !gpi_cuda_capturing(comm->ctx))
        gpi_dist_cuda_wait(comm, "gp_comm_destroy", comm->seconds);
}

/* The last one clears the table. */
void gpi_local_leave(gp_comm *comm)
{
    struct gpi_table *t = gpi_table_of(comm);
    struct gpi_seat *mine = &t->seats[comm->rank];
    if (!gpi_dist_is_broken(comm) && !__atomic_load_n(&t->broken, __ATOMIC_ACQUIRE))
        end_rounds(comm);
    table_break(t);
    if (comm->ctx && comm->ctx->backend == GP_BACKEND_CUDA) {
        gpi_dist_cuda_event_free(comm->ctx, mine->ready);
        gpi_dist_cuda_event_free(comm->ctx, mine->taken);
    }
    pthread_mutex_lock(&t->lock);
    const bool last = ++t->left == t->ranks;
    pthread_mutex_unlock(&t->lock);
    if (last)
        gpi_table_free(t, comm->ctx);
}

const struct gpi_transport gpi_local_alone = {.gather = gather,
                                              .exchange = exchange,
                                              .exchange_beside = exchange_beside,
                                              .conclude = give_back,
                                              .abort = gpi_local_abort,
                                              .destroy = gpi_local_leave};
const struct gpi_transport gpi_local_lending = {.gather = gather,
                                                .exchange = exchange,
                                                .exchange_beside = exchange_beside,
                                                .conclude = give_back,
                                                .abort = gpi_local_abort,
                                                .destroy = gpi_local_leave,
                                                .lend = lend,
                                                .give_back = give_back,
                                                .announce = announce,
                                                .follow = follow,
                                                .announce_taken = announce_taken,
                                                .follow_taken = follow_taken};
