/* SPDX-License-Identifier: MIT */
/* Segmented reduction on the CPU: shares by threads, what goes on from one to the next in order. */
#include <string.h>

#include "core/ahead.h"
#include "core/check.h"
#include "core/half.h"
#include "core/order.h"
#include "core/past_cache.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"
#include "segreduce/segreduce_cpu_internal.h"

/* The fold of items, or where the first of the least of them is. */
struct part {
    union gpi_segreduce_acc value;
    uint64_t index; /* of places */
    bool some;      /* there are items */
};

/* What a share leaves: the first segment that ends in it, without what came before the share, and
 * what goes on behind the last one. */
struct gpi_segreduce_left {
    struct part head, tail;
    uint64_t first; /* segment that ends */
    bool ended;
};

static uint64_t shares_of(uint64_t weight)
{
    return (weight + GPI_SEGREDUCE_SHARE_CPU - 1) / GPI_SEGREDUCE_SHARE_CPU;
}

size_t gpi_segreduce_cpu_bytes(uint64_t weight)
{
    return gpi_piece(shares_of(weight) * sizeof(struct gpi_segreduce_left));
}

/* ---- segments -------------------------------------------------------------------------------- */

/* The first item of segment s. */
static uint64_t begin_of(const struct gpi_segreduce_job *job, uint64_t s)
{
    const struct gpi_segreduce_args *a = job->args;
    return a->offsets ? gpi_word_at(a->offsets, gpi_dtype_bytes(a->offset_dtype), s) - job->base
                      : s * a->row_length;
}

/* How many segments end in the first `weight` of the merged items and ends. */
static uint64_t ends_before(const struct gpi_segreduce_job *job, uint64_t weight)
{
    uint64_t low = 0, high = job->args->count + 1; /* low end before, high do not */
    if (weight >= job->weight)
        return job->args->count;
    while (high - low > 1) {
        const uint64_t s = low + (high - low) / 2;
        if (begin_of(job, s) * job->item_bytes + s * job->end_weight <= weight)
            low = s;
        else
            high = s;
    }
    return low;
}

/* And the first item that is behind them. */
static uint64_t item_at(const struct gpi_segreduce_job *job, uint64_t weight, uint64_t ends)
{
    const uint64_t i = (weight - ends * job->end_weight) / job->item_bytes;
    const uint64_t end = ends < job->args->count ? begin_of(job, ends + 1) : job->args->n;
    return i < end ? i : end;
}

/* Ends of segments [s, s + count), counted from item `from`. */
static void ends_load(const struct gpi_segreduce_job *job, uint64_t s, uint32_t count,
                      uint64_t from, uint32_t *restrict to)
{
    const struct gpi_segreduce_args *a = job->args;
    const uint64_t less = job->base + from;
    if (!a->offsets) {
        const uint64_t first = (s + 1) * a->row_length - from;
        for (uint32_t j = 0; j < count; j++)
            to[j] = (uint32_t)(first + j * a->row_length);
    } else if (gpi_dtype_bytes(a->offset_dtype) == 4) {
        const uint32_t *offsets = (const uint32_t *)a->offsets + s + 1;
        gpi_ahead(offsets, count * sizeof *offsets, GPI_AHEAD_BYTES);
        for (uint32_t j = 0; j < count; j++)
            to[j] = offsets[j] - (uint32_t)less;
    } else {
        const uint64_t *offsets = (const uint64_t *)a->offsets + s + 1;
        gpi_ahead(offsets, count * sizeof *offsets, GPI_AHEAD_BYTES);
        for (uint32_t j = 0; j < count; j++)
            to[j] = (uint32_t)(offsets[j] - less);
    }
}

#include "segreduce/segreduce_cpu_pieces.h"

/* ---- shares ---------------------------------------------------------------------------------- */

