/* SPDX-License-Identifier: MIT */
/**
 * @file scan.h
 * Prefix scan: out[i] = in[0] op in[1] op ... op in[i], for any associative operator.
 */
#ifndef GP_SCAN_H
#define GP_SCAN_H

#include <gp/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which prefix an output holds. */
typedef enum gp_scan_kind {
    GP_SCAN_INCLUSIVE = 1,   /**< out[i] = init op in[0] op .. op in[i] */
    GP_SCAN_EXCLUSIVE = 2,   /**< out[i] = init op in[0] op .. op in[i-1]; out[0] = init */
    GP_SCAN_ROW_POINTERS = 3 /**< exclusive, and out[n] = the total: n + 1 outputs */
} gp_scan_kind;

/**
 * How an algorithm of gp_scan() that works tile by tile scans one tile of T items on a GPU. Work
 * counts applications of the operator, and depth counts those that must follow each other; R is the
 * number of items per thread, 8 or 4.
 */
typedef enum gp_scan_tile {
    GP_SCAN_TILE_AUTO = 0, /**< GP_SCAN_TILE_SHUFFLE; for GP_ALGORITHM_FENWICK a tree in the tile */
    /** Rows of 32 in the registers of a warp, carried from row to row, then the warps' sums.
     * Work about 7 T, depth R + 11. Source: Harris, Sengupta and Owens 2007 (GPU Gems 3, ch. 39),
     * warp-organised as by Sengupta, Harris and Garland 2008. */
    GP_SCAN_TILE_SHUFFLE = 1,
    /** Each item takes the partial result 1, 2, 4, ... places before. Work T log2 T - T + 1, depth
     * log2 T. Source: Kogge and Stone 1973; on GPUs Hillis and Steele 1986. */
    GP_SCAN_TILE_KOGGE_STONE = 2,
    /** A tree up and down again. Work 2 T - 2 - log2 T, depth 2 log2 T - 1. Source: Brent and Kung
     * 1982; Blelloch 1990. */
    GP_SCAN_TILE_BRENT_KUNG = 3,
    /** Each thread alone over its R items, Kogge-Stone over the threads' sums, and added back. Work
     * about 2 T + (T / R) log2(T / R), depth R + log2(T / R). Source: the chunked scan of Kirk and
     * Hwu, Programming Massively Parallel Processors. */
    GP_SCAN_TILE_THREE_PHASE = 4
} gp_scan_tile;

/** The full form of a scan; start from GP_SCAN_DESC_INIT. */
typedef struct gp_scan_desc {
    size_t size;        /**< sizeof(gp_scan_desc) */
    gp_scan_kind kind;  /**< which prefix an output holds */
    gp_dtype in_dtype;  /**< of the input */
    gp_dtype out_dtype; /**< of the output; 0: as in_dtype. See gp_scan() for the pairs allowed */
    gp_op op;           /**< associative */
    gp_algorithm algorithm; /**< GP_ALGORITHM_AUTO unless you compare algorithms */
    /** Host pointer to one item of the output dtype, read during the call; NULL: the identity. */
    const void *init;
    /**
     * 8 bytes in the context's memory for the total, or NULL: init op in[0] op .. op in[n-1] as
     * int64_t for signed, uint64_t for unsigned and double for float dtypes. With GP_SUM on
     * integers it is added up in 64 bits, and an output that does not fit out_dtype sets the sticky
     * GP_ERROR_OVERFLOW that gp_context_synchronize() returns. Not for GP_AFFINE and GP_MAT2.
     */
    void *total;
    /** One uint64_t in the context's memory that replaces n, which is then its upper
     * bound; NULL: n. */
    const uint64_t *device_n;
    /** GP_SCAN_TILE_AUTO unless you compare methods; for the algorithms LOOKBACK to FENWICK and
     * REDUCE_THEN_SCAN_TWO_PASS on a GPU. The CPU has one method, whose tiles are blocks that
     * fit the cache. */
    gp_scan_tile tile;
    /**
     * Not 0: scan from the last item to the first. out[i] = init op in[n-1] op .. op in[i]; with
     * GP_SCAN_EXCLUSIVE the last operand is in[i+1], and out[n-1] = init. This is the reverse of
     * the scan of the reversed input, also for operators that do not commute. Needs
     * GP_ALGORITHM_AUTO and GP_SCAN_TILE_AUTO; not for GP_SCAN_ROW_POINTERS. Items from *device_n
     * on take no part.
     */
    int backward;
    /** Of segmented scans (segments.h), NULL in others: one uint64_t in the context's memory that
     * replaces num_segments or num_rows, which is then its upper bound; NULL: that number. */
    const uint64_t *device_num_segments;
} gp_scan_desc;

