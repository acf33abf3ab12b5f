/* SPDX-License-Identifier: MIT */
/* The other algorithms of scan: totals, and n on the device. */
#include <stdlib.h>
#include <string.h>

#include <gp/scan.h>

#include "scan_variants.h"

static const gp_scan_kind kinds[] = {GP_SCAN_INCLUSIVE, GP_SCAN_EXCLUSIVE, GP_SCAN_ROW_POINTERS};

/* ---- totals ---------------------------------------------------------------------------------- */

/* Items of one sign whose sum is end. */
static void *items_with_sum(gp_dtype dtype, size_t n, int64_t end)
{
    size_t bytes = gp_dtype_bytes(dtype);
    char *in = t_host(n * bytes);
    for (size_t i = 0; i < n; i++) {
        int64_t v = end / (int64_t)(n - i);
        memcpy(in + i * bytes, &v, bytes);
        end -= v;
    }
    return in;
}

/* The scan with a total that is end, and what synchronising then reports. past: with a count on the
 * device that is past n. */
static gp_status status_of(struct scan_variant v, gp_dtype dtype, gp_scan_kind kind, size_t n,
                           int64_t end, bool past)
{
    size_t bytes = n * gp_dtype_bytes(dtype);
    char *in = items_with_sum(dtype, n, end), *actual = t_host(bytes + 8);
    t_array source = t_new_from(in, bytes, 0), target = t_new(bytes + 8, 0), total = t_new(8, 0);
    const uint64_t given = n + (kind == GP_SCAN_INCLUSIVE ? 1 : (uint64_t)1 << 63);
    t_array count = t_new_from(&given, sizeof given, 0);
    gp_scan_desc desc = scan_variant_desc(v, kind, dtype, dtype, GP_SUM);
    void *expected = oracle_scan(&desc, in, n);
    desc.total = total.data;
    desc.device_n = past ? count.data : NULL;
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    gp_status status = gp_context_synchronize(t_ctx());
    t_get(&target, actual, bytes);
    t_same("outputs beside a total, wrapped", dtype, expected, actual, n);
    ck_assert_int_eq((int64_t)t_get_u64(&total), end);
    t_free(&source);
    t_free(&target);
    t_free(&total);
    t_free(&count);
    free(in);
    free(actual);
    free(expected);
    return status;
}

static gp_status status_of_sum(struct scan_variant v, gp_dtype dtype, gp_scan_kind kind, size_t n,
                               int64_t end)
{
    return status_of(v, dtype, kind, n, end, false);
}

START_TEST(test_scan_family_total_and_overflow)
{
    struct scan_variant v = scan_variant(_i);
    static const size_t ns[] = {2, 100, 5123};
    if (!scan_variant_available(v))
        return;
    for (int k = 0; k < 3; k++) {
        size_t n = ns[k];
        ck_assert_int_eq(GP_OK, status_of_sum(v, GP_I32, GP_SCAN_INCLUSIVE, n, INT32_MAX));
        ck_assert_int_eq(GP_OK, status_of_sum(v, GP_I8, GP_SCAN_ROW_POINTERS, n, INT8_MIN));
        ck_assert_int_eq(GP_OK, status_of_sum(v, GP_U16, GP_SCAN_EXCLUSIVE, n, UINT16_MAX + 1));
        ck_assert_int_eq(GP_OK, status_of_sum(v, GP_I64, GP_SCAN_INCLUSIVE, n, INT64_MIN));
        ck_assert_int_eq(GP_ERROR_OVERFLOW,
                         status_of_sum(v, GP_I16, GP_SCAN_INCLUSIVE, n, INT16_MIN - 1));
        ck_assert_int_eq(GP_ERROR_OVERFLOW, status_of_sum(v, GP_U32, GP_SCAN_ROW_POINTERS, n,
                                                          (int64_t)UINT32_MAX + 1));
    }
}
END_TEST

/* The total of other operators: the last item of an inclusive scan, in 64 bits. */
START_TEST(test_scan_family_total_of_other_operators)
{
    static const gp_op ops[] = {GP_MIN, GP_MAX, GP_XOR, GP_PRODUCT};
    static const gp_dtype dtypes[] = {GP_I8, GP_U16, GP_I32, GP_I64, GP_F16, GP_F32};
    struct scan_variant v = scan_variant(_i);
    uint64_t state = t_seed() + (uint64_t)_i;
    for (int c = 0; c < 24 && scan_variant_available(v); c++) {
        gp_op op = ops[c % 4];
        gp_dtype dtype = dtypes[c / 4];
        size_t n = 3001, bytes = n * gp_dtype_bytes(dtype);
        gp_dtype wide = t_is_float(dtype) ? GP_F64 : GP_I64;
        if (!t_op_allowed(dtype, op))
            continue;
        char *in = oracle_scan_input(dtype, op, n, &state), actual[8], expected[8] = {0};
        gp_scan_desc desc = scan_variant_desc(v, GP_SCAN_INCLUSIVE, dtype, dtype, op);
        char *out = oracle_scan(&desc, in, n), *last = out + bytes - gp_dtype_bytes(dtype);
        if (t_is_signed(dtype) && (last[gp_dtype_bytes(dtype) - 1] & 0x80))
            memset(expected, 0xff, 8);
        if (t_is_float(dtype))
            t_set(GP_F64, expected, 0, t_value(dtype, last, 0));
        else
            memcpy(expected, last, gp_dtype_bytes(dtype));
        t_array source = t_new_from(in, bytes, 0), target = t_new(bytes, 0), total = t_new(8, 0);
        desc.total = total.data;
        T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
        t_get(&total, actual, 8);
        t_same("total", wide, expected, actual, 1);
        t_free(&source);
        t_free(&target);
        t_free(&total);
        free(in);
        free(out);
    }
}
END_TEST

