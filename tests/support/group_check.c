/* SPDX-License-Identifier: MIT */
/* Runs by serial loops, and calls compared with them. */
#include "group_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

const size_t group_widths[GROUP_WIDTHS] = {1, 2, 4, 8, 3, 12, 16, 100, 65536};

/* ---- keys ------------------------------------------------------------------------------------ */

static bool equal(const group_keys *k, size_t i, size_t j)
{
    if (!t_is_float(k->dtype))
        return memcmp(k->items + i * k->bytes, k->items + j * k->bytes, k->bytes) == 0;
    const double x = t_value(k->dtype, k->items, i), y = t_value(k->dtype, k->items, j);
    return x == y || (isnan(x) && isnan(y));
}

static void find_heads(group_keys *k)
{
    k->heads = t_host((k->n + 1) * sizeof *k->heads);
    k->count = 0;
    for (size_t i = 0; i < k->n; i++)
        if (i == 0 || !equal(k, i, i - 1))
            k->heads[k->count++] = i;
    k->heads[k->count] = k->n;
}

group_keys group_keys_of(gp_dtype dtype, size_t bytes, const void *items, size_t n)
{
    group_keys k = {.dtype = dtype, .bytes = bytes ? bytes : gp_dtype_bytes(dtype), .n = n};
    k.items = t_host(n * k.bytes);
    memcpy(k.items, items, n * k.bytes);
    find_heads(&k);
    return k;
}

static size_t run_length(enum group_pattern pattern, uint64_t *seed)
{
    const uint64_t r = t_random(seed);
    switch (pattern) {
    case RUNS_OF_1:
        return 1;
    case RUNS_OF_2:
        return 2;
    case RUNS_OF_16:
        return 16;
    case RUNS_OF_1000:
        return 1000;
    case RUNS_POWER_LAW:
        return (size_t)(40000 / (r % 39999 + 1));
    case RUNS_MIXED:
        return r % 4 < 2 ? 1 + r % 2 : 1 + r / 4 % 100;
    default:
        return SIZE_MAX;
    }
}

/* The key of run number r, which differs from the one before: of bytes in a single one of them. */
static void next_key(gp_dtype dtype, size_t bytes, size_t r, char *key)
{
    if (t_is_float(dtype))
        t_set(dtype, key, 0, (double)(r % 100) - 50);
    else
        key[r * 7 % bytes]++;
}

group_keys group_keys_new(gp_dtype dtype, size_t bytes, enum group_pattern pattern, size_t n,
                          uint64_t *seed)
{
    group_keys k = {.dtype = dtype, .bytes = bytes ? bytes : gp_dtype_bytes(dtype), .n = n};
    size_t run = 0, left = 0;
    char *key = calloc(1, k.bytes);
    ck_assert_ptr_nonnull(key);
    k.items = t_host(n * k.bytes);
    for (size_t i = 0; i < n; i++, left--) {
        if (left == 0) {
            left = run_length(pattern, seed);
            next_key(dtype, k.bytes, run++, key);
        }
        memcpy(k.items + i * k.bytes, key, k.bytes);
    }
    free(key);
    find_heads(&k);
    return k;
}

void group_keys_free(group_keys *keys)
{
    free(keys->items);
    free(keys->heads);
}

/* ---- expected values ------------------------------------------------------------------------- */

void *group_picked(const void *items, size_t bytes, const size_t *places, size_t count)
{
    char *out = t_host(count * bytes);
    for (size_t j = 0; j < count; j++)
        memcpy(out + j * bytes, (const char *)items + places[j] * bytes, bytes);
    return out;
}

