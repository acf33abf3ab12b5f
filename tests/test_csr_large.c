/* SPDX-License-Identifier: MIT */
/* Plans of products with matrices of millions of entries. */
#include "spmv_cases.h"

/* Matrices so large that products by a plan read x in other ways: half of the entries have one of
 * few columns, whose x is read from shared memory or beside it; or columns are anywhere, and x is
 * read in two bands, or in three. One row has many tiles. Sums are exact. On the CPU matrices are
 * small ones. */
static const struct {
    gp_dtype dtype;
    int hot;
    uint64_t nnz, num_cols;
} larges[] = {{GP_F32, 1, 1 << 23, 300000},
              {GP_F64, 1, 1 << 23, 300000},
              {GP_BF16, 1, 1 << 23, 300000},
              {GP_F64, 0, 1 << 22, 3700000},
              {GP_F64, 0, 1 << 23, 8000000}};
enum { LARGES = sizeof larges / sizeof *larges };

START_TEST(test_spmv_plan_of_large_matrices)
{
    const bool small = gp_context_backend(t_ctx()) == GP_BACKEND_CPU;
    const uint64_t part = small ? 64 : 1, num_cols = larges[_i].num_cols / part;
    const uint64_t nnz = larges[_i].nnz / part + 1000, num_rows = nnz / 16;
    const gp_dtype dtype = larges[_i].dtype;
    uint64_t seed = t_seed();
    struct csr a = {num_rows,
                    num_cols,
                    nnz,
                    t_host((num_rows + 1) * 8),
                    t_host(nnz * 8),
                    t_host(nnz * gp_dtype_bytes(dtype)),
                    dtype};
    for (uint64_t r = 0; r <= num_rows; r++)
        a.pointers[r] = r < 1000 ? 0 : r == num_rows ? nnz : (r - 1000) * 15;
    for (uint64_t i = 0; i < nnz; i++) {
        const uint64_t n = t_random(&seed);
        a.cols[i] = larges[_i].hot && n >> 8 & 1 ? n % 30000 * 7 % num_cols : n % num_cols;
        t_set(a.dtype, a.values, i, (double)(n >> 32 & 3));
    }
    struct device_csr d = upload(&a, pairs[_i % PAIRS]);
    d.hot_columns = larges[_i].hot;
    const size_t vb = gp_dtype_bytes(a.dtype), bytes = num_rows * vb;
    t_array x = t_new_from(a.values, num_cols * vb, 0), plan = plan_new(t_ctx(), &d);
    t_array y = t_new(bytes, 0), planned = t_new(bytes, 0);
    void *want = t_host(bytes), *got = t_host(bytes);
    T_OK(multiply(t_ctx(), &d, NULL, &x, NULL, &y));
    T_OK(multiply_planned(t_ctx(), &d, &plan, NULL, &x, NULL, &planned));
    t_get(&y, want, bytes);
    t_get(&planned, got, bytes);
    t_same_bytes("y by plan", want, got, bytes);
    t_array *all[] = {&x, &plan, &y, &planned};
    for (int i = 0; i < 4; i++) {
        t_check_guards(all[i]);
        t_free(all[i]);
    }
    free(want);
    free(got);
    device_free(&d);
    csr_free(&a);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_large");
    TCase *c = t_case(s, "many entries");
    tcase_add_loop_test(c, test_spmv_plan_of_large_matrices, 0, LARGES);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
