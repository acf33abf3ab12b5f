/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "bench_task.h"

int bench_run_sort(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_radix_sort(b->ctx, a->dtype, a->in, a->n, a->out, NULL));
}

int bench_run_sort_pairs(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_radix_sort_pairs(b->ctx, a->dtype, a->in, a->value_bytes, a->values,
                                               a->n, a->out, a->out_values, NULL));
}

int bench_run_argsort(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_argsort(b->ctx, a->dtype, a->in, a->n, GP_U32, a->out_values, NULL));
}

static void fill_keys(struct bench *b, struct bench_args *a, unsigned key_bits)
{
    unsigned width = (unsigned)gp_dtype_bytes(a->dtype);
    struct bench_task fill = {.kind = a->dtype == GP_F32 ? BENCH_FILL_FINITE : BENCH_FILL_BITS,
                              .n = a->n,
                              .width = width,
                              .seed = 1,
                              .limit = key_bits ? 64 - key_bits : 0};
    fill.out = bench_buffer(b, BENCH_SLOT_0, a->n * width);
    b->backend->task(b, &fill);
    a->in = fill.out;
}

/* The payload is the position: a pair sort that is not stable is found out. */
static void fill_values(struct bench *b, struct bench_args *a)
{
    struct bench_task fill = {
        .kind = BENCH_FILL_IOTA, .n = a->n, .width = (unsigned)a->value_bytes, .limit = 1};
    fill.out = bench_buffer(b, BENCH_SLOT_1, a->n * a->value_bytes);
    b->backend->task(b, &fill);
    a->values = fill.out;
}

struct sort_case {
    const char *name;
    gp_dtype dtype;
    size_t value_bytes;
    unsigned key_bits; /* 0: all */
    bench_run run;
};

static void sort_case(struct bench *b, const struct sort_case *s, int exponent)
{
    size_t n = (size_t)1 << exponent, width = gp_dtype_bytes(s->dtype);
    if (!bench_wanted(b, s->name, s->dtype))
        return;
    struct bench_case c = {.suite = "sort", .name = s->name, .run = s->run};
    bool argsort = s->run == bench_run_argsort;
    c.args = (struct bench_args){.dtype = s->dtype, .n = n, .value_bytes = s->value_bytes};
    fill_keys(b, &c.args, s->key_bits);
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * width);
    c.outputs[0] = (struct bench_output){c.args.out, n * width};
    c.bytes = 2.0 * (double)(n * (width + s->value_bytes));
    if (s->value_bytes) {
        fill_values(b, &c.args);
        c.args.out_values = bench_buffer(b, BENCH_SLOT_3, n * s->value_bytes);
        c.outputs[1] = (struct bench_output){c.args.out_values, n * s->value_bytes};
    }
    if (argsort) { /* reads keys, writes indices; a peer may write sorted keys as well */
        c.outputs[0].bytes = 0;
        c.bytes = (double)(n * (width + s->value_bytes));
    }
    bench_measure(b, &c);
}

void bench_sort(struct bench *b)
{
    static const struct sort_case cases[] = {
        {"keys", GP_U32, 0, 0, bench_run_sort},
        {"pairs_u32", GP_U32, 4, 0, bench_run_sort_pairs},
        {"argsort", GP_U32, 4, 0, bench_run_argsort},
        {"keys", GP_U64, 0, 0, bench_run_sort},
        {"pairs_u32", GP_U64, 4, 0, bench_run_sort_pairs},
        {"pairs_u64", GP_U32, 8, 0, bench_run_sort_pairs},
        {"keys", GP_F32, 0, 0, bench_run_sort},
        {"keys", GP_U16, 0, 0, bench_run_sort},
        {"keys", GP_U8, 0, 0, bench_run_sort},
        {"pairs_20_bits", GP_U32, 4, 20, bench_run_sort_pairs},
    };
    int exponents[BENCH_SIZES], main_exponent = b->backend == &bench_cpu ? 24 : 28;
    int count = bench_sizes(b, main_exponent, true, exponents);
    for (int i = 0; i < count; i++)
        sort_case(b, &cases[0], exponents[i]);
    count = bench_sizes(b, main_exponent, false, exponents);
    for (int i = 0; i < count; i++)
        for (size_t k = 1; k < (b->options.quick ? 4 : sizeof cases / sizeof *cases); k++)
            sort_case(b, &cases[k], exponents[i]);
}
