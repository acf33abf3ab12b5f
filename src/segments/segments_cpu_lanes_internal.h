/* SPDX-License-Identifier: MIT */
/*
 * Segmented scan in vectors of 32 bytes, for operators whose association does not show: all on
 * integers, minimum and maximum of floats that are no NaNs.
 *
 * Every lane is folded with the lane 1, 2, 4, .. places before it, unless a head lies between the
 * two; a mask of the lanes behind a head moves along with the items (Hillis and Steele 1986 on
 * Blelloch's pairs of value and flag).
 */
#ifndef GPI_SEGMENTS_CPU_LANES_INTERNAL_H
#define GPI_SEGMENTS_CPU_LANES_INTERNAL_H

#include <immintrin.h>

/* Items and masks, which have all bits of a lane, are moved alike. */
typedef __m256i bits256;

/* v moved up by 1 to 16 bytes; the last ones of fill's lower half move in. */
#define MOVED_UP(v, fill, bytes)                                                                   \
    _mm256_alignr_epi8((bits256)(v), HALF_UP(v, fill), (16 - (bytes)) % 16)
#define HALF_UP(v, fill) _mm256_permute2x128_si256((bits256)(v), (bits256)(fill), 0x02)

#define ALL_LANES (~(uint64_t)0 >> (64 - LANES))

ALWAYS_INLINE vector choose(bits256 where, vector a, vector b)
{
    return (vector)_mm256_blendv_epi8((bits256)b, (bits256)a, where);
}

/* The last lane everywhere. */
ALWAYS_INLINE bits256 last_lane(bits256 v)
{
#if ACC_BYTES == 4
    return _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(7));
#else
    v = _mm256_permute4x64_epi64(v, 0xff);
#if ACC_BYTES == 2
    v = _mm256_shuffle_epi8(v, _mm256_set1_epi16(0x0706));
#elif ACC_BYTES == 1
    v = _mm256_shuffle_epi8(v, _mm256_set1_epi8(7));
#endif
    return v;
#endif
}

/* A lane for each of the lowest bits. */
ALWAYS_INLINE bits256 lanes_of_bits(uint64_t bits)
{
#if ACC_BYTES == 1
    const bits256 byte =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const bits256 bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
    const bits256 all = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(uint32_t)bits), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
#elif ACC_BYTES == 2
    const bits256 bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                          8192, 16384, -32768);
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((short)(uint16_t)bits), bit), bit);
#elif ACC_BYTES == 4
    const bits256 bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(uint32_t)bits), bit), bit);
#else
    const bits256 bit = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x((long long)bits), bit), bit);
#endif
}

/* One step, from the items that are moved up by as many places; behind says which have a head
 * between the two. */
ALWAYS_INLINE vector step_fold(bool plain, gp_op op, bool any, bits256 behind, bits256 up, vector v)
{
    const vector folded = combine_as(plain, op, (vector)up, v);
    return any ? choose(behind, v, folded) : folded;
}

/* The scan of a vector's own items. any: there are heads; *behind becomes the lanes that have one
 * before them, or are one. */
ALWAYS_INLINE vector segments_scan(bool plain, gp_op op, bool any, vector neutral, bits256 *behind,
                                   vector v)
{
    const bits256 none = _mm256_setzero_si256();
    bits256 b = *behind;
#if ACC_BYTES <= 1
    v = step_fold(plain, op, any, b, MOVED_UP(v, neutral, 1), v);
    b |= MOVED_UP(b, none, 1);
#endif
#if ACC_BYTES <= 2
    v = step_fold(plain, op, any, b, MOVED_UP(v, neutral, 2), v);
    b |= MOVED_UP(b, none, 2);
#endif
#if ACC_BYTES <= 4
    v = step_fold(plain, op, any, b, MOVED_UP(v, neutral, 4), v);
    b |= MOVED_UP(b, none, 4);
#endif
    v = step_fold(plain, op, any, b, MOVED_UP(v, neutral, 8), v);
    b |= MOVED_UP(b, none, 8);
    v = step_fold(plain, op, any, b, HALF_UP(v, neutral), v);
    b |= HALF_UP(b, none);
    *behind = b;
    return v;
}

/* One vector, behind before; returns what comes behind it. any: there are heads. */
ALWAYS_INLINE vector lanes_scan_segments(bool plain, gp_op op, bool any, const acc_t *in,
                                         uint64_t heads, vector neutral, vector start,
                                         vector before, acc_t *out)
{
    const bits256 own = any ? lanes_of_bits(heads) : _mm256_setzero_si256();
    bits256 behind = own;
    vector v = vector_load(in), last;
    if (any)
        v = choose(own, combine_as(plain, op, start, v), v);
    v = segments_scan(plain, op, any, neutral, &behind, v);
    last = (vector)last_lane((bits256)v);
    v = step_fold(plain, op, any, behind, (bits256)before, v);
    memcpy(out, &v, sizeof v);
    return step_fold(plain, op, any, last_lane(behind), (bits256)before, last);
}

/* Whether the operator's association does not show in these items, a multiple of 64. */
ALWAYS_INLINE bool in_lanes(gp_op op, const acc_t *in, size_t n)
{
#if ACC_IS_FLOAT
    return (op == GP_MIN || op == GP_MAX) && !has_nan(in, n);
#else
    (void)in, (void)n;
    return !(ACC_BYTES == 8 && op == GP_PRODUCT); /* for which there is no instruction */
#endif
}

/* As items_scan(), of items that are in_lanes(). */
ALWAYS_INLINE acc_t lanes_segments(gp_op op, const acc_t *in, size_t n, const uint64_t *heads,
                                   size_t first, acc_t start, acc_t x, acc_t *out)
{
#if ACC_IS_FLOAT
    const bool plain = true;
    const vector neutral = vector_of(plain_neutral(op));
    const vector starts = vector_of(op == GP_MIN && start != start ? plain_neutral(op) : start);
    vector before = vector_of(op == GP_MIN && x != x ? plain_neutral(op) : x);
#else
    const bool plain = false;
    const vector neutral = vector_of(identity(op)), starts = vector_of(start);
    vector before = vector_of(x);
#endif
    for (size_t i = 0; i < n; i += 64) {
        uint64_t w = heads_at(heads, first + i);
        for (size_t k = i; k < i + 64; k += LANES, w >>= LANES)
            if (w & ALL_LANES)
                before = lanes_scan_segments(plain, op, true, in + k, w, neutral, starts, before,
                                             out + k);
            else
                before = lanes_scan_segments(plain, op, false, in + k, 0, neutral, starts, before,
                                             out + k);
    }
    return n ? before[0] : x;
}

#endif
