/* SPDX-License-Identifier: MIT */
/* Row pointers, their inverse, the deep check. */
#include <inttypes.h>
#include <stdio.h>

#include "csr_cases.h"

/* ---- row pointers ---- */

typedef gp_status (*pointers_call)(gp_context *, gp_dtype, const void *, size_t, size_t, gp_dtype,
                                   void *);

static void pointers_case(pointers_call call, const uint64_t *rows, uint64_t nnz, uint64_t num_rows,
                          const gp_dtype pair[2], size_t offset)
{
    uint64_t *want = t_host((num_rows + 1) * sizeof *want);
    size_t ob = gp_dtype_bytes(pair[1]);
    memset(want, 0, (num_rows + 1) * sizeof *want);
    for (uint64_t i = 0; i < nnz; i++)
        want[rows[i] + 1]++;
    for (uint64_t r = 0; r < num_rows; r++)
        want[r + 1] += want[r];
    t_array in = index_array(rows, nnz, pair[0], offset * gp_dtype_bytes(pair[0]));
    t_array out = t_new(ob * (num_rows + 1), offset * ob);
    T_OK(call(t_ctx(), pair[0], in.data, nnz, num_rows, pair[1], out.data));
    check_indices("row pointers", &out, want, num_rows + 1, pair[1]);
    t_free(&in);
    t_free(&out);
    free(want);
}

/* Both calls on the rows of m; sorts them. */
static void pointers_both(struct coo *m, const gp_dtype pair[2], size_t offset)
{
    pointers_case(gp_csr_row_pointers_unsorted, m->rows, m->nnz, m->num_rows, pair, offset);
    uint64_t *order = coo_order(m), *rows = t_host(m->nnz * sizeof *rows);
    for (uint64_t i = 0; i < m->nnz; i++)
        rows[i] = m->rows[order[i]];
    pointers_case(gp_csr_row_pointers, rows, m->nnz, m->num_rows, pair, offset);
    free(order);
    free(rows);
}

START_TEST(test_row_pointers_matrices)
{
    struct coo m = coo_make((enum matrix)(_i / PAIRS), 3000, GP_U8, t_seed());
    pointers_both(&m, pairs[_i % PAIRS], (size_t)_i % 5);
    coo_free(&m);
}
END_TEST

START_TEST(test_row_pointers_every_small_size)
{
    for (uint64_t n = (uint64_t)_i * 256; n < (uint64_t)(_i + 1) * 256; n++) {
        struct coo m = coo_make(n % 3 ? RANDOM : SINGLE_ROW, n, GP_U8, t_seed() + n);
        pointers_both(&m, pairs[n % PAIRS], n % 4);
        coo_free(&m);
    }
}
END_TEST

START_TEST(test_row_pointers_sizes)
{
    struct coo m = coo_make(RANDOM, t_sizes[_i], GP_U8, t_seed());
    pointers_both(&m, pairs[_i % PAIRS], 1);
    coo_free(&m);
}
END_TEST

/* Gaps of every length around the width of a warp and of a block of pointers, and long ones. */
START_TEST(test_row_pointers_gaps)
{
    static const uint64_t gaps[] = {1,    2,    31,   32,   33,   255,   256,    1023,
                                    1024, 1025, 2047, 2048, 2049, 10000, 300000, 0};
    uint64_t rows[64], n = 0, row = (uint64_t)_i * 700;
    for (int i = 0; i < 16; i++) {
        rows[n++] = row;
        row += gaps[(i + _i) % 16];
    }
    pointers_case(gp_csr_row_pointers, rows, n, row + 1 + gaps[_i % 16], pairs[_i % PAIRS], 0);
    pointers_case(gp_csr_row_pointers_unsorted, rows, n, row + 1, pairs[_i % PAIRS], 0);
}
END_TEST

