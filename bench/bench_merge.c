/* SPDX-License-Identifier: MIT */
/* Merges of sorted runs of one length, of keys alone and beside values of 4 bytes. The peer is the
 * same result by a sort of all. */
#include <stdio.h>

#include "bench.h"
#include "bench_task.h"

/* num_rows: of runs. */
static int run_merge(struct bench *b, const struct bench_args *a)
{
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.dtype = a->dtype;
    d.offset_dtype = GP_U32;
    d.value_bytes = a->value_bytes;
    return bench_status(b, gp_merge_runs(b->ctx, &d, a->in, a->values, a->n, a->offsets,
                                         a->num_rows, a->out, a->out_values));
}

static int run_sort(struct bench *b, const struct bench_args *a)
{
    return a->value_bytes ? bench_run_sort_pairs(b, a) : bench_run_sort(b, a);
}

static const struct bench_peer peers[] = {
    {"gp_sort", "merge", NULL, (gp_dtype)0, NULL, run_sort, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false}};

static void measure(struct bench *b, gp_dtype dtype, size_t value_bytes, size_t runs, size_t n)
{
    const size_t width = gp_dtype_bytes(dtype);
    char name[32];
    snprintf(name, sizeof name, "%s_%zu", value_bytes ? "pairs" : "keys", runs);
    struct bench_case c = {.suite = "merge", .name = name, .run = run_merge};
    struct bench_task keys = {.kind = BENCH_FILL_BITS, .n = n, .width = (unsigned)width, .seed = 1};
    struct bench_task offsets = {.kind = BENCH_FILL_IOTA, .n = runs + 1, .width = 4};
    struct bench_task values = {.kind = BENCH_FILL_IOTA, .n = n, .width = 4, .limit = 1};
    if (!bench_wanted(b, name, dtype))
        return;
    c.args =
        (struct bench_args){.dtype = dtype, .n = n, .value_bytes = value_bytes, .num_rows = runs};
    offsets.limit = n / runs;
    c.args.in = keys.out = bench_buffer(b, BENCH_SLOT_0, n * width);
    c.args.offsets = offsets.out = bench_buffer(b, BENCH_SLOT_4, (runs + 1) * 4);
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * width);
    c.outputs[0] = (struct bench_output){c.args.out, n * width};
    c.bytes = 2.0 * (double)(n * (width + value_bytes));
    b->backend->task(b, &keys);
    b->backend->task(b, &offsets);
    if (value_bytes) {
        c.args.values = values.out = bench_buffer(b, BENCH_SLOT_1, n * 4);
        c.args.out_values = bench_buffer(b, BENCH_SLOT_3, n * 4);
        c.outputs[1] = (struct bench_output){c.args.out_values, n * 4};
        b->backend->task(b, &values);
    }
    if (bench_status(b, gp_radix_sort_segmented(b->ctx, dtype, c.args.in, n, GP_U32, c.args.offsets,
                                                runs, keys.out, NULL)) == BENCH_OK)
        bench_measure(b, &c);
}

void bench_merge(struct bench *b)
{
    static const size_t runs[] = {2, 4, 16, 1024};
    int exponents[BENCH_SIZES];
    const int count = bench_sizes(b, b->backend == &bench_cpu ? 22 : 26, false, exponents);
    b->peers[b->num_peers++] = peers;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) {
            const size_t n = (size_t)1 << exponents[i];
            measure(b, GP_U32, 0, runs[k], n);
            measure(b, GP_U64, 0, runs[k], n);
            measure(b, GP_U32, 4, runs[k], n);
        }
    b->num_peers--;
}
