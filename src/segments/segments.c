/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "segments/segments_internal.h"
#include "validate/validate_internal.h"

/* ---- checks ---------------------------------------------------------------------------------- */

/* The members that choose the items' meaning. */
static gp_status check_items(gp_context *ctx, const char *f, const gp_scan_desc *d)
{
    if (d->kind != GP_SCAN_INCLUSIVE && d->kind != GP_SCAN_EXCLUSIVE)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->kind is %d, expected GP_SCAN_INCLUSIVE or GP_SCAN_EXCLUSIVE", f,
                        (int)d->kind);
    GPI_TRY(gpi_check_dtype(ctx, f, "desc->in_dtype", d->in_dtype));
    if (d->out_dtype && d->out_dtype != d->in_dtype)
        return gpi_fail(ctx, GP_ERROR_DTYPE, "%s: desc->out_dtype is %s, expected 0 or in_dtype %s",
                        f, gp_dtype_string(d->out_dtype), gp_dtype_string(d->in_dtype));
    return gpi_scan_check_op(ctx, f, d->in_dtype, "desc->op", d->op);
}

/* *d becomes the full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, const gp_scan_desc *given,
                            gp_scan_desc *d)
{
    const unsigned set = 1u << GP_ALGORITHM_AUTO | 1u << GP_ALGORITHM_LOOKAHEAD;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_scan_desc)));
    GPI_TRY(check_items(ctx, f, d));
    GPI_TRY(gpi_check_algorithm(ctx, f, "desc->algorithm", GP_BACKEND_AUTO, d->algorithm, set));
    if (d->total)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->total is set, expected NULL", f);
    if (d->backward)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->backward is %d, expected 0", f,
                        d->backward);
    if (d->tile != GP_SCAN_TILE_AUTO)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                        "%s: desc->tile is %d, expected GP_SCAN_TILE_AUTO", f, (int)d->tile);
    return GP_OK;
}

static size_t item_bytes(const gp_scan_desc *d)
{
    return gpi_dtype_bytes(d->in_dtype) * gpi_op_scalars(d->op);
}

/* ---- workspace ------------------------------------------------------------------------------- */

static size_t heads_bytes(uint64_t n)
{
    return gpi_piece((size_t)(n / 8) + GPI_SEGMENT_TILE_MAX / 8 + sizeof(uint32_t));
}

/* Slots of the tile states: a value and a note per tile of the small path. */
static uint64_t state_slots(const gp_scan_desc *d, uint64_t n)
{
    size_t acc = gpi_scan_accumulator_bytes(d->in_dtype, d->op, false);
    return gpi_scan_tiles(n, item_bytes(d)) * (acc <= 4 ? 1 : acc <= 8 ? 2 : acc / 8 + 2);
}

static gp_status workspace_bytes(const gp_target *target, const char *f, const gp_scan_desc *desc,
                                 uint64_t n, bool rows, size_t *bytes)
{
    gp_target t;
    gp_scan_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, desc, &d));
    GPI_TRY(gpi_check_n(NULL, f, rows ? "num_rows * row_length" : "n", n));
    GPI_TRY(gpi_check_figure(f, bytes));
    const size_t cuda = gpi_state_bytes(state_slots(&d, n)) + (rows ? 0 : heads_bytes(n));
    *bytes = gpi_target_bytes(&t, 0, cuda);
    return GP_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gp_status run_cuda(gp_context *ctx, struct gpi_segment_args *args, gpi_segment_fn scan)
{
    const struct gpi_segments *g = &args->segments;
    if (g->source == GPI_SEGMENT_ROWS)
        return scan(ctx, args);
    GPI_FRAME(frame, ctx, args->function, heads_bytes(args->n));
    args->marks =
        (struct gpi_segment_marks){.array = g->array,
                                   .count = g->count,
                                   .n = args->n,
                                   .device_count = g->device_count,
                                   .device_n = args->device_n,
                                   .heads = gpi_frame_take(&frame, heads_bytes(args->n)),
                                   .reporter = gpi_reporter_of(ctx, "offsets", g->offset_dtype)};
    gpi_segment_heads_find(ctx)(ctx, args);
    return scan(ctx, args);
}

