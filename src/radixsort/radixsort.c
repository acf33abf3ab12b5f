/* SPDX-License-Identifier: MIT */
/* The front door of the sorts: checks, options, dispatch. */
#include "radixsort/radixsort_internal.h"

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/order.h"

static gp_status check_bits(gp_context *ctx, const char *function, int width,
                            const gp_radix_sort_options *o)
{
    int end = o->end_bit ? o->end_bit : width;
    if (o->end_bit < 0 || o->end_bit > width)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: options->end_bit is %d, expected 0 to %d",
                        function, o->end_bit, width);
    if (o->begin_bit < 0 || o->begin_bit > end)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: options->begin_bit is %d, expected 0 to %d (the end bit)", function,
                        o->begin_bit, end);
    return GP_OK;
}

gp_status gpi_radix_apply_options(gp_context *ctx, const char *function, gp_backend backend,
                                  gp_dtype dtype, const gp_radix_sort_options *options,
                                  struct gpi_radix_job *job)
{
    const unsigned set = 1u << GP_ALGORITHM_AUTO | 1u << GP_ALGORITHM_CUB;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    int width = 8 * (int)job->key_bytes;
    if (options)
        GPI_TRY(gpi_take_struct(ctx, function, "options", options, &o,
                                GPI_FORM(gp_radix_sort_options)));
    GPI_TRY(gpi_check_order(ctx, function, "options->order", o.order));
    GPI_TRY(check_bits(ctx, function, width, &o));
    GPI_TRY(gpi_check_algorithm(ctx, function, "options->algorithm", backend, o.algorithm, set));
    job->order = gpi_radix_order_of(dtype, o.order);
    job->begin_bit = o.begin_bit;
    job->end_bit = o.end_bit ? o.end_bit : width;
    job->algorithm = o.algorithm;
    job->device_n = o.device_n;
    job->device_num_segments = o.device_num_segments;
    if (o.device_n && o.algorithm == GP_ALGORITHM_CUB)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: options->algorithm is GP_ALGORITHM_CUB, which does not support "
                        "options->device_n here",
                        function);
    return GP_OK;
}

gp_status gpi_radix_check_counts(gp_context *ctx, const char *function,
                                 const struct gpi_radix_job *job)
{
    const struct gpi_array arrays[] = {
        GPI_COUNT("options->device_n", job->device_n),
        GPI_COUNT("options->device_num_segments", job->device_num_segments),
        GPI_WRITE("keys_out", job->keys_out, (uint64_t)job->n * job->key_bytes, 1),
        GPI_WRITE("values_out", job->values_out, (uint64_t)job->n * job->value_bytes, 1),
    };
    GPI_TRY(gpi_check_memory(ctx, function, arrays, 2));
    return gpi_check_apart(ctx, function, arrays, 2, 4);
}

gp_status gpi_radix_check_outputs(gp_context *ctx, const char *function,
                                  const struct gpi_radix_job *job)
{
    const uint64_t keys = (uint64_t)job->n * job->key_bytes;
    const uint64_t values = (uint64_t)job->n * job->value_bytes;
    const size_t alignment = gpi_item_alignment(job->value_bytes);
    const struct gpi_array arrays[] = {
        GPI_READ("keys_in", job->keys_in, keys, job->key_bytes),
        GPI_READ("values_in", job->values_in, values, alignment),
        GPI_WRITE_OVER(2, "keys_out", job->keys_out, keys, job->key_bytes),
        GPI_WRITE_OVER(2, "values_out", job->values_out, values, alignment),
    };
    GPI_TRY(gpi_check_memory(ctx, function, arrays + 2, 2));
    return gpi_check_apart(ctx, function, arrays, 2, 4);
}

/* The options, what they say of counts, and the sort. */
static gp_status run(gp_context *ctx, const char *function, gp_dtype dtype,
                     const gp_radix_sort_options *options, struct gpi_radix_job *job)
{
    GPI_TRY(gpi_radix_apply_options(ctx, function, ctx->backend, dtype, options, job));
    if (job->device_num_segments)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: options->device_num_segments is set, expected NULL", function);
    if (job->device_n)
        GPI_TRY(gpi_radix_check_counts(ctx, function, job));
    job->n = gpi_count_now(ctx, &job->device_n, job->n);
    if (job->n == 0)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    return ctx->backend == GP_BACKEND_CUDA ? gpi_radixsort_cuda(ctx, function, job)
                                           : gpi_radixsort_cpu(ctx, function, job);
}

