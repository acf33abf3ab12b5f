/* SPDX-License-Identifier: MIT */
/*
 * Row pointers, rows of entries, which segment an item is of, checks, parts of the merge path: over
 * index widths, lengths of rows, and rows in order or not. Conversions are in conversions.c.
 */
#include "sparse.h"

static const size_t lengths[] = {4, 16, 64, 10000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* One choice; rows have `length` entries, 0: all are in one of n / 16. */
struct choice {
    const char *call;
    size_t length;
    bool shuffled; /* rows in any order, of `length` entries on average */
    bench_run run;
    bool (*check)(struct bench *b, const struct bench_case *c);
    void (*fill)(struct bench *b, const struct choice *k, struct bench_case *c);
};

unsigned sparse_width(const struct bench_args *a)
{
    return (unsigned)gp_dtype_bytes(a->dtype);
}

void *sparse_made(struct bench *b, int slot, struct bench_task t)
{
    t.out = bench_buffer(b, slot, t.n * t.width);
    b->backend->task(b, &t);
    return t.out;
}

void *sparse_pointers(struct bench *b, const struct bench_args *a, int slot, size_t length)
{
    const uint64_t end = a->n;
    char *pointers = sparse_made(b, slot,
                                 (struct bench_task){.kind = BENCH_FILL_IOTA,
                                                     .n = a->num_rows + 1,
                                                     .width = sparse_width(a),
                                                     .limit = length});
    bench_copy(b, &end, sparse_width(a), pointers + a->num_rows * sparse_width(a));
    return pointers;
}

struct bench_case sparse_case(const char *name, bench_run run,
                              bool (*check)(struct bench *, const struct bench_case *))
{
    return (struct bench_case){
        .suite = "breadth", .name = name, .run = run, .check = check, .seen = breadth_keep};
}

static bool are_equal(struct bench *b, const struct bench_args *a, const void *x, const void *y,
                      size_t n)
{
    struct bench_task equal = {
        .kind = BENCH_EQUAL, .n = n, .width = sparse_width(a), .out = (void *)x, .a = (void *)y};
    return bench_count_bad(b, &equal) == 0;
}

/* ---- row pointers ---------------------------------------------------------------------------- */

static int run_pointers(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_csr_row_pointers(b->ctx, a->dtype, a->rows, a->n, a->num_rows,
                                               a->dtype, a->out_offsets));
}

static int run_unsorted(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_csr_row_pointers_unsorted(b->ctx, a->dtype, a->rows, a->n,
                                                        a->num_rows, a->dtype, a->out_offsets));
}

static void fill_rows(struct bench *b, const struct choice *k, struct bench_case *c)
{
    struct bench_args *a = &c->args;
    struct bench_task rows = {.kind = k->shuffled ? BENCH_FILL_BELOW : BENCH_FILL_BLOCKS,
                              .n = a->n,
                              .width = sparse_width(a),
                              .seed = 1,
                              .limit = k->length ? k->length : a->n};
    a->num_rows = k->length ? (a->n + k->length - 1) / k->length : a->n / 16;
    if (k->shuffled)
        rows.limit = a->num_rows;
    a->rows = sparse_made(b, BENCH_SLOT_0, rows);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_1, (a->num_rows + 1) * sparse_width(a));
    c->bytes = (double)((a->n + a->num_rows + 1) * sparse_width(a));
}

/* Those of the sorted rows, each found by a search. */
static bool are_pointers(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    void *sorted = bench_buffer(b, BENCH_SLOT_2, a->n * sparse_width(a));
    void *numbers = sparse_made(
        b, BENCH_SLOT_3,
        (struct bench_task){
            .kind = BENCH_FILL_IOTA, .n = a->num_rows + 1, .width = sparse_width(a), .limit = 1});
    void *expected = bench_buffer(b, BENCH_SLOT_4, (a->num_rows + 1) * sparse_width(a));
    return !bench_status(b, gp_radix_sort(b->ctx, a->dtype, a->rows, a->n, sorted, NULL)) &&
           !bench_status(b, gp_lower_bound(b->ctx, a->dtype, sorted, a->n, numbers, a->num_rows + 1,
                                           a->dtype, expected)) &&
           are_equal(b, a, expected, a->out_offsets, a->num_rows + 1);
}

/* ---- rows of entries, segments of items ------------------------------------------------------ */

