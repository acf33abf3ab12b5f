/* SPDX-License-Identifier: MIT */
/* A segmented scan with its answer, and the calls that must give it. */
#ifndef GP_TEST_SCAN_SEGMENTS_H
#define GP_TEST_SCAN_SEGMENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/segments.h>

#include "oracle.h"
#include "segments.h"

/* How the segments are described. */
enum description { OFFSETS_32, FLAGS, KEYS_32, OFFSETS_64, KEYS_8, KEYS_16, KEYS_64, DESCRIPTIONS };

struct problem {
    gp_scan_desc desc;
    size_t n;
    char *in;
    uint8_t *heads;
    uint64_t *keys; /* neighbouring segments differ in the lowest byte too */
    char *expected;
    size_t shift; /* elements by which the description misses an aligned address */
};

/* Random exact items for the segments, and each segment scanned alone. */
static inline struct problem problem_new(const gp_scan_desc *desc, const struct t_segments *g,
                                         uint64_t *state)
{
    size_t n = g->items, item = gp_dtype_bytes(desc->in_dtype) * gp_op_scalars(desc->op);
    struct problem p = {.desc = *desc, .n = n};
    p.in = oracle_scan_input(desc->in_dtype, desc->op, n, state);
    p.heads = t_host(n);
    p.keys = t_host(n * sizeof *p.keys);
    p.expected = t_host(n * item);
    memset(p.heads, 0, n);
    uint64_t key = 0;
    for (size_t s = 0; s < g->count; s++) {
        size_t first = (size_t)g->offsets[s], length = (size_t)(g->offsets[s + 1] - first);
        if (length == 0)
            continue;
        char *out = oracle_scan(desc, p.in + first * item, length);
        memcpy(p.expected + first * item, out, length * item);
        free(out);
        if (first)
            p.heads[first] = (uint8_t)(1 + t_random_below(state, 255));
        uint64_t other = 1 + t_random_below(state, 255);
        key = (t_random(state) & ~(uint64_t)255) | ((key + other) & 255);
        for (size_t i = first; i < first + length; i++)
            p.keys[i] = key;
    }
    return p;
}

static inline void problem_free(struct problem *p)
{
    free(p->in);
    free(p->heads);
    free(p->keys);
    free(p->expected);
}

static inline t_array keys_put(const struct problem *p, size_t bytes)
{
    char *host = t_host(p->n * bytes);
    for (size_t i = 0; i < p->n; i++)
        memcpy(host + i * bytes, &p->keys[i], bytes); /* little-endian */
    t_array a = t_new_from(host, p->n * bytes, p->shift * bytes);
    free(host);
    return a;
}

static inline size_t key_bytes(enum description d)
{
    return d == KEYS_8 ? 1 : d == KEYS_16 ? 2 : d == KEYS_32 ? 4 : 8;
}

/* The array that describes the segments; offsets start anywhere. */
static inline t_array description_put(const struct problem *p, const struct t_segments *g,
                                      enum description d, gp_dtype *offset_dtype)
{
    static const gp_dtype dtypes[2][2] = {{GP_I32, GP_U32}, {GP_I64, GP_U64}};
    gp_dtype dtype = dtypes[d == OFFSETS_64][p->n % 2];
    uint64_t bases[] = {0, 77, t_largest_base(dtype, p->n)};
    *offset_dtype = dtype;
    if (d == FLAGS)
        return t_new_from(p->heads, p->n, p->shift);
    if (d == OFFSETS_32 || d == OFFSETS_64)
        return t_offsets_put(g, dtype, bases[p->n % 3], p->shift);
    return keys_put(p, key_bytes(d));
}

static inline void problem_check(const struct problem *p, const struct t_segments *g,
                                 enum description d, struct scan_layout layout)
{
    gp_dtype dtype = p->desc.in_dtype, offset_dtype;
    size_t scalar = gp_dtype_bytes(dtype), scalars = gp_op_scalars(p->desc.op);
    size_t bytes = p->n * scalar * scalars;
    t_array description = description_put(p, g, d, &offset_dtype);
    t_array in = t_new_from(p->in, bytes, layout.in_items * scalar);
    t_array out = t_new(bytes, layout.out_items * scalar);
    void *to = layout.in_place ? in.data : out.data;
    char *actual = t_host(bytes), name[96];
    snprintf(name, sizeof name, "description %d, kind %d of %s, n %zu, offsets %zu %zu", (int)d,
             (int)p->desc.kind, gp_op_string(p->desc.op), p->n, layout.in_items, layout.out_items);
    if (d == FLAGS)
        T_OK(gp_scan_flagged(t_ctx(), &p->desc, in.data, description.data, p->n, to));
    else if (d == OFFSETS_32 || d == OFFSETS_64)
        T_OK(gp_scan_segmented(t_ctx(), &p->desc, in.data, p->n, offset_dtype, description.data,
                               g->count, to));
    else
        T_OK(gp_scan_by_key(t_ctx(), &p->desc, key_bytes(d), description.data, in.data, p->n, to));
    t_get(layout.in_place ? &in : &out, actual, bytes);
    t_same(name, dtype, p->expected, actual, p->n * scalars);
    t_check_guards(&in);
    t_check_guards(&out);
    t_check_guards(&description);
    if (!layout.in_place) {
        t_get(&in, actual, bytes);
        t_same_bytes("the input", p->in, actual, bytes);
    }
    t_free(&description);
    t_free(&in);
    t_free(&out);
    free(actual);
}

#endif
