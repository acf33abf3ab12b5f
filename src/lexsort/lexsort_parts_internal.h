/* SPDX-License-Identifier: MIT */
/*
 * Sorts by keys of several parts: rows and columns, parts and fields as a caller has them, and on
 * CUDA the segment of a key and the key.
 *
 * The order words of the parts (core/order.h) in a row are one long unsigned number. Up to 64 bits
 * are packed and sorted as one word, with what is to be moved beside it, and sorted parts are made
 * from sorted words; of floats, which words do not have, the order is found and parts and values
 * are collected. So it is for more bits. From GPI_LEX_PLANNED_* items on:
 *   1. one read finds which bits of each part vary; the highest to the lowest of them are the
 *      part's bits in the key;
 *   2. a sample is asked how often items agree in the 32 highest bits (on CUDA, where a sort by
 *      these takes half as long), or in the 64 highest. If seldom, they are sorted by these, and
 *      the few runs that agree in them are put in order by comparing parts;
 *   3. otherwise, or if a run is too long for that, stable sorts by 64 bits each, the lowest first
 *      (Knuth volume 3, 5.2.5), which is one if no more bits vary.
 * Fewer items take 3. at once, by all bits. On CUDA all steps are queued, and the number of items
 * of each, all or none, is decided on the device (struct gpi_lex_state), so nothing waits.
 *
 * Scratch, each piece 256-byte aligned, which ones exist depends on what is wanted:
 *   [words n][words n][indices n][indices n][state][copy of values][the sorts']
 */
#ifndef GPI_LEXSORT_PARTS_INTERNAL_H
#define GPI_LEXSORT_PARTS_INTERNAL_H

#include <string.h>

#include <gp/lexsort.h>

#include "core/context.h"
#include "core/order.h"
#include "gather/gather_internal.h"

#ifdef __CUDACC__
#define GPI_LEX_BOTH static __host__ __device__ __forceinline__
#else
#define GPI_LEX_BOTH static inline
#endif

enum {
    GPI_LEX_PLANNED_CPU = 1 << 12,
    GPI_LEX_PLANNED_CUDA = 1 << 20, /* merge-03 */
    GPI_LEX_NARROW_CUDA = 1 << 21, /* merge-08: below, the launches of one more sort cost as much */
    GPI_LEX_SAMPLE_CPU = 1 << 12,
    GPI_LEX_SAMPLE_CUDA = 1 << 15, /* at most, and one item of 256 */
    GPI_LEX_RUN = 32               /* equal words that are put in order by comparing */
};

struct gpi_lex_part {
    const unsigned char *data;
    uint64_t stride;
    struct gpi_radix_order order;
    uint64_t mask;  /* the bits of a word that are compared */
    uint32_t bytes; /* of the number: 1, 2, 4 or 8 */
    uint32_t unit;  /* bytes that are loaded at a time: data and stride are multiples */
    uint32_t lossy; /* the bits compared of a word are not all that a number has */
};

struct gpi_lex_parts {
    uint32_t count;
    struct gpi_lex_part part[GP_KEY_PARTS_MAX];
};

/* Where the parts' words are in the key: bits [low, low + bits) of a word from bit at on. */
struct gpi_lex_plan {
    uint32_t low[GP_KEY_PARTS_MAX], bits[GP_KEY_PARTS_MAX], at[GP_KEY_PARTS_MAX];
    uint32_t total;
};

/* What was found, and how many items each step has. Zeroed when a sort begins. */
struct gpi_lex_state {
    uint64_t varying[GP_KEY_PARTS_MAX]; /* bits in which some word differs from the first item's */
    uint64_t first[GP_KEY_PARTS_MAX];   /* the words of the first item */
    struct gpi_lex_plan plan;
    uint64_t narrow;                 /* sorted by the highest 32 bits */
    uint64_t top;                    /* or by the highest 64 */
    uint64_t tied;                   /* which leaves runs to be put in order */
    uint64_t one;                    /* those were all bits: sorted parts are made from 64 */
    uint64_t many;                   /* otherwise */
    uint64_t slot[GP_KEY_PARTS_MAX]; /* sorted by 64 bits at a time; the last one by the highest */
    /* Of a sample's words of 32 and 64 bits, on CUDA: those that are there again, whether one is
     * there a third time; and the blocks that have told. */
    uint32_t again[2], thrice[2], told;
};

/* One pass that makes words of items. */
struct gpi_lex_pack {
    struct gpi_lex_parts parts;
    struct gpi_lex_plan plan;          /* of a sort that needs none, where state is NULL */
    const struct gpi_lex_state *state; /* in the context's memory */
    int slot, slots;   /* 64 bits, the last slot the highest ones; -1: the top of word_bytes */
    size_t word_bytes; /* 4 or 8 */
    uint64_t n;
    const uint64_t *device_n; /* the number of items of this step; NULL: n */
    /* Of which items, NULL: in their order; the first slot in use writes that order here. */
    void *indices;
    size_t index_bytes; /* 4 or 8 */
    void *words;
};

