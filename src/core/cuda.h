/* SPDX-License-Identifier: MIT */
/*
 * The CUDA runtime as the core and the front doors need it. cuda.c implements it; a build without
 * CUDA links cuda_none.c instead, whose calls report that there is no device.
 */
#ifndef GPI_CUDA_H
#define GPI_CUDA_H

#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fill device, sm, sm_row, sm_count of the wanted device (-1: the first usable). */
gp_status gpi_cuda_open(gp_context *ctx, int device);
/* Own stream, record of what calls find. */
gp_status gpi_cuda_start(gp_context *ctx);
void gpi_cuda_stop(gp_context *ctx);

/* The device that was current when a call made its own current; -1: nothing to put back. */
int gpi_device_enter(const gp_context *ctx);
void gpi_device_leave(const int *previous);

/* ctx->device is current from here to the end of the block. */
#define GPI_ON_DEVICE(ctx)                                                                         \
    __attribute__((cleanup(gpi_device_leave), unused)) int gpi_previous_ = gpi_device_enter(ctx)

/* The error of the launches since GPI_ON_DEVICE(): GP_OK, or GP_ERROR_CUDA and ctx is broken. */
gp_status gpi_cuda_launched(gp_context *ctx, const char *function);
/* The same where the CPU may have done it. */
static inline gp_status gpi_launched(gp_context *ctx, const char *function)
{
    return ctx->backend == GP_BACKEND_CUDA ? gpi_cuda_launched(ctx, function) : GP_OK;
}
/* The same for the error e (a cudaError_t) of a call of the runtime. */
gp_status gpi_cuda_check(gp_context *ctx, const char *function, int e);

/* Whether the user captures the stream. */
bool gpi_cuda_capturing(const gp_context *ctx);
/* Whether the device can use this pointer; if not, *what says what it is. */
bool gpi_cuda_accessible(const gp_context *ctx, const void *memory, const char **what);

void *gpi_cuda_allocate(gp_context *ctx, size_t bytes);
void gpi_cuda_release(gp_context *ctx, void *memory);
gp_status gpi_cuda_fill(gp_context *ctx, void *memory, int byte, size_t bytes);
/* Of memory that was just made: on the stream that it was made on. */
gp_status gpi_cuda_fill_at_home(gp_context *ctx, void *memory, int byte, size_t bytes);
gp_status gpi_cuda_copy(gp_context *ctx, const void *source, size_t bytes, void *destination);
/* Waits; what calls have found is in *found then, and no longer on the device. */
gp_status gpi_cuda_synchronize(gp_context *ctx, struct gpi_sticky *found);
gp_status gpi_cuda_follow(gp_context *ctx, gp_stream next);
void gpi_cuda_describe(const gp_context *ctx, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
