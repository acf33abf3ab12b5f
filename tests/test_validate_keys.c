/* SPDX-License-Identifier: MIT */
/* Rules that contexts with the option validate check: bits of pairs, edges of bins, offsets of
 * segments, order of what is searched. Each is broken at the first, a middle and the last place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gp/gp.h>

#include "gp_test.h"
#include "segments.h"

static const size_t sizes[] = {1, 2, 1000, 100003};
enum { SIZES = sizeof sizes / sizeof sizes[0], PLACES = 3 };

static size_t place_of(size_t n, int place)
{
    return place == 0 ? 0 : place == 1 ? n / 2 : n - 1;
}

static void expect_data(gp_context *ctx, gp_status of_call, const char *text, const t_array *out)
{
    t_refused(ctx, of_call, text);
    t_check_untouched(out);
}

static void expect_ok(gp_context *ctx, gp_status of_call)
{
    ck_assert_msg(of_call == GP_OK && gp_context_synchronize(ctx) == GP_OK, "%s",
                  gp_last_error(ctx));
}

/* n times 3, but for the item at a place. */
static t_array numbers(gp_dtype dtype, size_t n, size_t at, uint64_t value)
{
    uint64_t *x = t_host(n * 8);
    for (size_t i = 0; i < n; i++)
        x[i] = i == at ? value : 3;
    t_array a = t_numbers_put(x, n, dtype, 0, 0);
    free(x);
    return a;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

START_TEST(test_bits_of_pairs)
{
    const gp_dtype dtype = t_index_dtypes[_i % 4];
    const size_t n = sizes[_i / 4], bytes = gp_dtype_bytes(dtype);
    gp_context *ctx = t_validating();
    t_array fine = numbers(dtype, n, n, 0), out = t_new(n * 8, 0), more = t_new(n * 8, 0);
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    char text[120];
    o.row_bits = 2;
    o.col_bits = 5;
    for (int place = 0; place < PLACES; place++) {
        const size_t at = place_of(n, place);
        t_array four = numbers(dtype, n, at, 4), minus = numbers(dtype, n, at, UINT64_MAX);
        snprintf(text, sizeof text, "gp_lexsort: rows[%zu] is 4, expected below 4", at);
        expect_data(ctx, gp_lexsort(ctx, dtype, four.data, fine.data, n, GP_U64, out.data, &o),
                    text, &out);
        snprintf(text, sizeof text, "gp_lexsort_pairs: rows_in[%zu] is 4, expected below 4", at);
        expect_data(ctx,
                    gp_lexsort_pairs(ctx, dtype, four.data, fine.data, 0, NULL, n, out.data,
                                     more.data, NULL, &o),
                    text, &out);
        if (t_is_signed(dtype)) { /* without bits too */
            snprintf(text, sizeof text, "gp_lexsort: cols[%zu] is -1, expected below %llu", at,
                     bytes == 4 ? 1ull << 31 : 1ull << 63);
            expect_data(ctx,
                        gp_lexsort(ctx, dtype, four.data, minus.data, n, GP_U64, out.data, NULL),
                        text, &out);
        }
        t_free(&four);
        t_free(&minus);
    }
    expect_ok(ctx, gp_lexsort(ctx, dtype, fine.data, fine.data, n, GP_U64, out.data, &o));
    expect_ok(ctx, gp_lexsort(ctx, dtype, fine.data, fine.data, n, GP_U64, out.data, NULL));
    gp_context_destroy(ctx);
    t_free(&fine);
    t_free(&out);
    t_free(&more);
}
END_TEST

/* ---- edges ----------------------------------------------------------------------------------- */

/* Edges 1, 2, 2, 3, 4, 5, .. below 100, and one changed. */
static t_array edges(gp_dtype dtype, size_t bins, size_t at, double value)
{
    void *x = t_host((bins + 1) * gp_dtype_bytes(dtype));
    for (size_t i = 0; i <= bins; i++)
        t_set(dtype, x, i, i == at ? value : i < 2 ? 1 + (double)i : (double)i);
    t_array a = t_new_from(x, (bins + 1) * gp_dtype_bytes(dtype), 0);
    free(x);
    return a;
}

START_TEST(test_edges_of_bins)
{
    const gp_dtype dtype = t_dtypes[_i];
    const size_t bins = 60, n = 5000;
    gp_context *ctx = t_validating();
    uint64_t state = t_seed();
    void *values = t_host(n * 8);
    t_fill_small(dtype, values, n, 60, &state);
    t_array in = t_new_from(values, n * gp_dtype_bytes(dtype), 0), counts = t_new(bins * 4, 0);
    t_array good = edges(dtype, bins, bins + 1, 0);
    for (size_t at = 1; at <= bins; at += at == 1 ? 29 : 30) {
        t_array low = edges(dtype, bins, at, 0);
        char text[120];
        snprintf(text, sizeof text, "gp_histogram_edges: edges[%zu] is 0, below the %d before it",
                 at, at == 1 ? 1 : (int)at - 1);
        expect_data(
            ctx,
            gp_histogram_edges(ctx, dtype, in.data, n, low.data, bins, GP_U32, counts.data, NULL),
            text, &counts);
        t_free(&low);
    }
    if (t_is_float(dtype)) {
        t_array nan = edges(dtype, bins, bins, NAN);
        expect_data(
            ctx,
            gp_histogram_edges(ctx, dtype, in.data, n, nan.data, bins, GP_U32, counts.data, NULL),
            "gp_histogram_edges: edges[60] is nan, expected a number", &counts);
        t_free(&nan);
    }
    expect_ok(ctx, gp_histogram_edges(ctx, dtype, in.data, n, good.data, bins, GP_U32, counts.data,
                                      NULL));
    gp_context_destroy(ctx);
    free(values);
    t_free(&in);
    t_free(&counts);
    t_free(&good);
}
END_TEST

/* ---- segments -------------------------------------------------------------------------------- */

START_TEST(test_offsets_of_segments)
{
    const gp_dtype dtype = t_index_dtypes[_i % 4];
    const size_t segments = sizes[_i / 4], n = 4 * segments;
    gp_context *ctx = t_validating();
    uint64_t *x = t_host((segments + 1) * 8);
    t_array in = t_new(n * 4, 0), out = t_new(n * 4, 0), values = t_new(n * 4, 0);
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    char what[80], text[140];
    d.in_dtype = GP_U32;
    for (size_t i = 0; i <= segments; i++)
        x[i] = 10 + 4 * i;
    for (int place = 0; place < PLACES; place++) {
        const size_t at = place_of(segments, place) + 1;
        const uint64_t kept = x[at];
        x[at] = 3;
        t_array o = t_numbers_put(x, segments + 1, dtype, 0, 0);
        x[at] = kept;
        snprintf(what, sizeof what, "offsets[%zu] is 3, below the %d before it", at,
                 (int)(10 + 4 * (at - 1)));
        snprintf(text, sizeof text, "gp_scan_segmented: %s", what);
        expect_data(ctx, gp_scan_segmented(ctx, &d, in.data, n, dtype, o.data, segments, out.data),
                    text, &out);
        snprintf(text, sizeof text, "gp_radix_sort_segmented_pairs: %s", what);
        expect_data(ctx,
                    gp_radix_sort_segmented_pairs(ctx, GP_U32, in.data, 4, values.data, n, dtype,
                                                  o.data, segments, out.data, values.data, NULL),
                    text, &out);
        t_free(&o);
    }
    t_array o = t_numbers_put(x, segments + 1, dtype, 0, 0);
    expect_ok(ctx, gp_scan_segmented(ctx, &d, in.data, n, dtype, o.data, segments, out.data));
    gp_context_destroy(ctx);
    free(x);
    t_free(&o);
    t_free(&in);
    t_free(&out);
    t_free(&values);
}
END_TEST

/* ---- sorted ---------------------------------------------------------------------------------- */

static gp_status bound(gp_context *c, bool upper, bool by, gp_dtype dtype, const t_array *sorted,
                       size_t n, const t_array *needles, size_t m, t_array *out)
{
    const gp_bound_desc d = {sizeof d, dtype, GP_U64, NULL, NULL};
    if (by)
        return (upper ? gp_upper_bound_by : gp_lower_bound_by)(c, &d, sorted->data, n,
                                                               needles->data, m, out->data);
    return (upper ? gp_upper_bound : gp_lower_bound)(c, dtype, sorted->data, n, needles->data, m,
                                                     GP_U64, out->data);
}

static const char *const bound_names[] = {"gp_lower_bound", "gp_lower_bound_by", "gp_upper_bound",
                                          "gp_upper_bound_by"};

/* One item of sorted falls, to value. */
static void spoil_sorted(gp_context *v, gp_dtype dtype, void *host, t_array *sorted, size_t n,
                         size_t i, double value, t_array *out)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    const double old = t_value(dtype, host, i), before = t_value(dtype, host, i - 1);
    char text[200];
    t_set(dtype, host, i, value);
    t_put(sorted, host, n * bytes);
    for (int k = 0; k < 4; k++) {
        snprintf(text, sizeof text, "%s: sorted[%zu] is %g, below the %g before it", bound_names[k],
                 i, value, before);
        t_poison(out);
        T_OK(gp_context_synchronize(t_ctx()));
        t_refused(v, bound(v, k / 2, k % 2, dtype, sorted, n, sorted, n, out), text);
        t_check_untouched(out);
        /* Without needles there is nothing to do. */
        ck_assert_int_eq(bound(v, k / 2, k % 2, dtype, sorted, n, sorted, 0, out), GP_OK);
        ck_assert_int_eq(gp_context_synchronize(v), GP_OK);
    }
    t_set(dtype, host, i, old);
    t_put(sorted, host, n * bytes);
    T_OK(gp_context_synchronize(t_ctx()));
}

