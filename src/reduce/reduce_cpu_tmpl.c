/* SPDX-License-Identifier: MIT */
/*
 * Reduction of a block on the CPU, compiled per unit and instruction set: GPI_UNIT, and what
 * scan_cpu_types_internal.h takes.
 *
 * Integers wrap, so the compiler may fold them in any order and does so in vectors. Floats are
 * folded in 128 bytes of lanes, lane j the items j, j + lanes, .. of the block, whatever the vector
 * of the instruction set is; products of floats as trees. Pair operators keep the order of the
 * items, in the groups of the scan.
 */
#include "reduce/reduce_internal.h"
#include "scan/scan_cpu_types_internal.h"
#if ACC_IS_FLOAT
#include "scan/scan_cpu_groups_internal.h"
#elif GPI_SCALARS == 1
#include "scan/scan_cpu_sum_internal.h"
#endif

#if ACC_IS_FLOAT
typedef acc_t sum_t;
#else
typedef uint64_t sum_t; /* extended by the sign */
#endif

#if GPI_SCALARS > 1

static sum_t block_fold(gp_op op, const in_t *in, size_t n)
{
    const size_t whole = n / GROUP * GROUP;
    acc_t all = identity(op);
    all = groups_scan(op, false, in, whole, NULL, all, all, NULL);
    for (size_t i = whole; i < n; i++)
        all = apply(op, all, in[i]);
    return all;
}

#elif ACC_IS_FLOAT

enum { CHUNK = 1024, STEP = 2 * GROUP };

/* Equal in gp's order. */
static inline bool is_item(in_t x, acc_t acc)
{
    return !less(widen_in(x), acc) && !less(acc, widen_in(x));
}

ALWAYS_INLINE acc_t fold(gp_op op, const in_t *in, size_t n)
{
    acc_t room[CHUNK], all = identity(op), extreme;
    struct partial partial;
    partial_begin(op, &partial);
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK, whole = (m + STEP - 1) / STEP * STEP;
        const char *chunk = (const char *)(in + i);
        enum gpi_scan_form form = FORM(IN_KIND);
        if (m != whole || !as_stored(op, false, form, chunk, m, all)) {
            chunk = (const char *)chunk_load(op, in + i, m, whole, room);
            form = GPI_AS_COMPUTED;
        }
        if ((op == GP_MIN || op == GP_MAX) && plain_extreme(op, form, chunk, whole, &extreme))
            all = apply(op, all, extreme);
        else
            partial = partial_add(op, partial, form, chunk, whole);
    }
    if (op == GP_MIN || op == GP_MAX)
        return apply(op, all, partial_end(op, &partial));
    return partial_end(op, &partial);
}

/* Products of neighbours, then of those: a product of items that lie far apart overflows where one
 * of neighbours does not. */
static inline void products(const acc_t *restrict in, size_t pairs, acc_t *restrict out)
{
    for (size_t j = 0; j < pairs; j++)
        out[j] = in[2 * j] * in[2 * j + 1];
}

static acc_t product(const in_t *in, size_t n)
{
    acc_t room[2][CHUNK], all = 1;
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        const acc_t *level = chunk_load(GP_PRODUCT, in + i, m, CHUNK, room[0]);
        for (size_t half = CHUNK / 2, to = 1; half > 0; half /= 2, to ^= 1) {
            products(level, half, room[to]);
            level = room[to];
        }
        all *= level[0];
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
            return widen_in(in[i]);
    return value;
}

static sum_t block_fold(gp_op op, const in_t *in, size_t n)
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

/* Of integers only the order, and a sum in 64 bits, depend on the sign: other operators of signed
 * items go to the unit of unsigned ones. */
#if OUT_KIND == 2
#define EACH_OP GPI_ORDER_OPERATORS(GPI_OPERATOR_CASE)
#else
#define EACH_OP GPI_EACH_OPERATOR
#endif

static inline bool is_item(in_t x, acc_t acc)
{
    return x == acc;
}

ALWAYS_INLINE sum_t fold(gp_op op, const in_t *in, size_t n)
{
    acc_t all = identity(op);
    for (size_t i = 0; i < n; i++)
        all = apply(op, all, in[i]);
    return (sum_t)all;
}

#if IN_BYTES == 1
/* Two bytes in 16 bits, where the low byte of a product depends on low bytes alone. */
static sum_t product(const in_t *in, size_t n)
{
    typedef uint16_t pairs __attribute__((vector_size(VECTOR)));
    const size_t whole = n / VECTOR * VECTOR;
    pairs low = (pairs){0} + 1, high = low, v;
    acc_t all = 1;
    for (size_t i = 0; i < whole; i += VECTOR) {
        memcpy(&v, in + i, sizeof v);
        low *= v;
        high *= v >> 8;
    }
    low *= high;
    for (int k = 0; k < VECTOR / 2; k++)
        all = apply(GP_PRODUCT, all, (acc_t)low[k]);
    for (size_t i = whole; i < n; i++)
        all = apply(GP_PRODUCT, all, in[i]);
    return (sum_t)all;
}
#endif

static sum_t block_fold(gp_op op, const in_t *in, size_t n)
{
#if IN_BYTES == 1
    if (op == GP_PRODUCT)
        return product(in, n);
#endif
    if (op == GP_SUM)
        return sum_in_64(in, n, IN_KIND == 2 ? (sum_t)1 << (8 * sizeof(in_t) - 1) : 0);
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

#endif

/* ---- the unit -------------------------------------------------------------------------------- */

static void unit_identity(gp_op op, void *sum)
{
    const acc_t neutral = identity(op);
    *(sum_t *)sum = neutral;
}

static void unit_block(gp_op op, const void *in, size_t n, void *sum)
{
    *(sum_t *)sum = block_fold(op, in, n);
}

static void unit_join(gp_op op, void *left, const void *right)
{
    const sum_t l = *(const sum_t *)left, r = *(const sum_t *)right;
#if ACC_IS_FLOAT
    *(sum_t *)left = apply(op, l, r);
#else
    *(sum_t *)left = op == GP_SUM ? l + r : (sum_t)apply(op, (acc_t)l, (acc_t)r);
#endif
}

#if GPI_SCALARS == 1
/* Looks at a step at once, as vectors can, and for the place in the one that has it. */
static size_t unit_find(const void *in, size_t n, const void *sum)
{
    enum { AT_ONCE = 32 };
    const in_t *items = in;
    const acc_t wanted = (acc_t) * (const sum_t *)sum;
    size_t i = 0;
    for (uint32_t found; i + AT_ONCE <= n; i += AT_ONCE) {
        found = 0;
        for (size_t k = 0; k < AT_ONCE; k++)
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
const struct gpi_reduce_cpu UNIT = {sizeof(in_t), sizeof(sum_t), unit_identity,
                                    unit_block,   unit_join,     unit_find};
