/* SPDX-License-Identifier: MIT */
/*
 * The order word of a key: unsigned words that compare as the keys do, see gp/radixsort.h.
 * Written as macros over the word type so that C templates and CUDA kernels share one definition.
 */
#ifndef GPI_RADIXSORT_ORDER_H
#define GPI_RADIXSORT_ORDER_H

#include <stdint.h>

/* The constants of a dtype and direction, in the low bits of 64. */
struct gpi_radix_order {
    uint64_t sign; /* the sign bit; floats only */
    uint64_t inf;  /* bits of +inf; 0: an integer */
    /* Inverted last: the sign bit of signed integers, and all bits when descending. */
    uint64_t flip;
};

/* Negative floats count down from 0, positive ones up from the sign bit. */
#define GPI_RADIX_TOTAL(T, x, sign) ((T)((x) & (sign) ? (T) ~(x) : (T)((x) | (sign))))

/* t(x) of a float before flip: zeros share a word, NaNs share the highest. */
#define GPI_RADIX_FLOAT(T, x, sign, inf)                                                           \
    ((T)((x) & (T) ~(sign)) > (inf)   ? (T) ~(T)0                                                  \
     : (T)((x) & (T) ~(sign)) == (T)0 ? (T)(sign)                                                  \
                                      : GPI_RADIX_TOTAL(T, x, sign))

/* A word of a float that can be turned back: the total order of its bits rotated so that -inf is 0,
 * which leaves the negative NaNs above the positive ones. -0 comes right before +0. */
#define GPI_RADIX_EXACT(T, x, sign, inf)                                                           \
    ((T)(GPI_RADIX_TOTAL(T, x, sign) - (T) ~(T)((sign) | (inf))))
#define GPI_RADIX_EXACT_SUM(T, w, sign, inf) ((T)((w) + (T) ~(T)((sign) | (inf))))
#define GPI_RADIX_UNTOTAL(T, u, sign) ((T)((u) & (sign) ? (T)((u) ^ (sign)) : (T) ~(u)))
#define GPI_RADIX_UNEXACT(T, w, sign, inf)                                                         \
    GPI_RADIX_UNTOTAL(T, GPI_RADIX_EXACT_SUM(T, w, sign, inf), sign)

#endif
