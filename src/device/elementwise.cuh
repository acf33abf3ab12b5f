/* SPDX-License-Identifier: MIT */
/*
 * Kernels that treat items one by one, in loops with the stride of the grid:
 *
 *     for (uint64_t i = grid_item(); i < n; i += grid_items())
 *
 * Any grid of blocks of elementwise_threads is right for any n.
 */
#pragma once

#include <stdint.h>

#include "core/context.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

constexpr int elementwise_threads = 256;

GPI_DEVICE uint64_t grid_item()
{
    return (uint64_t)blockIdx.x * elementwise_threads + threadIdx.x;
}

GPI_DEVICE uint64_t grid_items()
{
    return (uint64_t)gridDim.x * elementwise_threads;
}

/* A thread per item, but at most blocks_per_sm blocks per multiprocessor. */
inline unsigned elementwise_grid(const gp_context *ctx, uint64_t n, int blocks_per_sm)
{
    const uint64_t blocks = (n + elementwise_threads - 1) / elementwise_threads;
    const uint64_t max = (uint64_t)blocks_per_sm * (uint64_t)ctx->sm_count;
    return (unsigned)(blocks < max ? blocks : max);
}

} // namespace GPI_SPACE
