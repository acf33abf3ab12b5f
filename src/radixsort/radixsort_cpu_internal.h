/* SPDX-License-Identifier: MIT */
/* What the code of all key widths shares on the CPU. */
#ifndef GPI_RADIXSORT_CPU_INTERNAL_H
#define GPI_RADIXSORT_CPU_INTERNAL_H

#include <stdbool.h>
#include <string.h>

#include "core/threads.h"
#include "core/words.h"
#include "core/workspace.h"
#include "gather/gather_internal.h"
#include "radixsort/radixsort_internal.h"

/* `count` rooms of equal size, each for one thread at a time, and for each a byte that says whether
 * it is taken. With count 0 the memory is one room, which the calling thread has already. */
struct gpi_radix_rooms {
    char *memory;
    unsigned char *taken;
    size_t count, bytes;
};

/* What the code of one key width gets; every array is as long as n. */
struct gpi_radix_cpu_job {
    struct gpi_radix_job job; /* keys_out is set, value_bytes is 0, 1, 2, 4, 8 or 16 */
    void *keys_tmp;
    void *values_tmp;
    void *counts; /* see gpi_radixsort_counts_bytes() */
    struct gpi_radix_rooms rooms;
    size_t parts;
    int threads;
    bool keys_alone; /* no values, and all bits are compared */
    bool whole;      /* all bits are compared, those that a cut has put in order included */
};

typedef void gpi_radixsort_cpu_fn(const struct gpi_radix_cpu_job *job);
/* Sorts segments of up to GPI_RADIX_SHORT_ITEMS pairs of integers, compared in all bits, of 4 or 8
 * bytes each, several together, by the calling thread. Segment s ends at ends[s], where the next
 * one begins, counted from `start`: below 2^31, and behind them are GPI_RADIX_SHORT_ENDS larger
 * numbers. Returns how many from the first one on are sorted. */
enum { GPI_RADIX_SHORT_ITEMS = 16, GPI_RADIX_SHORT_ENDS = 16 };
typedef size_t gpi_radixsort_short_fn(const struct gpi_radix_job *j, size_t start,
                                      const uint32_t *ends, size_t count);
/* Puts unsigned words in order; false: they are all there, in no order. */
typedef bool gpi_radixsort_quick_fn(void *words, size_t n);

/* The code for an instruction set, by log2 of the key's bytes. Segments are sorted by the calling
 * thread alone; with values the job has values_in. */
struct gpi_radix_cpu_code {
    gpi_radixsort_cpu_fn *sort[4], *segment[4];
    gpi_radixsort_short_fn *several;
};
extern const struct gpi_radix_cpu_code gpi_radixsort_cpu_code[GPI_ISA_COUNT];

struct gpi_radix_value16 {
    uint64_t half[2];
};

/* Counters of a part have 32 bits. */
#define GPI_RADIX_PART_MAX ((size_t)1 << 31)
/* Less is not worth a second thread. A thread has several parts, so that others take some of one
 * that has lost its processor. */
enum { GPI_RADIX_PART_MIN = 65536, GPI_RADIX_PARTS_MAX = 1024, GPI_RADIX_PARTS_EACH = 4 };

/* Parts of a sort of n items, `each` per thread at most; 0 threads: any number. */
static inline size_t gpi_radixsort_parts_of(int threads, size_t each, size_t n)
{
    size_t parts = n / GPI_RADIX_PART_MIN, least = n / GPI_RADIX_PART_MAX + 1;
    if (threads > 0 && parts > (size_t)threads * each)
        parts = (size_t)threads * each;
    if (parts > GPI_RADIX_PARTS_MAX)
        parts = GPI_RADIX_PARTS_MAX;
    return parts > least ? parts : least;
}

/* As many threads as that move items at the same time. */
static inline size_t gpi_radixsort_movers(int threads, size_t n)
{
    return gpi_radixsort_parts_of(threads, 1, n);
}

static inline size_t gpi_radixsort_parts(int threads, size_t n)
{
    return gpi_radixsort_parts_of(threads, threads == 1 ? 1 : GPI_RADIX_PARTS_EACH, n);
}

