/* SPDX-License-Identifier: MIT */
/* Notes: what ranks tell each other at the beginning of a call and of its stages. */
#include <inttypes.h>
#include <string.h>

#include "dist/dist_internal.h"

enum { NOTE_MAGIC = 0x67704e31, STAGE_BITS = 8 };

static const char *const names[GPI_DIST_FUNCTIONS] = {
    "none",
    "gp_dist_reduce",
    "gp_dist_scan",
    "gp_dist_sort",
    "gp_dist_sort_pairs",
    "gp_dist_argsort",
    "gp_dist_top_k",
    "gp_dist_histogram",
    "gp_dist_compact",
    "gp_dist_rebalance",
    "gp_dist_exchange",
    "gp_dist_group_by",
    "gp_dist_csr_from_coo",
    "gp_dist_halo_create",
    "gp_dist_spmv",
};

static const char *name_of(uint32_t function)
{
    return function < GPI_DIST_FUNCTIONS ? names[function] : "?";
}

/* FNV-1a of the words, which notices every single bit. */
uint32_t gpi_dist_hash(uint32_t seed, const void *memory, size_t bytes)
{
    const unsigned char *b = memory;
    uint32_t h = seed ^ 2166136261u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ b[i]) * 16777619u;
    return h;
}

static uint64_t check_of(const struct gpi_note *note)
{
    struct gpi_note n = *note;
    uint64_t words[sizeof n / 8], h = 0xcbf29ce484222325;
    n.check = 0;
    if (n.magic == GPI_NOTE_OF_GPU)
        memset(n.words, 0, sizeof n.words);
    memcpy(words, &n, sizeof n);
    for (size_t i = 0; i < sizeof n / 8; i++) {
        h = (h ^ words[i]) * 0x100000001b3;
        h ^= h >> 29;
    }
    return h;
}

/* All notes are whole. */
static gp_status check_whole(gp_comm *comm, const char *f)
{
    for (int r = 0; r < comm->ranks; r++) {
        const struct gpi_note *n = &comm->notes[r];
        if ((n->magic != NOTE_MAGIC && n->magic != GPI_NOTE_OF_GPU) || n->check != check_of(n))
            return gpi_dist_break(comm, f, "the note of rank %d arrived damaged", r);
    }
    return GP_OK;
}

/* All ranks are in the same stage of the same call. */
static gp_status check_same_call(gp_comm *comm, const char *f)
{
    const struct gpi_note *n = comm->notes;
    uint64_t latest = 0;
    for (int r = 0; r < comm->ranks; r++)
        latest = n[r].sequence > latest ? n[r].sequence : latest;
    for (int r = 1; r < comm->ranks; r++) {
        if (n[r].function == n[0].function && n[r].sequence == n[0].sequence)
            continue;
        comm->sequence = latest; /* so that the next call is the same one on all ranks again */
        return gpi_fail(comm->ctx, GP_ERROR_COLLECTIVE,
                        "%s: rank %d is in %s, its call %" PRIu64
                        ", rank 0 in %s, its call %" PRIu64,
                        f, r, name_of(n[r].function), n[r].sequence >> STAGE_BITS,
                        name_of(n[0].function), n[0].sequence >> STAGE_BITS);
    }
    return GP_OK;
}

/* No rank has an error; that of this rank keeps its text. */
static gp_status check_statuses(gp_comm *comm, const char *f)
{
    for (int r = 0; r < comm->ranks; r++) {
        const gp_status s = (gp_status)comm->notes[r].status;
        if (s == GP_OK)
            continue;
        if (r == comm->rank)
            return s;
        return gpi_fail(comm->ctx, s, "%s: on rank %d %s", f, r, gp_status_string(s));
    }
    return GP_OK;
}

static gp_status differ(gp_comm *comm, const char *f, const char *what, int r, uint64_t a,
                        uint64_t b)
{
    return gpi_fail(comm->ctx, GP_ERROR_COLLECTIVE,
                    "%s: %s is %" PRIu64 " on rank %d and %" PRIu64 " on rank 0", f, what, a, r, b);
}

