/* SPDX-License-Identifier: MIT */
/*
 * Scan and reduction in vector registers, for scan_cpu_tmpl.c and the folds of floats of
 * reduce_cpu_tmpl.c; types are those of scan_cpu_types_internal.h.
 *
 * A vector is what the instruction set has, 16, 32 or 64 bytes. Items are associated in groups of
 * 64 bytes whatever the vector is: pairs, then pairs of pairs (Sklansky's scan), so every
 * instruction set gives the same bits. A left operand always precedes the right one, as min and max
 * of floats ask for.
 */
#ifndef GPI_SCAN_CPU_LANES_INTERNAL_H
#define GPI_SCAN_CPU_LANES_INTERNAL_H

#if defined(__AVX512BW__)
#define VECTOR 64
#elif defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif

typedef uint64_t lanes64 __attribute__((vector_size(VECTOR)));
typedef uint32_t lanes32 __attribute__((vector_size(VECTOR)));

enum { GROUP = 64 / ACC_BYTES };

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(mask_type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(mask_type, a, b, ...) __builtin_shuffle(a, b, (mask_type){__VA_ARGS__})
#endif

/* STEPd(v, zero): lanes whose number has bit d get the last lane below their half, others a lane of
 * zero. LAST(v): the last lane everywhere. By the number of lanes. */
#define STEP1_2(m, v, z) SHUFFLE(m, v, z, 2, 0)
#define LAST_2(m, v) SHUFFLE(m, v, v, 1, 1)

#define STEP1_4(m, v, z) SHUFFLE(m, v, z, 4, 0, 4, 2)
#define STEP2_4(m, v, z) SHUFFLE(m, v, z, 4, 4, 1, 1)
#define LAST_4(m, v) SHUFFLE(m, v, v, 3, 3, 3, 3)

#define STEP1_8(m, v, z) SHUFFLE(m, v, z, 8, 0, 8, 2, 8, 4, 8, 6)
#define STEP2_8(m, v, z) SHUFFLE(m, v, z, 8, 8, 1, 1, 8, 8, 5, 5)
#define STEP4_8(m, v, z) SHUFFLE(m, v, z, 8, 8, 8, 8, 3, 3, 3, 3)
#define LAST_8(m, v) SHUFFLE(m, v, v, 7, 7, 7, 7, 7, 7, 7, 7)

#define STEP1_16(m, v, z)                                                                          \
    SHUFFLE(m, v, z, 16, 0, 16, 2, 16, 4, 16, 6, 16, 8, 16, 10, 16, 12, 16, 14)
#define STEP2_16(m, v, z) SHUFFLE(m, v, z, 16, 16, 1, 1, 16, 16, 5, 5, 16, 16, 9, 9, 16, 16, 13, 13)
#define STEP4_16(m, v, z)                                                                          \
    SHUFFLE(m, v, z, 16, 16, 16, 16, 3, 3, 3, 3, 16, 16, 16, 16, 11, 11, 11, 11)
#define STEP8_16(m, v, z) SHUFFLE(m, v, z, 16, 16, 16, 16, 16, 16, 16, 16, 7, 7, 7, 7, 7, 7, 7, 7)
#define LAST_16(m, v)                                                                              \
    SHUFFLE(m, v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)

#if VECTOR == 64
#define WITH_LANES64(name, ...) name##_8(lanes64, __VA_ARGS__)
#define WITH_LANES32(name, ...) name##_16(lanes32, __VA_ARGS__)
#elif VECTOR == 32
#define WITH_LANES64(name, ...) name##_4(lanes64, __VA_ARGS__)
#define WITH_LANES32(name, ...) name##_8(lanes32, __VA_ARGS__)
#else
#define WITH_LANES64(name, ...) name##_2(lanes64, __VA_ARGS__)
#define WITH_LANES32(name, ...) name##_4(lanes32, __VA_ARGS__)
#endif

/* ---- any operator, for accumulators of 4 and 8 bytes ----------------------------------------- */

#if ACC_BYTES >= 4

#if ACC_BYTES == 4
#define WITH_LANES WITH_LANES32
typedef lanes32 lanes;
#else
#define WITH_LANES WITH_LANES64
typedef lanes64 lanes;
#endif
typedef acc_t vector __attribute__((vector_size(VECTOR)));
typedef uacc_t uvector __attribute__((vector_size(VECTOR))); /* integers wrap */

enum { GROUP_VECTORS = 64 / VECTOR, LANES = VECTOR / ACC_BYTES, SUM_VECTORS = 128 / VECTOR };

ALWAYS_INLINE vector vector_load(const acc_t *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

ALWAYS_INLINE vector vector_of(acc_t value)
{
    vector v;
    for (int k = 0; k < LANES; k++)
        v[k] = value;
    return v;
}

typedef __typeof__((vector){0} < (vector){0}) mask;

ALWAYS_INLINE vector combine(gp_op op, vector left, vector right)
{
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

ALWAYS_INLINE vector vector_scan(gp_op op, vector v)
{
    vector neutral = vector_of(identity(op));
    v = combine(op, WITH_LANES(STEP1, v, neutral), v);
#if VECTOR / ACC_BYTES >= 4
    v = combine(op, WITH_LANES(STEP2, v, neutral), v);
#endif
#if VECTOR / ACC_BYTES >= 8
    v = combine(op, WITH_LANES(STEP4, v, neutral), v);
#endif
#if VECTOR / ACC_BYTES >= 16
    v = combine(op, WITH_LANES(STEP8, v, neutral), v);
#endif
    return v;
}

/* out[i] = carry op in[0] op .. op in[i]; n is a multiple of GROUP. Returns the last one. */
ALWAYS_INLINE acc_t lanes_scan(gp_op op, const acc_t *in, size_t n, acc_t carry, acc_t *out)
{
    vector before = vector_of(carry);
    for (size_t i = 0; i < n; i += GROUP) {
        vector v[GROUP_VECTORS];
        for (int k = 0; k < GROUP_VECTORS; k++)
            v[k] = vector_scan(op, vector_load(in + i + k * LANES));
        for (int d = 1; d < GROUP_VECTORS; d *= 2)
            for (int k = 0; k < GROUP_VECTORS; k++)
                if (k & d)
                    v[k] = combine(op, WITH_LANES(LAST, v[(k & ~(d - 1)) - 1]), v[k]);
        vector all = WITH_LANES(LAST, v[GROUP_VECTORS - 1]);
        for (int k = 0; k < GROUP_VECTORS; k++) {
            v[k] = combine(op, before, v[k]);
            memcpy(out + i + k * LANES, &v[k], sizeof v[k]);
        }
        before = combine(op, before, all);
    }
    return before[0];
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
static acc_t lanes_sum(const acc_t *in, size_t n, acc_t carry, acc_t *out)
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

#endif

#endif
