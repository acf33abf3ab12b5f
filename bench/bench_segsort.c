/* SPDX-License-Identifier: MIT */
/* Sorts of u32 keys in segments of 16, 256, 1024 and 65536 items and of power-law lengths. */
#include "bench.h"
#include "bench_task.h"

static int run_sort(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_radix_sort_segmented(b->ctx, a->dtype, a->in, a->n, GP_U32,
                                                   a->offsets, a->num_rows, a->out, NULL));
}

/* A stable sort by key, then one by segment. */
static int run_reference(struct bench *b, const struct bench_args *a)
{
    struct bench_task segments = {.kind = BENCH_EXPAND, .n = a->n, .width = 4, .args = *a};
    uint32_t *segment = segments.out = bench_buffer(b, BENCH_SLOT_4, a->n * 8);
    uint32_t *keys = bench_buffer(b, BENCH_SLOT_5, a->n * 8);
    b->backend->task(b, &segments);
    const int result = bench_status(b, gp_radix_sort_pairs(b->ctx, a->dtype, a->in, 4, segment,
                                                           a->n, keys, segment + a->n, NULL));
    if (result != BENCH_OK)
        return result;
    return bench_status(b, gp_radix_sort_pairs(b->ctx, GP_U32, segment + a->n, 4, keys, a->n,
                                               keys + a->n, a->out, NULL));
}

static void measure(struct bench *b, const char *name, size_t length, size_t n)
{
    struct bench_case c = {.suite = "segsort", .name = name, .run = run_sort};
    struct bench_task keys = {.kind = BENCH_FILL_BITS, .n = n, .width = 4, .seed = 1};
    if (!bench_wanted(b, name, GP_U32) || n < 2 * length)
        return;
    c.args = (struct bench_args){.dtype = GP_U32, .n = n};
    c.args.num_rows = n / (length ? length : 16);
    bench_segment_lengths(b, &c.args, length == 0, BENCH_SLOT_2);
    c.args.in = keys.out = bench_buffer(b, BENCH_SLOT_0, n * 4);
    c.args.out = bench_buffer(b, BENCH_SLOT_1, n * 4);
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    c.reference = run_reference;
    b->backend->task(b, &keys);
    c.bytes = (double)(n * 8 + c.args.num_rows * 4);
    bench_measure(b, &c);
}

void bench_segsort(struct bench *b)
{
    int exponents[BENCH_SIZES];
    const int count = bench_sizes(b, b->backend == &bench_cpu ? 22 : 26, false, exponents);
    for (int i = 0; i < count; i++) {
        const size_t n = (size_t)1 << exponents[i];
        measure(b, "segments_16", 16, n);
        measure(b, "segments_256", 256, n);
        measure(b, "segments_1024", 1024, n);
        measure(b, "segments_65536", 65536, n);
        measure(b, "segments_powerlaw", 0, n);
    }
}
