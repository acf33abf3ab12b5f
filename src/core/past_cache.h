/* SPDX-License-Identifier: MIT */
/* Outputs on the CPU that are stored past the cache, when they are too large for it. */
#ifndef GPI_PAST_CACHE_H
#define GPI_PAST_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { LINE = 64, STREAM_BYTES = 8 << 20 };

/* What the last cache holds, and at least STREAM_BYTES: outputs up to that stay in it where a loop
 * asks for their lines before it writes them. */
uint64_t gpi_cache_bytes(void);

/* d is aligned to a line. */
static inline void line_past_cache(const char *s, char *d)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i *)(void *)d, _mm512_loadu_si512(s));
#elif defined(__SSE2__)
    for (int k = 0; k < LINE; k += 16)
        _mm_stream_si128((__m128i *)(void *)(d + k),
                         _mm_loadu_si128((const __m128i *)(const void *)(s + k)));
#else
    memcpy(d, s, LINE);
#endif
}

static inline void copy_past_cache(const void *source, size_t bytes, void *destination)
{
#if defined(__SSE2__)
    const char *s = source;
    char *d = destination;
    size_t head = -(uintptr_t)d % LINE;
    if (head > bytes)
        head = bytes;
    memcpy(d, s, head);
    for (d += head, s += head, bytes -= head; bytes >= LINE; bytes -= LINE, d += LINE, s += LINE)
        line_past_cache(s, d);
    memcpy(d, s, bytes);
#else
    memcpy(destination, source, bytes);
#endif
}

/* The line of `at` is about to be written, in an order that the processor does not foresee. */
static inline void prefetch_to_write(const void *at)
{
    __builtin_prefetch(at, 1, 3);
}

/* Stores past the cache are not ordered by the end of a parallel loop. */
static inline void stores_done(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

static inline void bytes_store(const void *from, size_t bytes, bool stream, char *out)
{
    if (stream)
        copy_past_cache(from, bytes, out);
    else
        memcpy(out, from, bytes);
}

#endif
