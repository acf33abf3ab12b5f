/* SPDX-License-Identifier: MIT */
/* Histogram over ranks: each counts its own; of every rank's counts each adds up one part of the
 * bins, and the parts go to all. */
#include <gp/histogram.h>

#include <string.h>

#include "core/threads.h"
#include "core/workspace.h"
#include "dist/dist_internal.h"

struct histogram_args {
    struct gpi_dist_args a;
    gp_dist_histogram_desc desc;
    char lo[8], hi[8];
    size_t counter_bytes;
    const void *in;
    size_t n;
    void *counts;
};

static gp_status count_here(gp_context *ctx, const struct histogram_args *h, void *counts,
                            const gp_histogram_options *options)
{
    const gp_dist_histogram_desc *d = &h->desc;
    if (d->kind == GP_DIST_BINS_EVEN)
        return gp_histogram_even(ctx, d->dtype, h->in, h->n, h->lo, h->hi, d->bins,
                                 d->counter_dtype, counts, options);
    if (d->kind == GP_DIST_BINS_EDGES)
        return gp_histogram_edges(ctx, d->dtype, h->in, h->n, d->edges, d->bins, d->counter_dtype,
                                  counts, options);
    return gp_bincount(ctx, d->dtype, h->in, h->n, d->bins, d->counter_dtype, counts, options);
}

/* The first bin of a rank's part. */
static uint64_t part(const gp_comm *comm, const struct histogram_args *h, size_t r)
{
    return gpi_part_begin(h->desc.bins, (size_t)comm->ranks, r);
}

/* The counts of every rank in this rank's part of the bins, row by row. */
static gp_status collect(gp_comm *comm, const struct histogram_args *h, const void *counts,
                         void *rows)
{
    const size_t p = (size_t)comm->ranks, me = (size_t)comm->rank;
    const uint64_t mine = (part(comm, h, me + 1) - part(comm, h, me)) * h->counter_bytes;
    uint64_t *send_at = comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p;
    for (size_t r = 0; r < p; r++) {
        send_at[r] = part(comm, h, r) * h->counter_bytes;
        send_bytes[r] = part(comm, h, r + 1) * h->counter_bytes - send_at[r];
        recv_at[r] = r * mine;
        recv_bytes[r] = mine;
    }
    const struct gpi_route route = {counts, send_at, send_bytes, rows, recv_at, recv_bytes};
    return comm->transport->exchange(comm, h->a.function, &route);
}

/* Every rank's part to every rank. */
static gp_status spread(gp_comm *comm, const struct histogram_args *h, const void *sums)
{
    const size_t p = (size_t)comm->ranks, me = (size_t)comm->rank;
    uint64_t *send_at = comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p;
    for (size_t r = 0; r < p; r++) {
        send_at[r] = 0;
        send_bytes[r] = (part(comm, h, me + 1) - part(comm, h, me)) * h->counter_bytes;
        recv_at[r] = part(comm, h, r) * h->counter_bytes;
        recv_bytes[r] = part(comm, h, r + 1) * h->counter_bytes - recv_at[r];
    }
    const struct gpi_route route = {sums, send_at, send_bytes, h->counts, recv_at, recv_bytes};
    return comm->transport->exchange(comm, h->a.function, &route);
}

static gp_status bytes_needed(const gp_target *target, int ranks, const struct histogram_args *h,
                              size_t *bytes)
{
    const gp_dist_histogram_desc *d = &h->desc;
    const size_t p = (size_t)ranks, most = d->bins / p + 1;
    GPI_TRY(gp_histogram_workspace_bytes(target, d->dtype, h->n, d->bins, d->counter_dtype, NULL,
                                         bytes));
    *bytes += gpi_piece(d->bins * h->counter_bytes) + gpi_piece(p * most * h->counter_bytes) +
              gpi_piece(most * h->counter_bytes);
    return GP_OK;
}

static gp_status run_in_frame(gp_comm *comm, struct histogram_args *h, gp_status status,
                              struct gpi_frame *frame)
{
    const char *f = h->a.function;
    const size_t p = (size_t)comm->ranks, me = (size_t)comm->rank;
    const uint64_t mine = part(comm, h, me + 1) - part(comm, h, me);
    void *counts = NULL, *rows = NULL, *sums = NULL;
    if (status == GP_OK) {
        counts = gpi_frame_take(frame, h->desc.bins * h->counter_bytes);
        rows = gpi_frame_take(frame, p * mine * h->counter_bytes);
        sums = gpi_frame_take(frame, mine * h->counter_bytes);
        status = gpi_named(comm->ctx, f, count_here(comm->ctx, h, counts, NULL));
    }
    GPI_TRY(gpi_dist_agree(comm, &h->a, status, NULL, 0));
    GPI_TRY(collect(comm, h, counts, rows));
    status = gpi_dist_add_rows(comm, f, h->counter_bytes, rows, comm->ranks, mine, sums);
    if (status != GP_OK)
        return gpi_dist_drop(comm, status);
    return spread(comm, h, sums);
}

