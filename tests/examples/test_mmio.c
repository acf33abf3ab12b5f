/* SPDX-License-Identifier: MIT */
/* The helpers of sparse_pipeline: reader, generator, oracle. usage: test_mmio DATA_DIR */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mmio.h"
#include "oracle.h"
#include "rmat.h"

static const char *data_dir;

static void read_good(const char *name, struct coo *m)
{
    char path[512], message[MM_MESSAGE_BYTES] = "";
    struct mm_file file;
    snprintf(path, sizeof path, "%s/%s", data_dir, name);
    bool good = mm_read(path, m, &file, message, NULL, NULL);
    ck_assert_msg(good, "%s", message);
}

/* Dense and row-major, entries of one place added. */
static void check_dense(const char *name, uint32_t rows, uint32_t cols, size_t nnz,
                        const double *expected)
{
    struct coo m;
    double got[64] = {0};
    read_good(name, &m);
    ck_assert_uint_eq(m.num_rows, rows);
    ck_assert_uint_eq(m.num_cols, cols);
    ck_assert_uint_eq(m.nnz, nnz);
    for (size_t k = 0; k < m.nnz; k++)
        got[m.rows[k] * cols + m.cols[k]] += m.values[k];
    for (uint32_t i = 0; i < rows * cols; i++)
        ck_assert_msg(got[i] == expected[i], "%s: element %u is %.17g, expected %.17g", name, i,
                      got[i], expected[i]);
    coo_free(&m);
}

START_TEST(test_mm_read_general_takes_entries_in_file_order)
{
    static const uint32_t rows[] = {2, 0, 4, 2, 2, 0, 4, 0, 1};
    static const uint32_t cols[] = {0, 3, 1, 0, 0, 1, 3, 3, 1};
    static const double values[] = {2.5, -1e-3, .5, .25, 125, 7, 12345678901234567890.125, 1, 0};
    struct coo m;
    read_good("general.mtx", &m);
    ck_assert_uint_eq(m.nnz, 9);
    ck_assert_mem_eq(m.rows, rows, sizeof rows);
    ck_assert_mem_eq(m.cols, cols, sizeof cols);
    ck_assert_mem_eq(m.values, values, sizeof values);
    coo_free(&m);
}
END_TEST

START_TEST(test_mm_read_symmetries_are_mirrored)
{
    static const double symmetric[] = {2, -1, 0, 0, -1, 0, -1, 0, 0, -1, 2, -1, 0, 0, -1, .5};
    static const double skew[] = {0, -4, 7, 4, 0, 0, -7, 0, 0};
    static const double pattern[] = {0, 2, 0, 1, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1};
    check_dense("symmetric.mtx", 4, 4, 9, symmetric);
    check_dense("skew.mtx", 3, 3, 4, skew);
    check_dense("pattern_dos.mtx", 4, 4, 8, pattern);
}
END_TEST

START_TEST(test_mm_read_arrays_give_their_non_zeros)
{
    static const double array[] = {1.5, 0, 0, 0, -2, 4};
    static const double symmetric[] = {1, 2, 0, 2, 4, 5, 0, 5, 6};
    static const double skew[] = {0, -1, -2, 1, 0, -3, 2, 3, 0};
    check_dense("array.mtx", 3, 2, 3, array);
    check_dense("array_symmetric.mtx", 3, 3, 7, symmetric);
    check_dense("array_skew.mtx", 3, 3, 6, skew);
}
END_TEST

START_TEST(test_mm_read_matrices_without_entries)
{
    check_dense("no_entries.mtx", 3, 5, 0, (double[15]){0});
    check_dense("no_rows.mtx", 0, 0, 0, NULL);
}
END_TEST

/* Numbers in many forms, each compared with strtod. */
static void print_number(char text[64], uint64_t bits)
{
    static const char *const formats[] = {"%.17g", "%.6e", "%.3f", "%.0f", "%.25g", "%+.1E"};
    double v;
    if (bits % 3 == 0) {
        memcpy(&v, &bits, sizeof v);
        v = isfinite(v) ? v : 0.0;
    } else {
        v = ((double)(bits >> 11) - 4503599627370496.0) * pow(10.0, (double)(bits % 37) - 18.0);
    }
    if (snprintf(text, 64, formats[bits / 8 % 6], v) >= 64)
        snprintf(text, 64, "%.17g", v);
}

START_TEST(test_mm_read_numbers_equal_strtod)
{
    enum { COUNT = 5000 };
    char path[] = "gp_mmio_XXXXXX", text[64], message[MM_MESSAGE_BYTES] = "";
    struct mm_file file;
    struct coo m;
    double *expected = malloc(COUNT * sizeof *expected);
    uint64_t state = 1;
    FILE *f = fdopen(mkstemp(path), "w");
    ck_assert(f && expected);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n1 %d %d\n", COUNT, COUNT);
    for (int i = 0; i < COUNT; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        print_number(text, state ^ state >> 29);
        expected[i] = strtod(text, NULL);
        fprintf(f, "1 %d %s\n", i + 1, text);
    }
    fclose(f);
    bool good = mm_read(path, &m, &file, message, NULL, NULL);
    unlink(path);
    ck_assert_msg(good, "%s", message);
    for (int i = 0; i < COUNT; i++)
        ck_assert_msg(memcmp(&m.values[i], &expected[i], 8) == 0, "entry %d is %.17g, not %.17g", i,
                      m.values[i], expected[i]);
    coo_free(&m);
    free(expected);
}
END_TEST

