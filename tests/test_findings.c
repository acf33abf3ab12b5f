/* SPDX-License-Identifier: MIT */
/* What calls find in data when it is too late to return it: the text names the call, the place, the
 * value and what was expected, in the same words on both backends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

#include "gp_test.h"
#include "segments.h"

/* The call is queued and found wrong, or returns it at once; *what* is how its text begins. */
static void expect(gp_status expected, gp_status of_call, const char *text)
{
    gp_status s = of_call == GP_OK ? gp_context_synchronize(t_ctx()) : of_call;
    ck_assert_msg(s == expected, "status %d (%s), expected %d: \"%s\"", (int)s,
                  gp_last_error(t_ctx()), (int)expected, text);
    ck_assert_str_eq(gp_last_error(t_ctx()), text);
    T_OK(gp_context_synchronize(t_ctx())); /* reported once */
}

/* Numbers as an array of dtype in the context's memory. */
#define PUT(dtype, ...)                                                                            \
    t_numbers_put((const uint64_t[]){__VA_ARGS__},                                                 \
                  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), dtype, 0, 0)
#define MINUS(x) (0 - (uint64_t)(x))
/* The same of bytes. */
#define PUT_BYTES(...)                                                                             \
    t_new_from((const int8_t[]){__VA_ARGS__}, sizeof((const int8_t[]){__VA_ARGS__}), 0)

/* ---- numbers that do not fit ----------------------------------------------------------------- */

START_TEST(test_totals_of_reductions)
{
    t_array small = PUT_BYTES(-56, 100), falling = PUT_BYTES(-100, -100);
    t_array total = t_new(8, 0), out = t_new(8, 0);
    gp_reduce_desc d = GP_REDUCE_DESC_INIT;
    d.in_dtype = d.out_dtype = GP_U8;
    d.total = total.data;
    expect(GP_ERROR_OVERFLOW, gp_reduce_by(t_ctx(), &d, small.data, 2, out.data),
           "gp_reduce_by: the total is 300, which does not fit its dtype, which is u8");
    d.in_dtype = d.out_dtype = GP_I8;
    expect(GP_ERROR_OVERFLOW, gp_reduce_by(t_ctx(), &d, falling.data, 2, out.data),
           "gp_reduce_by: the total is -200, which does not fit its dtype, which is i8");
    t_free(&small);
    t_free(&falling);
    t_free(&total);
    t_free(&out);
}
END_TEST

/* Every size takes its own way, the algorithms of the literature too. */
START_TEST(test_totals_of_scans)
{
    static const gp_algorithm algorithms[] = {GP_ALGORITHM_AUTO, GP_ALGORITHM_CHAINED,
                                              GP_ALGORITHM_REDUCE_THEN_SCAN,
                                              GP_ALGORITHM_SCAN_THEN_FAN};
    const size_t n = t_sizes[_i] + 2;
    uint8_t *ones = t_host(n);
    char text[120];
    memset(ones, 1, n);
    ones[n - 1] = 255;
    t_array in = t_new_from(ones, n, 0), out = t_new(n, 0), total = t_new(8, 0);
    snprintf(text, sizeof text,
             "gp_scan: the total is %zu, which does not fit its dtype, which is u8", n + 254);
    for (size_t a = 0; a < sizeof algorithms / sizeof algorithms[0]; a++) {
        gp_scan_desc d = GP_SCAN_DESC_INIT;
        d.in_dtype = d.out_dtype = GP_U8;
        d.total = total.data;
        d.algorithm = algorithms[a];
        expect(GP_ERROR_OVERFLOW, gp_scan(t_ctx(), &d, in.data, n, out.data), text);
    }
    t_free(&in);
    t_free(&out);
    t_free(&total);
    free(ones);
}
END_TEST

