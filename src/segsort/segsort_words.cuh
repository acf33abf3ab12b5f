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

    GPI_DEVICE K word(K x) const
    {
        if (inf)
            x = PLACES ? GPI_RADIX_FLOAT(K, x, sign, inf) : GPI_RADIX_EXACT(K, x, sign, inf);
        return (x ^ flip) & mask;
    }

    GPI_DEVICE K key(K w) const
    {
        w ^= flip;
        return !PLACES && inf ? GPI_RADIX_UNEXACT(K, w & mask, sign, inf) : w;
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
