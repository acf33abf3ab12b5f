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

/* No rank has items, and there is no init. */
static gp_status reduce_nothing(gp_comm *comm, const struct reduce_args *r)
{
    const gp_reduce_desc d = gpi_fold_reduction(&r->fold, r->fold.part);
    return gpi_named(comm->ctx, r->a.function,
                     gp_reduce_by(comm->ctx, &d, comm->mail->part, 0, r->out));
}

static gp_status reduce_by_mail(gp_comm *comm, const struct reduce_args *r)
{
    const char *name = r->a.function;
    void *part = comm->mail->part;
    struct gpi_mailing m = {.has_init = true,
                            .folded = comm->ranks,
                            .use = GPI_MAIL_RESULT,
                            .part = r->n ? part : NULL,
                            .out = r->out};
    if (gpi_fold_count(comm, &r->fold, comm->ranks) == 0)
        return reduce_nothing(comm, r);
    if (r->n) {
        const gp_status s = gpi_fold_reduce_here(comm, name, &r->fold, r->in, r->n, part);
        if (s != GP_OK)
            return gpi_dist_drop(comm, s); /* the others would wait for the part */
    }
    return gpi_fold_deliver(comm, name, &r->fold, &m);
}

static gp_status run_reduce(gp_comm *comm, void *args)
{
    struct reduce_args *r = args;
    char item[GPI_DIST_ITEM_MAX];
    GPI_TRY(gpi_fold_meet(comm, &r->a, &r->fold, 0, 0, NULL, r->in, r->n));
    if (gpi_fold_by_mail(comm, &r->fold))
        return reduce_by_mail(comm, r);
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
    return gpi_dist_blame(NULL, f, gpi_fold_bytes(&t, &fold, n, bytes));
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* Items of a rank up to which it is faster to scan them first, and to put what precedes them before
 * each one afterwards, than to wait for that on the host. */
enum { FEW = 1 << 16 };

struct scan_args {
    struct gpi_dist_args a;
    struct gpi_fold fold;
    gp_scan_desc desc;
    const void *known, *in;
    size_t n;
    void *out;
};

/* A context that validates reports sums that do not fit, so it has to scan with what precedes. */
static bool is_few(const gp_comm *comm, const struct scan_args *s)
{
    return s->n <= FEW && !comm->ctx->validate;
}

static gp_status meet_to_scan(gp_comm *comm, struct scan_args *s)
{
    const gp_target target = gpi_target_of(comm->ctx);
    size_t need = 0;
    if (s->a.status == GP_OK)
        s->a.status = gp_scan_workspace_bytes(&target, &s->desc, s->n, &need);
    if (s->a.status == GP_OK && !is_few(comm, s))
        s->a.status = gpi_dist_check_capture(comm, s->a.function);
    return gpi_fold_meet(comm, &s->a, &s->fold, (uint32_t)s->desc.kind, need, s->known, s->in,
                         s->n);
}

static gp_status scan_here(gp_comm *comm, const struct scan_args *s, const void *init)
{
    gp_scan_desc d = s->desc;
    d.init = init;
    return gpi_named(comm->ctx, s->a.function, gp_scan(comm->ctx, &d, s->in, s->n, s->out));
}

/* A scan by the kernel of mail alone. */
static gp_status scan_taken(gp_comm *comm, const struct scan_args *s)
{
    const bool inclusive = s->desc.kind == GP_SCAN_INCLUSIVE;
    struct gpi_mailing m = {.has_init = true,
                            .folded = comm->rank,
                            .use = inclusive ? GPI_MAIL_INCLUSIVE : GPI_MAIL_EXCLUSIVE,
                            .in = s->in,
                            .part = s->known,
                            .out = s->out,
                            .n = s->n};
    return gpi_fold_deliver(comm, s->a.function, &s->fold, &m);
}

/* What this rank does before others can have its part, which is at *part then. An inclusive scan of
 * few items ends with it. */
static gp_status prepare_part(gp_comm *comm, const struct scan_args *s, bool few, const void *init,
                              const void **part)
{
    const bool scanned = few && s->desc.kind == GP_SCAN_INCLUSIVE;
    const bool last = comm->rank == comm->ranks - 1; /* its part precedes none */
    *part = s->known ? s->known : comm->mail->part;
    if (!s->known && scanned)
        *part = (char *)s->out + (s->n - 1) * s->fold.out_bytes;
    else if (!s->known && !last)
        GPI_TRY(gpi_fold_reduce_here(comm, s->a.function, &s->fold, s->in, s->n, comm->mail->part));
    return few ? scan_here(comm, s, init) : GP_OK;
}

/* Exclusive scans that nothing precedes but init take it at once: it is not part of what the others
 * get of this rank. */
static gp_status scan_by_mail(gp_comm *comm, const struct scan_args *s)
{
    const char *name = s->a.function;
    const struct gpi_fold *f = &s->fold;
    const int before = gpi_fold_count(comm, f, comm->rank);
    const bool few = is_few(comm, s);
    const bool begins = before == f->has_init && s->desc.kind == GP_SCAN_EXCLUSIVE;
    struct gpi_mailing m = {.has_init = !few || !begins,
                            .folded = comm->rank,
                            .use = few ? GPI_MAIL_BEFORE : GPI_MAIL_RESULT,
                            .out = few ? s->out : comm->mail->fold,
                            .n = few ? s->n : 0};
    char prefix[GPI_DIST_ITEM_MAX];
    if (s->n == 0) {
        m.out = NULL;
        return gpi_fold_deliver(comm, name, f, &m);
    }
    if (few && s->n <= GPI_MAIL_FEW && f->in == f->out)
        return scan_taken(comm, s);
    const gp_status status =
        prepare_part(comm, s, few, begins && f->has_init ? f->init : NULL, &m.part);
    if (status != GP_OK)
        return gpi_dist_drop(comm, status); /* the others would wait for the part */
    GPI_TRY(gpi_fold_deliver(comm, name, f, &m));
    if (few)
        return GP_OK;
    if (before)
        GPI_TRY(gpi_dist_fetch(comm, name, comm->mail->fold, f->out_bytes, prefix));
    return scan_here(comm, s, before ? prefix : NULL);
}

static gp_status run_scan(gp_comm *comm, void *args)
{
    struct scan_args *s = args;
    const char *name = s->a.function;
    char prefix[GPI_DIST_ITEM_MAX];
    GPI_TRY(meet_to_scan(comm, s));
    if (gpi_fold_by_mail(comm, &s->fold))
        return scan_by_mail(comm, s);
    const int count = gpi_fold_count(comm, &s->fold, comm->rank);
    if (s->n == 0)
        return GP_OK;
    if (count)
        GPI_TRY(gpi_fold_parts(comm, name, &s->fold, comm->rank, prefix));
    return scan_here(comm, s, count ? prefix : NULL);
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

gp_status gp_dist_scan_workspace_bytes(const gp_target *target, int ranks, const gp_scan_desc *desc,
                                       size_t n, size_t *bytes)
{
    static const char f[] = "gp_dist_scan_workspace_bytes";
    gp_target t;
    gp_scan_desc d;
    size_t fold = 0;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &d, GPI_FORM(gp_scan_desc)));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_dist_blame(NULL, f, gp_scan_workspace_bytes(&t, &d, n, bytes)));
    const struct gpi_fold x = gpi_fold_of(d.in_dtype, d.out_dtype, d.op, NULL);
    GPI_TRY(gpi_dist_blame(NULL, f, gpi_fold_bytes(&t, &x, n, &fold)));
    *bytes = fold > *bytes ? fold : *bytes;
    return GP_OK;
}
