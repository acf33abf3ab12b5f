/* SPDX-License-Identifier: MIT */
/* The chunks of radixsort_short_cpu_tmpl.c with AVX2: two vectors of words. */

/* All bits of the first n lanes of 64 bits, from lane 4 * quarter on. */
static INLINE __m256i quarter_mask(size_t n, int quarter)
{
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)n - 4 * quarter), lane);
}

static INLINE lanes row_mask(size_t n, int row)
{
    return first_lanes(row_words(n, row));
}

static INLINE lanes lane_numbers(int row)
{
    return _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), all_lanes(8 * (KEY)row));
}

static INLINE __m256i quarter_load(const char *words, size_t n, int quarter)
{
    return _mm256_maskload_epi64((const long long *)(const void *)(words + 32 * quarter),
                                 quarter_mask(n, quarter));
}

static INLINE void quarter_store(char *words, size_t n, int quarter, __m256i v)
{
    _mm256_maskstore_epi64((long long *)(void *)(words + 32 * quarter), quarter_mask(n, quarter),
                           v);
}

/* How many of CHUNK ascending ends, below 2^31, are not above a limit. */
static INLINE size_t ends_within(const uint32_t *ends, uint32_t limit)
{
    const lanes a = _mm256_cmpgt_epi32(all_lanes(limit + 1), load_lanes(ends));
    const lanes b = _mm256_cmpgt_epi32(all_lanes(limit + 1), load_lanes(ends + LANES));
    return (size_t)(__builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(a))) +
                    __builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(b))));
}

/* Bits of begin and of ends near it, from begin on. */
static INLINE uint32_t begins_of(const uint32_t *ends, uint32_t begin)
{
    const lanes from = all_lanes(begin), one = all_lanes(1);
    const lanes a = _mm256_sllv_epi32(one, _mm256_sub_epi32(load_lanes(ends), from));
    const lanes b = _mm256_sllv_epi32(one, _mm256_sub_epi32(load_lanes(ends + LANES), from));
    const lanes both = _mm256_or_si256(a, b);
    __m128i all = _mm_or_si128(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    all = _mm_or_si128(all, _mm_shuffle_epi32(all, 0x4e));
    all = _mm_or_si128(all, _mm_shuffle_epi32(all, 0xb1));
    return 1 | (uint32_t)_mm_cvtsi128_si32(all);
}

/* The low halves of 8 words. */
static INLINE lanes low_halves(__m256i a, __m256i b)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(a, even),
                              _mm256_permutevar8x32_epi32(b, even), 0xf0);
}

/* The bits of the first key that words do not have, and those of flip that they have: what makes
 * keys of theirs. */
static INLINE lanes common_of(const struct chunk *c, const char *first, size_t key_bytes,
                              uint64_t flip)
{
    if (key_bytes == 4) {
        const KEY low = (KEY)c->low;
        return all_lanes((*(const KEY *)(const void *)first & ~low) | ((KEY)flip & low));
    }
    return _mm256_set1_epi64x(
        (long long)((*(const uint64_t *)(const void *)first & ~c->low) | (flip & c->low)));
}

/* Keys as numbers. False: they differ from the first one in other bits than the lowest. */
static INLINE bool keys_load(const struct chunk *c, const char *keys, const char *first,
                             size_t key_bytes, uint64_t flip, lanes *v)
{
    const lanes turn = all_lanes((KEY)flip);
    __m256i differ = _mm256_setzero_si256();
    if (key_bytes == 4) {
        const lanes one = all_lanes(*(const KEY *)(const void *)first);
        for (int i = 0; i < ROWS; i++) {
            v[i] = load_some((const KEY *)(const void *)keys + i * LANES, row_words(c->n, i), 0);
            const lanes x = _mm256_and_si256(_mm256_xor_si256(v[i], one), row_mask(c->n, i));
            differ = _mm256_or_si256(differ, x);
            v[i] = _mm256_xor_si256(v[i], turn);
        }
        return _mm256_testz_si256(differ, all_lanes(~(KEY)c->low));
    }
    const __m256i one = _mm256_set1_epi64x(*(const long long *)(const void *)first);
    __m256i k[4];
    for (int q = 0; q < 4; q++) {
        k[q] = quarter_load(keys, c->n, q);
        const __m256i x = _mm256_and_si256(_mm256_xor_si256(k[q], one), quarter_mask(c->n, q));
        differ = _mm256_or_si256(differ, x);
    }
    for (int i = 0; i < ROWS; i++)
        v[i] = _mm256_xor_si256(low_halves(k[2 * i], k[2 * i + 1]), turn);
    return _mm256_testz_si256(differ, _mm256_set1_epi64x((long long)~c->low));
}

