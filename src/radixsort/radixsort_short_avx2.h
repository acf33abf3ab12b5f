/* SPDX-License-Identifier: MIT */
/* The chunks of radixsort_short_cpu_tmpl.c with AVX2: two vectors of words. */

/* All bits of the first n lanes of 64 bits, from lane 4 * quarter on. */
static INLINE __m256i quarter_mask(size_t n, int quarter)
{
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)n - 4 * quarter), lane);
}

static INLINE lanes wide_load(const char *words, size_t n, int part)
{
    return _mm256_maskload_epi64((const long long *)(const void *)(words + 32 * part),
                                 quarter_mask(n, part));
}

static INLINE void wide_store(char *words, size_t n, int part, lanes v)
{
    _mm256_maskstore_epi64((long long *)(void *)(words + 32 * part), quarter_mask(n, part), v);
}

static INLINE lanes differing(lanes v, lanes one, size_t n)
{
    return _mm256_and_si256(_mm256_xor_si256(v, one), first_lanes(n));
}

static INLINE lanes wide_differing(lanes v, lanes one, size_t n, int part)
{
    return _mm256_and_si256(_mm256_xor_si256(v, one), quarter_mask(n, part));
}

static INLINE lanes low_halves(lanes a, lanes b)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(a, even),
                              _mm256_permutevar8x32_epi32(b, even), 0xf0);
}

static INLINE __m128i half_of(lanes v, int half)
{
    return half ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v);
}

static INLINE lanes widened(lanes v, int half)
{
    return _mm256_cvtepu32_epi64(half_of(v, half));
}

static INLINE lanes first_or_largest(lanes v, size_t n)
{
    return _mm256_or_si256(v, _mm256_xor_si256(first_lanes(n), all_lanes((KEY)-1)));
}

/* Ends are below 2^31. */
static INLINE size_t ends_within(const uint32_t *ends, uint32_t limit)
{
    const lanes a = _mm256_cmpgt_epi32(all_lanes(limit + 1), load_lanes(ends));
    const lanes b = _mm256_cmpgt_epi32(all_lanes(limit + 1), load_lanes(ends + LANES));
    return (size_t)(__builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(a))) +
                    __builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(b))));
}

static INLINE uint32_t begins_of(const uint32_t *ends, uint32_t begin)
{
    const lanes from = all_lanes(begin), one = all_lanes(1);
    const lanes a = _mm256_sllv_epi32(one, _mm256_sub_epi32(load_lanes(ends), from));
    const lanes b = _mm256_sllv_epi32(one, _mm256_sub_epi32(load_lanes(ends + LANES), from));
    const lanes both = _mm256_or_si256(a, b);
    __m128i all = _mm_or_si128(half_of(both, 0), half_of(both, 1));
    all = _mm_or_si128(all, _mm_shuffle_epi32(all, 0x4e));
    all = _mm_or_si128(all, _mm_shuffle_epi32(all, 0xb1));
    return 1 | (uint32_t)_mm_cvtsi128_si32(all);
}

static INLINE bool is_zero_in(lanes v, lanes bits)
{
    return _mm256_testz_si256(v, bits);
}

/* By the exponent of the bits as a float, of which the lowest 4 bits are one less. */
static INLINE lanes highest_bit(lanes bits)
{
    const lanes biased = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(bits)), 23);
    return _mm256_slli_epi32(_mm256_sub_epi32(biased, all_lanes((KEY)-1)), 28);
}

static INLINE void values_move(size_t n, const lanes *v, const char *from, size_t bytes, char *to)
{
    if (bytes == 4) {
        const KEY *values = (const KEY *)(const void *)from;
        const lanes a = load_some(values, row_words(n, 0), 0);
        const lanes b = load_some(values + LANES, row_words(n, 1), 0);
        for (int i = 0; i < ROWS; i++) {
            const __m256 low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(a, v[i]));
            const __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(b, v[i]));
            const __m256 in_high = _mm256_castsi256_ps(_mm256_slli_epi32(v[i], 28));
            store_first((KEY *)(void *)to + i * LANES, row_words(n, i),
                        _mm256_castps_si256(_mm256_blendv_ps(low, high, in_high)));
        }
        return;
    }
    __m256i moved[4];
    for (int q = 0; q < 4; q++)
        moved[q] = _mm256_mask_i32gather_epi64(
            _mm256_setzero_si256(), (const long long *)(const void *)from,
            _mm_and_si128(half_of(v[q / 2], q & 1), _mm_set1_epi32(15)), quarter_mask(n, q), 8);
    for (int q = 0; q < 4; q++)
        wide_store(to, n, q, moved[q]);
}
