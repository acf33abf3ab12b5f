/* SPDX-License-Identifier: MIT */
/* Coordinate lists and products of more than 2^31 entries, and the same of fewer. */
#include <stdio.h>

#include <gp/fill.h>
#include <gp/reduce.h>

#include "csr_cases.h"

static void *device(size_t bytes)
{
    void *memory;
    T_OK(gp_malloc(t_ctx(), bytes, &memory));
    return memory;
}

static uint64_t item_at(const void *items, gp_dtype dtype, uint64_t i)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    uint64_t item = 0;
    T_OK(gp_copy(t_ctx(), (const char *)items + i * bytes, bytes, &item));
    T_OK(gp_context_synchronize(t_ctx()));
    return item;
}

static bool has_bytes(size_t bytes)
{
    void *memory;
    if (gp_malloc(t_ctx(), bytes, &memory) != GP_OK)
        return printf("%zu bytes are not there: skipped\n", bytes), false;
    T_OK(gp_free(t_ctx(), memory));
    return true;
}

/* Whether there is memory for the arrays of long_list() and the workspace of the call. */
static bool has_memory(uint64_t n, const gp_dtype pair[2])
{
    const uint64_t own = 3 * n * gp_dtype_bytes(pair[0]) + n / 8 * gp_dtype_bytes(pair[1]);
    gp_coo_desc d = GP_COO_DESC_INIT;
    size_t bytes;
    d.index_dtype = pair[0], d.offset_dtype = pair[1], d.value_dtype = (gp_dtype)0;
    T_OK(gp_csr_from_coo_workspace_bytes(NULL, &d, n / 16, n, n, &bytes));
    return has_bytes(bytes + own + ((size_t)1 << 30));
}

/* 16 entries a row; their columns are the numbers below n, which ascend or fall. */
static void long_list(uint64_t n, const gp_dtype pair[2], bool falls)
{
    const size_t ib = gp_dtype_bytes(pair[0]), ob = gp_dtype_bytes(pair[1]);
    const uint64_t num_rows = n / 16, zero = 0, each = 16, last = n - 1, up = 1, down = UINT64_MAX;
    void *pointers = device((num_rows + 1) * ob), *rows = device(n * ib), *cols = device(n * ib);
    void *out_pointers = device((num_rows + 1) * ob), *out_cols = device(n * ib);
    uint64_t *nnz = device(8);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = pair[0], d.offset_dtype = pair[1], d.value_dtype = (gp_dtype)0;
    T_OK(gp_iota(t_ctx(), pair[1], &zero, &each, num_rows + 1, pointers));
    T_OK(gp_csr_to_coo(t_ctx(), pair[1], pointers, num_rows, n, pair[0], rows));
    T_OK(gp_iota(t_ctx(), pair[0], falls ? &last : &zero, falls ? &down : &up, n, cols));
    T_OK(gp_csr_from_coo(t_ctx(), &d, num_rows, n, rows, cols, NULL, n, out_pointers, out_cols,
                         NULL, nnz));
    ck_assert_uint_eq(item_at(nnz, GP_U64, 0), n);
    T_OK(gp_check_csr(t_ctx(), pair[0], pair[1], num_rows, n, n, out_pointers, out_cols));
    for (uint64_t k = 0; k < 40; k++) {
        const uint64_t r = k < 20 ? k * (num_rows / 20) : num_rows - 40 + k, i = 16 * r + k % 16;
        ck_assert_uint_eq(item_at(out_pointers, pair[1], r), 16 * r);
        ck_assert_uint_eq(item_at(out_cols, pair[0], i), falls ? last - (16 * r + 15 - k % 16) : i);
    }
    void *all[] = {pointers, rows, cols, out_pointers, out_cols, nnz};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        T_OK(gp_free(t_ctx(), all[i]));
}

START_TEST(test_from_coo_long_lists)
{
    long_list((1 << 20) + 160, pairs[_i / 2], _i % 2);
}
END_TEST

/* Indices of 4 bytes take some 80 GB with the workspace, of 8 bytes 110. */
START_TEST(test_from_coo_past_2_to_the_31)
{
    static const gp_dtype with[2][2] = {{GP_U32, GP_U64}, {GP_I64, GP_I64}};
    const uint64_t n = ((uint64_t)1 << 31) + 160;
    t_ctx_drop(); /* and the workspace of the round before */
    if (has_memory(n, with[_i / 2]))
        long_list(n, with[_i / 2], _i % 2);
}
END_TEST

