/* SPDX-License-Identifier: MIT */
/*
 * Operators on vectors of single scalars, folds of floats, sums of integers of any size, and the
 * scan of those of 1 and 2 bytes; that of wider ones is in scan_cpu_groups_internal.h.
 *
 * A left operand always precedes the right one, as min and max of floats ask for.
 */
#ifndef GPI_SCAN_CPU_LANES_INTERNAL_H
#define GPI_SCAN_CPU_LANES_INTERNAL_H

#if defined(__SSE2__)
#include <immintrin.h>
#endif

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

/* n is a multiple of GROUP. */
ALWAYS_INLINE bool has_nan(const acc_t *in, size_t n)
{
    lanes found = {0};
    for (size_t i = 0; i < n; i += LANES) {
        const vector v = vector_load(in + i);
        found |= (lanes)(v != v);
    }
    for (int k = 0; k < LANES; k++)
        if (found[k])
            return true;
    return false;
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
ALWAYS_INLINE void partial_add(gp_op op, struct partial *partial, const acc_t *in, size_t n)
{
    struct partial p = *partial;
    for (size_t i = 0; i < n; i += 2 * GROUP)
        for (int k = 0; k < SUM_VECTORS; k++)
            p.lanes[k] = combine(op, p.lanes[k], vector_load(in + i + k * LANES));
    *partial = p;
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

/* The smallest or largest of floats. False if the result depends on their order: there are NaNs, or
 * it is a zero, which has two signs. n is a multiple of 2 * GROUP. */
ALWAYS_INLINE bool plain_extreme(gp_op op, const acc_t *in, size_t n, acc_t *result)
{
    vector best[SUM_VECTORS];
    if (has_nan(in, n))
        return false;
    for (int k = 0; k < SUM_VECTORS; k++)
        best[k] = vector_of(plain_neutral(op));
    for (size_t i = 0; i < n; i += 2 * GROUP)
        for (int k = 0; k < SUM_VECTORS; k++)
            best[k] = combine_plain(op, best[k], vector_load(in + i + k * LANES));
    for (int k = 1; k < SUM_VECTORS; k++)
        best[0] = combine_plain(op, best[0], best[k]);
    *result = lanes_joined(true, op, best[0]);
    return *result != 0;
}

#endif

/* ---- sums of integers of any size ------------------------------------------------------------ */

#if !ACC_IS_FLOAT

typedef uacc_t wrapping __attribute__((vector_size(VECTOR)));

/* The last item of every 8 bytes, in all their items. */
static inline lanes64 spread_tops(lanes64 v)
{
    v >>= 64 - 8 * ACC_BYTES;
#if ACC_BYTES == 1
    v |= v << 8;
#endif
#if ACC_BYTES <= 2
    v |= v << 16;
#endif
#if ACC_BYTES <= 4
    v |= v << 32;
#endif
    return v;
}

/* out[i] = carry + in[0] + .. + in[i]; n is a multiple of GROUP. Returns the last one. Items inside
 * 8 bytes are added up by shifts, the 8-byte lanes by shuffles. */
static inline acc_t lanes_sum(const acc_t *in, size_t n, acc_t carry, acc_t *out)
{
    const lanes64 nothing = {0};
    wrapping before = (wrapping){0} + (uacc_t)carry;
    for (size_t i = 0; i < n; i += VECTOR / ACC_BYTES) {
        wrapping v, tops, all;
        memcpy(&v, in + i, sizeof v);
#if ACC_BYTES == 1
        v += (wrapping)((lanes64)v << 8);
#endif
#if ACC_BYTES <= 2
        v += (wrapping)((lanes64)v << 16);
#endif
#if ACC_BYTES <= 4
        v += (wrapping)((lanes64)v << 32);
#endif
        tops = (wrapping)spread_tops((lanes64)v);
        all = tops + (wrapping)WITH_LANES64(STEP1, (lanes64)tops, nothing);
#if VECTOR >= 32
        all += (wrapping)WITH_LANES64(STEP2, (lanes64)all, nothing);
#endif
#if VECTOR >= 64
        all += (wrapping)WITH_LANES64(STEP4, (lanes64)all, nothing);
#endif
        v += all - tops + before;
        before += (wrapping)WITH_LANES64(LAST, (lanes64)all);
        memcpy(out + i, &v, sizeof v);
    }
    return (acc_t)before[0];
}

/* in[0] op .. op in[n - 1]; n is a multiple of GROUP. */
ALWAYS_INLINE acc_t lanes_fold(gp_op op, const acc_t *in, size_t n)
{
    vector all[GROUP_VECTORS];
    for (int k = 0; k < GROUP_VECTORS; k++)
        all[k] = vector_of(identity(op));
    for (size_t i = 0; i < n; i += GROUP)
        for (int k = 0; k < GROUP_VECTORS; k++)
            all[k] = combine(op, all[k], vector_load(in + i + k * LANES));
    for (int k = 1; k < GROUP_VECTORS; k++)
        all[0] = combine(op, all[0], all[k]);
    return lanes_joined(false, op, all[0]);
}

#endif

/* ---- any operator, for integers of 1 and 2 bytes --------------------------------------------- */

#if ACC_BYTES < 4

/* As lanes_sum(), for operators without an inverse: a vector of the items moved up inside 8 bytes,
 * with neutral ones in their place. */
ALWAYS_INLINE vector moved_up(vector v, int bits, uint64_t neutrals)
{
    const uint64_t below = ((uint64_t)1 << bits) - 1;
    const lanes64 low = (lanes64){0} + (neutrals & below);
    return (vector)((lanes64)v << bits | low);
}

ALWAYS_INLINE acc_t lanes_scan(gp_op op, const acc_t *in, size_t n, acc_t carry, acc_t *out)
{
    const vector neutral = vector_of(identity(op));
    const uint64_t neutrals = ((lanes64)neutral)[0];
    vector before = vector_of(carry);
    for (size_t i = 0; i < n; i += LANES) {
        vector v = vector_load(in + i), all, up;
#if ACC_BYTES == 1
        v = combine(op, moved_up(v, 8, neutrals), v);
#endif
        v = combine(op, moved_up(v, 16, neutrals), v);
        v = combine(op, moved_up(v, 32, neutrals), v);
        all = (vector)spread_tops((lanes64)v);
        all = combine(op, (vector)WITH_LANES64(STEP1, (lanes64)all, (lanes64)neutral), all);
#if VECTOR >= 32
        all = combine(op, (vector)WITH_LANES64(STEP2, (lanes64)all, (lanes64)neutral), all);
#endif
#if VECTOR >= 64
        all = combine(op, (vector)WITH_LANES64(STEP4, (lanes64)all, (lanes64)neutral), all);
#endif
        up = (vector)WITH_LANES64(UP, (lanes64)all, (lanes64)neutral);
        v = combine(op, combine(op, before, up), v);
        before = combine(op, before, (vector)WITH_LANES64(LAST, (lanes64)all));
        memcpy(out + i, &v, sizeof v);
    }
    return before[0];
}

#endif

#endif
