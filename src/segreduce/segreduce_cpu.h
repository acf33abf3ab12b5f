/* SPDX-License-Identifier: MIT */
/* What the CPU's loops over segments (segreduce_cpu_tmpl.c) are given. */
#ifndef GPI_SEGREDUCE_CPU_H
#define GPI_SEGREDUCE_CPU_H

#include "segreduce/segreduce_internal.h"

/* Segments that are looked at together. */
enum { GPI_SEGREDUCE_PIECE = 512 };

/* Segments of a share. */
struct gpi_segreduce_piece {
    gp_op op;
    const struct gpi_reduce_cpu *folds; /* of long segments */
    const void *in;
    /* Segment s has the items [ends[s - 1], ends[s]) behind in. */
    const uint32_t *ends;
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
};

/* Up to as many items are folded by a vector's lanes, one by one; a segment of more by the folds of
 * the reduction. */
enum { GPI_SEGREDUCE_LONG = 32 };

/* Items of 1 or 2 bytes as the items of 4 whose unit folds them to the same bits; to has room for a
 * multiple of 16. */
typedef void gpi_segreduce_widen_fn(gp_dtype dtype, const void *from, size_t n, void *to);

/* NULL, or that unit and how its items are made, where vectors gather them. */
const struct gpi_segreduce_cpu *gpi_segreduce_cpu_wider(const gp_context *ctx, gp_dtype in,
                                                        gp_op op, gpi_segreduce_widen_fn **widen);

const struct gpi_segreduce_cpu *gpi_segreduce_cpu_find(const gp_context *ctx, gp_dtype in,
                                                       gp_dtype out, gp_op op);

#endif