static int run_to_coo(struct bench *b, const struct bench_args *a)
{
    return bench_status(
        b, gp_csr_to_coo(b->ctx, a->dtype, a->offsets, a->num_rows, a->n, a->dtype, a->out));
}

static int run_search(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_balance_search(b->ctx, a->dtype, a->offsets, a->num_rows, a->n,
                                             GP_U32, a->out, a->out_values));
}

/* Segments alone, with a plan in a->values. */
static int run_planned(struct bench *b, const struct bench_args *a)
{
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    d.offset_dtype = d.index_dtype = a->dtype;
    d.plan = a->values;
    return bench_status(
        b, gp_balance_search_by(b->ctx, &d, a->offsets, a->num_rows, a->n, a->out, NULL));
}

static void *plan_of(struct bench *b, const struct bench_args *a)
{
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    size_t bytes = 0;
    d.offset_dtype = a->dtype;
    if (bench_status(b, gp_balance_plan_bytes(NULL, &d, a->num_rows, a->n, &bytes)))
        return NULL;
    void *plan = bench_buffer(b, BENCH_SLOT_4, bytes);
    bench_status(b, gp_balance_plan(b->ctx, &d, a->offsets, a->num_rows, a->n, plan));
    return plan;
}

static void fill_pointers(struct bench *b, const struct choice *k, struct bench_case *c)
{
    struct bench_args *a = &c->args;
    const unsigned out = k->run == run_search ? 4 : sparse_width(a);
    const size_t length = k->length ? k->length : a->n;
    a->num_rows = k->length ? (a->n + k->length - 1) / k->length : a->n / 16;
    a->offsets = sparse_pointers(b, a, BENCH_SLOT_0, length);
    a->values = k->run == run_planned ? plan_of(b, a) : NULL;
    a->out = bench_buffer(b, BENCH_SLOT_1, a->n * out);
    a->out_values = bench_buffer(b, BENCH_SLOT_2, k->run == run_search ? a->n * out : 1);
    c->bytes = (double)((a->num_rows + 1) * sparse_width(a)) +
               (double)(a->n * out * (k->run == run_search ? 2 : 1));
}

static bool are_rows(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    const unsigned out = c->run == run_search ? 4 : sparse_width(a);
    struct bench_args as = *a;
    as.dtype = out == 8 ? GP_I64 : GP_I32;
    const size_t length = a->bins ? a->bins : a->n;
    void *rows = sparse_made(
        b, BENCH_SLOT_3,
        (struct bench_task){.kind = BENCH_FILL_BLOCKS, .n = a->n, .width = out, .limit = length});
    return are_equal(b, &as, rows, a->out, a->n);
}

/* ---- checks, partition ----------------------------------------------------------------------- */

static gp_status check_csr(struct bench *b, const struct bench_args *a, size_t num_cols)
{
    return gp_check_csr(b->ctx, a->dtype, a->dtype, a->num_rows, num_cols, a->n, a->offsets,
                        a->cols);
}

static gp_status check_coo(struct bench *b, const struct bench_args *a, size_t num_cols)
{
    return gp_check_coo(b->ctx, a->dtype, a->num_rows, num_cols, a->rows, a->cols, a->n,
                        GP_COO_CANONICAL);
}

static int run_check_csr(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, check_csr(b, a, a->n));
}

static int run_check_coo(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, check_coo(b, a, a->n));
}

/* The last column is out of range where there is one less. */
static bool finds_last(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    return (a->rows ? check_coo : check_csr)(b, a, a->n - 1) == GP_ERROR_DATA;
}

static void fill_checked(struct bench *b, const struct choice *k, struct bench_case *c)
{
    struct bench_args *a = &c->args;
    const bool list = k->run == run_check_coo;
    struct bench_task t = {
        .kind = BENCH_FILL_IOTA, .n = a->n, .width = sparse_width(a), .limit = 1};
    a->num_rows = (a->n + k->length - 1) / k->length;
    a->cols = sparse_made(b, BENCH_SLOT_1, t);
    t.kind = BENCH_FILL_BLOCKS;
    t.limit = k->length;
    if (list)
        a->rows = sparse_made(b, BENCH_SLOT_0, t);
    else
        a->offsets = sparse_pointers(b, a, BENCH_SLOT_0, k->length);
    c->ideal = BENCH_READ;
    c->bytes = (double)((a->n + (list ? a->n : a->num_rows + 1)) * sparse_width(a));
}

