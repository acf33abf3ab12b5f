/* SPDX-License-Identifier: MIT */
/* Sorts of keys spread in every way that decides how they are sorted: keys alone, beside values of
 * 4 bytes, and argsorts, of 32 and of 64 bits; some beside values of 1, 2, 3, 8 and 16 bytes. */
#include "bench.h"
#include "bench_task.h"

/* Each of its types runs. */
static const struct distribution {
    const char *name;
    enum bench_spread spread;
    gp_dtype narrow, wide; /* of 32 and of 64 bits; 0: none */
} distributions[] = {
    {"uniform", BENCH_UNIFORM, GP_U32, GP_U64},
    {"constant", BENCH_CONSTANT, GP_U32, GP_U64},
    {"two_values", BENCH_TWO_VALUES, GP_U32, GP_U64},
    {"few_values", BENCH_FEW_VALUES, GP_U32, GP_U64},
    {"many_equal", BENCH_MANY_EQUAL, GP_U32, GP_U64},
    {"most_equal", BENCH_MOST_EQUAL, GP_U32, GP_U64},
    {"sorted", BENCH_SORTED, GP_U32, GP_U64},
    {"reversed", BENCH_REVERSED, GP_U32, GP_U64},
    {"almost_sorted", BENCH_ALMOST_SORTED, GP_U32, GP_U64},
    {"runs", BENCH_SORTED_RUNS, GP_U32, GP_U64},
    {"sawtooth", BENCH_SAWTOOTH, GP_U32, GP_U64},
    {"organ_pipe", BENCH_ORGAN_PIPE, GP_U32, GP_U64},
    {"entropy_0.544", BENCH_AND_3, GP_U32, GP_U64},
    {"entropy_0.201", BENCH_AND_5, GP_U32, GP_U64},
    {"tiles", BENCH_TILES, GP_U32, GP_U64},
    {"top_byte", BENCH_TOP_BYTE, GP_U32, GP_U64},
    {"low_20_bits", BENCH_LOW_20, GP_U32, GP_U64},
    {"far_clusters", BENCH_FAR_CLUSTERS, GP_U32, GP_U64},
    {"ids", BENCH_IDS, GP_U32, GP_U64},
    {"zipf", BENCH_ZIPF, GP_U32, GP_U64},
    {"hashed_ids", BENCH_HASHED_IDS, GP_U32, GP_U64},
    {"counts", BENCH_COUNTS, GP_U32, GP_U64},
    {"addresses", BENCH_ADDRESSES, GP_U32, (gp_dtype)0},
    {"morton", BENCH_MORTON, GP_U32, GP_U64},
    {"offset", BENCH_OFFSET, GP_U32, GP_U64},
    {"around_zero", BENCH_AROUND_ZERO, GP_I32, GP_I64},
    {"normal_1e3", BENCH_NORMAL_THOUSAND, GP_I32, GP_I64},
    {"normal_1e6", BENCH_NORMAL_MILLION, GP_I32, GP_I64},
    {"normal_wide", BENCH_NORMAL_WIDE, GP_I32, GP_I64},
    {"log_normal", BENCH_LOG_NORMAL, GP_I32, GP_I64},
    {"timestamps", BENCH_TIMESTAMPS, (gp_dtype)0, GP_I64},
    {"edges", BENCH_EDGES, (gp_dtype)0, GP_I64},
    {"grid", BENCH_GRID, (gp_dtype)0, GP_I64},
    {"pointers", BENCH_POINTERS, (gp_dtype)0, GP_U64},
    {"kmers", BENCH_KMERS, (gp_dtype)0, GP_U64},
    {"words", BENCH_WORDS, (gp_dtype)0, GP_U64},
    {"unit", BENCH_UNIT, GP_F32, GP_F64},
    {"normal", BENCH_NORMAL, GP_F32, GP_F64},
    {"exponential", BENCH_EXPONENTIAL, GP_F32, GP_F64},
    {"log_normal", BENCH_LOG_NORMAL, GP_F32, GP_F64},
    {"prices", BENCH_PRICES, GP_F32, GP_F64},
    {"half_zero", BENCH_HALF_ZERO, GP_F32, GP_F64},
    {"latitudes", BENCH_LATITUDES, GP_F32, GP_F64},
};

enum { CASES = sizeof distributions / sizeof *distributions, NAME_BYTES = 32 };

enum { CALLS = 3 };

static const struct call {
    const char *name;
    bench_run run;
    unsigned moved; /* arrays of values read and written */
} calls[CALLS] = {{"keys", bench_run_sort, 0},
                  {"pairs", bench_run_sort_pairs, 2},
                  {"argsort", bench_run_argsort, 1}};

/* Of a distribution by a call and a width: times, and ratios to the best peer. */
static struct {
    char name[NAME_BYTES];
    double seconds, ratio;
} results[CASES][CALLS][2];

