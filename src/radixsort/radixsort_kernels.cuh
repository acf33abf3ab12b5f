/* SPDX-License-Identifier: MIT */
/*
 * The kernels around a sort of words: keys to words and back, indices, gather. All of them are
 * loops with the stride of the grid, so any grid is right for any n.
 */
#pragma once

#include <stdint.h>

#include "device/space.cuh"
#include "radixsort/radixsort_internal.h"

namespace GPI_SPACE
{
namespace
{

constexpr int around_threads = 256;

GPI_DEVICE uint64_t grid_item()
{
    return (uint64_t)blockIdx.x * around_threads + threadIdx.x;
}

GPI_DEVICE uint64_t grid_items()
{
    return (uint64_t)gridDim.x * around_threads;
}

/* out[i] = the order word of in[i]; exact: the word of a float that can be turned back. */
template <class Word>
__global__ void __launch_bounds__(around_threads)
    to_words_k(gpi_radix_order order, bool exact, const Word *in, uint64_t n, Word *out)
{
    const Word flip = (Word)order.flip, sign = (Word)order.sign, inf = (Word)order.inf;
    for (uint64_t i = grid_item(); i < n; i += grid_items()) {
        const Word x = in[i];
        Word w = x;
        if (inf != 0)
            w = exact ? GPI_RADIX_EXACT(Word, x, sign, inf) : GPI_RADIX_FLOAT(Word, x, sign, inf);
        out[i] = (Word)(w ^ flip);
    }
}

/* Replace each word by its key: the inverse of to_words_k for integers and exact words. */
template <class Word>
__global__ void __launch_bounds__(around_threads)
    from_words_k(gpi_radix_order order, Word *words, uint64_t n)
{
    const Word flip = (Word)order.flip, sign = (Word)order.sign, inf = (Word)order.inf;
    for (uint64_t i = grid_item(); i < n; i += grid_items()) {
        const Word w = (Word)(words[i] ^ flip);
        words[i] = inf != 0 ? GPI_RADIX_UNEXACT(Word, w, sign, inf) : w;
    }
}

/* out[i] = i. */
template <class Index>
__global__ void __launch_bounds__(around_threads) iota_k(uint64_t n, Index *out)
{
    for (uint64_t i = grid_item(); i < n; i += grid_items())
        out[i] = (Index)i;
}

/* out[i] = in[indices[i]]; items of one unit. */
template <class Unit, class Index>
__global__ void __launch_bounds__(around_threads)
    gather_k(const Unit *in, const Index *indices, uint64_t n, Unit *out)
{
    for (uint64_t i = grid_item(); i < n; i += grid_items())
        out[i] = in[indices[i]];
}

/* The same for items of several units: a thread moves a unit, so neighbours write neighbours. */
template <class Unit, class Index>
__global__ void __launch_bounds__(around_threads)
    gather_wide_k(const Unit *in, const Index *indices, uint64_t n, uint32_t units, Unit *out)
{
    const uint64_t total = n * units;
    for (uint64_t u = grid_item(); u < total; u += grid_items()) {
        const uint64_t i = u / units, k = u - i * units;
        out[u] = in[(uint64_t)indices[i] * units + k];
    }
}

} // namespace
} // namespace GPI_SPACE
