/* SPDX-License-Identifier: MIT */
/*
 * The CPU sort of one key width: compiled with GPI_KEY_BITS=8|16|32|64 and per instruction set.
 * Results do not depend on parts, threads or instruction set: every pass is stable, or its words
 * tell keys of different bits apart.
 */
#include "core/ahead.h"
#include "core/past_cache.h"
#include "radixsort/radixsort_cpu_internal.h"

#include <assert.h>
#include <string.h>

#include "core/threads.h"

#define SORT PASTE4(gpi_radixsort_k, GPI_KEY_BITS, _cpu_, GPI_ISA_SUFFIX)
#define SEGMENT PASTE4(gpi_radixsort_segment_k, GPI_KEY_BITS, _cpu_, GPI_ISA_SUFFIX)

/* Whether this variant has partitions in vectors. */
#if defined(__AVX2__) && GPI_KEY_BITS >= 32
#define QUICK 1
#else
#define QUICK 0
#endif

/* Sorts of words of 32 and of 64 bits; the units of both key widths call both. */
#define QUICK_OF(bits) PASTE(PASTE(gpi_radixsort_quick_, bits), PASTE(_, GPI_ISA_SUFFIX))
#if QUICK
gpi_radixsort_quick_fn QUICK_OF(32), QUICK_OF(64);
#endif

#include "radixsort/radixsort_cpu_words.h"

enum {
    KEY_BYTES = GPI_KEY_BITS / 8,
    BINS = GPI_RADIX_BINS,
    BLOCK = 128, /* items whose digits are found in one vectorised loop; reads go on meanwhile */
    SHORT_ITEMS = GPI_KEY_BITS <= 16   ? 16
                  : GPI_KEY_BITS == 32 ? 48
                                       : GPI_RADIX_FEW /* sort-cpu-24 */
};

#define CACHED_BYTES GPI_RADIX_CACHED_BYTES
/* Above this the output is written past the caches. */
#define LARGE_BYTES ((size_t)16 << 20)

typedef uint32_t bins_u32[BINS];

#if QUICK
#include "radixsort/radixsort_cpu_vector.h"

#include "radixsort/radixsort_cpu_network.h"
#else
enum { SPLIT_FEW = BINS };
#define passes_that_pay(job, n) ((void)(job), GPI_KEY_BITS / 8)
#endif

/* How a pass finds the bin of a word: it is the digit (word >> shift) & mask; or how many splitters
 * are not above the word; or that of the word's cell, where cells are ranges of 2^shift words, the
 * first of which begins at `least`. */
struct digit {
    int shift;
    uint8_t mask;
    const KEY *splitters; /* or NULL; ascending */
    int splits;           /* buckets between them */
    const uint8_t *cells; /* or NULL: the bin of each; larger words are in the last one */
    KEY least;
};

enum { CELL_BITS = 12, CELLS = 1 << CELL_BITS };

/* The counters of a pass, for one part of the items. */
struct part_counts {
    uint64_t places[BINS];
    bins_u32 counts;
};

struct sort {
    const struct gpi_radix_cpu_job *c;
    uint64_t varying; /* bits in which some words differ, see radixsort_cpu_sample.h */
    struct digit digit;
    KEY splitters[BINS];
    uint8_t cells[CELLS];
    uint64_t (*places)[BINS]; /* [part]: where its next item of each bin goes */
    bins_u32 *counts;         /* [part] */
    struct part_counts alone; /* of a sort by one thread inside another sort */
    bool stream;              /* write past the caches */
    uint8_t *kept;            /* or NULL: where to keep the bin of each item, if it is learned */
    const KEY *keys_src;
    KEY *keys_dst;
    const void *values_src; /* NULL: the indices */
    void *values_dst;
};

/* Words but for an exclusive or with flip_of(): integers are their own. */
static inline const KEY *words_at(const struct gpi_radix_order *o, const KEY *keys, size_t n,
                                  KEY *room)
{
    if (o->inf == 0)
        return keys;
    sort_words_of(o, keys, n, room);
    return room;
}

static inline KEY flip_of(const struct gpi_radix_order *o)
{
    return o->inf ? 0 : (KEY)o->flip;
}

static size_t part_begin(const struct gpi_radix_cpu_job *c, size_t part)
{
    return gpi_part_begin(c->job.n, c->parts, part);
}

/* A room for the calling thread, which waits until one is free. */
static void *room_open(const struct gpi_radix_cpu_job *c)
{
    void *room;
    do
        room = gpi_radixsort_room_take(&c->rooms);
    while (!room);
    return room;
}

static bool is_learned(const struct digit *g)
{
    return g->splitters || g->cells;
}

static void learned_digits(const struct digit *g, const KEY *words, size_t n, uint8_t *digits)
{
#if QUICK
    const KEY least = g->least;
    const int shift = g->shift;
    uint16_t cell[BLOCK];
    if (g->splitters) {
        if (g->splits == SPLIT_FEW)
            split_by(g->splitters, 1, words, n, digits);
        else
            split_by(g->splitters, BINS / SPLIT_FEW, words, n, digits);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const KEY at = (words[i] < least ? 0 : words[i] - least) >> shift;
        cell[i] = (uint16_t)(at < CELLS ? at : CELLS - 1);
    }
    for (size_t i = 0; i < n; i++)
        digits[i] = g->cells[cell[i]];
#else
    (void)g, (void)words, (void)n, (void)digits;
#endif
}

