/* SPDX-License-Identifier: MIT */
/* Histograms of every size, alignment and distribution, and by CUB. */
#include "histogram_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes and shapes of input ---- */

/* A longer prefix each time, so the oracle takes each item once. */
START_TEST(test_bincount_every_size_to_two_tiles)
{
    enum { BINS = 61, N = 2 * 16384 + 1 };
    uint64_t state = t_seed();
    uint32_t *in = t_host(N * 4), expected[BINS] = {0}, actual[BINS];
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    t_fill_small(GP_U32, in, N, BINS + 2, &state);
    t_array d_in = t_new_from(in, N * 4, 4), d_counts = t_new(sizeof actual, 0),
            d_outside = t_new(8, 0);
    uint64_t outside = 0;
    o.outside = d_outside.data;
    for (size_t n = 0, known = 0; n <= N; n += t_step(1)) {
        for (; known < n; known++)
            if (in[known] < BINS)
                expected[in[known]]++;
            else
                outside++;
        T_OK(gp_bincount(t_ctx(), GP_U32, d_in.data, n, BINS, GP_U32, d_counts.data, &o));
        t_get(&d_counts, actual, sizeof actual);
        if (memcmp(expected, actual, sizeof actual) != 0 || t_get_u64(&d_outside) != outside)
            ck_abort_msg("wrong counts at n = %zu, seed %llu", n, (unsigned long long)t_seed());
    }
    t_check_guards(&d_counts);
    t_free(&d_in);
    t_free(&d_counts);
    t_free(&d_outside);
    free(in);
}
END_TEST

START_TEST(test_unaligned_arrays)
{
    struct histogram_spec s = {.kind = HISTOGRAM_EVEN, .dtype = t_dtypes[_i], .bins = 37};
    const size_t item = gp_dtype_bytes(s.dtype);
    uint64_t state = t_seed();
    char in[1100 * 8];
    histogram_set_limits(&s, 2, 50);
    t_fill_small(s.dtype, in, 1100, 60, &state);
    for (size_t offset = 0; offset <= 32; offset += item)
        for (size_t n = 0; n < 1100; n = n < 40 ? n + 1 : n + 97) {
            s.n = n;
            s.in_offset = offset;
            s.out_offset = offset / item % 4;
            s.wide = n % 2 == 1;
            s.accumulate = n % 3 == 0;
            histogram_check(&s, in);
        }
}
END_TEST

/* Constant, alternating, sorted, reversed, one bank of shared memory, few values, outside; bins for
 * each way of counting. */
START_TEST(test_patterns_and_ways_of_counting)
{
    static const size_t bins[] = {1, 100, 1700, 2049, 30000, 58000, 60000, 1200000};
    enum { N = 300000 };
    struct histogram_spec s = {.kind = HISTOGRAM_WHOLE, .dtype = GP_U32, .bins = bins[_i]};
    uint64_t state = t_seed();
    uint32_t *in = t_host(N * 4);
    for (int pattern = 0; pattern < 8; pattern++) {
        const uint32_t b = (uint32_t)s.bins;
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t shapes[] = {b - 1,
                                       i % 2 ? b - 1 : b / 2,
                                       (uint32_t)((uint64_t)i * b / N),
                                       (uint32_t)((uint64_t)(N - 1 - i) * b / N),
                                       i % 97 * 32 % b,
                                       i % 3 ? i % 5 * 7 % b : b,
                                       b + i,
                                       (uint32_t)t_random_below(&state, b)};
            in[i] = shapes[pattern];
        }
        s.n = pattern % 2 ? N : N / 3 - 1;
        s.wide = pattern % 3 == 1;
        s.accumulate = pattern % 4 == 2;
        s.no_outside = pattern == 3;
        histogram_check(&s, in);
    }
    free(in);
}
END_TEST

/* More bins than caches have counters: in all of them, most in a few neighbours, few of them
 * outside or all, in order. */
START_TEST(test_more_bins_than_caches_hold_match_oracle)
{
    enum { BINS = (1 << 22) + 777, N = 1500001 };
    struct histogram_spec s = {.kind = HISTOGRAM_WHOLE,
                               .dtype = GP_U32,
                               .bins = BINS,
                               .wide = _i % 2,
                               .accumulate = _i == 2};
    uint64_t state = t_seed();
    uint32_t *in = t_host(N * 4);
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t any = (uint32_t)t_random_below(&state, BINS + 5);
        const uint32_t shapes[] = {any, i % 10 ? 70000 + any % 900 : any, BINS - 1, BINS + any,
                                   (uint32_t)((uint64_t)i * BINS / N)};
        in[i] = shapes[_i];
    }
    s.n = N;
    histogram_check(&s, in);
    free(in);
}
END_TEST

