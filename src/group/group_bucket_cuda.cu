/* SPDX-License-Identifier: MIT */
/* Launchers of the folds in buckets. */
#include "group/group_bucket_k.cuh"
#include "group/group_places_k.cuh"

extern "C" {
#include "core/dtype.h"
}

namespace GPI_SPACE
{
namespace
{

static_assert(radix_tuning.bucket_bits < GPI_GROUP_BUCKET_BITS, "there is room for the chunks");

BucketParams params_of(const gpi_group_buckets *b, const gpi_radix_buckets *buckets, int i)
{
    const gpi_group_bucket_fold &fold = b->folds[i];
    BucketParams p = {};
    static_cast<RadixBuckets &>(p) = b->key_bytes == 4 ? radix_buckets_of<uint32_t>(buckets)
                                                       : radix_buckets_of<uint64_t>(buckets);
    p.form = form_of(fold);
    p.progress = b->progress;
    p.more = &gpi_group_few_of(b)->groups;
    p.sums = b->sums;
    p.first = i == 0, p.last = i + 1 == b->count;
    p.chunks = b->chunks, p.groups = b->keys, p.folds = fold.groups;
    return p;
}

template <class Cell>
gp_status fold_of(gp_context *ctx, const char *function, const BucketParams &p, gpi_launch *launch)
{
    constexpr int shared = bucket_warps * sizeof(typename BucketFold<Cell>::Shared);
    static uint64_t allowed;
    GPI_TRY(shared_memory_allow(ctx, function, group_bucket_k<Cell>, shared, &allowed));
    *launch =
        launch_dependent(group_bucket_k<Cell>, true, (unsigned)ctx->sm_count * bucket_blocks<Cell>,
                         32 * bucket_warps, shared, p);
    return GP_OK;
}

PlacesParams places_of(gp_context *ctx, const gpi_group_buckets *b)
{
    PlacesParams p = {};
    p.progress = b->progress, p.sums = b->sums, p.chunks = b->chunks;
    if (b->keys_out)
        p.arrays[p.count++] = {b->keys, b->keys_out, b->key_bytes};
    for (int i = 0; i < b->count; i++) {
        const gpi_group_bucket_fold &fold = b->folds[i];
        p.arrays[p.count++] = {fold.groups, fold.out, (uint32_t)gpi_dtype_bytes(fold.out_dtype)};
    }
    p.capacity = b->capacity;
    p.reporter = gpi_reporter_of(ctx, nullptr, (gp_dtype)0);
    return p;
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_group_fold_buckets)(gp_context *ctx, const char *function,
                                                          gpi_group_buckets *b,
                                                          const gpi_radix_buckets *buckets,
                                                          gpi_launch *launches, int *count)
{
    using namespace GPI_SPACE;
    static_assert(sizeof(BucketParams) <= sizeof b->params[0] &&
                      sizeof(PlacesParams) <= sizeof b->params[0] &&
                      GPI_GROUP_BUCKET_FOLDS + 2 <= GPI_LAUNCHES_MAX,
                  "there is room");
    for (int i = 0; i < b->count; i++) {
        const BucketParams &p = *new (b->params[i]) BucketParams(params_of(b, buckets, i));
        if (i == 0)
            launches[(*count)++] =
                launch_dependent(group_chunks_k, true, (unsigned)ctx->sm_count, 256, 0, p);
        GPI_TRY(gpi_dtype_bytes(b->folds[i].out_dtype) == 4
                    ? fold_of<uint32_t>(ctx, function, p, &launches[(*count)++])
                    : fold_of<uint64_t>(ctx, function, p, &launches[(*count)++]));
    }
    const PlacesParams &places = *new (b->params[b->count]) PlacesParams(places_of(ctx, b));
    launches[(*count)++] =
        launch_dependent(group_places_k, true, b->sum_count, places_threads, 0, places);
    return GP_OK;
}
