/* SPDX-License-Identifier: MIT */
/* Totals of scans, and sums that do not fit. */
#include <stdlib.h>
#include <string.h>

#include <gp/scan.h>

#include "oracle.h"

static const gp_scan_kind kinds[] = {GP_SCAN_INCLUSIVE, GP_SCAN_EXCLUSIVE, GP_SCAN_ROW_POINTERS};
static const size_t sizes[] = {0, 1, 2, 100, 4095, 4097, 20000, 70001};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* ---- totals ---------------------------------------------------------------------------------- */

/* The last prefix in 64 bits: the scan of the same items with a wide output, where there is one. */
static void total_oracle(const gp_scan_desc *desc, const void *in, size_t n, void *total)
{
    gp_dtype to = desc->out_dtype;
    gp_dtype wide = t_is_float(to) ? GP_F64 : t_is_signed(to) ? GP_I64 : GP_U64;
    uint64_t init = 0;
    gp_scan_desc d = t_scan_desc(GP_SCAN_ROW_POINTERS, desc->in_dtype, to, desc->op);
    if (desc->op == GP_SUM && !t_is_float(to))
        d.out_dtype = wide;
    if (desc->op == GP_SUM && !t_is_float(to) && desc->init) {
        t_set(wide, &init, 0, t_value(to, desc->init, 0)); /* the tests' initial values are small */
        d.init = &init;
    } else {
        d.init = desc->init;
    }
    char *out = oracle_scan(&d, in, n);
    const char *last = out + n * gp_dtype_bytes(d.out_dtype);
    if (t_is_float(to))
        t_set(GP_F64, total, 0, t_value(to, last, 0));
    else if (d.out_dtype == wide)
        memcpy(total, last, 8);
    else
        t_set(wide, total, 0, t_value(to, last, 0)); /* below 2^53, or 64 bits wide */
    free(out);
}

/* Values so small that no output overflows. */
START_TEST(test_scan_total_of_small_values)
{
    gp_dtype dtype = t_dtypes[_i];
    gp_dtype total_dtype = t_is_float(dtype) ? GP_F64 : t_is_signed(dtype) ? GP_I64 : GP_U64;
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int s = 0; s < SIZES * 3; s++) {
        size_t n = sizes[s / 3];
        size_t bytes = n * gp_dtype_bytes(dtype), out_bytes = bytes + gp_dtype_bytes(dtype);
        char *in = t_host(bytes), *actual = t_host(out_bytes), init[8], total[8], expected_total[8];
        for (size_t i = 0; i < n; i++)
            t_set(dtype, in, i, t_random_below(&state, n / 50 + 1) == 0);
        t_set(dtype, init, 0, 3);
        gp_scan_desc desc = t_scan_desc(kinds[s % 3], dtype, dtype, GP_SUM);
        void *expected;
        t_array source = t_new_from(in, bytes, 0), target = t_new(out_bytes, 0), sum = t_new(8, 8);
        desc.total = sum.data;
        desc.init = s % 2 ? init : NULL;
        expected = oracle_scan(&desc, in, n);
        total_oracle(&desc, in, n, expected_total);
        T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
        t_get(&target, actual, out_bytes);
        t_same("outputs beside a total", dtype, expected, actual, n + (s % 3 == 2));
        t_get(&sum, total, 8);
        t_same("total", total_dtype, expected_total, total, 1);
        t_check_guards(&sum);
        t_check_guards(&target);
        t_free(&source);
        t_free(&target);
        t_free(&sum);
        free(in);
        free(actual);
        free(expected);
    }
}
END_TEST

