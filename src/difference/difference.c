/* SPDX-License-Identifier: MIT */
#include "core/check.h"
#include "core/cuda.h"
#include "difference/difference_internal.h"

gp_status gp_adjacent_difference(gp_context *ctx, gp_dtype dtype, const void *in, size_t n,
                                 void *out)
{
    static const char f[] = "gp_adjacent_difference";
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    const size_t item = gpi_dtype_bytes(dtype);
    const struct gpi_array arrays[] = {GPI_READ("in", in, n * item, item),
                                       GPI_WRITE("out", out, n * item, item)};
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 2));
    if (n == 0)
        return GP_OK;
    gpi_difference_fn difference = gpi_difference_find(ctx);
    if (!difference)
        return gpi_fail_sm(ctx, f);
    GPI_ON_DEVICE(ctx);
    return difference(ctx, f, dtype, in, n, out);
}
