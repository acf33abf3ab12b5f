/* SPDX-License-Identifier: MIT */
/*
 * Segmented scans on the CPU of dtypes that are not stored as they are computed: the engine of the
 * accumulator, GPI_ACC, with the conversions of the scan's unit. Compiled once per dtype and per
 * instruction set.
 */
#include "core/paste.h"
#include "segments/segments_cpu_internal.h"

#define STORED PASTE4(gpi_scan_stored_, GPI_UNIT, _, GPI_ISA_SUFFIX)
#define ENGINE PASTE4(gpi_segment_engine_, GPI_ACC, _, GPI_ISA_SUFFIX)
#define FUNCTION PASTE4(gpi_segment_cpu_, GPI_UNIT, _, GPI_ISA_SUFFIX)
extern const struct gpi_scan_stored STORED;
gpi_segment_engine_fn ENGINE;
#define ITEMS PASTE4(gpi_segment_items_, GPI_ACC, _, GPI_ISA_SUFFIX)
#define CHUNK PASTE4(gpi_segment_chunk_, GPI_UNIT, _, GPI_ISA_SUFFIX)
gpi_segment_items_fn ITEMS;
gpi_segment_chunk_fn CHUNK;
gp_status FUNCTION(gp_context *ctx, const struct gpi_segment_args *args);

gp_status FUNCTION(gp_context *ctx, const struct gpi_segment_args *args)
{
    return ENGINE(ctx, args, &STORED);
}

bool CHUNK(gp_op op, const void *in, size_t n, const uint64_t *heads, void *carry, void *out)
{
    return STORED.form && ITEMS(op, STORED.form, in, n, heads, carry, out);
}
