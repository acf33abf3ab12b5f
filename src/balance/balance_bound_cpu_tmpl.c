/* SPDX-License-Identifier: MIT */
/* Searches in sorted arrays on the CPU, for items of GPI_BYTES (1, 2, 4 or 8), compiled per
 * instruction set. */
#include "balance/balance_internal.h"
#include "core/ahead.h"
#include "core/order.h"
#include "core/past_cache.h"
#include "core/words.h"

#define NAME PASTE4(gpi_balance_bound_b, GPI_BYTES, _, GPI_ISA_SUFFIX)

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
ALWAYS_INLINE void group_of_order(const struct gpi_bound_args *a, const item *needles,
                                  uint64_t *out, int order)
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

/* Do a statement in which name is the constant that order is. */
#define WITH_ORDER(name, order, statement)                                                         \
    do {                                                                                           \
        if ((order) == GPI_ORDER_UNSIGNED)                                                         \
            WITH_ORDER_CASE(name, GPI_ORDER_UNSIGNED, statement);                                  \
        else if ((order) == GPI_ORDER_SIGNED)                                                      \
            WITH_ORDER_CASE(name, GPI_ORDER_SIGNED, statement);                                    \
        else                                                                                       \
            WITH_ORDER_CASE(name, GPI_ORDER_FLOAT, statement);                                     \
    } while (0)
#define WITH_ORDER_CASE(name, value, statement)                                                    \
    do {                                                                                           \
        enum { name = value };                                                                     \
        statement;                                                                                 \
    } while (0)

static void bound_group(const struct gpi_bound_args *a, const item *needles, uint64_t *out)
{
    WITH_ORDER(order, a->order, group_of_order(a, needles, out, order));
}

/* ---- needles that ascend ---- */

#if GPI_BYTES == 8
typedef int64_t wide;
typedef int64_t narrow;
#else
typedef int32_t wide;
#if GPI_BYTES == 1
typedef int8_t narrow;
#elif GPI_BYTES == 2
typedef int16_t narrow;
#else
typedef int32_t narrow;
#endif
#endif
#define WIDE_MAX ((wide)(~(uint64_t)0 >> (65 - 8 * sizeof(wide))))

/* Needles that are counted together, as far as the items that their places lie among are few. A
 * vector of them takes AT_ONCE items a step. */
enum {
    COUNTED = 4096 / sizeof(wide),
    PASSED = 4 * COUNTED,
    AT_ONCE = 4,
    LANES = 64 / sizeof(wide)
};
typedef wide vector __attribute__((vector_size(64)));

/* The order of key_of() in signed numbers, which vectors compare in fewer steps. */
ALWAYS_INLINE wide wide_of(item x, int order, item infinity)
{
    const item sign = (item)((item)1 << (8 * GPI_BYTES - 1)), size = (item)(x & (item)~sign);
    if (order != GPI_ORDER_FLOAT)
        return (narrow)(key_of(x, order, infinity) ^ sign);
    const narrow number = (narrow)(x == size ? size : 0 - size);
    return size > infinity ? (narrow)(item)~sign : number;
}

static void convert(const struct gpi_bound_args *a, const item *items, uint64_t n, wide *to)
{
    const item infinity = (item)a->infinity;
    WITH_ORDER(order, a->order,
               for (uint64_t i = 0; i < n; i++) to[i] = wide_of(items[i], order, infinity));
}

/* Whether keys ascend. They are raised for an upper bound, where none may wrap. */
static bool ascend(wide *key, bool raised)
{
    int falls = 0;
    for (int j = 1; j < COUNTED; j++)
        falls |= key[j] < key[j - 1];
    if (falls || (raised && key[COUNTED - 1] == WIDE_MAX))
        return false;
    for (int j = 0; raised && j < COUNTED; j++)
        key[j]++;
    return true;
}

/* Large outputs go past the cache. */
static bool streams(const struct gpi_bound_args *a)
{
    return a->m * a->index_bytes > gpi_cache_bytes();
}

/* What the needles behind those that are counted read and write, asked for a vector at a time: all
 * at once would be more lines than a processor has on their way, and it would wait for them. */
struct coming {
    const char *needles, *sorted, *out;
    size_t items, width; /* of sorted, for as many needles; bytes of a place, 0: past the cache */
};

