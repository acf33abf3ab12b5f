/* SPDX-License-Identifier: MIT */
/* Rebalance, and exchange by counts. */
#include <inttypes.h>

#include "dist/dist_internal.h"

/* ---- rebalance ------------------------------------------------------------------------------- */

struct rebalance_args {
    struct gpi_dist_args a;
    gp_dist_desc desc;
    size_t item_bytes, n;
    const void *in;
    void *out;
    uint64_t *out_count;
};

static gp_status run_rebalance(gp_comm *comm, void *args)
{
    struct rebalance_args *r = args;
    const char *f = r->a.function;
    struct gpi_note note = {.status = (uint32_t)r->a.status,
                            .item = r->item_bytes,
                            .n = r->n,
                            .capacity = gpi_dist_room(comm, &r->desc, r->n)};
    if (r->a.status == GP_OK)
        note.hash = gpi_dist_desc_hash(comm, &r->desc);
    GPI_TRY(gpi_dist_meet(comm, &r->a, &note));
    GPI_TRY(gpi_dist_place(comm, f, &r->desc, gpi_dist_total(comm), comm->have));
    GPI_TRY(gpi_dist_check_room(comm, f));
    GPI_TRY(gpi_dist_move(comm, f, r->item_bytes, r->in, r->out));
    return gpi_dist_tell(comm, f, r->out_count);
}

static gp_status check_rebalance(gp_comm *comm, const gp_dist_desc *desc, struct rebalance_args *r)
{
    const char *f = r->a.function;
    gp_context *ctx = comm->ctx;
    GPI_TRY(gpi_dist_take(comm, f, "desc", desc, &r->desc));
    GPI_TRY(gpi_check_item_bytes(ctx, f, "item_bytes", r->item_bytes));
    GPI_TRY(gpi_check_n(ctx, f, "n", r->n));
    const size_t unit = gpi_item_alignment(r->item_bytes);
    const struct gpi_array arrays[] = {
        GPI_READ("in", r->in, (uint64_t)r->n * r->item_bytes, unit),
        GPI_WRITE("out", r->out, gpi_dist_room(comm, &r->desc, r->n) * r->item_bytes, unit),
        GPI_WRITE_IF("out_count", r->out_count, sizeof(uint64_t), sizeof(uint64_t))};
    return gpi_check_arrays(ctx, f, arrays, 3);
}

gp_status gp_dist_rebalance(gp_comm *comm, const gp_dist_desc *desc, size_t item_bytes,
                            const void *in, size_t n, void *out, uint64_t *out_count)
{
    struct rebalance_args r = {.a = {"gp_dist_rebalance", GPI_DIST_REBALANCE, GP_OK},
                               .item_bytes = item_bytes,
                               .n = n,
                               .in = in,
                               .out = out,
                               .out_count = out_count};
    GPI_DIST_CALL(comm, r.a.function);
    r.a.status = check_rebalance(comm, desc, &r);
    return gpi_dist_submit(comm, run_rebalance, &r, sizeof r);
}

/* ---- exchange -------------------------------------------------------------------------------- */

struct exchange_args {
    struct gpi_dist_args a;
    size_t item_bytes, n, capacity;
    const void *in;
    const uint64_t *send_counts;
    void *out;
    uint64_t *recv_counts;
};

/* comm->mine: what this rank sends to each. */
static gp_status take_counts(gp_comm *comm, const struct exchange_args *e)
{
    const char *f = e->a.function;
    uint64_t left = e->n;
    GPI_TRY(gpi_dist_fetch(comm, f, e->send_counts, (size_t)comm->ranks * sizeof *comm->mine,
                           comm->mine));
    for (int r = 0; r < comm->ranks; r++) {
        if (comm->mine[r] > left)
            return gpi_fail(comm->ctx, GP_ERROR_DATA,
                            "%s: send_counts[%d] is %" PRIu64 ", and of %zu items %" PRIu64
                            " are left",
                            f, r, comm->mine[r], e->n, left);
        left -= comm->mine[r];
    }
    if (left)
        return gpi_fail(comm->ctx, GP_ERROR_DATA,
                        "%s: send_counts add up to %" PRIu64 ", and n is %zu", f, e->n - left,
                        e->n);
    return GP_OK;
}

