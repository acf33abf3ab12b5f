/* SPDX-License-Identifier: MIT */
/* Differences of neighbouring items. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gp/difference.h>
#include <gp/scan.h>

#include "oracle.h"

/* Item i less the one before it. */
static void oracle_difference(gp_dtype dtype, const char *in, size_t i, char *out)
{
    const size_t item = gp_dtype_bytes(dtype);
    uint64_t x = 0, before = 0;
    memcpy(&x, in + i * item, item);
    if (i == 0) {
        memcpy(out, &x, item);
        return;
    }
    memcpy(&before, in + (i - 1) * item, item);
    x -= before;
    if (!t_is_float(dtype))
        memcpy(out + i * item, &x, item); /* little-endian */
    else if (dtype == GP_F64)
        ((double *)(void *)out)[i] =
            ((const double *)(const void *)in)[i] - ((const double *)(const void *)in)[i - 1];
    else
        t_set(dtype, out, i,
              (double)((float)t_value(dtype, in, i) - (float)t_value(dtype, in, i - 1)));
}

static void check(gp_dtype dtype, const char *in, size_t n, size_t in_shift, size_t out_shift)
{
    const size_t item = gp_dtype_bytes(dtype);
    char *expected = t_host(n * item), *actual = t_host(n * item);
    for (size_t i = 0; i < n; i++)
        oracle_difference(dtype, in, i, expected);
    t_array source = t_new_from(in, n * item, in_shift * item);
    t_array out = t_new(n * item, out_shift * item);
    T_OK(gp_adjacent_difference(t_ctx(), dtype, source.data, n, out.data));
    t_get(&out, actual, n * item);
    t_same("differences", dtype, expected, actual, n);
    if (n)
        t_same_bytes("the first", in, actual, item);
    t_check_guards(&source);
    t_check_guards(&out);
    t_get(&source, actual, n * item);
    t_same_bytes("the input", in, actual, n * item);
    t_free(&source);
    t_free(&out);
    free(expected);
    free(actual);
}

START_TEST(test_difference_of_every_dtype_and_size)
{
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t s = 0; s < T_SIZE_SMALL_COUNT; s++) {
        const size_t n = t_at_most(t_sizes[s]);
        char *in = t_host(n * gp_dtype_bytes(dtype));
        if (s % 2)
            t_fill_random(dtype, in, n, &state);
        else
            t_fill_special(dtype, in, n, &state);
        check(dtype, in, n, s % 5, s % 5);
        free(in);
    }
}
END_TEST

START_TEST(test_difference_at_every_alignment)
{
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    char *in = t_host(1100 * 8);
    t_fill_random(dtype, in, 1100, &state);
    for (size_t n = 0; n < 1100; n = n < 40 ? n + 1 : n + 131)
        for (size_t shift = 0; shift < 16; shift += n < 40 ? 1 : 3)
            check(dtype, in, n, shift, (shift + n % 3 * 5) % 16);
    free(in);
}
END_TEST

/* Outputs that go past the cache, and more than a grid takes at once. */
START_TEST(test_difference_of_large_arrays)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_F16, GP_I32, GP_F64};
    gp_dtype dtype = dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    const size_t n = t_at_most(((size_t)40 << 20) / gp_dtype_bytes(dtype) + 13);
    char *in = t_host(n * gp_dtype_bytes(dtype));
    t_fill_random(dtype, in, n, &state);
    check(dtype, in, n, 1, 1);
    free(in);
}
END_TEST

START_TEST(test_difference_undoes_an_inclusive_sum)
{
    enum { N = 20000 };
    static const gp_dtype dtypes[] = {GP_I8, GP_U16, GP_I32, GP_U64};
    gp_dtype dtype = dtypes[_i];
    const size_t bytes = N * gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    char *in = t_host(bytes), *actual = t_host(bytes);
    t_fill_bits(dtype, in, N, &state);
    t_array a = t_new_from(in, bytes, 0), b = t_new(bytes, 0);
    T_OK(gp_adjacent_difference(t_ctx(), dtype, a.data, N, b.data));
    T_OK(gp_scan_inclusive(t_ctx(), dtype, GP_SUM, b.data, N, b.data));
    t_get(&b, actual, bytes);
    t_same("sums of differences", dtype, in, actual, N);
    t_free(&a);
    t_free(&b);
    free(in);
    free(actual);
}
END_TEST

