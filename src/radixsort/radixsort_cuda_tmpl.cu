/* SPDX-License-Identifier: MIT */
/* Launchers of the kernels around a sort, and of gp_gather(). */
#include "radixsort/radixsort_kernels.cuh"

#include <cuda_runtime.h>

#include "tuning/radixsort_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* Enough blocks for one item per thread, but no more than keep the device busy. */
unsigned grid_for(const gp_context *ctx, uint64_t n)
{
    const uint64_t blocks = (n + around_threads - 1) / around_threads;
    const uint64_t most = radix_tuning.elementwise_blocks_per_sm * (uint64_t)ctx->sm_count;
    return (unsigned)(blocks < most ? blocks : most);
}

template <class Word>
void launch_to_words(gp_context *ctx, const gpi_radix_order &order, bool exact, const void *in,
                     uint64_t n, void *out)
{
    to_words_k<Word><<<grid_for(ctx, n), around_threads, 0, ctx->stream>>>(
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
    from_words_k<Word><<<grid_for(ctx, n), around_threads, 0, ctx->stream>>>(
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

void iota(gp_context *ctx, size_t index_bytes, uint64_t n, void *out)
{
    const unsigned grid = grid_for(ctx, n);
    if (index_bytes == 4)
        iota_k<<<grid, around_threads, 0, ctx->stream>>>(n, static_cast<uint32_t *>(out));
    else
        iota_k<<<grid, around_threads, 0, ctx->stream>>>(n, static_cast<uint64_t *>(out));
}

template <class Unit, class Index>
void launch_gather(gp_context *ctx, size_t item_bytes, const void *in, const void *indices,
                   uint64_t n, void *out)
{
    const Unit *from = static_cast<const Unit *>(in);
    const Index *at = static_cast<const Index *>(indices);
    Unit *to = static_cast<Unit *>(out);
    const uint32_t units = (uint32_t)(item_bytes / sizeof(Unit));
    const unsigned grid = grid_for(ctx, n * units);
    if (units == 1)
        gather_k<<<grid, around_threads, 0, ctx->stream>>>(from, at, n, to);
    else
        gather_wide_k<<<grid, around_threads, 0, ctx->stream>>>(from, at, n, units, to);
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

void gather(gp_context *ctx, size_t item_bytes, const void *in, size_t index_bytes,
            const void *indices, uint64_t n, void *out)
{
    if (index_bytes == 4)
        gather_by<uint32_t>(ctx, item_bytes, in, indices, n, out);
    else
        gather_by<uint64_t>(ctx, item_bytes, in, indices, n, out);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels);
const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels) = {
    GPI_SPACE::to_words, GPI_SPACE::from_words, GPI_SPACE::iota, GPI_SPACE::gather};
}
