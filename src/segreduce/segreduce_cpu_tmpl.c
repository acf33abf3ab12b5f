/* SPDX-License-Identifier: MIT */
/* Segments of a piece on the CPU, one by one, compiled per unit: GPI_UNIT, and what
 * scan_cpu_types_internal.h takes. With AVX-512 others take most of them, to the same bits. */
#include "segreduce/segreduce_cpu_folds.h"

ALWAYS_INLINE void fold_piece(gp_op op, const struct gpi_segreduce_piece *p, sum_t *to)
{
    const in_t *in = p->in;
    const sum_t empty = *(const sum_t *)p->empty;
    for (uint32_t s = 0; s < p->count; s++) {
        const uint32_t begin = p->begins[s], n = p->ends[s] - begin;
        if (n > GPI_SEGREDUCE_LONG)
            to[s] = fold_long(p, in + begin, n);
        else
            to[s] = n ? fold_on(op, item(in + begin), in + begin, 1, n) : empty;
    }
}

/* Sums, and what depends on the order; the others are chosen at every item. */
static void unit_fold(const struct gpi_segreduce_piece *p, void *to)
{
#if GPI_SCALARS > 1
    fold_piece(p->op, p, to);
#else
    switch (p->op) {
    case GP_SUM:
        fold_piece(GP_SUM, p, to);
        return;
    case GP_MIN:
        fold_piece(GP_MIN, p, to);
        return;
    case GP_MAX:
        fold_piece(GP_MAX, p, to);
        return;
    default:
        fold_piece(p->op, p, to);
    }
#endif
}

#if GPI_SCALARS == 1

/* The place among items [0, n), where that among the first i is known. */
ALWAYS_INLINE size_t place_on(bool largest, const in_t *in, size_t place, size_t i, size_t n)
{
    acc_t value = widen_in(in[place]);
    for (; i < n; i++) {
        const acc_t x = widen_in(in[i]);
        if (largest ? less(value, x) : less(x, value)) {
            value = x;
            place = i;
        }
    }
    return place;
}

/* The value by the folds of the reduction, then the first item that has it. */
static __attribute__((noinline)) size_t place_long(const struct gpi_segreduce_piece *p,
                                                   const in_t *in, size_t n)
{
    const size_t block = GPI_REDUCE_BLOCK_BYTES / sizeof *in;
    const sum_t all = fold_long(p, in, n);
    size_t i = 0, found = 0;
    for (; i < n; i += block) {
        const size_t m = n - i < block ? n - i : block;
        found = p->folds->find(in + i, m, &all);
        if (found < m)
            break;
    }
    return i + found;
}

static void unit_places(const struct gpi_segreduce_piece *p, uint64_t *to)
{
    const bool largest = p->op == GP_MAX;
    const in_t *in = p->in;
    for (uint32_t s = 0; s < p->count; s++) {
        const uint32_t begin = p->begins[s], n = p->ends[s] - begin;
        to[s] = n == 0                    ? UINT64_MAX
                : n <= GPI_SEGREDUCE_LONG ? place_on(largest, in + begin, 0, 1, n)
                                          : place_long(p, in + begin, n);
    }
}

#else
#define unit_places NULL
#endif

#define UNIT PASTE4(gpi_segreduce_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
extern const struct gpi_segreduce_cpu UNIT;
const struct gpi_segreduce_cpu UNIT = {unit_fold, unit_places};
