/* SPDX-License-Identifier: MIT */
/* Sums of products, norms and combinations of vectors. */
#include "bench.h"
#include "bench_task.h"

static gp_vector_desc desc_of(const struct bench_args *a)
{
    gp_vector_desc d = GP_VECTOR_DESC_INIT;
    d.dtype = a->dtype;
    return d;
}

static int run_dot(struct bench *b, const struct bench_args *a)
{
    const gp_vector_desc d = desc_of(a);
    return bench_status(b, gp_vector_dot(b->ctx, &d, a->in, a->x, a->n, a->out));
}

static int run_norm(struct bench *b, const struct bench_args *a)
{
    const gp_vector_desc d = desc_of(a);
    return bench_status(b, gp_vector_norm(b->ctx, &d, a->in, a->n, a->out));
}

static int run_axpby(struct bench *b, const struct bench_args *a)
{
    const gp_vector_desc d = desc_of(a);
    return bench_status(b, gp_vector_axpby(b->ctx, &d, NULL, a->in, NULL, a->out, a->n));
}

static int run_multiply(struct bench *b, const struct bench_args *a)
{
    const gp_vector_desc d = desc_of(a);
    return bench_status(b, gp_vector_multiply(b->ctx, &d, a->in, a->x, a->n, a->out));
}

/* Tests compare the results with serial loops; here only times count. */
static bool no_check(struct bench *b, const struct bench_case *c)
{
    (void)b;
    (void)c;
    return true;
}

static void vector_case(struct bench *b, const char *name, bench_run run, int moved, bool sum,
                        gp_dtype dtype, int exponent)
{
    const size_t n = (size_t)1 << exponent, width = gp_dtype_bytes(dtype);
    if (!bench_wanted(b, name, dtype))
        return;
    struct bench_case c = {.suite = "vector",
                           .name = name,
                           .run = run,
                           .check = no_check,
                           .ideal = sum ? BENCH_READ : BENCH_COPY};
    struct bench_task t = {.kind = BENCH_FILL_STEPS, .n = n, .width = (unsigned)width, .seed = 1};
    void *arrays[3];
    for (int i = 0; i < 3; i++) {
        t.seed++;
        t.out = arrays[i] = bench_buffer(b, BENCH_SLOT_0 + i, n * width);
        b->backend->task(b, &t);
    }
    c.args = (struct bench_args){
        .dtype = dtype, .n = n, .in = arrays[0], .x = arrays[1], .out = arrays[2]};
    c.outputs[0] = (struct bench_output){arrays[2], sum ? 8 : n * width};
    c.bytes = (double)moved * (double)n * (double)width;
    bench_measure(b, &c);
}

void bench_vector(struct bench *b)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64, GP_F16};
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++)
        for (int d = 0; d < (b->options.quick ? 1 : 3); d++) {
            vector_case(b, "dot", run_dot, 2, true, dtypes[d], exponents[i]);
            vector_case(b, "norm", run_norm, 1, true, dtypes[d], exponents[i]);
            vector_case(b, "axpby", run_axpby, 3, false, dtypes[d], exponents[i]);
            vector_case(b, "multiply", run_multiply, 3, false, dtypes[d], exponents[i]);
        }
}
