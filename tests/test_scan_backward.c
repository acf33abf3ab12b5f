/* SPDX-License-Identifier: MIT */
/* Backward scan: the reverse of the scan of the reversed input. */
#include <stdlib.h>
#include <string.h>

#include <gp/scan.h>

#include "oracle.h"

static const gp_scan_kind kinds[] = {GP_SCAN_INCLUSIVE, GP_SCAN_EXCLUSIVE};

static gp_scan_desc backward_desc(gp_scan_kind kind, gp_dtype in, gp_dtype out, gp_op op)
{
    gp_scan_desc desc = t_scan_desc(kind, in, out, op);
    desc.backward = 1;
    return desc;
}

static void *reversed(const void *array, size_t n, size_t item)
{
    char *to = t_host(n * item);
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * item, (const char *)array + (n - 1 - i) * item, item);
    return to;
}

static void *oracle_backward(const gp_scan_desc *desc, const void *in, size_t n)
{
    gp_dtype to = desc->out_dtype ? desc->out_dtype : desc->in_dtype;
    size_t scalars = gp_op_scalars(desc->op);
    void *turned = reversed(in, n, scalars * gp_dtype_bytes(desc->in_dtype));
    void *scanned = oracle_scan(desc, turned, n);
    void *out = reversed(scanned, n, scalars * gp_dtype_bytes(to));
    free(turned);
    free(scanned);
    return out;
}

static void check_backward(const gp_scan_desc *desc, const void *in, size_t n,
                           struct scan_layout layout)
{
    void *expected = oracle_backward(desc, in, n);
    t_check_scan_against(desc, in, n, layout, expected);
    free(expected);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Two tiles and more of every kernel, from both kinds of alignment. */
START_TEST(test_scan_backward_every_size)
{
    enum { END = 2 * 2048 + 40 };
    gp_scan_kind kind = kinds[_i % 2];
    uint64_t state = t_seed();
    uint32_t *in = t_host(END * 4), *actual = t_host(END * 4), *sums = t_host((END + 1) * 4);
    t_fill_bits(GP_U32, in, END, &state);
    sums[0] = 0; /* sums[k] of the last k items */
    for (size_t k = 0; k < END; k++)
        sums[k + 1] = sums[k] + in[END - 1 - k];
    t_array source = t_new_from(in, END * 4, 0);
    gp_scan_desc desc = backward_desc(kind, GP_I32, GP_I32, GP_SUM);
    for (size_t n = 0; n <= END; n += t_step(1)) {
        t_array target = t_new(n * 4, _i / 2 * 4);
        const uint32_t *items = (const uint32_t *)source.data + (END - n);
        T_OK(gp_scan(t_ctx(), &desc, items, n, target.data));
        t_get(&target, actual, n * 4);
        for (size_t i = 0; i < n; i++)
            if (actual[i] != sums[n - i - (kind == GP_SCAN_EXCLUSIVE)])
                ck_abort_msg("n %zu, item %zu: %u, expected %u", n, i, actual[i],
                             sums[n - i - (kind == GP_SCAN_EXCLUSIVE)]);
        t_check_guards(&target);
        t_free(&target);
    }
    t_free(&source);
    free(in);
    free(actual);
    free(sums);
}
END_TEST

START_TEST(test_scan_backward_every_operator)
{
    static const size_t sizes[] = {0, 1, 2, 33, 1000, 5000, 70001};
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int k = 0; k < 2; k++) {
            char *in = oracle_scan_input(dtype, op, sizes[s], &state);
            void *init = oracle_scan_input(dtype, op, 1, &state);
            gp_scan_desc desc = backward_desc(kinds[k], dtype, (gp_dtype)0, op);
            desc.init = s % 2 ? init : NULL;
            check_backward(&desc, in, sizes[s], (struct scan_layout){s % 3, k * 2, false});
            free(in);
            free(init);
        }
}
END_TEST

