/* SPDX-License-Identifier: MIT */
/*
 * Operators on vectors of single scalars, folds, and the scan of integers of 1 and 2 bytes; that of
 * wider scalars is in scan_cpu_groups_internal.h.
 *
 * A left operand always precedes the right one, as min and max of floats ask for.
 */
#ifndef GPI_SCAN_CPU_LANES_INTERNAL_H
#define GPI_SCAN_CPU_LANES_INTERNAL_H

#include "scan/scan_cpu_vectors_internal.h"

typedef uacc_t uvector __attribute__((vector_size(VECTOR))); /* integers wrap */

/* ---- operators on vectors -------------------------------------------------------------------- */

#if ACC_BYTES == 1
/* There is no multiplication of bytes: two of 16 bits, of which one leaves its bytes in place. */
ALWAYS_INLINE vector bytes_product(vector left, vector right)
{
    typedef uint16_t pairs __attribute__((vector_size(VECTOR)));
    const pairs l = (pairs)left, r = (pairs)right, low = (pairs){0} + (uint16_t)0x00ff;
    return (vector)((l * r & low) | (l >> 8) * (r & ~low));
}
#endif

/* Minimum and maximum in one instruction: of floats without NaNs; of integers where there is one.
 * It keeps its second operand if the first is not better, as gp's order keeps the left one. */
#if VECTOR == 64
#define PLAIN_SIZE 512
#elif VECTOR == 32
#define PLAIN_SIZE 256
#else
#define PLAIN_SIZE
#endif
#if ACC_IS_FLOAT && ACC_BYTES == 8
#define PLAIN_KIND pd
#elif ACC_IS_FLOAT
#define PLAIN_KIND ps
#elif OUT_KIND == 1
#define PLAIN_KIND PASTE(epu, PLAIN_BITS)
#else
#define PLAIN_KIND PASTE(epi, PLAIN_BITS)
#endif
#if ACC_BYTES == 1
#define PLAIN_BITS 8
#elif ACC_BYTES == 2
#define PLAIN_BITS 16
#elif ACC_BYTES == 4
#define PLAIN_BITS 32
#else
#define PLAIN_BITS 64
#endif
#if ACC_IS_FLOAT ? defined(__SSE2__) : VECTOR == 64 || (VECTOR == 32 && ACC_BYTES < 8)
#define HAVE_PLAIN 1
#define PLAIN_(size, name, kind) _mm##size##_##name##_##kind
#define PLAIN(size, name, kind) PLAIN_(size, name, kind)
#if ACC_IS_FLOAT
#define PLAIN_OPERAND(v) (v)
#elif VECTOR == 64
#define PLAIN_OPERAND(v) ((__m512i)(v))
#else
#define PLAIN_OPERAND(v) ((__m256i)(v))
#endif
ALWAYS_INLINE vector combine_plain(gp_op op, vector left, vector right)
{
    return op == GP_MIN ? (vector)PLAIN(PLAIN_SIZE, min, PLAIN_KIND)(PLAIN_OPERAND(right),
                                                                     PLAIN_OPERAND(left))
                        : (vector)PLAIN(PLAIN_SIZE, max, PLAIN_KIND)(PLAIN_OPERAND(right),
                                                                     PLAIN_OPERAND(left));
}
#else
#define HAVE_PLAIN 0
#define combine_plain combine
#endif

ALWAYS_INLINE vector combine(gp_op op, vector left, vector right)
{
#if ACC_BYTES == 1
    if (op == GP_PRODUCT)
        return bytes_product(left, right);
#endif
#if HAVE_PLAIN && !ACC_IS_FLOAT
    if (op == GP_MIN || op == GP_MAX)
        return combine_plain(op, left, right);
#endif
#if ACC_IS_FLOAT
#define GPI_LESS GPI_FLOAT_LESS
#else
#define GPI_LESS(a, b) ((a) < (b))
#endif
#define GPI_CHOOSE(take, a, b) (vector)(((mask)(a) & (take)) | ((mask)(b) & ~(take)))
    typedef uvector as_ARITHMETIC;
    typedef lanes as_BITS UNUSED;
    typedef vector as_ORDER;
    GPI_RETURN_RESULT(vector)
#undef GPI_LESS
#undef GPI_CHOOSE
}

/* plain: op is MIN or MAX of floats, none of them a NaN but, of MAX, the carry. */
ALWAYS_INLINE vector combine_as(bool plain, gp_op op, vector left, vector right)
{
    return plain ? combine_plain(op, left, right) : combine(op, left, right);
}

