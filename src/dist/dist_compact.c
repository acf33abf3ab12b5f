/* SPDX-License-Identifier: MIT */
/* Compaction over ranks: each compacts its own, and what is kept moves to where it belongs. */
#include "core/workspace.h"
#include "dist/dist_internal.h"

struct compact_args {
    struct gpi_dist_args a;
    gp_dist_desc dist;
    gp_compact_desc desc;
    size_t out_bytes; /* of an item of the output */
    const void *in, *keep;
    size_t n;
    void *out;
    uint64_t *out_count;
};

/* Positions in the array of all ranks. */
static gp_status number(gp_comm *comm, const struct compact_args *c, void *positions, uint64_t kept)
{
    uint64_t first = 0;
    if (c->desc.kind != GP_COMPACT_INDICES)
        return GP_OK;
    for (int r = 0; r < comm->rank; r++)
        first += comm->have[r];
    return gpi_dist_shift(comm, c->a.function, c->out_bytes, positions, kept, first, c->out_bytes,
                          positions);
}

/* This rank's own, to kept; how many to *count. */
static gp_status compact_here(gp_comm *comm, const struct compact_args *c, void *kept,
                              uint64_t *device_count, uint64_t *count)
{
    const char *f = c->a.function;
    *count = 0;
    if (c->n == 0)
        return GP_OK;
    GPI_TRY(
        gpi_named(comm->ctx, f,
                  gp_compact_by(comm->ctx, &c->desc, c->in, c->keep, c->n, kept, device_count)));
    GPI_TRY(gpi_dist_fetch(comm, f, device_count, sizeof *count, count));
    return number(comm, c, kept, *count);
}

/* As it falls, and with room for all of this rank's items, they are where they belong at once. */
static bool stays(const gp_comm *comm, const struct compact_args *c)
{
    return c->dist.result == GP_DIST_FREE && gpi_dist_room(comm, &c->dist, c->n) >= c->n;
}

/* What was kept, to where it belongs. SAME and EVEN go by what ranks gave and by the total. */
static gp_status place(gp_comm *comm, const struct compact_args *c, const void *kept)
{
    const char *f = c->a.function;
    uint64_t total = 0;
    for (int r = 0; r < comm->ranks; r++)
        total += comm->have[r] = comm->notes[r].words[0];
    GPI_TRY(gpi_dist_place(comm, f, &c->dist, total, comm->have));
    GPI_TRY(gpi_dist_check_room(comm, f));
    if (c->dist.result != GP_DIST_FREE)
        return gpi_dist_move(comm, f, c->out_bytes, kept, c->out);
    if (!stays(comm, c))
        return gp_copy(comm->ctx, kept, comm->have[comm->rank] * c->out_bytes, c->out);
    return GP_OK;
}

/* kept: whether what is kept has to lie elsewhere first. */
static gp_status bytes_needed(const gp_target *target, const struct compact_args *c, bool kept,
                              size_t *bytes)
{
    GPI_TRY(gp_compact_workspace_bytes(target, &c->desc, c->n, bytes));
    *bytes += gpi_piece(sizeof(uint64_t)) + (kept ? gpi_piece(c->n * c->out_bytes) : 0);
    return GP_OK;
}

static gp_status run_in_frame(gp_comm *comm, struct compact_args *c, gp_status status,
                              struct gpi_frame *frame)
{
    uint64_t count = 0;
    void *kept = c->out;
    if (status == GP_OK) {
        uint64_t *device_count = gpi_frame_take(frame, sizeof *device_count);
        if (!stays(comm, c))
            kept = gpi_frame_take(frame, c->n * c->out_bytes);
        status = compact_here(comm, c, kept, device_count, &count);
    }
    GPI_TRY(gpi_dist_agree(comm, &c->a, status, &count, 1));
    GPI_TRY(place(comm, c, kept));
    return gpi_dist_tell(comm, c->a.function, c->out_count);
}

static gp_status run_compact(gp_comm *comm, void *args)
{
    struct compact_args *c = args;
    struct gpi_frame frame = {NULL, 0, 0};
    struct gpi_note note = {.status = (uint32_t)c->a.status,
                            .dtype = (uint32_t)c->desc.dtype | (uint32_t)c->desc.index_dtype << 8,
                            .op = (uint32_t)c->desc.compare,
                            .item = c->out_bytes,
                            .n = c->n,
                            .capacity = gpi_dist_room(comm, &c->dist, c->n)};
    size_t need = 0;
    if (c->a.status == GP_OK) {
        note.hash = gpi_dist_desc_hash(comm, &c->dist);
        note.hash = gpi_dist_hash(note.hash, &c->desc.kind, sizeof c->desc.kind);
    }
    GPI_TRY(gpi_dist_meet(comm, &c->a, &note));
    const uint64_t total = gpi_dist_total(comm);
    if (c->desc.kind == GP_COMPACT_INDICES && c->out_bytes == 4 && total > (uint64_t)1 << 32)
        return gpi_fail(comm->ctx, GP_ERROR_ARGUMENT,
                        "%s: %llu items in all, expected at most 2^32 with index_dtype u32",
                        c->a.function, (unsigned long long)total);
    const gp_target target = gpi_target_of(comm->ctx);
    gp_status status =
        gpi_dist_blame(comm->ctx, c->a.function, bytes_needed(&target, c, !stays(comm, c), &need));
    if (status == GP_OK)
        status = gpi_frame_open(comm->ctx, c->a.function, need, &frame);
    status = run_in_frame(comm, c, status, &frame);
    gpi_frame_close(&frame);
    return status;
}