ALWAYS_INLINE void ask(const struct coming *c, size_t step)
{
    const size_t needles = LANES * sizeof(item), sorted = c->items * sizeof(item) * LANES / COUNTED,
                 places = LANES * c->width;
    gpi_ahead(c->needles, needles, (int64_t)(step * needles));
    gpi_ahead(c->sorted, sorted, (int64_t)(step * sorted));
    gpi_ahead_of_writes(c->out, places, (int64_t)(step * places));
}

/* Items of part that are below each key. Behind them part has AT_ONCE of the largest number. Items
 * that a step takes too many are below none of its keys. The items before the last step of a vector
 * are below its last key and so below all keys behind it, which begin with that step: where they
 * begin does not wait for what was counted. */
static void count_below(const wide *part, const wide *key, uint16_t *found,
                        const struct coming *coming)
{
    const wide *from = part;
    for (int j = 0; j < COUNTED; j += LANES) {
        const wide last = key[j + LANES - 1], *x = from;
        vector keys, count = {0};
        memcpy(&keys, key + j, sizeof keys);
        for (; *x < last; x += AT_ONCE)
            for (int k = 0; k < AT_ONCE; k++)
                count -= (vector)(keys > x[k]);
        const uint16_t before = (uint16_t)(from - part);
        for (int k = 0; k < LANES; k++)
            found[j + k] = (uint16_t)(before + (uint64_t)count[k]);
        from = x > from ? x - AT_ONCE : from;
        ask(coming, (size_t)j / LANES);
    }
}

static void places_put(const struct gpi_bound_args *a, uint64_t first, uint64_t base,
                       const uint16_t *found)
{
    enum { SOME = COUNTED / 4 }; /* at a time: they are small enough for the stack */
    char block[SOME * sizeof(uint64_t)];
    const size_t width = a->index_bytes;
    const bool stream = streams(a);
    for (size_t i = 0; i < COUNTED; i += SOME) {
        char *out = (char *)a->out + (first + i) * width, *to = stream ? block : out;
        WITH_INDEX_BYTES(bytes, width,
                         for (uint64_t j = 0; j < SOME; j++)
                             gpi_word_put(to, bytes, j, base + found[i + j]));
        if (stream)
            bytes_store(block, SOME * width, true, out);
    }
}

/* COUNTED needles from first on, if they ascend and lie so close that few items are passed. */
static bool counted(const struct gpi_bound_args *a, uint64_t first)
{
    const item *needles = (const item *)a->needles + first;
    const item ends[GROUP] = {needles[0], needles[COUNTED - 1]};
    wide key[COUNTED], part[PASSED + AT_ONCE];
    uint16_t found[COUNTED];
    uint64_t at[GROUP];
    convert(a, needles, COUNTED, key);
    if (!ascend(key, a->upper))
        return false;
    bound_group(a, ends, at);
    const uint64_t items = at[1] - at[0];
    if (at[1] < at[0] || items > PASSED)
        return false;
    const item *sorted = (const item *)a->sorted + at[0];
    const struct coming coming = {(const char *)(needles + COUNTED), (const char *)(sorted + items),
                                  (const char *)a->out + (first + COUNTED) * a->index_bytes, items,
                                  streams(a) ? 0 : a->index_bytes};
    convert(a, sorted, items, part);
    for (uint64_t i = 0; i < AT_ONCE; i++)
        part[items + i] = WIDE_MAX;
    count_below(part, key, found, &coming);
    places_put(a, first, at[0], found);
    return true;
}

/* ---- all of them ---- */

static void bound_range(const struct gpi_bound_args *a, uint64_t begin, uint64_t end)
{
    const item *needles = a->needles;
    for (uint64_t i = begin; i < end; i += GROUP) {
        item group[GROUP] = {0};
        uint64_t result[GROUP];
        uint64_t size = gpi_min(end - i, GROUP);
        memcpy(group, needles + i, size * sizeof(item));
        bound_group(a, group, result);
        for (uint64_t j = 0; j < size; j++)
            WITH_INDEX_BYTES(bytes, a->index_bytes, gpi_word_put(a->out, bytes, i + j, result[j]));
    }
}

void NAME(const struct gpi_bound_args *args, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin, next; i < end; i = next) {
        next = gpi_min(end, i + COUNTED);
        /* Bytes have so few values that places lie far apart. */
        if (GPI_BYTES == 1 || next - i < COUNTED || !counted(args, i))
            bound_range(args, i, next);
    }
    stores_done();
}
