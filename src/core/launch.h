/* SPDX-License-Identifier: MIT */
/*
 * Kernels that follow each other in one call, queued together.
 *
 * The host pays for each launch (calls-05 and calls-07 in docs/tuning), for a CUDA graph of several
 * about as much as for one. So a sequence that a context queues again becomes a graph, whose
 * kernels get their arguments and grids anew each time; a sequence is known by its kernels, in
 * order. While a stream is captured, or where no graph can be made, the kernels are launched one by
 * one: the same result.
 */
#ifndef GPI_LAUNCH_H
#define GPI_LAUNCH_H

#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GPI_LAUNCHES_MAX = 6, GPI_ARGUMENTS_MAX = 4 };

/* One kernel; or, if kernel is NULL, `bytes` bytes at arguments[0] set to 0. */
struct gpi_launch {
    const void *kernel;
    void *arguments[GPI_ARGUMENTS_MAX]; /* where each is; read before gpi_launch_all() returns */
    unsigned blocks, threads;
    size_t bytes; /* of dynamic shared memory */
    bool cooperative;
    bool overlap; /* the kernel has grid_wait(): it may start while the one before ends */
};

/* Queue them, in order. */
gp_status gpi_launch_all(gp_context *ctx, const char *function, const struct gpi_launch *launches,
                         int count);

/* Free the graphs of a context; NULL does nothing. */
void gpi_launch_graphs_free(struct gpi_launch_graphs *graphs);

#ifdef __cplusplus
}
#endif

#endif
