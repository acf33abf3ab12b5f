/* SPDX-License-Identifier: MIT */
/*
 * Minimum and maximum of halves on the CPU, by their bits, compiled per instruction set. With the
 * bits below the sign turned over where it is set, halves of either kind are in the order of signed
 * integers; two are not: a NaN, and a zero with a sign, which equals the other one.
 */
#include "scan/scan_cpu_internal.h"
#include "scan/scan_cpu_lanes_internal.h"

#ifdef GPI_HAVE_HALVES

/* This is so short that it would wait for memory: as many items behind are asked for. */
static bool plain(int16_t infinity, const int16_t *in, size_t n)
{
    vector lowest = {0}, largest = {0};
    for (size_t i = 0; i < n; i += LANES) {
        __builtin_prefetch(in + n + i);
        const vector v = vector_load(in + i);
        lowest = combine(GP_MIN, lowest, v);
        largest = combine(GP_MAX, largest, v & INT16_MAX);
    }
    return lanes_joined(false, GP_MIN, lowest) != INT16_MIN &&
           lanes_joined(false, GP_MAX, largest) <= infinity;
}

ALWAYS_INLINE int16_t fold_by(gp_op op, const int16_t *in, size_t n)
{
    vector all = vector_of(identity(op));
    for (size_t i = 0; i < n; i += LANES)
        all = combine(op, all, as_key(vector_load(in + i)));
    return half_key(lanes_joined(false, op, all));
}

static int16_t fold(gp_op op, const int16_t *in, size_t n)
{
    return op == GP_MIN ? fold_by(GP_MIN, in, n) : fold_by(GP_MAX, in, n);
}

ALWAYS_INLINE int16_t scan_by(gp_op op, bool turn, const int16_t *in, size_t n, int16_t carry,
                              int16_t *out)
{
    return half_key(lanes_scan(op, turn, in, n, half_key(carry), out));
}

static int16_t scan(gp_op op, bool turn, const int16_t *in, size_t n, int16_t carry, int16_t *out)
{
    if (turn)
        return op == GP_MIN ? scan_by(GP_MIN, true, in, n, carry, out)
                            : scan_by(GP_MAX, true, in, n, carry, out);
    return op == GP_MIN ? scan_by(GP_MIN, false, in, n, carry, out)
                        : scan_by(GP_MAX, false, in, n, carry, out);
}

#define ORDER PASTE(gpi_halves_order_, GPI_ISA_SUFFIX)
extern const struct gpi_halves_order ORDER;
const struct gpi_halves_order ORDER = {plain, fold, scan};

#endif