/* The fold of a vector's items, whose order does not matter, as it does not of integers. */
ALWAYS_INLINE acc_t lanes_joined(bool plain, gp_op op, vector v)
{
    const lanes none = {0}; /* goes where the result is not */
    v = combine_as(plain, op, (vector)WITH_LANES(STEP1, (lanes)v, none), v);
#if VECTOR / MOVED_BYTES >= 4
    v = combine_as(plain, op, (vector)WITH_LANES(STEP2, (lanes)v, none), v);
#endif
#if VECTOR / MOVED_BYTES >= 8
    v = combine_as(plain, op, (vector)WITH_LANES(STEP4, (lanes)v, none), v);
#endif
#if VECTOR / MOVED_BYTES >= 16
    v = combine_as(plain, op, (vector)WITH_LANES(STEP8, (lanes)v, none), v);
#endif
#if ACC_BYTES < 4
    v = combine_as(plain, op, v, (vector)((lanes)v >> 32));
    v = combine_as(plain, op, v, (vector)((lanes)v >> 16));
#if ACC_BYTES == 1
    v = combine_as(plain, op, v, (vector)((lanes)v >> 8));
#endif
#endif
    return v[LANES - MOVED_BYTES / ACC_BYTES];
}

/* ---- minimum and maximum of floats ----------------------------------------------------------- */

#if ACC_IS_FLOAT

/* Whether an item of either is a NaN: some bit is set. */
#if VECTOR == 64
typedef uint32_t nans_t;
#define NANS(a, b) PLAIN(PLAIN_SIZE, cmp, PASTE(PLAIN_KIND, _mask))(a, b, _CMP_UNORD_Q)
#define ANY_NAN(nans) ((nans) != 0)
#elif VECTOR == 32
typedef lanes nans_t;
#define NANS(a, b) (lanes) PLAIN(PLAIN_SIZE, cmp, PLAIN_KIND)(a, b, _CMP_UNORD_Q)
#define ANY_NAN(nans) (!_mm256_testz_si256((__m256i)(nans), (__m256i)(nans)))
#else
typedef lanes nans_t;
#define NANS(a, b) ((lanes)((a) != (a)) | (lanes)((b) != (b)))
#define ANY_NAN(nans) (((lanes64)(nans))[0] | ((lanes64)(nans))[1])
#endif

/* n is a multiple of GROUP. This is so short that it would wait for memory: as many items behind
 * are asked for. */
ALWAYS_INLINE bool has_nan(const acc_t *in, size_t n)
{
    nans_t found[2] = {0};
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        for (int k = 0; k < 4 * VECTOR; k += 64)
            __builtin_prefetch((const char *)(in + n + i) + k);
        found[0] |= NANS(vector_load(in + i), vector_load(in + i + LANES));
        found[1] |= NANS(vector_load(in + i + 2 * LANES), vector_load(in + i + 3 * LANES));
    }
    for (; i < n; i += LANES)
        found[0] |= NANS(vector_load(in + i), vector_load(in + i));
    found[0] |= found[1];
    return ANY_NAN(found[0]);
}

/* What changes nothing among floats that are no NaNs. */
ALWAYS_INLINE acc_t plain_neutral(gp_op op)
{
    return op == GP_MIN ? (acc_t)__builtin_inf() : -(acc_t)__builtin_inf();
}

#endif

/* ---- folds of floats without the prefixes ---------------------------------------------------- */

#if ACC_IS_FLOAT

/* Lane j of 128 bytes folds the items j, j + lanes, ..; the lanes are folded in halves. */
struct partial {
    vector lanes[SUM_VECTORS];
};

ALWAYS_INLINE void partial_begin(gp_op op, struct partial *partial)
{
    for (int k = 0; k < SUM_VECTORS; k++)
        partial->lanes[k] = vector_of(identity(op));
}

/* n is a multiple of 2 * GROUP. */
ALWAYS_INLINE struct partial partial_take(gp_op op, struct partial p, enum gpi_scan_form form,
                                          const char *in, size_t n)
{
    for (size_t i = 0; i < n; i += 2 * GROUP)
        for (int k = 0; k < SUM_VECTORS; k++)
            p.lanes[k] =
                combine(op, p.lanes[k], form_load(form, in + form_bytes(form, i + k * LANES)));
    return p;
}

