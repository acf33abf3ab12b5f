/* SPDX-License-Identifier: MIT */
/* Top-k over ranks: the first k of each rank go to all, and the first k of those are the result. */
#include <gp/gather.h>

#include <inttypes.h>

#include "core/workspace.h"
#include "dist/dist_internal.h"

struct topk_args {
    struct gpi_dist_args a;
    gp_top_k_desc desc;
    size_t key_bytes, index_bytes; /* index_bytes: 8 where the caller wants none */
    const void *keys_in;
    size_t n, k;
    void *keys_out, *indices_out;
};

/* What every rank has sent. */
struct candidates {
    uint64_t mine, count, most; /* of this rank, of all, what ranks have in all */
    char *here_keys, *here_places, *here_indices, *keys, *indices, *places;
};

static uint64_t share(const struct topk_args *t, uint64_t n)
{
    return n < t->k ? n : t->k;
}

/* A gp_top_k() with places in 64 bits. */
static gp_status first_k(gp_comm *comm, const struct topk_args *t, const void *keys, uint64_t n,
                         uint64_t k, void *keys_out, void *places)
{
    if (k == 0)
        return GP_OK;
    return gpi_named(
        comm->ctx, t->a.function,
        gp_top_k(comm->ctx, t->desc.dtype, t->desc.order, keys, n, k, keys_out, GP_U64, places));
}

/* What this rank sends goes to all. */
static gp_status send_to_all(gp_comm *comm, const struct topk_args *t, const void *here,
                             size_t bytes, void *all)
{
    const size_t p = (size_t)comm->ranks;
    uint64_t *send_at = comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, place = 0;
    for (size_t r = 0; r < p; r++) {
        send_at[r] = 0;
        send_bytes[r] = share(t, t->n) * bytes;
        recv_at[r] = place;
        place += recv_bytes[r] = share(t, comm->have[r]) * bytes;
    }
    const struct gpi_route route = {here, send_at, send_bytes, all, recv_at, recv_bytes};
    return comm->transport->exchange(comm, t->a.function, &route);
}

static gp_status bytes_needed(const gp_target *target, const struct topk_args *t, uint64_t mine,
                              uint64_t count, size_t *bytes)
{
    size_t here = 0, there = 0;
    GPI_TRY(gp_top_k_workspace_bytes(target, t->desc.dtype, t->n, mine, &here));
    GPI_TRY(gp_top_k_workspace_bytes(target, t->desc.dtype, count, t->k, &there));
    *bytes = (here > there ? here : there) + gpi_piece(mine * t->key_bytes) + gpi_piece(mine * 8) +
             gpi_piece(mine * t->index_bytes) + gpi_piece(count * t->key_bytes) +
             gpi_piece(count * t->index_bytes) + gpi_piece(t->k * 8);
    return GP_OK;
}

static gp_status select_here(gp_comm *comm, const struct topk_args *t, struct candidates *c,
                             struct gpi_frame *frame)
{
    uint64_t first = 0;
    for (int r = 0; r < comm->rank; r++)
        first += comm->have[r];
    c->here_keys = gpi_frame_take(frame, c->mine * t->key_bytes);
    c->here_places = gpi_frame_take(frame, c->mine * 8);
    c->here_indices = gpi_frame_take(frame, c->mine * t->index_bytes);
    c->keys = gpi_frame_take(frame, c->count * t->key_bytes);
    c->indices = gpi_frame_take(frame, c->count * t->index_bytes);
    c->places = gpi_frame_take(frame, t->k * 8);
    GPI_TRY(first_k(comm, t, t->keys_in, t->n, c->mine, c->here_keys, c->here_places));
    return gpi_dist_shift(comm, t->a.function, 8, c->here_places, c->mine, first, t->index_bytes,
                          c->here_indices);
}

static gp_status run_in_frame(gp_comm *comm, const struct topk_args *t, struct candidates *c,
                              gp_status status, struct gpi_frame *frame)
{
    if (status == GP_OK)
        status = select_here(comm, t, c, frame);
    GPI_TRY(gpi_dist_agree(comm, &t->a, status, NULL, 0));
    GPI_TRY(send_to_all(comm, t, c->here_keys, t->key_bytes, c->keys));
    GPI_TRY(send_to_all(comm, t, c->here_indices, t->index_bytes, c->indices));
    GPI_TRY(first_k(comm, t, c->keys, c->count, t->k, t->keys_out, c->places));
    if (!t->indices_out || t->k == 0)
        return GP_OK;
    return gpi_named(
        comm->ctx, t->a.function,
        gp_gather(comm->ctx, t->index_bytes, c->indices, GP_U64, c->places, t->k, t->indices_out));
}