START_TEST(test_scan_total_of_other_operators)
{
    static const gp_op ops[] = {GP_MIN, GP_MAX, GP_XOR, GP_OR};
    static const gp_dtype dtypes[] = {GP_I8, GP_U16, GP_I32, GP_U32, GP_F32, GP_F16};
    gp_op op = ops[_i % 4];
    gp_dtype dtype = dtypes[_i / 4];
    gp_dtype total_dtype = t_is_float(dtype) ? GP_F64 : t_is_signed(dtype) ? GP_I64 : GP_U64;
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (int s = 0; s < SIZES; s++) {
        size_t bytes = sizes[s] * gp_dtype_bytes(dtype);
        char *in = oracle_scan_input(dtype, op, sizes[s], &state), total[8], expected[8];
        gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, op);
        t_array source = t_new_from(in, bytes, 0), target = t_new(bytes, 0), last = t_new(8, 0);
        desc.total = last.data;
        total_oracle(&desc, in, sizes[s], expected);
        T_OK(gp_scan(t_ctx(), &desc, source.data, sizes[s], target.data));
        t_get(&last, total, 8);
        t_same("total", total_dtype, expected, total, 1);
        t_free(&source);
        t_free(&target);
        t_free(&last);
        free(in);
    }
}
END_TEST

/* Scan n items of one sign whose sum is end; what synchronising reports.
 * The total is exact in any case. */
static gp_status status_of_sum(gp_dtype dtype, gp_scan_kind kind, size_t n, int64_t end)
{
    size_t bytes = gp_dtype_bytes(dtype);
    char *in = t_host(n * bytes);
    int64_t left = end;
    for (size_t i = 0; i < n; i++) {
        int64_t v = left / (int64_t)(n - i);
        memcpy(in + i * bytes, &v, bytes);
        left -= v;
    }
    t_array source = t_new_from(in, n * bytes, 0), target = t_new((n + 1) * bytes, 0);
    t_array total = t_new(8, 0);
    gp_scan_desc desc = t_scan_desc(kind, dtype, dtype, GP_SUM);
    desc.total = total.data;
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    gp_status s = gp_context_synchronize(t_ctx());
    T_OK(gp_context_synchronize(t_ctx())); /* cleared */
    ck_assert_int_eq((int64_t)t_get_u64(&total), end);
    t_free(&source);
    t_free(&target);
    t_free(&total);
    free(in);
    return s;
}

START_TEST(test_scan_overflow_exactly_past_the_limit)
{
    static const struct {
        gp_dtype dtype;
        int64_t lowest, highest;
    } limits[] = {{GP_I8, INT8_MIN, INT8_MAX},    {GP_U8, 0, UINT8_MAX},
                  {GP_I16, INT16_MIN, INT16_MAX}, {GP_U16, 0, UINT16_MAX},
                  {GP_I32, INT32_MIN, INT32_MAX}, {GP_U32, 0, UINT32_MAX}};
    static const size_t ns[] = {2, 100, 3000, 50000};
    gp_dtype dtype = limits[_i].dtype;
    int64_t high = limits[_i].highest, low = limits[_i].lowest;
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(GP_OK, status_of_sum(dtype, GP_SCAN_INCLUSIVE, ns[k], high));
        ck_assert_int_eq(GP_OK, status_of_sum(dtype, GP_SCAN_ROW_POINTERS, ns[k], high));
        ck_assert_int_eq(GP_ERROR_OVERFLOW,
                         status_of_sum(dtype, GP_SCAN_INCLUSIVE, ns[k], high + 1));
        ck_assert_int_eq(GP_ERROR_OVERFLOW,
                         status_of_sum(dtype, GP_SCAN_ROW_POINTERS, ns[k], high + 1));
        if (low == 0)
            continue;
        ck_assert_int_eq(GP_OK, status_of_sum(dtype, GP_SCAN_INCLUSIVE, ns[k], low));
        ck_assert_int_eq(GP_ERROR_OVERFLOW,
                         status_of_sum(dtype, GP_SCAN_INCLUSIVE, ns[k], low - 1));
    }
}
END_TEST

/* Only outputs can overflow: the total of an exclusive scan is not one of them. */
START_TEST(test_scan_exclusive_total_past_the_limit_is_no_overflow)
{
    ck_assert_int_eq(GP_OK, status_of_sum(GP_I32, GP_SCAN_EXCLUSIVE, 100, (int64_t)INT32_MAX + 1));
    ck_assert_int_eq(GP_OK, status_of_sum(GP_U8, GP_SCAN_EXCLUSIVE, 100, UINT8_MAX + 1));
}
END_TEST

/* Two items of `value` at p and two of -value behind them: one output is twice the value. What
 * synchronising reports; the total is exact in any case. */
