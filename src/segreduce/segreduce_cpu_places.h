/* SPDX-License-Identifier: MIT */
/* Places of extremes in segments. Included by segreduce_cpu_tmpl.c. */

/* The place among items [0, n), where that among the first i is known. */
ALWAYS_INLINE size_t place_on(bool largest, const in_t *in, size_t place, size_t i, size_t n)
{
    acc_t value = widen_in(in[place]);
    for (; i < n; i++) {
        const acc_t x = widen_in(in[i]);
        if (largest ? less(value, x) : less(x, value)) {
            value = x;
            place = i;
        }
    }
    return place;
}

#if SIDE_BY_SIDE

#if ACC_BYTES == 4
#define PLACES_OF LENGTHS_OF
#define PLACES_BELOW _mm512_cmplt_epu32_mask
#define LANES_TURNED(v, by)                                                                        \
    _mm512_permutexvar_epi32(_mm512_xor_si512(side_numbers(), PLACES_OF(by)), v)
#define LANES_LOAD _mm512_mask_loadu_epi32
#define PLACES_ADD _mm512_add_epi32
#else
#define PLACES_OF(x) _mm512_set1_epi64((long long)(x))
#define PLACES_BELOW _mm512_cmplt_epu64_mask
#define LANES_TURNED(v, by)                                                                        \
    _mm512_permutexvar_epi64(_mm512_xor_si512(side_numbers(), PLACES_OF(by)), v)
#define LANES_LOAD _mm512_mask_loadu_epi64
#define PLACES_ADD _mm512_add_epi64
#endif

ALWAYS_INLINE __m512i side_numbers(void)
{
#if ACC_BYTES == 4
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

/* Chosen in each step, so that there is one loop for both. */
ALWAYS_INLINE side_mask comes_before(bool largest, __m512i a, __m512i b)
{
    __asm__("" : "+r"(largest));
    return largest ? BELOW(b, a) : BELOW(a, b);
}

/* The best item of each lane and its place, then the best of lanes, of equal ones the first.
 * n >= SIDE. */
static __attribute__((noinline)) size_t place_long(bool largest, const in_t *in, size_t n)
{
    __m512i best = _mm512_loadu_si512(in), places = side_numbers(), at = places;
    for (size_t i = SIDE; i < n; i += SIDE) {
        const side_mask here = (side_mask)(n - i < SIDE ? (1u << (n - i)) - 1 : (1u << SIDE) - 1);
        const __m512i next = LANES_LOAD(best, here, in + i);
        const side_mask better = comes_before(largest, next, best);
        at = PLACES_ADD(at, PLACES_OF(SIDE));
        best = MOVE(best, better, next);
        places = MOVE(places, better, at);
    }
    for (int by = SIDE / 2; by > 0; by /= 2) {
        const __m512i other = LANES_TURNED(best, by), there = LANES_TURNED(places, by);
        const side_mask better = comes_before(largest, other, best);
        const side_mask worse = comes_before(largest, best, other);
        const side_mask first = PLACES_BELOW(there, places) & (side_mask)~worse;
        best = MOVE(best, better | first, other);
        places = MOVE(places, better | first, there);
    }
#if ACC_BYTES == 4
    return (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(places));
#else
    return (size_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(places));
#endif
}

#define PLACE_LONG(largest, p, in, n) place_long(largest, in, n)

#else

/* The value by the folds of the reduction, then the first item that has it. */
static __attribute__((noinline)) size_t place_long(const struct gpi_segreduce_piece *p,
                                                   const in_t *in, size_t n)
{
    const size_t block = GPI_REDUCE_BLOCK_BYTES / sizeof *in;
    const sum_t all = fold_long(p, in, n);
    size_t i = 0, found = 0;
    for (; i < n; i += block) {
        const size_t m = n - i < block ? n - i : block;
        found = p->folds->find(in + i, m, &all);
        if (found < m)
            break;
    }
    return i + found;
}
#define PLACE_LONG(largest, p, in, n) place_long(p, in, n)

#endif

#if SIDE_BY_SIDE
/* As fold_side_by_side(). */
ALWAYS_INLINE void place_side_by_side(bool largest, const struct gpi_segreduce_piece *p,
                                      const uint32_t *begins, const uint32_t *ends, uint64_t *to)
{
    const in_t *in = p->in;
    const lengths_t begin = LENGTHS_LOAD(begins);
    const lengths_t n = LENGTHS_SUB(LENGTHS_LOAD(ends), begin);
    const unsigned far = LENGTHS_ABOVE(n, LENGTHS_OF(GPI_SEGREDUCE_LONG));
    const unsigned any = LENGTHS_ABOVE(n, LENGTHS_OF(0));
    const __m512i none = _mm512_set1_epi64(-1);
    __m512i best = GATHER(none, (side_mask)(any & ~far), begin, in), places = PLACES_OF(0);
    unsigned some = LENGTHS_ABOVE(n, LENGTHS_OF(1)) & ~far;
    uint32_t t = 1;
    for (; __builtin_popcount(some) >= SIDE / 4; t++) {
        const __m512i next = GATHER(best, (side_mask)some, LENGTHS_ADD(begin, LENGTHS_OF(t)), in);
        const side_mask better = comes_before(largest, next, best);
        best = MOVE(best, better, next);
        places = MOVE(places, better, PLACES_OF(t));
        some = LENGTHS_ABOVE(n, LENGTHS_OF(t + 1)) & ~far;
    }
#if ACC_BYTES == 4
    const __m256i low = _mm512_castsi512_si256(places);
    const __m256i high = _mm512_extracti64x4_epi64(places, 1);
    _mm512_storeu_si512(to, _mm512_mask_cvtepu32_epi64(none, (__mmask8)any, low));
    _mm512_storeu_si512(to + 8, _mm512_mask_cvtepu32_epi64(none, (__mmask8)(any >> 8), high));
#else
    _mm512_storeu_si512(to, MOVE(none, (side_mask)any, places));
#endif
    for (some |= far; some; some &= some - 1) {
        const int k = __builtin_ctz(some);
        const uint32_t first = begins[k], items = ends[k] - first;
        to[k] = items > GPI_SEGREDUCE_LONG ? PLACE_LONG(largest, p, in + first, items)
                                           : place_on(largest, in + first, to[k], t, items);
    }
}
#endif

static void places_of(const struct gpi_segreduce_piece *p, uint64_t *to)
{
    const bool largest = p->op == GP_MAX;
    const in_t *in = p->in;
    uint32_t s = 0;
#if SIDE_BY_SIDE
    for (; p->count - s >= SIDE; s += SIDE)
        place_side_by_side(largest, p, p->begins + s, p->ends + s, to + s);
#endif
    for (; s < p->count; s++) {
        const uint32_t begin = p->begins[s], n = p->ends[s] - begin;
        to[s] = n == 0                    ? UINT64_MAX
                : n <= GPI_SEGREDUCE_LONG ? place_on(largest, in + begin, 0, 1, n)
                                          : PLACE_LONG(largest, p, in + begin, n);
    }
}

#if SIDE_BY_SIDE
static void unit_places(const struct gpi_segreduce_piece *p, uint64_t *to)
{
    struct dense d;
    uint64_t room[GPI_SEGREDUCE_PIECE];
    if (p->count < SIDE || !dense_open(p, &d)) {
        places_of(p, to);
        return;
    }
    places_of(&d.piece, room);
    memset(to, 0xff, p->count * sizeof *to);
    for (uint32_t k = 0; k < d.piece.count; k++)
        to[d.numbers[k]] = room[k];
}
#else
#define unit_places places_of
#endif
