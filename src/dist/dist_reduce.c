/* SPDX-License-Identifier: MIT */
/* Reduce and scan over ranks: a part of each travels in its note, and every rank folds them. */
#include <string.h>

#include "core/half.h"
#include "core/workspace.h"
#include "dist/dist_internal.h"

enum { ITEM_MAX = 32 }; /* four doubles */

/* What parts are, and how they are put together. */
struct fold {
    gp_dtype in, out, part; /* part: of a rank; float where sums of halves would be rounded twice */
    gp_op op;
    size_t in_bytes, out_bytes, part_bytes; /* of an item */
    bool has_init;
    char init[ITEM_MAX]; /* of the output's dtype */
};

static struct fold fold_of(gp_dtype in, gp_dtype out, gp_op op, const void *init)
{
    struct fold f = {.in = in, .out = out ? out : in, .op = op, .has_init = init != NULL};
    const bool half = f.out == GP_F16 || f.out == GP_BF16;
    f.part = half && op == GP_SUM ? GP_F32 : f.out;
    f.in_bytes = gpi_op_scalars(op) * gpi_dtype_bytes(in);
    f.out_bytes = gpi_op_scalars(op) * gpi_dtype_bytes(f.out);
    f.part_bytes = gpi_op_scalars(op) * gpi_dtype_bytes(f.part);
    if (init)
        memcpy(f.init, init, f.out_bytes);
    return f;
}

/* An item of the output's dtype as a part, and back. */
static void part_of_item(const struct fold *f, const void *item, void *part)
{
    uint16_t half;
    float x;
    if (f->part == f->out) {
        memcpy(part, item, f->out_bytes);
        return;
    }
    memcpy(&half, item, sizeof half);
    x = f->out == GP_F16 ? gpi_f16_to_float(half) : gpi_bf16_to_float(half);
    memcpy(part, &x, sizeof x);
}

static void item_of_part(const struct fold *f, const void *part, void *item)
{
    uint16_t half;
    float x;
    if (f->part == f->out) {
        memcpy(item, part, f->out_bytes);
        return;
    }
    memcpy(&x, part, sizeof x);
    half = f->out == GP_F16 ? gpi_float_to_f16(x) : gpi_float_to_bf16(x);
    memcpy(item, &half, sizeof half);
}

static gp_reduce_desc reduction(const struct fold *f, gp_dtype from)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = from;
    d.out_dtype = f->part;
    d.op = f->op;
    return d;
}

/* The part of this rank: its items reduced, or what the caller knows of them. */
static gp_status part_here(gp_comm *comm, const char *name, const struct fold *f, const void *known,
                           const void *in, size_t n, void *part)
{
    const gp_reduce_desc d = reduction(f, f->in);
    const gp_target target = gpi_target_of(comm->ctx);
    char item[ITEM_MAX];
    size_t need = 0;
    if (n == 0)
        return GP_OK;
    if (known) {
        GPI_TRY(gpi_dist_fetch(comm, name, known, f->out_bytes, item));
        part_of_item(f, item, part);
        return GP_OK;
    }
    GPI_TRY(gp_reduce_workspace_bytes(&target, &d, n, &need));
    GPI_FRAME(frame, comm->ctx, name, need + gpi_piece(ITEM_MAX));
    void *place = gpi_frame_take(&frame, ITEM_MAX);
    GPI_TRY(gpi_named(comm->ctx, name, gp_reduce_by(comm->ctx, &d, in, n, place)));
    return gpi_dist_fetch(comm, name, place, f->part_bytes, part);
}

/* init and the parts of ranks [0, ranks), in their order, as an item of the output's dtype. Ranks
 * without items have none. */
static gp_status fold_parts(gp_comm *comm, const char *name, const struct fold *f, int ranks,
                            void *item)
{
    gp_reduce_desc d = reduction(f, f->part);
    char *parts = (char *)comm->table, init[ITEM_MAX], result[ITEM_MAX];
    size_t count = 0;
    for (int r = 0; r < ranks; r++)
        if (comm->notes[r].n)
            memcpy(parts + count++ * f->part_bytes, comm->notes[r].words, f->part_bytes);
    if (f->has_init) {
        part_of_item(f, f->init, init);
        d.init = init;
    }
    const gp_status s = gp_reduce_by(comm->fold, &d, parts, count, result);
    if (s != GP_OK)
        return gpi_fail(comm->ctx, s, "%s: folding parts: %s", name, gp_last_error(comm->fold));
    item_of_part(f, result, item);
    return GP_OK;
}

/* Meet with this rank's part in the note. */
static gp_status meet(gp_comm *comm, struct gpi_dist_args *a, const struct fold *f, uint32_t kind,
                      const void *known, const void *in, size_t n)
{
    struct gpi_note note = {.n = n};
    if (a->status == GP_OK)
        a->status = part_here(comm, a->function, f, known, in, n, note.words);
    note.status = (uint32_t)a->status;
    note.dtype = (uint32_t)f->in | (uint32_t)f->out << 8;
    note.op = (uint32_t)f->op;
    note.hash = gpi_dist_hash(kind, f->init, f->has_init ? f->out_bytes : 0);
    note.hash += f->has_init;
    return gpi_dist_meet(comm, a, &note);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

struct reduce_args {
    struct gpi_dist_args a;
    struct fold fold;
    const void *in;
    size_t n;
    void *out;
};

static gp_status run_reduce(gp_comm *comm, void *args)
{
    struct reduce_args *r = args;
    char item[ITEM_MAX];
    GPI_TRY(meet(comm, &r->a, &r->fold, 0, NULL, r->in, r->n));
    GPI_TRY(fold_parts(comm, r->a.function, &r->fold, comm->ranks, item));
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
    r->fold = fold_of(d.in_dtype, d.out_dtype, d.op, d.init);
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

/* ---- scan ------------------------------------------------------------------------------------ */

struct scan_args {
    struct gpi_dist_args a;
    struct fold fold;
    gp_scan_desc desc;
    const void *known, *in;
    size_t n;
    void *out;
};

static gp_status run_scan(gp_comm *comm, void *args)
{
    struct scan_args *s = args;
    char prefix[ITEM_MAX];
    GPI_TRY(meet(comm, &s->a, &s->fold, (uint32_t)s->desc.kind, s->known, s->in, s->n));
    if (s->n == 0)
        return GP_OK;
    GPI_TRY(fold_parts(comm, s->a.function, &s->fold, comm->rank, prefix));
    s->desc.init = prefix;
    return gpi_named(comm->ctx, s->a.function, gp_scan(comm->ctx, &s->desc, s->in, s->n, s->out));
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
    s->fold = fold_of(s->desc.in_dtype, s->desc.out_dtype, s->desc.op, s->desc.init);
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
