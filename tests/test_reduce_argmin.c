/* SPDX-License-Identifier: MIT */
/* Where the smallest and the largest item of an array are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gp/reduce.h>

#include "oracle.h"

/* a comes before b in gp's order; ties are neither. */
static bool before(gp_dtype dtype, const void *in, size_t a, size_t b)
{
    if (dtype == GP_U64)
        return ((const uint64_t *)in)[a] < ((const uint64_t *)in)[b];
    if (dtype == GP_I64)
        return ((const int64_t *)in)[a] < ((const int64_t *)in)[b];
    double x = t_value(dtype, in, a), y = t_value(dtype, in, b);
    return !isnan(x) && (isnan(y) || x < y);
}

static size_t oracle_arg(gp_dtype dtype, bool largest, const void *in, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (largest ? before(dtype, in, best, i) : before(dtype, in, i, best))
            best = i;
    return best;
}

static void check_arg(gp_dtype dtype, bool largest, const void *in, size_t n, size_t offset)
{
    size_t item = gp_dtype_bytes(dtype), expected = oracle_arg(dtype, largest, in, n);
    t_array source = t_new_from(in, n * item, offset * item), value = t_new(item, item);
    t_array index = t_new(8, 0);
    char actual[8];
    void *wanted = offset % 4 == 3 ? NULL : value.data;
    T_OK((largest ? gp_argmax : gp_argmin)(t_ctx(), dtype, source.data, n, wanted, index.data));
    if (t_get_u64(&index) != expected)
        ck_abort_msg("arg%s of %zu %s from item %zu on: %llu, expected %zu",
                     largest ? "max" : "min", n, gp_dtype_string(dtype), offset,
                     (unsigned long long)t_get_u64(&index), expected);
    if (wanted) {
        t_get(&value, actual, item);
        t_same_bytes("the value", (const char *)in + expected * item, actual, item);
    } else {
        t_check_untouched(&value);
    }
    t_check_guards(&value);
    t_check_guards(&index);
    t_free(&source);
    t_free(&value);
    t_free(&index);
}

START_TEST(test_argmin_of_random_items)
{
    static const size_t sizes[] = {1, 2, 3, 15, 16, 17, 100, 1000, 4097, 33333, 300001};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = t_host(sizes[s] * gp_dtype_bytes(dtype));
        t_fill_random(dtype, in, sizes[s], &state);
        for (size_t k = 0; k < 8; k++)
            check_arg(dtype, k % 2, in, sizes[s], k / 2);
        free(in);
    }
}
END_TEST

/* The only extreme at every place of some tiles: at the ends of lanes, vectors and warps too. */
START_TEST(test_argmin_finds_every_place)
{
    enum { END = 2 * 8192 + 40 };
    static const gp_dtype dtypes[] = {GP_I8, GP_U16, GP_F32, GP_U64};
    gp_dtype dtype = dtypes[_i];
    size_t item = gp_dtype_bytes(dtype), step = t_step(t_is_cuda() ? 7 : 61);
    char *in = t_host(END * item), low[8], middle[8];
    t_set(dtype, low, 0, 1);
    t_set(dtype, middle, 0, 5);
    for (size_t i = 0; i < END; i++)
        memcpy(in + i * item, middle, item);
    t_array source = t_new_from(in, END * item, item), index = t_new(8, 0);
    for (size_t at = 0; at < END; at += at < 64 || at > END - 64 ? 1 : step) {
        char *place = (char *)source.data + at * item;
        T_OK(gp_copy(t_ctx(), low, item, place));
        T_OK(gp_argmin(t_ctx(), dtype, source.data, END, NULL, index.data));
        if (t_get_u64(&index) != at)
            ck_abort_msg("argmin is %llu, expected %zu", (unsigned long long)t_get_u64(&index), at);
        T_OK(gp_copy(t_ctx(), middle, item, place));
        T_OK(gp_context_synchronize(t_ctx()));
    }
    t_free(&source);
    t_free(&index);
    free(in);
}
END_TEST

START_TEST(test_argmin_takes_the_first_of_equal_items)
{
    static const size_t sizes[] = {1, 5, 33, 4096, 5000, 70000};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (uint64_t range = 1; range <= 3; range++) {
            char *in = t_host(sizes[s] * gp_dtype_bytes(dtype));
            t_fill_small(dtype, in, sizes[s], range, &state);
            check_arg(dtype, false, in, sizes[s], s);
            check_arg(dtype, true, in, sizes[s], s);
            free(in);
        }
}
END_TEST

START_TEST(test_argmin_of_special_floats)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    static const double values[] = {NAN, 0.0, -0.0, INFINITY, -INFINITY, 1};
    gp_dtype dtype = floats[_i];
    uint64_t state = t_seed();
    static const size_t sizes[] = {1, 2, 40, 5000, 20000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t kinds = 0; kinds < 8; kinds++) {
            char *in = t_host(sizes[s] * gp_dtype_bytes(dtype));
            for (size_t i = 0; i < sizes[s]; i++) {
                size_t k = kinds < 6 ? t_random_below(&state, kinds + 1)
                                     : 1 + t_random_below(&state, kinds - 5);
                t_set(dtype, in, i, values[k]);
            }
            check_arg(dtype, false, in, sizes[s], kinds);
            check_arg(dtype, true, in, sizes[s], kinds);
            free(in);
        }
}
END_TEST

