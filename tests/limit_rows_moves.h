/* SPDX-License-Identifier: MIT */
/* Limits of the bytes of an item or value: 1 to 65536, by every call that moves some. */
#ifndef GP_TEST_LIMITS_MOVES_H
#define GP_TEST_LIMITS_MOVES_H

#include <gp/gp.h>

#include "compact_check.h"
#include "limit_rows.h"

/* A prime, so that keys 37 i modulo it are the numbers below it, each once. */
enum { MOVES = 53 };

/* Items of `bytes` bytes, of 8 if the call will refuse the number, and the place of each. */
struct moves {
    size_t bytes;
    char *items, *expected;
    uint64_t *keys;
    t_array in, keys_in, out, keys_out;
};

static struct moves moves_new(const struct limit *l, uint64_t bytes)
{
    struct moves m = {.bytes = limit_room(l, bytes)};
    m.items = compact_items(m.bytes, MOVES);
    m.expected = t_host(2 * MOVES * m.bytes);
    m.keys = t_host(MOVES * 8);
    for (size_t i = 0; i < MOVES; i++)
        m.keys[i] = 37 * i % MOVES;
    m.in = t_new_from(m.items, MOVES * m.bytes, 0);
    m.keys_in = limit_array(m.keys, MOVES, 4);
    m.out = t_new(2 * MOVES * m.bytes, 0);
    m.keys_out = t_new(2 * MOVES * 4, 0);
    return m;
}

static void moves_expect(struct moves *m, size_t place, size_t item)
{
    memcpy(m->expected + place * m->bytes, m->items + item * m->bytes, m->bytes);
}

static gp_status moves_end(gp_status s, struct moves *m, size_t count)
{
    limit_output(s, &m->out, m->expected, count * m->bytes);
    if (s != GP_OK)
        t_check_untouched(&m->keys_out);
    t_check_guards(&m->keys_out);
    t_free(&m->in), t_free(&m->keys_in), t_free(&m->keys_out);
    free(m->items), free(m->expected), free(m->keys);
    return s;
}

/* with: 0 for gp_scatter(), 1 for gp_scatter_by(). */
static gp_status run_scatter_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    gp_scatter_desc d = GP_SCATTER_DESC_INIT;
    d.item_bytes = value;
    d.out_items = MOVES;
    d.index_dtype = GP_U32;
    for (size_t i = 0; i < MOVES; i++)
        moves_expect(&m, m.keys[i], i);
    gp_status s =
        l->with ? gp_scatter_by(t_ctx(), &d, m.in.data, m.keys_in.data, MOVES, m.out.data)
                : gp_scatter(t_ctx(), value, m.in.data, GP_U32, m.keys_in.data, MOVES, m.out.data);
    return moves_end(s, &m, MOVES);
}

/* with: 0 for gp_fill(), 1 for gp_fill_by(). */
static gp_status run_fill_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    gp_fill_desc d = GP_FILL_DESC_INIT;
    d.item_bytes = value;
    d.item = m.items + m.bytes;
    for (size_t i = 0; i < MOVES; i++)
        moves_expect(&m, i, 1);
    gp_status s = l->with ? gp_fill_by(t_ctx(), &d, MOVES, m.out.data)
                          : gp_fill(t_ctx(), value, d.item, MOVES, m.out.data);
    return moves_end(s, &m, MOVES);
}

static gp_status run_iota_n(const struct limit *l, uint64_t value)
{
    const size_t n = limit_room(l, value);
    uint64_t *expected = t_host(n * 8);
    t_array out = t_new(n * 8, 0);
    for (size_t i = 0; i < n; i++)
        expected[i] = i;
    gp_status s = gp_iota(t_ctx(), GP_U64, NULL, NULL, value, out.data);
    limit_output(s, &out, expected, n * 8);
    free(expected);
    return s;
}

