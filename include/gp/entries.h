/* SPDX-License-Identifier: MIT */
/**
 * @file entries.h
 * Sparse matrices, entry by entry: which to keep, their order, whether they are good, and the edges
 * that leave a set of rows.
 *
 * Matrices, dtypes, memory and aliasing, the statuses that all calls share, contexts with the
 * option validate, and counts in memory are as csr.h describes them.
 */
#ifndef GP_ENTRIES_H
#define GP_ENTRIES_H

#include <gp/compact.h>
#include <gp/csr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which entries gp_csr_filter() and gp_coo_filter() keep. */
typedef enum gp_entries {
    GP_ENTRIES_COMPARED = 1, /**< those whose value compares so with desc->value */
    GP_ENTRIES_LOWER,        /**< col - row <= desc->diagonal: the lower triangle at 0 or -1 */
    GP_ENTRIES_UPPER,        /**< col - row >= desc->diagonal */
    GP_ENTRIES_DIAGONAL,     /**< col - row == desc->diagonal */
    GP_ENTRIES_OFF_DIAGONAL  /**< col - row != desc->diagonal */
} gp_entries;

/** Element types and the choice of a filter; start from GP_CSR_FILTER_DESC_INIT. */
typedef struct gp_csr_filter_desc {
    size_t size;           /**< sizeof(gp_csr_filter_desc) */
    gp_dtype index_dtype;  /**< of rows and columns */
    gp_dtype offset_dtype; /**< of row pointers; ignored by gp_coo_filter() */
    gp_dtype value_dtype;  /**< any gp_dtype; 0: a pattern, value arrays are ignored */
    gp_entries entries;    /**< which are kept */
    /** of COMPARED: value compare *desc->value, in gp's order; GP_OUTSIDE with -x and x keeps what
     * is larger than x in magnitude; otherwise 0 */
    gp_compare compare;
    int reserved;      /**< 0 */
    const void *value; /**< of COMPARED: host pointer to one value_dtype, read during the call */
    const void *upper; /**< of GP_BETWEEN and GP_OUTSIDE: likewise; otherwise NULL */
    int64_t diagonal;  /**< not of COMPARED */
    /** One uint64_t in the context's memory that replaces nnz, which is then its upper bound (a
     * larger value counts as nnz); not in an output; NULL: nnz. */
    const uint64_t *device_nnz;
    const uint64_t *device_num_rows; /**< the same of num_rows */
} gp_csr_filter_desc;

/** Initializer of gp_csr_filter_desc: its size, and defaults. */
#define GP_CSR_FILTER_DESC_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_csr_filter_desc), GP_U32, GP_U32, GP_F32, (gp_entries)0, (gp_compare)0, 0, NULL, \
            NULL, 0, NULL, NULL                                                                    \
    }

/** What gp_check_coo() asks of the order of entries; each asks for what those before it ask. */
typedef enum gp_coo_order {
    GP_COO_ANY = 1,  /**< nothing: rows and columns are in range */
    GP_COO_ROWS,     /**< rows ascend, as gp_csr_row_pointers() needs them */
    GP_COO_SORTED,   /**< and the columns of each row ascend: the order of gp_csr_from_coo() */
    GP_COO_CANONICAL /**< and no two entries have the same row and column */
} gp_coo_order;

/** Edges of a frontier that leave one row, all of them or a part; see gp_csr_visit_edges(). */
typedef struct gp_edges {
    uint64_t place;  /**< of the row in the frontier */
    uint64_t row;    /**< its number */
    uint64_t begin;  /**< the first edge: an entry of the matrix */
    uint64_t end;    /**< behind the last one */
    uint64_t before; /**< edges of the frontier before this one, in the frontier's order */
    uint64_t share;  /**< number of the share that they are in */
} gp_edges;

/** At most as many edges and ends of rows are in a share of gp_csr_visit_edges(). */
#define GP_EDGES_SHARE 8192

