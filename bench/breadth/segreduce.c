/* SPDX-License-Identifier: MIT */
/* Segmented reductions: a suite beside its peers, and over element types, operators and lengths. */
#include "breadth.h"

#include <string.h>

#include <gp/segreduce.h>

/* Instead of a length: one segment with all items; a power law; nine tenths empty. */
#define ONE ((size_t)0)
#define POWER_LAW SIZE_MAX
#define TENTH (SIZE_MAX - 1)

static gp_reduce_segmented_desc desc_of(const struct bench_args *a, bool rows)
{
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    d.in_dtype = a->rule->in_dtype;
    d.out_dtype = a->rule->out_dtype;
    d.op = a->rule->op;
    d.offset_dtype = rows ? (gp_dtype)0 : a->key_bytes == 8 ? GP_I64 : GP_U32;
    return d;
}

static int run_segmented(struct bench *b, const struct bench_args *a)
{
    const gp_reduce_segmented_desc d = desc_of(a, false);
    return bench_status(
        b, gp_reduce_segmented(b->ctx, &d, a->in, a->n, a->offsets, a->num_rows, a->out));
}

static int run_rows(struct bench *b, const struct bench_args *a)
{
    const gp_reduce_segmented_desc d = desc_of(a, true);
    return bench_status(b,
                        gp_reduce_rows(b->ctx, &d, a->in, a->num_rows, a->n / a->num_rows, a->out));
}

static int run_places(struct bench *b, const struct bench_args *a)
{
    gp_reduce_segmented_desc d = desc_of(a, false);
    d.out_dtype = (gp_dtype)0;
    d.op = GP_SUM;
    return bench_status(b, gp_argmin_segmented(b->ctx, &d, a->in, a->n, a->offsets, a->num_rows,
                                               NULL, (uint64_t *)a->out));
}

/* ---- segments -------------------------------------------------------------------------------- */

/* As many offsets as bytes of one say; the last segment takes what is left. */
static void even(struct bench *b, struct bench_args *a, size_t length, size_t bytes)
{
    const uint64_t end = a->n;
    a->num_rows = length ? (a->n + length - 1) / length : 1;
    struct bench_task fill = {.kind = BENCH_FILL_IOTA,
                              .n = a->num_rows + 1,
                              .width = (unsigned)bytes,
                              .limit = length,
                              .out = bench_buffer(b, BENCH_SLOT_2, (a->num_rows + 1) * bytes)};
    b->backend->task(b, &fill);
    bench_copy(b, &end, bytes, (char *)fill.out + a->num_rows * bytes);
    a->offsets = fill.out;
}

/* Every tenth segment has ten items. */
static void tenth(struct bench *b, struct bench_args *a)
{
    a->num_rows = a->n;
    struct bench_task fill = {.kind = BENCH_FILL_TENS,
                              .n = a->n + 1,
                              .width = 4,
                              .limit = a->n,
                              .out = bench_buffer(b, BENCH_SLOT_2, (a->n + 1) * 4)};
    b->backend->task(b, &fill);
    a->offsets = fill.out;
}

/* Bytes of offsets and results. */
static double describe(struct bench *b, const struct breadth_call *call, struct bench_args *a)
{
    const size_t length = call->rule.length, bytes = call->key_bytes ? call->key_bytes : 4;
    const size_t out = call->run == run_places
                           ? 8
                           : bench_scalars(call->rule.op) * bench_dtype_bytes(call->rule.out_dtype);
    if (length == POWER_LAW) {
        a->num_rows = a->n / 16;
        bench_segment_lengths(b, a, true, BENCH_SLOT_2);
    } else if (length == TENTH) {
        tenth(b, a);
    } else {
        even(b, a, length, bytes);
    }
    a->out = bench_buffer(b, BENCH_SLOT_1, a->num_rows * out);
    return (double)((call->run == run_rows ? 0 : (a->num_rows + 1) * bytes) + a->num_rows * out);
}

/* Each result is the last output of its segment's scan. */
static bool sums_are_right(struct bench *b, const struct bench_case *c)
{
    const struct bench_rule *rule = c->args.rule;
    const size_t item = bench_scalars(rule->op) * bench_dtype_bytes(rule->out_dtype);
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = rule->in_dtype;
    d.op = rule->op; /* of places GP_MIN */
    void *scan = bench_buffer(b, BENCH_SLOT_3, c->args.n * item);
    if (rule->in_dtype != rule->out_dtype)
        return true; /* the scan of segments does not widen */
    if (bench_status(b, gp_scan_segmented(b->ctx, &d, c->args.in, c->args.n,
                                          c->args.key_bytes == 8 ? GP_I64 : GP_U32, c->args.offsets,
                                          c->args.num_rows, scan)) != BENCH_OK)
        return false;
    struct bench_task last = {.kind = BENCH_SEGMENT_LASTS,
                              .n = c->args.num_rows,
                              .width = (unsigned)item,
                              .a = scan,
                              .limit = c->run == run_places,
                              .out = c->args.out,
                              .args = c->args};
    return bench_count_bad(b, &last) == 0;
}

