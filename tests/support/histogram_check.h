/* SPDX-License-Identifier: MIT */
/* What histogram tests share: the dumbest serial loop, and calls compared with it. */
#ifndef GP_TEST_HISTOGRAM_CHECK_H
#define GP_TEST_HISTOGRAM_CHECK_H

#include <gp/histogram.h>

#include "gp_test.h"

enum histogram_kind { HISTOGRAM_EVEN, HISTOGRAM_EDGES, HISTOGRAM_WHOLE };

/* One call. Limits and edges are on the host; limits of f16 and bf16 are floats. */
struct histogram_spec {
    enum histogram_kind kind;
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

__extension__ typedef __int128 i128;

/* Element i of an array of integers, exactly. */
i128 histogram_integer(gp_dtype dtype, const void *a, size_t i);

gp_status histogram_call(const struct histogram_spec *s, const void *in, const void *edges,
                         void *counts, uint64_t *outside);

/* One call, compared with the loop. */
void histogram_check(const struct histogram_spec *s, const void *in);

void histogram_set_limits(struct histogram_spec *s, double lo, double hi);
void histogram_sort(gp_dtype dtype, void *values, size_t n);

#endif
