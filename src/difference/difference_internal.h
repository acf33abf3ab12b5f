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

/* CUDA: gpi_difference_sm<architecture>. CPU: gpi_difference_cpu_<instruction set>. All checks are
 * done; n is not 0. */
typedef gp_status (*gpi_difference_fn)(gp_context *ctx, const char *function, gp_dtype dtype,
                                       const void *in, uint64_t n, void *out);

/* NULL if there is none. */
gpi_difference_fn gpi_difference_find(const gp_context *ctx);

#endif