static void keep(const struct bench_case *c, const struct bench_row *row)
{
    for (int d = 0; d < CASES; d++)
        for (int call = 0; call < CALLS; call++)
            for (int wide = 0; wide < 2; wide++)
                if (c->name == results[d][call][wide].name && row->best_peer[0] != '\0') {
                    results[d][call][wide].seconds = row->median;
                    results[d][call][wide].ratio = row->peer_ratio;
                }
}

/* The payload is the position: a sort of pairs that is not stable is found out. */
static void add_values(struct bench *b, struct bench_case *c, size_t value_bytes)
{
    const size_t bytes = c->args.n * value_bytes;
    struct bench_task fill = {.kind = BENCH_FILL_IOTA, .limit = 1};
    fill.width = value_bytes == 3 ? 1 : value_bytes < 8 ? (unsigned)value_bytes : 8;
    fill.n = bytes / fill.width;
    fill.out = bench_buffer(b, BENCH_SLOT_1, bytes);
    b->backend->task(b, &fill);
    c->args.values = fill.out;
    c->args.value_bytes = value_bytes;
    c->args.out_values = bench_buffer(b, BENCH_SLOT_3, bytes);
    c->outputs[1] = (struct bench_output){c->args.out_values, bytes};
}

static void measure(struct bench *b, const struct distribution *d, const struct call *call,
                    size_t value_bytes, gp_dtype dtype, const char *name, size_t n)
{
    const unsigned width = (unsigned)gp_dtype_bytes(dtype);
    const bool argsort = call->run == bench_run_argsort;
    struct bench_case c = {
        .suite = "distributions",
        .name = name,
        .run = call->run,
        .seen = keep,
        .bytes = (double)n * (double)((argsort ? 1 : 2) * width + value_bytes * call->moved)};
    struct bench_task fill = {.kind = BENCH_FILL_SPREAD,
                              .n = n,
                              .width = width,
                              .seed = 1,
                              .limit = d->spread,
                              .args = {.dtype = dtype}};
    c.args = (struct bench_args){.dtype = dtype, .n = n};
    fill.out = bench_buffer(b, BENCH_SLOT_0, n * width);
    b->backend->task(b, &fill);
    c.args.in = fill.out;
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * width);
    c.outputs[0] = (struct bench_output){c.args.out, argsort ? 0 : n * width};
    if (call->moved)
        add_values(b, &c, value_bytes);
    bench_measure(b, &c);
}

/* Under each size: how many times the time of uniform keys, and the best peer's time over ours. */
static void print_results(size_t n)
{
    int slower = 0;
    printf(
        "\nn=%zu, 32 and 64 bits: times as long as uniform keys, best peer's time over ours\n%-14s",
        n, "");
    for (int call = 0; call < CALLS; call++)
        printf("%19s         ", calls[call].name);
    for (int d = 0; d < CASES; d++) {
        printf("\n%-14s", distributions[d].name);
        for (int call = 0; call < CALLS; call++)
            for (int wide = 0; wide < 2; wide++) {
                const double seconds = results[d][call][wide].seconds;
                if (seconds > 0)
                    printf("  %5.2f %5.2f", seconds / results[0][call][wide].seconds,
                           results[d][call][wide].ratio);
                else
                    printf("  %11s", "");
                slower += seconds > 0 && results[d][call][wide].ratio < 1;
            }
    }
    printf("\n%d slower than a peer\n", slower);
}

/* Values of other sizes: beside the first spread, and one with hot keys; of 8 bytes beside all
 * spreads of unsigned keys. */
static bool has_values(const struct distribution *d, gp_dtype dtype, size_t value_bytes)
{
    return d->spread == BENCH_UNIFORM || d->spread == BENCH_ZIPF ||
           (value_bytes == 8 && (dtype == GP_U32 || dtype == GP_U64));
}

static void measure_values(struct bench *b, size_t n)
{
    static const size_t sizes[] = {1, 2, 3, 8, 16};
    for (int d = 0; d < CASES; d++)
        for (int k = 0; k < 5 * 2; k++) {
            const gp_dtype dtype = k % 2 ? distributions[d].wide : distributions[d].narrow;
            char name[NAME_BYTES];
            snprintf(name, sizeof name, "pairs_%zu_%s", sizes[k / 2], distributions[d].name);
            if (has_values(&distributions[d], dtype, sizes[k / 2]) && bench_wanted(b, name, dtype))
                measure(b, &distributions[d], &calls[1], sizes[k / 2], dtype, name, n);
        }
}

void bench_distributions(struct bench *b)
{
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++) {
        size_t n = (size_t)1 << exponents[i];
        for (int d = 0; d < CASES; d++)
            for (int call = 0; call < CALLS; call++)
                for (int wide = 0; wide < 2; wide++) {
                    const gp_dtype dtype = wide ? distributions[d].wide : distributions[d].narrow;
                    char *name = results[d][call][wide].name;
                    results[d][call][wide].seconds = 0;
                    snprintf(name, NAME_BYTES, "%s_%s", calls[call].name, distributions[d].name);
                    if (dtype && bench_wanted(b, name, dtype))
                        measure(b, &distributions[d], &calls[call], 4, dtype, name, n);
                }
        measure_values(b, n);
        print_results(n);
    }
}
