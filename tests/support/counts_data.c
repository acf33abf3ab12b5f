/* SPDX-License-Identifier: MIT */
#include "counts.h"

static uint32_t next_below(uint64_t *state, uint32_t bound)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 32) * bound >> 32);
}

/* Numbers below a bound. */
static void put_below(uint32_t *to, size_t n, uint32_t bound, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        to[i] = next_below(state, bound);
}

/* Ascending numbers below a bound. */
static void put_ascending(uint32_t *to, size_t n, uint32_t bound)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint32_t)((uint64_t)bound * i / n);
}

/* Every place once. */
static void put_places(uint32_t *to, size_t n)
{
    const uint64_t step = n % 7919 ? 7919 : 7907;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint32_t)(i * step % n);
}

void counts_make(const counts *c, uint64_t seed)
{
    const size_t n = c->items;
    const uint32_t rows = (uint32_t)(c->segments / 2);
    uint64_t state = seed;
    put_below(c->keys, n, 1000, &state);
    put_below(c->bits, 4 * n, UINT32_MAX, &state);
    put_ascending(c->sorted, n, (uint32_t)(n / 5) + 1);
    put_places(c->indices, n);
    put_below(c->rows, n, rows, &state);
    put_ascending(c->sorted_rows, n, rows);
    put_below(c->cols, n, COUNTS_COLUMNS, &state);
    put_below(c->repeats, c->segments, 4, &state);
    for (size_t i = 0; i < n; i++) {
        c->floats[i] = (float)next_below(&state, 1000);
        c->flags[i] = next_below(&state, 3) == 0;
        c->heads[i] = next_below(&state, 3) == 0;
    }
    c->offsets[0] = 0;
    for (size_t s = 0; s < c->segments; s++)
        c->offsets[s + 1] = c->offsets[s] + (s % 3 ? next_below(&state, 12) : 0);
}

void counts_numbers(const counts_row *row, const uint32_t *offsets, size_t n, counts *c)
{
    const size_t rows = c->segments;
    c->n = n;
    c->m = row->kind == COUNTS_SEGMENTS_ITEMS ? offsets[n]
           : row->kind == COUNTS_ROWS         ? rows / 2 + n % (rows / 2)
           : row->kind == COUNTS_HALF         ? n / 2
                                              : n;
}

void counts_bounds(const counts_row *row, const uint32_t *offsets, counts *c)
{
    const bool of_segments = row->kind == COUNTS_SEGMENTS || row->kind == COUNTS_SEGMENTS_ITEMS;
    counts_numbers(row, offsets, of_segments ? c->segments : c->items, c);
    if (row->kind == COUNTS_ROWS)
        c->m = c->segments;
}