/* Items of 8 bytes that lie this far apart; 0: packed. */
static gp_status run_gather_stride(const struct limit *l, uint64_t value)
{
    const size_t stride = value ? limit_room(l, value) : 8;
    struct moves m = moves_new(l, 8);
    char *records = t_host((MOVES - 1) * stride + 8);
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = 8;
    d.in_stride = value;
    memset(records, 0, (MOVES - 1) * stride + 8);
    for (size_t i = 0; i < MOVES; i++) {
        memcpy(records + i * stride, m.items + i * 8, 8);
        moves_expect(&m, i, i);
    }
    t_array in = t_new_from(records, (MOVES - 1) * stride + 8, 0);
    gp_status s = gp_gather_by(t_ctx(), &d, in.data, NULL, MOVES, m.out.data);
    t_free(&in);
    free(records);
    return moves_end(s, &m, MOVES);
}

/* with: 0 for gp_gather(), 1 for gp_gather_by(). */
static gp_status run_gather_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = value;
    d.in_items = MOVES;
    d.index_dtype = GP_U32;
    for (size_t i = 0; i < MOVES; i++)
        moves_expect(&m, i, m.keys[i]);
    gp_status s =
        l->with ? gp_gather_by(t_ctx(), &d, m.in.data, m.keys_in.data, MOVES, m.out.data)
                : gp_gather(t_ctx(), value, m.in.data, GP_U32, m.keys_in.data, MOVES, m.out.data);
    return moves_end(s, &m, MOVES);
}

/* The input is the first `value` of MOVES items; 0: all, without a number for the call. */
static gp_status run_gather_items(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, 8); /* of 8 bytes each */
    uint64_t indices[MOVES];
    gp_gather_desc d = GP_GATHER_DESC_INIT;
    d.item_bytes = m.bytes;
    d.in_items = value;
    d.index_dtype = GP_U32;
    for (size_t i = 0; i < MOVES; i++) {
        indices[i] = value ? m.keys[i] % value : m.keys[i];
        moves_expect(&m, i, indices[i]);
    }
    t_array at = limit_array(indices, MOVES, 4);
    gp_status s = gp_gather_by(t_ctx(), &d, m.in.data, at.data, MOVES, m.out.data);
    t_free(&at);
    return moves_end(s, &m, MOVES);
}

/* The value beside key k goes to place k. */
static void moves_expect_sorted(struct moves *m)
{
    for (size_t i = 0; i < MOVES; i++)
        moves_expect(m, m->keys[i], i);
}

static gp_status run_sort_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    moves_expect_sorted(&m);
    gp_status s = gp_radix_sort_pairs(t_ctx(), GP_U32, m.keys_in.data, value, m.in.data, MOVES,
                                      m.keys_out.data, m.out.data, NULL);
    return moves_end(s, &m, MOVES);
}

static gp_status run_segsort_bytes(const struct limit *l, uint64_t value)
{
    static const uint64_t ends[] = {0, MOVES};
    struct moves m = moves_new(l, value);
    t_array offsets = limit_array(ends, 2, 4);
    moves_expect_sorted(&m);
    gp_status s =
        gp_radix_sort_segmented_pairs(t_ctx(), GP_U32, m.keys_in.data, value, m.in.data, MOVES,
                                      GP_U32, offsets.data, 1, m.keys_out.data, m.out.data, NULL);
    t_free(&offsets);
    return moves_end(s, &m, MOVES);
}

/* with: the bits of rows and of columns. 0 bytes: no values. */
static gp_status run_lexsort_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    char *keys_out = m.keys_out.data;
    o.row_bits = o.col_bits = (int)l->with;
    moves_expect_sorted(&m);
    gp_status s =
        gp_lexsort_pairs(t_ctx(), GP_U32, m.keys_in.data, m.keys_in.data, value, m.in.data, MOVES,
                         keys_out, keys_out + MOVES * 4, m.out.data, &o);
    return moves_end(s, &m, MOVES);
}

