/* SPDX-License-Identifier: MIT */
/**
 * @file gather.h
 * Gather: collect items by index.
 */
#ifndef GP_GATHER_H
#define GP_GATHER_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a gather; start from GP_GATHER_DESC_INIT. */
typedef struct gp_gather_desc {
    size_t size;          /**< sizeof(gp_gather_desc) */
    size_t item_bytes;    /**< 1 to 65536 */
    size_t in_items;      /**< items of the input, at most 2^40; 0: unknown */
    gp_dtype index_dtype; /**< GP_U32 or GP_U64 */
    int reserved;         /**< 0 */
} gp_gather_desc;

/** Initializer of gp_gather_desc: its size, and defaults. */
#define GP_GATHER_DESC_INIT                                                                        \
    {                                                                                              \
        sizeof(gp_gather_desc), 0, 0, (gp_dtype)0, 0                                               \
    }

/**
 * Collect items by index: out[i] = in[indices[i]].
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  item_bytes  1 to 65536
 * @param[in]  in          as many items as the largest index + 1, aligned to the largest power
 *                         of two, up to 16, that divides item_bytes
 * @param[in]  index_dtype GP_U32 or GP_U64
 * @param[in]  indices     n indices, each in range. This call cannot check that, as it does not
 *                         know how many items in has; gp_gather_by() can
 * @param[in]  n           items of the output; 0 is allowed and does nothing; at most 2^40
 * @param[out] out         n items, aligned as in; must overlap neither in nor indices (of in, whose
 *                         length is unknown, only the first item is checked)
 *
 * Queued on the context's stream; takes no workspace; capturable.
 * Indices may repeat and leave out items.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or an array NULL, misaligned or in the wrong memory;
 *         GP_ERROR_ARGUMENT item_bytes or n; GP_ERROR_DTYPE index_dtype; GP_ERROR_OVERLAP (nothing
 *         queued in all these); GP_ERROR_CUDA out unspecified.
 *
 * Cost: reads the indices and n items, writes n items.
 * @since 0.1
 */
GP_API gp_status gp_gather(gp_context *ctx, size_t item_bytes, const void *in, gp_dtype index_dtype,
                           const void *indices, size_t n, void *out);

/**
 * Collect items by index, as the descriptor says: out[i] = in[indices[i]].
 *
 * As gp_gather(), and desc->in_items says how many items in has.
 *
 * @param[in]  ctx     decides where the arrays live
 * @param[in]  desc    see gp_gather_desc
 * @param[in]  in      desc->in_items items, or if that is 0 as many as the largest index + 1,
 *                     aligned to the largest power of two, up to 16, that divides
 *                     desc->item_bytes; NULL if n == 0
 * @param[in]  indices n indices, each in range; NULL if n == 0. A context that validates checks
 *                     that they are below desc->in_items, unless that is 0
 * @param[in]  n       items of the output; 0 is allowed and does nothing; at most 2^40
 * @param[out] out     n items, aligned as in; must overlap neither in nor indices (of in only the
 *                     first item is checked if desc->in_items is 0)
 *
 * Queueing, workspace, statuses and cost as gp_gather(); GP_ERROR_POINTER also for desc,
 * GP_ERROR_ARGUMENT also for desc->size and desc->in_items. If the context validates, an index out
 * of range is GP_ERROR_DATA, which this call returns on the CPU and gp_context_synchronize() on
 * CUDA; out is not written.
 * @since 0.1
 */
GP_API gp_status gp_gather_by(gp_context *ctx, const gp_gather_desc *desc, const void *in,
                              const void *indices, size_t n, void *out);

#ifdef __cplusplus
}
#endif
#endif
