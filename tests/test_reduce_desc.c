/* SPDX-License-Identifier: MIT */
/* Reduction through its descriptor: initial values, widening, totals, device n; every error, and
 * the workspace figures. */
#include "reduce_check.h"

#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* ---- descriptors ----------------------------------------------------------------------------- */

START_TEST(test_reduce_initial_value_comes_first)
{
    static const size_t sizes[] = {0, 1, 100, 4097, 20001};
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = oracle_scan_input(dtype, op, sizes[s], &state), expected[32];
        void *init = oracle_scan_input(dtype, op, 1, &state);
        gp_reduce_desc desc = reduce_desc(dtype, (gp_dtype)0, op);
        desc.init = init;
        reduce_oracle(&desc, in, sizes[s], expected);
        reduce_check(&desc, in, sizes[s], s, expected);
        free(in);
        free(init);
    }
}
END_TEST

START_TEST(test_reduce_sum_widens)
{
    static const size_t sizes[] = {0, 1, 33, 5000, 70001, 300001};
    gp_dtype from = t_widening[_i][0], to = t_widening[_i][1];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = oracle_scan_input(from, GP_SUM, sizes[s], &state), expected[8], init[8];
        gp_reduce_desc desc = reduce_desc(from, to, GP_SUM);
        t_set(to, init, 0, 5);
        desc.init = s % 2 ? init : NULL;
        reduce_oracle(&desc, in, sizes[s], expected);
        reduce_check(&desc, in, sizes[s], s, expected);
        free(in);
    }
}
END_TEST

/* Reduce with a total; returns what synchronising reports. */
static gp_status reduce_with_total(const gp_reduce_desc *given, const void *in, size_t n,
                                   void *result, uint64_t *total)
{
    gp_dtype to = given->out_dtype ? given->out_dtype : given->in_dtype;
    gp_reduce_desc desc = *given;
    t_array source = t_new_from(in, n * gp_dtype_bytes(given->in_dtype), 0);
    t_array target = t_new(8, 0), wide = t_new(8, 8);
    desc.total = wide.data;
    T_OK(gp_reduce_by(t_ctx(), &desc, source.data, n, target.data));
    gp_status s = gp_context_synchronize(t_ctx());
    t_get(&target, result, gp_dtype_bytes(to));
    *total = t_get_u64(&wide);
    t_check_guards(&target);
    t_check_guards(&wide);
    t_free(&source);
    t_free(&target);
    t_free(&wide);
    return s;
}

START_TEST(test_reduce_overflow_exactly_past_the_limit)
{
    static const struct {
        gp_dtype dtype;
        int64_t lowest, highest;
    } limits[] = {{GP_I8, INT8_MIN, INT8_MAX},    {GP_U8, 0, UINT8_MAX},
                  {GP_I16, INT16_MIN, INT16_MAX}, {GP_U16, 0, UINT16_MAX},
                  {GP_I32, INT32_MIN, INT32_MAX}, {GP_U32, 0, UINT32_MAX}};
    static const size_t ns[] = {2, 100, 3000, 50000};
    gp_reduce_desc desc = reduce_desc(limits[_i].dtype, (gp_dtype)0, GP_SUM);
    size_t bytes = gp_dtype_bytes(desc.in_dtype);
    int64_t ends[] = {limits[_i].highest, limits[_i].lowest, limits[_i].highest + 1,
                      limits[_i].lowest - 1};
    for (int k = 0; k < 16; k++) {
        size_t n = ns[k / 4];
        int64_t end = ends[k % 4], left = end;
        if (end < 0 && limits[_i].lowest == 0)
            continue;
        char *in = t_host(n * bytes), result[8];
        uint64_t total;
        for (size_t i = 0; i < n; i++) {
            int64_t v = left / (int64_t)(n - i);
            memcpy(in + i * bytes, &v, bytes);
            left -= v;
        }
        ck_assert_int_eq(reduce_with_total(&desc, in, n, result, &total),
                         k % 4 < 2 ? GP_OK : GP_ERROR_OVERFLOW);
        ck_assert_int_eq((int64_t)total, end);
        t_same_bytes("the low bytes", &end, result, bytes);
        free(in);
    }
}
END_TEST

