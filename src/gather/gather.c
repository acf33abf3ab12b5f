/* SPDX-License-Identifier: MIT */
/* The front doors of gather and scatter: checks, dispatch. */
#include "gather/gather_internal.h"

#include <inttypes.h>

#include "core/check.h"
#include "core/cuda.h"
#include "validate/validate_internal.h"

/* Of strides: so that no array is longer than addresses are. */
#define STRIDE_MAX ((uint64_t)1 << 23)

/* A call of either kind; a scatter's descriptor has the layout of a gather's. */
struct move {
    const char *function;
    bool by; /* the caller filled in the descriptor */
    bool scatter;
    gp_gather_desc d;
};

static gp_status check_stride(gp_context *ctx, const char *f, const char *name, size_t stride,
                              size_t item_bytes)
{
    if (stride != 0 && (stride < item_bytes || stride > STRIDE_MAX))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: %s is %zu, expected 0 or from desc->item_bytes (%zu) to 2^23", f, name,
                        stride, item_bytes);
    return GP_OK;
}

/* The members behind the size, in their order. In the short form index_dtype is a parameter, which
 * comes behind in. */
static gp_status check_members(gp_context *ctx, const struct move *m, bool indexed)
{
    const char *const f = m->function;
    const gp_gather_desc *d = &m->d;
    GPI_TRY(gpi_check_item_bytes(ctx, f, GPI_MEMBER(m->by, "item_bytes"), d->item_bytes));
    GPI_TRY(gpi_check_n(ctx, f, m->scatter ? "desc->out_items" : "desc->in_items", d->in_items));
    if (m->by && indexed)
        GPI_TRY(gpi_check_unsigned_index(ctx, f, "desc->index_dtype", d->index_dtype));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    GPI_TRY(check_stride(ctx, f, "desc->in_stride", d->in_stride, d->item_bytes));
    return check_stride(ctx, f, "desc->out_stride", d->out_stride, d->item_bytes);
}

static uint64_t bytes_of(uint64_t items, size_t stride, size_t item_bytes)
{
    return items ? (items - 1) * stride + item_bytes : 0;
}

static gp_status check(gp_context *ctx, const struct move *m, const struct gpi_gather_args *a,
                       bool indexed)
{
    const char *const f = m->function;
    const gp_gather_desc *d = &m->d;
    const size_t index_bytes = gpi_dtype_bytes(d->index_dtype);
    const size_t alignment = gpi_item_alignment(d->item_bytes);
    /* On the side of the indices only the first item is known to be there. */
    const uint64_t indexed_items = !a->n ? 0 : d->in_items ? d->in_items : indexed ? 1 : a->n;
    const uint64_t in_items = m->scatter ? a->n : indexed_items;
    const uint64_t out_items = m->scatter ? indexed_items : a->n;
    const struct gpi_array arrays[] = {
        GPI_READ("in", a->in, bytes_of(in_items, a->in_stride, d->item_bytes),
                 d->in_stride ? 1 : alignment),
        GPI_READ("indices", a->indices, indexed ? a->n * index_bytes : 0, index_bytes),
        GPI_READ_IF("desc->device_n", a->device_n, a->n ? sizeof *a->device_n : 0, 8),
        GPI_WRITE("out", a->out, bytes_of(out_items, a->out_stride, d->item_bytes),
                  d->out_stride ? 1 : alignment),
    };
    GPI_TRY(gpi_check_n(ctx, f, "n", a->n));
    if (!indexed && d->in_items && d->in_items < a->n)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: n is %" PRIu64 ", above desc->%s, %zu", f,
                        a->n, m->scatter ? "out_items" : "in_items", d->in_items);
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 1));
    if (indexed)
        GPI_TRY(gpi_check_unsigned_index(ctx, f, GPI_MEMBER(m->by, "index_dtype"), d->index_dtype));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 1, 3));
    return gpi_check_apart(ctx, f, arrays, 3, 4);
}

