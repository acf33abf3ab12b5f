/* SPDX-License-Identifier: MIT */
/* Front doors of bulk binary search. */
#include <gp/balance.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/order.h"
#include "validate/validate_internal.h"

static gp_status bound_check(gp_context *ctx, const char *f, bool by, const gp_bound_desc *d,
                             const struct gpi_bound_args *a)
{
    const char *index_dtype = GPI_MEMBER(by, "index_dtype");
    const struct gpi_array arrays[] = {
        GPI_READ("sorted", a->sorted, a->n * a->item_bytes, a->item_bytes),
        GPI_READ("needles", a->needles, a->m * a->item_bytes, a->item_bytes),
        GPI_COUNT("desc->device_n", a->device_n),
        GPI_COUNT("desc->device_m", a->device_m),
        GPI_WRITE_OVER(a->item_bytes == a->index_bytes ? 3 : 0, "out", a->out,
                       a->m * a->index_bytes, a->index_bytes),
    };
    GPI_TRY(gpi_check_dtype(ctx, f, GPI_MEMBER(by, "dtype"), d->dtype));
    GPI_TRY(gpi_check_n(ctx, f, "n", a->n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 1));
    GPI_TRY(gpi_check_n(ctx, f, "m", a->m));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 1, 1));
    GPI_TRY(gpi_check_index_dtype(ctx, f, index_dtype, d->index_dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "n", a->n, index_dtype, d->index_dtype));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 2, 2));
    return gpi_check_outputs(ctx, f, arrays, 4, 5);
}

/* *d becomes the full struct; the members of a caller's (by) are checked. */
static gp_status take_desc(gp_context *ctx, const char *f, bool by, const gp_bound_desc *given,
                           gp_bound_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_bound_desc)));
    if (!by)
        return GP_OK;
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->dtype", d->dtype));
    return gpi_check_index_dtype(ctx, f, "desc->index_dtype", d->index_dtype);
}

static gp_status bound(gp_context *ctx, const char *f, bool by, bool upper,
                       const gp_bound_desc *given, const void *sorted, size_t n,
                       const void *needles, size_t m, void *out)
{
    gp_bound_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(take_desc(ctx, f, by, given, &d));
    struct gpi_bound_args a = {.item_bytes = gpi_dtype_bytes(d.dtype),
                               .infinity = gpi_infinity_bits(d.dtype),
                               .upper = upper,
                               .sorted = sorted,
                               .n = n,
                               .needles = needles,
                               .m = m,
                               .device_n = d.device_n,
                               .device_m = d.device_m,
                               .index_bytes = gpi_dtype_bytes(d.index_dtype),
                               .out = out};
    a.order = gpi_dtype_is_float(d.dtype)    ? GPI_ORDER_FLOAT
              : gpi_dtype_is_signed(d.dtype) ? GPI_ORDER_SIGNED
                                             : GPI_ORDER_UNSIGNED;
    GPI_TRY(bound_check(ctx, f, by, &d, &a));
    a.n = gpi_count_now(ctx, &a.device_n, n);
    a.m = gpi_count_now(ctx, &a.device_m, m);
    if (a.m == 0)
        return GP_OK;
    struct gpi_content rule = GPI_SORTED("sorted", sorted, a.n, d.dtype, GP_ASCENDING);
    rule.device_n = a.device_n;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    gpi_balance_table(ctx, 0)->bound(ctx, &a);
    return gpi_validate_end(ctx, f, gpi_launched(ctx, f));
}

static gp_bound_desc desc_of(gp_dtype dtype, gp_dtype index_dtype)
{
    gp_bound_desc desc = GP_BOUND_DESC_INIT;
    desc.dtype = dtype;
    desc.index_dtype = index_dtype;
    return desc;
}

gp_status gp_lower_bound_by(gp_context *ctx, const gp_bound_desc *desc, const void *sorted,
                            size_t n, const void *needles, size_t m, void *out)
{
    return bound(ctx, "gp_lower_bound_by", true, false, desc, sorted, n, needles, m, out);
}

gp_status gp_upper_bound_by(gp_context *ctx, const gp_bound_desc *desc, const void *sorted,
                            size_t n, const void *needles, size_t m, void *out)
{
    return bound(ctx, "gp_upper_bound_by", true, true, desc, sorted, n, needles, m, out);
}

gp_status gp_lower_bound(gp_context *ctx, gp_dtype dtype, const void *sorted, size_t n,
                         const void *needles, size_t m, gp_dtype index_dtype, void *out)
{
    const gp_bound_desc desc = desc_of(dtype, index_dtype);
    return bound(ctx, "gp_lower_bound", false, false, &desc, sorted, n, needles, m, out);
}

gp_status gp_upper_bound(gp_context *ctx, gp_dtype dtype, const void *sorted, size_t n,
                         const void *needles, size_t m, gp_dtype index_dtype, void *out)
{
    const gp_bound_desc desc = desc_of(dtype, index_dtype);
    return bound(ctx, "gp_upper_bound", false, true, &desc, sorted, n, needles, m, out);
}
