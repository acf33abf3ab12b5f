/* SPDX-License-Identifier: MIT */
/**
 * @file compact.h
 * Stream compaction: keep the items that a flag or a comparison selects, in their order; and
 * partition, which keeps the others too.
 */
#ifndef GP_COMPACT_H
#define GP_COMPACT_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Comparisons of an item with a constant, item < value for GP_LT and so on, or with two.
 *
 * Floats follow gp's order (-inf .. -0 = +0 .. +inf < NaN): zeros are equal, every NaN is equal to
 * every other NaN and greater than all else.
 */
typedef enum gp_compare {
    GP_EQ = 1,      /**< item == value */
    GP_NE = 2,      /**< item != value */
    GP_LT = 3,      /**< item < value */
    GP_LE = 4,      /**< item <= value */
    GP_GT = 5,      /**< item > value */
    GP_GE = 6,      /**< item >= value */
    GP_BETWEEN = 7, /**< value <= item <= upper: none if upper < value */
    GP_OUTSIDE = 8  /**< item < value or item > upper: all if upper < value */
} gp_compare;

/** How an array holds n flags. */
typedef enum gp_flags {
    GP_FLAGS_BYTES = 0, /**< n bytes. Read: zero is no, any other value yes; written: 0 or 1 */
    /** ceil(n / 32) uint32_t: flag i is bit i % 32, counted from the least significant one, of word
     * i / 32. Bits from n on are not read, and written as 0. */
    GP_FLAGS_BITS = 1
} gp_flags;

/** What a compaction writes. */
typedef enum gp_compact_kind {
    GP_COMPACT_ITEMS = 1,   /**< the kept items, and their positions to indices if it is given */
    GP_COMPACT_INDICES = 2, /**< the positions of the kept items in the input, ascending */
    /** kept items, then the others, both in input order: n items; or the others to rest */
    GP_COMPACT_PARTITION = 3,
    GP_COMPACT_FLAGS = 4 /**< n flags: which items a comparison selects */
} gp_compact_kind;

/** The full form of a compaction; start from GP_COMPACT_DESC_INIT. */
typedef struct gp_compact_desc {
    size_t size;          /**< sizeof(gp_compact_desc) */
    gp_compact_kind kind; /**< what goes to out */
    /** 1 to 65536; with a comparison 0 or the size of dtype; not used by INDICES. */
    size_t item_bytes;
    gp_compare compare;   /**< 0: by the flags in keep */
    gp_dtype dtype;       /**< of the items, with a comparison */
    const void *value;    /**< with a comparison: host pointer to one dtype, read during the call */
    gp_dtype index_dtype; /**< of INDICES and indices: GP_U32 (n at most 2^32) or GP_U64 */
    gp_algorithm algorithm; /**< GP_ALGORITHM_AUTO; to compare also LOOKAHEAD and CUB */
    uint64_t capacity; /**< room of out in outputs; 0: n. FLAGS, and PARTITION without rest, always
                        * need room for n */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
    const void *upper; /**< GP_BETWEEN and GP_OUTSIDE: as value; otherwise NULL */
    gp_flags flags;    /**< how keep, or the output of FLAGS, holds its flags */
    int reserved;      /**< 0 */
    void *indices;     /**< ITEMS: NULL, or the positions of the kept items, as many as items;
                        * otherwise NULL */
    void *rest;        /**< PARTITION: NULL, or what gets the others in their order, so that out has
                        * the kept ones alone; otherwise NULL */
    void *above; /**< with rest and GP_BETWEEN: NULL, or what gets the items above upper, so that
                  * rest has those below value alone; otherwise NULL */
    uint64_t rest_capacity;  /**< room of rest in items; 0: n */
    uint64_t above_capacity; /**< room of above in items; 0: n */
} gp_compact_desc;

