/* SPDX-License-Identifier: MIT */
/**
 * @file balance.h
 * Load balancing, that is dividing work of uneven size into equal shares: the segment of each item,
 * expanding by counts, copying intervals, and merge-path partitions.
 *
 * Segments are described by offsets: num_segments + 1 ascending numbers; segment s has the
 * positions offsets[s] .. offsets[s + 1] - 1. Row pointers of a sparse matrix are such offsets. The
 * cost of a call depends on num_items + num_segments alone: segments may be empty, many millions of
 * them in a row, and one segment may have all items. offsets[0] may be above 0: item i of a call is
 * position offsets[0] + i.
 *
 * The calls do not check that offsets ascend (gp_check_offsets() does). If they do not, outputs are
 * unspecified, but nothing outside the arrays is read or written, except by gp_copy_intervals(). A
 * context with the option validate checks these rules: offsets (row pointers) ascend and the first
 * is not negative; the last is num_items (nnz) above the first; intervals lie in their array. If a
 * rule is broken, nothing is written, and the call on the CPU, or gp_context_synchronize() on CUDA,
 * returns GP_ERROR_DATA with a text that names the index. Counts are not checked.
 *
 * gp_copy_intervals() has a descriptor. The others have a form with one, whose name ends in _by:
 * element types and sizes of items are members of it instead of parameters; later releases add
 * members there. All else is as in the short form: memory, aliasing, order of work, determinism,
 * errors and cost.
 */
#ifndef GP_BALANCE_H
#define GP_BALANCE_H

#include <gp/bounds.h> /* what this header once held */
#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Element types and sizes of the calls that take segments; start from GP_BALANCE_DESC_INIT. Each
 * call says which members it has; the others must be 0.
 */
typedef struct gp_balance_desc {
    size_t size;           /**< sizeof(gp_balance_desc) */
    size_t item_bytes;     /**< of an item that is repeated: 1 to 65536 */
    gp_dtype offset_dtype; /**< of offsets: GP_U32, GP_I32, GP_U64 or GP_I64 */
    gp_dtype count_dtype;  /**< of counts: GP_U32 or GP_U64 */
    gp_dtype index_dtype;  /**< of indices that are written: GP_U32, GP_I32, GP_U64 or GP_I64 */
    int reserved;          /**< 0 */
    /** One uint64_t in the context's memory that replaces num_segments (or num_rows), which is then
     * its upper bound; not in an output; NULL: num_segments. Without device_num_items, num_items
     * (or nnz) is then a bound, too, and the offsets say how many items there are. */
    const uint64_t *device_num_segments;
    const uint64_t *device_num_items; /**< The same of num_items (or nnz), which offsets cover. */
    const void *plan; /**< of gp_balance_search_by(): NULL, or what gp_balance_plan() has filled */
} gp_balance_desc;

/** Initializer of gp_balance_desc: its size, and defaults. */
#define GP_BALANCE_DESC_INIT                                                                       \
    {                                                                                              \
        sizeof(gp_balance_desc), 0, (gp_dtype)0, (gp_dtype)0, (gp_dtype)0, 0, NULL, NULL, NULL     \
    }

/** Element types and sizes of gp_copy_intervals(); start from GP_INTERVAL_DESC_INIT. */
typedef struct gp_interval_desc {
    size_t size;           /**< sizeof(gp_interval_desc) */
    size_t item_bytes;     /**< 1 to 65536 */
    size_t in_items;       /**< items of the input, at most 2^40; 0: unknown */
    size_t out_items;      /**< items that the output has room for, at most 2^40; 0: unknown */
    gp_dtype offset_dtype; /**< of offsets and starts: GP_U32, GP_I32, GP_U64 or GP_I64 */
    int reserved;          /**< 0 */
    /** One uint64_t in the context's memory that replaces num_segments, which is then its upper
     * bound, as num_items is that of the items; NULL: num_segments. */
    const uint64_t *device_num_segments;
} gp_interval_desc;

/** Initializer of gp_interval_desc: its size, and defaults. */
#define GP_INTERVAL_DESC_INIT                                                                      \
    {                                                                                              \
        sizeof(gp_interval_desc), 0, 0, 0, (gp_dtype)0, 0, NULL                                    \
    }

