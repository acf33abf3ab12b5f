/* SPDX-License-Identifier: MIT */
/* Limits of numbers of items, segments, shares and of sums of counts. */
#ifndef GP_TEST_LIMITS_SIZES_H
#define GP_TEST_LIMITS_SIZES_H

#include <gp/gp.h>

#include "limit_rows.h"

/* ---- scans, reductions, compaction ----------------------------------------------------------- */

/* What a scan of u32 by segments of a length gives: the number of the item in its segment, as all
 * items are 1. */
static void *scan_expected(size_t n, size_t segment)
{
    uint32_t *expected = t_host(n * 4);
    for (size_t i = 0; i < n; i++)
        expected[i] = (uint32_t)(i % segment) + 1;
    return expected;
}

static t_array ones_new(size_t n)
{
    uint32_t *ones = t_host(n * 4);
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    t_array a = t_new_from(ones, n * 4, 0);
    free(ones);
    return a;
}

/* with: which scan. */
enum { SCAN_PLAIN, SCAN_SEGMENTED, SCAN_FLAGGED, SCAN_BY_KEY, SCAN_ROWS };
enum { SCAN_SEGMENT = 100 };

static gp_status scan_call(uint64_t which, uint64_t n, const t_array *in, const t_array *about,
                           size_t num_segments, uint64_t key_bytes, void *out)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    d.in_dtype = d.out_dtype = GP_U32;
    switch (which) {
    case SCAN_SEGMENTED:
        return gp_scan_segmented(t_ctx(), &d, in->data, n, GP_U64, about->data, num_segments, out);
    case SCAN_FLAGGED:
        return gp_scan_flagged(t_ctx(), &d, in->data, about->data, n, out);
    case SCAN_BY_KEY:
        return gp_scan_by_key(t_ctx(), &d, key_bytes, about->data, in->data, n, out);
    default:
        return gp_scan_inclusive(t_ctx(), GP_U32, GP_SUM, in->data, n, out);
    }
}

static gp_status scan_try(uint64_t which, uint64_t n, size_t room, uint64_t key_bytes)
{
    size_t segments = room / SCAN_SEGMENT + 1, bytes = key_bytes < 8 ? (size_t)key_bytes : 8;
    uint64_t *about = limit_positions(room + segments + 1);
    for (size_t i = 0; i < room + segments + 1; i++) {
        uint64_t offset = i * SCAN_SEGMENT < room ? i * SCAN_SEGMENT : room;
        about[i] = which == SCAN_SEGMENTED ? offset
                   : which == SCAN_FLAGGED ? i % SCAN_SEGMENT == 0
                                           : i / SCAN_SEGMENT % 2;
    }
    t_array in = ones_new(room), out = t_new(room * 4, 0);
    t_array a = which == SCAN_SEGMENTED ? limit_array(about, segments + 1, 8)
                : which == SCAN_FLAGGED ? limit_array(about, room, 1)
                                        : limit_array(about, room, bytes);
    gp_status s = scan_call(which, n, &in, &a, segments, key_bytes, out.data);
    void *expected = scan_expected(room, which == SCAN_PLAIN ? room + 1 : SCAN_SEGMENT);
    limit_output(s, &out, expected, room * 4);
    t_free(&in), t_free(&a);
    free(about), free(expected);
    return s;
}

static gp_status run_scan_n(const struct limit *l, uint64_t value)
{
    return scan_try(l->with, value, limit_room(l, value), 4);
}

static gp_status run_key_bytes(const struct limit *l, uint64_t value)
{
    (void)l;
    return scan_try(SCAN_BY_KEY, 5000, 5000, value);
}

/* Differences of the numbers up to n, which are all one. */
static gp_status run_difference(const struct limit *l, uint64_t value)
{
    const size_t n = limit_room(l, value);
    uint64_t *numbers = limit_positions(n + 1);
    t_array in = t_new_from(numbers, n * 8, 0), out = t_new(n * 8, 0);
    gp_status s = gp_adjacent_difference(t_ctx(), GP_U64, in.data, value, out.data);
    for (size_t i = n; i-- > 1;)
        numbers[i] -= numbers[i - 1];
    limit_output(s, &out, numbers, n * 8);
    t_free(&in);
    free(numbers);
    return s;
}

