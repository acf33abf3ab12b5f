/* SPDX-License-Identifier: MIT */
/* Half precision on the host: storage is uint16_t, arithmetic is float. Usable from C and C++.
 * No branches, so that loops over these vectorise. */
#ifndef GPI_HALF_H
#define GPI_HALF_H

#include <stdint.h>
#include <string.h>

static inline float gpi_float_of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline uint32_t gpi_bits_of_float(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* a where the condition holds, otherwise b; by a mask, since compilers put floating-point
 * operations that feed a conditional expression behind a branch. */
static inline uint32_t gpi_choose(int condition, uint32_t a, uint32_t b)
{
    uint32_t mask = 0u - (uint32_t)condition;
    return (a & mask) | (b & ~mask);
}

static inline float gpi_f16_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, magnitude = h & 0x7fffu;
    uint32_t special = 0x7f800000u | (magnitude & 0x3ffu) << 13; /* inf, NaN */
    /* shift into place, then let the multiplication repair the exponent, subnormals included */
    float f = gpi_float_of_bits(magnitude << 13) * gpi_float_of_bits(0x77800000u);
    return gpi_float_of_bits(sign |
                             gpi_choose(magnitude >= 0x7c00u, special, gpi_bits_of_float(f)));
}

/* Round to nearest even; every NaN becomes 0x7fff, as on a GPU. */
static inline uint16_t gpi_float_to_f16(float f)
{
    uint32_t u = gpi_bits_of_float(f), sign = u >> 16 & 0x8000u, m = u & 0x7fffffffu;
    /* subnormal: adding 0.5 leaves the rounded result in the low bits */
    uint32_t small = gpi_bits_of_float(gpi_float_of_bits(m) + 0.5f) - 0x3f000000u;
    uint32_t normal = (m + 0xc8000fffu + (m >> 13 & 1u)) >> 13;
    uint32_t finite = gpi_choose(m < 0x38800000u, small, normal);
    uint32_t number = gpi_choose(m >= 0x477ff000u, 0x7c00u, finite); /* rounds to 65536 or more */
    return (uint16_t)gpi_choose(m > 0x7f800000u, 0x7fffu, sign | number);
}

static inline float gpi_bf16_to_float(uint16_t h)
{
    return gpi_float_of_bits((uint32_t)h << 16);
}

static inline uint16_t gpi_float_to_bf16(float f)
{
    uint32_t u = gpi_bits_of_float(f), rounded = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return (uint16_t)gpi_choose((u & 0x7fffffffu) > 0x7f800000u, 0x7fffu, rounded);
}

/* The halves that f was widened from, NaNs too. */
static inline uint16_t gpi_f16_of_widened(float f)
{
    const uint32_t u = gpi_bits_of_float(f);
    const uint32_t nan = (u >> 16 & 0x8000u) | 0x7c00u | (u >> 13 & 0x3ffu);
    return (uint16_t)gpi_choose((u & 0x7fffffffu) > 0x7f800000u, nan, gpi_float_to_f16(f));
}

static inline uint16_t gpi_bf16_of_widened(float f)
{
    return (uint16_t)(gpi_bits_of_float(f) >> 16);
}

#endif
