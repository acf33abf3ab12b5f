/* SPDX-License-Identifier: MIT */
/* Integers of all lanes of a warp folded into one, by an instruction where there is one. */
#pragma once

#include <cstdint>

#include "device/warp.cuh"

namespace GPI_SPACE
{

/* Over all lanes of a warp. */
template <class F> GPI_DEVICE uint32_t warp_fold(uint32_t v, F f)
{
#pragma unroll
    for (int d = 16; d; d >>= 1)
        v = f(v, __shfl_xor_sync(all_lanes, v, d));
    return v;
}

GPI_DEVICE uint32_t warp_sum(uint32_t v)
{
#if GPI_SM >= 80
    return __reduce_add_sync(all_lanes, v);
#else
    return warp_fold(v, [](uint32_t a, uint32_t b) { return a + b; });
#endif
}

GPI_DEVICE uint32_t warp_max(uint32_t v)
{
#if GPI_SM >= 80
    return __reduce_max_sync(all_lanes, v);
#else
    return warp_fold(v, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
#endif
}

GPI_DEVICE uint32_t warp_or(uint32_t v)
{
#if GPI_SM >= 80
    return __reduce_or_sync(all_lanes, v);
#else
    return warp_fold(v, [](uint32_t a, uint32_t b) { return a | b; });
#endif
}

GPI_DEVICE uint64_t warp_or(uint64_t v)
{
    return (uint64_t)warp_or((uint32_t)(v >> 32)) << 32 | warp_or((uint32_t)v);
}

} // namespace GPI_SPACE