/* Doubles of the small numbers below n, or the sum of their squares (with: 1). */
static gp_status run_vector(const struct limit *l, uint64_t value)
{
    const size_t n = limit_room(l, value);
    gp_vector_desc d = GP_VECTOR_DESC_INIT;
    d.dtype = GP_F64;
    double *x = t_host((n + 1) * 8), two = 2, squares = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)(i % 8);
        squares += x[i] * x[i];
    }
    t_array in = t_new_from(x, n * 8, 0), out = t_new((l->with ? 1 : n) * 8, 0);
    gp_status s = l->with ? gp_vector_dot(t_ctx(), &d, in.data, in.data, value, out.data)
                          : gp_vector_scale(t_ctx(), &d, &two, in.data, value, out.data);
    for (size_t i = 0; i < n; i++)
        x[i] *= 2;
    limit_output(s, &out, l->with ? &squares : x, (l->with ? 1 : n) * 8);
    t_free(&in);
    free(x);
    return s;
}

/* Sums of n ones in rows, or segments, of SUMS_SEGMENT. with: rows; the value is their number. */
enum { SUMS_SEGMENT = 100 };

static gp_status run_sums(const struct limit *l, uint64_t value)
{
    const bool rows = l->with;
    const size_t room = limit_room(l, value), n = rows ? room * SUMS_SEGMENT : room;
    const size_t segments = rows ? room : room / SUMS_SEGMENT + 1;
    gp_reduce_segmented_desc d = GP_REDUCE_SEGMENTED_DESC_INIT;
    uint64_t *about = limit_positions(segments + 1);
    uint32_t *expected = t_host(segments * 4 + 4);
    for (size_t s = 0; s <= segments; s++) {
        about[s] = s * SUMS_SEGMENT < n ? s * SUMS_SEGMENT : n;
        if (s)
            expected[s - 1] = (uint32_t)(about[s] - about[s - 1]);
    }
    t_array in = ones_new(n), a = limit_array(about, segments + 1, 8), out = t_new(segments * 4, 0);
    d.in_dtype = GP_U32;
    d.offset_dtype = rows ? (gp_dtype)0 : GP_U64;
    gp_status s =
        rows ? gp_reduce_rows(t_ctx(), &d, in.data, value, SUMS_SEGMENT, out.data)
             : gp_reduce_segmented(t_ctx(), &d, in.data, value, a.data, segments, out.data);
    limit_output(s, &out, expected, segments * 4);
    t_free(&in), t_free(&a);
    free(about), free(expected);
    return s;
}

/* with: the rows. */
static gp_status run_row_length(const struct limit *l, uint64_t value)
{
    gp_scan_desc d = GP_SCAN_DESC_INIT;
    size_t length = limit_room(l, value), n = limit_tries(l, value) ? length * l->with : 8;
    d.in_dtype = d.out_dtype = GP_U32;
    t_array in = ones_new(n), out = t_new(n * 4, 0);
    gp_status s = gp_scan_rows(t_ctx(), &d, in.data, l->with, value, out.data);
    void *expected = scan_expected(n, length ? length : 1);
    limit_output(s, &out, expected, n * 4);
    t_free(&in);
    free(expected);
    return s;
}

/* Sum, and the place of the least item, which is the last of the smallest half. */
static gp_status run_reduce_n(const struct limit *l, uint64_t value)
{
    size_t n = limit_room(l, value);
    uint32_t *x = t_host(n * 4), sum = 0, least = UINT32_MAX;
    uint64_t place = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        x[i] = 7 + (uint32_t)((i * 2654435761u) % 1000003) * (i + 1 != n);
        sum += x[i];
        if (x[i] < least) {
            least = x[i];
            place = i;
        }
    }
    t_array in = t_new_from(x, n * 4, 0), out = t_new(4, 0), out_least = t_new(4, 0);
    t_array index = t_new(8, 0);
    gp_status s = gp_reduce(t_ctx(), GP_U32, GP_SUM, in.data, value, out.data);
    limit_both(s, gp_argmin(t_ctx(), GP_U32, in.data, value, out_least.data, index.data));
    limit_output(s, &out, &sum, 4);
    limit_output(s, &out_least, &least, 4);
    limit_output(s, &index, &place, 8);
    t_free(&in);
    free(x);
    return s;
}

/* Positions of two of three flags. with: the bytes of an index. */
static gp_status run_compact_n(const struct limit *l, uint64_t value)
{
    size_t n = limit_room(l, value);
    uint64_t *flags = limit_positions(n), *kept = t_host(n * 8), count = 0;
    for (size_t i = 0; i < n; i++) {
        flags[i] = i % 3 ? 1 : 0;
        if (flags[i])
            kept[count++] = i;
    }
    t_array keep = limit_array(flags, n, 1), out = t_new(n * l->with, 0), number = t_new(8, 0);
    gp_status s = gp_compact_indices(t_ctx(), l->with == 4 ? GP_U32 : GP_U64, keep.data, value,
                                     out.data, number.data);
    void *narrow = limit_narrow(kept, count, l->with);
    limit_output(s, &out, narrow, count * l->with);
    limit_output(s, &number, &count, 8);
    t_free(&keep);
    free(flags), free(kept), free(narrow);
    return s;
}

