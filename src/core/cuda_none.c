/* SPDX-License-Identifier: MIT */
/* The calls of core/cuda.h in a build without CUDA: no device, and nothing that needs one is
 * reached. So most do not look at their parameters. */
#include "core/cub.h"
#include "core/cuda.h"
#include "core/launch_ahead.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

gp_status gpi_cuda_open(gp_context *ctx, int device)
{
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "gp_context_create: this build has no CUDA backend");
}

static gp_status unreachable_call(gp_context *ctx)
{
    return gpi_fail(ctx, GP_ERROR_INTERNAL, "gp: CUDA call in a build without CUDA");
}

gp_status gpi_cuda_start(gp_context *ctx)
{
    return unreachable_call(ctx);
}

void gpi_cuda_stop(gp_context *ctx)
{
}

int gpi_device_enter(const gp_context *ctx)
{
    return -1;
}

void gpi_device_leave(const int *previous)
{
}

gp_status gpi_cuda_launched(gp_context *ctx, const char *function)
{
    return unreachable_call(ctx);
}

gp_status gpi_cuda_check(gp_context *ctx, const char *function, int e)
{
    return unreachable_call(ctx);
}

bool gpi_cuda_capturing(const gp_context *ctx)
{
    return false;
}

bool gpi_cuda_accessible(const gp_context *ctx, const void *memory, const char **what)
{
    *what = "unknown";
    return false;
}

void *gpi_cuda_allocate(gp_context *ctx, size_t bytes)
{
    return NULL;
}

void gpi_cuda_release(gp_context *ctx, void *memory)
{
}

gp_status gpi_cuda_fill(gp_context *ctx, void *memory, int byte, size_t bytes)
{
    return unreachable_call(ctx);
}

gp_status gpi_cuda_fill_at_home(gp_context *ctx, void *memory, int byte, size_t bytes)
{
    (void)memory;
    (void)byte;
    (void)bytes;
    return unreachable_call(ctx);
}

gp_status gpi_cuda_copy(gp_context *ctx, const void *source, size_t bytes, void *destination)
{
    return unreachable_call(ctx);
}

gp_status gpi_cuda_synchronize(gp_context *ctx, struct gpi_sticky *found)
{
    return unreachable_call(ctx);
}

gp_status gpi_cuda_follow(gp_context *ctx, gp_stream next)
{
    return unreachable_call(ctx);
}

void gpi_cuda_describe(const gp_context *ctx, char *text, size_t bytes)
{
    if (bytes)
        text[0] = '\0';
}

gp_status gpi_launch_all(gp_context *ctx, const char *function, const struct gpi_launch *launches,
                         int count)
{
    return unreachable_call(ctx);
}

gp_status gpi_launch_ahead_end(gp_context *ctx, const char *function, gp_status status)
{
    return unreachable_call(ctx);
}

gp_status gpi_cub_find(gp_context *ctx, const char *function, const struct gpi_cub **cub)
{
    return unreachable_call(ctx);
}