/**
 * Find the segment of every item, and its place in it (load-balancing search).
 *
 * segments_out[i] = s with offsets[s] <= offsets[0] + i < offsets[s + 1];
 * ranks_out[i] = offsets[0] + i - offsets[s].
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  offset_dtype GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_segments at most 2^40; 0 is allowed
 * @param[in]  num_items    offsets[num_segments] - offsets[0], at most 2^40; 0 is allowed
 * @param[in]  index_dtype  of both outputs: GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[out] segments_out num_items indices; NULL if num_items == 0
 * @param[out] ranks_out    num_items indices, or NULL: not wanted. No two arrays may overlap
 *
 * Queued on the context's stream; takes no workspace, so it never allocates; capturable. Inputs and
 * outputs must stay valid until the stream has passed the call. Same result in every run.
 *
 * If num_items is not offsets[num_segments] - offsets[0], the sticky GP_ERROR_DATA is set for
 * gp_context_synchronize(); items that the offsets do not cover get num_segments, and a rank
 * counted from the last offset.
 *
 * @return GP_OK queued; GP_ERROR_DTYPE offset_dtype or index_dtype; GP_ERROR_ARGUMENT num_segments
 *         or num_items above 2^40 or not a number of offset_dtype or index_dtype; GP_ERROR_POINTER
 *         ctx or an array is NULL, misaligned or in the wrong memory; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost: one pass; writes the outputs once and reads the offsets at most once (long runs of empty
 * segments are skipped). Source: Baxter 2013, modern GPU (load-balancing search); Green, McColl and
 * Bader 2012 (merge path).
 * @since 0.1
 */
GP_API gp_status gp_balance_search(gp_context *ctx, gp_dtype offset_dtype, const void *offsets,
                                   size_t num_segments, size_t num_items, gp_dtype index_dtype,
                                   void *segments_out, void *ranks_out);

/**
 * Find the segment of every item, and its place in it: gp_balance_search() with a descriptor.
 *
 * @param[in] desc offset_dtype and index_dtype; plan
 *
 * All else as gp_balance_search().
 *
 * @return as gp_balance_search(); GP_ERROR_POINTER also desc is NULL; GP_ERROR_ARGUMENT also
 *         desc->size, or item_bytes or reserved is not 0; GP_ERROR_DTYPE also count_dtype is not 0
 * @since 0.1
 */
GP_API gp_status gp_balance_search_by(gp_context *ctx, const gp_balance_desc *desc,
                                      const void *offsets, size_t num_segments, size_t num_items,
                                      void *segments_out, void *ranks_out);

/**
 * Bytes of a plan for gp_balance_search_by().
 *
 * @param[in]  target       NULL: any machine
 * @param[in]  desc         as in gp_balance_plan()
 * @param[in]  num_segments largest to come
 * @param[in]  num_items    largest to come
 * @param[out] bytes        of the memory that gp_balance_plan() fills: 8 per 1024 segments and
 *                          items
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; otherwise as gp_balance_plan()
 * @since 0.1
 */
GP_API gp_status gp_balance_plan_bytes(const gp_target *target, const gp_balance_desc *desc,
                                       size_t num_segments, size_t num_items, size_t *bytes);

/**
 * Prepare searches with the same offsets: where their work begins, which each finds out otherwise.
 *
 * @param[in]  desc         offset_dtype; all other members are 0
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_segments at most 2^40; 0 is allowed
 * @param[in]  num_items    offsets[num_segments] - offsets[0], at most 2^40; 0 is allowed
 * @param[out] plan         gp_balance_plan_bytes() bytes in the context's memory, aligned to 8; for
 *                          contexts of the same backend
 *
 * Queued on the context's stream; takes no workspace; capturable. A plan never changes a result: a
 * search checks each place that it takes from one, and finds those that are of other offsets, or
 * of another number of segments or items, itself. The CPU makes no use of plans.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc or an array is NULL, misaligned or in the wrong
 *         memory; GP_ERROR_DTYPE, GP_ERROR_ARGUMENT a member of desc, num_segments or num_items;
 *         GP_ERROR_OVERLAP (nothing queued in all these); GP_ERROR_CUDA plan is unspecified.
 *
 * Cost: one binary search for each 1024 segments and items.
 * @since 0.1
 */
