/* SPDX-License-Identifier: MIT */
/*
 * CSR by blocks of rows from a coordinate list over ranks:
 *   1. the borders of the blocks are found as those of a sort are (dist_select.c), by counts of
 *      rows in any order;
 *   2. each rank splits its rows, columns and values by their owner, stably, and what is split
 *      already goes there while the rest is;
 *   3. what came, in the order of ranks, becomes CSR as on one rank, duplicates too.
 *
 * The first row of a block is that of its first entry, so rows without entries belong to the
 * block before.
 */
#include <gp/csr.h>
#include <gp/multisplit.h>
#include <gp/reduce.h>

#include <inttypes.h>

#include "core/workspace.h"
#include "dist/dist_internal.h"

struct csr_args {
    struct gpi_dist_args a;
    gp_coo_desc desc;
    size_t index_bytes, offset_bytes, value_bytes; /* value_bytes: 0, a pattern */
    size_t num_rows, num_cols, nnz, row_room, room;
    const void *rows, *cols, *values;
    uint64_t *row_first;
    void *row_pointers, *out_cols, *out_values;
    uint64_t *out_nnz;
};

/* Rows, columns and values. */
enum { LISTS = 3 };

struct lists {
    char *of[LISTS];
};

/* Of this rank: its entries by owners, and those that it got. */
struct entries {
    struct lists split, got;
    void *numbers;                        /* of owners */
    uint64_t *scratch, *limits, *offsets; /* of rows; where owners begin */
    uint64_t count;
};

static size_t list_bytes(const struct csr_args *c, int list)
{
    return list == 2 ? c->value_bytes : c->index_bytes;
}

static size_t number_bytes(int ranks)
{
    return ranks <= 256 ? 1 : 4;
}

static gp_multisplit_desc split_desc(int ranks, size_t item_bytes)
{
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = item_bytes;
    d.num_buckets = (size_t)ranks;
    return d;
}

static gp_reduce_desc least_desc(const struct csr_args *c)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = gpi_dtype_unsigned(c->desc.index_dtype);
    d.op = GP_MIN;
    return d;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void raise_to(size_t *most, size_t bytes)
{
    *most = bytes > *most ? bytes : *most;
}

/* Of the calls of one rank, which come one after the other. */
static gp_status bytes_of_calls(const gp_target *target, int ranks, const struct csr_args *c,
                                uint64_t most, size_t *bytes)
{
    const gp_reduce_desc least = least_desc(c);
    size_t one = 0;
    *bytes = 0;
    GPI_TRY(
        gp_csr_from_coo_workspace_bytes(target, &c->desc, c->num_rows, c->num_cols, most, &one));
    raise_to(bytes, one);
    GPI_TRY(gp_reduce_workspace_bytes(target, &least, most, &one));
    raise_to(bytes, one);
    for (int i = 0; i < LISTS; i++) {
        const gp_multisplit_desc d = split_desc(ranks, list_bytes(c, i) ? list_bytes(c, i) : 1);
        GPI_TRY(gp_multisplit_workspace_bytes(target, &d, c->nnz, &one));
        raise_to(bytes, one);
    }
    return GP_OK;
}

static uint64_t bytes_of_lists(const struct csr_args *c, uint64_t n)
{
    return 2 * gpi_piece(n * c->index_bytes) + gpi_piece(n * c->value_bytes);
}

/* The most entries that this rank can get. */
static uint64_t bound(const struct csr_args *c, uint64_t total)
{
    return c->room < total ? c->room : total;
}

static gp_status bytes_needed(const gp_target *target, int ranks, const struct csr_args *c,
                              uint64_t most, size_t *bytes)
{
    const size_t word = sizeof(uint64_t), p = (size_t)ranks;
    GPI_TRY(bytes_of_calls(target, ranks, c, most, bytes));
    *bytes += gpi_piece(GPI_DIST_SCRATCH * word) + 2 * gpi_piece((p + 1) * word) +
              gpi_piece(c->nnz * number_bytes(ranks)) + bytes_of_lists(c, c->nnz) +
              bytes_of_lists(c, most);
    return GP_OK;
}

static struct lists take_lists(const struct csr_args *c, struct gpi_frame *frame, uint64_t n)
{
    struct lists l;
    for (int i = 0; i < LISTS; i++)
        l.of[i] = list_bytes(c, i) ? gpi_frame_take(frame, n * list_bytes(c, i)) : NULL;
    return l;
}

/* ---- to the owners --------------------------------------------------------------------------- */

/* What each rank gets, to comm->get, pieces of each rank's entries to comm->cuts, and the number of
 * the owner of each entry here. */
