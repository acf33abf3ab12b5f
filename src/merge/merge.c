/* SPDX-License-Identifier: MIT */
/* The front door of merges. */
#include <gp/merge.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "merge/merge_internal.h"
#include "validate/validate_internal.h"

/* Outputs per task of the CPU: enough that its search costs little beside them, few enough to keep
 * all threads busy. */
enum { SHARE_MIN = 1 << 14, SHARE_MAX = 1 << 20, SHARES_PER_THREAD = 8 };

struct shares {
    const struct gpi_merge_job *job;
    gpi_merge_share_fn *merge;
    uint64_t share, n;
};

static void merge_share(void *arg, size_t part)
{
    const struct shares *s = arg;
    uint64_t begin = part * s->share, end = begin + s->share;
    s->merge(s->job, begin, end < s->n ? end : s->n);
}

static gp_status run_cpu(gp_context *ctx, const struct gpi_merge_job *j)
{
    struct shares s = {j, gpi_merge_share_get(gpi_key_width(j->key_bytes)), 0, j->num_a + j->num_b};
    int threads = gpi_threads_for(ctx->threads, s.n * 2);
    s.share = s.n / ((uint64_t)threads * SHARES_PER_THREAD) + 1;
    s.share = s.share < SHARE_MIN ? SHARE_MIN : s.share > SHARE_MAX ? SHARE_MAX : s.share;
    gpi_parallel_for(threads, (size_t)((s.n + s.share - 1) / s.share), merge_share, &s);
    return GP_OK;
}

static size_t frame_bytes(uint64_t n)
{
    return gpi_piece(gpi_merge_cuts(n) * sizeof(uint64_t));
}

static gp_status run_cuda(gp_context *ctx, const char *f, const struct gpi_merge_job *j)
{
    uint64_t n = j->num_a + j->num_b;
    GPI_FRAME(frame, ctx, f, frame_bytes(n));
    void *cuts = gpi_frame_take(&frame, gpi_merge_cuts(n) * sizeof(uint64_t));
    return gpi_merge_launch_get(ctx->sm_row)(ctx, f, j, cuts);
}

/* The differences between the calls. */
struct call {
    const char *function;
    bool by;    /* the caller filled in the descriptor */
    bool pairs; /* there are values */
    const char *names[3];
};

#define KEYS(by, function) ((struct call){function, by, false, {"a", "b", "out"}})
#define PAIRS(by, function) ((struct call){function, by, true, {"keys_a", "keys_b", "keys_out"}})

/* *d becomes the full struct. */
static gp_status check_desc(gp_context *ctx, const struct call *c, const gp_merge_desc *given,
                            gp_merge_desc *d)
{
    const char *const f = c->function;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_merge_desc)));
    GPI_TRY(gpi_check_dtype(ctx, f, GPI_MEMBER(c->by, "dtype"), d->dtype));
    GPI_TRY(gpi_check_order(ctx, f, GPI_MEMBER(c->by, "order"), d->order));
    if (c->pairs)
        return gpi_check_item_bytes(ctx, f, GPI_MEMBER(c->by, "value_bytes"), d->value_bytes);
    if (d->value_bytes)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->value_bytes is %zu, expected 0", f,
                        d->value_bytes);
    return GP_OK;
}

static gp_status check_arrays(gp_context *ctx, const struct call *c, const struct gpi_merge_job *j)
{
    const char *const f = c->function, *const *const names = c->names;
    const size_t item = j->key_bytes, value = j->value_bytes, alignment = gpi_item_alignment(value);
    const uint64_t n = j->num_a + j->num_b;
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_num_a", j->device_num_a),
        GPI_COUNT("desc->device_num_b", j->device_num_b),
        GPI_READ(names[0], j->keys_a, j->num_a * item, item),
        GPI_READ("values_a", j->values_a, j->num_a * value, alignment),
        GPI_READ(names[1], j->keys_b, j->num_b * item, item),
        GPI_READ("values_b", j->values_b, j->num_b * value, alignment),
        GPI_WRITE(names[2], j->keys_out, n * item, item),
        GPI_WRITE("values_out", j->values_out, n * value, alignment),
    };
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 2));
    GPI_TRY(gpi_check_n(ctx, f, "num_a", j->num_a));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 2, 2));
    GPI_TRY(gpi_check_n(ctx, f, "num_b", j->num_b));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 4, 2));
    GPI_TRY(gpi_check_n(ctx, f, "num_a + num_b", n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 6, 2));
    return gpi_check_apart(ctx, f, arrays, 6, 8);
}

