/* SPDX-License-Identifier: MIT */
/* The steps of an order by parts, the same on either backend. */
#include "lexsort/lexsort_parts_internal.h"

#include "core/count.h"
#include "core/cuda.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "radixsort/radixsort_internal.h"

void gpi_lex_add_part(struct gpi_lex_parts *parts, const void *data, size_t stride, gp_dtype dtype,
                      gp_order order)
{
    const size_t bytes = gpi_dtype_bytes(dtype);
    const uintptr_t bits = (uintptr_t)data | stride | bytes;
    parts->part[parts->count++] = (struct gpi_lex_part){.data = data,
                                                        .stride = stride,
                                                        .order = gpi_radix_order_of(dtype, order),
                                                        .bytes = (uint32_t)bytes,
                                                        .unit = (uint32_t)(bits & (~bits + 1))};
}

/* All bits of all parts. */
static struct gpi_lex_plan whole_plan(const struct gpi_lex_parts *parts)
{
    struct gpi_lex_plan plan;
    uint64_t all[GP_KEY_PARTS_MAX];
    memset(&plan, 0, sizeof plan);
    for (uint32_t p = 0; p < parts->count; p++)
        all[p] = ~(uint64_t)0 >> (64 - 8 * parts->part[p].bytes);
    gpi_lex_plan_of(all, parts->count, &plan);
    return plan;
}

/* Bits of the words of a slot: the last one has what is left. */
static int word_bits_of(const struct gpi_lex_plan *plan, int slot)
{
    const int left = (int)plan->total - 64 * slot;
    return left < 64 ? left : 64;
}

static size_t word_bytes_of(int bits)
{
    return bits <= 32 ? 4 : 8;
}

/* A sort of words with indices; values_in NULL: those in order. */
static struct gpi_radix_job sort_job(int bits, size_t index_bytes, uint64_t n)
{
    const size_t word_bytes = word_bytes_of(bits);
    const gp_dtype dtype = word_bytes == 4 ? GP_U32 : GP_U64;
    const struct gpi_radix_job j = {.order = gpi_radix_order_of(dtype, GP_ASCENDING),
                                    .key_bytes = word_bytes,
                                    .value_bytes = index_bytes,
                                    .n = n,
                                    .end_bit = bits};
    return j;
}

static size_t sort_bytes(const gp_target *target, int bits, size_t index_bytes, uint64_t n)
{
    const struct gpi_radix_job j = sort_job(bits, index_bytes, n);
    return gpi_target_bytes(target, gpi_radixsort_cpu_bytes(target->threads, &j),
                            gpi_radixsort_cuda_bytes(target->sm_count, &j));
}

size_t gpi_lex_order_bytes(const gp_target *target, const struct gpi_lex_parts *parts, uint64_t n,
                           size_t index_bytes)
{
    const struct gpi_lex_plan plan = whole_plan(parts);
    const int bits = word_bits_of(&plan, 0), slots = gpi_lex_words(plan.total);
    size_t nested = 0;
    for (int k = 0; k < slots; k++)
        for (size_t index = 4; index <= index_bytes; index += 4)
            for (int narrow = 0; narrow < 2; narrow++) {
                const int all = word_bits_of(&plan, k);
                const size_t sort = sort_bytes(target, narrow && all > 32 ? 32 : all, index, n);
                nested = sort > nested ? sort : nested;
            }
    if (slots == 1)
        return gpi_piece(n * word_bytes_of(bits)) + nested;
    return 2 * gpi_piece(n * 8) + gpi_piece(n * index_bytes) +
           gpi_piece(sizeof(struct gpi_lex_state)) + nested;
}

/* What the steps of one order share. */
struct steps {
    gp_context *ctx;
    const char *f;
    const struct gpi_lex_part_kernels *kernels;
    struct gpi_lex_pack pack;
};

/* Sort the words that pack makes, of this number of bits; sorted NULL: the words are not wanted. */
static gp_status sort_step(struct steps *s, const uint64_t *count, int slot, int bits, void *sorted,
                           void *in, void *out)
{
    gp_context *ctx = s->ctx;
    struct gpi_lex_pack k = s->pack;
    k.slot = slot;
    k.indices = in;
    k.device_n = count;
    k.n = gpi_count_now(ctx, &k.device_n, k.n);
    if (k.n == 0)
        return GP_OK;
    k.word_bytes = word_bytes_of(bits);
    struct gpi_radix_job j = sort_job(bits, k.index_bytes, k.n);
    j.device_n = k.device_n;
    j.keys_in = k.words;
    j.keys_out = sorted;
    j.values_in = in;
    j.values_out = out;
    s->kernels->pack(ctx, &k);
    return ctx->backend == GP_BACKEND_CPU ? gpi_radixsort_cpu(ctx, s->f, &j)
                                          : gpi_radixsort_cuda(ctx, s->f, &j);
}

