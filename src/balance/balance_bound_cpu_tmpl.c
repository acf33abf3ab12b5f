/* SPDX-License-Identifier: MIT */
/* Searches in sorted arrays on the CPU, for items of GPI_BYTES (1, 2, 4 or 8). They wait for memory
 * and for comparisons: other instruction sets than the baseline make none faster. */
#include "balance/balance_internal.h"
#include "core/order.h"
#include "core/words.h"

#define NAME PASTE(gpi_balance_bound_b, GPI_BYTES)

#if GPI_BYTES == 1
typedef uint8_t item;
#elif GPI_BYTES == 2
typedef uint16_t item;
#elif GPI_BYTES == 4
typedef uint32_t item;
#else
typedef uint64_t item;
#endif

gpi_bound_fn NAME;

/* Searches that run side by side: their cache misses overlap. */
enum { GROUP = 8 };

/* The place of an item in gp's order, as an unsigned number. */
ALWAYS_INLINE item key_of(item x, int order, item infinity)
{
    const item sign = (item)((item)1 << (8 * GPI_BYTES - 1));
    if (order == GPI_ORDER_UNSIGNED)
        return x;
    if (order == GPI_ORDER_SIGNED)
        return (item)(x ^ sign);
    return GPI_RADIX_FLOAT(item, x, sign, infinity);
}

ALWAYS_INLINE bool passes(item x, item needle, bool upper)
{
    return upper ? x <= needle : x < needle;
}

/* out[j] = items of sorted that pass needle j, for GROUP needles; the steps depend on n alone. */
ALWAYS_INLINE void bound_group(const struct gpi_bound_args *a, const item *needles, uint64_t *out,
                               int order, bool upper)
{
    const item *sorted = a->sorted;
    item infinity = (item)a->infinity, key[GROUP];
    for (int j = 0; j < GROUP; j++) {
        key[j] = key_of(needles[j], order, infinity);
        out[j] = 0;
    }
    for (uint64_t length = a->n; length > 0;) {
        uint64_t half = length - length / 2;
        for (int j = 0; j < GROUP; j++) {
            item x = key_of(sorted[out[j] + half - 1], order, infinity);
            out[j] += passes(x, key[j], upper) ? half : 0;
        }
        length -= half;
    }
}

ALWAYS_INLINE void bound_range(const struct gpi_bound_args *a, uint64_t begin, uint64_t end,
                               int order, bool upper)
{
    const item *needles = a->needles;
    for (uint64_t i = begin; i < end; i += GROUP) {
        item group[GROUP] = {0};
        uint64_t result[GROUP];
        uint64_t size = gpi_min(end - i, GROUP);
        memcpy(group, needles + i, size * sizeof(item));
        bound_group(a, group, result, order, upper);
        for (uint64_t j = 0; j < size; j++)
            WITH_INDEX_BYTES(bytes, a->index_bytes, gpi_word_put(a->out, bytes, i + j, result[j]));
    }
}

ALWAYS_INLINE void bound_by(const struct gpi_bound_args *a, uint64_t begin, uint64_t end, int order)
{
    if (a->upper)
        bound_range(a, begin, end, order, true);
    else
        bound_range(a, begin, end, order, false);
}

void NAME(const struct gpi_bound_args *args, uint64_t begin, uint64_t end)
{
    if (args->order == GPI_ORDER_UNSIGNED)
        bound_by(args, begin, end, GPI_ORDER_UNSIGNED);
    else if (args->order == GPI_ORDER_SIGNED)
        bound_by(args, begin, end, GPI_ORDER_SIGNED);
    else
        bound_by(args, begin, end, GPI_ORDER_FLOAT);
}
