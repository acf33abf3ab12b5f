/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "bench_task.h"

static int run_inclusive(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_scan_inclusive(b->ctx, a->dtype, GP_SUM, a->in, a->n, a->out));
}

static int run_exclusive(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_scan_exclusive(b->ctx, a->dtype, GP_SUM, a->in, a->n, NULL, a->out));
}

static int run_max(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_scan_inclusive(b->ctx, a->dtype, GP_MAX, a->in, a->n, a->out));
}

struct scan_case {
    const char *name;
    gp_dtype dtype;
    bench_run run;
    size_t skip; /* items before the input and the output: how far from aligned they are */
};

static void scan_case(struct bench *b, const struct scan_case *s, int exponent)
{
    size_t n = (size_t)1 << exponent, width = gp_dtype_bytes(s->dtype), skip = s->skip * width;
    bool real = s->dtype == GP_F32 || s->dtype == GP_F64;
    if (!bench_wanted(b, s->name, s->dtype))
        return;
    struct bench_case c = {.suite = "scan", .name = s->name, .run = s->run};
    struct bench_task fill = {.kind = real ? BENCH_FILL_STEPS : BENCH_FILL_BITS,
                              .n = n,
                              .width = (unsigned)width,
                              .seed = 1};
    fill.out = (char *)bench_buffer(b, BENCH_SLOT_0, n * width + skip) + skip;
    b->backend->task(b, &fill);
    c.args.dtype = s->dtype;
    c.args.n = n;
    c.args.in = fill.out;
    c.args.out = (char *)bench_buffer(b, BENCH_SLOT_1, n * width + skip) + skip;
    c.bytes = 2.0 * (double)(n * width);
    c.outputs[0] = (struct bench_output){c.args.out, n * width};
    bench_measure(b, &c);
}

void bench_scan(struct bench *b)
{
    static const struct scan_case cases[] = {
        {"inclusive_sum", GP_I32, run_inclusive, 0}, {"exclusive_sum", GP_I32, run_exclusive, 0},
        {"inclusive_sum", GP_F32, run_inclusive, 0}, {"inclusive_sum", GP_I64, run_inclusive, 0},
        {"inclusive_sum", GP_F64, run_inclusive, 0}, {"inclusive_sum", GP_I16, run_inclusive, 0},
        {"inclusive_sum", GP_I8, run_inclusive, 0},  {"unaligned_sum", GP_I32, run_inclusive, 1},
        {"inclusive_max", GP_I32, run_max, 0},       {"algorithms", GP_I32, run_inclusive, 0},
    };
    int exponents[BENCH_SIZES], main_exponent = b->backend == &bench_cpu ? 24 : 28;
    int count = bench_sizes(b, main_exponent, true, exponents);
    for (int i = 0; i < count; i++)
        scan_case(b, &cases[0], exponents[i]);
    count = bench_sizes(b, main_exponent, false, exponents);
    for (int i = 0; i < count; i++)
        for (size_t k = 1; k < (b->options.quick ? 3 : sizeof cases / sizeof *cases); k++)
            scan_case(b, &cases[k], exponents[i]);
}
