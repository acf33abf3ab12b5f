/* SPDX-License-Identifier: MIT */
/* Sorts over ranks by bins: who gets which, getting them, and sorting them. */
#include <gp/radixsort.h>

#include "dist/dist_split_internal.h"

/* ---- whose bins ------------------------------------------------------------------------------ */

/* The bin that a border cuts; -1: none. */
static int bin_cut_by(const struct gpi_split *p, uint64_t border)
{
    int b = 0;
    while (p->below[b + 1] < border)
        b++;
    return p->below[b] < border && border < p->below[b + 1] ? b : -1;
}

/* The rank in which a bin begins. */
static int home_of(const struct gpi_split *p, int b)
{
    int r = 0;
    while (p->border[r + 1] <= p->below[b])
        r++;
    return r;
}

/* The cut bin that rank r sorts; -1: none. */
static int bin_at_home(const struct gpi_split *p, int r)
{
    const int b = bin_cut_by(p, p->border[r + 1]);
    return b >= 0 && home_of(p, b) == r ? b : -1;
}

/* The cut bin that rank r takes the beginning of its keys from; -1: none. */
static int bin_elsewhere(const struct gpi_split *p, int r)
{
    return p->border[r] < p->border[r + 1] ? bin_cut_by(p, p->border[r]) : -1;
}