/* A sum on the way does not fit, the total does. */
START_TEST(test_overflow_on_the_way)
{
    t_array in = PUT_BYTES(100, 100, -100), out = t_new(3, 0), total = t_new(8, 0);
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = d.out_dtype = GP_I8;
    d.total = total.data;
    expect(GP_ERROR_OVERFLOW, gp_scan(t_ctx(), &d, in.data, 3, out.data),
           "gp_scan: an output does not fit its dtype, which is i8");
    t_free(&in);
    t_free(&out);
    t_free(&total);
}
END_TEST

START_TEST(test_results_without_room)
{
    t_array in = PUT(GP_U32, 1, 2, 3, 4), out = t_new(8, 0), count = t_new(8, 0);
    t_array flags = PUT(GP_U32, 0x01010101), counts = PUT(GP_U32, 3, 4);
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    d.item_bytes = 4;
    d.capacity = 2;
    expect(GP_ERROR_CAPACITY,
           gp_compact_by(t_ctx(), &d, in.data, flags.data, 4, out.data, count.data),
           "gp_compact_by: the result has 4 items, capacity is 2");
    expect(GP_ERROR_CAPACITY,
           gp_expand_counts(t_ctx(), 4, in.data, GP_U32, counts.data, 2, 2, out.data, count.data),
           "gp_expand_counts: the result has 7 items, capacity is 2");
    t_free(&in);
    t_free(&out);
    t_free(&count);
    t_free(&flags);
    t_free(&counts);
}
END_TEST

/* ---- indices --------------------------------------------------------------------------------- */

static gp_status from_coo(gp_dtype dtype, gp_duplicates duplicates, const t_array *rows,
                          const t_array *cols, size_t n, size_t num_rows, size_t num_cols)
{
    t_array pointers = t_new((num_rows + 1) * 8, 0), out = t_new(n * 8, 0), nnz = t_new(8, 0);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = dtype;
    d.offset_dtype = GP_U64;
    d.value_dtype = (gp_dtype)0;
    d.duplicates = duplicates;
    gp_status s = gp_csr_from_coo(t_ctx(), &d, num_rows, num_cols, rows->data, cols->data, NULL, n,
                                  pointers.data, out.data, NULL, nnz.data);
    t_free(&pointers);
    t_free(&out);
    t_free(&nnz);
    return s;
}

/* Items 0 .. n - 1 of dtype are i % range, but for those that are given. */
static t_array numbers(gp_dtype dtype, size_t n, uint64_t range, size_t at, uint64_t value)
{
    uint64_t *x = t_host(n * 8);
    for (size_t i = 0; i < n; i++)
        x[i] = i == at ? value : i % range;
    t_array a = t_numbers_put(x, n, dtype, 0, 0);
    free(x);
    return a;
}

static const size_t lengths[] = {1, 10, 3000, 200000};

START_TEST(test_entries_out_of_range)
{
    const gp_dtype dtype = t_index_dtypes[_i % 4];
    const size_t n = lengths[_i / 4], at = n - 1;
    const uint64_t negative = t_is_signed(dtype) ? MINUS(1) : 70;
    t_array fine = numbers(dtype, n, 3, n, 0), high = numbers(dtype, n, 3, at, 7),
            low = numbers(dtype, n, 3, at, negative);
    char text[120];
    snprintf(text, sizeof text, "gp_csr_from_coo: cols[%zu] is 7, expected below 3", at);
    expect(GP_ERROR_DATA, from_coo(dtype, GP_DUPLICATES_SUM, &fine, &high, n, 3, 3), text);
    snprintf(text, sizeof text, "gp_csr_from_coo: rows[%zu] is %s, expected below 3", at,
             t_is_signed(dtype) ? "-1" : "70");
    expect(GP_ERROR_DATA, from_coo(dtype, GP_DUPLICATES_ERROR, &low, &high, n, 3, 3), text);
    if (gp_dtype_bytes(dtype) == 8) /* keys of more than 64 bits */
        expect(GP_ERROR_DATA,
               from_coo(dtype, GP_DUPLICATES_KEEP, &low, &high, n, 3, (size_t)1 << 40), text);
    t_free(&fine);
    t_free(&high);
    t_free(&low);
}
END_TEST

