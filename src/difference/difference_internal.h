/* SPDX-License-Identifier: MIT */
/*
 * Differences of neighbouring items.
 *
 * CUDA: one launch; a lane takes vectors of 16 bytes, and the item before its vector from the lane
 * before it. CPU: blocks by threads.
 *
 * Workspace: none.
 */
#ifndef GPI_DIFFERENCE_INTERNAL_H
#define GPI_DIFFERENCE_INTERNAL_H

#include <gp/difference.h>

#include "core/context.h"

/* A call that has been checked; n is not 0. */
struct gpi_difference_args {
    const char *function;
    gp_dtype dtype;
    const void *in;
    uint64_t n;
    const uint64_t *device_n; /* or NULL */
    void *out;
};

/* CUDA: gpi_difference_sm<architecture>. CPU: gpi_difference_cpu_<instruction set>. */
typedef gp_status (*gpi_difference_fn)(gp_context *ctx, const struct gpi_difference_args *args);

/* NULL if there is none. */
gpi_difference_fn gpi_difference_find(const gp_context *ctx);

#endif
