/* SPDX-License-Identifier: MIT */
/* What a caller of group-by has given: taken, and refused if it cannot be. */
#include <stdio.h>

#include "core/check.h"
#include "group/group_by_call.h"
#include "group/group_internal.h"

static gp_status check_reduction(gp_context *ctx, const char *f, int i, gp_aggregate *g)
{
    if (gpi_dtype_bytes(g->in_dtype) == 0)
        return gpi_fail(ctx, GP_ERROR_DTYPE, "%s: in_dtype of aggregate %d is %d, not a gp_dtype",
                        f, i, (int)g->in_dtype);
    if (gpi_op_scalars(g->op) == 0)
        return gpi_fail(ctx, GP_ERROR_OP, "%s: op of aggregate %d is %d, not a gp_op", f, i,
                        (int)g->op);
    if (!gpi_scan_op_allowed(g->in_dtype, g->op))
        return gpi_fail(ctx, GP_ERROR_OP,
                        "%s: op of aggregate %d is %s, which has no meaning for %s", f, i,
                        gp_op_string(g->op), gp_dtype_string(g->in_dtype));
    if (g->out_dtype == 0)
        g->out_dtype = g->in_dtype;
    if (!gpi_scan_pair_allowed(g->in_dtype, g->out_dtype, g->op))
        return gpi_fail(
            ctx, GP_ERROR_DTYPE, "%s: out_dtype of aggregate %d is %s, not allowed for %s of %s", f,
            i, gp_dtype_string(g->out_dtype), gp_op_string(g->op), gp_dtype_string(g->in_dtype));
    return GP_OK;
}

static gp_status check_aggregate(gp_context *ctx, const char *f, int i, size_t n, gp_aggregate *g)
{
    char name[40];
    switch (g->kind) {
    case GP_AGGREGATE_COUNT:
        snprintf(name, sizeof name, "out_dtype of aggregate %d", i);
        GPI_TRY(gpi_check_unsigned_index(ctx, f, name, g->out_dtype));
        return gpi_check_index_range(ctx, f, n, name, g->out_dtype);
    case GP_AGGREGATE_REDUCE:
        return check_reduction(ctx, f, i, g);
    case GP_AGGREGATE_FIRST:
    case GP_AGGREGATE_LAST:
        snprintf(name, sizeof name, "value_bytes of aggregate %d", i);
        return gpi_check_item_bytes(ctx, f, name, g->value_bytes);
    default:
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: kind of aggregate %d is %d, not a gp_aggregate_kind", f, i,
                        (int)g->kind);
    }
}

/* The aggregates of a caller, whose structs may have another size than here. */
static gp_status take_aggregates(gp_context *ctx, const char *f, const gp_group_by_desc *d,
                                 struct gpi_group_call *c)
{
    if (d->num_aggregates > GP_AGGREGATES_MAX)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->num_aggregates is %zu, expected at most %d", f,
                        d->num_aggregates, (int)GP_AGGREGATES_MAX);
    if (d->num_aggregates && !d->aggregates)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: desc->aggregates is NULL", f);
    c->count = (int)d->num_aggregates;
    for (int i = 0; i < c->count; i++) {
        const char *given = (const char *)d->aggregates + (size_t)i * d->aggregates->size;
        gp_aggregate *g = &c->of[i];
        GPI_TRY(gpi_take_struct(ctx, f, "desc->aggregates", given, g, GPI_FORM(gp_aggregate)));
        GPI_TRY(check_aggregate(ctx, f, i, c->n, g));
        const size_t bytes = gpi_group_value_bytes(g);
        if (bytes == 0)
            continue;
        c->several = c->several || (c->widest && (g->values != c->values || bytes != c->widest));
        c->values = g->values;
        c->widest = bytes > c->widest ? bytes : c->widest;
    }
    return GP_OK;
}

gp_status gpi_group_by_take(gp_context *ctx, const char *f, const gp_group_by_desc *given, size_t n,
                            struct gpi_group_call *c)
{
    gp_group_by_desc d;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_group_by_desc)));
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->key_dtype", d.key_dtype));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d.reserved));
    *c = (struct gpi_group_call){.key_dtype = d.key_dtype,
                                 .n = n,
                                 .device_n = d.device_n,
                                 .capacity = d.capacity && d.capacity < n ? d.capacity : n};
    GPI_TRY(take_aggregates(ctx, f, &d, c));
    return gpi_check_n(ctx, f, "n", n);
}

gp_status gpi_group_by_check(gp_context *ctx, const char *f, const struct gpi_group_call *c,
                             void *keys_out, uint64_t *out_count)
{
    const size_t key = gpi_dtype_bytes(c->key_dtype);
    char names[2 * GP_AGGREGATES_MAX][28];
    struct gpi_array arrays[4 + 2 * GP_AGGREGATES_MAX] = {
        GPI_READ("keys", c->keys, c->n * key, key),
        GPI_WRITE_IF("keys_out", keys_out, c->capacity * key, key),
        GPI_WRITE("out_count", out_count, sizeof *out_count, 8),
    };
    for (int i = 0; i < c->count; i++) {
        const gp_aggregate *g = &c->of[i];
        const size_t in = gpi_group_value_bytes(g), out = gpi_group_out_bytes(g);
        const bool scalar = g->kind == GP_AGGREGATE_REDUCE;
        snprintf(names[2 * i], sizeof names[0], "values of aggregate %d", i);
        snprintf(names[2 * i + 1], sizeof names[0], "out of aggregate %d", i);
        arrays[3 + 2 * i] =
            GPI_READ(names[2 * i], g->values, c->n * in,
                     scalar ? gpi_dtype_bytes(g->in_dtype) : gpi_item_alignment(in ? in : 1));
        arrays[4 + 2 * i] =
            GPI_WRITE(names[2 * i + 1], g->out, c->capacity * out,
                      scalar ? gpi_dtype_bytes(g->out_dtype) : gpi_item_alignment(out));
    }
    arrays[3 + 2 * c->count] = GPI_READ_IF("desc->device_n", c->device_n, sizeof *c->device_n, 8);
    return gpi_group_check_arrays(ctx, f, arrays, 4 + 2 * c->count);
}
