/* SPDX-License-Identifier: MIT */
/*
 * Segments of floats, and of maps, side by side; compiled for AVX-512 per unit: GPI_UNIT, and what
 * scan_cpu_types_internal.h takes.
 *
 * As many segments that have items as a vector has lanes are folded item by item, in order: the
 * k-th items of all are gathered where the segments are short; otherwise a vector of each is
 * loaded, and all are turned. Longer segments go to the loops of the reduction. So the bits are
 * those of folds one by one.
 */
#include "segreduce/segreduce_cpu_folds.h"
#include "segreduce/segreduce_cpu_list.h"

#define SUM_BYTES (ACC_BYTES * GPI_SCALARS)

enum { SIDE = VECTOR / ACC_BYTES };

#if ACC_BYTES == 4
typedef __m512i lengths_t;
typedef __mmask16 side_mask;
#define LENGTHS_LOAD(p) _mm512_loadu_si512(p)
#define LENGTHS_SUB _mm512_sub_epi32
#define LENGTHS_ADD _mm512_add_epi32
#define LENGTHS_OF(x) _mm512_set1_epi32((int)(x))
#define LENGTHS_ABOVE _mm512_cmpgt_epi32_mask
#define LENGTHS_FEW(v, lanes) _mm512_maskz_mov_epi32(lanes, v)
#define LENGTHS_MOST(v) _mm512_reduce_max_epu32(v)
#define GATHER(all, mask, at, in) _mm512_mask_i32gather_epi32(all, mask, at, in, 4)
#define MOVE _mm512_mask_mov_epi32
#else
typedef __m256i lengths_t;
typedef __mmask8 side_mask;
#define LENGTHS_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define LENGTHS_SUB _mm256_sub_epi32
#define LENGTHS_ADD _mm256_add_epi32
#define LENGTHS_OF(x) _mm256_set1_epi32((int)(x))
#define LENGTHS_ABOVE _mm256_cmpgt_epi32_mask
#define LENGTHS_FEW(v, lanes) _mm256_maskz_mov_epi32(lanes, v)
#define LENGTHS_MOST(v) _mm512_reduce_max_epu32(_mm512_zextsi256_si512(v))
#define GATHER(all, mask, at, in) _mm512_mask_i32gather_epi64(all, mask, at, in, 8)
#define MOVE _mm512_mask_mov_epi64
#endif

/* A mask as bits of lanes. Code of gcc 12 with the address sanitizer has bits set behind those of a
 * mask of eight. */
ALWAYS_INLINE unsigned side_lanes(side_mask mask)
{
    unsigned lanes = mask;
    __asm__("" : "+r"(lanes));
    return lanes & ((1u << SIDE) - 1);
}

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

typedef acc_t items_t __attribute__((vector_size(VECTOR)));

enum { TURNED = 6 /* items of a segment on the average from which that pays */ };

ALWAYS_INLINE __m512i side_join(gp_op op, __m512i l, __m512i r)
{
    return (__m512i)(op == GP_SUM ? (items_t)l + (items_t)r : (items_t)l * (items_t)r);
}

#if ACC_BYTES == 4
#define PART 4 /* items of 16 bytes */
#define LANES_LOAD _mm512_maskz_loadu_epi32
#define LANES_STORE _mm512_mask_storeu_epi32

/* Of four rows, four vectors: each 16 bytes have an item of each. */
ALWAYS_INLINE void part_turn(const __m512i *row, __m512i (*to)[4], int g)
{
    const __m512i a = _mm512_unpacklo_epi32(row[0], row[1]);
    const __m512i b = _mm512_unpackhi_epi32(row[0], row[1]);
    const __m512i c = _mm512_unpacklo_epi32(row[2], row[3]);
    const __m512i d = _mm512_unpackhi_epi32(row[2], row[3]);
    to[0][g] = _mm512_unpacklo_epi64(a, c);
    to[1][g] = _mm512_unpackhi_epi64(a, c);
    to[2][g] = _mm512_unpacklo_epi64(b, d);
    to[3][g] = _mm512_unpackhi_epi64(b, d);
}
#else
#define PART 2
#define LANES_LOAD _mm512_maskz_loadu_epi64
#define LANES_STORE _mm512_mask_storeu_epi64

