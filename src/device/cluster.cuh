/* SPDX-License-Identifier: MIT */
/* Blocks of a cluster: their barrier, and each other's shared memory (sm_90 and newer). */
#pragma once

#include "device/bulk.cuh"
#include "device/warp.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

/* Arrive without ordering memory: to know that all blocks have started. */
GPI_DEVICE void cluster_arrive_relaxed()
{
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

GPI_DEVICE void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

GPI_DEVICE void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* Write a variable of that block's shared memory. */
template <class T> GPI_DEVICE void cluster_store(T *shared, uint32_t block, T value)
{
    uint32_t at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(at)
        : "r"(shared_address(shared)), "r"(block));
    map_words(value, [&at](uint32_t w) {
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(w) : "memory");
        at += 4;
        return w;
    });
}

} // namespace GPI_SPACE

#endif
