/* SPDX-License-Identifier: MIT */
/* What each call of test_backends.c gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "oracle.h"

/* ---- operators ------------------------------------------------------------------------------- */

void bits_fold(gp_dtype dtype, int op, char *carry, const char *item)
{
    char result[8];
    bool take = (op == GP_MIN && bits_order(dtype, item, carry) < 0) ||
                (op == GP_MAX && bits_order(dtype, carry, item) < 0);
    if (take)
        memcpy(carry, item, gp_dtype_bytes(dtype));
    if (op == GP_MIN || op == GP_MAX)
        return;
    oracle_apply((gp_op)op, dtype, carry, item, result); /* of integers */
    memcpy(carry, result, gp_dtype_bytes(dtype));
}

/* Halves are scanned as floats: all their NaNs become one. */
static void put_computed(const struct bits_input *d, const char *item, char *out)
{
    static const uint16_t nan_of_halves = 0x7fff;
    bool half = d->dtype == GP_F16 || d->dtype == GP_BF16;
    memcpy(out, half && isnan(t_value(d->dtype, item, 0)) ? (const char *)&nan_of_halves : item,
           d->item);
}

enum { EXCLUSIVE = 1, BACKWARD = 2 };

/* heads: NULL, or where the scan begins anew. */
static void scan(const struct bits_input *d, int op, int how, const char *init,
                 const uint8_t *heads, struct bits_output *out)
{
    char carry[8], start[8], *all = t_host(d->n * d->item);
    if (init)
        memcpy(start, init, d->item);
    else
        oracle_identity((gp_op)op, d->dtype, start);
    memcpy(carry, start, d->item);
    for (size_t k = 0; k < d->n; k++) {
        size_t i = how & BACKWARD ? d->n - 1 - k : k;
        if (heads && heads[i])
            memcpy(carry, start, d->item);
        if (how & EXCLUSIVE)
            put_computed(d, carry, all + i * d->item);
        bits_fold(d->dtype, op, carry, d->in + i * d->item);
        if (!(how & EXCLUSIVE))
            put_computed(d, carry, all + i * d->item);
    }
    bits_put(out, all, d->n * d->item);
    free(all);
}

void bits_scan_inclusive(const struct bits_input *d, int which, struct bits_output *out)
{
    scan(d, which, 0, NULL, NULL, out);
}

void bits_scan_exclusive(const struct bits_input *d, int which, struct bits_output *out)
{
    scan(d, which, EXCLUSIVE, d->init, NULL, out);
}

void bits_scan_backward(const struct bits_input *d, int which, struct bits_output *out)
{
    scan(d, which, BACKWARD, d->init, NULL, out);
}

void bits_scan_by_key(const struct bits_input *d, int which, struct bits_output *out)
{
    uint8_t *heads = t_host(d->n);
    for (size_t i = 0; i < d->n; i++)
        heads[i] = i == 0 || d->keys[i] != d->keys[i - 1];
    scan(d, which, 0, NULL, heads, out);
    free(heads);
}

void bits_scan_flagged(const struct bits_input *d, int which, struct bits_output *out)
{
    scan(d, which, EXCLUSIVE, d->init, d->keep, out);
}

void bits_reduce(const struct bits_input *d, int which, struct bits_output *out)
{
    char carry[8];
    memcpy(carry, d->in, d->item);
    for (size_t i = 1; i < d->n; i++)
        bits_fold(d->dtype, which, carry, d->in + i * d->item);
    bits_put(out, carry, d->item);
}

void bits_arg(const struct bits_input *d, int which, struct bits_output *out)
{
    uint64_t best = 0;
    for (size_t i = 1; i < d->n; i++) {
        int order = bits_order(d->dtype, d->in + i * d->item, d->in + best * d->item);
        if (which ? order > 0 : order < 0)
            best = i;
    }
    bits_put(out, d->in + best * d->item, d->item);
    bits_put(out, &best, sizeof best);
}

