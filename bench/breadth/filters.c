/* SPDX-License-Identifier: MIT */
/*
 * Calls that move whole items: compaction, positions of flags, partition, gather, expand; and
 * bounds of sorted needles. Over item sizes, dtypes, widths of indices, and how flags lie.
 */
#include "breadth.h"

#include <string.h>

enum { SEGMENT = 16 };
static const size_t item_sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 48, 100, 1000};
enum { ITEM_SIZES = sizeof item_sizes / sizeof *item_sizes };

/* How flags lie: half of them set unless it says otherwise. */
enum spread { RANDOM, ALL, NONE, ALTERNATING, CLUSTERS, ONE_IN_1000, SPREADS };
static const char *const spread_names[] = {"",          "_all",        "_none", "_alternating",
                                           "_clusters", "_one_in_1000"};

/* One choice. The items that it moves have args.value_bytes, indices args.key_bytes. */
struct choice {
    char name[BREADTH_NAME];
    gp_dtype dtype; /* of the items, or of indices */
    size_t item_bytes, index_bytes;
    enum spread spread;
    bench_run run;
    bool (*check)(struct bench *b, const struct bench_case *c);
    double (*fill)(struct bench *b, const struct choice *m, struct bench_args *a); /* bytes moved */
};

/* ---- flags ----------------------------------------------------------------------------------- */

static void fill_flags(struct bench *b, enum spread spread, size_t n, void *flags)
{
    struct bench_task fill = {
        .kind = BENCH_FILL_FLAGS, .n = n, .width = 1, .seed = 2, .limit = 32768, .out = flags};
    if (spread == ALL || spread == NONE)
        fill.limit = spread == ALL ? 65536 : 0;
    if (spread == ALTERNATING || spread == ONE_IN_1000) {
        fill.kind = BENCH_FILL_HEADS;
        fill.limit = spread == ALTERNATING ? 2 : 1000;
    }
    if (spread == CLUSTERS) {
        fill.kind = BENCH_FILL_CLUSTERS;
        fill.limit = 1000;
    }
    b->backend->task(b, &fill);
}

static size_t count_flags(struct bench *b, const void *flags, size_t n)
{
    struct bench_task zeros = {
        .kind = BENCH_COUNT_BELOW, .n = n, .width = 1, .limit = 1, .out = (void *)flags};
    return n - bench_count_bad(b, &zeros);
}

/* Items of any size, with room for n outputs and a count. */
static void fill_items(struct bench *b, size_t bytes, struct bench_args *a)
{
    struct bench_task items = {.kind = BENCH_FILL_BITS, .n = a->n * bytes, .width = 1, .seed = 1};
    items.out = bench_buffer(b, BENCH_SLOT_0, a->n * bytes);
    b->backend->task(b, &items);
    a->in = items.out;
    a->out = bench_buffer(b, BENCH_SLOT_1, a->n * bytes);
    a->count = bench_buffer(b, BENCH_SLOT_6, 64);
}

/* Flags, how many are set in a->bins. */
static void take_flags(struct bench *b, enum spread spread, struct bench_args *a)
{
    void *flags = bench_buffer(b, BENCH_SLOT_3, a->n);
    fill_flags(b, spread, a->n, flags);
    a->flags = flags;
    a->bins = count_flags(b, flags, a->n);
}

/* Positions of the flags in ascending order, as many as there are set ones, are all of them. */
static bool are_positions(struct bench *b, const struct bench_args *a, const void *indices,
                          size_t width)
{
    uint64_t count = 0;
    struct bench_task selected = {
        .kind = BENCH_SELECTED, .n = a->bins, .width = (unsigned)width, .out = (void *)indices};
    selected.args = *a;
    bench_copy(b, a->count, sizeof count, &count);
    return count == a->bins && bench_count_bad(b, &selected) == 0;
}

/* Whether out has the items whose places are in a->rows. */
static bool are_gathered(struct bench *b, const struct bench_args *a, size_t n, const void *out)
{
    const unsigned word = a->value_bytes % 4 == 0 ? 4 : a->value_bytes % 2 == 0 ? 2 : 1;
    struct bench_task gathered = {.kind = BENCH_GATHERED,
                                  .n = n * (a->value_bytes / word),
                                  .width = word,
                                  .limit = a->value_bytes / word,
                                  .out = (void *)out};
    gathered.args = *a;
    return bench_count_bad(b, &gathered) == 0;
}

