/* SPDX-License-Identifier: MIT */
/* Ranks: making and freeing them, who uses them, breaking them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/cuda.h"
#include "core/registry.h"
#include "dist/dist_kernels_internal.h"

/* The registry compares addresses and reads no memory, so a gp_comm can stand there, too. */
static const gp_context *registered(const gp_comm *comm)
{
    return (const gp_context *)(const void *)comm;
}

static bool is_alive(const gp_comm *comm)
{
    return comm && gpi_registry_alive(registered(comm));
}

static gp_status claim(struct gpi_entry **entry, gp_comm *comm, const char *f)
{
    if (!comm)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: comm is NULL", f);
    switch (gpi_registry_claim(registered(comm), entry)) {
    case GPI_UNKNOWN:
        return gpi_fail(NULL, GP_ERROR_POINTER,
                        "%s: comm is %p, not a gp_comm, or one that was destroyed", f,
                        (void *)comm);
    case GPI_BUSY:
        return gpi_fail(NULL, GP_ERROR_BUSY, "%s: comm is in use by another thread", f);
    default:
        return GP_OK;
    }
}

gp_status gpi_dist_begin(struct gpi_dist_call *call, gp_comm *comm, const char *f)
{
    struct gpi_call context = {NULL};
    GPI_TRY(claim(&call->comm, comm, f));
    GPI_TRY(gpi_call_claim(&context, comm->ctx, f));
    call->ctx = context.entry;
    GPI_TRY(gpi_check_not_orphan(comm->ctx, f));
    if (call->ctx) {
        comm->ctx->function = f;
        comm->ctx->calls++;
    }
    if (gpi_dist_is_broken(comm))
        return gpi_fail(comm->ctx, GP_ERROR_COMM,
                        "%s: comm is broken: a rank failed, was late or ended, or it was aborted",
                        f);
    return GP_OK;
}

void gpi_dist_end(struct gpi_dist_call *call)
{
    if (call->ctx)
        gpi_registry_release(call->ctx);
    if (call->comm)
        gpi_registry_release(call->comm);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* A context of the CPU that computes what every rank computes alike. */
static gp_status make_fold(gp_context **fold)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    o.backend = GP_BACKEND_CPU;
    o.threads = 1;
    return gp_context_create(fold, &o);
}

gp_status gpi_dist_no_memory(const char *f, gp_context *ctx)
{
    gpi_fail(ctx, GP_ERROR_MEMORY, "%s: out of host memory", f);
    return gpi_fail(NULL, GP_ERROR_MEMORY, "%s: out of host memory", f);
}

gp_status gpi_dist_new(const char *f, gp_context *ctx, int rank, int ranks, gp_comm **out)
{
    const size_t p = (size_t)ranks, row = gpi_dist_row(ranks);
    gp_comm *c = calloc(1, sizeof *c);
    if (c) {
        c->ctx = ctx;
        c->rank = rank;
        c->ranks = ranks;
        c->seconds = -1;
        c->notes = calloc(p, sizeof *c->notes);
        c->table = malloc(p * row * sizeof *c->table);
        c->mine = malloc((row + GPI_DIST_PROBES + GP_COMM_RANKS_MAX) * sizeof *c->mine);
        c->asked = c->mine ? c->mine + row : NULL;
        c->borders = gpi_dist_borders(ranks);
        c->lent = malloc(GPI_DIST_LENT * p * sizeof *c->lent);
        if (ctx->backend == GP_BACKEND_CUDA)
            c->pinned = gpi_dist_cuda_pinned(ctx, GPI_DIST_PINNED);
        c->have = malloc(((6 + p) * p + 1) * sizeof *c->have);
        c->get = c->have ? c->have + p + 1 : NULL;
        c->route = c->have ? c->get + p : NULL;
        c->cuts = c->have ? c->route + 4 * p : NULL;
    }
    if (!c || !c->notes || !c->table || !c->mine || !c->borders || !c->lent || !c->have ||
        (ctx->backend == GP_BACKEND_CUDA && !c->pinned) || make_fold(&c->fold) != GP_OK) {
        gpi_dist_free(c);
        return gpi_dist_no_memory(f, ctx);
    }
    if (!gpi_registry_add((gp_context *)(void *)c)) {
        gpi_dist_free(c);
        return gpi_dist_no_memory(f, ctx);
    }
    *out = c;
    return GP_OK;
}

