/* SPDX-License-Identifier: MIT */
/*
 * Rules about the contents of arrays, which a header demands and a call relies on.
 *
 * A context with the option validate checks them before the call's own work. The front door of a
 * call lists its rules behind the checks of its arguments:
 *
 *     const struct gpi_content rules[] = {GPI_BELOW("indices", indices, n, index_dtype, in_items)};
 *     GPI_TRY(gpi_validate_begin(ctx, f, rules, 1));
 *     return gpi_validate_end(ctx, f, run(ctx, &args));
 *
 * On the CPU a broken rule is the call's status, and nothing has been written. On CUDA the checks
 * are queued, and what run() queues becomes the body of a conditional node (validate_gate.c) that
 * they close: nothing waits, nothing is written, and gp_context_synchronize() tells why. So no
 * kernel knows of it, and without validate nothing is slower. Where several rules are broken, the
 * smallest index is reported on both backends, of one index the rule that comes first in GPI_RULES.
 *
 * A call inside another call is not validated: its arguments are the library's own.
 */
#ifndef GPI_VALIDATE_INTERNAL_H
#define GPI_VALIDATE_INTERNAL_H

#include <stdbool.h>

#include "core/context.h"
#include "core/order.h"
#include "core/sticky.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gpi_content_kind {
    GPI_CONTENT_BELOW,       /* every item is 0 or more and below bound */
    GPI_CONTENT_RANGES,      /* ranges as long as segments begin at the items, and end at bound */
    GPI_CONTENT_SORTED,      /* ascending or descending in gp's order of keys */
    GPI_CONTENT_EDGES,       /* ascending numbers, no NaN */
    GPI_CONTENT_OFFSETS,     /* ascending, none negative, the last is the first + bound */
    GPI_CONTENT_ROW_POINTERS /* the same, and the first is 0 */
};

struct gpi_content {
    const char *argument;
    const void *items;
    uint64_t n;
    gp_dtype dtype;
    enum gpi_content_kind kind;
    uint64_t bound;
    gp_order order;
    const void *offsets; /* RANGES: n + 1, of the same dtype; empty ranges lie anywhere */
    /* NULL, or n is its bound; of offsets, the bound of the segments. */
    const uint64_t *device_n;
    const uint64_t *device_bound; /* NULL, or bound is its bound */
    bool may_cover_less;          /* of offsets: the last is at most the first + bound */
    /* SORTED: in each of this number of runs, which begin at the offsets, less the first one; 0: in
     * all of the array. */
    uint64_t num_runs;
    const uint64_t *device_num_runs; /* NULL, or num_runs is its bound */
    size_t offset_bytes;
    bool may_be_none; /* of offsets: without segments, bound is not compared */
};

#define GPI_BELOW(name, items, n, dtype, bound)                                                    \
    {                                                                                              \
        name, items, n, dtype, GPI_CONTENT_BELOW, bound, GP_ASCENDING, NULL, NULL, NULL, false, 0, \
            NULL, 0, false                                                                         \
    }
#define GPI_RANGES(name, items, segments, dtype, bound, offsets)                                   \
    {                                                                                              \
        name, items, segments, dtype, GPI_CONTENT_RANGES, bound, GP_ASCENDING, offsets, NULL,      \
            NULL, false, 0, NULL, 0, false                                                         \
    }
#define GPI_SORTED(name, items, n, dtype, order)                                                   \
    {                                                                                              \
        name, items, n, dtype, GPI_CONTENT_SORTED, 0, order, NULL, NULL, NULL, false, 0, NULL, 0,  \
            false                                                                                  \
    }
#define GPI_EDGES(name, items, n, dtype)                                                           \
    {                                                                                              \
        name, items, n, dtype, GPI_CONTENT_EDGES, 0, GP_ASCENDING, NULL, NULL, NULL, false, 0,     \
            NULL, 0, false                                                                         \
    }
/* One more offset than segments. */
#define GPI_OFFSETS(name, items, segments, dtype, bound)                                           \
    {                                                                                              \
        name, items, (segments) + 1, dtype, GPI_CONTENT_OFFSETS, bound, GP_ASCENDING, NULL, NULL,  \
            NULL, false, 0, NULL, 0, false                                                         \
    }
#define GPI_ROW_POINTERS(name, items, rows, dtype, nnz)                                            \
    {                                                                                              \
        name, items, (rows) + 1, dtype, GPI_CONTENT_ROW_POINTERS, nnz, GP_ASCENDING, NULL, NULL,   \
            NULL, false, 0, NULL, 0, false                                                         \
    }

gp_status gpi_validate_begin(gp_context *ctx, const char *function, const struct gpi_content *rules,
                             int count);
/* status: of what the call did in between. */
gp_status gpi_validate_end(gp_context *ctx, const char *function, gp_status status);

/* The same rules without the option: */

/* The CPU's answer, at once: GP_OK, or status and text of the first item that breaks the rule. */
gp_status gpi_content_check(gp_context *ctx, const char *function, const struct gpi_content *rule);
/* Sticky, on both backends. */
gp_status gpi_content_report(gp_context *ctx, const char *function, const struct gpi_content *rule);
/* The answer on both backends; waits on CUDA, where it takes GPI_ALIGN bytes of workspace. */
gp_status gpi_content_find(gp_context *ctx, const char *function, const struct gpi_content *rule);

#ifdef __cplusplus
}
#endif

#endif
