/* SPDX-License-Identifier: MIT */
/*
 * Sorts of a few items, by insertion of order words and where they stood.
 * Included by radixsort_cpu_tmpl.c.
 */
enum { SHORT_ITEMS = GPI_KEY_BITS <= 16 ? 16 : GPI_KEY_BITS == 32 ? 48 : 96 /* sort-cpu-24 */ };

/* Words in the bits compared become ordered, and from[i] is where word i stood. */
static void short_order(const struct gpi_radix_job *j, uint8_t from[SHORT_ITEMS])
{
    const int shift = j->begin_bit, bits = j->end_bit - shift; /* 1 at least */
    const KEY mask = (KEY)((KEY) ~(KEY)0 >> (GPI_KEY_BITS - bits));
    KEY words[SHORT_ITEMS];
    sort_words_of(&j->order, j->keys_in, j->n, words);
    for (size_t i = 0; i < j->n; i++) {
        const KEY word = (KEY)(words[i] >> shift) & mask;
        size_t k = i;
        for (; k > 0 && words[k - 1] > word; k--) {
            words[k] = words[k - 1];
            from[k] = from[k - 1];
        }
        words[k] = word;
        from[k] = (uint8_t)i;
    }
}

/* Items in an order, through a copy: in may be out. */
static inline void short_move(const uint8_t *from, const void *in, size_t n, size_t item_bytes,
                              void *out)
{
    struct gpi_radix_value16 copy[SHORT_ITEMS];
    const char *items = (const char *)copy;
    memcpy(copy, in, n * item_bytes);
    for (size_t i = 0; i < n; i++)
        memcpy((char *)out + i * item_bytes, items + from[i] * item_bytes, item_bytes);
}

static void sort_short(const struct gpi_radix_job *j)
{
    uint8_t from[SHORT_ITEMS];
    short_order(j, from);
    short_move(from, j->keys_in, j->n, KEY_BYTES, j->keys_out);
    if (j->value_bytes == 4)
        short_move(from, j->values_in, j->n, 4, j->values_out);
    else if (j->value_bytes == 8)
        short_move(from, j->values_in, j->n, 8, j->values_out);
    else if (j->value_bytes)
        short_move(from, j->values_in, j->n, j->value_bytes, j->values_out);
}
