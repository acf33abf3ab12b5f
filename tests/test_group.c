/* SPDX-License-Identifier: MIT */
/* Unique keys, lengths of runs and reduction by key against serial loops: keys of all dtypes and
 * sizes, runs of all lengths, operators, sizes, capacities. */
#include <stdlib.h>
#include <string.h>

#include "group_check.h"
#include "oracle.h"

/* ---- keys ------------------------------------------------------------------------------------ */

START_TEST(test_group_keys_of_every_dtype)
{
    const gp_dtype dtype = t_dtypes[_i];
    uint64_t seed = t_seed() + (uint64_t)_i;
    for (int p = 0; p < GROUP_PATTERNS; p++) {
        group_keys k = group_keys_new(dtype, 0, (enum group_pattern)p, t_at_most(20003), &seed);
        const size_t offset = (size_t)p % 3;
        group_check_unique(&k, p % 2 ? 4 : 12, offset);
        group_check_lengths(&k, p % 2 ? GP_U32 : GP_U64, 0, offset);
        group_check_lengths(&k, p % 2 ? GP_U64 : GP_U32, 1, offset);
        group_keys_free(&k);
    }
}
END_TEST

START_TEST(test_group_keys_of_every_size)
{
    const size_t bytes = group_widths[_i], n = bytes > 1000 ? 70 : t_at_most(20003);
    uint64_t seed = t_seed() + (uint64_t)_i;
    for (int p = 0; p < GROUP_PATTERNS; p++) {
        group_keys k = group_keys_new((gp_dtype)0, bytes, (enum group_pattern)p, n, &seed);
        group_check_unique(&k, p % 2 ? 0 : 3, (size_t)p % 2);
        group_check_lengths(&k, GP_U32, p % 2, (size_t)p % 2);
        group_check_reduce(&k, GP_SUM, GP_U32, GP_U32, 1, &seed);
        group_keys_free(&k);
    }
}
END_TEST

/* Zeros and NaNs of other bits are in one run. */
START_TEST(test_group_keys_of_special_floats)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    enum { N = 3000 };
    const gp_dtype dtype = floats[_i];
    const size_t bytes = gp_dtype_bytes(dtype);
    uint64_t seed = t_seed();
    char *items = t_host(N * bytes);
    t_fill_special(dtype, items, N, &seed);
    for (size_t i = 1; i < N; i++) { /* often the value before, as another bit pattern or not */
        uint64_t word = 0;
        memcpy(&word, items + (i - 1) * bytes, bytes);
        if (t_random_below(&seed, 2))
            word ^= t_random_below(&seed, 2) << (8 * bytes - 1);
        if (t_random_below(&seed, 3))
            memcpy(items + i * bytes, &word, bytes);
    }
    group_keys k = group_keys_of(dtype, 0, items, N), as_bytes = group_keys_of(0, bytes, items, N);
    group_check_unique(&k, 8, 0);
    group_check_lengths(&k, GP_U32, 0, 1);
    group_check_lengths(&k, GP_U32, 1, 0);
    group_check_unique(&as_bytes, 8, 0);
    ck_assert_uint_gt(as_bytes.count, k.count);
    group_keys_free(&k);
    group_keys_free(&as_bytes);
    free(items);
}
END_TEST

/* ---- operators ------------------------------------------------------------------------------- */

START_TEST(test_group_reduce_every_operator)
{
    const gp_op op = t_ops[_i / T_DTYPE_COUNT];
    const gp_dtype dtype = t_dtypes[_i % T_DTYPE_COUNT];
    uint64_t seed = t_seed() + (uint64_t)_i;
    if (!t_op_allowed(dtype, op))
        return;
    for (int p = 0; p < GROUP_PATTERNS; p++) {
        group_keys k = group_keys_new(GP_U32, 0, (enum group_pattern)p, t_at_most(20003), &seed);
        group_check_reduce(&k, op, dtype, dtype, (size_t)p % 3, &seed);
        group_keys_free(&k);
    }
}
END_TEST

START_TEST(test_group_reduce_sum_widens)
{
    uint64_t seed = t_seed() + (uint64_t)_i;
    for (int p = 0; p < GROUP_PATTERNS; p++) {
        group_keys k = group_keys_new(GP_U64, 0, (enum group_pattern)p, t_at_most(20003), &seed);
        group_check_reduce(&k, GP_SUM, t_widening[_i][0], t_widening[_i][1], (size_t)p % 2, &seed);
        group_keys_free(&k);
    }
}
END_TEST

