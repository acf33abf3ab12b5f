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

#ifdef __cplusplus
}
#endif
#endif
