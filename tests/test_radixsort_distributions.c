/* SPDX-License-Identifier: MIT */
/*
 * Sorts of keys spread in every way, at sizes around which the route changes.
 */
#include "radixsort_distributions.h"

static const gp_dtype dtypes[] = {GP_U32, GP_U64, GP_F32, GP_I64, GP_I32, GP_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

START_TEST(test_radix_sort_spread)
{
    /* ranks, pieces with and without a rest, several splits' tiles */
    static const size_t sizes[] = {5000, 8193, 65536, 70001, 300007};
    for (int kind = 0; kind < KINDS; kind++) {
        size_t n = sizes[(_i + kind) % 5];
        check_distribution(dtypes[_i % DTYPES], (enum kind)kind, n, false, kind & 1);
        check_distribution(dtypes[_i % DTYPES], (enum kind)kind, n, true, kind & 2);
    }
}
END_TEST

/* Two splits, tiles of the larger shape, and several levels of bins. */
START_TEST(test_radix_sort_spread_big)
{
    size_t n = (t_is_cuda() ? (size_t)5 << 20 : (size_t)1 << 18) + 12345;
    check_distribution(_i % 2 ? GP_U64 : GP_U32, (enum kind)(_i / 2), n, false, _i % 4 == 3);
    check_distribution(_i % 2 ? GP_U64 : GP_U32, (enum kind)(_i / 2), n, true, _i % 4 == 2);
}
END_TEST

/* Levels, or splitters of an array that blocks hold, of words on both sides of zero. */
START_TEST(test_radix_sort_spread_levels)
{
    static const gp_dtype signs[] = {GP_F64, GP_I64, GP_F32, GP_I32};
    static const enum kind kinds[] = {BELL, FEW_VALUES, FAR_APART, NUMBER_PAIRS};
    const size_t n = (t_is_cuda() ? (size_t)1 << 22 : (size_t)1 << 18) + 4713;
    check_distribution(signs[_i % 4], kinds[_i / 4], n, false, _i % 3 == 0);
    check_distribution(signs[_i % 4], kinds[_i / 4], n, true, _i % 3 == 1);
}
END_TEST

/* Passes over pairs, with tiles of all threads of a block where no digit is hot; some of which the
 * first block finds a reason for while others count, or, of fewer, the sample of splitters. */
START_TEST(test_radix_sort_spread_long_tiles)
{
    static const enum kind kinds[] = {HASHED, FAR_APART, NUMBER_PAIRS, BELL, WIDE_BELL};
    const size_t n = t_is_cuda() ? (size_t[]){16781929, 4200007, 2621441}[_i / 10] : 266857;
    check_distribution(_i % 2 ? GP_F32 : GP_U32, kinds[_i / 2 % 5], n, true, _i % 3 == 0);
}
END_TEST

/* Levels, splitters or a map, beside values of 8 bytes, by which each item is found. */
START_TEST(test_radix_sort_spread_wide_values)
{
    static const gp_dtype of[2][3] = {{GP_U64, GP_F64, GP_I64}, {GP_U32, GP_F32, GP_I32}};
    const gp_dtype dtype = of[_i / KINDS][_i % 3];
    const size_t key = gp_dtype_bytes(dtype), unit = (size_t)1 << (t_is_cuda() ? 20 : 15);
    const size_t n = t_at_most((key == 4 ? 8 : 5 - _i / 2 % 2) * unit + 4713);
    void *keys = keys_new((enum kind)(_i % KINDS), n, 8 * (int)key), *sorted = t_host(n * key);
    uint64_t *values = t_host(n * 8), wrong = 0;
    uint32_t *index = t_host(n * 4);
    for (size_t i = 0; i < n; i++)
        values[i] = ~(uint64_t)i;
    t_array ki = t_new_from(keys, n * key, 0), vi = t_new_from(values, n * 8, 0);
    t_array ko = t_new(n * key, key), vo = t_new(n * 8, 8);
    t_array *k = _i % 2 ? &ki : &ko, *v = _i % 2 ? &vi : &vo;
    T_OK(gp_radix_sort_pairs(t_ctx(), dtype, ki.data, 8, vi.data, n, k->data, v->data, NULL));
    t_get(k, sorted, n * key);
    t_get(v, values, n * 8);
    for (size_t i = 0; i < n; index[i] = (uint32_t)~values[i], i++)
        wrong += ~values[i] >= n;
    ck_assert_uint_eq(wrong, 0);
    check_pairs(dtype, keys, sorted, index, n);
    t_check_guards(k);
    t_check_guards(v);
    t_free(&ki), t_free(&vi), t_free(&ko), t_free(&vo);
    free(keys), free(sorted), free(values), free(index);
}
END_TEST

/* On the CPU between 256 splitters, as few would leave more together than the caches hold. */
START_TEST(test_radix_sort_spread_many_splitters)
{
    static const enum kind kinds[] = {FAR_APART, NUMBER_PAIRS, HASHED, BELL};
    const size_t n = t_at_most(((size_t)4 << 20) + 4713);
    check_distribution(_i % 2 ? GP_F64 : GP_U64, kinds[_i / 2], n, true, _i % 3 == 0);
}
END_TEST

/* By some of the bits, the others being zero: what is compared does not begin at bit 0. */
START_TEST(test_radix_sort_spread_some_bits)
{
    const gp_dtype dtype = _i % 2 ? GP_U64 : GP_U32;
    const size_t n = (t_is_cuda() ? (size_t)(5 - _i / 2 % 2) << 20 : (size_t)1 << 16) + 4711;
    const size_t key = gp_dtype_bytes(dtype), bytes = n * key;
    const int width = 8 * (int)key, begin = 5, end = width - 3;
    gp_radix_sort_options options = GP_RADIX_SORT_OPTIONS_INIT;
    options.begin_bit = begin;
    options.end_bit = end;
    char *keys = keys_new((enum kind)(_i / 2), n, width);
    uint32_t *index = t_host(n * 4);
    void *sorted = t_host(bytes);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = 0;
        memcpy(&word, keys + i * key, key);
        word = word >> begin << begin & (((uint64_t)1 << end) - 1);
        memcpy(keys + i * key, &word, key);
        index[i] = (uint32_t)i;
    }
    t_array k = t_new_from(keys, bytes, 0), v = t_new_from(index, n * 4, 0);
    T_OK(gp_radix_sort_pairs(t_ctx(), dtype, k.data, 4, v.data, n, k.data, v.data, &options));
    t_get(&k, sorted, bytes);
    t_get(&v, index, n * 4);
    check_pairs(dtype, keys, sorted, index, n);
    t_free(&k), t_free(&v);
    free(keys), free(sorted), free(index);
}
END_TEST

