/* SPDX-License-Identifier: MIT */
/*
 * Segmented scan of integers of 1 and 2 bytes in vectors of 32 or 64 bytes; wider ones and floats
 * are in scan_cpu_groups_internal.h.
 *
 * Every lane is folded with the lane 1, 2, 4, .. places before it, unless a head lies between the
 * two; a mask of the lanes behind a head moves along with the items (Hillis and Steele 1986 on
 * Blelloch's pairs of value and flag).
 */
#ifndef GPI_SEGMENTS_CPU_LANES_INTERNAL_H
#define GPI_SEGMENTS_CPU_LANES_INTERNAL_H

#include <immintrin.h>

#define ALL_LANES (~(uint64_t)0 >> (64 - LANES))

/*
 * bits        a vector as the instructions take it
 * behind_t    lanes that have a head before them, or are one
 * moved_bits  v moved up by 1 to 32 bytes; the last ones of fill move in
 * behind_up   the same of the lanes behind heads, none of which moves in
 * all_behind  all but the first eight lanes are, and these have nothing eight places before them
 */
#if VECTOR == 64

typedef __m512i bits;
typedef uint64_t behind_t;

ALWAYS_INLINE bits moved_bits(bits v, bits fill, int bytes)
{
    switch (bytes) {
    case 1:
        return _mm512_alignr_epi8(v, _mm512_alignr_epi64(v, fill, 6), 15);
    case 2:
        return _mm512_alignr_epi8(v, _mm512_alignr_epi64(v, fill, 6), 14);
    case 4:
        return _mm512_alignr_epi32(v, fill, 15);
    case 8:
        return _mm512_alignr_epi64(v, fill, 7);
    case 16:
        return _mm512_alignr_epi64(v, fill, 6);
    default:
        return _mm512_alignr_epi64(v, fill, 4);
    }
}

/* In general registers: a shift of a mask register takes four times as long. */
ALWAYS_INLINE behind_t behind_up(behind_t behind, int bytes)
{
    __asm__("" : "+r"(behind));
    return behind << bytes / ACC_BYTES;
}

ALWAYS_INLINE behind_t behind_of(uint64_t heads)
{
    return heads & ALL_LANES;
}

ALWAYS_INLINE behind_t last_behind(behind_t behind)
{
    return 0 - (behind >> (LANES - 1) & 1);
}

ALWAYS_INLINE bool all_behind(behind_t behind)
{
    return (behind | 0xff) == ALL_LANES;
}

ALWAYS_INLINE vector choose(behind_t where, vector a, vector b)
{
#if ACC_BYTES == 1
    return (vector)_mm512_mask_mov_epi8((bits)b, where, (bits)a);
#else
    return (vector)_mm512_mask_mov_epi16((bits)b, (__mmask32)where, (bits)a);
#endif
}

/* The last lane everywhere. */
ALWAYS_INLINE bits last_bits(bits v)
{
    v = _mm512_permutexvar_epi16(_mm512_set1_epi16(31), v);
    return ACC_BYTES == 1 ? _mm512_shuffle_epi8(v, _mm512_set1_epi8(1)) : v;
}

#else

/* Masks have all bits of a lane, and are moved as items are. */
typedef __m256i bits;
typedef bits behind_t;

ALWAYS_INLINE bits moved_bits(bits v, bits fill, int bytes)
{
    const bits half = _mm256_permute2x128_si256(v, fill, 0x02);
    switch (bytes) {
    case 1:
        return _mm256_alignr_epi8(v, half, 15);
    case 2:
        return _mm256_alignr_epi8(v, half, 14);
    case 4:
        return _mm256_alignr_epi8(v, half, 12);
    case 8:
        return _mm256_alignr_epi8(v, half, 8);
    default:
        return half;
    }
}

ALWAYS_INLINE behind_t behind_up(behind_t behind, int bytes)
{
    return moved_bits(behind, _mm256_setzero_si256(), bytes);
}

/* A lane for each of the lowest bits. */
ALWAYS_INLINE behind_t behind_of(uint64_t heads)
{
#if ACC_BYTES == 1
    const bits byte =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const bits bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
    const bits all = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(uint32_t)heads), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
#else
    const bits bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                       8192, 16384, -32768);
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((short)(uint16_t)heads), bit),
                              bit);
#endif
}

ALWAYS_INLINE bool all_behind(behind_t behind)
{
    return (_mm256_movemask_epi8(behind) | ((1 << 8 * ACC_BYTES) - 1)) == -1;
}

ALWAYS_INLINE vector choose(behind_t where, vector a, vector b)
{
    return (vector)_mm256_blendv_epi8((bits)b, (bits)a, where);
}

ALWAYS_INLINE bits last_bits(bits v)
{
    v = _mm256_permute4x64_epi64(v, 0xff);
    return _mm256_shuffle_epi8(v, ACC_BYTES == 1 ? _mm256_set1_epi8(7) : _mm256_set1_epi16(0x0706));
}

ALWAYS_INLINE behind_t last_behind(behind_t behind)
{
    return last_bits(behind);
}

#endif

/* One step, from the items that are moved up by as many places; behind says which have a head
 * between the two. */
ALWAYS_INLINE vector step_fold(gp_op op, bool any, behind_t behind, vector up, vector v)
{
    const vector folded = combine(op, up, v);
    return any ? choose(behind, v, folded) : folded;
}

/* The scan of a vector's own items. any: there are heads; *behind becomes the lanes that have one
 * before them, or are one. */
