/* SPDX-License-Identifier: MIT */
/* Bulk binary search, a thread per needle. */
#pragma once

extern "C" {
#include "balance/balance_internal.h"
}
#include "device/search.cuh"
#include "tuning/balance_tuning.cuh"

namespace GPI_SPACE::balance
{

/* The place of an item in gp's order, as an unsigned number. */
template <class Key> GPI_DEVICE Key key_of(Key x, int order, Key infinity)
{
    const Key sign = (Key)((Key)1 << (8 * sizeof(Key) - 1));
    if (order == GPI_ORDER_UNSIGNED)
        return x;
    if (order == GPI_ORDER_SIGNED)
        return (Key)(x ^ sign);
    const Key magnitude = (Key)(x & (Key)~sign);
    if (magnitude > infinity)
        return (Key) ~(Key)0;
    if (magnitude == 0)
        return sign;
    return x & sign ? (Key)~x : (Key)(x | sign);
}

/*
 * Items of sorted below needles[j], or with upper not above it. out may be needles: a thread
 * reads its needle before it writes. Grid: any; 256 threads; no shared memory. After: out[j] for
 * all j < m.
 */
template <class Key>
__global__ void __launch_bounds__(balance_tuning.bound_threads)
    bound_k(const Key *__restrict__ sorted, uint64_t n, const Key *needles, uint64_t m, int order,
            Key infinity, bool upper, bool wide, void *out)
{
    for (uint64_t j = (uint64_t)blockIdx.x * balance_tuning.bound_threads + threadIdx.x; j < m;
         j += (uint64_t)gridDim.x * balance_tuning.bound_threads) {
        const Key needle = key_of(needles[j], order, infinity);
        const uint64_t found = partition_point(sorted, n, [=](Key x) {
            const Key key = key_of(x, order, infinity);
            return upper ? key <= needle : key < needle;
        });
        if (wide)
            static_cast<uint64_t *>(out)[j] = found;
        else
            static_cast<uint32_t *>(out)[j] = (uint32_t)found;
    }
}

} // namespace GPI_SPACE::balance
