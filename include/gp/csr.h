/* SPDX-License-Identifier: MIT */
/**
 * @file csr.h
 * Sparse matrices: coordinate lists (COO), compressed sparse rows (CSR), and y = A x.
 *
 * A CSR matrix is three arrays: entries row_pointers[r] .. row_pointers[r + 1] - 1 of cols and
 * values belong to row r; row_pointers has num_rows + 1 entries, the first 0, the last nnz. It is
 * canonical when the columns of each row are strictly ascending, hence without duplicates.
 *
 * Index dtype (rows, columns) and offset dtype (row pointers) are each GP_I32, GP_U32, GP_I64 or
 * GP_U64; the offset dtype is not narrower than the index dtype. All pointers live where ctx
 * computes, aligned to their element; no output may overlap an input or another output. An array
 * without elements may be NULL.
 *
 * Statuses that all calls share: GP_ERROR_POINTER ctx or an array is NULL, misaligned or in the
 * wrong memory; GP_ERROR_ARGUMENT a size above 2^40, or more rows or columns than the index dtype
 * can number; GP_ERROR_DTYPE an index, offset or value dtype, or a pair, that is not allowed;
 * GP_ERROR_OVERFLOW nnz does not fit the offset dtype; GP_ERROR_OVERLAP; GP_ERROR_MEMORY,
 * GP_ERROR_WORKSPACE the workspace could not grow. In all these cases nothing was queued.
 * GP_ERROR_CUDA: outputs unspecified. "Sticky" errors are found on the device and returned by the
 * next gp_context_synchronize().
 *
 * In a context with the option validate a call checks the contents of its arrays before its work.
 * If a rule is broken, nothing is written, and the error is GP_ERROR_DATA with a text that names
 * the index: returned by the call on the CPU, sticky on CUDA. The rules are: row pointers begin
 * with 0, do not descend, and end with nnz; indices of rows and columns are in range; the rows of
 * gp_csr_row_pointers() ascend. That the columns of a row ascend is checked by gp_check_csr() only.
 * Without the option a matrix that breaks these rules can lead gp_spmv() outside its arrays.
 * gp_spmv() does not read a matrix without rows.
 *
 * nnz and num_rows can be in the context's memory: device_nnz and device_num_rows of a descriptor.
 * The arguments are then upper bounds; row pointers end with the number that is in memory, and what
 * lies behind the results in the outputs is untouched.
 *
 * Each call that takes dtypes as parameters has a form with a descriptor, whose name ends in _by
 * and which takes a gp_csr_desc in their place; later releases add members there. All else is as in
 * the short form. It also returns GP_ERROR_POINTER if desc is NULL, GP_ERROR_ARGUMENT if desc->size
 * is wrong or desc->reserved is not 0, and, except gp_spmv_by(), GP_ERROR_DTYPE if
 * desc->value_dtype is not 0.
 */
#ifndef GP_CSR_H
#define GP_CSR_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The value of entries with the same row and column. */
typedef enum gp_duplicates {
    /**
     * Added. Integers wrap. Floats (f16 and bf16 in float, rounded once at the end) are added in
     * input order in blocks of 32 counted from the first duplicate, then the block sums in order:
     * the same bits on every device.
     */
    GP_DUPLICATES_SUM = 1,
    GP_DUPLICATES_MIN,   /**< the smallest, in gp's order of floats; a tie keeps the earlier one */
    GP_DUPLICATES_MAX,   /**< the largest, likewise */
    GP_DUPLICATES_FIRST, /**< the first in input order */
    GP_DUPLICATES_LAST,  /**< the last in input order */
    GP_DUPLICATES_KEEP,  /**< all of them, in input order: the result is then not canonical */
    GP_DUPLICATES_ERROR  /**< the first, and the sticky GP_ERROR_DATA if there is more than one */
} gp_duplicates;

