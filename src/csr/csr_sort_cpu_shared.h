/* SPDX-License-Identifier: MIT */
/* CPU: what the sorts of entries share; included by their units, which have wkey_t. */
#include <string.h>

#include "core/threads.h"
#include "core/words.h"
#include "csr/csr_sort_cpu.h"

#define NO_ROW UINT64_MAX

/* ---- counts ---- */

/* An entry out of range is taken for (0, 0); the caller reports it. */
ALWAYS_INLINE wkey_t key_at(const struct gpi_csr_coo *c, uint64_t i, size_t index_bytes,
                            unsigned *bad)
{
    uint64_t row = gpi_word_at(c->rows, index_bytes, i), col = gpi_word_at(c->cols, index_bytes, i);
    unsigned out = (unsigned)(row >= c->num_rows) | (unsigned)(col >= c->num_cols);
    *bad |= out;
    return out ? 0 : (wkey_t)row << c->col_bits | col;
}

/* Report the first of the entries [i, end) that is out of range. */
static void report_entry(const struct gpi_csr_sort *s, uint64_t i, uint64_t end)
{
    const struct gpi_csr_coo *c = s->c;
    const void *arrays[2] = {c->rows, c->cols};
    const uint64_t bounds[2] = {c->num_rows, c->num_cols};
    for (; i < end; i++)
        for (int k = 0; k < 2; k++) {
            const uint64_t index = gpi_word_at(arrays[k], c->index_bytes, i);
            if (c->names[k] && index >= bounds[k]) {
                const struct gpi_reporter reporter =
                    gpi_reporter_of(s->ctx, c->names[k], c->index_dtype);
                gpi_report(&reporter, GPI_RULE_BELOW, i, index, bounds[k]);
                return;
            }
        }
}

ALWAYS_INLINE void count_with(const struct gpi_csr_sort *s, size_t chunk, size_t index_bytes)
{
    const struct gpi_csr_coo c = *s->c; /* which counters cannot be */
    uint64_t *counts = s->starts + chunk * s->buckets;
    const uint64_t begin = chunk * s->chunk_items;
    const uint64_t end = gpi_min(begin + s->chunk_items, c.nnz);
    const unsigned shift = s->bucket_shift;
    unsigned bad = 0;
    memset(counts, 0, s->buckets * sizeof *counts);
    for (uint64_t i = begin; i < end; i++)
        counts[key_at(&c, i, index_bytes, &bad) >> shift]++;
    if (bad)
        report_entry(s, begin, end);
}

static void count_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_sort *s = arg;
    WITH_INDEX_BYTES(bytes, s->c->index_bytes, count_with(s, chunk, bytes));
}

/* Bucket after bucket, and within a bucket chunk after chunk: input order. */
static void scan_counts(struct gpi_csr_sort *s)
{
    uint64_t sum = 0;
    for (size_t b = 0; b < s->buckets; b++) {
        s->begins[b] = sum;
        for (size_t c = 0; c < s->chunks; c++) {
            uint64_t count = s->starts[c * s->buckets + b];
            s->starts[c * s->buckets + b] = sum;
            sum += count;
        }
    }
    s->begins[s->buckets] = sum;
}

/* ---- places ---- */

/* Counts become places; last_rows[b] becomes the last row before bucket b. */
static void scan_places(struct gpi_csr_sort *s)
{
    uint64_t sum = 0, last = NO_ROW;
    for (size_t b = 0; b < s->buckets; b++) {
        uint64_t count = s->places[b], row = s->last_rows[b];
        s->places[b] = sum;
        s->last_rows[b] = last;
        sum += count;
        last = row != NO_ROW ? row : last;
    }
    s->places[s->buckets] = sum;
    s->last_rows[s->buckets] = last;
}

ALWAYS_INLINE void fill_pointers(void *out, uint64_t first, uint64_t end, uint64_t value,
                                 size_t offset_bytes)
{
    for (; first < end; first++)
        gpi_word_put(out, offset_bytes, first, value);
}

/* The pointers behind the last entry's row, and how many entries there are. */
static void end_of_matrix(const struct gpi_csr_sort *s)
{
    const struct gpi_csr_coo *c = s->c;
    if (c->row_pointers)
        fill_pointers(c->row_pointers, s->last_rows[s->buckets] + 1, c->num_rows + 1,
                      s->places[s->buckets], c->offset_bytes);
    if (c->out_nnz)
        *c->out_nnz = s->places[s->buckets];
}