/* What each rank gets to comm->get, from the counts of all in comm->table. */
static void add_up(gp_comm *comm)
{
    const size_t p = (size_t)comm->ranks;
    for (size_t to = 0; to < p; to++) {
        comm->get[to] = 0;
        for (size_t from = 0; from < p; from++)
            comm->get[to] += comm->table[from * p + to];
    }
}

static gp_status send_all(gp_comm *comm, const struct exchange_args *e)
{
    const size_t p = (size_t)comm->ranks, me = (size_t)comm->rank;
    uint64_t *send_at = comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, sent = 0, came = 0;
    for (size_t r = 0; r < p; r++) {
        send_at[r] = sent;
        sent += send_bytes[r] = comm->table[me * p + r] * e->item_bytes;
        recv_at[r] = came;
        came += recv_bytes[r] = comm->table[r * p + me] * e->item_bytes;
    }
    const struct gpi_route route = {e->in, send_at, send_bytes, e->out, recv_at, recv_bytes};
    return comm->transport->exchange(comm, e->a.function, &route);
}

static gp_status run_exchange(gp_comm *comm, void *args)
{
    struct exchange_args *e = args;
    const char *f = e->a.function;
    const size_t p = (size_t)comm->ranks;
    if (e->a.status == GP_OK)
        e->a.status = take_counts(comm, e);
    struct gpi_note note = {
        .status = (uint32_t)e->a.status, .item = e->item_bytes, .n = e->n, .capacity = e->capacity};
    GPI_TRY(gpi_dist_meet(comm, &e->a, &note));
    GPI_TRY(comm->transport->gather(comm, f, comm->mine, p * sizeof *comm->mine, comm->table));
    add_up(comm);
    GPI_TRY(gpi_dist_check_room(comm, f));
    GPI_TRY(send_all(comm, e));
    if (!e->recv_counts)
        return GP_OK;
    for (size_t r = 0; r < p; r++)
        comm->mine[r] = comm->table[r * p + (size_t)comm->rank];
    return gpi_dist_put(comm, f, comm->mine, p * sizeof *comm->mine, e->recv_counts);
}

static gp_status check_exchange(gp_comm *comm, const struct exchange_args *e)
{
    const char *f = e->a.function;
    gp_context *ctx = comm->ctx;
    GPI_TRY(gpi_check_item_bytes(ctx, f, "item_bytes", e->item_bytes));
    GPI_TRY(gpi_check_n(ctx, f, "n", e->n));
    GPI_TRY(gpi_check_n(ctx, f, "capacity", e->capacity));
    const size_t unit = gpi_item_alignment(e->item_bytes), word = sizeof(uint64_t);
    const uint64_t counts = (uint64_t)comm->ranks * word;
    const struct gpi_array arrays[] = {
        GPI_READ("in", e->in, (uint64_t)e->n * e->item_bytes, unit),
        GPI_READ("send_counts", e->send_counts, counts, word),
        GPI_WRITE("out", e->out, (uint64_t)e->capacity * e->item_bytes, unit),
        GPI_WRITE_IF("recv_counts", e->recv_counts, counts, word)};
    return gpi_check_arrays(ctx, f, arrays, 4);
}

gp_status gp_dist_exchange(gp_comm *comm, size_t item_bytes, const void *in, size_t n,
                           const uint64_t *send_counts, void *out, size_t capacity,
                           uint64_t *recv_counts)
{
    struct exchange_args e = {.a = {"gp_dist_exchange", GPI_DIST_EXCHANGE, GP_OK},
                              .item_bytes = item_bytes,
                              .n = n,
                              .capacity = capacity,
                              .in = in,
                              .send_counts = send_counts,
                              .out = out,
                              .recv_counts = recv_counts};
    GPI_DIST_CALL(comm, e.a.function);
    e.a.status = check_exchange(comm, &e);
    return gpi_dist_submit(comm, run_exchange, &e, sizeof e);
}
