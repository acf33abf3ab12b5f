/* SPDX-License-Identifier: MIT */
/* Many keys whose order is known: multiples of a power of two, each once, that look random. gp
 * makes them, and a loop checks what became of them, so that some hundred millions take no time.
 * They are enough for the ways of large sorts over ranks. */
#ifndef GP_TEST_STEPS_H
#define GP_TEST_STEPS_H

#include <gp/dist.h>
#include <gp/fill.h>

#include <stdbool.h>
#include <stdlib.h>

/* Keys of 4 bytes of all ranks, 2^log_n, of which rank r begins at first; values are their numbers,
 * or there are none. */
struct steps {
    gp_context *ctx;
    int log_n;
    uint64_t first, n;
    bool pairs;
    uint32_t *keys, *values, *keys_out, *values_out;
};

static inline uint32_t steps_apart(const struct steps *s)
{
    return 0x9e3779b1u << (32 - s->log_n);
}

/* A little more for the even ranks: borders between ranks lie inside of bins. */
static inline void steps_share(struct steps *s, int rank, int ranks)
{
    const uint64_t total = (uint64_t)1 << s->log_n, p = (uint64_t)ranks, r = (uint64_t)rank;
    const uint64_t more = total / p / 64 + 1;
    s->first = total / p * r + (r % 2 ? more : 0);
    s->n = (r + 1 == p ? total : total / p * (r + 1) + (r % 2 ? 0 : more)) - s->first;
}

static inline gp_status steps_make(struct steps *s)
{
    const uint32_t apart = steps_apart(s), start = (uint32_t)s->first * apart, one = 1,
                   number = (uint32_t)s->first;
    const size_t bytes = s->n * 4;
    gp_status e = gp_malloc(s->ctx, bytes, (void **)&s->keys);
    if (e == GP_OK)
        e = gp_malloc(s->ctx, bytes, (void **)&s->keys_out);
    if (e == GP_OK)
        e = gp_iota(s->ctx, GP_U32, &start, &apart, s->n, s->keys);
    if (e != GP_OK || !s->pairs)
        return e;
    e = gp_malloc(s->ctx, bytes, (void **)&s->values);
    if (e == GP_OK)
        e = gp_malloc(s->ctx, bytes, (void **)&s->values_out);
    return e == GP_OK ? gp_iota(s->ctx, GP_U32, &number, &one, s->n, s->values) : e;
}

static inline gp_status steps_sort(const struct steps *s, gp_comm *comm)
{
    if (!s->pairs)
        return gp_dist_sort(comm, NULL, GP_U32, GP_ASCENDING, s->keys, s->n, s->keys_out, NULL);
    return gp_dist_sort_pairs(comm, NULL, GP_U32, GP_ASCENDING, s->keys, 4, s->values, s->n,
                              s->keys_out, s->values_out, NULL);
}

/* Key number i of all is i steps of the least distance, and its value the number of its place. */
static inline bool steps_are_sorted(const struct steps *s)
{
    const size_t bytes = s->n * 4;
    uint32_t *keys = malloc(bytes), *values = s->pairs ? malloc(bytes) : NULL;
    uint32_t bad = !keys || (s->pairs && !values);
    if (!bad)
        bad = gp_copy(s->ctx, s->keys_out, bytes, keys) != GP_OK ||
              (s->pairs && gp_copy(s->ctx, s->values_out, bytes, values) != GP_OK) ||
              gp_context_synchronize(s->ctx) != GP_OK;
    for (uint64_t i = 0; i < s->n && !bad; i++)
        bad |= keys[i] ^ (uint32_t)(s->first + i) << (32 - s->log_n);
    for (uint64_t i = 0; i < s->n && !bad && s->pairs; i++)
        bad |= keys[i] ^ values[i] * steps_apart(s);
    free(keys);
    free(values);
    return !bad;
}

static inline void steps_free(struct steps *s)
{
    void *const all[] = {s->keys, s->values, s->keys_out, s->values_out};
    for (int i = 0; i < 4; i++)
        if (all[i])
            gp_free(s->ctx, all[i]);
}

#endif