START_TEST(test_entries_that_repeat)
{
    t_array rows = PUT(GP_I32, 2, 0, 1, 2, 0), cols = PUT(GP_I32, 1, 0, 2, 1, 1);
    expect(GP_ERROR_DATA, from_coo(GP_I32, GP_DUPLICATES_ERROR, &rows, &cols, 5, 3, 3),
           "gp_csr_from_coo: more than one entry has row 2 and column 1");
    t_free(&rows);
    t_free(&cols);
}
END_TEST

START_TEST(test_matrices_without_room_for_entries)
{
    t_array rows = PUT(GP_U32, 0, 0), cols = PUT(GP_U32, 5, 6);
    expect(GP_ERROR_DATA, from_coo(GP_U32, GP_DUPLICATES_SUM, &rows, &cols, 2, 3, 0),
           "gp_csr_from_coo: cols[0] is 5, expected below 0");
    expect(GP_ERROR_DATA, from_coo(GP_U32, GP_DUPLICATES_SUM, &rows, &cols, 2, 0, 0),
           "gp_csr_from_coo: rows[0] is 0, expected below 0");
    t_free(&rows);
    t_free(&cols);
}
END_TEST

START_TEST(test_rows_of_row_pointers)
{
    const gp_dtype dtype = t_index_dtypes[_i % 4];
    const size_t n = lengths[_i / 4] + 3;
    t_array out = t_new((n + 1) * 8, 0);
    uint64_t *x = t_host(n * 8);
    char text[120];
    for (size_t i = 0; i < n; i++)
        x[i] = i / 2;
    x[n - 1] = n + 5;
    t_array far = t_numbers_put(x, n, dtype, 0, 0);
    x[n - 2] = n;
    x[n - 1] = 0;
    t_array falls = t_numbers_put(x, n, dtype, 0, 0);
    snprintf(text, sizeof text, "gp_csr_row_pointers: rows[%zu] is %zu, expected below %zu", n - 1,
             n + 5, n);
    expect(GP_ERROR_DATA, gp_csr_row_pointers(t_ctx(), dtype, far.data, n, n, GP_U64, out.data),
           text);
    snprintf(text, sizeof text, "gp_csr_row_pointers: rows[%zu] is 0, below the %zu before it",
             n - 1, n);
    expect(GP_ERROR_DATA,
           gp_csr_row_pointers(t_ctx(), dtype, falls.data, n, n + 1, GP_U64, out.data), text);
    snprintf(text, sizeof text,
             "gp_csr_row_pointers_unsorted: rows[%zu] is %zu, expected below %zu", n - 1, n + 5, n);
    expect(GP_ERROR_DATA,
           gp_csr_row_pointers_unsorted(t_ctx(), dtype, far.data, n, n, GP_U64, out.data), text);
    free(x);
    t_free(&far);
    t_free(&falls);
    t_free(&out);
}
END_TEST

START_TEST(test_columns_of_a_transpose)
{
    t_array pointers = PUT(GP_U32, 0, 2, 4), cols = PUT(GP_U32, 0, 1, 9, 2), out = t_new(64, 0),
            out_cols = t_new(64, 0);
    gp_coo_desc d = GP_COO_DESC_INIT;
    d.index_dtype = d.offset_dtype = GP_U32;
    d.value_dtype = (gp_dtype)0;
    expect(GP_ERROR_DATA,
           gp_csr_transpose(t_ctx(), &d, 2, 3, 4, pointers.data, cols.data, NULL, out.data,
                            out_cols.data, NULL),
           "gp_csr_transpose: cols[2] is 9, expected below 3");
    t_free(&pointers);
    t_free(&cols);
    t_free(&out);
    t_free(&out_cols);
}
END_TEST

/* ---- offsets --------------------------------------------------------------------------------- */