static gp_status find_owners(gp_comm *comm, const struct csr_args *c, const struct entries *e)
{
    const char *f = c->a.function;
    const gp_dtype index = gpi_dtype_unsigned(c->desc.index_dtype);
    const struct gpi_dist_keys keys = {
        c->rows, c->nnz, c->index_bytes, gpi_radix_order_of(index, GP_ASCENDING), e->scratch, true};
    const int borders = comm->ranks - 1;
    const gp_dist_desc even = {sizeof even, GP_DIST_EVEN, 0, NULL, 0};
    uint64_t limits[GP_COMM_RANKS_MAX] = {0};
    GPI_TRY(gpi_dist_place(comm, f, &even, gpi_dist_total(comm), NULL));
    GPI_TRY(gpi_dist_select(comm, f, &keys, 0, c->num_rows ? c->num_rows - 1 : 0, true, comm->get,
                            comm->cuts, limits));
    GPI_TRY(gpi_dist_check_room(comm, f));
    gp_status s = gpi_dist_put(comm, f, limits, (size_t)borders * sizeof limits[0], e->limits);
    if (s == GP_OK)
        s = gpi_dist_number_rows(comm, f, c->index_bytes, c->rows, c->nnz, e->limits, borders,
                                 number_bytes(comm->ranks), e->numbers);
    return s == GP_OK ? GP_OK : gpi_dist_drop(comm, s);
}

/* One list, to its owners, beside the stream where that can be. */
static gp_status send_list(gp_comm *comm, const struct csr_args *c, const struct entries *e,
                           int list)
{
    const size_t p = (size_t)comm->ranks, bytes = list_bytes(c, list);
    uint64_t *send_at = comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, place = 0;
    for (int r = 0; r < comm->ranks; r++) {
        send_at[r] = gpi_dist_cut(comm, comm->rank, r) * bytes;
        send_bytes[r] = gpi_dist_piece(comm, comm->rank, r) * bytes;
        recv_at[r] = place;
        place += recv_bytes[r] = gpi_dist_piece(comm, r, comm->rank) * bytes;
    }
    const struct gpi_route route = {e->split.of[list], send_at, send_bytes,
                                    e->got.of[list],   recv_at, recv_bytes};
    return gpi_dist_exchange_beside(comm, c->a.function, &route);
}

