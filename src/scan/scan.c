/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "scan/family/family_internal.h"
#include "scan/scan_internal.h"

bool gpi_scan_is_default(gp_backend backend, gp_algorithm algorithm)
{
    switch (algorithm) {
    case GP_ALGORITHM_AUTO:
    case GP_ALGORITHM_LOOKAHEAD:
        return true;
    case GP_ALGORITHM_LOOKBACK:
    case GP_ALGORITHM_CHAINED:
    case GP_ALGORITHM_FENWICK:
        return backend == GP_BACKEND_CPU;
    default:
        return false;
    }
}

gp_status gpi_scan_check_op(gp_context *ctx, const char *f, gp_dtype in, const char *argument,
                            gp_op op)
{
    if (gpi_op_scalars(op) == 0)
        return gpi_fail(ctx, GP_ERROR_OP, "%s: %s is %d, not a gp_op", f, argument, (int)op);
    if (!gpi_scan_op_allowed(in, op))
        return gpi_fail(ctx, GP_ERROR_OP, "%s: %s is %s, which has no meaning for %s", f, argument,
                        gp_op_string(op), gp_dtype_string(in));
    return GP_OK;
}

gp_status gpi_scan_check_types(gp_context *ctx, const char *f, gp_dtype in, gp_dtype out, gp_op op)
{
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->in_dtype", in));
    if (out)
        GPI_TRY(gpi_check_dtype(ctx, f, "desc->out_dtype", out));
    GPI_TRY(gpi_scan_check_op(ctx, f, in, "desc->op", op));
    if (out && !gpi_scan_pair_allowed(in, out, op))
        return gpi_fail(ctx, GP_ERROR_DTYPE, "%s: desc->out_dtype is %s, not allowed for %s of %s",
                        f, gp_dtype_string(out), gp_op_string(op), gp_dtype_string(in));
    return GP_OK;
}

gp_status gpi_scan_check_short(gp_context *ctx, const char *f, gp_dtype dtype, gp_op op)
{
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    return gpi_scan_check_op(ctx, f, dtype, "op", op);
}

/* Algorithms that let the caller choose how a tile is scanned. */
static bool has_tiles(gp_algorithm algorithm)
{
    return algorithm != GP_ALGORITHM_CUB && algorithm != GP_ALGORITHM_SERIAL &&
           !gpi_scan_is_default(GP_BACKEND_CUDA, algorithm);
}

/* The algorithm and the tile method exist, together, on that backend (AUTO: on one of them). */
static gp_status check_algorithm(gp_context *ctx, const char *f, const gp_scan_desc *d,
                                 gp_backend backend)
{
    GPI_TRY(gpi_check_algorithm(ctx, f, "desc->algorithm", backend, d->algorithm, ~0u));
    if ((int)d->tile < GP_SCAN_TILE_AUTO || d->tile > GP_SCAN_TILE_THREE_PHASE)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->tile is %d, expected a gp_scan_tile", f,
                        (int)d->tile);
    if (d->tile != GP_SCAN_TILE_AUTO && !has_tiles(d->algorithm))
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: desc->tile is %d, but algorithm %d has no choice: expected "
                        "GP_SCAN_TILE_AUTO",
                        f, (int)d->tile, (int)d->algorithm);
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
    GPI_TRY(check_algorithm(ctx, f, d, backend));
    if (d->backward && d->kind == GP_SCAN_ROW_POINTERS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->backward is %d, expected 0 with GP_SCAN_ROW_POINTERS", f,
                        d->backward);
    if (d->backward && d->algorithm != GP_ALGORITHM_AUTO)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: desc->algorithm is %d, expected GP_ALGORITHM_AUTO with desc->backward",
                        f, (int)d->algorithm);
    if (d->device_num_segments)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->device_num_segments is set, expected NULL", f);
    if (d->total && gpi_op_scalars(d->op) > 1)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->total is set, but not for %s", f,
                        gp_op_string(d->op));
    return GP_OK;
}

static size_t item_bytes(gp_dtype dtype, gp_op op)
{
    return gpi_dtype_bytes(dtype) * gpi_op_scalars(op);
}

/* The call that a descriptor means, but for the initial value. */
static struct gpi_scan_args args_of(const char *f, const gp_scan_desc *d, const void *in,
                                    uint64_t n, void *out)
{
    const gp_dtype out_dtype = d->out_dtype ? d->out_dtype : d->in_dtype;
    const size_t item = item_bytes(out_dtype, d->op);
    const bool integer = !gpi_dtype_is_float(out_dtype);
    return (struct gpi_scan_args){.function = f,
                                  .in = in,
                                  .out = out,
                                  .n = n,
                                  .op = d->op,
                                  .kind = d->kind,
                                  .in_dtype = d->in_dtype,
                                  .out_dtype = out_dtype,
                                  .algorithm = d->algorithm,
                                  .tile = d->tile,
                                  .wide = d->total && d->op == GP_SUM && integer && item < 8,
                                  .has_init = d->init != NULL,
                                  .total = d->total,
                                  .device_n = d->device_n,
                                  .sign_bits = gpi_dtype_is_signed(out_dtype) ? (int)item * 8 : 0,
                                  .backward = d->backward != 0};
}