/* Gaps around what a warp writes for its entries, alone or among dense rows. */
START_TEST(test_row_pointers_gaps_that_others_fill)
{
    static const uint64_t gaps[] = {16383, 16384, 16385, 1, 32767, 32768, 32769, 0, 50000, 100000};
    enum { N = 4000 };
    uint64_t *rows = t_host(N * sizeof *rows), row = (uint64_t)_i * 9000;
    for (uint64_t i = 0; i < N; i++) {
        rows[i] = row;
        row += i % (uint64_t)(37 + 300 * (_i % 3)) ? i % 3 / 2 : gaps[(i + (uint64_t)_i) % 10];
    }
    pointers_case(gp_csr_row_pointers, rows, N, row + 1 + gaps[_i], pairs[_i % PAIRS],
                  (size_t)_i % 4);
    pointers_case(gp_csr_row_pointers, rows, 1, row + 1, pairs[_i % PAIRS], 1);
    free(rows);
}
END_TEST

/* So many entries that order is looked for: rows that ascend, but for two, anywhere. */
START_TEST(test_row_pointers_unsorted_with_order)
{
    enum { N = (1 << 21) + 777 };
    static const uint64_t swapped[] = {0, 512, N - 2};
    uint64_t *rows = t_host(N * sizeof *rows);
    for (uint64_t i = 0; i < N; i++)
        rows[i] = _i % 3 == 0 ? i / 5 : _i % 3 == 1 ? 77 + i / 20000 * 1000 : 4;
    pointers_case(gp_csr_row_pointers_unsorted, rows, N, N / 4, pairs[_i % PAIRS], (size_t)_i % 4);
    for (size_t k = 0; k < sizeof swapped / sizeof *swapped; k++) {
        const uint64_t at = swapped[k], row = rows[at];
        rows[at] = rows[at + 1] + 1;
        pointers_case(gp_csr_row_pointers_unsorted, rows, N, N / 4, pairs[_i % PAIRS], k);
        rows[at] = row;
    }
    free(rows);
}
END_TEST

/* Lists in order one behind the other, each of all rows, or of rows below those of the list before
 * it; of more entries than rows, and of fewer. */
START_TEST(test_row_pointers_unsorted_of_lists)
{
    enum { N = 400000 };
    static const uint64_t counts[] = {2, 3, 40};
    const uint64_t num_rows = _i / PAIRS ? N + N / 2 : N / 9;
    uint64_t *rows = t_host(N * sizeof *rows);
    for (int k = 0; k < 6; k++) {
        const uint64_t lists = counts[k % 3], length = N / lists + 1, below = num_rows / lists;
        for (uint64_t i = 0; i < N; i++)
            rows[i] = k < 3 ? i % length * num_rows / length
                            : (lists - 1 - i / length) * below + i % length * below / length;
        pointers_case(gp_csr_row_pointers_unsorted, rows, N, num_rows, pairs[_i % PAIRS], 0);
    }
    free(rows);
}
END_TEST

/* Rows out of range are not counted, whether they are in order or not, and the first is named. */
START_TEST(test_row_pointers_unsorted_leaves_out_bad_rows)
{
    static const uint64_t cases[][2] = {{1 << 21, 1000}, {(1 << 22) + 8, 70000}};
    const uint64_t n = cases[_i / 2 % 2][0], num_rows = cases[_i / 2 % 2][1], first_bad = n - n / 8;
    uint64_t *rows = t_host(n * sizeof *rows), *want = t_host((num_rows + 1) * sizeof *want);
    const gp_dtype *pair = pairs[_i / 4];
    char text[64];
    for (uint64_t i = 0; i < n; i++)
        rows[i] = i < first_bad ? i * num_rows / first_bad : num_rows + i % 2 * (uint64_t)(_i % 2);
    for (uint64_t r = 0; r <= num_rows; r++)
        want[r] = (r * first_bad + num_rows - 1) / num_rows;
    t_array in = index_array(rows, n, pair[0], 0), out = t_new(bytes_of(pair[1], num_rows + 1), 0);
    T_OK(gp_csr_row_pointers_unsorted(t_ctx(), pair[0], in.data, n, num_rows, pair[1], out.data));
    T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
    snprintf(text, sizeof text, "rows[%" PRIu64 "] is %" PRIu64, first_bad, rows[first_bad]);
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), text));
    check_indices("row pointers", &out, want, num_rows + 1, pair[1]);
    t_free(&in);
    t_free(&out);
    free(rows);
    free(want);
}
END_TEST

