/* SPDX-License-Identifier: MIT */
/* Launcher of the top-k kernels, for every key width. */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "topk/topk_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Key> void run(gp_context *ctx, const gpi_topk_job *j)
{
    const uint64_t tiles = (j->n + topk_tile - 1) / topk_tile;
    const uint64_t most = (uint64_t)ctx->sm_count * topk_blocks_per_sm;
    TopkJob<Key> job = {{(Key)j->order.sign, (Key)j->order.inf, (Key)j->order.flip},
                        (const Key *)j->keys,
                        j->n,
                        j->k,
                        j->chunks,
                        {j->n, (j->n + j->chunks - 1) / j->chunks},
                        (uint32_t *)j->state,
                        j->bins,
                        j->counts,
                        {(Key *)j->top_keys, j->top_indices, j->index_bytes == 8}};
    void *arguments[] = {&job};
    cudaLaunchCooperativeKernel(topk_k<Key>, dim3((unsigned)(tiles < most ? tiles : most)),
                                dim3(topk_threads), arguments, 0, ctx->stream);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_topk_launch)(gp_context *ctx, const char *function,
                                                   const gpi_topk_job *job)
{
    using namespace GPI_SPACE;
    GPI_TRY(gpi_cuda_fill(ctx, job->state, 0, gpi_topk_state_bytes(job->key_bytes)));
    if (job->key_bytes == 1)
        run<uint8_t>(ctx, job);
    else if (job->key_bytes == 2)
        run<uint16_t>(ctx, job);
    else if (job->key_bytes == 4)
        run<uint32_t>(ctx, job);
    else
        run<uint64_t>(ctx, job);
    return gpi_cuda_launched(ctx, function);
}