ALWAYS_INLINE void part_turn(const __m512i *row, __m512i (*to)[4], int g)
{
    to[0][g] = _mm512_unpacklo_epi64(row[0], row[1]);
    to[1][g] = _mm512_unpackhi_epi64(row[0], row[1]);
}
#endif

/* Rows become columns. */
ALWAYS_INLINE void rows_turn(const __m512i *row, __m512i *column)
{
    __m512i part[PART][4];
    for (int g = 0; g < 4; g++)
        part_turn(row + g * PART, part, g);
    for (int c = 0; c < PART; c++) {
        const __m512i a = _mm512_shuffle_i64x2(part[c][0], part[c][1], 0x44);
        const __m512i b = _mm512_shuffle_i64x2(part[c][0], part[c][1], 0xee);
        const __m512i d = _mm512_shuffle_i64x2(part[c][2], part[c][3], 0x44);
        const __m512i e = _mm512_shuffle_i64x2(part[c][2], part[c][3], 0xee);
        column[c] = _mm512_shuffle_i64x2(a, d, 0x88);
        column[PART + c] = _mm512_shuffle_i64x2(a, d, 0xdd);
        column[2 * PART + c] = _mm512_shuffle_i64x2(b, e, 0x88);
        column[3 * PART + c] = _mm512_shuffle_i64x2(b, e, 0xdd);
    }
}

/* Segments of n items, up to `most`, by vectors of each that are turned. They may have other items
 * behind the segments, but none behind the piece. */
static __attribute__((noinline)) __m512i
fold_turned(gp_op op, const in_t *in, const uint32_t *begins, lengths_t n, uint32_t most)
{
    __m512i row[SIDE], column[SIDE], all = _mm512_setzero_si512();
    for (uint32_t t = 0; t < most; t += SIDE) {
        for (uint32_t k = 0; k < SIDE; k++)
            row[k] = _mm512_loadu_si512(in + begins[k] + t);
        rows_turn(row, column);
        for (uint32_t k = 0; k < SIDE; k++)
            all = MOVE(all, LENGTHS_ABOVE(n, LENGTHS_OF(k)),
                       t + k ? side_join(op, all, column[k]) : column[k]);
        n = LENGTHS_SUB(n, LENGTHS_OF(SIDE));
    }
    return all;
}

/* The next items of all, as long as a quarter of them has some; the rest one by one. */
ALWAYS_INLINE __m512i fold_gathered(gp_op op, const in_t *in, lengths_t begin, lengths_t n,
                                    unsigned *some, uint32_t *t)
{
    __m512i all = _mm512_setzero_si512();
    for (; __builtin_popcount(*some) >= SIDE / 4; ++*t) {
        const side_mask lanes = (side_mask)*some;
        const __m512i next = GATHER(all, lanes, LENGTHS_ADD(begin, LENGTHS_OF(*t)), in);
        all = MOVE(all, lanes, *t ? side_join(op, all, next) : next);
        *some = side_lanes(LENGTHS_ABOVE(n, LENGTHS_OF(*t + 1)));
    }
    return all;
}