/** Element types and rules of a conversion; start from GP_COO_DESC_INIT. */
typedef struct gp_coo_desc {
    size_t size;              /**< sizeof(gp_coo_desc) */
    gp_dtype index_dtype;     /**< of rows and columns */
    gp_dtype offset_dtype;    /**< of row pointers */
    gp_dtype value_dtype;     /**< any gp_dtype; 0: a pattern, value arrays are ignored */
    gp_duplicates duplicates; /**< ignored by gp_csr_transpose() */
    gp_algorithm algorithm;   /**< of the sort inside: GP_ALGORITHM_AUTO or GP_ALGORITHM_CUB */
    int reserved;             /**< ignored: formerly padding */
    /** One uint64_t in the context's memory that replaces nnz, which is then its upper bound (a
     * larger value counts as nnz); not in an output; NULL: nnz. Not with GP_ALGORITHM_CUB. */
    const uint64_t *device_nnz;
    const uint64_t *device_num_rows; /**< the same of num_rows */
    /** NULL, or room for nnz indices as wide as offset_dtype, an output: which entry of the input
     * each of the result is. gp_gather() with them puts new values into the same matrix. Not with
     * duplicates that several entries make: SUM, MIN and MAX. */
    void *permutation;
} gp_coo_desc;

/** Initializer of gp_coo_desc: its size, and defaults. */
#define GP_COO_DESC_INIT                                                                           \
    {                                                                                              \
        sizeof(gp_coo_desc), GP_U32, GP_U32, GP_F32, GP_DUPLICATES_SUM, GP_ALGORITHM_AUTO, 0,      \
            NULL, NULL, NULL                                                                       \
    }

/** Element types of a matrix, for the calls ending in _by; start from GP_CSR_DESC_INIT. */
typedef struct gp_csr_desc {
    size_t size;           /**< sizeof(gp_csr_desc) */
    gp_dtype index_dtype;  /**< of rows and columns */
    gp_dtype offset_dtype; /**< of row pointers */
    gp_dtype value_dtype;  /**< of gp_spmv_by(), see there; 0 in all other calls */
    /** Of plans, and of products by them: 1: few columns have many of the entries, as in graphs,
     * see gp_spmv_plan(); 0 in all other calls. */
    int hot_columns;
    /** One uint64_t in the context's memory that replaces nnz, which is then its upper bound (a
     * larger value counts as nnz); not in an output; NULL: nnz. NULL for gp_check_csr_by(). */
    const uint64_t *device_nnz;
    const uint64_t *device_num_rows; /**< the same of num_rows */
    int device_alpha; /**< gp_spmv_by(): 1: alpha points into the context's memory; 0: host */
    int device_beta;  /**< the same of beta; both are 0 in all other calls */
} gp_csr_desc;

/** Initializer of gp_csr_desc: its size, and defaults. */
#define GP_CSR_DESC_INIT                                                                           \
    {                                                                                              \
        sizeof(gp_csr_desc), (gp_dtype)0, (gp_dtype)0, (gp_dtype)0, 0, NULL, NULL, 0, 0            \
    }

/**
 * Row pointers from ascending row indices.
 *
 * row_pointers[r] = number of i with rows[i] < r, for r in [0, num_rows].
 *
 * @param[in]  index_dtype  of rows
 * @param[in]  rows         nnz row indices in ascending order, each below num_rows
 * @param[in]  nnz          0 is allowed: all row pointers become 0
 * @param[in]  num_rows     0 is allowed: one row pointer, 0
 * @param[in]  offset_dtype of row_pointers
 * @param[out] row_pointers num_rows + 1
 *
 * Queued on the context's stream; takes no workspace; capturable. Sticky GP_ERROR_DATA if rows
 * is not ascending or an index is out of range: row_pointers is then unspecified, nothing beyond
 * it is written.
 *
 * @return GP_OK queued, or a status of the list in the file comment.
 *
 * Reads rows once and writes row_pointers once.
 * @since 0.1
 */
GP_API gp_status gp_csr_row_pointers(gp_context *ctx, gp_dtype index_dtype, const void *rows,
                                     size_t nnz, size_t num_rows, gp_dtype offset_dtype,
                                     void *row_pointers);