START_TEST(test_reduce_total_of_every_dtype)
{
    static const gp_op ops[] = {GP_SUM, GP_MIN, GP_MAX, GP_PRODUCT, GP_XOR};
    gp_dtype dtype = t_dtypes[_i / 5];
    gp_op op = ops[_i % 5];
    gp_dtype wide = t_is_float(dtype) ? GP_F64 : t_is_signed(dtype) ? GP_I64 : GP_U64;
    uint64_t state = t_seed(), total, expected_total = 0;
    char in[20 * 8], result[8], expected[8];
    if (!t_op_allowed(dtype, op))
        return;
    t_fill_small(dtype, in, 20, 4, &state);
    for (size_t i = 0; op == GP_PRODUCT && i < 20; i++)
        t_set(dtype, in, i, i == 3 ? 5 : 1);
    if (t_is_signed(dtype))
        t_set(dtype, in, 7, -3);
    gp_reduce_desc desc = reduce_desc(dtype, dtype, op);
    reduce_oracle(&desc, in, 20, expected);
    ck_assert_int_eq(reduce_with_total(&desc, in, 20, result, &total), GP_OK);
    t_same("result", dtype, expected, result, 1);
    t_set(wide, &expected_total, 0, t_value(dtype, expected, 0));
    t_same("total", wide, &expected_total, &total, 1);
}
END_TEST

START_TEST(test_reduce_n_on_the_device)
{
    size_t bounds[] = {1, 1000, 20000, 70001,
                       (t_is_cuda() ? REDUCE_LONG_BYTES : REDUCE_LONG_BYTES / 64) / 4 + 9};
    size_t bound = bounds[_i];
    uint64_t given[] = {0, 1, bound / 2, bound - 1, bound, bound + 1, UINT64_MAX}, state = t_seed();
    uint32_t *in = t_host(bound * 4), actual;
    t_fill_bits(GP_U32, in, bound, &state);
    t_array source = t_new_from(in, bound * 4, 4), target = t_new(4, 0), count = t_new(8, 0);
    gp_reduce_desc desc = reduce_desc(GP_U32, GP_U32, GP_SUM);
    desc.device_n = count.data;
    for (size_t g = 0; g < sizeof given / sizeof given[0]; g++) {
        size_t n = given[g] < bound ? (size_t)given[g] : bound;
        uint32_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += in[i];
        t_put(&count, &given[g], 8);
        T_OK(gp_reduce_by(t_ctx(), &desc, source.data, bound, target.data));
        t_get(&target, &actual, 4);
        ck_assert_uint_eq(actual, sum);
    }
    t_free(&source);
    t_free(&target);
    t_free(&count);
    free(in);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_reduce_errors_leave_the_output_untouched)
{
    int32_t host[64] = {0};
    t_array in = t_new(256, 0), out = t_new(16, 0), word = t_new(8, 0);
    char *data = in.data, *o = out.data;
    gp_context *ctx = t_ctx();
    gp_reduce_desc good = reduce_desc(GP_I32, GP_I32, GP_SUM), d = good;
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(NULL, &good, data, 64, o));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, NULL, data, 64, o));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &good, NULL, 64, o));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &good, data, 64, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &good, NULL, 0, NULL)); /* out is written */
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &good, data + 1, 63, o));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &good, data, 63, o + 2));
    T_STATUS(GP_ERROR_OVERLAP, gp_reduce_by(ctx, &good, data, 60, data + 4));
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_by(ctx, &good, data, ((size_t)1 << 40) + 1, o));
    if (t_is_cuda()) {
        T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &good, host, 64, o));
        T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &good, data, 64, host));
    }
    d.size--;
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_by(ctx, &d, data, 64, o));
    d = good, d.in_dtype = (gp_dtype)0;
    T_STATUS(GP_ERROR_DTYPE, gp_reduce_by(ctx, &d, data, 64, o));
    d = good, d.out_dtype = GP_F32;
    T_STATUS(GP_ERROR_DTYPE, gp_reduce_by(ctx, &d, data, 64, o));
    d = good, d.out_dtype = (gp_dtype)77;
    T_STATUS(GP_ERROR_DTYPE, gp_reduce_by(ctx, &d, data, 64, o));
    d = reduce_desc(GP_I32, GP_I64, GP_MAX);
    T_STATUS(GP_ERROR_DTYPE, gp_reduce_by(ctx, &d, data, 16, o));
    d = good, d.op = (gp_op)0;
    T_STATUS(GP_ERROR_OP, gp_reduce_by(ctx, &d, data, 64, o));
    d = reduce_desc(GP_F32, GP_F32, GP_XOR);
    T_STATUS(GP_ERROR_OP, gp_reduce_by(ctx, &d, data, 64, o));
    d = reduce_desc(GP_F32, GP_F32, GP_AFFINE), d.total = word.data;
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_by(ctx, &d, data, 16, o));
    d = good, d.total = (char *)word.data + 4;
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &d, data, 64, o));
    d = good, d.total = o;
    T_STATUS(GP_ERROR_OVERLAP, gp_reduce_by(ctx, &d, data, 64, o + 4));
    d = good, d.total = data + 8;
    T_STATUS(GP_ERROR_OVERLAP, gp_reduce_by(ctx, &d, data, 64, o));
    d = good, d.device_n = (const uint64_t *)(void *)((char *)word.data + 4);
    T_STATUS(GP_ERROR_POINTER, gp_reduce_by(ctx, &d, data, 64, o));
    T_STATUS(GP_ERROR_DTYPE, gp_reduce(ctx, (gp_dtype)99, GP_SUM, data, 64, o));
    T_STATUS(GP_ERROR_OP, gp_reduce(ctx, GP_F64, GP_AND, data, 8, o));
    T_STATUS(GP_ERROR_POINTER, gp_reduce(NULL, GP_I32, GP_SUM, data, 64, o));
    T_OK(gp_context_synchronize(ctx));
    t_check_untouched(&out);
    t_check_untouched(&in);
    t_check_untouched(&word);
    t_free(&in);
    t_free(&out);
    t_free(&word);
}
END_TEST

