/* SPDX-License-Identifier: MIT */
/* A barrier of a grid that needs no zeros; device/grid.cuh has the other one. */
#pragma once

#include <cstdint>

#include "core/state.h"
#include "device/space.cuh"

namespace GPI_SPACE
{

/*
 * All blocks of a cooperative launch wait for each other by a word of their context (core/state.h)
 * that is 0 when it is made: nothing has to be reset before a launch. Together they add 2^32 to it,
 * so its high half tells when they have met. What they wrote before is then seen by all.
 */
struct LastingBarrier {
    uint64_t *met;

    /* Behind the counter of device/epoch.cuh. */
    static uint64_t *of(const gpi_state &s)
    {
        static_assert(sizeof(gpi_ctrl) + sizeof(uint64_t) <= GPI_CTRL_BYTES, "there is room");
        return (uint64_t *)(s.ctrl + 1);
    }

    /* By one thread of each of the first `blocks` blocks; returns what await() is to know. */
    GPI_DEVICE uint32_t arrive(uint32_t blocks) const
    {
        const uint64_t own = blockIdx.x ? 1 : ((uint64_t)1 << 32) - (blocks - 1);
        uint64_t before;
        asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                     : "=l"(before)
                     : "l"(met), "l"(own)
                     : "memory");
        return (uint32_t)(before >> 32);
    }

    GPI_DEVICE void await(uint32_t before) const
    {
        uint64_t seen;
        do
            asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(met) : "memory");
        while ((uint32_t)(seen >> 32) == before);
    }

    /* By the first `blocks` blocks. */
    GPI_DEVICE void wait(uint32_t blocks) const
    {
        __syncthreads();
        if (threadIdx.x == 0)
            await(arrive(blocks));
        __syncthreads();
    }
};

} // namespace GPI_SPACE
