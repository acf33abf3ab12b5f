/* SPDX-License-Identifier: MIT */
/* Folds of integers, which wrap, so that their order does not matter, for
 * scan_cpu_lanes_internal.h, which includes this file. */
#ifndef GPI_SCAN_CPU_INTEGERS_INTERNAL_H
#define GPI_SCAN_CPU_INTEGERS_INTERNAL_H

/* x op the few items behind the lanes: once for all operators, each of which it would double. */
__attribute__((noinline, unused)) static acc_t integers_rest(gp_op op, const acc_t *in, size_t n,
                                                             acc_t x)
{
    for (size_t i = 0; i < n; i++)
        x = apply(op, x, in[i]);
    return x;
}

/* in[0] op .. op in[n - 1], in two lines of lanes. */
ALWAYS_INLINE acc_t integers_fold(gp_op op, const acc_t *in, size_t n)
{
    const size_t step = 2 * GROUP, whole = n / step * step;
    vector some[SUM_VECTORS];
    for (int k = 0; k < SUM_VECTORS; k++)
        some[k] = vector_of(identity(op));
    for (size_t i = 0; i < whole; i += step)
        for (int k = 0; k < SUM_VECTORS; k++)
            some[k] = combine(op, some[k], vector_load(in + i + k * LANES));
    for (int k = 1; k < SUM_VECTORS; k++)
        some[0] = combine(op, some[0], some[k]);
    gp_op any = op;
    __asm__("" : "+r"(any)); /* no constant, of which compilers would make copies */
    return integers_rest(any, in + whole, n - whole, lanes_joined(false, op, some[0]));
}

#endif
