/* SPDX-License-Identifier: MIT */
/*
 * Moves by index. A gather is out[i] = in[indices[i]], a scatter out[indices[i]] = in[i], and
 * without indices both are out[i] = in[i]. Items lie a stride apart on either side.
 *
 * CPU: threads take ranges of i; items of common sizes are moved by a loop of their own.
 * CUDA: one launch. An item is moved in units, the largest power of two up to 16 bytes that divides
 * its size, addresses and strides; a tile of items is a list of units, which neighbouring threads
 * move, so that they write neighbouring units. Where a unit would be less than 4 bytes and a gather
 * writes items side by side, threads make words of 4 bytes of it, of two items each
 * (gather_words.cuh). A scatter of items of several units puts those of a tile together first,
 * where their places lie close together (gather_near.cuh). The sorts use gathers for values of
 * sizes that they have no code for.
 *
 * Whether indices repeat is not checked: that takes a bit per place of the output, where the call
 * takes no memory at all, and items that are equal may go to the same place.
 *
 * Workspace: none.
 */
#ifndef GPI_GATHER_INTERNAL_H
#define GPI_GATHER_INTERNAL_H

#include <stdbool.h>

#include <gp/gather.h>

#include "core/context.h"

struct gpi_gather_args {
    size_t item_bytes, in_stride, out_stride; /* strides: at least item_bytes */
    const void *in;
    size_t index_bytes; /* 4 or 8; 0: no indices */
    const void *indices;
    uint64_t n;
    const uint64_t *device_n; /* NULL, or n is its bound */
    void *out;
    bool scatter; /* the indices are places of the output */
};

/* The plain gather of packed items. */
static inline struct gpi_gather_args gpi_gather_of(size_t item_bytes, const void *in,
                                                   size_t index_bytes, const void *indices,
                                                   uint64_t n, void *out)
{
    const struct gpi_gather_args a = {item_bytes, item_bytes, item_bytes, in,  index_bytes,
                                      indices,    n,          NULL,       out, false};
    return a;
}

void gpi_gather_cpu(int threads, const struct gpi_gather_args *a);

/* The same, queued on the context's stream; n is not 0. */
gp_status gpi_gather_cuda(gp_context *ctx, const char *function, const struct gpi_gather_args *a);

/* gather_table.c; NULL: this build has no code for the GPU. */
typedef gp_status gpi_gather_launch_fn(gp_context *ctx, const char *function,
                                       const struct gpi_gather_args *a);
gpi_gather_launch_fn *gpi_gather_launch_get(int sm_row);

#endif
