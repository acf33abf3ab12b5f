/* SPDX-License-Identifier: MIT */
/*
 * Move one part of a pass; included by radixsort_cpu_tmpl.c once per VALUE_BYTES.
 *
 * Each bin collects ITEMS items in a buffer; a full buffer leaves in one piece to an
 * address that its key lines are aligned to, so every line of the output is written whole, once.
 */
#define NAME(name) PASTE(PASTE(name, _v), VALUE_BYTES)

#if VALUE_BYTES == 1
#define VALUE uint8_t
#elif VALUE_BYTES == 2
#define VALUE uint16_t
#elif VALUE_BYTES == 4
#define VALUE uint32_t
#elif VALUE_BYTES == 8
#define VALUE uint64_t
#elif VALUE_BYTES == 16
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

struct NAME(buffers) {
    KEY keys[BINS * ITEMS];
#if VALUE_BYTES
    VALUE values[BINS * ITEMS];
#endif
};

/* Where one part writes. Positions count from the last line boundary at or before the key array. */
struct NAME(target) {
    struct NAME(buffers) * buffers;
    KEY *keys;
#if VALUE_BYTES
    VALUE *values;
#endif
    size_t phase; /* position of item 0 */
    bool stream_keys, stream_values;
    size_t begin[BINS], next[BINS];
};

/* Send items [from, to) of a bin's buffer, which ends before position to. */
static void NAME(flush_some)(const struct NAME(target) * t, size_t bin, size_t from, size_t to)
{
    size_t slot = bin * ITEMS + from % ITEMS;
    memcpy(t->keys + (from - t->phase), t->buffers->keys + slot, (to - from) * KEY_BYTES);
#if VALUE_BYTES
    memcpy(t->values + (from - t->phase), t->buffers->values + slot, (to - from) * VALUE_BYTES);
#endif
}

/* Send a bin's full buffer to the line-aligned position from. */
static inline void NAME(flush_line)(const struct NAME(target) * t, size_t bin, size_t from)
{
    const struct NAME(buffers) *b = t->buffers;
    size_t to = from - t->phase;
    store_lines(t->keys + to, b->keys + bin * ITEMS, ITEMS * KEY_BYTES, t->stream_keys);
#if VALUE_BYTES
    store_lines(t->values + to, b->values + bin * ITEMS, ITEMS * VALUE_BYTES, t->stream_values);
#endif
}

static inline void NAME(put_block)(struct NAME(target) * t, const uint8_t *restrict digits,
                                   const KEY *restrict keys, const void *restrict values, size_t n)
{
    struct NAME(buffers) *b = t->buffers;
#if VALUE_BYTES
    const VALUE *restrict v = values;
#else
    (void)values;
#endif
    for (size_t i = 0; i < n; i++) {
        size_t bin = digits[i], at = t->next[bin]++, slot = bin * ITEMS + at % ITEMS;
        b->keys[slot] = keys[i];
#if VALUE_BYTES
        b->values[slot] = v[i];
#endif
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
                              struct NAME(buffers) * buffers)
{
    t->buffers = buffers;
    t->keys = s->keys_dst;
    t->phase = (uintptr_t)s->keys_dst / KEY_BYTES % ITEMS;
    t->stream_keys = s->stream && ITEMS * KEY_BYTES % LINE == 0;
    t->stream_values = false;
#if VALUE_BYTES
    t->values = s->values_dst;
    t->stream_values = s->stream && ITEMS * VALUE_BYTES % LINE == 0 &&
                       ((uintptr_t)s->values_dst - t->phase * VALUE_BYTES) % LINE == 0;
#endif
    for (size_t bin = 0; bin < BINS; bin++)
        t->begin[bin] = t->next[bin] = (size_t)s->places[part][bin] + t->phase;
}

/* Values of a block that starts at item i: from the source, or the indices themselves. */
static inline const void *NAME(values_at)(const struct sort *s, size_t i, size_t n, void *room)
{
#if VALUE_BYTES == 4 || VALUE_BYTES == 8
    if (!s->values_src) {
        VALUE *v = room;
        for (size_t k = 0; k < n; k++)
            v[k] = (VALUE)(i + k);
        return v;
    }
#endif
    (void)n;
    (void)room;
#if VALUE_BYTES
    return (const char *)s->values_src + i * VALUE_BYTES;
#else
    (void)s;
    (void)i;
    return NULL;
#endif
}

static void NAME(move)(void *arg, size_t part)
{
    const struct sort *s = arg;
    size_t end = part_begin(s->c, part + 1);
    uint8_t digits[BLOCK];
    uint64_t indices[VALUE_BYTES == 4 || VALUE_BYTES == 8 ? BLOCK : 1];
    struct NAME(target) target;
    void *room = room_open(s->c);
    _Static_assert(sizeof(struct NAME(buffers)) <= GPI_RADIX_ROOM_BYTES(KEY_BYTES, VALUE_BYTES),
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
    store_fence();
    gpi_radixsort_room_give(&s->c->rooms, room);
}

#undef NAME
#undef VALUE
#undef ITEMS
#undef VALUE_BYTES
