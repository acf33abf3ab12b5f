/* SPDX-License-Identifier: MIT */
/*
 * Every call over the arguments that users choose: what share of the ideal each choice reaches, the
 * worst first. Results are checked by rules that need no reference (rule.h).
 */
#include "breadth.h"

#include <stdlib.h>
#include <string.h>

const gp_dtype breadth_dtypes[BREADTH_DTYPES] = {GP_I8,  GP_U8,  GP_I16, GP_U16,  GP_I32, GP_U32,
                                                 GP_I64, GP_U64, GP_F16, GP_BF16, GP_F32, GP_F64};
const gp_op breadth_ops[BREADTH_OPS] = {GP_SUM, GP_PRODUCT, GP_MIN, GP_MAX, GP_AND, GP_OR, GP_XOR};
const struct breadth_pair breadth_pairs[BREADTH_PAIRS] = {
    {GP_I8, GP_I32},  {GP_I8, GP_I64},   {GP_I16, GP_I32}, {GP_I16, GP_I64}, {GP_I32, GP_I64},
    {GP_U8, GP_U32},  {GP_U8, GP_U64},   {GP_U16, GP_U32}, {GP_U16, GP_U64}, {GP_U32, GP_U64},
    {GP_F16, GP_F32}, {GP_BF16, GP_F32}, {GP_F32, GP_F64}};

bool breadth_has_op(gp_dtype dtype, gp_op op)
{
    return !bench_is_real(dtype) || (op != GP_AND && op != GP_OR && op != GP_XOR);
}

/* ---- one choice ------------------------------------------------------------------------------ */

bool breadth_scan_is_right(struct bench *b, const struct bench_case *c)
{
    struct bench_task follows = {.kind = BENCH_FOLLOWS, .n = c->args.n, .rule = *c->args.rule};
    follows.a = (void *)c->args.in;
    follows.out = c->args.out;
    return bench_count_bad(b, &follows) == 0;
}

static void fill_input(struct bench *b, const struct bench_rule *rule, size_t n, void *in)
{
    const unsigned scalars = bench_scalars(rule->op);
    struct bench_task fill = {.kind = scalars > 1 ? BENCH_FILL_MAPS : BENCH_FILL_EXACT,
                              .n = n * scalars,
                              .width = bench_dtype_bytes(rule->in_dtype),
                              .seed = 1,
                              .limit = scalars,
                              .out = in,
                              .rule = *rule};
    b->backend->task(b, &fill);
}

/* What the table at the end is made of. */
struct result {
    char name[BREADTH_NAME], dtypes[16];
    size_t n;
    double share;
};

static struct result *results;
static size_t num_results;

void breadth_keep(const struct bench_case *c, const struct bench_row *row)
{
    const struct bench_rule *rule = c->args.rule;
    const gp_dtype in = rule ? rule->in_dtype : c->args.dtype, out = rule ? rule->out_dtype : in;
    struct result *r = realloc(results, (num_results + 1) * sizeof *results);
    if (!r)
        bench_die("out of memory");
    results = r;
    r += num_results++;
    *r = (struct result){.n = row->n, .share = row->memcpy_ratio};
    snprintf(r->name, sizeof r->name, "%s", row->name);
    snprintf(r->dtypes, sizeof r->dtypes, "%s%s%s", gp_dtype_string(in), out == in ? "" : " ",
             out == in ? "" : gp_dtype_string(out));
}

static void measure_at(struct bench *b, const struct breadth_call *call, size_t n)
{
    const size_t scalars = bench_scalars(call->rule.op);
    const size_t in = scalars * bench_dtype_bytes(call->rule.in_dtype);
    const size_t out = scalars * bench_dtype_bytes(call->rule.out_dtype);
    struct bench_rule rule = call->rule;
    struct bench_case c = {
        .suite = "breadth", .name = call->name, .run = call->run, .check = call->check};
    c.seen = breadth_keep;
    c.ideal = call->reads_only && !call->describe ? BENCH_READ : BENCH_COPY;
    c.args = (struct bench_args){.dtype = rule.in_dtype, .n = n, .op = rule.op, .kind = rule.kind};
    c.args.key_bytes = call->key_bytes;
    c.args.in = bench_buffer(b, BENCH_SLOT_0, n * in);
    c.args.out = bench_buffer(b, BENCH_SLOT_1, call->reads_only ? 64 : (n + 1) * out);
    c.args.count = bench_buffer(b, BENCH_SLOT_6, 64);
    rule.total = rule.total ? c.args.count : NULL;
    c.args.rule = &rule;
    fill_input(b, &rule, n, (void *)c.args.in);
    c.bytes = (double)(n * (call->reads_only ? in : in + out));
    if (call->describe)
        c.bytes += call->describe(b, call, &c.args);
    bench_measure(b, &c);
}

size_t breadth_bytes(const struct bench *b)
{
    return (size_t)1 << (b->backend == &bench_cpu ? 26 : 29);
}

void breadth_measure(struct bench *b, const struct breadth_call *call)
{
    const size_t bytes = bench_scalars(call->rule.op) * bench_dtype_bytes(call->rule.in_dtype);
    if (!bench_wanted(b, call->name, call->rule.in_dtype))
        return;
    if (b->options.num_exponents == 0) {
        measure_at(b, call, breadth_bytes(b) / bytes);
        if (!b->options.quick)
            measure_at(b, call, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        measure_at(b, call, (size_t)1 << b->options.exponents[i]);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int worst_first(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    return (x->share > y->share) - (x->share < y->share);
}

static void print_results(void)
{
    static const double steps[] = {0.1, 0.3, 0.5, 0.7, 0.85};
    qsort(results, num_results, sizeof *results, worst_first);
    printf("\nshare of the ideal, the worst first\n");
    for (size_t i = 0; i < num_results; i++)
        printf("%6.3f  %-11s%-48s%zu\n", results[i].share, results[i].dtypes, results[i].name,
               results[i].n);
    printf("%zu choices", num_results);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        size_t below = 0;
        while (below < num_results && results[below].share < steps[k])
            below++;
        printf(", %zu below %.2f", below, steps[k]);
    }
    printf("\n");
    free(results);
    results = NULL;
    num_results = 0;
}

void bench_breadth(struct bench *b)
{
    /* A single run is for its results: to empty caches before would take longer than all else. */
    b->cold = b->backend == &bench_cpu && b->options.runs > 1;
    breadth_scans(b);
    breadth_reductions(b);
    breadth_segments(b);
    breadth_segreduce(b);
    breadth_filters(b);
    breadth_moves(b);
    breadth_runs(b);
    breadth_selects(b);
    breadth_splits(b);
    breadth_sparse(b);
    breadth_products(b);
    print_results();
    b->cold = false;
}
