/* SPDX-License-Identifier: MIT */
/* Inclusive sums of i32 in segments, described in each of gp's ways. Peers get keys. */
#include "bench.h"
#include "bench_task.h"

static gp_scan_desc sums(void)
{
    gp_scan_desc desc = GP_SCAN_DESC_INIT;
    desc.in_dtype = GP_I32;
    return desc;
}

static int run_segmented(struct bench *b, const struct bench_args *a)
{
    gp_scan_desc desc = sums();
    return bench_status(
        b, gp_scan_segmented(b->ctx, &desc, a->in, a->n, GP_U32, a->offsets, a->num_rows, a->out));
}

static int run_flagged(struct bench *b, const struct bench_args *a)
{
    gp_scan_desc desc = sums();
    return bench_status(b, gp_scan_flagged(b->ctx, &desc, a->in, a->flags, a->n, a->out));
}

static int run_by_key(struct bench *b, const struct bench_args *a)
{
    gp_scan_desc desc = sums();
    return bench_status(b, gp_scan_by_key(b->ctx, &desc, 4, a->rows, a->in, a->n, a->out));
}

static int run_rows(struct bench *b, const struct bench_args *a)
{
    gp_scan_desc desc = sums();
    return bench_status(
        b, gp_scan_rows(b->ctx, &desc, a->in, a->num_rows, a->n / a->num_rows, a->out));
}

/* Instead of a length: one segment with all items; a power law. */
#define ONE ((size_t)0)
#define POWER_LAW SIZE_MAX

struct segment_case {
    const char *name;
    bench_run run;
    size_t length; /* of a segment */
};

/* Segments of one length; the last takes what is left. */
static void even_segments(struct bench *b, struct bench_args *a, size_t length)
{
    uint32_t end = (uint32_t)a->n;
    a->num_rows = length ? (a->n + length - 1) / length : 1;
    struct bench_task fill = {.kind = BENCH_FILL_IOTA,
                              .n = a->num_rows + 1,
                              .width = 4,
                              .limit = length,
                              .out = bench_buffer(b, BENCH_SLOT_2, (a->num_rows + 1) * 4)};
    b->backend->task(b, &fill);
    bench_copy(b, &end, 4, (uint32_t *)fill.out + a->num_rows);
    a->offsets = fill.out;
}

/* Bytes of the description of the segments, of those that the call reads. */
static double describe(struct bench *b, const struct segment_case *s, struct bench_args *a)
{
    if (s->length == POWER_LAW) {
        a->num_rows = a->n / 16;
        bench_segment_lengths(b, a, true, BENCH_SLOT_2);
    } else {
        even_segments(b, a, s->length);
    }
    struct bench_task keys = {.kind = BENCH_EXPAND, .n = a->n, .width = 4, .args = *a};
    a->rows = keys.out = bench_buffer(b, BENCH_SLOT_3, a->n * 4);
    b->backend->task(b, &keys);
    struct bench_task heads = {.kind = BENCH_FILL_HEADS, .n = a->n, .width = 1, .limit = s->length};
    if (s->run == run_flagged) {
        a->flags = heads.out = bench_buffer(b, BENCH_SLOT_4, a->n);
        b->backend->task(b, &heads);
    }
    return s->run == run_segmented ? 4.0 * (double)(a->num_rows + 1)
           : s->run == run_flagged ? (double)a->n
           : s->run == run_by_key  ? 4.0 * (double)a->n
                                   : 0;
}

static void segment_case(struct bench *b, const struct segment_case *s, int exponent)
{
    size_t n = (size_t)1 << exponent;
    if (!bench_wanted(b, s->name, GP_I32) || (s->run == run_rows && n < s->length))
        return;
    if (s->run == run_rows)
        n -= n % s->length;
    struct bench_case c = {.suite = "segments", .name = s->name, .run = s->run};
    struct bench_task fill = {.kind = BENCH_FILL_BITS, .n = n, .width = 4, .seed = 1};
    fill.out = bench_buffer(b, BENCH_SLOT_0, n * 4);
    b->backend->task(b, &fill);
    c.args.dtype = GP_I32;
    c.args.n = n;
    c.args.in = fill.out;
    c.args.out = bench_buffer(b, BENCH_SLOT_1, n * 4);
    c.bytes = 8.0 * (double)n + describe(b, s, &c.args);
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    bench_measure(b, &c);
}

void bench_segments(struct bench *b)
{
    static const struct segment_case cases[] = {
        {"segmented_1", run_segmented, 1},       {"segmented_16", run_segmented, 16},
        {"segmented_1000", run_segmented, 1000}, {"segmented_powerlaw", run_segmented, POWER_LAW},
        {"segmented_huge", run_segmented, ONE},  {"flagged_16", run_flagged, 16},
        {"by_key_16", run_by_key, 16},           {"rows_1000", run_rows, 1000},
    };
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            segment_case(b, &cases[k], exponents[i]);
}
