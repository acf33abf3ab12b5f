/* SPDX-License-Identifier: MIT */
/* Front doors: row pointers and their inverse. */
#include <gp/fill.h>
#include <gp/histogram.h>
#include <gp/radixsort.h>
#include <gp/scan.h>

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/count.h"
#include "core/threads.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "csr/csr_buckets.h"
#include "csr/csr_internal.h"
#include "validate/validate_internal.h"

static const struct gpi_csr_ops *ops_of(const gp_context *ctx, gp_dtype index, gp_dtype offset)
{
    return gpi_csr_find(ctx, gpi_dtype_bytes(index), gpi_dtype_bytes(offset));
}

/* ---- row pointers ---- */

struct row_call {
    gp_dtype index, offset;
    struct gpi_csr_rows args;
};

/* dtypes and sizes; by: of a descriptor */
static gp_status check_row_sizes(gp_context *ctx, const char *f, bool by, const struct row_call *c)
{
    GPI_TRY(gpi_csr_check_pair(ctx, f, by, c->index, c->offset));
    GPI_TRY(gpi_csr_check_nnz(ctx, f, by, c->args.nnz, c->offset));
    return gpi_csr_check_count(ctx, f, by, "num_rows", c->args.num_rows, c->index);
}

static gp_status take_row_call(gp_context *ctx, const char *f, bool by, const gp_csr_desc *given,
                               const struct gpi_csr_rows *args, struct row_call *c)
{
    gp_csr_desc d;
    GPI_TRY(gpi_csr_take_desc(ctx, f, by, false, given, &d));
    *c = (struct row_call){d.index_dtype, d.offset_dtype, *args};
    c->args.index_dtype = d.index_dtype;
    c->args.device_nnz = d.device_nnz;
    c->args.device_num_rows = d.device_num_rows;
    GPI_TRY(check_row_sizes(ctx, f, by, c));
    size_t index_bytes = gpi_dtype_bytes(c->index), offset_bytes = gpi_dtype_bytes(c->offset);
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&c->args),
        GPI_READ("rows", c->args.rows, c->args.nnz * index_bytes, index_bytes),
        GPI_WRITE("row_pointers", c->args.row_pointers, (c->args.num_rows + 1) * offset_bytes,
                  offset_bytes),
    };
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 4));
    c->args.nnz = gpi_count_now(ctx, &c->args.device_nnz, c->args.nnz);
    c->args.num_rows = gpi_count_now(ctx, &c->args.device_num_rows, c->args.num_rows);
    return GP_OK;
}

/* The rows are in range. */
static struct gpi_content rows_rule(const struct row_call *c)
{
    struct gpi_content rule =
        GPI_BELOW("rows", c->args.rows, c->args.nnz, c->index, c->args.num_rows);
    rule.device_n = c->args.device_nnz;
    rule.device_bound = c->args.device_num_rows;
    return rule;
}

static gp_csr_desc desc_of(gp_dtype index_dtype, gp_dtype offset_dtype)
{
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    desc.index_dtype = index_dtype;
    desc.offset_dtype = offset_dtype;
    return desc;
}

static gp_status row_pointers_of(gp_context *ctx, const char *f, bool by, const gp_csr_desc *desc,
                                 const struct gpi_csr_rows *args)
{
    struct row_call c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_row_call(ctx, f, by, desc, args, &c));
    struct gpi_content rules[] = {GPI_SORTED("rows", args->rows, c.args.nnz, c.index, GP_ASCENDING),
                                  rows_rule(&c)};
    rules[0].device_n = c.args.device_nnz;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, rules, 2));
    gp_status s = ops_of(ctx, c.index, c.offset)->row_pointers(ctx, &c.args);
    return gpi_validate_end(ctx, f, gpi_named(ctx, f, s));
}

gp_status gp_csr_row_pointers_by(gp_context *ctx, const gp_csr_desc *desc, const void *rows,
                                 size_t nnz, size_t num_rows, void *row_pointers)
{
    const struct gpi_csr_rows args = {
        .rows = rows, .nnz = nnz, .num_rows = num_rows, .row_pointers = row_pointers};
    return row_pointers_of(ctx, "gp_csr_row_pointers_by", true, desc, &args);
}

