/* SPDX-License-Identifier: MIT */
/* Runs of equal keys: unique keys, lengths, and reductions of ones, over sizes of keys, element
 * types, operators and lengths. */
#include "breadth.h"

#include <string.h>

static const size_t run_lengths[] = {1, 16, 1000};
enum { LENGTHS = sizeof run_lengths / sizeof *run_lengths };

enum call { UNIQUE, ENCODED, REDUCED };

/* One choice. Keys that are not words have a multiple of 4 bytes. */
struct choice {
    enum call call;
    size_t key_bytes, length; /* of a run */
    gp_dtype in, out;         /* of REDUCED */
    gp_op op;
};

static int run_unique(struct bench *b, const struct bench_args *a)
{
    gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.key_bytes = a->key_bytes;
    d.capacity = a->num_rows;
    return bench_status(b,
                        gp_unique_by(b->ctx, &d, a->in, NULL, a->n, a->out, NULL, NULL, a->count));
}

static int run_encoded(struct bench *b, const struct bench_args *a)
{
    gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    d.key_bytes = a->key_bytes;
    d.index_dtype = GP_U32;
    d.capacity = a->num_rows;
    return bench_status(
        b, gp_run_length_encode_by(b->ctx, &d, a->in, a->n, a->out, NULL, a->out_values, a->count));
}

static int run_reduced(struct bench *b, const struct bench_args *a)
{
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_bytes = a->key_bytes;
    d.op = a->op;
    d.capacity = a->num_rows;
    d.in_dtype = a->rule->in_dtype;
    d.out_dtype = a->rule->out_dtype;
    return bench_status(
        b, gp_reduce_by_key(b->ctx, &d, a->in, a->values, a->n, a->out, a->out_values, a->count));
}

/* Numbers of runs of that many keys, in the words of n keys. */
static void fill_keys(struct bench *b, size_t key_bytes, size_t length, size_t n, void *out)
{
    const size_t width = key_bytes <= 8 ? key_bytes : 4, words = key_bytes / width;
    struct bench_task fill = {.kind = BENCH_FILL_BLOCKS,
                              .n = n * words,
                              .width = (unsigned)width,
                              .limit = length * words,
                              .out = out};
    b->backend->task(b, &fill);
}

/* A whole number up to 1000, as stored; halves have 11 bits, and 8. */
static uint64_t number(gp_dtype dtype, double value)
{
    char bytes[8] = {0};
    uint64_t bits = 0;
    if (dtype == GP_F64)
        memcpy(bytes, &value, 8);
    else if (dtype == GP_F32)
        memcpy(bytes, &(float){(float)value}, 4);
    else if (dtype == GP_F16 || dtype == GP_BF16)
        memcpy(bytes, &(uint16_t){bench_half_of(dtype, (float)value)}, 2);
    else
        memcpy(bytes, &(uint64_t){(uint64_t)value}, 8);
    memcpy(&bits, bytes, gp_dtype_bytes(dtype));
    return bits;
}

static void fill_number(struct bench *b, gp_dtype dtype, double value, size_t n, void *out)
{
    struct bench_task fill = {.kind = BENCH_FILL_IOTA,
                              .n = n,
                              .width = (unsigned)gp_dtype_bytes(dtype),
                              .seed = number(dtype, value),
                              .out = out};
    b->backend->task(b, &fill);
}

static bool equal(struct bench *b, const void *expected, const void *actual, size_t bytes)
{
    struct bench_task t = {.kind = BENCH_EQUAL, .n = bytes, .width = 1};
    t.a = (void *)expected;
    t.out = (void *)actual;
    return bench_count_bad(b, &t) == 0;
}

/* All runs are alike: num_rows of them, and lengths or results of num_cols bytes that all have the
 * value of bound. */
static bool runs_are_right(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    uint64_t count = 0;
    void *expected = bench_temp(b, a->num_rows * (a->key_bytes > 8 ? a->key_bytes : 8));
    bench_copy(b, a->count, sizeof count, &count);
    if (count != a->num_rows)
        return false;
    fill_keys(b, a->key_bytes, 1, a->num_rows, expected);
    if (!equal(b, expected, a->out, a->num_rows * a->key_bytes))
        return false;
    if (a->num_cols == 0)
        return true;
    fill_number(b, a->rule->out_dtype, (double)a->bound, a->num_rows, expected);
    return equal(b, expected, a->out_values, a->num_rows * a->num_cols);
}

