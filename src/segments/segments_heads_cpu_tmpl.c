/* SPDX-License-Identifier: MIT */
/* The heads of a block of items as bits, on the CPU; and the check of offsets. */
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/check.h"
#include "core/paste.h"
#include "core/threads.h"
#include "segments/segments_internal.h"

static void set(uint64_t *words, uint64_t i)
{
    words[i / 64] |= (uint64_t)1 << i % 64;
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

/* The first segment that does not start before item first is searched, the others are walked. */
ALWAYS_INLINE void walk(const struct gpi_segments *g, size_t bytes, uint64_t first, size_t count,
                        uint64_t *words)
{
    const uint64_t origin = offset_at(g->array, bytes, 0), end = g->count;
    const void *offsets = g->array;
    uint64_t low = 0, high = end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (position(offsets, bytes, origin, middle) < first)
            low = middle + 1;
        else
            high = middle;
    }
    /* Heads of a word are collected before they are stored, which would make each wait; four at
     * once where they lie in one word. */
    uint64_t word = 0, base = 0;
    while (low < end) {
        uint64_t at[4] = {position(offsets, bytes, origin, low) - first};
        if (at[0] >= count)
            break;
        if (at[0] - base >= 64) {
            words[base / 64] |= word;
            word = 0;
            base = at[0] / 64 * 64;
        }
        word |= (uint64_t)1 << at[0] % 64;
        low++;
        if (end - low < 3)
            continue;
        for (int k = 1; k < 4; k++)
            at[k] = position(offsets, bytes, origin, low + (uint64_t)k - 1) - first - base;
        if ((at[1] | at[2] | at[3]) >= 64)
            continue;
        word |= (uint64_t)1 << at[1] | (uint64_t)1 << at[2] | (uint64_t)1 << at[3];
        low += 3;
    }
    words[base / 64] |= word;
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

/* Bit j: byte j of up to 64 in memory is not 0. */
static uint64_t bytes_set(const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
#if defined(__SSE2__)
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

ALWAYS_INLINE void mark_keys(const void *keys, size_t bytes, uint64_t first, size_t count,
                             uint64_t *words)
{
    for (size_t i = 0; i < count; i += 64) {
        size_t end = count - i < 64 ? count - i : 64;
        uint8_t marks[64];
        marks[0] = first + i == 0 || is_other(keys, bytes, first + i);
        for (size_t j = 1; j < end; j++)
            marks[j] = is_other(keys, bytes, first + i + j);
        words[i / 64] = bytes_set(marks, end);
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

void gpi_segment_heads_cpu(const struct gpi_segments *g, uint64_t first, size_t count,
                           uint64_t *words)
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

/* ---- check of offsets ----------------------------------------------------------------------- */