gp_status gpi_gather_cuda(gp_context *ctx, const char *function, const struct gpi_gather_args *a)
{
    gpi_gather_launch_fn *launch = gpi_gather_launch_get(ctx->sm_row);
    return launch ? launch(ctx, function, a) : gpi_fail_sm(ctx, function);
}

static gp_status run(gp_context *ctx, const char *f, const struct gpi_gather_args *a)
{
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_gather_cuda(ctx, f, a);
    gpi_gather_cpu(ctx->threads, a);
    return GP_OK;
}

static gp_status move(gp_context *ctx, const struct move *m, const void *in, const void *indices,
                      size_t n, void *out)
{
    const gp_gather_desc *d = &m->d;
    const bool indexed = d->index_dtype || indices || !m->by;
    const struct gpi_gather_args a = {.item_bytes = d->item_bytes,
                                      .in_stride = d->in_stride ? d->in_stride : d->item_bytes,
                                      .out_stride = d->out_stride ? d->out_stride : d->item_bytes,
                                      .in = in,
                                      .index_bytes = indexed ? gpi_dtype_bytes(d->index_dtype) : 0,
                                      .indices = indices,
                                      .n = n,
                                      .device_n = d->device_n,
                                      .out = out,
                                      .scatter = m->scatter};
    GPI_TRY(check_members(ctx, m, indexed));
    GPI_TRY(check(ctx, m, &a, indexed));
    if (n == 0)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    if (d->in_items == 0 || !indexed)
        return run(ctx, m->function, &a);
    struct gpi_content rule = GPI_BELOW("indices", indices, n, d->index_dtype, d->in_items);
    rule.device_n = d->device_n;
    GPI_TRY(gpi_validate_begin(ctx, m->function, &rule, 1));
    return gpi_validate_end(ctx, m->function, run(ctx, m->function, &a));
}

gp_status gp_gather_by(gp_context *ctx, const gp_gather_desc *desc, const void *in,
                       const void *indices, size_t n, void *out)
{
    struct move m = {.function = "gp_gather_by", .by = true};
    GPI_CALL(ctx, m.function);
    GPI_TRY(gpi_take_struct(ctx, m.function, "desc", desc, &m.d, GPI_FORM(gp_gather_desc)));
    return move(ctx, &m, in, indices, n, out);
}

gp_status gp_gather(gp_context *ctx, size_t item_bytes, const void *in, gp_dtype index_dtype,
                    const void *indices, size_t n, void *out)
{
    const struct move m = {.function = "gp_gather",
                           .d = {.item_bytes = item_bytes, .index_dtype = index_dtype}};
    GPI_CALL(ctx, m.function);
    return move(ctx, &m, in, indices, n, out);
}

_Static_assert(sizeof(gp_scatter_desc) == sizeof(gp_gather_desc) &&
                   offsetof(gp_scatter_desc, out_items) == offsetof(gp_gather_desc, in_items) &&
                   offsetof(gp_scatter_desc, device_n) == offsetof(gp_gather_desc, device_n),
               "one layout");

gp_status gp_scatter_by(gp_context *ctx, const gp_scatter_desc *desc, const void *in,
                        const void *indices, size_t n, void *out)
{
    struct move m = {.function = "gp_scatter_by", .by = true, .scatter = true};
    GPI_CALL(ctx, m.function);
    GPI_TRY(gpi_take_struct(ctx, m.function, "desc", desc, &m.d, GPI_FORM(gp_scatter_desc)));
    return move(ctx, &m, in, indices, n, out);
}

gp_status gp_scatter(gp_context *ctx, size_t item_bytes, const void *in, gp_dtype index_dtype,
                     const void *indices, size_t n, void *out)
{
    const struct move m = {.function = "gp_scatter",
                           .scatter = true,
                           .d = {.item_bytes = item_bytes, .index_dtype = index_dtype}};
    GPI_CALL(ctx, m.function);
    return move(ctx, &m, in, indices, n, out);
}