gp_status gp_csr_row_pointers(gp_context *ctx, gp_dtype index_dtype, const void *rows, size_t nnz,
                              size_t num_rows, gp_dtype offset_dtype, void *row_pointers)
{
    const gp_csr_desc desc = desc_of(index_dtype, offset_dtype);
    const struct gpi_csr_rows args = {
        .rows = rows, .nnz = nnz, .num_rows = num_rows, .row_pointers = row_pointers};
    return row_pointers_of(ctx, "gp_csr_row_pointers", false, &desc, &args);
}

static gp_scan_desc pointer_scan(gp_dtype offset)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.kind = GP_SCAN_ROW_POINTERS;
    d.in_dtype = gpi_csr_unsigned(gpi_dtype_bytes(offset));
    return d;
}

/* Counters of their own for every thread, as long as they take no more memory than the entries. */
static size_t counter_parts(const gp_context *ctx, uint64_t nnz, uint64_t num_rows)
{
    uint64_t parts = num_rows ? nnz / num_rows : 0,
             threads = (uint64_t)gpi_threads_for(ctx->threads, nnz / 2);
    return (size_t)(parts < threads ? parts : threads);
}

/* The scan's tile states, now: were they missing only when the counts are queued, row_pointers
 * would have been written by a call that fails. */
static gp_status reserve_states(gp_context *ctx, const char *f, const gp_scan_desc *scan, size_t n)
{
    struct gpi_state state;
    gp_target target = gpi_target_of(ctx);
    size_t bytes;
    GPI_TRY(gp_scan_workspace_bytes(&target, scan, n, &bytes));
    return gpi_state_get(ctx, f, bytes / GPI_SLOT_BYTES, &state);
}

/* Whether order is looked for: in two words, behind which are the sizes of buckets. */
static size_t order_bytes(gp_backend backend, uint64_t nnz)
{
    const size_t sizes = (GPI_CSR_BUCKET_ROWS >> GPI_CSR_BUCKET_BITS) * sizeof(uint32_t);
    return backend != GP_BACKEND_CPU && nnz >= GPI_CSR_ORDER_ROWS ? 2 * sizeof(uint64_t) + sizes
                                                                  : 0;
}

/* CUDA, rows that do not ascend: few are counted in the shared memory of blocks, more by buckets of
 * rows, and where there are too many for that entries are sorted, of 8 bytes only if the L2 does
 * not have the counters. */
static bool counts_in_blocks(uint64_t nnz, uint64_t num_rows)
{
    return nnz >= GPI_CSR_ORDER_ROWS && num_rows > 0 && num_rows <= GPI_CSR_FEW_ROWS;
}

static bool counts_in_buckets(uint64_t nnz, uint64_t num_rows)
{
    return nnz >= GPI_CSR_BUCKET_ITEMS && num_rows > GPI_CSR_FEW_ROWS &&
           num_rows <= GPI_CSR_BUCKET_ROWS;
}

static bool sorts_rows(const struct row_call *c)
{
    const uint64_t counter_bytes = c->args.num_rows * gpi_dtype_bytes(c->offset);
    return c->args.nnz >= GPI_CSR_SORT_ROWS && c->args.num_rows > GPI_CSR_FEW_ROWS &&
           (gpi_dtype_bytes(c->index) == 4 || counter_bytes > GPI_CSR_NEAR_BYTES);
}

/* As many rows as did not ascend: none otherwise. */
static gp_radix_sort_options sort_of(const struct row_call *c)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.device_n = c->args.unsorted;
    return o;
}

static gp_histogram_options histogram_of(const struct row_call *c)
{
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    o.accumulate = 1;
    o.device_n = c->args.unsorted;
    return o;
}

