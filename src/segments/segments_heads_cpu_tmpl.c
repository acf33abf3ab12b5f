/* SPDX-License-Identifier: MIT */
/* The heads of a block of items as bits, on the CPU, compiled per instruction set. */
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "core/ahead.h"
#include "core/check.h"
#include "core/paste.h"
#include "core/threads.h"
#include "segments/segments_internal.h"

static void set(uint64_t *words, uint64_t i)
{
    words[i / 64] |= (uint64_t)1 << i % 64;
}

enum { MARKED = 2048 };

/* Bit j: byte j of up to 64 in memory is not 0. */
static uint64_t bytes_set(const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
#if defined(__AVX512BW__)
    if (count == 64) {
        const __m512i all = _mm512_loadu_si512(bytes);
        return _mm512_test_epi8_mask(all, all);
    }
#elif defined(__SSE2__)
    if (count == 64) {
        for (int j = 0; j < 64; j += 16) {
            const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(bytes + j));
            const __m128i zero = _mm_cmpeq_epi8(some, _mm_setzero_si128());
            word |= (uint64_t)(uint16_t)~_mm_movemask_epi8(zero) << j;
        }
        return word;
    }
#endif
    for (size_t j = 0; j < count; j += 8) {
        uint64_t eight = 0, low = 0x7f7f7f7f7f7f7f7fu;
        memcpy(&eight, bytes + j, count - j < 8 ? count - j : 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        eight = __builtin_bswap64(eight);
#endif
        uint64_t high = (((eight & low) + low) | eight) & ~low;
        word |= ((high >> 7) * 0x0102040810204080u >> 56) << j;
    }
    return word;
}

/* ---- offsets: positions are relative to the first, in their own width ---- */

/* Inlined with a constant width, as all that takes one. */
ALWAYS_INLINE uint64_t offset_at(const void *offsets, size_t bytes, uint64_t s)
{
    return bytes == 4 ? ((const uint32_t *)offsets)[s] : ((const uint64_t *)offsets)[s];
}

ALWAYS_INLINE uint64_t position(const void *offsets, size_t bytes, uint64_t origin, uint64_t s)
{
    uint64_t distance = offset_at(offsets, bytes, s) - origin;
    return bytes == 4 ? (uint32_t)distance : distance;
}