/**
 * Keep some entries of a matrix, in their order: by value, or by distance from the diagonal.
 *
 * The j-th entry of the result is that of the j-th i in [0, nnz) that desc->entries selects;
 * out_row_pointers[r] = how many of those are in rows before r.
 *
 * @param[in]  desc             dtypes and what is kept
 * @param[in]  num_rows         rows of both matrices
 * @param[in]  num_cols         columns of both
 * @param[in]  nnz              entries of the input; 0 is allowed
 * @param[in]  row_pointers     num_rows + 1, ascending from 0 to nnz; gp_check_csr() checks that
 * @param[in]  cols             nnz column indices, in any order within a row
 * @param[in]  values           nnz; ignored if desc->value_dtype is 0
 * @param[out] out_row_pointers num_rows + 1
 * @param[out] out_cols         room for nnz; those from *out_nnz on are unspecified
 * @param[out] out_values       room for nnz, likewise; ignored if desc->value_dtype is 0
 * @param[out] out_nnz          one uint64_t in the context's memory: entries of the result
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_csr_filter_workspace_bytes(); capturable. Deterministic. Columns out of range are columns like
 * others here; wrong row pointers give unspecified results within the outputs.
 *
 * @return GP_OK queued; GP_ERROR_ARGUMENT also desc->size, entries, compare, reserved, or a member
 *         that the choice does not have; GP_ERROR_DTYPE also COMPARED without values;
 *         otherwise a status of the list in csr.h.
 *
 * CPU: one compaction that also gives the places of what it keeps, a gather of the rest of each
 * entry, and a search of those places for each row pointer. CUDA: a bit for each entry, a scan of
 * their numbers in words, and one kernel that moves entries and looks up row pointers. By diagonals
 * also the row of every entry.
 * @since 0.1
 */
GP_API gp_status gp_csr_filter(gp_context *ctx, const gp_csr_filter_desc *desc, size_t num_rows,
                               size_t num_cols, size_t nnz, const void *row_pointers,
                               const void *cols, const void *values, void *out_row_pointers,
                               void *out_cols, void *out_values, uint64_t *out_nnz);

/**
 * Keep some entries of a list, in their order: by value, or by distance from the diagonal.
 *
 * The j-th entry of the result is that of the j-th i in [0, nnz) that desc->entries selects.
 *
 * @param[in]  desc       dtypes and what is kept; offset_dtype is ignored, and device_num_rows has
 *                        a meaning in contexts that validate alone
 * @param[in]  num_rows   rows of the matrix
 * @param[in]  num_cols   columns of the matrix
 * @param[in]  rows       nnz row indices, in any order
 * @param[in]  cols       nnz column indices
 * @param[in]  values     nnz; ignored if desc->value_dtype is 0
 * @param[in]  nnz        entries of the list; 0 is allowed
 * @param[out] out_rows   room for nnz; those from *out_nnz on are unspecified
 * @param[out] out_cols   room for nnz, likewise
 * @param[out] out_values room for nnz, likewise; ignored if desc->value_dtype is 0
 * @param[out] out_nnz    one uint64_t in the context's memory: entries of the result
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_coo_filter_workspace_bytes(); capturable. Deterministic. Indices out of range are indices like
 * others here.
 *
 * @return as gp_csr_filter().
 *
 * One compaction that also gives the places of what it keeps, and a gather of the rest.
 * @since 0.1
 */
GP_API gp_status gp_coo_filter(gp_context *ctx, const gp_csr_filter_desc *desc, size_t num_rows,
                               size_t num_cols, const void *rows, const void *cols,
                               const void *values, size_t nnz, void *out_rows, void *out_cols,
                               void *out_values, uint64_t *out_nnz);