/* ---- n on the device ------------------------------------------------------------------------- */

/* Outputs past the end stay as they were; a total is that of the items that exist. */
static void check_device_n(struct scan_variant v, gp_scan_kind kind, size_t bound, uint64_t given,
                           const int32_t *in, const t_array *source)
{
    size_t n = given < bound ? (size_t)given : bound, room = (bound + 1) * 4;
    size_t out_n = n + (kind == GP_SCAN_ROW_POINTERS);
    t_array target = t_new(room, 0), count = t_new_from(&given, 8, 0), total = t_new(8, 0);
    gp_scan_desc desc = scan_variant_desc(v, kind, GP_I32, GP_I32, GP_SUM);
    int32_t *expected = oracle_scan(&desc, in, n), *actual = t_host(room), *all = t_host(room);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += in[i];
    memset(all, T_POISON, room);
    memcpy(all, expected, out_n * 4);
    desc.device_n = count.data;
    desc.total = total.data;
    T_OK(gp_scan(t_ctx(), &desc, source->data, bound, target.data));
    t_get(&target, actual, room);
    t_same("n on the device", GP_I32, all, actual, bound + 1);
    ck_assert_int_eq((int64_t)t_get_u64(&total), sum);
    t_check_guards(&target);
    t_free(&target);
    t_free(&count);
    t_free(&total);
    free(expected);
    free(actual);
    free(all);
}

START_TEST(test_scan_family_n_on_the_device)
{
    enum { BOUND = 20011 };
    static const uint64_t given[] = {
        0, 1, 2047, 2048, 4097, BOUND - 1, BOUND, BOUND + 1, (uint64_t)1 << 63, UINT64_MAX};
    struct scan_variant v = scan_variant(_i);
    uint64_t state = t_seed();
    if (!scan_variant_available(v))
        return;
    int32_t *in = t_host(BOUND * sizeof *in);
    t_fill_small(GP_I32, in, BOUND, 1000, &state);
    t_array source = t_new_from(in, BOUND * sizeof *in, 0);
    for (size_t g = 0; g < sizeof given / sizeof given[0]; g++)
        check_device_n(v, kinds[(g + (size_t)_i) % 3], BOUND, given[g], in, &source);
    t_free(&source);
    free(in);
}
END_TEST

/* A count past n is no error, so it does not stand before the one that there is. */
START_TEST(test_scan_family_count_past_n_leaves_the_overflow)
{
    struct scan_variant v = scan_variant(_i);
    static const size_t ns[] = {2, 100, 5123};
    for (int k = 0; k < 3 && scan_variant_available(v); k++) {
        size_t n = ns[k];
        ck_assert_int_eq(GP_OK, status_of(v, GP_I32, GP_SCAN_EXCLUSIVE, n, INT32_MAX, true));
        ck_assert_int_eq(GP_ERROR_OVERFLOW,
                         status_of(v, GP_I16, GP_SCAN_INCLUSIVE, n, INT16_MIN - 1, true));
        ck_assert_int_eq(GP_ERROR_OVERFLOW, status_of(v, GP_U32, GP_SCAN_ROW_POINTERS, n,
                                                      (int64_t)UINT32_MAX + 1, true));
    }
}
END_TEST

/* The levels of a recursion on the GPU count from an n that the host does not know. */
START_TEST(test_scan_family_n_on_the_device_long)
{
    static const uint64_t given[] = {0, 5000, 2048 * 2048, 2048 * 2048 + 1};
    size_t bound = ((size_t)4 << 20) + 5000;
    uint64_t state = t_seed();
    if (!t_is_cuda())
        return;
    int32_t *in = t_host(bound * sizeof *in);
    t_fill_small(GP_I32, in, bound, 100, &state);
    t_array source = t_new_from(in, bound * sizeof *in, 0);
    for (size_t g = 0; g < sizeof given / sizeof given[0]; g++)
        check_device_n(scan_variant(_i * SCAN_TILES), kinds[g % 3], bound, given[g], in, &source);
    t_free(&source);
    free(in);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_family_total");
    TCase *c = t_case(s, "totals");
    tcase_add_loop_test(c, test_scan_family_total_and_overflow, 0, SCAN_VARIANTS);
    tcase_add_loop_test(c, test_scan_family_total_of_other_operators, 0, SCAN_VARIANTS);
    c = t_case(s, "device_n");
    tcase_add_loop_test(c, test_scan_family_n_on_the_device, 0, SCAN_VARIANTS);
    tcase_add_loop_test(c, test_scan_family_count_past_n_leaves_the_overflow, 0, SCAN_VARIANTS);
    tcase_add_loop_test(c, test_scan_family_n_on_the_device_long, 0, SCAN_TILED);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
