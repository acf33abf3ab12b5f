/* SPDX-License-Identifier: MIT */
/* What the CPU's loops over segments (segreduce_cpu_tmpl.c) are given. */
#ifndef GPI_SEGREDUCE_CPU_INTERNAL_H
#define GPI_SEGREDUCE_CPU_INTERNAL_H

#include "segreduce/segreduce_internal.h"

/* Segments that are looked at together. */
enum { GPI_SEGREDUCE_PIECE = 512 };

/* Segments of a share. */
struct gpi_segreduce_piece {
    gp_op op;
    const struct gpi_reduce_cpu *folds; /* of long segments */
    const void *in;
    /* Segment s has the items [begins[s], ends[s]) behind in. */
    const uint32_t *begins, *ends;
    uint32_t count;
    const void *empty; /* the accumulator of a segment without items */
    bool wide;         /* a sum of more bits than the items have */
};

/* One unit, an input dtype and an accumulator, compiled per instruction set. Accumulators are those
 * of the unit of the reduction; to: one for each segment. */
typedef void gpi_segreduce_piece_fn(const struct gpi_segreduce_piece *p, void *to);
/* Of places: of each segment the first item that is the least or greatest, counted from its first;
 * UINT64_MAX if there are none. */
typedef void gpi_segreduce_places_fn(const struct gpi_segreduce_piece *p, uint64_t *to);

struct gpi_segreduce_cpu {
    gpi_segreduce_piece_fn *fold;
    gpi_segreduce_places_fn *places; /* NULL: pair operators */
    bool vectors;                    /* segments side by side */
};

/* Up to as many items are folded by a vector's lanes, one by one; a segment of more by the folds of
 * the reduction. */
enum { GPI_SEGREDUCE_LONG = 32 };

/* Items of 1 or 2 bytes as the items of 4 whose unit folds them to the same bits; to has room for a
 * multiple of 16. */
typedef void gpi_segreduce_widen_fn(gp_dtype dtype, const void *from, size_t n, void *to);

/* Sums of integers that wrap: what the items up to an end add up to, less what those up to the end
 * before do. Sums have the bytes of the items, or 4 where the results have more than these. */
struct gpi_segreduce_prefix {
    gp_dtype in_dtype;
    uint32_t item_bytes, sum_bytes, out_bytes;
    uint32_t init; /* comes before each segment */
};

enum { GPI_SEGREDUCE_BLOCK = 1024 /* items whose sums are in the first-level cache */ };

typedef void gpi_segreduce_prefix_fn(const struct gpi_segreduce_prefix *p,
                                     const struct gpi_segreduce_piece *piece, void *out);

/* NULL where there are no vectors for it. */
gpi_segreduce_prefix_fn *gpi_segreduce_cpu_prefix(const gp_context *ctx);

/* Results in 4 bytes as halves, as gpi_float_to_f16() and gpi_float_to_bf16() round them. */
typedef void gpi_segreduce_narrow_fn(gp_dtype dtype, const float *from, size_t n, uint16_t *to);

/* NULL where there are no vectors for it. */
gpi_segreduce_narrow_fn *gpi_segreduce_cpu_narrow(const gp_context *ctx);

/* NULL, or that unit and how its items are made, where vectors gather them; as: their dtype. */
const struct gpi_segreduce_cpu *gpi_segreduce_cpu_wider(const gp_context *ctx, gp_dtype in,
                                                        gp_op op, gp_dtype *as,
                                                        gpi_segreduce_widen_fn **widen);

const struct gpi_segreduce_cpu *gpi_segreduce_cpu_find(const gp_context *ctx, gp_dtype in,
                                                       gp_dtype out, gp_op op);

/* ---- a call ---------------------------------------------------------------------------------- */

union gpi_segreduce_acc {
    uint64_t bits;
    float f;
    double d;
    char item[GPI_SCAN_ITEM_BYTES_MAX];
};

struct gpi_segreduce_job {
    const struct gpi_segreduce_args *args;
    const struct gpi_reduce_cpu *folds;
    const struct gpi_segreduce_cpu *unit, *wider; /* wider: NULL, or of items of 4 bytes */
    gpi_segreduce_widen_fn *widen;
    const struct gpi_reduce_cpu *wide_folds;
    bool selects;                   /* extremes of halves are the items at their places */
    uint32_t widen_mean, widen_max; /* mean lengths from and up to which that pays */
    gpi_segreduce_narrow_fn *narrow;
    gpi_segreduce_prefix_fn *prefix; /* or NULL: sums are folded */
    struct gpi_segreduce_prefix sums;
    struct gpi_segreduce_left *left; /* of shares */
    uint64_t base, weight;           /* the first offset; of all items and ends */
    uint32_t item_bytes, end_weight, out_bytes, acc_bytes;
    uint32_t most; /* segments of a piece */
    bool stream;   /* results go past the cache */
    bool wide;     /* sums have more bits than the items */
    bool vectors;  /* segments are not reduced one by one */
    bool one_nan;  /* NaNs of halves become one where they are chosen, too */
    union gpi_segreduce_acc init, empty;
};

/* All but what belongs to shares. */
void gpi_segreduce_cpu_open(const gp_context *ctx, const struct gpi_segreduce_args *args,
                            struct gpi_segreduce_job *job);

/* The results from s on: of count segments, up to job->most, of which the k-th has the items
 * [begins[k], begins[k + 1]) behind in; begins[0] is 0. */
void gpi_segreduce_cpu_piece(const struct gpi_segreduce_job *job, const void *in,
                             const uint32_t *begins, uint32_t count, uint64_t s);

#endif
