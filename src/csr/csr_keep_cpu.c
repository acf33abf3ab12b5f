/* SPDX-License-Identifier: MIT */
/* CPU: the arrays of entries compacted together, for filters. In rounds that fit the caches blocks
 * are marked, a bit for each entry that is kept, and all arrays of a block follow its bits. Row
 * pointers are counts of bits. */
#include "core/past_cache.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"
#include "csr/csr_keep.h"

enum { BLOCK_WORDS = 128, BLOCK = 64 * BLOCK_WORDS, ROUND_BLOCKS = 16 /* per thread */ };

struct job {
    const struct gpi_csr_keep *k;
    const struct gpi_compact_loops *loops;
    struct gpi_compact_args by; /* what decides */
    uint64_t *bits, *counts;    /* counts: of each block; after adding up, of those before it */
    uint64_t first;             /* block of the round */
};

static size_t blocks_of(uint64_t nnz)
{
    return (size_t)((nnz + BLOCK - 1) / BLOCK);
}

size_t gpi_csr_keep_cpu_bytes(uint64_t nnz)
{
    const size_t blocks = blocks_of(nnz);
    return gpi_piece((blocks * BLOCK_WORDS + 1) * sizeof(uint64_t)) +
           gpi_piece((blocks + 1) * sizeof(uint64_t));
}

static size_t items_of(const struct job *j, uint64_t block)
{
    return (size_t)gpi_min(BLOCK, j->k->nnz - block * BLOCK);
}

static void mark_block(void *arg, size_t i)
{
    const struct job *j = arg;
    const uint64_t block = j->first + i;
    j->counts[block] =
        j->loops->mark(&j->by, block * BLOCK, items_of(j, block), j->bits + block * BLOCK_WORDS);
}

static void move_array(const struct job *j, const struct gpi_csr_kept *array, uint64_t block)
{
    const struct gpi_compact_args a = {.in = array->in, .item_bytes = (uint32_t)array->item_bytes};
    const uint64_t place = j->counts[block], kept = j->counts[block + 1] - place;
    if (array->item_bytes)
        j->loops->move(&a, block * BLOCK, items_of(j, block), j->bits + block * BLOCK_WORDS, 0, 0,
                       array->item_bytes >= 4 && j->k->nnz * array->item_bytes >= STREAM_BYTES,
                       (char *)array->out + place * array->item_bytes, kept);
}

static void move_block(void *arg, size_t i)
{
    const struct job *j = arg;
    for (int a = 0; a < GPI_CSR_KEPT_ARRAYS; a++)
        move_array(j, &j->k->arrays[a], j->first + i);
}

/* Counts of a round become places; returns the entries kept up to its end. */
static uint64_t add_up(struct job *j, size_t blocks, uint64_t kept)
{
    for (size_t i = 0; i < blocks; i++) {
        const uint64_t count = j->counts[j->first + i];
        j->counts[j->first + i] = kept;
        kept += count;
    }
    j->counts[j->first + blocks] = kept;
    return kept;
}

gp_status gpi_csr_keep_cpu(gp_context *ctx, const char *function, const struct gpi_csr_keep *k,
                           const uint8_t *flags)
{
    const struct gpi_csr_kept *values = &k->arrays[1];
    const size_t blocks = blocks_of(k->nnz);
    const uint64_t bytes = k->arrays[0].item_bytes + values->item_bytes;
    const int threads = gpi_threads_for(ctx->threads, k->nnz * (4 + bytes) / 8);
    struct job j = {.k = k, .loops = gpi_compact_loops_for(ctx->isa)};
    j.by = (struct gpi_compact_args){.in = values->in,
                                     .keep = flags,
                                     .range = k->range,
                                     .item_bytes = (uint32_t)values->item_bytes};
    GPI_FRAME(frame, ctx, function, gpi_csr_keep_cpu_bytes(k->nnz));
    j.bits = gpi_frame_take(&frame, (blocks * BLOCK_WORDS + 1) * sizeof(uint64_t));
    j.counts = gpi_frame_take(&frame, (blocks + 1) * sizeof(uint64_t));
    uint64_t kept = j.counts[0] = 0;
    for (; j.first < blocks; j.first += (uint64_t)threads * ROUND_BLOCKS) {
        const size_t round = (size_t)gpi_min((uint64_t)threads * ROUND_BLOCKS, blocks - j.first);
        gpi_parallel_for(threads, round, mark_block, &j);
        kept = add_up(&j, round, kept);
        gpi_parallel_for(threads, round, move_block, &j);
    }
    *k->out_nnz = kept;
    j.bits[k->nnz / 64] &= ((uint64_t)1 << k->nnz % 64) - 1; /* also where no word is marked */
    if (k->out_pointers)
        gpi_csr_find(ctx, k->arrays[0].item_bytes, k->offset_bytes)
            ->kept_pointers(ctx, &(struct gpi_csr_kept_pointers){.nnz = k->nnz,
                                                                 .num_rows = k->num_rows,
                                                                 .pointers = k->pointers,
                                                                 .out = k->out_pointers,
                                                                 .bits = j.bits,
                                                                 .counts = j.counts,
                                                                 .block_words = BLOCK_WORDS});
    return GP_OK;
}
