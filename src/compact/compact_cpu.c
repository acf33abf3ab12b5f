/* SPDX-License-Identifier: MIT */
/*
 * The CPU backend. A thread marks a block (one bit per item), waits until the counts of all blocks
 * before it have been added up, adds its own, and moves the block, which is in its cache. Blocks
 * are begun in order, so what one waits for is on its way. In place, kept items move to a stage
 * first, and from there to their place when all blocks before have been read. A partition in one
 * array is marked as a whole before, as its others lie behind all kept items. A partition in three
 * has bits and counts of those inside and of those below, and makes the bits of those above from
 * both. Flags that are an output are made from the bits of a block.
 */
#include <string.h>

#include "compact/compact_internal.h"
#include "core/check.h"
#include "core/past_cache.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"

enum {
    BLOCK_BYTES_MIN = 32768, /* of items */
    BLOCK_BYTES_MAX = 131072,
    BLOCK_ITEMS_MAX = 32768,
    BLOCKS_PER_THREAD = 4, /* where there are as many */
    THREADS_MAX = 4096
};

/* Bits and counts that a block has: of the kept, and of those below. */
enum { KEPT, BELOW, MARKS };

struct block {
    uint64_t index, first;
    size_t items;
    uint64_t *bits[MARKS];
    uint64_t count[MARKS], place[MARKS]; /* marked in it, and in those before */
};

struct job {
    const struct gpi_compact_args *a;
    const struct gpi_compact_loops *loops;
    size_t block_items; /* a multiple of 64, so that blocks share no word of bits */
    size_t block_bytes; /* of items */
    uint64_t n;         /* items of the call */
    char *others;       /* of a partition */
    uint64_t *bits[MARKS], *counts[MARKS]; /* of all blocks, where they are marked before */
    char *stages;                          /* a block's for each thread */
    bool stream;                           /* outputs are stored past the cache */
    _Alignas(LINE) uint64_t next;          /* block to be claimed */
    _Alignas(LINE) uint64_t turn;          /* block that waits for the places */
    uint64_t places[MARKS];
    _Alignas(LINE) uint64_t read; /* in place: blocks of which nothing is left to be read */
};

/* Of a block, whole words of bits. */
static size_t items_of(const struct gpi_compact_args *a, uint64_t bytes)
{
    const uint64_t items = bytes / (a->item_bytes ? a->item_bytes : 1) / 64 * 64;
    return items < 64 ? 64 : (size_t)gpi_min(items, BLOCK_ITEMS_MAX);
}

static size_t block_items(const struct gpi_compact_args *a, int threads)
{
    const uint64_t share = a->n * a->item_bytes / ((uint64_t)threads * BLOCKS_PER_THREAD);
    const uint64_t most = gpi_min(share, BLOCK_BYTES_MAX);
    return items_of(a, most > BLOCK_BYTES_MIN ? most : BLOCK_BYTES_MIN);
}

static size_t marks_of(const struct gpi_compact_args *a)
{
    return a->sides == 2 ? 2 : 1;
}

/* Of blocks of any size. */
size_t gpi_compact_cpu_bytes(const struct gpi_compact_args *a, int threads)
{
    const size_t least = items_of(a, BLOCK_BYTES_MIN), most = items_of(a, BLOCK_BYTES_MAX);
    const uint64_t blocks = gpi_ceil_div(a->n, least);
    const uint64_t stages = gpi_min(blocks, threads ? (uint64_t)threads : THREADS_MAX);
    const size_t marks =
        gpi_piece((size_t)blocks * sizeof(uint64_t)) + gpi_piece((size_t)(a->n + most) / 8);
    return (a->follows ? marks * marks_of(a) : 0) +
           (a->in_place ? gpi_piece((size_t)stages * most * a->item_bytes) : 0);
}

static struct block block_at(const struct job *j, uint64_t index)
{
    const uint64_t first = index * j->block_items;
    return (struct block){
        .index = index, .first = first, .items = gpi_min(j->n - first, j->block_items)};
}

/* Flags as bytes; bits are copied, whole words but for the last block's. */
static void write_flags(const struct job *j, const struct block *b)
{
    char *out = j->a->out;
    if (j->a->bits)
        memcpy(out + b->first / 8, b->bits[KEPT], gpi_compact_flag_bytes(true, b->items));
    else
        j->loops->spread(b->bits[KEPT], b->items, (uint8_t *)out + b->first);
}