static gp_status check_arrays(gp_context *ctx, const char *f, const struct gpi_scan_args *a)
{
    const size_t in_item = item_bytes(a->in_dtype, a->op);
    const size_t out_item = item_bytes(a->out_dtype, a->op);
    const uint64_t outputs = a->n + (a->kind == GP_SCAN_ROW_POINTERS);
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, a->n * in_item, gpi_dtype_bytes(a->in_dtype)),
        GPI_WRITE_OVER(in_item == out_item, "out", a->out, outputs * out_item,
                       gpi_dtype_bytes(a->out_dtype)),
        GPI_WRITE_IF("desc->total", a->total, 8, 8),
        GPI_READ_IF("desc->device_n", a->device_n, 8, 8),
    };
    GPI_TRY(gpi_check_n(ctx, f, "n", a->n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 4));
    return gpi_check_apart(ctx, f, arrays, 0, 3); /* device_n may be in an output */
}

/* The engine, or on CUDA the family's algorithm that was named. */
static gp_status dispatch(gp_context *ctx, const struct gpi_scan_args *args)
{
    const bool cuda = ctx->backend == GP_BACKEND_CUDA;
    if (cuda && !gpi_scan_is_default(ctx->backend, args->algorithm))
        return gpi_scan_family(ctx, args);
    gpi_scan_fn scan = gpi_scan_find(ctx, args);
    if (!scan)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: no scan of %s to %s on this device",
                        args->function, gp_dtype_string(args->in_dtype),
                        gp_dtype_string(args->out_dtype));
    return scan(ctx, args);
}

/* by: the caller made the descriptor; otherwise its dtype and operator are parameters. */
static gp_status scan_by(gp_context *ctx, const char *f, bool by, const gp_scan_desc *given,
                         const void *in, size_t n, void *out)
{
    gp_scan_desc d;
    GPI_CALL(ctx, f);
    if (!by)
        GPI_TRY(gpi_scan_check_short(ctx, f, given->in_dtype, given->op));
    GPI_TRY(check_desc(ctx, f, given, ctx->backend, &d));
    struct gpi_scan_args args = args_of(f, &d, in, n, out);
    GPI_TRY(check_arrays(ctx, f, &args));
    if (n == 0 && !d.total && d.kind != GP_SCAN_ROW_POINTERS)
        return GP_OK;
    if (d.init)
        memcpy(args.init, d.init, item_bytes(args.out_dtype, d.op));
    GPI_ON_DEVICE(ctx);
    return dispatch(ctx, &args);
}

gp_status gp_scan(gp_context *ctx, const gp_scan_desc *desc, const void *in, size_t n, void *out)
{
    return scan_by(ctx, "gp_scan", true, desc, in, n, out);
}

gp_status gp_scan_inclusive(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in, size_t n,
                            void *out)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = dtype;
    desc.op = op;
    return scan_by(ctx, "gp_scan_inclusive", false, &desc, in, n, out);
}

gp_status gp_scan_exclusive(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in, size_t n,
                            const void *init, void *out)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.kind = GP_SCAN_EXCLUSIVE;
    desc.in_dtype = dtype;
    desc.op = op;
    desc.init = init;
    return scan_by(ctx, "gp_scan_exclusive", false, &desc, in, n, out);
}

uint64_t gpi_scan_tiles(uint64_t n, size_t item_bytes)
{
    size_t per_vector = item_bytes < 16 ? 16 / item_bytes : 1;
    const int vectors = item_bytes <= 16 ? GPI_SCAN_TILE_VECTORS : 1;
    uint64_t tile = (uint64_t)GPI_SCAN_TILE_WARPS * 32 * vectors * per_vector;
    return (n + tile - 1) / tile + 1;
}

size_t gpi_scan_accumulator_bytes(gp_dtype out, gp_op op, bool wide)
{
    return (wide || gpi_dtype_bytes(out) == 8 ? 8 : 4) * gpi_op_scalars(op);
}

/* Tile states of the engine, or what an algorithm of the family takes. */
static size_t cuda_bytes(const struct gpi_scan_args *args)
{
    const size_t in = item_bytes(args->in_dtype, args->op);
    const size_t out = item_bytes(args->out_dtype, args->op), item = in > out ? in : out;
    if (!gpi_scan_is_default(GP_BACKEND_CUDA, args->algorithm))
        return gpi_scan_family_bytes(GP_BACKEND_CUDA, args);
    return gpi_state_bytes(gpi_scan_tiles(args->n, item) * (item > 8 ? item / 8 : 1));
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
    const struct gpi_scan_args args = args_of(f, &d, NULL, n, NULL);
    *bytes = gpi_target_bytes(&t, gpi_scan_family_bytes(GP_BACKEND_CPU, &args), cuda_bytes(&args));
    return GP_OK;
}
