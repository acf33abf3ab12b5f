/* SPDX-License-Identifier: MIT */
/* The front door of gather: checks, dispatch. */
#include "gather/gather_internal.h"

#include "core/check.h"
#include "core/cuda.h"
#include "validate/validate_internal.h"

/* In the short form index_dtype is a parameter behind in. */
static gp_status check_gather(gp_context *ctx, const char *f, bool by, const gp_gather_desc *d,
                              const void *in, const void *indices, size_t n, void *out)
{
    const size_t index_bytes = gpi_dtype_bytes(d->index_dtype);
    const size_t alignment = gpi_item_alignment(d->item_bytes);
    const uint64_t in_items = d->in_items ? d->in_items : 1;
    const char *const index_name = GPI_MEMBER(by, "index_dtype");
    const struct gpi_array arrays[] = {
        GPI_READ("in", in, n ? in_items * d->item_bytes : 0, alignment),
        GPI_READ("indices", indices, n * index_bytes, index_bytes),
        GPI_WRITE("out", out, n * d->item_bytes, alignment),
    };
    GPI_TRY(gpi_check_item_bytes(ctx, f, GPI_MEMBER(by, "item_bytes"), d->item_bytes));
    GPI_TRY(gpi_check_n(ctx, f, GPI_MEMBER(by, "in_items"), d->in_items));
    if (by)
        GPI_TRY(gpi_check_unsigned_index(ctx, f, index_name, d->index_dtype));
    GPI_TRY(gpi_check_n(ctx, f, "n", n));
    GPI_TRY(gpi_check_memory(ctx, f, arrays, 1));
    GPI_TRY(gpi_check_unsigned_index(ctx, f, index_name, d->index_dtype));
    GPI_TRY(gpi_check_memory(ctx, f, arrays + 1, 2));
    return gpi_check_apart(ctx, f, arrays, 2, 3);
}

gp_status gpi_gather_cuda(gp_context *ctx, const char *function, size_t item_bytes, const void *in,
                          size_t index_bytes, const void *indices, size_t n, void *out)
{
    gpi_gather_launch_fn *launch = gpi_gather_launch_get(ctx->sm_row);
    if (!launch)
        return gpi_fail_sm(ctx, function);
    return launch(ctx, function, item_bytes, in, index_bytes, indices, n, out);
}

static gp_status run(gp_context *ctx, const char *f, const gp_gather_desc *d, const void *in,
                     const void *indices, size_t n, void *out)
{
    const size_t index_bytes = gpi_dtype_bytes(d->index_dtype);
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_gather_cuda(ctx, f, d->item_bytes, in, index_bytes, indices, n, out);
    gpi_gather_cpu(ctx->threads, d->item_bytes, in, index_bytes, indices, n, out);
    return GP_OK;
}

/* by: the caller filled in the descriptor. */
static gp_status gather(gp_context *ctx, const char *f, bool by, const gp_gather_desc *given,
                        const void *in, const void *indices, size_t n, void *out)
{
    gp_gather_desc d;
    GPI_CALL(ctx, f);
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_gather_desc)));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d.reserved));
    GPI_TRY(check_gather(ctx, f, by, &d, in, indices, n, out));
    if (n == 0)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    if (d.in_items == 0)
        return run(ctx, f, &d, in, indices, n, out);
    const struct gpi_content rule = GPI_BELOW("indices", indices, n, d.index_dtype, d.in_items);
    GPI_TRY(gpi_validate_begin(ctx, f, &rule, 1));
    return gpi_validate_end(ctx, f, run(ctx, f, &d, in, indices, n, out));
}

gp_status gp_gather_by(gp_context *ctx, const gp_gather_desc *desc, const void *in,
                       const void *indices, size_t n, void *out)
{
    return gather(ctx, "gp_gather_by", true, desc, in, indices, n, out);
}

gp_status gp_gather(gp_context *ctx, size_t item_bytes, const void *in, gp_dtype index_dtype,
                    const void *indices, size_t n, void *out)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = item_bytes;
    d.index_dtype = index_dtype;
    return gather(ctx, "gp_gather", false, &d, in, indices, n, out);
}