/* Few rows are counted in shared memory, more by buckets of rows, and where there are too many for
 * that this number of entries is sorted. Skewed: a third is in one row, and others in low ones. */
START_TEST(test_row_pointers_unsorted_of_many_entries)
{
    static const struct {
        uint64_t n, num_rows;
        bool skewed;
    } cases[] = {{(1 << 21) + 5, 16384, false},
                 {(1 << 22) + 3, 70001, false},
                 {(1 << 24) + 77777, 1 << 21, true},
                 {1 << 22, 1 << 25, false},
                 {(1 << 25) + 3, (1 << 25) + 1, false}};
    const uint64_t n = cases[_i % 5].n, num_rows = cases[_i % 5].num_rows;
    uint64_t *rows = t_host(n * sizeof *rows), state = t_seed();
    if (t_is_cuda()) {
        for (uint64_t i = 0; i < n; i++) {
            rows[i] = t_random_below(&state, num_rows);
            if (cases[_i % 5].skewed)
                rows[i] = i % 3 ? t_random_below(&state, rows[i] + 1) : 777777;
        }
        pointers_case(gp_csr_row_pointers_unsorted, rows, n, num_rows, pairs[_i / 5], 1);
    }
    free(rows);
}
END_TEST

START_TEST(test_row_pointers_bad_rows_are_reported)
{
    uint64_t rows[5000];
    for (int bad = 0; bad < 3; bad++) {
        for (uint64_t i = 0; i < 5000; i++)
            rows[i] = i / 4;
        rows[3000] = bad == 0 ? 1250 : bad == 1 ? UINT64_MAX : 5; /* too large twice, descending */
        t_array in = index_array(rows, 5000, pairs[_i][0], 0);
        t_array out = t_new(bytes_of(pairs[_i][1], 1251), 0);
        T_OK(gp_csr_row_pointers(t_ctx(), pairs[_i][0], in.data, 5000, 1250, pairs[_i][1],
                                 out.data));
        T_STATUS(GP_ERROR_DATA, gp_context_synchronize(t_ctx()));
        t_check_guards(&out);
        T_OK(gp_csr_row_pointers_unsorted(t_ctx(), pairs[_i][0], in.data, 5000, 1250, pairs[_i][1],
                                          out.data));
        ck_assert_int_eq(gp_context_synchronize(t_ctx()), bad < 2 ? GP_ERROR_DATA : GP_OK);
        t_check_guards(&out);
        t_free(&in);
        t_free(&out);
    }
}
END_TEST

START_TEST(test_to_coo_inverts_row_pointers)
{
    const gp_dtype *pair = pairs[_i % PAIRS];
    struct coo m = coo_make((enum matrix)(_i / PAIRS), 5000, GP_U8, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_KEEP);
    uint64_t *order = coo_order(&m), *rows = t_host(m.nnz * sizeof *rows);
    for (uint64_t i = 0; i < m.nnz; i++)
        rows[i] = m.rows[order[i]];
    t_array in = index_array(a.pointers, a.num_rows + 1, pair[1], 0);
    t_array out = t_new(bytes_of(pair[0], m.nnz), 0);
    T_OK(gp_csr_to_coo(t_ctx(), pair[1], in.data, m.num_rows, m.nnz, pair[0], out.data));
    check_indices("rows", &out, rows, m.nnz, pair[0]);
    t_free(&in);
    t_free(&out);
    free(order);
    free(rows);
    csr_free(&a);
    coo_free(&m);
}
END_TEST

/* ---- deep check ---- */

