/* SPDX-License-Identifier: MIT */
/*
 * Connected components: each vertex has a label, which is a vertex of its component, and becomes
 * the smallest. In a round each label that is in use becomes the smallest that its vertices have or
 * see at their neighbours (a group-by); then labels take labels' labels until none changes.
 */
#include "compare.h"
#include "stages.h"

#include <stdlib.h>

struct components {
    uint32_t *label;      /* of each vertex */
    uint32_t *of_entries; /* labels of the entries' other ends */
    uint32_t *seen;       /* the smallest label of the neighbours of each vertex */
    uint32_t *three;      /* for each: that of its row, that of its column, and its own label */
    uint32_t *least;      /* the smallest of the three */
    uint32_t *groups, *smallest; /* labels in use, and what each becomes */
    uint64_t *num_groups, *sums; /* of groups and smallest; of labels before and after a jump */
    uint32_t *sizes;             /* vertices of each group */
    uint32_t *largest;
    uint64_t found; /* components */
};

/* three[3 i + place] = labels[i] */
static void put(struct job *j, const struct components *c, const uint32_t *labels, int place)
{
    gp_gather_desc desc = GP_GATHER_DESC_INIT;
    desc.item_bytes = 4;
    desc.out_stride = 12;
    job_need(j, gp_gather_by(j->ctx, &desc, labels, NULL, j->a.num_rows, c->three + place));
}

/* The smallest label among the neighbours of each vertex by the rows of a matrix. */
static void see(struct job *j, const struct components *c, const struct csr *a, int place)
{
    gp_reduce_segmented_desc least = GP_REDUCE_SEGMENTED_DESC_INIT;
    least.in_dtype = least.offset_dtype = GP_U32;
    least.op = GP_MIN;
    job_need(j, gp_gather(j->ctx, 4, c->label, GP_U32, a->cols, a->nnz, c->of_entries));
    job_need(j, gp_reduce_segmented(j->ctx, &least, c->of_entries, a->nnz, a->row_pointers,
                                    a->num_rows, c->seen));
    put(j, c, c->seen, place);
}

static void sum(struct job *j, const uint32_t *labels, size_t n, const uint64_t *number,
                uint64_t *out)
{
    gp_reduce_desc desc = GP_REDUCE_DESC_INIT;
    desc.in_dtype = GP_U32;
    desc.out_dtype = GP_U64;
    desc.device_n = number;
    job_need(j, gp_reduce_by(j->ctx, &desc, labels, n, out));
}

/* Each label in use, how many vertices have it, and the smallest label that they see. */
static void group(struct job *j, const struct components *c)
{
    const size_t n = j->a.num_rows;
    gp_aggregate wanted[2] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT};
    gp_group_by_desc desc = GP_GROUP_BY_DESC_INIT;
    gp_reduce_segmented_desc least = GP_REDUCE_SEGMENTED_DESC_INIT;
    wanted[0].op = GP_MIN;
    wanted[0].in_dtype = GP_U32;
    wanted[0].values = c->least;
    wanted[0].out = c->smallest;
    wanted[1].kind = GP_AGGREGATE_COUNT;
    wanted[1].out_dtype = GP_U32;
    wanted[1].out = c->sizes;
    desc.key_dtype = GP_U32;
    desc.num_aggregates = 2;
    desc.aggregates = wanted;
    desc.capacity = n;
    least.in_dtype = GP_U32;
    least.op = GP_MIN;
    see(j, c, &j->a, 0);
    see(j, c, &j->links, 1);
    put(j, c, c->label, 2);
    job_need(j, gp_reduce_rows(j->ctx, &least, c->three, n, 3, c->least));
    job_need(j, gp_group_by(j->ctx, &desc, c->label, n, c->groups, c->num_groups));
    sum(j, c->groups, n, c->num_groups, c->sums);
    sum(j, c->smallest, n, c->num_groups, c->sums + 1);
}

/* Labels become the labels of labels, until none changes: they only get smaller. */
static void jump(struct job *j, struct components *c)
{
    const size_t n = j->a.num_rows;
    uint64_t sums[2];
    sum(j, c->label, n, NULL, c->sums);
    do {
        job_need(j, gp_gather(j->ctx, 4, c->label, GP_U32, c->label, n, c->seen));
        job_need(j, gp_copy(j->ctx, c->seen, n * 4, c->label));
        sum(j, c->label, n, NULL, c->sums + 1);
        job_fetch(j, c->sums, sizeof sums, sums);
        job_need(j, gp_copy(j->ctx, c->sums + 1, sizeof *sums, c->sums));
    } while (sums[0] != sums[1]);
}

static void find(struct job *j, void *state)
{
    struct components *c = state;
    const size_t n = j->a.num_rows;
    gp_scatter_desc by_group = GP_SCATTER_DESC_INIT;
    uint64_t sums[2];
    by_group.item_bytes = 4;
    by_group.index_dtype = GP_U32;
    by_group.out_items = n;
    by_group.device_n = c->num_groups;
    job_need(j, gp_iota(j->ctx, GP_U32, NULL, NULL, n, c->label));
    for (;;) {
        group(j, c);
        job_fetch(j, c->sums, sizeof sums, sums);
        if (sums[0] == sums[1])
            break;
        job_need(j, gp_scatter_by(j->ctx, &by_group, c->smallest, c->groups, n, c->label));
        jump(j, c);
    }
    c->found = job_fetch_count(j, c->num_groups);
    job_need(j, gp_reduce(j->ctx, GP_U32, GP_MAX, c->sizes, c->found, c->largest));
}

static bool compare(struct job *j, const struct components *c, double *serial)
{
    uint32_t *expected = job_host_array(j, j->a.num_rows, sizeof *expected);
    const double begin = report_now();
    job_need_host(j, oracle_components(&j->host, expected));
    *serial = report_now() - begin;
    const bool good = check_words(j, "components", c->label, expected, j->a.num_rows);
    free(expected);
    return good;
}

void stage_components(struct job *j)
{
    struct report_stage line = {.name = "components"};
    const size_t n = j->a.num_rows;
    struct components c = {.of_entries = job_array(j, j->a.nnz, 4)};
    uint32_t **const words[] = {&c.label, &c.groups, &c.smallest, &c.sizes, &c.seen, &c.least};
    uint32_t largest;
    for (int i = 0; i < 6; i++)
        *words[i] = job_array(j, n, 4);
    c.three = job_array(j, 3 * n, 4);
    c.num_groups = job_array(j, 1, sizeof *c.num_groups);
    c.sums = job_array(j, 2, sizeof *c.sums);
    c.largest = job_array(j, 1, sizeof *c.largest);
    line.seconds = job_time(j, line.name, find, &c);
    line.bytes = 8.0 * (double)j->a.nnz + 12.0 * (double)n;
    job_fetch(j, c.largest, sizeof largest, &largest);
    const bool good = !j->options.oracle || compare(j, &c, &line.serial);
    job_line(j, &line, good, "%llu, the largest %u", (unsigned long long)c.found, largest);
    for (int i = 0; i < 6; i++)
        job_drop(j, *words[i]);
    job_drop(j, c.three);
    job_drop(j, c.of_entries);
    job_drop(j, c.num_groups);
    job_drop(j, c.sums);
    job_drop(j, c.largest);
}
