/* SPDX-License-Identifier: MIT */
/* Scans of floats: order, NaN and infinities, accuracy, the same bits for every layout. */
#include <math.h>
#include <stdlib.h>

#include <gp/scan.h>
#include <gp/segments.h>

#include "oracle.h"

static const struct scan_layout plain = {0, 0, false};

/* ---- special floats -------------------------------------------------------------------------- */

/* NaN, infinities and both zeros among few values, so that ties are common. */
static char *special_input(gp_dtype dtype, size_t n, uint64_t *state, bool with_nan)
{
    static const double values[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, 2, 0.5};
    char *in = t_host(n * gp_dtype_bytes(dtype));
    for (size_t i = 0; i < n; i++) {
        bool nan = with_nan && t_random_below(state, 50) == 0;
        uint64_t choice = t_random_below(state, 8), rarely = t_random_below(state, 100);
        double v = values[(choice == 4 || choice == 5) && rarely ? 0 : choice];
        t_set(dtype, in, i, nan ? NAN : v);
    }
    return in;
}

/* Any NaN becomes the same one, so that bytes can be compared: signs of zeros count. */
static void one_nan(gp_dtype dtype, void *array, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(t_value(dtype, array, i)))
            t_set(dtype, array, i, NAN);
}

/* The inclusive scan of in, which is freed; signs of zeros count, and which items are NaNs. */
static void check_extremes(gp_dtype dtype, gp_op op, char *in, size_t n)
{
    const size_t bytes = n * gp_dtype_bytes(dtype);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, op);
    char *actual = t_host(bytes), *expected = oracle_scan(&desc, in, n);
    t_array source = t_new_from(in, bytes, 0), target = t_new(bytes, 0);
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    t_get(&target, actual, bytes);
    one_nan(dtype, actual, n);
    one_nan(dtype, expected, n);
    t_same_bytes("min or max", expected, actual, bytes);
    t_free(&source);
    t_free(&target);
    free(in);
    free(actual);
    free(expected);
}

START_TEST(test_scan_min_max_follow_the_order_of_floats)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    gp_dtype dtype = floats[_i / 2];
    gp_op op = _i % 2 ? GP_MAX : GP_MIN;
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t sizes[] = {1, 2, 40, 700, 5000, 30000};
    for (size_t s = 0; s < 12; s++) {
        const size_t n = sizes[s / 2];
        char *in = special_input(dtype, n, &state, s % 2);
        if (s % 2)
            t_set(dtype, in, 0, NAN);
        check_extremes(dtype, op, in, n);
    }
}
END_TEST

/* What the result keeps shows: the first of equal zeros, of which the one that is kept may be far
 * before the others, and NaNs that are over before or begin within blocks without one. */
enum tie { TIES_OF_ZEROS, ZERO_FIRST, NAN_FIRST, NANS_FIRST, NAN_LATE, TIES };

static char *tie_input(gp_dtype dtype, gp_op op, enum tie tie, size_t n, uint64_t *state)
{
    char *in = t_host(n * gp_dtype_bytes(dtype));
    for (size_t i = 0; i < n; i++) {
        const uint64_t choice = t_random_below(state, 3);
        const bool nan = (tie == NAN_FIRST && i == 0) || (tie == NANS_FIRST && i < 40000) ||
                         (tie == NAN_LATE && i == n - 5000);
        const double worse = op == GP_MIN ? 1 : -1; /* than zeros, which are the result */
        const double zero = (tie == ZERO_FIRST ? i == 0 : choice == 1) ? -0.0 : 0.0;
        t_set(dtype, in, i, nan ? NAN : choice == 0 && i > 0 ? worse : zero);
    }
    return in;
}

START_TEST(test_scan_min_max_keep_the_first_of_ties)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    const gp_dtype dtype = floats[_i / 2];
    const gp_op op = _i % 2 ? GP_MAX : GP_MIN;
    const size_t n = 150001;
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int tie = 0; tie < TIES; tie++)
        check_extremes(dtype, op, tie_input(dtype, op, (enum tie)tie, n, &state), n);
}
END_TEST

START_TEST(test_scan_sums_pass_on_infinity_and_nan)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    gp_dtype dtype = floats[_i];
    size_t n = 20000;
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_SUM);
    char *in = t_host(n * gp_dtype_bytes(dtype));
    for (size_t i = 0; i < n; i++)
        t_set(dtype, in, i, i == 5000 ? INFINITY : i == 15000 ? -INFINITY : (double)(i % 3) - 1);
    t_check_scan(&desc, in, n, plain);
    t_set(dtype, in, 2500, NAN);
    t_check_scan(&desc, in, n, plain);
    free(in);
}
END_TEST

/* Every half alone, and with a neighbour whose sum is rounded: conversions, in vectors and beside
 * them, keep zeros, subnormals and infinities, round to even, and make every NaN 0x7fff. */
