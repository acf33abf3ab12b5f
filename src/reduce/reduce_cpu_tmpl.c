/* SPDX-License-Identifier: MIT */
/*
 * Reduction of a block on the CPU, compiled per unit and instruction set.
 *
 * GPI_UNIT; GPI_STORED: the C type as stored; GPI_LOAD: function from it to the accumulator, or
 * empty; GPI_KIND: 1 unsigned and 2 signed integers, 3 floats, 4 pair operators; GPI_ACC: of floats
 * the accumulator; GPI_SCALARS.
 *
 * Integers wrap, so the compiler may fold them in any order and does so in vectors. Floats are
 * folded in 128 bytes of lanes, lane j the items j, j + lanes, .. of the block, whatever the vector
 * of the instruction set is; products of floats as trees. Pair operators keep the
 * order of the items.
 */
#include <math.h>
#include <string.h>

#include "core/half.h"
#include "core/order.h"
#include "core/paste.h"
#include "reduce/reduce_internal.h"

#if GPI_KIND <= 3
#define GPI_FLOATS (GPI_KIND == 3)
#include "core/operators_cpu.h"
#endif

#if GPI_KIND <= 2

typedef GPI_STORED in_t;
typedef uint64_t acc_t;
#if GPI_KIND == 2
typedef int64_t wide_t;
#else
typedef uint64_t wide_t;
#endif

/* Sums of so many items of 1 or 2 bytes fit 32 bits. */
enum { SHORT = 32768 };

ALWAYS_INLINE in_t neutral(gp_op op)
{
    return (in_t)gpi_integer_identity(op, 8 * (int)sizeof(in_t), GPI_KIND == 2);
}

#define GPI_LESS(a, b) ((a) < (b))
#define GPI_CHOOSE(condition, a, b) ((condition) ? (a) : (b))

ALWAYS_INLINE acc_t apply(gp_op op, acc_t left, acc_t right)
{
    typedef acc_t as_ARITHMETIC, as_BITS;
    typedef wide_t as_ORDER;
    GPI_RETURN_RESULT(acc_t)
}

ALWAYS_INLINE in_t apply_items(gp_op op, in_t left, in_t right)
{
    typedef uint64_t as_ARITHMETIC, as_BITS;
    typedef in_t as_ORDER;
    GPI_RETURN_RESULT(in_t)
}

ALWAYS_INLINE acc_t fold(gp_op op, const in_t *in, size_t n)
{
    in_t all = neutral(op);
    for (size_t i = 0; i < n; i++)
        all = apply_items(op, all, in[i]);
    return (acc_t)(wide_t)all;
}

static acc_t sum(const in_t *in, size_t n)
{
    acc_t all = 0;
    if (sizeof(in_t) >= 4) {
        for (size_t i = 0; i < n; i++)
            all += (acc_t)(wide_t)in[i];
        return all;
    }
    for (size_t begin = 0; begin < n; begin += SHORT) {
        size_t end = n - begin < SHORT ? n : begin + SHORT;
        uint32_t some = 0;
        for (size_t i = begin; i < end; i++)
            some += (uint32_t)in[i];
        all += GPI_KIND == 2 ? (acc_t)(int32_t)some : some;
    }
    return all;
}

static acc_t block_fold(gp_op op, const in_t *in, size_t n)
{
    if (op == GP_SUM)
        return sum(in, n);
    switch (op) {
#define CASE(NAME)                                                                                 \
    case GP_##NAME:                                                                                \
        return fold(GP_##NAME, in, n);
        GPI_EACH_OPERATOR
#undef CASE
    default:
        __builtin_unreachable();
    }
}

static acc_t identity(gp_op op)
{
    return (acc_t)(wide_t)neutral(op);
}

static inline bool is_item(in_t x, acc_t acc)
{
    return x == (in_t)acc;
}

#elif GPI_KIND == 3

typedef GPI_STORED in_t;
typedef GPI_ACC acc_t;

#if defined(__AVX512BW__)
#define VECTOR 64
#elif defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif

typedef acc_t vector __attribute__((vector_size(VECTOR)));
enum { ITEMS = VECTOR / sizeof(acc_t), VECTORS = 128 / VECTOR, LANES = 128 / sizeof(acc_t) };
enum { CHUNK = 1024 };

static acc_t load(in_t x)
{
    return (acc_t)GPI_LOAD(x);
}

/* gp's order: NaN after everything. */
static bool less(acc_t a, acc_t b)
{
    return GPI_FLOAT_LESS(a, b);
}

static bool same(acc_t a, acc_t b)
{
    return !less(a, b) && !less(b, a);
}

static inline bool is_item(in_t x, acc_t acc)
{
    return same(load(x), acc);
}

static acc_t identity(gp_op op)
{
    return (acc_t)gpi_float_identity(op);
}

static acc_t apply(gp_op op, acc_t left, acc_t right)
{
#define GPI_LESS less
#define GPI_CHOOSE(condition, a, b) ((condition) ? (a) : (b))
    typedef acc_t as_ARITHMETIC, as_ORDER;
    GPI_RETURN_RESULT(acc_t)
#undef GPI_LESS
#undef GPI_CHOOSE
}

ALWAYS_INLINE vector combine(gp_op op, vector left, vector right)
{
    typedef __typeof__(left < right) mask;
#define GPI_LESS GPI_FLOAT_LESS
#define GPI_CHOOSE(take, a, b) (vector)(((mask)(a) & (take)) | ((mask)(b) & ~(take)))
    typedef vector as_ARITHMETIC, as_ORDER;
    GPI_RETURN_RESULT(vector)
#undef GPI_LESS
#undef GPI_CHOOSE
}

/* Lanes of items [0, n), n a multiple of LANES. */
ALWAYS_INLINE void lanes_add(gp_op op, vector lanes[VECTORS], const acc_t *in, size_t n)
{
    vector sums[VECTORS];
    memcpy(sums, lanes, sizeof sums);
    for (size_t i = 0; i < n; i += LANES)
        for (int k = 0; k < VECTORS; k++) {
            vector v;
            memcpy(&v, in + i + (size_t)k * ITEMS, sizeof v);
            sums[k] = combine(op, sums[k], v);
        }
    memcpy(lanes, sums, sizeof sums);
}

ALWAYS_INLINE acc_t fold(gp_op op, const in_t *in, size_t n)
{
    acc_t room[CHUNK], lane[LANES];
    vector lanes[VECTORS];
    for (int j = 0; j < LANES; j++)
        lane[j] = identity(op);
    memcpy(lanes, lane, sizeof lane);
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK, whole = (m + LANES - 1) / LANES * LANES;
        for (size_t j = 0; j < m; j++)
            room[j] = load(in[i + j]);
        for (size_t j = m; j < whole; j++)
            room[j] = identity(op);
        lanes_add(op, lanes, room, whole);
    }
    memcpy(lane, lanes, sizeof lane);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lane[j] = apply(op, lane[j], lane[j + half]);
    return lane[0];
}

