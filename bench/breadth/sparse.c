/* SPDX-License-Identifier: MIT */
/*
 * Row pointers, rows of entries, and which segment an item is of: over index widths, lengths of
 * rows, and rows in order or not. Coordinates to CSR over orders of the entries, filters, and
 * columns sorted within rows.
 */
#include "breadth.h"

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

static unsigned width_of(const struct bench_args *a)
{
    return (unsigned)gp_dtype_bytes(a->dtype);
}

static void *made(struct bench *b, int slot, struct bench_task t)
{
    t.out = bench_buffer(b, slot, t.n * t.width);
    b->backend->task(b, &t);
    return t.out;
}

/* Row pointers of rows that are alike, the last one shorter. */
static void *even_pointers(struct bench *b, const struct bench_args *a, int slot, size_t length)
{
    const uint64_t end = a->n;
    char *pointers = made(
        b, slot,
        (struct bench_task){
            .kind = BENCH_FILL_IOTA, .n = a->num_rows + 1, .width = width_of(a), .limit = length});
    bench_copy(b, &end, width_of(a), pointers + a->num_rows * width_of(a));
    return pointers;
}

static bool are_equal(struct bench *b, const struct bench_args *a, const void *x, const void *y,
                      size_t n)
{
    struct bench_task equal = {
        .kind = BENCH_EQUAL, .n = n, .width = width_of(a), .out = (void *)x, .a = (void *)y};
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
                              .width = width_of(a),
                              .seed = 1,
                              .limit = k->length ? k->length : a->n};
    a->num_rows = k->length ? (a->n + k->length - 1) / k->length : a->n / 16;
    if (k->shuffled)
        rows.limit = a->num_rows;
    a->rows = made(b, BENCH_SLOT_0, rows);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_1, (a->num_rows + 1) * width_of(a));
    c->bytes = (double)((a->n + a->num_rows + 1) * width_of(a));
}

/* Those of the sorted rows, each found by a search. */
static bool are_pointers(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    void *sorted = bench_buffer(b, BENCH_SLOT_2, a->n * width_of(a));
    void *numbers =
        made(b, BENCH_SLOT_3,
             (struct bench_task){
                 .kind = BENCH_FILL_IOTA, .n = a->num_rows + 1, .width = width_of(a), .limit = 1});
    void *expected = bench_buffer(b, BENCH_SLOT_4, (a->num_rows + 1) * width_of(a));
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
    const unsigned out = k->run == run_search ? 4 : width_of(a);
    const size_t length = k->length ? k->length : a->n;
    a->num_rows = k->length ? (a->n + k->length - 1) / k->length : a->n / 16;
    a->offsets = even_pointers(b, a, BENCH_SLOT_0, length);
    a->values = k->run == run_planned ? plan_of(b, a) : NULL;
    a->out = bench_buffer(b, BENCH_SLOT_1, a->n * out);
    a->out_values = bench_buffer(b, BENCH_SLOT_2, k->run == run_search ? a->n * out : 1);
    c->bytes = (double)((a->num_rows + 1) * width_of(a)) +
               (double)(a->n * out * (k->run == run_search ? 2 : 1));
}

static bool are_rows(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    const unsigned out = c->run == run_search ? 4 : width_of(a);
    struct bench_args as = *a;
    as.dtype = out == 8 ? GP_I64 : GP_I32;
    const size_t length = a->bins ? a->bins : a->n;
    void *rows = made(
        b, BENCH_SLOT_3,
        (struct bench_task){.kind = BENCH_FILL_BLOCKS, .n = a->n, .width = out, .limit = length});
    return are_equal(b, &as, rows, a->out, a->n);
}

/* ---- coordinates to CSR, and what is kept of it ---------------------------------------------- */

/* How entries lie: in order, from last to first, anywhere, in one row, in few places, rows in order
 * and columns anywhere, as the edges of a graph, as the neighbours in a cube. */
