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
};

/* Up to as many items are folded by a vector's lanes, one by one; a segment of more by the folds of
 * the reduction. */
enum { GPI_SEGREDUCE_LONG = 32 };

/* Items of 1 or 2 bytes as the items of 4 whose unit folds them to the same bits; to has room for a
 * multiple of 16. */
typedef void gpi_segreduce_widen_fn(gp_dtype dtype, const void *from, size_t n, void *to);

/* Folds that are the same in any order, of integers; and extremes of all items by their places. */
struct gpi_segreduce_lines {
    gp_op op;
    gp_dtype dtype;
    uint32_t item_bytes, out_bytes;
    bool has_init;
    /* In 8 bytes, as often as there is room: what changes no fold; what comes before each, and is
     * that of no items; what turns items to keys whose least, or bits whose union, is looked for;
     * of floats all bits but the sign, and infinity, otherwise 0. */
    uint64_t neutral, start, flip, magnitude, infinity;
};

/* To: results, or a place for each segment. */
typedef void gpi_segreduce_lines_fn(const struct gpi_segreduce_lines *l,
                                    const struct gpi_segreduce_piece *p, bool places, void *to);

/* NULL where there are no vectors for it. */
gpi_segreduce_lines_fn *gpi_segreduce_cpu_lines(const gp_context *ctx);

/* Results in 4 bytes as halves, as gpi_float_to_f16() and gpi_float_to_bf16() round them. */
typedef void gpi_segreduce_narrow_fn(gp_dtype dtype, const float *from, size_t n, uint16_t *to);

/* NULL where there are no vectors for it. */
gpi_segreduce_narrow_fn *gpi_segreduce_cpu_narrow(const gp_context *ctx);

/* Folds of floats, and of maps, side by side, to the bits of the unit's; those of halves are of
 * items that were widened. To has room for a multiple of 16. NULL: there are no vectors for it. */
gpi_segreduce_piece_fn *gpi_segreduce_cpu_side(const gp_context *ctx, gp_dtype in, gp_dtype out,
                                               gp_op op);

/* NULL where there are no vectors for it. */
gpi_segreduce_widen_fn *gpi_segreduce_cpu_widen(const gp_context *ctx);

const struct gpi_segreduce_cpu *gpi_segreduce_cpu_find(gp_dtype in, gp_dtype out, gp_op op);

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
    const struct gpi_segreduce_cpu *unit;
    gpi_segreduce_piece_fn *side;  /* or NULL */
    gpi_segreduce_widen_fn *widen; /* of halves, before they are side by side; otherwise NULL */
    const struct gpi_reduce_cpu *wide_folds;
    gpi_segreduce_narrow_fn *narrow;
    gpi_segreduce_lines_fn *lines; /* or NULL */
    struct gpi_segreduce_lines line;
    struct gpi_segreduce_left *left; /* of shares */
    uint64_t base, weight;           /* the first offset; of all items and ends */
    uint32_t item_bytes, end_weight, out_bytes, acc_bytes;
    uint32_t most; /* segments of a piece */
    bool stream;   /* results go past the cache */
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