/* Halves are computed in f32. */
void *group_folded(gp_op op, gp_dtype in, gp_dtype out, const void *values, const group_keys *keys)
{
    const gp_dtype as = out == GP_F16 || out == GP_BF16 ? GP_F32 : out;
    const size_t scalars = gp_op_scalars(op), bytes = gp_dtype_bytes(as) * scalars;
    char *result = t_host(keys->count * bytes);
    for (size_t j = 0; j < keys->count; j++) {
        _Alignas(16) char item[32], all[32];
        for (size_t i = keys->heads[j]; i < keys->heads[j + 1]; i++) {
            if (in == as)
                memcpy(item, (const char *)values + i * bytes, bytes);
            else
                t_set(as, item, 0, t_value(in, values, i));
            if (i == keys->heads[j])
                memcpy(all, item, bytes);
            else
                oracle_apply(op, as, all, item, all);
        }
        if (as == out)
            memcpy(result + j * bytes, all, bytes);
        else
            t_set(out, result, j, t_value(as, all, 0));
    }
    return result;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void name_of(const group_keys *k, const char *call, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s, keys %s of %zu bytes, n %zu in %zu runs", call,
             k->dtype ? gp_dtype_string(k->dtype) : "", k->bytes, k->n, k->count);
}

/* The array holds what is expected and nothing else; both go. */
static void results_check(const char *name, gp_dtype dtype, t_array *out, void *expected)
{
    char *actual = t_host(out->bytes);
    t_get(out, actual, out->bytes);
    t_same(name, dtype, expected, actual, out->bytes / gp_dtype_bytes(dtype));
    t_check_guards(out);
    t_free(out);
    free(actual);
    free(expected);
}

static void outputs_check(const char *name, t_array *out, void *expected)
{
    results_check(name, GP_U8, out, expected);
}

/* A count in guarded memory. */
static void count_check(t_array *count, size_t expected)
{
    ck_assert_uint_eq(t_get_u64(count), expected);
    t_check_guards(count);
    t_free(count);
}

static void *as_indices(const size_t *values, size_t count, gp_dtype index)
{
    const size_t bytes = gp_dtype_bytes(index);
    char *out = t_host(count * bytes);
    for (size_t j = 0; j < count; j++)
        memcpy(out + j * bytes, &values[j], bytes); /* little-endian */
    return out;
}

/* Of an array that a test writes to; NULL if there is nothing to write. */
static t_array room_for(size_t count, size_t bytes, size_t offset)
{
    return t_new(count * bytes, offset * bytes);
}

void group_check_unique(const group_keys *keys, size_t value_bytes, size_t offset)
{
    char name[120], *values = t_host(keys->n * value_bytes);
    const gp_dtype index = offset % 2 ? GP_U64 : GP_U32;
    gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    d.key_dtype = keys->dtype, d.key_bytes = keys->bytes;
    d.value_bytes = value_bytes, d.index_dtype = index;
    d.capacity = keys->count ? keys->count : 1;
    for (size_t i = 0; i < keys->n * value_bytes; i++)
        values[i] = (char)((i * 0x9e3779b1u >> 13) ^ (i / value_bytes));
    t_array in = t_new_from(keys->items, keys->n * keys->bytes, offset * keys->bytes);
    t_array beside = t_new_from(values, keys->n * value_bytes, offset * value_bytes);
    t_array out = room_for(keys->count, keys->bytes, offset);
    t_array first = room_for(keys->count, value_bytes, offset);
    t_array heads = room_for(keys->count, gp_dtype_bytes(index), offset), count = t_new(8, 0);
    T_OK(gp_unique_by(t_ctx(), &d, in.data, value_bytes ? beside.data : NULL, keys->n, out.data,
                      value_bytes ? first.data : NULL, heads.data, count.data));
    count_check(&count, keys->count);
    name_of(keys, "unique keys", name, sizeof name);
    outputs_check(name, &out, group_picked(keys->items, keys->bytes, keys->heads, keys->count));
    name_of(keys, "first values", name, sizeof name);
    outputs_check(name, &first, group_picked(values, value_bytes, keys->heads, keys->count));
    name_of(keys, "heads", name, sizeof name);
    outputs_check(name, &heads, as_indices(keys->heads, keys->count, index));
    t_free(&in);
    t_free(&beside);
    free(values);
}