struct gpi_lex_part_kernels {
    /* state->varying, first, plan and the numbers of items. k has no state and no slot; its words
     * have room for a table. parts_wanted: sorted parts are to be made from words. */
    void (*plan)(gp_context *ctx, const struct gpi_lex_pack *k, bool parts_wanted,
                 struct gpi_lex_state *state);
    void (*pack)(gp_context *ctx, const struct gpi_lex_pack *pack);
    /* Put runs of equal words in order; sets state->slot[] if one is too long. */
    void (*repair)(gp_context *ctx, const struct gpi_lex_pack *pack, const void *sorted,
                   struct gpi_lex_state *state, void *indices);
    /* Parts of sorted words, outs[part] without gaps or NULL: of 64 bits by their plan in the
     * state, or where that is NULL of word_bytes by the pack's, all other bits zero. */
    void (*unpack)(gp_context *ctx, const struct gpi_lex_pack *pack, const void *sorted,
                   void *const *outs);
};

/* lexsort_table.c; NULL: this build has no code for the GPU. */
const struct gpi_lex_part_kernels *gpi_lex_kernels_of(const gp_context *ctx);

/* One sort by parts: the order of its items is wanted, or sorted parts and values. */
struct gpi_lex_sort {
    struct gpi_lex_parts parts;
    gp_algorithm algorithm; /* of the sorts of words */
    /* The first part is the number of a segment. So more than 64 bits are sorted in turn, as the
     * highest repeat; and words are as uneven as segments may be long, beside which values of more
     * than 4 bytes are better collected (code-24). */
    bool segments;
    uint64_t n;
    const uint64_t *device_n; /* NULL, or n is its bound, on CUDA */
    size_t index_bytes;
    void *indices;                /* NULL: the order is not wanted */
    void *outs[GP_KEY_PARTS_MAX]; /* parts without gaps, in place or not; NULL: not wanted */
    size_t value_bytes;           /* 0: none */
    const void *values;
    void *values_out; /* in place or not */
};

/* ---- lexsort_parts.c ---- */

gp_status gpi_lex_sort(gp_context *ctx, const char *function, const struct gpi_lex_sort *sort);
/* What it takes. Of outputs that exist only whether they do counts, and whether
 * values_out is values. */
size_t gpi_lex_sort_bytes(const gp_target *target, const struct gpi_lex_sort *sort);

/* All bits of it are compared; returns it. */
struct gpi_lex_part *gpi_lex_add_part(struct gpi_lex_parts *parts, const void *data, size_t stride,
                                      gp_dtype dtype, gp_order order);

/* ---- words, on both backends ---- */

/* The bits of an item's number. */
GPI_LEX_BOTH uint64_t gpi_lex_load(const struct gpi_lex_part *p, uint64_t item)
{
    const unsigned char *at = p->data + item * p->stride;
    uint64_t x = 0;
#ifdef __CUDA_ARCH__
    if (p->unit == 8)
        x = *(const uint64_t *)at;
    else if (p->unit == 4)
        x = p->bytes == 4 ? *(const uint32_t *)at
                          : *(const uint32_t *)at | (uint64_t) * (const uint32_t *)(at + 4) << 32;
    else
        for (uint32_t k = 0; k < p->bytes; k += p->unit)
            x |= (uint64_t)(p->unit == 2 ? *(const uint16_t *)(at + k) : at[k]) << 8 * k;
#else
    uint32_t word = 0;
    uint16_t half = 0;
    if (p->bytes == 8)
        memcpy(&x, at, 8);
    else if (p->bytes == 4)
        x = (memcpy(&word, at, 4), word);
    else if (p->bytes == 2)
        x = (memcpy(&half, at, 2), half);
    else
        x = *at;
#endif
    return x;
}

/* The bits compared of their order word. */
GPI_LEX_BOTH uint64_t gpi_lex_word_of(const struct gpi_lex_part *p, uint64_t x)
{
    const uint64_t w = p->order.inf ? GPI_RADIX_FLOAT(uint64_t, x, p->order.sign, p->order.inf) : x;
    return (w ^ p->order.flip) & p->mask;
}

/* Whether a part has bits in 64 bits of the key, from bit begin on. */
GPI_LEX_BOTH bool gpi_lex_has_share(const struct gpi_lex_plan *plan, uint32_t p, int begin)
{
    const int bits = (int)plan->bits[p], to = (int)plan->at[p] - begin;
    return bits > 0 && to < 64 && to + bits > 0;
}

