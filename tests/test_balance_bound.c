/* SPDX-License-Identifier: MIT */
/* Bulk binary search, and the check of offsets. */
#include <stdlib.h>
#include <string.h>

#include <gp/balance.h>

#include "segments.h"

/* ---- lower and upper bound ----------------------------------------------------------------- */

/* a below b in gp's order: all NaN equal and above everything. */
static bool below(gp_dtype dtype, const void *a, const void *b)
{
    if (dtype == GP_U64)
        return *(const uint64_t *)a < *(const uint64_t *)b;
    if (dtype == GP_I64)
        return *(const int64_t *)a < *(const int64_t *)b;
    double x = t_value(dtype, a, 0), y = t_value(dtype, b, 0);
    return x != x ? false : y != y ? true : x < y;
}

static gp_dtype sort_dtype;

static int compare(const void *a, const void *b)
{
    return below(sort_dtype, a, b) ? -1 : below(sort_dtype, b, a);
}

static void bound_oracle(gp_dtype dtype, bool upper, const char *sorted, size_t n,
                         const char *needles, size_t m, uint64_t *out)
{
    size_t bytes = gp_dtype_bytes(dtype);
    for (size_t j = 0; j < m; j++) {
        const char *needle = needles + j * bytes;
        uint64_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += upper ? !below(dtype, needle, sorted + i * bytes)
                           : below(dtype, sorted + i * bytes, needle);
        out[j] = count;
    }
}

static void bound_check(gp_dtype dtype, const void *sorted, size_t n, const void *needles, size_t m,
                        gp_dtype index_dtype, size_t shift)
{
    size_t bytes = gp_dtype_bytes(dtype), index_bytes = gp_dtype_bytes(index_dtype);
    uint64_t *found = t_host(m * 8);
    void *expected = t_host(m * index_bytes), *got = t_host(m * index_bytes);
    t_array d_sorted = t_new_from(sorted, n * bytes, shift * bytes);
    t_array d_needles = t_new_from(needles, m * bytes, shift * bytes);
    t_array out = t_new(m * index_bytes, shift * index_bytes);
    for (int upper = 0; upper < 2; upper++) {
        bound_oracle(dtype, upper, sorted, n, needles, m, found);
        for (size_t j = 0; j < m; j++)
            t_store(index_dtype, expected, j, found[j]);
        t_poison(&out);
        T_OK((upper ? gp_upper_bound : gp_lower_bound)(t_ctx(), dtype, d_sorted.data, n,
                                                       d_needles.data, m, index_dtype, out.data));
        t_get(&out, got, m * index_bytes);
        t_same(upper ? "upper bound" : "lower bound", index_dtype, expected, got, m);
        t_check_guards(&out);
    }
    t_free(&d_sorted);
    t_free(&d_needles);
    t_free(&out);
    free(found);
    free(expected);
    free(got);
}

/* Values that repeat (_i even), or any bits: NaN, signed zeros and infinities among them. */
static void bound_case(gp_dtype dtype, bool any_bits, size_t n, size_t m, gp_dtype index_dtype,
                       size_t shift)
{
    uint64_t state = t_seed() + n;
    size_t bytes = gp_dtype_bytes(dtype);
    char *sorted = t_host(n * bytes), *needles = t_host(m * bytes);
    if (any_bits) {
        t_fill_bits(dtype, sorted, n, &state);
        t_fill_bits(dtype, needles, m, &state);
        for (size_t j = 0; j < m && n; j += 3) /* a third of the needles is there */
            memcpy(needles + j * bytes, sorted + t_random_below(&state, n) * bytes, bytes);
    } else {
        t_fill_small(dtype, sorted, n, 50, &state);
        t_fill_small(dtype, needles, m, 52, &state);
    }
    sort_dtype = dtype;
    qsort(sorted, n, bytes, compare);
    bound_check(dtype, sorted, n, needles, m, index_dtype, shift);
    free(sorted);
    free(needles);
}

