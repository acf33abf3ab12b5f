/* SPDX-License-Identifier: MIT */
/* Scans and reductions over element types, operators, kinds, totals and directions. */
#include "breadth.h"

#include <string.h>

static int run_scan(struct bench *b, const struct bench_args *a)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = a->rule->in_dtype;
    d.out_dtype = a->rule->out_dtype;
    d.op = a->rule->op;
    d.kind = a->rule->kind;
    d.backward = a->rule->backward;
    d.total = (void *)a->rule->total;
    return bench_status(b, gp_scan(b->ctx, &d, a->in, a->n, a->out));
}

/* Any address: that of the total is known when the arrays are made. */
static const uint64_t with_total;

static void scan_case(struct bench *b, const char *name, struct bench_rule rule)
{
    struct breadth_call call = {.rule = rule, .run = run_scan, .check = breadth_scan_is_right};
    snprintf(call.name, sizeof call.name, "scan_%s_%s", name, gp_op_string(rule.op));
    breadth_measure(b, &call);
}

static struct bench_rule rule_of(gp_dtype in, gp_dtype out, gp_op op, gp_scan_kind kind)
{
    return (struct bench_rule){.in_dtype = in, .out_dtype = out, .op = op, .kind = kind};
}

/* Of one dtype: kinds, directions and totals, of sums and, backward, of all operators. */
static void scans_of(struct bench *b, gp_dtype d)
{
    struct bench_rule rule = rule_of(d, d, GP_SUM, GP_SCAN_EXCLUSIVE);
    scan_case(b, "exclusive", rule);
    rule.small = true;
    rule.total = &with_total;
    scan_case(b, "exclusive_total", rule);
    if (!bench_is_real(d))
        scan_case(b, "row_pointers", rule_of(d, d, GP_SUM, GP_SCAN_ROW_POINTERS));
    for (int i = 0; i < BREADTH_OPS; i++) {
        rule = rule_of(d, d, breadth_ops[i], GP_SCAN_INCLUSIVE);
        if (!breadth_has_op(d, rule.op))
            continue;
        scan_case(b, "inclusive", rule);
        rule.backward = true;
        scan_case(b, "backward", rule);
    }
}

void breadth_scans(struct bench *b)
{
    static const gp_dtype real[] = {GP_F32, GP_F64};
    for (int i = 0; i < BREADTH_DTYPES; i++)
        scans_of(b, breadth_dtypes[i]);
    for (int i = 0; i < BREADTH_PAIRS; i++)
        scan_case(b, "widening",
                  rule_of(breadth_pairs[i].in, breadth_pairs[i].out, GP_SUM, GP_SCAN_INCLUSIVE));
    for (int i = 0; i < 2; i++) {
        scan_case(b, "inclusive", rule_of(real[i], real[i], GP_AFFINE, GP_SCAN_INCLUSIVE));
        scan_case(b, "inclusive", rule_of(real[i], real[i], GP_MAT2, GP_SCAN_INCLUSIVE));
    }
}

/* ---- differences ----------------------------------------------------------------------------- */

static int run_difference(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_adjacent_difference(b->ctx, a->dtype, a->in, a->n, a->out));
}

/* The input is the scan of the output. */
static bool difference_is_right(struct bench *b, const struct bench_case *c)
{
    struct bench_task follows = {.kind = BENCH_FOLLOWS, .n = c->args.n, .rule = *c->args.rule};
    follows.a = c->args.out;
    follows.out = (void *)c->args.in;
    return bench_count_bad(b, &follows) == 0;
}

static void differences(struct bench *b)
{
    for (int i = 0; i < BREADTH_DTYPES; i++) {
        struct breadth_call call = {
            .name = "adjacent_difference",
            .rule = rule_of(breadth_dtypes[i], breadth_dtypes[i], GP_SUM, GP_SCAN_INCLUSIVE),
            .run = run_difference,
            .check = difference_is_right};
        breadth_measure(b, &call);
    }
}

