/* SPDX-License-Identifier: MIT */
/*
 * What the bench does with every item of an array: making input, comparing, checking;
 * bench_task_item.h does it.
 */
#ifndef GP_BENCH_TASK_H
#define GP_BENCH_TASK_H

#include "bench.h"
#include "bench_spread.h"
#include "breadth/rule.h"

enum bench_task_kind {
    /* Input: out[i], of width bytes. */
    BENCH_FILL_BITS,        /* random bits, shifted right by limit */
    BENCH_FILL_BELOW,       /* random integers below limit */
    BENCH_FILL_ZIPF,        /* Zipf's ranks (bench_zipf) modulo limit */
    BENCH_FILL_SPARSE,      /* hashes of random integers below limit */
    BENCH_FILL_IOTA,        /* seed + i * limit */
    BENCH_FILL_STEPS,       /* -1, 0 or 1 as float or double: sums stay exact */
    BENCH_FILL_SMALL,       /* 1 .. 4 as float or double */
    BENCH_FILL_MAPS,        /* scalars of maps, limit of them each, whose products are exact */
    BENCH_FILL_FINITE,      /* float keys: any bits but NaN, infinity and -0 */
    BENCH_FILL_SPREAD,      /* keys of args.dtype, spread by limit, an enum bench_spread */
    BENCH_FILL_FLAGS,       /* bytes: 1 for limit items of 65536, otherwise 0 */
    BENCH_FILL_HEADS,       /* bytes: 1 for every limit-th item, otherwise 0 */
    BENCH_FILL_CLUSTERS,    /* bytes: 0 or 1 for limit items at a time */
    BENCH_FILL_CHOICES,     /* items of args.dtype, below a bound where args.flags are set */
    BENCH_FILL_NEIGHBOURS,  /* the numbers below n, moved inside limit, a power of two */
    BENCH_FILL_SHUFFLED,    /* the same in any order */
    BENCH_OTHER_FLAGS,      /* bytes: 1 where a has 0, otherwise 0 */
    BENCH_FILL_COORDINATES, /* random below limit; every 16th repeats that of another item */
    BENCH_FILL_COLUMNS,     /* columns of a CSR matrix, ascending in each row */
    BENCH_FILL_NEAR,        /* columns around the row, or of a cube of limit^3 points around it */
    BENCH_FILL_RMAT,        /* rows (a is NULL) or columns of edges, below limit, a power of two */
    BENCH_FILL_STENCIL,     /* rows or columns of neighbours in a cube of limit^3 points */
    BENCH_FILL_WIDE,        /* the numbers of a, u32, as u64 */
    BENCH_FILL_EXACT,       /* items for a scan by the rule, which is exact */
    BENCH_FILL_BLOCKS,      /* i / limit */
    BENCH_FILL_TENS,        /* i rounded up to a multiple of ten, at most limit */
    BENCH_EXPAND,           /* the segment of item i */
    /* Checks: count in *bad. */
    BENCH_COUNT_BELOW,   /* out[i] < limit */
    BENCH_EQUAL,         /* out[i] differs from a[i] */
    BENCH_CSR_CANONICAL, /* row i of the output breaks a rule; also checks its ends */
    BENCH_COO_TAKE,      /* add entry i to its place in a; it has none */
    BENCH_COO_COMPARE,   /* output value i is not what was added up in a, or nothing was */
    BENCH_GATHERED,      /* word i of the output is not the one of its item's place */
    BENCH_SELECTED,      /* index i is not of a set flag, or not above the one before */
    BENCH_FOLLOWS, /* output i of a scan by the rule, of a, does not follow from the one before */
    BENCH_NOT_BEFORE,    /* item i of a comes before the one whose place is args.bound */
    BENCH_SEGMENT_LASTS, /* result i is not the last output, in a, of segment i's scan */
    BENCH_TRANSPOSED, /* entries of output row i that are not those of input column i, in order */
    /* References. */
    BENCH_COUNT,   /* a histogram with a bin per number */
    BENCH_MULTIPLY /* row i of y = A x */
};

/* A task over n items. */
struct bench_task {
    enum bench_task_kind kind;
    unsigned width;
    size_t n;
    uint64_t seed, limit;
    void *out;
    void *a;
    uint64_t *bad;
    struct bench_rule rule;
    struct bench_args args;
};

/* A hash made into a number below limit. */
BENCH_INLINE uint64_t bench_below(uint64_t hash, uint64_t limit)
{
    return limit >> 32 ? hash % limit : ((hash >> 32) * limit) >> 32;
}

BENCH_INLINE void bench_store(void *out, size_t i, unsigned width, uint64_t value)
{
    if (width == 1)
        ((uint8_t *)out)[i] = (uint8_t)value;
    else if (width == 2)
        ((uint16_t *)out)[i] = (uint16_t)value;
    else if (width == 4)
        ((uint32_t *)out)[i] = (uint32_t)value;
    else
        ((uint64_t *)out)[i] = value;
}

BENCH_INLINE uint64_t bench_load(const void *in, size_t i, unsigned width)
{
    if (width == 1)
        return ((const uint8_t *)in)[i];
    if (width == 2)
        return ((const uint16_t *)in)[i];
    return width == 4 ? ((const uint32_t *)in)[i] : ((const uint64_t *)in)[i];
}

/* -4 .. 4 as f16. */
BENCH_INLINE uint16_t bench_half(int value)
{
    const int size = value < 0 ? -value : value;
    const unsigned bits = size == 0   ? 0
                          : size == 1 ? 0x3c00
                          : size == 2 ? 0x4000
                          : size == 3 ? 0x4200
                                      : 0x4400;
    return (uint16_t)(bits | (value < 0 ? 0x8000u : 0));
}

BENCH_INLINE void bench_store_real(void *out, size_t i, unsigned width, double value)
{
    if (width == 2)
        ((uint16_t *)out)[i] = bench_half((int)value);
    else if (width == 4)
        ((float *)out)[i] = (float)value;
    else
        ((double *)out)[i] = value;
}

BENCH_INLINE double bench_load_real(const void *in, size_t i, unsigned width)
{
    return width == 4 ? (double)((const float *)in)[i] : ((const double *)in)[i];
}

/* Float bits without NaN, infinity (exponent made smaller) and -0 (made +0). */
BENCH_INLINE uint64_t bench_finite(uint64_t bits, unsigned width)
{
    uint64_t exponent = width == 4 ? 0x7F800000u : 0x7FF0000000000000u;
    uint64_t sign = width == 4 ? 0x80000000u : 0x8000000000000000u;
    bits &= sign | (sign - 1);
    if ((bits & exponent) == exponent)
        bits ^= sign >> 1;
    return bits == sign ? 0 : bits;
}

BENCH_INLINE void bench_add(uint64_t *counter, uint64_t count)
{
#ifdef __CUDA_ARCH__
    if (count)
        atomicAdd((unsigned long long *)counter, (unsigned long long)count);
#else
    if (count)
        __atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
#endif
}

BENCH_INLINE void bench_add_u32(uint32_t *counter, uint32_t count)
{
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned int *)counter, (unsigned int)count);
#else
    __atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
#endif
}

/* Chosen items are below this word, the others not; the order of floats is that of their bits. */
BENCH_INLINE uint64_t bench_choice_bound(gp_dtype dtype)
{
    return dtype == GP_F16    ? 0x3c00
           : dtype == GP_BF16 ? 0x3f80
           : dtype == GP_F32  ? 0x3f800000
           : dtype == GP_F64  ? 0x3ff0000000000000
                              : 64;
}

#endif