enum order { SORTED, REVERSED, UNIFORM, ONE_ROW, FEW_PLACES, ROWS_SORTED, RMAT, STENCIL, ORDERS };
static const char *const orders[ORDERS] = {"sorted",     "reversed",    "uniform", "one_row",
                                           "few_places", "rows_sorted", "rmat",    "stencil"};

static int run_coo(struct bench *b, const struct bench_args *a)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = d.offset_dtype = a->dtype;
    return bench_status(b, gp_csr_from_coo(b->ctx, &d, a->num_rows, a->num_cols, a->rows, a->cols,
                                           a->values, a->n, a->out_offsets, a->out, a->out_values,
                                           a->count));
}

/* Half of the values are below 2.5. */
static gp_csr_filter_desc half_of(const struct bench_args *a)
{
    static const float middle = 2.5f;
    gp_csr_filter_desc d = GP_CSR_FILTER_DESC_INIT;
    d.index_dtype = d.offset_dtype = a->dtype;
    d.entries = GP_ENTRIES_COMPARED;
    d.compare = GP_LT;
    d.value = &middle;
    return d;
}

static int run_filter(struct bench *b, const struct bench_args *a)
{
    const gp_csr_filter_desc d = half_of(a);
    return bench_status(b, gp_csr_filter(b->ctx, &d, a->num_rows, a->num_cols, a->n, a->offsets,
                                         a->cols, a->values, a->out_offsets, a->out, a->out_values,
                                         a->count));
}

static int run_filter_list(struct bench *b, const struct bench_args *a)
{
    const gp_csr_filter_desc d = half_of(a);
    return bench_status(b, gp_coo_filter(b->ctx, &d, a->num_rows, a->num_cols, a->rows, a->cols,
                                         a->values, a->n, a->out_offsets, a->out, a->out_values,
                                         a->count));
}

static int run_sort_columns(struct bench *b, const struct bench_args *a)
{
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = d.offset_dtype = a->dtype;
    return bench_status(b,
                        gp_csr_sort_columns(b->ctx, &d, a->num_rows, a->num_cols, a->n, a->offsets,
                                            a->cols, a->values, a->out, a->out_values));
}

static bool is_canonical(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    uint64_t nnz = 0;
    bench_copy(b, a->count, sizeof nnz, &nnz);
    return nnz && nnz <= a->n &&
           !bench_status(b, gp_check_csr(b->ctx, a->dtype, a->dtype, a->num_rows, a->num_cols, nnz,
                                         a->out_offsets, a->out));
}

static struct bench_case case_of(const char *name, bench_run run,
                                 bool (*check)(struct bench *, const struct bench_case *))
{
    return (struct bench_case){
        .suite = "breadth", .name = name, .run = run, .check = check, .seen = breadth_keep};
}

static void make_outputs(struct bench *b, struct bench_case *c)
{
    struct bench_args *a = &c->args;
    const unsigned width = width_of(a);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_3, (a->num_rows + 1) * width);
    a->out = bench_buffer(b, BENCH_SLOT_4, a->n * width);
    a->out_values = bench_buffer(b, BENCH_SLOT_5, a->n * 4);
    a->count = bench_buffer(b, BENCH_SLOT_6, sizeof(uint64_t));
    c->outputs[0] = (struct bench_output){a->out_offsets, (a->num_rows + 1) * width};
}

static void *indices_of(struct bench *b, const struct bench_args *a, int slot, int kind,
                        uint64_t seed, uint64_t limit)
{
    return made(b, slot,
                (struct bench_task){
                    .kind = kind, .n = a->n, .width = width_of(a), .seed = seed, .limit = limit});
}

/* Rows and columns of the edges of a graph with 2^k >= n / 16 vertices, or of neighbours. */
static void make_places(struct bench *b, struct bench_args *a, enum order order)
{
    const bool edges = order == RMAT;
    struct bench_task t = {.n = a->n, .width = width_of(a), .seed = 7, .limit = 1};
    t.kind = edges ? BENCH_FILL_RMAT : BENCH_FILL_STENCIL;
    while (edges ? t.limit < a->n / 16 : t.limit * t.limit * t.limit < a->n / 27)
        t.limit += edges ? t.limit : 1;
    a->num_rows = a->num_cols = edges ? t.limit : (a->n + 26) / 27;
    a->rows = made(b, BENCH_SLOT_0, t);
    t.a = b; /* columns */
    a->cols = made(b, BENCH_SLOT_1, t);
}

