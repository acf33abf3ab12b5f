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

/* ---- needles that ascend ---- */

/* Merges that run side by side, of RUN needles each. */
enum { MERGES = 4, RUN = 512, MERGED = MERGES * RUN };

/* Whether they do. key becomes their places in gp's order. */
ALWAYS_INLINE bool ascend(const struct gpi_bound_args *a, const item *needles, int order, item *key)
{
    const item infinity = (item)a->infinity;
    item falls = 0;
    key[0] = key_of(needles[0], order, infinity);
    for (int j = 1; j < MERGED; j++) {
        key[j] = key_of(needles[j], order, infinity);
        falls |= key[j] < key_of(needles[j - 1], order, infinity);
    }
    return !falls;
}

/* Each step either finds the place of a needle or passes an item, without a branch on which. at:
 * where each merge begins; the last needle's place is below n. */
ALWAYS_INLINE void merge(const struct gpi_bound_args *a, const item *key, uint64_t first,
                         const uint64_t *at, int order, bool upper, size_t index_bytes)
{
    const item *sorted = a->sorted, infinity = (item)a->infinity;
    uint64_t place[MERGES], needle[MERGES], least;
    for (int s = 0; s < MERGES; s++) {
        place[s] = at[s];
        needle[s] = (uint64_t)s * RUN;
    }
    do {
        least = RUN;
        for (int s = 0; s < MERGES; s++)
            least = gpi_min(least, (uint64_t)(s + 1) * RUN - needle[s]);
        for (uint64_t step = 0; step < least; step++)
            for (int s = 0; s < MERGES; s++) {
                const item x = key_of(sorted[place[s]], order, infinity);
                const bool passed = passes(x, key[needle[s]], upper);
                gpi_word_put(a->out, index_bytes, first + needle[s], place[s]);
                place[s] += passed;
                needle[s] += !passed;
            }
    } while (least > 0);
    for (int s = 0; s < MERGES; s++)
        while (needle[s] < (uint64_t)(s + 1) * RUN) {
            const item x = key_of(sorted[place[s]], order, infinity);
            const bool passed = passes(x, key[needle[s]], upper);
            gpi_word_put(a->out, index_bytes, first + needle[s], place[s]);
            place[s] += passed;
            needle[s] += !passed;
        }
}

/* MERGED needles from first on, if they ascend and lie so close that a merge takes few steps. */
ALWAYS_INLINE bool merged(const struct gpi_bound_args *a, uint64_t first, int order, bool upper,
                          size_t index_bytes)
{
    const item *needles = (const item *)a->needles + first;
    item key[MERGED], ends[GROUP] = {0};
    uint64_t at[GROUP];
    if (!ascend(a, needles, order, key))
        return false;
    for (int s = 0; s < MERGES; s++)
        ends[s] = needles[s * RUN];
    ends[MERGES] = needles[MERGED - 1];
    bound_group(a, ends, at, order, upper);
    if (at[MERGES] >= a->n || at[MERGES] - at[0] > (uint64_t)4 * MERGED)
        return false;
    const size_t bytes = (at[MERGES] - at[0]) * sizeof(item);
    gpi_ahead(needles, sizeof key, sizeof key);
    gpi_ahead((const item *)a->sorted + at[0], bytes, (int64_t)bytes);
    merge(a, key, first, at, order, upper, index_bytes);
    return true;
}

/* ---- all of them ---- */

ALWAYS_INLINE void bound_range(const struct gpi_bound_args *a, uint64_t begin, uint64_t end,
                               int order, bool upper, size_t index_bytes)
{
    const item *needles = a->needles;
    for (uint64_t i = begin, next; i < end; i = next) {
        next = gpi_min(end, i + MERGED);
        if (next - i == MERGED && merged(a, i, order, upper, index_bytes))
            continue;
        for (uint64_t size; i < next; i += size) {
            item group[GROUP] = {0};
            uint64_t result[GROUP];
            size = gpi_min(next - i, GROUP);
            memcpy(group, needles + i, size * sizeof(item));
            bound_group(a, group, result, order, upper);
            for (uint64_t j = 0; j < size; j++)
                gpi_word_put(a->out, index_bytes, i + j, result[j]);
        }
    }
}

ALWAYS_INLINE void bound_by(const struct gpi_bound_args *a, uint64_t begin, uint64_t end, int order)
{
    if (a->upper)
        WITH_INDEX_BYTES(bytes, a->index_bytes, bound_range(a, begin, end, order, true, bytes));
    else
        WITH_INDEX_BYTES(bytes, a->index_bytes, bound_range(a, begin, end, order, false, bytes));
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
