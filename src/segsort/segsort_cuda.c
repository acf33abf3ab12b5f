/* SPDX-License-Identifier: MIT */
/* Segmented sorts on CUDA: sorts by two parts, the segment of an item and its key. */
#include "segsort/segsort_internal.h"

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "lexsort/lexsort_parts_internal.h"

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

static size_t bytes_of(const gp_target *target, const struct gpi_segsort_job *s,
                       const struct gpi_lex_sort *l)
{
    return gpi_piece(s->job.n * number_bytes(s)) + gpi_lex_sort_bytes(target, l);
}

size_t gpi_segsort_cuda_bytes(const gp_target *target, const struct gpi_segsort_job *s)
{
    gp_target cuda = *target;
    struct gpi_lex_sort l = lex_sort_of(s, NULL);
    cuda.backend = GP_BACKEND_CUDA;
    l.outs[1] = &l; /* any array: there is one */
    return s->job.begin_bit < s->job.end_bit ? bytes_of(&cuda, s, &l) : 0;
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
    GPI_FRAME(frame, ctx, function, bytes_of(&target, s, &l));
    GPI_TRY(gpi_content_report(ctx, function, &rule));
    void *numbers = gpi_frame_take(&frame, j->n * number_bytes(s));
    l.parts.part[0].data = numbers;
    GPI_TRY(find_segments(ctx, function, s, numbers));
    return gpi_lex_sort(ctx, function, &l);
}
