/* SPDX-License-Identifier: MIT */
/* Gathers by random places: items of 4, 8 and 12 bytes. */
#include "bench.h"
#include "bench_task.h"

static int run_gather(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_gather(b->ctx, a->value_bytes, a->in, GP_U32, a->rows, a->n, a->out));
}

/* Each word of the output against the one of the item that its place names. */
static bool words_are_right(struct bench *b, const struct bench_case *c)
{
    const size_t words = c->args.value_bytes / 4;
    struct bench_task equal = {
        .kind = BENCH_GATHERED, .n = c->args.n * words, .width = 4, .limit = words};
    equal.args = c->args;
    equal.out = c->args.out;
    return bench_count_bad(b, &equal) == 0;
}

static void measure(struct bench *b, const char *name, size_t bytes, size_t n)
{
    struct bench_case c = {
        .suite = "gather", .name = name, .run = run_gather, .check = words_are_right};
    struct bench_task items = {.kind = BENCH_FILL_BITS, .n = n * bytes / 4, .width = 4, .seed = 1};
    struct bench_task places = {
        .kind = BENCH_FILL_BELOW, .n = n, .width = 4, .seed = 2, .limit = n};
    if (!bench_wanted(b, name, GP_U32))
        return;
    c.args = (struct bench_args){.dtype = GP_U32, .n = n, .value_bytes = bytes, .key_bytes = 4};
    c.args.in = items.out = bench_buffer(b, BENCH_SLOT_0, n * bytes);
    c.args.rows = places.out = bench_buffer(b, BENCH_SLOT_1, n * 4);
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * bytes);
    c.outputs[0] = (struct bench_output){c.args.out, n * bytes};
    b->backend->task(b, &items);
    b->backend->task(b, &places);
    c.bytes = (double)(n * (2 * bytes + 4));
    bench_measure(b, &c);
}

void bench_gather(struct bench *b)
{
    int exponents[BENCH_SIZES];
    const int count = bench_sizes(b, b->backend == &bench_cpu ? 22 : 26, false, exponents);
    for (int i = 0; i < count; i++) {
        measure(b, "random_4", 4, (size_t)1 << exponents[i]);
        measure(b, "random_8", 8, (size_t)1 << exponents[i]);
        measure(b, "random_12", 12, (size_t)1 << exponents[i]);
    }
}