/* Values with every bit pattern: integers wrap, and the order of floats is gp's. */
START_TEST(test_group_reduce_any_integers)
{
    static const gp_op ops[] = {GP_SUM, GP_PRODUCT, GP_MIN, GP_MAX, GP_AND, GP_OR, GP_XOR};
    static const gp_dtype dtypes[] = {GP_I8, GP_U8, GP_I16, GP_U16, GP_I32, GP_U32, GP_I64, GP_U64};
    const size_t n = t_at_most(9001);
    const gp_dtype dtype = dtypes[_i];
    const size_t bytes = gp_dtype_bytes(dtype);
    uint64_t seed = t_seed();
    char *values = t_host(n * bytes), *actual = t_host(n * bytes);
    group_keys k = group_keys_new(GP_U16, 0, RUNS_MIXED, n, &seed);
    t_fill_bits(dtype, values, n, &seed);
    t_array in = t_new_from(k.items, n * 2, 0), beside = t_new_from(values, n * bytes, bytes);
    t_array out = t_new(n * bytes, 0), count = t_new(8, 0);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
        d.key_dtype = GP_U16, d.op = ops[o], d.in_dtype = dtype;
        T_OK(gp_reduce_by_key(t_ctx(), &d, in.data, beside.data, n, NULL, out.data, count.data));
        void *expected = group_folded(ops[o], dtype, dtype, values, &k);
        t_get(&out, actual, k.count * bytes);
        t_same(gp_op_string(ops[o]), dtype, expected, actual, k.count);
        free(expected);
    }
    t_free(&in);
    t_free(&beside);
    t_free(&out);
    t_free(&count);
    free(values);
    free(actual);
    group_keys_free(&k);
}
END_TEST

/* The sums of floats are as far from the exact ones as rounding allows, and the same twice. */
START_TEST(test_group_reduce_float_sums_are_close_and_repeat)
{
    static const gp_dtype floats[] = {GP_F16, GP_BF16, GP_F32, GP_F64};
    const gp_dtype dtype = floats[_i];
    const size_t n = t_at_most(60001), bytes = gp_dtype_bytes(dtype);
    uint64_t seed = t_seed();
    group_keys k = group_keys_new(GP_U8, 0, RUNS_POWER_LAW, n, &seed);
    char *values = t_host(n * bytes), *once = t_host(k.count * bytes),
         *twice = t_host(k.count * bytes);
    double *expected = t_host(k.count * sizeof *expected), *size = t_host(k.count * sizeof *size);
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = GP_U8, d.in_dtype = dtype;
    t_fill_random(dtype, values, n, &seed);
    for (size_t j = 0; j < k.count; j++) {
        expected[j] = size[j] = 0;
        for (size_t i = k.heads[j]; i < k.heads[j + 1]; i++) {
            const double v = t_value(dtype, values, i);
            expected[j] += v, size[j] += v < 0 ? -v : v;
        }
    }
    t_array in = t_new_from(k.items, n, 0), beside = t_new_from(values, n * bytes, 0);
    t_array out = t_new(k.count * bytes, 0), count = t_new(8, 0);
    d.capacity = k.count;
    T_OK(gp_reduce_by_key(t_ctx(), &d, in.data, beside.data, n, NULL, out.data, count.data));
    t_get(&out, once, k.count * bytes);
    t_close_to("sums", dtype, expected, size, once, k.count, 200 * t_epsilon(dtype));
    for (int i = 0; i < 5; i++) {
        t_poison(&out);
        T_OK(gp_reduce_by_key(t_ctx(), &d, in.data, beside.data, n, NULL, out.data, count.data));
        t_get(&out, twice, k.count * bytes);
        t_same_bytes("the same call again", once, twice, k.count * bytes);
    }
    t_free(&in);
    t_free(&beside);
    t_free(&out);
    t_free(&count);
    free(values), free(once), free(twice), free(expected), free(size);
    group_keys_free(&k);
}
END_TEST

/* ---- sizes ----------------------------------------------------------------------------------- */

