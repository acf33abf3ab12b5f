/* SPDX-License-Identifier: MIT */
/* Bulk copies from global to shared memory, which barriers wait for (sm_90 and newer). */
#pragma once

#include "device/barrier.cuh"

#if GPI_SM >= 90

namespace GPI_SPACE
{

/* Arrive, and let the phase also wait for that many bytes of bulk copies. */
GPI_DEVICE void barrier_expect(uint64_t *b, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(b)),
                 "r"(bytes)
                 : "memory");
}

/* 16-byte aligned addresses, bytes a multiple of 16. */
GPI_DEVICE void bulk_load(void *to_shared, const void *from_global, uint32_t bytes, uint64_t *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(shared_address(to_shared)),
                 "l"(from_global), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

/* What the L2 does with the lines of a bulk copy: keep them longest, or as any others. */
GPI_DEVICE uint64_t l2_policy(bool keep)
{
    uint64_t last, normal;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
    return keep ? last : normal;
}

/* Give them up before others. */
GPI_DEVICE uint64_t l2_policy_first()
{
    uint64_t first;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    return first;
}

GPI_DEVICE void bulk_load(void *to_shared, const void *from_global, uint32_t bytes, uint64_t *b,
                          uint64_t policy)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to_shared)),
                 "l"(from_global), "r"(bytes), "r"(shared_address(b)), "l"(policy)
                 : "memory");
}

/* Bulk loads of this thread come after what was done before a barrier: they see what others wrote
 * to global memory, and overwrite what was in shared memory. */
GPI_DEVICE void bulk_follows()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

/* The same of what was in shared memory alone. */
GPI_DEVICE void bulk_follows_shared()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Ask the L2 for what will be loaded. */
GPI_DEVICE void bulk_prefetch(const void *from_global, uint32_t bytes)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from_global), "r"(bytes)
                 : "memory");
}

} // namespace GPI_SPACE

#endif
