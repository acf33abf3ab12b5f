/* SPDX-License-Identifier: MIT */
/*
 * Segments of a piece on the CPU, compiled per unit and instruction set: GPI_UNIT, and what
 * scan_cpu_types_internal.h takes.
 *
 * Each segment is folded item by item, in order, up to GPI_SEGREDUCE_LONG items; where AVX-512 has
 * the items, as many segments side by side as a vector has lanes, so that no branch depends on a
 * length. Longer ones go to the loops of the reduction. So all instruction sets give the same bits.
 */
#include "scan/scan_cpu_types_internal.h"
#include "segreduce/segreduce_cpu_internal.h"

#if defined(__AVX512DQ__) && GPI_SCALARS <= 2 && IN_IS_ACC && ACC_BYTES >= 4
#include <immintrin.h>
#define SIDE_BY_SIDE 1
#else
#define SIDE_BY_SIDE 0
#endif

#if GPI_SCALARS > 1 || ACC_IS_FLOAT
typedef acc_t sum_t;
#else
typedef uint64_t sum_t; /* extended by the sign */
#endif

ALWAYS_INLINE sum_t item(const in_t *in)
{
    return widen_in(*in);
}

ALWAYS_INLINE sum_t join(gp_op op, sum_t l, sum_t r)
{
#if GPI_SCALARS > 1 || ACC_IS_FLOAT
    return apply(op, l, r);
#else
    return op == GP_SUM ? l + r : (sum_t)apply(op, (acc_t)l, (acc_t)r);
#endif
}

/* The fold of what is before and items [i, n). Short: a vector would not pay for the ways in and
 * out of its loop. */
ALWAYS_INLINE sum_t fold_on(gp_op op, sum_t before, const in_t *in, size_t i, size_t n)
{
    for (; i < n; i++) {
        __asm__("" : "+r"(i));
        before = join(op, before, item(in + i));
    }
    return before;
}

/* The folds of the reduction are of blocks. */
static __attribute__((noinline)) sum_t fold_long(const struct gpi_segreduce_piece *p,
                                                 const in_t *in, size_t n)
{
    const size_t block = GPI_REDUCE_BLOCK_BYTES / sizeof *in;
    sum_t all, next;
    p->folds->block(p->op, in, n < block ? n : block, &all);
    for (size_t i = block; i < n; i += block) {
        p->folds->block(p->op, in + i, n - i < block ? n - i : block, &next);
        p->folds->join(p->op, &all, &next);
    }
    return all;
}

#if SIDE_BY_SIDE

enum { SIDE = VECTOR / ACC_BYTES };

#if ACC_BYTES == 4
typedef __m512i lengths_t;
typedef __mmask16 side_mask;
#define LENGTHS_LOAD(p) _mm512_loadu_si512(p)
#define LENGTHS_SUB _mm512_sub_epi32
#define LENGTHS_ADD _mm512_add_epi32
#define LENGTHS_OF(x) _mm512_set1_epi32((int)(x))
#define LENGTHS_ABOVE _mm512_cmpgt_epu32_mask
#define GATHER(all, mask, at, in) _mm512_mask_i32gather_epi32(all, mask, at, in, 4)
#define MOVE _mm512_mask_mov_epi32
#define FLOATS(v) _mm512_castsi512_ps(v)
#define FLOATS_BELOW(a, b)                                                                         \
    (_mm512_cmp_ps_mask(a, b, _CMP_NGE_UQ) & _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q))
#else
typedef __m256i lengths_t;
typedef __mmask8 side_mask;
#define LENGTHS_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define LENGTHS_SUB _mm256_sub_epi32
#define LENGTHS_ADD _mm256_add_epi32
#define LENGTHS_OF(x) _mm256_set1_epi32((int)(x))
#define LENGTHS_ABOVE _mm256_cmpgt_epu32_mask
#define GATHER(all, mask, at, in) _mm512_mask_i32gather_epi64(all, mask, at, in, 8)
#define MOVE _mm512_mask_mov_epi64
#define FLOATS(v) _mm512_castsi512_pd(v)
#define FLOATS_BELOW(a, b)                                                                         \
    (_mm512_cmp_pd_mask(a, b, _CMP_NGE_UQ) & _mm512_cmp_pd_mask(a, a, _CMP_ORD_Q))
#endif

