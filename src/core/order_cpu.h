/* SPDX-License-Identifier: MIT */
/* Keys of GPI_KEY_BITS and their order words, for the CPU's templates. */
#ifndef GPI_ORDER_CPU_H
#define GPI_ORDER_CPU_H

#include "core/order.h"
#include "core/paste.h"

#define KEY PASTE(PASTE(uint, GPI_KEY_BITS), _t)

/* One order word; inlined with a constant is_float. */
ALWAYS_INLINE KEY word_of(const struct gpi_radix_order *o, bool is_float, KEY x)
{
    if (!is_float)
        return (KEY)(x ^ (KEY)o->flip);
    return (KEY)(GPI_RADIX_FLOAT(KEY, x, (KEY)o->sign, (KEY)o->inf) ^ (KEY)o->flip);
}

/* Order words of keys. Branches outside the loops let the compiler vectorise them. */
static inline void words_of(const struct gpi_radix_order *o, const KEY *restrict keys, size_t n,
                            KEY *restrict words)
{
    const KEY flip = (KEY)o->flip, sign = (KEY)o->sign, inf = (KEY)o->inf;
    if (inf == 0)
        for (size_t i = 0; i < n; i++)
            words[i] = keys[i] ^ flip;
    else
        for (size_t i = 0; i < n; i++)
            words[i] = (KEY)(GPI_RADIX_FLOAT(KEY, keys[i], sign, inf) ^ flip);
}

#endif
