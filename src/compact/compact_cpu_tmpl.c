/* SPDX-License-Identifier: MIT */
/* The CPU backend's inner loops, compiled once per instruction set. */
#include "core/ahead.h"
#include "core/past_cache.h"
#include "core/words.h"
#include "compact/compact_internal.h"
#include "compact/compact_move.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- one bit per item ---- */

/* Bit k: whether flags[k] is not zero. */
ALWAYS_INLINE uint64_t bits_of_flags(const uint8_t *flags)
{
#if defined(__AVX512BW__)
    __m512i f = _mm512_loadu_si512(flags);
    return _mm512_test_epi8_mask(f, f);
#elif defined(__SSE2__)
    uint64_t bits = 0;
    for (int k = 0; k < 4; k++) {
        __m128i f = _mm_loadu_si128((const __m128i_u *)(const void *)(flags + 16 * k));
        uint32_t zero = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(f, _mm_setzero_si128()));
        bits |= (uint64_t)(zero ^ 0xffff) << (16 * k);
    }
    return bits;
#else
    uint64_t bits = 0;
    for (int k = 0; k < 64; k++)
        bits |= (uint64_t)(flags[k] != 0) << k;
    return bits;
#endif
}

#if defined(__AVX512BW__)

/* Lane k of a vector: whether its item is in the range, before the inversion. */
#define RANGE_MASK(BITS)                                                                           \
    ALWAYS_INLINE uint64_t range_mask_##BITS(__m512i x, const struct gpi_compact_range *r)         \
    {                                                                                              \
        const __m512i low = _mm512_set1_epi##BITS((int##BITS##_t)r->low);                          \
        const __m512i span = _mm512_set1_epi##BITS((int##BITS##_t)r->span);                        \
        if (r->flip) /* of floats */                                                               \
            x = _mm512_xor_si512(x, _mm512_maskz_set1_epi##BITS(_mm512_movepi##BITS##_mask(x),     \
                                                                (int##BITS##_t)r->flip));          \
        return _mm512_cmple_epu##BITS##_mask(_mm512_sub_epi##BITS(x, low), span);                  \
    }
RANGE_MASK(8)
RANGE_MASK(16)
RANGE_MASK(32)
RANGE_MASK(64)

ALWAYS_INLINE uint64_t bits_of_range(const char *in, const struct gpi_compact_range *range,
                                     int width)
{
    const struct gpi_compact_range r = *range; /* in registers */
    uint64_t bits = 0;
    for (int k = 0; k < width; k++) {
        const __m512i x = _mm512_loadu_si512(in + 64 * k);
        const uint64_t some = width == 1   ? range_mask_8(x, &r)
                              : width == 2 ? range_mask_16(x, &r)
                              : width == 4 ? range_mask_32(x, &r)
                                           : range_mask_64(x, &r);
        bits |= some << 64 / width * k;
    }
    return bits ^ (0 - (uint64_t)r.invert);
}

#else

/* Whether x is in the range, before the inversion; one per width, so that 64 of them vectorise. */
#define IN_RANGE(T)                                                                                \
    ALWAYS_INLINE bool in_range_##T(T x, const struct gpi_compact_range *r)                        \
    {                                                                                              \
        T negative = (T)(0 - (x >> (8 * sizeof(T) - 1)));                                          \
        return (T)((x ^ (negative & (T)r->flip)) - (T)r->low) <= (T)r->span;                       \
    }
IN_RANGE(uint8_t)
IN_RANGE(uint16_t)
IN_RANGE(uint32_t)
IN_RANGE(uint64_t)

/* Bit k: whether item k of 64 is selected by the range. width is a constant where
 * this is inlined. */
ALWAYS_INLINE uint64_t bits_of_range(const char *in, const struct gpi_compact_range *range,
                                     int width)
{
    const struct gpi_compact_range r = *range; /* in registers */
    uint8_t flags[64];
    for (int k = 0; k < 64; k++)
        flags[k] = width == 1 ? in_range_uint8_t(((const uint8_t *)in)[k], &r)
                   : width == 2 ? in_range_uint16_t(((const uint16_t *)(const void *)in)[k], &r)
                   : width == 4 ? in_range_uint32_t(((const uint32_t *)(const void *)in)[k], &r)
                                : in_range_uint64_t(((const uint64_t *)(const void *)in)[k], &r);
    return bits_of_flags(flags) ^ (0 - (uint64_t)r.invert);
}

#endif

/* width 0: in holds flags, -1: bits. */
ALWAYS_INLINE uint64_t bits_of_group(const struct gpi_compact_args *a, const char *in, int width)
{
    return width > 0    ? bits_of_range(in, &a->range, width)
           : width == 0 ? bits_of_flags((const uint8_t *)in)
                        : gpi_word_at(in, 8, 0);
}

ALWAYS_INLINE uint64_t mark_width(const struct gpi_compact_args *a, const char *in, size_t items,
                                  uint64_t *bits, int width)
{
    uint64_t count = 0;
    const size_t bytes = width > 0 ? 64 * (size_t)width : width == 0 ? 64 : 8, rest = items % 64;
    for (size_t g = 0; g < items / 64; g++) {
        gpi_ahead(in + g * bytes, bytes, GPI_AHEAD_BYTES);
        bits[g] = bits_of_group(a, in + g * bytes, width);
        count += (uint64_t)__builtin_popcountll(bits[g]);
    }
    if (rest) {
        _Alignas(uint64_t) char last[64 * sizeof(uint64_t)] = {0};
        const size_t here =
            width > 0 ? rest * (size_t)width : gpi_compact_flag_bytes(width < 0, rest);
        memcpy(last, in + items / 64 * bytes, here);
        uint64_t b = bits_of_group(a, last, width) & (((uint64_t)1 << rest) - 1);
        bits[items / 64] = b;
        count += (uint64_t)__builtin_popcountll(b);
    }
    return count;
}

static uint64_t mark(const struct gpi_compact_args *a, uint64_t first, size_t items, uint64_t *bits)
{
    const char *keep = a->keep;
    if (keep)
        return a->bits ? mark_width(a, keep + first / 8, items, bits, -1)
                       : mark_width(a, keep + first, items, bits, 0);
    const char *in = (const char *)a->in + first * a->item_bytes;
    uint64_t count = 0;
    WITH_BYTES(bytes, a->item_bytes, count = mark_width(a, in, items, bits, bytes));
    return count;
}

static void spread(const uint64_t *bits, size_t items, uint8_t *out)
{
    for (size_t i = 0; i < items; i += 64) {
        _Alignas(LINE) uint8_t flags[64];
#if defined(__AVX512BW__)
        _mm512_store_si512(flags, _mm512_maskz_set1_epi8(bits[i / 64], 1));
#else
        for (unsigned k = 0; k < 8; k++) {
            /* bit i to byte i: the product has it at 8 i, and no two bits at one place */
            const uint64_t b = bits[i / 64] >> (8 * k) & 0xff;
            const uint64_t some =
                ((b & 0x7f) * 0x0002040810204081 & 0x0101010101010101) | (b >> 7) << 56;
            gpi_word_put(flags, 8, k, some);
        }
#endif
        memcpy(out + i, flags, items - i < 64 ? items - i : 64);
    }
}

/* ---- moving ---- */

/* The first room items whose bits differ from skip. Past the items bits are not valid, but room
 * ends before them. */
struct moves {
    const char *in;
    size_t items;
    const uint64_t *bits;
    uint64_t skip;
    char *out;
    uint64_t room;
    bool in_memory, out_in_memory; /* not in the cache */
    bool stream;                   /* items go past it */
};

/* Asks for what groups read and write soon, of which this one has as many bytes at most. */
ALWAYS_INLINE void group_ahead(const struct moves *m, const char *in, const char *out, size_t bytes)
{
    if (m->in_memory)
        gpi_ahead(in, bytes, GPI_AHEAD_BYTES);
    if (m->out_in_memory)
        gpi_ahead_of_writes(out, bytes, GPI_AHEAD_OF_WRITES);
}

/* Bit by bit, never past room: for the ends of arrays and for few bits.
 * Returns what was written. */
ALWAYS_INLINE uint64_t group_exact(const char *in, uint64_t bits, char *out, uint64_t room,
                                   size_t width)
{
    uint64_t written = 0;
    for (; bits && written < room; bits &= bits - 1) {
        memcpy(out + written * width, in + (size_t)__builtin_ctzll(bits) * width, width);
        written++;
    }
    return written;
}

/* Bits that are taken one by one; a group of 64 indices without compression is 64 steps. */
#if defined(__AVX512F__)
enum { FEW = 4, FEW_INDICES = 4 };
#else
enum { FEW = 4, FEW_INDICES = 16 };
#endif

ALWAYS_INLINE void move_width(const struct moves *moves, size_t width, bool vbmi2)
{
    const struct moves m = *moves; /* in registers */
    const char *in = m.in;
    uint64_t done = 0;
    for (size_t g = 0; done < m.room; g++, in += 64 * width) {
        const uint64_t b = m.bits[g] ^ m.skip;
        char *out = m.out + done * width;
        int count = __builtin_popcountll(b);
        if (count <= (vbmi2 ? (int)width : FEW) || m.room - done < 64 || g >= m.items / 64) {
            count = (int)group_exact(in, b, out, m.room - done, width);
        } else {
            group_ahead(&m, in, out, 64 * width);
            if (count == 64)
                memcpy(out, in, 64 * width);
            else
                group(in, b, out, width, vbmi2);
        }
        done += (uint64_t)count;
    }
}

/* Items of one or two bytes by instructions that not all processors of this set have. */
#if defined(__AVX512F__)
VBMI2 static void move_vbmi2(const struct moves *m, size_t width)
{
    if (width == 1)
        move_width(m, 1, true);
    else
        move_width(m, 2, true);
}
#endif

/* The 64 numbers from base on whose bits are set; room for all of them. */
ALWAYS_INLINE void index_group(uint64_t base, uint64_t bits, char *out, size_t bytes)
{
#if defined(__AVX512F__)
    const int lanes = 64 / (int)bytes;
    const __m512i first =
        bytes == 4 ? _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                   : _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    for (int k = 0; k < 64; k += lanes, bits >>= lanes) {
        const uint64_t here = bits & (((uint64_t)1 << lanes) - 1);
        const uint64_t from = base + (uint64_t)k;
        if (bytes == 4)
            _mm512_storeu_si512(
                out, _mm512_maskz_compress_epi32(
                         (__mmask16)here,
                         _mm512_add_epi32(first, _mm512_set1_epi32((int)(uint32_t)from))));
        else
            _mm512_storeu_si512(
                out,
                _mm512_maskz_compress_epi64(
                    (__mmask8)here, _mm512_add_epi64(first, _mm512_set1_epi64((int64_t)from))));
        out += bytes * (size_t)__builtin_popcountll(here);
    }
#else
    uint64_t done = 0;
    for (unsigned k = 0; k < 64; k++) {
        gpi_word_put(out, bytes, done, base + k);
        done += bits >> k & 1;
    }
#endif
}

ALWAYS_INLINE void move_indices(const struct moves *m, uint64_t first, size_t bytes)
{
    uint64_t done = 0;
    for (size_t g = 0; done < m->room; g++) {
        uint64_t b = m->bits[g], base = first + 64 * (uint64_t)g;
        if (__builtin_popcountll(b) > FEW_INDICES && m->room - done >= 64) {
            char *out = m->out + done * bytes;
            if (m->out_in_memory)
                gpi_ahead_of_writes(out, 64 * bytes, GPI_AHEAD_OF_WRITES);
            index_group(base, b, out, bytes);
            done += (uint64_t)__builtin_popcountll(b);
            continue;
        }
        for (; b && done < m->room; b &= b - 1)
            gpi_word_put(m->out, bytes, done++, base + (uint64_t)__builtin_ctzll(b));
    }
}

/* Any size. vectors: NULL, or how records lie in vectors, by which go groups of more than a few. */
ALWAYS_INLINE void move_wide(const struct moves *m, size_t width, size_t piece,
                             const struct record_bytes *vectors)
{
    const char *in = m->in, *const end = m->out + m->room * width;
    char *out = m->out;
    for (size_t g = 0; out < end; g++, in += 64 * width) {
        uint64_t b = m->bits[g] ^ m->skip;
        if (b == ~(uint64_t)0 && (size_t)(end - out) >= 64 * width) {
            memcpy(out, in, 64 * width);
            out += 64 * width;
            continue;
        }
#if defined(__AVX512F__)
        if (vectors && (size_t)__builtin_popcountll(b) > width && g < m->items / 64 &&
            (size_t)(end - out) >= 64 * width) {
            group_ahead(m, in, out, 64 * width);
            out = group_records(in, b, out, width, vectors);
            continue;
        }
#else
        (void)vectors;
#endif
        for (; b && out < end; b &= b - 1, out += width) {
            const char *item = in + (size_t)__builtin_ctzll(b) * width;
            if (piece == 0 && m->stream) { /* too large for slices */
                copy_past_cache(item, width, out);
                continue;
            }
            if (piece == 0 && (b & (b - 1)))
                gpi_ahead_of_item(in + (size_t)__builtin_ctzll(b & (b - 1)) * width, out + width,
                                  width);
            gpi_item_move(out, item, width, piece);
        }
    }
}

#if defined(__AVX512F__)
enum { RECORD_MAX = 16 }; /* no gain was seen with larger ones */

/* Records of other sizes, the same. */
VBMI2 static void move_records(const struct moves *m, size_t width)
{
    struct record_bytes vectors[RECORD_MAX];
    record_bytes_of(vectors, (unsigned)width);
    if (width < 4)
        move_wide(m, width, 2, vectors);
    else if (width < 8)
        move_wide(m, width, 4, vectors);
    else
        move_wide(m, width, 8, vectors);
}
#endif

static void move_items(const struct moves *m, size_t width)
{
#if defined(__AVX512F__)
    const bool vbmi2 = __builtin_cpu_supports("avx512vbmi2");
    if (vbmi2 && width <= 2) {
        move_vbmi2(m, width);
        return;
    }
    if (vbmi2 && width < RECORD_MAX && gpi_compact_width((uint32_t)width) < 0) {
        move_records(m, width);
        return;
    }
#endif
    if (gpi_compact_width((uint32_t)width) < 0)
        WITH_PIECE(piece, gpi_item_piece(width), move_wide(m, width, piece, NULL));
    else if (width == 16)
        move_width(m, 16, false);
    else
        WITH_BYTES(bytes, width, move_width(m, bytes, false));
}

enum { SLICE_BYTES = 8192 };

static void move_any(const struct moves *m, uint64_t first, size_t width, size_t index_bytes)
{
    if (index_bytes)
        WITH_INDEX_BYTES(bytes, index_bytes, move_indices(m, first, bytes));
    else
        move_items(m, width);
}

static void move(const struct gpi_compact_args *a, uint64_t first, size_t items,
                 const uint64_t *bits, uint64_t skip, size_t index_bytes, bool stream, void *out,
                 uint64_t room)
{
    _Alignas(LINE) char slice[SLICE_BYTES];
    const size_t bytes = index_bytes ? index_bytes : a->item_bytes;
    const size_t at_once = stream ? SLICE_BYTES / bytes / 64 * 64 : 0;
    const char *in = a->in ? (const char *)a->in + first * a->item_bytes : NULL;
    /* Of a block the kept items go first, and what follows them comes out of the cache. */
    struct moves m = {
        .in = in, .items = items, .bits = bits, .skip = skip, .out = out, .room = room};
    m.in_memory = (a->follows || a->keep) && skip == 0;
    m.out_in_memory = true;
    m.stream = stream && at_once == 0;
    if (at_once == 0) {
        move_any(&m, first, a->item_bytes, index_bytes);
        if (m.stream)
            stores_done();
        return;
    }
    char *to = out;
    m.out = slice;
    m.out_in_memory = false;
    for (size_t i = 0; i < items && room > 0; i += at_once) {
        m.items = gpi_min(items - i, at_once);
        m.room = 0;
        for (size_t g = 0; g * 64 < m.items; g++)
            m.room += (uint64_t)__builtin_popcountll(m.bits[g] ^ skip);
        m.room = gpi_min(m.room, room);
        move_any(&m, first + i, a->item_bytes, index_bytes);
        copy_past_cache(slice, m.room * bytes, to);
        to += m.room * bytes;
        room -= m.room;
        m.in += m.in ? at_once * a->item_bytes : 0;
        m.bits += at_once / 64;
    }
    stores_done();
}

extern const struct gpi_compact_loops PASTE(gpi_compact_loops_, GPI_ISA_SUFFIX);
const struct gpi_compact_loops PASTE(gpi_compact_loops_, GPI_ISA_SUFFIX) = {mark, move, spread};