/* p with n items, a multiple of 2 * GROUP. */
ALWAYS_INLINE struct partial partial_add(gp_op op, struct partial p, enum gpi_scan_form form,
                                         const char *in, size_t n)
{
#define CALL(as) (p = partial_take(op, p, as, in, n))
    DO_BY_FORM(form, CALL);
#undef CALL
    return p;
}

ALWAYS_INLINE acc_t partial_end(gp_op op, const struct partial *partial)
{
    acc_t all[2 * GROUP];
    memcpy(all, partial->lanes, sizeof all);
    for (int half = GROUP; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            all[j] = apply(op, all[j], all[j + half]);
    return all[0];
}

/* The smallest or largest of floats that are no NaNs. n is a multiple of 2 * GROUP. */
ALWAYS_INLINE acc_t extreme(gp_op op, const acc_t *in, size_t n)
{
    vector best[SUM_VECTORS];
    for (int k = 0; k < SUM_VECTORS; k++)
        best[k] = vector_of(plain_neutral(op));
    for (size_t i = 0; i < n; i += 2 * GROUP)
        for (int k = 0; k < SUM_VECTORS; k++)
            best[k] = combine_plain(op, best[k], vector_load(in + i + k * LANES));
    for (int k = 1; k < SUM_VECTORS; k++)
        best[0] = combine_plain(op, best[0], best[k]);
    return lanes_joined(true, op, best[0]);
}

/* False if the result depends on the order of items: there are NaNs, or it is a zero, which has two
 * signs. Halves are as_stored(). */
ALWAYS_INLINE bool plain_extreme(gp_op op, enum gpi_scan_form form, const char *in, size_t n,
                                 acc_t *result)
{
    const acc_t *items = (const acc_t *)(const void *)in;
    (void)form;
#if HAVE_HALVES
    if (form) {
        *result = halves_fold(op, form, in, n);
        return true;
    }
#endif
    if (has_nan(items, n))
        return false;
    *result = extreme(op, items, n);
    return *result != 0;
}

#endif

#if !ACC_IS_FLOAT
#include "scan/scan_cpu_integers_internal.h"
#endif

/* ---- scans of integers of 1 and 2 bytes ------------------------------------------------------ */

#if ACC_BYTES < 4

/*
 * PART        bytes inside which items move up at once
 * moved_up    a vector of the items moved up inside these, with neutral ones in their place
 * part_tops   the last item of each part in all of its items
 * parts_up    each part's items in the one behind it
 */
#if VECTOR >= 32

enum { PART = 16 };

#if VECTOR == 64
#define PARTS(name, ...) (vector) _mm512_##name(__VA_ARGS__)
typedef __m512i packed;
#else
#define PARTS(name, ...) (vector) _mm256_##name(__VA_ARGS__)
typedef __m256i packed;
#endif

ALWAYS_INLINE vector moved_up(vector v, vector neutral, int bytes)
{
    switch (bytes) {
    case 1:
        return PARTS(alignr_epi8, (packed)v, (packed)neutral, 15);
    case 2:
        return PARTS(alignr_epi8, (packed)v, (packed)neutral, 14);
    case 4:
        return PARTS(alignr_epi8, (packed)v, (packed)neutral, 12);
    default:
        return PARTS(alignr_epi8, (packed)v, (packed)neutral, 8);
    }
}

/* Of vectors of pairs of bytes, the last pair. */
ALWAYS_INLINE vector part_pairs(vector v)
{
    return PARTS(shuffle_epi8, (packed)v, (packed)((lanes64){0} + 0x0f0e0f0e0f0e0f0eu));
}

ALWAYS_INLINE vector part_tops(vector v)
{
    const lanes64 last =
        (lanes64){0} + (ACC_BYTES == 1 ? 0x0f0f0f0f0f0f0f0fu : 0x0f0e0f0e0f0e0f0eu);
    return PARTS(shuffle_epi8, (packed)v, (packed)last);
}

ALWAYS_INLINE vector parts_up(vector v, vector neutral)
{
    return (vector)WITH_LANES64(UP2, (lanes64)v, (lanes64)neutral);
}

#else

enum { PART = 8 };

ALWAYS_INLINE vector moved_up(vector v, vector neutral, int bytes)
{
    const uint64_t below = ((uint64_t)1 << 8 * bytes) - 1;
    return (vector)((lanes64)v << 8 * bytes | ((lanes64)neutral & below));
}

ALWAYS_INLINE vector part_tops(vector top)
{
    lanes64 v = (lanes64)top >> (64 - 8 * ACC_BYTES);
#if ACC_BYTES == 1
    v |= v << 8;
#endif
    v |= v << 16;
    return (vector)(v | v << 32);
}

ALWAYS_INLINE vector parts_up(vector v, vector neutral)
{
    return (vector)WITH_LANES64(UP, (lanes64)v, (lanes64)neutral);
}

#endif

/* What of items is compared: see scan_cpu_halves_tmpl.c. */
#ifdef GPI_HALVES
ALWAYS_INLINE vector as_key(vector v)
{
    return v ^ (v >> 15 & INT16_MAX);
}

static inline int16_t half_key(int16_t half)
{
    return (int16_t)(half < 0 ? half ^ INT16_MAX : half);
}
#else
#define as_key(v) (v)
#endif

/* out[i] = carry op in[0] op .. op in[i]; n is a multiple of GROUP. Returns the last one. turn: in
 * the other order, from item n - 1 on. */
ALWAYS_INLINE acc_t lanes_scan(gp_op op, bool turn, const acc_t *in, size_t n, acc_t carry,
                               acc_t *out)
{
    const vector neutral = vector_of(identity(op));
    vector before = vector_of(carry);
    for (size_t i = 0; i < n; i += LANES) {
        const size_t at = turn ? n - LANES - i : i;
        vector v = as_key(vector_load(in + at)), all;
        if (turn)
            v = turned(v);
#pragma GCC unroll 4
        for (int bytes = ACC_BYTES; bytes < PART; bytes *= 2)
            v = combine(op, moved_up(v, neutral, bytes), v);
        all = part_tops(v);
#if VECTOR == 16
        all = combine(op, (vector)WITH_LANES64(STEP1, (lanes64)all, (lanes64)neutral), all);
#else
        all = combine(op, (vector)WITH_LANES64(STEP2, (lanes64)all, (lanes64)neutral), all);
#endif
#if VECTOR >= 64
        all = combine(op, (vector)WITH_LANES64(STEP4, (lanes64)all, (lanes64)neutral), all);
#endif
        v = combine(op, combine(op, before, parts_up(all, neutral)), v);
        before = combine(op, before, (vector)WITH_LANES64(LAST, (lanes64)all));
        v = turn ? turned(as_key(v)) : as_key(v);
        memcpy(out + at, &v, sizeof v);
    }
    return before[0];
}

/*
 * The same of products of bytes. There is no multiplication of bytes; in 16 bits the low byte of a
 * product depends on low bytes alone. So neighbours are multiplied, the products scanned in 16
 * bits, and the first byte of each pair follows from what is before the pair.
 */
#if ACC_BYTES == 1 && VECTOR >= 32
#define HAVE_PRODUCTS 1
ALWAYS_INLINE acc_t products_scan(bool turn, const acc_t *in, size_t n, acc_t carry, acc_t *out)
{
    typedef uint16_t pairs __attribute__((vector_size(VECTOR)));
    const pairs ones = (pairs){0} + 1, low = (pairs){0} + (uint16_t)0x00ff;
    pairs before = (pairs){0} + (uacc_t)carry;
    for (size_t i = 0; i < n; i += LANES) {
        const size_t at = turn ? n - LANES - i : i;
        const vector v = turn ? turned(vector_load(in + at)) : vector_load(in + at);
        pairs p = (pairs)v * ((pairs)v >> 8), all, first;
        for (int bytes = 2; bytes < PART; bytes *= 2)
            p *= (pairs)moved_up((vector)p, (vector)ones, bytes);
        all = (pairs)part_pairs((vector)p);
        all *= (pairs)WITH_LANES64(STEP2, (lanes64)all, (lanes64)ones);
#if VECTOR == 64
        all *= (pairs)WITH_LANES64(STEP4, (lanes64)all, (lanes64)ones);
#endif
        const pairs prefix = before * (pairs)parts_up((vector)all, (vector)ones);
        first = prefix * (pairs)moved_up((vector)p, (vector)ones, 2) * (pairs)v;
        vector done = (vector)((first & low) | prefix * p << 8);
        before *= (pairs)WITH_LANES64(LAST, (lanes64)all);
        done = turn ? turned(done) : done;
        memcpy(out + at, &done, sizeof done);
    }
    return (acc_t)before[0];
}
#else
#define HAVE_PRODUCTS 0
#endif

#endif

#endif