START_TEST(test_cub_matches_oracle_or_is_refused)
{
    static const gp_dtype dtypes[] = {GP_I32, GP_U8, GP_F32};
    enum { N = 50000 };
    struct histogram_spec s = {
        .dtype = dtypes[_i], .n = N, .algorithm = GP_ALGORITHM_CUB, .no_outside = true};
    uint64_t state = t_seed();
    uint32_t *in = t_host(N * 4), counts[1024];
    t_fill_small(s.dtype, in, N, 250, &state);
    histogram_set_limits(&s, 8, 136);
    for (s.bins = 64; s.bins <= 1024; s.bins *= 4) {
        if (t_has_cub())
            histogram_check(&s, in);
        else if (!t_is_cuda())
            T_STATUS(GP_ERROR_UNSUPPORTED, histogram_call(&s, in, NULL, counts, NULL));
        if (t_has_cub() && !t_is_float(s.dtype)) {
            s.kind = HISTOGRAM_WHOLE;
            histogram_check(&s, in);
            s.kind = HISTOGRAM_EVEN;
        }
    }
    free(in);
}
END_TEST

struct cub_limits {
    float lo, hi;
    int bins;
};
enum { CUB_N = 12288 };

static struct histogram_spec cub_spec(const struct cub_limits *l)
{
    struct histogram_spec s = {.dtype = GP_F32,
                               .n = CUB_N,
                               .bins = (size_t)l->bins,
                               .algorithm = GP_ALGORITHM_CUB,
                               .no_outside = true};
    memcpy(s.lo, &l->lo, sizeof l->lo);
    memcpy(s.hi, &l->hi, sizeof l->hi);
    return s;
}

/* CUB would write past its tables, and the context be lost. */
START_TEST(test_cub_is_refused_limits_that_lead_past_the_bins)
{
    static const struct cub_limits wrong[] = {
        {0, 1.4e-43f, 233},  {0, 1e-45f, 1}, {0, 1e-38f, 1000}, {-1e-44f, 1e-44f, 7},
        {-3e38f, 3e38f, 10}, {-1, 1, 64},    {-3, 3, 257},      {0, 100, 4099}};
    const int32_t least = INT32_MIN, most = INT32_MAX;
    float *in = t_host(CUB_N * sizeof *in);
    t_array in_d = t_new(CUB_N * sizeof *in, 0), counts = t_new(5000 * 4, 0);
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    o.algorithm = GP_ALGORITHM_CUB;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        struct histogram_spec s = cub_spec(&wrong[k]);
        const float below_hi = nextafterf(wrong[k].hi, wrong[k].lo);
        for (int i = 0; i < CUB_N; i++)
            in[i] = i % 2 ? wrong[k].lo : below_hi;
        t_put(&in_d, in, CUB_N * sizeof *in);
        T_STATUS(GP_ERROR_UNSUPPORTED, histogram_call(&s, in_d.data, NULL, counts.data, NULL));
    }
    T_STATUS(GP_ERROR_UNSUPPORTED, gp_histogram_even(t_ctx(), GP_I32, in_d.data, CUB_N, &least,
                                                     &most, 1, GP_U32, counts.data, &o));
    t_check_untouched(&counts);
    t_free(&in_d);
    t_free(&counts);
    free(in);
}
END_TEST

/* Values in the middle of bins, as CUB rounds at their edges. */
START_TEST(test_cub_takes_other_limits)
{
    static const struct cub_limits right[] = {
        {0, 1, 233}, {0, 100, 1000}, {0, 1.5e38f, 7}, {0, 1e-30f, 100}, {1, 3, 5}};
    struct histogram_spec s = cub_spec(&right[_i]);
    const float width = right[_i].hi - right[_i].lo, bins = (float)right[_i].bins;
    float *in = t_host(CUB_N * sizeof *in);
    for (int i = 0; i < CUB_N; i++)
        in[i] = right[_i].lo + width * (((float)(i % right[_i].bins) + 0.5f) / bins);
    histogram_check(&s, in);
    free(in);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("histogram_shapes");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_cub_matches_oracle_or_is_refused, 0, 3);
    tcase_add_test(c, test_cub_is_refused_limits_that_lead_past_the_bins);
    c = t_case(s, "cub_cuda");
    tcase_add_loop_test(c, test_cub_takes_other_limits, 0, 5);
    c = t_case(s, "sizes");
    tcase_add_test(c, test_bincount_every_size_to_two_tiles);
    tcase_add_loop_test(c, test_unaligned_arrays, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_patterns_and_ways_of_counting, 0, 8);
    tcase_add_loop_test(c, test_more_bins_than_caches_hold_match_oracle, 0, 5);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
