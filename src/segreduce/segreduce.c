/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "segreduce/segreduce_internal.h"
#include "validate/validate_internal.h"

/* ---- checks ---------------------------------------------------------------------------------- */

/* Which call a descriptor is for. */
struct form {
    bool rows, places;
};

static gp_status check_places(gp_context *ctx, const char *f, const gp_reduce_segmented_desc *d)
{
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->in_dtype", d->in_dtype));
    GPI_TRY(gpi_check_unused_dtype(ctx, f, "desc->out_dtype", d->out_dtype));
    if (d->op != GP_SUM)
        return gpi_fail(ctx, GP_ERROR_OP, "%s: desc->op is %d, expected GP_SUM: places have none",
                        f, (int)d->op);
    return GP_OK;
}

/* *d becomes the full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, struct form form,
                            const gp_reduce_segmented_desc *given, gp_reduce_segmented_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_reduce_segmented_desc)));
    if (form.places)
        GPI_TRY(check_places(ctx, f, d));
    else
        GPI_TRY(gpi_scan_check_types(ctx, f, d->in_dtype, d->out_dtype, d->op));
    if (form.rows)
        GPI_TRY(gpi_check_unused_dtype(ctx, f, "desc->offset_dtype", d->offset_dtype));
    else
        GPI_TRY(gpi_check_index_dtype(ctx, f, "desc->offset_dtype", d->offset_dtype));
    if (form.places && d->init)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->init is set, expected NULL", f);
    if (form.rows && d->device_n)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->device_n is set, expected NULL", f);
    return GP_OK;
}

/* num_rows * row_length, both at most 2^40: their product may not fit. */
static gp_status check_rows(gp_context *ctx, const char *f, uint64_t num_rows, uint64_t row_length,
                            uint64_t *n)
{
    GPI_TRY(gpi_check_n(ctx, f, "num_rows", num_rows));
    GPI_TRY(gpi_check_n(ctx, f, "row_length", row_length));
    if (row_length && num_rows > GPI_MAX_N / row_length)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: num_rows %" PRIu64 " of row_length %" PRIu64
                        " are more than 2^40 items",
                        f, num_rows, row_length);
    *n = num_rows * row_length;
    return GP_OK;
}

static size_t out_bytes(const gp_reduce_segmented_desc *d)
{
    return gpi_dtype_bytes(d->out_dtype ? d->out_dtype : d->in_dtype) * gpi_op_scalars(d->op);
}

static gp_status check_arrays(gp_context *ctx, const char *f, const gp_reduce_segmented_desc *d,
                              const struct gpi_segreduce_args *a)
{
    const size_t in = gpi_dtype_bytes(a->in_dtype), out = gpi_dtype_bytes(a->out_dtype);
    const size_t offset = gpi_dtype_bytes(a->offset_dtype), indices = a->places ? 8 : 0;
    const bool rows = offset == 0;
    const struct gpi_array arrays[] = {
        GPI_READ_IF("desc->device_n", d->device_n, 8, 8),
        GPI_READ_IF("desc->device_num_segments", d->device_num_segments, 8, 8),
        GPI_READ("in", a->in, a->n * gpi_op_scalars(a->op) * in, in),
        GPI_READ("offsets", a->offsets, rows ? 0 : (a->count + 1) * offset, rows ? 1 : offset),
        {a->places ? "values" : "out", a->out, a->count * out_bytes(d), out, true, a->places, 0},
        GPI_WRITE("indices", a->indices, a->count * indices, 8),
    };
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 6));
    return gpi_check_apart(ctx, f, arrays, 2, 6); /* counts may be anywhere in inputs */
}

/* ---- workspace ------------------------------------------------------------------------------- */

/* Of the tile states, the fold of a share and a note in 8-byte pieces; and the list of shares. */
static size_t cuda_bytes(const struct gpi_segreduce_args *a)
{
    const size_t scalar = gpi_dtype_bytes(a->in_dtype), item = scalar * gpi_op_scalars(a->op);
    const bool place = a->places || (gpi_dtype_is_float(a->in_dtype) && gpi_scan_is_order(a->op));
    const size_t out = gpi_dtype_bytes(a->out_dtype), larger = item > out ? item : out;
    const bool long_sum = a->op == GP_SUM && !gpi_dtype_is_float(a->in_dtype);
    const size_t acc = place ? 16 : long_sum ? sizeof(uint64_t) : larger;
    const uint64_t pieces = acc <= 4 ? 1 : acc <= 8 ? 2 : acc / 8 + 2;
    const size_t offset = gpi_dtype_bytes(a->offset_dtype);
    const uint64_t weight = a->n * item + a->count * (acc > offset ? acc : offset);
    const uint64_t shares = gpi_segreduce_shares(weight, place && item < 4);
    const uint64_t chunks = a->n >> gpi_segreduce_chunk_log2(a->n, item);
    return gpi_state_bytes((shares > chunks ? shares : chunks) * pieces) +
           (offset ? gpi_segreduce_list_bytes(shares) : 0);
}

