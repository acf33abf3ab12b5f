/* SPDX-License-Identifier: MIT */
/**
 * @file gather.h
 * Moving items by index: gather collects them, scatter distributes them; both also from and to
 * fields of records.
 *
 * A field is described by where it lies in the first record, which is the pointer that the call
 * gets, and by the bytes from a record to the next one, which is the stride in the descriptor:
 *
 *     struct particle { float place[3]; uint32_t kind; } *particles;   // n of them
 *     gp_gather_desc d = GP_GATHER_DESC_INIT;
 *     d.item_bytes = sizeof(uint32_t);
 *     d.in_stride = sizeof(struct particle);
 *     s = gp_gather_by(ctx, &d, &particles->kind, NULL, n, kinds);  // kinds[i] = particles[i].kind
 *
 * Here there are no indices: index_dtype is 0, and item i is item i. That copies a field of all
 * records into an array of its own, or back with out_stride in place of in_stride.
 */
#ifndef GP_GATHER_H
#define GP_GATHER_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a gather; start from GP_GATHER_DESC_INIT. */
typedef struct gp_gather_desc {
    size_t size;          /**< sizeof(gp_gather_desc) */
    size_t item_bytes;    /**< 1 to 65536 */
    size_t in_items;      /**< items of the input, at most 2^40; 0: unknown */
    gp_dtype index_dtype; /**< GP_U32 or GP_U64; 0: no indices, out[i] = in[i] */
    int reserved;         /**< 0 */
    /** Bytes from an item of the input to the next one, item_bytes to 2^23; 0: item_bytes. */
    size_t in_stride;
    size_t out_stride; /**< The same of the output. */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_gather_desc;

/** Initializer of gp_gather_desc: its size, and defaults. */
#define GP_GATHER_DESC_INIT                                                                        \
    {                                                                                              \
        sizeof(gp_gather_desc), 0, 0, (gp_dtype)0, 0, 0, 0, NULL                                   \
    }

/** The full form of a scatter; start from GP_SCATTER_DESC_INIT. */
typedef struct gp_scatter_desc {
    size_t size;          /**< sizeof(gp_scatter_desc) */
    size_t item_bytes;    /**< 1 to 65536 */
    size_t out_items;     /**< items that the output has room for, at most 2^40; 0: unknown */
    gp_dtype index_dtype; /**< GP_U32 or GP_U64; 0: no indices, out[i] = in[i] */
    int reserved;         /**< 0 */
    /** Bytes from an item of the input to the next one, item_bytes to 2^23; 0: item_bytes. */
    size_t in_stride;
    size_t out_stride; /**< The same of the output. */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_scatter_desc;

/** Initializer of gp_scatter_desc: its size, and defaults. */
#define GP_SCATTER_DESC_INIT                                                                       \
    {                                                                                              \
        sizeof(gp_scatter_desc), 0, 0, (gp_dtype)0, 0, 0, 0, NULL                                  \
    }

/**
 * Collect items by index: out[i] = in[indices[i]].
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  item_bytes  1 to 65536
 * @param[in]  in          as many items as the largest index + 1, aligned to the largest power
 *                         of two, up to 16, that divides item_bytes
 * @param[in]  index_dtype GP_U32 or GP_U64
 * @param[in]  indices     n indices, each in range. This call cannot check that, as it does not
 *                         know how many items in has; gp_gather_by() can
 * @param[in]  n           items of the output; 0 is allowed and does nothing; at most 2^40
 * @param[out] out         n items, aligned as in; must overlap neither in nor indices (of in, whose
 *                         length is unknown, only the first item is checked)
 *
 * Queued on the context's stream; takes no workspace; capturable.
 * Indices may repeat and leave out items.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or an array NULL, misaligned or in the wrong memory;
 *         GP_ERROR_ARGUMENT item_bytes or n; GP_ERROR_DTYPE index_dtype; GP_ERROR_OVERLAP (nothing
 *         queued in all these); GP_ERROR_CUDA out unspecified.
 *
 * Cost: reads the indices and n items, writes n items.
 * @since 0.1
 */
GP_API gp_status gp_gather(gp_context *ctx, size_t item_bytes, const void *in, gp_dtype index_dtype,
                           const void *indices, size_t n, void *out);

/**
 * Collect items by index, as the descriptor says: out[i] = in[indices[i]], or out[i] = in[i].
 *
 * As gp_gather(). desc->in_items says how many items in has. Either side may be a field of records.
 *
 * @param[in]  ctx     decides where the arrays live
 * @param[in]  desc    see gp_gather_desc
 * @param[in]  in      desc->in_items items, or if that is 0 as many as the largest index + 1 (n
 *                     without indices), desc->in_stride bytes apart; of any alignment if that is
 *                     not 0, otherwise aligned to the largest power of two, up to 16, that divides
 *                     desc->item_bytes; NULL if n == 0
 * @param[in]  indices n indices, each in range; NULL if n == 0 or desc->index_dtype is 0. A context
 *                     that validates checks that they are below desc->in_items, unless that is 0
 * @param[in]  n       items of the output, or the bound of *desc->device_n (a larger value there
 *                     counts as n); 0 is allowed and does nothing; at most 2^40
 * @param[out] out     n items, desc->out_stride bytes apart, aligned as in; what is between them is
 *                     untouched. From its first item to its last it must overlap neither indices
 *                     nor in, from its first item to its last (only the first item of in is checked
 *                     if its number is unknown), nor desc->device_n
 *
 * Queueing, workspace, statuses and cost as gp_gather(); GP_ERROR_POINTER also for desc and
 * desc->device_n, GP_ERROR_ARGUMENT also for desc->size, desc->in_items (without indices it is 0 or
 * at least n), desc->in_stride and desc->out_stride. If the context validates, an index out of
 * range is GP_ERROR_DATA, which this call returns on the CPU and gp_context_synchronize() on CUDA;
 * out is not written. Strided memory is read and written in whole cache lines or sectors of 32
 * bytes, so a field costs as much as the lines that it touches.
 * @since 0.1
 */
GP_API gp_status gp_gather_by(gp_context *ctx, const gp_gather_desc *desc, const void *in,
                              const void *indices, size_t n, void *out);

/**
 * Distribute items by index: out[indices[i]] = in[i].
 *
 * @param[in]  ctx         decides where the arrays live
 * @param[in]  item_bytes  1 to 65536
 * @param[in]  in          n items, aligned to the largest power of two, up to 16, that divides
 *                         item_bytes
 * @param[in]  index_dtype GP_U32 or GP_U64
 * @param[in]  indices     n indices, each in range. This call cannot check that, as it does not
 *                         know how many items out has; gp_scatter_by() can
 * @param[in]  n           items of the input; 0 is allowed and does nothing; at most 2^40
 * @param[out] out         room for as many items as the largest index + 1, aligned as in; items
 *                         whose index does not occur are untouched. Must overlap neither in nor
 *                         indices (only the first item of out, whose length is unknown, is checked)
 *
 * Queued on the context's stream; takes no workspace; capturable. Same result in every run if no
 * index occurs twice. Of items with the same index it is unspecified which one is there afterwards;
 * unless they have 1, 2, 4, 8 or 16 bytes, its parts may be those of different ones.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx or an array NULL, misaligned or in the wrong memory;
 *         GP_ERROR_ARGUMENT item_bytes or n; GP_ERROR_DTYPE index_dtype; GP_ERROR_OVERLAP (nothing
 *         queued in all these); GP_ERROR_CUDA out unspecified.
 *
 * Cost: reads the indices and n items, writes n items.
 * @since 0.1
 */
GP_API gp_status gp_scatter(gp_context *ctx, size_t item_bytes, const void *in,
                            gp_dtype index_dtype, const void *indices, size_t n, void *out);

/**
 * Distribute items by index, as the descriptor says: out[indices[i]] = in[i], or out[i] = in[i].
 *
 * As gp_scatter(). desc->out_items says how many items out has room for. Either side may be a field
 * of records.
 *
 * @param[in]  ctx     decides where the arrays live
 * @param[in]  desc    see gp_scatter_desc
 * @param[in]  in      n items, desc->in_stride bytes apart; of any alignment if that is not 0,
 *                     otherwise aligned to the largest power of two, up to 16, that divides
 *                     desc->item_bytes; NULL if n == 0
 * @param[in]  indices n indices, each in range; NULL if n == 0 or desc->index_dtype is 0. A context
 *                     that validates checks that they are below desc->out_items, unless that is 0.
 *                     It does not look for equal ones, which are allowed where items are equal, too
 * @param[in]  n       items of the input, or the bound of *desc->device_n (a larger value there
 *                     counts as n); 0 is allowed and does nothing; at most 2^40
 * @param[out] out     room for desc->out_items items, or if that is 0 for as many as the largest
 *                     index + 1 (n without indices), desc->out_stride bytes apart, aligned as in;
 *                     what is between them is untouched. From its first item to its last it must
 *                     overlap neither indices nor in, from its first item to its last (only the
 *                     first item of out is checked if their number is unknown), nor desc->device_n
 *
 * Queueing, workspace, equal indices, statuses and cost as gp_scatter(); GP_ERROR_POINTER also for
 * desc and desc->device_n, GP_ERROR_ARGUMENT also for desc->size, desc->out_items (without indices
 * it is 0 or at least n), desc->in_stride and desc->out_stride. If the context validates, an index
 * out of range is GP_ERROR_DATA, which this call returns on the CPU and gp_context_synchronize() on
 * CUDA; out is not written.
 * @since 0.1
 */
GP_API gp_status gp_scatter_by(gp_context *ctx, const gp_scatter_desc *desc, const void *in,
                               const void *indices, size_t n, void *out);

#ifdef __cplusplus
}
#endif
#endif
