/* SPDX-License-Identifier: MIT */
/* Random numbers, and how keys of 32 or 64 bits may be spread: the cases of the suite
 * distributions. For both backends. */
#ifndef GP_BENCH_SPREAD_H
#define GP_BENCH_SPREAD_H

#include <math.h>
#include <stdbool.h>
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
    BENCH_ZIPF,          /* the k-th smallest of 2^32 values with a frequency of about k^-1.1 */
    BENCH_AND_3,         /* of 3 random words: 0.544 bits of entropy per bit */
    BENCH_AND_5,         /* 0.201 bits */
    BENCH_TILES,         /* the highest and the lowest byte count tiles of 2^14 keys */
    BENCH_TOP_BYTE,      /* the other bytes are zero */
    BENCH_LOW_20,        /* the other bits are zero */
    BENCH_MOST_EQUAL,    /* 49 of 50 */
    BENCH_FEW_VALUES,    /* 16, far apart */
    BENCH_MANY_EQUAL,    /* 4096 values, far apart */
    BENCH_ALMOST_SORTED, /* one of 128 is elsewhere */
    BENCH_SORTED_RUNS,   /* sorted runs of 2^16 keys */
    BENCH_SAWTOOTH,      /* i modulo 1000 */
    BENCH_ORGAN_PIPE,    /* rise to the middle, then fall */
    BENCH_FAR_CLUSTERS,  /* 8 clusters of 2^12 neighbours, far apart */
    BENCH_IDS,           /* below n */
    BENCH_HASHED_IDS,    /* hashes of Zipf's values */
    BENCH_COUNTS,        /* Poisson's, 4 on the average */
    BENCH_ADDRESSES,     /* of IPv4, in 64 nets of 2^16, some more frequent than others */
    BENCH_MORTON,        /* codes of points in space, in 100 clusters */
    BENCH_OFFSET,        /* n / 16 neighbours around a power of two */
    /* Signed integers. */
    BENCH_AROUND_ZERO,     /* from -1000 to 999 */
    BENCH_NORMAL_THOUSAND, /* standard deviations */
    BENCH_NORMAL_MILLION,
    BENCH_NORMAL_WIDE, /* a sixteenth of the range */
    BENCH_LOG_NORMAL,  /* exp(4 x), x normal; also of floats */
    /* Signed integers of 64 bits. */
    BENCH_TIMESTAMPS, /* milliseconds within a year */
    BENCH_EDGES,      /* row and column of R-MAT's graph of scale 22 */
    BENCH_GRID,       /* of the edges of a square grid */
    BENCH_POINTERS,   /* multiples of 16 in 8 regions of 1 GiB */
    BENCH_KMERS,      /* of 31 letters, 2 bits each, of a genome whose parts repeat */
    BENCH_WORDS,      /* of letters, one byte each, with Zipf's frequencies */
    /* Floats. */
    BENCH_UNIT, /* in [0, 1) */
    BENCH_NORMAL,
    BENCH_EXPONENTIAL,
    BENCH_PRICES,    /* below 1000, in hundredths */
    BENCH_HALF_ZERO, /* the others normal */
    BENCH_LATITUDES  /* normal around 35 degrees, in steps of 10^-4 */
};

BENCH_INLINE double bench_unit(uint64_t hash)
{
    return (double)(hash >> 11) * 0x1p-53;
}

BENCH_INLINE double bench_normal(uint64_t hash)
{
    const double radius = sqrt(-2.0 * log(1.0 - bench_unit(hash)));
    return radius * cos(6.283185307179586 * bench_unit(bench_hash(11, hash)));
}

/* The rank drawn by inverting the sum of k^-1.1, taken as an integral. */
BENCH_INLINE uint32_t bench_zipf(uint64_t hash)
{
    const double last = 1.0 - pow(4294967296.0, -0.1);
    double rank = pow(1.0 - bench_unit(hash) * last, -10.0) - 1.0;
    return rank < 4294967295.0 ? (uint32_t)rank : 0xffffffffu;
}

BENCH_INLINE uint64_t bench_and(uint64_t hash, int words)
{
    uint64_t all = hash;
    for (int w = 1; w < words; w++)
        all &= bench_hash(hash, (uint64_t)w);
    return all;
}

/* By inversion. */
BENCH_INLINE uint64_t bench_count(uint64_t hash)
{
    const double u = bench_unit(hash);
    double p = exp(-4.0), upto = p;
    uint64_t k = 0;
    while (u > upto && k < 40) {
        k++;
        p *= 4.0 / (double)k;
        upto += p;
    }
    return k;
}

BENCH_INLINE uint64_t bench_address(uint64_t hash)
{
    const uint64_t net = hash & hash >> 6 & 63;
    return (bench_hash(12, net) & 0xffff) << 16 | (hash >> 16 & 0xffff);
}

