/* SPDX-License-Identifier: MIT */
/*
 * Moves of items by a digit; included by radixsort_cpu_tmpl.c once per VALUE_BYTES.
 *
 * Of one part of a pass beyond the caches: each bin collects ITEMS items in a buffer; a full buffer
 * leaves in one piece to an address that its key lines are aligned to, so every line of the output
 * is written whole, once.
 */
#define NAME(name) PASTE(PASTE(name, _v), VALUE_BYTES)

#if VALUE_BYTES <= 1
#define VALUE uint8_t
#elif VALUE_BYTES == 2
#define VALUE uint16_t
#elif VALUE_BYTES == 4
#define VALUE uint32_t
#elif VALUE_BYTES == 8
#define VALUE uint64_t
#else
#define VALUE struct gpi_radix_value16
#endif

/* With values a whole line for the narrower of key and value, but between 8 and 16 items. Keys
 * alone take a line, or two where the first-level cache has the room: a full buffer, which no
 * branch predictor foresees, is then half as frequent. */
#if VALUE_BYTES == 0
#define ITEMS ((QUICK ? 2 : 1) * LINE / KEY_BYTES)
#elif VALUE_BYTES >= 8 && GPI_KEY_BITS == 64
#define ITEMS 8
#else
#define ITEMS 16
#endif

/* Where one part writes. Positions count from the last line boundary at or before the key array. */
struct NAME(target) {
    KEY *buffers; /* BINS * ITEMS keys, then as many values */
    KEY *keys;
    VALUE *values;
    size_t phase; /* position of item 0 */
    bool stream_keys, stream_values;
    size_t begin[BINS], next[BINS];
};

static inline VALUE *NAME(value_buffers)(const struct NAME(target) * t)
{
    return (VALUE *)(void *)(t->buffers + BINS * ITEMS);
}

/* Send items [from, to) of a bin's buffer, which ends before position to. */
static void NAME(flush_some)(const struct NAME(target) * t, size_t bin, size_t from, size_t to)
{
    size_t slot = bin * ITEMS + from % ITEMS;
    memcpy(t->keys + (from - t->phase), t->buffers + slot, (to - from) * KEY_BYTES);
    if (VALUE_BYTES)
        memcpy(t->values + (from - t->phase), NAME(value_buffers)(t) + slot,
               (to - from) * VALUE_BYTES);
}

/* Send a bin's full buffer to the line-aligned position from. */
static inline void NAME(flush_line)(const struct NAME(target) * t, size_t bin, size_t from)
{
    const size_t to = from - t->phase, slot = bin * ITEMS;
    store_lines(t->keys + to, t->buffers + slot, ITEMS * KEY_BYTES, t->stream_keys);
    if (VALUE_BYTES)
        store_lines(t->values + to, NAME(value_buffers)(t) + slot, ITEMS * VALUE_BYTES,
                    t->stream_values);
}

static inline void NAME(put_block)(struct NAME(target) * t, const uint8_t *restrict digits,
                                   const KEY *restrict keys, const void *restrict values, size_t n)
{
    KEY *key_buffers = t->buffers;
    VALUE *value_buffers = NAME(value_buffers)(t);
    const VALUE *restrict v = values;
    for (size_t i = 0; i < n; i++) {
        size_t bin = digits[i], at = t->next[bin]++, slot = bin * ITEMS + at % ITEMS;
        key_buffers[slot] = keys[i];
        if (VALUE_BYTES)
            value_buffers[slot] = v[i];
        if (at % ITEMS != ITEMS - 1)
            continue;
        if (at - (ITEMS - 1) >= t->begin[bin])
            NAME(flush_line)(t, bin, at - (ITEMS - 1));
        else
            NAME(flush_some)(t, bin, t->begin[bin], at + 1);
    }
}

/* What is left in the buffers at the end. */
static void NAME(flush_all)(const struct NAME(target) * t)
{
    for (size_t bin = 0; bin < BINS; bin++) {
        size_t to = t->next[bin], from = to - to % ITEMS;
        if (from < t->begin[bin])
            from = t->begin[bin];
        if (from < to)
            NAME(flush_some)(t, bin, from, to);
    }
}

