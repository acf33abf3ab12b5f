/* SPDX-License-Identifier: MIT */
/* Keys: values, sizes, bits, order; what every sort refuses. */
#include "radixsort_check.h"

/* ---- the oracle ------------------------------------------------------------------------------ */

/* Its order words compare as the values do. */
START_TEST(test_oracle_words_follow_values)
{
    enum { N = 400 };
    gp_dtype dtype = t_dtypes[_i];
    uint64_t keys[2 * N], state = t_seed(), wrong = 0;
    t_fill_bits(dtype, keys, N, &state);
    t_fill_small(dtype, (char *)keys + N * gp_dtype_bytes(dtype), N / 2, 3, &state);
    t_fill_random(dtype, (char *)keys + 3 * N / 2 * gp_dtype_bytes(dtype), N / 2, &state);
    for (size_t a = 0; a < 2 * N; a++)
        for (size_t b = 0; b < 2 * N; b++) {
            uint64_t x = oracle_word(dtype, keys, a), y = oracle_word(dtype, keys, b);
            wrong += oracle_compare_values(dtype, keys, a, b) != (x > y) - (x < y);
        }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* ---- values and sizes ------------------------------------------------------------------------ */

/* One call per size on arrays that are made once; what follows the n keys must stay as it was. */
START_TEST(test_radix_sort_every_size)
{
    enum { MAX = 2 * 1024 + 1, TAIL = 32 };
    uint32_t *keys = pattern_new(PATTERN_BITS, GP_U32, MAX), sorted[MAX + TAIL], before[MAX + TAIL];
    t_array in = t_new_from(keys, MAX * 4, 0), out = t_new((MAX + TAIL) * 4, 4);
    for (size_t n = 0; n <= MAX; n += t_step(1)) {
        size_t *order = oracle_argsort(GP_U32, keys, n, false, 0, 0);
        uint32_t *expected = oracle_pick(keys, 4, order, n);
        t_get(&out, before, sizeof before);
        memcpy(before, expected, n * 4);
        T_OK(gp_radix_sort(t_ctx(), GP_U32, in.data, n, out.data, NULL));
        t_get(&out, sorted, sizeof sorted);
        t_same("keys and tail", GP_U32, before, sorted, MAX + TAIL);
        free(order);
        free(expected);
    }
    t_check_guards(&out);
    t_free(&in);
    t_free(&out);
    free(keys);
}
END_TEST

START_TEST(test_radix_sort_sizes_and_dtypes)
{
    int step = t_sizes[_i] < 4096 ? 1 : 5; /* the big ones take turns */
    for (int d = step > 1 ? _i % step : 0; d < T_DTYPE_COUNT; d += step) {
        struct spec s = {.dtype = t_dtypes[d], .n = t_sizes[_i]};
        void *keys = pattern_new(PATTERN_BITS, s.dtype, s.n);
        s.descending = d % 2;
        check_sort(&s, keys);
        s.descending = !s.descending;
        s.value_bytes = 4;
        check_sort(&s, keys);
        free(keys);
    }
}
END_TEST

START_TEST(test_radix_sort_patterns_both_orders)
{
    gp_dtype dtype = t_dtypes[_i / PATTERN_COUNT];
    for (int k = 0; k < 6; k++) {
        struct spec s = {.dtype = dtype, .n = k == 1 + 4 * (_i & 1) ? 33001 : 1999};
        s.value_bytes = k % 3 == 2 ? 8 : 0;
        s.descending = k >= 3;
        void *keys = pattern_new((enum pattern)(_i % PATTERN_COUNT), dtype, s.n);
        check_sort(&s, keys);
        free(keys);
    }
}
END_TEST

START_TEST(test_radix_sort_in_place)
{
    static const size_t sizes[] = {1, 1000, 33001};
    gp_dtype dtype = t_dtypes[_i];
    for (size_t k = 0; k < 9; k++) { /* PATTERN_NARROW: fewer passes, odd for 20 bits */
        struct spec s = {.dtype = dtype, .n = sizes[k % 3], .keys_in_place = true};
        void *keys = pattern_new(k < 3 ? 0 : k < 6 ? PATTERN_NARROW : PATTERN_CONSTANT, dtype, s.n);
        check_sort(&s, keys);
        s.value_bytes = 4;
        s.values_in_place = true;
        check_sort(&s, keys);
        free(keys);
    }
}
END_TEST

START_TEST(test_radix_sort_alignment_offsets)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_U16, GP_U32, GP_U64};
    struct spec s = {.dtype = dtypes[_i % 4], .n = 33001, .offset = (size_t)_i / 4};
    void *keys = pattern_new(PATTERN_BITS, s.dtype, s.n);
    check_sort(&s, keys);
    s.value_bytes = (size_t)1 << _i % 5;
    check_sort(&s, keys);
    free(keys);
}
END_TEST

