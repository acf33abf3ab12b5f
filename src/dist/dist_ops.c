/* SPDX-License-Identifier: MIT */
/* Ranks whose bytes the caller's functions move. Data of a GPU passes through host memory, unless
 * they take its pointers. */
#include <stdlib.h>

#include "dist/dist_internal.h"

static const gp_comm_ops *ops_of(gp_comm *comm)
{
    return comm->state;
}

static gp_status failed(gp_comm *comm, const char *f, const char *what, int e)
{
    return gpi_dist_break(comm, f, "%s of the caller returned %d on rank %d", what, e, comm->rank);
}

static gp_status gather(gp_comm *comm, const char *f, const void *mine, size_t bytes, void *all)
{
    const gp_comm_ops *o = ops_of(comm);
    const int e = o->all_gather(o->user, mine, bytes, all, comm->seconds);
    return e ? failed(comm, f, "all_gather", e) : GP_OK;
}

/* One past the last byte that any piece reaches. */
static uint64_t reach(const uint64_t *at, const uint64_t *bytes, int ranks)
{
    uint64_t most = 0;
    for (int r = 0; r < ranks; r++)
        if (bytes[r] && at[r] + bytes[r] > most)
            most = at[r] + bytes[r];
    return most;
}

/* The pieces of a GPU's array that came, from host memory to their places. */
static gp_status unload(gp_comm *comm, const char *f, const struct gpi_route *r, const char *host)
{
    for (int i = 0; i < comm->ranks; i++)
        if (r->recv_bytes[i])
            GPI_TRY(gpi_dist_put(comm, f, host + r->recv_at[i], r->recv_bytes[i],
                                 r->recv + r->recv_at[i]));
    return GP_OK;
}

static gp_status exchange_staged(gp_comm *comm, const char *f, const struct gpi_route *r)
{
    const gp_comm_ops *o = ops_of(comm);
    const uint64_t out = reach(r->send_at, r->send_bytes, comm->ranks);
    const uint64_t in = reach(r->recv_at, r->recv_bytes, comm->ranks);
    char *host = gpi_dist_stage(comm, out + in + 1);
    if (!host)
        return gpi_dist_break(comm, f, "no %llu bytes of host memory to move data through",
                              (unsigned long long)(out + in));
    for (int i = 0; i < comm->ranks; i++)
        if (r->send_bytes[i])
            GPI_TRY(gpi_dist_fetch(comm, f, r->send + r->send_at[i], r->send_bytes[i],
                                   host + r->send_at[i]));
    const int e = o->exchange(o->user, host, r->send_at, r->send_bytes, host + out, r->recv_at,
                              r->recv_bytes, comm->seconds);
    if (e)
        return failed(comm, f, "exchange", e);
    GPI_TRY(unload(comm, f, r, host + out));
    return gpi_dist_fetch(comm, f, NULL, 0, NULL);
}

static gp_status exchange(gp_comm *comm, const char *f, const struct gpi_route *r)
{
    const gp_comm_ops *o = ops_of(comm);
    if (comm->ctx->backend == GP_BACKEND_CUDA && !o->device_memory)
        return exchange_staged(comm, f, r);
    GPI_TRY(gpi_dist_fetch(comm, f, NULL, 0, NULL)); /* what goes must be there */
    const int e = o->exchange(o->user, r->send, r->send_at, r->send_bytes, r->recv, r->recv_at,
                              r->recv_bytes, comm->seconds);
    return e ? failed(comm, f, "exchange", e) : GP_OK;
}

static void abort_user(gp_comm *comm)
{
    const gp_comm_ops *o = ops_of(comm);
    if (o->abort)
        o->abort(o->user);
}

static void destroy(gp_comm *comm)
{
    const gp_comm_ops *o = ops_of(comm);
    if (o->destroy)
        o->destroy(o->user);
    free(comm->state);
}

static const struct gpi_transport transport = {.gather = gather,
                                               .exchange = exchange,
                                               .abort = abort_user,
                                               .destroy = destroy,
                                               .windows = true};

static gp_status check_ops(const char *f, const gp_comm_ops *o)
{
    if (o->ranks < 1 || o->ranks > GP_COMM_RANKS_MAX)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: ops->ranks is %d, expected 1 to %d", f,
                        o->ranks, GP_COMM_RANKS_MAX);
    if (o->rank < 0 || o->rank >= o->ranks)
        return gpi_fail(NULL, GP_ERROR_ARGUMENT, "%s: ops->rank is %d, expected 0 to %d", f,
                        o->rank, o->ranks - 1);
    if (!o->all_gather || !o->exchange)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: ops->%s is NULL", f,
                        o->all_gather ? "exchange" : "all_gather");
    return gpi_check_unused(NULL, f, "ops->reserved", (uint64_t)o->reserved);
}

gp_status gp_comm_create(gp_context *ctx, const gp_comm_ops *ops, gp_comm **comm)
{
    static const char f[] = "gp_comm_create";
    gp_comm_ops o = GP_COMM_OPS_INIT;
    __attribute__((cleanup(gpi_call_end))) struct gpi_call call = {NULL};
    if (comm)
        *comm = NULL;
    GPI_TRY(gpi_call_claim(&call, ctx, f));
    GPI_TRY(gpi_check_not_orphan(ctx, f));
    GPI_TRY(gpi_take_struct(NULL, f, "ops", ops, &o, GPI_FORM(gp_comm_ops)));
    GPI_TRY(check_ops(f, &o));
    if (!comm)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: comm is NULL", f);
    gp_comm_ops *kept = malloc(sizeof *kept);
    if (!kept)
        return gpi_dist_no_memory(f, ctx);
    *kept = o;
    const gp_status s = gpi_dist_new(f, ctx, o.rank, o.ranks, comm);
    if (s != GP_OK) {
        free(kept);
        return s;
    }
    (*comm)->transport = &transport;
    (*comm)->state = kept;
    return GP_OK;
}