/* The largest first, of integers that lie close together, though most bits vary: by complements. */
START_TEST(test_radix_sort_spread_close_descending)
{
    static const gp_dtype integers[] = {GP_I32, GP_U64, GP_U32, GP_I64};
    static const size_t sizes[] = {70001, 1000003, 4200007};
    const gp_dtype dtype = integers[_i % 4];
    const size_t n = close_items(sizes[_i / 4]), key = gp_dtype_bytes(dtype), bytes = n * key;
    gp_radix_sort_options options = GP_RADIX_SORT_OPTIONS_INIT;
    options.order = GP_DESCENDING;
    uint32_t *index = t_host(n * 4);
    char *sorted = t_host(bytes);
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
    t_array v = t_new_from(index, n * 4, 0);
    for (int kind = AROUND_ZERO; kind <= ONE_BELOW; kind++) {
        char *keys = keys_new((enum kind)kind, n, 8 * (int)key);
        t_array k = t_new_from(keys, bytes, 0), ko = t_new(bytes, 0), io = t_new(n * 4, 0);
        T_OK(gp_radix_sort_pairs(t_ctx(), dtype, k.data, 4, v.data, n, ko.data, io.data, &options));
        t_get(&ko, sorted, bytes);
        t_get(&io, index, n * 4);
        for (size_t i = 0; i < bytes; i++)
            keys[i] = ~keys[i], sorted[i] = ~sorted[i];
        check_pairs(dtype, keys, sorted, index, n);
        t_free(&k), t_free(&ko), t_free(&io);
        free(keys);
    }
    t_free(&v);
    free(index), free(sorted);
}
END_TEST