#if GPI_SCALARS == 1

#if ACC_BYTES == 4 && OUT_KIND == 2
#define ITEMS_BELOW(a, b) _mm512_cmplt_epi32_mask((__m512i)(a), (__m512i)(b))
#elif ACC_BYTES == 4
#define ITEMS_BELOW(a, b) _mm512_cmplt_epu32_mask((__m512i)(a), (__m512i)(b))
#elif OUT_KIND == 2
#define ITEMS_BELOW(a, b) _mm512_cmplt_epi64_mask((__m512i)(a), (__m512i)(b))
#else
#define ITEMS_BELOW(a, b) _mm512_cmplt_epu64_mask((__m512i)(a), (__m512i)(b))
#endif

/* Lanes in which a comes before b in gp's order. */
#if ACC_IS_FLOAT
#define BELOW(a, b) FLOATS_BELOW(FLOATS(a), FLOATS(b))
#else
#define BELOW(a, b) ITEMS_BELOW(a, b)
#endif

typedef uacc_t bits_t __attribute__((vector_size(VECTOR)));
typedef acc_t items_t __attribute__((vector_size(VECTOR)));

/* l op r in every lane. */
ALWAYS_INLINE __m512i side_join(gp_op op, __m512i l, __m512i r)
{
#if ACC_IS_FLOAT
    const items_t x = (items_t)l, y = (items_t)r;
    if (op == GP_MIN)
        return MOVE(l, BELOW(r, l), r);
    if (op == GP_MAX)
        return MOVE(l, BELOW(l, r), r);
    return (__m512i)(op == GP_SUM ? x + y : x * y);
#else
    const bits_t x = (bits_t)l, y = (bits_t)r;
    switch (op) {
    case GP_SUM:
        return (__m512i)(x + y);
    case GP_PRODUCT:
        return (__m512i)(x * y);
    case GP_MIN:
        return MOVE(l, BELOW(r, l), r);
    case GP_MAX:
        return MOVE(l, BELOW(l, r), r);
    case GP_AND:
        return (__m512i)(x & y);
    case GP_OR:
        return (__m512i)(x | y);
    default:
        return (__m512i)(x ^ y);
    }
#endif
}

#endif

/* What is left of segments whose lanes are set, from item t on, which is not their first. */
ALWAYS_INLINE void fold_lanes(gp_op op, const struct gpi_segreduce_piece *p, const uint32_t *begins,
                              const uint32_t *ends, unsigned lanes, uint32_t t, sum_t *to)
{
    const in_t *in = p->in;
    for (; lanes; lanes &= lanes - 1) {
        const int k = __builtin_ctz(lanes);
        const uint32_t begin = begins[k], n = ends[k] - begin;
        if (n > GPI_SEGREDUCE_LONG)
            to[k] = fold_long(p, in + begin, n);
        else
            to[k] = t ? fold_on(op, to[k], in + begin, t, n)
                      : fold_on(op, item(in + begin), in + begin, 1, n);
    }
}

#if GPI_SCALARS == 1

/* SIDE segments: together as long as a quarter of them has items, the rest one by one. */
ALWAYS_INLINE void fold_side_by_side(gp_op op, const struct gpi_segreduce_piece *p,
                                     const uint32_t *begins, const uint32_t *ends, sum_t empty,
                                     sum_t *to)
{
    const lengths_t begin = LENGTHS_LOAD(begins);
    const lengths_t n = LENGTHS_SUB(LENGTHS_LOAD(ends), begin);
    const unsigned far = LENGTHS_ABOVE(n, LENGTHS_OF(GPI_SEGREDUCE_LONG));
    unsigned some = LENGTHS_ABOVE(n, LENGTHS_OF(0)) & ~far;
    const items_t none = (items_t){0} + (acc_t)empty;
    __m512i all = (__m512i)none;
    uint32_t t = 0;
    for (; __builtin_popcount(some) >= SIDE / 4; t++) {
        const side_mask lanes = (side_mask)some;
        const __m512i next = GATHER(all, lanes, LENGTHS_ADD(begin, LENGTHS_OF(t)), p->in);
        all = MOVE(all, lanes, t ? side_join(op, all, next) : next);
        some = LENGTHS_ABOVE(n, LENGTHS_OF(t + 1)) & ~far;
    }
#if ACC_IS_FLOAT || ACC_BYTES == 8
    _mm512_storeu_si512(to, all);
#else
    _mm512_storeu_si512(to, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(all)));
    _mm512_storeu_si512(to + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(all, 1)));
