/* SPDX-License-Identifier: MIT */
/* Where runs begin, on the CPU, compiled once per instruction set. */
#include "core/ahead.h"
#include "core/words.h"
#include "group/group_internal.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* What two float keys are that are equal without having the same bits; inf 0: none. */
struct order {
    uint64_t sign, inf;
};

#if defined(__AVX512BW__)

/* Lane k of a vector: whether key k differs from the one before. */
#define HEADS_MASK(BITS)                                                                           \
    ALWAYS_INLINE uint64_t heads_mask_##BITS(__m512i x, __m512i y, const struct order *o)          \
    {                                                                                              \
        const __m512i low = _mm512_set1_epi##BITS((int##BITS##_t) ~o->sign);                       \
        const __m512i inf = _mm512_set1_epi##BITS((int##BITS##_t)o->inf);                          \
        uint64_t heads = _mm512_cmpneq_epi##BITS##_mask(x, y);                                     \
        if (o->inf && heads) {                                                                     \
            heads &= _mm512_test_epi##BITS##_mask(_mm512_or_si512(x, y), low);                     \
            heads &= ~(uint64_t)(_mm512_cmpgt_epu##BITS##_mask(_mm512_and_si512(x, low), inf) &    \
                                 _mm512_cmpgt_epu##BITS##_mask(_mm512_and_si512(y, low), inf));    \
        }                                                                                          \
        return heads;                                                                              \
    }
HEADS_MASK(8)
HEADS_MASK(16)
HEADS_MASK(32)
HEADS_MASK(64)

/* Bit k: whether key k of 64 differs from the one before. A width is a constant where this is
 * inlined, here and below. */
ALWAYS_INLINE uint64_t heads_of_group(const char *in, const struct order *o, int width)
{
    uint64_t bits = 0;
    for (int k = 0; k < width; k++) {
        const __m512i x = _mm512_loadu_si512(in + 64 * k);
        const __m512i y = _mm512_loadu_si512(in + 64 * k - width);
        const uint64_t some = width == 1   ? heads_mask_8(x, y, o)
                              : width == 2 ? heads_mask_16(x, y, o)
                              : width == 4 ? heads_mask_32(x, y, o)
                                           : heads_mask_64(x, y, o);
        bits |= some << 64 / width * k;
    }
    return bits;
}

#else

/* Bit k: whether flags[k], 0 or 1, is set. */
ALWAYS_INLINE uint64_t bits_of_flags(const uint8_t *flags)
{
    uint64_t bits = 0;
#if defined(__SSE2__)
    for (int k = 0; k < 4; k++) {
        __m128i f = _mm_loadu_si128((const __m128i_u *)(const void *)(flags + 16 * k));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_slli_epi16(f, 7)) << (16 * k);
    }
#else
    for (int k = 0; k < 64; k++)
        bits |= (uint64_t)flags[k] << k;
#endif
    return bits;
}

/* One per width, so that 64 of them vectorise. */
#define DIFFER(T)                                                                                  \
    ALWAYS_INLINE uint8_t differ_##T(T x, T y)                                                     \
    {                                                                                              \
        return x != y;                                                                             \
    }                                                                                              \
    ALWAYS_INLINE uint8_t floats_differ_##T(T x, T y, const struct order *o)                       \
    {                                                                                              \
        const T low = (T)~o->sign, inf = (T)o->inf, a = x & low, b = y & low;                      \
        return (x != y) & ((a | b) != 0) & !((a > inf) & (b > inf));                               \
    }
DIFFER(uint8_t)
DIFFER(uint16_t)
DIFFER(uint32_t)
DIFFER(uint64_t)

ALWAYS_INLINE uint64_t heads_of_group(const char *in, const struct order *o, int width)
{
    uint8_t flags[64];
#define FLAGS(T)                                                                                   \
    do {                                                                                           \
        const T *own = (const T *)(const void *)in, *before = own - 1;                             \
        if (o->inf)                                                                                \
            for (int k = 0; k < 64; k++)                                                           \
                flags[k] = floats_differ_##T(own[k], before[k], o);                                \
        else                                                                                       \
            for (int k = 0; k < 64; k++)                                                           \
                flags[k] = differ_##T(own[k], before[k]);                                          \
    } while (0)
    if (width == 1)
        FLAGS(uint8_t);
    else if (width == 2)
        FLAGS(uint16_t);
    else if (width == 4)
        FLAGS(uint32_t);
    else
        FLAGS(uint64_t);
#undef FLAGS
    return bits_of_flags(flags);
}

#endif

