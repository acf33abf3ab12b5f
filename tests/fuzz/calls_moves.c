/* SPDX-License-Identifier: MIT */
/* What moves items of segments and chosen items: compaction, expansion; searches. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"

/* ---- compaction ------------------------------------------------------------------------------ */

struct compaction {
    gp_compact_desc d;
    size_t n, counted, item, room;              /* of an output item, and for how many of them */
    fuzz_array *in, *keep, *out, *count, *more; /* more: positions, or the others */
};

static bool compares(gp_compare compare, int order)
{
    const bool below = order < 0, same = order == 0;
    return compare == GP_EQ   ? same
           : compare == GP_NE ? !same
           : compare == GP_LT ? below
           : compare == GP_LE ? below || same
           : compare == GP_GT ? !below && !same
                              : !below;
}

static bool is_kept(const struct compaction *c, size_t i)
{
    if (!c->d.compare && c->d.flags == GP_FLAGS_BITS)
        return c->keep->before[i / 8] >> i % 8 & 1; /* words are little-endian */
    if (!c->d.compare)
        return c->keep->before[i] != 0;
    const size_t item = gp_dtype_bytes(c->d.dtype);
    if (c->d.compare >= GP_BETWEEN) {
        const char *x = c->in->before + i * item;
        const bool between = fuzz_order(c->d.dtype, x, c->d.value) >= 0 &&
                             fuzz_order(c->d.dtype, x, c->d.upper) <= 0;
        return between == (c->d.compare == GP_BETWEEN);
    }
    return compares(c->d.compare, fuzz_order(c->d.dtype, c->in->before + i * item, c->d.value));
}

/* Item or index i as the output at place. */
static void expect_output(const struct compaction *c, size_t i, size_t place, char *expected)
{
    const uint64_t index = i;
    if (place >= c->room)
        return;
    memcpy(expected + place * c->item,
           c->d.kind == GP_COMPACT_INDICES ? (const char *)&index : c->in->before + i * c->item,
           c->item);
}

/* Flags as an output. */
static void compare_flags(const struct compaction *c)
{
    uint64_t kept = 0;
    const bool bits = c->d.flags == GP_FLAGS_BITS;
    for (size_t i = 0; i < c->counted; i++) {
        const char *at = c->out->contents + (bits ? i / 8 : i);
        const bool is = is_kept(c, i);
        FUZZ_CHECK((bits ? *at >> i % 8 & 1 : *at) == is, "flag %zu", i);
        kept += is;
    }
    FUZZ_CHECK(memcmp(&kept, c->count->contents, 8) == 0, "the count of flags");
}

/* Positions beside the items, or the others of a partition; after the kept ones. */
static void compare_more(const struct compaction *c)
{
    const bool indices = c->d.kind == GP_COMPACT_ITEMS;
    const size_t bytes = indices ? gp_dtype_bytes(c->d.index_dtype) : c->item;
    uint64_t at = 0;
    for (uint64_t i = 0; i < c->counted; i++) {
        if (is_kept(c, i) != indices)
            continue;
        const char *expected = indices ? (const char *)&i : c->in->before + i * c->item;
        if (at < (indices ? c->room : c->n))
            fuzz_same_bytes("more", expected, c->more->contents + at * bytes, bytes);
        at++;
    }
    FUZZ_CHECK(indices || memcmp(&at, c->count->contents + 8, 8) == 0, "the count of the others");
}

static void compare_compaction(const struct compaction *c)
{
    const bool split = c->d.rest != NULL;
    if (c->d.kind == GP_COMPACT_FLAGS) {
        compare_flags(c);
        return;
    }
    if (c->more && c->more->data)
        compare_more(c);
    char *expected = t_host(c->room * c->item);
    uint64_t kept = 0, at, count;
    for (size_t i = 0; i < c->counted; i++)
        if (is_kept(c, i))
            expect_output(c, i, kept++, expected);
    at = kept;
    for (size_t i = 0; !split && c->d.kind == GP_COMPACT_PARTITION && i < c->counted; i++)
        if (!is_kept(c, i))
            expect_output(c, i, at++, expected);
    memcpy(&count, c->count->contents, 8);
    FUZZ_CHECK(count == kept, "count %llu, not %llu", (unsigned long long)count,
               (unsigned long long)kept);
    fuzz_same_bytes("compaction", expected, c->out->contents,
                    (at < c->room ? at : c->room) * c->item);
    free(expected);
}

