/* SPDX-License-Identifier: MIT */
/* A call of group-by, as its files see it. */
#ifndef GPI_GROUP_BY_CALL_H
#define GPI_GROUP_BY_CALL_H

#include <gp/group.h>

#include "core/dtype.h"

struct gpi_group_call {
    gp_dtype key_dtype;
    const void *keys;
    size_t n;
    const uint64_t *device_n; /* or NULL */
    uint64_t capacity;
    int count;
    gp_aggregate of[GP_AGGREGATES_MAX];
    /* How they are taken. */
    const void *values; /* of all aggregates that have some, if they share them */
    size_t widest;      /* bytes of the widest of those values; 0: there are none */
    bool several;       /* arrays of values */
};

static inline size_t gpi_group_value_bytes(const gp_aggregate *g)
{
    if (g->kind == GP_AGGREGATE_REDUCE)
        return gpi_dtype_bytes(g->in_dtype) * gpi_op_scalars(g->op);
    return g->kind == GP_AGGREGATE_COUNT ? 0 : g->value_bytes;
}

static inline size_t gpi_group_out_bytes(const gp_aggregate *g)
{
    if (g->kind == GP_AGGREGATE_REDUCE)
        return gpi_dtype_bytes(g->out_dtype) * gpi_op_scalars(g->op);
    return g->kind == GP_AGGREGATE_COUNT ? gpi_dtype_bytes(g->out_dtype) : g->value_bytes;
}

/* The descriptor and its aggregates, checked, for up to n items. */
gp_status gpi_group_by_take(gp_context *ctx, const char *f, const gp_group_by_desc *given, size_t n,
                            struct gpi_group_call *c);

/* keys, keys_out, the count, then values and outputs, and the number of items. */
gp_status gpi_group_by_check(gp_context *ctx, const char *f, const struct gpi_group_call *c,
                             void *keys_out, uint64_t *out_count);

#endif
