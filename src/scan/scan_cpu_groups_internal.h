/* SPDX-License-Identifier: MIT */
/*
 * Scan of scalars of 4 and 8 bytes, and of items of several of them, in vectors; plain, or of
 * segments. Of several scalars a vector has one of each item.
 *
 * A group is as many items as there are scalars in 64 bytes. Pairs are folded, then pairs of pairs
 * (Sklansky's scan), then the group goes behind the carry: so every instruction set gives the same
 * bits. A left operand always precedes the right one, as min and max of floats and pair operators
 * ask for. Of segments a mask of the lanes behind a head moves along with the items (Blelloch's
 * pairs of value and flag), and such lanes keep what they have.
 */
#ifndef GPI_SCAN_CPU_GROUPS_INTERNAL_H
#define GPI_SCAN_CPU_GROUPS_INTERNAL_H

#include "scan/scan_cpu_vectors_internal.h"
#if GPI_SCALARS == 1
#include "scan/scan_cpu_lanes_internal.h"
#endif

/* An item in every lane. */
struct items {
    vector v[GPI_SCALARS];
};

/*
 * behind_t      lanes that have a head before them in what was folded, or are one: a bit for each
 *               where instructions take such masks, otherwise all bits of a lane
 * BEHIND_UP     STEPd of them
 * APART         lanes without bit d
 * BACK_APART    the others
 * LOWER         STEPd of items, where lanes without bit d may get anything; HIGHER: BACK_STEPd
 * KEPT_APART    these lanes keep what they have; otherwise they are folded with what is neutral,
 *               which integers do in less time if there are no heads
 */
#if VECTOR == 64

typedef uint32_t behind_t;

/* In general registers, where shifts are fast. Lanes from one bit below their half's end on. */
#define BEHIND_UP(step, d, behind)                                                                 \
    ((((behind)&PASTE(LAST_BELOW_, d)) << 1) * (uint32_t)((1 << (d)) - 1))
#define LAST_BELOW_1 0x5555u
#define LAST_BELOW_2 0x2222u
#define LAST_BELOW_4 0x0808u
#define LAST_BELOW_8 0x0080u
#define BACK_APART(step, d) ((PASTE(LAST_BELOW_, d) << 1) * (uint32_t)((1 << (d)) - 1))
#define APART(step, d) (~BACK_APART(step, d))
#define LOWER(step, v) WITH_LANES(DUP_##step, v)
#define HIGHER(step, v) WITH_LANES(DUP_BACK_##step, v)
#define KEPT_APART(op, any)                                                                        \
    (GPI_SCALARS > 1 || ACC_IS_FLOAT || (any) || (op) == GP_PRODUCT || (op) == GP_MIN ||           \
     (op) == GP_MAX)

ALWAYS_INLINE behind_t behind_of(uint64_t heads)
{
    behind_t behind = (behind_t)heads & ((1u << LANES) - 1);
    __asm__("" : "+r"(behind));
    return behind;
}

ALWAYS_INLINE behind_t behind_last(behind_t behind)
{
    return 0 - (behind >> (LANES - 1) & 1);
}

ALWAYS_INLINE vector choose(behind_t where, vector a, vector b)
{
    if (__builtin_constant_p(where) && where == 0)
        return b;
#if ACC_IS_FLOAT && ACC_BYTES == 8
    return (vector)_mm512_mask_mov_pd((__m512d)b, (__mmask8)where, (__m512d)a);
#elif ACC_IS_FLOAT
    return (vector)_mm512_mask_mov_ps((__m512)b, (__mmask16)where, (__m512)a);
#elif ACC_BYTES == 8
    return (vector)_mm512_mask_mov_epi64((__m512i)b, (__mmask8)where, (__m512i)a);
#else
    return (vector)_mm512_mask_mov_epi32((__m512i)b, (__mmask16)where, (__m512i)a);
#endif
}

#if GPI_SCALARS == 1
#if ACC_IS_FLOAT
#define WORD_KIND PLAIN_KIND
#define HAS_MASK(op, plain) ((op) == GP_SUM || (op) == GP_PRODUCT || (plain))
#else
#define WORD_KIND PASTE(epi, PLAIN_BITS)
#define HAS_MASK(op, plain) true
#endif
#if ACC_BYTES == 8
typedef __mmask8 lane_mask;
#else
typedef __mmask16 lane_mask;
#endif
#define WHERE(name, kind, a, b)                                                                    \
    (vector) PLAIN(512, mask_##name, kind)(PLAIN_OPERAND(right), where, PLAIN_OPERAND(a),          \
                                           PLAIN_OPERAND(b))

