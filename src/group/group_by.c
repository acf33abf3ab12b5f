/* SPDX-License-Identifier: MIT */
/*
 * Groups of keys in any order: a stable sort, then the runs; where that is possible, folds of few
 * groups without a sort (group_few_k.cuh, group_few_cpu.c), or on CUDA of more in the buckets of
 * the sort (group_bucket_k.cuh). One array of values is sorted with the keys. Several are gathered
 * one by one by positions that were sorted with the keys, each into the same scratch, and each
 * goes through the runs by itself, which costs little beside the gather.
 *
 * Scratch: [keys n][values n, of the widest array][positions n][few groups][groups of buckets]
 * [the sort's, or the runs'].
 */
#include <gp/gather.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/launch_ahead.h"
#include "core/workspace.h"
#include "group/group_by_call.h"
#include "group/group_internal.h"
#include "radixsort/radixsort_internal.h"

enum { MAX = GP_AGGREGATES_MAX };

/* From this number of items on it is tried to fold in buckets. Where that fails it has cost 40
 * to 60 us (H100, 2026-11-27): up to 6% of a call of 2^24 items, 1 to 3% of one of 2^26. */
#ifndef GPI_GROUP_BUCKETS_FROM
#define GPI_GROUP_BUCKETS_FROM ((size_t)1 << 26)
#endif

/* From this one on it is tried to fold few groups without a sort. */
#ifndef GPI_GROUP_FEW_FROM
#define GPI_GROUP_FEW_FROM ((size_t)1 << 20)
#endif

/* ---- workspace ------------------------------------------------------------------------------- */

/* What is sorted with the keys: values, or their positions; 0: nothing. Equal floats may have other
 * bits, of which those of the first are wanted, so these keys never come alone. */
static size_t beside_bytes(const struct gpi_group_call *c, bool several)
{
    if (several || (c->widest == 0 && gpi_dtype_is_float(c->key_dtype)))
        return gpi_radix_index_bytes(c->n);
    return c->widest;
}

static struct gpi_radix_job sort_of(const struct gpi_group_call *c, bool several)
{
    return (struct gpi_radix_job){.key_bytes = gpi_dtype_bytes(c->key_dtype),
                                  .value_bytes = beside_bytes(c, several),
                                  .n = c->n,
                                  .keys_in = c->keys,
                                  .values_in = several || c->widest == 0 ? NULL : c->values};
}

/* The runs of sorted keys, with the most that they are asked for at once. */
static struct gpi_group_args runs_of(const struct gpi_group_call *c)
{
    struct gpi_group_args a = {
        .n = c->n, .device_n = c->device_n, .capacity = c->capacity, .index_bytes = 8};
    gpi_group_keys(&a, c->key_dtype, 0);
    return a;
}

static gp_status sort_bytes(const gp_target *t, const struct gpi_group_call *c, bool several,
                            size_t *bytes)
{
    const size_t beside = beside_bytes(c, several);
    size_t sort, order = 0;
    GPI_TRY(gp_radix_sort_workspace_bytes(t, c->key_dtype, beside, c->n, NULL, &sort));
    if (beside && beside == gpi_radix_index_bytes(c->n))
        GPI_TRY(gp_argsort_workspace_bytes(t, c->key_dtype, c->n, beside == 4 ? GP_U32 : GP_U64,
                                           NULL, &order));
    *bytes = sort > order ? sort : order;
    return GP_OK;
}

/* Folds that the buckets of the sort may give, if all aggregates are some; none: count is 0. */
static struct gpi_group_buckets buckets_of(gp_backend backend, const struct gpi_group_call *c,
                                           bool several)
{
    struct gpi_group_buckets b = {.few_keys = c->n >= GPI_GROUP_BUCKETS_FROM,
                                  .key_dtype = c->key_dtype,
                                  .key_bytes = (uint32_t)gpi_dtype_bytes(c->key_dtype),
                                  .keys_in = c->keys,
                                  .values_in = c->values,
                                  .n = c->n,
                                  .device_n = c->device_n,
                                  .capacity = c->capacity};
    if (backend == GP_BACKEND_CPU || several || !beside_bytes(c, several) ||
        c->count > GPI_GROUP_BUCKET_FOLDS || b.key_bytes < 4 || c->n < GPI_GROUP_FEW_FROM ||
        c->n >> 32)
        return b;
    for (int i = 0; i < c->count; i++) {
        const gp_aggregate *g = &c->of[i];
        const bool counts = g->kind == GP_AGGREGATE_COUNT;
        const bool folds = g->op == GP_SUM || g->op == GP_MIN || g->op == GP_MAX;
        if (!counts &&
            (g->kind != GP_AGGREGATE_REDUCE || !folds || gpi_dtype_bytes(g->in_dtype) < 4)) {
            b.count = 0;
            return b;
        }
        b.folds[b.count++] =
            (struct gpi_group_bucket_fold){counts ? (gp_dtype)0 : g->in_dtype, g->out_dtype,
                                           counts ? GP_SUM : g->op, g->out, NULL};
    }
    return b;
}

