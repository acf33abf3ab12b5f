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

/* Whether there is a NaN among 32 floats. */
static inline int gpi_nans(const __m256 v[4])
{
    const __m256 low = _mm256_cmp_ps(v[0], v[1], _CMP_UNORD_Q);
    const __m256 high = _mm256_cmp_ps(v[2], v[3], _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(low, high));
}

/* Eight floats as bf16s, in the low halves of words. */
static inline __m256i gpi_bf16_words(__m256 v)
{
    const __m256i below_half = _mm256_set1_epi32(0x7fff), u = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(u, _mm256_add_epi32(below_half, odd));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), below_half, nan);
}

#endif

/* Once per unit: they are long, and called for chunks. */
#define GPI_HALVES_LOOP __attribute__((noinline, unused)) static void

GPI_HALVES_LOOP gpi_f16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        __m256 v[4];
        for (int k = 0; k < 4; k++)
            v[k] = _mm256_cvtph_ps(gpi_halves_load(from + i + 8 * k));
        if (gpi_nans(v)) /* the instruction makes signalling ones quiet */
            for (size_t k = i; k < i + GPI_HALVES_AT_ONCE; k++)
                to[k] = gpi_f16_to_float(from[k]);
        else
            for (int k = 0; k < 4; k++)
                _mm256_storeu_ps(to + i + 8 * k, v[k]);
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
        __m256 v[4];
        for (int k = 0; k < 4; k++)
            v[k] = _mm256_loadu_ps(from + i + 8 * k);
        if (gpi_nans(v)) /* the instruction keeps their payload */
            for (size_t k = i; k < i + GPI_HALVES_AT_ONCE; k++)
                to[k] = gpi_float_to_f16(from[k]);
        else
            for (int k = 0; k < 4; k++)
                gpi_halves_store(to + i + 8 * k, _mm256_cvtps_ph(v[k], _MM_FROUND_TO_NEAREST_INT));
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_f16(from[i]);
}

GPI_HALVES_LOOP gpi_bf16s_to_floats(const uint16_t *from, size_t n, float *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + GPI_HALVES_AT_ONCE <= n; i += GPI_HALVES_AT_ONCE) {
        for (int k = 0; k < 4; k++) {
            const __m256i words = _mm256_cvtepu16_epi32(gpi_halves_load(from + i + 8 * k));
            _mm256_storeu_ps(to + i + 8 * k, _mm256_castsi256_ps(_mm256_slli_epi32(words, 16)));
        }
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_bf16_to_float(from[i]);
}

GPI_HALVES_LOOP gpi_floats_to_bf16s(const float *from, size_t n, uint16_t *to)
{
    size_t i = 0;
#ifdef GPI_HALVES_AT_ONCE
    for (; i + 16 <= n; i += 16) {
        const __m256i low = gpi_bf16_words(_mm256_loadu_ps(from + i));
        const __m256i high = gpi_bf16_words(_mm256_loadu_ps(from + i + 8));
        const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
        _mm256_storeu_si256((__m256i *)(void *)(to + i), words);
    }
#endif
    for (; i < n; i++)
        to[i] = gpi_float_to_bf16(from[i]);
}

#endif
