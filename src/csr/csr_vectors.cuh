/* SPDX-License-Identifier: MIT */
/* Numbers of SpMV and SpMM on CUDA: how they are read, scaled and stored. */
#pragma once

#include "device/ops.cuh"
#include "device/tile_io.cuh"

namespace GPI_SPACE
{

/* The type of sums. */
template <class V> struct SpmvSum {
    using A = float;
};
template <> struct SpmvSum<double> {
    using A = double;
};

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
template <class A, class V> GPI_DEVICE void spmv_store(V *y, A a, A sum, A b)
{
    A v = a * sum;
    if (b != 0)
        v += b * widen<A>(*y);
    *y = narrow<V>(v);
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
