/* SPDX-License-Identifier: MIT */
/*
 * y = A x over ranks: blocks of rows, and x divided by columns. A halo is the columns that a rank's
 * rows need of other ranks; it is found once. Its values lie behind the rank's own part of x, where
 * each product puts them, and the columns of the matrix are numbered by that.
 *
 * The halo is the sorted list of distinct columns without the own ones. Ranks own intervals of
 * columns, so what one of them owns of it is an interval; that is what it is asked for.
 */
#include <gp/csr.h>
#include <gp/gather.h>
#include <gp/group.h>
#include <gp/radixsort.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist_sort_internal.h"

struct gp_dist_halo {
    gp_comm *comm;
    gp_csr_desc desc;
    size_t index_bytes, value_bytes, num_rows, nnz;
    uint64_t own, halo, sent; /* columns of this rank, of others, and values that go to others */
    const void *row_pointers;
    char *cols, *places, *buffer; /* cols: numbered anew; places: of what is sent, in x */
    size_t bytes;                 /* of these, which are one allocation at cols */
    uint64_t *want, *asked;       /* by rank: values that it sends here, and gets */
};

struct halo_args {
    struct gpi_dist_args a;
    const gp_csr_desc *given;
    gp_csr_desc desc;
    size_t index_bytes, num_rows, nnz;
    const uint64_t *col_first;
    const void *row_pointers, *cols;
    gp_dist_halo **out;
};

/* Columns while the halo is found. */
struct search {
    char *a, *b; /* room for nnz each */
    uint64_t *scratch, *device_count, count;
};

/* ---- finding it ------------------------------------------------------------------------------ */

static gp_status bytes_needed(const gp_target *target, const struct halo_args *h, size_t *bytes)
{
    const gp_dtype dtype = h->desc.index_dtype;
    gp_unique_desc unique = GP_UNIQUE_DESC_INIT;
    gp_compact_desc compact = GP_COMPACT_DESC_INIT;
    size_t sort = 0, group = 0, keep = 0;
    unique.key_dtype = dtype;
    compact.compare = GP_OUTSIDE;
    compact.dtype = dtype;
    GPI_TRY(gp_radix_sort_workspace_bytes(target, dtype, 0, h->nnz, NULL, &sort));
    GPI_TRY(gp_unique_workspace_bytes(target, &unique, h->nnz, &group));
    GPI_TRY(gp_compact_workspace_bytes(target, &compact, h->nnz, &keep));
    sort = group > sort ? group : sort;
    *bytes = 2 * gpi_piece(h->nnz * h->index_bytes) + (keep > sort ? keep : sort) +
             gpi_piece(GPI_DIST_SCRATCH * sizeof(uint64_t)) + gpi_piece(sizeof(uint64_t));
    return GP_OK;
}

static gp_status fetch_count(gp_comm *comm, const char *f, struct search *s)
{
    return gpi_dist_fetch(comm, f, s->device_count, sizeof s->count, &s->count);
}

/* The columns of other ranks, each once and ascending, to s->a; comm->have: where ranks begin. */
static gp_status list_columns(gp_comm *comm, const struct halo_args *h, struct search *s)
{
    const char *f = h->a.function;
    gp_context *ctx = comm->ctx;
    const uint64_t first = comm->have[comm->rank], last = comm->have[comm->rank + 1] - 1;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    char *swap;
    s->count = 0;
    if (h->nnz == 0)
        return GP_OK;
    GPI_TRY(gp_radix_sort(ctx, h->desc.index_dtype, h->cols, h->nnz, s->b, NULL));
    GPI_TRY(gp_unique(ctx, h->desc.index_dtype, s->b, h->nnz, s->a, s->device_count));
    GPI_TRY(fetch_count(comm, f, s));
    if (first > last || last == UINT64_MAX) /* this rank has none */
        return GP_OK;
    d.compare = GP_OUTSIDE;
    d.dtype = h->desc.index_dtype;
    d.value = &first; /* little-endian: also as 32 bits */
    d.upper = &last;
    GPI_TRY(gp_compact_by(ctx, &d, s->a, NULL, s->count, s->b, s->device_count));
    swap = s->a, s->a = s->b, s->b = swap;
    return fetch_count(comm, f, s);
}

