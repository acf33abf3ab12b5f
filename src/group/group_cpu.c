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
#include "segreduce/segreduce_cpu_internal.h"

enum {
    BLOCK_BYTES = 65536, /* of keys */
    BLOCK_ITEMS_MAX = 16384,
    ROUND_BYTES = 1 << 19, /* of keys, per thread: about half of a second-level cache */
    ROUND_BLOCKS_MAX = 64, /* per thread */
    SHORT_RUN = 0,         /* items on average; shorter ones are folded without a branch for each */
    THREADS_MAX = 4096
};

struct plan {
    size_t block_items; /* a multiple of 64, so that blocks share no word of bits */
    size_t round_blocks;
    size_t words; /* of bits of a block, one of them spare */
};

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
    uint64_t n;     /* items of the call */
    uint64_t first; /* item of the round */
    /* Per block of the round, and one behind: of it, then of all before it. */
    struct gpi_group_block *block;
    uint64_t *bits;        /* starts of each block, then ends */
    struct partial *part;  /* per block */
    struct partial *carry; /* per fold: back, of the run that goes on out of the rounds before */
    /* The fold that all threads are at. */
    const struct gpi_group_fold *fold;
    const struct gpi_group_fold_cpu *unit;
    const struct gpi_reduce_cpu *reduce;
    struct gpi_segreduce_job
        segments; /* how runs are folded where vectors take them side by side */
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
    return gpi_piece((p->round_blocks + 1) * sizeof(struct gpi_group_block)) +
           gpi_piece(bits_bytes(p)) + gpi_piece(partial_bytes(a, p));
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

static void mark_block(void *arg, size_t number)
{
    struct job *j = arg;
    const struct gpi_group_marks m = marks_of(j, number);
    j->block[number] = j->loops->mark(j->a, j->n, block_first(j, number), block_items(j, number),
                                      m.starts, m.ends);
}

/* Counts of blocks to those before them; *all becomes that of the whole array up to here. */
static void add_up(struct gpi_group_block *block, size_t blocks, struct gpi_group_block *all)
{
    for (size_t i = 0; i <= blocks; i++) {
        const struct gpi_group_block b = block[i];
        block[i] = *all;
        if (i == blocks)
            return;
        all->starts += b.starts;
        all->ends += b.ends;
        all->last = b.last == GPI_GROUP_NOWHERE ? all->last : b.last;
    }
}

/* A run goes on into the block, or out of it. */
static bool is_open(const struct gpi_group_block *b)
{
    return b->starts > b->ends;
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
    const struct gpi_group_block *b = &j->block[block];
    const struct gpi_group_marks m = marks_of(j, block);
    const size_t items = block_items(j, block), bytes = index_bytes ? index_bytes : item_bytes;
    const uint64_t place = last ? b->ends : b->starts;
    const uint64_t outputs = (last ? b[1].ends : b[1].starts) - place;
    const struct gpi_compact_args c = {.in = from, .item_bytes = (uint32_t)item_bytes};
    const bool stream = bytes >= 4 && outputs >= items / 2 && j->n * bytes >= STREAM_BYTES;
    j->compact->move(&c, block_first(j, block), items, last ? m.ends : m.starts, 0, index_bytes,
                     stream, (char *)to + place * bytes, room(j, place, outputs));
}

/* The lengths of the runs that end in a block: from where one begins, which is behind the end
 * before, or a start where runs of one item lie between. */