/**
 * Row pointers from ascending row indices: gp_csr_row_pointers() with a descriptor.
 *
 * @param[in] desc index_dtype, of rows, and offset_dtype, of row_pointers
 *
 * @return as gp_csr_row_pointers(), or a status of the file comment about desc.
 * @since 0.1
 */
GP_API gp_status gp_csr_row_pointers_by(gp_context *ctx, const gp_csr_desc *desc, const void *rows,
                                        size_t nnz, size_t num_rows, void *row_pointers);

/**
 * Row pointers from row indices in any order: a histogram of the rows and its scan.
 *
 * As gp_csr_row_pointers(), but rows need not be ascending. An index out of range is not counted
 * and sets the sticky GP_ERROR_DATA. Workspace: gp_csr_row_pointers_unsorted_workspace_bytes().
 *
 * On a GPU rows that do ascend, from 2^21 on, cost little more than there: that is found on the
 * way. Runs of equal neighbours are counted at once. Entries that do not ascend are split by their
 * rows' high bits before they are counted, from 2^22 on, which takes 2.5 bytes of workspace for
 * each; of more than 2^25 rows they are sorted.
 * @since 0.1
 */
GP_API gp_status gp_csr_row_pointers_unsorted(gp_context *ctx, gp_dtype index_dtype,
                                              const void *rows, size_t nnz, size_t num_rows,
                                              gp_dtype offset_dtype, void *row_pointers);

/**
 * Row pointers from row indices in any order: gp_csr_row_pointers_unsorted() with a descriptor.
 *
 * @param[in] desc index_dtype, of rows, and offset_dtype, of row_pointers
 *
 * @return as gp_csr_row_pointers_unsorted(), or a status of the file comment about desc.
 * @since 0.1
 */
GP_API gp_status gp_csr_row_pointers_unsorted_by(gp_context *ctx, const gp_csr_desc *desc,
                                                 const void *rows, size_t nnz, size_t num_rows,
                                                 void *row_pointers);

/**
 * CSR from a coordinate list in any order.
 *
 * The result has its rows in order, the columns of a row ascending, and duplicates merged (or kept)
 * as desc says: canonical unless they are kept.
 *
 * @param[in]  desc         see gp_coo_desc
 * @param[in]  num_rows     rows of the matrix
 * @param[in]  num_cols     columns of the matrix
 * @param[in]  rows         nnz row indices, each below num_rows
 * @param[in]  cols         nnz column indices, each below num_cols
 * @param[in]  values       nnz values of desc->value_dtype; ignored if that is 0
 * @param[in]  nnz          entries of the list; 0 is allowed
 * @param[out] row_pointers num_rows + 1
 * @param[out] out_cols     room for nnz; those from *out_nnz on are unspecified
 * @param[out] out_values   room for nnz, likewise; ignored if desc->value_dtype is 0
 * @param[out] out_nnz      one uint64_t in the context's memory: entries of the result
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_csr_from_coo_workspace_bytes(); capturable. Deterministic, on the CPU whatever the thread
 * count. An index out of range sets the sticky GP_ERROR_DATA: the outputs are then unspecified, and
 * nothing beyond them is written.
 *
 * @return GP_OK queued; GP_ERROR_ARGUMENT also desc->size, duplicates or algorithm, or a
 *         permutation with duplicates that several entries make; GP_ERROR_UNSUPPORTED the algorithm
 *         is not available here; otherwise a status of the list in the file comment.
 *
 * On a GPU: a stable radix sort of the packed (row, column) keys over the bits that num_rows and
 * num_cols need, with a 4-byte payload (8 bytes from 2^32 entries on), then one gather, one scan of
 * head flags and one pass that merges. From 2^18 entries on, those that are in the order of the
 * result already are not sorted: one pass if there are no duplicates, otherwise another; from 2^21
 * on, if rows alone are in order, columns are sorted within them as by gp_csr_sort_columns(),
 * unless a row is too long for that.
 * @since 0.1
 */
