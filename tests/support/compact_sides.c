/* SPDX-License-Identifier: MIT */
/* Compactions with any outputs: the lists of what goes where, and a call compared with them. */
#include "compact_sides.h"

#include <stdlib.h>
#include <string.h>

struct sides sides_of(gp_compact_kind kind, size_t item_bytes)
{
    return (struct sides){.d = compact_desc(kind, item_bytes)};
}

/* ---- the oracle ------------------------------------------------------------------------------ */

struct lists {
    size_t *of[3], count[3];
};

static struct lists lists_new(const struct sides *w, const void *in, const uint8_t *keep, size_t n)
{
    struct lists l = {
        {t_host(n * sizeof(size_t)), t_host(n * sizeof(size_t)), t_host(n * sizeof(size_t))}, {0}};
    gp_compact_desc below = w->d;
    below.compare = GP_LT;
    for (size_t i = 0; i < n; i++) {
        int side = compact_selected(&w->d, in, keep, i)                        ? 0
                   : w->outputs == 3 && !compact_selected(&below, in, keep, i) ? 2
                                                                               : 1;
        l.of[side][l.count[side]++] = i;
    }
    return l;
}

static void lists_free(struct lists *l)
{
    for (int s = 0; s < 3; s++)
        free(l->of[s]);
}

static size_t flag_bytes(gp_flags flags, size_t n)
{
    return flags == GP_FLAGS_BITS ? (n + 31) / 32 * 4 : n;
}

/* rubbish: bits behind the last flag. */
static void put_flags(gp_flags flags, const uint8_t *keep, size_t n, bool rubbish, char *out)
{
    memset(out, rubbish ? 0xff : 0, flag_bytes(flags, n));
    if (flags == GP_FLAGS_BYTES) {
        memcpy(out, keep, n);
        return;
    }
    for (size_t i = 0; i < n; i++) { /* words are little-endian */
        const int bit = 1 << i % 8, others = out[i / 8] & ~bit;
        out[i / 8] = (char)(keep[i] ? others | bit : others);
    }
}

/* ---- one call, checked ----------------------------------------------------------------------- */

struct arrays {
    t_array in, keep, out[3], indices, counts;
};

/* The first outputs of a list that fit, out of items or, without them, as positions. */
static void check_list(const char *name, const t_array *out, const size_t *list, uint64_t count,
                       const char *in, size_t bytes)
{
    char *expected = t_host(count * bytes), *actual = t_host(count * bytes);
    for (uint64_t j = 0; j < count; j++) {
        const uint64_t index = list[j]; /* little-endian */
        memcpy(expected + j * bytes, in ? in + index * bytes : (const char *)&index, bytes);
    }
    t_get(out, actual, count * bytes);
    t_same_bytes(name, expected, actual, count * bytes);
    t_check_guards(out);
    free(expected);
    free(actual);
}

static void check_flags(const struct sides *w, const struct lists *l, const t_array *out, size_t n)
{
    const size_t bytes = flag_bytes(w->d.flags, n);
    uint8_t *keep = t_host(n);
    char *expected = t_host(bytes), *actual = t_host(bytes);
    memset(keep, 0, n);
    for (size_t j = 0; j < l->count[0]; j++)
        keep[l->of[0][j]] = 1;
    put_flags(w->d.flags, keep, n, false, expected);
    t_get(out, actual, bytes);
    t_same_bytes("flags", expected, actual, bytes);
    t_check_guards(out);
    free(keep);
    free(expected);
    free(actual);
}

static uint64_t room_of(const struct sides *w, const struct lists *l, int side)
{
    const uint64_t room = w->room[side] ? w->room[side] : l->count[side];
    return room ? room : 1;
}

/* Arrays, and the descriptor's members that say so. */
static struct arrays arrays_new(struct sides *w, const struct lists *l, const void *in,
                                const uint8_t *keep, size_t n)
{
    const size_t item = compact_item_bytes(&w->d), index = gp_dtype_bytes(w->d.index_dtype);
    const bool one = w->d.kind == GP_COMPACT_PARTITION && !w->outputs;
    const size_t out_item = w->d.kind == GP_COMPACT_INDICES ? index : item;
    const size_t bytes = keep ? flag_bytes(w->d.flags, n) : 0;
    struct arrays a = {.in = t_new_from(in, n * item, w->at * item), .counts = t_new(24, 0)};
    char *flags = t_host(bytes);
    if (keep)
        put_flags(w->d.flags, keep, n, true, flags);
    a.keep = t_new_from(flags, bytes, w->d.flags ? 4 * w->at : w->at);
    free(flags);
    for (int s = 0; s < 3; s++)
        a.out[s] = t_new(room_of(w, l, s) * out_item, w->at * 3 % 17 * out_item);
    w->d.capacity = room_of(w, l, 0);
    if (one || w->d.kind == GP_COMPACT_FLAGS) {
        t_free(&a.out[0]);
        a.out[0] = one ? t_new(n * item, 0)
                       : t_new(flag_bytes(w->d.flags, n), w->d.flags ? 4 * w->at : w->at);
        w->d.capacity = 0;
    }
    a.indices = t_new(w->d.capacity * index, w->at * index);
    w->d.indices = w->indices ? a.indices.data : NULL;
    w->d.rest = w->outputs > 1 ? a.out[1].data : NULL;
    w->d.above = w->outputs > 2 ? a.out[2].data : NULL;
    w->d.rest_capacity = w->outputs > 1 ? room_of(w, l, 1) : 0;
    w->d.above_capacity = w->outputs > 2 ? room_of(w, l, 2) : 0;
    return a;
}

