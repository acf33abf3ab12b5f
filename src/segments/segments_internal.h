/* SPDX-License-Identifier: MIT */
/*
 * Segmented scan.
 *
 * However segments are described, all that a scan needs of them is where they start: a bit per
 * item, set at the first item of a segment, its head. Empty segments leave none.
 *
 * CUDA:
 *   1. A kernel makes the bits from offsets, flags or keys (segments_heads_cuda.cu). Rows of equal
 *      length need none: the scan works their heads out.
 *   2. A scan in one launch as the plain one (scan_internal.h), with the bits of a tile beside its
 *      items. What tiles exchange is a fold from the tile's last head on, and whether there is one
 *      (segments_part.cuh, segments_stream.cuh).
 *
 * CPU: blocks of fixed size, chained as in the plain scan; the bits are made block by block.
 *
 * Every head starts from the initial value. The association of floats depends on where a segment
 * lies in the tiles or blocks, and on nothing else.
 *
 * Workspace: CUDA: tile states and a bit per item. CPU: none.
 * Paper: Blelloch 1990 (the operator on pairs of value and flag); Sengupta, Harris, Zhang and Owens
 * 2007 (segmented scan on GPUs); Sengupta, Harris and Garland 2008 (reach of a lane by ballot).
 */
#ifndef GPI_SEGMENTS_INTERNAL_H
#define GPI_SEGMENTS_INTERNAL_H

#include <gp/segments.h>

#include "core/launch.h"
#include "core/sticky.h"
#include "scan/scan_internal.h"

enum gpi_segment_source {
    GPI_SEGMENT_OFFSETS,
    GPI_SEGMENT_FLAGS,
    GPI_SEGMENT_KEYS,
    GPI_SEGMENT_ROWS
};

struct gpi_segments {
    enum gpi_segment_source source;
    const void *array; /* offsets, flags or keys */
    size_t item_bytes; /* of an offset or key */
    gp_dtype offset_dtype;
    uint64_t count;               /* segments, if there are offsets, or rows */
    const uint64_t *device_count; /* NULL, or count is its bound, on CUDA */
    uint64_t row_length;
};

/* CUDA: what the kernels of heads are given. */
struct gpi_segment_marks {
    const void *array; /* offsets, flags or keys */
    uint64_t count;    /* segments, if there are offsets */
    uint64_t n;
    const uint64_t *device_count, *device_n; /* NULL, or those are bounds */
    uint32_t *heads;                         /* the bits, for whole tiles */
    struct gpi_reporter reporter;
};

enum { GPI_SEGMENT_LAUNCHES_MAX = 2 };

struct gpi_segment_args {
    const char *function;
    const void *in;
    void *out;
    uint64_t n;               /* not 0 */
    const uint64_t *device_n; /* NULL, or n is its bound, on CUDA; not of rows */
    gp_op op;
    gp_dtype dtype;
    bool exclusive, has_init;
    unsigned char init[GPI_SCAN_ITEM_BYTES_MAX];
    struct gpi_segments segments;
    struct gpi_segment_marks marks; /* CUDA; heads is NULL if there are rows */
    struct gpi_launch launches[GPI_SEGMENT_LAUNCHES_MAX]; /* CUDA: before that of the scan */
    int launch_count;
};

/* All checks are done; ctx's device is current. Implementations are named
 * gpi_segment_cpu_<unit>_<instruction set> and gpi_segment_<CUDA unit>_sm<architecture>. */
typedef gp_status (*gpi_segment_fn)(gp_context *ctx, const struct gpi_segment_args *args);
/* CPU: out[i] = in[i] behind those before it, down to the last head, of n items in the cache; heads
 * are bits from the first item on, *carry the accumulator of what comes before it, then of all.
 * false: nothing was done, there are NaNs, or halves whose order their bits do not tell. Named
 * gpi_segment_chunk_<unit>_<instruction set>. */
typedef bool gpi_segment_chunk_fn(gp_op op, const void *in, size_t n, const uint64_t *heads,
                                  void *carry, void *out);
gpi_segment_chunk_fn *gpi_segment_chunk_find(const gp_context *ctx, gp_dtype dtype, gp_op op);
/* Adds the launches of args. */
typedef void (*gpi_segment_heads_fn)(const gp_context *ctx, struct gpi_segment_args *args);

/* Units of the CPU: UNIT(name, dtype, scalars, unit of the same bits without a sign). CUDA has the
 * latter alone, and the CPU takes it for operators to which a sign makes no difference. */
#define GPI_SEGMENT_UNITS(UNIT)                                                                    \
    UNIT(i8, GP_I8, 1, u8)                                                                         \
    UNIT(u8, GP_U8, 1, u8)                                                                         \
    UNIT(i16, GP_I16, 1, u16)                                                                      \
    UNIT(u16, GP_U16, 1, u16)                                                                      \
    UNIT(i32, GP_I32, 1, u32)                                                                      \
    UNIT(u32, GP_U32, 1, u32)                                                                      \
    UNIT(i64, GP_I64, 1, u64)                                                                      \
    UNIT(u64, GP_U64, 1, u64)                                                                      \
    UNIT(f16, GP_F16, 1, f16)                                                                      \
    UNIT(bf16, GP_BF16, 1, bf16)                                                                   \
    UNIT(f32, GP_F32, 1, f32)                                                                      \
    UNIT(f64, GP_F64, 1, f64)                                                                      \
    UNIT(affine_f32, GP_F32, 2, affine_f32)                                                        \
    UNIT(affine_f64, GP_F64, 2, affine_f64)                                                        \
    UNIT(mat2_f32, GP_F32, 4, mat2_f32)                                                            \
    UNIT(mat2_f64, GP_F64, 4, mat2_f64)
#define GPI_SEGMENT_CUDA_UNITS(UNIT)                                                               \
    UNIT(u8)                                                                                       \
    UNIT(u16)                                                                                      \
    UNIT(u32)                                                                                      \
    UNIT(u64)                                                                                      \
    UNIT(f16)                                                                                      \
    UNIT(bf16)                                                                                     \
    UNIT(f32)                                                                                      \
    UNIT(f64)                                                                                      \
    UNIT(affine_f32)                                                                               \
    UNIT(affine_f64)                                                                               \
    UNIT(mat2_f32)                                                                                 \
    UNIT(mat2_f64)

gpi_segment_fn gpi_segment_find(const gp_context *ctx, gp_dtype dtype, gp_op op);
gpi_segment_heads_fn gpi_segment_heads_find(const gp_context *ctx);

/* Items of the largest tile of the kernels, the room that the bits need past the last item. */
enum { GPI_SEGMENT_TILE_MAX = 1 << 16 };

/* ---- CPU ---- */

/* Set bit i of words if item first + i is a head, for all i < count; the other bits become 0. Named
 * gpi_segment_heads_cpu_<instruction set>. */
typedef void gpi_segment_heads_cpu_fn(const struct gpi_segments *g, uint64_t first, size_t count,
                                      uint64_t *words);

#endif
