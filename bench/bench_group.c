/* SPDX-License-Identifier: MIT */
/* Runs of u32 keys: unique keys, lengths, sums of f32 values; groups of u32 and of u64 keys: sums
 * of f32 and of f64 values. All sums are exact. */
#include "bench.h"

#include <string.h>

#include "bench_task.h"

enum { POWERLAW = 0, ONE = -1 }; /* instead of a length */

static int run_unique(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_unique(b->ctx, GP_U32, a->in, a->n, a->out, a->count));
}

static int run_lengths(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_run_length_encode(b->ctx, GP_U32, a->in, a->n, GP_U32, a->out,
                                                a->out_values, a->count));
}

static int run_sums(struct bench *b, const struct bench_args *a)
{
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = GP_U32;
    d.in_dtype = GP_F32;
    return bench_status(
        b, gp_reduce_by_key(b->ctx, &d, a->in, a->values, a->n, a->out, a->out_values, a->count));
}

static int run_group_by(struct bench *b, const struct bench_args *a)
{
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    gp_aggregate sum = GP_AGGREGATE_INIT;
    sum.in_dtype = a->dtype == GP_U64 ? GP_F64 : GP_F32;
    sum.values = a->values;
    sum.out = a->out_values;
    d.key_dtype = a->dtype;
    d.num_aggregates = 1;
    d.aggregates = &sum;
    return bench_status(b, gp_group_by(b->ctx, &d, a->in, a->n, a->out, a->count));
}

/* ---- by a serial loop, on the CPU ------------------------------------------------------------ */

static int serial_runs(const struct bench_args *a, bool lengths, bool sums)
{
    const uint32_t *keys = a->in;
    const float *values = a->values;
    size_t runs = 0;
    for (size_t i = 0; i < a->n; runs++) {
        const size_t begin = i;
        float sum = 0;
        for (; i < a->n && keys[i] == keys[begin]; i++)
            sum += sums ? values[i] : 0;
        ((uint32_t *)a->out)[runs] = keys[begin];
        if (lengths)
            ((uint32_t *)a->out_values)[runs] = (uint32_t)(i - begin);
        if (sums)
            ((float *)a->out_values)[runs] = sum;
    }
    *a->count = runs;
    return BENCH_OK;
}

static int serial_unique(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return serial_runs(a, false, false);
}

static int serial_lengths(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return serial_runs(a, true, false);
}

static int serial_sums(struct bench *b, const struct bench_args *a)
{
    (void)b;
    return serial_runs(a, false, true);
}

