/* SPDX-License-Identifier: MIT */
/* Histograms of even bins, edges and small integers against a serial loop: values. */
#include "histogram_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* For each dtype: small numbers, sizes around powers of two, bins from one to more than shared
 * memory holds. */
START_TEST(test_even_sizes_match_oracle)
{
    static const size_t bins[] = {1, 2, 7, 64, 256, 1000, 4099, 70001};
    struct histogram_spec s = {.kind = HISTOGRAM_EVEN, .dtype = t_dtypes[_i]};
    uint64_t state = t_seed() + (uint64_t)_i;
    void *in = t_host(((size_t)1 << 18) * 8);
    for (size_t i = 0; i < T_SIZE_SMALL_COUNT; i++) {
        s.n = t_sizes[i];
        s.bins = bins[i % 8];
        s.wide = i % 3 == 0;
        s.accumulate = i % 5 == 1;
        histogram_set_limits(&s, 3, 90);
        t_fill_small(s.dtype, in, s.n, 100, &state);
        histogram_check(&s, in);
    }
    free(in);
}
END_TEST

/* The distance d with d * bins = rest modulo range: it lies as close to a bin's edge as rest is to
 * 0 or to range. 0 if there is none. */
static i128 distance_with_rest(i128 range, i128 bins, i128 rest)
{
    i128 a = range, b = bins % range, before = 0, inverse = 1;
    while (b > 1) { /* Euclid */
        i128 quotient = a / b, next = before - quotient * inverse;
        i128 left = a - quotient * b;
        before = inverse, inverse = next;
        a = b, b = left;
    }
    i128 d = b == 1 ? inverse * rest % range : 0;
    return d < 0 ? d + range : d;
}

/* Random limits, and values on and next to the first value of random bins,
 * where rounding would show. */
START_TEST(test_even_integers_at_bin_edges_are_exact)
{
    enum { N = 600, ROUNDS = 60 };
    struct histogram_spec s = {.kind = HISTOGRAM_EVEN, .dtype = t_dtypes[_i], .n = N};
    const size_t item = gp_dtype_bytes(s.dtype);
    uint64_t state = t_seed() + (uint64_t)_i;
    char in[N * 8], pair[16];
    for (int round = 0; round < ROUNDS; round++) {
        t_fill_random(s.dtype, pair, 2, &state);
        if (round % 4 == 1) /* the whole range of the dtype */
            memset(pair, 0, 16), memset(pair + item, 0xff, item);
        if (round % 4 == 1 && t_is_signed(s.dtype))
            pair[item - 1] = (char)0x80, pair[2 * item - 1] = 0x7f;
        histogram_sort(s.dtype, pair, 2);
        memcpy(s.lo, pair, item);
        memcpy(s.hi, pair + item, item);
        if (round % 5 == 4) { /* a narrow range: one short product is enough */
            uint64_t hi = (uint64_t)histogram_integer(s.dtype, s.lo, 0) + 1 +
                          t_random_below(&state, (uint64_t)1 << (item == 1 ? 5 : 5 + round % 18));
            memcpy(s.hi, &hi, item); /* little-endian */
            if (histogram_integer(s.dtype, s.hi, 0) <= histogram_integer(s.dtype, s.lo, 0))
                continue;
        }
        i128 lo = histogram_integer(s.dtype, s.lo, 0),
             range = histogram_integer(s.dtype, s.hi, 0) - lo;
        if (range == 0)
            continue;
        s.bins = 1 + t_random_below(&state, round % 3 ? 3000 : 40);
        if (round % 20 == 10) /* past what doubles are exact for */
            s.bins = ((size_t)1 << 19) + t_random_below(&state, 500000);
        if (round == 50 && item == 4)
            s.bins = ((size_t)1 << 22) + t_random_below(&state, 500000);
        for (size_t i = 0; i < N; i++) {
            i128 bin = (i128)t_random_below(&state, s.bins);
            i128 first = (bin * range + (i128)s.bins - 1) / (i128)s.bins;
            i128 d = first - (i128)(i % 2);
            if (i < 16)
                d = distance_with_rest(range, (i128)s.bins, (i128)i - 8);
            uint64_t x = (uint64_t)(lo + d); /* little-endian */
            memcpy(in + i * item, &x, item);
        }
        histogram_check(&s, in);
    }
}
END_TEST