START_TEST(test_rmat_same_seed_same_graph)
{
    struct coo a, b, c;
    ck_assert(rmat_generate(8, 16, 5, &a, NULL, NULL) && rmat_generate(8, 16, 5, &b, NULL, NULL) &&
              rmat_generate(8, 16, 6, &c, NULL, NULL));
    ck_assert_uint_eq(a.nnz, 16 << 8);
    ck_assert_mem_eq(a.rows, b.rows, a.nnz * 4);
    ck_assert_mem_eq(a.cols, b.cols, a.nnz * 4);
    ck_assert_mem_ne(a.rows, c.rows, a.nnz * 4);
    coo_free(&a);
    coo_free(&b);
    coo_free(&c);
}
END_TEST

/* The share of edges in the upper half of the rows before relabelling is 0.76; vertex 0 stays
 * itself and is the heaviest. */
START_TEST(test_rmat_is_skewed)
{
    struct coo m;
    size_t degree[256] = {0}, most = 0;
    ck_assert(rmat_generate(8, 64, 1, &m, NULL, NULL));
    for (size_t k = 0; k < m.nnz; k++) {
        ck_assert(m.rows[k] < 256 && m.cols[k] < 256);
        degree[m.rows[k]]++;
    }
    for (int i = 0; i < 256; i++)
        most = degree[i] > most ? degree[i] : most;
    double share = (double)degree[0] / (double)m.nnz, expected = pow(0.76, 8);
    ck_assert_uint_eq(degree[0], most);
    ck_assert_msg(fabs(share - expected) < 0.15 * expected, "%g, expected %g", share, expected);
    coo_free(&m);
}
END_TEST

START_TEST(test_oracle_merges_and_multiplies)
{
    static const uint32_t pointers[] = {0, 2, 3, 4, 4, 6}, cols[] = {1, 3, 1, 0, 1, 3};
    static const double values[] = {7, -1e-3 + 1, 0, 2.5 + .25 + 125, .5, 12345678901234567890.0};
    struct coo m, sorted;
    struct csr a;
    double x[4] = {1, 2, 3, 4}, y[5], size[5];
    read_good("general.mtx", &m);
    ck_assert(oracle_sort(&m, &sorted) && oracle_merge(&sorted, &a));
    ck_assert_uint_eq(a.nnz, 6);
    ck_assert_mem_eq(a.row_pointers, pointers, sizeof pointers);
    ck_assert_mem_eq(a.cols, cols, sizeof cols);
    ck_assert_mem_eq(a.values, values, sizeof values);
    oracle_spmv(&a, x, y, size);
    ck_assert(y[0] == 14 + 4 * values[1] && y[2] == values[3] && y[3] == 0);
    csr_free(&a);
    coo_free(&sorted);
    coo_free(&m);
}
END_TEST

/* Two pages that link to each other, and a third that links to the first and has no links to it. */
START_TEST(test_oracle_pagerank_of_three_pages)
{
    uint32_t pointers[] = {0, 2, 3, 3}, cols[] = {1, 2, 0};
    double values[] = {1, 1, 1}, rank[3];
    struct csr p = {3, 3, 3, pointers, cols, values};
    int iterations;
    ck_assert(oracle_pagerank(&p, 0.5, 1e-12, rank, &iterations, NULL, NULL));
    /* r2 = 1/6, r0 = (r1 + r2) / 2 + 1/6, r1 = r0 / 2 + 1/6 */
    ck_assert_double_eq_tol(rank[2], 1.0 / 6, 1e-11);
    ck_assert_double_eq_tol(rank[0], 4.0 / 9, 1e-11);
    ck_assert_double_eq_tol(rank[1], 7.0 / 18, 1e-11);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("mmio");
    TCase *c = tcase_create("values");
    if (argc != 2)
        return 2;
    data_dir = argv[1];
    tcase_add_test(c, test_mm_read_general_takes_entries_in_file_order);
    tcase_add_test(c, test_mm_read_symmetries_are_mirrored);
    tcase_add_test(c, test_mm_read_arrays_give_their_non_zeros);
    tcase_add_test(c, test_mm_read_matrices_without_entries);
    tcase_add_test(c, test_mm_read_numbers_equal_strtod);
    tcase_add_test(c, test_rmat_same_seed_same_graph);
    tcase_add_test(c, test_rmat_is_skewed);
    tcase_add_test(c, test_oracle_merges_and_multiplies);
    tcase_add_test(c, test_oracle_pagerank_of_three_pages);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