static void arrays_free(struct arrays *a)
{
    t_free(&a->in);
    t_free(&a->keep);
    for (int s = 0; s < 3; s++)
        t_free(&a->out[s]);
    t_free(&a->indices);
    t_free(&a->counts);
}

static uint64_t fits(const struct sides *w, const struct lists *l, int side)
{
    return room_of(w, l, side) < l->count[side] ? room_of(w, l, side) : l->count[side];
}

static void check_counts(const struct sides *w, const struct lists *l, const struct arrays *a)
{
    uint64_t counts[3];
    char poison[24];
    const int written = w->outputs ? w->outputs : 1;
    t_get(&a->counts, counts, sizeof counts);
    memset(poison, T_POISON, sizeof poison);
    for (int s = 0; s < written; s++)
        ck_assert_uint_eq(counts[s], l->count[s]);
    t_same_bytes("behind the counts", poison, &counts[written], 24 - 8 * (size_t)written);
    t_check_guards(&a->counts);
}

static void check_outputs(const struct sides *w, const struct lists *l, const struct arrays *a,
                          const void *in, size_t n)
{
    const gp_compact_desc *d = &w->d;
    const size_t item = compact_item_bytes(d), index = gp_dtype_bytes(d->index_dtype);
    const t_array *out = w->in_place ? &a->in : &a->out[0];
    check_counts(w, l, a);
    if (d->kind == GP_COMPACT_FLAGS) {
        check_flags(w, l, out, n);
    } else if (d->kind == GP_COMPACT_INDICES) {
        check_list("indices", out, l->of[0], fits(w, l, 0), NULL, index);
    } else if (d->kind == GP_COMPACT_PARTITION && !w->outputs) {
        memcpy(l->of[0] + l->count[0], l->of[1], l->count[1] * sizeof(size_t));
        check_list("in one array", out, l->of[0], n, in, item);
    } else {
        check_list("kept", out, l->of[0], fits(w, l, 0), in, item);
        for (int s = 1; s < w->outputs; s++)
            check_list(s == 1 ? "rest" : "above", &a->out[s], l->of[s], fits(w, l, s), in, item);
    }
    if (w->indices)
        check_list("positions", &a->indices, l->of[0], fits(w, l, 0), NULL, index);
}

static void check_lists(struct sides w, struct lists *l, const void *in, const uint8_t *keep,
                        size_t n, size_t given)
{
    struct arrays a = arrays_new(&w, l, in, keep, given);
    bool short_of = false;
    for (int s = 0; s < (w.outputs ? w.outputs : 1) && w.d.capacity; s++)
        short_of = short_of || fits(&w, l, s) < l->count[s];
    const uint64_t number = n;
    t_array n_d = t_new_from(&number, 8, 0);
    w.d.device_n = given > n ? n_d.data : NULL;
    T_OK(gp_compact_by(t_ctx(), &w.d, given ? a.in.data : NULL, keep ? a.keep.data : NULL, given,
                       w.in_place ? a.in.data : a.out[0].data, a.counts.data));
    T_STATUS(short_of ? GP_ERROR_CAPACITY : GP_OK, gp_context_synchronize(t_ctx()));
    check_outputs(&w, l, &a, in, n);
    t_free(&n_d);
    arrays_free(&a);
}

void sides_check(struct sides w, const void *in, const uint8_t *keep, size_t n, size_t given)
{
    struct lists l = lists_new(&w, in, keep, n);
    check_lists(w, &l, in, keep, n, given);
    lists_free(&l);
}

/* Calls whose lists are those of two outputs. */
static void check_two(struct sides w, const void *in, const uint8_t *keep, size_t n)
{
    struct lists l = lists_new(&w, in, keep, n);
    for (int outputs = 1; outputs <= 2; outputs++) {
        w.d.kind = outputs > 1 ? GP_COMPACT_PARTITION : GP_COMPACT_ITEMS;
        w.outputs = outputs > 1 ? outputs : 0;
        for (int k = 0; k < 3 - (outputs > 1); k++) {
            w.in_place = k == 1;
            w.indices = k == 2;
            check_lists(w, &l, in, keep, n, n);
        }
    }
    w.indices = w.in_place = false;
    w.outputs = 0;
    w.d.kind = GP_COMPACT_PARTITION;
    check_lists(w, &l, in, keep, n, n);
    w.d.kind = GP_COMPACT_INDICES;
    if (keep)
        w.d.item_bytes = 0;
    check_lists(w, &l, keep ? NULL : in, keep, n, n);
    w.d.kind = GP_COMPACT_FLAGS;
    if (w.d.compare)
        check_lists(w, &l, in, keep, n, n);
    lists_free(&l);
}

void sides_check_all(struct sides w, const void *in, const uint8_t *keep, size_t n)
{
    check_two(w, in, keep, n);
    if (w.d.compare != GP_BETWEEN)
        return;
    w.d.kind = GP_COMPACT_PARTITION;
    w.outputs = 3;
    struct lists l = lists_new(&w, in, keep, n);
    for (int k = 0; k < 2; k++) {
        w.in_place = k == 1;
        check_lists(w, &l, in, keep, n, n);
    }
    lists_free(&l);
}
