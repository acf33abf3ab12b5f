/* SPDX-License-Identifier: MIT */
/**
 * @file lexsort.h
 * Stable sorts by more than one number: of (row, column) index pairs, by row and then by column; of
 * items by up to eight parts of a key; of records by their fields.
 *
 * Rows and columns are unsigned numbers, or signed ones that are not negative. Sorts of fewer bits
 * are faster: row_bits and col_bits of the options limit them. If an index exceeds these bits the
 * outputs are unspecified, but nothing outside the arrays is touched. A context that validates
 * (core.h) refuses indices that are negative or exceed their bits.
 */
#ifndef GP_LEXSORT_H
#define GP_LEXSORT_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Most parts of a key, and most fields that records are sorted by. */
#define GP_KEY_PARTS_MAX 8

/** Options of a lexicographic sort; start from GP_LEXSORT_OPTIONS_INIT. */
typedef struct gp_lexsort_options {
    size_t size;    /**< sizeof(gp_lexsort_options) */
    gp_order order; /**< of rows and columns alike */
    int row_bits;   /**< rows are below 2^row_bits; 0: any */
    int col_bits;   /**< columns are below 2^col_bits; 0: any */
    int reserved;   /**< ignored: formerly padding */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in an output; NULL: n. */
    const uint64_t *device_n;
} gp_lexsort_options;

/** Initializer of gp_lexsort_options: its size, and defaults. */
#define GP_LEXSORT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_lexsort_options), GP_ASCENDING, 0, 0, 0, NULL                                    \
    }

/**
 * Find the stable lexicographic order of pairs without moving them.
 *
 * (rows[indices_out[0]], cols[indices_out[0]]), (rows[indices_out[1]], ..), .. ascends by row, and
 * by column where rows are equal; equal pairs have ascending indices. gp_gather() then moves items
 * of any size that belong to the pairs.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  pair_dtype  of rows and columns: GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  rows        n row indices; NULL if n == 0
 * @param[in]  cols        n column indices
 * @param[in]  n           pairs, or the bound of *options->device_n; 0 is allowed and does nothing;
 *                         at most 2^40, and less than 2^32 with GP_U32 indices
 * @param[in]  index_dtype GP_U32 or GP_U64
 * @param[out] indices_out n indices; overlaps neither input
 * @param[in]  options     NULL: ascending, all bits
 *
 * Workspace: gp_lexsort_workspace_bytes(), contents lost. Queued on the context's stream; allocates
 * only while the workspace is smaller; capturable. Same result in every run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_DTYPE pair_dtype or index_dtype; GP_ERROR_POINTER ctx or an array
 *         is NULL, misaligned or in the wrong memory; GP_ERROR_ARGUMENT n, or options->size, order,
 *         row_bits or col_bits; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA indices_out unspecified.
 *
 * Cost: a radix sort of the pairs as one key of row_bits + col_bits bits; above 64 bits as
 * gp_lexsort_by() of two parts.
 * @since 0.1
 */
GP_API gp_status gp_lexsort(gp_context *ctx, gp_dtype pair_dtype, const void *rows,
                            const void *cols, size_t n, gp_dtype index_dtype, void *indices_out,
                            const gp_lexsort_options *options);

/**
 * Sort pairs lexicographically, and move a value along with each.
 *
 * (rows_out[i], cols_out[i]) ascend by row, and by column where rows are equal; values_out[i] is
 * the value that stood beside them. Stable: equal pairs stay in input order, in both directions.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  pair_dtype  of rows and columns: GP_U32, GP_I32, GP_U64 or GP_I64
 * @param[in]  rows_in     n row indices; NULL if n == 0
 * @param[in]  cols_in     n column indices
 * @param[in]  value_bytes 0 to 65536; 0: no values, values_in and values_out are ignored
 * @param[in]  values_in   n values, aligned to the largest power of two, up to 16,
 *                         that divides value_bytes
 * @param[in]  n           pairs, or the bound of *options->device_n; 0 is allowed and does nothing;
 *                         at most 2^40
 * @param[out] rows_out    n row indices; may equal rows_in
 * @param[out] cols_out    n column indices; may equal cols_in
 * @param[out] values_out  n values; may equal values_in. No output may overlap any other array
 *                         in another way
 * @param[in]  options     NULL: ascending, all bits
 *
 * Workspace: gp_lexsort_workspace_bytes() with this value_bytes, contents lost. Queued on the
 * context's stream; allocates only while the workspace is smaller; capturable. Same result in every
 * run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_DTYPE pair_dtype; GP_ERROR_POINTER ctx or an array is NULL,
 *         misaligned or in the wrong memory; GP_ERROR_ARGUMENT value_bytes, n, or options->size,
 *         order, row_bits or col_bits; GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost as gp_lexsort(), and a gather of what does not move with the key.
 * @since 0.1
 */
