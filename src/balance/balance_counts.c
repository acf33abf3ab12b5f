/* SPDX-License-Identifier: MIT */
/* gp_expand_counts: scan the counts to offsets in the workspace, then expand. */
#include <gp/balance.h>

#include <gp/scan.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"

static gp_scan_desc counts_to_offsets(gp_dtype count_dtype)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.kind = GP_SCAN_ROW_POINTERS;
    desc.in_dtype = count_dtype;
    desc.out_dtype = GP_U64;
    return desc;
}

gp_status gp_expand_counts_workspace_bytes(const gp_target *target, gp_dtype count_dtype,
                                           size_t num_segments, size_t *bytes)
{
    static const char f[] = "gp_expand_counts_workspace_bytes";
    gp_target t;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_balance_check_counts(NULL, f, "count_dtype", count_dtype));
    GPI_TRY(gpi_check_n(NULL, f, "num_segments", num_segments));
    GPI_TRY(gpi_check_figure(f, bytes));
    gp_scan_desc desc = counts_to_offsets(count_dtype);
    size_t scan = 0;
    GPI_TRY(gp_scan_workspace_bytes(&t, &desc, num_segments, &scan));
    *bytes = gpi_piece((num_segments + 1) * sizeof(uint64_t)) + gpi_piece(scan);
    return GP_OK;
}

static gp_status counts_check(gp_context *ctx, const char *f, bool by,
                              const struct gpi_balance_args *a, gp_dtype count_dtype,
                              const void *counts)
{
    const size_t count_bytes = gpi_dtype_bytes(count_dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, a->num_segments * a->item_bytes, 1),
        GPI_READ("counts", counts, a->num_segments * count_bytes, count_bytes),
        GPI_COUNT("desc->device_num_segments", a->device_num_segments),
        GPI_WRITE("out", a->out, a->limit * a->item_bytes, 1),
        GPI_WRITE("out_count", a->out_count, 8, 8),
    };
    GPI_TRY(gpi_check_item_bytes(ctx, f, GPI_MEMBER(by, "item_bytes"), a->item_bytes));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", a->num_segments));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 1));
    GPI_TRY(gpi_balance_check_counts(ctx, f, GPI_MEMBER(by, "count_dtype"), count_dtype));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 1, 2));
    GPI_TRY(gpi_check_n(ctx, f, "capacity", a->limit));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 3, 2));
    return gpi_check_apart(ctx, f, arrays, 3, 5);
}

static gp_status scan_and_expand(gp_context *ctx, const char *f, struct gpi_balance_args *a,
                                 gp_dtype count_dtype, const void *counts)
{
    gp_scan_desc desc = counts_to_offsets(count_dtype);
    desc.device_n = a->device_num_segments;
    const gp_target target = gpi_target_of(ctx);
    size_t need = 0;
    GPI_TRY(gp_expand_counts_workspace_bytes(&target, count_dtype, a->num_segments, &need));
    GPI_FRAME(frame, ctx, f, need);
    void *offsets = gpi_frame_take(&frame, (a->num_segments + 1) * sizeof(uint64_t));
    GPI_TRY(gpi_named(ctx, f, gp_scan(ctx, &desc, counts, a->num_segments, offsets)));
    a->offsets = offsets;
    gpi_balance_table(ctx, a->offset_bytes)->expand(ctx, a);
    return gpi_launched(ctx, f);
}

static gp_status expand_counts(gp_context *ctx, const char *f, bool by,
                               const gp_balance_desc *given, const void *in, const void *counts,
                               size_t num_segments, size_t capacity, void *out, uint64_t *out_count)
{
    gp_balance_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_balance_take_desc(ctx, f, by, GPI_ITEM_BYTES | GPI_COUNT_DTYPE, given, &d));
    struct gpi_balance_args a = {.name = "counts",
                                 .offset_bytes = sizeof(uint64_t),
                                 .num_segments = num_segments,
                                 .device_num_segments = d.device_num_segments,
                                 .limit = capacity,
                                 .capped = true,
                                 .out_count = out_count,
                                 .item_bytes = d.item_bytes,
                                 .in = in,
                                 .out = out};
    GPI_TRY(counts_check(ctx, f, by, &a, d.count_dtype, counts));
    a.num_segments = gpi_count_now(ctx, &a.device_num_segments, num_segments);
    GPI_ON_DEVICE(ctx);
    return scan_and_expand(ctx, f, &a, d.count_dtype, counts);
}

gp_status gp_expand_counts_by(gp_context *ctx, const gp_balance_desc *desc, const void *in,
                              const void *counts, size_t num_segments, size_t capacity, void *out,
                              uint64_t *out_count)
{
    return expand_counts(ctx, "gp_expand_counts_by", true, desc, in, counts, num_segments, capacity,
                         out, out_count);
}

gp_status gp_expand_counts(gp_context *ctx, size_t item_bytes, const void *in, gp_dtype count_dtype,
                           const void *counts, size_t num_segments, size_t capacity, void *out,
                           uint64_t *out_count)
{
    gp_balance_desc desc = GP_BALANCE_DESC_INIT;
    desc.item_bytes = item_bytes;
    desc.count_dtype = count_dtype;
    return expand_counts(ctx, "gp_expand_counts", false, &desc, in, counts, num_segments, capacity,
                         out, out_count);
}
