/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "bench_task.h"

static int run_even(struct bench *b, const struct bench_args *a)
{
    int32_t low = 0, high = (int32_t)a->bound;
    return bench_status(b, gp_histogram_even(b->ctx, a->dtype, a->in, a->n, &low, &high, a->bins,
                                             GP_U32, a->out, NULL));
}

static int run_bincount(struct bench *b, const struct bench_args *a)
{
    return bench_status(b,
                        gp_bincount(b->ctx, a->dtype, a->in, a->n, a->bins, GP_U32, a->out, NULL));
}

static int count_by_atomics(struct bench *b, const struct bench_args *a)
{
    struct bench_task t = {.kind = BENCH_COUNT, .n = a->n, .out = a->out, .args = *a};
    b->backend->fill_bytes(b, a->out, 0, a->bins * 4);
    b->backend->task(b, &t);
    return BENCH_OK;
}

struct histogram_case {
    const char *name;
    gp_dtype dtype;
    size_t bins;    /* 0: n */
    uint64_t bound; /* samples are below it, evenly; 0: bins */
    bench_run run, reference;
};

static void histogram_case(struct bench *b, const struct histogram_case *h, int exponent)
{
    size_t n = (size_t)1 << exponent;
    unsigned width = (unsigned)gp_dtype_bytes(h->dtype);
    if (!bench_wanted(b, h->name, h->dtype))
        return;
    struct bench_case c = {.suite = "histogram",
                           .name = h->name,
                           .run = h->run,
                           .reference = h->reference,
                           .ideal = BENCH_READ};
    c.args = (struct bench_args){.dtype = h->dtype, .n = n, .bins = h->bins ? h->bins : n};
    c.args.bound = h->bound ? h->bound : c.args.bins;
    struct bench_task fill = {.kind = BENCH_FILL_BELOW, .n = n, .width = width, .seed = 1};
    fill.limit = c.args.bound;
    fill.out = bench_buffer(b, BENCH_SLOT_0, n * width);
    b->backend->task(b, &fill);
    c.args.in = fill.out;
    c.args.out = bench_buffer(b, BENCH_SLOT_1, c.args.bins * 4);
    c.outputs[0] = (struct bench_output){c.args.out, c.args.bins * 4};
    c.bytes = (double)(n * width + c.args.bins * 4);
    bench_measure(b, &c);
}

void bench_histogram(struct bench *b)
{
    static const uint64_t range = 1 << 20;
    static const struct histogram_case cases[] = {
        {"even_256", GP_I32, 256, range, run_even, NULL},
        {"even_2048", GP_I32, 2048, range, run_even, NULL},
        {"bincount_256", GP_U8, 256, 256, run_bincount, NULL},
        {"even_256_odd", GP_I32, 256, 1000003, run_even, NULL}, /* bins are no whole numbers wide */
        {"even_65536", GP_I32, 65536, range, run_even, NULL},
        {"even_1048576", GP_I32, range, range, run_even, NULL},
        {"bincount_n", GP_U32, 0, 0, run_bincount, count_by_atomics},
    };
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < (b->options.quick ? 3 : sizeof cases / sizeof *cases); k++)
            histogram_case(b, &cases[k], exponents[i]);
}
