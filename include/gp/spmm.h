/* SPDX-License-Identifier: MIT */
/**
 * @file spmm.h
 * Products of a sparse matrix with several vectors at a time, and with its transpose.
 *
 * The matrix A is that of gp/csr.h: row pointers, columns and values. Index and offset dtypes, the
 * rules of its contents, and the statuses are those of that file, and GP_ERROR_POINTER if desc is
 * NULL. Value dtypes are GP_F16, GP_BF16, GP_F32 and GP_F64; alpha, beta and the sums are GP_F64
 * for GP_F64, otherwise GP_F32.
 */
#ifndef GP_SPMM_H
#define GP_SPMM_H

#include <gp/core.h>
#include <gp/csr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How X and Y of gp_spmm() lie in memory. */
typedef enum gp_layout {
    GP_LAYOUT_ROWS = 0,   /**< item (r, c) is item r * stride + c: vectors beside each other */
    GP_LAYOUT_COLUMNS = 1 /**< item (r, c) is item c * stride + r: vectors behind each other */
} gp_layout;

/** The most columns of gp_spmm(). */
#define GP_SPMM_COLUMNS_MAX 32

/** Element types and shapes of gp_spmm(); start from GP_SPMM_DESC_INIT. */
typedef struct gp_spmm_desc {
    size_t size;           /**< sizeof(gp_spmm_desc) */
    gp_dtype index_dtype;  /**< of columns of A */
    gp_dtype offset_dtype; /**< of row pointers */
    gp_dtype value_dtype;  /**< of A, X and Y */
    gp_layout layout;      /**< of X and Y */
    size_t columns;        /**< of X and Y: 0 to GP_SPMM_COLUMNS_MAX */
    size_t x_stride;       /**< of X; 0: the least, columns, or of GP_LAYOUT_COLUMNS num_cols */
    size_t y_stride;       /**< of Y; 0: the least, columns, or of GP_LAYOUT_COLUMNS num_rows */
    int device_alpha;      /**< 1: alpha points into the context's memory; 0: host */
    int device_beta;       /**< the same of beta */
    /** One uint64_t in the context's memory that replaces nnz, which is then its upper bound (a
     * larger value counts as nnz); not in an output; NULL: nnz. Not with a plan. */
    const uint64_t *device_nnz;
    const uint64_t *device_num_rows; /**< the same of num_rows */
    /** NULL, or what gp_spmv_plan() has filled for this pattern. It is written to for a while:
     * calls with one plan follow each other. */
    void *plan;
} gp_spmm_desc;

/** Initializer of gp_spmm_desc: its size, and defaults. */
#define GP_SPMM_DESC_INIT                                                                          \
    {                                                                                              \
        sizeof(gp_spmm_desc), (gp_dtype)0, (gp_dtype)0, (gp_dtype)0, GP_LAYOUT_ROWS, 1, 0, 0, 0,   \
            0, NULL, NULL, NULL                                                                    \
    }

/**
 * Sparse matrix times several vectors: Y = alpha A X + beta Y.
 *
 * Each column of Y is gp_spmv() of that column of X, but for the last bits.
 *
 * @param[in]     desc         dtypes, the number of columns, and how X and Y lie
 * @param[in]     num_rows     rows of A and Y
 * @param[in]     num_cols     columns of A, rows of X
 * @param[in]     nnz          entries of A; 0 is allowed
 * @param[in]     row_pointers num_rows + 1, ascending from 0 to nnz
 * @param[in]     cols         nnz column indices, each below num_cols; neither sorted nor unique
 * @param[in]     values       nnz
 * @param[in]     alpha        one value; NULL: 1. Host pointer, read during the call; with
 *                             desc->device_alpha in the context's memory, read when the call's work
 *                             runs, and not in Y
 * @param[in]     x            X, num_cols rows of desc->columns items
 * @param[in]     beta         the same as alpha; NULL: 0. Where it is 0, Y is not read
 * @param[in,out] y            Y, num_rows rows of desc->columns items; what lies between them is
 *                             untouched. No overlap with x
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_spmm_workspace_bytes(); capturable. Deterministic: the association depends on the row
 * pointers, the bounds of counts in memory, desc->columns, desc->plan being NULL, and the kind of
 * device alone, and on the CPU neither on the number of threads nor on the instruction set. A
 * matrix that is not valid: as for gp_spmv().
 *
 * @return as gp_spmv_by(); GP_ERROR_ARGUMENT also desc->columns is above GP_SPMM_COLUMNS_MAX,
 *         desc->layout is neither of the two, a stride is not 0 and below the least, X or Y spans
 *         more than 2^40 items, or a count in memory comes with a plan
 *
 * Reads the entries once; for X, GP_LAYOUT_ROWS with a stride of whole 32 bytes is the fastest.
 * Work is divided by rows plus entries, as that of gp_spmv().
 * @since 0.1
 */
GP_API gp_status gp_spmm(gp_context *ctx, const gp_spmm_desc *desc, size_t num_rows,
                         size_t num_cols, size_t nnz, const void *row_pointers, const void *cols,
                         const void *values, const void *alpha, const void *x, const void *beta,
                         void *y);

