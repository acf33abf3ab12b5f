/* SPDX-License-Identifier: MIT */
/* Sorts through CUB: the route of a job, its scratch, and the order of what is queued. */
#include "radixsort/radixsort_internal.h"

#include "core/check.h"
#include "core/cub.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "gather/gather_internal.h"

/* What has to happen around the sort of words. */
struct route {
    bool identity;      /* keys are their own order words */
    bool exact;         /* words of floats that can be turned back */
    bool pick_keys;     /* the words forget something: keys are collected by index */
    bool pick_values;   /* values are collected by index */
    bool indices;       /* the sort moves indices that have to be written first */
    size_t moved_bytes; /* what the sort moves beside the words: 0, 4 or 8 */
};

/* Values that the sort moves itself. */
static bool value_is_direct(const struct gpi_radix_job *j)
{
    return j->value_bytes == 8 || (j->value_bytes == 4 && gpi_radix_index_bytes(j->n) == 4);
}

static struct route route_of(const struct gpi_radix_job *j)
{
    struct route r = {.moved_bytes = j->value_bytes};
    bool all_bits = j->begin_bit == 0 && j->end_bit == 8 * (int)j->key_bytes;
    bool is_float = j->order.inf != 0, is_argsort = !j->keys_out;
    r.identity = !is_float && j->order.flip == 0;
    r.exact = is_float && all_bits && j->value_bytes == 0;
    r.pick_keys = is_float && !r.exact && !is_argsort;
    r.pick_values = j->value_bytes && !is_argsort && (r.pick_keys || !value_is_direct(j));
    r.indices = is_argsort || r.pick_keys || r.pick_values;
    if (r.pick_keys || r.pick_values)
        r.moved_bytes = gpi_radix_index_bytes(j->n);
    return r;
}

/* The sizes of a frame's pieces; 0: not taken. */
struct pieces {
    size_t keys_copy, values_copy, words, words_out, indices_in, indices_out, temporary;
};

static struct pieces pieces_of(const struct gpi_radix_job *j, const struct route *r,
                               bool keys_in_place, bool values_in_place)
{
    struct pieces p = {0, 0, 0, 0, 0, 0, 0};
    size_t keys = j->n * j->key_bytes, moved = j->n * r->moved_bytes;
    if (j->begin_bit == j->end_bit)
        return p;
    p.keys_copy = keys_in_place && (r->identity || r->pick_keys) ? keys : 0;
    p.values_copy = values_in_place ? j->n * j->value_bytes : 0;
    p.words = r->identity ? 0 : keys;
    p.words_out = j->keys_out ? 0 : keys;
    p.indices_in = r->indices ? moved : 0;
    p.indices_out = r->pick_keys || r->pick_values ? moved : 0;
    return p;
}

static size_t pieces_bytes(const struct pieces *p)
{
    return gpi_piece(p->keys_copy) + gpi_piece(p->values_copy) + gpi_piece(p->words) +
           gpi_piece(p->words_out) + gpi_piece(p->indices_in) + gpi_piece(p->indices_out) +
           gpi_piece(p->temporary);
}

/*
 * What CUB asks for, from above. Keys of 4 and 8 bytes: a second array of words and values, 256
 * counters per tile (taken as 1024 items; at most 2^28 items are in flight), bins of each pass for
 * each 2^27 items. Narrower keys: 256 counters of 8 bytes for each block of a grid of at most 40
 * per multiprocessor.
 */
static size_t temporary_bound(int sm_count, size_t key_bytes, size_t moved_bytes, size_t n)
{
    enum { SM_MAX = 256, BLOCKS_PER_SM = 40, SLACK = 1 << 16 };
    size_t arrays = n * (key_bytes + moved_bytes) + SLACK, bins = GPI_RADIX_BINS * sizeof(uint64_t);
    size_t in_flight = n < (size_t)1 << 28 ? n : (size_t)1 << 28;
    size_t sms = sm_count > 0 ? (size_t)sm_count : SM_MAX;
    if (key_bytes >= 4)
        return arrays + in_flight + (n / ((size_t)1 << 27) + 1) * key_bytes * (bins + 64);
    return arrays + sms * BLOCKS_PER_SM * bins;
}

