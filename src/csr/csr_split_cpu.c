/* SPDX-License-Identifier: MIT */
/* CPU: the phases of csr_split_cpu.h. Nothing in them gains by wider vectors. */
#include "core/past_cache.h"
#include "core/threads.h"
#include "core/words.h"
#include "csr/csr_split_cpu.h"

/* Values are moved as slots of 4 or 8 bytes, or not at all. */
static size_t slot_of(size_t value_bytes)
{
    return value_bytes == 0 ? 0 : value_bytes == 8 ? 8 : 4;
}

/* Value i; a loop has the slot's size as a constant. */
ALWAYS_INLINE uint64_t slot_at(const struct gpi_csr_coo *c, size_t slot_bytes, uint64_t i)
{
    if (c->value_bytes >= 4 || slot_bytes == 0)
        return gpi_word_at(c->values, slot_bytes, i);
    return c->value_bytes == 2 ? ((const uint16_t *)c->values)[i] : ((const uint8_t *)c->values)[i];
}

ALWAYS_INLINE void slot_put(const struct gpi_csr_coo *c, size_t slot_bytes, uint64_t i,
                            uint64_t slot)
{
    if (c->value_bytes >= 4)
        gpi_word_put(c->out_values, slot_bytes, i, slot);
    else if (c->value_bytes == 2)
        ((uint16_t *)c->out_values)[i] = (uint16_t)slot;
    else
        ((uint8_t *)c->out_values)[i] = (uint8_t)slot;
}

/* ---- 1: count ---- */

/* The row of entry i; one out of range is taken for (0, 0), and the caller reports it. */
ALWAYS_INLINE uint64_t row_at(const struct gpi_csr_coo *c, uint64_t i, size_t index_bytes,
                              unsigned *bad)
{
    const uint64_t row = gpi_word_at(c->rows, index_bytes, i);
    const unsigned out = row >= c->num_rows;
    *bad |= out;
    return out ? 0 : row;
}

static void report_row(const struct gpi_csr_split *s, uint64_t i)
{
    const struct gpi_csr_coo *c = s->c;
    const struct gpi_reporter reporter = gpi_reporter_of(s->ctx, c->names[0], c->index_dtype);
    uint64_t row;
    while ((row = gpi_word_at(c->rows, c->index_bytes, i)) < c->num_rows)
        i++;
    gpi_report(&reporter, GPI_RULE_BELOW, i, row, c->num_rows);
}

ALWAYS_INLINE void count_with(const struct gpi_csr_split *s, size_t chunk, size_t index_bytes)
{
    const struct gpi_csr_coo c = *s->c; /* which counters cannot be */
    uint64_t *counts = s->starts + chunk * s->buckets;
    const uint64_t begin = chunk * s->chunk_items;
    const uint64_t end = gpi_min(begin + s->chunk_items, c.nnz);
    const unsigned shift = s->shift;
    unsigned bad = 0;
    memset(counts, 0, s->buckets * sizeof *counts);
    for (uint64_t i = begin; i < end; i++)
        counts[row_at(&c, i, index_bytes, &bad) >> shift]++;
    if (bad)
        report_row(s, begin);
}

static void count_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_split *s = arg;
    WITH_INDEX_BYTES(bytes, s->c->index_bytes, count_with(s, chunk, bytes));
}

/* Bucket after bucket, and within a bucket chunk after chunk: input order. */
static void scan_counts(struct gpi_csr_split *s)
{
    uint64_t sum = 0;
    for (size_t b = 0; b < s->buckets; b++) {
        s->begins[b] = sum;
        for (size_t c = 0; c < s->chunks; c++) {
            const uint64_t count = s->starts[c * s->buckets + b];
            s->starts[c * s->buckets + b] = sum;
            sum += count;
        }
    }
    s->begins[s->buckets] = sum;
}

/* ---- 2: move to buckets ---- */

/* The room of a chunk: where it began to write each bucket, and a group of each array of it. */
struct room {
    uint64_t *first;
    uint16_t *rests;
    char *cols, *values;
};

