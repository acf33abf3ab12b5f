/* SPDX-License-Identifier: MIT */
/*
 * Groups of few integer keys on the CPU without a sort. Parts of the array find their keys in a
 * hash table each and fold values where these lie, block by block; then the keys of all parts are
 * sorted, and their folds joined in the order of parts. Parts depend on the number of items alone,
 * so results do, too. A sample says first whether keys may be few; a part that meets more gives up.
 */
#include <string.h>

#include "core/check.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"
#include "group/group_internal.h"

enum {
    FOLDS = 4,   /* at most */
    KEYS = 2048, /* at most */
    SLOTS = 4 * KEYS,
    SLOT_BITS = 13,
    NONE = 0xffff,
    BLOCK = 4096,      /* items whose numbers of keys are in the first-level cache */
    PART = 1 << 16,    /* items of a part, and of one sequence of additions, at least */
    FROM = 1 << 18,    /* items: fewer are sorted as fast */
    PARTS = 64,        /* at most */
    SAMPLE = 4096,     /* items */
    SAMPLE_KEYS = 1792 /* at most: of KEYS keys alike it has 1771 */
};

struct table {
    uint64_t slot_key[SLOTS], keys[KEYS];
    uint16_t slot[SLOTS]; /* number of the key, or NONE */
    uint32_t count;
};

/* Of one fold, a word for each key, of which part's own numbers say. */
struct sums {
    uint64_t all[KEYS], some[KEYS]; /* accumulators: of all blocks, and of the PART items at hand */
};

struct part {
    struct table table;
    struct sums sums[FOLDS];
};

struct job {
    const struct gpi_group_few_args *a;
    const struct gpi_group_fold_cpu *unit[FOLDS]; /* NULL: a count */
    const struct gpi_reduce_cpu *reduce[FOLDS];
    struct part *part;
    size_t key_bytes, parts, part_items;
    bool gave_up;
};

static size_t parts_of(uint64_t n)
{
    return (size_t)gpi_min(gpi_ceil_div(n, PART), PARTS);
}

/* Whether keys and aggregates are such as this is for. Which NaN a minimum is would depend on what
 * comes first. */
static bool is_for(const struct gpi_group_few_args *a)
{
    bool all = a->n >= FROM && a->count <= FOLDS && !gpi_dtype_is_float(a->key_dtype);
    for (int i = 0; all && i < a->count; i++) {
        const gp_aggregate *g = &a->of[i];
        const bool order = gpi_dtype_is_float(g->in_dtype) && gpi_scan_is_order(g->op);
        all = g->kind == GP_AGGREGATE_COUNT ||
              (g->kind == GP_AGGREGATE_REDUCE && gpi_op_scalars(g->op) == 1 && !order);
    }
    return all;
}

size_t gpi_group_few_cpu_bytes(const struct gpi_group_few_args *a)
{
    return is_for(a) ? gpi_piece((parts_of(a->n) + 1) * sizeof(struct part)) : 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void table_open(struct table *t)
{
    memset(t->slot, 0xff, sizeof t->slot);
    t->count = 0;
}

static uint32_t slot_of(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> (64 - SLOT_BITS));
}

/* The number of a key, which it gets if it has none; NONE: there are too many. */
static __attribute__((noinline)) uint16_t key_seek(struct table *t, uint64_t key, uint32_t slot)
{
    for (;; slot = (slot + 1) % SLOTS) {
        if (t->slot[slot] == NONE)
            break;
        if (t->slot_key[slot] == key)
            return t->slot[slot];
    }
    if (t->count == KEYS)
        return NONE;
    t->slot_key[slot] = t->keys[t->count] = key;
    return t->slot[slot] = (uint16_t)t->count++;
}

static inline uint16_t key_number(struct table *t, uint64_t key)
{
    const uint32_t slot = slot_of(key);
    const uint16_t number = t->slot[slot];
    return number != NONE && t->slot_key[slot] == key ? number : key_seek(t, key, slot);
}

