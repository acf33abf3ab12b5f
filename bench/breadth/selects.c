/* SPDX-License-Identifier: MIT */
/*
 * Compactions with a descriptor: flags as bits, two-sided ranges, flags as outputs, positions
 * beside items, partitions into arrays of their own. Results are compared with those of calls that
 * the other files check.
 */
#include "breadth.h"

#include <string.h>

static const size_t item_sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 100, 1000};
enum { ITEM_SIZES = sizeof item_sizes / sizeof *item_sizes };
static const gp_dtype range_dtypes[] = {GP_U8, GP_BF16, GP_F32, GP_I64};
enum { RANGE_DTYPES = sizeof range_dtypes / sizeof *range_dtypes };

/* One choice: about half of the items are kept. */
struct choice {
    char name[BREADTH_NAME];
    gp_compact_desc desc;
    size_t item_bytes;
    int outputs; /* arrays of a partition */
    bool indices;
};

/* A range that holds half of the words whose bits are random. */
static const uint64_t range[2] = {0x2000000020202020, 0x5fffffff5f5f5f5f};

/* ---- one choice ------------------------------------------------------------------------------ */

static const struct choice *current;

static gp_compact_desc desc_of(struct bench *b, const struct bench_args *a)
{
    gp_compact_desc d = current->desc;
    const size_t bytes = a->n * a->value_bytes;
    if (current->outputs > 1)
        d.rest = bench_buffer(b, BENCH_SLOT_2, bytes);
    if (current->outputs > 2)
        d.above = bench_buffer(b, BENCH_SLOT_8, bytes);
    if (current->indices)
        d.indices = bench_buffer(b, BENCH_SLOT_2, a->n * 4);
    return d;
}

static int run(struct bench *b, const struct bench_args *a)
{
    const gp_compact_desc d = desc_of(b, a);
    return bench_status(
        b, gp_compact_by(b->ctx, &d, a->in, d.compare ? NULL : a->flags, a->n, a->out, a->count));
}

static uint64_t word(struct bench *b, const uint64_t *at)
{
    uint64_t value = 0;
    bench_copy(b, at, sizeof value, &value);
    return value;
}

static bool same(struct bench *b, const void *x, const void *y, size_t bytes)
{
    struct bench_task equal = {
        .kind = BENCH_EQUAL, .n = bytes, .width = 1, .out = (void *)x, .a = (void *)y};
    return bench_count_bad(b, &equal) == 0;
}

/* An output against what a simpler call keeps. */
static bool is_kept(struct bench *b, const struct bench_args *a, const gp_compact_desc *d,
                    const void *flags, const void *out, const uint64_t *count)
{
    void *expected =
        bench_buffer(b, BENCH_SLOT_5, a->n * (a->value_bytes < 4 ? 4 : a->value_bytes));
    uint64_t *kept = bench_buffer(b, BENCH_SLOT_7, 64);
    const size_t bytes = d->kind == GP_COMPACT_INDICES ? 4 : a->value_bytes;
    return !bench_status(b, gp_compact_by(b->ctx, d, a->in, d->compare ? NULL : flags, a->n,
                                          expected, kept)) &&
           (!count || word(b, kept) == word(b, count)) &&
           same(b, expected, out, word(b, kept) * bytes);
}

/* What selects the same items, as bytes. */
static const void *flags_of(struct bench *b, const struct bench_args *a)
{
    gp_compact_desc d = current->desc;
    void *flags = bench_buffer(b, BENCH_SLOT_4, a->n);
    d.kind = GP_COMPACT_FLAGS;
    d.flags = GP_FLAGS_BYTES;
    if (!d.compare)
        return a->values; /* the bytes that the bits were made of */
    return bench_status(b, gp_compact_by(b->ctx, &d, a->in, NULL, a->n, flags,
                                         bench_buffer(b, BENCH_SLOT_7, 64)))
               ? NULL
               : flags;
}

