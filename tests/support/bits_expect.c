/* SPDX-License-Identifier: MIT */
/* What each call of test_backends.c gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "oracle.h"

/* ---- operators ------------------------------------------------------------------------------- */

/* *carry = carry op item; a tie keeps the carry, and what is selected its bits. */
static void fold(gp_dtype dtype, int op, char *carry, const char *item)
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
        fold(d->dtype, op, carry, d->in + i * d->item);
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
        fold(d->dtype, which, carry, d->in + i * d->item);
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
            fold(d->dtype, op, value, d->in + i * d->item);
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

static void put_count(struct bits_output *out, uint64_t count)
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
    put_count(out, put_flagged(d, d->keep, false, out));
}

void bits_partition(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    uint64_t count = put_flagged(d, d->keep, false, out);
    put_flagged(d, d->keep, true, out);
    put_count(out, count);
}

void bits_partition_into(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    uint64_t front = put_flagged(d, d->keep, false, out);
    uint64_t back = put_flagged(d, d->keep, true, out);
    put_count(out, front);
    put_count(out, back);
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
    put_count(out, count);
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
    put_count(out, put_flagged(d, keep, false, out));
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
    put_count(out, count);
    free(heads);
}

void bits_run_lengths(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t count, *heads = heads_of(d, d->in, &count);
    (void)which;
    bits_put_picked(d->in, d->item, heads, count, out);
    for (size_t j = 0; j < count; j++)
        put_count(out, heads[j + 1] - heads[j]);
    put_count(out, count);
    free(heads);
}

void bits_reduce_by_key(const struct bits_input *d, int which, struct bits_output *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < d->n;) {
        char carry[8], computed[8];
        memcpy(carry, d->in + i * d->item, d->item);
        for (i++; i < d->n && d->keys[i] == d->keys[i - 1]; i++)
            fold(d->dtype, which, carry, d->in + i * d->item);
        put_computed(d, carry, computed);
        bits_put(out, computed, d->item);
        count++;
    }
    put_count(out, count);
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
    put_count(out, count);
    free(order), free(sorted), free(heads), free(last);
}

/* ---- moved, counted -------------------------------------------------------------------------- */

/* By the rows: indices below BITS_SIDE, or below n. */
void bits_gather(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = t_host(d->n * sizeof *index);
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        index[i] = d->rows[i] < d->n ? d->rows[i] : 0;
    bits_put_picked(d->in, d->item, index, d->n, out);
    free(index);
}

void bits_scatter(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = t_host(d->n * sizeof *index);
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        index[i] = d->n - 1 - i;
    bits_put_picked(d->in, d->item, index, d->n, out);
    free(index);
}

void bits_intervals(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    for (size_t s = d->segments; s-- > 0;)
        bits_put(out, d->in + d->offsets[s] * d->item,
                 (d->offsets[s + 1] - d->offsets[s]) * d->item);
}

void bits_fill(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        bits_put(out, d->init, d->item);
}

void bits_sequence(gp_dtype dtype, void *first, void *step)
{
    t_set(dtype, first, 0, t_is_float(dtype) ? -1.5 : 100);
    t_set(dtype, step, 0, t_is_float(dtype) ? 0.375 : 7);
}

void bits_iota(const struct bits_input *d, int which, struct bits_output *out)
{
    uint64_t first = 0, step = 0;
    (void)which;
    bits_sequence(d->dtype, &first, &step);
    for (uint64_t i = 0, x = first; i < d->n; i++, x += step) {
        uint64_t item = x;
        if (t_is_float(d->dtype))
            t_set(d->dtype, &item, 0, -1.5 + 0.375 * (double)i);
        bits_put(out, &item, d->item);
    }
}

void bits_expand(const struct bits_input *d, int which, struct bits_output *out)
{
    uint64_t total = 0;
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        total += d->counts[i];
    size_t *index = t_host(total * sizeof *index);
    for (size_t i = 0, to = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->counts[i]; k++)
            index[to++] = i;
    bits_put_picked(d->in, d->item, index, total, out);
    put_count(out, total);
    free(index);
}

void bits_histogram_even(const struct bits_input *d, int which, struct bits_output *out)
{
    gp_dtype limit = d->dtype == GP_F16 || d->dtype == GP_BF16 ? GP_F32 : d->dtype;
    uint32_t counts[BITS_BINS] = {0};
    char lo[8], hi[8];
    (void)which;
    bits_limits(d->dtype, lo, hi);
    double from = t_value(limit, lo, 0), to = t_value(limit, hi, 0);
    double scale = BITS_BINS / (to - from);
    for (size_t i = 0; i < d->n; i++) {
        double x = t_value(d->dtype, d->in, i); /* of integers exact, where it matters */
        if (!(from <= x && x < to))
            continue;
        int bin = t_is_float(d->dtype) ? (int)((x - from) * scale)
                                       : ((int)x - (int)from) * BITS_BINS / ((int)to - (int)from);
        counts[bin < BITS_BINS ? bin : BITS_BINS - 1]++;
    }
    bits_put(out, counts, sizeof counts);
}

