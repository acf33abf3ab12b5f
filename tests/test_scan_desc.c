/* SPDX-License-Identifier: MIT */
/* Scan through its descriptor: initial values, widening, totals, device n, errors. */
#include <stdlib.h>
#include <string.h>

#include <gp/scan.h>

#include "oracle.h"

static const gp_scan_kind kinds[] = {GP_SCAN_INCLUSIVE, GP_SCAN_EXCLUSIVE, GP_SCAN_ROW_POINTERS};
static const struct scan_layout plain = {0, 0, false};
static const size_t sizes[] = {0, 1, 2, 100, 4095, 4097, 20000, 70001};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* ---- initial values -------------------------------------------------------------------------- */

START_TEST(test_scan_initial_value_comes_first)
{
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (int s = 0; s < SIZES; s++) {
        char *in = oracle_scan_input(dtype, op, sizes[s], &state);
        void *init = oracle_scan_input(dtype, op, 1, &state);
        gp_scan_desc desc = t_scan_desc(kinds[s % 3], dtype, dtype, op);
        desc.init = init;
        t_check_scan(&desc, in, sizes[s], plain);
        free(in);
        free(init);
    }
}
END_TEST

START_TEST(test_scan_exclusive_reads_init_during_the_call)
{
    int32_t in[3] = {1, 2, 3}, init = 10, out[3];
    static const int32_t expected[3] = {10, 11, 13}, without[3] = {0, 1, 3};
    t_array a = t_new_from(in, sizeof in, 0);
    T_OK(gp_scan_exclusive(t_ctx(), GP_I32, GP_SUM, a.data, 3, &init, a.data));
    init = -1;
    t_get(&a, out, sizeof out);
    t_same("with init", GP_I32, expected, out, 3);
    t_put(&a, in, sizeof in);
    T_OK(gp_scan_exclusive(t_ctx(), GP_I32, GP_SUM, a.data, 3, NULL, a.data));
    t_get(&a, out, sizeof out);
    t_same("without init", GP_I32, without, out, 3);
    t_free(&a);
}
END_TEST

/* ---- widening -------------------------------------------------------------------------------- */

START_TEST(test_scan_sum_widens)
{
    gp_dtype in_dtype = t_widening[_i][0], out_dtype = t_widening[_i][1];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < 3; k++) {
            char *in = oracle_scan_input(in_dtype, GP_SUM, sizes[s], &state);
            gp_scan_desc desc = t_scan_desc(kinds[k], in_dtype, out_dtype, GP_SUM);
            t_check_scan(&desc, in, sizes[s], (struct scan_layout){(size_t)s % 5, 1, false});
            free(in);
        }
}
END_TEST

START_TEST(test_scan_sum_widens_large)
{
    gp_dtype in_dtype = t_widening[_i][0], out_dtype = t_widening[_i][1];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t n = ((size_t)9 << 20) / gp_dtype_bytes(out_dtype) + 17;
    if (!t_is_cuda() && _i % 6)
        return;
    char *in = oracle_scan_input(in_dtype, GP_SUM, n, &state);
    gp_scan_desc desc = t_scan_desc(kinds[_i % 3], in_dtype, out_dtype, GP_SUM);
    t_check_scan(&desc, in, n, (struct scan_layout){3, 1, false});
    free(in);
}
END_TEST

/* ---- n on the device ------------------------------------------------------------------------- */

/* Scan with bound items of room and *device_n = given; outputs past the end stay poison. */
static void check_device_n(gp_scan_kind kind, size_t bound, uint64_t given,
                           const uint32_t *inclusive, const t_array *source)
{
    size_t n = given < bound ? (size_t)given : bound, out_n = n + (kind == GP_SCAN_ROW_POINTERS);
    t_array target = t_new((bound + 1) * 4, 4), count = t_new_from(&given, 8, 0),
            total = t_new(8, 0);
    uint32_t *actual = t_host((bound + 1) * 4), *expected = t_host((bound + 1) * 4);
    gp_scan_desc desc = t_scan_desc(kind, GP_U32, GP_U32, GP_SUM);
    desc.device_n = count.data;
    if (n == 0 || inclusive[n - 1] < (uint32_t)1 << 31)
        desc.total = total.data;
    memset(expected, T_POISON, (bound + 1) * 4);
    if (kind != GP_SCAN_INCLUSIVE)
        expected[0] = 0;
    if (kind == GP_SCAN_INCLUSIVE)
        memcpy(expected, inclusive, n * 4);
    else if (n > 0)
        memcpy(expected + 1, inclusive, (out_n - 1) * 4);
    if (kind == GP_SCAN_EXCLUSIVE && n == 0)
        memset(expected, T_POISON, 4);
    T_OK(gp_scan(t_ctx(), &desc, source->data, bound, target.data));
    t_get(&target, actual, (bound + 1) * 4);
    t_same("scan with n on the device", GP_U32, expected, actual, bound + 1);
    t_check_guards(&target);
    if (desc.total)
        ck_assert_uint_eq(t_get_u64(&total), n ? inclusive[n - 1] : 0);
    t_free(&target);
    t_free(&count);
    t_free(&total);
    free(actual);
    free(expected);
}

