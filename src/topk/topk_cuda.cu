/* SPDX-License-Identifier: MIT */
/* Launcher of the top-k kernels, for every key width. */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "topk/topk_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Key> void select(gp_context *ctx, const gpi_topk_job *j)
{
    const TopkOrder<Key> order = {(Key)j->order.sign, (Key)j->order.inf, (Key)j->order.flip};
    const Key *keys = (const Key *)j->keys;
    const uint64_t tiles = (j->n + topk_tile - 1) / topk_tile;
    const uint64_t most = (uint64_t)ctx->sm_count * topk_blocks_per_sm;
    const unsigned grid = (unsigned)(tiles < most ? tiles : most);
    topk_start_k<<<1, topk_threads, 0, ctx->stream>>>(j->k, j->state, j->bins);
    for (int pass = 0; pass < gpi_topk_passes(sizeof(Key)); pass++) {
        const int shift = gpi_topk_shift(sizeof(Key), pass);
        const int width = gpi_topk_width(sizeof(Key), pass);
        const Key digit = (Key)(((uint64_t)1 << width) - 1);
        topk_count_k<<<grid, topk_threads, 0, ctx->stream>>>(order, keys, j->n, shift, digit,
                                                             j->state, j->bins);
        topk_choose_k<<<1, topk_threads, 0, ctx->stream>>>(shift, width, j->state, j->bins);
    }
}

template <class Key> void collect(gp_context *ctx, const gpi_topk_job *j)
{
    const TopkOrder<Key> order = {(Key)j->order.sign, (Key)j->order.inf, (Key)j->order.flip};
    const Key *keys = (const Key *)j->keys;
    const TopkChunks chunks = {j->n, (j->n + j->chunks - 1) / j->chunks};
    const TopkOut<Key> out = {(Key *)j->top_keys, j->top_indices, j->index_bytes == 8};
    const unsigned grid = (unsigned)j->chunks;
    topk_tell_k<<<grid, topk_threads, 0, ctx->stream>>>(order, keys, chunks, j->state, j->counts);
    topk_add_k<<<1, topk_threads, 0, ctx->stream>>>(j->chunks, j->counts);
    topk_collect_k<<<grid, topk_threads, 0, ctx->stream>>>(order, keys, chunks, j->k, j->state,
                                                           j->counts, out);
}

template <class Key> void run(gp_context *ctx, const gpi_topk_job *j)
{
    select<Key>(ctx, j);
    collect<Key>(ctx, j);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_topk_launch)(gp_context *ctx, const char *function,
                                                   const gpi_topk_job *job)
{
    using namespace GPI_SPACE;
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
