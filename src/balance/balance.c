/* SPDX-License-Identifier: MIT */
/* Front doors of everything that walks segments; binary search has its own in balance_bound.c. */
#include <gp/balance.h>

#include <inttypes.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "validate/validate_internal.h"

/* Offsets, their number and what they should cover: the same in every call. */
static gp_status check_segments(gp_context *ctx, const char *f, bool by, gp_dtype dtype,
                                const void *offsets, size_t num_segments, size_t num_items)
{
    const size_t bytes = gpi_dtype_bytes(dtype);
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", num_segments));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_items", num_items, GPI_MEMBER(by, "offset_dtype"),
                                  dtype));
    return gpi_check_array(ctx, f, "offsets", offsets, (num_segments + 1) * bytes, bytes);
}

/* ---- search -------------------------------------------------------------------------------- */

static uint64_t plan_bytes(uint64_t num_segments, uint64_t num_items)
{
    return sizeof(struct gpi_balance_plan) + gpi_balance_plan_begins(num_segments, num_items) * 8;
}

static gp_status search_check(gp_context *ctx, const char *f, bool by, const gp_balance_desc *d,
                              const struct gpi_balance_args *a)
{
    const char *index_dtype = GPI_MEMBER(by, "index_dtype");
    const uint64_t offsets_bytes = (a->num_segments + 1) * a->offset_bytes;
    const uint64_t out_bytes = a->limit * a->index_bytes;
    const struct gpi_array arrays[] = {
        GPI_READ("offsets", a->offsets, offsets_bytes, a->offset_bytes),
        GPI_COUNT("desc->device_num_segments", a->device_num_segments),
        GPI_COUNT("desc->device_num_items", a->device_limit),
        GPI_READ_IF("desc->plan", a->plan, plan_bytes(a->num_segments, a->limit), 8),
        GPI_WRITE("segments_out", a->segments, out_bytes, a->index_bytes),
        GPI_WRITE_IF("ranks_out", a->ranks, out_bytes, a->index_bytes),
    };
    GPI_TRY(gpi_check_index_dtype(ctx, f, GPI_MEMBER(by, "offset_dtype"), d->offset_dtype));
    GPI_TRY(check_segments(ctx, f, by, d->offset_dtype, a->offsets, a->num_segments, a->limit));
    GPI_TRY(gpi_check_index_dtype(ctx, f, index_dtype, d->index_dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_segments", a->num_segments, index_dtype,
                                  d->index_dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_items", a->limit, index_dtype, d->index_dtype));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 1, 3));
    return gpi_check_outputs(ctx, f, arrays, 4, 6);
}

gp_status gpi_balance_search(gp_context *ctx, const char *f, const struct gpi_balance_args *a)
{
    gpi_balance_table(ctx, a->offset_bytes)->search(ctx, a);
    return gpi_launched(ctx, f);
}

/* What search and expand have in common. */
static struct gpi_balance_args args_of(const gp_balance_desc *d, const void *offsets,
                                       size_t num_segments, size_t num_items)
{
    return (struct gpi_balance_args){.name = "offsets",
                                     .offsets = offsets,
                                     .offset_bytes = gpi_dtype_bytes(d->offset_dtype),
                                     .num_segments = num_segments,
                                     .limit = num_items,
                                     .device_num_segments = d->device_num_segments,
                                     .device_limit = d->device_num_items};
}

static gp_status search(gp_context *ctx, const char *f, bool by, const gp_balance_desc *given,
                        const void *offsets, size_t num_segments, size_t num_items,
                        void *segments_out, void *ranks_out)
{
    gp_balance_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_balance_take_desc(
        ctx, f, by, GPI_OFFSET_DTYPE | GPI_INDEX_DTYPE | GPI_DEVICE_ITEMS | GPI_PLAN, given, &d));
    struct gpi_balance_args a = args_of(&d, offsets, num_segments, num_items);
    a.plan = d.plan;
    a.index_bytes = gpi_dtype_bytes(d.index_dtype);
    a.segments = segments_out, a.ranks = ranks_out;
    GPI_TRY(search_check(ctx, f, by, &d, &a));
    const struct gpi_content rule = gpi_balance_take_counts(ctx, &a, d.offset_dtype);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, gpi_balance_search(ctx, f, &a));
}

gp_status gp_balance_search_by(gp_context *ctx, const gp_balance_desc *desc, const void *offsets,
                               size_t num_segments, size_t num_items, void *segments_out,
                               void *ranks_out)
{
    return search(ctx, "gp_balance_search_by", true, desc, offsets, num_segments, num_items,
                  segments_out, ranks_out);
}