gp_status gp_radix_sort(gp_context *ctx, gp_dtype dtype, const void *keys_in, size_t n,
                        void *keys_out, const gp_radix_sort_options *options)
{
    static const char f[] = "gp_radix_sort";
    struct gpi_radix_job job = {.key_bytes = gpi_dtype_bytes(dtype), .n = n, .keys_in = keys_in};
    job.keys_out = keys_out;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_keys(ctx, f, dtype, keys_in, n));
    GPI_TRY(gpi_radix_check_outputs(ctx, f, &job));
    return run(ctx, f, dtype, options, &job);
}

gp_status gp_radix_sort_pairs(gp_context *ctx, gp_dtype dtype, const void *keys_in,
                              size_t value_bytes, const void *values_in, size_t n, void *keys_out,
                              void *values_out, const gp_radix_sort_options *options)
{
    static const char f[] = "gp_radix_sort_pairs";
    struct gpi_radix_job job = {.key_bytes = gpi_dtype_bytes(dtype),
                                .value_bytes = value_bytes,
                                .n = n,
                                .keys_in = keys_in,
                                .values_in = values_in,
                                .keys_out = keys_out,
                                .values_out = values_out};
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_keys(ctx, f, dtype, keys_in, n));
    GPI_TRY(gpi_check_item_bytes(ctx, f, "value_bytes", value_bytes));
    GPI_TRY(gpi_check_array(ctx, f, "values_in", values_in, (uint64_t)n * value_bytes,
                            gpi_item_alignment(value_bytes)));
    GPI_TRY(gpi_radix_check_outputs(ctx, f, &job));
    return run(ctx, f, dtype, options, &job);
}

gp_status gp_argsort(gp_context *ctx, gp_dtype dtype, const void *keys_in, size_t n,
                     gp_dtype index_dtype, void *indices_out, const gp_radix_sort_options *options)
{
    static const char f[] = "gp_argsort";
    struct gpi_radix_job job = {.key_bytes = gpi_dtype_bytes(dtype),
                                .value_bytes = gpi_dtype_bytes(index_dtype),
                                .n = n,
                                .keys_in = keys_in,
                                .values_out = indices_out};
    const struct gpi_array arrays[] = {
        GPI_READ("keys_in", keys_in, (uint64_t)n * job.key_bytes, job.key_bytes),
        GPI_WRITE("indices_out", indices_out, (uint64_t)n * job.value_bytes, job.value_bytes),
    };
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_keys(ctx, f, dtype, keys_in, n));
    GPI_TRY(gpi_check_unsigned_index(ctx, f, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_index_range(ctx, f, n, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_outputs(ctx, f, arrays, 1, 2));
    return run(ctx, f, dtype, options, &job);
}

/* The bound for a job whose sizes are set. */
static gp_status workspace_bytes(const char *f, const gp_target *target, gp_dtype dtype,
                                 const gp_radix_sort_options *options, struct gpi_radix_job *job,
                                 size_t *bytes)
{
    gp_target t;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", dtype));
    GPI_TRY(gpi_check_n(NULL, f, "n", job->n));
    GPI_TRY(gpi_radix_apply_options(NULL, f, t.backend, dtype, options, job));
    *bytes = job->n ? gpi_target_bytes(&t, gpi_radixsort_cpu_bytes(t.threads, job),
                                       gpi_radixsort_cuda_bytes(t.sm_count, job))
                    : 0;
    return GP_OK;
}

gp_status gp_radix_sort_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t value_bytes,
                                        size_t n, const gp_radix_sort_options *options,
                                        size_t *bytes)
{
    static const char f[] = "gp_radix_sort_workspace_bytes";
    struct gpi_radix_job job = {
        .key_bytes = gpi_dtype_bytes(dtype), .value_bytes = value_bytes, .n = n};
    GPI_TRY(gpi_check_figure(f, bytes));
    if (value_bytes)
        GPI_TRY(gpi_check_item_bytes(NULL, f, "value_bytes", value_bytes));
    job.keys_out = job.values_out = bytes; /* any array: there is one */
    job.values_in = job.values_out;
    return workspace_bytes(f, target, dtype, options, &job, bytes);
}

gp_status gp_argsort_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                     gp_dtype index_dtype, const gp_radix_sort_options *options,
                                     size_t *bytes)
{
    static const char f[] = "gp_argsort_workspace_bytes";
    struct gpi_radix_job job = {
        .key_bytes = gpi_dtype_bytes(dtype), .value_bytes = gpi_dtype_bytes(index_dtype), .n = n};
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_unsigned_index(NULL, f, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_index_range(NULL, f, n, "index_dtype", index_dtype));
    job.values_out = bytes; /* any array: there is one */
    return workspace_bytes(f, target, dtype, options, &job, bytes);
}
