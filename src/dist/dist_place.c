/* SPDX-License-Identifier: MIT */
/* How many items of a result each rank gets, and moving intervals to where they belong. */
#include <inttypes.h>
#include <string.h>

#include "core/threads.h"
#include "dist/dist_kernels_internal.h"

static gp_status take(gp_comm *comm, const char *f, const char *argument, const gp_dist_desc *given,
                      gp_dist_desc *full)
{
    gp_context *ctx = comm->ctx;
    *full = (gp_dist_desc)GP_DIST_DESC_INIT;
    if (given)
        GPI_TRY(gpi_take_struct(ctx, f, argument, given, full, GPI_FORM(gp_dist_desc)));
    if ((int)full->result < GP_DIST_SAME || full->result > GP_DIST_COUNTS)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s->result is %d, not a gp_dist_result", f,
                        argument, (int)full->result);
    if (full->reserved)
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s->reserved is %d, expected 0", f, argument,
                        full->reserved);
    if (!full->counts != (full->result != GP_DIST_COUNTS))
        return gpi_fail(ctx, GP_ERROR_ARGUMENT, "%s: %s->counts is %s, with result %d", f, argument,
                        full->counts ? "not NULL" : "NULL", (int)full->result);
    GPI_TRY(gpi_check_n(ctx, f, "capacity", full->capacity));
    for (int r = 0; full->counts && r < comm->ranks; r++)
        GPI_TRY(gpi_check_n(ctx, f, "counts", full->counts[r]));
    return GP_OK;
}

/* Of one that is refused nothing is used. */
gp_status gpi_dist_take(gp_comm *comm, const char *f, const char *argument,
                        const gp_dist_desc *given, gp_dist_desc *full)
{
    const gp_status s = take(comm, f, argument, given, full);
    if (s != GP_OK)
        *full = (gp_dist_desc)GP_DIST_DESC_INIT;
    return s;
}

uint32_t gpi_dist_desc_hash(const gp_comm *comm, const gp_dist_desc *desc)
{
    const uint32_t h = gpi_dist_hash(0, &desc->result, sizeof desc->result);
    if (!desc->counts)
        return h;
    return gpi_dist_hash(h, desc->counts, (size_t)comm->ranks * sizeof *desc->counts);
}

uint64_t gpi_dist_total(gp_comm *comm)
{
    uint64_t total = 0;
    for (int r = 0; r < comm->ranks; r++)
        total += comm->have[r] = comm->notes[r].n;
    return total;
}

/* What the descriptor would like rank r to get. */
static uint64_t wanted(const gp_comm *comm, const gp_dist_desc *desc, uint64_t total, int r,
                       const uint64_t *as_it_falls)
{
    const size_t p = (size_t)comm->ranks, i = (size_t)r;
    switch (desc->result) {
    case GP_DIST_SAME:
        return comm->notes[r].n;
    case GP_DIST_COUNTS:
        return desc->counts[r];
    default:
        if (desc->result == GP_DIST_FREE && as_it_falls)
            return as_it_falls[r];
        return gpi_part_begin(total, p, i + 1) - gpi_part_begin(total, p, i);
    }
}

gp_status gpi_dist_place(gp_comm *comm, const char *f, const gp_dist_desc *desc, uint64_t total,
                         const uint64_t *as_it_falls)
{
    uint64_t left = total;
    for (int r = 0; r < comm->ranks; r++) {
        const uint64_t want = wanted(comm, desc, total, r, as_it_falls);
        left -= comm->get[r] = want < left ? want : left;
    }
    if (left)
        return gpi_fail(comm->ctx, GP_ERROR_CAPACITY,
                        "%s: %" PRIu64 " items in all, and the ranks are to get %" PRIu64, f, total,
                        total - left);
    return GP_OK;
}

gp_status gpi_dist_check_room(gp_comm *comm, const char *f)
{
    for (int r = 0; r < comm->ranks; r++)
        if (comm->get[r] > comm->notes[r].capacity)
            return gpi_fail(comm->ctx, GP_ERROR_CAPACITY,
                            "%s: rank %d gets %" PRIu64 " items, and has room for %" PRIu64, f, r,
                            comm->get[r], comm->notes[r].capacity);
    return GP_OK;
}

/* The part of [begin, begin + n) that lies in [other, other + m), from begin on. */
static void overlap(uint64_t begin, uint64_t n, uint64_t other, uint64_t m, uint64_t *at,
                    uint64_t *length)
{
    const uint64_t low = begin > other ? begin : other;
    const uint64_t high = begin + n < other + m ? begin + n : other + m;
    *at = low < high ? low - begin : 0;
    *length = low < high ? high - low : 0;
}

gp_status gpi_dist_move(gp_comm *comm, const char *f, size_t item_bytes, const void *in, void *out)
{
    const size_t p = (size_t)comm->ranks;
    const uint64_t *have = comm->have, *get = comm->get;
    uint64_t *send_at = comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, had = 0, will = 0, my_old = 0, my_new = 0;
    for (int r = 0; r < comm->rank; r++) {
        my_old += have[r];
        my_new += get[r];
    }
    for (size_t r = 0; r < p; r++) {
        overlap(my_old, have[comm->rank], will, get[r], &send_at[r], &send_bytes[r]);
        overlap(my_new, get[comm->rank], had, have[r], &recv_at[r], &recv_bytes[r]);
        send_at[r] *= item_bytes, send_bytes[r] *= item_bytes;
        recv_at[r] *= item_bytes, recv_bytes[r] *= item_bytes;
        had += have[r];
        will += get[r];
    }
    const struct gpi_route route = {in, send_at, send_bytes, out, recv_at, recv_bytes};
    return comm->transport->exchange(comm, f, &route);
}

gp_status gpi_dist_tell(gp_comm *comm, const char *f, uint64_t *out_count)
{
    /* By a kernel: a graph would keep the address of this number, and not the number. */
    const struct gpi_dist_kernel k = {.task = GPI_DIST_ADD_ROWS,
                                      .out_bytes = sizeof *out_count,
                                      .out = out_count,
                                      .n = 1,
                                      .offset = comm->get[comm->rank]};
    if (out_count && comm->ctx->backend == GP_BACKEND_CUDA)
        return gpi_dist_launch(comm, f, &k);
    if (out_count)
        *out_count = comm->get[comm->rank];
    return GP_OK;
}
