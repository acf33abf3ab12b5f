/* SPDX-License-Identifier: MIT */
/*
 * Counting on the CPU. The input is cut into parts; each bins a block at a time into a buffer of
 * indices (histogram_cpu_tmpl.c) and counts those, where index bins stands for "in no bin". Sums of
 * integers do not depend on their order, so neither does the result on threads or parts.
 */
#include <string.h>

#include "core/check.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "histogram/histogram_internal.h"

enum {
    FEW_BINS = 2048,     /* up to here several tables fit the first-level cache */
    COPIES = 4,          /* tables per part then: an increment need not wait for the one before */
    VALUE_COPIES = 8,    /* the same for the 256 values of 8-bit dtypes */
    VALUES = 256,        /* of 8-bit dtypes */
    PART_ITEMS = 16384,  /* not worth a thread below */
    PARTS_PER_THREAD = 4 /* where a part's tables are small: evens out slow threads */
};

/* Private tables count in 32 bits. */
static const uint64_t part_items_max = (uint64_t)1 << 31;

enum method {
    BY_VALUE, /* 8-bit dtypes: private tables of the 256 values, binned at the end */
    PRIVATE,  /* each part has its own tables */
    SHARED,   /* atomic increments of the result: tables would be larger than the input */
    DIRECT    /* one part increments the result */
};

struct plan {
    enum method method;
    size_t parts;
    size_t copies; /* tables per part */
    size_t stride; /* counters of a table: the bins, one for "in no bin", rounded up */
};

static size_t parts_of(uint64_t n, size_t most)
{
    uint64_t wanted = n / PART_ITEMS + 1, needed = n / part_items_max + 1;
    size_t parts = wanted < most ? (size_t)wanted : most;
    return parts > needed ? parts : (size_t)needed;
}

static struct plan plan_of(gp_dtype dtype, uint64_t n, size_t bins, size_t threads)
{
    struct plan p = {.stride = (bins + 1 + 15) / 16 * 16};
    if (gp_dtype_bytes(dtype) == 1) {
        p.method = BY_VALUE;
        p.parts = parts_of(n, threads * PARTS_PER_THREAD);
        p.copies = VALUE_COPIES;
        p.stride = VALUES;
        return p;
    }
    if (bins <= FEW_BINS && bins <= n) {
        p.method = PRIVATE;
        p.parts = parts_of(n, threads * PARTS_PER_THREAD);
        p.copies = COPIES;
        return p;
    }
    p.parts = threads == 1 ? 1 : parts_of(n, threads);
    p.method = p.parts == 1 ? DIRECT : p.parts * p.stride <= 2 * n ? PRIVATE : SHARED;
    p.copies = p.method == PRIVATE;
    return p;
}

static size_t table_bytes(const struct plan *p)
{
    return p->parts * p->copies * p->stride * sizeof(uint32_t);
}

size_t gpi_histogram_cpu_bytes(gp_dtype dtype, uint64_t n, size_t bins, int threads)
{
    if (threads > 0) {
        struct plan p = plan_of(dtype, n, bins, (size_t)threads);
        return gpi_piece(table_bytes(&p));
    }
    struct plan p = plan_of(dtype, n, bins, GPI_THREADS_MAX);
    size_t limit = (size_t)(2 * n * sizeof(uint32_t));
    /* With fewer threads private tables may pay where with more they do not. */
    return gpi_piece(p.method == SHARED ? limit : table_bytes(&p));
}

struct job {
    const struct gpi_histogram_args *args;
    struct plan plan;
    gpi_binning_fn bin;
    uint32_t *tables; /* [part][copy][stride] */
    uint64_t outside;
};

static uint64_t part_begin(const struct job *job, size_t part)
{
    uint64_t n = job->args->n, parts = job->plan.parts;
    uint64_t longer = part < n % parts ? part : n % parts;
    return n / parts * part + longer;
}

static uint32_t *part_tables(const struct job *job, size_t part)
{
    size_t words = job->plan.copies * job->plan.stride;
    uint32_t *tables = job->tables + part * words;
    memset(tables, 0, words * sizeof *tables);
    return tables;
}

