/* SPDX-License-Identifier: MIT */
#include "bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ----------------------------------------------------------------------------------- */

static int64_t signed_value(gp_dtype dtype, const void *item)
{
    unsigned unused = 64 - 8 * (unsigned)gp_dtype_bytes(dtype);
    uint64_t bits = 0;
    memcpy(&bits, item, gp_dtype_bytes(dtype));
    return (int64_t)(bits << unused) >> unused;
}

static uint64_t unsigned_value(gp_dtype dtype, const void *item)
{
    uint64_t bits = 0;
    memcpy(&bits, item, gp_dtype_bytes(dtype));
    return bits;
}

int bits_order(gp_dtype dtype, const void *a, const void *b)
{
    if (t_is_float(dtype)) {
        double x = t_value(dtype, a, 0), y = t_value(dtype, b, 0);
        if (isnan(x) || isnan(y))
            return !!isnan(x) - !!isnan(y);
        return (x > y) - (x < y);
    }
    if (t_is_signed(dtype)) {
        int64_t x = signed_value(dtype, a), y = signed_value(dtype, b);
        return (x > y) - (x < y);
    }
    uint64_t x = unsigned_value(dtype, a), y = unsigned_value(dtype, b);
    return (x > y) - (x < y);
}

/* For qsort(). */
static struct {
    gp_dtype dtype;
    const char *items;
    int descending;
} sorted_by;

static int compare(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b, item = gp_dtype_bytes(sorted_by.dtype);
    int order = bits_order(sorted_by.dtype, sorted_by.items + i * item, sorted_by.items + j * item);
    if (order)
        return sorted_by.descending ? -order : order;
    return (i > j) - (i < j);
}

size_t *bits_argsort(gp_dtype dtype, const void *items, size_t n, int which)
{
    size_t *index = t_host(n * sizeof *index);
    for (size_t i = 0; i < n; i++)
        index[i] = i;
    sorted_by.dtype = dtype;
    sorted_by.items = items;
    sorted_by.descending = which == GP_DESCENDING;
    qsort(index, n, sizeof *index, compare);
    return index;
}

void bits_canonical(gp_dtype dtype, void *items, size_t n)
{
    size_t item = gp_dtype_bytes(dtype);
    for (size_t i = 0; t_is_float(dtype) && i < n; i++) {
        double value = t_value(dtype, items, i);
        if (value == 0 || isnan(value))
            memset((char *)items + i * item, value == 0 ? 0 : 0xff, item);
    }
}

void bits_one_nan(gp_dtype dtype, void *items, size_t n)
{
    size_t item = gp_dtype_bytes(dtype);
    for (size_t i = 0; t_is_float(dtype) && i < n; i++)
        if (isnan(t_value(dtype, items, i)))
            memset((char *)items + i * item, 0xff, item);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static char *sorted_copy(gp_dtype dtype, const char *items, size_t n)
{
    size_t item = gp_dtype_bytes(dtype), *index = bits_argsort(dtype, items, n, GP_ASCENDING);
    char *copy = t_host(n * item);
    for (size_t i = 0; i < n; i++)
        memcpy(copy + i * item, items + index[i] * item, item);
    free(index);
    return copy;
}

static char *edges_new(gp_dtype dtype, uint64_t *state)
{
    size_t item = gp_dtype_bytes(dtype);
    char edges[BITS_EDGES * 8];
    for (size_t i = 0; i < BITS_EDGES;) {
        t_fill_special(dtype, edges + i * item, 1, state);
        i += !t_is_float(dtype) || !isnan(t_value(dtype, edges, i));
    }
    return sorted_copy(dtype, edges, BITS_EDGES);
}

static uint32_t *numbers_new(size_t n, uint64_t below, uint64_t *state)
{
    uint32_t *numbers = t_host(n * sizeof *numbers);
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)t_random_below(state, below);
    return numbers;
}

/* Segments of 0 to 40 items. */
static void segments_new(struct bits_input *d, uint64_t *state)
{
    d->offsets = t_host((d->n + 2) * sizeof *d->offsets);
    d->offsets[0] = 0;
    for (d->segments = 0; d->offsets[d->segments] < d->n && d->segments < d->n;) {
        uint32_t end = d->offsets[d->segments] + (uint32_t)t_random_below(state, 41);
        d->offsets[++d->segments] = end < d->n ? end : (uint32_t)d->n;
    }
    d->offsets[++d->segments] = (uint32_t)d->n;
}

struct bits_input bits_input_new(gp_dtype dtype, size_t n, uint64_t seed)
{
    uint64_t state = seed;
    struct bits_input d = {.dtype = dtype, .item = gp_dtype_bytes(dtype), .n = n};
    char **specials[] = {&d.in, &d.other}, **numbers[] = {&d.small, &d.indices, &d.more_indices};
    for (int i = 0; i < 2; i++) {
        *specials[i] = t_host(n * d.item);
        t_fill_special(dtype, *specials[i], n, &state);
    }
    for (int i = 0; i < 3; i++) {
        *numbers[i] = t_host(n * d.item);
        t_fill_small(dtype, *numbers[i], n, i ? BITS_SIDE : 8, &state);
    }
    t_fill_special(dtype, d.init, 1, &state);
    if (n <= BITS_SORTED) {
        d.sorted = sorted_copy(dtype, d.in, n);
        d.sorted_other = sorted_copy(dtype, d.other, n);
    }
    d.edges = edges_new(dtype, &state);
    d.keys = numbers_new(n, 12, &state);
    d.counts = numbers_new(n, 4, &state);
    d.rows = numbers_new(n, BITS_SIDE, &state);
    d.cols = numbers_new(n, BITS_SIDE, &state);
    d.positions = t_host(n * sizeof *d.positions);
    d.keep = t_host(n);
    for (size_t i = 0; i < n; i++) {
        d.positions[i] = (uint32_t)i;
        d.keep[i] = (uint8_t)(t_random_below(&state, 3) == 0 ? 1 + t_random_below(&state, 255) : 0);
        d.keys[i] =
            i && d.keys[i] ? d.keys[i - 1] : d.keys[i] + (uint32_t)i; /* a new run, or not */
    }
    segments_new(&d, &state);
    return d;
}

void bits_input_free(struct bits_input *d)
{
    void *all[] = {d->in,      d->other,     d->sorted,       d->sorted_other, d->small,
                   d->indices, d->edges,     d->more_indices, d->keep,         d->keys,
                   d->counts,  d->positions, d->rows,         d->cols,         d->offsets};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

void bits_put(struct bits_output *out, const void *array, size_t bytes)
{
    if (out->room < out->size + bytes) {
        char *bigger = t_host(out->room = 2 * (out->size + bytes));
        if (out->size)
            memcpy(bigger, out->bytes, out->size);
        free(out->bytes);
        out->bytes = bigger;
    }
    if (bytes)
        memcpy(out->bytes + out->size, array, bytes);
    out->size += bytes;
}

void bits_limits(gp_dtype dtype, char lo[8], char hi[8])
{
    gp_dtype type = dtype == GP_F16 || dtype == GP_BF16 ? GP_F32 : dtype;
    bool is_float = t_is_float(dtype);
    t_set(type, lo, 0, is_float ? -1.5 : t_is_signed(dtype) ? -100 : 1);
    t_set(type, hi, 0, is_float ? 2 : t_is_signed(dtype) ? 100 : 200);
}
