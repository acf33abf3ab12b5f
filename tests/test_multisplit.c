/* SPDX-License-Identifier: MIT */
/* Multisplit against a serial loop: item sizes, numbers of buckets, how they are spread, places. */
#include <stdlib.h>
#include <string.h>

#include <gp/multisplit.h>

#include "compact_check.h"
#include "gp_test.h"

static const size_t bucket_counts[] = {1, 2, 7, 31, 32, 33, 200, 256, 257, 1000, 70000};
enum { COUNTS = sizeof bucket_counts / sizeof *bucket_counts };

/* ---- inputs ---------------------------------------------------------------------------------- */

enum spread { RANDOM, ONE, LAST, RISING, FALLING, RUNS, SPREADS };

static uint32_t *make_numbers(enum spread spread, size_t n, size_t buckets, uint64_t *seed)
{
    uint32_t *numbers = t_host(n * sizeof *numbers), value = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t random = t_random_below(seed, buckets);
        if (i % 37 == 0)
            value = (uint32_t)random;
        numbers[i] = spread == RANDOM    ? (uint32_t)random
                     : spread == ONE     ? (uint32_t)(buckets / 2)
                     : spread == LAST    ? (uint32_t)(buckets - 1)
                     : spread == RISING  ? (uint32_t)(i * buckets / n)
                     : spread == FALLING ? (uint32_t)(buckets - 1 - i * buckets / n)
                                         : value;
    }
    return numbers;
}

/* As the call takes them. */
static t_array put_numbers(const uint32_t *numbers, size_t n, size_t buckets, size_t offset)
{
    const size_t bytes = buckets <= 256 ? 1 : 4;
    char *host = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(host + i * bytes, &numbers[i], bytes); /* little-endian */
    t_array a = t_new_from(host, n * bytes, offset * bytes);
    free(host);
    return a;
}

/* ---- the oracle, and one call compared with it ----------------------------------------------- */

static void oracle(const char *in, size_t item, const uint32_t *numbers, size_t n, size_t buckets,
                   char *out, uint64_t *offsets)
{
    uint64_t *next = t_host(buckets * sizeof *next);
    memset(offsets, 0, (buckets + 1) * sizeof *offsets);
    for (size_t i = 0; i < n; i++)
        offsets[numbers[i] + 1]++;
    for (size_t b = 0; b < buckets; b++)
        offsets[b + 1] += offsets[b];
    memcpy(next, offsets, buckets * sizeof *next);
    for (size_t i = 0; i < n; i++)
        memcpy(out + next[numbers[i]]++ * item, in + i * item, item);
    free(next);
}

/* n: of the call; counted: the items that there are. */
static void check_at(size_t item, size_t buckets, enum spread spread, size_t n, size_t counted,
                     size_t at)
{
    uint64_t seed = t_seed() + n + buckets;
    const uint64_t number = counted;
    char *in = compact_items(item, n), *expected = t_host(n * item), *actual = t_host(n * item);
    uint32_t *numbers = make_numbers(spread, counted, buckets, &seed);
    uint64_t *offsets = t_host((buckets + 1) * 8), *got = t_host((buckets + 1) * 8);
    t_array in_d = t_new_from(in, n * item, at * item), n_d = t_new_from(&number, 8, 0);
    t_array numbers_d = put_numbers(numbers, counted, buckets, at * 3 % 17);
    t_array all = t_new(n * (buckets <= 256 ? 1 : 4), 0); /* more than are read, if n is a bound */
    t_array out = t_new(n * item, at * 5 % 17 * item), offsets_d = t_new((buckets + 1) * 8, 0);
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    d.item_bytes = item;
    d.num_buckets = buckets;
    oracle(in, item, numbers, counted, buckets, expected, offsets);
    if (counted < n) {
        char *some = t_host(numbers_d.bytes);
        t_get(&numbers_d, some, numbers_d.bytes);
        if (numbers_d.bytes)
            T_OK(gp_copy(t_ctx(), some, numbers_d.bytes, all.data));
        d.device_n = n_d.data;
        free(some);
        memset(expected + counted * item, T_POISON, (n - counted) * item);
    }
    T_OK(gp_multisplit_by(t_ctx(), &d, in_d.data, counted < n ? all.data : numbers_d.data, n,
                          out.data, offsets_d.data));
    t_get(&offsets_d, got, (buckets + 1) * 8);
    t_same("offsets", GP_U64, offsets, got, buckets + 1);
    t_get(&out, actual, n * item);
    t_same_bytes("items", expected, actual, n * item);
    t_check_guards(&out);
    t_check_guards(&offsets_d);
    t_array *arrays[] = {&in_d, &n_d, &numbers_d, &all, &out, &offsets_d};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        t_free(arrays[k]);
    free(in), free(expected), free(actual), free(numbers), free(offsets), free(got);
}

