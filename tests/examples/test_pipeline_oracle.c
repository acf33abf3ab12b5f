/* SPDX-License-Identifier: MIT */
/* The helpers of sparse_pipeline: generator, oracle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "asserts.h"
#include "oracle.h"
#include "rmat.h"

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

/* One vertex comes out of the first quadrants alone, and is the heaviest: 0.76 of the rows is the
 * share of each choice. Vertices are renamed, which is a permutation. */
START_TEST(test_rmat_is_skewed)
{
    struct coo m;
    size_t degree[256] = {0}, most = 0, used = 0;
    ck_assert(rmat_generate(8, 64, 1, &m, NULL, NULL));
    for (size_t k = 0; k < m.nnz; k++) {
        ck_assert(m.rows[k] < 256 && m.cols[k] < 256);
        degree[m.rows[k]]++;
    }
    for (int i = 0; i < 256; i++) {
        most = degree[i] > most ? degree[i] : most;
        used += degree[i] > 0;
    }
    double share = (double)most / (double)m.nnz, expected = pow(0.76, 8);
    ck_assert_msg(fabs(share - expected) < 0.15 * expected, "%g, expected %g", share, expected);
    ck_assert_uint_gt(used, 200);
    coo_free(&m);
}
END_TEST

/* Row r and column c of a matrix of 4 quadrants: the share of each is its probability. */
START_TEST(test_rmat_quadrants_have_their_shares)
{
    static const double shares[] = {0.57, 0.19, 0.19, 0.05};
    double found[4] = {0};
    struct coo m;
    ck_assert(rmat_generate(1, 1 << 16, 3, &m, NULL, NULL));
    for (size_t k = 0; k < m.nnz; k++)
        found[2 * m.rows[k] + m.cols[k]] += 1.0 / (double)m.nnz;
    const int flip = found[3] > found[0] ? 3 : 0; /* both vertices may have changed names */
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(found[i ^ flip], shares[i], 0.01);
    coo_free(&m);
}
END_TEST

START_TEST(test_oracle_merges_and_multiplies)
{
    static const uint32_t pointers[] = {0, 2, 3, 4, 4, 6}, cols[] = {1, 3, 1, 0, 1, 3};
    static const double values[] = {7, -1e-3 + 1, 0, 2.5 + .25 + 125, .5, 12345678901234567890.0};
    /* Not sorted, with duplicates, an empty row and an empty column. */
    uint32_t rows[] = {2, 0, 4, 2, 2, 0, 4, 0, 1}, entry_cols[] = {0, 3, 1, 0, 0, 1, 3, 3, 1};
    double entries[] = {2.5, -1e-3, .5, 0.25, 125, 7, 12345678901234567890.0, 1, 0};
    const struct coo m = {5, 4, 9, rows, entry_cols, entries};
    struct coo sorted;
    struct csr a;
    double x[4] = {1, 2, 3, 4}, y[5], size[5];
    ck_assert(oracle_sort(&m, &sorted) && oracle_merge(&sorted, &a));
    ck_assert_uint_eq(a.nnz, 6);
    ck_assert_mem_eq(a.row_pointers, pointers, sizeof pointers);
    ck_assert_mem_eq(a.cols, cols, sizeof cols);
    ck_assert_mem_eq(a.values, values, sizeof values);
    oracle_spmv(&a, x, y, size);
    ck_assert(y[0] == 14 + 4 * values[1] && y[2] == values[3] && y[3] == 0);
    csr_free(&a);
    coo_free(&sorted);
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

/* 0 -> 1 -> 2 -> 0, 3 -> 1, 2 -> 2, and 4 alone. */
static uint32_t graph_pointers[] = {0, 1, 2, 4, 5, 5}, graph_cols[] = {1, 2, 0, 2, 1};
static double graph_values[] = {1, -2, 3, 4, 5};
static const struct csr graph = {5, 5, 5, graph_pointers, graph_cols, graph_values};

START_TEST(test_oracle_transposes)
{
    static const uint32_t pointers[] = {0, 1, 3, 5, 5, 5}, cols[] = {2, 0, 3, 1, 2};
    static const double values[] = {3, 1, 5, 2, 4};
    struct csr t;
    ck_assert(oracle_transpose(&graph, &t));
    ck_assert_uint_eq(t.nnz, 5);
    ck_assert_mem_eq(t.row_pointers, pointers, sizeof pointers);
    ck_assert_mem_eq(t.cols, cols, sizeof cols);
    ck_assert_mem_eq(t.values, values, sizeof values);
    csr_free(&t);
}
END_TEST

START_TEST(test_oracle_degrees)
{
    static const uint32_t degree[] = {1, 1, 2, 1, 0};
    static const uint64_t bins[] = {1, 3, 1, 0};
    struct oracle_degrees d;
    ck_assert(oracle_degrees(&graph, &d));
    ck_assert_mem_eq(d.degree, degree, sizeof degree);
    ck_assert_mem_eq(d.bins, bins, sizeof bins);
    ck_assert(d.most == 2 && d.first_with_most == 2);
    free(d.degree);
}
END_TEST

START_TEST(test_oracle_scales_columns)
{
    static const double expected[] = {1.0 / 6, 2.0 / 6, 1, 4.0 / 6, 5.0 / 6};
    double values[5];
    ck_assert(oracle_scale_columns(&graph, values));
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(values[i], expected[i], 1e-15);
}
END_TEST

START_TEST(test_oracle_searches_and_connects)
{
    static const uint32_t levels[] = {2, 0, 1, UINT32_MAX, UINT32_MAX}, parts[] = {0, 0, 0, 0, 4};
    uint32_t found[5];
    ck_assert(oracle_bfs(&graph, 1, found));
    ck_assert_mem_eq(found, levels, sizeof levels);
    ck_assert(oracle_components(&graph, found));
    ck_assert_mem_eq(found, parts, sizeof parts);
}
END_TEST

/* One triangle of which an edge goes both ways; then all pairs of 7 vertices: 7 over 3. */
START_TEST(test_oracle_triangles)
{
    uint32_t pointers[8], cols[49];
    double values[49];
    struct csr all = {7, 7, 49, pointers, cols, values}, t;
    uint64_t found;
    ck_assert(oracle_transpose(&graph, &t) && oracle_triangles(&graph, &t, &found, NULL, NULL));
    ck_assert_uint_eq(found, 1);
    csr_free(&t);
    for (uint32_t i = 0; i < 49; i++) {
        cols[i] = i % 7;
        values[i] = 1;
    }
    for (uint32_t r = 0; r < 8; r++)
        pointers[r] = 7 * r;
    ck_assert(oracle_triangles(&all, &all, &found, NULL, NULL));
    ck_assert_uint_eq(found, 35);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pipeline_oracle");
    TCase *c = tcase_create("values");
    tcase_add_test(c, test_rmat_same_seed_same_graph);
    tcase_add_test(c, test_rmat_is_skewed);
    tcase_add_test(c, test_rmat_quadrants_have_their_shares);
    tcase_add_test(c, test_oracle_transposes);
    tcase_add_test(c, test_oracle_degrees);
    tcase_add_test(c, test_oracle_scales_columns);
    tcase_add_test(c, test_oracle_searches_and_connects);
    tcase_add_test(c, test_oracle_triangles);
    tcase_add_test(c, test_oracle_merges_and_multiplies);
    tcase_add_test(c, test_oracle_pagerank_of_three_pages);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
