/* SPDX-License-Identifier: MIT */
/**
 * @file dist_reduce.h
 * Reductions over several ranks: to one item, of all items before each, to the first k, of groups,
 * and to bins.
 *
 * What gp/dist.h says of ranks, waiting, the workspace and statuses holds for these calls, too.
 */
#ifndef GP_DIST_REDUCE_H
#define GP_DIST_REDUCE_H

#include <gp/comm.h>
#include <gp/group.h>
#include <gp/reduce.h>
#include <gp/scan.h>
#include <gp/topk.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Reduce an array of ranks to one item: *out on every rank = in[0] op in[1] op .. over all ranks.
 *
 * @param[in]  comm this rank
 * @param[in]  desc see gp_reduce_desc and gp_reduce_by(); total and device_n are NULL; init, which
 *                  comes first, is the same on each rank
 * @param[in]  in   n items of this rank
 * @param[in]  n    any number, 0 too
 * @param[out] out  one item of the output dtype, on every rank
 *
 * Operators need not commute: ranks are taken in their order. Sums of GP_F16 and GP_BF16 are
 * rounded once; other operators on them round the result of each rank. Statuses as gp_reduce_by();
 * GP_ERROR_ARGUMENT also desc->total or device_n is not NULL.
 *
 * Cost: gp_reduce_by(), and one exchange of 128 bytes per rank.
 * @since 0.1
 */
GP_API gp_status gp_dist_reduce(gp_comm *comm, const gp_reduce_desc *desc, const void *in, size_t n,
                                void *out);

/**
 * Scan an array of ranks: each item gets the prefix over all ranks before this one, and over the
 * items before it here.
 *
 * @param[in]  comm        this rank
 * @param[in]  desc        see gp_scan_desc; INCLUSIVE or EXCLUSIVE, GP_ALGORITHM_AUTO, not
 *                         backward; total, device_n and device_num_segments are NULL; init is the
 *                         same on each rank
 * @param[in]  local_total one item of the output dtype in the context's memory: in[0] op .. op
 *                         in[n-1] of this rank without init, which spares the call one reading
 *                         of the input; or NULL. Not read if n is 0. Some ranks may have it and
 *                         others not
 * @param[in]  in          n items of this rank
 * @param[in]  n           any number, 0 too
 * @param[out] out         n items; may equal in as for gp_scan()
 *
 * Statuses as gp_scan(); GP_ERROR_ARGUMENT also for what desc has and this call does not. For
 * GP_F16 and GP_BF16 the prefix of each rank is rounded.
 *
 * Cost: reads the input twice, or once with local_total, and writes the output once.
 * Source: Blelloch 1990 (reduce, then scan), with ranks as blocks.
 * @since 0.1
 */
GP_API gp_status gp_dist_scan(gp_comm *comm, const gp_scan_desc *desc, const void *local_total,
                              const void *in, size_t n, void *out);

/**
 * Find the first k keys of the stable order over all ranks, on every rank.
 *
 * @param[in]  comm        this rank
 * @param[in]  desc        see gp_top_k_desc; device_n and device_k are NULL
 * @param[in]  keys_in     n keys of this rank
 * @param[in]  n           any number, 0 too
 * @param[in]  k           the same on each rank, at most the keys in all
 * @param[out] keys_out    k keys, or NULL: not wanted
 * @param[out] indices_out k indices in the array of all ranks, or NULL: not wanted
 *
 * Statuses as gp_top_k_by(). Which outputs are wanted may differ between ranks.
 *
 * Cost: gp_top_k() of each rank, and again of at most k keys from each.
 * @since 0.1
 */
GP_API gp_status gp_dist_top_k(gp_comm *comm, const gp_top_k_desc *desc, const void *keys_in,
                               size_t n, size_t k, void *keys_out, void *indices_out);

/**
 * Group the items of all ranks by keys that are in any order, and reduce the values of each group.
 *
 * The outputs of all ranks, one after the other, have each key once, ascending in gp's order, and
 * beside it the values of its items, reduced. Ranks get about as many groups each.
 *
 * @param[in]  comm       this rank
 * @param[in]  desc       see gp_reduce_by_key_desc: with a key_dtype; device_n is NULL; capacity 0:
 *                        as many as this rank gave items. It may differ between ranks
 * @param[in]  keys       n keys of this rank
 * @param[in]  values     n values
 * @param[in]  n          any number, 0 too
 * @param[out] keys_out   room for desc->capacity keys
 * @param[out] values_out room for desc->capacity results
 * @param[out] out_count  one uint64_t: the groups that this rank got
 *
 * A group's items are taken in the order of ranks and of items in each; what a rank has of a group
 * is reduced first, which decides how floats are rounded, and rounds halves more than once. If
 * several items have keys that are equal but differ in bits, keys_out has those of the first.
 *
 * Statuses as gp_reduce_by_key(); a rank with less room than it gets groups has the first ones, and
 * gp_comm_synchronize() returns GP_ERROR_CAPACITY. No rank gets more groups than an even share of
 * all items, and as many as there are ranks.
 *
 * Cost: gp_group_by() on each rank, and a sort of the groups over ranks.
 * @since 0.1
 */