gp_status gp_balance_search(gp_context *ctx, gp_dtype offset_dtype, const void *offsets,
                            size_t num_segments, size_t num_items, gp_dtype index_dtype,
                            void *segments_out, void *ranks_out)
{
    gp_balance_desc desc = GP_BALANCE_DESC_INIT;
    desc.offset_dtype = offset_dtype;
    desc.index_dtype = index_dtype;
    return search(ctx, "gp_balance_search", false, &desc, offsets, num_segments, num_items,
                  segments_out, ranks_out);
}

/* ---- plan ---------------------------------------------------------------------------------- */

static gp_status take_plan(gp_context *ctx, const char *f, const gp_balance_desc *given,
                           size_t num_segments, size_t num_items, gp_balance_desc *d)
{
    GPI_TRY(gpi_balance_take_desc(ctx, f, true, GPI_OFFSET_DTYPE | GPI_NO_COUNTS, given, d));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", num_segments));
    return gpi_check_index_value(ctx, f, "num_items", num_items, "desc->offset_dtype",
                                 d->offset_dtype);
}

gp_status gp_balance_plan(gp_context *ctx, const gp_balance_desc *desc, const void *offsets,
                          size_t num_segments, size_t num_items, void *plan)
{
    static const char f[] = "gp_balance_plan";
    gp_balance_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(take_plan(ctx, f, desc, num_segments, num_items, &d));
    struct gpi_balance_args a = args_of(&d, offsets, num_segments, num_items);
    const struct gpi_array arrays[] = {
        GPI_READ("offsets", offsets, (num_segments + 1) * a.offset_bytes, a.offset_bytes),
        GPI_WRITE("plan", plan, plan_bytes(num_segments, num_items), 8),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 2));
    const struct gpi_content rule = gpi_balance_take_counts(ctx, &a, d.offset_dtype);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    gpi_balance_table(ctx, a.offset_bytes)->plan(ctx, &a, plan);
    return gpi_validate_end(ctx, f, gpi_launched(ctx, f));
}

gp_status gp_balance_plan_bytes(const gp_target *target, const gp_balance_desc *desc,
                                size_t num_segments, size_t num_items, size_t *bytes)
{
    static const char f[] = "gp_balance_plan_bytes";
    gp_target t;
    gp_balance_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(take_plan(NULL, f, desc, num_segments, num_items, &d));
    *bytes = (size_t)plan_bytes(num_segments, num_items);
    return GP_OK;
}

/* ---- expand -------------------------------------------------------------------------------- */

static gp_status expand_check(gp_context *ctx, const char *f, bool by, const gp_balance_desc *d,
                              const struct gpi_balance_args *a)
{
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, a->num_segments * a->item_bytes, 1),
        GPI_READ("offsets", a->offsets, (a->num_segments + 1) * a->offset_bytes, a->offset_bytes),
        GPI_COUNT("desc->device_num_segments", a->device_num_segments),
        GPI_COUNT("desc->device_num_items", a->device_limit),
        GPI_WRITE("out", a->out, a->limit * a->item_bytes, 1),
    };
    GPI_TRY(gpi_check_item_bytes(ctx, f, GPI_MEMBER(by, "item_bytes"), a->item_bytes));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", a->num_segments));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 1));
    GPI_TRY(gpi_check_index_dtype(ctx, f, GPI_MEMBER(by, "offset_dtype"), d->offset_dtype));
    GPI_TRY(check_segments(ctx, f, by, d->offset_dtype, a->offsets, a->num_segments, a->limit));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 2, 2));
    return gpi_check_outputs(ctx, f, arrays, 4, 5);
}

static gp_status expand(gp_context *ctx, const char *f, bool by, const gp_balance_desc *given,
                        const void *in, const void *offsets, size_t num_segments, size_t num_items,
                        void *out)
{
    gp_balance_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_balance_take_desc(ctx, f, by, GPI_ITEM_BYTES | GPI_OFFSET_DTYPE | GPI_DEVICE_ITEMS,
                                  given, &d));
    struct gpi_balance_args a = args_of(&d, offsets, num_segments, num_items);
    a.item_bytes = d.item_bytes, a.in = in, a.out = out;
    GPI_TRY(expand_check(ctx, f, by, &d, &a));
    const struct gpi_content rule = gpi_balance_take_counts(ctx, &a, d.offset_dtype);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    gpi_balance_table(ctx, a.offset_bytes)->expand(ctx, &a);
    return gpi_validate_end(ctx, f, gpi_launched(ctx, f));
}

