/* SPDX-License-Identifier: MIT */
/*
 * Load balancing. The merge path of segment ends and items is the sequence of num_items +
 * num_segments steps that takes an item while the current segment has one left, and otherwise
 * passes to the next segment (Green, McColl and Bader 2012).
 * Every operation here is a walk along it:
 *
 *   1. cut the path into equal shares; empty segments take steps like items, so no share is long;
 *   2. find where a share starts by a binary search on the diagonal (item + segment = step);
 *   3. walk the share: an item step writes the number (or the value) of the current segment, or
 *      moves an item of the current interval.
 *
 * On the CPU a share is one task, walked a segment at a time with block-wise fills. On CUDA it is a
 * tile of one block (balance_walk.cuh), or where segments of items are found some steps of a warp
 * (balance_search.cuh). Shares only cut the work, so no result depends on them.
 *
 * No workspace, except gp_expand_counts():
 *   [offsets: num_segments + 1 of uint64_t][scan's workspace]
 */
#ifndef GPI_BALANCE_INTERNAL_H
#define GPI_BALANCE_INTERNAL_H

#include <gp/balance.h>

#include "core/context.h"
#include "validate/validate_internal.h"

/* A plan, in the caller's memory: the segments that the path has passed before each step that is a
 * multiple of GPI_BALANCE_PLAN_STEPS. A search with other numbers does not use it, and of other
 * offsets not those begins that turn out to be wrong. */
enum { GPI_BALANCE_PLAN_STEPS = 1024 };
struct gpi_balance_plan {
    uint64_t num_segments, num_items;
    uint64_t begins[];
};

static inline uint64_t gpi_balance_plan_begins(uint64_t num_segments, uint64_t num_items)
{
    return (num_segments + num_items) / GPI_BALANCE_PLAN_STEPS + 1;
}

/* A walk along the segments that writes its items. */
struct gpi_balance_args {
    const char *name;    /* of the argument that the offsets are, for what is found in them */
    const void *offsets; /* num_segments + 1 */
    size_t offset_bytes; /* 4 or 8 */
    uint64_t num_segments;
    uint64_t limit;      /* items that the outputs have room for */
    bool capped;         /* more than limit is GP_ERROR_CAPACITY; otherwise a mismatch is DATA */
    bool may_cover_less; /* otherwise: fewer than limit are none */
    const uint64_t *device_num_segments, *device_limit; /* NULL, or those are bounds, on CUDA */
    uint64_t *out_count; /* NULL, or where the number of items goes */
    /* gp_balance_search */
    size_t index_bytes; /* 4 or 8 */
    void *segments;
    void *ranks;                         /* may be NULL */
    const struct gpi_balance_plan *plan; /* NULL, or one that may be of these offsets; CUDA */
    /* gp_expand */
    size_t item_bytes;
    const void *in;
    void *out;
    /* gp_copy_intervals, which has the above, too */
    const void *in_starts, *out_starts; /* as wide as offsets; NULL: one behind the other */
};

struct gpi_partition_args {
    const void *offsets;
    size_t offset_bytes;
    uint64_t num_rows;
    uint64_t nnz;
    const uint64_t *device_num_rows, *device_nnz; /* NULL, or those are bounds, on CUDA */
    bool may_cover_less;                          /* nnz is what the offsets cover, or more */
    uint64_t parts;
    void *row_starts;
    void *nnz_starts;
};

/* How the bits of an element type become unsigned numbers in gp's order. */
enum gpi_bound_order { GPI_ORDER_UNSIGNED = 0, GPI_ORDER_SIGNED = 1, GPI_ORDER_FLOAT = 2 };

struct gpi_bound_args {
    size_t item_bytes; /* 1, 2, 4 or 8 */
    int order;         /* enum gpi_bound_order */
    uint64_t infinity; /* bits of +inf; what is above it without its sign is a NaN */
    bool upper;
    const void *sorted;
    uint64_t n;
    const void *needles;
    uint64_t m;
    const uint64_t *device_n, *device_m; /* NULL, or n and m are bounds, on CUDA */
    size_t index_bytes;                  /* 4 or 8 */
    void *out;
};

typedef void gpi_balance_fn(gp_context *ctx, const struct gpi_balance_args *a);
typedef void gpi_partition_fn(gp_context *ctx, const struct gpi_partition_args *a);
/* The offsets of args to a plan. */
typedef void gpi_plan_fn(gp_context *ctx, const struct gpi_balance_args *a,
                         struct gpi_balance_plan *plan);
typedef void gpi_bound_all_fn(gp_context *ctx, const struct gpi_bound_args *a);

