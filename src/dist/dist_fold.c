/* SPDX-License-Identifier: MIT */
/*
 * Folding what ranks have reduced. The part of a rank travels in its note, and every rank folds
 * them on the CPU; NCCL takes it out of the GPU's memory. Where GPUs see each other's memory, parts
 * go from GPU to GPU (dist_mail_internal.h), and no host waits for one.
 */
#include <string.h>

#include "core/cuda.h"
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

bool gpi_fold_by_mail(const gp_comm *comm, const struct gpi_fold *f)
{
    return comm->mail && f->part == f->out;
}

/* The part of this rank in the context's memory. */
gp_status gpi_fold_reduce_here(gp_comm *comm, const char *name, const struct gpi_fold *f,
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
    return gpi_fold_reduce_here(comm, name, f, in, n, place);
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
    GPI_TRY(gpi_fold_reduce_here(comm, name, f, in, n, place));
    return gpi_dist_fetch(comm, name, place, f->part_bytes, part);
}

/* What this rank will take of the workspace: all learn of a lack of it by the note. */
static gp_status make_room(gp_comm *comm, const char *name, const struct gpi_fold *f, size_t need,
                           uint64_t n)
{
    const gp_target target = gpi_target_of(comm->ctx);
    const gp_reduce_desc d = gpi_fold_reduction(f, f->in);
    size_t part = 0;
    GPI_TRY(gp_reduce_workspace_bytes(&target, &d, n, &part));
    GPI_FRAME(frame, comm->ctx, name, part > need ? part : need);
    return GP_OK;
}

/* The part of this rank to its note, or to where NCCL takes it from. */
static gp_status part_to_note(gp_comm *comm, const char *name, const struct gpi_fold *f,
                              const void *known, const void *in, size_t n, struct gpi_note *note)
{
    if (!n || !comm->transport->words_place || (known && f->part != f->out))
        return part_here(comm, name, f, known, in, n, note->words);
    note->magic = GPI_NOTE_OF_GPU;
    return part_to(comm, name, f, known, in, n, comm->transport->words_place(comm));
}

gp_status gpi_fold_meet(gp_comm *comm, struct gpi_dist_args *a, const struct gpi_fold *f,
                        uint32_t kind, size_t need, const void *known, const void *in, size_t n)
{
    const bool by_mail = gpi_fold_by_mail(comm, f);
    const bool last = a->number == GPI_DIST_SCAN && comm->rank == comm->ranks - 1;
    struct gpi_note note = {.n = n};
    if (a->status == GP_OK && !by_mail)
        a->status = gpi_dist_check_capture(comm, a->function);
    if (a->status == GP_OK && by_mail)
        a->status = make_room(comm, a->function, f, need, n);
    else if (a->status == GP_OK) /* the part of the last rank precedes none */
        a->status = part_to_note(comm, a->function, f, known, in, last ? 0 : n, &note);
    note.status = (uint32_t)a->status;
    note.dtype = (uint32_t)f->in | (uint32_t)f->out << 8;
    note.op = (uint32_t)f->op;
    note.hash = gpi_dist_hash(kind, f->init, f->has_init ? f->out_bytes : 0);
    note.hash += f->has_init;
    return gpi_dist_meet(comm, a, &note);
}

/* ---- parts of all ---------------------------------------------------------------------------- */

int gpi_fold_count(const gp_comm *comm, const struct gpi_fold *f, int ranks)
{
    int count = f->has_init;
    for (int r = 0; r < ranks; r++)
        count += comm->notes[r].n != 0;
    return count;
}

/* A round of mail: in one kernel, or, where ranks share a GPU or a graph, in two with events
 * between them. No rank goes on before the kernels of all are queued: what it does next could keep
 * another one from queueing the kernel that its own waits for. */
static gp_status run_round(gp_comm *comm, const char *name, struct gpi_mailing *m)
{
    const struct gpi_dist_kernel k = {.task = GPI_DIST_MAIL, .mailing = m};
    const bool shared = comm->shares_gpu || comm->capture == GPI_DIST_AS_ONE;
    char mine = 0, all[GPI_MAIL_RANKS];
    m->sends = true;
    m->receives = !shared;
    GPI_TRY(gpi_dist_launch(comm, name, &k));
    if (shared)
        GPI_TRY(comm->transport->announce(comm, name));
    GPI_TRY(comm->transport->gather(comm, name, &mine, 1, all));
    if (!shared)
        return GP_OK;
    GPI_TRY(comm->transport->follow(comm, name));
    m->sends = false;
    m->receives = true;
    return gpi_dist_launch(comm, name, &k);
}

gp_status gpi_fold_deliver(gp_comm *comm, const char *name, const struct gpi_fold *f,
                           struct gpi_mailing *m)
{
    m->rank = comm->rank;
    m->ranks = comm->ranks;
    m->dtype = f->out;
    m->op = f->op;
    m->has_init = m->has_init && f->has_init;
    memcpy(m->init, f->init, sizeof m->init);
    gpi_local_address(comm, m);
    for (int r = 0; r < comm->ranks; r++)
        m->present |= (uint32_t)(comm->notes[r].n != 0) << r;
    const gp_status s = run_round(comm, name, m);
    return s == GP_OK ? GP_OK : gpi_dist_drop(comm, s); /* the others would wait */
}

/* init and the parts of ranks, as they came with notes. */
static void list_parts(const gp_comm *comm, const struct gpi_fold *f, int ranks, char *parts)
{
    if (f->has_init)
        part_of_item(f, f->init, parts);
    parts += f->has_init ? f->part_bytes : 0;
    for (int r = 0; r < ranks; r++)
        if (comm->notes[r].n) {
            memcpy(parts, comm->notes[r].words, f->part_bytes);
            parts += f->part_bytes;
        }
}

gp_status gpi_fold_parts(gp_comm *comm, const char *name, const struct gpi_fold *f, int ranks,
                         void *item)
{
    const gp_reduce_desc d = gpi_fold_reduction(f, f->part);
    char *parts = (char *)comm->table, result[GPI_DIST_ITEM_MAX];
    list_parts(comm, f, ranks, parts);
    const gp_status s =
        gp_reduce_by(comm->fold, &d, parts, (size_t)gpi_fold_count(comm, f, ranks), result);
    if (s != GP_OK)
        return gpi_fail(comm->ctx, s, "%s: folding parts: %s", name, gp_last_error(comm->fold));
    item_of_part(f, result, item);
    return GP_OK;
}

/* ---- workspace ------------------------------------------------------------------------------- */

gp_status gpi_fold_bytes(const gp_target *target, const struct gpi_fold *f, uint64_t n,
                         size_t *bytes)
{
    const gp_reduce_desc here = gpi_fold_reduction(f, f->in);
    GPI_TRY(gp_reduce_workspace_bytes(target, &here, n, bytes));
    *bytes += gpi_piece(GPI_DIST_ITEM_MAX);
    return GP_OK;
}
