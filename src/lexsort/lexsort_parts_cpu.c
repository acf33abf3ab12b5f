/* SPDX-License-Identifier: MIT */
/* Words out of parts, and what is decided by them, on the CPU. */
#include "lexsort/lexsort_parts_internal.h"

#include "core/paste.h"
#include "core/threads.h"

enum { CHUNK = 1 << 13 };

struct chunks {
    const struct gpi_lex_pack *k;
    const struct gpi_lex_plan *plan;
    const void *sorted;
    struct gpi_lex_state *state;
    void *indices;
    void *const *outs;
};

static void for_chunks(gp_context *ctx, uint64_t n, void (*body)(void *arg, size_t chunk),
                       struct chunks *c)
{
    gpi_parallel_for(gpi_threads_for(ctx->threads, n * 2), (size_t)((n + CHUNK - 1) / CHUNK), body,
                     c);
}

static size_t items_of(const struct chunks *c, size_t chunk)
{
    const uint64_t left = c->k->n - (uint64_t)chunk * CHUNK;
    return left < CHUNK ? (size_t)left : CHUNK;
}

static uint64_t index_at(const void *indices, size_t bytes, uint64_t i)
{
    return bytes == 4 ? ((const uint32_t *)indices)[i] : ((const uint64_t *)indices)[i];
}

static void set_index(void *indices, size_t bytes, uint64_t i, uint64_t index)
{
    if (bytes == 4)
        ((uint32_t *)indices)[i] = (uint32_t)index;
    else
        ((uint64_t *)indices)[i] = index;
}

/* Order words of n items in a row; inlined with a constant number of bytes. */
ALWAYS_INLINE void words_of_part(struct gpi_lex_part part, uint32_t bytes, uint64_t item, size_t n,
                                 uint64_t *words)
{
    part.bytes = bytes;
    if (part.order.inf == 0 && part.stride == bytes) {
        part.stride = bytes;
        for (size_t i = 0; i < n; i++)
            words[i] = gpi_lex_word_of(&part, gpi_lex_load(&part, item + i));
    } else {
        for (size_t i = 0; i < n; i++)
            words[i] = gpi_lex_word_of(&part, gpi_lex_load(&part, item + i));
    }
}

static void words_in_order(const struct gpi_lex_part *part, uint64_t item, size_t n,
                           uint64_t *words)
{
    if (part->bytes == 8)
        words_of_part(*part, 8, item, n, words);
    else if (part->bytes == 4)
        words_of_part(*part, 4, item, n, words);
    else if (part->bytes == 2)
        words_of_part(*part, 2, item, n, words);
    else
        words_of_part(*part, 1, item, n, words);
}

/* The words of one part of a block of items, in their order or that of the indices. */
static void words_of_block(const struct gpi_lex_pack *k, const struct gpi_lex_part *part,
                           uint64_t from, size_t n, bool by_index, uint64_t *words)
{
    if (!by_index) {
        words_in_order(part, from, n, words);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t item = index_at(k->indices, k->index_bytes, from + i);
        words[i] = gpi_lex_word_of(part, gpi_lex_load(part, item));
    }
}

/* Small enough for the stack of a thread. */
enum { BLOCK = 512 };

static void pack_block(const struct chunks *c, uint64_t from, size_t n, bool by_index)
{
    const struct gpi_lex_pack *k = c->k;
    uint64_t keys[BLOCK], words[BLOCK];
    memset(keys, 0, sizeof keys);
    for (uint32_t p = 0; p < k->parts.count; p++) {
        const int begin = gpi_lex_begin(k, c->plan), to = (int)c->plan->at[p] - begin;
        if (!gpi_lex_has_share(c->plan, p, begin))
            continue;
        words_of_block(k, &k->parts.part[p], from, n, by_index, words);
        const uint64_t mask = ~(uint64_t)0 >> (64 - c->plan->bits[p]);
        const int low = (int)c->plan->low[p], left = to > 0 ? to : 0, right = to < 0 ? -to : 0;
        for (size_t i = 0; i < n; i++)
            keys[i] |= (words[i] >> low & mask) >> right << left;
    }
    for (size_t i = 0; i < n; i++)
        set_index(k->words, k->word_bytes, from + i, keys[i]);
}

static void pack_chunk(void *arg, size_t chunk)
{
    const struct chunks *c = arg;
    const struct gpi_lex_pack *k = c->k;
    const uint64_t first = (uint64_t)chunk * CHUNK;
    const size_t n = items_of(c, chunk);
    const bool starts = k->indices && gpi_lex_is_first(k, c->plan);
    for (size_t i = 0; starts && i < n; i++)
        set_index(k->indices, k->index_bytes, first + i, first + i);
    for (size_t i = 0; i < n; i += BLOCK)
        pack_block(c, first + i, n - i < BLOCK ? n - i : BLOCK, k->indices && !starts);
}

static void pack(gp_context *ctx, const struct gpi_lex_pack *k)
{
    struct chunks c = {.k = k, .plan = k->state ? &k->state->plan : &k->plan};
    for_chunks(ctx, k->n, pack_chunk, &c);
}

/* ---- what varies, and repeats ---------------------------------------------------------------- */

static void vary_chunk(void *arg, size_t chunk)
{
    const struct chunks *c = arg;
    const struct gpi_lex_parts *parts = &c->k->parts;
    const size_t n = items_of(c, chunk);
    uint64_t words[BLOCK];
    for (uint32_t p = 0; p < parts->count; p++) {
        const uint64_t first = c->state->first[p];
        uint64_t varying = 0;
        for (size_t i = 0; i < n; i += BLOCK) {
            const size_t block = n - i < BLOCK ? n - i : BLOCK;
            words_in_order(&parts->part[p], (uint64_t)chunk * CHUNK + i, block, words);
            for (size_t j = 0; j < block; j++)
                varying |= words[j] ^ first;
        }
        __atomic_fetch_or(&c->state->varying[p], varying, __ATOMIC_RELAXED);
    }
}