static bool sides_are_right(struct bench *b, const struct bench_args *a, const void *flags)
{
    const gp_compact_desc made = desc_of(b, a);
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    if (current->outputs == 2) { /* the whole as one array */
        char *all = bench_buffer(b, BENCH_SLOT_5, a->n * a->value_bytes);
        uint64_t *count = bench_buffer(b, BENCH_SLOT_7, 64);
        const uint64_t kept = word(b, a->count);
        return !bench_status(
                   b, gp_partition(b->ctx, a->value_bytes, a->in, flags, a->n, all, count)) &&
               word(b, count) == kept && word(b, a->count + 1) == a->n - kept &&
               same(b, all, a->out, kept * a->value_bytes) &&
               same(b, all + kept * a->value_bytes, made.rest, (a->n - kept) * a->value_bytes);
    }
    d.dtype = made.dtype;
    d.compare = GP_LT;
    d.value = made.value;
    if (!is_kept(b, a, &d, NULL, made.rest, a->count + 1))
        return false;
    d.compare = GP_GT;
    d.value = made.upper;
    return is_kept(b, a, &d, NULL, made.above, a->count + 2);
}

static bool is_right(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    const gp_compact_desc made = desc_of(b, a);
    const void *flags = flags_of(b, a);
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = a->value_bytes;
    d.index_dtype = GP_U32;
    if (!flags)
        return false;
    if (made.kind == GP_COMPACT_FLAGS) { /* as flags they select what the comparison does */
        d = made;
        d.kind = GP_COMPACT_INDICES;
        d.index_dtype = GP_U32;
        void *indices = bench_buffer(b, BENCH_SLOT_2, a->n * 4);
        if (bench_status(b, gp_compact_by(b->ctx, &d, a->in, NULL, a->n, indices, a->count)))
            return false;
        d.compare = (gp_compare)0;
        d.upper = NULL;
        return is_kept(b, a, &d, a->out, indices, a->count);
    }
    if (current->outputs != 2 && !is_kept(b, a, &d, flags, a->out, a->count))
        return false;
    d.kind = GP_COMPACT_INDICES;
    return (!current->indices || is_kept(b, a, &d, flags, made.indices, a->count)) &&
           (current->outputs < 2 || sides_are_right(b, a, flags));
}

/* Random items; flags of which half are set, as bytes in values and as the call wants them. */
static void fill(struct bench *b, struct bench_args *a)
{
    struct bench_task items = {
        .kind = BENCH_FILL_BITS, .n = a->n * a->value_bytes, .width = 1, .seed = 1};
    struct bench_task flags = {
        .kind = BENCH_FILL_FLAGS, .n = a->n, .width = 1, .seed = 2, .limit = 32768};
    a->in = items.out = bench_buffer(b, BENCH_SLOT_0, a->n * a->value_bytes);
    b->backend->task(b, &items);
    a->out = bench_buffer(b, BENCH_SLOT_1, a->n * a->value_bytes);
    a->count = bench_buffer(b, BENCH_SLOT_6, 64);
    a->flags = a->values = flags.out = bench_buffer(b, BENCH_SLOT_3, a->n);
    b->backend->task(b, &flags);
    if (current->desc.compare || current->desc.flags == GP_FLAGS_BYTES)
        return;
    gp_compact_desc to_bits = GP_COMPACT_DESC_INIT; /* bytes above zero */
    const uint8_t zero = 0;
    void *bits = bench_buffer(b, BENCH_SLOT_8, a->n / 8 + 64);
    to_bits.kind = GP_COMPACT_FLAGS;
    to_bits.flags = GP_FLAGS_BITS;
    to_bits.dtype = GP_U8;
    to_bits.compare = GP_GT;
    to_bits.value = &zero;
    bench_status(b, gp_compact_by(b->ctx, &to_bits, a->values, NULL, a->n, bits, a->count));
    a->flags = bits;
}

