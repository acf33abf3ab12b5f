/* SPDX-License-Identifier: MIT */
/* What moves items of segments: expansion, intervals; searches. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"

/* ---- segments -------------------------------------------------------------------------------- */

struct pieces {
    gp_balance_desc d;
    size_t n, count;
    fuzz_array *offsets;
};

/* Segments of few items; index_dtype may be narrower than their numbers. */
static struct pieces pieces_of(fuzz *f, bool repeats, bool indexes)
{
    struct pieces p = {.d = GP_BALANCE_DESC_INIT};
    p.d.size = fuzz_struct(f, sizeof p.d);
    p.d.item_bytes = repeats ? fuzz_item_bytes(f) : (size_t)fuzz_unused(f);
    p.d.offset_dtype = fuzz_dtype(f, FUZZ_INDICES);
    p.d.index_dtype = indexes ? fuzz_dtype(f, FUZZ_INDICES) : (gp_dtype)0;
    p.d.reserved = fuzz_unused(f);
    p.n = fuzz_count(f, repeats && p.d.item_bytes > 8 ? p.d.item_bytes : 8);
    p.count = fuzz_below(f, repeats && p.d.item_bytes > 256 ? 4 : 2048);
    p.offsets = fuzz_offsets(f, p.d.offset_dtype, p.count, p.n, false);
    const bool good = fuzz_offsets_good(p.d.offset_dtype, p.offsets, p.count, p.n, false);
    fuzz_rule(f, good);
    if (!good)
        f->sticky |= FUZZ_BIT(GP_ERROR_DATA);
    return p;
}

/* The segment of item i, for offsets that are good. */
static size_t segment_of(const struct pieces *p, size_t i, size_t from)
{
    const uint64_t first = fuzz_index(p->d.offset_dtype, p->offsets->before, 0);
    while (fuzz_index(p->d.offset_dtype, p->offsets->before, from + 1) - first <= i)
        from++;
    return from;
}

static void balance_search(fuzz *f)
{
    const struct pieces p = pieces_of(f, false, true);
    const gp_dtype dtype = p.d.index_dtype;
    const size_t item = gp_dtype_bytes(dtype), bytes = fuzz_product(p.n, item);
    fuzz_array *segments = fuzz_output_beside(f, bytes, item ? item : 1, p.offsets);
    fuzz_array *ranks = fuzz_output_if(f, bytes, item ? item : 1);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_balance_search_by(f->ctx, &p.d, p.offsets->data, p.count, p.n,
                                          segments->data, ranks->data));
    else
        FUZZ_CALL(f, gp_balance_search(f->ctx, p.d.offset_dtype, p.offsets->data, p.count, p.n,
                                       dtype, segments->data, ranks->data));
    const uint64_t first = fuzz_index(p.d.offset_dtype, p.offsets->before, 0);
    for (size_t i = 0, s = 0; i < p.n; i++) {
        s = segment_of(&p, i, s);
        FUZZ_CHECK(fuzz_index(dtype, segments->contents, i) == s, "the segment of item %zu", i);
        const uint64_t rank = first + i - fuzz_index(p.d.offset_dtype, p.offsets->before, s);
        FUZZ_CHECK(!ranks->data || fuzz_index(dtype, ranks->contents, i) == rank,
                   "the rank of item %zu", i);
    }
}

static void expand(fuzz *f)
{
    const struct pieces p = pieces_of(f, true, false);
    const size_t item = p.d.item_bytes > 65536 ? 0 : p.d.item_bytes;
    fuzz_array *in = fuzz_bytes(f, p.count * item, 1);
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(p.n, item), 1, in);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f,
                  gp_expand_by(f->ctx, &p.d, in->data, p.offsets->data, p.count, p.n, out->data));
    else
        FUZZ_CALL(f, gp_expand(f->ctx, item, in->data, p.d.offset_dtype, p.offsets->data, p.count,
                               p.n, out->data));
    for (size_t i = 0, s = 0; i < p.n; i++) {
        s = segment_of(&p, i, s);
        fuzz_same_bytes("expand", in->before + s * item, out->contents + i * item, item);
    }
}

/* Starts of intervals that lie one behind the other with gaps, or none. items: on their side. */
static fuzz_array *starts_of(fuzz *f, const struct pieces *p, size_t *items)
{
    const size_t bytes = gp_dtype_bytes(p->d.offset_dtype);
    const unsigned known = f->must;
    fuzz_array *a = fuzz_flip(f) ? fuzz_indices(f, p->d.offset_dtype, p->count, 1) : NULL;
    *items = p->n;
    if (a && !a->data) { /* as good as none */
        f->must = known;
        return NULL;
    }
    if (!a || f->must || f->vague)
        return a;
    *items = 0;
    for (size_t s = 0; s < p->count; s++) {
        *items += fuzz_below(f, 3);
        const uint64_t start = *items;
        memcpy(a->contents + s * bytes, &start, bytes);
        *items += fuzz_index(p->d.offset_dtype, p->offsets->contents, s + 1) -
                  fuzz_index(p->d.offset_dtype, p->offsets->contents, s);
    }
    return a;
}