/* Long enough for the kernels that stream: sizes around a whole number of their tiles. */
START_TEST(test_scan_backward_streams)
{
    gp_op op = t_ops[_i / T_DTYPE_COUNT];
    gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t item = gp_dtype_bytes(dtype) * gp_op_scalars(op), tile = 8 * 32 * 6 * 16 / item;
    size_t whole = (((size_t)3 << 20) / item + tile) / tile * tile;
    size_t sizes[] = {whole, whole - 1, whole + 1, whole + tile / 2 + 3};
    if (!t_op_allowed(dtype, op) || (!t_is_cuda() && _i % 5) || (item < 4 && op > GP_MAX))
        return;
    for (size_t s = op == GP_SUM ? 0 : 3; s < 4; s++) {
        size_t n = t_is_cuda() ? sizes[s] : sizes[s] / 8;
        char *in = oracle_scan_input(dtype, op, n, &state);
        gp_scan_desc desc = backward_desc(kinds[(s + _i) % 2], dtype, dtype, op);
        check_backward(&desc, in, n, (struct scan_layout){s, (s * 3) % 4, false});
        check_backward(&desc, in, n, (struct scan_layout){s / 2, 0, true});
        free(in);
    }
}
END_TEST

START_TEST(test_scan_backward_any_alignment)
{
    static const size_t offsets[] = {0, 1, 2, 3, 5, 8, 15};
    enum { OFFSETS = sizeof offsets / sizeof offsets[0] };
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    size_t sizes[] = {31, 4099, ((size_t)1 << 20) / gp_dtype_bytes(dtype) + 13};
    for (size_t s = 0; s < (t_is_cuda() ? 3 : 2); s++) {
        char *in = oracle_scan_input(dtype, GP_SUM, sizes[s], &state);
        for (size_t o = 0; o < OFFSETS; o++) {
            struct scan_layout layout = {offsets[o], offsets[(o * 3 + s) % OFFSETS], false};
            gp_scan_desc desc = backward_desc(kinds[(o + s) % 2], dtype, dtype, GP_SUM);
            check_backward(&desc, in, sizes[s], layout);
        }
        free(in);
    }
}
END_TEST

START_TEST(test_scan_backward_in_place)
{
    static const size_t sizes[] = {1, 2, 1000, 4097, 20001, 131072};
    gp_dtype dtype = t_dtypes[_i];
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int k = 0; k < 2; k++) {
            gp_scan_desc desc = backward_desc(kinds[k], dtype, dtype, GP_SUM);
            char *in = oracle_scan_input(dtype, GP_SUM, sizes[s], &state);
            check_backward(&desc, in, sizes[s], (struct scan_layout){s % 3, 0, true});
            free(in);
        }
}
END_TEST

START_TEST(test_scan_backward_widens)
{
    gp_dtype from = t_widening[_i][0], to = t_widening[_i][1];
    size_t sizes[] = {0, 1, 100, 4097, 70001, t_is_cuda() ? (size_t)1 << 21 : 200001};
    uint64_t state = t_seed() + (uint64_t)_i;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char *in = oracle_scan_input(from, GP_SUM, sizes[s], &state);
        gp_scan_desc desc = backward_desc(kinds[s % 2], from, to, GP_SUM);
        check_backward(&desc, in, sizes[s], (struct scan_layout){s % 5, 1, false});
        free(in);
    }
}
END_TEST

/* ---- totals, n on the device ----------------------------------------------------------------- */

