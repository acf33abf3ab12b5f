/* SPDX-License-Identifier: MIT */
/**
 * @file multisplit.h
 * Stable split of items into many buckets by given numbers.
 */
#ifndef GP_MULTISPLIT_H
#define GP_MULTISPLIT_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The full form of a multisplit; start from GP_MULTISPLIT_DESC_INIT. */
typedef struct gp_multisplit_desc {
    size_t size;        /**< sizeof(gp_multisplit_desc) */
    size_t item_bytes;  /**< 1 to 65536 */
    size_t num_buckets; /**< 1 to 2^31 */
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
} gp_multisplit_desc;

/** Initializer of gp_multisplit_desc: its size, and defaults. */
#define GP_MULTISPLIT_DESC_INIT                                                                    \
    {                                                                                              \
        sizeof(gp_multisplit_desc), 0, 0, NULL                                                     \
    }

/**
 * Move items to the bucket whose number stands beside them; each bucket keeps their order.
 *
 * out[out_offsets[b]] .. out[out_offsets[b + 1] - 1] = the in[i] with numbers[i] == b, i ascending.
 *
 * The call gp_multisplit_by(); memory, order, errors and cost are described there.
 * @param[in]  item_bytes  size of an item, 1 to 65536
 * @param[in]  in          n items
 * @param[in]  numbers     n buckets' numbers, each below num_buckets: uint8_t if num_buckets is at
 *                         most 256, uint32_t above
 * @param[in]  n           items
 * @param[in]  num_buckets 1 to 2^31
 * @param[out] out         n items; must not overlap in
 * @param[out] out_offsets num_buckets + 1 uint64_t
 * @since 0.1
 */
GP_API gp_status gp_multisplit(gp_context *ctx, size_t item_bytes, const void *in,
                               const void *numbers, size_t n, size_t num_buckets, void *out,
                               uint64_t *out_offsets);

/**
 * Move items to buckets as the descriptor says.
 *
 * @param[in]  ctx         decides where all data pointers live
 * @param[in]  desc        see gp_multisplit_desc
 * @param[in]  in          n items, aligned to the largest power of two up to 16 that divides their
 *                         size; NULL if n == 0
 * @param[in]  numbers     n numbers below desc->num_buckets, uint8_t if that is at most 256,
 *                         uint32_t above; NULL if n == 0. With a number that is too large, the
 *                         items of out and the offsets are unspecified, unless the context
 *                         validates: then nothing is written (docs/design/validate.md)
 * @param[in]  n           items, or the bound of *desc->device_n (a larger value there counts as
 *                         n); 0 is allowed and writes offsets of 0; at most 2^40
 * @param[out] out         n items, aligned as in; overlaps no other array. From *desc->device_n on
 *                         nothing is written
 * @param[out] out_offsets desc->num_buckets + 1 uint64_t, which overlap no other array: where each
 *                         bucket begins; the last is the number of items
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_multisplit_workspace_bytes(); capturable. Stable; same result in every run.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc, or an array NULL, misaligned or in the wrong
 *         memory; GP_ERROR_ARGUMENT desc->size, item_bytes, num_buckets, or n too large, and on the
 *         CPU, with validate, a number (nothing written); GP_ERROR_OVERLAP; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost up to 256 buckets: reads the numbers twice and the items once, writes the items once. Above:
 * gp_radix_sort_pairs() with the numbers as keys, in the bits that num_buckets has, and a gather
 * with device_n on CUDA.
 * Workspace up to 256 buckets: on CUDA counts of each bucket in each share of the items, at most
 * 8 MiB, above 2^34 items 8 bytes per bucket for every 2^22 of them, and what their sum takes; on
 * the CPU 2 KiB per thread. Above: the numbers and what the sort takes, and with device_n on CUDA
 * a number and a position per item.
 * Source: count, scan and scatter as a radix sort's pass; Ashkiani, Davidson, Meyer and Owens 2017.
 * @since 0.1
 */
GP_API gp_status gp_multisplit_by(gp_context *ctx, const gp_multisplit_desc *desc, const void *in,
                                  const void *numbers, size_t n, void *out, uint64_t *out_offsets);

/**
 * Upper bound of the workspace that gp_multisplit_by() takes, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for gp_multisplit_by(); the figure holds with and without device_n
 * @param[in]  n      items
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT as gp_multisplit_by(),
 *         also target
 * @since 0.1
 */
GP_API gp_status gp_multisplit_workspace_bytes(const gp_target *target,
                                               const gp_multisplit_desc *desc, size_t n,
                                               size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
