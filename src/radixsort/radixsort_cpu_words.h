/* SPDX-License-Identifier: MIT */
/* Words of keys in the order of a sort. */
#include "core/order_cpu.h"

/* How words are made of keys, see gpi_radixsort_exact(). */
enum word_kind { WORD_INTEGER, WORD_FLOAT, WORD_EXACT };

static inline enum word_kind kind_of(const struct gpi_radix_order *o)
{
    return o->inf == 0 ? WORD_INTEGER : o->inf & GPI_RADIX_EXACT_BIT ? WORD_EXACT : WORD_FLOAT;
}

ALWAYS_INLINE KEY exact_word(const struct gpi_radix_order *o, KEY x)
{
    const KEY sign = (KEY)o->sign, inf = (KEY)(o->inf & ~GPI_RADIX_EXACT_BIT);
    return (KEY)(GPI_RADIX_EXACT(KEY, x, sign, inf) ^ (KEY)o->flip);
}

/* One word; inlined with a constant kind. */
ALWAYS_INLINE KEY sort_word(const struct gpi_radix_order *o, enum word_kind kind, KEY x)
{
    return kind == WORD_EXACT ? exact_word(o, x) : word_of(o, kind == WORD_FLOAT, x);
}

/* The key of a word of an integer, or of one that can be turned back. */
ALWAYS_INLINE KEY key_of_word(const struct gpi_radix_order *o, KEY word)
{
    const KEY sign = (KEY)o->sign, inf = (KEY)(o->inf & ~GPI_RADIX_EXACT_BIT);
    const KEY x = (KEY)(word ^ (KEY)o->flip);
    return inf ? GPI_RADIX_UNEXACT(KEY, x, sign, inf) : x;
}

/* A call: its loops are large, and many need them. */
static __attribute__((noinline, unused)) void sort_words_of(const struct gpi_radix_order *o,
                                                            const KEY *restrict keys, size_t n,
                                                            KEY *restrict words)
{
    if (kind_of(o) != WORD_EXACT) {
        words_of(o, keys, n, words);
        return;
    }
    const struct gpi_radix_order order = *o;
    for (size_t i = 0; i < n; i++)
        words[i] = exact_word(&order, keys[i]);
}
