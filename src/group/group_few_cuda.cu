/* SPDX-License-Identifier: MIT */
/* Launchers of the folds of few groups. */
#include "core/launch_ahead.h"
#include "group/group_few_k.cuh"

namespace GPI_SPACE
{
namespace
{

FewParams params_of(gp_context *ctx, const gpi_group_buckets *b, uint64_t *met, int i)
{
    const gpi_radix_order order = gpi_radix_order_of(b->key_dtype, GP_ASCENDING);
    FewParams p = {};
    p.form = form_of(b->folds[i]);
    p.first = i == 0, p.met = met;
    p.few = (gpi_group_few *)(b->few + i * gpi_group_few_bytes(b));
    p.folds = b->few_folds;
    p.keys = b->keys_in, p.values = (const char *)b->values_in;
    p.n = b->n, p.device_n = b->device_n;
    if (b->key_bytes == 4)
        p.order4 = KeyOrder<uint32_t>::of(order, false);
    else
        p.order8 = KeyOrder<uint64_t>::of(order, false);
    p.keys_out = b->keys_out, p.out = b->folds[i].out;
    p.capacity = b->capacity;
    p.reporter = gpi_reporter_of(ctx, nullptr, (gp_dtype)0);
    return p;
}

template <class K, class Cell>
gp_status few_of(gp_context *ctx, const char *function, const FewParams &p, gpi_launch *launch)
{
    constexpr int shared = sizeof(typename GroupFew<K, Cell>::Shared);
    static_assert(shared <= gpu.block_shared_bytes, "a block must fit");
    static uint64_t allowed;
    GPI_TRY(shared_memory_allow(ctx, function, group_few_k<K, Cell>, shared, &allowed));
    const unsigned blocks = std::min((unsigned)ctx->sm_count, (unsigned)group_tuning.few_parts);
    *launch = launch_cooperative(group_few_k<K, Cell>, blocks, 32 * few_warps<Cell>, shared, p);
    return GP_OK;
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_group_fold_few)(gp_context *ctx, const char *function,
                                                      gpi_group_buckets *b)
{
    using namespace GPI_SPACE;
    static_assert(sizeof(FewParams) <= sizeof b->params[0] &&
                      GPI_GROUP_BUCKET_FOLDS <= (int)GPI_LAUNCHES_MAX,
                  "there is room");
    LaunchList list;
    gpi_state state;
    GPI_TRY(gpi_state_get(ctx, function, 0, &state));
    for (int i = 0; i < b->count; i++) {
        const FewParams &p =
            *new (b->params[i]) FewParams(params_of(ctx, b, LastingBarrier::of(state), i));
        const bool wide = gpi_dtype_bytes(b->folds[i].out_dtype) == 8;
        gpi_launch *const launch = &list.launches[list.count++];
        GPI_TRY(b->key_bytes == 4 ? (wide ? few_of<uint32_t, uint64_t>(ctx, function, p, launch)
                                          : few_of<uint32_t, uint32_t>(ctx, function, p, launch))
                                  : (wide ? few_of<uint64_t, uint64_t>(ctx, function, p, launch)
                                          : few_of<uint64_t, uint32_t>(ctx, function, p, launch)));
    }
    return gpi_launch_ahead(ctx, function, list.launches, list.count);
}