/**
 * Sort the columns of each row, and move the values along.
 *
 * Rows keep their entries, so row_pointers are those of the result, too. None are merged:
 * gp_csr_from_coo() does that, with the rows that gp_csr_to_coo() finds.
 *
 * @param[in]  desc         dtypes, algorithm, counts in memory and permutation as for
 *                          gp_csr_transpose(); duplicates is ignored: every entry is kept
 * @param[in]  num_rows     rows of the matrix
 * @param[in]  num_cols     columns of the matrix
 * @param[in]  nnz          entries of the matrix; 0 is allowed
 * @param[in]  row_pointers num_rows + 1, ascending from 0 to nnz; gp_check_csr() checks that
 * @param[in]  cols         nnz column indices, each below num_cols, in any order within a row
 * @param[in]  values       nnz; ignored if desc->value_dtype is 0
 * @param[out] out_cols     nnz
 * @param[out] out_values   nnz; ignored if desc->value_dtype is 0
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_csr_sort_columns_workspace_bytes(); capturable. Stable: entries of one row and column keep
 * their order. A column out of range sets the sticky GP_ERROR_DATA: the outputs are then
 * unspecified, and nothing beyond them is written.
 *
 * @return as gp_csr_transpose().
 *
 * CPU: rows are the segments of gp_radix_sort_segmented_pairs(). CUDA: rows that fit the shared
 * memory of a block (18432 entries on sm_90, 13312 on sm_80; of 64-bit indices 10240 and 7168) are
 * sorted there, by networks in registers (Batcher 1968) and merges; only if there is a longer row,
 * the row of every entry is found, and all are sorted as by gp_csr_from_coo().
 * @since 0.1
 */
GP_API gp_status gp_csr_sort_columns(gp_context *ctx, const gp_coo_desc *desc, size_t num_rows,
                                     size_t num_cols, size_t nnz, const void *row_pointers,
                                     const void *cols, const void *values, void *out_cols,
                                     void *out_values);

/**
 * Check that a matrix is canonical CSR.
 *
 * @param[in] row_pointers num_rows + 1: the first 0, ascending, the last nnz
 * @param[in] cols         nnz column indices, each below num_cols, strictly ascending in each row
 *
 * Deep and synchronous: reads everything and waits for the answer; not for use during capture.
 * Takes 256 bytes of workspace. The columns of a row are checked only if the row's pointers are in
 * order and in range.
 *
 * @return GP_OK canonical; GP_ERROR_DATA it is not, and gp_last_error() names the first row that
 *         breaks a rule, the index in row_pointers or cols, the value there and the expected value
 *         (in a row with columns out of range, of the first such column); GP_ERROR_WORKSPACE the
 *         stream is being captured; otherwise a status of the list in csr.h.
 * @since 0.1
 */
GP_API gp_status gp_check_csr(gp_context *ctx, gp_dtype index_dtype, gp_dtype offset_dtype,
                              size_t num_rows, size_t num_cols, size_t nnz,
                              const void *row_pointers, const void *cols);

/**
 * Check that a matrix is canonical CSR: gp_check_csr() with a descriptor.
 *
 * @param[in] desc index_dtype, of cols, and offset_dtype, of row_pointers
 *
 * Synchronous, not for use during capture.
 *
 * @return as gp_check_csr(), or a status of csr.h about desc.
 * @since 0.1
 */
GP_API gp_status gp_check_csr_by(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                                 size_t num_cols, size_t nnz, const void *row_pointers,
                                 const void *cols);

/**
 * Check that the entries of a coordinate list are in range and in order.
 *
 * @param[in] index_dtype of rows and cols
 * @param[in] num_rows    rows of the matrix
 * @param[in] num_cols    columns of the matrix
 * @param[in] rows        nnz row indices, each below num_rows
 * @param[in] cols        nnz column indices, each below num_cols
 * @param[in] nnz         entries of the list; 0 is allowed
 * @param[in] order       what is asked of their order
 *
 * Synchronous: reads everything and waits for the answer; not for use during capture. Takes 256
 * bytes of workspace.
 *
 * @return GP_OK they are; GP_ERROR_DATA they are not, and gp_last_error() names the first entry
 *         that breaks a rule, the value there and the expected one; GP_ERROR_ARGUMENT also order;
 *         GP_ERROR_WORKSPACE the stream is being captured; otherwise a status of the list in csr.h.
 *
 * Reads rows and cols once.
 * @since 0.1
 */