START_TEST(test_sorted)
{
    const gp_dtype dtype = t_dtypes[_i];
    const size_t bytes = gp_dtype_bytes(dtype);
    gp_context *v = t_validating();
    for (int s = 0; s < SIZES; s++) {
        const size_t n = t_at_most(sizes[s]), places[] = {1, n / 2, n - 1};
        void *host = t_host(n * bytes), *want = t_host(n * 8), *got = t_host(n * 8);
        for (size_t i = 0; i < n; i++)
            t_set(dtype, host, i, 1 + (double)(i * 100 / n));
        t_array sorted = t_new_from(host, n * bytes, 0), out = t_new(n * 8, 0);
        for (int k = 0; k < 3; k++) {
            if (places[k] == 0 || places[k] >= n)
                continue;
            spoil_sorted(v, dtype, host, &sorted, n, places[k], 0, &out);
            if (t_is_signed(dtype) || t_is_float(dtype))
                spoil_sorted(v, dtype, host, &sorted, n, places[k], -3, &out);
        }
        T_OK(bound(t_ctx(), false, false, dtype, &sorted, n, &sorted, n, &out));
        t_get(&out, want, n * 8);
        t_poison(&out);
        T_OK(gp_context_synchronize(t_ctx()));
        ck_assert_int_eq(bound(v, false, false, dtype, &sorted, n, &sorted, n, &out), GP_OK);
        ck_assert_int_eq(gp_context_synchronize(v), GP_OK);
        t_get(&out, got, n * 8);
        t_same_bytes("validated", want, got, n * 8);
        t_free(&sorted);
        t_free(&out);
        free(host);
        free(want);
        free(got);
    }
    gp_context_destroy(v);
}
END_TEST

