/* SPDX-License-Identifier: MIT */
/* Count how often each word occurs: sort hashes of the words, then measure runs of equal ones. */
#include "cli.h"
#include "recipe.h"

#include <string.h>

enum { N = 12 };

static const char *const words[N] = {"the",   "scan", "and", "the",  "sort", "and",
                                     "merge", "scan", "the", "sort", "of",   "the"};

static uint64_t hash_of(const char *word) /* FNV-1a */
{
    uint64_t hash = 14695981039346656037u;
    for (; *word; word++)
        hash = (hash ^ (unsigned char)*word) * 1099511628211u;
    return hash;
}

/* starts[r]: where run r of equal keys begins; returns how many runs there are. */
static size_t find_runs(const void *keys, uint32_t *starts)
{
    const uint32_t one = 1;
    uint32_t ones[N];
    uint64_t runs;
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    void *ranks = device(sizeof ones, ones), *heads = device(sizeof ones, NULL);
    void *count = device(sizeof runs, NULL);
    gp_scan_desc scan = GP_SCAN_DESC_INIT;
    scan.in_dtype = GP_U32;
    /* 1 at the head of each run, then 2, 3, .. */
    need(gp_scan_by_key(ctx, &scan, sizeof(uint64_t), keys, ranks, N, ranks));

    gp_compact_desc compact = GP_COMPACT_DESC_INIT;
    compact.kind = GP_COMPACT_INDICES;
    compact.compare = GP_EQ;
    compact.dtype = GP_U32;
    compact.value = &one;
    compact.index_dtype = GP_U32;
    need(gp_compact_by(ctx, &compact, ranks, NULL, N, heads, count));
    need(gp_copy(ctx, count, sizeof runs, &runs));
    fetch(heads, N * sizeof *starts, starts);
    gp_free(ctx, ranks);
    gp_free(ctx, heads);
    gp_free(ctx, count);
    return (size_t)runs;
}

int main(int argc, char **argv)
{
    uint64_t hashes[N];
    uint32_t order[N], starts[N + 1], total = 0;
    int wrong = 0;
    cli_alone("count_words", "Counts how often each word occurs, checked.", argc, argv);
    for (uint32_t i = 0; i < N; i++)
        hashes[i] = hash_of(words[i]);
    need(gp_context_create(&ctx, NULL));
    for (uint32_t i = 0; i < N; i++)
        order[i] = i;
    void *keys = device(sizeof hashes, hashes), *values = device(sizeof order, order);
    need(gp_radix_sort_pairs(ctx, GP_U64, keys, sizeof *order, values, N, keys, values, NULL));
    size_t runs = find_runs(keys, starts);
    fetch(values, sizeof order, order);

    starts[runs] = N;
    for (size_t r = 0; r < runs; r++) {
        const char *word = words[order[starts[r]]]; /* stable: the first occurrence */
        uint32_t count = starts[r + 1] - starts[r], expected = 0;
        for (int i = 0; i < N; i++)
            expected += !strcmp(words[i], word);
        printf("%2u %s\n", count, word);
        wrong |= count != expected;
        total += count;
    }
    gp_free(ctx, keys);
    gp_free(ctx, values);
    gp_context_destroy(ctx);
    return wrong || runs != 6 || total != N;
}
