/* SPDX-License-Identifier: MIT */
/* Small work on arrays that no other room does, on either backend. */
#include <string.h>

#include "core/cuda.h"
#include "core/threads.h"
#include "dist/dist_kernels_internal.h"

gp_status gpi_dist_launch(gp_comm *comm, const char *f, const struct gpi_dist_kernel *k)
{
    gpi_dist_launch_fn *fn = gpi_dist_launch_get(comm->ctx->sm_row);
    return fn ? fn(comm->ctx, f, k) : gpi_fail_sm(comm->ctx, f);
}

static bool on_gpu(const gp_comm *comm)
{
    return comm->ctx->backend == GP_BACKEND_CUDA;
}

/* A copy to memory that is not page-locked would block the host, whatever the time that is set. */
gp_status gpi_dist_fetch(gp_comm *comm, const char *f, const void *source, size_t bytes, void *host)
{
    const bool small = bytes <= GPI_DIST_PINNED;
    if (!on_gpu(comm)) {
        if (bytes)
            memcpy(host, source, bytes);
        return GP_OK;
    }
    if (!small)
        GPI_TRY(gpi_dist_cuda_wait(comm, f, comm->seconds));
    if (bytes)
        GPI_TRY(gpi_cuda_copy(comm->ctx, source, bytes, small ? comm->pinned : host));
    GPI_TRY(gpi_dist_cuda_wait(comm, f, comm->seconds));
    if (small && bytes)
        memcpy(host, comm->pinned, bytes);
    return GP_OK;
}

gp_status gpi_dist_put(gp_comm *comm, const char *f, const void *host, size_t bytes,
                       void *destination)
{
    if (!on_gpu(comm))
        memcpy(destination, host, bytes);
    else
        return gpi_named(comm->ctx, f, gpi_cuda_copy(comm->ctx, host, bytes, destination));
    return GP_OK;
}

struct host_copy {
    const char *from;
    uint64_t bytes;
    char *to;
};

#define COPY_BYTES ((uint64_t)1 << 20)

static void copy_part(void *arg, size_t i)
{
    const struct host_copy *c = arg;
    const uint64_t at = i * COPY_BYTES, rest = c->bytes - at;
    memcpy(c->to + at, c->from + at, rest < COPY_BYTES ? rest : COPY_BYTES);
}

void gpi_dist_copy_host(gp_context *ctx, const void *from, uint64_t bytes, void *to)
{
    struct host_copy c = {from, bytes, to};
    gpi_parallel_for(gpi_threads_for(ctx->threads, bytes / 8),
                     (bytes + COPY_BYTES - 1) / COPY_BYTES, copy_part, &c);
}

gp_status gpi_dist_fork(gp_comm *comm, const char *f)
{
    return on_gpu(comm) ? gpi_dist_cuda_fork(comm, f) : GP_OK;
}

gp_status gpi_dist_pull(gp_comm *comm, const char *f, enum gpi_dist_lane lane, const void *from,
                        uint64_t bytes, void *to)
{
    if (on_gpu(comm))
        return bytes ? gpi_dist_cuda_pull(comm, f, lane, from, bytes, to) : GP_OK;
    gpi_dist_copy_host(comm->ctx, from, bytes, to);
    return GP_OK;
}

gp_status gpi_dist_join(gp_comm *comm, const char *f)
{
    return on_gpu(comm) ? gpi_dist_cuda_join(comm, f) : GP_OK;
}

gp_status gpi_dist_exchange_beside(gp_comm *comm, const char *f, const struct gpi_route *route)
{
    const struct gpi_transport *t = comm->transport;
    return t->exchange_beside ? t->exchange_beside(comm, f, route) : t->exchange(comm, f, route);
}

gp_status gpi_dist_conclude(gp_comm *comm, const char *f)
{
    const gp_status s = gpi_dist_join(comm, f);
    if (s != GP_OK)
        return gpi_dist_drop(comm, s);
    return comm->transport->conclude ? comm->transport->conclude(comm, f) : GP_OK;
}

/* ---- words of keys --------------------------------------------------------------------------- */