START_TEST(test_reduce_workspace_bytes)
{
    gp_reduce_desc d = reduce_desc(GP_F32, GP_F32, GP_MAT2);
    gp_target target = GP_TARGET_INIT;
    size_t any, bytes;
    T_OK(gp_reduce_workspace_bytes(NULL, &d, 1 << 20, &any));
    for (int backend = GP_BACKEND_CPU; backend <= GP_BACKEND_CUDA; backend++) {
        target.backend = (gp_backend)backend;
        T_OK(gp_reduce_workspace_bytes(&target, &d, 1 << 20, &bytes));
        ck_assert_uint_le(bytes, any);
    }
    T_STATUS(GP_ERROR_POINTER, gp_reduce_workspace_bytes(NULL, NULL, 1, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_reduce_workspace_bytes(NULL, &d, 1, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_workspace_bytes(NULL, &d, ((size_t)1 << 40) + 1, &bytes));
    target.size = 0;
    T_STATUS(GP_ERROR_ARGUMENT, gp_reduce_workspace_bytes(&target, &d, 1, &bytes));
    d.op = (gp_op)0;
    T_STATUS(GP_ERROR_OP, gp_reduce_workspace_bytes(NULL, &d, 1, &bytes));
    d.in_dtype = (gp_dtype)0;
    T_STATUS(GP_ERROR_DTYPE, gp_reduce_workspace_bytes(NULL, &d, 1, &bytes));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("reduce_desc");
    TCase *c = t_case(s, "descriptor");
    tcase_add_loop_test(c, test_reduce_initial_value_comes_first, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_reduce_sum_widens, 0, T_WIDENING_COUNT);
    tcase_add_loop_test(c, test_reduce_overflow_exactly_past_the_limit, 0, 6);
    tcase_add_loop_test(c, test_reduce_total_of_every_dtype, 0, 5 * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_reduce_n_on_the_device, 0, 5);
    c = t_case(s, "errors");
    tcase_add_test(c, test_reduce_errors_leave_the_output_untouched);
    tcase_add_test(c, test_reduce_workspace_bytes);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
