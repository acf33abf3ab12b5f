/* SPDX-License-Identifier: MIT */
/* Histograms by a serial loop, and calls compared with it. */
#include "histogram_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the oracle ---- */

i128 histogram_integer(gp_dtype dtype, const void *a, size_t i)
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
    return histogram_integer(dtype, a, i) < histogram_integer(dtype, b, j);
}

/* The bin of in[i], or s->bins. */
static size_t bin_of(const struct histogram_spec *s, const void *in, size_t i)
{
    if (s->kind == HISTOGRAM_EDGES) {
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
    i128 x = histogram_integer(s->dtype, in, i);
    i128 lo = s->kind == HISTOGRAM_WHOLE ? 0 : histogram_integer(s->dtype, s->lo, 0);
    i128 hi = s->kind == HISTOGRAM_WHOLE ? (i128)s->bins : histogram_integer(s->dtype, s->hi, 0);
    return x < lo || x >= hi ? s->bins : (size_t)((x - lo) * (i128)s->bins / (hi - lo));
}

static void count_add(const struct histogram_spec *s, void *counts, size_t bin, uint64_t more)
{
    if (s->wide)
        ((uint64_t *)counts)[bin] += more;
    else
        ((uint32_t *)counts)[bin] += (uint32_t)more;
}

/* ---- one checked call ---- */

gp_status histogram_call(const struct histogram_spec *s, const void *in, const void *edges,
                         void *counts, uint64_t *outside)
{
    gp_histogram_options o = GP_HISTOGRAM_OPTIONS_INIT;
    gp_dtype counter = s->wide ? GP_U64 : GP_U32;
    o.algorithm = s->algorithm;
    o.accumulate = s->accumulate;
    o.outside = outside;
    if (s->kind == HISTOGRAM_EVEN)
        return gp_histogram_even(t_ctx(), s->dtype, in, s->n, s->lo, s->hi, s->bins, counter,
                                 counts, &o);
    if (s->kind == HISTOGRAM_EDGES)
        return gp_histogram_edges(t_ctx(), s->dtype, in, s->n, edges, s->bins, counter, counts, &o);
    return gp_bincount(t_ctx(), s->dtype, in, s->n, s->bins, counter, counts, &o);
}

void histogram_check(const struct histogram_spec *s, const void *in)
{
    const size_t item = gp_dtype_bytes(s->dtype), counter = s->wide ? 8 : 4;
    t_array d_in = t_new_from(in, s->n * item, s->in_offset);
    t_array d_counts = t_new(s->bins * counter, s->out_offset * counter);
    t_array d_outside = t_new(8, 0);
    t_array d_edges =
        t_new_from(s->edges, s->kind == HISTOGRAM_EDGES ? (s->bins + 1) * item : 0, 0);
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
    T_OK(histogram_call(s, d_in.data, d_edges.data, d_counts.data,
                        s->no_outside ? NULL : d_outside.data));
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

void histogram_set_limits(struct histogram_spec *s, double lo, double hi)
{
    gp_dtype d = s->dtype == GP_F16 || s->dtype == GP_BF16 ? GP_F32 : s->dtype;
    t_set(d, s->lo, 0, lo);
    t_set(d, s->hi, 0, hi);
}

static int order_with(gp_dtype dtype, const void *a, const void *b)
{
    return less(dtype, b, 0, a, 0) - less(dtype, a, 0, b, 0);
}

void histogram_sort(gp_dtype dtype, void *values, size_t n)
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
