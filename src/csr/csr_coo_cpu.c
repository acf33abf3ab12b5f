/* SPDX-License-Identifier: MIT */
/* CPU: COO to CSR. Lays out the workspace of the sort and runs it. */
#include "core/check.h"
#include "core/workspace.h"
#include "csr/csr_sort_cpu.h"

/* A bucket is sorted in cache; a chunk is long against the number of buckets. */
enum { BUCKET_ITEMS = 8 * 1024, BUCKET_BITS_MAX = 11, CHUNK_ITEMS = 128 * 1024, CHUNKS_MAX = 64 };

static bool wide_slots(const struct gpi_csr_coo *c)
{
    return c->value_bytes == 8 || gpi_csr_is_wide(c);
}

static size_t key_bytes(const struct gpi_csr_coo *c)
{
    return gpi_csr_is_wide(c) ? 16 : 8;
}

/* A bucket is the highest bits of a key. Keys that fill their word have two buckets at least: with
 * one the shift would be as wide as the word, which is undefined. */
static unsigned bucket_bits(const struct gpi_csr_coo *c, unsigned key_bits)
{
    unsigned bits = gpi_csr_bits(c->nnz / BUCKET_ITEMS + 1), sorted = key_bits - c->sort_bit;
    unsigned least = key_bits == 8 * key_bytes(c);
    bits = bits < BUCKET_BITS_MAX ? bits : BUCKET_BITS_MAX;
    bits = bits < sorted ? bits : sorted;
    return bits > least ? bits : least;
}

static struct gpi_csr_sort plan(const struct gpi_csr_coo *c)
{
    struct gpi_csr_sort s = {.c = c};
    unsigned key_bits = c->row_bits + c->col_bits, bits = bucket_bits(c, key_bits);
    s.bucket_shift = key_bits - bits;
    s.buckets = (size_t)1 << bits;
    s.chunks = (size_t)((c->nnz + CHUNK_ITEMS - 1) / CHUNK_ITEMS);
    s.chunks = s.chunks < CHUNKS_MAX ? s.chunks : CHUNKS_MAX;
    s.chunk_items = (c->nnz + s.chunks - 1) / s.chunks;
    return s;
}

static size_t slot_bytes(const struct gpi_csr_coo *c)
{
    return wide_slots(c) ? 8 : 4;
}

size_t gpi_csr_coo_cpu_bytes(const struct gpi_csr_coo *c)
{
    if (c->nnz == 0)
        return 0;
    struct gpi_csr_sort s = plan(c);
    size_t n = (size_t)c->nnz;
    return 2 * (gpi_piece(n * key_bytes(c)) + gpi_piece(n * slot_bytes(c))) +
           gpi_piece(s.chunks * s.buckets * sizeof *s.starts) +
           3 * gpi_piece((s.buckets + 1) * sizeof *s.begins) + gpi_piece(s.buckets);
}

gp_status gpi_csr_coo_cpu(gp_context *ctx, const struct gpi_csr_coo *c)
{
    struct gpi_csr_sort s = plan(c);
    size_t n = (size_t)c->nnz;
    GPI_FRAME(frame, ctx, c->function, gpi_csr_coo_cpu_bytes(c));
    s.ctx = ctx;
    for (int i = 0; i < 2; i++) {
        s.keys[i] = gpi_frame_take(&frame, n * key_bytes(c));
        s.slots[i] = gpi_frame_take(&frame, n * slot_bytes(c));
    }
    s.starts = gpi_frame_take(&frame, s.chunks * s.buckets * sizeof *s.starts);
    s.begins = gpi_frame_take(&frame, (s.buckets + 1) * sizeof *s.begins);
    s.places = gpi_frame_take(&frame, (s.buckets + 1) * sizeof *s.places);
    s.last_rows = gpi_frame_take(&frame, (s.buckets + 1) * sizeof *s.last_rows);
    s.side = gpi_frame_take(&frame, s.buckets);
    gpi_csr_sort_find(ctx, gpi_csr_is_wide(c), wide_slots(c))(&s);
    return GP_OK;
}
