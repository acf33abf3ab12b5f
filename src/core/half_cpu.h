/* SPDX-License-Identifier: MIT */
/* Arrays of halves as floats and back, for the CPU's templates: the bits of half.h, by instructions
 * that convert where there are some. */
#ifndef GPI_HALF_CPU_H
#define GPI_HALF_CPU_H

#include <stddef.h>

#include "core/half.h"

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#define GPI_HALVES_AT_ONCE 32
#endif

#ifdef GPI_HALVES_AT_ONCE

static inline __m128i gpi_halves_load(const uint16_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static inline void gpi_halves_store(uint16_t *to, __m128i halves)
{
    _mm_storeu_si128((__m128i *)(void *)to, halves);
}

/* 32 floats, and whether there is a NaN among them. */
#if defined(__AVX512F__)
#define gpi_floats_load _mm512_loadu_ps
#define gpi_floats_store _mm512_storeu_ps
struct gpi_floats {
    __m512 v[2];
};

static inline int gpi_nans(const struct gpi_floats *f)
{
    return _mm512_cmp_ps_mask(f->v[0], f->v[1], _CMP_UNORD_Q);
}

static inline __m512 gpi_f16s_widened(const uint16_t *from)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
}

static inline __m512 gpi_bf16s_widened(const uint16_t *from)
{
    const __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)from);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

static inline void gpi_f16s_narrowed(uint16_t *to, __m512 v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
#else
#define gpi_floats_load _mm256_loadu_ps
#define gpi_floats_store _mm256_storeu_ps
struct gpi_floats {
    __m256 v[4];
};

static inline int gpi_nans(const struct gpi_floats *f)
{
    const __m256 low = _mm256_cmp_ps(f->v[0], f->v[1], _CMP_UNORD_Q);
    const __m256 high = _mm256_cmp_ps(f->v[2], f->v[3], _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(low, high));
}

static inline __m256 gpi_f16s_widened(const uint16_t *from)
{
    return _mm256_cvtph_ps(gpi_halves_load(from));
}

static inline __m256 gpi_bf16s_widened(const uint16_t *from)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(gpi_halves_load(from)), 16));
}

static inline void gpi_f16s_narrowed(uint16_t *to, __m256 v)
{
    gpi_halves_store(to, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
#endif
enum {
    GPI_FLOAT_VECTORS = sizeof(struct gpi_floats) / sizeof(((struct gpi_floats *)0)->v[0]),
    GPI_FLOAT_LANES = GPI_HALVES_AT_ONCE / GPI_FLOAT_VECTORS
};

/* GPI_BF16S_AT_ONCE floats as bf16s. */
#if defined(__AVX512F__)
enum { GPI_BF16S_AT_ONCE = 32 };

/* In the upper halves of words. */
static inline __m512i gpi_bf16_words(__m512 v)
{
    const __m512i below_half = _mm512_set1_epi32(0x7fff), u = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(u, _mm512_add_epi32(below_half, odd));
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    return _mm512_mask_mov_epi32(up, nan, _mm512_set1_epi32(0x7fff0000));
}

static inline void gpi_bf16s_narrowed(uint16_t *to, const float *from)
{
    static const uint16_t upper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                       23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                       45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    const __m512i low = gpi_bf16_words(_mm512_loadu_ps(from));
    const __m512i high = gpi_bf16_words(_mm512_loadu_ps(from + 16));
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(low, _mm512_loadu_si512(upper), high));
}
#else
enum { GPI_BF16S_AT_ONCE = 16 };

/* Eight floats, in the low halves of words. */
static inline __m256i gpi_bf16_words(__m256 v)
{
    const __m256i below_half = _mm256_set1_epi32(0x7fff), u = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(u, _mm256_add_epi32(below_half, odd));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), below_half, nan);
}

static inline void gpi_bf16s_narrowed(uint16_t *to, const float *from)
{
    const __m256i low = gpi_bf16_words(_mm256_loadu_ps(from));
    const __m256i high = gpi_bf16_words(_mm256_loadu_ps(from + 8));
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
    _mm256_storeu_si256((__m256i *)(void *)to, words);
}
#endif

#endif

/* Once per unit: they are long, and called for chunks. */
#define GPI_HALVES_LOOP __attribute__((noinline, unused)) static void

GPI_HALVES_LOOP gpi_f16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        struct gpi_floats f;
        for (int k = 0; k < GPI_FLOAT_VECTORS; k++)
            f.v[k] = gpi_f16s_widened(from + i + k * GPI_FLOAT_LANES);
        if (gpi_nans(&f)) /* the instruction makes signalling ones quiet */
            for (size_t k = i; k < i + GPI_HALVES_AT_ONCE; k++)
                to[k] = gpi_f16_to_float(from[k]);
        else
            for (int k = 0; k < GPI_FLOAT_VECTORS; k++)
                gpi_floats_store(to + i + k * GPI_FLOAT_LANES, f.v[k]);
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_f16_to_float(from[i]);
}

GPI_HALVES_LOOP gpi_floats_to_f16s(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        struct gpi_floats f;
        for (int k = 0; k < GPI_FLOAT_VECTORS; k++)
            f.v[k] = gpi_floats_load(from + i + k * GPI_FLOAT_LANES);
        if (gpi_nans(&f)) /* the instruction keeps their payload */
            for (size_t k = i; k < i + GPI_HALVES_AT_ONCE; k++)
                to[k] = gpi_float_to_f16(from[k]);
        else
            for (int k = 0; k < GPI_FLOAT_VECTORS; k++)
                gpi_f16s_narrowed(to + i + k * GPI_FLOAT_LANES, f.v[k]);
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_f16(from[i]);
}

GPI_HALVES_LOOP gpi_bf16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_FLOAT_LANES <= n; i += GPI_FLOAT_LANES)
        gpi_floats_store(to + i, gpi_bf16s_widened(from + i));
#endif
    for (; i < n; i++)
        to[i] = gpi_bf16_to_float(from[i]);
}

GPI_HALVES_LOOP gpi_floats_to_bf16s(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_BF16S_AT_ONCE <= n; i += GPI_BF16S_AT_ONCE)
        gpi_bf16s_narrowed(to + i, from + i);
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_bf16(from[i]);
}

#endif