START_TEST(test_scan_n_on_the_device)
{
    static const size_t bounds[] = {1, 1000, 20000, 70001};
    size_t bound = bounds[_i];
    uint64_t state = t_seed();
    uint32_t *in = t_host(bound * 4);
    t_fill_small(GP_U32, in, bound, 1000, &state);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_U32, GP_U32, GP_SUM);
    uint32_t *inclusive = oracle_scan(&desc, in, bound);
    t_array source = t_new_from(in, bound * 4, 0);
    uint64_t given[] = {0, 1, bound / 2, bound - 1, bound, bound + 1, UINT64_MAX};
    for (size_t g = 0; g < sizeof given / sizeof given[0]; g++)
        for (int k = 0; k < 3; k++)
            check_device_n(kinds[k], bound, given[g], inclusive, &source);
    t_free(&source);
    free(in);
    free(inclusive);
}
END_TEST

/* Every size around the tiles of the kernels that stream, which short arrays
 * otherwise never reach. */
START_TEST(test_scan_n_on_the_device_short_of_a_large_bound)
{
    enum { BOUND = (1 << 21) + 5, END = 2 * 8192 + 2 };
    uint64_t state = t_seed();
    uint32_t *in = t_host((size_t)BOUND * 4), *actual = t_host((size_t)(END + 64) * 4);
    t_fill_small(GP_U32, in, BOUND, 1000, &state);
    gp_scan_desc desc = t_scan_desc(GP_SCAN_INCLUSIVE, GP_U32, GP_U32, GP_SUM);
    uint32_t *inclusive = oracle_scan(&desc, in, END + 64);
    t_array source = t_new_from(in, (size_t)BOUND * 4, 4), target = t_new((size_t)BOUND * 4, 12);
    t_array count = t_new(8, 0);
    char poison[64 * 4], *poison_all = t_host((size_t)END * 4);
    memset(poison, T_POISON, sizeof poison);
    memset(poison_all, T_POISON, (size_t)END * 4);
    desc.device_n = count.data;
    for (uint64_t n = (uint64_t)_i; n < END; n += t_step(t_is_cuda() ? 8 : 509)) {
        t_put(&count, &n, 8);
        T_OK(gp_scan(t_ctx(), &desc, source.data, BOUND, target.data));
        t_get(&target, actual, (size_t)(n + 64) * 4);
        t_same("outputs", GP_U32, inclusive, actual, n);
        t_same_bytes("poison behind them", poison, actual + n, sizeof poison);
        t_put(&target, poison_all, (size_t)n * 4);
    }
    t_free(&source);
    t_free(&target);
    t_free(&count);
    free(in);
    free(inclusive);
    free(actual);
    free(poison_all);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_scan_errors_leave_the_output_untouched)
{
    int32_t host[64] = {0};
    t_array in = t_new(256, 0), out = t_new(256 + 8, 0), word = t_new(8, 0);
    char *data = in.data, *o = out.data;
    gp_context *ctx = t_ctx();
    gp_scan_desc good = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM), d = good;
    T_STATUS(GP_ERROR_POINTER, gp_scan(NULL, &good, data, 64, o));
    T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, NULL, data, 64, o));
    T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &good, NULL, 64, o));
    T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &good, data, 64, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &good, data + 1, 63, o));
    T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &good, data, 63, o + 2));
    T_STATUS(GP_ERROR_OVERLAP, gp_scan(ctx, &good, data, 60, data + 4));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &good, data, ((size_t)1 << 40) + 1, o));
    if (t_is_cuda()) {
        T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &good, host, 64, o));
        T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &good, data, 64, host));
    }
    d = good, d.total = (char *)word.data + 4;
    T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &d, data, 64, o));
    d = good, d.total = o;
    T_STATUS(GP_ERROR_OVERLAP, gp_scan(ctx, &d, data, 64, o));
    d = good, d.kind = GP_SCAN_ROW_POINTERS; /* has one output more */
    T_STATUS(GP_ERROR_OVERLAP, gp_scan(ctx, &d, data + 128, 32, data));
    d.total = o + 128;
    T_STATUS(GP_ERROR_OVERLAP, gp_scan(ctx, &d, data, 32, o));
    d = good, d.device_n = (const uint64_t *)(void *)((char *)word.data + 4);
    T_STATUS(GP_ERROR_POINTER, gp_scan(ctx, &d, data, 64, o));
    d = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I64, GP_SUM); /* in place needs one size */
    T_STATUS(GP_ERROR_OVERLAP, gp_scan(ctx, &d, data, 32, data));
    T_STATUS(GP_ERROR_DTYPE, gp_scan_inclusive(ctx, (gp_dtype)99, GP_SUM, data, 64, o));
    T_STATUS(GP_ERROR_OP, gp_scan_exclusive(ctx, GP_F64, GP_AND, data, 8, NULL, o));
    T_OK(gp_context_synchronize(ctx));
    t_check_untouched(&out);
    t_check_untouched(&in);
    T_OK(gp_scan(ctx, &good, NULL, 0, NULL)); /* nothing to read, nothing to write */
    t_free(&in);
    t_free(&out);
    t_free(&word);
}
END_TEST

