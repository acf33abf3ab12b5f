/* SPDX-License-Identifier: MIT */
/**
 * @file merge.h
 * Stable merge of two sorted arrays, or of many sorted runs of one array.
 *
 * Sorted means the order of gp_radix_sort() with all bits compared: integers by value, floats -inf
 * .. -0 = +0 .. +inf < NaN; GP_DESCENDING is the exact reverse. If an input is not sorted the
 * outputs are unspecified; nothing outside the arrays is touched. A context that validates checks
 * that both arrays of keys are sorted. If not, the outputs are not written, and the call on the
 * CPU, or gp_context_synchronize() on CUDA, returns GP_ERROR_DATA.
 */
#ifndef GP_MERGE_H
#define GP_MERGE_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a merge; start from GP_MERGE_DESC_INIT. */
typedef struct gp_merge_desc {
    size_t size;        /**< sizeof(gp_merge_desc) */
    gp_dtype dtype;     /**< of the keys */
    gp_order order;     /**< in which the keys are sorted */
    size_t value_bytes; /**< of pairs: 1 to 65536; 0 for gp_merge_by() */
    /** One uint64_t in the context's memory that replaces num_a, which is then its upper bound (a
     * larger value counts as num_a); not in an output; NULL: num_a. */
    const uint64_t *device_num_a;
    const uint64_t *device_num_b; /**< the same of num_b */
} gp_merge_desc;

/** Initializer of gp_merge_desc: its size, and defaults. */
#define GP_MERGE_DESC_INIT                                                                         \
    {                                                                                              \
        sizeof(gp_merge_desc), (gp_dtype)0, GP_ASCENDING, 0, NULL, NULL                            \
    }

/**
 * Merge two sorted arrays of keys.
 *
 * out holds the num_a + num_b keys in order. Of equal keys, those of a come first; equal keys of
 * one array keep their order.
 *
 * @param[in]  ctx   decides where the arrays live
 * @param[in]  dtype of the keys, any gp_dtype
 * @param[in]  order in which a and b are sorted, and out will be
 * @param[in]  a     num_a keys, aligned to the key; NULL if num_a == 0
 * @param[in]  num_a 0 is allowed; num_a + num_b is at most 2^40
 * @param[in]  b     num_b keys; NULL if num_b == 0; may overlap a
 * @param[in]  num_b 0 is allowed
 * @param[out] out   num_a + num_b keys; overlaps neither input
 *
 * Workspace: gp_merge_workspace_bytes(), contents lost. Queued on the context's stream; allocates
 * only while the workspace is smaller; capturable. Same result in every run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or an array is NULL, misaligned or in the wrong
 *         memory; GP_ERROR_DTYPE; GP_ERROR_ARGUMENT order, num_a or num_b; GP_ERROR_OVERLAP;
 *         GP_ERROR_DATA on the CPU, if the context validates, keys that are not sorted;
 *         GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these);
 *         GP_ERROR_CUDA out unspecified.
 *
 * Cost: reads and writes every key once.
 * Source: Green, McColl and Bader 2012 (merge path).
 * @since 0.1
 */
GP_API gp_status gp_merge(gp_context *ctx, gp_dtype dtype, gp_order order, const void *a,
                          size_t num_a, const void *b, size_t num_b, void *out);

/**
 * Merge two sorted arrays of keys, and move a value along with each key.
 *
 * As gp_merge(), and values_out[i] is the value that stood beside keys_out[i].
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  dtype       of the keys, any gp_dtype
 * @param[in]  order       in which the keys are sorted
 * @param[in]  value_bytes 1 to 65536
 * @param[in]  keys_a      num_a keys; NULL if num_a == 0
 * @param[in]  values_a    num_a values, aligned to the largest power of two, up to 16,
 *                         that divides value_bytes
 * @param[in]  num_a       0 is allowed; num_a + num_b is at most 2^40
 * @param[in]  keys_b      num_b keys; NULL if num_b == 0
 * @param[in]  values_b    num_b values
 * @param[in]  num_b       0 is allowed
 * @param[out] keys_out    num_a + num_b keys
 * @param[out] values_out  num_a + num_b values. No output overlaps another array
 *
 * Workspace, queueing and statuses as gp_merge(); GP_ERROR_ARGUMENT also for value_bytes,
 * GP_ERROR_POINTER also for the values.
 * @since 0.1
 */
