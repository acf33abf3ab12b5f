/* SPDX-License-Identifier: MIT */
/* Launchers of fill and iota. */
#include <cstring>

#include <cuda_runtime.h>

#include "device/host.cuh"
#include "fill/fill_kernels.cuh"
#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* A longer item goes to where the first one of the output is. */
void launch_first(gp_context *ctx, const gpi_fill_args &a)
{
    const uint32_t item_bytes = (uint32_t)a.item_bytes;
    for (uint32_t b = 0; b < item_bytes; b += fill_piece) {
        FillBytes<fill_piece> piece;
        const uint32_t bytes = item_bytes - b < fill_piece ? item_bytes - b : fill_piece;
        memcpy(piece.at, (const uint8_t *)a.item + b, bytes);
        fill_first_k<<<1, elementwise_threads, 0, ctx->stream>>>(piece, bytes, a,
                                                                 (uint8_t *)a.out + b);
    }
}

gp_status fill(gp_context *ctx, const char *function, const gpi_fill_args *a)
{
    FillBytes<fill_small> given = {};
    const bool is_given = a->item_bytes <= fill_small;
    const uint32_t item_bytes = (uint32_t)a->item_bytes, power = item_bytes & (0 - item_bytes);
    const uint32_t period = item_bytes / (power < 16 ? power : 16);
    const uint64_t words = a->n * item_bytes / 16 + 1;
    unsigned grid = elementwise_grid(ctx, words, elementwise_tuning.blocks_per_sm);
    const unsigned least = (period + elementwise_threads - 1) / elementwise_threads;
    if (grid < least) /* or what there are words for */
        grid = elementwise_grid(ctx, words < period ? words : period, (int)least);
    if (is_given)
        memcpy(given.at, a->item, item_bytes);
    else
        launch_first(ctx, *a);
    fill_k<<<grid, elementwise_threads, 0, ctx->stream>>>(given, is_given, *a, period);
    return gpi_cuda_launched(ctx, function);
}

template <class T> void launch_iota(gp_context *ctx, const gpi_iota_args &a)
{
    const unsigned grid = elementwise_grid(ctx, a.n * sizeof(T) / 16 + elementwise_threads,
                                           elementwise_tuning.blocks_per_sm);
    iota_k<T><<<grid, elementwise_threads, 0, ctx->stream>>>(a);
}

gp_status iota(gp_context *ctx, const char *function, const gpi_iota_args *a)
{
    switch (a->kind) {
    case GPI_IOTA_8:
        launch_iota<uint8_t>(ctx, *a);
        break;
    case GPI_IOTA_16:
        launch_iota<uint16_t>(ctx, *a);
        break;
    case GPI_IOTA_32:
        launch_iota<uint32_t>(ctx, *a);
        break;
    case GPI_IOTA_64:
        launch_iota<uint64_t>(ctx, *a);
        break;
    case GPI_IOTA_F16:
        launch_iota<f16_t>(ctx, *a);
        break;
    case GPI_IOTA_BF16:
        launch_iota<bf16_t>(ctx, *a);
        break;
    case GPI_IOTA_F32:
        launch_iota<float>(ctx, *a);
        break;
    default:
        launch_iota<double>(ctx, *a);
    }
    return gpi_cuda_launched(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const gpi_fill_launchers GPI_LAUNCHER(gpi_fill_launchers);
const gpi_fill_launchers GPI_LAUNCHER(gpi_fill_launchers) = {GPI_SPACE::fill, GPI_SPACE::iota};
}
