/* SPDX-License-Identifier: MIT */
/* The kernels around a sort, elementwise: keys as words and back, for CUB; values of 3 bytes as
 * words of 4 bytes, which the engines move, and back. */
#include <stdint.h>

#include <cuda_runtime.h>

#include "device/elementwise.cuh"
#include "radixsort/radixsort_key_codec.cuh"
#include "tuning/elementwise_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

/* Grid: any, as for all kernels here. out[i] = the order word of in[i]; back: the key of the word
 * in[i], which has to be invertible. */
template <class Word>
__global__ void __launch_bounds__(elementwise_threads)
    radix_words_k(KeyOrder<Word> order, bool back, const Word *in, uint64_t n, Word *out)
{
    for (uint64_t i = grid_item(); i < n; i += grid_items())
        out[i] = back ? order.template key<true>(in[i]) : order.template word<true>(in[i]);
}

/* words[i] = value i of 3 bytes, and any byte above. A thread takes four values, which it reads as
 * three words if they are aligned; words has room for n rounded up to 4. */
__global__ void __launch_bounds__(elementwise_threads)
    radix_widen_k(const uint8_t *values, ItemCount count, uint32_t *words)
{
    const uint64_t n = item_count(count);
    const bool aligned = (uintptr_t)values % 4 == 0;
    for (uint64_t g = grid_item(); 4 * g < n; g += grid_items()) {
        const uint8_t *from = values + 12 * g;
        if (aligned && 4 * g + 4 <= n) {
            const uint32_t *three = (const uint32_t *)from;
            const uint32_t a = __ldcs(three), b = __ldcs(three + 1), c = __ldcs(three + 2);
            ((uint4 *)words)[g] =
                make_uint4(a, __funnelshift_r(a, b, 24), __funnelshift_r(b, c, 16), c >> 8);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (4 * g + i < n)
                    words[4 * g + i] = from[3 * i] | from[3 * i + 1] << 8 | from[3 * i + 2] << 16;
        }
    }
}

/* The inverse of radix_widen_k. */
__global__ void __launch_bounds__(elementwise_threads)
    radix_narrow_k(const uint32_t *words, ItemCount count, uint8_t *values)
{
    const uint64_t n = item_count(count);
    const bool aligned = (uintptr_t)values % 4 == 0;
    for (uint64_t g = grid_item(); 4 * g < n; g += grid_items()) {
        uint8_t *to = values + 12 * g;
        const uint4 v = __ldcs((const uint4 *)words + g);
        const uint32_t word[4] = {v.x, v.y, v.z, v.w};
        if (aligned && 4 * g + 4 <= n) {
#pragma unroll
            for (int i = 0; i < 3; i++)
                ((uint32_t *)to)[i] = __funnelshift_r(word[i] << 8, word[i + 1], 8 + 8 * i);
        } else {
#pragma unroll
            for (int i = 0; i < 12; i++)
                if (4 * g + i / 3 < n)
                    to[i] = (uint8_t)(word[i / 3] >> 8 * (i % 3));
        }
    }
}

unsigned grid_for(const gp_context *ctx, uint64_t n)
{
    return elementwise_grid(ctx, n, elementwise_tuning.blocks_per_sm);
}

void words(gp_context *ctx, const gpi_radix_order *order, bool exact, bool back, size_t key_bytes,
           const void *in, uint64_t n, void *out)
{
    with_word(key_bytes, [=](auto word) {
        using Word = decltype(word);
        radix_words_k<Word><<<grid_for(ctx, n), elementwise_threads, 0, ctx->stream>>>(
            KeyOrder<Word>::of(*order, exact), back, (const Word *)in, n, (Word *)out);
    });
}

/* Four values a thread. */
void widen(gp_context *ctx, const void *values, uint64_t n, const uint64_t *device_n, void *words)
{
    radix_widen_k<<<grid_for(ctx, (n + 3) / 4), elementwise_threads, 0, ctx->stream>>>(
        (const uint8_t *)values, ItemCount{n, device_n}, (uint32_t *)words);
}

void narrow(gp_context *ctx, const void *words, uint64_t n, const uint64_t *device_n, void *values)
{
    radix_narrow_k<<<grid_for(ctx, (n + 3) / 4), elementwise_threads, 0, ctx->stream>>>(
        (const uint32_t *)words, ItemCount{n, device_n}, (uint8_t *)values);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels);
const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels) = {
    GPI_SPACE::words, GPI_SPACE::widen, GPI_SPACE::narrow};
}