static void check(size_t item, size_t buckets, enum spread spread, size_t n)
{
    check_at(item, buckets, spread, n, n, 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

START_TEST(test_multisplit_widths_and_buckets)
{
    const size_t item = compact_widths[_i], n = item > 1000 ? 67 : item > 16 ? 3001 : 10007;
    for (int c = 0; c < COUNTS; c++)
        check(item, bucket_counts[c], RANDOM, n);
}
END_TEST

START_TEST(test_multisplit_spreads)
{
    for (int spread = RANDOM; spread < SPREADS; spread++) {
        check(4, bucket_counts[_i], (enum spread)spread, 20011);
        check(12, bucket_counts[_i], (enum spread)spread, 5003);
    }
}
END_TEST

START_TEST(test_multisplit_sizes)
{
    const size_t n = t_sizes[_i];
    if (n > 300000 && !t_is_cuda())
        return;
    check(4, 32, RANDOM, n);
    check(8, 256, RANDOM, n);
    check(3, 5, RANDOM, n);
    check(4, 1000, RANDOM, n);
}
END_TEST

START_TEST(test_multisplit_offsets_of_arrays)
{
    for (size_t w = 0; w < COMPACT_WIDTHS - 2; w++) {
        check_at(compact_widths[w], 32, RANDOM, 5000, 5000, (size_t)_i);
        check_at(compact_widths[w], 300, RANDOM, 2000, 2000, (size_t)_i);
    }
}
END_TEST

/* Every block goes over several tiles. */
START_TEST(test_multisplit_long_arrays)
{
    check(4, bucket_counts[_i], RANDOM, 3000001);
    check(16, bucket_counts[_i], RUNS, 700001);
}
END_TEST

START_TEST(test_multisplit_device_n)
{
    enum { N = 20000 };
    static const size_t values[] = {0, 1, 4095, 4097, 19999, 20000};
    for (int c = 0; c < COUNTS; c++) {
        check_at(4, bucket_counts[c], RANDOM, N, values[_i], 0);
        check_at(12, bucket_counts[c], RUNS, N, values[_i], 1);
        check_at(7, bucket_counts[c], RANDOM, N, values[_i], 2);
    }
}
END_TEST

START_TEST(test_multisplit_simple_call)
{
    const uint8_t numbers[6] = {2, 0, 1, 2, 0, 4};
    const uint16_t in[6] = {10, 11, 12, 13, 14, 15}, expected[6] = {11, 14, 12, 10, 13, 15};
    const uint64_t expected_offsets[6] = {0, 2, 3, 5, 5, 6};
    uint16_t out[6];
    uint64_t offsets[6];
    t_array in_d = t_new_from(in, sizeof in, 0), numbers_d = t_new_from(numbers, 6, 0);
    t_array out_d = t_new(sizeof out, 0), offsets_d = t_new(sizeof offsets, 0);
    T_OK(gp_multisplit(t_ctx(), 2, in_d.data, numbers_d.data, 6, 5, out_d.data, offsets_d.data));
    t_get(&out_d, out, sizeof out);
    t_same_bytes("items", expected, out, sizeof out);
    t_get(&offsets_d, offsets, sizeof offsets);
    t_same_bytes("offsets", expected_offsets, offsets, sizeof offsets);
    t_poison(&offsets_d);
    T_OK(gp_multisplit(t_ctx(), 2, NULL, NULL, 0, 5, NULL, offsets_d.data));
    t_get(&offsets_d, offsets, sizeof offsets);
    for (int b = 0; b < 6; b++)
        ck_assert_uint_eq(offsets[b], 0);
    t_free(&in_d), t_free(&numbers_d), t_free(&out_d), t_free(&offsets_d);
}
END_TEST

/* What a number that is too large leads to stays inside the outputs. */
START_TEST(test_multisplit_wrong_numbers)
{
    enum { N = 5000 };
    const size_t buckets = _i ? 300 : 20;
    uint64_t seed = t_seed();
    uint32_t numbers[N];
    for (int i = 0; i < N; i++)
        numbers[i] = i % 9 ? (uint32_t)t_random_below(&seed, buckets) : _i ? ~0u : 200;
    char *in = compact_items(4, N);
    t_array in_d = t_new_from(in, N * 4, 0), numbers_d = put_numbers(numbers, N, buckets, 0);
    t_array out = t_new(N * 4, 0), offsets = t_new((buckets + 1) * 8, 0);
    T_OK(gp_multisplit(t_ctx(), 4, in_d.data, numbers_d.data, N, buckets, out.data, offsets.data));
    T_OK(gp_context_synchronize(t_ctx()));
    t_check_guards(&out);
    t_check_guards(&offsets);
    t_poison(&out);
    t_poison(&offsets);
    gp_context *ctx = t_validating();
    t_refused(ctx,
              gp_multisplit(ctx, 4, in_d.data, numbers_d.data, N, buckets, out.data, offsets.data),
              _i ? "gp_multisplit: numbers[0] is 4294967295, expected below 300"
                 : "gp_multisplit: numbers[0] is 200, expected below 20");
    t_check_untouched(&out);
    t_check_untouched(&offsets);
    gp_context_destroy(ctx);
    t_free(&in_d), t_free(&numbers_d), t_free(&out), t_free(&offsets);
    free(in);
}
END_TEST

START_TEST(test_multisplit_threads_agree)
{
    enum { N = 300001, BUCKETS = 100 };
    uint64_t seed = t_seed();
    char *in = compact_items(8, N), *expected = t_host(N * 8), *actual = t_host(N * 8);
    uint32_t *numbers = make_numbers(RANDOM, N, BUCKETS, &seed);
    uint8_t *bytes = t_host(N);
    uint64_t offsets[BUCKETS + 1], got[BUCKETS + 1];
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    for (int i = 0; i < N; i++)
        bytes[i] = (uint8_t)numbers[i];
    o.backend = GP_BACKEND_CPU;
    o.threads = 1 + _i;
    oracle(in, 8, numbers, N, BUCKETS, expected, offsets);
    T_OK(gp_context_create(&ctx, &o));
    T_OK(gp_multisplit(ctx, 8, in, bytes, N, BUCKETS, actual, got));
    t_same_bytes("items", expected, actual, N * 8);
    t_same_bytes("offsets", offsets, got, sizeof got);
    gp_context_destroy(ctx);
    free(in), free(expected), free(actual), free(numbers), free(bytes);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(test_multisplit_errors)
{
    static const char zeros[64];
    gp_context *ctx = t_ctx();
    t_array in_d = t_new_from(zeros, 64, 0), numbers_d = t_new_from(zeros, 64, 0);
    t_array out_d = t_new(64, 0), offsets_d = t_new(64, 0);
    char *in = in_d.data, *out = out_d.data, *numbers = numbers_d.data, *offsets = offsets_d.data;
    uint64_t *to = offsets_d.data;
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    size_t bytes;
    T_STATUS(GP_ERROR_POINTER, gp_multisplit(NULL, 4, in, numbers, 16, 4, out, to));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit_by(ctx, NULL, in, numbers, 16, out, to));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit(ctx, 4, NULL, numbers, 16, 4, out, to));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit(ctx, 4, in, NULL, 16, 4, out, to));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit(ctx, 4, in, numbers, 16, 4, NULL, to));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit(ctx, 4, in, numbers, 16, 4, out, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit(ctx, 4, in + 2, numbers, 15, 4, out, to));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit(ctx, 4, in, numbers + 1, 2, 300, out, to));
    T_STATUS(GP_ERROR_POINTER,
             gp_multisplit(ctx, 4, in, numbers, 15, 4, out, (uint64_t *)(void *)(offsets + 4)));
    T_STATUS(GP_ERROR_ARGUMENT, gp_multisplit(ctx, 0, in, numbers, 16, 4, out, to));
    T_STATUS(GP_ERROR_ARGUMENT, gp_multisplit(ctx, 65537, in, numbers, 16, 4, out, to));
    T_STATUS(GP_ERROR_ARGUMENT, gp_multisplit(ctx, 4, in, numbers, 16, 0, out, to));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_multisplit(ctx, 4, in, numbers, 16, ((size_t)1 << 31) + 1, out, to));
    T_STATUS(GP_ERROR_ARGUMENT,
             gp_multisplit(ctx, 4, in, numbers, ((size_t)1 << 40) + 1, 4, out, to));
    T_STATUS(GP_ERROR_OVERLAP, gp_multisplit(ctx, 4, in, numbers, 16, 4, in, to));
    T_STATUS(GP_ERROR_OVERLAP, gp_multisplit(ctx, 4, in, numbers, 16, 4, numbers, to));
    T_STATUS(GP_ERROR_OVERLAP,
             gp_multisplit(ctx, 4, in, numbers, 16, 4, out, (uint64_t *)(void *)out));
    d.item_bytes = 4;
    d.num_buckets = 4;
    d.device_n = to;
    T_STATUS(GP_ERROR_OVERLAP, gp_multisplit_by(ctx, &d, in, numbers, 16, out, to));
    d.device_n = NULL;
    d.size--;
    T_STATUS(GP_ERROR_ARGUMENT, gp_multisplit_by(ctx, &d, in, numbers, 16, out, to));
    T_STATUS(GP_ERROR_ARGUMENT, gp_multisplit_workspace_bytes(NULL, &d, 16, &bytes));
    d.size++;
    T_STATUS(GP_ERROR_POINTER, gp_multisplit_workspace_bytes(NULL, &d, 16, NULL));
    T_STATUS(GP_ERROR_POINTER, gp_multisplit_workspace_bytes(NULL, NULL, 16, &bytes));
    t_check_untouched(&out_d);
    t_check_untouched(&offsets_d);
    t_free(&in_d), t_free(&numbers_d), t_free(&out_d), t_free(&offsets_d);
}
END_TEST

