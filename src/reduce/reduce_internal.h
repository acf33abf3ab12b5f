/* SPDX-License-Identifier: MIT */
/*
 * Reduction of a whole array, and where its smallest or largest item is.
 *
 * CUDA, one launch at every n:
 *   1. Tiles of fixed numbers of items, one or two rounds of 16 KB by n alone; a warp folds its
 *      part, the block its warps. Where the order of operations shows in the result (sums of
 *      floats, pairs) the block publishes the tile's sum (device/tile_state.cuh); otherwise it
 *      folds all of its tiles first.
 *   2. When all tiles have been taken, the block that claimed the last number folds the sums of the
 *      blocks. Sums of tiles are folded in groups by warps of all blocks first, and it folds the
 *      groups. A block only waits for blocks that already run.
 *   Argmin and argmax fold pairs of a value and the number of the 16-byte vector that has it; the
 *   item in the vector is found at the end.
 *
 * CPU: blocks of fixed size by threads, in fixed lanes; the sums of the blocks folded in order.
 *
 * Workspace: CUDA: tile states. CPU: an accumulator per block.
 * The groups and their trees are those of the scan's look-ahead.
 */
#ifndef GPI_REDUCE_INTERNAL_H
#define GPI_REDUCE_INTERNAL_H

#include <gp/reduce.h>

#include "core/context.h"
#include "scan/scan_internal.h"

/* A call that has been checked. */
struct gpi_reduce_args {
    const char *function; /* the call, for error texts */
    const void *in;
    void *out;       /* one item; of argmin and argmax the value, or NULL */
    uint64_t *index; /* of argmin (op GP_MIN) and argmax (GP_MAX); otherwise NULL */
    uint64_t n;      /* or its bound */
    gp_op op;
    gp_dtype in_dtype, out_dtype;
    bool wide; /* the result of an integer sum is in 64 bits; report one that does not fit out */
    bool has_init;
    unsigned char init[GPI_SCAN_ITEM_BYTES_MAX]; /* one item of the output dtype */
    void *total;                                 /* 8 bytes or NULL */
    const uint64_t *device_n;                    /* or NULL */
    int sign_bits;                               /* of a signed output dtype, otherwise 0 */
};

/* ---- CUDA: gpi_reduce_<unit>_sm<architecture> ---- */

typedef gp_status (*gpi_reduce_fn)(gp_context *ctx, const struct gpi_reduce_args *args);

/* UNIT(name): integers of 1 and 2 bytes, of 4 and 8 bytes, floats, and the pair operators. */
#define GPI_REDUCE_CUDA_UNITS(UNIT) UNIT(small) UNIT(large) UNIT(real) UNIT(pair)

/* Bytes of a round of a tile; rounds that the tiles of an array of that many bytes have. */
enum { GPI_REDUCE_WARPS = 8, GPI_REDUCE_VECTORS = 4 };
#define GPI_REDUCE_ROUND_BYTES (GPI_REDUCE_WARPS * 32 * GPI_REDUCE_VECTORS * 16)
#define GPI_REDUCE_LONG_BYTES ((uint64_t)128 << 20)
#define GPI_REDUCE_ROUNDS(bytes) ((bytes) < GPI_REDUCE_LONG_BYTES ? 1 : 2)

/* The most sums that an array of at most that many bytes has: tiles, and groups of at least 64;
 * 32-byte items have vectors of 32. */
static inline uint64_t gpi_reduce_sums_max(uint64_t bytes)
{
    uint64_t tile = (uint64_t)GPI_REDUCE_ROUND_BYTES * GPI_REDUCE_ROUNDS(bytes);
    uint64_t tiles = bytes / tile + 1, before = GPI_REDUCE_LONG_BYTES / GPI_REDUCE_ROUND_BYTES;
    uint64_t most = bytes < GPI_REDUCE_LONG_BYTES || tiles > before ? tiles : before;
    return most + most / 64 + 1;
}

/* NULL if there is none. */
gpi_reduce_fn gpi_reduce_find(const gp_context *ctx, gp_dtype in, gp_op op);

/* ---- CPU ---- */

/* Input bytes of a block; the association of float sums depends on it. */
enum { GPI_REDUCE_BLOCK_BYTES = 64 * 1024 };

/*
 * One unit, an input dtype and an accumulator, compiled per instruction set. Accumulators are
 * uint64_t for integers (sign-extended), float or double, or an item of a pair operator.
 */
struct gpi_reduce_cpu {
    size_t item_bytes, acc_bytes;
    void (*identity)(gp_op op, void *acc);
    /* The fold of n > 0 items, at most a block. */
    void (*block)(gp_op op, const void *in, size_t n, void *acc);
    /* *left = *left op *right */
    void (*join)(gp_op op, void *left, const void *right);
    /* The first of n items that is equal to an accumulator in gp's order; n if none. Or NULL. */
    size_t (*find)(const void *in, size_t n, const void *acc);
};

/* UNIT(name, input dtype, output dtype, scalars, wide): those of scans. */
#define GPI_REDUCE_CPU_UNITS(UNIT)                                                                 \
    GPI_SCAN_UNITS_SAME(UNIT)                                                                      \
    UNIT(f32_f64, GP_F32, GP_F64, 1, false)

const struct gpi_reduce_cpu *gpi_reduce_cpu_find(const gp_context *ctx, gp_dtype in, gp_dtype out,
                                                 gp_op op);

gp_status gpi_reduce_cpu(gp_context *ctx, const char *function, const struct gpi_reduce_args *args);
/* What it takes for n items. */
size_t gpi_reduce_cpu_bytes(uint64_t n, size_t item_bytes, size_t acc_bytes);

#endif
