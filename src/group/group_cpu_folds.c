/* SPDX-License-Identifier: MIT */
/* Folds of runs on the CPU: of a block in one of three ways, and of runs that lie in several. */
#include <string.h>

#include "core/threads.h"
#include "group/group_cpu_internal.h"

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
static void fold_segments(const struct job *j, const struct fold *f, size_t block,
                          const char *values, uint64_t left)
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
            some = (uint32_t)gpi_min(gpi_min(count - k, f->segments.most), left);
            for (uint32_t s = 0; s < some; s++)
                begins[s + 1] = ends[k + s] + 1 - begin;
            gpi_segreduce_cpu_piece(&f->segments, values + begin * f->unit->in_bytes, begins, some,
                                    place);
            begin += begins[some];
            place += some;
            left -= some;
        }
    }
    if (f->segments.stream)
        stores_done();
}

/* The same by a scan: what stands at a run's end is its fold, and no step depends on where that is.
 * false: these floats cannot be scanned. */
static bool fold_scanned(const struct job *j, const struct fold *f, size_t block,
                         const char *values, uint64_t left)
{
    enum { BYTES = 8192 };
    _Alignas(LINE) char scanned[BYTES];
    _Alignas(16) char carry[GPI_GROUP_ACC_MAX] = {0};
    uint64_t ends[BYTES / 64];
    const struct gpi_group_marks m = marks_of(j, block);
    const struct gpi_group_block *b = &j->block[block];
    const size_t items = block_items(j, block), bytes = f->unit->in_bytes, most = BYTES / bytes;
    const struct gpi_compact_args c = {.in = scanned, .item_bytes = (uint32_t)bytes};
    char *out = (char *)f->args->out + b->starts * bytes;
    bool before = is_open(b); /* a run ends that did not begin here */
    for (size_t i = 0; i < items && left > 0; i += most) {
        const size_t n = gpi_min(items - i, most), words = (n + 63) / 64;
        if (!f->scan(f->args->op, values + i * bytes, n, m.starts + i / 64, carry, scanned))
            return false;
        const uint64_t count =
            gpi_min(j->loops->whole_ends(m.ends + i / 64, words, &before, ends), left);
        j->compact->move(&c, 0, n, ends, 0, 0, bytes >= 4 && f->segments.stream, out, count);
        out += count * bytes;
        left -= count;
    }
    return true;
}

/* Where nearly all runs have one item a loop over items has no branch that is not foreseen, and
 * converts nothing unless these are halves. */
static bool are_segments(const struct fold *f, uint64_t starts, size_t items)
{
    const bool halves = gpi_dtype_is_float(f->args->in_dtype) && f->unit->in_bytes == 2;
    return f->segments.vectors && (halves || starts < items / 16 * 15);
}

void gpi_group_fold_block(const struct job *j, const struct fold *f, size_t block)
{
    const struct gpi_group_block *b = &j->block[block];
    const struct gpi_group_marks m = marks_of(j, block);
    const size_t items = block_items(j, block), bytes = f->unit->in_bytes;
    const uint64_t first = block_first(j, block), starts = b[1].starts - b->starts;
    const char *values = (const char *)f->args->values + first * bytes;
    const gp_op op = f->args->op;
    if (is_open(b))
        gpi_group_piece(f->reduce, op, values, b[1].ends > b->ends ? first_end(&m) + 1 : items,
                        f->part[block].front);
    const uint64_t whole = room(j, b->starts, starts - (starts > 0 && is_open(b + 1)));
    const bool scanned = whole > 0 && f->scan && items < starts * f->scan_mean &&
                         fold_scanned(j, f, block, values, whole);
    if (!scanned && whole > 0 && are_segments(f, starts, items))
        fold_segments(j, f, block, values, whole);
    else if (!scanned && whole > 0)
        f->unit->runs(op, f->reduce, values, &m, items,
                      (char *)f->args->out + b->starts * f->unit->out_bytes, whole);
    if (starts > 0 && is_open(b + 1)) {
        const size_t begin = (size_t)(b[1].last - first);
        gpi_group_piece(f->reduce, op, values + begin * bytes, items - begin, f->part[block].back);
    }
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* Of fewer items, on average, runs are scanned: what an item takes, by what a run takes otherwise.
 * Sums of floats are not, they would depend on where a run lies. */
static size_t scan_mean(const gp_context *ctx, const struct gpi_group_fold *f)
{
    const size_t bytes = gpi_dtype_bytes(f->in_dtype);
    const bool order = gpi_scan_is_order(f->op), is_float = gpi_dtype_is_float(f->in_dtype);
    if (f->in_dtype != f->out_dtype || gpi_op_scalars(f->op) > 1 || (is_float && !order))
        return 0;
    if (ctx->isa < GPI_ISA_AVX2)
        return is_float ? 0 : 3; /* no vectors, but no branches either */
    if (bytes <= 2)
        return f->op == GP_SUM ? 8 : 64;
    return is_float ? 2 : bytes == 4 ? 16 : 4;
}

void gpi_group_folds_open(struct job *j)
{
    for (int i = 0; i < j->a->fold_count; i++) {
        const struct gpi_group_fold *args = &j->a->folds[i];
        struct fold *f = &j->folds[i];
        f->args = args;
        f->unit = gpi_group_fold_cpu_for(args->in_dtype, args->out_dtype, args->op);
        f->reduce = gpi_reduce_cpu_find(j->ctx, args->in_dtype, args->out_dtype, args->op);
        f->scan_mean = scan_mean(j->ctx, args);
        f->scan = f->scan_mean ? gpi_segment_chunk_find(j->ctx, args->in_dtype, args->op) : NULL;
        f->segments_args = (struct gpi_segreduce_args){.out = args->out,
                                                       .count = j->a->capacity,
                                                       .op = args->op,
                                                       .in_dtype = args->in_dtype,
                                                       .out_dtype = args->out_dtype};
        gpi_segreduce_cpu_open(j->ctx, &f->segments_args, &f->segments);
        f->segments.one_nan = args->out_dtype == GP_F16 || args->out_dtype == GP_BF16;
        f->segments.stream = j->a->capacity * f->unit->out_bytes > gpi_cache_bytes();
    }
}

/* f->carry.back becomes what the last run folds to so far. */
static void join_blocks(const struct job *j, struct fold *f, size_t blocks)
{
    char *const carry = f->carry.back;
    for (size_t i = 0; i < blocks; i++) {
        const struct gpi_group_block *b = &j->block[i];
        if (is_open(b)) {
            f->reduce->join(f->args->op, carry, f->part[i].front);
            if (b[1].ends > b->ends && b->ends < j->a->capacity)
                f->unit->store(carry, f->args->out, b->ends);
        }
        if (b[1].starts > b->starts && is_open(b + 1))
            memcpy(carry, f->part[i].back, f->reduce->acc_bytes);
    }
}

void gpi_group_folds_join(const struct job *j, size_t blocks)
{
    for (int i = 0; i < j->a->fold_count; i++)
        join_blocks(j, &j->folds[i], blocks);
}
