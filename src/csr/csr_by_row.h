/* SPDX-License-Identifier: MIT */
/* Columns sorted within rows on CUDA: what the launchers of csr_columns_cuda_tmpl.cu are given. */
#ifndef GPI_CSR_BY_ROW_H
#define GPI_CSR_BY_ROW_H

#include "csr/csr_internal.h"

/* CUDA: the columns of each row sorted (csr_columns_kernels.cuh), without looking at c.rows. */
struct gpi_csr_by_row {
    const char *name;     /* of the row pointers, for what is found in them; NULL: nothing is */
    const void *pointers; /* num_rows + 1 */
    void *cols, *values;  /* outputs */
    uint64_t *left;       /* scratch: how many rows of a class are long, 0, and room for these */
    /* NULL, or as large as the outputs, for rows that no block has room for. */
    void *spare_cols, *spare_values;
    /* If it is not 0, nothing is done; becomes the number of entries if they have to be sorted in
     * another way, and the word behind it that of rows. */
    uint64_t *unsorted;
};

/* CUDA: words of `unsorted`, and of `left`: of each class of long rows, of which the last is of
 * parts, their number, what counts tasks, and room for rows, as they have more than 256 entries. */
enum { GPI_CSR_UNSORTED_WORDS = 4, GPI_CSR_LEFT_CLASSES = 5, GPI_CSR_LEFT_COUNTERS = 8 };
/* Up to as many entries rows that fit no block go in parts, without a launch more, if a block has
 * room for those of a part; buckets of a row. */
enum { GPI_CSR_PARTS_ITEMS = 1 << 20, GPI_CSR_PARTS_ROOM = 8192, GPI_CSR_BUCKETS = 256 };
/* Parts that a row has at most, so that each multiprocessor has one. */
enum { GPI_CSR_PARTS_MOST = 128 };
static inline size_t gpi_csr_left_room(uint64_t nnz)
{
    return (size_t)(nnz / 256 + 1);
}
/* Of the number of entries of a part, a power of two: from 2048 to 8192 entries. */
static inline uint32_t gpi_csr_part_bits(uint64_t nnz)
{
    uint32_t bits = 11;
    while (bits < 13 && ((uint64_t)GPI_CSR_PARTS_MOST << bits) < nnz)
        bits++;
    return bits;
}
/* Of parts that are full, and of one that is not for each row, which has more than 8192 entries. */
static inline size_t gpi_csr_part_room(uint64_t nnz)
{
    const size_t most = 2 * GPI_CSR_PARTS_MOST, room = (size_t)(nnz / 1024);
    return (room < most ? room : most) + 1;
}
/* Behind the lists: where the bucket of a part begins, and how many of each bucket a part has. */
static inline size_t gpi_csr_left_words(uint64_t nnz)
{
    return GPI_CSR_LEFT_CLASSES * gpi_csr_left_room(nnz) + GPI_CSR_LEFT_COUNTERS +
           gpi_csr_part_room(nnz) * (GPI_CSR_BUCKETS / 4 + 1);
}

struct gpi_csr_by_row_ops {
    gp_status (*sort)(gp_context *ctx, const struct gpi_csr_coo *c,
                      const struct gpi_csr_by_row *by);
    uint64_t longest; /* rows of up to that many entries need no other way */
};

/* For indices of a context of that many bytes. */
const struct gpi_csr_by_row_ops *gpi_csr_by_row_find(const gp_context *ctx, size_t index_bytes);

#endif
