/* SPDX-License-Identifier: MIT */
/**
 * @file reduce.h
 * Reduction: in[0] op in[1] op ... op in[n-1], for any associative operator; index of the smallest
 * or largest item.
 */
#ifndef GP_REDUCE_H
#define GP_REDUCE_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a reduction; start from GP_REDUCE_DESC_INIT. */
typedef struct gp_reduce_desc {
    size_t size;        /**< sizeof(gp_reduce_desc) */
    gp_dtype in_dtype;  /**< of the input */
    gp_dtype out_dtype; /**< of the result; 0: as in_dtype. See gp_reduce_by() for the pairs */
    gp_op op;           /**< associative */
    /** Host pointer to one item of the output dtype, read during the call; NULL: the identity. */
    const void *init;
    /**
     * 8 bytes in the context's memory for the result as int64_t for signed, uint64_t for unsigned
     * and double for float dtypes, or NULL. With GP_SUM on integers it is then added up in 64 bits,
     * and a result that does not fit out_dtype sets the sticky GP_ERROR_OVERFLOW that
     * gp_context_synchronize() returns. Not for GP_AFFINE and GP_MAT2.
     */
    void *total;
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_reduce_desc;

/** Initializer of gp_reduce_desc: its size, and defaults. */
#define GP_REDUCE_DESC_INIT                                                                        \
    {                                                                                              \
        sizeof(gp_reduce_desc), (gp_dtype)0, (gp_dtype)0, GP_SUM, NULL, NULL, NULL                 \
    }

/** The input of an argmin or argmax; start from GP_ARG_DESC_INIT. */
typedef struct gp_arg_desc {
    size_t size;    /**< sizeof(gp_arg_desc) */
    gp_dtype dtype; /**< of the items */
    int reserved;   /**< 0 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in an output; NULL: n. */
    const uint64_t *device_n;
} gp_arg_desc;

/** Initializer of gp_arg_desc: its size, and defaults. */
#define GP_ARG_DESC_INIT                                                                           \
    {                                                                                              \
        sizeof(gp_arg_desc), (gp_dtype)0, 0, NULL                                                  \
    }

/**
 * Reduce an array to one item: *out = in[0] op .. op in[n-1].
 *
 * The call gp_reduce_by() with both dtypes equal and no initial value; see there.
 * @since 0.1
 */
GP_API gp_status gp_reduce(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in, size_t n,
                           void *out);

/**
 * Reduce as the descriptor says: *out = init op in[0] op .. op in[n-1].
 *
 * @param[in]  ctx  decides where all data pointers live
 * @param[in]  desc see gp_reduce_desc. Dtype pairs besides equal ones, with GP_SUM only: i8 and
 *                  i16 to i32 and i64, u8 and u16 to u32 and u64, i32 to i64, u32 to u64, f16
 *                  and bf16 to f32, f32 to f64. The accumulator is the output's dtype (float for
 *                  f16 and bf16).
 * @param[in]  in   n items (of gp_op_scalars(op) scalars each), aligned to the scalar;
 *                  NULL if n == 0
 * @param[in]  n    items, or the bound of *desc->device_n (a larger value there counts as n);
 *                  0 is allowed
 * @param[out] out  one item in the context's memory, aligned to the scalar; must not overlap in
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_reduce_workspace_bytes(); capturable. With n == 0 the result is init, or the identity (of a
 * sum +0, of MIN on floats NaN, of MAX on floats -infinity).
 *
 * Deterministic: the association of float operations depends on n, dtypes, operator and the tuning
 * row alone, and on the CPU on neither the number of threads nor the instruction set. The order of
 * the items is kept for operators that do not commute. MIN and MAX return the first of several
 * equal items with all its bits: the sign of the first zero, the first NaN. Integers wrap. n is at
 * most 2^40.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc, in or out NULL, misaligned or in the wrong
 *         memory; GP_ERROR_ARGUMENT desc->size, desc->total with a pair operator, or n;
 *         GP_ERROR_DTYPE unknown dtype or pair; GP_ERROR_OP unknown operator, a bitwise one on
 *         floats, a pair operator on anything but f32, f64; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED
 *         this build has no code for the device; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing
 *         queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost on a GPU: one kernel launch; reads the input once.
 * @since 0.1
 */
GP_API gp_status gp_reduce_by(gp_context *ctx, const gp_reduce_desc *desc, const void *in, size_t n,
                              void *out);

/**
 * Find the first of the smallest items: *index = the least i with in[i] <= in[j] for all j.
 *
 * @param[in]  ctx   decides where all data pointers live
 * @param[in]  dtype of the items; floats are ordered -inf .. -0 = +0 .. +inf < NaN, so a NaN
 *                   is the smallest item only if all are NaN, and -0 and +0 tie, as NaNs do
 *                   with each other
 * @param[in]  in    n items, aligned to their size; NULL if n == 0
 * @param[in]  n     items; 0 is allowed
 * @param[out] value room for one item, or NULL; gets the bits of in[*index]
 * @param[out] index one uint64_t. Neither it nor value may overlap in or the other
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_argmin_workspace_bytes(); capturable. With n == 0 *index is UINT64_MAX and *value the identity
 * of GP_MIN: the largest integer, NaN for floats. The result is exact, so the same in each run and
 * on each backend. n is at most 2^40.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, in or index NULL, an array misaligned or in the wrong
 *         memory; GP_ERROR_DTYPE unknown dtype; GP_ERROR_ARGUMENT n; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED this build has no code for the device; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost on a GPU: one kernel launch; reads the input once, and 16 bytes of it again.
 * @since 0.1
 */
GP_API gp_status gp_argmin(gp_context *ctx, gp_dtype dtype, const void *in, size_t n, void *value,
                           uint64_t *index);

/**
 * Find the first of the largest items: *index = the least i with in[i] >= in[j] for all j.
 *
 * As gp_argmin(), in the same order: with a NaN among floats, the first NaN is the largest. With
 * n == 0 *index is UINT64_MAX and *value the identity of GP_MAX: the smallest integer, -infinity
 * for floats.
 * @since 0.1
 */
GP_API gp_status gp_argmax(gp_context *ctx, gp_dtype dtype, const void *in, size_t n, void *value,
                           uint64_t *index);

/**
 * Find the first of the smallest items, as the descriptor says.
 *
 * As gp_argmin(), with a descriptor in place of its dtype.
 *
 * @param[in]  ctx   decides where all data pointers live
 * @param[in]  desc  see gp_arg_desc
 * @param[in]  in    n items, aligned to their size; NULL if n == 0
 * @param[in]  n     items, or the bound of *desc->device_n; 0 is allowed; at most 2^40
 * @param[out] value room for one item, or NULL
 * @param[out] index one uint64_t. Neither it nor value may overlap in or the other
 *
 * Order, workspace, queueing, n == 0, statuses and cost as gp_argmin(); GP_ERROR_POINTER also for
 * desc, GP_ERROR_ARGUMENT also for desc->size.
 * @since 0.1
 */
GP_API gp_status gp_argmin_by(gp_context *ctx, const gp_arg_desc *desc, const void *in, size_t n,
                              void *value, uint64_t *index);

/**
 * Find the first of the largest items, as the descriptor says.
 *
 * As gp_argmax(), with a descriptor in place of its dtype; the parameters are those of
 * gp_argmin_by(), and so are the statuses.
 * @since 0.1
 */
GP_API gp_status gp_argmax_by(gp_context *ctx, const gp_arg_desc *desc, const void *in, size_t n,
                              void *value, uint64_t *index);

/**
 * Upper bound of the workspace that gp_reduce_by() takes, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for gp_reduce_by(); pointers in it are ignored
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT target,
 *         or as gp_reduce_by(); GP_ERROR_DTYPE, GP_ERROR_OP as gp_reduce_by()
 * @since 0.1
 */
GP_API gp_status gp_reduce_workspace_bytes(const gp_target *target, const gp_reduce_desc *desc,
                                           size_t n, size_t *bytes);

/** The same for gp_argmin() and gp_argmax(), with a descriptor too. @since 0.1 */
GP_API gp_status gp_argmin_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                           size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