void bits_difference(const struct bits_input *d, int which, struct bits_output *out)
{
    char *all = t_host(d->n * d->item);
    (void)which;
    for (size_t i = 0; i < d->n; i++) {
        uint64_t x = 0, before = 0;
        memcpy(&x, d->in + i * d->item, d->item);
        if (i > 0)
            memcpy(&before, d->in + (i - 1) * d->item, d->item);
        x -= before;
        memcpy(all + i * d->item, &x, d->item); /* little-endian */
    }
    bits_put(out, all, d->n * d->item);
    free(all);
}

/* Of segments without items the identity, and UINT64_MAX. */
static void put_segments(const struct bits_input *d, int which, bool places,
                         struct bits_output *out)
{
    char *values = t_host(d->segments * d->item), *value = values;
    uint64_t *indices = t_host(d->segments * 8);
    for (size_t s = 0; s < d->segments; s++, value += d->item) {
        const size_t begin = d->offsets[s], end = d->offsets[s + 1];
        const gp_op op = places ? which ? GP_MAX : GP_MIN : (gp_op)which;
        size_t best = begin;
        char nothing[8];
        oracle_identity(op, d->dtype, nothing);
        put_computed(d, nothing, value);
        if (end > begin)
            memcpy(value, d->in + begin * d->item, d->item);
        for (size_t i = begin + 1; i < end; i++) {
            const int order = bits_order(d->dtype, d->in + i * d->item, d->in + best * d->item);
            best = (op == GP_MAX ? order > 0 : order < 0) ? i : best;
            bits_fold(d->dtype, op, value, d->in + i * d->item);
        }
        indices[s] = end > begin ? best - begin : UINT64_MAX;
    }
    bits_put(out, values, d->segments * d->item);
    if (places)
        bits_put(out, indices, d->segments * 8);
    free(values);
    free(indices);
}

void bits_reduce_segments(const struct bits_input *d, int which, struct bits_output *out)
{
    put_segments(d, which, false, out);
}

void bits_arg_segments(const struct bits_input *d, int which, struct bits_output *out)
{
    put_segments(d, which, true, out);
}

/* ---- selection ------------------------------------------------------------------------------- */

void bits_put_count(struct bits_output *out, uint64_t count)
{
    bits_put(out, &count, sizeof count);
}

/* The items whose flag is set or, if others, the others; returns how many. */
static uint64_t put_flagged(const struct bits_input *d, const uint8_t *keep, bool others,
                            struct bits_output *out)
{
    uint64_t count = 0;
    char *all = t_host(d->n * d->item);
    for (size_t i = 0; i < d->n; i++)
        if (!keep[i] == others)
            memcpy(all + count++ * d->item, d->in + i * d->item, d->item);
    bits_put(out, all, count * d->item);
    free(all);
    return count;
}

void bits_compact(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    bits_put_count(out, put_flagged(d, d->keep, false, out));
}

void bits_partition(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    uint64_t count = put_flagged(d, d->keep, false, out);
    put_flagged(d, d->keep, true, out);
    bits_put_count(out, count);
}

void bits_partition_into(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    uint64_t front = put_flagged(d, d->keep, false, out);
    uint64_t back = put_flagged(d, d->keep, true, out);
    bits_put_count(out, front);
    bits_put_count(out, back);
}

/* From the initial value on to the first item: inside, below, above. */
void bits_partition_range(const struct bits_input *d, int which, struct bits_output *out)
{
    uint8_t *keep = t_host(d->n);
    uint64_t counts[3];
    (void)which;
    for (int side = 0; side < 3; side++) {
        for (size_t i = 0; i < d->n; i++) {
            const char *item = d->in + i * d->item;
            const bool below = bits_order(d->dtype, item, d->init) < 0;
            const bool inside = !below && bits_order(d->dtype, item, d->in) <= 0;
            keep[i] = side == (inside ? 0 : below ? 1 : 2);
        }
        counts[side] = put_flagged(d, keep, false, out);
    }
    bits_put(out, counts, sizeof counts);
    free(keep);
}