GP_API gp_status gp_dist_group_by(gp_comm *comm, const gp_reduce_by_key_desc *desc,
                                  const void *keys, const void *values, size_t n, void *keys_out,
                                  void *values_out, uint64_t *out_count);

/** Which bins a histogram over ranks has. */
typedef enum gp_dist_bins {
    GP_DIST_BINS_EVEN = 1,  /**< gp_histogram_even() */
    GP_DIST_BINS_EDGES = 2, /**< gp_histogram_edges() */
    GP_DIST_BINS_WHOLE = 3  /**< gp_bincount() */
} gp_dist_bins;

/** A histogram over ranks; start from GP_DIST_HISTOGRAM_DESC_INIT. */
typedef struct gp_dist_histogram_desc {
    size_t size;            /**< sizeof(gp_dist_histogram_desc) */
    gp_dist_bins kind;      /**< which bins */
    gp_dtype dtype;         /**< of the values */
    const void *lo;         /**< EVEN: as gp_histogram_even(); otherwise NULL */
    const void *hi;         /**< EVEN: as gp_histogram_even(); otherwise NULL */
    const void *edges;      /**< EDGES: as gp_histogram_edges(), on each rank; otherwise NULL */
    size_t bins;            /**< 1 to GP_HISTOGRAM_BINS_MAX */
    gp_dtype counter_dtype; /**< GP_U32 (counts are modulo 2^32) or GP_U64 */
    int reserved;           /**< 0 */
} gp_dist_histogram_desc;

/** Initializer of gp_dist_histogram_desc: its size, and defaults. */
#define GP_DIST_HISTOGRAM_DESC_INIT                                                                \
    {                                                                                              \
        sizeof(gp_dist_histogram_desc), GP_DIST_BINS_EVEN, (gp_dtype)0, NULL, NULL, NULL, 0,       \
            GP_U64, 0                                                                              \
    }

/**
 * Count the values of all ranks in bins, on every rank.
 *
 * @param[in]  comm   this rank
 * @param[in]  desc   see gp_dist_histogram_desc
 * @param[in]  in     n values of this rank
 * @param[in]  n      any number, 0 too
 * @param[out] counts desc->bins counters, aligned to their size; must not overlap in
 *
 * Statuses as the histogram of that kind; GP_ERROR_ARGUMENT also desc->kind.
 *
 * Cost: that histogram, and two exchanges of the counters.
 * @since 0.1
 */
GP_API gp_status gp_dist_histogram(gp_comm *comm, const gp_dist_histogram_desc *desc,
                                   const void *in, size_t n, void *counts);

/**
 * Upper bound of the workspace that gp_dist_reduce() takes of a rank, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  ranks  1 to GP_COMM_RANKS_MAX
 * @param[in]  desc   as for the call
 * @param[in]  n      at least the items of this rank
 * @param[out] bytes  for gp_context_reserve()
 * @return as the function of one rank; GP_ERROR_ARGUMENT also ranks
 * @since 0.1
 */
GP_API gp_status gp_dist_reduce_workspace_bytes(const gp_target *target, int ranks,
                                                const gp_reduce_desc *desc, size_t n,
                                                size_t *bytes);

/** See gp_dist_reduce_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_dist_scan_workspace_bytes(const gp_target *target, int ranks,
                                              const gp_scan_desc *desc, size_t n, size_t *bytes);

/** See gp_dist_reduce_workspace_bytes(). @since 0.1 */
GP_API gp_status gp_dist_top_k_workspace_bytes(const gp_target *target, int ranks,
                                               const gp_top_k_desc *desc, size_t n, size_t k,
                                               size_t *bytes);

/** See gp_dist_reduce_workspace_bytes(). total: at least the items of all ranks. @since 0.1 */
GP_API gp_status gp_dist_group_by_workspace_bytes(const gp_target *target, int ranks,
                                                  const gp_reduce_by_key_desc *desc, size_t n,
                                                  size_t total, size_t *bytes);

/** See gp_dist_reduce_workspace_bytes(). Pointers in desc are not read. @since 0.1 */
GP_API gp_status gp_dist_histogram_workspace_bytes(const gp_target *target, int ranks,
                                                   const gp_dist_histogram_desc *desc, size_t n,
                                                   size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
