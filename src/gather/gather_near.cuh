/* SPDX-License-Identifier: MIT */
/*
 * A scatter of items of several units to places side by side. Written one by one, they leave parts
 * of sectors. Where the places of a tile lie close together, its items go to a window of shared
 * memory, which is written as vectors.
 */
#pragma once

#include "device/gpu.cuh"
#include "device/tile_io.cuh"
#include "gather/gather_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr uint32_t near_tile_bytes = 16384, near_window_bytes = 24576;
/* On a multiprocessor. */
template <class Unit> constexpr int near_blocks = gpu.threads < 2048 || sizeof(Unit) == 16 ? 4 : 6;
constexpr uint32_t near_min = 6, near_max = 256; /* bytes of an item */
/* Of all items, for each multiprocessor: what is less comes together in the L2. */
constexpr uint64_t near_from_bytes = 45 << 10;
constexpr uint32_t near_each = 8, near_items = near_each * elementwise_threads; /* of a tile */

struct NearShape {
    MoveShape move;
    uint32_t by_bytes; /* divides by the bytes of an item, as move.reciprocal by its units */
};

GPI_DEVICE uint64_t near_index(const gpi_gather_args &a, uint64_t i)
{
    return a.index_bytes == 4 ? ((const uint32_t *)a.indices)[i] : ((const uint64_t *)a.indices)[i];
}

/* The least and the largest index of a tile. */
struct NearSpan {
    uint64_t low, high;

    GPI_DEVICE void take(uint64_t index)
    {
        low = index < low ? index : low;
        high = index > high ? index : high;
    }
};

struct NearShared {
    alignas(16) char window[near_window_bytes + 16]; /* from the boundary at or before its place */
    uint16_t list[near_items];                       /* places in it */
    uint32_t bits[near_window_bytes / near_min / 32 + 2]; /* which of them have an item */
    NearSpan span[elementwise_threads / 32];
};

/* By all threads of a block. */
GPI_DEVICE NearSpan near_span(const gpi_gather_args &a, uint64_t first, uint32_t count,
                              NearShared &s)
{
    uint64_t own[near_each];
    NearSpan span = {UINT64_MAX, 0};
#pragma unroll
    for (uint32_t k = 0; k < near_each; k++) /* behind the last one: the last one again */
        own[k] = near_index(a, first + min(threadIdx.x + k * elementwise_threads, count - 1));
#pragma unroll
    for (uint32_t k = 0; k < near_each; k++)
        span.take(own[k]);
    span.low = warp_fold(span.low, [](uint64_t x, uint64_t y) { return x < y ? x : y; });
    span.high = warp_fold(span.high, [](uint64_t x, uint64_t y) { return x > y ? x : y; });
    if (lane_id() == 0)
        s.span[threadIdx.x / 32] = span;
    __syncthreads();
#pragma unroll
    for (uint32_t w = 0; w < elementwise_threads / 32; w++) {
        span.take(s.span[w].low);
        span.take(s.span[w].high);
    }
    return span;
}

/* Whether the items [first, last] of the window are there: 32 at most. */
GPI_DEVICE bool near_has(const NearShared &s, uint32_t first, uint32_t last)
{
    const uint32_t bits = __funnelshift_r(s.bits[first / 32], s.bits[first / 32 + 1], first);
    const uint32_t wanted = 0xffffffffu >> (31 - (last - first));
    return (bits & wanted) == wanted;
}

/* The window to the output, of `bytes` bytes from `pad` on; to: of 16 bytes, in which it begins. */
template <class Unit>
GPI_DEVICE void near_store(const NearShared &s, const NearShape &shape, uint32_t pad,
                           uint32_t bytes, char *to)
{
    for (uint32_t at = 16 * threadIdx.x; at < pad + bytes; at += 16 * elementwise_threads) {
        const bool inside = at >= pad && at + 16 <= pad + bytes;
        if (inside && near_has(s, __umulhi(at - pad, shape.by_bytes),
                               __umulhi(at + 15 - pad, shape.by_bytes))) {
            *(uint4 *)(to + at) = *(const uint4 *)(s.window + at);
            continue;
        }
        for (uint32_t unit = at; unit < at + 16; unit += sizeof(Unit)) {
            if (unit < pad || unit >= pad + bytes)
                continue;
            const uint32_t item = __umulhi(unit - pad, shape.by_bytes);
            if (near_has(s, item, item))
                *(Unit *)(to + unit) = *(const Unit *)(s.window + unit);
        }
    }
}

/* The units of a tile, which begins at item `first`, to their places: those of the list, or of the
 * indices if there is none. */
template <class Unit, class Place, int N>
GPI_DEVICE void near_move(const gpi_gather_args &a, const MoveShape &shape, const uint16_t *list,
                          uint64_t first, uint32_t units, Unit *out)
{
    for (uint32_t w = threadIdx.x / 32 * 32 * N + lane_id(); w < units;
         w += N * elementwise_threads) {
        MoveBatch<Unit, Place, N> batch;
        batch.find(shape, w, units);
#pragma unroll
        for (int k = 0; k < N; k++)
            batch.at[k] =
                list ? (Place)list[batch.item[k]] : (Place)near_index(a, first + batch.item[k]);
        batch.load((const Unit *)a.in, false, first, shape.in_stride);
        batch.store(out, true, first, shape.units, w, units);
    }
}

/* Grid: any; 256 threads. After: all outputs. */
template <class Unit>
__global__ void __launch_bounds__(elementwise_threads, near_blocks<Unit>)
    scatter_near_k(const gpi_gather_args a, const NearShape shape)
{
    __shared__ NearShared s;
    const uint64_t n = item_count(a);
    const uint32_t item_bytes = (uint32_t)a.item_bytes, tile_items = shape.move.tile_items;
    for (uint64_t first = (uint64_t)blockIdx.x * tile_items; first < n;
         first += (uint64_t)gridDim.x * tile_items) {
        const uint32_t count = n - first < tile_items ? (uint32_t)(n - first) : tile_items;
        const uint32_t units = count * shape.move.units;
        for (uint32_t i = threadIdx.x; i < sizeof s.bits / sizeof *s.bits; i += elementwise_threads)
            s.bits[i] = 0;
        const NearSpan span = near_span(a, first, count, s);
        const uint64_t wide = span.high - span.low;
        char *out = (char *)a.out + span.low * item_bytes;
        if (wide < near_window_bytes / item_bytes) {
            const uint32_t pad = misalignment(out);
#pragma unroll 4
            for (uint32_t i = threadIdx.x; i < count; i += elementwise_threads) {
                const uint32_t place = (uint32_t)(near_index(a, first + i) - span.low);
                s.list[i] = (uint16_t)place;
                atomicOr(&s.bits[place / 32], 1u << place % 32);
            }
            __syncthreads();
            near_move<Unit, uint16_t, move_batch>(a, shape.move, s.list, first, units,
                                                  (Unit *)(s.window + pad));
            __syncthreads();
            near_store<Unit>(s, shape, pad, ((uint32_t)wide + 1) * item_bytes, out - pad);
        } else {
            near_move<Unit, uint64_t, move_batch / 2>(a, shape.move, nullptr, first, units,
                                                      (Unit *)a.out);
        }
        __syncthreads();
    }
}

} // namespace
} // namespace GPI_SPACE
