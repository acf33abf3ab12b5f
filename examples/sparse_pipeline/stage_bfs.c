/* SPDX-License-Identifier: MIT */
/*
 * Breadth-first search along the links. A level is a list of vertices; their lists of links are
 * copied one behind the other, however long each is, and of what they name the vertices that were
 * not seen before are the next level. The host reads two numbers per level.
 */
#include "compare.h"
#include "stages.h"

#include <stdlib.h>

enum { FEW = 16 }; /* links for so many vertices: a level is sorted */

struct level_size {
    uint64_t vertices, links;
};

struct search {
    uint32_t source;
    uint8_t *unseen, *fresh;    /* a flag per vertex; fresh: named by this level, and unseen */
    uint8_t *keep;              /* a flag per link of the level */
    uint8_t *set;               /* nothing but 1, as many as links */
    uint32_t *level;            /* of each vertex */
    uint32_t *frontier, *depth; /* the vertices of the level, and its number beside each */
    uint32_t *starts, *lengths, *offsets;
    uint32_t *named, *found; /* by the links of the level: all, and those that were unseen */
    struct level_size *size;
    uint64_t *num_found;
    uint32_t levels;
    uint64_t reached;
};

/* The vertices of the frontier, size->vertices and at most n, get their level and are seen; where
 * their links are, and how many. */
static void enter_level(struct job *j, const struct search *s, uint32_t level, size_t n)
{
    static const uint8_t no = 0;
    const uint64_t *number = &s->size->vertices;
    gp_fill_desc fill = GP_FILL_DESC_INIT;
    gp_scatter_desc put = GP_SCATTER_DESC_INIT;
    gp_gather_desc get = GP_GATHER_DESC_INIT;
    gp_scan_desc sum = GP_SCAN_DESC_INIT;
    fill.device_n = put.device_n = get.device_n = sum.device_n = number;
    put.index_dtype = get.index_dtype = GP_U32;
    put.out_items = get.in_items = j->links.num_rows;

    fill.item_bytes = put.item_bytes = 1, fill.item = &no;
    job_need(j, gp_fill_by(j->ctx, &fill, n, s->keep));
    job_need(j, gp_scatter_by(j->ctx, &put, s->keep, s->frontier, n, s->unseen));
    job_need(j, gp_scatter_by(j->ctx, &put, s->keep, s->frontier, n, s->fresh));
    fill.item_bytes = put.item_bytes = 4, fill.item = &level;
    job_need(j, gp_fill_by(j->ctx, &fill, n, s->depth));
    job_need(j, gp_scatter_by(j->ctx, &put, s->depth, s->frontier, n, s->level));

    get.item_bytes = 4;
    job_need(j, gp_gather_by(j->ctx, &get, j->links.row_pointers, s->frontier, n, s->starts));
    job_need(j, gp_gather_by(j->ctx, &get, j->out_degree, s->frontier, n, s->lengths));
    sum.kind = GP_SCAN_ROW_POINTERS;
    sum.in_dtype = GP_U32;
    sum.total = &s->size->links;
    job_need(j, gp_scan(j->ctx, &sum, s->lengths, n, s->offsets));
}

/* The vertices that are in s->found once or more, ascending: of few, their sorted list without
 * duplicates; of many, the flags of all vertices. */
static void each_once(struct job *j, const struct search *s, size_t links)
{
    const size_t n = j->links.num_rows;
    gp_radix_sort_options sort = GP_RADIX_SORT_OPTIONS_INIT;
    gp_unique_desc unique = GP_UNIQUE_DESC_INIT;
    gp_scatter_desc put = GP_SCATTER_DESC_INIT;
    sort.device_n = unique.device_n = put.device_n = s->num_found;
    if (links < n / FEW) {
        unique.key_dtype = GP_U32;
        job_need(j, gp_radix_sort(j->ctx, GP_U32, s->found, links, s->named, &sort));
        job_need(j, gp_unique_by(j->ctx, &unique, s->named, NULL, links, s->frontier, NULL, NULL,
                                 &s->size->vertices));
        return;
    }
    put.item_bytes = 1;
    put.index_dtype = GP_U32;
    put.out_items = n;
    job_need(j, gp_scatter_by(j->ctx, &put, s->set, s->found, links, s->fresh));
    job_need(j, gp_compact_indices(j->ctx, GP_U32, s->fresh, n, s->frontier, &s->size->vertices));
}

