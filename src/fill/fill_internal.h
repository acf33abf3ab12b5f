/* SPDX-License-Identifier: MIT */
/*
 * Arrays that depend on no other: one item again and again, and arithmetic sequences.
 *
 * A fill writes whole words of 16 bytes (CPU: lines) between the boundaries of memory, whatever the
 * size of an item. CPU: a few items in a row are a pattern in the first level, from which all lines
 * are copied. CUDA: words repeat after as many of them as an item has bytes, or sooner. Threads go
 * through the words in steps of a multiple of that, so each makes one word and stores it again and
 * again. Up to 64 bytes an item comes with the launch. Longer ones are brought first, a piece with
 * each launch, to where the output's first item is.
 *
 * A sequence is computed item by item from its number: no item depends on the one before. The CPU
 * computes a block of them in the first level. Outputs too large for the CPU's cache go past it.
 *
 * Workspace: none.
 */
#ifndef GPI_FILL_INTERNAL_H
#define GPI_FILL_INTERNAL_H

#include <gp/fill.h>

#include "core/context.h"

struct gpi_fill_args {
    size_t item_bytes;
    const void *item; /* of the host */
    uint64_t n;
    const uint64_t *device_n; /* NULL, or n is its bound */
    void *out;
};

/* What items are computed as: integers of 8 to 64 bits, without sign, or floats. */
enum gpi_iota_kind {
    GPI_IOTA_8,
    GPI_IOTA_16,
    GPI_IOTA_32,
    GPI_IOTA_64,
    GPI_IOTA_F16,
    GPI_IOTA_BF16,
    GPI_IOTA_F32,
    GPI_IOTA_F64
};

struct gpi_iota_args {
    enum gpi_iota_kind kind;
    size_t item_bytes;
    uint64_t first, step; /* of integers */
    double real_first, real_step;
    uint64_t n;
    const uint64_t *device_n; /* NULL, or n is its bound */
    void *out;
};

void gpi_fill_cpu(int threads, const struct gpi_fill_args *a);
void gpi_iota_cpu(const gp_context *ctx, const struct gpi_iota_args *a);

/* Items begin to begin + count - 1, to where the first goes. */
typedef void gpi_iota_fn(const struct gpi_iota_args *a, uint64_t begin, size_t count, void *to);
gpi_iota_fn gpi_iota_items; /* but halves, which have a function per instruction set */

/* CUDA, queued; n is not 0. fill_table.c; NULL: this build has no code for the GPU. */
struct gpi_fill_launchers {
    gp_status (*fill)(gp_context *ctx, const char *function, const struct gpi_fill_args *a);
    gp_status (*iota)(gp_context *ctx, const char *function, const struct gpi_iota_args *a);
};
const struct gpi_fill_launchers *gpi_fill_launchers_get(int sm_row);

#endif
