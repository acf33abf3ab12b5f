/* SPDX-License-Identifier: MIT */
/* Sorts of keys spread in every way that decides how they are sorted. */
#include "bench.h"
#include "bench_task.h"

enum { CASES = 13 };

static const struct distribution {
    const char *keys, *pairs;
    enum bench_spread spread;
    gp_dtype dtype;
} distributions[CASES] = {
    {"keys_uniform", "pairs_uniform", BENCH_UNIFORM, GP_U32},
    {"keys_constant", "pairs_constant", BENCH_CONSTANT, GP_U32},
    {"keys_two_values", "pairs_two_values", BENCH_TWO_VALUES, GP_U32},
    {"keys_sorted", "pairs_sorted", BENCH_SORTED, GP_U32},
    {"keys_reversed", "pairs_reversed", BENCH_REVERSED, GP_U32},
    {"keys_zipf", "pairs_zipf", BENCH_ZIPF, GP_U32},
    {"keys_entropy_0.544", "pairs_entropy_0.544", BENCH_AND_3, GP_U32},
    {"keys_entropy_0.201", "pairs_entropy_0.201", BENCH_AND_5, GP_U32},
    {"keys_tiles", "pairs_tiles", BENCH_TILES, GP_U32},
    {"keys_top_byte", "pairs_top_byte", BENCH_TOP_BYTE, GP_U32},
    {"keys_low_20_bits", "pairs_low_20_bits", BENCH_LOW_20, GP_U32},
    {"keys_most_equal", "pairs_most_equal", BENCH_MOST_EQUAL, GP_U32},
    {"keys_unit", "pairs_unit", BENCH_UNIT, GP_F32},
};

/* Ratios to the best peer, for the table. */
static double ratios[2][CASES];

static int run(struct bench *b, const struct bench_args *a)
{
    if (!a->values)
        return bench_status(b, gp_radix_sort(b->ctx, a->dtype, a->in, a->n, a->out, NULL));
    return bench_status(b, gp_radix_sort_pairs(b->ctx, a->dtype, a->in, a->value_bytes, a->values,
                                               a->n, a->out, a->out_values, NULL));
}

static void keep_ratio(const struct bench_case *c, const struct bench_row *row)
{
    for (int d = 0; d < CASES; d++)
        if (row->best_peer[0] != '\0' &&
            (c->name == distributions[d].keys || c->name == distributions[d].pairs))
            ratios[c->name == distributions[d].pairs][d] = row->peer_ratio;
}

/* The payload is the position: a sort of pairs that is not stable is found out. */
static void add_values(struct bench *b, struct bench_case *c)
{
    struct bench_task fill = {.kind = BENCH_FILL_IOTA, .n = c->args.n, .width = 4, .limit = 1};
    const size_t bytes = c->args.n * 4;
    fill.out = bench_buffer(b, BENCH_SLOT_1, bytes);
    b->backend->task(b, &fill);
    c->args.values = fill.out;
    c->args.value_bytes = 4;
    c->args.out_values = bench_buffer(b, BENCH_SLOT_3, bytes);
    c->outputs[1] = (struct bench_output){c->args.out_values, bytes};
}

static void measure(struct bench *b, const struct distribution *d, bool pairs, size_t n)
{
    struct bench_case c = {.suite = "distributions",
                           .name = pairs ? d->pairs : d->keys,
                           .run = run,
                           .seen = keep_ratio,
                           .bytes = (double)n * (pairs ? 16 : 8)};
    struct bench_task fill = {
        .kind = BENCH_FILL_SPREAD, .n = n, .width = 4, .seed = 1, .limit = d->spread};
    if (!bench_wanted(b, c.name, d->dtype))
        return;
    c.args = (struct bench_args){.dtype = d->dtype, .n = n};
    fill.out = bench_buffer(b, BENCH_SLOT_0, n * 4);
    b->backend->task(b, &fill);
    c.args.in = fill.out;
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * 4);
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    if (pairs)
        add_values(b, &c);
    bench_measure(b, &c);
}

/* Under each size: how many times as fast as the best peer, and how many cases are slower. */
static void print_ratios(size_t n)
{
    int slower = 0;
    printf("\n%-14s%10s%10s   (best peer's time over ours, n=%zu)\n", "", "keys", "pairs", n);
    for (int d = 0; d < CASES; d++) {
        printf("%-14s%9.2fx%9.2fx\n", distributions[d].keys + sizeof "keys", ratios[0][d],
               ratios[1][d]);
        for (int pairs = 0; pairs < 2; pairs++)
            slower += ratios[pairs][d] > 0 && ratios[pairs][d] < 1;
    }
    printf("%d slower\n", slower);
}

void bench_distributions(struct bench *b)
{
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++) {
        size_t n = (size_t)1 << exponents[i];
        for (int d = 0; d < CASES; d++)
            for (int pairs = 0; pairs < 2; pairs++) {
                ratios[pairs][d] = 0;
                measure(b, &distributions[d], pairs, n);
            }
        print_ratios(n);
    }
}