/* Words, positions and copies around it. */
START_TEST(test_radix_sort_cub_agrees)
{
    static const size_t value_bytes[] = {0, 4, 8, 3, 16};
    const gp_dtype dtype = t_dtypes[_i];
    for (int k = 0; k < 40 && t_has_cub(); k++) {
        struct spec s = {.dtype = dtype, .n = k & 1 ? 33001 : 999, .cub = true};
        s.value_bytes = value_bytes[k % 5];
        s.keys_in_place = k & 2;
        s.values_in_place = k & 4;
        s.descending = k & 8;
        s.begin = k >= 20 ? 3 : 0;
        s.end = k >= 20 ? 8 * (int)gp_dtype_bytes(dtype) : 0;
        void *keys = pattern_new(k % 3 ? PATTERN_BITS : PATTERN_SPECIAL, dtype, s.n);
        const gp_radix_sort_options o = options_of(&s);
        check_sort(&s, keys);
        check_argsort(dtype, keys, s.n, k & 1 ? GP_U32 : GP_U64, &o);
        free(keys);
    }
}
END_TEST

/* ---- bits ------------------------------------------------------------------------------------ */

START_TEST(test_radix_sort_every_bit_range)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_I8, GP_U16, GP_F16};
    gp_dtype dtype = dtypes[_i];
    int width = 8 * (int)gp_dtype_bytes(dtype);
    size_t n = 500;
    void *keys = pattern_new(PATTERN_BITS, dtype, n);
    for (int begin = 0; begin <= width; begin++)
        for (int end = begin ? begin : 1; end <= width; end++) {
            struct spec s = {.dtype = dtype, .n = n, .begin = begin, .end = end};
            s.descending = (begin + end) & 1;
            s.value_bytes = (begin + end) & 2;
            check_sort(&s, keys);
        }
    free(keys);
}
END_TEST

START_TEST(test_radix_sort_bit_ranges_of_wide_keys)
{
    static const int ranges[][2] = {{0, 1},   {0, 19},  {5, 13}, {8, 16},  {3, 32},
                                    {31, 32}, {12, 12}, {0, 40}, {20, 64}, {63, 64}};
    static const gp_dtype dtypes[] = {GP_U32, GP_I32, GP_F32, GP_U64, GP_I64, GP_F64};
    gp_dtype dtype = dtypes[_i];
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int k = 0; k < 4; k++) {
            struct spec s = {.dtype = dtype, .n = k & 1 ? 33001 : 999};
            s.begin = ranges[r][0];
            s.end = ranges[r][1];
            s.descending = r & 1;
            s.value_bytes = k & 2 ? 4 : 0;
            if (s.end > 8 * (int)gp_dtype_bytes(dtype))
                continue;
            void *keys = pattern_new(r & 1 ? PATTERN_BITS : PATTERN_SPECIAL, dtype, s.n);
            check_sort(&s, keys);
            free(keys);
        }
}
END_TEST