static gp_status send_all(gp_comm *comm, const struct csr_args *c, const struct entries *e)
{
    const void *const lists[LISTS] = {c->rows, c->cols, c->values};
    for (int i = 0; i < LISTS; i++) {
        if (!list_bytes(c, i))
            continue;
        const gp_multisplit_desc d = split_desc(comm->ranks, list_bytes(c, i));
        gp_status s = gpi_named(comm->ctx, c->a.function,
                                gp_multisplit_by(comm->ctx, &d, lists[i], e->numbers, c->nnz,
                                                 e->split.of[i], e->offsets));
        if (s == GP_OK && i == 1) /* rows are there before columns leave */
            s = gpi_dist_join(comm, c->a.function);
        if (s == GP_OK)
            s = gpi_dist_fork(comm, c->a.function);
        if (s != GP_OK)
            return gpi_dist_drop(comm, s);
        GPI_TRY(send_list(comm, c, e, i));
    }
    return GP_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Where blocks begin, to comm->get: words are the first row of each rank, or none. */
static void find_blocks(gp_comm *comm, const struct csr_args *c)
{
    uint64_t next = c->num_rows;
    for (int r = comm->ranks - 1; r >= 0; r--) {
        const uint64_t *words = comm->notes[r].words;
        if (words[0] && words[1] < next)
            next = words[1];
        comm->get[r] = r ? next : 0;
    }
}

static uint64_t block_rows(const gp_comm *comm, const struct csr_args *c, int r)
{
    return (r + 1 < comm->ranks ? comm->get[r + 1] : c->num_rows) - comm->get[r];
}

/* The least row that this rank got. */
static gp_status first_row(gp_comm *comm, const struct csr_args *c, const struct entries *e,
                           uint64_t *row)
{
    const gp_reduce_desc d = least_desc(c);
    if (e->count == 0)
        return GP_OK;
    GPI_TRY(gpi_named(comm->ctx, c->a.function,
                      gp_reduce_by(comm->ctx, &d, e->got.of[0], e->count, e->scratch)));
    return gpi_dist_fetch(comm, c->a.function, e->scratch, c->index_bytes, row);
}

/* All ranks have room for the rows of their blocks. */
static gp_status agree_on_blocks(gp_comm *comm, const struct csr_args *c, const struct entries *e)
{
    const char *f = c->a.function;
    uint64_t words[3] = {e->count, 0, c->row_room};
    const gp_status status = first_row(comm, c, e, &words[1]);
    GPI_TRY(gpi_dist_agree(comm, &c->a, status, words, 3));
    find_blocks(comm, c);
    for (int r = 0; r < comm->ranks; r++)
        if (block_rows(comm, c, r) > comm->notes[r].words[2])
            return gpi_fail(comm->ctx, GP_ERROR_CAPACITY,
                            "%s: rank %d gets %" PRIu64 " rows, and has room for %" PRIu64, f, r,
                            block_rows(comm, c, r), comm->notes[r].words[2]);
    return GP_OK;
}

static gp_status tell_blocks(gp_comm *comm, const struct csr_args *c)
{
    const size_t p = (size_t)comm->ranks;
    for (size_t r = 0; r < p; r++)
        comm->mine[r] = comm->get[r];
    comm->mine[p] = c->num_rows;
    return gpi_dist_put(comm, c->a.function, comm->mine, (p + 1) * sizeof(uint64_t), c->row_first);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The blocks, by rows alone: columns and values may still be on their way. Rows are counted from
 * that of the block. */
static gp_status make_blocks(gp_comm *comm, const struct csr_args *c, const struct entries *e)
{
    GPI_TRY(agree_on_blocks(comm, c, e));
    GPI_TRY(tell_blocks(comm, c));
    return gpi_dist_shift(comm, c->a.function, c->index_bytes, e->got.of[0], e->count,
                          0 - comm->get[comm->rank], c->index_bytes, e->got.of[0]);
}

static gp_status make_csr(gp_comm *comm, const struct csr_args *c, const struct entries *e)
{
    return gp_csr_from_coo(comm->ctx, &c->desc, block_rows(comm, c, comm->rank), c->num_cols,
                           e->got.of[0], e->got.of[1], e->got.of[2], e->count, c->row_pointers,
                           c->out_cols, c->out_values, c->out_nnz);
}

static gp_status run_in_frame(gp_comm *comm, const struct csr_args *c, uint64_t most,
                              struct gpi_frame *frame)
{
    const char *f = c->a.function;
    const size_t words = ((size_t)comm->ranks + 1) * sizeof(uint64_t);
    struct entries e = {.count = 0};
    e.scratch = gpi_frame_take(frame, GPI_DIST_SCRATCH * sizeof(uint64_t));
    e.limits = gpi_frame_take(frame, words);
    e.offsets = gpi_frame_take(frame, words);
    e.numbers = gpi_frame_take(frame, c->nnz * number_bytes(comm->ranks));
    e.split = take_lists(c, frame, c->nnz);
    e.got = take_lists(c, frame, most);
    GPI_TRY(find_owners(comm, c, &e));
    e.count = comm->get[comm->rank];
    const gp_status sent = send_all(comm, c, &e);
    if (sent != GP_OK) {
        gpi_dist_join(comm, f); /* before the memory has other uses */
        return sent;
    }
    const gp_status blocks = make_blocks(comm, c, &e), over = gpi_dist_conclude(comm, f);
    GPI_TRY(blocks);
    GPI_TRY(over);
    return gpi_named(comm->ctx, f, make_csr(comm, c, &e));
}

static gp_status run_csr(gp_comm *comm, void *args)
{
    struct csr_args *c = args;
    struct gpi_frame frame = {NULL, 0, 0};
    struct gpi_note note = {.status = (uint32_t)c->a.status,
                            .dtype = (uint32_t)c->desc.index_dtype |
                                     (uint32_t)c->desc.offset_dtype << 8 |
                                     (uint32_t)c->desc.value_dtype << 16,
                            .op = (uint32_t)c->desc.duplicates,
                            .item = c->num_rows,
                            .n = c->nnz,
                            .capacity = c->room};
    size_t need = 0;
    note.hash = gpi_dist_hash(0, &c->num_cols, sizeof c->num_cols);
    GPI_TRY(gpi_dist_meet(comm, &c->a, &note));
    const uint64_t total = gpi_dist_total(comm);
    const gp_target target = gpi_target_of(comm->ctx);
    gp_status status = gpi_dist_blame(
        comm->ctx, c->a.function, bytes_needed(&target, comm->ranks, c, bound(c, total), &need));
    if (status == GP_OK)
        status = gpi_frame_open(comm->ctx, c->a.function, need, &frame);
    status = gpi_dist_agree(comm, &c->a, status, NULL, 0);
    if (status == GP_OK)
        status = run_in_frame(comm, c, bound(c, total), &frame);
    gpi_frame_close(&frame);
    return status;
}

static gp_status check_arrays(gp_comm *comm, const struct csr_args *c)
{
    const uint64_t n = c->nnz, word = sizeof(uint64_t);
    const size_t ib = c->index_bytes, ob = c->offset_bytes,
                 vb = c->value_bytes ? c->value_bytes : 1;
    const struct gpi_array arrays[] = {
        GPI_READ("rows", c->rows, n * ib, ib),
        GPI_READ("cols", c->cols, n * ib, ib),
        GPI_READ("values", c->values, n * c->value_bytes, vb),
        GPI_WRITE("row_first", c->row_first, ((uint64_t)comm->ranks + 1) * word, word),
        GPI_WRITE("row_pointers", c->row_pointers, ((uint64_t)c->row_room + 1) * ob, ob),
        GPI_WRITE("out_cols", c->out_cols, (uint64_t)c->room * ib, ib),
        GPI_WRITE("out_values", c->out_values, (uint64_t)c->room * c->value_bytes, vb),
        GPI_WRITE("out_nnz", c->out_nnz, word, word)};
    return gpi_check_arrays(comm->ctx, c->a.function, arrays, 8);
}

static void widths(struct csr_args *c)
{
    c->index_bytes = gpi_dtype_bytes(c->desc.index_dtype);
    c->offset_bytes = gpi_dtype_bytes(c->desc.offset_dtype);
    c->value_bytes = gpi_dtype_bytes(c->desc.value_dtype);
}

static gp_status check_csr(gp_comm *comm, const gp_coo_desc *given, struct csr_args *c)
{
    const char *f = c->a.function;
    gp_context *ctx = comm->ctx;
    const gp_target target = gpi_target_of(ctx);
    gp_coo_desc *d = &c->desc;
    size_t bytes;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_coo_desc)));
    GPI_TRY(gpi_dist_blame(
        ctx, f,
        gp_csr_from_coo_workspace_bytes(&target, d, c->num_rows, c->num_cols, c->nnz, &bytes)));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_nnz", (uintptr_t)d->device_nnz));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_num_rows", (uintptr_t)d->device_num_rows));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->permutation", (uintptr_t)d->permutation));
    GPI_TRY(gpi_check_n(ctx, f, "row_room", c->row_room));
    GPI_TRY(gpi_check_n(ctx, f, "room", c->room));
    widths(c);
    return check_arrays(comm, c);
}

