/* SPDX-License-Identifier: MIT */
/* The border between the engine of CPU scans, compiled per accumulator (scan_cpu_tmpl.c), and the
 * units of dtypes that are not stored as they are computed (scan_cpu_stored_tmpl.c). */
#ifndef GPI_SCAN_CPU_INTERNAL_H
#define GPI_SCAN_CPU_INTERNAL_H

#include "scan/scan_internal.h"

/* How items are stored. NULL: as accumulators. n is at most a chunk, but for sum. */
struct gpi_scan_stored {
    size_t in_bytes, out_bytes;
    void (*load)(const void *in, size_t n, void *accumulators);
    void (*load_out)(const void *out, size_t n, void *accumulators); /* the initial value */
    uint64_t (*sum)(const void *in, size_t n);                       /* of integers, in 64 bits */
    void (*store)(const void *accumulators, size_t n, void *out);
};

/* Items of a chunk, which lies on the stack: all of its copies fit the first-level cache. */
#define GPI_SCAN_CHUNK(acc_bytes) (4096 / (acc_bytes))

/* Named gpi_scan_engine_<accumulator>_<instruction set>. */
typedef gp_status gpi_scan_engine_fn(gp_context *ctx, const struct gpi_scan_args *args,
                                     const struct gpi_scan_stored *stored);

#endif
