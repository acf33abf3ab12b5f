/* SPDX-License-Identifier: MIT */
/* Plans of products, and those that hold the transpose. */
#include <gp/spmm.h>

#include "spmv_cases.h"

/* Columns that 16 bits hold everywhere, here and there, and nowhere. */
START_TEST(test_spmv_plan_of_near_and_far_columns)
{
    const uint64_t n = 20000, wide = 1 << 20;
    struct coo m = coo_new(n / 8, _i ? wide : 60000, n, GP_F32);
    uint64_t seed = t_seed();
    for (uint64_t i = 0; i < n; i++)
        coo_add(&m, i / 8,
                _i == 0               ? t_random_below(&seed, 60000)
                : _i == 1 && i % 1000 ? i * 7 % 60000 + 500000
                                      : t_random_below(&seed, wide));
    t_fill_random(GP_F32, m.values, m.nnz, &seed);
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    for (int pair = 0; pair < PAIRS; pair++)
        spmv_case(&a, pairs[pair], 0, 0);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* A context that validates refuses it: a column, a row pointer or a size is another. */
START_TEST(test_spmv_plan_of_another_pattern)
{
    struct coo m = coo_make(RANDOM, 5000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx = NULL;
    o.backend = gp_context_backend(t_ctx());
    o.validate = 1;
    T_OK(gp_context_create(&ctx, &o));
    struct device_csr d = upload(&a, pairs[_i % 3]);
    t_array x = t_new_from(a.values, a.num_cols * 4, 0), plan = plan_new(ctx, &d);
    t_array y = t_new(a.num_rows * 4, 0), dirty = t_new(a.num_rows * 4, 0);
    T_OK(multiply_planned(ctx, &d, &plan, NULL, &x, NULL, &dirty));
    T_OK(gp_context_synchronize(ctx));
    a.cols[a.nnz / 2] = (a.cols[a.nnz / 2] + 1) % a.num_cols;
    struct device_csr other = upload(&a, pairs[_i % 3]);
    gp_status s = multiply_planned(ctx, &other, &plan, NULL, &x, NULL, &y);
    ck_assert_int_eq(s == GP_OK ? gp_context_synchronize(ctx) : s, GP_ERROR_DATA);
    ck_assert_ptr_nonnull(strstr(gp_last_error(ctx), "gp_spmv_planned: plan"));
    t_check_untouched(&y);
    d.num_cols++;
    t_array wider = t_new_from(a.values, d.num_cols * 4, 0);
    s = multiply_planned(ctx, &d, &plan, NULL, &wider, NULL, &y);
    ck_assert_int_eq(s == GP_OK ? gp_context_synchronize(ctx) : s, GP_ERROR_DATA);
    t_check_untouched(&y);
    t_array *all[] = {&x, &plan, &y, &dirty, &wider};
    for (int i = 0; i < 5; i++)
        t_free(all[i]);
    device_free(&d);
    device_free(&other);
    gp_context_destroy(ctx);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

START_TEST(test_spmv_plan_errors)
{
    struct coo m = coo_make(RANDOM, 500, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[0]);
    gp_csr_desc desc = desc_of(&d);
    size_t bytes;
    T_OK(gp_spmv_plan_bytes(NULL, &desc, d.num_rows, d.num_cols, d.nnz, &bytes));
    t_array plan = t_new(bytes, 0), count = t_new(8, 0);
#define PLAN(rows, cols_, n, plan_)                                                                \
    gp_spmv_plan(t_ctx(), &desc, rows, cols_, n, d.pointers.data, d.cols.data, plan_)
    T_STATUS(GP_ERROR_POINTER, PLAN(d.num_rows, d.num_cols, d.nnz, NULL));
    T_STATUS(GP_ERROR_POINTER, PLAN(d.num_rows, d.num_cols, d.nnz, (char *)plan.data + 8));
    T_STATUS(GP_ERROR_ARGUMENT, PLAN(((size_t)1 << 32) + 1, d.num_cols, d.nnz, plan.data));
    T_STATUS(GP_ERROR_OVERFLOW, PLAN(d.num_rows, d.num_cols, (size_t)1 << 32, plan.data));
    T_STATUS(GP_ERROR_OVERLAP, PLAN(d.num_rows, d.num_cols, d.nnz, d.cols.data));
    desc.device_nnz = count.data;
    T_STATUS(GP_ERROR_ARGUMENT, PLAN(d.num_rows, d.num_cols, d.nnz, plan.data));
    desc.device_nnz = NULL, desc.device_num_rows = count.data;
    T_STATUS(GP_ERROR_ARGUMENT, PLAN(d.num_rows, d.num_cols, d.nnz, plan.data));
    desc.device_num_rows = NULL, desc.index_dtype = GP_U64;
    T_STATUS(GP_ERROR_DTYPE, PLAN(d.num_rows, d.num_cols, d.nnz, plan.data));
    desc.index_dtype = GP_U32, desc.value_dtype = GP_I32;
    T_STATUS(GP_ERROR_DTYPE, PLAN(d.num_rows, d.num_cols, d.nnz, plan.data));
    T_STATUS(GP_ERROR_DTYPE, gp_spmv_plan_bytes(NULL, &desc, 5, 5, 5, &bytes));
    desc.value_dtype = GP_F32;
    T_STATUS(GP_ERROR_POINTER, gp_spmv_plan_bytes(NULL, NULL, 5, 5, 5, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_spmv_plan_bytes(NULL, &desc, 5, 5, 5, NULL));
    T_STATUS(GP_ERROR_POINTER,
             gp_spmv_plan(t_ctx(), NULL, 5, 5, 5, d.pointers.data, d.cols.data, plan.data));
    T_STATUS(GP_ERROR_POINTER, gp_spmv_planned(t_ctx(), &desc, d.num_rows, d.num_cols, d.nnz,
                                               d.pointers.data, d.cols.data, NULL, d.values.data,
                                               NULL, d.values.data, NULL, count.data));
    t_check_untouched(&plan);
    t_free(&plan);
    t_free(&count);
    device_free(&d);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* ---- of a transpose ---- */

/* A plan that holds it. */
static t_array transposed_new(gp_context *ctx, const struct device_csr *d)
{
    const gp_csr_desc desc = desc_of(d);
    size_t bytes, work;
    T_OK(gp_spmv_transposed_plan_bytes(NULL, &desc, d->num_rows, d->num_cols, d->nnz, &bytes));
    T_OK(gp_spmv_transposed_plan_workspace_bytes(NULL, &desc, d->num_rows, d->num_cols, d->nnz,
                                                 &work));
    T_OK(gp_context_reserve(ctx, work));
    t_array plan = t_new(bytes, 16);
    T_OK(gp_spmv_transposed_plan(ctx, &desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data,
                                 d->cols.data, d->values.data, plan.data));
    return plan;
}

static gp_status multiply_transposed(gp_context *ctx, const struct device_csr *d,
                                     const t_array *plan, const void *alpha, const t_array *x,
                                     const void *beta, const t_array *y)
{
    const gp_csr_desc desc = desc_of(d);
    return gp_spmv_transposed(ctx, &desc, d->num_rows, d->num_cols, d->nnz, plan->data, alpha,
                              x->data, beta, y->data);
}

/* y = alpha A^T x + beta y beside the loop over the transpose that the tests make. */
static void check_transposed(const struct csr *a, const struct device_csr *d, const t_array *plan,
                             const double scalars[2])
{
    const size_t vb = gp_dtype_bytes(a->dtype), sb = gp_dtype_bytes(sum_dtype(a->dtype));
    struct coo exchanged = oracle_exchange(a);
    struct csr t = oracle_from_coo(&exchanged, GP_DUPLICATES_KEEP);
    uint64_t seed = t_seed();
    char there[16];
    void *x = t_host(t.num_cols * vb), *y = t_host(t.num_rows * vb);
    double *want = t_host(t.num_rows * 8), *magnitude = t_host(t.num_rows * 8);
    t_fill_random(a->dtype, x, t.num_cols, &seed);
    t_fill_random(a->dtype, y, t.num_rows, &seed);
    for (int k = 0; k < 2; k++)
        t_set(sum_dtype(a->dtype), there, (uint64_t)k, scalars[k]);
    spmv_oracle(&t, scalars[0], x, scalars[1], y, want, magnitude);
    t_array dx = t_new_from(x, t.num_cols * vb, vb), dy = t_new_from(y, t.num_rows * vb, vb);
    T_OK(multiply_transposed(t_ctx(), d, plan, there, &dx, scalars[1] != 0 ? there + sb : NULL,
                             &dy));
    t_get(&dy, y, t.num_rows * vb);
    t_close_to("y", a->dtype, want, magnitude, y, t.num_rows,
               t_epsilon(sum_dtype(a->dtype)) * ((double)a->nnz + 4) + t_epsilon(a->dtype));
    t_check_guards(&dy);
    t_check_guards(plan);
    t_free(&dx);
    t_free(&dy);
    free(x);
    free(y);
    free(want);
    free(magnitude);
    csr_free(&t);
    coo_free(&exchanged);
}

/* With the values of then, and with others that come later; the matrix itself need not stay. */
START_TEST(test_transposed_matrices_match_oracle)
{
    static const double scalars[][2] = {{1, 0}, {-1.25, 2}};
    static const gp_dtype values[] = {GP_F32, GP_F64, GP_F16, GP_F64, GP_BF16};
    const gp_dtype value = values[_i % 5];
    struct coo m = coo_make((enum matrix)(_i / PAIRS), 6000, value, t_seed());
    struct csr a = oracle_from_coo(&m, _i % 3 ? GP_DUPLICATES_SUM : GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[_i % PAIRS]);
    const gp_csr_desc desc = desc_of(&d);
    t_array plan = transposed_new(t_ctx(), &d);
    check_transposed(&a, &d, &plan, scalars[_i % 2]);
    uint64_t seed = t_seed() + 1;
    t_fill_random(value, a.values, a.nnz, &seed);
    t_free(&d.values);
    d.values = t_new_from(a.values, a.nnz * gp_dtype_bytes(value), 0);
    T_OK(gp_spmv_transposed_values(t_ctx(), &desc, d.num_rows, d.num_cols, d.nnz, d.values.data,
                                   plan.data));
    check_transposed(&a, &d, &plan, scalars[(_i + 1) % 2]);
    t_free(&plan);
    device_free(&d);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Also by plans made anew, whose bytes may lie anywhere. */
START_TEST(test_transposed_same_bits_in_every_run)
{
    struct coo m = coo_make(HEAVY_ROW, 60000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[0]);
    t_array x = t_new_from(a.values, a.num_rows * 4, 0), y = t_new(a.num_cols * 4, 0);
    void *want = t_host(a.num_cols * 4), *got = t_host(a.num_cols * 4);
    for (int run = 0; run < 20; run++) {
        t_array plan = transposed_new(t_ctx(), &d);
        T_OK(multiply_transposed(t_ctx(), &d, &plan, NULL, &x, NULL, &y));
        t_get(&y, run ? got : want, a.num_cols * 4);
        if (run)
            t_same_bytes("same bits", want, got, a.num_cols * 4);
        t_free(&plan);
    }
    t_free(&x);
    t_free(&y);
    device_free(&d);
    free(want);
    free(got);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Of a plan that is no transpose, or of another matrix, nothing is written if that is checked. */
START_TEST(test_transposed_by_another_plan)
{
    struct coo m = coo_make(RANDOM, 3000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx = NULL;
    o.backend = gp_context_backend(t_ctx());
    o.validate = 1;
    T_OK(gp_context_create(&ctx, &o));
    struct device_csr d = upload(&a, pairs[_i]);
    gp_csr_desc desc = desc_of(&d);
    size_t bytes;
    T_OK(gp_spmv_transposed_plan_bytes(NULL, &desc, d.num_rows, d.num_cols, d.nnz, &bytes));
    t_array x = t_new_from(a.values, a.num_rows * 4, 0), good = transposed_new(ctx, &d);
    t_array y = t_new(a.num_cols * 4, 0), dirty = t_new(a.num_cols * 4, 0),
            other = t_new(bytes, 16);
    T_OK(gp_spmv_plan(ctx, &desc, d.num_rows, d.num_cols, d.nnz, d.pointers.data, d.cols.data,
                      other.data));
    T_OK(multiply_transposed(ctx, &d, &good, NULL, &x, NULL, &dirty));
    T_OK(gp_spmv_transposed_values(ctx, &desc, d.num_rows, d.num_cols, d.nnz, d.values.data,
                                   good.data));
    T_OK(gp_context_synchronize(ctx));
    gp_status s = multiply_transposed(ctx, &d, &other, NULL, &x, NULL, &y);
    ck_assert_int_eq(s == GP_OK ? gp_context_synchronize(ctx) : s, GP_ERROR_DATA);
    ck_assert_ptr_nonnull(strstr(gp_last_error(ctx), "gp_spmv_transposed: plan"));
    s = gp_spmv_transposed_values(ctx, &desc, d.num_rows, d.num_cols, d.nnz, d.values.data,
                                  other.data);
    ck_assert_int_eq(s == GP_OK ? gp_context_synchronize(ctx) : s, GP_ERROR_DATA);
    s = gp_spmv_planned(ctx, &desc, d.num_rows, d.num_cols, d.nnz, d.pointers.data, d.cols.data,
                        good.data, d.values.data, NULL, x.data, NULL, y.data);
    ck_assert_int_ne(s == GP_OK ? gp_context_synchronize(ctx) : s, GP_OK);
    t_check_untouched(&y);
    t_array *all[] = {&x, &good, &y, &dirty, &other};
    for (int i = 0; i < 5; i++)
        t_free(all[i]);
    device_free(&d);
    gp_context_destroy(ctx);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

START_TEST(test_transposed_errors)
{
    struct coo m = coo_make(RANDOM, 500, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[0]);
    gp_csr_desc desc = desc_of(&d);
    size_t bytes;
    T_OK(gp_spmv_transposed_plan_bytes(NULL, &desc, d.num_rows, d.num_cols, d.nnz, &bytes));
    t_array plan = t_new(bytes, 0), count = t_new(8, 0), y = t_new(a.num_cols * 4, 0);
    t_array x = t_new_from(a.values, a.num_rows * 4, 0);
#define TPLAN(rows, values_, plan_)                                                                \
    gp_spmv_transposed_plan(t_ctx(), &desc, rows, d.num_cols, d.nnz, d.pointers.data, d.cols.data, \
                            values_, plan_)
#define TIMES(rows, plan_, x_, y_)                                                                 \
    gp_spmv_transposed(t_ctx(), &desc, rows, d.num_cols, d.nnz, plan_, NULL, x_, NULL, y_)
    T_STATUS(GP_ERROR_POINTER, TPLAN(d.num_rows, d.values.data, NULL));
    T_STATUS(GP_ERROR_POINTER, TPLAN(d.num_rows, d.values.data, (char *)plan.data + 8));
    T_STATUS(GP_ERROR_POINTER, TPLAN(d.num_rows, NULL, plan.data));
    T_STATUS(GP_ERROR_OVERLAP, TPLAN(d.num_rows, d.values.data, d.values.data));
    T_STATUS(GP_ERROR_ARGUMENT, TPLAN(((size_t)1 << 32) + 1, d.values.data, plan.data));
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "num_rows"));
    T_STATUS(GP_ERROR_ARGUMENT, TIMES(((size_t)1 << 32) + 1, plan.data, x.data, y.data));
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "num_rows"));
    T_STATUS(GP_ERROR_POINTER, TIMES(d.num_rows, NULL, x.data, y.data));
    T_STATUS(GP_ERROR_POINTER, TIMES(d.num_rows, plan.data, NULL, y.data));
    T_STATUS(GP_ERROR_POINTER, TIMES(d.num_rows, plan.data, x.data, NULL));
    T_STATUS(GP_ERROR_OVERLAP, TIMES(d.num_rows, plan.data, x.data, plan.data));
    T_STATUS(GP_ERROR_POINTER, gp_spmv_transposed_values(t_ctx(), &desc, d.num_rows, d.num_cols,
                                                         d.nnz, NULL, plan.data));
    T_STATUS(GP_ERROR_POINTER, gp_spmv_transposed_values(t_ctx(), NULL, d.num_rows, d.num_cols,
                                                         d.nnz, d.values.data, plan.data));
    desc.device_nnz = count.data;
    T_STATUS(GP_ERROR_ARGUMENT, TPLAN(d.num_rows, d.values.data, plan.data));
    T_STATUS(GP_ERROR_ARGUMENT, TIMES(d.num_rows, plan.data, x.data, y.data));
    desc.device_nnz = NULL, desc.device_alpha = 2;
    T_STATUS(GP_ERROR_ARGUMENT, TPLAN(d.num_rows, d.values.data, plan.data));
    desc.device_alpha = 0, desc.value_dtype = GP_I32;
    T_STATUS(GP_ERROR_DTYPE, TPLAN(d.num_rows, d.values.data, plan.data));
    T_STATUS(GP_ERROR_DTYPE, gp_spmv_transposed_plan_bytes(NULL, &desc, 5, 5, 5, &bytes));
    T_STATUS(GP_ERROR_DTYPE, gp_spmv_transposed_plan_workspace_bytes(NULL, &desc, 5, 5, 5, &bytes));
    desc.value_dtype = GP_F32;
    T_STATUS(GP_ERROR_POINTER, gp_spmv_transposed_plan_bytes(NULL, NULL, 5, 5, 5, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_spmv_transposed_plan_bytes(NULL, &desc, 5, 5, 5, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_spmv_transposed_plan_workspace_bytes(NULL, &desc, 5, 5, 5, NULL));
    t_check_untouched(&plan);
    t_check_untouched(&y);
    t_array *all[] = {&plan, &count, &y, &x};
    for (int i = 0; i < 4; i++)
        t_free(all[i]);
    device_free(&d);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* ---- row pointers that fall ---- */

/* As many as there are rows, and one: below nnz, anything, 0 and nnz in turn, from nnz to 0. */
static void make_fall(struct csr *a, int kind, uint64_t *seed)
{
    for (uint64_t r = 0; r <= a->num_rows; r++)
        a->pointers[r] = kind == 0   ? t_random_below(seed, a->nnz + 1)
                         : kind == 1 ? t_random(seed) >> r % 64
                         : kind == 2 ? r % 2 * a->nnz
                                     : a->nnz - a->nnz * r / a->num_rows;
}

/* Products of all kinds, which in a context that does not validate end somehow. */
static void multiply_fallen(const struct device_csr *d, const t_array *x, t_array *y)
{
    gp_spmm_desc desc = GP_SPMM_DESC_INIT;
    t_array plan = plan_new(t_ctx(), d), wide = t_new(d->num_rows * 32, 16);
    desc.index_dtype = d->index, desc.offset_dtype = d->offset, desc.value_dtype = d->value;
    desc.columns = 8;
    desc.x_stride = desc.y_stride = 8;
    T_OK(multiply(t_ctx(), d, NULL, x, NULL, y));
    T_OK(multiply_planned(t_ctx(), d, &plan, NULL, x, NULL, y));
    T_OK(gp_spmm(t_ctx(), &desc, d->num_rows, d->num_cols / 8, d->nnz, d->pointers.data,
                 d->cols.data, d->values.data, NULL, x->data, NULL, wide.data));
    t_array *all[] = {&plan, &wide, y};
    for (int i = 0; i < 3; i++)
        t_check_guards(all[i]);
    t_free(&plan);
    t_free(&wide);
}

/* Nothing outside of the arrays is touched, and the next product is what it was before. */
START_TEST(test_products_of_row_pointers_that_fall)
{
    const uint64_t num_rows = _i < 12 ? 3000 : (1 << 21) + 100, bytes = num_rows * 4;
    struct coo m = coo_new(num_rows, 8000, 40000, GP_F32);
    uint64_t seed = t_seed();
    for (uint64_t i = 0; i < 40000; i++)
        coo_add(&m, i % 4 ? 7 : t_random_below(&seed, num_rows), i % 1000);
    t_fill_random(GP_F32, m.values, m.nnz, &seed);
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr right = upload(&a, pairs[_i % 3]), wrong;
    t_array x = t_new_from(a.values, 8000 * 4, 0), y = t_new(bytes, 0);
    void *want = t_host(bytes), *got = t_host(bytes);
    T_OK(multiply(t_ctx(), &right, NULL, &x, NULL, &y));
    t_get(&y, want, bytes);
    make_fall(&a, _i / 3, &seed);
    wrong = upload(&a, pairs[_i % 3]);
    multiply_fallen(&wrong, &x, &y);
    T_OK(multiply(t_ctx(), &right, NULL, &x, NULL, &y));
    t_get(&y, got, bytes);
    t_same_bytes("y after them", want, got, bytes);
    t_free(&x);
    t_free(&y);
    device_free(&right);
    device_free(&wrong);
    free(want);
    free(got);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_plan");
    TCase *c = t_case(s, "plans");
    tcase_add_loop_test(c, test_spmv_plan_of_near_and_far_columns, 0, 3);
    tcase_add_loop_test(c, test_spmv_plan_of_another_pattern, 0, 3);
    tcase_add_test(c, test_spmv_plan_errors);
    tcase_add_loop_test(c, test_transposed_matrices_match_oracle, 0, MATRIX_RUNS);
    tcase_add_test(c, test_transposed_same_bits_in_every_run);
    tcase_add_loop_test(c, test_transposed_by_another_plan, 0, 3);
    tcase_add_test(c, test_transposed_errors);
    c = t_case(s, "row pointers that fall");
    tcase_add_loop_test(c, test_products_of_row_pointers_that_fall, 0, 13);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
