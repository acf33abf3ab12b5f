/* SPDX-License-Identifier: MIT */
/*
 * Moving the items of 64 bits. Every width has a scalar form without branches on the bits: store
 * always, advance by the bit. Wider registers where the instruction set has them: compress
 * (AVX-512), permute by packed indices (AVX2, 4 bytes), extract bits (BMI2, 1 and 2 bytes).
 *
 * group_<width>() may write up to out + 64 items, also where fewer bits are set.
 */
#ifndef GPI_COMPACT_MOVE_H
#define GPI_COMPACT_MOVE_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

struct item16 {
    uint64_t half[2];
};

/* Always inlined: width is a constant where it is called, so the copies are single moves. */
static inline __attribute__((always_inline)) void group_scalar(const char *in, uint64_t bits,
                                                               char *out, size_t width)
{
    for (int k = 0; k < 64; k++) {
        memcpy(out, in + (size_t)k * width, width);
        out += (bits >> k & 1) * width;
    }
}

#if defined(__BMI2__)

static inline uint64_t load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void group_1(const char *in, uint64_t bits, char *out)
{
    for (int k = 0; k < 8; k++) {
        uint64_t spread = _pdep_u64(bits >> (8 * k), 0x0101010101010101) * 0xff;
        uint64_t v = _pext_u64(load8(in + 8 * k), spread);
        memcpy(out, &v, sizeof v);
        out += __builtin_popcountll(bits >> (8 * k) & 0xff);
    }
}

static inline void group_2(const char *in, uint64_t bits, char *out)
{
    for (int k = 0; k < 16; k++) {
        uint64_t spread = _pdep_u64(bits >> (4 * k), 0x0001000100010001) * 0xffff;
        uint64_t v = _pext_u64(load8(in + 8 * k), spread);
        memcpy(out, &v, sizeof v);
        out += 2 * __builtin_popcountll(bits >> (4 * k) & 0xf);
    }
}

#else

static inline void group_1(const char *in, uint64_t bits, char *out)
{
    group_scalar(in, bits, out, 1);
}

static inline void group_2(const char *in, uint64_t bits, char *out)
{
    group_scalar(in, bits, out, 2);
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

static inline void group_8(const char *in, uint64_t bits, char *out)
{
    group_scalar(in, bits, out, 8);
}

#else

static inline void group_4(const char *in, uint64_t bits, char *out)
{
    group_scalar(in, bits, out, 4);
}

static inline void group_8(const char *in, uint64_t bits, char *out)
{
    group_scalar(in, bits, out, 8);
}

#endif

static inline void group_16(const char *in, uint64_t bits, char *out)
{
    group_scalar(in, bits, out, sizeof(struct item16));
}

#endif
