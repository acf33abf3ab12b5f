/* SPDX-License-Identifier: MIT */
/* Limits of the calls on runs and groups. */
#ifndef GP_TEST_LIMITS_GROUPS_H
#define GP_TEST_LIMITS_GROUPS_H

#include "limit_rows_moves.h"

/* Keys of `value` bytes, each twice; with: 0, or values of as many bytes beside keys of 4. */
static gp_status run_unique_bytes(const struct limit *l, uint64_t value)
{
    struct moves m = moves_new(l, value);
    gp_unique_desc d = GP_UNIQUE_DESC_INIT;
    char *twice = t_host(2 * MOVES * m.bytes);
    uint64_t numbers[2 * MOVES];
    for (size_t i = 0; i < 2 * MOVES; i++) {
        memcpy(twice + i * m.bytes, m.items + i / 2 * m.bytes, m.bytes);
        numbers[i] = i / 2;
    }
    /* Neighbours of few bytes may be alike: those are one run. */
    size_t runs = 0;
    for (size_t i = 0; i < MOVES; i++)
        if (l->with || i == 0 ||
            memcmp(m.items + i * m.bytes, m.items + (i - 1) * m.bytes, m.bytes) != 0)
            moves_expect(&m, runs++, i);
    t_array items = t_new_from(twice, 2 * MOVES * m.bytes, 0),
            keys = limit_array(numbers, 2 * MOVES, 4);
    t_array out_count = t_new(8, 0);
    d.key_bytes = l->with ? 4 : value, d.value_bytes = l->with ? value : 0;
    gp_status s = l->with ? gp_unique_by(t_ctx(), &d, keys.data, items.data, 2 * MOVES, NULL,
                                         m.out.data, NULL, out_count.data)
                          : gp_unique_by(t_ctx(), &d, items.data, NULL, 2 * MOVES, m.out.data, NULL,
                                         NULL, out_count.data);
    const uint64_t count = runs;
    limit_output(s, &out_count, &count, 8);
    t_free(&items), t_free(&keys);
    free(twice);
    return moves_end(s, &m, runs);
}

/* Runs of three. with: the bytes of a length. */
static gp_status run_lengths_n(const struct limit *l, uint64_t value)
{
    size_t n = limit_room(l, value);
    uint64_t *keys = limit_positions(n), *lengths = t_host(n * 8 + 8);
    const uint64_t count = (n + 2) / 3;
    for (size_t i = 0; i < n; i++) {
        keys[i] = i / 3;
        lengths[i / 3] = i % 3 + 1;
    }
    t_array in = limit_array(keys, n, 4), out = t_new(n * 4, 0), at = t_new(n * l->with, 0);
    t_array number = t_new(8, 0);
    gp_status s =
        gp_run_length_encode(t_ctx(), GP_U32, in.data, value, l->with == 4 ? GP_U32 : GP_U64,
                             out.data, at.data, number.data);
    uint64_t *first = limit_positions(count);
    void *narrow = limit_narrow(lengths, count, l->with),
         *narrow_keys = limit_narrow(first, count, 4);
    limit_output(s, &at, narrow, count * l->with);
    limit_output(s, &out, narrow_keys, count * 4);
    limit_output(s, &number, &count, 8);
    t_free(&in);
    free(keys), free(lengths), free(first), free(narrow), free(narrow_keys);
    return s;
}

/* Sums of ones. with: 0 for gp_reduce_by_key(), of runs of three; 1 for gp_group_by(), of keys
 * modulo a third of n. */
static gp_status run_group_n(const struct limit *l, uint64_t value)
{
    size_t n = limit_room(l, value), groups = (n + 2) / 3;
    uint64_t *keys = limit_positions(n), *sums = t_host(n * 8 + 8), *ones = limit_positions(n);
    memset(sums, 0, n * 8 + 8);
    for (size_t i = 0; i < n; i++) {
        keys[i] = l->with ? i % groups : i / 3;
        ones[i] = 1;
        sums[keys[i]]++;
    }
    t_array in = limit_array(keys, n, 4), values = limit_array(ones, n, 4);
    t_array out = t_new(n * 8, 0), number = t_new(8, 0);
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    gp_group_by_desc g = GP_GROUP_BY_DESC_INIT;
    gp_aggregate sum = GP_AGGREGATE_INIT;
    d.key_dtype = g.key_dtype = GP_U32, d.in_dtype = sum.in_dtype = GP_U32;
    d.out_dtype = sum.out_dtype = GP_U64;
    sum.values = values.data, sum.out = out.data;
    g.num_aggregates = 1, g.aggregates = &sum;
    gp_status s = l->with ? gp_group_by(t_ctx(), &g, in.data, value, NULL, number.data)
                          : gp_reduce_by_key(t_ctx(), &d, in.data, values.data, value, NULL,
                                             out.data, number.data);
    const uint64_t count = groups;
    limit_output(s, &out, sums, groups * 8);
    limit_output(s, &number, &count, 8);
    t_free(&in), t_free(&values);
    free(keys), free(sums), free(ones);
    return s;
}

/* with: which call. */
enum { BYTES_UNIQUE, BYTES_LENGTHS, BYTES_REDUCE, BYTES_GROUP };

static gp_status bytes_group(const struct limit *l, uint64_t value, size_t *bytes)
{
    gp_unique_desc u = GP_UNIQUE_DESC_INIT;
    gp_run_length_desc r = GP_RUN_LENGTH_DESC_INIT;
    gp_reduce_by_key_desc d = GP_REDUCE_BY_KEY_DESC_INIT;
    gp_group_by_desc g = GP_GROUP_BY_DESC_INIT;
    gp_aggregate sum = GP_AGGREGATE_INIT;
    u.key_bytes = 65536, u.value_bytes = 65536, r.index_dtype = GP_U64;
    r.key_dtype = d.key_dtype = g.key_dtype = l->dtype, d.in_dtype = sum.in_dtype = l->dtype;
    g.num_aggregates = 1, g.aggregates = &sum;
    switch (l->with) {
    case BYTES_UNIQUE:
        return gp_unique_workspace_bytes(NULL, &u, value, bytes);
    case BYTES_LENGTHS:
        return gp_run_length_encode_workspace_bytes(NULL, &r, value, bytes);
    case BYTES_REDUCE:
        return gp_reduce_by_key_workspace_bytes(NULL, &d, value, bytes);
    default:
        return gp_group_by_workspace_bytes(NULL, &g, value, bytes);
    }
}

#endif
