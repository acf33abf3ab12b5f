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

/* out[i] = the order word of in[i]. Any grid, as for all of these. */
template <class Word>
__global__ void __launch_bounds__(elementwise_threads)
    to_words_k(KeyOrder<Word> order, const Word *in, uint64_t n, Word *out)
{
    for (uint64_t i = grid_item(); i < n; i += grid_items())
        out[i] = order.template word<true>(in[i]);
}

/* Replace each word by its key: the inverse of to_words_k for integers and exact words. */
template <class Word>
__global__ void __launch_bounds__(elementwise_threads)
    from_words_k(KeyOrder<Word> order, Word *words, uint64_t n)
{
    for (uint64_t i = grid_item(); i < n; i += grid_items())
        words[i] = order.template key<true>(words[i]);
}

/* Four values, packed in words, which are moved as such where their array is aligned to it. */
struct FourValues {
    static constexpr int value_bytes = 3;
    uint32_t packed[value_bytes];

    GPI_DEVICE uint32_t byte(int i) const
    {
        return packed[i / 4] >> 8 * (i % 4) & 0xff;
    }

    GPI_DEVICE void set(int i, uint32_t byte)
    {
        packed[i / 4] |= byte << 8 * (i % 4);
    }

    GPI_DEVICE uint32_t word(int v) const
    {
        uint32_t x = 0;
#pragma unroll
        for (int k = 0; k < value_bytes; k++)
            x |= byte(v * value_bytes + k) << 8 * k;
        return x;
    }

    /* f(i) for bytes of four values of which `left` are there. */
    template <class F> static GPI_DEVICE void for_bytes(uint64_t left, F f)
    {
#pragma unroll
        for (int i = 0; i < 4 * value_bytes; i++)
            if ((uint64_t)i < left * value_bytes)
                f(i);
    }
};

/* words[i] = value i; words has room for n rounded up to 4. */
__global__ void __launch_bounds__(elementwise_threads)
    radix_widen_k(const uint8_t *values, ItemCount count, uint32_t *words)
{
    const uint64_t n = item_count(count);
    const bool aligned = (uintptr_t)values % 4 == 0;
    for (uint64_t g = grid_item(); 4 * g < n; g += grid_items()) {
        const uint8_t *from = values + 4 * g * FourValues::value_bytes;
        FourValues four = {};
        if (aligned && 4 * g + 4 <= n) {
#pragma unroll
            for (int k = 0; k < FourValues::value_bytes; k++)
                four.packed[k] = __ldcs((const uint32_t *)from + k);
        } else {
            FourValues::for_bytes(n - 4 * g, [&](int i) { four.set(i, from[i]); });
        }
        ((uint4 *)words)[g] = make_uint4(four.word(0), four.word(1), four.word(2), four.word(3));
    }
}

/* The inverse of radix_widen_k. */
__global__ void __launch_bounds__(elementwise_threads)
    radix_narrow_k(const uint32_t *words, ItemCount count, uint8_t *values)
{
    const uint64_t n = item_count(count);
    const bool aligned = (uintptr_t)values % 4 == 0;
    for (uint64_t g = grid_item(); 4 * g < n; g += grid_items()) {
        uint8_t *to = values + 4 * g * FourValues::value_bytes;
        const uint4 v = __ldcs((const uint4 *)words + g);
        const uint32_t word[4] = {v.x, v.y, v.z, v.w};
        FourValues four = {};
        FourValues::for_bytes(4, [&](int i) {
            four.set(i,
                     word[i / FourValues::value_bytes] >> 8 * (i % FourValues::value_bytes) & 0xff);
        });
        if (aligned && 4 * g + 4 <= n) {
#pragma unroll
            for (int k = 0; k < FourValues::value_bytes; k++)
                ((uint32_t *)to)[k] = four.packed[k];
        } else {
            FourValues::for_bytes(n - 4 * g, [&](int i) { to[i] = (uint8_t)four.byte(i); });
        }
    }
}

unsigned grid_for(const gp_context *ctx, uint64_t n)
{
    return elementwise_grid(ctx, n, elementwise_tuning.blocks_per_sm);
}

void to_words(gp_context *ctx, const gpi_radix_order *order, bool exact, size_t key_bytes,
              const void *in, uint64_t n, void *out)
{
    with_word(key_bytes, [=](auto word) {
        using Word = decltype(word);
        to_words_k<Word><<<grid_for(ctx, n), elementwise_threads, 0, ctx->stream>>>(
            KeyOrder<Word>::of(*order, exact), (const Word *)in, n, (Word *)out);
    });
}

void from_words(gp_context *ctx, const gpi_radix_order *order, size_t key_bytes, void *words,
                uint64_t n)
{
    with_word(key_bytes, [=](auto word) {
        using Word = decltype(word);
        from_words_k<Word><<<grid_for(ctx, n), elementwise_threads, 0, ctx->stream>>>(
            KeyOrder<Word>::of(*order, true), (Word *)words, n);
    });
}

/* Four values a thread. */
unsigned grid_of_fours(const gp_context *ctx, uint64_t n)
{
    return grid_for(ctx, (n + 3) / 4);
}

void widen(gp_context *ctx, const void *values, uint64_t n, const uint64_t *device_n, void *words)
{
    radix_widen_k<<<grid_of_fours(ctx, n), elementwise_threads, 0, ctx->stream>>>(
        (const uint8_t *)values, ItemCount{n, device_n}, (uint32_t *)words);
}

void narrow(gp_context *ctx, const void *words, uint64_t n, const uint64_t *device_n, void *values)
{
    radix_narrow_k<<<grid_of_fours(ctx, n), elementwise_threads, 0, ctx->stream>>>(
        (const uint32_t *)words, ItemCount{n, device_n}, (uint8_t *)values);
}

} // namespace
} // namespace GPI_SPACE

extern "C" {
extern const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels);
const struct gpi_radix_cuda_kernels GPI_LAUNCHER(gpi_radixsort_kernels) = {
    GPI_SPACE::to_words, GPI_SPACE::from_words, GPI_SPACE::widen, GPI_SPACE::narrow};
}
