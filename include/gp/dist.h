/* SPDX-License-Identifier: MIT */
/**
 * @file dist.h
 * The primitives over several ranks: reduce, scan, sort, compaction, histogram, top-k, and moving
 * items between ranks.
 *
 * An array of ranks is a pointer and a number of items on each rank; the items of rank 0 come
 * first. The numbers may differ and be 0, with a NULL pointer then. Every rank makes each call with
 * the same types, operator and descriptor (its capacity and pointers aside), see gp/comm.h, and all
 * its arrays are memory of its own context. Results are those of the call of one rank on the whole
 * array: the same bits for integers, sorts, compaction, histograms and top-k, whatever the number
 * of ranks and the share of each. Sums and products of floats are associated by rank, so they are
 * the same in every run with the same shares.
 *
 * Calls queue on the context's stream as others do, but wait for the other ranks, and on a GPU for
 * what they have to know of the data: a call returns when its exchange of counts is over. So they
 * cannot be captured. Between GPUs of one process, reductions and scans of up to 2^16 items wait
 * for the other ranks' calls alone, not for their GPUs. The workspace grows as a call needs it.
 *
 * Statuses of every call: GP_ERROR_POINTER comm or its context is no longer there, or an array as
 * with the call of one rank; GP_ERROR_BUSY; GP_ERROR_COMM a rank failed, was late, or has ended;
 * GP_ERROR_COLLECTIVE the ranks called different functions, or with different types or descriptors;
 * those of the call of one rank; GP_ERROR_MEMORY, GP_ERROR_CUDA. If the arguments of a rank are
 * wrong, each rank returns the status of the first such rank, and gp_last_error() says which.
 */
#ifndef GP_DIST_H
#define GP_DIST_H

#include <gp/comm.h>
#include <gp/compact.h>
#include <gp/csr.h>
#include <gp/group.h>
#include <gp/reduce.h>
#include <gp/scan.h>
#include <gp/topk.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How many items of a result each rank gets; always in rank order. */
typedef enum gp_dist_result {
    /** As many as it gave; of fewer items in all, the last ranks get less. */
    GP_DIST_SAME = 0,
    /** The same number, the first ranks one more where that does not come out even. */
    GP_DIST_EVEN = 1,
    /** As it falls: a compaction leaves items where they are; a sort divides evenly, but equal keys
     * lie on one rank; a rebalance moves nothing. */
    GP_DIST_FREE = 2,
    /** As desc->counts says; of fewer items in all, the last ranks get less. */
    GP_DIST_COUNTS = 3
} gp_dist_result;

/** Where results go; start from GP_DIST_DESC_INIT. */
typedef struct gp_dist_desc {
    size_t size;           /**< sizeof(gp_dist_desc) */
    gp_dist_result result; /**< how many items each rank gets */
    int reserved;          /**< 0 */
    /** GP_DIST_COUNTS: host pointer to as many numbers as ranks, the same on each; else NULL. */
    const uint64_t *counts;
    /** Room of this rank's outputs in items; 0: as many as it gave, or as counts says. */
    uint64_t capacity;
} gp_dist_desc;

