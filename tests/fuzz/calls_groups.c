/* SPDX-License-Identifier: MIT */
/* Runs of equal keys, and groups. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gp_test.h"
#include "oracle.h"

/* Keys of a call, and what all calls have. */
struct runs {
    gp_dtype dtype; /* 0: bytes */
    size_t key_bytes, given_bytes, n, counted, room;
    uint64_t capacity;
    const uint64_t *device_n;
    fuzz_array *keys, *keys_out, *count;
    size_t *heads, heads_count; /* of the items that count, and one behind them */
};

static void choose_keys(fuzz *f, struct runs *r)
{
    const bool is_dtype = fuzz_flip(f);
    r->dtype = is_dtype ? fuzz_dtype(f, FUZZ_ALL) : (gp_dtype)0;
    if (is_dtype && !r->dtype) /* of bytes, without their number */
        f->may |= FUZZ_BIT(GP_ERROR_ARGUMENT);
    if (is_dtype)
        r->given_bytes = fuzz_flip(f) ? gp_dtype_bytes(r->dtype) : 0;
    else
        r->given_bytes = fuzz_item_bytes(f);
    r->key_bytes = r->dtype ? gp_dtype_bytes(r->dtype) : r->given_bytes;
    if (r->key_bytes == 0 || r->key_bytes > 65536)
        r->key_bytes = 1;
    r->n = r->counted = fuzz_count(f, r->key_bytes > 16 ? r->key_bytes : 16);
    r->device_n = fuzz_device_n(f, &r->counted);
    if (fuzz_below(f, 4) == 0 && r->n) {
        r->capacity = 1 + fuzz_below(f, 256) % r->n;
        f->sticky |= FUZZ_BIT(GP_ERROR_CAPACITY);
    }
    r->room = r->capacity ? r->capacity : r->n;
}

static void take_keys(fuzz *f, struct runs *r)
{
    const size_t alignment = fuzz_alignment(r->key_bytes);
    r->keys = r->dtype ? fuzz_input(f, r->dtype, r->n)
                       : fuzz_bytes(f, fuzz_product(r->n, r->key_bytes), alignment);
}

static fuzz_array *keys_out(fuzz *f, const struct runs *r)
{
    return fuzz_output_if(f, fuzz_product(r->room, r->key_bytes), fuzz_alignment(r->key_bytes));
}

static bool differ(const struct runs *r, size_t i)
{
    const char *own = r->keys->before + i * r->key_bytes;
    return r->dtype ? fuzz_order(r->dtype, own, own - r->key_bytes) != 0
                    : memcmp(own, own - r->key_bytes, r->key_bytes) != 0;
}

static void find_heads(struct runs *r)
{
    r->heads = t_host((r->counted + 1) * sizeof *r->heads);
    for (size_t i = 0; i < r->counted; i++)
        if (i == 0 || differ(r, i))
            r->heads[r->heads_count++] = i;
    r->heads[r->heads_count] = r->counted;
}

static void same_count(const struct runs *r, size_t expected)
{
    uint64_t count;
    memcpy(&count, r->count->contents, 8);
    FUZZ_CHECK(count == expected, "count %llu, not %zu", (unsigned long long)count, expected);
}

/* Items of an array at places, as far as there is room. */
static void same_picked(const char *what, const struct runs *r, const char *from, size_t bytes,
                        const size_t *places, size_t count, const fuzz_array *out)
{
    for (size_t j = 0; out->data && j < count && j < r->room; j++)
        fuzz_same_bytes(what, from + places[j] * bytes, out->contents + j * bytes, bytes);
}

static void same_numbers(const char *what, const struct runs *r, const size_t *numbers,
                         size_t count, gp_dtype index, const fuzz_array *out)
{
    const size_t bytes = gp_dtype_bytes(index);
    for (size_t j = 0; out->data && j < count && j < r->room; j++)
        fuzz_same_bytes(what, &numbers[j], out->contents + j * bytes, bytes);
}