static void outside_add(struct job *job, uint64_t outside)
{
    __atomic_fetch_add(&job->outside, outside, __ATOMIC_RELAXED);
}

/* ---- counting a block of indices ---- */

static void count_copies(uint32_t *tables, size_t stride, const uint32_t *index, size_t count)
{
    uint32_t *t0 = tables, *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        t0[index[i]]++;
        t1[index[i + 1]]++;
        t2[index[i + 2]]++;
        t3[index[i + 3]]++;
    }
    for (; i < count; i++)
        t0[index[i]]++;
}

static void count_table(uint32_t *table, const uint32_t *index, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table[index[i]]++;
}

/* The next two return how many are in no bin. */
static uint64_t count_direct(const struct gpi_histogram_args *a, const uint32_t *index,
                             size_t count)
{
    const uint32_t none = a->binning.bins;
    uint64_t *wide = a->wide_counters ? a->counts : NULL;
    uint32_t *narrow = a->counts;
    uint64_t inside = 0;
    for (size_t i = 0; wide && i < count; i++)
        if (index[i] != none) {
            wide[index[i]]++;
            inside++;
        }
    for (size_t i = 0; !wide && i < count; i++)
        if (index[i] != none) {
            narrow[index[i]]++;
            inside++;
        }
    return count - inside;
}

/* A run of equal indices takes one atomic operation, so constant input does not serialise. */
static uint64_t count_shared(const struct gpi_histogram_args *a, const uint32_t *index,
                             size_t count)
{
    const uint32_t none = a->binning.bins;
    uint64_t outside = 0;
    for (size_t i = 0, run; i < count; i += run) {
        run = 1;
        while (i + run < count && index[i + run] == index[i])
            run++;
        if (index[i] == none)
            outside += run;
        else if (a->wide_counters)
            __atomic_fetch_add((uint64_t *)a->counts + index[i], run, __ATOMIC_RELAXED);
        else
            __atomic_fetch_add((uint32_t *)a->counts + index[i], (uint32_t)run, __ATOMIC_RELAXED);
    }
    return outside;
}

/* ---- parts ---- */

static void part_indices(void *arg, size_t part)
{
    struct job *job = arg;
    const struct gpi_histogram_args *a = job->args;
    const size_t item = gp_dtype_bytes(a->dtype);
    const bool private = job->plan.method == PRIVATE;
    uint32_t *tables = private ? part_tables(job, part) : NULL;
    uint32_t index[GPI_BINNING_BLOCK];
    uint64_t outside = 0, end = part_begin(job, part + 1);
    for (uint64_t i = part_begin(job, part); i < end; i += GPI_BINNING_BLOCK) {
        size_t count = end - i < GPI_BINNING_BLOCK ? (size_t)(end - i) : GPI_BINNING_BLOCK;
        job->bin(&a->binning, (const char *)a->in + i * item, count, index);
        if (private && job->plan.copies == COPIES)
            count_copies(tables, job->plan.stride, index, count);
        else if (private)
            count_table(tables, index, count);
        else if (job->plan.method == SHARED)
            outside += count_shared(a, index, count);
        else
            outside += count_direct(a, index, count);
    }
    for (size_t copy = 0; private && copy < job->plan.copies; copy++)
        outside += tables[copy * job->plan.stride + a->binning.bins];
    outside_add(job, outside);
}

static void part_values(void *arg, size_t part)
{
    struct job *job = arg;
    const unsigned char *in = job->args->in;
    uint32_t(*t)[VALUES] = (uint32_t(*)[VALUES])part_tables(job, part);
    uint64_t i = part_begin(job, part), end = part_begin(job, part + 1);
    for (; i + 8 <= end; i += 8) {
        uint64_t v;
        memcpy(&v, in + i, sizeof v);
        t[0][v & 255]++;
        t[1][v >> 8 & 255]++;
        t[2][v >> 16 & 255]++;
        t[3][v >> 24 & 255]++;
        t[4][v >> 32 & 255]++;
        t[5][v >> 40 & 255]++;
        t[6][v >> 48 & 255]++;
        t[7][v >> 56]++;
    }
    for (; i < end; i++)
        t[0][in[i]]++;
}

