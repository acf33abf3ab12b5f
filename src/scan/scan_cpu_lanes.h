/* SPDX-License-Identifier: MIT */
/*
 * Sums in vector registers, for scan_cpu_tmpl.c: acc_t, ACC_BYTES and ACC_IS_FLOAT are defined
 * there.
 *
 * A vector is what the instruction set has, 16, 32 or 64 bytes. Sums of floats are associated in
 * groups of 64 bytes whatever the vector is: pairs, then pairs of pairs (Sklansky's scan), so every
 * instruction set gives the same bits. -0 is what adds nothing to a float, not even to a -0.
 */
#ifndef GPI_SCAN_CPU_LANES_H
#define GPI_SCAN_CPU_LANES_H

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

#if ACC_IS_FLOAT

typedef acc_t vector __attribute__((vector_size(VECTOR)));

#if ACC_BYTES == 4
#define WITH_LANES WITH_LANES32
#else
#define WITH_LANES WITH_LANES64
#endif

enum { GROUP_VECTORS = 64 / VECTOR, LANES = VECTOR / ACC_BYTES, SUM_VECTORS = 128 / VECTOR };

static inline vector nothing(void)
{
    return -(vector){0};
}

static inline vector vector_load(const acc_t *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline vector vector_scan(vector v)
{
    v += WITH_LANES(STEP1, v, nothing());
#if VECTOR / ACC_BYTES >= 4
    v += WITH_LANES(STEP2, v, nothing());
#endif
#if VECTOR / ACC_BYTES >= 8
    v += WITH_LANES(STEP4, v, nothing());
#endif
#if VECTOR / ACC_BYTES >= 16
    v += WITH_LANES(STEP8, v, nothing());
#endif
    return v;
}

/* out[i] = carry + in[0] + .. + in[i]; n is a multiple of GROUP. Returns the last one. */
static acc_t sum_scan(const acc_t *in, size_t n, acc_t carry, acc_t *out)
{
    vector before = nothing() + carry;
    for (size_t i = 0; i < n; i += GROUP) {
        vector v[GROUP_VECTORS];
        for (int k = 0; k < GROUP_VECTORS; k++)
            v[k] = vector_scan(vector_load(in + i + k * LANES));
        for (int d = 1; d < GROUP_VECTORS; d *= 2)
            for (int k = 0; k < GROUP_VECTORS; k++)
                if (k & d)
                    v[k] += WITH_LANES(LAST, v[(k & ~(d - 1)) - 1]);
        vector all = WITH_LANES(LAST, v[GROUP_VECTORS - 1]);
        for (int k = 0; k < GROUP_VECTORS; k++) {
            v[k] += before;
            memcpy(out + i + k * LANES, &v[k], sizeof v[k]);
        }
        before += all;
    }
    return before[0];
}

/* Lane j of 128 bytes sums the items j, j + lanes, ..; the lanes are folded in halves. */
struct sum {
    vector lanes[SUM_VECTORS];
};

static inline void sum_begin(struct sum *sum)
{
    for (int k = 0; k < SUM_VECTORS; k++)
        sum->lanes[k] = nothing();
}

/* n is a multiple of 2 * GROUP. */
static inline void sum_add(struct sum *sum, const acc_t *in, size_t n)
{
    struct sum s = *sum;
    for (size_t i = 0; i < n; i += 2 * GROUP)
        for (int k = 0; k < SUM_VECTORS; k++)
            s.lanes[k] += vector_load(in + i + k * LANES);
    *sum = s;
}

static inline acc_t sum_end(const struct sum *sum)
{
    acc_t all[2 * GROUP];
    memcpy(all, sum->lanes, sizeof all);
    for (int half = GROUP; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            all[j] += all[j + half];
    return all[0];
}

#else

typedef uacc_t vector __attribute__((vector_size(VECTOR)));

enum { LANES = VECTOR / ACC_BYTES };

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
static acc_t sum_scan(const acc_t *in, size_t n, acc_t carry, acc_t *out)
{
    const lanes64 nothing = {0};
    vector before = (vector){0} + (uacc_t)carry;
    for (size_t i = 0; i < n; i += LANES) {
        vector v, tops, all;
        memcpy(&v, in + i, sizeof v);
#if ACC_BYTES == 1
        v += (vector)((lanes64)v << 8);
#endif
#if ACC_BYTES <= 2
        v += (vector)((lanes64)v << 16);
#endif
#if ACC_BYTES <= 4
        v += (vector)((lanes64)v << 32);
#endif
        tops = (vector)spread_tops((lanes64)v);
        all = tops + (vector)WITH_LANES64(STEP1, (lanes64)tops, nothing);
#if VECTOR >= 32
        all += (vector)WITH_LANES64(STEP2, (lanes64)all, nothing);
#endif
#if VECTOR >= 64
        all += (vector)WITH_LANES64(STEP4, (lanes64)all, nothing);
#endif
        v += all - tops + before;
        before += (vector)WITH_LANES64(LAST, (lanes64)all);
        memcpy(out + i, &v, sizeof v);
    }
    return (acc_t)before[0];
}

#endif

#endif
