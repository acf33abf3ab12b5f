/* SPDX-License-Identifier: MIT */
/* gp_test_cuda.c of a build without CUDA: no device, nothing to capture. */
#include "gp_test.h"
#include "order_check.h"
#include "ranks.h"

bool t_capture_begin(void)
{
    return false;
}

static void no_cuda(void)
{
    ck_abort_msg("a build without CUDA");
}

void t_capture_end(void)
{
    no_cuda();
}

void t_replay(void)
{
    no_cuda();
}

size_t t_captured_nodes(void)
{
    no_cuda();
    return 0;
}

void t_capture_free(void)
{
}

void ranks_capture_begin(gp_context *ctx)
{
    (void)ctx;
    no_cuda();
}

void *ranks_capture_end(gp_context *ctx)
{
    (void)ctx;
    no_cuda();
    return NULL;
}

void ranks_capture_all_begin(struct ranks *r)
{
    (void)r;
    no_cuda();
}

void *ranks_capture_all_end(struct ranks *r)
{
    (void)r;
    no_cuda();
    return NULL;
}

void ranks_replay(gp_context *ctx, void *graph)
{
    (void)ctx, (void)graph;
    no_cuda();
}

void ranks_graph_free(void *graph)
{
    (void)graph;
    no_cuda();
}

gp_allocator t_device_allocator(void)
{
    return (gp_allocator){NULL, NULL, NULL};
}

int t_device_count(void)
{
    return 0;
}

int t_multiprocessors(void)
{
    return 0;
}

int t_compute_capability(void)
{
    return 0;
}

int t_device_current(void)
{
    return -1;
}

void t_device_select(int device)
{
    (void)device;
    no_cuda();
}

gp_stream t_stream_new(void)
{
    return NULL;
}

void t_stream_free(gp_stream stream)
{
    (void)stream;
}

void *t_pinned_new(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void t_pinned_free(void *memory)
{
    (void)memory;
}

void t_order_fill_cuda(gp_stream stream, enum bench_spread spread, uint64_t seed, uint64_t n,
                       uint32_t *keys, uint32_t *positions)
{
    (void)stream, (void)spread, (void)seed, (void)n, (void)keys, (void)positions;
    no_cuda();
}

uint64_t t_order_count_wrong_cuda(gp_stream stream, const struct t_order *order)
{
    (void)stream, (void)order;
    no_cuda();
    return 0;
}
