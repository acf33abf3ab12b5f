/* SPDX-License-Identifier: MIT */
/* Segmented sorts on the CPU: long segments by all threads together, the others shared out. */
#include "segsort/segsort_internal.h"

#include "balance/balance_internal.h"
#include "core/check.h"
#include "core/threads.h"
#include "radixsort/radixsort_cpu_internal.h"

/* Steps of the merge path per task: enough that its two searches cost little beside them. */
enum { SHARE_MIN = 4096, SHARES_PER_THREAD = 16 };

size_t gpi_segsort_cpu_bytes(int threads, const struct gpi_segsort_job *s)
{
    return gpi_radixsort_cpu_frame(threads, &s->job, true);
}

enum { FEW_ITEMS = 12 };

/* Whether short segments are sorted together: by integers, compared in all bits. */
static bool sorts_several(const struct gpi_radix_job *j)
{
    return (j->key_bytes == 4 || j->key_bytes == 8) && !j->order.inf && gpi_radixsort_whole(j) &&
           j->values_in && (j->value_bytes == 4 || j->value_bytes == 8);
}

enum { PIECE = 256 /* segments whose ends are looked at together */ };

struct run {
    const struct gpi_radix_cpu_job *c; /* of the whole array */
    const void *offsets;               /* checked, of any width */
    size_t offset_bytes;
    uint64_t base, segments;
    const struct gpi_radix_cpu_code *code;
    int width;      /* log2 of a key's bytes */
    bool several;   /* short segments are sorted together */
    size_t longest; /* that one thread sorts */
    uint64_t share;
};

static size_t offset_of(const struct run *r, uint64_t s)
{
    return (size_t)gpi_offset_at(r->offsets, r->offset_bytes, r->base, s);
}

/* Ends of segments from s on, as many as are in `count` and in 31 bits, counted from the first
 * one's begin; behind them the largest number. */
static size_t ends_load(const struct run *r, uint64_t s, size_t count, uint32_t *restrict ends)
{
    const uint64_t begin = offset_of(r, s) + r->base;
    if (r->offset_bytes == 4) {
        const uint32_t *offsets = (const uint32_t *)r->offsets + s + 1;
        for (size_t i = 0; i < count; i++)
            ends[i] = offsets[i] - (uint32_t)begin;
    } else {
        const uint64_t *offsets = (const uint64_t *)r->offsets + s + 1;
        for (size_t i = 0; i < count; i++)
            ends[i] = (uint32_t)(offsets[i] - begin);
    }
    while (count && offset_of(r, s + count) + r->base - begin > INT32_MAX / 2)
        count--;
    for (size_t i = 0; i < GPI_RADIX_SHORT_ENDS; i++)
        ends[count + i] = INT32_MAX;
    return count;
}

/* part: a copy of the job. */
static void sort_one(const struct run *r, size_t start, size_t items,
                     struct gpi_radix_cpu_job *part)
{
    if (items <= FEW_ITEMS) {
        gpi_radixsort_few(&r->c->job, start, items);
    } else if (items <= r->longest) {
        gpi_radixsort_to_part(part, r->c, start, items);
        r->code->segment[r->width](part);
    }
}

/* Segments from `start` on, given by their ends. */
static void sort_piece(const struct run *r, size_t start, const uint32_t *ends, size_t count,
                       struct gpi_radix_cpu_job *part)
{
    for (size_t s = 0; s < count; s++) {
        if (r->several && ends[s] - ends[(ptrdiff_t)s - 1] <= GPI_RADIX_SHORT_ITEMS)
            s += r->code->several(&r->c->job, start, ends + s, count - s);
        if (s < count)
            sort_one(r, start + ends[(ptrdiff_t)s - 1], ends[s] - ends[(ptrdiff_t)s - 1], part);
    }
}

static void sort_share(void *arg, size_t part)
{
    const struct run *r = arg;
    uint64_t n = r->c->job.n, steps = n + r->segments, d0 = part * r->share;
    uint64_t d1 = steps - d0 < r->share ? steps : d0 + r->share;
    uint64_t s = gpi_merge_path_search(r->offsets, r->offset_bytes, r->base, r->segments, n, d0);
    uint64_t end = gpi_merge_path_search(r->offsets, r->offset_bytes, r->base, r->segments, n, d1);
    uint32_t ends[1 + PIECE + GPI_RADIX_SHORT_ENDS];
    struct gpi_radix_cpu_job sub = *r->c;
    ends[0] = 0;
    while (s < end) {
        const size_t start = offset_of(r, s);
        const size_t count = ends_load(r, s, end - s < PIECE ? end - s : PIECE, ends + 1);
        sort_piece(r, start, ends + 1, count, &sub);
        if (!count)
            sort_one(r, start, offset_of(r, s + 1) - start, &sub);
        s += count ? count : 1;
    }
}

static void sort_long(const struct run *r)
{
    for (uint64_t s = 0; s < r->segments; s++) {
        const size_t start = offset_of(r, s), items = offset_of(r, s + 1) - start;
        if (items <= r->longest)
            continue;
        struct gpi_radix_cpu_job sub = *r->c;
        gpi_radixsort_to_part(&sub, r->c, start, items);
        sub.parts = gpi_radixsort_parts(sub.threads, sub.job.n);
        r->code->sort[r->width](&sub);
    }
}

static void sort_segments(struct run *r)
{
    const struct gpi_radix_cpu_job *c = r->c;
    size_t threads = (size_t)c->threads;
    uint64_t steps = c->job.n + r->segments;
    r->several = sorts_several(&c->job);
    r->longest = threads > 1 ? c->job.n / (2 * threads) : c->job.n;
    if (r->longest < GPI_RADIX_PART_MIN)
        r->longest = GPI_RADIX_PART_MIN;
    r->longest = gpi_min(r->longest, GPI_RADIX_PART_MAX);
    if (r->longest < c->job.n)
        sort_long(r);
    r->share = steps / (threads * SHARES_PER_THREAD) + 1;
    if (r->share < SHARE_MIN)
        r->share = SHARE_MIN;
    gpi_parallel_for(c->threads, (size_t)((steps + r->share - 1) / r->share), sort_share, r);
}

gp_status gpi_segsort_cpu(gp_context *ctx, const char *function, const struct gpi_segsort_job *s)
{
    const struct gpi_radix_job *j = &s->job;
    const size_t bytes = gpi_dtype_bytes(s->offset_dtype);
    struct gpi_radixsort_cpu_run sort;
    struct run r = {.c = &sort.c,
                    .offsets = s->offsets,
                    .offset_bytes = bytes,
                    .base = gpi_offset_base(s->offsets, bytes),
                    .segments = s->num_segments,
                    .code = &gpi_radixsort_cpu_code[ctx->isa],
                    .width = gpi_key_width(j->key_bytes)};
    if (j->n == 0)
        return GP_OK;
    GPI_TRY(gpi_radixsort_cpu_open(ctx, function, j, true, &sort));
    if (j->begin_bit == j->end_bit)
        gpi_radixsort_copy_all(&sort.c);
    else
        sort_segments(&r);
    gpi_radixsort_cpu_close(&sort);
    return GP_OK;
}
