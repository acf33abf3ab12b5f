/* SPDX-License-Identifier: MIT */
/* Sorts on the CPU: the route of a job, its scratch, and what does not depend on the key width. */
#include "radixsort/radixsort_cpu_internal.h"

#include "core/check.h"
#include "core/threads.h"
#include "core/variants.h"
#include "core/words.h"
#include "core/workspace.h"
#include "gather/gather_internal.h"

#define GPI_KEY_BITS 64
#include "radixsort/radixsort_cpu_words.h"

/* The sizes of a frame's pieces; 0: not taken. */
struct pieces {
    size_t keys_tmp, keys_out, values_tmp, indices, values_copy, counts, rooms;
};

enum { LINE = 64 };

/* A table of counted keys for each part would be too much for several of a thread. */
static size_t parts_of(int threads, const struct gpi_radix_job *j)
{
    return gpi_radixsort_by_count(j) ? gpi_radixsort_movers(threads, j->n)
                                     : gpi_radixsort_parts(threads, j->n);
}

static struct pieces pieces_of(int threads, const struct gpi_radix_job *j, bool values_in_place,
                               bool segments)
{
    struct pieces p = {0, 0, 0, 0, 0, 0, 0};
    size_t index_bytes = gpi_radix_index_bytes(j->n);
    p.counts = gpi_radixsort_counts_bytes(j, parts_of(threads, j));
    if (j->begin_bit == j->end_bit || (!segments && gpi_radixsort_by_count(j)))
        return p;
    p.rooms = gpi_radixsort_rooms_bytes(j, gpi_radixsort_movers(threads, j->n));
    p.keys_tmp = j->n * j->key_bytes;
    p.keys_out = j->keys_out ? 0 : p.keys_tmp + LINE * j->key_bytes;
    if (gpi_radixsort_value_is_direct(j->value_bytes)) {
        p.values_tmp = j->n * j->value_bytes;
        return p;
    }
    p.values_tmp = p.indices = j->n * index_bytes;
    p.values_copy = values_in_place ? j->n * j->value_bytes : 0;
    return p;
}

static size_t pieces_bytes(const struct pieces *p)
{
    return gpi_piece(p->keys_tmp) + gpi_piece(p->keys_out) + gpi_piece(p->values_tmp) +
           gpi_piece(p->indices) + gpi_piece(p->values_copy) + gpi_piece(p->counts) +
           gpi_piece(p->rooms);
}

size_t gpi_radixsort_cpu_frame(int threads, const struct gpi_radix_job *job, bool segments)
{
    struct pieces p = pieces_of(threads, job, true, segments);
    return pieces_bytes(&p);
}

size_t gpi_radixsort_cpu_bytes(int threads, const struct gpi_radix_job *job)
{
    return gpi_radixsort_cpu_frame(threads, job, false);
}

/* ---- a few items ---- */

/* Items from `start` on to their places, through a copy if in is out. */
static void move_few(const uint32_t *places, const void *in, size_t start, size_t n,
                     size_t item_bytes, void *out)
{
    struct gpi_radix_value16 copy[GPI_RADIX_FEW];
    const char *from = (const char *)in + start * item_bytes;
    char *to = (char *)out + start * item_bytes;
    if (in == out)
        from = memcpy(copy, from, n * item_bytes);
    WITH_PIECE(bytes, item_bytes,
               for (size_t i = 0; i < n; i++)
                   memcpy(to + places[i] * bytes, from + i * bytes, bytes));
}

/* Each pair of items says which of the two comes later. */
void gpi_radixsort_few(const struct gpi_radix_job *j, size_t start, size_t n)
{
    const int begin = j->begin_bit;
    const struct gpi_radix_order *o = &j->order;
    const uint64_t mask = ~(uint64_t)0 >> (64 - (j->end_bit - begin));
    uint64_t words[GPI_RADIX_FEW];
    uint32_t places[GPI_RADIX_FEW];
    for (size_t i = 0; i < n; i++) {
        WITH_BYTES(bytes, j->key_bytes, words[i] = gpi_word_at(j->keys_in, bytes, start + i));
        words[i] = sort_word(o, kind_of(o), words[i]) >> begin & mask;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t before = 0;
        for (size_t k = 0; k < i; k++)
            before += words[k] <= words[i];
        for (size_t k = i + 1; k < n; k++)
            before += words[k] < words[i];
        places[i] = before;
    }
    move_few(places, j->keys_in, start, n, j->key_bytes, j->keys_out);
    if (j->value_bytes)
        move_few(places, j->values_in, start, n, j->value_bytes, j->values_out);
}

/* ---- copies ---- */

struct copy {
    const struct gpi_radix_cpu_job *c;
    void *to;
    const void *from;
    size_t item_bytes;
};

static void copy_part(void *arg, size_t part)
{
    const struct copy *k = arg;
    const size_t n = k->c->job.n, parts = k->c->parts;
    gpi_radixsort_copy_some(k->to, k->from, k->item_bytes, gpi_part_begin(n, parts, part),
                            gpi_part_begin(n, parts, part + 1));
}

void gpi_radixsort_copy(const struct gpi_radix_cpu_job *c, void *to, const void *from,
                        size_t item_bytes)
{
    struct copy k = {c, to, from, item_bytes};
    if (to != from)
        gpi_parallel_for(c->threads, c->parts, copy_part, &k);
}

