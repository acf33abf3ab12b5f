/* SPDX-License-Identifier: MIT */
/* CPU: COO to CSR. Lays out the workspace of the sort and runs it. */
#include "core/check.h"
#include "core/past_cache.h"
#include "core/workspace.h"
#include "csr/csr_sort_cpu.h"
#include "csr/csr_split_cpu.h"

/* A bucket is sorted in cache; a chunk is long against the number of buckets. */
enum {
    BUCKET_ITEMS = 8 * 1024,
    BUCKET_BITS_MAX = 11,
    CHUNK_ITEMS = 128 * 1024,
    CHUNKS_MAX = 64,
    PACKED_MIN = 32 * 1024, /* entries: rooms take no more than the slots that are left out */
    PACKED_BITS = 32,       /* of a key in its bucket */
    PAST_CACHE_BYTES = 1 << 20
};

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

/* Whether entries are one word. */
static bool is_packed(const struct gpi_csr_coo *c, unsigned key_bits)
{
    return c->nnz >= PACKED_MIN && !c->sort_bit && c->value_bytes <= 4 &&
           key_bits <= BUCKET_BITS_MAX + PACKED_BITS;
}

static struct gpi_csr_sort plan(const struct gpi_csr_coo *c, bool may_pack)
{
    struct gpi_csr_sort s = {.c = c};
    unsigned key_bits = c->row_bits + c->col_bits, bits = bucket_bits(c, key_bits);
    s.packed = may_pack && is_packed(c, key_bits);
    if (s.packed && key_bits > PACKED_BITS + bits)
        bits = key_bits - PACKED_BITS;
    s.bucket_shift = key_bits - bits;
    s.buckets = (size_t)1 << bits;
    s.chunks = (size_t)((c->nnz + CHUNK_ITEMS - 1) / CHUNK_ITEMS);
    s.chunks = s.chunks < CHUNKS_MAX ? s.chunks : CHUNKS_MAX;
    s.chunk_items = (c->nnz + s.chunks - 1) / s.chunks;
    s.room_bytes = s.packed ? gpi_piece(s.buckets * (LINE + sizeof *s.starts)) : 0;
    return s;
}

static size_t slot_bytes(const struct gpi_csr_sort *s)
{
    return s->packed ? 0 : wide_slots(s->c) ? 8 : 4;
}

/* ---- by splits ---- */

/* As a slot. */
static size_t moved_value_bytes(const struct gpi_csr_coo *c)
{
    return c->value_bytes == 1 || c->value_bytes == 2 ? 4 : c->value_bytes;
}

/* In the scratch of a split. */
static size_t moved_bytes(const struct gpi_csr_coo *c)
{
    return sizeof(uint16_t) + c->index_bytes + moved_value_bytes(c);
}

/* Of a bucket's number. */
static unsigned split_bits(const struct gpi_csr_coo *c)
{
    const unsigned least = c->row_bits > GPI_CSR_REST_BITS ? c->row_bits - GPI_CSR_REST_BITS : 0;
    unsigned bits = gpi_csr_bits(c->nnz / GPI_CSR_SPLIT_ITEMS + 1);
    if (bits > GPI_CSR_SPLIT_NEAR_BITS) {
        bits = gpi_csr_bits(c->nnz * moved_bytes(c) / GPI_CSR_SPLIT_BYTES + 1);
        bits = bits > GPI_CSR_SPLIT_NEAR_BITS ? bits : GPI_CSR_SPLIT_NEAR_BITS;
    }
    bits = bits < GPI_CSR_SPLIT_BUCKET_BITS ? bits : GPI_CSR_SPLIT_BUCKET_BITS;
    bits = bits < c->row_bits ? bits : c->row_bits;
    return bits > least ? bits : least;
}

static struct gpi_csr_split split_plan(const struct gpi_csr_coo *c)
{
    struct gpi_csr_split s = {.c = c};
    const unsigned bits = split_bits(c);
    s.shift = c->row_bits - bits;
    s.buckets = (size_t)1 << bits;
    s.chunks = (size_t)((c->nnz + GPI_CSR_SPLIT_CHUNK_ITEMS - 1) / GPI_CSR_SPLIT_CHUNK_ITEMS);
    s.chunks = s.chunks < GPI_CSR_SPLIT_PARTS ? s.chunks : GPI_CSR_SPLIT_PARTS;
    s.chunk_items = (c->nnz + s.chunks - 1) / s.chunks;
    s.room_bytes = gpi_piece(
        s.buckets * (sizeof *s.starts +
                     GPI_CSR_GROUP * (sizeof *s.rests + c->index_bytes + moved_value_bytes(c))));
    return s;
}