/** Initializer of gp_compact_desc: its size, and defaults. */
#define GP_COMPACT_DESC_INIT                                                                       \
    {                                                                                              \
        sizeof(gp_compact_desc), GP_COMPACT_ITEMS, 0, (gp_compare)0, (gp_dtype)0, NULL,            \
            (gp_dtype)0, GP_ALGORITHM_AUTO, 0, NULL, NULL, GP_FLAGS_BYTES, 0, NULL, NULL, NULL, 0, \
            0                                                                                      \
    }

/**
 * Keep the items whose flag is set.
 *
 * out[j] = in[i] for the j-th i in [0, n) with keep[i] != 0; *out_count = how many there are.
 *
 * The call gp_compact_by() with kind ITEMS; memory, order, errors and cost are described there.
 * @param[in]  item_bytes size of an item, 1 to 65536
 * @param[in]  in         n items
 * @param[in]  keep       n bytes: zero drops, any other value keeps
 * @param[out] out        room for n items; may equal in
 * @param[out] out_count  one uint64_t
 * @since 0.1
 */
GP_API gp_status gp_compact(gp_context *ctx, size_t item_bytes, const void *in, const uint8_t *keep,
                            size_t n, void *out, uint64_t *out_count);

/**
 * Keep the items that compare with a constant.
 *
 * out[j] = in[i] for the j-th i in [0, n) with (in[i] compare *value);
 * *out_count = how many there are.
 *
 * The call gp_compact_by() with kind ITEMS and a comparison, one with a single value.
 * @param[in]  value     host pointer to one dtype, read during the call
 * @param[in]  in        n items of dtype
 * @param[out] out       room for n items; may equal in
 * @param[out] out_count one uint64_t
 * @since 0.1
 */
GP_API gp_status gp_compact_if(gp_context *ctx, gp_dtype dtype, gp_compare compare,
                               const void *value, const void *in, size_t n, void *out,
                               uint64_t *out_count);

/**
 * Positions of the set flags, ascending.
 *
 * out[j] = the j-th i in [0, n) with keep[i] != 0; *out_count = how many there are.
 *
 * The call gp_compact_by() with kind INDICES.
 * @param[in]  index_dtype GP_U32 (n at most 2^32) or GP_U64
 * @param[in]  keep        n bytes: zero drops, any other value keeps
 * @param[out] out         room for n indices
 * @param[out] out_count   one uint64_t
 * @since 0.1
 */
GP_API gp_status gp_compact_indices(gp_context *ctx, gp_dtype index_dtype, const uint8_t *keep,
                                    size_t n, void *out, uint64_t *out_count);

/**
 * Move the items whose flag is set before the others; both keep their input order.
 *
 * The call gp_compact_by() with kind PARTITION.
 * @param[in]  item_bytes size of an item, 1 to 65536
 * @param[in]  in         n items
 * @param[in]  keep       n bytes: zero puts an item into the back part, any other value into the
 *                        front part
 * @param[out] out        n items; must not overlap in
 * @param[out] out_count  one uint64_t: the items in front, where the others begin
 * @since 0.1
 */
GP_API gp_status gp_partition(gp_context *ctx, size_t item_bytes, const void *in,
                              const uint8_t *keep, size_t n, void *out, uint64_t *out_count);

/**
 * Move the items whose flag is set to one array and the others to another; both keep their order.
 *
 * The call gp_compact_by() with kind PARTITION and rest. The array is read once.
 * @param[in]  item_bytes size of an item, 1 to 65536
 * @param[in]  in         n items
 * @param[in]  keep       n bytes: zero puts an item into back, any other value into front
 * @param[out] front      room for n items; may equal in
 * @param[out] back       room for n items
 * @param[out] out_counts two uint64_t: the items in front, and those in back
 * @since 0.1
 */
GP_API gp_status gp_partition_into(gp_context *ctx, size_t item_bytes, const void *in,
                                   const uint8_t *keep, size_t n, void *front, void *back,
                                   uint64_t *out_counts);