/* with: the items, of which all are kept; items without room are reported by the next synchronize.
 * Where the room ends the other arrays begin. */
static gp_status run_compact_capacity(const struct limit *l, uint64_t value)
{
    size_t n = l->with, room = value == 0 || value > n ? n : value,
           rest = (room * 4 + 15) / 16 * 16;
    gp_compact_desc d = GP_COMPACT_DESC_INIT;
    uint64_t count = n, *flags = limit_positions(n);
    for (size_t i = 0; i < n; i++)
        flags[i] = 1;
    t_array in = ones_new(n), keep = limit_array(flags, n, 1), all = t_new(rest + 8, 0);
    char *number = (char *)all.data + rest, *expected = t_host(rest + 8);
    void *ones = scan_expected(room, 1);
    d.item_bytes = 4;
    d.capacity = value;
    gp_status s =
        gp_compact_by(t_ctx(), &d, in.data, keep.data, n, all.data, (uint64_t *)(void *)number);
    T_STATUS(room < n ? GP_ERROR_CAPACITY : GP_OK, gp_context_synchronize(t_ctx()));
    memset(expected, T_POISON, rest + 8);
    memcpy(expected, ones, room * 4);
    memcpy(expected + rest, &count, 8);
    limit_output(s, &all, expected, rest + 8);
    t_free(&in), t_free(&keep);
    free(ones), free(expected), free(flags);
    return s;
}

/* ---- merge, search --------------------------------------------------------------------------- */

/* with: the items of b, which are the same as the first ones of a. */
static gp_status run_merge_n(const struct limit *l, uint64_t value)
{
    size_t num_a = limit_room(l, value), num_b = l->with, n = num_a + num_b;
    uint64_t *a = limit_positions(n), *merged = t_host(n * 8);
    for (size_t i = 0, k = 0, j = 0; k < n; k++)
        merged[k] = j == num_b || (i < num_a && a[i] <= a[j]) ? a[i++] : a[j++];
    t_array ka = limit_array(a, num_a, 4), kb = limit_array(a, num_b, 4), out = t_new(n * 4, 0);
    gp_status s = gp_merge(t_ctx(), GP_U32, GP_ASCENDING, ka.data, value, kb.data, num_b, out.data);
    void *narrow = limit_narrow(merged, n, 4);
    limit_output(s, &out, narrow, n * 4);
    t_free(&ka), t_free(&kb);
    free(a), free(merged), free(narrow);
    return s;
}

/* Numbers in an array of every third number. with: the needles, or if 0 the value is the needles
 * and the array has 1000 items. dtype: of the indices. */
static gp_status run_bound(const struct limit *l, uint64_t value)
{
    size_t given = limit_room(l, value), n = l->with ? given : 1000, m = l->with ? l->with : given;
    size_t index = gp_dtype_bytes(l->dtype);
    uint64_t *sorted = limit_positions(n), *needles = limit_positions(m), *places = t_host(m * 8);
    for (size_t i = 0; i < n; i++)
        sorted[i] = 3 * i;
    for (size_t j = 0; j < m; j++) {
        needles[j] = j * 17 % (3 * n + 5);
        places[j] = (needles[j] + 2) / 3 < n ? (needles[j] + 2) / 3 : n;
    }
    t_array a = limit_array(sorted, n, 4), b = limit_array(needles, m, 4);
    t_array out = t_new(m * index, 0);
    gp_status s = gp_lower_bound(t_ctx(), GP_U32, a.data, l->with ? value : n, b.data,
                                 l->with ? m : value, l->dtype, out.data);
    void *narrow = limit_narrow(places, m, index);
    limit_output(s, &out, narrow, m * index);
    t_free(&a), t_free(&b);
    free(sorted), free(needles), free(places), free(narrow);
    return s;
}

/* ---- segments and shares --------------------------------------------------------------------- */

/* Segments of 0, 1, 2, 3, 0, 1, .. items, the last as long as it takes. dtype: of the offsets. */
static uint64_t *offsets_new(size_t segments, size_t items)
{
    uint64_t *offsets = t_host((segments + 1) * 8);
    offsets[0] = 0;
    for (size_t s = 1; s <= segments; s++) {
        uint64_t end = offsets[s - 1] + (s - 1) % 4;
        offsets[s] = s == segments || end > items ? items : end;
    }
    return offsets;
}

