/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "reduce/reduce_internal.h"

/* *d becomes the full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, const gp_reduce_desc *given,
                            gp_reduce_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_reduce_desc)));
    GPI_TRY(gpi_scan_check_types(ctx, f, d->in_dtype, d->out_dtype, d->op));
    if (d->total && gpi_op_scalars(d->op) > 1)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->total is set, but not for %s", f,
                        gp_op_string(d->op));
    return GP_OK;
}

static gp_status check_arrays(gp_context *ctx, const char *f, const gp_reduce_desc *d,
                              const struct gpi_reduce_args *args)
{
    const size_t in = gpi_dtype_bytes(args->in_dtype), out = gpi_dtype_bytes(args->out_dtype);
    const size_t scalars = gpi_op_scalars(d->op);
    const struct gpi_array arrays[] = {
        GPI_READ("in", args->in, args->n * scalars * in, in),
        GPI_WRITE("out", args->out, scalars * out, out),
        GPI_WRITE_IF("desc->total", d->total, 8, 8),
        GPI_READ_IF("desc->device_n", d->device_n, 8, 8),
    };
    GPI_TRY(gpi_check_n(ctx, f, "n", args->n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 4));
    return gpi_check_apart(ctx, f, arrays, 0, 3); /* device_n may be in an output */
}

static gp_status dispatch(gp_context *ctx, const char *f, const struct gpi_reduce_args *args)
{
    if (ctx->backend == GP_BACKEND_CPU)
        return gpi_reduce_cpu(ctx, f, args);
    gpi_reduce_fn reduce = gpi_reduce_find(ctx, args->in_dtype, args->op);
    if (!reduce)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: no code for %s on this device", f,
                        gp_dtype_string(args->in_dtype));
    GPI_ON_DEVICE(ctx);
    return reduce(ctx, args);
}

/* by: the caller made the descriptor; otherwise its dtype and operator are parameters. */
static gp_status reduce_by(gp_context *ctx, const char *f, bool by, const gp_reduce_desc *given,
                           const void *in, size_t n, void *out)
{
    gp_reduce_desc d;
    GPI_CALL(ctx, f);
    if (!by)
        GPI_TRY(gpi_scan_check_short(ctx, f, given->in_dtype, given->op));
    GPI_TRY(check_desc(ctx, f, given, &d));
    gp_dtype to = d.out_dtype ? d.out_dtype : d.in_dtype;
    size_t out_bytes = gpi_dtype_bytes(to) * gpi_op_scalars(d.op);
    struct gpi_reduce_args args = {.function = f,
                                   .in = in,
                                   .out = out,
                                   .n = n,
                                   .op = d.op,
                                   .in_dtype = d.in_dtype,
                                   .out_dtype = to,
                                   .wide = d.total && d.op == GP_SUM,
                                   .has_init = d.init != NULL,
                                   .total = d.total,
                                   .device_n = d.device_n,
                                   .sign_bits = gpi_dtype_is_signed(to) ? (int)out_bytes * 8 : 0};
    GPI_TRY(check_arrays(ctx, f, &d, &args));
    if (d.init)
        memcpy(args.init, d.init, out_bytes);
    return dispatch(ctx, f, &args);
}

gp_status gp_reduce_by(gp_context *ctx, const gp_reduce_desc *desc, const void *in, size_t n,
                       void *out)
{
    return reduce_by(ctx, "gp_reduce_by", true, desc, in, n, out);
}

gp_status gp_reduce(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in, size_t n, void *out)
{
    gp_reduce_desc desc = GP_REDUCE_DESC_INIT;
    desc.in_dtype = dtype;
    desc.op = op;
    return reduce_by(ctx, "gp_reduce", false, &desc, in, n, out);
}

/* by: the caller filled in the descriptor. */
static gp_status arg(gp_context *ctx, const char *f, bool by, const gp_arg_desc *given, gp_op op,
                     const void *in, size_t n, void *value, uint64_t *index)
{
    gp_arg_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_arg_desc)));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d.reserved));
    GPI_TRY(gpi_check_dtype(ctx, f, GPI_MEMBER(by, "dtype"), d.dtype));
    const size_t bytes = gpi_dtype_bytes(d.dtype);
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_n", d.device_n),
        GPI_READ("in", in, n * bytes, bytes),
        GPI_WRITE_IF("value", value, bytes, bytes),
        GPI_WRITE("index", index, sizeof *index, sizeof *index),
    };
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 4));
    struct gpi_reduce_args args = {.function = f,
                                   .in = in,
                                   .out = value,
                                   .index = index,
                                   .n = n,
                                   .device_n = d.device_n,
                                   .op = op,
                                   .in_dtype = d.dtype,
                                   .out_dtype = d.dtype};
    return dispatch(ctx, f, &args);
}

gp_status gp_argmin_by(gp_context *ctx, const gp_arg_desc *desc, const void *in, size_t n,
                       void *value, uint64_t *index)
{
    return arg(ctx, "gp_argmin_by", true, desc, GP_MIN, in, n, value, index);
}

gp_status gp_argmax_by(gp_context *ctx, const gp_arg_desc *desc, const void *in, size_t n,
                       void *value, uint64_t *index)
{
    return arg(ctx, "gp_argmax_by", true, desc, GP_MAX, in, n, value, index);
}

gp_status gp_argmin(gp_context *ctx, gp_dtype dtype, const void *in, size_t n, void *value,
                    uint64_t *index)
{
    gp_arg_desc d = GP_ARG_DESC_INIT;
    d.dtype = dtype;
    return arg(ctx, "gp_argmin", false, &d, GP_MIN, in, n, value, index);
}

gp_status gp_argmax(gp_context *ctx, gp_dtype dtype, const void *in, size_t n, void *value,
                    uint64_t *index)
{
    gp_arg_desc d = GP_ARG_DESC_INIT;
    d.dtype = dtype;
    return arg(ctx, "gp_argmax", false, &d, GP_MAX, in, n, value, index);
}

/* ---- workspace ---- */

/* pieces: 8-byte parts of the largest accumulator. */
static gp_status workspace(const char *f, const gp_target *t, uint64_t n, size_t item_bytes,
                           uint64_t pieces, size_t *bytes)
{
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_figure(f, bytes));
    size_t cuda = gpi_state_bytes(gpi_reduce_sums_max(n * item_bytes) * pieces + 32);
    size_t cpu = gpi_reduce_cpu_bytes(n, item_bytes, (size_t)pieces * 8);
    *bytes = gpi_target_bytes(t, cpu, cuda);
    return GP_OK;
}

gp_status gp_reduce_workspace_bytes(const gp_target *target, const gp_reduce_desc *desc, size_t n,
                                    size_t *bytes)
{
    static const char f[] = "gp_reduce_workspace_bytes";
    gp_target t;
    gp_reduce_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, desc, &d));
    size_t item = gpi_dtype_bytes(d.in_dtype) * gpi_op_scalars(d.op);
    return workspace(f, &t, n, item, item > 8 ? item / 8 : 1, bytes);
}

gp_status gp_argmin_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                    size_t *bytes)
{
    static const char f[] = "gp_argmin_workspace_bytes";
    gp_target t;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", dtype));
    return workspace(f, &t, n, gpi_dtype_bytes(dtype), 2, bytes);
}