void gpi_radixsort_copy_all(const struct gpi_radix_cpu_job *c)
{
    const struct gpi_radix_job *j = &c->job;
    if (j->keys_out)
        gpi_radixsort_copy(c, j->keys_out, j->keys_in, j->key_bytes);
    if (j->value_bytes)
        gpi_radixsort_copy(c, j->values_out, j->values_in, j->value_bytes);
}

/* ---- a sort from its beginning to its end ---- */

/* The job moves indices in place of the values. */
static void open_indices(struct gpi_radixsort_cpu_run *run, void *values_copy, bool read)
{
    struct gpi_radix_cpu_job *c = &run->c;
    const void *values = c->job.values_in;
    const size_t value_bytes = c->job.value_bytes, index_bytes = gpi_radix_index_bytes(c->job.n);
    void *const indices = run->indices;
    if (values_copy) {
        gpi_radixsort_copy(c, values_copy, values, value_bytes);
        values = values_copy;
    }
    if (read)
        gpi_radixsort_copy(c, indices, NULL, index_bytes);
    run->values =
        gpi_gather_of(value_bytes, values, index_bytes, indices, c->job.n, c->job.values_out);
    c->job.value_bytes = index_bytes;
    c->job.values_in = read ? indices : NULL;
    c->job.values_out = indices;
}

/* Keys of an argsort are scratch: they are aligned like the values, so that both are written in
 * whole cache lines. Indices are, where these are moved in place of values. */
static void *keys_beside(char *room, const struct gpi_radix_job *j)
{
    if (!gpi_radixsort_value_is_direct(j->value_bytes))
        return room;
    return room + (uintptr_t)j->values_out % LINE / j->value_bytes * j->key_bytes;
}

gp_status gpi_radixsort_cpu_open(gp_context *ctx, const char *function,
                                 const struct gpi_radix_job *job, bool segments,
                                 struct gpi_radixsort_cpu_run *run)
{
    const bool in_place = job->value_bytes && job->values_in && job->values_in == job->values_out;
    /* An item takes one thread 4 ns or more, long sorts most. */
    const int threads = gpi_threads_for(ctx->threads, (uint64_t)job->n * 4);
    const struct pieces p = pieces_of(threads, job, in_place, segments);
    struct gpi_frame *frame = &run->frame;
    struct gpi_radix_cpu_job *c = &run->c;
    memset(run, 0, sizeof *run);
    c->job = *job;
    c->job.order = gpi_radixsort_exact(job);
    c->keys_alone = gpi_radixsort_keys_alone(job);
    c->whole = gpi_radixsort_whole(job);
    c->threads = threads;
    c->parts = parts_of(threads, job);
    GPI_TRY(gpi_frame_open(ctx, function, pieces_bytes(&p), frame));
    c->counts = gpi_frame_take(frame, p.counts);
    gpi_radixsort_rooms_open(c, p.rooms ? gpi_frame_take(frame, p.rooms) : NULL);
    c->keys_tmp = gpi_frame_take(frame, p.keys_tmp);
    c->values_tmp = gpi_frame_take(frame, p.values_tmp);
    if (p.keys_out)
        c->job.keys_out = keys_beside(gpi_frame_take(frame, p.keys_out), job);
    run->indices = p.indices ? gpi_frame_take(frame, p.indices) : NULL;
    if (run->indices)
        open_indices(run, p.values_copy ? gpi_frame_take(frame, p.values_copy) : NULL, segments);
    return GP_OK;
}

void gpi_radixsort_cpu_close(struct gpi_radixsort_cpu_run *run)
{
    if (run->indices)
        gpi_gather_cpu(run->c.threads, &run->values);
    gpi_frame_close(&run->frame);
}

gp_status gpi_radixsort_cpu(gp_context *ctx, const char *function, const struct gpi_radix_job *job)
{
    struct gpi_radixsort_cpu_run run;
    GPI_TRY(gpi_radixsort_cpu_open(ctx, function, job, false, &run));
    if (job->begin_bit == job->end_bit)
        gpi_radixsort_copy_all(&run.c);
    else
        gpi_radixsort_cpu_code[ctx->isa].sort[gpi_key_width(job->key_bytes)](&run.c);
    gpi_radixsort_cpu_close(&run);
    return GP_OK;
}

/* ---- the table ---- */

#define WIDTHS(name, isa)                                                                          \
    name##8_cpu_##isa, name##16_cpu_##isa, name##32_cpu_##isa, name##64_cpu_##isa
#define DECLARE_CPU(isa)                                                                           \
    gpi_radixsort_cpu_fn WIDTHS(gpi_radixsort_k, isa), WIDTHS(gpi_radixsort_segment_k, isa);       \
    gpi_radixsort_short_fn gpi_radixsort_short_cpu_##isa;
#define ROW_CPU(isa)                                                                               \
    {{WIDTHS(gpi_radixsort_k, isa)},                                                               \
     {WIDTHS(gpi_radixsort_segment_k, isa)},                                                       \
     gpi_radixsort_short_cpu_##isa},

GPI_ISAS(DECLARE_CPU)

const struct gpi_radix_cpu_code gpi_radixsort_cpu_code[] = {GPI_ISAS(ROW_CPU)};