static void coo_at(struct bench *b, const char *name, unsigned order, gp_dtype dtype, size_t n)
{
    struct bench_case c = case_of(name, run_coo, is_canonical);
    struct bench_args *a = &c.args;
    const bool any = order == UNIFORM || order == ONE_ROW || order == ROWS_SORTED;
    *a = (struct bench_args){.dtype = dtype, .n = n, .num_rows = n, .num_cols = n};
    a->num_rows = order == ONE_ROW ? 1 : order == REVERSED ? n : order == FEW_PLACES ? 100 : n / 16;
    a->num_cols = order == FEW_PLACES ? 100 : n;
    a->rows = order == SORTED || order == ROWS_SORTED
                  ? indices_of(b, a, BENCH_SLOT_0, BENCH_FILL_BLOCKS, 0, 16)
              : order == REVERSED
                  ? indices_of(b, a, BENCH_SLOT_0, BENCH_FILL_IOTA, n - 1, UINT64_MAX)
                  : indices_of(b, a, BENCH_SLOT_0, BENCH_FILL_BELOW, 1, a->num_rows);
    a->cols = any || order == FEW_PLACES
                  ? indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_BELOW, 2, a->num_cols)
                  : indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, 0, 1);
    if (order >= RMAT)
        make_places(b, a, order);
    a->values =
        made(b, BENCH_SLOT_2, (struct bench_task){.kind = BENCH_FILL_SMALL, .n = n, .width = 4});
    make_outputs(b, &c);
    /* Few entries of any place are the same; of few places all that is written is. */
    c.bytes = (double)(n * (2 * width_of(a) + 4) + (a->num_rows + 1) * width_of(a)) +
              (order == FEW_PLACES ? 0 : (double)(n * (width_of(a) + 4)));
    bench_measure(b, &c);
}

static void filter_at(struct bench *b, const char *name, unsigned order, gp_dtype dtype, size_t n)
{
    struct bench_case c = case_of(name, run_filter, is_canonical);
    struct bench_args *a = &c.args;
    (void)order;
    *a = (struct bench_args){.dtype = dtype, .n = n, .num_rows = (n + 15) / 16, .num_cols = n};
    a->offsets = even_pointers(b, a, BENCH_SLOT_0, 16);
    a->cols = indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, 0, 1);
    a->values =
        made(b, BENCH_SLOT_2, (struct bench_task){.kind = BENCH_FILL_SMALL, .n = n, .width = 4});
    make_outputs(b, &c);
    c.bytes =
        1.5 * (double)(n * (width_of(a) + 4)) + 2.0 * (double)((a->num_rows + 1) * width_of(a));
    bench_measure(b, &c);
}

static bool is_list(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    uint64_t nnz = 0;
    bench_copy(b, a->count, sizeof nnz, &nnz);
    return nnz && nnz < a->n &&
           !bench_status(b, gp_check_coo(b->ctx, a->dtype, a->num_rows, a->num_cols, a->out_offsets,
                                         a->out, nnz, GP_COO_CANONICAL));
}

static void filter_list_at(struct bench *b, const char *name, unsigned order, gp_dtype dtype,
                           size_t n)
{
    struct bench_case c = case_of(name, run_filter_list, is_list);
    struct bench_args *a = &c.args;
    (void)order;
    *a = (struct bench_args){.dtype = dtype, .n = n, .num_rows = (n + 15) / 16, .num_cols = n};
    a->rows = indices_of(b, a, BENCH_SLOT_0, BENCH_FILL_BLOCKS, 0, 16);
    a->cols = indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, 0, 1);
    a->values =
        made(b, BENCH_SLOT_2, (struct bench_task){.kind = BENCH_FILL_SMALL, .n = n, .width = 4});
    make_outputs(b, &c);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_3, n * width_of(a)); /* rows */
    c.outputs[0] = (struct bench_output){a->out, n * width_of(a)};
    c.bytes = 1.5 * (double)(n * (2 * width_of(a) + 4));
    bench_measure(b, &c);
}