/* How many of them each rank has, to comm->mine; none has others. */
static gp_status find_owners(gp_comm *comm, const struct halo_args *h, const struct search *s)
{
    const struct gpi_radix_order order = gpi_radix_order_of(h->desc.index_dtype, GP_ASCENDING);
    const struct gpi_dist_keys keys = {s->a, s->count, h->index_bytes, order, s->scratch, false};
    const size_t p = (size_t)comm->ranks;
    uint64_t words[GP_COMM_RANKS_MAX], below[GP_COMM_RANKS_MAX + 1] = {0}, end;
    for (size_t r = 0; r < p; r++)
        words[r] = comm->have[r] ^ order.flip;
    end = comm->have[p] ^ order.flip;
    GPI_TRY(gpi_dist_probe(comm, h->a.function, &keys, words, comm->ranks, below));
    GPI_TRY(gpi_dist_probe(comm, h->a.function, &keys, &end, 1, &below[p]));
    if (below[0] || below[p] != s->count)
        return gpi_fail(comm->ctx, GP_ERROR_DATA,
                        "%s: cols has an index that is not below %" PRIu64
                        ", the last of col_first",
                        h->a.function, comm->have[p]);
    for (size_t r = 0; r < p; r++)
        comm->mine[r] = below[r + 1] - below[r];
    return GP_OK;
}

/* ---- the object ------------------------------------------------------------------------------ */

/* The host's part; comm->table has what every rank wants of each. */
static gp_status halo_new(gp_comm *comm, const struct halo_args *h, const struct search *s,
                          gp_dist_halo **out)
{
    const size_t p = (size_t)comm->ranks, me = (size_t)comm->rank;
    gp_dist_halo *x = calloc(1, sizeof *x);
    uint64_t *counts = malloc(2 * p * sizeof *counts);
    *out = x;
    if (!x || !counts) {
        free(counts);
        return gpi_fail(comm->ctx, GP_ERROR_MEMORY, "%s: out of host memory", h->a.function);
    }
    *x = (gp_dist_halo){.comm = comm,
                        .desc = h->desc,
                        .index_bytes = h->index_bytes,
                        .value_bytes = gpi_dtype_bytes(h->desc.value_dtype),
                        .num_rows = h->num_rows,
                        .nnz = h->nnz,
                        .own = comm->have[me + 1] - comm->have[me],
                        .halo = s->count,
                        .row_pointers = h->row_pointers,
                        .want = counts,
                        .asked = counts + p};
    for (size_t r = 0; r < p; r++) {
        x->want[r] = comm->table[me * p + r];
        x->sent += x->asked[r] = comm->table[r * p + me];
    }
    const size_t cols = gpi_piece(x->nnz * x->index_bytes),
                 places = gpi_piece(x->sent * x->index_bytes);
    x->bytes = cols + places + gpi_piece(x->sent * x->value_bytes) + GPI_ALIGN;
    void *memory;
    GPI_TRY(gpi_allocate(comm->ctx, h->a.function, x->bytes, &memory));
    x->cols = memory;
    x->places = x->cols + cols;
    x->buffer = x->places + places;
    return GP_OK;
}

static void halo_free(gp_dist_halo *x)
{
    if (!x)
        return;
    gpi_release(x->comm->ctx, x->cols, x->bytes);
    free(x->want);
    free(x);
}

/* Pieces of give[r] items go to each rank, of take[r] come from it, side by side. */
static gp_status exchange(gp_comm *comm, const char *f, size_t bytes, const void *from,
                          const uint64_t *give, void *to, const uint64_t *take)
{
    const size_t p = (size_t)comm->ranks;
    uint64_t *send_at = comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, sent = 0, came = 0;
    for (size_t r = 0; r < p; r++) {
        send_at[r] = sent;
        sent += send_bytes[r] = give[r] * bytes;
        recv_at[r] = came;
        came += recv_bytes[r] = take[r] * bytes;
    }
    const struct gpi_route route = {from, send_at, send_bytes, to, recv_at, recv_bytes};
    return comm->transport->exchange(comm, f, &route);
}

/* Ask the owners for the halo's columns, and number those of the matrix. */
static gp_status connect(gp_comm *comm, const struct halo_args *h, const struct search *s,
                         gp_dist_halo *x)
{
    const char *f = h->a.function;
    const uint64_t first = comm->have[comm->rank];
    GPI_TRY(exchange(comm, f, x->index_bytes, s->a, x->want, x->places, x->asked));
    GPI_TRY(gpi_dist_shift(comm, f, x->index_bytes, x->places, x->sent, 0 - first, x->index_bytes,
                           x->places));
    return gpi_dist_renumber(comm, f, x->index_bytes, h->cols, x->nnz, first, x->own, s->a,
                             s->count, x->cols);
}

