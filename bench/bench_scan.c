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

static void scan_case(struct bench *b, const char *name, bench_run run, gp_dtype dtype,
                      int exponent)
{
    size_t n = (size_t)1 << exponent, bytes = n * gp_dtype_bytes(dtype);
    bool real = dtype == GP_F32 || dtype == GP_F64;
    if (!bench_wanted(b, name, dtype))
        return;
    struct bench_case c = {.suite = "scan", .name = name, .run = run, .bytes = 2.0 * (double)bytes};
    struct bench_task fill = {.kind = real ? BENCH_FILL_STEPS : BENCH_FILL_BITS,
                              .n = n,
                              .width = (unsigned)gp_dtype_bytes(dtype),
                              .seed = 1};
    fill.out = bench_buffer(b, BENCH_SLOT_0, bytes);
    b->backend->task(b, &fill);
    c.args.dtype = dtype;
    c.args.n = n;
    c.args.in = fill.out;
    c.args.out = bench_buffer(b, BENCH_SLOT_1, bytes);
    c.outputs[0] = (struct bench_output){c.args.out, bytes};
    bench_measure(b, &c);
}

void bench_scan(struct bench *b)
{
    static const gp_dtype dtypes[] = {GP_I32, GP_F32, GP_I64, GP_F64, GP_I16, GP_I8};
    int exponents[BENCH_SIZES], main_exponent = b->backend == &bench_cpu ? 24 : 28;
    int count = bench_sizes(b, main_exponent, true, exponents);
    for (int i = 0; i < count; i++)
        scan_case(b, "inclusive_sum", run_inclusive, GP_I32, exponents[i]);
    count = bench_sizes(b, main_exponent, false, exponents);
    for (int i = 0; i < count; i++) {
        scan_case(b, "exclusive_sum", run_exclusive, GP_I32, exponents[i]);
        for (size_t d = 1; d < (b->options.quick ? 2 : sizeof dtypes / sizeof *dtypes); d++)
            scan_case(b, "inclusive_sum", run_inclusive, dtypes[d], exponents[i]);
    }
}
