/* SPDX-License-Identifier: MIT */
/* Count how often each word occurs: group hashes of the words, with the count and the first place
 * of each group. */
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

int main(int argc, char **argv)
{
    uint64_t hashes[N], groups;
    uint32_t places[N], firsts[N], counts[N], total = 0;
    int wrong = 0;
    cli_alone("count_words", "Counts how often each word occurs, checked.", argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        hashes[i] = hash_of(words[i]);
        places[i] = i;
    }
    need(gp_context_create(&ctx, NULL));
    void *keys = device(sizeof hashes, hashes), *values = device(sizeof places, places);
    void *count = device(sizeof counts, NULL), *first = device(sizeof firsts, NULL);
    void *num_groups = device(sizeof groups, NULL);

    gp_aggregate of[2] = {GP_AGGREGATE_INIT, GP_AGGREGATE_INIT};
    of[0].kind = GP_AGGREGATE_COUNT, of[0].out_dtype = GP_U32, of[0].out = count;
    of[1].kind = GP_AGGREGATE_FIRST, of[1].value_bytes = sizeof *places;
    of[1].values = values, of[1].out = first;
    gp_group_by_desc desc = GP_GROUP_BY_DESC_INIT;
    desc.key_dtype = GP_U64, desc.num_aggregates = 2, desc.aggregates = of;
    need(gp_group_by(ctx, &desc, keys, N, NULL, num_groups));
    need(gp_copy(ctx, num_groups, sizeof groups, &groups));
    need(gp_copy(ctx, count, sizeof counts, counts));
    fetch(first, sizeof firsts, firsts);

    for (uint64_t g = 0; g < groups; g++) {
        uint32_t expected = 0;
        for (int i = 0; i < N; i++)
            expected += !strcmp(words[i], words[firsts[g]]);
        printf("%2u %s\n", counts[g], words[firsts[g]]);
        wrong |= counts[g] != expected;
        total += counts[g];
    }
    gp_free(ctx, keys);
    gp_free(ctx, values);
    gp_free(ctx, count);
    gp_free(ctx, first);
    gp_free(ctx, num_groups);
    gp_context_destroy(ctx);
    return wrong || groups != 6 || total != N;
}
