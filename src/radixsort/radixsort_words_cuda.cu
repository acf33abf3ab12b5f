/* SPDX-License-Identifier: MIT */
/* Launchers of the kernels around a sort. */
#include "radixsort/radixsort_widen_k.cuh"
#include "radixsort/radixsort_words_kernels.cuh"

#include <cuda_runtime.h>

#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

unsigned grid_for(const gp_context *ctx, uint64_t n)
{
    return elementwise_grid(ctx, n, elementwise_tuning.blocks_per_sm);
}

template <class Word>
void launch_to_words(gp_context *ctx, const gpi_radix_order &order, bool exact, const void *in,
                     uint64_t n, void *out)
{
    to_words_k<Word><<<grid_for(ctx, n), elementwise_threads, 0, ctx->stream>>>(
        order, exact, static_cast<const Word *>(in), n, static_cast<Word *>(out));
}

void to_words(gp_context *ctx, const gpi_radix_order *order, bool exact, size_t key_bytes,
              const void *in, uint64_t n, void *out)
{
    if (key_bytes == 1)
        launch_to_words<uint8_t>(ctx, *order, exact, in, n, out);
    else if (key_bytes == 2)
        launch_to_words<uint16_t>(ctx, *order, exact, in, n, out);
    else if (key_bytes == 4)
        launch_to_words<uint32_t>(ctx, *order, exact, in, n, out);
    else
        launch_to_words<uint64_t>(ctx, *order, exact, in, n, out);
}

template <class Word>
void launch_from_words(gp_context *ctx, const gpi_radix_order &order, void *words, uint64_t n)
{
    from_words_k<Word><<<grid_for(ctx, n), elementwise_threads, 0, ctx->stream>>>(
        order, static_cast<Word *>(words), n);
}

void from_words(gp_context *ctx, const gpi_radix_order *order, size_t key_bytes, void *words,
                uint64_t n)
{
    if (key_bytes == 1)
        launch_from_words<uint8_t>(ctx, *order, words, n);
    else if (key_bytes == 2)
        launch_from_words<uint16_t>(ctx, *order, words, n);
    else if (key_bytes == 4)
        launch_from_words<uint32_t>(ctx, *order, words, n);
    else
        launch_from_words<uint64_t>(ctx, *order, words, n);
}

/* Four values a thread. */
unsigned grid_of_fours(const gp_context *ctx, uint64_t n)
{
    return grid_for(ctx, (n + 3) / 4);
}

void widen(gp_context *ctx, const void *values, uint64_t n, const uint64_t *device_n, void *words)
{
    radix_widen_k<3><<<grid_of_fours(ctx, n), elementwise_threads, 0, ctx->stream>>>(
        static_cast<const uint8_t *>(values), ItemCount{n, device_n},
        static_cast<uint32_t *>(words));
}

void narrow(gp_context *ctx, const void *words, uint64_t n, const uint64_t *device_n, void *values)
{
    radix_narrow_k<3><<<grid_of_fours(ctx, n), elementwise_threads, 0, ctx->stream>>>(
        static_cast<const uint32_t *>(words), ItemCount{n, device_n},
        static_cast<uint8_t *>(values));
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels);
const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels) = {
    GPI_SPACE::to_words, GPI_SPACE::from_words, GPI_SPACE::widen, GPI_SPACE::narrow};
}