/* The tile states, before anything is queued: what can fail must fail then. */
static gp_status reserve_states(gp_context *ctx, const gp_scan_desc *d, const char *f, uint64_t n)
{
    struct gpi_state state;
    return gpi_state_get(ctx, f, state_slots(d, n), &state);
}

static gp_status run(gp_context *ctx, const gp_scan_desc *d, struct gpi_segment_args *args)
{
    gpi_segment_fn scan = gpi_segment_find(ctx, d->in_dtype, d->op);
    if (!scan)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: no scan of %s on this device",
                        args->function, gp_dtype_string(d->in_dtype));
    if (ctx->backend == GP_BACKEND_CUDA) {
        GPI_TRY(reserve_states(ctx, d, args->function, args->n));
        return run_cuda(ctx, args, scan);
    }
    return scan(ctx, args);
}

/* Segments have a number if there are offsets or rows; the items of rows follow from it. */
static gp_status check_counts(gp_context *ctx, const char *f, const gp_scan_desc *d,
                              enum gpi_segment_source source)
{
    const char *const member =
        source == GPI_SEGMENT_ROWS && d->device_n ? "device_n"
        : (source == GPI_SEGMENT_FLAGS || source == GPI_SEGMENT_KEYS) && d->device_num_segments
            ? "device_num_segments"
            : NULL;
    if (member)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->%s is set, expected NULL", f, member);
    return GP_OK;
}

/* Counts on the device: as they are now on the CPU, bounds on CUDA. */
static void take_counts(const gp_context *ctx, const gp_scan_desc *d, struct gpi_segment_args *args)
{
    struct gpi_segments *const g = &args->segments;
    g->device_count = d->device_num_segments;
    g->count = gpi_count_now(ctx, &g->device_count, g->count);
    args->n = gpi_count_now(ctx, &args->device_n, args->n);
    if (g->source == GPI_SEGMENT_ROWS)
        args->n = g->count * g->row_length;
}

/* of: the array that describes the segments, if one does. */
static gp_status scan_segments(gp_context *ctx, const char *f, const gp_scan_desc *d,
                               const struct gpi_segments *segments, struct gpi_array of,
                               const void *in, uint64_t n, void *out)
{
    const uint64_t bytes = n * item_bytes(d);
    const size_t scalar = gpi_dtype_bytes(d->in_dtype);
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_n", d->device_n),
        GPI_COUNT("desc->device_num_segments", d->device_num_segments),
        GPI_READ("in", in, bytes, scalar),
        of,
        GPI_WRITE_OVER(2, "out", out, bytes, scalar),
    };
    GPI_TRY(check_counts(ctx, f, d, segments->source));
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 5));
    struct gpi_segment_args args = {.function = f,
                                    .in = in,
                                    .out = out,
                                    .n = n,
                                    .device_n = d->device_n,
                                    .op = d->op,
                                    .dtype = d->in_dtype,
                                    .exclusive = d->kind == GP_SCAN_EXCLUSIVE,
                                    .has_init = d->init != NULL,
                                    .segments = *segments};
    take_counts(ctx, d, &args);
    if (args.n == 0)
        return GP_OK;
    if (d->init)
        memcpy(args.init, d->init, item_bytes(d));
    GPI_ON_DEVICE(ctx);
    if (segments->source != GPI_SEGMENT_OFFSETS)
        return run(ctx, d, &args);
    struct gpi_content rule = GPI_OFFSETS("offsets", args.segments.array, args.segments.count,
                                          args.segments.offset_dtype, args.n);
    rule.device_n = args.segments.device_count;
    rule.device_bound = args.device_n;
    if (ctx->backend == GP_BACKEND_CPU)
        GPI_TRY(gpi_content_check(ctx, f, &rule));
    else
        GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, run(ctx, d, &args));
}