static gp_status check_on_device(const struct csr *a, const gp_dtype pair[2])
{
    t_array pointers = index_array(a->pointers, a->num_rows + 1, pair[1], 0);
    t_array cols = index_array(a->cols, a->nnz, pair[0], 0);
    gp_status s = gp_check_csr(t_ctx(), pair[0], pair[1], a->num_rows, a->num_cols, a->nnz,
                               pointers.data, cols.data);
    t_free(&pointers);
    t_free(&cols);
    return s;
}

/* Change one word, expect the row in the error text, and change it back. */
static void corrupt(const struct csr *a, const gp_dtype pair[2], uint64_t *word, uint64_t value,
                    uint64_t row, const char *rule)
{
    char text[64];
    uint64_t old = *word;
    snprintf(text, sizeof text,
             row == a->num_rows ? "after the last row" : "row %llu:", (unsigned long long)row);
    *word = value;
    T_STATUS(GP_ERROR_DATA, check_on_device(a, pair));
    ck_assert_msg(strstr(gp_last_error(t_ctx()), text) != NULL, "no \"%s\" in \"%s\"", text,
                  gp_last_error(t_ctx()));
    ck_assert_msg(strstr(gp_last_error(t_ctx()), rule) != NULL, "no \"%s\" in \"%s\"", rule,
                  gp_last_error(t_ctx()));
    *word = old;
}

START_TEST(test_check_names_first_bad_row)
{
    const gp_dtype *pair = pairs[_i];
    struct coo m = coo_make(BANDED, 25000, GP_U8, t_seed());
    struct csr a = oracle_from_coo(&m, GP_DUPLICATES_FIRST);
    uint64_t last = a.nnz / 5 - 1, unused = a.num_rows;
    T_OK(check_on_device(&a, pair));
    corrupt(&a, pair, &a.pointers[0], 1, 0, "row_pointers[0] is 1, expected 0");
    corrupt(&a, pair, &a.pointers[4321], a.pointers[4320] - 1, 4319 + 1,
            "row_pointers[4321] is 21599, below the 21600 before it");
    corrupt(&a, pair, &a.pointers[4321], a.nnz + 1, 4320,
            "row_pointers[4321] is 25001, above nnz, which is 25000");
    corrupt(&a, pair, &a.pointers[unused], a.nnz - 1, unused - 1,
            "row_pointers[25001] is 24999, below the 25000 before it");
    corrupt(&a, pair, &a.cols[a.pointers[77] + 4], a.num_cols, 77,
            "cols[389] is 25001, expected below 25001");
    corrupt(&a, pair, &a.cols[a.pointers[78]], UINT64_MAX, 78, "cols[390] is ");
    corrupt(&a, pair, &a.cols[a.pointers[last] + 2], a.cols[a.pointers[last] + 1], last,
            "as the one before it");
    uint64_t second = a.pointers[last];
    a.cols[second + 1] = a.cols[second];
    corrupt(&a, pair, &a.cols[a.pointers[100] + 1], a.cols[a.pointers[100]], 100,
            "cols[501] is 100, as the one before it");
    csr_free(&a);
    coo_free(&m);
}
END_TEST

START_TEST(test_check_counts_against_nnz)
{
    uint64_t pointers[] = {0, 1, 2}, cols[] = {0, 0, 0};
    struct csr a = {2, 3, 3, pointers, cols, NULL, GP_U8};
    T_STATUS(GP_ERROR_DATA, check_on_device(&a, pairs[_i]));
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "after the last row"));
    a.nnz = 2;
    T_OK(check_on_device(&a, pairs[_i]));
    a.num_rows = 0;
    a.nnz = 0;
    T_OK(check_on_device(&a, pairs[_i]));
    pointers[0] = 1;
    T_STATUS(GP_ERROR_DATA, check_on_device(&a, pairs[_i]));
}
END_TEST