static void measure_at(struct bench *b, const char *name, const struct choice *m, size_t items)
{
    static const bench_run calls[] = {run_unique, run_encoded, run_reduced};
    const size_t n = items / m->length * m->length, runs = n / m->length;
    const size_t in = m->call == REDUCED ? gp_dtype_bytes(m->in) : 0;
    const size_t out = m->call == UNIQUE ? 0 : gp_dtype_bytes(m->out);
    struct bench_rule rule = {.in_dtype = m->in, .out_dtype = m->out, .op = m->op};
    struct bench_case c = {.suite = "breadth",
                           .name = name,
                           .run = calls[m->call],
                           .check = runs_are_right,
                           .seen = breadth_keep};
    void *keys = bench_buffer(b, BENCH_SLOT_0, n * m->key_bytes);
    void *values = in ? bench_buffer(b, BENCH_SLOT_1, n * in) : NULL;
    c.args = (struct bench_args){.dtype = m->in,
                                 .n = n,
                                 .in = keys,
                                 .values = values,
                                 .key_bytes = m->key_bytes,
                                 .op = m->op,
                                 .rule = &rule,
                                 .num_rows = runs,
                                 .num_cols = out};
    c.args.bound = m->call == ENCODED || m->op == GP_SUM ? m->length : 1;
    c.args.out = bench_buffer(b, BENCH_SLOT_2, runs * m->key_bytes);
    c.args.out_values = out ? bench_buffer(b, BENCH_SLOT_3, runs * out) : NULL;
    c.args.count = bench_buffer(b, BENCH_SLOT_6, 64);
    fill_keys(b, m->key_bytes, m->length, n, keys);
    if (in)
        fill_number(b, m->in, 1, n, values);
    c.bytes = (double)n * (double)(m->key_bytes + in) + (double)runs * (double)(m->key_bytes + out);
    if (n > 0)
        bench_measure(b, &c);
}

static void measure(struct bench *b, struct choice m)
{
    static const char *const names[] = {"unique", "run_lengths"};
    char name[BREADTH_NAME];
    if (m.call == REDUCED)
        snprintf(name, sizeof name, "reduce_by_key_%s_%zu", gp_op_string(m.op), m.length);
    else
        snprintf(name, sizeof name, "%s_of_%zu_%zu", names[m.call], m.key_bytes, m.length);
    if (!bench_wanted(b, name, m.in))
        return;
    if (b->options.num_exponents == 0) {
        measure_at(b, name, &m, breadth_bytes(b) / m.key_bytes);
        if (!b->options.quick)
            measure_at(b, name, &m, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        measure_at(b, name, &m, (size_t)1 << b->options.exponents[i]);
}

void breadth_runs(struct bench *b)
{
    static const size_t key_sizes[] = {1, 2, 4, 8, 12, 100};
    for (int l = 0; l < LENGTHS; l++) {
        const size_t length = run_lengths[l];
        for (size_t k = 0; k < sizeof key_sizes / sizeof *key_sizes; k++) {
            measure(b, (struct choice){UNIQUE, key_sizes[k], length, GP_U32, GP_U32, GP_SUM});
            measure(b, (struct choice){ENCODED, key_sizes[k], length, GP_U32, GP_U32, GP_SUM});
        }
        for (int i = 0; i < BREADTH_DTYPES; i++) {
            const gp_dtype d = breadth_dtypes[i];
            if (length == 16 || d == GP_F32 || d == GP_I64)
                measure(b, (struct choice){REDUCED, 4, length, d, d, GP_SUM});
            if (length == 16 || d == GP_U8)
                measure(b, (struct choice){REDUCED, 4, length, d, d, GP_MAX});
        }
        measure(b, (struct choice){REDUCED, 4, length, GP_U32, GP_U64, GP_SUM});
    }
    measure(b, (struct choice){REDUCED, 4, 16, GP_U64, GP_U64, GP_PRODUCT});
    measure(b, (struct choice){REDUCED, 4, 16, GP_F32, GP_F64, GP_SUM});
}