START_TEST(test_scan_backward_total_and_overflow)
{
    static const gp_dtype dtypes[] = {GP_I8, GP_U16, GP_I32, GP_I64, GP_F32};
    gp_dtype dtype = dtypes[_i / 4];
    static const size_t ns[] = {0, 5, 3000, 600000};
    size_t n = ns[_i % 4], bytes = n * gp_dtype_bytes(dtype);
    char *in = t_host(bytes), *actual = t_host(bytes);
    t_array source, target = t_new(bytes, 0), total = t_new(8, 0);
    gp_scan_desc desc = backward_desc(GP_SCAN_INCLUSIVE, dtype, dtype, GP_SUM);
    desc.total = total.data;
    for (size_t i = 0; i < n; i++)
        t_set(dtype, in, i, i % 1000 == 2);
    double expected = 0;
    for (size_t i = 0; i < n; i++)
        expected += t_value(dtype, in, i);
    bool fits = dtype != GP_I8 || expected < 128;
    source = t_new_from(in, bytes, 0);
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    ck_assert_int_eq(gp_context_synchronize(t_ctx()), fits ? GP_OK : GP_ERROR_OVERFLOW);
    t_get(&target, actual, bytes);
    uint64_t got = t_get_u64(&total);
    ck_assert_double_eq(t_value(dtype == GP_F32 ? GP_F64 : GP_I64, &got, 0), expected);
    if (fits && n > 0)
        ck_assert_double_eq(t_value(dtype, actual, 0), expected);
    if (n > 0)
        ck_assert_double_eq(t_value(dtype, actual, n - 1), t_value(dtype, in, n - 1));
    t_free(&source);
    t_free(&target);
    t_free(&total);
    free(in);
    free(actual);
}
END_TEST

/* Items from n on are no part of the array: the scan begins at item n - 1,
 * wherever the bound is. */
START_TEST(test_scan_backward_n_on_the_device)
{
    static const size_t bounds[] = {1, 1000, 20000, 400001};
    size_t bound = bounds[_i / 2];
    uint64_t state = t_seed();
    uint32_t *in = t_host(bound * 4), *expected = t_host(bound * 4), *actual = t_host(bound * 4);
    uint64_t given[] = {0, 1, bound / 2, bound - 1, bound, bound + 1, UINT64_MAX};
    gp_scan_desc desc = backward_desc(kinds[_i % 2], GP_U32, GP_U32, GP_SUM);
    t_fill_small(GP_U32, in, bound, 1000, &state);
    t_array source = t_new_from(in, bound * 4, 0), target = t_new(bound * 4, 4);
    t_array count = t_new(8, 0), total = t_new(8, 0);
    desc.device_n = count.data;
    for (size_t g = 0; g < sizeof given / sizeof given[0]; g++) {
        size_t n = given[g] < bound ? (size_t)given[g] : bound;
        uint32_t sum = 0;
        memset(expected, T_POISON, bound * 4);
        for (size_t i = n; i-- > 0; sum += in[i])
            expected[i] = desc.kind == GP_SCAN_INCLUSIVE ? sum + in[i] : sum;
        desc.total = g % 2 ? total.data : NULL;
        t_poison(&target);
        t_put(&count, &given[g], 8);
        T_OK(gp_scan(t_ctx(), &desc, source.data, bound, target.data));
        t_get(&target, actual, bound * 4);
        t_same("scan with n on the device", GP_U32, expected, actual, bound);
        t_check_guards(&target);
        if (desc.total)
            ck_assert_uint_eq(t_get_u64(&total), sum);
    }
    t_free(&source);
    t_free(&target);
    t_free(&count);
    t_free(&total);
    free(in);
    free(expected);
    free(actual);
}
END_TEST

/* By operators and dtypes of every kernel that a backward scan can take. */
START_TEST(test_scan_backward_count_past_n_is_n)
{
    static const struct {
        gp_dtype dtype;
        gp_op op;
    } cases[] = {{GP_I32, GP_AND},    {GP_BF16, GP_MAX}, {GP_U8, GP_XOR}, {GP_F64, GP_PRODUCT},
                 {GP_F32, GP_AFFINE}, {GP_I16, GP_MIN},  {GP_U64, GP_MIN}};
    static const uint64_t past[] = {1, 9, (uint64_t)1 << 63, UINT64_MAX - 229};
    enum { N = 229 };
    gp_dtype dtype = cases[_i].dtype;
    gp_op op = cases[_i].op;
    size_t item = gp_dtype_bytes(dtype) * gp_op_scalars(op);
    uint64_t state = t_seed(), given = N + past[_i % 4];
    void *in = oracle_scan_input(dtype, op, N, &state), *actual = t_host(N * item);
    t_array source = t_new_from(in, N * item, 0), target = t_new(N * item, 0);
    t_array count = t_new_from(&given, sizeof given, 0);
    for (int k = 0; k < 2; k++) {
        gp_scan_desc desc = backward_desc(kinds[k], dtype, dtype, op);
        void *expected = oracle_backward(&desc, in, N);
        desc.device_n = count.data;
        T_OK(gp_scan(t_ctx(), &desc, source.data, N, target.data));
        t_get(&target, actual, N * item); /* fails if an error is found */
        t_same("scan", dtype, expected, actual, N * gp_op_scalars(op));
        free(expected);
    }
    t_free(&source);
    t_free(&target);
    t_free(&count);
    free(in);
    free(actual);
}
END_TEST