static uint64_t weight_of(const struct gpi_segreduce_args *a)
{
    const size_t offset = gpi_dtype_bytes(a->offset_dtype);
    const size_t out = gpi_dtype_bytes(a->out_dtype) * gpi_op_scalars(a->op);
    return a->n * gpi_dtype_bytes(a->in_dtype) * gpi_op_scalars(a->op) +
           a->count * gpi_segreduce_end_weight(offset == 0, offset, out, a->places);
}

/* The descriptor in full; the arrays are not known yet. */
static struct gpi_segreduce_args args_of(const char *f, const gp_reduce_segmented_desc *d,
                                         uint64_t n, uint64_t count)
{
    return (struct gpi_segreduce_args){.function = f,
                                       .n = n,
                                       .count = count,
                                       .offset_dtype = d->offset_dtype,
                                       .device_n = d->device_n,
                                       .device_count = d->device_num_segments,
                                       .op = d->op,
                                       .in_dtype = d->in_dtype,
                                       .out_dtype = d->out_dtype ? d->out_dtype : d->in_dtype,
                                       .has_init = d->init != NULL};
}

static gp_status figure(const gp_target *t, const struct gpi_segreduce_args *a, size_t *bytes)
{
    GPI_TRY(gpi_check_figure(a->function, bytes));
    /* places are the larger ones, and take the same descriptor */
    struct gpi_segreduce_args places = *a;
    places.places = a->op == GP_SUM && a->in_dtype == a->out_dtype;
    const uint64_t weight = weight_of(&places);
    const size_t cuda = cuda_bytes(a), more = cuda_bytes(&places);
    *bytes = gpi_target_bytes(t, gpi_segreduce_cpu_bytes(weight), cuda > more ? cuda : more);
    return GP_OK;
}

gp_status gp_reduce_segmented_workspace_bytes(const gp_target *target,
                                              const gp_reduce_segmented_desc *desc, size_t n,
                                              size_t num_segments, size_t *bytes)
{
    static const char f[] = "gp_reduce_segmented_workspace_bytes";
    gp_target t;
    gp_reduce_segmented_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, (struct form){false, false}, desc, &d));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_n(NULL, f, "num_segments", num_segments));
    const struct gpi_segreduce_args args = args_of(f, &d, n, num_segments);
    return figure(&t, &args, bytes);
}

gp_status gp_reduce_rows_workspace_bytes(const gp_target *target,
                                         const gp_reduce_segmented_desc *desc, size_t num_rows,
                                         size_t row_length, size_t *bytes)
{
    static const char f[] = "gp_reduce_rows_workspace_bytes";
    gp_target t;
    gp_reduce_segmented_desc d;
    uint64_t n = 0;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, (struct form){true, false}, desc, &d));
    GPI_TRY(check_rows(NULL, f, num_rows, row_length, &n));
    const struct gpi_segreduce_args args = args_of(f, &d, n, num_rows);
    return figure(&t, &args, bytes);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static gp_status dispatch(gp_context *ctx, const struct gpi_segreduce_args *args)
{
    if (ctx->backend == GP_BACKEND_CPU)
        return gpi_segreduce_cpu(ctx, args);
    gpi_segreduce_fn reduce = gpi_segreduce_find(ctx);
    if (!reduce)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: no code for %s on this device",
                        args->function, gp_dtype_string(args->in_dtype));
    GPI_ON_DEVICE(ctx);
    return reduce(ctx, args);
}

/* Counts in the memory of the CPU are known now. */
static void counts_take(struct gpi_segreduce_args *args)
{
    if (args->device_n && *args->device_n < args->n)
        args->n = *args->device_n;
    if (args->device_count && *args->device_count < args->count)
        args->count = *args->device_count;
    if (!args->offsets)
        args->n = args->count * args->row_length;
    args->device_n = args->device_count = NULL;
}

