/* SPDX-License-Identifier: MIT */
/* dist_cuda.c in a build without CUDA: nothing that needs a GPU is reached. */
#include "dist/dist_internal.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

gp_status gpi_dist_cuda_wait(gp_comm *comm, const char *function, double seconds)
{
    return GP_ERROR_INTERNAL;
}

void *gpi_dist_cuda_pinned(gp_context *ctx, size_t bytes)
{
    return NULL;
}

void gpi_dist_cuda_unpin(gp_context *ctx, void *memory)
{
}

struct gpi_mail *gpi_dist_cuda_mail(void)
{
    return NULL;
}

void gpi_dist_cuda_mail_free(struct gpi_mail *mail)
{
}

bool gpi_dist_cuda_introduce(gp_context *a, gp_context *b)
{
    return false;
}

uint64_t gpi_dist_cuda_graph(const gp_context *ctx)
{
    return 0;
}

void *gpi_dist_cuda_event(gp_context *ctx)
{
    return NULL;
}

void gpi_dist_cuda_event_free(gp_context *ctx, void *event)
{
}

gp_status gpi_dist_cuda_record(gp_context *ctx, const char *function, void *event)
{
    return GP_ERROR_INTERNAL;
}

gp_status gpi_dist_cuda_wait_event(gp_context *ctx, const char *function, void *event)
{
    return GP_ERROR_INTERNAL;
}

gp_status gpi_dist_cuda_fork(gp_comm *comm, const char *function)
{
    return GP_ERROR_INTERNAL;
}

gp_status gpi_dist_cuda_pull(gp_comm *comm, const char *function, enum gpi_dist_lane lane,
                             const void *from, uint64_t bytes, void *to)
{
    return GP_ERROR_INTERNAL;
}

gp_status gpi_dist_cuda_join(gp_comm *comm, const char *function)
{
    return GP_ERROR_INTERNAL;
}

gp_status gpi_dist_cuda_lanes_wait(gp_comm *comm, const char *function, void *event)
{
    return GP_ERROR_INTERNAL;
}

void gpi_dist_cuda_side_free(gp_context *ctx, struct gpi_dist_side *side)
{
}

gp_status gpi_window_introduce(gp_comm *comm, const char *function)
{
    return GP_ERROR_INTERNAL;
}

gp_status gpi_window_reserve(gp_comm *comm, const char *function, size_t bytes, char **memory)
{
    return GP_ERROR_INTERNAL;
}

gp_status gp_comm_create_nccl(gp_context *ctx, void *nccl_comm, gp_comm **comm)
{
    if (comm)
        *comm = NULL;
    return gpi_fail(NULL, GP_ERROR_UNSUPPORTED,
                    "gp_comm_create_nccl: this build has no CUDA backend");
}
