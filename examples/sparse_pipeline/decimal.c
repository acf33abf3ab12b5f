/* SPDX-License-Identifier: MIT */
#include "decimal.h"

#include <stddef.h>
#include <stdlib.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits of the mantissa from p; returns behind them, NULL if there are none. */
static const char *scan_mantissa(const char *p, struct decimal *d)
{
    bool point = false, any = false;
    for (;; p++) {
        if (*p == '.' && !point) {
            point = true;
            d->whole = false;
        } else if (is_digit(*p)) {
            any = true;
            if (d->digits >= UINT64_C(1000000000000000000)) {
                d->exact = false;
                d->exponent += !point;
            } else {
                d->digits = d->digits * 10 + (unsigned)(*p - '0');
                d->exponent -= point;
            }
        } else {
            return any ? p : NULL;
        }
    }
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

/* Exact when digits and power of ten are exact doubles (Clinger 1990); otherwise strtod's work. */
double decimal_value(const struct decimal *d, locale_t c)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!d->exact || d->digits > (UINT64_C(1) << 53) || d->exponent < -22 || d->exponent > 22)
        return correctly_rounded(d->text, c);
    double v = (double)d->digits;
    v = d->exponent < 0 ? v / powers[-d->exponent] : v * powers[d->exponent];
    return d->negative ? -v : v;
}