/* before: the key before the first, or any. */
ALWAYS_INLINE void heads_width(const struct order *given, const char *in, const char *before,
                               size_t count, uint64_t *bits, int width)
{
    const struct order order = *given; /* in registers */
    const size_t bytes = (size_t)width;
    _Alignas(uint64_t) char room[65 * sizeof(uint64_t)];
    for (size_t i = 0; i < count; i += 64) {
        const size_t items = count - i < 64 ? count - i : 64;
        const char *from = in + i * bytes;
        if (i == 0 || items < 64) {
            memcpy(room, i == 0 ? before : from - bytes, bytes);
            memcpy(room + bytes, from, items * bytes);
            memset(room + (items + 1) * bytes, 0, (64 - items) * bytes);
            from = room + bytes;
        } else {
            gpi_ahead(from, 64 * bytes, GPI_AHEAD_BYTES);
        }
        bits[i / 64] =
            heads_of_group(from, &order, width) & (items < 64 ? ((uint64_t)1 << items) - 1 : ~0ull);
    }
}

/* Whether a key of any size differs from the one before, by pieces of a constant size, of which the
 * last two may overlap; 0: a long one, which is compared up to where it differs. */
ALWAYS_INLINE bool differs(const char *key, size_t bytes, size_t piece)
{
    const char *before = key - bytes;
    const size_t last = bytes - piece;
    uint64_t some = 0;
    if (piece == 0)
        return memcmp(key, before, bytes) != 0;
    for (size_t k = 0; k < last; k += piece) {
        __asm__("" : "+r"(k));
        some |= gpi_word_at(key + k, piece, 0) ^ gpi_word_at(before + k, piece, 0);
    }
    some |= gpi_word_at(key + last, piece, 0) ^ gpi_word_at(before + last, piece, 0);
    return some != 0;
}

ALWAYS_INLINE void heads_wide(const char *in, size_t bytes, size_t piece, size_t first,
                              size_t count, uint64_t *bits)
{
    for (size_t i = 0; i < count; i += 64) {
        const size_t items = count - i < 64 ? count - i : 64;
        const char *key = in + i * bytes;
        uint64_t some = 0;
        gpi_ahead(key, items * bytes, GPI_AHEAD_BYTES);
        for (size_t k = i == 0 ? first : 0; k < items; k++) {
            __asm__("" : "+r"(k)); /* vectors would not pay for their bytes */
            some |= (uint64_t)differs(key + k * bytes, bytes, piece) << k;
        }
        bits[i / 64] = some;
    }
}

#if defined(__AVX512BW__)

/* Keys of up to 16 words of 4 bytes: a bit for each word that differs, of as many keys as have 64
 * words at most; then those of a key are joined and its first one is taken. */
static void heads_words(const char *in, size_t words, size_t first, size_t count, uint64_t *bits)
{
    const size_t keys = words <= 4 ? 16 : words <= 8 ? 8 : 4, bytes = 4 * words;
    uint64_t firsts = 0;
    for (size_t k = 0; k < keys; k++)
        firsts |= (uint64_t)1 << k * words;
    memset(bits, 0, (count + 63) / 64 * sizeof *bits);
    for (size_t i = 0; i < count; i += keys) {
        const char *from = in + i * bytes;
        const size_t all = (count - i < keys ? count - i : keys) * words;
        uint64_t some = 0;
        size_t joined = 1;
        gpi_ahead(from, 4 * all, GPI_AHEAD_BYTES);
        for (size_t k = 0; k < all; k += 16) {
            const unsigned lanes = all - k < 16 ? (1u << (all - k)) - 1 : 0xffff;
            const size_t none = i == 0 && first * words > k ? first * words - k : 0;
            const __mmask16 here = (__mmask16)(none < 16 ? lanes >> none << none : 0);
            const __m512i x = _mm512_maskz_loadu_epi32(here, from + 4 * k);
            const __m512i y = _mm512_maskz_loadu_epi32(here, from + 4 * k - bytes);
            some |= (uint64_t)_mm512_cmpneq_epi32_mask(x, y) << k;
        }
        for (; 2 * joined <= words; joined *= 2)
            some |= some >> joined;
        some |= some >> (words - joined);
        bits[i / 64] |= _pext_u64(some, firsts) << i % 64;
    }
}

#endif

/* Keys of other sizes than the words have. */
static void heads_bytes(const char *in, size_t bytes, size_t first, size_t count, uint64_t *bits)
{
#if defined(__AVX512BW__)
    if (bytes % 4 == 0 && bytes <= 64) {
        heads_words(in, bytes / 4, first, count, bits);
        return;
    }
#endif
    if (bytes > 64)
        heads_wide(in, bytes, 0, first, count, bits);
    else if (bytes >= 8)
        heads_wide(in, bytes, 8, first, count, bits);
    else if (bytes >= 4)
        heads_wide(in, bytes, 4, first, count, bits);
    else
        heads_wide(in, bytes, 2, first, count, bits);
}

