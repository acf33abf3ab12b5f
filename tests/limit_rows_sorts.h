/* SPDX-License-Identifier: MIT */
/* Limits of sorts: bits compared, numbers of items, of segments, of bits of rows and columns, k. */
#ifndef GP_TEST_LIMITS_SORTS_H
#define GP_TEST_LIMITS_SORTS_H

#include <gp/gp.h>

#include "limit_rows.h"
#include "radixsort_oracle.h"

/* What is sorted: keys, which stand in segments of a length, compared in some bits
 * of their words. */
struct sort_case {
    gp_dtype dtype;
    size_t n;       /* the argument of the call */
    size_t room;    /* items that there are */
    size_t segment; /* length of a segment; the last ones may be shorter, or empty */
    size_t segments;
    int begin, end; /* as in the options */
    gp_order order;
    bool same; /* integers: keys differ in none of the bits compared, nor in the one below */
};

/* The bits that are compared, one by one. */
static uint64_t sort_mask(const struct sort_case *c)
{
    int width = 8 * (int)gp_dtype_bytes(c->dtype), end = c->end ? c->end : width;
    uint64_t mask = 0;
    for (int b = 0; b < width; b++)
        mask |= b >= c->begin && b < end ? (uint64_t)1 << b : 0;
    return mask;
}

static uint64_t sort_word(const struct sort_case *c, const void *keys, size_t i, uint64_t mask)
{
    uint64_t word = oracle_word(c->dtype, keys, i) & mask;
    return c->order == GP_DESCENDING ? mask - word : word;
}

/* A stable sort gives positions of which each is that of the key beside it, and neighbours rise by
 * segment, word and position: then they are all positions, each once. */
static void sort_check(const struct sort_case *c, const void *before, const void *keys,
                       const uint32_t *positions)
{
    size_t bytes = gp_dtype_bytes(c->dtype), left = 0;
    uint64_t mask = sort_mask(c), last = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t at = positions[i];
        bool beside = at < c->n && (!keys || memcmp((const char *)keys + i * bytes,
                                                    (const char *)before + at * bytes, bytes) == 0);
        uint64_t word = beside ? sort_word(c, before, at, mask) : 0;
        bool rises = i == 0                                 ? true
                     : at / c->segment != left / c->segment ? at > left
                     : word != last                         ? word > last
                                                            : at > left;
        if (!beside || !rises)
            ck_abort_msg("%s: wrong at item %zu of %zu", limit_now, i, c->n);
        last = word;
        left = at;
    }
}

/* Keys alone: the order of equal floats is not specified where all bits are compared. */
static void sort_check_alone(const struct sort_case *c, const t_array *out, const void *expected)
{
    size_t bytes = c->n * gp_dtype_bytes(c->dtype);
    void *keys = t_host(bytes);
    t_get(out, keys, bytes);
    t_same(limit_now, c->dtype, expected, keys, c->n);
    t_check_guards(out);
    free(keys);
}

struct sort_arrays {
    t_array keys, positions, offsets, keys_out, positions_out, alone, order;
    void *before;
};

static struct sort_arrays sort_arrays_new(const struct sort_case *c)
{
    size_t bytes = gp_dtype_bytes(c->dtype), n = c->room;
    uint64_t *x = limit_numbers(n, 0, c->room + bytes), *p = limit_positions(n);
    uint64_t *offsets = limit_positions(c->segments + 1);
    struct sort_arrays a;
    for (size_t i = 0; c->same && i < n; i++)
        x[i] &= ~(sort_mask(c) | sort_mask(c) >> 1);
    a.before = limit_narrow(x, n, bytes);
    for (size_t s = 0; s <= c->segments; s++)
        offsets[s] = s * c->segment < n ? s * c->segment : n;
    a.keys = limit_array(x, n, bytes);
    a.positions = limit_array(p, n, 4);
    a.offsets = limit_array(offsets, c->segments + 1, 8);
    free(offsets);
    a.keys_out = t_new(n * bytes, 0);
    a.positions_out = t_new(n * 4, 0);
    a.alone = t_new(n * bytes, 0);
    a.order = t_new(n * 4, 0);
    free(x), free(p);
    return a;
}

