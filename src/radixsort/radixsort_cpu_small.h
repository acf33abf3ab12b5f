/* SPDX-License-Identifier: MIT */
/*
 * Sorts of few items: by insertion, then by merging, of order words and where they stood. Included
 * by radixsort_cpu_tmpl.c.
 */
enum {
    SHORT_ITEMS = 128, /* from here on counting 256 bins a pass costs less than comparing */
    SHORT_RUN = 8      /* sorted by insertion */
};

/* Order words in the bits compared, and where they stood. */
struct short_sort {
    KEY words[SHORT_ITEMS];
    uint8_t from[SHORT_ITEMS];
};

static void short_load(const struct gpi_radix_job *j, struct short_sort *s)
{
    const int shift = j->begin_bit, bits = j->end_bit - shift; /* 1 at least */
    const KEY mask = (KEY)((KEY) ~(KEY)0 >> (GPI_KEY_BITS - bits));
    sort_words_of(&j->order, j->keys_in, j->n, s->words);
    for (size_t i = 0; i < j->n; i++) {
        s->words[i] = (KEY)(s->words[i] >> shift) & mask;
        s->from[i] = (uint8_t)i;
    }
}

static void insert_run(struct short_sort *s, size_t begin, size_t end)
{
    for (size_t i = begin + 1; i < end; i++) {
        KEY word = s->words[i];
        uint8_t from = s->from[i];
        size_t k = i;
        for (; k > begin && s->words[k - 1] > word; k--) {
            s->words[k] = s->words[k - 1];
            s->from[k] = s->from[k - 1];
        }
        s->words[k] = word;
        s->from[k] = from;
    }
}

/* Merge [begin, middle) and [middle, end) into the same places of another array. */
static void merge_runs(const struct short_sort *s, size_t begin, size_t middle, size_t end,
                       struct short_sort *to)
{
    size_t a = begin, b = middle;
    for (size_t i = begin; i < end; i++) {
        bool take_b = a == middle || (b < end && s->words[b] < s->words[a]);
        size_t k = take_b ? b++ : a++;
        to->words[i] = s->words[k];
        to->from[i] = s->from[k];
    }
}

/* The two arrays take turns; returns the one that is sorted. */
static const struct short_sort *short_order(struct short_sort rooms[2], size_t n)
{
    struct short_sort *s = &rooms[0], *to = &rooms[1];
    for (size_t i = 0; i < n; i += SHORT_RUN)
        insert_run(s, i, i + SHORT_RUN < n ? i + SHORT_RUN : n);
    for (size_t run = SHORT_RUN; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            size_t middle = i + run < n ? i + run : n, end = i + 2 * run < n ? i + 2 * run : n;
            merge_runs(s, i, middle, end, to);
        }
        struct short_sort *next = s;
        s = to;
        to = next;
    }
    return s;
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

static void short_values(const uint8_t *from, const struct gpi_radix_job *j)
{
    if (j->value_bytes == 4)
        short_move(from, j->values_in, j->n, 4, j->values_out);
    else if (j->value_bytes == 8)
        short_move(from, j->values_in, j->n, 8, j->values_out);
    else if (j->value_bytes)
        short_move(from, j->values_in, j->n, j->value_bytes, j->values_out);
}

static void sort_short(const struct gpi_radix_job *j)
{
    struct short_sort rooms[2];
    short_load(j, &rooms[0]);
    const struct short_sort *s = short_order(rooms, j->n);
    short_move(s->from, j->keys_in, j->n, KEY_BYTES, j->keys_out);
    short_values(s->from, j);
}
