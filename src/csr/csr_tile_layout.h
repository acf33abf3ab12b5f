/* SPDX-License-Identifier: MIT */
/* How large the tiles of products are. */
#ifndef GPI_CSR_TILE_LAYOUT_H
#define GPI_CSR_TILE_LAYOUT_H

#include <gp/core.h>

/* Tile of the merge of row ends and entries. On CUDA a row of that many tiles, and of as many
 * chunks, is shared by them. */
enum { GPI_CSR_SPMV_TILE_CPU = 16384, GPI_CSR_LONG_TILES = 3 };

/*
 * CUDA: a warp takes the entries of its tile in chunks. A tile has the units of half a chunk, or of
 * up to four whole ones less what its rows and its aligned beginning may add, if rows are even: of
 * the fewest for which there are no more tiles than an H100 runs warps at once.
 */
enum {
    GPI_CSR_CHUNK = 256,
    GPI_CSR_LEAST_TILE = GPI_CSR_CHUNK / 2,
    GPI_CSR_CHUNK_SPARE = 32,
    GPI_CSR_CHUNKS_MAX = 4,
    GPI_CSR_LARGE_TILE = GPI_CSR_CHUNKS_MAX * GPI_CSR_CHUNK - GPI_CSR_CHUNK_SPARE, /* at least */
    GPI_CSR_UNITS_MAX = 1024,
    GPI_CSR_TILES_WANTED = 4752,
    GPI_CSR_TILES_WANTED_F64 = 3168
};

static inline uint64_t gpi_csr_tiles_wanted(gp_dtype value)
{
    return value == GP_F64 ? GPI_CSR_TILES_WANTED_F64 : GPI_CSR_TILES_WANTED;
}

static inline uint32_t gpi_csr_tile_units(uint64_t rows, uint64_t nnz, gp_dtype value)
{
    uint64_t units = GPI_CSR_UNITS_MAX;
    for (uint64_t chunks = 0; nnz && chunks <= GPI_CSR_CHUNKS_MAX; chunks++) {
        const uint64_t entries =
            chunks ? chunks * GPI_CSR_CHUNK - GPI_CSR_CHUNK_SPARE : GPI_CSR_LEAST_TILE;
        units = entries + (entries * rows + nnz - 1) / nnz;
        if (rows + nnz <= gpi_csr_tiles_wanted(value) * units)
            break;
    }
    return (uint32_t)(units < GPI_CSR_UNITS_MAX ? units : GPI_CSR_UNITS_MAX);
}

#endif
