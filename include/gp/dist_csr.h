/* SPDX-License-Identifier: MIT */
/**
 * @file dist_csr.h
 * Sparse matrices over several ranks: by blocks of rows from coordinates, and times a vector.
 *
 * What gp/dist.h says of ranks, waiting, the workspace and statuses holds for these calls, too.
 */
#ifndef GP_DIST_CSR_H
#define GP_DIST_CSR_H

#include <gp/comm.h>
#include <gp/csr.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A sparse matrix by blocks of rows from a coordinate list over ranks, in any order.
 *
 * Rank r gets the rows from row_first[r] to row_first[r + 1] - 1 as CSR, its rows counted from
 * row_first[r], columns as they are. Blocks have about as many entries each: none more than an even
 * share of all, and one row. Rows without entries belong to the block before.
 *
 * @param[in]  comm         this rank
 * @param[in]  desc         see gp_coo_desc; device_nnz, device_num_rows and permutation are NULL
 * @param[in]  num_rows     rows of the matrix
 * @param[in]  num_cols     columns of the matrix
 * @param[in]  rows         nnz row indices of this rank's entries, each below num_rows
 * @param[in]  cols         nnz column indices, each below num_cols
 * @param[in]  values       nnz values of desc->value_dtype; ignored if that is 0
 * @param[in]  nnz          entries of this rank's list; 0 is allowed
 * @param[out] row_first    ranks + 1 uint64_t: where blocks begin, and num_rows
 * @param[in]  row_room     of row_pointers, in rows
 * @param[out] row_pointers room for row_room + 1
 * @param[in]  room         of out_cols and out_values: for the entries before duplicates are merged
 * @param[out] out_cols     room for that many; those from *out_nnz on are unspecified
 * @param[out] out_values   the same; ignored if desc->value_dtype is 0
 * @param[out] out_nnz      one uint64_t: entries of this rank's block
 *
 * The result is that of gp_csr_from_coo() of one rank on the list of all, cut between rows; of
 * duplicates the first is that of the lowest rank. An index out of range is found as there.
 *
 * Statuses as gp_csr_from_coo(); GP_ERROR_ARGUMENT also what desc has and this call does not,
 * row_room or room; GP_ERROR_CAPACITY a rank gets more rows or entries than it has room for: the
 * outputs are then unspecified.
 *
 * Cost: rows are read four to eight times to find the blocks, entries moved once on their rank and
 * once to their owner, and gp_csr_from_coo() of what each rank gets.
 * Source: selection by counts of digits; partition before the exchange, as in Ilic, Tolovski and
 * Rabl 2023.
 * @since 0.1
 */
GP_API gp_status gp_dist_csr_from_coo(gp_comm *comm, const gp_coo_desc *desc, size_t num_rows,
                                      size_t num_cols, const void *rows, const void *cols,
                                      const void *values, size_t nnz, uint64_t *row_first,
                                      size_t row_room, void *row_pointers, size_t room,
                                      void *out_cols, void *out_values, uint64_t *out_nnz);

/** The columns that a rank's rows need of other ranks, for products. */
typedef struct gp_dist_halo gp_dist_halo;

/**
 * Prepare products of a matrix in blocks of rows with a vector that is divided among ranks.
 *
 * @param[in]  comm         this rank
 * @param[in]  desc         dtypes, as for gp_spmv_by(); device_nnz and device_num_rows are NULL.
 *                          device_alpha and device_beta are those of the products
 * @param[in]  col_first    ranks + 1 uint64_t, the same on each rank, from 0 ascending: rank r has
 *                          items col_first[r] to col_first[r + 1] - 1 of x. For square matrices
 *                          what gp_dist_csr_from_coo() wrote to row_first
 * @param[in]  num_rows     rows of this rank's block
 * @param[in]  nnz          entries of the block
 * @param[in]  row_pointers num_rows + 1; read by products as well
 * @param[in]  cols         nnz columns of the whole matrix
 * @param[out] halo         for gp_dist_halo_destroy(); NULL on error. In a group it is there after
 *                          gp_comm_group_end()
 *
 * Takes memory of the context: nnz indices, and an index and a value for each item that is sent.
 *
 * Statuses as gp_spmv_by(); GP_ERROR_POINTER also halo; GP_ERROR_DATA col_first does not ascend
 * from 0, or a column is not below its last number.
 *
 * Cost: a sort of the columns, and one exchange of those that are other ranks'.
 * @since 0.1
 */
GP_API gp_status gp_dist_halo_create(gp_comm *comm, const gp_csr_desc *desc,
                                     const uint64_t *col_first, size_t num_rows, size_t nnz,
                                     const void *row_pointers, const void *cols,
                                     gp_dist_halo **halo);

/** Free a halo, before its gp_comm; NULL does nothing. @since 0.1 */
GP_API void gp_dist_halo_destroy(gp_dist_halo *halo);

/** Items of other ranks that products need: room for them lies behind x. 0 for NULL. @since 0.1 */
GP_API uint64_t gp_dist_halo_items(const gp_dist_halo *halo);

/**
 * Sparse matrix times vector over ranks: y = alpha A x + beta y.
 *
 * @param[in]     halo   of gp_dist_halo_create(), of all ranks together
 * @param[in]     values nnz values of the block
 * @param[in]     alpha  as for gp_spmv_by()
 * @param[in,out] x      this rank's items, and behind them room for gp_dist_halo_items() more,
 *                       which the call fills
 * @param[in]     beta   as for gp_spmv_by()
 * @param[in,out] y      num_rows items; must not overlap x
 *
 * Deterministic as gp_spmv_by(). Statuses as gp_spmv_by(); GP_ERROR_POINTER also halo is NULL.
 *
 * Cost: gp_spmv_by() of the block, and one exchange of the items that other ranks need.
 * @since 0.1
 */
GP_API gp_status gp_dist_spmv(gp_dist_halo *halo, const void *values, const void *alpha, void *x,
                              const void *beta, void *y);

/**
 * Upper bound of the workspace that a rank takes for gp_dist_csr_from_coo(), no device touched.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  ranks  1 to GP_COMM_RANKS_MAX
 * @param[in]  desc   as for the call
 * @param[in]  nnz    at least the entries of this rank's list
 * @param[in]  room   as for the call
 * @param[out] bytes  for gp_context_reserve()
 * @return as gp_csr_from_coo_workspace_bytes(); GP_ERROR_ARGUMENT also ranks or room
 * @since 0.1
 */
GP_API gp_status gp_dist_csr_from_coo_workspace_bytes(const gp_target *target, int ranks,
                                                      const gp_coo_desc *desc, size_t num_rows,
                                                      size_t num_cols, size_t nnz, size_t room,
                                                      size_t *bytes);

/**
 * The same for gp_dist_halo_create() and the products by it, of a block of at most so many rows and
 * entries. @since 0.1
 */
GP_API gp_status gp_dist_halo_workspace_bytes(const gp_target *target, int ranks,
                                              const gp_csr_desc *desc, size_t num_rows, size_t nnz,
                                              size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