GP_API gp_status gp_csr_from_coo(gp_context *ctx, const gp_coo_desc *desc, size_t num_rows,
                                 size_t num_cols, const void *rows, const void *cols,
                                 const void *values, size_t nnz, void *row_pointers, void *out_cols,
                                 void *out_values, uint64_t *out_nnz);

/**
 * The row index of every entry: the inverse of gp_csr_row_pointers().
 *
 * rows_out[i] = r for row_pointers[r] <= i < row_pointers[r + 1].
 *
 * @param[in]  offset_dtype of row_pointers
 * @param[in]  row_pointers num_rows + 1, ascending from 0 to nnz; gp_check_csr() checks that
 * @param[in]  num_rows     rows of the matrix
 * @param[in]  nnz          entries of the matrix; 0 is allowed
 * @param[in]  index_dtype  of rows_out
 * @param[out] rows_out     nnz
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_csr_to_coo_workspace_bytes(); capturable. Cost does not depend on how the entries lie in rows.
 *
 * @return GP_OK queued, or a status of the list in the file comment.
 * @since 0.1
 */
GP_API gp_status gp_csr_to_coo(gp_context *ctx, gp_dtype offset_dtype, const void *row_pointers,
                               size_t num_rows, size_t nnz, gp_dtype index_dtype, void *rows_out);

/**
 * The row index of every entry: gp_csr_to_coo() with a descriptor.
 *
 * @param[in] desc index_dtype, of rows_out, and offset_dtype, of row_pointers
 *
 * @return as gp_csr_to_coo(), or a status of the file comment about desc.
 * @since 0.1
 */
GP_API gp_status gp_csr_to_coo_by(gp_context *ctx, const gp_csr_desc *desc,
                                  const void *row_pointers, size_t num_rows, size_t nnz,
                                  void *rows_out);

/**
 * Transpose: CSR of the matrix with rows and columns exchanged, that is, CSC of the same matrix.
 *
 * @param[in]  desc             dtypes; duplicates is ignored: every entry is kept
 * @param[in]  num_rows         rows of the input, columns of the output
 * @param[in]  num_cols         columns of the input, rows of the output
 * @param[in]  nnz              entries of both
 * @param[in]  row_pointers     num_rows + 1, ascending from 0 to nnz; gp_check_csr() checks that
 * @param[in]  cols             nnz column indices, each below num_cols, in any order within a row
 * @param[in]  values           nnz; ignored if desc->value_dtype is 0
 * @param[out] out_row_pointers num_cols + 1
 * @param[out] out_cols         nnz: the input's rows, ascending in each output row
 * @param[out] out_values       nnz; ignored if desc->value_dtype is 0
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_csr_transpose_workspace_bytes(); capturable. Stable: entries of one column and one row keep
 * their order. A column out of range sets the sticky GP_ERROR_DATA: the outputs are then
 * unspecified, and nothing beyond them is written.
 *
 * @return as gp_csr_from_coo().
 * @since 0.1
 */
GP_API gp_status gp_csr_transpose(gp_context *ctx, const gp_coo_desc *desc, size_t num_rows,
                                  size_t num_cols, size_t nnz, const void *row_pointers,
                                  const void *cols, const void *values, void *out_row_pointers,
                                  void *out_cols, void *out_values);