static __attribute__((noinline)) void heads(const struct gpi_group_args *a, uint64_t first,
                                            size_t count, uint64_t *bits)
{
    const struct order order = {a->sign, a->inf};
    const char *in = (const char *)a->keys + first * a->key_bytes;
    if (gpi_group_width(a->key_bytes) < 0)
        heads_bytes(in, a->key_bytes, first == 0, count, bits);
    else
        WITH_BYTES(width, a->key_bytes,
                   heads_width(&order, in, first ? in - width : in, count, bits, width));
    if (first == 0)
        bits[0] |= 1;
}

/* Bits of heads become those of starts and ends; behind: whether the item behind them is one. */
static void ends_of(bool longer, uint64_t behind, size_t items, uint64_t *restrict starts,
                    uint64_t *restrict ends)
{
    const size_t last = (items - 1) / 64;
    for (size_t w = 0; w < last; w++)
        ends[w] = starts[w] >> 1 | starts[w + 1] << 63;
    ends[last] = starts[last] >> 1 | behind << (items - 1) % 64;
    for (size_t w = 0; longer && w <= last; w++) {
        const uint64_t both = starts[w] & ends[w];
        starts[w] ^= both;
        ends[w] ^= both;
    }
}

static uint64_t count_bits(const uint64_t *bits, size_t words)
{
    uint64_t count = 0;
    for (size_t w = 0; w < words; w++)
        count += (uint64_t)__builtin_popcountll(bits[w]);
    return count;
}

static struct gpi_group_block mark(const struct gpi_group_args *a, uint64_t n, uint64_t first,
                                   size_t items, uint64_t *starts, uint64_t *ends)
{
    const size_t words = (items + 63) / 64;
    struct gpi_group_block b = {.last = GPI_GROUP_NOWHERE};
    uint64_t behind = 1;
    if (first + items < n)
        heads(a, first + items, 1, &behind);
    heads(a, first, items, starts);
    ends_of(a->longer, behind, items, starts, ends);
    b.starts = count_bits(starts, words);
    b.ends = count_bits(ends, words);
    for (size_t w = words; w-- > 0 && b.last == GPI_GROUP_NOWHERE;)
        if (starts[w])
            b.last = first + w * 64 + 63 - (uint64_t)__builtin_clzll(starts[w]);
    return b;
}

/* to[k] = number + where the k-th bit is set; behind them 64 words are written, too. */
static uint32_t places(const uint64_t *bits, size_t words, uint32_t number, uint32_t *to)
{
    enum { FEW = 8 };
    const uint32_t *const begin = to;
    for (size_t w = 0; w < words; w++, number += 64) {
        uint64_t left = bits[w];
        if (left == 0)
            continue;
        const int count = __builtin_popcountll(left);
        if (count <= FEW) {
            for (int k = 0; k < FEW && (k < FEW / 2 || count > FEW / 2); k++, left &= left - 1)
                to[k] = number + (uint32_t)__builtin_ctzll(left | (uint64_t)1 << 63);
        } else {
#if defined(__AVX512BW__)
            const __m512i lanes =
                _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            uint32_t *next = to;
            for (int k = 0; k < 64; k += 16) {
                const __mmask16 here = (__mmask16)(left >> k);
                const __m512i all = _mm512_set1_epi32((int)number + k);
                _mm512_storeu_si512(
                    next, _mm512_maskz_compress_epi32(here, _mm512_add_epi32(lanes, all)));
                next += __builtin_popcount(here);
            }
#else
            uint32_t *next = to;
            for (uint32_t k = 0; k < 64; k++) {
                *next = number + k;
                next += left >> k & 1;
            }
#endif
        }
        to += count;
    }
    return (uint32_t)(to - begin);
}

static uint64_t whole_ends(const uint64_t *ends, size_t words, bool *open, uint64_t *to)
{
    uint64_t count = 0;
    for (size_t w = 0; w < words; w++) {
        to[w] = *open ? ends[w] & (ends[w] - 1) : ends[w];
        *open = *open && !ends[w];
        count += (uint64_t)__builtin_popcountll(to[w]);
    }
    return count;
}

extern const struct gpi_group_loops PASTE(gpi_group_loops_, GPI_ISA_SUFFIX);
const struct gpi_group_loops PASTE(gpi_group_loops_, GPI_ISA_SUFFIX) = {mark, places, whole_ends};
