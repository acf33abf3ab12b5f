/* SPDX-License-Identifier: MIT */
/* Fill and iota on the CPU: blocks of the output, each made in the first level or there. */
#include "fill/fill_internal.h"

#include <string.h>

#include "core/past_cache.h"
#include "core/threads.h"
#include "core/variants.h"
#include "core/words.h"

/* Of the output, a task's; of a pattern, or of a sequence in the first level. */
enum { TASK_BYTES = 1 << 18, BLOCK_BYTES = 4096 };

static int threads_for(int threads, uint64_t bytes)
{
    return gpi_threads_for(threads, bytes / 16);
}

/* ---- fill ---------------------------------------------------------------------------------- */

struct fill {
    const char *pattern;
    size_t pattern_bytes, task_bytes; /* whole items; a task is whole patterns */
    uint64_t bytes;
    char *out;
    bool stream;
};

static void fill_task(void *arg, size_t task)
{
    const struct fill *f = arg;
    const uint64_t begin = (uint64_t)task * f->task_bytes;
    uint64_t end = gpi_min(begin + f->task_bytes, f->bytes);
    for (uint64_t b = begin; b < end; b += f->pattern_bytes)
        bytes_store(f->pattern, gpi_min(f->pattern_bytes, end - b), f->stream, f->out + b);
    if (f->stream)
        stores_done();
}

void gpi_fill_cpu(int threads, const struct gpi_fill_args *a)
{
    char pattern[BLOCK_BYTES];
    const uint64_t n = a->device_n ? gpi_min(*a->device_n, a->n) : a->n;
    struct fill f = {a->item, a->item_bytes, 0, n * a->item_bytes, a->out, false};
    if (a->item_bytes <= BLOCK_BYTES / 2) {
        f.pattern = pattern;
        f.pattern_bytes = gpi_min(BLOCK_BYTES / a->item_bytes * a->item_bytes, f.bytes);
        for (size_t b = 0; b < f.pattern_bytes; b += a->item_bytes)
            memcpy(pattern + b, a->item, a->item_bytes);
    }
    if (f.bytes == 0)
        return;
    f.task_bytes = gpi_ceil_div(TASK_BYTES, f.pattern_bytes) * f.pattern_bytes;
    f.stream = f.bytes >= STREAM_BYTES;
    gpi_parallel_for(threads_for(threads, f.bytes), gpi_ceil_div(f.bytes, f.task_bytes), fill_task,
                     &f);
}

/* ---- iota ---------------------------------------------------------------------------------- */

struct iota {
    const struct gpi_iota_args *a;
    gpi_iota_fn *fn;
    uint64_t n;
    bool stream;
};

static void iota_task(void *arg, size_t task)
{
    const struct iota *j = arg;
    const size_t bytes = j->a->item_bytes, items = BLOCK_BYTES / bytes;
    char block[BLOCK_BYTES];
    uint64_t i = (uint64_t)task * (TASK_BYTES / bytes);
    const uint64_t end = gpi_min(i + TASK_BYTES / bytes, j->n);
    for (; i < end; i += items) {
        const size_t count = (size_t)gpi_min(items, end - i);
        char *to = (char *)j->a->out + i * bytes;
        j->fn(j->a, i, count, j->stream ? block : to);
        if (j->stream)
            copy_past_cache(block, count * bytes, to);
    }
    if (j->stream)
        stores_done();
}

#define DECLARE(isa) gpi_iota_fn gpi_iota_halves_##isa;
#define ENTRY(isa) gpi_iota_halves_##isa,
GPI_ISAS(DECLARE)

void gpi_iota_cpu(const gp_context *ctx, const struct gpi_iota_args *a)
{
    static gpi_iota_fn *const halves[] = {GPI_ISAS(ENTRY)};
    const bool is_half = a->kind == GPI_IOTA_F16 || a->kind == GPI_IOTA_BF16;
    struct iota j = {.a = a, .fn = is_half ? halves[ctx->isa] : gpi_iota_items};
    j.n = a->device_n ? gpi_min(*a->device_n, a->n) : a->n;
    const uint64_t bytes = j.n * a->item_bytes;
    j.stream = bytes >= STREAM_BYTES;
    gpi_parallel_for(threads_for(ctx->threads, bytes), gpi_ceil_div(bytes, TASK_BYTES), iota_task,
                     &j);
}
