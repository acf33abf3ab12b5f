/* SPDX-License-Identifier: MIT */
/**
 * @file fill.h
 * Filling arrays: with one item, and with arithmetic sequences.
 */
#ifndef GP_FILL_H
#define GP_FILL_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a fill; start from GP_FILL_DESC_INIT. */
typedef struct gp_fill_desc {
    size_t size;       /**< sizeof(gp_fill_desc) */
    size_t item_bytes; /**< 1 to 65536 */
    const void *item;  /**< host pointer to item_bytes bytes, read during the call */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_fill_desc;

/** Initializer of gp_fill_desc: its size, and defaults. */
#define GP_FILL_DESC_INIT                                                                          \
    {                                                                                              \
        sizeof(gp_fill_desc), 0, NULL, NULL                                                        \
    }

/** The full form of an arithmetic sequence; start from GP_IOTA_DESC_INIT. */
typedef struct gp_iota_desc {
    size_t size;       /**< sizeof(gp_iota_desc) */
    gp_dtype dtype;    /**< of the items: any gp_dtype */
    int reserved;      /**< 0 */
    const void *first; /**< host pointer to one dtype, read during the call; NULL: 0 */
    const void *step;  /**< host pointer to one dtype, read during the call; NULL: 1 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_iota_desc;

/** Initializer of gp_iota_desc: its size, and defaults. */
#define GP_IOTA_DESC_INIT                                                                          \
    {                                                                                              \
        sizeof(gp_iota_desc), (gp_dtype)0, 0, NULL, NULL, NULL                                     \
    }

/**
 * Set every item of an array to the same bytes: out[i] = *item.
 *
 * @param[in]  ctx        decides where out lives
 * @param[in]  item_bytes 1 to 65536
 * @param[in]  item       host pointer to item_bytes bytes of any alignment, read during the call;
 *                        NULL if n == 0
 * @param[in]  n          0 is allowed and does nothing; at most 2^40
 * @param[out] out        n items, of any alignment; NULL if n == 0; must not overlap item
 *
 * Queued on the context's stream; takes no workspace; capturable, with the bytes that item has at
 * the capture.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, item or out NULL, or out in the wrong memory;
 *         GP_ERROR_ARGUMENT item_bytes or n; GP_ERROR_OVERLAP (nothing queued in all these);
 *         GP_ERROR_CUDA out unspecified.
 *
 * Cost: writes n items. On CUDA items of more than 64 bytes take a launch per 3840 bytes first.
 * @since 0.1
 */
GP_API gp_status gp_fill(gp_context *ctx, size_t item_bytes, const void *item, size_t n, void *out);

/**
 * Set every item of an array to the same bytes: gp_fill() with a descriptor.
 *
 * @param[in]  ctx  decides where out and desc->device_n live
 * @param[in]  desc see gp_fill_desc
 * @param[in]  n    items, or the bound of *desc->device_n (a larger value there counts as n)
 * @param[out] out  as in gp_fill(); must not overlap desc->device_n
 *
 * All else as gp_fill().
 *
 * @return as gp_fill(); GP_ERROR_POINTER also desc is NULL, or desc->device_n misaligned or in the
 *         wrong memory; GP_ERROR_ARGUMENT also desc->size
 * @since 0.1
 */
GP_API gp_status gp_fill_by(gp_context *ctx, const gp_fill_desc *desc, size_t n, void *out);

/**
 * Write an arithmetic sequence: out[i] = *first + i * *step.
 *
 * Integers wrap. Of floats the product and the sum are computed in double and rounded there, and
 * the sum is rounded once more, to the nearest dtype.
 *
 * @param[in]  ctx   decides where out lives
 * @param[in]  dtype any gp_dtype
 * @param[in]  first host pointer to one dtype, read during the call; NULL: 0
 * @param[in]  step  host pointer to one dtype, read during the call; NULL: 1
 * @param[in]  n     0 is allowed and does nothing; at most 2^40
 * @param[out] out   n items, aligned to the dtype; NULL if n == 0; overlaps neither first nor step
 *
 * Queued on the context's stream; takes no workspace; capturable, with the numbers that first and
 * step have at the capture. Same bits on both backends, but for a NaN of GP_F32 or GP_F64.
 *
 * @return GP_OK queued; GP_ERROR_DTYPE dtype; GP_ERROR_ARGUMENT n; GP_ERROR_POINTER ctx is NULL, or
 *         out is NULL, misaligned or in the wrong memory; GP_ERROR_OVERLAP (nothing queued in all
 *         these); GP_ERROR_CUDA out unspecified.
 *
 * Cost: writes n items.
 * @since 0.1
 */
GP_API gp_status gp_iota(gp_context *ctx, gp_dtype dtype, const void *first, const void *step,
                         size_t n, void *out);

/**
 * Write an arithmetic sequence: gp_iota() with a descriptor.
 *
 * @param[in]  ctx  decides where out and desc->device_n live
 * @param[in]  desc see gp_iota_desc
 * @param[in]  n    items, or the bound of *desc->device_n (a larger value there counts as n)
 * @param[out] out  as in gp_iota(); must not overlap desc->device_n
 *
 * All else as gp_iota().
 *
 * @return as gp_iota(); GP_ERROR_POINTER also desc is NULL, or desc->device_n misaligned or in the
 *         wrong memory; GP_ERROR_ARGUMENT also desc->size, or desc->reserved is not 0
 * @since 0.1
 */
GP_API gp_status gp_iota_by(gp_context *ctx, const gp_iota_desc *desc, size_t n, void *out);

#ifdef __cplusplus
}
#endif
#endif
