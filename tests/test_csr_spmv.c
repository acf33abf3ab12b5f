/* SPDX-License-Identifier: MIT */
/* SpMV. */
#include "spmv_cases.h"

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

/* Entry j of row r, of grids: a row of neighbours, or three with their neighbours. Of kind 2 some
 * rows have columns anywhere, near or far; of kind 3 all have. */
static uint64_t grid_column(int kind, uint64_t r, uint64_t j, uint64_t num_cols, uint64_t *seed)
{
    if (kind == 3 || (kind == 2 && r % 20 == 0))
        return t_random_below(seed, 50000);
    if (kind == 2 && r % 100 == 57)
        return t_random_below(seed, num_cols);
    return (r + (kind ? j % 3 + j / 3 * 120 : j)) % num_cols;
}

/* Columns that lie as those of other entries do: everywhere, but for ends of rows of a grid, here
 * and there, and nowhere, so that there is no room for all. A row has many tiles. */
START_TEST(test_spmv_plan_of_columns_of_a_grid)
{
    static const gp_dtype dtypes[] = {GP_F32, GP_F64, GP_F16, GP_F64};
    const uint64_t num_rows = _i ? 240000 : 135000, num_cols = 1 << 20, most = num_rows * 16 + 5000;
    uint64_t seed = t_seed();
    struct csr a = {num_rows,
                    num_cols,
                    0,
                    t_host((num_rows + 1) * 8),
                    t_host(most * 8),
                    t_host(most * gp_dtype_bytes(dtypes[_i])),
                    dtypes[_i]};
    for (uint64_t r = 0; r < num_rows; r++) {
        const uint64_t length = r == 4321 ? 5000 : _i == 0 ? 16 : r % 40 ? 9 : 6;
        a.pointers[r] = a.nnz;
        for (uint64_t j = 0; j < length; j++)
            a.cols[a.nnz++] = grid_column(_i, r, j, num_cols, &seed);
    }
    a.pointers[num_rows] = a.nnz;
    t_fill_random(a.dtype, a.values, a.nnz, &seed);
    for (int pair = 0; pair < PAIRS; pair++)
        spmv_case(&a, pairs[pair], 0.5, pair);
    csr_free(&a);
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
    tcase_add_test(c, test_spmv_same_bits_in_every_run);
    c = t_case(s, "plans of grids");
    tcase_add_loop_test(c, test_spmv_plan_of_columns_of_a_grid, 0, 4);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
