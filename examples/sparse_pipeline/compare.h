/* SPDX-License-Identifier: MIT */
/* Comparisons of arrays in the context's memory with those of an oracle. */
#ifndef EXAMPLE_COMPARE_H
#define EXAMPLE_COMPARE_H

#include "job.h"

/* Bit for bit; but one NaN is as good as another, for processors make different ones. A difference
 * is printed, and makes the job a failure. */
bool check_words(struct job *j, const char *what, const uint32_t *got, const uint32_t *expected,
                 size_t n);
bool check_values(struct job *j, const char *what, const double *got, const double *expected,
                  size_t n);

#endif