static gp_status run_topk(gp_comm *comm, void *args)
{
    struct topk_args *t = args;
    struct gpi_frame frame = {NULL, 0, 0};
    struct gpi_note note = {.status = (uint32_t)t->a.status,
                            .dtype = (uint32_t)t->desc.dtype | (uint32_t)t->desc.index_dtype << 8,
                            .op = (uint32_t)t->desc.order,
                            .item = t->k,
                            .n = t->n};
    size_t need = 0;
    GPI_TRY(gpi_dist_meet(comm, &t->a, &note));
    struct candidates c = {.mine = share(t, t->n), .most = gpi_dist_total(comm)};
    if (t->k > c.most)
        return gpi_fail(comm->ctx, GP_ERROR_ARGUMENT,
                        "%s: k is %zu, expected at most the keys of all ranks, %" PRIu64,
                        t->a.function, t->k, c.most);
    if (t->index_bytes == 4 && c.most > UINT32_MAX)
        return gpi_fail(comm->ctx, GP_ERROR_ARGUMENT,
                        "%s: %" PRIu64 " keys in all, expected less than 2^32 with index_dtype u32",
                        t->a.function, c.most);
    for (int r = 0; r < comm->ranks; r++)
        c.count += share(t, comm->have[r]);
    const gp_target target = gpi_target_of(comm->ctx);
    gp_status status =
        gpi_dist_blame(comm->ctx, t->a.function, bytes_needed(&target, t, c.mine, c.count, &need));
    if (status == GP_OK)
        status = gpi_frame_open(comm->ctx, t->a.function, need, &frame);
    status = run_in_frame(comm, t, &c, status, &frame);
    gpi_frame_close(&frame);
    return status;
}

static gp_status check_topk(gp_comm *comm, const gp_top_k_desc *given, struct topk_args *t)
{
    const char *f = t->a.function;
    gp_context *ctx = comm->ctx;
    gp_top_k_desc *d = &t->desc;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_top_k_desc)));
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->dtype", d->dtype));
    GPI_TRY(gpi_check_order(ctx, f, "desc->order", d->order));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_n", (uintptr_t)d->device_n));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_k", (uintptr_t)d->device_k));
    GPI_TRY(gpi_check_n(ctx, f, "n", t->n));
    GPI_TRY(gpi_check_n(ctx, f, "k", t->k));
    if (t->indices_out)
        GPI_TRY(gpi_check_unsigned_index(ctx, f, "desc->index_dtype", d->index_dtype));
    t->key_bytes = gpi_dtype_bytes(d->dtype);
    t->index_bytes = d->index_dtype == GP_U32 ? 4 : 8;
    const struct gpi_array arrays[] = {
        GPI_READ("keys_in", t->keys_in, (uint64_t)t->n * t->key_bytes, t->key_bytes),
        GPI_WRITE_IF("keys_out", t->keys_out, (uint64_t)t->k * t->key_bytes, t->key_bytes),
        GPI_WRITE_IF("indices_out", t->indices_out, (uint64_t)t->k * t->index_bytes,
                     t->index_bytes)};
    return gpi_check_arrays(ctx, f, arrays, 3);
}

gp_status gp_dist_top_k(gp_comm *comm, const gp_top_k_desc *desc, const void *keys_in, size_t n,
                        size_t k, void *keys_out, void *indices_out)
{
    struct topk_args t = {.a = {"gp_dist_top_k", GPI_DIST_TOP_K, GP_OK},
                          .keys_in = keys_in,
                          .n = n,
                          .k = k,
                          .keys_out = keys_out,
                          .indices_out = indices_out};
    GPI_DIST_CALL(comm, t.a.function);
    t.a.status = check_topk(comm, desc, &t);
    return gpi_dist_submit(comm, run_topk, &t, sizeof t);
}

gp_status gp_dist_top_k_workspace_bytes(const gp_target *target, int ranks,
                                        const gp_top_k_desc *desc, size_t n, size_t k,
                                        size_t *bytes)
{
    static const char f[] = "gp_dist_top_k_workspace_bytes";
    struct topk_args x = {.n = n, .k = k};
    gp_target t;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &x.desc, GPI_FORM(gp_top_k_desc)));
    GPI_TRY(gpi_check_dtype(NULL, f, "desc->dtype", x.desc.dtype));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_n(NULL, f, "k", k));
    GPI_TRY(gpi_check_figure(f, bytes));
    x.key_bytes = gpi_dtype_bytes(x.desc.dtype);
    x.index_bytes = x.desc.index_dtype == GP_U32 ? 4 : 8;
    return gpi_dist_blame(NULL, f, bytes_needed(&t, &x, share(&x, n), (uint64_t)ranks * k, bytes));
}