/* Flags, or a comparison with a value; then the size of an item is the dtype's. */
static void choose_items(fuzz *f, struct compaction *c)
{
    if (fuzz_flip(f)) {
        c->d.item_bytes = c->item = fuzz_item_bytes(f);
        if (c->d.kind == GP_COMPACT_INDICES) /* not used */
            f->may |= FUZZ_BIT(GP_OK);
        return;
    }
    c->d.compare = (gp_compare)fuzz_enum(f, GP_EQ, GP_OUTSIDE, GP_ERROR_ARGUMENT);
    if (!c->d.compare) /* by flags */
        c->d.compare = (gp_compare)(GP_OUTSIDE + 1);
    c->d.dtype = fuzz_dtype(f, FUZZ_ALL);
    c->item = gp_dtype_bytes(c->d.dtype);
    c->d.item_bytes = fuzz_flip(f) ? c->item : 0;
    c->d.value = c->item ? fuzz_host(f, c->d.dtype, 1) : c;
    if (c->d.compare == GP_BETWEEN || c->d.compare == GP_OUTSIDE)
        c->d.upper = c->item ? fuzz_host(f, c->d.dtype, 1) : c;
}

static void choose_arrays(fuzz *f, struct compaction *c)
{
    const gp_compact_desc *d = &c->d;
    const bool indices = d->kind == GP_COMPACT_INDICES, by_flags = !d->compare;
    const size_t item = c->item ? c->item : 1;
    c->in = indices && by_flags ? fuzz_none(f)
            : by_flags          ? fuzz_bytes(f, fuzz_product(c->n, item), fuzz_alignment(item))
                                : fuzz_input(f, d->dtype, c->n);
    const bool bits = d->flags == GP_FLAGS_BITS;
    const size_t flags = bits ? (c->n / 32 + (c->n % 32 != 0)) * 4 : c->n;
    c->keep = by_flags ? fuzz_bytes(f, flags, bits ? 4 : 1) : fuzz_none(f);
    c->item = indices ? gp_dtype_bytes(d->index_dtype) : item;
    c->room = d->capacity && d->kind < GP_COMPACT_PARTITION ? d->capacity : c->n;
    const bool to_flags = d->kind == GP_COMPACT_FLAGS;
    const size_t bytes = to_flags ? flags : fuzz_product(c->room, c->item);
    const size_t alignment = to_flags ? (bits ? 4 : 1) : fuzz_alignment(c->item);
    c->out = d->kind == GP_COMPACT_ITEMS && c->room == c->n
                 ? fuzz_output_over(f, bytes, alignment ? alignment : 1, c->in)
                 : fuzz_output(f, bytes, alignment ? alignment : 1);
    c->count = fuzz_output(f, d->kind == GP_COMPACT_PARTITION ? 16 : 8, 8);
}

/* Positions beside items, or the others of a partition by themselves. */
static void choose_more(fuzz *f, struct compaction *c)
{
    const bool indices = c->d.kind == GP_COMPACT_ITEMS;
    const size_t bytes = indices ? gp_dtype_bytes(c->d.index_dtype) : c->item;
    if (!(indices || c->d.kind == GP_COMPACT_PARTITION) || !bytes)
        return;
    c->more =
        fuzz_output_if(f, fuzz_product(indices ? c->room : c->n, bytes), fuzz_alignment(bytes));
    *(indices ? &c->d.indices : &c->d.rest) = c->more->data;
}

