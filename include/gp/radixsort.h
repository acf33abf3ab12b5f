/* SPDX-License-Identifier: MIT */
/**
 * @file radixsort.h
 * Stable radix sort of keys, of keys with values, and of indices.
 *
 * All sorts compare an order word t(key), unsigned and as wide as the key:
 *   unsigned integers   the key;
 *   signed integers     the key with its sign bit inverted;
 *   floats              all ones for every NaN; otherwise -0 counts as +0, and then the bits of
 *                       a positive number with the sign bit set, or the inverted bits of a
 *                       negative one.
 * Descending order compares the complement of t. The bit range of the options selects bits of this
 * word. Keys themselves are moved as they are: NaN payloads and the sign of zero survive.
 */
#ifndef GP_RADIXSORT_H
#define GP_RADIXSORT_H

#include <gp/core.h>
#include <gp/gather.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of a sort; start from GP_RADIX_SORT_OPTIONS_INIT. */
typedef struct gp_radix_sort_options {
    size_t size;            /**< sizeof(gp_radix_sort_options) */
    gp_order order;         /**< of the keys */
    int begin_bit;          /**< lowest bit of the order word that is compared */
    int end_bit;            /**< one past the highest; 0: the key's width */
    gp_algorithm algorithm; /**< GP_ALGORITHM_AUTO, or to compare, on CUDA, GP_ALGORITHM_CUB */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in an output; NULL: n. GP_ALGORITHM_CUB does not support it. */
    const uint64_t *device_n;
    /** The same of num_segments, in the calls of segsort.h; NULL in those of this header. */
    const uint64_t *device_num_segments;
} gp_radix_sort_options;

/** Initializer of gp_radix_sort_options: its size, and defaults. */
#define GP_RADIX_SORT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(gp_radix_sort_options), GP_ASCENDING, 0, 0, GP_ALGORITHM_AUTO, NULL, NULL           \
    }

/**
 * Sort keys.
 *
 * keys_out is a permutation of keys_in with t(keys_out[i]) <= t(keys_out[i + 1])
 * in the compared bits.
 *
 * @param[in]  ctx      decides where the arrays live
 * @param[in]  dtype    of the keys, any gp_dtype
 * @param[in]  keys_in  n keys, aligned to the key; NULL if n == 0;
 *                      left as it is unless it is keys_out
 * @param[in]  n        keys, or the bound of *options->device_n; 0 is allowed and does nothing; at
 *                      most 2^40
 * @param[out] keys_out n keys; may equal keys_in, which can cost a copy,
 *                      and must not overlap it otherwise
 * @param[in]  options  NULL: ascending, all bits. begin_bit <= end_bit <= width of the key, where
 *                      an end_bit of 0 stands for the width; equal ones compare nothing, so the
 *                      result is a copy. Fewer bits are faster
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_radix_sort_workspace_bytes(); capturable. Stable in the bits compared. With all bits compared
 * the order among -0 and +0, and among NaNs, is not specified, but the same in each run.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, keys_in or keys_out NULL, misaligned or in the wrong
 *         memory, or options->device_n misaligned or in the wrong memory; GP_ERROR_DTYPE;
 *         GP_ERROR_ARGUMENT n, or options->size, order, begin_bit, end_bit or algorithm, or
 *         options->device_num_segments is not NULL; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED the
 *         algorithm is not one of the sort or not available here; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA keys_out unspecified.
 *
 * Cost on CUDA, in passes (a pass reads and writes every item); docs/distributions.md has figures:
 *  - up to 2^16 keys, fewer if long or beside values: one launch, the same for all keys;
 *  - keys of 4 and 8 bytes, evenly distributed over the bits that they use: one read and three
 *    passes from 2^21 keys on, one read and two passes below;
 *  - others, up to some 4 million, of 4 bytes beside values of 8 half as many: two reads and two
 *    passes, between splitters of a sample; of 8 bytes from 2^21 on a read more. More of 8 bytes:
 *    three reads and three passes; or, alone or from 2^26 on, one pass for each 8 bits that tell
 *    keys apart, where these are few. More of 4 bytes, and from 2^21 on those beside values that
 *    repeat or clump much: as if they were even, by a map learned from a sample, or one pass for
 *    each 8 bits that differ, or that a small range takes;
 *  - below 2^23 keys of 4 bytes beside values of 8, and keys of 1 and 2 bytes with values: one
 *    read, and one pass for each 8 bits that differ between keys;
 *  - keys of 1 byte, and 2^22 or more keys of 2 bytes, without values: counted, not moved.
 *
 * Cost on the CPU: passes over the digits that differ between keys; keys of 1 and 2 bytes without
 * values are counted. With AVX2 and AVX-512, keys of 4 and 8 bytes that fit the caches are sorted
 * by vectorized partitioning, beside values as one word with their position where that costs less.
 *
 * With options->device_n the workspace, and on CUDA the kernels and the size of buckets, are those
 * of the bound; the passes cost what that many items cost.
 *
 * Workspace on CUDA:
 *  - from 2^24 keys on: the size of the keys plus at most 12% (9.6% for 2^28 keys of 4 bytes, 8.8%
 *    for 8 bytes); below: plus 4 MiB. With a library that has code for GPUs before sm_80, whose
 *    tiles are small, 51% in place of 12%, also for pairs and positions;
 *  - keys of 1 and 2 bytes compared by all bits: at most 12 MiB for any n; compared by some of the
 *    bits: their size plus at most 50%;
 *  - floats compared by some of the bits: two positions per key besides, 8 bytes (16 from 2^32 keys
 *    on).
 *
 * Workspace on the CPU: the size of the keys, about 4 KiB per thread, and for keys of 2 bytes up to
 * 1 MiB per thread.
 *
 * Source: least-significant-digit radix sort, Knuth volume 3, section 5.2.5; on GPUs Adinets and
 * Merrill 2022 ("Onesweep"), and from the top digit Stehle and Jacobsen 2017; partitions in
 * vectors Bramas 2017, networks Batcher 1968.
 * @since 0.1
 */
