/* SPDX-License-Identifier: MIT */
/* CPU backend: cuts the merge path into shares and hands them to the threads. */
#include "balance/balance_internal.h"

#include "core/ahead.h"
#include "core/past_cache.h"
#include "core/threads.h"
#include "core/variants.h"
#include "core/words.h"
#include "segments/segments_internal.h"

/* The variants of the inner loops, [isa]. */
#define DECLARE(isa)                                                                               \
    gpi_share_fn gpi_balance_expand_b1_##isa, gpi_balance_expand_b2_##isa,                         \
        gpi_balance_expand_b4_##isa, gpi_balance_expand_b8_##isa, gpi_balance_expand_b16_##isa,    \
        gpi_balance_expand_any_##isa, gpi_balance_search_b4_##isa, gpi_balance_search_b8_##isa;    \
    gpi_bound_fn gpi_balance_bound_b4_##isa, gpi_balance_bound_b8_##isa;
GPI_ISAS(DECLARE)
gpi_bound_fn gpi_balance_bound_b1_base, gpi_balance_bound_b2_base;

struct isa_loops {
    gpi_share_fn *expand[5], *expand_any; /* by log2 of the item's bytes; any size and alignment */
    gpi_share_fn *search[4];              /* 2 and 3 alone */
    gpi_bound_fn *bound[4];
};

