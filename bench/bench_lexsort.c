/* SPDX-License-Identifier: MIT */
/* Indices that sort (row, column) pairs: of u32 together in one word, of u64 in two sorts. */
#include "bench.h"
#include "bench_task.h"

static int run_lexsort(struct bench *b, const struct bench_args *a)
{
    return bench_status(b,
                        gp_lexsort(b->ctx, a->dtype, a->rows, a->cols, a->n, GP_U32, a->out, NULL));
}

/* A stable sort by column, then one by row. */
static int run_reference(struct bench *b, const struct bench_args *a)
{
    const size_t width = gp_dtype_bytes(a->dtype);
    uint32_t *by_col = bench_buffer(b, BENCH_SLOT_4, a->n * 4);
    char *rows = bench_buffer(b, BENCH_SLOT_5, 2 * a->n * width);
    int result = bench_status(b, gp_argsort(b->ctx, a->dtype, a->cols, a->n, GP_U32, by_col, NULL));
    if (result == BENCH_OK)
        result = bench_status(b, gp_gather(b->ctx, width, a->rows, GP_U32, by_col, a->n, rows));
    if (result != BENCH_OK)
        return result;
    return bench_status(b, gp_radix_sort_pairs(b->ctx, a->dtype, rows, 4, by_col, a->n,
                                               rows + a->n * width, a->out, NULL));
}

static void measure(struct bench *b, gp_dtype dtype, size_t n)
{
    const size_t width = gp_dtype_bytes(dtype);
    struct bench_case c = {.suite = "lexsort", .name = "indices", .run = run_lexsort};
    struct bench_task rows = {
        .kind = BENCH_FILL_BELOW, .n = n, .width = (unsigned)width, .seed = 1, .limit = n / 16 + 1};
    struct bench_task cols = rows;
    if (!bench_wanted(b, c.name, dtype))
        return;
    cols.seed = 2;
    c.args = (struct bench_args){.dtype = dtype, .n = n};
    c.args.rows = rows.out = bench_buffer(b, BENCH_SLOT_0, n * width);
    c.args.cols = cols.out = bench_buffer(b, BENCH_SLOT_1, n * width);
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * 4);
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    c.reference = run_reference;
    b->backend->task(b, &rows);
    b->backend->task(b, &cols);
    c.bytes = (double)(n * (2 * width + 4));
    bench_measure(b, &c);
}

void bench_lexsort(struct bench *b)
{
    int exponents[BENCH_SIZES];
    const int count = bench_sizes(b, b->backend == &bench_cpu ? 22 : 26, false, exponents);
    for (int i = 0; i < count; i++) {
        measure(b, GP_U32, (size_t)1 << exponents[i]);
        measure(b, GP_U64, (size_t)1 << exponents[i]);
    }
}