/* ---- determinism, graphs --------------------------------------------------------------------- */

START_TEST(test_scan_backward_float_sums_are_the_same_bits)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    static const size_t sizes[] = {100, 30011, 700001, 3000001};
    gp_dtype dtype = floats[_i / 2];
    gp_op op = _i % 2 ? GP_PRODUCT : GP_SUM; /* by another kernel */
    uint64_t state = t_seed();
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s], item = gp_dtype_bytes(dtype), bytes = n * item;
        char *in = t_host(bytes), *first = t_host(bytes), *again = t_host(bytes);
        t_fill_random(dtype, in, n, &state);
        for (size_t i = 0; op == GP_PRODUCT && i < n; i++)
            t_set(dtype, in, i, 1 + t_value(dtype, in, i) / 1024);
        for (size_t repeat = 0; repeat < 4; repeat++) {
            gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
            gp_context *other;
            gp_scan_desc desc = backward_desc(GP_SCAN_INCLUSIVE, dtype, dtype, op);
            o.backend = gp_context_backend(t_ctx());
            o.threads = (int)repeat + 1;
            T_OK(gp_context_create(&other, &o));
            t_array source = t_new_from(in, bytes, repeat * item);
            t_array target = t_new(bytes, (repeat * 3 % 4) * item);
            T_OK(gp_scan(other, &desc, source.data, n, target.data));
            T_OK(gp_context_synchronize(other));
            t_get(&target, repeat ? again : first, bytes);
            if (repeat)
                t_same_bytes("floats again", first, again, bytes);
            t_free(&source);
            t_free(&target);
            gp_context_destroy(other);
        }
        free(in);
        free(first);
        free(again);
    }
}
END_TEST

