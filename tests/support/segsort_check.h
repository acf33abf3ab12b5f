/* SPDX-License-Identifier: MIT */
/* A segmented sort, compared with the order of each segment by itself. */
#ifndef SEGSORT_CHECK_H
#define SEGSORT_CHECK_H

#include <gp/segsort.h>

#include "radixsort_check.h"
#include "segments.h"

/* One checked call: the sort of a spec, whose n the segments give. */
struct case_ {
    struct spec sort;
    gp_dtype offset_dtype;
    uint64_t base; /* offsets[0] */
};

/* The order of all items, segment by segment. */
static size_t *oracle_segments(const struct case_ *c, const struct t_segments *g, const void *keys)
{
    size_t key = gp_dtype_bytes(c->sort.dtype), *order = t_host(g->items * sizeof *order);
    for (size_t s = 0; s < g->count; s++) {
        size_t begin = (size_t)g->offsets[s], len = (size_t)g->offsets[s + 1] - begin;
        size_t *part = oracle_argsort(c->sort.dtype, (const char *)keys + begin * key, len,
                                      c->sort.descending, c->sort.begin, c->sort.end);
        for (size_t i = 0; i < len; i++)
            order[begin + i] = begin + part[i];
        free(part);
    }
    return order;
}

static void call(const struct case_ *c, const struct t_segments *g, const struct arrays *a,
                 const t_array *offsets)
{
    const struct spec *s = &c->sort;
    gp_radix_sort_options o = options_of(s);
    if (s->value_bytes)
        T_OK(gp_radix_sort_segmented_pairs(t_ctx(), s->dtype, a->ki.data, s->value_bytes,
                                           a->vi.data, s->n, c->offset_dtype, offsets->data,
                                           g->count, a->k->data, a->v->data, &o));
    else
        T_OK(gp_radix_sort_segmented(t_ctx(), s->dtype, a->ki.data, s->n, c->offset_dtype,
                                     offsets->data, g->count, a->k->data, &o));
}

static void compare(const struct case_ *c, const struct t_segments *g, const struct arrays *a,
                    const void *keys, const void *values)
{
    size_t *order = oracle_segments(c, g, keys);
    arrays_check_order(&c->sort, a, keys, values, order);
    free(order);
}

/* keys: taken over. */
static void check_sort_of(struct case_ *c, const struct t_segments *g, void *keys)
{
    c->sort.n = g->items;
    void *values = values_new(g->items, c->sort.value_bytes);
    struct arrays a = arrays_new(&c->sort, keys, values);
    t_array offsets = t_offsets_put(g, c->offset_dtype, c->base, 1);
    a.k = c->sort.keys_in_place ? &a.ki : &a.ko;
    a.v = c->sort.values_in_place ? &a.vi : &a.vo;
    call(c, g, &a, &offsets);
    compare(c, g, &a, keys, values);
    t_free(&a.ki), t_free(&a.ko), t_free(&a.vi), t_free(&a.vo), t_free(&offsets);
    free(keys), free(values);
}

static void check_case(struct case_ *c, const struct t_segments *g, enum pattern pattern)
{
    check_sort_of(c, g, pattern_new(pattern, c->sort.dtype, g->items));
}

#endif
