/* SPDX-License-Identifier: MIT */
/*
 * Counting on the CPU. Workers claim chunks of the input; each bins a block at a time into a buffer
 * of indices (histogram_cpu_tmpl.c) and counts those. Sums of integers do not depend on their
 * order, so neither does the result on threads or chunks.
 *
 * A table is as many counters as there are bins and one for "in no bin". As long as tables are
 * small against the first-level cache a worker has several, so that an increment need not wait for
 * the one before when both are of the same bin.
 */
#include "histogram/histogram_cpu.h"

#include <string.h>

#include "core/check.h"
#include "core/threads.h"
#include "core/workspace.h"

enum {
    VALUES = GPI_HISTOGRAM_VALUES,
    BLOCK = GPI_BINNING_BLOCK,
    AHEAD = 4 * BLOCK, /* items, asked for before they are binned */
    LINE = 64          /* bytes */
};

/* ---- a block of items ---- */

size_t gpi_histogram_bin(const struct gpi_histogram_job *job, uint64_t begin, uint64_t end,
                         uint32_t *index)
{
    const char *in = (const char *)job->args->in + begin * job->item;
    const size_t count = end - begin < BLOCK ? (size_t)(end - begin) : BLOCK;
    /* Counting keeps the processor from looking that far ahead by itself. */
    for (size_t line = 0; end - begin > AHEAD + BLOCK && line < BLOCK * job->item; line += LINE)
        __builtin_prefetch(in + AHEAD * job->item + line);
    job->bin(&job->binning, in, count, index);
    return count;
}

