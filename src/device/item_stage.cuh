/* SPDX-License-Identifier: MIT */
/*
 * A tile of items of any size in shared memory, for outputs that are written word by word: word w
 * of them belongs to one of the items w / words.
 */
#pragma once

#include <cstdint>

#include "device/barrier.cuh"

namespace GPI_SPACE
{

/* Words of an item, two at least, and what divides by their number without a division: places in a
 * tile have 16 bits, so the quotient is exact. */
struct ItemWords {
    uint32_t count, reciprocal;

    GPI_DEVICE explicit ItemWords(uint32_t count)
        : count(count), reciprocal((uint32_t)(0x100000000u / count + 1))
    {
    }

    GPI_DEVICE uint32_t item_of(uint32_t word) const
    {
        return __umulhi(word, reciprocal);
    }
};

/*
 * A tile's bytes in 16 at a time between the boundaries of memory; returns where they begin. AHEAD:
 * from sm_80 on they come without a register, and are there after stage_wait().
 */
template <int THREADS, bool AHEAD = false>
GPI_DEVICE const char *stage_items(const char *in, uint32_t bytes, char *stage)
{
    constexpr int batch = 4;
    const uint32_t skip = (uintptr_t)in & 15, end = skip + bytes;
    const uint32_t first = (skip + 15) / 16, last = end / 16;
    const char *from = in - skip;
    if constexpr (AHEAD && GPI_SM >= 80) {
#pragma unroll 1 /* no copy waits for another */
        for (uint32_t v = first + threadIdx.x; v < last; v += THREADS)
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                             shared_address(stage + 16 * v)),
                         "l"(from + 16 * v)
                         : "memory");
    } else {
        for (uint32_t v = first + threadIdx.x; v < last; v += batch * THREADS) {
            uint4 got[batch];
#pragma unroll
            for (int k = 0; k < batch; k++)
                if (v + k * THREADS < last)
                    got[k] = ((const uint4 *)from)[v + k * THREADS];
#pragma unroll
            for (int k = 0; k < batch; k++)
                if (v + k * THREADS < last)
                    ((uint4 *)stage)[v + k * THREADS] = got[k];
        }
    }
    const uint32_t head = first * 16 < end ? first * 16 : end,
                   tail = last < first ? end : last * 16;
    if (skip + threadIdx.x < head)
        stage[skip + threadIdx.x] = from[skip + threadIdx.x];
    if (tail + threadIdx.x < end)
        stage[tail + threadIdx.x] = from[tail + threadIdx.x];
    return stage + skip;
}

/* By every thread, and before a barrier. */
GPI_DEVICE void stage_wait()
{
#if GPI_SM >= 80
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

} // namespace GPI_SPACE