/**
 * Sparse matrix times vector: y = alpha A x + beta y.
 *
 * @param[in]     value_dtype  of values, x and y: GP_F16, GP_BF16, GP_F32 or GP_F64; alpha, beta
 *                             and the sums are GP_F64 for GP_F64, otherwise GP_F32
 * @param[in]     num_rows     rows of A
 * @param[in]     num_cols     columns of A
 * @param[in]     nnz          entries of A; 0 is allowed
 * @param[in]     row_pointers num_rows + 1, ascending from 0 to nnz
 * @param[in]     cols         nnz column indices, each below num_cols; neither sorted nor unique
 * @param[in]     values       nnz
 * @param[in]     alpha        host pointer to one value, read during the call; NULL: 1
 * @param[in]     x            num_cols values
 * @param[in]     beta         host pointer to one value, read during the call; NULL: 0
 * @param[in,out] y            num_rows values; not read if beta is NULL or points to 0;
 *                             no overlap with x
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_spmv_workspace_bytes(); capturable. Deterministic: the association depends on the row
 * pointers, the bounds of counts in memory and the kind of device alone, and on the CPU not on the
 * number of threads.
 *
 * The matrix must be valid; gp_check_csr() checks that. Row pointers that do not ascend leave y
 * unspecified, but nothing outside of the arrays is touched; columns are not checked.
 *
 * @return GP_OK queued, or a status of the list in the file comment.
 *
 * Reads the entries once. Work is divided by rows plus entries, so one long row or many empty rows
 * cost no more than even rows. Source: Merrill and Garland 2016, merge-based parallel sparse
 * matrix-vector multiplication.
 * @since 0.1
 */
GP_API gp_status gp_spmv(gp_context *ctx, gp_dtype index_dtype, gp_dtype offset_dtype,
                         gp_dtype value_dtype, size_t num_rows, size_t num_cols, size_t nnz,
                         const void *row_pointers, const void *cols, const void *values,
                         const void *alpha, const void *x, const void *beta, void *y);

/**
 * Sparse matrix times vector: gp_spmv() with a descriptor.
 *
 * @param[in] desc  index_dtype, of cols, offset_dtype, of row_pointers, value_dtype as in
 *                  gp_spmv(), and where alpha and beta are
 * @param[in] alpha one value; NULL: 1. Host pointer, read during the call; with desc->device_alpha
 *                  in the context's memory, read when the call's work runs, and not in y
 * @param[in] beta  the same; NULL: 0. Where it is 0, y is not read
 *
 * @return as gp_spmv(), or a status of the file comment about desc; GP_ERROR_ARGUMENT also
 *         desc->device_alpha or desc->device_beta is neither 0 nor 1.
 * @since 0.1
 */
GP_API gp_status gp_spmv_by(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                            size_t num_cols, size_t nnz, const void *row_pointers, const void *cols,
                            const void *values, const void *alpha, const void *x, const void *beta,
                            void *y);

/**
 * Bytes of a plan for gp_spmv_planned().
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as in gp_spmv_plan()
 * @param[out] bytes  of the memory that gp_spmv_plan() fills: on CUDA about 2 per entry, and 40 to
 *                    180 per 1024 rows and entries, and 300 KB; with desc->hot_columns 4 per entry
 *                    and column, and 500 KB
 *
 * The other parameters are those of gp_spmv_plan().
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; otherwise as gp_spmv_plan()
 * @since 0.1
 */
GP_API gp_status gp_spmv_plan_bytes(const gp_target *target, const gp_csr_desc *desc,
                                    size_t num_rows, size_t num_cols, size_t nnz, size_t *bytes);

/**
 * Prepare products with a matrix: what gp_spmv_by() finds out each time, and shorter columns.
 *
 * @param[in]  desc         as in gp_spmv_by(); device_nnz and device_num_rows are NULL. A plan does
 *                          not depend on the value dtype
 * @param[in]  num_rows     rows of A
 * @param[in]  num_cols     columns of A
 * @param[in]  nnz          entries of A; 0 is allowed
 * @param[in]  row_pointers num_rows + 1, ascending from 0 to nnz
 * @param[in]  cols         nnz column indices, each below num_cols
 * @param[out] plan         gp_spmv_plan_bytes() bytes in the context's memory, aligned to 16; for
 *                          contexts of the same device
 *
 * Queued on the context's stream; takes no workspace; capturable. Reads the pattern up to 3 times.
 *
 * From compute capability 9.0 on, where x of f64 is larger than 27 MB, up to four times that, and
 * columns are spread over it, as a sample finds, products by the plan have two to four parts, each
 * of the entries with one part of the columns: y is rounded as often. Not with desc->hot_columns.
 *
 * With desc->hot_columns, which products by the plan need to have, too: if the columns lie apart
 * and a quarter of the entries have one of 38400 columns, as a sample finds, x of these is read
 * from shared memory. That takes two more kernels, so of fewer than 2^23 entries, on GPUs before
 * compute capability 9.0, and on the CPU, it changes nothing.
 *
 * @return as gp_spmv_by(); GP_ERROR_ARGUMENT also desc->device_nnz or desc->device_num_rows.
 * @since 0.1
 */