static bool is_sorted(struct bench *b, const struct bench_case *c)
{
    const struct bench_args *a = &c->args;
    return !bench_status(b, gp_check_csr(b->ctx, a->dtype, a->dtype, a->num_rows, a->num_cols, a->n,
                                         a->offsets, a->out));
}

/* Added to a length of rows: columns in any order. */
enum { ANY_COLUMNS = 1 << 20 };

/* Rows of `length` columns that descend; without a length, of 16 that ascend. */
static void columns_at(struct bench *b, const char *name, unsigned length, gp_dtype dtype, size_t n)
{
    const bool any = length & ANY_COLUMNS;
    const size_t row = length ? length % ANY_COLUMNS : 16;
    struct bench_case c = case_of(name, run_sort_columns, is_sorted);
    struct bench_args *a = &c.args;
    *a =
        (struct bench_args){.dtype = dtype, .n = n, .num_rows = (n + row - 1) / row, .num_cols = n};
    a->offsets = even_pointers(b, a, BENCH_SLOT_0, row);
    a->cols = any      ? indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_SHUFFLED, 0, (uint64_t)1 << 20)
              : length ? indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, n - 1, UINT64_MAX)
                       : indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, 0, 1);
    a->values =
        made(b, BENCH_SLOT_2, (struct bench_task){.kind = BENCH_FILL_SMALL, .n = n, .width = 4});
    make_outputs(b, &c);
    c.outputs[0] = (struct bench_output){a->out, n * width_of(a)};
    c.bytes = 2.0 * (double)(n * (width_of(a) + 4)) + (double)((a->num_rows + 1) * width_of(a));
    bench_measure(b, &c);
}

/* A conversion has several arrays, and scratch as large. how: an order, or a length of rows. */
static void each_size(struct bench *b, const char *name, unsigned how, gp_dtype dtype,
                      void (*at)(struct bench *, const char *, unsigned, gp_dtype, size_t))
{
    if (!bench_wanted(b, name, dtype))
        return;
    if (b->options.num_exponents == 0) {
        at(b, name, how, dtype, breadth_bytes(b) / 4 / gp_dtype_bytes(dtype));
        if (!b->options.quick)
            at(b, name, how, dtype, (size_t)1 << 20);
    }
    for (int i = 0; i < b->options.num_exponents; i++)
        at(b, name, how, dtype, (size_t)1 << b->options.exponents[i]);
}

static void conversions(struct bench *b, gp_dtype dtype)
{
    static const unsigned row_lengths[] = {4, 16, 64, 100, 250, 1000, 2000, 10000};
    char name[BREADTH_NAME];
    for (int order = 0; order < ORDERS; order++) {
        snprintf(name, sizeof name, "coo_to_csr_%s", orders[order]);
        each_size(b, name, (unsigned)order, dtype, coo_at);
    }
    each_size(b, "csr_filter_half", SORTED, dtype, filter_at);
    each_size(b, "coo_filter_half", SORTED, dtype, filter_list_at);
    each_size(b, "sort_columns_sorted", 0, dtype, columns_at);
    each_size(b, "sort_columns_reversed", 16, dtype, columns_at);
    for (size_t i = 0; i < sizeof row_lengths / sizeof *row_lengths; i++) {
        snprintf(name, sizeof name, "sort_columns_reversed_%u", row_lengths[i]);
        each_size(b, name, row_lengths[i], dtype, columns_at);
        snprintf(name, sizeof name, "sort_columns_random_%u", row_lengths[i]);
        each_size(b, name, row_lengths[i] | ANY_COLUMNS, dtype, columns_at);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void measure_at(struct bench *b, const struct choice *k, const char *name, gp_dtype dtype,
                       size_t n)
{
    struct bench_case c = case_of(name, k->run, k->check);
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
    conversions(b, GP_I32);
    conversions(b, GP_I64);
}
