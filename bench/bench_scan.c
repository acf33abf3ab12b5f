/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "bench_task.h"

struct scan_case {
    const char *name;
    gp_dtype dtype;
    gp_op op;
    gp_scan_kind kind;
    size_t skip; /* items before the input and the output: how far from aligned they are */
    bool in_place;
};

static int run_by(struct bench *b, const struct bench_args *a, gp_algorithm algorithm)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = a->dtype;
    d.op = a->op;
    d.kind = a->kind;
    d.algorithm = algorithm;
    return bench_status(b, gp_scan(b->ctx, &d, a->in, a->n, a->out));
}

static int run_scan(struct bench *b, const struct bench_args *a)
{
    return run_by(b, a, GP_ALGORITHM_AUTO);
}

/* For operators that no peer has: other kernels of our own. */
static int run_reference(struct bench *b, const struct bench_args *a)
{
    return run_by(b, a,
                  b->backend == &bench_cpu ? GP_ALGORITHM_SERIAL : GP_ALGORITHM_REDUCE_THEN_SCAN);
}

/* Inputs whose scans are exact: nothing depends on how they are associated. */
static void fill_input(struct bench *b, const struct bench_args *a, void *in)
{
    size_t scalars = gp_op_scalars(a->op);
    bool real = a->dtype == GP_F32 || a->dtype == GP_F64;
    struct bench_task fill = {.kind = scalars > 1 ? BENCH_FILL_MAPS
                                      : real      ? BENCH_FILL_STEPS
                                                  : BENCH_FILL_BITS,
                              .n = a->n * scalars,
                              .width = (unsigned)gp_dtype_bytes(a->dtype),
                              .seed = 1,
                              .limit = scalars > 1 ? scalars : 0,
                              .out = in};
    b->backend->task(b, &fill);
}

/* The input is lost in every run: here it is made anew, and scanned to another place to compare. */
static bool in_place_is_right(struct bench *b, const struct bench_case *c)
{
    unsigned width = (unsigned)gp_dtype_bytes(c->args.dtype);
    struct bench_args apart = c->args;
    struct bench_task compare = {.kind = BENCH_EQUAL, .n = c->args.n, .width = width};
    apart.out = bench_buffer(b, BENCH_SLOT_1, c->args.n * width);
    fill_input(b, &c->args, c->args.out);
    if (run_scan(b, &apart) != BENCH_OK || c->run(b, &c->args) != BENCH_OK)
        return false;
    compare.out = c->args.out;
    compare.a = apart.out;
    return bench_count_bad(b, &compare) == 0;
}

static void measure(struct bench *b, const struct scan_case *s, size_t n,
                    void (*seen)(const struct bench_case *c, const struct bench_row *r))
{
    size_t item = gp_dtype_bytes(s->dtype) * gp_op_scalars(s->op), skip = s->skip * item;
    struct bench_case c = {.suite = "scan", .name = s->name, .run = run_scan, .seen = seen};
    void *in = (char *)bench_buffer(b, BENCH_SLOT_0, n * item + skip) + skip;
    c.args = (struct bench_args){.dtype = s->dtype, .op = s->op, .kind = s->kind, .n = n, .in = in};
    c.bytes = 2.0 * (double)(n * item);
    fill_input(b, &c.args, in);
    if (s->in_place) {
        c.args.out = in;
        c.check = in_place_is_right;
    } else {
        c.args.out = (char *)bench_buffer(b, BENCH_SLOT_1, n * item + skip) + skip;
        c.outputs[0] = (struct bench_output){c.args.out, n * item};
        if (s->op != GP_SUM && (s->op != GP_MAX || s->dtype != GP_I32))
            c.reference = run_reference;
    }
    bench_measure(b, &c);
}

#define SUM(dtype)                                                                                 \
    {                                                                                              \
        "inclusive_sum", dtype, GP_SUM, GP_SCAN_INCLUSIVE, 0, false                                \
    }
#define OTHER(name, dtype, op)                                                                     \
    {                                                                                              \
        "inclusive_" name, dtype, op, GP_SCAN_INCLUSIVE, 0, false                                  \
    }

