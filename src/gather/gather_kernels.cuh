/* SPDX-License-Identifier: MIT */
/* The kernel of gather and scatter. */
#pragma once

#include <stdint.h>

#include "device/elementwise.cuh"
#include "device/item_count.cuh"

extern "C" {
#include "gather/gather_internal.h"
}

namespace GPI_SPACE
{
namespace
{

constexpr int move_batch = 4; /* units that a thread has on their way at once */

/* A tile is a list of items of `units` units each, in which places have 16 bits. */
struct MoveShape {
    uint32_t units, reciprocal; /* of an item; what divides by them without a division */
    uint32_t tile_items;
    uint64_t in_stride, out_stride; /* in units */
};

/*
 * Grid: any; 256 threads. After: all outputs.
 * Unit is what is moved at once, Index the type of the indices, if there are any.
 */
template <class Unit, class Index>
__global__ void __launch_bounds__(elementwise_threads)
    move_k(const gpi_gather_args a, const MoveShape shape)
{
    const Unit *in = static_cast<const Unit *>(a.in);
    const Index *indices = static_cast<const Index *>(a.indices);
    Unit *out = static_cast<Unit *>(a.out);
    const uint64_t n = item_count(a);
    const uint32_t units = shape.units;
    for (uint64_t first = (uint64_t)blockIdx.x * shape.tile_items; first < n;
         first += (uint64_t)gridDim.x * shape.tile_items) {
        const uint64_t left = n - first;
        const uint32_t tile_units =
            (left < shape.tile_items ? (uint32_t)left : shape.tile_items) * units;
        for (uint32_t w = threadIdx.x; w < tile_units; w += move_batch * elementwise_threads) {
            uint64_t to[move_batch];
            Unit unit[move_batch];
#pragma unroll
            for (int k = 0; k < move_batch; k++) {
                const uint32_t place = w + k * elementwise_threads;
                if (place >= tile_units)
                    break;
                const uint32_t j = units == 1 ? place : __umulhi(place, shape.reciprocal);
                const uint32_t part = place - j * units;
                const uint64_t i = first + j, at = indices ? indices[i] : i;
                to[k] = (a.scatter ? at : i) * shape.out_stride + part;
                unit[k] = in[(a.scatter ? i : at) * shape.in_stride + part];
            }
#pragma unroll
            for (int k = 0; k < move_batch; k++)
                if (w + k * elementwise_threads < tile_units)
                    out[to[k]] = unit[k];
        }
    }
}

} // namespace
} // namespace GPI_SPACE
