/* SPDX-License-Identifier: MIT */
/* What the applications of scan share: a scan of arrays of the program, wherever the context
 * computes. A program that works on the GPU anyway would leave its data there. */
#ifndef EXAMPLE_HOST_SCAN_H
#define EXAMPLE_HOST_SCAN_H

#include <gp/gp.h>

/* Ends the program with the text of the error, unless status is GP_OK. */
void need(gp_context *ctx, gp_status status);

/* gp_scan() of host arrays; out may equal in. Ends the program when it fails. */
void host_scan(gp_context *ctx, const gp_scan_desc *desc, const void *in, size_t n, void *out);

/* n bytes of host memory, or the end of the program. */
void *host_memory(size_t bytes);

/* A number in [0, 1) that depends on i alone. */
double noise(size_t i);

#endif
