/* SPDX-License-Identifier: MIT */
/*
 * Folding what ranks have reduced. The part of a rank travels in its note, and every rank folds
 * them on the CPU; NCCL takes it out of the GPU's memory. Where GPUs see each other's memory, a
 * part stays on its GPU, and its address travels: the others read it behind an event, and no host
 * waits for a GPU.
 */
#include <string.h>

#include "core/half.h"
#include "core/workspace.h"
#include "dist/dist_fold_internal.h"

struct gpi_fold gpi_fold_of(gp_dtype in, gp_dtype out, gp_op op, const void *init)
{
    struct gpi_fold f = {.in = in, .out = out ? out : in, .op = op, .has_init = init != NULL};
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
static void part_of_item(const struct gpi_fold *f, const void *item, void *part)
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

static void item_of_part(const struct gpi_fold *f, const void *part, void *item)
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

gp_reduce_desc gpi_fold_reduction(const struct gpi_fold *f, gp_dtype from)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = from;
    d.out_dtype = f->part;
    d.op = f->op;
    return d;
}

/* ---- parts here ------------------------------------------------------------------------------ */

bool gpi_fold_is_posted(const gp_comm *comm, const struct gpi_fold *f)
{
    return comm->mail && comm->ranks <= GPI_DIST_POSTS && f->part == f->out;
}

/* Two places take turns: who writes to one again has waited for work of all others that comes
 * behind their reading of it. */
static void *post_of(const gp_comm *comm)
{
    return comm->mail + comm->posts % 2 * GPI_DIST_ITEM_MAX;
}

/* The part of this rank in the context's memory. */
static gp_status reduce_here(gp_comm *comm, const char *name, const struct gpi_fold *f,
                             const void *in, size_t n, void *part)
{
    const gp_reduce_desc d = gpi_fold_reduction(f, f->in);
    return gpi_named(comm->ctx, name, gp_reduce_by(comm->ctx, &d, in, n, part));
}

/* The part to memory of this rank's GPU; f->part is f->out if it is known. */
static gp_status part_to(gp_comm *comm, const char *name, const struct gpi_fold *f,
                         const void *known, const void *in, size_t n, void *place)
{
    if (known)
        return gpi_dist_copy_few(comm, name, known, f->out_bytes, 1, place);
    return reduce_here(comm, name, f, in, n, place);
}

static gp_status post(gp_comm *comm, const char *name, const struct gpi_fold *f, const void *known,
                      const void *in, size_t n, uint64_t *address)
{
    void *place = post_of(comm);
    *address = (uintptr_t)place;
    if (n)
        GPI_TRY(part_to(comm, name, f, known, in, n, place));
    return comm->transport->announce(comm, name);
}

static gp_status part_here(gp_comm *comm, const char *name, const struct gpi_fold *f,
                           const void *known, const void *in, size_t n, void *part)
{
    const gp_reduce_desc d = gpi_fold_reduction(f, f->in);
    const gp_target target = gpi_target_of(comm->ctx);
    char item[GPI_DIST_ITEM_MAX];
    size_t need = 0;
    if (n == 0)
        return GP_OK;
    if (known) {
        GPI_TRY(gpi_dist_fetch(comm, name, known, f->out_bytes, item));
        part_of_item(f, item, part);
        return GP_OK;
    }
    GPI_TRY(gp_reduce_workspace_bytes(&target, &d, n, &need));
    GPI_FRAME(frame, comm->ctx, name, need + gpi_piece(GPI_DIST_ITEM_MAX));
    void *place = gpi_frame_take(&frame, GPI_DIST_ITEM_MAX);
    GPI_TRY(reduce_here(comm, name, f, in, n, place));
    return gpi_dist_fetch(comm, name, place, f->part_bytes, part);
}

