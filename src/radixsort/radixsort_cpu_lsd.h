/* SPDX-License-Identifier: MIT */
/*
 * Sorts that fit the caches of one thread. Items go straight to their place there, so digits may be
 * wide and passes few: 24 bits take two passes of 12 bits, with half the moves of three of 8.
 * Included by radixsort_cpu_tmpl.c.
 */
enum {
    WIDE_BITS = 12,
    WIDE_BINS = 1 << WIDE_BITS,
    WIDE_ITEMS = 2048, /* with fewer, wide tables cost more to clear and add up than they save */
    CACHED_PASSES_MAX = (GPI_KEY_BITS + GPI_RADIX_BITS - 1) / GPI_RADIX_BITS
};

/* The passes of a sort, all digits but the last one equally wide. */
struct cached_passes {
    int passes, width;
};

static struct cached_passes cached_passes_of(size_t n, int begin, int end)
{
    int bits = n < WIDE_ITEMS ? GPI_RADIX_BITS : WIDE_BITS;
    struct cached_passes c = {(end - begin + bits - 1) / bits, 0};
    c.width = c.passes ? (end - begin + c.passes - 1) / c.passes : 0;
    return c;
}

/* The digits of one pass; inlined with constants. */
static inline void cached_count(const struct gpi_radix_order *o, enum word_kind kind,
                                const KEY *keys, size_t n, int shift, KEY mask, uint32_t *counts)
{
    for (size_t i = 0; i < n; i++)
        counts[(KEY)(sort_word(o, kind, keys[i]) >> shift) & mask]++;
}

static void cached_count_pass(const struct gpi_radix_job *j, const KEY *keys, int shift, KEY mask,
                              uint32_t *counts)
{
    memset(counts, 0, ((size_t)mask + 1) * sizeof *counts);
    const enum word_kind kind = kind_of(&j->order);
    if (kind == WORD_INTEGER)
        cached_count(&j->order, WORD_INTEGER, keys, j->n, shift, mask, counts);
    else if (kind == WORD_FLOAT)
        cached_count(&j->order, WORD_FLOAT, keys, j->n, shift, mask, counts);
    else
        cached_count(&j->order, WORD_EXACT, keys, j->n, shift, mask, counts);
}

/* Counts become places. False: all items are in one bin, and stay where they are. */
static bool cached_places(uint32_t *counts, KEY mask, size_t n)
{
    uint32_t sum = 0;
    for (size_t b = 0; b <= mask; b++) {
        uint32_t count = counts[b];
        if (count == n)
            return false;
        counts[b] = sum;
        sum += count;
    }
    return true;
}

/* Copy what is not where it should be. */
static void cached_finish(const struct gpi_radix_job *j, const struct cached_move *m)
{
    if (m->keys_src != j->keys_out)
        memcpy(j->keys_out, m->keys_src, j->n * KEY_BYTES);
    if (j->value_bytes && m->values_src != j->values_out)
        memcpy(j->values_out, m->values_src, j->n * j->value_bytes);
}

/* Where the next pass writes: never over what it reads, and into the output at last if it can. */
static bool cached_to_out(const struct gpi_radix_cpu_job *c, const struct cached_move *m, int left)
{
    const struct gpi_radix_job *j = &c->job;
    if (m->keys_src == j->keys_out || (j->value_bytes && m->values_src == j->values_out))
        return false;
    return m->keys_src == c->keys_tmp || left % 2 == 1;
}

/* Sort a job of one thread; with values it has values_in. */
static __attribute__((noinline)) void sort_cached(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    const struct cached_passes p = cached_passes_of(j->n, j->begin_bit, j->end_bit);
    _Alignas(LINE) uint32_t places[WIDE_BINS]; /* or to clear them takes longer */
    struct cached_move m = {.order = &j->order, .n = j->n, .places = places};
    m.keys_src = j->keys_in;
    m.values_src = j->values_in;
    for (int k = 0; k < p.passes; k++) {
        m.shift = j->begin_bit + k * p.width;
        const int left = j->end_bit - m.shift;
        m.mask = (KEY)(((uint64_t)1 << (left < p.width ? left : p.width)) - 1);
        cached_count_pass(j, m.keys_src, m.shift, m.mask, places);
        if (!cached_places(places, m.mask, j->n))
            continue;
        bool to_out = cached_to_out(c, &m, p.passes - k);
        m.keys_dst = to_out ? j->keys_out : c->keys_tmp;
        m.values_dst = to_out ? j->values_out : c->values_tmp;
        values_of(j->value_bytes)->cached_move(&m);
        m.keys_src = m.keys_dst;
        m.values_src = m.values_dst;
    }
    cached_finish(j, &m);
}