static gp_status run(gp_context *ctx, const struct call *c, const gp_merge_desc *d,
                     struct gpi_merge_job *j)
{
    j->num_a = gpi_count_now(ctx, &j->device_num_a, j->num_a);
    j->num_b = gpi_count_now(ctx, &j->device_num_b, j->num_b);
    struct gpi_content rules[] = {
        GPI_SORTED(c->names[0], j->keys_a, j->num_a, d->dtype, d->order),
        GPI_SORTED(c->names[1], j->keys_b, j->num_b, d->dtype, d->order),
    };
    rules[0].device_n = j->device_num_a;
    rules[1].device_n = j->device_num_b;
    const char *const f = c->function;
    const bool cuda = ctx->backend == GP_BACKEND_CUDA;
    if (j->num_a + j->num_b == 0)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    return gpi_validate_end(ctx, f, cuda ? run_cuda(ctx, f, j) : run_cpu(ctx, j));
}

/* The job has its arrays and their lengths. */
static gp_status merge(gp_context *ctx, struct call c, const gp_merge_desc *given,
                       struct gpi_merge_job j)
{
    gp_merge_desc d;
    GPI_CALL(ctx, c.function);
    GPI_TRY(check_desc(ctx, &c, given, &d));
    j.key_bytes = gpi_dtype_bytes(d.dtype);
    j.value_bytes = d.value_bytes;
    j.order = gpi_radix_order_of(d.dtype, d.order);
    j.device_num_a = d.device_num_a;
    j.device_num_b = d.device_num_b;
    GPI_TRY(check_arrays(ctx, &c, &j));
    return run(ctx, &c, &d, &j);
}

gp_status gp_merge_by(gp_context *ctx, const gp_merge_desc *desc, const void *a, size_t num_a,
                      const void *b, size_t num_b, void *out)
{
    const struct gpi_merge_job j = {
        .keys_a = a, .num_a = num_a, .keys_b = b, .num_b = num_b, .keys_out = out};
    return merge(ctx, KEYS(true, "gp_merge_by"), desc, j);
}

gp_status gp_merge_pairs_by(gp_context *ctx, const gp_merge_desc *desc, const void *keys_a,
                            const void *values_a, size_t num_a, const void *keys_b,
                            const void *values_b, size_t num_b, void *keys_out, void *values_out)
{
    const struct gpi_merge_job j = {.keys_a = keys_a,
                                    .values_a = values_a,
                                    .num_a = num_a,
                                    .keys_b = keys_b,
                                    .values_b = values_b,
                                    .num_b = num_b,
                                    .keys_out = keys_out,
                                    .values_out = values_out};
    return merge(ctx, PAIRS(true, "gp_merge_pairs_by"), desc, j);
}

gp_status gp_merge(gp_context *ctx, gp_dtype dtype, gp_order order, const void *a, size_t num_a,
                   const void *b, size_t num_b, void *out)
{
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.dtype = dtype;
    d.order = order;
    const struct gpi_merge_job j = {
        .keys_a = a, .num_a = num_a, .keys_b = b, .num_b = num_b, .keys_out = out};
    return merge(ctx, KEYS(false, "gp_merge"), &d, j);
}

gp_status gp_merge_pairs(gp_context *ctx, gp_dtype dtype, gp_order order, size_t value_bytes,
                         const void *keys_a, const void *values_a, size_t num_a, const void *keys_b,
                         const void *values_b, size_t num_b, void *keys_out, void *values_out)
{
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.dtype = dtype;
    d.order = order;
    d.value_bytes = value_bytes;
    const struct gpi_merge_job j = {.keys_a = keys_a,
                                    .values_a = values_a,
                                    .num_a = num_a,
                                    .keys_b = keys_b,
                                    .values_b = values_b,
                                    .num_b = num_b,
                                    .keys_out = keys_out,
                                    .values_out = values_out};
    return merge(ctx, PAIRS(false, "gp_merge_pairs"), &d, j);
}

gp_status gp_merge_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n, size_t *bytes)
{
    static const char f[] = "gp_merge_workspace_bytes";
    gp_target t;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", dtype));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    *bytes = n ? gpi_target_bytes(&t, 0, frame_bytes(n)) : 0;
    return GP_OK;
}
