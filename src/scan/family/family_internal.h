/* SPDX-License-Identifier: MIT */
/*
 * The scan algorithms of the literature, to compare the default one with.
 *
 * CUDA: chained, look-back (family_single_pass.cuh), reduce-then-scan, two passes, scan-then-fan
 * (family_multi_pass.cuh), a Fenwick tree (family_fenwick.cuh), and CUB (family_cub.cu). They take
 * the dtypes as stored and the operator at run time, so there is one unit per accumulator.
 * CPU: what scan_cpu_tmpl.c includes of family_cpu.h.
 *
 * The engine of the room asks this folder twice: scan.c for a call and for its workspace, and
 * scan_cpu_tmpl.c for a call.
 */
#ifndef GPI_SCAN_FAMILY_INTERNAL_H
#define GPI_SCAN_FAMILY_INTERNAL_H

#include "scan/scan_internal.h"

/* The call on CUDA, by args->algorithm, which is one of the family. */
gp_status gpi_scan_family(gp_context *ctx, const struct gpi_scan_args *args);

/* Its workspace on a backend: tile states or a frame (CUB: an estimate); 0: the engine's call. */
size_t gpi_scan_family_bytes(gp_backend backend, const struct gpi_scan_args *args);

/* ---- between the files of this folder ---- */

/* Tile state slots on CUDA, 0 for the algorithms that take a frame. */
uint64_t gpi_scan_family_slots(const struct gpi_scan_args *args);

/* Local scans cannot wait in the output: it would round them, or lose what does not fit. */
bool gpi_scan_family_keeps(const struct gpi_scan_args *args);

#define GPI_SCAN_ACCUMULATORS(UNIT)                                                                \
    UNIT(u32)                                                                                      \
    UNIT(u64)                                                                                      \
    UNIT(f32)                                                                                      \
    UNIT(f64)                                                                                      \
    UNIT(affine_f32)                                                                               \
    UNIT(affine_f64)                                                                               \
    UNIT(mat2_f32)                                                                                 \
    UNIT(mat2_f64)

enum gpi_scan_accumulator {
#define GPI_SCAN_ACCUMULATOR(name) GPI_SCAN_##name,
    GPI_SCAN_ACCUMULATORS(GPI_SCAN_ACCUMULATOR)
#undef GPI_SCAN_ACCUMULATOR
};

/* The implementation for a context, or NULL. */
gpi_scan_fn gpi_scan_family_find(const gp_context *ctx, enum gpi_scan_accumulator a);

/* Blocks of the family's kernels, and items of their tiles (a power of two). The two-pass form has
 * as many parts as a block has threads: a fixed number, so that sums of floats do not depend on the
 * GPU. CPU_PARTS: of the same on the CPU. */
enum { GPI_SCAN_FAMILY_THREADS = 256, GPI_SCAN_CPU_PARTS = 64 };
#define GPI_SCAN_FAMILY_ITEMS(acc_bytes) ((acc_bytes) <= 8 ? 8 : 4)
#define GPI_SCAN_FAMILY_TILE(acc_bytes) (GPI_SCAN_FAMILY_THREADS * GPI_SCAN_FAMILY_ITEMS(acc_bytes))

#endif