#endif
    fold_lanes(op, p, begins, ends, some, t, to);
    fold_lanes(op, p, begins, ends, far, 0, to);
}

#else

#include "segreduce/segreduce_cpu_pairs.h"

#endif

#endif

ALWAYS_INLINE void fold_piece(gp_op op, const struct gpi_segreduce_piece *p, sum_t *to)
{
    const in_t *in = p->in;
    const sum_t empty = *(const sum_t *)p->empty;
    uint32_t s = 0;
#if SIDE_BY_SIDE
    if (!p->wide)
        for (; p->count - s >= SIDE; s += SIDE)
            fold_side_by_side(op, p, p->begins + s, p->ends + s, empty, to + s);
#endif
    for (; s < p->count; s++) {
        const uint32_t begin = p->begins[s], n = p->ends[s] - begin;
        if (n > GPI_SEGREDUCE_LONG)
            to[s] = fold_long(p, in + begin, n);
        else
            to[s] = n ? fold_on(op, item(in + begin), in + begin, 1, n) : empty;
    }
}

/* Sums, and what depends on the order; the others are chosen at every item. */
static void folds_choose(const struct gpi_segreduce_piece *p, void *to)
{
#if GPI_SCALARS > 1
    fold_piece(p->op, p, to);
#else
    switch (p->op) {
    case GP_SUM:
        fold_piece(GP_SUM, p, to);
        return;
    case GP_MIN:
        fold_piece(GP_MIN, p, to);
        return;
    case GP_MAX:
        fold_piece(GP_MAX, p, to);
        return;
    default:
        fold_piece(p->op, p, to);
    }
#endif
}

#if SIDE_BY_SIDE

/* The segments of a piece that have items. */
struct dense {
    struct gpi_segreduce_piece piece;
    uint32_t begins[GPI_SEGREDUCE_PIECE], ends[GPI_SEGREDUCE_PIECE];
    uint32_t numbers[GPI_SEGREDUCE_PIECE + 16]; /* in the piece */
};

/* False: most segments have items. */
static __attribute__((noinline)) bool dense_open(const struct gpi_segreduce_piece *p,
                                                 struct dense *d)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint32_t count = 0;
    for (uint32_t s = 0; s < p->count; s += 16) {
        const uint32_t most = p->count - s < 16 ? p->count - s : 16;
        const __mmask16 here = (__mmask16)((1u << most) - 1);
        const __m512i begins = _mm512_maskz_loadu_epi32(here, p->begins + s);
        const __m512i ends = _mm512_maskz_loadu_epi32(here, p->ends + s);
        const __mmask16 some = _mm512_cmpneq_epu32_mask(begins, ends);
        const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)s));
        _mm512_storeu_si512(d->numbers + count, _mm512_maskz_compress_epi32(some, numbers));
        count += (uint32_t)__builtin_popcount(some);
        if (count > 16 + s / 4)
            return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        d->begins[k] = p->begins[d->numbers[k]];
        d->ends[k] = p->ends[d->numbers[k]];
    }
    d->piece = *p;
    d->piece.begins = d->begins;
    d->piece.ends = d->ends;
    d->piece.count = count;
    return true;
}

static void unit_fold(const struct gpi_segreduce_piece *p, void *to)
{
    struct dense d;
    sum_t room[GPI_SEGREDUCE_PIECE], *results = to;
    if (p->count < SIDE || !dense_open(p, &d)) {
        folds_choose(p, to);
        return;
    }
    folds_choose(&d.piece, room);
    for (uint32_t s = 0; s < p->count; s++)
        results[s] = *(const sum_t *)p->empty;
    for (uint32_t k = 0; k < d.piece.count; k++)
        results[d.numbers[k]] = room[k];
}

#else
#define unit_fold folds_choose
#endif

#if GPI_SCALARS == 1

#include "segreduce/segreduce_cpu_places.h"

#else
#define unit_places NULL
#endif

#define UNIT PASTE4(gpi_segreduce_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
extern const struct gpi_segreduce_cpu UNIT;
const struct gpi_segreduce_cpu UNIT = {unit_fold, unit_places, SIDE_BY_SIDE};