/* One text, whatever the sign of the dtypes; matrix of 3 rows and 8 columns. */
static void expect_text(const gp_dtype pair[2], const uint64_t *pointers, const uint64_t *cols,
                        uint64_t nnz, const char *text)
{
    uint64_t pointers_copy[4], cols_copy[7] = {0}; /* nnz is 7 in one of them */
    memcpy(pointers_copy, pointers, sizeof pointers_copy);
    memcpy(cols_copy, cols, 6 * sizeof *cols);
    struct csr a = {3, 8, nnz, pointers_copy, cols_copy, NULL, GP_U8};
    T_STATUS(GP_ERROR_DATA, check_on_device(&a, pair));
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
}

START_TEST(test_check_names_place_value_and_bound)
{
    const uint64_t cols[] = {1, 2, 7, 0, 3, 5}, high[] = {1, 2, 8, 0, 3, 5};
    const uint64_t falls[] = {1, 2, 0, 0, 3, 5}, twice[] = {1, 2, 7, 0, 3, 3};
    const uint64_t minus[] = {1, 2, 7, 0, UINT64_MAX - 2, 5};
    const uint64_t good[] = {0, 3, 3, 6}, first[] = {1, 3, 3, 6}, down[] = {0, 3, 2, 6};
    const uint64_t over[] = {0, 3, 7, 6}, under[] = {0, UINT64_MAX, 3, 6};
    const uint64_t negative[] = {UINT64_MAX - 1, 3, 3, 6};
    const gp_dtype *pair = pairs[_i];
    const bool is_wide = gp_dtype_bytes(pair[0]) == 8, are_wide = gp_dtype_bytes(pair[1]) == 8;
    expect_text(pair, first, cols, 6, "gp_check_csr: row 0: row_pointers[0] is 1, expected 0");
    expect_text(pair, down, cols, 6,
                "gp_check_csr: row 1: row_pointers[2] is 2, below the 3 before it");
    expect_text(pair, over, cols, 6,
                "gp_check_csr: row 1: row_pointers[2] is 7, above nnz, which is 6");
    expect_text(pair, good, cols, 7,
                "gp_check_csr: after the last row: row_pointers[3] is 6, expected 7");
    expect_text(pair, good, high, 6, "gp_check_csr: row 0: cols[2] is 8, expected below 8");
    expect_text(pair, good, falls, 6, "gp_check_csr: row 0: cols[2] is 0, below the 2 before it");
    expect_text(pair, good, twice, 6, "gp_check_csr: row 2: cols[5] is 3, as the one before it");
    expect_text(pair, good, minus, 6,
                t_is_signed(pair[0]) ? "gp_check_csr: row 2: cols[4] is -3, expected below 8"
                : is_wide ? "gp_check_csr: row 2: cols[4] is 18446744073709551613, expected below 8"
                          : "gp_check_csr: row 2: cols[4] is 4294967293, expected below 8");
    expect_text(pair, under, cols, 6,
                t_is_signed(pair[1])
                    ? "gp_check_csr: row 0: row_pointers[1] is -1, below the 0 before it"
                : are_wide ? "gp_check_csr: row 0: row_pointers[1] is 18446744073709551615, above "
                             "nnz, which is 6"
                           : "gp_check_csr: row 0: row_pointers[1] is 4294967295, above nnz, which "
                             "is 6");
    if (t_is_signed(pair[1]))
        expect_text(pair, negative, cols, 6,
                    "gp_check_csr: row 0: row_pointers[0] is -2, negative");
}
END_TEST