GP_API gp_status gp_merge_pairs(gp_context *ctx, gp_dtype dtype, gp_order order, size_t value_bytes,
                                const void *keys_a, const void *values_a, size_t num_a,
                                const void *keys_b, const void *values_b, size_t num_b,
                                void *keys_out, void *values_out);

/**
 * Merge two sorted arrays of keys, as the descriptor says.
 *
 * As gp_merge(), with a descriptor in place of its dtype and order.
 *
 * @param[in]  ctx   decides where the arrays live
 * @param[in]  desc  see gp_merge_desc; desc->value_bytes is 0
 * @param[in]  a     num_a keys, aligned to the key; NULL if num_a == 0
 * @param[in]  num_a 0 is allowed; num_a + num_b is at most 2^40
 * @param[in]  b     num_b keys; NULL if num_b == 0; may overlap a
 * @param[in]  num_b 0 is allowed
 * @param[out] out   num_a + num_b keys; overlaps neither input
 *
 * Workspace, queueing, statuses and cost as gp_merge(); GP_ERROR_POINTER also for desc,
 * GP_ERROR_ARGUMENT also for desc->size and desc->value_bytes.
 * @since 0.1
 */
GP_API gp_status gp_merge_by(gp_context *ctx, const gp_merge_desc *desc, const void *a,
                             size_t num_a, const void *b, size_t num_b, void *out);

/**
 * Merge two sorted arrays of keys with values, as the descriptor says.
 *
 * As gp_merge_pairs(), with a descriptor in place of its dtype, order and value_bytes.
 *
 * @param[in]  ctx        decides where the arrays live
 * @param[in]  desc       see gp_merge_desc
 * @param[in]  keys_a     num_a keys; NULL if num_a == 0
 * @param[in]  values_a   num_a values, aligned to the largest power of two, up to 16, that divides
 *                        desc->value_bytes
 * @param[in]  num_a      0 is allowed; num_a + num_b is at most 2^40
 * @param[in]  keys_b     num_b keys; NULL if num_b == 0
 * @param[in]  values_b   num_b values
 * @param[in]  num_b      0 is allowed
 * @param[out] keys_out   num_a + num_b keys
 * @param[out] values_out num_a + num_b values. No output overlaps another array
 *
 * Workspace, queueing and statuses as gp_merge_pairs(); GP_ERROR_POINTER also for desc,
 * GP_ERROR_ARGUMENT also for desc->size.
 * @since 0.1
 */
GP_API gp_status gp_merge_pairs_by(gp_context *ctx, const gp_merge_desc *desc, const void *keys_a,
                                   const void *values_a, size_t num_a, const void *keys_b,
                                   const void *values_b, size_t num_b, void *keys_out,
                                   void *values_out);

/** How to merge runs; start from GP_MERGE_RUNS_DESC_INIT. */
typedef struct gp_merge_runs_desc {
    size_t size;           /**< sizeof(gp_merge_runs_desc) */
    gp_dtype dtype;        /**< of the keys */
    gp_order order;        /**< in which each run is sorted, and the output will be */
    size_t value_bytes;    /**< 1 to 65536; 0: no values */
    gp_dtype offset_dtype; /**< GP_U32, GP_I32, GP_U64 or GP_I64 */
    int reserved;          /**< 0 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (a
     * larger value counts as n); not in an output; NULL: n. */
    const uint64_t *device_n;
    const uint64_t *device_num_runs; /**< the same of num_runs */
} gp_merge_runs_desc;

