/* SPDX-License-Identifier: MIT */
/*
 * The CPU backend's rounds. A round marks its blocks (where runs begin and end, and how many do),
 * adds the counts up, and takes its blocks through the outputs, whose inputs are in the cache. The
 * fold of a run that lies in several blocks is put together in their order, by one thread.
 */
#include "core/check.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "group/group_cpu_internal.h"

enum {
    BLOCK_BYTES = 65536, /* of keys */
    BLOCK_ITEMS_MAX = 16384,
    ROUND_BYTES = 1 << 19, /* of keys, per thread: about half of a second-level cache */
    ROUND_BLOCKS_MAX = 64, /* per thread */
    THREADS_MAX = 4096
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

static size_t fold_bytes(const struct plan *p)
{
    return gpi_piece(sizeof(struct fold)) + gpi_piece(p->round_blocks * sizeof(struct partial));
}

static size_t frame_bytes(const struct gpi_group_args *a, const struct plan *p)
{
    return gpi_piece((p->round_blocks + 1) * sizeof(struct gpi_group_block)) +
           gpi_piece(bits_bytes(p)) + (size_t)a->fold_count * fold_bytes(p);
}

size_t gpi_group_cpu_bytes(const struct gpi_group_args *a, int threads)
{
    const struct plan p = plan_of(a, threads ? threads : THREADS_MAX);
    return frame_bytes(a, &p);
}

/* ---- marks ----------------------------------------------------------------------------------- */

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

/* ---- outputs --------------------------------------------------------------------------------- */

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
    const bool stream = bytes >= 4 && outputs >= items / 2 && j->n * bytes > gpi_cache_bytes();
    j->compact->move(&c, block_first(j, block), items, last ? m.ends : m.starts, 0, index_bytes,
                     stream, (char *)to + place * bytes, room(j, place, outputs));
}

/* The lengths of the runs that end in a block: from where one begins, which is behind the end
 * before, or a start where runs of one item lie between. */
ALWAYS_INLINE void lengths(const struct job *j, size_t block, size_t bytes)
{
    enum { ITEMS = 512 };
    uint32_t starts[ITEMS + GPI_GROUP_PLACES_ROOM], ends[1 + ITEMS + GPI_GROUP_PLACES_ROOM];
    uint64_t out[ITEMS];
    const struct gpi_group_marks m = marks_of(j, block);
    const struct gpi_group_block *b = &j->block[block];
    const size_t items = block_items(j, block);
    const uint64_t first = block_first(j, block);
    uint64_t last = is_open(b) ? b->last : first, place = b->ends;
    uint64_t left = room(j, place, b[1].ends - place);
    const bool stream = left >= items / 2 && j->n * bytes > gpi_cache_bytes();
    for (size_t w = 0; w * 64 < items && left > 0; w += ITEMS / 64) {
        const size_t words = gpi_min((items + 63) / 64 - w, ITEMS / 64);
        const uint32_t ended = j->loops->places(m.ends + w, words, (uint32_t)w * 64, ends + 1);
        const uint32_t count = (uint32_t)gpi_min(ended, left);
        if (j->a->longer) {
            const uint32_t begun = j->loops->places(m.starts + w, words, (uint32_t)w * 64, starts);
            /* The first one may have begun before. */
            const bool before = count > 0 && (begun == 0 || starts[0] > ends[1]);
            for (uint32_t k = before; k < count; k++)
                gpi_word_put(out, bytes, k, ends[k + 1] + 1 - starts[k - before]);
            if (before)
                gpi_word_put(out, bytes, 0, first + ends[1] + 1 - last);
            last = begun ? first + starts[begun - 1] : last;
        } else if (count > 0) {
            ends[0] = 0;
            for (uint32_t k = 0; k < count; k++)
                gpi_word_put(out, bytes, k, ends[k + 1] - ends[k]);
            gpi_word_put(out, bytes, 0, first + ends[1] + 1 - last);
            last = first + ends[count] + 1;
        }
        bytes_store(out, count * bytes, stream, (char *)j->a->lengths + place * bytes);
        place += count;
        left -= count;
    }
    if (stream)
        stores_done();
}

static void output_block(void *arg, size_t block)
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
    for (int i = 0; i < a->fold_count; i++)
        gpi_group_fold_block(j, &j->folds[i], block);
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
        gpi_parallel_for(threads, blocks, output_block, j);
        gpi_group_folds_join(j, blocks);
    }
    return all.starts;
}

/* A key is marked, read and written; values are read once. */
static int threads_for(const struct gpi_group_args *a, uint64_t n, int threads)
{
    uint64_t bytes = 8 + a->key_bytes;
    for (int i = 0; i < a->fold_count; i++)
        bytes += 8 + gpi_dtype_bytes(a->folds[i].in_dtype);
    return gpi_threads_for(threads, n * bytes / 16);
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
        j.folds = gpi_frame_take(&frame, (size_t)a->fold_count * sizeof *j.folds);
    for (int i = 0; i < a->fold_count; i++)
        j.folds[i].part = gpi_frame_take(&frame, j.plan.round_blocks * sizeof *j.folds->part);
    gpi_group_folds_open(&j);
    const uint64_t count = run_rounds(&j, threads);
    *a->out_count = count;
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, NULL, (gp_dtype)0);
    if (count > a->capacity)
        gpi_report(&reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, count, a->capacity);
    return GP_OK;
}