/* ---- from tables to the result ---- */

enum { MERGE_BINS = 1024, CLEAR_BINS = 1 << 18 };

static void merge_bins(void *arg, size_t block)
{
    const struct job *job = arg;
    const struct gpi_histogram_args *a = job->args;
    const size_t begin = block * MERGE_BINS, left = a->binning.bins - begin;
    const size_t bins = left < MERGE_BINS ? left : MERGE_BINS;
    uint64_t sum[MERGE_BINS] = {0};
    for (size_t t = 0; t < job->plan.parts * job->plan.copies; t++) {
        const uint32_t *table = job->tables + t * job->plan.stride + begin;
        for (size_t b = 0; b < bins; b++)
            sum[b] += table[b];
    }
    for (size_t b = 0; b < bins; b++) {
        if (a->wide_counters) {
            uint64_t *counter = (uint64_t *)a->counts + begin + b;
            *counter = sum[b] + (a->accumulate ? *counter : 0);
        } else {
            uint32_t *counter = (uint32_t *)a->counts + begin + b;
            *counter = (uint32_t)sum[b] + (a->accumulate ? *counter : 0);
        }
    }
}

static void clear_bins(void *arg, size_t block)
{
    const struct gpi_histogram_args *a = ((struct job *)arg)->args;
    const size_t counter = a->wide_counters ? sizeof(uint64_t) : sizeof(uint32_t);
    const size_t begin = block * CLEAR_BINS, left = a->binning.bins - begin;
    memset((char *)a->counts + begin * counter, 0,
           (left < CLEAR_BINS ? left : CLEAR_BINS) * counter);
}

/* Bin the 256 values, once each, with the number of times they came up. */
static void merge_values(struct job *job)
{
    const struct gpi_histogram_args *a = job->args;
    uint64_t sum[VALUES] = {0};
    uint32_t index[VALUES];
    unsigned char value[VALUES];
    for (size_t t = 0; t < job->plan.parts * job->plan.copies; t++)
        for (size_t v = 0; v < VALUES; v++)
            sum[v] += job->tables[t * VALUES + v];
    for (size_t v = 0; v < VALUES; v++)
        value[v] = (unsigned char)v;
    job->bin(&a->binning, value, VALUES, index);
    for (size_t v = 0; v < VALUES; v++) {
        if (index[v] == a->binning.bins)
            job->outside += sum[v];
        else if (a->wide_counters)
            ((uint64_t *)a->counts)[index[v]] += sum[v];
        else
            ((uint32_t *)a->counts)[index[v]] += (uint32_t)sum[v];
    }
}

static void count_all(struct job *job, int threads)
{
    const struct gpi_histogram_args *a = job->args;
    const size_t bins = a->binning.bins;
    const enum method method = job->plan.method;
    if (method != PRIVATE && !a->accumulate)
        gpi_parallel_for(threads, (bins + CLEAR_BINS - 1) / CLEAR_BINS, clear_bins, job);
    gpi_parallel_for(threads, job->plan.parts, method == BY_VALUE ? part_values : part_indices,
                     job);
    if (method == PRIVATE)
        gpi_parallel_for(threads, (bins + MERGE_BINS - 1) / MERGE_BINS, merge_bins, job);
    else if (method == BY_VALUE)
        merge_values(job);
    if (a->outside)
        *a->outside = job->outside + (a->accumulate ? *a->outside : 0);
}

gp_status gpi_histogram_cpu(gp_context *ctx, const char *function,
                            const struct gpi_histogram_args *args)
{
    struct gpi_frame frame;
    struct job job = {.args = args, .bin = gpi_binning_find(ctx, args->dtype)};
    job.plan = plan_of(args->dtype, args->n, args->binning.bins, (size_t)ctx->threads);
    GPI_TRY(gpi_frame_open(ctx, function, gpi_piece(table_bytes(&job.plan)), &frame));
    job.tables = gpi_frame_take(&frame, table_bytes(&job.plan));
    count_all(&job, ctx->threads);
    gpi_frame_close(&frame);
    return GP_OK;
}
