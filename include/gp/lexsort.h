/* SPDX-License-Identifier: MIT */
/**
 * @file lexsort.h
 * Stable sort of (row, column) index pairs, by row and then by column.
 *
 * Rows and columns are unsigned numbers, or signed ones that are not negative. Sorts of fewer bits
 * are faster: row_bits and col_bits of the options limit them. If an index exceeds these bits the
 * outputs are unspecified, but nothing outside the arrays is touched. A context that validates
 * (core.h) refuses indices that are negative or exceed their bits.
 */
#ifndef GP_LEXSORT_H
#define GP_LEXSORT_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of a lexicographic sort; start from GP_LEXSORT_OPTIONS_INIT. */
typedef struct gp_lexsort_options {
    size_t size;    /**< sizeof(gp_lexsort_options) */
    gp_order order; /**< of rows and columns alike */
    int row_bits;   /**< rows are below 2^row_bits; 0: any */
    int col_bits;   /**< columns are below 2^col_bits; 0: any */
    int reserved;   /**< ignored: formerly padding */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in an output; NULL: n. */
    const uint64_t *device_n;
} gp_lexsort_options;

/** Initializer of gp_lexsort_options: its size, and defaults. */
#define GP_LEXSORT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_lexsort_options), GP_ASCENDING, 0, 0, 0, NULL                                    \
    }

/**
 * Find the stable lexicographic order of pairs without moving them.
 *
 * (rows[indices_out[0]], cols[indices_out[0]]), (rows[indices_out[1]], ..), .. ascends by row, and
 * by column where rows are equal; equal pairs have ascending indices. gp_gather() then moves items
 * of any size that belong to the pairs.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  pair_dtype  of rows and columns: GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  rows        n row indices; NULL if n == 0
 * @param[in]  cols        n column indices
 * @param[in]  n           pairs, or the bound of *options->device_n; 0 is allowed and does nothing;
 *                         at most 2^40, and less than 2^32 with GP_U32 indices
 * @param[in]  index_dtype GP_U32 or GP_U64
 * @param[out] indices_out n indices; overlaps neither input
 * @param[in]  options     NULL: ascending, all bits
 *
 * Workspace: gp_lexsort_workspace_bytes(), contents lost. Queued on the context's stream; allocates
 * only while the workspace is smaller; capturable. Same result in every run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_DTYPE pair_dtype or index_dtype; GP_ERROR_POINTER ctx or an array
 *         is NULL, misaligned or in the wrong memory; GP_ERROR_ARGUMENT n, or options->size, order,
 *         row_bits or col_bits; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA indices_out unspecified.
 *
 * Cost: a radix sort of the pairs as one key of row_bits + col_bits bits; above 64 bits one sort by
 * column and one by row.
 * @since 0.1
 */
GP_API gp_status gp_lexsort(gp_context *ctx, gp_dtype pair_dtype, const void *rows,
                            const void *cols, size_t n, gp_dtype index_dtype, void *indices_out,
                            const gp_lexsort_options *options);

/**
 * Sort pairs lexicographically, and move a value along with each.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  pair_dtype  of rows and columns: GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  rows_in     n row indices; NULL if n == 0
 * @param[in]  cols_in     n column indices
 * @param[in]  value_bytes 0 to 65536; 0: no values, values_in and values_out are ignored
 * @param[in]  values_in   n values, aligned to the largest power of two, up to 16,
 *                         that divides value_bytes
 * @param[in]  n           pairs, or the bound of *options->device_n; 0 is allowed and does nothing;
 *                         at most 2^40
 * @param[out] rows_out    n row indices; may equal rows_in
 * @param[out] cols_out    n column indices; may equal cols_in
 * @param[out] values_out  n values; may equal values_in. No output may overlap any other array
 *                         in another way
 * @param[in]  options     NULL: ascending, all bits
 *
 * Workspace, queueing, statuses and cost as gp_lexsort(); GP_ERROR_ARGUMENT also
 * for value_bytes. Stable.
 * @since 0.1
 */
GP_API gp_status gp_lexsort_pairs(gp_context *ctx, gp_dtype pair_dtype, const void *rows_in,
                                  const void *cols_in, size_t value_bytes, const void *values_in,
                                  size_t n, void *rows_out, void *cols_out, void *values_out,
                                  const gp_lexsort_options *options);

/**
 * Upper bound of the workspace of both calls, without touching a device.
 *
 * @param[in]  target      NULL: any machine
 * @param[in]  pair_dtype  of rows and columns
 * @param[in]  value_bytes of gp_lexsort_pairs(); 0 for gp_lexsort()
 * @param[in]  n           largest n to come
 * @param[in]  options     as for the sort
 * @param[out] bytes       for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_ARGUMENT target, value_bytes,
 *         n or options; GP_ERROR_DTYPE
 * @since 0.1
 */
GP_API gp_status gp_lexsort_workspace_bytes(const gp_target *target, gp_dtype pair_dtype,
                                            size_t value_bytes, size_t n,
                                            const gp_lexsort_options *options, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