/* Products of neighbours, then of those: a product of items that lie far apart overflows where one
 * of neighbours does not. */
static acc_t product(const in_t *in, size_t n)
{
    acc_t room[CHUNK], all = 1;
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        for (size_t j = 0; j < CHUNK; j++)
            room[j] = j < m ? load(in[i + j]) : 1;
        for (size_t half = CHUNK / 2; half > 0; half /= 2)
            for (size_t j = 0; j < half; j++)
                room[j] = room[2 * j] * room[2 * j + 1];
        all *= room[0];
    }
    return all;
}

/* The value is known; of several equal ones the first shows: which zero, which NaN. */
static acc_t first_of(const in_t *in, size_t n, acc_t value)
{
    if (value != 0 && !isnan(value))
        return value;
    for (size_t i = 0; i < n; i++)
        if (is_item(in[i], value))
            return load(in[i]);
    return value;
}

static acc_t block_fold(gp_op op, const in_t *in, size_t n)
{
    if (op == GP_PRODUCT)
        return product(in, n);
    switch (op) {
#define FOLD_ARITHMETIC(NAME) fold(GP_##NAME, in, n)
#define FOLD_ORDER(NAME) first_of(in, n, fold(GP_##NAME, in, n))
#define CASE(NAME, Name, class, neutral, result)                                                   \
    case GP_##NAME:                                                                                \
        return FOLD_##class(NAME);
        GPI_UNIT_OPERATORS(CASE)
#undef CASE
    default:
        __builtin_unreachable();
    }
}

#else

typedef struct {
    GPI_STORED v[GPI_SCALARS];
} in_t;
typedef in_t acc_t;

#include "core/operators_cpu.h"

static acc_t block_fold(gp_op op, const in_t *in, size_t n)
{
    acc_t all = in[0];
    for (size_t i = 1; i < n; i++)
        all = apply(op, all, in[i]);
    return all;
}

#endif

/* ---- the unit -------------------------------------------------------------------------------- */

static void unit_identity(gp_op op, void *acc)
{
    *(acc_t *)acc = identity(op);
}

static void unit_block(gp_op op, const void *in, size_t n, void *acc)
{
    *(acc_t *)acc = block_fold(op, in, n);
}

static void unit_join(gp_op op, void *left, const void *right)
{
    *(acc_t *)left = apply(op, *(const acc_t *)left, *(const acc_t *)right);
}

#if GPI_KIND <= 3
/* Looks at a step at once, as vectors can, and for the place in the one that has it. */
static size_t unit_find(const void *in, size_t n, const void *acc)
{
    enum { STEP = 32 };
    const in_t *items = in;
    const acc_t wanted = *(const acc_t *)acc;
    size_t i = 0;
    for (uint32_t found; i + STEP <= n; i += STEP) {
        found = 0;
        for (size_t k = 0; k < STEP; k++)
            found |= is_item(items[i + k], wanted);
        if (found)
            break;
    }
    while (i < n && !is_item(items[i], wanted))
        i++;
    return i;
}
#else
#define unit_find NULL
#endif

#define UNIT PASTE4(gpi_reduce_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
extern const struct gpi_reduce_cpu UNIT;
const struct gpi_reduce_cpu UNIT = {sizeof(in_t), sizeof(acc_t), unit_identity,
                                    unit_block,   unit_join,     unit_find};
