/* SPDX-License-Identifier: MIT */
/* Over index widths: coordinates to CSR over orders of the entries, filters, and columns sorted
 * within rows. */
#include "sparse.h"

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

static void make_outputs(struct bench *b, struct bench_case *c)
{
    struct bench_args *a = &c->args;
    const unsigned width = sparse_width(a);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_3, (a->num_rows + 1) * width);
    a->out = bench_buffer(b, BENCH_SLOT_4, a->n * width);
    a->out_values = bench_buffer(b, BENCH_SLOT_5, a->n * 4);
    a->count = bench_buffer(b, BENCH_SLOT_6, sizeof(uint64_t));
    c->outputs[0] = (struct bench_output){a->out_offsets, (a->num_rows + 1) * width};
}

static void *indices_of(struct bench *b, const struct bench_args *a, int slot, int kind,
                        uint64_t seed, uint64_t limit)
{
    return sparse_made(
        b, slot,
        (struct bench_task){
            .kind = kind, .n = a->n, .width = sparse_width(a), .seed = seed, .limit = limit});
}

static void *values_of(struct bench *b, size_t n)
{
    return sparse_made(b, BENCH_SLOT_2,
                       (struct bench_task){.kind = BENCH_FILL_SMALL, .n = n, .width = 4});
}

/* Rows and columns of the edges of a graph with 2^k >= n / 16 vertices, or of neighbours. */
static void make_places(struct bench *b, struct bench_args *a, enum order order)
{
    const bool edges = order == RMAT;
    struct bench_task t = {.n = a->n, .width = sparse_width(a), .seed = 7, .limit = 1};
    t.kind = edges ? BENCH_FILL_RMAT : BENCH_FILL_STENCIL;
    while (edges ? t.limit < a->n / 16 : t.limit * t.limit * t.limit < a->n / 27)
        t.limit += edges ? t.limit : 1;
    a->num_rows = a->num_cols = edges ? t.limit : (a->n + 26) / 27;
    a->rows = sparse_made(b, BENCH_SLOT_0, t);
    t.a = b; /* columns */
    a->cols = sparse_made(b, BENCH_SLOT_1, t);
}

static void coo_at(struct bench *b, const char *name, unsigned order, gp_dtype dtype, size_t n)
{
    struct bench_case c = sparse_case(name, run_coo, is_canonical);
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
    a->values = values_of(b, n);
    make_outputs(b, &c);
    /* Few entries of any place are the same; of few places all that is written is. */
    c.bytes = (double)(n * (2 * sparse_width(a) + 4) + (a->num_rows + 1) * sparse_width(a)) +
              (order == FEW_PLACES ? 0 : (double)(n * (sparse_width(a) + 4)));
    bench_measure(b, &c);
}

static void filter_at(struct bench *b, const char *name, unsigned order, gp_dtype dtype, size_t n)
{
    struct bench_case c = sparse_case(name, run_filter, is_canonical);
    struct bench_args *a = &c.args;
    (void)order;
    *a = (struct bench_args){.dtype = dtype, .n = n, .num_rows = (n + 15) / 16, .num_cols = n};
    a->offsets = sparse_pointers(b, a, BENCH_SLOT_0, 16);
    a->cols = indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, 0, 1);
    a->values = values_of(b, n);
    make_outputs(b, &c);
    c.bytes = 1.5 * (double)(n * (sparse_width(a) + 4)) +
              2.0 * (double)((a->num_rows + 1) * sparse_width(a));
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
    struct bench_case c = sparse_case(name, run_filter_list, is_list);
    struct bench_args *a = &c.args;
    (void)order;
    *a = (struct bench_args){.dtype = dtype, .n = n, .num_rows = (n + 15) / 16, .num_cols = n};
    a->rows = indices_of(b, a, BENCH_SLOT_0, BENCH_FILL_BLOCKS, 0, 16);
    a->cols = indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, 0, 1);
    a->values = values_of(b, n);
    make_outputs(b, &c);
    a->out_offsets = bench_buffer(b, BENCH_SLOT_3, n * sparse_width(a)); /* rows */
    c.outputs[0] = (struct bench_output){a->out, n * sparse_width(a)};
    c.bytes = 1.5 * (double)(n * (2 * sparse_width(a) + 4));
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
    struct bench_case c = sparse_case(name, run_sort_columns, is_sorted);
    struct bench_args *a = &c.args;
    *a =
        (struct bench_args){.dtype = dtype, .n = n, .num_rows = (n + row - 1) / row, .num_cols = n};
    a->offsets = sparse_pointers(b, a, BENCH_SLOT_0, row);
    a->cols = any      ? indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_SHUFFLED, 0, (uint64_t)1 << 20)
              : length ? indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, n - 1, UINT64_MAX)
                       : indices_of(b, a, BENCH_SLOT_1, BENCH_FILL_IOTA, 0, 1);
    a->values = values_of(b, n);
    make_outputs(b, &c);
    c.outputs[0] = (struct bench_output){a->out, n * sparse_width(a)};
    c.bytes =
        2.0 * (double)(n * (sparse_width(a) + 4)) + (double)((a->num_rows + 1) * sparse_width(a));
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

void sparse_conversions(struct bench *b, gp_dtype dtype)
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
