/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "compact/compact_internal.h"
#include "core/check.h"
#include "core/cub.h"
#include "core/cuda.h"
#include "core/workspace.h"

static gp_status check_compare(gp_context *ctx, const char *f, const gp_compact_desc *d)
{
    if ((int)d->compare < 0 || d->compare > GP_GE)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: compare is %d, not a gp_compare", f,
                        (int)d->compare);
    if (d->compare == 0)
        return d->kind == GP_COMPACT_INDICES
                   ? GP_OK
                   : gpi_check_item_bytes(ctx, f, "item_bytes", d->item_bytes);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", d->dtype));
    size_t bytes = gpi_dtype_bytes(d->dtype);
    if (d->item_bytes && d->item_bytes != bytes)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: item_bytes is %zu, expected 0 or the %zu of dtype %s", f,
                        d->item_bytes, bytes, gp_dtype_string(d->dtype));
    return GP_OK;
}

/* What does not need the arrays; also for the workspace question, which has no ctx. *d becomes the
 * full struct. */
static gp_status check_desc(gp_context *ctx, const char *f, gp_backend backend,
                            const gp_compact_desc *given, uint64_t n, gp_compact_desc *d)
{
    const unsigned set =
        1u << GP_ALGORITHM_AUTO | 1u << GP_ALGORITHM_LOOKAHEAD | 1u << GP_ALGORITHM_CUB;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_compact_desc)));
    if (d->kind < GP_COMPACT_ITEMS || d->kind > GP_COMPACT_PARTITION)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->kind is %d, not a gp_compact_kind", f,
                        (int)d->kind);
    GPI_TRY(check_compare(ctx, f, d));
    if (d->kind == GP_COMPACT_INDICES)
        GPI_TRY(gpi_check_unsigned_index(ctx, f, "index_dtype", d->index_dtype));
    GPI_TRY(gpi_check_algorithm(ctx, f, "desc->algorithm", backend, d->algorithm, set));
    if (d->kind == GP_COMPACT_PARTITION && d->capacity && d->capacity < n)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->capacity is %" PRIu64 ", but a partition has n = %" PRIu64
                        " outputs",
                        f, d->capacity, n);
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    if (d->kind == GP_COMPACT_INDICES && d->index_dtype == GP_U32 && n > (uint64_t)1 << 32)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: n is %" PRIu64 ", too many for u32 indices: use u64", f, n);
    return GP_OK;
}

static struct gpi_compact_args args_of(const gp_compact_desc *d, const void *in,
                                       const uint8_t *keep, uint64_t n, void *out,
                                       uint64_t *out_count)
{
    bool indices = d->kind == GP_COMPACT_INDICES;
    size_t item_bytes = d->compare ? gpi_dtype_bytes(d->dtype) : indices ? 0 : d->item_bytes;
    return (struct gpi_compact_args){
        .in = item_bytes ? in : NULL,
        .keep = keep,
        .n = n,
        .device_n = d->device_n,
        .out = out,
        .out_count = out_count,
        .capacity = d->capacity && d->capacity < n ? d->capacity : n,
        .item_bytes = (uint32_t)item_bytes,
        .index_bytes = indices ? (uint32_t)gpi_dtype_bytes(d->index_dtype) : 0,
        .partition = d->kind == GP_COMPACT_PARTITION,
        .in_place = in == out && !indices,
    };
}

static gp_status check_arrays(gp_context *ctx, const char *f, const gp_compact_desc *d,
                              const struct gpi_compact_args *a)
{
    uint32_t out_item = a->index_bytes ? a->index_bytes : a->item_bytes;
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, a->n * a->item_bytes, gpi_item_alignment(a->item_bytes)),
        GPI_READ("keep", a->keep, d->compare ? 0 : a->n, 1),
        GPI_WRITE_OVER(d->kind == GP_COMPACT_ITEMS ? 2 : 0, "out", a->out, a->capacity * out_item,
                       gpi_item_alignment(out_item)),
        GPI_WRITE("out_count", a->out_count, sizeof *a->out_count, 8),
        GPI_READ_IF("desc->device_n", a->device_n, sizeof *a->device_n, 8),
    };
    if (d->compare && a->keep)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: keep is %p, expected NULL with a comparison", f,
                        (const void *)a->keep);
    return gpi_check_arrays(ctx, f, arrays, sizeof arrays / sizeof arrays[0]);
}

/* CUB has no room limit, no count in device memory and an order of its own for partitions. */
static gp_status check_cub(gp_context *ctx, const char *f, const gp_compact_desc *d,
                           const struct gpi_compact_args *a)
{
    const char *what = NULL;
    if (d->algorithm != GP_ALGORITHM_CUB)
        return GP_OK;
    if (d->kind != GP_COMPACT_ITEMS)
        what = "another kind than GP_COMPACT_ITEMS";
    else if (gpi_compact_width(a->item_bytes) < 0)
        what = "items of this size";
    else if (d->capacity)
        what = "desc->capacity";
    else if (a->device_n)
        what = "desc->device_n";
    else if (a->in_place)
        what = "out equal to in";
    return what ? gpi_fail(ctx, GP_ERROR_UNSUPPORTED,
                           "%s: desc->algorithm is GP_ALGORITHM_CUB, which does not support %s", f,
                           what)
                : GP_OK;
}

