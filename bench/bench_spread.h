/* SPDX-License-Identifier: MIT */
/* Random numbers, and how keys of 32 bits may be spread: the cases of the suite distributions. For
 * both backends. */
#ifndef GP_BENCH_SPREAD_H
#define GP_BENCH_SPREAD_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define BENCH_INLINE static __host__ __device__ inline
#else
#define BENCH_INLINE static inline
#endif

BENCH_INLINE uint64_t bench_hash(uint64_t seed, uint64_t i)
{
    uint64_t x = i + seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    x = (x ^ (x >> 29)) * 0xA0761D6478BD642Fu;
    return x ^ (x >> 32);
}

enum bench_spread {
    BENCH_UNIFORM,
    BENCH_CONSTANT,
    BENCH_TWO_VALUES, /* far apart */
    BENCH_SORTED,
    BENCH_REVERSED,
    BENCH_ZIPF,      /* the k-th smallest of 2^32 values with a frequency of about k^-1.1 */
    BENCH_AND_3,     /* of 3 random words: 0.544 bits of entropy per bit */
    BENCH_AND_5,     /* 0.201 bits */
    BENCH_TILES,     /* the highest and the lowest byte count tiles of 2^14 keys */
    BENCH_TOP_BYTE,  /* the other bytes are zero */
    BENCH_UNIT,      /* floats in [0, 1) */
    BENCH_LOW_20,    /* the other bits are zero */
    BENCH_MOST_EQUAL /* 49 of 50 */
};

/* The rank drawn by inverting the sum of k^-1.1, taken as an integral. */
BENCH_INLINE uint32_t bench_zipf(uint64_t hash)
{
    const double last = 1.0 - pow(4294967296.0, -0.1);
    double u = (double)(hash >> 11) / 9007199254740992.0;
    double rank = pow(1.0 - u * last, -10.0) - 1.0;
    return rank < 4294967295.0 ? (uint32_t)rank : 0xffffffffu;
}

BENCH_INLINE uint32_t bench_and(uint64_t hash, int words)
{
    uint64_t all = hash;
    for (int w = 1; w < words; w++)
        all &= bench_hash(hash, (uint64_t)w);
    return (uint32_t)all;
}

/* Key i of n. */
BENCH_INLINE uint32_t bench_spread_key(enum bench_spread spread, uint64_t i, uint64_t n,
                                       uint64_t hash)
{
    switch (spread) {
    case BENCH_CONSTANT:
        return 0x5a5a5a5a;
    case BENCH_TWO_VALUES:
        return hash & 1 ? 0xfffffffeu : 1;
    case BENCH_SORTED:
        return (uint32_t)((i << 32) / n);
    case BENCH_REVERSED:
        return (uint32_t)(((n - 1 - i) << 32) / n);
    case BENCH_ZIPF:
        return bench_zipf(hash);
    case BENCH_AND_3:
        return bench_and(hash, 3);
    case BENCH_AND_5:
        return bench_and(hash, 5);
    case BENCH_TILES:
        return (uint32_t)((hash & 0x00ffff00) | (i >> 14 & 0xff) * 0x01000001);
    case BENCH_TOP_BYTE:
        return (uint32_t)hash & 0xff000000u;
    case BENCH_LOW_20:
        return (uint32_t)hash & 0xfffff;
    case BENCH_MOST_EQUAL:
        return (hash >> 32) % 50 ? 0x12345678 : (uint32_t)hash;
    default:
        return (uint32_t)hash;
    }
}

/* The key as it is stored: the bits of an unsigned number, or of a float. */
BENCH_INLINE uint32_t bench_spread_bits(enum bench_spread spread, uint64_t i, uint64_t n,
                                        uint64_t hash)
{
    union {
        float real;
        uint32_t bits;
    } u;
    if (spread != BENCH_UNIT)
        return bench_spread_key(spread, i, n, hash);
    u.real = (float)(hash >> 40) * 0x1p-24f;
    return u.bits;
}

#endif
