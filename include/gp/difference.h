/* SPDX-License-Identifier: MIT */
/**
 * @file difference.h
 * Differences of neighbouring items, which undo an inclusive sum.
 */
#ifndef GP_DIFFERENCE_H
#define GP_DIFFERENCE_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a difference; start from GP_DIFFERENCE_DESC_INIT. */
typedef struct gp_difference_desc {
    size_t size;    /**< sizeof(gp_difference_desc) */
    gp_dtype dtype; /**< of the items and of the differences */
    int reserved;   /**< 0 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_difference_desc;

/** Initializer of gp_difference_desc: its size, and defaults. */
#define GP_DIFFERENCE_DESC_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_difference_desc), (gp_dtype)0, 0, NULL                                           \
    }

/**
 * Subtract from each item the one before it: out[0] = in[0], out[i] = in[i] - in[i - 1].
 *
 * gp_scan_inclusive() with GP_SUM is the inverse: of integers the sums of the differences are the
 * items, and the differences of the sums are the items, in every case; of floats where nothing is
 * rounded off.
 *
 * @param[in]  ctx   decides where all data pointers live
 * @param[in]  dtype of the items and of the differences
 * @param[in]  in    n items, aligned to their size; NULL if n == 0
 * @param[in]  n     at most 2^40; 0 is allowed and does nothing
 * @param[out] out   n items, aligned to their size; must not overlap in: an item is read for two
 *                   outputs
 *
 * Queued on the context's stream; takes no workspace; capturable. Integers wrap. Differences of
 * halves are computed in float and rounded once. The result is exact or rounded once, so it has the
 * same bits in each run and on each backend, but for those of NaNs; out[0] has all bits of in[0].
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, in or out NULL, misaligned or in the wrong memory;
 *         GP_ERROR_DTYPE unknown dtype; GP_ERROR_ARGUMENT n; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED
 *         this build has no code for the device (nothing queued in all these); GP_ERROR_CUDA
 *         outputs unspecified.
 *
 * Cost on a GPU: one kernel launch; reads the input once and writes the output once.
 * @since 0.1
 */
GP_API gp_status gp_adjacent_difference(gp_context *ctx, gp_dtype dtype, const void *in, size_t n,
                                        void *out);

/**
 * Subtract from each item the one before it, of a number of items that a device may have.
 *
 * As gp_adjacent_difference(), but for:
 * @param[in]  desc see gp_difference_desc
 * @param[in]  n    items, or the bound of *desc->device_n (a larger value there counts as n)
 * @param[out] out  n items; overlaps neither in nor desc->device_n. Behind a smaller number of
 *                  items on the device nothing is written
 *
 * @return as gp_adjacent_difference(); GP_ERROR_POINTER also desc is NULL, or desc->device_n
 *         misaligned or in the wrong memory; GP_ERROR_ARGUMENT also desc->size or reserved
 * @since 0.1
 */
GP_API gp_status gp_adjacent_difference_by(gp_context *ctx, const gp_difference_desc *desc,
                                           const void *in, size_t n, void *out);

#ifdef __cplusplus
}
#endif
#endif