static struct room room_of(const struct gpi_csr_split *s, size_t chunk)
{
    const size_t group = s->buckets * GPI_CSR_GROUP;
    struct room r;
    r.first = (uint64_t *)(void *)(s->rooms + chunk * s->room_bytes);
    r.rests = (uint16_t *)(r.first + s->buckets);
    r.cols = (char *)(r.rests + group);
    r.values = r.cols + group * s->c->index_bytes;
    memcpy(r.first, s->starts + chunk * s->buckets, s->buckets * sizeof *r.first);
    return r;
}

/* Items [from, to) of bucket b, which are of one group, to their place in an array. */
ALWAYS_INLINE void send(const struct gpi_csr_split *s, const void *room, void *array, size_t b,
                        uint64_t from, uint64_t to, size_t bytes)
{
    const size_t slot = b * GPI_CSR_GROUP + from % GPI_CSR_GROUP;
    const char *source = (const char *)room + slot * bytes;
    char *out = (char *)array + from * bytes;
    if (to - from == GPI_CSR_GROUP && s->past_cache)
        copy_past_cache(source, GPI_CSR_GROUP * bytes, out);
    else
        memcpy(out, source, (size_t)(to - from) * bytes);
}

/* The group of bucket b that ends before place `to`. */
ALWAYS_INLINE void send_group(const struct gpi_csr_split *s, const struct room *r, size_t b,
                              uint64_t to, size_t index_bytes, size_t slot_bytes)
{
    const uint64_t group = (to - 1) / GPI_CSR_GROUP * GPI_CSR_GROUP;
    const uint64_t from = group < r->first[b] ? r->first[b] : group;
    send(s, r->rests, s->rests, b, from, to, sizeof *r->rests);
    send(s, r->cols, s->cols, b, from, to, index_bytes);
    if (slot_bytes)
        send(s, r->values, s->values, b, from, to, slot_bytes);
}

ALWAYS_INLINE void move_with(const struct gpi_csr_split *s, size_t chunk, size_t index_bytes,
                             size_t slot_bytes)
{
    const struct gpi_csr_coo c = *s->c;
    const struct room r = room_of(s, chunk);
    const unsigned shift = s->shift;
    uint64_t *next = s->starts + chunk * s->buckets;
    uint64_t i = chunk * s->chunk_items;
    const uint64_t end = gpi_min(i + s->chunk_items, c.nnz);
    unsigned bad = 0;
    for (; i < end; i++) {
        const uint64_t row = row_at(&c, i, index_bytes, &bad);
        const size_t b = (size_t)(row >> shift);
        const uint64_t to = next[b]++, slot = b * GPI_CSR_GROUP + to % GPI_CSR_GROUP;
        r.rests[slot] = (uint16_t)(row & (((uint64_t)1 << shift) - 1));
        gpi_word_put(r.cols, index_bytes, slot, gpi_word_at(c.cols, index_bytes, i));
        if (slot_bytes)
            gpi_word_put(r.values, slot_bytes, slot, slot_at(&c, slot_bytes, i));
        if (to % GPI_CSR_GROUP == GPI_CSR_GROUP - 1)
            send_group(s, &r, b, to + 1, index_bytes, slot_bytes);
    }
    for (size_t b = 0; b < s->buckets; b++)
        if (next[b] > r.first[b] && next[b] % GPI_CSR_GROUP)
            send_group(s, &r, b, next[b], index_bytes, slot_bytes);
    stores_done();
}

static void move_chunk(void *arg, size_t chunk)
{
    const struct gpi_csr_split *s = arg;
    const size_t index_bytes = s->c->index_bytes;
    switch (slot_of(s->c->value_bytes)) {
    case 0:
        WITH_INDEX_BYTES(index, index_bytes, move_with(s, chunk, index, 0));
        break;
    case 4:
        WITH_INDEX_BYTES(index, index_bytes, move_with(s, chunk, index, 4));
        break;
    default:
        WITH_INDEX_BYTES(index, index_bytes, move_with(s, chunk, index, 8));
    }
}

