/* SPDX-License-Identifier: MIT */
/* Sorts over ranks: what is sorted and cut on each rank goes to where it belongs, and is merged. */
#include <gp/merge.h>

#include "dist/dist_sort_internal.h"

/* Send each rank its interval. */
static gp_status exchange(struct gpi_sorting *x, size_t bytes, const char *from, char *to)
{
    const int me = x->comm->rank, ranks = x->comm->ranks;
    const size_t p = (size_t)ranks;
    uint64_t *send_at = x->comm->route, *send_bytes = send_at + p, *recv_at = send_bytes + p,
             *recv_bytes = recv_at + p, place = 0;
    for (int r = 0; r < ranks; r++) {
        send_at[r] = gpi_dist_cut(x->comm, me, r) * bytes;
        send_bytes[r] = r == me ? 0 : gpi_dist_piece(x->comm, me, r) * bytes;
        recv_at[r] = place;
        recv_bytes[r] = r == me ? 0 : gpi_dist_piece(x->comm, r, me) * bytes;
        place += recv_bytes[r];
    }
    const struct gpi_route route = {from, send_at, send_bytes, to, recv_at, recv_bytes};
    return x->comm->transport->exchange(x->comm, x->f, &route);
}

static gp_status merge(struct gpi_sorting *x, struct gpi_run a, struct gpi_run b,
                       struct gpi_run out)
{
    const struct gpi_sort_args *s = x->s;
    gp_context *ctx = x->comm->ctx;
    if (!s->value_bytes)
        return gp_merge(ctx, s->dtype, s->order, a.keys, a.n, b.keys, b.n, out.keys);
    return gp_merge_pairs(ctx, s->dtype, s->order, s->value_bytes, a.keys, a.values, a.n, b.keys,
                          b.values, b.n, out.keys, out.values);
}

static gp_status copy(struct gpi_sorting *x, struct gpi_run a, struct gpi_run out)
{
    GPI_TRY(gp_copy(x->comm->ctx, a.keys, a.n * x->s->key_bytes, out.keys));
    return gp_copy(x->comm->ctx, a.values, a.n * x->s->value_bytes, out.values);
}

static int levels_of(int count)
{
    int levels = 0;
    while (1 << levels < count)
        levels++;
    return levels;
}

/* Merge neighbours until one run is left; levels alternate between two arrays and end in out. */
static gp_status merge_all(struct gpi_sorting *x, struct gpi_run *runs, int count,
                           struct gpi_run other)
{
    if (count == 1)
        return copy(x, runs[0], x->out);
    for (int level = levels_of(count); level > 0; level--) {
        const struct gpi_run to = level & 1 ? x->out : other;
        uint64_t place = 0;
        int i = 0;
        for (; i + 1 < count; i += 2) {
            const struct gpi_run merged = gpi_run_at(x, to, place, runs[i].n + runs[i + 1].n);
            GPI_TRY(merge(x, runs[i], runs[i + 1], merged));
            runs[i / 2] = merged;
            place += merged.n;
        }
        if (i < count) {
            const struct gpi_run last = gpi_run_at(x, to, place, runs[i].n);
            GPI_TRY(copy(x, runs[i], last));
            runs[i / 2] = last;
        }
        count = (count + 1) / 2;
    }
    return GP_OK;
}

/* Where levels end in out, what came lies where the first one does not write. */
static struct gpi_run landing(const struct gpi_sorting *x, int count)
{
    return levels_of(count) & 1 ? x->came : x->out;
}

static int count_runs(const struct gpi_sorting *x)
{
    int count = 0;
    for (int r = 0; r < x->comm->ranks; r++)
        count += gpi_dist_piece(x->comm, r, x->comm->rank) != 0;
    return count;
}

/* The pieces for this rank, in rank order: its own is merged from where it lies, and so are those
 * of others that have lent theirs. */
static void list_runs(const struct gpi_sorting *x, bool lent, struct gpi_run came,
                      struct gpi_run *runs)
{
    const int me = x->comm->rank;
    uint64_t place = 0;
    int count = 0;
    for (int r = 0; r < x->comm->ranks; r++) {
        const uint64_t n = gpi_dist_piece(x->comm, r, me), first = gpi_dist_cut(x->comm, r, me);
        struct gpi_run theirs = {NULL, NULL, 0};
        if (lent) {
            theirs.keys = (char *)(uintptr_t)x->comm->lent[GPI_DIST_LENT * r];
            theirs.values = (char *)(uintptr_t)x->comm->lent[GPI_DIST_LENT * r + 1];
        }
        if (n)
            runs[count++] = r == me ? gpi_run_at(x, x->here, first, n)
                            : lent  ? gpi_run_at(x, theirs, first, n)
                                    : gpi_run_at(x, came, place, n);
        place += r == me ? 0 : n;
    }
}

/* Kernels of this rank read the keys of the others, which takes no longer than to send them. */
static gp_status merge_lent(struct gpi_sorting *x, struct gpi_run *runs, int count)
{
    const void *const mine[GPI_DIST_LENT] = {x->here.keys, x->here.values};
    GPI_TRY(x->comm->transport->lend(x->comm, x->f, mine, x->comm->lent));
    list_runs(x, true, x->here, runs);
    const gp_status status = count ? merge_all(x, runs, count, x->came) : GP_OK;
    if (status != GP_OK)
        return gpi_dist_drop(x->comm, status);
    return x->comm->transport->give_back(x->comm, x->f);
}

static gp_status merge_sent(struct gpi_sorting *x, struct gpi_run *runs, int count)
{
    const struct gpi_run came = landing(x, count);
    GPI_TRY(exchange(x, x->s->key_bytes, x->here.keys, came.keys));
    if (x->s->value_bytes)
        GPI_TRY(exchange(x, x->s->value_bytes, x->here.values, came.values));
    list_runs(x, false, came, runs);
    return count ? merge_all(x, runs, count, x->came) : GP_OK;
}

gp_status gpi_dist_gather_up(struct gpi_sorting *x)
{
    struct gpi_run runs[GP_COMM_RANKS_MAX];
    struct gpi_sort_args *s = x->s;
    const int count = count_runs(x);
    x->came = gpi_run_take(x, x->comm->get[x->comm->rank]);
    x->out = (struct gpi_run){s->keys_out, s->values_out, x->came.n};
    if (!s->keys_out)
        x->out.keys = gpi_frame_take(x->frame, x->came.n * s->key_bytes);
    const gp_status status =
        x->comm->transport->lend ? merge_lent(x, runs, count) : merge_sent(x, runs, count);
    GPI_TRY(gpi_named(x->comm->ctx, x->f, status));
    return gpi_dist_tell(x->comm, x->f, s->out_count);
}
