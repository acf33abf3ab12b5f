/* SPDX-License-Identifier: MIT */
/* Sorts over ranks by bins: which bins a rank sorts together, and in which order. */
#include "dist/dist_split_internal.h"

/* Bins that lie within the keys of rank r: from *from on, up to *to. */
static void whole_bins(const struct gpi_split *p, int r, int *from, int *to)
{
    *from = 0;
    while (*from < p->bins.count && p->below[*from] < p->border[r])
        ++*from;
    *to = *from;
    while (*to < p->bins.count && p->below[*to + 1] <= p->border[r + 1])
        ++*to;
}

static struct gpi_split_walk walk_from(const struct gpi_split *p, int r, uint64_t first)
{
    const uint64_t least = gpi_split_group_least(p->x);
    const uint64_t most = gpi_split_group_wanted(p->x->comm->get[r], least);
    struct gpi_split_walk w = {.most = most};
    w.wanted = first < least ? least : first < most ? first : most;
    whole_bins(p, r, &w.end, &w.last);
    return w;
}

struct gpi_split_walk gpi_split_walk(const struct gpi_split *p, int r)
{
    return walk_from(p, r, UINT64_MAX);
}

/* Whether bins [begin, begin + n) are as many as is wanted, or a little more. */
static bool is_wanted(const struct gpi_split *p, const struct gpi_split_walk *w, int n)
{
    const int end = w->begin + n < w->last ? w->begin + n : w->last;
    const uint64_t eighth = w->wanted / 8, share = p->below[p->bins.count] / GPI_SPLIT_SHARE;
    return p->below[end] - p->below[w->begin] <= w->wanted + (eighth < share ? eighth : share);
}

/* The numbers of a group's bins are a power of two of them from a multiple of it on, or most of
 * these: a sort divides by the highest bits that vary, of which keys should have all values. */
void gpi_split_walk_on(const struct gpi_split *p, struct gpi_split_walk *w)
{
    int n = 1;
    w->begin = w->end;
    const uint64_t number = p->bins.first + (uint64_t)w->begin;
    while (number % (2 * (uint64_t)n) == 0 && w->begin + n < w->last && is_wanted(p, w, 2 * n))
        n *= 2;
    w->end = w->begin + n < w->last ? w->begin + n : w->last;
    w->wanted += w->doubles ? w->wanted : w->wanted / 2;
    w->wanted = w->wanted < w->most ? w->wanted : w->most;
}

/* ---- while keys arrive ----------------------------------------------------------------------- */

/* Whether there is room for most of what others have of a group where this rank had keys itself,
 * and not too little of theirs. */
static bool goes_twice(const struct gpi_split *p, uint64_t own, uint64_t all)
{
    return !p->x->s->value_bytes && own > all / 4 + all / 32 && all - own > all / 8;
}

bool gpi_split_begin(const struct gpi_split *p, struct gpi_split_walk *w)
{
    const int me = p->x->comm->rank;
    int round = 1;
    w[0] = walk_from(p, me, p->x->comm->get[me] / 32);
    const uint64_t own = gpi_split_at(p, me, w->last) - gpi_split_at(p, me, w->end);
    const uint64_t all = p->below[w->last] - p->below[w->end];
    w[1] = w[0];
    w[1].end = w[1].last;
    if (!goes_twice(p, own, all))
        return false;
    while (16 * round <= w[0].last - w[0].end)
        round *= 2;
    const uint64_t middle = p->bins.first + (uint64_t)(w[0].end + w[0].last + round) / 2;
    w[0].last = w[1].end = (int)(middle - middle % (uint64_t)round - p->bins.first);
    w[0].doubles = w[1].doubles = true;
    return true;
}

struct gpi_split_walk *gpi_split_next(const struct gpi_split *p, struct gpi_split_walk *w,
                                      int *turn)
{
    for (int i = 0; i < 2; i++) {
        struct gpi_split_walk *now = &w[*turn];
        *turn = !*turn;
        if (now->end == now->last)
            continue;
        gpi_split_walk_on(p, now);
        w[*turn].wanted = now->wanted;
        return now;
    }
    return NULL;
}
