/* SPDX-License-Identifier: MIT */
/*
 * Calls that move items to places that are given, or fill arrays: scatter, fields of records, fill,
 * sequences, intervals. Over item sizes, dtypes and lengths of intervals.
 */
#include "breadth.h"

#include <string.h>

static const size_t item_sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 48, 100, 1000};
enum { ITEM_SIZES = sizeof item_sizes / sizeof *item_sizes };

/* The bytes of a record and of its field, which is a part of it. */
static const size_t records[][2] = {{4, 1}, {16, 4}, {12, 4}, {24, 8}, {64, 16}};
enum { RECORDS = sizeof records / sizeof *records };
static const size_t lengths[] = {4, 16, 64, 256, 4096};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* One choice. The size of an item is args.value_bytes, that of a record, or the length of an
 * interval, args.num_cols. */
struct choice {
    char name[BREADTH_NAME];
    gp_dtype dtype;
    size_t item_bytes, more;
    enum bench_ideal ideal;
    bench_run run;
    bool (*check)(struct bench *b, const struct bench_case *c);
    double (*fill)(struct bench *b, const struct choice *m, struct bench_args *a); /* bytes moved */
};

static void *random_bytes(struct bench *b, int slot, size_t bytes)
{
    struct bench_task fill = {.kind = BENCH_FILL_BITS, .n = bytes, .width = 1, .seed = 1};
    fill.out = bench_buffer(b, slot, bytes);
    b->backend->task(b, &fill);
    return fill.out;
}

static void *numbers(struct bench *b, int slot, int kind, size_t n, size_t limit)
{
    struct bench_task fill = {.kind = kind, .n = n, .width = 4, .limit = limit};
    fill.out = bench_buffer(b, slot, n * 4);
    b->backend->task(b, &fill);
    return fill.out;
}

/* Whether items of to are those of from whose places are in a->rows. */
static bool are_moved(struct bench *b, const struct bench_args *a, const void *from, size_t n,
                      size_t item_bytes, const void *to)
{
    const unsigned word = item_bytes % 4 == 0 ? 4 : item_bytes % 2 == 0 ? 2 : 1;
    struct bench_task gathered = {.kind = BENCH_GATHERED,
                                  .n = n * (item_bytes / word),
                                  .width = word,
                                  .limit = item_bytes / word,
                                  .out = (void *)to,
                                  .args = {.in = from, .rows = a->rows, .key_bytes = 4}};
    return bench_count_bad(b, &gathered) == 0;
}

/* ---- scatter and fields ---------------------------------------------------------------------- */

static int run_scatter(struct bench *b, const struct bench_args *a)
{
    return bench_status(b,
                        gp_scatter(b->ctx, a->value_bytes, a->in, GP_U32, a->rows, a->n, a->out));
}

static bool scatter_is_right(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    return are_moved(b, a, a->out, a->n, a->value_bytes, a->in);
}

/* Places near each item's own: shuffled in blocks of 64. */
static double fill_scatter(struct bench *b, const struct choice *m, struct bench_args *a)
{
    a->in = random_bytes(b, BENCH_SLOT_0, a->n * m->item_bytes);
    a->out = bench_buffer(b, BENCH_SLOT_1, a->n * m->item_bytes);
    a->rows = numbers(b, BENCH_SLOT_4, BENCH_FILL_NEIGHBOURS, a->n, 64);
    return (double)(a->n * (2 * m->item_bytes + 4));
}

static gp_gather_desc field_of(const struct bench_args *a)
{
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = a->value_bytes;
    return d;
}

static int run_unpack(struct bench *b, const struct bench_args *a)
{
    gp_gather_desc d = field_of(a);
    d.in_stride = a->num_cols;
    return bench_status(b, gp_gather_by(b->ctx, &d, a->in, NULL, a->n, a->out));
}

static int run_pack(struct bench *b, const struct bench_args *a)
{
    gp_gather_desc d = field_of(a);
    d.out_stride = a->num_cols;
    return bench_status(b, gp_gather_by(b->ctx, &d, a->in, NULL, a->n, a->out));
}