/* Words of items from number `from` on. Lanes behind the last item get the largest word. */
static INLINE void words_make(const struct chunk *c, uint32_t from, lanes *v)
{
    for (int i = 0; i < ROWS; i++) {
        const lanes place = _mm256_add_epi32(lane_numbers(i), all_lanes(from));
        const lanes key = _mm256_and_si256(v[i], all_lanes((KEY)c->low));
        const lanes word = _mm256_or_si256(_mm256_slli_epi32(key, c->place_bits), place);
        v[i] = _mm256_or_si256(word, _mm256_xor_si256(row_mask(c->n, i), all_lanes((KEY)-1)));
    }
}

/* Where words are below the one before, of which the first is the last one of `before`. */
static INLINE lanes falls_from(lanes before, lanes v)
{
    const lanes lower = _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 12);
    return _mm256_xor_si256(v, _mm256_max_epu32(v, lower));
}

static INLINE bool is_zero(lanes v)
{
    return _mm256_testz_si256(v, v);
}

/* The item that a lane's segment begins with, which is the highest bit of begins up to the lane's:
 * the exponent of these bits as a float, of which the lowest 4 bits are one less. */
static INLINE void begins_put(uint32_t begins, lanes *v)
{
    const lanes ones = all_lanes((KEY)-1);
    for (int i = 0; i < ROWS; i++) {
        const lanes upto = _mm256_add_epi32(_mm256_sllv_epi32(all_lanes(2), lane_numbers(i)), ones);
        const lanes bits = _mm256_and_si256(upto, all_lanes(begins));
        const lanes biased = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(bits)), 23);
        v[i] = _mm256_or_si256(v[i], _mm256_slli_epi32(_mm256_sub_epi32(biased, ones), 28));
    }
}

/* Numbers of items are the lowest bits. Values may stay where they are. */
static INLINE void values_move(const struct chunk *c, const lanes *v, const char *from,
                               size_t bytes, char *to)
{
    if (bytes == 4) {
        const KEY *values = (const KEY *)(const void *)from;
        const lanes a = load_some(values, row_words(c->n, 0), 0);
        const lanes b = load_some(values + LANES, row_words(c->n, 1), 0);
        for (int i = 0; i < ROWS; i++) {
            const __m256 low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(a, v[i]));
            const __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(b, v[i]));
            const __m256 in_high = _mm256_castsi256_ps(_mm256_slli_epi32(v[i], 28));
            store_first((KEY *)(void *)to + i * LANES, row_words(c->n, i),
                        _mm256_castps_si256(_mm256_blendv_ps(low, high, in_high)));
        }
        return;
    }
    __m256i moved[4];
    for (int q = 0; q < 4; q++) {
        const __m128i at =
            q & 1 ? _mm256_extracti128_si256(v[q / 2], 1) : _mm256_castsi256_si128(v[q / 2]);
        moved[q] = _mm256_mask_i32gather_epi64(
            _mm256_setzero_si256(), (const long long *)(const void *)from,
            _mm_and_si128(at, _mm_set1_epi32(15)), quarter_mask(c->n, q), 8);
    }
    for (int q = 0; q < 4; q++)
        quarter_store(to, c->n, q, moved[q]);
}

static INLINE void keys_store(const struct chunk *c, const lanes *v, const lanes *common,
                              size_t key_bytes, char *to)
{
    for (int i = 0; i < ROWS; i++) {
        const lanes key =
            _mm256_and_si256(_mm256_srli_epi32(v[i], c->place_bits), all_lanes((KEY)c->low));
        if (key_bytes == 4) {
            store_first((KEY *)(void *)to + i * LANES, row_words(c->n, i),
                        _mm256_xor_si256(key, *common));
            continue;
        }
        const __m256i a = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(key));
        const __m256i b = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(key, 1));
        quarter_store(to, c->n, 2 * i, _mm256_xor_si256(a, *common));
        quarter_store(to, c->n, 2 * i + 1, _mm256_xor_si256(b, *common));
    }
}

/* Those of up to CHUNK words, each by the bits of a mask. */
static INLINE void values_gather(const uint32_t *words, uint32_t mask, size_t n, const char *from,
                                 size_t bytes, char *to)
{
    if (bytes == 4)
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)(void *)to)[i] = ((const uint32_t *)(const void *)from)[words[i] & mask];
    else
        for (size_t i = 0; i < n; i++)
            ((uint64_t *)(void *)to)[i] = ((const uint64_t *)(const void *)from)[words[i] & mask];
}