/* Two runs of numbers that take turns. */
static gp_status run_runs_bytes(const struct limit *l, uint64_t value)
{
    static const uint64_t ends[] = {0, MOVES / 2, MOVES};
    struct moves m = moves_new(l, value);
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    t_array offsets = limit_array(ends, 3, 4);
    d.dtype = d.offset_dtype = GP_U32;
    d.value_bytes = value;
    for (size_t i = 0; i < MOVES; i++) {
        m.keys[i] = i < MOVES / 2 ? 2 * i + 1 : 2 * (i - MOVES / 2);
        moves_expect(&m, m.keys[i], i);
    }
    t_array keys = limit_array(m.keys, MOVES, 4);
    gp_status s = gp_merge_runs(t_ctx(), &d, keys.data, m.in.data, MOVES, offsets.data, 2,
                                m.keys_out.data, m.out.data);
    t_free(&offsets), t_free(&keys);
    return moves_end(s, &m, MOVES);
}

/* Records sorted by their last byte. */
static gp_status run_record_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    d.record_bytes = value;
    d.num_fields = 1;
    d.fields[0] = (gp_record_field){m.bytes - 1, GP_U8, GP_ASCENDING};
    for (size_t i = 0; i < MOVES; i++) {
        m.items[(i + 1) * m.bytes - 1] = (char)m.keys[i];
        moves_expect(&m, m.keys[i], i);
    }
    t_put(&m.in, m.items, MOVES * m.bytes);
    gp_status s = gp_record_sort(t_ctx(), &d, m.in.data, MOVES, m.out.data);
    return moves_end(s, &m, MOVES);
}

/* Numbers of 2 bytes that lie this far apart. */
static gp_status run_part_stride(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, 4);
    const size_t stride = limit_room(l, value) > 1 ? limit_room(l, value) : 2;
    char *records = t_host(MOVES * stride);
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    memset(records, 0, MOVES * stride);
    for (size_t i = 0; i < MOVES; i++) {
        const uint32_t index = (uint32_t)i;
        records[i * stride] = (char)m.keys[i];
        memcpy(m.items + i * 4, &index, 4);
        moves_expect(&m, m.keys[i], i);
    }
    t_array in = t_new_from(records, (MOVES - 1) * stride + 2, 0);
    d.index_dtype = GP_U32;
    d.num_parts = 1;
    d.parts[0] = (gp_key_part){in.data, value, GP_U16, GP_ASCENDING};
    gp_status s = gp_lexsort_by(t_ctx(), &d, MOVES, m.out.data);
    t_free(&in);
    free(records);
    return moves_end(s, &m, MOVES);
}

/* The items beside even keys with those beside odd ones.
 * with: 0 for gp_merge_pairs(), 1 for gp_merge_pairs_by(). */
static gp_status run_merge_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    uint64_t keys[2 * MOVES];
    for (size_t i = 0; i < MOVES; i++) {
        keys[i] = 2 * i;
        keys[MOVES + i] = 2 * i + 1;
        moves_expect(&m, 2 * i, i);
        moves_expect(&m, 2 * i + 1, i);
    }
    t_array a = limit_array(keys, MOVES, 4), b = limit_array(keys + MOVES, MOVES, 4);
    gp_merge_desc d = GP_MERGE_DESC_INIT;
    d.dtype = GP_U32;
    d.value_bytes = value;
    gp_status s =
        l->with ? gp_merge_pairs_by(t_ctx(), &d, a.data, m.in.data, MOVES, b.data, m.in.data, MOVES,
                                    m.keys_out.data, m.out.data)
                : gp_merge_pairs(t_ctx(), GP_U32, GP_ASCENDING, value, a.data, m.in.data, MOVES,
                                 b.data, m.in.data, MOVES, m.keys_out.data, m.out.data);
    t_free(&a), t_free(&b);
    return moves_end(s, &m, 2 * MOVES);
}

/* The one whose key is 0 goes behind room for all. */
static gp_status run_partition_into_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    uint64_t front = 0, counts[2] = {MOVES - 1, 1};
    t_array keep = limit_array(m.keys, MOVES, 1), out_counts = t_new(16, 0);
    for (size_t i = 0; i < MOVES; i++)
        if (m.keys[i])
            moves_expect(&m, front++, i);
    memset(m.expected + front * m.bytes, T_POISON, m.bytes);
    moves_expect(&m, MOVES, 0);
    gp_status s = gp_partition_into(t_ctx(), value, m.in.data, keep.data, MOVES, m.out.data,
                                    (char *)m.out.data + MOVES * m.bytes, out_counts.data);
    limit_output(s, &out_counts, counts, 16);
    t_free(&keep);
    return moves_end(s, &m, MOVES + 1);
}

