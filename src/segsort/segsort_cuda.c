/* SPDX-License-Identifier: MIT */
/* Segmented sorts on CUDA: of segments that fit a block there, of others by two parts, the segment
 * of an item and its key. */
#include "segsort/segsort_internal.h"

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/cuda.h"
#include "core/variants.h"
#include "core/workspace.h"
#include "lexsort/lexsort_parts_internal.h"

#define DECLARE(sm) extern const struct gpi_segsort_kernels gpi_segsort_kernels_sm##sm;
#define ROW(sm) GPI_CUDA(&gpi_segsort_kernels_sm##sm),

GPI_SMS(DECLARE)
static const struct gpi_segsort_kernels *const kernels[] = {GPI_SMS(ROW)};

/* Segments of all items are numbers of that width; num_segments is that of an item in none. */
static size_t number_bytes(const struct gpi_segsort_job *s)
{
    return gpi_radix_index_bytes(s->num_segments);
}

static struct gpi_lex_sort lex_sort_of(const struct gpi_segsort_job *s, const void *numbers)
{
    const struct gpi_radix_job *j = &s->job;
    const size_t bytes = number_bytes(s);
    struct gpi_lex_sort l = {.algorithm = j->algorithm,
                             .segments = true,
                             .n = j->n,
                             .device_n = j->device_n,
                             .index_bytes = gpi_radix_index_bytes(j->n),
                             .outs = {NULL, j->keys_out},
                             .value_bytes = j->value_bytes,
                             .values = j->values_in,
                             .values_out = j->values_out};
    struct gpi_lex_part *number =
        gpi_lex_add_part(&l.parts, numbers, bytes, bytes == 4 ? GP_U32 : GP_U64, GP_ASCENDING);
    while (number->mask / 2 >= s->num_segments && number->mask > 1)
        number->mask /= 2;
    struct gpi_lex_part *key =
        gpi_lex_add_part(&l.parts, j->keys_in, j->key_bytes, s->dtype, GP_ASCENDING);
    const uint64_t compared = key->mask >> (8 * (int)j->key_bytes - (j->end_bit - j->begin_bit))
                                               << j->begin_bit;
    key->order = j->order;
    key->lossy = key->lossy || compared != key->mask;
    key->mask = compared;
    return l;
}

/* Whether all items are one tile; of many segments one block would look for heads too long. */
static bool is_one_tile(const struct gpi_segsort_job *s)
{
    return s->job.n <= GPI_SEGSORT_TILE && s->num_segments <= 8 * GPI_SEGSORT_TILE;
}

/* Whether segments that fit a block are sorted there: parts take longer but for a few items of many
 * segments (merge-32). */
static bool has_tiles(const struct gpi_segsort_job *s)
{
    const size_t bytes = s->job.value_bytes;
    return s->job.algorithm != GP_ALGORITHM_CUB && bytes <= 16 && (bytes & (bytes - 1)) == 0 &&
           s->num_segments <= INT32_MAX && (is_one_tile(s) || s->job.n >= GPI_SEGSORT_TILE);
}

/* Of the plan and the marks. */
static size_t marks_bytes(const struct gpi_segsort_job *s)
{
    return sizeof(struct gpi_segsort_plan) + (s->job.n / GPI_SEGSORT_MARK + 1) * 4;
}

static struct gpi_segsort_tiles tiles_of(const struct gpi_segsort_job *s,
                                         const struct gpi_lex_part *key)
{
    const struct gpi_radix_job *j = &s->job;
    struct gpi_segsort_tiles t = {.order = key->order,
                                  .mask = key->mask,
                                  .exact = !key->lossy,
                                  .wide = gpi_dtype_bytes(s->offset_dtype) == 8,
                                  .key_bytes = (uint32_t)j->key_bytes,
                                  .value_bytes = (uint32_t)j->value_bytes,
                                  .n = j->n,
                                  .num_segments = s->num_segments,
                                  .device_n = j->device_n,
                                  .device_num_segments = j->device_num_segments,
                                  .offsets = s->offsets,
                                  .keys_in = j->keys_in,
                                  .values_in = j->values_in,
                                  .keys_out = j->keys_out,
                                  .values_out = j->values_out};
    t.places = j->value_bytes || j->end_bit - j->begin_bit < 8 * (int)j->key_bytes;
    return t;
}

/* Whether long segments go apart; the number of more would not fit their list's. */
static bool has_apart(const struct gpi_segsort_job *s)
{
    const struct gpi_radix_job *j = &s->job;
    return has_tiles(s) && j->key_bytes <= 4 && j->value_bytes == 0 &&
           j->end_bit - j->begin_bit == 8 * (int)j->key_bytes && j->n <= (uint64_t)1 << 34;
}

/* The most segments that fit no block. */
static uint64_t list_room(uint64_t n)
{
    return n / GPI_SEGSORT_LONGEST + 1;
}

/* Of words of long segments. */
static struct gpi_radix_job apart_job(const struct gpi_segsort_job *s,
                                      const struct gpi_segsort_tiles *t)
{
    return (struct gpi_radix_job){.order = gpi_radix_order_of(GP_U64, GP_ASCENDING),
                                  .key_bytes = 8,
                                  .n = s->job.n,
                                  .device_n = &t->plan->items,
                                  .end_bit = 64,
                                  .algorithm = s->job.algorithm,
                                  .keys_in = t->words,
                                  .keys_out = t->sorted};
}

