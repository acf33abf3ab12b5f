/* SPDX-License-Identifier: MIT */
/* Front door: gp_check_offsets. */
#include <gp/balance.h>

#include "core/check.h"
#include "core/cuda.h"
#include "validate/validate_internal.h"

gp_status gp_check_offsets(gp_context *ctx, gp_dtype offset_dtype, const void *offsets,
                           size_t num_segments, size_t num_items)
{
    static const char f[] = "gp_check_offsets";
    const size_t bytes = gpi_dtype_bytes(offset_dtype);
    const struct gpi_content rule =
        GPI_OFFSETS("offsets", offsets, num_segments, offset_dtype, num_items);
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_index_dtype(ctx, f, "offset_dtype", offset_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", num_segments));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_items", num_items, "offset_dtype", offset_dtype));
    GPI_TRY(gpi_check_array(ctx, f, "offsets", offsets, rule.n * bytes, bytes));
    if (gpi_cuda_capturing(ctx))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: the stream is being captured", f);
    GPI_ON_DEVICE(ctx);
    return gpi_content_find(ctx, f, &rule);
}
