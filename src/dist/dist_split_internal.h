/* SPDX-License-Identifier: MIT */
/*
 * Sorts over ranks of keys whose highest bits divide them well:
 *   1. a sample of the keys of all ranks tells which bits vary; the highest 7 of them are the
 *      number of a bin;
 *   2. each rank sorts its keys by the bits of the bin and those above: one pass;
 *   3. the counts of all bins are gathered, and each rank knows which ones belong to whom;
 *   4. each rank gets its bins from all ranks, group by group, and sorts them. Pieces lie in rank
 *      order, so the sort is stable. Where ranks read each other's memory, the next groups arrive
 *      while one is sorted.
 * A bin that a border cuts is sorted by the rank in which it begins, and the others take their
 * parts of it in the end.
 *
 * What sorts first and merges then (dist_merge.c) moves as much, but has to wait for the links, and
 * the sort of one rank takes longer for all its keys at once. But it takes keys of any kind: all
 * that do not suit these bins.
 */
#ifndef GPI_DIST_SPLIT_INTERNAL_H
#define GPI_DIST_SPLIT_INTERNAL_H

#include "dist/dist_sort_internal.h"

/* Bins, and the most ranks: bins are to be small beside what a rank gets. No bin may hold more than
 * 1/GPI_SPLIT_SHARE of all keys. */
enum { GPI_SPLIT_BIN_BITS = 7, GPI_SPLIT_BINS = 1 << GPI_SPLIT_BIN_BITS, GPI_SPLIT_RANKS = 16 };

/* The bin of a word is that of its bits from shift on, less first; those outside belong to the
 * outermost ones. */
struct gpi_bins {
    uint64_t first;
    int shift, count;
};

struct gpi_split {
    struct gpi_sorting *x;
    struct gpi_bins bins;
    uint64_t below[GPI_SPLIT_BINS + 1];   /* keys of all ranks before each bin */
    uint64_t border[GPI_SPLIT_RANKS + 1]; /* keys before those of each rank */
    struct gpi_run came, cut, sorted;     /* the last: of a bin that a border cuts */
    enum gpi_dist_lane lane;              /* that others' keys come by, where they are lent */
};

/* Where bin b begins in the keys of rank r. */
static inline uint64_t gpi_split_at(const struct gpi_split *p, int r, int b)
{
    if (b == 0)
        return 0;
    return b == p->bins.count ? p->x->comm->have[r]
                              : p->x->comm->table[(size_t)r * (size_t)p->bins.count + (size_t)b];
}

/* How many keys of a rank that gets that many are sorted at once, and the most of them. */
uint64_t gpi_split_group_wanted(uint64_t get, uint64_t least);
uint64_t gpi_split_group_max(uint64_t get, uint64_t least, uint64_t total);

/* dist_split_walk.c: a way through the whole bins of a rank, of which the next group are those from
 * begin to end. */
struct gpi_split_walk {
    int begin, end, last;
    uint64_t wanted, most; /* keys of the next group, and of any */
    /* The next may be twice this one, where links bring but a part; otherwise half as large again,
     * as they are faster than sorts. */
    bool doubles;
    uint64_t left; /* keys of groups before it that this rank had itself, and needs no more */
};

/* All bins of rank r in groups of the same size. */
struct gpi_split_walk gpi_split_walk(const struct gpi_split *p, int r);
void gpi_split_walk_on(const struct gpi_split *p, struct gpi_split_walk *walk);
/* Those of this rank, whose first groups are small, as others hide their way here behind the sorts
 * before them. True: two walks, each through half of the bins, from round numbers on; false: the
 * second one has none. */
bool gpi_split_begin(const struct gpi_split *p, struct gpi_split_walk *walks);
/* The next group, of both in turn, beginning with walks[*turn]; NULL: there is none. */
struct gpi_split_walk *gpi_split_next(const struct gpi_split *p, struct gpi_split_walk *walks,
                                      int *turn);

/* dist_split_move.c: steps 4 and 5, in what is left of the frame. */
gp_status gpi_split_move(struct gpi_split *p, uint64_t total);

#endif
