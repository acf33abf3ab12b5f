/* SPDX-License-Identifier: MIT */
/**
 * @file topk.h
 * The k smallest or largest keys of an array, sorted, and their indices.
 */
#ifndef GP_TOPK_H
#define GP_TOPK_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a top-k; start from GP_TOP_K_DESC_INIT. */
typedef struct gp_top_k_desc {
    size_t size;          /**< sizeof(gp_top_k_desc) */
    gp_dtype dtype;       /**< of the keys */
    gp_order order;       /**< GP_ASCENDING: the smallest; GP_DESCENDING: the largest */
    gp_dtype index_dtype; /**< GP_U32 or GP_U64; ignored if indices are not wanted */
    int reserved;         /**< 0 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in an output; NULL: n. Of fewer than k keys all are written, and what lies
     * behind them in the outputs is untouched. */
    const uint64_t *device_n;
    /** The same of k; NULL: k. */
    const uint64_t *device_k;
} gp_top_k_desc;

/** Initializer of gp_top_k_desc: its size, and defaults. */
#define GP_TOP_K_DESC_INIT                                                                         \
    {                                                                                              \
        sizeof(gp_top_k_desc), (gp_dtype)0, GP_ASCENDING, (gp_dtype)0, 0, NULL, NULL               \
    }

/**
 * Find the first k keys of the stable order of an array.
 *
 * keys_out[j] = keys_in[indices_out[j]] is the j-th key of the stable sort of keys_in:
 * GP_DESCENDING gives the k largest, the largest first; GP_ASCENDING the k smallest, the
 * smallest first. Floats compare as -inf .. -0 = +0 .. +inf < NaN, and GP_DESCENDING is the exact
 * reverse, so NaNs are among the largest. Of equal keys those with lower indices come first, also
 * at the k-th place.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  dtype       of the keys, any gp_dtype
 * @param[in]  order       GP_DESCENDING: the largest; GP_ASCENDING: the smallest
 * @param[in]  keys_in     n keys, aligned to the key; NULL if n == 0
 * @param[in]  n           at most 2^40, and less than 2^32 with indices in GP_U32
 * @param[in]  k           0 to n; 0 does nothing
 * @param[out] keys_out    k keys, or NULL: not wanted
 * @param[in]  index_dtype GP_U32 or GP_U64; ignored if indices_out is NULL
 * @param[out] indices_out k indices, or NULL: not wanted. No two arrays may overlap
 *
 * Workspace: gp_top_k_workspace_bytes(), contents lost. Queued on the context's stream; allocates
 * only while the workspace is smaller; capturable. Same result in every run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or keys_in NULL, both outputs NULL with k > 0, or an
 *         array misaligned or in the wrong memory; GP_ERROR_DTYPE dtype or index_dtype;
 *         GP_ERROR_ARGUMENT order, n, k above n, or n too large for index_dtype; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these);
 *         GP_ERROR_CUDA outputs unspecified.
 *
 * Cost: reads the keys once for each 11 bits until the k-th key is known, whatever k is, and twice
 * more to collect the result; then sorts k pairs.
 * Source: radix select, as in Alabi, Blanchard, Gordon and Steinbach 2012.
 * @since 0.1
 */
GP_API gp_status gp_top_k(gp_context *ctx, gp_dtype dtype, gp_order order, const void *keys_in,
                          size_t n, size_t k, void *keys_out, gp_dtype index_dtype,
                          void *indices_out);

/**
 * Find the first k keys of the stable order of an array, as the descriptor says.
 *
 * As gp_top_k(), with a descriptor in place of its dtype, order and index_dtype, by which either
 * number may be in the context's memory.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  desc        see gp_top_k_desc
 * @param[in]  keys_in     n keys, aligned to the key; NULL if n == 0
 * @param[in]  n           at most 2^40, and less than 2^32 with indices in GP_U32; or the bound of
 *                         *desc->device_n
 * @param[in]  k           0 to n, or the bound of *desc->device_k; 0 does nothing
 * @param[out] keys_out    k keys, or NULL: not wanted
 * @param[out] indices_out k indices, or NULL: not wanted. No two arrays may overlap
 *
 * Workspace, queueing, determinism, statuses and cost as gp_top_k(); GP_ERROR_POINTER also for
 * desc, GP_ERROR_ARGUMENT also for desc->size.
 * @since 0.1
 */
GP_API gp_status gp_top_k_by(gp_context *ctx, const gp_top_k_desc *desc, const void *keys_in,
                             size_t n, size_t k, void *keys_out, void *indices_out);

/**
 * Upper bound of the workspace of gp_top_k() and gp_top_k_by(), without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  dtype  of the keys
 * @param[in]  n      largest n to come
 * @param[in]  k      largest k to come, at most n
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_ARGUMENT target, n or k; GP_ERROR_DTYPE
 * @since 0.1
 */
GP_API gp_status gp_top_k_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                          size_t k, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
