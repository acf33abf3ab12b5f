/* SPDX-License-Identifier: MIT */
/**
 * @file group.h
 * What comes after a sort: runs of equal keys (unique keys, lengths, a reduction of each), and
 * groups of keys in any order.
 *
 * A run is a longest range of neighbouring items with equal keys. Sorted keys have one run for each
 * key. Keys need not be sorted: equal keys with another one between them are two runs.
 *
 * Keys of a dtype are equal if they are in gp's order: -0 equals +0, and every NaN equals every
 * other NaN. With a key_dtype of 0 keys are key_bytes bytes that are equal if all of them are.
 * Either way the result has the bits of the first key of a run.
 *
 * Of a result that is longer than the capacity the first runs are written, and nothing past them.
 * The count is that of all runs, and the sticky GP_ERROR_CAPACITY is set, which
 * gp_context_synchronize() returns.
 */
#ifndef GP_GROUP_H
#define GP_GROUP_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Keys, and what is wanted of their runs; start from GP_UNIQUE_DESC_INIT. */
typedef struct gp_unique_desc {
    size_t size;          /**< sizeof(gp_unique_desc) */
    gp_dtype key_dtype;   /**< 0: keys are bytes */
    gp_dtype index_dtype; /**< of heads: GP_U32 (n below 2^32) or GP_U64; 0 without heads */
    size_t key_bytes;     /**< 1 to 65536; with a key_dtype 0 or its size */
    size_t value_bytes;   /**< 1 to 65536; 0 without values */
    uint64_t capacity;    /**< room of each output in runs; 0: n */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_unique_desc;

/** Initializer of gp_unique_desc: its size, and defaults. */
#define GP_UNIQUE_DESC_INIT                                                                        \
    {                                                                                              \
        sizeof(gp_unique_desc), (gp_dtype)0, (gp_dtype)0, 0, 0, 0, NULL                            \
    }

/** The full form of a run-length encoding; start from GP_RUN_LENGTH_DESC_INIT. */
typedef struct gp_run_length_desc {
    size_t size;          /**< sizeof(gp_run_length_desc) */
    gp_dtype key_dtype;   /**< 0: keys are bytes */
    gp_dtype index_dtype; /**< of offsets and lengths: GP_U32 (n below 2^32) or GP_U64 */
    size_t key_bytes;     /**< 1 to 65536; with a key_dtype 0 or its size */
    uint64_t capacity;    /**< room of each output in runs; 0: n */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
    int longer;   /**< not 0: only runs of two items and more */
    int reserved; /**< 0 */
} gp_run_length_desc;

/** Initializer of gp_run_length_desc: its size, and defaults. */
#define GP_RUN_LENGTH_DESC_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_run_length_desc), (gp_dtype)0, (gp_dtype)0, 0, 0, NULL, 0, 0                     \
    }