/* Behind a count in memory nothing is written. */
START_TEST(test_difference_device_n)
{
    enum { N = 9001 };
    const gp_dtype dtype = t_dtypes[_i];
    const size_t item = gp_dtype_bytes(dtype);
    const uint64_t given[] = {0, 1, 2, 37, 4096, N - 1, N, UINT64_MAX};
    uint64_t state = t_seed() + (uint64_t)_i;
    char *in = t_host(N * item), *expected = t_host(N * item), *actual = t_host(N * item);
    t_fill_bits(t_is_float(dtype) ? GP_U8 : dtype, in, t_is_float(dtype) ? 0 : N, &state);
    for (size_t i = 0; i < N && t_is_float(dtype); i++)
        t_set(dtype, in, i, (double)(i % 50));
    for (size_t i = 0; i < N; i++)
        oracle_difference(dtype, in, i, expected);
    t_array source = t_new_from(in, N * item, 0);
    gp_difference_desc d = GP_DIFFERENCE_DESC_INIT;
    d.dtype = dtype;
    for (size_t k = 0; k < sizeof given / sizeof given[0]; k++) {
        const size_t n = given[k] < N ? (size_t)given[k] : N;
        t_array number = t_new_from(&given[k], 8, 0), out = t_new(n * item, k % 3 * item);
        t_array all = t_new(N * item, 0);
        d.device_n = number.data;
        T_OK(gp_adjacent_difference_by(t_ctx(), &d, source.data, N, all.data));
        t_get(&all, actual, N * item);
        t_same("differences", dtype, expected, actual, n);
        if (n == N) {
            T_OK(gp_adjacent_difference_by(t_ctx(), &d, source.data, N, out.data));
            t_get(&out, actual, N * item);
            t_same("differences", dtype, expected, actual, n);
        } else if (n == 0) {
            t_check_untouched(&all);
        }
        t_check_guards(&all);
        t_free(&number), t_free(&out), t_free(&all);
    }
    t_free(&source);
    free(in), free(expected), free(actual);
}
END_TEST

START_TEST(test_difference_refuses_arguments)
{
    t_array a = t_new(64, 0), b = t_new(64, 0);
    char *in = a.data, *out = b.data;
    gp_context *ctx = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_adjacent_difference(NULL, GP_I32, in, 8, out));
    T_STATUS(GP_ERROR_DTYPE, gp_adjacent_difference(ctx, (gp_dtype)0, in, 8, out));
    T_STATUS(GP_ERROR_DTYPE, gp_adjacent_difference(ctx, (gp_dtype)99, in, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_adjacent_difference(ctx, GP_I32, NULL, 8, out));
    T_STATUS(GP_ERROR_POINTER, gp_adjacent_difference(ctx, GP_I32, in + 2, 8, out));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_adjacent_difference(ctx, GP_I32, in, ((size_t)1 << 40) + 1, out));
    T_STATUS(GP_ERROR_POINTER, gp_adjacent_difference(ctx, GP_I32, in, 8, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_adjacent_difference(ctx, GP_I32, in, 8, out + 1));
    T_STATUS(GP_ERROR_OVERLAP, gp_adjacent_difference(ctx, GP_I32, in, 8, in));
    T_STATUS(GP_ERROR_OVERLAP, gp_adjacent_difference(ctx, GP_I32, in, 8, in + 4));
    T_OK(gp_adjacent_difference(ctx, GP_I32, NULL, 0, NULL));
    gp_difference_desc d = GP_DIFFERENCE_DESC_INIT;
    T_STATUS(GP_ERROR_POINTER, gp_adjacent_difference_by(ctx, NULL, in, 8, out));
    T_STATUS(GP_ERROR_DTYPE, gp_adjacent_difference_by(ctx, &d, in, 8, out));
    ck_assert_ptr_nonnull(strstr(gp_last_error(ctx), "desc->dtype is 0"));
    d.dtype = GP_I32, d.reserved = 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_adjacent_difference_by(ctx, &d, in, 8, out));
    d.reserved = 0, d.size = 1;
    T_STATUS(GP_ERROR_ARGUMENT, gp_adjacent_difference_by(ctx, &d, in, 8, out));
    d.size = sizeof d, d.device_n = (const uint64_t *)(const void *)(in + 4);
    T_STATUS(GP_ERROR_POINTER, gp_adjacent_difference_by(ctx, &d, in, 8, out));
    d.device_n = (const uint64_t *)(const void *)out;
    T_STATUS(GP_ERROR_OVERLAP, gp_adjacent_difference_by(ctx, &d, in, 8, out));
    d.device_n = NULL;
    T_OK(gp_adjacent_difference_by(ctx, &d, NULL, 0, NULL));
    t_check_untouched(&b);
    t_free(&a);
    t_free(&b);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("difference");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_difference_of_every_dtype_and_size, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_difference_at_every_alignment, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_difference_of_large_arrays, 0, 4);
    tcase_add_loop_test(c, test_difference_undoes_an_inclusive_sum, 0, 4);
    tcase_add_loop_test(c, test_difference_device_n, 0, T_DTYPE_COUNT);
    c = t_case(s, "errors");
    tcase_add_test(c, test_difference_refuses_arguments);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
