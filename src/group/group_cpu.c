/* SPDX-License-Identifier: MIT */
/*
 * The CPU backend's rounds. A round marks its blocks (where runs begin and end, and how many do),
 * adds the counts up, and takes its blocks through the outputs, whose inputs are in the cache. The
 * fold of a run that lies in several blocks is put together in their order, by one thread.
 */
#include <string.h>

#include "compact/compact_internal.h"
#include "core/check.h"
#include "core/past_cache.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"
#include "group/group_internal.h"

enum {
    BLOCK_BYTES = 65536, /* of keys */
    BLOCK_ITEMS_MAX = 16384,
    ROUND_BYTES = 1 << 19, /* of keys, per thread: about half of a second-level cache */
    ROUND_BLOCKS_MAX = 64, /* per thread */
    THREADS_MAX = 4096
};

struct plan {
    size_t block_items; /* a multiple of 64, so that blocks share no word of bits */
    size_t round_blocks;
    size_t words; /* of bits of a block, one of them spare */
};

/* Of a block: runs that begin and end in it, and then before it. */
struct block {
    uint64_t starts, ends;
    uint64_t last; /* where the last run begins; NOWHERE: none */
};

#define NOWHERE UINT64_MAX

/* What a block leaves of runs that are not its own alone. */
struct partial {
    _Alignas(16) char front[GPI_GROUP_ACC_MAX]; /* of the run that goes on into it */
    _Alignas(16) char back[GPI_GROUP_ACC_MAX];  /* of the run that goes on out of it */
};

struct job {
    const struct gpi_group_args *a;
    const struct gpi_group_loops *loops;
    const struct gpi_compact_loops *compact;
    gp_context *ctx;
    struct plan plan;
    uint64_t n;            /* items of the call */
    uint64_t first;        /* item of the round */
    struct block *block;   /* per block of the round, and one behind */
    uint64_t *bits;        /* starts of each block, then ends */
    struct partial *part;  /* per block */
    struct partial *carry; /* per fold: back, of the run that goes on out of the rounds before */
    /* The fold that all threads are at. */
    const struct gpi_group_fold *fold;
    const struct gpi_group_fold_cpu *unit;
    const struct gpi_reduce_cpu *reduce;
};

/* ---- scratch --------------------------------------------------------------------------------- */

static struct plan plan_of(const struct gpi_group_args *a, int threads)
{
    struct plan p;
    p.block_items = gpi_min(BLOCK_BYTES / a->key_bytes / 64 * 64, BLOCK_ITEMS_MAX);
    if (p.block_items < 64)
        p.block_items = 64;
    const uint64_t blocks = gpi_ceil_div(a->n, p.block_items);
    size_t round = ROUND_BYTES / (p.block_items * a->key_bytes);
    round = round < 1 ? 1 : round > ROUND_BLOCKS_MAX ? ROUND_BLOCKS_MAX : round;
    round *= (size_t)threads;
    p.round_blocks = blocks < round ? (size_t)blocks : round;
    p.words = p.block_items / 64 + 1;
    return p;
}

static size_t bits_bytes(const struct plan *p)
{
    return p->round_blocks * 2 * p->words * sizeof(uint64_t);
}

static size_t partial_bytes(const struct gpi_group_args *a, const struct plan *p)
{
    return a->fold_count ? (p->round_blocks + (size_t)a->fold_count) * sizeof(struct partial) : 0;
}

static size_t frame_bytes(const struct gpi_group_args *a, const struct plan *p)
{
    return gpi_piece((p->round_blocks + 1) * sizeof(struct block)) + gpi_piece(bits_bytes(p)) +
           gpi_piece(partial_bytes(a, p));
}