START_TEST(test_offsets_of_balance)
{
    const gp_dtype dtype = t_index_dtypes[_i];
    t_array offsets = PUT(dtype, 2, 3, 6), out = t_new(64, 0), more = t_new(64, 0);
    expect(GP_ERROR_DATA,
           gp_balance_search(t_ctx(), dtype, offsets.data, 2, 5, GP_U32, out.data, NULL),
           "gp_balance_search: offsets[2] - offsets[0] is 4, expected 5");
    expect(GP_ERROR_DATA,
           gp_merge_path_partition(t_ctx(), dtype, offsets.data, 2, 5, 2, out.data, more.data),
           "gp_merge_path_partition: row_pointers[2] - row_pointers[0] is 4, expected 5");
    expect(GP_ERROR_DATA, gp_csr_to_coo(t_ctx(), dtype, offsets.data, 2, 5, GP_U32, out.data),
           "gp_csr_to_coo: row_pointers[2] - row_pointers[0] is 4, expected 5");
    t_free(&offsets);
    t_free(&out);
    t_free(&more);
}
END_TEST

/* The offsets of a segmented scan, reduction and sort, and gp_check_offsets(). */
static void expect_offsets(gp_dtype dtype, const t_array *offsets, size_t segments, size_t n,
                           const char *what)
{
    t_array in = t_new(n * 4, 0), out = t_new(n * 4, 0);
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    char text[120];
    d.in_dtype = GP_U32;
    snprintf(text, sizeof text, "gp_scan_segmented: %s", what);
    expect(GP_ERROR_DATA,
           gp_scan_segmented(t_ctx(), &d, in.data, n, dtype, offsets->data, segments, out.data),
           text);
    gp_reduce_segmented_desc r = GP_REDUCE_SEGMENTED_DESC_INIT;
    r.in_dtype = GP_U32;
    r.offset_dtype = dtype;
    snprintf(text, sizeof text, "gp_reduce_segmented: %s", what);
    expect(GP_ERROR_DATA,
           gp_reduce_segmented(t_ctx(), &r, in.data, n, offsets->data, segments, out.data), text);
    snprintf(text, sizeof text, "gp_radix_sort_segmented: %s", what);
    expect(GP_ERROR_DATA,
           gp_radix_sort_segmented(t_ctx(), GP_U32, in.data, n, dtype, offsets->data, segments,
                                   out.data, NULL),
           text);
    snprintf(text, sizeof text, "gp_check_offsets: %s", what);
    expect(GP_ERROR_DATA, gp_check_offsets(t_ctx(), dtype, offsets->data, segments, n), text);
    t_free(&in);
    t_free(&out);
}

START_TEST(test_offsets_that_fall)
{
    const gp_dtype dtype = t_index_dtypes[_i % 4];
    const size_t segments = lengths[_i / 4] + 2, n = 3 * segments;
    uint64_t *x = t_host((segments + 1) * 8);
    char text[80];
    for (size_t i = 0; i <= segments; i++)
        x[i] = 3 * i;
    x[segments - 1] = x[segments];
    x[segments] = 0;
    t_array late = t_numbers_put(x, segments + 1, dtype, 0, 0);
    snprintf(text, sizeof text, "offsets[%zu] is 0, below the %zu before it", segments, n);
    expect_offsets(dtype, &late, segments, n, text);
    x[1] = 1;
    x[2] = 0;
    t_array early = t_numbers_put(x, segments + 1, dtype, 0, 0);
    expect_offsets(dtype, &early, segments, n, "offsets[2] is 0, below the 1 before it");
    x[2] = 7;
    x[segments - 1] = x[segments] = n - 1;
    t_array ends = t_numbers_put(x, segments + 1, dtype, 0, 0);
    snprintf(text, sizeof text, "offsets[%zu] is %zu, expected %zu", segments, n - 1, n);
    if (segments > 3)
        expect_offsets(dtype, &ends, segments, n, text);
    free(x);
    t_free(&late);
    t_free(&early);
    t_free(&ends);
}
END_TEST

