/* SPDX-License-Identifier: MIT */
/*
 * Segmented sort.
 *
 * CPU: the merge path of segment ends and items is cut into shares; the thread of a share sorts the
 * segments that end in it one after the other (radixsort_cpu_tmpl.c). Segments that would keep
 * one thread busy while the others wait are sorted before, by all threads together.
 *
 * CUDA, all of it stable and independent of the shape of the segments:
 *   1. the order of the keys alone, as indices (gp_argsort);
 *   2. the segment of every item (gp_balance_search), collected in that order;
 *   3. the order by segment, moving the indices of 1 along;
 *   4. keys and values are collected by the result.
 *
 * Scratch, each piece 256-byte aligned:
 *   CPU    [keys n][values or indices n][indices n][copy of values][counts]
 *   CUDA   [indices n][indices n][segments n][segments n][copy of keys][copy of values][the sorts']
 */
#ifndef GPI_SEGSORT_INTERNAL_H
#define GPI_SEGSORT_INTERNAL_H

#include "radixsort/radixsort_internal.h"
#include "validate/validate_internal.h"

/* A sort of segments, checked; the job has keys_out, and values_in with values. */
struct gpi_segsort_job {
    struct gpi_radix_job job;
    gp_dtype dtype;
    gp_radix_sort_options options; /* of the sort by key: without a number of segments */
    gp_dtype offset_dtype;
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
gp_status gpi_segsort_cuda_bytes(int sm_count, const struct gpi_segsort_job *s, size_t *bytes);

#endif