/* One start may be too large by one, which a context that validates sees. */
static void spoil_start(fuzz *f, const struct pieces *p, fuzz_array *starts, size_t items)
{
    const size_t bytes = gp_dtype_bytes(p->d.offset_dtype), s = p->count / 2;
    if (!starts || !p->count || !items || !f->validates || f->must || f->vague || fuzz_below(f, 8))
        return;
    const uint64_t length = fuzz_index(p->d.offset_dtype, p->offsets->contents, s + 1) -
                            fuzz_index(p->d.offset_dtype, p->offsets->contents, s);
    const uint64_t start = items - length + 1;
    memcpy(starts->contents + s * bytes, &start, bytes);
    fuzz_rule(f, length == 0);
}

static char *item_at(const struct pieces *p, const fuzz_array *starts, size_t s, size_t i,
                     char *items)
{
    const uint64_t first = fuzz_index(p->d.offset_dtype, p->offsets->before, 0);
    const uint64_t begin = fuzz_index(p->d.offset_dtype, p->offsets->before, s) - first;
    const uint64_t at = starts ? fuzz_index(p->d.offset_dtype, starts->before, s) + i - begin : i;
    return items + at * p->d.item_bytes;
}

static void intervals(fuzz *f)
{
    const struct pieces p = pieces_of(f, true, false);
    const size_t item = p.d.item_bytes > 65536 ? 0 : p.d.item_bytes;
    gp_interval_desc d = {p.d.size == sizeof p.d ? sizeof d : 7,
                          p.d.item_bytes,
                          0,
                          0,
                          p.d.offset_dtype,
                          p.d.reserved,
                          NULL};
    if (f->vague && !f->validates)
        return; /* it would read and write what is not there */
    fuzz_array *from = starts_of(f, &p, &d.in_items), *to = starts_of(f, &p, &d.out_items);
    const size_t bytes = p.n ? item : 0; /* of an item that may be moved */
    fuzz_array *in = fuzz_bytes(f, fuzz_product(d.in_items, bytes), 1);
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(d.out_items, bytes), 1, in);
    spoil_start(f, &p, from, d.in_items);
    spoil_start(f, &p, to, d.out_items);
    FUZZ_CALL(f, gp_copy_intervals(f->ctx, &d, in->data, from ? from->data : NULL, p.offsets->data,
                                   p.count, p.n, to ? to->data : NULL, out->data));
    char *expected = t_host(out->bytes);
    memcpy(expected, out->before, out->bytes);
    for (size_t i = 0, s = 0; i < p.n; i++) {
        s = segment_of(&p, i, s);
        memcpy(item_at(&p, to, s, i, expected), item_at(&p, from, s, i, in->before), item);
    }
    fuzz_same_bytes("intervals", expected, out->contents, out->bytes);
    free(expected);
}

static void expand_counts(fuzz *f)
{
    size_t bytes;
    gp_balance_desc d = GP_BALANCE_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.item_bytes = fuzz_item_bytes(f);
    d.count_dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    d.reserved = fuzz_unused(f);
    const size_t item = d.item_bytes > 65536 ? 0 : d.item_bytes, room = fuzz_count(f, item);
    const size_t n = fuzz_below(f, item > 256 ? 4 : 1024);
    fuzz_array *in = fuzz_bytes(f, n * item, 1);
    fuzz_array *counts = fuzz_indices(f, d.count_dtype, n, 1 + fuzz_below(f, 8));
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(room, item), 1, in);
    fuzz_array *count = fuzz_output_beside(f, 8, 8, counts);
    uint64_t at = 0, sum;
    f->sticky |= FUZZ_BIT(GP_ERROR_CAPACITY);
    for (size_t i = 0; i < n && gp_dtype_bytes(d.count_dtype); i++) /* the sum is below 2^64 */
        if (d.count_dtype == GP_U64 && fuzz_index(GP_U64, counts->contents, i) >> 52)
            return;
    fuzz_reserve(f, gp_expand_counts_workspace_bytes(NULL, d.count_dtype, n, &bytes), &bytes);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_expand_counts_by(f->ctx, &d, in->data, counts->data, n, room, out->data,
                                         count->data));
    else
        FUZZ_CALL(f, gp_expand_counts(f->ctx, item, in->data, d.count_dtype, counts->data, n, room,
                                      out->data, count->data));
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = fuzz_index(d.count_dtype, counts->before, i); k > 0; k--, at++)
            fuzz_same_bytes("expand", in->before + i * item, out->contents + at * item, item);
    memcpy(&sum, count->contents, 8);
    FUZZ_CHECK(sum == at, "the sum");
}

