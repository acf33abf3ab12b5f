/* SPDX-License-Identifier: MIT */
/* Folds of integers, which wrap, so that their order does not matter, for
 * scan_cpu_lanes_internal.h, which includes this file. */
#ifndef GPI_SCAN_CPU_INTEGERS_INTERNAL_H
#define GPI_SCAN_CPU_INTEGERS_INTERNAL_H

/* Two lines of n items with neutral ones behind them: once for all operators, each of which it
 * would double. */
__attribute__((noinline, unused)) static void integers_rest(acc_t neutral, const acc_t *in,
                                                            size_t n, acc_t *to)
{
#if VECTOR == 64
    for (size_t k = 0; k < SUM_VECTORS; k++) {
        const size_t left = n > k * LANES ? (n - k * LANES) * sizeof *in : 0;
        const __mmask64 here = left < 64 ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
        _mm512_storeu_si512(to + k * LANES, _mm512_mask_loadu_epi8((__m512i)vector_of(neutral),
                                                                   here, in + k * LANES));
    }
#else
    for (size_t i = 0; i < 2 * GROUP; i++)
        to[i] = neutral;
    memcpy(to, in, n * sizeof *in);
#endif
}

/* in[0] op .. op in[n - 1], in two lines of lanes. */
ALWAYS_INLINE acc_t integers_fold(gp_op op, const acc_t *in, size_t n)
{
    const size_t step = 2 * GROUP, whole = n / step * step;
    vector some[SUM_VECTORS];
    acc_t rest[2 * GROUP];
    for (int k = 0; k < SUM_VECTORS; k++)
        some[k] = vector_of(identity(op));
    if (whole < n)
        integers_rest(identity(op), in + whole, n - whole, rest);
    for (size_t i = 0; i < n; i += step) {
        const acc_t *items = i < whole ? in + i : rest;
        for (int k = 0; k < SUM_VECTORS; k++)
            some[k] = combine(op, some[k], vector_load(items + k * LANES));
    }
    for (int k = 1; k < SUM_VECTORS; k++)
        some[0] = combine(op, some[0], some[k]);
    return lanes_joined(false, op, some[0]);
}

#endif
