/* SPDX-License-Identifier: MIT */
/* Counts in the context's memory, which an earlier call may have written: a member device_n (or
 * device_num_segments, ..) of a descriptor, of which the argument n is the upper bound. */
#ifndef GPI_COUNT_H
#define GPI_COUNT_H

#include "core/context.h"

/* The array of such a member, for the checks of a call. */
#define GPI_COUNT(name, pointer) GPI_READ_IF(name, pointer, sizeof(uint64_t), sizeof(uint64_t))

/* How many items there are. The CPU computes during the call, so it reads the count here, and
 * *device_n becomes NULL; on CUDA n stays what it is, the bound. */
static inline uint64_t gpi_count_now(const gp_context *ctx, const uint64_t **device_n, uint64_t n)
{
    if (!*device_n || ctx->backend != GP_BACKEND_CPU)
        return n;
    const uint64_t there = **device_n;
    *device_n = NULL;
    return there < n ? there : n;
}

#endif
