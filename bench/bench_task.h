/* SPDX-License-Identifier: MIT */
/*
 * What the bench does with every item of an array: making input, comparing, checking. Written once
 * and compiled for the CPU and for CUDA, so that both backends see the same input and the same
 * checks.
 */
#ifndef GP_BENCH_TASK_H
#define GP_BENCH_TASK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define BENCH_INLINE static __host__ __device__ inline
#else
#define BENCH_INLINE static inline
#endif

enum bench_task_kind {
    BENCH_FILL_BITS,   /* random bits */
    BENCH_FILL_BELOW,  /* random integers below limit */
    BENCH_FILL_IOTA,   /* 0, 1, 2 .. */
    BENCH_FILL_STEPS,  /* -1, 0 or 1 as float or double: sums stay exact */
    BENCH_FILL_SMALL,  /* 1 .. 4 as float or double */
    BENCH_FILL_FINITE, /* float keys: any bits but NaN, infinity and -0 */
    BENCH_FILL_FLAGS,  /* bytes, 1 for limit of 65536, otherwise 0 */
    BENCH_EQUAL        /* out[i] must equal a[i] */
};

/* A task over n items of width bytes. Checks count what is wrong in *bad. */
struct bench_task {
    enum bench_task_kind kind;
    size_t n;
    unsigned width;
    uint64_t seed, limit;
    void *out;
    const void *a;
    uint64_t *bad;
};

BENCH_INLINE uint64_t bench_hash(uint64_t seed, uint64_t i)
{
    uint64_t x = i + seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    x = (x ^ (x >> 29)) * 0xA0761D6478BD642Fu;
    return x ^ (x >> 32);
}

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

BENCH_INLINE void bench_store_real(void *out, size_t i, unsigned width, int value)
{
    if (width == 4)
        ((float *)out)[i] = (float)value;
    else
        ((double *)out)[i] = value;
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

BENCH_INLINE void bench_add(uint64_t *counter)
{
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)counter, 1ull);
#else
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

BENCH_INLINE void bench_task_item(const struct bench_task *t, size_t i)
{
    uint64_t hash = bench_hash(t->seed, i);
    switch (t->kind) {
    case BENCH_FILL_BITS:
        bench_store(t->out, i, t->width, hash);
        break;
    case BENCH_FILL_BELOW:
        bench_store(t->out, i, t->width, bench_below(hash, t->limit));
        break;
    case BENCH_FILL_IOTA:
        bench_store(t->out, i, t->width, i);
        break;
    case BENCH_FILL_STEPS:
        bench_store_real(t->out, i, t->width, (int)bench_below(hash, 3) - 1);
        break;
    case BENCH_FILL_SMALL:
        bench_store_real(t->out, i, t->width, (int)bench_below(hash, 4) + 1);
        break;
    case BENCH_FILL_FINITE:
        bench_store(t->out, i, t->width, bench_finite(hash, t->width));
        break;
    case BENCH_FILL_FLAGS:
        bench_store(t->out, i, 1, hash >> 48 < t->limit);
        break;
    case BENCH_EQUAL:
        if (bench_load(t->out, i, t->width) != bench_load(t->a, i, t->width))
            bench_add(t->bad);
        break;
    }
}

#endif
