/* SPDX-License-Identifier: MIT */
/* The kernels of gather. Elementwise: any grid is right for any n. */
#pragma once

#include <stdint.h>

#include "device/elementwise.cuh"

namespace GPI_SPACE
{
namespace
{

/* out[i] = in[indices[i]]; items of one unit. */
template <class Unit, class Index>
__global__ void __launch_bounds__(elementwise_threads)
    gather_k(const Unit *in, const Index *indices, uint64_t n, Unit *out)
{
    for (uint64_t i = grid_item(); i < n; i += grid_items())
        out[i] = in[indices[i]];
}

/* The same for items of several units: a thread moves a unit, so neighbours write neighbours. */
template <class Unit, class Index>
__global__ void __launch_bounds__(elementwise_threads)
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