START_TEST(test_scan_halves_of_every_value_are_converted)
{
    enum { ALL = 1 << 16 };
    const gp_dtype dtype = _i ? GP_BF16 : GP_F16;
    uint16_t *in = t_host(2 * ALL * sizeof *in), *expected = t_host(2 * ALL * sizeof *in);
    for (size_t row = 1; row <= 2; row++) {
        const size_t n = row * ALL;
        gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_SUM);
        for (size_t i = 0; i < n; i++) {
            in[i] = (uint16_t)(i % row ? i * 40503u >> 3 : i / row);
            const float item = (float)t_value(dtype, in, i);
            const float sum = i % row ? (float)t_value(dtype, in, i - 1) + item : item;
            t_set(dtype, expected, i, (double)sum);
            if (isnan(sum))
                expected[i] = 0x7fff;
        }
        t_array source = t_new_from(in, n * sizeof *in, 0), target = t_new(n * sizeof *in, 0);
        T_OK(gp_scan_rows(t_ctx(), &desc, source.data, ALL, row, target.data));
        t_get(&target, in, n * sizeof *in);
        t_same("halves", GP_U16, expected, in, n);
        t_free(&source);
        t_free(&target);
    }
    free(in);
    free(expected);
}
END_TEST

/* Random floats: the error is bounded by the sum of the terms' absolute values. */
START_TEST(test_scan_float_sums_are_accurate)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    gp_dtype dtype = floats[_i], computed = dtype == GP_F64 ? GP_F64 : GP_F32;
    size_t n = ((size_t)1 << 21) + 4567, bytes = n * gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    double *expected = t_host(n * sizeof *expected), *magnitude = t_host(n * sizeof *magnitude);
    char *in = t_host(bytes);
    t_fill_random(dtype, in, n, &state);
    long double sum = 0;
    double absolute = 0;
    for (size_t i = 0; i < n; i++) {
        sum += t_value(dtype, in, i);
        absolute += fabs(t_value(dtype, in, i));
        expected[i] = (double)sum;
        magnitude[i] = absolute;
    }
    t_array source = t_new_from(in, bytes, 0), target = t_new(bytes, 0);
    T_OK(gp_scan_inclusive(t_ctx(), dtype, GP_SUM, source.data, n, target.data));
    t_get(&target, in, bytes);
    t_close_to("float sum", dtype, expected, magnitude, in, n,
               16 * t_epsilon(computed) + t_epsilon(dtype));
    t_free(&source);
    t_free(&target);
    free(expected);
    free(magnitude);
    free(in);
}
END_TEST

/* ---- determinism ----------------------------------------------------------------------------- */

/* Scan on ctx from memory of t_ctx(); result in host. */
static void scan_bits(gp_context *ctx, gp_dtype dtype, const void *in, size_t n, size_t offset,
                      void *result)
{
    size_t bytes = n * gp_dtype_bytes(dtype);
    t_array source = t_new_from(in, bytes, offset * gp_dtype_bytes(dtype));
    t_array target = t_new(bytes, (offset * 3 % 16) * gp_dtype_bytes(dtype));
    T_OK(gp_scan_inclusive(ctx, dtype, GP_SUM, source.data, n, target.data));
    T_OK(gp_context_synchronize(ctx));
    t_get(&target, result, bytes);
    t_free(&source);
    t_free(&target);
}

/* Sums whose rounding depends on the association: any other one would show. */
START_TEST(test_scan_float_sums_are_the_same_bits)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    static const size_t sizes[] = {100, 4096, 30011, 700001, 3000001};
    gp_dtype dtype = floats[_i];
    uint64_t state = t_seed();
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s], bytes = n * gp_dtype_bytes(dtype);
        char *in = t_host(bytes), *first = t_host(bytes), *again = t_host(bytes);
        t_fill_random(dtype, in, n, &state);
        scan_bits(t_ctx(), dtype, in, n, 0, first);
        for (size_t repeat = 0; repeat < 5; repeat++) {
            gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
            gp_context *other;
            o.backend = gp_context_backend(t_ctx());
            o.threads = (int)repeat + 1;
            T_OK(gp_context_create(&other, &o));
            scan_bits(other, dtype, in, n, repeat, again);
            t_same_bytes("float sum again", first, again, bytes);
            gp_context_destroy(other);
        }
        free(in);
        free(first);
        free(again);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_floats");
    TCase *c = t_case(s, "floats");
    tcase_add_loop_test(c, test_scan_min_max_follow_the_order_of_floats, 0, 8);
    tcase_add_loop_test(c, test_scan_min_max_keep_the_first_of_ties, 0, 8);
    tcase_add_loop_test(c, test_scan_sums_pass_on_infinity_and_nan, 0, 4);
    tcase_add_loop_test(c, test_scan_halves_of_every_value_are_converted, 0, 2);
    tcase_add_loop_test(c, test_scan_float_sums_are_accurate, 0, 4);
    tcase_add_loop_test(c, test_scan_float_sums_are_the_same_bits, 0, 4);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