gp_status gp_scan_segmented(gp_context *ctx, const gp_scan_desc *desc, const void *in, size_t n,
                            gp_dtype offset_dtype, const void *offsets, size_t num_segments,
                            void *out)
{
    static const char f[] = "gp_scan_segmented";
    gp_scan_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, desc, &d));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_index_dtype(ctx, f, "offset_dtype", offset_dtype));
    GPI_TRY(gpi_check_index_value(ctx, f, "n", n, "offset_dtype", offset_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "num_segments", num_segments));
    size_t offset_bytes = gpi_dtype_bytes(offset_dtype);
    const struct gpi_array of =
        GPI_READ("offsets", offsets, ((uint64_t)num_segments + 1) * offset_bytes, offset_bytes);
    struct gpi_segments segments = {.source = GPI_SEGMENT_OFFSETS,
                                    .array = offsets,
                                    .item_bytes = offset_bytes,
                                    .offset_dtype = offset_dtype,
                                    .count = num_segments};
    return scan_segments(ctx, f, &d, &segments, of, in, n, out);
}

gp_status gp_scan_flagged(gp_context *ctx, const gp_scan_desc *desc, const void *in,
                          const uint8_t *heads, size_t n, void *out)
{
    static const char f[] = "gp_scan_flagged";
    gp_scan_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, desc, &d));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    const struct gpi_array of = GPI_READ("heads", heads, n, 1);
    struct gpi_segments segments = {.source = GPI_SEGMENT_FLAGS, .array = heads, .item_bytes = 1};
    return scan_segments(ctx, f, &d, &segments, of, in, n, out);
}

gp_status gp_scan_by_key(gp_context *ctx, const gp_scan_desc *desc, size_t key_bytes,
                         const void *keys, const void *in, size_t n, void *out)
{
    static const char f[] = "gp_scan_by_key";
    gp_scan_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, desc, &d));
    if (key_bytes != 1 && key_bytes != 2 && key_bytes != 4 && key_bytes != 8)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: key_bytes is %zu, expected 1, 2, 4 or 8", f,
                        key_bytes);
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    const struct gpi_array of = GPI_READ("keys", keys, (uint64_t)n * key_bytes, key_bytes);
    struct gpi_segments segments = {
        .source = GPI_SEGMENT_KEYS, .array = keys, .item_bytes = key_bytes};
    return scan_segments(ctx, f, &d, &segments, of, in, n, out);
}

/* num_rows * row_length, both at most 2^40: their product may not fit. */
static gp_status check_rows(gp_context *ctx, const char *f, uint64_t num_rows, uint64_t row_length,
                            uint64_t *n)
{
    GPI_TRY(gpi_check_n(ctx, f, "num_rows", num_rows));
    GPI_TRY(gpi_check_n(ctx, f, "row_length", row_length));
    if (row_length && num_rows > GPI_MAX_N / row_length)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: num_rows %" PRIu64 " of row_length %" PRIu64
                        " are more than 2^40 items",
                        f, num_rows, row_length);
    *n = num_rows * row_length;
    return GP_OK;
}

gp_status gp_scan_rows(gp_context *ctx, const gp_scan_desc *desc, const void *in, size_t num_rows,
                       size_t row_length, void *out)
{
    static const char f[] = "gp_scan_rows";
    const struct gpi_array of = GPI_READ("", NULL, 0, 1);
    uint64_t n = 0;
    gp_scan_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, desc, &d));
    GPI_TRY(check_rows(ctx, f, num_rows, row_length, &n));
    struct gpi_segments segments = {
        .source = GPI_SEGMENT_ROWS, .count = num_rows, .row_length = row_length};
    return scan_segments(ctx, f, &d, &segments, of, in, n, out);
}

gp_status gp_scan_segmented_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                            size_t n, size_t *bytes)
{
    return workspace_bytes(target, "gp_scan_segmented_workspace_bytes", desc, n, false, bytes);
}

gp_status gp_scan_flagged_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                          size_t n, size_t *bytes)
{
    return workspace_bytes(target, "gp_scan_flagged_workspace_bytes", desc, n, false, bytes);
}

gp_status gp_scan_by_key_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                         size_t n, size_t *bytes)
{
    return workspace_bytes(target, "gp_scan_by_key_workspace_bytes", desc, n, false, bytes);
}

gp_status gp_scan_rows_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                       size_t num_rows, size_t row_length, size_t *bytes)
{
    static const char f[] = "gp_scan_rows_workspace_bytes";
    gp_target t;
    gp_scan_desc d;
    uint64_t n = 0;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, desc, &d));
    GPI_TRY(check_rows(NULL, f, num_rows, row_length, &n));
    return workspace_bytes(target, f, desc, n, true, bytes);
}
