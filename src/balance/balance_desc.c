/* SPDX-License-Identifier: MIT */
/* What a gp_balance_desc says. */
#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"

gp_status gpi_balance_check_counts(gp_context *ctx, const char *f, const char *argument,
                                   gp_dtype dtype)
{
    if (dtype != GP_U32 && dtype != GP_U64)
        return gpi_fail_dtype(ctx, f, argument, dtype, "u32 or u64");
    return GP_OK;
}

static gp_status check_dtypes(gp_context *ctx, const char *f, unsigned members,
                              const gp_balance_desc *d)
{
    if (members & GPI_OFFSET_DTYPE)
        GPI_TRY(gpi_check_index_dtype(ctx, f, "desc->offset_dtype", d->offset_dtype));
    else
        GPI_TRY(gpi_check_unused_dtype(ctx, f, "desc->offset_dtype", d->offset_dtype));
    if (members & GPI_COUNT_DTYPE)
        GPI_TRY(gpi_balance_check_counts(ctx, f, "desc->count_dtype", d->count_dtype));
    else
        GPI_TRY(gpi_check_unused_dtype(ctx, f, "desc->count_dtype", d->count_dtype));
    if (members & GPI_INDEX_DTYPE)
        return gpi_check_index_dtype(ctx, f, "desc->index_dtype", d->index_dtype);
    return gpi_check_unused_dtype(ctx, f, "desc->index_dtype", d->index_dtype);
}

struct gpi_content gpi_balance_take_counts(const gp_context *ctx, struct gpi_balance_args *a,
                                           gp_dtype offset_dtype)
{
    a->may_cover_less = a->device_num_segments && !a->device_limit;
    a->num_segments = gpi_count_now(ctx, &a->device_num_segments, a->num_segments);
    a->limit = gpi_count_now(ctx, &a->device_limit, a->limit);
    struct gpi_content rule =
        GPI_OFFSETS("offsets", a->offsets, a->num_segments, offset_dtype, a->limit);
    rule.device_n = a->device_num_segments;
    rule.device_bound = a->device_limit;
    rule.may_cover_less = a->may_cover_less;
    return rule;
}

gp_status gpi_balance_take_desc(gp_context *ctx, const char *f, bool by, unsigned members,
                                const gp_balance_desc *given, gp_balance_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_balance_desc)));
    if (!by)
        return GP_OK;
    if (members & GPI_ITEM_BYTES)
        GPI_TRY(gpi_check_item_bytes(ctx, f, "desc->item_bytes", d->item_bytes));
    else
        GPI_TRY(gpi_check_unused(ctx, f, "desc->item_bytes", d->item_bytes));
    GPI_TRY(check_dtypes(ctx, f, members, d));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    if (!(members & GPI_DEVICE_ITEMS) && d->device_num_items)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->device_num_items is set, expected NULL",
                        f);
    if (members & GPI_NO_COUNTS && d->device_num_segments)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->device_num_segments is set, expected NULL", f);
    if (!(members & GPI_PLAN) && d->plan)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->plan is %p, expected NULL", f, d->plan);
    return GP_OK;
}