/* Items by flags against their positions, which are checked themselves; behind the kept ones lie
 * the others, if it is a partition. */
static bool items_are_right(struct bench *b, const struct bench_case *c, bool partition)
{
    struct bench_args a = c->args;
    struct bench_task others = {
        .kind = BENCH_OTHER_FLAGS, .n = a.n, .width = 1, .a = (void *)a.flags};
    void *indices = bench_buffer(b, BENCH_SLOT_4, a.n * 4);
    a.count = bench_buffer(b, BENCH_SLOT_7, 64);
    a.rows = indices;
    a.key_bytes = 4;
    uint64_t count = 0;
    bench_copy(b, c->args.count, sizeof count, &count);
    if (bench_status(b, gp_compact_indices(b->ctx, GP_U32, a.flags, a.n, indices, a.count)) ||
        count != a.bins || !are_positions(b, &a, indices, 4) || !are_gathered(b, &a, a.bins, a.out))
        return false;
    if (!partition)
        return true;
    a.flags = others.out = bench_buffer(b, BENCH_SLOT_5, a.n);
    b->backend->task(b, &others);
    a.bins = a.n - count;
    return !bench_status(b, gp_compact_indices(b->ctx, GP_U32, a.flags, a.n, indices, a.count)) &&
           are_positions(b, &a, indices, 4) &&
           are_gathered(b, &a, a.bins, (char *)a.out + count * a.value_bytes);
}

/* ---- compaction ------------------------------------------------------------------------------ */

static int run_flags(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_compact(b->ctx, a->value_bytes, a->in, a->flags, a->n, a->out, a->count));
}

static int run_partition(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_partition(b->ctx, a->value_bytes, a->in, a->flags, a->n, a->out, a->count));
}

static bool compact_is_right(struct bench *b, const struct bench_case *c)
{
    return items_are_right(b, c, false);
}

static bool partition_is_right(struct bench *b, const struct bench_case *c)
{
    return items_are_right(b, c, true);
}

static double fill_compact(struct bench *b, const struct choice *m, struct bench_args *a)
{
    fill_items(b, m->item_bytes, a);
    take_flags(b, m->spread, a);
    return (double)(a->n + (a->n + (m->run == run_partition ? a->n : a->bins)) * m->item_bytes);
}

/* Items of a dtype that are below a bound where a flag is set. */
static int run_if(struct bench *b, const struct bench_args *a)
{
    uint64_t bound = 0;
    bench_store(&bound, 0, (unsigned)a->value_bytes, bench_choice_bound(a->dtype));
    return bench_status(
        b, gp_compact_if(b->ctx, a->dtype, GP_LT, &bound, a->in, a->n, a->out, a->count));
}

static double fill_if(struct bench *b, const struct choice *m, struct bench_args *a)
{
    fill_items(b, m->item_bytes, a);
    take_flags(b, m->spread, a);
    struct bench_task choices = {.kind = BENCH_FILL_CHOICES,
                                 .n = a->n,
                                 .width = (unsigned)m->item_bytes,
                                 .out = (void *)a->in,
                                 .args = *a};
    b->backend->task(b, &choices);
    return (double)((a->n + a->bins) * m->item_bytes);
}

static int run_indices(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_compact_indices(b->ctx, a->dtype, a->flags, a->n, a->out, a->count));
}

static bool indices_are_right(struct bench *b, const struct bench_case *c)
{
    return are_positions(b, &c->args, c->args.out, c->args.key_bytes);
}

static double fill_indices(struct bench *b, const struct choice *m, struct bench_args *a)
{
    take_flags(b, m->spread, a);
    a->out = bench_buffer(b, BENCH_SLOT_1, a->n * m->index_bytes);
    a->count = bench_buffer(b, BENCH_SLOT_6, 64);
    return (double)(a->n + a->bins * m->index_bytes);
}

/* ---- gather, expand, bounds ------------------------------------------------------------------ */

static gp_dtype index_dtype(size_t bytes)
{
    return bytes == 4 ? GP_U32 : GP_U64;
}