/**
 * Move the items inside a range, those below it and those above it to arrays of their own; all keep
 * their order.
 *
 * Inside are those with *value <= item <= *upper, below those with item < *value, above all others.
 *
 * The call gp_compact_by() with kind PARTITION, GP_BETWEEN, rest and above. The array is read once.
 * @param[in]  value      host pointer to one dtype, read during the call
 * @param[in]  upper      host pointer to one dtype, read during the call
 * @param[in]  in         n items of dtype
 * @param[out] inside     room for n items; may equal in
 * @param[out] below      room for n items
 * @param[out] above      room for n items
 * @param[out] out_counts three uint64_t: the items inside, below and above
 * @since 0.1
 */
GP_API gp_status gp_partition_range(gp_context *ctx, gp_dtype dtype, const void *value,
                                    const void *upper, const void *in, size_t n, void *inside,
                                    void *below, void *above, uint64_t *out_counts);

/**
 * Compact as the descriptor says.
 *
 * @param[in]  ctx       decides where all data pointers live
 * @param[in]  desc      see gp_compact_desc
 * @param[in]  in        n items, aligned to the largest power of two up to 16 that divides their
 *                       size; not used, and may be NULL, for INDICES by flags or if n == 0
 * @param[in]  keep      n flags as desc->flags says, bits aligned to 4 bytes;
 *                       NULL with a comparison or if n == 0
 * @param[in]  n         items, or the bound of *desc->device_n (a larger value there counts as n);
 *                       0 is allowed and writes counts of 0
 * @param[out] out       room for desc->capacity outputs (0: n), aligned as in; of FLAGS, as keep.
 *                       May equal in for ITEMS, and for PARTITION with rest; otherwise it overlaps
 *                       no other array, nor do the arrays that desc names
 * @param[out] out_count one uint64_t that overlaps no other array: how many items the flags or the
 *                       comparison select, even if the capacity is smaller; with rest two: those,
 *                       and the others; with above three: those inside, below, and above
 *
 * If a result is longer than its capacity, the first outputs that fit are written and the
 * sticky GP_ERROR_CAPACITY is set, which gp_context_synchronize() returns. Nothing past a result
 * is written.
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_compact_workspace_bytes(); capturable. Stable; same result in every run. n is at most 2^40.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc, desc->value, desc->upper, in, keep, out,
 *         out_count or an array of desc NULL, misaligned or in the wrong memory, or given where it
 *         has to be NULL; GP_ERROR_ARGUMENT desc->size, kind, item_bytes, compare (0 with FLAGS),
 *         algorithm, capacity, flags, reserved, the capacity of rest or above without its array, or
 *         n too large; GP_ERROR_DTYPE unknown dtype, or an index dtype other than GP_U32 and
 *         GP_U64; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED the algorithm is not available here
 *         (GP_ALGORITHM_CUB: CUDA, ITEMS of 1, 2, 4, 8 or 16 bytes, in and out different, flags in
 *         bytes, no capacity, no device_n, no indices); GP_ERROR_MEMORY, GP_ERROR_WORKSPACE
 *         (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost on a GPU: one kernel launch; reads items and flags once and writes the result once, also in
 * place. PARTITION without rest counts first, in a launch of its own that reads the flags (or
 * compared items) once more, unless all that it reads fits into the multiprocessors at once.
 * Source: the single pass of Merrill and Garland 2016 with look-ahead, see docs/design/tiles.md.
 * @since 0.1
 */
GP_API gp_status gp_compact_by(gp_context *ctx, const gp_compact_desc *desc, const void *in,
                               const void *keep, size_t n, void *out, uint64_t *out_count);

/**
 * Upper bound of the workspace that gp_compact_by() takes, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for gp_compact_by(); its pointers are not followed. The figure of PARTITION
 *                    is for any number of outputs
 * @param[in]  n      items
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT, GP_ERROR_DTYPE as
 *         gp_compact_by(), GP_ERROR_ARGUMENT also target; GP_ERROR_UNSUPPORTED target->backend does
 *         not have the algorithm, or none does
 * @since 0.1
 */
GP_API gp_status gp_compact_workspace_bytes(const gp_target *target, const gp_compact_desc *desc,
                                            size_t n, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