/* Scratch of these, with what the calls inside take. GPUs without room for buckets sort. */
static gp_status others_bytes(const gp_target *target, const struct row_call *c, size_t *bytes)
{
    size_t in_buckets = 0;
    const size_t n = (size_t)c->args.nnz, num_rows = (size_t)c->args.num_rows;
    const size_t index_bytes = gpi_dtype_bytes(c->index);
    const gp_radix_sort_options sort = sort_of(c);
    const gp_histogram_options histogram = histogram_of(c);
    gp_target cuda = *target;
    cuda.backend = GP_BACKEND_CUDA;
    *bytes = 0;
    if (target->backend == GP_BACKEND_CPU)
        return GP_OK;
    if (counts_in_blocks(n, num_rows))
        return gp_histogram_workspace_bytes(&cuda, c->index, n, num_rows,
                                            gpi_csr_unsigned(gpi_dtype_bytes(c->offset)),
                                            &histogram, bytes);
    if (n >= GPI_CSR_BUCKET_ITEMS && num_rows > 0) { /* of more rows, too: figures rise */
        const bool more = num_rows > GPI_CSR_BUCKET_ROWS;
        const struct gpi_csr_buckets b =
            gpi_csr_buckets_of(n, more ? GPI_CSR_BUCKET_ROWS : num_rows);
        in_buckets = gpi_csr_buckets_bytes(&b);
    }
    if (sorts_rows(c)) {
        GPI_TRY(gp_radix_sort_workspace_bytes(&cuda, gpi_csr_unsigned(index_bytes), 0, n, &sort,
                                              bytes));
        *bytes += gpi_piece(n * index_bytes);
    }
    if (*bytes < in_buckets)
        *bytes = in_buckets;
    return GP_OK;
}

/* Rows that ascend get their pointers. */
static gp_status look_for_order(gp_context *ctx, const struct row_call *c)
{
    GPI_TRY(gpi_cuda_fill(ctx, c->args.unsorted, 0, order_bytes(ctx->backend, c->args.nnz)));
    return ops_of(ctx, c->index, c->offset)->row_pointers(ctx, &c->args);
}

static gp_status sort_rows(gp_context *ctx, const char *f, const struct row_call *c,
                           struct gpi_frame *frame)
{
    const size_t n = (size_t)c->args.nnz, index_bytes = gpi_dtype_bytes(c->index);
    const gp_radix_sort_options o = sort_of(c);
    struct gpi_csr_rows sorted = c->args;
    struct gpi_content range = rows_rule(c);
    void *rows = gpi_frame_take(frame, n * index_bytes);
    range.device_n = c->args.unsorted;
    GPI_TRY(look_for_order(ctx, c));
    GPI_TRY(gpi_content_report(ctx, f, &range));
    GPI_TRY(gp_radix_sort(ctx, gpi_csr_unsigned(index_bytes), c->args.rows, n, rows, &o));
    sorted.rows = rows;
    sorted.device_nnz = c->args.unsorted;
    sorted.device_num_rows = c->args.unsorted + 1;
    sorted.unsorted = NULL;
    return ops_of(ctx, c->index, c->offset)->row_pointers(ctx, &sorted);
}

static gp_status count_in_blocks(gp_context *ctx, const struct row_call *c)
{
    const size_t num_rows = (size_t)c->args.num_rows;
    const uint64_t zero = 0;
    const gp_histogram_options o = histogram_of(c);
    gp_fill_desc zeros = GP_FILL_DESC_INIT;
    zeros.item_bytes = gpi_dtype_bytes(c->offset);
    zeros.item = &zero;
    zeros.device_n = c->args.unsorted + 1;
    GPI_TRY(look_for_order(ctx, c));
    GPI_TRY(gp_fill_by(ctx, &zeros, num_rows, c->args.row_pointers));
    return gp_bincount(ctx, c->index, c->args.rows, (size_t)c->args.nnz, num_rows,
                       gpi_csr_unsigned(zeros.item_bytes), c->args.row_pointers, &o);
}

/* CPU: what is left of rows that ascend is nothing. */
static gp_status count_here(gp_context *ctx, const char *f, struct row_call *c,
                            struct gpi_frame *frame)
{
    gp_scan_desc scan = pointer_scan(c->offset);
    const size_t n = (size_t)c->args.num_rows;
    uint64_t left = c->args.nnz;
    c->args.unsorted = &left;
    c->args.parts = counter_parts(ctx, c->args.nnz, n);
    if (c->args.parts)
        c->args.counters = gpi_frame_take(frame, c->args.parts * n * gpi_dtype_bytes(c->offset));
    GPI_TRY(ops_of(ctx, c->index, c->offset)->count_rows(ctx, &c->args));
    if (left == 0)
        return GP_OK;
    return gpi_named(ctx, f, gp_scan(ctx, &scan, c->args.row_pointers, n, c->args.row_pointers));
}

