/* SPDX-License-Identifier: MIT */
/* The chunks of radixsort_short_cpu_tmpl.c with AVX-512: one vector of words. */

static INLINE __mmask8 half_mask(size_t n, int half)
{
    return (__mmask8)(((1u << n) - 1) >> 8 * half);
}

static INLINE lanes wide_load(const char *words, size_t n, int part)
{
    return _mm512_maskz_loadu_epi64(half_mask(n, part), words + 64 * part);
}

static INLINE void wide_store(char *words, size_t n, int part, lanes v)
{
    _mm512_mask_storeu_epi64(words + 64 * part, half_mask(n, part), v);
}

static INLINE lanes differing(lanes v, lanes one, size_t n)
{
    return _mm512_maskz_xor_epi32(first_lanes(n), v, one);
}

static INLINE lanes wide_differing(lanes v, lanes one, size_t n, int part)
{
    return _mm512_maskz_xor_epi64(half_mask(n, part), v, one);
}

static INLINE lanes low_halves(lanes a, lanes b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)),
                              _mm512_cvtepi64_epi32(b), 1);
}

static INLINE lanes widened(lanes v, int half)
{
    return _mm512_cvtepu32_epi64(half ? _mm512_extracti64x4_epi64(v, 1)
                                      : _mm512_castsi512_si256(v));
}

static INLINE lanes first_or_largest(lanes v, size_t n)
{
    return _mm512_mask_mov_epi32(all_lanes((KEY)-1), first_lanes(n), v);
}

static INLINE size_t ends_within(const uint32_t *ends, uint32_t limit)
{
    const __mmask16 fit = _mm512_cmple_epu32_mask(_mm512_loadu_si512(ends), all_lanes(limit));
    return (size_t)__builtin_popcount((unsigned)fit);
}

static INLINE uint32_t begins_of(const uint32_t *ends, uint32_t begin)
{
    const __m512i at = _mm512_sub_epi32(_mm512_loadu_si512(ends), all_lanes(begin));
    return 1 | (uint32_t)_mm512_reduce_or_epi32(_mm512_sllv_epi32(all_lanes(1), at));
}

static INLINE bool is_zero_in(lanes v, lanes bits)
{
    return _mm512_test_epi32_mask(v, bits) == 0;
}

/* By zeros before the highest bit. */
static INLINE lanes highest_bit(lanes bits)
{
    return _mm512_andnot_si512(_mm512_slli_epi32(_mm512_lzcnt_epi32(bits), 28),
                               all_lanes(15u << 28));
}

static INLINE void values_move(size_t n, const lanes *v, const char *from, size_t bytes, char *to)
{
    const __mmask16 here = first_lanes(n);
    if (bytes == 4) {
        const __m512i values = _mm512_maskz_loadu_epi32(here, from);
        _mm512_mask_storeu_epi32(to, here, _mm512_permutexvar_epi32(*v, values));
        return;
    }
    const __m512i a = wide_load(from, n, 0), b = wide_load(from, n, 1);
    wide_store(to, n, 0, _mm512_permutex2var_epi64(a, widened(*v, 0), b));
    wide_store(to, n, 1, _mm512_permutex2var_epi64(a, widened(*v, 1), b));
}