/** Initializer of gp_dist_desc: its size, and defaults. */
#define GP_DIST_DESC_INIT                                                                          \
    {                                                                                              \
        sizeof(gp_dist_desc), GP_DIST_SAME, 0, NULL, 0                                             \
    }

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
 * Sort keys over all ranks.
 *
 * The outputs of all ranks, one after the other, are the keys of all ranks in order, as
 * gp_radix_sort() defines it.
 *
 * @param[in]  comm      this rank
 * @param[in]  desc      where the result goes; NULL: each rank gets as many as it gave
 * @param[in]  dtype     of the keys, any gp_dtype
 * @param[in]  order     GP_ASCENDING or GP_DESCENDING
 * @param[in]  keys_in   n keys of this rank
 * @param[in]  n         any number, 0 too
 * @param[out] keys_out  room for desc->capacity keys; may equal keys_in
 * @param[out] out_count one uint64_t: the keys that this rank got; NULL: not wanted
 *
 * Exact for every distribution of keys: no rank gets a key more than the descriptor says, and equal
 * keys are cut between ranks by their place in the input.
 *
 * Workspace: the keys that this rank gave and those that it gets, or the workspace of
 * gp_radix_sort() in place of the second part if that is more; large sorts of keys of 4 and 8 bytes
 * also 1/32 of the keys of all ranks, and the workspace of gp_radix_sort() for a quarter of what
 * this rank gets and 1/64 of all.
 *
 * @return GP_OK; as gp_radix_sort(); GP_ERROR_ARGUMENT also order, desc->size, result, reserved,
 *         counts that are missing or not wanted; GP_ERROR_CAPACITY a rank has less room than it
 *         gets, or desc->counts hold less than there is: nothing was written on any rank
 *
 * Cost: a sort of what each rank has, about a dozen small exchanges, one exchange of the keys, and
 * log2(ranks) passes that merge what came. From 2^12 keys of all ranks on (on GPUs from 1 GB on
 * each) up to 16 ranks sort keys of 4 and 8 bytes otherwise, where no 64th part of all keys agrees
 * in the 8 highest bits that vary, and floats have values: one pass by those bits, one exchange,
 * and a sort of what came. Between GPUs of one process, or of one host with a process for each,
 * most of the exchange takes place during that sort; ranks with a process for each keep what others
 * read in memory beside the workspace: the keys that each gave, and 1/64 of all.
 * Source: exact splitting of sorted runs, as in Varman, Scheufler, Iyer and Ricard 1991; partition
 * before the exchange, as in Ilic, Tolovski and Rabl 2023.
 * @since 0.1
 */
GP_API gp_status gp_dist_sort(gp_comm *comm, const gp_dist_desc *desc, gp_dtype dtype,
                              gp_order order, const void *keys_in, size_t n, void *keys_out,
                              uint64_t *out_count);

/**
 * Sort keys over all ranks and move a value along with each.
 *
 * As gp_dist_sort() and gp_radix_sort_pairs(): stable, the order of the input being that of ranks
 * and of items in each.
 *
 * @param[in]  value_bytes 1 to 65536
 * @param[in]  values_in   n values, aligned as for gp_radix_sort_pairs()
 * @param[out] values_out  room for desc->capacity values; may equal values_in
 * @since 0.1
 */
GP_API gp_status gp_dist_sort_pairs(gp_comm *comm, const gp_dist_desc *desc, gp_dtype dtype,
                                    gp_order order, const void *keys_in, size_t value_bytes,
                                    const void *values_in, size_t n, void *keys_out,
                                    void *values_out, uint64_t *out_count);

/**
 * Find the stable order of keys over all ranks.
 *
 * The outputs of all ranks are the indices of the keys in the array of all ranks, in the order of
 * the keys; equal keys have ascending indices.
 *
 * @param[in]  index_dtype GP_U32, for less than 2^32 keys in all, or GP_U64
 * @param[out] indices_out room for desc->capacity indices; must not overlap keys_in
 *
 * All else as gp_dist_sort(), of keys with values as wide as an index.
 * @since 0.1
 */
GP_API gp_status gp_dist_argsort(gp_comm *comm, const gp_dist_desc *desc, gp_dtype dtype,
                                 gp_order order, const void *keys_in, size_t n,
                                 gp_dtype index_dtype, void *indices_out, uint64_t *out_count);

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

