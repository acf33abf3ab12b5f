/* SPDX-License-Identifier: MIT */
/* Segmented sorts on CUDA, out of the sort, the search of segments, and gather. */
#include "segsort/segsort_internal.h"

#include <gp/gather.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"

/* The sizes of a frame's pieces. */
struct pieces {
    size_t indices, segments; /* two arrays of each */
    size_t keys_copy, values_copy;
    size_t nested; /* the calls inside, one after the other */
};

static gp_dtype index_dtype_of(uint64_t n)
{
    return gpi_radix_index_bytes(n) == 4 ? GP_U32 : GP_U64;
}

/* Bits of a segment's number, and of num_segments, the number of items outside of all segments. */
static gp_radix_sort_options by_segment(const struct gpi_segsort_job *s)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.algorithm = s->options.algorithm;
    o.device_n = s->job.device_n;
    o.end_bit = 1;
    while (s->num_segments >> o.end_bit)
        o.end_bit++;
    return o;
}

static gp_status nested_bytes(int sm_count, const struct gpi_segsort_job *s, size_t *bytes)
{
    gp_target target = GP_TARGET_INIT;
    size_t n = s->job.n, order, move;
    gp_dtype index = index_dtype_of(n);
    gp_radix_sort_options o = by_segment(s);
    target.backend = GP_BACKEND_CUDA;
    target.sm_count = sm_count;
    GPI_TRY(gp_argsort_workspace_bytes(&target, s->dtype, n, index, &s->options, &order));
    GPI_TRY(gp_radix_sort_workspace_bytes(&target, index_dtype_of(s->num_segments),
                                          gpi_dtype_bytes(index), n, &o, &move));
    *bytes = order > move ? order : move;
    return GP_OK;
}

static gp_status pieces_of(int sm_count, const struct gpi_segsort_job *s, bool keys_in_place,
                           bool values_in_place, struct pieces *p)
{
    const struct gpi_radix_job *j = &s->job;
    *p = (struct pieces){0, 0, 0, 0, 0};
    if (j->n == 0 || j->begin_bit == j->end_bit)
        return GP_OK;
    p->indices = j->n * gpi_radix_index_bytes(j->n);
    p->segments = j->n * gpi_dtype_bytes(index_dtype_of(s->num_segments));
    p->keys_copy = keys_in_place ? j->n * j->key_bytes : 0;
    p->values_copy = values_in_place ? j->n * j->value_bytes : 0;
    return nested_bytes(sm_count, s, &p->nested);
}

static size_t pieces_bytes(const struct pieces *p)
{
    return 2 * gpi_piece(p->indices) + 2 * gpi_piece(p->segments) + gpi_piece(p->keys_copy) +
           gpi_piece(p->values_copy) + gpi_piece(p->nested);
}

gp_status gpi_segsort_cuda_bytes(int sm_count, const struct gpi_segsort_job *s, size_t *bytes)
{
    struct pieces p;
    GPI_TRY(pieces_of(sm_count, s, true, s->job.value_bytes != 0, &p));
    *bytes = pieces_bytes(&p);
    return GP_OK;
}

/* out[i] = in[indices[i]] */
static gp_status gather(gp_context *ctx, const struct gpi_segsort_job *s, size_t item_bytes,
                        const void *in, const void *indices, void *out)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = item_bytes;
    d.index_dtype = index_dtype_of(s->job.n);
    d.device_n = s->job.device_n;
    return gp_gather_by(ctx, &d, in, indices, s->job.n, out);
}

/* The segment of every item. */
static gp_status find_segments(gp_context *ctx, const char *function,
                               const struct gpi_segsort_job *s, void *segments)
{
    const struct gpi_balance_args a = {.name = "offsets",
                                       .offsets = s->offsets,
                                       .offset_bytes = gpi_dtype_bytes(s->offset_dtype),
                                       .num_segments = s->num_segments,
                                       .limit = s->job.n,
                                       .index_bytes =
                                           gpi_dtype_bytes(index_dtype_of(s->num_segments)),
                                       .segments = segments,
                                       .device_num_segments = s->job.device_num_segments,
                                       .device_limit = s->job.device_n};
    return gpi_balance_search(ctx, function, &a);
}

/* The stable order of the items by segment and key, in the first of the two arrays of indices. */
static gp_status find_order(gp_context *ctx, const char *function, const struct gpi_segsort_job *s,
                            void *indices[2], void *segments[2])
{
    const struct gpi_radix_job *j = &s->job;
    gp_dtype index = index_dtype_of(j->n), segment = index_dtype_of(s->num_segments);
    gp_radix_sort_options o = by_segment(s);
    GPI_TRY(gp_argsort(ctx, s->dtype, j->keys_in, j->n, index, indices[1], &s->options));
    GPI_TRY(find_segments(ctx, function, s, segments[0]));
    GPI_TRY(gather(ctx, s, gpi_dtype_bytes(segment), segments[0], indices[1], segments[1]));
    return gp_radix_sort_pairs(ctx, segment, segments[1], gpi_dtype_bytes(index), indices[1], j->n,
                               segments[0], indices[0], &o);
}

static gp_status queue(gp_context *ctx, const char *function, const struct gpi_segsort_job *s,
                       const struct pieces *p, struct gpi_frame *frame)
{
    const struct gpi_radix_job *j = &s->job;
    const void *keys = j->keys_in, *values = j->values_in;
    void *indices[2], *segments[2];
    for (int i = 0; i < 2; i++)
        indices[i] = gpi_frame_take(frame, p->indices);
    for (int i = 0; i < 2; i++)
        segments[i] = gpi_frame_take(frame, p->segments);
    GPI_TRY(find_order(ctx, function, s, indices, segments));
    if (p->keys_copy)
        GPI_TRY(gpi_radix_copy_aside(ctx, function, j, j->key_bytes, frame, &keys));
    if (p->values_copy)
        GPI_TRY(gpi_radix_copy_aside(ctx, function, j, j->value_bytes, frame, &values));
    GPI_TRY(gather(ctx, s, j->key_bytes, keys, indices[0], j->keys_out));
    if (j->value_bytes == 0)
        return GP_OK;
    return gather(ctx, s, j->value_bytes, values, indices[0], j->values_out);
}

gp_status gpi_segsort_cuda(gp_context *ctx, const char *function, const struct gpi_segsort_job *s)
{
    const struct gpi_radix_job *j = &s->job;
    struct pieces p;
    if (!gpi_radix_cuda_get(ctx))
        return gpi_fail_sm(ctx, function);
    const struct gpi_content rule = gpi_segsort_rule(s);
    if (j->n == 0 || j->begin_bit == j->end_bit) {
        GPI_TRY(gpi_content_report(ctx, function, &rule));
        return j->n ? gpi_radixsort_cuda(ctx, function, j) : GP_OK; /* which copies */
    }
    GPI_TRY(pieces_of(ctx->sm_count, s, j->keys_in == j->keys_out,
                      j->value_bytes && j->values_in == j->values_out, &p));
    GPI_FRAME(frame, ctx, function, pieces_bytes(&p));
    GPI_TRY(gpi_content_report(ctx, function, &rule));
    return gpi_named(ctx, function, queue(ctx, function, s, &p, &frame));
}