GP_API gp_status gp_spmv_plan(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                              size_t num_cols, size_t nnz, const void *row_pointers,
                              const void *cols, void *plan);

/**
 * Sparse matrix times vector by a plan: y = alpha A x + beta y.
 *
 * As gp_spmv_by(), of the pattern that gp_spmv_plan() saw, with any values. Parameters also:
 *
 * @param[in,out] plan what gp_spmv_plan() has filled. It is written to for a while: calls with one
 *                     plan follow each other
 *
 * One kernel on CUDA, or one for each part. Where the columns of 32 entries lie within 65536 of
 * each other, it reads 16 bits of each; from 2^21 entries on, where they lie as other 32 do, as in
 * a matrix of a grid, 6 bytes of all 32; where most do neither, the columns as they are.
 * Deterministic; the last bits of sums may differ from those of gp_spmv_by(). Takes workspace:
 * gp_spmv_workspace_bytes() has its size.
 *
 * With a plan of another pattern y is unspecified, and the matrix may be read outside its arrays. A
 * context that validates finds that: GP_ERROR_DATA, nothing is written.
 *
 * @return as gp_spmv_by(); GP_ERROR_ARGUMENT also desc->device_nnz or desc->device_num_rows.
 * @since 0.1
 */
GP_API gp_status gp_spmv_planned(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                                 size_t num_cols, size_t nnz, const void *row_pointers,
                                 const void *cols, void *plan, const void *values,
                                 const void *alpha, const void *x, const void *beta, void *y);

/**
 * Upper bounds of the workspace that the calls above take, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[out] bytes  for gp_context_reserve()
 *
 * The other parameters are those of the call.
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT target, or as the call;
 *         GP_ERROR_DTYPE, GP_ERROR_OVERFLOW as the call; GP_ERROR_UNSUPPORTED target->backend does
 *         not have the algorithm, or none does
 * @since 0.1
 */
GP_API gp_status gp_csr_row_pointers_unsorted_workspace_bytes(const gp_target *target,
                                                              gp_dtype index_dtype, size_t nnz,
                                                              size_t num_rows,
                                                              gp_dtype offset_dtype, size_t *bytes);
/** See gp_csr_row_pointers_unsorted_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_csr_from_coo_workspace_bytes(const gp_target *target, const gp_coo_desc *desc,
                                                 size_t num_rows, size_t num_cols, size_t nnz,
                                                 size_t *bytes);
/** See gp_csr_row_pointers_unsorted_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_csr_to_coo_workspace_bytes(const gp_target *target, gp_dtype offset_dtype,
                                               size_t num_rows, size_t nnz, gp_dtype index_dtype,
                                               size_t *bytes);
/** See gp_csr_row_pointers_unsorted_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_csr_transpose_workspace_bytes(const gp_target *target, const gp_coo_desc *desc,
                                                  size_t num_rows, size_t num_cols, size_t nnz,
                                                  size_t *bytes);
/** See gp_csr_row_pointers_unsorted_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_spmv_workspace_bytes(const gp_target *target, gp_dtype index_dtype,
                                         gp_dtype offset_dtype, gp_dtype value_dtype,
                                         size_t num_rows, size_t num_cols, size_t nnz,
                                         size_t *bytes);

#ifdef __cplusplus
}
#endif

#include <gp/entries.h> /* what this header once held */

#endif