/* The bits of x < 2^21 with two zeros between any two. */
BENCH_INLINE uint64_t bench_apart(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

/* 21 bits of each coordinate; of keys of 4 bytes the highest of all. */
BENCH_INLINE uint64_t bench_morton(uint64_t hash, unsigned width)
{
    uint64_t code = 0;
    for (uint64_t axis = 0; axis < 3; axis++) {
        const double middle = bench_unit(bench_hash(13 + axis, hash % 100));
        const double x = middle + bench_normal(bench_hash(16 + axis, hash)) / 256.0;
        code |= bench_apart((uint64_t)(fmin(fmax(x, 0.0), 0.999999) * 0x1p21)) << axis;
    }
    return width == 8 ? code : code >> 31;
}

/* R-MAT with probabilities 0.57, 0.19, 0.19 and 0.05. */
BENCH_INLINE uint64_t bench_edge(uint64_t hash, int scale)
{
    uint64_t row = 0, col = 0;
    for (int level = 0; level < scale; level++) {
        const uint64_t draw = bench_hash(hash, (uint64_t)level) >> 32;
        const unsigned quarter =
            (draw >= 2448131359u) + (draw >= 3264175145u) + (draw >= 4080218931u);
        row = row << 1 | quarter >> 1;
        col = col << 1 | (quarter & 1);
    }
    return row << 32 | col;
}

/* A vertex of a square of side 2^14, and one of its four neighbours. */
BENCH_INLINE uint64_t bench_grid_edge(uint64_t hash)
{
    const uint64_t row = hash >> 8 & 0xfffffff;
    const uint64_t col =
        (hash & 2 ? row + (hash & 1 ? 1 : 1 << 14) : row - (hash & 1 ? 1 : 1 << 14));
    return row << 32 | (col & 0xfffffff);
}

/* 31 letters from a place of a genome of 2^24 letters, half of which repeat 64 parts of 2^12. */
BENCH_INLINE uint64_t bench_kmer(uint64_t hash)
{
    uint64_t place = hash & 0xffffff, word = 0;
    if (place & 0x800000)
        place = place & 0x3ffff;
    for (uint64_t i = 0; i < 31; i++)
        word = word << 2 | (bench_hash(5, place + i) & 3);
    return word;
}

/* The k-th most frequent word: 1 to 8 letters, the frequent ones are short. */
BENCH_INLINE uint64_t bench_word(uint64_t hash)
{
    const uint64_t k = bench_zipf(hash) % 500000;
    const int letters = k < 24 ? 2 : k < 600 ? 4 : 8;
    const uint64_t draw = bench_hash(7, k);
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) { /* letters are not even either */
        const uint64_t a = draw >> 8 * i & 0xf, b = draw >> (8 * i + 4) & 0xf;
        word = word << 8 | (i < letters ? 'a' + (a * b) % 26 : ' ');
    }
    return word;
}

/* A float key: its bits in as many bytes. */
BENCH_INLINE uint64_t bench_float_bits(double x, unsigned width)
{
    union {
        double real;
        uint64_t bits;
    } d;
    union {
        float real;
        uint32_t bits;
    } f;
    d.real = x;
    f.real = (float)x;
    return width == 8 ? d.bits : f.bits;
}

BENCH_INLINE uint64_t bench_spread_float(enum bench_spread spread, unsigned width, uint64_t hash)
{
    switch (spread) {
    case BENCH_NORMAL:
        return bench_float_bits(bench_normal(hash), width);
    case BENCH_EXPONENTIAL:
        return bench_float_bits(-log(1.0 - bench_unit(hash)), width);
    case BENCH_PRICES:
        return bench_float_bits(floor(bench_unit(hash) * 1e5) / 100.0, width);
    case BENCH_HALF_ZERO:
        return hash & 1 ? bench_float_bits(bench_normal(hash), width) : 0;
    case BENCH_LATITUDES:
        return bench_float_bits(rint((35.0 + 18.0 * bench_normal(hash)) * 1e4) / 1e4 + 0.0,
                                width); /* no negative zero, which keys alone tell from the other */
    case BENCH_LOG_NORMAL:
        return bench_float_bits(exp(4.0 * bench_normal(hash)), width);
    default: /* of floats as many bits as they hold */
        return bench_float_bits(width == 8 ? bench_unit(hash) : (double)(hash >> 40) * 0x1p-24,
                                width);
    }
}

/* i of n in all of the range of keys. */
BENCH_INLINE uint64_t bench_spread_scaled(unsigned width, uint64_t i, uint64_t n)
{
    return width == 4 ? (i << 32) / n : i * (UINT64_MAX / n);
}