/* One backend, and on CUDA one width of offsets; launches are checked by the caller. */
struct gpi_balance_table {
    gpi_balance_fn *search, *expand;
    gpi_partition_fn *partition;
    gpi_bound_all_fn *bound;
    gpi_balance_fn *intervals;
    gpi_plan_fn *plan;
};

/* The backend of ctx, for 4 or 8 (or, without offsets, any) bytes. */
const struct gpi_balance_table *gpi_balance_table(const gp_context *ctx, size_t offset_bytes);

/* The members of a gp_balance_desc that a call has. */
enum {
    GPI_ITEM_BYTES = 1,
    GPI_OFFSET_DTYPE = 2,
    GPI_COUNT_DTYPE = 4,
    GPI_INDEX_DTYPE = 8,
    GPI_DEVICE_ITEMS = 16,
    GPI_PLAN = 32,
    GPI_NO_COUNTS = 64 /* not even device_num_segments */
};

/* *d becomes the full struct. Of a caller's (by) those members are checked, and that the others are
 * 0; what the short form of a call makes is checked as its parameters, in their order. */
gp_status gpi_balance_take_desc(gp_context *ctx, const char *function, bool by, unsigned members,
                                const gp_balance_desc *given, gp_balance_desc *d);
gp_status gpi_balance_check_counts(gp_context *ctx, const char *function, const char *argument,
                                   gp_dtype dtype);

/* The offsets of a walk as a rule, and on the CPU the counts as they are now. */
struct gpi_content gpi_balance_take_counts(const gp_context *ctx, struct gpi_balance_args *a,
                                           gp_dtype offset_dtype);

/* gp_balance_search() as part of another call, which has checked what it passes and has made its
 * device current. */
gp_status gpi_balance_search(gp_context *ctx, const char *function,
                             const struct gpi_balance_args *a);

/* ---- the merge path on the CPU --------------------------------------------------------------- */

/* offsets[s] - base, in the width of the offsets. */
static inline uint64_t gpi_offset_at(const void *offsets, size_t offset_bytes, uint64_t base,
                                     uint64_t s)
{
    return offset_bytes == 8 ? ((const uint64_t *)offsets)[s] - base
                             : (uint32_t)(((const uint32_t *)offsets)[s] - base);
}

/* offsets[0], the base of gpi_offset_at(). */
static inline uint64_t gpi_offset_base(const void *offsets, size_t offset_bytes)
{
    return gpi_offset_at(offsets, offset_bytes, 0, 0);
}

/*
 * The segments that the merge path has passed before step d of num_items + num_segments; the items
 * are d less that. Stays within its arrays whatever the offsets are.
 */
static inline uint64_t gpi_merge_path_search(const void *offsets, size_t offset_bytes,
                                             uint64_t base, uint64_t num_segments,
                                             uint64_t num_items, uint64_t d)
{
    uint64_t low = d > num_items ? d - num_items : 0;
    uint64_t high = d < num_segments ? d : num_segments;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        /* middle < d; a sum instead would wrap with offsets near 2^64. */
        if (gpi_offset_at(offsets, offset_bytes, base, middle + 1) < d - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- CPU backend, in balance_cpu.c ----------------------------------------------------------- */

gpi_balance_fn gpi_balance_search_cpu, gpi_balance_expand_cpu, gpi_balance_intervals_cpu;
gpi_partition_fn gpi_balance_partition_cpu;
gpi_plan_fn gpi_balance_plan_cpu;
gpi_bound_all_fn gpi_balance_bound_cpu;

/* ---- CPU: inner loops, compiled per item width and instruction set --------------------------- */

/* A share of the path: from segment s0 and item i0 to segment s1 and item i1. */
struct gpi_balance_share {
    const struct gpi_balance_args *args;
    uint64_t base;
    uint64_t s0, i0, s1, i1;
    uint64_t skip; /* the item at the beginning of out, of an expand */
    bool cached;   /* out is in the cache */
};

typedef void gpi_share_fn(const struct gpi_balance_share *share);
gpi_share_fn gpi_balance_expand_bytes; /* balance_cpu.c; for items of any size and alignment */
gpi_share_fn gpi_balance_copy_share;   /* balance_intervals_cpu.c; the same */
/* Needles begin to end - 1. */
typedef void gpi_bound_fn(const struct gpi_bound_args *args, uint64_t begin, uint64_t end);

/* Where segment s of a share ends, kept within the share whatever the offsets are. */
static inline uint64_t gpi_share_end(const struct gpi_balance_share *h, size_t offset_bytes,
                                     uint64_t s, uint64_t i)
{
    uint64_t end = gpi_offset_at(h->args->offsets, offset_bytes, h->base, s + 1);
    if (end > h->i1)
        end = h->i1;
    return end < i ? i : end;
}

#endif
