/* SPDX-License-Identifier: MIT */
/* The chunks of radixsort_short_cpu_tmpl.c with AVX-512: one vector of words. */

static INLINE __mmask16 chunk_mask(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}

static INLINE __mmask8 half_mask(size_t n, int half)
{
    return (__mmask8)(((1u << n) - 1) >> 8 * half);
}

/* How many of CHUNK ascending ends are not above a limit. */
static INLINE size_t ends_within(const uint32_t *ends, uint32_t limit)
{
    const __mmask16 fit = _mm512_cmple_epu32_mask(_mm512_loadu_si512(ends), all_lanes(limit));
    return (size_t)__builtin_popcount((unsigned)fit);
}

/* Bits of begin and of ends near it, from begin on. */
static INLINE uint32_t begins_of(const uint32_t *ends, uint32_t begin)
{
    const __m512i at = _mm512_sub_epi32(_mm512_loadu_si512(ends), all_lanes(begin));
    return 1 | (uint32_t)_mm512_reduce_or_epi32(_mm512_sllv_epi32(all_lanes(1), at));
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
    return _mm512_set1_epi64(
        (long long)((*(const uint64_t *)(const void *)first & ~c->low) | (flip & c->low)));
}

/* Keys as numbers. False: they differ from the first one in other bits than the lowest. */
static INLINE bool keys_load(const struct chunk *c, const char *keys, const char *first,
                             size_t key_bytes, uint64_t flip, lanes *v)
{
    const lanes turn = all_lanes((KEY)flip);
    if (key_bytes == 4) {
        const __mmask16 here = chunk_mask(c->n);
        const lanes k = _mm512_maskz_loadu_epi32(here, keys);
        const lanes differ = _mm512_xor_si512(k, all_lanes(*(const KEY *)(const void *)first));
        *v = _mm512_xor_si512(k, turn);
        return !_mm512_mask_test_epi32_mask(here, differ, all_lanes(~(KEY)c->low));
    }
    const __m512i high = _mm512_set1_epi64((long long)~c->low);
    const __m512i one = _mm512_set1_epi64(*(const long long *)(const void *)first);
    const __mmask8 here = half_mask(c->n, 0), there = half_mask(c->n, 1);
    const __m512i a = _mm512_maskz_loadu_epi64(here, keys);
    const __m512i b = _mm512_maskz_loadu_epi64(there, keys + 64);
    *v = _mm512_xor_si512(_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)),
                                             _mm512_cvtepi64_epi32(b), 1),
                          turn);
    return !(_mm512_mask_test_epi64_mask(here, _mm512_xor_si512(a, one), high) |
             _mm512_mask_test_epi64_mask(there, _mm512_xor_si512(b, one), high));
}

/* Words of items from number `from` on. Lanes behind the last item get the largest word. */
static INLINE void words_make(const struct chunk *c, uint32_t from, lanes *v)
{
    const lanes key = _mm512_and_si512(*v, all_lanes((KEY)c->low));
    const lanes place = _mm512_add_epi32(lane_numbers(), all_lanes(from));
    *v = _mm512_mask_or_epi32(all_lanes((KEY)-1), chunk_mask(c->n),
                              _mm512_slli_epi32(key, (unsigned)c->place_bits), place);
}

/* Where words are below the one before, of which the first is the last one of `before`. */
static INLINE lanes falls_from(lanes before, lanes v)
{
    const lanes lower = _mm512_alignr_epi32(v, before, LANES - 1);
    return _mm512_xor_si512(v, _mm512_max_epu32(v, lower));
}

static INLINE bool is_zero(lanes v)
{
    return _mm512_test_epi32_mask(v, v) == 0;
}

/* The item that a lane's segment begins with: the highest bit of begins up to the lane's. */
static INLINE void begins_put(uint32_t begins, lanes *v)
{
    const lanes upto =
        _mm512_sub_epi32(_mm512_sllv_epi32(all_lanes(2), lane_numbers()), all_lanes(1));
    const lanes zeros = _mm512_lzcnt_epi32(_mm512_and_si512(upto, all_lanes(begins)));
    const lanes begin = _mm512_andnot_si512(_mm512_slli_epi32(zeros, 28), all_lanes(15u << 28));
    *v = _mm512_or_si512(*v, begin);
}

/* Numbers of items are the lowest bits, which is what permutations look at. Values may stay where
 * they are. */
static INLINE void values_move(const struct chunk *c, const lanes *v, const char *from,
                               size_t bytes, char *to)
{
    const __mmask16 here = chunk_mask(c->n);
    if (bytes == 4) {
        const __m512i values = _mm512_maskz_loadu_epi32(here, from);
        _mm512_mask_storeu_epi32(to, here, _mm512_permutexvar_epi32(*v, values));
        return;
    }
    const __m512i at = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(*v));
    const __m512i at_high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(*v, 1));
    const __m512i a = _mm512_maskz_loadu_epi64(half_mask(c->n, 0), from);
    const __m512i b = _mm512_maskz_loadu_epi64(half_mask(c->n, 1), from + 64);
    _mm512_mask_storeu_epi64(to, half_mask(c->n, 0), _mm512_permutex2var_epi64(a, at, b));
    _mm512_mask_storeu_epi64(to + 64, half_mask(c->n, 1), _mm512_permutex2var_epi64(a, at_high, b));
}

static INLINE void keys_store(const struct chunk *c, const lanes *v, const lanes *common,
                              size_t key_bytes, char *to)
{
    const lanes key =
        _mm512_and_si512(_mm512_srli_epi32(*v, (unsigned)c->place_bits), all_lanes((KEY)c->low));
    if (key_bytes == 4) {
        _mm512_mask_storeu_epi32(to, chunk_mask(c->n), _mm512_xor_si512(key, *common));
        return;
    }
    const __m512i a = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(key));
    const __m512i b = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(key, 1));
    _mm512_mask_storeu_epi64(to, half_mask(c->n, 0), _mm512_xor_si512(a, *common));
    _mm512_mask_storeu_epi64(to + 64, half_mask(c->n, 1), _mm512_xor_si512(b, *common));
}

/* Those of up to CHUNK words, each by the bits of a mask. */
static INLINE void values_gather(const uint32_t *words, uint32_t mask, size_t n, const char *from,
                                 size_t bytes, char *to)
{
    const __m512i at = _mm512_and_si512(load_lanes(words), all_lanes(mask));
    if (bytes == 4) {
        const __mmask16 here = chunk_mask(n);
        _mm512_mask_storeu_epi32(
            to, here, _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), here, at, from, 4));
        return;
    }
    for (int half = 0; half < 2; half++) {
        const __mmask8 here = half_mask(n, half);
        const __m256i from_half =
            half ? _mm512_extracti64x4_epi64(at, 1) : _mm512_castsi512_si256(at);
        _mm512_mask_storeu_epi64(
            to + 64 * half, here,
            _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), here, from_half, from, 8));
    }
}