/* Their number in device memory, and behind them others. */
START_TEST(test_radix_sort_spread_close_counted_on_device)
{
    static const gp_dtype dtypes_of[] = {GP_I32, GP_F64, GP_F32, GP_I64};
    static const size_t sizes[] = {300007, 2500001, 5255225};
    const gp_dtype dtype = dtypes_of[_i % 4];
    const size_t most = close_items(sizes[_i / 4]), key = gp_dtype_bytes(dtype), bytes = most * key;
    const uint64_t n = most - most / 16;
    gp_radix_sort_options options = GP_RADIX_SORT_OPTIONS_INIT;
    uint32_t *index = t_host(most * 4);
    char *sorted = t_host(bytes);
    for (size_t i = 0; i < most; i++)
        index[i] = (uint32_t)i;
    t_array count = t_new_from(&n, 8, 0), v = t_new_from(index, most * 4, 0);
    options.device_n = count.data;
    for (int kind = AROUND_ZERO; kind <= ONE_BELOW; kind++) {
        char *keys = keys_new((enum kind)kind, n, 8 * (int)key);
        char *others = keys_new(EVEN, most, 8 * (int)key);
        memcpy(others, keys, n * key);
        t_array k = t_new_from(others, bytes, 0), ko = t_new(bytes, 0), io = t_new(most * 4, 0);
        T_OK(gp_radix_sort_pairs(t_ctx(), dtype, k.data, 4, v.data, most, ko.data, io.data,
                                 &options));
        t_get(&ko, sorted, bytes);
        t_get(&io, index, most * 4);
        check_pairs(dtype, keys, sorted, index, n);
        t_free(&k), t_free(&ko), t_free(&io);
        free(keys), free(others);
    }
    t_free(&count), t_free(&v);
    free(index), free(sorted);
}
END_TEST

/* Keys alone of 20 bits, more than the buckets of a build that tests faults hold: each bucket is
 * counted by values, of which some have more items than a byte can count. */
START_TEST(test_radix_sort_spread_few_bits)
{
    enum { VALUES = 1 << 20 };
    const size_t n = (t_is_cuda() ? (size_t)9 << 20 : (size_t)1 << 18) + 4713;
    uint32_t *keys = t_host(n * 4), *sorted = t_host(n * 4), *counts = calloc(VALUES, 4);
    for (size_t i = 0; i < n; i++) {
        keys[i] = (uint32_t)(i * 0x9e3779b97f4a7c15u >> 44);
        keys[i] &= _i && i % 8 == 0 ? ~(uint32_t)0x7ff : ~(uint32_t)0;
        counts[keys[i]]++;
    }
    t_array k = t_new_from(keys, n * 4, 0);
    T_OK(gp_radix_sort(t_ctx(), GP_I32, k.data, n, k.data, NULL));
    t_get(&k, sorted, n * 4);
    for (size_t value = 0, i = 0; value < VALUES; value++)
        for (uint32_t c = 0; c < counts[value]; c++)
            keys[i++] = (uint32_t)value;
    t_same("keys of 20 bits", GP_U32, keys, sorted, n);
    t_free(&k);
    free(keys), free(sorted), free(counts);
}
END_TEST

/* Keys of 1 and 2 bytes alone are counted, many of the latter. */
START_TEST(test_radix_sort_spread_counted)
{
    static const gp_dtype narrow[] = {GP_U8, GP_I8, GP_U16, GP_I16};
    size_t n = (t_is_cuda() ? (size_t)1 << 22 : (size_t)1 << 18) + 12345;
    check_distribution(narrow[_i], EVEN, n, false, _i & 1);
    check_distribution(narrow[_i], MOST_EQUAL, n, false, !(_i & 1));
}
END_TEST