/* Those that the position decides. */
BENCH_INLINE uint64_t bench_spread_place(enum bench_spread spread, unsigned width, uint64_t i,
                                         uint64_t n, uint64_t hash)
{
    const int low = 8 * (int)width - 8;
    switch (spread) {
    case BENCH_REVERSED:
        return bench_spread_scaled(width, n - 1 - i, n);
    case BENCH_TILES:
        return (hash & (((uint64_t)1 << low) - 256)) | (i >> 14 & 0xff) << low | (i >> 14 & 0xff);
    case BENCH_ALMOST_SORTED:
        return bench_spread_scaled(width, hash % 128 ? i : (hash >> 7) % n, n);
    case BENCH_SORTED_RUNS:
        return (i % 65536) << (8 * width - 16) | (hash & 0xffff);
    case BENCH_SAWTOOTH:
        return i % 1000;
    case BENCH_ORGAN_PIPE:
        return bench_spread_scaled(width, i < n / 2 ? 2 * i : 2 * (n - 1 - i) + 1, n);
    default:
        return bench_spread_scaled(width, i, n);
    }
}

BENCH_INLINE uint64_t bench_spread_integer(enum bench_spread spread, unsigned width, uint64_t n,
                                           uint64_t hash)
{
    const uint64_t top = width == 8 ? UINT64_MAX : UINT32_MAX;
    switch (spread) {
    case BENCH_CONSTANT:
        return 0x5a5a5a5a;
    case BENCH_TWO_VALUES:
        return hash & 1 ? top - 1 : 1;
    case BENCH_ZIPF:
        return bench_zipf(hash);
    case BENCH_AND_3:
        return bench_and(hash, 3);
    case BENCH_AND_5:
        return bench_and(hash, 5);
    case BENCH_TOP_BYTE:
        return hash & ~(top >> 8);
    case BENCH_LOW_20:
        return hash & 0xfffff;
    case BENCH_MOST_EQUAL:
        return (hash >> 32) % 50 ? 0x12345678 : hash;
    case BENCH_FEW_VALUES:
        return bench_hash(1, hash % 16);
    case BENCH_MANY_EQUAL:
        return bench_hash(1, hash % 4096);
    case BENCH_FAR_CLUSTERS:
        return bench_hash(2, hash % 8) + (hash >> 8) % 4096;
    case BENCH_IDS:
        return hash % n;
    case BENCH_HASHED_IDS:
        return bench_hash(3, bench_zipf(hash));
    case BENCH_COUNTS:
        return bench_count(hash);
    case BENCH_ADDRESSES:
        return bench_address(hash);
    case BENCH_MORTON:
        return bench_morton(hash, width);
    case BENCH_OFFSET:
        return ((uint64_t)1 << 30) - n / 32 + hash % (n / 16);
    case BENCH_AROUND_ZERO:
        return hash % 2000 - 1000;
    case BENCH_NORMAL_THOUSAND:
        return (uint64_t)(int64_t)(bench_normal(hash) * 1e3);
    case BENCH_NORMAL_MILLION:
        return (uint64_t)(int64_t)(bench_normal(hash) * 1e6);
    case BENCH_NORMAL_WIDE:
        return (uint64_t)(int64_t)(bench_normal(hash) * (double)(top / 16));
    case BENCH_LOG_NORMAL:
        return (uint64_t)fmin(exp(4.0 * bench_normal(hash)), (double)(top / 4));
    case BENCH_TIMESTAMPS:
        return 1760000000000 + hash % 31536000000;
    case BENCH_EDGES:
        return bench_edge(hash, 22);
    case BENCH_GRID:
        return bench_grid_edge(hash);
    case BENCH_POINTERS:
        return 0x7f0000000000 + (hash % 8 << 36) + (hash >> 8 & 0x3ffffff0);
    case BENCH_KMERS:
        return bench_kmer(hash);
    case BENCH_WORDS:
        return bench_word(hash);
    default:
        return hash;
    }
}

/* Key i of n as it is stored, in width bytes: 4 or 8. */
BENCH_INLINE uint64_t bench_spread_bits(enum bench_spread spread, bool is_float, unsigned width,
                                        uint64_t i, uint64_t n, uint64_t hash)
{
    const uint64_t top = width == 8 ? UINT64_MAX : UINT32_MAX;
    switch (spread) {
    case BENCH_SORTED:
    case BENCH_REVERSED:
    case BENCH_TILES:
    case BENCH_ALMOST_SORTED:
    case BENCH_SORTED_RUNS:
    case BENCH_SAWTOOTH:
    case BENCH_ORGAN_PIPE:
        return bench_spread_place(spread, width, i, n, hash);
    default:
        return is_float ? bench_spread_float(spread, width, hash)
                        : bench_spread_integer(spread, width, n, hash) & top;
    }
}

#endif