START_TEST(test_even_floats_at_bin_edges_and_specials)
{
    static const double special[] = {0.0,      -0.0,    INFINITY, -INFINITY, NAN,
                                     -NAN,     5e-324,  -5e-324,  1e-40,     65504,
                                     -65504.0, 1.7e308, -1.7e308, 0.5,       1};
    static const double limits[][2] = {{0, 1}, {-1, 1}, {-0.0, 0.3}, {-1e4, 6e4}, {0.1, 0.7}};
    enum { N = 2000, SPECIALS = sizeof special / sizeof special[0] };
    struct histogram_spec s = {.kind = HISTOGRAM_EVEN, .dtype = t_dtypes[_i], .n = N};
    uint64_t state = t_seed();
    double in[N];
    for (size_t round = 0; round < 20; round++) {
        double lo = limits[round % 5][0], hi = limits[round % 5][1];
        s.bins = 1 + t_random_below(&state, 700);
        histogram_set_limits(&s, lo, hi);
        for (size_t i = 0; i < N; i++) {
            double edge =
                lo + (hi - lo) * (double)t_random_below(&state, s.bins + 1) / (double)s.bins;
            if (i % 3 == 1)
                edge = nextafter(edge, -INFINITY);
            t_set(s.dtype, in, i, i < SPECIALS ? special[i] : edge);
        }
        histogram_check(&s, in);
        t_fill_bits(s.dtype, in, N, &state);
        histogram_check(&s, in);
    }
}
END_TEST

/* Every value of a 16-bit float, with bins as fine as its subnormals. */
START_TEST(test_even_every_half)
{
    static uint16_t in[65536];
    struct histogram_spec s = {
        .kind = HISTOGRAM_EVEN, .dtype = _i ? GP_BF16 : GP_F16, .n = 65536, .bins = 4096};
    for (uint32_t i = 0; i < 65536; i++)
        in[i] = (uint16_t)i;
    histogram_set_limits(&s, _i ? -0x1p-124 : -0x1p-13, _i ? 0x1p-124 : 0x1p-13);
    histogram_check(&s, in);
    histogram_set_limits(&s, -65504, 65504);
    histogram_check(&s, in);
}
END_TEST

/* Random edges, some of them equal; values anywhere, on edges, NaN. */
START_TEST(test_edges_match_oracle)
{
    static const size_t bins[] = {1, 2, 3, 31, 32, 33, 255, 256, 700};
    enum { N = 1500 };
    struct histogram_spec s = {.kind = HISTOGRAM_EDGES, .dtype = t_dtypes[_i], .n = N};
    const size_t item = gp_dtype_bytes(s.dtype);
    uint64_t state = t_seed() + (uint64_t)_i;
    char *edges = t_host(701 * 8), *in = t_host(N * 8);
    for (size_t round = 0; round < 9; round++) {
        s.bins = bins[round];
        s.wide = round % 2 == 1;
        t_fill_random(s.dtype, edges, s.bins + 1, &state);
        if (round > 4)
            t_fill_small(s.dtype, edges, s.bins / 3, 9, &state);
        histogram_sort(s.dtype, edges, s.bins + 1);
        t_fill_bits(s.dtype, in, N, &state);
        t_fill_random(s.dtype, in, N / 2, &state);
        for (size_t i = 0; i < N; i += 3)
            memcpy(in + i * item, edges + t_random_below(&state, s.bins + 1) * item, item);
        s.edges = edges;
        histogram_check(&s, in);
    }
    free(edges);
    free(in);
}
END_TEST

/* Edges spread in ways that one table of cells does not suit: evenly, by their logarithm on one or
 * both sides of zero, in two clusters, most of them equal. */
static double spread_edge(int spread, double at, double range)
{
    const double both = 2 * at - 1;
    const double edges[] = {at * range, pow(range, at), copysign(pow(range, fabs(both)) - 1, both),
                            at < 0.5 ? at * 60 : range - 60 + at * 60,
                            at < 0.8 ? 1 + floor(2 * at) : at * range};
    return edges[spread];
}

enum { SPREADS = 5 };

