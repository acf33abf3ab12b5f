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

/* Let a kernel use that much dynamic shared memory; once per device, remembered in the bits of
 * done. */
template <class Kernel>
gp_status shared_memory_allow(gp_context *ctx, const char *function, Kernel kernel, int bytes,
                              uint64_t *done)
{
    const uint64_t bit = 1ull << (ctx->device & 63);
    if (__atomic_load_n(done, __ATOMIC_RELAXED) & bit)
        return GP_OK;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) !=
        cudaSuccess)
        return gpi_cuda_launched(ctx, function);
    if (ctx->device < 64)
        __atomic_fetch_or(done, bit, __ATOMIC_RELAXED);
    return GP_OK;
}

} // namespace GPI_SPACE
