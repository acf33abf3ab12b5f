/* SPDX-License-Identifier: MIT */
/* The heads of a block of items as bits, on the CPU; and the check of offsets. */
#include <inttypes.h>
#include <string.h>

#include "core/check.h"
#include "core/threads.h"
#include "scan/segment_internal.h"

static void set(uint64_t *words, uint64_t i)
{
    words[i / 64] |= (uint64_t)1 << i % 64;
}

/* ---- offsets: positions are relative to the first, in their own width ---- */

/*
 * walk: the first segment that does not start before item first is searched, the others are walked.
 * falls: the first s in [begin, end) with an offset below that of s - 1; end if there is none.
 */
#define OFFSETS(type)                                                                              \
    static void walk_##type(const type *offsets, uint64_t num_segments, uint64_t first,            \
                            size_t count, uint64_t *words)                                         \
    {                                                                                              \
        uint64_t low = 0, high = num_segments;                                                     \
        while (low < high) {                                                                       \
            uint64_t middle = low + (high - low) / 2;                                              \
            if ((type)(offsets[middle] - offsets[0]) < first)                                      \
                low = middle + 1;                                                                  \
            else                                                                                   \
                high = middle;                                                                     \
        }                                                                                          \
        for (; low < num_segments; low++) {                                                        \
            uint64_t at = (type)(offsets[low] - offsets[0]) - first;                               \
            if (at >= count)                                                                       \
                break;                                                                             \
            set(words, at);                                                                        \
        }                                                                                          \
    }                                                                                              \
    static uint64_t falls_##type(const type *offsets, uint64_t begin, uint64_t end)                \
    {                                                                                              \
        bool any = false;                                                                          \
        for (uint64_t s = begin; s < end; s++)                                                     \
            any |= offsets[s] < offsets[s - 1];                                                    \
        while (any && offsets[begin] >= offsets[begin - 1])                                        \
            begin++;                                                                               \
        return any ? begin : end;                                                                  \
    }
OFFSETS(uint32_t)
OFFSETS(uint64_t)

static void heads_of_offsets(const struct gpi_segments *g, uint64_t first, size_t count,
                             uint64_t *words)
{
    if (g->item_bytes == 4)
        walk_uint32_t(g->array, g->count, first, count, words);
    else
        walk_uint64_t(g->array, g->count, first, count, words);
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

/* The keys of a block; the first has one before it unless it is the first of all. */
#define HEADS_OF_KEYS(type)                                                                        \
    static void heads_of_##type(const type *keys, bool begin, size_t count, uint64_t *words)       \
    {                                                                                              \
        for (size_t i = 0; i < count; i += 64) {                                                   \
            size_t end = count - i < 64 ? count - i : 64;                                          \
            uint8_t marks[64];                                                                     \
            marks[0] = (begin && i == 0) || keys[i] != keys[(ptrdiff_t)i - 1];                     \
            for (size_t j = 1; j < end; j++)                                                       \
                marks[j] = keys[i + j] != keys[i + j - 1];                                         \
            words[i / 64] = bytes_set(marks, end);                                                 \
        }                                                                                          \
    }
HEADS_OF_KEYS(uint8_t)
HEADS_OF_KEYS(uint16_t)
HEADS_OF_KEYS(uint32_t)
HEADS_OF_KEYS(uint64_t)

static void heads_of_keys(const struct gpi_segments *g, uint64_t first, size_t count,
                          uint64_t *words)
{
    const char *keys = (const char *)g->array + first * g->item_bytes;
    bool begin = first == 0;
    if (g->item_bytes == 1)
        heads_of_uint8_t((const void *)keys, begin, count, words);
    else if (g->item_bytes == 2)
        heads_of_uint16_t((const void *)keys, begin, count, words);
    else if (g->item_bytes == 4)
        heads_of_uint32_t((const void *)keys, begin, count, words);
    else
        heads_of_uint64_t((const void *)keys, begin, count, words);
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

enum { CHECK_BLOCK = 1 << 16 };

struct check {
    const struct gpi_segments *segments;
    uint64_t first_bad; /* least s with an offset below the one before it; more than count: none */
};

static void check_block(void *arg, size_t block)
{
    struct check *c = arg;
    const struct gpi_segments *g = c->segments;
    uint64_t begin = (uint64_t)block * CHECK_BLOCK + 1, end = begin + CHECK_BLOCK;
    end = end <= g->count ? end : g->count + 1;
    uint64_t bad = g->item_bytes == 4 ? falls_uint32_t(g->array, begin, end)
                                      : falls_uint64_t(g->array, begin, end);
    uint64_t least = __atomic_load_n(&c->first_bad, __ATOMIC_RELAXED);
    while (bad < end && bad < least)
        if (__atomic_compare_exchange_n(&c->first_bad, &least, bad, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            break;
}

static uint64_t offset_at(const struct gpi_segments *g, uint64_t s)
{
    return g->item_bytes == 4 ? ((const uint32_t *)g->array)[s] : ((const uint64_t *)g->array)[s];
}

gp_status gpi_segment_check_offsets(gp_context *ctx, const struct gpi_segment_args *args)
{
    const struct gpi_segments *g = &args->segments;
    struct check c = {g, UINT64_MAX};
    uint64_t blocks = (g->count + CHECK_BLOCK - 1) / CHECK_BLOCK, last = offset_at(g, g->count);
    gpi_parallel_for(gpi_threads_for(ctx->threads, g->count / 2), (size_t)blocks, check_block, &c);
    if (c.first_bad <= g->count)
        return gpi_fail(ctx, GP_ERROR_DATA,
                        "%s: offsets[%" PRIu64 "] is %" PRIu64 ", below the %" PRIu64 " before it",
                        args->function, c.first_bad, offset_at(g, c.first_bad),
                        offset_at(g, c.first_bad - 1));
    if (last - offset_at(g, 0) != args->n)
        return gpi_fail(ctx, GP_ERROR_DATA,
                        "%s: offsets[%" PRIu64 "] is %" PRIu64
                        ", expected offsets[0] + n = %" PRIu64,
                        args->function, g->count, last, offset_at(g, 0) + args->n);
    return GP_OK;
}
