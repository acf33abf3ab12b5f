/* SPDX-License-Identifier: MIT */
/* Sorts by several parts of a key, and of records by their fields. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "radixsort_oracle.h"

enum { PARTS = 4 };

/* Stable sorts, the last part first; keys[p] are packed. */
static size_t *order_of(size_t n, int parts, const gp_dtype *dtypes, const gp_order *orders,
                        char *const *keys)
{
    size_t *order = t_host(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (int p = parts; p-- > 0;) {
        void *picked = oracle_pick(keys[p], gp_dtype_bytes(dtypes[p]), order, n);
        size_t *by = oracle_argsort(dtypes[p], picked, n, orders[p] == GP_DESCENDING, 0, 0);
        for (size_t i = 0; i < n; i++)
            by[i] = order[by[i]];
        free(order), free(picked);
        order = by;
    }
    return order;
}

/* Numbers that lie a stride apart, packed. */
static char *packed(const char *from, size_t stride, size_t bytes, size_t n)
{
    char *to = t_host(n * bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * bytes, from + i * stride, bytes);
    return to;
}

static void lexsort_by(fuzz *f)
{
    size_t bytes;
    gp_lexsort_desc d = GP_LEXSORT_DESC_INIT;
    fuzz_array *arrays[PARTS] = {NULL};
    char *keys[PARTS] = {NULL};
    gp_dtype dtypes[PARTS];
    gp_order orders[PARTS];
    const int parts = 1 + (int)fuzz_below(f, PARTS);
    d.size = fuzz_struct(f, sizeof d);
    d.index_dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    d.num_parts = fuzz_fault(f, GP_ERROR_ARGUMENT) ? (fuzz_flip(f) ? 0 : 9) : parts;
    size_t n = fuzz_count(f, 8);
    for (int p = 0; p < parts; p++) {
        dtypes[p] = fuzz_dtype(f, FUZZ_ALL);
        orders[p] = (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT);
        const size_t item = gp_dtype_bytes(dtypes[p]) ? gp_dtype_bytes(dtypes[p]) : 1;
        arrays[p] = fuzz_bytes(f, fuzz_product(n, item), 1);
        const size_t stride = fuzz_fault(f, GP_ERROR_ARGUMENT) ? item - 1 : item;
        d.parts[p] = (gp_key_part){arrays[p]->data, stride, dtypes[p], orders[p]};
    }
    const size_t item = gp_dtype_bytes(d.index_dtype) ? gp_dtype_bytes(d.index_dtype) : 1;
    size_t counted = n;
    d.device_n = fuzz_device_n(f, &counted);
    fuzz_array *indices = fuzz_output_beside(f, fuzz_product(n, item), item, arrays[0]);
    fuzz_reserve(f, gp_lexsort_by_workspace_bytes(NULL, &d, n, &bytes), &bytes);
    FUZZ_CALL(f, gp_lexsort_by(f->ctx, &d, n, indices->data));
    for (int p = 0; p < parts; p++)
        keys[p] = packed(arrays[p]->before, gp_dtype_bytes(dtypes[p]), gp_dtype_bytes(dtypes[p]),
                         counted);
    size_t *order = order_of(counted, parts, dtypes, orders, keys);
    for (size_t i = 0; i < counted; i++)
        FUZZ_CHECK(fuzz_index(d.index_dtype, indices->contents, i) == order[i], "index %zu", i);
    for (int p = 0; p < parts; p++)
        free(keys[p]);
    free(order);
}

static void record_sort(fuzz *f)
{
    size_t bytes;
    gp_record_sort_desc d = GP_RECORD_SORT_DESC_INIT;
    char *keys[PARTS] = {NULL};
    gp_dtype dtypes[PARTS];
    gp_order orders[PARTS];
    const int fields = 1 + (int)fuzz_below(f, PARTS);
    d.size = fuzz_struct(f, sizeof d);
    d.record_bytes = fuzz_item_bytes(f);
    d.num_fields = fuzz_fault(f, GP_ERROR_ARGUMENT) ? (fuzz_flip(f) ? -1 : 9) : fields;
    const size_t record = d.record_bytes >= 1 && d.record_bytes <= 65536 ? d.record_bytes : 1;
    for (int k = 0; k < fields; k++) {
        dtypes[k] = fuzz_dtype(f, FUZZ_ALL);
        if (gp_dtype_bytes(dtypes[k]) > record)
            dtypes[k] = GP_I8;
        orders[k] = (gp_order)fuzz_enum(f, GP_ASCENDING, GP_DESCENDING, GP_ERROR_ARGUMENT);
        const size_t left = record - (gp_dtype_bytes(dtypes[k]) ? gp_dtype_bytes(dtypes[k]) : 1);
        const size_t offset = fuzz_fault(f, GP_ERROR_ARGUMENT) ? left + 1 : fuzz_below(f, left + 1);
        d.fields[k] = (gp_record_field){offset, dtypes[k], orders[k]};
    }
    d.reserved = fuzz_unused(f);
    size_t n = fuzz_count(f, record > 8 ? 2 * record : 16), counted = n;
    d.device_n = fuzz_device_n(f, &counted);
    const size_t alignment = fuzz_alignment(record);
    fuzz_array *in = fuzz_bytes(f, fuzz_product(n, record), alignment);
    fuzz_array *out = fuzz_output_over(f, fuzz_product(n, record), alignment, in);
    fuzz_reserve(f, gp_record_sort_workspace_bytes(NULL, &d, n, &bytes), &bytes);
    FUZZ_CALL(f, gp_record_sort(f->ctx, &d, in->data, n, out->data));
    for (int k = 0; k < fields; k++)
        keys[k] =
            packed(in->before + d.fields[k].offset, record, gp_dtype_bytes(dtypes[k]), counted);
    size_t *order = order_of(counted, fields, dtypes, orders, keys);
    fuzz_same_picked("records", in, record, order, counted, out);
    for (int k = 0; k < fields; k++)
        free(keys[k]);
    free(order);
}

fuzz_call *const fuzz_keys[] = {lexsort_by, record_sort, NULL};