gp_status gpi_fold_meet(gp_comm *comm, struct gpi_dist_args *a, const struct gpi_fold *f,
                        uint32_t kind, const void *known, const void *in, size_t n)
{
    const bool posted = gpi_fold_is_posted(comm, f);
    const bool last = a->number == GPI_DIST_SCAN && comm->rank == comm->ranks - 1;
    const size_t needed = last ? 0 : n; /* the part of the last rank precedes none */
    struct gpi_note note = {.n = n};
    if (a->status == GP_OK && posted)
        a->status = post(comm, a->function, f, known, in, needed, note.words);
    else if (a->status == GP_OK && needed && comm->transport->words_place &&
             (!known || f->part == f->out)) {
        note.magic = GPI_NOTE_OF_GPU;
        a->status = part_to(comm, a->function, f, known, in, n, comm->transport->words_place(comm));
    } else if (a->status == GP_OK)
        a->status = part_here(comm, a->function, f, known, in, needed, note.words);
    note.status = (uint32_t)a->status;
    note.dtype = (uint32_t)f->in | (uint32_t)f->out << 8;
    note.op = (uint32_t)f->op;
    note.hash = gpi_dist_hash(kind, f->init, f->has_init ? f->out_bytes : 0);
    note.hash += f->has_init;
    GPI_TRY(gpi_dist_meet(comm, a, &note));
    if (!posted)
        return GP_OK;
    comm->posts++;
    return comm->transport->follow(comm, a->function);
}

/* ---- parts of all ---------------------------------------------------------------------------- */

int gpi_fold_count(const gp_comm *comm, const struct gpi_fold *f, int ranks)
{
    int count = f->has_init;
    for (int r = 0; r < ranks; r++)
        count += comm->notes[r].n != 0;
    return count;
}

/* init and the parts of ranks on a GPU, and behind them n items. */
gp_status gpi_fold_collect(gp_comm *comm, const char *name, const struct gpi_fold *f, int ranks,
                           const void *in, uint64_t n, void *out)
{
    struct gpi_dist_collection c = {.item_bytes = f->part_bytes, .in = in, .n = n, .out = out};
    memcpy(c.given, f->init, sizeof c.given);
    c.count = f->has_init;
    for (int r = 0; r < ranks; r++)
        if (comm->notes[r].n)
            c.item[c.count++] = (const void *)(uintptr_t)comm->notes[r].words[0];
    return gpi_dist_collect(comm, name, &c);
}

/* The same in host memory. */
static gp_status list_parts(gp_comm *comm, const char *name, const struct gpi_fold *f, int ranks,
                            char *parts)
{
    const size_t bytes = (size_t)gpi_fold_count(comm, f, ranks) * f->part_bytes;
    if (gpi_fold_is_posted(comm, f)) {
        GPI_FRAME(frame, comm->ctx, name, gpi_piece(bytes));
        void *place = gpi_frame_take(&frame, bytes);
        GPI_TRY(gpi_fold_collect(comm, name, f, ranks, NULL, 0, place));
        return gpi_dist_fetch(comm, name, place, bytes, parts);
    }
    if (f->has_init)
        part_of_item(f, f->init, parts);
    parts += f->has_init ? f->part_bytes : 0;
    for (int r = 0; r < ranks; r++)
        if (comm->notes[r].n) {
            memcpy(parts, comm->notes[r].words, f->part_bytes);
            parts += f->part_bytes;
        }
    return GP_OK;
}

gp_status gpi_fold_parts(gp_comm *comm, const char *name, const struct gpi_fold *f, int ranks,
                         void *item)
{
    const gp_reduce_desc d = gpi_fold_reduction(f, f->part);
    char *parts = (char *)comm->table, result[GPI_DIST_ITEM_MAX];
    GPI_TRY(list_parts(comm, name, f, ranks, parts));
    const gp_status s =
        gp_reduce_by(comm->fold, &d, parts, (size_t)gpi_fold_count(comm, f, ranks), result);
    if (s != GP_OK)
        return gpi_fail(comm->ctx, s, "%s: folding parts: %s", name, gp_last_error(comm->fold));
    item_of_part(f, result, item);
    return GP_OK;
}

/* ---- workspace ------------------------------------------------------------------------------- */

gp_status gpi_fold_bytes(const gp_target *target, const struct gpi_fold *f, int ranks, uint64_t n,
                         size_t *bytes)
{
    const gp_reduce_desc here = gpi_fold_reduction(f, f->in), all = gpi_fold_reduction(f, f->part);
    const size_t parts = (size_t)ranks + 1;
    size_t of_parts = 0;
    GPI_TRY(gp_reduce_workspace_bytes(target, &here, n, bytes));
    GPI_TRY(gp_reduce_workspace_bytes(target, &all, parts, &of_parts));
    *bytes += gpi_piece(GPI_DIST_ITEM_MAX);
    of_parts += gpi_piece(parts * f->part_bytes);
    *bytes = of_parts > *bytes ? of_parts : *bytes;
    return GP_OK;
}
