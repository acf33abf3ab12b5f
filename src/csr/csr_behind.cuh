/* SPDX-License-Identifier: MIT */
/* Launches of kernels that often find that nothing is left to do for them. */
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "csr/csr_kernels.cuh"
#include "device/grid.cuh"

namespace GPI_SPACE
{

/* Blocks of such a kernel: those that run at once, as the number of others is most of its time. */
inline uint32_t behind_blocks(const gp_context *ctx, uint32_t tiles)
{
    const uint32_t most = (uint32_t)ctx->sm_count * (gpu.threads / csr_tuning.threads);
    return tiles < most ? tiles : most;
}

/* Once for all kernels. */
__attribute__((noinline)) inline void launch_early(const gp_context *ctx, const void *kernel,
                                                   uint32_t blocks, int threads, int shared,
                                                   void **arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = (size_t)shared;
    config.stream = ctx->stream;
    config.attrs = &early;
    config.numAttrs = GPI_SM >= 90;
    cudaLaunchKernelExC(&config, kernel, arguments);
}

/* Its blocks take their places while those of the kernel before leave them. It has grid_wait(). */
template <class... Parameters>
void launch_behind(const gp_context *ctx, void (*kernel)(Parameters...), uint32_t blocks,
                   int threads, int shared, std::common_type_t<Parameters>... arguments)
{
    void *pointers[] = {(void *)&arguments...};
    launch_early(ctx, (const void *)kernel, blocks, threads, shared, pointers);
}

} // namespace GPI_SPACE