/* More tiles than blocks; the extreme near the end, and a later equal one. */
START_TEST(test_argmin_of_long_arrays)
{
    static const gp_dtype dtypes[] = {GP_I8, GP_I32, GP_F32, GP_F64};
    gp_dtype dtype = dtypes[_i];
    size_t item = gp_dtype_bytes(dtype), n = ((size_t)18 << 20) / item + 77;
    char *in = t_host(n * item);
    for (size_t i = 0; i < n; i++)
        t_set(dtype, in, i, i == n - 500 || i == n - 3 ? 1 : i == 12345 ? 9 : 5);
    check_arg(dtype, false, in, n, 0);
    check_arg(dtype, true, in, n, 1);
    free(in);
}
END_TEST

START_TEST(test_argmin_of_nothing)
{
    gp_dtype dtype = t_dtypes[_i];
    char actual[8], expected[8];
    t_array value = t_new(8, 0), index = t_new(8, 0);
    for (int largest = 0; largest < 2; largest++) {
        gp_op op = largest ? GP_MAX : GP_MIN;
        oracle_identity(op, dtype, expected);
        T_OK((largest ? gp_argmax : gp_argmin)(t_ctx(), dtype, NULL, 0, value.data, index.data));
        t_get(&value, actual, 8);
        t_same("value", dtype, expected, actual, 1);
        ck_assert_uint_eq(t_get_u64(&index), UINT64_MAX);
    }
    T_OK(gp_argmin(t_ctx(), dtype, NULL, 0, NULL, index.data));
    t_free(&value);
    t_free(&index);
}
END_TEST

