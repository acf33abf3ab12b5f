/* SPDX-License-Identifier: MIT */
/* SpMV, and real matrices through COO to CSR and SpMV. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>

#include "csr_cases.h"

/* ---- SpMV ---- */

/* A matrix on the device. */
struct device_csr {
    gp_dtype index, offset, value;
    uint64_t num_rows, num_cols, nnz;
    t_array pointers, cols, values;
};

static struct device_csr upload(const struct csr *a, const gp_dtype pair[2])
{
    struct device_csr d = {pair[0],
                           pair[1],
                           a->dtype,
                           a->num_rows,
                           a->num_cols,
                           a->nnz,
                           index_array(a->pointers, a->num_rows + 1, pair[1], 0),
                           index_array(a->cols, a->nnz, pair[0], 0),
                           t_new_from(a->values, a->nnz * gp_dtype_bytes(a->dtype), 0)};
    return d;
}

static void device_free(struct device_csr *d)
{
    t_free(&d->pointers);
    t_free(&d->cols);
    t_free(&d->values);
}

/* Of alpha and beta, and of the sums. */
static gp_dtype sum_dtype(gp_dtype value)
{
    return value == GP_F64 ? GP_F64 : GP_F32;
}

static gp_status multiply(gp_context *ctx, const struct device_csr *d, const void *alpha,
                          const t_array *x, const void *beta, const t_array *y)
{
    return gp_spmv(ctx, d->index, d->offset, d->value, d->num_rows, d->num_cols, d->nnz,
                   d->pointers.data, d->cols.data, d->values.data, alpha, x->data, beta, y->data);
}

/* Serial double loop; magnitude is the sum of the terms' absolute values. */
static void spmv_oracle(const struct csr *a, double alpha, const void *x, double beta,
                        const void *y, double *result, double *magnitude)
{
    for (uint64_t r = 0; r < a->num_rows; r++) {
        double old = beta != 0 ? beta * t_value(a->dtype, y, r) : 0;
        result[r] = old;
        magnitude[r] = fabs(old) + (a->dtype == GP_F16 ? 0x1p-14 : 0); /* subnormal numbers */
        for (uint64_t i = a->pointers[r]; i < a->pointers[r + 1]; i++) {
            double term =
                alpha * t_value(a->dtype, a->values, i) * t_value(a->dtype, x, a->cols[i]);
            result[r] += term;
            magnitude[r] += fabs(term);
        }
    }
}

/* The same with the scalars in memory. */
static gp_status multiply_there(const struct device_csr *d, const t_array *scalars, bool alpha,
                                bool beta, const t_array *x, const t_array *y)
{
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    const char *at = scalars->data;
    desc.index_dtype = d->index;
    desc.offset_dtype = d->offset;
    desc.value_dtype = d->value;
    desc.device_alpha = desc.device_beta = 1;
    return gp_spmv_by(t_ctx(), &desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data,
                      d->cols.data, d->values.data, alpha ? at : NULL, x->data,
                      beta ? at + gp_dtype_bytes(sum_dtype(d->value)) : NULL, y->data);
}

static gp_csr_desc desc_of(const struct device_csr *d)
{
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    desc.index_dtype = d->index;
    desc.offset_dtype = d->offset;
    desc.value_dtype = d->value;
    return desc;
}

/* Its bytes are those that the figure says, on any alignment that is allowed. */
static t_array plan_new(gp_context *ctx, const struct device_csr *d)
{
    const gp_csr_desc desc = desc_of(d);
    size_t bytes;
    T_OK(gp_spmv_plan_bytes(NULL, &desc, d->num_rows, d->num_cols, d->nnz, &bytes));
    t_array plan = t_new(bytes, 16);
    T_OK(gp_spmv_plan(ctx, &desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data, d->cols.data,
                      plan.data));
    return plan;
}

static gp_status multiply_planned(gp_context *ctx, const struct device_csr *d, const t_array *plan,
                                  const void *alpha, const t_array *x, const void *beta,
                                  const t_array *y)
{
    const gp_csr_desc desc = desc_of(d);
    return gp_spmv_planned(ctx, &desc, d->num_rows, d->num_cols, d->nnz, d->pointers.data,
                           d->cols.data, plan->data, d->values.data, alpha, x->data, beta, y->data);
}

