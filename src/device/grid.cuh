/* SPDX-License-Identifier: MIT */
/* What all blocks of a launch do together, and one launch with the next. */
#pragma once

#include <cstdint>

#include "device/space.cuh"

namespace GPI_SPACE
{

/* All blocks of a cooperative launch wait for each other; what they wrote is then seen by all. */
struct GridBarrier {
    uint32_t *arrived;
    uint32_t expected;

    GPI_DEVICE void wait()
    {
        wait(gridDim.x);
    }

    /* The same where that many blocks are left. */
    GPI_DEVICE void wait(uint32_t blocks)
    {
        arrive(blocks);
        wait_for_others();
    }

    /* What a block has written is seen by those that have waited for it. */
    GPI_DEVICE void arrive(uint32_t blocks)
    {
        __syncthreads();
        if (threadIdx.x == 0) {
            expected += blocks;
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
        }
    }

    /* Until all have arrived, as this one has. */
    GPI_DEVICE void wait_for_others()
    {
        if (threadIdx.x == 0) {
            uint32_t seen;
            do
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                             : "=r"(seen)
                             : "l"(arrived)
                             : "memory");
            while (seen < expected);
        }
        __syncthreads();
    }
};

/* In a kernel of launch_dependent() (device/host.cuh), before the first use of what the kernel
 * before wrote: until that one has ended. */
GPI_DEVICE void grid_wait()
{
#if GPI_SM >= 90
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* By all blocks: the kernel after may take places now, if it is one of launch_dependent(). */
GPI_DEVICE void grid_release()
{
#if GPI_SM >= 90
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

} // namespace GPI_SPACE
