/* SPDX-License-Identifier: MIT */
/* Merges, the first of an order. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "radixsort_oracle.h"

/* Two arrays of the same, one behind the other. */
static char *joined(const fuzz_array *a, const fuzz_array *b)
{
    char *all = t_host(a->bytes + b->bytes);
    memcpy(all, a->before, a->bytes);
    memcpy(all + a->bytes, b->before, b->bytes);
    return all;
}

static void compare_joined(const char *what, const fuzz_array *a, const fuzz_array *b, size_t item,
                           const size_t *order, const fuzz_array *out)
{
    char *all = joined(a, b),
         *expected = oracle_pick(all, item, order, (a->bytes + b->bytes) / item);
    fuzz_same_bytes(what, expected, out->contents, a->bytes + b->bytes);
    free(all);
    free(expected);
}

struct merge {
    gp_merge_desc d;
    size_t num_a, num_b, item;
    fuzz_array *a, *b, *values_a, *values_b, *out, *values_out;
};

static struct merge merge_of(fuzz *f, bool pairs)
{
    struct merge m = {.d = GP_MERGE_DESC_INIT};
    m.d.size = fuzz_struct(f, sizeof m.d);
    m.d.dtype = fuzz_dtype(f, FUZZ_ALL);
    m.d.order = (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT);
    m.d.value_bytes = pairs ? fuzz_item_bytes(f) : 0;
    m.item = gp_dtype_bytes(m.d.dtype);
    const size_t value = m.d.value_bytes <= 65536 && m.d.value_bytes ? m.d.value_bytes : 1;
    const size_t alignment = fuzz_alignment(value), key = m.item ? m.item : 1;
    m.num_a = fuzz_count(f, value > 8 ? 2 * value : 16);
    m.num_b = fuzz_count(f, value > 8 ? 2 * value : 16);
    const size_t all = m.num_a > SIZE_MAX - m.num_b ? SIZE_MAX : m.num_a + m.num_b;
    m.a = fuzz_sorted(f, m.d.dtype, m.num_a, m.d.order);
    m.b = fuzz_sorted(f, m.d.dtype, m.num_b, m.d.order);
    m.out = fuzz_output_beside(f, fuzz_product(all, m.item), key, m.a);
    if (pairs) {
        m.values_a = fuzz_bytes(f, fuzz_product(m.num_a, value), alignment);
        m.values_b = fuzz_bytes(f, fuzz_product(m.num_b, value), alignment);
        m.values_out = fuzz_output_beside(f, fuzz_product(all, value), alignment, m.values_b);
    }
    if (all) /* of nothing, nothing is asked */
        fuzz_rule(f, fuzz_ascends(m.d.dtype, m.a, m.num_a, m.d.order) &&
                         fuzz_ascends(m.d.dtype, m.b, m.num_b, m.d.order));
    return m;
}

static void compare_merge(const struct merge *m)
{
    char *keys = joined(m->a, m->b);
    size_t *order =
        oracle_argsort(m->d.dtype, keys, m->num_a + m->num_b, m->d.order == GP_DESCENDING, 0, 0);
    compare_joined("keys", m->a, m->b, m->item, order, m->out);
    if (m->values_a)
        compare_joined("values", m->values_a, m->values_b, m->d.value_bytes, order, m->values_out);
    free(order);
    free(keys);
}

static void merge(fuzz *f)
{
    size_t bytes;
    const struct merge m = merge_of(f, false);
    const size_t all = m.num_a > SIZE_MAX - m.num_b ? SIZE_MAX : m.num_a + m.num_b;
    fuzz_reserve(f, gp_merge_workspace_bytes(NULL, m.d.dtype, all, &bytes), &bytes);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f,
                  gp_merge_by(f->ctx, &m.d, m.a->data, m.num_a, m.b->data, m.num_b, m.out->data));
    else
        FUZZ_CALL(f, gp_merge(f->ctx, m.d.dtype, m.d.order, m.a->data, m.num_a, m.b->data, m.num_b,
                              m.out->data));
    compare_merge(&m);
}

static void merge_pairs(fuzz *f)
{
    const struct merge m = merge_of(f, true);
    if (f->must || fuzz_flip(f))
        FUZZ_CALL(f,
                  gp_merge_pairs_by(f->ctx, &m.d, m.a->data, m.values_a->data, m.num_a, m.b->data,
                                    m.values_b->data, m.num_b, m.out->data, m.values_out->data));
    else
        FUZZ_CALL(f, gp_merge_pairs(f->ctx, m.d.dtype, m.d.order, m.d.value_bytes, m.a->data,
                                    m.values_a->data, m.num_a, m.b->data, m.values_b->data, m.num_b,
                                    m.out->data, m.values_out->data));
    compare_merge(&m);
}

/* Whether keys fall, or rise, between runs alone; the offsets are good. */
static bool runs_ascend(const gp_merge_runs_desc *d, const fuzz_array *keys, size_t n,
                        const fuzz_array *offsets, size_t count)
{
    const size_t item = gp_dtype_bytes(d->dtype);
    const size_t offset = gp_dtype_bytes(d->offset_dtype);
    if (item == 0 || offset == 0 || n > keys->bytes / item || count >= offsets->bytes / offset)
        return true; /* the call refuses arrays that are shorter than announced */
    const uint64_t first = fuzz_index(d->offset_dtype, offsets->contents, 0);
    for (size_t i = 1, run = 0; i < n; i++) {
        while (run < count && fuzz_index(d->offset_dtype, offsets->contents, run) - first < i)
            run++;
        const int order =
            fuzz_order(d->dtype, keys->contents + (i - 1) * item, keys->contents + i * item);
        if ((d->order == GP_ASCENDING ? order > 0 : order < 0) &&
            fuzz_index(d->offset_dtype, offsets->contents, run) - first != i)
            return false;
    }
    return true;
}