/* The same result twice by a plan. */
static void planned_case(const struct device_csr *d, const void *alpha, const t_array *x,
                         const void *beta, const void *y, const double *want,
                         const double *magnitude)
{
    const size_t bytes = d->num_rows * gp_dtype_bytes(d->value);
    void *got[2] = {t_host(bytes), t_host(bytes)};
    t_array plan = plan_new(t_ctx(), d);
    for (int k = 0; k < 2; k++) {
        t_array dy = t_new_from(y, bytes, 0);
        T_OK(multiply_planned(t_ctx(), d, &plan, alpha, x, beta, &dy));
        t_get(&dy, got[k], bytes);
        t_check_guards(&dy);
        t_free(&dy);
    }
    t_close_to("y by plan", d->value, want, magnitude, got[0], d->num_rows,
               t_epsilon(sum_dtype(d->value)) * ((double)d->nnz + 4) + t_epsilon(d->value));
    t_same_bytes("the second time", got[0], got[1], bytes);
    t_check_guards(&plan);
    t_free(&plan);
    free(got[0]);
    free(got[1]);
}

/* alpha and beta: 0 stands for NULL. */
static void spmv_case_at(const struct csr *a, const gp_dtype pair[2], double alpha, double beta,
                         bool there)
{
    size_t vb = gp_dtype_bytes(a->dtype), sb = gp_dtype_bytes(sum_dtype(a->dtype));
    uint64_t seed = t_seed();
    void *x = t_host(a->num_cols * vb), *y = t_host(a->num_rows * vb);
    double *want = t_host(a->num_rows * 8), *magnitude = t_host(a->num_rows * 8);
    char scalars[16];
    t_fill_random(a->dtype, x, a->num_cols, &seed);
    t_fill_random(a->dtype, y, a->num_rows, &seed);
    t_set(sum_dtype(a->dtype), scalars, 0, alpha);
    t_set(sum_dtype(a->dtype), scalars, 1, beta);
    spmv_oracle(a, alpha != 0 ? alpha : 1, x, beta, y, want, magnitude);
    for (uint64_t r = 0; beta == 0 && r < a->num_rows; r++)
        t_set(a->dtype, y, r, NAN); /* must not be read */
    struct device_csr d = upload(a, pair);
    t_array dx = t_new_from(x, a->num_cols * vb, vb), dy = t_new_from(y, a->num_rows * vb, vb);
    t_array ds = t_new_from(scalars, 2 * sb, sb);
    planned_case(&d, alpha != 0 ? scalars : NULL, &dx, beta != 0 ? scalars + sb : NULL, y, want,
                 magnitude);
    if (there)
        T_OK(multiply_there(&d, &ds, alpha != 0, beta != 0, &dx, &dy));
    else
        T_OK(multiply(t_ctx(), &d, alpha != 0 ? scalars : NULL, &dx,
                      beta != 0 ? scalars + sb : NULL, &dy));
    t_get(&dy, y, a->num_rows * vb);
    t_close_to("y", a->dtype, want, magnitude, y, a->num_rows,
               t_epsilon(sum_dtype(a->dtype)) * ((double)a->nnz + 4) + t_epsilon(a->dtype));
    t_check_guards(&dy);
    t_free(&ds);
    t_free(&dx);
    t_free(&dy);
    device_free(&d);
    free(x);
    free(y);
    free(want);
    free(magnitude);
}

static void spmv_case(const struct csr *a, const gp_dtype pair[2], double alpha, double beta)
{
    spmv_case_at(a, pair, alpha, beta, false);
}