/* All the same: sorted or constant input, where each increment would wait for the one before. */
static bool is_run(const uint32_t *index, size_t count)
{
    uint32_t differ = (index[0] ^ index[count - 1]) | (index[0] ^ index[count / 2]);
    if (differ != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        differ |= index[0] ^ index[i];
    return differ == 0;
}

void gpi_histogram_count(uint32_t *tables, size_t stride, size_t copies, const uint32_t *index,
                         size_t count)
{
    const size_t mask = copies - 1;
    uint32_t *t0 = tables, *t1 = t0 + (1 & mask) * stride;
    uint32_t *t2 = t0 + (2 & mask) * stride, *t3 = t0 + (3 & mask) * stride;
    size_t i = 0;
    if (is_run(index, count)) {
        t0[index[0]] += (uint32_t)count;
        return;
    }
    for (; i + 8 <= count; i += 8) {
        uint64_t a, b, c, d; /* one load for two indices */
        memcpy(&a, index + i, sizeof a);
        memcpy(&b, index + i + 2, sizeof b);
        memcpy(&c, index + i + 4, sizeof c);
        memcpy(&d, index + i + 6, sizeof d);
        t0[(uint32_t)a]++;
        t1[a >> 32]++;
        t2[(uint32_t)b]++;
        t3[b >> 32]++;
        t0[(uint32_t)c]++;
        t1[c >> 32]++;
        t2[(uint32_t)d]++;
        t3[d >> 32]++;
    }
    for (; i < count; i++)
        t0[index[i]]++;
}

/* The next two return how many are in no bin. */
static uint64_t count_direct(const struct gpi_histogram_job *job, const uint32_t *index,
                             size_t count)
{
    const uint32_t none = job->binning.none;
    uint64_t *wide = job->args->wide_counters ? job->args->counts : NULL;
    uint32_t *narrow = job->args->counts;
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
static uint64_t count_shared(const struct gpi_histogram_job *job, const uint32_t *index,
                             size_t count)
{
    const uint32_t none = job->binning.none;
    uint64_t outside = 0;
    for (size_t i = 0, run; i < count; i += run) {
        run = 1;
        while (i + run < count && index[i + run] == index[i])
            run++;
        if (index[i] == none)
            outside += run;
        else if (job->args->wide_counters)
            __atomic_fetch_add((uint64_t *)job->args->counts + index[i], run, __ATOMIC_RELAXED);
        else
            __atomic_fetch_add((uint32_t *)job->args->counts + index[i], (uint32_t)run,
                               __ATOMIC_RELAXED);
    }
    return outside;
}

/* ---- workers ---- */

/* Claims the next chunk; returns its items, 0: there is none. */
static uint64_t claim(struct gpi_histogram_job *job, uint64_t *begin)
{
    const uint64_t n = job->args->n;
    *begin = __atomic_fetch_add(&job->next, job->plan.chunk, __ATOMIC_RELAXED);
    if (*begin >= n)
        return 0;
    return n - *begin < job->plan.chunk ? n - *begin : job->plan.chunk;
}

static void count_in_tables(const struct gpi_histogram_job *job, uint32_t *tables, uint64_t begin,
                            uint64_t end)
{
    const size_t stride = job->plan.stride, copies = job->plan.copies;
    uint32_t index[BLOCK];
    for (size_t count; begin < end; begin += count) {
        count = gpi_histogram_bin(job, begin, end, index);
        gpi_histogram_count(tables, stride, copies, index, count);
    }
}

static void count_values(const struct gpi_histogram_job *job, uint32_t *tables, uint64_t begin,
                         uint64_t count)
{
    const unsigned char *in = (const unsigned char *)job->args->in + begin;
    const size_t mask = job->plan.copies - 1;
    uint32_t *t0 = tables, *t1 = t0 + (1 & mask) * VALUES;
    uint32_t *t2 = t0 + (2 & mask) * VALUES, *t3 = t0 + (3 & mask) * VALUES;
    uint64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t v;
        memcpy(&v, in + i, sizeof v);
        t0[v & 255]++;
        t1[v >> 8 & 255]++;
        t2[v >> 16 & 255]++;
        t3[v >> 24 & 255]++;
        t0[v >> 32 & 255]++;
        t1[v >> 40 & 255]++;
        t2[v >> 48 & 255]++;
        t3[v >> 56]++;
    }
    for (; i < count; i++)
        t0[in[i]]++;
}

static void add_copies(uint32_t *tables, const struct gpi_histogram_plan *p)
{
    for (size_t copy = 1; copy < p->copies; copy++)
        for (size_t b = 0; b < p->stride; b++)
            tables[b] += tables[copy * p->stride + b];
}

/* A worker with tables; they are cleared when there is something to count. */
static void work_private(void *arg, size_t worker)
{
    struct gpi_histogram_job *job = arg;
    const struct gpi_histogram_plan *p = &job->plan;
    const size_t words = p->copies * p->stride;
    uint32_t *tables = job->tables + worker * words;
    uint64_t begin, count, counted = 0;
    while (counted <= gpi_histogram_table_items - job->plan.chunk &&
           (count = claim(job, &begin)) > 0) {
        if (counted == 0)
            memset(tables, 0, words * sizeof *tables);
        counted += count;
        if (p->method == GPI_HISTOGRAM_BY_VALUE)
            count_values(job, tables, begin, count);
        else
            count_in_tables(job, tables, begin, begin + count);
    }
    job->counted[worker] = counted;
    if (counted == 0)
        return;
    add_copies(tables, p);
    if (p->method == GPI_HISTOGRAM_PRIVATE) {
        __atomic_fetch_add(&job->outside, tables[job->binning.none], __ATOMIC_RELAXED);
        tables[job->binning.none] = 0;
    }
}

/* A worker that increments the result. */
static void work_in_place(void *arg, size_t worker)
{
    struct gpi_histogram_job *job = arg;
    uint32_t index[BLOCK];
    uint64_t begin, count, outside = 0;
    (void)worker;
    while ((count = claim(job, &begin)) > 0)
        for (uint64_t end = begin + count; begin < end; begin += count) {
            count = gpi_histogram_bin(job, begin, end, index);
            outside += job->plan.workers > 1 ? count_shared(job, index, count)
                                             : count_direct(job, index, count);
        }
    __atomic_fetch_add(&job->outside, outside, __ATOMIC_RELAXED);
}

/* ---- from tables to the result ---- */

enum { MERGE_BINS = 8192, CLEAR_BINS = 1 << 18 };

void gpi_histogram_put(const struct gpi_histogram_args *a, size_t begin, size_t count,
                       const uint32_t *table)
{
    uint64_t *wide = (uint64_t *)a->counts + begin;
    for (size_t b = 0; a->wide_counters && b < count; b++)
        wide[b] = table[b];
    if (!a->wide_counters)
        memcpy((uint32_t *)a->counts + begin, table, count * sizeof *table);
}

void gpi_histogram_add(const struct gpi_histogram_args *a, size_t begin, size_t count,
                       const uint32_t *table)
{
    uint64_t *wide = (uint64_t *)a->counts + begin;
    uint32_t *narrow = (uint32_t *)a->counts + begin;
    for (size_t b = 0; a->wide_counters && b < count; b++)
        wide[b] += table[b];
    for (size_t b = 0; !a->wide_counters && b < count; b++)
        narrow[b] += table[b];
}

void gpi_histogram_add_shared(const struct gpi_histogram_args *a, size_t begin, size_t count,
                              const uint32_t *table)
{
    uint64_t *wide = (uint64_t *)a->counts + begin;
    uint32_t *narrow = (uint32_t *)a->counts + begin;
    for (size_t b = 0; b < count; b++)
        if (table[b] > 0 && a->wide_counters)
            __atomic_fetch_add(wide + b, table[b], __ATOMIC_RELAXED);
        else if (table[b] > 0)
            __atomic_fetch_add(narrow + b, table[b], __ATOMIC_RELAXED);
}

static void merge_bins(void *arg, size_t block)
{
    const struct gpi_histogram_job *job = arg;
    const struct gpi_histogram_args *a = job->args;
    const size_t begin = block * MERGE_BINS, left = a->binning.bins - begin;
    const size_t count = left < MERGE_BINS ? left : MERGE_BINS;
    bool add = a->accumulate;
    for (size_t w = 0; w < job->plan.workers; w++) {
        const uint32_t *table = job->tables + w * job->plan.copies * job->plan.stride + begin;
        if (job->counted[w] == 0)
            continue;
        if (add)
            gpi_histogram_add(a, begin, count, table);
        else
            gpi_histogram_put(a, begin, count, table);
        add = true;
    }
}

static void clear_bins(void *arg, size_t block)
{
    const struct gpi_histogram_args *a = ((struct gpi_histogram_job *)arg)->args;
    const size_t counter = a->wide_counters ? sizeof(uint64_t) : sizeof(uint32_t);
    const size_t begin = block * CLEAR_BINS, left = a->binning.bins - begin;
    memset((char *)a->counts + begin * counter, 0,
           (left < CLEAR_BINS ? left : CLEAR_BINS) * counter);
}

/* Bin the 256 values, once each, with the number of times they came up. */
static void merge_values(struct gpi_histogram_job *job)
{
    const struct gpi_histogram_args *a = job->args;
    uint64_t sum[VALUES] = {0};
    uint32_t index[VALUES];
    unsigned char value[VALUES];
    for (size_t w = 0; w < job->plan.workers; w++)
        for (size_t v = 0; job->counted[w] > 0 && v < VALUES; v++)
            sum[v] += job->tables[w * job->plan.copies * VALUES + v];
    for (size_t v = 0; v < VALUES; v++)
        value[v] = (unsigned char)v;
    for (size_t v = 0; v < VALUES; v += BLOCK)
        job->bin(&job->binning, value + v, BLOCK, index + v);
    for (size_t v = 0; v < VALUES; v++) {
        if (index[v] == job->binning.none)
            job->outside += sum[v];
        else if (a->wide_counters)
            ((uint64_t *)a->counts)[index[v]] += sum[v];
        else
            ((uint32_t *)a->counts)[index[v]] += (uint32_t)sum[v];
    }
}

static void count_all(struct gpi_histogram_job *job, struct gpi_frame *frame)
{
    const struct gpi_histogram_args *a = job->args;
    const struct gpi_histogram_plan *p = &job->plan;
    const size_t bins = a->binning.bins;
    const bool private = p->method == GPI_HISTOGRAM_PRIVATE;
    if (!private && p->method != GPI_HISTOGRAM_SPLIT && !a->accumulate)
        gpi_parallel_for(job->threads, (bins + CLEAR_BINS - 1) / CLEAR_BINS, clear_bins, job);
    if (p->method == GPI_HISTOGRAM_SHARED || p->method == GPI_HISTOGRAM_DIRECT)
        gpi_parallel_for(job->threads, p->workers, work_in_place, job);
    else if (p->method == GPI_HISTOGRAM_SPLIT)
        gpi_histogram_split(job, frame);
    else
        gpi_parallel_for(job->threads, p->workers, work_private, job);
    if (private)
        gpi_parallel_for(job->threads, (bins + MERGE_BINS - 1) / MERGE_BINS, merge_bins, job);
    else if (p->method == GPI_HISTOGRAM_BY_VALUE)
        merge_values(job);
    if (a->outside)
        *a->outside = job->outside + (a->accumulate ? *a->outside : 0);
}

gp_status gpi_histogram_cpu(gp_context *ctx, const char *function,
                            const struct gpi_histogram_args *args)
{
    const int threads = gpi_threads_for(ctx->threads, args->n / 2);
    const struct gpi_binning_functions functions = gpi_binning_find(ctx, args->dtype);
    struct gpi_histogram_job job = {
        .args = args, .binning = args->binning, .bin = functions.bin, .threads = threads};
    job.item = gpi_dtype_bytes(args->dtype);
    job.plan = gpi_histogram_plan(args->dtype, args->n, args->binning.bins, (size_t)threads);
    if (args->binning.kind != GPI_BINNING_EDGES)
        job.plan.edge_cells = 0;
    const struct gpi_histogram_plan *p = &job.plan;
    const size_t bins = args->binning.bins;
    GPI_FRAME(frame, ctx, function, gpi_histogram_frame_bytes(p, args->n, bins));
    if (p->edge_cells > 0) {
        uint32_t *below = gpi_frame_take(&frame, p->edge_cells * sizeof *below);
        uint32_t *bin = gpi_frame_take(&frame, (bins + 1) * sizeof *bin);
        functions.edge_grid(&job.binning, p->edge_cells, below, bin,
                            gpi_frame_take(&frame, (2 * bins + 1) * GPI_EDGE_BYTES));
    }
    if (p->method == GPI_HISTOGRAM_BY_VALUE || p->method == GPI_HISTOGRAM_PRIVATE) {
        job.tables =
            gpi_frame_take(&frame, p->workers * p->copies * p->stride * sizeof *job.tables);
        job.counted = gpi_frame_take(&frame, p->workers * sizeof *job.counted);
    }
    count_all(&job, &frame);
    return GP_OK;
}