/* SIDE segments, or the last of a piece. */
ALWAYS_INLINE void fold_side_by_side(gp_op op, const struct gpi_segreduce_piece *p,
                                     const uint32_t *begins, const uint32_t *ends, uint32_t count,
                                     sum_t *to)
{
    const in_t *in = p->in;
    const lengths_t begin = LENGTHS_LOAD(begins);
    const lengths_t whole = LENGTHS_SUB(LENGTHS_LOAD(ends), begin);
    const unsigned far = side_lanes(LENGTHS_ABOVE(whole, LENGTHS_OF(GPI_SEGREDUCE_LONG)));
    const lengths_t n = LENGTHS_FEW(whole, (side_mask)~far);
    const uint32_t items = ends[count - 1] - begins[0];
    const uint32_t most = items < TURNED * count ? 0 : (LENGTHS_MOST(n) + SIDE - 1) / SIDE * SIDE;
    unsigned some = side_lanes(LENGTHS_ABOVE(n, LENGTHS_OF(0)));
    uint32_t t = 0;
    if (items == count) {
        LANES_STORE(to, (side_mask)some, LANES_LOAD((side_mask)some, in + begins[0]));
        return;
    }
    if (most && begins[count - 1] + most <= p->ends[p->count - 1]) {
        _mm512_storeu_si512(to, fold_turned(op, in, begins, n, most));
    } else {
        _mm512_storeu_si512(to, fold_gathered(op, in, begin, n, &some, &t));
        fold_lanes(op, p, begins, ends, some, t, to);
    }
    fold_lanes(op, p, begins, ends, far, 0, to);
}

#else

#include "segreduce/segreduce_cpu_pairs.h"

#endif

/* ---- pieces ---------------------------------------------------------------------------------- */

static void list_fold(const struct gpi_segreduce_piece *p, const struct gpi_segreduce_list *list,
                      sum_t *to)
{
    for (uint32_t s = 0; s < list->count; s += SIDE) {
        const uint32_t *begins = list->begins + s, *ends = list->ends + s;
#if GPI_SCALARS == 1
        const uint32_t count = list->count - s < SIDE ? list->count - s : SIDE;
        if (p->op == GP_SUM)
            fold_side_by_side(GP_SUM, p, begins, ends, count, to + s);
        else
            fold_side_by_side(GP_PRODUCT, p, begins, ends, count, to + s);
#else
        fold_side_by_side(p->op, p, begins, ends, to + s);
#endif
    }
}

#if SUM_BYTES == 4
typedef uint32_t words_t;
#elif SUM_BYTES == 8
typedef uint64_t words_t;
#else
typedef sum_t words_t;
#endif

/* Folds to their segments, others are without items; to has room for a multiple of 16. */
static void list_spread(const struct gpi_segreduce_piece *p, const struct gpi_segreduce_list *list,
                        const sum_t *room, sum_t *to)
{
    const sum_t empty = *(const sum_t *)p->empty;
    const words_t *from = (const void *)room;
    uint64_t bits = 0;
    memcpy(&bits, &empty, sizeof bits < sizeof empty ? sizeof bits : sizeof empty);
    for (uint32_t s = 0; s < p->count; s += 16) {
        const unsigned some = list->some[s / 16];
#if SUM_BYTES == 4
        const __m512i none = _mm512_set1_epi32((int)bits);
        _mm512_storeu_si512(to + s, gpi_segreduce_spread_32(none, some, &from));
#elif SUM_BYTES == 8
        const __m512i none = _mm512_set1_epi64((long long)bits);
        _mm512_storeu_si512(to + s, gpi_segreduce_spread_64(none, some, &from));
        _mm512_storeu_si512(to + s + 8, gpi_segreduce_spread_64(none, some >> 8, &from));
#else
        for (uint32_t k = 0; k < 16; k++) {
            to[s + k] = some >> k & 1 ? *from : empty;
            from = from + (some >> k & 1);
        }
#endif
    }
}

#define SIDE_FN PASTE4(gpi_segreduce_side_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gpi_segreduce_piece_fn SIDE_FN;

void SIDE_FN(const struct gpi_segreduce_piece *p, void *to)
{
    struct gpi_segreduce_list list;
    sum_t room[GPI_SEGREDUCE_ROOM];
    gpi_segreduce_list(p, &list);
    list_fold(p, &list, room);
    _mm512_storeu_si512(room + list.count, _mm512_setzero_si512());
    list_spread(p, &list, room, to);
}
