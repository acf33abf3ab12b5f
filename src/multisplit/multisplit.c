/* SPDX-License-Identifier: MIT */
/* The front door of multisplit, and what happens on either backend. */
#include "multisplit/multisplit_internal.h"

#include <string.h>

#include <gp/scan.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/words.h"
#include "core/workspace.h"
#include "radixsort/radixsort_internal.h"
#include "validate/validate_internal.h"

static gp_dtype number_dtype(size_t num_buckets)
{
    return num_buckets <= GPI_MULTISPLIT_BYTE_BUCKETS ? GP_U8 : GP_U32;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static gp_status check_desc(gp_context *ctx, const char *f, const gp_multisplit_desc *given,
                            bool by, size_t n, gp_multisplit_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_multisplit_desc)));
    GPI_TRY(gpi_check_item_bytes(ctx, f, GPI_MEMBER(by, "item_bytes"), d->item_bytes));
    if (d->num_buckets < 1 || d->num_buckets > (size_t)1 << 31)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s is %zu, expected 1 to 2^31", f,
                        GPI_MEMBER(by, "num_buckets"), d->num_buckets);
    return gpi_check_n(ctx, f, "n", n);
}

static gp_status check_arrays(gp_context *ctx, const char *f, const struct gpi_multisplit_args *a)
{
    const size_t number = gpi_dtype_bytes(number_dtype(a->num_buckets));
    const size_t alignment = gpi_item_alignment(a->item_bytes);
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, a->n * a->item_bytes, alignment),
        GPI_READ("numbers", a->numbers, a->n * number, number),
        GPI_WRITE("out", a->out, a->n * a->item_bytes, alignment),
        GPI_WRITE("out_offsets", a->offsets, ((uint64_t)a->num_buckets + 1) * sizeof *a->offsets,
                  8),
        GPI_READ_IF("desc->device_n", a->device_n, sizeof *a->device_n, 8),
    };
    return gpi_check_arrays(ctx, f, arrays, sizeof arrays / sizeof arrays[0]);
}

/* ---- numbers of 8 bits ----------------------------------------------------------------------- */

/* No fewer than are made of fewer items, whose tiles are not large. */
static uint64_t counts_of(const struct gpi_multisplit_args *a)
{
    const uint64_t tiles = gpi_ceil_div(a->n, gpi_multisplit_tile_items(a->item_bytes));
    return a->num_buckets * gpi_min(tiles, gpi_multisplit_most_shares(a));
}

/* Counts of a bucket where as many shares are moved at once. */
static uint32_t stride_of(uint64_t shares)
{
    return (uint32_t)gpi_ceil_div(shares, 16) * 16;
}

static size_t met_bytes(const struct gpi_multisplit_args *a, uint32_t stride)
{
    return gpi_piece((size_t)a->num_buckets * stride * sizeof(uint16_t));
}

static gp_status counted_bytes(const gp_target *t, const struct gpi_multisplit_args *a,
                               size_t *bytes)
{
    gp_scan_desc sum = GP_SCAN_DESC_INIT;
    sum.kind = GP_SCAN_EXCLUSIVE;
    sum.in_dtype = sum.out_dtype = GP_U64;
    sum.op = GP_SUM;
    GPI_TRY(gp_scan_workspace_bytes(t, &sum, counts_of(a), bytes));
    *bytes += gpi_piece(counts_of(a) * sizeof(uint64_t)) + gpi_piece(sizeof(uint32_t));
    /* Few shares are moved at once, and have whole vectors of counts. */
    *bytes += met_bytes(a, stride_of(1));
    return GP_OK;
}

static gp_status run_counted_cpu(gp_context *ctx, const char *f,
                                 const struct gpi_multisplit_args *a)
{
    const size_t need = gpi_multisplit_cpu_bytes(ctx->threads);
    GPI_FRAME(frame, ctx, f, need);
    gpi_multisplit_cpu(ctx->threads, a, gpi_frame_take(&frame, need));
    return GP_OK;
}

