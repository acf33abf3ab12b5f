/* SPDX-License-Identifier: MIT */
/*
 * Prefix scan.
 *
 * CUDA, one launch at every n:
 *   1. Tiles of fixed size; tile boundaries are element indices, so nothing depends on alignment.
 *   2. Each tile's sum is published as soon as it is known (device/tile_state.cuh).
 *   3. A tile's prefix is the fold of all sums before it in fixed groups (device/lookahead.cuh).
 *   4. Each lane adds its prefix to its items and stores them.
 *
 *   - Middle-sized arrays (and GPUs before sm_90): one tile per block, held in registers
 *     (scan_tile.cuh).
 *   - Sums of small arrays (sm_90 and newer): the same by one cluster, without states
 *     (scan_cluster.cuh).
 *   - Large arrays: one persistent block per multiprocessor, a ring of tiles in shared memory
 *     filled by bulk copies, and warps by role: load, reduce, look ahead, scan and store
 *     (scan_stream.cuh).
 *
 * CPU: blocks of fixed size; the threads take them in order, and a carry goes from block to block.
 *
 * Backward scans count items from the end of the arrays. CUDA: vectors are turned when they are
 * loaded and stored; rare cases go to a kernel of the family. CPU: blocks are turned.
 *
 * The other algorithms of the literature, to compare: scan/family/family_internal.h.
 *
 * Workspace: CUDA: tile states only. CPU: none. Of the family: gpi_scan_family_bytes().
 *
 * Paper: Merrill and Garland 2016, single-pass parallel prefix scan with decoupled look-back, for
 * the tile states; the fold of fixed groups instead of inclusive prefixes is gp's own.
 */
#ifndef GPI_SCAN_INTERNAL_H
#define GPI_SCAN_INTERNAL_H

#include <gp/scan.h>

#include "core/context.h"
#include "core/dtype.h"

enum { GPI_SCAN_ITEM_BYTES_MAX = 32 };

struct gpi_scan_args {
    const char *function; /* the call, for error texts */
    const void *in;
    void *out;
    uint64_t n; /* or its bound */
    gp_op op;
    gp_scan_kind kind;
    gp_dtype in_dtype, out_dtype;
    gp_algorithm algorithm;
    gp_scan_tile tile;
    bool wide; /* integer sums in 64 bits, outputs that do not fit are reported */
    bool has_init;
    unsigned char init[GPI_SCAN_ITEM_BYTES_MAX]; /* one item of the output dtype */
    void *total;                                 /* 8 bytes or NULL */
    const uint64_t *device_n;                    /* or NULL */
    int sign_bits;                               /* of a signed output dtype, otherwise 0 */
    bool backward;                               /* item i is the one n - 1 - i of the arrays */
};

/* All checks are done; ctx's device is current. Implementations are named
 * gpi_scan_cpu_<unit>_<instruction set> and gpi_scan_<unit>_sm<architecture>. */
typedef gp_status (*gpi_scan_fn)(gp_context *ctx, const struct gpi_scan_args *args);

/*
 * Units: UNIT(name, input dtype, output dtype, scalars, wide). A wide unit accumulates integer sums
 * in 64 bits and reports outputs that do not fit. scalars: of an item, as gpi_op_scalars(). SAME
 * units have every operator of their dtype; SUM units only GP_SUM. For CUDA a group of units is
 * compiled together: see meson.build.
 */
#define GPI_SCAN_UNITS_INT8(UNIT)                                                                  \
    UNIT(i8, GP_I8, GP_I8, 1, false)                                                               \
    UNIT(u8, GP_U8, GP_U8, 1, false)
#define GPI_SCAN_UNITS_INT16(UNIT)                                                                 \
    UNIT(i16, GP_I16, GP_I16, 1, false)                                                            \
    UNIT(u16, GP_U16, GP_U16, 1, false)
#define GPI_SCAN_UNITS_INT32(UNIT)                                                                 \
    UNIT(i32, GP_I32, GP_I32, 1, false)                                                            \
    UNIT(u32, GP_U32, GP_U32, 1, false)
#define GPI_SCAN_UNITS_INT64(UNIT)                                                                 \
    UNIT(i64, GP_I64, GP_I64, 1, false)                                                            \
    UNIT(u64, GP_U64, GP_U64, 1, false)
#define GPI_SCAN_UNITS_HALF(UNIT)                                                                  \
    UNIT(f16, GP_F16, GP_F16, 1, false)                                                            \
    UNIT(bf16, GP_BF16, GP_BF16, 1, false)
#define GPI_SCAN_UNITS_F32(UNIT) UNIT(f32, GP_F32, GP_F32, 1, false)
#define GPI_SCAN_UNITS_F64(UNIT) UNIT(f64, GP_F64, GP_F64, 1, false)
#define GPI_SCAN_UNITS_PAIR(UNIT)                                                                  \
    UNIT(affine_f32, GP_F32, GP_F32, 2, false)                                                     \
    UNIT(affine_f64, GP_F64, GP_F64, 2, false)                                                     \
    UNIT(mat2_f32, GP_F32, GP_F32, 4, false)                                                       \
    UNIT(mat2_f64, GP_F64, GP_F64, 4, false)