/* Folds without a sort on the CPU. */
static struct gpi_group_few_args few_of(const struct gpi_group_call *c, void *keys_out,
                                        uint64_t *out_count)
{
    return (struct gpi_group_few_args){c->keys,  c->n,      c->capacity, c->key_dtype,
                                       keys_out, out_count, c->count,    c->of};
}

static gp_status frame_bytes(const gp_target *t, const struct gpi_group_call *c, bool several,
                             size_t *bytes)
{
    const struct gpi_group_few_args without = few_of(c, NULL, NULL);
    const size_t few = t->backend == GP_BACKEND_CPU ? gpi_group_few_cpu_bytes(&without) : 0;
    struct gpi_group_fold folds[MAX];
    struct gpi_group_move moves[MAX];
    struct gpi_group_args a = runs_of(c);
    size_t sort, pieces = gpi_piece(c->n * gpi_dtype_bytes(c->key_dtype));
    for (int i = 0; i < c->count; i++)
        if (c->of[i].kind == GP_AGGREGATE_REDUCE)
            folds[a.fold_count++] = (struct gpi_group_fold){NULL, NULL, c->of[i].in_dtype,
                                                            c->of[i].out_dtype, c->of[i].op};
        else
            a.move_count++;
    a.folds = folds, a.moves = moves;
    GPI_TRY(sort_bytes(t, c, several, &sort));
    pieces += gpi_piece(c->n * c->widest) + gpi_piece(c->n * beside_bytes(c, several));
    const size_t runs = gpi_group_bytes(t, &a);
    const struct gpi_group_buckets b = buckets_of(t->backend, c, several);
    pieces += b.count ? gpi_group_buckets_bytes(&b, c->n) : 0;
    pieces += sort > runs ? sort : runs;
    *bytes = c->n == 0 ? 0 : pieces > few ? pieces : few;
    return GP_OK;
}

gp_status gp_group_by_workspace_bytes(const gp_target *target, const gp_group_by_desc *desc,
                                      size_t n, size_t *bytes)
{
    static const char f[] = "gp_group_by_workspace_bytes";
    gp_target t;
    struct gpi_group_call c;
    size_t one, several;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_group_by_take(NULL, f, desc, n, &c));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(frame_bytes(&t, &c, false, &one));
    GPI_TRY(frame_bytes(&t, &c, true, &several));
    *bytes = one > several ? one : several;
    return GP_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The aggregates of one array of values (NULL: those that have none), which lie sorted. */
struct group {
    struct gpi_group_args a;
    struct gpi_group_fold folds[MAX];
    struct gpi_group_move moves[MAX];
};

static void group_add(struct group *g, const gp_aggregate *of, const void *sorted)
{
    if (of->kind == GP_AGGREGATE_REDUCE)
        g->folds[g->a.fold_count++] =
            (struct gpi_group_fold){sorted, of->out, of->in_dtype, of->out_dtype, of->op};
    else
        g->moves[g->a.move_count++] = (struct gpi_group_move){
            sorted, of->out, (uint32_t)of->value_bytes, of->kind == GP_AGGREGATE_LAST};
}

static gp_status run_group(gp_context *ctx, const char *f, struct group *g)
{
    g->a.folds = g->folds, g->a.moves = g->moves;
    const gp_status s = gpi_group_run(ctx, f, &g->a);
    g->a.keys_out = g->a.lengths = NULL;
    g->a.fold_count = g->a.move_count = 0;
    return s;
}

/* Groups and counts: a run has one array of lengths. */
static gp_status run_counts(gp_context *ctx, const char *f, const struct gpi_group_call *c,
                            struct group *g)
{
    for (int i = 0; i < c->count; i++) {
        if (c->of[i].kind != GP_AGGREGATE_COUNT)
            continue;
        if (g->a.lengths)
            GPI_TRY(run_group(ctx, f, g));
        g->a.lengths = c->of[i].out;
        g->a.index_bytes = (uint32_t)gpi_dtype_bytes(c->of[i].out_dtype);
    }
    return GP_OK;
}

/* One after the other: the aggregates of each array of values, and of each size of them. */
static gp_status run_gathered(gp_context *ctx, const char *f, const struct gpi_group_call *c,
                              const void *positions, size_t position_bytes, void *sorted,
                              struct group *g)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    bool done[MAX] = {false};
    d.index_dtype = position_bytes == 4 ? GP_U32 : GP_U64;
    d.device_n = c->device_n;
    for (int i = 0; i < c->count; i++) {
        const size_t bytes = gpi_group_value_bytes(&c->of[i]);
        if (done[i] || bytes == 0)
            continue;
        d.item_bytes = bytes;
        GPI_TRY(gp_gather_by(ctx, &d, c->of[i].values, positions, c->n, sorted));
        for (int j = i; j < c->count; j++)
            if (c->of[j].values == c->of[i].values && gpi_group_value_bytes(&c->of[j]) == bytes) {
                group_add(g, &c->of[j], sorted);
                done[j] = true;
            }
        GPI_TRY(run_group(ctx, f, g));
    }
    return GP_OK;
}

