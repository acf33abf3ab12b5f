/* SPDX-License-Identifier: MIT */
/* Words out of rows and columns, and back, on CUDA. */
#include <cuda_runtime.h>

#include "device/elementwise.cuh"
#include "device/item_count.cuh"
#include "tuning/elementwise_tuning.cuh"

extern "C" {
#include "lexsort/lexsort_internal.h"
}

namespace GPI_SPACE
{
namespace
{

/* words[i] = rows[i] << col_bits | cols[i]. Any grid of 256 threads. */
template <class Pair, class Word>
__global__ void __launch_bounds__(elementwise_threads)
    lex_pack_k(const Pair *rows, const Pair *cols, int col_bits, ItemCount count, Word *words)
{
    const uint64_t n = item_count(count);
    for (uint64_t i = grid_item(); i < n; i += grid_items())
        words[i] = (Word)((uint64_t)rows[i] << col_bits | (uint64_t)cols[i]);
}

/* The inverse of lex_pack_k. Any grid of 256 threads. */
template <class Pair, class Word>
__global__ void __launch_bounds__(elementwise_threads)
    lex_unpack_k(const Word *words, int col_bits, ItemCount count, Pair *rows, Pair *cols)
{
    const uint64_t n = item_count(count);
    const uint64_t mask = ((uint64_t)1 << col_bits) - 1;
    for (uint64_t i = grid_item(); i < n; i += grid_items()) {
        const uint64_t w = words[i];
        rows[i] = (Pair)(w >> col_bits);
        cols[i] = (Pair)(w & mask);
    }
}

unsigned grid_for(const gp_context *ctx, const gpi_lex_job *j)
{
    return elementwise_grid(ctx, j->n,
                            j->device_n ? elementwise_tuning.blocks_counted
                                        : elementwise_tuning.blocks_per_sm);
}

template <class Pair, class Word>
void launch_pack(gp_context *ctx, const gpi_lex_job *j, void *words)
{
    lex_pack_k<<<grid_for(ctx, j), elementwise_threads, 0, ctx->stream>>>(
        (const Pair *)j->rows, (const Pair *)j->cols, j->col_bits, ItemCount{j->n, j->device_n},
        (Word *)words);
}

template <class Pair, class Word>
void launch_unpack(gp_context *ctx, const gpi_lex_job *j, const void *words)
{
    lex_unpack_k<<<grid_for(ctx, j), elementwise_threads, 0, ctx->stream>>>(
        (const Word *)words, j->col_bits, ItemCount{j->n, j->device_n}, (Pair *)j->rows_out,
        (Pair *)j->cols_out);
}

void pack(gp_context *ctx, const gpi_lex_job *j, void *words)
{
    const bool wide = gpi_lex_word_bytes(j) == 8;
    if (j->pair_bytes == 4)
        wide ? launch_pack<uint32_t, uint64_t>(ctx, j, words)
             : launch_pack<uint32_t, uint32_t>(ctx, j, words);
    else
        wide ? launch_pack<uint64_t, uint64_t>(ctx, j, words)
             : launch_pack<uint64_t, uint32_t>(ctx, j, words);
}

void unpack(gp_context *ctx, const gpi_lex_job *j, const void *words)
{
    const bool wide = gpi_lex_word_bytes(j) == 8;
    if (j->pair_bytes == 4)
        wide ? launch_unpack<uint32_t, uint64_t>(ctx, j, words)
             : launch_unpack<uint32_t, uint32_t>(ctx, j, words);
    else
        wide ? launch_unpack<uint64_t, uint64_t>(ctx, j, words)
             : launch_unpack<uint64_t, uint32_t>(ctx, j, words);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_lex_kernels GPI_LAUNCHER(gpi_lex_kernels);
const struct gpi_lex_kernels GPI_LAUNCHER(gpi_lex_kernels) = {GPI_SPACE::pack, GPI_SPACE::unpack};
}
