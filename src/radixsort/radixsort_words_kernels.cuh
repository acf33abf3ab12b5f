/* SPDX-License-Identifier: MIT */
/*
 * The kernels around a sort of words: keys to words and back. Both are
 * elementwise: any grid is right for any n.
 */
#pragma once

#include <stdint.h>

#include "device/elementwise.cuh"
#include "radixsort/radixsort_internal.h"

namespace GPI_SPACE
{
namespace
{

/* out[i] = the order word of in[i]; exact: the word of a float that can be turned back. */
template <class Word>
__global__ void __launch_bounds__(elementwise_threads)
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
__global__ void __launch_bounds__(elementwise_threads)
    from_words_k(gpi_radix_order order, Word *words, uint64_t n)
{
    const Word flip = (Word)order.flip, sign = (Word)order.sign, inf = (Word)order.inf;
    for (uint64_t i = grid_item(); i < n; i += grid_items()) {
        const Word w = (Word)(words[i] ^ flip);
        words[i] = inf != 0 ? GPI_RADIX_UNEXACT(Word, w, sign, inf) : w;
    }
}

} // namespace
} // namespace GPI_SPACE
