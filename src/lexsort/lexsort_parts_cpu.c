/* SPDX-License-Identifier: MIT */
/* Words out of parts, and what is decided by them, on the CPU. */
#include "lexsort/lexsort_parts_internal.h"

#include "core/threads.h"
#include "core/words.h"

enum {
    CHUNK = 1 << 13,
    TABLE = 2 * GPI_LEX_SAMPLE_CPU /* slots for the words of a sample, a power of two */
};

struct chunks {
    const struct gpi_lex_pack *k;
    const struct gpi_lex_plan *plan;
    const void *sorted;
    struct gpi_lex_state *state;
    void *indices;
    void *const *outs;
};

/* Of 4 or 8 bytes. */
static uint64_t index_at(const void *indices, size_t bytes, uint64_t i)
{
    return bytes == 4 ? ((const uint32_t *)indices)[i] : ((const uint64_t *)indices)[i];
}

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

/* Of the word of a part: (word >> low & mask) << to. */
struct share {
    uint64_t mask;
    int low, to;
};

ALWAYS_INLINE uint64_t share_of(const struct share *s, uint64_t word)
{
    return (word >> s->low & s->mask) << s->to;
}

/* keys[i] |= the share of an item, n items in a row; inlined with a constant number of bytes. */
ALWAYS_INLINE void add_of(struct gpi_lex_part part, uint32_t bytes, struct share s, uint64_t item,
                          size_t n, uint64_t *keys)
{
    part.bytes = bytes;
    if (part.order.inf == 0 && part.stride == bytes) {
        part.stride = bytes;
        const uint64_t flip = share_of(&s, part.order.flip);
        for (size_t i = 0; i < n; i++)
            keys[i] |= share_of(&s, gpi_lex_load(&part, item + i)) ^ flip;
    } else {
        for (size_t i = 0; i < n; i++)
            keys[i] |= share_of(&s, gpi_lex_word_of(&part, gpi_lex_load(&part, item + i)));
    }
}

static void add_in_order(const struct gpi_lex_part *part, struct share s, uint64_t item, size_t n,
                         uint64_t *keys)
{
    WITH_BYTES(bytes, part->bytes, add_of(*part, bytes, s, item, n, keys));
}

/* The same of the items that the indices name. */
static void add_by_index(const struct gpi_lex_pack *k, const struct gpi_lex_part *part,
                         struct share s, uint64_t from, size_t n, uint64_t *keys)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t item = index_at(k->indices, k->index_bytes, from + i);
        keys[i] |= share_of(&s, gpi_lex_word_of(part, gpi_lex_load(part, item)));
    }
}

/* Small enough for the stack of a thread. */
enum { BLOCK = 512 };

static void pack_block(const struct chunks *c, uint64_t from, size_t n, bool by_index)
{
    const struct gpi_lex_pack *k = c->k;
    const struct gpi_lex_plan *g = c->plan;
    const int begin = gpi_lex_begin(k, g);
    uint64_t block[BLOCK], *keys = k->word_bytes == 8 ? (uint64_t *)k->words + from : block;
    memset(keys, 0, n * sizeof *keys);
    for (uint32_t p = 0; p < k->parts.count; p++) {
        if (!gpi_lex_has_share(g, p, begin))
            continue;
        const int to = (int)g->at[p] - begin, gone = to < 0 ? -to : 0;
        const struct share s = {~(uint64_t)0 >> (64 - g->bits[p] + gone), (int)g->low[p] + gone,
                                to + gone};
        if (by_index)
            add_by_index(k, &k->parts.part[p], s, from, n, keys);
        else
            add_in_order(&k->parts.part[p], s, from, n, keys);
    }
    for (size_t i = 0; keys == block && i < n; i++)
        ((uint32_t *)k->words)[from + i] = (uint32_t)keys[i];
}

