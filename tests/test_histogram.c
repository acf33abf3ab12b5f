/* SPDX-License-Identifier: MIT */
/* Histograms against a loop that finds every value's bin by the definition in gp/histogram.h. */
#include <gp/histogram.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gp_test.h"

enum kind { EVEN, EDGES, WHOLE };

/* One call. Limits and edges are on the host; limits of f16 and bf16 are floats. */
struct spec {
    enum kind kind;
    gp_dtype dtype;
    size_t n, bins;
    unsigned char lo[8], hi[8];
    const void *edges;
    bool wide;         /* u64 counters */
    int accumulate;    /* onto a pattern that wraps */
    size_t in_offset;  /* bytes past an aligned address */
    size_t out_offset; /* the same, in counters */
    gp_algorithm algorithm;
    bool no_outside;
};

/* ---- the oracle ---- */

__extension__ typedef __int128 i128;

static i128 integer_at(gp_dtype dtype, const void *a, size_t i)
{
    if (dtype == GP_I64)
        return ((const int64_t *)a)[i];
    if (dtype == GP_U64)
        return ((const uint64_t *)a)[i];
    return (i128)t_value(dtype, a, i);
}

static double limit(gp_dtype dtype, const void *value)
{
    return t_value(dtype == GP_F16 || dtype == GP_BF16 ? GP_F32 : dtype, value, 0);
}

static bool less(gp_dtype dtype, const void *a, size_t i, const void *b, size_t j)
{
    if (t_is_float(dtype))
        return t_value(dtype, a, i) < t_value(dtype, b, j);
    return integer_at(dtype, a, i) < integer_at(dtype, b, j);
}

/* The bin of in[i], or s->bins. */
static size_t bin_of(const struct spec *s, const void *in, size_t i)
{
    if (s->kind == EDGES) {
        for (size_t b = 0; b < s->bins; b++)
            if (less(s->dtype, in, i, s->edges, b + 1))
                return less(s->dtype, in, i, s->edges, b) || isnan(t_value(s->dtype, in, i))
                           ? s->bins
                           : b;
        return s->bins;
    }
    if (t_is_float(s->dtype)) {
        double lo = limit(s->dtype, s->lo), hi = limit(s->dtype, s->hi);
        double x = t_value(s->dtype, in, i), scale = (double)s->bins / (hi - lo);
        if (!(x >= lo && x < hi))
            return s->bins;
        double t = floor((x - lo) * scale);
        return t < (double)s->bins ? (size_t)t : s->bins - 1;
    }
    i128 x = integer_at(s->dtype, in, i);
    i128 lo = s->kind == WHOLE ? 0 : integer_at(s->dtype, s->lo, 0);
    i128 hi = s->kind == WHOLE ? (i128)s->bins : integer_at(s->dtype, s->hi, 0);
    return x < lo || x >= hi ? s->bins : (size_t)((x - lo) * (i128)s->bins / (hi - lo));
}

static void count_add(const struct spec *s, void *counts, size_t bin, uint64_t more)
{
    if (s->wide)
        ((uint64_t *)counts)[bin] += more;
    else
        ((uint32_t *)counts)[bin] += (uint32_t)more;
}

/* ---- one checked call ---- */

static gp_status call(const struct spec *s, const void *in, const void *edges, void *counts,
                      uint64_t *outside)
{
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    gp_dtype counter = s->wide ? GP_U64 : GP_U32;
    o.algorithm = s->algorithm;
    o.accumulate = s->accumulate;
    o.outside = outside;
    if (s->kind == EVEN)
        return gp_histogram_even(t_ctx(), s->dtype, in, s->n, s->lo, s->hi, s->bins, counter,
                                 counts, &o);
    if (s->kind == EDGES)
        return gp_histogram_edges(t_ctx(), s->dtype, in, s->n, edges, s->bins, counter, counts, &o);
    return gp_bincount(t_ctx(), s->dtype, in, s->n, s->bins, counter, counts, &o);
}