GP_API gp_status gp_radix_sort(gp_context *ctx, gp_dtype dtype, const void *keys_in, size_t n,
                               void *keys_out, const gp_radix_sort_options *options);

/**
 * Sort keys and move a value along with each.
 *
 * As gp_radix_sort(), and values_out[i] is the value that stood beside keys_out[i]. Stable: pairs
 * whose keys compare equal (-0 and +0, all NaNs, keys equal in the bits compared) stay in input
 * order, in both directions.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  dtype       of the keys, any gp_dtype
 * @param[in]  keys_in     n keys, aligned to the key; NULL if n == 0
 * @param[in]  value_bytes 1 to 65536. 1, 2, 4 and 8, on the CPU also 16, and on CUDA from 2^21
 *                         pairs on 3, are moved with the keys; other sizes are moved once at the
 *                         end, by sorted positions
 * @param[in]  values_in   n values, aligned to the largest power of two, up to 16,
 *                         that divides value_bytes
 * @param[in]  n           pairs; 0 is allowed and does nothing; at most 2^40
 * @param[out] keys_out    n keys; may equal keys_in, which can cost a copy
 * @param[out] values_out  n values; may equal values_in, which can cost a copy.
 *                         No output may overlap any other array in another way
 * @param[in]  options     as for gp_radix_sort(); with no bits compared the result is a copy
 *
 * Workspace: gp_radix_sort_workspace_bytes() with this value_bytes. For values of 4 and 8 bytes
 * it is the size of the input plus at most 12% from 2^24 pairs on (5.3% for 2^28 pairs of 4 and 4
 * bytes), and plus 4 MiB below; for values of 1 and 2 bytes it is as much more than the input as
 * for values of 4. Values of other sizes are moved by position: the workspace is the size of the
 * keys, two positions per pair (8 bytes, 16 from 2^32 pairs on), and the size of the values if
 * they are sorted in place; 1.4 times the input for keys of 4 bytes and values of 16. For values
 * of 3 bytes it is the size of the keys and 12 bytes per pair, plus at most 12% from 2^24 pairs on,
 * and plus 4 MiB below. On the CPU it is the size
 * of the input, or positions likewise, and 8 bytes per pair, at most 4 MiB for each thread and
 * for 2^31 pairs.
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_radix_sort_workspace_bytes(); capturable. Same result in every run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or an array is NULL, misaligned or in the wrong
 *         memory, or options->device_n misaligned or in the wrong memory; GP_ERROR_DTYPE;
 *         GP_ERROR_ARGUMENT value_bytes, n, or options as for gp_radix_sort(); GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED the algorithm is not one of the sort or not available here;
 *         GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA keys_out
 *         and values_out unspecified.
 *
 * Cost and source as gp_radix_sort(), with passes over keys and values; where values are moved by
 * position a gather follows.
 * @since 0.1
 */
