/* SPDX-License-Identifier: MIT */
/* The kernel of gather and scatter. */
#pragma once

#include <stdint.h>

#include "device/elementwise.cuh"
#include "device/item_count.cuh"
#include "device/warp.cuh"

extern "C" {
#include "gather/gather_internal.h"
}

namespace GPI_SPACE
{
namespace
{

constexpr int move_batch = 8; /* units that a thread has on their way at once */

/* A tile is a list of items of `units` units each, in which places have 16 bits. Items that lie
 * side by side in both arrays, in order, are bytes, and a unit is an item. */
struct MoveShape {
    uint32_t units, reciprocal; /* of an item; what divides by them without a division */
    uint32_t tile_items;
    uint32_t in_stride, out_stride; /* in units */
    bool bytes;
};

/* The items that there are. The bytes behind the last whole unit are moved here. */
template <class Unit>
GPI_DEVICE uint64_t move_items(const gpi_gather_args &a, const MoveShape &shape)
{
    const uint64_t n = item_count(a);
    if (!shape.bytes)
        return n;
    const uint64_t all = n * a.item_bytes, at = all / sizeof(Unit) * sizeof(Unit) + threadIdx.x;
    if (blockIdx.x == 0 && at < all)
        static_cast<char *>(a.out)[at] = static_cast<const char *>(a.in)[at];
    return all / sizeof(Unit);
}

/*
 * Units of a thread: what is done with one is done with all of them before the next step, so that
 * they wait together. A warp's are neighbours, so that parts of a sector are written one right
 * after the other. Those behind the end of the tile are its last one again, and not stored.
 */
template <class Unit, class Index, int N = move_batch> struct MoveBatch {
    uint32_t item[N], part[N];
    Index at[N];
    Unit unit[N];

    GPI_DEVICE void find(const MoveShape &shape, uint32_t first, uint32_t tile_units)
    {
#pragma unroll
        for (int k = 0; k < N; k++) {
            const uint32_t place = min(first + 32 * k, tile_units - 1);
            item[k] = shape.units == 1 ? place : __umulhi(place, shape.reciprocal);
            part[k] = place - item[k] * shape.units;
        }
    }

    /* indices: those of the tile, or NULL. */
    GPI_DEVICE void read_indices(const Index *indices)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            at[k] = indices ? indices[item[k]] : (Index)0;
    }

    /* Where unit k lies, on the side of the indices or on the other, of which the tile's items are
     * those from `first` on. */
    GPI_DEVICE uint64_t place(int k, bool indexed, uint64_t first, uint32_t stride) const
    {
        return (indexed ? (uint64_t)at[k] : first + item[k]) * stride + part[k];
    }

    GPI_DEVICE void load(const Unit *in, bool indexed, uint64_t first, uint32_t stride)
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            unit[k] = in[place(k, indexed, first, stride)];
    }

    GPI_DEVICE void store(Unit *out, bool indexed, uint64_t first, uint32_t stride, uint32_t begin,
                          uint32_t tile_units) const
    {
#pragma unroll
        for (int k = 0; k < N; k++)
            if (begin + 32 * k < tile_units)
                out[place(k, indexed, first, stride)] = unit[k];
    }
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
    const uint64_t n = move_items<Unit>(a, shape);
    const bool gather = indices && !a.scatter, scatter = indices && a.scatter;
    for (uint64_t first = (uint64_t)blockIdx.x * shape.tile_items; first < n;
         first += (uint64_t)gridDim.x * shape.tile_items) {
        const uint64_t left = n - first;
        const uint32_t tile_units =
            (left < shape.tile_items ? (uint32_t)left : shape.tile_items) * shape.units;
        for (uint32_t w = threadIdx.x / 32 * 32 * move_batch + lane_id(); w < tile_units;
             w += move_batch * elementwise_threads) {
            MoveBatch<Unit, Index> batch;
            batch.find(shape, w, tile_units);
            batch.read_indices(indices ? indices + first : nullptr);
            batch.load(in, gather, first, shape.in_stride);
            batch.store(out, scatter, first, shape.out_stride, w, tile_units);
        }
    }
}

} // namespace
} // namespace GPI_SPACE
