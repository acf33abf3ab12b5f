/* SPDX-License-Identifier: MIT */
/* Indices that sort (row, column) pairs, and keys of three parts; records by a field. The peers are
 * other calls of gp with the same result: a sort for each number, by gp or by CUB; keys and
 * positions, then a gather of the records. */
#include <string.h>

#include "bench.h"
#include "bench_task.h"

static int run_lexsort(struct bench *b, const struct bench_args *a)
{
    return bench_status(b,
                        gp_lexsort(b->ctx, a->dtype, a->rows, a->cols, a->n, GP_U32, a->out, NULL));
}

/* A stable sort by column, then one by row. */
static int sorts_in_turn(struct bench *b, const struct bench_args *a, gp_algorithm algorithm)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.algorithm = algorithm;
    const size_t width = gp_dtype_bytes(a->dtype);
    uint32_t *by_col = bench_buffer(b, BENCH_SLOT_4, a->n * 4);
    char *rows = bench_buffer(b, BENCH_SLOT_5, 2 * a->n * width);
    int result = bench_status(b, gp_argsort(b->ctx, a->dtype, a->cols, a->n, GP_U32, by_col, &o));
    if (result == BENCH_OK)
        result = bench_status(b, gp_gather(b->ctx, width, a->rows, GP_U32, by_col, a->n, rows));
    if (result != BENCH_OK)
        return result;
    return bench_status(b, gp_radix_sort_pairs(b->ctx, a->dtype, rows, 4, by_col, a->n,
                                               rows + a->n * width, a->out, &o));
}

static int run_reference(struct bench *b, const struct bench_args *a)
{
    return sorts_in_turn(b, a, GP_ALGORITHM_AUTO);
}

static int run_cub(struct bench *b, const struct bench_args *a)
{
    return sorts_in_turn(b, a, GP_ALGORITHM_CUB);
}

/* Three parts, of which the last is rows once more. */
static int run_three(struct bench *b, const struct bench_args *a)
{
    const size_t width = gp_dtype_bytes(a->dtype);
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    d.index_dtype = GP_U32;
    d.num_parts = 3;
    d.parts[0] = (gp_key_part){a->flags, 1, GP_U8, GP_DESCENDING};
    d.parts[1] = (gp_key_part){a->cols, width, a->dtype, GP_ASCENDING};
    d.parts[2] = (gp_key_part){a->rows, width, a->dtype, GP_ASCENDING};
    return bench_status(b, gp_lexsort_by(b->ctx, &d, a->n, a->out));
}

static int run_three_sorts(struct bench *b, const struct bench_args *a)
{
    const size_t width = gp_dtype_bytes(a->dtype);
    uint32_t *first = bench_buffer(b, BENCH_SLOT_4, a->n * 4);
    uint32_t *second = bench_buffer(b, BENCH_SLOT_6, a->n * 4);
    char *keys = bench_buffer(b, BENCH_SLOT_5, 2 * a->n * width);
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = GP_DESCENDING;
    gp_status s = gp_argsort(b->ctx, a->dtype, a->rows, a->n, GP_U32, first, NULL);
    if (s == GP_OK)
        s = gp_gather(b->ctx, width, a->cols, GP_U32, first, a->n, keys);
    if (s == GP_OK)
        s = gp_radix_sort_pairs(b->ctx, a->dtype, keys, 4, first, a->n, keys + a->n * width, second,
                                NULL);
    if (s == GP_OK)
        s = gp_gather(b->ctx, 1, a->flags, GP_U32, second, a->n, keys);
    if (s == GP_OK)
        s = gp_radix_sort_pairs(b->ctx, GP_U8, keys, 4, second, a->n, keys + a->n * width, a->out,
                                &o);
    return bench_status(b, s);
}

/* How rows and columns are spread. */
enum spread { SPREAD_BELOW, SPREAD_ANY, SPREAD_REPEATS };

static void fill(struct bench *b, enum spread spread, bool rows, size_t n, unsigned width,
                 void *out)
{
    struct bench_task t = {.kind = BENCH_FILL_BELOW, .n = n, .width = width, .seed = 2 - rows};
    t.limit = n / 16 + 1;
    t.out = out;
    if (spread == SPREAD_ANY || (spread == SPREAD_REPEATS && !rows)) {
        t.kind = BENCH_FILL_BITS;
        t.limit = 0;
    } else if (spread == SPREAD_REPEATS) { /* some thousand different ones, far apart */
        t.kind = BENCH_FILL_SPREAD;
        t.limit = BENCH_HASHED_IDS;
        t.args.dtype = width == 4 ? GP_U32 : GP_U64;
    }
    b->backend->task(b, &t);
}

static void measure(struct bench *b, const char *name, enum spread spread, gp_dtype dtype, size_t n)
{
    const size_t width = gp_dtype_bytes(dtype);
    const bool three = strcmp(name, "three_parts") == 0;
    struct bench_case c = {
        .suite = "lexsort", .name = name, .run = three ? run_three : run_lexsort};
    if (!bench_wanted(b, c.name, dtype))
        return;
    c.args = (struct bench_args){.dtype = dtype, .n = n};
    c.args.rows = bench_buffer(b, BENCH_SLOT_0, n * width);
    c.args.cols = bench_buffer(b, BENCH_SLOT_1, n * width);
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * 4);
    c.args.flags = bench_buffer(b, BENCH_SLOT_3, n);
    c.outputs[0] = (struct bench_output){c.args.out, n * 4};
    fill(b, spread, true, n, (unsigned)width, (void *)c.args.rows);
    fill(b, spread, false, n, (unsigned)width, (void *)c.args.cols);
    fill(b, SPREAD_ANY, true, n, 1, (void *)c.args.flags);
    c.bytes = (double)(n * (2 * width + 4 + three));
    bench_measure(b, &c);
}

