/* SPDX-License-Identifier: MIT */
/*
 * More bins than a second-level cache has counters: every increment of one table would miss it.
 * Here the low 16 bits of the items' bins are first brought together by the bits above, in three
 * passes: count the buckets of each part of the input, move, count within buckets. A bucket's
 * counters fit the cache, and go to the result once.
 */
#include <string.h>

#include "core/threads.h"
#include "core/workspace.h"
#include "histogram/histogram_cpu.h"

enum {
    BITS_MIN = 14, /* of a bucket's bins */
    BITS_MAX = 16,
    BUCKETS_WANTED = 256,   /* at most, as long as BITS_MAX allows */
    BUCKET_ITEMS = 1 << 20, /* larger buckets may be counted by several workers */
    AHEAD = 64,             /* items: two lines */
    BLOCK = GPI_BINNING_BLOCK
};

/* A bucket, or what one part of the input has in it. */
struct slice {
    uint32_t bucket;
    bool shared; /* one of several slices of the bucket */
    size_t first_part, end_part;
};

struct split {
    struct gpi_histogram_job *job;
    unsigned bits;
    size_t parts, buckets, words, num_slices, next;
    uint32_t *tables; /* [part][word]: by bucket at first, then by bin of a bucket */
    uint64_t *begin;  /* [part][bucket]: where its items lie */
    uint64_t *end;
    uint16_t *low;
    struct slice *slices;
};

static unsigned bits_of(size_t bins)
{
    unsigned bits = BITS_MIN;
    while (bits < BITS_MAX && bins >> bits >= BUCKETS_WANTED)
        bits++;
    return bits;
}

bool gpi_histogram_split_pays(uint64_t n, size_t bins)
{
    const size_t from = (size_t)1 << 22, to = (size_t)1 << 26;
    return bins >= from && bins <= to && n >= bins / 4 && n < (uint64_t)1 << 32;
}

static size_t buckets_of(size_t bins)
{
    return (bins >> bits_of(bins)) + 1; /* one more than bins need may be for "in no bin" */
}

static size_t table_words(size_t bins)
{
    const size_t in_bucket = (size_t)1 << bits_of(bins), buckets = buckets_of(bins);
    return in_bucket > buckets ? in_bucket : buckets;
}

size_t gpi_histogram_split_bytes(uint64_t n, size_t bins, size_t parts)
{
    const size_t buckets = buckets_of(bins), places = parts * buckets;
    return gpi_piece(parts * table_words(bins) * sizeof(uint32_t)) +
           2 * gpi_piece(places * sizeof(uint64_t)) +
           gpi_piece(((size_t)n + AHEAD + 1) * sizeof(uint16_t)) +
           gpi_piece((buckets + places) * sizeof(struct slice));
}

static void carve(struct split *s, struct gpi_frame *frame)
{
    const size_t n = (size_t)s->job->args->n, places = s->parts * s->buckets;
    s->tables = gpi_frame_take(frame, s->parts * s->words * sizeof *s->tables);
    s->begin = gpi_frame_take(frame, places * sizeof *s->begin);
    s->end = gpi_frame_take(frame, places * sizeof *s->end);
    s->low = gpi_frame_take(frame, (n + AHEAD + 1) * sizeof *s->low);
    s->slices = gpi_frame_take(frame, (s->buckets + places) * sizeof *s->slices);
}

/* ---- to buckets ---- */

static uint64_t part_begin(const struct split *s, size_t part)
{
    return s->job->args->n * part / s->parts;
}

static void count_part(void *arg, size_t part)
{
    const struct split *s = arg;
    const uint64_t end = part_begin(s, part + 1);
    uint32_t *table = s->tables + part * s->words;
    uint32_t index[BLOCK];
    memset(table, 0, s->buckets * sizeof *table);
    for (uint64_t i = part_begin(s, part); i < end; i += BLOCK) {
        size_t count = gpi_histogram_bin(s->job, i, end, index);
        for (size_t k = 0; k < count; k++)
            index[k] >>= s->bits;
        gpi_histogram_count(table, 0, 1, index, count);
    }
}

/* Sorted or constant input, where each place would wait for the one before. */
static bool in_one_bucket(const uint32_t *index, size_t count, unsigned bits)
{
    uint32_t differ = 0;
    for (size_t k = 0; k < count; k++)
        differ |= index[k] ^ index[0];
    return differ >> bits == 0;
}

/* Stores leave a processor in order, so one that misses the caches would hold up all others: lines
 * are asked for 64 items ahead. Places are all read before items are stored, because a processor
 * that does not know yet where a store goes may keep the next reads waiting. */