START_TEST(test_edges_spread_unevenly_match_oracle)
{
    static const size_t bins[] = {17, 100, 900};
    enum { N = 2500 };
    struct histogram_spec s = {.kind = HISTOGRAM_EDGES, .dtype = t_dtypes[_i / SPREADS]};
    const size_t item = gp_dtype_bytes(s.dtype);
    const double range = item == 1 ? 120 : item == 2 ? 30000 : 1e9;
    uint64_t state = t_seed() + (uint64_t)_i;
    char *edges = t_host(901 * 8), *in = t_host(N * 8);
    for (size_t round = 0; round < 3; round++) {
        s.bins = bins[round];
        s.n = round == 0 ? 150 : N;
        for (size_t i = 0; i <= s.bins; i++) {
            double edge = spread_edge(_i % SPREADS, (double)i / (double)s.bins, range);
            t_set(s.dtype, edges, i, edge < 0 && !t_is_signed(s.dtype) ? 0 : edge);
        }
        histogram_sort(s.dtype, edges, s.bins + 1);
        t_fill_bits(s.dtype, in, s.n, &state); /* infinities and NaN too */
        for (size_t i = 0; i < s.n; i++) {
            double at = (double)t_random_below(&state, 1 << 20) / (1 << 20);
            double x = spread_edge(_i % SPREADS, at, range);
            if (i % 4 == 0)
                memcpy(in + i * item, edges + t_random_below(&state, s.bins + 1) * item, item);
            else if (i % 4 < 3)
                t_set(s.dtype, in, i, x < 0 && !t_is_signed(s.dtype) ? 0 : x);
        }
        s.edges = edges;
        histogram_check(&s, in);
    }
    free(edges);
    free(in);
}
END_TEST

START_TEST(test_edges_with_infinities_and_zeros_match_oracle)
{
    enum { BINS = 40, N = 1000 };
    struct histogram_spec s = {
        .kind = HISTOGRAM_EDGES, .dtype = t_dtypes[_i], .n = N, .bins = BINS};
    uint64_t state = t_seed();
    double edges[BINS + 1], in[N];
    for (size_t i = 0; i <= BINS; i++)
        t_set(s.dtype, edges, i,
              i < 20   ? -5.0 + (double)i / 4
              : i < 25 ? (i % 2 ? -0.0 : 0.0)
                       : (double)i);
    t_set(s.dtype, edges, 0, -INFINITY);
    t_set(s.dtype, edges, BINS, INFINITY);
    t_fill_bits(s.dtype, in, N, &state);
    for (size_t i = 0; i < N; i += 2)
        t_set(s.dtype, in, i,
              i % 3   ? (double)t_random_below(&state, 90) / 2 - 6
              : i % 4 ? 0.0
                      : -0.0);
    t_set(s.dtype, in, 1, INFINITY);
    t_set(s.dtype, in, 3, -INFINITY);
    s.edges = edges;
    histogram_check(&s, in);
}
END_TEST

/* Edges close below zero, and ranks of bits with many trailing zeros at zero: -0 and +0 are equal,
 * also where a table of cells would part them. */
START_TEST(test_edges_at_zero_take_both_zeros)
{
    static const double smallest[] = {0x1p-24, 0x1p-133, 0x1p-149, 0x1p-1074};
    static const double below_two[] = {0x1.ffcp0, 0x1.fcp0, 0x1.fffffep0, 0x1.fffffffffffffp0};
    enum { BINS = 40, ZERO = 20, NEAR = 6, N = 400 };
    struct histogram_spec s = {
        .kind = HISTOGRAM_EDGES, .dtype = t_dtypes[8 + _i], .n = N, .bins = BINS};
    const size_t item = gp_dtype_bytes(s.dtype);
    double edges[BINS + 1], in[N];
    char *values = (char *)in;
    t_set(s.dtype, edges, 0, -below_two[_i]);
    for (int i = 1; i <= BINS; i++)
        t_set(s.dtype, edges, (size_t)i,
              i < ZERO - NEAR ? -ldexp(1, -i)
              : i <= ZERO     ? (i - ZERO) * smallest[_i]
                              : ldexp(1, (i - BINS) / 2 + 1));
    for (size_t i = 0; i < N; i++) {
        memcpy(values + i * item, (char *)edges + i % (BINS + 1) * item, item);
        if (i % 3 == 0)
            t_set(s.dtype, in, i, i % 2 ? -0.0 : 0.0);
    }
    s.edges = edges;
    histogram_check(&s, in);
}
END_TEST