static void unique(fuzz *f)
{
    size_t bytes;
    struct runs r = {0};
    gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    choose_keys(f, &r);
    d.key_dtype = r.dtype, d.key_bytes = r.given_bytes, d.capacity = r.capacity;
    d.device_n = r.device_n;
    d.index_dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    if (!d.index_dtype) /* right without heads */
        f->may |= FUZZ_BIT(GP_OK);
    const size_t value = fuzz_flip(f) && r.n < 4096 ? 1 + fuzz_below(f, 40) : 0;
    d.value_bytes = value;
    take_keys(f, &r);
    fuzz_array *values =
        value ? fuzz_bytes(f, fuzz_product(r.n, value), fuzz_alignment(value)) : fuzz_none(f);
    r.keys_out = keys_out(f, &r);
    fuzz_array *first =
        value ? fuzz_output(f, fuzz_product(r.room, value), fuzz_alignment(value)) : fuzz_none(f);
    const size_t index = gp_dtype_bytes(d.index_dtype) ? gp_dtype_bytes(d.index_dtype) : 1;
    fuzz_array *heads = fuzz_output_if(f, fuzz_product(r.room, index), index);
    r.count = fuzz_output(f, 8, 8);
    fuzz_reserve(f, gp_unique_workspace_bytes(NULL, &d, r.n, &bytes), &bytes);
    FUZZ_CALL(f, gp_unique_by(f->ctx, &d, r.keys->data, values->data, r.n, r.keys_out->data,
                              first->data, heads->data, r.count->data));
    find_heads(&r);
    same_count(&r, r.heads_count);
    same_picked("keys", &r, r.keys->before, r.key_bytes, r.heads, r.heads_count, r.keys_out);
    if (value)
        same_picked("values", &r, values->before, value, r.heads, r.heads_count, first);
    same_numbers("heads", &r, r.heads, r.heads_count, d.index_dtype, heads);
    free(r.heads);
}

static void run_lengths(fuzz *f)
{
    size_t bytes, runs = 0;
    struct runs r = {0};
    gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    choose_keys(f, &r);
    d.key_dtype = r.dtype, d.key_bytes = r.given_bytes, d.capacity = r.capacity;
    d.device_n = r.device_n;
    d.index_dtype = fuzz_dtype(f, FUZZ_UNSIGNED);
    d.longer = fuzz_flip(f);
    d.reserved = fuzz_unused(f);
    take_keys(f, &r);
    r.keys_out = keys_out(f, &r);
    const size_t index = gp_dtype_bytes(d.index_dtype) ? gp_dtype_bytes(d.index_dtype) : 1;
    fuzz_array *offsets = fuzz_output_if(f, fuzz_product(r.room, index), index);
    fuzz_array *lengths = fuzz_output_if(f, fuzz_product(r.room, index), index);
    r.count = fuzz_output(f, 8, 8);
    fuzz_reserve(f, gp_run_length_encode_workspace_bytes(NULL, &d, r.n, &bytes), &bytes);
    FUZZ_CALL(f, gp_run_length_encode_by(f->ctx, &d, r.keys->data, r.n, r.keys_out->data,
                                         offsets->data, lengths->data, r.count->data));
    find_heads(&r);
    size_t *length = t_host((r.heads_count + 1) * sizeof *length);
    for (size_t j = 0; j < r.heads_count; j++) {
        length[runs] = r.heads[j + 1] - r.heads[j];
        r.heads[runs] = r.heads[j];
        runs += !d.longer || length[runs] > 1;
    }
    same_count(&r, runs);
    same_picked("keys", &r, r.keys->before, r.key_bytes, r.heads, runs, r.keys_out);
    same_numbers("offsets", &r, r.heads, runs, d.index_dtype, offsets);
    same_numbers("lengths", &r, length, runs, d.index_dtype, lengths);
    free(r.heads), free(length);
}

/* Integers alone: their results do not depend on the order of operations. */
static void same_folds(const struct runs *r, gp_op op, gp_dtype dtype, const fuzz_array *values,
                       const fuzz_array *out)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    for (size_t j = 0; j < r->heads_count && j < r->room; j++) {
        uint64_t all = 0;
        memcpy(&all, values->before + r->heads[j] * bytes, bytes);
        for (size_t i = r->heads[j] + 1; i < r->heads[j + 1]; i++)
            oracle_apply(op, dtype, &all, values->before + i * bytes, &all);
        fuzz_same_bytes("fold", &all, out->contents + j * bytes, bytes);
    }
}

static void reduce_by_key(fuzz *f)
{
    size_t bytes;
    struct runs r = {0};
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.size = fuzz_struct(f, sizeof d);
    choose_keys(f, &r);
    d.key_dtype = r.dtype, d.key_bytes = r.given_bytes, d.capacity = r.capacity;
    d.device_n = r.device_n;
    d.in_dtype = fuzz_dtype(f, FUZZ_ALL);
    d.op = fuzz_op(f, d.in_dtype);
    const size_t scalars = gp_op_scalars(d.op) ? gp_op_scalars(d.op) : 1;
    const size_t scalar = gp_dtype_bytes(d.in_dtype) ? gp_dtype_bytes(d.in_dtype) : 1;
    take_keys(f, &r);
    fuzz_array *values = fuzz_input(f, d.in_dtype, fuzz_product(r.n, scalars));
    r.keys_out = keys_out(f, &r);
    fuzz_array *out = fuzz_output(f, fuzz_product(r.room, scalar * scalars), scalar);
    r.count = fuzz_output(f, 8, 8);
    fuzz_reserve(f, gp_reduce_by_key_workspace_bytes(NULL, &d, r.n, &bytes), &bytes);
    FUZZ_CALL(f, gp_reduce_by_key(f->ctx, &d, r.keys->data, values->data, r.n, r.keys_out->data,
                                  out->data, r.count->data));
    find_heads(&r);
    same_count(&r, r.heads_count);
    same_picked("keys", &r, r.keys->before, r.key_bytes, r.heads, r.heads_count, r.keys_out);
    if (FUZZ_INTEGERS >> d.in_dtype & 1)
        same_folds(&r, d.op, d.in_dtype, values, out);
    free(r.heads);
}