static void sort_arrays_check(const struct sort_case *c, const struct sort_arrays *a, bool order)
{
    size_t bytes = c->n * gp_dtype_bytes(c->dtype);
    void *keys = t_host(bytes);
    uint32_t *positions = t_host(c->n * 4);
    t_get(&a->keys_out, keys, bytes);
    t_get(&a->positions_out, positions, c->n * 4);
    sort_check(c, a->before, keys, positions);
    sort_check_alone(c, &a->alone, keys);
    if (order) {
        t_get(&a->order, positions, c->n * 4);
        sort_check(c, a->before, NULL, positions);
    }
    t_check_guards(&a->keys_out);
    t_check_guards(&a->positions_out);
    t_check_guards(&a->order);
    free(keys), free(positions);
}

static void sort_arrays_end(gp_status s, const struct sort_case *c, struct sort_arrays *a,
                            bool order)
{
    t_array *all[] = {&a->keys,          &a->positions, &a->offsets, &a->keys_out,
                      &a->positions_out, &a->alone,     &a->order};
    if (s == GP_OK)
        sort_arrays_check(c, a, order);
    for (int i = 3; s != GP_OK && i < 7; i++)
        t_check_untouched(all[i]);
    for (int i = 0; i < 7; i++)
        t_free(all[i]);
    free(a->before);
}

static gp_radix_sort_options sort_options(const struct sort_case *c)
{
    gp_radix_sort_options o = GP_RADIX_SORT_OPTIONS_INIT;
    o.order = c->order;
    o.begin_bit = c->begin;
    o.end_bit = c->end;
    return o;
}

/* Pairs, keys alone and the order, of one array. */
static gp_status sort_try(struct sort_case c)
{
    gp_radix_sort_options o = sort_options(&c);
    gp_dtype index = c.n > UINT32_MAX ? GP_U64 : GP_U32;
    c.segment = c.room ? c.room : 1;
    struct sort_arrays a = sort_arrays_new(&c);
    gp_status s = gp_radix_sort_pairs(t_ctx(), c.dtype, a.keys.data, 4, a.positions.data, c.n,
                                      a.keys_out.data, a.positions_out.data, &o);
    limit_both(s, gp_radix_sort(t_ctx(), c.dtype, a.keys.data, c.n, a.alone.data, &o));
    limit_both(s, gp_argsort(t_ctx(), c.dtype, a.keys.data, c.n, index, a.order.data, &o));
    sort_arrays_end(s, &c, &a, true);
    return s;
}

static gp_status sort_try_segments(struct sort_case c, uint64_t num_segments)
{
    gp_radix_sort_options o = sort_options(&c);
    struct sort_arrays a = sort_arrays_new(&c);
    gp_status s = gp_radix_sort_segmented_pairs(t_ctx(), c.dtype, a.keys.data, 4, a.positions.data,
                                                c.n, GP_U64, a.offsets.data, num_segments,
                                                a.keys_out.data, a.positions_out.data, &o);
    limit_both(s, gp_radix_sort_segmented(t_ctx(), c.dtype, a.keys.data, c.n, GP_U64,
                                          a.offsets.data, num_segments, a.alone.data, &o));
    sort_arrays_end(s, &c, &a, false);
    return s;
}

/* Few items, such that fit a cache with narrow and with wide digits, and more; these also with keys
 * that differ in other bits only. */
static gp_status sort_try_bits(const struct limit *l, int begin, int end)
{
    static const size_t sizes[] = {100, 1000, 3000, 132000, 132000};
    gp_status s = GP_OK;
    for (int i = 0; i < 5; i++) {
        struct sort_case c = {.dtype = l->dtype, .n = sizes[i], .room = sizes[i]};
        c.begin = begin;
        c.end = end;
        c.order = i % 2 ? GP_DESCENDING : GP_ASCENDING;
        c.same = i == 4;
        s = sort_try(c);
        c.segment = sizes[i] / 3 + 1;
        c.segments = 3;
        if (i < 3)
            limit_both(s, sort_try_segments(c, 3));
    }
    return s;
}

/* with: the end bit. */
static gp_status run_begin_bit(const struct limit *l, uint64_t value)
{
    return sort_try_bits(l, (int)value, (int)l->with);
}

/* with: the begin bit. */
static gp_status run_end_bit(const struct limit *l, uint64_t value)
{
    return sort_try_bits(l, (int)l->with, (int)value);
}