static void merge_runs(fuzz *f)
{
    size_t bytes;
    gp_merge_runs_desc d = GP_MERGE_RUNS_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    d.dtype = fuzz_dtype(f, FUZZ_ALL);
    d.order = (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT);
    if (fuzz_flip(f)) {
        const size_t given = fuzz_item_bytes(f);
        d.value_bytes = given ? given : 65537; /* without values, 0 is right */
    }
    d.offset_dtype = fuzz_dtype(f, FUZZ_INDICES);
    d.reserved = fuzz_unused(f);
    const size_t item = gp_dtype_bytes(d.dtype) ? gp_dtype_bytes(d.dtype) : 1;
    const size_t value = d.value_bytes <= 65536 ? d.value_bytes : 1;
    const size_t alignment = value ? fuzz_alignment(value) : 1;
    const size_t n = fuzz_count(f, value > 8 ? 2 * value : 16);
    const size_t count = n ? 1 + fuzz_below(f, 40) : fuzz_below(f, 4);
    fuzz_array *keys = fuzz_sorted(f, d.dtype, n, d.order);
    fuzz_array *values = fuzz_bytes(f, fuzz_product(n, value), alignment);
    fuzz_array *offsets = fuzz_offsets(f, d.offset_dtype, count, n, false);
    fuzz_array *keys_out = fuzz_output_beside(f, fuzz_product(n, item), item, keys);
    fuzz_array *values_out =
        fuzz_output_beside(f, fuzz_product(n, value), alignment, value ? values : keys);
    const bool good = fuzz_offsets_good(d.offset_dtype, offsets, count, n, false);
    fuzz_strict_rule(f, good);
    if (n && good)
        fuzz_rule(f, fuzz_ascends(d.dtype, keys, n, d.order) ||
                         runs_ascend(&d, keys, n, offsets, count));
    fuzz_reserve(f, gp_merge_runs_workspace_bytes(NULL, &d, n, count, &bytes), &bytes);
    FUZZ_CALL(f, gp_merge_runs(f->ctx, &d, keys->data, values->data, n, offsets->data, count,
                               keys_out->data, values_out->data));
    size_t *order = oracle_argsort(d.dtype, keys->before, n, d.order == GP_DESCENDING, 0, 0);
    fuzz_same_picked("keys", keys, item, order, n, keys_out);
    fuzz_same_picked("values", values, value, order, n, values_out);
    free(order);
}

static void top_k(fuzz *f)
{
    size_t bytes;
    gp_top_k_desc d = {fuzz_struct(f, sizeof d),
                       fuzz_dtype(f, FUZZ_ALL),
                       (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT),
                       fuzz_dtype(f, FUZZ_UNSIGNED),
                       fuzz_unused(f),
                       NULL,
                       NULL};
    const size_t item = gp_dtype_bytes(d.dtype), key = item ? item : 1, n = fuzz_count(f, 16);
    const size_t index = gp_dtype_bytes(d.index_dtype) ? gp_dtype_bytes(d.index_dtype) : 1;
    const size_t some = n ? fuzz_take(f, 2) % (n < 65536 ? n + 1 : 65536) : 0;
    const size_t k = fuzz_fault(f, GP_ERROR_ARGUMENT) && n < SIZE_MAX ? n + 1 : some;
    fuzz_array *keys = fuzz_input(f, d.dtype, n);
    size_t counted = n, found = k;
    d.device_n = fuzz_device_n(f, &counted);
    d.device_k = fuzz_device_n(f, &found);
    found = found < counted ? found : counted;
    fuzz_array *keys_out = fuzz_output_if(f, fuzz_product(k, item), key);
    fuzz_array *indices = keys_out->data
                              ? fuzz_output_if(f, fuzz_product(k, index), index)
                              : fuzz_output_beside(f, fuzz_product(k, index), index, keys);
    if (!indices->data || !k) /* then its dtype does not matter */
        f->may |= f->must | FUZZ_BIT(GP_OK);
    fuzz_reserve(f, gp_top_k_workspace_bytes(NULL, d.dtype, n, k, &bytes), &bytes);
    if (d.device_n || d.device_k || f->must || fuzz_flip(f))
        FUZZ_CALL(f, gp_top_k_by(f->ctx, &d, keys->data, n, k, keys_out->data, indices->data));
    else
        FUZZ_CALL(f, gp_top_k(f->ctx, d.dtype, d.order, keys->data, n, k, keys_out->data,
                              d.index_dtype, indices->data));
    if (!item || n > 1 << 20)
        return;
    size_t *order = oracle_argsort(d.dtype, keys->before, counted, d.order == GP_DESCENDING, 0, 0);
    for (size_t i = 0; i < found && indices->data; i++)
        FUZZ_CHECK(fuzz_index(d.index_dtype, indices->contents, i) == order[i], "index %zu", i);
    if (keys_out->data)
        fuzz_same_picked("keys", keys, item, order, found, keys_out);
    free(order);
}

fuzz_call *const fuzz_merges[] = {merge, merge_pairs, merge_runs, top_k, NULL};