/* What falls below the first offset, and what is negative. */
START_TEST(test_offsets_below_the_first)
{
    const gp_dtype dtype = t_index_dtypes[_i];
    t_array below = PUT(dtype, 5, 4, 20, 69), deep = PUT(dtype, 5, 9, 7, 3, 2, 4, 69);
    expect_offsets(dtype, &below, 3, 64, "offsets[1] is 4, below the 5 before it");
    expect_offsets(dtype, &deep, 6, 64, "offsets[2] is 7, below the 9 before it");
    t_free(&below);
    t_free(&deep);
    if (t_is_signed(dtype)) {
        t_array first = PUT(dtype, MINUS(3), 20, 61), later = PUT(dtype, 0, MINUS(5), 10, 64);
        expect_offsets(dtype, &first, 2, 64, "offsets[0] is -3, negative");
        expect_offsets(dtype, &later, 3, 64, "offsets[1] is -5, below the 0 before it");
        t_free(&first);
        t_free(&later);
    }
}
END_TEST

/* ---- which finding is reported --------------------------------------------------------------- */

START_TEST(test_first_call_stays_and_is_told_once)
{
    t_array rows = PUT(GP_U32, 0, 9), out = t_new(64, 0), low = PUT(GP_U32, 8, 0);
    gp_status s = gp_csr_row_pointers(t_ctx(), GP_U32, rows.data, 2, 3, GP_U32, out.data);
    T_OK(s);
    T_OK(gp_csr_row_pointers_unsorted(t_ctx(), GP_U32, low.data, 2, 3, GP_U32, out.data));
    expect(GP_ERROR_DATA, s, "gp_csr_row_pointers: rows[1] is 9, expected below 3");
    t_free(&rows);
    t_free(&low);
    t_free(&out);
}
END_TEST

/* A graph of several calls of which one breaks a rule when it is replayed. */
START_TEST(test_replays_name_the_call_cuda)
{
    t_array rows = PUT(GP_U32, 0, 1, 2), out = t_new(64, 0), items = PUT(GP_U32, 3, 2, 1);
    T_OK(gp_csr_row_pointers(t_ctx(), GP_U32, rows.data, 3, 3, GP_U32, out.data));
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert(t_capture_begin());
    T_OK(gp_scan_inclusive(t_ctx(), GP_U32, GP_SUM, items.data, 3, items.data));
    T_OK(gp_csr_row_pointers(t_ctx(), GP_U32, rows.data, 3, 3, GP_U32, out.data));
    T_OK(gp_csr_row_pointers_unsorted(t_ctx(), GP_U32, rows.data, 3, 3, GP_U32, out.data));
    t_capture_end();
    t_replay();
    T_OK(gp_context_synchronize(t_ctx()));
    t_put(&rows, (const uint32_t[]){0, 5, 2}, 12);
    t_replay();
    expect(GP_ERROR_DATA, GP_OK, "gp_csr_row_pointers: rows[1] is 5, expected below 3");
    t_capture_free();
    t_free(&rows);
    t_free(&out);
    t_free(&items);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("findings");
    TCase *c = t_case(s, "fits");
    tcase_add_test(c, test_totals_of_reductions);
    tcase_add_loop_test(c, test_totals_of_scans, 0, T_SIZE_SMALL_COUNT);
    tcase_add_test(c, test_overflow_on_the_way);
    tcase_add_test(c, test_results_without_room);
    c = t_case(s, "indices");
    tcase_add_loop_test(c, test_entries_out_of_range, 0, 16);
    tcase_add_test(c, test_entries_that_repeat);
    tcase_add_test(c, test_matrices_without_room_for_entries);
    tcase_add_loop_test(c, test_rows_of_row_pointers, 0, 16);
    tcase_add_test(c, test_columns_of_a_transpose);
    c = t_case(s, "offsets");
    tcase_add_loop_test(c, test_offsets_of_balance, 0, 4);
    tcase_add_loop_test(c, test_offsets_that_fall, 0, 16);
    tcase_add_loop_test(c, test_offsets_below_the_first, 0, 4);
    c = t_case(s, "calls");
    tcase_add_test(c, test_first_call_stays_and_is_told_once);
    c = t_case(s, "cuda replays");
    tcase_add_test(c, test_replays_name_the_call_cuda);
    return t_main(argc, argv, s);
}
