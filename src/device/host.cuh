/* SPDX-License-Identifier: MIT */
/* What launchers need of the core. */
#pragma once

#include "core/check.h"
#include "core/context.h"
#include "core/cuda.h"
#include "core/workspace.h"

#include "device/space.cuh"

namespace GPI_SPACE
{

/* Blocks for n items of EACH, n at most MOST: a kernel that has no loop over them needs all of them
 * in one grid. */
template <uint64_t EACH, uint64_t MOST = GPI_MAX_N> uint32_t blocks_for(uint64_t n)
{
    static_assert((MOST + EACH - 1) / EACH < 0x7fffffff, "more blocks than a grid can have");
    return (uint32_t)((n + EACH - 1) / EACH);
}

/* Let a kernel use that much dynamic shared memory; once per device,
 * remembered in the bits of done. */
template <class Kernel>
gp_status shared_memory_allow(gp_context *ctx, const char *function, Kernel kernel, int bytes,
                              uint64_t *done)
{
    const uint64_t bit = ctx->device < 64 ? 1ull << ctx->device : 0; /* beyond: every time */
    if (__atomic_load_n(done, __ATOMIC_RELAXED) & bit)
        return GP_OK;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) !=
        cudaSuccess)
        return gpi_cuda_launched(ctx, function);
    __atomic_fetch_or(done, bit, __ATOMIC_RELAXED);
    return GP_OK;
}

/* Launch a kernel that begins with grid_wait() (device/grid.cuh). If early, its blocks take their
 * places as soon as those of the kernel before leave them, not when that one has ended. */
template <class Kernel, class Job>
void launch_dependent(gp_context *ctx, Kernel kernel, bool early, unsigned blocks, unsigned threads,
                      int shared, const Job &job)
{
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = (size_t)shared;
    config.stream = ctx->stream;
    config.attrs = &overlap;
    config.numAttrs = early && GPI_SM >= 90 ? 1 : 0;
    cudaLaunchKernelEx(&config, kernel, job);
}

} // namespace GPI_SPACE
