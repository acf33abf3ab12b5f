/* SPDX-License-Identifier: MIT */
/* What the sorts of test_backends.c, and calls on what is sorted, give. */
#include <stdlib.h>
#include <string.h>

#include "bits.h"

void bits_put_picked(const void *items, size_t item, const size_t *index, size_t n,
                     struct bits_output *out)
{
    char *all = t_host(n * item);
    for (size_t i = 0; i < n; i++)
        memcpy(all + i * item, (const char *)items + index[i] * item, item);
    bits_put(out, all, n * item);
    free(all);
}

void bits_sort(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = bits_argsort(d->dtype, d->in, d->n, which);
    bits_put_picked(d->in, d->item, index, d->n, out);
    free(index);
}

void bits_sort_pairs(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = bits_argsort(d->dtype, d->in, d->n, which);
    bits_put_picked(d->in, d->item, index, d->n, out);
    bits_put_picked(d->positions, 4, index, d->n, out);
    free(index);
}

void bits_order_of(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = bits_argsort(d->dtype, d->in, d->n, which);
    bits_put_picked(d->positions, 4, index, d->n, out);
    free(index);
}

char *bits_runs(const struct bits_input *d)
{
    char *keys = t_host(d->n * d->item);
    for (size_t s = 0; s < d->segments; s++) {
        const size_t begin = d->offsets[s], n = d->offsets[s + 1] - begin;
        const char *items = d->in + begin * d->item;
        size_t *index = bits_argsort(d->dtype, items, n, GP_ASCENDING);
        for (size_t i = 0; i < n; i++)
            memcpy(keys + (begin + i) * d->item, items + index[i] * d->item, d->item);
        free(index);
    }
    return keys;
}

void bits_sort_segments(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *order = t_host(d->n * sizeof *order);
    for (size_t s = 0; s < d->segments; s++) {
        size_t begin = d->offsets[s], n = d->offsets[s + 1] - begin;
        size_t *index = bits_argsort(d->dtype, d->in + begin * d->item, n, which);
        for (size_t i = 0; i < n; i++)
            order[begin + i] = begin + index[i];
        free(index);
    }
    bits_put_picked(d->in, d->item, order, d->n, out);
    bits_put_picked(d->positions, 4, order, d->n, out);
    free(order);
}

/* Runs are the segments, each sorted. */
void bits_merge_runs(const struct bits_input *d, int which, struct bits_output *out)
{
    char *keys = bits_runs(d);
    size_t *order = bits_argsort(d->dtype, keys, d->n, GP_ASCENDING);
    bits_put_picked(keys, d->item, order, d->n, out);
    if (which)
        bits_put_picked(d->positions, 4, order, d->n, out);
    free(keys);
    free(order);
}

/* Values: positions in the first array, then in the second. */
void bits_merge(const struct bits_input *d, int which, struct bits_output *out)
{
    char *keys = t_host(2 * d->n * d->item);
    uint32_t *values = t_host(2 * d->n * sizeof *values);
    (void)which;
    for (size_t a = 0, b = 0; a + b < 2 * d->n;) {
        const char *left = d->sorted + a * d->item, *right = d->sorted_other + b * d->item;
        bool from_left = b == d->n || (a < d->n && bits_order(d->dtype, left, right) <= 0);
        memcpy(keys + (a + b) * d->item, from_left ? left : right, d->item);
        values[a + b] = (uint32_t)(from_left ? a : b);
        a += from_left;
        b += !from_left;
    }
    bits_put(out, keys, 2 * d->n * d->item);
    bits_put(out, values, 2 * d->n * sizeof *values);
    free(keys);
    free(values);
}

void bits_top_k(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *index = bits_argsort(d->dtype, d->in, d->n, which), k = d->n / 3 + 1;
    bits_put_picked(d->in, d->item, index, k, out);
    bits_put_picked(d->positions, 4, index, k, out);
    free(index);
}

void bits_bounds(const struct bits_input *d, int which, struct bits_output *out)
{
    for (size_t k = 0; k < d->n && k < BITS_NEEDLES; k++) {
        uint32_t place = 0;
        for (size_t i = 0; i < d->n; i++) {
            int order = bits_order(d->dtype, d->sorted + i * d->item, d->other + k * d->item);
            place += which ? order <= 0 : order < 0;
        }
        bits_put(out, &place, sizeof place);
    }
}

void bits_lexsort(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *by_col = bits_argsort(d->dtype, d->more_indices, d->n, GP_ASCENDING);
    char *rows = t_host(d->n * d->item);
    (void)which;
    for (size_t i = 0; i < d->n; i++)
        memcpy(rows + i * d->item, d->indices + by_col[i] * d->item, d->item);
    size_t *by_row = bits_argsort(d->dtype, rows, d->n, GP_ASCENDING);
    size_t *order = t_host(d->n * sizeof *order);
    for (size_t i = 0; i < d->n; i++)
        order[i] = by_col[by_row[i]];
    bits_put_picked(d->indices, d->item, order, d->n, out);
    bits_put_picked(d->more_indices, d->item, order, d->n, out);
    bits_put_picked(d->in, d->item, order, d->n, out);
    free(by_col);
    free(rows);
    free(by_row);
    free(order);
}

/* By items, and among equal ones by the other items, ascending. */
static size_t *order_by_two(const struct bits_input *d, int which)
{
    size_t *second = bits_argsort(d->dtype, d->other, d->n, GP_ASCENDING);
    char *items = t_host(d->n * d->item);
    for (size_t i = 0; i < d->n; i++)
        memcpy(items + i * d->item, d->in + second[i] * d->item, d->item);
    size_t *first = bits_argsort(d->dtype, items, d->n, which);
    for (size_t i = 0; i < d->n; i++)
        first[i] = second[first[i]];
    free(second);
    free(items);
    return first;
}

void bits_lexsort_by(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *order = order_by_two(d, which);
    bits_put_picked(d->positions, 4, order, d->n, out);
    free(order);
}

/* Records are an item, the position, the other item. */
void bits_record_sort(const struct bits_input *d, int which, struct bits_output *out)
{
    size_t *order = order_by_two(d, which);
    for (size_t i = 0; i < d->n; i++) {
        bits_put(out, d->in + order[i] * d->item, d->item);
        bits_put(out, d->positions + order[i], 4);
        bits_put(out, d->other + order[i] * d->item, d->item);
    }
    free(order);
}
