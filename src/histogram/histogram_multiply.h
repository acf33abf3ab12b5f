/* SPDX-License-Identifier: MIT */
/*
 * From values to bins by products of 32-bit words, of which the high part is wanted. Vectors have
 * instructions for every second word only; compilers that start from a plain loop pay three times
 * as much for bringing words there and back as for the products.
 */
#ifndef GPI_HISTOGRAM_MULTIPLY_H
#define GPI_HISTOGRAM_MULTIPLY_H

#include <stddef.h>
#include <stdint.h>

/* Value x, of 8, 16 or 32 bits, becomes d = min(x - lo, range), where x - lo wraps as the value
 * does, and that d q + floor(d m / 2^64). */
struct gpi_multiply {
    uint32_t lo, range;
    uint32_t q;
    uint32_t high, low; /* m */
};

#if defined(__AVX512F__)
#include <immintrin.h>
#define GPI_LANES 16
typedef __m512i gpi_words;
#define GPI_WORDS(name) _mm512_##name
#define GPI_WORDS_8(p) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p)))
#define GPI_WORDS_16(p) _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(p)))
#define GPI_WORDS_32(p) _mm512_loadu_si512(p)
#define GPI_WORDS_AND(a, b) _mm512_and_si512(a, b)
#define GPI_WORDS_STORE(p, v) _mm512_storeu_si512(p, v)
#define GPI_WORDS_ODD(even, odd) _mm512_mask_mov_epi32(even, (__mmask16)0xaaaa, odd)
#elif defined(__AVX2__)
#include <immintrin.h>
#define GPI_LANES 8
typedef __m256i gpi_words;
#define GPI_WORDS(name) _mm256_##name
#define GPI_WORDS_8(p) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(p)))
#define GPI_WORDS_16(p) _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p)))
#define GPI_WORDS_32(p) _mm256_loadu_si256((const __m256i *)(p))
#define GPI_WORDS_AND(a, b) _mm256_and_si256(a, b)
#define GPI_WORDS_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define GPI_WORDS_ODD(even, odd) _mm256_blend_epi32(even, odd, 0xaa)
#endif

static inline uint32_t gpi_distance(const void *in, size_t item, const struct gpi_multiply *f)
{
    uint32_t d = item == 4   ? *(const uint32_t *)in - f->lo
                 : item == 2 ? (uint16_t)(*(const uint16_t *)in - f->lo)
                             : (uint8_t)(*(const uint8_t *)in - f->lo);
    return d < f->range ? d : f->range;
}

#ifdef GPI_LANES

static inline gpi_words gpi_distances(const void *in, size_t item, const struct gpi_multiply *f)
{
    const gpi_words lo = GPI_WORDS(set1_epi32)((int)f->lo);
    gpi_words d;
    if (item == 4) {
        d = GPI_WORDS(sub_epi32)(GPI_WORDS_32(in), lo);
    } else {
        d = GPI_WORDS(sub_epi32)(item == 2 ? GPI_WORDS_16(in) : GPI_WORDS_8(in), lo);
        d = GPI_WORDS_AND(d, GPI_WORDS(set1_epi32)(item == 2 ? 0xffff : 0xff));
    }
    return GPI_WORDS(min_epu32)(d, GPI_WORDS(set1_epi32)((int)f->range));
}

#endif

/* With q = 0, low = 0 and a shift after the product: bins[i] = floor(d high / 2^(32 + shift)).
 * item, the bytes of a value, is to be a constant. */
static inline void gpi_multiply_short(const struct gpi_multiply *f, unsigned shift, const void *in,
                                      size_t item, size_t count, uint32_t *bins)
{
    const char *p = in;
    size_t i = 0;
#ifdef GPI_LANES
    const gpi_words high = GPI_WORDS(set1_epi32)((int)f->high);
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    for (; i + GPI_LANES <= count; i += GPI_LANES) {
        gpi_words even = gpi_distances(p + i * item, item, f);
        gpi_words odd = GPI_WORDS(mul_epu32)(GPI_WORDS(srli_epi64)(even, 32), high);
        even = GPI_WORDS(srli_epi64)(GPI_WORDS(mul_epu32)(even, high), 32);
        GPI_WORDS_STORE(bins + i, GPI_WORDS(srl_epi32)(GPI_WORDS_ODD(even, odd), by));
    }
#endif
    for (; i < count; i++)
        bins[i] =
            (uint32_t)((uint64_t)gpi_distance(p + i * item, item, f) * f->high >> 32) >> shift;
}

static inline void gpi_multiply_long(const struct gpi_multiply *f, const void *in, size_t item,
                                     size_t count, uint32_t *bins)
{
    const char *p = in;
    size_t i = 0;
#ifdef GPI_LANES
    const gpi_words high = GPI_WORDS(set1_epi32)((int)f->high);
    const gpi_words low = GPI_WORDS(set1_epi32)((int)f->low), q = GPI_WORDS(set1_epi32)((int)f->q);
    for (; i + GPI_LANES <= count; i += GPI_LANES) {
        gpi_words d = gpi_distances(p + i * item, item, f), e = GPI_WORDS(srli_epi64)(d, 32);
        gpi_words even = GPI_WORDS(srli_epi64)(GPI_WORDS(mul_epu32)(d, low), 32);
        gpi_words odd = GPI_WORDS(srli_epi64)(GPI_WORDS(mul_epu32)(e, low), 32);
        even = GPI_WORDS(add_epi64)(even, GPI_WORDS(mul_epu32)(d, high));
        odd = GPI_WORDS(add_epi64)(odd, GPI_WORDS(mul_epu32)(e, high));
        even = GPI_WORDS_ODD(GPI_WORDS(srli_epi64)(even, 32), odd);
        GPI_WORDS_STORE(bins + i, GPI_WORDS(add_epi32)(even, GPI_WORDS(mullo_epi32)(d, q)));
    }
#endif
    for (; i < count; i++) {
        uint32_t d = gpi_distance(p + i * item, item, f);
        uint64_t product = (uint64_t)d * f->high + ((uint64_t)d * f->low >> 32);
        bins[i] = d * f->q + (uint32_t)(product >> 32);
    }
}

#endif