static void check(const struct spec *s, const void *in)
{
    const size_t item = gp_dtype_bytes(s->dtype), counter = s->wide ? 8 : 4;
    t_array d_in = t_new_from(in, s->n * item, s->in_offset);
    t_array d_counts = t_new(s->bins * counter, s->out_offset * counter);
    t_array d_outside = t_new(8, 0);
    t_array d_edges = t_new_from(s->edges, s->kind == EDGES ? (s->bins + 1) * item : 0, 0);
    char *expected = t_host(s->bins * counter), *actual = t_host(s->bins * counter);
    uint64_t outside = s->accumulate ? 7 : 0, got = 0;
    memset(expected, s->accumulate ? 0xff : 0, s->bins * counter);
    if (s->accumulate) {
        t_put(&d_counts, expected, s->bins * counter);
        t_put(&d_outside, &outside, 8);
    }
    for (size_t i = 0; i < s->n; i++) {
        size_t b = bin_of(s, in, i);
        if (b < s->bins)
            count_add(s, expected, b, 1);
        else
            outside++;
    }
    T_OK(call(s, d_in.data, d_edges.data, d_counts.data, s->no_outside ? NULL : d_outside.data));
    t_get(&d_counts, actual, s->bins * counter);
    t_same("counts", s->wide ? GP_U64 : GP_U32, expected, actual, s->bins);
    if (!s->no_outside) {
        got = t_get_u64(&d_outside);
        t_same("outside", GP_U64, &outside, &got, 1);
    }
    t_check_guards(&d_in);
    t_check_guards(&d_counts);
    t_check_guards(&d_outside);
    t_check_guards(&d_edges);
    free(expected);
    free(actual);
    t_free(&d_in);
    t_free(&d_counts);
    t_free(&d_outside);
    t_free(&d_edges);
}

static void set_limits(struct spec *s, double lo, double hi)
{
    gp_dtype d = s->dtype == GP_F16 || s->dtype == GP_BF16 ? GP_F32 : s->dtype;
    t_set(d, s->lo, 0, lo);
    t_set(d, s->hi, 0, hi);
}

static int order_with(gp_dtype dtype, const void *a, const void *b)
{
    return less(dtype, b, 0, a, 0) - less(dtype, a, 0, b, 0);
}

static void sort_values(gp_dtype dtype, void *values, size_t n)
{
    size_t item = gp_dtype_bytes(dtype);
    char *v = values, hold[8];
    for (size_t i = 1; i < n; i++) {
        size_t j = i;
        memcpy(hold, v + i * item, item);
        for (; j > 0 && order_with(dtype, v + (j - 1) * item, hold) > 0; j--)
            memcpy(v + j * item, v + (j - 1) * item, item);
        memcpy(v + j * item, hold, item);
    }
}

/* ---- values ---- */

/* For each dtype: small numbers, sizes around powers of two, bins from one to more than shared
 * memory holds. */
