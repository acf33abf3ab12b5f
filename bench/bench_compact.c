/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "bench_task.h"

static int run_flags(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_compact(b->ctx, a->value_bytes, a->in, a->flags, a->n, a->out, a->count));
}

static int run_if(struct bench *b, const struct bench_args *a)
{
    uint32_t bound = (uint32_t)a->bound;
    return bench_status(
        b, gp_compact_if(b->ctx, a->dtype, GP_LT, &bound, a->in, a->n, a->out, a->count));
}

static int run_indices(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_compact_indices(b->ctx, GP_U32, a->flags, a->n, a->out, a->count));
}

static int run_into(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_partition_into(b->ctx, a->value_bytes, a->in, a->flags, a->n, a->out,
                                             a->out_values, a->count));
}

/* Below bound, from there up to twice as much, and above that. */
static int run_range(struct bench *b, const struct bench_args *a)
{
    const uint32_t low = (uint32_t)a->bound, high = 2 * low;
    return bench_status(b, gp_partition_range(b->ctx, a->dtype, &low, &high, a->in, a->n, a->out,
                                              a->out_values, a->out_offsets, a->count));
}

static int run_multisplit(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_multisplit(b->ctx, a->value_bytes, a->in, a->rows, a->n, a->bins,
                                         a->out, a->out_offsets));
}

/* The sides of run_into() one by one. */
static int into_by_turns(struct bench *b, const struct bench_args *a)
{
    struct bench_task others = {
        .kind = BENCH_OTHER_FLAGS, .n = a->n, .width = 1, .a = (void *)a->flags};
    struct bench_args rest = *a;
    others.out = bench_buffer(b, BENCH_SLOT_5, a->n);
    b->backend->task(b, &others);
    rest.flags = others.out;
    rest.out = a->out_values;
    rest.count = a->count + 1;
    const int first = run_flags(b, a);
    return first ? first : run_flags(b, &rest);
}

/* The parts of run_range() one by one. */
static int range_by_turns(struct bench *b, const struct bench_args *a)
{
    const uint32_t low = (uint32_t)a->bound, high = 2 * low;
    const gp_compare compares[3] = {GP_BETWEEN, GP_LT, GP_GT};
    void *const outs[3] = {a->out, a->out_values, a->out_offsets};
    for (int k = 0; k < 3; k++) {
        gp_compact_desc d = GP_COMPACT_DESC_INIT;
        d.dtype = a->dtype;
        d.compare = compares[k];
        d.value = k == 2 ? &high : &low;
        d.upper = k == 0 ? &high : NULL;
        const int result =
            bench_status(b, gp_compact_by(b->ctx, &d, a->in, NULL, a->n, outs[k], a->count + k));
        if (result)
            return result;
    }
    return BENCH_OK;
}

static int sorted_by_numbers(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_radix_sort_pairs(b->ctx, GP_U8, a->rows, a->value_bytes, a->in, a->n,
                                               a->out_values, a->out, NULL));
}

/* Items that are selected among, in parts or as a whole. */
struct select {
    const char *name;
    bench_run run, reference;
    unsigned percent; /* kept, or in each of the parts but the last; 0: multisplit */
    size_t item_bytes, out_bytes;
    int outputs; /* arrays of items */
    bool flags;  /* or comparisons */
};

static const struct select selects[] = {
    {"flags_10", run_flags, NULL, 10, 4, 4, 1, true},
    {"flags_50", run_flags, NULL, 50, 4, 4, 1, true},
    {"flags_90", run_flags, NULL, 90, 4, 4, 1, true},
    {"if_50", run_if, NULL, 50, 4, 4, 1, false},
    {"indices_50", run_indices, NULL, 50, 0, 4, 1, true},
    {"records_12", run_flags, NULL, 50, 12, 12, 1, true},
    {"partition", run_into, into_by_turns, 50, 4, 4, 2, true},
    {"three_parts", run_range, range_by_turns, 33, 4, 4, 3, false},
};