static uint64_t key_at(size_t bytes, const void *keys, uint64_t i)
{
    switch (bytes) {
    case 1:
        return ((const uint8_t *)keys)[i];
    case 2:
        return ((const uint16_t *)keys)[i];
    case 4:
        return ((const uint32_t *)keys)[i];
    default:
        return ((const uint64_t *)keys)[i];
    }
}

static uint64_t word_at(const struct gpi_dist_keys *k, const void *keys, uint64_t i)
{
    const uint64_t key = key_at(k->bytes, keys, i);
    return GPI_DIST_WORD(&k->order, k->bytes, key);
}

/* Keys below a word that is not below that many: in steps that double, and then between two. */
static uint64_t below(const struct gpi_dist_keys *k, uint64_t at_least, uint64_t word)
{
    uint64_t low = at_least, high = k->n, step = 1;
    while (low + step <= k->n && word_at(k, k->keys, low + step - 1) < word) {
        low += step;
        step *= 2;
    }
    high = low + step < high ? low + step : high;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (word_at(k, k->keys, middle) < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

gp_status gpi_dist_word(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys, uint64_t i,
                        uint64_t *word)
{
    uint64_t key = 0;
    GPI_TRY(gpi_dist_fetch(comm, f, (const char *)keys->keys + i * keys->bytes, keys->bytes, &key));
    *word = word_at(keys, &key, 0);
    return GP_OK;
}

gp_status gpi_dist_probe(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                         const uint64_t *words, int count, uint64_t *counts)
{
    if (!on_gpu(comm) || keys->n == 0) {
        for (int i = 0; i < count; i++)
            counts[i] = below(keys, i && words[i] >= words[i - 1] ? counts[i - 1] : 0, words[i]);
        return GP_OK;
    }
    uint64_t *found = keys->scratch + GPI_DIST_PROBES;
    const size_t bytes = (size_t)count * sizeof *words;
    const struct gpi_dist_kernel k = {.task = GPI_DIST_PROBE,
                                      .in_bytes = keys->bytes,
                                      .in = keys->keys,
                                      .out = found,
                                      .n = keys->n,
                                      .rows = count,
                                      .words = keys->scratch,
                                      .order = keys->order};
    GPI_TRY(gpi_dist_put(comm, f, words, bytes, keys->scratch));
    GPI_TRY(gpi_dist_launch(comm, f, &k));
    return gpi_dist_fetch(comm, f, found, bytes, counts);
}

gp_status gpi_dist_sample(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys, int count,
                          uint64_t *words)
{
    const struct gpi_dist_kernel k = {.task = GPI_DIST_SAMPLE,
                                      .in_bytes = keys->bytes,
                                      .in = keys->keys,
                                      .out = keys->scratch,
                                      .n = keys->n,
                                      .rows = count,
                                      .order = keys->order};
    if (count && on_gpu(comm)) {
        GPI_TRY(gpi_dist_launch(comm, f, &k));
        return gpi_dist_fetch(comm, f, keys->scratch, (size_t)count * sizeof *words, words);
    }
    for (int i = 0; i < count; i++)
        words[i] = word_at(keys, keys->keys, GPI_DIST_SAMPLED(keys->n, count, i));
    return GP_OK;
}

/* Of the integers that an item is made of. */
static size_t unit_of(size_t item_bytes)
{
    return gpi_item_alignment(item_bytes) < 4 ? 1 : 4;
}

gp_status gpi_dist_copy_few(gp_comm *comm, const char *f, const void *from, size_t item_bytes,
                            uint64_t n, void *to)
{
    const size_t width = unit_of(item_bytes);
    const struct gpi_dist_kernel k = {.task = GPI_DIST_COPY,
                                      .in_bytes = width,
                                      .in = from,
                                      .out = to,
                                      .n = n * (item_bytes / width)};
    if (!on_gpu(comm))
        return gp_copy(comm->ctx, from, n * item_bytes, to);
    return n ? gpi_dist_launch(comm, f, &k) : GP_OK;
}

gp_status gpi_dist_copy_each(gp_comm *comm, const char *f, const struct gpi_dist_cutting *from,
                             size_t item_bytes, void *to)
{
    const size_t width = unit_of(item_bytes);
    struct gpi_dist_cutting c = *from;
    const struct gpi_dist_kernel k = {
        .task = GPI_DIST_COPY_EACH, .in_bytes = width, .out = to, .cutting = &c};
    char *place = to;
    if (on_gpu(comm)) {
        for (int r = 0; r < c.ranks; r++)
            c.n[r] *= item_bytes / width;
        return gpi_dist_launch(comm, f, &k);
    }
    for (int r = 0; r < c.ranks; place += c.n[r++] * item_bytes)
        GPI_TRY(gp_copy(comm->ctx, c.keys[r], c.n[r] * item_bytes, place));
    return GP_OK;
}

/* ---- integers -------------------------------------------------------------------------------- */

static uint64_t integer_at(size_t bytes, const void *in, uint64_t i)
{
    return bytes == 8 ? ((const uint64_t *)in)[i] : ((const uint32_t *)in)[i];
}

static void integer_to(size_t bytes, void *out, uint64_t i, uint64_t x)
{
    if (bytes == 8)
        ((uint64_t *)out)[i] = x;
    else
        ((uint32_t *)out)[i] = (uint32_t)x;
}

gp_status gpi_dist_shift(gp_comm *comm, const char *f, size_t in_bytes, const void *in, uint64_t n,
                         uint64_t offset, size_t out_bytes, void *out)
{
    const struct gpi_dist_kernel k = {.task = GPI_DIST_SHIFT,
                                      .in_bytes = in_bytes,
                                      .out_bytes = out_bytes,
                                      .in = in,
                                      .out = out,
                                      .n = n,
                                      .offset = offset};
    if (n && on_gpu(comm))
        return gpi_dist_launch(comm, f, &k);
    for (uint64_t i = 0; i < n; i++)
        integer_to(out_bytes, out, i, integer_at(in_bytes, in, i) + offset);
    return GP_OK;
}

gp_status gpi_dist_add_rows(gp_comm *comm, const char *f, size_t bytes, const void *in, int rows,
                            uint64_t n, void *out)
{
    const struct gpi_dist_kernel k = {.task = GPI_DIST_ADD_ROWS,
                                      .in_bytes = bytes,
                                      .out_bytes = bytes,
                                      .in = in,
                                      .out = out,
                                      .n = n,
                                      .rows = rows};
    if (n && on_gpu(comm))
        return gpi_dist_launch(comm, f, &k);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (int r = 0; r < rows; r++)
            sum += integer_at(bytes, in, (uint64_t)r * n + i);
        integer_to(bytes, out, i, sum);
    }
    return GP_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

struct renumbering {
    size_t bytes;
    const void *cols, *list;
    uint64_t n, first, own, count;
    void *out;
};

enum { RENUMBER_PART = 1 << 14 };

static uint64_t place_of(const struct renumbering *x, uint64_t column)
{
    uint64_t low = 0, high = x->count;
    if (column - x->first < x->own)
        return column - x->first;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (integer_at(x->bytes, x->list, middle) < column)
            low = middle + 1;
        else
            high = middle;
    }
    return x->own + low;
}

static void renumber_part(void *arg, size_t part)
{
    const struct renumbering *x = arg;
    const uint64_t begin = (uint64_t)part * RENUMBER_PART, rest = x->n - begin;
    const uint64_t end = begin + (rest < RENUMBER_PART ? rest : RENUMBER_PART);
    for (uint64_t i = begin; i < end; i++)
        integer_to(x->bytes, x->out, i, place_of(x, integer_at(x->bytes, x->cols, i)));
}

gp_status gpi_dist_renumber(gp_comm *comm, const char *f, size_t bytes, const void *cols,
                            uint64_t n, uint64_t first, uint64_t own, const void *list,
                            uint64_t count, void *out)
{
    struct renumbering x = {bytes, cols, list, n, first, own, count, out};
    const struct gpi_dist_kernel k = {.task = GPI_DIST_RENUMBER,
                                      .in_bytes = bytes,
                                      .in = cols,
                                      .out = out,
                                      .n = n,
                                      .offset = first,
                                      .own = own,
                                      .count = count,
                                      .words = list};
    if (n && on_gpu(comm))
        return gpi_dist_launch(comm, f, &k);
    gpi_parallel_for(gpi_threads_for(comm->ctx->threads, 10 * n),
                     (n + RENUMBER_PART - 1) / RENUMBER_PART, renumber_part, &x);
    return GP_OK;
}