/** A reduction of each run; start from GP_REDUCE_BY_KEY_DESC_INIT. */
typedef struct gp_reduce_by_key_desc {
    size_t size;        /**< sizeof(gp_reduce_by_key_desc) */
    gp_dtype key_dtype; /**< 0: keys are bytes */
    gp_op op;           /**< associative */
    gp_dtype in_dtype;  /**< of the values */
    gp_dtype out_dtype; /**< of the results; 0: as in_dtype. Pairs as of gp_reduce_by() */
    size_t key_bytes;   /**< 1 to 65536; with a key_dtype 0 or its size */
    uint64_t capacity;  /**< room of each output in runs; 0: n */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_reduce_by_key_desc;

/** Initializer of gp_reduce_by_key_desc: its size, and defaults. */
#define GP_REDUCE_BY_KEY_DESC_INIT                                                                 \
    {                                                                                              \
        sizeof(gp_reduce_by_key_desc), (gp_dtype)0, GP_SUM, (gp_dtype)0, (gp_dtype)0, 0, 0, NULL   \
    }

/** What an output of gp_group_by() has of each group. */
typedef enum gp_aggregate_kind {
    GP_AGGREGATE_COUNT = 1,  /**< how many items; out_dtype GP_U32 (n below 2^32) or GP_U64 */
    GP_AGGREGATE_REDUCE = 2, /**< value op value op .., in input order */
    GP_AGGREGATE_FIRST = 3,  /**< the value that comes first in the input */
    GP_AGGREGATE_LAST = 4    /**< the value that comes last in the input */
} gp_aggregate_kind;

/** One output of gp_group_by(); start from GP_AGGREGATE_INIT. */
typedef struct gp_aggregate {
    size_t size;            /**< sizeof(gp_aggregate), of all that are in one array */
    gp_aggregate_kind kind; /**< which of the members below count */
    gp_op op;               /**< of REDUCE: sum, min, max or any other */
    gp_dtype in_dtype;      /**< of REDUCE: of the values */
    gp_dtype out_dtype;     /**< of COUNT; of REDUCE, 0: as in_dtype */
    size_t value_bytes;     /**< of FIRST and LAST: 1 to 65536 */
    const void *values;     /**< n values, beside the keys; not of COUNT */
    void *out;              /**< room for the capacity */
} gp_aggregate;

/** Initializer of gp_aggregate: its size, and defaults. */
#define GP_AGGREGATE_INIT                                                                          \
    {                                                                                              \
        sizeof(gp_aggregate), GP_AGGREGATE_REDUCE, GP_SUM, (gp_dtype)0, (gp_dtype)0, 0, NULL, NULL \
    }

/** Most aggregates of one call. */
#define GP_AGGREGATES_MAX 32

/** Groups and what is wanted of them; start from GP_GROUP_BY_DESC_INIT. */
typedef struct gp_group_by_desc {
    size_t size;                    /**< sizeof(gp_group_by_desc) */
    gp_dtype key_dtype;             /**< of the keys */
    int reserved;                   /**< 0 */
    size_t num_aggregates;          /**< at most GP_AGGREGATES_MAX; may be 0 */
    const gp_aggregate *aggregates; /**< host memory, read during the call */
    uint64_t capacity;              /**< room of each output in groups; 0: n */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_group_by_desc;

/** Initializer of gp_group_by_desc: its size, and defaults. */
#define GP_GROUP_BY_DESC_INIT                                                                      \
    {                                                                                              \
        sizeof(gp_group_by_desc), (gp_dtype)0, 0, 0, NULL, 0, NULL                                 \
    }

/**
 * Keep the first key of each run.
 *
 * keys_out[j] = the first key of run j; *out_count = how many runs there are.
 *
 * The call gp_unique_by() without values and heads; memory, errors and cost are described there.
 * @param[in]  key_dtype of the keys
 * @param[in]  keys      n keys
 * @param[out] keys_out  room for n keys
 * @param[out] out_count one uint64_t
 * @since 0.1
 */
GP_API gp_status gp_unique(gp_context *ctx, gp_dtype key_dtype, const void *keys, size_t n,
                           void *keys_out, uint64_t *out_count);

/**
 * Keep the first key, or the first value, or the position of each run, as the descriptor says.
 *
 * With h the first item of run j: keys_out[j] = keys[h], values_out[j] = values[h], heads[j] = h;
 * *out_count = how many runs there are.
 *
 * @param[in]  ctx        decides where all pointers below live
 * @param[in]  desc       see gp_unique_desc
 * @param[in]  keys       n keys, aligned to the largest power of two up to 16 that divides their
 *                        size; NULL if n == 0
 * @param[in]  values     n values, aligned likewise; NULL without values or if n == 0
 * @param[in]  n          items, or the bound of *desc->device_n (a larger value there counts as n);
 *                        0 is allowed and writes *out_count = 0; at most 2^40
 * @param[out] keys_out   room for desc->capacity keys, or NULL
 * @param[out] values_out room for as many values; NULL without values
 * @param[out] heads      room for as many positions, aligned to their size, or NULL
 * @param[out] out_count  one uint64_t
 *
 * No output may overlap another array. Queued on the context's stream; allocates only while the
 * workspace is smaller than gp_unique_workspace_bytes(); capturable. Runs stay in their order; the
 * same result in every run and on each backend.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc, keys, values, values_out or out_count NULL, an
 *         array misaligned or in the wrong memory; GP_ERROR_ARGUMENT desc->size, key_bytes,
 *         value_bytes, or n too large; GP_ERROR_DTYPE unknown key_dtype, or an index_dtype other
 *         than the two that there are; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED this build has no
 *         code for the device; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these);
 *         GP_ERROR_CUDA outputs unspecified.
 *
 * Cost on a GPU: one kernel launch; reads the keys once and writes the result once. Of values only
 * the lines that hold a first one are read. Keys of other sizes than 1, 2, 4 and 8 bytes are read
 * twice, in two launches; values beside them take a third.
 * Source: the single pass of Merrill and Garland 2016 with look-ahead, see docs/design/tiles.md.
 * @since 0.1
 */
GP_API gp_status gp_unique_by(gp_context *ctx, const gp_unique_desc *desc, const void *keys,
                              const void *values, size_t n, void *keys_out, void *values_out,
                              void *heads, uint64_t *out_count);

/**
 * Encode runs by key and length.
 *
 * keys_out[j] = the key of run j, lengths[j] = its number of items; *out_count = how many runs
 * there are.
 *
 * The call gp_run_length_encode_by() without offsets and with all runs; see there.
 * @param[in]  key_dtype   of the keys
 * @param[in]  keys        n keys
 * @param[in]  index_dtype GP_U32 (n below 2^32) or GP_U64
 * @param[out] keys_out    room for n keys
 * @param[out] lengths     room for n lengths
 * @param[out] out_count   one uint64_t
 * @since 0.1
 */
GP_API gp_status gp_run_length_encode(gp_context *ctx, gp_dtype key_dtype, const void *keys,
                                      size_t n, gp_dtype index_dtype, void *keys_out, void *lengths,
                                      uint64_t *out_count);

/**
 * Encode runs by key, length and offset, as the descriptor says.
 *
 * keys_out[j] = the first key of run j, offsets[j] = the position of its first item, lengths[j] =
 * its number of items; *out_count = how many runs there are, if desc->longer of two items and more.
 *
 * @param[in]  ctx       decides where all pointers below live
 * @param[in]  desc      see gp_run_length_desc
 * @param[in]  keys      n keys, aligned as for gp_unique_by(); NULL if n == 0
 * @param[in]  n         items, or the bound of *desc->device_n (a larger value there counts as n);
 *                       0 is allowed and writes *out_count = 0; at most 2^40
 * @param[out] keys_out  room for desc->capacity keys, or NULL
 * @param[out] offsets   room for as many positions, aligned to their size, or NULL
 * @param[out] lengths   room for as many lengths, aligned to their size, or NULL
 * @param[out] out_count one uint64_t
 *
 * No output may overlap another array. Queued on the context's stream; allocates only while the
 * workspace is smaller than gp_run_length_encode_workspace_bytes(); capturable. Runs stay in their
 * order; the same result in every run and on each backend.
 *
 * @return as gp_unique_by(), for the members and parameters that there are; GP_ERROR_ARGUMENT also
 *         for desc->reserved
 *
 * Cost on a GPU: one kernel launch; reads the keys once and writes the result once. Keys of other
 * sizes than 1, 2, 4 and 8 bytes are read twice, in two launches.
 * @since 0.1
 */
GP_API gp_status gp_run_length_encode_by(gp_context *ctx, const gp_run_length_desc *desc,
                                         const void *keys, size_t n, void *keys_out, void *offsets,
                                         void *lengths, uint64_t *out_count);

/**
 * Reduce the values of each run of keys to one.
 *
 * keys_out[j] = the first key of run j, values_out[j] = the values of its items, in their order,
 * with op between them; *out_count = how many runs there are.
 *
 * @param[in]  ctx        decides where all pointers below live
 * @param[in]  desc       see gp_reduce_by_key_desc
 * @param[in]  keys       n keys, aligned as for gp_unique_by(); NULL if n == 0
 * @param[in]  values     n items (of gp_op_scalars(op) scalars each), aligned to the scalar; NULL
 *                        if n == 0
 * @param[in]  n          items, or the bound of *desc->device_n (a larger value there counts as n);
 *                        0 is allowed and writes *out_count = 0; at most 2^40
 * @param[out] keys_out   room for desc->capacity keys, or NULL
 * @param[out] values_out room for as many results, aligned to the scalar
 * @param[out] out_count  one uint64_t
 *
 * No output may overlap another array. Queued on the context's stream; allocates only while the
 * workspace is smaller than gp_reduce_by_key_workspace_bytes(); capturable.
 *
 * Deterministic: the same bits in every run, on the CPU with any number of threads and instruction
 * set. The association of float operations depends on where runs begin, and on n, dtypes, operator
 * and the tuning row. The order of the items is kept for operators that do not commute.
 *
 * @return as gp_unique_by(), for the members and parameters that there are; GP_ERROR_DTYPE also
 *         unknown dtype or pair of them; GP_ERROR_OP as gp_reduce_by()
 *
 * Cost on a GPU: two kernel launches; reads keys and values once, writes the result once, and
 * writes and reads one bit per item. Keys of other sizes than 1, 2, 4 and 8 bytes are read twice,
 * in a launch more.
 * Source: as gp_unique_by(), with the operator of segmented scans, Blelloch 1990.
 * @since 0.1
 */
GP_API gp_status gp_reduce_by_key(gp_context *ctx, const gp_reduce_by_key_desc *desc,
                                  const void *keys, const void *values, size_t n, void *keys_out,
                                  void *values_out, uint64_t *out_count);

/**
 * Group items by keys that are in any order, and aggregate the values of each group.
 *
 * keys_out has each key once, ascending in gp's order, with the bits of the first one in the input;
 * desc->aggregates[k].out[j] is that aggregate of the items whose key equals keys_out[j];
 * *out_count = how many groups there are.
 *
 * @param[in]  ctx       decides where all arrays below, and those of the aggregates, live
 * @param[in]  desc      see gp_group_by_desc and gp_aggregate. Values that are reduced are aligned
 *                       to their scalar, others and their outputs to the largest power of two up to
 *                       16 that divides their size
 * @param[in]  keys      n keys, aligned to the key; NULL if n == 0
 * @param[in]  n         items, or the bound of *desc->device_n (a larger value there counts as n);
 *                       0 is allowed and writes *out_count = 0; at most 2^40
 * @param[out] keys_out  room for desc->capacity keys, or NULL
 * @param[out] out_count one uint64_t
 *
 * No output may overlap another array; several aggregates may have the same values. Queued on the
 * context's stream; allocates only while the workspace is smaller than
 * gp_group_by_workspace_bytes(); capturable.
 *
 * The items of a group are taken in input order; but on CUDA by sums, minima and maxima of 2^27
 * items and more in an order that depends on where they lie. Deterministic as gp_reduce_by_key().
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc, desc->aggregates, an array NULL, misaligned or
 *         in the wrong memory; GP_ERROR_ARGUMENT desc->size, reserved, num_aggregates, the size or
 *         kind of an aggregate, value_bytes, or n too large; GP_ERROR_DTYPE, GP_ERROR_OP as
 *         gp_reduce_by_key(); GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED this build has no code for the
 *         device; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA
 *         outputs unspecified.
 *
 * Cost: a stable sort and gp_reduce_by_key(). With one array of values they are sorted with the
 * keys; with several, positions are, and each array is gathered by them. On CUDA, from 2^27 items
 * to 2^32, up to four counts, sums, minima and maxima that share an array of values of 4 or 8 bytes
 * take the partitions of the sort and one more read each, if the keys have 4 or 8 bytes, too, and
 * are spread evenly over few groups: 2^20 of 2^28 items. Where they are not this costs 10 to 40 us.
 * @since 0.1
 */
GP_API gp_status gp_group_by(gp_context *ctx, const gp_group_by_desc *desc, const void *keys,
                             size_t n, void *keys_out, uint64_t *out_count);

/**
 * Upper bound of the workspace that gp_unique_by() takes, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for the call; pointers in it are ignored
 * @param[in]  n      items
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT target, or as the call;
 *         GP_ERROR_DTYPE, GP_ERROR_OP as the call
 * @since 0.1
 */
GP_API gp_status gp_unique_workspace_bytes(const gp_target *target, const gp_unique_desc *desc,
                                           size_t n, size_t *bytes);

/** The same of gp_run_length_encode_by(). @since 0.1 */
GP_API gp_status gp_run_length_encode_workspace_bytes(const gp_target *target,
                                                      const gp_run_length_desc *desc, size_t n,
                                                      size_t *bytes);

/** The same of gp_reduce_by_key(). @since 0.1 */
GP_API gp_status gp_reduce_by_key_workspace_bytes(const gp_target *target,
                                                  const gp_reduce_by_key_desc *desc, size_t n,
                                                  size_t *bytes);

/** The same of gp_group_by(); pointers in the aggregates are ignored, too. @since 0.1 */
GP_API gp_status gp_group_by_workspace_bytes(const gp_target *target, const gp_group_by_desc *desc,
                                             size_t n, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
