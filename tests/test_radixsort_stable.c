/* SPDX-License-Identifier: MIT */
/*
 * Stability, proved by payloads that are positions: keys of 32 bits spread in every way. The large
 * cases sort 10^9 items in all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gp/radixsort.h>

#include "gp_test.h"
#include "order_check.h"

static const enum bench_spread spreads[] = {BENCH_UNIFORM,
                                            BENCH_CONSTANT,
                                            BENCH_TWO_VALUES,
                                            BENCH_SORTED,
                                            BENCH_REVERSED,
                                            BENCH_ZIPF,
                                            BENCH_AND_3,
                                            BENCH_AND_5,
                                            BENCH_TILES,
                                            BENCH_TOP_BYTE,
                                            BENCH_UNIT,
                                            BENCH_LOW_20,
                                            BENCH_MOST_EQUAL,
                                            BENCH_FEW_VALUES,
                                            BENCH_MANY_EQUAL,
                                            BENCH_ALMOST_SORTED,
                                            BENCH_SORTED_RUNS,
                                            BENCH_SAWTOOTH,
                                            BENCH_ORGAN_PIPE,
                                            BENCH_FAR_CLUSTERS,
                                            BENCH_IDS,
                                            BENCH_HASHED_IDS,
                                            BENCH_NORMAL_THOUSAND,
                                            BENCH_NORMAL_MILLION,
                                            BENCH_NORMAL_WIDE,
                                            BENCH_LOG_NORMAL,
                                            BENCH_NORMAL,
                                            BENCH_EXPONENTIAL,
                                            BENCH_PRICES};
enum { SPREADS = sizeof spreads / sizeof *spreads };

/* Input and output of a sort, in the context's memory. */
struct pairs {
    uint32_t *keys_in, *values_in, *keys_out, *values_out;
};

static struct pairs pairs_new(size_t n)
{
    struct pairs p;
    uint32_t **arrays[] = {&p.keys_in, &p.values_in, &p.keys_out, &p.values_out};
    for (int i = 0; i < 4; i++) {
        void *memory;
        T_OK(gp_malloc(t_ctx(), n * 4, &memory));
        *arrays[i] = memory;
    }
    return p;
}

static void pairs_free(struct pairs *p)
{
    T_OK(gp_free(t_ctx(), p->keys_in));
    T_OK(gp_free(t_ctx(), p->values_in));
    T_OK(gp_free(t_ctx(), p->keys_out));
    T_OK(gp_free(t_ctx(), p->values_out));
}

static uint64_t count_wrong(const uint32_t *before, const uint32_t *keys, const uint32_t *positions,
                            size_t n)
{
    struct t_order order = {before, keys, positions, 4, n};
    return t_order_count_wrong(&order);
}

/* Positions that are moved, and positions that the sort makes. */
static void check_distribution(enum bench_spread spread, size_t n, const struct pairs *p)
{
    const gp_dtype dtype = spread == BENCH_UNIT ? GP_F32 : GP_U32; /* bits of what has a sign */
    t_order_fill(spread, n, p->keys_in, p->values_in);
    T_OK(gp_radix_sort_pairs(t_ctx(), dtype, p->keys_in, 4, p->values_in, n, p->keys_out,
                             p->values_out, NULL));
    ck_assert_uint_eq(count_wrong(p->keys_in, p->keys_out, p->values_out, n), 0);
    T_OK(gp_copy(t_ctx(), p->values_in, n * 4, p->values_out));
    T_OK(gp_argsort(t_ctx(), dtype, p->keys_in, n, GP_U32, p->values_out, NULL));
    ck_assert_uint_eq(count_wrong(p->keys_in, p->keys_out, p->values_out, n), 0);
}

START_TEST(test_radix_sort_pairs_are_stable)
{
    /* The last two have smaller buckets on a GPU. */
    static const size_t sizes[] = {3001, 70001, 300007, 9 << 20, (33 << 20) + 77};
    for (size_t k = 0; k < (t_is_cuda() ? 5 : 3); k++) {
        size_t n = t_at_most(sizes[k]);
        struct pairs p = pairs_new(n);
        check_distribution(spreads[_i], n, &p);
        pairs_free(&p);
    }
}
END_TEST