/* left op right, where the mask does not say that a lane keeps right: in one instruction, of which
 * compilers make two. */
ALWAYS_INLINE vector combine_but(bool plain, gp_op op, behind_t kept, vector left, vector right)
{
    const lane_mask where = (lane_mask)~kept;
    if ((__builtin_constant_p(kept) && kept == 0) || !HAS_MASK(op, plain))
        return choose(kept, right, combine_as(plain, op, left, right));
    switch (op) {
    case GP_SUM:
        return WHERE(add, WORD_KIND, left, right);
    case GP_MIN:
        return WHERE(min, PLAIN_KIND, right, left);
    case GP_MAX:
        return WHERE(max, PLAIN_KIND, right, left);
#if ACC_IS_FLOAT
    default:
        return WHERE(mul, PLAIN_KIND, left, right);
#else
    case GP_AND:
        return WHERE(and, WORD_KIND, left, right);
    case GP_OR:
        return WHERE(or, WORD_KIND, left, right);
    case GP_XOR:
        return WHERE(xor, WORD_KIND, left, right);
    default:
        return WHERE(mullo, WORD_KIND, left, right);
#endif
    }
}
#endif

#else

typedef lanes behind_t;
#define BEHIND_UP(step, d, behind) WITH_LANES(step, behind, (lanes){0})
#define APART(step, d) WITH_LANES(step, (lanes){0}, ~(lanes){0})
#define BACK_APART(step, d) (~APART(step, d))
#define LOWER(step, v) WITH_LANES(step, v, v)
#define HIGHER(step, v) WITH_LANES(BACK_##step, v, v)
#define KEPT_APART(op, any) (GPI_SCALARS > 1)

/* A lane for each of the lowest bits. */
ALWAYS_INLINE behind_t behind_of(uint64_t heads)
{
    static const __typeof__(((lanes){0})[0]) powers[] = {1, 2, 4, 8, 16, 32, 64, 128};
    lanes bit;
    memcpy(&bit, powers, sizeof bit);
    return (lanes)((((lanes){0} + (__typeof__(bit[0]))heads) & bit) == bit);
}

ALWAYS_INLINE behind_t behind_last(behind_t behind)
{
    return WITH_LANES(LAST, behind);
}

ALWAYS_INLINE vector choose(behind_t where, vector a, vector b)
{
    return (vector)(((lanes)a & where) | ((lanes)b & ~where));
}

#endif

/* A vector's items, and which are behind heads. */
struct span {
    struct items items;
    behind_t behind;
};

ALWAYS_INLINE struct items items_all(acc_t value)
{
    scalar_t scalars[GPI_SCALARS];
    struct items all;
    memcpy(scalars, &value, sizeof scalars);
    for (int s = 0; s < GPI_SCALARS; s++)
        all.v[s] = vector_of(scalars[s]);
    return all;
}

ALWAYS_INLINE acc_t first_item(const struct items *items)
{
    scalar_t scalars[GPI_SCALARS];
    acc_t value;
    for (int s = 0; s < GPI_SCALARS; s++)
        scalars[s] = items->v[s][0];
    memcpy(&value, scalars, sizeof value);
    return value;
}

ALWAYS_INLINE struct items items_fold(bool plain, gp_op op, struct items l, struct items r)
{
#if GPI_SCALARS == 1
    return (struct items){{combine_as(plain, op, l.v[0], r.v[0])}};
#else
    (void)plain;
    GPI_RETURN_PAIR_RESULT(struct items)
#endif
}

ALWAYS_INLINE struct items items_choose(behind_t where, struct items a, struct items b)
{
    for (int s = 0; s < GPI_SCALARS; s++)
        a.v[s] = choose(where, a.v[s], b.v[s]);
    return a;
}

/* ---- items in memory: scalars of an item are neighbours -------------------------------------- */

/* Every second lane goes to the lower half of the vectors, the others to the upper one. */
ALWAYS_INLINE void halves_part(struct items *items)
{
    const struct items from = *items;
    for (int s = 0; s + 1 < GPI_SCALARS; s += 2) {
        items->v[s / 2] = (vector)WITH_LANES(EVEN, from.v[s], from.v[s + 1]);
        items->v[(s + GPI_SCALARS) / 2] = (vector)WITH_LANES(ODD, from.v[s], from.v[s + 1]);
    }
}

ALWAYS_INLINE void halves_join(struct items *items)
{
    const struct items from = *items;
    for (int s = 0; s + 1 < GPI_SCALARS; s += 2) {
        const vector low = from.v[s / 2], high = from.v[(s + GPI_SCALARS) / 2];
        items->v[s] = (vector)WITH_LANES(LOW, low, high);
        items->v[s + 1] = (vector)WITH_LANES(HIGH, low, high);
    }
}

