/* SPDX-License-Identifier: MIT */
/* The streams of a context that validates on CUDA, see validate/validate_gate.c. */
#ifndef GPI_GATE_H
#define GPI_GATE_H

#include <stdbool.h>

#include <gp/core.h>

/* Calls that may be queued ahead. To destroy a graph with a conditional node waits for it, so its
 * turn comes when its place is needed again. */
enum { GPI_GATE_AHEAD = 32 };

struct gpi_gate {
    gp_stream outer, body; /* on which graphs are captured: of the call, of its work */
    bool eager;            /* the call's stream is not captured by the user */
    bool in_body;          /* body is being captured */
    struct CUgraphExec_st *queued[GPI_GATE_AHEAD];
    unsigned next; /* place in queued */
};

#endif