static gp_status run_in_frame(gp_comm *comm, struct halo_args *h, gp_status status,
                              struct gpi_frame *frame)
{
    const size_t p = (size_t)comm->ranks;
    struct search s = {.count = 0};
    gp_dist_halo *x = NULL;
    if (status == GP_OK) {
        s.a = gpi_frame_take(frame, h->nnz * h->index_bytes);
        s.b = gpi_frame_take(frame, h->nnz * h->index_bytes);
        s.scratch = gpi_frame_take(frame, GPI_DIST_SCRATCH * sizeof(uint64_t));
        s.device_count = gpi_frame_take(frame, sizeof(uint64_t));
        status = gpi_named(comm->ctx, h->a.function, list_columns(comm, h, &s));
    }
    if (status == GP_OK)
        status = find_owners(comm, h, &s);
    GPI_TRY(gpi_dist_agree(comm, &h->a, status, NULL, 0));
    GPI_TRY(comm->transport->gather(comm, h->a.function, comm->mine, p * sizeof(uint64_t),
                                    comm->table));
    status = gpi_dist_agree(comm, &h->a, halo_new(comm, h, &s, &x), NULL, 0);
    if (status == GP_OK)
        status = connect(comm, h, &s, x);
    if (status != GP_OK)
        halo_free(x);
    else
        *h->out = x;
    return status;
}

static gp_status check_first(gp_comm *comm, const struct halo_args *h)
{
    for (int r = 0; r < comm->ranks; r++)
        if (comm->have[r] > comm->have[r + 1] || (r == 0 && comm->have[r]))
            return gpi_fail(comm->ctx, GP_ERROR_DATA,
                            "%s: col_first[%d] is %" PRIu64 " and the next %" PRIu64
                            ", expected to ascend from 0",
                            h->a.function, r, comm->have[r], comm->have[r + 1]);
    return GP_OK;
}

static gp_status run_halo(gp_comm *comm, void *args)
{
    struct halo_args *h = args;
    const size_t words = (size_t)comm->ranks + 1;
    struct gpi_frame frame = {NULL, 0, 0};
    size_t need = 0;
    if (h->a.status == GP_OK)
        h->a.status =
            gpi_dist_fetch(comm, h->a.function, h->col_first, words * sizeof(uint64_t), comm->have);
    if (h->a.status == GP_OK)
        h->a.status = check_first(comm, h);
    struct gpi_note note = {.status = (uint32_t)h->a.status,
                            .dtype = (uint32_t)h->desc.index_dtype | (uint32_t)h->desc.value_dtype
                                                                         << 8,
                            .n = h->nnz};
    if (h->a.status == GP_OK)
        note.hash = gpi_dist_hash(0, comm->have, words * sizeof(uint64_t));
    GPI_TRY(gpi_dist_meet(comm, &h->a, &note));
    const gp_target target = gpi_target_of(comm->ctx);
    gp_status status = gpi_dist_blame(comm->ctx, h->a.function, bytes_needed(&target, h, &need));
    if (status == GP_OK)
        status = gpi_frame_open(comm->ctx, h->a.function, need, &frame);
    status = run_in_frame(comm, h, status, &frame);
    gpi_frame_close(&frame);
    return status;
}

/* What a product would refuse. */
static gp_status check_halo(gp_comm *comm, struct halo_args *h)
{
    const char *f = h->a.function;
    gp_context *ctx = comm->ctx;
    const gp_target target = gpi_target_of(ctx);
    gp_csr_desc *d = &h->desc;
    size_t bytes;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", h->given, d, GPI_FORM(gp_csr_desc)));
    GPI_TRY(
        gpi_dist_blame(ctx, f,
                       gp_spmv_workspace_bytes(&target, d->index_dtype, d->offset_dtype,
                                               d->value_dtype, h->num_rows, 1, h->nnz, &bytes)));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->hot_columns", (uint64_t)d->hot_columns));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_nnz", (uintptr_t)d->device_nnz));
    GPI_TRY(gpi_check_unused(ctx, f, "desc->device_num_rows", (uintptr_t)d->device_num_rows));
    h->index_bytes = gpi_dtype_bytes(d->index_dtype);
    const size_t offset = gpi_dtype_bytes(d->offset_dtype), word = sizeof(uint64_t);
    const struct gpi_array arrays[] = {
        GPI_READ("col_first", h->col_first, ((uint64_t)comm->ranks + 1) * word, word),
        GPI_READ("row_pointers", h->row_pointers, ((uint64_t)h->num_rows + 1) * offset, offset),
        GPI_READ("cols", h->cols, (uint64_t)h->nnz * h->index_bytes, h->index_bytes)};
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 3));
    return h->out ? GP_OK : gpi_fail(ctx, GP_ERROR_POINTER, "%s: halo is NULL", f);
}

