/* SPDX-License-Identifier: MIT */
/* Sorts of few keys over ranks: finding borders would take longer than to sort all of them on every
 * rank. They lie there in the order of the input, so the sort is the same. */
#include <gp/radixsort.h>

#include "dist/dist_kernels_internal.h"
#include "dist/dist_sort_internal.h"

/* Keys of all ranks up to which this is faster, by one rank's backend. */
enum { SMALL_CUDA = 1 << 17, SMALL_CPU = 1 << 12 };

static uint64_t limit_of(gp_backend backend)
{
    return backend == GP_BACKEND_CPU ? SMALL_CPU : SMALL_CUDA;
}

uint64_t gpi_dist_small_limit(const gp_comm *comm)
{
    return limit_of(comm->ctx->backend);
}

/* Alike on all ranks: by the least of their limits. Wide values would cost more to send. */
bool gpi_dist_is_small(const struct gpi_sorting *x, uint64_t total)
{
    uint64_t limit = UINT64_MAX;
    for (int r = 0; r < x->comm->ranks; r++)
        limit = x->comm->notes[r].words[0] < limit ? x->comm->notes[r].words[0] : limit;
    return x->s->desc.result != GP_DIST_FREE && total <= limit &&
           total * x->s->value_bytes <= 16 * limit;
}

/* For as many keys as may be few. */
gp_status gpi_dist_small_bytes(const gp_target *target, const struct gpi_sort_args *s,
                               size_t *bytes)
{
    const uint64_t limit = limit_of(target->backend);
    const uint64_t few = s->value_bytes > 16 ? 16 * limit / s->value_bytes : limit;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->order;
    GPI_TRY(gp_radix_sort_workspace_bytes(target, s->dtype, s->value_bytes, few, &o, bytes));
    *bytes += 2 * gpi_run_bytes(s, few);
    return GP_OK;
}

gp_status gpi_dist_open_small(struct gpi_sorting *x)
{
    const gp_target target = gpi_target_of(x->comm->ctx);
    size_t bytes = 0;
    GPI_TRY(gpi_dist_blame(x->comm->ctx, x->f, gpi_dist_small_bytes(&target, x->s, &bytes)));
    return gpi_frame_open(x->comm->ctx, x->f, bytes, x->frame);
}

/* Those of every rank, from where they lie. */
static gp_status take(struct gpi_sorting *x, int word, size_t bytes, char *all)
{
    const gp_comm *comm = x->comm;
    for (int first = 0; first < comm->ranks; first += GPI_DIST_CUT_RANKS) {
        struct gpi_dist_cutting c = {.ranks = 0};
        uint64_t n = 0;
        for (int r = first; r < comm->ranks && c.ranks < GPI_DIST_CUT_RANKS; r++) {
            c.keys[c.ranks] = (const void *)(uintptr_t)comm->notes[r].words[word];
            n += c.n[c.ranks++] = comm->have[r];
        }
        GPI_TRY(gpi_dist_copy_each(x->comm, x->f, &c, bytes, all));
        all += n * bytes;
    }
    return GP_OK;
}

/* Notes have told where keys are, and when. Errors are seen by this rank alone. */
static gp_status take_both(struct gpi_sorting *x, struct gpi_run all, bool values)
{
    gp_status s = x->comm->transport->follow(x->comm, x->f);
    if (s == GP_OK)
        s = take(x, 1, x->s->key_bytes, all.keys);
    if (s == GP_OK && values)
        s = take(x, 2, x->s->value_bytes, all.values);
    return s == GP_OK ? x->comm->transport->announce_taken(x->comm, x->f)
                      : gpi_dist_drop(x->comm, s);
}

/* Those of every rank to all, sent. */
static gp_status collect(struct gpi_sorting *x, const void *mine, size_t bytes, void *all)
{
    const size_t p = (size_t)x->comm->ranks;
    uint64_t *send_at = x->comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, place = 0;
    for (size_t r = 0; r < p; r++) {
        send_at[r] = 0;
        send_bytes[r] = x->s->n * bytes;
        recv_at[r] = place;
        place += recv_bytes[r] = x->comm->have[r] * bytes;
    }
    const struct gpi_route route = {mine, send_at, send_bytes, all, recv_at, recv_bytes};
    return x->comm->transport->exchange(x->comm, x->f, &route);
}

static gp_status sort_all(struct gpi_sorting *x, struct gpi_run all, struct gpi_run sorted)
{
    const struct gpi_sort_args *s = x->s;
    gp_context *ctx = x->comm->ctx;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->order;
    if (s->indices)
        GPI_TRY(gpi_dist_number(x, 0, all.n, all.values));
    if (!s->value_bytes)
        return gp_radix_sort(ctx, s->dtype, all.keys, all.n, sorted.keys, &o);
    return gp_radix_sort_pairs(ctx, s->dtype, all.keys, s->value_bytes, all.values, all.n,
                               sorted.keys, sorted.values, &o);
}

gp_status gpi_dist_sort_small(struct gpi_sorting *x, uint64_t total)
{
    const struct gpi_sort_args *s = x->s;
    gp_context *ctx = x->comm->ctx;
    const struct gpi_run all = gpi_run_take(x, total), sorted = gpi_run_take(x, total);
    uint64_t first = 0, n = x->comm->get[x->comm->rank];
    const bool values = s->value_bytes && !s->indices, sent = !gpi_dist_reads_all(x->comm);
    if (!sent)
        GPI_TRY(take_both(x, all, values));
    if (sent)
        GPI_TRY(collect(x, s->keys_in, s->key_bytes, all.keys));
    if (sent && values)
        GPI_TRY(collect(x, s->values_in, s->value_bytes, all.values));
    const gp_status status = gpi_named(ctx, x->f, sort_all(x, all, sorted));
    if (!sent) /* not before: outputs may be inputs, and the sort hides how others take them */
        GPI_TRY(x->comm->transport->follow_taken(x->comm, x->f));
    GPI_TRY(status);
    for (int r = 0; r < x->comm->rank; r++)
        first += x->comm->get[r];
    const struct gpi_run mine = gpi_run_at(x, sorted, first, n);
    if (s->keys_out)
        GPI_TRY(gpi_dist_copy_few(x->comm, x->f, mine.keys, s->key_bytes, n, s->keys_out));
    if (s->value_bytes)
        GPI_TRY(gpi_dist_copy_few(x->comm, x->f, mine.values, s->value_bytes, n, s->values_out));
    return gpi_dist_tell(x->comm, x->f, s->out_count);
}