static void block_mark(const struct job *j, struct block *b)
{
    const struct gpi_compact_args *a = j->a;
    b->count[KEPT] = j->loops->mark(a, b->first, b->items, b->bits[KEPT]);
    if (a->flags)
        write_flags(j, b);
    if (a->sides == 2) {
        struct gpi_compact_args below = *a;
        below.range = gpi_compact_range_below(&a->range);
        b->count[BELOW] = j->loops->mark(&below, b->first, b->items, b->bits[BELOW]);
    }
}

/* Marks that stay until all blocks have them. */
static void mark_before(void *arg, size_t index)
{
    const struct job *j = arg;
    struct block b = block_at(j, index);
    for (size_t k = 0; k < marks_of(j->a); k++)
        b.bits[k] = j->bits[k] + b.first / 64;
    block_mark(j, &b);
    for (size_t k = 0; k < marks_of(j->a); k++)
        j->counts[k][index] = b.count[k];
}

static void take_marks(const struct job *j, struct block *b)
{
    for (size_t k = 0; k < marks_of(j->a); k++) {
        b->bits[k] = j->bits[k] + b->first / 64;
        b->count[k] = j->counts[k][b->index];
    }
}

/* Waits for the blocks before. */
static void take_places(struct job *j, struct block *b)
{
    gpi_wait_for(&j->turn, b->index);
    for (size_t k = 0; k < MARKS; k++) {
        b->place[k] = j->places[k];
        j->places[k] += b->count[k];
    }
    __atomic_store_n(&j->turn, b->index + 1, __ATOMIC_RELEASE);
}

/* Outputs that fit between a place and the capacity. */
static uint64_t room(uint64_t capacity, uint64_t place, uint64_t outputs)
{
    return gpi_min(outputs, place < capacity ? capacity - place : 0);
}

/* The outputs of a block: `items` of them, whose bits differ from skip, to a place in `side`. */
static void move_side(const struct job *j, const struct block *b, const uint64_t *bits,
                      uint64_t skip, const struct gpi_compact_side *side, uint64_t place,
                      uint64_t items)
{
    j->loops->move(j->a, b->first, b->items, bits, skip, 0, j->stream,
                   (char *)side->out + place * j->a->item_bytes,
                   room(side->capacity, place, items));
}

static void move_kept(const struct job *j, const struct block *b, char *stage)
{
    const struct gpi_compact_args *a = j->a;
    const uint64_t kept = b->count[KEPT], place = b->place[KEPT];
    const struct gpi_compact_side out = {a->out, a->capacity}, staged = {stage, kept};
    if (a->in_place)
        move_side(j, b, b->bits[KEPT], 0, &staged, 0, kept);
    else if (a->out)
        move_side(j, b, b->bits[KEPT], 0, &out, place, kept);
    if (a->indices)
        j->loops->move(a, b->first, b->items, b->bits[KEPT], 0, a->index_bytes, j->stream,
                       (char *)a->indices + place * a->index_bytes, room(a->capacity, place, kept));
}

static void move_others(const struct job *j, const struct block *b)
{
    const struct gpi_compact_args *a = j->a;
    const uint64_t place = b->first - b->place[KEPT], others = b->items - b->count[KEPT];
    const uint64_t *bits = b->bits[KEPT];
    const struct gpi_compact_side rest = {j->others, a->side[0].capacity};
    if (a->sides == 1) {
        move_side(j, b, bits, ~(uint64_t)0, &rest, place, others);
        return;
    }
    uint64_t *below = b->bits[BELOW];
    move_side(j, b, below, 0, &rest, b->place[BELOW], b->count[BELOW]);
    for (size_t g = 0; 64 * g < b->items; g++)
        below[g] |= bits[g];
    move_side(j, b, below, ~(uint64_t)0, &a->side[1], place - b->place[BELOW],
              others - b->count[BELOW]);
}

