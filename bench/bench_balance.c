/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "bench_task.h"

static int run_search(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_balance_search(b->ctx, GP_U32, a->offsets, a->num_rows, a->n, GP_U32, a->out, NULL));
}

/* A binary search for every item. */
static int search_each(struct bench *b, const struct bench_args *a)
{
    struct bench_task t = {.kind = BENCH_EXPAND, .n = a->n, .width = 4, .out = a->out, .args = *a};
    b->backend->task(b, &t);
    return BENCH_OK;
}

static void search_case(struct bench *b, const char *name, bool powerlaw, int exponent)
{
    size_t n = (size_t)1 << exponent;
    if (!bench_wanted(b, name, GP_U32))
        return;
    struct bench_case c = {.suite = "balance",
                           .name = name,
                           .run = run_search,
                           .reference = search_each,
                           .ideal = BENCH_WRITE};
    c.args = (struct bench_args){.dtype = GP_U32, .n = n, .num_rows = n / 16};
    bench_segment_lengths(b, &c.args, powerlaw, BENCH_SLOT_0);
    c.args.out = bench_buffer(b, BENCH_SLOT_1, n * 4);
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    c.bytes = 4.0 * (double)(n + c.args.num_rows + 1);
    bench_measure(b, &c);
}

void bench_balance(struct bench *b)
{
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++) {
        search_case(b, "search_16", false, exponents[i]);
        search_case(b, "search_powerlaw", true, exponents[i]);
    }
}