static gp_status count_and_scan(gp_context *ctx, const char *f, struct row_call *c,
                                struct gpi_frame *frame)
{
    gp_scan_desc scan = pointer_scan(c->offset);
    size_t n = (size_t)c->args.num_rows;
    scan.device_n = c->args.device_num_rows;
    if (order_bytes(ctx->backend, c->args.nnz)) {
        c->args.unsorted = gpi_frame_take(frame, order_bytes(ctx->backend, c->args.nnz));
        scan.device_n = c->args.unsorted + 1;
    }
    GPI_TRY(reserve_states(ctx, f, &scan, n));
    const struct gpi_csr_ops *ops = ops_of(ctx, c->index, c->offset);
    gpi_csr_buckets_fn *in_buckets =
        counts_in_buckets(c->args.nnz, n) ? gpi_csr_buckets_find(ctx) : NULL;
    const bool in_blocks = c->args.unsorted && counts_in_blocks(c->args.nnz, n);
    if (c->args.unsorted && !in_buckets && sorts_rows(c))
        return sort_rows(ctx, f, c, frame);
    if (in_buckets) {
        GPI_TRY(look_for_order(ctx, c));
        GPI_TRY(in_buckets(ctx, &c->args, gpi_dtype_bytes(c->index), gpi_dtype_bytes(c->offset),
                           frame));
    } else if (in_blocks) {
        GPI_TRY(count_in_blocks(ctx, c));
    } else {
        GPI_TRY(ops->count_rows(ctx, &c->args));
    }
    GPI_TRY(gpi_named(ctx, f, gp_scan(ctx, &scan, c->args.row_pointers, n, c->args.row_pointers)));
    return in_buckets || in_blocks ? ops->kernels->check_range(ctx, &c->args) : GP_OK;
}

/* CPU: at most nnz counters. CUDA: what order is looked for with, and for rows without. */
static gp_status unsorted_bytes(const gp_target *target, const struct row_call *c, size_t *bytes)
{
    const size_t nnz = (size_t)c->args.nnz;
    gp_scan_desc scan = pointer_scan(c->offset);
    size_t others;
    GPI_TRY(gp_scan_workspace_bytes(target, &scan, (size_t)c->args.num_rows, bytes));
    GPI_TRY(others_bytes(target, c, &others));
    if (target->backend != GP_BACKEND_CUDA)
        *bytes += gpi_piece(nnz * gpi_dtype_bytes(c->offset));
    *bytes += gpi_piece(order_bytes(target->backend, nnz)) + others;
    return GP_OK;
}

static gp_status count_rows(gp_context *ctx, const char *f, struct row_call *c)
{
    gp_target target = gpi_target_of(ctx);
    size_t need;
    GPI_TRY(unsorted_bytes(&target, c, &need));
    GPI_FRAME(frame, ctx, f, need);
    if (ctx->backend == GP_BACKEND_CPU)
        return count_here(ctx, f, c, &frame);
    return gpi_named(ctx, f, count_and_scan(ctx, f, c, &frame));
}

static gp_status row_pointers_of_unsorted(gp_context *ctx, const char *f, bool by,
                                          const gp_csr_desc *desc, const struct gpi_csr_rows *args)
{
    struct row_call c;
    GPI_CALL(ctx, f);
    GPI_TRY(take_row_call(ctx, f, by, desc, args, &c));
    const struct gpi_content rule = rows_rule(&c);
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, count_rows(ctx, f, &c));
}

gp_status gp_csr_row_pointers_unsorted_by(gp_context *ctx, const gp_csr_desc *desc,
                                          const void *rows, size_t nnz, size_t num_rows,
                                          void *row_pointers)
{
    const struct gpi_csr_rows args = {
        .rows = rows, .nnz = nnz, .num_rows = num_rows, .row_pointers = row_pointers};
    return row_pointers_of_unsorted(ctx, "gp_csr_row_pointers_unsorted_by", true, desc, &args);
}

gp_status gp_csr_row_pointers_unsorted(gp_context *ctx, gp_dtype index_dtype, const void *rows,
                                       size_t nnz, size_t num_rows, gp_dtype offset_dtype,
                                       void *row_pointers)
{
    const gp_csr_desc desc = desc_of(index_dtype, offset_dtype);
    const struct gpi_csr_rows args = {
        .rows = rows, .nnz = nnz, .num_rows = num_rows, .row_pointers = row_pointers};
    return row_pointers_of_unsorted(ctx, "gp_csr_row_pointers_unsorted", false, &desc, &args);
}

