/* SPDX-License-Identifier: MIT */
/* CPU inner loops for items of GPI_BYTES (1, 2, 4, 8 or 16); compiled per instruction set. */
#include "balance/balance_internal.h"
#include "core/ahead.h"
#include "core/order.h"
#include "core/past_cache.h"
#include "core/words.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define NAME(function) PASTE4(function, GPI_BYTES, _, GPI_ISA_SUFFIX)

#if GPI_BYTES == 1
typedef uint8_t item;
#elif GPI_BYTES == 2
typedef uint16_t item;
#elif GPI_BYTES == 4
typedef uint32_t item;
#elif GPI_BYTES == 8
typedef uint64_t item;
#else
typedef struct {
    uint64_t word[2];
} item;
#endif

#if GPI_BYTES == 16
typedef uint64_t lane;
#else
typedef item lane;
#endif

/* A cache line of items is stored as two vectors, whatever the instruction set makes of them. */
typedef lane vector __attribute__((vector_size(32)));
enum { HALF = 32 / GPI_BYTES, LANES = 2 * HALF };

#if GPI_BYTES == 16
#define SPREAD(value)                                                                              \
    (vector)                                                                                       \
    {                                                                                              \
        (value).word[0], (value).word[1], (value).word[0], (value).word[1]                         \
    }
#else
#define SPREAD(value) ((vector){0} + (value))
#endif

gpi_share_fn NAME(gpi_balance_expand_b);

/*
 * Write value to [i, end). As long as a whole block fits below room, blocks run past end: the
 * segments that follow overwrite the excess, and short segments cost one store without a branch on
 * their length.
 */
ALWAYS_INLINE void fill(item *out, uint64_t i, uint64_t end, uint64_t room, item value, bool cached)
{
    if (end + LANES <= room) {
        const vector v = SPREAD(value);
        do {
            if (!cached)
                gpi_ahead_of_writes(out + i, LINE, GPI_AHEAD_OF_WRITES);
            memcpy(out + i, &v, sizeof v);
            memcpy(out + i + HALF, &v, sizeof v);
            i += LANES;
        } while (i < end);
    } else {
        for (; i < end; i++)
            out[i] = value;
    }
}

ALWAYS_INLINE void expand_share(const struct gpi_balance_share *h, size_t offset_bytes)
{
    const item *in = h->args->in;
    item *out = h->args->out;
    const uint64_t skip = h->skip, room = h->i1 - skip;
    uint64_t i = h->i0;
    for (uint64_t s = h->s0; s < h->s1; s++) {
        uint64_t end = gpi_share_end(h, offset_bytes, s, i);
        fill(out, i - skip, end - skip, room, in[s], h->cached);
        i = end;
    }
    if (i < h->i1 && h->s1 < h->args->num_segments)
        fill(out, i - skip, room, room, in[h->s1], h->cached);
}

void NAME(gpi_balance_expand_b)(const struct gpi_balance_share *share)
{
    WITH_INDEX_BYTES(bytes, share->args->offset_bytes, expand_share(share, bytes));
}

#if GPI_BYTES == 4 || GPI_BYTES == 8

gpi_share_fn NAME(gpi_balance_search_b);

#if GPI_BYTES == 4
static const vector first_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
#else
static const vector first_numbers = {0, 1, 2, 3};
#endif

/* As fill(), with value, value + 1, ... */
ALWAYS_INLINE void fill_rising(item *out, uint64_t i, uint64_t end, uint64_t room, item value)
{
    if (end + LANES <= room) {
        vector v = SPREAD(value) + first_numbers, w = v + HALF;
        do {
            memcpy(out + i, &v, sizeof v);
            memcpy(out + i + HALF, &w, sizeof w);
            v += LANES;
            w += LANES;
            i += LANES;
        } while (i < end);
    } else {
        for (; i < end; i++)
            out[i] = value++;
    }
}