/* The item whose number is 0 to the first bucket. */
static gp_status run_multisplit_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    uint64_t offsets[3] = {0, 1, MOVES}, numbers[MOVES];
    t_array out_offsets = t_new(sizeof offsets, 0);
    for (size_t i = 0; i < MOVES; i++)
        numbers[i] = m.keys[i] ? 1 : 0;
    for (size_t i = 0; i < MOVES; i++)
        if (!m.keys[i])
            moves_expect(&m, 0, i);
    for (size_t i = 0, to = 1; i < MOVES; i++)
        if (m.keys[i])
            moves_expect(&m, to++, i);
    t_array keep = limit_array(numbers, MOVES, 1);
    gp_status s =
        gp_multisplit(t_ctx(), value, m.in.data, keep.data, MOVES, 2, m.out.data, out_offsets.data);
    limit_output(s, &out_offsets, offsets, sizeof offsets);
    t_free(&keep), t_free(&out_offsets);
    return moves_end(s, &m, MOVES);
}

/* with: 0 for gp_compact(), 1 for gp_partition(). */
static gp_status run_compact_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    uint64_t kept = 0, count = 0;
    t_array keep = limit_array(m.keys, MOVES, 1), out_count = t_new(8, 0);
    for (size_t i = 0; i < MOVES; i++)
        if (m.keys[i])
            moves_expect(&m, kept++, i);
    moves_expect(&m, kept, 0); /* the one whose key is 0 */
    gp_status s = (l->with ? gp_partition : gp_compact)(t_ctx(), value, m.in.data, keep.data, MOVES,
                                                        m.out.data, out_count.data);
    count = kept;
    limit_output(s, &out_count, &count, 8);
    t_free(&keep);
    return moves_end(s, &m, l->with ? MOVES : kept);
}

/* with: 0 for gp_expand(), 1 for gp_expand_counts(). Items come 0, 1, 2, 3, 0, 1, .. times. */
static gp_status run_expand_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    uint64_t counts[MOVES], offsets[MOVES + 1], end = 0;
    for (size_t i = 0; i < MOVES; i++) {
        counts[i] = i % 4;
        offsets[i] = end;
        for (uint64_t k = 0; k < counts[i]; k++)
            moves_expect(&m, end++, i);
    }
    offsets[MOVES] = end;
    t_array o = limit_array(offsets, MOVES + 1, 4), c = limit_array(counts, MOVES, 4);
    t_array out_count = t_new(8, 0);
    gp_status s =
        l->with ? gp_expand_counts(t_ctx(), value, m.in.data, GP_U32, c.data, MOVES, 2 * MOVES,
                                   m.out.data, out_count.data)
                : gp_expand(t_ctx(), value, m.in.data, GP_U32, o.data, MOVES, end, m.out.data);
    limit_output(l->with ? s : GP_ERROR_ARGUMENT, &out_count, &end, 8);
    t_free(&o), t_free(&c);
    return moves_end(s, &m, end);
}

/* Intervals of 0, 1, 2, 3, 0, 1, .. items; where they begin falls. */
static gp_status run_interval_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    uint64_t offsets[MOVES + 1], starts[MOVES], end = 0;
    gp_interval_desc d = GP_INTERVAL_DESC_INIT;
    for (size_t s = 0; s < MOVES; s++) {
        offsets[s] = end;
        starts[s] = MOVES - 4 - s % 40;
        for (uint64_t k = 0; k < s % 4; k++)
            moves_expect(&m, end++, starts[s] + k);
    }
    offsets[MOVES] = end;
    t_array o = limit_array(offsets, MOVES + 1, 4), from = limit_array(starts, MOVES, 4);
    d.item_bytes = value;
    d.in_items = MOVES;
    d.offset_dtype = GP_U32;
    gp_status s =
        gp_copy_intervals(t_ctx(), &d, m.in.data, from.data, o.data, MOVES, end, NULL, m.out.data);
    t_free(&o), t_free(&from);
    return moves_end(s, &m, end);
}

#endif