static gp_status status_of_excursion(gp_dtype dtype, const gp_scan_desc *kind, size_t n, size_t p,
                                     int64_t value)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    char *in = t_host(n * bytes);
    int64_t sum = 0;
    memset(in, 0, n * bytes);
    for (size_t k = 0; k < 4 && p + k < n; k++) {
        const int64_t item = k < 2 ? value : -value;
        sum += item;
        memcpy(in + (kind->backward ? n - 1 - p - k : p + k) * bytes, &item, bytes);
    }
    t_array source = t_new_from(in, n * bytes, 0), target = t_new((n + 1) * bytes, 0);
    t_array total = t_new(8, 0);
    gp_scan_desc desc = *kind;
    desc.total = total.data;
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    gp_status s = gp_context_synchronize(t_ctx());
    ck_assert_int_eq((int64_t)t_get_u64(&total), sum);
    t_free(&source);
    t_free(&target);
    t_free(&total);
    free(in);
    return s;
}

/* Past the limit for one output, and back: within a vector, between chunks, between blocks, and at
 * the end, where only the kind decides whether there is an output. */
START_TEST(test_scan_sum_that_leaves_its_range_and_returns_overflows)
{
    static const struct {
        gp_dtype dtype;
        int64_t half; /* the largest value of which twice fits, as one of them, too */
    } limits[] = {{GP_I8, 63}, {GP_I16, 16383}, {GP_I32, 1073741823}};
    static const size_t places[] = {0, 5, 30, 63, 1022, 1023, 16382, 32767, 65534, 65535, 69998};
    const size_t n = 70000;
    for (int k = 0; k < 3 * 2 * 11; k++) {
        const gp_dtype dtype = limits[_i].dtype;
        const size_t p = places[k / 6];
        const bool no_output = k % 3 == 1 && p + 2 == n;
        gp_scan_desc desc = t_scan_desc(kinds[k % 3], dtype, dtype, GP_SUM);
        desc.backward = k % 3 < 2 && k / 3 % 2;
        ck_assert_int_eq(GP_OK, status_of_excursion(dtype, &desc, n, p, limits[_i].half));
        ck_assert_int_eq(no_output ? GP_OK : GP_ERROR_OVERFLOW,
                         status_of_excursion(dtype, &desc, n, p, limits[_i].half + 1));
        ck_assert_int_eq(GP_OK, status_of_excursion(dtype, &desc, n, p, -limits[_i].half - 1));
        ck_assert_int_eq(no_output ? GP_OK : GP_ERROR_OVERFLOW,
                         status_of_excursion(dtype, &desc, n, p, -limits[_i].half - 2));
    }
}
END_TEST

START_TEST(test_scan_widened_sum_overflows_too)
{
    size_t n = 70000;
    uint16_t *in = t_host(n * sizeof *in);
    memset(in, 0xff, n * sizeof *in); /* 70000 * 65535 is past 2^32 */
    t_array source = t_new_from(in, n * sizeof *in, 0), target = t_new(n * 4, 0),
            total = t_new(8, 0);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_U16, GP_U32, GP_SUM);
    desc.total = total.data;
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    T_STATUS(GP_ERROR_OVERFLOW, gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(t_get_u64(&total), (uint64_t)n * 65535);
    T_OK(gp_scan(t_ctx(), &desc, source.data, 65537, target.data)); /* exactly 2^32 - 1 */
    T_OK(gp_context_synchronize(t_ctx()));
    desc.total = NULL; /* without a total sums wrap silently */
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    T_OK(gp_context_synchronize(t_ctx()));
    t_free(&source);
    t_free(&target);
    t_free(&total);
    free(in);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_total");
    TCase *c = t_case(s, "totals");
    tcase_add_loop_test(c, test_scan_total_of_small_values, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_total_of_other_operators, 0, 24);
    tcase_add_loop_test(c, test_scan_overflow_exactly_past_the_limit, 0, 6);
    tcase_add_test(c, test_scan_exclusive_total_past_the_limit_is_no_overflow);
    tcase_add_loop_test(c, test_scan_sum_that_leaves_its_range_and_returns_overflows, 0, 3);
    tcase_add_test(c, test_scan_widened_sum_overflows_too);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
