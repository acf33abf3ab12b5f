/* SPDX-License-Identifier: MIT */
/*
 * The CPU backend's rounds. A round marks its blocks (one bit per item, and a count per block),
 * adds the counts up, and moves its blocks; both sweeps are parallel, and the second finds items or
 * bits in the cache. In place, blocks move to a stage first and from there to their place when the
 * whole round has been read. A partition in three has bits and counts of those inside and of those
 * below, and makes the bits of those above from both. Flags that are an output are the bits of one
 * round over everything, or made from the bits of a block.
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

struct plan {
    size_t block_items; /* a multiple of 64, so that blocks share no word of bits */
    size_t block_bytes; /* of items */
    size_t round_blocks;
};

/* One bit per item of a round. */
struct marks {
    uint64_t *count; /* per block of the round; after adding up: items before the block */
    uint64_t *bits;
};

struct job {
    const struct gpi_compact_args *a;
    const struct gpi_compact_loops *loops;
    struct plan plan;
    uint64_t n;     /* items of the call */
    uint64_t first; /* item of the round */
    char *others;   /* of a partition */
    struct marks kept, below;
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
    p.round_blocks = a->follows || blocks < round ? (size_t)blocks : round;
    return p;
}

static size_t stage_bytes(const struct gpi_compact_args *a, const struct plan *p)
{
    return a->in_place ? p->round_blocks * p->block_bytes : 0;
}

size_t gpi_compact_cpu_bytes(const struct gpi_compact_args *a, int threads)
{
    struct plan p = plan_of(a, threads ? threads : THREADS_MAX);
    size_t marks = gpi_piece((p.round_blocks + 1) * sizeof(uint64_t)) +
                   gpi_piece(p.round_blocks * p.block_items / 8);
    return marks * (a->sides == 2 ? 2 : 1) + gpi_piece(stage_bytes(a, &p));
}

static size_t block_items(const struct job *j, size_t block)
{
    uint64_t begin = j->first + (uint64_t)block * j->plan.block_items;
    uint64_t left = j->n - begin;
    return left < j->plan.block_items ? (size_t)left : j->plan.block_items;
}

static uint64_t *block_bits(const struct job *j, const struct marks *m, size_t block)
{
    return m->bits + block * j->plan.block_items / 64;
}

/* Flags as bytes; bits are copied, whole words but for the last block's. */
static void write_flags(const struct job *j, uint64_t first, size_t items, const uint64_t *bits)
{
    char *out = j->a->out;
    if (j->a->bits)
        memcpy(out + first / 8, bits, gpi_compact_flag_bytes(true, items));
    else
        j->loops->spread(bits, items, (uint8_t *)out + first);
}

static void mark_block(void *arg, size_t block)
{
    struct job *j = arg;
    const uint64_t first = j->first + (uint64_t)block * j->plan.block_items;
    const size_t items = block_items(j, block);
    uint64_t *bits = block_bits(j, &j->kept, block);
    j->kept.count[block] = j->loops->mark(j->a, first, items, bits);
    if (j->a->flags)
        write_flags(j, first, items, bits);
    if (j->a->sides == 2) {
        struct gpi_compact_args below = *j->a;
        below.range = gpi_compact_range_below(&j->a->range);
        j->below.count[block] =
            j->loops->mark(&below, first, items, block_bits(j, &j->below, block));
    }
}

/* Outputs that fit between a place and the capacity. */
static uint64_t room(uint64_t capacity, uint64_t place, uint64_t outputs)
{
    return gpi_min(outputs, place < capacity ? capacity - place : 0);
}

static uint64_t marked_in(const struct marks *m, size_t block)
{
    return m->count[block + 1] - m->count[block];
}

/* The outputs of a block: `items` of them, whose bits differ from skip, to a place in `side`. */
static void move_side(const struct job *j, size_t block, const uint64_t *bits, uint64_t skip,
                      const struct gpi_compact_side *side, uint64_t place, uint64_t items)
{
    const uint64_t first = j->first + (uint64_t)block * j->plan.block_items;
    j->loops->move(j->a, first, block_items(j, block), bits, skip, 0, j->stream,
                   (char *)side->out + place * j->a->item_bytes,
                   room(side->capacity, place, items));
}

static void move_kept(const struct job *j, size_t block)
{
    const struct gpi_compact_args *a = j->a;
    const uint64_t *bits = block_bits(j, &j->kept, block), first = j->first;
    const uint64_t kept = marked_in(&j->kept, block), place = j->kept.count[block];
    const struct gpi_compact_side out = {a->out, a->capacity},
                                  stage = {j->stage + block * j->plan.block_bytes, kept};
    if (a->in_place)
        move_side(j, block, bits, 0, &stage, 0, kept);
    else if (a->out)
        move_side(j, block, bits, 0, &out, place, kept);
    if (a->indices)
        j->loops->move(a, first + (uint64_t)block * j->plan.block_items, block_items(j, block),
                       bits, 0, a->index_bytes, j->stream,
                       (char *)a->indices + place * a->index_bytes, room(a->capacity, place, kept));
}

