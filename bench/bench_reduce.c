/* SPDX-License-Identifier: MIT */
/* Reductions, and scans from the last item to the first. */
#include "bench.h"
#include "bench_task.h"

static int run_sum(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_reduce(b->ctx, a->dtype, GP_SUM, a->in, a->n, a->out));
}

static int run_max(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_reduce(b->ctx, a->dtype, GP_MAX, a->in, a->n, a->out));
}

static int run_argmin(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_argmin(b->ctx, a->dtype, a->in, a->n, a->out, a->count));
}

static int run_backward(struct bench *b, const struct bench_args *a)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = a->dtype;
    desc.backward = 1;
    return bench_status(b, gp_scan(b->ctx, &desc, a->in, a->n, a->out));
}

struct reduce_case {
    const char *name;
    gp_dtype dtype;
    bench_run run;
    size_t skip; /* items before the input: how far from aligned it is */
};

static void reduce_case(struct bench *b, const struct reduce_case *r, int exponent)
{
    size_t n = (size_t)1 << exponent, width = gp_dtype_bytes(r->dtype), skip = r->skip * width;
    bool real = r->dtype == GP_F32 || r->dtype == GP_F64;
    if (!bench_wanted(b, r->name, r->dtype))
        return;
    struct bench_case c = {.suite = "reduce", .name = r->name, .run = r->run};
    struct bench_task fill = {.kind = real && r->run != run_argmin ? BENCH_FILL_STEPS
                                      : real                       ? BENCH_FILL_FINITE
                                                                   : BENCH_FILL_BITS,
                              .n = n,
                              .width = (unsigned)width,
                              .seed = 1};
    fill.out = (char *)bench_buffer(b, BENCH_SLOT_0, n * width + skip) + skip;
    b->backend->task(b, &fill);
    c.args.dtype = r->dtype;
    c.args.n = n;
    c.args.in = fill.out;
    bool scans = r->run == run_backward;
    size_t out_bytes = scans ? n * width : width;
    c.args.out = bench_buffer(b, BENCH_SLOT_1, out_bytes < 8 ? 8 : out_bytes);
    c.args.count = bench_buffer(b, BENCH_SLOT_2, 8);
    c.ideal = scans ? BENCH_COPY : BENCH_READ;
    c.bytes = (double)(n * width) * (scans ? 2 : 1);
    c.outputs[0] = (struct bench_output){c.args.out, out_bytes};
    if (r->run == run_argmin)
        c.outputs[1] = (struct bench_output){c.args.count, 8};
    bench_measure(b, &c);
}

void bench_reduce(struct bench *b)
{
    static const struct reduce_case cases[] = {
        {"reduce_sum", GP_I32, run_sum, 0},        {"reduce_sum", GP_F32, run_sum, 0},
        {"reduce_sum", GP_I64, run_sum, 0},        {"reduce_sum", GP_F64, run_sum, 0},
        {"reduce_sum", GP_I16, run_sum, 0},        {"reduce_sum", GP_I8, run_sum, 0},
        {"unaligned_sum", GP_I32, run_sum, 1},     {"reduce_max", GP_I32, run_max, 0},
        {"reduce_max", GP_F32, run_max, 0},        {"argmin", GP_I32, run_argmin, 0},
        {"argmin", GP_F32, run_argmin, 0},         {"backward_sum", GP_I32, run_backward, 0},
        {"backward_sum", GP_F32, run_backward, 0}, {"backward_sum", GP_F64, run_backward, 0},
    };
    int exponents[BENCH_SIZES], main_exponent = b->backend == &bench_cpu ? 24 : 28;
    int count = bench_sizes(b, main_exponent, true, exponents);
    for (int i = 0; i < count; i++)
        reduce_case(b, &cases[0], exponents[i]);
    count = bench_sizes(b, main_exponent, false, exponents);
    for (int i = 0; i < count; i++)
        for (size_t k = 1; k < (b->options.quick ? 3 : sizeof cases / sizeof *cases); k++)
            reduce_case(b, &cases[k], exponents[i]);
}