void bits_histogram_edges(const struct bits_input *d, int which, struct bits_output *out)
{
    uint32_t counts[BITS_EDGES - 1] = {0};
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        for (size_t b = 0; b < BITS_EDGES - 1; b++) {
            const char *x = d->in + i * d->item, *edge = d->edges + b * d->item;
            if (bits_order(d->dtype, edge, x) <= 0 && bits_order(d->dtype, x, edge + d->item) < 0)
                counts[b]++;
        }
    bits_put(out, counts, sizeof counts);
}

void bits_bincount(const struct bits_input *d, int which, struct bits_output *out)
{
    uint32_t counts[BITS_BINS] = {0};
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        for (int v = 0; v < BITS_BINS; v++)
            counts[v] += t_value(d->dtype, d->in, i) == v;
    bits_put(out, counts, sizeof counts);
}

/* ---- sparse matrices ------------------------------------------------------------------------- */

/* The entries of one place, in their order, as duplicates says; returns how many are left. */
static uint32_t put_place(const struct bits_input *d, uint32_t row, uint32_t col, int duplicates,
                          struct bits_output *cols, struct bits_output *values)
{
    char value[8];
    uint32_t count = 0;
    for (size_t i = 0; i < d->n; i++) {
        const char *item = d->in + i * d->item;
        if (d->rows[i] != row || d->cols[i] != col)
            continue;
        bool first = count == 0, keep = duplicates == GP_DUPLICATES_KEEP;
        if (first || keep || duplicates == GP_DUPLICATES_LAST)
            memcpy(value, item, d->item);
        else if (duplicates != GP_DUPLICATES_FIRST)
            fold(d->dtype,
                 duplicates == GP_DUPLICATES_MIN   ? GP_MIN
                 : duplicates == GP_DUPLICATES_MAX ? GP_MAX
                                                   : GP_SUM,
                 value, item);
        if (first || keep)
            bits_put(cols, &col, sizeof col);
        if (keep)
            bits_put(values, value, d->item);
        count += first || keep;
    }
    if (count && duplicates != GP_DUPLICATES_KEEP)
        bits_put(values, value, d->item);
    return count;
}

static void put_matrix(const struct bits_output *pointers, struct bits_output *cols,
                       struct bits_output *values, struct bits_output *out)
{
    bits_put(out, pointers->bytes, pointers->size);
    bits_put(out, cols->bytes, cols->size);
    bits_put(out, values->bytes, values->size);
    free(pointers->bytes);
    free(cols->bytes);
    free(values->bytes);
}

/* exchanged: rows and columns. */
static void convert(const struct bits_input *d, int duplicates, bool exchanged,
                    struct bits_output *out)
{
    struct bits_output pointers = {NULL, 0, 0}, cols = {NULL, 0, 0}, values = {NULL, 0, 0};
    struct bits_input turned = *d;
    uint32_t nnz = 0;
    if (exchanged) {
        turned.rows = d->cols;
        turned.cols = d->rows;
    }
    bits_put(&pointers, &nnz, sizeof nnz);
    for (uint32_t r = 0; r < BITS_SIDE; r++) {
        for (uint32_t c = 0; c < BITS_SIDE; c++)
            nnz += put_place(&turned, r, c, duplicates, &cols, &values);
        bits_put(&pointers, &nnz, sizeof nnz);
    }
    put_matrix(&pointers, &cols, &values, out);
}

void bits_from_coo(const struct bits_input *d, int which, struct bits_output *out)
{
    convert(d, which, false, out);
}

void bits_transpose(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    convert(d, GP_DUPLICATES_KEEP, true, out);
}

/* Segments are rows; whole numbers, so that every order of adding is exact. */
void bits_spmv(const struct bits_input *d, int which, struct bits_output *out)
{
    (void)which;
    for (size_t r = 0; r < d->segments; r++) {
        char y[8];
        double sum = 0;
        for (size_t i = d->offsets[r]; i < d->offsets[r + 1]; i++)
            sum +=
                t_value(d->dtype, d->small, i) * t_value(d->dtype, d->indices, d->cols[i] % d->n);
        t_set(d->dtype, y, 0, sum);
        bits_put(out, y, d->item);
    }
}