static void move_others(const struct job *j, size_t block)
{
    const struct gpi_compact_args *a = j->a;
    const uint64_t *bits = block_bits(j, &j->kept, block);
    const uint64_t before = j->first + (uint64_t)block * j->plan.block_items;
    const uint64_t place = before - j->kept.count[block];
    const uint64_t others = block_items(j, block) - marked_in(&j->kept, block);
    const struct gpi_compact_side rest = {j->others, a->side[0].capacity};
    if (a->sides == 1) {
        move_side(j, block, bits, ~(uint64_t)0, &rest, place, others);
        return;
    }
    uint64_t *below = block_bits(j, &j->below, block);
    const uint64_t place_below = j->below.count[block], count = marked_in(&j->below, block);
    move_side(j, block, below, 0, &rest, place_below, count);
    for (size_t g = 0; 64 * g < block_items(j, block); g++)
        below[g] |= bits[g];
    move_side(j, block, below, ~(uint64_t)0, &a->side[1], place - place_below, others - count);
}

static void move_block(void *arg, size_t block)
{
    const struct job *j = arg;
    move_kept(j, block);
    if (j->a->sides)
        move_others(j, block);
}

static void unstage_block(void *arg, size_t block)
{
    struct job *j = arg;
    uint64_t place = j->kept.count[block],
             outputs = room(j->a->capacity, place, marked_in(&j->kept, block));
    memcpy((char *)j->a->out + place * j->a->item_bytes, j->stage + block * j->plan.block_bytes,
           outputs * j->a->item_bytes);
}

/* Counts to places; returns what has been marked up to the end of the round. */
static uint64_t add_up(uint64_t *count, size_t blocks, uint64_t marked)
{
    for (size_t b = 0; b < blocks; b++) {
        uint64_t c = count[b];
        count[b] = marked;
        marked += c;
    }
    count[blocks] = marked;
    return marked;
}

/* counts: of the kept, and those below. */
static void run_rounds(struct job *j, int threads, uint64_t counts[2])
{
    const struct gpi_compact_args *a = j->a;
    uint64_t round_items = (uint64_t)j->plan.round_blocks * j->plan.block_items;
    for (j->first = 0; j->first < j->n; j->first += round_items) {
        uint64_t items = gpi_min(j->n - j->first, round_items);
        size_t blocks = (size_t)((items + j->plan.block_items - 1) / j->plan.block_items);
        gpi_parallel_for(threads, blocks, mark_block, j);
        counts[0] = add_up(j->kept.count, blocks, counts[0]);
        if (a->sides == 2)
            counts[1] = add_up(j->below.count, blocks, counts[1]);
        if (a->follows)
            j->others = (char *)a->out + counts[0] * a->item_bytes;
        if (!a->flags)
            gpi_parallel_for(threads, blocks, move_block, j);
        if (a->in_place)
            gpi_parallel_for(threads, blocks, unstage_block, j);
    }
}

/* An item is marked, read and written. */
static int threads_for(const struct gpi_compact_args *a, int threads)
{
    return gpi_threads_for(threads, a->n * (4 + a->item_bytes) / 8);
}

static struct marks take_marks(struct gpi_frame *frame, const struct plan *p)
{
    struct marks m;
    m.count = gpi_frame_take(frame, (p->round_blocks + 1) * sizeof(uint64_t));
    m.bits = gpi_frame_take(frame, p->round_blocks * p->block_items / 8);
    return m;
}

static void finish(gp_context *ctx, const struct job *j, const uint64_t marked[2])
{
    const struct gpi_compact_args *a = j->a;
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, (gp_dtype)0);
    const uint64_t others = j->n - marked[0];
    const uint64_t counts[3] = {marked[0], a->sides == 2 ? marked[1] : others, others - marked[1]};
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
    j.plan = plan_of(a, threads);
    GPI_FRAME(frame, ctx, function, gpi_compact_cpu_bytes(a, threads));
    j.kept = take_marks(&frame, &j.plan);
    if (a->sides == 2)
        j.below = take_marks(&frame, &j.plan);
    j.stage = gpi_frame_take(&frame, stage_bytes(a, &j.plan));
    /* Moving smaller outputs takes longer than memory does. */
    const uint64_t bytes = a->out ? a->item_bytes : a->index_bytes;
    j.stream = !a->in_place && bytes >= 4 && gpi_min(a->capacity, j.n) * bytes >= STREAM_BYTES;
    j.others = a->side[0].out;
    uint64_t marked[2] = {0};
    run_rounds(&j, threads, marked);
    finish(ctx, &j, marked);
    return GP_OK;
}