/**
 * Upper bound of the workspace of gp_spmm(), without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[out] bytes  for gp_context_reserve()
 *
 * The other parameters are those of gp_spmm().
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; otherwise as gp_spmm()
 * @since 0.1
 */
GP_API gp_status gp_spmm_workspace_bytes(const gp_target *target, const gp_spmm_desc *desc,
                                         size_t num_rows, size_t num_cols, size_t nnz,
                                         size_t *bytes);

/**
 * Bytes of a plan for gp_spmv_transposed().
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as in gp_spmv_transposed_plan()
 * @param[out] bytes  of the memory that gp_spmv_transposed_plan() fills: per entry an index, a
 *                    value and an offset, per column an offset, and what gp_spmv_plan_bytes() says
 *                    of the transpose
 *
 * The other parameters are those of gp_spmv_transposed_plan().
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; otherwise as gp_spmv_transposed_plan()
 * @since 0.1
 */
GP_API gp_status gp_spmv_transposed_plan_bytes(const gp_target *target, const gp_csr_desc *desc,
                                               size_t num_rows, size_t num_cols, size_t nnz,
                                               size_t *bytes);

/**
 * Prepare products with the transpose of a matrix: a plan that holds the transpose.
 *
 * @param[in]  desc         as in gp_spmv_by(); device_nnz and device_num_rows are NULL
 * @param[in]  num_rows     rows of A
 * @param[in]  num_cols     columns of A
 * @param[in]  nnz          entries of A; 0 is allowed
 * @param[in]  row_pointers num_rows + 1, ascending from 0 to nnz
 * @param[in]  cols         nnz column indices, each below num_cols; neither sorted nor unique
 * @param[in]  values       nnz; gp_spmv_transposed_values() brings others
 * @param[out] plan         gp_spmv_transposed_plan_bytes() bytes in the context's memory, aligned
 *                          to 16; for contexts of the same device. A needs not stay
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_spmv_transposed_plan_workspace_bytes(); capturable. A column out of range sets the sticky
 * GP_ERROR_DATA: the plan is then unspecified, and nothing beyond it is written.
 *
 * @return as gp_csr_transpose(); GP_ERROR_ARGUMENT also desc->device_nnz or desc->device_num_rows,
 *         or desc->device_alpha or desc->device_beta is neither 0 nor 1
 *
 * Costs a gp_csr_transpose() with a permutation.
 * @since 0.1
 */
GP_API gp_status gp_spmv_transposed_plan(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                                         size_t num_cols, size_t nnz, const void *row_pointers,
                                         const void *cols, const void *values, void *plan);

/** See gp_spmm_workspace_bytes(); of gp_spmv_transposed_plan(). @since 0.1 */
GP_API gp_status gp_spmv_transposed_plan_workspace_bytes(const gp_target *target,
                                                         const gp_csr_desc *desc, size_t num_rows,
                                                         size_t num_cols, size_t nnz,
                                                         size_t *bytes);

/**
 * Bring other values of the same pattern into a plan of gp_spmv_transposed_plan().
 *
 * @param[in]     desc   as the plan was made with
 * @param[in]     values nnz, in the order of A's entries
 * @param[in,out] plan   of gp_spmv_transposed_plan()
 *
 * The other parameters are those of gp_spmv_transposed_plan(). Queued on the context's stream;
 * takes no workspace, in a context that validates 256 bytes; capturable. Such a context finds a
 * plan of another matrix: GP_ERROR_DATA, nothing is written.
 *
 * @return as gp_spmv_transposed_plan()
 *
 * Gathers the values once.
 * @since 0.1
 */
GP_API gp_status gp_spmv_transposed_values(gp_context *ctx, const gp_csr_desc *desc,
                                           size_t num_rows, size_t num_cols, size_t nnz,
                                           const void *values, void *plan);

/**
 * Transpose of a sparse matrix times vector by a plan: y = alpha A^T x + beta y.
 *
 * @param[in]     desc     dtypes as the plan was made with, and where alpha and beta are
 * @param[in]     num_rows rows of A
 * @param[in]     num_cols columns of A
 * @param[in]     nnz      entries of A
 * @param[in,out] plan     of gp_spmv_transposed_plan(). It is written to for a while: calls with
 *                         one plan follow each other
 * @param[in]     alpha    as in gp_spmv_by()
 * @param[in]     x        num_rows values
 * @param[in]     beta     as in gp_spmv_by()
 * @param[in,out] y        num_cols values; no overlap with x
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_spmv_workspace_bytes() of the transpose, with num_rows and num_cols exchanged; capturable.
 * Deterministic, without atomic additions: a product with the transpose as gp_spmv_planned() makes
 * it. A context that validates finds a plan of another matrix: GP_ERROR_DATA, nothing is written;
 * otherwise y is unspecified then, and memory outside of the plan may be read.
 *
 * @return as gp_spmv_by(); GP_ERROR_ARGUMENT also desc->device_nnz or desc->device_num_rows.
 * @since 0.1
 */
GP_API gp_status gp_spmv_transposed(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                                    size_t num_cols, size_t nnz, void *plan, const void *alpha,
                                    const void *x, const void *beta, void *y);

#ifdef __cplusplus
}
#endif
#endif
