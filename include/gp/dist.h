/* SPDX-License-Identifier: MIT */
/**
 * @file dist.h
 * The primitives over several ranks: sort, compaction, and moving items between ranks; also those
 * of gp/dist_reduce.h (reduce, scan, top-k, group-by, histogram) and gp/dist_csr.h.
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
 * cannot be captured. Between up to 32 GPUs of one process, or ranks that share one, reductions and
 * scans of up to 2^16 items wait for the other ranks' calls alone, not for their GPUs (except in
 * contexts that validate, and of halves whose sums are kept in f32); so do sorts whose result is
 * not GP_DIST_FREE, below 1 GB on each rank and, at any size, when they are captured.
 *
 * Those calls can be captured, by all ranks at once: either into one graph, whose first stream all
 * ranks' streams have joined by events, and which is queued as any other; or, where each rank has a
 * GPU of its own, each into a graph of its own. Then all ranks queue the graphs equally often, in
 * the same order among their calls, as long as there is each gp_comm. Ranks must have made a call
 * before; the workspace is that of the same call outside. A graph sorts other keys each time, as
 * many of each rank as there were.
 *
 * A call allocates only while the workspace is smaller than its gp_dist_.._workspace_bytes(), which
 * bounds what a rank takes beside its arrays; rebalance and exchange take none. Data that passes
 * through host memory (gp_comm_create()) takes as much there, and sorts of ranks with a process for
 * each what gp_dist_sort() says.
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
#include <gp/dist_csr.h>
#include <gp/dist_reduce.h>

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
 * also 1/16 of the keys of all ranks, and the workspace of gp_radix_sort() for a quarter of what
 * this rank gets and 1/32 of all.
 *
 * @return GP_OK; as gp_radix_sort(); GP_ERROR_ARGUMENT also order, desc->size, result, reserved,
 *         counts that are missing or not wanted; GP_ERROR_CAPACITY a rank has less room than it
 *         gets, or desc->counts hold less than there is: nothing was written on any rank;
 *         GP_ERROR_UNSUPPORTED captured with GP_DIST_FREE, or where ranks share a GPU and not the
 *         graph, or by ranks that are not those of GPUs of one process
 *
 * Cost: a sort of what each rank has, one exchange of the keys, and log2(ranks) passes that merge
 * what came; besides, about a dozen small exchanges where GPUs do not read each other's memory.
 * From 2^12 keys of all ranks on (on GPUs from 1 GB on each, not captured) up to 16 ranks sort keys
 * of 4 and 8 bytes otherwise, where no 32nd part of all keys agrees in the 7 highest bits that
 * vary, and floats have values: one pass by those bits, one exchange, and a sort of what came.
 * Between GPUs of one process, or of one host with a process for each,
 * most of the exchange takes place during that sort; ranks with a process for each keep what others
 * read in memory beside the workspace: the keys that each gave, and 1/32 of all.
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

/**
 * Upper bound of the workspace that gp_dist_sort() and gp_dist_sort_pairs() take of a rank, without
 * touching a device.
 *
 * @param[in]  target      NULL: any machine
 * @param[in]  ranks       1 to GP_COMM_RANKS_MAX
 * @param[in]  dtype       of the keys
 * @param[in]  value_bytes 0: no values
 * @param[in]  n           at least the keys that this rank gives
 * @param[in]  most        at least the keys that it gets
 * @param[in]  total       at least the keys of all ranks
 * @param[out] bytes       for gp_context_reserve()
 * @return as gp_radix_sort_workspace_bytes(); GP_ERROR_ARGUMENT also ranks, most or total
 * @since 0.1
 */
GP_API gp_status gp_dist_sort_workspace_bytes(const gp_target *target, int ranks, gp_dtype dtype,
                                              size_t value_bytes, size_t n, size_t most,
                                              size_t total, size_t *bytes);

/** The same for gp_dist_argsort(). @since 0.1 */
GP_API gp_status gp_dist_argsort_workspace_bytes(const gp_target *target, int ranks, gp_dtype dtype,
                                                 gp_dtype index_dtype, size_t n, size_t most,
                                                 size_t total, size_t *bytes);

/** The same for gp_dist_compact(), of n items of a rank at most. @since 0.1 */
GP_API gp_status gp_dist_compact_workspace_bytes(const gp_target *target, int ranks,
                                                 const gp_compact_desc *desc, size_t n,
                                                 size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
