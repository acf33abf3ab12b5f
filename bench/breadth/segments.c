/* SPDX-License-Identifier: MIT */
/* Segmented scans over element types, operators, lengths, and the ways to describe segments. */
#include "breadth.h"

static const size_t lengths[] = {4, 64, 10000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static gp_scan_desc desc_of(const struct bench_args *a)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = a->rule->in_dtype;
    d.op = a->rule->op;
    d.kind = a->rule->kind;
    return d;
}

static int run_segmented(struct bench *b, const struct bench_args *a)
{
    const gp_scan_desc d = desc_of(a);
    return bench_status(b, gp_scan_segmented(b->ctx, &d, a->in, a->n,
                                             a->key_bytes == 8 ? GP_I64 : GP_I32, a->offsets,
                                             a->num_rows, a->out));
}

static int run_flagged(struct bench *b, const struct bench_args *a)
{
    const gp_scan_desc d = desc_of(a);
    return bench_status(b, gp_scan_flagged(b->ctx, &d, a->in, a->flags, a->n, a->out));
}

static int run_by_key(struct bench *b, const struct bench_args *a)
{
    const gp_scan_desc d = desc_of(a);
    return bench_status(b, gp_scan_by_key(b->ctx, &d, a->key_bytes, a->rows, a->in, a->n, a->out));
}

static int run_rows(struct bench *b, const struct bench_args *a)
{
    const gp_scan_desc d = desc_of(a);
    const size_t rows = a->n / a->rule->length;
    return bench_status(b, gp_scan_rows(b->ctx, &d, a->in, rows, a->rule->length, a->out));
}

/* Offsets of as many bytes as a key: the last segment takes what is left. */
static double describe_offsets(struct bench *b, const struct breadth_call *call,
                               struct bench_args *a)
{
    const size_t bytes = call->key_bytes, length = call->rule.length;
    const uint64_t end = a->n;
    a->num_rows = (a->n + length - 1) / length;
    struct bench_task fill = {.kind = BENCH_FILL_IOTA,
                              .n = a->num_rows + 1,
                              .width = (unsigned)bytes,
                              .limit = length,
                              .out = bench_buffer(b, BENCH_SLOT_2, (a->num_rows + 1) * bytes)};
    b->backend->task(b, &fill);
    bench_copy(b, &end, bytes, (char *)fill.out + a->num_rows * bytes);
    a->offsets = fill.out;
    return (double)((a->num_rows + 1) * bytes);
}

static double describe_flags(struct bench *b, const struct breadth_call *call, struct bench_args *a)
{
    struct bench_task fill = {
        .kind = BENCH_FILL_HEADS, .n = a->n, .width = 1, .limit = call->rule.length};
    a->flags = fill.out = bench_buffer(b, BENCH_SLOT_3, a->n);
    b->backend->task(b, &fill);
    return (double)a->n;
}

static double describe_keys(struct bench *b, const struct breadth_call *call, struct bench_args *a)
{
    struct bench_task fill = {.kind = BENCH_FILL_BLOCKS,
                              .n = a->n,
                              .width = (unsigned)call->key_bytes,
                              .limit = call->rule.length};
    a->rows = fill.out = bench_buffer(b, BENCH_SLOT_4, a->n * call->key_bytes);
    b->backend->task(b, &fill);
    return (double)(a->n * call->key_bytes);
}

static void measure(struct bench *b, struct breadth_call *call, gp_dtype d, gp_op op, size_t length)
{
    call->rule = (struct bench_rule){
        .in_dtype = d, .out_dtype = d, .op = op, .kind = GP_SCAN_INCLUSIVE, .length = length};
    call->check = breadth_scan_is_right;
    breadth_measure(b, call);
}

static void by_offsets(struct bench *b, gp_dtype d, gp_op op, size_t length, size_t bytes)
{
    struct breadth_call call = {
        .run = run_segmented, .describe = describe_offsets, .key_bytes = bytes};
    snprintf(call.name, sizeof call.name, "segmented_%s_%zu_i%zu", gp_op_string(op), length,
             8 * bytes);
    measure(b, &call, d, op, length);
}

static void by_keys(struct bench *b, gp_dtype d, size_t length, size_t bytes)
{
    struct breadth_call call = {.run = run_by_key, .describe = describe_keys, .key_bytes = bytes};
    snprintf(call.name, sizeof call.name, "by_key_of_%zu_sum_%zu", bytes, length);
    measure(b, &call, d, GP_SUM, length);
}

static void by_others(struct bench *b, gp_dtype d, gp_op op, size_t length)
{
    struct breadth_call flagged = {.run = run_flagged, .describe = describe_flags};
    struct breadth_call rows = {.run = run_rows};
    snprintf(flagged.name, sizeof flagged.name, "flagged_%s_%zu", gp_op_string(op), length);
    measure(b, &flagged, d, op, length);
    if (length % 64 == 0) { /* divides every n that is measured */
        snprintf(rows.name, sizeof rows.name, "rows_%s_%zu", gp_op_string(op), length);
        measure(b, &rows, d, op, length);
    }
}

void breadth_segments(struct bench *b)
{
    for (int l = 0; l < LENGTHS; l++) {
        for (int i = 0; i < BREADTH_DTYPES; i++)
            for (int k = 0; k < BREADTH_OPS; k++)
                if (breadth_has_op(breadth_dtypes[i], breadth_ops[k]))
                    by_offsets(b, breadth_dtypes[i], breadth_ops[k], lengths[l], 4);
        by_offsets(b, GP_I32, GP_SUM, lengths[l], 8);
        by_offsets(b, GP_F64, GP_AFFINE, lengths[l], 4);
        for (size_t bytes = 1; bytes <= 8; bytes *= 2)
            by_keys(b, GP_F32, lengths[l], bytes);
        by_others(b, GP_F32, GP_SUM, lengths[l]);
        by_others(b, GP_U8, GP_SUM, lengths[l]);
        by_others(b, GP_I64, GP_MIN, lengths[l]);
    }
}
