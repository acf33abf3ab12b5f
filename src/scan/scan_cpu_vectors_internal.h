/* SPDX-License-Identifier: MIT */
/*
 * Vectors of scalars and how their lanes are moved, for units of scan_cpu_types_internal.h.
 *
 * A vector is what the instruction set has, 16, 32 or 64 bytes. Items are associated in groups of
 * as many as there are scalars in 64 bytes, whatever the vector is, so every instruction set gives
 * the same bits.
 */
#ifndef GPI_SCAN_CPU_VECTORS_INTERNAL_H
#define GPI_SCAN_CPU_VECTORS_INTERNAL_H

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "scan/scan_cpu_types_internal.h"

typedef uint32_t lanes32 __attribute__((vector_size(VECTOR)));

enum { GROUP = 64 / ACC_BYTES };

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(mask_type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(mask_type, a, b, ...) __builtin_shuffle(a, b, (mask_type){__VA_ARGS__})
#endif

/* STEPd(v, zero): lanes whose number has bit d get the last lane below their half, others a lane of
 * zero. UP(v, zero), UP2(v, zero): a lane gets the one before it, or two before it, the first of
 * zero. LAST(v): the last lane everywhere. By the number of lanes. */
#define UP_2(m, v, z) SHUFFLE(m, v, z, 2, 0)
#define UP2_4(m, v, z) SHUFFLE(m, v, z, 4, 4, 0, 1)
#define UP2_8(m, v, z) SHUFFLE(m, v, z, 8, 8, 0, 1, 2, 3, 4, 5)

#define STEP1_2(m, v, z) SHUFFLE(m, v, z, 2, 0)
#define LAST_2(m, v) SHUFFLE(m, v, v, 1, 1)

#define STEP1_4(m, v, z) SHUFFLE(m, v, z, 4, 0, 4, 2)
#define STEP2_4(m, v, z) SHUFFLE(m, v, z, 4, 4, 1, 1)
#define LAST_4(m, v) SHUFFLE(m, v, v, 3, 3, 3, 3)

#define STEP1_8(m, v, z) SHUFFLE(m, v, z, 8, 0, 8, 2, 8, 4, 8, 6)
#define STEP2_8(m, v, z) SHUFFLE(m, v, z, 8, 8, 1, 1, 8, 8, 5, 5)
#define STEP4_8(m, v, z) SHUFFLE(m, v, z, 8, 8, 8, 8, 3, 3, 3, 3)
#define LAST_8(m, v) SHUFFLE(m, v, v, 7, 7, 7, 7, 7, 7, 7, 7)

#define STEP1_16(m, v, z)                                                                          \
    SHUFFLE(m, v, z, 16, 0, 16, 2, 16, 4, 16, 6, 16, 8, 16, 10, 16, 12, 16, 14)
#define STEP2_16(m, v, z) SHUFFLE(m, v, z, 16, 16, 1, 1, 16, 16, 5, 5, 16, 16, 9, 9, 16, 16, 13, 13)
#define STEP4_16(m, v, z)                                                                          \
    SHUFFLE(m, v, z, 16, 16, 16, 16, 3, 3, 3, 3, 16, 16, 16, 16, 11, 11, 11, 11)
#define STEP8_16(m, v, z) SHUFFLE(m, v, z, 16, 16, 16, 16, 16, 16, 16, 16, 7, 7, 7, 7, 7, 7, 7, 7)
#define LAST_16(m, v)                                                                              \
    SHUFFLE(m, v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)

/* DUP_STEPd(v): STEPd where lanes without bit d may get anything; inside 16 bytes if it can be. */
#define DUP_STEP1_8(m, v) SHUFFLE(m, v, v, 0, 0, 2, 2, 4, 4, 6, 6)
#define DUP_STEP2_8(m, v) SHUFFLE(m, v, v, 1, 1, 1, 1, 5, 5, 5, 5)
#define DUP_STEP4_8(m, v) SHUFFLE(m, v, v, 3, 3, 3, 3, 3, 3, 3, 3)
#define DUP_STEP1_16(m, v) SHUFFLE(m, v, v, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14)
#define DUP_STEP2_16(m, v) SHUFFLE(m, v, v, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13)
#define DUP_STEP4_16(m, v) SHUFFLE(m, v, v, 3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11)
#define DUP_STEP8_16(m, v) SHUFFLE(m, v, v, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)

/* BACK_STEPd(v, zero): lanes whose number does not have bit d get the first lane above their half,
 * others a lane of zero. DUP_BACK_STEPd(v): the same where those may get anything. FIRST(v): the
 * first lane everywhere. */
#define BACK_STEP1_2(m, v, z) SHUFFLE(m, v, z, 1, 2)
#define FIRST_2(m, v) SHUFFLE(m, v, v, 0, 0)

#define BACK_STEP1_4(m, v, z) SHUFFLE(m, v, z, 1, 4, 3, 4)
#define BACK_STEP2_4(m, v, z) SHUFFLE(m, v, z, 2, 2, 4, 4)
#define FIRST_4(m, v) SHUFFLE(m, v, v, 0, 0, 0, 0)

#define BACK_STEP1_8(m, v, z) SHUFFLE(m, v, z, 1, 8, 3, 8, 5, 8, 7, 8)
#define BACK_STEP2_8(m, v, z) SHUFFLE(m, v, z, 2, 2, 8, 8, 6, 6, 8, 8)
#define BACK_STEP4_8(m, v, z) SHUFFLE(m, v, z, 4, 4, 4, 4, 8, 8, 8, 8)
#define DUP_BACK_STEP1_8(m, v) SHUFFLE(m, v, v, 1, 1, 3, 3, 5, 5, 7, 7)
#define DUP_BACK_STEP2_8(m, v) SHUFFLE(m, v, v, 2, 2, 2, 2, 6, 6, 6, 6)
#define DUP_BACK_STEP4_8(m, v) SHUFFLE(m, v, v, 4, 4, 4, 4, 4, 4, 4, 4)
#define FIRST_8(m, v) SHUFFLE(m, v, v, 0, 0, 0, 0, 0, 0, 0, 0)

#define BACK_STEP1_16(m, v, z)                                                                     \
    SHUFFLE(m, v, z, 1, 16, 3, 16, 5, 16, 7, 16, 9, 16, 11, 16, 13, 16, 15, 16)
#define BACK_STEP2_16(m, v, z)                                                                     \
    SHUFFLE(m, v, z, 2, 2, 16, 16, 6, 6, 16, 16, 10, 10, 16, 16, 14, 14, 16, 16)
#define BACK_STEP4_16(m, v, z)                                                                     \
    SHUFFLE(m, v, z, 4, 4, 4, 4, 16, 16, 16, 16, 12, 12, 12, 12, 16, 16, 16, 16)
#define BACK_STEP8_16(m, v, z)                                                                     \
    SHUFFLE(m, v, z, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16, 16, 16, 16)
#define DUP_BACK_STEP1_16(m, v)                                                                    \
    SHUFFLE(m, v, v, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15)
#define DUP_BACK_STEP2_16(m, v)                                                                    \
    SHUFFLE(m, v, v, 2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14)
#define DUP_BACK_STEP4_16(m, v)                                                                    \
    SHUFFLE(m, v, v, 4, 4, 4, 4, 4, 4, 4, 4, 12, 12, 12, 12, 12, 12, 12, 12)
#define DUP_BACK_STEP8_16(m, v) SHUFFLE(m, v, v, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8)
#define FIRST_16(m, v) SHUFFLE(m, v, v, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/* REVERSE(v): the lanes in the other order. REVERSE2(v): pairs of them. */
#define REVERSE_8(m, v) SHUFFLE(m, v, v, 7, 6, 5, 4, 3, 2, 1, 0)
#define REVERSE2_4(m, v) SHUFFLE(m, v, v, 2, 3, 0, 1)
#define REVERSE2_8(m, v) SHUFFLE(m, v, v, 6, 7, 4, 5, 2, 3, 0, 1)

/* EVEN(a, b), ODD(a, b): every second lane of both. LOW(a, b), HIGH(a, b): the reverse, lanes in
 * turn from the lower or the upper halves. */
#define EVEN_2(m, a, b) SHUFFLE(m, a, b, 0, 2)
#define ODD_2(m, a, b) SHUFFLE(m, a, b, 1, 3)
#define LOW_2 EVEN_2
#define HIGH_2 ODD_2
#define EVEN_4(m, a, b) SHUFFLE(m, a, b, 0, 2, 4, 6)
#define ODD_4(m, a, b) SHUFFLE(m, a, b, 1, 3, 5, 7)
#define LOW_4(m, a, b) SHUFFLE(m, a, b, 0, 4, 1, 5)
#define HIGH_4(m, a, b) SHUFFLE(m, a, b, 2, 6, 3, 7)
#define EVEN_8(m, a, b) SHUFFLE(m, a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD_8(m, a, b) SHUFFLE(m, a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define LOW_8(m, a, b) SHUFFLE(m, a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_8(m, a, b) SHUFFLE(m, a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define EVEN_16(m, a, b) SHUFFLE(m, a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD_16(m, a, b) SHUFFLE(m, a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define LOW_16(m, a, b) SHUFFLE(m, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_16(m, a, b)                                                                           \
    SHUFFLE(m, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

#if VECTOR == 64
#define WITH_LANES64(name, ...) name##_8(lanes64, __VA_ARGS__)
#define WITH_LANES32(name, ...) name##_16(lanes32, __VA_ARGS__)
#elif VECTOR == 32
#define WITH_LANES64(name, ...) name##_4(lanes64, __VA_ARGS__)
#define WITH_LANES32(name, ...) name##_8(lanes32, __VA_ARGS__)
#else
#define WITH_LANES64(name, ...) name##_2(lanes64, __VA_ARGS__)
#define WITH_LANES32(name, ...) name##_4(lanes32, __VA_ARGS__)
#endif

/* Items of less than 4 bytes are moved 8 bytes at a time. */
#if ACC_BYTES == 4
#define MOVED_BYTES 4
#define WITH_LANES WITH_LANES32
typedef lanes32 lanes;
#else
#define MOVED_BYTES 8
#define WITH_LANES WITH_LANES64
typedef lanes64 lanes;
#endif
typedef scalar_t vector __attribute__((vector_size(VECTOR)));

enum { GROUP_VECTORS = 64 / VECTOR, LANES = VECTOR / ACC_BYTES, SUM_VECTORS = 128 / VECTOR };

ALWAYS_INLINE vector vector_load(const scalar_t *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* By its bits, as floats would be computed with. */
ALWAYS_INLINE vector vector_of(scalar_t value)
{
#if ACC_IS_FLOAT
    __typeof__(((lanes){0})[0]) bits;
    memcpy(&bits, &value, sizeof bits);
    return (vector)((lanes){0} + bits);
#else
    return (vector){0} + value;
#endif
}

typedef __typeof__((vector){0} < (vector){0}) mask;

#include "scan/scan_cpu_forms_internal.h"

/* The scalars of a vector in the other order. */
#if ACC_BYTES >= 4 /* their steps go the other way instead */

#elif VECTOR >= 32

ALWAYS_INLINE vector turned(vector v)
{
    const uint64_t low = ACC_BYTES == 1 ? 0x08090a0b0c0d0e0fu : 0x09080b0a0d0c0f0eu;
    const uint64_t high = ACC_BYTES == 1 ? 0x0001020304050607u : 0x0100030205040706u;
    const lanes64 pairs = WITH_LANES64(REVERSE2, (lanes64)v);
#if VECTOR == 64
    const lanes64 order = {low, high, low, high, low, high, low, high};
    return (vector)_mm512_shuffle_epi8((__m512i)pairs, (__m512i)order);
#else
    const lanes64 order = {low, high, low, high};
    return (vector)_mm256_shuffle_epi8((__m256i)pairs, (__m256i)order);
#endif
}

#else

ALWAYS_INLINE vector turned(vector v)
{
    typedef uint16_t shorts __attribute__((vector_size(VECTOR)));
    shorts of = (shorts)v;
    if (ACC_BYTES == 1)
        of = of >> 8 | of << 8;
    return (vector)REVERSE_8(shorts, of);
}

#endif

#endif
