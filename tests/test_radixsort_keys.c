/* SPDX-License-Identifier: MIT */
/*
 * Keys alone of 32 and 64 bits, which the CPU may sort by partitions and networks: sizes around
 * those of a network and of a vector, and the same bits whatever the instruction set and the
 * backend: -0 comes before +0, positive NaNs before negative ones, each kind by its bits.
 */
#include "radixsort_check.h"

static const gp_dtype dtypes[] = {GP_U32, GP_I32, GP_F32, GP_U64, GP_I64, GP_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* The order among floats that compare equal. */
static uint64_t rank_of(const char *key, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, key, bytes);
    const uint64_t sign = bits >> (8 * bytes - 1), below = bits & ~(sign << (8 * bytes - 1));
    if (below == 0)
        return !sign;
    return sign ? ~below : below;
}

/* Put runs of floats that compare equal into that order. */
static void refine(gp_dtype dtype, char *sorted, size_t n, bool descending)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    char one[8];
    for (size_t i = 1; i < n; i++) {
        size_t k = i;
        memcpy(one, sorted + i * bytes, bytes);
        for (; k > 0 && oracle_compare_values(dtype, sorted, k - 1, k) == 0; k--) {
            const uint64_t left = rank_of(sorted + (k - 1) * bytes, bytes),
                           here = rank_of(sorted + k * bytes, bytes);
            if (descending ? left >= here : left <= here)
                break;
            memcpy(sorted + k * bytes, sorted + (k - 1) * bytes, bytes);
            memcpy(sorted + (k - 1) * bytes, one, bytes);
        }
    }
}

static void check(gp_dtype dtype, const void *keys, size_t n, bool descending, bool in_place)
{
    size_t key = gp_dtype_bytes(dtype), bytes = n * key;
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = descending ? GP_DESCENDING : GP_ASCENDING;
    t_array in = t_new_from(keys, bytes, key), out = t_new(bytes, 3 * key);
    t_array *k = in_place ? &in : &out;
    size_t *order = oracle_argsort(dtype, keys, n, descending, 0, 0);
    void *expected = oracle_pick(keys, key, order, n), *sorted = t_host(bytes);
    if (t_is_float(dtype))
        refine(dtype, expected, n, descending);
    T_OK(gp_radix_sort(t_ctx(), dtype, in.data, n, k->data, &o));
    t_get(k, sorted, bytes);
    t_same_bytes("keys", expected, sorted, bytes);
    t_check_guards(k);
    t_free(&in), t_free(&out);
    free(order), free(expected), free(sorted);
}

START_TEST(test_radix_sort_keys_every_size)
{
    enum { MAX = 560 };
    gp_dtype dtype = dtypes[_i];
    void *keys = pattern_new(PATTERN_RANDOM, dtype, MAX);
    for (size_t n = 1; n <= MAX; n += t_is_cuda() ? 37 : 1)
        check(dtype, keys, n, n & 1, n & 2);
    free(keys);
}
END_TEST

START_TEST(test_radix_sort_keys_patterns)
{
    static const size_t sizes[] = {31,  32,  33,  63,  64,  65,  127,  128,  129,  255,  256,
                                   257, 272, 273, 383, 384, 511, 1000, 2048, 4099, 20011};
    gp_dtype dtype = dtypes[_i / PATTERN_COUNT];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k += t_is_cuda() ? 4 : 1) {
        void *keys = pattern_new((enum pattern)(_i % PATTERN_COUNT), dtype, sizes[k]);
        check(dtype, keys, sizes[k], k & 1, k & 2);
        check(dtype, keys, sizes[k], !(k & 1), k & 2);
        free(keys);
    }
}
END_TEST

/* Most keys are one, which is the smallest, the largest, or neither. */
START_TEST(test_radix_sort_keys_heaps)
{
    gp_dtype dtype = dtypes[_i];
    size_t key = gp_dtype_bytes(dtype), n = 3001;
    for (int heap = 0; heap < 6; heap++) {
        uint64_t state = t_seed() + (uint64_t)heap;
        char *keys = pattern_new(PATTERN_BITS, dtype, n);
        double value = heap % 3 == 0 ? INFINITY : heap % 3 == 1 ? -INFINITY : 1;
        for (size_t i = 0; i < n; i++) {
            if (t_random_below(&state, heap < 3 ? 100 : 3) == 0)
                continue;
            if (t_is_float(dtype))
                t_set(dtype, keys, i, value);
            else
                memset(keys + i * key, heap % 3 == 0 ? 0xff : heap % 3 == 1 ? 0 : 0x7f, key);
        }
        check(dtype, keys, n, false, false);
        check(dtype, keys, n, true, true);
        free(keys);
    }
}
END_TEST

/* Cut into buckets by all threads first, in place and not. */
START_TEST(test_radix_sort_keys_buckets)
{
    gp_dtype dtype = dtypes[_i % DTYPES];
    size_t n = t_at_most(150001);
    void *keys = pattern_new(_i / DTYPES ? PATTERN_NARROW : PATTERN_BITS, dtype, n);
    check(dtype, keys, n, false, _i & 1);
    check(dtype, keys, n, true, !(_i & 1));
    free(keys);
}
END_TEST

#ifdef T_UNEVEN_KEYS
/* support/uneven_keys.c */
bool t_uneven_keys_32(uint32_t *keys, size_t n);
bool t_uneven_keys_64(uint64_t *keys, size_t n);

static bool has_partitions(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

/* Where partitions get nowhere, the sort goes on in another way. */
START_TEST(test_radix_sort_keys_uneven_partitions)
{
    static const size_t sizes[] = {9001, 20011, 40000};
    const size_t n = sizes[_i];
    uint32_t *narrow = t_host(n * 4);
    uint64_t *wide = t_host(n * 8);
    if (has_partitions()) {
        ck_assert(t_uneven_keys_32(narrow, n));
        ck_assert(t_uneven_keys_64(wide, n));
        check(GP_U32, narrow, n, false, _i & 1);
        check(GP_U64, wide, n, false, !(_i & 1));
        for (size_t i = 0; i < n; i++) {
            narrow[i] ^= (uint32_t)1 << 31;
            wide[i] = ~wide[i];
        }
        check(GP_I32, narrow, n, false, false);
        check(GP_U64, wide, n, true, true);
    }
    free(narrow), free(wide);
}
END_TEST
#endif

int main(int argc, char **argv)
{
    Suite *s = suite_create("radixsort_keys");
    TCase *c = t_case(s, "sizes");
    tcase_add_loop_test(c, test_radix_sort_keys_every_size, 0, DTYPES);
    c = t_case(s, "patterns");
    tcase_add_loop_test(c, test_radix_sort_keys_patterns, 0, DTYPES * PATTERN_COUNT);
    tcase_add_loop_test(c, test_radix_sort_keys_heaps, 0, DTYPES);
    c = t_case(s, "buckets");
    tcase_add_loop_test(c, test_radix_sort_keys_buckets, 0, 2 * DTYPES);
#ifdef T_UNEVEN_KEYS
    c = t_case(s, "uneven");
    tcase_add_loop_test(c, test_radix_sort_keys_uneven_partitions, 0, 3);
#endif
    return t_main(argc, argv, s);
}
