/* SPDX-License-Identifier: MIT */
/* What the files of the CPU backend share. */
#ifndef GPI_HISTOGRAM_CPU_H
#define GPI_HISTOGRAM_CPU_H

#include "histogram/histogram_internal.h"

enum gpi_histogram_method {
    GPI_HISTOGRAM_BY_VALUE, /* 8-bit dtypes: tables of the 256 values, binned at the end */
    GPI_HISTOGRAM_PRIVATE,  /* each worker has its own tables */
    GPI_HISTOGRAM_SHARED,   /* atomic increments of the result: bins outnumber items */
    GPI_HISTOGRAM_DIRECT    /* the same by one worker */
};

struct gpi_histogram_plan {
    enum gpi_histogram_method method;
    size_t workers;      /* calls of gpi_parallel_for() that count */
    size_t copies;       /* tables of a worker, 1 to 4 */
    size_t stride;       /* counters of a table: the bins, one for "in no bin", rounded up */
    uint32_t edge_cells; /* of the grid of edges, 0: none */
    uint64_t chunk;      /* items that a worker draws at a time */
};

/* The method does not depend on the threads, and more of them never need less memory. */
struct gpi_histogram_plan gpi_histogram_plan(gp_dtype dtype, uint64_t n, size_t bins,
                                             size_t threads);

/* Bytes of each piece of the frame. */
struct gpi_histogram_pieces {
    size_t below, bin, edges; /* of gpi_edge_grid_fn */
    size_t tables, counted;
    size_t sum;
};

struct gpi_histogram_pieces gpi_histogram_pieces(const struct gpi_histogram_plan *plan,
                                                 size_t bins);

/* One call on the CPU. */
struct gpi_histogram_job {
    const struct gpi_histogram_args *args;
    struct gpi_binning binning; /* args->binning and the grid of edges */
    struct gpi_histogram_plan plan;
    gpi_binning_fn bin;
    size_t item; /* bytes of a value */
    int threads;
    uint64_t next;     /* the first item that nobody has drawn */
    uint32_t *tables;  /* [worker][copy][stride] */
    uint64_t *counted; /* [worker]: items in its tables; 0: they were not even cleared */
    uint64_t outside;
};

enum { GPI_HISTOGRAM_VALUES = 256 }; /* of 8-bit dtypes */

/* Tables count in 32 bits. */
static const uint64_t gpi_histogram_table_items = (uint64_t)1 << 31;

#endif