static size_t split_bytes(const struct gpi_csr_coo *c)
{
    const struct gpi_csr_split s = split_plan(c);
    const size_t n = (size_t)c->nnz;
    return gpi_piece(n * sizeof *s.rests) + gpi_piece(n * c->index_bytes) +
           gpi_piece(n * moved_value_bytes(c)) +
           gpi_piece(s.chunks * s.buckets * sizeof *s.starts) +
           gpi_piece((s.buckets + 1) * sizeof *s.begins) + s.chunks * s.room_bytes;
}

static gp_status split(gp_context *ctx, const struct gpi_csr_coo *c)
{
    struct gpi_csr_split s = split_plan(c);
    const size_t n = (size_t)c->nnz;
    GPI_FRAME(frame, ctx, c->function, split_bytes(c));
    s.ctx = ctx;
    s.rests = gpi_frame_take(&frame, n * sizeof *s.rests);
    s.cols = gpi_frame_take(&frame, n * c->index_bytes);
    s.values = gpi_frame_take(&frame, n * moved_value_bytes(c));
    s.starts = gpi_frame_take(&frame, s.chunks * s.buckets * sizeof *s.starts);
    s.begins = gpi_frame_take(&frame, (s.buckets + 1) * sizeof *s.begins);
    s.rooms = gpi_frame_take(&frame, s.chunks * s.room_bytes);
    s.past_cache = n * (sizeof *s.rests + c->index_bytes + moved_value_bytes(c)) > PAST_CACHE_BYTES;
    gpi_csr_split_cpu(&s);
    return GP_OK;
}

/* ---- by sorted buckets ---- */

static size_t sort_bytes(const struct gpi_csr_sort *s)
{
    const size_t n = (size_t)s->c->nnz;
    return 2 * (gpi_piece(n * key_bytes(s->c)) + gpi_piece(n * slot_bytes(s))) +
           gpi_piece(s->chunks * s->buckets * sizeof *s->starts) +
           3 * gpi_piece((s->buckets + 1) * sizeof *s->begins) + gpi_piece(s->buckets) +
           s->chunks * s->room_bytes;
}

/* Of keys and slots, whatever is taken: the others need less, and only that never falls while one
 * of the sizes rises. */
size_t gpi_csr_coo_cpu_bytes(const struct gpi_csr_coo *c)
{
    if (c->nnz == 0)
        return 0;
    const struct gpi_csr_sort s = plan(c, false);
    return sort_bytes(&s);
}

gp_status gpi_csr_coo_cpu(gp_context *ctx, const struct gpi_csr_coo *c)
{
    if (gpi_csr_by_split(c))
        return split(ctx, c);
    struct gpi_csr_sort s = plan(c, true);
    size_t n = (size_t)c->nnz;
    GPI_FRAME(frame, ctx, c->function, sort_bytes(&s));
    s.ctx = ctx;
    for (int i = 0; i < 2; i++) {
        s.keys[i] = gpi_frame_take(&frame, n * key_bytes(c));
        s.slots[i] = gpi_frame_take(&frame, n * slot_bytes(&s));
    }
    s.starts = gpi_frame_take(&frame, s.chunks * s.buckets * sizeof *s.starts);
    s.begins = gpi_frame_take(&frame, (s.buckets + 1) * sizeof *s.begins);
    s.places = gpi_frame_take(&frame, (s.buckets + 1) * sizeof *s.places);
    s.last_rows = gpi_frame_take(&frame, (s.buckets + 1) * sizeof *s.last_rows);
    s.side = gpi_frame_take(&frame, s.buckets);
    s.rooms = gpi_frame_take(&frame, s.chunks * s.room_bytes);
    s.past_cache = n * key_bytes(c) > PAST_CACHE_BYTES;
    if (s.packed)
        gpi_csr_sort_packed_find(ctx)(&s);
    else
        gpi_csr_sort_find(ctx, gpi_csr_is_wide(c), wide_slots(c))(&s);
    return GP_OK;
}
