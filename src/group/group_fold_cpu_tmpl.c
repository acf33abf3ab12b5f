/* SPDX-License-Identifier: MIT */
/*
 * Folds of runs on the CPU, compiled per unit: GPI_UNIT, and what scan_cpu_types_internal.h takes;
 * GPI_SUMS if the unit has sums alone.
 *
 * A short run is folded item by item, a long one by the vectors of the reduction, so the
 * association depends on the length alone.
 */
#include "group/group_internal.h"
#include "scan/scan_cpu_types_internal.h"

#if ACC_IS_FLOAT
typedef acc_t sum_t;
#else
typedef uint64_t sum_t; /* as the reduction has them */
#endif

enum { SHORT = 32 };

static void store(const void *acc, void *out, uint64_t place)
{
    const sum_t sum = *(const sum_t *)acc;
#if ACC_IS_FLOAT
    ((out_t *)out)[place] = narrow(sum);
#else
    ((out_t *)out)[place] = (out_t)sum;
#endif
}

ALWAYS_INLINE out_t short_run(gp_op op, const in_t *in, size_t n)
{
    acc_t x = widen_in(in[0]);
    for (size_t i = 1; i < n; i++)
        x = apply(op, x, widen_in(in[i]));
    return narrow(x);
}

static void long_run(gp_op op, const struct gpi_reduce_cpu *reduce, const in_t *in, size_t n,
                     out_t *out)
{
    sum_t sum;
    gpi_group_piece(reduce, op, in, n, &sum);
    store(&sum, out, 0);
}

ALWAYS_INLINE void runs(gp_op op, const struct gpi_reduce_cpu *reduce, const in_t *in,
                        const struct gpi_group_marks *marks, size_t items, out_t *out,
                        uint64_t room)
{
    size_t begun = SIZE_MAX; /* where the last run began; none of those here */
    for (size_t w = 0; w * 64 < items && room > 0; w++) {
        const uint64_t starts = marks->starts[w];
        for (uint64_t ends = marks->ends[w]; ends; ends &= ends - 1) {
            const uint64_t upto = ends ^ (ends - 1), own = starts & upto;
            const size_t end = w * 64 + (size_t)__builtin_ctzll(ends) + 1;
            const size_t begin = own ? w * 64 + 63 - (size_t)__builtin_clzll(own) : begun;
            if (begin == SIZE_MAX)
                continue;
            if (end - begin <= SHORT)
                *out = short_run(op, in + begin, end - begin);
            else
                long_run(op, reduce, in + begin, end - begin, out);
            out++;
            if (--room == 0)
                return;
        }
        if (starts)
            begun = w * 64 + 63 - (size_t)__builtin_clzll(starts);
    }
}

/* Of integers only the order depends on the sign; what widens are sums. */
#if defined(GPI_SUMS)
#define EACH_OP CASE(SUM)
#elif GPI_SCALARS == 1 && OUT_KIND == 2
#define EACH_OP GPI_ORDER_OPERATORS(GPI_OPERATOR_CASE)
#else
#define EACH_OP GPI_EACH_OPERATOR
#endif

static void fold_runs(gp_op op, const struct gpi_reduce_cpu *reduce, const void *values,
                      const struct gpi_group_marks *marks, size_t items, void *out, uint64_t room)
{
    switch (op) {
#define CASE(NAME)                                                                                 \
    case GP_##NAME:                                                                                \
        runs(GP_##NAME, reduce, values, marks, items, out, room);                                  \
        break;
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

extern const struct gpi_group_fold_cpu PASTE(gpi_group_fold_, GPI_UNIT);
const struct gpi_group_fold_cpu PASTE(gpi_group_fold_, GPI_UNIT) = {
    .store = store, .runs = fold_runs, .in_bytes = sizeof(in_t), .out_bytes = sizeof(out_t)};
