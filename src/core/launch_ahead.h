/* SPDX-License-Identifier: MIT */
/*
 * Kernels of a call that go into the graph of those that follow.
 *
 * Between two graphs the GPU waits longer than inside of one. So kernels that another room's come
 * behind may wait for these: the next gpi_launch_all() of the context puts them in front of its
 * own. If its first launch is zeros these are written at the same time, so the kernels leave that
 * memory alone.
 */
#ifndef GPI_LAUNCH_AHEAD_H
#define GPI_LAUNCH_AHEAD_H

#include "core/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the arguments are in stays until gpi_launch_ahead_end(). */
gp_status gpi_launch_ahead(gp_context *ctx, const char *function, const struct gpi_launch *launches,
                           int count);

/* None wait any more: they are queued if nothing came, and forgotten if status is an error, which
 * is then returned. */
gp_status gpi_launch_ahead_end(gp_context *ctx, const char *function, gp_status status);

#ifdef __cplusplus
}
#endif

#endif
