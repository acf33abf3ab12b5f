/* SPDX-License-Identifier: MIT */
/*
 * Folds of segments whose items may be joined in any order, and places of extremes, for the CPU;
 * compiled for AVX-512.
 *
 * A segment's items are loaded as lines, neutral items behind them, and folded to one line; sixteen
 * (of items of 8 bytes eight) of these become one that has a word of each in halves: each step
 * joins two lines into one by two shuffles. So no branch depends on a length but that of the loop
 * over the lines of a segment. Where each of sixteen segments has one item, the items are folds.
 *
 * Extremes are the least of keys: signed words that compare as the items do, inverted for maxima.
 * A place is found by a second look at the segment, for its least key.
 */
#include <immintrin.h>
#include <string.h>

#include "core/paste.h"
#include "segreduce/segreduce_cpu_list.h"
#include "segreduce/segreduce_cpu_words.h"

/* Sixteen of a list, or eight, or what is left. */
struct some {
    const uint32_t *begins, *ends;
    uint32_t count;
    bool ones; /* each has one item */
};

/* ---- a segment ------------------------------------------------------------------------------- */

ALWAYS_INLINE __m512i segment_fold(const struct lines *l, gp_op op, int width, const char *in,
                                   const struct some *of, uint32_t k)
{
    const char *items = in + (size_t)of->begins[k] * l->item_bytes;
    const uint32_t bytes = (of->ends[k] - of->begins[k]) * l->item_bytes;
    __m512i all = line_load(l, op, width, items, bytes), other = l->neutral;
    uint32_t i = LINE;
    for (; op == GP_PRODUCT && i + LINE < bytes; i += 2 * LINE) { /* which takes many clocks */
        all = join(op, width, all, line_load(l, op, width, items + i, bytes - i));
        other = join(op, width, other, line_load(l, op, width, items + i + LINE, bytes - i - LINE));
    }
    for (; i < bytes; i += LINE)
        all = join(op, width, all, line_load(l, op, width, items + i, bytes - i));
    return op == GP_PRODUCT && bytes > LINE ? join(op, width, all, other) : all;
}

#define LOAD(i) line_load(l, GP_MIN, width, items + (i), bytes - (i))

/* The first item whose key is the least, given all; fold: its line of keys, if it has one. */
ALWAYS_INLINE size_t segment_find(const struct lines *l, int width, const char *in,
                                  const struct some *of, uint32_t k, __m512i fold, const void *all)
{
    const char *items = in + (size_t)of->begins[k] * l->item_bytes;
    const uint32_t bytes = (of->ends[k] - of->begins[k]) * l->item_bytes;
    uint64_t key = 0;
    memcpy(&key, (const char *)all + k * (width == 8 ? 8 : 4), width == 8 ? 8 : 4);
    const __m512i least = width == 1   ? _mm512_set1_epi8((char)key)
                          : width == 2 ? _mm512_set1_epi16((short)key)
                          : width == 4 ? _mm512_set1_epi32((int)key)
                                       : _mm512_set1_epi64((long long)key);
    uint64_t here = words_equal(width, fold, least);
    uint32_t i = 0;
    if (bytes > (uint32_t)width * 64)
        while (!(here = words_equal(width, LOAD(i), least)) && i + LINE < bytes)
            i += LINE;
    else if (bytes > LINE) /* no branch foresees in which of few lines it is */
        for (uint32_t j = 0; j < bytes; j += LINE)
            here = (j ? here : 0) | words_equal(width, LOAD(j), least) << j / (uint32_t)width;
    return i / (uint32_t)width + (uint32_t)__builtin_ctzll(here | (uint64_t)1 << 63);
}

/* ---- sixteen segments ------------------------------------------------------------------------ */