GP_API gp_status gp_check_coo(gp_context *ctx, gp_dtype index_dtype, size_t num_rows,
                              size_t num_cols, const void *rows, const void *cols, size_t nnz,
                              gp_coo_order order);

/**
 * Call a function for all edges that leave a frontier, a set of rows, in equal shares whatever the
 * lengths of the rows are. CPU.
 *
 * visit(arg, edges) is called for each row of the frontier that has edges, or several times, for
 * parts of the row: row_pointers[r] .. row_pointers[r + 1] - 1 are each in one call. A share has at
 * most GP_EDGES_SHARE edges and ends of rows; the calls of one share come in the frontier's order
 * from one thread, those of different shares from several threads at once.
 *
 * @param[in] ctx          a CPU context
 * @param[in] desc         index_dtype, of the frontier, and offset_dtype, of row_pointers
 * @param[in] num_rows     rows of the matrix
 * @param[in] nnz          entries of the matrix
 * @param[in] row_pointers num_rows + 1, ascending from 0 to nnz; gp_check_csr() checks that
 * @param[in] frontier     num_frontier row indices, in any order, also repeated; NULL: all rows
 * @param[in] num_frontier at most 2^40; num_rows if frontier is NULL; 0 is allowed
 * @param[in] visit        not NULL; edges is valid until it returns, which it must; must not call
 *                         gp with this context, and has the stack of a worker (128 KiB)
 * @param[in] arg          handed to visit
 *
 * Done on return. Allocates only while the workspace is smaller than
 * gp_csr_visit_edges_workspace_bytes(). Shares depend on the arguments alone, not on the number of
 * threads, so what is summed by share is the same in each run. If a row of the frontier is out of
 * range, or row pointers descend or are above nnz there, visit is not called, and the sticky
 * GP_ERROR_DATA is set.
 *
 * @return GP_OK; GP_ERROR_UNSUPPORTED a CUDA context, for which examples/recipes/frontier_edges.cu
 *         shows the same loop as a kernel; GP_ERROR_POINTER also visit is NULL; GP_ERROR_ARGUMENT
 *         also num_frontier; otherwise a status of the list in csr.h.
 *
 * Source: Merrill, Garland and Grimshaw 2012, scalable GPU graph traversal; shares by the merge
 * path of balance.h.
 * @since 0.1
 */
GP_API gp_status gp_csr_visit_edges(gp_context *ctx, const gp_csr_desc *desc, size_t num_rows,
                                    size_t nnz, const void *row_pointers, const void *frontier,
                                    size_t num_frontier,
                                    void (*visit)(void *arg, const gp_edges *edges), void *arg);

/**
 * Upper bounds of the workspace that the calls above take, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[out] bytes  for gp_context_reserve()
 *
 * The other parameters are those of the call.
 * @return as gp_csr_from_coo_workspace_bytes()
 * @since 0.1
 */
GP_API gp_status gp_csr_filter_workspace_bytes(const gp_target *target,
                                               const gp_csr_filter_desc *desc, size_t num_rows,
                                               size_t num_cols, size_t nnz, size_t *bytes);
/** See gp_csr_filter_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_coo_filter_workspace_bytes(const gp_target *target,
                                               const gp_csr_filter_desc *desc, size_t num_rows,
                                               size_t num_cols, size_t nnz, size_t *bytes);
/** See gp_csr_filter_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_csr_sort_columns_workspace_bytes(const gp_target *target,
                                                     const gp_coo_desc *desc, size_t num_rows,
                                                     size_t num_cols, size_t nnz, size_t *bytes);
/** See gp_csr_filter_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_csr_visit_edges_workspace_bytes(const gp_target *target, size_t num_frontier,
                                                    size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
