/* SPDX-License-Identifier: MIT */
/* What a context keeps about the memory that gp_malloc() gave. */
#ifndef GPI_MEMORY_H
#define GPI_MEMORY_H

#include "core/context.h"

/* Forget it all; the memory stays with the caller. */
void gpi_given_drop(gp_context *ctx);

#endif