/* More edges than shared memory holds; every bin is hit. */
START_TEST(test_edges_many_bins_match_closed_form)
{
    enum { BINS = 60000, N = 3 * BINS };
    static const size_t some[] = {30000, 40000, BINS};
    for (size_t k = 0; k < 3; k++) {
        size_t bins = some[k];
        uint32_t *edges = t_host((BINS + 1) * 4), *in = t_host(N * 4), *expected = t_host(BINS * 4);
        for (size_t i = 0; i <= bins; i++)
            edges[i] = (uint32_t)(10 * i + 5);
        for (size_t i = 0; i < N; i++)
            in[i] = (uint32_t)(10 * (i % (bins + 1)));
        for (size_t b = 0; b < bins; b++)
            expected[b] = (uint32_t)((N - b - 2) / (bins + 1) + 1);
        t_array d_edges = t_new_from(edges, (bins + 1) * 4, 0), d_in = t_new_from(in, N * 4, 0);
        t_array d_counts = t_new(bins * 4, 0);
        T_OK(gp_histogram_edges(t_ctx(), GP_U32, d_in.data, N, d_edges.data, bins, GP_U32,
                                d_counts.data, NULL));
        t_get(&d_counts, in, bins * 4);
        t_same("counts", GP_U32, expected, in, bins);
        t_check_guards(&d_counts);
        t_free(&d_edges);
        t_free(&d_in);
        t_free(&d_counts);
        free(edges);
        free(in);
        free(expected);
    }
}
END_TEST

START_TEST(test_bincount_matches_oracle)
{
    static const size_t bins[] = {1, 2, 100, 128, 255, 256, 257, 5000, 65536, 70000};
    enum { N = 5000 };
    struct histogram_spec s = {.kind = HISTOGRAM_WHOLE, .dtype = t_dtypes[_i], .n = N};
    uint64_t state = t_seed() + (uint64_t)_i;
    char in[N * 8];
    if (t_is_float(s.dtype))
        return;
    for (size_t k = 0; k < 10; k++) {
        s.bins = bins[k];
        s.wide = k % 2 == 0;
        t_fill_random(s.dtype, in, N, &state); /* negative and huge values too */
        t_fill_small(s.dtype, in, N / 2, s.bins < 120 ? s.bins + 3 : 120, &state);
        histogram_check(&s, in);
    }
}
END_TEST

/* Bins that the dtype does not reach, with enough items for a table of its own. */
START_TEST(test_bincount_bins_beyond_dtype_stay_empty)
{
    static const gp_dtype dtypes[] = {GP_I8, GP_U8, GP_I16, GP_U16};
    enum { N = 150000 };
    struct histogram_spec s = {.kind = HISTOGRAM_WHOLE, .dtype = dtypes[_i], .n = N};
    uint64_t state = t_seed();
    char *in = t_host(N * 2);
    t_fill_bits(s.dtype, in, N, &state);
    for (s.bins = 40000; s.bins <= 70000; s.bins += 30000)
        histogram_check(&s, in);
    free(in);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("histogram");
    TCase *c = t_case(s, "values");
    tcase_add_loop_test(c, test_even_sizes_match_oracle, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_even_integers_at_bin_edges_are_exact, 0, 8);
    tcase_add_loop_test(c, test_even_floats_at_bin_edges_and_specials, 8, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_even_every_half, 0, 2);
    tcase_add_loop_test(c, test_edges_match_oracle, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_edges_spread_unevenly_match_oracle, 0, T_DTYPE_COUNT * SPREADS);
    tcase_add_loop_test(c, test_edges_with_infinities_and_zeros_match_oracle, 8, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_edges_at_zero_take_both_zeros, 0, 4);
    tcase_add_test(c, test_edges_many_bins_match_closed_form);
    tcase_add_loop_test(c, test_bincount_matches_oracle, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_bincount_bins_beyond_dtype_stay_empty, 0, 4);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
