/* SPDX-License-Identifier: MIT */
/* Group-by over ranks: groups of each rank, sorted, and those of equal keys reduced once more. */
#include <gp/group.h>

#include "dist/dist_sort_internal.h"

struct group_args {
    struct gpi_dist_args a;
    gp_reduce_by_key_desc desc;
    size_t key_bytes, in_bytes, out_bytes; /* of a key, a value, a result */
    const void *keys, *values;
    size_t n;
    void *keys_out, *values_out;
    uint64_t *out_count;
};

/* The groups of this rank, those that it gets, and how many. */
struct groups {
    char *keys, *values, *keys_got, *values_got;
    uint64_t *device_count, count, got, room;
};

static gp_group_by_desc first_desc(const struct group_args *g, gp_aggregate *of, void *out)
{
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    *of = (gp_aggregate)GP_AGGREGATE_INIT;
    of->kind = GP_AGGREGATE_REDUCE;
    of->op = g->desc.op;
    of->in_dtype = g->desc.in_dtype;
    of->out_dtype = g->desc.out_dtype;
    of->values = g->values;
    of->out = out;
    d.key_dtype = g->desc.key_dtype;
    d.num_aggregates = 1;
    d.aggregates = of;
    return d;
}

static gp_reduce_by_key_desc second_desc(const struct group_args *g)
{
    gp_reduce_by_key_desc d = g->desc;
    d.in_dtype = d.out_dtype = g->desc.out_dtype ? g->desc.out_dtype : g->desc.in_dtype;
    return d;
}

/* Of groups that are sorted to ranks by whole keys. */
static struct gpi_sort_args sort_of(const struct group_args *g, const struct groups *x)
{
    struct gpi_sort_args s = {.a = g->a,
                              .dtype = g->desc.key_dtype,
                              .order = GP_ASCENDING,
                              .key_bytes = g->key_bytes,
                              .value_bytes = g->out_bytes,
                              .keys_in = x->keys,
                              .values_in = x->values,
                              .n = x->count,
                              .keys_out = x->keys_got,
                              .values_out = x->values_got};
    s.desc = (gp_dist_desc)GP_DIST_DESC_INIT;
    s.desc.result = GP_DIST_FREE;
    s.desc.capacity = x->room;
    return s;
}

/* The most groups that a rank gets: an even share, and a key that each rank has. */
static uint64_t most_groups(int ranks, uint64_t total)
{
    const uint64_t p = (uint64_t)ranks, most = total / p + 1 + p;
    return most < total ? most : total;
}

static gp_status bytes_needed(const gp_target *target, const struct group_args *g, uint64_t room,
                              size_t *bytes)
{
    const struct groups x = {.count = g->n, .room = room};
    gp_aggregate of;
    const gp_group_by_desc first = first_desc(g, &of, NULL);
    const gp_reduce_by_key_desc second = second_desc(g);
    size_t group = 0, sort = 0, reduce = 0;
    struct gpi_sort_args s = sort_of(g, &x);
    s.keys_out = &s; /* wanted */
    GPI_TRY(gp_group_by_workspace_bytes(target, &first, g->n, &group));
    GPI_TRY(gp_reduce_by_key_workspace_bytes(target, &second, room, &reduce));
    GPI_TRY(gpi_dist_sort_bytes(target, &s, room, &sort));
    *bytes = group > sort ? group : sort;
    *bytes = reduce > *bytes ? reduce : *bytes;
    *bytes += gpi_run_bytes(&s, g->n) + gpi_run_bytes(&s, room) + 2 * gpi_piece(sizeof(uint64_t));
    return GP_OK;
}

static gp_status group_here(gp_comm *comm, const struct group_args *g, struct groups *x)
{
    gp_aggregate of;
    const gp_group_by_desc d = first_desc(g, &of, x->values);
    x->count = 0;
    if (g->n == 0)
        return GP_OK;
    GPI_TRY(gpi_named(comm->ctx, g->a.function,
                      gp_group_by(comm->ctx, &d, g->keys, g->n, x->keys, x->device_count)));
    return gpi_dist_fetch(comm, g->a.function, x->device_count, sizeof x->count, &x->count);
}

static gp_status run_in_frame(gp_comm *comm, struct group_args *g, struct groups *x,
                              struct gpi_frame *frame)
{
    x->keys = gpi_frame_take(frame, g->n * g->key_bytes);
    x->values = gpi_frame_take(frame, g->n * g->out_bytes);
    x->keys_got = gpi_frame_take(frame, x->room * g->key_bytes);
    x->values_got = gpi_frame_take(frame, x->room * g->out_bytes);
    x->device_count = gpi_frame_take(frame, sizeof *x->device_count);
    g->a.status = group_here(comm, g, x);
    struct gpi_sort_args s = sort_of(g, x);
    GPI_TRY(gpi_dist_run_sort(comm, &s)); /* meets, with this rank's status */
    const gp_reduce_by_key_desc d = second_desc(g);
    if (d.capacity == 0 && comm->get[comm->rank]) /* for that call 0 is the default */
        return gpi_fail(comm->ctx, GP_ERROR_CAPACITY, "%s: rank %d gets groups, and has no room",
                        g->a.function, comm->rank);
    return gpi_named(comm->ctx, g->a.function,
                     gp_reduce_by_key(comm->ctx, &d, x->keys_got, x->values_got,
                                      comm->get[comm->rank], g->keys_out, g->values_out,
                                      g->out_count));
}