gp_status gp_dist_csr_from_coo(gp_comm *comm, const gp_coo_desc *desc, size_t num_rows,
                               size_t num_cols, const void *rows, const void *cols,
                               const void *values, size_t nnz, uint64_t *row_first, size_t row_room,
                               void *row_pointers, size_t room, void *out_cols, void *out_values,
                               uint64_t *out_nnz)
{
    struct csr_args c = {.a = {"gp_dist_csr_from_coo", GPI_DIST_CSR_FROM_COO, GP_OK},
                         .num_rows = num_rows,
                         .num_cols = num_cols,
                         .nnz = nnz,
                         .row_room = row_room,
                         .room = room,
                         .rows = rows,
                         .cols = cols,
                         .values = values,
                         .row_first = row_first,
                         .row_pointers = row_pointers,
                         .out_cols = out_cols,
                         .out_values = out_values,
                         .out_nnz = out_nnz};
    GPI_DIST_CALL(comm, c.a.function);
    c.a.status = check_csr(comm, desc, &c);
    return gpi_dist_submit(comm, run_csr, &c, sizeof c);
}

gp_status gp_dist_csr_from_coo_workspace_bytes(const gp_target *target, int ranks,
                                               const gp_coo_desc *desc, size_t num_rows,
                                               size_t num_cols, size_t nnz, size_t room,
                                               size_t *bytes)
{
    static const char f[] = "gp_dist_csr_from_coo_workspace_bytes";
    struct csr_args c = {.num_rows = num_rows, .num_cols = num_cols, .nnz = nnz, .room = room};
    gp_target t;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &c.desc, GPI_FORM(gp_coo_desc)));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_dist_blame(
        NULL, f, gp_csr_from_coo_workspace_bytes(&t, &c.desc, num_rows, num_cols, nnz, bytes)));
    GPI_TRY(gpi_check_n(NULL, f, "room", room));
    widths(&c);
    return gpi_dist_blame(NULL, f, bytes_needed(&t, ranks, &c, room, bytes));
}
