/* SPDX-License-Identifier: MIT */
/*
 * Buckets between splitters, for keys alone whose highest bits tell too few of them apart: the
 * number of a word's bucket is found by halves, in two registers of splitters (AVX-512). Included
 * by radixsort_cpu_tmpl.c.
 */
enum { SPLIT_BUCKETS = 2 * LANES };

/* digits[i] = the splitters that are not above word i, of SPLIT_BUCKETS - 1 ascending ones; digits
 * has room for whole vectors. */
static void split_digits(const KEY *splitters, const KEY *words, size_t n, uint8_t *digits)
{
    const lanes low = _mm512_loadu_si512(splitters), high = _mm512_loadu_si512(splitters + LANES);
    for (size_t i = 0; i < n; i += LANES) {
        const lane_mask here = first_lanes(n - i < LANES ? n - i : LANES);
        const lanes word = EPI(_mm512_maskz_loadu)(here, words + i);
        lanes at = _mm512_setzero_si512();
        UNROLL
        for (int step = LANES; step > 0; step /= 2) {
            const lanes middle = EPI(_mm512_add)(at, all_lanes((KEY)(step - 1)));
            const lanes splitter = EPI(_mm512_permutex2var)(low, middle, high);
            const lane_mask passed = PASTE(EPU(_mm512_cmple), _mask)(splitter, word);
            at = EPI(_mm512_mask_add)(at, passed, at, all_lanes((KEY)step));
        }
#if GPI_KEY_BITS == 32
        _mm_storeu_si128((__m128i *)(void *)(digits + i), _mm512_cvtepi32_epi8(at));
#else
        _mm_storel_epi64((__m128i *)(void *)(digits + i), _mm512_cvtepi64_epi8(at));
#endif
    }
}