/* What a call must write, in items. */
static double outputs_of(struct bench *b, const struct select *s, const struct bench_args *a)
{
    struct bench_task count = {.kind = BENCH_COUNT_BELOW,
                               .n = a->n,
                               .width = s->flags ? 1 : 4,
                               .out = (void *)(s->flags ? a->flags : a->in),
                               .limit = s->flags ? 1 : a->bound};
    if (s->outputs > 1)
        return (double)a->n;
    const uint64_t below = bench_count_bad(b, &count);
    return (double)(s->flags ? a->n - below : below);
}

/* u32 items, or records of words. */
static void select_case(struct bench *b, const struct select *s, int exponent)
{
    const size_t n = (size_t)1 << exponent;
    if (!bench_wanted(b, s->name, GP_U32))
        return;
    struct bench_task items = {
        .kind = BENCH_FILL_BITS, .n = n * s->item_bytes / 4, .width = 4, .seed = 1};
    struct bench_task keep = {.kind = BENCH_FILL_FLAGS, .n = n, .width = 1, .seed = 2};
    struct bench_case c = {
        .suite = "compact", .name = s->name, .run = s->run, .reference = s->reference};
    items.out = bench_buffer(b, BENCH_SLOT_0, n * s->item_bytes);
    keep.out = bench_buffer(b, BENCH_SLOT_1, n);
    keep.limit = 65536 * s->percent / 100;
    b->backend->task(b, &items);
    b->backend->task(b, &keep);
    c.args = (struct bench_args){
        .dtype = GP_U32, .n = n, .in = items.out, .flags = keep.out, .value_bytes = s->item_bytes};
    c.args.bound = ((uint64_t)s->percent << 32) / 100;
    c.args.count = bench_buffer(b, BENCH_SLOT_3, 3 * sizeof(uint64_t));
    void **const outs[] = {&c.args.out, &c.args.out_values, &c.args.out_offsets};
    static const enum bench_slot slots[] = {BENCH_SLOT_2, BENCH_SLOT_6, BENCH_SLOT_7};
    for (int k = 0; k < s->outputs; k++) {
        *outs[k] = bench_buffer(b, slots[k], n * s->out_bytes);
        c.outputs[k] = (struct bench_output){*outs[k], n * s->out_bytes};
    }
    c.outputs[s->outputs] = (struct bench_output){
        c.args.count, (s->outputs > 1 ? (size_t)s->outputs : 1) * sizeof(uint64_t)};
    c.bytes =
        (double)(n * (s->item_bytes + s->flags)) + outputs_of(b, s, &c.args) * (double)s->out_bytes;
    bench_measure(b, &c);
}

/* u32 items into 32 buckets by numbers of a byte. */
static void multisplit_case(struct bench *b, int exponent)
{
    const size_t n = (size_t)1 << exponent, buckets = 32;
    if (!bench_wanted(b, "multisplit_32", GP_U32))
        return;
    struct bench_task items = {.kind = BENCH_FILL_BITS, .n = n, .width = 4, .seed = 1};
    struct bench_task numbers = {
        .kind = BENCH_FILL_BELOW, .n = n, .width = 1, .seed = 2, .limit = buckets};
    struct bench_case c = {.suite = "compact",
                           .name = "multisplit_32",
                           .run = run_multisplit,
                           .reference = sorted_by_numbers};
    c.args = (struct bench_args){.dtype = GP_U32, .n = n, .value_bytes = 4, .bins = buckets};
    c.args.in = items.out = bench_buffer(b, BENCH_SLOT_0, n * 4);
    c.args.rows = numbers.out = bench_buffer(b, BENCH_SLOT_1, n);
    b->backend->task(b, &items);
    b->backend->task(b, &numbers);
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * 4);
    c.args.out_offsets = bench_buffer(b, BENCH_SLOT_3, (buckets + 1) * sizeof(uint64_t));
    c.args.out_values = bench_buffer(b, BENCH_SLOT_6, n); /* of a peer: the numbers in order */
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    c.bytes = (double)(n * 9 + (buckets + 1) * 8);
    bench_measure(b, &c);
}

void bench_compact(struct bench *b)
{
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++) {
        for (size_t s = 0; s < sizeof selects / sizeof *selects; s++)
            select_case(b, &selects[s], exponents[i]);
        multisplit_case(b, exponents[i]);
    }
}