gp_status gp_expand_by(gp_context *ctx, const gp_balance_desc *desc, const void *in,
                       const void *offsets, size_t num_segments, size_t num_items, void *out)
{
    return expand(ctx, "gp_expand_by", true, desc, in, offsets, num_segments, num_items, out);
}

gp_status gp_expand(gp_context *ctx, size_t item_bytes, const void *in, gp_dtype offset_dtype,
                    const void *offsets, size_t num_segments, size_t num_items, void *out)
{
    gp_balance_desc desc = GP_BALANCE_DESC_INIT;
    desc.item_bytes = item_bytes;
    desc.offset_dtype = offset_dtype;
    return expand(ctx, "gp_expand", false, &desc, in, offsets, num_segments, num_items, out);
}

/* ---- merge path ---------------------------------------------------------------------------- */

static gp_status partition_check(gp_context *ctx, const char *f, bool by, gp_dtype dtype,
                                 const struct gpi_partition_args *a)
{
    const char *offset_dtype = GPI_MEMBER(by, "offset_dtype");
    const size_t bytes = a->offset_bytes;
    const uint64_t out_bytes = (a->parts + 1) * bytes;
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_num_segments", a->device_num_rows),
        GPI_COUNT("desc->device_num_items", a->device_nnz),
        GPI_READ("row_pointers", a->offsets, (a->num_rows + 1) * bytes, bytes),
        GPI_WRITE("row_starts", a->row_starts, out_bytes, bytes),
        GPI_WRITE("nnz_starts", a->nnz_starts, out_bytes, bytes),
    };
    GPI_TRY(gpi_check_index_dtype(ctx, f, offset_dtype, dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "num_rows", a->num_rows, offset_dtype, dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "nnz", a->nnz, offset_dtype, dtype));
    if (a->parts == 0)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: parts is 0, expected 1 or more", f);
    GPI_TRY(gpi_check_n(ctx, f, "parts", a->parts));
    return gpi_check_arrays(ctx, f, arrays, 5);
}

static gp_status partition(gp_context *ctx, const char *f, bool by, const gp_balance_desc *given,
                           const void *row_pointers, size_t num_rows, size_t nnz, size_t parts,
                           void *row_starts, void *nnz_starts)
{
    gp_balance_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_balance_take_desc(ctx, f, by, GPI_OFFSET_DTYPE | GPI_DEVICE_ITEMS, given, &d));
    struct gpi_partition_args a = {.offsets = row_pointers,
                                   .offset_bytes = gpi_dtype_bytes(d.offset_dtype),
                                   .num_rows = num_rows,
                                   .nnz = nnz,
                                   .device_num_rows = d.device_num_segments,
                                   .device_nnz = d.device_num_items,
                                   .may_cover_less = d.device_num_segments && !d.device_num_items,
                                   .parts = parts,
                                   .row_starts = row_starts,
                                   .nnz_starts = nnz_starts};
    GPI_TRY(partition_check(ctx, f, by, d.offset_dtype, &a));
    a.num_rows = gpi_count_now(ctx, &a.device_num_rows, num_rows);
    a.nnz = gpi_count_now(ctx, &a.device_nnz, nnz);
    struct gpi_content rule =
        GPI_OFFSETS("row_pointers", row_pointers, a.num_rows, d.offset_dtype, a.nnz);
    rule.device_n = a.device_num_rows;
    rule.device_bound = a.device_nnz;
    rule.may_cover_less = a.may_cover_less;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    gpi_balance_table(ctx, a.offset_bytes)->partition(ctx, &a);
    return gpi_validate_end(ctx, f, gpi_launched(ctx, f));
}

gp_status gp_merge_path_partition_by(gp_context *ctx, const gp_balance_desc *desc,
                                     const void *row_pointers, size_t num_rows, size_t nnz,
                                     size_t parts, void *row_starts, void *nnz_starts)
{
    return partition(ctx, "gp_merge_path_partition_by", true, desc, row_pointers, num_rows, nnz,
                     parts, row_starts, nnz_starts);
}

gp_status gp_merge_path_partition(gp_context *ctx, gp_dtype offset_dtype, const void *row_pointers,
                                  size_t num_rows, size_t nnz, size_t parts, void *row_starts,
                                  void *nnz_starts)
{
    gp_balance_desc desc = GP_BALANCE_DESC_INIT;
    desc.offset_dtype = offset_dtype;
    return partition(ctx, "gp_merge_path_partition", false, &desc, row_pointers, num_rows, nnz,
                     parts, row_starts, nnz_starts);
}