/* ---- products ---- */

enum { MARKED = 5 };

/* 16 in each row, but for those of the marked entries: entry k has k more. */
static void check_sums(const float *y, uint64_t n, const uint64_t *marked)
{
    float ends[2];
    void *folded = device(8);
    T_OK(gp_reduce(t_ctx(), GP_F32, GP_MIN, y, n / 16, folded));
    T_OK(gp_reduce(t_ctx(), GP_F32, GP_MAX, y, n / 16, (float *)folded + 1));
    T_OK(gp_copy(t_ctx(), folded, 8, ends));
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_float_eq(ends[0], 16);
    ck_assert_float_eq(ends[1], 16 + MARKED);
    for (uint32_t k = 0; k < MARKED; k++) {
        const uint64_t bits = item_at(y, GP_F32, marked[k] / 16);
        float sum;
        memcpy(&sum, &bits, 4);
        ck_assert_float_eq(sum, 17 + (float)k);
    }
    T_OK(gp_free(t_ctx(), folded));
}

/* Rows of 16 entries in columns of their own, all numbers 1, but for x of the marked ones. */
static void long_products(uint64_t n, const gp_dtype pair[2])
{
    const size_t ib = gp_dtype_bytes(pair[0]), ob = gp_dtype_bytes(pair[1]);
    const uint64_t num_rows = n / 16, zero = 0, each = 16, up = 1;
    const uint64_t marked[MARKED] = {5, n / 2, n - 161, n - 100, n - 1};
    const float one = 1;
    gp_csr_desc d = GP_CSR_DESC_INIT;
    d.index_dtype = pair[0], d.offset_dtype = pair[1], d.value_dtype = GP_F32;
    size_t bytes;
    T_OK(gp_spmv_plan_bytes(NULL, &d, num_rows, n, n, &bytes));
    if (!has_bytes(bytes + n * (ib + 8) + num_rows * (ob + 8) + ((size_t)1 << 30)))
        return;
    void *pointers = device((num_rows + 1) * ob), *cols = device(n * ib), *plan = device(bytes);
    float *values = device(n * 4), *x = device(n * 4), *y = device(num_rows * 4);
    T_OK(gp_iota(t_ctx(), pair[1], &zero, &each, num_rows + 1, pointers));
    T_OK(gp_iota(t_ctx(), pair[0], &zero, &up, n, cols));
    T_OK(gp_fill(t_ctx(), 4, &one, n, values));
    T_OK(gp_fill(t_ctx(), 4, &one, n, x));
    for (int k = 0; k < MARKED; k++) {
        const float more = 2 + (float)k;
        T_OK(gp_copy(t_ctx(), &more, 4, x + marked[k]));
    }
    T_OK(gp_spmv_by(t_ctx(), &d, num_rows, n, n, pointers, cols, values, NULL, x, NULL, y));
    check_sums(y, n, marked);
    T_OK(gp_fill(t_ctx(), 4, &one, num_rows, y));
    T_OK(gp_spmv_plan(t_ctx(), &d, num_rows, n, n, pointers, cols, plan));
    T_OK(gp_spmv_planned(t_ctx(), &d, num_rows, n, n, pointers, cols, plan, values, NULL, x, NULL,
                         y));
    check_sums(y, n, marked);
    void *all[] = {pointers, cols, plan, values, x, y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        T_OK(gp_free(t_ctx(), all[i]));
}

START_TEST(test_products_of_long_matrices)
{
    long_products((1 << 20) + 160, pairs[_i]);
}
END_TEST

/* Indices of 4 bytes take 33 GB, of 8 bytes 42. */
START_TEST(test_products_past_2_to_the_31)
{
    static const gp_dtype with[2][2] = {{GP_U32, GP_U64}, {GP_I64, GP_I64}};
    t_ctx_drop();
    long_products(((uint64_t)1 << 31) + 160, with[_i]);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr_long");
    TCase *c = t_case(s, "lists");
    tcase_add_loop_test(c, test_from_coo_long_lists, 0, 2 * PAIRS);
    tcase_add_loop_test(c, test_products_of_long_matrices, 0, PAIRS);
    c = t_case(s, "large lists");
    tcase_add_loop_test(c, test_from_coo_past_2_to_the_31, 0, 4);
    tcase_add_loop_test(c, test_products_past_2_to_the_31, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