static gp_status run_group(gp_comm *comm, void *args)
{
    struct group_args *g = args;
    struct gpi_frame frame = {NULL, 0, 0};
    struct groups x = {.count = 0};
    struct gpi_note note = {.status = (uint32_t)g->a.status,
                            .dtype = (uint32_t)g->desc.key_dtype | (uint32_t)g->desc.in_dtype << 8 |
                                     (uint32_t)g->desc.out_dtype << 16,
                            .op = (uint32_t)g->desc.op,
                            .item = g->key_bytes,
                            .n = g->n};
    size_t need = 0;
    GPI_TRY(gpi_dist_meet(comm, &g->a, &note));
    const gp_target target = gpi_target_of(comm->ctx);
    x.room = most_groups(comm->ranks, gpi_dist_total(comm));
    gp_status status =
        gpi_dist_blame(comm->ctx, g->a.function, bytes_needed(&target, g, x.room, &need));
    if (status == GP_OK)
        status = gpi_frame_open(comm->ctx, g->a.function, need, &frame);
    status = gpi_dist_agree(comm, &g->a, status, NULL, 0);
    if (status == GP_OK)
        status = run_in_frame(comm, g, &x, &frame);
    gpi_frame_close(&frame);
    return status;
}

static void widths(struct group_args *g)
{
    const gp_reduce_by_key_desc *d = &g->desc;
    g->key_bytes = gpi_dtype_bytes(d->key_dtype);
    g->in_bytes = gpi_op_scalars(d->op) * gpi_dtype_bytes(d->in_dtype);
    g->out_bytes =
        gpi_op_scalars(d->op) * gpi_dtype_bytes(d->out_dtype ? d->out_dtype : d->in_dtype);
}

static gp_status check_group(gp_comm *comm, const gp_reduce_by_key_desc *given,
                             struct group_args *g)
{
    const char *f = g->a.function;
    gp_context *ctx = comm->ctx;
    const gp_target target = gpi_target_of(ctx);
    gp_reduce_by_key_desc *d = &g->desc;
    size_t bytes;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_reduce_by_key_desc)));
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->key_dtype", d->key_dtype));
    GPI_TRY(gpi_dist_blame(ctx, f, gp_reduce_by_key_workspace_bytes(&target, d, g->n, &bytes)));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_n", (uintptr_t)d->device_n));
    GPI_TRY(gpi_check_n(ctx, f, "desc->capacity", d->capacity));
    d->capacity = d->capacity ? d->capacity : g->n;
    const gp_dtype out = d->out_dtype ? d->out_dtype : d->in_dtype;
    const size_t in_unit = gpi_dtype_bytes(d->in_dtype), out_unit = gpi_dtype_bytes(out);
    widths(g);
    const struct gpi_array arrays[] = {
        GPI_READ("keys", g->keys, (uint64_t)g->n * g->key_bytes, g->key_bytes),
        GPI_READ("values", g->values, (uint64_t)g->n * g->in_bytes, in_unit),
        GPI_WRITE("keys_out", g->keys_out, d->capacity * g->key_bytes, g->key_bytes),
        GPI_WRITE("values_out", g->values_out, d->capacity * g->out_bytes, out_unit),
        GPI_WRITE("out_count", g->out_count, sizeof(uint64_t), sizeof(uint64_t))};
    return gpi_check_arrays(ctx, f, arrays, 5);
}

gp_status gp_dist_group_by(gp_comm *comm, const gp_reduce_by_key_desc *desc, const void *keys,
                           const void *values, size_t n, void *keys_out, void *values_out,
                           uint64_t *out_count)
{
    struct group_args g = {.a = {"gp_dist_group_by", GPI_DIST_GROUP_BY, GP_OK},
                           .keys = keys,
                           .values = values,
                           .n = n,
                           .keys_out = keys_out,
                           .values_out = values_out,
                           .out_count = out_count};
    GPI_DIST_CALL(comm, g.a.function);
    g.a.status = check_group(comm, desc, &g);
    return gpi_dist_submit(comm, run_group, &g, sizeof g);
}

gp_status gp_dist_group_by_workspace_bytes(const gp_target *target, int ranks,
                                           const gp_reduce_by_key_desc *desc, size_t n,
                                           size_t total, size_t *bytes)
{
    static const char f[] = "gp_dist_group_by_workspace_bytes";
    struct group_args g = {.n = n};
    gp_reduce_by_key_desc *d = &g.desc;
    gp_target t;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, d, GPI_FORM(gp_reduce_by_key_desc)));
    GPI_TRY(gpi_check_dtype(NULL, f, "desc->key_dtype", d->key_dtype));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_dist_blame(NULL, f, gp_reduce_by_key_workspace_bytes(&t, d, n, bytes)));
    GPI_TRY(gpi_check_n(NULL, f, "total", total));
    widths(&g);
    return gpi_dist_blame(NULL, f, bytes_needed(&t, &g, most_groups(ranks, total), bytes));
}
