/* SPDX-License-Identifier: MIT */
/* Reduce and scan over ranks: each reduces its part, and all fold the parts in rank order. */
#include "core/workspace.h"
#include "dist/dist_fold_internal.h"

/* ---- reduce ---------------------------------------------------------------------------------- */

struct reduce_args {
    struct gpi_dist_args a;
    struct gpi_fold fold;
    const void *in;
    size_t n;
    void *out;
};

/* On every rank alike, on its GPU. */
static gp_status reduce_posted(gp_comm *comm, const struct reduce_args *r)
{
    const struct gpi_fold *f = &r->fold;
    const gp_reduce_desc d = gpi_fold_reduction(f, f->part);
    const gp_target target = gpi_target_of(comm->ctx);
    const size_t count = (size_t)gpi_fold_count(comm, f, comm->ranks);
    size_t need = 0;
    GPI_TRY(gp_reduce_workspace_bytes(&target, &d, count, &need));
    GPI_FRAME(frame, comm->ctx, r->a.function, need + gpi_piece(count * f->part_bytes));
    void *parts = gpi_frame_take(&frame, count * f->part_bytes);
    GPI_TRY(gpi_fold_collect(comm, r->a.function, f, comm->ranks, NULL, 0, parts));
    return gpi_named(comm->ctx, r->a.function, gp_reduce_by(comm->ctx, &d, parts, count, r->out));
}

static gp_status run_reduce(gp_comm *comm, void *args)
{
    struct reduce_args *r = args;
    char item[GPI_DIST_ITEM_MAX];
    GPI_TRY(gpi_fold_meet(comm, &r->a, &r->fold, 0, NULL, r->in, r->n));
    if (gpi_fold_is_posted(comm, &r->fold))
        return reduce_posted(comm, r);
    GPI_TRY(gpi_fold_parts(comm, r->a.function, &r->fold, comm->ranks, item));
    return gpi_dist_put(comm, r->a.function, item, r->fold.out_bytes, r->out);
}

static gp_status check_reduce(gp_comm *comm, const gp_reduce_desc *given, struct reduce_args *r)
{
    const char *f = r->a.function;
    gp_context *ctx = comm->ctx;
    const gp_target target = gpi_target_of(ctx);
    gp_reduce_desc d;
    size_t bytes;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &d, GPI_FORM(gp_reduce_desc)));
    GPI_TRY(gpi_dist_blame(ctx, f, gp_reduce_workspace_bytes(&target, &d, r->n, &bytes)));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->total", (uintptr_t)d.total));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_n", (uintptr_t)d.device_n));
    r->fold = gpi_fold_of(d.in_dtype, d.out_dtype, d.op, d.init);
    const struct gpi_array arrays[] = {
        GPI_READ("in", r->in, (uint64_t)r->n * r->fold.in_bytes, gpi_dtype_bytes(d.in_dtype)),
        GPI_WRITE("out", r->out, r->fold.out_bytes, gpi_dtype_bytes(r->fold.out))};
    return gpi_check_arrays(ctx, f, arrays, 2);
}

gp_status gp_dist_reduce(gp_comm *comm, const gp_reduce_desc *desc, const void *in, size_t n,
                         void *out)
{
    struct reduce_args r = {
        .a = {"gp_dist_reduce", GPI_DIST_REDUCE, GP_OK}, .in = in, .n = n, .out = out};
    GPI_DIST_CALL(comm, r.a.function);
    r.a.status = check_reduce(comm, desc, &r);
    return gpi_dist_submit(comm, run_reduce, &r, sizeof r);
}

gp_status gp_dist_reduce_workspace_bytes(const gp_target *target, int ranks,
                                         const gp_reduce_desc *desc, size_t n, size_t *bytes)
{
    static const char f[] = "gp_dist_reduce_workspace_bytes";
    gp_target t;
    gp_reduce_desc d;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &d, GPI_FORM(gp_reduce_desc)));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_dist_blame(NULL, f, gp_reduce_workspace_bytes(&t, &d, n, bytes)));
    const struct gpi_fold fold = gpi_fold_of(d.in_dtype, d.out_dtype, d.op, NULL);
    return gpi_dist_blame(NULL, f, gpi_fold_bytes(&t, &fold, ranks, n, bytes));
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* Items of a rank up to which the host should not wait for a part. */
enum { FEW = 1 << 16 };

struct scan_args {
    struct gpi_dist_args a;
    struct gpi_fold fold;
    gp_scan_desc desc;
    const void *known, *in;
    size_t n;
    void *out;
};

/* Few items: a scan of the parts before and of a copy of the items, on the GPU. An exclusive scan
 * is the inclusive one from the item before. */
static gp_status scan_behind_parts(gp_comm *comm, const struct scan_args *s, size_t count)
{
    const char *name = s->a.function;
    const size_t bytes = s->fold.out_bytes, before = count - (s->desc.kind == GP_SCAN_EXCLUSIVE);
    const gp_target target = gpi_target_of(comm->ctx);
    gp_scan_desc d = s->desc;
    size_t need = 0;
    d.kind = GP_SCAN_INCLUSIVE;
    d.init = NULL;
    GPI_TRY(gp_scan_workspace_bytes(&target, &d, before + s->n, &need));
    GPI_FRAME(frame, comm->ctx, name, need + 2 * gpi_piece((count + s->n) * bytes));
    char *items = gpi_frame_take(&frame, (count + s->n) * bytes);
    char *sums = gpi_frame_take(&frame, (count + s->n) * bytes);
    GPI_TRY(gpi_fold_collect(comm, name, &s->fold, comm->rank, s->in, s->n, items));
    GPI_TRY(gpi_named(comm->ctx, name, gp_scan(comm->ctx, &d, items, before + s->n, sums)));
    return gpi_dist_copy_few(comm, name, sums + before * bytes, bytes, s->n, s->out);
}