START_TEST(test_spmv_matrices_match_oracle)
{
    static const double scalars[][2] = {{0, 0}, {2.5, 0}, {0, 0.5}, {-1.25, 2}};
    static const gp_dtype values[] = {GP_F32, GP_F64, GP_F16, GP_F64, GP_BF16};
    gp_dtype value = values[_i % 5];
    struct coo m = coo_make((enum matrix)(_i / PAIRS), 9000, value, t_seed());
    struct csr a = oracle_from_coo(&m, _i % 3 ? GP_DUPLICATES_SUM : GP_DUPLICATES_KEEP);
    for (int s = 0; s < 4; s++)
        spmv_case_at(&a, pairs[_i % PAIRS], scalars[s][0], scalars[s][1], (_i + s) % 2);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

START_TEST(test_spmv_sizes)
{
    struct coo m = coo_make(_i % 2 ? HEAVY_ROW : RANDOM, t_sizes[_i], GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    spmv_case(&a, pairs[_i % PAIRS], 1.5, 1);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Rows plus entries around the tiles of both backends. */
static const uint64_t tiles[] = {256, 512, 768, 1024, 4096, 16384, 32768};

START_TEST(test_spmv_around_tiles)
{
    for (uint64_t n = tiles[_i] - 4; n < tiles[_i] + 4; n++) {
        struct coo m = coo_new(3, 11, n - 3, GP_F64);
        uint64_t seed = t_seed();
        for (uint64_t i = 0; i < n - 3; i++)
            coo_add(&m, i % 7 ? 1 : 2 * (i % 2), i % 11);
        t_fill_random(GP_F64, m.values, m.nnz, &seed);
        struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
        spmv_case(&a, pairs[2], 0, 0);
        csr_free(&a);
        coo_free(&m);
    }
}
END_TEST

/* A row of more tiles than a warp has lanes. */
START_TEST(test_spmv_row_over_many_tiles)
{
    static const gp_dtype values[] = {GP_F32, GP_F16, GP_F64};
    struct coo m = coo_make(_i % 2 ? SINGLE_ROW : HEAVY_ROW, 300000, values[_i / 2], t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    spmv_case(&a, pairs[_i / 2], 0, 0.5);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* Rows of these lengths in turn, from an empty one on: some that share a tile with others, and some
 * that lie in 2, 3, 4, 64 and 65 tiles of CUDA, one behind another and with short ones between. */
START_TEST(test_spmv_long_rows_side_by_side)
{
    static const uint64_t lengths[] = {0,   767, 768, 769,  1,   1023, 1024, 0,  0,     3000, 16383,
                                       256, 255, 257, 9000, 767, 0,    1,    31, 16640, 5,    64};
    const uint64_t rows = 3 * sizeof lengths / sizeof *lengths, first = (uint64_t)_i * 7;
    uint64_t n = first, seed = t_seed();
    for (uint64_t r = 0; r < rows; r++)
        n += lengths[(r * (uint64_t)(_i % 3 + 1)) % (rows / 3)];
    struct coo m = coo_new(rows + 1, 1000, n, GP_F64);
    for (uint64_t i = 0; i < first; i++)
        coo_add(&m, 0, i);
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t i = 0; i < lengths[(r * (uint64_t)(_i % 3 + 1)) % (rows / 3)]; i++)
            coo_add(&m, r + 1, t_random_below(&seed, 1000));
    t_fill_random(GP_F64, m.values, m.nnz, &seed);
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    spmv_case(&a, pairs[_i % PAIRS], 0.5, _i % 2);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* More rows than CUDA reads the pointers of twice. */
START_TEST(test_spmv_many_rows)
{
    const uint64_t rows = ((uint64_t)1 << 21) + 3;
    struct coo m = coo_new(rows, 64, 40000, GP_F32);
    uint64_t seed = t_seed();
    for (uint64_t i = 0; i < 40000; i++)
        coo_add(&m, _i || i % 4 ? t_random_below(&seed, rows) : 77777, i % 64);
    t_fill_random(GP_F32, m.values, m.nnz, &seed);
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    spmv_case(&a, pairs[_i], 0, 0);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* A beta of 0 in memory: y is not read. A pointer to the host's memory is refused on CUDA. */
START_TEST(test_spmv_scalars_in_memory)
{
    struct coo m = coo_make(RANDOM, 3000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[0]);
    const float scalars[2] = {1, 0}, nan = NAN;
    t_array x = t_new_from(a.values, a.num_cols * 4, 0), y = t_new(a.num_rows * 4, 0);
    t_array z = t_new(a.num_rows * 4, 0), s = t_new_from(scalars, sizeof scalars, 4);
    float *got = t_host(a.num_rows * 4), *want = t_host(a.num_rows * 4);
    for (uint64_t r = 0; r < a.num_rows; r++)
        memcpy(got + r, &nan, sizeof nan);
    t_array dirty = t_new_from(got, a.num_rows * 4, 0);
    T_OK(multiply(t_ctx(), &d, NULL, &x, NULL, &y));
    T_OK(multiply_there(&d, &s, true, true, &x, &dirty));
    t_get(&y, want, a.num_rows * 4);
    t_get(&dirty, got, a.num_rows * 4);
    t_same_bytes("without y", want, got, a.num_rows * 4);
    gp_csr_desc desc = GP_CSR_DESC_INIT;
    desc.index_dtype = desc.offset_dtype = GP_U32;
    desc.value_dtype = GP_F32;
    for (int k = 0; k < 4; k++) {
        desc.device_alpha = k == 1 ? 2 : k == 3;
        desc.device_beta = k == 2 ? -1 : 0;
        const bool ok = k == 0 || (k == 3 && !t_is_cuda());
        T_STATUS(ok       ? GP_OK
                 : k == 3 ? GP_ERROR_POINTER
                          : GP_ERROR_ARGUMENT,
                 gp_spmv_by(t_ctx(), &desc, d.num_rows, d.num_cols, d.nnz, d.pointers.data,
                            d.cols.data, d.values.data, scalars, x.data, NULL, z.data));
    }
    desc.device_alpha = 1;
    T_STATUS(GP_ERROR_OVERLAP,
             gp_spmv_by(t_ctx(), &desc, d.num_rows, d.num_cols, d.nnz, d.pointers.data, d.cols.data,
                        d.values.data, z.data, x.data, NULL, z.data));
    t_array *all[] = {&x, &y, &z, &s, &dirty};
    for (int i = 0; i < 5; i++)
        t_free(all[i]);
    device_free(&d);
    free(got);
    free(want);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* ---- plans ---- */

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

/* ---- determinism ---- */

static void same_after(gp_context *ctx, const struct device_csr *d, const t_array *x, t_array *y,
                       const void *want, void *got)
{
    T_OK(multiply(ctx, d, NULL, x, NULL, y));
    T_OK(gp_context_synchronize(ctx));
    t_get(y, got, d->num_rows * 4);
    t_same_bytes("same bits", want, got, d->num_rows * 4);
}

START_TEST(test_spmv_same_bits_in_every_run)
{
    struct coo m = coo_make(HEAVY_ROW, 200000, GP_F32, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    struct device_csr d = upload(&a, pairs[0]);
    t_array x = t_new_from(a.values, a.num_cols * 4, 0), y = t_new(a.num_rows * 4, 0);
    void *want = t_host(a.num_rows * 4), *got = t_host(a.num_rows * 4);
    T_OK(multiply(t_ctx(), &d, NULL, &x, NULL, &y));
    t_get(&y, want, a.num_rows * 4);
    for (int threads = 1; threads <= 5; threads++) {
        gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
        gp_context *ctx = NULL;
        o.backend = gp_context_backend(t_ctx());
        o.threads = threads;
        T_OK(gp_context_create(&ctx, &o));
        same_after(ctx, &d, &x, &y, want, got);
        gp_context_destroy(ctx);
    }
    for (int run = 0; run < 100; run++)
        same_after(t_ctx(), &d, &x, &y, want, got);
    for (int run = 0; run < 3; run++) {
        t_array plan = plan_new(t_ctx(), &d);
        T_OK(multiply_planned(t_ctx(), &d, &plan, NULL, &x, NULL, &y));
        t_get(&y, run ? got : want, a.num_rows * 4);
        if (run)
            t_same_bytes("another plan", want, got, a.num_rows * 4);
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

/* ---- real matrices: Matrix Market files in the directory GP_TEST_DATA ---- */

enum { FILES_MAX = 64 };
static char files[FILES_MAX][512];
static int file_count;

/* The next line that is neither empty nor a comment. */
static bool next_line(FILE *f, char *line, int size)
{
    while (fgets(line, size, f))
        if (line[0] != '%' && strspn(line, " \t\r\n") != strlen(line))
            return true;
    return false;
}

/* The entries of a real coordinate file as they stand there. */
static struct coo read_matrix(const char *path)
{
    char line[1024];
    unsigned long long rows, cols, n, r, c;
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert(next_line(f, line, sizeof line));
    ck_assert_int_eq(sscanf(line, "%llu %llu %llu", &rows, &cols, &n), 3);
    struct coo m = coo_new(rows, cols, n, GP_F64);
    while (m.nnz < n) {
        double v = 1;
        ck_assert(next_line(f, line, sizeof line));
        ck_assert_int_ge(sscanf(line, "%llu %llu %lf", &r, &c, &v), 2);
        t_set(GP_F64, m.values, m.nnz, v);
        coo_add(&m, r - 1, c - 1);
    }
    fclose(f);
    return m;
}

static bool is_coordinate(const char *path)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    bool ok =
        f && fgets(line, sizeof line, f) && strstr(line, "coordinate") && !strstr(line, "complex");
    if (f)
        fclose(f);
    return ok;
}

/* The files of the directory that are real coordinate lists. */
static void find_files(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;
    while (d && (e = readdir(d)) && file_count < FILES_MAX) {
        char *path = files[file_count];
        snprintf(path, sizeof files[0], "%s/%.200s", directory, e->d_name);
        if (strstr(e->d_name, ".mtx") && is_coordinate(path))
            file_count++;
    }
    if (d)
        closedir(d);
}

/* Convert on the device, compare with the oracle, multiply. */
START_TEST(test_real_matrix)
{
    struct coo m = read_matrix(files[_i]);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.value_dtype = GP_F64;
    struct csr want = oracle_from_coo(&m, GP_DUPLICATES_SUM);
    t_array rows = index_array(m.rows, m.nnz, GP_U32, 0),
            cols = index_array(m.cols, m.nnz, GP_U32, 0);
    t_array values = t_new_from(m.values, m.nnz * 8, 0), pointers = t_new((m.num_rows + 1) * 4, 0);
    t_array out_cols = t_new(m.nnz * 4, 0), out_values = t_new(m.nnz * 8, 0), nnz = t_new(8, 0);
    T_OK(gp_csr_from_coo(t_ctx(), &d, m.num_rows, m.num_cols, rows.data, cols.data, values.data,
                         m.nnz, pointers.data, out_cols.data, out_values.data, nnz.data));
    ck_assert_uint_eq(t_get_u64(&nnz), want.nnz);
    check_indices("row pointers", &pointers, want.pointers, m.num_rows + 1, GP_U32);
    check_indices("columns", &out_cols, want.cols, want.nnz, GP_U32);
    check_values(&out_values, &want);
    spmv_case(&want, pairs[_i % PAIRS], 0, 0);
    t_array *all[] = {&rows, &cols, &values, &pointers, &out_cols, &out_values, &nnz};
    for (int i = 0; i < 7; i++)
        t_free(all[i]);
    csr_free(&want);
    coo_free(&m);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_spmv");
    TCase *c = t_case(s, "spmv");
    tcase_add_loop_test(c, test_spmv_matrices_match_oracle, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_spmv_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_spmv_around_tiles, 0, sizeof tiles / sizeof *tiles);
    tcase_add_loop_test(c, test_spmv_row_over_many_tiles, 0, 6);
    tcase_add_loop_test(c, test_spmv_long_rows_side_by_side, 0, 16);
    tcase_add_loop_test(c, test_spmv_many_rows, 0, 2);
    tcase_add_test(c, test_spmv_scalars_in_memory);
    tcase_add_loop_test(c, test_spmv_plan_of_near_and_far_columns, 0, 3);
    tcase_add_loop_test(c, test_spmv_plan_of_another_pattern, 0, 3);
    tcase_add_test(c, test_spmv_plan_errors);
    tcase_add_test(c, test_spmv_same_bits_in_every_run);
    if (getenv("GP_TEST_DATA"))
        find_files(getenv("GP_TEST_DATA"));
    if (file_count) {
        c = t_case(s, "real");
        tcase_add_loop_test(c, test_real_matrix, 0, file_count);
    }
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