GP_API gp_status gp_balance_plan(gp_context *ctx, const gp_balance_desc *desc, const void *offsets,
                                 size_t num_segments, size_t num_items, void *plan);

/**
 * Repeat item s of the input as often as segment s is long.
 *
 * out[i] = in[s] with offsets[s] <= offsets[0] + i < offsets[s + 1].
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  item_bytes   1 to 65536; fastest for 1, 2, 4, 8 and 16 when in and out are
 *                          aligned to it
 * @param[in]  in           num_segments items, of any alignment; NULL if num_segments == 0
 * @param[in]  offset_dtype GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_segments at most 2^40; 0 is allowed
 * @param[in]  num_items    offsets[num_segments] - offsets[0], at most 2^40; 0 is allowed
 * @param[out] out          num_items items, of any alignment; NULL if num_items == 0;
 *                          overlaps no input
 *
 * Queued on the context's stream; takes no workspace, so it never allocates; capturable. Inputs and
 * outputs must stay valid until the stream has passed the call. Same result in every run.
 *
 * If num_items is not offsets[num_segments] - offsets[0], the sticky GP_ERROR_DATA is set for
 * gp_context_synchronize(); items that the offsets do not cover are untouched.
 *
 * @return GP_OK queued; GP_ERROR_ARGUMENT item_bytes, num_segments or num_items, or num_items is
 *         not a number of offset_dtype; GP_ERROR_DTYPE; GP_ERROR_POINTER; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost: one pass; writes the output once, reads the offsets and the items of non-empty segments.
 * Source: Baxter 2013, modern GPU (interval expand).
 * @since 0.1
 */
GP_API gp_status gp_expand(gp_context *ctx, size_t item_bytes, const void *in,
                           gp_dtype offset_dtype, const void *offsets, size_t num_segments,
                           size_t num_items, void *out);

/**
 * Repeat item s of the input as often as segment s is long: gp_expand() with a descriptor.
 *
 * @param[in] desc item_bytes and offset_dtype
 *
 * All else as gp_expand().
 *
 * @return as gp_expand(); GP_ERROR_POINTER also desc is NULL; GP_ERROR_ARGUMENT also desc->size, or
 *         reserved is not 0; GP_ERROR_DTYPE also count_dtype or index_dtype is not 0
 * @since 0.1
 */
GP_API gp_status gp_expand_by(gp_context *ctx, const gp_balance_desc *desc, const void *in,
                              const void *offsets, size_t num_segments, size_t num_items,
                              void *out);

/**
 * Repeat item s of the input counts[s] times, when only the counts are known.
 *
 * The exclusive scan of the counts gives the offsets of gp_expand();
 * *out_count = sum of the counts.
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  item_bytes   1 to 65536
 * @param[in]  in           num_segments items, of any alignment; NULL if num_segments == 0
 * @param[in]  count_dtype  GP_U32 or GP_U64; the sum is taken in 64 bits and must be below 2^64
 * @param[in]  counts       num_segments counts; NULL if num_segments == 0
 * @param[in]  num_segments at most 2^40; 0 is allowed and writes *out_count = 0
 * @param[in]  capacity     items that out has room for, at most 2^40; 0 is allowed if only the sum
 *                          is wanted
 * @param[out] out          capacity items, of any alignment; NULL if capacity == 0; overlaps
 *                          nothing else
 * @param[out] out_count    one uint64_t in the context's memory:
 *                          the sum, even if it exceeds capacity
 *
 * Workspace: gp_expand_counts_workspace_bytes(), contents lost. Queued on the context's stream;
 * allocates only while the workspace is smaller; capturable. Same result in every run. Items of out
 * from *out_count on are untouched.
 *
 * If the sum exceeds capacity, the first capacity items are written and the sticky
 * GP_ERROR_CAPACITY is set for gp_context_synchronize().
 *
 * @return GP_OK queued; GP_ERROR_ARGUMENT item_bytes, num_segments or capacity; GP_ERROR_DTYPE
 *         count_dtype; GP_ERROR_POINTER; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost: the scan of the counts, then the pass of gp_expand().
 * @since 0.1
 */
