/* SPDX-License-Identifier: MIT */
/* Launcher of the first pass for keys of one width (GPI_KEY_BYTES, GPI_UNIT); 0: by bits. */
#include "group/group_heads_k.cuh"
#include "group/group_stream.cuh"
#include "tuning/group_tuning.cuh"

namespace GPI_SPACE
{
namespace
{

constexpr int key_bytes = GPI_KEY_BYTES;

RunsParams params_of(const gp_context *ctx, const gpi_group_pass *pass)
{
    const gpi_group_args *a = pass->a;
    RunsParams p = {};
    p.keys = a->keys, p.sign = a->sign, p.inf = a->inf;
    p.n = a->n, p.device_n = a->device_n;
    p.bits = pass->bits;
    p.longer = a->longer, p.capacity = a->capacity;
    p.index_bytes = a->index_bytes;
    if (!pass->again) {
        p.keys_out = a->keys_out, p.heads = a->heads, p.lengths = a->lengths;
        p.out_count = a->out_count, p.more = a->more, p.counts = true;
    }
    if (pass->move) {
        const uint32_t bytes = pass->move->bytes;
        p.unit_bytes = (uint32_t)gpi_item_alignment(bytes);
        p.units = bytes / p.unit_bytes;
        p.from = pass->move->from, p.to = pass->move->to, p.last = pass->move->last;
    }
    p.reporter = gpi_reporter_of(ctx, nullptr, (gp_dtype)0);
    return p;
}

/* The bits of heads alone, of whole words; behind the last key they are 0. */
template <class Key>
gp_status queue_heads(gp_context *ctx, const gpi_group_pass *pass, const RunsParams &params)
{
    const uint64_t blocks = (params.n + heads_items - 1) / heads_items;
    const uint64_t most = (uint64_t)ctx->sm_count * 16;
    RunsParams *p;
    GPI_TRY(queue_place(ctx, pass, params, &p));
    pass->queue->launches[pass->queue->count++] = launch_of(
        group_heads_k<Key>, (uint32_t)(blocks < most ? blocks : most), heads_threads, 0, *p);
    return GP_OK;
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(GPI_PASTE(gpi_group_, GPI_UNIT))(gp_context *ctx,
                                                                   const gpi_group_pass *pass)
{
    using namespace GPI_SPACE;
    constexpr GroupTuning shape = group_tuning;
    constexpr int W = shape.store_warps, R = shape.sum_warps, L = shape.load_warps;
    constexpr int fit_groups = shape.tile_bytes / (W * 32 * (key_bytes ? key_bytes : 1));
    constexpr int groups = fit_groups < 32 ? fit_groups : 32;
    using One = RunsStream<key_bytes, W, R, L, groups, 1>;
    static_assert(One::tile_items >= GPI_GROUP_TILE_MIN && One::tile_items <= GPI_GROUP_TILE_MAX,
                  "the tile states and bits have no room");
    constexpr int beside = (int)sizeof(StreamShared<One>); /* of a stage, at most */
    constexpr int fit = shape.shared_bytes / (One::stage_bytes + beside);
    constexpr int S = fit < shape.stages_max ? fit : shape.stages_max;
    const RunsParams p = params_of(ctx, pass);
    if constexpr (key_bytes > 0)
        if (pass->only_bits)
            return queue_heads<KeyOf<key_bytes>>(ctx, pass, p);
    return queue_stream<RunsStream<key_bytes, W, R, L, groups, S>>(ctx, pass, p, p.n);
}
