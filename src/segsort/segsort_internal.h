/* SPDX-License-Identifier: MIT */
/*
 * Segmented sort.
 *
 * CPU: the merge path of segment ends and items is cut into shares; the thread of a share sorts the
 * segments that end in it one after the other (radixsort_cpu_tmpl.c). Segments that would keep
 * one thread busy while the others wait are sorted before, by all threads together.
 *
 * CUDA: the number of every item's segment (gpi_balance_search), then a sort by two parts, that
 * number and the key (lexsort_parts_internal.h).
 *
 * Scratch, each piece 256-byte aligned:
 *   CPU    [keys n][values or indices n][indices n][copy of values][counts]
 *   CUDA   [numbers of segments n][the sort's]
 */
#ifndef GPI_SEGSORT_INTERNAL_H
#define GPI_SEGSORT_INTERNAL_H

#include "radixsort/radixsort_internal.h"
#include "validate/validate_internal.h"

/* A sort of segments, checked; the job has keys_out, and values_in with values. */
struct gpi_segsort_job {
    struct gpi_radix_job job;
    gp_dtype dtype, offset_dtype;
    const void *offsets;
    uint64_t num_segments;
};

/* What the offsets must be. */
static inline struct gpi_content gpi_segsort_rule(const struct gpi_segsort_job *s)
{
    struct gpi_content rule =
        GPI_OFFSETS("offsets", s->offsets, s->num_segments, s->offset_dtype, s->job.n);
    rule.device_n = s->job.device_num_segments;
    rule.device_bound = s->job.device_n;
    return rule;
}

gp_status gpi_segsort_cpu(gp_context *ctx, const char *function, const struct gpi_segsort_job *s);
gp_status gpi_segsort_cuda(gp_context *ctx, const char *function, const struct gpi_segsort_job *s);

/* Upper bounds of their frames, arrays in place included. */
size_t gpi_segsort_cpu_bytes(int threads, const struct gpi_segsort_job *s);
size_t gpi_segsort_cuda_bytes(const gp_target *target, const struct gpi_segsort_job *s);

#endif