static size_t apart_bytes(const gp_target *target, const struct gpi_segsort_job *s)
{
    uint64_t any[sizeof(struct gpi_segsort_plan) / 8];
    const struct gpi_segsort_tiles t = {
        .plan = (struct gpi_segsort_plan *)any, .words = any, .sorted = any + 1};
    const struct gpi_radix_job j = apart_job(s, &t);
    return 2 * gpi_piece(list_room(j.n) * 8) + 2 * gpi_piece(j.n * 8) +
           gpi_radixsort_cuda_bytes(target->sm_count, &j);
}

static size_t parts_bytes(const gp_target *target, const struct gpi_segsort_job *s)
{
    struct gpi_lex_sort l = lex_sort_of(s, NULL);
    l.outs[1] = &l; /* any array: there is one */
    return gpi_piece(s->job.n * number_bytes(s)) + gpi_lex_sort_bytes(target, &l);
}

static size_t bytes_of(const gp_target *target, const struct gpi_segsort_job *s)
{
    return (has_apart(s) ? apart_bytes(target, s) : parts_bytes(target, s)) +
           (has_tiles(s) ? gpi_piece(marks_bytes(s)) : 0);
}

size_t gpi_segsort_cuda_bytes(const gp_target *target, const struct gpi_segsort_job *s)
{
    gp_target cuda = *target;
    struct gpi_segsort_job fewer = *s;
    cuda.backend = GP_BACKEND_CUDA;
    if (s->job.begin_bit == s->job.end_bit)
        return 0;
    if (fewer.job.n > GPI_SEGSORT_TILE)
        fewer.job.n = GPI_SEGSORT_TILE;
    const size_t all = bytes_of(&cuda, s), least = parts_bytes(&cuda, &fewer);
    return all > least ? all : least;
}

static gp_status find_segments(gp_context *ctx, const char *function,
                               const struct gpi_segsort_job *s, void *segments)
{
    const struct gpi_balance_args a = {.name = "offsets",
                                       .offsets = s->offsets,
                                       .offset_bytes = gpi_dtype_bytes(s->offset_dtype),
                                       .num_segments = s->num_segments,
                                       .limit = s->job.n,
                                       .index_bytes = number_bytes(s),
                                       .segments = segments,
                                       .device_num_segments = s->job.device_num_segments,
                                       .device_limit = s->job.device_n};
    return gpi_balance_search(ctx, function, &a);
}

static gp_status sort_apart(gp_context *ctx, const char *function, const struct gpi_segsort_job *s,
                            struct gpi_segsort_tiles *t, struct gpi_frame *frame)
{
    t->list_room = list_room(t->n);
    t->bases = gpi_frame_take(frame, t->list_room * 8);
    t->begins = gpi_frame_take(frame, t->list_room * 8);
    t->words = gpi_frame_take(frame, t->n * 8);
    t->sorted = gpi_frame_take(frame, t->n * 8);
    const struct gpi_radix_job j = apart_job(s, t);
    GPI_TRY(kernels[ctx->sm_row]->sort(ctx, function, t));
    GPI_TRY(gpi_radixsort_cuda(ctx, function, &j));
    return kernels[ctx->sm_row]->put_keys(ctx, function, t);
}

gp_status gpi_segsort_cuda(gp_context *ctx, const char *function, const struct gpi_segsort_job *s)
{
    const struct gpi_radix_job *j = &s->job;
    const gp_target target = gpi_target_of(ctx);
    if (!gpi_radix_cuda_get(ctx))
        return gpi_fail_sm(ctx, function);
    const struct gpi_content rule = gpi_segsort_rule(s);
    if (j->n == 0 || j->begin_bit == j->end_bit) {
        GPI_TRY(gpi_content_report(ctx, function, &rule));
        return j->n ? gpi_radixsort_cuda(ctx, function, j) : GP_OK; /* which copies */
    }
    struct gpi_lex_sort l = lex_sort_of(s, NULL);
    struct gpi_segsort_tiles t = tiles_of(s, &l.parts.part[1]);
    struct gpi_segsort_job others = *s;
    const bool one = has_tiles(s) && is_one_tile(s);
    GPI_FRAME(frame, ctx, function, one ? 0 : bytes_of(&target, s));
    GPI_TRY(gpi_content_report(ctx, function, &rule));
    if (one)
        return kernels[ctx->sm_row]->sort(ctx, function, &t);
    if (has_tiles(s)) {
        t.zeroed = marks_bytes(s);
        t.plan = gpi_frame_take(&frame, t.zeroed);
        t.marks = (uint32_t *)(t.plan + 1);
        if (has_apart(s))
            return sort_apart(ctx, function, s, &t, &frame);
        GPI_TRY(kernels[ctx->sm_row]->sort(ctx, function, &t));
        others.job.device_n = l.device_n = &t.plan->items;
        others.job.device_num_segments = &t.plan->segments;
    }
    void *numbers = gpi_frame_take(&frame, j->n * number_bytes(s));
    l.parts.part[0].data = numbers;
    GPI_TRY(find_segments(ctx, function, &others, numbers));
    return gpi_lex_sort(ctx, function, &l);
}