static double bytes_moved(struct bench *b, const struct bench_args *a)
{
    const gp_compact_desc *d = &current->desc;
    const double flags = d->flags == GP_FLAGS_BITS ? (double)a->n / 8 : (double)a->n;
    const double items = (double)a->n * (double)a->value_bytes;
    const double read = items + (d->compare ? 0 : flags);
    if (run(b, a)) /* tells how many are kept */
        return read;
    const double kept = (double)word(b, a->count);
    return d->kind == GP_COMPACT_FLAGS ? read + flags
           : d->kind == GP_COMPACT_PARTITION
               ? read + items
               : read + kept * (double)(a->value_bytes + (current->indices ? 4 : 0));
}

static void measure_at(struct bench *b, const struct choice *m, size_t n)
{
    struct bench_case c = {
        .suite = "breadth", .name = m->name, .run = run, .check = is_right, .seen = breadth_keep};
    current = m;
    c.args = (struct bench_args){
        .dtype = m->desc.compare ? m->desc.dtype : GP_U8, .n = n, .value_bytes = m->item_bytes};
    fill(b, &c.args);
    c.bytes = bytes_moved(b, &c.args);
    bench_measure(b, &c);
}

static void measure(struct bench *b, const struct choice *m)
{
    if (!bench_wanted(b, m->name, m->desc.compare ? m->desc.dtype : GP_U8))
        return;
    if (b->options.num_exponents == 0) {
        measure_at(b, m, breadth_bytes(b) / (m->item_bytes < 4 ? 4 : m->item_bytes));
        if (!b->options.quick)
            measure_at(b, m, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        measure_at(b, m, (size_t)1 << b->options.exponents[i]);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static struct choice choice(const char *name, gp_compact_kind kind, size_t item_bytes)
{
    struct choice m = {.desc = GP_COMPACT_DESC_INIT, .item_bytes = item_bytes, .outputs = 1};
    snprintf(m.name, sizeof m.name, "%s", name);
    m.desc.kind = kind;
    m.desc.item_bytes = item_bytes;
    m.desc.index_dtype = GP_U32;
    return m;
}

static void by_size(struct bench *b, size_t bytes)
{
    char name[BREADTH_NAME];
    snprintf(name, sizeof name, "compact_by_bits_of_%zu", bytes);
    struct choice m = choice(name, GP_COMPACT_ITEMS, bytes);
    m.desc.flags = GP_FLAGS_BITS;
    measure(b, &m);
    snprintf(name, sizeof name, "compact_with_indices_of_%zu", bytes);
    m = choice(name, GP_COMPACT_ITEMS, bytes);
    m.indices = true;
    measure(b, &m);
    snprintf(name, sizeof name, "partition_into_of_%zu", bytes);
    m = choice(name, GP_COMPACT_PARTITION, bytes);
    m.outputs = 2;
    measure(b, &m);
}

static void by_range(struct bench *b, gp_dtype dtype)
{
    static const char *const names[] = {"compact_between", "flags_of_range", "bits_of_range",
                                        "partition_range", "partition_if"};
    for (int k = 0; k < 5; k++) {
        struct choice m = choice(names[k],
                                 k == 0  ? GP_COMPACT_ITEMS
                                 : k < 3 ? GP_COMPACT_FLAGS
                                         : GP_COMPACT_PARTITION,
                                 bench_dtype_bytes(dtype));
        m.desc.compare = GP_BETWEEN;
        m.desc.dtype = dtype;
        m.desc.value = &range[0];
        m.desc.upper = &range[1];
        m.desc.flags = k == 2 ? GP_FLAGS_BITS : GP_FLAGS_BYTES;
        m.outputs = k == 3 ? 3 : 1;
        measure(b, &m);
    }
}

void breadth_selects(struct bench *b)
{
    for (int i = 0; i < ITEM_SIZES; i++)
        by_size(b, item_sizes[i]);
    for (int i = 0; i < RANGE_DTYPES; i++)
        by_range(b, range_dtypes[i]);
}