enum { PART_UNITS = 256, LINE_BYTES = 64 };

static size_t parts_of(const struct bench_args *a)
{
    return (a->n + a->num_rows) / PART_UNITS + 1;
}

static int run_partition(struct bench *b, const struct bench_args *a)
{
    return bench_status(b, gp_merge_path_partition(b->ctx, a->dtype, a->offsets, a->num_rows, a->n,
                                                   parts_of(a), a->out, a->out_offsets));
}

/* Each part has a line of pointers to read. */
static void fill_partition(struct bench *b, const struct choice *k, struct bench_case *c)
{
    struct bench_args *a = &c->args;
    a->num_rows = (a->n + k->length - 1) / k->length;
    const size_t bytes = (parts_of(a) + 1) * sparse_width(a);
    a->offsets = sparse_pointers(b, a, BENCH_SLOT_0, k->length);
    a->out = bench_buffer(b, BENCH_SLOT_1, bytes);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_2, bytes);
    c->bytes = (double)(2 * bytes + parts_of(a) * LINE_BYTES);
}

/* Rows are alike: both starts of a part follow from its number. */
static bool are_parts(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    const size_t parts = parts_of(a), w = sparse_width(a), units = a->n + a->num_rows;
    const size_t share = (units + parts - 1) / parts, length = a->bins;
    for (size_t p = 0; p <= parts; p += parts / 64 + 1) {
        uint64_t row = 0, nnz = 0;
        const size_t at = p * share < units ? p * share : units, rows = at / (length + 1);
        bench_copy(b, (const char *)a->out + p * w, w, &row);
        bench_copy(b, (const char *)a->out_offsets + p * w, w, &nnz);
        if (row + nnz != at || (at < units && row != rows))
            return false;
    }
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void measure_at(struct bench *b, const struct choice *k, const char *name, gp_dtype dtype,
                       size_t n)
{
    struct bench_case c = sparse_case(name, k->run, k->check);
    c.args = (struct bench_args){.dtype = dtype, .n = n, .bins = k->length};
    k->fill(b, k, &c);
    bench_measure(b, &c);
}

static void measure(struct bench *b, const struct choice *k, gp_dtype dtype)
{
    char name[BREADTH_NAME];
    if (k->length)
        snprintf(name, sizeof name, "%s_%zu%s", k->call, k->length, k->shuffled ? "_random" : "");
    else
        snprintf(name, sizeof name, "%s_one", k->call);
    if (!bench_wanted(b, name, dtype))
        return;
    if (b->options.num_exponents == 0) {
        measure_at(b, k, name, dtype, breadth_bytes(b) / gp_dtype_bytes(dtype));
        if (!b->options.quick)
            measure_at(b, k, name, dtype, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        measure_at(b, k, name, dtype, (size_t)1 << b->options.exponents[i]);
}

void breadth_sparse(struct bench *b)
{
    static const struct choice calls[] = {
        {"row_pointers", 0, false, run_pointers, are_pointers, fill_rows},
        {"row_pointers_unsorted", 0, false, run_unsorted, are_pointers, fill_rows},
        {"row_pointers_unsorted", 0, true, run_unsorted, are_pointers, fill_rows},
        {"csr_to_coo", 0, false, run_to_coo, are_rows, fill_pointers},
        {"csr_to_coo_planned", 0, false, run_planned, are_rows, fill_pointers},
        {"balance_ranks", 0, false, run_search, are_rows, fill_pointers},
        {"check_csr", 0, false, run_check_csr, finds_last, fill_checked},
        {"check_coo", 0, false, run_check_coo, finds_last, fill_checked},
        {"merge_path", 0, false, run_partition, are_parts, fill_partition},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int d = 0; d < 2; d++) {
            struct choice k = calls[i];
            for (int l = 0; l < LENGTHS; l++) {
                k.length = lengths[l];
                measure(b, &k, d ? GP_I64 : GP_I32);
            }
            k.length = 0;
            if (!k.shuffled && k.fill == fill_rows)
                measure(b, &k, d ? GP_I64 : GP_I32);
        }
    sparse_conversions(b, GP_I32);
    sparse_conversions(b, GP_I64);
}