ALWAYS_INLINE void search_share(const struct gpi_balance_share *h, size_t offset_bytes,
                                bool with_ranks)
{
    const void *offsets = h->args->offsets;
    item *segments = h->args->segments, *ranks = h->args->ranks;
    uint64_t i = h->i0;
    for (uint64_t s = h->s0; s < h->s1; s++) {
        uint64_t end = gpi_share_end(h, offset_bytes, s, i);
        fill(segments, i, end, h->i1, (item)s, h->cached);
        if (with_ranks)
            fill_rising(ranks, i, end, h->i1,
                        (item)(i - gpi_offset_at(offsets, offset_bytes, h->base, s)));
        i = end;
    }
    fill(segments, i, h->i1, h->i1, (item)h->s1, h->cached);
    if (with_ranks)
        fill_rising(ranks, i, h->i1, h->i1,
                    (item)(i - gpi_offset_at(offsets, offset_bytes, h->base, h->s1)));
}

void NAME(gpi_balance_search_b)(const struct gpi_balance_share *share)
{
    if (share->args->ranks)
        WITH_INDEX_BYTES(bytes, share->args->offset_bytes, search_share(share, bytes, true));
    else
        WITH_INDEX_BYTES(bytes, share->args->offset_bytes, search_share(share, bytes, false));
}

#endif

#if GPI_BYTES == 1

#define EXPAND_ANY PASTE(gpi_balance_expand_any_, GPI_ISA_SUFFIX)

gpi_share_fn EXPAND_ANY;

#if defined(__AVX512F__)

/* A line of bytes at a time: byte k of a segment is byte k mod the item's size of its item. */
__attribute__((target("avx512vbmi"))) static void expand_permuted(const struct gpi_balance_share *h)
{
    const size_t bytes = h->args->item_bytes;
    const char *in = h->args->in;
    char *to = (char *)h->args->out + (h->i0 - h->skip) * bytes;
    uint8_t first[LINE];
    for (size_t k = 0; k < LINE; k++)
        first[k] = (uint8_t)(k % bytes);
    const __m512i begin = _mm512_loadu_si512(first), size = _mm512_set1_epi8((char)bytes);
    const __m512i step = _mm512_set1_epi8((char)(LINE % bytes));
    const __mmask64 own = _bzhi_u64(~(uint64_t)0, (unsigned)bytes);
    uint64_t i = h->i0;
    for (uint64_t s = h->s0; i < h->i1 && s < h->args->num_segments; s++) {
        const uint64_t end = s < h->s1 ? gpi_share_end(h, h->args->offset_bytes, s, i) : h->i1;
        uint64_t left = (end - i) * bytes;
        i = end;
        if (left == 0)
            continue;
        const __m512i value = _mm512_maskz_loadu_epi8(own, in + s * bytes);
        __m512i at = begin;
        for (; left > LINE; left -= LINE, to += LINE) {
            if (!h->cached)
                gpi_ahead_of_writes(to, LINE, GPI_AHEAD_OF_WRITES);
            _mm512_storeu_si512(to, _mm512_permutexvar_epi8(at, value));
            at = _mm512_add_epi8(at, step);
            at = _mm512_min_epu8(at, _mm512_sub_epi8(at, size));
        }
        if (!h->cached)
            gpi_ahead_of_writes(to, LINE, GPI_AHEAD_OF_WRITES);
        _mm512_mask_storeu_epi8(to, _bzhi_u64(~(uint64_t)0, (unsigned)left),
                                _mm512_permutexvar_epi8(at, value));
        to += left;
    }
}

#endif

void EXPAND_ANY(const struct gpi_balance_share *share)
{
#if defined(__AVX512F__)
    if (share->args->item_bytes <= LINE && __builtin_cpu_supports("avx512vbmi")) {
        expand_permuted(share);
        return;
    }
#endif
    gpi_balance_expand_bytes(share);
}

#endif