void bench_scan(struct bench *b)
{
    static const struct scan_case cases[] = {
        SUM(GP_I32),
        {"exclusive_sum", GP_I32, GP_SUM, GP_SCAN_EXCLUSIVE, 0, false},
        SUM(GP_F32),
        SUM(GP_I64),
        SUM(GP_F64),
        SUM(GP_I16),
        SUM(GP_I8),
        {"unaligned_sum", GP_I32, GP_SUM, GP_SCAN_INCLUSIVE, 1, false},
        {"in_place_sum", GP_I32, GP_SUM, GP_SCAN_INCLUSIVE, 0, true},
        OTHER("product", GP_I32, GP_PRODUCT),
        OTHER("min", GP_I32, GP_MIN),
        OTHER("max", GP_I32, GP_MAX),
        OTHER("max", GP_F32, GP_MAX),
        OTHER("and", GP_I32, GP_AND),
        OTHER("or", GP_I32, GP_OR),
        OTHER("xor", GP_I32, GP_XOR),
        OTHER("affine", GP_F32, GP_AFFINE),
        OTHER("mat2", GP_F32, GP_MAT2),
        {"algorithms", GP_I32, GP_SUM, GP_SCAN_INCLUSIVE, 0, false},
    };
    int exponents[BENCH_SIZES], main_exponent = b->backend == &bench_cpu ? 26 : 28;
    int swept = bench_sizes(b, main_exponent, true, exponents);
    for (int i = 0; i < swept; i++)
        if (bench_wanted(b, cases[0].name, cases[0].dtype))
            measure(b, &cases[0], (size_t)1 << exponents[i], NULL);
    int count = bench_sizes(b, main_exponent, false, exponents);
    for (int i = 0; i < count; i++)
        for (size_t k = 1; k < (b->options.quick ? 3 : sizeof cases / sizeof *cases); k++)
            if (bench_wanted(b, cases[k].name, cases[k].dtype))
                measure(b, &cases[k], ((size_t)1 << exponents[i]) / gp_op_scalars(cases[k].op),
                        NULL);
}

/* ---- every size ------------------------------------------------------------------------------ */

enum { SMALLEST = 12, LARGEST = 30, DTYPES = 6 };
static const gp_dtype size_dtypes[DTYPES] = {GP_I8, GP_I16, GP_I32, GP_F32, GP_I64, GP_F64};
static const double peer_wanted = 1.25, memcpy_wanted = 0.95;

/* What came out for each dtype and size; 0: not measured. */
static double peer_ratios[DTYPES][LARGEST + 1], memcpy_ratios[DTYPES][LARGEST + 1];
static bool measured[LARGEST + 1];

static int exponent_of(size_t n)
{
    int e = 0;
    while (((size_t)1 << e) < n)
        e++;
    return e;
}

static void keep_ratios(const struct bench_case *c, const struct bench_row *r)
{
    int e = exponent_of(c->args.n), d = 0;
    while (size_dtypes[d] != c->args.dtype)
        d++;
    if (r->peer_ratio > 0 && e <= LARGEST) {
        peer_ratios[d][e] = r->peer_ratio;
        memcpy_ratios[d][e] = r->memcpy_ratio;
        measured[e] = true;
    }
}

/* Each field: the best peer's time over ours, our rate over memcpy's,
 * and whether either will do. */
static void print_verdicts(void)
{
    int missed = 0, all = 0;
    printf("\nat least %.2f times the best peer, or %.2f of memcpy\nn     ", peer_wanted,
           memcpy_wanted);
    for (int d = 0; d < DTYPES; d++)
        printf("%-19s", gp_dtype_string(size_dtypes[d]));
    for (int e = 0; e <= LARGEST; e++) {
        if (!measured[e])
            continue;
        printf("\n2^%-4d", e);
        for (int d = 0; d < DTYPES; d++) {
            double peer = peer_ratios[d][e], copy = memcpy_ratios[d][e];
            bool pass = peer >= peer_wanted || copy >= memcpy_wanted;
            if (peer > 0)
                printf("%5.2fx %5.3f %-6s", peer, copy, pass ? "pass" : "MISSED");
            else
                printf("%-19s", "-");
            all += peer > 0;
            missed += peer > 0 && !pass;
        }
    }
    printf("\n%d of %d missed\n", missed, all);
}

void bench_scan_sizes(struct bench *b)
{
    int exponents[LARGEST - SMALLEST + 1], count = b->options.num_exponents;
    for (int i = 0; i < count; i++)
        exponents[i] = b->options.exponents[i];
    for (int e = LARGEST; count == 0 && e >= SMALLEST; e--)
        exponents[LARGEST - e] = e;
    if (count == 0)
        count = LARGEST - SMALLEST + 1;
    for (int d = 0; d < DTYPES; d++)
        for (int i = 0; i < count; i++)
            if (bench_wanted(b, "inclusive_sum", size_dtypes[d]))
                measure(b, &(struct scan_case)SUM(size_dtypes[d]), (size_t)1 << exponents[i],
                        keep_ratios);
    print_verdicts();
}
