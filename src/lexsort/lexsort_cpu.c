/* SPDX-License-Identifier: MIT */
/* Words out of rows and columns, and back, on the CPU. */
#include "lexsort/lexsort_internal.h"

#include "core/threads.h"
#include "radixsort/radixsort_cpu_internal.h"

enum { CHUNK = 1 << 16 };

struct chunks {
    const struct gpi_lex_job *j;
    void *words;
    const void *from;
};

static inline uint64_t load(const void *array, size_t bytes, size_t i)
{
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static inline void store(void *array, size_t bytes, size_t i, uint64_t value)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)value;
    else
        ((uint64_t *)array)[i] = value;
}

static size_t chunk_end(const struct chunks *c, size_t chunk)
{
    size_t end = (chunk + 1) * CHUNK;
    return end < c->j->n ? end : c->j->n;
}

/* Inlined with constant sizes, so that the loop has no branch. */
static inline void pack_loop(const struct chunks *c, size_t chunk, size_t pair, size_t word)
{
    const struct gpi_lex_job *j = c->j;
    for (size_t i = chunk * CHUNK, end = chunk_end(c, chunk); i < end; i++)
        store(c->words, word, i, load(j->rows, pair, i) << j->col_bits | load(j->cols, pair, i));
}

static void pack_chunk(void *arg, size_t chunk)
{
    const struct chunks *c = arg;
    if (c->j->pair_bytes == 8)
        pack_loop(c, chunk, 8, gpi_lex_word_bytes(c->j));
    else if (gpi_lex_word_bytes(c->j) == 8)
        pack_loop(c, chunk, 4, 8);
    else
        pack_loop(c, chunk, 4, 4);
}

static inline void unpack_loop(const struct chunks *c, size_t chunk, size_t pair, size_t word)
{
    const struct gpi_lex_job *j = c->j;
    const uint64_t mask = ((uint64_t)1 << j->col_bits) - 1;
    for (size_t i = chunk * CHUNK, end = chunk_end(c, chunk); i < end; i++) {
        uint64_t w = load(c->from, word, i);
        store(j->rows_out, pair, i, w >> j->col_bits);
        store(j->cols_out, pair, i, w & mask);
    }
}

static void unpack_chunk(void *arg, size_t chunk)
{
    const struct chunks *c = arg;
    if (c->j->pair_bytes == 8)
        unpack_loop(c, chunk, 8, gpi_lex_word_bytes(c->j));
    else if (gpi_lex_word_bytes(c->j) == 8)
        unpack_loop(c, chunk, 4, 8);
    else
        unpack_loop(c, chunk, 4, 4);
}

static void pack(gp_context *ctx, const struct gpi_lex_job *j, void *words)
{
    struct chunks c = {j, words, NULL};
    gpi_parallel_for(gpi_threads_for(ctx->threads, j->n), (j->n + CHUNK - 1) / CHUNK, pack_chunk,
                     &c);
}

static void unpack(gp_context *ctx, const struct gpi_lex_job *j, const void *words)
{
    struct chunks c = {j, NULL, words};
    gpi_parallel_for(gpi_threads_for(ctx->threads, j->n), (j->n + CHUNK - 1) / CHUNK, unpack_chunk,
                     &c);
}

const struct gpi_lex_kernels gpi_lex_kernels_cpu = {pack, unpack};