/* ---- records --------------------------------------------------------------------------------- */

/* bound: the offset of the field. */
static int run_records(struct bench *b, const struct bench_args *a)
{
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    d.record_bytes = a->value_bytes;
    d.num_fields = 1;
    d.fields[0] = (gp_record_field){a->bound, a->dtype, GP_ASCENDING};
    return bench_status(b, gp_record_sort(b->ctx, &d, a->in, a->n, a->out));
}

/* The fields collected, their order, and the records by it. */
static int run_keys_and_positions(struct bench *b, const struct bench_args *a)
{
    const size_t width = gp_dtype_bytes(a->dtype);
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    void *keys = bench_buffer(b, BENCH_SLOT_4, a->n * width);
    uint32_t *order = bench_buffer(b, BENCH_SLOT_5, a->n * 4);
    d.item_bytes = width;
    d.in_stride = a->value_bytes;
    gp_status s = gp_gather_by(b->ctx, &d, (const char *)a->in + a->bound, NULL, a->n, keys);
    if (s == GP_OK)
        s = gp_argsort(b->ctx, a->dtype, keys, a->n, GP_U32, order, NULL);
    if (s == GP_OK)
        s = gp_gather(b->ctx, a->value_bytes, a->in, GP_U32, order, a->n, a->out);
    return bench_status(b, s);
}

static void measure_records(struct bench *b, const char *name, size_t bytes, size_t offset,
                            gp_dtype dtype, size_t n)
{
    struct bench_case c = {.suite = "lexsort", .name = name, .run = run_records};
    struct bench_task words = {.kind = BENCH_FILL_BITS, .n = n * bytes / 4, .width = 4, .seed = 1};
    if (!bench_wanted(b, name, dtype))
        return;
    c.args = (struct bench_args){.dtype = dtype, .n = n, .value_bytes = bytes, .bound = offset};
    c.args.in = words.out = bench_buffer(b, BENCH_SLOT_0, n * bytes);
    c.args.out = bench_buffer(b, BENCH_SLOT_2, n * bytes);
    c.outputs[0] = (struct bench_output){c.args.out, n * bytes};
    c.bytes = (double)(n * 2 * bytes);
    b->backend->task(b, &words);
    bench_measure(b, &c);
}

static const struct bench_peer peers[] = {
    {"gp_sorts_in_turn", "lexsort", "indices", (gp_dtype)0, NULL, run_reference, false},
    {"gp_sorts_in_turn", "lexsort", "indices_any", (gp_dtype)0, NULL, run_reference, false},
    {"gp_sorts_in_turn", "lexsort", "indices_repeats", (gp_dtype)0, NULL, run_reference, false},
    {"gp_sorts_in_turn", "lexsort", "three_parts", (gp_dtype)0, NULL, run_three_sorts, false},
    {"gp_keys_positions", "lexsort", "records_12", (gp_dtype)0, NULL, run_keys_and_positions,
     false},
    {"gp_keys_positions", "lexsort", "records_24", (gp_dtype)0, NULL, run_keys_and_positions,
     false},
    {"gp_keys_positions", "lexsort", "records_100", (gp_dtype)0, NULL, run_keys_and_positions,
     false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false}};

static const struct bench_peer cub_peers[] = {
    {"cub_sorts_in_turn", "lexsort", "indices", (gp_dtype)0, NULL, run_cub, false},
    {"cub_sorts_in_turn", "lexsort", "indices_any", (gp_dtype)0, NULL, run_cub, false},
    {"cub_sorts_in_turn", "lexsort", "indices_repeats", (gp_dtype)0, NULL, run_cub, false},
    {NULL, NULL, NULL, (gp_dtype)0, NULL, NULL, false}};

void bench_lexsort(struct bench *b)
{
    int exponents[BENCH_SIZES];
    const int count = bench_sizes(b, b->backend == &bench_cpu ? 22 : 26, false, exponents);
    const int others = b->num_peers;
    b->peers[b->num_peers++] = peers;
    if (b->backend != &bench_cpu)
        b->peers[b->num_peers++] = cub_peers;
    for (int i = 0; i < count; i++) {
        const size_t n = (size_t)1 << exponents[i];
        measure(b, "indices", SPREAD_BELOW, GP_U32, n);
        measure(b, "indices", SPREAD_BELOW, GP_U64, n);
        measure(b, "indices_any", SPREAD_ANY, GP_U64, n);
        measure(b, "indices_repeats", SPREAD_REPEATS, GP_U64, n);
        measure(b, "three_parts", SPREAD_BELOW, GP_U32, n);
        measure(b, "three_parts", SPREAD_ANY, GP_U64, n);
        measure_records(b, "records_12", 12, 4, GP_U32, n);
        measure_records(b, "records_24", 24, 8, GP_U64, n);
        measure_records(b, "records_100", 100, 40, GP_F32, n / 4);
    }
    b->num_peers = others;
}
