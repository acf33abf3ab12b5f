/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

enum { REPORT_EVERY = 1 << 12 };

bool oracle_bfs(const struct csr *links, uint32_t source, uint32_t *level)
{
    uint32_t *queue = malloc((size_t)links->num_rows * sizeof *queue + 1), end = 0;
    if (!queue)
        return false;
    memset(level, 0xff, (size_t)links->num_rows * sizeof *level);
    level[source] = 0;
    queue[end++] = source;
    for (uint32_t i = 0; i < end; i++)
        for (uint32_t k = links->row_pointers[queue[i]]; k < links->row_pointers[queue[i] + 1]; k++)
            if (level[links->cols[k]] == UINT32_MAX) {
                level[links->cols[k]] = level[queue[i]] + 1;
                queue[end++] = links->cols[k];
            }
    free(queue);
    return true;
}

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Union and find; the smaller root stays one. */
bool oracle_components(const struct csr *a, uint32_t *component)
{
    for (uint32_t v = 0; v < a->num_rows; v++)
        component[v] = v;
    for (uint32_t r = 0; r < a->num_rows; r++)
        for (uint32_t k = a->row_pointers[r]; k < a->row_pointers[r + 1]; k++) {
            const uint32_t x = root_of(component, r), y = root_of(component, a->cols[k]);
            component[x > y ? x : y] = x < y ? x : y;
        }
    for (uint32_t v = 0; v < a->num_rows; v++)
        component[v] = root_of(component, v);
    return true;
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* The neighbours of v in either direction, without v, ascending; returns how many. */
static size_t neighbours(const struct csr *a, const struct csr *t, uint32_t v, uint32_t *out)
{
    uint32_t i = a->row_pointers[v], k = t->row_pointers[v];
    const uint32_t i_end = a->row_pointers[v + 1], k_end = t->row_pointers[v + 1];
    size_t n = 0;
    while (i < i_end || k < k_end) {
        const uint32_t x = i < i_end ? a->cols[i] : UINT32_MAX;
        const uint32_t y = k < k_end ? t->cols[k] : UINT32_MAX;
        const uint32_t next = x < y ? x : y;
        i += x == next;
        k += y == next;
        if (next != v)
            out[n++] = next;
    }
    return n;
}

struct half {
    size_t *begin;         /* of each vertex's list */
    uint32_t *to, *degree; /* lists of the neighbours with a larger degree, or a larger number */
    uint32_t *mark;        /* the last vertex + 1 whose list has this one */
};

static bool allocate(struct half *h, const struct csr *a)
{
    const size_t n = a->num_rows;
    h->begin = malloc((n + 1) * sizeof *h->begin);
    h->to = malloc(2 * a->nnz * sizeof *h->to + 1);
    h->degree = malloc(n * sizeof *h->degree + 1);
    h->mark = calloc(n + 1, sizeof *h->mark);
    return h->begin && h->to && h->degree && h->mark;
}

static void direct(struct half *h, const struct csr *a, const struct csr *t)
{
    size_t end = 0;
    for (uint32_t v = 0; v < a->num_rows; v++)
        h->degree[v] = (uint32_t)neighbours(a, t, v, h->to);
    for (uint32_t v = 0; v < a->num_rows; v++) {
        const size_t all = neighbours(a, t, v, h->to + end), first = end;
        h->begin[v] = end;
        for (size_t i = first; i < first + all; i++) {
            const uint32_t w = h->to[i];
            if (h->degree[v] < h->degree[w] || (h->degree[v] == h->degree[w] && v < w))
                h->to[end++] = w;
        }
    }
    h->begin[a->num_rows] = end;
}

static uint64_t triangles_at(struct half *h, uint32_t v)
{
    uint64_t found = 0;
    for (size_t i = h->begin[v]; i < h->begin[v + 1]; i++)
        h->mark[h->to[i]] = v + 1;
    for (size_t i = h->begin[v]; i < h->begin[v + 1]; i++)
        for (size_t k = h->begin[h->to[i]]; k < h->begin[h->to[i] + 1]; k++)
            found += h->mark[h->to[k]] == v + 1;
    return found;
}

bool oracle_triangles(const struct csr *a, const struct csr *t, uint64_t *triangles,
                      coo_progress *progress, void *arg)
{
    struct half h;
    const bool good = allocate(&h, a);
    *triangles = 0;
    if (good)
        direct(&h, a, t);
    for (uint32_t v = 0; good && v < a->num_rows; v++) {
        *triangles += triangles_at(&h, v);
        if (progress && v % REPORT_EVERY == 0)
            progress(arg, v, a->num_rows);
    }
    free(h.begin);
    free(h.to);
    free(h.degree);
    free(h.mark);
    return good;
}