static bool unpack_is_right(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    return are_moved(b, a, a->in, a->n, a->value_bytes, a->out);
}

/* Records are read, or written, in whole lines. */
static double fill_field(struct bench *b, const struct choice *m, struct bench_args *a)
{
    const bool pack = m->run == run_pack;
    a->n /= m->more / m->item_bytes;
    a->in = random_bytes(b, BENCH_SLOT_0, a->n * (pack ? m->item_bytes : m->more));
    a->out = random_bytes(b, BENCH_SLOT_1, a->n * (pack ? m->more : m->item_bytes));
    a->rows = numbers(b, BENCH_SLOT_4, BENCH_FILL_IOTA, a->n, m->more / m->item_bytes);
    return (double)(a->n * (m->item_bytes + m->more));
}

/* ---- fill ------------------------------------------------------------------------------------ */

static int run_fill(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_fill(b->ctx, a->value_bytes, a->values, a->n, a->out));
}

static bool fill_is_right(struct bench *b, const struct bench_case *c)
{
    struct bench_args a = c->args;
    void *item = bench_buffer(b, BENCH_SLOT_0, a.value_bytes);
    if (bench_status(b, gp_copy(b->ctx, a.values, a.value_bytes, item)))
        return false;
    a.rows = numbers(b, BENCH_SLOT_4, BENCH_FILL_BLOCKS, a.n, (size_t)1 << 40);
    return are_moved(b, &a, item, a.n, a.value_bytes, a.out);
}

static double fill_fill(struct bench *b, const struct choice *m, struct bench_args *a)
{
    static char item[1024];
    for (size_t i = 0; i < sizeof item; i++)
        item[i] = (char)(i * 37 + 1);
    a->values = item;
    a->out = random_bytes(b, BENCH_SLOT_1, a->n * m->item_bytes);
    return (double)(a->n * m->item_bytes);
}

static int run_iota(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_iota(b->ctx, a->dtype, NULL, NULL, a->n, a->out));
}

