/* SPDX-License-Identifier: MIT */
/*
 * Segmented reduction, whatever the lengths of the segments are.
 *
 * CUDA, one launch. Segments that are not short, of small arrays and of narrow items, and a few
 * short ones: lanes of a warp fold a segment as it lies in memory, and many warps fold one that is
 * long (segreduce_direct.cuh).
 *
 * Others by tiles (segreduce_kernels.cuh). Items and ends of segments, merged in the order in which
 * a reader meets them, are cut into tiles of equal weight, so that neither one long segment nor
 * many empty ones keep a block busy longer than others. Where a tile begins is a search in the
 * offsets; of large arrays a kernel before has found where shares of several tiles do, side by
 * side. Warps by role pass tiles on to each other:
 *   1. A block claims shares of a few tiles; bulk copies bring a tile's items and offsets.
 *   2. An item that ends a segment is marked with the number of the segment. Each lane folds a few
 *      words of items and leaves a result at each mark; what belongs to a segment before a lane, a
 *      warp's slice or a tile goes into the first result behind it. So each item and each offset is
 *      looked at once, and results lie in the order of the segments.
 *   3. The fold behind a share's last end is published (device/tile_state.cuh); the first segment
 *      that ends in a share is finished with the folds of the shares before (device/lookahead.cuh).
 *
 * CPU: shares of fixed weight by threads; the carries of the shares in order. With AVX-512 sixteen
 * segments at a time: folds that are the same in any order by lines (segreduce_lines_cpu_tmpl.c),
 * sums of floats item by item side by side (segreduce_side_cpu_tmpl.c); otherwise short segments in
 * line, and long ones by the folds of the reduction.
 *
 * The association of floats depends on where a segment lies in tiles, which follow from the offsets
 * and the sizes alone.
 *
 * Workspace: CUDA: tile states, the list of shares. CPU: a carry per share.
 * Paper: Merrill and Garland 2016 (merge-based SpMV) for the shares; Sengupta, Harris, Zhang and
 * Owens 2007 for the segmented scan.
 */
#ifndef GPI_SEGREDUCE_INTERNAL_H
#define GPI_SEGREDUCE_INTERNAL_H

#include <gp/segreduce.h>

#include "core/context.h"
#include "core/sticky.h"
#include "core/workspace.h"
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

/* What an end of a segment weighs on the CPU, in bytes; an item weighs its own. */
static inline uint32_t gpi_segreduce_end_weight(bool rows, size_t offset_bytes, size_t out_bytes,
                                                bool indices)
{
    return (uint32_t)((rows ? 0 : offset_bytes) + out_bytes + (indices ? sizeof(uint64_t) : 0));
}

/* ---- CUDA: gpi_segreduce_sm<architecture> ---- */

typedef gp_status (*gpi_segreduce_fn)(gp_context *ctx, const struct gpi_segreduce_args *args);

/* Weights of tiles: of small arrays one or two for each of 128 multiprocessors, and no more than
 * the kernel has room for, which is TILE_LARGE or more. An end weighs its offset or what a fold has
 * of it, the larger. */
enum { GPI_SEGREDUCE_TILE_MIN = 2048, GPI_SEGREDUCE_TILE_LARGE = 2944 };

static inline uint64_t gpi_segreduce_tile(uint64_t weight, uint64_t most)
{
    const uint64_t each = weight / (128 * most) + 1;
    const uint64_t part = weight / (128 * each) / 64 * 64 + 64;
    const uint64_t tile = part < GPI_SEGREDUCE_TILE_MIN ? GPI_SEGREDUCE_TILE_MIN : part;
    return each <= 2 && tile < most ? tile : most;
}

/* Tiles of a share, at most `most`, of few tiles one; and one more is a power of two. */
static inline uint32_t gpi_segreduce_share_tiles(uint64_t tiles, uint64_t most)
{
    const uint32_t share = tiles < 1024 ? 1 : tiles < 4096 ? 3 : tiles < 16384 ? 7 : 15;
    return share <= most ? share : most < 3 ? 1 : most < 7 ? 3 : 7;
}

/* At least as many as there are. Of many tiles, which are large ones then, a share has 15; near
 * places (segreduce_folds.cuh) have 16 bits, and their shares at least 3. */
static inline uint64_t gpi_segreduce_shares(uint64_t weight, bool near_places)
{
    const uint64_t tiles = weight / GPI_SEGREDUCE_TILE_MIN + 1;
    const uint64_t large = weight / GPI_SEGREDUCE_TILE_LARGE / (near_places ? 3 : 15) + 2;
    const uint64_t small = tiles < 2400 ? tiles : 2400;
    return small > large ? small : large;
}

/* Items of a segment on the average, and bytes of all, for segments to be folded as they lie; and
 * items, and segments, that are few enough for it whatever the mean is. */
enum {
    GPI_SEGREDUCE_DIRECT_MEAN = 32,
    GPI_SEGREDUCE_DIRECT_BYTES = 64 << 20,
    GPI_SEGREDUCE_LONG_BYTES = 256 << 20, /* of places of 8-byte items with chunks, at least */
    GPI_SEGREDUCE_FEW = 1 << 16
};

/* Items of a chunk (segreduce_direct.cuh): a warp has some trips to memory for it, and one for the
 * folds of 32. Of narrow items no more than half of what near places have room for. */
static inline uint32_t gpi_segreduce_chunk_log2(uint64_t n, size_t item_bytes)
{
    uint32_t log2 = 10;
    while (((uint64_t)item_bytes << 2 * log2) / 64 < n && (item_bytes > 2 || log2 < 14))
        log2++;
    return log2;
}

/* Bytes of the workspace in which a kernel before lists where shares of several tiles begin. */
static inline size_t gpi_segreduce_list_bytes(uint64_t shares)
{
    return gpi_piece((size_t)(shares + 1) * sizeof(uint64_t));
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