START_TEST(test_argmin_captured_and_replayed_with_other_data)
{
    size_t n = _i ? 500000 : 1000, need;
    uint64_t state = t_seed();
    t_array source = t_new(n * 4, 0), index = t_new(8, 0);
    float *in = t_host(n * 4);
    T_OK(gp_argmin_workspace_bytes(NULL, GP_F32, n, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    t_capture_begin();
    T_OK(gp_argmax(t_ctx(), GP_F32, source.data, n, NULL, index.data));
    t_capture_end();
    ck_assert_uint_eq(t_captured_nodes(), 1);
    for (int round = 0; round < 4; round++) {
        t_fill_random(GP_F32, in, n, &state);
        t_put(&source, in, n * 4);
        t_replay();
        ck_assert_uint_eq(t_get_u64(&index), oracle_arg(GP_F32, true, in, n));
    }
    t_capture_free();
    t_free(&source);
    t_free(&index);
    free(in);
}
END_TEST

START_TEST(test_argmin_past_32_bits)
{
    size_t n = ((size_t)1 << 32) + 100000, at = n - 777;
    t_array source = t_new(n, 0), index = t_new(8, 0); /* poison is 0xA5 */
    uint8_t low = 3;
    T_OK(gp_copy(t_ctx(), &low, 1, (char *)source.data + at));
    T_OK(gp_argmin(t_ctx(), GP_U8, source.data, n, NULL, index.data));
    ck_assert_uint_eq(t_get_u64(&index), at);
    t_free(&source);
    t_free(&index);
}
END_TEST

START_TEST(test_argmin_errors_leave_the_outputs_untouched)
{
    int32_t host[64] = {0};
    t_array in = t_new(256, 0), value = t_new(16, 0), index = t_new(16, 0);
    char *data = in.data, *v = value.data;
    uint64_t *i = index.data;
    gp_context *ctx = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_argmin(NULL, GP_I32, data, 64, v, i));
    T_STATUS(GP_ERROR_DTYPE, gp_argmin(ctx, (gp_dtype)0, data, 64, v, i));
    T_STATUS(GP_ERROR_ARGUMENT, gp_argmin(ctx, GP_I32, data, ((size_t)1 << 40) + 1, v, i));
    T_STATUS(GP_ERROR_POINTER, gp_argmax(ctx, GP_I32, NULL, 64, v, i));
    T_STATUS(GP_ERROR_POINTER, gp_argmax(ctx, GP_I32, data + 2, 60, v, i));
    T_STATUS(GP_ERROR_POINTER, gp_argmax(ctx, GP_I32, data, 64, v + 1, i));
    T_STATUS(GP_ERROR_POINTER, gp_argmax(ctx, GP_I32, data, 64, v, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_argmax(ctx, GP_I32, data, 64, v, (uint64_t *)(void *)(v + 4)));
    T_STATUS(GP_ERROR_OVERLAP, gp_argmax(ctx, GP_I32, data, 64, data + 8, i));
    T_STATUS(GP_ERROR_OVERLAP, gp_argmax(ctx, GP_I32, data, 64, v, (uint64_t *)in.data));
    T_STATUS(GP_ERROR_OVERLAP, gp_argmax(ctx, GP_I32, data, 64, (char *)i + 4, i));
    if (t_is_cuda()) {
        T_STATUS(GP_ERROR_POINTER, gp_argmin(ctx, GP_I32, host, 64, v, i));
        T_STATUS(GP_ERROR_POINTER, gp_argmin(ctx, GP_I32, data, 64, host, i));
    }
    T_OK(gp_context_synchronize(ctx));
    t_check_untouched(&in);
    t_check_untouched(&value);
    t_check_untouched(&index);
    t_free(&in);
    t_free(&value);
    t_free(&index);
}
END_TEST

/* With a descriptor: the same results, and its members in the texts. */
START_TEST(test_argmin_by_is_argmin)
{
    const gp_dtype dtype = t_dtypes[_i];
    const size_t n = 5000, item = gp_dtype_bytes(dtype);
    uint64_t state = t_seed();
    char *host = t_host(n * item), expected[8], actual[8];
    t_fill_special(dtype, host, n, &state);
    t_array in = t_new_from(host, n * item, 0), value = t_new(item, 0), index = t_new(8, 0);
    gp_arg_desc d = GP_ARG_DESC_INIT;
    d.dtype = dtype;
    for (int largest = 0; largest < 2; largest++) {
        T_OK((largest ? gp_argmax : gp_argmin)(t_ctx(), dtype, in.data, n, value.data, index.data));
        const uint64_t at = t_get_u64(&index);
        t_get(&value, expected, item);
        t_poison(&value), t_poison(&index);
        T_OK((largest ? gp_argmax_by : gp_argmin_by)(t_ctx(), &d, in.data, n, value.data,
                                                     index.data));
        ck_assert_uint_eq(t_get_u64(&index), at);
        t_get(&value, actual, item);
        t_same_bytes("value", expected, actual, item);
        t_check_guards(&value);
    }
    t_free(&in), t_free(&value), t_free(&index);
    free(host);
}
END_TEST

START_TEST(test_argmin_by_names_members)
{
    t_array in = t_new(64, 0), value = t_new(8, 0), index = t_new(8, 0);
    gp_arg_desc d = GP_ARG_DESC_INIT;
    T_STATUS(GP_ERROR_DTYPE, gp_argmin_by(t_ctx(), &d, in.data, 8, value.data, index.data));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_argmin_by: desc->dtype is 0, expected a gp_dtype");
    T_STATUS(GP_ERROR_DTYPE, gp_argmax(t_ctx(), d.dtype, in.data, 8, value.data, index.data));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_argmax: dtype is 0, expected a gp_dtype");
    T_STATUS(GP_ERROR_POINTER, gp_argmax_by(t_ctx(), NULL, in.data, 8, value.data, index.data));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_argmax_by: desc is NULL");
    d.size = 8;
    T_STATUS(GP_ERROR_ARGUMENT, gp_argmax_by(t_ctx(), &d, in.data, 8, value.data, index.data));
    ck_assert_str_eq(gp_last_error(t_ctx()), "gp_argmax_by: desc->size is 8, expected 24: start "
                                             "from its initializer macro");
    t_check_untouched(&value);
    t_check_untouched(&index);
    t_free(&in), t_free(&value), t_free(&index);
}
END_TEST

START_TEST(test_argmin_workspace_bytes)
{
    gp_target target = GP_TARGET_INIT;
    size_t bytes;
    T_OK(gp_argmin_workspace_bytes(NULL, GP_I8, 1000, &bytes));
    T_STATUS(GP_ERROR_DTYPE, gp_argmin_workspace_bytes(NULL, (gp_dtype)0, 1000, &bytes));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_argmin_workspace_bytes(NULL, GP_I8, ((size_t)1 << 40) + 1, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_argmin_workspace_bytes(NULL, GP_I8, 1000, NULL));
    target.size--;
    T_STATUS(GP_ERROR_ARGUMENT, gp_argmin_workspace_bytes(&target, GP_I8, 1000, &bytes));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("argmin");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_argmin_of_random_items, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_argmin_finds_every_place, 0, 4);
    tcase_add_loop_test(c, test_argmin_takes_the_first_of_equal_items, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_argmin_of_special_floats, 0, 4);
    tcase_add_loop_test(c, test_argmin_of_long_arrays, 0, 4);
    tcase_add_loop_test(c, test_argmin_of_nothing, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_argmin_by_is_argmin, 0, T_DTYPE_COUNT);
    c = t_case(s, "graphs on cuda");
    tcase_add_loop_test(c, test_argmin_captured_and_replayed_with_other_data, 0, 2);
    c = t_case(s, "large");
    tcase_add_test(c, test_argmin_past_32_bits);
    c = t_case(s, "errors");
    tcase_add_test(c, test_argmin_errors_leave_the_outputs_untouched);
    tcase_add_test(c, test_argmin_by_names_members);
    tcase_add_test(c, test_argmin_workspace_bytes);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
