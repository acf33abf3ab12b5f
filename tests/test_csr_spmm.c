/* SPDX-License-Identifier: MIT */
/* SpMM: each column beside the serial loop of SpMV. */
#include <gp/spmm.h>

#include "spmv_cases.h"

/* How X and Y lie. */
struct shape {
    size_t columns;
    gp_layout layout;
    size_t x_more, y_more; /* of the strides; 0: the descriptor's 0 */
};

static gp_spmm_desc spmm_desc(const struct device_csr *d, const struct shape *s)
{
    gp_spmm_desc desc = GP_SPMM_DESC_INIT;
    const bool by_rows = s->layout == GP_LAYOUT_ROWS;
    desc.index_dtype = d->index;
    desc.offset_dtype = d->offset;
    desc.value_dtype = d->value;
    desc.layout = s->layout;
    desc.columns = s->columns;
    desc.x_stride = s->x_more ? (by_rows ? s->columns : d->num_cols) + s->x_more : 0;
    desc.y_stride = s->y_more ? (by_rows ? s->columns : d->num_rows) + s->y_more : 0;
    return desc;
}

/* A dense matrix on the host. */
struct dense {
    size_t row, column, items; /* of the strides; those that it spans */
    void *values;
};

static struct dense dense_new(gp_dtype dtype, const struct shape *s, size_t more, size_t rows,
                              uint64_t *seed)
{
    const bool by_rows = s->layout == GP_LAYOUT_ROWS;
    const size_t least = by_rows ? s->columns : rows, steps = by_rows ? rows : s->columns;
    struct dense d = {by_rows ? least + more : 1, by_rows ? 1 : least + more, 0, NULL};
    d.items = least && steps ? (steps - 1) * (least + more) + least : 0;
    d.values = t_host(d.items * gp_dtype_bytes(dtype));
    t_fill_random(dtype, d.values, d.items, seed);
    return d;
}

static size_t place(const struct dense *d, uint64_t row, uint64_t column)
{
    return (size_t)(row * d->row + column * d->column);
}

/* One column as a vector of its own, as SpMV has it. */
static void *column_of(gp_dtype dtype, const struct dense *d, uint64_t rows, uint64_t column)
{
    void *v = t_host(rows * gp_dtype_bytes(dtype));
    for (uint64_t r = 0; r < rows; r++)
        t_set(dtype, v, r, t_value(dtype, d->values, place(d, r, column)));
    return v;
}

/* What Y is after the call, whatever lies between its items; without beta they become NaN. */
static void spmm_oracle(const struct csr *a, const struct shape *s, double alpha,
                        const struct dense *x, double beta, struct dense *y, double *want,
                        double *magnitude)
{
    double *result = t_host(a->num_rows * 8), *sizes = t_host(a->num_rows * 8);
    for (size_t i = 0; i < y->items; i++) {
        want[i] = t_value(a->dtype, y->values, i);
        magnitude[i] = 0;
    }
    for (size_t c = 0; c < s->columns; c++) {
        void *from = column_of(a->dtype, x, a->num_cols, c);
        void *to = column_of(a->dtype, y, a->num_rows, c);
        spmv_oracle(a, alpha, from, beta, to, result, sizes);
        for (uint64_t r = 0; r < a->num_rows; r++) {
            const size_t at = place(y, r, c);
            want[at] = result[r];
            magnitude[at] = sizes[r];
            if (beta == 0)
                t_set(a->dtype, y->values, at, NAN); /* must not be read */
        }
        free(from);
        free(to);
    }
    free(result);
    free(sizes);
}

static gp_status run_spmm(gp_context *ctx, const gp_spmm_desc *desc, const struct device_csr *d,
                          const void *alpha, const void *x, const void *beta, void *y)
{
    return gp_spmm(ctx, desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data, d->cols.data,
                   d->values.data, alpha, x, beta, y);
}

enum how { PLAIN, THERE, PLANNED, HOWS };