/* Keys alone, and again: blocks may find places in another order, the bits are the same. */
static void check_keys_often(gp_dtype dtype, const void *keys, size_t n, int runs)
{
    const size_t bytes = n * gp_dtype_bytes(dtype);
    void *first = t_host(bytes), *again = t_host(bytes);
    t_array in = t_new_from(keys, bytes, 0), out = t_new(bytes, 0);
    for (int run = 0; run < runs; run++) {
        T_OK(gp_radix_sort(t_ctx(), dtype, in.data, n, out.data, NULL));
        t_get(&out, run ? again : first, bytes);
        if (run)
            t_same_bytes("another run", first, again, bytes);
    }
    check_keys_alone(dtype, keys, first, n);
    t_free(&in), t_free(&out);
    free(first), free(again);
}

/* Floats among them, of which many are equal but not the same. */
START_TEST(test_radix_sort_spread_hundred_runs)
{
    static const enum kind kinds[] = {FEW_VALUES, HASHED, BELL, MOST_EQUAL, FAR_APART};
    static const size_t sizes[] = {40001, 300007, 1000003};
    const gp_dtype dtype = dtypes[2 + _i % 4];
    const size_t n = t_at_most(sizes[_i / 4]);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        void *keys = keys_new(kinds[k], n, 8 * (int)gp_dtype_bytes(dtype));
        check_keys_often(dtype, keys, n, t_is_cuda() ? 100 : 2);
        free(keys);
    }
}
END_TEST

/* One captured sort, replayed with every input. Frees them. */
static void check_replays(gp_dtype dtype, size_t n, void **inputs, size_t count)
{
    const size_t bytes = n * gp_dtype_bytes(dtype);
    uint32_t *index = t_host(n * 4);
    void *sorted = t_host(bytes);
    t_array k = t_new(bytes, 0), ko = t_new(bytes, 0), io = t_new(n * 4, 0);
    size_t need;
    T_OK(gp_radix_sort_workspace_bytes(NULL, dtype, 4, n, NULL, &need));
    T_OK(gp_context_reserve(t_ctx(), need));
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
    t_array v = t_new_from(index, n * 4, 0);
    ck_assert(t_capture_begin());
    T_OK(gp_radix_sort_pairs(t_ctx(), dtype, k.data, 4, v.data, n, ko.data, io.data, NULL));
    t_capture_end();
    for (size_t r = 0; r < count; r++) {
        t_put(&k, inputs[r], bytes);
        t_replay();
        t_get(&ko, sorted, bytes);
        t_get(&io, index, n * 4);
        check_pairs(dtype, inputs[r], sorted, index, n);
        free(inputs[r]);
    }
    t_capture_free();
    t_free(&k), t_free(&ko), t_free(&v), t_free(&io);
    free(index), free(sorted);
}

/* A captured sort takes another route when it is replayed with other keys, */
START_TEST(test_radix_sort_spread_replay_cuda)
{
    static const enum kind kinds[] = {EVEN, MOST_EQUAL, LOW_BITS, EQUAL, EQUAL_HEADS, ONE_LARGE};
    enum { COUNT = sizeof kinds / sizeof *kinds };
    const size_t n = t_at_most(200003);
    const gp_dtype dtype = _i % 2 ? GP_U64 : GP_U32;
    void *inputs[COUNT];
    for (size_t r = 0; r < COUNT; r++)
        inputs[r] = keys_new(kinds[r], n, 8 * (int)gp_dtype_bytes(dtype));
    check_replays(dtype, n, inputs, COUNT);
}
END_TEST

/* and other passes when other bytes of the keys are the same: an odd number of them and an even
 * one, none, the first and the last. */
