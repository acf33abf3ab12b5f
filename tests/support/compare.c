/* SPDX-License-Identifier: MIT */
/* Comparisons of arrays: one assertion each, and a text that says enough to start looking. */
#include "gp_test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NEIGHBOURS = 2, TEXT = 2048 };

static void element_text(gp_dtype dtype, const void *array, size_t i, char *text, size_t bytes)
{
    if (dtype == GP_I64)
        snprintf(text, bytes, "%" PRId64, ((const int64_t *)array)[i]);
    else if (dtype == GP_U64)
        snprintf(text, bytes, "%" PRIu64, ((const uint64_t *)array)[i]);
    else
        snprintf(text, bytes, "%.17g", t_value(dtype, array, i));
}

static bool elements_same(gp_dtype dtype, const void *a, const void *b, size_t i)
{
    size_t bytes = gp_dtype_bytes(dtype);
    if (memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, bytes) == 0)
        return true;
    if (!t_is_float(dtype))
        return false;
    double x = t_value(dtype, a, i), y = t_value(dtype, b, i);
    return x == y || (isnan(x) && isnan(y));
}

struct difference {
    size_t first, count, n;
};

/* Fail with the first difference, its neighbours, and how many there are. expected_f64: expected
 * holds doubles whatever the dtype. */
static void report(const char *file, int line, const char *name, gp_dtype dtype, bool expected_f64,
                   const void *expected, const void *actual, struct difference d)
{
    char text[TEXT], e[64], a[64];
    size_t used = 0, begin = d.first < NEIGHBOURS ? 0 : d.first - NEIGHBOURS;
    for (size_t i = begin; i < d.n && i <= d.first + NEIGHBOURS && used < TEXT - 200; i++) {
        element_text(expected_f64 ? GP_F64 : dtype, expected, i, e, sizeof e);
        element_text(dtype, actual, i, a, sizeof a);
        used += (size_t)snprintf(text + used, TEXT - used, "\n    %s[%zu] expected %s, got %s",
                                 i == d.first ? ">" : " ", i, e, a);
    }
    ck_abort_msg("%s:%d: %s (%s): %zu of %zu elements differ, the first at %zu; seed %" PRIu64 "%s",
                 file, line, name, gp_dtype_string(dtype), d.count, d.n, d.first, t_seed(), text);
}

void t_same_at(const char *file, int line, const char *name, gp_dtype dtype, const void *expected,
               const void *actual, size_t n)
{
    struct difference d = {0, 0, n};
    t_held(file, line);
    if (n == 0 || memcmp(expected, actual, n * gp_dtype_bytes(dtype)) == 0)
        return;
    for (size_t i = n; i-- > 0;)
        if (!elements_same(dtype, expected, actual, i)) {
            d.first = i;
            d.count++;
        }
    if (d.count)
        report(file, line, name, dtype, false, expected, actual, d);
}

static bool near(double expected, double magnitude, double actual, double rel)
{
    if (isnan(expected) || isnan(actual))
        return isnan(expected) && isnan(actual);
    if (isinf(expected) || isinf(actual))
        return expected == actual;
    return fabs(actual - expected) <= rel * fabs(magnitude) + 1e-30;
}

void t_close_to_at(const char *file, int line, const char *name, gp_dtype dtype,
                   const double *expected, const double *magnitude, const void *actual, size_t n,
                   double rel)
{
    struct difference d = {0, 0, n};
    for (size_t i = n; i-- > 0;)
        if (!near(expected[i], magnitude[i], t_value(dtype, actual, i), rel)) {
            d.first = i;
            d.count++;
        }
    t_held(file, line);
    if (d.count)
        report(file, line, name, dtype, true, expected, actual, d);
}

void t_close_at(const char *file, int line, const char *name, gp_dtype dtype, const void *expected,
                const void *actual, size_t n, double rel)
{
    struct difference d = {0, 0, n};
    for (size_t i = n; i-- > 0;) {
        double e = t_value(dtype, expected, i);
        if (!near(e, e, t_value(dtype, actual, i), rel)) {
            d.first = i;
            d.count++;
        }
    }
    t_held(file, line);
    if (d.count)
        report(file, line, name, dtype, false, expected, actual, d);
}