/* ---- reductions ------------------------------------------------------------------------------ */

static int run_reduce(struct bench *b, const struct bench_args *a)
{
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = a->rule->in_dtype;
    d.out_dtype = a->rule->out_dtype;
    d.op = a->rule->op;
    return bench_status(b, gp_reduce_by(b->ctx, &d, a->in, a->n, a->out));
}

/* The last output of a scan, which the rule confirms. */
static bool reduction_is_right(struct bench *b, const struct bench_case *c)
{
    const size_t item = bench_scalars(c->args.op) * bench_dtype_bytes(c->args.rule->out_dtype);
    struct bench_case scan = *c;
    char expected[32] = {0}, found[32] = {0};
    bench_copy(b, c->args.out, item, found);
    scan.args.out = bench_buffer(b, BENCH_SLOT_2, c->args.n * item);
    if (run_scan(b, &scan.args) != BENCH_OK || !breadth_scan_is_right(b, &scan))
        return false;
    bench_copy(b, (char *)scan.args.out + (c->args.n - 1) * item, item, expected);
    return memcmp(found, expected, item) == 0;
}

static void reduce_case(struct bench *b, gp_dtype in, gp_dtype out, gp_op op)
{
    struct breadth_call call = {.rule = rule_of(in, out, op, GP_SCAN_INCLUSIVE),
                                .run = run_reduce,
                                .check = reduction_is_right,
                                .reads_only = true};
    snprintf(call.name, sizeof call.name, "reduce%s_%s", in == out ? "" : "_widening",
             gp_op_string(op));
    breadth_measure(b, &call);
}

static int run_place(struct bench *b, const struct bench_args *a)
{
    gp_status (*find)(gp_context *, gp_dtype, const void *, size_t, void *, uint64_t *) =
        a->op == GP_MIN ? gp_argmin : gp_argmax;
    return bench_status(b, find(b->ctx, a->dtype, a->in, a->n, a->out, a->count));
}

/* No item comes before the one that was found, and the value is that item. */
static bool place_is_right(struct bench *b, const struct bench_case *c)
{
    const size_t item = bench_dtype_bytes(c->args.dtype);
    struct bench_task others = {.kind = BENCH_NOT_BEFORE, .n = c->args.n, .rule = *c->args.rule};
    uint64_t value = 0, expected = 0;
    bench_copy(b, c->args.count, 8, &others.args.bound);
    if (others.args.bound >= c->args.n)
        return false;
    others.a = (void *)c->args.in;
    bench_copy(b, c->args.out, item, &value);
    bench_copy(b, (const char *)c->args.in + others.args.bound * item, item, &expected);
    return value == expected && bench_count_bad(b, &others) == 0;
}

void breadth_reductions(struct bench *b)
{
    static const gp_dtype real[] = {GP_F32, GP_F64};
    differences(b);
    for (int i = 0; i < BREADTH_DTYPES; i++) {
        const gp_dtype d = breadth_dtypes[i];
        struct breadth_call place = {.run = run_place, .check = place_is_right, .reads_only = true};
        for (int k = 0; k < BREADTH_OPS; k++)
            if (breadth_has_op(d, breadth_ops[k]))
                reduce_case(b, d, d, breadth_ops[k]);
        for (int k = 0; k < 2; k++) {
            place.rule = rule_of(d, d, k ? GP_MAX : GP_MIN, GP_SCAN_INCLUSIVE);
            snprintf(place.name, sizeof place.name, k ? "argmax" : "argmin");
            breadth_measure(b, &place);
        }
    }
    for (int i = 0; i < BREADTH_PAIRS; i++)
        reduce_case(b, breadth_pairs[i].in, breadth_pairs[i].out, GP_SUM);
    for (int i = 0; i < 2; i++) {
        reduce_case(b, real[i], real[i], GP_AFFINE);
        reduce_case(b, real[i], real[i], GP_MAT2);
    }
}