/* Whether two of a sample agree in the highest bits. */
static bool sample_repeats(const struct gpi_lex_parts *parts, const struct gpi_lex_plan *plan,
                           uint64_t n, uint32_t *table)
{
    const uint64_t samples = n < GPI_LEX_SAMPLE ? n : GPI_LEX_SAMPLE;
    memset(table, 0, GPI_LEX_TABLE * sizeof *table);
    for (uint64_t i = 0; i < samples; i++) {
        const uint64_t key = gpi_lex_key(parts, plan, (int)plan->total - 64, i * n / samples);
        const uint32_t tag = gpi_lex_tag(key);
        uint32_t at = tag / (uint32_t)(((uint64_t)1 << 32) / GPI_LEX_TABLE);
        for (; table[at]; at = (at + 1) % GPI_LEX_TABLE)
            if (table[at] == tag)
                return true;
        table[at] = tag;
    }
    return false;
}

static void plan(gp_context *ctx, const struct gpi_lex_parts *parts, int slots, uint64_t n,
                 const uint64_t *device_n, struct gpi_lex_state *state, void *words)
{
    const struct gpi_lex_pack all = {.parts = *parts, .n = n};
    struct chunks c = {.k = &all, .state = state};
    (void)device_n;
    memset(state, 0, sizeof *state);
    for (uint32_t p = 0; p < parts->count; p++)
        state->first[p] = gpi_lex_word_of(&parts->part[p], gpi_lex_load(&parts->part[p], 0));
    for_chunks(ctx, n, vary_chunk, &c);
    gpi_lex_plan_of(state->varying, parts->count, &state->plan);
    const bool repeats =
        state->plan.total > 64 && sample_repeats(parts, &state->plan, n, (uint32_t *)words);
    gpi_lex_decide(state, slots, n, repeats);
}

/* ---- after a sort ---------------------------------------------------------------------------- */

/* By insertion: the indices of items whose sorted words are equal. */
static void repair_run(const struct gpi_lex_pack *k, void *indices, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin + 1; i < end; i++) {
        const uint64_t item = index_at(indices, k->index_bytes, i);
        uint64_t to = i;
        for (; to > begin; to--) {
            const uint64_t before = index_at(indices, k->index_bytes, to - 1);
            if (!gpi_lex_less(&k->parts, item, before))
                break;
            set_index(indices, k->index_bytes, to, before);
        }
        set_index(indices, k->index_bytes, to, item);
    }
}

static void repair_chunk(void *arg, size_t chunk)
{
    const struct chunks *c = arg;
    const uint64_t *w = c->sorted, n = c->k->n, first = (uint64_t)chunk * CHUNK;
    for (uint64_t i = first, stop = first + items_of(c, chunk); i < stop; i++) {
        uint64_t end = i + 1;
        if (end == n || w[end] != w[i] || (i > 0 && w[i - 1] == w[i]))
            continue;
        while (end < n && w[end] == w[i] && end - i <= GPI_LEX_RUN)
            end++;
        if (end - i > GPI_LEX_RUN)
            __atomic_store_n(&c->state->tied, UINT64_MAX, __ATOMIC_RELAXED);
        else
            repair_run(c->k, c->indices, i, end);
    }
}

static void repair(gp_context *ctx, const struct gpi_lex_pack *k, const void *sorted,
                   struct gpi_lex_state *state, void *indices)
{
    struct gpi_lex_pack tied = *k;
    struct chunks c = {.k = &tied, .sorted = sorted, .state = state, .indices = indices};
    tied.n = state->tied;
    for_chunks(ctx, tied.n, repair_chunk, &c);
    if (state->tied > tied.n)
        gpi_lex_give_up(state, k->slots, tied.n);
}

static void unpack_chunk(void *arg, size_t chunk)
{
    const struct chunks *c = arg;
    const struct gpi_lex_pack *k = c->k;
    const struct gpi_lex_plan *g = c->plan;
    const uint64_t *w = c->sorted, first = (uint64_t)chunk * CHUNK;
    for (uint32_t p = 0; p < k->parts.count; p++) {
        const size_t bytes = k->parts.part[p].bytes;
        const uint64_t mask = g->bits[p] ? ~(uint64_t)0 >> (64 - g->bits[p]) : 0;
        const uint64_t flip = k->parts.part[p].order.flip;
        const uint64_t same = (c->state->first[p] & ~(mask << g->low[p])) ^ flip;
        const uint32_t at = g->bits[p] ? g->at[p] : 0;
        for (uint64_t i = first, stop = first + items_of(c, chunk); i < stop; i++)
            set_index(c->outs[p], bytes, i, same ^ (w[i] >> at & mask) << g->low[p]);
    }
}

static void unpack(gp_context *ctx, const struct gpi_lex_pack *k, const void *sorted,
                   void *const *outs)
{
    struct gpi_lex_pack one = *k;
    struct chunks c = {.k = &one, .sorted = sorted, .outs = outs};
    c.state = (struct gpi_lex_state *)(uintptr_t)k->state;
    c.plan = &c.state->plan;
    one.n = c.state->one;
    for_chunks(ctx, one.n, unpack_chunk, &c);
}

const struct gpi_lex_part_kernels gpi_lex_part_kernels_cpu = {plan, pack, repair, unpack};