/* Without a count before; tiles: of the items, each a share. */
static gp_status run_at_once(gp_context *ctx, const char *f, const struct gpi_multisplit_args *a,
                             uint32_t tiles)
{
    const uint32_t stride = stride_of(tiles);
    const size_t need = met_bytes(a, stride);
    GPI_FRAME(frame, ctx, f, need);
    const struct gpi_multisplit_shares shares = {
        gpi_multisplit_tile_of(a), tiles, gpi_frame_take(&frame, need), NULL, true, stride};
    return gpi_multisplit_cuda_get(ctx->sm_row)->move(ctx, f, a, &shares);
}

static gp_status run_counted_cuda(gp_context *ctx, const char *f,
                                  const struct gpi_multisplit_args *a)
{
    const struct gpi_multisplit_cuda *cuda = gpi_multisplit_cuda_get(ctx->sm_row);
    const uint32_t tile = gpi_multisplit_tile_of(a);
    const uint64_t tiles = gpi_ceil_div(a->n, tile);
    const uint64_t each = gpi_ceil_div(tiles, gpi_multisplit_most_shares(a));
    const gp_target t = gpi_target_of(ctx);
    size_t need;
    if (tiles <= cuda->most_at_once(ctx, a))
        return run_at_once(ctx, f, a, (uint32_t)tiles);
    GPI_TRY(counted_bytes(&t, a, &need));
    GPI_FRAME(frame, ctx, f, need);
    struct gpi_multisplit_shares shares = {
        each * tile, (uint32_t)gpi_ceil_div(tiles, each), NULL, NULL, false, 0};
    const uint64_t counts = (uint64_t)a->num_buckets * shares.number;
    shares.counts = gpi_frame_take(&frame, counts * sizeof *shares.counts);
    shares.claimed = gpi_frame_take(&frame, sizeof *shares.claimed);
    GPI_TRY(cuda->count(ctx, f, a, &shares));
    GPI_TRY(gpi_named(
        ctx, f,
        gp_scan_exclusive(ctx, GP_U64, GP_SUM, shares.counts, counts, NULL, shares.counts)));
    return cuda->move(ctx, f, a, &shares);
}

/* ---- numbers of 32 bits: by a radix sort ----------------------------------------------------- */

static gp_radix_sort_options options_of(const struct gpi_multisplit_args *a)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.end_bit = gpi_multisplit_bits(a->num_buckets);
    o.device_n = a->device_n;
    return o;
}

static size_t sorted_bytes(const struct gpi_multisplit_args *a)
{
    return a->n * sizeof(uint32_t);
}

static gp_status sort_bytes(const gp_target *t, const struct gpi_multisplit_args *a, size_t *bytes)
{
    const gp_radix_sort_options o = options_of(a);
    GPI_TRY(gp_radix_sort_workspace_bytes(t, GP_U32, a->item_bytes, a->n, &o, bytes));
    *bytes += gpi_piece(sorted_bytes(a));
    return GP_OK;
}