#define GPI_SCAN_UNITS_SAME(UNIT)                                                                  \
    GPI_SCAN_UNITS_INT8(UNIT)                                                                      \
    GPI_SCAN_UNITS_INT16(UNIT)                                                                     \
    GPI_SCAN_UNITS_INT32(UNIT)                                                                     \
    GPI_SCAN_UNITS_INT64(UNIT)                                                                     \
    GPI_SCAN_UNITS_HALF(UNIT)                                                                      \
    GPI_SCAN_UNITS_F32(UNIT)                                                                       \
    GPI_SCAN_UNITS_F64(UNIT)                                                                       \
    GPI_SCAN_UNITS_PAIR(UNIT)
#define GPI_SCAN_UNITS_SUM32(UNIT)                                                                 \
    UNIT(i8_i32, GP_I8, GP_I32, 1, false)                                                          \
    UNIT(i16_i32, GP_I16, GP_I32, 1, false)                                                        \
    UNIT(u8_u32, GP_U8, GP_U32, 1, false)                                                          \
    UNIT(u16_u32, GP_U16, GP_U32, 1, false)
#define GPI_SCAN_UNITS_SUM64(UNIT)                                                                 \
    UNIT(i8_i64, GP_I8, GP_I64, 1, false)                                                          \
    UNIT(i16_i64, GP_I16, GP_I64, 1, false)                                                        \
    UNIT(i32_i64, GP_I32, GP_I64, 1, false)                                                        \
    UNIT(u8_u64, GP_U8, GP_U64, 1, false)                                                          \
    UNIT(u16_u64, GP_U16, GP_U64, 1, false)                                                        \
    UNIT(u32_u64, GP_U32, GP_U64, 1, false)
#define GPI_SCAN_UNITS_SUM_REAL(UNIT)                                                              \
    UNIT(f16_f32, GP_F16, GP_F32, 1, false)                                                        \
    UNIT(bf16_f32, GP_BF16, GP_F32, 1, false)                                                      \
    UNIT(f32_f64, GP_F32, GP_F64, 1, false)
#define GPI_SCAN_UNITS_SUM(UNIT)                                                                   \
    GPI_SCAN_UNITS_SUM32(UNIT)                                                                     \
    GPI_SCAN_UNITS_SUM64(UNIT)                                                                     \
    GPI_SCAN_UNITS_SUM_REAL(UNIT)
#define GPI_SCAN_UNITS_WIDE(UNIT)                                                                  \
    UNIT(i8_wide, GP_I8, GP_I8, 1, true)                                                           \
    UNIT(u8_wide, GP_U8, GP_U8, 1, true)                                                           \
    UNIT(i16_wide, GP_I16, GP_I16, 1, true)                                                        \
    UNIT(u16_wide, GP_U16, GP_U16, 1, true)                                                        \
    UNIT(i32_wide, GP_I32, GP_I32, 1, true)                                                        \
    UNIT(u32_wide, GP_U32, GP_U32, 1, true)                                                        \
    UNIT(i8_i32_wide, GP_I8, GP_I32, 1, true)                                                      \
    UNIT(u8_u32_wide, GP_U8, GP_U32, 1, true)                                                      \
    UNIT(i16_i32_wide, GP_I16, GP_I32, 1, true)                                                    \
    UNIT(u16_u32_wide, GP_U16, GP_U32, 1, true)
#define GPI_SCAN_UNITS(UNIT)                                                                       \
    GPI_SCAN_UNITS_SAME(UNIT)                                                                      \
    GPI_SCAN_UNITS_SUM(UNIT)                                                                       \
    GPI_SCAN_UNITS_WIDE(UNIT)

/* The implementation for a context, or NULL if there is none for these dtypes. */
gpi_scan_fn gpi_scan_find(const gp_context *ctx, const struct gpi_scan_args *args);

/* Whether the pair (in, out) is allowed with op, and whether op has a meaning for in. */
bool gpi_scan_pair_allowed(gp_dtype in, gp_dtype out, gp_op op);
bool gpi_scan_op_allowed(gp_dtype dtype, gp_op op);
/* The same as checks: op of a desc; its dtypes and op, out 0 meaning in. */
/* argument: what the operator is called in the error text. */
gp_status gpi_scan_check_op(gp_context *ctx, const char *f, gp_dtype in, const char *argument,
                            gp_op op);
gp_status gpi_scan_check_types(gp_context *ctx, const char *f, gp_dtype in, gp_dtype out, gp_op op);
/* The parameters dtype and op of a short form. */
gp_status gpi_scan_check_short(gp_context *ctx, const char *f, gp_dtype dtype, gp_op op);

/* Whether the engine of AUTO computes what the algorithm does. */
bool gpi_scan_is_default(gp_backend backend, gp_algorithm algorithm);

/* Whether the operator depends on gp's order, and so of integers on their sign. */
bool gpi_scan_is_order(gp_op op);

/* What an item of an output dtype is computed in. */
size_t gpi_scan_accumulator_bytes(gp_dtype out, gp_op op, bool wide);

/* Tiles of a scan on CUDA at most, which are those of the small path. */
uint64_t gpi_scan_tiles(uint64_t n, size_t item_bytes);

/* Items of a tile of the small path: 16 bytes of the larger item per lane and vector. */
enum { GPI_SCAN_TILE_WARPS = 8, GPI_SCAN_TILE_VECTORS = 4 };

/* CPU: input bytes of a block; the association of float sums depends on it. */
enum { GPI_SCAN_BLOCK_BYTES = 64 * 1024 };

#endif
