/* SPDX-License-Identifier: MIT */
/*
 * Values of 1 to 3 bytes as words of 4 bytes, which the engines move, and back. Four values are as
 * many words as they have bytes, and are moved as such where their array is aligned to it.
 */
#pragma once

#include <stdint.h>

#include "device/elementwise.cuh"
#include "device/item_count.cuh"

namespace GPI_SPACE
{
namespace
{

/* Four values, packed in the low bytes, and apart. */
template <int BYTES> struct FourValues {
    uint32_t packed[BYTES];

    GPI_DEVICE uint32_t byte(int i) const
    {
        return packed[i / 4] >> 8 * (i % 4) & 0xff;
    }

    GPI_DEVICE void take(const uint32_t (&word)[4])
    {
#pragma unroll
        for (int k = 0; k < BYTES; k++)
            packed[k] = 0;
#pragma unroll
        for (int i = 0; i < 4 * BYTES; i++)
            packed[i / 4] |= (word[i / BYTES] >> 8 * (i % BYTES) & 0xff) << 8 * (i % 4);
    }

    GPI_DEVICE uint32_t word(int v) const
    {
        uint32_t x = 0;
#pragma unroll
        for (int k = 0; k < BYTES; k++)
            x |= byte(v * BYTES + k) << 8 * k;
        return x;
    }
};

/* words[i] = value i; words has room for n rounded up to 4. Any grid of 256 threads. */
template <int BYTES>
__global__ void __launch_bounds__(elementwise_threads)
    radix_widen_k(const uint8_t *values, ItemCount count, uint32_t *words)
{
    const uint64_t n = item_count(count);
    const bool aligned = (uintptr_t)values % 4 == 0;
    for (uint64_t g = grid_item(); 4 * g < n; g += grid_items()) {
        const uint8_t *from = values + 4 * g * BYTES;
        FourValues<BYTES> four = {};
        if (aligned && 4 * g + 4 <= n) {
#pragma unroll
            for (int k = 0; k < BYTES; k++)
                four.packed[k] = __ldcs((const uint32_t *)from + k);
        } else {
            const uint64_t left = (n - 4 * g) * BYTES;
#pragma unroll
            for (int i = 0; i < 4 * BYTES; i++)
                if ((uint64_t)i < left)
                    four.packed[i / 4] |= (uint32_t)from[i] << 8 * (i % 4);
        }
        ((uint4 *)words)[g] = make_uint4(four.word(0), four.word(1), four.word(2), four.word(3));
    }
}

/* The inverse of radix_widen_k. Any grid of 256 threads. */
template <int BYTES>
__global__ void __launch_bounds__(elementwise_threads)
    radix_narrow_k(const uint32_t *words, ItemCount count, uint8_t *values)
{
    const uint64_t n = item_count(count);
    const bool aligned = (uintptr_t)values % 4 == 0;
    for (uint64_t g = grid_item(); 4 * g < n; g += grid_items()) {
        uint8_t *to = values + 4 * g * BYTES;
        const uint4 v = __ldcs((const uint4 *)words + g);
        const uint32_t word[4] = {v.x, v.y, v.z, v.w};
        FourValues<BYTES> four;
        four.take(word);
        if (aligned && 4 * g + 4 <= n) {
#pragma unroll
            for (int k = 0; k < BYTES; k++)
                ((uint32_t *)to)[k] = four.packed[k];
        } else {
            const uint64_t left = (n - 4 * g) * BYTES;
#pragma unroll
            for (int i = 0; i < 4 * BYTES; i++)
                if ((uint64_t)i < left)
                    to[i] = (uint8_t)four.byte(i);
        }
    }
}

} // namespace
} // namespace GPI_SPACE