ALWAYS_INLINE void lengths(const struct job *j, size_t block, size_t bytes)
{
    enum { ITEMS = 1024 };
    uint32_t starts[ITEMS + GPI_GROUP_PLACES_ROOM], ends[ITEMS + GPI_GROUP_PLACES_ROOM];
    uint64_t out[ITEMS];
    const struct gpi_group_marks m = marks_of(j, block);
    const struct gpi_group_block *b = &j->block[block];
    const size_t items = block_items(j, block);
    const uint64_t first = block_first(j, block);
    uint64_t last = b->last, place = b->ends, left = room(j, place, b[1].ends - place);
    const bool stream = left >= items / 2 && j->n * bytes >= STREAM_BYTES;
    for (size_t w = 0; w * 64 < items && left > 0; w += ITEMS / 64) {
        const size_t words = gpi_min((items + 63) / 64 - w, ITEMS / 64);
        const uint32_t begun = j->loops->places(m.starts + w, words, (uint32_t)w * 64, starts);
        const uint32_t ended = j->loops->places(m.ends + w, words, (uint32_t)w * 64, ends);
        const uint32_t count = (uint32_t)gpi_min(ended, left);
        /* The first one may have begun before. */
        const bool before = count > 0 && (begun == 0 || starts[0] > ends[0]);
        if (before)
            gpi_word_put(out, bytes, 0, first + ends[0] + 1 - last);
        for (uint32_t k = before; k < count; k++)
            gpi_word_put(out, bytes, k, ends[k] + 1 - starts[k - before]);
        bytes_store(out, count * bytes, stream, (char *)j->a->lengths + place * bytes);
        last = begun ? first + starts[begun - 1] : last;
        place += count;
        left -= count;
    }
    if (stream)
        stores_done();
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

/* The first end in a block, which has one. */
static size_t first_end(const struct gpi_group_marks *m)
{
    size_t w = 0;
    while (m->ends[w] == 0)
        w++;
    return w * 64 + (size_t)__builtin_ctzll(m->ends[w]);
}

/* The first `left` of the runs that begin and end in a block, as segments one behind the other. */
static void fold_segments(const struct job *j, size_t block, const char *values, uint64_t left)
{
    enum { ITEMS = 2048 };
    uint32_t ends[ITEMS + GPI_GROUP_PLACES_ROOM], begins[1 + GPI_SEGREDUCE_PIECE], begin = 0;
    const struct gpi_group_marks m = marks_of(j, block);
    const struct gpi_group_block *b = &j->block[block];
    const size_t items = block_items(j, block);
    uint64_t place = b->starts;
    bool before = is_open(b); /* a run ends that did not begin here */
    begins[0] = 0;
    for (size_t w = 0; w * 64 < items && left > 0; w += ITEMS / 64) {
        const size_t words = gpi_min((items + 63) / 64 - w, ITEMS / 64);
        const uint32_t count = j->loops->places(m.ends + w, words, (uint32_t)w * 64, ends);
        uint32_t k = before && count > 0;
        begin = k ? ends[0] + 1 : begin;
        before = before && !k;
        for (uint32_t some; k < count && left > 0; k += some) {
            some = (uint32_t)gpi_min(gpi_min(count - k, j->segments.most), left);
            for (uint32_t s = 0; s < some; s++)
                begins[s + 1] = ends[k + s] + 1 - begin;
            gpi_segreduce_cpu_piece(&j->segments, values + begin * j->unit->in_bytes, begins, some,
                                    place);
            begin += begins[some];
            place += some;
            left -= some;
        }
    }
    if (j->segments.stream)
        stores_done();
}

/* Where nearly all runs have one item a loop over items has no branch that is not foreseen, and
 * converts nothing unless these are halves. */
static bool are_segments(const struct job *j, uint64_t starts, size_t items)
{
    const bool halves = gpi_dtype_is_float(j->fold->in_dtype) && j->unit->in_bytes == 2;
    return j->segments.vectors && (halves || starts < items / 16 * 15);
}

static void fold_block(void *arg, size_t block)
{
    struct job *j = arg;
    const struct gpi_group_block *b = &j->block[block];
    const struct gpi_group_marks m = marks_of(j, block);
    const size_t items = block_items(j, block), bytes = j->unit->in_bytes;
    const uint64_t first = block_first(j, block), starts = b[1].starts - b->starts;
    const char *values = (const char *)j->fold->values + first * bytes;
    const gp_op op = j->fold->op;
    if (is_open(b))
        gpi_group_piece(j->reduce, op, values, b[1].ends > b->ends ? first_end(&m) + 1 : items,
                        j->part[block].front);
    const uint64_t whole = room(j, b->starts, starts - (starts > 0 && is_open(b + 1)));
    if (whole > 0 && are_segments(j, starts, items))
        fold_segments(j, block, values, whole);
    else if (whole > 0)
        j->unit->runs(op, j->reduce, values, &m, items,
                      (char *)j->fold->out + b->starts * j->unit->out_bytes, whole);
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
        const struct gpi_group_block *b = &j->block[i];
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
        const struct gpi_segreduce_args segments = {.out = f->out,
                                                    .count = j->a->capacity,
                                                    .op = f->op,
                                                    .in_dtype = f->in_dtype,
                                                    .out_dtype = f->out_dtype};
        gpi_segreduce_cpu_open(j->ctx, &segments, &j->segments);
        j->segments.one_nan = f->out_dtype == GP_F16 || f->out_dtype == GP_BF16;
        gpi_parallel_for(threads, blocks, fold_block, j);
        join_blocks(j, blocks, j->carry[i].back);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static uint64_t run_rounds(struct job *j, int threads)
{
    const uint64_t round_items = (uint64_t)j->plan.round_blocks * j->plan.block_items;
    struct gpi_group_block all = {0, 0, GPI_GROUP_NOWHERE};
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
