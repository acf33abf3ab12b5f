/* SPDX-License-Identifier: MIT */
/* Compaction by a serial loop, and calls compared with it. */
#include "compact_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the oracle ------------------------------------------------------------------------------ */

/* -1, 0, 1: item i of a against the value, NaN last and equal to itself. */
static int order(gp_dtype dtype, const void *a, size_t i, const void *value)
{
    if (dtype == GP_I64) {
        int64_t x = ((const int64_t *)a)[i], y = *(const int64_t *)value;
        return (x > y) - (x < y);
    }
    if (dtype == GP_U64) {
        uint64_t x = ((const uint64_t *)a)[i], y = *(const uint64_t *)value;
        return (x > y) - (x < y);
    }
    double x = t_value(dtype, a, i), y = t_value(dtype, value, 0);
    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

bool compact_selected(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t i)
{
    switch ((int)d->compare) {
    case 0:
        return keep[i] != 0;
    case GP_EQ:
        return order(d->dtype, in, i, d->value) == 0;
    case GP_NE:
        return order(d->dtype, in, i, d->value) != 0;
    case GP_LT:
        return order(d->dtype, in, i, d->value) < 0;
    case GP_LE:
        return order(d->dtype, in, i, d->value) <= 0;
    case GP_GT:
        return order(d->dtype, in, i, d->value) > 0;
    case GP_BETWEEN:
        return order(d->dtype, in, i, d->value) >= 0 && order(d->dtype, in, i, d->upper) <= 0;
    case GP_OUTSIDE:
        return order(d->dtype, in, i, d->value) < 0 || order(d->dtype, in, i, d->upper) > 0;
    default:
        return order(d->dtype, in, i, d->value) >= 0;
    }
}

size_t compact_item_bytes(const gp_compact_desc *d)
{
    return d->compare ? gp_dtype_bytes(d->dtype) : d->item_bytes;
}

size_t compact_out_bytes(const gp_compact_desc *d)
{
    return d->kind == GP_COMPACT_INDICES ? gp_dtype_bytes(d->index_dtype) : compact_item_bytes(d);
}

static void oracle_put(const gp_compact_desc *d, const char *in, size_t i, char *out, size_t place)
{
    size_t bytes = compact_out_bytes(d);
    uint64_t index = i;
    if (d->kind == GP_COMPACT_INDICES)
        memcpy(out + place * bytes, &index, bytes); /* little-endian */
    else
        memcpy(out + place * bytes, in + i * bytes, bytes);
}

/* Fills out (room for n) and returns how many are selected. */
size_t compact_oracle(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n,
                      void *out)
{
    size_t kept = 0, others = 0;
    for (size_t i = 0; i < n; i++)
        if (compact_selected(d, in, keep, i))
            oracle_put(d, in, i, out, kept++);
    if (d->kind == GP_COMPACT_PARTITION)
        for (size_t i = 0; i < n; i++)
            if (!compact_selected(d, in, keep, i))
                oracle_put(d, in, i, out, kept + others++);
    return kept;
}

/* ---- one call, checked ----------------------------------------------------------------------- */

void compact_check_outputs(const gp_compact_desc *d, const t_array *out, const void *expected,
                           size_t count, const char *name)
{
    size_t bytes = count * compact_out_bytes(d);
    char *actual = t_host(bytes);
    t_get(out, actual, bytes);
    t_same_bytes(name, expected, actual, bytes);
    t_check_guards(out);
    free(actual);
}

void compact_check_at(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n,
                      struct compact_places at)
{
    size_t item = compact_item_bytes(d), out_item = compact_out_bytes(d);
    char name[96];
    snprintf(name, sizeof name, "kind %d, item %zu, compare %d %s, n %zu%s", (int)d->kind, item,
             (int)d->compare, d->compare ? gp_dtype_string(d->dtype) : "", n,
             at.in_place ? ", in place" : "");
    char *expected = t_host(n * out_item);
    size_t kept = compact_oracle(d, in, keep, n, expected);
    size_t outputs = d->kind == GP_COMPACT_PARTITION ? n : kept;
    t_array in_d = t_new_from(in, n * item, at.in * item);
    t_array keep_d = t_new_from(keep, keep ? n : 0, at.keep), count_d = t_new(8, 0);
    /* Room for exactly the result, so that one item too many hits the guard. */
    gp_compact_desc exact = *d;
    if (!at.in_place && d->kind != GP_COMPACT_PARTITION)
        exact.capacity = outputs ? outputs : 1;
    t_array out_d = t_new((at.in_place      ? 0
                           : exact.capacity ? exact.capacity
                                            : n) *
                              out_item,
                          at.out * out_item);
    T_OK(gp_compact_by(t_ctx(), &exact, item ? in_d.data : NULL, keep ? keep_d.data : NULL, n,
                       at.in_place ? in_d.data : out_d.data, count_d.data));
    ck_assert_uint_eq(t_get_u64(&count_d), kept);
    t_check_guards(&count_d);
    compact_check_outputs(d, at.in_place ? &in_d : &out_d, expected, outputs, name);
    if (outputs == 0)
        t_check_untouched(&out_d);
    if (!at.in_place && n > 0 && item > 0)
        compact_check_outputs(&(gp_compact_desc){.kind = GP_COMPACT_ITEMS, .item_bytes = item},
                              &in_d, in, n, "the input is untouched");
    t_free(&in_d);
    t_free(&keep_d);
    t_free(&out_d);
    t_free(&count_d);
    free(expected);
}

void compact_check(const gp_compact_desc *d, const void *in, const uint8_t *keep, size_t n)
{
    compact_check_at(d, in, keep, n, (struct compact_places){0, 0, 0, false});
    if (d->kind == GP_COMPACT_ITEMS)
        compact_check_at(d, in, keep, n, (struct compact_places){0, 0, 0, true});
}

/* ---- inputs ---------------------------------------------------------------------------------- */

uint8_t *compact_flags(enum compact_pattern pattern, size_t n, uint64_t *seed)
{
    uint8_t *keep = t_host(n);
    size_t run = 0;
    uint8_t value = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t r = t_random(seed);
        static const unsigned percent[] = {1, 10, 50, 90};
        if (run-- == 0) {
            run = (size_t)(r >> 40) % 300;
            value = !value;
        }
        bool set = pattern == KEEP_NONE           ? false
                   : pattern == KEEP_ALL          ? true
                   : pattern == KEEP_EVERY_SECOND ? i & 1
                   : pattern == KEEP_LAST         ? i + 1 == n
                   : pattern == KEEP_RUNS         ? value
                                          : (r >> 8) % 100 < percent[pattern - KEEP_1_PERCENT];
        keep[i] = (uint8_t)(set ? 1 + (r >> 20) % 255 : 0);
    }
    return keep;
}

