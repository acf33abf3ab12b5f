/* SPDX-License-Identifier: MIT */
/* Searches in sorted arrays on the CPU, for items of GPI_BYTES (1, 2, 4 or 8). They wait for memory
 * and for comparisons: other instruction sets than the baseline make none faster. */
#include "balance/balance_internal.h"
#include "core/ahead.h"
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

/* out[j] = items of sorted before needle j, for GROUP needles; the steps depend on n alone. An
 * upper bound is the lower one of a key raised by one; before what is raised to 0 are all items. */
ALWAYS_INLINE void bound_group(const struct gpi_bound_args *a, const item *needles, uint64_t *out,
                               int order)
{
    const item *sorted = a->sorted;
    const item infinity = (item)a->infinity, raised = a->upper;
    item key[GROUP];
    for (int j = 0; j < GROUP; j++) {
        key[j] = (item)(key_of(needles[j], order, infinity) + raised);
        out[j] = 0;
    }
    for (uint64_t length = a->n; length > 0;) {
        uint64_t half = length - length / 2;
        for (int j = 0; j < GROUP; j++) {
            item x = key_of(sorted[out[j] + half - 1], order, infinity);
            out[j] += x < key[j] ? half : 0;
        }
        length -= half;
    }
    for (int j = 0; j < GROUP; j++)
        out[j] = raised && key[j] == 0 ? a->n : out[j];
}

/* ---- needles that ascend ---- */

/* Merges that run side by side, of RUN needles each; they pass at most PASSED items together. */
enum { MERGES = 4, RUN = 512, MERGED = MERGES * RUN, PASSED = 4 * MERGED };

/* Whether they do. key becomes their places in gp's order, raised for an upper bound. */
ALWAYS_INLINE bool ascend(const struct gpi_bound_args *a, const item *needles, int order, item *key)
{
    const item infinity = (item)a->infinity, raised = a->upper;
    item falls = 0;
    key[0] = (item)(key_of(needles[0], order, infinity) + raised);
    for (int j = 1; j < MERGED; j++) {
        const item own = key_of(needles[j], order, infinity);
        key[j] = (item)(own + raised);
        falls |= own < key_of(needles[j - 1], order, infinity);
    }
    return !falls;
}

/* A step either finds the place of a needle or passes an item; no branch depends on which. */
#define STEP(s)                                                                                    \
    do {                                                                                           \
        const bool passed = key_of(sorted[place[s]], order, infinity) < key[needle[s]];            \
        found[needle[s]] = (uint16_t)place[s];                                                     \
        place[s] += passed;                                                                        \
        needle[s] += !passed;                                                                      \
    } while (0)

/* Places of needles among the items from sorted on. at: where each merge begins. */
ALWAYS_INLINE void merge(const item *sorted, item infinity, const item *key, const uint64_t *at,
                         int order, uint16_t *found)
{
    uint64_t place[MERGES], needle[MERGES], least;
    for (int s = 0; s < MERGES; s++) {
        place[s] = at[s] - at[0];
        needle[s] = (uint64_t)s * RUN;
    }
    do {
        least = RUN;
        for (int s = 0; s < MERGES; s++)
            least = gpi_min(least, (uint64_t)(s + 1) * RUN - needle[s]);
        for (uint64_t step = 0; step < least; step++) {
            STEP(0);
            STEP(1);
            STEP(2);
            STEP(3);
        }
    } while (least > 0);
#pragma GCC unroll 1
    for (int s = 0; s < MERGES; s++)
        while (needle[s] < (uint64_t)(s + 1) * RUN)
            STEP(s);
}
#undef STEP

/* Once for all orders. */
__attribute__((noinline)) static void places_put(const struct gpi_bound_args *a, uint64_t first,
                                                 uint64_t base, const uint16_t *found)
{
    WITH_INDEX_BYTES(bytes, a->index_bytes,
                     for (uint64_t j = 0; j < MERGED; j++)
                         gpi_word_put(a->out, bytes, first + j, base + found[j]));
}

/* MERGED needles from first on, if they ascend and lie so close that a merge takes few steps. */
ALWAYS_INLINE bool merged(const struct gpi_bound_args *a, uint64_t first, int order)
{
    const item *needles = (const item *)a->needles + first;
    item key[MERGED], ends[GROUP] = {0};
    uint16_t found[MERGED];
    uint64_t at[GROUP];
    if (!ascend(a, needles, order, key))
        return false;
    for (int s = 0; s < MERGES; s++)
        ends[s] = needles[s * RUN];
    ends[MERGES] = needles[MERGED - 1];
    bound_group(a, ends, at, order);
    if (at[MERGES] >= a->n || at[MERGES] - at[0] > PASSED)
        return false;
    const item *sorted = (const item *)a->sorted + at[0];
    const size_t bytes = (at[MERGES] - at[0]) * sizeof(item);
    gpi_ahead(needles, sizeof key, sizeof key);
    gpi_ahead(sorted, bytes, (int64_t)bytes);
    merge(sorted, (item)a->infinity, key, at, order, found);
    places_put(a, first, at[0], found);
    return true;
}

/* ---- all of them ---- */

ALWAYS_INLINE void bound_range(const struct gpi_bound_args *a, uint64_t begin, uint64_t end,
                               int order)
{
    const item *needles = a->needles;
    for (uint64_t i = begin; i < end; i += GROUP) {
        item group[GROUP] = {0};
        uint64_t result[GROUP];
        uint64_t size = gpi_min(end - i, GROUP);
        memcpy(group, needles + i, size * sizeof(item));
        bound_group(a, group, result, order);
        for (uint64_t j = 0; j < size; j++)
            WITH_INDEX_BYTES(bytes, a->index_bytes, gpi_word_put(a->out, bytes, i + j, result[j]));
    }
}

ALWAYS_INLINE void bound_by(const struct gpi_bound_args *a, uint64_t begin, uint64_t end, int order)
{
    for (uint64_t i = begin, next; i < end; i = next) {
        next = gpi_min(end, i + MERGED);
        if (next - i == MERGED && merged(a, i, order))
            continue;
        bound_range(a, i, next, order);
    }
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
