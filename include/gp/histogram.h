/* SPDX-License-Identifier: MIT */
/**
 * @file histogram.h
 * Histograms: how many values fall in each bin, for bins of equal width, bins between given edges,
 * and one bin per whole number.
 *
 * A bin is half-open: its lower edge belongs to it, its upper edge to the next bin. A value in no
 * bin (as every NaN) is dropped, and counted in *outside if the options have that.
 */
#ifndef GP_HISTOGRAM_H
#define GP_HISTOGRAM_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The most bins of a histogram. */
#define GP_HISTOGRAM_BINS_MAX ((size_t)1 << 31)

/** What a histogram does besides counting; start from GP_HISTOGRAM_OPTIONS_INIT. */
typedef struct gp_histogram_options {
    size_t size;            /**< sizeof(gp_histogram_options) */
    gp_algorithm algorithm; /**< GP_ALGORITHM_AUTO, or GP_ALGORITHM_CUB to compare */
    int accumulate;         /**< not 0: add to counts and *outside; 0: overwrite them */
    /** One uint64_t in the context's memory: the number of values in no bin; NULL: not wanted. */
    uint64_t *outside;
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in an output; NULL: n. GP_ALGORITHM_CUB does not support it. */
    const uint64_t *device_n;
} gp_histogram_options;

/** Initializer of gp_histogram_options: its size, and defaults. */
#define GP_HISTOGRAM_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(gp_histogram_options), GP_ALGORITHM_AUTO, 0, NULL, NULL                             \
    }

/**
 * Count values in bins of equal width over [lo, hi).
 *
 * Integers, in exact arithmetic: x with lo <= x < hi counts in bin
 * floor((x - lo) * bins / (hi - lo)). Floats, in double (every float dtype converts exactly), with
 * each operation rounded separately: scale = bins / (hi - lo), t = (x - lo) * scale; x with
 * lo <= x < hi counts in bin min(trunc(t), bins - 1). Either way bins ascend, and both backends
 * agree bitwise. hi is exclusive: use gp_bincount() or gp_histogram_edges() to count the largest
 * value of an integer dtype.
 *
 * @param[in]     ctx           decides where all data pointers live
 * @param[in]     dtype         of the values
 * @param[in]     in            n values, aligned to their size; NULL if n == 0
 * @param[in]     n             values, or the bound of *options->device_n; 0 is allowed
 * @param[in]     lo            host pointer to one value of dtype, for GP_F16 and GP_BF16 to a
 *                              float; read during the call
 * @param[in]     hi            the same; lo < hi, both finite; floats: hi - lo and
 *                              bins / (hi - lo) are finite doubles
 * @param[in]     bins          1 to GP_HISTOGRAM_BINS_MAX
 * @param[in]     counter_dtype GP_U32 (counts are modulo 2^32) or GP_U64
 * @param[in,out] counts        bins counters, aligned to their size; must not overlap in
 * @param[in]     options       NULL: the defaults; *options->outside must not overlap in or counts
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_histogram_workspace_bytes(); capturable. n == 0 sets counts and *outside to 0, or leaves them
 * if they accumulate. The result is the same in every run. n is at most 2^40.
 *
 * GP_ALGORITHM_CUB, on a GPU: i32, u8 and f32 with GP_U32 counters, at most 2^31 - 1 bytes of
 * input, 2^31 - 256 bins, and 8 GB of tables for them; neither accumulate nor outside; hi - lo
 * below 2^31 for integers. Its f32 arithmetic may put a value that lies within rounding of an edge
 * in the neighbouring bin; limits at which it would count past the last bin, such as -1 and 1, or 0
 * and a denormal, are refused.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, in, lo, hi or counts NULL, an array misaligned or in
 *         the wrong memory; GP_ERROR_ARGUMENT n, bins, lo, hi, options->size or options->algorithm;
 *         GP_ERROR_DTYPE dtype or counter_dtype; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED the
 *         algorithm is not available for this case; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing
 *         queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost on a GPU: reads the input once. Up to about 58000 bins are counted in shared memory, more
 * bins by global atomics.
 * @since 0.1
 */
GP_API gp_status gp_histogram_even(gp_context *ctx, gp_dtype dtype, const void *in, size_t n,
                                   const void *lo, const void *hi, size_t bins,
                                   gp_dtype counter_dtype, void *counts,
                                   const gp_histogram_options *options);

/**
 * Count values in bins between edges.
 *
 * x counts in bin i if edges[i] <= x < edges[i+1]. Edges may be equal:
 * the bin between them is empty.
 *
 * @param[in] edges bins + 1 ascending values of dtype in the context's memory, aligned to their
 *                  size; must not overlap counts or *options->outside. If they do not ascend, or
 *                  one is a NaN, the counts are unspecified, but nothing outside the arrays is
 *                  touched. A context that validates (core.h) refuses such edges.
 *
 * Everything else is as for gp_histogram_even(), except that GP_ALGORITHM_CUB is not supported.
 *
 * @return as gp_histogram_even(); GP_ERROR_POINTER edges NULL, misaligned or in the wrong memory
 *
 * Cost: as gp_histogram_even(), and a search of log2(bins) steps per value; on the CPU, for n of at
 * least two values per edge, a table look-up and mostly one or two steps.
 * @since 0.1
 */
GP_API gp_status gp_histogram_edges(gp_context *ctx, gp_dtype dtype, const void *in, size_t n,
                                    const void *edges, size_t bins, gp_dtype counter_dtype,
                                    void *counts, const gp_histogram_options *options);

/**
 * Count whole numbers: a value v with 0 <= v < bins counts in bin v.
 *
 * @param[in] dtype an integer type
 *
 * Everything else is as for gp_histogram_even(). Bins that dtype cannot reach stay empty.
 *
 * @return as gp_histogram_even(); GP_ERROR_DTYPE also for a float dtype
 * @since 0.1
 */
GP_API gp_status gp_bincount(gp_context *ctx, gp_dtype dtype, const void *in, size_t n, size_t bins,
                             gp_dtype counter_dtype, void *counts,
                             const gp_histogram_options *options);

/**
 * Upper bound of the workspace that any of the calls above takes, without touching a device.
 *
 * @param[in]  target  NULL: any machine
 * @param[in]  options NULL: the defaults; the pointer in it is ignored
 * @param[out] bytes   for gp_context_reserve(); for GP_ALGORITHM_CUB a generous estimate
 * @return GP_OK; GP_ERROR_POINTER bytes NULL; GP_ERROR_ARGUMENT target, n, bins,
 *         options->size or options->algorithm; GP_ERROR_DTYPE dtype or counter_dtype;
 *         GP_ERROR_UNSUPPORTED target->backend does not have the algorithm, or none does
 * @since 0.1
 */
GP_API gp_status gp_histogram_workspace_bytes(const gp_target *target, gp_dtype dtype, size_t n,
                                              size_t bins, gp_dtype counter_dtype,
                                              const gp_histogram_options *options, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
