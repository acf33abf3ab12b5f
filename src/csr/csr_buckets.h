/* SPDX-License-Identifier: MIT */
/* CUDA: counts of rows in any order by buckets of rows (csr_buckets_kernels.cuh): their scratch. */
#ifndef GPI_CSR_BUCKETS_H
#define GPI_CSR_BUCKETS_H

#include "core/words.h"
#include "core/workspace.h"
#include "csr/csr_internal.h"

/* Blocks that split entries; entries of a tile and of a chunk; bits of a row that are left of it in
 * the largest bucket. */
enum {
    GPI_CSR_BUCKET_BLOCKS = 256,
    GPI_CSR_BUCKET_TILE = 8192,
    GPI_CSR_BUCKET_CHUNK = 512,
    GPI_CSR_BUCKET_BITS = 15
};

/* The least number of entries, and the largest of rows. */
enum { GPI_CSR_BUCKET_ITEMS = 1 << 24, GPI_CSR_BUCKET_ROWS = 1 << 25 };

struct gpi_csr_buckets {
    int shift; /* from a row to its bucket */
    uint32_t buckets, room;
    size_t pool, links, ends, sizes; /* bytes */
};

static inline struct gpi_csr_buckets gpi_csr_buckets_of(uint64_t nnz, uint64_t num_rows)
{
    const int bits = (int)gpi_csr_bits(num_rows), few = bits - 9;
    struct gpi_csr_buckets b = {.shift = few < GPI_CSR_BUCKET_BITS ? few : GPI_CSR_BUCKET_BITS};
    const uint32_t most = 1u << (bits - b.shift); /* so that figures rise with the rows */
    const uint64_t tiles = gpi_ceil_div(nnz, GPI_CSR_BUCKET_TILE);
    const uint64_t each = gpi_ceil_div(tiles, GPI_CSR_BUCKET_BLOCKS) * GPI_CSR_BUCKET_TILE;
    b.buckets = (uint32_t)(((num_rows - 1) >> b.shift) + 1);
    b.room = (uint32_t)(each / GPI_CSR_BUCKET_CHUNK) + most;
    const size_t chunks = (size_t)b.room * GPI_CSR_BUCKET_BLOCKS;
    b.pool = chunks * GPI_CSR_BUCKET_CHUNK * 2;
    b.links = chunks * 4;
    b.ends = (size_t)most * GPI_CSR_BUCKET_BLOCKS * 4;
    b.sizes = (size_t)most * 4;
    return b;
}

static inline size_t gpi_csr_buckets_bytes(const struct gpi_csr_buckets *b)
{
    return gpi_piece(b->pool) + gpi_piece(b->links) + gpi_piece(b->ends) + gpi_piece(b->sizes);
}

/* row_pointers[r] = entries of row r, of as many entries and rows as args->unsorted says. */
typedef gp_status gpi_csr_buckets_fn(gp_context *ctx, const struct gpi_csr_rows *args,
                                     size_t index_bytes, size_t offset_bytes,
                                     struct gpi_frame *frame);

/* That of a context, or NULL: its GPU has too little shared memory. */
gpi_csr_buckets_fn *gpi_csr_buckets_find(const gp_context *ctx);

#endif