/* The check finds what it is there to find. */
START_TEST(test_order_check_counts_wrong_items)
{
    const size_t n = 70001;
    const uint32_t zero = 0;
    struct pairs p = pairs_new(n);
    t_order_fill(BENCH_SORTED, n, p.keys_in, p.values_in);
    ck_assert_uint_eq(count_wrong(p.keys_in, p.keys_in, p.values_in, n), 0);
    T_OK(gp_copy(t_ctx(), &zero, 4, p.keys_in + 500)); /* falls, and rises again */
    ck_assert_uint_eq(count_wrong(p.keys_in, p.keys_in, p.values_in, n), 1);
    t_order_fill(BENCH_CONSTANT, n, p.keys_in, p.values_in);
    T_OK(gp_copy(t_ctx(), &zero, 4, p.values_in + 500)); /* not stable, twice there */
    ck_assert_uint_eq(count_wrong(p.keys_in, p.keys_in, p.values_in, n), 1);
    T_OK(gp_copy(t_ctx(), p.values_in + 501, 4, p.values_in + 500)); /* twice, side by side */
    ck_assert_uint_eq(count_wrong(p.keys_in, p.keys_in, p.values_in, n), 1);
    T_OK(gp_copy(t_ctx(), &zero, 4, p.keys_in + n - 1)); /* falls, and all others are of a key */
    ck_assert_uint_ge(count_wrong(p.keys_in, p.keys_in, p.values_in, n), 2);
    pairs_free(&p);
}
END_TEST

START_TEST(test_radix_sort_large_pairs_are_stable)
{
    const uint64_t wanted = 1000000000;
    const size_t n = ((size_t)9 << 22) + 4711; /* times 29 is enough */
    struct pairs p = pairs_new(n);
    uint64_t items = 0;
    for (size_t d = 0; d < SPREADS; d++, items += n)
        check_distribution(spreads[d], n, &p);
    pairs_free(&p);
    printf("%" PRIu64 " items sorted stably as pairs, and as many as indices\n", items);
    ck_assert_uint_ge(items, wanted);
}
END_TEST

/* Keys sorted alone, and as indices of 64 bits: each tells whether the other is right. */
static void check_wide(enum bench_spread spread, size_t n)
{
    void *before, *positions, *keys;
    T_OK(gp_malloc(t_ctx(), n * 4, &before));
    T_OK(gp_malloc(t_ctx(), n * 8, &positions));
    t_order_fill(spread, n, before, NULL);
    T_OK(gp_argsort(t_ctx(), GP_U32, before, n, GP_U64, positions, NULL));
    T_OK(gp_malloc(t_ctx(), n * 4, &keys));
    T_OK(gp_radix_sort(t_ctx(), GP_U32, before, n, keys, NULL));
    struct t_order order = {before, keys, positions, 8, n};
    ck_assert_uint_eq(t_order_count_wrong(&order), 0);
    T_OK(gp_copy(t_ctx(), positions, 8, (uint64_t *)positions + n - 1)); /* of the first key */
    ck_assert_uint_ge(t_order_count_wrong(&order), 1);
    T_OK(gp_free(t_ctx(), before));
    T_OK(gp_free(t_ctx(), positions));
    T_OK(gp_free(t_ctx(), keys));
}

START_TEST(test_radix_sort_wide_indices)
{
    check_wide(spreads[_i], t_at_most(70001));
}
END_TEST

/* More than 2^32 keys: takes 140 GB. */
START_TEST(test_radix_sort_past_2_32)
{
    check_wide(_i ? BENCH_ZIPF : BENCH_UNIFORM, ((size_t)1 << 32) + 4711);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("radixsort_stable");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_radix_sort_pairs_are_stable, 0, SPREADS);
    tcase_add_loop_test(c, test_radix_sort_wide_indices, 0, SPREADS);
    tcase_add_test(c, test_order_check_counts_wrong_items);
    c = t_case(s, "large");
    tcase_add_test(c, test_radix_sort_large_pairs_are_stable);
    tcase_add_loop_test(c, test_radix_sort_past_2_32, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