/* The fold of items [begin, end), which are in a share. */
static void part_fold(const struct gpi_segreduce_job *job, uint64_t begin, uint64_t end,
                      struct part *part)
{
    const uint32_t ends[2] = {0, (uint32_t)(end - begin)};
    const struct gpi_segreduce_piece p = {.op = job->args->op,
                                          .folds = job->folds,
                                          .in =
                                              (const char *)job->args->in + begin * job->item_bytes,
                                          .begins = ends,
                                          .ends = ends + 1,
                                          .count = 1,
                                          .empty = &job->empty};
    part->some = end > begin;
    if (!part->some)
        return;
    job->unit->fold(&p, &part->value);
    if (job->args->places) {
        job->unit->places(&p, &part->index);
        part->index += begin;
    }
}

/* The lines of the next results come while these are computed. */
static void results_ahead(const struct gpi_segreduce_job *job, uint64_t s, uint32_t count)
{
    const struct gpi_segreduce_args *a = job->args;
    const size_t bytes = count * (size_t)job->out_bytes, places = count * sizeof *a->indices;
    if (a->out && !job->stream)
        gpi_ahead_of_writes((const char *)a->out + s * job->out_bytes, bytes, (int64_t)bytes);
    if (a->indices)
        gpi_ahead_of_writes(a->indices + s, places, (int64_t)places);
}

static void share_reduce(void *arg, size_t share)
{
    const struct gpi_segreduce_job *job = arg;
    const uint64_t from = share * (uint64_t)GPI_SEGREDUCE_SHARE_CPU;
    const uint64_t to = from + GPI_SEGREDUCE_SHARE_CPU;
    const uint64_t s0 = ends_before(job, from), s1 = ends_before(job, to);
    const uint64_t i1 = to < job->weight ? item_at(job, to, s1) : job->args->n;
    uint64_t i = from ? item_at(job, from, s0) : 0;
    struct gpi_segreduce_left *left = &job->left[share];
    uint32_t ends[1 + GPI_SEGREDUCE_PIECE];
    left->ended = s1 > s0;
    left->first = s0;
    if (left->ended) {
        const uint64_t end = begin_of(job, s0 + 1);
        part_fold(job, i, end, &left->head);
        i = end;
    }
    for (uint64_t s = s0 + left->ended; s < s1;) {
        const uint32_t count = s1 - s < job->most ? (uint32_t)(s1 - s) : job->most;
        ends[0] = 0;
        ends_load(job, s, count, i, ends + 1);
        const char *in = (const char *)job->args->in + i * job->item_bytes;
        gpi_ahead(in, ends[count] * job->item_bytes, GPI_AHEAD_BYTES);
        results_ahead(job, s, count);
        gpi_segreduce_cpu_piece(job, in, ends, count, s);
        i += ends[count];
        s += count;
    }
    part_fold(job, i, i1, &left->tail);
    if (job->stream)
        stores_done();
}

/* ---- what goes on ---------------------------------------------------------------------------- */

/* *l = *l op *r */
static void part_join(const struct gpi_segreduce_job *job, struct part *l, const struct part *r)
{
    const union gpi_segreduce_acc before = l->value;
    if (!r->some)
        return;
    if (!l->some) {
        *l = *r;
        return;
    }
    job->folds->join(job->args->op, &l->value, &r->value);
    if (job->args->places && memcmp(&before, &l->value, job->acc_bytes) != 0)
        l->index = r->index;
}

/* The first segment that ends in a share; it may be all that has ended. */
static void head_store(const struct gpi_segreduce_job *job, uint64_t s, const struct part *head)
{
    const struct gpi_segreduce_args *a = job->args;
    union gpi_segreduce_acc all = head->some ? head->value : job->empty;
    if (a->places) {
        a->indices[s] = head->some ? head->index - begin_of(job, s) : UINT64_MAX;
        if (a->out && head->some)
            memcpy((char *)a->out + s * job->item_bytes,
                   (const char *)a->in + head->index * job->item_bytes, job->item_bytes);
        if (!a->out || head->some)
            return;
    } else if (a->has_init) {
        all = job->init;
        if (head->some)
            job->folds->join(a->op, &all, &head->value);
    }
    results_store(job, &all, 1, s);
}

