/* SPDX-License-Identifier: MIT */
/* Histograms. */
#include <math.h>
#include <stdlib.h>

#include "fuzz.h"
#include "gp_test.h"

struct histogram {
    gp_histogram_options options;
    gp_dtype dtype, counter;
    size_t n, counted, bins, item;
    fuzz_array *in, *counts;
};

static struct histogram histogram_of(fuzz *f, unsigned dtypes)
{
    struct histogram h = {.options = GP_HISTOGRAM_OPTIONS_INIT};
    h.options.size = fuzz_struct(f, sizeof h.options);
    h.options.accumulate = (int)fuzz_below(f, 2);
    h.dtype = fuzz_dtype(f, dtypes);
    h.item = gp_dtype_bytes(h.dtype);
    h.n = h.counted = fuzz_count(f, 8);
    h.bins = fuzz_flip(f) ? 1 + fuzz_below(f, 300) : 1 + fuzz_take(f, 2);
    if (fuzz_fault(f, GP_ERROR_ARGUMENT))
        h.bins = fuzz_flip(f) ? 0 : GP_HISTOGRAM_BINS_MAX + 1;
    h.counter = fuzz_dtype(f, FUZZ_UNSIGNED);
    const size_t counter = gp_dtype_bytes(h.counter) ? gp_dtype_bytes(h.counter) : 1;
    h.in = fuzz_input(f, h.dtype, h.n);
    h.counts = fuzz_output_beside(f, fuzz_product(h.bins, counter), counter, h.in);
    h.options.outside = fuzz_output_if(f, 8, 8)->data;
    return h;
}

static void reserve_histogram(fuzz *f, const struct histogram *h)
{
    size_t bytes;
    fuzz_reserve(f,
                 gp_histogram_workspace_bytes(NULL, h->dtype, h->n, h->bins, h->counter,
                                              &h->options, &bytes),
                 &bytes);
}

/* Item i as a bin, or bins if it is in none. */
typedef size_t bin_of(const struct histogram *h, const void *rule, size_t i);

static void compare_counts(const struct histogram *h, const void *rule, bin_of *bin)
{
    uint64_t *expected = t_host((h->bins + 1) * sizeof *expected);
    for (size_t b = 0; b < h->bins; b++)
        expected[b] = h->options.accumulate ? fuzz_index(h->counter, h->counts->before, b) : 0;
    for (size_t i = 0; i < h->counted; i++)
        expected[bin(h, rule, i)]++;
    for (size_t b = 0; b < h->bins; b++)
        FUZZ_CHECK(fuzz_index(h->counter, h->counts->contents, b) ==
                       (h->counter == GP_U32 ? (uint32_t)expected[b] : expected[b]),
                   "bin %zu of %zu", b, h->bins);
    free(expected);
}

/* Integers exactly, floats in double. rule: the two limits. */
static size_t even_bin(const struct histogram *h, const void *rule, size_t i)
{
    const bool half = h->dtype == GP_F16 || h->dtype == GP_BF16;
    const gp_dtype limit = half ? GP_F32 : h->dtype;
    if (t_is_float(h->dtype)) {
        const double lo = t_value(limit, rule, 0), hi = t_value(limit, rule, 1);
        const double x = t_value(h->dtype, h->in->before, i), scale = (double)h->bins / (hi - lo);
        const double t = (x - lo) * scale;
        return !(x >= lo && x < hi) ? h->bins : t < (double)h->bins ? (size_t)t : h->bins - 1;
    }
    const char *x = h->in->before + i * h->item, *lo = rule, *hi = lo + h->item;
    if (fuzz_order(h->dtype, x, lo) < 0 || fuzz_order(h->dtype, x, hi) >= 0)
        return h->bins;
    const uint64_t from = fuzz_index(h->dtype, rule, 0), to = fuzz_index(h->dtype, rule, 1);
    const uint64_t at = fuzz_index(h->dtype, h->in->before, i) - from;
    return (size_t)(__extension__(unsigned __int128) at * h->bins / (to - from));
}