/* The vertices that a frontier of that many vertices and links names first. */
static void next_frontier(struct job *j, const struct search *s, size_t vertices, size_t links)
{
    gp_interval_desc lists = GP_INTERVAL_DESC_INIT;
    lists.item_bytes = 4;
    lists.in_items = j->links.nnz;
    lists.offset_dtype = GP_U32;
    job_need(j, gp_copy_intervals(j->ctx, &lists, j->links.cols, s->starts, s->offsets, vertices,
                                  links, NULL, s->named));
    job_need(j, gp_gather(j->ctx, 1, s->unseen, GP_U32, s->named, links, s->keep));
    job_need(j, gp_compact(j->ctx, 4, s->named, s->keep, links, s->found, s->num_found));
    each_once(j, s, links);
}

static void search(struct job *j, void *state)
{
    static const uint8_t no = 0, yes = 1;
    static const uint32_t never = UINT32_MAX;
    struct search *s = state;
    const size_t n = j->links.num_rows;
    struct level_size size = {1, 0};
    size_t most = 1; /* vertices of the level */
    s->levels = 0;
    s->reached = 0;
    job_need(j, gp_fill(j->ctx, 1, &yes, n, s->unseen));
    job_need(j, gp_fill(j->ctx, 1, &no, n, s->fresh));
    job_need(j, gp_fill(j->ctx, 4, &never, n, s->level));
    job_need(j, gp_fill(j->ctx, 4, &s->source, 1, s->frontier));
    job_need(j, gp_copy(j->ctx, &size, sizeof size, s->size));
    for (;; s->levels++) {
        enter_level(j, s, s->levels, most);
        job_fetch(j, s->size, sizeof size, &size);
        s->reached += size.vertices;
        if (size.links == 0)
            break;
        next_frontier(j, s, size.vertices, size.links);
        most = size.links < n ? size.links : n;
    }
    s->levels += size.vertices != 0;
}

static bool compare(struct job *j, const struct search *s, double *serial)
{
    uint32_t *expected = job_host_array(j, j->links.num_rows, sizeof *expected);
    const double begin = report_now();
    job_need_host(j, oracle_bfs(&j->host_links, s->source, expected));
    *serial = report_now() - begin;
    const bool good = check_words(j, "levels", s->level, expected, j->links.num_rows);
    free(expected);
    return good;
}

void stage_bfs(struct job *j)
{
    static const uint8_t yes = 1;
    struct report_stage line = {.name = "search"};
    const size_t n = j->links.num_rows, links = j->links.nnz, most = n > links ? n : links;
    struct search s = {.source = j->options.source ? (uint32_t)j->options.source - 1 : j->busiest};
    if (s.source >= n) {
        job_note(j, line.name, "left out: there is no vertex %u", s.source + 1);
        return;
    }
    uint8_t **const bytes[] = {&s.unseen, &s.fresh, &s.keep, &s.set};
    uint32_t **const words[] = {&s.level,   &s.frontier, &s.depth, &s.starts,
                                &s.lengths, &s.offsets,  &s.named, &s.found};
    for (int i = 0; i < 4; i++)
        *bytes[i] = job_array(j, i < 2 ? n : most, 1);
    for (int i = 0; i < 8; i++)
        *words[i] = job_array(j, i < 6 ? n + 1 : links, 4);
    s.size = job_array(j, 1, sizeof *s.size);
    s.num_found = job_array(j, 1, sizeof *s.num_found);
    job_need(j, gp_fill(j->ctx, 1, &yes, most, s.set));
    line.seconds = job_time(j, line.name, search, &s);
    line.bytes = 4.0 * (double)links + 17.0 * (double)n;
    const bool good = !j->options.oracle || compare(j, &s, &line.serial);
    job_line(j, &line, good, "from %u: %llu, %u steps", s.source + 1, (unsigned long long)s.reached,
             s.levels - 1);
    for (int i = 0; i < 4; i++)
        job_drop(j, *bytes[i]);
    for (int i = 0; i < 8; i++)
        job_drop(j, *words[i]);
    job_drop(j, s.size);
    job_drop(j, s.num_found);
}
