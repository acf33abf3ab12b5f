/* SPDX-License-Identifier: MIT */
/* The inputs of every call, and its outputs as a hash. */
#include <stdlib.h>
#include <string.h>

#include "every_call.h"
#include "gp_test.h"

/* Memory of ctx with what make(state, i) gives for each of n items. */
static void *filled(gp_context *ctx, size_t n, uint32_t make(uint64_t *state, size_t n, size_t i))
{
    uint64_t state = t_seed();
    uint32_t *host = t_host(n * 4);
    void *memory;
    for (size_t i = 0; i < n; i++)
        host[i] = make(&state, n, i);
    T_OK(gp_malloc(ctx, n * 4, &memory));
    T_OK(gp_copy(ctx, host, n * 4, memory));
    T_OK(gp_context_synchronize(ctx));
    free(host);
    return memory;
}

static uint32_t make_key(uint64_t *state, size_t n, size_t i)
{
    (void)n, (void)i;
    return (uint32_t)t_random_below(state, 1000);
}

static uint32_t make_sorted(uint64_t *state, size_t n, size_t i)
{
    (void)state;
    return (uint32_t)((uint64_t)i * 1000 / n);
}

static uint32_t make_place(uint64_t *state, size_t n, size_t i)
{
    (void)i;
    return (uint32_t)t_random_below(state, n);
}

/* The last one is longer or shorter than the others. */
static uint32_t make_offset(uint64_t *state, size_t n, size_t i)
{
    (void)state;
    return (uint32_t)(i + 1 < n ? i * EVERY_SEGMENT : (n - 1) * EVERY_SEGMENT);
}

static uint32_t make_count(uint64_t *state, size_t n, size_t i)
{
    (void)n, (void)i;
    return (uint32_t)t_random_below(state, 2);
}

static uint32_t make_edge(uint64_t *state, size_t n, size_t i)
{
    (void)state, (void)n;
    return (uint32_t)i * 3;
}

static uint32_t make_float(uint64_t *state, size_t n, size_t i)
{
    float value = (float)t_random_below(state, 2001) / 1000 - 1;
    uint32_t bits;
    (void)n, (void)i;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t make_flags(uint64_t *state, size_t n, size_t i)
{
    (void)n, (void)i;
    return (uint32_t)t_random(state) & 0x01010101;
}

every every_new(gp_context *ctx, size_t n)
{
    void *memory;
    every e = {.n = n / EVERY_SEGMENT * EVERY_SEGMENT, .segments = n / EVERY_SEGMENT};
    e.keys = filled(ctx, e.n, make_key);
    e.sorted = filled(ctx, e.n, make_sorted);
    e.rows = filled(ctx, e.n, make_place);
    e.cols = filled(ctx, e.n, make_place);
    e.offsets = filled(ctx, e.segments + 1, make_offset);
    e.counts = filled(ctx, e.n, make_count);
    e.edges = filled(ctx, EVERY_BINS + 1, make_edge);
    e.floats = filled(ctx, e.n, make_float);
    e.flags = filled(ctx, e.n, make_flags);
    e.out_bytes = 20 * e.n + 16384;
    for (int i = 0; i < 3; i++) {
        T_OK(gp_malloc(ctx, e.out_bytes, &memory));
        e.out[i] = memory;
    }
    T_OK(gp_malloc(ctx, sizeof *e.count, &memory));
    e.count = memory;
    e.poison = t_host(e.out_bytes);
    memset(e.poison, 0x5a, e.out_bytes);
    e.host = t_host(e.out_bytes);
    return e;
}

void every_free(gp_context *ctx, every *e)
{
    void *all[] = {e->edges, e->keys,   e->sorted, e->rows,   e->cols,   e->offsets, e->counts,
                   e->flags, e->floats, e->out[0], e->out[1], e->out[2], e->count};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        T_OK(gp_free(ctx, all[i]));
    free(e->poison);
    free(e->host);
}

/* FNV-1a over words, in four lanes that do not wait for each other; bytes is a multiple of 8. */
static uint64_t hash_of(uint64_t hash, const uint64_t *words, size_t bytes)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t lane[4] = {hash, hash + 1, hash + 2, hash + 3};
    for (size_t i = 0; i < bytes / 8; i++)
        lane[i % 4] = (lane[i % 4] ^ words[i]) * prime;
    for (int i = 0; i < 4; i++)
        hash = (hash ^ lane[i]) * prime;
    return hash;
}

/* The three below without Check, whose lock another thread may hold when a test forks. */
gp_status every_fill(gp_context *ctx, const every *e)
{
    gp_status s = GP_OK;
    for (int i = 0; s == GP_OK && i < 4; i++)
        s = gp_copy(ctx, e->poison, i < 3 ? e->out_bytes : 8, i < 3 ? (void *)e->out[i] : e->count);
    return s == GP_OK ? gp_context_synchronize(ctx) : s;
}

/* The CPU's memory is read where it lies. */
gp_status every_read(gp_context *ctx, const every *e, uint64_t *hash)
{
    const bool copied = gp_context_backend(ctx) == GP_BACKEND_CUDA;
    gp_status s = gp_context_synchronize(ctx);
    *hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; s == GP_OK && i < 4; i++) {
        const size_t bytes = i < 3 ? e->out_bytes : 8;
        const void *out = i < 3 ? (void *)e->out[i] : e->count;
        if (copied)
            s = gp_copy(ctx, out, bytes, e->host);
        if (copied && s == GP_OK)
            s = gp_context_synchronize(ctx);
        *hash = hash_of(*hash, copied ? e->host : out, bytes);
    }
    return s;
}

gp_status every_hash(gp_context *ctx, const every *e, int call, uint64_t *hash)
{
    gp_status s = every_fill(ctx, e);
    if (s == GP_OK)
        s = every_run(ctx, e, call);
    if (s == GP_OK)
        s = gp_context_synchronize(ctx);
    return s == GP_OK ? every_read(ctx, e, hash) : s;
}
