/* SPDX-License-Identifier: MIT */
/* Narrow items as items of 4 bytes, for the CPU; compiled for AVX-512. */
#include <immintrin.h>

#include "core/paste.h"
#include "segreduce/segreduce_cpu.h"

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
