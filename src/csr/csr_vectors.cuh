/* SPDX-License-Identifier: MIT */
/* Numbers of SpMV and SpMM on CUDA: how they are read, scaled and stored. */
#pragma once

#include <type_traits>

#include "device/ops.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

/* Numbers of 2 bytes, of either kind: one kernel for both, which asks which one it is for every few
 * of them. */
struct alignas(2) SpmvHalf {
    uint16_t bits;
};

/* The type of sums. */
template <class V> struct SpmvSum {
    using A = float;
};
template <> struct SpmvSum<double> {
    using A = double;
};

/* f(a number of the type): of V, or of the kind of SpmvHalf. */
template <class V, class F> GPI_DEVICE void spmv_with_type(bool is_bf16, F f)
{
    if constexpr (!std::is_same_v<V, SpmvHalf>)
        f(V());
    else if (is_bf16)
        f(bf16_t());
    else
        f(f16_t());
}

template <class T, class V> GPI_DEVICE typename SpmvSum<V>::A spmv_widen(V v)
{
    if constexpr (std::is_same_v<V, SpmvHalf>)
        return widen<float>(T{v.bits});
    else
        return v;
}

/* A scalar on the host or in memory. */
template <class A> struct SpmvScalar {
    A value;
    const A *device; /* or NULL */

    GPI_DEVICE A get() const
    {
        return device ? *device : value;
    }
};

/* y = a sum + b y; y is not read if b is 0. */
template <class A, class V> GPI_DEVICE void spmv_store(V *y, A a, A sum, A b, bool is_bf16)
{
    spmv_with_type<V>(is_bf16, [&](auto type) {
        using T = decltype(type);
        A sum_of = a * sum;
        if (b != 0)
            sum_of += b * spmv_widen<T>(*y);
        *(T *)y = narrow<T>(sum_of);
    });
}

/* Of memory that the kernel does not write: used once, or again by others. */
template <class T> GPI_DEVICE T load_passing(const T *p)
{
    union Image {
        uint16_t half;
        uint32_t word;
        uint64_t two;
        T value;
        GPI_DEVICE Image() : two()
        {
        }
    } u;
    if constexpr (sizeof(T) == 2)
        asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(u.half) : "l"(p));
    else if constexpr (sizeof(T) == 4)
        asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(u.word) : "l"(p));
    else
        asm volatile("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(u.two) : "l"(p));
    return u.value;
}

/* Asks the L2 for share k of an array's bytes; shares are multiples of 32. By a warp. */
GPI_DEVICE void ask_for_share(const void *array, uint64_t bytes, uint32_t share, uint32_t k)
{
    const uint64_t first = (uint64_t)k * share;
    for (uint32_t i = lane_id() * 32; i < share && first + i < bytes; i += 32 * 32)
        asm volatile("prefetch.global.L2 [%0];" ::"l"((const char *)array + first + i));
}

template <class T> GPI_DEVICE T load_kept(const T *p)
{
    if constexpr (sizeof(T) == 2) {
        union {
            uint16_t bits;
            T value;
        } u;
        u.bits = __ldg((const uint16_t *)p);
        return u.value;
    } else {
        return __ldg(p);
    }
}

} // namespace GPI_SPACE
