/* SPDX-License-Identifier: MIT */
/* The K best documents of each query: sort every row of scores, take the front of each. */
#include "cli.h"
#include "recipe.h"

enum { QUERIES = 100, DOCUMENTS = 300, N = QUERIES * DOCUMENTS, K = 5 };

int main(int argc, char **argv)
{
    static float scores[N];
    static uint32_t documents[N], rows[QUERIES + 1], front[QUERIES][K], best[QUERIES][K];
    cli_alone("top_k_rows", "The best documents of each query, checked.", argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        scores[i] = (float)(i * 2654435761u >> 8);
        documents[i] = i % DOCUMENTS;
    }
    for (uint32_t q = 0; q <= QUERIES; q++)
        rows[q] = q * DOCUMENTS;
    for (uint32_t q = 0; q < QUERIES; q++)
        for (uint32_t k = 0; k < K; k++)
            front[q][k] = rows[q] + k;
    need(gp_context_create(&ctx, NULL));
    void *keys = device(sizeof scores, scores), *values = device(sizeof documents, documents);
    void *offsets = device(sizeof rows, rows), *places = device(sizeof front, front);
    void *out = device(sizeof best, NULL);

    gp_radix_sort_options down = GP_RADIX_SORT_OPTIONS_INIT;
    down.order = GP_DESCENDING;
    need(gp_radix_sort_segmented_pairs(ctx, GP_F32, keys, sizeof *documents, values, N, GP_U32,
                                       offsets, QUERIES, keys, values, &down));
    need(gp_gather(ctx, sizeof *documents, values, GP_U32, places, QUERIES * K, out));
    fetch(out, sizeof best, best);

    int wrong = 0;
    for (int q = 0; q < QUERIES; q++)
        for (int k = 0; k < K; k++) { /* as many are better as have been listed */
            const float *row = scores + q * DOCUMENTS;
            int better = 0;
            for (int d = 0; d < DOCUMENTS; d++)
                better += row[d] > row[best[q][k]];
            wrong |= better != k;
        }
    printf("query 0: documents %u %u %u %u %u\n", best[0][0], best[0][1], best[0][2], best[0][3],
           best[0][4]);
    void *all[] = {keys, values, offsets, places, out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gp_free(ctx, all[i]);
    gp_context_destroy(ctx);
    return wrong;
}