static void compact(fuzz *f)
{
    size_t bytes;
    struct compaction c = {.d = GP_COMPACT_DESC_INIT};
    c.d.size = fuzz_struct(f, sizeof c.d);
    c.d.kind = (gp_compact_kind)fuzz_enum(f, GP_COMPACT_ITEMS, GP_COMPACT_FLAGS, GP_ERROR_ARGUMENT);
    choose_items(f, &c);
    c.d.index_dtype = c.d.kind == GP_COMPACT_INDICES ? fuzz_dtype(f, FUZZ_UNSIGNED)
                      : fuzz_flip(f)                 ? GP_U64
                                                     : (gp_dtype)0;
    c.d.flags = (gp_flags)fuzz_enum(f, GP_FLAGS_BYTES, GP_FLAGS_BITS, GP_ERROR_ARGUMENT);
    f->must |= c.d.kind == GP_COMPACT_FLAGS && !c.d.compare ? FUZZ_BIT(GP_ERROR_ARGUMENT) : 0;
    c.n = c.counted = fuzz_count(f, c.item > 8 ? c.item : 8);
    c.d.device_n = fuzz_device_n(f, &c.counted);
    if (fuzz_below(f, 4) == 0 && c.n && c.d.kind < GP_COMPACT_PARTITION) {
        c.d.capacity = 1 + fuzz_below(f, 256) % c.n;
        f->sticky |= FUZZ_BIT(GP_ERROR_CAPACITY);
    }
    choose_arrays(f, &c);
    choose_more(f, &c);
    fuzz_reserve(f, gp_compact_workspace_bytes(NULL, &c.d, c.n, &bytes), &bytes);
    FUZZ_CALL(
        f, gp_compact_by(f->ctx, &c.d, c.in->data, c.keep->data, c.n, c.out->data, c.count->data));
    compare_compaction(&c);
}

/* The short forms. */
static void compact_short(fuzz *f)
{
    struct compaction c = {.d = GP_COMPACT_DESC_INIT};
    const uint64_t kind = fuzz_below(f, 4);
    c.d.kind = kind == 2 ? GP_COMPACT_INDICES : kind == 3 ? GP_COMPACT_PARTITION : GP_COMPACT_ITEMS;
    if (kind == 1) {
        c.d.compare = (gp_compare)fuzz_enum(f, GP_EQ, GP_GE, GP_ERROR_ARGUMENT);
        c.d.dtype = fuzz_dtype(f, FUZZ_ALL);
        c.item = gp_dtype_bytes(c.d.dtype);
        c.d.value = c.item ? fuzz_host(f, c.d.dtype, 1) : &c;
        f->must |= c.d.compare ? 0 : FUZZ_BIT(GP_ERROR_ARGUMENT);
    } else if (kind == 2) {
        c.d.index_dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    } else {
        c.item = c.d.item_bytes = fuzz_item_bytes(f);
    }
    c.n = c.counted = fuzz_count(f, c.item > 8 ? c.item : 8);
    choose_arrays(f, &c);
    gp_context *ctx = f->ctx;
    void *out = c.out->data, *count = c.count->data, *in = c.in->data, *keep = c.keep->data;
    if (kind == 0)
        FUZZ_CALL(f, gp_compact(ctx, c.d.item_bytes, in, keep, c.n, out, count));
    else if (kind == 1)
        FUZZ_CALL(f, gp_compact_if(ctx, c.d.dtype, c.d.compare, c.d.value, in, c.n, out, count));
    else if (kind == 2)
        FUZZ_CALL(f, gp_compact_indices(ctx, c.d.index_dtype, keep, c.n, out, count));
    else
        FUZZ_CALL(f, gp_partition(ctx, c.d.item_bytes, in, keep, c.n, out, count));
    compare_compaction(&c);
}

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
    fuzz_array *in = fuzz_bytes(f, fuzz_product(d.in_items, item), 1);
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(d.out_items, item), 1, in);
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

fuzz_call *const fuzz_moves[] = {compact,       compact_short, balance_search, expand,
                                 expand_counts, merge_path,    check_offsets,  bound,
                                 intervals,     NULL};
