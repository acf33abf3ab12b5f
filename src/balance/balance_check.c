/* SPDX-License-Identifier: MIT */
/* Front door: gp_check_offsets. */
#include <gp/balance.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/cuda.h"
#include "validate/validate_internal.h"

static gp_status check(gp_context *ctx, const char *f, bool by, const gp_balance_desc *given,
                       const void *offsets, size_t num_segments, size_t num_items)
{
    const char *offset_dtype = GPI_MEMBER(by, "offset_dtype");
    gp_balance_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_balance_take_desc(ctx, f, by, GPI_OFFSET_DTYPE, given, &d));
    const size_t bytes = gpi_dtype_bytes(d.offset_dtype);
    const struct gpi_content rule =
        GPI_OFFSETS("offsets", offsets, num_segments, d.offset_dtype, num_items);
    GPI_TRY(gpi_check_index_dtype(ctx, f, offset_dtype, d.offset_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", num_segments));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_items", num_items, offset_dtype, d.offset_dtype));
    GPI_TRY(gpi_check_array(ctx, f, "offsets", offsets, rule.n * bytes, bytes));
    if (gpi_cuda_capturing(ctx))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: the stream is being captured", f);
    GPI_ON_DEVICE(ctx);
    return gpi_content_find(ctx, f, &rule);
}

gp_status gp_check_offsets_by(gp_context *ctx, const gp_balance_desc *desc, const void *offsets,
                              size_t num_segments, size_t num_items)
{
    return check(ctx, "gp_check_offsets_by", true, desc, offsets, num_segments, num_items);
}

gp_status gp_check_offsets(gp_context *ctx, gp_dtype offset_dtype, const void *offsets,
                           size_t num_segments, size_t num_items)
{
    gp_balance_desc desc = GP_BALANCE_DESC_INIT;
    desc.offset_dtype = offset_dtype;
    return check(ctx, "gp_check_offsets", false, &desc, offsets, num_segments, num_items);
}
