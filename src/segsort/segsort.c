/* SPDX-License-Identifier: MIT */
/* The front door of segmented sorts. */
#include "segsort/segsort_internal.h"

#include <gp/segsort.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "radixsort/radixsort_internal.h"

static gp_status check_offsets(gp_context *ctx, const char *f, const struct gpi_segsort_job *s)
{
    size_t bytes = gpi_dtype_bytes(s->offset_dtype);
    GPI_TRY(gpi_check_index_dtype(ctx, f, "offset_dtype", s->offset_dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "n", s->job.n, "offset_dtype", s->offset_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", s->num_segments));
    if (s->num_segments == 0 && s->job.n)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: num_segments is 0, expected 1 or more with n = %zu", f, s->job.n);
    return gpi_check_array(ctx, f, "offsets", s->offsets, (s->num_segments + 1) * bytes, bytes);
}

static gp_status check_apart(gp_context *ctx, const char *f, const struct gpi_segsort_job *s)
{
    const struct gpi_radix_job *j = &s->job;
    const size_t bytes = gpi_dtype_bytes(s->offset_dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("offsets", s->offsets, (s->num_segments + 1) * bytes, bytes),
        GPI_WRITE("keys_out", j->keys_out, (uint64_t)j->n * j->key_bytes, 1),
        GPI_WRITE("values_out", j->values_out, (uint64_t)j->n * j->value_bytes, 1),
    };
    return gpi_check_apart(ctx, f, arrays, 1, 3);
}

/* Everything but value_bytes and values_in, which the caller has checked. */
static gp_status sort(gp_context *ctx, const char *f, struct gpi_segsort_job *s,
                      const gp_radix_sort_options *options)
{
    GPI_TRY(check_offsets(ctx, f, s));
    GPI_TRY(gpi_radix_check_outputs(ctx, f, &s->job));
    GPI_TRY(check_apart(ctx, f, s));
    GPI_TRY(gpi_radix_apply_options(ctx, f, ctx->backend, s->dtype, options, &s->job));
    GPI_TRY(gpi_radix_check_counts(ctx, f, &s->job));
    s->job.n = gpi_count_now(ctx, &s->job.device_n, s->job.n);
    s->num_segments = gpi_count_now(ctx, &s->job.device_num_segments, s->num_segments);
    GPI_ON_DEVICE(ctx);
    const struct gpi_content rule = gpi_segsort_rule(s);
    if (ctx->backend == GP_BACKEND_CPU) {
        GPI_TRY(gpi_content_check(ctx, f, &rule));
        return gpi_segsort_cpu(ctx, f, s);
    }
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, gpi_segsort_cuda(ctx, f, s));
}

gp_status gp_radix_sort_segmented(gp_context *ctx, gp_dtype dtype, const void *keys_in, size_t n,
                                  gp_dtype offset_dtype, const void *offsets, size_t num_segments,
                                  void *keys_out, const gp_radix_sort_options *options)
{
    static const char f[] = "gp_radix_sort_segmented";
    struct gpi_segsort_job s = {
        .dtype = dtype,
        .offset_dtype = offset_dtype,
        .offsets = offsets,
        .num_segments = num_segments,
        .job = {.key_bytes = gpi_dtype_bytes(dtype), .n = n, .keys_in = keys_in}};
    s.job.keys_out = keys_out;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_keys(ctx, f, dtype, keys_in, n));
    return sort(ctx, f, &s, options);
}

gp_status gp_radix_sort_segmented_pairs(gp_context *ctx, gp_dtype dtype, const void *keys_in,
                                        size_t value_bytes, const void *values_in, size_t n,
                                        gp_dtype offset_dtype, const void *offsets,
                                        size_t num_segments, void *keys_out, void *values_out,
                                        const gp_radix_sort_options *options)
{
    static const char f[] = "gp_radix_sort_segmented_pairs";
    struct gpi_segsort_job s = {.dtype = dtype,
                                .offset_dtype = offset_dtype,
                                .offsets = offsets,
                                .num_segments = num_segments,
                                .job = {.key_bytes = gpi_dtype_bytes(dtype),
                                        .value_bytes = value_bytes,
                                        .n = n,
                                        .keys_in = keys_in,
                                        .values_in = values_in,
                                        .keys_out = keys_out,
                                        .values_out = values_out}};
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_keys(ctx, f, dtype, keys_in, n));
    GPI_TRY(gpi_check_item_bytes(ctx, f, "value_bytes", value_bytes));
    GPI_TRY(gpi_check_array(ctx, f, "values_in", values_in, (uint64_t)n * value_bytes,
                            gpi_item_alignment(value_bytes)));
    return sort(ctx, f, &s, options);
}

gp_status gp_radix_sort_segmented_workspace_bytes(const gp_target *target, gp_dtype dtype,
                                                  size_t value_bytes, size_t n, size_t num_segments,
                                                  const gp_radix_sort_options *options,
                                                  size_t *bytes)
{
    static const char f[] = "gp_radix_sort_segmented_workspace_bytes";
    struct gpi_segsort_job s = {
        .dtype = dtype,
        .num_segments = num_segments,
        .job = {.key_bytes = gpi_dtype_bytes(dtype), .value_bytes = value_bytes, .n = n}};
    gp_target t;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", dtype));
    if (value_bytes)
        GPI_TRY(gpi_check_item_bytes(NULL, f, "value_bytes", value_bytes));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_n(NULL, f, "num_segments", num_segments));
    GPI_TRY(gpi_radix_apply_options(NULL, f, t.backend, dtype, options, &s.job));
    *bytes =
        gpi_target_bytes(&t, gpi_segsort_cpu_bytes(t.threads, &s), gpi_segsort_cuda_bytes(&t, &s));
    return GP_OK;
}