/* Values that have code of their own. */
static inline bool gpi_radixsort_value_is_direct(size_t bytes)
{
    return bytes <= 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

static inline bool gpi_radixsort_whole(const struct gpi_radix_job *j)
{
    return j->begin_bit == 0 && j->end_bit == 8 * (int)j->key_bytes;
}

static inline bool gpi_radixsort_keys_alone(const struct gpi_radix_job *j)
{
    return j->value_bytes == 0 && gpi_radixsort_whole(j);
}

/* Keys alone are compared by words that can be turned back, as on CUDA: equal words may come in any
 * order then. An order of floats says so by the lowest bit of inf, which no infinity has. */
#define GPI_RADIX_EXACT_BIT ((uint64_t)1)

static inline struct gpi_radix_order gpi_radixsort_exact(const struct gpi_radix_job *j)
{
    struct gpi_radix_order o = j->order;
    if (o.inf && gpi_radixsort_keys_alone(j))
        o.inf |= GPI_RADIX_EXACT_BIT;
    return o;
}

/* Whether keys are counted instead of moved: where there are enough to pay for the table. */
static inline bool gpi_radixsort_by_count(const struct gpi_radix_job *j)
{
    return j->key_bytes <= 2 && gpi_radixsort_keys_alone(j) &&
           j->n >= (j->key_bytes == 1 ? 0 : (size_t)1 << 17);
}

/* Counts and places of a pass; or counts of keys and their places. */
static inline size_t gpi_radixsort_counts_bytes(const struct gpi_radix_job *j, size_t parts)
{
    size_t bins = (size_t)1 << 8 * (j->key_bytes <= 2 ? j->key_bytes : 1);
    if (gpi_radixsort_by_count(j))
        return (bins + 1) * sizeof(uint64_t) + parts * bins * sizeof(uint32_t);
    return parts * GPI_RADIX_BINS * (sizeof(uint32_t) + sizeof(uint64_t));
}

/* Up to this size one thread sorts by wide digits: what its second-level cache does not hold is
 * still in the one behind it. */
#define GPI_RADIX_CACHED_BYTES ((size_t)4 << 20)

/*
 * A room is the scratch of one thread, too large for a small stack. There it collects the items of
 * each bin until they fill lines, or sorts words of a key and a position, 8 bytes for each of its
 * items or as many as the caches hold; beside values that is never less than the lines take. Each
 * thread that moves items has one.
 */
enum { GPI_RADIX_LINES_BYTES = 128 * GPI_RADIX_BINS }; /* of keys alone */

/* Bytes of a room; 0: none is needed. */
static inline size_t gpi_radixsort_room_bytes(const struct gpi_radix_job *j, size_t movers)
{
    const size_t words = (j->n / movers * sizeof(uint64_t) / 64 + 1) * 64;
    const bool cached = movers == 1 && j->n * j->key_bytes <= GPI_RADIX_CACHED_BYTES;
    if (gpi_radixsort_keys_alone(j))
        return cached ? 0 : GPI_RADIX_LINES_BYTES;
    return words < GPI_RADIX_CACHED_BYTES ? words : GPI_RADIX_CACHED_BYTES;
}

static inline size_t gpi_radixsort_rooms_bytes(const struct gpi_radix_job *j, size_t movers)
{
    const size_t bytes = gpi_radixsort_room_bytes(j, movers);
    return bytes ? movers * (bytes + 1) : 0;
}

/* Lay them out in memory of that size, or NULL. */
static inline void gpi_radixsort_rooms_open(struct gpi_radix_cpu_job *c, char *memory)
{
    const size_t movers = gpi_radixsort_movers(c->threads, c->job.n);
    const size_t bytes = gpi_radixsort_room_bytes(&c->job, movers);
    if (!memory)
        return;
    c->rooms =
        (struct gpi_radix_rooms){memory, (unsigned char *)memory + movers * bytes, movers, bytes};
    memset(c->rooms.taken, 0, movers);
}

/* A room that is free, which the calling thread has from now on; or NULL. */
static inline void *gpi_radixsort_room_take(const struct gpi_radix_rooms *r)
{
    for (size_t k = 0; k < r->count; k++)
        if (!__atomic_exchange_n(&r->taken[k], 1, __ATOMIC_ACQUIRE))
            return r->memory + k * r->bytes;
    return r->count ? NULL : r->memory;
}

static inline void gpi_radixsort_room_give(const struct gpi_radix_rooms *r, const void *room)
{
    if (r->count)
        __atomic_store_n(&r->taken[(size_t)((const char *)room - r->memory) / r->bytes], 0,
                         __ATOMIC_RELEASE);
}

/* A copy of a job becomes one of its items [start, start + n). */
static inline void gpi_radixsort_to_part(struct gpi_radix_cpu_job *part,
                                         const struct gpi_radix_cpu_job *c, size_t start, size_t n)
{
    const size_t value_bytes = c->job.value_bytes;
    part->job.n = n;
    part->job.keys_in = (const char *)c->job.keys_in + start * c->job.key_bytes;
    part->job.keys_out = (char *)c->job.keys_out + start * c->job.key_bytes;
    part->keys_tmp = (char *)c->keys_tmp + start * c->job.key_bytes;
    if (value_bytes) {
        if (c->job.values_in) /* not of an argsort */
            part->job.values_in = (const char *)c->job.values_in + start * value_bytes;
        part->job.values_out = (char *)c->job.values_out + start * value_bytes;
        part->values_tmp = (char *)c->values_tmp + start * value_bytes;
    }
}

/* Sorts items [start, start + n) of a job, by the calling thread; with values it has values_in. */
enum { GPI_RADIX_FEW = 96 };
void gpi_radixsort_few(const struct gpi_radix_job *j, size_t start, size_t n);

/* Copy items [begin, end) of a size to another array, or write the indices if `from` is NULL. */
static inline void gpi_radixsort_copy_some(void *to, const void *from, size_t item_bytes,
                                           size_t begin, size_t end)
{
    const size_t at = begin * item_bytes;
    if (from)
        memcpy((char *)to + at, (const char *)from + at, (end - begin) * item_bytes);
    else
        WITH_INDEX_BYTES(bytes, item_bytes,
                         for (size_t i = begin; i < end; i++) gpi_word_put(to, bytes, i, i));
}

/* The same of all n items, in parallel; of keys and values it is a sort that moves nothing. */
void gpi_radixsort_copy(const struct gpi_radix_cpu_job *c, void *to, const void *from,
                        size_t item_bytes);
void gpi_radixsort_copy_all(const struct gpi_radix_cpu_job *c);

/* A sort with its scratch. Values of a size without code are collected when it is closed, by
 * indices that the job moves in place of them; segments: a sort of each segment of its arrays,
 * whose indices are in memory before. */
struct gpi_radixsort_cpu_run {
    struct gpi_radix_cpu_job c;
    struct gpi_frame frame;
    void *indices; /* or NULL */
    struct gpi_gather_args values;
};
size_t gpi_radixsort_cpu_frame(int threads, const struct gpi_radix_job *job, bool segments);
gp_status gpi_radixsort_cpu_open(gp_context *ctx, const char *function,
                                 const struct gpi_radix_job *job, bool segments,
                                 struct gpi_radixsort_cpu_run *run);
void gpi_radixsort_cpu_close(struct gpi_radixsort_cpu_run *run);

#endif
