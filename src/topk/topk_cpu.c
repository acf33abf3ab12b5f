/* SPDX-License-Identifier: MIT */
/* Top-k on the CPU: chunks handed to the threads, and what is between them. */
#include <string.h>

#include "core/threads.h"
#include "radixsort/radixsort_internal.h"
#include "topk/topk_internal.h"

enum { CHUNK_MIN = 1 << 16, CHUNKS_MAX = 4096 };

uint64_t gpi_topk_cpu_chunks(uint64_t n)
{
    uint64_t chunks = (n + CHUNK_MIN - 1) / CHUNK_MIN;
    return chunks < CHUNKS_MAX ? chunks : CHUNKS_MAX;
}

struct walk {
    const struct gpi_topk_job *job;
    const struct gpi_topk_loops *loops;
    int pass;
    bool alone; /* no two chunks at once */
};

static void count_chunk(void *arg, size_t chunk)
{
    const struct walk *w = arg;
    uint32_t bins[GPI_TOPK_BINS];
    memset(bins, 0, sizeof bins);
    uint64_t begin = gpi_topk_chunk_begin(w->job, chunk);
    if (begin == gpi_topk_chunk_begin(w->job, chunk + 1))
        return;
    w->loops->count(w->job, w->pass, chunk, bins);
    uint64_t *all = w->job->bins;
    if (w->alone) {
        for (int b = 0; b < GPI_TOPK_BINS; b++)
            all[b] += bins[b];
        return;
    }
    for (int b = 0; b < GPI_TOPK_BINS; b++)
        if (bins[b])
            __atomic_fetch_add(&all[b], bins[b], __ATOMIC_RELAXED);
}

static void tell_chunk(void *arg, size_t chunk)
{
    const struct walk *w = arg;
    w->loops->publish(w->job, chunk);
}

static void collect_chunk(void *arg, size_t chunk)
{
    const struct walk *w = arg;
    w->loops->collect(w->job, chunk);
}

/* The bin that holds the k-th word becomes known. If another thread changes keys during the call
 * there may be none: then it is the last. */
static void choose_bin(const struct gpi_topk_job *j, int pass)
{
    struct gpi_topk_state *s = j->state;
    int shift = gpi_topk_shift(j->key_bytes, pass), width = gpi_topk_width(j->key_bytes, pass);
    const uint64_t last = ((uint64_t)1 << width) - 1;
    uint64_t bin = 0;
    while (bin < last && j->bins[bin] < s->wanted)
        s->wanted -= j->bins[bin++];
    s->mask |= last << shift;
    s->prefix |= bin << shift;
    s->done = j->bins[bin] == s->wanted || shift == 0;
}

static void add_up(const struct gpi_topk_job *j)
{
    struct gpi_topk_counts sum = {0, 0};
    for (uint64_t c = 0; c < j->chunks; c++) {
        struct gpi_topk_counts here = j->counts[c];
        j->counts[c] = sum;
        sum.below += here.below;
        sum.at += here.at;
    }
}

void gpi_topk_cpu(gp_context *ctx, const struct gpi_topk_job *j)
{
    const int threads = gpi_threads_for(ctx->threads, j->n);
    struct walk w = {j, gpi_topk_loops_get(ctx->isa, gpi_key_width(j->key_bytes)), 0,
                     threads == 1 || j->chunks == 1};
    *j->state = (struct gpi_topk_state){0, 0, j->k, 0};
    for (; !j->state->done; w.pass++) {
        memset(j->bins, 0, GPI_TOPK_BINS * sizeof *j->bins);
        gpi_parallel_for(threads, (size_t)j->chunks, count_chunk, &w);
        choose_bin(j, w.pass);
    }
    gpi_parallel_for(threads, (size_t)j->chunks, tell_chunk, &w);
    add_up(j);
    gpi_parallel_for(threads, (size_t)j->chunks, collect_chunk, &w);
}