static void digits_of(const struct gpi_radix_order *o, const KEY *restrict keys, size_t n,
                      struct digit g, uint8_t *restrict digits)
{
    KEY room[BLOCK];
    if (is_learned(&g)) {
        sort_words_of(o, keys, n, room);
        learned_digits(&g, room, n, digits);
        return;
    }
    const KEY flip = flip_of(o), *words = words_at(o, keys, n, room);
    for (size_t i = 0; i < n; i++)
        digits[i] = (uint8_t)((uint8_t)((KEY)(words[i] ^ flip) >> g.shift) & g.mask);
}

/* Four tables, so that runs of one digit do not wait for their own increments. */
static void count_digits(const uint8_t *digits, size_t n, bins_u32 *tables)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        tables[0][digits[i]]++;
        tables[1][digits[i + 1]]++;
        tables[2][digits[i + 2]]++;
        tables[3][digits[i + 3]]++;
    }
    for (; i < n; i++)
        tables[0][digits[i]]++;
}

static void fold_tables(bins_u32 *tables, uint32_t *counts)
{
    for (int b = 0; b < BINS; b++)
        counts[b] = tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}

/* Where the items of each part go in each bin. */
static void find_places(struct sort *s)
{
    uint64_t sum = 0;
    for (int b = 0; b < BINS; b++)
        for (size_t part = 0; part < s->c->parts; part++) {
            s->places[part][b] = sum;
            sum += s->counts[part][b];
        }
}

/* A pass over all items inside the caches. */
struct cached_move {
    const struct gpi_radix_order *order;
    const KEY *keys_src;
    const void *values_src;
    KEY *keys_dst;
    void *values_dst;
    size_t n;
    int shift;
    KEY mask;
    uint32_t *places;
};

/* Whole lines; stream: past the cache, `to` is aligned to a line then. */
static inline void store_lines(void *to, const void *from, size_t bytes, bool stream)
{
    if (!stream)
        memcpy(to, from, bytes);
    for (size_t i = 0; stream && i < bytes; i += LINE)
        line_past_cache((const char *)from + i, (char *)to + i);
}

/* What moves items, a copy for each size of values. */
struct value_code {
    void (*move)(void *sort, size_t part);
    void (*cached_move)(const struct cached_move *m);
};
#define VALUE_BYTES 0
#include "radixsort/radixsort_cpu_scatter.h"
#define VALUE_BYTES 1
#include "radixsort/radixsort_cpu_scatter.h"
#define VALUE_BYTES 2
#include "radixsort/radixsort_cpu_scatter.h"
#define VALUE_BYTES 4
#include "radixsort/radixsort_cpu_scatter.h"
#define VALUE_BYTES 8
#include "radixsort/radixsort_cpu_scatter.h"
#define VALUE_BYTES 16
#include "radixsort/radixsort_cpu_scatter.h"

static const struct value_code *values_of(size_t value_bytes)
{
    static const struct value_code table[17] = {
        [0] = {move_v0, cached_move_v0}, [1] = {move_v1, cached_move_v1},
        [2] = {move_v2, cached_move_v2}, [4] = {move_v4, cached_move_v4},
        [8] = {move_v8, cached_move_v8}, [16] = {move_v16, cached_move_v16}};
    assert(table[value_bytes].move);
    return &table[value_bytes];
}

static void open_sort(struct sort *s, const struct gpi_radix_cpu_job *c)
{
    s->c = c;
    s->places = c->counts ? c->counts : &s->alone.places;
    s->counts = (void *)(s->places + c->parts);
    s->stream = c->job.n * (KEY_BYTES + c->job.value_bytes) >= LARGE_BYTES;
    s->keys_src = c->job.keys_in;
    s->values_src = c->job.values_in;
}

/* gpi_radixsort_copy_all() by the calling thread alone. */
static void copy_alone(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    if (j->keys_in != j->keys_out)
        gpi_radixsort_copy_some(j->keys_out, j->keys_in, KEY_BYTES, 0, j->n);
    if (j->value_bytes && j->values_in != j->values_out)
        gpi_radixsort_copy_some(j->values_out, j->values_in, j->value_bytes, 0, j->n);
}

#include "radixsort/radixsort_cpu_lsd.h"

#if QUICK
#include "radixsort/radixsort_cpu_quicksort.h"

#include "radixsort/radixsort_cpu_positions.h"
#endif

#include "radixsort/radixsort_cpu_sample.h"

#include "radixsort/radixsort_cpu_msd.h"

#if GPI_KEY_BITS <= 16
#include "radixsort/radixsort_cpu_count.h"
#endif

#if QUICK
bool QUICK_OF(GPI_KEY_BITS)(void *words, size_t n)
{
    return quick_sort(words, n, depth_of(n));
}
#endif

gpi_radixsort_cpu_fn SORT, SEGMENT;

void SEGMENT(const struct gpi_radix_cpu_job *c)
{
    sort_alone(c);
}

void SORT(const struct gpi_radix_cpu_job *c)
{
#if GPI_KEY_BITS <= 16
    if (gpi_radixsort_by_count(&c->job)) {
        sort_by_count(c);
        return;
    }
#endif
    sort_words(c);
}
