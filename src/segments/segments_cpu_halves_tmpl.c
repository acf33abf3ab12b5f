/* SPDX-License-Identifier: MIT */
/* Minimum and maximum of halves in segments on the CPU, by their bits, compiled per instruction
 * set: see scan/scan_cpu_halves_tmpl.c. */
#include "scan/scan_cpu_lanes_internal.h"
#include "segments/segments_cpu_internal.h"

#ifdef GPI_HAVE_HALVES

#include "segments/segments_cpu_lanes_internal.h"

ALWAYS_INLINE int16_t segments_by(gp_op op, const int16_t *in, size_t n, const uint64_t *heads,
                                  int16_t start, int16_t x, int16_t *out)
{
    return half_key(lanes_segments(op, in, n, heads, half_key(start), half_key(x), out));
}

#define FUNCTION PASTE(gpi_halves_segments_, GPI_ISA_SUFFIX)
gpi_halves_segments_fn FUNCTION;

int16_t FUNCTION(gp_op op, const int16_t *in, size_t n, const uint64_t *heads, int16_t start,
                 int16_t x, int16_t *out)
{
    return op == GP_MIN ? segments_by(GP_MIN, in, n, heads, start, x, out)
                        : segments_by(GP_MAX, in, n, heads, start, x, out);
}

#endif
