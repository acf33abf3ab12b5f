/* SPDX-License-Identifier: MIT */
/* The sum of integers in 64 bits, for units of scan_cpu_types_internal.h. */
#ifndef GPI_SCAN_CPU_SUM_INTERNAL_H
#define GPI_SCAN_CPU_SUM_INTERNAL_H

/* sign: 0, or the sign bit of an item, even where items have an unsigned type: those
 * are raised by it to be unsigned. */
#if IN_BYTES == 1

/* Neighbouring bytes are added up in 16 bits, which hold this number of pairs. */
enum { SUM_PAIRS = 128 };

static inline uint64_t sum_in_64(const in_t *in, size_t n, uint64_t sign)
{
    const lanes64 low8 = (lanes64){0} + 0x00ff00ff00ff00ffu;
    const lanes64 low16 = (lanes64){0} + 0x0000ffff0000ffffu;
    const lanes64 raised = (lanes64){0} + sign * 0x0101010101010101u;
    const size_t whole = n / VECTOR * VECTOR;
    uint64_t all = 0 - sign * n;
    for (size_t i = 0; i < whole;) {
        const size_t end = whole - i < SUM_PAIRS * VECTOR ? whole : i + SUM_PAIRS * VECTOR;
        lanes64 some = {0}, v;
        for (; i < end; i += VECTOR) {
            memcpy(&v, in + i, sizeof v);
            v ^= raised;
            some += (v & low8) + (v >> 8 & low8);
        }
        some = (some & low16) + (some >> 16 & low16);
        for (size_t k = 0; k < VECTOR / sizeof(uint64_t); k++)
            all += (uint32_t)some[k] + (some[k] >> 32);
    }
    for (size_t i = whole; i < n; i++)
        all += (uint8_t)in[i] ^ sign;
    return all;
}

#elif IN_BYTES == 2

/* Sums of this number of items fit 32 bits. */
enum { SUM_SHORT = 32768 };

static inline uint64_t sum_in_64(const in_t *in, size_t n, uint64_t sign)
{
    const uint32_t raised = (uint32_t)sign;
    uint64_t all = 0 - sign * n;
    for (size_t begin = 0; begin < n; begin += SUM_SHORT) {
        size_t end = n - begin < SUM_SHORT ? n : begin + SUM_SHORT;
        uint32_t some = 0;
        for (size_t i = begin; i < end; i++)
            some += (uint16_t)in[i] ^ raised;
        all += some;
    }
    return all;
}

#else

static inline uint64_t sum_in_64(const in_t *in, size_t n, uint64_t sign)
{
    uint64_t all = IN_BYTES == 4 ? 0 - sign * n : 0;
    for (size_t i = 0; i < n; i++)
#if IN_BYTES == 4
        all += (uint32_t)in[i] ^ sign;
#else
        all += (uint64_t)in[i]; /* wraps, whatever the sign */
#endif
    return all;
}

#endif
#endif
