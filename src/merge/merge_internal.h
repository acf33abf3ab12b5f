/* SPDX-License-Identifier: MIT */
/*
 * Stable merge by merge path (Green, McColl and Bader 2012).
 *
 *   1. The output is cut into shares (CPU) or tiles (CUDA) of equal length;
 *   2. a binary search finds how many of the outputs before a cut are items of a: as many as make
 *      a[i - 1] <= b[d - i] and b[d - i - 1] < a[i], where a goes first among equals;
 *   3. each share is merged from there on.
 *
 * Results do not depend on the cuts. On CUDA a tile is loaded into shared memory, cut once more for
 * its threads, and values follow by the place that a key came from.
 *
 * Scratch: CPU none; CUDA [cuts: tiles + 1 of uint64_t].
 */
#ifndef GPI_MERGE_INTERNAL_H
#define GPI_MERGE_INTERNAL_H

#include "core/context.h"
#include "core/order.h"

/* On CUDA, instead of two arrays: two neighbouring groups of runs of keys_a and values_a, which
 * have the same place in the outputs. num_a is then the bound of both together, num_b is 0. */
struct gpi_merge_groups {
    const void *offsets; /* NULL: two arrays */
    uint32_t offset_bytes, run_a, run_b, end;
    uint32_t num_runs;               /* there are no runs from here on */
    const uint64_t *device_num_runs; /* NULL, or num_runs is its bound */
    uint64_t n;                      /* items of all runs */
    const uint64_t *device_n;        /* NULL, or n is its bound */
};

/* A merge, checked. */
struct gpi_merge_job {
    struct gpi_radix_order order;
    size_t key_bytes;
    size_t value_bytes; /* 0: keys only */
    const void *keys_a, *values_a;
    uint64_t num_a;
    const void *keys_b, *values_b;
    uint64_t num_b;
    const uint64_t *device_num_a, *device_num_b; /* NULL, or the numbers are bounds, on CUDA */
    void *keys_out, *values_out;
    struct gpi_merge_groups groups;
    /* NULL, or groups are a run each, in arrays of their own: where these begin in keys_a and in
     * keys_b, by runs. */
    const uint64_t *first;
};

/* Outputs [begin, end) of a job. */
typedef void gpi_merge_share_fn(const struct gpi_merge_job *job, uint64_t begin, uint64_t end);

/* Queue a job; cuts has room for gpi_merge_cuts(n) numbers. */
typedef gp_status gpi_merge_launch_fn(gp_context *ctx, const char *function,
                                      const struct gpi_merge_job *job, uint64_t *cuts);

/* merge_table.c; width is log2 of the key's bytes. */
gpi_merge_share_fn *gpi_merge_share_get(int width);
gpi_merge_launch_fn *gpi_merge_launch_get(int sm_row);

/* No tile is shorter. */
enum { GPI_MERGE_TILE_MIN = 2048 };

static inline size_t gpi_merge_cuts(uint64_t n)
{
    return (size_t)(n / GPI_MERGE_TILE_MIN + 2);
}

#endif