ALWAYS_INLINE bool numbers_width(struct table *t, const char *keys, size_t n, uint16_t *numbers,
                                 size_t bytes)
{
    uint16_t top = 0;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = key_number(t, gpi_word_at(keys, bytes, i));
        top = numbers[i] > top ? numbers[i] : top;
    }
    return top != NONE;
}

/* false: there are too many keys. */
static bool numbers_of(struct table *t, const void *keys, size_t key_bytes, size_t n,
                       uint16_t *numbers)
{
    bool few = false;
    WITH_BYTES(bytes, key_bytes, few = numbers_width(t, keys, n, numbers, bytes));
    return few;
}

static bool sample_is_few(const struct job *j, struct table *t)
{
    table_open(t);
    for (uint64_t i = 0; i < SAMPLE && t->count <= SAMPLE_KEYS; i++)
        key_number(t, gpi_word_at(j->a->keys, j->key_bytes, j->a->n / SAMPLE * i));
    return t->count <= SAMPLE_KEYS;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void sums_clear(const struct job *j, int fold, uint32_t from, uint32_t to, uint64_t *sums)
{
    for (uint32_t k = from; k < to; k++) {
        sums[k] = 0;
        if (j->unit[fold])
            j->reduce[fold]->identity(j->a->of[fold].op, &sums[k]);
    }
}

static void sums_join(const struct job *j, int fold, uint64_t *all, const uint64_t *some)
{
    if (j->unit[fold])
        j->reduce[fold]->join(j->a->of[fold].op, all, some);
    else
        *all += *some;
}

static void block_fold(const struct job *j, struct part *p, uint64_t first, size_t n,
                       const uint16_t *numbers)
{
    const bool one = p->table.count == 1; /* its folds would wait for each other */
    for (int f = 0; f < j->a->count; f++) {
        const gp_aggregate *fold = &j->a->of[f];
        const struct gpi_group_fold_cpu *unit = j->unit[f];
        const char *values = unit ? (const char *)fold->values + first * unit->in_bytes : NULL;
        uint64_t *some = p->sums[f].some, next = n;
        if (one && unit)
            gpi_group_piece(j->reduce[f], fold->op, values, n, &next);
        if (one)
            sums_join(j, f, some, &next);
        else if (unit)
            unit->scatter(fold->op, values, numbers, n, some);
        else
            for (size_t i = 0; i < n; i++)
                some[numbers[i]]++;
    }
}

static void part_fold(void *arg, size_t number)
{
    struct job *j = arg;
    struct part *p = &j->part[number];
    const uint64_t first = (uint64_t)number * j->part_items;
    const uint64_t end = gpi_min(first + j->part_items, j->a->n);
    uint16_t numbers[BLOCK];
    table_open(&p->table);
    for (int f = 0; f < j->a->count; f++) {
        sums_clear(j, f, 0, KEYS, p->sums[f].all);
        sums_clear(j, f, 0, KEYS, p->sums[f].some);
    }
    for (uint64_t i = first; i < end; i += BLOCK) {
        const size_t n = (size_t)gpi_min(end - i, BLOCK);
        const char *keys = (const char *)j->a->keys + i * j->key_bytes;
        if (__atomic_load_n(&j->gave_up, __ATOMIC_RELAXED) ||
            !numbers_of(&p->table, keys, j->key_bytes, n, numbers)) {
            __atomic_store_n(&j->gave_up, true, __ATOMIC_RELAXED);
            return;
        }
        block_fold(j, p, i, n, numbers);
        if ((i + n - first) % PART != 0 && i + n < end)
            continue;
        for (int f = 0; f < j->a->count; f++) {
            for (uint32_t k = 0; k < p->table.count; k++)
                sums_join(j, f, &p->sums[f].all[k], &p->sums[f].some[k]);
            sums_clear(j, f, 0, p->table.count, p->sums[f].some);
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The keys of all parts in *t; false: too many. */
static bool keys_join(const struct job *j, struct table *t)
{
    table_open(t);
    for (size_t i = 0; i < j->parts; i++)
        for (uint32_t k = 0; k < j->part[i].table.count; k++)
            if (key_number(t, j->part[i].table.keys[k]) == NONE)
                return false;
    return true;
}

/* In the order of keys, of signed ones those with the top bit first: Shell's sort. */
static void keys_sort(const struct job *j, uint64_t *keys, uint32_t count)
{
    const uint64_t top = (uint64_t)gpi_dtype_is_signed(j->a->key_dtype) << (8 * j->key_bytes - 1);
    for (uint32_t gap = KEYS / 2 - 1; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            const uint64_t key = keys[i];
            uint32_t k = i;
            for (; k >= gap && (keys[k - gap] ^ top) > (key ^ top); k -= gap)
                keys[k] = keys[k - gap];
            keys[k] = key;
        }
}

/* The folds of all parts, by the number of a key in *t. */
static void sums_join_all(const struct job *j, struct table *t, struct sums *sums)
{
    for (int f = 0; f < j->a->count; f++)
        sums_clear(j, f, 0, t->count, sums[f].all);
    for (size_t i = 0; i < j->parts; i++)
        for (uint32_t k = 0; k < j->part[i].table.count; k++) {
            const uint16_t number = key_number(t, j->part[i].table.keys[k]);
            for (int f = 0; f < j->a->count; f++)
                sums_join(j, f, &sums[f].all[number], &j->part[i].sums[f].all[k]);
        }
}

/* Keys have been sorted; slots say where the folds are. */
static void groups_store(const struct job *j, struct table *t, const struct sums *sums)
{
    const struct gpi_group_few_args *a = j->a;
    for (uint64_t r = 0; r < gpi_min(t->count, a->capacity); r++) {
        const uint16_t number = key_number(t, t->keys[r]);
        if (a->keys_out)
            gpi_word_put(a->keys_out, j->key_bytes, r, t->keys[r]);
        for (int f = 0; f < a->count; f++)
            if (j->unit[f])
                j->unit[f]->store(&sums[f].all[number], a->of[f].out, r);
            else
                gpi_word_put(a->of[f].out, gpi_dtype_bytes(a->of[f].out_dtype), r,
                             sums[f].all[number]);
    }
}

gp_status gpi_group_few_cpu(gp_context *ctx, const char *function,
                            const struct gpi_group_few_args *a, bool *done)
{
    struct job j = {.a = a, .key_bytes = gpi_dtype_bytes(a->key_dtype), .parts = parts_of(a->n)};
    if (!is_for(a))
        return GP_OK;
    GPI_FRAME(frame, ctx, function, gpi_group_few_cpu_bytes(a));
    j.part_items = (size_t)gpi_ceil_div(gpi_ceil_div(a->n, j.parts), BLOCK) * BLOCK;
    j.part = gpi_frame_take(&frame, (j.parts + 1) * sizeof *j.part);
    struct part *const all = &j.part[j.parts];
    if (!sample_is_few(&j, &all->table))
        return GP_OK;
    for (int f = 0; f < a->count; f++) {
        const gp_aggregate *g = &a->of[f];
        if (g->kind == GP_AGGREGATE_REDUCE) {
            j.unit[f] = gpi_group_fold_cpu_for(g->in_dtype, g->out_dtype, g->op);
            j.reduce[f] = gpi_reduce_cpu_find(ctx, g->in_dtype, g->out_dtype, g->op);
        }
    }
    j.parts = (size_t)gpi_ceil_div(a->n, j.part_items);
    gpi_parallel_for(ctx->threads, j.parts, part_fold, &j);
    if (j.gave_up || !keys_join(&j, &all->table))
        return GP_OK;
    sums_join_all(&j, &all->table, all->sums);
    keys_sort(&j, all->table.keys, all->table.count);
    groups_store(&j, &all->table, all->sums);
    *a->out_count = all->table.count;
    *done = true;
    if (all->table.count > a->capacity) {
        const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, (gp_dtype)0);
        gpi_report(&reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, all->table.count, a->capacity);
    }
    return GP_OK;
}