GP_API gp_status gp_radix_sort_pairs(gp_context *ctx, gp_dtype dtype, const void *keys_in,
                                     size_t value_bytes, const void *values_in, size_t n,
                                     void *keys_out, void *values_out,
                                     const gp_radix_sort_options *options);

/**
 * Find the stable order of keys without moving them.
 *
 * keys_in[indices_out[0]], keys_in[indices_out[1]], .. is sorted;
 * equal keys have ascending indices.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  dtype       of the keys, any gp_dtype
 * @param[in]  keys_in     n keys, aligned to the key; NULL if n == 0
 * @param[in]  n           keys; 0 is allowed and does nothing; at most 2^40,
 *                         and less than 2^32 with GP_U32
 * @param[in]  index_dtype GP_U32 or GP_U64
 * @param[out] indices_out n indices; must not overlap keys_in
 * @param[in]  options     as for gp_radix_sort(); with no bits compared the result is 0, 1, 2 ..
 *
 * Workspace: gp_argsort_workspace_bytes(), the keys twice and the indices once, plus at most 12%
 * from 2^24 keys on. Queued on the context's stream; allocates only while the workspace is smaller;
 * capturable. Same result in every run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, keys_in or indices_out NULL, misaligned or in the
 *         wrong memory, or options->device_n misaligned or in the wrong memory; GP_ERROR_DTYPE
 *         dtype or index_dtype; GP_ERROR_ARGUMENT n, also one too large for index_dtype, or options
 *         as for gp_radix_sort(); GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED the algorithm is not one
 *         of the sort or not available here; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in
 *         all these); GP_ERROR_CUDA indices_out unspecified.
 *
 * Cost and source as gp_radix_sort_pairs() with the indices as values, which are not read.
 * @since 0.1
 */
GP_API gp_status gp_argsort(gp_context *ctx, gp_dtype dtype, const void *keys_in, size_t n,
                            gp_dtype index_dtype, void *indices_out,
                            const gp_radix_sort_options *options);

/**
 * Upper bound of the workspace of gp_radix_sort() and gp_radix_sort_pairs(),
 * without touching a device.
 *
 * The bound covers keys_in == keys_out and values_in == values_out.
 *
 * @param[in]  target      NULL: any machine
 * @param[in]  dtype       of the keys
 * @param[in]  value_bytes 0 for gp_radix_sort()
 * @param[in]  n           largest n to come
 * @param[in]  options     as for the sort
 * @param[out] bytes       for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_ARGUMENT target, value_bytes,
 *         n or options; GP_ERROR_DTYPE; GP_ERROR_UNSUPPORTED
 * @since 0.1
 */
GP_API gp_status gp_radix_sort_workspace_bytes(const gp_target *target, gp_dtype dtype,
                                               size_t value_bytes, size_t n,
                                               const gp_radix_sort_options *options, size_t *bytes);

/**
 * Upper bound of the workspace of gp_argsort(), without touching a device.
 *
 * @param[in]  target      NULL: any machine
 * @param[in]  dtype       of the keys
 * @param[in]  n           largest n to come
 * @param[in]  index_dtype GP_U32 or GP_U64
 * @param[in]  options     as for the sort
 * @param[out] bytes       for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_ARGUMENT target, n, also one too large
 *         for index_dtype, or options; GP_ERROR_DTYPE dtype or index_dtype; GP_ERROR_UNSUPPORTED
 * @since 0.1
 */
GP_API gp_status gp_argsort_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                            gp_dtype index_dtype,
                                            const gp_radix_sort_options *options, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
