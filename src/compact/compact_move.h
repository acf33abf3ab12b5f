/* SPDX-License-Identifier: MIT */
/*
 * Moving the items of 64 bits. Every width has a scalar form without branches on the bits: store
 * always, advance by the bit. Wider registers where the instruction set has them: compress
 * (AVX-512, with VBMI2 also of 1 and 2 bytes and of records), permute by packed indices (AVX2,
 * 4 bytes), extract bits (BMI2, 1 and 2 bytes).
 *
 * group() may write up to out + 64 items, also where fewer bits are set.
 */
#ifndef GPI_COMPACT_MOVE_H
#define GPI_COMPACT_MOVE_H

#include "core/words.h"

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

/* Always inlined: width is a constant where it is called, so the copies are single moves. */
ALWAYS_INLINE void group_scalar(const char *in, uint64_t bits, char *out, size_t width)
{
    for (int k = 0; k < 64; k++) {
        memcpy(out, in + (size_t)k * width, width);
        out += (bits >> k & 1) * width;
    }
}

struct record_bytes;

#if defined(__BMI2__)

/* Items of 1 or 2 bytes, a word of them at a time. */
ALWAYS_INLINE void group_extract(const char *in, uint64_t bits, char *out, size_t width)
{
    const unsigned items = (unsigned)(8 / width);
    const uint64_t lowest = width == 1 ? 0x0101010101010101 : 0x0001000100010001;
    const uint64_t whole = width == 1 ? 0xff : 0xffff;
    for (unsigned k = 0; k < 64 / items; k++) {
        uint64_t here = bits >> (items * k);
        uint64_t v = _pext_u64(gpi_word_at(in, 8, k), _pdep_u64(here, lowest) * whole);
        memcpy(out, &v, sizeof v);
        out += width * (size_t)__builtin_popcountll(here & ((1u << items) - 1));
    }
}

#endif

#if defined(__AVX512F__)

static inline void group_4(const char *in, uint64_t bits, char *out)
{
    for (int k = 0; k < 4; k++) {
        __mmask16 m = (__mmask16)(bits >> (16 * k));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(m, _mm512_loadu_si512(in + 64 * k)));
        out += 4 * __builtin_popcount(m);
    }
}

static inline void group_8(const char *in, uint64_t bits, char *out)
{
    for (int k = 0; k < 8; k++) {
        __mmask8 m = (__mmask8)(bits >> (8 * k));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(m, _mm512_loadu_si512(in + 64 * k)));
        out += 8 * __builtin_popcount(m);
    }
}

/* Of processors that have it, for functions that are compiled for it alone. */
#define VBMI2 __attribute__((target("avx512vbmi2")))

VBMI2 static inline void group_compress(const char *in, uint64_t bits, char *out, size_t width)
{
    if (width == 1) {
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(in)));
        return;
    }
    for (int k = 0; k < 2; k++) {
        const __mmask32 m = (__mmask32)(bits >> (32 * k));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(m, _mm512_loadu_si512(in + 64 * k)));
        out += 2 * __builtin_popcount(m);
    }
}

/* Of the bytes of 64 records of which a vector has 64: whose they are. */
struct record_bytes {
    unsigned item;          /* that its first byte is of */
    uint64_t first, begins; /* bytes of that one, and where others begin */
};

static inline void record_bytes_of(struct record_bytes *vectors, unsigned width)
{
    for (unsigned v = 0; v < width; v++) {
        const unsigned item = 64 * v / width, left = (item + 1) * width - 64 * v;
        vectors[v] = (struct record_bytes){item, ((uint64_t)1 << left) - 1, 0};
        for (unsigned byte = left; byte < 64; byte += width)
            vectors[v].begins |= (uint64_t)1 << byte;
    }
}

/* Records of any size up to that of a vector's bits: each bit stands for all bytes of one. Returns
 * where the next one goes. */
VBMI2 static inline char *group_records(const char *in, uint64_t bits, char *out, size_t width,
                                        const struct record_bytes *vectors)
{
    const uint64_t whole = ((uint64_t)1 << width) - 1;
    for (size_t v = 0; v < width; v++) {
        const uint64_t own = bits >> vectors[v].item;
        const uint64_t bytes =
            (vectors[v].first & (0 - (own & 1))) | _pdep_u64(own >> 1, vectors[v].begins) * whole;
        _mm512_storeu_si512(out,
                            _mm512_maskz_compress_epi8(bytes, _mm512_loadu_si512(in + 64 * v)));
        out += __builtin_popcountll(bytes);
    }
    return out;
}

#elif defined(__AVX2__)

static inline void group_4(const char *in, uint64_t bits, char *out)
{
    for (int k = 0; k < 8; k++) {
        uint64_t spread = _pdep_u64(bits >> (8 * k), 0x0101010101010101) * 0xff;
        uint64_t lanes = _pext_u64(0x0706050403020100, spread);
        __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)lanes));
        __m256i v = _mm256_loadu_si256((const __m256i_u *)(const void *)(in + 32 * k));
        _mm256_storeu_si256((__m256i_u *)(void *)out, _mm256_permutevar8x32_epi32(v, order));
        out += 4 * __builtin_popcountll(bits >> (8 * k) & 0xff);
    }
}

#endif

/* width and vbmi2 are constants. */
ALWAYS_INLINE void group(const char *in, uint64_t bits, char *out, size_t width, bool vbmi2)
{
#if defined(__AVX512F__)
    if (width <= 2 && vbmi2) {
        group_compress(in, bits, out, width);
        return;
    }
#else
    (void)vbmi2;
#endif
#if defined(__BMI2__)
    if (width <= 2) {
        group_extract(in, bits, out, width);
        return;
    }
#endif
#if defined(__AVX2__) || defined(__AVX512F__)
    if (width == 4) {
        group_4(in, bits, out);
        return;
    }
#endif
#if defined(__AVX512F__)
    if (width == 8) {
        group_8(in, bits, out);
        return;
    }
#endif
    group_scalar(in, bits, out, width);
}

#endif