GP_API gp_status gp_lexsort_pairs(gp_context *ctx, gp_dtype pair_dtype, const void *rows_in,
                                  const void *cols_in, size_t value_bytes, const void *values_in,
                                  size_t n, void *rows_out, void *cols_out, void *values_out,
                                  const gp_lexsort_options *options);

/**
 * Upper bound of the workspace of both calls, without touching a device.
 *
 * @param[in]  target      NULL: any machine
 * @param[in]  pair_dtype  of rows and columns
 * @param[in]  value_bytes of gp_lexsort_pairs(); 0 for gp_lexsort()
 * @param[in]  n           largest n to come
 * @param[in]  options     as for the sort
 * @param[out] bytes       for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER bytes is NULL; GP_ERROR_ARGUMENT target, value_bytes,
 *         n or options; GP_ERROR_DTYPE
 * @since 0.1
 */
GP_API gp_status gp_lexsort_workspace_bytes(const gp_target *target, gp_dtype pair_dtype,
                                            size_t value_bytes, size_t n,
                                            const gp_lexsort_options *options, size_t *bytes);

/** A part of the keys of gp_lexsort_by(): one number of each item. */
typedef struct gp_key_part {
    const void *data; /**< that of item 0; any alignment */
    size_t stride;    /**< bytes from one item's to the next one's, at least those of dtype */
    gp_dtype dtype;   /**< of the numbers, any gp_dtype */
    gp_order order;   /**< of this part */
} gp_key_part;

/** The full form of a sort by parts; start from GP_LEXSORT_DESC_INIT. */
typedef struct gp_lexsort_desc {
    size_t size;          /**< sizeof(gp_lexsort_desc) */
    gp_dtype index_dtype; /**< of the indices: GP_U32 or GP_U64 */
    int num_parts;        /**< 1 to GP_KEY_PARTS_MAX */
    /** The first one decides; the next one where it is equal; and so on. Those from num_parts on
     * are ignored. */
    gp_key_part parts[GP_KEY_PARTS_MAX];
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in the output; NULL: n. */
    const uint64_t *device_n;
} gp_lexsort_desc;

/** Initializer of gp_lexsort_desc: its size, and defaults. */
#define GP_LEXSORT_DESC_INIT                                                                       \
    {                                                                                              \
        sizeof(gp_lexsort_desc), (gp_dtype)0, 0, {{NULL, 0, (gp_dtype)0, GP_ASCENDING}}, NULL      \
    }

/**
 * Find the stable order of items by keys of several parts, without moving them.
 *
 * With i = indices_out[k] and j = indices_out[k + 1], the parts of item i are not behind those of
 * item j: in the first part in which they differ, i comes first in the order of that part. Items
 * that agree in all parts have ascending indices. Numbers compare as in gp_radix_sort(): integers
 * by value, floats -inf .. -0 = +0 .. +inf < NaN; GP_DESCENDING is the exact reverse. gp_gather()
 * then moves what belongs to the items.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  desc        see gp_lexsort_desc. Part p of item i is the number at
 *                         (const char *)parts[p].data + i * parts[p].stride; parts may overlap, so
 *                         that fields of records are parts of them; data may be NULL if n == 0
 * @param[in]  n           items, or the bound of *desc->device_n; 0 is allowed and does nothing; at
 *                         most 2^40, and less than 2^32 with GP_U32 indices
 * @param[out] indices_out n indices; overlaps no part
 *
 * Workspace: gp_lexsort_by_workspace_bytes(), contents lost. Queued on the context's stream;
 * allocates only while the workspace is smaller; capturable. Same result in every run, and on both
 * the CPU and CUDA.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc or an array is NULL or in the wrong memory, or
 *         indices_out or desc->device_n is misaligned; GP_ERROR_DTYPE desc->index_dtype or a dtype
 *         of a part; GP_ERROR_ARGUMENT n, or desc->size or num_parts, or stride or order of a part;
 *         GP_ERROR_OVERLAP; GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing
 *         queued in all these); GP_ERROR_CUDA indices_out unspecified.
 *
 * Cost: parts of up to 64 bits together are sorted as one word. So are longer ones from 2^20 items
 * on (2^12 on the CPU), if the bits in which numbers of a part differ, from the highest to the
 * lowest one, are no more than 64 in all parts together, or if nearly all items differ in the 64
 * highest of them; one more read finds out. Otherwise a sort for each 64 bits.
 * @since 0.1
 */
