/* SPDX-License-Identifier: MIT */
/* The front doors of fill and iota: checks, dispatch. */
#include "fill/fill_internal.h"

#include <string.h>

#include "core/check.h"
#include "core/cuda.h"
#include "core/half.h"

/* Of the arrays, which are in parameter order and end with the output, those up to first are host
 * memory: on the CPU the output must not be there. */
static gp_status check_arrays(gp_context *ctx, const char *f, const struct gpi_array *arrays,
                              int host, int count)
{
    GPI_TRY(gpi_check_memory(ctx, f, arrays + host, count - host));
    if (ctx->backend == GP_BACKEND_CPU)
        host = 0;
    return gpi_check_apart(ctx, f, arrays + host, count - 1 - host, count - host);
}

/* ---- fill ---------------------------------------------------------------------------------- */

static gp_status fill(gp_context *ctx, const char *f, bool by, const gp_fill_desc *given, size_t n,
                      void *out)
{
    gp_fill_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_fill_desc)));
    const char *const item = GPI_MEMBER(by, "item");
    const struct gpi_array arrays[] = {
        GPI_READ(item, d.item, n ? d.item_bytes : 0, 1),
        GPI_READ_IF("desc->device_n", d.device_n, n ? sizeof *d.device_n : 0, 8),
        GPI_WRITE("out", out, n * d.item_bytes, 1),
    };
    const struct gpi_fill_args a = {d.item_bytes, d.item, n, d.device_n, out};
    GPI_TRY(gpi_check_item_bytes(ctx, f, GPI_MEMBER(by, "item_bytes"), d.item_bytes));
    if (n != 0 && !d.item)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: %s is NULL", f, item);
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(check_arrays(ctx, f, arrays, 1, 3));
    if (n == 0)
        return GP_OK;
    if (ctx->backend == GP_BACKEND_CPU) {
        gpi_fill_cpu(ctx->threads, &a);
        return GP_OK;
    }
    const struct gpi_fill_launchers *launchers = gpi_fill_launchers_get(ctx->sm_row);
    GPI_ON_DEVICE(ctx);
    return launchers ? launchers->fill(ctx, f, &a) : gpi_fail_sm(ctx, f);
}

gp_status gp_fill_by(gp_context *ctx, const gp_fill_desc *desc, size_t n, void *out)
{
    return fill(ctx, "gp_fill_by", true, desc, n, out);
}

gp_status gp_fill(gp_context *ctx, size_t item_bytes, const void *item, size_t n, void *out)
{
    gp_fill_desc d = GP_FILL_DESC_INIT;
    d.item_bytes = item_bytes;
    d.item = item;
    return fill(ctx, "gp_fill", false, &d, n, out);
}

/* ---- iota ---------------------------------------------------------------------------------- */

static enum gpi_iota_kind kind_of(gp_dtype dtype, size_t bytes)
{
    switch (dtype) {
    case GP_F16:
        return GPI_IOTA_F16;
    case GP_BF16:
        return GPI_IOTA_BF16;
    case GP_F32:
        return GPI_IOTA_F32;
    case GP_F64:
        return GPI_IOTA_F64;
    default:
        return bytes == 1   ? GPI_IOTA_8
               : bytes == 2 ? GPI_IOTA_16
               : bytes == 4 ? GPI_IOTA_32
                            : GPI_IOTA_64;
    }
}

/* A number of the caller, or what it is if there is none. */
static void read_number(enum gpi_iota_kind kind, size_t bytes, const void *number, int otherwise,
                        uint64_t *integer, double *real)
{
    float f;
    *integer = (uint64_t)otherwise;
    *real = otherwise;
    if (!number)
        return;
    *integer = 0;
    memcpy(integer, number, bytes);
    if (kind == GPI_IOTA_F16)
        *real = gpi_f16_to_float((uint16_t)*integer);
    if (kind == GPI_IOTA_BF16)
        *real = gpi_bf16_to_float((uint16_t)*integer);
    if (kind == GPI_IOTA_F32) {
        memcpy(&f, number, sizeof f);
        *real = f;
    }
    if (kind == GPI_IOTA_F64)
        memcpy(real, number, sizeof *real);
}

static gp_status iota(gp_context *ctx, const char *f, bool by, const gp_iota_desc *given, size_t n,
                      void *out)
{
    gp_iota_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_iota_desc)));
    const size_t bytes = gpi_dtype_bytes(d.dtype);
    const struct gpi_array arrays[] = {
        GPI_READ_IF(GPI_MEMBER(by, "first"), d.first, bytes, 1),
        GPI_READ_IF(GPI_MEMBER(by, "step"), d.step, bytes, 1),
        GPI_READ_IF("desc->device_n", d.device_n, n ? sizeof *d.device_n : 0, 8),
        GPI_WRITE("out", out, n * bytes, bytes),
    };
    struct gpi_iota_args a = {.kind = kind_of(d.dtype, bytes),
                              .item_bytes = bytes,
                              .n = n,
                              .device_n = d.device_n,
                              .out = out};
    GPI_TRY(gpi_check_dtype(ctx, f, GPI_MEMBER(by, "dtype"), d.dtype));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d.reserved));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(check_arrays(ctx, f, arrays, 2, 4));
    if (n == 0)
        return GP_OK;
    read_number(a.kind, bytes, d.first, 0, &a.first, &a.real_first);
    read_number(a.kind, bytes, d.step, 1, &a.step, &a.real_step);
    if (ctx->backend == GP_BACKEND_CPU) {
        gpi_iota_cpu(ctx, &a);
        return GP_OK;
    }
    const struct gpi_fill_launchers *launchers = gpi_fill_launchers_get(ctx->sm_row);
    GPI_ON_DEVICE(ctx);
    return launchers ? launchers->iota(ctx, f, &a) : gpi_fail_sm(ctx, f);
}

gp_status gp_iota_by(gp_context *ctx, const gp_iota_desc *desc, size_t n, void *out)
{
    return iota(ctx, "gp_iota_by", true, desc, n, out);
}

gp_status gp_iota(gp_context *ctx, gp_dtype dtype, const void *first, const void *step, size_t n,
                  void *out)
{
    gp_iota_desc d = GP_IOTA_DESC_INIT;
    d.dtype = dtype;
    d.first = first;
    d.step = step;
    return iota(ctx, "gp_iota", false, &d, n, out);
}
