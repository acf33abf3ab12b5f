/* SPDX-License-Identifier: MIT */
#ifndef GPI_VALIDATE_GATE_H
#define GPI_VALIDATE_GATE_H

#include "core/context.h"

/* CUDA: checks are queued from begin on, the call's own work from enter on. status is that of what
 * came before; what is not GP_OK queues nothing in the end. */
gp_status gpi_gate_begin(gp_context *ctx, const char *function);
gp_status gpi_gate_enter(gp_context *ctx, const char *function, gp_status status);
gp_status gpi_gate_end(gp_context *ctx, const char *function, gp_status status);

#endif