/* Where a GPU takes larger tiles: from 64 MB on. */
START_TEST(test_multisplit_large_tiles)
{
    static const struct {
        size_t item, buckets, missing;
        enum spread spread;
    } calls[] = {
        {4, 32, 0, RANDOM}, {4, 256, 4099, RUNS}, {8, 16, 0, FALLING}, {8, 200, 1, RANDOM}};
    const size_t item = calls[_i].item, n = t_at_most(((size_t)1 << 26) / item + 6143);
    check_at(item, calls[_i].buckets, calls[_i].spread, n,
             n > calls[_i].missing ? n - calls[_i].missing : n, (size_t)_i);
}
END_TEST

START_TEST(test_multisplit_capture_and_replay)
{
    enum { N = 100000, BUCKETS = 40 };
    uint64_t seed = t_seed(), offsets[BUCKETS + 1], got[BUCKETS + 1];
    gp_multisplit_desc d = GP_MULTISPLIT_DESC_INIT;
    size_t bytes;
    char *in = compact_items(4, N), *expected = t_host(N * 4), *actual = t_host(N * 4);
    t_array in_d = t_new_from(in, N * 4, 0), numbers_d = t_new(N, 0), n_d = t_new(8, 0);
    t_array out = t_new(N * 4, 0), offsets_d = t_new(sizeof offsets, 0);
    d.item_bytes = 4;
    d.num_buckets = BUCKETS;
    T_OK(gp_multisplit_workspace_bytes(NULL, &d, N, &bytes));
    T_OK(gp_context_reserve(t_ctx(), bytes));
    d.device_n = n_d.data;
    if (t_capture_begin()) {
        T_OK(gp_multisplit_by(t_ctx(), &d, in_d.data, numbers_d.data, N, out.data, offsets_d.data));
        t_capture_end();
        for (int round = 0; round < 4; round++) {
            const uint64_t n = N - t_random_below(&seed, N / 2);
            uint32_t *numbers = make_numbers(RANDOM, N, BUCKETS, &seed);
            uint8_t *narrow = t_host(N);
            for (int i = 0; i < N; i++)
                narrow[i] = (uint8_t)numbers[i];
            t_put(&numbers_d, narrow, N);
            t_put(&n_d, &n, 8);
            t_replay();
            oracle(in, 4, numbers, n, BUCKETS, expected, offsets);
            t_get(&out, actual, n * 4);
            t_same_bytes("items", expected, actual, n * 4);
            t_get(&offsets_d, got, sizeof got);
            t_same_bytes("offsets", offsets, got, sizeof got);
            free(numbers), free(narrow);
        }
        t_capture_free();
    }
    t_free(&in_d), t_free(&numbers_d), t_free(&n_d), t_free(&out), t_free(&offsets_d);
    free(in), free(expected), free(actual);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("multisplit");
    TCase *c = t_case(s, "values");
    tcase_add_test(c, test_multisplit_simple_call);
    tcase_add_loop_test(c, test_multisplit_widths_and_buckets, 0, COMPACT_WIDTHS);
    tcase_add_loop_test(c, test_multisplit_spreads, 0, COUNTS);
    c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_multisplit_sizes, 0, T_SIZE_COUNT);
    c = t_case(s, "places");
    tcase_add_loop_test(c, test_multisplit_offsets_of_arrays, 0, 17);
    tcase_add_loop_test(c, test_multisplit_long_arrays, 0, COUNTS);
    tcase_add_loop_test(c, test_multisplit_device_n, 0, 6);
    c = t_case(s, "errors");
    tcase_add_test(c, test_multisplit_errors);
    tcase_add_loop_test(c, test_multisplit_wrong_numbers, 0, 2);
    c = t_case(s, "determinism");
    tcase_add_loop_test(c, test_multisplit_threads_agree, 0, 6);
    c = t_case(s, "cuda");
    tcase_add_test(c, test_multisplit_capture_and_replay);
    tcase_add_loop_test(c, test_multisplit_large_tiles, 0, 4);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
