/* SPDX-License-Identifier: MIT */
/*
 * Reduction of a block on the CPU, compiled per unit and instruction set: GPI_UNIT, and what
 * scan_cpu_types_internal.h takes.
 *
 * Folds are those of the scan's blocks. Integers wrap and are folded in any order. Floats are
 * folded in 128 bytes of lanes, lane j the items j, j + lanes, .. of the block, whatever the vector
 * of the instruction set is. Operators on several scalars keep the order of the items, in trees;
 * so do products of floats: one of items far apart overflows where one of neighbours does not.
 */
#include "core/ahead.h"
#include "reduce/reduce_internal.h"
#include "scan/scan_cpu_types_internal.h"
#if GPI_SCALARS > 1 || ACC_IS_FLOAT
#define GPI_OWN_FORM
#include "scan/scan_cpu_trees_internal.h"
#else
#include "scan/scan_cpu_lanes_internal.h"
#include "scan/scan_cpu_sum_internal.h"
#endif

#if ACC_IS_FLOAT
typedef acc_t sum_t;
#else
typedef uint64_t sum_t; /* extended by the sign */
#endif

enum { CHUNK = 4096 / sizeof(acc_t) };

static inline size_t chunk_items(const in_t *in, size_t i, size_t n)
{
    const size_t m = n - i < CHUNK ? n - i : CHUNK;
    gpi_ahead(in + i, m * sizeof *in, GPI_AHEAD_BYTES);
    return m;
}

#if GPI_SCALARS > 1

static sum_t block_fold(gp_op op, const in_t *in, size_t n)
{
    const size_t whole = n / GROUP * GROUP;
    acc_t all = identity(op);
    for (size_t i = 0; i < whole; i += CHUNK) {
        const size_t m = chunk_items(in, i, whole);
        all = trees_fold(op, false, GPI_AS_COMPUTED, (const char *)(in + i), m, all);
    }
    for (size_t i = whole; i < n; i++)
        all = apply(op, all, in[i]);
    return all;
}

#elif ACC_IS_FLOAT

enum { STEP = 2 * GROUP };

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
        const size_t m = chunk_items(in, i, n), whole = (m + STEP - 1) / STEP * STEP;
        const char *chunk = (const char *)(in + i);
        enum gpi_scan_form form = FORM(IN_KIND);
        if (m != whole || !as_stored(op, false, form, chunk, m, all)) {
            chunk = (const char *)chunk_load(op, in + i, m, whole, room);
            form = GPI_AS_COMPUTED;
        }
        if (op == GP_PRODUCT)
            all = trees_fold(op, false, form, chunk, whole, all);
        else if ((op == GP_MIN || op == GP_MAX) && plain_extreme(op, form, chunk, whole, &extreme))
            all = apply(op, all, extreme);
        else
            partial = partial_add(op, partial, form, chunk, whole);
    }
    return op == GP_PRODUCT ? all : apply(op, all, partial_end(op, &partial));
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
    for (size_t i = 0; i < n; i += CHUNK)
        all = apply(op, all, integers_fold(op, in + i, chunk_items(in, i, n)));
    return (sum_t)all;
}

static sum_t sum(const in_t *in, size_t n)
{
    const sum_t sign = IN_KIND == 2 ? (sum_t)1 << (8 * sizeof(in_t) - 1) : 0;
    sum_t all = 0;
    for (size_t i = 0; i < n; i += CHUNK)
        all += sum_in_64(in + i, chunk_items(in, i, n), sign);
    return all;
}

static sum_t block_fold(gp_op op, const in_t *in, size_t n)
{
    if (op == GP_SUM)
        return sum(in, n);
    switch (op) {
#define CASE(NAME)                                                                                 \
    case GP_##NAME:                                                                                \
        return fold(GP_##NAME, in, n);
        EACH_OP
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
