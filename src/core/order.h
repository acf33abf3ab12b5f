/* SPDX-License-Identifier: MIT */
/*
 * gp's order of floats: -inf .. -0 = +0 .. +inf < NaN, and NaNs equal each other; and the order of
 * all keys as unsigned words, which compare as the keys do, see gp/radixsort.h.
 */
#ifndef GPI_ORDER_H
#define GPI_ORDER_H

#include "core/dtype.h"

/* a < b of scalars, 0 or 1, or of vectors, all bits of a lane. */
#define GPI_FLOAT_LESS(a, b) (((a) < (b)) | (((b) != (b)) & ((a) == (a))))

/* The bits of +inf, above which, without the sign, are NaNs; 0 for integers. */
static inline uint64_t gpi_infinity_bits(gp_dtype dtype)
{
    switch (dtype) {
    case GP_F16:
        return 0x7c00;
    case GP_BF16:
        return 0x7f80;
    case GP_F32:
        return 0x7f800000;
    case GP_F64:
        return 0x7ff0000000000000;
    default:
        return 0;
    }
}

/* Keys of 1, 2, 4 and 8 bytes are 0 to 3 in tables by their width. */
static inline int gpi_key_width(size_t key_bytes)
{
    return key_bytes == 1 ? 0 : key_bytes == 2 ? 1 : key_bytes == 4 ? 2 : 3;
}

/* ---- order words: macros over the word type, for templates in C and kernels ---- */

/* What turns keys of a dtype and direction into words, in the low bits of 64. */
struct gpi_radix_order {
    uint64_t sign; /* the sign bit; floats only */
    uint64_t inf;  /* bits of +inf; 0: an integer */
    /* Inverted last: the sign bit of signed integers, and all bits when descending. */
    uint64_t flip;
};

/* The constants of a dtype and direction. */
static inline struct gpi_radix_order gpi_radix_order_of(gp_dtype dtype, gp_order order)
{
    int bits = 8 * (int)gpi_dtype_bytes(dtype);
    uint64_t sign = (uint64_t)1 << (bits - 1), all = sign | (sign - 1);
    struct gpi_radix_order o = {sign, gpi_infinity_bits(dtype), 0};
    if (gpi_dtype_is_signed(dtype))
        o.flip = sign;
    if (order == GP_DESCENDING)
        o.flip ^= all;
    return o;
}

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