/* Items whose bytes tell their position. */
char *compact_items(size_t item_bytes, size_t n)
{
    char *in = t_host(n * item_bytes);
    for (size_t i = 0; i < n * item_bytes; i++)
        in[i] = (char)((i * 0x9e3779b1u >> 13) ^ (i / item_bytes));
    return in;
}

enum { FLOAT_SPECIALS = 12 };

/* The bits of +infinity. */
static uint64_t infinity_of(gp_dtype dtype)
{
    uint64_t bits = 0;
    t_set(dtype, &bits, 0, INFINITY);
    return bits;
}

void compact_specials(gp_dtype dtype, void *out)
{
    static const double floats[FLOAT_SPECIALS] = {
        0.0, -0.0, 1, -1, INFINITY, -INFINITY, 65504.0, -65504.0, 1e-7, -1e-7, 0.5, 2};
    const size_t bytes = gp_dtype_bytes(dtype);
    const uint64_t top = (uint64_t)1 << (8 * bytes - 1);
    const uint64_t nan = t_is_float(dtype) ? infinity_of(dtype) + 1 : 3;
    const uint64_t words[COMPACT_SPECIALS] = {0,       1,       2,     5,     top / 2,   ~top / 3,
                                              top + 1, top - 2, 0x7f,  0x80,  0x7fff,    0x8000,
                                              nan,     top,     ~0ull, ~1ull, top + nan, top - 1};
    for (size_t i = 0; i < COMPACT_SPECIALS; i++) {
        memcpy((char *)out + i * bytes, &words[i], bytes);
        if (t_is_float(dtype) && i < FLOAT_SPECIALS)
            t_set(dtype, out, i, floats[i]);
    }
}

const size_t compact_widths[COMPACT_WIDTHS] = {1, 2, 4, 8, 16, 12, 24, 40, 3, 7, 1000, 65536};

gp_compact_desc compact_desc(gp_compact_kind kind, size_t item_bytes)
{
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.kind = kind;
    d.item_bytes = item_bytes;
    d.index_dtype = GP_U32;
    return d;
}
