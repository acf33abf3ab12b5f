/* SPDX-License-Identifier: MIT */
/* The segments of a piece that have items, for the CPU; compiled for AVX-512. */
#ifndef GPI_SEGREDUCE_CPU_LIST_H
#define GPI_SEGREDUCE_CPU_LIST_H

#include <immintrin.h>

#include "segreduce/segreduce_cpu_internal.h"

enum { GPI_SEGREDUCE_ROOM = GPI_SEGREDUCE_PIECE + 16 };

struct gpi_segreduce_list {
    uint32_t count, begins[GPI_SEGREDUCE_ROOM], ends[GPI_SEGREDUCE_ROOM];
    __mmask16 some[GPI_SEGREDUCE_PIECE / 16]; /* of all segments */
};

/* The lowest lanes, up to sixteen. */
static inline __mmask16 gpi_lanes_of(uint32_t count)
{
    return (__mmask16)(count < 16 ? (1u << count) - 1 : 0xffff);
}

/* Behind the list are segments without items. */
static inline void gpi_segreduce_list(const struct gpi_segreduce_piece *p,
                                      struct gpi_segreduce_list *list)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < p->count; s += 16) {
        const __mmask16 here = gpi_lanes_of(p->count - s);
        const __m512i begins = _mm512_maskz_loadu_epi32(here, p->begins + s);
        const __m512i ends = _mm512_maskz_loadu_epi32(here, p->ends + s);
        const __mmask16 some = _mm512_cmpneq_epu32_mask(begins, ends);
        _mm512_storeu_si512(list->begins + count, _mm512_maskz_compress_epi32(some, begins));
        _mm512_storeu_si512(list->ends + count, _mm512_maskz_compress_epi32(some, ends));
        list->some[s / 16] = some;
        count += (uint32_t)__builtin_popcount(some);
    }
    _mm512_storeu_si512(list->begins + count, _mm512_setzero_si512());
    _mm512_storeu_si512(list->ends + count, _mm512_setzero_si512());
    list->count = count;
}

/* Words of 4 bytes from those of the list to 16 segments; others get `none`. */
static inline __m512i gpi_segreduce_spread_32(__m512i none, unsigned some, const uint32_t **from)
{
    const __m512i all = _mm512_loadu_si512(*from);
    *from += __builtin_popcount(some & 0xffff);
    return _mm512_mask_expand_epi32(none, (__mmask16)some, all);
}

/* Of 8 bytes, to 8. */
static inline __m512i gpi_segreduce_spread_64(__m512i none, unsigned some, const uint64_t **from)
{
    const __m512i all = _mm512_loadu_si512(*from);
    *from += __builtin_popcount(some & 0xff);
    return _mm512_mask_expand_epi64(none, (__mmask8)some, all);
}

#endif
