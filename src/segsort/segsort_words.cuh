/* SPDX-License-Identifier: MIT */
/* Keys of a segmented sort as order words. */
#pragma once

#include "core/order.h"
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "segsort/segsort_internal.h"

namespace GPI_SPACE
{

/* Words of keys; those without places can be turned back. */
template <class K, bool PLACES> struct TileWords {
    K sign, inf, flip, mask;

    GPI_DEVICE explicit TileWords(const gpi_segsort_tiles &a)
        : sign((K)a.order.sign), inf((K)a.order.inf), flip((K)a.order.flip), mask((K)a.mask)
    {
    }

    /* Of keys x; what is alike for all is decided once. */
    template <int N> GPI_DEVICE void make_words(K (&x)[N]) const
    {
        if (inf)
#pragma unroll
            for (int k = 0; k < N; k++)
                x[k] = PLACES ? GPI_RADIX_FLOAT(K, x[k], sign, inf)
                              : GPI_RADIX_EXACT(K, x[k], sign, inf);
#pragma unroll
        for (int k = 0; k < N; k++)
            x[k] = (x[k] ^ flip) & mask;
    }

    template <int N> GPI_DEVICE void make_keys(K (&w)[N]) const
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            w[k] ^= flip;
        if (!PLACES && inf)
#pragma unroll
            for (int k = 0; k < N; k++)
                w[k] = GPI_RADIX_UNEXACT(K, w[k] & mask, sign, inf);
    }

    GPI_DEVICE K word(K key) const
    {
        K x[] = {key};
        make_words(x);
        return x[0];
    }

    GPI_DEVICE K key(K word) const
    {
        K w[] = {word};
        make_keys(w);
        return w[0];
    }
};

template <class K> GPI_DEVICE K load_key(const gpi_segsort_tiles &a, uint64_t i)
{
    if (sizeof(K) == 8)
        return (K)((const uint64_t *)a.keys_in)[i];
    return a.key_bytes == 4   ? ((const uint32_t *)a.keys_in)[i]
           : a.key_bytes == 2 ? ((const uint16_t *)a.keys_in)[i]
                              : ((const uint8_t *)a.keys_in)[i];
}

template <class K> GPI_DEVICE void store_key(const gpi_segsort_tiles &a, uint64_t i, K key)
{
    if (sizeof(K) == 8)
        ((uint64_t *)a.keys_out)[i] = key;
    else if (a.key_bytes == 4)
        ((uint32_t *)a.keys_out)[i] = (uint32_t)key;
    else if (a.key_bytes == 2)
        ((uint16_t *)a.keys_out)[i] = (uint16_t)key;
    else
        ((uint8_t *)a.keys_out)[i] = (uint8_t)key;
}

} // namespace GPI_SPACE
