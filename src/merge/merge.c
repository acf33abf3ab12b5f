/* SPDX-License-Identifier: MIT */
/* The front door of merges. */
#include <gp/merge.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "merge/merge_internal.h"
#include "radixsort/radixsort_check.h"

/* Outputs per task of the CPU: enough to bury the search, few enough to keep all threads busy. */
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
    struct shares s = {j, gpi_merge_share_get(ctx->isa, gpi_radix_width(j->key_bytes)), 0,
                       j->num_a + j->num_b};
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
    gpi_merge_launch_fn *launch = gpi_merge_launch_get(ctx->sm_row);
    uint64_t n = j->num_a + j->num_b;
    struct gpi_frame frame;
    if (!launch)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: this build has no code for sm_%d", f,
                        ctx->sm);
    GPI_TRY(gpi_frame_open(ctx, f, frame_bytes(n), &frame));
    gp_status s = launch(ctx, f, j, gpi_frame_take(&frame, gpi_merge_cuts(n) * sizeof(uint64_t)));
    gpi_frame_close(&frame);
    return s;
}

static gp_status run(gp_context *ctx, const char *f, const struct gpi_merge_job *j)
{
    struct gpi_device_guard guard;
    if (j->num_a + j->num_b == 0)
        return GP_OK;
    gpi_device_enter(ctx, &guard);
    gp_status s = ctx->backend == GP_BACKEND_CUDA ? run_cuda(ctx, f, j) : run_cpu(ctx, j);
    gpi_device_leave(ctx, &guard);
    return s;
}

/* One input: its keys and values. */
static gp_status check_input(gp_context *ctx, const char *f, const struct gpi_merge_job *j,
                             const char *keys_name, const void *keys, const char *values_name,
                             const void *values, const char *num_name, uint64_t num)
{
    size_t alignment = j->value_bytes ? gpi_radix_alignment(j->value_bytes) : 1;
    GPI_TRY(gpi_check_n(ctx, f, num_name, num));
    GPI_TRY(gpi_check_array(ctx, f, keys_name, keys, num * j->key_bytes, j->key_bytes));
    return gpi_check_array(ctx, f, values_name, values, num * j->value_bytes, alignment);
}

/* An output against the four inputs. */
static gp_status check_apart(gp_context *ctx, const char *f, const struct gpi_merge_job *j,
                             const char *name, const void *out, uint64_t bytes, const char *a_name,
                             const char *b_name)
{
    GPI_TRY(gpi_check_overlap(ctx, f, a_name, j->keys_a, j->num_a * j->key_bytes, name, out, bytes,
                              false));
    GPI_TRY(gpi_check_overlap(ctx, f, "values_a", j->values_a, j->num_a * j->value_bytes, name, out,
                              bytes, false));
    GPI_TRY(gpi_check_overlap(ctx, f, b_name, j->keys_b, j->num_b * j->key_bytes, name, out, bytes,
                              false));
    return gpi_check_overlap(ctx, f, "values_b", j->values_b, j->num_b * j->value_bytes, name, out,
                             bytes, false);
}

static gp_status check_dtype_and_order(gp_context *ctx, const char *f, gp_dtype dtype,
                                       gp_order order)
{
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    return gpi_radix_check_order(ctx, f, "order", order);
}

gp_status gp_merge(gp_context *ctx, gp_dtype dtype, gp_order order, const void *a, size_t num_a,
                   const void *b, size_t num_b, void *out)
{
    static const char f[] = "gp_merge";
    struct gpi_merge_job j = {.key_bytes = gpi_dtype_bytes(dtype),
                              .keys_a = a,
                              .num_a = num_a,
                              .keys_b = b,
                              .num_b = num_b,
                              .keys_out = out};
    GPI_CALL(ctx, f);
    GPI_TRY(check_dtype_and_order(ctx, f, dtype, order));
    GPI_TRY(check_input(ctx, f, &j, "a", a, "", NULL, "num_a", num_a));
    GPI_TRY(check_input(ctx, f, &j, "b", b, "", NULL, "num_b", num_b));
    uint64_t n = j.num_a + j.num_b;
    GPI_TRY(gpi_check_n(ctx, f, "num_a + num_b", n));
    GPI_TRY(gpi_check_array(ctx, f, "out", out, n * j.key_bytes, j.key_bytes));
    GPI_TRY(check_apart(ctx, f, &j, "out", out, n * j.key_bytes, "a", "b"));
    j.order = gpi_radix_order_of(dtype, order);
    return run(ctx, f, &j);
}

static gp_status check_outputs(gp_context *ctx, const char *f, const struct gpi_merge_job *j)
{
    uint64_t n = j->num_a + j->num_b, keys = n * j->key_bytes, values = n * j->value_bytes;
    GPI_TRY(gpi_check_n(ctx, f, "num_a + num_b", n));
    GPI_TRY(gpi_check_array(ctx, f, "keys_out", j->keys_out, keys, j->key_bytes));
    GPI_TRY(gpi_check_array(ctx, f, "values_out", j->values_out, values,
                            gpi_radix_alignment(j->value_bytes)));
    GPI_TRY(check_apart(ctx, f, j, "keys_out", j->keys_out, keys, "keys_a", "keys_b"));
    GPI_TRY(check_apart(ctx, f, j, "values_out", j->values_out, values, "keys_a", "keys_b"));
    return gpi_check_overlap(ctx, f, "keys_out", j->keys_out, keys, "values_out", j->values_out,
                             values, false);
}

gp_status gp_merge_pairs(gp_context *ctx, gp_dtype dtype, gp_order order, size_t value_bytes,
                         const void *keys_a, const void *values_a, size_t num_a, const void *keys_b,
                         const void *values_b, size_t num_b, void *keys_out, void *values_out)
{
    static const char f[] = "gp_merge_pairs";
    struct gpi_merge_job j = {.key_bytes = gpi_dtype_bytes(dtype),
                              .value_bytes = value_bytes,
                              .keys_a = keys_a,
                              .values_a = values_a,
                              .num_a = num_a,
                              .keys_b = keys_b,
                              .values_b = values_b,
                              .num_b = num_b,
                              .keys_out = keys_out,
                              .values_out = values_out};
    GPI_CALL(ctx, f);
    GPI_TRY(check_dtype_and_order(ctx, f, dtype, order));
    GPI_TRY(gpi_radix_check_bytes(ctx, f, "value_bytes", value_bytes));
    GPI_TRY(check_input(ctx, f, &j, "keys_a", keys_a, "values_a", values_a, "num_a", num_a));
    GPI_TRY(check_input(ctx, f, &j, "keys_b", keys_b, "values_b", values_b, "num_b", num_b));
    GPI_TRY(check_outputs(ctx, f, &j));
    j.order = gpi_radix_order_of(dtype, order);
    return run(ctx, f, &j);
}

gp_status gp_merge_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n, size_t *bytes)
{
    static const char f[] = "gp_merge_workspace_bytes";
    gp_target t;
    if (!bytes)
        return gpi_fail(NULL, GP_ERROR_POINTER, "%s: bytes is NULL", f);
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", dtype));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    *bytes = t.backend == GP_BACKEND_CPU || n == 0 ? 0 : frame_bytes(n);
    return GP_OK;
}