START_TEST(test_even_sizes_match_oracle)
{
    static const size_t bins[] = {1, 2, 7, 64, 256, 1000, 4099, 70001};
    struct spec s = {.kind = EVEN, .dtype = t_dtypes[_i]};
    uint64_t state = t_seed() + (uint64_t)_i;
    void *in = t_host(((size_t)1 << 18) * 8);
    for (size_t i = 0; i < T_SIZE_SMALL_COUNT; i++) {
        s.n = t_sizes[i];
        s.bins = bins[i % 8];
        s.wide = i % 3 == 0;
        s.accumulate = i % 5 == 1;
        set_limits(&s, 3, 90);
        t_fill_small(s.dtype, in, s.n, 100, &state);
        check(&s, in);
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

/* Random limits, and values on and next to the first value of random bins, where rounding would
 * show. */
START_TEST(test_even_integers_at_bin_edges_are_exact)
{
    enum { N = 600, ROUNDS = 60 };
    struct spec s = {.kind = EVEN, .dtype = t_dtypes[_i], .n = N};
    const size_t item = gp_dtype_bytes(s.dtype);
    uint64_t state = t_seed() + (uint64_t)_i;
    char in[N * 8], pair[16];
    for (int round = 0; round < ROUNDS; round++) {
        t_fill_random(s.dtype, pair, 2, &state);
        if (round % 4 == 1) /* the whole range of the dtype */
            memset(pair, 0, 16), memset(pair + item, 0xff, item);
        if (round % 4 == 1 && t_is_signed(s.dtype))
            pair[item - 1] = (char)0x80, pair[2 * item - 1] = 0x7f;
        sort_values(s.dtype, pair, 2);
        memcpy(s.lo, pair, item);
        memcpy(s.hi, pair + item, item);
        i128 lo = integer_at(s.dtype, s.lo, 0), range = integer_at(s.dtype, s.hi, 0) - lo;
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
        check(&s, in);
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
    struct spec s = {.kind = EVEN, .dtype = t_dtypes[_i], .n = N};
    uint64_t state = t_seed();
    double in[N];
    for (size_t round = 0; round < 20; round++) {
        double lo = limits[round % 5][0], hi = limits[round % 5][1];
        s.bins = 1 + t_random_below(&state, 700);
        set_limits(&s, lo, hi);
        for (size_t i = 0; i < N; i++) {
            double edge =
                lo + (hi - lo) * (double)t_random_below(&state, s.bins + 1) / (double)s.bins;
            if (i % 3 == 1)
                edge = nextafter(edge, -INFINITY);
            t_set(s.dtype, in, i, i < SPECIALS ? special[i] : edge);
        }
        check(&s, in);
        t_fill_bits(s.dtype, in, N, &state);
        check(&s, in);
    }
}
END_TEST

/* Every value of a 16-bit float, with bins as fine as its subnormals. */
START_TEST(test_even_every_half)
{
    static uint16_t in[65536];
    struct spec s = {.kind = EVEN, .dtype = _i ? GP_BF16 : GP_F16, .n = 65536, .bins = 4096};
    for (uint32_t i = 0; i < 65536; i++)
        in[i] = (uint16_t)i;
    set_limits(&s, _i ? -0x1p-124 : -0x1p-13, _i ? 0x1p-124 : 0x1p-13);
    check(&s, in);
    set_limits(&s, -65504, 65504);
    check(&s, in);
}
END_TEST

/* Random edges, some of them equal; values anywhere, on edges, NaN. */
START_TEST(test_edges_match_oracle)
{
    static const size_t bins[] = {1, 2, 3, 31, 32, 33, 255, 256, 700};
    enum { N = 1500 };
    struct spec s = {.kind = EDGES, .dtype = t_dtypes[_i], .n = N};
    const size_t item = gp_dtype_bytes(s.dtype);
    uint64_t state = t_seed() + (uint64_t)_i;
    char *edges = t_host(701 * 8), *in = t_host(N * 8);
    for (size_t round = 0; round < 9; round++) {
        s.bins = bins[round];
        s.wide = round % 2 == 1;
        t_fill_random(s.dtype, edges, s.bins + 1, &state);
        if (round > 4)
            t_fill_small(s.dtype, edges, s.bins / 3, 9, &state);
        sort_values(s.dtype, edges, s.bins + 1);
        t_fill_bits(s.dtype, in, N, &state);
        t_fill_random(s.dtype, in, N / 2, &state);
        for (size_t i = 0; i < N; i += 3)
            memcpy(in + i * item, edges + t_random_below(&state, s.bins + 1) * item, item);
        s.edges = edges;
        check(&s, in);
    }
    free(edges);
    free(in);
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
    struct spec s = {.kind = WHOLE, .dtype = t_dtypes[_i], .n = N};
    uint64_t state = t_seed() + (uint64_t)_i;
    char in[N * 8];
    if (t_is_float(s.dtype))
        return;
    for (size_t k = 0; k < 10; k++) {
        s.bins = bins[k];
        s.wide = k % 2 == 0;
        t_fill_random(s.dtype, in, N, &state); /* negative and huge values too */
        t_fill_small(s.dtype, in, N / 2, s.bins < 120 ? s.bins + 3 : 120, &state);
        check(&s, in);
    }
}
END_TEST

/* ---- sizes and shapes of input ---- */

/* A prefix one longer each time, so the oracle takes one step per size. */
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
    for (size_t n = 0; n <= N; n++) {
        T_OK(gp_bincount(t_ctx(), GP_U32, d_in.data, n, BINS, GP_U32, d_counts.data, &o));
        t_get(&d_counts, actual, sizeof actual);
        if (memcmp(expected, actual, sizeof actual) != 0 || t_get_u64(&d_outside) != outside)
            ck_abort_msg("wrong counts at n = %zu, seed %llu", n, (unsigned long long)t_seed());
        if (n < N && in[n] < BINS)
            expected[in[n]]++;
        else
            outside++;
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
    struct spec s = {.kind = EVEN, .dtype = t_dtypes[_i], .bins = 37};
    const size_t item = gp_dtype_bytes(s.dtype);
    uint64_t state = t_seed();
    char in[1100 * 8];
    set_limits(&s, 2, 50);
    t_fill_small(s.dtype, in, 1100, 60, &state);
    for (size_t offset = 0; offset <= 32; offset += item)
        for (size_t n = 0; n < 1100; n = n < 40 ? n + 1 : n + 97) {
            s.n = n;
            s.in_offset = offset;
            s.out_offset = offset / item % 4;
            s.wide = n % 2 == 1;
            s.accumulate = n % 3 == 0;
            check(&s, in);
        }
}
END_TEST

/* Constant, alternating, sorted, reversed, one bank of shared memory, few values, outside; bins for
 * each way of counting. */
START_TEST(test_patterns_and_ways_of_counting)
{
    static const size_t bins[] = {1, 100, 1700, 2049, 30000, 58000, 60000, 1200000};
    enum { N = 300000 };
    struct spec s = {.kind = WHOLE, .dtype = GP_U32, .bins = bins[_i]};
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
        check(&s, in);
    }
    free(in);
}
END_TEST

START_TEST(test_cub_matches_oracle_or_is_refused)
{
    static const gp_dtype dtypes[] = {GP_I32, GP_U8, GP_F32};
    enum { N = 50000 };
    struct spec s = {
        .dtype = dtypes[_i], .n = N, .algorithm = GP_ALGORITHM_CUB, .no_outside = true};
    uint64_t state = t_seed();
    uint32_t *in = t_host(N * 4), counts[1024];
    t_fill_small(s.dtype, in, N, 250, &state);
    set_limits(&s, 8, 136);
    for (s.bins = 64; s.bins <= 1024; s.bins *= 4) {
        if (t_is_cuda())
            check(&s, in);
        else
            T_STATUS(GP_ERROR_UNSUPPORTED, call(&s, in, NULL, counts, NULL));
        if (t_is_cuda() && !t_is_float(s.dtype)) {
            s.kind = WHOLE;
            check(&s, in);
            s.kind = EVEN;
        }
    }
    free(in);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("histogram");
    TCase *values = t_case(s, "values"), *sizes = t_case(s, "sizes");
    tcase_add_loop_test(values, test_even_sizes_match_oracle, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(values, test_even_integers_at_bin_edges_are_exact, 0, 8);
    tcase_add_loop_test(values, test_even_floats_at_bin_edges_and_specials, 8, T_DTYPE_COUNT);
    tcase_add_loop_test(values, test_even_every_half, 0, 2);
    tcase_add_loop_test(values, test_edges_match_oracle, 0, T_DTYPE_COUNT);
    tcase_add_test(values, test_edges_many_bins_match_closed_form);
    tcase_add_loop_test(values, test_bincount_matches_oracle, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(values, test_cub_matches_oracle_or_is_refused, 0, 3);
    tcase_add_test(sizes, test_bincount_every_size_to_two_tiles);
    tcase_add_loop_test(sizes, test_unaligned_arrays, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(sizes, test_patterns_and_ways_of_counting, 0, 8);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
