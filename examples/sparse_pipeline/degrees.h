/* SPDX-License-Identifier: MIT */
/* Bins of degrees: 0, 1, 2 and 3, 4 to 7, .. */
#ifndef EXAMPLE_DEGREES_H
#define EXAMPLE_DEGREES_H

#include "job.h"

enum { DEGREE_BINS = ORACLE_DEGREE_BINS };

void degrees_edges(uint32_t edges[DEGREE_BINS + 1]);

/* counts[i] = the degrees from edges[i] to below edges[i + 1]; arrays in the context's memory. */
void degrees_count(struct job *j, const uint32_t *degree, size_t n, const uint32_t *edges,
                   uint64_t *counts);

#endif
