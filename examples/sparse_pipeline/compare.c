/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool report_difference(struct job *j, const char *what, size_t i, size_t n)
{
    if (i == n)
        return true;
    job_note(j, "", "%s: item %zu of %zu differs from the oracle's", what, i, n);
    j->different = true;
    return false;
}

bool check_words(struct job *j, const char *what, const uint32_t *got, const uint32_t *expected,
                 size_t n)
{
    uint32_t *items = job_host_array(j, n, sizeof *items);
    size_t i = n;
    job_fetch(j, got, n * sizeof *items, items);
    if (memcmp(items, expected, n * sizeof *items) != 0)
        for (i = 0; items[i] == expected[i];)
            i++;
    free(items);
    return report_difference(j, what, i, n);
}

static bool same_value(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

bool check_values(struct job *j, const char *what, const double *got, const double *expected,
                  size_t n)
{
    double *items = job_host_array(j, n, sizeof *items);
    size_t i = n;
    job_fetch(j, got, n * sizeof *items, items);
    if (memcmp(items, expected, n * sizeof *items) != 0)
        for (i = 0; i < n && same_value(items[i], expected[i]);)
            i++;
    free(items);
    return report_difference(j, what, i, n);
}
