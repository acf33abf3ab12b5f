/* SPDX-License-Identifier: MIT */
/* The border between the engine of CPU segmented scans, compiled per accumulator
 * (segments_cpu_tmpl.c), and the units of halves (segments_cpu_stored_tmpl.c). */
#ifndef GPI_SEGMENTS_CPU_INTERNAL_H
#define GPI_SEGMENTS_CPU_INTERNAL_H

#include "scan/scan_cpu_internal.h"
#include "segments/segments_internal.h"

/* Named gpi_segment_engine_<accumulator>_<instruction set>. */
typedef gp_status gpi_segment_engine_fn(gp_context *ctx, const struct gpi_segment_args *args,
                                        const struct gpi_scan_stored *stored);

/* As gpi_segment_chunk_fn, of items in a form. Named
 * gpi_segment_items_<accumulator>_<instruction set>. */
typedef bool gpi_segment_items_fn(gp_op op, enum gpi_scan_form form, const void *in, size_t n,
                                  const uint64_t *heads, void *carry, void *out);

/* Minimum and maximum of halves by their bits, which are as of struct gpi_halves_order, and n a
 * multiple of 64. Returns the last output. Named gpi_halves_segments_<instruction set>. */
typedef int16_t gpi_halves_segments_fn(gp_op op, const int16_t *in, size_t n, const uint64_t *heads,
                                       int16_t start, int16_t x, int16_t *out);

#endif