static gp_status search_try(const struct limit *l, uint64_t num_segments, size_t segments,
                            uint64_t num_items, size_t items)
{
    size_t bytes = gp_dtype_bytes(l->dtype);
    uint64_t *offsets = offsets_new(segments, items), *found = t_host(items * 8);
    for (size_t s = 0; s < segments; s++)
        for (uint64_t i = offsets[s]; i < offsets[s + 1]; i++)
            found[i] = s;
    t_array o = limit_array(offsets, segments + 1, bytes), out = t_new(items * bytes, 0);
    gp_status s = gp_balance_search(t_ctx(), l->dtype, o.data, num_segments, num_items, l->dtype,
                                    out.data, NULL);
    void *narrow = limit_narrow(found, items, bytes);
    limit_output(s, &out, narrow, items * bytes);
    t_free(&o);
    free(offsets), free(found), free(narrow);
    return s;
}

/* with: the segments. */
static gp_status run_search_items(const struct limit *l, uint64_t value)
{
    return search_try(l, l->with, l->with, value, limit_room(l, value));
}

/* with: the items. */
static gp_status run_search_segments(const struct limit *l, uint64_t value)
{
    return search_try(l, value, limit_room(l, value), l->with, l->with);
}

/* with: the rows, of three entries each. */
static gp_status run_parts(const struct limit *l, uint64_t value)
{
    size_t rows = l->with, parts = limit_room(l, value), bytes = gp_dtype_bytes(l->dtype);
    uint64_t *pointers = limit_positions(rows + 1), row = 0, entry = 0;
    uint64_t *row_starts = t_host((parts + 1) * 8), *entry_starts = t_host((parts + 1) * 8);
    uint64_t steps = 4 * rows, share = (steps + parts - 1) / parts;
    for (size_t r = 0; r <= rows; r++)
        pointers[r] = 3 * r;
    for (size_t p = 0; p <= parts; p++) { /* an entry if the row has one left, otherwise its end */
        for (; row + entry < steps && row + entry < p * share;
             entry < pointers[row + 1] ? entry++ : row++)
            ;
        row_starts[p] = row;
        entry_starts[p] = entry;
    }
    t_array in = limit_array(pointers, rows + 1, bytes);
    t_array r = t_new((parts + 1) * bytes, 0), e = t_new((parts + 1) * bytes, 0);
    gp_status s =
        gp_merge_path_partition(t_ctx(), l->dtype, in.data, rows, 3 * rows, value, r.data, e.data);
    void *narrow_r = limit_narrow(row_starts, parts + 1, bytes);
    void *narrow_e = limit_narrow(entry_starts, parts + 1, bytes);
    limit_output(s, &r, narrow_r, (parts + 1) * bytes);
    limit_output(s, &e, narrow_e, (parts + 1) * bytes);
    t_free(&in);
    free(pointers), free(row_starts), free(entry_starts), free(narrow_r), free(narrow_e);
    return s;
}

/* The value is the bits of the sum of the counts, most of which is in the second one; empty
 * segments follow. with: the room for items, which all are of the first two segments. */
static gp_status run_sum_of_counts(const struct limit *l, uint64_t value)
{
    enum { SEGMENTS = 100000, FIRST = 50 };
    size_t room = l->with;
    uint64_t *counts = limit_positions(SEGMENTS), *items = limit_positions(SEGMENTS);
    uint64_t sum = value < 64 ? (uint64_t)1 << value : UINT64_MAX;
    uint32_t *expected = t_host(room * 4);
    for (size_t i = 0; i < SEGMENTS; i++)
        counts[i] = i == 0 ? FIRST : i == 1 ? sum - FIRST - 1 : i == 1000;
    for (size_t i = 0; i < room; i++)
        expected[i] = i < FIRST ? 0 : 1;
    t_array in = limit_array(items, SEGMENTS, 4), c = limit_array(counts, SEGMENTS, 8);
    t_array out = t_new(room * 4, 0), out_sum = t_new(8, 0);
    gp_status s = gp_expand_counts(t_ctx(), 4, in.data, GP_U64, c.data, SEGMENTS, room, out.data,
                                   out_sum.data);
    T_STATUS(GP_ERROR_CAPACITY, gp_context_synchronize(t_ctx()));
    limit_output(s, &out, expected, room * 4);
    limit_output(s, &out_sum, &sum, 8);
    t_free(&in), t_free(&c);
    free(counts), free(items), free(expected);
    return s;
}

#endif