ALWAYS_INLINE struct items items_get(const acc_t *in)
{
    struct items items;
#pragma GCC unroll 4 /* not copied as a whole, through memory */
    for (int s = 0; s < GPI_SCALARS; s++)
        items.v[s] = vector_load((const scalar_t *)(const void *)in + s * LANES);
    for (int s = 1; s < GPI_SCALARS; s *= 2)
        halves_part(&items);
    return items;
}

ALWAYS_INLINE void items_put(struct items items, acc_t *out)
{
    for (int s = 1; s < GPI_SCALARS; s *= 2)
        halves_join(&items);
#pragma GCC unroll 4
    for (int s = 0; s < GPI_SCALARS; s++)
        memcpy((char *)out + s * VECTOR, &items.v[s], VECTOR);
}

/* ---- one group ------------------------------------------------------------------------------- */

/* lower: the items before, behind a head or not. apart: lanes that have none. */
ALWAYS_INLINE void span_fold(bool plain, gp_op op, bool any, struct items lower,
                             behind_t lower_behind, behind_t apart, bool kept_apart,
                             struct span *span)
{
#if VECTOR == 64 && GPI_SCALARS == 1
    (void)kept_apart;
    const behind_t kept = any ? span->behind | apart : apart;
    span->items.v[0] = combine_but(plain, op, kept, lower.v[0], span->items.v[0]);
#else
    const struct items folded = items_fold(plain, op, lower, span->items);
    if (any)
        span->items = items_choose(span->behind | apart, span->items, folded);
    else
        span->items = kept_apart ? items_choose(apart, span->items, folded) : folded;
#endif
    if (any)
        span->behind |= lower_behind;
}

/* Lanes whose number has the bit of the step are folded with the last one below their half; if it
 * turns, the others with the first one above it. What is left keeps what it has, or is folded with
 * what is neutral. Of several scalars nothing is: what is infinite would become a NaN. */