/* The same types and descriptors. */
static gp_status check_alike(gp_comm *comm, const char *f)
{
    const struct gpi_note *n = comm->notes;
    for (int r = 1; r < comm->ranks; r++) {
        if (n[r].dtype != n[0].dtype)
            return gpi_fail(comm->ctx, GP_ERROR_COLLECTIVE,
                            "%s: the dtype is %s on rank %d and %s on rank 0", f,
                            gp_dtype_string((gp_dtype)(n[r].dtype & 0xff)), r,
                            gp_dtype_string((gp_dtype)(n[0].dtype & 0xff)));
        if (n[r].op != n[0].op)
            return differ(comm, f, "the operator or order", r, n[r].op, n[0].op);
        if (n[r].item != n[0].item)
            return differ(comm, f, "the size of an item, or k, or bins", r, n[r].item, n[0].item);
        if (n[r].hash != n[0].hash)
            return gpi_fail(comm->ctx, GP_ERROR_COLLECTIVE,
                            "%s: the descriptor of rank %d is not that of rank 0", f, r);
    }
    return GP_OK;
}

static gp_status swap_notes(gp_comm *comm, const struct gpi_dist_args *a, struct gpi_note *note)
{
    note->magic = note->magic == GPI_NOTE_OF_GPU ? GPI_NOTE_OF_GPU : NOTE_MAGIC;
    note->function = a->number;
    note->sequence = comm->sequence;
    note->check = check_of(note);
    GPI_TRY(comm->transport->gather(comm, a->function, note, sizeof *note, comm->notes));
    GPI_TRY(check_whole(comm, a->function));
    GPI_TRY(check_same_call(comm, a->function));
    return check_statuses(comm, a->function);
}

/* All ranks are captured. Those that share a GPU would wait for each other's multiprocessors if
 * each had a graph of its own. */
static gp_status compare_graphs(gp_comm *comm, const char *f, uint64_t graph)
{
    comm->capture = GPI_DIST_AS_ONE;
    for (int r = 0; r < comm->ranks; r++)
        if (comm->notes[r].words[GPI_NOTE_CAPTURE] != graph)
            comm->capture = GPI_DIST_APART;
    return comm->capture == GPI_DIST_APART && comm->shares_gpu
               ? gpi_fail(comm->ctx, GP_ERROR_UNSUPPORTED,
                          "%s: ranks share a GPU, and their streams are captured into more than "
                          "one graph",
                          f)
               : GP_OK;
}

gp_status gpi_dist_meet(gp_comm *comm, const struct gpi_dist_args *a, struct gpi_note *note)
{
    const bool cuda = comm->ctx->backend == GP_BACKEND_CUDA;
    const uint64_t graph = cuda ? gpi_dist_cuda_graph(comm->ctx) : 0;
    comm->sequence = ((comm->sequence >> STAGE_BITS) + 1) << STAGE_BITS;
    if (graph) {
        note->words[GPI_NOTE_CAPTURE] = graph;
        note->hash++; /* all ranks are captured, or none */
    }
    GPI_TRY(swap_notes(comm, a, note));
    GPI_TRY(check_alike(comm, a->function));
    return graph ? compare_graphs(comm, a->function, graph) : GP_OK;
}

gp_status gpi_dist_agree(gp_comm *comm, const struct gpi_dist_args *a, gp_status status,
                         const uint64_t *words, int count)
{
    struct gpi_note note = comm->notes[comm->rank];
    comm->sequence++;
    note.magic = NOTE_MAGIC;
    note.status = (uint32_t)status;
    if (count)
        memcpy(note.words, words, (size_t)count * sizeof *words);
    return swap_notes(comm, a, &note);
}

gp_status gpi_dist_gather_words(gp_comm *comm, const char *f, gp_status status, int count)
{
    const size_t row = (size_t)count + 1;
    comm->mine[0] = (uint64_t)status;
    GPI_TRY(comm->transport->gather(comm, f, comm->mine, row * sizeof *comm->mine, comm->table));
    for (int r = 0; r < comm->ranks; r++) {
        const gp_status s = (gp_status)comm->table[(size_t)r * row];
        if (s == GP_OK)
            continue;
        return r == comm->rank
                   ? s
                   : gpi_fail(comm->ctx, s, "%s: on rank %d %s", f, r, gp_status_string(s));
    }
    return GP_OK;
}

gp_status gpi_dist_blame(gp_context *ctx, const char *function, gp_status status)
{
    const char *text = gp_last_error(NULL), *colon = strstr(text, ": ");
    if (status == GP_OK)
        return GP_OK;
    return gpi_fail(ctx, status, "%s: %s", function, colon ? colon + 2 : text);
}
