/* SPDX-License-Identifier: MIT */
/*
 * The fold of items alone where their order counts: products of floats, and operators on several
 * scalars. It has the association of their scan (scan_cpu_groups_internal.h), by trees over as many
 * vectors at once as each has lanes: pairs of neighbours are folded, then pairs of those.
 */
#ifndef GPI_SCAN_CPU_TREES_INTERNAL_H
#define GPI_SCAN_CPU_TREES_INTERNAL_H

#include "scan/scan_cpu_groups_internal.h"

/* As many vectors as each has lanes are a group or more. */
#define LANES_HOLD_GROUP (VECTOR / ACC_BYTES >= 64 / VECTOR)

#if GPI_SCALARS == 1 && !ACC_IS_FLOAT

/* Integers are folded in any order. */

#else
#if LANES_HOLD_GROUP

ALWAYS_INLINE struct items tree_load(enum gpi_scan_form form, const char *in)
{
#if GPI_SCALARS == 1
    return (struct items){{form_load(form, in)}};
#else
    (void)form;
    return items_get((const acc_t *)(const void *)in);
#endif
}

/* a's lanes, then b's, of which every second one is taken. */
ALWAYS_INLINE struct items every_second(bool odd, struct items a, const struct items *b)
{
    for (int s = 0; s < GPI_SCALARS; s++)
        a.v[s] =
            (vector)(odd ? WITH_LANES(ODD, a.v[s], b->v[s]) : WITH_LANES(EVEN, a.v[s], b->v[s]));
    return a;
}

/* The folds of TREE items, which are those of the vectors they lie in. */
ALWAYS_INLINE struct items tree_fold(gp_op op, bool turn, enum gpi_scan_form form, const char *in)
{
    struct items v[LANES];
    for (int k = 0; k < LANES; k++)
        v[k] = tree_load(form, in + form_bytes(form, k * LANES));
    for (int m = LANES / 2; m > 0; m /= 2)
        for (int k = 0; k < m; k++)
            v[k] = items_fold(false, op, every_second(turn, v[2 * k], &v[2 * k + 1]),
                              every_second(!turn, v[2 * k], &v[2 * k + 1]));
    return v[0];
}

/* carry op in[0] op .. op in[n - 1] in the association of the scan, or in its other order, if it
 * turns. Halves are a multiple of TREE items, others one of GROUP. */
ALWAYS_INLINE acc_t trees_take(gp_op op, bool turn, enum gpi_scan_form form, const char *in,
                               size_t n, acc_t carry)
{
    const size_t rest = n % TREE, whole = n - rest;
    const acc_t *last = (const acc_t *)(const void *)in + whole;
    acc_t of[LANES];
    struct items parts;
    if (rest && turn)
        carry = groups_scan(op, true, last, rest, NULL, carry, carry, NULL);
    for (size_t i = 0; i < whole; i += TREE) {
        const size_t at = turn ? whole - TREE - i : i;
#define CALL(as) (parts = tree_fold(op, turn, as, in + form_bytes(as, at)))
        DO_BY_FORM(form, CALL);
#undef CALL
        items_put(parts, of);
        for (int d = 1; d < GROUP_VECTORS; d *= 2)
            for (int j = 0; j < LANES; j += 2 * d)
                of[j] = apply(op, of[turn ? j + d : j], of[turn ? j : j + d]);
        for (int j = 0; j < LANES; j += GROUP_VECTORS)
            carry = apply(op, carry, of[turn ? LANES - GROUP_VECTORS - j : j]);
    }
    if (rest && !turn)
        carry = groups_scan(op, false, last, rest, NULL, carry, carry, NULL);
    return carry;
}

#define TREES_TAKE(op) trees_take(op, turn, form, in, n, carry)

#else

#define TREES_TAKE(op)                                                                             \
    groups_scan(op, turn, (const acc_t *)(const void *)in, n, NULL, carry, carry, NULL)

#endif

/* See trees_take(). Long, and called for chunks. */
__attribute__((noinline, unused)) static acc_t
trees_fold(gp_op op, bool turn, enum gpi_scan_form form, const char *in, size_t n, acc_t carry)
{
    (void)form;
#if GPI_SCALARS == 1
    (void)op;
    return TREES_TAKE(GP_PRODUCT);
#else
    switch (op) {
#define CASE(NAME)                                                                                 \
    case GP_##NAME:                                                                                \
        return TREES_TAKE(GP_##NAME);
        GPI_EACH_OPERATOR
#undef CASE
    default:
        __builtin_unreachable();
    }
#endif
}

#endif

#endif