/* begin_bit at the width with the default end compares nothing. */
START_TEST(test_radix_sort_no_bits_copies)
{
    for (int k = 0; k < 4; k++) {
        struct spec s = {.dtype = GP_F32, .n = 1234, .begin = 32, .value_bytes = k & 1 ? 12 : 0};
        s.descending = k & 2;
        void *keys = pattern_new(PATTERN_SPECIAL, s.dtype, s.n);
        gp_radix_sort_options o = options_of(&s);
        s.end = 32;
        check_sort(&s, keys);
        s.keys_in_place = s.values_in_place = true;
        check_sort(&s, keys);
        check_argsort(s.dtype, keys, s.n, GP_U32, &o);
        free(keys);
    }
}
END_TEST

static gp_context *context_new(int threads)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = gp_context_backend(t_ctx());
    o.threads = threads;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

/* Also where the order among equal keys is free. */
START_TEST(test_radix_sort_same_bits_whatever_the_threads)
{
    static const int threads[] = {1, 2, 3, 8};
    gp_dtype dtype = t_dtypes[_i];
    size_t n = 300001, bytes = n * gp_dtype_bytes(dtype);
    void *keys = pattern_new(PATTERN_BITS, dtype, n), *first = t_host(bytes),
         *again = t_host(bytes);
    t_array in = t_new_from(keys, bytes, 0), out = t_new(bytes, 0);
    for (int k = 0; k < (t_is_cuda() ? 2 : 4); k++) {
        gp_context *ctx = context_new(t_is_cuda() ? 0 : threads[k]);
        T_OK(gp_radix_sort(ctx, dtype, in.data, n, out.data, NULL));
        T_OK(gp_context_synchronize(ctx));
        t_get(&out, k ? again : first, bytes);
        if (k)
            t_same_bytes("keys", first, again, bytes);
        gp_context_destroy(ctx);
    }
    t_free(&in), t_free(&out);
    free(keys), free(first), free(again);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

enum { ERROR_N = 64 };

START_TEST(test_radix_sort_errors)
{
    t_array k = t_new(ERROR_N * 8, 0), o = t_new(ERROR_N * 8, 0);
    char *in = k.data, *out = o.data;
    gp_context *c = t_ctx();
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(NULL, GP_U32, in, 8, out, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_radix_sort(c, (gp_dtype)0, in, 8, out, NULL));
    T_STATUS(GP_ERROR_DTYPE, gp_radix_sort(c, (gp_dtype)13, in, 8, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U32, NULL, 8, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U32, in + 1, 8, out, NULL));
    T_STATUS(GP_ERROR_ARGUMENT, gp_radix_sort(c, GP_U32, in, ((size_t)1 << 40) + 1, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U32, in, 8, NULL, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U64, in, 8, out + 4, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_radix_sort(c, GP_U32, in, 8, in + 4, NULL));
    T_STATUS(GP_ERROR_OVERLAP, gp_radix_sort(c, GP_U32, out + 28, 8, out, NULL));
    T_OK(gp_radix_sort(c, GP_U32, NULL, 0, NULL, NULL));
    if (t_is_cuda())
        T_STATUS(GP_ERROR_POINTER, gp_radix_sort(c, GP_U8, (char[8]){0}, 8, out, NULL));
    t_check_untouched(&o);
    t_check_untouched(&k);
    t_free(&k), t_free(&o);
}
END_TEST

START_TEST(test_radix_sort_option_errors)
{
    static const struct {
        gp_status status;
        gp_radix_sort_options options;
    } cases[] = {
        {GP_ERROR_ARGUMENT, {0, GP_ASCENDING, 0, 0, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), (gp_order)2, 0, 0, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), (gp_order)-1, 0, 0, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, -1, 0, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 33, 0, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 9, 8, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, -1, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 33, GP_ALGORITHM_AUTO, NULL, NULL}},
        {GP_ERROR_ARGUMENT,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 0, (gp_algorithm)99, NULL, NULL}},
        {GP_ERROR_UNSUPPORTED,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 0, GP_ALGORITHM_LOOKBACK, NULL, NULL}},
        {GP_ERROR_UNSUPPORTED,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 0, GP_ALGORITHM_REDUCE_THEN_SCAN_TWO_PASS,
          NULL, NULL}},
        {GP_ERROR_UNSUPPORTED,
         {sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 0, GP_ALGORITHM_SERIAL, NULL, NULL}},
    };
    t_array k = t_new(ERROR_N * 8, 0), o = t_new(ERROR_N * 8, 0), v = t_new(ERROR_N * 8, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gp_radix_sort_options *p = &cases[i].options;
        size_t bytes = 77;
        T_STATUS(cases[i].status, gp_radix_sort(t_ctx(), GP_U32, k.data, 8, o.data, p));
        T_STATUS(cases[i].status,
                 gp_radix_sort_pairs(t_ctx(), GP_U32, k.data, 4, k.data, 8, o.data, v.data, p));
        T_STATUS(cases[i].status, gp_argsort(t_ctx(), GP_F32, k.data, 8, GP_U32, o.data, p));
        T_STATUS(cases[i].status, gp_radix_sort_workspace_bytes(NULL, GP_U32, 0, 8, p, &bytes));
        T_STATUS(cases[i].status, gp_argsort_workspace_bytes(NULL, GP_U32, 8, GP_U32, p, &bytes));
        ck_assert_uint_eq(bytes, 77);
    }
    gp_radix_sort_options cub = GP_RADIX_SORT_OPTIONS_INIT;
    cub.algorithm = GP_ALGORITHM_CUB;
    T_STATUS(t_is_cuda() ? GP_OK : GP_ERROR_UNSUPPORTED,
             gp_radix_sort(t_ctx(), GP_U32, k.data, 0, o.data, &cub));
    t_check_untouched(&o);
    t_check_untouched(&v);
    t_free(&k), t_free(&o), t_free(&v);
}
END_TEST

