/* SPDX-License-Identifier: MIT */
/* Front doors of bulk binary search. */
#include <gp/balance.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/cuda.h"
#include "core/order.h"

static gp_status bound_check(gp_context *ctx, const char *f, gp_dtype dtype, gp_dtype index_dtype,
                             const struct gpi_bound_args *a)
{
    const struct gpi_array arrays[] = {
        GPI_READ("sorted", a->sorted, a->n * a->item_bytes, a->item_bytes),
        GPI_READ("needles", a->needles, a->m * a->item_bytes, a->item_bytes),
        GPI_WRITE_OVER(a->item_bytes == a->index_bytes, "out", a->out, a->m * a->index_bytes,
                       a->index_bytes),
    };
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    GPI_TRY(gpi_check_n(ctx, f, "n", a->n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 1));
    GPI_TRY(gpi_check_n(ctx, f, "m", a->m));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 1, 1));
    GPI_TRY(gpi_check_index_dtype(ctx, f, "index_dtype", index_dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "n", a->n, "index_dtype", index_dtype));
    return gpi_check_outputs(ctx, f, arrays, 2, 3);
}

static gp_status bound(gp_context *ctx, const char *f, bool upper, gp_dtype dtype,
                       const void *sorted, size_t n, const void *needles, size_t m,
                       gp_dtype index_dtype, void *out)
{
    struct gpi_bound_args a = {.item_bytes = gpi_dtype_bytes(dtype),
                               .infinity = gpi_infinity_bits(dtype),
                               .upper = upper,
                               .sorted = sorted,
                               .n = n,
                               .needles = needles,
                               .m = m,
                               .index_bytes = gpi_dtype_bytes(index_dtype),
                               .out = out};
    a.order = gpi_dtype_is_float(dtype)    ? GPI_ORDER_FLOAT
              : gpi_dtype_is_signed(dtype) ? GPI_ORDER_SIGNED
                                           : GPI_ORDER_UNSIGNED;
    GPI_CALL(ctx, f);
    GPI_TRY(bound_check(ctx, f, dtype, index_dtype, &a));
    if (m == 0)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    gpi_balance_table(ctx, 0)->bound(ctx, &a);
    return gpi_launched(ctx, f);
}

gp_status gp_lower_bound(gp_context *ctx, gp_dtype dtype, const void *sorted, size_t n,
                         const void *needles, size_t m, gp_dtype index_dtype, void *out)
{
    return bound(ctx, "gp_lower_bound", false, dtype, sorted, n, needles, m, index_dtype, out);
}

gp_status gp_upper_bound(gp_context *ctx, gp_dtype dtype, const void *sorted, size_t n,
                         const void *needles, size_t m, gp_dtype index_dtype, void *out)
{
    return bound(ctx, "gp_upper_bound", true, dtype, sorted, n, needles, m, index_dtype, out);
}