/**
 * A sparse matrix by blocks of rows from a coordinate list over ranks, in any order.
 *
 * Rank r gets the rows from row_first[r] to row_first[r + 1] - 1 as CSR, its rows counted from
 * row_first[r], columns as they are. Blocks have about as many entries each: none more than an even
 * share of all, and one row. Rows without entries belong to the block before.
 *
 * @param[in]  comm         this rank
 * @param[in]  desc         see gp_coo_desc; device_nnz, device_num_rows and permutation are NULL
 * @param[in]  num_rows     rows of the matrix
 * @param[in]  num_cols     columns of the matrix
 * @param[in]  rows         nnz row indices of this rank's entries, each below num_rows
 * @param[in]  cols         nnz column indices, each below num_cols
 * @param[in]  values       nnz values of desc->value_dtype; ignored if that is 0
 * @param[in]  nnz          entries of this rank's list; 0 is allowed
 * @param[out] row_first    ranks + 1 uint64_t: where blocks begin, and num_rows
 * @param[in]  row_room     of row_pointers, in rows
 * @param[out] row_pointers room for row_room + 1
 * @param[in]  room         of out_cols and out_values: for the entries before duplicates are merged
 * @param[out] out_cols     room for that many; those from *out_nnz on are unspecified
 * @param[out] out_values   the same; ignored if desc->value_dtype is 0
 * @param[out] out_nnz      one uint64_t: entries of this rank's block
 *
 * The result is that of gp_csr_from_coo() of one rank on the list of all, cut between rows; of
 * duplicates the first is that of the lowest rank. An index out of range is found as there.
 *
 * Statuses as gp_csr_from_coo(); GP_ERROR_ARGUMENT also what desc has and this call does not,
 * row_room or room; GP_ERROR_CAPACITY a rank gets more rows or entries than it has room for: the
 * outputs are then unspecified.
 *
 * Cost: a sort of the entries by row over ranks, and gp_csr_from_coo() of what each rank gets.
 * @since 0.1
 */
GP_API gp_status gp_dist_csr_from_coo(gp_comm *comm, const gp_coo_desc *desc, size_t num_rows,
                                      size_t num_cols, const void *rows, const void *cols,
                                      const void *values, size_t nnz, uint64_t *row_first,
                                      size_t row_room, void *row_pointers, size_t room,
                                      void *out_cols, void *out_values, uint64_t *out_nnz);

/** The columns that a rank's rows need of other ranks, for products. */
typedef struct gp_dist_halo gp_dist_halo;

/**
 * Prepare products of a matrix in blocks of rows with a vector that is divided among ranks.
 *
 * @param[in]  comm         this rank
 * @param[in]  desc         dtypes, as for gp_spmv_by(); device_nnz and device_num_rows are NULL.
 *                          device_alpha and device_beta are those of the products
 * @param[in]  col_first    ranks + 1 uint64_t, the same on each rank, from 0 ascending: rank r has
 *                          items col_first[r] to col_first[r + 1] - 1 of x. For square matrices
 *                          what gp_dist_csr_from_coo() wrote to row_first
 * @param[in]  num_rows     rows of this rank's block
 * @param[in]  nnz          entries of the block
 * @param[in]  row_pointers num_rows + 1; read by products as well
 * @param[in]  cols         nnz columns of the whole matrix
 * @param[out] halo         for gp_dist_halo_destroy(); NULL on error. In a group it is there after
 *                          gp_comm_group_end()
 *
 * Takes memory of the context: nnz indices, and an index and a value for each item that is sent.
 *
 * Statuses as gp_spmv_by(); GP_ERROR_POINTER also halo; GP_ERROR_DATA col_first does not ascend
 * from 0, or a column is not below its last number.
 *
 * Cost: a sort of the columns, and one exchange of those that are other ranks'.
 * @since 0.1
 */
GP_API gp_status gp_dist_halo_create(gp_comm *comm, const gp_csr_desc *desc,
                                     const uint64_t *col_first, size_t num_rows, size_t nnz,
                                     const void *row_pointers, const void *cols,
                                     gp_dist_halo **halo);

/** Free a halo, before its gp_comm; NULL does nothing. @since 0.1 */
GP_API void gp_dist_halo_destroy(gp_dist_halo *halo);

/** Items of other ranks that products need: room for them lies behind x. 0 for NULL. @since 0.1 */
GP_API uint64_t gp_dist_halo_items(const gp_dist_halo *halo);

/**
 * Sparse matrix times vector over ranks: y = alpha A x + beta y.
 *
 * @param[in]     halo   of gp_dist_halo_create(), of all ranks together
 * @param[in]     values nnz values of the block
 * @param[in]     alpha  as for gp_spmv_by()
 * @param[in,out] x      this rank's items, and behind them room for gp_dist_halo_items() more,
 *                       which the call fills
 * @param[in]     beta   as for gp_spmv_by()
 * @param[in,out] y      num_rows items; must not overlap x
 *
 * Deterministic as gp_spmv_by(). Statuses as gp_spmv_by(); GP_ERROR_POINTER also halo is NULL.
 *
 * Cost: gp_spmv_by() of the block, and one exchange of the items that other ranks need.
 * @since 0.1
 */