static gp_status run_sort_n(const struct limit *l, uint64_t value)
{
    struct sort_case c = {.dtype = l->dtype, .n = value, .room = limit_room(l, value)};
    c.order = value % 2 ? GP_DESCENDING : GP_ASCENDING;
    return sort_try(c);
}

/* with: the bytes of an index. */
static gp_status run_argsort_n(const struct limit *l, uint64_t value)
{
    size_t room = limit_room(l, value);
    uint64_t *x = limit_positions(room);
    t_array keys = limit_array(x, room, 1), out = t_new(room * l->with, 0);
    gp_status s = gp_argsort(t_ctx(), GP_U8, keys.data, value, l->with == 4 ? GP_U32 : GP_U64,
                             out.data, NULL);
    void *expected = limit_narrow(x, room, l->with); /* of fewer than 257 */
    limit_output(s, &out, expected, room * l->with);
    t_free(&keys);
    free(x), free(expected);
    return s;
}

/* with: the number of items beside the segment of that length. */
static gp_status run_segment_length(const struct limit *l, uint64_t value)
{
    struct sort_case c = {.dtype = l->dtype, .n = value + l->with, .segment = value};
    c.room = c.n;
    c.segments = (c.n + value - 1) / value;
    return sort_try_segments(c, c.segments);
}

/* with: the items, in a segment if there is one. */
static gp_status run_num_segments(const struct limit *l, uint64_t value)
{
    struct sort_case c = {.dtype = l->dtype, .n = l->with, .room = l->with};
    c.segments = limit_room(l, value);
    c.segment = c.segments ? l->with / c.segments + 1 : 1;
    return sort_try_segments(c, value);
}

/* ---- top-k ----------------------------------------------------------------------------------- */

/* The k positions rise by word and position, and all others come after. */
static void topk_check(const struct sort_case *c, const void *before, const void *keys,
                       const uint32_t *positions, size_t k)
{
    size_t bytes = gp_dtype_bytes(c->dtype), last_at = 0;
    uint64_t mask = sort_mask(c), last = 0;
    bool *in = t_host(c->n);
    memset(in, 0, c->n);
    for (size_t j = 0; j < k; j++) {
        size_t at = positions[j];
        if (at >= c->n ||
            memcmp((const char *)keys + j * bytes, (const char *)before + at * bytes, bytes) != 0)
            ck_abort_msg("%s: position %zu", limit_now, j);
        uint64_t word = sort_word(c, before, at, mask);
        if (j && (word < last || (word == last && at <= last_at)))
            ck_abort_msg("%s: item %zu", limit_now, j);
        last = word;
        last_at = at;
        in[at] = true;
    }
    for (size_t i = 0; k && i < c->n; i++) {
        uint64_t word = sort_word(c, before, i, mask);
        if (!in[i] && (word < last || (word == last && i < last_at)))
            ck_abort_msg("%s: item %zu is left out", limit_now, i);
    }
    free(in);
}

/* with: the number of keys. */
static gp_status run_top_k(const struct limit *l, uint64_t value)
{
    struct sort_case c = {.dtype = l->dtype, .n = l->with, .order = (gp_order)(value % 2)};
    size_t bytes = gp_dtype_bytes(l->dtype), k = limit_room(l, value);
    uint64_t *x = limit_numbers(c.n, 0, value);
    void *before = limit_narrow(x, c.n, bytes), *keys = t_host(k * bytes);
    uint32_t *positions = t_host(k * 4);
    t_array in = limit_array(x, c.n, bytes), out = t_new(k * bytes, 0), index = t_new(k * 4, 0);
    gp_status s =
        gp_top_k(t_ctx(), l->dtype, c.order, in.data, c.n, value, out.data, GP_U32, index.data);
    if (s == GP_OK) {
        t_get(&out, keys, k * bytes);
        t_get(&index, positions, k * 4);
        topk_check(&c, before, keys, positions, k);
    }
    limit_output(s, &out, keys, k * bytes);
    limit_output(s, &index, positions, k * 4);
    t_free(&in);
    free(x), free(before), free(keys), free(positions);
    return s;
}

/* ---- rows and columns ------------------------------------------------------------------------ */