ALWAYS_INLINE vector segments_scan(gp_op op, bool any, vector neutral, behind_t *behind, vector v)
{
    behind_t b = *behind;
#pragma GCC unroll 8
    for (int bytes = ACC_BYTES; bytes < VECTOR; bytes *= 2) {
        if (any && bytes == 8 * ACC_BYTES && all_behind(b))
            break;
        v = step_fold(op, any, b, (vector)moved_bits((bits)v, (bits)neutral, bytes), v);
        b |= behind_up(b, bytes);
    }
    *behind = b;
    return v;
}

/* One vector, behind before; returns what comes behind it. any: there are heads. */
ALWAYS_INLINE vector lanes_scan_segments(gp_op op, bool any, bool starts, const acc_t *in,
                                         uint64_t heads, vector neutral, vector start,
                                         vector before, acc_t *out)
{
    const behind_t own = behind_of(any ? heads : 0);
    behind_t behind = own;
    vector v = as_key(vector_load(in)), last;
    if (any && starts)
        v = choose(own, combine(op, start, v), v);
    v = segments_scan(op, any, neutral, &behind, v);
    last = (vector)last_bits((bits)v);
    v = as_key(step_fold(op, any, behind, before, v));
    memcpy(out, &v, sizeof v);
    return step_fold(op, any, last_behind(behind), before, last);
}

/*
 * Products of bytes, of which there is no multiplication: as in products_scan(), neighbours are
 * multiplied in 16 bits, where low bytes depend on low bytes alone, and the pairs scanned. A pair
 * with a head at its second item is that item. The second item of a pair is the scan of the pairs,
 * and the first one follows from the pair before.
 */
#if ACC_BYTES == 1 && VECTOR == 64

/* a * b where there is no head between the two, otherwise b. */
ALWAYS_INLINE bits pairs_product(bool any, uint32_t heads, bits a, bits b)
{
    return any ? _mm512_mask_mullo_epi16(b, ~heads, a, b) : _mm512_mullo_epi16(a, b);
}

/* One vector; returns what comes behind it, in all pairs. first, second: the pairs of which that
 * item is a head. */
ALWAYS_INLINE bits products_take(bool any, const acc_t *in, uint32_t first, uint32_t second,
                                 vector start, bits before, acc_t *out)
{
    const bits one = _mm512_set1_epi16(1), low = _mm512_set1_epi16(0xff);
    uint32_t behind = first | second;
    vector v = vector_load(in);
    if (any && start[0] != 1)
        v = choose(_pdep_u64(first, 0x5555555555555555u) | _pdep_u64(second, 0xaaaaaaaaaaaaaaaau),
                   bytes_product(start, v), v);
    bits p = pairs_product(any, second, (bits)v, _mm512_srli_epi16((bits)v, 8));
#pragma GCC unroll 8
    for (int bytes = 2; bytes < VECTOR; bytes *= 2) {
        if (any && bytes == 8 && (behind | 0xf) == UINT32_MAX) /* nothing goes on */
            break;
        p = pairs_product(any, behind, moved_bits(p, one, bytes), p);
        behind |= any ? behind << bytes / 2 : 0;
    }
    const bits last = _mm512_permutexvar_epi16(_mm512_set1_epi16(31), p);
    p = pairs_product(any, behind, before, p);
    const bits items = pairs_product(any, first, moved_bits(p, before, 2), (bits)v);
    const bits done = _mm512_or_si512(_mm512_and_si512(items, low), _mm512_slli_epi16(p, 8));
    _mm512_storeu_si512(out, done);
    return pairs_product(any, 0 - (behind >> 31), before, last);
}

ALWAYS_INLINE acc_t products_segments(const acc_t *in, size_t n, const uint64_t *heads, acc_t start,
                                      acc_t x, acc_t *out)
{
    const vector starts = vector_of(start);
    bits before = _mm512_set1_epi16((short)x);
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t w = heads[i / 64];
        if (w)
            before =
                products_take(true, in + i, (uint32_t)_pext_u64(w, 0x5555555555555555u),
                              (uint32_t)_pext_u64(w, 0xaaaaaaaaaaaaaaaau), starts, before, out + i);
        else
            before = products_take(false, in + i, 0, 0, starts, before, out + i);
    }
    return (acc_t)((vector)before)[0];
}

#endif

/* As items_scan(), of a multiple of 64 items. */
ALWAYS_INLINE acc_t lanes_segments(gp_op op, const acc_t *in, size_t n, const uint64_t *heads,
                                   acc_t start, acc_t x, acc_t *out)
{
#if ACC_BYTES == 1 && VECTOR == 64
    if (op == GP_PRODUCT)
        return products_segments(in, n, heads, start, x, out);
#endif
    const vector neutral = vector_of(identity(op)), starts = vector_of(start);
    const bool changes = start != identity(op);
    vector before = vector_of(x);
    for (size_t i = 0; i < n; i += 64) {
        uint64_t w = heads[i / 64];
#pragma GCC unroll 1 /* each turn has two versions, for six operators */
        for (size_t k = i; k < i + 64; k += LANES, w >>= LANES % 64)
            if (w & ALL_LANES)
                before = lanes_scan_segments(op, true, changes, in + k, w, neutral, starts, before,
                                             out + k);
            else
                before = lanes_scan_segments(op, false, false, in + k, 0, neutral, starts, before,
                                             out + k);
    }
    return n ? before[0] : x;
}

#endif