START_TEST(test_bound_dtypes)
{
    static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 1000, 1023};
    gp_dtype dtype = t_dtypes[_i];
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int any_bits = 0; any_bits < 2; any_bits++)
            bound_case(dtype, any_bits, sizes[k], 150 + k, t_index_dtypes[k % 4], k % 5);
}
END_TEST

START_TEST(test_bound_many_needles)
{
    for (size_t m = 0; m < 20; m++)
        bound_case(GP_I32, true, 100, m, GP_U32, 0);
    bound_case(GP_I32, true, 100, 4095, GP_U32, 1);
    bound_case(GP_I32, true, 100, 4096, GP_I64, 0);
    bound_case(GP_F32, true, 100, 20000, GP_U64, 0);
}
END_TEST

/* Needles that ascend: so close that they are merged with the items, farther apart, all alike. */
static void ascending_case(gp_dtype dtype, size_t n, size_t m, bool alike, gp_dtype index_dtype)
{
    uint64_t state = t_seed() + n;
    const size_t bytes = gp_dtype_bytes(dtype);
    char *sorted = t_host(n * bytes), *needles = t_host(m * bytes);
    t_fill_bits(dtype, sorted, n, &state);
    t_fill_bits(dtype, needles, m, &state);
    for (size_t j = 0; j < m; j += alike ? 1 : 3)
        memcpy(needles + j * bytes, sorted + (alike ? n / 2 : j % n) * bytes, bytes);
    sort_dtype = dtype;
    qsort(sorted, n, bytes, compare);
    qsort(needles, m, bytes, compare);
    bound_check(dtype, sorted, n, needles, m, index_dtype, 1);
    free(sorted);
    free(needles);
}

START_TEST(test_bound_ascending_needles)
{
    const gp_dtype dtype = t_dtypes[_i];
    ascending_case(dtype, 3000, 2500, false, GP_U32);
    ascending_case(dtype, 700, 4096, false, GP_U64);
    ascending_case(dtype, 12000, 2048, false, GP_I64);
    ascending_case(dtype, 1000, 2049, true, GP_I32);
}
END_TEST

START_TEST(test_bound_ascending_in_place)
{
    enum { N = 6000 };
    uint32_t numbers[N], expected[N], got[N];
    for (uint32_t i = 0; i < N; i++) {
        numbers[i] = 3 * i;
        expected[i] = i;
    }
    t_array d = t_new_from(numbers, sizeof numbers, 0),
            out = t_new_from(numbers, sizeof numbers, 0);
    T_OK(gp_lower_bound(t_ctx(), GP_U32, d.data, N, out.data, N, GP_U32, out.data));
    t_get(&out, got, sizeof got);
    t_same("lower bound", GP_U32, expected, got, N);
    t_free(&d);
    t_free(&out);
}
END_TEST

/* -inf, -1, -0, +0, 1, inf, NaN of both signs: zeros are equal, so are NaN. */
START_TEST(test_bound_order_of_floats)
{
    uint32_t sorted[] = {0xff800000, 0xbf800000, 0x80000000, 0,
                         0x3f800000, 0x7f800000, 0x7fc00000, 0xffc00001};
    uint32_t lower[] = {0, 1, 2, 2, 4, 5, 6, 6}, upper[] = {1, 2, 4, 4, 5, 6, 8, 8}, got[8];
    t_array d = t_new_from(sorted, sizeof sorted, 0), out = t_new(sizeof got, 0);
    T_OK(gp_lower_bound(t_ctx(), GP_F32, d.data, 8, d.data, 8, GP_U32, out.data));
    t_get(&out, got, sizeof got);
    t_same("lower bound", GP_U32, lower, got, 8);
    T_OK(gp_upper_bound(t_ctx(), GP_F32, d.data, 8, d.data, 8, GP_U32, out.data));
    t_get(&out, got, sizeof got);
    t_same("upper bound", GP_U32, upper, got, 8);
    t_free(&d);
    t_free(&out);
}
END_TEST