void gpi_dist_free(gp_comm *c)
{
    if (!c)
        return;
    gp_context_destroy(c->fold);
    if (c->side && c->ctx)
        gpi_dist_cuda_side_free(c->ctx, c->side);
    if (c->pinned && c->ctx)
        gpi_dist_cuda_unpin(c->ctx, c->pinned);
    free(c->notes);
    free(c->table);
    free(c->mine);
    free(c->borders);
    free(c->lent);
    free(c->have);
    free(c->stage);
    free(c);
}

void gp_comm_destroy(gp_comm *comm)
{
    struct gpi_entry *entry = NULL;
    if (!comm || claim(&entry, comm, "gp_comm_destroy") != GP_OK || !entry)
        return;
    gpi_registry_remove(entry);
    if (!gpi_registry_alive(comm->ctx) || gpi_context_is_orphan(comm->ctx))
        comm->ctx = NULL; /* it ended first, or is a parent's: what it made of CUDA's stays */
    if (comm->transport)
        comm->transport->destroy(comm);
    gpi_dist_free(comm);
}

int gp_comm_rank(const gp_comm *comm)
{
    return is_alive(comm) ? comm->rank : -1;
}

int gp_comm_ranks(const gp_comm *comm)
{
    return is_alive(comm) ? comm->ranks : 0;
}

gp_context *gp_comm_context(const gp_comm *comm)
{
    return is_alive(comm) ? comm->ctx : NULL;
}

void *gpi_dist_stage(gp_comm *comm, size_t bytes)
{
    if (bytes > comm->stage_bytes) {
        free(comm->stage);
        comm->stage = malloc(bytes);
        comm->stage_bytes = comm->stage ? bytes : 0;
    }
    return comm->stage;
}

gp_status gpi_dist_check_figure(const char *f, const gp_target *target, int ranks, gp_target *taken)
{
    GPI_TRY(gpi_check_target(f, target, taken));
    if (ranks < 1 || ranks > GP_COMM_RANKS_MAX)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: ranks is %d, expected 1 to %d", f, ranks,
                        GP_COMM_RANKS_MAX);
    return GP_OK;
}

/* ---- waiting and breaking -------------------------------------------------------------------- */

double gpi_dist_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Acquire and release: who sees that comm is broken sees what happened before. */
bool gpi_dist_is_broken(const gp_comm *comm)
{
    return __atomic_load_n(&comm->broken, __ATOMIC_ACQUIRE) != 0;
}

/* Sequentially consistent: a rank that changes its transport meanwhile sees that it is broken, or
 * this ends the waits of the new one (dist_seats.c). */
static void end_waits(gp_comm *comm)
{
    __atomic_store_n(&comm->broken, 1, __ATOMIC_SEQ_CST);
    __atomic_load_n(&comm->transport, __ATOMIC_SEQ_CST)->abort(comm);
}

gp_status gpi_dist_break(gp_comm *comm, const char *function, const char *format, ...)
{
    char text[GPI_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    end_waits(comm);
    return gpi_fail(comm->ctx, GP_ERROR_COMM, "%s: %s", function, text);
}

gp_status gpi_dist_drop(gp_comm *comm, gp_status status)
{
    end_waits(comm);
    return status;
}

gp_status gp_comm_abort(gp_comm *comm)
{
    if (!is_alive(comm))
        return gpi_fail(NULL, GP_ERROR_POINTER, "gp_comm_abort: comm is %p, not a gp_comm",
                        (void *)comm);
    end_waits(comm);
    return GP_OK;
}

static gp_status check_seconds(gp_comm *comm, const char *f, double seconds)
{
    return isnan(seconds) ? gpi_fail(comm->ctx, GP_ERROR_ARGUMENT, "%s: seconds is NaN", f) : GP_OK;
}

gp_status gp_comm_set_timeout(gp_comm *comm, double seconds)
{
    static const char f[] = "gp_comm_set_timeout";
    GPI_DIST_CALL(comm, f);
    GPI_TRY(check_seconds(comm, f, seconds));
    comm->seconds = seconds;
    return GP_OK;
}

gp_status gp_comm_synchronize(gp_comm *comm, double seconds)
{
    static const char f[] = "gp_comm_synchronize";
    GPI_DIST_CALL(comm, f);
    GPI_TRY(check_seconds(comm, f, seconds));
    if (comm->ctx->backend == GP_BACKEND_CUDA) {
        GPI_ON_DEVICE(comm->ctx);
        GPI_TRY(gpi_dist_cuda_wait(comm, f, seconds));
    }
    return gp_context_synchronize(comm->ctx);
}