/* Stable sorts by 64 bits each; the last one writes out. */
static gp_status sort_by_slots(struct steps *s, void *other, void *out)
{
    const int slots = s->pack.slots;
    const struct gpi_lex_state *state = s->pack.state;
    for (int k = 0; k < slots; k++) {
        const bool to_out = (slots - 1 - k) % 2 == 0;
        const uint64_t *count = state ? &state->slot[k] : s->pack.device_n;
        const int bits = state ? 64 : word_bits_of(&s->pack.plan, k);
        void *from = to_out ? other : out, *to = to_out ? out : other;
        GPI_TRY(sort_step(s, count, k, bits, NULL, k ? from : NULL, to));
    }
    return GP_OK;
}

/* The sort by the top, and what follows from it. */
static gp_status sort_planned(struct steps *s, struct gpi_lex_order *o, struct gpi_lex_state *state,
                              void *sorted, void *other)
{
    gp_context *ctx = s->ctx;
    struct gpi_lex_pack *k = &s->pack;
    s->kernels->plan(ctx, k, o->outs != NULL, state);
    k->state = state;
    if (ctx->backend == GP_BACKEND_CUDA && k->n >= GPI_LEX_NARROW_CUDA)
        GPI_TRY(sort_step(s, &state->narrow, -1, 32, sorted, NULL, o->indices));
    GPI_TRY(sort_step(s, &state->top, -1, 64, sorted, NULL, o->indices));
    k->device_n = &state->tied;
    s->kernels->repair(ctx, k, sorted, state, o->indices);
    if (o->outs) {
        k->device_n = &state->one;
        s->kernels->unpack(ctx, k, sorted, o->outs);
    }
    o->collect_n = &state->many;
    return sort_by_slots(s, other, o->indices);
}

gp_status gpi_lex_order(gp_context *ctx, const char *function, struct gpi_lex_order *o,
                        struct gpi_frame *frame)
{
    const bool cpu = ctx->backend == GP_BACKEND_CPU;
    struct steps s = {.ctx = ctx, .f = function};
    struct gpi_lex_pack *k = &s.pack;
    s.kernels = gpi_lex_kernels_of(ctx);
    if (!s.kernels)
        return gpi_fail_sm(ctx, function);
    k->parts = o->parts;
    k->plan = whole_plan(&o->parts);
    k->slots = gpi_lex_words(k->plan.total);
    k->n = o->n;
    k->device_n = o->collect_n = o->device_n;
    k->index_bytes = o->index_bytes;
    k->words = gpi_frame_take(frame, o->n * word_bytes_of(word_bits_of(&k->plan, 0)));
    if (k->slots == 1)
        return sort_step(&s, o->device_n, 0, word_bits_of(&k->plan, 0), NULL, NULL, o->indices);
    void *sorted = gpi_frame_take(frame, o->n * 8);
    void *other = gpi_frame_take(frame, o->n * o->index_bytes);
    struct gpi_lex_state *state = gpi_frame_take(frame, sizeof *state);
    o->rooms[0] = k->words;
    o->rooms[1] = sorted;
    if (o->n < (uint64_t)(cpu ? GPI_LEX_PLANNED_CPU : GPI_LEX_PLANNED_CUDA))
        return sort_by_slots(&s, other, o->indices);
    return sort_planned(&s, o, state, sorted, other);
}

static gp_status gather(gp_context *ctx, const char *function, const struct gpi_gather_args *a)
{
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_gather_cuda(ctx, function, a);
    gpi_gather_cpu(gpi_threads_for(ctx->threads, a->n * (4 + a->item_bytes / 8)), a);
    return GP_OK;
}

gp_status gpi_lex_collect(gp_context *ctx, const char *function, struct gpi_gather_args all,
                          const void *in, void *room, void *out)
{
    struct gpi_gather_args aside = gpi_gather_of(all.item_bytes, in, 0, NULL, all.n, room);
    aside.device_n = all.device_n;
    if (all.n == 0)
        return GP_OK;
    if (in == out)
        GPI_TRY(gather(ctx, function, &aside));
    all.in = in == out ? room : in;
    all.out = out;
    return gather(ctx, function, &all);
}