static gp_status sort(gp_context *ctx, const char *f, const struct gpi_group_call *c,
                      const uint64_t *device_n, void *keys, void *beside,
                      struct gpi_radix_visitor *visitor)
{
    struct gpi_radix_job job = sort_of(c, c->several);
    job.keys_out = keys, job.values_out = beside, job.visitor = visitor;
    GPI_TRY(gpi_radix_apply_options(ctx, f, ctx->backend, c->key_dtype, NULL, &job));
    job.device_n = device_n;
    return ctx->backend == GP_BACKEND_CUDA ? gpi_radixsort_cuda(ctx, f, &job)
                                           : gpi_radixsort_cpu(ctx, f, &job);
}

/* The groups of what is sorted: keys, and values or positions. */
static gp_status run_sorted(gp_context *ctx, const char *f, const struct gpi_group_call *c,
                            const void *positions, void *values, struct group *g)
{
    GPI_TRY(run_counts(ctx, f, c, g));
    if (c->several)
        return run_gathered(ctx, f, c, positions, beside_bytes(c, true), values, g);
    for (int i = 0; i < c->count; i++)
        if (gpi_group_value_bytes(&c->of[i]))
            group_add(g, &c->of[i], values);
    return run_group(ctx, f, g);
}

static gp_status group(gp_context *ctx, const char *f, const struct gpi_group_call *c,
                       void *keys_out, uint64_t *out_count)
{
    const gp_target target = gpi_target_of(ctx);
    struct gpi_group_buckets b = buckets_of(ctx->backend, c, c->several);
    const size_t key = gpi_dtype_bytes(c->key_dtype), beside = beside_bytes(c, c->several);
    struct group g = {.a = runs_of(c)};
    const struct gpi_group_few_args few = few_of(c, keys_out, out_count);
    bool done = false;
    size_t need;
    if (ctx->backend == GP_BACKEND_CPU)
        GPI_TRY(gpi_group_few_cpu(ctx, f, &few, &done));
    if (done)
        return GP_OK;
    GPI_TRY(frame_bytes(&target, c, c->several, &need));
    GPI_FRAME(frame, ctx, f, need);
    void *sorted = gpi_frame_take(&frame, c->n * key);
    void *values = c->widest ? gpi_frame_take(&frame, c->n * c->widest) : NULL;
    void *positions = beside ? values : NULL;
    if (c->several || c->widest == 0)
        positions = beside ? gpi_frame_take(&frame, c->n * beside) : NULL;
    if (b.count)
        gpi_group_buckets_take(&b, &frame, c->n);
    b.keys_out = keys_out;
    if (b.count) {
        GPI_TRY(gpi_group_fold_few_groups(ctx, f, &b));
        g.a.device_n = &gpi_group_few_of(&b)->remaining, g.a.more = &gpi_group_few_of(&b)->groups;
    }
    const gp_status s =
        sort(ctx, f, c, g.a.device_n, sorted, positions, b.count && b.few_keys ? &b.visitor : NULL);
    GPI_TRY(b.count ? gpi_launch_ahead_end(ctx, f, s) : s);
    g.a.keys = sorted, g.a.keys_out = keys_out, g.a.out_count = out_count;
    if (b.visited)
        g.a.device_n = &b.progress->remaining, g.a.more = &b.progress->groups;
    return run_sorted(ctx, f, c, positions, values, &g);
}

static gp_status no_groups(gp_context *ctx, uint64_t *out_count)
{
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_cuda_fill(ctx, out_count, 0, sizeof *out_count);
    *out_count = 0;
    return GP_OK;
}

gp_status gp_group_by(gp_context *ctx, const gp_group_by_desc *desc, const void *keys, size_t n,
                      void *keys_out, uint64_t *out_count)
{
    static const char f[] = "gp_group_by";
    struct gpi_group_call c;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_group_by_take(ctx, f, desc, n, &c));
    c.keys = keys;
    GPI_TRY(gpi_group_by_check(ctx, f, &c, keys_out, out_count));
    GPI_ON_DEVICE(ctx);
    if (ctx->backend == GP_BACKEND_CPU && c.device_n) {
        c.n = *c.device_n < c.n ? *c.device_n : c.n;
        c.device_n = NULL;
    }
    if (c.n == 0)
        return no_groups(ctx, out_count);
    return gpi_named(ctx, f, group(ctx, f, &c, keys_out, out_count));
}
