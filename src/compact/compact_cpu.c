/* SPDX-License-Identifier: MIT */
/*
 * The CPU backend's rounds. A round marks its blocks (one bit per item, and a count per block),
 * adds the counts up, and moves its blocks; both sweeps are parallel, and the second finds items or
 * bits in the cache. In place, blocks move to a stage first and from there to their place when the
 * whole round has been read.
 */
#include <string.h>

#include "compact/compact_internal.h"
#include "core/check.h"
#include "core/past_cache.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"

enum {
    BLOCK_BYTES = 65536, /* of items */
    BLOCK_ITEMS_MAX = 16384,
    ROUND_BYTES = 1 << 19, /* of items, per thread: about half of a second-level cache */
    ROUND_BLOCKS_MAX = 64, /* per thread */
    THREADS_MAX = 4096
};

static size_t out_bytes(const struct gpi_compact_args *a)
{
    return a->index_bytes ? a->index_bytes : a->item_bytes;
}

struct plan {
    size_t block_items; /* a multiple of 64, so that blocks share no word of bits */
    size_t block_bytes; /* of items */
    size_t round_blocks;
};

struct job {
    const struct gpi_compact_args *a;
    const struct gpi_compact_loops *loops;
    struct plan plan;
    uint64_t n;      /* items of the call */
    uint64_t first;  /* item of the round */
    uint64_t total;  /* kept in the whole call, known when partitioning */
    uint64_t *count; /* per block of the round; after adding up: kept before the block */
    uint64_t *bits;
    char *stage;
    bool stream; /* outputs are stored past the cache */
};

static struct plan plan_of(const struct gpi_compact_args *a, int threads)
{
    struct plan p;
    size_t item = a->item_bytes ? a->item_bytes : 1;
    p.block_items = BLOCK_BYTES / item / 64 * 64;
    if (p.block_items < 64)
        p.block_items = 64;
    if (p.block_items > BLOCK_ITEMS_MAX)
        p.block_items = BLOCK_ITEMS_MAX;
    p.block_bytes = p.block_items * item;
    uint64_t blocks = (a->n + p.block_items - 1) / p.block_items;
    size_t round = ROUND_BYTES / p.block_bytes;
    round = round < 1 ? 1 : round > ROUND_BLOCKS_MAX ? ROUND_BLOCKS_MAX : round;
    round *= (size_t)threads;
    p.round_blocks = a->partition || blocks < round ? (size_t)blocks : round;
    return p;
}

static size_t stage_bytes(const struct gpi_compact_args *a, const struct plan *p)
{
    return a->in_place ? p->round_blocks * p->block_bytes : 0;
}

size_t gpi_compact_cpu_bytes(const struct gpi_compact_args *a, int threads)
{
    struct plan p = plan_of(a, threads ? threads : THREADS_MAX);
    return gpi_piece((p.round_blocks + 1) * sizeof(uint64_t)) +
           gpi_piece(p.round_blocks * p.block_items / 8) + gpi_piece(stage_bytes(a, &p));
}

static size_t block_items(const struct job *j, size_t block)
{
    uint64_t begin = j->first + (uint64_t)block * j->plan.block_items;
    uint64_t left = j->n - begin;
    return left < j->plan.block_items ? (size_t)left : j->plan.block_items;
}

static void mark_block(void *arg, size_t block)
{
    struct job *j = arg;
    j->count[block] =
        j->loops->mark(j->a, j->first + (uint64_t)block * j->plan.block_items,
                       block_items(j, block), j->bits + block * j->plan.block_items / 64);
}

/* Outputs that fit between a place and the capacity. */
static uint64_t room(const struct job *j, uint64_t place, uint64_t outputs)
{
    uint64_t left = place < j->a->capacity ? j->a->capacity - place : 0;
    return outputs < left ? outputs : left;
}

static uint64_t kept_in(const struct job *j, size_t block)
{
    return j->count[block + 1] - j->count[block];
}

static void move_block(void *arg, size_t block)
{
    struct job *j = arg;
    const struct gpi_compact_args *a = j->a;
    size_t items = block_items(j, block), bytes = out_bytes(a);
    uint64_t first = j->first + (uint64_t)block * j->plan.block_items;
    const uint64_t *bits = j->bits + block * j->plan.block_items / 64;
    uint64_t kept = kept_in(j, block), place = j->count[block];
    char *to =
        a->in_place ? j->stage + block * j->plan.block_bytes : (char *)a->out + place * bytes;
    j->loops->move(a, first, items, bits, 0, j->stream, to,
                   a->in_place ? kept : room(j, place, kept));
    if (a->partition) {
        to = (char *)a->out + (j->total + first - place) * bytes;
        j->loops->move(a, first, items, bits, ~(uint64_t)0, j->stream, to, items - kept);
    }
}

static void unstage_block(void *arg, size_t block)
{
    struct job *j = arg;
    uint64_t place = j->count[block], outputs = room(j, place, kept_in(j, block));
    memcpy((char *)j->a->out + place * j->a->item_bytes, j->stage + block * j->plan.block_bytes,
           outputs * j->a->item_bytes);
}

/* Counts to places; returns what has been kept up to the end of the round. */
static uint64_t add_up(uint64_t *count, size_t blocks, uint64_t kept)
{
    for (size_t b = 0; b < blocks; b++) {
        uint64_t c = count[b];
        count[b] = kept;
        kept += c;
    }
    count[blocks] = kept;
    return kept;
}

static uint64_t run_rounds(struct job *j, int threads)
{
    uint64_t kept = 0, round_items = (uint64_t)j->plan.round_blocks * j->plan.block_items;
    for (j->first = 0; j->first < j->n; j->first += round_items) {
        uint64_t left = j->n - j->first, items = left < round_items ? left : round_items;
        size_t blocks = (size_t)((items + j->plan.block_items - 1) / j->plan.block_items);
        gpi_parallel_for(threads, blocks, mark_block, j);
        kept = j->total = add_up(j->count, blocks, kept);
        gpi_parallel_for(threads, blocks, move_block, j);
        if (j->a->in_place)
            gpi_parallel_for(threads, blocks, unstage_block, j);
    }
    return kept;
}

/* An item is marked, read and written. */
static int threads_for(const struct gpi_compact_args *a, int threads)
{
    return gpi_threads_for(threads, a->n * (4 + a->item_bytes) / 8);
}

gp_status gpi_compact_cpu(gp_context *ctx, const char *function, const struct gpi_compact_args *a)
{
    struct job j = {.a = a, .loops = gpi_compact_loops_for(ctx->isa), .n = a->n};
    if (a->device_n && *a->device_n < j.n)
        j.n = *a->device_n;
    int threads = threads_for(a, ctx->threads);
    j.plan = plan_of(a, threads);
    GPI_FRAME(frame, ctx, function, gpi_compact_cpu_bytes(a, threads));
    j.count = gpi_frame_take(&frame, (j.plan.round_blocks + 1) * sizeof(uint64_t));
    j.bits = gpi_frame_take(&frame, j.plan.round_blocks * j.plan.block_items / 8);
    j.stage = gpi_frame_take(&frame, stage_bytes(a, &j.plan));
    /* Moving smaller outputs takes longer than memory does. */
    j.stream = !a->in_place && out_bytes(a) >= 4 &&
               gpi_min(a->capacity, j.n) * out_bytes(a) >= STREAM_BYTES;
    uint64_t kept = run_rounds(&j, threads);
    *a->out_count = kept;
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, (gp_dtype)0);
    if (kept > a->capacity)
        gpi_report(&reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, kept, a->capacity);
    return GP_OK;
}
