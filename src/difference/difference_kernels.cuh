/* SPDX-License-Identifier: MIT */
/* The kernel of differences. */
#pragma once

#include <type_traits>

#include "device/elementwise.cuh"
#include "device/ops.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

template <class T> GPI_DEVICE T difference(T x, T before)
{
    if constexpr (std::is_same_v<T, f16_t> || std::is_same_v<T, bf16_t>)
        return narrow<T>(widen<float>(x) - widen<float>(before));
    else
        return (T)(x - before);
}

/* Items one by one, at least two of them apart from each other: at the ends of the array. */
template <class T>
GPI_DEVICE void differences_slowly(const T *in, uint64_t begin, uint64_t end, T *out)
{
    for (uint64_t i = begin + grid_item(); i < end; i += grid_items())
        out[i] = i > 0 ? difference(in[i], in[i - 1]) : in[i];
}

/* Grid: any; 256 threads. After: all differences. K vectors of a thread are on the way at once. */
template <class T, int K>
__global__ void __launch_bounds__(elementwise_threads)
    difference_k(const T *__restrict__ in, uint64_t n, const uint64_t *device_n,
                 T *__restrict__ out)
{
    if (device_n)
        n = *device_n < n ? *device_n : n;
    constexpr int per_vector = 16 / (int)sizeof(T);
    const uint32_t off = misalignment(in);
    if (off != misalignment(out))
        return differences_slowly(in, 0, n, out);
    const uint64_t head = off ? (16 - off) / sizeof(T) : 0, first = head < n ? head : n;
    const uint64_t vectors = (n - first) / per_vector, last = first + vectors * per_vector;
    differences_slowly(in, 0, first, out);
    differences_slowly(in, last, n, out);
    in += first, out += first;
    for (uint64_t v0 = grid_item() - lane_id(); v0 < vectors; v0 += K * grid_items()) {
        Raw<16> raw[K];
        T before[K] = {};
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint64_t v = v0 + lane_id() + k * grid_items();
            raw[k] = {};
            if (v < vectors)
                raw[k] = raw_load_passing<16>((const char *)in + v * 16);
            if (v < vectors && lane_id() == 0 && first + v > 0)
                before[k] = in[(int64_t)(v * per_vector) - 1];
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint64_t v = v0 + lane_id() + k * grid_items();
            Raw<16> last_item = {}, to = {};
            raw_set<T>(last_item, 0, raw_get<T>(raw[k], per_vector - 1));
#pragma unroll
            for (int w = 0; w < (sizeof(T) == 8 ? 2 : 1); w++)
                last_item.w[w] = __shfl_up_sync(all_lanes, last_item.w[w], 1);
            T x = lane_id() == 0 ? before[k] : raw_get<T>(last_item, 0);
#pragma unroll
            for (int i = 0; i < per_vector; i++) {
                const T item = raw_get<T>(raw[k], i);
                const bool is_first = i == 0 && first + v == 0;
                raw_set<T>(to, i, is_first ? item : difference(item, x));
                x = item;
            }
            if (v < vectors)
                *(uint4 *)((char *)out + v * 16) = {to.w[0], to.w[1], to.w[2], to.w[3]};
        }
    }
}

} // namespace GPI_SPACE
