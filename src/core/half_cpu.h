/* SPDX-License-Identifier: MIT */
/* Arrays of halves as floats and back, for the CPU's templates: the bits of half.h, by instructions
 * that convert where there are some. */
#ifndef GPI_HALF_CPU_H
#define GPI_HALF_CPU_H

#include <stddef.h>

#include "core/half.h"

#if defined(__AVX2__) && defined(__F16C__)
#include <immintrin.h>
#define GPI_HALVES_AT_ONCE 8
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

/* One bit for each NaN. */
static inline int gpi_nans(__m256 v)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

/* The low half of each of 8 words, which are below 2^16. */
static inline __m128i gpi_low_halves(__m256i words)
{
    const __m256i packed = _mm256_packus_epi32(words, words);
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

#endif

static inline void gpi_f16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        const __m256 v = _mm256_cvtph_ps(gpi_halves_load(from + i));
        if (gpi_nans(v)) /* the instruction makes signalling ones quiet */
            for (size_t k = i; k < i + GPI_HALVES_AT_ONCE; k++)
                to[k] = gpi_f16_to_float(from[k]);
        else
            _mm256_storeu_ps(to + i, v);
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_f16_to_float(from[i]);
}

static inline void gpi_floats_to_f16s(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        const __m256 v = _mm256_loadu_ps(from + i);
        const int nearest = _MM_FROUND_TO_NEAREST_INT;
        if (gpi_nans(v)) /* the instruction keeps their payload */
            for (size_t k = i; k < i + GPI_HALVES_AT_ONCE; k++)
                to[k] = gpi_float_to_f16(from[k]);
        else
            gpi_halves_store(to + i, _mm256_cvtps_ph(v, nearest));
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_f16(from[i]);
}

static inline void gpi_bf16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        const __m256i words = _mm256_cvtepu16_epi32(gpi_halves_load(from + i));
        _mm256_storeu_ps(to + i, _mm256_castsi256_ps(_mm256_slli_epi32(words, 16)));
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_bf16_to_float(from[i]);
}

static inline void gpi_floats_to_bf16s(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    const __m256i below_half = _mm256_set1_epi32(0x7fff), one = _mm256_set1_epi32(1);
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        const __m256 v = _mm256_loadu_ps(from + i);
        const __m256i u = _mm256_castps_si256(v);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), one);
        const __m256i up = _mm256_add_epi32(u, _mm256_add_epi32(below_half, odd));
        const __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
        gpi_halves_store(to + i,
                         gpi_low_halves(_mm256_blendv_epi8(_mm256_srli_epi32(up, 16), below_half,
                                                           _mm256_castps_si256(nan))));
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_bf16(from[i]);
}

#endif
