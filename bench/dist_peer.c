/* SPDX-License-Identifier: MIT */
/*
 * The sort that programs have without gp: a sample sort with CUB. Each rank sorts its keys, the
 * splitters are those of a sample of all, what lies between them is exchanged, and runs are merged.
 * Ranks get what falls to them, which is nearly even. What moves and merges is gp's.
 */
#include "dist.h"

#include <stdlib.h>

enum { SAMPLE = 4096 }; /* keys of each rank */

static gp_status sort_cub(struct rank *r, const void *in, size_t n, void *out)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.algorithm = r->cuda ? GP_ALGORITHM_CUB : GP_ALGORITHM_AUTO;
    return gp_radix_sort(r->ctx, GP_U32, in, n, out, &o);
}

/* Send counts[i] of the items to each rank i; returns how many came from each. */
static gp_status exchange(struct rank *r, const void *in, const uint64_t *counts, void *out,
                          uint64_t *came)
{
    const size_t words = (size_t)r->ranks * 8;
    const uint64_t quarter_more = r->n + r->n / 4, few = 1 << 18;
    uint64_t n = 0;
    for (int i = 0; i < r->ranks; i++)
        n += counts[i];
    gp_status s = gp_copy(r->ctx, counts, words, r->counts);
    if (s == GP_OK)
        s = gp_dist_exchange(r->comm, 4, in, n, r->counts, out,
                             quarter_more > few ? quarter_more : few, r->counts + RANKS_MAX);
    if (s == GP_OK)
        s = gp_copy(r->ctx, r->counts + RANKS_MAX, words, came);
    return s == GP_OK ? gp_context_synchronize(r->ctx) : s;
}

/* Where what goes to each rank begins in sorted keys: between the keys at equal distances in the
 * sorted samples of all. All of it in r->values and r->values_out. */
static gp_status find_cuts(struct rank *r, const void *sorted, uint64_t *cuts)
{
    const size_t p = (size_t)r->ranks, borders = p - 1;
    const uint64_t step = r->n / SAMPLE, apart = SAMPLE;
    uint64_t counts[RANKS_MAX], *index = r->values, came[RANKS_MAX];
    uint32_t *mine = (uint32_t *)(index + SAMPLE), *all = r->values_out, *splitters;
    gp_status s = gp_iota(r->ctx, GP_U64, &(uint64_t){0}, &step, SAMPLE, index);
    for (size_t i = 0; i < p && s == GP_OK; i++) {
        counts[i] = SAMPLE;
        s = gp_gather(r->ctx, 4, sorted, GP_U64, index, SAMPLE, mine + i * SAMPLE);
    }
    if (s == GP_OK)
        s = exchange(r, mine, counts, all, came);
    splitters = all + p * SAMPLE;
    if (s == GP_OK)
        s = gp_radix_sort(r->ctx, GP_U32, all, p * SAMPLE, splitters, NULL);
    if (s == GP_OK)
        s = gp_iota(r->ctx, GP_U64, &apart, &apart, borders, index);
    if (s == GP_OK)
        s = gp_gather(r->ctx, 4, splitters, GP_U64, index, borders, mine);
    if (s == GP_OK)
        s = gp_lower_bound(r->ctx, GP_U32, sorted, r->n, mine, borders, GP_U64, index);
    if (s == GP_OK)
        s = gp_copy(r->ctx, index, 8 * borders, cuts + 1);
    cuts[0] = 0;
    cuts[p] = r->n;
    return s == GP_OK ? gp_context_synchronize(r->ctx) : s;
}

/* Runs one after the other in r->values become one, in it or in r->out. */
static gp_status merge_runs(struct rank *r, const uint64_t *lengths)
{
    uint32_t *from = r->values, *to = r->out;
    uint64_t n = lengths[0];
    gp_status s = GP_OK;
    for (int i = 1; i < r->ranks && s == GP_OK; i++) {
        s = gp_merge(r->ctx, GP_U32, GP_ASCENDING, from, n, (uint32_t *)r->values + n, lengths[i],
                     to);
        n += lengths[i];
        if (s == GP_OK && i + 1 < r->ranks)
            s = gp_copy(r->ctx, to, 4 * n, from);
    }
    return s;
}

gp_status sample_sort(struct rank *r)
{
    uint64_t cuts[RANKS_MAX + 1], counts[RANKS_MAX], came[RANKS_MAX];
    if (!r->comm)
        return sort_cub(r, r->in, r->n, r->out);
    gp_status s = sort_cub(r, r->in, r->n, r->out);
    if (s == GP_OK)
        s = find_cuts(r, r->out, cuts);
    for (int i = 0; i < r->ranks; i++)
        counts[i] = cuts[i + 1] - cuts[i];
    if (s == GP_OK)
        s = exchange(r, r->out, counts, r->values, came);
    return s == GP_OK ? merge_runs(r, came) : s;
}
