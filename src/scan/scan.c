/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "scan/scan_internal.h"

/* Sizes that follow from a descriptor. */
struct shape {
    gp_dtype in, out;
    size_t in_item, out_item; /* bytes */
    uint64_t out_items;
    bool wide;
};

gp_status gpi_scan_check_op(gp_context *ctx, const char *f, gp_dtype in, gp_op op)
{
    if (gpi_op_scalars(op) == 0)
        return gpi_fail(ctx, GP_ERROR_OP, "%s: desc->op is %d, not a gp_op", f, (int)op);
    if (!gpi_scan_op_allowed(in, op))
        return gpi_fail(ctx, GP_ERROR_OP, "%s: desc->op is %s, which has no meaning for %s", f,
                        gp_op_string(op), gp_dtype_string(in));
    return GP_OK;
}

gp_status gpi_scan_check_types(gp_context *ctx, const char *f, gp_dtype in, gp_dtype out, gp_op op)
{
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->in_dtype", in));
    if (out)
        GPI_TRY(gpi_check_dtype(ctx, f, "desc->out_dtype", out));
    GPI_TRY(gpi_scan_check_op(ctx, f, in, op));
    if (out && !gpi_scan_pair_allowed(in, out, op))
        return gpi_fail(ctx, GP_ERROR_DTYPE, "%s: desc->out_dtype is %s, not allowed for %s of %s",
                        f, gp_dtype_string(out), gp_op_string(op), gp_dtype_string(in));
    return GP_OK;
}

/* *d becomes the full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, const gp_scan_desc *given,
                            gp_backend backend, gp_scan_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_scan_desc)));
    if (d->kind < GP_SCAN_INCLUSIVE || d->kind > GP_SCAN_ROW_POINTERS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->kind is %d", f, (int)d->kind);
    GPI_TRY(gpi_scan_check_types(ctx, f, d->in_dtype, d->out_dtype, d->op));
    GPI_TRY(gpi_scan_check_family(ctx, f, d, backend));
    if (d->backward && d->kind == GP_SCAN_ROW_POINTERS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->backward is %d, expected 0 with GP_SCAN_ROW_POINTERS", f,
                        d->backward);
    if (d->backward && d->algorithm != GP_ALGORITHM_AUTO)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: desc->algorithm is %d, expected GP_ALGORITHM_AUTO with desc->backward",
                        f, (int)d->algorithm);
    if (d->total && gpi_op_scalars(d->op) > 1)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->total is set, but not for %s", f,
                        gp_op_string(d->op));
    return GP_OK;
}

static struct shape shape_of(const gp_scan_desc *d, uint64_t n)
{
    struct shape s = {.in = d->in_dtype, .out = d->out_dtype ? d->out_dtype : d->in_dtype};
    s.in_item = gpi_dtype_bytes(s.in) * gpi_op_scalars(d->op);
    s.out_item = gpi_dtype_bytes(s.out) * gpi_op_scalars(d->op);
    s.out_items = n + (d->kind == GP_SCAN_ROW_POINTERS);
    s.wide = d->total && d->op == GP_SUM && !gpi_dtype_is_float(s.out) && s.out_item < 8;
    return s;
}

static gp_status check_arrays(gp_context *ctx, const char *f, const gp_scan_desc *d,
                              const struct shape *s, const void *in, uint64_t n, void *out)
{
    const struct gpi_array arrays[] = {
        GPI_READ("in", in, n * s->in_item, gpi_dtype_bytes(s->in)),
        GPI_WRITE_OVER(s->in_item == s->out_item, "out", out, s->out_items * s->out_item,
                       gpi_dtype_bytes(s->out)),
        GPI_WRITE_IF("desc->total", d->total, 8, 8),
        GPI_READ_IF("desc->device_n", d->device_n, 8, 8),
    };
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 4));
    return gpi_check_apart(ctx, f, arrays, 0, 3); /* device_n may be in an output */
}

static gp_status dispatch(gp_context *ctx, const char *f, const struct gpi_scan_args *args)
{
    if (ctx->backend == GP_BACKEND_CUDA && !gpi_scan_is_default(ctx->backend, args->algorithm))
        return gpi_scan_family(ctx, f, args);
    if (ctx->backend == GP_BACKEND_CUDA && args->backward) {
        gpi_scan_fn stream = gpi_scan_backward_find(ctx, args);
        return stream ? stream(ctx, args) : gpi_scan_backward_any(ctx, args);
    }
    gpi_scan_fn scan = gpi_scan_find(ctx, args->in_dtype, args->out_dtype, args->op, args->wide);
    if (!scan)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: no scan of %s to %s on this device", f,
                        gp_dtype_string(args->in_dtype), gp_dtype_string(args->out_dtype));
    return scan(ctx, args);
}

