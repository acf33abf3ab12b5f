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

/* ---- sums of integers by their prefixes ------------------------------------------------------ */

enum { LINE = 64, LANES = 16 /* ends at a time */ };

/* Parts of 16 bytes one or two up, zeros below. */
#define ONE_UP(v) _mm512_maskz_shuffle_i64x2(0xfc, v, v, 0x90)
#define TWO_UP(v) _mm512_maskz_shuffle_i64x2(0xf0, v, v, 0x40)

/* to[i] = carry + in[0] + .. + in[i], from `bytes` of items on to whole lines; returns the last one
 * in all items. Within parts by doubling, then by whole parts. */
#define PREFIX(BITS, LAST)                                                                         \
    static __m512i prefix_##BITS(const char *in, size_t bytes, __m512i carry, char *to)            \
    {                                                                                              \
        const __m512i last = LAST, top = _mm512_set1_epi64(7);                                     \
        for (size_t i = 0; i < bytes; i += LINE) {                                                 \
            const size_t left = bytes - i;                                                         \
            const __mmask64 here = left < LINE ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;       \
            __m512i v = _mm512_maskz_loadu_epi8(here, in + i);                                     \
            if (BITS == 8)                                                                         \
                v = _mm512_add_epi##BITS(v, _mm512_bslli_epi128(v, 1));                            \
            if (BITS <= 16)                                                                        \
                v = _mm512_add_epi##BITS(v, _mm512_bslli_epi128(v, 2));                            \
            v = _mm512_add_epi##BITS(v, _mm512_bslli_epi128(v, 4));                                \
            v = _mm512_add_epi##BITS(v, _mm512_bslli_epi128(v, 8));                                \
            const __m512i sums = _mm512_shuffle_epi8(v, last), one = ONE_UP(sums);                 \
            const __m512i two = TWO_UP(_mm512_add_epi##BITS(sums, one));                           \
            const __m512i before = _mm512_add_epi##BITS(one, two);                                 \
            const __m512i all = _mm512_add_epi##BITS(sums, before);                                \
            v = _mm512_add_epi##BITS(v, before);                                                   \
            _mm512_storeu_si512(to + i, _mm512_add_epi##BITS(v, carry));                           \
            carry = _mm512_add_epi##BITS(carry, _mm512_permutexvar_epi64(top, all));               \
        }                                                                                          \
        return carry;                                                                              \
    }

PREFIX(8, _mm512_set1_epi8(15))
PREFIX(16, _mm512_set1_epi16(0x0f0e))
PREFIX(32, _mm512_set1_epi32(0x0f0e0d0c))

static __m512i block_prefix(const struct gpi_segreduce_prefix *p, const char *in, size_t n,
                            __m512i carry, char *to)
{
    uint32_t words[GPI_SEGREDUCE_BLOCK];
    if (p->sum_bytes > p->item_bytes) {
        PASTE(gpi_segreduce_widen_, GPI_ISA_SUFFIX)(p->in_dtype, in, n, words);
        return prefix_32((const char *)words, n * 4, carry, to);
    }
    return p->sum_bytes == 1   ? prefix_8(in, n, carry, to)
           : p->sum_bytes == 2 ? prefix_16(in, 2 * n, carry, to)
                               : prefix_32(in, 4 * n, carry, to);
}

/* Sums of up to LANES segments by the prefix at each end, less that at the end before. */
static __m512i sums_store(const struct gpi_segreduce_prefix *p, const char *prefixes, __m512i ends,
                          size_t n, __m512i before, char *to)
{
    const __mmask16 here = (__mmask16)((1u << n) - 1);
    const __m512i none = _mm512_setzero_si512();
    const __m512i at =
        p->sum_bytes == 1   ? _mm512_mask_i32gather_epi32(none, here, ends, prefixes, 1)
        : p->sum_bytes == 2 ? _mm512_mask_i32gather_epi32(none, here, ends, prefixes, 2)
                            : _mm512_mask_i32gather_epi32(none, here, ends, prefixes, 4);
    const __m512i init = _mm512_set1_epi32((int)p->init);
    const __m512i sums =
        _mm512_sub_epi32(_mm512_add_epi32(at, init), _mm512_alignr_epi32(at, before, 15));
    if (p->out_bytes == 1)
        _mm512_mask_cvtepi32_storeu_epi8(to, here, sums);
    else if (p->out_bytes == 2)
        _mm512_mask_cvtepi32_storeu_epi16(to, here, sums);
    else
        _mm512_mask_storeu_epi32(to, here, sums);
    return _mm512_permutexvar_epi32(_mm512_set1_epi32((int)n - 1), at);
}

gpi_segreduce_prefix_fn PASTE(gpi_segreduce_prefix_, GPI_ISA_SUFFIX);

void PASTE(gpi_segreduce_prefix_, GPI_ISA_SUFFIX)(const struct gpi_segreduce_prefix *p,
                                                  const struct gpi_segreduce_piece *piece,
                                                  void *out)
{
    /* The sum of what is before each item of a block; behind them room for the rest of a line, and
     * for words of 4 bytes that are gathered. */
    _Alignas(LINE) char prefixes[LINE + 4 * GPI_SEGREDUCE_BLOCK + LINE];
    char *first = prefixes + LINE - p->sum_bytes, *to = out;
    const uint32_t n = piece->ends[piece->count - 1];
    __m512i carry = _mm512_setzero_si512(), before = carry;
    uint32_t s = 0, begin = 0;
    do {
        const uint32_t m = n - begin < GPI_SEGREDUCE_BLOCK ? n - begin : GPI_SEGREDUCE_BLOCK;
        _mm512_storeu_si512(prefixes, carry);
        carry = block_prefix(p, (const char *)piece->in + (size_t)begin * p->item_bytes, m, carry,
                             prefixes + LINE);
        while (s < piece->count && piece->ends[s] - begin <= m) {
            const uint32_t most = piece->count - s < LANES ? piece->count - s : LANES;
            const __mmask16 there = (__mmask16)((1u << most) - 1);
            const __m512i ends = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(there, piece->ends + s),
                                                  _mm512_set1_epi32((int)begin));
            const uint32_t few = (uint32_t)__builtin_popcount(
                _mm512_mask_cmple_epu32_mask(there, ends, _mm512_set1_epi32((int)m)));
            before = sums_store(p, first, ends, few, before, to + (size_t)s * p->out_bytes);
            s += few;
        }
        begin += m;
    } while (begin < n);
}
