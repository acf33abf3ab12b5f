/* SPDX-License-Identifier: MIT */
/**
 * @file segreduce.h
 * Segmented reduction: one result for each of many segments in one call, whatever their lengths.
 *
 * The items of all segments lie one after another. Segments are described by offsets (row
 * pointers), or are rows of equal length. The cost does not depend on the lengths: segments may
 * have one item each or none, and one segment may have all items.
 */
#ifndef GP_SEGREDUCE_H
#define GP_SEGREDUCE_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is reduced, and what describes the segments; start from GP_REDUCE_SEGMENTED_DESC_INIT. */
typedef struct gp_reduce_segmented_desc {
    size_t size;           /**< sizeof(gp_reduce_segmented_desc) */
    gp_dtype in_dtype;     /**< of the items */
    gp_dtype out_dtype;    /**< of the results; 0: as in_dtype. The pairs are those of
                                gp_reduce_by(). 0 for places */
    gp_op op;              /**< associative; GP_SUM for places, which have none */
    gp_dtype offset_dtype; /**< GP_U32, GP_I32, GP_U64 or GP_I64; 0 for rows */
    /** Host pointer to one item of the output dtype, with which every segment starts, read during
     * the call; NULL: the identity. NULL for places. */
    const void *init;
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound;
     * NULL: n. NULL for rows. */
    const uint64_t *device_n;
    /** One uint64_t in the context's memory that replaces num_segments or num_rows, which is then
     * its upper bound; NULL: num_segments or num_rows. */
    const uint64_t *device_num_segments;
} gp_reduce_segmented_desc;

/** Initializer of gp_reduce_segmented_desc: its size, and defaults. */
#define GP_REDUCE_SEGMENTED_DESC_INIT                                                              \
    {                                                                                              \
        sizeof(gp_reduce_segmented_desc), (gp_dtype)0, (gp_dtype)0, GP_SUM, (gp_dtype)0, NULL,     \
            NULL, NULL                                                                             \
    }

/**
 * Reduce each segment between two offsets.
 *
 * out[s] = init op in[b] op .. op in[e - 1], b = offsets[s] - offsets[0] and
 * e = offsets[s + 1] - offsets[0]. Of a segment without items it is init, or the identity (of a sum
 * +0, of MIN on floats NaN, of MAX on floats -infinity).
 *
 * @param[in]  ctx          decides where all data pointers live
 * @param[in]  desc         see above
 * @param[in]  in           n items (of gp_op_scalars(op) scalars each), aligned to the scalar; NULL
 *                          if n == 0
 * @param[in]  n            offsets[num_segments] - offsets[0], at most 2^40, or the bound of
 *                          *desc->device_n (a larger value there counts as n); 0 is allowed
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative, aligned to their
 *                          size; NULL if num_segments == 0
 * @param[in]  num_segments at most 2^40, or the bound of *desc->device_num_segments; 0, which
 *                          does nothing, only if n == 0
 * @param[out] out          num_segments items of the output dtype, aligned to the scalar; overlaps
 *                          nothing. Behind a smaller number of segments on the device nothing is
 *                          written
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_reduce_segmented_workspace_bytes(); capturable. Inputs and outputs must stay valid until the
 * stream has passed the call.
 *
 * If the offsets descend somewhere or do not end at offsets[0] + n, the CPU returns GP_ERROR_DATA,
 * the text names the index, and out is untouched. A GPU finds the error after the call has returned
 * and sets the sticky GP_ERROR_DATA that gp_context_synchronize() returns, with the same text; out
 * is unspecified, and nothing outside the arrays is read or written. If the context validates, out
 * is untouched; but not if a count is in a GPU's memory, as offsets are not checked in front then.
 *
 * Deterministic: the same bits in every run, on the CPU with any number of threads and any
 * instruction set. The association of float operations depends on n, num_segments, the dtypes, the
 * operator, the tuning row and the offsets. The order of the items is kept for operators that do
 * not commute. MIN and MAX return the first of several equal items with all its bits. Sums of
 * integers wrap.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc or an array NULL, misaligned or in the wrong
 *         memory; GP_ERROR_ARGUMENT desc->size, n, num_segments, or n more than the offset dtype
 *         holds; GP_ERROR_DTYPE unknown dtype, pair or offset dtype; GP_ERROR_OP unknown operator,
 *         a bitwise one on floats, a pair operator on anything but f32, f64; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED this build has no code for the device; GP_ERROR_DATA on the CPU;
 *         GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA outputs
 *         unspecified.
 *
 * Cost on a GPU: one kernel launch; reads offsets and items once and writes the results once.
 * Source: Merrill and Garland 2016 (merge-based SpMV), sections 3 and 4; Sengupta, Harris, Zhang
 * and Owens 2007.
 * @since 0.1
 */
