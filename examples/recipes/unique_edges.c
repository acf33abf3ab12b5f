/* SPDX-License-Identifier: MIT */
/* Drop duplicate edges of a graph; what is left comes as CSR, and as a list sorted by source. */
#include "cli.h"
#include "recipe.h"

enum { NODES = 5, EDGES = 8 };

int main(int argc, char **argv)
{
    const uint32_t from[EDGES] = {3, 0, 3, 1, 0, 4, 3, 0}, to[EDGES] = {1, 2, 1, 4, 2, 0, 0, 1};
    const uint32_t expected[][2] = {{0, 1}, {0, 2}, {1, 4}, {3, 0}, {3, 1}, {4, 0}};
    uint32_t rows[EDGES], cols[EDGES];
    uint64_t left;
    gp_coo_desc desc = GP_COO_DESC_INIT;
    cli_alone("unique_edges", "Drops duplicate edges of a graph, checked.", argc, argv);
    desc.value_dtype = (gp_dtype)0; /* a pattern: no values */
    desc.duplicates = GP_DUPLICATES_FIRST;

    need(gp_context_create(&ctx, NULL));
    void *d_from = device(sizeof from, from), *d_to = device(sizeof to, to);
    void *pointers = device((NODES + 1) * sizeof(uint32_t), NULL);
    void *out = device(sizeof cols, NULL), *count = device(sizeof left, NULL);
    need(gp_csr_from_coo(ctx, &desc, NODES, NODES, d_from, d_to, NULL, EDGES, pointers, out, NULL,
                         count));
    fetch(count, sizeof left, &left); /* waits: the next call takes the count from the host */
    need(gp_csr_to_coo(ctx, GP_U32, pointers, NODES, (size_t)left, GP_U32, d_from));
    fetch(d_from, sizeof rows, rows);
    fetch(out, sizeof cols, cols);

    int wrong = left != sizeof expected / sizeof *expected;
    for (size_t i = 0; i < left && !wrong; i++) {
        printf("%u -> %u\n", rows[i], cols[i]);
        wrong = rows[i] != expected[i][0] || cols[i] != expected[i][1];
    }
    void *all[] = {d_from, d_to, pointers, out, count};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gp_free(ctx, all[i]);
    gp_context_destroy(ctx);
    return wrong;
}