/* ---- breadth --------------------------------------------------------------------------------- */

static void name_of(struct breadth_call *call, const char *what)
{
    const size_t length = call->rule.length;
    char of[12];
    snprintf(of, sizeof of, "%u", (unsigned)length);
    snprintf(call->name, sizeof call->name, "%s_%s%s", what,
             length == ONE         ? "one"
             : length == POWER_LAW ? "powerlaw"
             : length == TENTH     ? "tenth"
                                   : of,
             call->key_bytes == 8 ? "_i64" : "");
}

static void segmented(struct bench *b, gp_dtype in, gp_dtype out, gp_op op, size_t length,
                      size_t bytes)
{
    struct breadth_call call = {.rule = {.in_dtype = in, .out_dtype = out, .op = op},
                                .run = run_segmented,
                                .check = sums_are_right,
                                .reads_only = true,
                                .describe = describe,
                                .key_bytes = bytes};
    char what[28];
    call.rule.kind = GP_SCAN_INCLUSIVE;
    call.rule.length = length;
    snprintf(what, sizeof what, "reduce_segmented_%s", gp_op_string(op));
    name_of(&call, what);
    breadth_measure(b, &call);
}

static void others(struct bench *b, gp_dtype d, size_t length)
{
    struct breadth_call call = {.rule = {.in_dtype = d, .out_dtype = d, .op = GP_MIN},
                                .run = run_places,
                                .check = sums_are_right,
                                .reads_only = true,
                                .describe = describe,
                                .key_bytes = 4};
    call.rule.kind = GP_SCAN_INCLUSIVE;
    call.rule.length = length;
    name_of(&call, "argmin_segmented");
    breadth_measure(b, &call);
    if (length % 16 || length == ONE)
        return;
    call.run = run_rows;
    call.rule.op = GP_SUM;
    name_of(&call, "reduce_rows_sum");
    breadth_measure(b, &call);
}

void breadth_segreduce(struct bench *b)
{
    static const size_t lengths[] = {1, 16, 1000, POWER_LAW, ONE, TENTH};
    static const gp_dtype dtypes[] = {GP_U8, GP_F16, GP_I32, GP_F32, GP_F64};
    for (int l = 0; l < 6; l++) {
        const size_t length = lengths[l];
        for (int i = 0; i < 5; i++) {
            segmented(b, dtypes[i], dtypes[i], GP_SUM, length, 4);
            others(b, dtypes[i], length);
        }
        segmented(b, GP_I8, GP_I32, GP_SUM, length, 4);
        segmented(b, GP_F32, GP_F32, GP_AFFINE, length, 4);
        if (length - 1 < 1000)
            segmented(b, GP_F32, GP_F32, GP_SUM, length, 8);
    }
    for (int i = 0; i < BREADTH_DTYPES; i++)
        for (int k = 0; k < BREADTH_OPS; k++)
            if (breadth_has_op(breadth_dtypes[i], breadth_ops[k]))
                segmented(b, breadth_dtypes[i], breadth_dtypes[i], breadth_ops[k], 64, 4);
}

/* ---- the suite ------------------------------------------------------------------------------- */

static void suite_case(struct bench *b, gp_dtype d, size_t length, int exponent)
{
    const size_t n = (size_t)1 << exponent;
    struct breadth_call call = {.rule = {.in_dtype = d, .out_dtype = d, .op = GP_SUM},
                                .run = run_segmented,
                                .describe = describe,
                                .key_bytes = 4};
    call.rule.kind = GP_SCAN_INCLUSIVE;
    call.rule.length = length;
    name_of(&call, "segments");
    if (!bench_wanted(b, call.name, d))
        return;
    struct bench_case c = {.suite = "segreduce", .name = call.name, .run = run_segmented};
    c.args =
        (struct bench_args){.dtype = d, .n = n, .op = GP_SUM, .key_bytes = 4, .rule = &call.rule};
    c.args.in = bench_buffer(b, BENCH_SLOT_0, n * 4);
    struct bench_task fill = {.kind = BENCH_FILL_EXACT,
                              .n = n,
                              .width = 4,
                              .seed = 1,
                              .limit = 1,
                              .out = (void *)c.args.in,
                              .rule = call.rule};
    b->backend->task(b, &fill);
    c.bytes = (double)n * 4 + describe(b, &call, &c.args);
    c.ideal = BENCH_COPY;
    c.check = sums_are_right;
    bench_measure(b, &c);
}

void bench_segreduce(struct bench *b)
{
    static const size_t lengths[] = {1, 16, 1000, POWER_LAW, ONE, TENTH};
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, true, exponents);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            if (i > 0 && exponents[i] != 24 && exponents[i] != 20 && exponents[i] != 16)
                continue;
            suite_case(b, GP_I32, lengths[k], exponents[i]);
            suite_case(b, GP_F32, lengths[k], exponents[i]);
        }
}
