/* SPDX-License-Identifier: MIT */
/* Bulk copies from shared to global memory (sm_90 and newer). The thread that starts them can wait
 * until shared memory has been read. */
#pragma once

#include "device/bulk.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

/* 16-byte aligned addresses, bytes a multiple of 16. What is stored came by bulk loads. */
GPI_DEVICE void bulk_store(void *to_global, const void *from_shared, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to_global),
                 "r"(shared_address(from_shared)), "r"(bytes)
                 : "memory");
}

/* The stores since the last call are one group. */
GPI_DEVICE void bulk_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* The shared memory of all groups of this thread but the last PENDING is read. */
template <int PENDING> GPI_DEVICE void bulk_stores_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

} // namespace GPI_SPACE

#endif