/* Of floats only that the first ones are followed by others is seen here. */
static bool iota_is_right(struct bench *b, const struct bench_case *c)
{
    const size_t width = c->args.value_bytes;
    struct bench_task same = {
        .kind = BENCH_FILL_IOTA, .n = c->args.n, .width = (unsigned)width, .limit = 1};
    if (c->args.dtype >= GP_F16)
        return true;
    same.out = bench_buffer(b, BENCH_SLOT_4, c->args.n * width);
    b->backend->task(b, &same);
    same.kind = BENCH_EQUAL;
    same.a = c->args.out;
    return bench_count_bad(b, &same) == 0;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static int copy_intervals(struct bench *b, const struct bench_args *a, bool scatter)
{
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    d.item_bytes = a->value_bytes;
    d.offset_dtype = GP_U32;
    return bench_status(b, gp_copy_intervals(b->ctx, &d, a->in, scatter ? NULL : a->x, a->offsets,
                                             a->num_rows, a->n, scatter ? a->x : NULL, a->out));
}

static int run_gather_intervals(struct bench *b, const struct bench_args *a)
{
    return copy_intervals(b, a, false);
}

static int run_scatter_intervals(struct bench *b, const struct bench_args *a)
{
    return copy_intervals(b, a, true);
}

static bool intervals_are_right(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    const size_t bytes = a->value_bytes * a->num_cols;
    return c->run == run_gather_intervals ? are_moved(b, a, a->in, a->num_rows, bytes, a->out)
                                          : are_moved(b, a, a->out, a->num_rows, bytes, a->in);
}

/* Even intervals, each near its own place. */
static double fill_intervals(struct bench *b, const struct choice *m, struct bench_args *a)
{
    const size_t segments = a->num_rows = a->n / m->more;
    a->n = segments * m->more;
    a->in = random_bytes(b, BENCH_SLOT_0, a->n * m->item_bytes);
    a->out = random_bytes(b, BENCH_SLOT_1, a->n * m->item_bytes);
    a->offsets = numbers(b, BENCH_SLOT_2, BENCH_FILL_IOTA, segments + 1, m->more);
    a->rows = numbers(b, BENCH_SLOT_4, BENCH_FILL_NEIGHBOURS, segments, 64);
    a->x = bench_buffer(b, BENCH_SLOT_3, segments * 4);
    bench_status(b, gp_gather(b->ctx, 4, a->offsets, GP_U32, a->rows, segments, (void *)a->x));
    return (double)(2 * a->n * m->item_bytes + (2 * segments + 1) * 4);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void measure_at(struct bench *b, const struct choice *m, size_t n)
{
    struct bench_case c = {.suite = "breadth",
                           .name = m->name,
                           .run = m->run,
                           .check = m->check,
                           .ideal = m->ideal,
                           .seen = breadth_keep};
    c.args = (struct bench_args){
        .dtype = m->dtype, .n = n, .value_bytes = m->item_bytes, .num_cols = m->more};
    c.bytes = m->fill(b, m, &c.args);
    bench_measure(b, &c);
}

static void measure(struct bench *b, struct choice m)
{
    const size_t bytes = m.item_bytes > 4 || m.ideal == BENCH_WRITE ? m.item_bytes : 4;
    if (!bench_wanted(b, m.name, m.dtype))
        return;
    if (b->options.num_exponents == 0) {
        measure_at(b, &m, breadth_bytes(b) / bytes);
        if (!b->options.quick)
            measure_at(b, &m, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        measure_at(b, &m, (size_t)1 << b->options.exponents[i]);
}

static void by_items(struct bench *b, size_t bytes)
{
    struct choice scatter = {.dtype = GP_U32,
                             .item_bytes = bytes,
                             .run = run_scatter,
                             .check = scatter_is_right,
                             .fill = fill_scatter};
    struct choice fill = {.dtype = GP_U8,
                          .item_bytes = bytes,
                          .ideal = BENCH_WRITE,
                          .run = run_fill,
                          .check = fill_is_right,
                          .fill = fill_fill};
    snprintf(scatter.name, sizeof scatter.name, "scatter_of_%zu", bytes);
    snprintf(fill.name, sizeof fill.name, "fill_of_%zu", bytes);
    measure(b, scatter);
    measure(b, fill);
}

static void by_record(struct bench *b, size_t record, size_t item)
{
    struct choice m = {.dtype = GP_U8, .item_bytes = item, .more = record, .fill = fill_field};
    m.run = run_unpack;
    m.check = unpack_is_right;
    snprintf(m.name, sizeof m.name, "field_%zu_of_%zu", item, record);
    measure(b, m);
    m.run = run_pack;
    m.check = scatter_is_right;
    snprintf(m.name, sizeof m.name, "field_%zu_into_%zu", item, record);
    measure(b, m);
}

static void by_length(struct bench *b, size_t item, size_t length)
{
    struct choice m = {.dtype = GP_U32,
                       .item_bytes = item,
                       .more = length,
                       .check = intervals_are_right,
                       .fill = fill_intervals};
    m.run = run_gather_intervals;
    snprintf(m.name, sizeof m.name, "intervals_gather_%zu_of_%zu", length, item);
    measure(b, m);
    m.run = run_scatter_intervals;
    snprintf(m.name, sizeof m.name, "intervals_scatter_%zu_of_%zu", length, item);
    measure(b, m);
}

void breadth_moves(struct bench *b)
{
    static const size_t interval_items[] = {1, 4, 12, 16};
    for (int i = 0; i < ITEM_SIZES; i++)
        by_items(b, item_sizes[i]);
    for (int i = 0; i < RECORDS; i++)
        by_record(b, records[i][0], records[i][1]);
    for (int i = 0; i < BREADTH_DTYPES; i++)
        measure(b, (struct choice){.name = "iota",
                                   .dtype = breadth_dtypes[i],
                                   .item_bytes = bench_dtype_bytes(breadth_dtypes[i]),
                                   .ideal = BENCH_WRITE,
                                   .run = run_iota,
                                   .check = iota_is_right,
                                   .fill = fill_fill});
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < LENGTHS; k++)
            by_length(b, interval_items[i], lengths[k]);
}
