/* SPDX-License-Identifier: MIT */
#include "decimal.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const uint64_t most_digits = UINT64_C(1000000000000000000); /* another one may not fit */

static const char *scan_digits(const char *p, struct decimal *d, int behind_point)
{
    for (; is_digit(*p); p++)
        if (d->digits < most_digits) {
            d->digits = d->digits * 10 + (unsigned)(*p - '0');
            d->exponent -= behind_point;
        } else {
            d->exact = false;
            d->exponent += !behind_point;
        }
    return p;
}

/* Digits of the mantissa from p; returns behind them, NULL if there are none. */
static const char *scan_mantissa(const char *p, struct decimal *d)
{
    const char *whole = scan_digits(p, d, 0), *end = whole;
    d->whole = *whole != '.';
    if (!d->whole)
        end = scan_digits(whole + 1, d, 1);
    return end - p > !d->whole ? end : NULL;
}

const char *decimal_scan(const char *text, struct decimal *d)
{
    const char *p = text;
    *d = (struct decimal){.text = text, .exact = true, .whole = true, .negative = *p == '-'};
    p = scan_mantissa(p + (*p == '-' || *p == '+'), d);
    if (p && (*p == 'e' || *p == 'E')) {
        int e = 0;
        bool minus = p[1] == '-';
        p += 1 + (p[1] == '-' || p[1] == '+');
        if (!is_digit(*p))
            return NULL;
        for (; is_digit(*p); p++)
            e = e < 100000 ? e * 10 + (*p - '0') : e;
        d->exponent += minus ? -e : e;
        d->whole = false;
    }
    return p;
}

/* strtod takes the point of the calling thread's locale. */
static double correctly_rounded(const char *text, locale_t c)
{
    const locale_t before = uselocale(c);
    const double v = strtod(text, NULL);
    uselocale(before);
    return v;
}

/*
 * digits * 10^exponent by one operation of 64 bits, if the double next to it is the one next to the
 * exact number, too: so it is unless it lies in the middle between two doubles.
 */
static bool by_long_double(const struct decimal *d, double *value)
{
#if LDBL_MANT_DIG == 64
    static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                         1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                         1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                         1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    uint64_t bits;
    if (d->exponent < -27 || d->exponent > 27)
        return false;
    const long double v = d->exponent < 0 ? (long double)d->digits / powers[-d->exponent]
                                          : (long double)d->digits * powers[d->exponent];
    memcpy(&bits, &v, sizeof bits);
    *value = (double)v;
    return (bits & 0x7ff) != 0x400;
#else
    (void)d, (void)value;
    return false;
#endif
}

/* Exact when digits and power of ten are exact doubles (Clinger 1990); otherwise strtod's work. */
double decimal_value(const struct decimal *d, locale_t c)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double v;
    if (!d->exact)
        return correctly_rounded(d->text, c);
    if (d->digits <= (UINT64_C(1) << 53) && d->exponent >= -22 && d->exponent <= 22) {
        v = (double)d->digits;
        v = d->exponent < 0 ? v / powers[-d->exponent] : v * powers[d->exponent];
    } else if (!by_long_double(d, &v)) {
        return correctly_rounded(d->text, c);
    }
    return d->negative ? -v : v;
}
