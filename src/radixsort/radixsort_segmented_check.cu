/* SPDX-License-Identifier: MIT */
/* The check of segment offsets on CUDA: what is wrong is found when the data is,
 * so it is sticky. */
#include <cuda_runtime.h>

#include "device/search.cuh"
#include "device/space.cuh"

extern "C" {
#include "radixsort/radixsort_segmented.h"
}

namespace GPI_SPACE
{
namespace
{

constexpr int check_threads = 256;
constexpr uint64_t check_blocks_per_sm = 32;

/* Sets the sticky word if an offset falls, the first one is negative, or they do not cover n items.
 * Any grid of 256 threads. */
template <class Offset>
__global__ void __launch_bounds__(check_threads)
    segmented_check_k(const Offset *offsets, bool is_signed, uint64_t num_segments, uint64_t n,
                      uint32_t *sticky)
{
    const Offset base = offsets[0];
    const uint64_t first = (uint64_t)blockIdx.x * check_threads + threadIdx.x;
    bool bad = is_signed && base >> (8 * sizeof(Offset) - 1);
    if (first == 0)
        bad |= offset_at(offsets, base, num_segments) != n;
    for (uint64_t s = first; s < num_segments; s += (uint64_t)gridDim.x * check_threads)
        bad |= offset_at(offsets, base, s) > offset_at(offsets, base, s + 1);
    if (bad)
        atomicOr(sticky, (uint32_t)GPI_STICKY_DATA);
}

template <class Offset> void launch(gp_context *ctx, const gpi_segmented_job *s, unsigned grid)
{
    const bool is_signed = s->offset_dtype == GP_I32 || s->offset_dtype == GP_I64;
    segmented_check_k<<<grid, check_threads, 0, ctx->stream>>>(
        (const Offset *)s->offsets, is_signed, s->num_segments, s->job.n, ctx->sticky);
}

} // namespace
} // namespace GPI_SPACE

extern "C" void GPI_LAUNCHER(gpi_segmented_check)(gp_context *ctx, const gpi_segmented_job *s)
{
    using namespace GPI_SPACE;
    const uint64_t blocks = (s->num_segments + check_threads - 1) / check_threads;
    const uint64_t most = check_blocks_per_sm * (uint64_t)ctx->sm_count;
    const unsigned grid = (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
    if (s->offset_dtype == GP_U32 || s->offset_dtype == GP_I32)
        launch<uint32_t>(ctx, s, grid);
    else
        launch<uint64_t>(ctx, s, grid);
}
