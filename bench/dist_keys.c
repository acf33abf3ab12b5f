/* SPDX-License-Identifier: MIT */
/* Keys for calls over ranks. Most are made by gp itself, so that billions of them take no time. */
#include "dist.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 20 };

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 29 ^ *state) * 0x9e3779b97f4a7c15u ^ *state << 23;
}

static uint64_t *words_new(void)
{
    uint64_t *words = malloc(WORDS * sizeof *words);
    if (!words) {
        fprintf(stderr, "gp-dist-bench: out of memory\n");
        exit(1);
    }
    return words;
}

/* The words again and again. */
static void repeat(struct rank *r, const uint64_t *words, size_t bytes)
{
    const size_t part = WORDS * sizeof *words;
    size_t done = bytes < part ? bytes : part;
    need(r->ctx, gp_copy(r->ctx, words, done, r->in));
    for (; done < bytes; done *= 2)
        need(r->ctx, gp_copy(r->ctx, r->in, bytes - done < done ? bytes - done : done,
                             (char *)r->in + done));
}

/* Sums of sums of random words: what is repeated cannot be seen in them any more. */
static void fill_even(struct rank *r, bool wide)
{
    uint64_t *words = words_new(), state = (uint64_t)r->number + 1;
    const gp_dtype dtype = wide ? GP_U64 : GP_U32;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = next(&state);
    repeat(r, words, r->n * (wide ? 8 : 4));
    for (int i = 0; i < 2; i++)
        need(r->ctx, gp_scan_inclusive(r->ctx, dtype, GP_SUM, r->in, r->n, r->in));
    need(r->ctx, gp_context_synchronize(r->ctx));
    free(words);
}

/* Equal steps through all values. */
static void fill_steps(struct rank *r, enum spread spread)
{
    const uint64_t total = (uint64_t)r->n * (uint64_t)r->ranks, each = total >> 32 ? 1 : total;
    uint32_t step = spread == SPREAD_EQUAL ? 0 : (uint32_t)(((uint64_t)1 << 32) / each);
    uint32_t start = (uint32_t)((uint64_t)r->number * r->n) * step;
    if (spread == SPREAD_REVERSED) {
        start = UINT32_MAX - start;
        step = 0 - step;
    }
    need(r->ctx, gp_iota(r->ctx, GP_U32, &start, &step, r->n, r->in));
}

static void fill_zipf(struct rank *r)
{
    uint64_t *words = words_new(), state = (uint64_t)r->number + 1;
    for (size_t i = 0; i < 2 * (size_t)WORDS; i++) {
        const double even = (double)(next(&state) >> 11) / 9007199254740992.0;
        ((uint32_t *)words)[i] = (uint32_t)exp2(20 * even) - 1;
    }
    repeat(r, words, r->n * 4);
    need(r->ctx, gp_context_synchronize(r->ctx));
    free(words);
}

/* Of two ranks, each has (of - 1) / of of its keys in the half of the other. */
static void fill_like(struct rank *r, unsigned of)
{
    const unsigned half = (unsigned)(r->number >= (r->ranks + 1) / 2);
    uint64_t *words = words_new(), state = (uint64_t)r->number + 1;
    uint32_t *keys = (uint32_t *)words;
    for (size_t at = 0; at < r->n; at += 2 * (size_t)WORDS) {
        const size_t n = r->n - at < 2 * (size_t)WORDS ? r->n - at : 2 * (size_t)WORDS;
        for (size_t i = 0; i < n; i++) {
            const uint64_t x = next(&state);
            const unsigned stays = (x >> 40) % of == 0;
            keys[i] = (uint32_t)x >> 1 | (uint32_t)(half ^ !stays) << 31;
        }
        need(r->ctx, gp_copy(r->ctx, keys, n * 4, (char *)r->in + at * 4));
        need(r->ctx, gp_context_synchronize(r->ctx));
    }
    free(words);
}

void fill_keys(struct rank *r, enum spread spread, bool wide)
{
    if (spread == SPREAD_EVEN || spread == SPREAD_ONE)
        fill_even(r, wide);
    else if (spread == SPREAD_ZIPF)
        fill_zipf(r);
    else if (spread == SPREAD_LIKE_4 || spread == SPREAD_LIKE_8)
        fill_like(r, spread == SPREAD_LIKE_4 ? 4 : 8);
    else
        fill_steps(r, spread);
}
