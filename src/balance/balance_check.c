/* SPDX-License-Identifier: MIT */
/* gp_check_offsets: the device finds the first bad place, the host reads what is there. */
#include <gp/balance.h>

#include <inttypes.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/cuda.h"
#include "core/workspace.h"

static const char f[] = "gp_check_offsets";

/* Copy count offsets from position s on to the host, widened; waits. */
static gp_status read_offsets(gp_context *ctx, const struct gpi_offsets_check_args *a, uint64_t s,
                              int count, int64_t *values)
{
    uint64_t raw[2] = {0, 0};
    const char *from = (const char *)a->offsets + s * a->offset_bytes;
    GPI_TRY(gp_copy(ctx, from, (size_t)count * a->offset_bytes, raw));
    GPI_TRY(gp_context_synchronize(ctx));
    for (int i = 0; i < count; i++) {
        uint64_t bits = gpi_offset_at(raw, a->offset_bytes, 0, (uint64_t)i);
        values[i] =
            a->offset_bytes == 4 && a->is_signed ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
    }
    return GP_OK;
}

static gp_status judge(gp_context *ctx, const struct gpi_offsets_check_args *a, uint64_t num_items,
                       uint64_t first_bad)
{
    int64_t first, last, pair[2];
    GPI_TRY(read_offsets(ctx, a, 0, 1, &first));
    GPI_TRY(read_offsets(ctx, a, a->num_segments, 1, &last));
    if (a->is_signed && first < 0)
        return gpi_fail(ctx, GP_ERROR_DATA, "%s: offsets[0] is %" PRId64 ", negative", f, first);
    if (first_bad <= a->num_segments) {
        GPI_TRY(read_offsets(ctx, a, first_bad - 1, 2, pair));
        return gpi_fail(ctx, GP_ERROR_DATA,
                        "%s: offsets[%" PRIu64 "] is %" PRIu64 ", below the %" PRIu64 " before it",
                        f, first_bad, (uint64_t)pair[1], (uint64_t)pair[0]);
    }
    if ((uint64_t)last - (uint64_t)first != num_items)
        return gpi_fail(ctx, GP_ERROR_DATA,
                        "%s: offsets[%" PRIu64 "] is %" PRIu64 ", expected offsets[0] + num_items "
                        "= %" PRIu64,
                        f, a->num_segments, (uint64_t)last, (uint64_t)first + num_items);
    return GP_OK;
}

static gp_status find_and_judge(gp_context *ctx, struct gpi_offsets_check_args *a,
                                uint64_t num_items)
{
    const struct gpi_balance_table *table = gpi_balance_table(ctx, a->offset_bytes);
    uint64_t first_bad = UINT64_MAX;
    if (ctx->backend == GP_BACKEND_CPU) {
        a->first_bad = &first_bad;
        table->check(ctx, a);
    } else {
        GPI_FRAME(frame, ctx, f, GPI_ALIGN);
        a->first_bad = gpi_frame_take(&frame, sizeof first_bad);
        GPI_TRY(gpi_cuda_fill(ctx, a->first_bad, 0xff, sizeof first_bad));
        table->check(ctx, a);
        GPI_TRY(gpi_cuda_launched(ctx, f));
        GPI_TRY(gp_copy(ctx, a->first_bad, sizeof first_bad, &first_bad));
    }
    GPI_TRY(gp_context_synchronize(ctx));
    return judge(ctx, a, num_items, first_bad);
}

gp_status gp_check_offsets(gp_context *ctx, gp_dtype offset_dtype, const void *offsets,
                           size_t num_segments, size_t num_items)
{
    struct gpi_offsets_check_args a = {.offsets = offsets,
                                       .offset_bytes = gpi_dtype_bytes(offset_dtype),
                                       .is_signed = gpi_dtype_is_signed(offset_dtype),
                                       .num_segments = num_segments};
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_index_dtype(ctx, f, "offset_dtype", offset_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", num_segments));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_items", num_items, "offset_dtype", offset_dtype));
    GPI_TRY(gpi_check_array(ctx, f, "offsets", offsets, (num_segments + 1) * a.offset_bytes,
                            a.offset_bytes));
    if (gpi_cuda_capturing(ctx))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: the stream is being captured", f);
    GPI_ON_DEVICE(ctx);
    return gpi_named(ctx, f, find_and_judge(ctx, &a, num_items));
}
