/* SPDX-License-Identifier: MIT */
/*
 * Segmented reduction, whatever the lengths of the segments are.
 *
 * Items and ends of segments, merged in the order in which a reader meets them, are cut into shares
 * of equal weight (bytes that are read and written), so that neither one long segment nor many
 * empty ones keep a block or a thread busy longer than others. Where a share begins is a search in
 * the offsets.
 *
 * CUDA, one launch at every n (segreduce_kernels.cuh):
 *   1. A block claims shares. Chunks of their items and of their offsets come into two rings of
 *      shared memory, at the rates at which they are used.
 *   2. In steps, the block marks in a byte per item where segments end, and each lane folds 64
 *      bytes of items from mark to mark; the folds of segments that cross lanes and warps are
 *      joined by a segmented scan. Results are stored in the order of the segments.
 *   3. The fold behind a share's last end is published (device/tile_state.cuh); the first segment
 *      that ends in a share is finished with the folds of the shares before (device/lookahead.cuh).
 *
 * CPU: shares of fixed weight by threads; short segments in line, long ones by the folds of the
 * reduction; the carries of the shares in order.
 *
 * The association of floats depends on where a segment lies in shares and chunks, which follow from
 * the offsets alone.
 *
 * Workspace: CUDA: tile states. CPU: a carry per share.
 * Paper: Merrill and Garland 2016 (merge-based SpMV) for the shares; Sengupta, Harris, Zhang and
 * Owens 2007 for the segmented scan.
 */
#ifndef GPI_SEGREDUCE_INTERNAL_H
#define GPI_SEGREDUCE_INTERNAL_H

#include <gp/segreduce.h>

#include "core/context.h"
#include "core/sticky.h"
#include "reduce/reduce_internal.h"

/* A call that has been checked. */
struct gpi_segreduce_args {
    const char *function;
    const void *in;
    void *out;           /* or NULL, of places */
    uint64_t *indices;   /* of places, or NULL */
    uint64_t n, count;   /* items and segments, or their bounds */
    const void *offsets; /* NULL: rows of row_length items */
    uint64_t row_length;
    gp_dtype offset_dtype;
    const uint64_t *device_n, *device_count; /* or NULL */
    gp_op op;
    bool places; /* where the first of the least (op GP_MIN) or greatest (GP_MAX) items are */
    gp_dtype in_dtype, out_dtype;
    bool has_init;
    unsigned char init[GPI_SCAN_ITEM_BYTES_MAX]; /* one item of the output dtype */
};

/* What an end of a segment weighs, in bytes; an item weighs its own. */
static inline uint32_t gpi_segreduce_end_weight(bool rows, size_t offset_bytes, size_t out_bytes,
                                                bool indices)
{
    return (uint32_t)((rows ? 0 : offset_bytes) + out_bytes + (indices ? sizeof(uint64_t) : 0));
}

/* ---- CUDA: gpi_segreduce_sm<architecture> ---- */

typedef gp_status (*gpi_segreduce_fn)(gp_context *ctx, const struct gpi_segreduce_args *args);

/* Weights of shares: about one for each of the blocks that run at once, of large arrays more, so
 * that blocks that are done early find others. */
enum { GPI_SEGREDUCE_SHARE_MIN = 4096, GPI_SEGREDUCE_SHARE = 65536 };
enum { GPI_SEGREDUCE_SHARE_MAX = 192 * 1024 };

static inline uint64_t gpi_segreduce_share(uint64_t weight)
{
    uint64_t share = weight / 256;
    if (share > GPI_SEGREDUCE_SHARE)
        share = weight / 2048 > GPI_SEGREDUCE_SHARE ? weight / 2048 : GPI_SEGREDUCE_SHARE;
    share = (share + 1023) / 1024 * 1024;
    return share < GPI_SEGREDUCE_SHARE_MIN   ? GPI_SEGREDUCE_SHARE_MIN
           : share < GPI_SEGREDUCE_SHARE_MAX ? share
                                             : GPI_SEGREDUCE_SHARE_MAX;
}

/* NULL if there is none. */
gpi_segreduce_fn gpi_segreduce_find(const gp_context *ctx);

/* ---- CPU ---- */

/* Weight of a share; the association of float sums depends on it. */
enum { GPI_SEGREDUCE_SHARE_CPU = 64 * 1024 };

gp_status gpi_segreduce_cpu(gp_context *ctx, const struct gpi_segreduce_args *args);
/* What it takes for items and ends of that weight. */
size_t gpi_segreduce_cpu_bytes(uint64_t weight);

#endif
