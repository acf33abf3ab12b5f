/* SPDX-License-Identifier: MIT */
/* Narrow items as items of 4 bytes, results as halves, and sums of integers by their prefixes, for
 * the CPU; compiled for AVX-512. */
#include <immintrin.h>

#include "core/paste.h"
#include "segreduce/segreduce_cpu_internal.h"

/* Vectors of 16, the last one with zeros behind its items. */
#define WIDEN(vector, load, bytes, convert)                                                        \
    for (size_t i = 0; i < n; i += 16) {                                                           \
        const __mmask16 here = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);             \
        const vector v = load(here, (const char *)from + i * bytes);                               \
        _mm512_storeu_si512((char *)to + 4 * i, convert(v));                                       \
    }                                                                                              \
    break

#define OF_F16(v) _mm512_castps_si512(_mm512_cvtph_ps(v))
#define OF_BF16(v) _mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16)

gpi_segreduce_widen_fn PASTE(gpi_segreduce_widen_, GPI_ISA_SUFFIX);

void PASTE(gpi_segreduce_widen_, GPI_ISA_SUFFIX)(gp_dtype dtype, const void *from, size_t n,
                                                 void *to)
{
    switch (dtype) {
    case GP_U8:
        WIDEN(__m128i, _mm_maskz_loadu_epi8, 1, _mm512_cvtepu8_epi32);
    case GP_I8:
        WIDEN(__m128i, _mm_maskz_loadu_epi8, 1, _mm512_cvtepi8_epi32);
    case GP_U16:
        WIDEN(__m256i, _mm256_maskz_loadu_epi16, 2, _mm512_cvtepu16_epi32);
    case GP_I16:
        WIDEN(__m256i, _mm256_maskz_loadu_epi16, 2, _mm512_cvtepi16_epi32);
    case GP_F16:
        WIDEN(__m256i, _mm256_maskz_loadu_epi16, 2, OF_F16);
    default:
        WIDEN(__m256i, _mm256_maskz_loadu_epi16, 2, OF_BF16);
    }
}

/* ---- halves ---------------------------------------------------------------------------------- */

/* Of NaNs 0x7fff. */
static __m256i to_f16(__m512i v)
{
    return _mm512_cvtps_ph(_mm512_castsi512_ps(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static __m256i to_bf16(__m512i v)
{
    const __m512i high = _mm512_srli_epi32(v, 16);
    const __m512i half =
        _mm512_add_epi32(_mm512_set1_epi32(0x7fff), _mm512_and_si512(high, _mm512_set1_epi32(1)));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_add_epi32(v, half), 16));
}

gpi_segreduce_narrow_fn PASTE(gpi_segreduce_narrow_, GPI_ISA_SUFFIX);

void PASTE(gpi_segreduce_narrow_, GPI_ISA_SUFFIX)(gp_dtype dtype, const float *from, size_t n,
                                                  uint16_t *to)
{
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 here = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffff);
        const __m512 v = _mm512_maskz_loadu_ps(here, from + i);
        const __m512i bits = _mm512_castps_si512(v);
        const __m256i halves = dtype == GP_F16 ? to_f16(bits) : to_bf16(bits);
        const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
        _mm256_mask_storeu_epi16(to + i, here,
                                 _mm256_mask_mov_epi16(halves, nan, _mm256_set1_epi16(0x7fff)));
    }
}
