/* SPDX-License-Identifier: MIT */
#include "compact/compact_internal.h"

#include "core/dtype.h"
#include "core/order.h"
#include "core/words.h"

/* A closed range of words in the order of the dtype, counted from its least value (NaNs last). */
struct class_of_value {
    uint64_t first, last;
};

struct gpi_compact_range gpi_compact_range_of(gp_dtype dtype, gp_compare compare, const void *value)
{
    size_t bytes = gpi_dtype_bytes(dtype);
    uint64_t max = UINT64_MAX >> (64 - 8 * bytes), sign = max / 2 + 1,
             x = gpi_word_at(value, bytes, 0);
    uint64_t inf = gpi_infinity_bits(dtype);
    /* The least value as a word: -infinity flipped, INT_MIN or 0. */
    uint64_t flip = inf ? max / 2 : 0;
    uint64_t least = inf ? ~inf & max : gpi_dtype_is_signed(dtype) ? sign : 0;
    uint64_t w = x & sign ? x ^ flip : x;
    struct class_of_value c = {(w - least) & max, (w - least) & max};
    if (inf && (x & ~sign & max) > inf)
        c = (struct class_of_value){(inf + 1 - least) & max, max};
    else if (inf && (x & ~sign & max) == 0)
        c = (struct class_of_value){(max - least) & max, (0 - least) & max}; /* -0, +0 */
    struct gpi_compact_range r = {flip, least, 0,
                                  compare == GP_NE || compare == GP_LT || compare == GP_GT};
    if (compare == GP_LE || compare == GP_GT) {
        r.span = c.last;
    } else {
        r.low = (least + c.first) & max;
        r.span = compare == GP_EQ || compare == GP_NE ? c.last - c.first : max - c.first;
    }
    return r;
}