static void NAME(open_target)(const struct sort *s, size_t part, struct NAME(target) * t,
                              KEY *buffers)
{
    t->buffers = buffers;
    t->keys = s->keys_dst;
    t->phase = (uintptr_t)s->keys_dst / KEY_BYTES % ITEMS;
    t->stream_keys = s->stream && ITEMS * KEY_BYTES % LINE == 0;
    t->values = s->values_dst;
    t->stream_values = s->stream && ITEMS * VALUE_BYTES % LINE == 0 &&
                       ((uintptr_t)s->values_dst - t->phase * VALUE_BYTES) % LINE == 0;
    for (size_t bin = 0; bin < BINS; bin++)
        t->begin[bin] = t->next[bin] = (size_t)s->places[part][bin] + t->phase;
}

/* Values of a block that starts at item i: from the source, or the indices themselves. */
static inline const void *NAME(values_at)(const struct sort *s, size_t i, size_t n, void *room)
{
    if (!s->values_src && (VALUE_BYTES == 4 || VALUE_BYTES == 8)) {
        for (size_t k = 0; k < n; k++)
            gpi_word_put(room, VALUE_BYTES, k, i + k);
        return room;
    }
    return VALUE_BYTES ? (const char *)s->values_src + i * VALUE_BYTES : NULL;
}

static void NAME(move)(void *arg, size_t part)
{
    const struct sort *s = arg;
    size_t end = part_begin(s->c, part + 1);
    uint8_t digits[BLOCK];
    uint64_t indices[VALUE_BYTES == 4 || VALUE_BYTES == 8 ? BLOCK : 1];
    struct NAME(target) target;
    void *room = room_open(s->c);
    _Static_assert(BINS * ITEMS * (KEY_BYTES + VALUE_BYTES) <=
                       (VALUE_BYTES ? 8 * GPI_RADIX_PART_MIN : GPI_RADIX_LINES_BYTES),
                   "a room is large enough");
    NAME(open_target)(s, part, &target, room);
    for (size_t i = part_begin(s->c, part); i < end; i += BLOCK) {
        size_t n = end - i < BLOCK ? end - i : BLOCK;
        const KEY *keys = s->keys_src + i;
        const bool kept = is_learned(&s->digit) && s->kept;
        if (!kept)
            digits_of(&s->c->job.order, keys, n, s->digit, digits);
        const void *values = NAME(values_at)(s, i, n, indices);
        NAME(put_block)(&target, kept ? s->kept + i : digits, keys, values, n);
    }
    NAME(flush_all)(&target);
    stores_done();
    gpi_radixsort_room_give(&s->c->rooms, room);
}

static inline void NAME(cached_loop)(const struct cached_move *m, enum word_kind kind)
{
    const KEY *keys = m->keys_src, mask = m->mask;
    const VALUE *values = m->values_src;
    VALUE *values_dst = m->values_dst;
    KEY *keys_dst = m->keys_dst;
    uint32_t *places = m->places;
    const struct gpi_radix_order order = *m->order;
    const int shift = m->shift;
    for (size_t i = 0, n = m->n; i < n; i++) {
        KEY x = keys[i];
        uint32_t at = places[(KEY)(sort_word(&order, kind, x) >> shift) & mask]++;
        keys_dst[at] = x;
        if (VALUE_BYTES)
            values_dst[at] = values[i];
    }
}

static void NAME(cached_move)(const struct cached_move *m)
{
    const enum word_kind kind = kind_of(m->order);
    if (kind == WORD_INTEGER)
        NAME(cached_loop)(m, WORD_INTEGER);
    else if (VALUE_BYTES || kind == WORD_FLOAT)
        NAME(cached_loop)(m, WORD_FLOAT);
    else
        NAME(cached_loop)(m, WORD_EXACT);
}

#undef NAME
#undef VALUE
#undef ITEMS
#undef VALUE_BYTES
