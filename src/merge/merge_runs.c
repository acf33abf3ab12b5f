/* SPDX-License-Identifier: MIT */
/* Merge of many runs: front door, the stable sort that is one, and levels of merges on the CPU. */
#include <gp/merge.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "gather/gather_internal.h"
#include "merge/merge_internal.h"
#include "radixsort/radixsort_internal.h"
#include "validate/validate_internal.h"

/* One call, checked. */
struct runs {
    gp_merge_runs_desc d;
    size_t key_bytes;
    uint64_t n, num_runs;
    const void *keys_in, *values_in, *offsets;
    void *keys_out, *values_out;
};

/* ---- by a sort ------------------------------------------------------------------------------- */

/* A stable sort of all items. Keys of floats alone would lose the order of equal ones: positions go
 * beside them. */
static struct gpi_radix_job sort_of(const struct runs *r)
{
    struct gpi_radix_job j = {.order = gpi_radix_order_of(r->d.dtype, r->d.order),
                              .key_bytes = r->key_bytes,
                              .value_bytes = r->d.value_bytes,
                              .n = r->n,
                              .device_n = r->d.device_n,
                              .end_bit = 8 * (int)r->key_bytes,
                              .keys_in = r->keys_in,
                              .values_in = r->values_in};
    j.keys_out = r->keys_out;
    j.values_out = r->values_out;
    if (j.order.inf && j.value_bytes == 0) {
        j.value_bytes = gpi_radix_index_bytes(r->n);
        j.values_in = NULL;
    }
    return j;
}

/* Positions beside keys alone. */
static size_t positions_bytes(const struct gpi_radix_job *j, const struct runs *r)
{
    return j->value_bytes != r->d.value_bytes ? gpi_piece(j->n * j->value_bytes) : 0;
}

static size_t sort_bytes(const gp_target *t, const struct runs *r)
{
    struct gpi_radix_job j = sort_of(r);
    j.keys_out = (void *)(uintptr_t)&j; /* any array: there is one */
    j.device_n = NULL;
    return positions_bytes(&j, r) + gpi_target_bytes(t, gpi_radixsort_cpu_bytes(t->threads, &j),
                                                     gpi_radixsort_cuda_bytes(t->sm_count, &j));
}

static gp_status run_sort(gp_context *ctx, const char *f, const struct runs *r)
{
    const gp_target target = gpi_target_of(ctx);
    struct gpi_radix_job j = sort_of(r);
    GPI_FRAME(frame, ctx, f, sort_bytes(&target, r));
    if (positions_bytes(&j, r))
        j.values_out = gpi_frame_take(&frame, j.n * j.value_bytes);
    return ctx->backend == GP_BACKEND_CPU ? gpi_radixsort_cpu(ctx, f, &j)
                                          : gpi_radixsort_cuda(ctx, f, &j);
}

/* ---- by merges, on the CPU ------------------------------------------------------------------- */

/* Outputs of a task: searching where it begins costs little beside them. */
enum { SHARE = 1 << 15 };

/* A level merges groups of runs two by two. */
struct level {
    const struct runs *r;
    struct gpi_merge_job job; /* with the arrays from the first item on */
    gpi_merge_share_fn *merge;
    uint64_t group; /* runs of one */
};

static uint64_t offset_at(const struct runs *r, uint64_t run)
{
    const uint64_t at = run < r->num_runs ? run : r->num_runs;
    if (gpi_dtype_bytes(r->d.offset_dtype) == 4)
        return ((const uint32_t *)r->offsets)[at] - ((const uint32_t *)r->offsets)[0];
    return ((const uint64_t *)r->offsets)[at] - ((const uint64_t *)r->offsets)[0];
}

static int levels_of(uint64_t num_runs)
{
    int levels = 0;
    while ((uint64_t)1 << levels < num_runs)
        levels++;
    return levels;
}

/* A level moves every item once; a sort of keys alone takes the time of four, one of pairs that of
 * six levels (merge-04). */