START_TEST(test_bound_in_place)
{
    uint32_t sorted[] = {1, 3, 3, 9}, needles[] = {0, 3, 4, 9, 10}, expected[] = {0, 1, 3, 3, 4};
    uint32_t got[5];
    t_array d = t_new_from(sorted, sizeof sorted, 0), out = t_new_from(needles, sizeof needles, 0);
    T_OK(gp_lower_bound(t_ctx(), GP_U32, d.data, 4, out.data, 5, GP_U32, out.data));
    t_get(&out, got, sizeof got);
    t_same("lower bound", GP_U32, expected, got, 5);
    t_free(&d);
    t_free(&out);
}
END_TEST

/* ---- check of offsets ---------------------------------------------------------------------- */

static gp_status check_offsets(gp_dtype dtype, const uint64_t *numbers, size_t n, size_t items)
{
    size_t bytes = gp_dtype_bytes(dtype);
    void *host = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        t_store(dtype, host, i, numbers[i]);
    t_array d = t_new_from(host, n * bytes, bytes);
    gp_status s = gp_check_offsets(t_ctx(), dtype, d.data, n - 1, items);
    t_free(&d);
    free(host);
    return s;
}

/* The text of the last error names the index. */
static void bad_index(gp_dtype dtype, const uint64_t *numbers, size_t n, size_t items,
                      const char *index)
{
    T_STATUS(GP_ERROR_DATA, check_offsets(dtype, numbers, n, items));
    ck_assert_msg(strstr(gp_last_error(t_ctx()), index), "\"%s\" does not name %s",
                  gp_last_error(t_ctx()), index);
}

START_TEST(test_check_offsets_finds_the_first_bad_index)
{
    uint64_t good[] = {3, 3, 5, 9, 9}, down[] = {0, 4, 3, 9, 8}, one[] = {7};
    uint64_t negative[] = {(uint64_t)-2, 0, 5}, turning[] = {0, (uint64_t)-2, 5};
    gp_dtype dtype = t_index_dtypes[_i];
    T_OK(check_offsets(dtype, good, 5, 6));
    T_OK(check_offsets(dtype, one, 1, 0));
    bad_index(dtype, one, 1, 1, "offsets[0]");
    bad_index(dtype, good, 5, 7, "offsets[4]");
    bad_index(dtype, down, 5, 8, "offsets[2]");
    bad_index(dtype, negative, 3, 7, t_is_signed(dtype) ? "offsets[0]" : "offsets[1]");
    bad_index(dtype, turning, 3, 5, t_is_signed(dtype) ? "offsets[1]" : "offsets[2]");
}
END_TEST

START_TEST(test_check_offsets_large)
{
    enum { N = 1000001 };
    uint64_t *numbers = t_host(N * 8);
    for (size_t i = 0; i < N; i++)
        numbers[i] = i / 3;
    T_OK(check_offsets(GP_U32, numbers, N, numbers[N - 1]));
    numbers[900000] = 0;
    bad_index(GP_U64, numbers, N, numbers[N - 1], "offsets[900000]");
    numbers[300000] = 0;
    bad_index(GP_I32, numbers, N, numbers[N - 1], "offsets[300000]");
    free(numbers);
}
END_TEST

/* ---- run ----------------------------------------------------------------------------------- */

static Suite *suite(void)
{
    Suite *s = suite_create("bound");
    TCase *c = t_case(s, "bound");
    tcase_add_loop_test(c, test_bound_dtypes, 0, T_DTYPE_COUNT);
    tcase_add_test(c, test_bound_many_needles);
    tcase_add_loop_test(c, test_bound_ascending_needles, 0, T_DTYPE_COUNT);
    tcase_add_test(c, test_bound_ascending_in_place);
    tcase_add_test(c, test_bound_order_of_floats);
    tcase_add_test(c, test_bound_in_place);
    c = t_case(s, "check");
    tcase_add_loop_test(c, test_check_offsets_finds_the_first_bad_index, 0, 4);
    tcase_add_test(c, test_check_offsets_large);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