static int run_gather(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_gather(b->ctx, a->value_bytes, a->in, index_dtype(a->key_bytes),
                                     a->rows, a->n, a->out));
}

static bool gather_is_right(struct bench *b, const struct bench_case *c)
{
    return are_gathered(b, &c->args, c->args.n, c->args.out);
}

/* Places near each item's own: shuffled in blocks of 64. */
static double fill_gather(struct bench *b, const struct choice *m, struct bench_args *a)
{
    struct bench_task places = {
        .kind = BENCH_FILL_NEIGHBOURS, .n = a->n, .width = (unsigned)m->index_bytes, .limit = 64};
    fill_items(b, m->item_bytes, a);
    a->rows = places.out = bench_buffer(b, BENCH_SLOT_4, a->n * m->index_bytes);
    b->backend->task(b, &places);
    return (double)(a->n * (2 * m->item_bytes + m->index_bytes));
}

static int run_expand(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_expand(b->ctx, a->value_bytes, a->in, GP_U32, a->offsets, a->num_rows, a->n, a->out));
}

/* Segments are even, so places are known. */
static bool expand_is_right(struct bench *b, const struct bench_case *c)
{
    struct bench_args a = c->args;
    struct bench_task places = {.kind = BENCH_FILL_BLOCKS, .n = a.n, .width = 4, .limit = SEGMENT};
    a.rows = places.out = bench_buffer(b, BENCH_SLOT_5, a.n * 4);
    a.key_bytes = 4;
    b->backend->task(b, &places);
    return are_gathered(b, &a, a.n, a.out);
}

static double fill_expand(struct bench *b, const struct choice *m, struct bench_args *a)
{
    fill_items(b, m->item_bytes, a);
    a->num_rows = a->n / SEGMENT;
    a->n = a->num_rows * SEGMENT;
    struct bench_task offsets = {.kind = BENCH_FILL_IOTA,
                                 .n = a->num_rows + 1,
                                 .width = 4,
                                 .limit = SEGMENT,
                                 .out = bench_buffer(b, BENCH_SLOT_4, (a->num_rows + 1) * 4)};
    b->backend->task(b, &offsets);
    a->offsets = offsets.out;
    return (double)((a->n + a->num_rows) * m->item_bytes + (a->num_rows + 1) * 4);
}

static int run_bounds(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_lower_bound(b->ctx, a->dtype, a->in, a->n, a->values, a->n,
                                          index_dtype(a->key_bytes), a->out));
}

/* Among the words w, w + 2, .. the needle w - 1 + j is at j / 2. They ascend as floats too. */
static bool bounds_are_right(struct bench *b, const struct bench_case *c)
{
    const size_t n = c->args.n, width = c->args.key_bytes;
    struct bench_task halves = {
        .kind = BENCH_FILL_BLOCKS, .n = n, .width = (unsigned)width, .limit = 2};
    struct bench_task equal = {
        .kind = BENCH_EQUAL, .n = n, .width = (unsigned)width, .out = c->args.out};
    equal.a = halves.out = bench_buffer(b, BENCH_SLOT_5, n * width);
    b->backend->task(b, &halves);
    return bench_count_bad(b, &equal) == 0;
}