/* ---- 3: move to places ---- */

/* Counts of rows become where the next entry of each goes. */
ALWAYS_INLINE void scan_rows(void *pointers, uint64_t rows, uint64_t begin, size_t offset_bytes)
{
    for (uint64_t r = 0; r < rows; r++) {
        const uint64_t count = gpi_word_at(pointers, offset_bytes, r);
        gpi_word_put(pointers, offset_bytes, r, begin);
        begin += count;
    }
}

/* The end of every row becomes the pointer of the next one. */
ALWAYS_INLINE void shift_rows(void *pointers, uint64_t rows, uint64_t begin, size_t offset_bytes)
{
    memmove((char *)pointers + offset_bytes, pointers, (size_t)(rows - 1) * offset_bytes);
    gpi_word_put(pointers, offset_bytes, 0, begin);
}

ALWAYS_INLINE void place_with(const struct gpi_csr_split *s, size_t b, size_t index_bytes,
                              size_t offset_bytes, size_t slot_bytes)
{
    const struct gpi_csr_coo c = *s->c;
    const char *cols = s->cols, *values = s->values;
    const uint64_t first = (uint64_t)b << s->shift, begin = s->begins[b], end = s->begins[b + 1];
    const uint64_t rows = gpi_min((uint64_t)1 << s->shift, c.num_rows - first);
    char *pointers = (char *)c.row_pointers + first * offset_bytes;
    const uint16_t *rests = s->rests;
    memset(pointers, 0, (size_t)rows * offset_bytes);
    for (uint64_t i = begin; i < end; i++) {
        gpi_word_put(pointers, offset_bytes, rests[i],
                     gpi_word_at(pointers, offset_bytes, rests[i]) + 1);
    }
    scan_rows(pointers, rows, begin, offset_bytes);
    for (uint64_t i = begin; i < end; i++) {
        const uint16_t later = rests[i + GPI_CSR_AHEAD < end ? i + GPI_CSR_AHEAD : i];
        const uint64_t soon = gpi_word_at(pointers, offset_bytes, later); /* or one near it */
        prefetch_to_write((char *)c.out_cols + soon * index_bytes);
        if (slot_bytes)
            prefetch_to_write((char *)c.out_values + soon * c.value_bytes);
        const uint64_t to = gpi_word_at(pointers, offset_bytes, rests[i]);
        gpi_word_put(pointers, offset_bytes, rests[i], to + 1);
        gpi_word_put(c.out_cols, index_bytes, to, gpi_word_at(cols, index_bytes, i));
        if (slot_bytes)
            slot_put(&c, slot_bytes, to, gpi_word_at(values, slot_bytes, i));
    }
    shift_rows(pointers, rows, begin, offset_bytes);
}

ALWAYS_INLINE void place_slots(const struct gpi_csr_split *s, size_t b, size_t slot_bytes)
{
    if (s->c->index_bytes == 8)
        place_with(s, b, 8, 8, slot_bytes);
    else
        WITH_INDEX_BYTES(offset, s->c->offset_bytes, place_with(s, b, 4, offset, slot_bytes));
}

static void place_bucket(void *arg, size_t b)
{
    const struct gpi_csr_split *s = arg;
    if ((uint64_t)b << s->shift >= s->c->num_rows)
        return;
    switch (slot_of(s->c->value_bytes)) {
    case 0:
        place_slots(s, b, 0);
        break;
    case 4:
        place_slots(s, b, 4);
        break;
    default:
        place_slots(s, b, 8);
    }
}

void gpi_csr_split_cpu(struct gpi_csr_split *s)
{
    const struct gpi_csr_coo *c = s->c;
    const int threads = gpi_threads_for(s->ctx->threads, c->nnz * 8);
    gpi_parallel_for(threads, s->chunks, count_chunk, s);
    scan_counts(s);
    gpi_parallel_for(threads, s->chunks, move_chunk, s);
    gpi_parallel_for(threads, s->buckets, place_bucket, s);
    gpi_word_put(c->row_pointers, c->offset_bytes, c->num_rows, c->nnz);
}