static gp_status run_histogram(gp_comm *comm, void *args)
{
    struct histogram_args *h = args;
    const gp_dist_histogram_desc *d = &h->desc;
    struct gpi_frame frame = {NULL, 0, 0};
    struct gpi_note note = {.status = (uint32_t)h->a.status,
                            .dtype = (uint32_t)d->dtype | (uint32_t)d->counter_dtype << 8,
                            .op = (uint32_t)d->kind,
                            .item = d->bins,
                            .n = h->n};
    size_t need = 0;
    note.hash = gpi_dist_hash(gpi_dist_hash(0, h->lo, sizeof h->lo), h->hi, sizeof h->hi);
    GPI_TRY(gpi_dist_meet(comm, &h->a, &note));
    const gp_target target = gpi_target_of(comm->ctx);
    gp_status status =
        gpi_dist_blame(comm->ctx, h->a.function, bytes_needed(&target, comm->ranks, h, &need));
    if (status == GP_OK)
        status = gpi_frame_open(comm->ctx, h->a.function, need, &frame);
    status = run_in_frame(comm, h, status, &frame);
    gpi_frame_close(&frame);
    return status;
}

/* The limits are of the caller's memory, and copied. Halves are floats there. */
static gp_status take_limits(gp_context *ctx, struct histogram_args *h)
{
    const char *f = h->a.function;
    const gp_dist_histogram_desc *d = &h->desc;
    const bool half = d->dtype == GP_F16 || d->dtype == GP_BF16,
               even = d->kind == GP_DIST_BINS_EVEN;
    const size_t bytes = half ? sizeof(float) : gpi_dtype_bytes(d->dtype);
    if (even != (d->lo != NULL) || even != (d->hi != NULL))
        return gpi_fail(
            ctx, even ? GP_ERROR_POINTER : GP_ERROR_ARGUMENT, "%s: desc->%s is %s, with kind %d", f,
            even != (d->lo != NULL) ? "lo" : "hi", even ? "NULL" : "not NULL", (int)d->kind);
    if (even) {
        memcpy(h->lo, d->lo, bytes);
        memcpy(h->hi, d->hi, bytes);
    }
    return GP_OK;
}

/* The call of one rank checks bins and edges: here it adds no values to the counts. */
static gp_status check_bins(gp_context *ctx, const struct histogram_args *h)
{
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    struct histogram_args none = *h;
    none.n = 0;
    none.in = NULL;
    o.accumulate = 1;
    return gpi_named(ctx, h->a.function, count_here(ctx, &none, h->counts, &o));
}

static gp_status check_histogram(gp_comm *comm, const gp_dist_histogram_desc *given,
                                 struct histogram_args *h)
{
    const char *f = h->a.function;
    gp_context *ctx = comm->ctx;
    const gp_target target = gpi_target_of(ctx);
    gp_dist_histogram_desc *d = &h->desc;
    size_t bytes;
    GPI_TRY(gpi_take_struct(ctx, f, "desc", given, d, GPI_FORM(gp_dist_histogram_desc)));
    if ((int)d->kind < GP_DIST_BINS_EVEN || d->kind > GP_DIST_BINS_WHOLE)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->kind is %d, not a gp_dist_bins", f,
                        (int)d->kind);
    GPI_TRY(gpi_check_unused(ctx, f, "desc->reserved", (uint64_t)d->reserved));
    GPI_TRY(gpi_dist_blame(ctx, f,
                           gp_histogram_workspace_bytes(&target, d->dtype, h->n, d->bins,
                                                        d->counter_dtype, NULL, &bytes)));
    GPI_TRY(take_limits(ctx, h));
    if (d->kind != GP_DIST_BINS_EDGES && d->edges)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: desc->edges is not NULL, with kind %d", f,
                        (int)d->kind);
    h->counter_bytes = gpi_dtype_bytes(d->counter_dtype);
    const size_t unit = gpi_dtype_bytes(d->dtype);
    const struct gpi_array arrays[] = {
        GPI_READ("in", h->in, (uint64_t)h->n * unit, unit),
        GPI_WRITE("counts", h->counts, (uint64_t)d->bins * h->counter_bytes, h->counter_bytes)};
    GPI_TRY(gpi_check_arrays(ctx, f, arrays, 2));
    return check_bins(ctx, h);
}

gp_status gp_dist_histogram(gp_comm *comm, const gp_dist_histogram_desc *desc, const void *in,
                            size_t n, void *counts)
{
    struct histogram_args h = {
        .a = {"gp_dist_histogram", GPI_DIST_HISTOGRAM, GP_OK}, .in = in, .n = n, .counts = counts};
    GPI_DIST_CALL(comm, h.a.function);
    h.a.status = check_histogram(comm, desc, &h);
    return gpi_dist_submit(comm, run_histogram, &h, sizeof h);
}

gp_status gp_dist_histogram_workspace_bytes(const gp_target *target, int ranks,
                                            const gp_dist_histogram_desc *desc, size_t n,
                                            size_t *bytes)
{
    static const char f[] = "gp_dist_histogram_workspace_bytes";
    struct histogram_args h = {.n = n};
    gp_target t;
    GPI_TRY(gpi_dist_check_figure(f, target, ranks, &t));
    GPI_TRY(gpi_take_struct(NULL, f, "desc", desc, &h.desc, GPI_FORM(gp_dist_histogram_desc)));
    GPI_TRY(gpi_check_figure(f, bytes));
    h.counter_bytes = gpi_dtype_bytes(h.desc.counter_dtype);
    return gpi_dist_blame(NULL, f, bytes_needed(&t, ranks, &h, bytes));
}
