/* SPDX-License-Identifier: MIT */
/* The border between the engine of CPU scans, compiled per accumulator (scan_cpu_tmpl.c), and the
 * units of dtypes that are not stored as they are computed (scan_cpu_stored_tmpl.c). */
#ifndef GPI_SCAN_CPU_INTERNAL_H
#define GPI_SCAN_CPU_INTERNAL_H

#include "scan/scan_internal.h"

/* What vector loops find in memory: accumulators, or halves of floats, which folds convert in
 * registers and minima and maxima need not convert, where instructions allow that. */
enum gpi_scan_form { GPI_AS_COMPUTED, GPI_AS_F16, GPI_AS_BF16 };

/* Minimum and maximum of halves by their bits, named gpi_halves_order_<instruction set>. n is a
 * multiple of 32 items. */
struct gpi_halves_order {
    /* No item is a NaN or -0, which the others do not take, but for a carry that is 0x7fff. */
    bool (*plain)(int16_t infinity, const int16_t *in, size_t n);
    int16_t (*fold)(gp_op op, const int16_t *in, size_t n);
    /* out[i] = carry op in[0] op .. op in[i]; turn: in the other order. Returns the last one. */
    int16_t (*scan)(gp_op op, bool turn, const int16_t *in, size_t n, int16_t carry, int16_t *out);
};

/* How items are stored. NULL: as accumulators. n is at most a chunk, but for sum. The functions are
 * for items that the vector loops do not take as they are. */
struct gpi_scan_stored {
    size_t in_bytes, out_bytes;
    enum gpi_scan_form form;
    void (*load)(const void *in, size_t n, void *accumulators);
    void (*load_out)(const void *out, size_t n, void *accumulators); /* the initial value */
    uint64_t (*sum)(const void *in, size_t n);                       /* of integers, in 64 bits */
    void (*store)(const void *accumulators, size_t n, void *out);
};

/* Items of a block, whose inputs and outputs take at most GPI_SCAN_BLOCK_BYTES each. */
static inline size_t gpi_scan_block_items(const struct gpi_scan_stored *stored)
{
    const size_t in = stored->in_bytes, out = stored->out_bytes;
    return GPI_SCAN_BLOCK_BYTES / (in > out ? in : out);
}

/* Items of a chunk, which lies on the stack: all of its copies fit the first-level cache. */
#define GPI_SCAN_CHUNK(acc_bytes) (4096 / (acc_bytes))

/* Named gpi_scan_engine_<accumulator>_<instruction set>. */
typedef gp_status gpi_scan_engine_fn(gp_context *ctx, const struct gpi_scan_args *args,
                                     const struct gpi_scan_stored *stored);

#endif