size_t gpi_radixsort_cub_bytes(int sm_count, const struct gpi_radix_job *job)
{
    struct route r = route_of(job);
    bool has_keys = job->keys_out != NULL;
    struct pieces p = pieces_of(job, &r, has_keys, has_keys && job->value_bytes);
    if (job->begin_bit != job->end_bit)
        p.temporary = temporary_bound(sm_count, job->key_bytes, r.moved_bytes, job->n);
    return pieces_bytes(&p);
}

/* What is sorted in place and read once more after the sort has begun to write goes into a copy. */
static gp_status copy_aside(gp_context *ctx, struct gpi_frame *frame, size_t bytes,
                            const void **array)
{
    if (bytes == 0)
        return GP_OK;
    void *copy = gpi_frame_take(frame, bytes);
    GPI_TRY(gpi_cuda_copy(ctx, *array, bytes, copy));
    *array = copy;
    return GP_OK;
}

/* Queue everything; pieces are taken in the order of radixsort_internal.h. */
static gp_status queue(gp_context *ctx, const char *function,
                       const struct gpi_radix_cuda_kernels *k, gpi_cub_sort_fn *sort,
                       struct gpi_cub_call *call, struct gpi_frame *frame, const struct route *r,
                       const struct pieces *p, struct gpi_radix_cub_args *a, struct gpi_radix_job j)
{
    GPI_TRY(copy_aside(ctx, frame, p->keys_copy, &j.keys_in));
    GPI_TRY(copy_aside(ctx, frame, p->values_copy, &j.values_in));
    a->keys_in = j.keys_in;
    a->values_in = j.values_in;
    a->values_out = j.values_out;
    if (p->words) {
        void *words = gpi_frame_take(frame, p->words);
        k->to_words(ctx, &j.order, r->exact, j.key_bytes, j.keys_in, j.n, words);
        a->keys_in = words;
    }
    a->keys_out = p->words_out ? gpi_frame_take(frame, p->words_out) : j.keys_out;
    if (p->indices_in) {
        void *indices = gpi_frame_take(frame, p->indices_in);
        GPI_TRY(gpi_radix_put_indices(ctx, function, r->moved_bytes, j.n, NULL, indices));
        a->values_in = indices;
    }
    if (p->indices_out)
        a->values_out = gpi_frame_take(frame, p->indices_out);
    call->temporary = gpi_frame_take(frame, p->temporary);
    GPI_TRY(gpi_cuda_check(ctx, function, sort(call, a)));
    const struct gpi_gather_args keys =
        gpi_gather_of(j.key_bytes, j.keys_in, r->moved_bytes, a->values_out, j.n, j.keys_out);
    const struct gpi_gather_args values =
        gpi_gather_of(j.value_bytes, j.values_in, r->moved_bytes, a->values_out, j.n, j.values_out);
    if (r->pick_keys)
        GPI_TRY(gpi_gather_cuda(ctx, function, &keys));
    else if (!r->identity && j.keys_out)
        k->from_words(ctx, &j.order, j.key_bytes, j.keys_out, j.n);
    if (r->pick_values)
        return gpi_gather_cuda(ctx, function, &values);
    return gpi_cuda_launched(ctx, function);
}

gp_status gpi_radixsort_cub(gp_context *ctx, const char *function, const struct gpi_radix_job *job)
{
    const struct gpi_radix_cuda *cuda = gpi_radix_cuda_get(ctx);
    struct route r = route_of(job);
    struct pieces p = pieces_of(job, &r, job->keys_in == job->keys_out,
                                job->values_in && job->values_in == job->values_out);
    struct gpi_radix_cub_args a = {.value_bytes = r.moved_bytes,
                                   .n = job->n,
                                   .begin_bit = job->begin_bit,
                                   .end_bit = job->end_bit};
    struct gpi_cub_call call = gpi_cub_call_of(ctx);
    const struct gpi_cub *cub;
    struct gpi_frame frame;
    if (!cuda)
        return gpi_fail_sm(ctx, function);
    GPI_TRY(gpi_cub_find(ctx, function, &cub));
    gpi_cub_sort_fn *sort = cub->sort[gpi_key_width(job->key_bytes)];
    GPI_TRY(gpi_cuda_check(ctx, function, sort(&call, &a)));
    p.temporary = call.bytes;
    GPI_TRY(gpi_frame_open(ctx, function, pieces_bytes(&p), &frame));
    gp_status s = queue(ctx, function, cuda->kernels, sort, &call, &frame, &r, &p, &a, *job);
    gpi_frame_close(&frame);
    return s;
}
