/* SPDX-License-Identifier: MIT */
/* A segmented reduction with its answer, and the calls that must give it. */
#ifndef GP_TEST_SEGREDUCE_CHECK_H
#define GP_TEST_SEGREDUCE_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/segreduce.h>

#include "oracle.h"
#include "reduce_check.h"
#include "segments.h"

static inline gp_reduce_segmented_desc segmented_desc(gp_dtype in, gp_dtype out, gp_op op,
                                                      gp_dtype offset_dtype)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    d.in_dtype = in;
    d.out_dtype = out;
    d.op = op;
    d.offset_dtype = offset_dtype;
    return d;
}

struct sums {
    gp_reduce_segmented_desc desc;
    gp_dtype to;
    size_t scalars, item, result; /* bytes of an item and of a result */
    char *in, *expected;
};

/* Random exact items for the segments, and each segment reduced alone. */
static inline struct sums sums_new(const gp_reduce_segmented_desc *desc, const struct t_segments *g,
                                   uint64_t *state)
{
    struct sums s = {.desc = *desc};
    s.to = desc->out_dtype ? desc->out_dtype : desc->in_dtype;
    s.scalars = gp_op_scalars(desc->op);
    s.item = gp_dtype_bytes(desc->in_dtype) * s.scalars;
    s.result = gp_dtype_bytes(s.to) * s.scalars;
    s.in = oracle_scan_input(desc->in_dtype, desc->op, g->items, state);
    s.expected = t_host(g->count * s.result);
    gp_reduce_desc each = reduce_desc(desc->in_dtype, desc->out_dtype, desc->op);
    each.init = desc->init;
    for (size_t k = 0; k < g->count; k++)
        reduce_oracle(&each, s.in + g->offsets[k] * s.item,
                      (size_t)(g->offsets[k + 1] - g->offsets[k]), s.expected + k * s.result);
    return s;
}

static inline void sums_free(struct sums *s)
{
    free(s->in);
    free(s->expected);
}

/* shift: scalars by which every array misses an aligned address; base: the first offset. */
static inline void sums_check(const struct sums *s, const struct t_segments *g, size_t shift,
                              uint64_t base)
{
    const size_t bytes = g->items * s->item, scalar = gp_dtype_bytes(s->desc.in_dtype);
    t_array offsets = t_offsets_put(g, s->desc.offset_dtype, base, shift);
    t_array in = t_new_from(s->in, bytes, shift * scalar);
    t_array out = t_new(g->count * s->result, shift % 3 * gp_dtype_bytes(s->to));
    char *actual = t_host(g->count * s->result + bytes), name[96];
    snprintf(name, sizeof name, "%s of %s, %zu items, %zu segments, shift %zu",
             gp_op_string(s->desc.op), gp_dtype_string(s->desc.in_dtype), g->items, g->count,
             shift);
    T_OK(gp_reduce_segmented(t_ctx(), &s->desc, in.data, g->items, offsets.data, g->count,
                             out.data));
    t_get(&out, actual, g->count * s->result);
    t_same(name, s->to, s->expected, actual, g->count * s->scalars);
    t_check_guards(&out);
    t_check_guards(&in);
    t_check_guards(&offsets);
    t_get(&in, actual, bytes);
    t_same_bytes("the input", s->in, actual, bytes);
    t_free(&offsets);
    t_free(&in);
    t_free(&out);
    free(actual);
}

/* n items in segments of mean length, all of one length if even; every `some`-th has items. */
static inline struct t_segments lengths_to(size_t n, size_t mean, bool even, size_t some,
                                           uint64_t *state)
{
    size_t room = (n / mean * 4 + 1000) * some;
    struct t_segments g = {t_host(room * sizeof(uint64_t)), 0, n};
    g.offsets[0] = 0;
    while (g.offsets[g.count] < n && g.count + 2 < room) {
        uint64_t length = even ? mean : 1 + t_random_below(state, 2 * mean - 1);
        uint64_t left = n - g.offsets[g.count];
        if (g.count % some)
            length = 0;
        g.offsets[g.count + 1] = g.offsets[g.count] + (length < left ? length : left);
        g.count++;
    }
    g.items = (size_t)g.offsets[g.count];
    return g;
}

#endif
