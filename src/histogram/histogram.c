/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cub.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "histogram/histogram_internal.h"
#include "validate/validate_internal.h"

/* The arguments that all calls share. */
struct call {
    gp_dtype dtype;
    const void *in;
    size_t n;
    const void *edges; /* NULL: not gp_histogram_edges() */
    size_t bins;
    gp_dtype counter_dtype;
    void *counts;
    const gp_histogram_options *options;
};

/* options may be NULL; *taken are the ones to follow. */
static gp_status check_options(gp_context *ctx, const char *f, gp_backend backend,
                               const gp_histogram_options *options, gp_histogram_options *taken)
{
    const unsigned set = 1u << GP_ALGORITHM_AUTO | 1u << GP_ALGORITHM_CUB;
    *taken = (gp_histogram_options)GP_HISTOGRAM_OPTIONS_INIT;
    if (!options)
        return GP_OK;
    GPI_TRY(gpi_take_struct(ctx, f, "options", options, taken, GPI_FORM(gp_histogram_options)));
    return gpi_check_algorithm(ctx, f, "options->algorithm", backend, taken->algorithm, set);
}

static gp_status check_bins(gp_context *ctx, const char *f, size_t bins, gp_dtype counter_dtype)
{
    if (bins == 0 || bins > GP_HISTOGRAM_BINS_MAX)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: bins is %zu, expected 1 to 2^31", f, bins);
    if (counter_dtype != GP_U32 && counter_dtype != GP_U64)
        return gpi_fail_dtype(ctx, f, "counter_dtype", counter_dtype, "u32 or u64");
    return GP_OK;
}

/* n, in, bins and counter_dtype. */
static gp_status check_input(gp_context *ctx, const char *f, const struct call *c)
{
    size_t item = gpi_dtype_bytes(c->dtype);
    GPI_TRY(gpi_check_n(ctx, f, "n", c->n));
    GPI_TRY(gpi_check_array(ctx, f, "in", c->in, (uint64_t)c->n * item, item));
    return check_bins(ctx, f, c->bins, c->counter_dtype);
}

/* The arrays of a call; in and edges have been checked by themselves. */
static gp_status check_outputs(gp_context *ctx, const char *f, const struct call *c,
                               const gp_histogram_options *options)
{
    const size_t item = gpi_dtype_bytes(c->dtype), counter = gpi_dtype_bytes(c->counter_dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("in", c->in, (uint64_t)c->n * item, item),
        GPI_READ("edges", c->edges, ((uint64_t)c->bins + 1) * item, item),
        GPI_COUNT("options->device_n", options->device_n),
        GPI_WRITE("counts", c->counts, (uint64_t)c->bins * counter, counter),
        GPI_WRITE_IF("options->outside", options->outside, 8, 8),
    };
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 4, 1));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 2, 1));
    return gpi_check_apart(ctx, f, arrays, 3, 5);
}

/*
 * CUB counts x in bin (int)((x - lo) * (bins / (hi - lo))), all in float, and compares it with
 * nothing: a scale that is infinite, or one rounded up, leads past the counters. Bins ascend with
 * x, so the greatest x decides.
 */
static bool cub_stays_in_bins(const struct gpi_binning *b)
{
    const float lo = (float)b->from, hi = (float)b->to, range = hi - lo;
    const float scale = (float)b->bins / range, bin = (nextafterf(hi, lo) - lo) * scale;
    return isfinite(range) && isfinite(scale) && (double)bin < (double)b->bins;
}

/* What CUB does through this call; see gp_histogram_even(). */
static gp_status check_cub(gp_context *ctx, const char *f, const struct call *c,
                           const gp_histogram_options *options, const struct gpi_binning *binning)
{
    const size_t bins_max = INT_MAX - 255; /* CUB rounds them up to whole blocks in an int */
    const char *what = NULL;
    if (options->algorithm != GP_ALGORITHM_CUB)
        return GP_OK;
    if (c->dtype != GP_I32 && c->dtype != GP_U8 && c->dtype != GP_F32)
        what = gp_dtype_string(c->dtype);
    else if (c->edges)
        what = "edges";
    else if (c->counter_dtype != GP_U32)
        what = "u64 counters";
    else if (options->accumulate || options->outside)
        what = options->accumulate ? "options->accumulate" : "options->outside";
    else if (options->device_n)
        what = "options->device_n";
    else if (c->n > INT_MAX / gpi_dtype_bytes(c->dtype) || c->bins > bins_max)
        what = "an input or a number of bins of this size";
    else if (binning->kind == GPI_BINNING_SCALE && !cub_stays_in_bins(binning))
        what = "these limits: it would count past the last bin";
    else if (binning->kind != GPI_BINNING_SCALE && binning->last >= INT_MAX)
        what = "limits so far apart";
    if (!what)
        return GP_OK;
    return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                    "%s: options->algorithm is GP_ALGORITHM_CUB, which does not support %s here", f,
                    what);
}

static gp_status run_cub(gp_context *ctx, const char *f, const struct gpi_histogram_args *args)
{
    struct gpi_cub_call call = gpi_cub_call_of(ctx);
    const struct gpi_cub *cub;
    GPI_TRY(gpi_cub_find(ctx, f, &cub));
    if (cub->histogram(&call, args) != 0)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: CUB refuses %llu values in %u bins", f,
                        (unsigned long long)args->n, args->binning.bins);
    if (call.bytes / sizeof(uint32_t) > INT_MAX) /* it finds the counters of a block with an int */
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: CUB cannot have a table of %u bins per block", f, args->binning.bins);
    GPI_FRAME(frame, ctx, f, gpi_piece(call.bytes));
    call.temporary = gpi_frame_take(&frame, call.bytes);
    return gpi_cuda_check(ctx, f, cub->histogram(&call, args));
}

