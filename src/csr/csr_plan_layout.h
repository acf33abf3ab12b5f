/* SPDX-License-Identifier: MIT */
/* What is in a plan of SpMV. */
#ifndef GPI_CSR_PLAN_LAYOUT_H
#define GPI_CSR_PLAN_LAYOUT_H

#include <stdint.h>

/* Of a plan, and of its arrays within, in bytes; entries whose columns have a least one. */
enum { GPI_CSR_PLAN_ALIGN = 16, GPI_CSR_PLAN_LINE = 128, GPI_CSR_NEAR = 32 };

/*
 * CUDA: the shape of 32 columns is what they are above the least one. Where a matrix is of a grid,
 * few shapes come again and again: a plan keeps each of these once, in a table by its hash, and of
 * 32 entries which one theirs is. Of fewer entries that takes longer than it saves.
 */
enum {
    GPI_CSR_SHAPES = 4096, /* a power of two */
    GPI_CSR_SHAPE_TRIES = 8,
    GPI_CSR_NO_SHAPE = 0xffff,
    GPI_CSR_SHAPED_ENTRIES = 1 << 21
};
static inline uint32_t gpi_csr_shapes(uint64_t nnz)
{
    return nnz < GPI_CSR_SHAPED_ENTRIES ? 0 : GPI_CSR_SHAPES;
}

/*
 * A plan of SpMV, in the caller's memory: this, and on CUDA behind it, each at a line, starts and
 * left of the tiles, which are others for f64, and of the columns the least of 32, what they have
 * above it, and their shapes.
 */
struct gpi_csr_plan {
    uint64_t pattern; /* a hash of row pointers and columns */
    uint64_t num_rows, num_cols, nnz, widths;
    uint64_t ignored; /* bits of widths; 0 in a plan */
    /* At a multiple of 16: how many more 32 entries may have columns that do not fit 16 bits, and
     * no shape, until that is not worth it any more: below 0 */
    int64_t far_left, other_left;
    uint32_t hot, hot_limits[2], hot_first[2]; /* gpi_csr_hot: how many, in two groups */
    uint32_t next_tile;                        /* of a product with hot columns */
    /* How many more sectors of x a sample of entries has to find until columns are spread: at most
     * 0 (csr_band_kernels.cuh) */
    int64_t spread_left;
};

/*
 * CUDA: bits of the sectors of x, GPI_CSR_SECTOR numbers of f64 each, that a sample of as many
 * entries finds, where x is so large that products may be of one band of the columns after the
 * other. Of columns anywhere it finds 0.63 of the sectors.
 */
enum { GPI_CSR_SECTOR = 4, GPI_CSR_BAND_COLUMNS = 1 << 21 };
static inline uint64_t gpi_csr_sectors(uint64_t num_cols, uint64_t nnz)
{
    return num_cols < GPI_CSR_BAND_COLUMNS || nnz < num_cols
               ? 0
               : (num_cols + GPI_CSR_SECTOR - 1) / GPI_CSR_SECTOR;
}

/*
 * CUDA: the hot columns of a plan, those that most entries have, of which a block keeps x in shared
 * memory: the first of them for f64, all for others. Columns of entries are as they are, or the
 * place of a hot one and GPI_CSR_HOT_BIT. As many as fit, beside the chunks of the warps, 196 KB of
 * shared memory: more would be 228 KB, of what is the first level's.
 */
#define GPI_CSR_HOT_BIT 0x80000000u
enum {
    GPI_CSR_HOT_ENTRIES = 1 << 23, /* of fewer the kernel takes longer than it saves */
    GPI_CSR_HOT = 38400,
    GPI_CSR_HOT_F64 = 18432,
    GPI_CSR_HOT_SAMPLE = 1 << 22, /* of the entries, by which they are chosen; at most */
    GPI_CSR_HOT_SHARE = 4,        /* of that many entries one has them, at least */
    GPI_CSR_HOT_BINS = 1024       /* numbers of entries of the sample that differ */
};
struct gpi_csr_hot {
    uint32_t *cols;  /* of entries; NULL: none are looked for */
    uint32_t *place; /* of a column, as in cols; before, how many entries of the sample have it */
    uint32_t *columns;
    void *x;        /* of these */
    uint32_t *bins; /* columns by how many entries of the sample have them */
};
static inline uint64_t gpi_csr_hot_sample(uint64_t nnz)
{
    return nnz < GPI_CSR_HOT_SAMPLE ? nnz : GPI_CSR_HOT_SAMPLE;
}

#endif
