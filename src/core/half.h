/* SPDX-License-Identifier: MIT */
/* Half precision on the host: storage is uint16_t, arithmetic is float. Usable from C and C++. */
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

static inline float gpi_f16_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, magnitude = h & 0x7fffu;
    if (magnitude >= 0x7c00u) /* inf, NaN */
        return gpi_float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    /* shift into place, then let the multiplication repair the exponent, subnormals included */
    float f = gpi_float_of_bits(magnitude << 13) * gpi_float_of_bits(0x77800000u);
    return gpi_float_of_bits(sign | gpi_bits_of_float(f));
}

/* Round to nearest even. */
static inline uint16_t gpi_float_to_f16(float f)
{
    uint32_t u = gpi_bits_of_float(f), sign = u >> 16 & 0x8000u, m = u & 0x7fffffffu;
    if (m > 0x7f800000u)
        return (uint16_t)(sign | 0x7fffu);
    if (m >= 0x477ff000u) /* rounds to 65536 or more */
        return (uint16_t)(sign | 0x7c00u);
    if (m < 0x38800000u) { /* subnormal: adding 0.5 leaves the rounded result in the low bits */
        float s = gpi_float_of_bits(m) + 0.5f;
        return (uint16_t)(sign | (gpi_bits_of_float(s) - 0x3f000000u));
    }
    m += 0xc8000fffu + (m >> 13 & 1u);
    return (uint16_t)(sign | m >> 13);
}

static inline float gpi_bf16_to_float(uint16_t h)
{
    return gpi_float_of_bits((uint32_t)h << 16);
}

static inline uint16_t gpi_float_to_bf16(float f)
{
    uint32_t u = gpi_bits_of_float(f);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffu;
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

#endif