/* What a descriptor says by itself. */
START_TEST(test_scan_descriptor_errors_leave_the_output_untouched)
{
    t_array in = t_new(256, 0), out = t_new(256 + 8, 0), word = t_new(8, 0);
    char *data = in.data, *o = out.data;
    gp_context *ctx = t_ctx();
    gp_scan_desc good = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM), d = good;
    d.size--;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, data, 64, o));
    d = good, d.kind = (gp_scan_kind)4;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, data, 64, o));
    d = good, d.kind = (gp_scan_kind)0;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, data, 64, o));
    d = good, d.algorithm = (gp_algorithm)99;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, data, 64, o));
    d = good, d.in_dtype = (gp_dtype)0;
    T_STATUS(GP_ERROR_DTYPE, gp_scan(ctx, &d, data, 64, o));
    d = good, d.in_dtype = (gp_dtype)13;
    T_STATUS(GP_ERROR_DTYPE, gp_scan(ctx, &d, data, 64, o));
    d = good, d.out_dtype = GP_F32;
    T_STATUS(GP_ERROR_DTYPE, gp_scan(ctx, &d, data, 64, o));
    d = good, d.out_dtype = (gp_dtype)77;
    T_STATUS(GP_ERROR_DTYPE, gp_scan(ctx, &d, data, 64, o));
    d = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I64, GP_MAX);
    T_STATUS(GP_ERROR_DTYPE, gp_scan(ctx, &d, data, 16, o));
    d = good, d.op = (gp_op)0;
    T_STATUS(GP_ERROR_OP, gp_scan(ctx, &d, data, 64, o));
    d = t_scan_desc(GP_SCAN_INCLUSIVE, GP_F32, GP_F32, GP_XOR);
    T_STATUS(GP_ERROR_OP, gp_scan(ctx, &d, data, 64, o));
    d = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_AFFINE);
    T_STATUS(GP_ERROR_OP, gp_scan(ctx, &d, data, 32, o));
    d = t_scan_desc(GP_SCAN_INCLUSIVE, GP_F16, GP_F16, GP_MAT2);
    T_STATUS(GP_ERROR_OP, gp_scan(ctx, &d, data, 16, o));
    d = t_scan_desc(GP_SCAN_INCLUSIVE, GP_F32, GP_F32, GP_AFFINE), d.total = word.data;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, data, 32, o));
    T_OK(gp_context_synchronize(ctx));
    t_check_untouched(&out);
    t_check_untouched(&in);
    t_free(&in);
    t_free(&out);
    t_free(&word);
}
END_TEST

START_TEST(test_scan_workspace_bytes)
{
    gp_scan_desc d = t_scan_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM);
    gp_target target = GP_TARGET_INIT;
    size_t any, bytes;
    T_OK(gp_scan_workspace_bytes(NULL, &d, 1 << 20, &any));
    for (int backend = GP_BACKEND_CPU; backend <= GP_BACKEND_CUDA; backend++) {
        target.backend = (gp_backend)backend;
        T_OK(gp_scan_workspace_bytes(&target, &d, 1 << 20, &bytes));
        ck_assert_uint_le(bytes, any);
    }
    T_STATUS(GP_ERROR_POINTER, gp_scan_workspace_bytes(NULL, NULL, 1, &bytes));
    T_STATUS(GP_ERROR_POINTER, gp_scan_workspace_bytes(NULL, &d, 1, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_workspace_bytes(NULL, &d, ((size_t)1 << 40) + 1, &bytes));
    target.size = 0;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_workspace_bytes(&target, &d, 1, &bytes));
    d.in_dtype = (gp_dtype)0;
    T_STATUS(GP_ERROR_DTYPE, gp_scan_workspace_bytes(NULL, &d, 1, &bytes));
    d.in_dtype = GP_I32, d.op = (gp_op)0;
    T_STATUS(GP_ERROR_OP, gp_scan_workspace_bytes(NULL, &d, 1, &bytes));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_desc");
    TCase *c = t_case(s, "init");
    tcase_add_loop_test(c, test_scan_initial_value_comes_first, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_test(c, test_scan_exclusive_reads_init_during_the_call);
    c = t_case(s, "widening");
    tcase_add_loop_test(c, test_scan_sum_widens, 0, T_WIDENING_COUNT);
    tcase_add_loop_test(c, test_scan_sum_widens_large, 0, T_WIDENING_COUNT);
    c = t_case(s, "device_n");
    tcase_add_loop_test(c, test_scan_n_on_the_device, 0, 4);
    tcase_add_loop_test(c, test_scan_n_on_the_device_short_of_a_large_bound, 0, 8);
    c = t_case(s, "errors");
    tcase_add_test(c, test_scan_errors_leave_the_output_untouched);
    tcase_add_test(c, test_scan_descriptor_errors_leave_the_output_untouched);
    tcase_add_test(c, test_scan_workspace_bytes);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