gp_status gp_dist_halo_create(gp_comm *comm, const gp_csr_desc *desc, const uint64_t *col_first,
                              size_t num_rows, size_t nnz, const void *row_pointers,
                              const void *cols, gp_dist_halo **halo)
{
    struct halo_args h = {.a = {"gp_dist_halo_create", GPI_DIST_HALO, GP_OK},
                          .given = desc,
                          .num_rows = num_rows,
                          .nnz = nnz,
                          .col_first = col_first,
                          .row_pointers = row_pointers,
                          .cols = cols,
                          .out = halo};
    if (halo)
        *halo = NULL;
    GPI_DIST_CALL(comm, h.a.function);
    h.a.status = check_halo(comm, &h);
    return gpi_dist_submit(comm, run_halo, &h, sizeof h);
}

gp_status gp_dist_halo_workspace_bytes(const gp_target *target, int ranks, const gp_csr_desc *desc,
                                       size_t num_rows, size_t nnz, size_t *bytes)
{
    static const char f[] = "gp_dist_halo_workspace_bytes";
    struct halo_args h = {.num_rows = num_rows, .nnz = nnz};
    const gp_csr_desc *d = &h.desc;
    gp_target t;
    size_t product = 0;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &h.desc, GPI_FORM(gp_csr_desc)));
    GPI_TRY(gpi_check_figure(f, bytes));
    GPI_TRY(gpi_dist_blame(NULL, f,
                           gp_spmv_workspace_bytes(&t, d->index_dtype, d->offset_dtype,
                                                   d->value_dtype, num_rows, 1, nnz, &product)));
    h.index_bytes = gpi_dtype_bytes(d->index_dtype);
    GPI_TRY(gpi_dist_blame(NULL, f, bytes_needed(&t, &h, bytes)));
    *bytes = product > *bytes ? product : *bytes;
    return GP_OK;
}

void gp_dist_halo_destroy(gp_dist_halo *halo)
{
    struct gpi_dist_call call = {NULL, NULL};
    if (!halo)
        return;
    if (gpi_dist_begin(&call, halo->comm, "gp_dist_halo_destroy") == GP_OK || call.ctx)
        halo_free(halo);
    gpi_dist_end(&call);
}

uint64_t gp_dist_halo_items(const gp_dist_halo *halo)
{
    return halo ? halo->halo : 0;
}

/* ---- products -------------------------------------------------------------------------------- */

struct product_args {
    struct gpi_dist_args a;
    gp_dist_halo *halo;
    const void *values, *alpha, *beta;
    void *x, *y;
};

static gp_status run_product(gp_comm *comm, void *args)
{
    struct product_args *m = args;
    const gp_dist_halo *h = m->halo;
    const char *f = m->a.function;
    gp_context *ctx = comm->ctx;
    struct gpi_note note = {
        .status = (uint32_t)m->a.status, .dtype = (uint32_t)h->desc.value_dtype, .n = h->own};
    GPI_TRY(gpi_dist_meet(comm, &m->a, &note));
    gp_status status =
        h->sent ? gp_gather(ctx, h->value_bytes, m->x, gpi_dtype_unsigned(h->desc.index_dtype),
                            h->places, h->sent, h->buffer)
                : GP_OK;
    if (status != GP_OK)
        return gpi_dist_drop(comm, gpi_named(ctx, f, status));
    GPI_TRY(exchange(comm, f, h->value_bytes, h->buffer, h->asked,
                     (char *)m->x + h->own * h->value_bytes, h->want));
    return gpi_named(ctx, f,
                     gp_spmv_by(ctx, &h->desc, h->num_rows, h->own + h->halo, h->nnz,
                                h->row_pointers, h->cols, m->values, m->alpha, m->x, m->beta,
                                m->y));
}

static gp_status check_product(gp_comm *comm, const struct product_args *m)
{
    const gp_dist_halo *h = m->halo;
    const size_t unit = h->value_bytes;
    const struct gpi_array arrays[] = {GPI_READ("values", m->values, (uint64_t)h->nnz * unit, unit),
                                       GPI_WRITE("x", m->x, (h->own + h->halo) * unit, unit),
                                       GPI_WRITE("y", m->y, (uint64_t)h->num_rows * unit, unit)};
    return gpi_check_arrays(comm->ctx, m->a.function, arrays, 3);
}

gp_status gp_dist_spmv(gp_dist_halo *halo, const void *values, const void *alpha, void *x,
                       const void *beta, void *y)
{
    struct product_args m = {.a = {"gp_dist_spmv", GPI_DIST_SPMV, GP_OK},
                             .halo = halo,
                             .values = values,
                             .alpha = alpha,
                             .beta = beta,
                             .x = x,
                             .y = y};
    if (!halo)
        return gpi_fail(NULL, GP_ERROR_POINTER, "gp_dist_spmv: halo is NULL");
    GPI_DIST_CALL(halo->comm, m.a.function);
    m.a.status = check_product(halo->comm, &m);
    return gpi_dist_submit(halo->comm, run_product, &m, sizeof m);
}
