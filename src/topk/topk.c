/* SPDX-License-Identifier: MIT */
/* The front door of top-k: checks, scratch, selection, and the sort of what was selected. */
#include <gp/topk.h>

#include <gp/radixsort.h>

#include <inttypes.h>

#include "core/check.h"
#include "core/count.h"
#include "core/cuda.h"
#include "core/workspace.h"
#include "topk/topk_internal.h"

struct call {
    gp_dtype dtype, index_dtype;
    gp_order order;
    void *keys_out, *indices_out;
    struct gpi_topk_job job;
};

/* The sizes of a frame's pieces. */
struct pieces {
    size_t state, counts, keys, indices, nested;
};

static gp_status pieces_of(const gp_target *target, gp_dtype dtype, gp_dtype index_dtype,
                           uint64_t chunks, uint64_t k, struct pieces *p)
{
    size_t index_bytes = gpi_dtype_bytes(index_dtype);
    p->state = gpi_topk_state_bytes(gpi_dtype_bytes(dtype));
    p->counts = (chunks + 1) * sizeof(struct gpi_topk_counts);
    p->keys = k * gpi_dtype_bytes(dtype);
    p->indices = k * index_bytes;
    return gp_radix_sort_workspace_bytes(target, dtype, index_bytes, k, NULL, &p->nested);
}

static size_t pieces_bytes(const struct pieces *p)
{
    return gpi_piece(p->state) + gpi_piece(p->counts) + 2 * gpi_piece(p->keys) +
           2 * gpi_piece(p->indices) + gpi_piece(p->nested);
}

static gp_status select_and_sort(gp_context *ctx, const char *f, struct call *c,
                                 const struct pieces *p, struct gpi_frame *frame)
{
    struct gpi_topk_job *j = &c->job;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = c->order;
    j->state = gpi_frame_take(frame, p->state);
    if (j->device_n || j->device_k)
        o.device_n = &j->state->wanted;
    j->bins = (uint64_t *)(j->state + 1);
    j->counts = gpi_frame_take(frame, p->counts);
    j->top_keys = gpi_frame_take(frame, p->keys);
    j->top_indices = gpi_frame_take(frame, p->indices);
    void *keys = c->keys_out ? c->keys_out : gpi_frame_take(frame, p->keys);
    void *indices = c->indices_out ? c->indices_out : gpi_frame_take(frame, p->indices);
    if (ctx->backend == GP_BACKEND_CPU)
        gpi_topk_cpu(ctx, j);
    else
        GPI_TRY(gpi_topk_launch_get(ctx->sm_row)(ctx, f, j));
    return gp_radix_sort_pairs(ctx, c->dtype, j->top_keys, j->index_bytes, j->top_indices,
                               (size_t)j->k, keys, indices, &o);
}

static gp_status run(gp_context *ctx, const char *f, struct call *c)
{
    struct pieces p;
    const gp_target target = gpi_target_of(ctx);
    bool cuda = ctx->backend == GP_BACKEND_CUDA;
    c->job.n = gpi_count_now(ctx, &c->job.device_n, c->job.n);
    c->job.k = gpi_count_now(ctx, &c->job.device_k, c->job.k);
    if (c->job.k > c->job.n)
        c->job.k = c->job.n;
    if (c->job.k == 0)
        return GP_OK;
    c->job.chunks = cuda ? gpi_topk_cuda_chunks(c->job.n) : gpi_topk_cpu_chunks(c->job.n);
    GPI_TRY(pieces_of(&target, c->dtype, c->index_dtype, c->job.chunks, c->job.k, &p));
    GPI_ON_DEVICE(ctx);
    GPI_FRAME(frame, ctx, f, pieces_bytes(&p));
    return gpi_named(ctx, f, select_and_sort(ctx, f, c, &p, &frame));
}

static gp_status check_k(gp_context *ctx, const char *f, size_t n, size_t k)
{
    if (k > n)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: k is %zu, expected 0 to n = %zu", f, k, n);
    return GP_OK;
}

static gp_status check_outputs(gp_context *ctx, const char *f, const struct call *c)
{
    const struct gpi_topk_job *j = &c->job;
    const struct gpi_array arrays[] = {
        GPI_COUNT("desc->device_n", j->device_n),
        GPI_COUNT("desc->device_k", j->device_k),
        GPI_READ("keys_in", j->keys, j->n * j->key_bytes, j->key_bytes),
        GPI_WRITE_IF("keys_out", c->keys_out, j->k * j->key_bytes, j->key_bytes),
        GPI_WRITE_IF("indices_out", c->indices_out, j->k * j->index_bytes, j->index_bytes),
    };
    if (!c->keys_out && !c->indices_out && j->k)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: keys_out and indices_out are both NULL", f);
    return gpi_check_arrays(ctx, f, arrays, 5);
}