static bool by_merges(const struct runs *r)
{
    return levels_of(r->num_runs) <= (r->d.value_bytes ? 6 : 4) && r->d.value_bytes <= 16 &&
           r->n / r->num_runs >= 64;
}

/* The pair of groups that has output i. */
static uint64_t pair_of(const struct level *l, uint64_t i)
{
    uint64_t low = 0, high = (l->r->num_runs - 1) / (2 * l->group);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (offset_at(l->r, (middle + 1) * 2 * l->group) <= i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const void *item_at(const void *array, size_t bytes, uint64_t i)
{
    return bytes ? (const char *)array + bytes * i : array;
}

static void merge_share(void *arg, size_t share)
{
    const struct level *l = arg;
    const struct gpi_merge_job *j = &l->job;
    const uint64_t n = l->r->n, end = (share + 1) * (uint64_t)SHARE;
    uint64_t at = share * (uint64_t)SHARE;
    for (uint64_t pair = pair_of(l, at); at < end && at < n; pair++) {
        const uint64_t a = offset_at(l->r, pair * 2 * l->group);
        const uint64_t b = offset_at(l->r, (pair * 2 + 1) * l->group);
        const uint64_t stop = offset_at(l->r, (pair + 1) * 2 * l->group);
        const uint64_t upto = stop < end ? stop : end;
        struct gpi_merge_job one = *j;
        one.keys_a = item_at(j->keys_a, j->key_bytes, a);
        one.keys_b = item_at(j->keys_a, j->key_bytes, b);
        one.values_a = item_at(j->values_a, j->value_bytes, a);
        one.values_b = item_at(j->values_a, j->value_bytes, b);
        one.num_a = b - a;
        one.num_b = stop - b;
        one.keys_out = (void *)(uintptr_t)item_at(j->keys_out, j->key_bytes, a);
        one.values_out = (void *)(uintptr_t)item_at(j->values_out, j->value_bytes, a);
        if (at < upto)
            l->merge(&one, at - a, upto - a);
        at = upto > at ? upto : at;
    }
}

static size_t merges_bytes(const struct runs *r)
{
    return gpi_piece(r->n * r->key_bytes) + gpi_piece(r->n * r->d.value_bytes);
}

static gp_status run_merges(gp_context *ctx, const char *f, const struct runs *r)
{
    GPI_FRAME(frame, ctx, f, merges_bytes(r));
    void *keys = gpi_frame_take(&frame, r->n * r->key_bytes);
    void *values = gpi_frame_take(&frame, r->n * r->d.value_bytes);
    struct level l = {.r = r, .merge = gpi_merge_share_get(gpi_key_width(r->key_bytes))};
    l.job = (struct gpi_merge_job){.order = gpi_radix_order_of(r->d.dtype, r->d.order),
                                   .key_bytes = r->key_bytes,
                                   .value_bytes = r->d.value_bytes,
                                   .keys_a = r->keys_in,
                                   .values_a = r->values_in};
    const int levels = levels_of(r->num_runs) > 1 ? levels_of(r->num_runs) : 1;
    for (int k = 1; k <= levels; k++) {
        const bool to_out = (levels - k) % 2 == 0;
        l.group = (uint64_t)1 << (k - 1);
        l.job.keys_out = to_out ? r->keys_out : keys;
        l.job.values_out = to_out ? r->values_out : values;
        gpi_parallel_for(gpi_threads_for(ctx->threads, r->n * 2),
                         (size_t)((r->n + SHARE - 1) / SHARE), merge_share, &l);
        l.job.keys_a = l.job.keys_out;
        l.job.values_a = l.job.values_out;
    }
    return GP_OK;
}

/* ---- by merges, on CUDA ---------------------------------------------------------------------- */

/* Two levels take two thirds of a sort's time, three all of it (merge-04). Fewer items are sorted
 * in fewer launches: from where on two runs are merged, and three and four. */
enum { CUDA_RUNS = 4, CUDA_ITEMS_OF_2 = 1 << 20, CUDA_ITEMS_OF_4 = 1 << 23 };

static bool by_merges_cuda(const struct runs *r)
{
    return r->num_runs <= CUDA_RUNS && r->key_bytes >= 4 &&
           r->n >= (uint64_t)(r->num_runs > 2 ? CUDA_ITEMS_OF_4 : CUDA_ITEMS_OF_2);
}

static size_t merges_bytes_cuda(const struct runs *r)
{
    return merges_bytes(r) + gpi_piece(gpi_merge_cuts(r->n) * sizeof(uint64_t));
}

/* One pair of groups after another: a launch has as many blocks as all items want. */
static gp_status run_merges_cuda(gp_context *ctx, const char *f, const struct runs *r)
{
    GPI_FRAME(frame, ctx, f, merges_bytes_cuda(r));
    void *keys = gpi_frame_take(&frame, r->n * r->key_bytes);
    void *values = gpi_frame_take(&frame, r->n * r->d.value_bytes);
    uint64_t *cuts = gpi_frame_take(&frame, gpi_merge_cuts(r->n) * sizeof *cuts);
    struct gpi_merge_job j = {.order = gpi_radix_order_of(r->d.dtype, r->d.order),
                              .key_bytes = r->key_bytes,
                              .value_bytes = r->d.value_bytes,
                              .keys_a = r->keys_in,
                              .values_a = r->values_in,
                              .num_a = r->n};
    const uint32_t num_runs = (uint32_t)r->num_runs;
    const int levels = levels_of(num_runs) > 1 ? levels_of(num_runs) : 1;
    for (int k = 1; k <= levels; k++) {
        const bool to_out = (levels - k) % 2 == 0;
        const uint32_t group = 1u << (k - 1);
        j.keys_out = to_out ? r->keys_out : keys;
        j.values_out = to_out ? r->values_out : values;
        for (uint32_t run = 0; run < num_runs; run += 2 * group) {
            j.groups = (struct gpi_merge_groups){.offsets = r->offsets,
                                                 .run_a = run,
                                                 .run_b = run + group,
                                                 .end = run + 2 * group,
                                                 .num_runs = num_runs,
                                                 .device_num_runs = r->d.device_num_runs,
                                                 .n = r->n,
                                                 .device_n = r->d.device_n};
            j.groups.offset_bytes = (uint32_t)gpi_dtype_bytes(r->d.offset_dtype);
            GPI_TRY(gpi_merge_launch_get(ctx->sm_row)(ctx, f, &j, cuts));
        }
        j.keys_a = j.keys_out;
        j.values_a = j.values_out;
    }
    return GP_OK;
}

/* ---- front door ------------------------------------------------------------------------------ */

/* *d becomes the full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, const gp_merge_runs_desc *given,
                            gp_merge_runs_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_merge_runs_desc)));
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->dtype", d->dtype));
    GPI_TRY(gpi_check_order(ctx, f, "desc->order", d->order));
    if (d->value_bytes)
        GPI_TRY(gpi_check_item_bytes(ctx, f, "desc->value_bytes", d->value_bytes));
    GPI_TRY(gpi_check_index_dtype(ctx, f, "desc->offset_dtype", d->offset_dtype));
    return gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved);
}

static gp_status check_arrays(gp_context *ctx, const char *f, const struct runs *r)
{
    const size_t item = r->key_bytes, value = r->d.value_bytes;
    const size_t alignment = value ? gpi_item_alignment(value) : 1;
    const size_t offset = gpi_dtype_bytes(r->d.offset_dtype);
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_n", r->d.device_n),
        GPI_COUNT("desc->device_num_runs", r->d.device_num_runs),
        GPI_READ("keys_in", r->keys_in, r->n * item, item),
        GPI_READ("values_in", r->values_in, r->n * value, alignment),
        GPI_READ("offsets", r->offsets, (r->num_runs + 1) * offset, offset),
        GPI_WRITE("keys_out", r->keys_out, r->n * item, item),
        GPI_WRITE("values_out", r->values_out, r->n * value, alignment),
    };
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 4));
    GPI_TRY(gpi_check_index_value(ctx, f, "n", r->n, "desc->offset_dtype", r->d.offset_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "num_runs", r->num_runs));
    if (r->num_runs == 0 && r->n)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: num_runs is 0, expected 1 or more with n = %llu", f,
                        (unsigned long long)r->n);
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 4, 3));
    return gpi_check_apart(ctx, f, arrays, 5, 7);
}

/* What the offsets must be, and the keys. */
static void rules_of(const struct runs *r, struct gpi_content rules[2])
{
    rules[0] = (struct gpi_content)GPI_OFFSETS("offsets", r->offsets, r->num_runs,
                                               r->d.offset_dtype, r->n);
    rules[0].device_n = r->d.device_num_runs;
    rules[0].device_bound = r->d.device_n;
    rules[1] = (struct gpi_content)GPI_SORTED("keys_in", r->keys_in, r->n, r->d.dtype, r->d.order);
    rules[1].device_n = r->d.device_n;
    rules[1].num_runs = r->num_runs;
    rules[1].device_num_runs = r->d.device_num_runs;
    rules[1].offsets = r->offsets;
    rules[1].offset_bytes = gpi_dtype_bytes(r->d.offset_dtype);
}

static gp_status run(gp_context *ctx, const char *f, const struct runs *r)
{
    if (r->n == 0)
        return GP_OK;
    if (ctx->backend == GP_BACKEND_CUDA && by_merges_cuda(r) && gpi_merge_launch_get(ctx->sm_row))
        return run_merges_cuda(ctx, f, r);
    return ctx->backend == GP_BACKEND_CPU && by_merges(r) ? run_merges(ctx, f, r)
                                                          : run_sort(ctx, f, r);
}

gp_status gp_merge_runs(gp_context *ctx, const gp_merge_runs_desc *desc, const void *keys_in,
                        const void *values_in, size_t n, const void *offsets, size_t num_runs,
                        void *keys_out, void *values_out)
{
    static const char f[] = "gp_merge_runs";
    struct gpi_content rules[2];
    struct runs r = {.n = n,
                     .num_runs = num_runs,
                     .keys_in = keys_in,
                     .values_in = values_in,
                     .offsets = offsets,
                     .keys_out = keys_out,
                     .values_out = values_out};
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, desc, &r.d));
    r.key_bytes = gpi_dtype_bytes(r.d.dtype);
    GPI_TRY(check_arrays(ctx, f, &r));
    r.n = gpi_count_now(ctx, &r.d.device_n, n);
    r.num_runs = gpi_count_now(ctx, &r.d.device_num_runs, num_runs);
    rules_of(&r, rules);
    GPI_ON_DEVICE(ctx);
    if (ctx->backend == GP_BACKEND_CPU) {
        GPI_TRY(gpi_content_check(ctx, f, &rules[0]));
        GPI_TRY(gpi_validate_begin(ctx, f, rules + 1, 1));
        return gpi_validate_end(ctx, f, run(ctx, f, &r));
    }
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    gp_status s = gpi_content_report(ctx, f, &rules[0]);
    return gpi_validate_end(ctx, f, s == GP_OK ? run(ctx, f, &r) : s);
}

gp_status gp_merge_runs_workspace_bytes(const gp_target *target, const gp_merge_runs_desc *desc,
                                        size_t n, size_t num_runs, size_t *bytes)
{
    static const char f[] = "gp_merge_runs_workspace_bytes";
    struct runs r = {.n = n, .num_runs = num_runs};
    gp_target t;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, desc, &r.d));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_n(NULL, f, "num_runs", num_runs));
    r.key_bytes = gpi_dtype_bytes(r.d.dtype);
    r.values_in = r.values_out = bytes; /* any array: there is one */
    const size_t sort = n ? sort_bytes(&t, &r) : 0, merges = n ? merges_bytes_cuda(&r) : 0;
    *bytes = sort > merges ? sort : merges;
    return GP_OK;
}