/* A long row, with what is wrong anywhere in it; a column out of range goes first. */
START_TEST(test_check_finds_the_place_in_a_long_row)
{
    enum { N = 100003 };
    static const size_t places[] = {1, 2, 31, 32, 33, 4096, N / 2, N - 2, N - 1};
    uint64_t pointers[] = {0, N}, *cols = t_host(N * 8);
    struct csr a = {1, N, N, pointers, cols, NULL, GP_U8};
    char text[120];
    for (size_t i = 0; i < N; i++)
        cols[i] = i;
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        const size_t at = places[p];
        cols[at] = at - 1;
        T_STATUS(GP_ERROR_DATA, check_on_device(&a, pairs[_i]));
        snprintf(text, sizeof text, "gp_check_csr: row 0: cols[%zu] is %zu, as the one before it",
                 at, at - 1);
        ck_assert_str_eq(gp_last_error(t_ctx()), text);
        cols[at] = N + 5;
        cols[1] = at > 1 ? 0 : N + 5;
        T_STATUS(GP_ERROR_DATA, check_on_device(&a, pairs[_i]));
        snprintf(text, sizeof text, "gp_check_csr: row 0: cols[%zu] is %d, expected below %d", at,
                 N + 5, N);
        ck_assert_str_eq(gp_last_error(t_ctx()), text);
        cols[1] = 1;
        cols[at] = at;
    }
    T_OK(check_on_device(&a, pairs[_i]));
    free(cols);
}
END_TEST

/* More rows than a grid takes at once: the offence is in the last one. */
START_TEST(test_check_of_more_rows_than_a_grid)
{
    const uint64_t rows = ((uint64_t)1 << 28) + 777, last = rows - 1, place = rows * 4;
    enum { CHUNK = 16 << 20 };
    char *zeros = calloc(CHUNK, 1), text[64];
    const uint32_t nnz = 1, col = 5;
    ck_assert_ptr_nonnull(zeros);
    t_array pointers = t_new((rows + 1) * 4, 0), cols = t_new_from(&col, sizeof col, 0);
    for (uint64_t at = 0; at < place; at += CHUNK)
        T_OK(gp_copy(t_ctx(), zeros, place - at < CHUNK ? place - at : CHUNK,
                     (char *)pointers.data + at));
    T_OK(gp_copy(t_ctx(), &nnz, sizeof nnz, (char *)pointers.data + place));
    T_STATUS(GP_ERROR_DATA,
             gp_check_csr(t_ctx(), GP_U32, GP_U32, rows, 5, 1, pointers.data, cols.data));
    snprintf(text, sizeof text, "row %llu:", (unsigned long long)last);
    ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), text));
    T_OK(gp_check_csr(t_ctx(), GP_U32, GP_U32, rows, 6, 1, pointers.data, cols.data));
    t_free(&pointers);
    t_free(&cols);
    free(zeros);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("csr");
    TCase *c = t_case(s, "row pointers");
    tcase_add_loop_test(c, test_row_pointers_matrices, 0, MATRIX_RUNS);
    tcase_add_loop_test(c, test_row_pointers_every_small_size, 0, 9);
    tcase_add_loop_test(c, test_row_pointers_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_row_pointers_gaps, 0, 16);
    tcase_add_loop_test(c, test_row_pointers_gaps_that_others_fill, 0, 9);
    tcase_add_loop_test(c, test_row_pointers_unsorted_with_order, 0, PAIRS);
    tcase_add_loop_test(c, test_row_pointers_unsorted_of_lists, 0, 2 * PAIRS);
    tcase_add_loop_test(c, test_row_pointers_unsorted_leaves_out_bad_rows, 0, 4 * PAIRS);
    tcase_add_loop_test(c, test_row_pointers_unsorted_of_many_entries, 0, 5 * PAIRS);
    tcase_add_loop_test(c, test_row_pointers_bad_rows_are_reported, 0, PAIRS);
    tcase_add_loop_test(c, test_to_coo_inverts_row_pointers, 0, MATRIX_RUNS);
    c = t_case(s, "check");
    tcase_add_loop_test(c, test_check_names_first_bad_row, 0, PAIRS);
    tcase_add_loop_test(c, test_check_counts_against_nnz, 0, PAIRS);
    tcase_add_loop_test(c, test_check_names_place_value_and_bound, 0, PAIRS);
    tcase_add_loop_test(c, test_check_finds_the_place_in_a_long_row, 0, PAIRS);
    c = t_case(s, "large check");
    tcase_add_test(c, test_check_of_more_rows_than_a_grid);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