START_TEST(test_group_sizes)
{
    const size_t n = t_at_most(t_sizes[_i]);
    uint64_t seed = t_seed() + (uint64_t)_i;
    for (int p = RUNS_OF_1; p < GROUP_PATTERNS; p += 1 + (n > 20000)) {
        group_keys k = group_keys_new(GP_U32, 0, (enum group_pattern)p, n, &seed);
        group_check_unique(&k, 8, 0);
        group_check_lengths(&k, GP_U32, p % 2, 1);
        group_check_reduce(&k, GP_SUM, GP_F32, GP_F32, 0, &seed);
        group_keys_free(&k);
    }
}
END_TEST

START_TEST(test_group_many)
{
    static const gp_dtype dtypes[] = {GP_U8, GP_I16, GP_F32, GP_U64};
    const gp_dtype dtype = dtypes[_i];
    uint64_t seed = t_seed();
    for (int p = 0; p < GROUP_PATTERNS; p += 2) {
        group_keys k = group_keys_new(dtype, 0, (enum group_pattern)p, t_at_most(1500007), &seed);
        group_check_unique(&k, 4, 1);
        group_check_lengths(&k, GP_U32, 0, 0);
        group_check_reduce(&k, GP_SUM, GP_U64, GP_U64, 1, &seed);
        group_check_reduce(&k, GP_AFFINE, GP_F64, GP_F64, 1, &seed);
        group_keys_free(&k);
    }
}
END_TEST

/* ---- counts and capacities ------------------------------------------------------------------- */

/* What is behind the capacity stays, and the call that found it is named. */
static void short_of_room(const group_keys *k, size_t capacity)
{
    const size_t n = k->n;
    uint32_t *actual = t_host(n * 4);
    void *first = group_picked(k->items, 4, k->heads, k->count);
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = GP_U32, d.in_dtype = GP_U32, d.capacity = capacity;
    t_array in = t_new_from(k->items, n * 4, 0), out = t_new(capacity * 4, 0);
    t_array sums = t_new(capacity * 4, 0), count = t_new(8, 0);
    T_OK(gp_reduce_by_key(t_ctx(), &d, in.data, in.data, n, out.data, sums.data, count.data));
    if (capacity < k->count) {
        T_STATUS(GP_ERROR_CAPACITY, gp_context_synchronize(t_ctx()));
        ck_assert_ptr_nonnull(strstr(gp_last_error(t_ctx()), "gp_reduce_by_key"));
    }
    const size_t runs = capacity < k->count ? capacity : k->count;
    ck_assert_uint_eq(t_get_u64(&count), k->count);
    t_get(&out, actual, runs * 4);
    t_same_bytes("the first keys", first, actual, runs * 4);
    t_check_guards(&out);
    void *expected = group_folded(GP_SUM, GP_U32, GP_U32, k->items, k);
    t_get(&sums, actual, runs * 4);
    t_same_bytes("the first sums", expected, actual, runs * 4);
    t_check_guards(&sums);
    t_free(&in);
    t_free(&out);
    t_free(&sums);
    t_free(&count);
    free(actual), free(first), free(expected);
}

START_TEST(test_group_capacity_keeps_the_first_runs)
{
    uint64_t seed = t_seed();
    for (int p = 0; p < GROUP_PATTERNS; p++) {
        group_keys k = group_keys_new(GP_U32, 0, (enum group_pattern)p, t_at_most(30001), &seed);
        const size_t capacities[] = {1, 2, k.count / 2 + 1, k.count - 1, k.count, k.count + 1};
        for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++)
            if (capacities[c] > 0)
                short_of_room(&k, capacities[c]);
        group_keys_free(&k);
    }
}
END_TEST

/* Every call with its number of items in memory of the context: as many as there are, fewer, none,
 * and more, which count as n. */