/* The same with a plan, or with scalars in memory; the workspace is what the figure says. */
static void run_how(enum how how, gp_spmm_desc desc, const struct device_csr *d, const void *alpha,
                    const t_array *x, const void *beta, const t_array *y, const t_array *scalars)
{
    size_t bytes;
    t_array plan = {0};
    const char *at = scalars->data;
    if (how == PLANNED) {
        plan = plan_new(t_ctx(), d);
        desc.plan = plan.data;
    }
    if (how == THERE) {
        desc.device_alpha = desc.device_beta = 1;
        alpha = alpha ? at : NULL;
        beta = beta ? at + gp_dtype_bytes(sum_dtype(d->value)) : NULL;
    }
    T_OK(gp_spmm_workspace_bytes(NULL, &desc, d->num_rows, d->num_cols, d->nnz, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    T_OK(run_spmm(t_ctx(), &desc, d, alpha, x->data, beta, y->data));
    if (how == PLANNED) {
        t_check_guards(&plan);
        t_free(&plan);
    }
}

/* alpha and beta: 0 stands for NULL. */
static void spmm_case(const struct csr *a, const gp_dtype pair[2], const struct shape *s,
                      double alpha, double beta, enum how how)
{
    const size_t vb = gp_dtype_bytes(a->dtype), sb = gp_dtype_bytes(sum_dtype(a->dtype));
    uint64_t seed = t_seed();
    char scalars[16];
    struct dense x = dense_new(a->dtype, s, s->x_more, a->num_cols, &seed);
    struct dense y = dense_new(a->dtype, s, s->y_more, a->num_rows, &seed);
    double *want = t_host(y.items * 8), *magnitude = t_host(y.items * 8);
    t_set(sum_dtype(a->dtype), scalars, 0, alpha);
    t_set(sum_dtype(a->dtype), scalars, 1, beta);
    spmm_oracle(a, s, alpha != 0 ? alpha : 1, &x, beta, &y, want, magnitude);
    struct device_csr d = upload(a, pair);
    const size_t away = s->columns % 4 || beta == 0 ? vb : 0; /* 0: numbers are moved 4 at a time */
    t_array dx = t_new_from(x.values, x.items * vb, away),
            dy = t_new_from(y.values, y.items * vb, away);
    t_array ds = t_new_from(scalars, 2 * sb, sb);
    run_how(how, spmm_desc(&d, s), &d, alpha != 0 ? scalars : NULL, &dx,
            beta != 0 ? scalars + sb : NULL, &dy, &ds);
    t_get(&dy, y.values, y.items * vb);
    t_close_to("Y", a->dtype, want, magnitude, y.values, y.items,
               t_epsilon(sum_dtype(a->dtype)) * ((double)a->nnz + 4) + t_epsilon(a->dtype));
    t_check_guards(&dy);
    t_array *all[] = {&dx, &dy, &ds};
    for (int i = 0; i < 3; i++)
        t_free(all[i]);
    device_free(&d);
    free(x.values);
    free(y.values);
    free(want);
    free(magnitude);
}

static const gp_dtype values[] = {GP_F32, GP_F64, GP_F16, GP_F32, GP_BF16};

START_TEST(test_spmm_matrices_match_oracle)
{
    static const double scalars[][2] = {{0, 0}, {2.5, 0}, {0, 0.5}, {-1.25, 2}};
    struct coo m = coo_make((enum matrix)(_i / PAIRS), 5000, values[_i % 5], t_seed());
    struct csr a = oracle_from_coo(&m, _i % 3 ? GP_DUPLICATES_SUM : GP_DUPLICATES_KEEP);
    for (int k = 0; k < 4; k++) {
        const struct shape s = {(size_t)(_i * 4 + k) % GP_SPMM_COLUMNS_MAX + 1,
                                (_i + k) % 2 ? GP_LAYOUT_COLUMNS : GP_LAYOUT_ROWS, (size_t)(k == 1),
                                (size_t)(k == 2) * 3};
        spmm_case(&a, pairs[_i % PAIRS], &s, scalars[k][0], scalars[k][1],
                  (enum how)((_i + k) % HOWS));
    }
    csr_free(&a);
    coo_free(&m);
}
END_TEST

START_TEST(test_spmm_every_number_of_columns)
{
    struct coo m = coo_make(_i % 2 ? HEAVY_ROW : RANDOM, 3000, values[_i % 5], t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    const struct shape s = {(size_t)_i, GP_LAYOUT_ROWS, 0, 0},
                       t = {(size_t)_i, GP_LAYOUT_COLUMNS, 0, 0};
    spmm_case(&a, pairs[_i % PAIRS], &s, 0, 0.5, (enum how)(_i % HOWS));
    spmm_case(&a, pairs[_i % PAIRS], &t, 1.5, 0, (enum how)((_i + 1) % HOWS));
    csr_free(&a);
    coo_free(&m);
}
END_TEST

START_TEST(test_spmm_sizes)
{
    struct coo m = coo_make(_i % 2 ? FOURTH_EMPTY : RANDOM, t_sizes[_i], GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    const struct shape s = {(size_t)(_i % 9) + 1, (gp_layout)(_i / 3 % 2), 0, 0};
    spmm_case(&a, pairs[_i % PAIRS], &s, 1.5, 1, (enum how)(_i % HOWS));
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Rows of these lengths in turn, from an empty one on: some that share a tile, or a share of one,
 * with others, and some that lie in several tiles, one behind another. */
START_TEST(test_spmm_long_rows_side_by_side)
{
    static const uint64_t lengths[] = {0,   767, 768, 769,  1,   1023, 1024, 0,  0,     3000, 63,
                                       256, 255, 257, 9000, 767, 0,    1,    31, 16640, 5,    64};
    static const size_t columns[] = {1, 8, 9, 16, 20, 32};
    const uint64_t rows = sizeof lengths / sizeof *lengths;
    uint64_t n = 0, seed = t_seed();
    for (uint64_t r = 0; r < rows; r++)
        n += lengths[r];
    struct coo m = coo_new(rows, 1000, n, GP_F64);
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t i = 0; i < lengths[(r + (uint64_t)_i * 7) % rows]; i++)
            coo_add(&m, r, t_random_below(&seed, 1000));
    t_fill_random(GP_F64, m.values, m.nnz, &seed);
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    const struct shape s = {columns[_i], (gp_layout)(_i % 2), 0, 1};
    spmm_case(&a, pairs[_i % PAIRS], &s, 0.5, _i % 2, (enum how)(_i % HOWS));
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* A row of more tiles than 64 by 32. */
START_TEST(test_spmm_row_over_many_tiles)
{
    struct coo m = coo_make(_i ? SINGLE_ROW : HEAVY_ROW, 40000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    const struct shape s = {_i ? 3 : 17, GP_LAYOUT_ROWS, 0, 0};
    spmm_case(&a, pairs[_i], &s, 0, 0, (enum how)_i);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Numbers of rows and entries in memory, below their bounds: what lies behind is untouched. */
START_TEST(test_spmm_counts_in_memory)
{
    struct coo m = coo_make(RANDOM, 4000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    const struct shape s = {5, _i ? GP_LAYOUT_COLUMNS : GP_LAYOUT_ROWS, 0, 0};
    struct device_csr d = upload(&a, pairs[_i]);
    gp_spmm_desc desc = spmm_desc(&d, &s);
    const uint64_t rows = a.num_rows / 3, nnz = a.pointers[rows];
    uint64_t seed = t_seed();
    struct dense x = dense_new(GP_F32, &s, 0, a.num_cols, &seed);
    struct dense y = dense_new(GP_F32, &s, 0, a.num_rows, &seed);
    double *want = t_host(y.items * 8), *magnitude = t_host(y.items * 8);
    struct csr part = a;
    part.num_rows = rows;
    spmm_oracle(&part, &s, 1, &x, 1, &y, want, magnitude);
    t_array counts[2] = {t_new_from(&nnz, 8, 8), t_new_from(&rows, 8, 8)};
    t_array dx = t_new_from(x.values, x.items * 4, 4), dy = t_new_from(y.values, y.items * 4, 4);
    const float one = 1;
    desc.device_nnz = counts[0].data;
    desc.device_num_rows = counts[1].data;
    T_OK(run_spmm(t_ctx(), &desc, &d, NULL, dx.data, &one, dy.data));
    t_get(&dy, y.values, y.items * 4);
    t_close_to("Y", GP_F32, want, magnitude, y.values, y.items, t_epsilon(GP_F32) * 4000);
    t_array *all[] = {&counts[0], &counts[1], &dx, &dy};
    for (int i = 0; i < 4; i++)
        t_free(all[i]);
    device_free(&d);
    free(x.values);
    free(y.values);
    free(want);
    free(magnitude);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Any number of threads, and plans made anew. */
START_TEST(test_spmm_same_bits_in_every_run)
{
    struct coo m = coo_make(HEAVY_ROW, 100000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[0]);
    const struct shape s = {_i ? 20 : 8, GP_LAYOUT_ROWS, 0, 0};
    gp_spmm_desc desc = spmm_desc(&d, &s);
    uint64_t seed = t_seed();
    struct dense x = dense_new(GP_F32, &s, 0, a.num_cols, &seed);
    const size_t bytes = a.num_rows * s.columns * 4;
    t_array dx = t_new_from(x.values, x.items * 4, 0), y = t_new(bytes, 0);
    void *want[2] = {t_host(bytes), t_host(bytes)}, *got = t_host(bytes);
    for (int run = 0; run < 40; run++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        gp_context *ctx = NULL;
        t_array plan = {0};
        const bool planned = run % 2;
        o.backend = gp_context_backend(t_ctx());
        o.threads = run % 5 + 1;
        T_OK(gp_context_create(&ctx, &o));
        if (planned)
            plan = plan_new(ctx, &d);
        desc.plan = planned ? plan.data : NULL;
        T_OK(run_spmm(ctx, &desc, &d, NULL, dx.data, NULL, y.data));
        T_OK(gp_context_synchronize(ctx));
        t_get(&y, run < 2 ? want[planned] : got, bytes);
        if (run >= 2)
            t_same_bytes("same bits", want[planned], got, bytes);
        if (planned)
            t_free(&plan);
        gp_context_destroy(ctx);
    }
    t_free(&dx);
    t_free(&y);
    device_free(&d);
    free(x.values);
    free(want[0]);
    free(want[1]);
    free(got);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Nothing is written, and the text names the member. */
static void refused(gp_status status, const char *text, const gp_spmm_desc *desc,
                    const struct device_csr *d, const void *x, void *y)
{
    T_STATUS(status, run_spmm(t_ctx(), desc, d, NULL, x, NULL, y));
    ck_assert_msg(strstr(gp_last_error(t_ctx()), text) != NULL, "%s has no %s",
                  gp_last_error(t_ctx()), text);
}

START_TEST(test_spmm_errors)
{
    struct coo m = coo_make(RANDOM, 500, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[0]);
    const struct shape s = {4, GP_LAYOUT_ROWS, 0, 0};
    const gp_spmm_desc good = spmm_desc(&d, &s);
    t_array x = t_new(a.num_cols * 16, 0), y = t_new(a.num_rows * 16, 0), n = t_new(8, 0);
    size_t bytes;
#define BAD(status, text, ...)                                                                     \
    do {                                                                                           \
        gp_spmm_desc b = good;                                                                     \
        __VA_ARGS__;                                                                               \
        refused(status, text, &b, &d, x.data, y.data);                                             \
        T_STATUS(status,                                                                           \
                 gp_spmm_workspace_bytes(NULL, &b, d.num_rows, d.num_cols, d.nnz, &bytes));        \
    } while (0)
    BAD(GP_ERROR_ARGUMENT, "desc", b.size = 12);
    BAD(GP_ERROR_DTYPE, "desc->index_dtype", b.index_dtype = GP_F32);
    BAD(GP_ERROR_DTYPE, "desc->offset_dtype", b.index_dtype = GP_U64);
    BAD(GP_ERROR_DTYPE, "desc->value_dtype", b.value_dtype = GP_I32);
    BAD(GP_ERROR_ARGUMENT, "desc->layout is 2", b.layout = (gp_layout)2);
    BAD(GP_ERROR_ARGUMENT, "desc->columns is 33", b.columns = 33);
    BAD(GP_ERROR_ARGUMENT, "desc->device_alpha is 2", b.device_alpha = 2);
    BAD(GP_ERROR_ARGUMENT, "desc->device_beta is -1", b.device_beta = -1);
    BAD(GP_ERROR_ARGUMENT, "desc->x_stride is 3", b.x_stride = 3);
    BAD(GP_ERROR_ARGUMENT, "desc->y_stride is 3", b.y_stride = 3);
    BAD(GP_ERROR_ARGUMENT, "more than 2^40", b.x_stride = (size_t)1 << 40);
    BAD(GP_ERROR_ARGUMENT, "more than 2^40", b.y_stride = SIZE_MAX);
    BAD(GP_ERROR_ARGUMENT, "desc->x_stride is 5", (b.layout = GP_LAYOUT_COLUMNS, b.x_stride = 5));
    BAD(GP_ERROR_ARGUMENT, "desc->device_nnz", (b.plan = y.data, b.device_nnz = n.data));
    refused(GP_ERROR_POINTER, "x is NULL", &good, &d, NULL, y.data);
    refused(GP_ERROR_POINTER, "y is NULL", &good, &d, x.data, NULL);
    refused(GP_ERROR_POINTER, "not aligned", &good, &d, (char *)x.data + 2, y.data);
    refused(GP_ERROR_OVERLAP, "y", &good, &d, y.data, y.data);
    T_STATUS(GP_ERROR_POINTER, run_spmm(t_ctx(), NULL, &d, NULL, x.data, NULL, y.data));
    T_STATUS(GP_ERROR_POINTER, gp_spmm_workspace_bytes(NULL, NULL, 5, 5, 5, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_spmm_workspace_bytes(NULL, &good, 5, 5, 5, NULL));
    t_check_untouched(&y);
    gp_spmm_desc none = good;
    none.columns = 0;
    T_OK(run_spmm(t_ctx(), &none, &d, NULL, NULL, NULL, NULL));
    t_array *all[] = {&x, &y, &n};
    for (int i = 0; i < 3; i++)
        t_free(all[i]);
    device_free(&d);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_spmm");
    TCase *c = t_case(s, "spmm");
    tcase_add_loop_test(c, test_spmm_matrices_match_oracle, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_spmm_every_number_of_columns, 1, GP_SPMM_COLUMNS_MAX + 1);
    tcase_add_loop_test(c, test_spmm_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_spmm_long_rows_side_by_side, 0, 6);
    tcase_add_loop_test(c, test_spmm_row_over_many_tiles, 0, 2);
    tcase_add_loop_test(c, test_spmm_counts_in_memory, 0, 2);
    tcase_add_loop_test(c, test_spmm_same_bits_in_every_run, 0, 2);
    tcase_add_test(c, test_spmm_errors);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
