/* SPDX-License-Identifier: MIT */
/*
 * Gather: out[i] = in[indices[i]].
 *
 * CPU: threads take ranges of the output; items of common sizes are moved by a loop of their own.
 * CUDA: one launch, a thread per item; items of several units (of up to 16 bytes) take a thread per
 * unit, so that neighbouring threads write neighbouring units. The sorts use it for values of sizes
 * that they have no code for.
 *
 * Workspace: none.
 */
#ifndef GPI_GATHER_INTERNAL_H
#define GPI_GATHER_INTERNAL_H

#include <gp/gather.h>

#include "core/context.h"

/* On the CPU. index_bytes is 4 or 8. */
void gpi_gather_cpu(int threads, size_t item_bytes, const void *in, size_t index_bytes,
                    const void *indices, size_t n, void *out);

/* The same, queued on the context's stream; n is not 0. */
gp_status gpi_gather_cuda(gp_context *ctx, const char *function, size_t item_bytes, const void *in,
                          size_t index_bytes, const void *indices, size_t n, void *out);

/* gather_table.c; NULL: this build has no code for the GPU. */
typedef gp_status gpi_gather_launch_fn(gp_context *ctx, const char *function, size_t item_bytes,
                                       const void *in, size_t index_bytes, const void *indices,
                                       size_t n, void *out);
gpi_gather_launch_fn *gpi_gather_launch_get(int sm_row);

#endif