/* Into a table by key, of which there are num_rows. */
static int serial_group_by(struct bench *b, const struct bench_args *a)
{
    const unsigned width = a->dtype == GP_U64 ? 8 : 4;
    struct entry {
        double sum;
        bool is_there;
    } *table = bench_temp(b, a->num_rows * sizeof *table);
    size_t groups = 0;
    memset(table, 0, a->num_rows * sizeof *table);
    for (size_t i = 0; i < a->n; i++) {
        struct entry *e = &table[bench_load(a->in, i, width)];
        e->sum += bench_load_real(a->values, i, width);
        e->is_there = true;
    }
    for (size_t key = 0; key < a->num_rows; key++)
        if (table[key].is_there) {
            bench_store(a->out, groups, width, key);
            bench_store_real(a->out_values, groups++, width, table[key].sum);
        }
    *a->count = groups;
    return BENCH_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const struct kind {
    const char *name;
    bench_run run, reference;
    size_t value_bytes; /* of input, beside a key */
    size_t run_bytes;   /* of output, of a run */
} unique = {"unique", run_unique, serial_unique, 0, 4},
  lengths = {"lengths", run_lengths, serial_lengths, 0, 8},
  sums = {"sums", run_sums, serial_sums, 4, 8},
  grouped = {"group_by", run_group_by, serial_group_by, 4, 8};

/* Keys are numbers of their runs. */
static void fill_runs(struct bench *b, struct bench_args *a, void *keys, int length)
{
    struct bench_task fill = {.kind = BENCH_FILL_BLOCKS,
                              .n = a->n,
                              .width = 4,
                              .limit = length == ONE ? a->n : (uint64_t)length,
                              .out = keys};
    if (length == POWERLAW) {
        a->num_rows = a->n / 16;
        bench_segment_lengths(b, a, true, BENCH_SLOT_4);
        fill.kind = BENCH_EXPAND;
        fill.args = *a;
    }
    b->backend->task(b, &fill);
}

/* Arrays for keys and values of that width, and what a case has beside them. */
static void prepare(struct bench *b, struct bench_case *c, const struct kind *k, size_t width)
{
    const size_t bytes = c->args.n * width;
    c->suite = "group", c->run = k->run;
    c->args.in = bench_buffer(b, BENCH_SLOT_0, bytes);
    c->args.values = bench_buffer(b, BENCH_SLOT_1, bytes);
    c->args.out = bench_buffer(b, BENCH_SLOT_2, bytes);
    c->args.out_values = bench_buffer(b, BENCH_SLOT_3, bytes);
    c->args.count = bench_buffer(b, BENCH_SLOT_5, sizeof(uint64_t));
    c->outputs[0] = (struct bench_output){c->args.out, bytes};
    c->outputs[1] = (struct bench_output){c->args.out_values, k == &unique ? 0 : bytes};
    c->outputs[2] = (struct bench_output){c->args.count, sizeof(uint64_t)};
    c->reference = b->backend == &bench_cpu ? k->reference : NULL;
    struct bench_task values = {.kind = BENCH_FILL_STEPS,
                                .n = c->args.n,
                                .width = (unsigned)width,
                                .seed = 2,
                                .out = (void *)c->args.values};
    b->backend->task(b, &values);
}

/* The bytes follow from how many runs there are. */
static void measure(struct bench *b, struct bench_case *c, const struct kind *k, size_t width)
{
    uint64_t runs = 0;
    if (k->run(b, &c->args) == BENCH_OK)
        bench_copy(b, c->args.count, sizeof runs, &runs);
    c->bytes =
        ((double)c->args.n * (double)(4 + k->value_bytes) + (double)runs * (double)k->run_bytes) *
        (double)(width / 4);
    bench_measure(b, c);
}

static void measure_runs(struct bench *b, const struct kind *k, int length, int exponent)
{
    char name[32];
    snprintf(name, sizeof name,
             length > 0      ? "%s_%d"
             : length == ONE ? "%s_one"
                             : "%s_powerlaw",
             k->name, length);
    if (!bench_wanted(b, name, GP_U32))
        return;
    struct bench_case c = {.name = name};
    c.args = (struct bench_args){.dtype = GP_U32, .n = (size_t)1 << exponent};
    prepare(b, &c, k, 4);
    fill_runs(b, &c.args, (void *)c.args.in, length);
    measure(b, &c, k, 4);
}

/* Keys below `groups`, evenly or as Zipf's, or as many anywhere. */
static const struct spread {
    const char *format;
    enum bench_task_kind fill;
} spreads[] = {{"group_by_%zu", BENCH_FILL_BELOW},
               {"group_by_zipf_%zu", BENCH_FILL_ZIPF},
               {"group_by_sparse_%zu", BENCH_FILL_SPARSE}};

static void measure_groups(struct bench *b, size_t groups, const struct spread *spread,
                           gp_dtype dtype, int exponent)
{
    char name[32];
    const size_t n = (size_t)1 << exponent, width = dtype == GP_U64 ? 8 : 4;
    const bool table = spread->fill != BENCH_FILL_SPARSE && groups <= n; /* the serial loop has */
    snprintf(name, sizeof name, spread->format, groups);
    if (!bench_wanted(b, name, dtype) || (b->backend == &bench_cpu && !table))
        return;
    struct bench_case c = {.name = name};
    c.args = (struct bench_args){.dtype = dtype, .n = n, .num_rows = groups};
    prepare(b, &c, &grouped, width);
    struct bench_task keys = {.kind = spread->fill,
                              .n = n,
                              .width = (unsigned)width,
                              .seed = 1,
                              .limit = groups,
                              .out = (void *)c.args.in};
    b->backend->task(b, &keys);
    measure(b, &c, &grouped, width);
}

void bench_group(struct bench *b)
{
    static const int run_lengths_of[] = {1, 2, 16, 1000, 1000000, POWERLAW, ONE};
    static const struct kind *const kinds[] = {&unique, &lengths, &sums};
    static const size_t groups[] = {(size_t)1 << 10, (size_t)1 << 20, (size_t)1 << 27};
    int exponents[BENCH_SIZES];
    const int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 7; l++)
                measure_runs(b, kinds[k], run_lengths_of[l], exponents[i]);
        for (int g = 0; g < 3; g++)
            for (int k = 0; k < 6; k++)
                measure_groups(b, groups[g], &spreads[k % 3], k < 3 ? GP_U32 : GP_U64,
                               exponents[i]);
    }
}