/* What rank r gets of cut bin b: from *first of its keys on. */
static uint64_t part_of(const struct gpi_split *p, int r, int b, uint64_t *first)
{
    const uint64_t begin = p->below[b] > p->border[r] ? p->below[b] : p->border[r];
    const uint64_t end = p->below[b + 1] < p->border[r + 1] ? p->below[b + 1] : p->border[r + 1];
    *first = begin - p->below[b];
    return end - begin;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static gp_status sort(const struct gpi_sorting *x, struct gpi_run in, struct gpi_run out)
{
    const struct gpi_sort_args *s = x->s;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = s->order;
    if (!s->value_bytes)
        return gp_radix_sort(x->comm->ctx, s->dtype, in.keys, in.n, out.keys, &o);
    return gp_radix_sort_pairs(x->comm->ctx, s->dtype, in.keys, s->value_bytes, in.values, in.n,
                               out.keys, out.values, &o);
}

/* Part of this rank's output; keys that are not wanted go to where they do no harm. */
static struct gpi_run output(const struct gpi_sorting *x, uint64_t first, uint64_t n)
{
    struct gpi_run r = {x->out.keys, x->out.values, n};
    r = gpi_run_at(x, r, first, n);
    r.keys = x->s->keys_out ? r.keys : x->out.keys;
    return r;
}

static struct gpi_run group_room(const struct gpi_split *p, const struct gpi_split_walk *w)
{
    const uint64_t first = p->below[w->begin] - p->border[p->x->comm->rank];
    return gpi_run_at(p->x, p->came, first, p->below[w->end] - p->below[w->begin]);
}

static gp_status sort_group(const struct gpi_split *p, const struct gpi_split_walk *w,
                            struct gpi_run in)
{
    const uint64_t first = p->below[w->begin] - p->border[p->x->comm->rank];
    return in.n ? sort(p->x, in, output(p->x, first, in.n)) : GP_OK;
}

/* The part of a cut bin that its home has itself. */
static gp_status keep_part(const struct gpi_split *p, int b)
{
    const struct gpi_sorting *x = p->x;
    uint64_t first;
    const uint64_t n = part_of(p, x->comm->rank, b, &first);
    const struct gpi_run in = gpi_run_at(x, p->sorted, first, n);
    const struct gpi_run out = output(x, p->below[b] + first - p->border[x->comm->rank], n);
    if (x->s->keys_out)
        GPI_TRY(gp_copy(x->comm->ctx, in.keys, n * x->s->key_bytes, out.keys));
    return gp_copy(x->comm->ctx, in.values, n * x->s->value_bytes, out.values);
}

/* ---- out of the memory of others ------------------------------------------------------------- */

/* Take bins [from, to) of every rank, in rank order; or, if those of this rank are there, at the
 * end of out, what comes before them. */
static gp_status pull(const struct gpi_split *p, int from, int to, bool own_is_there,
                      struct gpi_run out)
{
    const struct gpi_sorting *x = p->x;
    const int ranks = x->comm->ranks, me = x->comm->rank;
    const size_t key = x->s->key_bytes, value = x->s->value_bytes;
    uint64_t place[GPI_SPLIT_RANKS + 1] = {0};
    for (int r = 0; r < ranks; r++) {
        place[r + 1] = place[r];
        if (r != me || !own_is_there)
            place[r + 1] += gpi_split_at(p, r, to) - gpi_split_at(p, r, from);
    }
    for (int i = 0; i < ranks; i++) { /* from the next rank first: not all from the same one */
        const int r = (me + i) % ranks;
        const enum gpi_dist_lane lane = r == me ? GPI_DIST_FROM_HERE : p->lane;
        const void *const *theirs = &x->comm->lent[GPI_DIST_LENT * r];
        const uint64_t first = gpi_split_at(p, r, from), n = place[r + 1] - place[r];
        const struct gpi_run piece = gpi_run_at(x, out, place[r], n);
        if (n == 0)
            continue;
        GPI_TRY(gpi_dist_pull(x->comm, x->f, lane, (const char *)theirs[0] + first * key, n * key,
                              piece.keys));
        if (value)
            GPI_TRY(gpi_dist_pull(x->comm, x->f, lane, (const char *)theirs[1] + first * value,
                                  n * value, piece.values));
    }
    return gpi_dist_join(x->comm, x->f);
}

/* Sort the cut bin whose home this is, of which all take their parts later. */
static gp_status share_bin(const struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const int b = bin_at_home(p, x->comm->rank);
    if (b >= 0) {
        const struct gpi_run in = gpi_run_at(x, p->cut, 0, p->below[b + 1] - p->below[b]);
        GPI_TRY(pull(p, b, b + 1, false, in));
        GPI_TRY(sort(x, in, gpi_run_at(x, p->sorted, 0, in.n)));
        GPI_TRY(keep_part(p, b));
    }
    return x->comm->transport->announce(x->comm, x->f);
}

/* What only this rank has keys of is sorted where it lies. Keys alone may be in any order: if there
 * are two walks, what others have of a group comes before what this rank has, where keys of the
 * groups before were. These have to be sorted by then, so the walks take turns, and lanes wait for
 * the sort before the last. All else is copied to one place. */
static gp_status pull_groups(const struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const int me = x->comm->rank;
    struct gpi_split_walk w[2], *before = NULL;
    int turn = 0;
    const bool twice = gpi_split_begin(p, w);
    for (struct gpi_split_walk *now; (now = gpi_split_next(p, w, &turn)) != NULL; before = now) {
        const uint64_t at = gpi_split_at(p, me, now->begin),
                       own = gpi_split_at(p, me, now->end) - at;
        struct gpi_run in = group_room(p, now);
        const uint64_t others = in.n - own;
        const bool fits = twice && now != before && now->left >= others;
        if (fits || others == 0)
            in = gpi_run_at(x, x->here, at - others, in.n);
        if (others)
            GPI_TRY(pull(p, now->begin, now->end, fits, in));
        now->left += own;
        if (twice)
            GPI_TRY(gpi_dist_fork(x->comm, x->f));
        GPI_TRY(sort_group(p, now, in));
    }
    return GP_OK;
}

/* The beginning of this rank's keys, if a cut bin has it: behind the groups, which hide its way. */
static gp_status pull_part(const struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const int b = bin_elsewhere(p, x->comm->rank);
    uint64_t first;
    char mine = 0, all[GPI_SPLIT_RANKS]; /* the counts of bins stay in comm->table */
    GPI_TRY(x->comm->transport->gather(x->comm, x->f, &mine, 1, all));
    GPI_TRY(x->comm->transport->follow(x->comm, x->f));
    if (b < 0)
        return GP_OK;
    const void *const *theirs = &x->comm->lent[GPI_DIST_LENT * home_of(p, b)];
    const uint64_t n = part_of(p, x->comm->rank, b, &first);
    const size_t key = x->s->key_bytes, value = x->s->value_bytes;
    GPI_TRY(gpi_dist_fork(x->comm, x->f));
    if (x->s->keys_out)
        GPI_TRY(gpi_dist_pull(x->comm, x->f, GPI_DIST_FROM_OTHERS,
                              (const char *)theirs[2] + first * key, n * key, x->out.keys));
    if (value)
        GPI_TRY(gpi_dist_pull(x->comm, x->f, GPI_DIST_FROM_OTHERS,
                              (const char *)theirs[3] + first * value, n * value, x->out.values));
    return gpi_dist_join(x->comm, x->f);
}

/* How others' keys come: where nearly all do, the links decide, and GPUs that write fill them
 * better than those that read (dist-21). */
static enum gpi_dist_lane lane_of(const struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const gp_comm *comm = x->comm;
    const uint64_t get = comm->get[comm->rank];
    uint64_t own = 0;
    for (int b = 0; b < p->bins.count; b++)
        if (p->below[b] >= p->border[comm->rank] && p->below[b + 1] <= p->border[comm->rank + 1])
            own += gpi_split_at(p, comm->rank, b + 1) - gpi_split_at(p, comm->rank, b);
    return comm->window || own > get / 6 ? GPI_DIST_FROM_OTHERS : GPI_DIST_BY_OTHERS;
}

static gp_status pull_all(struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    p->lane = lane_of(p);
    GPI_TRY(gpi_dist_fork(x->comm, x->f));
    GPI_TRY(share_bin(p));
    GPI_TRY(pull_groups(p));
    return pull_part(p);
}

/* Errors are seen by this rank alone. */
static gp_status move_lent(struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const void *const mine[GPI_DIST_LENT] = {x->here.keys, x->here.values, p->sorted.keys,
                                             p->sorted.values};
    GPI_TRY(x->comm->transport->lend(x->comm, x->f, mine, x->comm->lent));
    const gp_status status = gpi_named(x->comm->ctx, x->f, pull_all(p));
    if (status != GP_OK) {
        gpi_dist_join(x->comm, x->f); /* before the memory has other uses */
        return gpi_dist_drop(x->comm, status);
    }
    return x->comm->transport->give_back(x->comm, x->f);
}

/* ---- sent ------------------------------------------------------------------------------------ */

/* What one exchange moves, in items: of the keys and values of a run to those of another. */
struct parcel {
    struct gpi_run from, to;
    uint64_t send_at[GPI_SPLIT_RANKS], send[GPI_SPLIT_RANKS];
    uint64_t recv_at[GPI_SPLIT_RANKS], recv[GPI_SPLIT_RANKS];
};

static gp_status exchange(const struct gpi_split *p, const struct parcel *e, size_t bytes,
                          const char *from, char *to)
{
    gp_comm *comm = p->x->comm;
    const int ranks = comm->ranks;
    uint64_t *send_at = comm->route, *send = send_at + ranks, *recv_at = send + ranks,
             *recv = recv_at + ranks;
    for (int r = 0; r < ranks; r++) {
        const bool own = r == comm->rank;
        send_at[r] = e->send_at[r] * bytes;
        send[r] = own ? 0 : e->send[r] * bytes;
        recv_at[r] = e->recv_at[r] * bytes;
        recv[r] = own ? 0 : e->recv[r] * bytes;
    }
    const struct gpi_route route = {from, send_at, send, to, recv_at, recv};
    const int me = comm->rank;
    GPI_TRY(comm->transport->exchange(comm, p->x->f, &route));
    return gp_copy(comm->ctx, from + send_at[me], e->send[me] * bytes, to + recv_at[me]);
}

static gp_status exchange_both(const struct gpi_split *p, const struct parcel *e, bool keys)
{
    const struct gpi_sort_args *s = p->x->s;
    if (keys)
        GPI_TRY(exchange(p, e, s->key_bytes, e->from.keys, e->to.keys));
    if (s->value_bytes)
        GPI_TRY(exchange(p, e, s->value_bytes, e->from.values, e->to.values));
    return GP_OK;
}

/* Bins [begin[r], end[r]) go to rank r, to where to begins there. */
static gp_status send_bins(const struct gpi_split *p, const int *begin, const int *end,
                           struct gpi_run to)
{
    const int me = p->x->comm->rank;
    struct parcel e = {.from = p->x->here, .to = to};
    uint64_t place = 0;
    for (int r = 0; r < p->x->comm->ranks; r++) {
        e.send_at[r] = gpi_split_at(p, me, begin[r]);
        e.send[r] = gpi_split_at(p, me, end[r]) - e.send_at[r];
        e.recv_at[r] = place;
        e.recv[r] = gpi_split_at(p, r, end[me]) - gpi_split_at(p, r, begin[me]);
        place += e.recv[r];
    }
    return exchange_both(p, &e, true);
}

/* Cut bins to their homes, which sort them. */
static gp_status send_cut_bins(const struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const int me = x->comm->rank;
    int begin[GPI_SPLIT_RANKS] = {0}, end[GPI_SPLIT_RANKS] = {0};
    for (int r = 0; r < x->comm->ranks; r++) {
        const int b = bin_at_home(p, r);
        begin[r] = b < 0 ? 0 : b;
        end[r] = b < 0 ? 0 : b + 1;
    }
    const struct gpi_run in = gpi_run_at(x, p->cut, 0, p->below[end[me]] - p->below[begin[me]]);
    GPI_TRY(send_bins(p, begin, end, in));
    if (in.n == 0)
        return GP_OK;
    GPI_TRY(sort(x, in, gpi_run_at(x, p->sorted, 0, in.n)));
    return keep_part(p, begin[me]);
}

/* Each rank's next group, until none has one. */
static gp_status send_groups(const struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const int ranks = x->comm->ranks, me = x->comm->rank;
    struct gpi_split_walk w[GPI_SPLIT_RANKS];
    for (int r = 0; r < ranks; r++)
        w[r] = gpi_split_walk(p, r);
    for (bool some = true; some;) {
        int begin[GPI_SPLIT_RANKS], end[GPI_SPLIT_RANKS];
        some = false;
        for (int r = 0; r < ranks; r++) {
            gpi_split_walk_on(p, &w[r]);
            begin[r] = w[r].begin, end[r] = w[r].end;
            some = some || begin[r] < end[r];
        }
        if (!some)
            break;
        const struct gpi_run in = group_room(p, &w[me]);
        GPI_TRY(send_bins(p, begin, end, in));
        GPI_TRY(sort_group(p, &w[me], in));
    }
    return GP_OK;
}

/* Parts of sorted cut bins to those that have no home there. */
static gp_status send_parts(const struct gpi_split *p)
{
    const struct gpi_sorting *x = p->x;
    const int me = x->comm->rank, mine = bin_at_home(p, me), b = bin_elsewhere(p, me);
    struct parcel e = {.from = p->sorted, .to = x->out};
    for (int r = 0; r < x->comm->ranks; r++)
        if (mine >= 0 && bin_elsewhere(p, r) == mine)
            e.send[r] = part_of(p, r, mine, &e.send_at[r]);
    if (b >= 0)
        e.recv[home_of(p, b)] = part_of(p, me, b, &(uint64_t){0});
    return exchange_both(p, &e, x->s->keys_out != NULL);
}

static gp_status move_sent(const struct gpi_split *p)
{
    GPI_TRY(send_cut_bins(p));
    GPI_TRY(send_groups(p));
    return send_parts(p);
}

/* ---- both ------------------------------------------------------------------------------------ */

gp_status gpi_split_move(struct gpi_split *p, uint64_t total)
{
    struct gpi_sorting *x = p->x;
    const uint64_t get = x->comm->get[x->comm->rank];
    p->came = gpi_run_take(x, get);
    p->cut = gpi_run_take(x, total / GPI_SPLIT_SHARE);
    p->sorted = x->comm->window ? x->cut : gpi_run_take(x, total / GPI_SPLIT_SHARE);
    x->out = (struct gpi_run){x->s->keys_out, x->s->values_out, get};
    if (!x->s->keys_out)
        x->out.keys = gpi_frame_take(
            x->frame, gpi_split_group_max(get, gpi_split_group_least(x), total) * x->s->key_bytes);
    if (x->comm->transport->lend)
        return move_lent(p);
    const gp_status status = gpi_named(x->comm->ctx, x->f, move_sent(p));
    return status == GP_OK ? GP_OK : gpi_dist_drop(x->comm, status);
}