/* The arguments but for the arrays have been checked. */
static gp_status reduce(gp_context *ctx, const gp_reduce_segmented_desc *d,
                        struct gpi_segreduce_args *args)
{
    const char *f = args->function;
    GPI_TRY(check_arrays(ctx, f, d, args));
    if (d->init)
        memcpy(args->init, d->init, out_bytes(d));
    if (ctx->backend == GP_BACKEND_CPU)
        counts_take(args);
    if (args->n == 0 && args->count == 0)
        return GP_OK;
    if (!args->offsets)
        return args->count ? dispatch(ctx, args) : GP_OK;
    const struct gpi_content rule =
        GPI_OFFSETS("offsets", args->offsets, args->count, args->offset_dtype, args->n);
    if (ctx->backend == GP_BACKEND_CPU) {
        GPI_TRY(gpi_content_check(ctx, f, &rule));
        return dispatch(ctx, args);
    }
    if (args->device_n || args->device_count) /* the kernel alone knows how many offsets count */
        return dispatch(ctx, args);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, dispatch(ctx, args));
}

static gp_status segmented(gp_context *ctx, const char *f, struct form form,
                           const gp_reduce_segmented_desc *desc, gp_op place_op,
                           const struct gpi_segreduce_args *arrays)
{
    gp_reduce_segmented_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, form, desc, &d));
    GPI_TRY(gpi_check_n(ctx, f, "n", arrays->n));
    GPI_TRY(gpi_check_index_value(ctx, f, "n", arrays->n, "desc->offset_dtype", d.offset_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", arrays->count));
    struct gpi_segreduce_args args = args_of(f, &d, arrays->n, arrays->count);
    args.in = arrays->in;
    args.out = arrays->out;
    args.indices = arrays->indices;
    args.offsets = arrays->offsets;
    args.places = form.places;
    if (form.places)
        args.op = place_op;
    return reduce(ctx, &d, &args);
}

gp_status gp_reduce_segmented(gp_context *ctx, const gp_reduce_segmented_desc *desc, const void *in,
                              size_t n, const void *offsets, size_t num_segments, void *out)
{
    const struct gpi_segreduce_args arrays = {
        .in = in, .n = n, .offsets = offsets, .count = num_segments, .out = out};
    return segmented(ctx, "gp_reduce_segmented", (struct form){false, false}, desc, GP_SUM,
                     &arrays);
}

/* Places of the extremes that op finds. */
static gp_status places(gp_context *ctx, const char *f, gp_op op,
                        const gp_reduce_segmented_desc *desc, const void *in, size_t n,
                        const void *offsets, size_t num_segments, void *values, uint64_t *indices)
{
    const struct gpi_segreduce_args arrays = {.in = in,
                                              .n = n,
                                              .offsets = offsets,
                                              .count = num_segments,
                                              .out = values,
                                              .indices = indices};
    return segmented(ctx, f, (struct form){false, true}, desc, op, &arrays);
}

gp_status gp_argmin_segmented(gp_context *ctx, const gp_reduce_segmented_desc *desc, const void *in,
                              size_t n, const void *offsets, size_t num_segments, void *values,
                              uint64_t *indices)
{
    return places(ctx, "gp_argmin_segmented", GP_MIN, desc, in, n, offsets, num_segments, values,
                  indices);
}

gp_status gp_argmax_segmented(gp_context *ctx, const gp_reduce_segmented_desc *desc, const void *in,
                              size_t n, const void *offsets, size_t num_segments, void *values,
                              uint64_t *indices)
{
    return places(ctx, "gp_argmax_segmented", GP_MAX, desc, in, n, offsets, num_segments, values,
                  indices);
}

gp_status gp_reduce_rows(gp_context *ctx, const gp_reduce_segmented_desc *desc, const void *in,
                         size_t num_rows, size_t row_length, void *out)
{
    static const char f[] = "gp_reduce_rows";
    gp_reduce_segmented_desc d;
    uint64_t n = 0;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, (struct form){true, false}, desc, &d));
    GPI_TRY(check_rows(ctx, f, num_rows, row_length, &n));
    struct gpi_segreduce_args args = args_of(f, &d, n, num_rows);
    args.in = in;
    args.out = out;
    args.row_length = row_length;
    return reduce(ctx, &d, &args);
}
