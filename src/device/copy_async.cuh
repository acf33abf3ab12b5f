/* SPDX-License-Identifier: MIT */
/* Copies of single items from global to shared memory. */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

/* Global to shared memory without a stop in registers, until copy_async_wait(). */
template <class V> GPI_DEVICE void copy_async(V *to, const V *from)
{
#if GPI_SM >= 80
    if constexpr (sizeof(V) >= 4) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(to)),
                     "l"(from), "n"(sizeof(V))
                     : "memory");
        return;
    }
#endif
    *to = *from;
}

GPI_DEVICE void copy_async_wait()
{
#if GPI_SM >= 80
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

} // namespace GPI_SPACE
