/* SPDX-License-Identifier: MIT */
/*
 * CSR by blocks of rows from a coordinate list over ranks: entries, columns and values packed into
 * records, are sorted by row, each row to one rank; there the list becomes CSR as on one rank.
 *
 * The first row of a block is that of its first entry, so rows without entries belong to the block
 * before. The sort is stable: duplicates meet in the order of ranks and of entries in each.
 */
#include <gp/csr.h>
#include <gp/gather.h>

#include <inttypes.h>

#include "dist/dist_sort_internal.h"

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

/* Of this rank: records to be sorted; rows and records that it got, and what they are made of. */
struct entries {
    char *records, *rows_got, *records_got, *cols, *values;
    uint64_t got;
};

static size_t record_bytes(const struct csr_args *c)
{
    return c->index_bytes + c->value_bytes;
}

/* One field of records: of that many bytes, and strides of which 0 is that. */
static gp_status move_field(gp_comm *comm, size_t bytes, const void *in, size_t in_stride,
                            uint64_t n, void *out, size_t out_stride)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = bytes;
    d.in_items = n;
    d.in_stride = in_stride;
    d.out_stride = out_stride;
    return n ? gp_gather_by(comm->ctx, &d, in, NULL, n, out) : GP_OK;
}

static gp_status pack(gp_comm *comm, const struct csr_args *c, char *records)
{
    const size_t bytes = record_bytes(c);
    GPI_TRY(move_field(comm, c->index_bytes, c->cols, 0, c->nnz, records, bytes));
    if (!c->value_bytes)
        return GP_OK;
    return move_field(comm, c->value_bytes, c->values, 0, c->nnz, records + c->index_bytes, bytes);
}

static gp_status unpack(gp_comm *comm, const struct csr_args *c, const struct entries *e)
{
    const size_t bytes = record_bytes(c);
    GPI_TRY(move_field(comm, c->index_bytes, e->records_got, bytes, e->got, e->cols, 0));
    if (!c->value_bytes)
        return GP_OK;
    return move_field(comm, c->value_bytes, e->records_got + c->index_bytes, bytes, e->got,
                      e->values, 0);
}

static struct gpi_sort_args sort_of(const struct csr_args *c, const struct entries *e)
{
    struct gpi_sort_args s = {.a = c->a,
                              .dtype = c->desc.index_dtype,
                              .order = GP_ASCENDING,
                              .key_bytes = c->index_bytes,
                              .value_bytes = record_bytes(c),
                              .keys_in = c->rows,
                              .values_in = e->records,
                              .n = c->nnz,
                              .keys_out = e->rows_got,
                              .values_out = e->records_got};
    s.desc = (gp_dist_desc)GP_DIST_DESC_INIT;
    s.desc.result = GP_DIST_FREE;
    s.desc.capacity = c->room;
    return s;
}

/* The most entries that this rank can get. */
static uint64_t bound(const struct csr_args *c, uint64_t total)
{
    return c->room < total ? c->room : total;
}

static gp_status bytes_needed(gp_comm *comm, const struct csr_args *c, uint64_t total,
                              size_t *bytes)
{
    const struct entries none = {NULL, NULL, NULL, NULL, NULL, 0};
    const struct gpi_sort_args s = sort_of(c, &none);
    const gp_target target = gpi_target_of(comm->ctx);
    const uint64_t most = bound(c, total);
    size_t sort = 0, csr = 0;
    GPI_TRY(gpi_dist_sort_bytes(comm, &s, most, &sort));
    GPI_TRY(gpi_dist_blame(
        comm->ctx, c->a.function,
        gp_csr_from_coo_workspace_bytes(&target, &c->desc, c->num_rows, c->num_cols, most, &csr)));
    csr += gpi_piece(most * c->index_bytes) + gpi_piece(most * c->value_bytes);
    *bytes =
        gpi_piece(c->nnz * record_bytes(c)) + gpi_run_bytes(&s, most) + (sort > csr ? sort : csr);
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

/* All ranks have room for the rows of their blocks. */
static gp_status agree_on_blocks(gp_comm *comm, const struct csr_args *c, const struct entries *e)
{
    const char *f = c->a.function;
    uint64_t words[3] = {e->got, 0, c->row_room};
    gp_status status = GP_OK;
    if (e->got)
        status = gpi_dist_fetch(comm, f, e->rows_got, c->index_bytes, &words[1]);
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

/* What this rank got, as CSR, with rows counted from that of its block. */
static gp_status make_csr(gp_comm *comm, const struct csr_args *c, struct entries *e)
{
    const uint64_t first = comm->get[comm->rank], rows = block_rows(comm, c, comm->rank);
    GPI_FRAME(frame, comm->ctx, c->a.function,
              gpi_piece(e->got * c->index_bytes) + gpi_piece(e->got * c->value_bytes));
    e->cols = gpi_frame_take(&frame, e->got * c->index_bytes);
    e->values = c->value_bytes ? gpi_frame_take(&frame, e->got * c->value_bytes) : NULL;
    GPI_TRY(unpack(comm, c, e));
    GPI_TRY(gpi_dist_shift(comm, c->a.function, c->index_bytes, e->rows_got, e->got, 0 - first,
                           c->index_bytes, e->rows_got));
    return gp_csr_from_coo(comm->ctx, &c->desc, rows, c->num_cols, e->rows_got, e->cols, e->values,
                           e->got, c->row_pointers, c->out_cols, c->out_values, c->out_nnz);
}

static gp_status run_in_frame(gp_comm *comm, struct csr_args *c, uint64_t most,
                              struct gpi_frame *frame)
{
    const char *f = c->a.function;
    struct entries e = {.got = 0};
    e.records = gpi_frame_take(frame, c->nnz * record_bytes(c));
    e.rows_got = gpi_frame_take(frame, most * c->index_bytes);
    e.records_got = gpi_frame_take(frame, most * record_bytes(c));
    c->a.status = gpi_named(comm->ctx, f, pack(comm, c, e.records));
    struct gpi_sort_args s = sort_of(c, &e);
    GPI_TRY(gpi_dist_run_sort(comm, &s)); /* meets, with this rank's status */
    e.got = comm->get[comm->rank];
    GPI_TRY(agree_on_blocks(comm, c, &e));
    GPI_TRY(tell_blocks(comm, c));
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
    gp_status status = bytes_needed(comm, c, total, &need);
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
    c->index_bytes = gpi_dtype_bytes(d->index_dtype);
    c->offset_bytes = gpi_dtype_bytes(d->offset_dtype);
    c->value_bytes = gpi_dtype_bytes(d->value_dtype);
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
