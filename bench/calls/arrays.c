/* SPDX-License-Identifier: MIT */
/* The arrays of all calls: cut from two blocks, filled on the host. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "../bench_spread.h"

enum { PIECE = 256, INPUTS = 16, OUTPUTS = 5 };

struct piece {
    void *array; /* address of a pointer in call_arrays */
    size_t bytes;
};

/* Cut the pieces from a block at memory; the bytes that they take in all. */
static size_t cut(const struct piece *pieces, int count, char *memory)
{
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        void *at = memory ? memory + used : NULL;
        if (memory)
            memcpy(pieces[i].array, &at, sizeof at);
        used += (pieces[i].bytes + PIECE - 1) / PIECE * PIECE;
    }
    return used;
}

static size_t cut_inputs(struct call_arrays *a, char *memory)
{
    const size_t n = a->n, words = n * 4, segments = a->num_segments * 4;
    const struct piece pieces[INPUTS] = {
        {&a->words, words},
        {&a->samples, words},
        {&a->ascending, words},
        {&a->halves, words},
        {&a->segments, words},
        {&a->offsets, segments + 4},
        {&a->sizes, segments},
        {&a->rows, words},
        {&a->cols, words},
        {&a->csr_cols, words},
        {&a->edges, (CALL_BINS + 1) * sizeof *a->edges},
        {&a->places, words},
        {&a->values, words},
        {&a->bytes, n},
        {&a->flags, n},
        {&a->heads, n},
    };
    return cut(pieces, INPUTS, memory);
}

static size_t cut_outputs(struct call_arrays *a, char *memory)
{
    const size_t words = (a->n > CALL_BINS ? a->n : CALL_BINS) * 4;
    const struct piece pieces[OUTPUTS] = {
        {&a->out, words},
        {&a->out_values, words},
        {&a->out_rows, words},
        {&a->out_offsets, (a->num_segments + 1) * 4},
        {&a->out_count, sizeof *a->out_count},
    };
    return cut(pieces, OUTPUTS, memory);
}

/* Item i of the arrays that have one for each. */
static void fill_item(const struct call_arrays *a, size_t i)
{
    const size_t n = a->n, half = n / 2, segments = a->num_segments, j = i % CALL_SEGMENT;
    const uint64_t hash = bench_hash(1, i), other = bench_hash(2, i);
    const uint32_t high = (uint32_t)(hash >> 32);
    a->words[i] = high;
    a->samples[i] = high % CALL_SAMPLES_BELOW;
    a->ascending[i] = (uint32_t)(((uint64_t)i << 32) / n);
    a->halves[i] = (uint32_t)(((uint64_t)(i % half) << 32) / half) + (high & 3);
    a->segments[i] = (uint32_t)(i / CALL_SEGMENT);
    a->rows[i] = (uint32_t)((hash >> 8) % segments);
    a->cols[i] = (uint32_t)((other >> 8) % segments);
    a->csr_cols[i] = (uint32_t)((j * segments + other % segments) / CALL_SEGMENT);
    a->places[i] = (uint32_t)(other % n);
    a->values[i] = (float)(1 + (other >> 60) % 4);
    a->bytes[i] = (uint8_t)high;
    a->flags[i] = high >= 0x80000000;
    a->heads[i] = j == 0;
}

static void fill(const struct call_arrays *a)
{
    for (size_t i = 0; i < a->n; i++)
        fill_item(a, i);
    for (size_t s = 0; s <= a->num_segments; s++)
        a->offsets[s] = (uint32_t)(s * CALL_SEGMENT);
    for (size_t s = 0; s < a->num_segments; s++)
        a->sizes[s] = CALL_SEGMENT;
    for (uint32_t e = 0; e <= CALL_BINS; e++)
        a->edges[e] = e * (CALL_SAMPLES_BELOW / CALL_BINS);
}

gp_status call_arrays_make(gp_context *ctx, size_t n, struct call_arrays *a)
{
    *a = (struct call_arrays){.n = n, .num_segments = n / CALL_SEGMENT};
    const size_t bytes = cut_inputs(a, NULL);
    char *host = malloc(bytes);
    if (!host)
        bench_die("out of memory for %zu bytes", bytes);
    cut_inputs(a, host);
    fill(a);
    a->output_bytes = cut_outputs(a, NULL);
    gp_status s = gp_malloc(ctx, bytes, &a->inputs);
    s = s == GP_OK ? gp_malloc(ctx, a->output_bytes, &a->outputs) : s;
    s = s == GP_OK ? gp_copy(ctx, host, bytes, a->inputs) : s;
    s = s == GP_OK ? gp_context_synchronize(ctx) : s;
    free(host);
    cut_inputs(a, a->inputs);
    cut_outputs(a, a->outputs);
    return s;
}

void call_arrays_free(gp_context *ctx, struct call_arrays *a)
{
    gp_free(ctx, a->inputs);
    gp_free(ctx, a->outputs);
    *a = (struct call_arrays){0};
}