/* Both are finite and ascend, and so do their difference and the bins' scale. */
static bool good_limits(const struct histogram *h, gp_dtype limit, const void *limits)
{
    if (!t_is_float(limit))
        return fuzz_order(limit, limits, (const char *)limits + gp_dtype_bytes(limit)) < 0;
    const double lo = t_value(limit, limits, 0), hi = t_value(limit, limits, 1);
    return isfinite(lo) && isfinite(hi) && lo < hi && isfinite(hi - lo) &&
           isfinite((double)h->bins / (hi - lo));
}

static void histogram_even(fuzz *f)
{
    struct histogram h = histogram_of(f, FUZZ_ALL);
    const bool half = h.dtype == GP_F16 || h.dtype == GP_BF16;
    const gp_dtype limit = half ? GP_F32 : h.dtype;
    const size_t item = gp_dtype_bytes(limit);
    const char *limits = fuzz_host(f, item ? limit : GP_F64, 2);
    h.options.device_n = fuzz_device_n(f, &h.counted);
    reserve_histogram(f, &h);
    if (item && !good_limits(&h, limit, limits))
        f->must |= FUZZ_BIT(GP_ERROR_ARGUMENT);
    FUZZ_CALL(f, gp_histogram_even(f->ctx, h.dtype, h.in->data, h.n, limits, limits + item, h.bins,
                                   h.counter, h.counts->data, &h.options));
    compare_counts(&h, limits, even_bin);
}

static size_t edge_bin(const struct histogram *h, const void *rule, size_t i)
{
    const char *edges = rule, *x = h->in->before + i * h->item;
    size_t low = 0, high = h->bins + 1; /* edges[low - 1] <= x < edges[high] */
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (fuzz_order(h->dtype, edges + middle * h->item, x) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 || low == h->bins + 1 ? h->bins : low - 1;
}

static bool has_nan(gp_dtype dtype, const fuzz_array *a, size_t n)
{
    for (size_t i = 0;
         t_is_float(dtype) && i < n && fuzz_product(n, gp_dtype_bytes(dtype)) <= a->bytes; i++)
        if (isnan(t_value(dtype, a->contents, i)))
            return true;
    return false;
}

static void histogram_edges(fuzz *f)
{
    const struct histogram h = histogram_of(f, FUZZ_ALL);
    const size_t count = h.bins + 1;
    fuzz_array *edges = fuzz_sorted(f, h.dtype, count, GP_ASCENDING);
    const bool good = fuzz_ascends(h.dtype, edges, count, GP_ASCENDING);
    if (h.n || !h.options.accumulate) /* otherwise there is nothing to do */
        fuzz_rule(f, good && !has_nan(h.dtype, edges, count));
    reserve_histogram(f, &h);
    FUZZ_CALL(f, gp_histogram_edges(f->ctx, h.dtype, h.in->data, h.n, edges->data, h.bins,
                                    h.counter, h.counts->data, &h.options));
    compare_counts(&h, edges->before, edge_bin);
}

static size_t own_bin(const struct histogram *h, const void *rule, size_t i)
{
    const uint64_t value = fuzz_index(h->dtype, h->in->before, i);
    (void)rule;
    return value < h->bins ? value : h->bins;
}

static void bincount(fuzz *f)
{
    struct histogram h = histogram_of(f, FUZZ_INTEGERS);
    h.options.device_n = fuzz_device_n(f, &h.counted);
    reserve_histogram(f, &h);
    FUZZ_CALL(f, gp_bincount(f->ctx, h.dtype, h.in->data, h.n, h.bins, h.counter, h.counts->data,
                             &h.options));
    compare_counts(&h, NULL, own_bin);
}

fuzz_call *const fuzz_histograms[] = {histogram_even, histogram_edges, bincount, NULL};