static void merge_path(fuzz *f)
{
    const struct pieces p = pieces_of(f, false, false);
    const gp_dtype dtype = p.d.offset_dtype;
    const size_t item = gp_dtype_bytes(dtype) ? gp_dtype_bytes(dtype) : 1;
    const size_t few = 1 + fuzz_below(f, 300), bytes = (few + 1) * item;
    const size_t parts = fuzz_fault(f, GP_ERROR_ARGUMENT) ? fuzz_below(f, 2) << 50 : few;
    fuzz_array *rows = fuzz_output_beside(f, bytes, item, p.offsets);
    fuzz_array *entries = fuzz_output_beside(f, bytes, item, p.offsets);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_merge_path_partition_by(f->ctx, &p.d, p.offsets->data, p.count, p.n, parts,
                                                rows->data, entries->data));
    else
        FUZZ_CALL(f, gp_merge_path_partition(f->ctx, dtype, p.offsets->data, p.count, p.n, parts,
                                             rows->data, entries->data));
    const size_t all = p.count + p.n, share = (all + parts - 1) / parts;
    const uint64_t first = fuzz_index(dtype, p.offsets->before, 0);
    for (size_t k = 0, row = 0; k <= parts; k++) {
        const size_t step = k * share < all ? k * share : all;
        while (row < p.count && fuzz_index(dtype, p.offsets->before, row + 1) - first + row < step)
            row++;
        FUZZ_CHECK(fuzz_index(dtype, rows->contents, k) == row &&
                       fuzz_index(dtype, entries->contents, k) == step - row,
                   "share %zu", k);
    }
}

static void check_offsets(fuzz *f)
{
    const struct pieces p = pieces_of(f, false, false);
    fuzz_strict_rule(f, !f->vague); /* that is the call's own question */
    f->vague = false;
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_check_offsets_by(f->ctx, &p.d, p.offsets->data, p.count, p.n));
    else
        FUZZ_CALL(f, gp_check_offsets(f->ctx, p.d.offset_dtype, p.offsets->data, p.count, p.n));
}

static void bound(fuzz *f)
{
    gp_bound_desc d = {fuzz_struct(f, sizeof d), fuzz_dtype(f, FUZZ_ALL),
                       fuzz_dtype(f, FUZZ_INDICES), NULL, NULL};
    const size_t item = gp_dtype_bytes(d.dtype), n = fuzz_below(f, 512), m = fuzz_count(f, 64);
    const size_t out_item = gp_dtype_bytes(d.index_dtype) ? gp_dtype_bytes(d.index_dtype) : 1;
    const bool upper = fuzz_flip(f);
    fuzz_array *sorted = fuzz_input(f, d.dtype, n), *needles = fuzz_input(f, d.dtype, m);
    size_t counted = n, searched = m;
    d.device_n = fuzz_device_n(f, &counted);
    d.device_m = fuzz_device_n(f, &searched);
    fuzz_array *out = item == out_item
                          ? fuzz_output_over(f, fuzz_product(m, out_item), out_item, needles)
                          : fuzz_output_beside(f, fuzz_product(m, out_item), out_item, needles);
    if (searched)
        fuzz_rule(f, fuzz_ascends(d.dtype, sorted, counted, GP_ASCENDING));
    if (d.device_n || d.device_m || f->must || fuzz_flip(f))
        FUZZ_CALL(f, (upper ? gp_upper_bound_by : gp_lower_bound_by)(f->ctx, &d, sorted->data, n,
                                                                     needles->data, m, out->data));
    else
        FUZZ_CALL(f, (upper ? gp_upper_bound : gp_lower_bound)(f->ctx, d.dtype, sorted->data, n,
                                                               needles->data, m, d.index_dtype,
                                                               out->data));
    for (size_t k = 0; k < searched && k < 500; k++) {
        size_t place = 0;
        for (size_t i = 0; i < counted; i++) {
            const int c =
                fuzz_order(d.dtype, sorted->before + i * item, needles->before + k * item);
            place += upper ? c <= 0 : c < 0;
        }
        FUZZ_CHECK(fuzz_index(d.index_dtype, out->contents, k) == place, "the place of needle %zu",
                   k);
    }
}

fuzz_call *const fuzz_moves[] = {balance_search, expand, expand_counts, merge_path,
                                 check_offsets,  bound,  intervals,     NULL};
