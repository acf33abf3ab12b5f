/* SPDX-License-Identifier: MIT */
/* What the files of the CPU backend share. */
#ifndef GPI_HISTOGRAM_CPU_H
#define GPI_HISTOGRAM_CPU_H

#include "core/workspace.h"
#include "histogram/histogram_internal.h"

enum gpi_histogram_method {
    GPI_HISTOGRAM_BY_VALUE, /* 8-bit dtypes: tables of the 256 values, binned at the end */
    GPI_HISTOGRAM_PRIVATE,  /* each worker has its own tables */
    GPI_HISTOGRAM_SPLIT,    /* items are brought together by the high bits of their bin first */
    GPI_HISTOGRAM_SHARED,   /* atomic increments of the result: bins outnumber items */
    GPI_HISTOGRAM_DIRECT    /* the same by one worker */
};

struct gpi_histogram_plan {
    enum gpi_histogram_method method;
    size_t workers;      /* calls of gpi_parallel_for() that count */
    size_t copies;       /* tables of a worker, 1 to 4 */
    size_t stride;       /* counters of a table: the bins, one for "in no bin", rounded up */
    uint32_t edge_cells; /* of the grid of edges, 0: none */
    uint64_t chunk;      /* items that a worker claims at a time */
};

/* More threads never need less memory. */
struct gpi_histogram_plan gpi_histogram_plan(gp_dtype dtype, uint64_t n, size_t bins,
                                             size_t threads);

/* Bytes of the frame that gpi_histogram_cpu() takes. */
size_t gpi_histogram_frame_bytes(const struct gpi_histogram_plan *plan, uint64_t n, size_t bins);

/* One call on the CPU. */
struct gpi_histogram_job {
    const struct gpi_histogram_args *args;
    struct gpi_binning binning; /* args->binning and the grid of edges */
    struct gpi_histogram_plan plan;
    gpi_binning_fn bin;
    size_t item; /* bytes of a value */
    int threads;
    uint64_t next;     /* the first item that is not claimed */
    uint32_t *tables;  /* [worker][copy][stride] */
    uint64_t *counted; /* [worker]: items in its tables; 0: they were not even cleared */
    uint64_t outside;
};

enum { GPI_HISTOGRAM_VALUES = 256 }; /* of 8-bit dtypes */

/* Tables count in 32 bits. */
static const uint64_t gpi_histogram_table_items = (uint64_t)1 << 31;

/* Bins of the next block of items [begin, end); returns how many. */
size_t gpi_histogram_bin(const struct gpi_histogram_job *job, uint64_t begin, uint64_t end,
                         uint32_t *index);

/* Count indices in tables; copies is a power of two. */
void gpi_histogram_count(uint32_t *tables, size_t stride, size_t copies, const uint32_t *index,
                         size_t count);

/* Counters [begin, begin + count) of the result are set to a table's, or these are added. */
void gpi_histogram_put(const struct gpi_histogram_args *a, size_t begin, size_t count,
                       const uint32_t *table);
void gpi_histogram_add(const struct gpi_histogram_args *a, size_t begin, size_t count,
                       const uint32_t *table);
/* The same while others add to these counters too. */
void gpi_histogram_add_shared(const struct gpi_histogram_args *a, size_t begin, size_t count,
                              const uint32_t *table);

/* ---- histogram_cpu_split.c ---- */

/* Enough items for the number of bins, and bins beyond the caches. */
bool gpi_histogram_split_pays(uint64_t n, size_t bins);
size_t gpi_histogram_split_bytes(uint64_t n, size_t bins, size_t workers);
void gpi_histogram_split(struct gpi_histogram_job *job, struct gpi_frame *frame);

#endif
