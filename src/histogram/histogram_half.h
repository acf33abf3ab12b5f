/* SPDX-License-Identifier: MIT */
/* Half precision in loops that are to become vectors. */
#ifndef GPI_HISTOGRAM_HALF_H
#define GPI_HISTOGRAM_HALF_H

#include "core/half.h"

/* As gpi_f16_to_float(), but without branches, and subnormals by way of an integer: arithmetic on
 * subnormal floats is slow on many machines. */
static inline float gpi_f16_to_float_fast(uint16_t h)
{
    uint32_t magnitude = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t rebias = magnitude < 0x7c00u ? 112u << 23 : 224u << 23; /* inf and NaN: to the top */
    float small = (float)(int32_t)magnitude * 0x1p-24f;
    uint32_t bits = magnitude < 0x400u ? gpi_bits_of_float(small) : (magnitude << 13) + rebias;
    return gpi_float_of_bits(sign | bits);
}

#endif