static void pack_chunk(void *arg, size_t chunk)
{
    const struct chunks *c = arg;
    const struct gpi_lex_pack *k = c->k;
    const uint64_t first = (uint64_t)chunk * CHUNK;
    const size_t n = items_of(c, chunk);
    const bool starts = k->indices && gpi_lex_is_first(k, c->plan);
    for (size_t i = 0; starts && i < n; i++)
        gpi_word_put(k->indices, k->index_bytes, first + i, first + i);
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
        const struct gpi_lex_part *part = &parts->part[p];
        const struct share all = {part->mask, 0, 0};
        uint64_t varying = 0;
        for (size_t i = 0; i < n; i += BLOCK) {
            const size_t block = n - i < BLOCK ? n - i : BLOCK;
            memset(words, 0, sizeof words);
            add_in_order(part, all, (uint64_t)chunk * CHUNK + i, block, words);
            for (size_t j = 0; j < block; j++)
                varying |= words[j] ^ c->state->first[p];
        }
        __atomic_fetch_or(&c->state->varying[p], varying, __ATOMIC_RELAXED);
    }
}

/* Whether two of a sample agree in the highest bits. */
static bool sample_repeats(const struct gpi_lex_parts *parts, const struct gpi_lex_plan *plan,
                           uint64_t n, uint32_t *table)
{
    const uint64_t samples = n < GPI_LEX_SAMPLE_CPU ? n : GPI_LEX_SAMPLE_CPU;
    memset(table, 0, TABLE * sizeof *table);
    for (uint64_t i = 0; i < samples; i++) {
        const uint64_t key = gpi_lex_key(parts, plan, (int)plan->total - 64, i * n / samples);
        const uint32_t tag = gpi_lex_tag(key);
        uint32_t at = tag / (uint32_t)(((uint64_t)1 << 32) / TABLE);
        for (; table[at]; at = (at + 1) % TABLE)
            if (table[at] == tag)
                return true;
        table[at] = tag;
    }
    return false;
}

static void plan(gp_context *ctx, const struct gpi_lex_pack *k, bool parts_wanted,
                 struct gpi_lex_state *state)
{
    const struct gpi_lex_parts *parts = &k->parts;
    struct chunks c = {.k = k, .state = state};
    (void)parts_wanted;
    memset(state, 0, sizeof *state);
    for (uint32_t p = 0; p < parts->count; p++)
        state->first[p] = gpi_lex_word_of(&parts->part[p], gpi_lex_load(&parts->part[p], 0));
    for_chunks(ctx, k->n, vary_chunk, &c);
    gpi_lex_plan_of(state->varying, parts->count, &state->plan);
    const bool repeats =
        state->plan.total > 64 && sample_repeats(parts, &state->plan, k->n, k->words);
    gpi_lex_decide(state, k->slots, k->n, false, !repeats);
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
            gpi_word_put(indices, k->index_bytes, to, before);
        }
        gpi_word_put(indices, k->index_bytes, to, item);
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
    const uint64_t first = (uint64_t)chunk * CHUNK, stop = first + items_of(c, chunk);
    for (uint32_t p = 0; p < k->parts.count; p++) {
        const struct gpi_lex_part *part = &k->parts.part[p];
        const uint64_t mask = g->bits[p] ? ~(uint64_t)0 >> (64 - g->bits[p]) : 0;
        const uint64_t known = c->state ? c->state->first[p] : 0;
        const uint64_t same = ((known & ~(mask << g->low[p])) ^ part->order.flip) & part->mask;
        const uint32_t at = g->bits[p] ? g->at[p] : 0, low = g->low[p];
        const size_t bytes = part->bytes, word_bytes = k->state ? 8 : k->word_bytes;
        void *const out = c->outs[p];
        for (uint64_t i = first; out && i < stop; i++) {
            const uint64_t word = index_at(c->sorted, word_bytes, i);
            gpi_word_put(out, bytes, i, same ^ (word >> at & mask) << low);
        }
    }
}

static void unpack(gp_context *ctx, const struct gpi_lex_pack *k, const void *sorted,
                   void *const *outs)
{
    struct gpi_lex_pack one = *k;
    struct chunks c = {.k = &one, .sorted = sorted, .outs = outs};
    c.state = (struct gpi_lex_state *)(uintptr_t)k->state;
    c.plan = k->state ? &k->state->plan : &k->plan;
    one.n = k->state ? k->state->one : k->n;
    for_chunks(ctx, one.n, unpack_chunk, &c);
}

extern const struct gpi_lex_part_kernels gpi_lex_part_kernels_cpu; /* lexsort_table.c */
const struct gpi_lex_part_kernels gpi_lex_part_kernels_cpu = {plan, pack, repair, unpack};
