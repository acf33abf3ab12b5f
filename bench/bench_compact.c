/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "bench_task.h"

static int run_flags(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_compact(b->ctx, gp_dtype_bytes(a->dtype), a->in, a->flags, a->n, a->out, a->count));
}

static int run_if(struct bench *b, const struct bench_args *a)
{
    uint32_t bound = (uint32_t)a->bound;
    return bench_status(
        b, gp_compact_if(b->ctx, a->dtype, GP_LT, &bound, a->in, a->n, a->out, a->count));
}

/* u32 items, percent of them kept, by flags or (flags false) by comparison. */
static void compact_case(struct bench *b, const char *name, bool flags, unsigned percent,
                         int exponent)
{
    size_t n = (size_t)1 << exponent;
    if (!bench_wanted(b, name, GP_U32))
        return;
    struct bench_task items = {.kind = BENCH_FILL_BITS, .n = n, .width = 4, .seed = 1};
    struct bench_task keep = {.kind = BENCH_FILL_FLAGS, .n = n, .width = 1, .seed = 2};
    struct bench_case c = {.suite = "compact", .name = name, .run = flags ? run_flags : run_if};
    items.out = bench_buffer(b, BENCH_SLOT_0, n * 4);
    keep.out = bench_buffer(b, BENCH_SLOT_1, n);
    keep.limit = 65536 * percent / 100;
    b->backend->task(b, &items);
    b->backend->task(b, &keep);
    c.args = (struct bench_args){.dtype = GP_U32, .n = n, .in = items.out, .flags = keep.out};
    c.args.bound = ((uint64_t)percent << 32) / 100;
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * 4);
    c.args.count = bench_buffer(b, BENCH_SLOT_3, sizeof(uint64_t));
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    c.outputs[1] = (struct bench_output){c.args.count, sizeof(uint64_t)};
    struct bench_task count = flags ? keep : items;
    count.kind = BENCH_COUNT_BELOW;
    count.limit = flags ? 1 : c.args.bound;
    uint64_t below = bench_count_bad(b, &count);
    c.bytes =
        4.0 * (double)n + (flags ? (double)n + 4.0 * (double)(n - below) : 4.0 * (double)below);
    bench_measure(b, &c);
}

void bench_compact(struct bench *b)
{
    int exponents[BENCH_SIZES];
    int count = bench_sizes(b, b->backend == &bench_cpu ? 24 : 28, false, exponents);
    for (int i = 0; i < count; i++) {
        compact_case(b, "flags_10", true, 10, exponents[i]);
        compact_case(b, "flags_50", true, 50, exponents[i]);
        compact_case(b, "flags_90", true, 90, exponents[i]);
        compact_case(b, "if_50", false, 50, exponents[i]);
    }
}