static gp_status scan_by(gp_context *ctx, const char *f, const gp_scan_desc *given, const void *in,
                         size_t n, void *out)
{
    gp_scan_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, given, ctx->backend, &d));
    struct shape s = shape_of(&d, n);
    GPI_TRY(check_arrays(ctx, f, &d, &s, in, n, out));
    if (n == 0 && !d.total && d.kind != GP_SCAN_ROW_POINTERS)
        return GP_OK;
    struct gpi_scan_args args = {.function = f,
                                 .in = in,
                                 .out = out,
                                 .n = n,
                                 .op = d.op,
                                 .kind = d.kind,
                                 .in_dtype = s.in,
                                 .out_dtype = s.out,
                                 .algorithm = d.algorithm,
                                 .tile = d.tile,
                                 .wide = s.wide,
                                 .has_init = d.init != NULL,
                                 .total = d.total,
                                 .device_n = d.device_n,
                                 .sign_bits = gpi_dtype_is_signed(s.out) ? (int)s.out_item * 8 : 0,
                                 .backward = d.backward != 0};
    if (d.init)
        memcpy(args.init, d.init, s.out_item);
    GPI_ON_DEVICE(ctx);
    return dispatch(ctx, f, &args);
}

gp_status gp_scan(gp_context *ctx, const gp_scan_desc *desc, const void *in, size_t n, void *out)
{
    return scan_by(ctx, "gp_scan", desc, in, n, out);
}

gp_status gp_scan_inclusive(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in, size_t n,
                            void *out)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = dtype;
    desc.op = op;
    return scan_by(ctx, "gp_scan_inclusive", &desc, in, n, out);
}

gp_status gp_scan_exclusive(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in, size_t n,
                            const void *init, void *out)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.kind = GP_SCAN_EXCLUSIVE;
    desc.in_dtype = dtype;
    desc.op = op;
    desc.init = init;
    return scan_by(ctx, "gp_scan_exclusive", &desc, in, n, out);
}

uint64_t gpi_scan_slots(uint64_t n, size_t in_item_bytes, size_t out_item_bytes)
{
    size_t item = in_item_bytes > out_item_bytes ? in_item_bytes : out_item_bytes;
    size_t per_vector = item < 16 ? 16 / item : 1;
    uint64_t tile = (uint64_t)GPI_SCAN_TILE_WARPS * 32 * GPI_SCAN_TILE_VECTORS * per_vector;
    size_t pieces = item > 8 ? item / 8 : 1;
    return ((n + tile - 1) / tile + 1) * pieces;
}

static size_t cuda_bytes(const gp_scan_desc *d, const struct shape *s, uint64_t n)
{
    size_t acc = gpi_scan_accumulator_bytes(gpi_scan_accumulator_of(s->out, d->op, s->wide));
    if (gpi_scan_is_default(GP_BACKEND_CUDA, d->algorithm)) {
        uint64_t ahead = gpi_scan_slots(n, s->in_item, s->out_item);
        uint64_t family = gpi_scan_family_slots(GP_ALGORITHM_LOOKAHEAD, n, acc);
        return gpi_state_bytes(d->backward && family > ahead ? family : ahead);
    }
    bool keep = gpi_scan_keeps_accumulators(d->algorithm, s->out, s->wide);
    uint64_t slots = gpi_scan_family_slots(d->algorithm, n, acc);
    return slots ? gpi_state_bytes(slots) : gpi_scan_family_bytes(d->algorithm, n, acc, keep);
}

static size_t cpu_bytes(const gp_scan_desc *d, const struct shape *s, uint64_t n)
{
    size_t acc = gpi_scan_accumulator_bytes(gpi_scan_accumulator_of(s->out, d->op, s->wide));
    bool keep = gpi_scan_keeps_accumulators(d->algorithm, s->out, s->wide);
    return gpi_scan_cpu_bytes(d->algorithm, n, s->in_item, acc, keep);
}

gp_status gp_scan_workspace_bytes(const gp_target *target, const gp_scan_desc *desc, size_t n,
                                  size_t *bytes)
{
    static const char f[] = "gp_scan_workspace_bytes";
    gp_target t;
    gp_scan_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, desc, t.backend, &d));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(gpi_check_figure(f, bytes));
    struct shape s = shape_of(&d, n);
    *bytes = gpi_target_bytes(&t, cpu_bytes(&d, &s, n), cuda_bytes(&d, &s, n));
    return GP_OK;
}
