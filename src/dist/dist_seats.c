/* SPDX-License-Identifier: MIT */
/* Ranks of one process get their seats: when they are made, or when ranks of NCCL find out that
 * they are of one process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cuda.h"
#include "core/workspace.h"
#include "dist/dist_local_internal.h"

static struct gpi_table *table_new(gp_context *ctx, int ranks)
{
    struct gpi_table *t = calloc(1, sizeof *t + (size_t)ranks * sizeof t->seats[0]);
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
    if (ctx->backend != GP_BACKEND_CUDA)
        return t;
    t->stop = gpi_dist_cuda_pinned(ctx, sizeof *t->stop);
    if (!t->stop) {
        gpi_table_free(t, ctx);
        return NULL;
    }
    *t->stop = 0;
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
static gp_status seat_fill(struct gpi_table *t, const char *f, gp_context *const *contexts, int r,
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

/* Two of these contexts are on one GPU. */
static bool share_a_gpu(gp_context *const *contexts, int ranks)
{
    for (int r = 0; r < ranks; r++)
        for (int s = 0; s < r; s++)
            if (contexts[s]->device == contexts[r]->device)
                return true;
    return false;
}

/* Of more ranks than a mail has room for, none has one. */
static gp_status mail_new(const char *f, gp_comm *comm, gp_context *const *contexts)
{
    if (comm->ranks > GPI_MAIL_RANKS)
        return GP_OK;
    GPI_ON_DEVICE(comm->ctx);
    comm->mail = gpi_dist_cuda_mail();
    gpi_table_of(comm)->mails[comm->rank] = comm->mail;
    comm->shares_gpu = share_a_gpu(contexts, comm->ranks);
    return comm->mail ? GP_OK : gpi_fail(NULL, GP_ERROR_MEMORY, "%s: no GPU memory for an item", f);
}

/* On an error those that were made take the table with them. */
static gp_status make_all(const char *f, gp_context *const *contexts, struct gpi_table *t,
                          gp_comm **comms)
{
    gp_status s = GP_OK;
    int made = 0;
    bool sees = true;
    for (; made < t->ranks && s == GP_OK; made += s == GP_OK) {
        s = gpi_dist_new(f, contexts[made], made, t->ranks, &comms[made]);
        if (s == GP_OK) {
            comms[made]->transport = &gpi_local_alone;
            comms[made]->seats = t;
        }
    }
    for (int r = 0; r < t->ranks && s == GP_OK; r++)
        s = seat_fill(t, f, contexts, r, &sees);
    for (int r = 0; r < t->ranks && s == GP_OK; r++) {
        comms[r]->transport = sees ? &gpi_local_lending : &gpi_local_alone;
        if (sees && contexts[r]->backend == GP_BACKEND_CUDA)
            s = mail_new(f, comms[r], contexts);
    }
    if (s == GP_OK)
        return GP_OK;
    t->left = t->ranks - made;
    if (made == 0)
        gpi_table_free(t, contexts[0]);
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
    struct gpi_table *t = table_new(contexts[0], ranks);
    if (!t)
        return gpi_dist_no_memory(f, contexts[0]);
    const gp_status s = make_all(f, contexts, t, comms);
    if (s != GP_OK)
        memset(comms, 0, (size_t)ranks * sizeof *comms);
    return s;
}

/* ---- ranks that were made otherwise ---------------------------------------------------------- */

struct card {
    char host[GPI_HOST_NAME];
    int64_t process;
    gp_context *ctx;
    struct gpi_table *table; /* of rank 0 */
};

bool gpi_dist_name_host(char name[GPI_HOST_NAME])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    const bool read = file && fgets(name, GPI_HOST_NAME, file);
    if (file)
        fclose(file);
    return read;
}

/* The contexts of all to comm->lent; false: they are not of one process. */
static bool list_contexts(gp_comm *comm, const struct card *cards)
{
    for (int r = 0; r < comm->ranks; r++) {
        if (cards[r].process != cards[0].process || !cards[r].host[0] ||
            memcmp(cards[r].host, cards[0].host, GPI_HOST_NAME) != 0)
            return false;
        comm->lent[r] = cards[r].ctx;
    }
    return cards[0].table != NULL;
}

static void abort_both(gp_comm *comm)
{
    gpi_local_abort(comm);
    comm->under->abort(comm);
}

static void destroy_both(gp_comm *comm)
{
    const struct gpi_transport *under = comm->under;
    gpi_local_leave(comm);
    under->destroy(comm);
}

static void go_on_here(gp_comm *comm)
{
    comm->under = comm->transport;
    comm->own = gpi_local_lending;
    comm->own.abort = abort_both;
    comm->own.destroy = destroy_both;
    /* Sequentially consistent, both: see end_waits() in dist_comm.c. */
    __atomic_store_n(&comm->transport, (const struct gpi_transport *)&comm->own, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&comm->broken, __ATOMIC_SEQ_CST))
        gpi_local_abort(comm);
}

/* Take a seat; all ranks have one, or all give theirs back. */
static gp_status take_seat(gp_comm *comm, const char *f, struct gpi_table *t)
{
    char able = 0, *all = malloc((size_t)comm->ranks);
    bool sees = true;
    gp_status s = all ? GP_OK : gpi_dist_no_memory(f, comm->ctx);
    comm->seats = t;
    if (s != GP_OK)
        gpi_dist_drop(comm, s); /* the others would wait */
    else
        able = seat_fill(t, f, (gp_context *const *)comm->lent, comm->rank, &sees) == GP_OK &&
               sees && mail_new(f, comm, (gp_context *const *)comm->lent) == GP_OK;
    if (s == GP_OK)
        s = comm->transport->gather(comm, f, &able, 1, all);
    for (int r = 0; r < comm->ranks && s == GP_OK; r++)
        able = able && all[r];
    if (s == GP_OK && able) {
        go_on_here(comm);
    } else {
        gpi_local_leave(comm);
        comm->mail = NULL;
        comm->seats = NULL;
    }
    free(all);
    return s;
}

gp_status gpi_local_sit(gp_comm *comm, const char *f)
{
    const size_t p = (size_t)comm->ranks;
    struct card mine = {.process = getpid(), .ctx = comm->ctx}, *cards = malloc(p * sizeof mine);
    comm->seated = true;
    if (!gpi_dist_name_host(mine.host))
        mine.host[0] = 0;
    if (comm->rank == 0)
        mine.table = table_new(comm->ctx, comm->ranks);
    gp_status s = cards ? GP_OK : gpi_dist_no_memory(f, comm->ctx);
    if (s != GP_OK)
        gpi_dist_drop(comm, s); /* the others would wait */
    else
        s = comm->transport->gather(comm, f, &mine, sizeof mine, cards);
    if (s == GP_OK && list_contexts(comm, cards))
        s = take_seat(comm, f, cards[0].table);
    else if (s == GP_OK && mine.table) /* after an error others may use it */
        gpi_table_free(mine.table, comm->ctx);
    free(cards);
    return s;
}