/* Of integer keys: how many there are of each, in rising order. */
static void same_groups(const fuzz_array *keys, gp_dtype dtype, size_t n, const fuzz_array *count,
                        const fuzz_array *counts)
{
    const size_t bytes = gp_dtype_bytes(dtype);
    uint64_t groups = 0, expected;
    memcpy(&expected, count->contents, 8);
    for (size_t i = 0; i < n; i++) {
        const char *own = keys->before + i * bytes;
        uint64_t below = 0, items = 0, found;
        bool first = true;
        for (size_t k = 0; k < n; k++) {
            const int order = fuzz_order(dtype, keys->before + k * bytes, own);
            items += order == 0;
            first = first && !(order == 0 && k < i);
            bool new_key = order < 0;
            for (size_t m = 0; new_key && m < k; m++)
                new_key =
                    fuzz_order(dtype, keys->before + m * bytes, keys->before + k * bytes) != 0;
            below += new_key;
        }
        groups += first;
        memcpy(&found, counts->contents + below * 8, 8);
        FUZZ_CHECK(found == items, "%llu items of a key, not %llu", (unsigned long long)found,
                   (unsigned long long)items);
    }
    FUZZ_CHECK(groups == expected, "%llu groups, not %llu", (unsigned long long)expected,
               (unsigned long long)groups);
}

static void group_by(fuzz *f)
{
    enum { CHECKED = 40 };
    size_t bytes;
    gp_group_by_desc d = GP_GROUP_BY_DESC_INIT;
    gp_aggregate g[2] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT};
    d.size = fuzz_struct(f, sizeof d);
    d.key_dtype = fuzz_dtype(f, FUZZ_ALL);
    d.reserved = fuzz_unused(f);
    g[0].kind = GP_AGGREGATE_COUNT, g[0].out_dtype = GP_U64;
    g[1].kind =
        (gp_aggregate_kind)fuzz_enum(f, GP_AGGREGATE_FIRST, GP_AGGREGATE_LAST, GP_ERROR_ARGUMENT);
    if (g[1].kind == GP_AGGREGATE_COUNT || g[1].kind == GP_AGGREGATE_REDUCE) /* of no dtype */
        f->may |= FUZZ_BIT(GP_ERROR_DTYPE);
    g[1].value_bytes = fuzz_item_bytes(f);
    const size_t value = g[1].value_bytes && g[1].value_bytes < 65537 ? g[1].value_bytes : 1;
    const size_t key = gp_dtype_bytes(d.key_dtype) ? gp_dtype_bytes(d.key_dtype) : 1;
    const size_t n = fuzz_count(f, value > 16 ? value : 16);
    d.num_aggregates = 1 + (size_t)fuzz_flip(f), d.aggregates = g;
    fuzz_array *keys = fuzz_input(f, d.key_dtype, n);
    fuzz_array *values = fuzz_bytes(f, fuzz_product(n, value), fuzz_alignment(value));
    fuzz_array *keys_out_of = fuzz_output_if(f, fuzz_product(n, key), key);
    fuzz_array *counts = fuzz_output(f, fuzz_product(n, 8), 8);
    fuzz_array *picked = fuzz_output(f, fuzz_product(n, value), fuzz_alignment(value));
    fuzz_array *count = fuzz_output(f, 8, 8);
    size_t counted = n;
    d.device_n = fuzz_device_n(f, &counted);
    g[0].out = counts->data, g[1].values = values->data, g[1].out = picked->data;
    if (d.num_aggregates == 1) /* what is wrong with the other one does not matter */
        f->may |= FUZZ_BIT(GP_OK);
    fuzz_reserve(f, gp_group_by_workspace_bytes(NULL, &d, n, &bytes), &bytes);
    FUZZ_CALL(f, gp_group_by(f->ctx, &d, keys->data, n, keys_out_of->data, count->data));
    if (n <= CHECKED)
        same_groups(keys, d.key_dtype, counted, count, counts);
}

fuzz_call *const fuzz_groups[] = {unique, run_lengths, reduce_by_key, group_by, NULL};
