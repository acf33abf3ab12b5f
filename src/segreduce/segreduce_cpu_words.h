/* SPDX-License-Identifier: MIT */
/* Lines of items as words that are joined, for the CPU. Included by segreduce_lines_cpu_tmpl.c. */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { LINE = 64 };

/* Lines of the same word. init: start as an item. */
struct lines {
    __m512i neutral, start, init, flip, magnitude, infinity;
    gp_dtype dtype;
    uint32_t item_bytes;
    bool real, wide, has_init;
};

/* An operation on words of a width, which is known to the compiler. */
#define OF_WIDTH(width, name, ...)                                                                 \
    ((width) == 1   ? _mm512_##name##8(__VA_ARGS__)                                                \
     : (width) == 2 ? _mm512_##name##16(__VA_ARGS__)                                               \
     : (width) == 4 ? _mm512_##name##32(__VA_ARGS__)                                               \
                    : _mm512_##name##64(__VA_ARGS__))

/* Low bytes of products, of even and of odd bytes. */
ALWAYS_INLINE __m512i products_8(__m512i a, __m512i b)
{
    const __m512i even = _mm512_mullo_epi16(a, b);
    const __m512i odd = _mm512_mullo_epi16(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8));
    return _mm512_mask_mov_epi8(even, 0xaaaaaaaaaaaaaaaa, _mm512_slli_epi16(odd, 8));
}

ALWAYS_INLINE __m512i join(gp_op op, int width, __m512i a, __m512i b)
{
    switch (op) {
    case GP_SUM:
        return OF_WIDTH(width, add_epi, a, b);
    case GP_PRODUCT:
        return width == 1   ? products_8(a, b)
               : width == 2 ? _mm512_mullo_epi16(a, b)
               : width == 4 ? _mm512_mullo_epi32(a, b)
                            : _mm512_mullo_epi64(a, b);
    case GP_MIN:
        return OF_WIDTH(width, min_epi, a, b);
    case GP_OR:
        return _mm512_or_si512(a, b);
    default:
        return _mm512_xor_si512(a, b);
    }
}

/* ---- lines of items -------------------------------------------------------------------------- */

/* All bits of words below zero. */
ALWAYS_INLINE __m512i signs(int width, __m512i v)
{
    return width == 2   ? _mm512_srai_epi16(v, 15)
           : width == 4 ? _mm512_srai_epi32(v, 31)
                        : _mm512_srai_epi64(v, 63);
}

/* Words of b where bits are set. */
ALWAYS_INLINE __m512i words_choose(int width, __m512i a, uint64_t bits, __m512i b)
{
    return width == 2   ? _mm512_mask_mov_epi16(a, (__mmask32)bits, b)
           : width == 4 ? _mm512_mask_mov_epi32(a, (__mmask16)bits, b)
                        : _mm512_mask_mov_epi64(a, (__mmask8)bits, b);
}

/* Which words are equal, as bits. Code of gcc 12 with the address sanitizer has bits set behind
 * those of a mask of eight. */
ALWAYS_INLINE uint64_t words_equal(int width, __m512i a, __m512i b)
{
    if (width == 8) {
        unsigned bits = _mm512_cmpeq_epi64_mask(a, b);
        __asm__("" : "+r"(bits));
        return bits & 0xff;
    }
    return width == 1   ? _mm512_cmpeq_epi8_mask(a, b)
           : width == 2 ? _mm512_cmpeq_epi16_mask(a, b)
                        : _mm512_cmpeq_epi32_mask(a, b);
}

/* Of halves: signed integers of the same size. */
ALWAYS_INLINE __m512i half_key(const struct lines *l, __m512i v)
{
    const __m512i size = _mm512_and_si512(v, l->magnitude), sign = _mm512_srai_epi16(v, 15);
    const __m512i all = _mm512_sub_epi16(_mm512_xor_si512(size, sign), sign);
    return _mm512_mask_mov_epi16(all, _mm512_cmpgt_epi16_mask(size, l->infinity), l->magnitude);
}

/* Bits of floats as signed integers, and back: those below zero without the sign. */
ALWAYS_INLINE __m512i real_turn(const struct lines *l, int width, __m512i v)
{
    return _mm512_ternarylogic_epi64(v, signs(width, v), l->magnitude, 0x78); /* a ^ (b & c) */
}

/* Floats as signed integers in gp's order: one zero, one NaN. */
ALWAYS_INLINE __m512i real_key(const struct lines *l, int width, __m512i v)
{
    const __m512i kinds = _mm512_set1_epi64(0x1111180011111800); /* NaN: kept, zero: +0 */
    if (width == 2)
        return half_key(l, v);
    const __m512i one =
        width == 4 ? _mm512_castps_si512(_mm512_fixupimm_ps(_mm512_castsi512_ps(l->magnitude),
                                                            _mm512_castsi512_ps(v), kinds, 0))
                   : _mm512_castpd_si512(_mm512_fixupimm_pd(_mm512_castsi512_pd(l->magnitude),
                                                            _mm512_castsi512_pd(v), kinds, 0));
    return real_turn(l, width, one);
}

/* Sums of the two or four items in each word of 4 bytes. */
ALWAYS_INLINE __m512i words_widen(gp_dtype dtype, __m512i v)
{
    const __m512i ones = _mm512_set1_epi16(1), bytes = _mm512_set1_epi8(1);
    switch (dtype) {
    case GP_U8:
        return _mm512_madd_epi16(_mm512_maddubs_epi16(v, bytes), ones);
    case GP_I8:
        return _mm512_madd_epi16(_mm512_maddubs_epi16(bytes, v), ones);
    case GP_I16:
        return _mm512_madd_epi16(v, ones);
    default:
        return _mm512_add_epi32(_mm512_srli_epi32(v, 16),
                                _mm512_and_si512(v, _mm512_set1_epi32(0xffff)));
    }
}

/* Items as words that can be joined. */
ALWAYS_INLINE __m512i words_of(const struct lines *l, gp_op op, int width, __m512i v)
{
    if (op == GP_SUM && width == 4 && l->wide)
        return words_widen(l->dtype, v);
    if (op == GP_MIN && width > 1 && l->real)
        v = real_key(l, width, v);
    return op == GP_MIN || op == GP_OR ? _mm512_xor_si512(v, l->flip) : v;
}

/* The first `bytes` of items, or a line of them. */
ALWAYS_INLINE __m512i line_load(const struct lines *l, gp_op op, int width, const char *in,
                                uint32_t bytes)
{
    const __mmask64 here = bytes < LINE ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0;
    return words_of(l, op, width, _mm512_mask_loadu_epi8(l->neutral, here, in));
}
