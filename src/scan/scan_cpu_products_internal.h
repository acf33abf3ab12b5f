/* SPDX-License-Identifier: MIT */
/* The product of floats alone, in the association that their scan has (scan_cpu_groups_internal.h),
 * by trees over many vectors at once. */
#ifndef GPI_SCAN_CPU_PRODUCTS_INTERNAL_H
#define GPI_SCAN_CPU_PRODUCTS_INTERNAL_H

#include "scan/scan_cpu_groups_internal.h"

/* As many vectors as each has lanes are a group or more. */
#define LANES_HOLD_GROUP (VECTOR / ACC_BYTES >= 64 / VECTOR)

#if GPI_SCALARS == 1 && ACC_IS_FLOAT && LANES_HOLD_GROUP

/* The products of as many vectors as each has lanes: pairs of neighbours, then of those. */
ALWAYS_INLINE vector products_of(enum gpi_scan_form form, const char *in)
{
    vector v[LANES];
    for (int k = 0; k < LANES; k++)
        v[k] = form_load(form, in + form_bytes(form, k * LANES));
    for (int m = LANES / 2; m > 0; m /= 2)
        for (int k = 0; k < m; k++)
            v[k] = (vector)WITH_LANES(EVEN, v[2 * k], v[2 * k + 1]) *
                   (vector)WITH_LANES(ODD, v[2 * k], v[2 * k + 1]);
    return v[0];
}

/* carry times the product of the items, in the association of the scan, which is in the other order
 * if it turns. Halves are a multiple of PRODUCTS items. */
__attribute__((noinline, unused)) static acc_t groups_product(bool turn, enum gpi_scan_form form,
                                                              const char *in, size_t n, acc_t carry)
{
    const size_t rest = n % PRODUCTS, whole = n - rest;
    const acc_t *last = (const acc_t *)(const void *)in + whole;
    acc_t of[LANES];
    vector parts;
    if (rest && turn)
        carry = groups_scan(GP_PRODUCT, true, last, rest, NULL, 1, carry, NULL);
    for (size_t i = 0; i < whole; i += PRODUCTS) {
        const size_t at = turn ? whole - PRODUCTS - i : i;
#define CALL(as) (parts = products_of(as, in + form_bytes(as, at)))
        DO_BY_FORM(form, CALL);
#undef CALL
        memcpy(of, &parts, sizeof of);
        for (int d = 1; d < GROUP_VECTORS; d *= 2)
            for (int j = 0; j < LANES; j += 2 * d)
                of[j] *= of[j + d];
        for (int j = 0; j < LANES; j += GROUP_VECTORS)
            carry *= of[turn ? LANES - GROUP_VECTORS - j : j];
    }
    if (rest && !turn)
        carry = groups_scan(GP_PRODUCT, false, last, rest, NULL, 1, carry, NULL);
    return carry;
}

#elif GPI_SCALARS == 1 && ACC_IS_FLOAT
#define groups_product(turn, form, in, n, carry)                                                   \
    groups_scan(GP_PRODUCT, turn, (const acc_t *)(const void *)(in), n, NULL, 1, carry, NULL)
#endif

#endif