GP_API gp_status gp_dist_spmv(gp_dist_halo *halo, const void *values, const void *alpha, void *x,
                              const void *beta, void *y);

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
 * Keep the items of all ranks that a flag or a comparison selects, in their order.
 *
 * @param[in]  comm      this rank
 * @param[in]  dist      where the result goes; NULL: each rank has room for as many as it gave, and
 *                       the first ranks are filled
 * @param[in]  desc      see gp_compact_desc: kind ITEMS, without indices, or INDICES, whose
 *                       positions are those in the array of all ranks; device_n is NULL and
 *                       capacity 0
 * @param[in]  in        n items of this rank
 * @param[in]  keep      n flags, or NULL with a comparison
 * @param[in]  n         any number, 0 too
 * @param[out] out       room for dist->capacity items; must not overlap in
 * @param[out] out_count one uint64_t: the items that this rank got
 *
 * Statuses as gp_compact_by(); GP_ERROR_ARGUMENT also what desc has and this call does not, and as
 * gp_dist_sort() for dist; GP_ERROR_CAPACITY as there.
 *
 * Cost: gp_compact_by(), and one exchange of what changes its rank.
 * @since 0.1
 */
GP_API gp_status gp_dist_compact(gp_comm *comm, const gp_dist_desc *dist,
                                 const gp_compact_desc *desc, const void *in, const void *keep,
                                 size_t n, void *out, uint64_t *out_count);

/**
 * Divide the items of all ranks anew, in their order.
 *
 * @param[in]  comm       this rank
 * @param[in]  desc       how many each rank gets; NULL: as many as it gave
 * @param[in]  item_bytes 1 to 65536
 * @param[in]  in         n items of this rank, aligned to the largest power of two up to 16 that
 *                        divides item_bytes
 * @param[in]  n          any number, 0 too
 * @param[out] out        room for desc->capacity items; must not overlap in
 * @param[out] out_count  one uint64_t: the items that this rank got; NULL: not wanted
 *
 * @return GP_OK; as gp_dist_sort() for desc; GP_ERROR_ARGUMENT also item_bytes or n
 *
 * Cost: moves each item once.
 * @since 0.1
 */
GP_API gp_status gp_dist_rebalance(gp_comm *comm, const gp_dist_desc *desc, size_t item_bytes,
                                   const void *in, size_t n, void *out, uint64_t *out_count);

/**
 * Send given numbers of items to each rank: all to all.
 *
 * Rank r gets the next send_counts[r] items of in; what rank s sent here lies in out behind what
 * came from the ranks before s.
 *
 * @param[in]  comm        this rank
 * @param[in]  item_bytes  1 to 65536, the same on each rank
 * @param[in]  in          n items, aligned as for gp_dist_rebalance()
 * @param[in]  n           the sum of send_counts
 * @param[in]  send_counts as many uint64_t as ranks, in the context's memory
 * @param[out] out         room for capacity items; must not overlap in
 * @param[in]  capacity    of out, in items
 * @param[out] recv_counts as many uint64_t as ranks: how many came from each; NULL: not wanted
 *
 * @return GP_OK; GP_ERROR_ARGUMENT item_bytes, n or capacity; GP_ERROR_DATA the counts of a rank do
 *         not add up to its n; GP_ERROR_OVERLAP; GP_ERROR_CAPACITY a rank gets more than it has
 *         room for: nothing was written on any rank
 *
 * Cost: moves each item once; one exchange of the counts.
 * @since 0.1
 */
GP_API gp_status gp_dist_exchange(gp_comm *comm, size_t item_bytes, const void *in, size_t n,
                                  const uint64_t *send_counts, void *out, size_t capacity,
                                  uint64_t *recv_counts);

#ifdef __cplusplus
}
#endif
#endif