static void lex_check(const uint64_t *rows, const uint64_t *cols, const uint32_t *positions,
                      size_t n)
{
    for (size_t i = 0, left = 0; i < n; i++) {
        size_t at = positions[i];
        bool rises = at < n && (i == 0                   ? true
                                : rows[at] != rows[left] ? rows[at] > rows[left]
                                : cols[at] != cols[left] ? cols[at] > cols[left]
                                                         : at > left);
        if (!rises)
            ck_abort_msg("%s: wrong at item %zu of %zu", limit_now, i, n);
        left = at;
    }
}

struct lex_arrays {
    t_array rows, cols, values, order, rows_out, cols_out, values_out;
};

static void lex_finish(struct lex_arrays *a, size_t bytes, const uint64_t *rows,
                       const uint64_t *cols, size_t n)
{
    uint32_t *order = t_host(n * 4);
    uint64_t *picked = t_host(n * 8);
    t_get(&a->order, order, n * 4);
    lex_check(rows, cols, order, n);
    limit_output(GP_OK, &a->values_out, order, n * 4);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < n; i++)
            picked[i] = (side ? cols : rows)[order[i]];
        void *expected = limit_narrow(picked, n, bytes);
        limit_output(GP_OK, side ? &a->cols_out : &a->rows_out, expected, n * bytes);
        free(expected);
    }
    t_check_guards(&a->order);
    free(order), free(picked);
}

static uint64_t lex_bound(int bits, size_t bytes)
{
    return bits > 0 && bits < 8 * (int)bytes ? (uint64_t)1 << bits
           : bytes == 4                      ? (uint64_t)1 << 32
                                             : 0;
}

static gp_status lex_try(gp_dtype dtype, uint64_t n, size_t room, int row_bits, int col_bits)
{
    size_t bytes = gp_dtype_bytes(dtype);
    uint64_t *r = limit_numbers(room, lex_bound(row_bits, bytes), 1), *p = limit_positions(room);
    uint64_t *c = limit_numbers(room, lex_bound(col_bits, bytes), 2);
    gp_lexsort_options o = GP_LEXSORT_OPTIONS_INIT;
    struct lex_arrays a = {limit_array(r, room, bytes), limit_array(c, room, bytes),
                           limit_array(p, room, 4),     t_new(room * 4, 0),
                           t_new(room * bytes, 0),      t_new(room * bytes, 0),
                           t_new(room * 4, 0)};
    o.row_bits = row_bits;
    o.col_bits = col_bits;
    gp_status s = gp_lexsort_pairs(t_ctx(), dtype, a.rows.data, a.cols.data, 4, a.values.data, n,
                                   a.rows_out.data, a.cols_out.data, a.values_out.data, &o);
    gp_dtype index = n > UINT32_MAX ? GP_U64 : GP_U32;
    limit_both(s, gp_lexsort(t_ctx(), dtype, a.rows.data, a.cols.data, n, index, a.order.data, &o));
    if (s == GP_OK) {
        lex_finish(&a, bytes, r, c, room);
    } else {
        limit_output(s, &a.rows_out, NULL, 0);
        limit_output(s, &a.cols_out, NULL, 0);
        limit_output(s, &a.values_out, NULL, 0);
        t_check_untouched(&a.order);
    }
    t_free(&a.rows), t_free(&a.cols), t_free(&a.values), t_free(&a.order);
    free(r), free(c), free(p);
    return s;
}

static gp_status run_lexsort_n(const struct limit *l, uint64_t value)
{
    return lex_try(l->dtype, value, limit_room(l, value), 20, 20);
}

static gp_status run_row_bits(const struct limit *l, uint64_t value)
{
    return lex_try(l->dtype, 3000, 3000, (int)value, (int)l->with);
}

static gp_status run_col_bits(const struct limit *l, uint64_t value)
{
    return lex_try(l->dtype, 3000, 3000, (int)l->with, (int)value);
}

/* The value is the sum of row and column bits, shared out in every way that differs. */
static gp_status run_lexsort_bits(const struct limit *l, uint64_t value)
{
    int width = 8 * (int)gp_dtype_bytes(l->dtype), sum = (int)value;
    int least = sum > width ? sum - width : 1, most = sum - 1 < width ? sum - 1 : width;
    int shares[] = {least, (least + most) / 2, most};
    for (int i = 0; i < 3; i++) {
        gp_status s = lex_try(l->dtype, 5000, 5000, shares[i], sum - shares[i]);
        if (s != GP_OK)
            return s;
    }
    return GP_OK;
}

#endif
