/* SPDX-License-Identifier: MIT */
#include "compact/compact_internal.h"

#include "core/dtype.h"
#include "core/order.h"
#include "core/words.h"

/* A closed range of words in the order of the dtype, counted from its least value (NaNs last). */
struct class_of_value {
    uint64_t first, last;
};

/* The words of an order that begins at `least`. */
struct order {
    uint64_t flip, least, max, inf; /* inf: the bits of infinity, or 0 */
};

static struct order order_of(gp_dtype dtype)
{
    uint64_t max = UINT64_MAX >> (64 - 8 * gpi_dtype_bytes(dtype)), sign = max / 2 + 1;
    uint64_t inf = gpi_infinity_bits(dtype);
    /* The least value as a word: -infinity flipped, INT_MIN or 0. */
    uint64_t least = inf ? ~inf & max : gpi_dtype_is_signed(dtype) ? sign : 0;
    return (struct order){inf ? max / 2 : 0, least, max, inf};
}

/* All items that are equal to *value. */
static struct class_of_value class_of(const struct order *o, gp_dtype dtype, const void *value)
{
    uint64_t sign = o->max / 2 + 1, x = gpi_word_at(value, gpi_dtype_bytes(dtype), 0);
    uint64_t w = x & sign ? x ^ o->flip : x;
    if (o->inf && (x & ~sign & o->max) > o->inf)
        return (struct class_of_value){(o->inf + 1 - o->least) & o->max, o->max};
    if (o->inf && (x & ~sign & o->max) == 0) /* -0, +0 */
        return (struct class_of_value){(o->max - o->least) & o->max, (0 - o->least) & o->max};
    return (struct class_of_value){(w - o->least) & o->max, (w - o->least) & o->max};
}

struct gpi_compact_range gpi_compact_range_of(gp_dtype dtype, gp_compare compare, const void *value,
                                              const void *upper)
{
    const struct order o = order_of(dtype);
    const struct class_of_value c = class_of(&o, dtype, value);
    bool invert = compare == GP_NE || compare == GP_LT || compare == GP_GT || compare == GP_OUTSIDE;
    uint64_t first = c.first, last = c.last;
    if (compare == GP_LE || compare == GP_GT)
        first = 0;
    if (compare == GP_LT || compare == GP_GE)
        last = o.max;
    if (compare == GP_BETWEEN || compare == GP_OUTSIDE)
        last = class_of(&o, dtype, upper).last;
    if (last < first) { /* empty, which no range is: all but everything */
        first = 0, last = o.max;
        invert = !invert;
    }
    return (struct gpi_compact_range){
        o.flip, (o.least + first) & o.max, last - first, o.least, c.first, invert};
}

struct gpi_compact_range gpi_compact_range_below(const struct gpi_compact_range *r)
{
    if (r->first == 0) /* none: the inversion of all */
        return (struct gpi_compact_range){r->flip, 0, UINT64_MAX, r->least, 0, 1};
    return (struct gpi_compact_range){r->flip, r->least, r->first - 1, r->least, r->first, 0};
}
