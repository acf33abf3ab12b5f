/* SPDX-License-Identifier: MIT */
/* Launcher of the gather kernels, for every size of item. */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "gather/gather_kernels.cuh"
#include "tuning/elementwise_tuning.cuh"

extern "C" {
#include "gather/gather_internal.h"
}

namespace GPI_SPACE
{
namespace
{

template <class Unit, class Index>
void launch_gather(gp_context *ctx, size_t item_bytes, const void *in, const void *indices,
                   uint64_t n, void *out)
{
    const Unit *from = static_cast<const Unit *>(in);
    const Index *at = static_cast<const Index *>(indices);
    Unit *to = static_cast<Unit *>(out);
    const uint32_t units = (uint32_t)(item_bytes / sizeof(Unit));
    const unsigned grid = elementwise_grid(ctx, n * units, elementwise_tuning.blocks_per_sm);
    if (units == 1)
        gather_k<<<grid, elementwise_threads, 0, ctx->stream>>>(from, at, n, to);
    else
        gather_wide_k<<<grid, elementwise_threads, 0, ctx->stream>>>(from, at, n, units, to);
}

/* The unit is the largest power of two that divides the item, to which arrays are aligned. */
template <class Index>
void gather_by(gp_context *ctx, size_t item_bytes, const void *in, const void *indices, uint64_t n,
               void *out)
{
    if (item_bytes % 16 == 0)
        launch_gather<uint4, Index>(ctx, item_bytes, in, indices, n, out);
    else if (item_bytes % 8 == 0)
        launch_gather<uint2, Index>(ctx, item_bytes, in, indices, n, out);
    else if (item_bytes % 4 == 0)
        launch_gather<uint32_t, Index>(ctx, item_bytes, in, indices, n, out);
    else if (item_bytes % 2 == 0)
        launch_gather<uint16_t, Index>(ctx, item_bytes, in, indices, n, out);
    else
        launch_gather<uint8_t, Index>(ctx, item_bytes, in, indices, n, out);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_gather_launch)(gp_context *ctx, const char *function,
                                                     size_t item_bytes, const void *in,
                                                     size_t index_bytes, const void *indices,
                                                     size_t n, void *out)
{
    using namespace GPI_SPACE;
    if (index_bytes == 4)
        gather_by<uint32_t>(ctx, item_bytes, in, indices, n, out);
    else
        gather_by<uint64_t>(ctx, item_bytes, in, indices, n, out);
    return gpi_cuda_launched(ctx, function);
}
