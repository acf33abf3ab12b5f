/* SPDX-License-Identifier: MIT */
/* Launcher of the merge kernels, for every key width. */
#include <cuda_runtime.h>

#include "device/host.cuh"
#include "merge/merge_kernels.cuh"

namespace GPI_SPACE
{
namespace
{

template <class Key, class Input>
void merge(gp_context *ctx, const gpi_merge_job *j, const Input &in, uint64_t *cuts)
{
    static_assert(MergeShape<Key>::tile >= GPI_MERGE_TILE_MIN, "gpi_merge_cuts() counts on it");
    constexpr uint64_t tile = MergeShape<Key>::tile;
    const uint32_t tiles = blocks_for<tile>(j->num_a + j->num_b);
    const KeyOrder<Key> order(j->order);
    const uint32_t cut_blocks = tiles / merge_tuning.threads + 1;
    merge_cut_k<Key, Input>
        <<<cut_blocks, merge_tuning.threads, 0, ctx->stream>>>(order, in, tiles, cuts);
    if (j->value_bytes)
        merge_tile_k<Key, true, Input><<<tiles, merge_tuning.threads, 0, ctx->stream>>>(
            order, in, cuts, (Key *)j->keys_out, j->values_a, j->values_b, (uint32_t)j->value_bytes,
            j->values_out);
    else
        merge_tile_k<Key, false, Input><<<tiles, merge_tuning.threads, 0, ctx->stream>>>(
            order, in, cuts, (Key *)j->keys_out, nullptr, nullptr, 0, nullptr);
}

template <class Key> void merge_any(gp_context *ctx, const gpi_merge_job *j, uint64_t *cuts)
{
    const MergeInput<Key> in = {(const Key *)j->keys_a, (const Key *)j->keys_b, j->num_a,  j->num_b,
                                j->device_num_a,        j->device_num_b,        j->groups, 0};
    if (j->first)
        merge<Key>(ctx, j, MergeLent<Key>{in, j->first, 0, 0}, cuts);
    else
        merge<Key>(ctx, j, in, cuts);
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_merge_launch)(gp_context *ctx, const char *function,
                                                    const gpi_merge_job *job, uint64_t *cuts)
{
    using namespace GPI_SPACE;
    with_word(job->key_bytes, [=](auto word) { merge_any<decltype(word)>(ctx, job, cuts); });
    return gpi_cuda_launched(ctx, function);
}
