/* SPDX-License-Identifier: MIT */
/* Decimal numbers as Matrix Market files write them, read alike in every locale. */
#ifndef EXAMPLE_DECIMAL_H
#define EXAMPLE_DECIMAL_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

struct decimal {
    const char *text;
    uint64_t digits;  /* the first 19 */
    int64_t exponent; /* the value is digits * 10^exponent */
    bool exact;       /* no digit was left out */
    bool negative;
    bool whole; /* neither a point nor an exponent */
};

/* Look at "+1.5e-3" and its like; returns behind the number, NULL if it is none. The text ends with
 * a NUL. */
const char *decimal_scan(const char *text, struct decimal *d);

/* The double next to the number; c is a locale with LC_NUMERIC of "C". */
double decimal_value(const struct decimal *d, locale_t c);

#endif