static gp_status run_cub(gp_context *ctx, const char *f, const struct gpi_compact_args *a)
{
    struct gpi_cub_call call = gpi_cub_call_of(ctx);
    const struct gpi_cub *cub;
    GPI_TRY(gpi_cub_find(ctx, f, &cub));
    if (cub->compact(&call, a) != 0)
        return gpi_fail(ctx, GP_ERROR_UNSUPPORTED, "%s: CUB refuses this call", f);
    GPI_FRAME(frame, ctx, f, gpi_piece(call.bytes));
    call.temporary = gpi_frame_take(&frame, call.bytes);
    return gpi_cuda_check(ctx, f, cub->compact(&call, a));
}

static gp_status run_cuda(gp_context *ctx, const char *f, const gp_compact_desc *d,
                          const struct gpi_compact_args *a)
{
    const struct gpi_compact_cuda *cuda = gpi_compact_cuda_for(ctx->sm_row);
    if (a->n == 0)
        return gpi_cuda_fill(ctx, a->out_count, 0, sizeof *a->out_count);
    if (d->algorithm == GP_ALGORITHM_CUB)
        return run_cub(ctx, f, a);
    int width = gpi_compact_width(a->item_bytes);
    gpi_compact_launch *launch = a->item_bytes == 0 ? cuda->index
                                 : width < 0        ? cuda->list
                                                    : cuda->by_width[width];
    return launch(ctx, f, a);
}

static gp_status run(gp_context *ctx, const char *f, const gp_compact_desc *given, const void *in,
                     const uint8_t *keep, size_t n, void *out, uint64_t *out_count)
{
    gp_compact_desc desc, *const d = &desc;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, ctx->backend, given, n, d));
    if (d->compare && !d->value)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: value is NULL", f);
    struct gpi_compact_args a = args_of(d, in, keep, n, out, out_count);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(check_arrays(ctx, f, d, &a));
    GPI_TRY(check_cub(ctx, f, d, &a));
    if (d->compare)
        a.range = gpi_compact_range_of(d->dtype, d->compare, d->value);
    return ctx->backend == GP_BACKEND_CUDA ? run_cuda(ctx, f, d, &a) : gpi_compact_cpu(ctx, f, &a);
}

gp_status gp_compact_by(gp_context *ctx, const gp_compact_desc *desc, const void *in,
                        const uint8_t *keep, size_t n, void *out, uint64_t *out_count)
{
    return run(ctx, "gp_compact_by", desc, in, keep, n, out, out_count);
}

gp_status gp_compact(gp_context *ctx, size_t item_bytes, const void *in, const uint8_t *keep,
                     size_t n, void *out, uint64_t *out_count)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = item_bytes;
    return run(ctx, "gp_compact", &d, in, keep, n, out, out_count);
}

gp_status gp_compact_if(gp_context *ctx, gp_dtype dtype, gp_compare compare, const void *value,
                        const void *in, size_t n, void *out, uint64_t *out_count)
{
    static const char f[] = "gp_compact_if";
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.dtype = dtype;
    d.compare = compare;
    d.value = value;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_check_dtype(ctx, f, "dtype", dtype));
    if (compare == 0)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: compare is 0, not a gp_compare", f);
    return run(ctx, f, &d, in, NULL, n, out, out_count);
}

gp_status gp_compact_indices(gp_context *ctx, gp_dtype index_dtype, const uint8_t *keep, size_t n,
                             void *out, uint64_t *out_count)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_INDICES;
    d.index_dtype = index_dtype;
    return run(ctx, "gp_compact_indices", &d, NULL, keep, n, out, out_count);
}

gp_status gp_partition(gp_context *ctx, size_t item_bytes, const void *in, const uint8_t *keep,
                       size_t n, void *out, uint64_t *out_count)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = GP_COMPACT_PARTITION;
    d.item_bytes = item_bytes;
    return run(ctx, "gp_partition", &d, in, keep, n, out, out_count);
}

/* CUB's own scratch: two words per tile, of at least 512 items, and room for alignment. */
static size_t cub_bytes_bound(uint64_t n)
{
    return (size_t)(n / 512 + 256) * 16 + 65536;
}

gp_status gp_compact_workspace_bytes(const gp_target *target, const gp_compact_desc *desc, size_t n,
                                     size_t *bytes)
{
    static const char f[] = "gp_compact_workspace_bytes";
    gp_target t;
    gp_compact_desc d;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, t.backend, desc, n, &d));
    GPI_TRY(gpi_check_figure(f, bytes));
    struct gpi_compact_args a = args_of(&d, NULL, NULL, n, NULL, NULL);
    a.in_place = d.kind == GP_COMPACT_ITEMS;
    size_t cuda = 0;
    if (n) /* tiles are fewest items, so most tiles, on the largest device */
        cuda = gpi_state_bytes(gpi_compact_tiles(&a, t.sm_count ? t.sm_count : 1024));
    if (n && d.algorithm == GP_ALGORITHM_CUB)
        cuda += cub_bytes_bound(n);
    *bytes = gpi_target_bytes(&t, gpi_compact_cpu_bytes(&a, t.threads), cuda);
    return GP_OK;
}
