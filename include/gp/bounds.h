/* SPDX-License-Identifier: MIT */
/**
 * @file bounds.h
 * Bulk binary search in sorted arrays.
 *
 * In a context with the option validate the array that is searched must be sorted, if there are
 * needles: otherwise nothing is written, and the call on the CPU, or gp_context_synchronize() on
 * CUDA, returns GP_ERROR_DATA with a text that names the index.
 */
#ifndef GP_BOUNDS_H
#define GP_BOUNDS_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Element types of the searches in sorted arrays; start from GP_BOUND_DESC_INIT. */
typedef struct gp_bound_desc {
    size_t size;          /**< sizeof(gp_bound_desc) */
    gp_dtype dtype;       /**< of the sorted array and the needles: any gp_dtype */
    gp_dtype index_dtype; /**< of the result: GP_U32, GP_I32, GP_U64 or GP_I64 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound; not in
     * the output; NULL: n. */
    const uint64_t *device_n;
    const uint64_t *device_m; /**< the same of m, the number of needles */
} gp_bound_desc;

/** Initializer of gp_bound_desc: its size, and defaults. */
#define GP_BOUND_DESC_INIT                                                                         \
    {                                                                                              \
        sizeof(gp_bound_desc), (gp_dtype)0, (gp_dtype)0, NULL, NULL                                \
    }

/**
 * Find, for every needle, the first index in a sorted array whose item is not below the needle.
 *
 * out[j] = number of i with sorted[i] < needles[j].
 *
 * @param[in]  ctx         decides where all pointers below live
 * @param[in]  dtype       of sorted and needles: any gp_dtype
 * @param[in]  sorted      n items, ascending in gp's order: floats -inf .. -0 = +0 .. +inf < NaN,
 *                         all NaN equal; NULL if n == 0
 * @param[in]  n           at most 2^40; 0 is allowed and gives 0 for every needle
 * @param[in]  needles     m items in any order; NULL if m == 0
 * @param[in]  m           at most 2^40; 0 is allowed
 * @param[in]  index_dtype of out: GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[out] out         m indices; may equal needles if the items have one size,
 *                         overlaps nothing otherwise
 *
 * Queued on the context's stream; takes no workspace, so it never allocates; capturable. Same
 * result in every run. If sorted does not ascend the results are unspecified numbers from 0 to n.
 *
 * @return GP_OK queued; GP_ERROR_DTYPE dtype or index_dtype; GP_ERROR_ARGUMENT n or m above 2^40,
 *         or n not a number of index_dtype; GP_ERROR_POINTER; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost: log2(n) dependent reads per needle; the caches serve them for neighbouring needles of
 * similar value. On the CPU needles that ascend, and lie close, are merged with the array.
 * @since 0.1
 */
GP_API gp_status gp_lower_bound(gp_context *ctx, gp_dtype dtype, const void *sorted, size_t n,
                                const void *needles, size_t m, gp_dtype index_dtype, void *out);

/**
 * Find, for every needle, the first index in a sorted array whose item is above the needle.
 *
 * out[j] = number of i with sorted[i] <= needles[j]. All else as gp_lower_bound().
 * @since 0.1
 */
GP_API gp_status gp_upper_bound(gp_context *ctx, gp_dtype dtype, const void *sorted, size_t n,
                                const void *needles, size_t m, gp_dtype index_dtype, void *out);

/**
 * Find the first index whose item is not below a needle: gp_lower_bound() with a descriptor.
 *
 * @param[in] desc dtype and index_dtype
 *
 * All else as gp_lower_bound().
 *
 * @return as gp_lower_bound(); GP_ERROR_POINTER also desc is NULL; GP_ERROR_ARGUMENT also
 *         desc->size
 * @since 0.1
 */
GP_API gp_status gp_lower_bound_by(gp_context *ctx, const gp_bound_desc *desc, const void *sorted,
                                   size_t n, const void *needles, size_t m, void *out);

/**
 * Find the first index whose item is above a needle: gp_upper_bound() with a descriptor.
 *
 * All else as gp_lower_bound_by().
 * @since 0.1
 */
GP_API gp_status gp_upper_bound_by(gp_context *ctx, const gp_bound_desc *desc, const void *sorted,
                                   size_t n, const void *needles, size_t m, void *out);

#ifdef __cplusplus
}
#endif
#endif