/** Initializer of gp_scan_desc: its size, and defaults. */
#define GP_SCAN_DESC_INIT                                                                          \
    {                                                                                              \
        sizeof(gp_scan_desc), GP_SCAN_INCLUSIVE, (gp_dtype)0, (gp_dtype)0, GP_SUM,                 \
            GP_ALGORITHM_AUTO, NULL, NULL, NULL, GP_SCAN_TILE_AUTO, 0, NULL                        \
    }

/**
 * Inclusive scan: out[i] = in[0] op .. op in[i].
 *
 * The call gp_scan() with kind INCLUSIVE, both dtypes equal and no initial value; see there.
 * @since 0.1
 */
GP_API gp_status gp_scan_inclusive(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in,
                                   size_t n, void *out);

/**
 * Exclusive scan: out[0] = init, out[i] = init op in[0] op .. op in[i-1].
 *
 * The call gp_scan() with kind EXCLUSIVE and both dtypes equal; see there.
 * @param[in] init host pointer to one item, read during the call; NULL: the identity of op
 * @since 0.1
 */
GP_API gp_status gp_scan_exclusive(gp_context *ctx, gp_dtype dtype, gp_op op, const void *in,
                                   size_t n, const void *init, void *out);

/**
 * Scan as the descriptor says.
 *
 * @param[in]  ctx  decides where all data pointers live
 * @param[in]  desc see gp_scan_desc. Dtype pairs besides equal ones, with GP_SUM only: i8 and
 *                  i16 to i32 and i64, u8 and u16 to u32 and u64, i32 to i64, u32 to u64, f16
 *                  and bf16 to f32, f32 to f64. The accumulator is the output's dtype (float for
 *                  f16 and bf16).
 * @param[in]  in   n items (of gp_op_scalars(op) scalars each), aligned to the scalar;
 *                  NULL if n == 0
 * @param[in]  n    items, or the bound of *desc->device_n (a larger value there counts as n);
 *                  0 is allowed
 * @param[out] out  n items, n + 1 for GP_SCAN_ROW_POINTERS; may equal in when the dtypes have one
 *                  size, and must not overlap it otherwise
 *
 * Queued on the context's stream; allocates only while the workspace is smaller than
 * gp_scan_workspace_bytes(); capturable. With n == 0 a total is set to init (or the identity), and
 * GP_SCAN_ROW_POINTERS writes out[0].
 *
 * Deterministic: the association of float operations depends on n, dtypes, operator, algorithm and
 * the tuning row alone. On a GPU, GP_ALGORITHM_LOOKBACK and GP_ALGORITHM_CUB do not promise that
 * for floats. n is at most 2^40.
 *
 * Algorithms, for n items in m tiles of T. A GPU has all but SERIAL, and this page holds for each
 * of them. Those other than AUTO are for comparison: they take the operator and the dtypes at run
 * time. Work counts applications of the operator, and depth counts those that must follow each
 * other, both without those inside a tile (gp_scan_tile); r and w are how often an item is read and
 * written.
 *  - LOOKAHEAD: the choice of AUTO. r 1, w 1; work m^2 / 64 in the worst case, spread over the
 *    blocks; depth 5 + m / 32. Source: docs/design/tiles.md.
 *  - LOOKBACK: a tile walks back over sums to the nearest finished prefix. r 1, w 1; work O(m),
 *    depth O(m) but short waits. Source: Merrill and Garland 2016.
 *  - CHAINED: a tile waits for the prefix of the one before. r 1, w 1; work m, depth m.
 *    Source: Yan, Long and Zhang 2013 (StreamScan).
 *  - REDUCE_THEN_SCAN: tile sums, their scan by recursion, scan of tiles. r 2, w 1; work n + O(m),
 *    depth log_T n tiles. Source: Dotsenko et al. 2008.
 *  - REDUCE_THEN_SCAN_TWO_PASS: the same with a fixed number of parts, one per block, and two
 *    kernels whatever n is. r 2, w 1; depth m / 256 tiles. Source: Merrill and Grimshaw 2009.
 *  - SCAN_THEN_FAN: scan of tiles, scan of their sums by recursion, and added to each item. r 2,
 *    w 2; work n + O(m). Source: Sengupta, Harris, Zhang and Owens 2007. Outputs in f16 or bf16,
 *    and integers with a total, cost n accumulators of workspace.
 *  - FENWICK: a binary indexed tree over the tile sums (and, with tile AUTO, over each tile), in
 *    which each item looks up its prefix. r 2, w 1; work n to build and n log2(T) / 2 to look up,
 *    depth log2 n each. Source: Fenwick 1994.
 *  - CUB: cub::DeviceScan on iterators that convert items one by one, hence slower than CUB on
 *    plain arrays. r 1, w 1.
 *  - SERIAL: one thread, one pass; on the CPU only.
 * The CPU has an engine of its own, chained over blocks of 64 KiB, which serves AUTO, LOOKAHEAD,
 * LOOKBACK, CHAINED and FENWICK; SERIAL, both forms of REDUCE_THEN_SCAN, and SCAN_THEN_FAN are
 * implemented as such, and CUB is not available.
 *
 * @return GP_OK queued; GP_ERROR_POINTER ctx, desc, in or out NULL, misaligned or in the wrong
 *         memory; GP_ERROR_ARGUMENT desc->size, kind, algorithm, tile, backward with row pointers,
 *         or n; GP_ERROR_DTYPE unknown dtype or pair; GP_ERROR_OP unknown operator, a bitwise one
 *         on floats, a pair operator on anything but f32, f64; GP_ERROR_OVERLAP;
 *         GP_ERROR_UNSUPPORTED the algorithm is not available here, or a tile method is requested
 *         with AUTO, LOOKAHEAD, CUB or SERIAL, or an algorithm with backward; GP_ERROR_MEMORY,
 *         GP_ERROR_WORKSPACE (nothing queued in all these); GP_ERROR_CUDA outputs unspecified.
 *
 * Cost on a GPU with AUTO: one kernel launch; reads the input once and writes the output once.
 * Source: Merrill and Garland 2016 (single pass); docs/design/tiles.md describes the look-ahead.
 * @since 0.1
 */
GP_API gp_status gp_scan(gp_context *ctx, const gp_scan_desc *desc, const void *in, size_t n,
                         void *out);

/**
 * Upper bound of the workspace that gp_scan() takes, without touching a device.
 *
 * @param[in]  target NULL: any machine
 * @param[in]  desc   as for gp_scan(); pointers in it are ignored
 * @param[out] bytes  for gp_context_reserve()
 * @return GP_OK; GP_ERROR_POINTER desc or bytes is NULL; GP_ERROR_ARGUMENT target, or as gp_scan();
 *         GP_ERROR_DTYPE, GP_ERROR_OP as gp_scan(); GP_ERROR_UNSUPPORTED target->backend does not
 *         have the algorithm, or a combination that no backend has
 * @since 0.1
 */
GP_API gp_status gp_scan_workspace_bytes(const gp_target *target, const gp_scan_desc *desc,
                                         size_t n, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
