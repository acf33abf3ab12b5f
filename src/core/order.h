/* SPDX-License-Identifier: MIT */
/* gp's order of floats: -inf .. -0 = +0 .. +inf < NaN, and NaNs equal each other. */
#ifndef GPI_ORDER_H
#define GPI_ORDER_H

#include <gp/core.h>

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

#endif
