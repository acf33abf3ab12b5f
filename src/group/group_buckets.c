/* SPDX-License-Identifier: MIT */
/* Folds without a sort and in its buckets: scratch, and when they are queued. */
#include "core/check.h"
#include "core/launch_ahead.h"
#include "core/workspace.h"
#include "group/group_internal.h"

static uint64_t chunks_of(uint64_t n)
{
    const uint64_t most = 1 << GPI_GROUP_BUCKET_BITS, buckets = n >> GPI_GROUP_BUCKET_LEAST;
    return n / GPI_GROUP_CHUNK + (buckets < most ? buckets : most);
}

static uint32_t sums_of(uint64_t n)
{
    return (uint32_t)(chunks_of(n) / GPI_GROUP_CHUNKS + 1);
}

static size_t progress_bytes(uint64_t n)
{
    return sizeof(struct gpi_group_progress) + sums_of(n) * sizeof(uint32_t);
}

static size_t groups_bytes(uint64_t n, size_t item_bytes)
{
    return gpi_piece(chunks_of(n) * GPI_GROUP_BUCKET_KEYS * item_bytes);
}

/* Of the widest fold. */
static size_t few_folds_bytes(const struct gpi_group_buckets *b)
{
    size_t item = 0;
    for (int i = 0; i < b->count; i++)
        if (gpi_dtype_bytes(b->folds[i].out_dtype) > item)
            item = gpi_dtype_bytes(b->folds[i].out_dtype);
    return (2 * GPI_GROUP_FEW + 1) * GPI_GROUP_FEW_PARTS * item;
}

size_t gpi_group_buckets_bytes(const struct gpi_group_buckets *b, uint64_t n)
{
    size_t bytes = gpi_piece(b->count * gpi_group_few_bytes(b)) + gpi_piece(few_folds_bytes(b));
    if (!b->few_keys)
        return bytes;
    bytes += gpi_piece(progress_bytes(n)) + gpi_piece(chunks_of(n) * sizeof *b->chunks) +
             groups_bytes(n, b->key_bytes);
    for (int i = 0; i < b->count; i++)
        bytes += groups_bytes(n, gpi_dtype_bytes(b->folds[i].out_dtype));
    return bytes;
}

static gp_status visit(gp_context *ctx, const char *function, struct gpi_radix_visitor *self,
                       const struct gpi_radix_buckets *buckets, struct gpi_launch *launches,
                       int *count)
{
    struct gpi_group_buckets *b = (struct gpi_group_buckets *)self;
    GPI_TRY(gpi_launch_ahead_end(ctx, function, GP_OK)); /* whose parameters are where these go */
    if (*count + b->count + 2 > GPI_LAUNCHES_MAX) {
        GPI_TRY(gpi_launch_all(ctx, function, launches, *count));
        *count = 0;
    }
    b->visited = true;
    return gpi_group_cuda_for(ctx->sm_row)
        ->fold_buckets(ctx, function, b, buckets, launches, count);
}

gp_status gpi_group_fold_few_groups(gp_context *ctx, const char *function,
                                    struct gpi_group_buckets *b)
{
    const struct gpi_group_cuda *cuda = gpi_group_cuda_for(ctx->sm_row);
    return cuda->fold_few ? cuda->fold_few(ctx, function, b) : gpi_fail_sm(ctx, function);
}

void gpi_group_buckets_take(struct gpi_group_buckets *b, struct gpi_frame *frame, uint64_t n)
{
    b->few = gpi_frame_take(frame, b->count * gpi_group_few_bytes(b));
    b->few_folds = gpi_frame_take(frame, few_folds_bytes(b));
    if (!b->few_keys)
        return;
    b->visitor.visit = visit, b->visitor.few_keys = true;
    b->sum_count = sums_of(n);
    b->progress = gpi_frame_take(frame, progress_bytes(n));
    b->sums = (uint32_t *)(b->progress + 1);
    b->chunks = gpi_frame_take(frame, chunks_of(n) * sizeof *b->chunks);
    b->keys = gpi_frame_take(frame, groups_bytes(n, b->key_bytes));
    for (int i = 0; i < b->count; i++)
        b->folds[i].groups =
            gpi_frame_take(frame, groups_bytes(n, gpi_dtype_bytes(b->folds[i].out_dtype)));
}