#define LOOPS(isa)                                                                                 \
    {{gpi_balance_expand_b1_##isa, gpi_balance_expand_b2_##isa, gpi_balance_expand_b4_##isa,       \
      gpi_balance_expand_b8_##isa, gpi_balance_expand_b16_##isa},                                  \
     gpi_balance_expand_any_##isa,                                                                 \
     {NULL, NULL, gpi_balance_search_b4_##isa, gpi_balance_search_b8_##isa},                       \
     {gpi_balance_bound_b1_base, gpi_balance_bound_b2_base, gpi_balance_bound_b4_##isa,            \
      gpi_balance_bound_b8_##isa}},

static const struct isa_loops loops[] = {GPI_ISAS(LOOPS)};

/* Steps of the path per task: enough that its two searches cost little,
 * few enough to keep all threads busy. */
enum { SHARE_MIN = 1 << 15, SHARE_MAX = 1 << 18, SHARES_PER_THREAD = 8, SHARE_BYTES = 1 << 20 };
enum { SEARCH_NS = 20 }; /* of one binary search */
enum { BOUND_CHUNK = 16384, PARTITION_CHUNK = 64, PARTITION_ROWS = 8, PARTS_AHEAD = 16 };
/* Of outputs that go past the cache: larger items before they fill it. */
enum { SLICE_BYTES = 8192, SLICE_ITEM_MAX = 1024, VECTOR_ITEM_MAX = 64 };

static int log2_of(size_t bytes)
{
    int e = 0;
    while (((size_t)1 << e) < bytes)
        e++;
    return e;
}

struct walk {
    const struct gpi_balance_args *args;
    gpi_share_fn *share_fn;
    uint64_t base, num_items, share;
    bool past_cache; /* gpi_expand() alone */
};

/* A share by slices that stay in the first cache, from where they go past the others: a line that
 * is written whole need not be read. */
static void expand_past_cache(const struct gpi_balance_share *h, gpi_share_fn *fn)
{
    _Alignas(LINE) char slice[SLICE_BYTES];
    struct gpi_balance_args args = *h->args;
    const size_t bytes = args.item_bytes, at_once = SLICE_BYTES / bytes;
    char *const out = args.out;
    struct gpi_balance_share part = *h;
    args.out = slice;
    part.args = &args;
    part.cached = true;
    for (; part.i0 < h->i1; part.i0 = part.i1, part.s0 = part.s1) {
        uint64_t high = h->s1;
        part.i1 = gpi_min(h->i1, part.i0 + at_once);
        for (part.s1 = part.s0; part.s1 < high;) {
            const uint64_t middle = part.s1 + (high - part.s1) / 2;
            if (gpi_offset_at(args.offsets, args.offset_bytes, h->base, middle + 1) <= part.i1)
                part.s1 = middle + 1;
            else
                high = middle;
        }
        part.skip = part.i0;
        fn(&part);
        copy_past_cache(slice, (size_t)(part.i1 - part.i0) * bytes, out + part.i0 * bytes);
    }
    stores_done();
}

static void walk_share(void *arg, size_t p)
{
    const struct walk *w = arg;
    const struct gpi_balance_args *a = w->args;
    struct gpi_balance_share h = {.args = a, .base = w->base};
    uint64_t steps = a->num_segments + w->num_items;
    uint64_t d0 = p * w->share, d1 = steps - d0 < w->share ? steps : d0 + w->share;
    h.s0 = gpi_merge_path_search(a->offsets, a->offset_bytes, w->base, a->num_segments,
                                 w->num_items, d0);
    h.s1 = gpi_merge_path_search(a->offsets, a->offset_bytes, w->base, a->num_segments,
                                 w->num_items, d1);
    /* Offsets that do not ascend may make this any range, but one within the arrays. */
    h.i0 = d0 - h.s0;
    h.i1 = d1 - h.s1;
    if (h.i0 < h.i1)
        w->past_cache ? expand_past_cache(&h, w->share_fn) : w->share_fn(&h);
}

/* Compare what the offsets cover with what the caller said; returns what they cover. */
static uint64_t settle_count(gp_context *ctx, const struct gpi_balance_args *a, uint64_t base)
{
    uint64_t total = gpi_offset_at(a->offsets, a->offset_bytes, base, a->num_segments);
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, a->name, (gp_dtype)0);
    if (a->capped && total > a->limit)
        gpi_report(&reporter, GPI_RULE_CAPACITY, GPI_NO_INDEX, total, a->limit);
    if (!a->capped && (a->may_cover_less ? total > a->limit : total != a->limit))
        gpi_report(&reporter, GPI_RULE_SPAN, a->num_segments, total, a->limit);
    if (a->out_count)
        *a->out_count = total;
    return total;
}

static void walk(gp_context *ctx, struct walk *w, size_t item_bytes)
{
    uint64_t steps = w->num_items + w->args->num_segments;
    uint64_t most = SHARE_BYTES / item_bytes;
    int threads =
        gpi_threads_for(ctx->threads, w->args->num_segments + w->num_items * item_bytes / 32);
    w->share = steps / ((uint64_t)threads * SHARES_PER_THREAD);
    if (w->share < SHARE_MIN)
        w->share = SHARE_MIN;
    if (w->share > SHARE_MAX)
        w->share = SHARE_MAX;
    if (item_bytes > 16 && w->share > most)
        w->share = most;
    if (w->num_items)
        gpi_parallel_for(threads, gpi_ceil_div(steps, w->share), walk_share, w);
}

/* Shares of a search are found in little time: a plan is for the GPU. */
void gpi_balance_plan_cpu(gp_context *ctx, const struct gpi_balance_args *a,
                          struct gpi_balance_plan *plan)
{
    const uint64_t begins = gpi_balance_plan_begins(a->num_segments, a->limit);
    const uint64_t base = gpi_offset_base(a->offsets, a->offset_bytes);
    (void)ctx;
    *plan = (struct gpi_balance_plan){a->num_segments, a->limit};
    for (uint64_t k = 0; k < begins; k++)
        plan->begins[k] = gpi_merge_path_search(a->offsets, a->offset_bytes, base, a->num_segments,
                                                a->limit, k * GPI_BALANCE_PLAN_STEPS);
}

void gpi_balance_search_cpu(gp_context *ctx, const struct gpi_balance_args *a)
{
    struct walk w = {.args = a, .num_items = a->limit};
    w.base = gpi_offset_base(a->offsets, a->offset_bytes);
    w.share_fn = loops[ctx->isa].search[log2_of(a->index_bytes)];
    const uint64_t total = settle_count(ctx, a, w.base);
    if (a->may_cover_less)
        w.num_items = gpi_min(total, a->limit);
    walk(ctx, &w, a->index_bytes);
}

ALWAYS_INLINE void expand_pieces(const struct gpi_balance_share *h, size_t piece)
{
    const size_t bytes = h->args->item_bytes;
    const char *in = h->args->in;
    char *out = h->args->out;
    const uint64_t at_once = bytes < LINE ? LINE / bytes : 1;
    uint64_t i = h->i0;
    for (uint64_t s = h->s0; i < h->i1 && s < h->args->num_segments; s++) {
        const uint64_t end = s < h->s1 ? gpi_share_end(h, h->args->offset_bytes, s, i) : h->i1;
        for (uint64_t n; i < end; i += n) {
            char *to = out + (i - h->skip) * bytes;
            n = gpi_min(end - i, at_once);
            if (!h->cached && piece != 1 && piece != 2) /* smaller ones do not wait for lines */
                gpi_ahead_of_writes(to, bytes < LINE ? LINE : bytes, GPI_AHEAD_OF_WRITES);
            gpi_item_repeat(to, in + s * bytes, bytes, piece, n);
        }
    }
}

void gpi_balance_expand_bytes(const struct gpi_balance_share *h)
{
    WITH_PIECE(piece, gpi_item_piece(h->args->item_bytes), expand_pieces(h, piece));
}

static gpi_share_fn *expand_fn(const gp_context *ctx, const struct gpi_balance_args *a)
{
    size_t bytes = a->item_bytes;
    bool power = bytes <= 16 && (bytes & (bytes - 1)) == 0;
    uintptr_t addresses = (uintptr_t)a->in | (uintptr_t)a->out;
    size_t alignment = bytes == 16 ? 8 : bytes;
    return power && addresses % alignment == 0 ? loops[ctx->isa].expand[log2_of(bytes)]
                                               : loops[ctx->isa].expand_any;
}

void gpi_balance_expand_cpu(gp_context *ctx, const struct gpi_balance_args *a)
{
    struct walk w = {.args = a, .share_fn = expand_fn(ctx, a)};
    w.base = gpi_offset_base(a->offsets, a->offset_bytes);
    w.num_items = gpi_min(settle_count(ctx, a, w.base), a->limit);
    const uint64_t bytes = w.num_items * a->item_bytes;
    if (a->item_bytes <= VECTOR_ITEM_MAX)
        w.past_cache = bytes > gpi_cache_bytes();
    else
        w.past_cache = a->item_bytes <= SLICE_ITEM_MAX && bytes >= STREAM_BYTES;
    walk(ctx, &w, a->item_bytes);
}

void gpi_balance_intervals_cpu(gp_context *ctx, const struct gpi_balance_args *a)
{
    struct walk w = {.args = a, .share_fn = gpi_balance_copy_share};
    w.base = gpi_offset_base(a->offsets, a->offset_bytes);
    w.num_items = gpi_min(settle_count(ctx, a, w.base), a->limit);
    walk(ctx, &w, a->item_bytes);
}

/* gpi_merge_path_search() from row low to row high. Where the path would be with rows alike some
 * are looked at without a branch, so that several parts wait for their lines at once. */
ALWAYS_INLINE uint64_t row_between(const struct gpi_partition_args *a, size_t bytes, uint64_t base,
                                   uint64_t d, uint64_t low, uint64_t high, uint64_t even)
{
    low = d > a->nnz && low < d - a->nnz ? d - a->nnz : low;
    high = gpi_min(high, d);
    if (low + PARTITION_ROWS < high) {
        uint64_t at = even < low + PARTITION_ROWS / 2 ? low : even - PARTITION_ROWS / 2;
        unsigned before = 0;
        at = gpi_min(at, high - PARTITION_ROWS);
        for (uint64_t k = at; k < at + PARTITION_ROWS; k++)
            before += gpi_offset_at(a->offsets, bytes, base, k + 1) < d - k;
        if (before > 0 && before < PARTITION_ROWS)
            return at + before;
        *(before ? &low : &high) = at + before;
    }
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (gpi_offset_at(a->offsets, bytes, base, middle + 1) < d - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ALWAYS_INLINE void partition_some(const struct gpi_partition_args *a, size_t bytes, uint64_t begin,
                                  uint64_t end)
{
    const uint64_t base = gpi_offset_base(a->offsets, bytes), steps = a->num_rows + a->nnz;
    const uint64_t share = gpi_ceil_div(steps, a->parts), parts = end - 1 - begin;
    const uint64_t d0 = gpi_min(begin * share, steps), d1 = gpi_min((end - 1) * share, steps);
    const double alike = (double)a->num_rows / (double)(steps ? steps : 1);
    const uint64_t low =
        row_between(a, bytes, base, d0, 0, a->num_rows, (uint64_t)((double)d0 * alike));
    const uint64_t high =
        row_between(a, bytes, base, d1, low, a->num_rows, (uint64_t)((double)d1 * alike));
    const double slope = (double)(high - low) / (double)(parts ? parts : 1);
    const int64_t ahead = (int64_t)(slope * PARTS_AHEAD) * (int64_t)bytes;
    for (uint64_t p = begin; p < end; p++) {
        const uint64_t d = gpi_min(p * share, steps);
        const uint64_t even = low + (uint64_t)((double)(p - begin) * slope);
        gpi_ahead((const char *)a->offsets + even * bytes, 1, ahead);
        const uint64_t row = row_between(a, bytes, base, d, low, high, even);
        gpi_word_put(a->row_starts, bytes, p, row);
        gpi_word_put(a->nnz_starts, bytes, p, d - row);
    }
}

static void partition_chunk(void *arg, size_t chunk)
{
    const struct gpi_partition_args *a = arg;
    const uint64_t begin = (uint64_t)chunk * PARTITION_CHUNK;
    const uint64_t end = gpi_min(begin + PARTITION_CHUNK, a->parts + 1);
    WITH_INDEX_BYTES(bytes, a->offset_bytes, partition_some(a, bytes, begin, end));
}

void gpi_balance_partition_cpu(gp_context *ctx, const struct gpi_partition_args *a)
{
    struct gpi_partition_args copy = *a;
    uint64_t base = gpi_offset_base(a->offsets, a->offset_bytes);
    const uint64_t span = gpi_offset_at(a->offsets, a->offset_bytes, base, a->num_rows);
    const struct gpi_reporter reporter = gpi_reporter_of(ctx, "row_pointers", (gp_dtype)0);
    if (a->may_cover_less ? span > a->nnz : span != a->nnz)
        gpi_report(&reporter, GPI_RULE_SPAN, a->num_rows, span, a->nnz);
    if (a->may_cover_less)
        copy.nnz = gpi_min(span, a->nnz);
    gpi_parallel_for(gpi_threads_for(ctx->threads, a->parts * SEARCH_NS),
                     gpi_ceil_div(a->parts + 1, PARTITION_CHUNK), partition_chunk, &copy);
}

struct bound_job {
    const struct gpi_bound_args *args;
    gpi_bound_fn *fn;
};

static void bound_chunk(void *arg, size_t chunk)
{
    const struct bound_job *job = arg;
    uint64_t begin = (uint64_t)chunk * BOUND_CHUNK, m = job->args->m;
    job->fn(job->args, begin, m - begin < BOUND_CHUNK ? m : begin + BOUND_CHUNK);
}

void gpi_balance_bound_cpu(gp_context *ctx, const struct gpi_bound_args *a)
{
    struct bound_job job = {a, loops[ctx->isa].bound[log2_of(a->item_bytes)]};
    gpi_parallel_for(gpi_threads_for(ctx->threads, a->m * SEARCH_NS),
                     gpi_ceil_div(a->m, BOUND_CHUNK), bound_chunk, &job);
}
