/* SPDX-License-Identifier: MIT */
/**
 * @file vector.h
 * Vectors of floats between products with a matrix: sums of products, norms and combinations, with
 * scalars that stay in the context's memory, so that an iteration need not wait for the host.
 *
 * Vectors have n items of desc->dtype, GP_F16, GP_BF16, GP_F32 or GP_F64. A scalar, which is alpha,
 * beta or the result of a sum, is GP_F64 for vectors of GP_F64, otherwise GP_F32, in which halves
 * are computed. A scalar that a call wrote can be another call's alpha, beta, or vector of one.
 *
 * All pointers live where ctx computes and are aligned to their element, but for an alpha or beta
 * that desc does not say to be in memory: that is a host pointer, read during the call. A vector
 * without items may be NULL. An output may be the same array as an input where the call says so,
 * and otherwise overlaps nothing.
 *
 * Statuses that all calls share: GP_ERROR_POINTER ctx, desc or an array is NULL, misaligned or in
 * the wrong memory; GP_ERROR_ARGUMENT n above 2^40, or a member of desc; GP_ERROR_DTYPE
 * desc->dtype; GP_ERROR_OVERLAP; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE the workspace could not grow;
 * GP_ERROR_UNSUPPORTED this build has no code for the device. In all these cases nothing was
 * queued. GP_ERROR_CUDA: outputs unspecified.
 */
#ifndef GP_VECTOR_H
#define GP_VECTOR_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Element type and places; start from GP_VECTOR_DESC_INIT. */
typedef struct gp_vector_desc {
    size_t size;      /**< sizeof(gp_vector_desc) */
    gp_dtype dtype;   /**< of the vectors */
    int device_alpha; /**< 1: alpha points into the context's memory; 0: host */
    int device_beta;  /**< the same of beta; 0 where a call has no such scalar */
    int reserved;     /**< 0 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (a
     * larger value counts as n); not in an output; NULL: n. What lies behind it is untouched. */
    const uint64_t *device_n;
} gp_vector_desc;

/** Initializer of gp_vector_desc: its size, and defaults. */
#define GP_VECTOR_DESC_INIT                                                                        \
    {                                                                                              \
        sizeof(gp_vector_desc), (gp_dtype)0, 0, 0, 0, NULL                                         \
    }

/**
 * Sum of products: *out = x[0] y[0] + .. + x[n - 1] y[n - 1].
 *
 * @param[in]  x   n items
 * @param[in]  y   n items; may be x
 * @param[in]  n   0 is allowed: the sum is 0
 * @param[out] out one scalar in the context's memory
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_vector_dot_workspace_bytes(); capturable. Deterministic: the association depends on n (with
 * desc->device_n, on its bound), the dtype and the kind of device alone, and on the CPU neither on
 * the number of threads nor on the instruction set.
 *
 * @return GP_OK queued, or a status of the list in the file comment.
 *
 * Reads both vectors once.
 * @since 0.1
 */
GP_API gp_status gp_vector_dot(gp_context *ctx, const gp_vector_desc *desc, const void *x,
                               const void *y, size_t n, void *out);

/**
 * Euclidean norm: *out = sqrt(x[0]^2 + .. + x[n - 1]^2).
 *
 * The squares are not scaled: their sum can overflow, or vanish, where the norm would not. All else
 * is as in gp_vector_dot() of x and x.
 * @since 0.1
 */
GP_API gp_status gp_vector_norm(gp_context *ctx, const gp_vector_desc *desc, const void *x,
                                size_t n, void *out);

/**
 * Combination: y = alpha x + beta y.
 *
 * @param[in]     alpha one scalar; NULL: 1
 * @param[in]     x     n items
 * @param[in]     beta  one scalar; NULL: 1. Where it is 0, y is not read
 * @param[in,out] y     n items
 * @param[in]     n     0 is allowed and does nothing
 *
 * Queued on the context's stream; takes no workspace; capturable. alpha x + beta y is computed with
 * one rounding less than its operations have on a GPU (a fused multiplication and addition), and
 * with all of them on the CPU; halves are rounded once more, when they are stored.
 *
 * @return GP_OK queued, or a status of the list in the file comment.
 *
 * Reads x and y once and writes y once.
 * @since 0.1
 */
GP_API gp_status gp_vector_axpby(gp_context *ctx, const gp_vector_desc *desc, const void *alpha,
                                 const void *x, const void *beta, void *y, size_t n);

/**
 * Multiple: out = alpha x.
 *
 * @param[in]  alpha one scalar; NULL: 1
 * @param[in]  x     n items
 * @param[in]  n     0 is allowed and does nothing
 * @param[out] out   n items; may be x
 *
 * Queued on the context's stream; takes no workspace; capturable. Exact or rounded once, of halves
 * twice; the same bits on each backend, but for those of NaNs.
 *
 * @return GP_OK queued, or a status of the list in the file comment.
 * @since 0.1
 */
GP_API gp_status gp_vector_scale(gp_context *ctx, const gp_vector_desc *desc, const void *alpha,
                                 const void *x, size_t n, void *out);

/**
 * Products item by item: out[i] = x[i] y[i].
 *
 * @param[in]  x   n items
 * @param[in]  y   n items; may be x
 * @param[in]  n   0 is allowed and does nothing
 * @param[out] out n items; may be x or y
 *
 * Queued, capturable and rounded as gp_vector_scale().
 *
 * @return GP_OK queued, or a status of the list in the file comment.
 * @since 0.1
 */
GP_API gp_status gp_vector_multiply(gp_context *ctx, const gp_vector_desc *desc, const void *x,
                                    const void *y, size_t n, void *out);

/**
 * Quotients item by item: out[i] = x[i] / y[i], as IEEE 754 has them where y[i] is 0.
 *
 * All else is as in gp_vector_multiply().
 * @since 0.1
 */
GP_API gp_status gp_vector_divide(gp_context *ctx, const gp_vector_desc *desc, const void *x,
                                  const void *y, size_t n, void *out);

/**
 * Upper bound of the workspace that gp_vector_dot() and gp_vector_norm() take.
 *
 * @param[in]  target NULL: any machine
 * @param[out] bytes  for gp_context_reserve()
 *
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT target, or as the call;
 *         GP_ERROR_DTYPE as the call
 * @since 0.1
 */
GP_API gp_status gp_vector_dot_workspace_bytes(const gp_target *target, const gp_vector_desc *desc,
                                               size_t n, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
