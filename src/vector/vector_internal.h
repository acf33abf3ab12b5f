/* SPDX-License-Identifier: MIT */
/*
 * Vectors of floats.
 *
 * Sums of products: groups of items of 16 bytes, counted from the first item, so that the
 * association does not depend on where a vector lies. CUDA: a fixed number of blocks goes through
 * the groups; a second kernel, of one block, adds their sums (a grid of one block needs none). CPU:
 * blocks of fixed length by threads, in them 16 sums side by side; the sums of the blocks in order.
 *
 * Maps: item by item, the operation chosen at run time.
 *
 * Workspace: a sum per block.
 */
#ifndef GPI_VECTOR_INTERNAL_H
#define GPI_VECTOR_INTERNAL_H

#include <gp/vector.h>

#include "core/context.h"

enum gpi_vector_kind {
    GPI_VECTOR_DOT,
    GPI_VECTOR_NORM,
    GPI_VECTOR_AXPBY, /* y is out */
    GPI_VECTOR_SCALE,
    GPI_VECTOR_MULTIPLY,
    GPI_VECTOR_DIVIDE
};

/* A call that has been checked. */
struct gpi_vector_args {
    const char *function;
    enum gpi_vector_kind kind;
    gp_dtype dtype;
    const void *x, *y; /* y NULL: of scale */
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    void *out;
    double alpha, beta;                     /* exact for f32 too */
    const void *device_alpha, *device_beta; /* CUDA: or NULL */
    void *sums;                             /* one per block, of the dtype of scalars */
};

static inline gp_dtype gpi_vector_scalar(gp_dtype dtype)
{
    return dtype == GP_F64 ? GP_F64 : GP_F32;
}

/* Items of a block of the CPU's sums; the association depends on it. */
enum { GPI_VECTOR_BLOCK_CPU = 16384 };

/* Blocks of CUDA's sums: one for a short vector, whose sum is the result, then as many as make
 * sense, at most 4 for each of 132 multiprocessors, which run at once. */
enum {
    GPI_VECTOR_BLOCKS = 4 * 132,
    GPI_VECTOR_ONE_BLOCK_BYTES = 32 * 1024,
    GPI_VECTOR_BLOCK_BYTES = 8 * 1024
};

static inline uint64_t gpi_vector_blocks(uint64_t n, size_t item)
{
    const uint64_t bytes = n * item;
    const uint64_t blocks = (bytes + GPI_VECTOR_BLOCK_BYTES - 1) / GPI_VECTOR_BLOCK_BYTES;
    if (bytes <= GPI_VECTOR_ONE_BLOCK_BYTES)
        return 1;
    return blocks < GPI_VECTOR_BLOCKS ? blocks : GPI_VECTOR_BLOCKS;
}

typedef gp_status (*gpi_vector_fn)(gp_context *ctx, const struct gpi_vector_args *args);

/* NULL if there is none. */
gpi_vector_fn gpi_vector_find(const gp_context *ctx);

#endif
