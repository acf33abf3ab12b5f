/* SPDX-License-Identifier: MIT */
/* Segments of items of two scalars side by side. Included by segreduce_side_cpu_tmpl.c. */

typedef scalar_t scalars_t __attribute__((vector_size(VECTOR)));

/* One item of each segment. */
struct side_items {
    scalars_t v[GPI_SCALARS];
};

#if ACC_BYTES == 4
#define LOW_HALVES _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_BY _mm512_set1_epi32(8)
#define INTERLEAVE(a, at, b) _mm512_permutex2var_epi32(a, at, b)
#define PLACES_UP _mm512_add_epi32
#else
#define LOW_HALVES _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_BY _mm512_set1_epi64(4)
#define INTERLEAVE(a, at, b) _mm512_permutex2var_epi64(a, at, b)
#define PLACES_UP _mm512_add_epi64
#endif

/* The items at places, of lanes that are set: pairs of 4 bytes as words, which are taken apart. */
ALWAYS_INLINE struct side_items side_gather(side_mask lanes, lengths_t at, const void *in)
{
    const __m512i none = _mm512_setzero_si512();
#if ACC_BYTES == 4
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512i low =
        _mm512_mask_i32gather_epi64(none, (__mmask8)lanes, _mm512_castsi512_si256(at), in, 8);
    const __m512i high = _mm512_mask_i32gather_epi64(none, (__mmask8)(lanes >> 8),
                                                     _mm512_extracti64x4_epi64(at, 1), in, 8);
    return (struct side_items){{(scalars_t)_mm512_permutex2var_epi32(low, even, high),
                                (scalars_t)_mm512_permutex2var_epi32(low, odd, high)}};
#else
    const lengths_t first = _mm256_slli_epi32(at, 1);
    const lengths_t second = _mm256_add_epi32(first, _mm256_set1_epi32(1));
    return (struct side_items){
        {(scalars_t)GATHER(none, lanes, first, in), (scalars_t)GATHER(none, lanes, second, in)}};
#endif
}

ALWAYS_INLINE struct side_items side_join(gp_op op, struct side_items l, struct side_items r){
    GPI_RETURN_PAIR_RESULT(struct side_items)}

ALWAYS_INLINE void side_store(struct side_items all, sum_t *to)
{
    const __m512i a = (__m512i)all.v[0], b = (__m512i)all.v[1], low = LOW_HALVES;
    _mm512_storeu_si512(to, INTERLEAVE(a, low, b));
    _mm512_storeu_si512(to + SIDE / 2, INTERLEAVE(a, PLACES_UP(low, HIGH_BY), b));
}

/* As of one scalar. */
ALWAYS_INLINE void fold_side_by_side(gp_op op, const struct gpi_segreduce_piece *p,
                                     const uint32_t *begins, const uint32_t *ends, sum_t *to)
{
    const lengths_t begin = LENGTHS_LOAD(begins);
    const lengths_t n = LENGTHS_SUB(LENGTHS_LOAD(ends), begin);
    const unsigned far = side_lanes(LENGTHS_ABOVE(n, LENGTHS_OF(GPI_SEGREDUCE_LONG)));
    const scalars_t zero = {0};
    struct side_items all = {{zero, zero}};
    unsigned some = side_lanes(LENGTHS_ABOVE(n, LENGTHS_OF(0))) & ~far;
    uint32_t t = 0;
    for (; __builtin_popcount(some) >= SIDE / 4; t++) {
        const side_mask lanes = (side_mask)some;
        const struct side_items next = side_gather(lanes, LENGTHS_ADD(begin, LENGTHS_OF(t)), p->in);
        const struct side_items joined = t ? side_join(op, all, next) : next;
        for (int k = 0; k < GPI_SCALARS; k++)
            all.v[k] = (scalars_t)MOVE((__m512i)all.v[k], lanes, (__m512i)joined.v[k]);
        some = side_lanes(LENGTHS_ABOVE(n, LENGTHS_OF(t + 1))) & ~far;
    }
    side_store(all, to);
    fold_lanes(op, p, begins, ends, some, t, to);
    fold_lanes(op, p, begins, ends, far, 0, to);
}