GP_API gp_status gp_reduce_segmented(gp_context *ctx, const gp_reduce_segmented_desc *desc,
                                     const void *in, size_t n, const void *offsets,
                                     size_t num_segments, void *out);

/**
 * Reduce each row of a matrix: a batch of reductions of equal length.
 *
 * Row r has the items r * row_length to (r + 1) * row_length - 1. All else is as for
 * gp_reduce_segmented() with offsets.
 *
 * @param[in]  num_rows   0 is allowed and does nothing
 * @param[in]  row_length 0 is allowed: every result is init, or the identity;
 *                        num_rows * row_length is at most 2^40
 * @param[out] out        num_rows items of the output dtype; overlaps nothing
 *
 * @return as gp_reduce_segmented(), but never GP_ERROR_DATA; GP_ERROR_DTYPE also for an offset
 *         dtype, GP_ERROR_ARGUMENT also for desc->device_n
 * @since 0.1
 */
GP_API gp_status gp_reduce_rows(gp_context *ctx, const gp_reduce_segmented_desc *desc,
                                const void *in, size_t num_rows, size_t row_length, void *out);

/**
 * Find the first of the smallest items of each segment.
 *
 * indices[s] is the least i with in[b + i] <= in[b + j] for all items of the segment, and values[s]
 * is in[b + i], with the b of gp_reduce_segmented() and the order of gp_argmin(). Of a segment
 * without items, UINT64_MAX and the identity of GP_MIN: the largest integer, NaN for floats.
 *
 * @param[in]  ctx          decides where all data pointers live
 * @param[in]  desc         see above; out_dtype and init are 0, op is GP_SUM
 * @param[in]  in           n items, aligned to their size; NULL if n == 0
 * @param[in]  n            as for gp_reduce_segmented()
 * @param[in]  offsets      the same
 * @param[in]  num_segments the same
 * @param[out] values       num_segments items, or NULL
 * @param[out] indices      num_segments uint64_t; neither it nor values overlaps anything
 *
 * The result is exact, so the same in each run and on each backend. All else is as for
 * gp_reduce_segmented(), the workspace too.
 *
 * @return as gp_reduce_segmented(); GP_ERROR_DTYPE also for desc->out_dtype, GP_ERROR_OP for
 *         another operator, GP_ERROR_ARGUMENT for desc->init
 * @since 0.1
 */
GP_API gp_status gp_argmin_segmented(gp_context *ctx, const gp_reduce_segmented_desc *desc,
                                     const void *in, size_t n, const void *offsets,
                                     size_t num_segments, void *values, uint64_t *indices);

/**
 * Find the first of the largest items of each segment.
 *
 * As gp_argmin_segmented(), with the order of gp_argmax(). Of a segment without items values[s] is
 * the identity of GP_MAX: the smallest integer, -infinity for floats.
 * @since 0.1
 */
GP_API gp_status gp_argmax_segmented(gp_context *ctx, const gp_reduce_segmented_desc *desc,
                                     const void *in, size_t n, const void *offsets,
                                     size_t num_segments, void *values, uint64_t *indices);

/**
 * Upper bound of the workspace that gp_reduce_segmented() and, with the descriptor of places,
 * gp_argmin_segmented() and gp_argmax_segmented() take, without touching a device.
 *
 * @param[in]  target       NULL: any machine
 * @param[in]  desc         as for the call; pointers in it are ignored
 * @param[in]  n            as for the call
 * @param[in]  num_segments as for the call
 * @param[out] bytes        for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT target, or as the call;
 *         GP_ERROR_DTYPE, GP_ERROR_OP as the call
 * @since 0.1
 */
GP_API gp_status gp_reduce_segmented_workspace_bytes(const gp_target *target,
                                                     const gp_reduce_segmented_desc *desc, size_t n,
                                                     size_t num_segments, size_t *bytes);

/** The same of gp_reduce_rows(). @since 0.1 */
GP_API gp_status gp_reduce_rows_workspace_bytes(const gp_target *target,
                                                const gp_reduce_segmented_desc *desc,
                                                size_t num_rows, size_t row_length, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