static void add_cases(Suite *s)
{
    TCase *c = t_case(s, "oracle");
    tcase_add_loop_test(c, test_oracle_words_follow_values, 0, T_DTYPE_COUNT);
    c = t_case(s, "values");
    tcase_add_loop_test(c, test_radix_sort_patterns_both_orders, 0, T_DTYPE_COUNT * PATTERN_COUNT);
    c = t_case(s, "sizes");
    tcase_add_test(c, test_radix_sort_every_size);
    tcase_add_loop_test(c, test_radix_sort_sizes_and_dtypes, 0, T_SIZE_SMALL_COUNT);
    c = t_case(s, "inplace");
    tcase_add_loop_test(c, test_radix_sort_in_place, 0, T_DTYPE_COUNT);
    c = t_case(s, "alignment");
    tcase_add_loop_test(c, test_radix_sort_alignment_offsets, 0, 4 * 17);
    c = t_case(s, "cub");
    tcase_add_loop_test(c, test_radix_sort_cub_agrees, 0, T_DTYPE_COUNT);
    c = t_case(s, "bits");
    tcase_add_loop_test(c, test_radix_sort_every_bit_range, 0, 4);
    tcase_add_loop_test(c, test_radix_sort_bit_ranges_of_wide_keys, 0, 6);
    tcase_add_test(c, test_radix_sort_no_bits_copies);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_radix_sort_same_bits_whatever_the_threads, 0, T_DTYPE_COUNT);
    c = t_case(s, "errors");
    tcase_add_test(c, test_radix_sort_errors);
    tcase_add_test(c, test_radix_sort_option_errors);
}

int main(int argc, char **argv)
{
    Suite *s = suite_create("radixsort");
    add_cases(s);
    return t_main(argc, argv, s);
}