#define STEP_FUNCTION(step, d)                                                                     \
    ALWAYS_INLINE void span_##step(bool plain, gp_op op, bool turn, bool any, vector neutral,      \
                                   struct span *span)                                              \
    {                                                                                              \
        const bool kept = KEPT_APART(op, any);                                                     \
        const behind_t none = {0}, apart = turn ? BACK_APART(step, d) : APART(step, d);            \
        struct items lower;                                                                        \
        for (int s = 0; s < GPI_SCALARS; s++) {                                                    \
            const vector v = span->items.v[s];                                                     \
            if (kept)                                                                              \
                lower.v[s] = (vector)(turn ? HIGHER(step, v) : LOWER(step, v));                    \
            else                                                                                   \
                lower.v[s] = (vector)(turn ? WITH_LANES(BACK_##step, v, neutral)                   \
                                           : WITH_LANES(step, v, neutral));                        \
        }                                                                                          \
        span_fold(plain, op, any, lower, BEHIND_UP(step, d, span->behind), kept ? apart : none,    \
                  kept, span);                                                                     \
    }
STEP_FUNCTION(STEP1, 1)
#if VECTOR / ACC_BYTES >= 4
STEP_FUNCTION(STEP2, 2)
#endif
#if VECTOR / ACC_BYTES >= 8
STEP_FUNCTION(STEP4, 4)
#endif
#if VECTOR / ACC_BYTES >= 16
STEP_FUNCTION(STEP8, 8)
#endif

ALWAYS_INLINE void span_scan(bool plain, gp_op op, bool turn, bool any, vector neutral,
                             struct span *span)
{
    span_STEP1(plain, op, turn, any, neutral, span);
#if VECTOR / ACC_BYTES >= 4
    span_STEP2(plain, op, turn, any, neutral, span);
#endif
#if VECTOR / ACC_BYTES >= 8
    span_STEP4(plain, op, turn, any, neutral, span);
#endif
#if VECTOR / ACC_BYTES >= 16
    span_STEP8(plain, op, turn, any, neutral, span);
#endif
}

/* The item of a span that the scan takes last in all lanes, and whether it is behind a head. */
ALWAYS_INLINE struct span last_of(bool turn, const struct span *span)
{
    struct span last;
    for (int s = 0; s < GPI_SCALARS; s++)
        last.items.v[s] = (vector)(turn ? WITH_LANES(FIRST, span->items.v[s])
                                        : WITH_LANES(LAST, span->items.v[s]));
    last.behind = behind_last(span->behind);
    return last;
}

ALWAYS_INLINE void group_scan(bool plain, gp_op op, bool turn, bool any, vector neutral,
                              struct span p[GROUP_VECTORS])
{
    const behind_t none = {0};
    for (int k = 0; k < GROUP_VECTORS; k++)
        span_scan(plain, op, turn, any, neutral, &p[k]);
    for (int d = 1; d < GROUP_VECTORS; d *= 2)
        for (int k = 0; k < GROUP_VECTORS; k++)
            if (k & d) {
                const struct span last = last_of(turn, &p[(k & ~(d - 1)) - 1]);
                span_fold(plain, op, any, last.items, last.behind, none, false, &p[k]);
            }
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* What does not change on the way. */
struct way {
    bool plain; /* see combine_as() */
    bool turn;  /* from the last item in memory to the first */
    gp_op op;
    acc_t start; /* of every segment */
    bool starts; /* it is not neutral */
    vector neutral;
};

/* A group behind before, which becomes what comes behind it. heads: of its items; any: there are
 * some. out: NULL if only what comes behind it is wanted, and there are none. */
ALWAYS_INLINE void group_take(struct way way, bool any, uint64_t heads, const acc_t *in,
                              struct items *before, acc_t *out)
{
    const behind_t none = {0};
    struct span p[GROUP_VECTORS], *end = &p[GROUP_VECTORS - 1];
    for (int k = 0; k < GROUP_VECTORS; k++) {
        const behind_t own = any ? behind_of(heads >> k * LANES) : none;
        const int at = way.turn ? GROUP_VECTORS - 1 - k : k;
        p[k] = (struct span){items_get(in + at * LANES), own};
        if (any && way.starts) {
            const struct items started =
                items_fold(way.plain, way.op, items_all(way.start), p[k].items);
            p[k].items = items_choose(own, started, p[k].items);
        }
    }
    group_scan(way.plain, way.op, way.turn, any, way.neutral, p);
    struct span last = last_of(way.turn, end);
    for (int k = 0; out && k < GROUP_VECTORS; k++) {
        const int at = way.turn ? GROUP_VECTORS - 1 - k : k;
        span_fold(way.plain, way.op, any, *before, none, none, false, &p[k]);
        items_put(p[k].items, out + at * LANES);
    }
    if (any) /* takes longer, but a mask less */
        last = last_of(way.turn, end);
    else
        span_fold(way.plain, way.op, false, *before, none, none, false, &last);
    *before = last.items;
}

/* out[i] = carry op in[0] op .. op in[i], or from the last head on; n is a multiple of GROUP.
 * heads: bits of the items, or NULL. Returns the last one. out may be NULL. */
ALWAYS_INLINE acc_t groups_take(struct way way, const acc_t *in, size_t n, const uint64_t *heads,
                                acc_t carry, acc_t *out)
{
    struct items before = items_all(carry);
    for (size_t i = 0; i < n; i += GROUP) {
        const uint64_t bits = heads ? heads[i / 64] >> i % 64 & (((uint64_t)1 << GROUP) - 1) : 0;
        const size_t at = way.turn ? n - GROUP - i : i;
        if (bits)
            group_take(way, true, bits, in + at, &before, out ? out + at : NULL);
        else
            group_take(way, false, 0, in + at, &before, out ? out + at : NULL);
    }
    return first_item(&before);
}

/* The same of any items but, of segments, minima and maxima of floats that are NaNs. turn: in the
 * other order, from item n - 1 on. */
ALWAYS_INLINE acc_t groups_scan(gp_op op, bool turn, const acc_t *in, size_t n,
                                const uint64_t *heads, acc_t start, acc_t carry, acc_t *out)
{
    struct way way = {.plain = false, .turn = turn, .op = op, .start = start};
    const acc_t own = identity(op);
    way.starts = memcmp(&start, &own, sizeof start) != 0;
#if GPI_SCALARS == 1
    way.neutral = vector_of(identity(op));
#else
    way.neutral = (vector){0}; /* is not used */
#endif
#if GPI_SCALARS == 1 && ACC_IS_FLOAT
    if ((op == GP_MIN || op == GP_MAX) && n && (heads || !has_nan(in, n))) {
        const acc_t neutral = plain_neutral(op);
        way.plain = true;
        way.neutral = vector_of(neutral);
        way.start = op == GP_MIN && start != start ? neutral : start;
        return groups_take(way, in, n, heads, op == GP_MIN && carry != carry ? neutral : carry,
                           out);
    }
#endif
    return groups_take(way, in, n, heads, carry, out);
}

#endif