static gp_status run_scan(gp_comm *comm, void *args)
{
    struct scan_args *s = args;
    const char *name = s->a.function;
    char prefix[GPI_DIST_ITEM_MAX];
    GPI_TRY(gpi_fold_meet(comm, &s->a, &s->fold, (uint32_t)s->desc.kind, s->known, s->in, s->n));
    const size_t count = (size_t)gpi_fold_count(comm, &s->fold, comm->rank);
    if (s->n == 0)
        return GP_OK;
    if (count && s->n <= FEW && s->fold.in == s->fold.out && gpi_fold_is_posted(comm, &s->fold))
        return scan_behind_parts(comm, s, count);
    s->desc.init = NULL;
    if (count) {
        GPI_TRY(gpi_fold_parts(comm, name, &s->fold, comm->rank, prefix));
        s->desc.init = prefix;
    }
    return gpi_named(comm->ctx, name, gp_scan(comm->ctx, &s->desc, s->in, s->n, s->out));
}

static gp_status check_scan_desc(gp_context *ctx, const char *f, const gp_scan_desc *d)
{
    if (d->kind == GP_SCAN_ROW_POINTERS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->kind is %d, expected GP_SCAN_INCLUSIVE or GP_SCAN_EXCLUSIVE", f,
                        (int)d->kind);
    GPI_TRY(gpi_check_unused(ctx, f, "desc->algorithm", (uint64_t)d->algorithm));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->total", (uintptr_t)d->total));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_n", (uintptr_t)d->device_n));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->backward", (uint64_t)(d->backward != 0)));
    return gpi_check_unused(ctx, f, "desc->device_num_segments", (uintptr_t)d->device_num_segments);
}

static gp_status check_scan(gp_comm *comm, const gp_scan_desc *given, struct scan_args *s)
{
    const char *f = s->a.function;
    gp_context *ctx = comm->ctx;
    const gp_target target = gpi_target_of(ctx);
    size_t bytes;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, &s->desc, GPI_FORM(gp_scan_desc)));
    GPI_TRY(gpi_dist_blame(ctx, f, gp_scan_workspace_bytes(&target, &s->desc, s->n, &bytes)));
    GPI_TRY(check_scan_desc(ctx, f, &s->desc));
    s->fold = gpi_fold_of(s->desc.in_dtype, s->desc.out_dtype, s->desc.op, s->desc.init);
    const size_t in_align = gpi_dtype_bytes(s->fold.in), out_align = gpi_dtype_bytes(s->fold.out);
    const uint64_t n = s->n;
    const struct gpi_array arrays[] = {
        GPI_READ_IF("local_total", s->known, n ? s->fold.out_bytes : 0, out_align),
        GPI_READ("in", s->in, n * s->fold.in_bytes, in_align),
        GPI_WRITE_OVER(in_align == out_align ? 1 : 0, "out", s->out, n * s->fold.out_bytes,
                       out_align)};
    return gpi_check_arrays(ctx, f, arrays, 3);
}

gp_status gp_dist_scan(gp_comm *comm, const gp_scan_desc *desc, const void *local_total,
                       const void *in, size_t n, void *out)
{
    struct scan_args s = {.a = {"gp_dist_scan", GPI_DIST_SCAN, GP_OK},
                          .known = local_total,
                          .in = in,
                          .n = n,
                          .out = out};
    GPI_DIST_CALL(comm, s.a.function);
    s.a.status = check_scan(comm, desc, &s);
    return gpi_dist_submit(comm, run_scan, &s, sizeof s);
}

/* Few items are scanned behind the parts, in a copy. */
static gp_status bytes_behind_parts(const gp_target *target, const gp_scan_desc *desc, int ranks,
                                    uint64_t n, size_t item_bytes, size_t *bytes)
{
    const uint64_t items = (uint64_t)ranks + (n < FEW ? n : FEW);
    gp_scan_desc d = *desc;
    d.kind = GP_SCAN_INCLUSIVE;
    GPI_TRY(gp_scan_workspace_bytes(target, &d, items, bytes));
    *bytes += 2 * gpi_piece(items * item_bytes);
    return GP_OK;
}

gp_status gp_dist_scan_workspace_bytes(const gp_target *target, int ranks, const gp_scan_desc *desc,
                                       size_t n, size_t *bytes)
{
    static const char f[] = "gp_dist_scan_workspace_bytes";
    gp_target t;
    gp_scan_desc d;
    size_t fold = 0, few = 0;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &d, GPI_FORM(gp_scan_desc)));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_dist_blame(NULL, f, gp_scan_workspace_bytes(&t, &d, n, bytes)));
    const struct gpi_fold x = gpi_fold_of(d.in_dtype, d.out_dtype, d.op, NULL);
    GPI_TRY(gpi_dist_blame(NULL, f, gpi_fold_bytes(&t, &x, ranks, n, &fold)));
    GPI_TRY(gpi_dist_blame(NULL, f, bytes_behind_parts(&t, &d, ranks, n, x.out_bytes, &few)));
    *bytes = fold > *bytes ? fold : *bytes;
    *bytes = few > *bytes ? few : *bytes;
    return GP_OK;
}