/* 0: by the flags, 1: by the rows. */
void bits_multisplit(const struct bits_input *d, int which, struct bits_output *out)
{
    const size_t buckets = which ? BITS_SIDE + 257 : 256;
    uint64_t *offsets = t_host((buckets + 1) * 8), at = 0;
    char *all = t_host(d->n * d->item);
    for (size_t b = 0; b < buckets; b++) {
        offsets[b] = at;
        for (size_t i = 0; i < d->n; i++)
            if ((which ? d->rows[i] : d->keep[i]) == b)
                memcpy(all + at++ * d->item, d->in + i * d->item, d->item);
    }
    offsets[buckets] = at;
    bits_put(out, all, d->n * d->item);
    bits_put(out, offsets, (buckets + 1) * 8);
    free(offsets), free(all);
}

void bits_compact_indices(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    uint64_t count = 0;
    for (uint32_t i = 0; i < d->n; i++)
        if (d->keep[i]) {
            bits_put(out, &i, sizeof i);
            count++;
        }
    bits_put_count(out, count);
}

static bool holds(gp_compare compare, int order)
{
    switch (compare) {
    case GP_EQ:
        return order == 0;
    case GP_NE:
        return order != 0;
    case GP_LT:
        return order < 0;
    case GP_LE:
        return order <= 0;
    case GP_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

void bits_compact_if(const struct bits_input *d, int which, struct bits_output *out)
{
    uint8_t *keep = t_host(d->n);
    for (size_t i = 0; i < d->n; i++)
        keep[i] = holds((gp_compare)which, bits_order(d->dtype, d->in + i * d->item, d->init));
    bits_put_count(out, put_flagged(d, keep, false, out));
    free(keep);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Where runs of equal items begin, their number, and n behind the last. */
static size_t *heads_of(const struct bits_input *d, const char *items, size_t *count)
{
    size_t *heads = t_host((d->n + 1) * sizeof *heads);
    *count = 0;
    for (size_t i = 0; i < d->n; i++)
        if (i == 0 || bits_order(d->dtype, items + i * d->item, items + (i - 1) * d->item) != 0)
            heads[(*count)++] = i;
    heads[*count] = d->n;
    return heads;
}

void bits_unique(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t count, *heads = heads_of(d, d->in, &count);
    (void)which;
    bits_put_picked(d->in, d->item, heads, count, out);
    bits_put_picked(d->positions, 4, heads, count, out);
    bits_put_picked(d->positions, 4, heads, count, out);
    bits_put_count(out, count);
    free(heads);
}

void bits_run_lengths(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t count, *heads = heads_of(d, d->in, &count);
    (void)which;
    bits_put_picked(d->in, d->item, heads, count, out);
    for (size_t j = 0; j < count; j++)
        bits_put_count(out, heads[j + 1] - heads[j]);
    bits_put_count(out, count);
    free(heads);
}

void bits_reduce_by_key(const struct bits_input *d, int which, struct bits_output *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < d->n;) {
        char carry[8], computed[8];
        memcpy(carry, d->in + i * d->item, d->item);
        for (i++; i < d->n && d->keys[i] == d->keys[i - 1]; i++)
            bits_fold(d->dtype, which, carry, d->in + i * d->item);
        put_computed(d, carry, computed);
        bits_put(out, computed, d->item);
        count++;
    }
    bits_put_count(out, count);
}

/* Keys by their first bits; positions rise, so that the last one is the largest. */
void bits_group_by(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t count, *order = bits_argsort(d->dtype, d->in, d->n, GP_ASCENDING);
    char *sorted = t_host(d->n * d->item);
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        memcpy(sorted + i * d->item, d->in + order[i] * d->item, d->item);
    size_t *heads = heads_of(d, sorted, &count), *last = t_host(count * sizeof *last);
    bits_put_picked(sorted, d->item, heads, count, out);
    for (size_t j = 0; j < count; j++)
        last[j] = order[heads[j + 1] - 1];
    bits_put_picked(d->positions, 4, last, count, out);
    bits_put_picked(d->positions, 4, last, count, out);
    bits_put_count(out, count);
    free(order), free(sorted), free(heads), free(last);
}