START_TEST(test_scan_backward_captured_and_replayed)
{
    size_t n = _i == 0 ? 3000 : 900000, bytes = n * 4, need;
    uint64_t state = t_seed();
    gp_scan_desc desc = backward_desc(GP_SCAN_EXCLUSIVE, GP_I32, GP_I32, _i < 2 ? GP_SUM : GP_XOR);
    t_array source = t_new(bytes, 4), target = t_new(bytes, 8);
    int32_t *actual = t_host(bytes);
    T_OK(gp_scan_workspace_bytes(NULL, &desc, n, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    t_capture_begin();
    T_OK(gp_scan(t_ctx(), &desc, source.data, n, target.data));
    t_capture_end();
    ck_assert_uint_eq(t_captured_nodes(), 1);
    for (int round = 0; round < 4; round++) {
        int32_t *in = oracle_scan_input(GP_I32, desc.op, n, &state);
        int32_t *expected = oracle_backward(&desc, in, n);
        t_put(&source, in, bytes);
        t_replay();
        t_get(&target, actual, bytes);
        t_same("replayed scan", GP_I32, expected, actual, n);
        free(in);
        free(expected);
    }
    t_capture_free();
    free(actual);
    t_free(&source);
    t_free(&target);
}
END_TEST

/* ---- past 2^32 items, errors ----------------------------------------------------------------- */

/* Ones at few places: the outputs between them are known. */
START_TEST(test_scan_backward_past_32_bits)
{
    size_t n = ((size_t)1 << 32) + 12345, places[] = {0, 77, (size_t)1 << 31, n - 9, n - 1};
    t_array a = t_new(n, 3);
    uint8_t one = 1, *zeros = t_host(64 << 20);
    memset(zeros, 0, 64 << 20);
    for (size_t at = 0; at < n; at += 64 << 20)
        T_OK(gp_copy(t_ctx(), zeros, n - at < 64 << 20 ? n - at : 64 << 20, (char *)a.data + at));
    for (int k = 0; k < 5; k++)
        T_OK(gp_copy(t_ctx(), &one, 1, (char *)a.data + places[k]));
    gp_scan_desc desc = backward_desc(GP_SCAN_INCLUSIVE, GP_U8, GP_U8, GP_SUM);
    T_OK(gp_scan(t_ctx(), &desc, a.data, n, a.data));
    for (int k = 0; k < 5; k++) { /* at a place and behind it */
        uint8_t out[2] = {0, 0};
        size_t count = k == 4 ? 1 : 2;
        T_OK(gp_copy(t_ctx(), (char *)a.data + places[k], count, out));
        T_OK(gp_context_synchronize(t_ctx()));
        ck_assert_uint_eq(out[0], 5 - k);
        ck_assert_uint_eq(out[1], k == 4 ? 0 : 4 - k);
    }
    t_check_guards(&a);
    t_free(&a);
    free(zeros);
}
END_TEST

START_TEST(test_scan_backward_errors_leave_the_output_untouched)
{
    t_array in = t_new(256, 0), out = t_new(256 + 8, 0);
    gp_context *ctx = t_ctx();
    size_t bytes;
    gp_scan_desc good = backward_desc(GP_SCAN_INCLUSIVE, GP_I32, GP_I32, GP_SUM), d = good;
    d.kind = GP_SCAN_ROW_POINTERS;
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan(ctx, &d, in.data, 64, out.data));
    T_STATUS(GP_ERROR_ARGUMENT, gp_scan_workspace_bytes(NULL, &d, 64, &bytes));
    for (int a = GP_ALGORITHM_AUTO + 1; a <= GP_ALGORITHM_SERIAL; a++) {
        d = good, d.algorithm = (gp_algorithm)a;
        T_STATUS(GP_ERROR_UNSUPPORTED, gp_scan(ctx, &d, in.data, 64, out.data));
    }
    d = good, d.tile = GP_SCAN_TILE_SHUFFLE;
    T_STATUS(GP_ERROR_UNSUPPORTED, gp_scan(ctx, &d, in.data, 64, out.data));
    T_OK(gp_context_synchronize(ctx));
    t_check_untouched(&in);
    t_check_untouched(&out);
    T_OK(gp_scan(ctx, &good, NULL, 0, NULL));
    t_free(&in);
    t_free(&out);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("scan_backward");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_scan_backward_every_size, 0, 4);
    tcase_add_loop_test(c, test_scan_backward_every_operator, 0, T_OP_COUNT * T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_backward_streams, 0, T_OP_COUNT * T_DTYPE_COUNT);
    c = t_case(s, "layout");
    tcase_add_loop_test(c, test_scan_backward_any_alignment, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_scan_backward_in_place, 0, T_DTYPE_COUNT);
    c = t_case(s, "descriptor");
    tcase_add_loop_test(c, test_scan_backward_widens, 0, T_WIDENING_COUNT);
    tcase_add_loop_test(c, test_scan_backward_total_and_overflow, 0, 20);
    tcase_add_loop_test(c, test_scan_backward_n_on_the_device, 0, 8);
    tcase_add_loop_test(c, test_scan_backward_count_past_n_is_n, 0, 7);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_scan_backward_float_sums_are_the_same_bits, 0, 8);
    c = t_case(s, "graphs on cuda");
    tcase_add_loop_test(c, test_scan_backward_captured_and_replayed, 0, 3);
    c = t_case(s, "large");
    tcase_add_test(c, test_scan_backward_past_32_bits);
    c = t_case(s, "errors");
    tcase_add_test(c, test_scan_backward_errors_leave_the_output_untouched);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