/* These bits, of the part's word. */
GPI_LEX_BOTH uint64_t gpi_lex_share(const struct gpi_lex_plan *plan, uint32_t p, int begin,
                                    uint64_t word)
{
    const int to = (int)plan->at[p] - begin;
    const uint64_t x = word >> plan->low[p] & ~(uint64_t)0 >> (64 - plan->bits[p]);
    return to >= 0 ? x << to : x >> -to;
}

/* 64 bits of an item's key. */
GPI_LEX_BOTH uint64_t gpi_lex_key(const struct gpi_lex_parts *parts,
                                  const struct gpi_lex_plan *plan, int begin, uint64_t item)
{
    uint64_t key = 0;
    for (uint32_t p = 0; p < parts->count; p++) {
        const struct gpi_lex_part *part = &parts->part[p];
        if (gpi_lex_has_share(plan, p, begin))
            key |= gpi_lex_share(plan, p, begin, gpi_lex_word_of(part, gpi_lex_load(part, item)));
    }
    return key;
}

/* Whether item a goes before item b for its key. */
GPI_LEX_BOTH bool gpi_lex_less(const struct gpi_lex_parts *parts, uint64_t a, uint64_t b)
{
    for (uint32_t p = 0; p < parts->count; p++) {
        const struct gpi_lex_part *part = &parts->part[p];
        const uint64_t x = gpi_lex_word_of(part, gpi_lex_load(part, a));
        const uint64_t y = gpi_lex_word_of(part, gpi_lex_load(part, b));
        if (x != y)
            return x < y;
    }
    return false;
}

/* 64-bit words that a key of this length takes. */
GPI_LEX_BOTH int gpi_lex_words(uint32_t total)
{
    return total <= 64 ? 1 : (int)(total + 63) / 64;
}

/* The first bit of a pass's words. */
GPI_LEX_BOTH int gpi_lex_begin(const struct gpi_lex_pack *k, const struct gpi_lex_plan *plan)
{
    const int unused = k->state ? k->slots - gpi_lex_words(plan->total) : 0;
    const int top = (int)plan->total - 8 * (int)k->word_bytes;
    return k->slot >= 0 ? 64 * (k->slot - unused) : top > 0 ? top : 0;
}

/* Whether a pass is the first one whose order the next ones keep. */
GPI_LEX_BOTH bool gpi_lex_is_first(const struct gpi_lex_pack *k, const struct gpi_lex_plan *plan)
{
    return k->state && k->slot == k->slots - gpi_lex_words(plan->total);
}

/* The last part has the lowest bits of the key. */
GPI_LEX_BOTH void gpi_lex_plan_of(const uint64_t *varying, uint32_t count,
                                  struct gpi_lex_plan *plan)
{
    uint32_t at = 0;
    for (uint32_t p = count; p-- > 0;) {
        uint32_t low = 0, high = 64;
        while (high > 0 && !(varying[p] >> (high - 1) & 1))
            high--;
        while (low < high && !(varying[p] >> low & 1))
            low++;
        plan->low[p] = low;
        plan->bits[p] = high - low;
        plan->at[p] = at;
        at += high - low;
    }
    plan->total = at;
}

/* How many items each step has, of n: whether few of a sample agree in the highest 32 bits, where a
 * sort by these is worth it, and in the highest 64. */
GPI_LEX_BOTH void gpi_lex_decide(struct gpi_lex_state *s, int slots, uint64_t n, bool few_in_32,
                                 bool few_in_64)
{
    const int words = gpi_lex_words(s->plan.total);
    const bool by_slots = !few_in_32 && words > 1 && !few_in_64;
    s->narrow = few_in_32 ? n : 0;
    s->top = few_in_32 || by_slots ? 0 : n;
    s->one = words == 1 ? s->top : 0;
    s->many = n - s->one;
    s->tied = by_slots || s->plan.total <= (few_in_32 ? 32 : 64) ? 0 : n;
    for (int k = 0; k < slots; k++)
        s->slot[k] = by_slots && k >= slots - words ? n : 0;
}

/* The same, once a run proves too long to be put in order. */
GPI_LEX_BOTH void gpi_lex_give_up(struct gpi_lex_state *s, int slots, uint64_t n)
{
    for (int k = slots - gpi_lex_words(s->plan.total); k < slots; k++)
        s->slot[k] = n;
}

/* Where a word of the sample is looked for first, and what stands for it there, never 0. */
GPI_LEX_BOTH uint32_t gpi_lex_tag(uint64_t word)
{
    return (uint32_t)(word * 0x9e3779b97f4a7c15u >> 32) | 1;
}

#endif