static void heads_store(const struct gpi_segreduce_job *job)
{
    struct part open = {.some = false};
    for (uint64_t share = 0; share < shares_of(job->weight); share++) {
        const struct gpi_segreduce_left *left = &job->left[share];
        if (left->ended) {
            part_join(job, &open, &left->head);
            head_store(job, left->first, &open);
            open.some = false;
        }
        part_join(job, &open, &left->tail);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The initial value as an accumulator. */
static void init_load(const struct gpi_segreduce_args *args, union gpi_segreduce_acc *acc)
{
    const int bits = 8 * (int)gpi_dtype_bytes(args->out_dtype);
    uint16_t half;
    memcpy(&half, args->init, sizeof half);
    memset(acc, 0, sizeof *acc);
    memcpy(acc, args->init, gpi_dtype_bytes(args->out_dtype) * gpi_op_scalars(args->op));
    if (args->out_dtype == GP_F16)
        acc->f = gpi_f16_to_float(half);
    else if (args->out_dtype == GP_BF16)
        acc->f = gpi_bf16_to_float(half);
    else if (gpi_dtype_is_signed(args->out_dtype))
        acc->bits = (uint64_t)((int64_t)(acc->bits << (64 - bits)) >> (64 - bits));
}

/* Of a sum +0, not the neutral -0; of the minimum of halves the NaN that they narrow one to. */
static void empty_load(struct gpi_segreduce_job *job)
{
    const struct gpi_segreduce_args *a = job->args;
    if (a->has_init)
        job->empty = job->init;
    else if (a->op == GP_MIN && a->in_dtype == GP_F16)
        job->empty.f = gpi_f16_to_float(0x7fff);
    else if (a->op == GP_MIN && a->in_dtype == GP_BF16)
        job->empty.f = gpi_bf16_to_float(0x7fff);
    else if (a->op != GP_SUM)
        job->folds->identity(a->op, &job->empty);
}

void gpi_segreduce_cpu_open(const gp_context *ctx, const struct gpi_segreduce_args *args,
                            struct gpi_segreduce_job *job)
{
    *job = (struct gpi_segreduce_job){
        .args = args,
        .folds = gpi_reduce_cpu_find(ctx, args->in_dtype, args->out_dtype, args->op),
        .unit = gpi_segreduce_cpu_find(args->in_dtype, args->out_dtype, args->op),
        .narrow = gpi_segreduce_cpu_narrow(ctx),
        .out_bytes = (uint32_t)(gpi_dtype_bytes(args->out_dtype) * gpi_op_scalars(args->op))};
    job->item_bytes = (uint32_t)job->folds->item_bytes;
    job->acc_bytes = (uint32_t)job->folds->acc_bytes;
    job->most = job->acc_bytes > 8 ? GPI_SEGREDUCE_PIECE * 8 / job->acc_bytes : GPI_SEGREDUCE_PIECE;
    job->stream = args->count * job->out_bytes > gpi_cache_bytes();
    if (args->has_init)
        init_load(args, &job->init);
    empty_load(job);
    side_open(ctx, job);
    lines_open(ctx, job);
    job->vectors = job->side || job->lines;
}

gp_status gpi_segreduce_cpu(gp_context *ctx, const struct gpi_segreduce_args *args)
{
    const size_t offset = args->offsets ? gpi_dtype_bytes(args->offset_dtype) : 0;
    struct gpi_segreduce_job job;
    gpi_segreduce_cpu_open(ctx, args, &job);
    job.base = args->offsets ? gpi_word_at(args->offsets, offset, 0) : 0;
    job.end_weight = gpi_segreduce_end_weight(!args->offsets, offset, job.out_bytes, args->places);
    job.weight = args->n * job.item_bytes + args->count * job.end_weight;
    const size_t bytes = gpi_segreduce_cpu_bytes(job.weight);
    GPI_FRAME(frame, ctx, args->function, bytes);
    job.left = gpi_frame_take(&frame, bytes);
    gpi_parallel_for(gpi_threads_for(ctx->threads, job.weight / 8), (size_t)shares_of(job.weight),
                     share_reduce, &job);
    heads_store(&job);
    return GP_OK;
}