static void move_part(void *arg, size_t part)
{
    const struct split *s = arg;
    const uint64_t end = part_begin(s, part + 1);
    const uint32_t mask = ((uint32_t)1 << s->bits) - 1;
    uint64_t *at = s->end + part * s->buckets;
    uint16_t *low = s->low;
    uint32_t index[BLOCK];
    uint64_t place[BLOCK];
    for (uint64_t i = part_begin(s, part); i < end; i += BLOCK) {
        size_t count = gpi_histogram_bin(s->job, i, end, index);
        if (in_one_bucket(index, count, s->bits)) {
            place[0] = at[index[0] >> s->bits];
            at[index[0] >> s->bits] += count;
            for (size_t k = 0; k < count; k++)
                low[place[0] + k] = (uint16_t)(index[k] & mask);
            continue;
        }
        for (size_t k = 0; k < count; k++)
            place[k] = at[index[k] >> s->bits]++;
        for (size_t k = 0; k < count; k++) {
            low[place[k]] = (uint16_t)(index[k] & mask);
            __builtin_prefetch(low + place[k] + AHEAD, 1);
        }
    }
}

/* ---- buckets ---- */

static size_t bins_in(const struct split *s, size_t bucket)
{
    const size_t left = s->job->args->binning.bins - (bucket << s->bits);
    const size_t in_bucket = (size_t)1 << s->bits;
    return left < in_bucket ? left : in_bucket;
}

static void add_slice(struct split *s, size_t bucket, bool shared, size_t first, size_t end)
{
    s->slices[s->num_slices++] = (struct slice){(uint32_t)bucket, shared, first, end};
}

/* A bucket that holds up the others is cut, and its slices are added up in the result. */
static void cut_bucket(struct split *s, size_t bucket)
{
    const struct gpi_histogram_args *a = s->job->args;
    const size_t counter = a->wide_counters ? sizeof(uint64_t) : sizeof(uint32_t);
    if (!a->accumulate)
        memset((char *)a->counts + (bucket << s->bits) * counter, 0, bins_in(s, bucket) * counter);
    for (size_t part = 0; part < s->parts; part++)
        add_slice(s, bucket, true, part, part + 1);
}

/* Places of buckets and of the parts in them. */
static void place_buckets(struct split *s)
{
    const uint64_t share = s->job->args->n / s->parts;
    uint64_t at = 0;
    for (size_t b = 0; b < s->buckets; b++) {
        uint64_t items = 0;
        for (size_t part = 0; part < s->parts; part++) {
            const uint64_t here = s->tables[part * s->words + b];
            s->begin[part * s->buckets + b] = s->end[part * s->buckets + b] = at;
            at += here;
            items += here;
        }
        if (items > BUCKET_ITEMS && items > share && s->parts > 1)
            cut_bucket(s, b);
        else
            add_slice(s, b, false, 0, s->parts);
    }
}

static void count_low(uint32_t *table, const uint16_t *low, uint64_t count)
{
    uint32_t index[BLOCK];
    for (uint64_t i = 0; i < count; i += BLOCK) {
        const size_t here = count - i < BLOCK ? (size_t)(count - i) : BLOCK;
        for (size_t k = 0; k < here; k++)
            index[k] = low[i + k];
        gpi_histogram_count(table, 0, 1, index, here);
    }
}

static void put_slice(struct split *s, const struct slice *slice, uint32_t *table)
{
    struct gpi_histogram_job *job = s->job;
    const size_t first = (size_t)slice->bucket << s->bits, bins = bins_in(s, slice->bucket);
    if (job->binning.none >> s->bits == slice->bucket) {
        uint32_t *none = table + (job->binning.none - first);
        __atomic_fetch_add(&job->outside, *none, __ATOMIC_RELAXED);
        *none = 0;
    }
    if (slice->shared)
        gpi_histogram_add_shared(job->args, first, bins, table);
    else if (job->args->accumulate)
        gpi_histogram_add(job->args, first, bins, table);
    else
        gpi_histogram_put(job->args, first, bins, table);
}

static void work_slices(void *arg, size_t worker)
{
    struct split *s = arg;
    uint32_t *table = s->tables + worker * s->words;
    size_t i;
    while ((i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < s->num_slices) {
        const struct slice *slice = s->slices + i;
        memset(table, 0, sizeof *table << s->bits);
        for (size_t part = slice->first_part; part < slice->end_part; part++) {
            const size_t place = part * s->buckets + slice->bucket;
            count_low(table, s->low + s->begin[place], s->end[place] - s->begin[place]);
        }
        put_slice(s, slice, table);
    }
}

void gpi_histogram_split(struct gpi_histogram_job *job, struct gpi_frame *frame)
{
    const size_t bins = job->args->binning.bins;
    struct split s = {.job = job,
                      .bits = bits_of(bins),
                      .parts = job->plan.workers,
                      .buckets = buckets_of(bins),
                      .words = table_words(bins)};
    carve(&s, frame);
    gpi_parallel_for(job->threads, s.parts, count_part, &s);
    place_buckets(&s);
    gpi_parallel_for(job->threads, s.parts, move_part, &s);
    gpi_parallel_for(job->threads, s.parts, work_slices, &s);
}
