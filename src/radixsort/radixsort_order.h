/* SPDX-License-Identifier: MIT */
/* Order words (core/order.h) that can be turned back into keys. */
#ifndef GPI_RADIXSORT_ORDER_H
#define GPI_RADIXSORT_ORDER_H

#include "core/order.h"

/* A word of a float that can be turned back: the total order of its bits rotated so that -inf is 0,
 * which leaves the negative NaNs above the positive ones. -0 comes right before +0. */
#define GPI_RADIX_EXACT(T, x, sign, inf)                                                           \
    ((T)(GPI_RADIX_TOTAL(T, x, sign) - (T) ~(T)((sign) | (inf))))
#define GPI_RADIX_EXACT_SUM(T, w, sign, inf) ((T)((w) + (T) ~(T)((sign) | (inf))))
#define GPI_RADIX_UNTOTAL(T, u, sign) ((T)((u) & (sign) ? (T)((u) ^ (sign)) : (T) ~(u)))
#define GPI_RADIX_UNEXACT(T, w, sign, inf)                                                         \
    GPI_RADIX_UNTOTAL(T, GPI_RADIX_EXACT_SUM(T, w, sign, inf), sign)

#endif
