/* SPDX-License-Identifier: MIT */
/* Sums of products, and maps of vectors. */
#pragma once

#include "device/block.cuh"
#include "device/elementwise.cuh"
#include "device/grid.cuh"
#include "device/item_count.cuh"
#include "device/tile_io.cuh"
#include "vector/vector_internal.h"

namespace GPI_SPACE
{

/* The type of scalars. */
template <class T> struct VectorScalar {
    using A = float;
};
template <> struct VectorScalar<double> {
    using A = double;
};

GPI_DEVICE float multiply_add(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

GPI_DEVICE double multiply_add(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

GPI_DEVICE bool is_aligned(const void *p)
{
    return misalignment(p) == 0;
}

/* 16 bytes at p, which need not be aligned to more than an item. */
template <class T> GPI_DEVICE Raw<16> vector_load(const T *p, bool aligned)
{
    if (aligned)
        return raw_load_passing<16>((const char *)p);
    Raw<16> raw = {};
#pragma unroll
    for (int i = 0; i < 16 / (int)sizeof(T); i++)
        raw_set<T>(raw, i, p[i]);
    return raw;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The sum of all threads' values, in thread 0. Shared: one per warp. */
template <class A> GPI_DEVICE A block_sum(A value, A *s_warps)
{
    constexpr int W = elementwise_threads / 32;
    A(&warps)[W] = *(A(*)[W])s_warps;
    share_warp_sum(warps, threadIdx.x / 32, warp_reduce<Sum<A>>(value));
    __syncthreads();
    return fold_warps<Sum<A>>(warps);
}

template <class T> struct DotParams {
    const T *x, *y; /* y NULL: x */
    ItemCount count;
    typename VectorScalar<T>::A *sums; /* of the blocks; one block writes its own to out */
    typename VectorScalar<T>::A *out;
    bool root;
};

/* 16 bytes of both vectors from item i on: sum + their products. */
template <class T> struct DotLoad {
    using A = typename VectorScalar<T>::A;
    const T *x, *y;
    bool x_aligned, y_aligned;
    Raw<16> a, b;

    GPI_DEVICE void load(uint64_t i)
    {
        a = vector_load(x + i, x_aligned);
        b = a;
        if (x != y)
            b = vector_load(y + i, y_aligned);
    }

    GPI_DEVICE A add_to(A sum) const
    {
#pragma unroll
        for (int i = 0; i < 16 / (int)sizeof(T); i++)
            sum = multiply_add(widen<A>(raw_get<T>(a, i)), widen<A>(raw_get<T>(b, i)), sum);
        return sum;
    }
};

/* Grid: any, the association depends on it. A thread has K groups of 16 bytes on the way. */
template <class T, int K>
__global__ void __launch_bounds__(elementwise_threads, 4) vector_dot_k(DotParams<T> p)
{
    using A = typename VectorScalar<T>::A;
    constexpr int each = 16 / (int)sizeof(T);
    __shared__ A s_warps[elementwise_threads / 32];
    const uint64_t n = item_count(p.count), groups = n / each, stride = grid_items();
    const T *const x = p.x, *const y = p.y ? p.y : p.x;
    const DotLoad<T> loads = {x, y, is_aligned(x), is_aligned(y), {}, {}};
    A sum[K] = {};
    uint64_t g = grid_item();
#pragma unroll 1
    for (; g + (K - 1) * stride < groups; g += K * stride) {
        DotLoad<T> l[K];
#pragma unroll
        for (int k = 0; k < K; k++) {
            l[k] = loads;
            l[k].load((g + k * stride) * each);
        }
#pragma unroll
        for (int k = 0; k < K; k++)
            sum[k] = l[k].add_to(sum[k]);
    }
#pragma unroll 1
    for (; g < groups; g += stride) {
        DotLoad<T> l = loads;
        l.load(g * each);
        sum[0] = l.add_to(sum[0]);
    }
    const uint64_t rest = groups * each + grid_item();
    if (rest < n)
        sum[0] = multiply_add(widen<A>(x[rest]), widen<A>(y[rest]), sum[0]);
#pragma unroll
    for (int k = 1; k < K; k++)
        sum[0] += sum[k];
    const A all = block_sum(sum[0], s_warps);
    grid_release();
    if (threadIdx.x == 0 && gridDim.x > 1)
        p.sums[blockIdx.x] = all;
    else if (threadIdx.x == 0)
        *p.out = p.root ? (A)sqrt(all) : all;
}

/* One block: the sum of the blocks' sums. */
template <class A>
__global__ void __launch_bounds__(elementwise_threads)
    vector_total_k(const A *sums, uint32_t count, bool root, A *out)
{
    __shared__ A s_warps[elementwise_threads / 32];
    A sum = 0;
    grid_wait();
    for (uint32_t i = threadIdx.x; i < count; i += elementwise_threads)
        sum += sums[i];
    const A all = block_sum(sum, s_warps);
    if (threadIdx.x == 0)
        *out = root ? (A)sqrt(all) : all;
}

/* ---- maps ------------------------------------------------------------------------------------ */

template <class T> struct MapParams {
    using A = typename VectorScalar<T>::A;
    int kind;
    const T *x, *y;
    ItemCount count;
    T *out;
    A alpha, beta;
    const A *device_alpha, *device_beta; /* or NULL */
};

template <class A> struct VectorMap {
    int kind;
    A alpha, beta;

    GPI_DEVICE A operator()(A x, A y) const
    {
        switch (kind) {
        case GPI_VECTOR_AXPBY:
            return beta != 0 ? multiply_add(alpha, x, beta * y) : alpha * x;
        case GPI_VECTOR_SCALE:
            return alpha * x;
        case GPI_VECTOR_MULTIPLY:
            return x * y;
        default:
            return x / y;
        }
    }
};

/* Grid: any. out may be x or y: an item is read by the thread that writes it. */
template <class T, int K>
__global__ void __launch_bounds__(elementwise_threads) vector_map_k(MapParams<T> p)
{
    using A = typename VectorScalar<T>::A;
    constexpr int each = 16 / (int)sizeof(T);
    const VectorMap<A> map = {p.kind, p.device_alpha ? *p.device_alpha : p.alpha,
                              p.device_beta ? *p.device_beta : p.beta};
    const bool two = p.kind == GPI_VECTOR_AXPBY ? map.beta != 0 : p.kind != GPI_VECTOR_SCALE;
    const uint64_t n = item_count(p.count), stride = grid_items();
    const bool aligned = is_aligned(p.x) && is_aligned(p.out) && (!two || is_aligned(p.y));
    const uint64_t groups = aligned ? n / each : 0;
    for (uint64_t g0 = grid_item(); g0 < groups; g0 += K * stride) {
        Raw<16> a[K], b[K];
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint64_t g = g0 + k * stride;
            a[k] = b[k] = {};
            if (g < groups)
                a[k] = raw_load_aligned<16>((const char *)(p.x + g * each));
            if (g < groups && two)
                b[k] = raw_load_aligned<16>((const char *)(p.y + g * each));
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            const uint64_t g = g0 + k * stride;
            Raw<16> to = {};
#pragma unroll
            for (int i = 0; i < each; i++)
                raw_set<T>(
                    to, i,
                    narrow<T>(map(widen<A>(raw_get<T>(a[k], i)), widen<A>(raw_get<T>(b[k], i)))));
            if (g < groups)
                raw_store_aligned<16>((char *)(p.out + g * each), to);
        }
    }
    for (uint64_t i = groups * each + grid_item(); i < n; i += stride)
        p.out[i] = narrow<T>(map(widen<A>(p.x[i]), two ? widen<A>(p.y[i]) : 0));
}

} // namespace GPI_SPACE