START_TEST(test_radix_sort_spread_replay_skips_other_digits)
{
    static const uint64_t masks[] = {0x000000ff, 0x00ffff00, 0xff00000000ff0000, 0xff000000ff0000ff,
                                     0,          UINT64_MAX, 0x00ff00ff0000ff00, 0xff000000};
    enum { COUNT = sizeof masks / sizeof *masks };
    static const gp_dtype dtypes_of[] = {GP_U32, GP_U64, GP_U16, GP_I32};
    const size_t n = t_at_most(100003);
    const gp_dtype dtype = dtypes_of[_i];
    const size_t key = gp_dtype_bytes(dtype);
    void *inputs[COUNT];
    for (size_t r = 0; r < COUNT; r++) {
        char *keys = keys_new(MOST_EQUAL, n, 8 * (int)key);
        for (size_t i = 0; i < n * key; i++)
            keys[i] &= (char)(masks[r] >> i % key * 8);
        inputs[r] = keys;
    }
    check_replays(dtype, n, inputs, COUNT);
}
END_TEST

/* and other buckets or passes when keys lie elsewhere, close together, or other bits tell them. */
START_TEST(test_radix_sort_spread_replay_close)
{
    static const enum kind kinds[] = {CROSSING,      AROUND_ZERO, EDGE_BEYOND,  EVEN,
                                      ONE_BELOW,     EDGES,       EDGES_BEYOND, LOW_BITS,
                                      PART_OF_RANGE, WIDE_BELL};
    enum { COUNT = sizeof kinds / sizeof *kinds };
    static const gp_dtype dtypes_of[] = {GP_I32, GP_U64, GP_F32, GP_I64};
    static const size_t sizes[] = {200003, 1000003, 2621441, 4200007, 1 << 23};
    const gp_dtype dtype = dtypes_of[_i % 4];
    const size_t n = t_at_most(sizes[_i / 4]);
    void *inputs[COUNT];
    for (size_t r = 0; r < COUNT; r++)
        inputs[r] = keys_new(kinds[r], n, 8 * (int)gp_dtype_bytes(dtype));
    check_replays(dtype, n, inputs, COUNT);
}
END_TEST

/* Key i of an array whose buckets of bits are uneven: heavy words, the lowest and the highest among
 * them; all magnitudes alike; sums around the middle; nearly all the highest word; two words. */
static uint64_t uneven_key(int kind, uint64_t random, int bits)
{
    const uint64_t most = UINT64_MAX >> (64 - bits), tail = random >> 8, middle = most / 2;
    const uint64_t heavy[] = {0, most, middle, middle + 1};
    switch (kind) {
    case 0:
        return random % 16 ? heavy[random / 16 % 4] : tail & most;
    case 1:
        return (tail & most) >> random % (unsigned)bits;
    case 2:
        return middle + tail % 1000 * (tail / 1000 % 1000) - tail / 1000000 % 250000;
    case 3:
        return random % 32 ? most : most - tail % 7;
    default:
        return random % 3 ? middle : most;
    }
}

/* Splitters of everything, and levels; maps, or passes where words of 4 bytes clump. */
START_TEST(test_radix_sort_spread_replay_splitters)
{
    enum { COUNT = 5 };
    static const gp_dtype dtypes_of[] = {GP_U32, GP_U64, GP_I32, GP_F64, GP_F32};
    static const size_t sizes[] = {9217,    40001,   524288,  1000003,
                                   1179000, 2621441, 4200007, 5255225};
    const gp_dtype dtype = dtypes_of[_i % 5];
    const size_t key = gp_dtype_bytes(dtype), n = t_at_most(sizes[_i / 5]);
    void *inputs[COUNT];
    uint64_t state = t_seed();
    for (int r = 0; r < COUNT; r++) {
        char *keys = t_host(n * key);
        for (size_t i = 0; i < n; i++) {
            const uint64_t word = uneven_key(r, t_random(&state), 8 * (int)key);
            memcpy(keys + i * key, &word, key);
        }
        inputs[r] = keys;
    }
    check_replays(dtype, n, inputs, COUNT);
}
END_TEST

/* Keys of which the sample of radixsort_splitters.cuh, from these places, says nothing: all others
 * lie between two of its words. */
