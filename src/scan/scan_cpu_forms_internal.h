/* SPDX-License-Identifier: MIT */
/* Items as vector loops find them in memory (gpi_scan_form), for scan_cpu_vectors_internal.h, which
 * includes this file. */
#ifndef GPI_SCAN_CPU_FORMS_INTERNAL_H
#define GPI_SCAN_CPU_FORMS_INTERNAL_H

/* Bytes of n items. */
ALWAYS_INLINE size_t form_bytes(enum gpi_scan_form form, size_t n)
{
    return n * (HAVE_HALVES && form ? sizeof(uint16_t) : sizeof(acc_t));
}

/* call is compiled for each form; GPI_OWN_FORM: items are of the unit's dtype, or computed. */
#if HAVE_HALVES && defined(GPI_OWN_FORM)
#define DO_BY_FORM(form, call)                                                                     \
    do {                                                                                           \
        if (FORM(IN_KIND) && (form))                                                               \
            call(FORM(IN_KIND));                                                                   \
        else                                                                                       \
            call(GPI_AS_COMPUTED);                                                                 \
    } while (0)
#elif HAVE_HALVES
#define DO_BY_FORM(form, call)                                                                     \
    do {                                                                                           \
        if ((form) == GPI_AS_F16)                                                                  \
            call(GPI_AS_F16);                                                                      \
        else if ((form) == GPI_AS_BF16)                                                            \
            call(GPI_AS_BF16);                                                                     \
        else                                                                                       \
            call(GPI_AS_COMPUTED);                                                                 \
    } while (0)
#else
#define DO_BY_FORM(form, call) ((void)(form), call(GPI_AS_COMPUTED))
#endif

ALWAYS_INLINE vector form_load(enum gpi_scan_form form, const void *items)
{
#if HAVE_HALVES
    if (form == GPI_AS_F16)
        return (vector)gpi_f16s_widened(items);
    if (form == GPI_AS_BF16)
        return (vector)gpi_bf16s_widened(items);
#endif
    (void)form;
    return vector_load(items);
}

#if HAVE_HALVES

static inline acc_t half_widened(enum gpi_scan_form form, int16_t half)
{
    return form == GPI_AS_F16 ? gpi_f16_to_float((uint16_t)half)
                              : gpi_bf16_to_float((uint16_t)half);
}

static inline int16_t half_narrowed(enum gpi_scan_form form, acc_t value)
{
    return (int16_t)(form == GPI_AS_F16 ? gpi_float_to_f16(value) : gpi_float_to_bf16(value));
}

/* Minimum and maximum of halves as they are stored. */
#define HALVES_ORDER PASTE(gpi_halves_order_, GPI_ISA_SUFFIX)
extern const struct gpi_halves_order HALVES_ORDER;

ALWAYS_INLINE acc_t halves_fold(gp_op op, enum gpi_scan_form form, const char *in, size_t n)
{
    return half_widened(form, HALVES_ORDER.fold(op, (const int16_t *)(const void *)in, n));
}

ALWAYS_INLINE acc_t halves_scan(gp_op op, bool turn, enum gpi_scan_form form, const char *in,
                                size_t n, acc_t carry, char *out)
{
    return half_widened(form,
                        HALVES_ORDER.scan(op, turn, (const int16_t *)(const void *)in, n,
                                          half_narrowed(form, carry), (int16_t *)(void *)out));
}

#endif

/* Items of a tree (scan_cpu_trees_internal.h): as many vectors as each has lanes. */
enum { TREE = LANES * LANES };

/* Whether items behind carry are folded, or scanned, as they are stored; n of them, a multiple of
 * 2 * GROUP. */
ALWAYS_INLINE bool as_stored(gp_op op, bool scanned, enum gpi_scan_form form, const char *in,
                             size_t n, acc_t carry)
{
#if HAVE_HALVES
    if (form && (op == GP_MIN || op == GP_MAX))
        return !(carry == 0 && signbit(carry)) &&
               HALVES_ORDER.plain(form == GPI_AS_F16 ? 0x7c00 : 0x7f80,
                                  (const int16_t *)(const void *)in, n);
    return form && !scanned && (op == GP_SUM || n % TREE == 0);
#else
    (void)op, (void)scanned, (void)form, (void)in, (void)n, (void)carry;
    return false;
#endif
}

#endif
