/* SPDX-License-Identifier: MIT */
/* CUDA: counts of rows in any order by buckets of rows (csr_buckets_kernels.cuh): their scratch. */
#ifndef GPI_CSR_BUCKETS_H
#define GPI_CSR_BUCKETS_H

#include "core/words.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"

/* Entries of a tile and of a pack; bits of a row that are left of it in the largest bucket. */
enum { GPI_CSR_BUCKET_TILE = 32768, GPI_CSR_BUCKET_PACK = 8, GPI_CSR_BUCKET_BITS = 15 };

/* The least number of entries, and the largest of rows. */
enum { GPI_CSR_BUCKET_ITEMS = 1 << 22, GPI_CSR_BUCKET_ROWS = 1 << 25 };

struct gpi_csr_buckets {
    int shift;                      /* from a row to its bucket */
    uint32_t buckets, tiles, pitch; /* packs of a tile */
    size_t pool, begins;            /* bytes */
};

static inline struct gpi_csr_buckets gpi_csr_buckets_of(uint64_t nnz, uint64_t num_rows)
{
    const int bits = (int)gpi_csr_bits(num_rows), few = bits - 9;
    struct gpi_csr_buckets b = {.shift = few < GPI_CSR_BUCKET_BITS ? few : GPI_CSR_BUCKET_BITS};
    const uint32_t most = 1u << (bits - b.shift); /* so that figures rise with the rows */
    b.buckets = (uint32_t)(((num_rows - 1) >> b.shift) + 1);
    b.tiles = (uint32_t)gpi_ceil_div(nnz, GPI_CSR_BUCKET_TILE);
    b.pitch = GPI_CSR_BUCKET_TILE / GPI_CSR_BUCKET_PACK + most;
    b.pool = (size_t)b.tiles * b.pitch * GPI_CSR_BUCKET_PACK * 2;
    b.begins = (size_t)(most + 1) * b.tiles * 2;
    return b;
}

static inline size_t gpi_csr_buckets_bytes(const struct gpi_csr_buckets *b)
{
    return gpi_piece(b->pool) + gpi_piece(b->begins);
}

/* row_pointers[r] = entries of row r, of as many entries and rows as args->unsorted says, behind
 * whose two words there is a number for each bucket, which is 0. */
typedef gp_status gpi_csr_buckets_fn(gp_context *ctx, const struct gpi_csr_rows *args,
                                     size_t index_bytes, size_t offset_bytes,
                                     struct gpi_frame *frame);

/* That of a context, or NULL: its GPU has too little shared memory. */
gpi_csr_buckets_fn *gpi_csr_buckets_find(const gp_context *ctx);

#endif