/* A NaN is above every number: only at the end it is in order. */
START_TEST(test_sorted_with_a_nan)
{
    const float good[] = {-INFINITY, -0.0f, 0, 5, INFINITY, NAN, NAN}, bad[] = {1, NAN, 2};
    gp_context *v = t_validating();
    t_array sorted = t_new_from(good, sizeof good, 0), out = t_new(56, 0);
    t_array spoilt = t_new_from(bad, sizeof bad, 0);
    T_OK(gp_context_synchronize(t_ctx()));
    ck_assert_int_eq(bound(v, false, false, GP_F32, &sorted, 7, &sorted, 7, &out), GP_OK);
    ck_assert_int_eq(gp_context_synchronize(v), GP_OK);
    t_poison(&out);
    T_OK(gp_context_synchronize(t_ctx()));
    t_refused(v, bound(v, true, false, GP_F32, &spoilt, 3, &spoilt, 3, &out),
              "gp_upper_bound: sorted[2] is 2, below the nan before it");
    t_check_untouched(&out);
    t_free(&sorted);
    t_free(&spoilt);
    t_free(&out);
    gp_context_destroy(v);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("validate_keys");
    TCase *c = t_case(s, "rules");
    tcase_add_loop_test(c, test_bits_of_pairs, 0, 4 * SIZES);
    tcase_add_loop_test(c, test_edges_of_bins, 0, T_DTYPE_COUNT);
    tcase_add_loop_test(c, test_offsets_of_segments, 0, 4 * SIZES);
    tcase_add_loop_test(c, test_sorted, 0, T_DTYPE_COUNT);
    tcase_add_test(c, test_sorted_with_a_nan);
    return t_main(argc, argv, s);
}
