/* SPDX-License-Identifier: MIT */
/* What moves items to several arrays or buckets. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"

/* ---- partitions ------------------------------------------------------------------------------ */

enum { SIDES = 3 };

struct partition {
    size_t n, item;
    gp_dtype dtype; /* by a range of these, or 0: by flags */
    const void *value, *upper;
    fuzz_array *in, *keep, *out[SIDES], *counts;
};

static int side_of(const struct partition *p, size_t i)
{
    const char *item = p->in->before + i * p->item;
    if (!p->dtype)
        return p->keep->before[i] == 0;
    return fuzz_order(p->dtype, item, p->value) < 0    ? 1
           : fuzz_order(p->dtype, item, p->upper) <= 0 ? 0
                                                       : 2;
}

static void compare_partition(const struct partition *p)
{
    char *expected[SIDES];
    uint64_t counts[SIDES] = {0};
    const int sides = p->dtype ? 3 : 2;
    for (int s = 0; s < sides; s++)
        expected[s] = t_host(p->n * p->item);
    for (size_t i = 0; i < p->n; i++) {
        const int s = side_of(p, i);
        memcpy(expected[s] + counts[s]++ * p->item, p->in->before + i * p->item, p->item);
    }
    fuzz_same_bytes("counts", counts, p->counts->contents, 8 * (size_t)sides);
    for (int s = 0; s < sides; s++) {
        fuzz_same_bytes("a side", expected[s], p->out[s]->contents, counts[s] * p->item);
        free(expected[s]);
    }
}

static void partition_sides(fuzz *f)
{
    struct partition p = {0};
    const bool by_range = fuzz_flip(f);
    const size_t item_bytes = by_range ? 0 : fuzz_item_bytes(f);
    const gp_dtype dtype = by_range ? fuzz_dtype(f, FUZZ_ALL) : (gp_dtype)0;
    p.dtype = dtype;
    p.item = by_range ? gp_dtype_bytes(dtype) : item_bytes > 65536 ? 1 : item_bytes;
    p.item = p.item ? p.item : 1;
    p.n = fuzz_count(f, p.item > 8 ? p.item : 8);
    const size_t bytes = fuzz_product(p.n, p.item), alignment = fuzz_alignment(p.item);
    p.value = gp_dtype_bytes(dtype) ? fuzz_host(f, dtype, 1) : &p;
    p.upper = gp_dtype_bytes(dtype) ? fuzz_host(f, dtype, 1) : &p;
    p.in = by_range && gp_dtype_bytes(dtype) ? fuzz_input(f, dtype, p.n)
                                             : fuzz_bytes(f, bytes, alignment);
    p.keep = by_range ? fuzz_none(f) : fuzz_bytes(f, p.n, 1);
    p.out[0] = fuzz_output_over(f, bytes, alignment, p.in);
    p.out[1] = fuzz_output_beside(f, bytes, alignment, p.out[0]);
    p.out[2] = by_range ? fuzz_output(f, bytes, alignment) : fuzz_none(f);
    p.counts = fuzz_output(f, by_range ? 24 : 16, 8);
    if (by_range)
        FUZZ_CALL(f, gp_partition_range(f->ctx, dtype, p.value, p.upper, p.in->data, p.n,
                                        p.out[0]->data, p.out[1]->data, p.out[2]->data,
                                        p.counts->data));
    else
        FUZZ_CALL(f, gp_partition_into(f->ctx, item_bytes, p.in->data, p.keep->data, p.n,
                                       p.out[0]->data, p.out[1]->data, p.counts->data));
    compare_partition(&p);
}

/* ---- multisplit ------------------------------------------------------------------------------ */

static size_t choose_buckets(fuzz *f)
{
    static const size_t some[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, 70000};
    static const size_t wrong[] = {0, ((size_t)1 << 31) + 1, SIZE_MAX};
    return fuzz_fault(f, GP_ERROR_ARGUMENT) ? wrong[fuzz_below(f, 3)] : some[fuzz_below(f, 10)];
}

static uint64_t number_at(const fuzz_array *numbers, bool bytes, size_t i)
{
    return bytes ? (uint8_t)numbers->before[i] : fuzz_index(GP_U32, numbers->before, i);
}

static void compare_split(const fuzz_array *in, size_t item, const fuzz_array *numbers, size_t n,
                          size_t buckets, const fuzz_array *out, const fuzz_array *offsets)
{
    uint64_t *next = t_host((buckets + 1) * sizeof *next);
    char *expected = t_host(n * item);
    memset(next, 0, (buckets + 1) * sizeof *next);
    for (size_t i = 0; i < n; i++)
        next[number_at(numbers, buckets <= 256, i) + 1]++;
    for (size_t b = 0; b < buckets; b++)
        next[b + 1] += next[b];
    fuzz_same_bytes("offsets", next, offsets->contents, (buckets + 1) * 8);
    for (size_t i = 0; i < n; i++)
        memcpy(expected + next[number_at(numbers, buckets <= 256, i)]++ * item,
               in->before + i * item, item);
    fuzz_same_bytes("buckets", expected, out->contents, n * item);
    free(next);
    free(expected);
}

static void multisplit(fuzz *f)
{
    gp_multisplit_desc d = {fuzz_struct(f, sizeof d), fuzz_item_bytes(f), choose_buckets(f), NULL};
    const size_t item = d.item_bytes > 65536 || !d.item_bytes ? 1 : d.item_bytes;
    const size_t buckets = d.num_buckets > 70000 || !d.num_buckets ? 1 : d.num_buckets;
    const bool bytes = d.num_buckets <= 256;
    size_t n = fuzz_count(f, item > 8 ? item : 8), counted = n, need;
    const size_t alignment = fuzz_alignment(item);
    d.device_n = fuzz_device_n(f, &counted);
    fuzz_array *in = fuzz_bytes(f, fuzz_product(n, item), alignment);
    fuzz_array *numbers = bytes ? fuzz_bytes(f, n, 1) : fuzz_indices(f, GP_U32, n, buckets);
    if (bytes && buckets < 256)
        for (size_t i = 0; i < numbers->bytes; i++)
            numbers->contents[i] = (char)((uint8_t)numbers->contents[i] % buckets);
    fuzz_array *out = fuzz_output_beside(f, fuzz_product(n, item), alignment, in);
    fuzz_array *offsets = fuzz_output(f, (buckets + 1) * 8, 8);
    bool good = true;
    for (size_t i = 0; !bytes && i < counted && (i + 1) * 4 <= numbers->bytes; i++)
        good = good && fuzz_index(GP_U32, numbers->contents, i) < buckets;
    fuzz_rule(f, good);
    fuzz_reserve(f, gp_multisplit_workspace_bytes(NULL, &d, n, &need), &need);
    FUZZ_CALL(f,
              gp_multisplit_by(f->ctx, &d, in->data, numbers->data, n, out->data, offsets->data));
    if (good)
        compare_split(in, item, numbers, counted, buckets, out, offsets);
}

fuzz_call *const fuzz_splits[] = {partition_sides, multisplit, NULL};
