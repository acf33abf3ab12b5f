/* SPDX-License-Identifier: MIT */
/**
 * @file segments.h
 * Segmented scan: many prefix scans in one call, whatever their lengths.
 *
 * The items of all segments lie one after another. Segments are described by offsets (row
 * pointers), by a flag on the first item of each, by keys that are equal within a segment, or as
 * rows of equal length. The cost does not depend on the lengths: segments may have one item each,
 * and one segment may have all items.
 *
 * Each call takes a gp_scan_desc. It uses the members kind (GP_SCAN_INCLUSIVE or
 * GP_SCAN_EXCLUSIVE), in_dtype, op and init; out_dtype is 0 or in_dtype, algorithm
 * GP_ALGORITHM_AUTO or GP_ALGORITHM_LOOKAHEAD, and total, backward and tile have the values of
 * GP_SCAN_DESC_INIT. device_n, but of gp_scan_rows(), and device_num_segments, of
 * gp_scan_segmented() and gp_scan_rows(), replace n and the number of segments or rows, which are
 * then their upper bounds (larger values count as the bounds); they do not lie in out. Every
 * segment is a scan of its own: it starts from *init, or from the identity of op.
 */
#ifndef GP_SEGMENTS_H
#define GP_SEGMENTS_H

#include <gp/scan.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Scan each segment between two offsets.
 *
 * Segment s has the items offsets[s] - offsets[0] to offsets[s + 1] - offsets[0] - 1, in order.
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  desc         see above
 * @param[in]  in           n items (of gp_op_scalars(op) scalars each), aligned to the scalar; NULL
 *                          if n == 0
 * @param[in]  n            offsets[num_segments] - offsets[0], at most 2^40;
 *                          0 is allowed and does nothing
 * @param[in]  offset_dtype GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative; never NULL. Segments
 *                          may be empty, many millions of them in a row
 * @param[in]  num_segments at most 2^40; 0 only if n == 0
 * @param[out] out          n items; may equal in, overlaps nothing otherwise
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_scan_segmented_workspace_bytes(); capturable. Inputs and outputs must stay valid until the
 * stream has passed the call.
 *
 * If the offsets descend somewhere or do not end at offsets[0] + n, the CPU returns GP_ERROR_DATA,
 * the text names the index, and out is untouched. A GPU finds the error after the call has returned
 * and sets the sticky GP_ERROR_DATA that gp_context_synchronize() returns, with the same text; out
 * is unspecified, and nothing outside the arrays is read or written. If the context validates, out
 * is untouched.
 *
 * Deterministic: the same bits in every run, on the CPU with any number of threads. The association
 * of float operations depends on n, dtype, operator, the tuning row and where segments start.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc or an array NULL, misaligned or in the wrong
 *         memory; GP_ERROR_ARGUMENT a size, desc->size or another member of desc with a value not
 *         listed above; GP_ERROR_DTYPE; GP_ERROR_OP; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED an
 *         algorithm or a tile method that is not for this call; GP_ERROR_DATA on the CPU;
 *         GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA
 *         outputs unspecified.
 *
 * Cost on a GPU: reads offsets and items once and writes the output once; a kernel that finds where
 * segments start also writes one bit per item, which the scan reads.
 * Source: Blelloch 1990; Sengupta, Harris, Zhang and Owens 2007; docs/design/segments.md.
 * @since 0.1
 */
GP_API gp_status gp_scan_segmented(gp_context *ctx, const gp_scan_desc *desc, const void *in,
                                   size_t n, gp_dtype offset_dtype, const void *offsets,
                                   size_t num_segments, void *out);

/**
 * Scan each segment that begins at a flag.
 *
 * Item i starts a segment if heads[i] != 0 or i == 0. All else as gp_scan_segmented().
 *
 * @param[in]  heads n bytes of any value; NULL if n == 0
 * @param[in]  n     at most 2^40; 0 is allowed and does nothing
 * @param[out] out   n items; may equal in, overlaps nothing otherwise
 *
 * @return as gp_scan_segmented(), but never GP_ERROR_DATA
 * @since 0.1
 */
GP_API gp_status gp_scan_flagged(gp_context *ctx, const gp_scan_desc *desc, const void *in,
                                 const uint8_t *heads, size_t n, void *out);

/**
 * Scan each run of equal keys.
 *
 * Item i starts a segment if its key differs in any bit from that of item i - 1, or i == 0. Keys
 * need not be sorted: equal keys with a different one between them form two segments.
 * All else as gp_scan_segmented().
 *
 * @param[in]  key_bytes 1, 2, 4 or 8
 * @param[in]  keys      n keys, aligned to key_bytes; NULL if n == 0
 * @param[in]  n         at most 2^40; 0 is allowed and does nothing
 * @param[out] out       n items; may equal in, overlaps nothing otherwise
 *
 * @return as gp_scan_segmented(), but never GP_ERROR_DATA; GP_ERROR_ARGUMENT also for key_bytes
 * @since 0.1
 */
GP_API gp_status gp_scan_by_key(gp_context *ctx, const gp_scan_desc *desc, size_t key_bytes,
                                const void *keys, const void *in, size_t n, void *out);

/**
 * Scan each row of a matrix: a batch of scans of equal length.
 *
 * Row r has the items r * row_length to (r + 1) * row_length - 1. All else as gp_scan_segmented().
 *
 * @param[in]  num_rows   0 is allowed and does nothing
 * @param[in]  row_length 0 is allowed and does nothing; num_rows * row_length is at most 2^40
 * @param[out] out        num_rows * row_length items; may equal in, overlaps nothing otherwise
 *
 * @return as gp_scan_segmented(), but never GP_ERROR_DATA
 *
 * Cost on a GPU: one kernel launch; reads the input once and writes the output once.
 * @since 0.1
 */
GP_API gp_status gp_scan_rows(gp_context *ctx, const gp_scan_desc *desc, const void *in,
                              size_t num_rows, size_t row_length, void *out);

/**
 * Upper bound of the workspace that gp_scan_segmented() takes, without touching a device. About one
 * bit per item on a GPU, none on the CPU.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for the call; pointers in it are ignored
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT target, or as the call;
 *         GP_ERROR_DTYPE, GP_ERROR_OP, GP_ERROR_UNSUPPORTED as the call
 * @since 0.1
 */
GP_API gp_status gp_scan_segmented_workspace_bytes(const gp_target *target,
                                                   const gp_scan_desc *desc, size_t n,
                                                   size_t *bytes);

/** The same of gp_scan_flagged(). @since 0.1 */
GP_API gp_status gp_scan_flagged_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                                 size_t n, size_t *bytes);

/** The same of gp_scan_by_key(). @since 0.1 */
GP_API gp_status gp_scan_by_key_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                                size_t n, size_t *bytes);

/** The same of gp_scan_rows(), which takes next to nothing. @since 0.1 */
GP_API gp_status gp_scan_rows_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                              size_t num_rows, size_t row_length, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
