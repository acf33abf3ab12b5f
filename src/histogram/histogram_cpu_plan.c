/* SPDX-License-Identifier: MIT */
/* How a call on the CPU counts, and what memory that takes. */
#include "core/dtype.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "histogram/histogram_cpu.h"

enum {
    CACHED_COUNTERS = 4096, /* of all tables of a worker: half of a first-level cache of 32 KB */
    COPIES = 4,
    BY_VALUE_FROM = 2048,  /* items: below, tables of values cost more than binning */
    WORKER_ITEMS = 16384,  /* not worth a thread below */
    SHARED_FROM = 1 << 18, /* items */
    SHARED_THREADS = 4,    /* fewer take longer with atomics than one without */
    CHUNK_ITEMS = 1 << 16, /* at most */
    CHUNK_BLOCKS = 8,      /* at least */
    CHUNKS = 4,            /* of a worker, in between: evens out slow threads */
    EDGE_CELLS_MIN = 64,
    EDGE_CELLS_MAX = 1 << 17,
    BLOCK = GPI_BINNING_BLOCK
};

/* Tables of all workers together have at most about two counters per item. */
static size_t workers_of(uint64_t n, size_t threads, size_t stride)
{
    uint64_t worth = n / WORKER_ITEMS + 1, tables = (2 * n + stride / 2) / stride;
    uint64_t workers = worth < tables ? worth : tables;
    uint64_t needed = n / (gpi_histogram_table_items - CHUNK_ITEMS) + 1;
    workers = workers < threads ? workers : threads;
    return (size_t)(workers > needed ? workers : needed);
}

static size_t copies_of(uint64_t n, size_t stride)
{
    size_t copies = COPIES;
    while (copies > 1 && (copies * stride > CACHED_COUNTERS || copies * stride * 8 > n))
        copies /= 2;
    return copies;
}

/* A table of the worker's own is worth clearing and copying: increments of the result look at
 * "in no bin" and at the width of a counter each time. */
static bool table_pays(uint64_t n, size_t stride)
{
    return n >= 2 * stride || (stride <= CACHED_COUNTERS && n >= stride / 4);
}

/* Two to four cells per edge; none if a search among all is cheaper than to make them. Vectors do
 * not gather 16 bits, so there a search is dear. */
static uint32_t edge_cells_of(gp_dtype dtype, uint64_t n, size_t bins)
{
    const uint64_t from = gpi_dtype_bytes(dtype) == 2 ? bins / 4 : 2 * bins;
    uint32_t cells = EDGE_CELLS_MIN;
    while (cells < 2 * bins && cells < EDGE_CELLS_MAX)
        cells *= 2;
    return bins > GPI_EDGES_FEW && n >= from && n >= EDGE_CELLS_MIN ? cells : 0;
}

/* Whole blocks, and several chunks for each worker. */
static uint64_t chunk_of(uint64_t n, size_t workers)
{
    const uint64_t blocks = n / (workers * CHUNKS) / BLOCK;
    if (workers == 1 || blocks * BLOCK > CHUNK_ITEMS)
        return CHUNK_ITEMS;
    return (blocks > CHUNK_BLOCKS ? blocks : CHUNK_BLOCKS) * BLOCK;
}

struct gpi_histogram_plan gpi_histogram_plan(gp_dtype dtype, uint64_t n, size_t bins,
                                             size_t threads)
{
    struct gpi_histogram_plan p = {.stride = (bins + 1 + 15) / 16 * 16, .copies = 1};
    const bool by_value = gpi_dtype_bytes(dtype) == 1 && n >= BY_VALUE_FROM;
    if (by_value)
        p.stride = GPI_HISTOGRAM_VALUES;
    else
        p.edge_cells = edge_cells_of(dtype, n, bins);
    p.workers = workers_of(n, threads, p.stride);
    if (by_value) {
        p.method = GPI_HISTOGRAM_BY_VALUE;
    } else if (gpi_histogram_split_pays(n, bins)) {
        p.method = GPI_HISTOGRAM_SPLIT;
        p.workers = workers_of(n, threads, 1);
    } else if (p.workers > 1 || table_pays(n, p.stride)) {
        p.method = GPI_HISTOGRAM_PRIVATE;
    } else if (n >= SHARED_FROM && threads >= SHARED_THREADS) {
        p.method = GPI_HISTOGRAM_SHARED;
        p.workers = workers_of(n, threads, 1);
    } else {
        p.method = GPI_HISTOGRAM_DIRECT;
    }
    if (by_value || p.method == GPI_HISTOGRAM_PRIVATE)
        p.copies = copies_of(n, p.stride);
    p.chunk = chunk_of(n, p.workers);
    return p;
}

size_t gpi_histogram_frame_bytes(const struct gpi_histogram_plan *p, uint64_t n, size_t bins)
{
    size_t bytes = 0;
    if (p->edge_cells > 0)
        bytes += gpi_piece(p->edge_cells * sizeof(uint32_t)) +
                 gpi_piece((bins + 1) * sizeof(uint32_t)) +
                 gpi_piece((2 * bins + 1) * GPI_EDGE_BYTES);
    if (p->method == GPI_HISTOGRAM_BY_VALUE || p->method == GPI_HISTOGRAM_PRIVATE)
        bytes += gpi_piece(p->workers * p->copies * p->stride * sizeof(uint32_t)) +
                 gpi_piece(p->workers * sizeof(uint64_t));
    if (p->method == GPI_HISTOGRAM_SPLIT)
        bytes += gpi_histogram_split_bytes(n, bins, p->workers);
    return bytes;
}

/* For fewer items, too, as a number in memory may say: more take more, but where methods change. */
size_t gpi_histogram_cpu_bytes(gp_dtype dtype, uint64_t n, size_t bins, int threads)
{
    const size_t most = threads > 0 ? (size_t)threads : GPI_THREADS_MAX;
    const uint64_t counts[] = {n, BY_VALUE_FROM - 1, UINT32_MAX};
    size_t bytes = 0;
    for (int i = 0; i < 3 && counts[i] <= n; i++) {
        const struct gpi_histogram_plan p = gpi_histogram_plan(dtype, counts[i], bins, most);
        const size_t need = gpi_histogram_frame_bytes(&p, counts[i], bins);
        bytes = need > bytes ? need : bytes;
    }
    return bytes;
}
