/* SPDX-License-Identifier: MIT */
/* Folds of one segment on the CPU: item by item in order up to GPI_SEGREDUCE_LONG items, longer
 * ones by the loops of the reduction. Included by units that are compiled per GPI_UNIT. */
#ifndef GPI_SEGREDUCE_CPU_FOLDS_H
#define GPI_SEGREDUCE_CPU_FOLDS_H

#include "scan/scan_cpu_types_internal.h"
#include "segreduce/segreduce_cpu_internal.h"

#if GPI_SCALARS > 1 || ACC_IS_FLOAT
typedef acc_t sum_t;
#else
typedef uint64_t sum_t; /* extended by the sign */
#endif

ALWAYS_INLINE sum_t item(const in_t *in)
{
    return widen_in(*in);
}

ALWAYS_INLINE sum_t join(gp_op op, sum_t l, sum_t r)
{
#if GPI_SCALARS > 1 || ACC_IS_FLOAT
    return apply(op, l, r);
#else
    return op == GP_SUM ? l + r : (sum_t)apply(op, (acc_t)l, (acc_t)r);
#endif
}

/* The fold of what is before and items [i, n). Short: a vector would not pay for the ways in and
 * out of its loop. */
ALWAYS_INLINE sum_t fold_on(gp_op op, sum_t before, const in_t *in, size_t i, size_t n)
{
    for (; i < n; i++) {
        __asm__("" : "+r"(i));
        before = join(op, before, item(in + i));
    }
    return before;
}

/* The folds of the reduction are of blocks. */
static __attribute__((noinline)) sum_t fold_long(const struct gpi_segreduce_piece *p,
                                                 const in_t *in, size_t n)
{
    const size_t block = GPI_REDUCE_BLOCK_BYTES / sizeof *in;
    sum_t all, next;
    p->folds->block(p->op, in, n < block ? n : block, &all);
    for (size_t i = block; i < n; i += block) {
        p->folds->block(p->op, in + i, n - i < block ? n - i : block, &next);
        p->folds->join(p->op, &all, &next);
    }
    return all;
}

#endif