GP_API gp_status gp_lexsort_by(gp_context *ctx, const gp_lexsort_desc *desc, size_t n,
                               void *indices_out);

/**
 * Upper bound of the workspace of gp_lexsort_by(), without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for the sort; data of the parts is ignored
 * @param[in]  n      largest n to come
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_DTYPE and GP_ERROR_ARGUMENT as
 *         for the sort; GP_ERROR_ARGUMENT target
 * @since 0.1
 */
GP_API gp_status gp_lexsort_by_workspace_bytes(const gp_target *target, const gp_lexsort_desc *desc,
                                               size_t n, size_t *bytes);

/** A field that records are sorted by. */
typedef struct gp_record_field {
    size_t offset;  /**< bytes from the beginning of a record, in which the field must end */
    gp_dtype dtype; /**< of its numbers, any gp_dtype */
    gp_order order; /**< of this field */
} gp_record_field;

/** How to sort records; start from GP_RECORD_SORT_DESC_INIT. */
typedef struct gp_record_sort_desc {
    size_t size;         /**< sizeof(gp_record_sort_desc) */
    size_t record_bytes; /**< 1 to 65536 */
    /** The first one decides; the next one where it is equal; and so on. Those from num_fields on
     * are ignored. They may lie at any offset, aligned or not. */
    gp_record_field fields[GP_KEY_PARTS_MAX];
    int num_fields; /**< 1 to GP_KEY_PARTS_MAX */
    int reserved;   /**< 0 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper bound (more
     * counts as n); not in the output; NULL: n. */
    const uint64_t *device_n;
} gp_record_sort_desc;

/** Initializer of gp_record_sort_desc: its size, and defaults. */
#define GP_RECORD_SORT_DESC_INIT                                                                   \
    {                                                                                              \
        sizeof(gp_record_sort_desc), 0, {{0, (gp_dtype)0, GP_ASCENDING}}, 0, 0, NULL               \
    }

/**
 * Sort records by one or more of their fields.
 *
 * records_out holds the records in the order that gp_lexsort_by() finds of these fields; they are
 * moved whole. Stable.
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  desc        see gp_record_sort_desc
 * @param[in]  records_in  n records of desc->record_bytes, aligned to the largest power of two, up
 *                         to 16, that divides these; NULL if n == 0
 * @param[in]  n           records, or the bound of *desc->device_n; 0 is allowed and does nothing;
 *                         at most 2^40
 * @param[out] records_out n records; may equal records_in, which costs a copy, and must not overlap
 *                         it otherwise
 *
 * Workspace: gp_record_sort_workspace_bytes(), contents lost: some 20 bytes per record, and the
 * records once more for records_in == records_out. Queued on the context's stream; allocates only
 * while the workspace is smaller; capturable. Same result in every run and on every backend.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc or an array is NULL, misaligned or in the wrong
 *         memory; GP_ERROR_DTYPE of a field; GP_ERROR_ARGUMENT n, or desc->size, record_bytes,
 *         num_fields or reserved, or offset or order of a field; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED; GP_ERROR_MEMORY, GP_ERROR_WORKSPACE (nothing queued in all these);
 *         GP_ERROR_CUDA records_out unspecified.
 *
 * Cost: that of gp_lexsort_by(), and a gather of the records.
 * @since 0.1
 */
GP_API gp_status gp_record_sort(gp_context *ctx, const gp_record_sort_desc *desc,
                                const void *records_in, size_t n, void *records_out);

/**
 * Upper bound of the workspace of gp_record_sort(), without touching a device.
 *
 * The bound covers records_in == records_out.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for the sort
 * @param[in]  n      largest n to come
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_DTYPE and GP_ERROR_ARGUMENT as
 *         for the sort; GP_ERROR_ARGUMENT target
 * @since 0.1
 */
GP_API gp_status gp_record_sort_workspace_bytes(const gp_target *target,
                                                const gp_record_sort_desc *desc, size_t n,
                                                size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