/* The first place from `from` on whose number is not below bucket, in steps that double. */
static uint64_t bucket_begin(const uint32_t *sorted, uint64_t n, uint64_t from, uint64_t bucket)
{
    uint64_t step = 1, low = from, high;
    while (low + step <= n && sorted[low + step - 1] < bucket) {
        low += step;
        step *= 2;
    }
    for (high = gpi_min(low + step, n); low < high;) {
        const uint64_t middle = low + (high - low) / 2;
        if (sorted[middle] < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void search_cpu(const struct gpi_multisplit_args *a, const uint32_t *sorted)
{
    uint64_t begin = 0;
    for (uint64_t b = 0; b < a->num_buckets; b++)
        a->offsets[b] = begin = bucket_begin(sorted, a->n, begin, b);
    a->offsets[a->num_buckets] = a->n;
}

static gp_status run_sorted(gp_context *ctx, const char *f, const struct gpi_multisplit_args *a)
{
    const gp_target t = gpi_target_of(ctx);
    const gp_radix_sort_options o = options_of(a);
    size_t need;
    GPI_TRY(sort_bytes(&t, a, &need));
    GPI_FRAME(frame, ctx, f, need);
    uint32_t *sorted = gpi_frame_take(&frame, sorted_bytes(a));
    GPI_TRY(gpi_named(ctx, f,
                      gp_radix_sort_pairs(ctx, GP_U32, a->numbers, a->item_bytes, a->in, a->n,
                                          sorted, a->out, &o)));
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_multisplit_cuda_get(ctx->sm_row)->search(ctx, f, a, sorted);
    search_cpu(a, sorted);
    return GP_OK;
}

/* ---- front door ------------------------------------------------------------------------------ */

static gp_status run(gp_context *ctx, const char *f, struct gpi_multisplit_args *a)
{
    const size_t offset_bytes = ((size_t)a->num_buckets + 1) * sizeof *a->offsets;
    if (ctx->backend == GP_BACKEND_CUDA && !gpi_multisplit_cuda_get(ctx->sm_row))
        return gpi_fail_sm(ctx, f);
    if (ctx->backend == GP_BACKEND_CUDA && a->n == 0)
        return gpi_cuda_fill(ctx, a->offsets, 0, offset_bytes);
    if (a->n == 0) {
        memset(a->offsets, 0, offset_bytes);
        return GP_OK;
    }
    if (number_dtype(a->num_buckets) != GP_U8)
        return run_sorted(ctx, f, a);
    return ctx->backend == GP_BACKEND_CUDA ? run_counted_cuda(ctx, f, a)
                                           : run_counted_cpu(ctx, f, a);
}

static gp_status multisplit(gp_context *ctx, const char *f, bool by,
                            const gp_multisplit_desc *given, const void *in, const void *numbers,
                            size_t n, void *out, uint64_t *out_offsets)
{
    gp_multisplit_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, given, by, n, &d));
    struct gpi_multisplit_args a = {in,
                                    numbers,
                                    n,
                                    d.device_n,
                                    out,
                                    out_offsets,
                                    (uint32_t)d.item_bytes,
                                    (uint32_t)d.num_buckets};
    GPI_ON_DEVICE(ctx);
    GPI_TRY(check_arrays(ctx, f, &a));
    a.n = gpi_count_now(ctx, &a.device_n, a.n);
    struct gpi_content rule =
        GPI_BELOW("numbers", numbers, a.n, number_dtype(a.num_buckets), a.num_buckets);
    rule.device_n = a.device_n;
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, run(ctx, f, &a));
}

gp_status gp_multisplit_by(gp_context *ctx, const gp_multisplit_desc *desc, const void *in,
                           const void *numbers, size_t n, void *out, uint64_t *out_offsets)
{
    return multisplit(ctx, "gp_multisplit_by", true, desc, in, numbers, n, out, out_offsets);
}

gp_status gp_multisplit(gp_context *ctx, size_t item_bytes, const void *in, const void *numbers,
                        size_t n, size_t num_buckets, void *out, uint64_t *out_offsets)
{
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = item_bytes;
    d.num_buckets = num_buckets;
    return multisplit(ctx, "gp_multisplit", false, &d, in, numbers, n, out, out_offsets);
}

gp_status gp_multisplit_workspace_bytes(const gp_target *target, const gp_multisplit_desc *desc,
                                        size_t n, size_t *bytes)
{
    static const char f[] = "gp_multisplit_workspace_bytes";
    gp_target t;
    gp_multisplit_desc d;
    size_t cpu = 0, cuda = 0;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(check_desc(NULL, f, desc, true, n, &d));
    GPI_TRY(gpi_check_figure(f, bytes));
    const struct gpi_multisplit_args a = {
        .n = n, .item_bytes = (uint32_t)d.item_bytes, .num_buckets = (uint32_t)d.num_buckets};
    gp_target on_cpu = t, on_cuda = t;
    on_cpu.backend = GP_BACKEND_CPU;
    on_cuda.backend = GP_BACKEND_CUDA;
    if (n && number_dtype(d.num_buckets) == GP_U8) {
        cpu = gpi_multisplit_cpu_bytes(t.threads);
        GPI_TRY(counted_bytes(&on_cuda, &a, &cuda));
    } else if (n) {
        GPI_TRY(sort_bytes(&on_cpu, &a, &cpu));
        GPI_TRY(sort_bytes(&on_cuda, &a, &cuda));
    }
    *bytes = gpi_target_bytes(&t, cpu, cuda);
    return GP_OK;
}