static double fill_bounds(struct bench *b, const struct choice *m, struct bench_args *a)
{
    const size_t n = a->n, bytes = m->item_bytes;
    struct bench_task ascending = {
        .kind = BENCH_FILL_IOTA, .n = n, .width = (unsigned)bytes, .seed = 1 << 24, .limit = 2};
    a->in = ascending.out = bench_buffer(b, BENCH_SLOT_0, n * bytes);
    b->backend->task(b, &ascending);
    ascending.seed--;
    ascending.limit = 1;
    a->values = ascending.out = bench_buffer(b, BENCH_SLOT_4, n * bytes);
    b->backend->task(b, &ascending);
    a->out = bench_buffer(b, BENCH_SLOT_1, n * m->index_bytes);
    return (double)(n * (2 * bytes + m->index_bytes));
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void measure_at(struct bench *b, const struct choice *m, size_t n)
{
    struct bench_case c = {.suite = "breadth",
                           .name = m->name,
                           .run = m->run,
                           .check = m->check,
                           .seen = breadth_keep};
    c.args = (struct bench_args){
        .dtype = m->dtype, .n = n, .value_bytes = m->item_bytes, .key_bytes = m->index_bytes};
    c.bytes = m->fill(b, m, &c.args);
    bench_measure(b, &c);
}

static void measure(struct bench *b, const struct choice *m)
{
    const size_t bytes = m->item_bytes > m->index_bytes ? m->item_bytes : m->index_bytes;
    if (!bench_wanted(b, m->name, m->dtype))
        return;
    if (b->options.num_exponents == 0) {
        measure_at(b, m, breadth_bytes(b) / bytes);
        if (!b->options.quick)
            measure_at(b, m, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        measure_at(b, m, (size_t)1 << b->options.exponents[i]);
}

/* A call that takes whole items, and no indices. */
static void by_items(struct bench *b, const char *what, size_t bytes, struct choice m)
{
    m.dtype = GP_U8;
    m.item_bytes = bytes;
    snprintf(m.name, sizeof m.name, "%s_of_%zu%s", what, bytes, spread_names[m.spread]);
    measure(b, &m);
}

static void by_flags(struct bench *b, size_t bytes, enum spread spread)
{
    by_items(
        b, "compact", bytes,
        (struct choice){
            .spread = spread, .run = run_flags, .check = compact_is_right, .fill = fill_compact});
}

static void by_partition(struct bench *b, size_t bytes)
{
    by_items(
        b, "partition", bytes,
        (struct choice){.run = run_partition, .check = partition_is_right, .fill = fill_compact});
}

static void by_expand(struct bench *b, size_t bytes)
{
    by_items(b, "expand", bytes,
             (struct choice){.run = run_expand, .check = expand_is_right, .fill = fill_expand});
}

static void by_gather(struct bench *b, size_t bytes, size_t index_bytes)
{
    struct choice m = {.dtype = index_dtype(index_bytes),
                       .item_bytes = bytes,
                       .index_bytes = index_bytes,
                       .run = run_gather,
                       .check = gather_is_right,
                       .fill = fill_gather};
    snprintf(m.name, sizeof m.name, "gather_of_%zu", bytes);
    measure(b, &m);
}

static void by_dtype(struct bench *b, gp_dtype dtype)
{
    struct choice compared = {.name = "compact_if",
                              .dtype = dtype,
                              .item_bytes = bench_dtype_bytes(dtype),
                              .run = run_if,
                              .check = compact_is_right,
                              .fill = fill_if};
    struct choice bounds = {.name = "lower_bound_sorted",
                            .dtype = dtype,
                            .item_bytes = bench_dtype_bytes(dtype),
                            .index_bytes = 4,
                            .run = run_bounds,
                            .check = bounds_are_right,
                            .fill = fill_bounds};
    measure(b, &compared);
    if (bounds.item_bytes >= 4)
        measure(b, &bounds);
}

static void by_indices(struct bench *b, size_t index_bytes, enum spread spread)
{
    struct choice m = {.dtype = index_dtype(index_bytes),
                       .index_bytes = index_bytes,
                       .spread = spread,
                       .run = run_indices,
                       .check = indices_are_right,
                       .fill = fill_indices};
    snprintf(m.name, sizeof m.name, "indices%s", spread_names[spread]);
    measure(b, &m);
}

void breadth_filters(struct bench *b)
{
    for (int i = 0; i < ITEM_SIZES; i++) {
        by_flags(b, item_sizes[i], RANDOM);
        by_partition(b, item_sizes[i]);
        by_gather(b, item_sizes[i], 4);
        by_gather(b, item_sizes[i], 8);
        by_expand(b, item_sizes[i]);
    }
    for (int s = ALL; s < SPREADS; s++) {
        by_flags(b, 1, (enum spread)s);
        by_flags(b, 4, (enum spread)s);
        by_flags(b, 12, (enum spread)s);
        by_indices(b, 4, (enum spread)s);
    }
    by_indices(b, 4, RANDOM);
    by_indices(b, 8, RANDOM);
    for (int i = 0; i < BREADTH_DTYPES; i++)
        by_dtype(b, breadth_dtypes[i]);
}