static gp_status check_desc(gp_context *ctx, const char *f, const struct compact_args *c)
{
    const gp_target target = gpi_target_of(ctx);
    const gp_compact_desc *d = &c->desc;
    size_t bytes;
    if (d->kind != GP_COMPACT_ITEMS && d->kind != GP_COMPACT_INDICES)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT,
                        "%s: desc->kind is %d, expected GP_COMPACT_ITEMS or GP_COMPACT_INDICES", f,
                        (int)d->kind);
    GPI_TRY(gpi_check_unused(ctx, f, "desc->capacity", d->capacity));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_n", (uintptr_t)d->device_n));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->indices", (uintptr_t)d->indices));
    return gpi_dist_blame(ctx, f, gp_compact_workspace_bytes(&target, d, c->n, &bytes));
}

/* Of what is read beside flags, and of what is kept. */
static size_t item_bytes(const gp_compact_desc *d)
{
    if (d->compare)
        return gpi_dtype_bytes(d->dtype);
    return d->kind == GP_COMPACT_INDICES ? 0 : d->item_bytes;
}

static size_t result_bytes(const gp_compact_desc *d)
{
    return d->kind == GP_COMPACT_INDICES ? gpi_dtype_bytes(d->index_dtype) : item_bytes(d);
}

static gp_status check_compact(gp_comm *comm, const gp_dist_desc *dist, const gp_compact_desc *desc,
                               struct compact_args *c)
{
    const char *f = c->a.function;
    gp_context *ctx = comm->ctx;
    GPI_TRY(gpi_dist_take(comm, f, "dist", dist, &c->dist));
    GPI_TRY(gpi_take_struct(ctx, f, "desc", desc, &c->desc, GPI_FORM(gp_compact_desc)));
    GPI_TRY(check_desc(ctx, f, c));
    const gp_compact_desc *d = &c->desc;
    if (d->compare && c->keep)
        return gpi_fail(ctx, GP_ERROR_POINTER, "%s: keep is %p, expected NULL with a comparison", f,
                        c->keep);
    const bool by_value = d->compare != 0;
    const size_t in_bytes = item_bytes(d);
    const uint64_t n = c->n, flags = d->flags == GP_FLAGS_BITS ? (n + 31) / 32 * 4 : n;
    c->out_bytes = result_bytes(d);
    const size_t unit = in_bytes ? gpi_item_alignment(in_bytes) : 1;
    const struct gpi_array arrays[] = {
        GPI_READ("in", c->in, n * in_bytes, unit),
        GPI_READ("keep", c->keep, by_value ? 0 : flags, d->flags == GP_FLAGS_BITS ? 4 : 1),
        GPI_WRITE("out", c->out, gpi_dist_room(comm, &c->dist, n) * c->out_bytes,
                  gpi_item_alignment(c->out_bytes)),
        GPI_WRITE("out_count", c->out_count, sizeof(uint64_t), sizeof(uint64_t))};
    return gpi_check_arrays(ctx, f, arrays, 4);
}

gp_status gp_dist_compact(gp_comm *comm, const gp_dist_desc *dist, const gp_compact_desc *desc,
                          const void *in, const void *keep, size_t n, void *out,
                          uint64_t *out_count)
{
    struct compact_args c = {.a = {"gp_dist_compact", GPI_DIST_COMPACT, GP_OK},
                             .in = in,
                             .keep = keep,
                             .n = n,
                             .out = out,
                             .out_count = out_count};
    GPI_DIST_CALL(comm, c.a.function);
    c.a.status = check_compact(comm, dist, desc, &c);
    return gpi_dist_submit(comm, run_compact, &c, sizeof c);
}

gp_status gp_dist_compact_workspace_bytes(const gp_target *target, int ranks,
                                          const gp_compact_desc *desc, size_t n, size_t *bytes)
{
    static const char f[] = "gp_dist_compact_workspace_bytes";
    struct compact_args c = {.n = n};
    gp_target t;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &c.desc, GPI_FORM(gp_compact_desc)));
    GPI_TRY(gpi_check_figure(f, bytes));
    c.out_bytes = result_bytes(&c.desc);
    return gpi_dist_blame(NULL, f, bytes_needed(&t, &c, true, bytes));
}
