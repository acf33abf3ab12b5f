/* SPDX-License-Identifier: MIT */
/* Sorts over GPUs that read each other's memory: what is sorted on each is cut and merged out of it
 * by kernels, so no host waits for a GPU. */
#include "dist/dist_sort_internal.h"
#include "merge/merge_internal.h"

bool gpi_dist_cuts_lent(const struct gpi_sorting *x)
{
    const gp_comm *comm = x->comm;
    return (comm->mail || comm->window) && comm->ranks <= GPI_DIST_CUT_RANKS &&
           x->s->desc.result != GP_DIST_FREE;
}

/* Where this rank's part begins in the keys of each, and the numbers of keys before them. */
static gp_status cut_lent(const struct gpi_sorting *x, uint64_t *first)
{
    const gp_comm *comm = x->comm;
    struct gpi_dist_cutting c = {.ranks = comm->ranks};
    const struct gpi_dist_kernel k = {.task = GPI_DIST_CUT,
                                      .in_bytes = x->s->key_bytes,
                                      .out = first,
                                      .order = gpi_radix_order_of(x->s->dtype, x->s->order),
                                      .cutting = &c};
    for (int r = 0; r < comm->ranks; r++) {
        c.keys[r] = comm->lent[GPI_DIST_LENT * r];
        c.n[r] = comm->have[r];
        c.begin += r < comm->rank ? comm->get[r] : 0;
    }
    c.end = c.begin + comm->get[comm->rank];
    return gpi_dist_launch(x->comm, x->f, &k);
}

/* The two neighbouring runs or groups of them that a merge takes: keys and values of those from run
 * r on, which are the others' own before the first merges, and one array then. */
static void take_runs(const struct gpi_sorting *x, struct gpi_merge_job *j,
                      const struct gpi_run *in)
{
    const void *const *lent = x->comm->lent;
    const uint32_t a = GPI_DIST_LENT * j->groups.run_a, b = GPI_DIST_LENT * j->groups.run_b;
    const bool single = j->groups.run_b >= (uint32_t)x->comm->ranks;
    j->keys_a = in ? in->keys : lent[a];
    j->values_a = in ? in->values : lent[a + 1];
    j->keys_b = in || single ? NULL : lent[b];
    j->values_b = in || single ? NULL : lent[b + 1];
}

/* Merge neighbours until one run is left; levels alternate between two arrays and end in out. Only
 * the GPU knows how many keys a run has: each merge has as many blocks as this rank's keys want. */
static gp_status merge_lent(const struct gpi_sorting *x, uint64_t *first, uint64_t *cuts)
{
    const struct gpi_sort_args *s = x->s;
    gp_context *ctx = x->comm->ctx;
    const uint32_t ranks = (uint32_t)x->comm->ranks;
    struct gpi_merge_job j = {.order = gpi_radix_order_of(s->dtype, s->order),
                              .key_bytes = s->key_bytes,
                              .value_bytes = s->value_bytes,
                              .num_a = x->out.n};
    const struct gpi_run *in = NULL;
    int level = 1;
    while (1u << level < ranks)
        level++;
    for (uint32_t group = 1; level > 0; level--, group *= 2) {
        const struct gpi_run *to = level & 1 ? &x->out : &x->came;
        for (uint32_t r = 0; r < ranks; r += 2 * group) {
            j.groups = (struct gpi_merge_groups){.offsets = first + ranks + 1,
                                                 .offset_bytes = sizeof *first,
                                                 .run_a = r,
                                                 .run_b = r + group,
                                                 .end = r + 2 * group,
                                                 .num_runs = ranks,
                                                 .n = x->out.n};
            j.first = in ? NULL : first;
            take_runs(x, &j, in);
            j.keys_out = to->keys;
            j.values_out = to->values;
            GPI_TRY(gpi_merge_launch_get(ctx->sm_row)(ctx, x->f, &j, cuts));
        }
        in = to;
    }
    return GP_OK;
}

static gp_status take_part(struct gpi_sorting *x)
{
    const uint64_t n = x->comm->get[x->comm->rank];
    uint64_t *cuts;
    x->came = gpi_run_take(x, n);
    x->out = (struct gpi_run){x->s->keys_out, x->s->values_out, n};
    if (!x->s->keys_out)
        x->out.keys = gpi_frame_take(x->frame, n * x->s->key_bytes);
    if (n == 0)
        return GP_OK;
    cuts = gpi_frame_take(x->frame, gpi_merge_cuts(n) * sizeof *cuts);
    GPI_TRY(cut_lent(x, x->scratch));
    return merge_lent(x, x->scratch, cuts);
}

gp_status gpi_dist_sort_lent(struct gpi_sorting *x)
{
    const void *const mine[GPI_DIST_LENT] = {x->here.keys, x->here.values};
    gp_comm *comm = x->comm;
    const gp_status here = gpi_named(comm->ctx, x->f, gpi_dist_sort_here(x, 0));
    GPI_TRY(gpi_dist_agree(comm, &x->s->a, here, NULL, 0));
    GPI_TRY(comm->transport->lend(comm, x->f, mine, comm->lent));
    const gp_status taken = take_part(x);
    if (taken != GP_OK)
        return gpi_dist_drop(comm, taken);
    GPI_TRY(comm->transport->give_back(comm, x->f));
    return gpi_dist_tell(comm, x->f, x->s->out_count);
}