/* When all blocks before have been read, of which some may lie where these items go. */
static void unstage(struct job *j, const struct block *b, const char *stage)
{
    const struct gpi_compact_args *a = j->a;
    gpi_wait_for(&j->read, b->index);
    __atomic_store_n(&j->read, b->index + 1, __ATOMIC_RELEASE);
    memcpy((char *)a->out + b->place[KEPT] * a->item_bytes, stage,
           room(a->capacity, b->place[KEPT], b->count[KEPT]) * a->item_bytes);
}

/* What one thread does: blocks, in order, until there are none. */
static void run(void *arg, size_t thread)
{
    struct job *j = arg;
    const uint64_t blocks = gpi_ceil_div(j->n, j->block_items);
    uint64_t bits[MARKS][BLOCK_ITEMS_MAX / 64], index;
    while ((index = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED)) < blocks) {
        struct block b = block_at(j, index);
        char *stage = j->a->in_place ? j->stages + thread * j->block_bytes : NULL;
        b.bits[KEPT] = bits[KEPT];
        b.bits[BELOW] = bits[BELOW];
        if (j->a->follows)
            take_marks(j, &b);
        else
            block_mark(j, &b);
        take_places(j, &b);
        if (j->a->flags)
            continue;
        move_kept(j, &b, stage);
        if (j->a->sides)
            move_others(j, &b);
        if (j->a->in_place)
            unstage(j, &b, stage);
    }
}

/* An item is marked, read and written. */
static int threads_for(const struct gpi_compact_args *a, int threads)
{
    return gpi_threads_for(threads, a->n * (4 + a->item_bytes) / 16);
}

/* A partition in one array: where its others lie. */
static void mark_all(struct job *j, int threads, struct gpi_frame *frame)
{
    const uint64_t blocks = gpi_ceil_div(j->n, j->block_items);
    uint64_t kept = 0;
    for (size_t k = 0; k < marks_of(j->a); k++) {
        j->counts[k] = gpi_frame_take(frame, (size_t)blocks * sizeof(uint64_t));
        j->bits[k] = gpi_frame_take(frame, (size_t)blocks * (j->block_items / 8));
    }
    gpi_parallel_for(threads, blocks, mark_before, j);
    for (uint64_t i = 0; i < blocks; i++)
        kept += j->counts[KEPT][i];
    j->others = j->a->out;
    if (kept > 0)
        j->others += kept * j->a->item_bytes;
}

static void finish(gp_context *ctx, const struct job *j)
{
    const struct gpi_compact_args *a = j->a;
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, (gp_dtype)0);
    const uint64_t kept = j->places[KEPT], below = j->places[BELOW], others = j->n - kept;
    const uint64_t counts[3] = {kept, a->sides == 2 ? below : others, others - below};
    const uint64_t rooms[3] = {a->capacity, a->side[0].capacity, a->side[1].capacity};
    for (uint32_t k = 0; k < a->counts; k++) {
        a->out_count[k] = counts[k];
        if (counts[k] > rooms[k])
            gpi_report(&reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, counts[k], rooms[k]);
    }
}

gp_status gpi_compact_cpu(gp_context *ctx, const char *function, const struct gpi_compact_args *a)
{
    struct job j = {.a = a, .loops = gpi_compact_loops_for(ctx->isa), .n = a->n};
    if (a->device_n && *a->device_n < j.n)
        j.n = *a->device_n;
    int threads = threads_for(a, ctx->threads);
    j.block_items = block_items(a, threads);
    j.block_bytes = j.block_items * a->item_bytes;
    GPI_FRAME(frame, ctx, function, gpi_compact_cpu_bytes(a, threads));
    const uint64_t blocks = gpi_ceil_div(j.n, j.block_items);
    threads = (int)gpi_min((uint64_t)threads, blocks);
    if (a->in_place)
        j.stages = gpi_frame_take(&frame, (size_t)threads * j.block_bytes);
    /* Moving smaller outputs takes longer than memory does. */
    const uint64_t bytes = a->out ? a->item_bytes : a->index_bytes;
    j.stream = !a->in_place && bytes >= 4 && gpi_min(a->capacity, j.n) * bytes > gpi_cache_bytes();
    j.others = a->side[0].out;
    if (a->follows)
        mark_all(&j, threads, &frame);
    gpi_parallel_for(threads, (size_t)threads, run, &j);
    finish(ctx, &j);
    return GP_OK;
}