void group_check_lengths(const group_keys *keys, gp_dtype index, int longer, size_t offset)
{
    char name[120];
    size_t *offsets = t_host((keys->n + 1) * sizeof *offsets), runs = 0;
    size_t *lengths = t_host((keys->n + 1) * sizeof *lengths);
    gp_run_length_desc d = GP_RUN_LENGTH_DESC_INIT;
    for (size_t j = 0; j < keys->count; j++) {
        offsets[runs] = keys->heads[j];
        lengths[runs] = keys->heads[j + 1] - keys->heads[j];
        runs += !longer || lengths[runs] > 1;
    }
    d.key_dtype = keys->dtype, d.key_bytes = keys->bytes;
    d.index_dtype = index, d.longer = longer, d.capacity = runs ? runs : 1;
    t_array in = t_new_from(keys->items, keys->n * keys->bytes, offset * keys->bytes);
    t_array out = room_for(runs, keys->bytes, offset), count = t_new(8, 0);
    t_array at = room_for(runs, gp_dtype_bytes(index), offset);
    t_array length = room_for(runs, gp_dtype_bytes(index), offset + 1);
    T_OK(gp_run_length_encode_by(t_ctx(), &d, in.data, keys->n, out.data, at.data, length.data,
                                 count.data));
    count_check(&count, runs);
    name_of(keys, longer ? "keys of longer runs" : "keys of runs", name, sizeof name);
    outputs_check(name, &out, group_picked(keys->items, keys->bytes, offsets, runs));
    name_of(keys, longer ? "offsets of longer runs" : "offsets of runs", name, sizeof name);
    outputs_check(name, &at, as_indices(offsets, runs, index));
    name_of(keys, longer ? "lengths of longer runs" : "lengths of runs", name, sizeof name);
    outputs_check(name, &length, as_indices(lengths, runs, index));
    t_free(&in);
    free(offsets);
    free(lengths);
}

void group_check_reduce(const group_keys *keys, gp_op op, gp_dtype in_dtype, gp_dtype out_dtype,
                        size_t offset, uint64_t *seed)
{
    char name[160], call[40];
    const size_t scalars = gp_op_scalars(op), scalar = gp_dtype_bytes(in_dtype);
    const size_t out_bytes = gp_dtype_bytes(out_dtype) * scalars;
    void *values = oracle_scan_input(in_dtype, op, keys->n, seed);
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    d.key_dtype = keys->dtype, d.key_bytes = keys->bytes;
    d.op = op, d.in_dtype = in_dtype, d.out_dtype = out_dtype == in_dtype ? 0 : out_dtype;
    d.capacity = keys->count ? keys->count : 1;
    t_array in = t_new_from(keys->items, keys->n * keys->bytes, offset * keys->bytes);
    t_array beside = t_new_from(values, keys->n * scalar * scalars, offset * scalar);
    t_array out = room_for(keys->count, keys->bytes, offset), count = t_new(8, 0);
    t_array folded = t_new(keys->count * out_bytes, offset * gp_dtype_bytes(out_dtype));
    T_OK(gp_reduce_by_key(t_ctx(), &d, in.data, beside.data, keys->n, out.data, folded.data,
                          count.data));
    count_check(&count, keys->count);
    name_of(keys, "keys", name, sizeof name);
    outputs_check(name, &out, group_picked(keys->items, keys->bytes, keys->heads, keys->count));
    snprintf(call, sizeof call, "%s of %s to %s", gp_op_string(op), gp_dtype_string(in_dtype),
             gp_dtype_string(out_dtype));
    name_of(keys, call, name, sizeof name);
    results_check(name, out_dtype, &folded, group_folded(op, in_dtype, out_dtype, values, keys));
    t_free(&in);
    t_free(&beside);
    free(values);
}
