/* SPDX-License-Identifier: MIT */
/* The steps of a sort by parts, the same on either backend. */
#include "lexsort/lexsort_parts_internal.h"

#include "core/count.h"
#include "core/cuda.h"
#include "core/threads.h"
#include "core/workspace.h"
#include "radixsort/radixsort_internal.h"

struct gpi_lex_part *gpi_lex_add_part(struct gpi_lex_parts *parts, const void *data, size_t stride,
                                      gp_dtype dtype, gp_order order)
{
    const size_t bytes = gpi_dtype_bytes(dtype);
    const uintptr_t bits = (uintptr_t)data | stride | bytes;
    struct gpi_lex_part *part = &parts->part[parts->count++];
    *part = (struct gpi_lex_part){.data = data,
                                  .stride = stride,
                                  .order = gpi_radix_order_of(dtype, order),
                                  .mask = ~(uint64_t)0 >> (64 - 8 * bytes),
                                  .bytes = (uint32_t)bytes,
                                  .unit = (uint32_t)(bits & (~bits + 1))};
    part->lossy = part->order.inf != 0;
    return part;
}

/* All bits of all parts that are compared. */
static struct gpi_lex_plan whole_plan(const struct gpi_lex_parts *parts)
{
    struct gpi_lex_plan plan;
    uint64_t all[GP_KEY_PARTS_MAX];
    memset(&plan, 0, sizeof plan);
    for (uint32_t p = 0; p < parts->count; p++)
        all[p] = parts->part[p].mask;
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

/* ---- what is wanted, and what that takes ----------------------------------------------------- */

/* How a sort goes. */
struct way {
    bool parts, in_place; /* sorted parts are wanted; values_out is values */
    bool unpacks;         /* parts can be made from words */
    bool by_words;        /* parts come from one sort of words, otherwise by the order */
    bool moves;           /* values, too */
    size_t word_bytes;    /* of words at most, or of a copy of a part */
};

static struct way way_of(const struct gpi_lex_sort *o, const struct gpi_lex_plan *plan)
{
    const bool one = plan->total <= 64;
    struct way w = {.in_place = o->value_bytes && o->values == o->values_out, .unpacks = true};
    for (uint32_t p = 0; p < o->parts.count; p++) {
        w.parts = w.parts || o->outs[p];
        w.unpacks = w.unpacks && !(o->outs[p] && o->parts.part[p].lossy);
    }
    w.by_words = one && !o->indices && w.unpacks;
    w.moves = w.by_words && !(o->segments && o->value_bytes > 4);
    w.word_bytes = one && (w.by_words || !w.parts) ? word_bytes_of((int)plan->total) : 8;
    return w;
}

/* CUB takes no number of items that is in memory. */
static bool may_plan(const struct gpi_lex_sort *o)
{
    return !o->segments && o->algorithm != GP_ALGORITHM_CUB;
}

/* A sort of words beside indices, or of 0 bytes beside values. Words alone are compared in all of
 * their bits, as then equal ones may come in any order. */
static struct gpi_radix_job sort_job(const struct gpi_lex_sort *o, int bits, size_t index_bytes)
{
    const size_t word_bytes = word_bytes_of(bits),
                 beside = index_bytes ? index_bytes : o->value_bytes;
    return (struct gpi_radix_job){
        .order = gpi_radix_order_of(word_bytes == 4 ? GP_U32 : GP_U64, GP_ASCENDING),
        .key_bytes = word_bytes,
        .value_bytes = beside,
        .n = o->n,
        .end_bit = beside ? bits : 8 * (int)word_bytes,
        .algorithm = o->algorithm};
}

/* The most that a sort of words of that many bits takes, or of fewer. */
static size_t sort_bytes(const gp_target *target, const struct gpi_lex_sort *o, int bits,
                         size_t index_bytes, const struct way *w)
{
    size_t most = 0;
    for (int narrow = 0; narrow <= (bits > 32); narrow++) {
        struct gpi_radix_job j = sort_job(o, narrow ? 32 : bits, index_bytes);
        if (w->by_words && w->parts)
            j.keys_out = &most; /* any array: there is one */
        if (w->moves && w->in_place)
            j.values_in = &most;
        const size_t bytes = gpi_target_bytes(target, gpi_radixsort_cpu_bytes(target->threads, &j),
                                              gpi_radixsort_cuda_bytes(target->sm_count, &j));
        most = bytes > most ? bytes : most;
    }
    return most;
}

size_t gpi_lex_sort_bytes(const gp_target *target, const struct gpi_lex_sort *o)
{
    const struct gpi_lex_plan plan = whole_plan(&o->parts);
    const struct way w = way_of(o, &plan);
    const size_t words = gpi_piece(o->n * w.word_bytes), index = gpi_piece(o->n * o->index_bytes);
    size_t most = 0, beside = o->indices ? 0 : index;
    if (o->n == 0)
        return 0;
    if (w.moves)
        return (w.parts ? 2 : 1) * words + sort_bytes(target, o, (int)plan.total, 0, &w);
    for (int k = 0; k < gpi_lex_words(plan.total); k++)
        for (size_t bytes = 4; bytes <= o->index_bytes; bytes += 4) {
            const size_t sort = sort_bytes(target, o, word_bits_of(&plan, k), bytes, &w);
            most = sort > most ? sort : most;
        }
    if (w.by_words)
        beside += words;
    else if (plan.total > 64)
        beside += index + (may_plan(o) ? words + gpi_piece(sizeof(struct gpi_lex_state)) : 0);
    return words + beside + (w.in_place ? gpi_piece(o->n * o->value_bytes) : 0) + most;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* What the steps of one sort share. */
struct steps {
    gp_context *ctx;
    const char *f;
    const struct gpi_lex_sort *o;
    const struct gpi_lex_part_kernels *kernels;
    struct gpi_lex_pack pack;
    const uint64_t *collect_n; /* the items of which sorted parts have to be collected */
};

static gp_status gather(const struct steps *s, const struct gpi_gather_args *a)
{
    gp_context *ctx = s->ctx;
    if (ctx->backend == GP_BACKEND_CUDA)
        return gpi_gather_cuda(ctx, s->f, a);
    gpi_gather_cpu(gpi_threads_for(ctx->threads, a->n * (4 + a->item_bytes / 8)), a);
    return GP_OK;
}

/* out[i] = in[indices[i]] for a number of items; in is not out, or there is a room for a copy. */
static gp_status collect(const struct steps *s, const uint64_t *count, const void *indices,
                         size_t item_bytes, size_t stride, const void *in, void *room, void *out)
{
    struct gpi_gather_args all =
        gpi_gather_of(item_bytes, in, s->o->index_bytes, indices, s->o->n, out);
    struct gpi_gather_args aside = gpi_gather_of(item_bytes, in, 0, NULL, s->o->n, room);
    all.in_stride = stride;
    all.device_n = count;
    all.n = aside.n = gpi_count_now(s->ctx, &all.device_n, all.n);
    aside.device_n = all.device_n;
    if (all.n == 0)
        return GP_OK;
    if (in == out) {
        GPI_TRY(gather(s, &aside));
        all.in = room;
    }
    return gather(s, &all);
}

/* The part that is all there is of a slot, if it lies in memory as keys do; or NULL. CUB would take
 * room for words of these. */
static const struct gpi_lex_part *keys_of(const struct steps *s, int slot, int bits)
{
    const struct gpi_lex_plan *plan = &s->pack.plan;
    const struct gpi_lex_part *part = s->o->parts.part;
    const uint32_t bytes = (uint32_t)word_bytes_of(bits);
    if (s->pack.state || !s->pack.index_bytes || s->o->algorithm == GP_ALGORITHM_CUB)
        return NULL;
    for (uint32_t p = 0; p < s->o->parts.count; p++, part++)
        if (plan->at[p] == 64 * (uint32_t)slot && plan->bits[p] == (uint32_t)bits &&
            plan->low[p] == 0 && part->bytes == bytes && part->unit == bytes &&
            part->stride == bytes)
            return part;
    return NULL;
}

/* Sort words of this number of bits, which pack makes, beside indices or values; sorted NULL: the
 * words are not wanted. */
static gp_status sort_step(struct steps *s, const uint64_t *count, int slot, int bits, void *sorted,
                           const void *in, void *out)
{
    gp_context *ctx = s->ctx;
    struct gpi_lex_pack k = s->pack;
    const struct gpi_lex_part *keys = keys_of(s, slot, bits);
    struct gpi_radix_job j = sort_job(s->o, bits, k.index_bytes);
    k.slot = slot;
    k.indices = k.index_bytes ? (void *)in : NULL;
    k.device_n = count;
    k.word_bytes = j.key_bytes;
    k.n = j.n = gpi_count_now(ctx, &k.device_n, k.n);
    if (k.n == 0)
        return GP_OK;
    j.order = keys ? keys->order : j.order;
    j.device_n = k.device_n;
    j.keys_in = keys && !in ? keys->data : k.words;
    j.keys_out = sorted;
    j.values_in = in;
    j.values_out = out;
    if (!keys)
        s->kernels->pack(ctx, &k);
    else if (in)
        GPI_TRY(collect(s, count, in, keys->bytes, keys->stride, keys->data, NULL, k.words));
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
static gp_status sort_planned(struct steps *s, bool unpacks, struct gpi_lex_state *state,
                              void *sorted, void *other, void *indices)
{
    gp_context *ctx = s->ctx;
    struct gpi_lex_pack *k = &s->pack;
    s->kernels->plan(ctx, k, unpacks, state);
    k->state = state;
    if (ctx->backend == GP_BACKEND_CUDA && k->n >= GPI_LEX_NARROW_CUDA)
        GPI_TRY(sort_step(s, &state->narrow, -1, 32, sorted, NULL, indices));
    GPI_TRY(sort_step(s, &state->top, -1, 64, sorted, NULL, indices));
    k->device_n = &state->tied;
    s->kernels->repair(ctx, k, sorted, state, indices);
    if (unpacks) {
        k->device_n = &state->one;
        s->kernels->unpack(ctx, k, sorted, s->o->outs);
        s->collect_n = &state->many;
    }
    return sort_by_slots(s, other, indices);
}

static gp_status find_order(struct steps *s, const struct way *w, struct gpi_frame *frame,
                            void *indices)
{
    const struct gpi_lex_sort *o = s->o;
    const bool cpu = s->ctx->backend == GP_BACKEND_CPU;
    if (s->pack.slots == 1)
        return sort_step(s, o->device_n, 0, (int)s->pack.plan.total, NULL, NULL, indices);
    void *other = gpi_frame_take(frame, o->n * o->index_bytes);
    if (!may_plan(o) || o->n < (uint64_t)(cpu ? GPI_LEX_PLANNED_CPU : GPI_LEX_PLANNED_CUDA))
        return sort_by_slots(s, other, indices);
    void *sorted = gpi_frame_take(frame, o->n * 8);
    struct gpi_lex_state *state = gpi_frame_take(frame, sizeof *state);
    return sort_planned(s, w->parts && w->unpacks, state, sorted, other, indices);
}

/* By the order: values, and those parts that are not there yet. */
static gp_status collect_all(struct steps *s, const struct way *w, struct gpi_frame *frame,
                             const void *indices)
{
    const struct gpi_lex_sort *o = s->o;
    for (uint32_t p = 0; p < o->parts.count && !w->by_words; p++) {
        const struct gpi_lex_part *part = &o->parts.part[p];
        if (o->outs[p])
            GPI_TRY(collect(s, s->collect_n, indices, part->bytes, part->stride, part->data,
                            s->pack.words, o->outs[p]));
    }
    void *room = w->in_place ? gpi_frame_take(frame, o->n * o->value_bytes) : NULL;
    return o->value_bytes ? collect(s, o->device_n, indices, o->value_bytes, o->value_bytes,
                                    o->values, room, o->values_out)
                          : GP_OK;
}

/* Parts by one sort of words, beside values or indices. */
static gp_status sort_by_words(struct steps *s, const struct way *w, struct gpi_frame *frame,
                               void *indices)
{
    const struct gpi_lex_sort *o = s->o;
    struct gpi_lex_pack *k = &s->pack;
    const int bits = (int)k->plan.total;
    void *sorted = w->parts ? gpi_frame_take(frame, o->n * w->word_bytes) : NULL;
    k->index_bytes = w->moves ? 0 : o->index_bytes;
    k->word_bytes = w->word_bytes;
    GPI_TRY(w->moves ? sort_step(s, o->device_n, 0, bits, sorted, o->values, o->values_out)
                     : sort_step(s, o->device_n, 0, bits, sorted, NULL, indices));
    if (w->parts)
        s->kernels->unpack(s->ctx, k, sorted, o->outs);
    return GP_OK;
}

gp_status gpi_lex_sort(gp_context *ctx, const char *function, const struct gpi_lex_sort *sort)
{
    const gp_target target = gpi_target_of(ctx);
    struct gpi_lex_sort now = *sort, *o = &now;
    now.n = gpi_count_now(ctx, &now.device_n, sort->n);
    struct steps s = {.ctx = ctx, .f = function, .o = o, .collect_n = o->device_n};
    struct gpi_lex_pack *k = &s.pack;
    if (o->n == 0)
        return GP_OK;
    GPI_ON_DEVICE(ctx);
    s.kernels = gpi_lex_kernels_of(ctx);
    if (!s.kernels)
        return gpi_fail_sm(ctx, function);
    k->parts = o->parts;
    k->plan = whole_plan(&o->parts);
    k->slots = gpi_lex_words(k->plan.total);
    k->n = o->n;
    k->device_n = o->device_n;
    k->index_bytes = o->index_bytes;
    const struct way w = way_of(o, &k->plan);
    GPI_FRAME(frame, ctx, function, gpi_lex_sort_bytes(&target, o));
    k->words = gpi_frame_take(&frame, o->n * w.word_bytes);
    void *indices =
        o->indices || w.moves ? o->indices : gpi_frame_take(&frame, o->n * k->index_bytes);
    GPI_TRY(w.by_words ? sort_by_words(&s, &w, &frame, indices)
                       : find_order(&s, &w, &frame, indices));
    if (!o->indices && !w.moves)
        GPI_TRY(collect_all(&s, &w, &frame, indices));
    return gpi_launched(ctx, function);
}
