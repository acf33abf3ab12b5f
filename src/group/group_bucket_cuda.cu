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

BucketForm form_of(const gpi_group_bucket_fold &fold)
{
    BucketForm v = {fold.op, gpi_dtype_is_float(fold.out_dtype), 0, {}, 0};
    const uint32_t bytes = (uint32_t)gpi_dtype_bytes(fold.out_dtype);
    const bool is_signed = fold.in_dtype && gpi_dtype_is_signed(fold.in_dtype);
    if (fold.in_dtype)
        v.in_bytes = (uint32_t)gpi_dtype_bytes(fold.in_dtype);
    if (is_signed && v.in_bytes < bytes)
        v.sign = 1u << 31;
    v.flip = flip_for(fold.op, 8 * (int)bytes, is_signed);
    return v;
}

BucketParams params_of(const gpi_group_buckets *b, const gpi_radix_buckets *buckets, int i)
{
    const gpi_group_bucket_fold &fold = b->folds[i];
    BucketParams p = {};
    static_cast<RadixBuckets &>(p) = b->key_bytes == 4 ? radix_buckets_of<uint32_t>(buckets)
                                                       : radix_buckets_of<uint64_t>(buckets);
    p.form = form_of(fold);
    p.progress = b->progress;
    p.sums = b->sums;
    p.first = i == 0, p.last = i + 1 == b->count;
    p.chunks = b->chunks, p.groups = b->keys, p.folds = fold.groups;
    return p;
}

template <class Cell>
gp_status add_fold(gp_context *ctx, const char *function, const BucketParams &p, LaunchList &list)
{
    constexpr int shared = sizeof(typename BucketFold<Cell>::Shared);
    constexpr int fit = gpu.block_shared_bytes / (shared + 1024);
    static uint64_t allowed;
    GPI_TRY(shared_memory_allow(ctx, function, group_bucket_k<Cell>, shared, &allowed));
    list.add(launch_of(group_bucket_k<Cell>, (unsigned)(ctx->sm_count * fit), bucket_threads<Cell>,
                       shared, p));
    return GP_OK;
}

} // namespace
} // namespace GPI_SPACE

extern "C" gp_status GPI_LAUNCHER(gpi_group_fold_buckets)(gp_context *ctx, const char *function,
                                                          const gpi_group_buckets *b,
                                                          const gpi_radix_buckets *buckets)
{
    using namespace GPI_SPACE;
    static_assert(GPI_GROUP_BUCKET_FOLDS + 2 <= GPI_LAUNCHES_MAX, "they are queued together");
    BucketParams p[GPI_GROUP_BUCKET_FOLDS];
    LaunchList list;
    list.add(launch_zeros(b->progress, b->zeroed));
    for (int i = 0; i < b->count; i++) {
        p[i] = params_of(b, buckets, i);
        if (i == 0)
            list.add(launch_of(group_chunks_k, (unsigned)ctx->sm_count, 256, 0, p[0]));
        GPI_TRY(gpi_dtype_bytes(b->folds[i].out_dtype) == 4
                    ? add_fold<uint32_t>(ctx, function, p[i], list)
                    : add_fold<uint64_t>(ctx, function, p[i], list));
    }
    return list.queue(ctx, function);
}

extern "C" gp_status GPI_LAUNCHER(gpi_group_store_buckets)(gp_context *ctx, const char *function,
                                                           const gpi_group_buckets *b)
{
    using namespace GPI_SPACE;
    PlacesParams p = {};
    LaunchList list;
    p.progress = b->progress, p.sums = b->sums, p.chunks = b->chunks;
    if (b->keys_out)
        p.arrays[p.count++] = {b->keys, b->keys_out, b->key_bytes, false, {}};
    for (int i = 0; i < b->count; i++) {
        const gpi_group_bucket_fold &fold = b->folds[i];
        p.arrays[p.count++] = {fold.groups, fold.out, (uint32_t)gpi_dtype_bytes(fold.out_dtype),
                               true, form_of(fold)};
    }
    p.capacity = b->capacity, p.out_count = b->out_count;
    p.reporter = gpi_reporter_of(ctx, nullptr, (gp_dtype)0);
    list.add(launch_of(group_places_k, b->sum_count, places_threads, 0, p));
    return list.queue(ctx, function);
}
