/* SPDX-License-Identifier: MIT */
/* Arrays of halves as floats and back, for the CPU's templates: the bits of half.h, by instructions
 * that convert where there are some. */
#ifndef GPI_HALF_CPU_H
#define GPI_HALF_CPU_H

#include <stddef.h>

#include "core/half.h"

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#define GPI_HAVE_HALVES 1
#endif

#ifdef GPI_HAVE_HALVES

static inline __m128i gpi_halves_load(const uint16_t *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static inline void gpi_halves_store(uint16_t *to, __m128i halves)
{
    _mm_storeu_si128((__m128i *)(void *)to, halves);
}

/* A vector of floats from and to halves; NaNs become 0x7fff. */
#if defined(__AVX512F__)

enum { GPI_FLOAT_LANES = 16 };
#define gpi_floats_load _mm512_loadu_ps
#define gpi_floats_store _mm512_storeu_ps

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
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    const __m512 some =
        _mm512_mask_mov_ps(v, nan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffe000)));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtps_ph(some, _MM_FROUND_TO_NEAREST_INT));
}

/* Rounded, in the upper halves of words. */
static inline __m512i gpi_bf16_words(__m512 v)
{
    const __m512i below_half = _mm512_set1_epi32(0x7fff), u = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(u, _mm512_add_epi32(below_half, odd));
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    return _mm512_mask_mov_epi32(up, nan, _mm512_set1_epi32(0x7fff0000));
}

static inline void gpi_bf16s_narrowed(uint16_t *to, __m512 low, __m512 high)
{
    static const uint16_t upper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                       23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                       45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    _mm512_storeu_si512(to,
                        _mm512_permutex2var_epi16(gpi_bf16_words(low), _mm512_loadu_si512(upper),
                                                  gpi_bf16_words(high)));
}

#else

enum { GPI_FLOAT_LANES = 8 };
#define gpi_floats_load _mm256_loadu_ps
#define gpi_floats_store _mm256_storeu_ps

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
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffe000));
    const __m256 some = _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    gpi_halves_store(to, _mm256_cvtps_ph(some, _MM_FROUND_TO_NEAREST_INT));
}

static inline __m256i gpi_bf16_words(__m256 v)
{
    const __m256i below_half = _mm256_set1_epi32(0x7fff), u = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(u, _mm256_add_epi32(below_half, odd));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), below_half, nan);
}

static inline void gpi_bf16s_narrowed(uint16_t *to, __m256 low, __m256 high)
{
    const __m256i words = _mm256_packus_epi32(gpi_bf16_words(low), gpi_bf16_words(high));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permute4x64_epi64(words, 0xd8));
}
#endif

#endif

/* Once per unit: they are long, and called for chunks. */
#define GPI_HALVES_LOOP __attribute__((noinline, unused)) static void

GPI_HALVES_LOOP gpi_f16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HAVE_HALVES
    for (; i + GPI_FLOAT_LANES <= n; i += GPI_FLOAT_LANES)
        gpi_floats_store(to + i, gpi_f16s_widened(from + i));
#endif
    for (; i < n; i++)
        to[i] = gpi_f16_to_float(from[i]);
}

GPI_HALVES_LOOP gpi_floats_to_f16s(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;
#ifdef GPI_HAVE_HALVES
    for (; i + GPI_FLOAT_LANES <= n; i += GPI_FLOAT_LANES)
        gpi_f16s_narrowed(to + i, gpi_floats_load(from + i));
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_f16(from[i]);
}

GPI_HALVES_LOOP gpi_bf16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HAVE_HALVES
    for (; i + GPI_FLOAT_LANES <= n; i += GPI_FLOAT_LANES)
        gpi_floats_store(to + i, gpi_bf16s_widened(from + i));
#endif
    for (; i < n; i++)
        to[i] = gpi_bf16_to_float(from[i]);
}

GPI_HALVES_LOOP gpi_floats_to_bf16s(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;
#ifdef GPI_HAVE_HALVES
    for (; i + 2 * GPI_FLOAT_LANES <= n; i += 2 * GPI_FLOAT_LANES)
        gpi_bf16s_narrowed(to + i, gpi_floats_load(from + i),
                           gpi_floats_load(from + i + GPI_FLOAT_LANES));
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_bf16(from[i]);
}

#endif
