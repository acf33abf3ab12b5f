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
#include "segreduce/segreduce_cpu_internal.h"

#if ACC_IS_FLOAT
typedef acc_t sum_t;
#else
typedef uint64_t sum_t; /* as the reduction has them */
#endif

/* Longer runs are folded by vectors, here and where runs are segments. */
enum { DENSE = 24, SHORT = GPI_SEGREDUCE_LONG };

/* Whether in more than SHORT of 64 items in turn no run ends. */
ALWAYS_INLINE bool has_long(uint64_t ends)
{
    uint64_t none = ~ends;
    for (int k = 1; k < SHORT; k *= 2)
        none &= none >> k;
    return none != 0;
}

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
#if ACC_BYTES >= 4 && !defined(GPI_SUMS) /* where it is worth its bytes */
#pragma GCC unroll 4
#endif
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

/* Short runs of integers are scanned, unless sums are wider. */
#if ACC_IS_FLOAT || defined(GPI_SUMS)
#define HAVE_DENSE 1

/* The runs of items [k, end) of 64, the first of which begins one and the last of which ends one:
 * every item is stored as the fold so far, and counts if it is the last of its run. */
ALWAYS_INLINE out_t *dense_runs(gp_op op, const in_t *in, uint64_t starts, uint64_t ends, int k,
                                int end, out_t *out)
{
    acc_t x = identity(op);
    for (; k < end; k++) {
        const acc_t v = widen_in(in[k]), sum = apply(op, x, v);
        x = starts >> k & 1 ? v : sum;
        *out = narrow(x);
        out += ends >> k & 1;
    }
    return out;
}

#else
#define HAVE_DENSE 0
#endif

/* Runs of all items. */
struct runs {
    const struct gpi_reduce_cpu *reduce;
    const in_t *in;
    out_t *out;
    uint64_t room;
    size_t begun; /* where the last run began; SIZE_MAX: none of those here */
};

/* The runs that end at these items of word w. */
ALWAYS_INLINE void some_runs(gp_op op, struct runs *r, size_t w, uint64_t starts, uint64_t ends)
{
    for (; ends && r->room > 0; ends &= ends - 1) {
        const uint64_t own = starts & (ends ^ (ends - 1));
        const size_t end = w * 64 + (size_t)__builtin_ctzll(ends) + 1;
        const size_t begin = own ? w * 64 + 63 - (size_t)__builtin_clzll(own) : r->begun;
        if (begin == SIZE_MAX)
            continue;
        if (end - begin <= SHORT)
            *r->out = short_run(op, r->in + begin, end - begin);
        else
            long_run(op, r->reduce, r->in + begin, end - begin, r->out);
        r->out++;
        r->room--;
    }
}

ALWAYS_INLINE void runs(gp_op op, struct runs *r, const struct gpi_group_marks *marks, size_t items)
{
    for (size_t w = 0; w * 64 < items && r->room > 0; w++) {
        const uint64_t starts = marks->starts[w], ends = marks->ends[w];
        const int count = __builtin_popcountll(ends);
        const bool dense =
            HAVE_DENSE && count > DENSE && r->room >= (uint64_t)count && !has_long(ends);
        const int first = starts ? __builtin_ctzll(starts) : 0;
        /* The first run of dense ones may have begun before. */
        some_runs(op, r, w, starts, dense ? ends & (((uint64_t)1 << first) - 1) : ends);
#if HAVE_DENSE
        if (dense) {
            const int end = 64 - __builtin_clzll(ends);
            out_t *out = dense_runs(op, r->in + w * 64, starts, ends, first, end, r->out);
            r->room -= (uint64_t)(out - r->out);
            r->out = out;
        }
#endif
        if (starts)
            r->begun = w * 64 + 63 - (size_t)__builtin_clzll(starts);
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
    struct runs r = {reduce, values, out, room, SIZE_MAX};
    switch (op) {
#define CASE(NAME)                                                                                 \
    case GP_##NAME:                                                                                \
        runs(GP_##NAME, &r, marks, items);                                                         \
        break;
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

#if GPI_SCALARS == 1

ALWAYS_INLINE void scatter_by(gp_op op, const in_t *in, const uint16_t *numbers, size_t n,
                              void *acc)
{
    /* of 8 bytes, the first ones are the accumulator */
    for (size_t i = 0; i < n; i++) {
        sum_t *at = (sum_t *)(void *)((uint64_t *)acc + numbers[i]);
        *at = (sum_t)apply(op, (acc_t)*at, widen_in(in[i]));
    }
}

static void scatter_values(gp_op op, const void *values, const uint16_t *numbers, size_t n,
                           void *acc)
{
    switch (op) {
#define CASE(NAME)                                                                                 \
    case GP_##NAME:                                                                                \
        scatter_by(GP_##NAME, values, numbers, n, acc);                                            \
        break;
        EACH_OP
#undef CASE
    default:
        __builtin_unreachable();
    }
}

#else
#define scatter_values NULL
#endif

extern const struct gpi_group_fold_cpu PASTE(gpi_group_fold_, GPI_UNIT);
const struct gpi_group_fold_cpu PASTE(gpi_group_fold_, GPI_UNIT) = {.store = store,
                                                                    .runs = fold_runs,
                                                                    .scatter = scatter_values,
                                                                    .in_bytes = sizeof(in_t),
                                                                    .out_bytes = sizeof(out_t)};