size_t gpi_group_cpu_bytes(const struct gpi_group_args *a, int threads)
{
    const struct plan p = plan_of(a, threads ? threads : THREADS_MAX);
    return frame_bytes(a, &p);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static uint64_t block_first(const struct job *j, size_t block)
{
    return j->first + (uint64_t)block * j->plan.block_items;
}

static size_t block_items(const struct job *j, size_t block)
{
    return (size_t)gpi_min(j->n - block_first(j, block), j->plan.block_items);
}

static struct gpi_group_marks marks_of(const struct job *j, size_t block)
{
    uint64_t *starts = j->bits + block * 2 * j->plan.words;
    return (struct gpi_group_marks){starts, starts + j->plan.words};
}

/* Whether item i, which may be behind the last one, begins a run. */
static uint64_t head_at(const struct job *j, uint64_t i)
{
    uint64_t bit = 1;
    if (i < j->n)
        j->loops->heads(j->a, i, 1, &bit);
    return bit;
}

static void mark_block(void *arg, size_t number)
{
    struct job *j = arg;
    const struct gpi_group_marks m = marks_of(j, number);
    const uint64_t first = block_first(j, number);
    const size_t items = block_items(j, number), words = (items + 63) / 64;
    struct block b = {0, 0, NOWHERE};
    uint64_t behind = head_at(j, first + items);
    j->loops->heads(j->a, first, items, m.starts);
    for (size_t w = words; w-- > 0;) {
        const uint64_t heads = m.starts[w];
        const int top = w == words - 1 && items % 64 ? (int)(items % 64) - 1 : 63;
        const uint64_t ends = heads >> 1 | behind << top;
        behind = heads & 1;
        m.starts[w] = j->a->longer ? heads & ~ends : heads;
        m.ends[w] = j->a->longer ? ends & ~heads : ends;
        b.starts += (uint64_t)__builtin_popcountll(m.starts[w]);
        b.ends += (uint64_t)__builtin_popcountll(m.ends[w]);
        if (b.last == NOWHERE && m.starts[w])
            b.last = first + w * 64 + 63 - (uint64_t)__builtin_clzll(m.starts[w]);
    }
    j->block[number] = b;
}

/* Counts of blocks to those before them; *all becomes that of the whole array up to here. */
static void add_up(struct block *block, size_t blocks, struct block *all)
{
    for (size_t i = 0; i <= blocks; i++) {
        const struct block b = block[i];
        block[i] = *all;
        if (i == blocks)
            return;
        all->starts += b.starts;
        all->ends += b.ends;
        all->last = b.last == NOWHERE ? all->last : b.last;
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Of `outputs` from a place on, those that the capacity has room for. */
static uint64_t room(const struct job *j, uint64_t place, uint64_t outputs)
{
    const uint64_t left = place < j->a->capacity ? j->a->capacity - place : 0;
    return gpi_min(outputs, left);
}

/* What compaction moves for set bits: items, or their positions. */
static void move_bits(const struct job *j, size_t block, const void *from, size_t item_bytes,
                      size_t index_bytes, bool last, void *to)
{
    const struct block *b = &j->block[block];
    const struct gpi_group_marks m = marks_of(j, block);
    const size_t items = block_items(j, block), bytes = index_bytes ? index_bytes : item_bytes;
    const uint64_t place = last ? b->ends : b->starts;
    const uint64_t outputs = (last ? b[1].ends : b[1].starts) - place;
    const struct gpi_compact_args c = {.in = from, .item_bytes = (uint32_t)item_bytes};
    const bool stream = bytes >= 4 && outputs >= items / 2 && j->n * bytes >= STREAM_BYTES;
    j->compact->move(&c, block_first(j, block), items, last ? m.ends : m.starts, 0, index_bytes,
                     stream, (char *)to + place * bytes, room(j, place, outputs));
}

/* The lengths of the runs that end in 64 items from `base` on, `most` of them. last: where the run
 * before the first start began. */
ALWAYS_INLINE void word_lengths(uint64_t starts, uint64_t ends, uint64_t base, uint64_t last,
                                uint64_t most, char *out, size_t index_bytes)
{
    enum { DENSE = 24 };
    uint64_t place = 0;
    if (__builtin_popcountll(ends) <= DENSE || most < 64) {
        for (; ends && place < most; ends &= ends - 1) {
            const uint64_t own = starts & (ends ^ (ends - 1));
            const uint64_t begin = own ? base + 63 - (uint64_t)__builtin_clzll(own) : last;
            gpi_word_put(out, index_bytes, place++,
                         base + (uint64_t)__builtin_ctzll(ends) + 1 - begin);
        }
        return;
    }
    const int end = 64 - __builtin_clzll(ends); /* every item is stored, and few do not count */
    for (int k = 0; k < end; k++) {
        last = starts >> k & 1 ? base + (uint64_t)k : last;
        gpi_word_put(out, index_bytes, place, base + (uint64_t)k + 1 - last);
        place += ends >> k & 1;
    }
}

ALWAYS_INLINE void lengths(const struct job *j, size_t block, size_t index_bytes)
{
    const struct gpi_group_marks m = marks_of(j, block);
    uint64_t last = j->block[block].last, place = j->block[block].ends;
    const uint64_t end = place + room(j, place, j->block[block + 1].ends - place);
    for (size_t w = 0; place < end; w++) {
        const uint64_t starts = m.starts[w], base = block_first(j, block) + w * 64;
        word_lengths(starts, m.ends[w], base, last, end - place,
                     (char *)j->a->lengths + place * index_bytes, index_bytes);
        place += (uint64_t)__builtin_popcountll(m.ends[w]);
        last = starts ? base + 63 - (uint64_t)__builtin_clzll(starts) : last;
    }
}

static void move_block(void *arg, size_t block)
{
    struct job *j = arg;
    const struct gpi_group_args *a = j->a;
    if (a->keys_out)
        move_bits(j, block, a->keys, a->key_bytes, 0, false, a->keys_out);
    if (a->heads)
        move_bits(j, block, NULL, 0, a->index_bytes, false, a->heads);
    if (a->lengths)
        WITH_INDEX_BYTES(bytes, a->index_bytes, lengths(j, block, bytes));
    for (int i = 0; i < a->move_count; i++)
        move_bits(j, block, a->moves[i].from, a->moves[i].bytes, 0, a->moves[i].last,
                  a->moves[i].to);
}

/* ---- folds ----------------------------------------------------------------------------------- */

void gpi_group_piece(const struct gpi_reduce_cpu *reduce, gp_op op, const void *values, size_t n,
                     void *acc)
{
    const size_t most = GPI_REDUCE_BLOCK_BYTES / reduce->item_bytes;
    const char *in = values;
    _Alignas(16) char next[GPI_GROUP_ACC_MAX];
    for (size_t i = 0; i < n; i += most) {
        const size_t items = n - i < most ? n - i : most;
        reduce->block(op, in + i * reduce->item_bytes, items, i ? next : acc);
        if (i)
            reduce->join(op, acc, next);
    }
}

/* A run goes on into the block, or out of it. */
static bool is_open(const struct block *b)
{
    return b->starts > b->ends;
}

/* The first end in a block, which has one. */
static size_t first_end(const struct gpi_group_marks *m)
{
    size_t w = 0;
    while (m->ends[w] == 0)
        w++;
    return w * 64 + (size_t)__builtin_ctzll(m->ends[w]);
}

static void fold_block(void *arg, size_t block)
{
    struct job *j = arg;
    const struct block *b = &j->block[block];
    const struct gpi_group_marks m = marks_of(j, block);
    const size_t items = block_items(j, block), bytes = j->unit->in_bytes;
    const uint64_t first = block_first(j, block), starts = b[1].starts - b->starts;
    const char *values = (const char *)j->fold->values + first * bytes;
    const gp_op op = j->fold->op;
    if (is_open(b))
        gpi_group_piece(j->reduce, op, values, b[1].ends > b->ends ? first_end(&m) + 1 : items,
                        j->part[block].front);
    if (starts > 0)
        j->unit->runs(op, j->reduce, values, &m, items,
                      (char *)j->fold->out + b->starts * j->unit->out_bytes,
                      room(j, b->starts, starts - is_open(b + 1)));
    if (starts > 0 && is_open(b + 1)) {
        const size_t begin = (size_t)(b[1].last - first);
        gpi_group_piece(j->reduce, op, values + begin * bytes, items - begin, j->part[block].back);
    }
}

/* The runs that lie in several blocks; *carry is what the last of them folds to so far. */
static void join_blocks(const struct job *j, size_t blocks, char *carry)
{
    const size_t bytes = j->reduce->acc_bytes;
    for (size_t i = 0; i < blocks; i++) {
        const struct block *b = &j->block[i];
        if (is_open(b)) {
            j->reduce->join(j->fold->op, carry, j->part[i].front);
            if (b[1].ends > b->ends && b->ends < j->a->capacity)
                j->unit->store(carry, j->fold->out, b->ends);
        }
        if (b[1].starts > b->starts && is_open(b + 1))
            memcpy(carry, j->part[i].back, bytes);
    }
}

static void fold_all(struct job *j, size_t blocks, int threads)
{
    for (int i = 0; i < j->a->fold_count; i++) {
        const struct gpi_group_fold *f = &j->a->folds[i];
        j->fold = f;
        j->unit = gpi_group_fold_cpu_for(f->in_dtype, f->out_dtype, f->op);
        j->reduce = gpi_reduce_cpu_find(j->ctx, f->in_dtype, f->out_dtype, f->op);
        gpi_parallel_for(threads, blocks, fold_block, j);
        join_blocks(j, blocks, j->carry[i].back);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static uint64_t run_rounds(struct job *j, int threads)
{
    const uint64_t round_items = (uint64_t)j->plan.round_blocks * j->plan.block_items;
    struct block all = {0, 0, NOWHERE};
    for (j->first = 0; j->first < j->n; j->first += round_items) {
        const uint64_t items = gpi_min(j->n - j->first, round_items);
        const size_t blocks = (size_t)gpi_ceil_div(items, j->plan.block_items);
        gpi_parallel_for(threads, blocks, mark_block, j);
        add_up(j->block, blocks, &all);
        gpi_parallel_for(threads, blocks, move_block, j);
        fold_all(j, blocks, threads);
    }
    return all.starts;
}

/* A key is marked, read and written; values are read once. */
static int threads_for(const struct gpi_group_args *a, uint64_t n, int threads)
{
    uint64_t bytes = 8 + a->key_bytes;
    for (int i = 0; i < a->fold_count; i++)
        bytes += 8 + gpi_dtype_bytes(a->folds[i].in_dtype);
    return gpi_threads_for(threads, n * bytes / 8);
}

gp_status gpi_group_cpu(gp_context *ctx, const char *function, const struct gpi_group_args *a)
{
    struct job j = {.a = a,
                    .loops = gpi_group_loops_for(ctx->isa),
                    .compact = gpi_compact_loops_for(ctx->isa),
                    .ctx = ctx,
                    .n = a->n};
    if (a->device_n && *a->device_n < j.n)
        j.n = *a->device_n;
    const int threads = threads_for(a, j.n, ctx->threads);
    j.plan = plan_of(a, threads);
    GPI_FRAME(frame, ctx, function, frame_bytes(a, &j.plan));
    j.block = gpi_frame_take(&frame, (j.plan.round_blocks + 1) * sizeof *j.block);
    j.bits = gpi_frame_take(&frame, bits_bytes(&j.plan));
    if (a->fold_count)
        j.part = gpi_frame_take(&frame, partial_bytes(a, &j.plan));
    j.carry = j.part ? j.part + j.plan.round_blocks : NULL;
    const uint64_t count = run_rounds(&j, threads);
    *a->out_count = count;
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, (gp_dtype)0);
    if (count > a->capacity)
        gpi_report(&reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, count, a->capacity);
    return GP_OK;
}
