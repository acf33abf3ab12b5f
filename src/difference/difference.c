/* SPDX-License-Identifier: MIT */
#include "core/check.h"
#include "core/cuda.h"
#include "difference/difference_internal.h"

static gp_status adjacent(gp_context *ctx, const char *f, bool by, const gp_difference_desc *given,
                          const void *in, size_t n, void *out)
{
    gp_difference_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_difference_desc)));
    GPI_TRY(gpi_check_dtype(ctx, f, GPI_MEMBER(by, "dtype"), d.dtype));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d.reserved));
    const size_t item = gpi_dtype_bytes(d.dtype);
    const struct gpi_array arrays[] = {
        GPI_READ_IF("desc->device_n", d.device_n, n ? sizeof *d.device_n : 0, 8),
        GPI_READ("in", in, n * item, item), GPI_WRITE("out", out, n * item, item)};
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 3));
    if (n == 0)
        return GP_OK;
    gpi_difference_fn difference = gpi_difference_find(ctx);
    if (!difference)
        return gpi_fail_sm(ctx, f);
    const struct gpi_difference_args a = {f, d.dtype, in, n, d.device_n, out};
    GPI_ON_DEVICE(ctx);
    return difference(ctx, &a);
}

gp_status gp_adjacent_difference_by(gp_context *ctx, const gp_difference_desc *desc, const void *in,
                                    size_t n, void *out)
{
    return adjacent(ctx, "gp_adjacent_difference_by", true, desc, in, n, out);
}

gp_status gp_adjacent_difference(gp_context *ctx, gp_dtype dtype, const void *in, size_t n,
                                 void *out)
{
    gp_difference_desc d = GP_DIFFERENCE_DESC_INIT;
    d.dtype = dtype;
    return adjacent(ctx, "gp_adjacent_difference", false, &d, in, n, out);
}