/** Initializer of gp_merge_runs_desc: its size, and defaults. */
#define GP_MERGE_RUNS_DESC_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_merge_runs_desc), (gp_dtype)0, GP_ASCENDING, 0, (gp_dtype)0, 0, NULL, NULL       \
    }

/**
 * Merge the sorted runs of an array.
 *
 * Runs are described by offsets as in balance.h: run r has the positions offsets[r] ..
 * offsets[r + 1] - 1, and item i of the call is position offsets[0] + i. keys_out holds all keys in
 * order, and values_out[i] is the value that stood beside keys_out[i]. Of keys that compare equal,
 * also -0 and +0 and all NaNs, those of earlier runs come first, and those of one run keep their
 * order. Runs may be empty.
 *
 * @param[in]  ctx        decides where the arrays live
 * @param[in]  desc       see gp_merge_runs_desc
 * @param[in]  keys_in    n keys, aligned to the key; NULL if n == 0
 * @param[in]  values_in  n values, aligned to the largest power of two, up to 16, that divides
 *                        desc->value_bytes; ignored if that is 0
 * @param[in]  n          offsets[num_runs] - offsets[0], at most 2^40; 0 is allowed
 * @param[in]  offsets    num_runs + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_runs   at most 2^40; 0 is allowed with n == 0
 * @param[out] keys_out   n keys; overlaps no other array
 * @param[out] values_out n values; overlaps no other array; ignored if desc->value_bytes is 0
 *
 * Workspace: gp_merge_runs_workspace_bytes(), contents lost. Queued on the context's stream;
 * allocates only while the workspace is smaller; capturable, and the offsets may differ from replay
 * to replay. Same result in every run and on every backend.
 *
 * If offsets descend, are negative, or do not cover n items, the CPU returns GP_ERROR_DATA and
 * writes nothing; on CUDA the sticky GP_ERROR_DATA is set for gp_context_synchronize(), and the
 * outputs are unspecified, or untouched if the context validates.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc or an array is NULL, misaligned or in the wrong
 *         memory; GP_ERROR_DTYPE desc->dtype or desc->offset_dtype; GP_ERROR_ARGUMENT n or num_runs
 *         above 2^40 or not a number of the offsets' dtype, or desc->size, order, value_bytes or
 *         reserved; GP_ERROR_OVERLAP; GP_ERROR_DATA on the CPU offsets, and, if the context
 *         validates, keys of a run that are not sorted; GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost: runs are merged two by two, level by level, as long as that costs less than a stable sort
 * of all items, which takes the same time for any number of runs: on CUDA two runs of keys of 4 and
 * 8 bytes from 2^20 items on, four from 2^23 on; on the CPU up to 16 runs of keys and 64 of pairs.
 * @since 0.1
 */
GP_API gp_status gp_merge_runs(gp_context *ctx, const gp_merge_runs_desc *desc, const void *keys_in,
                               const void *values_in, size_t n, const void *offsets,
                               size_t num_runs, void *keys_out, void *values_out);

/**
 * Upper bound of the workspace of gp_merge_runs(), without touching a device.
 *
 * @param[in]  target   NULL: any machine
 * @param[in]  desc     as for the merge
 * @param[in]  n        largest n to come
 * @param[in]  num_runs largest number of runs to come
 * @param[out] bytes    for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_DTYPE and GP_ERROR_ARGUMENT as
 *         for the merge; GP_ERROR_ARGUMENT target
 * @since 0.1
 */
GP_API gp_status gp_merge_runs_workspace_bytes(const gp_target *target,
                                               const gp_merge_runs_desc *desc, size_t n,
                                               size_t num_runs, size_t *bytes);

/**
 * Upper bound of the workspace of all calls that merge two arrays, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  dtype  of the keys
 * @param[in]  n      largest num_a + num_b to come
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_ARGUMENT target or n; GP_ERROR_DTYPE
 * @since 0.1
 */
GP_API gp_status gp_merge_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                          size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