/* The first segment from low on that does not start before item first. */
ALWAYS_INLINE uint64_t first_from(const struct gpi_segments *g, size_t bytes, uint64_t origin,
                                  uint64_t first)
{
    uint64_t low = 0, high = g->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (position(g->array, bytes, origin, middle) < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The heads of items [first, first + count) by the segments from low on; returns the first segment
 * behind. Heads of a word are collected before they are stored, which would make each wait. */
ALWAYS_INLINE uint64_t walk_few(const struct gpi_segments *g, size_t bytes, uint64_t origin,
                                uint64_t low, uint64_t first, size_t count, uint64_t *words)
{
    uint64_t word = 0, base = 0;
    for (; low < g->count; low++) {
        const uint64_t at = position(g->array, bytes, origin, low) - first;
        if (at >= count)
            break;
        if (at - base >= 64) {
            words[base / 64] |= word;
            word = 0;
            base = at / 64 * 64;
        }
        word |= (uint64_t)1 << at % 64;
    }
    words[base / 64] |= word;
    return low;
}

/* The same where heads are many: a byte for each item, so that no segment waits for the one before
 * it, and nothing depends on where it starts. */
ALWAYS_INLINE uint64_t walk_many(const struct gpi_segments *g, size_t bytes, uint64_t origin,
                                 uint64_t low, uint64_t first, size_t count, uint64_t *words)
{
    enum { AT_ONCE = 8 };
    _Alignas(64) uint8_t marks[MARKED];
    const void *offsets = g->array;
    const uint64_t end = g->count, behind = first + count;
    memset(marks, 0, sizeof marks);
    while (end - low >= AT_ONCE && position(offsets, bytes, origin, low + AT_ONCE - 1) < behind) {
#pragma GCC unroll 8
        for (uint64_t k = 0; k < AT_ONCE; k++)
            marks[position(offsets, bytes, origin, low + k) - first] = 1;
        low += AT_ONCE;
    }
    for (; low < end && position(offsets, bytes, origin, low) < behind; low++)
        marks[position(offsets, bytes, origin, low) - first] = 1;
    for (size_t i = 0; i < count; i += 64)
        words[i / 64] = bytes_set(marks + i, 64);
    return low;
}

/* Of MARKED items many are one in 16. */
ALWAYS_INLINE void walk(const struct gpi_segments *g, size_t bytes, uint64_t first, size_t count,
                        uint64_t *words)
{
    const uint64_t origin = offset_at(g->array, bytes, 0);
    uint64_t low = first_from(g, bytes, origin, first);
    for (size_t i = 0; i < count; i += MARKED) {
        const size_t m = count - i < MARKED ? count - i : MARKED;
        const uint64_t some = low + m / 16, from = first + i, before = low;
        if (some < g->count && position(g->array, bytes, origin, some) < from + m)
            low = walk_many(g, bytes, origin, low, from, m, words + i / 64);
        else
            low = walk_few(g, bytes, origin, low, from, m, words + i / 64);
        gpi_ahead((const char *)g->array + low * bytes, (low - before) * bytes, GPI_AHEAD_BYTES);
    }
}

static void heads_of_offsets(const struct gpi_segments *g, uint64_t first, size_t count,
                             uint64_t *words)
{
    if (g->item_bytes == 4)
        walk(g, 4, first, count, words);
    else
        walk(g, 8, first, count, words);
}

static void heads_of_rows(uint64_t row_length, uint64_t first, size_t count, uint64_t *words)
{
    uint64_t place = first % row_length;
    for (uint64_t i = place ? row_length - place : 0; i < count; i += row_length)
        set(words, i);
}

static void heads_of_flags(const uint8_t *flags, size_t count, uint64_t *words)
{
    for (size_t i = 0; i < count; i += 64)
        words[i / 64] = bytes_set(flags + i, count - i < 64 ? count - i : 64);
}

/* Whether key i is another one than the key before it. */
ALWAYS_INLINE bool is_other(const void *keys, size_t bytes, uint64_t i)
{
    const uint8_t *k1 = keys;
    const uint16_t *k2 = keys;
    const uint32_t *k4 = keys;
    const uint64_t *k8 = keys;
    return bytes == 1   ? k1[i] != k1[i - 1]
           : bytes == 2 ? k2[i] != k2[i - 1]
           : bytes == 4 ? k4[i] != k4[i - 1]
                        : k8[i] != k8[i - 1];
}

/* The same of 64 keys from key i > 0 on, as bits. */
ALWAYS_INLINE uint64_t others(const void *keys, size_t bytes, uint64_t i)
{
#if defined(__AVX512BW__)
    const char *own = (const char *)keys + i * bytes, *before = own - bytes;
    uint64_t word = 0;
    for (size_t j = 0; j < bytes; j++) {
        const __m512i a = _mm512_loadu_si512(own + 64 * j), b = _mm512_loadu_si512(before + 64 * j);
        const uint64_t some = bytes == 1   ? _mm512_cmpneq_epi8_mask(a, b)
                              : bytes == 2 ? _mm512_cmpneq_epi16_mask(a, b)
                              : bytes == 4 ? _mm512_cmpneq_epi32_mask(a, b)
                                           : _mm512_cmpneq_epi64_mask(a, b);
        word |= some << 64 / bytes * j;
    }
    return word;
#else
    uint8_t marks[64];
    for (size_t j = 0; j < 64; j++)
        marks[j] = is_other(keys, bytes, i + j);
    return bytes_set(marks, 64);
#endif
}

ALWAYS_INLINE void mark_keys(const void *keys, size_t bytes, uint64_t first, size_t count,
                             uint64_t *words)
{
    for (size_t i = 0; i < count; i += 64) {
        const size_t end = count - i < 64 ? count - i : 64;
        if (first + i > 0 && end == 64) {
            words[i / 64] = others(keys, bytes, first + i);
            continue;
        }
        for (size_t j = first + i == 0; j < end; j++)
            words[i / 64] |= (uint64_t)is_other(keys, bytes, first + i + j) << j;
    }
}

static void heads_of_keys(const struct gpi_segments *g, uint64_t first, size_t count,
                          uint64_t *words)
{
    if (g->item_bytes == 1)
        mark_keys(g->array, 1, first, count, words);
    else if (g->item_bytes == 2)
        mark_keys(g->array, 2, first, count, words);
    else if (g->item_bytes == 4)
        mark_keys(g->array, 4, first, count, words);
    else
        mark_keys(g->array, 8, first, count, words);
}

#define FUNCTION PASTE(gpi_segment_heads_cpu_, GPI_ISA_SUFFIX)
gpi_segment_heads_cpu_fn FUNCTION;

void FUNCTION(const struct gpi_segments *g, uint64_t first, size_t count, uint64_t *words)
{
    memset(words, 0, (count + 63) / 64 * sizeof *words);
    switch (g->source) {
    case GPI_SEGMENT_OFFSETS:
        heads_of_offsets(g, first, count, words);
        break;
    case GPI_SEGMENT_FLAGS:
        heads_of_flags((const uint8_t *)g->array + first, count, words);
        break;
    case GPI_SEGMENT_KEYS:
        heads_of_keys(g, first, count, words);
        break;
    case GPI_SEGMENT_ROWS:
        heads_of_rows(g->row_length, first, count, words);
        break;
    }
    if (first == 0)
        set(words, 0);
}