GP_API gp_status gp_expand_counts(gp_context *ctx, size_t item_bytes, const void *in,
                                  gp_dtype count_dtype, const void *counts, size_t num_segments,
                                  size_t capacity, void *out, uint64_t *out_count);

/**
 * Repeat item s of the input counts[s] times: gp_expand_counts() with a descriptor.
 *
 * @param[in] desc item_bytes and count_dtype
 *
 * All else as gp_expand_counts(), the workspace too.
 *
 * @return as gp_expand_counts(); GP_ERROR_POINTER also desc is NULL; GP_ERROR_ARGUMENT also
 *         desc->size, or reserved is not 0; GP_ERROR_DTYPE also offset_dtype or index_dtype is
 *         not 0
 * @since 0.1
 */
GP_API gp_status gp_expand_counts_by(gp_context *ctx, const gp_balance_desc *desc, const void *in,
                                     const void *counts, size_t num_segments, size_t capacity,
                                     void *out, uint64_t *out_count);

/**
 * Upper bound of the workspace that gp_expand_counts() takes, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_DTYPE count_dtype; GP_ERROR_ARGUMENT
 *         target or num_segments
 * @since 0.1
 */
GP_API gp_status gp_expand_counts_workspace_bytes(const gp_target *target, gp_dtype count_dtype,
                                                  size_t num_segments, size_t *bytes);

/**
 * Copy many intervals at once: interval s has as many items as segment s.
 *
 * out[out_starts[s] + k] = in[in_starts[s] + k] for all k < offsets[s + 1] - offsets[s]. On a side
 * without starts the intervals lie one behind the other: interval s starts at
 * offsets[s] - offsets[0].
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  desc         see gp_interval_desc
 * @param[in]  in           items, of any alignment; NULL if num_items == 0
 * @param[in]  in_starts    num_segments starts in in (gather, move); NULL: none
 * @param[in]  offsets      num_segments + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_segments at most 2^40; 0 is allowed
 * @param[in]  num_items    offsets[num_segments] - offsets[0], at most 2^40; 0 is allowed
 * @param[in]  out_starts   num_segments starts in out (scatter, move); NULL: none
 * @param[out] out          items, of any alignment; NULL if num_items == 0; overlaps no input (as
 *                          many items of in and out as are known are checked). Intervals must not
 *                          overlap in out; what is between them is untouched
 *
 * Starts of empty intervals are not used. A context that validates checks the others against
 * desc->in_items and desc->out_items, unless these are 0. Without starts such a member is 0 or at
 * least num_items. Queueing, workspace and num_items as gp_expand().
 *
 * @return as gp_expand_by(), GP_ERROR_ARGUMENT also desc->in_items and desc->out_items,
 *         GP_ERROR_POINTER and GP_ERROR_OVERLAP also desc->device_num_segments
 *
 * Cost: one pass; reads the offsets and starts, and reads and writes the items once. Intervals of
 * 256 bytes and more go at the rate of a copy.
 * @since 0.1
 */
GP_API gp_status gp_copy_intervals(gp_context *ctx, const gp_interval_desc *desc, const void *in,
                                   const void *in_starts, const void *offsets, size_t num_segments,
                                   size_t num_items, const void *out_starts, void *out);

