/* SPDX-License-Identifier: MIT */
/* Multisplit: item sizes, and how many buckets. The result is that of a sort by the numbers. */
#include "breadth.h"

#include <string.h>

static const size_t item_sizes[] = {1, 2, 3, 4, 8, 12, 16, 100, 1000};
enum { ITEM_SIZES = sizeof item_sizes / sizeof *item_sizes };

static gp_dtype number_dtype(size_t buckets)
{
    return buckets <= 256 ? GP_U8 : GP_U32;
}

static int run(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_multisplit(b->ctx, a->value_bytes, a->in, a->rows, a->n, a->bins,
                                         a->out, a->out_offsets));
}

static bool same(struct bench *b, const void *x, const void *y, size_t n, unsigned width)
{
    struct bench_task equal = {
        .kind = BENCH_EQUAL, .n = n, .width = width, .out = (void *)x, .a = (void *)y};
    return bench_count_bad(b, &equal) == 0;
}

static bool is_right(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    const gp_dtype dtype = number_dtype(a->bins), offset = GP_U64;
    void *keys = bench_buffer(b, BENCH_SLOT_4, a->n * gp_dtype_bytes(dtype));
    void *items = bench_buffer(b, BENCH_SLOT_5, a->n * a->value_bytes);
    if (bench_status(b, gp_radix_sort_pairs(b->ctx, dtype, a->rows, a->value_bytes, a->in, a->n,
                                            keys, items, NULL)) ||
        !same(b, items, a->out, a->n * a->value_bytes, 1))
        return false;
    /* Offsets are where the numbers begin among the sorted ones. */
    const size_t width = gp_dtype_bytes(dtype);
    void *numbers = bench_buffer(b, BENCH_SLOT_7, a->bins * width);
    uint64_t *offsets = bench_buffer(b, BENCH_SLOT_8, a->bins * 8), last = 0;
    struct bench_task iota = {.kind = BENCH_FILL_IOTA,
                              .n = a->bins,
                              .width = (unsigned)width,
                              .limit = 1,
                              .out = numbers};
    b->backend->task(b, &iota);
    bench_copy(b, (const uint64_t *)a->out_offsets + a->bins, 8, &last);
    return last == a->n &&
           !bench_status(
               b, gp_lower_bound(b->ctx, dtype, keys, a->n, numbers, a->bins, offset, offsets)) &&
           same(b, offsets, a->out_offsets, a->bins, 8);
}

static void measure_at(struct bench *b, const char *name, size_t item, size_t buckets, size_t n)
{
    struct bench_case c = {
        .suite = "breadth", .name = name, .run = run, .check = is_right, .seen = breadth_keep};
    const unsigned width = (unsigned)gp_dtype_bytes(number_dtype(buckets));
    struct bench_task items = {.kind = BENCH_FILL_BITS, .n = n * item, .width = 1, .seed = 1};
    struct bench_task numbers = {
        .kind = BENCH_FILL_BELOW, .n = n, .width = width, .seed = 2, .limit = buckets};
    c.args = (struct bench_args){
        .dtype = number_dtype(buckets), .n = n, .value_bytes = item, .bins = buckets};
    c.args.in = items.out = bench_buffer(b, BENCH_SLOT_0, n * item);
    c.args.rows = numbers.out = bench_buffer(b, BENCH_SLOT_3, n * width);
    c.args.out = bench_buffer(b, BENCH_SLOT_1, n * item);
    c.args.out_offsets = bench_buffer(b, BENCH_SLOT_6, (buckets + 1) * 8);
    b->backend->task(b, &items);
    b->backend->task(b, &numbers);
    c.bytes = (double)(n * (2 * item + width)) + (double)(8 * buckets);
    bench_measure(b, &c);
}

static void measure(struct bench *b, size_t item, size_t buckets)
{
    char name[BREADTH_NAME];
    snprintf(name, sizeof name, "multisplit_%zu_of_%zu", buckets, item);
    if (!bench_wanted(b, name, number_dtype(buckets)))
        return;
    if (b->options.num_exponents == 0) {
        measure_at(b, name, item, buckets, breadth_bytes(b) / (item < 4 ? 4 : item));
        if (!b->options.quick)
            measure_at(b, name, item, buckets, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        measure_at(b, name, item, buckets, (size_t)1 << b->options.exponents[i]);
}

void breadth_splits(struct bench *b)
{
    static const size_t others[] = {2, 8, 256, 1000, 65536};
    for (int i = 0; i < ITEM_SIZES; i++)
        measure(b, item_sizes[i], 32);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        measure(b, 4, others[k]);
}