START_TEST(test_radix_sort_spread_replay_bad_sample)
{
    const int bits = _i ? 14 : 12; /* of the number of words in the sample */
    const size_t n = t_at_most(_i ? 4200007 : 1000003);
    uint64_t *keys = t_host(n * 8), state = t_seed();
    void *inputs[2] = {keys, keys_new(EVEN, n, 64)};
    for (size_t i = 0; i < n; i++)
        keys[i] = ((uint64_t)1 << 40) + t_random_below(&state, 1 << 20);
    for (uint64_t i = 0; i >> bits == 0; i++) {
        const uint64_t first = n * i >> bits, end = n * (i + 1) >> bits;
        const uint64_t jitter = (uint32_t)i * 0x9e3779b1u;
        keys[first + (jitter * (end - first) >> 32)] = i << (i % 2 ? 20 : 50);
    }
    check_keys_often(GP_U64, keys, n, 2); /* then by passes or levels, alone and as pairs */
    check_replays(GP_U64, n, inputs, 2);
}
END_TEST

/* The same of radixsort_map_learn.cuh, whose sample has as many words whatever n is. */
START_TEST(test_radix_sort_spread_replay_bad_map)
{
    enum { COUNT = 3 };
    const size_t n = ((size_t)5 << 20) + 4711; /* more than blocks split alone */
    const uint64_t sample = 24 << 10;          /* as n < 2^23 */
    const uint64_t apart = ((uint64_t)n << 32) / sample;
    uint32_t *keys = t_host(n * 4);
    uint64_t state = t_seed();
    void *inputs[COUNT] = {keys, keys_new(BELL, n, 32), keys_new(EVEN, n, 32)};
    for (size_t i = 0; i < n; i++)
        keys[i] = ((uint32_t)1 << 30) + (uint32_t)t_random_below(&state, 1 << 22);
    for (uint64_t i = 0; i < sample; i++) {
        const uint64_t first = i * apart >> 32, end = (i + 1) * apart >> 32;
        const uint64_t jitter = (uint32_t)i * 0x9e3779b1u;
        keys[first + (jitter * (end - first) >> 32)] = (uint32_t)(i << (i % 2 ? 8 : 16));
    }
    check_replays(GP_U32, n, inputs, COUNT);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("radixsort_distributions");
    TCase *c = t_case(s, "spread");
    tcase_add_loop_test(c, test_radix_sort_spread, 0, 2 * DTYPES);
    c = t_case(s, "runs");
    tcase_add_loop_test(c, test_radix_sort_spread_hundred_runs, 0, 12);
    c = t_case(s, "big");
    tcase_add_loop_test(c, test_radix_sort_spread_big, 0, 2 * KINDS);
    tcase_add_loop_test(c, test_radix_sort_spread_levels, 0, 16);
    tcase_add_loop_test(c, test_radix_sort_spread_long_tiles, 0, 30);
    tcase_add_loop_test(c, test_radix_sort_spread_many_splitters, 0, 8);
    tcase_add_loop_test(c, test_radix_sort_spread_some_bits, 0, 2 * KINDS);
    tcase_add_loop_test(c, test_radix_sort_spread_few_bits, 0, 2);
    tcase_add_loop_test(c, test_radix_sort_spread_counted, 0, 4);
    c = t_case(s, "wide values");
    tcase_add_loop_test(c, test_radix_sort_spread_wide_values, 0, 2 * KINDS);
    c = t_case(s, "close");
    tcase_add_loop_test(c, test_radix_sort_spread_close_descending, 0, 12);
    tcase_add_loop_test(c, test_radix_sort_spread_close_counted_on_device, 0, 12);
    c = t_case(s, "replay cuda");
    tcase_add_loop_test(c, test_radix_sort_spread_replay_cuda, 0, 2);
    tcase_add_loop_test(c, test_radix_sort_spread_replay_skips_other_digits, 0, 4);
    tcase_add_loop_test(c, test_radix_sort_spread_replay_close, 0, 20);
    tcase_add_loop_test(c, test_radix_sort_spread_replay_splitters, 0, 40);
    tcase_add_loop_test(c, test_radix_sort_spread_replay_bad_sample, 0, 2);
    tcase_add_test(c, test_radix_sort_spread_replay_bad_map);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