/* Four lines, of items of 8 bytes two: each 16 bytes have a word of each. */
ALWAYS_INLINE __m512i some_join(gp_op op, int width, const __m512i *v)
{
    if (width == 8)
        return join(op, width, _mm512_unpacklo_epi64(v[0], v[1]),
                    _mm512_unpackhi_epi64(v[0], v[1]));
    const __m512i a =
        join(op, width, _mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    const __m512i b =
        join(op, width, _mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    return join(op, width, _mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

ALWAYS_INLINE __m512i halves_join(gp_op op, int width, __m512i a, __m512i b)
{
    return join(op, width, _mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
}

/* A word of each line; of items that are narrower, its low bytes are the fold. */
ALWAYS_INLINE __m512i lines_join(const struct lines *l, gp_op op, int width, const __m512i *v)
{
    const int step = width == 8 ? 2 : 4;
    __m512i part[4];
    for (int k = 0; k < 4; k++)
        part[k] = some_join(op, width, v + k * step);
    __m512i all = halves_join(op, width, halves_join(op, width, part[0], part[1]),
                              halves_join(op, width, part[2], part[3]));
    if (width <= 4 && l->item_bytes <= 2 && !l->wide)
        all = join(op, width, all, _mm512_srli_epi32(all, 16));
    if (width <= 4 && l->item_bytes == 1 && !l->wide)
        all = join(op, width, all, _mm512_srli_epi32(all, 8));
    return all;
}

/* The only items of as many segments. */
ALWAYS_INLINE __m512i ones_load(const struct lines *l, const char *in, uint32_t begin,
                                uint32_t count)
{
    const uint32_t bytes = count * l->item_bytes;
    const __mmask64 here = bytes < LINE ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0;
    const __m512i v = _mm512_mask_loadu_epi8(l->neutral, here, in + (size_t)begin * l->item_bytes);
    const __m128i low = _mm512_castsi512_si128(v);
    const __m256i half = _mm512_castsi512_si256(v);
    return l->item_bytes >= 4   ? v
           : l->item_bytes == 2 ? _mm512_cvtepu16_epi32(half)
                                : _mm512_cvtepu8_epi32(low);
}

/* Extremes of floats out of their keys; zeros and NaNs, which are of several kinds, out of the
 * items. items: as they are, where each segment has one. */
ALWAYS_INLINE void reals_store(const struct lines *l, int width, const char *in,
                               const struct some *of, const __m512i *lines, __m512i least,
                               __m512i items, char *words)
{
    const uint32_t bytes = width == 8 ? 8 : 4, every = bytes / (uint32_t)width;
    const __m512i key = _mm512_xor_si512(least, l->flip), none = _mm512_setzero_si512();
    const __m512i size = width == 2 ? _mm512_abs_epi16(key) : none;
    __m512i all = width == 2 ? _mm512_or_si512(size, _mm512_andnot_si512(l->magnitude, key))
                             : real_turn(l, width, key);
    uint64_t lost = words_equal(width, key, none) | words_equal(width, key, l->magnitude);
    _Alignas(LINE) char keys[LINE];
    if (of->ones) {
        all = items;
        lost = 0;
    }
    if (l->has_init) {
        const __m512i init = OF_WIDTH(width, min_epi, least, l->start);
        const uint64_t before = words_equal(width, init, l->start);
        all = words_choose(width, all, before, l->init);
        lost &= ~before;
    }
    _mm512_storeu_si512(words, all);
    _mm512_storeu_si512(keys, least);
    for (lost &= width == 2 ? 0x55555555 : 0xffff; lost; lost &= lost - 1) {
        const uint32_t k = (uint32_t)__builtin_ctzll(lost) / every;
        if (k >= of->count)
            break;
        const size_t place = of->begins[k] + segment_find(l, width, in, of, k, lines[k], keys);
        memcpy(words + k * bytes, in + place * (size_t)width, (size_t)width);
    }
}

ALWAYS_INLINE void places_store(const struct lines *l, int width, const char *in,
                                const struct some *of, const __m512i *lines, __m512i least,
                                uint32_t *to)
{
    _Alignas(LINE) char keys[LINE];
    if (of->ones) {
        _mm512_storeu_si512(to, _mm512_setzero_si512());
        return;
    }
    _mm512_storeu_si512(keys, least);
    for (uint32_t k = 0; k < of->count; k++)
        to[k] = (uint32_t)segment_find(l, width, in, of, k, lines[k], keys);
}

/* The folds, or the places, of the segments of a list, in words of 4 bytes, of items of 8 bytes
 * folds in words of these. */
ALWAYS_INLINE void list_fold(const struct lines *l, gp_op op, int width, const char *in,
                             const struct gpi_segreduce_list *list, bool places, char *words)
{
    const uint32_t side = width == 8 ? 8 : 16;
    __m512i lines[16];
    for (uint32_t s = 0; s < list->count; s += side) {
        struct some of = {.begins = list->begins + s,
                          .ends = list->ends + s,
                          .count = list->count - s < side ? list->count - s : side};
        of.ones = of.ends[of.count - 1] - of.begins[0] == of.count;
        __m512i all, items = _mm512_setzero_si512();
        if (of.ones) {
            items = ones_load(l, in, of.begins[0], of.count);
            all = words_of(l, op, width, items);
        } else {
            for (uint32_t k = 0; k < side; k++)
                lines[k] = segment_fold(l, op, width, in, &of, k);
            all = lines_join(l, op, width, lines);
        }
        char *to = words + s * (LINE / side);
        if (op == GP_MIN && places)
            places_store(l, width, in, &of, lines, all, (uint32_t *)(void *)words + s);
        else if (op == GP_MIN && l->real)
            reals_store(l, width, in, &of, lines, all, items, to);
        else
            _mm512_storeu_si512(to, _mm512_xor_si512(join(op, width, all, l->start), l->flip));
    }
}

/* Loops of their own for each kind of items. */
#define LIST(OP, WIDTH, DTYPE, REAL, WIDE)                                                         \
    do {                                                                                           \
        struct lines of = l;                                                                       \
        of.dtype = DTYPE;                                                                          \
        of.real = REAL;                                                                            \
        of.wide = WIDE;                                                                            \
        of.start = OP == GP_MIN || OP == GP_OR ? words_of(&of, OP, WIDTH, l.init) : l.init;        \
        list_fold(&of, OP, WIDTH, in, list, places, words);                                        \
        return;                                                                                    \
    } while (0)

#define LISTS(OP, REAL)                                                                            \
    switch (given->item_bytes) {                                                                   \
    case 1:                                                                                        \
        LIST(OP, 1, GP_U8, false, false);                                                          \
    case 2:                                                                                        \
        LIST(OP, 2, GP_U16, REAL, false);                                                          \
    case 4:                                                                                        \
        LIST(OP, 4, GP_U32, REAL, false);                                                          \
    default:                                                                                       \
        LIST(OP, 8, GP_U64, REAL, false);                                                          \
    }

/* Bits do not depend on a width. */
#define BITS(OP)                                                                                   \
    if (given->item_bytes == 8)                                                                    \
        LIST(OP, 8, GP_U64, false, false);                                                         \
    LIST(OP, 4, GP_U32, false, false)

static void list_reduce(const struct gpi_segreduce_lines *given, const char *in,
                        const struct gpi_segreduce_list *list, bool places, char *words)
{
    const struct lines l = {.neutral = _mm512_set1_epi64((long long)given->neutral),
                            .init = _mm512_set1_epi64((long long)given->start),
                            .has_init = given->has_init,
                            .flip = _mm512_set1_epi64((long long)given->flip),
                            .magnitude = _mm512_set1_epi64((long long)given->magnitude),
                            .infinity = _mm512_set1_epi64((long long)given->infinity),
                            .item_bytes = given->item_bytes};
    if (given->op == GP_PRODUCT)
        LISTS(GP_PRODUCT, false);
    if (given->op == GP_AND || given->op == GP_OR) {
        BITS(GP_OR);
    }
    if (given->op == GP_XOR) {
        BITS(GP_XOR);
    }
    if (given->op != GP_SUM && given->infinity)
        LISTS(GP_MIN, true);
    if (given->op != GP_SUM)
        LISTS(GP_MIN, false);
    if (given->out_bytes == given->item_bytes)
        LISTS(GP_SUM, false);
    switch (given->dtype) {
    case GP_U8:
        LIST(GP_SUM, 4, GP_U8, false, true);
    case GP_I8:
        LIST(GP_SUM, 4, GP_I8, false, true);
    case GP_U16:
        LIST(GP_SUM, 4, GP_U16, false, true);
    default:
        LIST(GP_SUM, 4, GP_I16, false, true);
    }
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void words_spread(const struct gpi_segreduce_list *list, uint32_t count, uint32_t out_bytes,
                         uint64_t empty, const void *words, char *to)
{
    const __m512i none = _mm512_set1_epi64((long long)empty);
    const uint32_t *small = words;
    const uint64_t *large = words;
    for (uint32_t s = 0; s < count; s += 16, to += 16 * out_bytes) {
        const __mmask16 here = gpi_lanes_of(count - s), some = list->some[s / 16];
        if (out_bytes == 8) {
            const __m512i low = gpi_segreduce_spread_64(none, some, &large);
            const __m512i high = gpi_segreduce_spread_64(none, some >> 8u, &large);
            _mm512_mask_storeu_epi64(to, (__mmask8)here, low);
            _mm512_mask_storeu_epi64(to + LINE, (__mmask8)(here >> 8), high);
            continue;
        }
        const __m512i all = gpi_segreduce_spread_32(none, some, &small);
        if (out_bytes == 1)
            _mm512_mask_cvtepi32_storeu_epi8(to, here, all);
        else if (out_bytes == 2)
            _mm512_mask_cvtepi32_storeu_epi16(to, here, all);
        else
            _mm512_mask_storeu_epi32(to, here, all);
    }
}

static void places_spread(const struct gpi_segreduce_list *list, uint32_t count,
                          const uint32_t *words, uint64_t *to)
{
    const __m512i none = _mm512_set1_epi64(-1);
    for (uint32_t s = 0; s < count; s += 16, to += 16) {
        const __mmask16 here = gpi_lanes_of(count - s), some = list->some[s / 16];
        const __m512i all = gpi_segreduce_spread_32(none, some, &words);
        const __m256i low = _mm512_castsi512_si256(all), high = _mm512_extracti64x4_epi64(all, 1);
        _mm512_mask_storeu_epi64(to, (__mmask8)here,
                                 _mm512_mask_cvtepu32_epi64(none, (__mmask8)some, low));
        _mm512_mask_storeu_epi64(to + 8, (__mmask8)(here >> 8),
                                 _mm512_mask_cvtepu32_epi64(none, (__mmask8)(some >> 8), high));
    }
}

gpi_segreduce_lines_fn PASTE(gpi_segreduce_lines_, GPI_ISA_SUFFIX);

void PASTE(gpi_segreduce_lines_, GPI_ISA_SUFFIX)(const struct gpi_segreduce_lines *l,
                                                 const struct gpi_segreduce_piece *p, bool places,
                                                 void *to)
{
    struct gpi_segreduce_list list;
    _Alignas(LINE) char words[8 * GPI_SEGREDUCE_ROOM];
    gpi_segreduce_list(p, &list);
    list_reduce(l, p->in, &list, places, words);
    _mm512_storeu_si512(words + list.count * (l->item_bytes == 8 && !places ? 8 : 4),
                        _mm512_setzero_si512());
    if (places)
        places_spread(&list, p->count, (const uint32_t *)(const void *)words, to);
    else
        words_spread(&list, p->count, l->out_bytes, l->start, words, to);
}