/**
 * Split rows and non-zeros together into shares of equal size (merge path).
 *
 * The path takes one step per non-zero and one step per end of a row, in order. Share p covers the
 * steps from p * ceil((num_rows + nnz) / parts) to the start of share p + 1; both numbers are
 * limited to num_rows + nnz. At the start of share p the path has passed row_starts[p] ends of rows
 * and nnz_starts[p] non-zeros. So share p finishes rows row_starts[p] .. row_starts[p + 1] - 1 and
 * holds non-zeros nnz_starts[p] .. nnz_starts[p + 1] - 1; the last of these may belong to a row
 * that a later share finishes.
 *
 * @param[in]  ctx          decides where all pointers below live
 * @param[in]  offset_dtype GP_U32, GP_I32, GP_U64 or GP_I64, of row_pointers and both outputs
 * @param[in]  row_pointers num_rows + 1 ascending offsets, none negative; never NULL
 * @param[in]  num_rows     at most 2^40; 0 is allowed
 * @param[in]  nnz          row_pointers[num_rows] - row_pointers[0], at most 2^40; 0 is allowed
 * @param[in]  parts        1 to 2^40
 * @param[out] row_starts   parts + 1 numbers; the last is num_rows
 * @param[out] nnz_starts   parts + 1 numbers, counted from row_pointers[0]; the last is nnz. No two
 *                          arrays may overlap
 *
 * Queued on the context's stream; takes no workspace, so it never allocates; capturable. Same
 * result in every run and on every backend. If nnz is not row_pointers[num_rows] - row_pointers[0],
 * the sticky GP_ERROR_DATA is set for gp_context_synchronize().
 *
 * @return GP_OK queued; GP_ERROR_DTYPE; GP_ERROR_ARGUMENT num_rows, nnz or parts out of range, or
 *         num_rows or nnz not a number of offset_dtype; GP_ERROR_POINTER; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost: one binary search per share.
 * Source: Merrill and Garland 2016, merge-based parallel sparse matrix-vector multiplication,
 * section 3.
 * @since 0.1
 */
GP_API gp_status gp_merge_path_partition(gp_context *ctx, gp_dtype offset_dtype,
                                         const void *row_pointers, size_t num_rows, size_t nnz,
                                         size_t parts, void *row_starts, void *nnz_starts);

/**
 * Split rows and non-zeros into shares of equal size: gp_merge_path_partition() with a descriptor.
 *
 * @param[in] desc offset_dtype, of row_pointers and both outputs
 *
 * All else as gp_merge_path_partition().
 *
 * @return as gp_merge_path_partition(); GP_ERROR_POINTER also desc is NULL; GP_ERROR_ARGUMENT also
 *         desc->size, or item_bytes or reserved is not 0; GP_ERROR_DTYPE also count_dtype or
 *         index_dtype is not 0
 * @since 0.1
 */
GP_API gp_status gp_merge_path_partition_by(gp_context *ctx, const gp_balance_desc *desc,
                                            const void *row_pointers, size_t num_rows, size_t nnz,
                                            size_t parts, void *row_starts, void *nnz_starts);

/**
 * Check that offsets ascend and end where they should, and wait for the answer.
 *
 * @param[in] ctx          decides where offsets lives
 * @param[in] offset_dtype GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in] offsets      num_segments + 1 offsets; never NULL
 * @param[in] num_segments at most 2^40; 0 is allowed
 * @param[in] num_items    the expected offsets[num_segments] - offsets[0]
 *
 * Synchronous: waits for the queued work as gp_context_synchronize() does; if that finds an error
 * of an earlier call, it is returned here (and cleared). Not allowed during capture. Workspace: 256
 * bytes on CUDA.
 *
 * @return GP_OK; GP_ERROR_DATA offsets[0] is negative, an offset is below the one before it, or the
 *         last one does not match: gp_last_error() names the first such index; GP_ERROR_DTYPE;
 *         GP_ERROR_ARGUMENT num_segments or num_items, or the stream is being captured;
 *         GP_ERROR_POINTER; GP_ERROR_MEMORY; GP_ERROR_CUDA.
 * @since 0.1
 */
GP_API gp_status gp_check_offsets(gp_context *ctx, gp_dtype offset_dtype, const void *offsets,
                                  size_t num_segments, size_t num_items);

/**
 * Check that offsets ascend and end where they should: gp_check_offsets() with a descriptor.
 *
 * @param[in] desc offset_dtype
 *
 * All else as gp_check_offsets(): synchronous, not allowed during capture.
 *
 * @return as gp_check_offsets(); GP_ERROR_POINTER also desc is NULL; GP_ERROR_ARGUMENT also
 *         desc->size, or item_bytes or reserved is not 0; GP_ERROR_DTYPE also count_dtype or
 *         index_dtype is not 0
 * @since 0.1
 */
GP_API gp_status gp_check_offsets_by(gp_context *ctx, const gp_balance_desc *desc,
                                     const void *offsets, size_t num_segments, size_t num_items);

#ifdef __cplusplus
}
#endif
#endif
