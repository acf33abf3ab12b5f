/* SPDX-License-Identifier: MIT */
/* Launcher of the top-k kernels, for every key width. */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "topk/topk_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Key> gp_status run(gp_context *ctx, const char *function, const gpi_topk_job *j)
{
    const uint64_t tiles = (j->n + topk_tile - 1) / topk_tile;
    const uint64_t most = (uint64_t)ctx->sm_count * topk_tuning.blocks_per_sm;
    const unsigned blocks = (unsigned)(tiles < most ? tiles : most);
    TopkJob<Key> job = {KeyOrder<Key>(j->order),
                        (const Key *)j->keys,
                        j->n,
                        j->k,
                        j->device_n,
                        j->device_k,
                        blocks,
                        j->chunks,
                        {j->n, (j->n + j->chunks - 1) / j->chunks},
                        (uint32_t *)j->state,
                        &j->state->wanted,
                        j->bins,
                        j->counts,
                        {(Key *)j->top_keys, j->top_indices, j->index_bytes == 8}};
    LaunchList list;
    list.add(launch_zeros(j->state, gpi_topk_state_bytes(j->key_bytes)));
    list.add(launch_cooperative(topk_k<Key>, blocks, topk_tuning.threads, 0, job));
    return list.queue(ctx, function);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_topk_launch)(gp_context *ctx, const char *function,
                                                   const gpi_topk_job *job)
{
    using namespace GPI_SPACE;
    return with_word(job->key_bytes,
                     [=](auto word) { return run<decltype(word)>(ctx, function, job); });
}
