/* SPDX-License-Identifier: MIT */
/* The streams of a context that validates on CUDA, see validate/validate_gate.c. */
#ifndef GPI_GATE_H
#define GPI_GATE_H

#include <stdbool.h>

#include <gp/core.h>

struct gpi_gate {
    gp_stream outer, body; /* on which graphs are captured: of the call, of its work */
    bool eager;            /* the call's stream is not captured by the user */
    bool in_body;          /* body is being captured */
};

#endif
