/* SPDX-License-Identifier: MIT */
/**
 * @file segsort.h
 * Stable radix sort of every segment of an array by itself.
 *
 * Segments are described by offsets as in balance.h: num_segments + 1 ascending numbers; segment s
 * has the positions offsets[s] .. offsets[s + 1] - 1. Row pointers of a sparse matrix are such
 * offsets. Segments may be empty, millions of them may be tiny, and one may have all items.
 * offsets[0] may be above 0: item i of a call is position offsets[0] + i.
 * Keys compare as in radixsort.h.
 *
 * Both numbers can be in the context's memory: options->device_n and options->device_num_segments.
 * Then n and num_segments are upper bounds, and larger values count as the bounds.
 */
#ifndef GP_SEGSORT_H
#define GP_SEGSORT_H

#include <gp/core.h>
#include <gp/radixsort.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sort the keys of every segment.
 *
 * At the positions of each segment, keys_out holds a permutation of the keys that keys_in has
 * there, with t(keys_out[i]) <= t(keys_out[i + 1]) in the compared bits, t as in radixsort.h.
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  dtype        of the keys, any gp_dtype
 * @param[in]  keys_in      n keys, aligned to the key; NULL if n == 0;
 *                          left as it is unless it is keys_out
 * @param[in]  n            offsets[num_segments] - offsets[0], at most 2^40; 0 is allowed
 * @param[in]  offset_dtype GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_segments at most 2^40; 0 is allowed with n == 0
 * @param[out] keys_out     n keys; may equal keys_in, which can cost a copy;
 *                          overlaps nothing otherwise
 * @param[in]  options      NULL: ascending, all bits; as for gp_radix_sort()
 *
 * Workspace: gp_radix_sort_segmented_workspace_bytes(), contents lost. Queued on the context's
 * stream; allocates only while the workspace is smaller; capturable, and the offsets may differ
 * from replay to replay. Stable in the bits compared. With all bits compared the order among -0 and
 * +0, and among NaNs, is not specified, but the same in each run.
 *
 * If offsets descend, are negative, or do not cover n items, the CPU returns GP_ERROR_DATA and
 * writes nothing; on CUDA the sticky GP_ERROR_DATA is set for gp_context_synchronize(), and
 * keys_out holds the keys in an unspecified order, or is untouched if the context validates.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or an array is NULL, misaligned or in the wrong
 *         memory; GP_ERROR_DTYPE dtype or offset_dtype; GP_ERROR_ARGUMENT n or num_segments above
 *         2^40 or not a number of offset_dtype, or an option, see gp_radix_sort();
 *         GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED the algorithm is not one of the sort or not
 *         available here; GP_ERROR_DATA on the CPU; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing
 *         queued in all these); GP_ERROR_CUDA keys_out unspecified.
 *
 * Cost: on the CPU, one thread sorts a segment inside its cache, and all threads together sort long
 * segments. On CUDA, segments of up to 3584 items are sorted in one pass over the array. Longer
 * ones take one sort of words of 8 bytes, of the number of a segment and a key; if keys are of 8
 * bytes or compared in some of their bits, or n is above 2^34, all items take that if there is one:
 * a sort of words of 4 or 8 bytes, beside positions and with a gather where these do not tell the
 * key. So do fewer than 4096 items in more than 32768 segments.
 * @since 0.1
 */
GP_API gp_status gp_radix_sort_segmented(gp_context *ctx, gp_dtype dtype, const void *keys_in,
                                         size_t n, gp_dtype offset_dtype, const void *offsets,
                                         size_t num_segments, void *keys_out,
                                         const gp_radix_sort_options *options);

/**
 * Sort the keys of every segment and move a value along with each.
 *
 * As gp_radix_sort_segmented(), and values_out[i] is the value that stood beside keys_out[i].
 * Stable: pairs of a segment whose keys compare equal (-0 and +0, all NaNs, keys equal in the bits
 * compared) stay in input order, in both directions.
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  dtype        of the keys, any gp_dtype
 * @param[in]  keys_in      n keys, aligned to the key; NULL if n == 0
 * @param[in]  value_bytes  1 to 65536
 * @param[in]  values_in    n values, aligned to the largest power of two, up to 16,
 *                          that divides value_bytes
 * @param[in]  n            offsets[num_segments] - offsets[0], at most 2^40; 0 is allowed
 * @param[in]  offset_dtype GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_segments at most 2^40; 0 is allowed with n == 0
 * @param[out] keys_out     n keys; may equal keys_in, which can cost a copy
 * @param[out] values_out   n values; may equal values_in, which can cost a copy.
 *                          No output may overlap any other array in another way
 * @param[in]  options      as for gp_radix_sort_segmented()
 *
 * Workspace: gp_radix_sort_segmented_workspace_bytes() with this value_bytes, contents lost. Queued
 * on the context's stream; allocates only while the workspace is smaller; capturable, and the
 * offsets may differ from replay to replay. Same result in every run and on every backend. Bad
 * offsets as in gp_radix_sort_segmented().
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or an array is NULL, misaligned or in the wrong
 *         memory; GP_ERROR_DTYPE dtype or offset_dtype; GP_ERROR_ARGUMENT value_bytes, n or
 *         num_segments above 2^40 or not a number of offset_dtype, or an option, see
 *         gp_radix_sort(); GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED the algorithm is not one of the
 *         sort or not available here; GP_ERROR_DATA on the CPU; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA keys_out and values_out
 *         unspecified.
 *
 * Cost as gp_radix_sort_segmented(), but on CUDA all items take the sort if one segment is longer
 * than 3584 and n above 4096, or value_bytes is not 1, 2, 4, 8 or 16, and values of more than 4
 * bytes take a gather after it.
 * @since 0.1
 */
GP_API gp_status gp_radix_sort_segmented_pairs(gp_context *ctx, gp_dtype dtype, const void *keys_in,
                                               size_t value_bytes, const void *values_in, size_t n,
                                               gp_dtype offset_dtype, const void *offsets,
                                               size_t num_segments, void *keys_out,
                                               void *values_out,
                                               const gp_radix_sort_options *options);

/**
 * Upper bound of the workspace of both calls, without touching a device.
 *
 * The bound covers keys_in == keys_out and values_in == values_out.
 *
 * @param[in]  target       NULL: any machine
 * @param[in]  dtype        of the keys
 * @param[in]  value_bytes  0 for gp_radix_sort_segmented()
 * @param[in]  n            largest n to come
 * @param[in]  num_segments largest number of segments to come
 * @param[in]  options      as for the sort
 * @param[out] bytes        for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_ARGUMENT target, value_bytes, n,
 *         num_segments or options; GP_ERROR_DTYPE; GP_ERROR_UNSUPPORTED
 * @since 0.1
 */
GP_API gp_status gp_radix_sort_segmented_workspace_bytes(const gp_target *target, gp_dtype dtype,
                                                         size_t value_bytes, size_t n,
                                                         size_t num_segments,
                                                         const gp_radix_sort_options *options,
                                                         size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
