/* SPDX-License-Identifier: MIT */
/* What keeps chosen items: compaction, partition. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"

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
fuzz_call *const fuzz_compactions[] = {compact, compact_short, NULL};