/* *d becomes the full struct. In the short form index_dtype is a parameter behind the input. */
static gp_status check_desc(gp_context *ctx, const char *f, bool by, const gp_top_k_desc *given,
                            bool indices, gp_top_k_desc *d)
{
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_top_k_desc)));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    GPI_TRY(gpi_check_dtype(ctx, f, GPI_MEMBER(by, "dtype"), d->dtype));
    GPI_TRY(gpi_check_order(ctx, f, GPI_MEMBER(by, "order"), d->order));
    if (by && indices)
        return gpi_check_unsigned_index(ctx, f, GPI_MEMBER(by, "index_dtype"), d->index_dtype);
    return GP_OK;
}

/* by: the caller filled in the descriptor. The call has its arrays and their lengths. */
static gp_status top_k(gp_context *ctx, const char *f, bool by, const gp_top_k_desc *given,
                       struct call c)
{
    gp_top_k_desc d;
    struct gpi_topk_job *const j = &c.job;
    const char *const index_name = GPI_MEMBER(by, "index_dtype");
    GPI_CALL(ctx, f);
    GPI_TRY(check_desc(ctx, f, by, given, c.indices_out != NULL, &d));
    GPI_TRY(gpi_check_keys(ctx, f, d.dtype, j->keys, j->n));
    GPI_TRY(check_k(ctx, f, j->n, j->k));
    if (c.indices_out) {
        GPI_TRY(gpi_check_unsigned_index(ctx, f, index_name, d.index_dtype));
        GPI_TRY(gpi_check_index_range(ctx, f, j->n, index_name, d.index_dtype));
    }
    c.dtype = d.dtype;
    c.order = d.order;
    c.index_dtype = c.indices_out ? d.index_dtype : j->n > UINT32_MAX ? GP_U64 : GP_U32;
    j->key_bytes = gpi_dtype_bytes(d.dtype);
    j->index_bytes = gpi_dtype_bytes(c.index_dtype);
    j->order = gpi_radix_order_of(d.dtype, d.order);
    j->device_n = d.device_n;
    j->device_k = d.device_k;
    GPI_TRY(check_outputs(ctx, f, &c));
    return run(ctx, f, &c);
}

gp_status gp_top_k_by(gp_context *ctx, const gp_top_k_desc *desc, const void *keys_in, size_t n,
                      size_t k, void *keys_out, void *indices_out)
{
    const struct call c = {
        .keys_out = keys_out, .indices_out = indices_out, .job = {.keys = keys_in, .n = n, .k = k}};
    return top_k(ctx, "gp_top_k_by", true, desc, c);
}

gp_status gp_top_k(gp_context *ctx, gp_dtype dtype, gp_order order, const void *keys_in, size_t n,
                   size_t k, void *keys_out, gp_dtype index_dtype, void *indices_out)
{
    gp_top_k_desc d = GP_TOP_K_DESC_INIT;
    const struct call c = {
        .keys_out = keys_out, .indices_out = indices_out, .job = {.keys = keys_in, .n = n, .k = k}};
    d.dtype = dtype;
    d.order = order;
    d.index_dtype = index_dtype;
    return top_k(ctx, "gp_top_k", false, &d, c);
}

gp_status gp_top_k_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n, size_t k,
                                   size_t *bytes)
{
    static const char f[] = "gp_top_k_workspace_bytes";
    gp_target t;
    struct pieces p;
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_check_target(f, target, &t));
    GPI_TRY(gpi_check_dtype(NULL, f, "dtype", dtype));
    GPI_TRY(gpi_check_n(NULL, f, "n", n));
    GPI_TRY(check_k(NULL, f, n, k));
    uint64_t cpu = gpi_topk_cpu_chunks(n), cuda = gpi_topk_cuda_chunks(n);
    GPI_TRY(pieces_of(&t, dtype, GP_U64, cpu > cuda ? cpu : cuda, k, &p));
    *bytes = k == 0 ? 0 : pieces_bytes(&p);
    if (k == 0 || n > UINT32_MAX)
        return GP_OK;
    size_t wide = *bytes; /* narrow indices can take another way through the sort */
    GPI_TRY(pieces_of(&t, dtype, GP_U32, cpu > cuda ? cpu : cuda, k, &p));
    *bytes = wide > pieces_bytes(&p) ? wide : pieces_bytes(&p);
    return GP_OK;
}