gp_status gp_csr_row_pointers_unsorted_workspace_bytes(const gp_target *target,
                                                       gp_dtype index_dtype, size_t nnz,
                                                       size_t num_rows, gp_dtype offset_dtype,
                                                       size_t *bytes)
{
    static const char f[] = "gp_csr_row_pointers_unsorted_workspace_bytes";
    gp_target t;
    struct row_call c = {
        index_dtype, offset_dtype, {.index_dtype = index_dtype, .nnz = nnz, .num_rows = num_rows}};
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(check_row_sizes(NULL, f, false, &c));
    return unsorted_bytes(&t, &c, bytes);
}

/* ---- row indices ---- */

static gp_status check_to_coo(gp_context *ctx, const char *f, bool by, const gp_csr_desc *d,
                              size_t num_rows, size_t nnz)
{
    GPI_TRY(gpi_csr_check_pair(ctx, f, by, d->index_dtype, d->offset_dtype));
    GPI_TRY(gpi_csr_check_count(ctx, f, by, "num_rows", num_rows, d->index_dtype));
    return gpi_csr_check_nnz(ctx, f, by, nnz, d->offset_dtype);
}

static gp_status to_coo(gp_context *ctx, const char *f, bool by, const gp_csr_desc *given,
                        const void *row_pointers, size_t num_rows, size_t nnz, void *rows_out)
{
    gp_csr_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_csr_take_desc(ctx, f, by, false, given, &d));
    GPI_TRY(check_to_coo(ctx, f, by, &d, num_rows, nnz));
    const size_t index_bytes = gpi_dtype_bytes(d.index_dtype);
    const size_t offset_bytes = gpi_dtype_bytes(d.offset_dtype);
    const struct gpi_array arrays[] = {
        GPI_CSR_COUNTS(&d),
        GPI_READ("row_pointers", row_pointers, (num_rows + 1) * offset_bytes, offset_bytes),
        GPI_WRITE("rows_out", rows_out, nnz * index_bytes, index_bytes),
    };
    struct gpi_balance_args a = {.name = "row_pointers",
                                 .offsets = row_pointers,
                                 .offset_bytes = offset_bytes,
                                 .device_num_segments = d.device_num_rows,
                                 .device_limit = d.device_nnz,
                                 .index_bytes = index_bytes,
                                 .segments = rows_out};
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 4));
    a.num_segments = gpi_count_now(ctx, &a.device_num_segments, num_rows);
    a.limit = gpi_count_now(ctx, &a.device_limit, nnz);
    struct gpi_content rule =
        GPI_ROW_POINTERS("row_pointers", row_pointers, a.num_segments, d.offset_dtype, a.limit);
    rule.device_n = a.device_num_segments;
    rule.device_bound = a.device_limit;
    GPI_ON_DEVICE(ctx);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, gpi_balance_search(ctx, f, &a));
}

gp_status gp_csr_to_coo_by(gp_context *ctx, const gp_csr_desc *desc, const void *row_pointers,
                           size_t num_rows, size_t nnz, void *rows_out)
{
    return to_coo(ctx, "gp_csr_to_coo_by", true, desc, row_pointers, num_rows, nnz, rows_out);
}

gp_status gp_csr_to_coo(gp_context *ctx, gp_dtype offset_dtype, const void *row_pointers,
                        size_t num_rows, size_t nnz, gp_dtype index_dtype, void *rows_out)
{
    const gp_csr_desc desc = desc_of(index_dtype, offset_dtype);
    return to_coo(ctx, "gp_csr_to_coo", false, &desc, row_pointers, num_rows, nnz, rows_out);
}

gp_status gp_csr_to_coo_workspace_bytes(const gp_target *target, gp_dtype offset_dtype,
                                        size_t num_rows, size_t nnz, gp_dtype index_dtype,
                                        size_t *bytes)
{
    static const char f[] = "gp_csr_to_coo_workspace_bytes";
    gp_target t;
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_figure(f, bytes));
    const gp_csr_desc desc = desc_of(index_dtype, offset_dtype);
    GPI_TRY(check_to_coo(NULL, f, false, &desc, num_rows, nnz));
    *bytes = 0;
    return GP_OK;
}