static void with_device_n(const group_keys *all, uint64_t given)
{
    const size_t n = all->n;
    group_keys k = group_keys_of(all->dtype, 0, all->items, given < n ? given : n);
    uint32_t *actual = t_host(n * 4);
    t_array in = t_new_from(all->items, n * 4, 0), count = t_new(8, 0);
    t_array number = t_new_from(&given, 8, 0), out = t_new(n * 4, 0), more = t_new(n * 4, 0);
    gp_unique_desc u = GP_UNIQUE_DESC_INIT;
    gp_run_length_desc r = GP_RUN_LENGTH_DESC_INIT;
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    u.key_dtype = r.key_dtype = d.key_dtype = d.in_dtype = GP_U32, r.index_dtype = GP_U32;
    u.device_n = r.device_n = d.device_n = number.data;
    T_OK(gp_unique_by(t_ctx(), &u, in.data, NULL, n, out.data, NULL, NULL, count.data));
    ck_assert_uint_eq(t_get_u64(&count), k.count);
    void *expected = group_picked(k.items, 4, k.heads, k.count);
    t_get(&out, actual, k.count * 4);
    t_same_bytes("unique", expected, actual, k.count * 4);
    T_OK(gp_run_length_encode_by(t_ctx(), &r, in.data, n, NULL, NULL, out.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), k.count);
    t_get(&out, actual, k.count * 4);
    for (size_t j = 0; j < k.count; j++)
        ck_assert_uint_eq(actual[j], k.heads[j + 1] - k.heads[j]);
    T_OK(gp_reduce_by_key(t_ctx(), &d, in.data, in.data, n, NULL, more.data, count.data));
    ck_assert_uint_eq(t_get_u64(&count), k.count);
    free(expected);
    expected = group_folded(GP_SUM, GP_U32, GP_U32, k.items, &k);
    t_get(&more, actual, k.count * 4);
    t_same_bytes("sums", expected, actual, k.count * 4);
    t_free(&in), t_free(&count), t_free(&number), t_free(&out), t_free(&more);
    free(actual), free(expected);
    group_keys_free(&k);
}

START_TEST(test_group_device_n)
{
    const size_t n = t_at_most(50000);
    uint64_t seed = t_seed();
    group_keys k = group_keys_new(GP_U32, 0, RUNS_MIXED, n, &seed);
    const uint64_t given[] = {0, 1, 31, 32, 8192, n / 2, n - 1, n, n + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        with_device_n(&k, given[i]);
    group_keys_free(&k);
}
END_TEST

START_TEST(test_group_simple_calls)
{
    const int32_t keys[8] = {5, 5, -1, -1, -1, 7, 5, 5}, unique[] = {5, -1, 7, 5};
    const uint64_t lengths[] = {2, 3, 1, 2};
    t_array in = t_new_from(keys, sizeof keys, 0), out = t_new(16, 0), length = t_new(32, 0);
    t_array count = t_new(8, 0);
    char host[32];
    T_OK(gp_unique(t_ctx(), GP_I32, in.data, 8, out.data, count.data));
    T_STATUS(GP_OK, gp_context_synchronize(t_ctx()));
    ck_assert_uint_eq(t_get_u64(&count), 4);
    t_get(&out, host, sizeof unique);
    t_same_bytes("gp_unique", unique, host, sizeof unique);
    t_poison(&out);
    T_OK(gp_run_length_encode(t_ctx(), GP_I32, in.data, 8, GP_U64, out.data, length.data,
                              count.data));
    ck_assert_uint_eq(t_get_u64(&count), 4);
    t_get(&out, host, sizeof unique);
    t_same_bytes("keys", unique, host, sizeof unique);
    t_get(&length, host, sizeof lengths);
    t_same_bytes("lengths", lengths, host, sizeof lengths);
    t_free(&in), t_free(&out), t_free(&length), t_free(&count);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("group");
    TCase *c = t_case(s, "keys");
    tcase_add_test(c, test_group_simple_calls);
    tcase_add_loop_test(c, test_group_keys_of_every_dtype, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_group_keys_of_every_size, 0, GROUP_WIDTHS);
    tcase_add_loop_test(c, test_group_keys_of_special_floats, 0, 4);
    c = t_case(s, "values");
    tcase_add_loop_test(c, test_group_reduce_every_operator, 0, T_DTYPE_COUNT * T_OP_COUNT);
    tcase_add_loop_test(c, test_group_reduce_sum_widens, 0, T_WIDENING_COUNT);
    tcase_add_loop_test(c, test_group_reduce_any_integers, 0, 8);
    tcase_add_loop_test(c, test_group_reduce_float_sums_are_close_and_repeat, 0, 4);
    c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_group_sizes, 0, T_SIZE_SMALL_COUNT);
    tcase_add_loop_test(c, test_group_many, 0, 4);
    c = t_case(s, "counts");
    tcase_add_test(c, test_group_capacity_keeps_the_first_runs);
    tcase_add_test(c, test_group_device_n);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