static gp_status run_kernels(gp_context *ctx, const char *f, const struct gpi_histogram_args *args)
{
    gpi_histogram_fn histogram = gpi_histogram_find(ctx, args->dtype);
    if (!histogram)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: no histogram of %s on this device", f,
                        gp_dtype_string(args->dtype));
    histogram(ctx, args);
    return gpi_cuda_launched(ctx, f);
}

/* Everything after the binning is known. */
static gp_status run(gp_context *ctx, const char *f, const struct call *c,
                     const struct gpi_binning *binning)
{
    gp_histogram_options options;
    size_t counter = gpi_dtype_bytes(c->counter_dtype);
    GPI_TRY(gpi_check_array(ctx, f, "counts", c->counts, (uint64_t)c->bins * counter, counter));
    GPI_TRY(check_options(ctx, f, ctx->backend, c->options, &options));
    GPI_TRY(check_outputs(ctx, f, c, &options));
    GPI_TRY(check_cub(ctx, f, c, &options, binning));
    struct gpi_histogram_args args = {.binning = *binning,
                                      .dtype = c->dtype,
                                      .in = c->in,
                                      .n = c->n,
                                      .device_n = options.device_n,
                                      .wide_counters = c->counter_dtype == GP_U64,
                                      .accumulate = options.accumulate != 0,
                                      .counts = c->counts,
                                      .outside = options.outside};
    args.n = gpi_count_now(ctx, &args.device_n, c->n);
    if (args.n == 0 && args.accumulate)
        return GP_OK;
    const struct gpi_content rule = GPI_EDGES("edges", c->edges, c->bins + 1, c->dtype);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, c->edges != NULL));
    gp_status s = ctx->backend != GP_BACKEND_CUDA ? gpi_histogram_cpu(ctx, f, &args)
                  : options.algorithm == GP_ALGORITHM_CUB && c->n > 0 ? run_cub(ctx, f, &args)
                                                                      : run_kernels(ctx, f, &args);
    return gpi_validate_end(ctx, f, s);
}

gp_status gp_histogram_even(gp_context *ctx, gp_dtype dtype, const void *in, size_t n,
                            const void *lo, const void *hi, size_t bins, gp_dtype counter_dtype,
                            void *counts, const gp_histogram_options *options)
{
    static const char f[] = "gp_histogram_even";
    struct gpi_binning binning;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    struct call c = {dtype, in, n, NULL, bins, counter_dtype, counts, options};
    GPI_TRY(check_input(ctx, f, &c));
    GPI_TRY(gpi_binning_even(ctx, f, dtype, lo, hi, bins, &binning));
    return run(ctx, f, &c, &binning);
}

gp_status gp_histogram_edges(gp_context *ctx, gp_dtype dtype, const void *in, size_t n,
                             const void *edges, size_t bins, gp_dtype counter_dtype, void *counts,
                             const gp_histogram_options *options)
{
    static const char f[] = "gp_histogram_edges";
    struct gpi_binning binning;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    struct call c = {dtype, in, n, edges, bins, counter_dtype, counts, options};
    const size_t item = gpi_dtype_bytes(dtype);
    GPI_TRY(check_input(ctx, f, &c));
    GPI_TRY(gpi_check_array(ctx, f, "edges", edges, ((uint64_t)bins + 1) * item, item));
    gpi_binning_edges(dtype, edges, bins, &binning);
    return run(ctx, f, &c, &binning);
}

gp_status gp_bincount(gp_context *ctx, gp_dtype dtype, const void *in, size_t n, size_t bins,
                      gp_dtype counter_dtype, void *counts, const gp_histogram_options *options)
{
    static const char f[] = "gp_bincount";
    struct gpi_binning binning;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    if (gpi_dtype_is_float(dtype))
        return gpi_fail_dtype(ctx, f, "dtype", dtype, "an integer type");
    struct call c = {dtype, in, n, NULL, bins, counter_dtype, counts, options};
    GPI_TRY(check_input(ctx, f, &c));
    gpi_binning_whole(dtype, bins, &binning);
    return run(ctx, f, &c, &binning);
}

/* CUB keeps a table per resident block once bins pass 256. */
static size_t cub_bytes(const gp_target *target, size_t bins)
{
    const size_t sm_count = target->sm_count > 0 ? (size_t)target->sm_count : 256;
    const size_t blocks_per_sm = 32, rest = 1 << 16;
    return gpi_piece(sm_count * blocks_per_sm * (bins + 1) * sizeof(uint32_t) + rest);
}

gp_status gp_histogram_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                       size_t bins, gp_dtype counter_dtype,
                                       const gp_histogram_options *options, size_t *bytes)
{
    static const char f[] = "gp_histogram_workspace_bytes";
    gp_target t;
    gp_histogram_options taken;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", dtype));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(check_bins(NULL, f, bins, counter_dtype));
    GPI_TRY(check_options(NULL, f, t.backend, options, &taken));
    GPI_TRY(gpi_check_figure(f, bytes));
    size_t cuda = taken.algorithm == GP_ALGORITHM_CUB ? cub_bytes(&t, bins) : 0;
    size_t cpu = gpi_histogram_cpu_bytes(dtype, n, bins, t.threads);
    *bytes = gpi_target_bytes(&t, cpu, cuda);
    return GP_OK;
}
