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

/* Keys of any size, as bytes. */
static void heads_wide(const char *in, size_t bytes, size_t first, size_t count, uint64_t *bits)
{
    memset(bits, 0, (count + 63) / 64 * sizeof *bits);
    for (size_t i = first; i < count; i++) {
        const char *key = in + i * bytes;
        const uint64_t head = memcmp(key, key - bytes, bytes) != 0;
        bits[i / 64] |= head << i % 64;
    }
}

static void heads(const struct gpi_group_args *a, uint64_t first, size_t count, uint64_t *bits)
{
    const struct order order = {a->sign, a->inf};
    const char *in = (const char *)a->keys + first * a->key_bytes;
    if (gpi_group_width(a->key_bytes) < 0)
        heads_wide(in, a->key_bytes, first == 0, count, bits);
    else
        WITH_BYTES(width, a->key_bytes,
                   heads_width(&order, in, first ? in - width : in, count, bits, width));
    if (first == 0)
        bits[0] |= 1;
}

extern const struct gpi_group_loops PASTE(gpi_group_loops_, GPI_ISA_SUFFIX);
const struct gpi_group_loops PASTE(gpi_group_loops_, GPI_ISA_SUFFIX) = {heads};
