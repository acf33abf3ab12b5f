/* SPDX-License-Identifier: MIT */
/* Front door: gp_copy_intervals. */
#include <gp/balance.h>

#include <inttypes.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "validate/validate_internal.h"

static gp_status check_desc(gp_context *ctx, const char *f, const gp_interval_desc *d)
{
    GPI_TRY(gpi_check_item_bytes(ctx, f, "desc->item_bytes", d->item_bytes));
    GPI_TRY(gpi_check_n(ctx, f, "desc->in_items", d->in_items));
    GPI_TRY(gpi_check_n(ctx, f, "desc->out_items", d->out_items));
    GPI_TRY(gpi_check_index_dtype(ctx, f, "desc->offset_dtype", d->offset_dtype));
    return gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved);
}

/* A side without starts has num_items items. */
static gp_status check_room(gp_context *ctx, const char *f, const char *member, size_t items,
                            const void *starts, uint64_t num_items)
{
    if (!starts && items && items < num_items)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: num_items is %" PRIu64 ", above %s, %zu", f,
                        num_items, member, items);
    return GP_OK;
}

/* Bytes that are known to be there. */
static uint64_t known_bytes(const struct gpi_balance_args *a, size_t items, const void *starts)
{
    return (!a->limit ? 0 : items ? items : starts ? 1 : a->limit) * a->item_bytes;
}

static gp_status check_args(gp_context *ctx, const char *f, const gp_interval_desc *d,
                            const struct gpi_balance_args *a)
{
    const size_t width = a->offset_bytes;
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, known_bytes(a, d->in_items, a->in_starts), 1),
        GPI_READ_IF("in_starts", a->in_starts, a->num_segments * width, width),
        GPI_READ("offsets", a->offsets, (a->num_segments + 1) * width, width),
        GPI_COUNT("desc->device_num_segments", a->device_num_segments),
        GPI_READ_IF("out_starts", a->out_starts, a->num_segments * width, width),
        GPI_WRITE("out", a->out, known_bytes(a, d->out_items, a->out_starts), 1),
    };
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", a->num_segments));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_items", a->limit, "desc->offset_dtype",
                                  d->offset_dtype));
    GPI_TRY(check_room(ctx, f, "desc->in_items", d->in_items, a->in_starts, a->limit));
    GPI_TRY(check_room(ctx, f, "desc->out_items", d->out_items, a->out_starts, a->limit));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 6));
    return gpi_check_apart(ctx, f, arrays, 5, 6);
}

gp_status gp_copy_intervals(gp_context *ctx, const gp_interval_desc *desc, const void *in,
                            const void *in_starts, const void *offsets, size_t num_segments,
                            size_t num_items, const void *out_starts, void *out)
{
    static const char f[] = "gp_copy_intervals";
    gp_interval_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_take_struct(ctx, f, "desc", desc, &d, GPI_FORM(gp_interval_desc)));
    struct gpi_balance_args a = {.name = "offsets",
                                 .offsets = offsets,
                                 .offset_bytes = gpi_dtype_bytes(d.offset_dtype),
                                 .num_segments = num_segments,
                                 .limit = num_items,
                                 .item_bytes = d.item_bytes,
                                 .in = in,
                                 .out = out,
                                 .in_starts = in_starts,
                                 .out_starts = out_starts,
                                 .device_num_segments = d.device_num_segments};
    GPI_TRY(check_desc(ctx, f, &d));
    GPI_TRY(check_args(ctx, f, &d, &a));
    const struct gpi_content covered = gpi_balance_take_counts(ctx, &a, d.offset_dtype);
    struct gpi_content rules[] = {
        covered,
        GPI_RANGES("in_starts", in_starts, in_starts && d.in_items ? a.num_segments : 0,
                   d.offset_dtype, d.in_items, offsets),
        GPI_RANGES("out_starts", out_starts, out_starts && d.out_items ? a.num_segments : 0,
                   d.offset_dtype, d.out_items, offsets),
    };
    rules[1].device_n = rules[2].device_n = a.device_num_segments;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 3));
    gpi_balance_table(ctx, a.offset_bytes)->intervals(ctx, &a);
    return gpi_validate_end(ctx, f, gpi_launched(ctx, f));
}
