/* SPDX-License-Identifier: MIT */
/* Multisplit by numbers of 8 bits on the CPU: each part of the items counts, then moves its own. */
#include "multisplit/multisplit_internal.h"

#include <string.h>

#include "core/past_cache.h"
#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"

enum {
    BINS = GPI_MULTISPLIT_BYTE_BUCKETS,
    TABLES = 4,
    THREADS_MAX = 4096,
    STRAIGHT_MAX = 64 /* buckets whose items go straight to their places; more have pages that the
                       * processor does not find at once, and gain by whole lines (multisplit-02) */
};

struct split {
    const struct gpi_multisplit_args *a;
    size_t parts;
    bool stream;            /* outputs are stored past the cache */
    uint64_t (*next)[BINS]; /* of each part: items per number; then the place of the next one */
};

size_t gpi_multisplit_cpu_bytes(int threads)
{
    return gpi_piece((size_t)(threads ? threads : THREADS_MAX) * BINS * sizeof(uint64_t));
}

/* Several tables, so that equal numbers in a row do not wait for each other. */
static void count_part(void *arg, size_t part)
{
    const struct split *s = arg;
    const uint8_t *numbers = s->a->numbers;
    uint64_t tables[TABLES][BINS] = {{0}};
    uint64_t i = gpi_part_begin(s->a->n, s->parts, part);
    const uint64_t end = gpi_part_begin(s->a->n, s->parts, part + 1);
    for (; i + TABLES <= end; i += TABLES)
        for (int k = 0; k < TABLES; k++)
            tables[k][numbers[i + (uint64_t)k]]++;
    for (; i < end; i++)
        tables[0][numbers[i]]++;
    for (int b = 0; b < BINS; b++)
        s->next[part][b] = tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}

/* Counts to places. A number that is too large has a place of its own, too, inside out. */
static void add_up(const struct split *s)
{
    uint64_t at = 0;
    for (uint32_t b = 0; b < BINS; b++) {
        if (b < s->a->num_buckets)
            s->a->offsets[b] = at;
        for (size_t part = 0; part < s->parts; part++) {
            const uint64_t count = s->next[part][b];
            s->next[part][b] = at;
            at += count;
        }
    }
    s->a->offsets[s->a->num_buckets] = at;
}

ALWAYS_INLINE void move_items(const struct gpi_multisplit_args *a, uint64_t begin, uint64_t end,
                              uint64_t *next, size_t bytes, size_t piece)
{
    const uint8_t *numbers = a->numbers;
    const char *in = a->in;
    char *restrict out = a->out;
    for (uint64_t i = begin; i < end; i++)
        gpi_item_move(out + next[numbers[i]]++ * bytes, in + i * bytes, bytes, piece);
}

/* A line of each bucket's output, and where its items begin and end in out. */
struct lines {
    _Alignas(LINE) char line[BINS][LINE];
    char *begin[BINS], *end[BINS];
};

/* What there is of the line before end; whole lines past the cache. */
ALWAYS_INLINE void flush(const struct lines *l, unsigned b, char *start, bool stream)
{
    char *const first = l->begin[b] > start ? l->begin[b] : start;
    const size_t bytes = (size_t)(l->end[b] - first);
#if defined(__SSE2__)
    if (stream && bytes == LINE)
        line_past_cache(l->line[b], first);
    else
#endif
        memcpy(first, l->line[b] + (uintptr_t)first % LINE, bytes);
    (void)stream;
}

/* Items of a power of two of bytes, which no line's end cuts. */
ALWAYS_INLINE void move_lines(const struct gpi_multisplit_args *a, uint64_t begin, uint64_t end,
                              const uint64_t *next, size_t bytes, bool stream)
{
    struct lines l;
    const uint8_t *numbers = a->numbers;
    const char *in = a->in;
    for (unsigned b = 0; b < BINS; b++)
        l.begin[b] = l.end[b] = (char *)a->out + next[b] * bytes;
    for (uint64_t i = begin; i < end; i++) {
        const unsigned b = numbers[i];
        char *const to = l.end[b];
        memcpy(l.line[b] + (uintptr_t)to % LINE, in + i * bytes, bytes);
        l.end[b] = to + bytes;
        if ((uintptr_t)(to + bytes) % LINE == 0)
            flush(&l, b, to + bytes - LINE, stream);
    }
    for (unsigned b = 0; b < BINS; b++)
        if ((uintptr_t)l.end[b] % LINE && l.end[b] > l.begin[b])
            flush(&l, b, l.end[b] - (uintptr_t)l.end[b] % LINE, false);
    stores_done();
}

/* Places of items of a constant size take no multiplication. */
ALWAYS_INLINE void move_range(const struct split *s, uint64_t begin, uint64_t end, uint64_t *next,
                              size_t piece)
{
    if (s->a->item_bytes == piece && piece <= 16 && s->a->num_buckets > STRAIGHT_MAX)
        move_lines(s->a, begin, end, next, piece, s->stream);
    else if (s->a->item_bytes == piece)
        move_items(s->a, begin, end, next, piece, piece);
    else
        move_items(s->a, begin, end, next, s->a->item_bytes, piece);
}

static void move_part(void *arg, size_t part)
{
    const struct split *s = arg;
    const uint64_t begin = gpi_part_begin(s->a->n, s->parts, part);
    const uint64_t end = gpi_part_begin(s->a->n, s->parts, part + 1);
    WITH_PIECE(piece, gpi_item_piece(s->a->item_bytes),
               move_range(s, begin, end, s->next[part], piece));
}

void gpi_multisplit_cpu(int threads, const struct gpi_multisplit_args *a, void *scratch)
{
    struct split s = {a, 1, a->n * a->item_bytes >= STREAM_BYTES, scratch};
    threads = gpi_threads_for(threads, a->n + a->n * a->item_bytes / 8);
    s.parts = (size_t)threads;
    gpi_parallel_for(threads, s.parts, count_part, &s);
    add_up(&s);
    gpi_parallel_for(threads, s.parts, move_part, &s);
}
